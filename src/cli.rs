//! The command line: reads specs and options, runs a command, prints the result, and returns an
//! exit code.
//!
//! This is the only part of the crate that reads files, the terminal and the environment. Results
//! go to standard output; diagnostics and progress go to standard error.
//!
//! | exit code | meaning |
//! |---|---|
//! | 0 | explored, nothing violated |
//! | 1 | a violation was found |
//! | 2 | the command line or the spec is wrong |
//! | 3 | incomplete (a limit, a signal, or an explorer that may miss executions), nothing found so far |

mod audit;
mod batch;
mod bounds;
mod branches;
mod certificate;
mod check;
mod checkpoint;
mod client;
mod compare;
mod completions;
mod count;
mod draw;
mod drawing;
mod estimate;
mod execution;
mod explorers;
mod faster;
mod files;
mod fmt;
mod folders;
mod growth;
mod interrupt;
mod known;
#[cfg(unix)]
mod link;
mod lint;
mod log;
mod lsp;
mod machine;
#[cfg(feature = "mpi")]
mod machines;
mod man;
mod measure;
mod memory;
mod merge;
#[cfg(unix)]
mod mpicc;
#[cfg(unix)]
mod mpirun;
mod options;
mod output;
mod parts;
#[cfg(feature = "mpi")]
mod post;
mod progress;
mod refusal;
mod replace;
mod replay;
mod reproduce;
mod resume;
mod run;
mod saved;
mod session;
mod spec;
mod states;
mod step;
mod study;
mod verification;

use crate::model::NoSchedule;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::{Output, When};

/// An unfolding and event-structure verification engine for concurrent programs.
///
/// A spec (.maz) describes processes that exchange messages and share mutexes, semaphores, barriers
/// and memory. Mazurka explores its executions, one of each class of equivalent ones, and reports
/// deadlocks, failed assertions and run-time errors, each with an execution that leads to it.
///
/// Programs in C and Fortran that use MPI are verified as they are: `mazurka mpicc` or `mpif90`
/// compiles one, `mazurka mpirun` explores it. Programs in Rust are verified in a test of their
/// own: see the module `mazurka::program` of the library.
#[derive(Parser)]
#[command(name = "mazurka", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Colours in the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 1000)]
    color: When,
    /// Print only the verdict or the table: no counterexamples, notes or progress
    #[arg(short, long, global = true, display_order = 1001)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  mazurka check philosophers.maz                    verify a spec
  mazurka check philosophers.maz -D N=5             ... with the constant N set to 5
  mazurka compare philosophers.maz                  run all explorers on it, side by side
  mazurka count philosophers.maz                    count its interleavings
  mazurka study philosophers.maz -D N=3..7          measure what UDPOR's k costs and saves, with plots
  mazurka reproduce udpor                           a paper's table, its figures beside ours
  mazurka draw philosophers.maz -o all.html         a page to browse its unfolding and executions
  mazurka client lazy-list.maz -o client.maz        generate a client of a data structure, to check
  mazurka run philosophers.maz --seed 7             show one random execution
  mazurka replay philosophers.maz --schedule 0,1x2  show this execution and what it changes
  mazurka step philosophers.maz                     choose each step, go back, ask why one waits
  mazurka fmt philosophers.maz                      bring it into its usual form
  mazurka mpicc ring.c -o ring                      compile an MPI program
  mazurka mpirun -n 4 ./ring                        ... and verify it with 4 ranks

Exit codes: 0 nothing is violated; 1 a violation was found; 2 the command line or the spec is wrong;
3 the search is incomplete and has found nothing so far.";

