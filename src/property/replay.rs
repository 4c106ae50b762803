//! An execution repeated on the model alone, and described step by step.
//!
//! This module shares only the model with the explorers. So a schedule that replays and ends in the
//! violation that was reported for it is evidence that does not depend on the search that found it.

mod choices;
mod invariants;
mod livelocks;
#[cfg(feature = "cli")]
mod named;
mod printed;

#[cfg(feature = "cli")]
pub use named::Recorded;
pub use printed::Printed;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
#[cfg(feature = "json")]
use serde::Serialize;

use super::broken_invariants;
use super::calls::{Call, Calls};
use super::changes::{Change, differences};
use super::deadlock::{Deadlock, explain_deadlock};
use super::livelock::Spin;
use super::objects::words;
use super::suppliers::Suppliers;
use super::{Objection, Position, Properties, When};
use super::{
    failed_proposition, final_failure, final_readings, is_deadlock, oversubscription,
    process_failure,
};
use crate::model::{
    Action, CellId, Choice, Failure, Incident, LocalId, Locals, Op, ProcessId, Reach, Refusal,
    Response, Site, State, Status, Stimulus, StopSignal, System, Value, ValueId,
};

/// A step of an execution in the program's own terms.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Step {
    /// The process that moved.
    pub(crate) process: String,
    /// The operation, as in the source.
    pub action: String,
    /// Its result, in words; `None` if the operation has none.
    pub(crate) outcome: Option<String>,
    /// The file of the operation, if the program has several.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) file: Option<Arc<str>>,
    /// Line of the operation, from 1.
    pub line: Option<u32>,
    /// Column of the operation, from 1.
    pub column: Option<u32>,
    /// How the process stopped after this step; `None` if it did not.
    pub(crate) ended: Option<Ending>,
    /// The fault that happens in this step, as a cause of what follows.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) fault: Option<String>,
    /// A fault was possible here, and did not happen.
    #[cfg_attr(feature = "json", serde(skip))]
    pub(crate) is_quiet: bool,
}

/// How a process stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "lowercase"))]
pub(crate) enum Ending {
    /// It has run its last statement.
    Done,
    /// It ran into a violation.
    Failed,
}

/// The state of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Some action is enabled, and there is no violation so far.
    Open,
    /// The execution has ended without a violation.
    Ended,
    /// No action is enabled, or only processes that spin can move; and some process is neither done
    /// nor failed.
    Deadlock(Deadlock),
    /// An assertion or a run-time error.
    Failed {
        /// The process that failed; `None` for `final`, `invariant`, and a misused object.
        process: Option<ProcessId>,
        /// The failure.
        failure: Failure,
    },
}

/// An execution that is repeated step by step.
pub struct Replay<'s, S: System> {
    pub(super) locals: Locals<'s, S>,
    pub(super) state: State,
    /// The names by process. If the system gives one name to several processes, the second gets
    /// `#2`, and so on.
    names: Vec<String>,
    /// Every name, with the highest number that was added to it.
    namesakes: FxHashMap<String, u32>,
    calls: Calls,
    allow_pending: bool,
    /// Cache of [`Locals::reach`] by local state.
    reaches: RefCell<FxHashMap<LocalId, Option<Rc<Reach>>>>,
    /// The index of this state, once it was needed.
    pub(super) suppliers: RefCell<Option<Rc<Suppliers>>>,
    /// The processes that spin, if only such processes can move.
    pub(super) spins: Vec<Spin>,
    /// See [`Replay::pollers`].
    pollers: Vec<ProcessId>,
    /// When the search for them is given up.
    stop: StopSignal,
    /// The first invariant that failed, and what it had read.
    broken: Option<(Failure, Vec<(String, String)>)>,
}

impl<'s, S: System> Replay<'s, S> {
    /// The start of an execution.
    pub fn new(system: &'s S) -> Self {
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        let names =
            state.processes().map(|p| system.describe().process_name(locals.get(state.local(p))));
        let names: Vec<_> = names.collect();
        let namesakes = names.iter().map(|name| (name.clone(), 1)).collect();
        let calls = Calls::default();
        let (reaches, suppliers) = (RefCell::default(), RefCell::default());
        let (spins, pollers) = Default::default();
        let mut replay = Replay {
            locals,
            state,
            names,
            namesakes,
            calls,
            allow_pending: false,
            reaches,
            suppliers,
            spins,
            pollers,
            stop: StopSignal::default(),
            broken: None,
        };
        for process in 0..replay.names.len() as u32 {
            replay.mark_start(ProcessId(process));
        }
        replay.judge_invariants();
        replay
    }

