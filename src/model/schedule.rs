//! Executions in portable names: a schedule that one search found means the same in every other
//! search.
//!
//! A search numbers spawned processes and messages in the order in which it encounters them on all
//! its branches ([`Locals`]). So its [`Action`]s mean nothing outside it. A schedule names both by
//! *birth*, in its own execution alone:
//!
//! | what | its number |
//! |---|---|
//! | a process | the processes that exist from the start, in order of declaration; then the others, in order of spawning |
//! | a message to an actor or at a p2p or bag mailbox | the messages that are pending from the start; then the others, in order of sending, all together |
//!
//! Fresh [`Locals`] that see only this execution give the same numbers. There the actions of a
//! schedule can be executed as they are. Elsewhere [`State::action_named`] finds the actions that
//! they name.
//!
//! As text: `0,0,1,2:1,0x3`. One item per action, separated by commas: the number of the process
//! that moves, `:choice` if the action was not the first of several choices (`:-1` for a test that
//! found nothing), `xN` for N times in a row. `0,1/2,0` repeats the actions after the slash for
//! ever. Nothing in it needs quoting in a shell.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use super::as_text::stored_as_text;
use super::state::State;
use super::{Action, Choice, Handled, Locals, MessageId, Op, ProcessId, System};

/// The longest schedule that can be parsed: a repetition must not fill the memory.
const MAX_LENGTH: usize = 50_000_000;

/// An execution from the initial state, in portable names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schedule(Vec<Action>, Option<u32>);

impl Schedule {
    /// The execution that led to `state`.
    pub fn of(state: &State) -> Schedule {
        let ids = state.portable_ids();
        let rename = |(position, action): (usize, Action)| {
            let choice = match (state.taken(position), action.choice.handled()) {
                (Some(_), Handled::Message(id)) => Choice(state.number(id) as i32),
                _ => action.choice,
            };
            Action { process: ids[action.process.index()], choice }
        };
        state.schedule().enumerate().map(rename).collect()
    }

    /// The place where its loop begins, if the actions from there on are repeated for ever. If that
    /// is its length, the execution ends there.
    pub fn loop_from(&self) -> Option<usize> {
        self.1.map(|from| from as usize)
    }

    /// The same execution, which repeats its actions from this place on for ever.
    ///
    /// # Panics
    /// If it has fewer actions.
    pub fn with_loop(self, from: usize) -> Schedule {
        assert!(from <= self.0.len(), "a loop begins within the schedule");
        Schedule(self.0, Some(from as u32))
    }

    /// Its actions.
    pub(crate) fn into_actions(self) -> Vec<Action> {
        self.0
    }

    /// The execution of these actions, which have their names in `locals` and are enabled one after
    /// the other.
    pub fn of_actions<S: System>(
        locals: &mut Locals<'_, S>,
        actions: impl IntoIterator<Item = Action>,
    ) -> Schedule {
        let mut state = State::initial(locals);
        actions.into_iter().for_each(|action| state.step(locals, action));
        Schedule::of(&state)
    }

    /// Keeps only its first `length` actions.
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
        self.1 = None;
    }

    /// The state that it leads to, in the names of `locals`; or its first action that is not
    /// enabled.
    pub fn replay<S: System>(&self, locals: &mut Locals<'_, S>) -> Result<State, Refusal> {
        self.replay_with(locals, |_, _| {})
    }

    /// Replays the schedule and calls `each` with the state after each action: see
    /// [`replay`](Schedule::replay).
    pub fn replay_with<'s, S: System>(
        &self,
        locals: &mut Locals<'s, S>,
        mut each: impl FnMut(&Locals<'s, S>, &State),
    ) -> Result<State, Refusal> {
        let mut state = State::initial(locals);
        let mut processes = state.by_birth();
        for (index, &action) in self.iter().enumerate() {
            let Some(action) = state.named_among(&processes, locals, action) else {
                let why = format!("{} is not enabled", Schedule::from(vec![action]));
                return Err(Refusal { step: index + 1, why });
            };
            state.step(locals, action);
            processes.extend(state.just_spawned(locals));
            each(locals, &state);
        }
        Ok(state)
    }
}

impl State {
    /// The processes that exist, in order of birth. The index of a process in this list is its
    /// portable number.
    pub fn by_birth(&self) -> Vec<ProcessId> {
        let mut processes: Vec<_> = self.processes().collect();
        // The processes that one handler started are already numbered by age.
        processes.sort_by_key(|&process| self.born(process).map_or(0, |position| position + 1));
        processes
    }

    /// The portable number of each process that exists.
    fn portable_ids(&self) -> Vec<ProcessId> {
        let mut ids = Vec::new();
        for (index, process) in self.by_birth().into_iter().enumerate() {
            ids.resize(ids.len().max(process.index() + 1), process);
            ids[process.index()] = ProcessId(index as u32);
        }
        ids
    }

