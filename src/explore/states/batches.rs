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
//! A search that goes from state to state looks at the memory of one state after the other, and
//! waits for it. Here a table is asked for many states in a row, and no look-up needs the one
//! before. Several threads expand parts of the batch; then each adds what belongs to some of the
//! tables, and no two write to the same. What a batch is, and in which order states come to a
//! table, does not depend on how many threads there are. So neither does anything that the search
//! finds.
//!
//! Batches are small at first, and grow with the number of states; and what is furthest from the
//! start goes first. So the search comes to ends soon, and the frontier stays small. Within a depth
//! it is the other way round: all states at one distance go before those at the next
//! ([`explore_by_levels`]).
//!
//! **The way to a state.** Each state is kept with the number of the move that led there first. To
//! take a move back is to flip its bits again, so the moves that lead to a state can be listed
//! ([`FullGraph::seek`]). That is needed where the model is: to learn and to judge. It costs a
//! look-up and a step for each action. If it is needed too often, the search goes on from state to
//! state ([`FullGraph::one_by_one`]).

use std::mem;

use rayon::ThreadPoolBuilder;

use super::expander::{Counted, Expander, Part};
use super::full_graph::FullGraph;
use super::known::{Known, SPREAD};
use super::moves::Found;
use super::reactions::Reactions;
use super::settings::Stateful;
use super::table::{Table, each};
use crate::explore::driver::Driver;
use crate::model::{Action, Choice, Locals, ProcessId, State, System};

/// A batch has one of so many of the states that are known, but no more than these.
const SHARE: usize = 8;
const LARGEST: usize = 1 << 19;
/// A thread expands one of so many of its states at a time.
const PARTS: usize = 32;
/// The search goes on from state to state if the ways that it has looked for have more than one
/// action for so many transitions.
const FOR_EACH: u64 = 8;

/// The search often asks the model if it has done so more often than this, and more than once for
/// so many transitions.
const FEW: u64 = 1 << 11;
const SELDOM: u64 = 40;

/// When batches are made, and by how many threads.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many threads.
    pub jobs: usize,
    /// After so many transitions they begin.
    pub first: u64,
    /// They end when the ways that were looked for have more actions than this, and more than an
    /// eighth of the transitions.
    pub ways: u64,
}

impl Default for Plan {
    /// One thread. Most programs are done before batches begin.
    fn default() -> Plan {
        Plan { jobs: 1, first: 1 << 17, ways: 1 << 16 }
    }
}

impl Plan {
    /// A thread expands no fewer states at a time.
    fn part(self) -> usize {
        (self.first as usize >> 8).max(1)
    }

    /// Smaller batches are one thread's.
    fn to_share(self) -> usize {
        4 * self.part()
    }

    /// A batch has no fewer states, if there are so many.
    fn batch(self) -> usize {
        8 * self.part()
    }
}

/// With more objects and processes than this, to learn what they do takes longer than to do it.
const MOST_PARTS: usize = 256;

/// Are states stored as usual, is there nobody who looks at the model state after each transition,
/// and has each of not too many parts its place?
pub fn can_look_up<S: System>(system: &S, how: Stateful, driver: &Driver<'_>) -> bool {
    let locals = Locals::new(system);
    let parts = locals.initial().len() + locals.met().order().len();
    how == Stateful { without: how.without, ..Stateful::default() }
        && !locals.met().may_grow()
        && parts <= MOST_PARTS
        && !driver.follows_transitions()
        && !driver.budget().properties.are_asked_on_the_way()
}

/// May all states be met in batches, whatever happens, and is that faster? It is not with condition
/// variables: what they do has to be tried out on the model, in states that are far from one
/// another.
pub fn can_go_by_levels<S: System>(system: &S) -> bool {
    let mut locals = Locals::new(system);
    State::initial(&mut locals).has_scopes(&locals)
        && locals.met().condvars.is_empty()
        && !system.foresight().may_spawn()
        && !system.actors().may_spawn()
}

