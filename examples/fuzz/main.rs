//! Tries the program on specs and command lines that nobody would write.
//!
//! `cargo run --release --features tools --example fuzz -- --count 10000 --seed 1 --jobs 4` makes trials from the seeds 1 to 10000. Each mixes
//! pieces of the shipped specs and runs some command on the outcome, with small limits ([`trial`] says what is
//! judged). What goes wrong is made small and told with its seed, once for each kind; the exit code is 1 then.
//! `--count 1 --seed S` does one trial again. The trials run in processes of their own, each of which is this program.
//!
//! `cargo run --release --features tools --example fuzz -- programs --count 100000` explores random programs with every
//! explorer instead, compares what they find, and has certificates audited ([`programs`]); with `--family demands` it
//! explores programs that demand something of endless executions, with `--family standstills` programs whose sends may
//! be buffered or not. `-- files` damages files, and has them read
//! ([`files`]).

mod amount;
mod audited;
mod corpus;
mod damage;
mod files;
mod mutation;
mod options;
mod programs;
mod random;
mod settings;
mod shrink;
mod standing;
mod trial;

#[path = "../../tests/random_models/commuting.rs"]
mod commuting;
// Tests need more of it.
#[allow(dead_code)]
#[path = "../../tests/liveness"]
mod liveness {
    pub mod judged;
    mod oracle;
    pub mod programs;
}
// Tests need more of it.
#[allow(dead_code)]
#[path = "../../tests/random_models/erased.rs"]
mod erased;
#[path = "../../tests/random_models/language.rs"]
mod language;
#[path = "../../tests/random_models/rng.rs"]
mod rng;
#[path = "../../tests/forged/sealed.rs"]
mod sealed;
#[path = "../../tests/standstill"]
mod standstill {
    use crate::rng::Rng;

    pub mod choices;
    pub mod waits;
}
#[path = "../../tests/random_models/unforeseen.rs"]
mod unforeseen;

use std::alloc::System;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cap::Cap;
use clap::Parser;

use erased::Erased;
use programs::Task;
use rng::Rng;
use trial::{Patience, Trial};

/// Counts what is allocated, for `--max-memory`.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Set in the processes that are the program itself.
const AS_PROGRAM: &str = "MAZURKA_FUZZ_AS_PROGRAM";

/// Run the program on random specs and command lines, and say where it goes wrong
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Args {
    #[command(subcommand)]
    task: Option<Task>,
    /// How many trials
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The seed of the first trial
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// The limit of time of each, in milliseconds
    #[arg(long, default_value_t = 300)]
    timeout: u64,
    /// So many milliseconds of processor time beyond the limit are a finding
    #[arg(long, default_value_t = 500)]
    slack: u64,
}

fn main() -> ExitCode {
    if env::var_os(AS_PROGRAM).is_some() {
        return mazurka::cli::main(|| ALLOCATOR.allocated() as u64);
    }
    let args = Args::parse();
    if let Some(task) = args.task {
        return task.run();
    }
    let corpus = corpus::corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("specs"));
    let patience = Patience {
        timeout: Duration::from_millis(args.timeout),
        slack: Duration::from_millis(args.slack),
        at_most: Duration::from_secs(120),
    };
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let codes = [const { AtomicU64::new(0) }; 4];
    let found = Mutex::new(BTreeSet::new());
    thread::scope(|scope| {
        for job in 0..args.jobs {
            let (corpus, next, codes, found) = (&corpus, &next, &codes, &found);
            let folder = env::temp_dir().join(format!("mazurka-fuzz-{}-{job}", std::process::id()));
            scope.spawn(move || {
                fs::create_dir_all(&folder).expect("a folder for trials");
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= args.count {
                        break;
                    }
                    if let Some(code) =
                        attempt(args.seed + number, corpus, &folder, patience, found)
                    {
                        codes[code as usize].fetch_add(1, Ordering::Relaxed);
                    }
                    if number % 1000 == 999 {
                        println!("{} trials, {:?}", number + 1, start.elapsed());
                    }
                }
                let _ = fs::remove_dir_all(&folder);
            });
        }
    });
    let found = found.into_inner().expect("no trial panics");
    let took = start.elapsed();
    println!("{} trials in {took:?}, {} kinds of findings", args.count, found.len());
    for (code, count) in codes.iter().enumerate() {
        println!("  exit code {code}: {}", count.load(Ordering::Relaxed));
    }
    ExitCode::from(u8::from(!found.is_empty()))
}

fn program() -> Command {
    let mut command = Command::new(env::current_exe().expect("the path of this program"));
    command.env(AS_PROGRAM, "1");
    command
}

/// One trial; its exit code. Tells what is wrong with it instead, if nothing like it was told.
fn attempt(
    seed: u64,
    corpus: &[Vec<String>],
    folder: &Path,
    patience: Patience,
    found: &Mutex<BTreeSet<String>>,
) -> Option<i32> {
    let judge = |trial: &Trial| trial.judge(&program, folder, patience);
    let trial = Trial::new(seed, corpus);
    let finding = match judge(&trial) {
        Ok(code) => return Some(code),
        Err(finding) => finding,
    };
    if !found.lock().expect("no trial panics").insert(shrink::kind(&finding)) {
        return None;
    }
    let small = shrink::shrink(trial, &finding, &judge);
    let limits = options::limits(&small.args, &format!("{}ms", patience.timeout.as_millis()));
    println!("\nseed {seed}: {finding}");
    println!("  mazurka {:?}", [small.args.clone(), limits].concat());
    println!("{}\n", small.spec().escape_debug().to_string().replace("\\n", "\n"));
    None
}
