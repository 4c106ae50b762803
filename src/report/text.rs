//! Reports as text, for people.
//!
//! The verdict comes first, in plain words; then the counterexample, the figures, and the command
//! that replays it. Styles are always written; they are stripped where the output is not a
//! terminal.

mod alike;
mod calls;
#[cfg(feature = "cli")]
mod checks;
mod coverage;
mod execution;
mod levels;
mod place;
mod printed;
mod shell;
#[cfg(feature = "cli")]
mod state;
mod steps;
mod symmetry;
mod verified;
mod warnings;

pub(crate) use calls::CallTable;
#[cfg(feature = "cli")]
pub(crate) use checks::Checks;
pub(super) use coverage::stop_sentence;
use coverage::{complete, coverage, unseen};
#[cfg(feature = "cli")]
pub(crate) use execution::{EndInFull, Upshot};
pub(crate) use execution::{Ending, Title};
pub(crate) use printed::PrintedTexts;
#[cfg(feature = "cli")]
pub(crate) use shell::{full_replay_command, quoted_path, shown};
pub(crate) use shell::{quoted, replay_command};
#[cfg(feature = "cli")]
pub(crate) use state::{RestText, StateText, WhyText};
use steps::shortened;
pub(crate) use steps::{ChangeRows, StepTable};
use symmetry::symmetry;
use verified::verified;
use warnings::{Warnings, denied};

use std::fmt::{self, Display, Formatter};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use bytesize::ByteSize;

use self::alike::{Alike, Numbered};
use self::levels::levels;
use self::printed::ShownText;
use super::{CheckReport, Merged, Size, Subject, ViolationReport, place};
use crate::explore::{Guarantee, PrefixFigures, StopReason, Verdict, ViolationKind};
use crate::model::{Buffering, Leaving, Runs, Semantics};
use crate::study::Figures;

pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const UNSURE: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const HEADING: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();

/// The most variables that are shown at a failure.
const SHOWN_VARIABLES: usize = 12;

/// A piece of text in a style.
pub(crate) struct Styled<T>(pub(crate) Style, pub(crate) T);

impl<T: Display> Display for Styled<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Styled(style, text) = self;
        write!(f, "{style}{text}{style:#}")
    }
}

/// A text without its styles. Escape characters are written by `Styled` only, and its sequences end
/// in `m`.
pub(crate) fn plain(text: impl Display) -> String {
    let text = text.to_string();
    let mut pieces = text.split('\x1b');
    let start = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(start, |plain, piece| plain + piece.split_once('m').map_or("", |(_, rest)| rest))
}

/// The result of `check`; with `quiet`, only its first line.
pub(crate) struct Check<'r> {
    /// The result to show.
    pub(crate) report: &'r CheckReport,
    /// Whether to show only the verdict.
    pub(crate) quiet: bool,
    /// The maximum width of tables, in characters.
    pub(crate) room: usize,
}

impl Display for Check<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let report = self.report;
        writeln!(f, "{}{}", verdict_line(report), denied(report))?;
        if self.quiet {
            return Ok(());
        }
        match report.violations.as_slice() {
            [] => write!(f, "{}", coverage(report))?,
            [violation] => write!(f, "{}", self.story(violation))?,
            many => {
                for (number, violation) in (1..).zip(many).filter(|(_, one)| one.like.is_none()) {
                    writeln!(f, "\n{}", Numbered(number, many))?;
                    write!(f, "{}{}", self.story(violation), Alike(number, many))?;
                }
            }
        }
        if let Some(assumes) = &report.assumes
            && report.violations.iter().any(|found| found.kind == ViolationKind::Livelock)
        {
            writeln!(f, "\nThis rests on {assumes}.")?;
        }
        writeln!(f)?;
        statistics(f, report)?;
        if let Some(Merged { files, source_hash }) = &report.merged {
            let files = plural(*files as u64, "file", "files");
            let version = report.subject.mazurka;
            writeln!(
                f,
                "merged from {files} of one search (source {source_hash}, mazurka {version}), whose figures are not checked"
            )?;
        }
        if let Some(file) = &report.resumed_from {
            writeln!(f, "resumed from {file}, whose figures are not checked")?;
        }
        write!(f, "{}", Warnings(&report.subject, &report.warnings))?;
        if let [violation, ..] = report.violations.as_slice() {
            let of = if report.violations.len() > 1 { " the first of them" } else { "" };
            let (heading, how) = match report.subject.has_file() {
                true => ("step by step", replay_command(&report.subject, &violation.replay)),
                false => ("with this `Schedule`", violation.replay.clone()),
            };
            writeln!(f, "\n{}", Styled(HEADING, format!("Replay{of} {heading}:")))?;
            writeln!(f, "  {how}")?;
        }
        if let Some(shown) = &report.shown {
            write!(f, "{}", ShownText(&report.subject, shown))?;
        }
        Ok(())
    }
}

