//! Latches: the number of missing counts.

use super::{Arrow, ArrowKind, Named, Past, Replay, Wait, Words};
use crate::model::{
    Action, Failure, FailureKind, LatchId, Locals, May, ProcessId, Response, System, Touch,
};

pub(super) enum Use {
    CountDown(LatchId),
    Wait(LatchId),
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::CountDown(_) => "count_down",
            Use::Wait(_) => "wait",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, _: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::CountDown(latch) => match at.state.latch(latch).count() {
                0 if at.state.latch(latch).is_overrun() => {
                    format!("counts {} down once too often", at.locals.name_of(latch))
                }
                0 => format!("opens {}", at.locals.name_of(latch)),
                count => format!("counts {} down to {count}", at.locals.name_of(latch)),
            },
            Use::Wait(latch) => format!("passes {}", at.locals.name_of(latch)),
        })
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        let (Use::CountDown(latch) | Use::Wait(latch)) = *self;
        now(at, latch)
    }

    fn wait(&self, at: &Replay<'_, S>, _: ProcessId) -> Option<Wait> {
        let &Use::Wait(latch) = self else { return None };
        let (name, count) = (at.locals.name_of(latch), at.state.latch(latch).count());
        let counts = if count == 1 { "count is" } else { "counts are" };
        let words = format!("latch {name}: {count} {counts} missing");
        let helpers = at.suppliers(Touch::new(latch.lane(), May::Add));
        // A process may count down more than once.
        Some(Wait::for_one(words, helpers, || "no process that is left counts it down".into()))
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let last = past.needed(to).into_iter().max();
        Arrow::all(past.of_others(last, to), to, ArrowKind::Barrier)
    }
}

/// The number of missing counts.
pub(super) fn now<S: System>(at: &Replay<'_, S>, latch: LatchId) -> Vec<Named> {
    let count = at.state.latch(latch).count();
    vec![(format!("latch {}", at.locals.name_of(latch)), count.to_string())]
}

/// The latch was counted down more often than its size.
pub(super) fn overrun<S: System>(locals: &Locals<'_, S>, size: u32, latch: LatchId) -> Failure {
    let name = locals.name_of(latch);
    let message =
        format!("latch {name} is counted down more than {size} times, which is its count");
    Failure { kind: FailureKind::Error, message, site: None }
}
