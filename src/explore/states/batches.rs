//! The full state graph, explored in batches of states.
//!
//! ```text
//! frontier := the open states of the search from state to state
//! while the frontier is not empty:
//!   batch := those of its states that are furthest from the start
//!   expand      for each s of the batch: its successors, sorted by the table where they belong
//!   add         for each table: new states are added to it, and to the frontier
//!   judge       ends, failures and possible livelocks, on the model
//!   learn       unknown moves of some s of the batch; these s go back to the frontier
//! ```
//!
//! A search that goes from state to state waits for memory at each lookup. Here many states are
//! looked up in one table, and no lookup depends on the one before. Several threads expand parts of
//! the batch; then each adds the successors that belong to some of the tables, and no two threads
//! write to one table. The batches, and the order in which states are added to a table, do not
//! depend on the number of threads. So the results do not depend on it either.
//!
//! Batches are small at first, and grow with the number of states; states furthest from the start
//! go first. So the search soon reaches ends, and the frontier stays small. Within a depth bound it
//! is the other way round: all states at one distance go before those at the next
//! ([`explore_by_levels`]).
//!
//! **The path to a state.** Each state is stored with the number of the move that first led to it.
//! Moves can be undone, so a path to a state can be reconstructed ([`FullGraph::seek`]) and
//! replayed on the model, when moves are learned or states judged. That costs a lookup and a step
//! for each action. If it is needed too often, the search falls back to one state at a time
//! ([`FullGraph::one_by_one`]).

use std::mem;

use super::expander::{Counted, Expander, Part};
use super::full_graph::FullGraph;
use super::kept;
use super::known::SPREAD;
use super::moves::Found;
use super::plan::{Ended, Levels, Place, Plan};
use super::pool::{Pool, each};
use super::settings::Stateful;
use super::table::Table;
use super::visits::Visit;
use crate::explore::driver::Driver;
use crate::explore::news::{Led, News, is_there};
use crate::model::{Action, Locals, ObjectTable, ProcessId, System, Values};

/// A batch takes 1/`BATCH_SHARE` of the known states, at most `LARGEST_BATCH`.
const BATCH_SHARE: usize = 8;
const LARGEST_BATCH: usize = 1 << 19;
/// A thread expands about 1/`PARTS_PER_BATCH` of a batch at a time.
const PARTS_PER_BATCH: usize = 32;
/// Replayed actions are tolerated up to one for this number of transitions
/// ([`Plan::max_replayed`]).
const TRANSITIONS_PER_REPLAYED: u64 = 8;

/// The search counts as querying the model often after more than `FREE_QUERIES` queries, if there
/// is more than one for every `TRANSITIONS_PER_QUERY` transitions.
const FREE_QUERIES: u64 = 1 << 11;
const TRANSITIONS_PER_QUERY: u64 = 40;

/// With more objects and processes than this, memoising moves takes longer than executing them.
const MOST_PARTS: usize = 256;

/// Can moves be memoised? That needs the default way to store states, no observer or property that
/// needs the model state after each transition, at most [`MOST_PARTS`] parts, each with a fixed
/// place, and no move that depends on all parts, as a timeout does that waits until all are stuck.
pub(crate) fn can_look_up<S: System>(system: &S, how: Stateful, driver: &Driver<'_>) -> bool {
    let locals = Locals::new(system);
    let parts = locals.initial().len() + locals.objects().order().len();
    how == Stateful { without: how.without, ..Stateful::default() }
        && !system.objects().may_time_out_when_stuck
        && !locals.objects().may_grow()
        && parts <= MOST_PARTS
        && !driver.follows_transitions()
        && !driver.budget().properties.are_asked_on_the_way()
}

/// Is it worth it to memoise moves? Not where each has to be executed on the model anyhow. No
/// process runs to answer this: it might compute for ever.
pub(crate) fn gains_by_looking_up<S: System>(system: &S) -> bool {
    let objects = ObjectTable::new(system.objects(), &mut Values::default());
    !system.objects().may_time_out_when_stuck
        && objects.has_fixed_parts()
        && objects.order().len() <= MOST_PARTS
}

/// Can the whole search run in batches?
pub fn can_go_by_levels<S: System>(system: &S) -> bool {
    ObjectTable::new(system.objects(), &mut Values::default()).has_fixed_parts()
        && !system.foresight().may_spawn()
        && !system.actors().may_spawn()
}