fn verdict_line(report: &CheckReport) -> String {
    match report.violations.as_slice() {
        [] if report.verdict == Verdict::Ok => {
            let demands = report.has_demands.then_some(match report.subject.unfair {
                true => "every execution that goes on",
                false => "every fair execution",
            });
            let verified = verified(&report.properties, report.assumes.as_deref(), demands);
            Styled(GOOD, verified).to_string()
        }
        [] if let Some(what) = &report.unsupported => {
            Styled(UNSURE, format!("Not decided: {what}.")).to_string()
        }
        [] => {
            let but = match report.stopped_by.is_some_and(StopReason::is_doubt) {
                true => "executions may have been missed",
                false => "not everything was explored",
            };
            let line = format!("Incomplete: nothing wrong was found, but {but}.");
            Styled(UNSURE, line).to_string()
        }
        [violation] => violation_line(violation),
        many => {
            let count = |kind| many.iter().filter(|violation| violation.kind == kind).count();
            let parts = [
                (count(ViolationKind::Deadlock), "deadlock", "deadlocks"),
                (count(ViolationKind::Livelock), "livelock", "livelocks"),
                (count(ViolationKind::Assertion), "failed assertion", "failed assertions"),
                (count(ViolationKind::Error), "run-time error", "run-time errors"),
                (count(ViolationKind::Liveness), "unfulfilled demand", "unfulfilled demands"),
            ];
            let parts = parts.into_iter().filter(|part| part.0 > 0);
            let parts: Vec<_> = parts.map(|(n, one, more)| plural(n as u64, one, more)).collect();
            let alike = match many.iter().filter(|violation| violation.like.is_none()).count() {
                1 => ", all alike but for names".into(),
                different if different < many.len() => {
                    format!("; {different} differ, the others are alike but for names")
                }
                _ => String::new(),
            };
            let text = format!("{} violations: {}{alike}.", many.len(), parts.join(", "));
            Styled(BAD, text).to_string()
        }
    }
}

/// The violation in one line.
pub(super) fn violation_line(violation: &ViolationReport) -> String {
    let file = violation.has_files.then_some(violation.file.as_str());
    let place = violation.line.map(|line| place(file, line));
    let place = match (&violation.process, place) {
        (Some(process), Some(place)) => format!(" ({process}, {place})"),
        (Some(process), None) => format!(" ({process})"),
        (None, Some(place)) if violation.invariant => format!(" (invariant, {place})"),
        (None, Some(place)) if violation.kind == ViolationKind::Liveness => format!(" ({place})"),
        (None, Some(place)) if !violation.kind.is_standstill() => format!(" (at the end, {place})"),
        _ => String::new(),
    };
    let word = match violation.kind {
        ViolationKind::Deadlock => "Deadlock",
        ViolationKind::Livelock => "Livelock",
        ViolationKind::Assertion => "Assertion failed",
        ViolationKind::Error => "Error",
        ViolationKind::Liveness => "Liveness",
    };
    // Messages are written so that they can stand alone.
    let message = violation
        .message
        .strip_prefix("assertion failed")
        .map(|rest| rest.strip_prefix(": ").unwrap_or(rest));
    match message.unwrap_or(&violation.message) {
        "" => format!("{}{place}.", Styled(BAD, word)),
        message => format!("{} {message}{place}.", Styled(BAD, format!("{word}:"))),
    }
}

/// The choices of an MPI implementation that a search covers all at once, if there are such
/// choices.
fn left_open(semantics: Semantics) -> Option<String> {
    let sends = "each standard send buffered or not";
    let ranks = "each rank leaving a collective early or when all have entered";
    let covered = match (semantics.buffering, semantics.leaving) {
        (Buffering::Any, Leaving::Any) => format!("{sends}; {ranks}"),
        (Buffering::Any, leaving) => format!("{sends}, with collectives {leaving}"),
        (buffering, Leaving::Any) => format!("{ranks}, with buffering {buffering}"),
        _ => return None,
    };
    Some(covered)
}

