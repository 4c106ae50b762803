//! Mazurka verifies concurrent programs by exploring one execution per Mazurkiewicz class.
//!
//! A test runs code with threads, locks and atomics, in all orders that make a difference:
//!
//! ```
//! use mazurka::sync::{Arc, Mutex};
//! use mazurka::thread;
//!
//! mazurka::model(|| {
//!     let sum = Arc::new(Mutex::new(0));
//!     let adder = {
//!         let sum = sum.clone();
//!         thread::spawn(move || *sum.lock().unwrap() += 1)
//!     };
//!     *sum.lock().unwrap() += 2;
//!     adder.join().unwrap();
//!     assert_eq!(*sum.lock().unwrap(), 3);
//! });
//! ```
//!
//! If an assertion fails in one of them, or if threads wait for one another, [`fn@model`] panics
//! with that execution: who did what in which line, and how to run it again. If it returns, it has
//! explored all of them. [`threads`] says more, and [`threads::Builder`] has the options.
//!
//! # Other programs
//!
//! **Async closures** that exchange messages and share objects ([`program`]):
//!
//! ```
//! let mut program = mazurka::program::Program::new();
//! let inbox = program.mailbox("inbox");
//! for i in 1..=3 {
//!     program.process(format!("sender {i}"), async move || inbox.send(i).await);
//! }
//! program.process("receiver", async move || {
//!     let sum = inbox.recv().await + inbox.recv().await + inbox.recv().await;
//!     assert_eq!(sum, 6);
//! });
//! mazurka::check(&program.build()).assert_ok();
//! ```
//!
//! **A model**, made by a builder ([`systems`]); the result of a search is a value:
//!
//! ```
//! use mazurka::explore::{Source, Verdict};
//! use mazurka::systems::{Builder, lock, unlock};
//!
//! let mut system = Builder::new();
//! let fork = system.mutexes("fork", 3);
//! for i in 0..3 {
//!     let (left, right) = (fork[i], fork[(i + 1) % 3]);
//!     let steps = [lock(left), lock(right), unlock(right), unlock(left)];
//!     system.process(format!("Philosopher[{i}]"), steps);
//! }
//! let result = mazurka::check(&system.build()).explorer(Source::default()).all().run();
//! assert_eq!(result.verdict(), Verdict::Deadlock);
//! println!("{result}"); // the deadlock, step by step
//! ```
//!
//! **A system of your own**, if you say what each of its processes does next ([`System`]):
//!
//! ```
//! use mazurka::model::{
//!     Access, CellId, Next, Objects, Op, Response, System, Value, ValueId, Values,
//! };
//!
//! /// Two processes read a cell, then write a number that is larger by one.
//! struct Increments(Objects);
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! enum Local {
//!     Reads,
//!     Writes(ValueId),
//!     Ends,
//! }
//!
//! impl System for Increments {
//!     type Local = Local;
//!
//!     fn objects(&self) -> &Objects {
//!         &self.0
//!     }
//!
//!     fn initial(&self, _: &mut Values) -> Vec<Local> {
//!         vec![Local::Reads, Local::Reads]
//!     }
//!
//!     fn next(&self, local: &Local, values: &mut Values) -> Next<Local> {
//!         let access = match local {
//!             Local::Reads => Access::Read,
//!             Local::Writes(seen) => {
//!                 let larger = values.get(*seen).int() + 1;
//!                 Access::Write(values.intern(Value::Int(larger)))
//!             }
//!             Local::Ends => return Next::Done,
//!         };
//!         Next::Op(Op::Access(CellId(0), access))
//!     }
//!
//!     fn resume(&self, _: &Local, response: Response, _: &Values) -> Local {
//!         match response {
//!             Response::Value(seen) => Local::Writes(seen),
//!             _ => Local::Ends,
//!         }
//!     }
//! }
//!
//! let mut objects = Objects::default();
//! objects.cells.push("counter", Value::Int(0));
//! let result = mazurka::check(&Increments(objects)).all().run();
//! assert!(result.is_ok());
//! assert_eq!(result.stats().traces, 4); // the classes
//! ```
//!
//! **An explorer of your own** works on all of these ([`Explorer`](explore::Explorer)). Programs in
//! the modelling language ([`lang`]), and in C or Fortran with MPI, are verified by the command
//! line.
//!
//! # What is there, and what is not
//!
//! For threads: the locks, channels and atomics of the standard library, scoped threads,
//! `thread_local!`, parking; [`cell`] and [`alloc`] find races and leaks; [`future`] has tasks,
//! channels and locks in the shapes of tokio. Not there, or different:
//!
//! - Memory is sequentially consistent. What only a weaker ordering allows is not explored.
//! - Objects are made while `model` runs, so not in a `static`; [`lazy_static!`] is for that.
//! - A loop that looks at the same again and again is taken to wait for a change. The verdict says
//!   so.
//! - The code must do the same whenever it observes the same. Most of what differs is noticed.
//!
//! The chapter on Rust programs, `docs/src/rust.md`, has the whole list, and what there is for
//! tests that were written for loom.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | none | everything above, all explorers, texts of results, pictures as SVG and DOT |
//! | `lang` | programs from texts in the modelling language ([`lang`]) |
//! | `json` | results and pictures as JSON |
//! | `parallel` | several threads for `stateful`; other explorers that can share their work need no feature |
//! | `sat` | questions to a SAT solver: by UDPOR where its own search for an alternative takes long, and by the finite prefix, which refuses without it |
//! | `cli` | the command line, MPI programs, studies; and `lang`, `json` and `parallel` |
//! | `mpi` | searches by the ranks of an MPI job |
//! | `tools` | the examples that work on this repository |
//!
//! `cli` and `sat` are on by default. Tests need neither: with `default-features = false`, 25 other
//! crates are built. All searches of checks are compiled with this crate, so what a test takes is
//! decided there:
//!
//! ```text
//! [dev-dependencies]
//! mazurka = { path = "../mazurka", default-features = false }
//!
//! [profile.dev.package.mazurka]
//! opt-level = 3
//! debug = false
//! ```
//!
//! # How it works
//!
//! A program is a [`System`]: processes that act on mailboxes, mutexes, reader-writer locks,
//! condition variables, semaphores, barriers, latches and shared cells, or actors that handle
//! messages.
//! Executions that differ only in the order of independent actions belong to one class. A class is
//! one maximal configuration of the program's *unfolding*, a prime event structure. UDPOR walks
//! from one maximal configuration to the next, finds every deadlock and every failed assertion, and
//! never visits a class twice. Explorers of the DPOR family walk along executions instead.
//! Explorers of the S-POR family store states: executions that reach the same state continue as one
//! ([`explore`]).
//!
//! [`System`]: model::System
//!
//! # Code map
//!
//! | module | idea | may import |
//! |---|---|---|
//! | [`mod@model`] | systems, objects and their operations, states, schedules, the dependence relation | |
//! | [`random`] | random numbers that a seed determines | |
//! | [`systems`] | systems made in Rust: a builder, and processes that really run | `lang`, `model` |
//! | [`program`] | programs of async closures: each is a process | `systems`, `model` |
//! | [`threads`] | Rust code as it is: threads on stacks of their own | `check`, `program`, `systems`, `explore`, `model`, `random` |
//! | [`lang`] | compiled programs: from `.maz` source text, which is checked, and from the builder's steps | `model` |
//! | `mpi` | unmodified MPI programs in C and Fortran: the compiler, the library, ranks as processes | `systems`, `explore`, `property` |
//! | [`trace`] | executions as sequences: happens-before, normal forms, races, sleep sets, wakeup trees | `model` |
//! | [`unfolding`] | executions as configurations of a prime event structure | `model`, `random` |
//! | [`alternatives`] | J for D after C: combs, k-partial, SAT | `unfolding` |
//! | [`property`] | properties, and when they are checked; explanations of deadlocks and failures; leaks | `trace`, `model` |
//! | [`explore`] | the explorers and the driver they share | all of the above but `lang` |
//! | [`study`] | many programs by many explorers: rows of measurements, and whether the explorers agree | `explore`, `lang` |
//! | [`report`] | results and pictures as plain data, rendered as text, tables, JSON, DOT, SVG, HTML | `study`, `explore` |
//! | [`audit`] | certificates of searches, and their check, which shares with the searches only the model | `model` |
//! | [`mod@check`] | a search in a test, with its counterexample explained | `report`, `study`, `explore`, `property` |
//! | `workshop` | reproduction of papers: their tables, studies of clients of data structures, plots | `report`, `study`, `explore`, `lang` |
//! | `cli` | the command line; only it prints and exits, and only it and `mpi` read files and start processes | everything |
//!
//! Modules import only what the last column allows; a test checks this. `trace` and `unfolding` are
//! the two usual representations of a class. Neither imports the other, so tests can compare their
//! results.
//!
//! # Glossary
//!
//! | sign | meaning |
//! |---|---|
//! | event | an action with its history: everything that had to happen before it |
//! | e < f | causality: e is in the history of f |
//! | \[e\] | the local configuration of e: e and its history; \[e) is its history alone |
//! | e # f | conflict: no execution has both |
//! | e #i f | immediate conflict: e and f are in conflict, but nothing in their histories is |
//! | C | a configuration: a causally closed, conflict-free set of events; one class of executions up to here |
//! | ex(C) | extensions: events not in C whose history lies in C |
//! | en(C), cex(C) | extensions that are not in conflict with C; extensions that are |
//! | U | the events constructed so far |
//! | D | disabled events: all configurations that include C and an event of D have been explored |
//! | A | events that guide the search towards an alternative |
//! | J | an alternative: an extension of C that is in conflict with every event of D |
//! | match | at a p2p or bag mailbox: a send is assigned to a receive; an action of the network |
//! | carrier | an internal process that performs matches: one for each receive that is open at the same time |
//!
//!
//! # Literature
//!
//! - LNCS 1032, 1996: P. Godefroid. *Partial-order methods for the verification of concurrent
//!   systems.*
//! - FMSD 1996: C. N. Ip, D. L. Dill. *Better verification through symmetry.*
//! - POPL 2005: C. Flanagan, P. Godefroid. *Dynamic partial-order reduction for model checking
//!   software.*
//! - EPFL 2009: M. Yabandeh, D. Kostić. *DPOR-DS: dynamic partial order reduction in distributed
//!   systems.*
//! - FORTE 2012: S. Tasharofi, R. K. Karmani, S. Lauterburg, A. Legay, D. Marinov, G. Agha.
//!   *TransDPOR: a novel dynamic partial-order reduction technique for testing actor programs.*
//! - CONCUR 2015: C. Rodríguez, M. Sousa, S. Sharma, D. Kroening. *Unfolding-based partial order
//!   reduction.*
//! - J. ACM 2017: P. A. Abdulla, S. Aronis, B. Jonsson, K. Sagonas. *Source sets: a foundation for
//!   optimal dynamic partial order reduction.*
//! - CAV 2018: H. T. T. Nguyen, C. Rodríguez, M. Sousa, C. Coti, L. Petrucci. *Quasi-optimal
//!   partial order reduction.*
//! - FORTE 2019: T. A. Pham, T. Jéron, M. Quinson. *Unfolding-based dynamic partial order reduction
//!   of asynchronous distributed programs.*
//! - VMCAI 2023: B. Cirisci, C. Enea, A. Farzan, S. O. Mutluergil. *A pragmatic approach to
//!   stateful partial order reduction.*

/// The Rust of the README and of the book, as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/src/rust.md")]
    struct Rust;
}

pub mod alternatives;
pub mod audit;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod explore;
pub mod lang;
pub mod model;
#[cfg(all(unix, feature = "cli"))]
pub mod mpi;
pub mod program;
pub mod property;
pub mod random;
pub mod report;
pub mod study;
pub mod systems;
pub mod threads;
pub mod trace;
pub mod unfolding;
#[cfg(feature = "cli")]
pub mod workshop;

pub use check::check;
pub use threads::{alloc, cell, future, hint, model, sync, thread};
