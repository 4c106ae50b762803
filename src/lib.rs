//! Mazurka verifies concurrent programs by exploring one execution per Mazurkiewicz class.
//!
//! A program is a [`model::System`]: processes that act on mailboxes, mutexes, reader-writer locks,
//! condition variables, semaphores, barriers, latches and shared cells, or actors that handle
//! messages.
//! Executions that differ only in the order of independent actions belong to one class. A class is
//! one maximal configuration of the program's *unfolding*, a prime event structure. UDPOR walks
//! from one maximal configuration to the next, finds every deadlock and every failed assertion, and
//! never visits a class twice. Explorers of the DPOR family walk along executions instead.
//! Explorers of the S-POR family store states: executions that reach the same state continue as one
//! ([`explore`]).
//!
//! ```
//! use mazurka::explore::{Budget, NoObserver, Udpor, Verdict, explore};
//!
//! let source = "
//!     mailbox m;
//!     process Sender[i in 0..3] { send(m, i); }
//!     process Receiver { for j in 0..3 { let v = recv(m); } }
//! ";
//! let program = mazurka::lang::compile("rmq.maz", source, &[]).expect("a valid program");
//! let budget = Budget { all: true, ..Budget::default() };
//! let outcome = explore(&program, Udpor::default(), budget, &mut NoObserver);
//! assert_eq!(outcome.verdict(), Verdict::Ok);
//! assert_eq!(outcome.stats.traces, 6);
//! ```
//!
//! # Code map
//!
//! | module | idea | may import |
//! |---|---|---|
//! | [`mod@model`] | systems, objects and their operations, states, schedules, the dependence relation | |
//! | [`random`] | random numbers that a seed determines | |
//! | [`systems`] | systems made in Rust: a builder, and processes that really run | `lang`, `model` |
//! | [`program`] | programs written in Rust: processes as async closures | `systems`, `model` |
//! | [`threads`] | Rust code as it is: threads on stacks of their own | `check`, `program`, `systems`, `explore`, `model`, `random` |
//! | [`lang`] | compiled programs: from `.maz` source text, which is checked, and from the builder's steps | `model` |
//! | `mpi` | unmodified MPI programs in C: the compiler, the library, ranks as processes | `systems`, `explore`, `property` |
//! | [`trace`] | executions as sequences: happens-before, normal forms, races, sleep sets, wakeup trees | `model` |
//! | [`unfolding`] | executions as configurations of a prime event structure | `model`, `random` |
//! | [`alternatives`] | J for D after C: combs, k-partial, SAT | `unfolding` |
//! | [`property`] | properties, and when they are checked; explanations of deadlocks and failures; leaks | `trace`, `model` |
//! | [`explore`] | the explorers and the driver they share | all of the above but `lang` |
//! | [`study`] | many programs by many explorers: rows of measurements, and whether the explorers agree | `explore`, `lang` |
//! | [`report`] | results and pictures as plain data, rendered as text, tables, JSON, DOT, SVG, HTML | `study`, `explore` |
//! | [`mod@check`] | a search in a test, with its counterexample explained | `report`, `study`, `explore`, `property` |
//! | `workshop` | reproduction of papers: their tables, studies of clients of data structures, plots | `report`, `study`, `explore`, `lang` |
//! | `cli` | the command line; only it prints and exits, and only it and `mpi` read files and start processes | everything |
//!
//! The feature `cli`, which is on by default, adds `cli`, `mpi` and `workshop`, and the parts of
//! `lang`, `study` and `report` that only these modules use. The feature `sat`, which is on as
//! well, adds the questions of `explore` to a SAT solver. Modules import only what the last column
//! allows; a test checks this. `trace` and `unfolding` are the two usual representations of a
//! class. Neither imports the other, so tests can compare their results.
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
//! # Literature
//!
//! - LNCS 1032, 1996: P. Godefroid. *Partial-order methods for the verification of concurrent
//!   systems.*
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
