//! Unmodified MPI programs in C and Fortran as a system: each rank is a process that runs alone,
//! once for each distinct history of observations.
//!
//! `mazurka mpicc` compiles a program against a header and a library of this crate, which are
//! embedded in it as C text (`Library`) and compiled by the user's compiler. [`Ranks`] is the
//! [`Runner`](crate::systems::history::Runner) of such a program:
//!
//! ```text
//!   search  --Told-->  Ranks  --frames-->  rank: the program, linked with the library
//!           <-Asked--         <-frames--         (forked by a server; one server for each rank)
//! ```
//!
//! **Division of work.** What MPI means for several ranks (matching, order, collectives,
//! completion) is in the model, in Rust: the library sends operations of the model. What concerns
//! one rank alone is in the library: handles, datatypes, packing, groups, requests, checks of
//! arguments, and which memory an operation owns. A message is opaque to the model: it contains the
//! place of its send, its types, and the packed data. So the receiver can report a mismatch with
//! both places.
//!
//! **Why C text.** The library must be in the process of the program, and `mpicc` needs a compiler
//! anyway. Text needs no second build of this crate and works for every compiler of the user, and
//! the header is C in any case.
//!
//! **Why a fork server.** To bring a rank into a state, it is run from its beginning with all its
//! observations, which are sent at once. Starting the program anew for that takes three times as
//! long as forking it where `main` begins.
//!
//! **Fortran** has other interfaces to the same library: entries and modules that are made from the
//! same table of functions (`fortran.rs`).
//!
//! **The place of a call.** Each question carries the return address of the call, and so does each
//! access to memory; the debug information of the program maps it to a line (`Source`). Macros in
//! the header would break wrappers, function pointers and other languages, and would not see memory
//! accesses.
//!
//! **Buffers.** The debug information of the program also says where its variables are, and what
//! they contain (`variables.rs`). So the library can report that a count is too great for a buffer,
//! or that a type is not the type of the variable. Of heap memory it knows the size.
//!
//! **Programs that are not linked with the library** (`programs.rs`) get it by `LD_PRELOAD`, as a
//! library with the ABI of MPI 5.0: programs that are compiled for that, and Python. Their accesses
//! to memory are not seen, which reports say. A line of Python is the place of a call there
//! (`c/python.c`).
//!
//! **What is trusted.** The library is in the process of the program, which can overwrite it. What
//! a program writes to the wire by accident is detected: each question begins with a key, and the
//! ranks and requests that it names are looked up (`ledger.rs`). A program that reads the key out
//! of the memory of the library is believed.
//!
//! # What is absent
//!
//! `functions.txt` lists all functions of MPI, and says which of them are refused: a program that
//! calls one is not verified. Neither is one whose threads call MPI at the same time.
//!
//! Interaction of ranks without MPI is not explored. Where it is noticed (files that one rank
//! changes and another uses, sockets, shared memory, started programs), the search ends with
//! [`StopReason::Unsupported`] and a sentence: `Ranks::judged`. A search of ranks that start
//! threads runs to its end and then has the same result: each order of messages was explored, but
//! only one order of the threads.
//!
//! **What ranks may do to the machine.** Nothing: `c/server.c` describes the place where they run,
//! `c/processes.c` their processes and signals, and `connection.rs` does not wait for them for
//! longer than the search may take.
//!
//! [`StopReason::Unsupported`]: crate::explore::StopReason::Unsupported

mod compiler;
mod connection;
mod diagnosis;
#[cfg(test)]
mod forged;
mod fortran;
mod functions;
mod ledger;
mod library;
mod programs;
mod races;
mod ranks;
mod ready;
mod servers;
mod slip;
mod source;
mod statement;
pub(crate) mod suite;
mod unreceived;
mod uses;
mod variables;
mod verify;
mod wire;

pub use compiler::Compiler;
pub use diagnosis::Diagnosis;
pub use fortran::names as names_in_fortran;
pub use functions::{Function, functions};
pub use ranks::{Files, Launch, RANK_MEMORY, Ranks, TICK};
pub use unreceived::Unreceived;
pub use verify::{Answer, Doubt, verify};

pub(crate) use compiler::{Language, Query};
pub(crate) use programs::located;
pub(crate) use slip::Slip;
pub(crate) use verify::Others;