    /// The portable name of an action that is enabled here, or was executed earlier in this
    /// execution. `has_message`: is its choice a message, which it handles, matches or finds? O(p)
    /// for p processes.
    pub(crate) fn portable(&self, action: Action, has_message: bool) -> Action {
        let choice = match action.choice.handled() {
            Handled::Message(id) if has_message => Choice(self.number(id) as i32),
            _ => action.choice,
        };
        let by_birth = self.by_birth();
        let process = by_birth.iter().position(|&process| process == action.process);
        Action { process: ProcessId(process.expect("a process that exists") as u32), choice }
    }

    /// The portable name of an action that is enabled here.
    pub(crate) fn name<S: System>(&self, locals: &Locals<'_, S>, action: Action) -> Action {
        let op = locals.op(self.local(action.process)).expect("it is enabled");
        self.portable(action, op.chooses_message())
    }

    /// The action with this portable name, in the names of `locals`, if it is enabled here.
    pub fn action_named<S: System>(
        &self,
        locals: &Locals<'_, S>,
        portable: Action,
    ) -> Option<Action> {
        self.named_among(&self.by_birth(), locals, portable)
    }

    /// Like [`action_named`](State::action_named), but with a given list of processes by birth.
    fn named_among<S: System>(
        &self,
        processes: &[ProcessId],
        locals: &Locals<'_, S>,
        portable: Action,
    ) -> Option<Action> {
        let action = self.action_among(processes, locals, portable)?;
        let mut is_enabled = false;
        let compare = &mut |enabled| is_enabled |= enabled == action.choice;
        self.each_choice(locals, action.process, compare);
        is_enabled.then_some(action)
    }

    /// The action with this portable name, in the names of `locals`, whether it is enabled or not.
    pub(crate) fn any_action_named<S: System>(
        &self,
        locals: &Locals<'_, S>,
        portable: Action,
    ) -> Option<Action> {
        self.action_among(&self.by_birth(), locals, portable)
    }

    fn action_among<S: System>(
        &self,
        processes: &[ProcessId],
        locals: &Locals<'_, S>,
        portable: Action,
    ) -> Option<Action> {
        let process = *processes.get(portable.process.index())?;
        let choice = match (locals.op(self.local(process))?, portable.choice.handled()) {
            (Op::Handle { .. }, Handled::Message(number)) => {
                let log = self.inboxes().log();
                let order = |position| self.portable_in_inbox(position).cmp(&number.0);
                Choice::message(log[sought(log.len(), order)?].id)
            }
            (op, Handled::Message(number)) if op.chooses_message() => {
                let sends = self.network().sends();
                let order = |position| self.portable_of_send(position).cmp(&number.0);
                Choice::message(sends[sought(sends.len(), order)?].id)
            }
            _ => portable.choice,
        };
        Some(Action { process, choice })
    }

    /// The portable number of a message.
    ///
    /// # Panics
    /// If it was not sent in this execution.
    fn number(&self, id: MessageId) -> u32 {
        match (self.inboxes().position(id), self.network().position(id)) {
            (Some(position), _) => self.portable_in_inbox(position as usize),
            (None, Some(position)) => self.portable_of_send(position as usize),
            (None, None) => panic!("a message that was sent"),
        }
    }

    /// The portable number of the message at this position in the log of the inboxes. O(log n).
    fn portable_in_inbox(&self, position: usize) -> u32 {
        let sends = self.network().sends();
        let before = self.inboxes().log()[position]
            .creator()
            .map_or(0, |creator| sends.partition_point(|sent| sent.at() < creator));
        (position + before) as u32
    }

    /// The portable number of the message that this send sent.
    fn portable_of_send(&self, position: usize) -> u32 {
        let (before, _) = self.sent_at(self.network().sends()[position].at());
        position as u32 + before
    }
}

/// The position of what is sought among so many in order. O(log n).
fn sought(count: usize, order: impl Fn(usize) -> Ordering) -> Option<usize> {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = from.midpoint(to);
        match order(middle) {
            Ordering::Less => from = middle + 1,
            Ordering::Equal => return Some(middle),
            Ordering::Greater => to = middle,
        }
    }
    None
}

/// Why a schedule cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The step, from 1.
    pub step: usize,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} of the schedule: {}", self.step, self.why)
    }
}

impl std::error::Error for Refusal {}

impl Deref for Schedule {
    type Target = [Action];

    fn deref(&self) -> &[Action] {
        &self.0
    }
}

impl From<Vec<Action>> for Schedule {
    fn from(actions: Vec<Action>) -> Schedule {
        Schedule(actions, None)
    }
}

impl FromIterator<Action> for Schedule {
    fn from_iter<I: IntoIterator<Item = Action>>(actions: I) -> Schedule {
        Schedule(actions.into_iter().collect(), None)
    }
}

