//! Backtrack sets along an execution: what of the enabled actions of each state is to be tried.
//!
//! A set P of actions enabled after E is a *source set* if every complete continuation of E that is not
//! explored elsewhere has an element of P among its weak initials (Abdulla, Aronis, Jonsson, Sagonas,
//! J. ACM 64(4), 2017, section 4). A backtrack set starts with a single strand and grows into a source set
//! as races are found. A strand is in it with all its enabled actions: outcomes of one choice exclude one
//! another.

use super::Strand;
use crate::model::Action;

/// An enabled action of a state.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    action: Action,
    strand: Strand,
    standing: Standing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Not in the backtrack set.
    Out,
    /// To be tried.
    In,
    /// Tried, being tried, or asleep.
    Explored,
}

/// The backtrack sets of all prefixes of an execution, each level's in the order of trying.
#[derive(Debug, Default)]
pub struct SourceSets {
    candidates: Vec<Candidate>,
    levels: Vec<usize>,
}

impl SourceSets {
    /// Begins the level of the next longer execution, with nothing enabled.
    pub fn descend(&mut self) {
        self.levels.push(self.candidates.len());
    }

    /// Ends the newest level.
    pub fn ascend(&mut self) {
        let mark = self.levels.pop().expect("a level to leave");
        self.candidates.truncate(mark);
    }

    /// At the newest level the next action in order is `action`; an action that is asleep needs no trying.
    pub fn offer(&mut self, action: Action, strand: Strand, is_asleep: bool) {
        let standing = if is_asleep { Standing::Explored } else { Standing::Out };
        self.candidates.push(Candidate { action, strand, standing });
    }

    /// Starts the newest level's set with the first strand that is not asleep, if there is one.
    pub fn start(&mut self) -> bool {
        let level = self.levels.len() - 1;
        let mut all = self.candidates[self.levels[level]..].iter();
        let first = all.find(|candidate| candidate.standing == Standing::Out).map(|c| c.strand);
        first.inspect(|&strand| self.add(level, strand)).is_some()
    }

    /// Adds a strand to the set after the first `level` actions.
    pub fn add(&mut self, level: usize, strand: Strand) {
        for candidate in self.level(level) {
            if candidate.strand == strand && candidate.standing == Standing::Out {
                candidate.standing = Standing::In;
            }
        }
    }

    /// After the first `level` actions, is `action` in the set, or explored elsewhere?
    pub fn covers(&self, level: usize, action: Action) -> bool {
        let standing = |c: &&Candidate| c.action == action;
        self.slice(level).iter().find(standing).is_some_and(|c| c.standing != Standing::Out)
    }

    /// The same of any action of a strand.
    pub fn covers_strand(&self, level: usize, strand: Strand) -> bool {
        self.slice(level).iter().any(|c| c.strand == strand && c.standing != Standing::Out)
    }

    /// The next action of the newest level to be tried; it counts as tried then.
    pub fn take_next(&mut self) -> Option<Action> {
        let level = self.levels.len() - 1;
        let mut all = self.level(level).iter_mut();
        let next = all.find(|candidate| candidate.standing == Standing::In)?;
        next.standing = Standing::Explored;
        Some(next.action)
    }

    fn range(&self, level: usize) -> std::ops::Range<usize> {
        let end = self.levels.get(level + 1).copied().unwrap_or(self.candidates.len());
        self.levels[level]..end
    }

    fn slice(&self, level: usize) -> &[Candidate] {
        &self.candidates[self.range(level)]
    }

    fn level(&mut self, level: usize) -> &mut [Candidate] {
        let range = self.range(level);
        &mut self.candidates[range]
    }
}
