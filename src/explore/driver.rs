//! What all explorers share: counting, judging, limits, observers, and when to stop.
//!
//! An explorer reports each action ([`Driver::moved`]), each terminal state ([`Driver::terminal`]), each
//! exploration that it cut ([`Driver::blocked`], [`Driver::truncated`]), and asks [`Driver::is_stopped`]
//! before it goes on. The [`Properties`](crate::property::Properties) are asked here, on the
//! [`State`], so no explorer can disagree with another about what a violation is. The limits on time and memory are
//! kept by a [`Watchdog`], also while a single step takes long.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::budget::{Budget, ENDLESS_FOR_EACH};
use super::few_switches::{length, who_failed, with_few_switches};
use super::observer::{End, Observer};
use super::result::{Outcome, Stats, StopReason, Violation, ViolationKind};
use super::symptom::Symptom;
use super::tree::{Branch, Splitter};
use super::unvisited::{Asked, Broken};
use super::watchdog::Watchdog;
use crate::model::{Action, Locals, ProcessId, Schedule, State, StopSignal, System, Values};
use crate::property::{self, Leaks, Motion, Objection, Position, Spin, Watch, When, polling};
use crate::trace::{Execution, causal_past};

/// How many violations are kept; further ones are still counted where there is a count.
pub(super) const MAX_VIOLATIONS: usize = 100;
/// The most actions between two looks at the clock. There are fewer if they take longer than [`TICK_TIME`].
const MAX_TICK: u64 = 1 << 10;
/// Time between two looks at the clock.
const TICK_TIME: Duration = Duration::from_millis(5);
/// Time between two calls of [`Observer::progress`].
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The accounts of a running search.
pub struct Driver<'o> {
    budget: Budget,
    observer: &'o mut dyn Observer,
    /// The figures so far. Explorers add those that only they have.
    pub stats: Stats,
    violations: Vec<Violation>,
    /// The symptoms that tell them apart, and the place of each.
    known: FxHashMap<Symptom, usize>,
    leaks: Leaks,
    stopped_by: Option<StopReason>,
    watchdog: Watchdog,
    start: Instant,
    last_progress: Instant,
    last_tick: Instant,
    /// The result, if it is that of another search.
    adopted: Option<Outcome>,
    /// Actions between two looks at the clock, and how many are left until the next.
    tick: u64,
    until_tick: u64,
    /// The part of the executions that is to be explored.
    branch: Branch,
    /// The one who may take a part of it.
    splitter: Option<&'o mut dyn Splitter>,
    /// Is something to be judged after every action?
    asks_on_the_way: bool,
    invariants: Asked,
}

impl<'o> Driver<'o> {
    /// A driver for a search of `system` that starts now.
    pub fn new<S: System>(system: &S, budget: Budget, observer: &'o mut dyn Observer) -> Self {
        let now = Instant::now();
        let processes = system.initial(&mut Values::default()).len() as u32;
        let long = ENDLESS_FOR_EACH.saturating_mul(processes);
        let budget = Budget { endless: budget.endless.map(|bound| bound.max(long)), ..budget };
        let invariants = Asked::of(system, &budget.properties);
        let asks_on_the_way = budget.properties.are_asked_on_the_way() || invariants.are_judged;
        Driver {
            watchdog: Watchdog::new(&budget),
            budget,
            observer,
            stats: Stats::default(),
            violations: Vec::new(),
            known: FxHashMap::default(),
            leaks: Leaks::default(),
            stopped_by: None,
            start: now,
            last_progress: now,
            last_tick: now,
            adopted: None,
            tick: 1,
            until_tick: 1,
            branch: Branch::default(),
            splitter: None,
            asks_on_the_way,
            invariants,
        }
    }

    /// The search goes through all states.
    pub(super) fn goes_through_all_states(&mut self) {
        self.invariants.go_through_all_states();
    }

    /// The search itself judges the invariants, by [`judge_invariants`](Driver::judge_invariants).
    pub fn leave_out_invariants(&mut self) {
        self.asks_on_the_way = self.budget.properties.are_asked_on_the_way();
    }

    /// Restricts the search to this branch, parts of which `splitter` may take.
    pub(super) fn of_branch(self, branch: &Branch, splitter: &'o mut dyn Splitter) -> Self {
        Driver { branch: branch.clone(), splitter: Some(splitter), ..self }
    }

    /// The part of the executions that is to be explored.
    pub fn branch(&self) -> &Branch {
        &self.branch
    }

    /// May a branch be cut off the search?
    #[inline]
    pub fn can_split(&self) -> bool {
        self.splitter.is_some()
    }

    /// The search has gone on to another state. Is a branch to be cut off it now?
    #[inline]
    pub fn is_to_split(&mut self) -> bool {
        self.splitter.as_mut().is_some_and(|splitter| splitter.wants_branch()) && !self.is_stopped()
    }