impl<'a> IntoIterator for &'a Schedule {
    type Item = &'a Action;
    type IntoIter = std::slice::Iter<'a, Action>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(from) = self.loop_from() else { return write_actions(f, self) };
        write_actions(f, &self[..from])?;
        f.write_str("/")?;
        write_actions(f, &self[from..])
    }
}

fn write_actions(f: &mut fmt::Formatter<'_>, actions: &[Action]) -> fmt::Result {
    for (index, run) in actions.chunk_by(PartialEq::eq).enumerate() {
        let Action { process, choice } = run[0];
        let comma = if index > 0 { "," } else { "" };
        write!(f, "{comma}{}", process.0)?;
        if choice != Choice::ONLY {
            write!(f, ":{}", choice.0)?;
        }
        if run.len() > 1 {
            write!(f, "x{}", run.len())?;
        }
    }
    Ok(())
}

stored_as_text!(Schedule);

/// Why a text is not a schedule: which item is wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSchedule(String);

impl fmt::Display for NoSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoSchedule {}

impl FromStr for Schedule {
    type Err = NoSchedule;

    /// Ignores space around items. The empty string is the empty execution.
    fn from_str(text: &str) -> Result<Schedule, NoSchedule> {
        let Some((stem, around)) = text.split_once('/') else {
            return Ok(Schedule(parse_actions(text)?, None));
        };
        let mut actions = parse_actions(stem)?;
        let from = actions.len() as u32;
        actions.extend(parse_actions(around)?);
        Ok(Schedule(actions, Some(from)))
    }
}

fn parse_actions(text: &str) -> Result<Vec<Action>, NoSchedule> {
    let mut actions = Vec::new();
    if !text.trim().is_empty() {
        for (index, item) in text.split(',').enumerate() {
            let (action, times) = parse_item(item.trim()).map_err(|why| {
                let (number, item) = (index + 1, item.trim());
                NoSchedule(format!("item {number} of the schedule, `{item}`: {why}"))
            })?;
            if times > MAX_LENGTH - actions.len() {
                let why = format!("the schedule has more than {MAX_LENGTH} actions");
                return Err(NoSchedule(why));
            }
            actions.extend(std::iter::repeat_n(action, times));
        }
    }
    Ok(actions)
}

fn parse_item(item: &str) -> Result<(Action, usize), String> {
    if item.is_empty() {
        return Err("expected the number of a process".into());
    }
    let (item, times) = match item.split_once('x') {
        Some((item, times)) => match times.parse() {
            Ok(times) if times > 0 => (item, times),
            _ => return Err(format!("`{times}` is not a number of repetitions")),
        },
        None => (item, 1),
    };
    let (process, choice) = match item.split_once(':') {
        Some((process, choice)) => {
            (process, choice.parse().map_err(|_| format!("`{choice}` is not a choice"))?)
        }
        None => (item, Choice::ONLY.0),
    };
    let process = process.parse().map_err(|_| format!("`{process}` is not a process number"))?;
    Ok((Action { process: ProcessId(process), choice: Choice(choice) }, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(process: u32, choice: i32) -> Action {
        Action { process: ProcessId(process), choice: Choice(choice) }
    }

    #[test]
    fn repetitions_and_choices_are_short() {
        let schedule: Schedule = [
            action(0, 0),
            action(0, 0),
            action(1, 0),
            action(2, 1),
            action(2, 1),
            action(0, -1),
            action(12, 0),
        ]
        .into_iter()
        .collect();
        assert_eq!(schedule.to_string(), "0x2,1,2:1x2,0:-1,12");
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }

    #[test]
    fn a_loop_stands_after_a_slash() {
        let schedule: Schedule = [action(0, 0), action(0, 0), action(0, 0)].into_iter().collect();
        for (from, text) in [(1, "0/0x2"), (0, "/0x3"), (3, "0x3/")] {
            let lasso = schedule.clone().with_loop(from);
            assert_eq!((lasso.to_string().as_str(), lasso.loop_from()), (text, Some(from)));
            assert_eq!(text.parse(), Ok(lasso));
        }
        assert!("0/0/0".parse::<Schedule>().is_err());
    }

    #[test]
    fn the_empty_execution_is_the_empty_string() {
        assert_eq!(Schedule::default().to_string(), "");
        assert_eq!(" ".parse(), Ok(Schedule::default()));
    }

    #[test]
    fn errors_name_the_item() {
        for (text, fragment) in [
            ("0,,1", "item 2"),
            ("a", "`a` is not a process number"),
            ("0:", "`` is not a choice"),
            ("0x0", "`0` is not a number of repetitions"),
            ("0x99999999999", "more than"),
            ("-1", "not a process number"),
        ] {
            let error = text.parse::<Schedule>().unwrap_err().to_string();
            assert!(error.contains(fragment), "{text}: {error}");
        }
    }
}
