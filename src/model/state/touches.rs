//! What operations in a state watch, and what the last action touched: see [`crate::model::Touch`].

use super::{Done, State};
use crate::model::{End, Handle, Locals, Op, Posted, ProcessId, Request, Status, System, Touch};

impl State {
    /// Calls `each` with all that the operation of `process`, which is enabled, watches here. Nothing: it is
    /// independent of whatever other processes may do before it.
    pub fn watches<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
        mut each: impl FnMut(Touch),
    ) {
        let status = locals.shared_status(self.local(process));
        let Status::At(op) = &*status else { panic!("{process:?} has ended and does nothing") };
        match *op {
            Op::WaitAny(ref comms) | Op::TestAny(ref comms) => {
                let open =
                    comms.iter().filter(|&&comm| self.communication(process, comm).3.is_none());
                open.for_each(|&comm| each(self.awaited(process, comm)));
            }
            Op::MutexWaitAny(ref requests) | Op::MutexTestAny(ref requests) => {
                let open = requests.iter().filter(|&&request| !self.owns(process, request));
                open.for_each(|request| each(Touch::AwaitUnlock(request.mutex)));
            }
            Op::Handle { .. } => each(Touch::Listen(process)),
            Op::Access(cell, access) => {
                let (_, new) = access.apply(self.content(cell), &mut locals.values);
                each(if new.is_some() { Touch::Write(cell) } else { Touch::Read(cell) });
            }
            // It commutes with everything.
            Op::Arrive { .. } => {}
            ref op => self.posted_touch(locals, op).into_iter().for_each(each),
        }
    }

    /// Calls `each` with all that the last action touched.
    ///
    /// # Panics
    /// In an initial state.
    pub fn touches<S: System>(&self, locals: &Locals<'_, S>, mut each: impl FnMut(Touch)) {
        let &Done { action, before, changed, messages, .. } = self.trail.last().expect("an action");
        let Status::At(op) = locals.status(before) else {
            panic!("{:?} moved after it had ended", action.process);
        };
        match *op {
            // What a test comes to may be different after what watches this.
            Op::TestAny(ref comms) => {
                comms.iter().for_each(|&comm| each(self.awaited(action.process, comm)));
            }
            Op::MutexTestAny(ref requests) => {
                requests.iter().for_each(|&Request { mutex, .. }| each(Touch::AwaitUnlock(mutex)));
            }
            Op::Handle { .. } => {
                let sent = &self.inboxes.log()[messages as usize..];
                sent.iter().for_each(|message| each(Touch::Tell(message.to)));
            }
            Op::Access(cell, _) => {
                each(if changed { Touch::Write(cell) } else { Touch::Read(cell) });
            }
            ref op => self.posted_touch(locals, op).into_iter().for_each(each),
        }
    }

    /// The post that completes this communication of `process`.
    fn awaited(&self, process: ProcessId, comm: Handle) -> Touch {
        match self.posted(process, comm) {
            Posted::At(mailbox, end, _) => Touch::AwaitPost(mailbox, end.opposite()),
            other => panic!("{comm:?} of {process:?} is no communication but {other:?}"),
        }
    }

    /// The touch of an operation that is the same wherever it is executed.
    fn posted_touch<S: System>(&self, locals: &Locals<'_, S>, op: &Op) -> Option<Touch> {
        match *op {
            Op::Isend { mailbox, .. } => Some(Touch::Post(mailbox, End::Send)),
            Op::Irecv { mailbox, .. } => Some(Touch::Post(mailbox, End::Receive)),
            Op::AsyncLock(mutex) => Some(Touch::Lock(mutex)),
            Op::Unlock(Request { mutex, .. }) if locals.system().may_cancel() => {
                Some(Touch::Cancel(mutex))
            }
            Op::Unlock(Request { mutex, .. }) => Some(Touch::Unlock(mutex)),
            Op::AsyncAcquire(semaphore) => Some(Touch::Acquire(semaphore)),
            Op::Release(semaphore) => Some(Touch::Release(semaphore)),
            Op::Arrive { barrier, .. } => Some(Touch::Arrive(barrier)),
            Op::AcquireWait { .. }
            | Op::BarrierWait { .. }
            | Op::Choose { .. }
            | Op::Local
            | Op::Spawn(_)
            | Op::Join(_)
            | Op::WaitAny(_)
            | Op::MutexWaitAny(_) => None,
            Op::TestAny(_) | Op::MutexTestAny(_) | Op::Handle { .. } | Op::Access(..) => {
                unreachable!("what {op:?} touches depends on the state")
            }
        }
    }
}