/// Visits every state. To be used only where [`can_look_up`] is true.
pub fn explore<S: System>(system: &S, how: Stateful, plan: Plan, driver: &mut Driver<'_>) {
    let mut search = FullGraph::new(system, how, driver);
    search.enter(driver);
    let mut first = plan.first;
    search.go_on(driver, first);
    while search.is_under_way(driver) && search.asks_often(driver) {
        first *= 2;
        search.go_on(driver, first);
    }
    if search.is_under_way(driver) {
        search.in_batches(plan, driver);
    }
    driver.stats.state_bytes = Some(search.bytes() as u64);
}

/// Visits every state up to the depth of the driver, level by level: first all that are one action
/// from the start, and so on. To be used only where [`can_look_up`] and [`can_go_by_levels`] are
/// true.
pub fn explore_by_levels<S: System>(
    system: &S,
    how: Stateful,
    plan: Plan,
    driver: &mut Driver<'_>,
) {
    let mut search = FullGraph::new(system, how, driver);
    let counts = search.by_levels(plan, driver);
    driver.stats.states_by_depth = Some(counts);
    driver.stats.state_bytes = Some(search.bytes() as u64);
}

/// The states that are new to a table.
#[derive(Debug, Default)]
struct Fresh {
    states: Vec<u64>,
    /// The depths of the parts that they come from, and where those of each end.
    ends: Vec<(usize, usize)>,
}

