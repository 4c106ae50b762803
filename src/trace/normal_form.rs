//! Normal forms: the Mazurkiewicz class of an execution as a value.
//!
//! Two executions are equivalent iff one becomes the other by swapping neighbouring independent
//! actions. Equivalent executions have the same pairs of an action and its history, the actions
//! that happen before it. So the set of these pairs identifies the class. (The *Foata* and
//! lexicographic normal forms are other such values; this one can be updated action by action.)
//!
//! A history is determined by its maximal elements, so a pair is interned as process, choice and
//! the pairs of the direct predecessors: an [`Occurrence`], which is a number. The operation and
//! its response need not be part of it: they are determined by the history and the choice. An
//! execution is then the set of its occurrences. The last occurrence of each process determines
//! this set, because every other occurrence is before one of them. The list of the last occurrences
//! is the [`NormalForm`]. Equality is exact; hashes only find candidates.
//!
//! This is a small event structure, separate from [`crate::unfolding`] on purpose: tests compare
//! the two.

use std::hash::{BuildHasher, BuildHasherDefault, Hash};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::HappensBefore;
use crate::model::{Action, Effect};

/// An action with its history: an index into the table of a [`Classes`] or `Names`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence(pub(crate) u32);

/// The class of an execution: the last occurrence of each process that has acted, in the order of
/// processes. Normal forms of one [`Classes`] are equal iff the executions are equivalent. Normal
/// forms of different ones cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NormalForm(Box<[Occurrence]>);

/// Computes the occurrences and the class of an execution that is extended and shortened at its
/// end, and counts classes. The caller keeps the order of the execution.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The occurrence of each action of the execution.
    path: Vec<Occurrence>,
    occurrences: Lists<Action>,
    seen: Lists<()>,
}

impl Names {
    /// Adds `action`, the last one of `order`, to the execution.
    pub(crate) fn push(&mut self, order: &HappensBefore, action: Action) {
        let direct = order.direct_predecessors(self.path.len());
        let mut causes: SmallVec<[u32; 8]> =
            direct.iter().map(|&position| self.path[position as usize].0).collect();
        causes.sort_unstable();
        let (id, _) = self.occurrences.intern(action, &causes);
        self.path.push(Occurrence(id));
    }

    /// Removes the last action.
    pub(crate) fn pop(&mut self) {
        self.path.pop();
    }

    /// The class of the execution with this order.
    pub(crate) fn normal_form(&self, order: &HappensBefore) -> NormalForm {
        NormalForm(order.last_of_each().map(|position| self.path[position]).collect())
    }

    /// Counts the class of the execution with this order, if it was not counted before. Returns
    /// whether it is new.
    pub(crate) fn count(&mut self, order: &HappensBefore) -> bool {
        let last: SmallVec<[u32; 16]> =
            order.last_of_each().map(|position| self.path[position].0).collect();
        self.seen.intern((), &last).1
    }

    /// The number of different classes counted.
    pub(crate) fn counted(&self) -> usize {
        self.seen.heads.len()
    }
}

/// `Names` together with the happens-before order of the execution.
#[derive(Debug, Default)]
pub struct Classes {
    order: HappensBefore,
    names: Names,
}

impl Classes {
    /// The occurrences of the execution's actions.
    pub fn path(&self) -> &[Occurrence] {
        &self.names.path
    }

    /// Adds `action`, which had this effect, to the execution.
    pub fn push(&mut self, action: Action, effect: Effect) {
        self.order.push(action.process, effect);
        self.names.push(&self.order, action);
    }

    /// Removes the last action.
    ///
    /// # Panics
    /// If the execution is empty.
    pub fn pop(&mut self) {
        self.order.pop();
        self.names.pop();
    }

    /// The class of the execution.
    pub fn normal_form(&self) -> NormalForm {
        self.names.normal_form(&self.order)
    }

    /// Counts the class of the execution, if it was not counted before. Returns whether it is new.
    pub fn count(&mut self) -> bool {
        self.names.count(&self.order)
    }

    /// The number of different classes counted.
    pub fn counted(&self) -> usize {
        self.names.counted()
    }
}

/// Interned pairs of a head and a list of numbers. The lists are concatenated in one vector.
#[derive(Debug)]
struct Lists<T> {
    heads: Vec<(T, u32)>,
    elements: Vec<u32>,
    ids: HashTable<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { heads: Vec::new(), elements: Vec::new(), ids: HashTable::new() }
    }
}

/// The head and the list with number `id`.
fn list<'l, T>(heads: &'l [(T, u32)], elements: &'l [u32], id: u32) -> (&'l T, &'l [u32]) {
    let (head, start) = &heads[id as usize];
    let end = heads.get(id as usize + 1).map_or(elements.len(), |&(_, next)| next as usize);
    (head, &elements[*start as usize..end])
}

impl<T: Hash + Eq> Lists<T> {
    /// The number of this pair, and whether it is new.
    fn intern(&mut self, head: T, list_of_it: &[u32]) -> (u32, bool) {
        let hasher = BuildHasherDefault::<FxHasher>::default();
        let Lists { heads, elements, ids } = self;
        let hash = hasher.hash_one((&head, list_of_it));
        let known = ids.find(hash, |&id| list(heads, elements, id) == (&head, list_of_it));
        if let Some(&id) = known {
            return (id, false);
        }
        let id = heads.len() as u32;
        heads.push((head, elements.len() as u32));
        elements.extend_from_slice(list_of_it);
        ids.insert_unique(hash, id, |&id| hasher.hash_one(list(heads, elements, id)));
        (id, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CellId, Choice, Mode, ProcessId};

    fn read(cell: CellId) -> Effect {
        Effect::act(cell.lane(), Mode::Look)
    }

    fn write(cell: CellId) -> Effect {
        Effect::act(cell.lane(), Mode::Change)
    }

    fn class_of(classes: &mut Classes, execution: &[(u32, i32, Effect)]) -> NormalForm {
        for (process, choice, effect) in execution {
            let action = Action { process: ProcessId(*process), choice: Choice(*choice) };
            classes.push(action, effect.clone());
        }
        let form = classes.normal_form();
        for _ in execution {
            classes.pop();
        }
        form
    }

    #[test]
    fn only_the_order_of_dependent_actions_tells_classes_apart() {
        let (x, y) = (CellId(0), CellId(1));
        let mut classes = Classes::default();
        let one = class_of(&mut classes, &[(0, 0, write(x)), (1, 0, read(y)), (2, 0, read(x))]);
        let same = class_of(&mut classes, &[(1, 0, read(y)), (0, 0, write(x)), (2, 0, read(x))]);
        let other = class_of(&mut classes, &[(2, 0, read(x)), (1, 0, read(y)), (0, 0, write(x))]);
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[test]
    fn choices_tell_classes_apart() {
        let mut classes = Classes::default();
        let one = class_of(&mut classes, &[(0, 0, Effect::nothing())]);
        let other = class_of(&mut classes, &[(0, 1, Effect::nothing())]);
        assert_ne!(one, other);
    }

    #[test]
    fn counting_counts_each_class_once() {
        let mut classes = Classes::default();
        assert!(classes.count());
        classes.push(Action { process: ProcessId(0), choice: Choice::ONLY }, read(CellId(0)));
        assert!(classes.count());
        assert!(!classes.count());
        classes.pop();
        assert!(!classes.count());
        assert_eq!(classes.counted(), 2);
    }
}
