//! `mazurka draw`: a picture of the unfolding, of one class of executions, one execution, a search,
//! or the program; or a page with most of these.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum, value_parser};

use super::drawing::{self, Effort, EffortArgs, Format, MAX_EVENTS, MAX_NODES};
use super::options::SpecArgs;
use super::output::Output;
use super::spec::Spec;
use super::{Exit, Failure, files};
use crate::explore::recording::{Added, Extent, Searched};
use crate::explore::{
    AnyExplorer, Budget, Dpor, End, Exhaustive, K, NoObserver, Observer, Over, Setting,
    ShownPrefix, StopReason, TransDpor, Udpor, explore, finite_prefix, unfold,
};
use crate::model::{Schedule, System};
use crate::property::Position;
use crate::report::mci;
use crate::report::picture::{ControlFlow, PartialOrder, Picture};
use crate::report::viewer::{Asked, View, Viewer};

/// Draw the unfolding of a spec, one class of its executions, one execution, a search by UDPOR, or
/// the program
///
/// The unfolding shows all executions at once: events with their direct causes, and immediate
/// conflicts where executions part. The prefix ends where it leads back to states that were there
/// before, so it is finite if they are. In it, a mutex that is only locked and unlocked is locked
/// in one step. A configuration is one class of executions, as a partial order. A space-time
/// diagram is one execution, with time downwards, with the messages and mutexes that went from
/// process to process and, after a deadlock, which process waits for which. Steps are the calls of
/// UDPOR as a tree: each has its sets C, D and A, the event that it chooses and the alternative J
/// that it finds; or those of DPOR over configurations. Events have the same numbers as in the
/// unfolding. Processes are the control flow of the program: branches, loops, handlers, and the
/// steps that other processes can observe.
///
/// A file that ends in .html is a page with most of these pictures, to be opened in a browser: pan,
/// zoom, search, click an event to see its history, step through executions and watch the state. It
/// starts with the picture named by --what, at the execution named by --trace or --schedule, or
/// else at a violation. It has one execution of each class, for up to 10,000 classes. The page of
/// --what prefix has only the prefix, and the executions that lead to its last events. A page needs
/// no network; `?` shows its keys.
///
/// A file that ends in .mci is a whole prefix for other programs, in the format of unfolders of
/// Petri nets (PUNF, Mole).
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// What to draw
    #[arg(long, value_name = "WHAT", default_value = "unfolding")]
    what: What,
    /// Which class of executions, counted from 1 as UDPOR visits them [default: the first violation
    /// among 10,000 classes, or else 1]
    #[arg(long, value_name = "N", conflicts_with = "schedule", value_parser = value_parser!(u64).range(1..))]
    trace: Option<u64>,
    /// Which execution, as `check` and `run` print it
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<String>,
    /// Draw at most N events or steps; the picture notes what is left out
    #[arg(long, value_name = "N", default_value_t = MAX_EVENTS, value_parser = value_parser!(u32).range(1..))]
    max_events: u32,
    /// For --what steps: UDPOR's k for its alternatives, 1, 2, .. or `optimal` [default: optimal]
    #[arg(short, long, value_name = "K", value_parser = value_parser!(K))]
    k: Option<K>,
    /// For --what steps: whose search, `udpor`, `dpor:over=configurations` or
    /// `transdpor:over=configurations` [default: udpor]
    #[arg(long, value_name = "EXPLORER", conflicts_with = "k")]
    explorer: Option<Setting>,
    /// Draw at most N calls of a search
    #[arg(long, value_name = "N", default_value_t = MAX_NODES, value_parser = value_parser!(u32).range(1..))]
    max_nodes: u32,
    #[command(flatten)]
    effort: EffortArgs,
    /// The file to write: a name that ends in .html, .svg, .dot or .json, or .mci for a prefix
    /// [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format [default: what FILE ends in, or dot without FILE]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

