//! Computes the successors of many states by known moves.

use super::known::SPREAD;
use super::moves::{Found, Moves};
use super::packed::Layout;
use super::reactions::Reactions;
use super::table::{List, table_of};
use super::views::Views;
use crate::model::StopSignal;

/// The moves made by a part of a batch.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// The number of moves whose targets need not be judged.
    pub(crate) transitions: u64,
    /// The moves whose targets must be judged.
    pub(crate) judged: Vec<u32>,
    /// The sources of the moves in `judged`, concatenated.
    pub(crate) judged_from: Vec<u64>,
}

impl Counted {
    #[inline]
    fn add(&mut self, number: u32, is_judged: bool, state: &[u64]) {
        match is_judged {
            false => self.transitions += 1,
            true => {
                self.judged.push(number);
                self.judged_from.extend_from_slice(state);
            }
        }
    }
}

/// The results of expanding some states. Lists of states are concatenated packed states.
#[derive(Debug, Default)]
pub struct Part {
    /// The length of the paths to the expanded states.
    pub(crate) depth: usize,
    /// For each table, the successors that belong there, with the numbers of the moves that lead to
    /// them.
    pub(crate) led_to: Vec<List>,
    /// The moves made.
    pub(crate) counted: Counted,
    /// The states without a move.
    pub(crate) ends: Vec<u64>,
    /// States in which all processes may be in loops that change nothing.
    pub(crate) rounds: Vec<u64>,
    /// States beyond the depth bound.
    pub(crate) cut: Vec<u64>,
    /// States in which invariants still have to be judged.
    pub(crate) unjudged: Vec<u64>,
    /// States with a process whose moves are not known.
    pub(crate) unknown: Vec<u64>,
    /// States with a process whose moves have to be executed on the model.
    pub(crate) trials: Vec<u64>,
    /// Scratch space: the moves of a state by process; its reactions, and their targets; a state; a
    /// view.
    moves: Vec<(usize, u32, u32)>,
    reactions: Vec<u32>,
    reached: Vec<u64>,
    next: Vec<u64>,
    view: Vec<u64>,
}

impl Part {
    /// Clears all results, for states at this depth.
    pub(crate) fn clear(&mut self, depth: usize) {
        self.led_to.resize_with(SPREAD, Default::default);
        for (states, by) in &mut self.led_to {
            states.clear();
            by.clear();
        }
        for list in [
            &mut self.ends,
            &mut self.rounds,
            &mut self.cut,
            &mut self.unjudged,
            &mut self.counted.judged_from,
            &mut self.unknown,
            &mut self.trials,
        ] {
            list.clear();
        }
        self.counted.judged.clear();
        (self.depth, self.counted.transitions) = (depth, 0);
    }

    /// Records that not all moves of a state are known. Returns false: the state is not to be
    /// expanded.
    fn has_unknown(&mut self, state: &[u64]) -> bool {
        self.unknown.extend_from_slice(state);
        false
    }
}

/// The tables that are needed to expand states, shared by all threads.
pub(crate) struct Expander<'f> {
    /// The moves of processes.
    pub(crate) moves: &'f Moves,
    /// The reactions of actors.
    pub(crate) reactions: &'f Reactions,
    /// The views of invariants.
    pub(crate) views: &'f Views,
    /// The layout of packed states.
    pub(crate) layout: &'f Layout,
    /// The number of places of a state that belong to objects.
    pub(crate) objects: usize,
    /// States at this depth are not expanded.
    pub(crate) bound: usize,
    /// Raised when the expansion must stop.
    pub(crate) stop: StopSignal,
}

