//! The result of `compare`: a row for each spec and explorer, and whether the rows agree.
//!
//! Each row can be written as soon as it is known ([`Printer`]); notes about all rows come last.

mod rows;

use std::collections::BTreeMap;

use bytesize::ByteSize;
use serde::Serialize;

use rows::Rows;

use super::table::{self, Table, or_dash, time};
use super::text::{BAD, Styled, UNSURE, thousands};
use crate::explore::{StopReason, Verdict, ViolationKind};
use crate::study::{About, Disagreement, Figures, Limits, Measured, Ran, Row, disagreements};

/// The results of several explorers, side by side.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The rows that were run.
    pub rows: Vec<Row>,
    /// Explorers that are unsound for some of the programs, and were not asked for by name.
    pub left_out: Vec<LeftOut>,
    /// Rows that were not run, because of an interrupt.
    pub not_run: usize,
    /// The limits of each row.
    pub limits: Limits,
}

/// An explorer that is unsound for some programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub(crate) explorer: &'static str,
    /// The programs.
    pub(crate) specs: Vec<String>,
    /// The reason, in a sentence.
    pub(crate) why: String,
}

impl Comparison {
    /// Records that an explorer is unsound for this program.
    pub(crate) fn leave_out(&mut self, explorer: &'static str, spec: &str, why: String) {
        let is_same = |known: &&mut LeftOut| known.explorer == explorer && known.why == why;
        match self.left_out.iter_mut().find(is_same) {
            Some(known) => known.specs.push(spec.into()),
            None => self.left_out.push(LeftOut { explorer, specs: vec![spec.into()], why }),
        }
    }

    /// The worst verdict of all rows: a violation, or else an incomplete search. A row does not
    /// count if another row of its program is complete, and it was refused, or ran to its end but
    /// may have missed executions. If there is no such other row, nothing is proved, and the
    /// verdict is `incomplete`.
    pub(crate) fn verdict(&self) -> Verdict {
        let measured = || self.rows.iter().filter_map(Row::measured);
        let is_explored = |row: &Row| {
            let same = self.rows.iter().filter(|other| is_same(row, other));
            same.filter_map(Row::measured).any(Measured::is_complete)
        };
        let is_fine = |row: &Row| match &row.ran {
            Ran::Measured(measured) => {
                measured.is_complete() || measured.has_ended() && is_explored(row)
            }
            Ran::Refused(_) => is_explored(row),
            Ran::Failed(_) => false,
        };
        let is_violation =
            |verdict: &Verdict| !matches!(verdict, Verdict::Ok | Verdict::Incomplete);
        let violation = measured().map(|m| m.verdict).find(is_violation);
        let is_whole = self.not_run == 0 && self.rows.iter().all(is_fine);
        match violation {
            Some(violation) => violation,
            None if is_whole => Verdict::Ok,
            None => Verdict::Incomplete,
        }
    }

    /// The disagreements, some sentences each.
    pub fn disagreements(&self) -> Vec<String> {
        disagreements(&self.rows).iter().map(sentence).collect()
    }

    /// The explorers that were left out, one sentence for each group with the same programs.
    fn omissions(&self) -> Vec<String> {
        let mut groups: Vec<(&[String], Vec<&str>)> = Vec::new();
        for LeftOut { explorer, specs, .. } in &self.left_out {
            match groups.iter_mut().find(|(known, _)| known == specs) {
                Some((_, explorers)) => explorers.push(explorer),
                None => groups.push((specs, vec![explorer])),
            }
        }
        let sentence = |(specs, explorers): (&[String], Vec<&str>)| {
            let specs = match specs {
                [] | [_] | [_, _] | [_, _, _] => specs.join(", "),
                [first, second, rest @ ..] => format!("{first}, {second} and {} more", rest.len()),
            };
            let explorers = explorers.join(", ");
            format!("Left out for {specs}: {explorers}; --explorers NAME says why.")
        };
        groups.into_iter().map(sentence).collect()
    }