    /// Gives away the branch that was asked for.
    ///
    /// # Panics
    /// If nobody has asked for one.
    pub fn split_off(&mut self, branch: Branch) {
        self.splitter.as_mut().expect("who asked for it").take(branch);
    }

    /// Is the search to end now?
    pub fn is_stopped(&self) -> bool {
        self.stopped_by.is_some() || self.signal().is_raised()
    }

    /// Which limit of the budget has ended the search, if one has.
    pub(super) fn limit_reached(&self) -> Option<StopReason> {
        self.watchdog.reason()
    }

    /// The signal that loops within a step have to look at. When it is raised, [`is_stopped`](Driver::is_stopped) is true.
    pub fn signal(&self) -> &StopSignal {
        self.watchdog.signal()
    }

    /// Where executions are to be cut, by an explorer that measures depths and endless executions in the same way.
    pub fn depth_bound(&self) -> u32 {
        self.budget.depth.or(self.budget.endless).unwrap_or(u32::MAX)
    }

    /// The depth at which executions are to be cut, if there is one.
    pub fn depth(&self) -> Option<u32> {
        self.budget.depth
    }

    /// The length at which executions are to be cut where a depth is a causal one.
    pub fn length_bound(&self) -> u32 {
        self.budget.endless.filter(|_| self.budget.depth.is_none()).unwrap_or(u32::MAX)
    }

    /// How many events are always kept.
    pub fn keep_events(&self) -> usize {
        self.budget.keep_events
    }

