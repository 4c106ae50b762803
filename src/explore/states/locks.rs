//! Locks as printed: one transition, disabled while the mutex is taken
//! ([`Stateful::as_printed`](super::settings::Stateful::as_printed)).

use super::cursor::Cursor;
use super::depth_first::DepthFirst;
use crate::model::{Handle, MutexId, Op, ProcessId, Response, System};

impl<S: System> DepthFirst<'_, S> {
    /// The mutex that the process is about to lock, if the lock is a single transition.
    pub(super) fn blocking_lock(&mut self, process: ProcessId) -> Option<MutexId> {
        if !self.settings.as_printed {
            return None;
        }
        let Cursor { state, locals, .. } = &mut self.cursor;
        let local = state.local(process);
        let Some(&Op::AsyncLock(mutex)) = locals.op(local) else { return None };
        let request = Response::Posted(Handle(state.posted_count(process)));
        let after = locals.resume(local, request);
        waits_for(locals.op(after), mutex).then_some(mutex)
    }
}

/// Does the operation wait for this mutex, and no other?
fn waits_for(op: Option<&Op>, mutex: MutexId) -> bool {
    matches!(op, Some(Op::MutexWaitAny(requests))
        if matches!(**requests, [request] if request.mutex == mutex))
}
