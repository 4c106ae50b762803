//! The result of `study`: a line for each point, and sentences that say which k is optimal and
//! which is fastest.
//!
//! UDPOR with partial alternatives explores redundant executions: its *blocked* explorations. With
//! a larger k there are fewer of them, but each search for an alternative is more expensive
//! (*quasi-optimal* partial order reduction, CAV 2018). A k without blocked explorations is optimal
//! for the program. The fastest k is often another one.
//!
//! | file | idea |
//! |---|---|
//! | `plots` | the plots of the points |
//! | `page` | one page of HTML with everything, and the command that repeats it |

mod page;
mod plots;

pub use page::Facts;
pub use plots::{Picture, pictures};

pub(crate) use page::html;

use std::fmt::{self, Display, Formatter};

use bytesize::ByteSize;
use serde::Serialize;
use textwrap::fill;

use crate::explore::Combs;
use crate::report::comparison::{Comparison, Record, title, verdict};
use crate::report::table::{self, Markdown, Plain, Table, or_dash, time};
use crate::report::text::{BAD, Styled, UNSURE, thousands};
use crate::study::{Figures, Point, Ran};

/// The points of a study.
#[derive(Clone, Debug, Default)]
pub(crate) struct Study {
    /// The finished points.
    pub(crate) points: Vec<Point>,
    /// The number of points that are missing because of an interrupt.
    pub(crate) not_run: usize,
}

/// The minimum number of runs of each search for a statement on which k is fastest. With fewer
/// runs, times would often differ by chance.
const LEAST_RUNS: usize = 3;

impl Study {
    /// The points as rows, for the code shared with `compare`.
    pub(crate) fn comparison(&self) -> Comparison {
        let rows = self.points.iter().map(|point| point.row.clone()).collect();
        Comparison { rows, not_run: self.not_run, ..Comparison::default() }
    }

    /// The disagreements between explorers, or between runs of one search, some sentences each.
    pub(crate) fn disagreements(&self) -> Vec<String> {
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

    /// For each program and explorer with a k: which k is optimal and which is fastest, in a
    /// sentence or two.
    pub(crate) fn findings(&self) -> Vec<String> {
        let with_k: Vec<_> = self.points.iter().filter(|point| point.k().is_some()).collect();
        let groups = with_k.chunk_by(|a, b| program(a) == program(b) && a.family() == b.family());
        groups.filter(|group| group.len() > 1).map(finding).collect()
    }

    fn notes(&self) -> Vec<String> {
        self.comparison().notes().into_iter().chain(plots::without_sat_calls(self)).collect()
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
        Table { header: header.map(str::to_owned).to_vec(), figures: 3..11, rows }
    }
}

/// The key of the program of a point.
fn program(point: &Point) -> (&str, &str) {
    (&point.row.spec, &point.row.defines)
}

/// The cells from the column `explorer` on.
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

/// The finding about points that differ only in k:
/// `x.maz, udpor: k = 2 is optimal (blocked explorations: 7 with k = 1); k = 1 is fastest (3 ms).`
fn finding(points: &[&Point]) -> String {
    let first = points[0];
    let who = format!("{}, {}", title(&first.row.spec, &first.row.defines), first.family());
    let done: Vec<Done<'_>> = points.iter().filter_map(|point| Done::of(point)).collect();
    if done.is_empty() {
        return format!("{who}: no search was complete.");
    }
    let optimal = match done.iter().find(|done| done.stats.blocked == 0) {
        Some(Done { k, .. }) => format!("k = {k} is optimal{}", others_blocked(&done, k)),
        None => format!("no k asked for is optimal{}", others_blocked(&done, "")),
    };
    format!("{who}: {optimal}; {}.", fastest(&done))
}

/// A complete search with a k.
struct Done<'p> {
    k: String,
    stats: &'p Figures,
    /// The time of each run.
    seconds: &'p [f64],
}

impl Done<'_> {
    fn of(point: &Point) -> Option<Done<'_>> {
        let (k, stats) = (point.k()?, &point.complete()?.stats);
        Some(Done { k, stats, seconds: &point.seconds })
    }

    /// Whether some run of this search took no longer than some run of the other.
    fn is_once_as_fast_as(&self, other: &Done<'_>) -> bool {
        self.seconds.iter().any(|mine| other.seconds.iter().any(|theirs| mine <= theirs))
    }
}

