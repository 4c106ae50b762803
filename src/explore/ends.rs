//! The ends of explorations: their meaning, and the proof that nothing is missing there.
//!
//! | the exploration | reason | counted as |
//! |---|---|---|
//! | is complete | no action is possible | `traces` |
//! | waits for ever | every possible action ends a spin iteration ([`crate::trace::spin`]), and no process can leave its loop | `traces` |
//! | is complete | every possible action ends a spin iteration, no process can leave its loop, and all of them are daemons | `traces` |
//! | is given up | every possible action ends a spin iteration, but some process can leave its loop: an execution without that iteration is explored, too | `given_up` |
//! | is given up | a process waits only because of the bound on polls ([`State::is_cut_at_poll`]): the search is not complete | `given_up` |
//! | is cut | every possible action is beyond the depth bound | `truncated` |
//! | is blocked | every possible action is asleep or disabled: it is explored elsewhere | `blocked` |
//! | is in vain | the system says that it is explored elsewhere ([`System::is_in_vain`]) | `blocked` |
//!
//! **No end without a proof.** An explorer that finds nothing to explore from a state may have lost
//! something: an extension that it forgot to compute, or a race that it overlooked. If such a state
//! were counted as an end, the search would be called complete. So the model is asked which actions
//! are possible in the state, and each needs a reason why the search may skip it. If one has no
//! reason, the search stops with an internal error ([`lost`]). Complete and given-up ends are
//! always checked in this way, also in release builds; ends that wait for ever only in builds with
//! debug assertions. A search that has given up all executions is not complete either: each of them
//! is said to be explored in another way. Explorers themselves prove that what they report as
//! blocked is asleep or disabled.

use super::driver::Driver;
use super::observer::End;
use super::result::StopReason;
use crate::model::{Action, Locals, Schedule, State, System};
use crate::property::{self, Motion, Objection, Position, Spin, Watch, When, polling};
use crate::trace::{Execution, LeftOut, needed};