    /// The notes below the table.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = limits(&self.limits).into_iter().collect();
        let measured = || self.rows.iter().filter_map(Row::measured);
        if measured().any(|m| !m.has_ended()) {
            notes.push(
                "≥ marks figures of a search that was stopped: a complete one may have more."
                    .into(),
            );
        }
        if measured().any(|m| m.stopped_by == Some(StopReason::NoGuarantee)) {
            notes.push(
                "no-guarantee marks a search that came to its end with an explorer that may miss \
                 executions: that it found nothing proves nothing."
                    .into(),
            );
        }
        if measured().any(|m| m.stopped_by == Some(StopReason::Sampled)) {
            notes.push(
                "sampled marks executions that were chosen by chance: that they found nothing \
                 proves nothing."
                    .into(),
            );
        }
        let is_bound = |m: &Measured| m.stats.events.is_none() && m.stats.events_built.is_some();
        if measured().any(is_bound) {
            notes.push("≤ marks events of which some may have been counted twice.".into());
        }
        if measured().any(|m| m.stats.states.is_some()) {
            notes
                .push("Where states are stored, traces are the terminal states among them.".into());
        }
        for row in &self.rows {
            let who = format!("{} on {}", row.searcher, title(&row.spec, &row.defines));
            match &row.ran {
                Ran::Measured(_) => {}
                Ran::Refused(why) => notes.push(format!("{who} was refused: {why}")),
                Ran::Failed(how) => notes.push(format!(
                    "{who} {how}. This is a bug in Mazurka, unless it was killed or ran out of memory."
                )),
            }
        }
        notes.extend(self.omissions());
        if self.not_run > 0 {
            let n = self.not_run;
            notes.push(format!(
                "Interrupted: {n} more {} not run.",
                plural(n, "row was", "rows were")
            ));
        }
        notes
    }
}

/// The header of a table with all figures.
fn header() -> Table {
    let names = [
        "spec",
        "explorer",
        "traces",
        "blocked",
        "transitions",
        "events",
        "states",
        "time",
        "memory",
        "verdict",
    ];
    Table { header: names.map(str::to_owned).to_vec(), figures: 2..9, rows: Vec::new() }
}

/// A row of that table. Only the first row of a program names it.
fn cells(row: &Row, is_named: bool) -> Vec<String> {
    let name = if is_named { title(&row.spec, &row.defines) } else { String::new() };
    [vec![name, row.searcher.to_string()], figures(row)].concat()
}