/// The explorations that other k block: ` (blocked explorations: 7 with k = 1, 2 with k = 2)`
fn others_blocked(done: &[Done<'_>], optimal: &str) -> String {
    let earlier = done.iter().take_while(|done| done.k != optimal);
    let each = earlier.map(|d| format!("{} with k = {}", thousands(d.stats.blocked), d.k));
    let each: Vec<_> = each.collect();
    match each.as_slice() {
        [] => ", as no exploration is blocked".into(),
        each => format!(" (blocked explorations: {})", each.join(", ")),
    }
}

/// Says `k = 1 is fastest (3 ms)` if each of its runs was faster than all runs with any other k.
fn fastest(done: &[Done<'_>]) -> String {
    let median = |done: &Done<'_>| done.stats.wall_seconds;
    let best = done.iter().min_by(|a, b| median(a).total_cmp(&median(b))).expect("some");
    let shown = time(median(best));
    if done.len() == 1 {
        return format!("only k = {} came to its end ({shown})", best.k);
    }
    if done.iter().any(|done| done.seconds.len() < LEAST_RUNS) {
        return format!("{LEAST_RUNS} runs of each k would show which is fastest (--repeat)");
    }
    let near: Vec<_> = done.iter().filter(|done| done.is_once_as_fast_as(best)).collect();
    let names: Vec<_> = near.iter().map(|done| format!("k = {}", done.k)).collect();
    match names.as_slice() {
        [only] => format!("{only} is fastest ({shown})"),
        all if all.len() == done.len() => "the runs do not show which k is fastest".into(),
        some => format!("the runs do not show which is fastest of {}", some.join(", ")),
    }
}

/// The study as text of this width, for a terminal.
pub(crate) struct Text<'s>(pub(crate) &'s Study, pub(crate) usize);

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

/// The study as Markdown.
pub(crate) struct Document<'s>(pub(crate) &'s Study);

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

/// A point, for other programs.
#[derive(Serialize)]
struct Entry<'s> {
    #[serde(flatten)]
    record: Record<'s>,
    k: Option<String>,
    /// The time of each run, in seconds; `stats` has the median.
    run_seconds: &'s [f64],
}

/// The study as one JSON object, for other programs.
#[derive(Serialize)]
pub(crate) struct Object<'s> {
    mazurka: &'static str,
    points: Vec<Entry<'s>>,
    not_run: usize,
    findings: Vec<String>,
    disagreements: Vec<String>,
}

