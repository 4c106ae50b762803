//! A machine that executes one step of a rank after another, with one memory for each part of a
//! window.

use std::collections::{BTreeSet, HashSet};

use super::{PLACES, Step, What};

/// The machine. A rank that has a step in several parts is at one of them.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    at: Vec<(usize, usize)>,
    memory: Vec<[i32; PLACES]>,
    got: Vec<Vec<i32>>,
    /// For each rank: the steps of operations that are not complete, for each place of these, and
    /// where what is read goes.
    pending: Vec<Vec<(usize, usize, usize)>>,
    /// By target: the ranks that share it, or the one that has it alone.
    holders: Vec<Vec<usize>>,
    is_exclusive: Vec<bool>,
    sent: Vec<Vec<usize>>,
    /// The number of meetings that a rank has entered.
    met: Vec<usize>,
}

impl Machine {
    fn new(ranks: usize) -> Machine {
        let memory = |rank: usize| std::array::from_fn(|p| (2 + rank + p) as i32);
        Machine {
            at: vec![(0, 0); ranks],
            memory: (0..ranks).map(memory).collect(),
            got: vec![Vec::new(); ranks],
            pending: vec![Vec::new(); ranks],
            holders: vec![Vec::new(); ranks],
            is_exclusive: vec![false; ranks],
            sent: vec![vec![0; ranks]; ranks],
            met: vec![0; ranks],
        }
    }

    /// What a rank has started at a target and may be carried out first: at each place, in order.
    fn first(&self, steps: &[Step], rank: usize, target: usize) -> Vec<usize> {
        let pending = &self.pending[rank];
        let is_there = |&(step, ..): &(usize, usize, usize)| matches!(steps[step], Step::Operation { t, .. } if t == target);
        let is_first = |at: &usize| {
            let place = pending[*at].1;
            !pending[..*at].iter().any(|other| is_there(other) && other.1 == place)
        };
        (0..pending.len()).filter(|&at| is_there(&pending[at])).filter(is_first).collect()
    }

    /// Carries out an operation at one place.
    fn carry_out(&mut self, steps: &[Step], rank: usize, at: usize) {
        let (step, p, result) = self.pending[rank].remove(at);
        let Step::Operation { t, what, .. } = steps[step] else { unreachable!() };
        let place = &mut self.memory[t][p];
        let old = *place;
        *place = match what {
            What::Put(v) => v,
            What::Get => old,
            What::Accumulate(by, v) | What::Fetch(by, v) => by.apply(old, v),
            What::Swap { old: compared, new } if old == compared => new,
            What::Swap { .. } => old,
        };
        if !matches!(what, What::Put(_) | What::Accumulate(..)) {
            self.got[rank][result] = old;
        }
    }

    /// Carries out what a rank has started at a target.
    fn complete(&mut self, steps: &[Step], rank: usize, target: usize) {
        while let Some(&at) = self.first(steps, rank, target).first() {
            self.carry_out(steps, rank, at);
        }
    }

    /// The target where the next step of a rank completes operations, if it does.
    fn completed(&self, steps: &[Step], rank: usize) -> Option<usize> {
        let (step, part) = self.at[rank];
        match steps[step] {
            Step::Unlock(t) | Step::Flush(t) => Some(t),
            Step::UnlockAll => Some(part),
            Step::Fence { .. } => Some(part).filter(|&part| part < self.at.len()),
            _ => None,
        }
    }

    /// The states after a step of a rank, or a part of one. `is_split`: places are completed one
    /// by one.
    fn nexts(&self, steps: &[Step], rank: usize, is_split: bool) -> Vec<Machine> {
        let places = self.completed(steps, rank).filter(|_| is_split);
        let places = places.map_or(Vec::new(), |target| self.first(steps, rank, target));
        if !places.is_empty() {
            let with = |at| {
                let mut next = self.clone();
                next.carry_out(steps, rank, at);
                next
            };
            return places.into_iter().map(with).collect();
        }
        let mut next = self.clone();
        let Some(is_over) = next.part(steps, rank) else { return Vec::new() };
        let (step, part) = next.at[rank];
        next.at[rank] = if is_over { (step + 1, 0) } else { (step, part + 1) };
        vec![next]
    }