fn statistics(f: &mut Formatter<'_>, report: &CheckReport) -> fmt::Result {
    let stats = &report.stats;
    let row =
        |f: &mut Formatter<'_>, name: &str, text: String| writeln!(f, "{}{text}", margin(name));
    let mut search = report.explorer.to_owned();
    if let Some(name) = &report.answered_by {
        search += &format!(", answered by {name}");
    }
    if let Some(k) = &report.k {
        search += &format!(", k = {k}");
    }
    if let Some(over) = report.over {
        search += &format!(" over {over}");
    }
    if let Some(depth) = report.bug_depth {
        search += &format!(", bugs of depth {depth}");
    }
    if let Some(order) = &report.order {
        search += &format!(", order {order}");
    }
    if let Some(seed) = report.seed {
        search += &format!(" (seed {seed})");
    }
    if report.sleep_sets {
        search += ", sleep sets";
    }
    for name in &report.without {
        search += &format!(", without {name}");
    }
    if report.as_printed {
        search += ", as printed";
    }
    if report.histories {
        search += ", histories";
    }
    if stats.states_by_depth.is_some() {
        search += ", breadth-first: within a depth every state is visited";
    }
    if report.hash_compaction {
        search += ", hashes of states";
    }
    match report.stopped_by {
        Some(_) if report.violations.is_empty() => search += "; incomplete",
        Some(reason) => search += &format!("; {}", stop_sentence(reason, report)),
        None => search += complete(report.guarantee),
    }
    row(f, "Search", search)?;
    if let Some(open) = report.subject.semantics.and_then(left_open) {
        row(f, "Covers", open)?;
    }
    if let Some(what) = &report.unseen {
        row(f, "Unseen", what.clone())?;
    }
    let may_be_more = !matches!(report.stopped_by, None | Some(StopReason::Violation));
    if may_be_more && !report.violations.is_empty() {
        row(f, "", "not everything was explored: there may be more violations".into())?;
    }
    let mut traces = match stats.states {
        Some(_) => plural(stats.traces, "terminal state", "terminal states"),
        None => plural(stats.traces, "trace", "traces"),
    };
    traces += &bad_among(stats.deadlocked_traces, stats.violating_traces);
    let mut figures = vec![traces];
    if let Some(PrefixFigures { events, cutoffs, has_read_arcs, .. }) = stats.prefix {
        figures = vec![
            plural(events, "event", "events"),
            if has_read_arcs { "read arcs".into() } else { plural(cutoffs, "cutoff", "cutoffs") },
        ];
    }
    let mut add = |n: Option<u64>, one: &str, more: &str| {
        figures.extend(n.map(|n| plural(n, one, more)));
    };
    add(stats.classes, "class", "classes");
    add(
        (stats.blocked > 0).then_some(stats.blocked),
        "blocked exploration",
        "blocked explorations",
    );
    add(
        (stats.given_up > 0).then_some(stats.given_up),
        "execution given up in a loop that waits",
        "executions given up in loops that wait",
    );
    add(
        (report.samples && stats.truncated > 0).then_some(stats.truncated),
        "execution cut",
        "executions cut",
    );
    add(stats.prefix.is_none().then_some(stats.transitions), "transition", "transitions");
    match stats.events {
        Some(_) => add(stats.events, "event", "events"),
        None => figures.extend(
            stats.events_built.map(|n| format!("at most {}", plural(n, "event", "events"))),
        ),
    }
    let rest = [
        (stats.states, "state", "states"),
        (bytes_per_state(stats), "byte per state", "bytes per state"),
        (stats.sat_calls.filter(|&n| n > 0), "SAT call", "SAT calls"),
    ];
    figures.extend(rest.into_iter().filter_map(|(n, one, more)| Some(plural(n?, one, more))));
    figures.push(format!("longest {}", thousands(stats.max_depth)));
    row(f, "Explored", figures.join(", "))?;
    if let Some(figures) = &stats.symmetry {
        row(f, "Symmetry", symmetry(figures))?;
    }
    if report.answered_by.is_some() && report.guarantee == Guarantee::EveryEnd {
        row(f, "", "classes are not counted: executions that meet in a state go on as one".into())?;
    }
    if let Some(unseen) = unseen(report) {
        row(f, "Unseen", unseen)?;
    }
    if let Some(runs) = report.runs {
        row(f, "Ran", ran(runs))?;
    }
    if let (true, Some(shortest)) = (report.shortest, report.violations.first()) {
        row(f, "Shortest", shortness(report, shortest))?;
    }
    // A file may say that there are none.
    if let Some(counts) = stats.states_by_depth.as_ref().filter(|counts| !counts.is_empty()) {
        let text = levels(counts);
        let names = std::iter::once("By depth").chain(std::iter::repeat(""));
        names.zip(text.lines()).try_for_each(|(name, line)| row(f, name, line.into()))?;
    }
    let memory = stats.peak_memory_bytes.map_or(String::new(), |n| format!(", {}", ByteSize(n)));
    row(f, "Took", format!("{}{memory}", duration(stats.wall_seconds)))
}

