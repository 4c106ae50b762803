//! What is known about the processes of a system before they run. All of it is optional: with less of it, searches
//! do more work and explanations say less.

use super::{Envelope, Handle, MailboxId, Reach, Touch};

/// A place in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    /// Of which declaration of a process.
    pub declaration: u32,
    /// Of which of its instances.
    pub instance: i64,
    /// At which instruction.
    pub instruction: u32,
    /// The number of the object that the operation there is about, if it is known.
    pub object: Option<i64>,
}

/// What is known about processes with local states `L`.
pub trait Foresight<L> {
    /// May the process that is in this local state, or one that it spawns, ever touch this? The answer is an
    /// over-approximation, the same in all local states of a process. It explains deadlocks, and tells what is shared.
    fn may_touch(&self, local: &L, touch: Touch) -> bool {
        let _ = (local, touch);
        true
    }

    /// May this process, or one that it spawns, ever send a message to this p2p mailbox that the pattern accepts? The answer is an
    /// over-approximation. It explains deadlocks where [`reach`](Foresight::reach) knows nothing.
    fn may_send(&self, local: &L, mailbox: MailboxId, pattern: Envelope) -> bool {
        let _ = (local, mailbox, pattern);
        true
    }

    /// What the process in this local state, or one that it spawns, may still touch; an over-approximation, and `None` if
    /// nothing better is known than what [`may_touch`](Foresight::may_touch) says.
    fn reach(&self, local: &L) -> Option<Reach> {
        let _ = local;
        None
    }

    /// Where in its program a process in this local state is; `None` if that is not known, or if it is at no operation.
    fn point(&self, local: &L) -> Option<Point> {
        let _ = local;
        None
    }

    /// As [`reach`](Foresight::reach), but the same for all local states at this point, of which this is one.
    fn reach_from(&self, point: Point, local: &L) -> Option<Reach> {
        let _ = (point, local);
        None
    }

    /// May some process ever spawn another one? What actors do is told by [`Actors::may_spawn`](super::Actors::may_spawn).
    fn may_spawn(&self) -> bool {
        true
    }

    /// May the process that is in this local state come back to it by operations that change no object? The answer is an
    /// over-approximation: where it is no, nobody looks for loops that wait ([`crate::trace::spin`]).
    fn may_return(&self, local: &L) -> bool {
        let _ = local;
        true
    }

    /// May a process ever unlock a request for a mutex without having waited until it was granted, or tested that
    /// it is?
    fn may_cancel(&self) -> bool {
        true
    }

    /// The local state with its requests numbered anew, and which requests of the process these are. Only requests that
    /// its future may depend on count; they are numbered from 0, in order of age. `None` if that is not known, so
    /// that any request may matter.
    ///
    /// If two local states become equal in this way, and their requests went the same way, they have the same future.
    /// All requests for mutexes and reader-writer locks that are listed are still in the queue.
    fn canonical(&self, local: &L) -> Option<(L, Vec<Handle>)> {
        let _ = local;
        None
    }

    /// The local state without what no future depends on, such as the values of variables that are never read again;
    /// `None` if nothing of it is known not to matter.
    ///
    /// If two local states become equal in this way, they have the same future.
    fn without_dead(&self, local: &L) -> Option<L> {
        let _ = local;
        None
    }

    /// Is a local state all that the process was ever told? Then two executions that are not equal but for the order of
    /// independent actions meet in no state, and to store states gains nothing.
    fn remembers_all(&self) -> bool {
        false
    }
}
