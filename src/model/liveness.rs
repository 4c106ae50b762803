//! What must happen in the end: demands on endless executions, and which executions are fair.
//!
//! A *demand* speaks of infinite executions. An execution that ends stays in its last state for
//! ever: it *stutters* there. With P and Q for propositions on states:
//!
//! | [`Temporal`] | every fair execution | in linear temporal logic |
//! |---|---|---|
//! | `Eventually` | has a state with Q | ◇ Q |
//! | `AlwaysEventually` | has infinitely many states with Q | □ ◇ Q |
//! | `LeadsTo` | has, from each state with P on, a state with Q | □ (P → ◇ Q) |
//!
//! (Manna, Pnueli, *The temporal logic of reactive and concurrent systems*, 1992, section 4.2:
//! guarantee, recurrence, response.) A state with P and Q fulfils the demand at once.
//!
//! **Fairness** says which executions count (Lamport, *The temporal logic of actions*, TOPLAS 1994,
//! section 5.3). Let an action be something that is *possible* in a state or not, and is *taken* by
//! a step or not.
//!
//! - *Weakly fair*: an action that is possible from some state on for ever is taken infinitely
//!   often. By default each process is such an action: it is possible if the process has a step,
//!   and every step of the process takes it. So is each carrier of the network.
//! - *Strongly fair*: an action that is possible infinitely often is taken infinitely often. Which
//!   actions are, the program says: [`Liveness::fairness`], [`Liveness::is_strong`],
//!   [`Liveness::strong_handler`].
//!
//! An execution ends where no process has to move: in a terminal state; and where all that can move
//! are processes that [may stop](Fairness::MayStop).
//!
//! Fairness of a process does not say *which* of its steps it takes: a `choose` may always choose
//! the same, and a test that may find nothing may never find anything (but a process that only
//! polls waits for what it polls). A step that may be delayed for ever
//! ([`State::is_optional`](super::State::is_optional)) makes nothing possible in this sense: no
//! fairness forces it.

use super::{Failure, Object, ProcessId, Site, Stimulus, Value, Values, View};

/// The form of a demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Temporal {
    /// At some time the goal holds.
    Eventually,
    /// Again and again the goal holds.
    AlwaysEventually,
    /// Whenever the trigger holds, the goal holds then or later.
    LeadsTo,
}

/// What must happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Its form.
    pub pattern: Temporal,
    /// The number of the proposition P; `None` except for [`Temporal::LeadsTo`].
    pub trigger: Option<usize>,
    /// The number of the proposition Q.
    pub goal: usize,
    /// The demand in words, for people.
    pub text: String,
    /// Where it stands.
    pub site: Option<Site>,
}

/// How fair the executions that count are to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fairness {
    /// It may stop for ever, although it can move. If nothing else has to move, the execution ends.
    MayStop,
    /// It may wait for ever while others move. The execution does not end while it can move.
    Unfair,
    /// If it can move from some state on for ever, it moves infinitely often.
    Weak,
    /// If it can move infinitely often, it moves infinitely often.
    Strong,
}

/// The demands of a system with local states `L`, and its fairness. Demands and propositions are
/// numbered from 0.
///
/// # Contract
///
/// - A proposition depends only on the state that the [`View`] shows, and on nothing that a search
///   that stores states takes to be of no importance (see [`Foresight::canonical`]).
/// - The answers about fairness are the same in all local states of a process.
///
/// [`Foresight::canonical`]: super::Foresight::canonical
pub trait Liveness<L> {
    /// The number of demands.
    fn count(&self) -> usize;

    /// The demand with this number.
    fn demand(&self, number: usize) -> Demand;

    /// The number of propositions.
    fn propositions(&self) -> usize;

    /// Does the proposition hold in a state? It does not if it reads a variable that is not in
    /// scope there.
    ///
    /// # Errors
    /// A run-time error in it, which is a violation.
    fn holds(&self, proposition: usize, at: &View<'_, L>) -> Result<bool, Failure>;

    /// The values that the proposition has read in a state in which it does not hold, with names.
    fn readings(&self, proposition: usize, at: &View<'_, L>) -> Vec<(String, Value)>;

    /// How fair executions are to the process with this local state; for `None`, to the carriers of
    /// the network.
    fn fairness(&self, process: Option<&L>) -> Fairness;

    /// Is there an action that is strongly fair, besides processes?
    fn has_strong_actions(&self) -> bool;

    /// Are the actions at this object strongly fair? At a mutex or a cell there is one for each
    /// process: a step that changes the object. At a p2p or bag mailbox there is one for each
    /// sender: the match of a message of this sender.
    fn is_strong(&self, object: Object) -> bool;

    /// The number of the handler that an actor runs in this local state, if that is strongly fair:
    /// one action for each actor and handler.
    fn strong_handler(
        &self,
        own: ProcessId,
        local: &L,
        stimulus: Stimulus,
        values: &Values,
    ) -> Option<u32>;
}
