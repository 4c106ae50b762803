//! The part that all explorers share: counting, judging, limits, observers, and when to stop.
//!
//! An explorer reports each action ([`Driver::moved`]), each terminal state ([`Driver::terminal`]),
//! each exploration that it cut ([`Driver::blocked`], [`Driver::truncated`]), and asks
//! [`Driver::is_stopped`] before it goes on. The [`Properties`](crate::property::Properties) are
//! judged here, so all explorers agree on what a violation is. A [`Watchdog`] enforces the limits
//! on time and memory, also during a long step.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::budget::{Budget, ENDLESS_FOR_EACH};
use super::course::Course;
use super::few_switches::length;
use super::observer::Observer;
use super::parallel::ahead::Ahead;
use super::result::{CutPoll, Outcome, Stats, StopReason, Violation};
#[cfg(feature = "json")]
use super::saved::Keeper;
use super::symptom::Symptom;
use super::tree::{Branch, Splitter};
use super::turns::Seat;
use super::unvisited::InvariantCheck;
use super::watchdog::{Alarm, Watchdog};
use crate::model::{
    Action, Locals, Needed, ProcessId, Schedule, State, StopSignal, System, Values,
};
use crate::property::{self, Leaks, Position, Watch, When};
use crate::trace::{Turn, standstill};

/// The most actions between two readings of the clock. There are fewer if they take longer than
/// [`TICK_TIME`].
const MAX_TICK: u64 = 1 << 10;
/// Intended time between two readings of the clock.
const TICK_TIME: Duration = Duration::from_millis(5);
/// Time between two calls of [`Observer::progress`].
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The state of a running search that all explorers share: figures, findings, limits.
pub struct Driver<'o> {
    pub(super) budget: Budget,
    pub(super) observer: &'o mut dyn Observer,
    /// The figures so far. Explorers set the figures that only they have.
    pub stats: Stats,
    pub(super) violations: Vec<Violation>,
    /// The symptom of each violation, with its index in `violations`.
    pub(super) known: FxHashMap<Symptom, usize>,
    pub(super) leaks: Leaks,
    classes: Option<BTreeSet<Schedule>>,
    pub(super) stopped_by: Option<StopReason>,
    watchdog: Watchdog,
    start: Instant,
    last_progress: Instant,
    last_tick: Instant,
    /// The result of another search, if this search only passes it on.
    adopted: Option<Outcome>,
    /// Actions between two readings of the clock, and actions until the next reading.
    tick: u64,
    until_tick: u64,
    /// Its place among searches that take turns, and the transitions after which its turn ends.
    seat: Option<Seat<'o>>,
    turn_ends: u64,
    /// Work besides the transitions, in steps of turns.
    work: u64,
    course: Course,
    /// The part of the executions to explore.
    pub(super) branch: Branch,
    /// Takes parts of the branch, if it may be split.
    splitter: Option<&'o mut dyn Splitter>,
    /// The threads that explore ahead of this search, if there are any.
    pub(super) ahead: Option<Ahead<'o>>,
    /// Stores the state of the search, if that is wanted.
    #[cfg(feature = "json")]
    pub(super) keeper: Option<&'o mut dyn Keeper>,
    /// Was the clock read since the search was last asked whether it is to be saved?
    #[cfg(feature = "json")]
    pub(super) has_ticked: bool,
    /// Must something be judged after every action?
    pub(super) asks_on_the_way: bool,
    /// May a process wait until nothing else can happen?
    may_wait_for_all: bool,
    pub(super) invariants: InvariantCheck,
    /// For a search that may reach a class again: a hash of the class of the present execution.
    class: Option<u64>,
    /// The classes whose skipped states were judged: was there a violation?
    judged: FxHashMap<u64, bool>,
    /// The number of explorations that have ended, for whatever reason.
    pub(super) leaves: u64,
    /// Was there a loop too long to judge ([`Motion::Unknown`](crate::property::Motion::Unknown))?
    pub(super) has_long_loop: bool,
    /// The first poll at which the bound on polls cut executions.
    pub(super) cut_poll: Option<Box<CutPoll>>,
}

