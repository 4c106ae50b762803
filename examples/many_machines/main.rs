//! How many machines does a search keep busy?
//!
//! Records the tree of a search, and simulates `mpirun mazurka check` on it with any number of
//! workers ([`simulation`]). With `--processes`, the same search is also made by processes of this
//! machine ([`processes`]), to compare the simulation with. For example:
//!
//! ```console
//! $ cargo run --release --features tools --example many_machines -- specs/memory/lastzero.maz \
//!     -D N=15 --workers 1,10,100 --processes 1,2 --cores 2
//! ```

mod processes;
mod running;
mod simulation;
mod tree;
mod turns;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, thread};

use clap::Parser;
use mazurka::explore::{AnyExplorer, Listed, Options};
use mazurka::lang::{self, Program};

use running::Recorded;
use simulation::{Figures, Setup, simulate};
use tree::Tree;
use turns::Turns;

#[derive(Parser)]
#[command(about = "Simulates a search by many machines, on the recorded tree of the search")]
struct Args {
    spec: PathBuf,
    /// Set a constant of the spec
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    defines: Vec<String>,
    #[arg(long, default_value = "parsimonious")]
    explorer: String,
    /// The file of the recorded tree: read if it exists, else written
    #[arg(long)]
    tree: Option<PathBuf>,
    /// The transitions between two pieces that are recorded
    #[arg(long, default_value_t = 1024)]
    recorded: u32,
    /// The numbers of workers that are simulated
    #[arg(long, value_delimiter = ',', default_value = "1,10,100,1000,10000")]
    workers: Vec<u32>,
    /// Search with so many processes, too, and compare: for a machine that does nothing else
    #[arg(long, value_delimiter = ',')]
    processes: Vec<u32>,
    /// Search with so many workers that take turns, too, and compare by processor time
    #[arg(long, value_delimiter = ',')]
    turns: Vec<u32>,
    /// The cores of this machine, for --processes
    #[arg(long, default_value_t = 2)]
    cores: u32,
    /// Simulate a tree that begins with the recorded one so many times
    #[arg(long, default_value_t = 1)]
    copies: u32,
    /// Simulate transitions that take so many times as long
    #[arg(long, default_value_t = 1.0)]
    slowness: f64,
    /// Microseconds that a message is under way
    #[arg(long, default_value_t = 20)]
    latency: u64,
    /// Microseconds that it lies there where nothing else is to be done
    #[arg(long, default_value_t = 500)]
    poll: u64,
    /// Microseconds that rank 0 needs for any message, besides what is measured
    #[arg(long, default_value_t = 3)]
    service: u64,
    /// Failures of each worker per hour
    #[arg(long, default_value_t = 0.0)]
    failures: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Be a worker (for --processes)
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let source = fs::read_to_string(&args.spec)?;
    let defines: Vec<(String, String)> = args
        .defines
        .iter()
        .filter_map(|define| define.split_once('='))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let program = lang::compile(&args.spec.to_string_lossy(), &source, &defines)
        .map_err(|found| found.to_string())?;
    let explorer = Listed::named(&args.explorer)?.with(&Options::default());
    if args.worker {
        return Ok(processes::work(&program, explorer)?);
    }
    let tree = recorded(&args, &program, explorer)?;
    println!(
        "{} traces, {} transitions in {} pieces; a transition {:.0} ns, to begin a piece {:.0} µs, a branch is read and checked in {:.0} µs, written in {:.0} µs",
        tree.traces,
        tree.transitions(),
        tree.pieces.len(),
        tree.costs.transition * 1e9,
        tree.costs.begin * 1e6,
        tree.costs.read * 1e6,
        tree.costs.write * 1e6,
    );
    compare(&args, &program, &tree)?;
    compare_turns(&args, (&program, explorer), &tree);
    let tree = if args.copies > 1 { tree.times(args.copies) } else { tree };
    let work = tree.transitions() as f64 * tree.costs.transition * args.slowness;
    println!(
        "workers | time s | speed-up | utilisation % | messages | rank 0 busy % | queue | pieces | failed"
    );
    for &workers in &args.workers {
        let setup = Setup { workers, ..setup(&args) };
        let found = simulate(Recorded::new(&tree, args.slowness), &setup);
        let time = found.time.as_secs_f64();
        let Figures { messages, longest_queue, pieces, failed, .. } = found;
        println!(
            "{workers} | {time:.3} | {:.1} | {:.1} | {messages} | {:.1} | {longest_queue} | {pieces} | {failed}",
            work / time,
            100.0 * work / time / f64::from(workers),
            100.0 * found.busy.as_secs_f64() / time,
        );
    }
    Ok(())
}

