//! Unmodified MPI programs in C as a system: each rank is a process that runs alone, once for each
//! distinct history of what it was told.
//!
//! `mazurka mpicc` compiles a program against a header and a library of our own, which travel as C
//! text inside this crate ([`Library`]) and are compiled by the user's compiler. [`Ranks`] is the
//! [`Runner`](crate::systems::history::Runner) of such a program:
//!
//! ```text
//!   search  --Told-->  Ranks  --frames-->  rank: the program, linked with the library
//!           <-Asked--         <-frames--         (a fork of a server, one server for each world rank)
//! ```
//!
//! **Who does what.** What MPI means for several ranks (matching, order, collectives, when
//! something is complete) is in the model, in Rust: the library asks in its operations. What
//! concerns one rank alone is in the library: handles, datatypes, packing, groups, requests, the
//! checks of arguments, and which memory an operation owns. A message is opaque to the model: it
//! says where it was sent, with which types, and has the packed data. So a receiver can tell what
//! does not fit, and both places.
//!
//! **Why C text.** The library has to be in the program's process, and `mpicc` has a compiler at
//! hand anyway. Text needs no second build of this crate, works for any compiler that the user has,
//! and the header is C in any case.
//!
//! **Why a fork server.** A rank that has to be in some state is run from its beginning and told
//! all that it was told, in one go. Starting the program anew for that takes three times as long as
//! forking it where `main` begins.
//!
//! **Where a call is.** Each question carries the return address of the call, and so does each
//! access to memory; the debug information of the program says which line that is ([`Source`]).
//! Macros in the header would break wrappers, function pointers and other languages, and know
//! nothing of memory.
//!
//! **What a buffer is.** The debug information of the program also says where its variables are,
//! and what is in them (`variables.rs`). So the library can tell that a count is too great for a
//! buffer, or that a type is not that of the variable; of memory from the heap it knows the size.
//!
//! **What is trusted.** The library is in the process of the program, which can do anything to it.
//! What a program writes to the wire by accident is found: each question begins with a key, and the
//! ranks and requests that it names are looked up (`ledger.rs`). A program that takes the key out
//! of the memory of the library is believed.
//!
//! # What is absent
//!
//! Threads that call MPI (the rank is not verified then), files of MPI, intercommunicators,
//! processes that are spawned, partitioned communication, sessions. A function that the header
//! lacks is named by the compiler or the linker.
//!
//! What ranks do to each other without MPI is not explored. Where that is seen (files that one rank
//! changes and another one uses, sockets, shared memory, programs that are started), the search
//! ends with [`StopReason::Unsupported`] and a sentence: [`Ranks::judged`]. A search of ranks that
//! start threads goes to its end, and comes to the same: each order of messages was looked at, but
//! only one order of the threads.
//!
//! **What ranks may do to whoever runs them.** Nothing: `c/server.c` has the place where they run,
//! `c/processes.c` their processes and signals, and `connection.rs` waits for none of them for
//! longer than the search may take.
//!
//! [`StopReason::Unsupported`]: crate::explore::StopReason::Unsupported

mod compiler;
mod connection;
mod diagnosis;
#[cfg(test)]
mod forged;
mod ledger;
mod library;
mod races;
mod ranks;
mod ready;
mod servers;
mod slip;
mod source;
pub mod suite;
mod unreceived;
mod uses;
mod variables;
mod verify;
mod wire;

pub use compiler::{Compiler, Language};
pub use diagnosis::{Diagnosis, diagnose};
pub use library::Library;
pub use ranks::{Files, Launch, Ranks, TICK};
pub use slip::Slip;
pub use source::Source;
pub use unreceived::Unreceived;
pub use verify::{Answer, Doubt, Others, verify};
