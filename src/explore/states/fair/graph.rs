//! The graph of states, as far as demands and fairness need it.

#[cfg(feature = "json")]
use std::io::{self, Read, Write};

use rustc_hash::FxHashMap;

#[cfg(feature = "json")]
use crate::explore::saved::{read_numbers, stray, write_numbers};
use crate::model::{Fairness, ProcessId};
use crate::property::{StrongAction, StrongActions};

/// A step from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The number of the process that moves, below [`Edge::FAIRNESS`]; then two bits for the
    /// fairness that executions owe to it; [`Edge::OPTIONAL`] is added if it need not move. (Two
    /// processes of different declarations may have the same number, in different executions.)
    mover: u32,
    /// The number of the state that it leads to.
    pub(super) to: u32,
    /// The number of its list of strongly fair actions.
    pub(super) label: u32,
}

impl Edge {
    const OPTIONAL: u32 = 1 << 31;
    const FAIRNESS: u32 = 29;

    /// `mover` is who moves, and the fairness that executions owe to it.
    pub(super) fn new(
        (mover, fairness): (ProcessId, Fairness),
        to: u32,
        label: u32,
        is_optional: bool,
    ) -> Edge {
        assert!(mover.0 >> Edge::FAIRNESS == 0, "fewer than 2^29 processes");
        let optional = if is_optional { Edge::OPTIONAL } else { 0 };
        Edge { mover: mover.0 | (fairness as u32) << Edge::FAIRNESS | optional, to, label }
    }

    /// Who moves.
    pub(super) fn mover(self) -> ProcessId {
        ProcessId(self.mover & ((1 << Edge::FAIRNESS) - 1))
    }

    /// The fairness that executions owe to the process that moves.
    pub(super) fn fairness(self) -> Fairness {
        match self.mover >> Edge::FAIRNESS & 0b11 {
            0 => Fairness::MayStop,
            1 => Fairness::Unfair,
            2 => Fairness::Weak,
            _ => Fairness::Strong,
        }
    }

    /// May the step be delayed for ever?
    pub(super) fn is_optional(self) -> bool {
        self.mover & Edge::OPTIONAL != 0
    }
}

/// The states and steps known so far. States are numbered as they are reached, breadth-first. The
/// first of them are *expanded*: their edges are known.
#[derive(Debug)]
pub(super) struct Graph {
    /// The edges of expanded state s are `edges[firsts[s]..firsts[s + 1]]`.
    firsts: Vec<u32>,
    edges: Vec<Edge>,
    /// The words with the propositions that hold, `words` for each state.
    bits: Vec<u64>,
    words: usize,
    /// The length of a shortest path to each state.
    depths: Vec<u32>,
    /// One more than the largest number of a process that has moved.
    processes: usize,
    /// The lists of strongly fair actions, each an ordered list of numbers, and these numbers.
    labels: Vec<Vec<u32>>,
    label_of: FxHashMap<StrongActions, u32>,
    action_of: FxHashMap<StrongAction, u32>,
}

impl Graph {
    /// An empty graph whose states have this number of propositions.
    pub(super) fn new(propositions: usize) -> Graph {
        Graph {
            firsts: vec![0],
            edges: Vec::new(),
            bits: Vec::new(),
            words: propositions.div_ceil(64),
            depths: Vec::new(),
            processes: 0,
            labels: vec![Vec::new()],
            label_of: FxHashMap::from_iter([(StrongActions::new(), 0)]),
            action_of: FxHashMap::default(),
        }
    }

    /// Adds a state at this depth, and returns the words for its propositions.
    pub(super) fn add(&mut self, depth: u32) -> &mut [u64] {
        self.depths.push(depth);
        let from = self.bits.len();
        self.bits.resize(from + self.words, 0);
        &mut self.bits[from..]
    }

