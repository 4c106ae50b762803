//! A table of a paper with the printed values, our own, and the differences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use serde::Serialize;
use textwrap::fill;

use super::papers::{Cell, Column, Effort, Figure, Paper, PrintedSearch};
use crate::report::table::{self, Markdown, Plain, Table, time};
use crate::report::text::{BAD, HEADING, Styled, thousands};
use crate::study::{Measured, Ran};

/// The text of a cell whose search was not run.
const NONE: &str = "-";
const SLOW: &str = "slow";

/// A paper's table and our searches.
#[derive(Clone, Debug)]
pub(crate) struct Reproduction {
    /// The table.
    pub(crate) paper: Paper,
    /// The results of the searches. A search that was not run is missing.
    pub(crate) ran: BTreeMap<PrintedSearch, Ran>,
    /// Whether the slow searches were included.
    pub(crate) full: bool,
    /// The number of searches that were not run because of an interrupt.
    pub(crate) not_run: usize,
}

/// A cell with our result.
struct Ours<'r> {
    row: usize,
    column: &'r Column,
    cell: &'r Cell,
    figure: Figure,
    ran: Option<&'r Ran>,
}

impl Ours<'_> {
    fn measured(&self) -> Option<&Measured> {
        match self.ran {
            Some(Ran::Measured(measured)) => Some(measured),
            _ => None,
        }
    }

    /// Whether it agrees with the printed value. `None` if there is nothing to compare.
    fn agrees(&self) -> Option<bool> {
        self.cell.agrees(self.figure, self.measured()?)
    }

    /// The note for this cell, if the values differ.
    fn note(&self) -> Option<char> {
        match self.agrees() {
            Some(true) => None,
            Some(false) => self.cell.note.or(self.column.note),
            None => self.cell.note,
        }
    }

    /// The figure as text, without marks.
    fn value(&self) -> Option<String> {
        let measured = self.measured()?;
        Some(match self.figure {
            Figure::Verdict => measured.verdict.word().into(),
            Figure::Time => time(measured.stats.wall_seconds),
            figure => thousands(figure.count(measured)?),
        })
    }

    /// The text in the table: `≠ 24 [a]`.
    fn text(&self, is_due: bool) -> String {
        let bare = match (self.value(), self.ran, self.cell.effort) {
            (Some(value), ..) => value,
            (None, Some(Ran::Refused(_)), _) => "refused".into(),
            (None, Some(_), _) => "failed".into(),
            (None, None, Effort::Slow) if !is_due => return SLOW.into(),
            (None, None, _) => NONE.into(),
        };
        let is_cut = self.figure != Figure::Verdict
            && self.measured().is_some_and(|measured| !measured.has_ended());
        let mark = match self.agrees() {
            Some(false) => "≠ ",
            _ if is_cut => "≥ ",
            _ => "",
        };
        match self.note() {
            Some(note) => format!("{mark}{bare} [{note}]"),
            None => format!("{mark}{bare}"),
        }
    }
}

