//! Rust code as it is: threads, locks and atomics with the interfaces of the standard library.
//!
//! ```
//! use mazurka::sync::{Arc, Mutex};
//! use mazurka::thread;
//!
//! mazurka::model(|| {
//!     let sum = Arc::new(Mutex::new(0));
//!     let adders: Vec<_> = (1..=2)
//!         .map(|n| {
//!             let sum = sum.clone();
//!             thread::spawn(move || *sum.lock().unwrap() += n)
//!         })
//!         .collect();
//!     for adder in adders {
//!         adder.join().unwrap();
//!     }
//!     assert_eq!(*sum.lock().unwrap(), 3);
//! });
//! ```
//!
//! [`model`] explores the executions of a closure, one for each class. A thread of the program is a
//! process; it runs on a stack of its own, and every operation on an object of
//! [`sync`] and [`thread`] is a visible operation. What is behind a
//! lock is real memory, so it needs no `Clone`, `Eq` or `Hash`.
//!
//! # Local states
//!
//! As in [`history`](crate::systems::history), a local state is the history of a thread: the
//! sequence of its observations. But a thread also sees what others have left in memory. So what it
//! reads from a lock or an atomic carries a *token*: the history that the writer had when it wrote.
//! So a history names its causal past, and is still a function of it.
//!
//! To learn what a thread does next after a history, the past that the history names is run: the
//! threads in it, each on its stack, in an order that respects the tokens. Threads that have been
//! run already, for the execution that the search is in, are kept going. If they have gone another
//! way, they are given up, and the past is run from the start (`world`).
//!
//! | file | idea |
//! |---|---|
//! | `system` | the histories as a [`System`](crate::model::System) |
//! | `mode` | what a search has to know before it begins |
//! | `world` | threads on stacks of their own, and what they have in memory |
//! | `ask` | how the code of a thread asks for an operation |
//! | `builder`, `loom` | searches of a closure; with loom's options |
//! | `unwind` | what destructors ask for while a thread unwinds |
//! | `locals` | variables of which each thread has its own |
//! | `token` | what a write leaves: a history, and the bits of an atomic |
//! | `waiting` | loops that wait for others |
//! | `watch` | threads that make no further operation |
//! | `sync`, `thread`, `scope`, `cell`, `alloc`, `hint` | the interfaces of the standard library |
//! | `statics` | variables that are made when they are first used |
//! | `future` | async code: tasks, and what they wait for, in the shapes of tokio |

pub mod alloc;
mod ask;
mod builder;
pub mod cell;
pub mod future;
pub mod hint;
mod locals;
mod loom;
mod mode;
mod noted;
mod scope;
mod statics;
pub mod sync;
mod system;
pub mod thread;
mod token;
mod unwind;
mod waiting;
mod watch;
mod world;

pub use builder::{Builder, model};
pub use loom::Builder as Loom;
#[doc(hidden)]
pub use statics::Static;
pub use system::Threads;