/// The limits of each row, in a sentence; `None` if there are none.
fn limits(limits: &Limits) -> Option<String> {
    let count = |n: u64, what: &str| format!("{} {what}", thousands(n));
    let parts = [
        limits.timeout.map(|time| humantime::format_duration(time).to_string()),
        limits.max_memory.map(|bytes| format!("{} of memory", ByteSize(bytes))),
        limits.max_traces.map(|n| count(n, plural(n as usize, "execution", "executions"))),
        limits.depth.map(|n| format!("depth {}", thousands(n.into()))),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Each row had at most: {}.", parts.join(", ")))
}

fn plural<'t>(n: usize, one: &'t str, more: &'t str) -> &'t str {
    if n == 1 { one } else { more }
}

fn is_same(a: &Row, b: &Row) -> bool {
    a.spec == b.spec && a.defines == b.defines
}

/// A spec and the constants that were set.
pub(crate) fn title(spec: &str, defines: &str) -> String {
    if defines.is_empty() { spec.into() } else { format!("{spec} {defines}") }
}

/// The cells from the column `traces` on.
fn figures(row: &Row) -> Vec<String> {
    let measured = match &row.ran {
        Ran::Measured(measured) => measured,
        Ran::Refused(_) => return without_figures("refused"),
        Ran::Failed(_) => return without_figures("failed"),
    };
    let Measured { stats, .. } = measured;
    let count = |n: u64| size(measured, n);
    let mut traces = count(stats.traces);
    if let Some(classes) = stats.classes {
        traces +=
            &format!(" ({} {})", thousands(classes), plural(classes as usize, "class", "classes"));
    }
    let events = match (stats.events, stats.events_built) {
        (Some(events), _) => count(events),
        (None, Some(built)) => format!("≤ {}", thousands(built)),
        (None, None) => "-".into(),
    };
    vec![
        traces,
        count(stats.blocked),
        count(stats.transitions),
        events,
        or_dash(stats.states, count),
        time(stats.wall_seconds),
        or_dash(stats.peak_memory_bytes, |bytes| ByteSize(bytes).to_string()),
        verdict(measured),
    ]
}

/// A number of things that were found; `≥ 12` if a complete search may find more.
fn size(measured: &Measured, n: u64) -> String {
    let at_least = if measured.has_ended() { "" } else { "≥ " };
    format!("{at_least}{}", thousands(n))
}

fn without_figures(word: &str) -> Vec<String> {
    let mut cells = vec!["-".to_owned(); 7];
    cells.push(word.into());
    cells
}

/// The verdict in a table: `ok`, `deadlock`, `incomplete: timeout`, or `deadlock, then timeout`.
pub(crate) fn verdict(measured: &Measured) -> String {
    let found: Vec<_> = measured.found.iter().map(|&kind| Verdict::from(kind).word()).collect();
    match (measured.stopped_by, found.as_slice()) {
        (None, []) => Verdict::Ok.word().into(),
        (None | Some(StopReason::Violation | StopReason::Oversubscribed), found) => {
            found.join(", ")
        }
        (Some(reason), []) => format!("{}: {}", Verdict::Incomplete.word(), reason.word()),
        (Some(reason), found) => format!("{}, then {}", found.join(", "), reason.word()),
    }
}

fn sentence(disagreement: &Disagreement) -> String {
    let Disagreement { spec, defines, about, one, other } = disagreement;
    let quantity = |n: u64, what: &str| format!("{} {what}", thousands(n));
    let found = |n: u64| match about {
        About::Violation(kind) => {
            let article = if kind.is_standstill() { "a" } else { "an" };
            let word = Verdict::from(*kind).word();
            if n > 0 { format!("{article} {word}") } else { format!("no {word}") }
        }
        About::Classes => quantity(n, plural(n as usize, "class", "classes")),
        About::Deadlocked => {
            quantity(n, plural(n as usize, "deadlocked class", "deadlocked classes"))
        }
        About::Violating => quantity(n, plural(n as usize, "violating class", "violating classes")),
        About::Ends => quantity(n, plural(n as usize, "terminal state", "terminal states")),
    };
    format!(
        "Explorers disagree on {}: {} finds {}, {} finds {}. \
         They promise the same, so one of them is wrong. \
         This is a bug in Mazurka: please report it, with the spec.",
        title(spec, defines),
        one.0,
        found(one.1),
        other.0,
        found(other.1)
    )
}

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text of at most this width, for a terminal.
    Text(usize),
    /// As Markdown.
    Markdown,
    /// As comma-separated values.
    Csv,
}

/// The note on the column `stored` of text.
const STORED: &str = "Stored are events of the unfolding, or states, by those explorers that do.";

/// Writes a comparison: header, rows, notes.
pub struct Printer {
    style: Style,
    rows: Rows,
    last: Option<Row>,
}

impl Printer {
    /// A printer for rows of explorers with these names.
    pub fn new(style: Style, names: &[String]) -> Printer {
        let Style::Text(room) = style else {
            return Printer { style, rows: Rows::new(names, 0), last: None };
        };
        Printer { style, rows: Rows::new(names, room), last: None }
    }

    /// The text of one more row, preceded by the header if it is the first.
    pub fn row(&mut self, row: &Row) -> String {
        let is_first = self.last.is_none();
        let is_named = self.last.as_ref().is_none_or(|last| !is_same(last, row));
        let text = match self.style {
            Style::Text(_) => self.rows.row(row),
            Style::Csv => csv(row, is_first),
            Style::Markdown => {
                let head = if is_first { table::markdown_head(&header()) } else { String::new() };
                head + &table::markdown_line(&cells(row, is_named))
            }
        };
        self.last = Some(row.clone());
        text
    }

    /// The notes about all rows; with `quiet`, only those about errors.
    pub(crate) fn foot(&self, comparison: &Comparison, quiet: bool) -> String {
        let notes = if quiet { Vec::new() } else { comparison.notes() };
        let disagreements = comparison.disagreements();
        match self.style {
            Style::Csv => String::new(),
            Style::Markdown => {
                let notes = notes.iter().map(|note| format!("\n{note}\n"));
                let loud = disagreements.iter().map(|text| format!("\n**{text}**\n"));
                notes.chain(loud).collect()
            }
            Style::Text(room) => {
                let stores = |row: &Row| {
                    let stats = row.measured().map(|measured| &measured.stats);
                    stats.is_some_and(|stats| stats.events_built.or(stats.states).is_some())
                };
                let is_shown = !quiet && comparison.rows.iter().any(stores);
                let notes = notes.into_iter().chain(is_shown.then(|| STORED.to_owned()));
                let notes: Vec<String> = notes.collect();
                let wrapped = |text: &String| textwrap::fill(text, room);
                let above = if notes.is_empty() { "" } else { "\n" };
                let notes = notes.iter().map(|note| format!("{}\n", Styled(UNSURE, wrapped(note))));
                let loud =
                    disagreements.iter().map(|text| format!("\n{}\n", Styled(BAD, wrapped(text))));
                above.to_owned() + &notes.chain(loud).collect::<String>()
            }
        }
    }
}

