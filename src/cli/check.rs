//! `mazurka check`: explores a spec and reports what is wrong with it.

use std::time::Duration;

use clap::{Args as ClapArgs, value_parser};

use super::options::{self, DEFAULT_DEPTH, SpecArgs};
use super::output::{Format, Output};
use super::progress::Progress;
use super::spec::Spec;
use super::{Exit, Failure, interrupt, memory};
use crate::explore::{Budget, EXPLORERS, Info, K, Method, Order, Scheduling, explore};
use crate::report::{CheckReport, Limits, json, text};

/// Verify a spec: explore its executions and report what is wrong
///
/// Reports deadlocks (with who waits for what), failed assertions, violated `final` blocks and run-time
/// errors, each with the steps that lead to it and the command that replays them.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// The algorithm; `mazurka explorers` lists them
    #[arg(long, value_name = "NAME", default_value = DEFAULT_EXPLORER)]
    explorer: String,
    /// How thorough UDPOR's alternatives are: 1, 2, .. or `optimal` [default: optimal]
    #[arg(short, value_name = "K", value_parser = options::k)]
    k: Option<K>,
    /// Explore everything instead of stopping at the first violation
    #[arg(long)]
    all: bool,
    /// Cut executions after this many steps; if any is cut, the result says incomplete
    #[arg(long, value_name = "N", default_value_t = DEFAULT_DEPTH, value_parser = value_parser!(u32).range(1..))]
    depth: u32,
    /// Stop after this many complete executions
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    max_traces: Option<u64>,
    /// Stop after this time: 30s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = options::time)]
    timeout: Option<Duration>,
    /// Stop when this much memory is in use: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = options::bytes)]
    max_memory: Option<u64>,
    /// Keep every event of the unfolding in memory (udpor), so that their number is exact however many they are
    #[arg(long)]
    keep_events: bool,
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Print the verdict and nothing else, and show no progress
    #[arg(short, long)]
    quiet: bool,
}

const DEFAULT_EXPLORER: &str = "udpor";

const EXAMPLES: &str = "\
Examples:
  mazurka check philosophers.maz
  mazurka check philosophers.maz -D N=5 --timeout 30s
  mazurka check philosophers.maz --all --explorer exhaustive
  mazurka check philosophers.maz --format json > result.json
  mazurka replay philosophers.maz result.json

Exit codes: 0 explored, nothing violated; 1 a violation was found; 2 the command line or the spec is
wrong; 3 stopped by a limit or a signal before the search was complete, nothing found so far.
Ctrl-C ends the search and prints what it has; a second Ctrl-C ends at once.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let (info, method) = method(&args.explorer, args.k)?;
    if args.max_memory.is_some() && memory::in_use() == 0 {
        return Err(Failure::Usage(
            "--max-memory: this platform does not tell how much memory is in use".into(),
        ));
    }
    let spec = Spec::load(&args.spec, output)?;
    let mut budget = Budget {
        all: args.all,
        depth: Some(args.depth),
        max_traces: args.max_traces,
        timeout: args.timeout,
        max_memory: args.max_memory.map(|bytes| (bytes, memory::in_use as fn() -> u64)),
        cancel: interrupt::flag(),
        ..Budget::default()
    };
    if args.keep_events {
        budget.keep_events = usize::MAX;
    }
    let limits = Limits {
        depth: Some(args.depth),
        max_traces: args.max_traces,
        timeout: args.timeout,
        max_memory: args.max_memory,
    };
    if let Some(why) = method.refusal(&spec.program, &budget) {
        return Err(Failure::Usage(why));
    }
    let mut progress = Progress::new(!args.quiet);
    let outcome = explore(&spec.program, method, budget, &mut progress);
    progress.finish();
    let k = match method {
        Method::Udpor(k) => Some(k),
        _ => None,
    };
    let peak = memory::peak();
    let report = CheckReport::new(spec.subject, &spec.program, (info, k), limits, &outcome, peak);
    match args.format {
        Format::Json => output.print(json::render(&report))?,
        Format::Text => output.print(text::Check { report: &report, quiet: args.quiet })?,
    }
    Ok(report.verdict.into())
}

/// The explorer of that name.
fn method(name: &str, k: Option<K>) -> Result<(&'static Info, Method), Failure> {
    let Some(info) = EXPLORERS.iter().find(|info| info.name == name) else {
        let names: Vec<_> = EXPLORERS.iter().map(|info| info.name).collect();
        let names = names.join(", ");
        return Err(Failure::Usage(format!(
            "there is no explorer `{name}`; there are: {names} (see `mazurka explorers`)"
        )));
    };
    let method = match name {
        "udpor" => Method::Udpor(k.unwrap_or(K::Optimal)),
        _ if k.is_some() => {
            return Err(Failure::Usage(format!(
                "-k sets how thorough the alternatives of `udpor` are; `{name}` has none"
            )));
        }
        "dpor" => Method::Dpor(Scheduling::default()),
        "transdpor" => Method::TransDpor(Scheduling::default()),
        "transdpor-tool" => Method::TransDporTool(Scheduling::default()),
        "dpor-naive" => Method::DporNaive(Order::default()),
        "dpor-force" => Method::DporForce(Order::default()),
        "dpor-ds" => Method::DporDs(Order::default()),
        "source" => Method::Source(Order::default()),
        "sleep" => Method::Sleep(Order::default()),
        _ => Method::Exhaustive,
    };
    Ok((info, method))
}
