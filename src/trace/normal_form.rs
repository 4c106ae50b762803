//! Normal forms: the Mazurkiewicz class of an execution as a value.
//!
//! Two executions are equivalent iff one becomes the other by swapping neighbouring independent
//! actions. An action together with its history, everything that happens before it, is the same in
//! all of them. So the set of these pairs names the class. (The *Foata* and lexicographic normal
//! forms are other such values; this one can be kept up to date action by action.)
//!
//! A history is determined by its maximal elements, so a pair is interned as process, choice and
//! the direct predecessors' own pairs: an [`Occurrence`], a number. The operation and its response
//! need not be part of it: the history decides them, except for the choice. An execution is then
//! the set of its occurrences. The last one of each process determines this set, because everything
//! else is before one of them. The list of these is the [`NormalForm`]. Equality is exact; hashes
//! only find candidates.
//!
//! This is a small event structure, kept apart from [`crate::unfolding`] on purpose: it is one of
//! the things that module is judged by.

use std::hash::{BuildHasher, BuildHasherDefault, Hash};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::HappensBefore;
use crate::model::{Action, Effect};

/// An action with its history, by its place in the table of a [`Classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence(pub u32);

/// The class of an execution: the last occurrence of each process that has one, in the order of
/// processes. Normal forms from one [`Classes`] are equal iff the executions are equivalent; those
/// from different ones have nothing to do with one another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NormalForm(Box<[Occurrence]>);

/// Names an execution that grows and shrinks at its end, whose order others keep, and counts
/// classes.
#[derive(Debug, Default)]
pub struct Names {
    /// The occurrence of each action of the execution.
    path: Vec<Occurrence>,
    occurrences: Lists<Action>,
    seen: Lists<()>,
}

impl Names {
    /// Adds `action`, the last one of `order`, to the execution.
    pub fn push(&mut self, order: &HappensBefore, action: Action) {
        let direct = order.direct_predecessors(self.path.len());
        let mut causes: SmallVec<[u32; 8]> =
            direct.iter().map(|&position| self.path[position as usize].0).collect();
        causes.sort_unstable();
        let (id, _) = self.occurrences.intern(action, &causes);
        self.path.push(Occurrence(id));
    }

    /// Takes back the last action.
    pub fn pop(&mut self) {
        self.path.pop();
    }

    /// The class of the execution with this order.
    pub fn normal_form(&self, order: &HappensBefore) -> NormalForm {
        NormalForm(order.last_of_each().map(|position| self.path[position]).collect())
    }

    /// Counts the class of the execution with this order, once; true if it was not counted before.
    pub fn count(&mut self, order: &HappensBefore) -> bool {
        let last: SmallVec<[u32; 16]> =
            order.last_of_each().map(|position| self.path[position].0).collect();
        self.seen.intern((), &last).1
    }

    /// How many different classes were counted.
    pub fn counted(&self) -> usize {
        self.seen.heads.len()
    }
}

/// Follows an execution that grows and shrinks at its end, with its order, names its class, and
/// counts classes.
#[derive(Debug, Default)]
pub struct Classes {
    order: HappensBefore,
    names: Names,
}

impl Classes {
    /// The happens-before order of the execution.
    pub fn order(&self) -> &HappensBefore {
        &self.order
    }

    /// The occurrences of the execution's actions.
    pub fn path(&self) -> &[Occurrence] {
        &self.names.path
    }

    /// Adds `action`, which had this effect, to the execution.
    pub fn push(&mut self, action: Action, effect: Effect) {
        self.order.push(action.process, effect);
        self.names.push(&self.order, action);
    }

    /// Takes back the last action.
    ///
    /// # Panics
    /// If there is none.
    pub fn pop(&mut self) {
        self.order.pop();
        self.names.pop();
    }

    /// The class of the execution.
    pub fn normal_form(&self) -> NormalForm {
        self.names.normal_form(&self.order)
    }

    /// Counts the class of the execution, once; true if it was not counted before.
    pub fn count(&mut self) -> bool {
        self.names.count(&self.order)
    }

    /// How many different classes were counted.
    pub fn counted(&self) -> usize {
        self.names.counted()
    }
}

/// Interned pairs of a head and a list of numbers, the lists one after the other in one vector.
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

/// The list of number `id` and its head.
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
