//! What destructors ask for while a thread unwinds.
//!
//! A thread that unwinds cannot leave its stack: that there is a panic is known to a thread of the
//! operating system, and others of the program run in the same one. So a destructor that is called
//! in a panic gets no outcomes. What it gives back and tells others is done later, when the panic
//! is caught: others could have seen it later, too. What it locks, it locks in memory only, and all
//! else it asks for is left out. If the panic is not caught, it is a violation anyway. If it is,
//! the thread fails with a message that says so: what it has done then is no execution of the
//! program. If it cannot go on, or asks for more and more, it fails at once (`watch`).

use super::ask::{Running, Wanted, leave};
use crate::model::{Access, Handle, Op, Request};
use crate::systems::history::{Asked, Told};

/// Stands for a request that was not made, or is made later.
pub(super) const NO_REQUEST: Handle = Handle(u32::MAX);

/// What a destructor asks for in a panic.
pub(super) fn defer(running: &Running, wanted: Wanted) -> Option<Told> {
    let is_done_later = match &wanted.asked {
        Asked::Op { op, .. } => match op {
            Op::Notify { .. } | Op::Wake { .. } => true,
            Op::Unlock(Request { handle, .. }) | Op::RwUnlock { handle, .. } => {
                *handle != NO_REQUEST
            }
            Op::Access(_, Access::Write(_)) => true,
            _ => false,
        },
        _ => false,
    };
    if is_done_later {
        running.deferred.borrow_mut().push(wanted);
        return None;
    }
    running.leaves_out();
    let Asked::Op { op, .. } = &wanted.asked else { return None };
    let is_request = matches!(op, Op::AsyncLock(_) | Op::RwRequest { .. } | Op::Enrol(_));
    is_request.then_some(Told::Posted(NO_REQUEST))
}

/// Does what destructors have left to be done in a panic, once it is caught.
pub(super) fn do_deferred() {
    let mut notified = NO_REQUEST;
    loop {
        let deferred = Running::current().deferred.take();
        if deferred.is_empty() {
            return;
        }
        for mut wanted in deferred {
            if let Asked::Op { op: Op::Wake { handle, .. }, .. } = &mut wanted.asked {
                *handle = notified;
            }
            if let Some(Told::Posted(handle)) = leave(wanted) {
                notified = handle;
            }
        }
    }
}

/// Is the running thread unwinding? Then what it is about to do is left out.
pub(super) fn leaves_out() -> bool {
    let is_unwinding = std::thread::panicking();
    if is_unwinding {
        Running::try_current().inspect(|running| running.leaves_out());
    }
    is_unwinding
}

impl Running {
    fn leaves_out(&self) {
        self.has_left_out.set(true);
        self.asks_in_vain();
    }

    /// # Panics
    /// If the program has caught a panic in which something was left out.
    pub(super) fn has_caught_too_much(&self) {
        let what = "the program catches a panic in which a destructor does what needs an outcome: \
                    it locks, waits, reads, updates, tries, spawns or joins, or drops a handle that \
                    is counted";
        assert!(!self.has_left_out.take(), "{what}: that is not supported");
    }
}