#[derive(Subcommand)]
enum Command {
    Audit(audit::Args),
    Check(check::Args),
    Client(client::Args),
    Compare(compare::Args),
    Count(count::Args),
    Estimate(estimate::Args),
    Draw(draw::Args),
    Merge(merge::Args),
    Run(run::Args),
    Replay(replay::Args),
    Reproduce(reproduce::Args),
    Resume(resume::Args),
    Step(step::Args),
    Study(study::Args),
    Explorers(explorers::Args),
    Fmt(fmt::Args),
    Lsp(lsp::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[cfg(unix)]
    Mpicc(mpicc::Args),
    /// Compile an MPI program in C++, as `mpicc` does one in C
    #[cfg(unix)]
    #[command(alias = "mpic++")]
    Mpicxx(mpicc::Args),
    /// Compile an MPI program in Fortran, as `mpicc` does one in C
    #[cfg(unix)]
    #[command(aliases = ["mpif77", "mpifort"])]
    Mpif90(mpicc::Args),
    #[cfg(unix)]
    #[command(alias = "mpiexec")]
    Mpirun(mpirun::Args),
    #[cfg(unix)]
    Link(link::Args),
    /// Run one search for a parent process (see `measure`)
    #[command(hide = true)]
    Measure,
}

/// Why a command has no result.
enum Failure {
    /// The command line or the spec is wrong: a message, and exit code 2.
    Usage(String),
    /// The spec is wrong; exit code 2.
    Spec(Box<crate::lang::Diagnostics>),
    /// The diagnostics were printed already; exit code 2.
    Reported,
    /// The output could not be written.
    Output(std::io::Error),
}

impl From<NoSchedule> for Failure {
    fn from(why: NoSchedule) -> Self {
        Failure::Usage(why.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Output(error)
    }
}

/// The result as an exit code: what it means for the caller of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// Exit code 0: nothing is violated.
    Fine,
    /// Exit code 1: a violation was found.
    Violation,
    /// Exit code 3: the search is incomplete, and nothing was found so far.
    Incomplete,
}

impl From<crate::explore::Verdict> for Exit {
    fn from(verdict: crate::explore::Verdict) -> Self {
        use crate::explore::Verdict;
        match verdict {
            Verdict::Ok => Exit::Fine,
            Verdict::Deadlock
            | Verdict::Livelock
            | Verdict::Assertion
            | Verdict::Error
            | Verdict::Liveness => Exit::Violation,
            Verdict::Incomplete => Exit::Incomplete,
        }
    }
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Violation => 1,
            Exit::Incomplete => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// The names of MPI's compilers.
const COMPILERS: [&str; 6] = ["mpicc", "mpicxx", "mpic++", "mpif90", "mpif77", "mpifort"];
/// The names of the command of MPI that starts programs.
const STARTERS: [&str; 2] = ["mpirun", "mpiexec"];

/// The arguments in the form that clap parses. The options of a compiler command are passed on, so
/// `--` is inserted before them. A link to this program that has the name of a command (`mpicc`,
/// `mpirun`, ..) runs that command.
fn called(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let is_compiler = |name: &str| COMPILERS.contains(&name);
    let is_start = |name: &str| STARTERS.contains(&name);
    let name = args.first().map(Path::new).and_then(Path::file_name).and_then(OsStr::to_str);
    if let Some(name) = name.filter(|name| is_compiler(name) || is_start(name)) {
        let name = name.into();
        args.splice(..1, ["mazurka".into(), name]);
    }
    let command = args.get(1).and_then(|command| command.to_str()).unwrap_or_default().to_owned();
    let asks_for_help = args.get(2).is_some_and(|first| first == "--help" || first == "-h");
    if is_compiler(&command) && !asks_for_help {
        args.insert(2, "--".into());
    }
    // Other launchers write `-np`. Only the first one is ours: later ones are arguments of the
    // program.
    if is_start(&command)
        && let Some(option) = args.iter_mut().find(|arg| *arg == "-np")
    {
        *option = "--np".into();
    }
    args
}

/// Runs the program with the arguments of this process and returns its exit code. `allocated`
/// returns the number of bytes that are allocated at the moment.
pub fn main(allocated: fn() -> u64) -> ExitCode {
    memory::count_with(allocated);
    let json = refusal::wants_json(std::env::args_os());
    let cli = match Cli::try_parse_from(called(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return refusal::of_arguments(&error, json),
    };
    let mut output = Output::new(cli.color, cli.quiet);
    let result = match cli.command {
        #[cfg(unix)]
        Command::Mpicc(_) | Command::Mpicxx(_) | Command::Mpif90(_) | Command::Mpirun(_)
            if !cfg!(target_os = "linux") =>
        {
            Err(Failure::Usage("MPI programs are verified on Linux only".into()))
        }
        Command::Audit(args) => audit::run(args, &mut output),
        Command::Check(args) => check::run(args, &mut output),
        Command::Client(args) => client::run(args, &mut output),
        Command::Compare(args) => compare::run(args, &mut output),
        Command::Count(args) => count::run(args, &mut output),
        Command::Estimate(args) => estimate::run(args, &mut output),
        Command::Draw(args) => draw::run(args, &mut output),
        Command::Merge(args) => merge::run(args, &mut output),
        Command::Run(args) => run::run(args, &mut output),
        Command::Replay(args) => replay::run(args, &mut output),
        Command::Step(args) => step::run(args, &mut output),
        Command::Study(args) => study::run(args, &mut output),
        Command::Explorers(args) => explorers::run(args, &mut output),
        Command::Fmt(args) => fmt::run(&args, &mut output),
        Command::Lsp(args) => lsp::run(args, &mut output),
        Command::Completions(args) => completions::run(&args, &mut output),
        Command::Man(args) => man::run(&args, &mut output),
        Command::Reproduce(args) => reproduce::run(args, &mut output),
        Command::Resume(args) => resume::run(args, &mut output),
        #[cfg(unix)]
        Command::Mpicc(args) => mpicc::run(args, crate::mpi::Language::C, &mut output),
        #[cfg(unix)]
        Command::Mpicxx(args) => mpicc::run(args, crate::mpi::Language::Cxx, &mut output),
        #[cfg(unix)]
        Command::Mpif90(args) => mpicc::run(args, crate::mpi::Language::Fortran, &mut output),
        #[cfg(unix)]
        Command::Mpirun(args) => mpirun::run(args, &mut output),
        #[cfg(unix)]
        Command::Link(args) => link::run(&args, &mut output),
        Command::Measure => measure::run(&mut output),
    };
    // Results so far are written even if the command failed later.
    let written = output.finish().map_err(Failure::Output);
    match written.and(result) {
        Ok(exit) => exit.into(),
        Err(Failure::Usage(message)) => refusal::of_usage(&message, json, &output),
        Err(Failure::Spec(diagnostics)) => refusal::of_spec(&diagnostics, json, &output),
        Err(Failure::Reported) => ExitCode::from(2),
        Err(Failure::Output(error)) => {
            output.error(&format!("cannot write the result: {error}"));
            ExitCode::from(2)
        }
    }
}