    /// The calls of procedures so far, in the order in which they began.
    pub(crate) fn calls(&self) -> &[Call] {
        self.calls.as_slice()
    }

    /// The calls with which a new process starts.
    fn mark_start(&mut self, process: ProcessId) {
        self.mark(process, self.state.local(process), None);
    }

    /// The calls that begin and end as a process goes on from `local` with `response`.
    fn mark(&mut self, process: ProcessId, local: LocalId, response: Option<Response>) {
        let (system, values) = (self.locals.system(), &self.locals.values);
        let marks = system.describe().marks(self.locals.get(local), response, values);
        let known = |process: ProcessId| self.names.get(process.index()).cloned();
        let caller = (process.index(), self.names[process.index()].as_str());
        self.calls.mark(caller, marks, |value| system.describe().show_value(value, &known));
    }

    /// Sets whether messages to actors may stay pending. If not, pending messages are a deadlock.
    pub(crate) fn allow_pending(&mut self, allow: bool) {
        self.allow_pending = allow;
    }

    /// The present state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The table of the local states visited so far.
    pub fn locals(&self) -> &Locals<'s, S> {
        &self.locals
    }

    /// The name of a process that exists.
    pub(crate) fn name(&self, process: ProcessId) -> &str {
        &self.names[process.index()]
    }

    /// Where the execution stands. Of several violations it names the first in this list: the
    /// failure of the last step, an invariant, a deadlock, `final`, the failure of an earlier step.
    pub fn standing(&self) -> Standing {
        if let Some(standing) = self.failure_of_last_step() {
            return standing;
        }
        let (state, locals) = (&self.state, &self.locals);
        if let Some(failure) = self.broken_invariant() {
            return Standing::Failed { process: None, failure };
        }
        if self.is_livelocked()
            && let Some(livelock) = explain_deadlock(self)
        {
            return Standing::Deadlock(livelock);
        }
        if self.stands_still() {
            let is_deadlock = is_deadlock(locals, state, self.allow_pending);
            let deadlock = explain_deadlock(self).filter(|_| is_deadlock);
            match (deadlock, self.final_failure()) {
                (Some(deadlock), _) => return Standing::Deadlock(deadlock),
                (None, Some(failure)) => return Standing::Failed { process: None, failure },
                (None, None) => {}
            }
        }
        let earlier = state.processes().find_map(|process| self.failure_of(process));
        let broken = self
            .broken
            .as_ref()
            .map(|(failure, _)| Standing::Failed { process: None, failure: failure.clone() });
        match earlier.or(broken) {
            Some(failed) => failed,
            None if self.is_at_end() => Standing::Ended,
            None => Standing::Open,
        }
    }

    /// The failure of the last step; before any step, the first failure of an initial state.
    pub(crate) fn failure_of_last_step(&self) -> Option<Standing> {
        match self.state.schedule().next_back() {
            Some(last) => self.failure_of(last.process).or_else(|| {
                let mut started = self.state.just_spawned(&self.locals);
                started.find_map(|process| self.failure_of(process))
            }),
            None => self.state.processes().find_map(|process| self.failure_of(process)),
        }
    }

    /// The failure of `process` in this state; for `None`, those that belong to no process:
    /// `final`, `invariant`, and a misused object.
    pub fn failures(&self, process: Option<ProcessId>) -> Vec<Failure> {
        let (state, locals) = (&self.state, &self.locals);
        match process {
            Some(process) => process_failure(locals, state, process).cloned().into_iter().collect(),
            None => {
                let crowded = oversubscription(locals, state);
                let wrong = failed_proposition(locals, state);
                let broken = broken_invariants(locals, state).into_iter().map(|(_, broken)| broken);
                let all = crowded.into_iter().chain(broken).chain(wrong);
                all.chain(final_failure(locals, state)).collect()
            }
        }
    }

    /// Does one of these properties object to the present state with this failure?
    pub(crate) fn is_objected_to(&self, properties: &Properties, failure: &Failure) -> bool {
        let at = Position::new(&self.locals, &self.state);
        let on_the_way = properties.objections_on_the_way(&self.locals, &self.state);
        let at_the_end =
            properties.own().filter(|p| p.when() == When::End).filter_map(|p| p.objection(at));
        let mut all = on_the_way.into_iter().chain(at_the_end);
        all.any(|objection| matches!(&objection, Objection::Wrong(found) if found == failure))
    }

    /// What `process` may still do ([`Locals::reach`]); `None` if only
    /// [`Foresight::may_touch`](crate::model::Foresight::may_touch) is known. Objects have their
    /// declared index ([`Locals::declared`]).
    pub(super) fn reach(&self, process: ProcessId) -> Option<Rc<Reach>> {
        let local = self.state.local(process);
        let find = || self.locals.reach(local).map(Rc::new);
        self.reaches.borrow_mut().entry(local).or_insert_with(find).clone()
    }

    fn failure_of(&self, process: ProcessId) -> Option<Standing> {
        let own = process_failure(&self.locals, &self.state, process);
        let own = own
            .map(|failure| Standing::Failed { process: Some(process), failure: failure.clone() });
        own.or_else(|| {
            let failure = oversubscription(&self.locals, &self.state)?;
            Some(Standing::Failed { process: None, failure })
        })
    }

    /// The enabled actions.
    pub fn enabled(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.state.enabled(&self.locals, &mut actions);
        actions
    }

    /// Executes an action, if it is enabled.
    pub fn step(&mut self, action: Action) -> Result<Step, Refusal> {
        self.check(action)?;
        Ok(self.take(action))
    }

    /// Executes actions one after the other, and looks for a livelock after the last one.
    pub fn follow(&mut self, schedule: &[Action]) -> Result<Vec<Step>, Refusal> {
        let steps = schedule.iter().map(|&action| self.step(action)).collect();
        self.look_for_livelock();
        steps
    }

    /// Executes an action like [`step`](Replay::step), and returns what it changed, too.
    pub fn step_with_changes(&mut self, action: Action) -> Result<(Step, Vec<Change>), Refusal> {
        self.check(action)?;
        let op = self.pending(action.process).expect("an enabled process").clone();
        let before = self.view(action.process, &op);
        let step = self.take(action);
        let after = self.view(action.process, &op);
        Ok((step, differences(before, after)))
    }

    /// The variables of a process that exists, with their values.
    pub(crate) fn variables(&self, process: ProcessId) -> Vec<(String, String)> {
        let local = self.locals.get(self.state.local(process));
        self.locals.system().describe().variables(local, &|process| self.known_name(process))
    }

    /// The shared cells with their contents. If very many are declared, only those that processes
    /// have reached.
    pub(crate) fn cells(&self) -> Vec<(String, String)> {
        let cells = self.locals.objects().cells.in_order().into_iter();
        cells.flat_map(|cell| self.now(CellId(cell))).collect()
    }

    /// The failure of `final`, if the execution has ended without a deadlock.
    pub(crate) fn final_failure(&self) -> Option<Failure> {
        let (state, locals) = (&self.state, &self.locals);
        let is_end = self.is_at_end() && !is_deadlock(locals, state, self.allow_pending);
        is_end.then(|| final_failure(locals, state)).flatten()
    }

    /// What to show for a failure that belongs to no process: what `final` read before it failed,
    /// or else the shared cells.
    pub(crate) fn seen_at_the_end(&self) -> Vec<(String, String)> {
        let Some(readings) = final_readings(&self.locals, &self.state) else { return self.cells() };
        self.shown(&readings)
    }

    /// These values in the program's words.
    pub(crate) fn shown(&self, readings: &[(String, Value)]) -> Vec<(String, String)> {
        let known = |process| self.known_name(process);
        let shown = |value: &Value| self.locals.system().describe().show_value(value, &known);
        readings.iter().map(|(name, value)| (name.clone(), shown(value))).collect()
    }

    /// The place and text of the operation that a process is at.
    pub(super) fn site(&self, process: ProcessId) -> Site {
        self.site_of(process, None)
    }

    /// The place and text of the operation that a process is at. For an actor with a choice, those
    /// of the handler that it runs.
    fn site_of(&self, process: ProcessId, choice: Option<Choice>) -> Site {
        let op = self.pending(process);
        let own = op.and_then(|op| words(op, |words| words.site(self, process, choice)));
        let describe = self.locals.system().describe();
        let site = own.or_else(|| describe.site(self.locals.get(self.state.local(process))));
        let name = || op.map_or("", |op| words::<S, _>(op, |words| words.name()));
        site.unwrap_or_else(|| Site { file: None, line: 0, column: 0, text: name().into() })
    }

    /// The place and text of the operation at which a process is blocked. For an actor, those of
    /// the handler of the oldest message that it does not take.
    pub(super) fn site_of_wait(&self, process: ProcessId) -> Site {
        let inboxes = self.state.inboxes();
        let Some(oldest) = inboxes.pending(process).next() else { return self.site(process) };
        let content = inboxes.log()[oldest as usize].content;
        let local = self.locals.get(self.state.local(process));
        let stimulus = Stimulus::Message(content);
        let site =
            self.locals.system().describe().handler_site(local, stimulus, &self.locals.values);
        site.unwrap_or_else(|| self.site(process))
    }

    pub(super) fn pending(&self, process: ProcessId) -> Option<&Op> {
        match self.state.local(process) {
            LocalId::ABSENT => None,
            local => self.locals.op(local),
        }
    }

    fn take(&mut self, action: Action) -> Step {
        let process = action.process;
        let op = self.pending(process).expect("an enabled process").clone();
        let site = self.site_of(process, Some(action.choice));
        let before = self.state.local(process);
        let chosen = self.chosen(process, &op, action.choice);
        let incident = self.incident(process, &op, action.choice);
        self.suppliers.take();
        let response = self.state.step_and_tell(&mut self.locals, action);
        self.spins.clear();
        self.pollers.clear();
        self.name_the_new();
        self.judge_invariants();
        self.calls.step(process.index(), self.state.depth());
        if response.is_some() && before != LocalId::CARRIER {
            self.mark(process, before, response);
        }
        let ended = match self.locals.status(self.state.local(process)) {
            Status::At(_) => None,
            Status::Done => Some(Ending::Done),
            Status::Failed(_) => Some(Ending::Failed),
        };
        // A crash of an actor is the receipt of a message of that name.
        let is_told = |incident: &Incident| {
            !matches!((&op, incident), (Op::Handle { .. }, Incident::Crash { .. }))
        };
        let told = incident.filter(is_told);
        let outcome = told.map(|incident| incident.words().to_owned()).or(chosen);
        Step {
            process: self.name(process).into(),
            action: site.text,
            outcome: outcome.or_else(|| words(&op, |words| words.outcome(self, action, response))),
            file: site.file,
            line: (site.line > 0).then_some(site.line),
            column: (site.line > 0).then_some(site.column),
            ended,
            fault: incident.and_then(|incident| incident.cause(self.name(process))),
            is_quiet: incident.is_some_and(Incident::is_quiet),
        }
    }

    /// Gives names to the processes that the last step started.
    fn name_the_new(&mut self) {
        for process in (self.names.len()..self.locals.process_count()).map(|p| ProcessId(p as u32))
        {
            if self.state.is_carrier(process) {
                let owner = self.state.served(process);
                self.names.push(self.names[owner.index()].clone());
                continue;
            }
            let local = self.locals.get(self.state.local(process));
            let template = self.locals.system().describe().process_name(local);
            let mut name = template.clone();
            while self.namesakes.contains_key(&name) {
                let namesakes = self.namesakes.entry(template.clone()).or_insert(1);
                *namesakes += 1;
                name = format!("{template}#{namesakes}");
            }
            self.namesakes.insert(name.clone(), 1);
            self.names.push(name);
            self.mark_start(process);
        }
    }

    /// Is the action enabled? If not, the error says why in terms of the program.
    fn check(&self, action: Action) -> Result<(), Refusal> {
        let Action { process, choice } = action;
        let refuse = |why| Err(Refusal { step: self.state.depth() + 1, why });
        if !self.state.exists(process) {
            let last = self.names.len().saturating_sub(1);
            return refuse(format!(
                "there is no process {} here, they are numbered 0 to {last}",
                process.0
            ));
        }
        let name = self.name(process);
        let mut choices = Vec::new();
        self.state.choices(&self.locals, process, |choice| choices.push(choice));
        if choices.contains(&choice) {
            return Ok(());
        }
        if self.pending(process).is_none() {
            return refuse(format!("{name} (process {}) has ended already", process.0));
        }
        let text = self.site(process).text;
        if choices.is_empty() {
            let wait = self.wait(process).map_or(String::new(), |wait| format!(": {}", wait.words));
            return refuse(format!("{name} (process {}) waits at `{text}`{wait}", process.0));
        }
        let possible: Vec<_> = choices.iter().map(|choice| choice.0.to_string()).collect();
        refuse(format!(
            "{name} (process {}) is at `{text}`, where the choice can be {} but not {}",
            process.0,
            possible.join(", "),
            choice.0
        ))
    }

    /// A value in the program's words.
    pub(super) fn value(&self, value: ValueId) -> String {
        let value = self.locals.values.get(value);
        self.locals.system().describe().show_value(value, &|process| self.known_name(process))
    }

    fn known_name(&self, process: ProcessId) -> Option<String> {
        self.names.get(process.index()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripts::{Script, irecv, isend, wait};
    use super::*;
    use crate::model::{Access, Choice, Handle, Schedule};

    fn outcomes(system: &Script, order: &[(u32, i32)]) -> Vec<String> {
        let action = |&(p, c): &(u32, i32)| Action { process: ProcessId(p), choice: Choice(c) };
        let schedule: Vec<_> = order.iter().map(action).collect();
        let steps = Replay::new(system).follow(&schedule).unwrap();
        steps.into_iter().map(|step| step.outcome.unwrap_or_default()).collect()
    }

    #[test]
    fn steps_have_their_results_in_words() {
        let test = Op::TestAny(Box::new([Handle(0)]));
        let script = Script::new(vec![
            vec![irecv(0, None), test, wait(0), Op::Choose { lo: 3, hi: 9 }],
            vec![isend(0, Some(4)), Op::Access(CellId(0), Access::Write(ValueId::TRUE))],
        ])
        .mailboxes(1)
        .cell();
        let outcomes = outcomes(&script, &[(0, 0), (0, -1), (1, 0), (1, 0), (0, 0), (0, 2)]);
        assert_eq!(
            outcomes,
            [
                "no message yet",
                "false",
                "sends true to m0 with tag 4; pairs with a receive of P0",
                "writes x = true",
                "receives true from P1",
                "chooses 5",
            ]
        );
    }

    #[test]
    fn refusals_say_what_is_possible() {
        let script = Script::new(vec![vec![irecv(0, None), wait(0)]]).mailboxes(1);
        let mut replay = Replay::new(&script);
        let action = |p, c| Action { process: ProcessId(p), choice: Choice(c) };
        assert!(replay.step(action(4, 0)).unwrap_err().why.contains("no process 4"));
        assert!(replay.step(action(0, 3)).unwrap_err().why.contains("can be 0 but not 3"));
        replay.step(action(0, 0)).unwrap();
        let refusal = replay.step(action(0, 0)).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "step 2 of the schedule: P0 (process 0) waits at `wait`: a message at m0"
        );
    }

    /// Processes of two parents. A search numbers them in the order in which they first occur in
    /// it. In other executions the order is another one.
    #[test]
    fn schedules_of_spawning_programs_replay() {
        let spawner = |n| vec![Op::Spawn(LocalId::ABSENT); n];
        let receiver = vec![irecv(0, None), wait(0)];
        let script = Script::new(vec![spawner(2), spawner(1), receiver]).mailboxes(1);
        let mut locals = Locals::new(&script);
        let mut state = State::initial(&mut locals);
        let (mut executions, mut renamed) = (0, 0);
        walk(&mut locals, &mut state, &mut |_, state| {
            let schedule = Schedule::of(state);
            renamed += usize::from(schedule != state.schedule().collect());
            executions += 1;
            let mut replay = Replay::new(&script);
            replay.follow(&schedule).unwrap();
            let Standing::Deadlock(deadlock) = replay.standing() else { panic!("no deadlock") };
            let blocked: Vec<_> = deadlock.blocked.iter().map(|b| b.process.as_str()).collect();
            assert_eq!(blocked, ["P2", "P2#2", "P2#3", "P2#4"]);
        });
        assert!(
            executions > 100 && renamed > 0,
            "{executions} executions, {renamed} with other numbers"
        );
    }

    fn walk<'s>(
        locals: &mut Locals<'s, Script>,
        state: &mut State,
        at_end: &mut impl FnMut(&Locals<'s, Script>, &State),
    ) {
        let mut actions = Vec::new();
        state.enabled(locals, &mut actions);
        if actions.is_empty() {
            at_end(locals, state);
        }
        for action in actions {
            state.step(locals, action);
            walk(locals, state, at_end);
            state.undo(locals);
        }
    }
}
