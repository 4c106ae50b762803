//! The full state graph, many states at a time.
//!
//! ```text
//! frontier := what the search from state to state has left to do
//! while the frontier is not empty:
//!   batch := those of its states that are furthest from the start
//!   expand      for each s of the batch: the states that its moves lead to, sorted by the table where they belong
//!   add         for each table: what is new is added to it, and to the frontier
//!   judge       ends, failures, and what may go round in vain, on the model
//!   learn       what s does whose moves are not known yet: s goes back to the frontier
//! ```
//!
//! A search that goes from state to state looks at the memory of one state after the other, and waits for it. Here a table is
//! asked for many states in a row, and no look-up needs the one before. Several threads expand parts of the batch; then
//! each adds what belongs to some of the tables, and no two write to the same. What a batch is, and in which order states come to
//! a table, does not depend on how many threads there are. So neither does anything that the search finds.
//!
//! Batches are small at first, and grow with the number of states; and what is furthest from the start goes first. So the
//! search comes to ends soon, and the frontier stays small.
//!
//! **The way to a state.** Each state is kept with the number of the move that led there first. To take a move back is to
//! flip its bits again, so the moves that lead to a state can be listed ([`FullGraph::seek`]). That is needed where the model
//! is: to learn and to judge. It costs a look-up and a step for each action. If it is needed too often, the search goes on from state
//! to state ([`FullGraph::one_by_one`]).

use rayon::ThreadPoolBuilder;

use super::FullGraph;
use crate::explore::driver::Driver;
use crate::explore::states::every_state::EveryState;
use crate::explore::states::known::{Known, SPREAD};
use crate::explore::states::moves::{Found, Moves};
use crate::explore::states::packed::{Layout, Repacker};
use crate::explore::states::table::{List, Table, each, table_of};
use crate::model::{Action, ProcessId, StopSignal, System};

/// A batch has one of so many of the states that are known, but no more than these.
const SHARE: usize = 8;
const LARGEST: usize = 1 << 19;
/// A thread expands one of so many of its states at a time.
const PARTS: usize = 32;
/// The search goes on from state to state if the ways that it has looked for have more than one action for so many transitions.
const FOR_EACH: u64 = 8;

/// What is small.
#[derive(Clone, Copy)]
struct Grain {
    /// A batch has no fewer states than this, if there are so many.
    batch: usize,
    /// Smaller batches are one thread's.
    to_share: usize,
    /// A thread expands no fewer states at a time.
    part: usize,
}

impl Grain {
    fn of(explorer: &EveryState) -> Grain {
        let part = (explorer.first as usize >> 8).max(1);
        Grain { batch: 8 * part, to_share: 4 * part, part }
    }
}

/// The states that were met, and are not expanded yet.
#[derive(Debug, Default)]
pub struct Frontier {
    /// By the length of the way to them: packed states, one behind the other.
    by_depth: Vec<Vec<u64>>,
}

impl Frontier {
    fn at(&mut self, depth: usize) -> &mut Vec<u64> {
        if self.by_depth.len() <= depth {
            self.by_depth.resize_with(depth + 1, Vec::new);
        }
        &mut self.by_depth[depth]
    }

    /// Adds packed states at this depth.
    pub fn push(&mut self, depth: usize, packed: &[u64]) {
        if !packed.is_empty() {
            self.at(depth).extend_from_slice(packed);
        }
    }

    /// Takes so many words off it, those of the deepest states, or fewer if there are fewer.
    fn take(&mut self, most: usize) -> Vec<(usize, Vec<u64>)> {
        let (mut taken, mut left) = (Vec::new(), most);
        while left > 0
            && let Some(depth) = self.by_depth.len().checked_sub(1)
        {
            let level = &mut self.by_depth[depth];
            let part = level.split_off(level.len().saturating_sub(left));
            left -= part.len();
            if level.is_empty() {
                self.by_depth.pop();
            }
            if !part.is_empty() {
                taken.push((depth, part));
            }
        }
        taken
    }

