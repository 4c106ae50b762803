//! What is known about the processes of a system before they run: the interface to static analysis.
//! All of it is optional. With less of it, searches do more work and explanations say less.

use super::{Envelope, Handle, MailboxId, Reach, Symmetry, Touch};

/// A place in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    /// The declaration of the process.
    pub declaration: u32,
    /// The instance of this declaration.
    pub instance: i64,
    /// The instruction.
    pub instruction: u32,
    /// The number of the object that the instruction operates on, if it is known.
    pub object: Option<i64>,
}

/// What is known about processes with local states `L`.
pub trait Foresight<L> {
    /// May the process in this local state, or one that it spawns, ever touch this? May
    /// over-approximate. The answer is equal in all local states of a process. Used to explain
    /// deadlocks and to find out which objects are shared.
    fn may_touch(&self, local: &L, touch: Touch) -> bool {
        let _ = (local, touch);
        true
    }

    /// May this process, or one that it spawns, ever send a message to this p2p mailbox that the
    /// pattern accepts? May over-approximate. Used to explain deadlocks where
    /// [`reach`](Foresight::reach) is not known.
    fn may_send(&self, local: &L, mailbox: MailboxId, pattern: Envelope) -> bool {
        let _ = (local, mailbox, pattern);
        true
    }

    /// What the process in this local state, or one that it spawns, may still touch. May
    /// over-approximate. `None` if nothing better is known than
    /// [`may_touch`](Foresight::may_touch).
    fn reach(&self, local: &L) -> Option<Reach> {
        let _ = local;
        None
    }

    /// The place of a process in its program in this local state; `None` if it is not known, or if
    /// the process is at no operation.
    fn point(&self, local: &L) -> Option<Point> {
        let _ = local;
        None
    }

    /// What a process at this point may still touch, as [`reach`](Foresight::reach), but in any
    /// local state at this point. `local` is one of these local states.
    fn reach_from(&self, point: Point, local: &L) -> Option<Reach> {
        let _ = (point, local);
        None
    }

    /// May some process ever spawn another one? Actors are not meant: see
    /// [`Actors::may_spawn`](super::Actors::may_spawn).
    fn may_spawn(&self) -> bool {
        true
    }

    /// May the process come back to this local state by operations that change no object? May
    /// over-approximate. If `false`, the search for waiting loops (`trace::spin`) skips
    /// this local state.
    fn may_return(&self, local: &L) -> bool {
        let _ = local;
        true
    }

    /// May a process ever unlock a request for a mutex that it has neither waited for nor
    /// successfully tested?
    fn may_cancel(&self) -> bool {
        true
    }

    /// The local state with its requests renumbered, and the handles of these requests before. Only
    /// requests that the future of the process may depend on are listed; they are numbered from 0,
    /// the oldest first. `None` if this is not known, so that any request may matter.
    ///
    /// Two local states that become equal in this way have the same future, if their requests had
    /// the same outcomes. All listed requests for mutexes and reader-writer locks are still in the
    /// queue.
    fn canonical(&self, local: &L) -> Option<(L, Vec<Handle>)> {
        let _ = local;
        None
    }

    /// The local state without what no future depends on, such as the values of variables that are
    /// never read again; `None` if it has no part that is known to be irrelevant.
    ///
    /// Two local states that become equal in this way have the same future.
    fn without_dead(&self, local: &L) -> Option<L> {
        let _ = local;
        None
    }

    /// Which processes differ only in their index, if any do.
    fn symmetry(&self) -> Option<&dyn Symmetry<L>> {
        None
    }

    /// Does a local state contain everything that the process ever observed? If `true`, executions
    /// that differ in more than the order of independent actions never reach a common state, so
    /// storing states gains nothing.
    fn remembers_all(&self) -> bool {
        false
    }

    /// May a local state hold a [`ValueId`](super::ValueId)? If not, searches forget values that
    /// nobody needs any more, and their ids come to stand for other values.
    fn holds_values(&self) -> bool {
        true
    }
}