/// Visits every state. Requires [`can_look_up`].
pub fn explore<S: System>(system: &S, how: Stateful, plan: Plan, driver: &mut Driver<'_>) {
    let (mut search, place) = match kept::resumed(system, (how, plan), false, driver) {
        Ok(Some(resumed)) => resumed,
        Err(Ended) => return,
        Ok(None) => {
            let mut search = FullGraph::begun(system, how, plan, driver);
            search.news = kept::news(driver);
            (search, Place::BeforeBatches)
        }
    };
    if matches!(place, Place::BeforeBatches) {
        search.go_on_to_batches(driver);
        if search.is_under_way(driver) {
            search.begin_batches(plan.jobs);
            search.keep_log(driver);
            search.defer(driver);
        }
    }
    match place {
        Place::AfterBatches => search.go_on_one_by_one(driver),
        _ => search.go_on_in_batches(plan, driver),
    }
    driver.stats.state_bytes = Some(search.bytes() as u64);
}

/// Visits every state up to the depth of the driver, level by level: first all states at distance 1
/// from the start, and so on. Requires [`can_look_up`] and [`can_go_by_levels`].
pub(crate) fn explore_by_levels<S: System>(
    system: &S,
    how: Stateful,
    plan: Plan,
    driver: &mut Driver<'_>,
) {
    let (mut search, levels) = match kept::resumed(system, (how, plan), true, driver) {
        Ok(Some((search, Place::InLevels(levels)))) => (search, levels),
        Ok(Some(_)) => unreachable!("a search by levels is resumed in its levels"),
        Err(Ended) => return,
        Ok(None) => {
            let mut search = FullGraph::new(system, how, driver);
            search.begin_batches(plan.jobs);
            search.keep_log(driver);
            driver.stats.states = Some(1);
            let present = search.present.clone();
            search.frontier.push(0, &present);
            (search, Levels { counts: vec![1], before: 1 })
        }
    };
    let counts = search.by_levels(levels, plan, driver);
    driver.stats.states_by_depth = Some(counts);
    driver.stats.state_bytes = Some(search.bytes() as u64);
}

/// The states that are new to a table.
#[derive(Debug, Default)]
struct Fresh {
    states: Vec<u64>,
    /// For each part from which they come: its depth, and where its states end.
    ends: Vec<(usize, usize)>,
}

/// A batch under construction. Its memory is reused, because allocation by several threads is slow.
#[derive(Debug, Default)]
struct Batch {
    parts: Vec<Part>,
    /// The number of parts in use.
    count: usize,
    /// The new states of each table.
    fresh: Vec<Fresh>,
    is_worth_sharing: bool,
}

impl Batch {
    fn parts(&self) -> &[Part] {
        &self.parts[..self.count]
    }
}

impl<'s, S: System> FullGraph<'s, S> {
    /// A search that has entered the initial state.
    pub(super) fn begun(system: &'s S, how: Stateful, plan: Plan, driver: &mut Driver<'_>) -> Self {
        let mut search = FullGraph::new(system, how, driver);
        search.enter(driver);
        search.most = plan.first;
        search
    }

    /// Visits states one by one, until it is time for batches or no state is left.
    pub(super) fn go_on_to_batches(&mut self, driver: &mut Driver<'_>) {
        self.go_on(driver, self.most);
        while self.is_under_way(driver) && self.queries_often(driver) {
            self.most *= 2;
            self.go_on(driver, self.most);
        }
    }

    /// Are there open states, and is the search not stopped?
    fn is_under_way(&self, driver: &Driver<'_>) -> bool {
        !self.stack.is_empty() && !driver.is_stopped()
    }

    /// Are queries to the model so frequent that batches would be slower?
    fn queries_often(&self, driver: &Driver<'_>) -> bool {
        self.queries > FREE_QUERIES.max(driver.stats.transitions / TRANSITIONS_PER_QUERY)
    }

    /// Switches to batches, explored by `jobs` threads.
    pub(super) fn begin_batches(&mut self, jobs: usize) {
        self.is_batched = true;
        self.news = None;
        self.known.spread(&self.layout);
        // If no threads can be started, this thread does all the work.
        self.threads = if jobs > 1 { Pool::new(jobs) } else { None };
    }

    /// The most words of states in the next batch.
    fn most(&self, plan: Plan) -> usize {
        (self.known.len() / BATCH_SHARE).clamp(plan.batch(), LARGEST_BATCH) * self.layout.width()
    }

    /// Visits all states within the depth bound, level by level. Returns the size of each level.
    fn by_levels(&mut self, mut levels: Levels, plan: Plan, driver: &mut Driver<'_>) -> Vec<u64> {
        let mut batch = Batch::default();
        loop {
            let depth = levels.counts.len() - 1;
            while !driver.is_stopped() {
                self.save_now_and_then(Some(&levels), driver);
                let states = self.frontier.take_at(depth, self.most(plan));
                if states.is_empty() {
                    break;
                }
                self.make(&[(depth, states)], plan, &mut batch, driver);
            }
            if self.known.len() == levels.before || driver.is_stopped() {
                return levels.counts;
            }
            levels.counts.push((self.known.len() - levels.before) as u64);
            levels.before = self.known.len();
        }
    }