/// How often processes were run.
fn ran(Runs { starts, told, histories }: Runs) -> String {
    let figures = [
        plural(starts, "start of a process", "starts of processes"),
        plural(told, "outcome delivered", "outcomes delivered"),
        plural(histories, "local history", "local histories"),
    ];
    figures.join(", ")
}

/// The beginning of a row of figures.
pub(super) fn margin(name: &str) -> impl Display {
    Styled(FAINT, format!("{name:<10}"))
}

/// The length of the first counterexample, and whether it is the shortest.
fn shortness(report: &CheckReport, violation: &ViolationReport) -> String {
    let steps = plural(violation.schedule.len() as u64, "step", "steps");
    let switches = plural(violation.switches as u64, "switch", "switches");
    let is_proved = report.stats.prefix.is_some_and(|prefix| prefix.has_shortest_deadlock)
        && report.violations.iter().all(|v| v.kind == ViolationKind::Deadlock);
    let covers_classes = report.guarantee >= Guarantee::EveryClass;
    let is_whole = report.stopped_by.is_none();
    let proof = match (is_whole && covers_classes, violation.has_fewest_switches) {
        (true, Some(true)) => "none is shorter",
        _ if is_whole && is_proved => "none has fewer steps, perhaps fewer switches",
        (true, _) => "none has fewer steps, perhaps fewer switches",
        (false, _) => "of those that were visited; others may be shorter",
    };
    format!("{steps} with {switches} between processes; {proof}")
}

/// The number of bad executions, in brackets: deadlocked ones, and all bad ones if there are
/// others.
pub(super) fn bad_among(deadlocked: u64, violating: u64) -> String {
    let bad = [
        (deadlocked, deadlocked > 0, "deadlocked"),
        (violating, violating > deadlocked, "violating"),
    ];
    let bad = bad.into_iter().filter(|(_, is_shown, _)| *is_shown);
    let bad: Vec<_> = bad.map(|(n, _, what)| format!("{} {what}", thousands(n))).collect();
    if bad.is_empty() { String::new() } else { format!(" ({})", bad.join(", ")) }
}

/// The average number of bytes a state, rounded up.
fn bytes_per_state(stats: &Figures) -> Option<u64> {
    Some(stats.state_bytes?.div_ceil(stats.states?.max(1)))
}

impl<'r> Check<'r> {
    fn story(&self, violation: &'r ViolationReport) -> Story<'r> {
        Story { subject: &self.report.subject, violation, room: self.room }
    }
}

/// The counterexample of a violation.
struct Story<'r> {
    subject: &'r Subject,
    violation: &'r ViolationReport,
    room: usize,
}

impl Display for Story<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let violation = self.violation;
        write!(f, "{}", execution::Causes(&violation.schedule))?;
        if !violation.kind.is_standstill() {
            write!(f, "{}{}", excerpt(self.subject, violation), values(violation))?;
        }
        let title = match place::one_file(violation.schedule.iter().map(|step| &step.file)) {
            Some(file) => file.into(),
            None => self.subject.title(),
        };
        let length = violation.schedule.len();
        let again = violation.loop_from.map_or(0, |from| length - from) as u64;
        let heading = match length as u64 {
            0 => format!("{title}, before any step"),
            1 if again == 1 => format!("{title}, after 1 step, again and again:"),
            n if again == n => format!("{title}, after {n} steps, again and again:"),
            n if again > 0 => {
                let again = plural(again, "one", "of them");
                let steps = plural(n, "step", "steps");
                format!("{title}, after {steps}, the last {again} again and again:")
            }
            n => format!("{title}, after {}:", plural(n, "step", "steps")),
        };
        writeln!(f, "\n{}", Styled(HEADING, heading))?;
        let table = StepTable::new(&violation.schedule, self.room);
        write!(f, "{}", table.with_loop(violation.loop_from))?;
        if violation.loop_from == Some(length) {
            writeln!(f, "  Nothing more has to happen: the execution stays in this state.")?;
        }
        write!(f, "{}", CallTable(&violation.calls))?;
        write!(f, "{}", PrintedTexts(&violation.printed))?;
        if violation.kind.is_standstill() {
            write!(f, "{}", execution::Standstill(violation, self.room))?;
        }
        Ok(())
    }
}

