//! Mutexes. A process is in the queue of a mutex at most once.

use super::{Act, Caller, Description, Does, Gives, ObjectKind, Takes, Uses, Word};
use super::{ended, granted, number, requested};
use crate::lang::diagnostic::Diagnostic;
use crate::model::{Asking, May, MutexId, Objects, Op, Request, Touch, Value};

pub(crate) static DESCRIPTION: Description = Description {
    usage: "it is used by `lock(mutex)` and `unlock(mutex)`",
    declare: Some(|all, new| new.add_to(&mut all.mutexes, Asking::Queues)),
    words: &[
        Word::new("async_lock(mutex)", &REQUEST),
        Word::new("mutex_wait(mutex)", &WAIT),
        Word { takes: Takes::Objects, ..Word::new("mutex_waitany([mutex, …])", &WAIT_ANY) },
        Word::new("mutex_test(mutex)", &TEST),
        Word { takes: Takes::Objects, ..Word::new("mutex_testany([mutex, …])", &TEST_ANY) },
        Word::both("lock(mutex)", &REQUEST, &WAIT),
        Word::new("try_lock(mutex)", &TRY),
        Word::new("unlock(mutex)", &UNLOCK),
    ],
    finish,
    keyword_slips: &[("lock Mutex monitor", "a lock is declared `mutex m;`")],
    slips: &[
        ("mutex_lock pthread_mutex_lock", "a mutex is taken with `lock(mutex)`"),
        (
            "trylock mutex_trylock pthread_mutex_trylock mutex_try_lock",
            "`try_lock(mutex)` takes a mutex if no process owns it or waits for it",
        ),
        ("mutex_unlock pthread_mutex_unlock", "a mutex is released with `unlock(mutex)`"),
    ],
    ..Description::new("mutex", ("mutex", "mutexes"), |all| all.mutexes.len())
};

pub(crate) static REQUEST: Act = Act {
    learn: requested,
    touches: &[|id| Touch::new(MutexId(id).requests(), May::Change)],
    always_changes: true,
    ..Act::new(ObjectKind::Mutex, |by| Ok(Op::AsyncLock(not_requested(by, "requests")?)))
};

pub(crate) static WAIT: Act = Act {
    learn: granted,
    ..Act::new(ObjectKind::Mutex, |by| Ok(Op::MutexWaitAny(requests(by, "waits for")?)))
};

static WAIT_ANY: Act = Act {
    arity: None,
    gives: Gives::Place,
    learn: granted,
    ..Act::new(ObjectKind::Mutex, WAIT.op)
};

static TEST: Act = Act {
    gives: Gives::Bool,
    learn: granted,
    touches: &[|id| Touch::new(MutexId(id).queue(), May::NotYet)],
    ..Act::new(ObjectKind::Mutex, |by| Ok(Op::MutexTestAny(requests(by, "tests")?)))
};

static TEST_ANY: Act = Act {
    arity: None,
    gives: Gives::Place,
    learn: granted,
    touches: TEST.touches,
    ..Act::new(ObjectKind::Mutex, TEST.op)
};

static TRY: Act = Act {
    gives: Gives::Bool,
    learn: |answer| {
        requested(answer);
        answer.books.granted(ObjectKind::Mutex, answer.object());
    },
    touches: &[
        |id| Touch::new(MutexId(id).queue(), May::Look),
        |id| Touch::new(MutexId(id).queue(), May::Change),
    ],
    ..Act::new(ObjectKind::Mutex, |by| Ok(Op::TryLock(not_requested(by, "tries to lock")?)))
};

pub(crate) static UNLOCK: Act = Act {
    learn: ended,
    touches: &[
        |id| Touch::new(MutexId(id).queue(), May::Turn),
        |id| Touch::new(MutexId(id).queue(), May::Change),
    ],
    always_changes: true,
    ..Act::new(ObjectKind::Mutex, |by| Ok(Op::Unlock(request(by, &by.args[0], "unlocks")?)))
};

/// Its mutex, if the process, which `does` this, is not in the queue.
fn not_requested(by: &Caller<'_>, does: &str) -> Result<MutexId, String> {
    let mutex = MutexId(by.object());
    if by.request().is_some() {
        let name = by.objects.mutexes.name(mutex.0);
        return Err(format!("{does} the mutex `{name}`, which it has requested already"));
    }
    Ok(mutex)
}

/// The request for this mutex of the process, which `does` this.
fn request(by: &Caller<'_>, mutex: &Value, does: &str) -> Result<Request, String> {
    let mutex = MutexId(number(mutex));
    let handle = by.books.request(ObjectKind::Mutex, mutex.0).ok_or_else(|| {
        let name = by.objects.mutexes.name(mutex.0);
        format!("{does} the mutex `{name}`, which it has not requested")
    })?;
    Ok(Request { mutex, handle })
}

fn requests(by: &Caller<'_>, does: &str) -> Result<Box<[Request]>, String> {
    by.args.iter().map(|mutex| request(by, mutex, does)).collect()
}

/// Notes whether the mutexes are tried. A request in the queue of such a mutex cannot be tested.
fn finish(all: &mut Objects, uses: &Uses<'_>) -> Option<Diagnostic> {
    let tried = uses.first_of(&["try_lock"])?;
    all.mutexes.restart(uses.base, Asking::Tries);
    let tested = uses.first_of(&["mutex_test", "mutex_testany"])?;
    let name = uses.name;
    let message =
        format!("the mutex `{name}` is asked for by `try_lock`, so its requests cannot be tested");
    let hint = "wait for a request with `mutex_wait`, or ask for the mutex by `try_lock` instead \
                of `async_lock`";
    Some(Diagnostic::error(tested, message).hint(hint).also(tried, "tried here"))
}

/// Does the word ask for a mutex without waiting for it?
pub(crate) fn only_requests(word: &Word) -> bool {
    matches!(word.does, Does::Act(act) if *act == REQUEST)
}
