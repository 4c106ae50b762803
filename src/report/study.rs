//! The result of `study`: a line for each point, and in words which k is optimal and which is fastest.
//!
//! UDPOR with partial alternatives follows executions that turn out to be redundant: its *blocked* explorations.
//! With a larger k there are fewer of them, but each question is more expensive (CAV 2018: *quasi-optimal* partial order
//! reduction). A k without blocked explorations is called optimal for the program at hand. The fastest k is often another
//! one.
//!
//! | file | idea |
//! |---|---|
//! | `plots` | which plots the points make |
//! | `page` | one page of HTML with everything, and how to repeat it |

mod page;
mod plots;

pub use page::{Facts, html};
pub use plots::{Picture, pictures};

use std::fmt::{self, Display, Formatter};

use bytesize::ByteSize;
use serde::Serialize;
use textwrap::fill;

use super::comparison::{Comparison, Record, title, verdict};
use super::table::{self, Markdown, Plain, Table, or_dash, time};
use super::text::{BAD, Styled, UNSURE, thousands};
use crate::explore::Combs;
use crate::study::{Measured, Point, Ran};

/// The points of a study.
#[derive(Clone, Debug, Default)]
pub struct Study {
    /// The points that are done.
    pub points: Vec<Point>,
    /// How many are not done, because of an interrupt.
    pub not_run: usize,
}

/// Times that are no further apart than this are called the same.
const SAME_TIME: f64 = 1.05;

impl Study {
    /// The points as rows, for what is shared with `compare`.
    pub fn comparison(&self) -> Comparison {
        let rows = self.points.iter().map(|point| point.row.clone()).collect();
        Comparison { rows, not_run: self.not_run, ..Comparison::default() }
    }

    /// What explorers, or runs of one search, disagree on, each in some sentences.
    pub fn disagreements(&self) -> Vec<String> {
        let unsteady = self.points.iter().filter(|point| !point.is_steady).map(|point| {
            format!(
                "Two runs of {} on {} came to different results. \
                 This is a bug in Mazurka: please report it, with the spec.",
                point.row.searcher,
                title(&point.row.spec, &point.row.defines)
            )
        });
        self.comparison().disagreements().into_iter().chain(unsteady).collect()
    }

    /// For each program and explorer with a k: which k is optimal and which is fastest, in a sentence or two.
    pub fn findings(&self) -> Vec<String> {
        let with_k: Vec<_> = self.points.iter().filter(|point| point.k().is_some()).collect();
        let groups = with_k.chunk_by(|a, b| program(a) == program(b) && a.family() == b.family());
        groups.filter(|group| group.len() > 1).map(finding).collect()
    }

    fn notes(&self) -> Vec<String> {
        self.comparison().notes()
    }

    fn table(&self) -> Table {
        let header = [
            "spec",
            "explorer",
            "k",
            "traces",
            "blocked",
            "time",
            "memory",
            "SAT calls",
            "combs",
            "most spikes",
            "longest spike",
            "verdict",
        ];
        let mut rows = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            let is_first = index == 0 || program(&self.points[index - 1]) != program(point);
            let name = title(&point.row.spec, &point.row.defines);
            let name = if is_first { name } else { String::new() };
            rows.push([vec![name], cells(point)].concat());
        }
        Table { header: header.map(str::to_owned).to_vec(), figures: 2..11, rows }
    }
}

/// What the points of one program have in common.
fn program(point: &Point) -> (&str, &str) {
    (&point.row.spec, &point.row.defines)
}

/// The cells from `explorer` on.
fn cells(point: &Point) -> Vec<String> {
    let mut cells = vec![point.family(), or_dash(point.k(), |k| k)];
    let measured = match &point.row.ran {
        Ran::Measured(measured) => measured,
        Ran::Refused(_) | Ran::Failed(_) => {
            let word = if matches!(point.row.ran, Ran::Failed(_)) { "failed" } else { "refused" };
            cells.extend(vec!["-".to_owned(); 8]);
            cells.push(word.into());
            return cells;
        }
    };
    let stats = &measured.stats;
    let at_least = if measured.has_ended() { "" } else { "≥ " };
    let count = |n: u64| format!("{at_least}{}", thousands(n));
    let comb = |size: fn(Combs) -> u64| or_dash(stats.combs, |combs| count(size(combs)));
    cells.extend([
        count(stats.traces),
        count(stats.blocked),
        time(stats.wall_seconds),
        or_dash(stats.peak_memory_bytes, |bytes| ByteSize(bytes).to_string()),
        or_dash(stats.sat_calls, count),
        comb(|combs| combs.asked),
        comb(|combs| combs.most_spikes.into()),
        comb(|combs| combs.longest_spike.into()),
        verdict(measured),
    ]);
    cells
}