impl<'o> Driver<'o> {
    /// A driver for a search of `system` that starts now.
    pub fn new<S: System>(system: &S, budget: Budget, observer: &'o mut dyn Observer) -> Self {
        let (now, watchdog) = (Instant::now(), Watchdog::new(&budget));
        let processes = system.initial(&mut Values::default()).len() as u32;
        let long = ENDLESS_FOR_EACH.saturating_mul(processes);
        let budget = Budget { endless: budget.endless.map(|bound| bound.max(long)), ..budget };
        let invariants = InvariantCheck::of(system, &budget.properties);
        let asks_on_the_way = budget.properties.are_asked_on_the_way() || invariants.are_judged;
        Driver {
            watchdog,
            budget,
            observer,
            stats: Stats::default(),
            violations: Vec::new(),
            known: FxHashMap::default(),
            leaks: Leaks::default(),
            classes: None,
            stopped_by: None,
            start: now,
            last_progress: now,
            last_tick: now,
            adopted: None,
            tick: 1,
            until_tick: 1,
            seat: None,
            turn_ends: u64::MAX,
            work: 0,
            course: Course::default(),
            branch: Branch::default(),
            splitter: None,
            ahead: None,
            #[cfg(feature = "json")]
            keeper: None,
            #[cfg(feature = "json")]
            has_ticked: false,
            asks_on_the_way,
            may_wait_for_all: system.objects().may_time_out_when_stuck,
            invariants,
            class: None,
            judged: FxHashMap::default(),
            leaves: 0,
            has_long_loop: false,
            cut_poll: None,
        }
    }

    /// Notes that the search visits every reachable state.
    pub(super) fn goes_through_all_states(&mut self) {
        self.invariants.go_through_all_states();
    }

    /// Leaves the invariants to the explorer, which judges them by
    /// [`judge_invariants`](Driver::judge_invariants).
    pub fn leave_out_invariants(&mut self) {
        self.asks_on_the_way = self.budget.properties.are_asked_on_the_way();
    }

    /// Restricts the search to this branch. `splitter` may take parts of it.
    pub(super) fn of_branch(self, branch: &Branch, splitter: &'o mut dyn Splitter) -> Self {
        Driver { branch: branch.clone(), splitter: Some(splitter), ..self }
    }

    /// Makes the search wait for its next turn after this number of transitions, and end with the
    /// search that this alarm belongs to.
    pub(super) fn by_turns(self, seat: Seat<'o>, steps: u64, alarm: Alarm) -> Self {
        Driver { seat: Some(seat), turn_ends: steps, ..self.on_behalf_of(alarm) }
    }

    /// Makes the search end with the search that this alarm belongs to.
    pub(super) fn on_behalf_of(self, alarm: Alarm) -> Self {
        Driver { watchdog: Watchdog::of(alarm), ..self }
    }

    /// Lets other threads explore ahead of the search.
    pub(super) fn with_help(self, ahead: Ahead<'o>) -> Self {
        Driver { ahead: Some(ahead), ..self }
    }

    /// What ends this search, for searches on behalf of it.
    pub(super) fn alarm(&self) -> Alarm {
        self.watchdog.alarm().clone()
    }

    /// The part of the executions to explore.
    pub fn branch(&self) -> &Branch {
        &self.branch
    }

    /// May a branch be split off the search?
    #[inline]
    pub fn can_split(&self) -> bool {
        self.splitter.is_some()
    }

    /// Asks, after a step, whether a branch is to be split off now. To be called once for each
    /// step.
    #[inline]
    pub fn is_to_split(&mut self) -> bool {
        let is_asked = self.splitter.as_mut().is_some_and(|splitter| splitter.wants_branch())
            || self.ahead.as_mut().is_some_and(Ahead::is_asked);
        is_asked && !self.is_stopped()
    }

    /// Hands over the branch that [`is_to_split`](Driver::is_to_split) asked for.
    ///
    /// # Panics
    /// If the search may not be split.
    pub fn split_off(&mut self, branch: Branch) {
        self.splitter.as_mut().expect("a search that may be split").take(branch);
    }

    /// Must the search end now?
    pub fn is_stopped(&self) -> bool {
        self.stopped_by.is_some() || self.signal().is_raised()
    }

