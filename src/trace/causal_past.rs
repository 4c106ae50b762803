//! The causal past of the last action of an execution. A counterexample has to show no more.

use super::HappensBefore;
use crate::model::{Locals, Schedule, State, System};

/// The last action of `schedule` and the actions that happen before it, as an execution of its own.
/// O(n²) for n actions.
pub fn causal_past<S: System>(system: &S, schedule: &Schedule) -> Schedule {
    let Some(last) = schedule.len().checked_sub(1) else { return Schedule::default() };
    let (mut locals, order) = happens_before(system, schedule);
    let needed = (0..=last).filter(|&position| position == last || order.before(position, last));
    Schedule::of_actions(&mut locals, needed.map(|position| schedule[position]))
}

/// The happens-before order of an execution.
pub(crate) fn order<S: System>(system: &S, schedule: &Schedule) -> HappensBefore {
    happens_before(system, schedule).1
}

/// The happens-before order of an execution, and fresh local states interned only for this
/// execution, so that portable names and actions of `schedule` agree there.
pub(super) fn happens_before<'s, S: System>(
    system: &'s S,
    schedule: &Schedule,
) -> (Locals<'s, S>, HappensBefore) {
    let mut locals = Locals::new(system);
    let mut state = State::initial(&mut locals);
    let mut order = HappensBefore::default();
    for &action in schedule {
        state.step(&mut locals, action);
        order.push(action.process, state.effect(&locals));
    }
    (locals, order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Action, Choice, Next, Objects, Op, ProcessId, Response, Values};

    /// Process 0 spawns two children, each of which has one local action.
    struct TwoChildren(Objects);

    impl System for TwoChildren {
        type Local = (bool, u32);

        fn objects(&self) -> &Objects {
            &self.0
        }

        fn initial(&self, _: &mut Values) -> Vec<Self::Local> {
            vec![(false, 0), (false, 0)]
        }

        fn next(&self, &(is_child, step): &Self::Local, _: &mut Values) -> Next<Self::Local> {
            match (is_child, step) {
                (false, 0) => Next::Spawn((true, 0)),
                (true, 0) => Next::Op(Op::Local),
                _ => Next::Done,
            }
        }

        fn resume(&self, &(is_child, step): &Self::Local, _: Response, _: &Values) -> Self::Local {
            (is_child, step + 1)
        }
    }

    #[test]
    fn drops_what_is_concurrent_and_renumbers_children() {
        let schedule = |processes: &[u32]| -> Schedule {
            let action = |&process| Action { process: ProcessId(process), choice: Choice::ONLY };
            processes.iter().map(action).collect()
        };
        let system = TwoChildren(Objects::default());
        // Process 0 spawns 2, process 1 spawns 3; then both children move.
        let past = |of| causal_past(&system, &schedule(of));
        assert_eq!(past(&[0, 1, 2, 3]), schedule(&[1, 2]));
        assert_eq!(past(&[0, 1, 2]), schedule(&[0, 2]));
        assert_eq!(past(&[]), schedule(&[]));
    }
}