impl Driver<'_> {
    /// The number of explorations that have ended. An explorer that reaches a state and tries
    /// nothing from it must have added one.
    #[inline]
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// Reports that nothing is enabled in `state`. That completes an execution, or the execution is
    /// given up: a process waits at a poll, but its loop would next poll for something that is
    /// there, or it waits only because of the bound on polls. Returns true if the execution is
    /// complete.
    ///
    /// # Panics
    /// If an action is possible in `state`: the explorer has lost it.
    pub fn terminal<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &State) -> bool {
        // Once the signal is raised, a process may have come here only because it was stopped.
        if self.signal().is_raised() {
            return false;
        }
        if !state.is_terminal(locals) {
            let mut possible = Vec::new();
            state.enabled(locals, &mut possible);
            lost(locals, state, possible[0]);
        }
        if is_in_vain(locals, state) {
            self.blocked(locals, state);
            return false;
        }
        let Motion::Round(spins) = polling(locals, state) else {
            self.give_up(locals, state);
            return false;
        };
        if !spins.is_empty() {
            self.ends_in_round(&Watch::new(self.signal().clone()), locals, state, &spins);
            return true;
        }
        let at = Position::new(locals, state);
        let objection = self.budget.properties.objections(When::End, at).next();
        self.ends(locals, at, objection);
        true
    }

    /// Records an execution to a state in which nothing is possible but the loops of these
    /// processes, which they never leave.
    fn ends_in_round<S: System>(
        &mut self,
        watch: &Watch,
        locals: &mut Locals<'_, S>,
        state: &State,
        spins: &[Spin],
    ) {
        let mut here = state.clone();
        let mut has_objection = self.judge_round(watch, (locals, &mut here), spins, Self::ends);
        if !has_objection && time_of_end(locals, state, spins) == When::End {
            // The bound on polls may have kept it from some points of the loops.
            let before = property::before_misses(locals, state, spins);
            has_objection = before.is_some_and(|mut before| {
                self.judge_round(watch, (locals, &mut before), spins, Self::ends)
            });
        }
        if !has_objection {
            self.ends(locals, Position::new(locals, state).going_round(spins), None);
        }
    }

    /// Reports that nothing is enabled in `state` but actions that may be delayed for ever: an end,
    /// or a violation if one of the processes that have not ended waits in vain. Returns whether it
    /// is either.
    ///
    /// # Panics
    /// If another action is possible in `state`: the explorer has lost it.
    pub fn resting<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &mut State) -> bool {
        if state.is_terminal(locals) {
            return self.terminal(locals, state);
        }
        if self.signal().is_raised() {
            return false;
        }
        let mut possible = Vec::new();
        state.enabled(locals, &mut possible);
        if let Some(&action) = possible.iter().find(|&&one| !state.is_optional(locals, one)) {
            lost(locals, state, action);
        }
        self.judge_rest(locals, state)
    }

    /// Judges a state in which every possible action is optional, or part of a loop that waits.
    /// Returns whether it is a violation. Terminal states are judged as ends, not here. `state` is
    /// the same afterwards.
    pub(super) fn judge_rest<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
    ) -> bool {
        if state.is_terminal(locals) {
            return false;
        }
        let motion = Watch::new(self.signal().clone()).least_motion(locals, state);
        self.has_long_loop |= motion == Motion::Unknown && !self.is_stopped();
        let Motion::Round(spins) = motion else { return false };
        let at = Position::new(locals, state).going_round(&spins);
        let when = time_of_end(locals, state, &spins);
        let objection = self.budget.properties.objections(when, at).next();
        let stuck =
            objection.filter(|one| matches!(one, Objection::Deadlock | Objection::Livelock));
        let is_stuck = stuck.is_some();
        if let Some(stuck) = stuck {
            self.object(locals, at, stuck);
        }
        is_stuck
    }

    /// Records that the execution to `at` is complete; `objection` is the first objection to its
    /// end.
    fn ends<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        at: Position<'_>,
        objection: Option<Objection>,
    ) {
        let end = self.count_end(locals, at, objection);
        self.leaves += 1;
        self.observer.trace(at, end);
        self.look_at_traces();
    }

    /// Counts the execution to `at` as complete.
    fn count_end<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        at: Position<'_>,
        objection: Option<Objection>,
    ) -> End {
        if is_in_vain(locals, at.state()) {
            self.stats.blocked += 1;
            return End::default();
        }
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
        End { is_deadlocked, is_livelocked, is_violating }
    }

    /// Was there an objection on the way to `state`?
    fn has_gone_wrong<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) -> bool {
        // Without a violation so far nothing has gone wrong, except perhaps in the prefix of a
        // branch or a piece.
        if self.violations.is_empty() && self.branch.is_root() && !self.is_piece() {
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

    /// Reports that the execution has ended: it is complete, or every possible action is beyond the
    /// depth bound or would end a spin iteration. Returns true if it is complete.
    pub fn ended<S: System>(&mut self, execution: &mut Execution<'_, S>) -> bool {
        if !execution.cut().is_empty() {
            self.truncated(&execution.locals, execution.state());
            return false;
        }
        if execution.is_waiting() {
            let here = execution.len();
            return execution.looking_back(here, |locals, state| self.waiting(locals, state));
        }
        let (locals, state) = execution.parts();
        self.terminal(locals, state)
    }

    /// Reports that every action that is possible in `state` would end a spin iteration
    /// (`trace::spin`). The execution then waits for ever (a livelock, or an end if only
    /// daemons wait), or it is given up. Returns true unless it is given up. `state` is the same
    /// afterwards.
    ///
    /// # Panics
    /// If an action is possible that would not end a spin iteration: the explorer has lost it.
    pub fn waiting<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &mut State) -> bool {
        let mut watch = Watch::new(self.signal().clone());
        let motion = watch.motion(locals, state);
        if self.is_stopped() {
            return false;
        }
        let Motion::Round(spins) = motion else {
            self.has_long_loop |= motion == Motion::Unknown;
            self.prove_spinning(locals, state);
            self.give_up(locals, state);
            return false;
        };
        if cfg!(debug_assertions) {
            self.prove_spinning(locals, state);
        }
        if time_of_end(locals, state, &spins) == When::End && !property::is_lasting(state, &spins) {
            // What comes after it is explored by itself.
            self.give_up(locals, state);
            return false;
        }
        self.ends_in_round(&watch, locals, state, &spins);
        true
    }

    /// Judges a state in which nothing is possible but the loops of these processes. Calls `note`
    /// with the first objection, if there is one, and returns whether there was. Properties may
    /// depend on variables of the processes, so every state of their round is judged; as an end
    /// only those of loops that they never leave.
    fn judge_round<S: System>(
        &mut self,
        watch: &Watch,
        (locals, state): (&mut Locals<'_, S>, &mut State),
        spins: &[Spin],
        note: impl Fn(&mut Self, &Locals<'_, S>, Position<'_>, Option<Objection>),
    ) -> bool {
        let when = time_of_end(locals, state, spins);
        let objects = watch.any_in_round(locals, state, spins, |locals, state| {
            if when == When::End && !property::is_lasting(state, spins) {
                return false;
            }
            let at = Position::new(locals, state).going_round(spins);
            let objection = self.budget.properties.objections(when, at).next();
            let objects = objection.is_some();
            if objects {
                note(self, locals, at, objection);
            }
            objects
        });
        self.has_long_loop |= objects.is_none();
        objects == Some(true)
    }

    /// Proves that every action that is possible in `state` would end a spin iteration. Within a
    /// depth bound no iteration is a spin iteration: there loops run literally.
    fn prove_spinning<S: System>(&self, locals: &mut Locals<'_, S>, state: &mut State) {
        let left = LeftOut { spinning: self.depth().is_none(), max_height: None };
        if let Some(&action) = needed(locals, state, left).first() {
            lost(locals, state, action);
        }
    }

    /// Records that the execution to `state` is given up.
    fn give_up<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        self.judge_unvisited(locals, state);
        self.leaves += 1;
        self.stats.given_up += 1;
    }

    /// Judges a state with possible actions. If every process that can move is in a loop that
    /// changes nothing, so that nothing else can ever happen, this is a livelock, or an end if all
    /// of them are daemons. Then it is recorded, and the result is true. `state` is the same
    /// afterwards.
    pub fn is_livelock<S: System>(
        &mut self,
        watch: &mut Watch,
        locals: &mut Locals<'_, S>,
        state: &mut State,
    ) -> bool {
        let spins = match watch.motion(locals, state) {
            Motion::Round(spins) => spins,
            Motion::On => return false,
            Motion::Unknown => {
                self.has_long_loop = true;
                return false;
            }
        };
        if time_of_end(locals, state, &spins) == When::Livelock {
            self.judge_round(watch, (locals, state), &spins, |driver, locals, at, objection| {
                objection.into_iter().for_each(|objection| driver.object(locals, at, objection));
            });
            return true;
        }
        let note = |driver: &mut Self, locals: &Locals<'_, S>, at: Position<'_>, objection| {
            driver.count_end(locals, at, objection);
        };
        let objects = self.judge_round(watch, (locals, state), &spins, note);
        if !objects && property::is_lasting(state, &spins) {
            self.count_end(locals, Position::new(locals, state).going_round(&spins), None);
        }
        self.look_at_traces();
        true
    }

    /// Reports that an exploration is blocked in `state`: the algorithm disables every enabled
    /// action.
    pub fn blocked<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        self.leaves += 1;
        self.stats.blocked += 1;
        self.observer.blocked(Position::new(locals, state));
    }

    /// Reports that the depth bound cut an execution in `state`, where it could have gone on.
    pub fn truncated<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        self.cut(locals, state);
        if self.budget.depth.is_none() {
            self.stop(StopReason::Endless);
        }
    }

    /// Reports that an execution is cut in `state`, where it could have gone on. The search goes
    /// on, whatever the bound.
    pub fn cut<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        self.judge_unvisited(locals, state);
        self.leaves += 1;
        self.stats.truncated += 1;
        self.observer.truncated(Position::new(locals, state));
    }
}

/// Does a process wait for ever in an execution that is explored elsewhere?
fn is_in_vain<S: System>(locals: &Locals<'_, S>, state: &State) -> bool {
    locals.system().may_be_in_vain()
        && state.processes().any(|process| locals.is_in_vain(state.local(process)))
}

/// Which properties judge a state in which nothing is possible but the loops of these processes.
fn time_of_end<S: System>(locals: &Locals<'_, S>, state: &State, spins: &[Spin]) -> When {
    match property::is_livelock(locals, state, spins) {
        true => When::Livelock,
        false => When::End,
    }
}

/// Stops with an internal error: the search tries nothing more from `state`, although `action` is
/// possible there and has no reason to be skipped.
///
/// # Panics
/// Always.
#[cold]
pub(crate) fn lost<S: System>(locals: &Locals<'_, S>, state: &State, action: Action) -> ! {
    let chooses = locals.op(state.local(action.process)).is_some_and(|op| op.chooses_message());
    let next = Schedule::from(vec![state.portable(action, chooses)]);
    let way = Schedule::of(state);
    panic!(
        "internal error: the search has nothing left to do after the schedule `{way}`, but `{next}` is possible there, and \
         there is no reason to leave it out. So there is no verdict. Please report this, with the program"
    );
}