    /// The limit of the budget that has ended the search, if one has.
    pub(super) fn limit_reached(&self) -> Option<StopReason> {
        self.watchdog.reason()
    }

    /// Announces an allocation of `bytes`. Ends the search if it would exceed the memory limit.
    pub(super) fn expect(&self, bytes: usize) {
        self.watchdog.expect(bytes as u64);
    }

    /// The stop signal. Long loops within a step have to check it. While it is raised,
    /// [`is_stopped`](Driver::is_stopped) is true.
    pub fn signal(&self) -> &StopSignal {
        self.watchdog.signal()
    }

    /// The depth at which to cut executions, for an explorer that measures the depth bound and
    /// endless executions in the same unit.
    pub fn depth_bound(&self) -> u32 {
        self.budget.depth.or(self.budget.endless).unwrap_or(u32::MAX)
    }

    /// The depth bound, if there is one.
    pub fn depth(&self) -> Option<u32> {
        self.budget.depth
    }

    /// The length at which to cut executions, for an explorer whose depth bound is a causal depth.
    pub fn length_bound(&self) -> u32 {
        self.budget.endless.filter(|_| self.budget.depth.is_none()).unwrap_or(u32::MAX)
    }

    /// Tells which local states it may still ask about.
    pub(crate) fn tell_needed(&mut self, needed: &mut Needed) {
        self.leaks.tell_needed(needed);
        self.invariants.forget_locals();
    }

