//! The complete finite prefix as an explorer: verdicts from the unfolding itself, neither class by
//! class nor state by state.
//!
//! ```text
//! build the prefix                  crate::unfolding::prefix, of the system as a net (`net`)
//!   each event that fails a process is judged when it is added: its local configuration is the
//!   counterexample
//! ask for deadlocks, ends, ..       `answers`, by questions to a SAT solver (`question`)
//! ```
//!
//! McMillan (CAV 1992); Esparza, Römer, Vogler (FMSD 2002). An execution is never enumerated, so
//! neither the number of classes nor that of states matters, only that of events: independent
//! choices add up. A program that runs for ever but has finitely many states has a finite prefix.
//!
//! **What is a step.** Mutexes that are only locked and unlocked are taken in one step (`net`), so
//! the events of the prefix are not those of UDPOR. The dependence relation is that of the parts of
//! a state: two actions are dependent if one changes a piece that the other one looks at
//! ([`Piece`](crate::model::Piece)). So sends and receives at one queue are dependent, and so are
//! the arrivals at a barrier and the calls of a collective. That makes the prefix larger than it
//! could be, and changes no verdict. At p2p and bag mailboxes each process has a piece for what it
//! sends, and each receive one for its outcome.
//!
//! **Processes that really run.** The code of such a process is its history. So there are hardly
//! any cutoffs, but the prefix is right, and a process is started once for each history of its own:
//! going to another configuration runs nothing whose outcomes are known. Without cutoffs, the order
//! of actions that nobody observes would multiply events. So each message, receive and entry has
//! lines of its own there ([`State::posts`](crate::model::State::posts)), and the events of a
//! network are those of UDPOR.
//!
//! **What is refused.** A program that starts processes in a loop. Properties of users about ends
//! or states: they would have to be asked everywhere.
//!
//! **Minimal counterexamples.** Events are added by the size of their local configurations. So no
//! smaller one leads to a failure of that process at that place (but a lock is one step). Of
//! deadlocks those with the fewest steps come first, if they can be counted (`fewest`); where sends
//! may be delayed for ever, those within which there is no other one.

#[cfg(feature = "sat")]
mod answers;
#[cfg(feature = "sat")]
mod aside;
mod branches;
#[cfg(feature = "sat")]
mod ends;
#[cfg(feature = "sat")]
mod fewest;
mod graph;
#[cfg_attr(not(all(feature = "json", feature = "sat")), path = "prefix/unkept.rs")]
mod kept;
#[cfg(feature = "sat")]
mod learned;
mod locks;
mod net;
mod occurrence;
#[cfg(feature = "sat")]
mod question;
#[cfg(feature = "sat")]
mod replies;
pub mod search;
mod shown;
mod transitions;

pub use graph::Relation;
pub use occurrence::{Holder, NetCondition, NetPlace, OccurrenceNet};
pub use search::FinitePrefix;
pub use shown::{ShownEvent, ShownPrefix, finite_prefix, listed_prefix};
