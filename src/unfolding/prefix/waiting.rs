//! The queries that look at a line, found by the conditions of their processes.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::slice;

use super::conditions::Conditions;
use super::{Condition, Line};

/// The queries that look at a line.
///
/// For each process, its conditions that have queries here form a tree: each is below the nearest
/// one above it in the tree of the line of the process. Below a condition that is not concurrent
/// with another one, none is.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) all: Vec<u32>,
    pub(super) at: FxHashMap<Condition, Place>,
    /// The lines of the processes that have queries here.
    pub(super) processes: Vec<Line>,
    /// The conditions of each of them that are below no other one.
    tops: FxHashMap<Line, Vec<Condition>>,
}

/// A condition that has queries at a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The conditions that are next below it.
    pub(super) below: Vec<Condition>,
    pub(super) queries: SmallVec<[u32; 1]>,
}

impl Waiting {
    /// Adds a query of a process at this condition.
    pub(super) fn add(&mut self, conditions: &Conditions, condition: Condition, query: u32) {
        self.all.push(query);
        if let Some(place) = self.at.get_mut(&condition) {
            return place.queries.push(query);
        }
        let node = conditions.node(condition);
        if !self.tops.contains_key(&node.line) {
            self.processes.push(node.line);
        }
        let above = match node.depth {
            0 => None,
            _ => self.at_or_above(conditions, node.parent),
        };
        let siblings = match above {
            Some(above) => &mut self.at.get_mut(&above).expect("a place").below,
            None => self.tops.entry(node.line).or_default(),
        };
        let mut place = Place { below: Vec::new(), queries: SmallVec::from_slice(&[query]) };
        if !conditions.is_leaf(condition) {
            // A query that is made late.
            let is_below = |&mut one: &mut Condition| conditions.is_at_or_above(condition, one);
            place.below = siblings.extract_if(.., is_below).collect();
        }
        siblings.push(condition);
        self.at.insert(condition, place);
    }

    /// The nearest condition with queries at or above this one. O(distance).
    fn at_or_above(&self, conditions: &Conditions, condition: Condition) -> Option<Condition> {
        let mut at = condition;
        loop {
            if self.at.contains_key(&at) {
                return Some(at);
            }
            let node = conditions.node(at);
            if node.depth == 0 {
                return None;
            }
            at = node.parent;
        }
    }

    /// Conditions with queries, such that each condition with queries that is at or below this one
    /// is at or below one of them.
    pub(super) fn from(&self, conditions: &Conditions, condition: Condition) -> &[Condition] {
        match self.at_or_above(conditions, condition) {
            Some(above) if above == condition => {
                let (above, _) = self.at.get_key_value(&above).expect("a place");
                slice::from_ref(above)
            }
            Some(above) => &self.at[&above].below,
            None => self.tops.get(&conditions.node(condition).line).map_or(&[], Vec::as_slice),
        }
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let below = self.at.values().map(|place| place.below.capacity() * 4);
        self.all.capacity() * 4
            + self.at.capacity() * (size_of::<(Condition, Place)>() + 1)
            + below.sum::<usize>()
    }
}