/// `x.maz N=3, udpor: k = 2 is optimal (k = 1 has 7 blocked explorations). k = 1 is fastest, with 3 ms.`
fn finding(points: &[&Point]) -> String {
    let first = points[0];
    let who = format!("{}, {}", title(&first.row.spec, &first.row.defines), first.family());
    let done: Vec<(String, &Measured)> =
        points.iter().filter_map(|point| Some((point.k()?, point.complete()?))).collect();
    if done.is_empty() {
        return format!("{who}: no search was complete.");
    }
    let optimal = match done.iter().find(|(_, measured)| measured.stats.blocked == 0) {
        Some((k, _)) => format!("k = {k} is optimal{}", others_blocked(&done, k)),
        None => format!("no k asked for is optimal{}", others_blocked(&done, "")),
    };
    format!("{who}: {optimal}; {}.", fastest(&done))
}

/// ` (blocked: 7 with k = 1, 2 with k = 2)`
fn others_blocked(done: &[(String, &Measured)], optimal: &str) -> String {
    let earlier = done.iter().take_while(|(k, _)| k != optimal);
    let each = earlier.map(|(k, m)| format!("{} with k = {k}", thousands(m.stats.blocked)));
    let each: Vec<_> = each.collect();
    match each.as_slice() {
        [] => ", as no exploration is blocked".into(),
        each => format!(" (blocked explorations: {})", each.join(", ")),
    }
}

/// `k = 1 is fastest (3 ms), and k = 2 as fast`
fn fastest(done: &[(String, &Measured)]) -> String {
    let seconds = |(_, measured): &&(String, &Measured)| measured.stats.wall_seconds;
    let best = done.iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b))).expect("some");
    let is_near = |other: &&(String, &Measured)| {
        other.0 != best.0 && seconds(other) <= SAME_TIME * seconds(&best)
    };
    let near: Vec<_> = done.iter().filter(is_near).map(|(k, _)| format!("k = {k}")).collect();
    let time = time(seconds(&best));
    match near.is_empty() {
        true => format!("k = {} is fastest ({time})", best.0),
        false => format!("k = {} is fastest ({time}), {} within 5%", best.0, near.join(", ")),
    }
}

/// For a terminal, or a text of this width.
pub struct Text<'s>(pub &'s Study, pub usize);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Text(study, room) = *self;
        write!(f, "{}", Plain(&study.table(), room))?;
        for note in study.notes() {
            write!(f, "\n{}\n", Styled(UNSURE, fill(&note, room)))?;
        }
        let findings = study.findings();
        if !findings.is_empty() {
            writeln!(f)?;
        }
        for finding in findings {
            writeln!(f, "{}", fill(&finding, room))?;
        }
        for disagreement in study.disagreements() {
            writeln!(f, "\n{}", Styled(BAD, fill(&disagreement, room)))?;
        }
        Ok(())
    }
}

/// For Markdown.
pub struct Document<'s>(pub &'s Study);

impl Display for Document<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Document(study) = self;
        write!(f, "{}", Markdown(&study.table()))?;
        for note in study.notes() {
            writeln!(f, "\n{note}")?;
        }
        for (index, finding) in study.findings().iter().enumerate() {
            let space = if index == 0 { "\n" } else { "" };
            writeln!(f, "{space}- {finding}")?;
        }
        for disagreement in study.disagreements() {
            writeln!(f, "\n**{disagreement}**")?;
        }
        Ok(())
    }
}

/// A point, to be read by other programs.
#[derive(Serialize)]
struct Entry<'s> {
    #[serde(flatten)]
    record: Record<'s>,
    k: Option<String>,
    /// The time of each run; `stats` has the median.
    run_seconds: &'s [f64],
}

/// The study as one object, to be read by other programs.
#[derive(Serialize)]
pub struct Object<'s> {
    mazurka: &'static str,
    points: Vec<Entry<'s>>,
    not_run: usize,
    findings: Vec<String>,
    disagreements: Vec<String>,
}

impl<'s> Object<'s> {
    /// `version` is this crate's.
    pub fn new(study: &'s Study, version: &'static str) -> Self {
        let points = study.points.iter().map(|point| Entry {
            record: Record::from(&point.row),
            k: point.k(),
            run_seconds: &point.seconds,
        });
        Object {
            mazurka: version,
            points: points.collect(),
            not_run: study.not_run,
            findings: study.findings(),
            disagreements: study.disagreements(),
        }
    }
}

/// A point as a line of comma-separated values.
#[derive(Serialize)]
struct Line {
    spec: String,
    constants: String,
    explorer: String,
    k: Option<String>,
    runs: usize,
    traces: Option<u64>,
    deadlocked_traces: Option<u64>,
    violating_traces: Option<u64>,
    blocked: Option<u64>,
    transitions: Option<u64>,
    events: Option<u64>,
    events_built: Option<u64>,
    sat_calls: Option<u64>,
    combs: Option<u64>,
    most_spikes: Option<u32>,
    longest_spike: Option<u32>,
    wall_seconds: Option<f64>,
    peak_memory_bytes: Option<u64>,
    verdict: Option<&'static str>,
    complete: bool,
    stopped_by: Option<&'static str>,
}

