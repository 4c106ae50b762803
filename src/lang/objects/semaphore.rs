//! Counting semaphores. A process may have several requests for one at a time; it waits for the
//! oldest.

use super::{Act, Description, Form, Number, ObjectKind, Word, ended, requested};
use crate::model::{May, Op, SemaphoreId, Touch};

pub(crate) static DESCRIPTION: Description = Description {
    usage: "it is used by `acquire(semaphore)` and `release(semaphore)`",
    number: Some(Number {
        form: Form::Equals,
        example: "semaphore slots = 1;",
        what: "the number of units",
        bounds: (0, u32::MAX as i64),
    }),
    declare: Some(|all, new| new.add_to(&mut all.semaphores, new.number)),
    words: &[
        Word::new("async_acquire(semaphore)", &REQUEST),
        Word::new("acquire_wait(semaphore)", &WAIT),
        Word::both("acquire(semaphore)", &REQUEST, &WAIT),
        Word::new("release(semaphore)", &RELEASE),
    ],
    keyword_slips: &[("sem Semaphore", "a semaphore is declared `semaphore s = 1;`")],
    slips: &[
        (
            "post V up",
            "a semaphore does this: `release(semaphore)` wakes a process that waits in `acquire(semaphore)`",
        ),
        ("P down", "a unit of a semaphore is taken with `acquire(semaphore)`"),
    ],
    ..Description::new("semaphore", ("semaphore", "semaphores"), |all| all.semaphores.len())
};

static REQUEST: Act = Act {
    learn: requested,
    touches: &[|id| Touch::new(SemaphoreId(id).acquires(), May::Change)],
    always_changes: true,
    ..Act::new(ObjectKind::Semaphore, |by| Ok(Op::AsyncAcquire(SemaphoreId(by.object()))))
};

static WAIT: Act = Act {
    learn: ended,
    ..Act::new(ObjectKind::Semaphore, |by| {
        let semaphore = SemaphoreId(by.object());
        let handle = by.request().ok_or_else(|| {
            let name = by.objects.semaphores.name(semaphore.0);
            format!("waits for the semaphore `{name}`, which it has not requested")
        })?;
        Ok(Op::AcquireWait { semaphore, handle })
    })
};

static RELEASE: Act = Act {
    touches: &[|id| Touch::new(SemaphoreId(id).releases(), May::Change)],
    always_changes: true,
    ..Act::new(ObjectKind::Semaphore, |by| Ok(Op::Release(SemaphoreId(by.object()))))
};