impl Expander<'_> {
    /// Expands these states; the results are added to `part`.
    pub(crate) fn expand_all(&self, states: &[u64], part: &mut Part) {
        match self.layout.width() {
            1 => self.expand_each::<1>(states, part),
            2 => self.expand_each::<2>(states, part),
            3 => self.expand_each::<3>(states, part),
            4 => self.expand_each::<4>(states, part),
            _ => self.expand_each::<0>(states, part),
        }
    }

    /// Expands states of W words; of any number of words if W is 0.
    fn expand_each<const W: usize>(&self, states: &[u64], part: &mut Part) {
        for (index, state) in states.chunks_exact(self.layout.width()).enumerate() {
            if index.is_multiple_of(64) && self.stop.is_raised() {
                return;
            }
            let state = sized::<W>(state);
            if !self.views.are_fine(state, self.layout, &mut part.view) {
                part.unjudged.extend_from_slice(state);
            }
            if self.is_to_expand(state, part) {
                self.expand::<W>(state, part);
            }
        }
    }

    /// Lists the moves of a state, and puts it on the lists of `part` to which it belongs. Returns
    /// whether its moves are to be made.
    fn is_to_expand(&self, state: &[u64], part: &mut Part) -> bool {
        let (mut may_all_wait, mut has_trials) = (true, false);
        part.moves.clear();
        part.reactions.clear();
        part.reached.clear();
        for process in 0..self.layout.places() - self.objects {
            match self.moves.of(process, self.objects + process, state, self.layout) {
                Found::Moves { range: (from, to), .. } if from == to => {}
                Found::Moves { range: (from, to), may_spin } => {
                    may_all_wait &= may_spin;
                    part.moves.push((process, from, to));
                }
                Found::ByTrial { .. } => has_trials = true,
                Found::Handlers { may_spin } => match self.react(process, state, part) {
                    Some(0) => {}
                    Some(_) => may_all_wait &= may_spin,
                    None => return part.has_unknown(state),
                },
                Found::Nothing => return part.has_unknown(state),
            }
        }
        if part.moves.is_empty() && part.reactions.is_empty() && !has_trials {
            part.ends.extend_from_slice(state);
            return false;
        }
        if part.depth >= self.bound {
            let is_open = part.moves.is_empty() && part.reactions.is_empty();
            let list = if is_open { &mut part.trials } else { &mut part.cut };
            list.extend_from_slice(state);
            return false;
        }
        if has_trials {
            part.trials.extend_from_slice(state);
        } else if may_all_wait && !self.does_some_go_on(state, part) {
            part.rounds.extend_from_slice(state);
        }
        true
    }

    /// Lists the reactions of an actor, and their targets. Returns their number; `None` if not all
    /// are known.
    fn react(&self, process: usize, state: &[u64], part: &mut Part) -> Option<usize> {
        let own = self.layout.code(state, self.objects + process);
        let offered = self.reactions.of(process, own)?;
        part.reactions.extend_from_slice(offered);
        let mut led = offered.iter().map(|&number| {
            let from = part.reached.len();
            // For a few words a loop is faster than a copy.
            state.iter().for_each(|&word| part.reached.push(word));
            self.reactions.lead(number, &mut part.reached[from..], self.layout)
        });
        led.all(|is_known| is_known).then_some(offered.len())
    }

    /// Makes the listed moves and reactions.
    #[inline]
    fn expand<const W: usize>(&self, state: &[u64], part: &mut Part) {
        let Part { moves, next, led_to, .. } = part;
        for number in moves.iter().flat_map(|&(_, from, to)| from..to) {
            match state.try_into() {
                Ok(from) if W > 0 => {
                    let from: &[u64; W] = from;
                    add::<W>(led_to, &self.moves.lead_to(number, from), number);
                }
                _ => {
                    next.clear();
                    self.moves.lead(number, state, next);
                    add::<W>(led_to, next, number);
                }
            }
        }
        let Part { moves, counted, .. } = part;
        for number in moves.iter().flat_map(|&(_, from, to)| from..to) {
            counted.add(number, self.moves.is_judged(number), state);
        }
        if !part.reactions.is_empty() {
            self.make_reactions::<W>(state, part);
        }
    }

    fn make_reactions<const W: usize>(&self, state: &[u64], part: &mut Part) {
        let reached = part.reached.chunks_exact(state.len());
        for (&number, next) in part.reactions.iter().zip(reached) {
            add::<W>(&mut part.led_to, next, number);
            part.counted.add(number, self.reactions.is_judged(number), state);
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

/// Adds a successor to the list of its table.
#[inline]
fn add<const W: usize>(led_to: &mut [List], state: &[u64], by: u32) {
    let state = sized::<W>(state);
    let (states, numbers) = &mut led_to[table_of(state, SPREAD)];
    states.extend_from_slice(state);
    numbers.push(by);
}

/// The state as a slice whose length W the compiler knows; of any length if W is 0.
#[inline]
fn sized<const W: usize>(state: &[u64]) -> &[u64] {
    if W == 0 { state } else { &state[..W] }
}
