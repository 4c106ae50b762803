//! What the moves of many states lead to, where the moves were learned.

use super::known::SPREAD;
use super::moves::{Found, Moves};
use super::packed::Layout;
use super::table::{List, table_of};
use crate::model::StopSignal;

/// What the moves of some states lead to.
#[derive(Debug, Default)]
pub struct Part {
    /// The length of the way to these states.
    pub depth: usize,
    /// For each table, the states that belong there, and the numbers of the moves that lead to them.
    pub led_to: Vec<List>,
    /// How many moves there are, without those to be judged.
    pub transitions: u64,
    /// The states without a move.
    pub ends: Vec<u64>,
    /// Those whose processes may all go round in vain.
    pub rounds: Vec<u64>,
    /// Those that are too far from the start.
    pub cut: Vec<u64>,
    /// The moves that lead to something to be judged.
    pub judged: Vec<u32>,
    /// The states where they are made.
    pub judged_from: Vec<u64>,
    /// The states with a process whose moves are not known.
    pub unknown: Vec<u64>,
    /// Those with a process whose moves have to be tried out.
    pub trials: Vec<u64>,
    /// Has an actor such moves?
    pub has_reactions: bool,
    /// Scratch space: the moves of a state, by processes; a state.
    moves: Vec<(usize, u32, u32)>,
    next: Vec<u64>,
}

impl Part {
    /// Nothing yet, for states at this depth.
    pub fn clear(&mut self, depth: usize) {
        self.led_to.resize_with(SPREAD, Default::default);
        for (states, by) in &mut self.led_to {
            states.clear();
            by.clear();
        }
        for list in [
            &mut self.ends,
            &mut self.rounds,
            &mut self.cut,
            &mut self.judged_from,
            &mut self.unknown,
            &mut self.trials,
        ] {
            list.clear();
        }
        self.judged.clear();
        (self.depth, self.transitions, self.has_reactions) = (depth, 0, false);
    }
}

/// What is known of all processes.
pub struct Expander<'f> {
    /// The moves.
    pub moves: &'f Moves,
    /// How states are packed.
    pub layout: &'f Layout,
    /// How many parts of a state are about objects.
    pub objects: usize,
    /// States at this depth are not expanded.
    pub bound: usize,
    /// Tells when to stop.
    pub stop: StopSignal,
}

impl Expander<'_> {
    /// Finds out what the moves of these states lead to.
    pub fn expand_all(&self, states: &[u64], part: &mut Part) {
        let width = self.layout.width();
        for (index, state) in states.chunks_exact(width).enumerate() {
            if index.is_multiple_of(64) && self.stop.is_raised() {
                return;
            }
            if !self.is_to_expand(state, part) {
                continue;
            }
            match width {
                1 => self.expand::<1>(state, part),
                2 => self.expand::<2>(state, part),
                3 => self.expand::<3>(state, part),
                4 => self.expand::<4>(state, part),
                _ => self.expand_long(state, part),
            }
        }
    }

    /// Lists the moves of a state. Are they to be made?
    fn is_to_expand(&self, state: &[u64], part: &mut Part) -> bool {
        let (mut may_all_wait, mut has_trials) = (true, false);
        part.moves.clear();
        for process in 0..self.layout.places() - self.objects {
            match self.moves.of(process, self.objects + process, state, self.layout) {
                Found::Moves { range: (from, to), .. } if from == to => {}
                Found::Moves { range: (from, to), may_spin } => {
                    may_all_wait &= may_spin;
                    part.moves.push((process, from, to));
                }
                Found::ByTrial { reacts, .. } => {
                    has_trials = true;
                    part.has_reactions |= reacts;
                }
                Found::Nothing => {
                    part.unknown.extend_from_slice(state);
                    return false;
                }
            }
        }
        if part.moves.is_empty() && !has_trials {
            part.ends.extend_from_slice(state);
            return false;
        }
        if part.depth >= self.bound {
            part.cut.extend_from_slice(state);
            return false;
        }
        if has_trials {
            part.trials.extend_from_slice(state);
        } else if may_all_wait && !self.does_some_go_on(state, part) {
            part.rounds.extend_from_slice(state);
        }
        true
    }

    /// Makes the moves that are listed, in a state of W words.
    #[inline]
    fn expand<const W: usize>(&self, state: &[u64], part: &mut Part) {
        let from: &[u64; W] = state.try_into().expect("so many words");
        let Part { moves, led_to, .. } = part;
        for number in moves.iter().flat_map(|&(_, from, to)| from..to) {
            let next = self.moves.lead_to(number, from);
            let (states, by) = &mut led_to[table_of(&next, SPREAD)];
            states.extend_from_slice(&next);
            by.push(number);
        }
        self.look_at(state, part);
    }

    /// The same in a state of any number of words.
    fn expand_long(&self, state: &[u64], part: &mut Part) {
        let Part { moves, next, led_to, .. } = part;
        for number in moves.iter().flat_map(|&(_, from, to)| from..to) {
            next.clear();
            self.moves.lead(number, state, next);
            let (states, by) = &mut led_to[table_of(next, SPREAD)];
            states.extend_from_slice(next);
            by.push(number);
        }
        self.look_at(state, part);
    }

    /// Counts the moves that are listed, and notes which are to be judged.
    #[inline]
    fn look_at(&self, state: &[u64], part: &mut Part) {
        for number in part.moves.iter().flat_map(|&(_, from, to)| from..to) {
            match self.moves.is_judged(number) {
                false => part.transitions += 1,
                true => {
                    part.judged.push(number);
                    part.judged_from.extend_from_slice(state);
                }
            }
        }
    }

    fn does_some_go_on(&self, state: &[u64], part: &mut Part) -> bool {
        let Part { moves, next, .. } = part;
        moves.iter().any(|&(process, ..)| {
            next.clear();
            next.extend_from_slice(state);
            self.moves.goes_on(process, self.objects + process, next, self.layout)
        })
    }
}
