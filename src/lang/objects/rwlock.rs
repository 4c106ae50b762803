//! Reader-writer locks. A process has one request at a time for each.

use super::{Act, Caller, Description, ObjectKind, Word, ended, requested};
use crate::model::{Handle, Hold, May, Op, RwLockId, Touch};

pub(crate) static DESCRIPTION: Description = Description {
    short: "lock",
    usage: "it is used by `read_lock(lock)` or `write_lock(lock)`, and `unlock(lock)`",
    declare: Some(|all, new| new.add_to(&mut all.rwlocks, ())),
    words: &[
        Word::both("read_lock(lock)", &READ, &WAIT),
        Word::both("write_lock(lock)", &WRITE, &WAIT),
        Word::new("unlock(lock)", &UNLOCK),
    ],
    keyword_slips: &[(
        "rw_lock RwLock RWMutex shared_mutex",
        "a reader-writer lock is declared `rwlock r;`",
    )],
    slips: &[
        (
            "rdlock rlock RLock pthread_rwlock_rdlock lock_shared",
            "a reader-writer lock is taken with `read_lock(lock)`",
        ),
        (
            "wrlock wlock pthread_rwlock_wrlock",
            "a reader-writer lock is taken with `write_lock(lock)`",
        ),
        (
            "read_unlock write_unlock rw_unlock pthread_rwlock_unlock",
            "a reader-writer lock is released with `unlock(lock)`",
        ),
    ],
    ..Description::new("rwlock", ("reader-writer lock", "reader-writer locks"), |all| {
        all.rwlocks.len()
    })
};

static READ: Act = Act {
    learn: requested,
    touches: &[|id| Touch::new(RwLockId(id).turns(), May::Look)],
    always_changes: true,
    ..Act::new(ObjectKind::RwLock, |by| ask(by, Hold::Shared))
};

static WRITE: Act = Act {
    learn: requested,
    touches: &[|id| Touch::new(RwLockId(id).turns(), May::Change)],
    always_changes: true,
    ..Act::new(ObjectKind::RwLock, |by| ask(by, Hold::Exclusive))
};

static WAIT: Act = Act::new(ObjectKind::RwLock, |by| {
    let (lock, handle) = own(by, "waits for")?;
    Ok(Op::RwWait { lock, handle })
});

static UNLOCK: Act = Act {
    learn: ended,
    touches: &[|id| Touch::new(RwLockId(id).leaves(), May::Add)],
    always_changes: true,
    ..Act::new(ObjectKind::RwLock, |by| {
        let (lock, handle) = own(by, "unlocks")?;
        Ok(Op::RwUnlock { lock, handle })
    })
};

fn ask(by: &Caller<'_>, hold: Hold) -> Result<Op, String> {
    let lock = RwLockId(by.object());
    if by.request().is_some() {
        let name = by.objects.rwlocks.name(lock.0);
        return Err(format!("requests the lock `{name}`, which it has already"));
    }
    Ok(Op::RwRequest { lock, hold })
}

/// The request of the process, which `does` this.
fn own(by: &Caller<'_>, does: &str) -> Result<(RwLockId, Handle), String> {
    let lock = RwLockId(by.object());
    let handle = by.request().ok_or_else(|| {
        let name = by.objects.rwlocks.name(lock.0);
        format!("{does} the lock `{name}`, which it does not have")
    })?;
    Ok((lock, handle))
}
