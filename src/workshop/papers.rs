//! The tables of papers, as data, and the searches that reproduce them.
//!
//! Each table is a comma-separated file beside this one. Lines that begin with `#` say what it is
//! about. A row is a program (a spec with constants) and options that hold for all its searches; a
//! column is
//!
//! | heading | means |
//! |---|---|
//! | `udpor:k=1 blocked` | a figure of the search with this setting |
//! | `udpor:k=1 blocked [a]` | such a figure; note a explains all differences in the column |
//! | `udpor time beside DPU` | such a figure; the printed values are those of this tool, not of the paper |
//! | `quoted P` | only quoted, from the paper or from elsewhere |
//!
//! and a cell under a figure is what was printed, perhaps with marks:
//!
//! | cell | means |
//! |---|---|
//! | `24` | printed, and compared with our figure; times are in seconds, and not compared |
//! | (empty) | not printed; our figure is shown |
//! | `-` | printed as unknown; our figure is shown |
//! | `24*` | slow: searched only with `--full` |
//! | `24!` | never searched here |
//! | `24@100` | our search stops after 100 traces |
//! | `24[a]` | note a explains a difference, or is of interest |

use std::collections::BTreeMap;
use std::time::Duration;

use super::specs;
use crate::study::{Case, Job, Limits, Measured};

/// All tables, by name.
const PAPERS: &[(&str, &str)] = &[
    ("udpor", include_str!("papers/udpor.csv")),
    ("transdpor", include_str!("papers/transdpor.csv")),
    ("sleep-sets", include_str!("papers/sleep-sets.csv")),
    ("quasi-optimal", include_str!("papers/quasi-optimal.csv")),
];

/// A table of a paper.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its name in this crate.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The publication.
    pub(crate) source: &'static str,
    /// What the table shows.
    pub(crate) about: &'static str,
    /// Its footnotes.
    pub(crate) notes: BTreeMap<char, &'static str>,
    /// Its columns after the program.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Line>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading in our tables.
    pub heading: &'static str,
    /// The setting and the figure; `None` for a quoted column.
    pub(crate) figure: Option<(&'static str, Figure)>,
    /// Whether the column has printed values.
    pub(crate) is_printed: bool,
    /// The origin of the printed values: the paper, or the name of a tool.
    pub(crate) printed_by: &'static str,
    /// The note that explains all differences in the column.
    pub(crate) note: Option<char>,
}

/// A figure of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Complete executions.
    Traces,
    /// Redundant explorations.
    Blocked,
    /// Actions executed.
    Transitions,
    /// The verdict.
    Verdict,
    /// The time.
    Time,
}

/// A row.
#[derive(Clone, Debug)]
pub struct Line {
    /// The program as the paper calls it.
    pub program: &'static str,
    /// The constants that make our program equal to the paper's, as `N=4 M=5`.
    pub constants: &'static str,
    /// The options of all its searches, as in a [`Setting`](crate::explore::Setting).
    pub(crate) options: &'static str,
    /// The cells, one for each column.
    pub cells: Vec<Cell>,
    spec: &'static str,
}

/// A printed value, and when it is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The printed value; empty if there is none.
    pub printed: &'static str,
    /// When its search is run.
    pub(crate) effort: Effort,
    /// The number of traces after which our search stops.
    pub(crate) stop: Option<u64>,
    /// The note about this cell.
    pub(crate) note: Option<char>,
}

/// When a search is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Always.
    Quick,
    /// With `--full`.
    Slow,
    /// Never.
    Hopeless,
}

/// A search that a table needs. One search may fill several cells of its row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PrintedSearch {
    pub(crate) row: usize,
    /// The explorer with its options.
    pub(crate) setting: String,
    /// The number of traces after which it stops.
    pub(crate) stop: Option<u64>,
}

/// The origin of printed values unless a column names another.
const PAPER: &str = "paper";

/// The names of the tables.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PAPERS.iter().map(|(name, _)| *name)
}

/// The table with this name.
///
/// # Panics
/// If its file does not have the form above, which a test excludes.
pub fn named(name: &str) -> Option<Paper> {
    let (name, text) = PAPERS.iter().find(|(known, _)| *known == name)?;
    Some(read(name, text))
}

