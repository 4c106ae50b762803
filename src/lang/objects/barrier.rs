//! Reusable barriers. A process may arrive several times before it waits; each wait is for the next
//! of its rounds.

use super::{Act, Description, Form, Number, ObjectKind, Word};
use crate::model::{BarrierId, May, Op, Touch};

/// More participants than this are regarded as a mistake.
const MAX_PARTICIPANTS: i64 = 1_000_000;

/// What a process counts at a barrier: its arrivals, and the rounds that it has waited for.
const ARRIVED: u8 = 0;
const PASSED: u8 = 1;

pub(crate) static DESCRIPTION: Description = Description {
    usage: "it is used by `barrier(barrier)`",
    number: Some(Number {
        form: Form::Parentheses,
        example: "barrier b(2);",
        what: "the number of participants",
        bounds: (1, MAX_PARTICIPANTS),
    }),
    declare: Some(|all, new| new.add_to(&mut all.barriers, new.number)),
    words: &[
        Word::new("async_barrier(barrier)", &ARRIVE),
        Word::new("barrier_wait(barrier)", &WAIT),
        Word::both("barrier(barrier)", &ARRIVE, &WAIT),
    ],
    slips: &[],
    ..Description::new("barrier", ("barrier", "barriers"), |all| all.barriers.len())
};

static ARRIVE: Act = Act {
    learn: |answer| answer.books.count_up(ObjectKind::Barrier, answer.object(), ARRIVED),
    touches: &[|id| Touch::new(BarrierId(id).lane(), May::Add)],
    always_changes: true,
    ..Act::new(ObjectKind::Barrier, |by| {
        let round = by.books.count(ObjectKind::Barrier, by.object(), ARRIVED);
        Ok(Op::Arrive { barrier: BarrierId(by.object()), round })
    })
};

static WAIT: Act = Act {
    learn: |answer| answer.books.count_up(ObjectKind::Barrier, answer.object(), PASSED),
    ..Act::new(ObjectKind::Barrier, |by| {
        let barrier = BarrierId(by.object());
        let [arrived, round] =
            [ARRIVED, PASSED].map(|what| by.books.count(ObjectKind::Barrier, barrier.0, what));
        if round >= arrived {
            let name = by.objects.barriers.name(barrier.0);
            return Err(format!("waits at the barrier `{name}`, where it has not arrived"));
        }
        Ok(Op::BarrierWait { barrier, round })
    })
};