    /// Explores the rest of the graph in batches.
    fn go_on_in_batches(&mut self, plan: Plan, driver: &mut Driver<'_>) {
        let mut batch = Batch::default();
        while !driver.is_stopped() {
            self.save_now_and_then(None, driver);
            let states = self.frontier.take(self.most(plan));
            if states.is_empty() {
                return;
            }
            self.make(&states, plan, &mut batch, driver);
            if self.is_one_by_one
                || self.replayed
                    > plan.max_replayed + driver.stats.transitions / TRANSITIONS_PER_REPLAYED
            {
                return self.one_by_one(driver);
            }
        }
    }

    /// Explores one batch: these states.
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

    /// Makes the pending moves of the states on the stack. New successors become the frontier.
    pub(super) fn defer(&mut self, driver: &mut Driver<'_>) {
        self.defers = true;
        self.go_on(driver, u64::MAX);
        self.defers = false;
    }

    /// Expands the states of a batch, split into parts.
    fn expand_batch(
        &self,
        states: &[(usize, Vec<u64>)],
        plan: Plan,
        batch: &mut Batch,
        driver: &mut Driver<'_>,
    ) {
        let width = self.layout.width();
        let count = states.iter().map(|(_, states)| states.len()).sum::<usize>() / width;
        let size = (count / PARTS_PER_BATCH).max(plan.part()) * width;
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

    /// Adds the new successors to the tables and to the frontier.
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

    /// Judges the states and moves that must be judged, on the model.
    fn judge(&mut self, parts: &[Part], driver: &mut Driver<'_>) {
        for part in parts {
            self.at_each(&part.unjudged, driver, |search, state, driver| {
                // A state judged before may have had the same views.
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

    /// Calls `act` for each of the states, until the search is stopped.
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

    /// Learns moves that are not known, and puts the states that need them back to the frontier.
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
            // Learning may have changed the layout.
            let width = self.layout.width();
            let state = self.frontier.at(depth)[index * width..][..width].to_vec();
            self.learn_of(&state, false);
        }
    }

    /// Learns the unknown moves of all processes in this state. `is_here`: is the path one to this
    /// state?
    pub(super) fn learn_of(&mut self, state: &[u64], mut is_here: bool) {
        self.present.clear();
        self.present.extend_from_slice(state);
        if is_here {
            self.note(Visit::Learn);
        }
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
                self.note(Visit::Learn);
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

    /// Are all reactions of an actor in the current state known, with their targets?
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

    /// Learns all reactions of an actor in the current state, with their targets.
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
                self.queries += 1;
                let is_judged = self.carry_out(action);
                let number = self.learn_reaction(id, stimulus, messages, is_judged);
                self.state.undo(&self.locals);
                self.make_room();
                number
            });
            numbers.push(number);
        }
        if !self.is_one_by_one {
            self.reactions.offer(process, own, &numbers);
        }
    }

    /// Executes the moves on the model that cannot be memoised.
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
            self.note(Visit::Try);
            for process in 0..self.layout.places() - self.objects {
                self.try_out_of(process, Some((depth, &mut *driver)));
            }
        }
    }

    /// Executes the moves of a process in the current state on the model, if they cannot be
    /// memoised. Without the depth of the state and a driver, their targets are not added.
    pub(super) fn try_out_of(
        &mut self,
        process: usize,
        mut adds: Option<(usize, &mut Driver<'_>)>,
    ) {
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
            if let Some((_, driver)) = &mut adds {
                driver.moved(&mut self.locals, &self.state, action);
            }
            self.arrive();
            let number = self.number(action, is_judged);
            if let Some((depth, _)) = &adds
                && self.known.insert(&self.present, number, &self.layout)
            {
                self.frontier.push(depth + 1, &self.present);
            }
            self.moves.take_back(number, &mut self.present);
            self.back();
        }
    }

    /// Explores the rest of the graph one state at a time.
    fn one_by_one(&mut self, driver: &mut Driver<'_>) {
        self.keep_batches(driver);
        self.leave_batches();
        self.go_on_one_by_one(driver);
    }

    /// From now on, the search goes from state to state.
    pub(super) fn leave_batches(&mut self) {
        (self.is_one_by_one, self.is_batched) = (true, false);
    }

    /// Explores the rest of the graph: what comes after the states on the stack, then the frontier.
    pub(super) fn go_on_one_by_one(&mut self, driver: &mut Driver<'_>) {
        loop {
            self.go_on(driver, u64::MAX);
            if driver.is_stopped() || is_there(self.news.as_ref()) {
                return;
            }
            let width = self.layout.width();
            let Some((_, state)) = self.frontier.take(width).pop() else { return };
            // The frontier counts as one more source of new states.
            let foretold = self.news.as_mut().and_then(News::foretold);
            self.note_news(foretold, Led::New);
            self.seek(&state);
            self.enter(driver);
        }
    }
}
