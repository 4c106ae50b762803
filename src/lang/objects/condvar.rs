//! Condition variables. A process is enrolled at one, or wakes others there, at most once at a
//! time. If it crashed while it was enrolled, and starts again, it no longer waits for that
//! enrolment: another one, or a notification, takes its place in the books.

use super::{
    Act, Answer, Description, Does, Form, Gives, Number, ObjectKind, Param, Step, Takes, Word,
};
use super::{ended, mutex, number, requested};
use crate::model::{CondvarId, May, Op, Response, Touch};

/// What a process counts there: its waits that have ended without a notification.
const STRAYS: u8 = 0;

pub(crate) static DESCRIPTION: Description = Description {
    usage: "it is used by `cond_wait(condvar, mutex)`, `notify_one(condvar)` and \
            `notify_all(condvar)`",
    number: Some(Number {
        form: Form::After("spurious"),
        example: "condvar c spurious 1;",
        what: "the number of spurious wake-ups",
        bounds: (0, 1_000),
    }),
    declare: Some(|all, new| new.add_to(&mut all.condvars, ())),
    words: &[
        Word {
            usage: "cond_wait(condvar, mutex)",
            takes: Takes::Object(&[Param::Object(ObjectKind::Mutex)]),
            does: Does::Steps(&[
                Step::If(
                    &STRAY,
                    &[Step::Do(&mutex::UNLOCK, &[1])],
                    &[
                        Step::Do(&ENROL, &[0, 1]),
                        Step::Do(&mutex::UNLOCK, &[1]),
                        Step::Do(&AWAIT_WAKE, &[0]),
                    ],
                ),
                Step::Do(&mutex::REQUEST, &[1]),
                Step::Do(&mutex::WAIT, &[1]),
            ]),
        },
        Word::both("notify_one(condvar)", &NOTIFY_ONE, &WAKE),
        Word::both("notify_all(condvar)", &NOTIFY_ALL, &WAKE),
    ],
    keyword_slips: &[(
        "cond condition cv Condvar condition_variable",
        "a condition variable is declared `condvar c;`",
    )],
    slips: &[(
        "notify signal notifyAll broadcast pthread_cond_signal pthread_cond_broadcast cond_signal \
         cond_broadcast",
        "processes that wait at a condition variable are woken by `notify_one(condvar)` or \
         `notify_all(condvar)`",
    )],
    ..Description::new("condvar", ("condition variable", "condition variables"), |all| {
        all.condvars.len()
    })
};

/// Does the wait end without a notification? At most as often as the declaration says.
static STRAY: Act = Act {
    gives: Gives::Bool,
    learn: |answer| {
        if answer.response == Response::Chosen(1) {
            answer.books.count_up(ObjectKind::Condvar, answer.object(), STRAYS);
        }
    },
    ..Act::new(ObjectKind::Condvar, |by| {
        let left = by.books.count(ObjectKind::Condvar, by.object(), STRAYS) < by.declared;
        Ok(Op::Choose { lo: 0, hi: 1 + i64::from(left) })
    })
};

/// This request takes the place of an earlier one.
fn requested_anew(answer: &mut Answer<'_>) {
    ended(answer);
    requested(answer);
}

static ENROL: Act = Act {
    arity: Some(2),
    learn: requested_anew,
    touches: &[|id| Touch::new(CondvarId(id).notes(), May::Look)],
    always_changes: true,
    ..Act::new(ObjectKind::Condvar, |by| {
        let (condvar, mutex) = (by.object(), number(&by.args[1]));
        if !by.books.is_granted(ObjectKind::Mutex, mutex) {
            let condvar = by.objects.condvars.name(condvar);
            let mutex = by.objects.mutexes.name(mutex);
            return Err(format!("waits at `{condvar}` without having locked the mutex `{mutex}`"));
        }
        Ok(Op::Enrol(CondvarId(condvar)))
    })
};

static AWAIT_WAKE: Act = Act {
    learn: ended,
    ..Act::new(ObjectKind::Condvar, |by| {
        let handle = by.request().expect("it has just enrolled");
        Ok(Op::AwaitWake { condvar: CondvarId(by.object()), handle })
    })
};

static NOTIFY_ONE: Act = Act {
    learn: requested_anew,
    touches: &[|id| Touch::new(CondvarId(id).notes(), May::Change)],
    always_changes: true,
    ..Act::new(ObjectKind::Condvar, |by| {
        Ok(Op::Notify { condvar: CondvarId(by.object()), all: false })
    })
};

static NOTIFY_ALL: Act = Act {
    learn: requested_anew,
    touches: NOTIFY_ONE.touches,
    always_changes: true,
    ..Act::new(ObjectKind::Condvar, |by| {
        Ok(Op::Notify { condvar: CondvarId(by.object()), all: true })
    })
};

pub(crate) static WAKE: Act = Act {
    learn: ended,
    always_changes: true,
    ..Act::new(ObjectKind::Condvar, |by| {
        let handle = by.request().expect("it has just notified");
        Ok(Op::Wake { condvar: CondvarId(by.object()), handle })
    })
};