impl Reproduction {
    /// The cells with our results, row by row.
    fn ours(&self) -> impl Iterator<Item = Ours<'_>> {
        (0..self.paper.rows.len()).flat_map(move |row| {
            let cells = self.paper.columns.iter().zip(&self.paper.rows[row].cells);
            cells.filter_map(move |(column, cell)| self.our_cell(row, column, cell))
        })
    }

    fn our_cell<'r>(&'r self, row: usize, column: &'r Column, cell: &'r Cell) -> Option<Ours<'r>> {
        let (_, figure) = column.figure?;
        let search = self.paper.search(row, column, cell, self.full);
        let ran = search.and_then(|search| self.ran.get(&search));
        Some(Ours { row, column, cell, figure, ran })
    }

    /// Whether some search of this row is due.
    fn is_shown(&self, row: usize) -> bool {
        let cells = self.paper.columns.iter().zip(&self.paper.rows[row].cells);
        let mut searches =
            cells.map(|(column, cell)| self.paper.search(row, column, cell, self.full));
        searches.any(|search| search.is_some())
    }

    /// Whether some figure differs from the printed one without an explanation.
    pub(crate) fn is_surprising(&self) -> bool {
        let unexplained = |ours: Ours<'_>| ours.agrees() == Some(false) && ours.note().is_none();
        self.ours().any(unexplained) || self.ran.values().any(|ran| matches!(ran, Ran::Failed(_)))
    }

    /// Whether every search that was due is done.
    pub(crate) fn is_whole(&self) -> bool {
        self.not_run == 0
    }

    fn table(&self) -> Table {
        let mut header = vec!["program".to_owned()];
        for column in &self.paper.columns {
            let heading = column.heading.replace([':', ' '], "\n");
            let below = "\n".repeat(heading.matches('\n').count() + 1);
            match (column.figure, column.is_printed) {
                (Some(_), true) => {
                    let printed_by = column.printed_by;
                    header.extend([format!("{heading}\n{printed_by}"), format!("{below}ours")]);
                }
                (Some(_), false) => header.push(format!("{heading}\nours")),
                (None, _) => header.push(heading),
            }
        }
        let shown = (0..self.paper.rows.len()).filter(|&row| self.is_shown(row));
        let rows: Vec<_> = shown.map(|row| self.row(row)).collect();
        Table { figures: 1..header.len(), header, rows }
    }

    fn row(&self, row: usize) -> Vec<String> {
        let line = &self.paper.rows[row];
        let mut cells = vec![line.title()];
        for (column, cell) in self.paper.columns.iter().zip(&line.cells) {
            let printed = printed(column, cell);
            match self.our_cell(row, column, cell) {
                None => cells.push(match cell.note {
                    Some(note) => format!("{printed} [{note}]"),
                    None => printed,
                }),
                Some(ours) => {
                    cells.extend(column.is_printed.then_some(printed));
                    cells.push(ours.text(self.full));
                }
            }
        }
        cells
    }

    /// The numbers of figures that agree, that differ for a known reason, and that differ without
    /// one.
    fn score(&self) -> [usize; 3] {
        let mut score = [0; 3];
        for ours in self.ours() {
            match (ours.agrees(), ours.note()) {
                (Some(true), _) => score[0] += 1,
                (Some(false), Some(_)) => score[1] += 1,
                (Some(false), None) => score[2] += 1,
                (None, _) => {}
            }
        }
        score
    }

    fn verdict(&self) -> String {
        let [same, explained, surprising] = self.score();
        let mut text =
            format!("{same} of {} printed figures come out", same + explained + surprising);
        if explained > 0 {
            text += &format!("; {explained} differ (≠) for the reasons given");
        }
        if surprising > 0 {
            text += &format!("; {surprising} differ (≠) and nothing explains it");
        }
        text + "."
    }

    /// The notes below the table.
    fn notes(&self) -> Vec<String> {
        let used = self.table().rows.concat().concat();
        let notes = self.paper.notes.iter();
        let notes = notes.filter(|(letter, _)| used.contains(&format!("[{letter}]")));
        let mut notes: Vec<_> = notes.map(|(letter, note)| format!("[{letter}] {note}")).collect();
        notes.push(format!("Source: {}", self.paper.source));
        let left_out = self.left_out();
        if !left_out.is_empty() {
            notes.push(format!("Left out (--full has them): {}.", left_out.join("; ")));
        }
        for (search, ran) in &self.ran {
            if let Ran::Refused(how) | Ran::Failed(how) = ran {
                let program = self.paper.rows[search.row].title();
                notes.push(format!("{} on {program}: {how}", search.setting));
            }
        }
        if self.not_run > 0 {
            notes.push(format!("Interrupted: searches not done: {}.", self.not_run));
        }
        notes
    }

    /// The slow searches that were left out, row by row.
    fn left_out(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for (row, line) in self.paper.rows.iter().enumerate() {
            let slow = |cell: &Cell| !self.full && cell.effort == Effort::Slow;
            let cells = self.ours().filter(|ours| ours.row == row && slow(ours.cell));
            let mut settings: Vec<_> =
                cells.filter_map(|ours| Some(ours.column.figure?.0)).collect();
            settings.dedup();
            let mut seen = BTreeSet::new();
            settings.retain(|setting| seen.insert(*setting));
            match (settings.is_empty(), self.is_shown(row)) {
                (true, _) => {}
                (false, true) => rows.push(format!("{} ({})", line.title(), settings.join(", "))),
                (false, false) => rows.push(line.title()),
            }
        }
        rows
    }
}

/// The printed value; a time gets its unit.
fn printed(column: &Column, cell: &Cell) -> String {
    let printed = cell.printed.parse().map_or(cell.printed.to_owned(), thousands);
    match column.figure {
        Some((_, Figure::Time)) if printed.ends_with(|last: char| last.is_ascii_digit()) => {
            printed + " s"
        }
        _ => printed,
    }
}

/// The table as text of this width, for a terminal.
pub(crate) struct Text<'r>(pub(crate) &'r Reproduction, pub(crate) usize);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Text(reproduction, room) = *self;
        let paper = &reproduction.paper;
        writeln!(f, "{}", Styled(HEADING, paper.title))?;
        writeln!(f, "{}\n", fill(paper.about, room))?;
        write!(f, "{}", Plain(&reproduction.table(), room))?;
        match reproduction.is_surprising() {
            true => writeln!(f, "\n{}\n", Styled(BAD, reproduction.verdict()))?,
            false => writeln!(f, "\n{}\n", reproduction.verdict())?,
        }
        let mut notes = reproduction.notes().into_iter();
        notes.try_for_each(|note| writeln!(f, "{}", fill(&note, room)))
    }
}

/// The table as Markdown.
pub(crate) struct Document<'r>(pub(crate) &'r Reproduction);

impl Display for Document<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Document(reproduction) = self;
        let paper = &reproduction.paper;
        writeln!(f, "## {}\n\n{}\n", paper.title, paper.about)?;
        write!(f, "{}", Markdown(&reproduction.table()))?;
        writeln!(f, "\n{}", reproduction.verdict())?;
        reproduction.notes().iter().try_for_each(|note| writeln!(f, "\n{note}"))
    }
}

