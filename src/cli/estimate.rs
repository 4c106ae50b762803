//! `mazurka estimate`: how large is a search, and who would be quick?

use std::time::Duration;

use clap::Args as ClapArgs;

use super::growth::states_in_all;
use super::options::{SpecArgs, time};
use super::output::{FileArgs, Format, Output};
use super::progress::Progress;
use super::spec::Spec;
use super::{Exit, Failure, interrupt};
use crate::explore::estimate::{Estimate, estimate};
use crate::explore::{Budget, Explorer, Guarantee, Outcome, Setting, explore};
use crate::lang::Program;
use crate::model::Value;
use crate::property::Properties;
use crate::report::estimate::{EstimateReport, Smaller, Text, Tried};
use crate::report::{StatesInAll, json};
use crate::study::Case;

/// Estimate how large the search of a spec is, and how long it takes
///
/// Estimates the number of classes from samples, without exploring them. Then several explorers
/// have a short time each, and constants are made smaller by 1, one at a time: so you see which
/// explorer is quick, and which constant matters most.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// The time for everything together
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "10s")]
    time: Duration,
    /// The largest number of samples
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// The seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    file: FileArgs,
}

const EXAMPLES: &str = "\
Examples:
  mazurka estimate philosophers.maz -D N=9 --time 1s
  mazurka estimate philosophers.maz -D N=9 --time 1s --format json

Exit codes: 0 estimated; 2 the command line or the spec is wrong; 3 the number of classes cannot be
estimated, because executions may be endless, or the time was too short.";

/// The explorers that are tried.
const TRIED: [&str; 5] = ["udpor", "prefix", "dl-s-por", "stateful", "fused"];
/// The parts of the time: for samples, for the explorers, and for smaller constants.
const SHARES: u32 = 3;

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    output.direct(args.file.file(), [args.spec.path.as_path()])?;
    let (case, spec) = Spec::with_case(&args.spec, output)?;
    let budget = Budget {
        properties: Properties::default().allow_pending(spec.subject.allow_pending),
        cancel: interrupt::flag()?,
        ..Budget::default()
    };
    let share = args.time / SHARES;
    let by = (args.samples, args.seed);
    let within = |time| Budget { timeout: Some(time), ..budget.clone() };
    let found = estimate(&spec.program, &within(share), by);
    let known = found.ok();
    let tried = tried((&case, &spec.program), (&budget, share), known, output);
    let mut smaller = Vec::new();
    if known.is_some() {
        let mut smaller_cases = Vec::new();
        for (name, value) in spec.program.constants() {
            let &Value::Int(value @ 1..) = value else { continue };
            // Some constants cannot be smaller.
            if let Ok(program) = case.with(name, value - 1).compile() {
                smaller_cases.push((name.to_owned(), value - 1, program));
            }
        }
        let each = share / (smaller_cases.len() as u32).max(1);
        for (constant, value, program) in smaller_cases {
            if let Ok(found) = estimate(&program, &within(each), by) {
                smaller.push(Smaller { constant, value, classes: found.into() });
            }
        }
    }
    let report = EstimateReport {
        subject: spec.subject,
        classes: known.map(Into::into),
        not_estimated: found.err(),
        tried,
        smaller,
    };
    match args.file.format() {
        Format::Json => output.print(json::render(&report))?,
        Format::Text => output.print(Text(&report))?,
    }
    Ok(if known.is_some() { Exit::Fine } else { Exit::Incomplete })
}

/// How far explorers come in this time together.
fn tried(
    (case, program): (&Case, &Program),
    (budget, time): (&Budget, Duration),
    known: Option<Estimate>,
    output: &Output,
) -> Vec<Tried> {
    let settings = TRIED.map(|name| name.parse::<Setting>().expect("an explorer"));
    let fit: Vec<Setting> =
        settings.into_iter().filter(|one| one.refusal(program, budget).is_none()).collect();
    let each = time / (fit.len() as u32).max(1);
    let mut progress = Progress::new(!output.is_quiet());
    let of = |setting: Setting| {
        let stores_states = setting.profile().guarantee == Guarantee::EveryEnd;
        let time = if stores_states { each / 2 } else { each };
        let within = Budget { timeout: Some(time), ..budget.clone() };
        let outcome = explore(program, setting, within, &mut progress);
        let is_open = stores_states && !outcome.is_complete() && outcome.violations.is_empty();
        let in_all = is_open.then(|| states_in_all(case, program, setting, (budget, time)));
        tried_by(setting, &outcome, known, in_all.flatten())
    };
    let all = fit.into_iter().map(of).collect();
    progress.finish();
    all
}

/// What came of a search that was given a short time.
pub(super) fn tried_by(
    setting: Setting,
    outcome: &Outcome,
    known: Option<Estimate>,
    in_all: Option<StatesInAll>,
) -> Tried {
    let (stats, seconds) = (&outcome.stats, outcome.elapsed.as_secs_f64());
    let explorer = setting.profile().name;
    let (unit, count) = match (stats.prefix, stats.states) {
        (Some(prefix), _) => ("events", prefix.events),
        (_, Some(states)) => ("states", states),
        (None, None) => ("classes", stats.traces),
    };
    let in_all = in_all.filter(|all| unit == "states" && count <= all.number);
    let share = match &in_all {
        Some(all) => Some(count as f64 / all.number as f64),
        None => known.filter(|_| unit == "classes").map(|known| count as f64 / known.classes),
    };
    let seconds_in_all = share.filter(|&share| share > 0.0);
    Tried {
        explorer,
        unit,
        count,
        seconds,
        complete: outcome.is_complete(),
        violated: !outcome.violations.is_empty(),
        in_all,
        seconds_in_all: seconds_in_all.map(|share| seconds / share.min(1.0)),
    }
}