const EXAMPLES: &str = "\
Examples:
  mazurka draw philosophers.maz -o philosophers.html
  mazurka draw philosophers.maz -D N=2 -o unfolding.svg
  mazurka draw philosophers.maz --what space-time -o deadlock.svg
  mazurka draw philosophers.maz --what space-time --schedule 0x2,1x2 -o start.svg
  mazurka draw philosophers.maz --what configuration --trace 2 | dot -Tpdf > class.pdf
  mazurka draw philosophers.maz --what prefix -o prefix.svg
  mazurka draw philosophers.maz --what prefix --max-events 10000 -o prefix.mci
  mazurka draw philosophers.maz --what steps --k 1 -o search.svg
  mazurka draw philosophers.maz --what steps --explorer dpor:over=configurations -o dpor.svg
  mazurka draw philosophers.maz --max-events 50 --format json > events.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Events with causality and immediate conflicts
    Unfolding,
    /// The complete finite prefix: events up to those that lead back to a state that was there
    Prefix,
    /// The events of one class of executions, a partial order
    Configuration,
    /// One execution: a column for each process, time downwards
    SpaceTime,
    /// The calls of UDPOR, or of DPOR over configurations, as a tree
    Steps,
    /// The control flow of processes and actors
    Processes,
}

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let format = format(&args)?;
    let is_page = format == Format::Html && args.what != What::Prefix;
    let is_of_one = is_page || matches!(args.what, What::Configuration | What::SpaceTime);
    if !is_of_one && (args.trace.is_some() || args.schedule.is_some()) {
        let why = "--trace and --schedule are for --what configuration, --what space-time and pages \
                   of executions";
        return Err(Failure::Usage(why.into()));
    }
    if is_page && args.what == What::Processes {
        let why = "a page shows executions; for control flow end the name in .svg, .dot or .json";
        return Err(Failure::Usage(why.into()));
    }
    if format == Format::Mci && args.what != What::Prefix {
        let why =
            "an .mci file contains a finite prefix: add --what prefix, or choose another format";
        return Err(Failure::Usage(why.into()));
    }
    if args.what != What::Steps && !is_page && args.k.is_some() {
        return Err(Failure::Usage("-k is for --what steps and pages".into()));
    }
    if (args.what != What::Steps || is_page) && args.explorer.is_some() {
        return Err(Failure::Usage(
            "--explorer is for --what steps, in other formats than html".into(),
        ));
    }
    if let Some(file) = &args.output {
        files::keep(file, [args.spec.path.as_path()])?;
    }
    let spec = Spec::load(&args.spec, output)?;
    let drawn = args.effort.begin().draw(Exit::Incomplete, output, |effort| match format {
        Format::Mci => mci(&args, &spec, effort),
        Format::Html => Ok(Drawn::Text(drawing::render(&page(&args, &spec, effort)?))),
        format => {
            let picture = picture(&args, &spec, effort)?;
            let drawn = picture.map(|picture| Drawn::Text(drawing::picture(&picture, format)));
            Ok(drawn.unwrap_or(Drawn::Nothing(
                "a limit stopped the search before it reached the end of an execution",
            )))
        }
    })?;
    match (drawn, &args.output) {
        (Drawn::Nothing(why), _) => {
            output.note(format!("Nothing drawn: {why}.\n"));
            return Ok(Exit::Incomplete);
        }
        (Drawn::Text(text), Some(file)) => files::write(file, &text)?,
        (Drawn::Text(text), None) => output.print(text)?,
        (Drawn::Bytes(bytes), Some(file)) => files::write(file, &bytes)?,
        (Drawn::Bytes(bytes), None) => output.print_bytes(&bytes)?,
    }
    Ok(Exit::Fine)
}

