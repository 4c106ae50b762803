//! `mazurka step`: the user chooses each step of an execution.
//!
//! A session reads a command, carries it out, and prints what has changed and what can happen next.
//! What a step, a state and a violation look like is decided in the same places as for `replay` and
//! `check`.

mod command;
mod session;
mod walk;

use std::fs::File;
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use clap::Args as ClapArgs;

use super::explorers::ExplorerNames;
use super::files::is_stdin;
use super::known::KnownArgs;
use super::options::{SpecArgs, bytes, time};
use super::output::Output;
use super::spec::Spec;
use super::{Exit, Failure, memory};
use crate::explore::Setting;
use crate::model::printable;
use crate::report::text::shown;
use crate::study::Limits;
use command::Command;
use session::Session;

/// Choose each step of an execution by hand; go back, ask why a process waits, go to a violation
///
/// After each step the list shows all that can happen next, numbered: the process, the line, the
/// operation, and its outcome. An operation with several outcomes has a number for each. A number
/// takes the step, `back` undoes it, `why` says what a process waits for, `help` lists commands.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    known: KnownArgs,
    /// The seed of `run`, which goes on at random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The algorithm with which `jump` searches, as for `check` [default: auto]
    #[arg(long, value_name = "NAME", value_parser = ExplorerNames, hide_possible_values = true)]
    explorer: Option<String>,
    /// A search by `jump` stops after this time: 30s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// A search by `jump` stops when this much memory is allocated: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,
}

const EXAMPLES: &str = "\
With --schedule or RESULT the steps of that execution lie ahead: Enter or `forward` takes the next
one, `goto end` all of them, and any other action leaves it.

If the input is no terminal, each command is printed where it is carried out, so that the output can
be read. The end of the input ends the session.

Examples:
  mazurka step philosophers.maz
  mazurka step philosophers.maz -D N=5 --schedule 0x2,1x2
  mazurka check philosophers.maz -q -o result.json; mazurka step philosophers.maz result.json
  printf 'jump\\nstate\\nwhy\\n' | mazurka step philosophers.maz

Exit codes: 0, whatever is found; 2 the command line, the spec or the schedule is wrong, or the input
is no terminal and some command could not be carried out.
Ctrl-C ends a search or a random execution; at the prompt it ends the session.";

/// The most bytes of a line.
const LONGEST_LINE: u64 = 1 << 16;

pub(super) fn run(mut args: Args, output: &mut Output) -> Result<Exit, Failure> {
    if is_stdin(&args.spec.path) {
        let text = "commands are read from standard input, so the spec must be a file";
        return Err(Failure::Usage(text.into()));
    }
    refuse_program(&args.spec.path)?;
    let setting = args.explorer.as_deref().unwrap_or("auto").trim();
    let setting: Setting = setting.parse().map_err(Failure::Usage)?;
    if args.max_memory.is_some() {
        memory::is_known()?;
    }
    let (timeout, max_memory) = (args.timeout, args.max_memory);
    let limits = Limits { timeout, max_memory, ..Limits::default() };
    let known = args.known.read(&mut args.spec)?;
    let spec = Spec::load(&args.spec, output)?;
    let mut session = Session::new(&spec, (setting, limits), args.seed)?;
    session.begin(known, output)?;
    let is_typed = io::stdin().is_terminal();
    if is_typed && !output.is_quiet() {
        output.note("Type help for the commands.\n");
    }
    let mut has_failed = false;
    loop {
        let prompt = session.prompt();
        if is_typed {
            output.print(&prompt)?;
        }
        let Some(line) = read_line()? else { break };
        if !is_typed {
            output.print(format!("{prompt}{}\n", printable(&line)))?;
        }
        let done = match Command::parse(&line) {
            Ok(None) => continue,
            Ok(Some(Command::Quit)) => break,
            Ok(Some(command)) => session.carry_out(command, output)?,
            Err(why) => Err(why),
        };
        if let Err(why) = done {
            has_failed = true;
            output.print(format!("  {}\n", printable(&why)))?;
        }
    }
    match has_failed && !is_typed {
        true => Err(Failure::Reported),
        false => Ok(Exit::Fine),
    }
}

/// The next line of the input, without its end; `None` at the end of the input.
fn read_line() -> Result<Option<String>, Failure> {
    let mut line = Vec::new();
    let read = io::stdin().lock().take(LONGEST_LINE).read_until(b'\n', &mut line);
    let read = read.map_err(|why| Failure::Usage(format!("cannot read the commands: {why}")))?;
    let text = String::from_utf8_lossy(&line);
    Ok((read > 0).then(|| text.trim_end_matches(['\n', '\r']).to_owned()))
}

/// Endings of programs in other languages.
const OTHERS: [&str; 10] = ["rs", "c", "cc", "cpp", "cxx", "f", "f90", "py", "pml", "tla"];
/// How programs for a machine begin: ELF, Mach-O, Windows.
const BINARIES: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];

/// Refuses a file that is no spec.
fn refuse_program(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let mut start = Vec::new();
    // If it cannot be read, the spec cannot either, which is reported there.
    let file = File::open(path).ok().filter(|_| path.is_file());
    let _ = file.map(|file| file.take(4).read_to_end(&mut start));
    let is_binary = BINARIES.iter().any(|magic| start.starts_with(magic));
    if !is_binary && !OTHERS.contains(&ending) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{} is not a spec (.maz), and only specs can be stepped through. MPI programs are verified by \
         `mazurka mpirun`, programs in Rust by a test of their own; both show each step of a counterexample",
        shown(path)
    )))
}
