//! What must hold in every state.

use super::{CellId, Contents, Failure, MailboxId, ProcessId, Value};

/// What an invariant may look at: a state.
pub struct View<'a, L> {
    /// The local state of each process that exists, in order of `ProcessId`.
    pub locals: &'a [Option<&'a L>],
    /// The content of each declared cell.
    pub cells: Contents<'a>,
    /// For each declared mailbox the messages that are sent and not yet paired.
    pub lengths: &'a dyn Fn(MailboxId) -> usize,
}

/// The invariants of a system with local states `L`. They are numbered from 0.
///
/// # Contract
///
/// What an invariant says depends only on what it *sees*: the contents of the cells, the lengths of the mailboxes, and
/// that of the local states of processes which [`tells`](Invariants::tells) compares. It sees only processes that exist
/// from the start.
pub trait Invariants<L> {
    /// How many there are.
    fn count(&self) -> usize;

    /// What this one objects to in a state.
    fn judge(&self, invariant: usize, at: &View<'_, L>) -> Option<Failure>;

    /// What the judgement has read before it failed, with names, the most telling first; `None` if it does not fail.
    fn readings(&self, invariant: usize, at: &View<'_, L>) -> Option<Vec<(String, Value)>>;

    /// Does it see this cell?
    fn sees_cell(&self, invariant: usize, cell: CellId) -> bool;

    /// Does it see the length of this mailbox?
    fn sees_mailbox(&self, invariant: usize, mailbox: MailboxId) -> bool;

    /// Does it tell these local states of the process apart?
    fn tells(&self, invariant: usize, process: ProcessId, before: &L, after: &L) -> bool;

    /// Is all that it sees one cell, or of one process? Then all that changes it is in one order in every class of
    /// executions.
    fn sees_one_thing(&self, invariant: usize) -> bool;
}
