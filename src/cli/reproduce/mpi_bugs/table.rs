//! The table of `mazurka reproduce mpi-bugs`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Marked;
use crate::mpi::suite::{Expected, Mark};
use crate::report::table::Table;
use crate::report::text::duration;

/// A column: the number of tests with certain marks.
struct Column {
    name: &'static str,
    /// The marks that are counted.
    counts: fn(Mark) -> bool,
    /// The marks that form the total, which is shown as `of`; `None` if no total is shown.
    of: Option<fn(Mark) -> bool>,
    is_shown: Shown,
}

/// When a column without any counted test is shown. A column with a counted test is always shown.
#[derive(PartialEq, Eq)]
enum Shown {
    /// If some test has an expected answer.
    Labelled,
    /// If no test has an expected answer.
    Open,
    /// Never.
    Filled,
}

const fn column(name: &'static str, counts: fn(Mark) -> bool, is_shown: Shown) -> Column {
    Column { name, counts, of: None, is_shown }
}

const COLUMNS: [Column; 14] = [
    column("right", Mark::is_right, Shown::Labelled),
    Column {
        name: "kind right",
        counts: |mark| matches!(mark, Mark::Found { kind: Some(true), .. }),
        of: Some(|mark| matches!(mark, Mark::Found { kind: Some(_), .. })),
        is_shown: Shown::Filled,
    },
    Column {
        name: "line right",
        counts: |mark| matches!(mark, Mark::Found { place: Some(true), .. }),
        of: Some(|mark| matches!(mark, Mark::Found { place: Some(_), .. })),
        is_shown: Shown::Filled,
    },
    column("TP", |mark| matches!(mark, Mark::Found { .. }), Shown::Labelled),
    column("FN", |mark| mark == Mark::Missed, Shown::Labelled),
    column("TN", |mark| mark == Mark::Passed, Shown::Labelled),
    column("FP", |mark| mark == Mark::FalseAlarm, Shown::Labelled),
    column("disputed", |mark| mark == Mark::Disputed, Shown::Filled),
    column("verified", |mark| mark == Mark::Verified, Shown::Open),
    column("reported", |mark| mark == Mark::Reported, Shown::Open),
    column("refused", |mark| mark == Mark::Refused, Shown::Filled),
    column("time-out", |mark| mark == Mark::TimedOut, Shown::Filled),
    column("no answer", |mark| mark == Mark::Unsure, Shown::Filled),
    column("not run", |mark| mark == Mark::NotRun, Shown::Filled),
];

impl Column {
    fn cell(&self, marks: &[Mark]) -> String {
        let count = |what: fn(Mark) -> bool| marks.iter().filter(|&&mark| what(mark)).count();
        match self.of {
            None => count(self.counts).to_string(),
            Some(of) => format!("{} of {}", count(self.counts), count(of)),
        }
    }

    /// Is the column shown for these tests?
    fn is_shown(&self, marked: &[Marked]) -> bool {
        let is_labelled = marked.iter().any(|one| one.test.expected != Expected::Open);
        let counts = self.of.unwrap_or(self.counts);
        let is_due = match self.is_shown {
            Shown::Labelled => is_labelled,
            Shown::Open => !is_labelled,
            Shown::Filled => false,
        };
        is_due || marked.iter().any(|one| counts(one.mark()))
    }
}

/// The table of these results, by category. `time` is the time of all tests together.
pub(super) fn table(marked: &[Marked], time: Duration) -> Table {
    let columns: Vec<_> = COLUMNS.iter().filter(|column| column.is_shown(marked)).collect();
    let row = |name: &str, marks: &[Mark], time: Duration| -> Vec<String> {
        let counts = columns.iter().map(|column| column.cell(marks));
        let first = [name.to_owned(), marks.len().to_string()];
        first.into_iter().chain(counts).chain([duration(time.as_secs_f64())]).collect()
    };
    let mut categories: BTreeMap<&str, (Vec<Mark>, Duration)> = BTreeMap::new();
    for one in marked {
        let (marks, time) = categories.entry(&one.category).or_default();
        marks.push(one.mark());
        *time += one.time;
    }
    let mut rows: Vec<_> =
        categories.iter().map(|(name, (marks, time))| row(name, marks, *time)).collect();
    let marks: Vec<_> = marked.iter().map(Marked::mark).collect();
    rows.push(row("all, in two threads", &marks, time));
    let names = columns.iter().map(|column| column.name);
    let header: Vec<_> =
        ["category", "tests"].into_iter().chain(names).chain(["time"]).map(String::from).collect();
    Table { figures: 1..header.len(), header, rows }
}
