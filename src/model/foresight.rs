//! What can be told of the processes of a system before they run. All of it is optional: with less of it searches do
//! more, and explanations say less.

use super::{Handle, Reach, Touch};

/// What is known of processes with local states `L`.
pub trait Foresight<L> {
    /// May the process that is in this local state, or one that it spawns, ever touch this? An over-approximation,
    /// the same in all local states of a process: it explains deadlocks, and tells what is shared at all.
    fn may_touch(&self, local: &L, touch: Touch) -> bool {
        let _ = (local, touch);
        true
    }

    /// What the process in this local state, or one that it spawns, may still touch; an over-approximation, and `None` if
    /// nothing better is known than what [`may_touch`](Foresight::may_touch) says.
    fn reach(&self, local: &L) -> Option<Reach> {
        let _ = local;
        None
    }

    /// May the process that is in this local state come back to it by operations that change no object? An
    /// over-approximation: where it says no, nobody looks for loops that wait ([`crate::trace::spin`]).
    fn may_return(&self, local: &L) -> bool {
        let _ = local;
        true
    }

    /// May a process ever unlock a request for a mutex without having waited until it was granted, or tested that
    /// it is?
    fn may_cancel(&self) -> bool {
        true
    }

    /// The local state with the requests that its future may depend on numbered from 0, in order of age, and
    /// which requests of the process these are; `None` if that is not known, and any may matter.
    ///
    /// Local states that become equal so, and whose requests went the same way, have the same future. All
    /// requests for mutexes that it lists are still in the queue.
    fn canonical(&self, local: &L) -> Option<(L, Vec<Handle>)> {
        let _ = local;
        None
    }
}
