//! The rows of a comparison for a terminal; each is written as soon as it is known.
//!
//! Later rows are not known yet, so the widths of columns are fixed beforehand. A figure that needs
//! more pushes the following ones to the right; they return to their columns as soon as possible.
//! What would exceed the width of the terminal continues in another line. So rows fit any terminal.

use super::{Row, is_same, size, title, verdict};
use crate::report::table::time;
use crate::report::text::{HEADING, Styled, thousands};
use crate::study::Ran;
use bytesize::ByteSize;

/// The figures with the widths of their columns.
const FIGURES: [(&str, usize); 6] =
    [("traces", 8), ("blocked", 7), ("transitions", 11), ("stored", 8), ("time", 6), ("memory", 8)];
/// The width of the verdict.
const VERDICT: usize = 11;
/// The least and greatest width of the column of explorers.
const NAMES: (usize, usize) = (8, 26);

/// Writes rows, grouped under the names of their programs.
pub(super) struct Rows {
    room: usize,
    name: usize,
    gap: usize,
    last: Option<Row>,
}

impl Rows {
    /// Rows of explorers with these names, within this width.
    pub(super) fn new(names: &[String], room: usize) -> Rows {
        let figures = |gap: usize| FIGURES.iter().map(|(_, width)| gap + width).sum::<usize>();
        let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let spare = |gap| room.saturating_sub(figures(gap) + gap + VERDICT);
        let gap = if widest <= spare(2) { 2 } else { 1 };
        let name = widest.min(spare(gap)).clamp(NAMES.0, NAMES.1);
        Rows { room, name, gap, last: None }
    }

    /// The text of a row. If its program is not the program of the previous row, the name of the
    /// program comes first.
    pub(super) fn row(&mut self, row: &Row) -> String {
        let mut text = String::new();
        if !self.last.as_ref().is_some_and(|last| is_same(last, row)) {
            let above = if self.last.is_some() { "\n" } else { "" };
            let title = textwrap::fill(&title(&row.spec, &row.defines), self.room);
            text += &format!("{above}{}\n", Styled(HEADING, title));
            let header = FIGURES.map(|(name, _)| name.to_owned());
            text += &self.line("explorer", &header, "verdict");
        }
        let (figures, verdict) = cells(row);
        text += &self.line(&row.searcher.to_string(), &figures, &verdict);
        self.last = Some(row.clone());
        text
    }

    fn line(&self, name: &str, figures: &[String; FIGURES.len()], verdict: &str) -> String {
        let mut line = Line { done: String::new(), text: name.to_owned(), rows: self, shift: 0 };
        if name.chars().count() > self.name {
            line.fold();
        }
        let mut end = self.name;
        for (figure, (_, width)) in figures.iter().zip(FIGURES) {
            end += self.gap + width;
            line.figure(figure, end, width);
        }
        line.words(verdict, end + self.gap);
        line.done + &line.text + "\n"
    }
}

/// An unfinished row.
struct Line<'r> {
    rows: &'r Rows,
    /// Its finished lines.
    done: String,
    /// Its last line.
    text: String,
    /// By how much the columns of the last line are moved to the left.
    shift: usize,
}

