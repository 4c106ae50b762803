//! The command-line program; see [`mazurka::cli`].

use std::alloc::System;
use std::process::ExitCode;

use cap::Cap;

/// Counts the allocated bytes, for `--max-memory`.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

fn main() -> ExitCode {
    mazurka::cli::main(|| ALLOCATOR.allocated() as u64)
}
