//! What a concurrent program is: processes with local states that act on shared objects.
//!
//! A [`System`] says what each process does next, given only the local state of that process. What
//! the objects (mailboxes, mutexes, reader-writer locks, condition variables, semaphores, barriers,
//! latches, cells) do in response is fixed here, once for every program and every explorer. This
//! split makes event structures cheap: the local state of a process after an event is a function of
//! the event. So a program step runs once for each distinct local state and response ([`Locals`]),
//! however many executions contain it.
//!
//! | item | meaning |
//! |---|---|
//! | [`Actors`], [`Finale`], [`Invariants`], [`Foresight`], [`Describe`] | optional parts of a system |
//! | [`Objects`] | the shared objects as declared |
//! | [`ObjectTable`] | the objects that a search has encountered, and their numbers in the search |
//! | [`Op`] | a visible operation: what a process asks of the objects |
//! | [`Response`] | the answer to an operation: all that the process observes of it |
//! | [`Action`] | a process and the choice among the responses of its operation |
//! | `Reaction` | what an actor's handler did: its new local state, messages sent, actors started |
//! | [`State`] | local states and objects, as logs: executing appends, undoing pops |
//! | [`Schedule`] | an execution in portable names, as text too |
//! | [`Semantics`] | a choice of what MPI leaves to its implementations |
//! | [`flow`] | control flow as written, for drawings of programs |
//! | [`Reach`] | what a process may still do |
//! | [`StopSignal`] | a signal to stop, for loops that may run long |
//! | [`Opaque`] | a value of a type that only the system knows |
//! | [`Effect`] | what an executed action does to objects; two effects decide dependence |

mod actors;
mod any_system;
mod as_text;
mod audit;
mod call;
mod declarations;
mod describe;
mod effect;
mod faults;
pub mod flow;
mod foresight;
mod invariants;
mod list;
mod liveness;
mod locals;
mod map;
mod object_table;
mod objects;
mod op;
mod opaque;
mod printable;
mod reach;
mod schedule;
mod semantics;
mod set;
mod state;
mod stop;
mod symmetry;
mod system;
mod touch;
mod value;

pub use actors::{Actors, Outbox};
pub use any_system::AnySystem;
pub use audit::audit_everything;
pub use call::{Call, CollectiveKind, Partners};
pub use declarations::{Asking, Called, Declarations, Objects, Polls};
pub use describe::{Contents, Describe, Finale, Mark, Names, Remark, RemarkKind, Runs, Site};
pub use effect::{Act, Effect, Lane, dependent};
pub use faults::{FaultKinds, Faults, Incident};
pub use foresight::{Foresight, Point};
pub use invariants::{Invariants, View};
pub use list::List;
pub use liveness::{Demand, Fairness, Liveness, Temporal};
pub(crate) use locals::Needed;
pub use locals::{Birth, LocalId, Locals, ProcessId, Status};
pub use map::Map;
pub use object_table::{Object, ObjectTable, Roster};
pub use objects::barrier::Barrier;
pub use objects::collective::{Collectives, Entry};
pub use objects::condvar::Enrolment;
pub use objects::inbox::{Inboxes, Message};
pub use objects::mailbox::{End, Mailbox, Post};
pub use objects::mutex::Mutex;
pub use objects::network::{
    DROPPED, Ends, Network, Probe, Reception, Sent, Settlement, Taker, Way,
};
pub use objects::rwlock::{RwLock, RwRequest};
pub use objects::semaphore::Semaphore;
pub use objects::{ObjectId, Part, PartSet, Posted};
pub use op::*;
pub use opaque::{Opaque, Update};
pub use printable::{is_deceptive, printable};
pub use reach::{Guess, Reach};
pub use schedule::{NoSchedule, Refusal, Schedule};
pub use semantics::{Buffering, Leaving, Semantics};
pub use set::Set;
pub use state::{Describer, Offer, Parts, Piece, State, has_term};
pub use stop::StopSignal;
pub use symmetry::{Group, IndexKind, Member, Symmetry, Term};
pub use system::{Failure, FailureKind, Next, System};
pub use touch::{May, Touch};
pub use value::{Value, ValueId, Values};

// The one name of another layer: a test that was written for loom says `loom::model::Builder`.
#[doc(no_inline)]
pub use crate::threads::Loom as Builder;

pub(crate) use as_text::stored_as_text;
pub(crate) use effect::{Mode, Need, Needs};
pub(crate) use objects::network::{ENDED, Places, network_effect};
pub(crate) use printable::masked;
pub(crate) use state::Scope;
pub(crate) use stop::CountsHere;