/// A row for other programs.
#[derive(Serialize)]
pub(crate) struct Record<'r> {
    spec: &'r str,
    constants: &'r BTreeMap<String, serde_json::Value>,
    /// The explorer as on the command line.
    explorer: String,
    verdict: Option<&'static str>,
    complete: bool,
    stopped_by: Option<&'static str>,
    found: &'r [ViolationKind],
    stats: Option<&'r Figures>,
    /// If there are no figures: the reason.
    note: Option<&'r str>,
}

impl<'r> From<&'r Row> for Record<'r> {
    fn from(row: &'r Row) -> Self {
        let measured = row.measured();
        Record {
            spec: &row.spec,
            constants: &row.constants,
            explorer: row.searcher.to_string(),
            verdict: measured.map(|measured| measured.verdict.word()),
            complete: measured.is_some_and(Measured::is_complete),
            stopped_by: measured.and_then(|measured| measured.stopped_by).map(StopReason::word),
            found: measured.map_or(&[], |measured| &measured.found),
            stats: measured.map(|measured| &measured.stats),
            note: match &row.ran {
                Ran::Measured(_) => None,
                Ran::Refused(note) | Ran::Failed(note) => Some(note),
            },
        }
    }
}

/// The comparison as one JSON object, for other programs.
#[derive(Serialize)]
pub(crate) struct Object<'c> {
    mazurka: &'static str,
    limits: &'c Limits,
    rows: Vec<Record<'c>>,
    left_out: &'c [LeftOut],
    not_run: usize,
    disagreements: Vec<String>,
}

impl<'c> Object<'c> {
    /// `version` is the version of this crate.
    pub(crate) fn new(comparison: &'c Comparison, version: &'static str) -> Self {
        Object {
            mazurka: version,
            limits: &comparison.limits,
            rows: comparison.rows.iter().map(Record::from).collect(),
            left_out: &comparison.left_out,
            not_run: comparison.not_run,
            disagreements: comparison.disagreements(),
        }
    }
}

/// A row as a record of comma-separated values.
#[derive(Serialize)]
struct Line<'r> {
    spec: &'r str,
    constants: String,
    explorer: String,
    traces: Option<u64>,
    deadlocked_traces: Option<u64>,
    violating_traces: Option<u64>,
    classes: Option<u64>,
    blocked: Option<u64>,
    truncated: Option<u64>,
    transitions: Option<u64>,
    events: Option<u64>,
    events_built: Option<u64>,
    states: Option<u64>,
    max_depth: Option<u64>,
    sat_calls: Option<u64>,
    wall_seconds: Option<f64>,
    peak_memory_bytes: Option<u64>,
    verdict: Option<&'static str>,
    complete: bool,
    stopped_by: Option<&'static str>,
    note: Option<&'r str>,
}