/// As comma-separated values, a line a point; `wall_seconds` is the median.
pub fn csv(study: &Study) -> String {
    table::csv(study.points.iter().map(|point| {
        let measured = point.row.measured();
        let stats = measured.map(|measured| &measured.stats);
        let combs = stats.and_then(|stats| stats.combs);
        let constants = point.defines.iter().map(|(name, value)| format!("{name}={value}"));
        Line {
            spec: point.row.spec.clone(),
            constants: constants.collect::<Vec<_>>().join(" "),
            explorer: point.family(),
            k: point.k(),
            runs: point.seconds.len(),
            traces: stats.map(|s| s.traces),
            deadlocked_traces: stats.map(|s| s.deadlocked_traces),
            violating_traces: stats.map(|s| s.violating_traces),
            blocked: stats.map(|s| s.blocked),
            transitions: stats.map(|s| s.transitions),
            events: stats.and_then(|s| s.events),
            events_built: stats.and_then(|s| s.events_built),
            sat_calls: stats.and_then(|s| s.sat_calls),
            combs: combs.map(|combs| combs.asked),
            most_spikes: combs.map(|combs| combs.most_spikes),
            longest_spike: combs.map(|combs| combs.longest_spike),
            wall_seconds: stats.map(|s| s.wall_seconds),
            peak_memory_bytes: stats.and_then(|s| s.peak_memory_bytes),
            verdict: measured.map(|measured| measured.verdict.word()),
            complete: point.complete().is_some(),
            stopped_by: measured.and_then(|m| m.stopped_by).map(|reason| reason.word()),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{StopReason, Verdict};
    use crate::study::{Case, Figures};

    /// A point of N=3 by blocked explorations and milliseconds.
    fn point(setting: &str, blocked: u64, ms: u64, stopped_by: Option<StopReason>) -> Point {
        let stats =
            Figures { traces: 6, blocked, wall_seconds: ms as f64 / 1e3, ..Figures::default() };
        let ran = Measured {
            verdict: Verdict::Ok,
            stopped_by,
            found: Vec::new(),
            processor_seconds: None,
            stats,
        };
        let case = Case {
            name: "x.maz".into(),
            source: String::new(),
            defines: vec![("N".into(), "3".into())],
            by_statement: false,
            allow_pending: false,
            daemons: Vec::new(),
            semantics: Default::default(),
        };
        let setting = setting.parse().unwrap();
        Point::new(&case, Default::default(), setting, vec![Ran::Measured(ran)])
    }

    fn findings(points: &[Point]) -> Vec<String> {
        Study { points: points.to_vec(), not_run: 0 }.findings()
    }

    #[test]
    fn words_say_which_k_is_optimal_and_which_is_fastest() {
        let points = [
            point("udpor:k=1", 7, 300, None),
            point("udpor:k=2", 0, 200, None),
            point("udpor:k=optimal", 0, 205, None),
            point("optimal", 0, 1, None),
        ];
        assert_eq!(
            findings(&points),
            ["x.maz N=3, udpor: k = 2 is optimal (blocked explorations: 7 with k = 1); \
              k = 2 is fastest (200 ms), k = optimal within 5%."]
        );
        assert_eq!(
            findings(&points[1..3]),
            ["x.maz N=3, udpor: k = 2 is optimal, as no exploration is blocked; \
              k = 2 is fastest (200 ms), k = optimal within 5%."]
        );
    }

    #[test]
    fn searches_that_were_stopped_are_not_called_fast() {
        let cut = point("udpor:k=1", 0, 10, Some(StopReason::Timeout));
        let slow = point("udpor:k=2", 3, 900, None);
        assert_eq!(
            findings(&[cut.clone(), slow]),
            ["x.maz N=3, udpor: no k asked for is optimal (blocked explorations: 3 with k = 2); \
              k = 2 is fastest (900 ms)."]
        );
        let all = [cut.clone(), cut];
        assert_eq!(findings(&all), ["x.maz N=3, udpor: no search was complete."]);
    }

    #[test]
    fn runs_that_differ_are_told_loudly() {
        let mut odd = point("udpor:k=1", 0, 10, None);
        odd.is_steady = false;
        let study = Study { points: vec![odd], not_run: 0 };
        let expected = "Two runs of udpor:k=1 on x.maz N=3 came to different results.";
        assert!(Text(&study, 1000).to_string().contains(expected));
        assert!(Document(&study).to_string().contains(expected));
    }
}