/// The source line of the failure, with the operation underlined; empty if the place is unknown.
fn excerpt(subject: &Subject, violation: &ViolationReport) -> String {
    let source = &subject.source;
    if source.is_empty() {
        return String::new();
    }
    let (Some(line), Some(column)) = (violation.line, violation.column) else {
        return String::new();
    };
    let lines = source.split_inclusive('\n').take(line as usize - 1);
    let line_start: usize = lines.map(str::len).sum();
    let Some(rest) = source.get(line_start..) else { return String::new() };
    let rest = rest.lines().next().unwrap_or_default();
    let column = column as usize - 1;
    let offset = rest.char_indices().nth(column).map_or(rest.len(), |(offset, _)| offset);
    let culprit = &rest[offset..];
    let length = if !violation.text.is_empty() && culprit.starts_with(&violation.text) {
        violation.text.len()
    } else {
        culprit.trim_end().len()
    };
    let start = line_start + offset;
    let snippet = Snippet::source(source.as_str())
        .path(violation.file.as_str())
        .annotation(AnnotationKind::Primary.span(start..start + length));
    let group = Group::with_level(Level::ERROR).element(snippet);
    format!("\n{}\n", Renderer::styled().render(&[group]))
}

/// The variables at the point of failure; empty if there are none.
fn values(violation: &ViolationReport) -> String {
    let all = &violation.variables;
    if all.is_empty() {
        return String::new();
    }
    let shown: Vec<_> = all.iter().take(SHOWN_VARIABLES).collect();
    let shown: Vec<_> =
        shown.iter().map(|v| format!("{} = {}", v.name, shortened(&v.value))).collect();
    let more = match all.len() - shown.len() {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    format!("  where {}{more}\n", shown.join(", "))
}

/// A count with its noun: `1 trace`, `12,000 traces`.
pub(crate) fn plural(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", thousands(n), if n == 1 { one } else { more })
}

/// A number with groups of three digits: `12,345,678`.
pub fn thousands(n: u64) -> String {
    grouped(&n.to_string())
}

/// A number with three digits that count: `12,300,000`.
pub(crate) fn rounded(n: u64) -> String {
    let unit = 10_u64.pow(n.max(1).ilog10().saturating_sub(2));
    thousands(n.saturating_add(unit / 2) / unit * unit)
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let &Size { number, error, samples, exact } = self;
        if exact {
            return write!(f, "{}", plural(number, "class", "classes"));
        }
        let [least, most] = [number.saturating_sub(2 * error), number.saturating_add(2 * error)];
        write!(
            f,
            "about {} classes ({} to {}, by {})",
            rounded(number),
            rounded(least.max(1)),
            rounded(most),
            plural(samples.into(), "sample", "samples")
        )
    }
}

/// The digits in groups of three.
pub(super) fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration in seconds with a unit that fits: `3 ms`, `2.41 s`, `5m 12s`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => "less than 1 ms".into(),
        s if s < 1.0 => format!("{:.0} ms", s * 1000.0),
        s if s < 60.0 => format!("{s:.2} s"),
        s => humantime::format_duration(std::time::Duration::from_secs(s as u64)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_taken_away() {
        let text = format!("{} is {}", Styled(HEADING, "a mutex"), Styled(BAD, "held"));
        assert!(text.len() > 20, "{text:?} has styles");
        assert_eq!(plain(text), "a mutex is held");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(plural(1, "step", "steps"), "1 step");
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        assert_eq!(duration(0.0001), "less than 1 ms");
        assert_eq!(duration(0.25), "250 ms");
        assert_eq!(duration(2.5), "2.50 s");
        assert_eq!(duration(312.9), "5m 12s");
    }
}