/// What there is to write.
enum Drawn {
    Text(String),
    Bytes(Vec<u8>),
    /// Nothing: why.
    Nothing(&'static str),
}

/// The finite prefix as an `.mci` file.
fn mci(args: &Args, spec: &Spec, effort: Effort) -> Result<Drawn, Failure> {
    let prefix = prefix(args, spec, effort)?;
    Ok(match prefix.is_whole {
        true => Drawn::Bytes(mci::render(&prefix)),
        false => Drawn::Nothing(
            "the prefix has more events (--max-events, --timeout), and an .mci file cannot say that \
             some are missing",
        ),
    })
}

fn prefix(args: &Args, spec: &Spec, effort: Effort) -> Result<ShownPrefix, Failure> {
    drawing::has_classes(&spec.program)?;
    let budget = drawing::budget(spec, effort);
    finite_prefix(&spec.program, args.max_events as usize, budget).map_err(Failure::Usage)
}

fn format(args: &Args) -> Result<Format, Failure> {
    match (args.format, &args.output) {
        (Some(format), _) => Ok(format),
        (None, None) => Ok(Format::Dot),
        (None, Some(file)) => Format::of_drawing(file),
    }
}

/// The picture; `None` if a limit was reached before there was anything to draw.
fn picture(args: &Args, spec: &Spec, effort: Effort) -> Result<Option<Picture>, Failure> {
    let (subject, limit) = (spec.subject.clone(), args.max_events as usize);
    let program = &spec.program;
    if matches!(args.what, What::Unfolding | What::Steps) {
        drawing::has_classes(program)?;
    }
    let picture = match args.what {
        What::Unfolding => {
            let budget = drawing::budget(spec, effort);
            let (mut prefix, outcome) = unfold(program, limit, budget, &mut NoObserver);
            let order = PartialOrder::of_unfolding(subject, program, &mut prefix, &outcome, limit);
            Picture::Order(order)
        }
        What::Prefix => {
            Picture::Order(PartialOrder::of_prefix(subject, &prefix(args, spec, effort)?))
        }
        What::Configuration => {
            let Some(asked) = execution(args, spec, effort)? else { return Ok(None) };
            let order = PartialOrder::of_execution(subject, program, &asked.schedule, limit);
            order.map(Picture::Order).map_err(drawing::refused)?
        }
        What::SpaceTime => {
            let Some(asked) = execution(args, spec, effort)? else { return Ok(None) };
            drawing::chart(spec, &asked.schedule, limit)?
        }
        What::Steps => {
            let searched = searched(args)?;
            let budget = drawing::budget(spec, effort);
            let (mut full, _) = unfold(program, limit, budget, &mut NoObserver);
            Picture::Steps(drawing::search(spec, searched, extent(args), effort, &mut full))
        }
        What::Processes => Picture::Processes(ControlFlow::new(subject, program.flows())),
    };
    Ok(Some(picture))
}

/// The search whose steps are drawn.
fn searched(args: &Args) -> Result<Searched, Failure> {
    let Some(setting) = args.explorer else {
        return Ok(args.k.unwrap_or_default().into());
    };
    match setting.made() {
        AnyExplorer::Udpor(Udpor { k, order: None }) => Ok(k.into()),
        AnyExplorer::Dpor(Dpor { order, over: Over::Configurations, .. }) => {
            Ok(Searched::Backtracking(order, Added::ForEachRace))
        }
        AnyExplorer::TransDpor(TransDpor { order, over: Over::Configurations, .. }) => {
            Ok(Searched::Backtracking(order, Added::OneAtATime))
        }
        _ => Err(Failure::Usage(format!(
            "the steps of `{setting}` cannot be drawn: --explorer is `udpor`, `dpor:over=configurations` or \
             `transdpor:over=configurations`"
        ))),
    }
}

fn extent(args: &Args) -> Extent {
    Extent { events: args.max_events as usize, calls: args.max_nodes as usize }
}

fn page(args: &Args, spec: &Spec, effort: Effort) -> Result<Viewer, Failure> {
    if args.what == What::Prefix {
        let prefix = prefix(args, spec, effort)?;
        return drawing::page_of_prefix(spec, &prefix, args.max_events as usize);
    }
    let asked = execution(args, spec, effort)?.into_iter().collect();
    let start = match args.what {
        What::Unfolding | What::Prefix | What::Configuration | What::Processes => View::Unfolding,
        What::SpaceTime => View::SpaceTime,
        What::Steps => View::Search,
    };
    let page = drawing::page(spec, asked, args.k.unwrap_or(K::Optimal), extent(args), effort)?;
    Ok(Viewer { start, ..page })
}

/// The most classes that are searched for a violation: a drawing must not take too long.
const SEARCHED: u64 = 10_000;

/// The execution given by --schedule or --trace; by default the first violation, or else the first
/// class. `None` if a limit was reached before it was found.
fn execution(args: &Args, spec: &Spec, effort: Effort) -> Result<Option<Asked>, Failure> {
    if let Some(text) = &args.schedule {
        let schedule = text.parse()?;
        return Ok(Some(Asked { name: "The schedule given".into(), schedule }));
    }
    let wanted = args.trace.unwrap_or(1);
    let mut visited = Visited { wanted, seen: 0, found: None, cut: None };
    let budget = Budget {
        all: args.trace.is_some(),
        max_traces: Some(args.trace.unwrap_or(SEARCHED)),
        // Half of the time: the rest is for the other pictures.
        ..drawing::budget(spec, effort.halved())
    };
    let program = &spec.program;
    let outcome = match program.objects().may_time_out_when_stuck {
        true => explore(program, Exhaustive, budget, &mut visited),
        false => explore(program, Udpor::default(), budget, &mut visited),
    };
    if let (None, Some(violation)) = (args.trace, outcome.violations.first().cloned()) {
        return Ok(Some(Asked { name: "First violation".into(), schedule: violation.schedule }));
    }
    let Visited { found, cut, seen, .. } = visited;
    match (found, cut, args.trace) {
        (Some(schedule), ..) => Ok(Some(Asked { name: format!("Trace {wanted}"), schedule })),
        (None, Some(mut schedule), None) => {
            schedule.truncate(args.max_events as usize);
            Ok(Some(Asked { name: "The beginning of an endless execution".into(), schedule }))
        }
        (None, ..) if outcome.stopped_by.is_some_and(StopReason::is_external) => Ok(None),
        (None, _, Some(wanted)) => {
            Err(Failure::Usage(format!("there is no trace {wanted}: the search has {seen}")))
        }
        (None, None, None) => Err(Failure::Usage("no execution was followed to its end".into())),
    }
}

/// An observer that keeps the schedule of one of the visited executions.
struct Visited {
    wanted: u64,
    seen: u64,
    found: Option<Schedule>,
    /// The first execution that was cut because it did not end.
    cut: Option<Schedule>,
}

impl Observer for Visited {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn trace(&mut self, at: Position<'_>, _: End) {
        self.seen += 1;
        if self.seen == self.wanted {
            self.found = Some(at.schedule());
        }
    }

    fn truncated(&mut self, at: Position<'_>) {
        self.cut.get_or_insert_with(|| at.schedule());
    }
}
