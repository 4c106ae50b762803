//! Constants, and nodes of values that are made of others.

use rustc_hash::FxHashSet;

use super::Flow;
use crate::lang::symmetry::kinds::{Node, Shape};
use crate::model::{List, Value};

/// Lists of more items are not looked at one by one.
pub(super) const MOST_ITEMS: usize = 10_000;

/// Sets of longer lists are not looked at.
const MOST_PLACES: usize = 64;

impl Flow<'_> {
    /// The node has a constant.
    pub(super) fn constant(&mut self, node: Node, value: &Value, pc: u32) {
        match value {
            Value::Int(n) => self.nodes.learn_constant(node, *n, pc),
            Value::Tuple(parts) => {
                let nodes = self.parts_of(node, parts.len(), pc);
                nodes.into_iter().zip(parts.iter()).for_each(|(node, part)| {
                    self.constant(node, part, pc);
                });
            }
            Value::List(items) => {
                let (at, item) = self.list(node, pc);
                let all: Vec<&Value> = items.iter().take(MOST_ITEMS).collect();
                if all.windows(2).all(|two| two[0] == two[1]) && items.len() <= MOST_ITEMS {
                    self.has_length(at, items.len() as u32, pc);
                } else {
                    self.nodes.spoil(at, "the items of this list have their places", pc);
                }
                if items.len() > MOST_ITEMS {
                    self.nodes.spoil(item, "this list is too long to look at each item", pc);
                }
                all.into_iter().for_each(|value| self.constant(item, value, pc));
            }
            Value::Set(set) => {
                let item = self.set(node, pc);
                if let Some(range) = whole_range(set.items()) {
                    // If these are all indices, no permutation changes the set.
                    self.nodes.learn(item, |facts| {
                        facts.ranges.entry(range).or_insert(pc);
                    });
                    return;
                }
                if let Some(length) = whole_orbit(set.items()) {
                    // If their positions are indices, no permutation changes the set.
                    let (at, part) = self.list(item, pc);
                    self.has_length(at, length, pc);
                    for list in set.items().iter() {
                        let Value::List(parts) = list else { unreachable!("all are lists") };
                        parts.iter().for_each(|value| self.constant(part, value, pc));
                    }
                    return;
                }
                for value in set.items().iter().take(MOST_ITEMS) {
                    self.constant(item, value, pc);
                }
                if set.items().len() > MOST_ITEMS {
                    self.nodes.spoil(item, "this set is too large to look at each element", pc);
                }
            }
            Value::Map(map) => {
                let (key, of) = self.map(node, pc);
                for (one, other) in map.iter().take(MOST_ITEMS) {
                    self.constant(key, one, pc);
                    self.constant(of, other, pc);
                }
                if map.len() > MOST_ITEMS {
                    self.nodes.spoil(node, "this map is too large to look at each key", pc);
                }
            }
            _ => {}
        }
    }

    pub(super) fn has_length(&mut self, at: Node, length: u32, pc: u32) {
        self.nodes.learn(at, |facts| {
            facts.lengths.entry(length).or_insert(pc);
        });
    }

    /// The components of tuples at this node.
    pub(super) fn parts_of(&mut self, node: Node, count: usize, pc: u32) -> Vec<Node> {
        if let Shape::Tuple(parts) = self.nodes.shape(node)
            && parts.len() == count
        {
            return parts.clone();
        }
        let parts: Vec<Node> = (0..count).map(|_| self.nodes.fresh()).collect();
        self.nodes.make(node, Shape::Tuple(parts.clone()), pc);
        parts
    }

    pub(super) fn list(&mut self, node: Node, pc: u32) -> (Node, Node) {
        if let Shape::List(at, item) = *self.nodes.shape(node) {
            return (at, item);
        }
        let (at, item) = (self.nodes.fresh(), self.nodes.fresh());
        self.nodes.make(node, Shape::List(at, item), pc);
        (at, item)
    }

    pub(super) fn set(&mut self, node: Node, pc: u32) -> Node {
        if let Shape::Set(item) = *self.nodes.shape(node) {
            return item;
        }
        let item = self.nodes.fresh();
        self.nodes.make(node, Shape::Set(item), pc);
        item
    }

    pub(super) fn map(&mut self, node: Node, pc: u32) -> (Node, Node) {
        if let Shape::Map(key, of) = *self.nodes.shape(node) {
            return (key, of);
        }
        let (key, of) = (self.nodes.fresh(), self.nodes.fresh());
        self.nodes.make(node, Shape::Map(key, of), pc);
        (key, of)
    }

    pub(super) fn comm(&mut self, node: Node, pc: u32) -> Node {
        if let Shape::Comm(of) = *self.nodes.shape(node) {
            return of;
        }
        let of = self.nodes.fresh();
        self.nodes.make(node, Shape::Comm(of), pc);
        of
    }
}

/// The range that these numbers are, if they are several, in order and without a gap.
fn whole_range(items: &List) -> Option<(i64, i64)> {
    let numbers: Option<Vec<i64>> = items
        .iter()
        .map(|item| match item {
            Value::Int(n) => Some(*n),
            _ => None,
        })
        .collect();
    let numbers = numbers?;
    let [first, .., last] = numbers[..] else { return None };
    let is_whole = numbers.windows(2).all(|two| two[0].checked_add(1) == Some(two[1]));
    is_whole.then_some((first, last.checked_add(1)?))
}

/// The length of these lists, if they are several and of the same length, and to swap two
/// neighbouring positions in all of them gives the same lists.
fn whole_orbit(lists: &List) -> Option<u32> {
    let all: Option<FxHashSet<Vec<&Value>>> = lists
        .iter()
        .map(|list| match list {
            Value::List(items) if items.len() <= MOST_PLACES => Some(items.iter().collect()),
            _ => None,
        })
        .collect();
    let all = all.filter(|all| (2..=MOST_ITEMS).contains(&all.len()))?;
    let length = all.iter().next()?.len();
    let is_whole = all.iter().all(|list| {
        let mut swapped = list.clone();
        list.len() == length
            && (1..length).all(|at| {
                swapped.clone_from(list);
                swapped.swap(at - 1, at);
                all.contains(&swapped)
            })
    });
    is_whole.then_some(length as u32)
}