impl Paper {
    /// The searches to run, row by row; `full` includes the slow ones.
    pub(crate) fn searches(&self, full: bool) -> Vec<PrintedSearch> {
        let mut searches = Vec::new();
        for (row, line) in self.rows.iter().enumerate() {
            for (column, cell) in self.columns.iter().zip(&line.cells) {
                let search = self.search(row, column, cell, full);
                searches.extend(search.filter(|search| !searches.contains(search)));
            }
        }
        searches
    }

    /// The search for a cell, if it has one.
    pub(crate) fn search(
        &self,
        row: usize,
        column: &Column,
        cell: &Cell,
        full: bool,
    ) -> Option<PrintedSearch> {
        let (setting, _) = column.figure?;
        let is_due = match cell.effort {
            Effort::Quick => true,
            Effort::Slow => full,
            Effort::Hopeless => false,
        };
        let setting = with_options(setting, self.rows[row].options);
        is_due.then_some(PrintedSearch { row, setting, stop: cell.stop })
    }

    /// The job of a search.
    ///
    /// # Panics
    /// If the spec is not built in, which a test excludes.
    pub(crate) fn job(&self, search: &PrintedSearch) -> Job {
        let line = &self.rows[search.row];
        let defines = line.constants.split_whitespace().filter_map(|define| define.split_once('='));
        let case = Case {
            name: line.spec.into(),
            source: specs::source(line.spec).expect("a spec that is built in").into(),
            defines: defines.map(|(name, value)| (name.into(), value.into())).collect(),
            by_statement: false,
            allow_pending: false,
            daemons: Vec::new(),
            unfair: false,
            semantics: Default::default(),
            faults: Default::default(),
        };
        let limits = Limits { max_traces: search.stop, ..Limits::default() };
        let repeat_for = Duration::ZERO;
        Job { case, setting: search.setting.clone(), limits, all: true, repeat_for }
    }
}

impl Line {
    /// The program and its options: `RMQ-receiving N=4, order=fifo`.
    pub(crate) fn title(&self) -> String {
        let name = [self.program, self.constants].join(" ");
        let parts = [name.trim(), self.options];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

impl Figure {
    /// The figure as a number, if it is one.
    pub(crate) fn count(self, measured: &Measured) -> Option<u64> {
        match self {
            Figure::Traces => Some(measured.stats.traces),
            Figure::Blocked => Some(measured.stats.blocked),
            Figure::Transitions => Some(measured.stats.transitions),
            Figure::Verdict | Figure::Time => None,
        }
    }
}

impl Cell {
    /// Whether our figure agrees with the printed one. `None` if there is nothing to compare.
    pub(crate) fn agrees(&self, figure: Figure, ours: &Measured) -> Option<bool> {
        match figure {
            Figure::Verdict => {
                (!self.printed.is_empty()).then(|| self.printed == ours.verdict.word())
            }
            figure => Some(self.printed.parse::<u64>().ok()? == figure.count(ours)?),
        }
    }
}

/// Adds options to a setting: `dpor` and `order=lca` make `dpor:order=lca`.
fn with_options(setting: &str, options: &str) -> String {
    match (options, setting.contains(':')) {
        ("", _) => setting.into(),
        (options, true) => format!("{setting}+{options}"),
        (options, false) => format!("{setting}:{options}"),
    }
}

fn read(name: &'static str, text: &'static str) -> Paper {
    let of = |key: &str| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("# ")?.strip_prefix(key));
        lines.next().unwrap_or_else(|| panic!("{name} has no `# {key}`")).trim()
    };
    let notes = text.lines().filter_map(|line| line.strip_prefix("# note ")?.split_once(": "));
    let notes = notes.map(|(letter, note)| (letter.chars().next().expect("a letter"), note));
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let headings: Vec<_> = lines.next().expect("a line of headings").split(',').skip(4).collect();
    let rows: Vec<_> = lines.map(|line| row(line, headings.len())).collect();
    let columns = headings.iter().enumerate().map(|(index, heading)| {
        let is_printed = rows.iter().any(|row: &Line| !row.cells[index].printed.is_empty());
        Column { is_printed, ..column(heading) }
    });
    Paper {
        name,
        title: of("title:"),
        source: of("source:"),
        about: of("about:"),
        notes: notes.collect(),
        columns: columns.collect(),
        rows,
    }
}