/// A figure, for other programs.
#[derive(Serialize)]
struct Record<'r> {
    program: &'r str,
    constants: &'r str,
    options: &'r str,
    figure: &'r str,
    printed: Option<&'r str>,
    /// Our figure: a count, a word, or seconds.
    ours: Option<String>,
    /// Whether our search was stopped early.
    stopped: bool,
    agrees: Option<bool>,
    note: Option<char>,
    printed_by: &'r str,
}

fn records(reproduction: &Reproduction) -> Vec<Record<'_>> {
    let mut records = Vec::new();
    for (row, line) in reproduction.paper.rows.iter().enumerate() {
        for (column, cell) in reproduction.paper.columns.iter().zip(&line.cells) {
            let ours = reproduction.our_cell(row, column, cell);
            let measured = ours.as_ref().and_then(Ours::measured);
            let plain = |ours: &Ours<'_>| {
                let measured = ours.measured()?;
                match ours.figure {
                    Figure::Time => Some(measured.stats.wall_seconds.to_string()),
                    Figure::Verdict => Some(measured.verdict.word().into()),
                    figure => figure.count(measured).map(|n| n.to_string()),
                }
            };
            records.push(Record {
                program: line.program,
                constants: line.constants,
                options: line.options,
                figure: column.heading,
                printed: Some(cell.printed).filter(|printed| !printed.is_empty()),
                ours: ours.as_ref().and_then(plain),
                stopped: measured.is_some_and(|measured| !measured.has_ended()),
                agrees: ours.as_ref().and_then(Ours::agrees),
                note: ours.map_or(cell.note, |ours| ours.note()),
                printed_by: column.printed_by,
            });
        }
    }
    records
}

/// The table as comma-separated values, a line for each figure.
pub(crate) fn csv(reproduction: &Reproduction) -> String {
    table::csv(records(reproduction))
}

/// The reproduction as one JSON object, for other programs.
#[derive(Serialize)]
pub(crate) struct Object<'r> {
    mazurka: &'static str,
    name: &'static str,
    title: &'static str,
    source: &'static str,
    figures: Vec<Record<'r>>,
    notes: &'r BTreeMap<char, &'static str>,
    left_out: Vec<String>,
    not_run: usize,
}

impl<'r> Object<'r> {
    /// `version` is the version of this crate.
    pub(crate) fn new(reproduction: &'r Reproduction, version: &'static str) -> Self {
        let Paper { name, title, source, ref notes, .. } = reproduction.paper;
        Object {
            mazurka: version,
            name,
            title,
            source,
            figures: records(reproduction),
            notes,
            left_out: reproduction.left_out(),
            not_run: reproduction.not_run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Verdict;
    use crate::study::Figures;
    use crate::workshop::papers;

    /// The table of FORTE 2019 with made-up results.
    fn made_up(traces: u64) -> Reproduction {
        let paper = papers::named("udpor").unwrap();
        let stats = Figures { traces, ..Figures::default() };
        let verdict = Verdict::Deadlock;
        let measured = Measured {
            verdict,
            stopped_by: None,
            found: Vec::new(),
            processor_seconds: None,
            stats,
        };
        let searches = paper.searches(false).into_iter();
        let ran = searches.map(|search| (search, Ran::Measured(measured.clone()))).collect();
        Reproduction { paper, ran, full: false, not_run: 0 }
    }

    #[test]
    fn what_differs_is_marked() {
        let text = Text(&made_up(2), 1000).to_string();
        assert!(text.contains("≠ 2"), "{text}");
        assert!(text.contains("differ (≠) and nothing explains it"), "{text}");
        assert!(made_up(2).is_surprising());
    }

    #[test]
    fn printed_times_stand_beside_ours() {
        let table = made_up(2).table();
        let at = |name: &str| table.header.iter().position(|head| head == name).expect("a column");
        let paper = at("udpor\ntime\npaper");
        assert_eq!(table.header[paper + 1].trim(), "ours");
        let row = &table.rows[6];
        assert_eq!(row[..2], ["RMQ-receiving N=4", "4"]);
        assert_eq!(row[paper..paper + 2], ["0.2 s", "0 µs"]);
        let exhaustive = at("exhaustive\ntime\npaper");
        assert_eq!(table.rows[8][exhaustive], "1,038 s");
        assert_eq!(table.rows[9][exhaustive..exhaustive + 2], ["TO", "-"]);
        let tools = Reproduction { paper: papers::named("quasi-optimal").unwrap(), ..made_up(2) };
        let header = tools.table().header;
        assert!(header.contains(&"udpor\ntime\nDPU".to_owned()), "{header:?}");
        assert!(header.contains(&"optimal\ntime\nNidhugg".to_owned()), "{header:?}");
    }

    #[test]
    fn what_is_left_out_is_named() {
        let text = Text(&made_up(2), 1000).to_string();
        assert!(
            text.contains("Left out (--full has them): RMQ-receiving N=5 (exhaustive)."),
            "{text}"
        );
        let records = records(&made_up(2)).len();
        assert_eq!(csv(&made_up(2)).lines().count(), records + 1);
    }
}
