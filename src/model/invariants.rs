//! What must hold in every state.

use super::{CellId, Contents, Failure, MailboxId, ProcessId, Value};

/// The part of a state that an invariant may read.
pub struct View<'a, L> {
    /// The local state of each process that exists, in order of `ProcessId`.
    pub locals: &'a [Option<&'a L>],
    /// The content of each declared cell.
    pub cells: Contents<'a>,
    /// For each declared mailbox, the number of messages that are sent and not yet paired.
    pub lengths: &'a dyn Fn(MailboxId) -> usize,
}

/// The invariants of a system with local states `L`. They are numbered from 0.
///
/// # Contract
///
/// The verdict of an invariant depends only on what it *sees*: the contents of cells, the lengths
/// of mailboxes, and the parts of local states that [`tells`](Invariants::tells) compares. It sees
/// only processes that exist from the start.
pub trait Invariants<L> {
    /// The number of invariants.
    fn count(&self) -> usize;

    /// The failure of this invariant in a state, if it does not hold there.
    fn judge(&self, invariant: usize, at: &View<'_, L>) -> Option<Failure>;

    /// What the invariant has read before it failed, with names, the most informative first; `None`
    /// if it does not fail.
    fn readings(&self, invariant: usize, at: &View<'_, L>) -> Option<Vec<(String, Value)>>;

    /// Does it see this cell?
    fn sees_cell(&self, invariant: usize, cell: CellId) -> bool;

    /// Does it see the length of this mailbox?
    fn sees_mailbox(&self, invariant: usize, mailbox: MailboxId) -> bool;

    /// May it distinguish local states of the process that has this one? Asked so that few
    /// invariants are compared after a step.
    fn may_tell(&self, invariant: usize, process: ProcessId, local: &L) -> bool {
        let _ = (invariant, process, local);
        true
    }

    /// Does it distinguish these local states of the process?
    fn tells(&self, invariant: usize, process: ProcessId, before: &L, after: &L) -> bool;

    /// Does it see only one cell, or only one process? Then the changes that it sees have the same
    /// order in all executions of a class.
    fn sees_one_thing(&self, invariant: usize) -> bool;
}
