//! A violation as a story: the steps that lead to it, and what is wrong at the end.

use serde::Serialize;

use super::deadlock::{Deadlock, explain_deadlock};
use super::replay::{Refusal, Replay, Step};
use super::schedule;
use crate::model::{Action, System};

/// An execution that ends in a violation, told in the program's own terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counterexample {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The same execution as a string ([`schedule`]).
    pub schedule: String,
    /// Who waits for what, if the execution ends with unfinished processes and nothing enabled.
    pub deadlock: Option<Deadlock>,
}

/// Repeats `schedule` on the bare model and tells it.
///
/// A schedule that came out of a search replays; a refusal means that it is for another program.
pub fn explain<S: System>(system: &S, schedule: &[Action]) -> Result<Counterexample, Refusal> {
    let mut replay = Replay::new(system);
    let steps = schedule.iter().map(|&action| replay.step(action)).collect::<Result<_, _>>()?;
    let deadlock = explain_deadlock(&replay);
    Ok(Counterexample { steps, schedule: schedule::format(schedule), deadlock })
}

#[cfg(test)]
mod tests {
    use super::super::scripts::{Script, irecv, isend, wait};
    use super::*;
    use crate::model::{Access, CellId, Choice, LocalId, Locals, Op, ProcessId, State, ValueId};

    fn outcomes(system: &Script, order: &[(u32, i32)]) -> Vec<String> {
        let action = |&(p, c): &(u32, i32)| Action { process: ProcessId(p), choice: Choice(c) };
        let schedule: Vec<_> = order.iter().map(action).collect();
        let told = explain(system, &schedule).unwrap();
        told.steps.into_iter().map(|step| step.outcome.unwrap_or_default()).collect()
    }

    #[test]
    fn steps_say_what_came_of_them() {
        let test = Op::TestAny(Box::new([crate::model::Handle(0)]));
        let script = Script::new(vec![
            vec![irecv(0, None), test, wait(0), Op::Choose { lo: 3, hi: 9 }],
            vec![isend(0, Some(4)), Op::Access(CellId(0), Access::Write(ValueId::TRUE))],
        ])
        .mailboxes(1)
        .cell();
        let told = outcomes(&script, &[(0, 0), (0, -1), (1, 0), (1, 0), (0, 0), (0, 2)]);
        assert_eq!(
            told,
            [
                "no message yet",
                "false",
                "sends true with tag 4; pairs with a receive of P0",
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

    /// Children of two parents: a search numbers them in the order in which it met them, which is not
    /// that of every execution.
    #[test]
    fn schedules_of_spawning_programs_replay() {
        let spawner = |n| vec![Op::Spawn(LocalId::ABSENT); n];
        let receiver = vec![irecv(0, None), wait(0)];
        let script = Script::new(vec![spawner(2), spawner(1), receiver]).mailboxes(1);
        let mut locals = Locals::new(&script);
        let mut state = State::initial(&mut locals);
        let (mut told, mut renamed) = (0, 0);
        walk(&mut locals, &mut state, &mut |locals, state| {
            let schedule = state.portable_schedule(locals);
            renamed += usize::from(schedule != state.schedule().collect::<Vec<_>>());
            told += 1;
            let deadlock = explain(&script, &schedule).unwrap().deadlock.unwrap();
            let blocked: Vec<_> = deadlock.blocked.iter().map(|b| b.process.as_str()).collect();
            assert_eq!(blocked, ["P2", "P2#1", "P2#2", "P2#3"]);
        });
        assert!(told > 100 && renamed > 0, "{told} executions, {renamed} with other numbers");
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
