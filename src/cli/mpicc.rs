//! `mazurka mpicc` and `mazurka mpicxx`: compile MPI programs so that they can be verified.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use tempfile::TempDir;

use super::output::Output;
use super::{Exit, Failure};
use crate::mpi::{Compiler, Language};

/// Compile an MPI program in C, to be verified with `mazurka mpirun`
///
/// Takes the options of a C compiler and passes them on to the one named by MAZURKA_CC, or else
/// `cc` (`mpicxx`: MAZURKA_CXX, or else `c++`). No MPI is needed on the machine. Programs get debug
/// information (-g), and their accesses to memory are instrumented; `-fno-sanitize=thread` leaves
/// that out, and then buffers that are touched too early are not noticed.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What the compiler is called with
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  mazurka mpicc ring.c -o ring
  mazurka mpirun -n 4 ./ring
  make CC=\"mazurka mpicc\"
  mazurka mpicc -show ring.c        what would be run
  mazurka mpicc -v --help           the help of the compiler itself

A link to `mazurka` that is called mpicc, mpicxx or mpirun is that command.";

/// What other wrappers of compilers are asked for what they would run.
const SHOW: [&str; 3] = ["-show", "-showme", "--showme"];

pub(super) fn run(args: Args, language: Language, output: &mut Output) -> Result<Exit, Failure> {
    let scratch = scratch()?;
    let compiler = compiler(language, &scratch);
    let is_show = |argument: &OsString| SHOW.iter().any(|show| argument == show);
    let (show, arguments): (Vec<_>, Vec<_>) = args.arguments.into_iter().partition(is_show);
    if !show.is_empty() {
        output.print(compiler.shown(&arguments).map_err(Failure::Usage)?)?;
        return Ok(Exit::Fine);
    }
    match compiler.run(&arguments).map_err(Failure::Usage)? {
        true => Ok(Exit::Fine),
        false => Err(Failure::Reported),
    }
}

/// A folder that goes when this call does.
pub(super) fn scratch() -> Result<TempDir, Failure> {
    let scratch = tempfile::Builder::new().prefix("mazurka-").tempdir();
    scratch.map_err(|error| Failure::Usage(format!("cannot make a folder: {error}")))
}

/// The user's compiler.
pub(super) fn compiler(language: Language, scratch: &TempDir) -> Compiler {
    let (variable, usual) = match language {
        Language::C => ("MAZURKA_CC", "cc"),
        Language::Cxx => ("MAZURKA_CXX", "c++"),
    };
    let named = std::env::var(variable).ok().filter(|name| !name.trim().is_empty());
    Compiler::new(named.as_deref().unwrap_or(usual), cache(scratch), scratch.path().to_owned())
}

/// Where a compiled library stays for the next time.
fn cache(scratch: &TempDir) -> PathBuf {
    let folder = |variable| std::env::var_os(variable).filter(|name| !name.is_empty());
    let cache = folder("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".cache")));
    let cache = cache.map(|cache| cache.join("mazurka"));
    let is_of_use = |folder: &PathBuf| std::fs::create_dir_all(folder).is_ok();
    cache.filter(is_of_use).unwrap_or_else(|| scratch.path().to_owned())
}