    /// Judges the initial state: local computation may fail before the first action.
    pub fn started<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        for process in state.processes() {
            if !self.is_stopped() {
                self.judge_process(locals, state, process);
            }
        }
        if self.asks_on_the_way {
            self.judge_on_the_way(locals, state);
        }
    }

    /// Notes that an action was executed and led to `state`.
    #[inline]
    pub fn moved<S: System>(&mut self, locals: &Locals<'_, S>, state: &State, action: Action) {
        self.moved_on(state.depth());
        self.judge_process(locals, state, action.process);
        for child in state.just_spawned(locals) {
            if !self.is_stopped() {
                self.judge_process(locals, state, child);
            }
        }
        if self.asks_on_the_way {
            self.judge_on_the_way(locals, state);
        }
    }

    /// Notes that an action was executed that led to a state at this depth, in which nothing is to be judged.
    #[inline]
    pub fn moved_on(&mut self, depth: usize) {
        self.stats.transitions += 1;
        self.stats.max_depth = self.stats.max_depth.max(depth as u64);
        self.until_tick -= 1;
        if self.until_tick == 0 {
            self.tick();
        }
    }

    /// Notes that so many actions were executed that led to states at this depth, in which nothing is to be judged.
    pub fn moved_often(&mut self, count: u64, depth: usize) {
        if count > 0 {
            self.stats.transitions += count;
            self.stats.max_depth = self.stats.max_depth.max(depth as u64);
            self.tick();
        }
    }

    /// Does somebody follow the transitions between stored states?
    pub fn follows_transitions(&self) -> bool {
        self.observer.follows_transitions()
    }

    /// `state` is terminal: a complete execution, or one that is given up because a process that waits at a poll would look at
    /// something else next, which is there. Is it an end?
    pub fn terminal<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) -> bool {
        let Motion::Round(spins) = polling(locals, state) else {
            self.give_up(locals, state);
            return false;
        };
        let at = Position::new(locals, state).going_round(&spins);
        let when = if spins.is_empty() { When::End } else { When::Livelock };
        let objection = self.budget.properties.objections(when, at).next();
        self.ends(locals, at, objection);
        true
    }

    /// Notes that the execution to `at` is complete, with the first objection to its end.
    fn ends<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        at: Position<'_>,
        objection: Option<Objection>,
    ) {
        let is_deadlocked = objection == Some(Objection::Deadlock);
        let is_livelocked = objection == Some(Objection::Livelock);
        let has_bad_end = objection.is_some();
        if let Some(objection) = objection {
            self.object(locals, at, objection);
        }
        let breaks_elsewhere = self.judge_unvisited(locals, at.state());
        let is_violating =
            has_bad_end || breaks_elsewhere || self.has_gone_wrong(locals, at.state());
        if !has_bad_end {
            self.leaks.look(locals, at.state());
        }
        self.stats.traces += 1;
        self.stats.deadlocked_traces += u64::from(is_deadlocked);
        self.stats.livelocked_traces += u64::from(is_livelocked);
        self.stats.violating_traces += u64::from(is_violating);
        self.observer.trace(at, End { is_deadlocked, is_livelocked, is_violating });
        self.look_at_traces();
    }

    /// Was there an objection on the way to `state`?
    fn has_gone_wrong<S: System>(&self, locals: &Locals<'_, S>, state: &State) -> bool {
        // While nothing was found, nothing has gone wrong, unless in the prefix of a branch.
        if self.violations.is_empty() && self.branch.is_root() {
            return false;
        }
        let at = Position::new(locals, state);
        let properties = &self.budget.properties;
        let has_failed = |process| {
            property::process_failure(locals, state, process).is_some()
                && properties.objections(When::Failure, at.about(process)).next().is_some()
        };
        state.processes().any(has_failed)
            || (self.asks_on_the_way || self.invariants.are_judged) && {
                let mut past = state.clone();
                loop {
                    if !properties.objections_on_the_way(locals, &past).is_empty()
                        || !self.invariants.broken(locals, &past).is_empty()
                    {
                        break true;
                    }
                    if past.depth() == 0 {
                        break false;
                    }
                    past.undo(locals);
                }
            }
    }

    fn look_at_traces(&mut self) {
        if self.budget.max_traces.is_some_and(|max| self.stats.traces >= max) {
            self.stop(StopReason::MaxTraces);
        }
    }

    /// Notes that the execution goes no further: it is complete, or everything enabled is too high for the bound or would
    /// end fruitless rounds. Is it complete?
    pub fn ended<S: System>(&mut self, execution: &mut Execution<'_, S>) -> bool {
        if !execution.cut().is_empty() {
            self.truncated(&execution.locals, execution.state());
            return false;
        }
        if execution.is_waiting() {
            let here = execution.len();
            return execution.looking_back(here, |locals, state| self.waiting(locals, state));
        }
        self.terminal(&execution.locals, execution.state())
    }

    /// Notes that every action that is possible in `state` would end a fruitless round ([`crate::trace::spin`]). That is a
    /// livelock, or the execution is given up. Is it an end? `state` is left as it is.
    pub fn waiting<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &mut State) -> bool {
        let spins = match Watch::new(self.signal().clone()).motion(locals, state) {
            Motion::Round(spins) => spins,
            Motion::On => {
                self.give_up(locals, state);
                return false;
            }
            Motion::Unknown => {
                self.stop(StopReason::Endless);
                return false;
            }
        };
        let at = Position::new(locals, state).going_round(&spins);
        let objection = self.budget.properties.objections(When::Livelock, at).next();
        self.ends(locals, at, objection);
        true
    }

    /// The execution to `state` goes no further, and is no end.
    fn give_up<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        self.judge_unvisited(locals, state);
        self.stats.given_up += 1;
    }

    /// Notes that these processes go round for ever in `state`, and that nothing else can happen.
    pub fn livelock<S: System>(&mut self, locals: &Locals<'_, S>, state: &State, spins: &[Spin]) {
        let at = Position::new(locals, state).going_round(spins);
        let objection = self.budget.properties.objections(When::Livelock, at).next();
        if let Some(objection) = objection {
            self.object(locals, at, objection);
        }
    }

    /// Notes that an exploration was cut in `state`, because the algorithm disables everything enabled.
    pub fn blocked<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        self.stats.blocked += 1;
        self.observer.blocked(Position::new(locals, state));
    }

    /// Notes that the depth bound cut an execution in `state`, where it could have gone on.
    pub fn truncated<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        self.judge_unvisited(locals, state);
        self.stats.truncated += 1;
        self.observer.truncated(Position::new(locals, state));
        if self.budget.depth.is_none() {
            self.stop(StopReason::Endless);
        }
    }

    /// Notes that a transition between stored states was taken, and led to `state`.
    pub fn transition<S: System>(
        &mut self,
        (from, actions, to): (u32, &[Action], u32),
        locals: &Locals<'_, S>,
        state: &State,
    ) {
        self.observer.transition(from, actions, to, Position::new(locals, state));
    }

    /// Ends the search, unless it was ended already.
    pub fn stop(&mut self, reason: StopReason) {
        self.stopped_by.get_or_insert(reason);
    }

    /// The limits of the search.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Tells the observer how far the other searches are that run for this one.
    pub fn progress(&mut self, stats: &Stats) {
        self.observer.progress(stats, self.start.elapsed());
    }

    /// Takes the result of another search as that of this one.
    pub fn adopt(&mut self, outcome: Outcome) {
        self.adopted = Some(outcome);
    }

    /// The result.
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
        // Those of pieces are joined in the order in which they were found.
        if self.budget.shortest && !self.can_split() {
            self.violations.sort_by_key(length);
        }
        Outcome {
            stats: self.stats,
            violations: self.violations,
            leaks: self.leaks.found(),
            stopped_by: self.stopped_by,
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
        (self.until_tick, self.last_tick) = (self.tick, now);
        if now - self.last_progress >= PROGRESS_INTERVAL {
            self.last_progress = now;
            self.observer.progress(&self.stats, now - self.start);
        }
    }

    /// Did the last step of `process` end in a failure, or overcrowd a barrier?
    #[inline]
    fn judge_process<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
        process: ProcessId,
    ) {
        let has_failed = property::process_failure(locals, state, process).is_some();
        if has_failed || state.is_crowded() {
            self.judge_failure(locals, Position::new(locals, state).about(process));
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

    /// Judges the invariants in `state`, if they are to be judged.
    pub fn judge_invariants<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        let broken = self.invariants.broken(locals, state);
        self.note_broken(locals, state, broken);
    }

    /// Judges the invariants in the states of the class of `state` that the search does not go through. Is something wrong in
    /// one of them?
    #[inline]
    fn judge_unvisited<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) -> bool {
        self.invariants.miss_states() && self.judge_class(locals, state)
    }

    #[cold]
    fn judge_class<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) -> bool {
        let broken = self.invariants.broken_elsewhere(locals, state, self.watchdog.signal());
        let is_broken = !broken.is_empty();
        self.note_broken(locals, state, broken);
        is_broken
    }

    /// Notes that these invariants fail, here or in the class of `state`.
    fn note_broken<S: System>(&mut self, locals: &Locals<'_, S>, state: &State, all: Vec<Broken>) {
        for broken in all {
            if self.is_stopped() {
                return;
            }
            let failure = broken.failure.clone();
            let symptom = Symptom::of_failure(locals, None, &failure);
            self.note(locals.system(), symptom, 0, || {
                let (kind, schedule) = (failure.kind.into(), broken.way(locals, state));
                let failure = Some(failure);
                Violation {
                    kind,
                    process: None,
                    failure,
                    schedule,
                    has_fewest_switches: None,
                    symptom,
                }
            });
        }
    }

    /// Notes what a property objects to.
    fn object<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        at: Position<'_>,
        objection: Objection,
    ) {
        let (system, state) = (locals.system(), at.state());
        let (kind, symptom, failure) = match objection {
            Objection::Failed(process) => return self.failed(locals, state, process),
            Objection::Deadlock => {
                (ViolationKind::Deadlock, Symptom::of_deadlock(locals, state), None)
            }
            Objection::Livelock => {
                (ViolationKind::Livelock, Symptom::of_livelock(locals, state, at.spins()), None)
            }
            Objection::Wrong(failure) => {
                let symptom = Symptom::of_failure(locals, None, &failure);
                (failure.kind.into(), symptom, Some(failure))
            }
        };
        self.note(system, symptom, state.depth(), || {
            let schedule = Schedule::of(state);
            Violation { kind, process: None, failure, schedule, has_fewest_switches: None, symptom }
        });
    }

    /// Notes that `process` has failed in its last step, or as it was started by the last step.
    ///
    /// # Panics
    /// If it has not.
    fn failed<S: System>(&mut self, locals: &Locals<'_, S>, state: &State, process: ProcessId) {
        let system = locals.system();
        let failure = property::process_failure(locals, state, process);
        let failure = failure.unwrap_or_else(|| panic!("{process:?} has not failed"));
        let symptom = Symptom::of_failure(locals, Some(process), failure);
        self.note(system, symptom, 0, || {
            let mut violation = Violation {
                kind: failure.kind.into(),
                process: Some(process),
                failure: Some(failure.clone()),
                schedule: causal_past(system, &Schedule::of(state)),
                has_fewest_switches: None,
                symptom,
            };
            let moved = state.schedule().last().map(|action| action.process);
            if let Some(moved) = moved {
                violation.process = Some(who_failed(system, &violation, moved == process));
            }
            violation
        });
    }

    /// Notes a violation of at least this many steps, unless a similar one is known. If the shortest is wanted, only unless
    /// the known one is as short.
    fn note<S: System>(
        &mut self,
        system: &S,
        symptom: Symptom,
        steps: usize,
        violation: impl FnOnce() -> Violation,
    ) {
        if !self.budget.all {
            self.stop(StopReason::Violation);
        }
        let known = self.known.get(&symptom).copied();
        let is_idle = match known {
            Some(at) => !self.budget.shortest || steps > self.violations[at].schedule.len(),
            None => self.violations.len() >= MAX_VIOLATIONS,
        };
        if is_idle {
            return;
        }
        let mut violation = violation();
        let Some(at) = known else {
            if self.budget.shortest {
                violation = with_few_switches(system, violation);
            }
            self.known.insert(symptom, self.violations.len());
            self.violations.push(violation);
            return;
        };
        if violation.schedule.len() <= self.violations[at].schedule.len() {
            let violation = with_few_switches(system, violation);
            if length(&violation) < length(&self.violations[at]) {
                self.violations[at] = violation;
            }
        }
    }
}