/// A batch in the making. It is kept for the next one, because to ask for memory takes long where
/// several threads do.
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
    /// Is something left to do?
    fn is_under_way(&self, driver: &Driver<'_>) -> bool {
        !self.stack.is_empty() && !driver.is_stopped()
    }

    /// Does it ask the model so often that it is better to go from state to state?
    fn asks_often(&self, driver: &Driver<'_>) -> bool {
        self.asked > FEW.max(driver.stats.transitions / SELDOM)
    }

    /// From now on there are batches, made by so many threads.
    fn begin_batches(&mut self, jobs: usize) {
        self.is_batched = true;
        self.known.spread(&self.layout);
        let threads = (jobs > 1).then(|| ThreadPoolBuilder::new().num_threads(jobs).build());
        // Where there are none to be had, this one does all.
        self.threads = threads.and_then(Result::ok);
    }

    /// How many words of states to take for the next batch.
    fn most(&self, plan: Plan) -> usize {
        (self.known.len() / SHARE).clamp(plan.batch(), LARGEST) * self.layout.width()
    }

    /// Goes through all states within the depth, those of one depth after those of the one before.
    /// How many there are of each.
    fn by_levels(&mut self, plan: Plan, driver: &mut Driver<'_>) -> Vec<u64> {
        self.begin_batches(plan.jobs);
        driver.stats.states = Some(1);
        self.frontier.push(0, &self.present);
        let (mut batch, mut counts, mut before) = (Batch::default(), Vec::new(), 0);
        while self.known.len() > before && !driver.is_stopped() {
            counts.push((self.known.len() - before) as u64);
            before = self.known.len();
            let depth = counts.len() - 1;
            while !driver.is_stopped() {
                let states = self.frontier.take_at(depth, self.most(plan));
                if states.is_empty() {
                    break;
                }
                self.make(&[(depth, states)], plan, &mut batch, driver);
            }
        }
        counts
    }

    /// Does what is left to do.
    fn in_batches(&mut self, plan: Plan, driver: &mut Driver<'_>) {
        self.begin_batches(plan.jobs);
        self.defer(driver);
        let mut batch = Batch::default();
        while !driver.is_stopped() {
            let states = self.frontier.take(self.most(plan));
            if states.is_empty() {
                return;
            }
            self.make(&states, plan, &mut batch, driver);
            if self.is_alone || self.sought > plan.ways + driver.stats.transitions / FOR_EACH {
                return self.one_by_one(driver);
            }
        }
    }

    /// Makes the batch of these states.
    fn make(
        &mut self,
        states: &[(usize, Vec<u64>)],
        plan: Plan,
        batch: &mut Batch,
        driver: &mut Driver<'_>,
    ) {
        driver.expect(self.bytes_to_expand(states, &batch.parts, driver.stats.transitions));
        self.expand_batch(states, plan, batch, driver);
        driver.expect(self.bytes_to_add(batch.parts()));
        if driver.is_stopped() {
            return;
        }
        self.add(batch);
        driver.stats.states = Some(self.known.len() as u64);
        self.judge(batch.parts(), driver);
        if !driver.is_stopped() {
            self.learn_all(batch.parts());
            self.try_all(driver);
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
        plan: Plan,
        batch: &mut Batch,
        driver: &mut Driver<'_>,
    ) {
        let width = self.layout.width();
        let count = states.iter().map(|(_, states)| states.len()).sum::<usize>() / width;
        let size = (count / PARTS).max(plan.part()) * width;
        let split = states
            .iter()
            .flat_map(|(depth, states)| states.chunks(size).map(move |states| (*depth, states)));
        let split: Vec<(usize, &[u64])> = split.collect();
        (batch.count, batch.is_worth_sharing) = (split.len(), count >= plan.to_share());
        if batch.parts.len() < split.len() {
            batch.parts.resize_with(split.len(), Part::default);
        }
        let expander = Expander {
            moves: &self.moves,
            reactions: &self.reactions,
            views: &self.views,
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
            driver.moved_often(part.counted.transitions, depth + 1);
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
        for part in parts {
            self.at_each(&part.unjudged, driver, |search, state, driver| {
                // Perhaps a state before had the same views.
                if !search.views.are_fine(state, &search.layout, &mut search.alone) {
                    search.seek(state);
                    search.judge_views(driver);
                }
            });
            self.at_each(&part.ends, driver, |search, state, driver| {
                search.seek(state);
                let (locals, state) = search.model();
                driver.terminal(locals, state);
            });
            self.at_each(&part.rounds, driver, |search, state, driver| {
                search.seek(state);
                search.is_livelock(driver);
            });
            self.at_each(&part.cut, driver, |search, state, driver| {
                if driver.depth().is_some() && driver.stats.truncated > 0 {
                    driver.stats.truncated += 1;
                    return;
                }
                search.seek(state);
                search.cut_off(driver);
            });
            let Counted { judged, judged_from, .. } = &part.counted;
            let mut judged = judged.iter();
            self.at_each(judged_from, driver, |search, state, driver| {
                search.seek(state);
                let number = *judged.next().expect("one for each state");
                let action = search.action_of(number);
                search.path.push(action);
                let (locals, state) = search.model();
                driver.moved(locals, state, action);
            });
        }
    }

    /// The present state is too far from the start to be gone on from. What begins at a depth that
    /// was asked for is not judged.
    fn cut_off(&mut self, driver: &mut Driver<'_>) {
        if driver.depth().is_some() || !self.is_livelock(driver) {
            let (locals, state) = self.model();
            driver.truncated(locals, state);
        }
    }

    /// Does this in each of the states until the search is stopped.
    fn at_each(
        &mut self,
        states: &[u64],
        driver: &mut Driver<'_>,
        mut act: impl FnMut(&mut Self, &[u64], &mut Driver<'_>),
    ) {
        for state in states.chunks_exact(self.layout.width()) {
            if driver.is_stopped() {
                return;
            }
            act(self, state, driver);
        }
    }

    /// Learns the moves that are not known. The states that they are made from are to be expanded
    /// again.
    fn learn_all(&mut self, parts: &[Part]) {
        let width = self.layout.width();
        let mut unknown = Vec::new();
        for part in parts {
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
            let found = self.moves.of(process, place, &self.present, &self.layout);
            let is_known = match found {
                Found::Nothing => false,
                Found::Handlers { .. } => self.knows_reactions(process),
                Found::ByTrial { .. } | Found::Moves { .. } => true,
            };
            if !is_known && !mem::replace(&mut is_here, true) {
                self.seek(state);
            }
            match found {
                Found::Nothing => {
                    self.learn(process);
                    continue;
                }
                Found::Handlers { .. } if !is_known => self.learn_reactions(process),
                _ => {}
            }
            process += 1;
        }
    }

    /// Is it known what an actor can do in the present state, and what that leads to?
    fn knows_reactions(&mut self, process: usize) -> bool {
        let own = self.layout.code(&self.present, self.objects + process);
        let FullGraph { reactions, present, layout, alone, .. } = self;
        let offered = reactions.of(process, own);
        offered.is_some_and(|offered| {
            offered.iter().all(|&number| {
                alone.clear();
                alone.extend_from_slice(present);
                reactions.lead(number, alone, layout)
            })
        })
    }

    /// Learns what an actor can do in the present state, and what that leads to.
    fn learn_reactions(&mut self, process: usize) {
        let id = ProcessId(process as u32);
        self.model();
        self.list_choices(id);
        self.layout.unpack(&self.present, &mut self.before);
        let own = self.before[self.objects + process];
        let mut numbers = Vec::new();
        for index in 0..self.choices.len() {
            let action = Action { process: id, choice: self.choices[index] };
            let stimulus = self.state.stimulus(action.choice);
            let FullGraph { reactions, present, layout, alone, .. } = self;
            alone.clear();
            alone.extend_from_slice(present);
            let known = reactions.find(id, own, stimulus);
            let known = known.filter(|&number| reactions.lead(number, alone, layout));
            let number = known.unwrap_or_else(|| {
                let messages = self.state.inboxes().log().len();
                self.asked += 1;
                let is_judged = self.carry_out(action);
                let number = self.learn_reaction(id, stimulus, messages, is_judged);
                self.state.undo(&self.locals);
                self.make_room();
                number
            });
            numbers.push(number);
        }
        if !self.is_alone {
            self.reactions.offer(process, own, &numbers);
        }
    }

    /// Tries out the moves of which it is not known where they lead.
    fn try_all(&mut self, driver: &mut Driver<'_>) {
        while !driver.is_stopped()
            && let Some((depth, state)) = self.trials.take(self.layout.width()).pop()
        {
            self.seek(&state);
            let (locals, state) = self.model();
            if !state.processes().any(|process| state.can_move(locals, process)) {
                driver.terminal(locals, state);
                continue;
            }
            if depth >= driver.depth_bound() as usize {
                self.cut_off(driver);
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
            driver.moved(&mut self.locals, &self.state, action);
            self.arrive();
            let number = self.number(action, is_judged);
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
            self.enter(driver);
            self.go_on(driver, u64::MAX);
        }
    }

    /// Makes this state, which was met, the present one, and the present path one that leads to it.
    fn seek(&mut self, state: &[u64]) {
        self.present.clear();
        self.present.extend_from_slice(state);
        let tables = self.known.tables().expect("batches are of states in tables");
        let mut at = state.to_vec();
        let mut numbers = Vec::new();
        loop {
            match tables.number(&at).expect("a state that was met") {
                Known::START => break,
                number => {
                    numbers.push(number);
                    match number < Reactions::FIRST {
                        true => self.moves.take_back(number, &mut at),
                        false => self.reactions.take_back(number, &mut at, &self.layout),
                    }
                }
            }
        }
        numbers.reverse();
        self.sought += numbers.len() as u64;
        let both = self.way.iter().zip(&numbers);
        let common = both.take_while(|(one, other)| one == other).count().min(self.path.len());
        self.path.truncate(common);
        self.agreed = self.agreed.min(common);
        for &number in &numbers[common..] {
            let action = self.action_of(number);
            self.path.push(action);
        }
        self.way = numbers;
    }

    /// The action with which the present path goes on, if it goes on by the move or reaction with
    /// this number.
    fn action_of(&mut self, number: u32) -> Action {
        if number < Reactions::FIRST {
            return self.moves.get(number).action;
        }
        let (process, stimulus) = self.reactions.handler(number);
        self.model();
        self.list_choices(process);
        let is_meant = |&&choice: &&Choice| self.state.stimulus(choice) == stimulus;
        let choice = *self.choices.iter().find(is_meant).expect("a reaction that is possible");
        Action { process, choice }
    }
}
