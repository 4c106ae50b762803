//! Tables and numbers as text.

use comfy_table::{CellAlignment, Table, TableComponent, presets};
use mazurka::report::text::thousands;

use crate::measure::{Bench, Measured};

/// Prints the title of a section, and the text about its tables.
pub fn title(bench: &Bench, name: &str, about: &str) {
    bench.print(format!("\n{name}\n{}\n{about}\n", "=".repeat(name.chars().count())));
}

/// An empty table with these columns.
pub fn table<const N: usize>(columns: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(columns);
    table.remove_style(TableComponent::HorizontalLines);
    table.remove_style(TableComponent::MiddleIntersections);
    table
}

/// Prints a table whose first `words` columns are words; all others are numbers.
pub fn print(bench: &Bench, mut table: Table, words: usize) {
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    bench.print(table.trim_fmt() + "\n");
}

/// The text of a value, or `-` if there is none.
pub fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or("-".into(), text)
}

/// `840 ns`, `12 µs`, `3.4 ms`, `2.41 s`
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-5 => format!("{:.1} µs", s * 1e6),
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1e-2 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s => format!("{s:.1} s"),
    }
}

/// `12.4 MiB`, `unknown`
pub fn memory(bytes: Option<u64>) -> String {
    bytes.map_or("unknown".into(), |bytes| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)))
}

/// `0.85`, `3.4`, `28`, `1,200`
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "-".into(),
        r if r < 0.1 => format!("{r:.3}"),
        r if r < 3.0 => format!("{r:.2}"),
        r if r < 10.0 => format!("{r:.1}"),
        r => significant(r, 2),
    }
}

/// The ratio of two amounts of memory.
pub fn memory_ratio(a: Option<u64>, b: Option<u64>) -> String {
    or_dash(a.zip(b), |(a, b)| ratio(a as f64 / b as f64))
}

/// A rate per second, with three significant digits.
pub fn rate(count: u64, seconds: f64) -> String {
    significant(count as f64 / seconds, 3)
}

/// A number rounded to `digits` significant digits, without fraction.
fn significant(number: f64, digits: i32) -> String {
    let unit = 10_f64.powi((number.log10().floor() as i32 + 1 - digits).max(0));
    thousands(((number / unit).round() * unit) as u64)
}

impl Measured {
    /// `time`, or a lower bound of it.
    pub fn time(&self) -> String {
        format!("{}{}", self.at_least(), time(self.seconds))
    }

    /// A count, or a lower bound of it.
    pub fn count(&self, count: u64) -> String {
        format!("{}{}", self.at_least(), thousands(count))
    }

    /// The number of traces, marked if it is not the expected one.
    pub fn traces(&self, expected: Option<u64>) -> String {
        let differs = self.is_complete && expected.is_some_and(|expected| expected != self.traces);
        format!("{}{}", if differs { "≠ " } else { "" }, self.count(self.traces))
    }

    /// The number of events, with `≤` if discarded events may have been counted again.
    pub fn events(&self) -> String {
        format!("{}{}", if self.is_exact { "" } else { "≤ " }, self.count(self.events))
    }

    /// Processor time per transition, in seconds.
    pub fn per_transition(&self) -> f64 {
        self.seconds / self.transitions as f64
    }

    fn at_least(&self) -> &'static str {
        if self.is_complete { "" } else { "> " }
    }
}