fn column(heading: &'static str) -> Column {
    let (heading, note) = with_note(heading);
    if let Some(heading) = heading.strip_prefix("quoted ") {
        return Column { heading, figure: None, is_printed: true, printed_by: PAPER, note };
    }
    let (heading, printed_by) = heading.split_once(" beside ").unwrap_or((heading, PAPER));
    let (setting, figure) = heading.rsplit_once(' ').expect("a setting and a figure");
    let figure = match figure {
        "traces" => Figure::Traces,
        "blocked" => Figure::Blocked,
        "transitions" => Figure::Transitions,
        "verdict" => Figure::Verdict,
        "time" => Figure::Time,
        other => panic!("`{other}` is no figure"),
    };
    Column { heading, figure: Some((setting, figure)), is_printed: false, printed_by, note }
}

fn row(line: &'static str, columns: usize) -> Line {
    let fields: Vec<_> = line.split(',').collect();
    let [program, spec, constants, options, ref cells @ ..] = fields[..] else {
        panic!("`{line}` is too short");
    };
    assert_eq!(cells.len(), columns, "cells and columns of `{line}`");
    let cells = cells.iter().map(|text| cell(text)).collect();
    Line { program, spec, constants, options, cells }
}

fn cell(text: &'static str) -> Cell {
    let (text, note) = with_note(text);
    let (text, stop) = match text.split_once('@') {
        Some((text, stop)) => (text, Some(stop.parse().expect("a number of traces"))),
        None => (text, None),
    };
    let (printed, effort) = match (text.strip_suffix('*'), text.strip_suffix('!')) {
        (Some(printed), _) => (printed, Effort::Slow),
        (None, Some(printed)) => (printed, Effort::Hopeless),
        (None, None) => (text, Effort::Quick),
    };
    Cell { printed, effort, stop, note }
}

/// Splits a cell from its note: `24[a]` is `24` and `a`.
fn with_note(text: &'static str) -> (&'static str, Option<char>) {
    let parts = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
    parts.map_or((text, None), |(text, note)| (text.trim(), note.chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Setting;

    #[test]
    fn all_tables_can_be_read_and_searched() {
        for name in names() {
            let paper = named(name).unwrap();
            for search in paper.searches(true) {
                let setting = search.setting.parse::<Setting>();
                setting.unwrap_or_else(|why| panic!("{name}: {why}"));
                let case = paper.job(&search).case;
                let compiled = case.compile();
                compiled.unwrap_or_else(|e| panic!("{name}: {}", e.render(false)));
            }
            assert!(paper.searches(false).len() <= paper.searches(true).len());
            let of_cells = paper.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.note);
            let of_columns = paper.columns.iter().map(|column| column.note);
            for note in of_cells.chain(of_columns).flatten() {
                assert!(paper.notes.contains_key(&note), "{name} has no note {note}");
            }
        }
    }

    #[test]
    fn cells_have_marks() {
        let quick = Cell { printed: "24", effort: Effort::Quick, stop: None, note: None };
        assert_eq!(cell("24"), quick);
        assert_eq!(cell("24*"), Cell { effort: Effort::Slow, ..quick.clone() });
        assert_eq!(
            cell("24![b]"),
            Cell { effort: Effort::Hopeless, note: Some('b'), ..quick.clone() }
        );
        assert_eq!(cell("24@9"), Cell { stop: Some(9), ..quick.clone() });
        assert_eq!(cell(""), Cell { printed: "", ..quick });
    }

    #[test]
    fn options_of_a_row_join_those_of_a_column() {
        assert_eq!(with_options("dpor", "order=lca"), "dpor:order=lca");
        assert_eq!(with_options("dpor:sleep-sets", "order=lca"), "dpor:sleep-sets+order=lca");
        assert_eq!(with_options("udpor", ""), "udpor");
    }
}
