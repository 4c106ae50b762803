//! What kind of value is where: unification with facts.
//!
//! A [`Node`] stands for the values at some place: a slot of the stack at an instruction, the
//! content of a cell, the indices of an array. Where a value moves from one place to another, or is
//! compared with another one, the nodes become one (union-find). A node of integers collects facts:
//! whose index it is, over which ranges it goes, which constants it meets, and what makes it a
//! plain number. They are judged when all is known ([`super::groups`]).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// The number of a node.
pub(super) type Node = usize;

/// What values are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Not known, or not made of others.
    Open,
    Tuple(Vec<Node>),
    /// Positions and items.
    List(Node, Node),
    Set(Node),
    /// Keys and values.
    Map(Node, Node),
    /// What is received.
    Comm(Node),
}

impl Shape {
    fn parts(&self) -> Vec<Node> {
        match self {
            Shape::Open => Vec::new(),
            Shape::Tuple(parts) => parts.clone(),
            Shape::List(a, b) | Shape::Map(a, b) => vec![*a, *b],
            Shape::Set(a) | Shape::Comm(a) => vec![*a],
        }
    }
}

/// Why integers are plain numbers: a sentence about the instruction at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Why {
    pub(crate) text: &'static str,
    pub(crate) pc: u32,
}

/// What is known of the integers of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// What makes them plain numbers. The first one counts.
    pub(super) plain: Option<Why>,
    /// Declarations of processes whose indices they are.
    pub(super) families: BTreeSet<u32>,
    /// Ranges that they go over, and where.
    pub(super) ranges: BTreeMap<(i64, i64), u32>,
    /// Constants that they are compared with, or may be, and where.
    pub(super) constants: BTreeMap<i64, u32>,
    /// Lengths of arrays of which they are positions, and where.
    pub(super) lengths: BTreeMap<u32, u32>,
    /// The lengths of the rings in which they move on, and where.
    pub(super) rings: BTreeMap<i64, u32>,
    /// Where one of them moves on that is not the index of the process itself.
    pub(super) any_turns: Option<u32>,
    /// They are numbers of objects of this declaration, by an index.
    pub(super) declaration: Option<usize>,
}

impl Facts {
    fn merge(&mut self, other: Facts) {
        self.plain = match (self.plain.take(), other.plain) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.families.extend(other.families);
        for (range, pc) in other.ranges {
            self.ranges.entry(range).or_insert(pc);
        }
        for (constant, pc) in other.constants {
            self.constants.entry(constant).or_insert(pc);
        }
        for (length, pc) in other.lengths {
            self.lengths.entry(length).or_insert(pc);
        }
        for (length, pc) in other.rings {
            self.rings.entry(length).or_insert(pc);
        }
        self.any_turns = self.any_turns.or(other.any_turns);
        self.declaration = self.declaration.or(other.declaration);
    }
}

/// All nodes.
#[derive(Default)]
pub(super) struct Nodes {
    parents: Vec<Node>,
    shapes: Vec<Shape>,
    facts: Vec<Facts>,
    /// Has anything become known since this was set to false?
    pub(super) has_news: bool,
}

impl Nodes {
    /// A node of which nothing is known.
    pub(super) fn fresh(&mut self) -> Node {
        self.parents.push(self.parents.len());
        self.shapes.push(Shape::Open);
        self.facts.push(Facts::default());
        self.parents.len() - 1
    }

    /// The node that stands for this one.
    pub(super) fn root(&self, node: Node) -> Node {
        let mut at = node;
        while self.parents[at] != at {
            at = self.parents[at];
        }
        at
    }

    pub(super) fn shape(&self, node: Node) -> &Shape {
        &self.shapes[self.root(node)]
    }

    pub(super) fn facts(&self, node: Node) -> &Facts {
        &self.facts[self.root(node)]
    }

    /// Adds facts.
    pub(super) fn learn(&mut self, node: Node, add: impl FnOnce(&mut Facts)) {
        let root = self.root(node);
        let before = self.facts[root].clone();
        add(&mut self.facts[root]);
        self.has_news |= self.facts[root] != before;
    }

    /// Adds a constant. There may be thousands.
    pub(super) fn learn_constant(&mut self, node: Node, constant: i64, pc: u32) {
        let root = self.root(node);
        let constants = &mut self.facts[root].constants;
        if let Entry::Vacant(place) = constants.entry(constant) {
            place.insert(pc);
            self.has_news = true;
        }
    }

    /// The integers in such values are plain numbers.
    pub(super) fn spoil(&mut self, node: Node, text: &'static str, pc: u32) {
        let mut pending = vec![node];
        let mut seen = BTreeSet::new();
        while let Some(node) = pending.pop() {
            let root = self.root(node);
            if !seen.insert(root) {
                continue;
            }
            pending.extend(self.shapes[root].parts());
            let plain = &mut self.facts[root].plain;
            if plain.is_none() {
                *plain = Some(Why { text, pc });
                self.has_news = true;
            }
        }
    }

    /// Values of this node are made like that.
    pub(super) fn make(&mut self, node: Node, shape: Shape, pc: u32) {
        let root = self.root(node);
        match &self.shapes[root] {
            Shape::Open if shape == Shape::Open => {}
            Shape::Open => {
                self.shapes[root] = shape.clone();
                self.has_news = true;
                // What was plain before it was known to have parts has plain parts.
                if let Some(Why { text, pc }) = self.facts[root].plain.clone() {
                    shape.parts().into_iter().for_each(|part| self.spoil(part, text, pc));
                }
            }
            _ => {
                let known = self.shapes[root].clone();
                self.join_shapes(known, shape, pc);
            }
        }
    }

    /// Values of one node may become values of the other one, or are compared with them.
    pub(super) fn join(&mut self, one: Node, other: Node, pc: u32) {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return;
        }
        self.has_news = true;
        self.parents[other] = one;
        let facts = std::mem::take(&mut self.facts[other]);
        self.facts[one].merge(facts);
        let shape = std::mem::replace(&mut self.shapes[other], Shape::Open);
        if shape != Shape::Open {
            self.make(one, shape, pc);
        }
        if let Some(Why { text, pc }) = self.facts[one].plain.clone() {
            let parts = self.shapes[one].parts();
            parts.into_iter().for_each(|part| self.spoil(part, text, pc));
        }
    }

    fn join_shapes(&mut self, one: Shape, other: Shape, pc: u32) {
        let is_same = std::mem::discriminant(&one) == std::mem::discriminant(&other);
        let (ones, others) = (one.parts(), other.parts());
        if is_same && ones.len() == others.len() {
            ones.into_iter().zip(others).for_each(|(a, b)| self.join(a, b, pc));
            return;
        }
        // Communications of different types in one list, for example.
        for part in ones.into_iter().chain(others) {
            self.spoil(part, "values of several types are in one place", pc);
        }
    }
}