    /// Adds an edge of the state that is expanded next, unless it is known.
    pub(super) fn add_edge(&mut self, edge: Edge) {
        let from = self.firsts[self.firsts.len() - 1] as usize;
        self.processes = self.processes.max(edge.mover().index() + 1);
        if !self.edges[from..].contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Notes that all edges of the next state are added.
    pub(super) fn expanded(&mut self) {
        self.firsts.push(u32::try_from(self.edges.len()).expect("fewer than 2^32 steps"));
    }

    /// The number of this list of strongly fair actions.
    pub(super) fn label(&mut self, actions: StrongActions) -> u32 {
        if let Some(&known) = self.label_of.get(&actions) {
            return known;
        }
        let numbers = actions.iter().map(|action| {
            let next = self.action_of.len() as u32;
            *self.action_of.entry(*action).or_insert(next)
        });
        self.labels.push(numbers.collect());
        let label = self.labels.len() as u32 - 1;
        self.label_of.insert(actions, label);
        label
    }

    /// The number of states.
    pub(super) fn len(&self) -> usize {
        self.depths.len()
    }

    /// The number of expanded states.
    pub(super) fn expanded_len(&self) -> usize {
        self.firsts.len() - 1
    }

    /// The edges of an expanded state.
    pub(super) fn edges(&self, state: u32) -> &[Edge] {
        &self.edges[self.edges_at(state)]
    }

    /// The numbers of the edges of an expanded state.
    pub(super) fn edges_at(&self, state: u32) -> std::ops::Range<usize> {
        let state = state as usize;
        self.firsts[state] as usize..self.firsts[state + 1] as usize
    }

    /// The edge with this number.
    pub(super) fn edge(&self, number: usize) -> Edge {
        self.edges[number]
    }

    /// The strongly fair actions that an edge takes.
    pub(super) fn strong(&self, edge: Edge) -> &[u32] {
        &self.labels[edge.label as usize]
    }

    /// The number of strongly fair actions.
    pub(super) fn strong_len(&self) -> usize {
        self.action_of.len()
    }

    /// The number of processes that have moved, or more.
    pub(super) fn processes(&self) -> usize {
        self.processes
    }

    /// Does the proposition hold in the state?
    pub(super) fn holds(&self, proposition: usize, state: u32) -> bool {
        let word = self.bits[state as usize * self.words + proposition / 64];
        word >> (proposition % 64) & 1 == 1
    }

    /// The length of a shortest path to the state.
    pub(super) fn depth(&self, state: u32) -> u32 {
        self.depths[state as usize]
    }

    /// May an execution end in the expanded state? No process has to move there, and no strongly
    /// fair action is possible.
    pub(super) fn may_end(&self, state: u32) -> bool {
        let duties = self.edges(state).iter().filter(|edge| !edge.is_optional());
        duties
            .into_iter()
            .all(|&edge| edge.fairness() == Fairness::MayStop && self.strong(edge).is_empty())
    }

    /// Writes the edges.
    #[cfg(feature = "json")]
    pub(super) fn write_edges(&self, to: &mut dyn Write) -> io::Result<()> {
        write_numbers(to, &self.firsts)?;
        let words = self.edges.iter().flat_map(|edge| [edge.mover, edge.to, edge.label]);
        write_numbers(to, &words.collect::<Vec<_>>())
    }

    /// Reads the edges of the first `expanded` states. All else is known.
    ///
    /// # Errors
    /// If they are not edges of this graph.
    #[cfg(feature = "json")]
    pub(super) fn read_edges(&mut self, expanded: u32, from: &mut dyn Read) -> io::Result<()> {
        self.firsts = read_numbers(from)?;
        let words = read_numbers(from)?;
        let (edges, rest) = words.as_chunks();
        self.edges = edges.iter().map(|&[mover, to, label]| Edge { mover, to, label }).collect();
        let beyond = |edge: &Edge| edge.mover().index() + 1;
        self.processes = self.edges.iter().map(beyond).max().unwrap_or(0);
        let is_known = |edge: &Edge| {
            (edge.to as usize) < self.len() && (edge.label as usize) < self.labels.len()
        };
        let are_fit = self.firsts.len() == expanded as usize + 1
            && self.firsts.is_sorted()
            && (self.firsts[0], self.firsts[expanded as usize] as usize) == (0, self.edges.len())
            && rest.is_empty()
            && self.edges.iter().all(is_known);
        if are_fit { Ok(()) } else { Err(stray()) }
    }

    /// The number of lists of strongly fair actions.
    pub(super) fn labels(&self) -> usize {
        self.labels.len()
    }

    /// Bytes in use, and the bytes that the next edges may allocate.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let edges = self.edges.capacity() * size_of::<Edge>();
        let rest = (self.firsts.capacity() + self.depths.capacity()) * 4 + self.bits.capacity() * 8;
        let is_full = self.edges.len() + 64 > self.edges.capacity();
        (edges + rest, if is_full { edges } else { 0 })
    }
}
