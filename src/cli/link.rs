//! `mazurka link`: links with the names of MPI's commands, for scripts and build systems that look
//! for these.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::output::Output;
use super::{COMPILERS, Exit, Failure, STARTERS};

/// Make links with the names of MPI's commands in a folder
///
/// For build systems that look for `mpicc` and `mpirun`, or in which a compiler is one word. What
/// is there already is not replaced, unless it is a link to another build of `mazurka`.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder, which is made if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  mazurka link mpi
  PATH=\"$PWD/mpi:$PATH\" cmake -S . -B build -D CMAKE_C_COMPILER=mpicc

The links are mpicc, mpicxx, mpic++, mpif90, mpif77, mpifort, mpirun and mpiexec.";

pub(super) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Args { folder } = args;
    let failed = |error: std::io::Error| {
        Failure::Usage(format!("cannot make links in {}: {error}", folder.display()))
    };
    let program = std::env::current_exe().and_then(fs::canonicalize).map_err(failed)?;
    fs::create_dir_all(folder).map_err(failed)?;
    for name in COMPILERS.into_iter().chain(STARTERS) {
        let link = folder.join(name);
        match fs::read_link(&link) {
            Ok(at) if at == program => continue,
            // It is one of another build.
            Ok(at) if at.file_name() == program.file_name() => {
                fs::remove_file(&link).map_err(failed)?;
            }
            // What belongs to another MPI stays; then the link cannot be made.
            _ => {}
        }
        symlink(&program, &link).map_err(|error| {
            Failure::Usage(format!("cannot make the link {}: {error}", link.display()))
        })?;
    }
    let whole = fs::canonicalize(folder).map_err(failed)?;
    output.print(format!(
        "{} has mpicc, mpicxx, mpic++, mpif90, mpif77, mpifort, mpirun and mpiexec.\nPut it first: export PATH=\"{}:$PATH\"\n",
        folder.display(),
        whole.display()
    ))?;
    Ok(Exit::Fine)
}
