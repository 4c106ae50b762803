//! Shows a counterexample again, if an environment variable asks for it: a test has no command line
//! of its own.
//!
//! - With `MAZURKA_REPLAY=SCHEDULE@FILE:LINE`, the check at that place follows this execution
//!   instead of searching. Without the place, every check does. A check whose system has no such
//!   execution searches as usual.
//! - With `MAZURKA_REPORT=1`, a check that finds nothing prints its result.
//! - With `MAZURKA_DRAW=FILE`, a check draws its counterexample. The name ends in `.svg`, `.dot` or
//!   `.json`.
//!
//! This is the only file outside the command line that prints: a test prints its own output.

use std::env;
use std::fmt::Write;
use std::fs;
use std::panic::Location;
use std::path::Path;
use std::thread;

use super::{Checked, ROOM};
use crate::model::{AnySystem, Schedule};
use crate::property::Replay;
#[cfg(feature = "json")]
use crate::report::json;
use crate::report::picture::{Picture, SpaceTime};
use crate::report::text::{self, quoted};
use crate::report::{ExecutionReport, Subject, dot, svg};

const REPLAY: &str = "MAZURKA_REPLAY";
const DRAW: &str = "MAZURKA_DRAW";
const REPORT: &str = "MAZURKA_REPORT";

/// The most steps that are drawn. Larger pictures are not readable.
const MOST_DRAWN: usize = 2000;

/// Prints the result, if the environment asks for it.
pub(super) fn report(checked: &Checked) {
    if env::var_os(REPORT).is_some_and(|wanted| wanted != "0") {
        println!("{checked}");
    }
}

/// The execution that the check at this place is to follow, if the environment names one.
pub(super) fn wanted(place: &Location<'_>) -> Option<Schedule> {
    let wanted = env::var(REPLAY).ok()?;
    let (schedule, of) = match wanted.split_once('@') {
        Some((schedule, of)) => (schedule, Some(of)),
        None => (wanted.as_str(), None),
    };
    if of.is_some_and(|of| of != named(place)) {
        return None;
    }
    let schedule = schedule.parse();
    Some(schedule.unwrap_or_else(|refusal| panic!("{REPLAY}={wanted}: {refusal}")))
}

/// Follows an execution and prints its steps, each with its changes. Returns the report, or `None`
/// if the system has no such execution.
pub(super) fn follow(
    system: &AnySystem<'_>,
    subject: Subject,
    schedule: &Schedule,
) -> Option<ExecutionReport> {
    let mut replay = Replay::new(system);
    replay.allow_pending(subject.allow_pending);
    let steps: Result<Vec<_>, _> =
        schedule.iter().map(|&action| replay.step_with_changes(action)).collect();
    let (steps, changes): (Vec<_>, Vec<_>) = steps.ok()?.into_iter().unzip();
    replay.look_for_livelock();
    let report = ExecutionReport::new(subject, &replay, steps, None);
    let table = text::StepTable::new(&report.schedule, ROOM);
    let mut output = format!("{}{}\n", text::Title(&report), table.header());
    for (index, changes) in changes.iter().enumerate() {
        let rows = text::ChangeRows(changes, ROOM);
        writeln!(output, "{}\n{rows}", table.row(index)).expect("a string takes all");
    }
    output += &text::PrintedTexts(&report.printed).to_string();
    print!("{}", text::plain(output));
    Some(report)
}

/// Draws an execution, if the environment asks for it.
pub(super) fn draw(system: &AnySystem<'_>, subject: Subject, schedule: &Schedule) {
    let Ok(name) = env::var(DRAW) else { return };
    let chart = SpaceTime::of_execution(subject, system, schedule, MOST_DRAWN);
    let picture = Picture::SpaceTime(chart.expect("the execution of a counterexample"));
    let text = match Path::new(&name).extension().and_then(|ending| ending.to_str()) {
        Some("svg") => svg::render(&picture),
        Some("dot") => dot::render(&picture),
        #[cfg(feature = "json")]
        Some("json") => json::render(&picture),
        _ => panic!(
            "{DRAW}={name}: the name has to end in .svg or .dot, or with the feature `json` in .json"
        ),
    };
    if let Err(error) = fs::write(&name, text) {
        panic!("{DRAW}={name}: {error}");
    }
}

/// Instructions to see again the execution that the check at this place has found.
pub(super) fn how(place: &Location<'_>, replay: &str) -> String {
    let thread = thread::current();
    let replay = format!("{REPLAY}={}", quoted(format!("{replay}@{}", named(place))));
    let draw = format!("{DRAW}=counterexample.svg");
    match thread.name().filter(|&name| name != "main") {
        // The test harness names threads after their tests.
        Some(test) => {
            let test = quoted(test);
            format!(
                "Replay it step by step, or draw it:\n  {replay} cargo test {test} -- --exact --nocapture\n  \
                 {draw} cargo test {test} -- --exact\n"
            )
        }
        None => format!(
            "To replay it step by step, or to draw it, run this with\n  {replay}\n  {draw}\n"
        ),
    }
}

fn named(place: &Location<'_>) -> String {
    format!("{}:{}", place.file(), place.line())
}