    fn take_lock(&mut self, rank: usize, t: usize, is_exclusive: bool) -> bool {
        let is_free = self.holders[t].is_empty() || (!is_exclusive && !self.is_exclusive[t]);
        if is_free {
            self.holders[t].push(rank);
            self.holders[t].sort_unstable();
            self.is_exclusive[t] = is_exclusive;
        }
        is_free
    }

    fn unlock(&mut self, steps: &[Step], rank: usize, t: usize) {
        self.complete(steps, rank, t);
        self.holders[t].retain(|&other| other != rank);
        self.is_exclusive[t] = false;
    }

    /// Lets a rank do a part of its next step, if it can. Returns whether the step is over.
    fn part(&mut self, steps: &[Step], rank: usize) -> Option<bool> {
        let ranks = self.at.len();
        let (step, part) = self.at[rank];
        let is_last = part + 1 == ranks;
        match steps[step] {
            Step::Lock { t, is_exclusive } => {
                return self.take_lock(rank, t, is_exclusive).then_some(true);
            }
            Step::LockAll => return self.take_lock(rank, part, false).then_some(is_last),
            Step::Unlock(t) => self.unlock(steps, rank, t),
            Step::UnlockAll => {
                self.unlock(steps, rank, part);
                return Some(is_last);
            }
            Step::Flush(t) => self.complete(steps, rank, t),
            Step::Fence { .. } if part < ranks => {
                self.complete(steps, rank, part);
                return Some(false);
            }
            Step::Fence { .. } if part == ranks => {
                self.met[rank] += 1;
                return Some(false);
            }
            Step::Barrier if part == 0 => {
                self.met[rank] += 1;
                return Some(false);
            }
            Step::Fence { .. } | Step::Barrier => {
                return self.met.iter().all(|&met| met >= self.met[rank]).then_some(true);
            }
            Step::Send(to) => self.sent[rank][to] += 1,
            Step::Receive(from) => {
                self.sent[from][rank] = self.sent[from][rank].checked_sub(1)?;
            }
            Step::Write { p, v } => self.memory[rank][p] = v,
            Step::Read { p } => {
                let value = self.memory[rank][p];
                self.got[rank].push(value);
            }
            Step::Operation { p, n, what, .. } => {
                for place in p..p + n {
                    self.pending[rank].push((step, place, self.got[rank].len()));
                    if !matches!(what, What::Put(_) | What::Accumulate(..)) {
                        self.got[rank].push(0);
                    }
                }
            }
        }
        Some(true)
    }

    /// The final output of `outcomes.c`.
    fn outcome(&self) -> String {
        let of_rank = |rank: usize| {
            let all = self.got[rank].iter().chain(&self.memory[rank]);
            all.map(|value| format!("{value} ")).collect::<String>() + "/ "
        };
        (0..self.at.len()).map(of_rank).collect()
    }
}

/// All outcomes of the machine. `is_split`: places are completed one by one.
pub(super) fn expected(ranks: &[Vec<Step>], is_split: bool) -> BTreeSet<String> {
    let mut outcomes = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![Machine::new(ranks.len())];
    while let Some(state) = open.pop() {
        let is_over = |rank: usize| state.at[rank].0 == ranks[rank].len();
        if (0..ranks.len()).all(is_over) {
            outcomes.insert(state.outcome());
        }
        for (rank, steps) in ranks.iter().enumerate().filter(|&(rank, _)| !is_over(rank)) {
            let nexts = state.nexts(steps, rank, is_split);
            open.extend(nexts.into_iter().filter(|next| seen.insert(next.clone())));
        }
    }
    outcomes
}