    /// Packs the states, which have had this width, in another layout.
    pub fn lay_out(&mut self, again: &Repacker, width: usize) {
        for level in &mut self.by_depth {
            *level = again.repack_all(level.chunks_exact(width));
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.by_depth.iter().map(|level| level.capacity() * size_of::<u64>()).sum()
    }
}

/// What the moves of some states lead to.
#[derive(Debug, Default)]
struct Part {
    /// The length of the way to these states.
    depth: usize,
    /// For each table, the states that belong there, and the numbers of the moves that lead to them.
    led_to: Vec<List>,
    /// How many moves there are, without those to be judged.
    transitions: u64,
    /// The states without a move; those whose processes may all go round in vain; those that are too far from the start.
    ends: Vec<u64>,
    rounds: Vec<u64>,
    cut: Vec<u64>,
    /// The moves that lead to something to be judged, with the states where they are made.
    judged: Vec<u32>,
    judged_from: Vec<u64>,
    /// The states with a process whose moves are not known.
    unknown: Vec<u64>,
    /// Those with a process whose moves have to be tried out; has an actor such moves?
    trials: Vec<u64>,
    has_reactions: bool,
    /// Scratch space: the moves of a state, by processes; a state.
    moves: Vec<(usize, u32, u32)>,
    next: Vec<u64>,
}

impl Part {
    fn clear(&mut self, depth: usize) {
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
struct Expander<'f> {
    moves: &'f Moves,
    layout: &'f Layout,
    /// How many parts of a state are about objects.
    objects: usize,
    /// States at this depth are not expanded.
    bound: usize,
    stop: StopSignal,
}

impl Expander<'_> {
    /// Finds out what the moves of these states lead to.
    fn expand_all(&self, states: &[u64], part: &mut Part) {
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

/// The states that are new to a table.
#[derive(Debug, Default)]
struct Fresh {
    states: Vec<u64>,
    /// The depths of the parts that they come from, and where those of each end.
    ends: Vec<(usize, usize)>,
}

/// A batch in the making. It is kept for the next one, because to ask for memory takes long where several threads do.
#[derive(Debug, Default)]
struct Batch {
    parts: Vec<Part>,
    /// How many of them are in use.
    count: usize,
    /// For each table.
    fresh: Vec<Fresh>,
    is_worth_sharing: bool,
}

impl Batch {
    fn parts(&self) -> &[Part] {
        &self.parts[..self.count]
    }
}

impl<S: System> FullGraph<'_, S> {
    /// May the search go on in batches? Not if states have many parts.
    pub(super) fn can_batch(&mut self) -> bool {
        !self.is_alone && self.known.tables().is_some()
    }

    /// Does what is left to do.
    pub(super) fn in_batches(&mut self, explorer: &EveryState, driver: &mut Driver<'_>) {
        let (grain, jobs) = (Grain::of(explorer), explorer.jobs.get() as usize);
        self.is_batched = true;
        self.known.spread(&self.layout);
        self.defer(driver);
        let threads = (jobs > 1).then(|| ThreadPoolBuilder::new().num_threads(jobs).build());
        // Where there are none to be had, this one does all.
        self.threads = threads.and_then(Result::ok);
        let mut batch = Batch::default();
        while !driver.is_stopped() {
            let most = (self.known.len() / SHARE).clamp(grain.batch, LARGEST);
            let states = self.frontier.take(most * self.layout.width());
            if states.is_empty() {
                return;
            }
            self.expand_batch(&states, grain, &mut batch, driver);
            self.add(&mut batch);
            driver.stats.states = Some(self.known.len() as u64);
            self.judge(batch.parts(), driver);
            if driver.is_stopped() {
                return;
            }
            self.learn_all(batch.parts());
            self.try_all(driver);
            if self.is_alone || self.sought > explorer.ways + driver.stats.transitions / FOR_EACH {
                return self.one_by_one(driver);
            }
        }
    }

    /// Makes the pending moves of the states on the stack. What they lead to becomes the frontier.
    fn defer(&mut self, driver: &mut Driver<'_>) {
        self.defers = true;
        self.go_on(driver, u64::MAX);
        self.defers = false;
    }

    /// Expands these states.
    fn expand_batch(
        &self,
        states: &[(usize, Vec<u64>)],
        grain: Grain,
        batch: &mut Batch,
        driver: &mut Driver<'_>,
    ) {
        let width = self.layout.width();
        let count = states.iter().map(|(_, states)| states.len()).sum::<usize>() / width;
        let size = (count / PARTS).max(grain.part) * width;
        let split = states
            .iter()
            .flat_map(|(depth, states)| states.chunks(size).map(move |states| (*depth, states)));
        let split: Vec<(usize, &[u64])> = split.collect();
        (batch.count, batch.is_worth_sharing) = (split.len(), count >= grain.to_share);
        if batch.parts.len() < split.len() {
            batch.parts.resize_with(split.len(), Part::default);
        }
        let expander = Expander {
            moves: &self.moves,
            layout: &self.layout,
            objects: self.objects,
            bound: driver.depth_bound() as usize,
            stop: driver.signal().clone(),
        };
        let mut work: Vec<_> = batch.parts.iter_mut().zip(split).collect();
        let threads = self.threads.as_ref().filter(|_| batch.is_worth_sharing);
        each(threads, &mut work, |(part, (depth, states))| {
            part.clear(*depth);
            expander.expand_all(states, part);
        });
        for (part, (depth, _)) in &work {
            driver.moved_often(part.transitions, depth + 1);
        }
    }

    /// Adds to the tables and to the frontier what is new.
    fn add(&mut self, batch: &mut Batch) {
        batch.fresh.resize_with(SPREAD, Fresh::default);
        let threads = self.threads.as_ref().filter(|_| batch.is_worth_sharing);
        let parts = &batch.parts[..batch.count];
        let tables = self.known.tables().expect("batches are of states in tables").tables();
        let tables = tables.iter_mut().zip(&mut batch.fresh).enumerate();
        let mut work: Vec<(usize, (&mut Table, &mut Fresh))> = tables.collect();
        each(threads, &mut work, |(at, (table, fresh))| {
            fresh.states.clear();
            fresh.ends.clear();
            for part in parts {
                let (states, by) = &part.led_to[*at];
                table.insert_all(states, by, &mut fresh.states);
                fresh.ends.push((part.depth, fresh.states.len()));
            }
        });
        for Fresh { states, ends } in &batch.fresh {
            let mut from = 0;
            for &(depth, to) in ends {
                self.frontier.push(depth + 1, &states[from..to]);
                from = to;
            }
        }
    }

    /// Judges what is to be judged, on the model.
    fn judge(&mut self, parts: &[Part], driver: &mut Driver<'_>) {
        let width = self.layout.width();
        for part in parts {
            for state in part.ends.chunks_exact(width) {
                if driver.is_stopped() {
                    return;
                }
                self.seek(state);
                let (locals, state) = self.model();
                driver.terminal(locals, state);
            }
            for state in part.rounds.chunks_exact(width) {
                if driver.is_stopped() {
                    return;
                }
                self.seek(state);
                self.is_livelock(driver);
            }
            for state in part.cut.chunks_exact(width) {
                if driver.is_stopped() {
                    return;
                }
                self.seek(state);
                if !self.is_livelock(driver) {
                    let (locals, state) = self.model();
                    driver.truncated(locals, state);
                }
            }
            let judged = part.judged_from.chunks_exact(width).zip(&part.judged);
            for (state, &number) in judged {
                if driver.is_stopped() {
                    return;
                }
                self.seek(state);
                let action = self.moves.get(number).action;
                self.path.push(action);
                let (locals, state) = self.model();
                driver.moved(locals, state, action);
            }
        }
    }

    /// Learns the moves that are not known. The states that they are made from are to be expanded again.
    fn learn_all(&mut self, parts: &[Part]) {
        let width = self.layout.width();
        let mut unknown = Vec::new();
        for part in parts {
            self.is_alone |= part.has_reactions;
            self.trials.push(part.depth, &part.trials);
            if part.unknown.is_empty() {
                continue;
            }
            let level = self.frontier.at(part.depth);
            let from = level.len() / width;
            level.extend_from_slice(&part.unknown);
            unknown.extend((from..level.len() / width).map(|index| (part.depth, index)));
        }
        for (depth, index) in unknown {
            // The layout may be another one now.
            let width = self.layout.width();
            let state = self.frontier.at(depth)[index * width..][..width].to_vec();
            self.learn_of(&state);
        }
    }

    /// Learns the moves of the processes in this state that are not known.
    fn learn_of(&mut self, state: &[u64]) {
        self.present.clear();
        self.present.extend_from_slice(state);
        let mut is_here = false;
        let mut process = 0;
        while process < self.layout.places() - self.objects {
            let place = self.objects + process;
            match self.moves.of(process, place, &self.present, &self.layout) {
                Found::Nothing => {
                    if !is_here {
                        self.seek(state);
                        is_here = true;
                    }
                    self.learn(process);
                }
                Found::ByTrial { .. } | Found::Moves { .. } => process += 1,
            }
        }
    }

    /// Tries out the moves of which it is not known where they lead.
    fn try_all(&mut self, driver: &mut Driver<'_>) {
        while !driver.is_stopped()
            && let Some((depth, state)) = self.trials.take(self.layout.width()).pop()
        {
            self.seek(&state);
            self.present = state;
            let (locals, state) = self.model();
            if !state.processes().any(|process| state.can_move(locals, process)) {
                driver.terminal(locals, state);
                continue;
            }
            self.is_livelock(driver);
            for process in 0..self.layout.places() - self.objects {
                self.try_out_of(process, depth, driver);
            }
        }
    }

    /// Tries out the moves of a process in the present state, if that is needed.
    fn try_out_of(&mut self, process: usize, depth: usize, driver: &mut Driver<'_>) {
        let place = self.objects + process;
        let found = self.moves.of(process, place, &self.present, &self.layout);
        if !matches!(found, Found::ByTrial { .. }) {
            return;
        }
        let process = ProcessId(process as u32);
        self.model();
        self.list_choices(process);
        for index in 0..self.choices.len() {
            let action = Action { process, choice: self.choices[index] };
            self.layout.unpack(&self.present, &mut self.before);
            self.model();
            let is_judged = self.carry_out(action);
            self.path.push(action);
            self.agreed += 1;
            driver.moved(&self.locals, &self.state, action);
            let number = self.arrive(action, is_judged);
            if self.known.insert(&self.present, number, &self.layout) {
                self.frontier.push(depth + 1, &self.present);
            }
            self.moves.take_back(number, &mut self.present);
            self.back();
        }
    }

    /// Explores from each state of the frontier what is left to do there, from state to state.
    fn one_by_one(&mut self, driver: &mut Driver<'_>) {
        (self.is_alone, self.is_batched) = (true, false);
        while !driver.is_stopped() {
            let width = self.layout.width();
            let Some((_, state)) = self.frontier.take(width).pop() else { return };
            self.seek(&state);
            self.present.clear();
            self.present.extend_from_slice(&state);
            self.enter(driver);
            self.go_on(driver, u64::MAX);
        }
    }

    /// Makes the present path one that leads to this state, which was met.
    fn seek(&mut self, state: &[u64]) {
        let tables = self.known.tables().expect("batches are of states in tables");
        let mut at = state.to_vec();
        let mut numbers = Vec::new();
        loop {
            match tables.number(&at).expect("a state that was met") {
                Known::START => break,
                number => {
                    numbers.push(number);
                    self.moves.take_back(number, &mut at);
                }
            }
        }
        self.sought += numbers.len() as u64;
        let actions = numbers.into_iter().rev().map(|number| self.moves.get(number).action);
        let actions: Vec<_> = actions.collect();
        let both = self.path.iter().zip(&actions);
        let common = both.take_while(|(one, other)| one == other).count();
        self.agreed = self.agreed.min(common);
        self.path = actions;
    }
}