impl Line<'_> {
    fn width(&self) -> usize {
        self.text.chars().count()
    }

    /// Continues in another line, below the first figure.
    fn fold(&mut self) {
        self.done += self.text.trim_end();
        self.done.push('\n');
        let indent = if self.rows.name < self.rows.room / 2 { self.rows.name } else { 2 };
        self.text = " ".repeat(indent);
    }

    /// Writes a figure that ends at this column, or farther right if that is occupied.
    fn figure(&mut self, figure: &str, end: usize, width: usize) {
        let (gap, own) = (self.rows.gap, figure.chars().count());
        let mut from = (end - self.shift).saturating_sub(own).max(self.width() + gap);
        if from + own > self.rows.room && !self.text.trim().is_empty() {
            self.fold();
            self.shift = end.saturating_sub(self.width() + gap + width);
            from = (end - self.shift).saturating_sub(own).max(self.width() + gap);
        }
        self.text += &" ".repeat(from - self.width());
        self.text += figure;
    }

    /// Writes words from this column on, in as many lines as they need.
    fn words(&mut self, words: &str, start: usize) {
        let mut from = (start - self.shift).max(self.width() + self.rows.gap);
        if from + VERDICT > self.rows.room && !self.text.trim().is_empty() {
            self.fold();
            from = self.width() + self.rows.gap;
        }
        let indent = " ".repeat(from);
        let options = textwrap::Options::new(self.rows.room.max(from + VERDICT))
            .initial_indent(&indent)
            .subsequent_indent(&indent);
        let wrapped = textwrap::fill(words, options);
        self.text += &wrapped[self.width().min(wrapped.len())..];
    }
}

/// The figures of a row; its verdict, together with what has no column.
fn cells(row: &Row) -> ([String; FIGURES.len()], String) {
    let measured = match &row.ran {
        Ran::Measured(measured) => measured,
        Ran::Refused(_) => return (FIGURES.map(|_| "-".to_owned()), "refused".into()),
        Ran::Failed(_) => return (FIGURES.map(|_| "-".to_owned()), "failed".into()),
    };
    let stats = &measured.stats;
    let count = |n: u64| size(measured, n);
    let stored = match (stats.states.or(stats.events), stats.events_built) {
        (Some(stored), _) => count(stored),
        (None, Some(built)) => format!("≤ {}", thousands(built)),
        (None, None) => "-".into(),
    };
    let memory = stats.peak_memory_bytes.map(|bytes| ByteSize(bytes).to_string());
    let figures = [
        count(stats.traces),
        count(stats.blocked),
        count(stats.transitions),
        stored,
        time(stats.wall_seconds),
        memory.unwrap_or_else(|| "-".into()),
    ];
    let classes = match stats.classes {
        None => String::new(),
        Some(1) => " (1 class)".into(),
        Some(n) => format!(" ({} classes)", thousands(n)),
    };
    (figures, verdict(measured) + &classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::StopReason;
    use crate::report::comparison::tests::row;

    fn rows(room: usize) -> Vec<String> {
        let settings = ["udpor", "dl-s-por:order=2.0.1+without=summaries", "exhaustive"];
        let mut rows = Rows::new(&settings.map(str::to_owned), room);
        let mut text = String::new();
        for (setting, traces) in settings.into_iter().zip([2, 1_234, 1_234_567_890]) {
            text += &rows.row(&row(setting, traces, Some(StopReason::Timeout)));
        }
        text.lines().map(str::to_owned).collect()
    }

    /// The width of a line; styles have none.
    fn width(line: &str) -> usize {
        anstream::adapter::strip_str(line).to_string().chars().count()
    }

    #[test]
    fn rows_keep_to_their_room() {
        for room in [20, 40, 60, 80, 100, 200] {
            for line in rows(room) {
                let is_word = width(line.trim()) <= NAMES.1 + 20 && !line.trim().contains("  ");
                assert!(width(&line) <= room || is_word, "{room}: {line}");
            }
        }
        assert!(rows(80).iter().all(|line| width(line) <= 80), "{:#?}", rows(80));
    }

    #[test]
    fn nothing_is_lost() {
        for room in [20, 80, 200] {
            let text = rows(room).join(" ");
            let words: Vec<_> = text.split_whitespace().collect();
            for word in ["made-up.maz", "N=3", "1,234,567,890", "incomplete:", "timeout"] {
                assert!(words.iter().any(|found| found.contains(word)), "{room}: {text}");
            }
        }
    }

    #[test]
    fn figures_stand_below_one_another() {
        let lines = rows(200);
        let end = |line: &str, word: &str| {
            line.find(word).map(|at| line[..at].chars().count() + word.chars().count())
        };
        assert_eq!(end(&lines[1], "traces"), end(&lines[2], "≥ 2"));
    }
}
