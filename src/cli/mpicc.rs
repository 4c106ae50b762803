//! `mazurka mpicc`, `mpicxx` and `mpif90`: compile MPI programs so that they can be verified.

use std::ffi::OsString;

use clap::Args as ClapArgs;
use tempfile::TempDir;

use super::output::Output;
use super::{Exit, Failure};
use crate::mpi::{Compiler, Language, Query};

/// Compile an MPI program in C, to verify it with `mazurka mpirun`
///
/// Takes the options of a C compiler and passes them to the compiler named by MAZURKA_CC, or else
/// to `cc` (`mpicxx`: MAZURKA_CXX, or else `c++`; `mpif90`: MAZURKA_FC, or else `gfortran`). No MPI
/// installation is needed. Programs get debug information (-g), and their memory accesses are
/// instrumented; with `-fno-sanitize=thread` they are not, and then accesses to a buffer while a
/// communication uses it are not found.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The arguments of the compiler
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  mazurka mpicc ring.c -o ring
  mazurka mpirun -n 4 ./ring
  make CC=\"mazurka mpicc\"
  mazurka mpicc -show ring.c        the command that would be run
  mazurka mpicc --showme:compile    the options for compiling; also link, incdirs, libdirs, libs
  mazurka mpicc -v --help           the help of the compiler itself

A link to `mazurka` with the name mpicc, mpicxx, mpif90 or mpirun runs that command. `mazurka link DIR`
makes them.";

/// A question of a build system.
enum Question {
    /// The whole command.
    Show,
    /// This version.
    Version,
    /// The options for a part, perhaps behind the name of the compiler.
    Part(Query, bool),
}

/// The questions that other compilers of MPI answer, under all their names.
fn question_of(argument: &OsString) -> Option<Question> {
    let named = argument.to_str()?.strip_prefix('-')?;
    Some(match named.strip_prefix('-').unwrap_or(named) {
        "show" | "showme" => Question::Show,
        "showme:version" => Question::Version,
        "showme:command" => Question::Part(Query::Command, false),
        "showme:compile" => Question::Part(Query::Compile, false),
        "showme:link" => Question::Part(Query::Link, false),
        "showme:incdirs" => Question::Part(Query::HeaderFolder, false),
        "showme:libdirs" => Question::Part(Query::LibraryFolder, false),
        "showme:libs" => Question::Part(Query::Library, false),
        "compile-info" | "compile_info" | "show-compile-info" => {
            Question::Part(Query::Compile, true)
        }
        "link-info" | "link_info" | "show-link-info" => Question::Part(Query::Link, true),
        _ => return None,
    })
}

fn answer(
    compiler: &Compiler,
    question: &Question,
    arguments: &[OsString],
) -> Result<String, String> {
    Ok(match question {
        Question::Show => compiler.shown(arguments)?,
        Question::Version => format!("Mazurka {}\n", env!("CARGO_PKG_VERSION")),
        Question::Part(part, false) => compiler.told(*part)? + "\n",
        Question::Part(part, true) => {
            format!("{} {}\n", compiler.told(Query::Command)?, compiler.told(*part)?)
        }
    })
}

pub(super) fn run(args: Args, language: Language, output: &mut Output) -> Result<Exit, Failure> {
    let scratch = scratch()?;
    let compiler = Compiler::of_user(language, scratch.path());
    if let Some(question) = args.arguments.iter().find_map(question_of) {
        let is_ours = |argument: &&OsString| question_of(argument).is_some();
        let others: Vec<_> =
            args.arguments.iter().filter(|argument| !is_ours(argument)).cloned().collect();
        output.print(answer(&compiler, &question, &others).map_err(Failure::Usage)?)?;
        return Ok(Exit::Fine);
    }
    match compiler.run(&args.arguments).map_err(Failure::Usage)? {
        true => Ok(Exit::Fine),
        false => Err(Failure::Reported),
    }
}

/// A temporary folder, removed when the value is dropped.
pub(super) fn scratch() -> Result<TempDir, Failure> {
    let scratch = tempfile::Builder::new().prefix("mazurka-").tempdir();
    scratch.map_err(|error| Failure::Usage(format!("cannot make a folder: {error}")))
}
