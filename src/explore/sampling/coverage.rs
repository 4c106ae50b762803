//! How many Mazurkiewicz classes a sample has seen, and an estimate of what it has not.
//!
//! The class of an execution is the set of its actions with their histories (`trace::Classes`). An
//! action with its history is determined by the action and by its direct predecessors with their
//! histories. So each action gets a hash
//!
//! ```text
//! h(e) = mix(action of e + Σ { h(e') : e' directly before e })
//! ```
//!
//! and the class gets the sum of the hashes of its actions. Sums do not depend on an order, so
//! equivalent executions have the same hash. Unlike `trace::Names`, which is exact and remembers
//! each action of each class, this stores eight bytes a class. Two classes may have one hash, and
//! then count as one: of a million classes any two do with a probability of 3 in 10⁸.
//!
//! **What is left.** Of n executions, let f be those whose class no other of them has. Then f/n
//! estimates the probability that the next execution is of a class not seen yet (Good, *The
//! population frequencies of species and the estimation of population parameters*, Biometrika 1953,
//! after Turing). It estimates what more executions *chosen in the same way* would show. Classes
//! that this choice hardly ever takes hardly count, so 0 is no proof that nothing is left.

use rustc_hash::FxHashMap;

use crate::model::Action;
use crate::random::mix;
use crate::trace::HappensBefore;

/// The hash of the class of an execution that is extended at its end.
#[derive(Debug, Default)]
pub(super) struct ClassHash {
    /// The hash of each action of the execution.
    actions: Vec<u64>,
    class: u64,
}

impl ClassHash {
    /// Goes back to the empty execution.
    pub(super) fn clear(&mut self) {
        self.actions.clear();
        self.class = 0;
    }

    /// Adds `action`, the last one of `order`, to the execution.
    pub(super) fn push(&mut self, order: &HappensBefore, action: Action) {
        let direct = order.direct_predecessors(self.actions.len()).iter();
        let past = direct.map(|&at| self.actions[at as usize]).fold(0, u64::wrapping_add);
        let Action { process, choice } = action;
        let own = mix(u64::from(process.0) << 32 | u64::from(choice.0 as u32));
        let hash = mix(own.wrapping_add(past));
        self.actions.push(hash);
        self.class = self.class.wrapping_add(hash);
    }

    /// The hash of the class of the execution.
    pub(super) fn class(&self) -> u64 {
        self.class
    }
}

/// The classes that were seen.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// The hash of each class, and whether it was seen only once.
    seen: FxHashMap<u64, bool>,
    once: u64,
}

impl Coverage {
    /// Counts an execution of the class with this hash.
    pub(super) fn count(&mut self, class: u64) {
        let known = self.seen.insert(class, !self.seen.contains_key(&class));
        match known {
            None => self.once += 1,
            Some(true) => self.once -= 1,
            Some(false) => {}
        }
    }

    /// The number of classes.
    pub(super) fn classes(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The number of classes that were seen once.
    pub(super) fn once(&self) -> u64 {
        self.once
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_counted_and_those_seen_once() {
        let mut coverage = Coverage::default();
        for class in [1, 2, 1, 3, 1, 3] {
            coverage.count(class);
        }
        assert_eq!((coverage.classes(), coverage.once()), (3, 1));
    }
}