/// The row as a line of comma-separated values, preceded by the names of columns if it is the
/// first.
fn csv(row: &Row, is_first: bool) -> String {
    let record = Record::from(row);
    let stats = record.stats;
    let value = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let constants = record.constants.iter().map(|(name, v)| format!("{name}={}", value(v)));
    let line = Line {
        spec: record.spec,
        constants: constants.collect::<Vec<_>>().join(" "),
        explorer: record.explorer,
        traces: stats.map(|s| s.traces),
        deadlocked_traces: stats.map(|s| s.deadlocked_traces),
        violating_traces: stats.map(|s| s.violating_traces),
        classes: stats.and_then(|s| s.classes),
        blocked: stats.map(|s| s.blocked),
        truncated: stats.map(|s| s.truncated),
        transitions: stats.map(|s| s.transitions),
        events: stats.and_then(|s| s.events),
        events_built: stats.and_then(|s| s.events_built),
        states: stats.and_then(|s| s.states),
        max_depth: stats.map(|s| s.max_depth),
        sat_calls: stats.and_then(|s| s.sat_calls),
        wall_seconds: stats.map(|s| s.wall_seconds),
        peak_memory_bytes: stats.and_then(|s| s.peak_memory_bytes),
        verdict: record.verdict,
        complete: record.complete,
        stopped_by: record.stopped_by,
        note: record.note,
    };
    table::csv_lines([line], is_first)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn row(setting: &str, traces: u64, stopped_by: Option<StopReason>) -> Row {
        let stats = Figures { traces, ..Figures::default() };
        let verdict = if stopped_by.is_some() { Verdict::Incomplete } else { Verdict::Ok };
        Row {
            spec: "made-up.maz".into(),
            constants: BTreeMap::new(),
            defines: "N=3".into(),
            searcher: setting.parse().unwrap(),
            ran: Ran::Measured(Measured {
                verdict,
                stopped_by,
                found: Vec::new(),
                processor_seconds: None,
                stats,
            }),
        }
    }

    fn comparison(rows: Vec<Row>) -> Comparison {
        Comparison { rows, ..Comparison::default() }
    }

    fn written(comparison: &Comparison, style: Style) -> String {
        let mut printer = Printer::new(style, &[]);
        let rows: String = comparison.rows.iter().map(|row| printer.row(row)).collect();
        rows + &printer.foot(comparison, false)
    }

    #[test]
    fn disagreement_is_said_loudly() {
        let both = comparison(vec![row("udpor", 2, None), row("udpor:k=1", 3, None)]);
        let text = written(&both, Style::Text(1000));
        let expected = "Explorers disagree on made-up.maz N=3: udpor finds 2 classes, \
             udpor:k=1 finds 3 classes.";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("This is a bug in Mazurka"), "{text}");
        let document = written(&both, Style::Markdown);
        assert!(document.contains(&format!("**{expected}")), "{document}");
        assert!(
            !written(&comparison(vec![row("udpor", 2, None)]), Style::Text(80))
                .contains("disagree")
        );
    }

    #[test]
    fn rows_that_a_limit_stopped_say_so() {
        let cut = comparison(vec![row("udpor", 1200, Some(StopReason::Timeout))]);
        let text = written(&cut, Style::Text(1000));
        assert!(text.contains("≥ 1,200") && text.contains("incomplete: timeout"), "{text}");
        assert!(text.contains("a complete one may have more"), "{text}");
        assert_eq!(cut.verdict(), Verdict::Incomplete);
        let csv = written(&cut, Style::Csv);
        assert!(csv.contains(",incomplete,false,timeout,"), "{csv}");
    }

    #[test]
    fn rows_that_prove_nothing_count_where_no_other_does() {
        let doubtful = || row("s-por:as-printed", 2, Some(StopReason::NoGuarantee));
        let refused =
            || Row { ran: Ran::Refused("not for it".into()), ..row("transdpor", 0, None) };
        for proves_nothing in [&doubtful as &dyn Fn() -> Row, &refused] {
            assert_eq!(comparison(vec![proves_nothing()]).verdict(), Verdict::Incomplete);
            let both = comparison(vec![proves_nothing(), row("udpor", 2, None)]);
            assert_eq!(both.verdict(), Verdict::Ok);
            let elsewhere = Row { spec: "other.maz".into(), ..row("udpor", 2, None) };
            let both = comparison(vec![proves_nothing(), elsewhere]);
            assert_eq!(both.verdict(), Verdict::Incomplete);
        }
        let text = written(&comparison(vec![doubtful()]), Style::Text(1000));
        assert!(text.contains("incomplete: no-guarantee") && !text.contains("≥"), "{text}");
        assert!(text.contains("that it found nothing proves nothing"), "{text}");
    }

    #[test]
    fn what_was_not_run_is_counted() {
        let some = Comparison { not_run: 2, ..comparison(vec![row("udpor", 2, None)]) };
        assert!(written(&some, Style::Text(80)).contains("Interrupted: 2 more rows were not run."));
        assert_eq!(some.verdict(), Verdict::Incomplete);
    }
}
