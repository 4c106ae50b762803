//! `mazurka draw`: the unfolding, one class of executions, one execution, a search or the program as a picture.

use std::fs;
use std::path::Path;

use clap::{Args as ClapArgs, ValueEnum, value_parser};

use super::options::SpecArgs;
use super::output::Output;
use super::spec::Spec;
use super::{Exit, Failure};
use crate::explore::prefix::{Extent, record};
use crate::explore::{Budget, ENDLESS, K, Method, NoObserver, Observer, explore, unfold};
use crate::model::{Action, State};
use crate::property::{Refusal, schedule};
use crate::report::picture::{ControlFlow, PartialOrder, Picture, SearchTree, SpaceTime};
use crate::report::{dot, json, svg};

/// Draw the unfolding of a spec, one class of its executions, one execution, how UDPOR searches, or the program
///
/// The unfolding shows all executions at once: events with their direct causes, and immediate conflicts where
/// executions part. A configuration is one class of executions, as a partial order. A space-time diagram is one
/// execution, time downwards, with the messages and mutexes that went from process to process and, after a
/// deadlock, who waits for whom. Steps are the calls of UDPOR, a tree, each with its sets C, D and A, the event
/// that it chooses and the alternative J that it finds; events have the same numbers as in the unfolding.
/// Processes are the text of the program as control flow: branches, loops, handlers, and which steps others can see.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// What to draw
    #[arg(long, value_name = "WHAT", default_value = "unfolding")]
    what: What,
    /// Which class of executions, counted from 1 as UDPOR visits them
    /// [default: the first violation among 10,000 of them, or else 1]
    #[arg(long, value_name = "N", conflicts_with = "schedule", value_parser = value_parser!(u64).range(1..))]
    trace: Option<u64>,
    /// Which execution, as `check` and `run` print it
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<String>,
    /// Draw so many events or steps at most; what is left out is noted in the picture
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = value_parser!(u32).range(1..))]
    max_events: u32,
    /// Of the steps: how thorough UDPOR's alternatives are, 1, 2, .. or `optimal` [default: optimal]
    #[arg(short, long, value_name = "K", value_parser = value_parser!(K))]
    k: Option<K>,
    /// Draw so many steps of a search at most
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = value_parser!(u32).range(1..))]
    max_nodes: u32,
    /// Where to write it: a name that ends in .svg, .dot or .json
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// What to write; by default what the ending of FILE says, and without FILE, dot
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

const EXAMPLES: &str = "\
Examples:
  mazurka draw philosophers.maz -D N=2 -o unfolding.svg
  mazurka draw philosophers.maz --what space-time -o deadlock.svg
  mazurka draw philosophers.maz --what space-time --schedule 0x2,1x2 -o start.svg
  mazurka draw philosophers.maz --what configuration --trace 2 | dot -Tpdf > class.pdf
  mazurka draw philosophers.maz --what steps --k 1 -o search.svg
  mazurka draw philosophers.maz --max-events 50 --format json > events.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Events, causality and immediate conflict
    Unfolding,
    /// The events of one class of executions, a partial order
    Configuration,
    /// One execution, time against processes
    SpaceTime,
    /// The calls of UDPOR
    Steps,
    /// The control flow of processes and actors
    Processes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Svg,
    Dot,
    Json,
}

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let format = format(&args)?;
    let is_of_one = matches!(args.what, What::Configuration | What::SpaceTime);
    if !is_of_one && (args.trace.is_some() || args.schedule.is_some()) {
        let why = "--trace and --schedule are for --what configuration and --what space-time";
        return Err(Failure::Usage(why.into()));
    }
    if args.what != What::Steps && args.k.is_some() {
        return Err(Failure::Usage("-k is for --what steps".into()));
    }
    let spec = Spec::load(&args.spec, output)?;
    let picture = picture(&args, &spec)?;
    let text = match format {
        Format::Svg => svg::render(&picture),
        Format::Dot => dot::render(&picture),
        Format::Json => json::render(&picture),
    };
    match &args.output {
        None => output.print(text)?,
        Some(file) => fs::write(file, text)
            .map_err(|error| Failure::Usage(format!("cannot write {file}: {error}")))?,
    }
    Ok(Exit::Fine)
}

