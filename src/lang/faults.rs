//! Faults: messages that are lost or doubled, networks that are cut, processes that crash,
//! receives that run into a timeout.
//!
//! Each fault is a *choice of one process*, made before an operation. So it depends on no other
//! process, and explorers need not know about faults:
//!
//! - A message is lost, or doubled, *when it is sent*. Nobody can observe when it is lost, so the
//!   other orders would be the same class. The send that is lost posts nothing, so no receive can
//!   get it.
//! - A process crashes *before an operation*: what it computes between two operations cannot be
//!   observed. It stops there, or starts again with its durable variables.
//! - A timeout is a poll that finds nothing (`iprobe`), which is always possible at p2p and bag
//!   mailboxes.
//!
//! **Budgets.** `up to 2` is a number that the process counts down itself, so budgets of different
//! processes are independent. `up to 2 in all` is shared. If each fault took from one object, all
//! faults would be ordered, and a process could choose a fault that is no longer left. Instead the
//! budget is *shared out before the program runs*: a hidden process chooses how many faults each
//! process may have, and the processes read their shares first. Then faults of different processes
//! are independent here, too. Each choice of shares uses up the whole budget, because a process
//! need not use its share; so executions with fewer faults are explored for several shares. (To
//! choose the outcome of a race beforehand is a prophecy variable: Abadi and Lamport, *The
//! existence of refinement mappings*, TCS 1991.) Actors need no shares: a hidden actor makes them
//! crash.

use crate::model::Incident;

/// A choice between going on and a fault. Its value is a number: 0 if the process goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// … → 0, or 1 if the process crashes
    Crash {
        /// Does it start again?
        restarts: bool,
    },
    /// may be lost, may be doubled → [`Fault::LOST`], [`Fault::DOUBLED`] or 0
    Message,
    /// … → 0, or the number of a cut
    Cut {
        /// The number of cuts, and 1.
        ways: u32,
    },
}

impl Fault {
    /// The process has crashed.
    pub(crate) const CRASHED: i64 = 1;
    /// The message is lost.
    pub(crate) const LOST: i64 = 1;
    /// The message is sent twice.
    pub(crate) const DOUBLED: i64 = 2;

    /// The number of values that it takes off the stack.
    pub(crate) fn arity(self) -> usize {
        match self {
            Fault::Crash { .. } | Fault::Cut { .. } => 0,
            Fault::Message => 2,
        }
    }

    /// The number of ways that a process has, of which the first one is to go on. `may` says which
    /// faults of a message are possible.
    pub(crate) fn ways(self, may: [bool; 2]) -> i64 {
        match self {
            Fault::Crash { .. } => 2,
            Fault::Cut { ways } => i64::from(ways),
            Fault::Message => 1 + may.into_iter().map(i64::from).sum::<i64>(),
        }
    }

    /// The value of the choice, if the process takes this way.
    pub(crate) fn value(self, may: [bool; 2], way: i64) -> i64 {
        match (self, may) {
            (Fault::Message, [false, _]) if way > 0 => Fault::DOUBLED,
            _ => way,
        }
    }

    /// What it means that the value of the choice is this one.
    pub(crate) fn incident(self, value: i64) -> Incident {
        match (self, value) {
            (Fault::Crash { .. }, 0) => Incident::Survival,
            (Fault::Crash { restarts }, _) => Incident::Crash { restarts },
            (Fault::Message, Fault::LOST) => Incident::Loss,
            (Fault::Message, Fault::DOUBLED) => Incident::Doubling,
            (Fault::Message, _) => Incident::Delivery,
            (Fault::Cut { .. }, 0) => Incident::Connection,
            (Fault::Cut { .. }, _) => Incident::Cut,
        }
    }
}