impl<'s> Object<'s> {
    /// `version` is the version of this crate.
    pub(crate) fn new(study: &'s Study, version: &'static str) -> Self {
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

/// A point, for comma-separated values.
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

/// The study as comma-separated values, a line for each point; `wall_seconds` is the median.
pub(crate) fn csv(study: &Study) -> String {
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
    use crate::explore::StopReason;
    use crate::study::made_up::{made_up, ran};

    /// A point of N=3 with these blocked explorations and milliseconds.
    fn point(setting: &str, blocked: u64, ms: &[u64], stopped_by: Option<StopReason>) -> Point {
        let run = |&ms: &u64| {
            let wall_seconds = ms as f64 / 1e3;
            let stats = Figures { traces: 6, blocked, wall_seconds, ..Figures::default() };
            ran(stats, stopped_by)
        };
        made_up(setting, ms.iter().map(run).collect())
    }

    fn findings(points: &[Point]) -> Vec<String> {
        Study { points: points.to_vec(), not_run: 0 }.findings()
    }

    #[test]
    fn words_say_which_k_is_optimal_and_which_is_fastest() {
        let points = [
            point("udpor:k=1", 7, &[300, 310, 290], None),
            point("udpor:k=2", 0, &[200, 210, 190], None),
            point("udpor:k=optimal", 0, &[225, 220, 211], None),
            point("optimal", 0, &[1, 1, 1], None),
        ];
        assert_eq!(
            findings(&points),
            ["x.maz N=3, udpor: k = 2 is optimal (blocked explorations: 7 with k = 1); \
              k = 2 is fastest (200 ms)."]
        );
        assert_eq!(
            findings(&points[1..3]),
            ["x.maz N=3, udpor: k = 2 is optimal, as no exploration is blocked; \
              k = 2 is fastest (200 ms)."]
        );
    }

    #[test]
    fn no_k_is_called_fastest_if_runs_do_not_separate() {
        let last = |points: &[Point]| {
            let finding = findings(points).pop().expect("a finding");
            finding.rsplit_once("; ").expect("two parts").1.to_owned()
        };
        let slow = point("udpor:k=1", 7, &[300, 310, 290], None);
        let fast = point("udpor:k=2", 0, &[200, 210, 190], None);
        let near = point("udpor:k=3", 0, &[220, 225, 209], None);
        assert_eq!(
            last(&[slow.clone(), fast.clone(), near.clone()]),
            "the runs do not show which is fastest of k = 2, k = 3."
        );
        assert_eq!(last(&[fast.clone(), near]), "the runs do not show which k is fastest.");
        let few = point("udpor:k=optimal", 0, &[100, 100], None);
        assert_eq!(
            last(&[slow, fast, few]),
            "3 runs of each k would show which is fastest (--repeat)."
        );
    }

    #[test]
    fn searches_that_were_stopped_are_not_called_fast() {
        let cut = point("udpor:k=1", 0, &[10], Some(StopReason::Timeout));
        let slow = point("udpor:k=2", 3, &[900], None);
        assert_eq!(
            findings(&[cut.clone(), slow]),
            ["x.maz N=3, udpor: no k asked for is optimal (blocked explorations: 3 with k = 2); \
              only k = 2 came to its end (900 ms)."]
        );
        let all = [cut.clone(), cut];
        assert_eq!(findings(&all), ["x.maz N=3, udpor: no search was complete."]);
    }

    #[test]
    fn sat_calls_have_plots_or_a_sentence_says_why_not() {
        let with = |k: &str, n: &str, calls: u64| {
            let mut point = point(&format!("udpor:k={k}"), 0, &[1], None);
            point.defines = vec![("N".into(), n.into())];
            if let Ran::Measured(measured) = &mut point.row.ran {
                measured.stats.sat_calls = Some(calls);
            }
            point
        };
        let told = |points: &[Point]| {
            let study = Study { points: points.to_vec(), not_run: 0 };
            let files = pictures(&study).into_iter().map(|picture| picture.file);
            let files: Vec<_> = files.filter(|file| file.contains("sat-calls")).collect();
            (files, plots::without_sat_calls(&study))
        };
        let asked = [with("1", "3", 0), with("optimal", "3", 5), with("optimal", "4", 7)];
        let files = ["x-by-udpor-sat-calls-by-k.svg", "x-sat-calls-over-n.svg"];
        assert_eq!(told(&asked), (files.map(str::to_owned).to_vec(), None));
        let settled = "No plot of SAT calls: a short search settled every question, and only \
                       what it cannot settle goes to the solver.";
        let never = [with("1", "3", 0), with("optimal", "3", 0)];
        assert_eq!(told(&never), (Vec::new(), Some(settled.to_owned())));
        let partial = "No plot of SAT calls: only k = optimal asks the solver.";
        assert_eq!(told(&never[..1]), (Vec::new(), Some(partial.to_owned())));
        let mut other = with("optimal", "3", 0);
        other.row.spec = "y.maz".into();
        let both = told(&[&asked[..], &[other]].concat()).1;
        assert!(both.is_some_and(|text| text.starts_with("No plot of SAT calls for y.maz: ")));
        assert_eq!(told(&[point("optimal", 0, &[1], None)]), (Vec::new(), None));
    }

    #[test]
    fn runs_that_differ_are_reported_loudly() {
        let mut odd = point("udpor:k=1", 0, &[10], None);
        odd.is_steady = false;
        let study = Study { points: vec![odd], not_run: 0 };
        let expected = "Two runs of udpor:k=1 on x.maz N=3 came to different results.";
        assert!(Text(&study, 1000).to_string().contains(expected));
        assert!(Document(&study).to_string().contains(expected));
    }
}