fn setup(args: &Args) -> Setup {
    Setup {
        workers: 1,
        cores: 0,
        latency: Duration::from_micros(args.latency),
        poll: Duration::from_micros(args.poll),
        service: Duration::from_micros(args.service),
        is_measured: true,
        failures: args.failures,
        seed: args.seed,
    }
}

/// The recorded tree, from its file if there is one.
fn recorded(args: &Args, program: &Program, explorer: AnyExplorer) -> Result<Tree, Box<dyn Error>> {
    if let Some(file) = &args.tree
        && file.exists()
    {
        return Ok(serde_json::from_slice(&fs::read(file)?)?);
    }
    let tree = Tree::record(program, explorer, args.recorded);
    if let Some(file) = &args.tree {
        fs::write(file, serde_json::to_vec(&tree)?)?;
    }
    Ok(tree)
}

/// Compares simulations with searches by processes of this machine.
fn compare(args: &Args, program: &Program, tree: &Tree) -> Result<(), Box<dyn Error>> {
    if args.processes.is_empty() {
        return Ok(());
    }
    let arguments: Vec<String> = env::args().skip(1).chain(["--worker".into()]).collect();
    println!(
        "processes | searched s | simulated s | simulated : searched | pieces | simulated | rank 0 busy s | simulated"
    );
    for &workers in &args.processes {
        let found = processes::search(program, workers, &arguments)?;
        assert_eq!(found.stats.transitions, tree.transitions(), "the tree is of another search");
        let pipes = Duration::from_micros(20);
        let setup = Setup {
            workers,
            cores: args.cores,
            latency: pipes,
            poll: Duration::ZERO,
            ..setup(args)
        };
        let simulated = simulate(Recorded::new(tree, 1.0), &setup);
        let (time, other) = (found.time.as_secs_f64(), simulated.time.as_secs_f64());
        println!(
            "{workers} | {time:.2} | {other:.2} | {:.2} | {} | {} | {:.3} | {:.3}",
            other / time,
            found.pieces,
            simulated.pieces,
            found.busy.as_secs_f64(),
            simulated.busy.as_secs_f64(),
        );
    }
    Ok(())
}

/// Compares simulations of the recorded tree with searches by workers that take turns.
fn compare_turns(args: &Args, (program, explorer): (&Program, AnyExplorer), tree: &Tree) {
    if args.turns.is_empty() {
        return;
    }
    println!(
        "workers | searched s | simulated s | simulated : searched | pieces | simulated | rank 0 busy s | simulated"
    );
    for &workers in &args.turns {
        let setup = Setup { workers, ..setup(args) };
        let mut costs = tree.costs;
        costs.transition = Tree::transition_time(program, explorer);
        let found = thread::scope(|scope| simulate(Turns { program, explorer, scope }, &setup));
        assert_eq!(found.done.transitions, tree.transitions(), "the tree is of another search");
        let simulated = simulate(Recorded::new(&Tree { costs, ..tree.clone() }, 1.0), &setup);
        let (time, other) = (found.time.as_secs_f64(), simulated.time.as_secs_f64());
        println!(
            "{workers} | {time:.2} | {other:.2} | {:.2} | {} | {} | {:.3} | {:.3}",
            other / time,
            found.pieces,
            simulated.pieces,
            found.busy.as_secs_f64(),
            simulated.busy.as_secs_f64(),
        );
    }
}
