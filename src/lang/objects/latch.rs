//! Latches: `count_down` is a count, and `wait` is over when all counts have come. One count more
//! than the latch has is an error.

use super::{Act, Description, Form, Number, ObjectKind, Word};
use crate::model::{LatchId, May, Op, Touch};

/// More counts than this are regarded as a mistake.
const MAX_COUNTS: i64 = 1_000_000;

pub(crate) static DESCRIPTION: Description = Description {
    is_soft: true,
    usage: "it is used by `count_down(latch)` and `wait(latch)`",
    number: Some(Number {
        form: Form::Parentheses,
        example: "latch l(3);",
        what: "the number of counts",
        bounds: (0, MAX_COUNTS),
    }),
    declare: Some(|all, new| new.add_to(&mut all.latches, new.number)),
    words: &[Word::new("count_down(latch)", &COUNT_DOWN), Word::new("wait(latch)", &WAIT)],
    keyword_slips: &[("CountDownLatch countdown", "a latch is declared `latch l(3);`")],
    slips: &[("countdown countDown", "a latch is counted down with `count_down(latch)`")],
    ..Description::new("latch", ("latch", "latches"), |all| all.latches.len())
};

pub(crate) static COUNT_DOWN: Act = Act {
    touches: &[|id| Touch::new(LatchId(id).lane(), May::Add)],
    always_changes: true,
    ..Act::new(ObjectKind::Latch, |by| Ok(Op::CountDown(LatchId(by.object()))))
};

pub(crate) static WAIT: Act =
    Act::new(ObjectKind::Latch, |by| Ok(Op::LatchWait(LatchId(by.object()))));