fn format(args: &Args) -> Result<Format, Failure> {
    let Some(file) = args.output.as_ref().filter(|_| args.format.is_none()) else {
        return Ok(args.format.unwrap_or(Format::Dot));
    };
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
    ending.and_then(|ending| Format::from_str(ending, true).ok()).ok_or_else(|| {
        Failure::Usage(format!("{file}: end the name in .svg, .dot or .json, or use --format"))
    })
}

fn picture(args: &Args, spec: &Spec) -> Result<Picture, Failure> {
    let (subject, limit) = (spec.subject.clone(), args.max_events as usize);
    let refused = |refusal: Refusal| Failure::Usage(refusal.to_string());
    Ok(match args.what {
        What::Unfolding => {
            let (prefix, outcome) = unfold(&spec.program, limit, budget(spec), &mut NoObserver);
            let of = PartialOrder::of_unfolding(subject, &spec.program, prefix, &outcome, limit);
            Picture::Order(of)
        }
        What::Configuration => {
            let schedule = execution(args, spec)?;
            let of = PartialOrder::of_execution(subject, &spec.program, &schedule, limit);
            Picture::Order(of.map_err(refused)?)
        }
        What::SpaceTime => {
            let schedule = execution(args, spec)?;
            let of = SpaceTime::of_execution(subject, &spec.program, &schedule, limit);
            Picture::SpaceTime(of.map_err(refused)?)
        }
        What::Steps => Picture::Steps(search(args, spec)),
        What::Processes => Picture::Processes(ControlFlow::new(subject, spec.program.flows())),
    })
}

/// The search, after the one that numbers the events of the unfolding.
fn search(args: &Args, spec: &Spec) -> SearchTree {
    let (k, program) = (args.k.unwrap_or(K::Optimal), &spec.program);
    let (events, calls) = (args.max_events as usize, args.max_nodes as usize);
    let (mut full, _) = unfold(program, events, budget(spec), &mut NoObserver);
    let extent = Extent { events, calls };
    let search = record(program, k, extent, budget(spec), &mut NoObserver);
    SearchTree::of_search(spec.subject.clone(), program, k, search, &mut full, events)
}

fn budget(spec: &Spec) -> Budget {
    Budget {
        all: true,
        allow_pending: spec.subject.allow_pending,
        depth: Some(ENDLESS),
        ..Budget::default()
    }
}

/// A violation is looked for among so many classes: a drawing is not worth a search without end.
const SEARCHED: u64 = 10_000;

/// The execution asked for; else the first violation, or else the first class.
fn execution(args: &Args, spec: &Spec) -> Result<Vec<Action>, Failure> {
    if let Some(text) = &args.schedule {
        return schedule::parse(text).map_err(Failure::Usage);
    }
    let mut visited = Visited { wanted: args.trace.unwrap_or(1), seen: 0, found: None };
    let budget = Budget {
        all: args.trace.is_some(),
        max_traces: Some(args.trace.unwrap_or(SEARCHED)),
        ..budget(spec)
    };
    let outcome = explore(&spec.program, Method::Udpor(K::Optimal), budget, &mut visited);
    if let (None, Some(violation)) = (args.trace, outcome.violations.into_iter().next()) {
        return Ok(violation.schedule);
    }
    let seen = visited.seen;
    visited.found.ok_or_else(|| {
        Failure::Usage(match args.trace {
            Some(wanted) => format!("there is no trace {wanted}: the search has {seen}"),
            None => "no execution was followed to its end".into(),
        })
    })
}

/// Keeps one of the executions visited.
struct Visited {
    wanted: u64,
    seen: u64,
    found: Option<Vec<Action>>,
}

impl Observer for Visited {
    fn trace(&mut self, state: &State) {
        self.seen += 1;
        if self.seen == self.wanted {
            self.found = Some(state.portable_schedule());
        }
    }
}
