//! The command-line program; see [`mazurka::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    mazurka::cli::main()
}