    /// Judges the initial state: local computation may fail before the first action.
    pub fn started<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &State) {
        for process in state.processes() {
            if !self.is_stopped() {
                self.judge_process(locals, state, process);
            }
        }
        if self.asks_on_the_way {
            self.judge_on_the_way(locals, state);
        }
    }

    /// Reports that an action was executed and led to `state`.
    #[inline]
    pub fn moved<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &State, action: Action) {
        self.moved_on(state.depth());
        self.judge_process(locals, state, action.process);
        if state.has_just_spawned() {
            self.judge_children(locals, state);
        }
        if self.asks_on_the_way {
            self.judge_on_the_way(locals, state);
        }
    }

    #[cold]
    fn judge_children<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &State) {
        let children: SmallVec<[ProcessId; 4]> = state.just_spawned(locals).collect();
        for child in children {
            if !self.is_stopped() {
                self.judge_process(locals, state, child);
            }
        }
    }

    /// Reports an action that led to a state at this depth, in which nothing is to be judged.
    #[inline]
    pub fn moved_on(&mut self, depth: usize) {
        self.stats.transitions += 1;
        self.stats.max_depth = self.stats.max_depth.max(depth as u64);
        self.until_tick -= 1;
        if self.until_tick == 0 {
            self.tick();
        }
    }

    /// Reports work that takes as long as this many steps of a turn, and is no transition.
    pub fn worked(&mut self, steps: u64) {
        self.work += steps;
        self.until_tick = self.until_tick.saturating_sub(steps);
        if self.until_tick == 0 {
            self.tick();
        }
    }

    /// Notes that a depth-first search has left a level, with this many still open.
    #[inline]
    pub(super) fn has_left(&mut self, open: usize) {
        if self.course.is_news(open) {
            self.course.leave(open, self.steps());
        }
    }

    /// Notes that a breadth-first search is done with all up to this size.
    pub(super) fn has_filled(&mut self, size: u64) {
        self.course.fill(size, self.steps());
    }

    /// The steps so far, as turns count them.
    fn steps(&self) -> u64 {
        self.stats.transitions + self.work
    }

    /// Reports `count` actions that led to states at this depth, in which nothing is to be judged.
    pub fn moved_often(&mut self, count: u64, depth: usize) {
        if count > 0 {
            self.stats.transitions += count;
            self.stats.max_depth = self.stats.max_depth.max(depth as u64);
            self.tick();
        }
    }

    /// Does the observer follow the transitions between stored states?
    pub fn follows_transitions(&self) -> bool {
        self.observer.follows_transitions()
    }

    /// Reports a transition between stored states, which led to `state`.
    pub fn transition<S: System>(
        &mut self,
        (from, actions, to): (u32, &[Action], u32),
        locals: &Locals<'_, S>,
        state: &State,
    ) {
        self.observer.transition(from, actions, to, Position::new(locals, state));
    }

    /// Ends the search with this reason, unless it already has one.
    pub fn stop(&mut self, reason: StopReason) {
        self.stopped_by.get_or_insert(reason);
    }

    /// The limits of the search.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Stores the classes that this piece of a search has completed.
    pub fn note_classes(&mut self, classes: BTreeSet<Schedule>) {
        self.classes = Some(classes);
    }

    /// Passes to the observer the figures of the searches that run on behalf of this one.
    pub fn progress(&mut self, stats: &Stats) {
        self.observer.progress(stats, self.start.elapsed());
    }

    /// Makes the result of another search the result of this one.
    pub fn adopt(&mut self, outcome: Outcome) {
        self.adopted = Some(Outcome { elapsed: self.start.elapsed(), ..outcome });
    }

    /// Does this search explore everything, neither as a part of another one nor with help?
    pub(super) fn is_whole(&self) -> bool {
        self.branch.is_root() && !self.is_piece() && !self.can_split()
    }

    /// Ends the search and returns its result.
    pub fn finish(mut self) -> Outcome {
        if let Some(outcome) = self.adopted {
            return outcome;
        }
        if let Some(reason) = self.watchdog.reason() {
            self.stop(reason);
        }
        if self.stats.truncated > 0 {
            self.stop(StopReason::Depth);
        }
        if self.invariants.is_open {
            self.stop(StopReason::Invariant);
        }
        if self.has_long_loop {
            self.stop(StopReason::LongLoop);
        }
        if self.cut_poll.is_some() {
            self.stop(StopReason::Polls);
        }
        // The violations of pieces stay in the order in which they were found, for joining.
        if self.budget.shortest && !self.can_split() && !self.is_piece() {
            self.violations.sort_by_key(length);
        }
        Outcome {
            stats: self.stats,
            violations: self.violations,
            leaks: self.leaks.found(),
            classes: self.classes,
            stopped_by: self.stopped_by,
            cut_poll: self.cut_poll,
            elapsed: self.start.elapsed(),
            answered_by: None,
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.tick = match now - self.last_tick < TICK_TIME {
            true => MAX_TICK.min(2 * self.tick),
            false => 1,
        };
        self.last_tick = now;
        #[cfg(feature = "json")]
        {
            self.has_ticked = true;
        }
        self.show_progress();
        self.take_turns();
        let left = self.turn_ends.saturating_sub(self.steps());
        self.until_tick = self.tick.min(left).max(1);
    }

    /// Do other threads explore ahead of this search?
    pub(super) fn has_helpers(&self) -> bool {
        self.ahead.is_some()
    }

    /// Is this search a piece that is explored ahead of another search?
    pub(super) fn is_piece(&self) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.own.is_some())
    }

    /// Shows the figures to the observer, if it has not seen them for some time.
    pub(super) fn show_progress(&mut self) {
        let now = Instant::now();
        if now - self.last_progress >= PROGRESS_INTERVAL {
            self.last_progress = now;
            let mut all = None;
            if let Some(ahead) = self.ahead.as_ref().filter(|ahead| ahead.own.is_none()) {
                ahead.helpers.add_figures(all.insert(self.stats.clone()));
            }
            self.observer.progress(all.as_ref().unwrap_or(&self.stats), now - self.start);
        }
    }

    /// Waits for the next turn if this one is over. Ends the search if it is not needed any more.
    fn take_turns(&mut self) {
        let steps = self.steps();
        let Some(seat) = &mut self.seat else { return };
        let mut is_needed = seat.is_needed();
        while is_needed && steps >= self.turn_ends {
            let mut tell = |stats: &Stats| self.observer.progress(stats, self.start.elapsed());
            let more = seat.next_turn((&self.course, steps), self.watchdog.signal(), &mut tell);
            self.last_tick = Instant::now();
            is_needed = more.is_some();
            self.turn_ends = self.turn_ends.saturating_add(more.unwrap_or(u64::MAX));
        }
        if !is_needed {
            self.stop(StopReason::Interrupted);
        }
    }

    /// Did the last step of `process` end in a failure, overcrowd a barrier, or lead to a poll
    /// where the bound on polls cuts? What waits until nothing else can happen may come there by
    /// any step.
    #[inline]
    fn judge_process<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &State,
        process: ProcessId,
    ) {
        if self.cut_poll.is_none() {
            if self.may_wait_for_all {
                state.processes().for_each(|process| self.judge_poll(locals, state, process));
            } else {
                self.judge_poll(locals, state, process);
            }
        }
        match property::process_failure(locals, state, process) {
            Some(failure) if failure.is_unsupported() => self.stop(StopReason::Unsupported),
            None if !state.is_crowded() => {}
            _ => self.judge_failure(locals, Position::new(locals, state).about(process)),
        }
    }

    #[inline]
    fn judge_poll<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &State,
        process: ProcessId,
    ) {
        if state.is_cut_at_poll(locals, process) {
            let site = locals.system().describe().site(locals.get(state.local(process)));
            self.cut_poll = Some(Box::new(CutPoll { site, polls: state.max_polls() }));
        }
    }

    #[cold]
    fn judge_failure<S: System>(&mut self, locals: &Locals<'_, S>, at: Position<'_>) {
        let objections: Vec<_> = self.budget.properties.objections(When::Failure, at).collect();
        objections.into_iter().for_each(|objection| self.object(locals, at, objection));
        if at.state().is_crowded() {
            self.stop(StopReason::Oversubscribed);
        }
    }

    #[cold]
    fn judge_on_the_way<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        let at = Position::new(locals, state);
        for objection in self.budget.properties.objections_on_the_way(locals, state) {
            if !self.is_stopped() {
                self.object(locals, at, objection);
            }
        }
        self.judge_invariants(locals, state);
    }

    /// Judges the invariants in `state`, if they are among the properties.
    pub fn judge_invariants<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        let broken = self.invariants.broken(locals, state);
        self.note_broken(locals, state, broken);
    }

    /// Notes that the class of the present execution has this hash. The states that the search
    /// skips are then judged only once for each class.
    pub(super) fn is_of_class(&mut self, hash: u64) {
        self.class = Some(hash);
    }

    /// Judges the states of the class of `state` that the search skips: an invariant may fail in
    /// one of them, or nothing need happen there any more. Returns whether there is a violation.
    #[inline]
    pub(super) fn judge_unvisited<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
    ) -> bool {
        let may_break = self.invariants.miss_states();
        let may_stand_still = locals.system().objects().may_end_late && state.was_any_optional();
        if !(may_break || may_stand_still) {
            return false;
        }
        if let Some(&known) = self.class.and_then(|class| self.judged.get(&class)) {
            return known;
        }
        let is_broken = may_break && self.judge_class(locals, state);
        let stands_still = may_stand_still && self.judge_standstill(locals.system(), state);
        self.judged.extend(self.class.map(|class| (class, is_broken | stands_still)));
        is_broken | stands_still
    }

    /// Is there a state in the class of `state` in which nothing need ever happen again, although
    /// some process has not ended?
    #[cold]
    fn judge_standstill<S: System>(&mut self, system: &S, state: &State) -> bool {
        let mut watch = Watch::new(self.signal().clone());
        let mut has_long_loop = false;
        let mut turns = |locals: &mut Locals<'_, S>, state: &mut State, process| {
            let turn = watch.turn(locals, state, process);
            has_long_loop |= turn.is_none();
            turn.unwrap_or(Turn::GoesOn)
        };
        let judge = |locals: &mut Locals<'_, S>, state: &mut State| self.judge_rest(locals, state);
        let stands_still = standstill(system, &Schedule::of(state), &mut turns, judge);
        self.has_long_loop |= has_long_loop;
        stands_still
    }

    #[cold]
    fn judge_class<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) -> bool {
        let broken = self.invariants.broken_elsewhere(locals, state, self.watchdog.signal());
        let is_broken = !broken.is_empty();
        self.note_broken(locals, state, broken);
        is_broken
    }
}
