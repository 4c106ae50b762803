//! `mazurka client`: generates a bounded client of a data structure.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum, value_parser};

use super::options::{Define, define, time};
use super::output::Output;
use super::{Exit, Failure, files, spec};
use crate::report::text::{quoted, quoted_path};
use crate::workshop::client::{self, Buggy, Unmade, Wish};

/// Generate a bounded client of a data structure, which checks what its calls return
///
/// The structure is a .maz file with a procedure for each operation. The client has one process for
/// each thread, with calls chosen at random. It asserts that the results of the calls are the
/// results of some sequential execution of the same calls.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The structure, a .maz file; `-` reads standard input
    #[arg(value_name = "STRUCTURE")]
    path: PathBuf,
    /// The number of threads of the client
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u8).range(1..=8))]
    threads: u8,
    /// The number of calls of each thread
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u8).range(1..=20))]
    calls: u8,
    /// The procedures to call [default: the procedures that no other procedure calls]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    operations: Vec<String>,
    /// Keys are 1 to this number; fewer keys mean more contention
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u16).range(1..=1000))]
    keys: u16,
    /// How many calls use the key that triggers a bug, BUGGY_KEY of the structure [default: random]
    #[arg(long, value_name = "CLASS")]
    buggy: Option<Class>,
    /// The seed of the random choices: another seed makes another client
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Set a constant of the structure; may be given several times. The constants KEYS and CALLS,
    /// if the structure has them, are always set to the number of keys and the number of all calls
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    defines: Vec<Define>,
    /// Give up after this time: the results of all sequential executions are computed first
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1m")]
    timeout: Duration,
    /// Write the client to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  mazurka client lazy-list.maz -o client.maz && mazurka check client.maz
  mazurka client lazy-list.maz --threads 2 --calls 4 --operations add,remove --keys 1
  mazurka client lazy-list.maz --buggy one --seed 7 -o client.maz

Parameters: `key: int` gets a key, any other int the number of the call, so that it differs in all
calls; bools and enumerations get any value. Calls return ints, bools, variants, tuples of these, or
nothing.

Exit codes: 0 the client was generated; 2 the command line or the structure is wrong.";

/// `--buggy`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Class {
    All,
    Half,
    One,
    None,
}

impl From<Class> for Buggy {
    fn from(class: Class) -> Buggy {
        match class {
            Class::All => Buggy::All,
            Class::Half => Buggy::Half,
            Class::One => Buggy::One,
            Class::None => Buggy::None,
        }
    }
}

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    output.direct(args.output.as_deref(), [args.path.as_path()])?;
    let source = files::read(&args.path)?;
    let name = spec::name(&args.path);
    let defines = spec::effective(&args.defines);
    let wish = Wish {
        threads: args.threads.into(),
        calls: args.calls.into(),
        operations: args.operations.clone(),
        keys: args.keys.into(),
        seed: args.seed,
        buggy: args.buggy.map(Buggy::from),
        timeout: Some(args.timeout),
        defines: defines.map(|define| (define.name.clone(), define.value.clone())).collect(),
    };
    let client =
        client::client(&name, &source, &wish, &args.command()).map_err(|why| match why {
            Unmade::Unfit(why) => Failure::Usage(format!("{name}: {why}")),
            Unmade::Wrong(diagnostics) => Failure::Spec(Box::new(diagnostics)),
        })?;
    output.print(&client.text)?;
    Ok(Exit::Fine)
}

impl Args {
    /// The command that generates the same client, with every default written out.
    fn command(&self) -> String {
        let Args { path, threads, calls, keys, seed, .. } = self;
        let mut command = format!(
            "mazurka client {} --threads {threads} --calls {calls} --keys {keys} --seed {seed}",
            quoted_path(path)
        );
        if !self.operations.is_empty() {
            command += &format!(" --operations {}", quoted(self.operations.join(",")));
        }
        if let Some(name) = self.buggy.and_then(|class| class.to_possible_value()) {
            command += &format!(" --buggy {}", name.get_name());
        }
        for Define { name, value } in spec::effective(&self.defines) {
            command += &format!(" -D {}", quoted(format!("{name}={value}")));
        }
        command
    }
}
