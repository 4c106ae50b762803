//! Tables, for a terminal, for Markdown and HTML, and as comma-separated values.
//!
//! The cells of a table are texts; the modules that show results fill them in
//! ([`super::comparison`] for example). Words are aligned left, figures right.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use comfy_table::{CellAlignment, Table as Drawing, TableComponent, presets};
use serde::Serialize;

/// A table whose cells are texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The names of the columns. A line break separates the name of a group of columns from the
    /// name of a member. A name that begins with a line break belongs to the group of the name
    /// before it.
    pub(crate) header: Vec<String>,
    /// The columns with figures; all others contain words.
    pub(crate) figures: Range<usize>,
    /// The rows; each has one cell for each column.
    pub(crate) rows: Vec<Vec<String>>,
}

/// A table for a terminal of this width. A table that is too wide is split into parts, one below
/// the other, each with the columns of words that precede the figures.
pub(crate) struct Plain<'t>(pub(crate) &'t Table, pub(crate) usize);

impl Display for Plain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Plain(table, room) = *self;
        for (number, columns) in parts(table, room).iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}", drawing(table, columns, room))?;
        }
        Ok(())
    }
}

/// The width of the frame around a column.
const FRAME: usize = 3;
/// The minimum width of a column of names.
const NARROWEST: usize = 8;

/// The columns of each part, as many as fit. A group is not split.
fn parts(table: &Table, room: usize) -> Vec<Vec<usize>> {
    let most = widest_name(table, room);
    let width = |column: usize| match column < table.figures.start {
        true => widest(table, column).min(most) + FRAME,
        false => widest(table, column) + FRAME,
    };
    let names: Vec<usize> = (0..table.figures.start).collect();
    let margin: usize = names.iter().map(|&name| width(name)).sum();
    let mut parts = vec![names.clone()];
    let mut used = margin;
    let others: Vec<usize> = (table.figures.start..table.header.len()).collect();
    for group in others.chunk_by(|_, &next| table.header[next].starts_with('\n')) {
        let wide: usize = group.iter().map(|&column| width(column)).sum();
        let part = parts.last_mut().expect("there is a first one");
        if used + wide > room + 1 && part.len() > names.len() {
            parts.push(names.clone());
            used = margin;
        }
        used += wide;
        parts.last_mut().expect("there is a first one").extend(group);
    }
    parts
}

/// The width of the text of a column.
fn widest(table: &Table, column: usize) -> usize {
    let cells = [&table.header].into_iter().chain(&table.rows).map(|row| &row[column]);
    cells.flat_map(|cell| cell.lines()).map(|line| line.chars().count()).max().unwrap_or(0)
}

/// The maximum width of a column of names. Figures get at least half of the room, so that wide
/// names are broken, all at the same width. Narrow figures leave room to the names.
fn widest_name(table: &Table, room: usize) -> usize {
    let names: Vec<_> = (0..table.figures.start).map(|name| widest(table, name)).collect();
    let fits = |most: &usize| {
        let used = names.iter().map(|&name| name.min(*most) + FRAME).sum::<usize>();
        used <= room / 2
    };
    (NARROWEST..=room).rev().find(fits).unwrap_or(NARROWEST)
}

/// Draws some of the columns.
fn drawing(table: &Table, columns: &[usize], room: usize) -> String {
    let most = widest_name(table, room);
    let row = |cells: &Vec<String>| -> Vec<String> {
        let cell = |&column: &usize| match column < table.figures.start {
            true => textwrap::fill(&cells[column], most),
            false => cells[column].clone(),
        };
        columns.iter().map(cell).collect()
    };
    let mut drawing = Drawing::new();
    drawing.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(row(&table.header));
    drawing.remove_style(TableComponent::HorizontalLines);
    drawing.remove_style(TableComponent::MiddleIntersections);
    drawing.add_rows(table.rows.iter().map(row));
    for (place, column) in columns.iter().enumerate() {
        if table.figures.contains(column)
            && let Some(column) = drawing.column_mut(place)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    drawing.trim_fmt()
}

/// A table in Markdown.
pub(crate) struct Markdown<'t>(pub(crate) &'t Table);

impl Display for Markdown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Markdown(table) = self;
        write!(f, "{}", markdown_head(table))?;
        table.rows.iter().try_for_each(|row| write!(f, "{}", markdown_line(row)))
    }
}

/// The names of the columns in Markdown, and the line below them.
pub(crate) fn markdown_head(table: &Table) -> String {
    let dashes = |column| if table.figures.contains(&column) { "---:" } else { "---" }.to_owned();
    let dashes: Vec<_> = (0..table.header.len()).map(dashes).collect();
    markdown_line(&table.header) + &markdown_line(&dashes)
}

/// A row in Markdown.
pub(crate) fn markdown_line(cells: &[String]) -> String {
    let escaped = |cell: &String| cell.replace('\n', " ").replace('|', r"\|");
    let cells: Vec<_> = cells.iter().map(|cell| escaped(cell).trim().to_owned()).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// A table in HTML.
pub(crate) struct Html<'t>(pub(crate) &'t Table);

impl Display for Html<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Html(table) = self;
        let line = |f: &mut Formatter<'_>, tag: &str, cells: &[String]| {
            let cells = cells.iter().enumerate().map(|(column, cell)| {
                let class = if table.figures.contains(&column) { " class=\"figure\"" } else { "" };
                format!("<{tag}{class}>{}</{tag}>", escaped(cell))
            });
            writeln!(f, "<tr>{}</tr>", cells.collect::<String>())
        };
        writeln!(f, "<table>\n<thead>")?;
        line(f, "th", &table.header)?;
        writeln!(f, "</thead>\n<tbody>")?;
        table.rows.iter().try_for_each(|row| line(f, "td", row))?;
        writeln!(f, "</tbody>\n</table>")
    }
}

/// A text, escaped for HTML and XML, also within quotation marks.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

/// Records as comma-separated values, with their field names first.
///
/// # Panics
/// Never for the records of this crate: their fields are texts, numbers and options of these.
pub(crate) fn csv(records: impl IntoIterator<Item = impl Serialize>) -> String {
    csv_lines(records, true)
}

/// Records as comma-separated values, with the field names if `has_names`.
///
/// # Panics
/// Never for the records of this crate: their fields are texts, numbers and options of these.
pub(crate) fn csv_lines(
    records: impl IntoIterator<Item = impl Serialize>,
    has_names: bool,
) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(has_names).from_writer(Vec::new());
    for record in records {
        writer.serialize(record).expect("a flat record");
    }
    String::from_utf8(writer.into_inner().expect("memory can be written")).expect("text")
}

/// A time in seconds with a unit that fits: `12 µs`, `3.4 ms`, `840 ms`, `2.41 s`, `5m 12s`.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1e-2 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => super::text::duration(s),
    }
}

/// The text of a value; `-` if there is no value.
pub(crate) fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or("-".into(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        Table { header: row(["name", "a\nb"]), figures: 1..2, rows: vec![row(["x|y", "1,000"])] }
    }

    /// A name and four columns of figures, 14, 6, 14 and 7 wide with their frames.
    fn wide() -> Table {
        let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
        Table {
            header: row(["name", "one", "two", "three", "four"]),
            figures: 1..5,
            rows: vec![row(["a spec", "12345678901", "1", "12345678901", "4"])],
        }
    }

    #[test]
    fn a_table_is_as_wide_as_its_room() {
        for room in [24, 30, 40, 60, 80] {
            let text = Plain(&wide(), room).to_string();
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(room), "{room}: {text}");
            for word in ["one", "two", "three", "four", "12345678901"] {
                assert!(text.contains(word), "{room}: {text}");
            }
        }
        assert_eq!(Plain(&wide(), 80).to_string().matches("name").count(), 1);
        assert_eq!(Plain(&wide(), 30).to_string().matches("name").count(), 2);
        assert_eq!(Plain(&wide(), 24).to_string().matches("name").count(), 4);
    }

    #[test]
    fn a_group_stays_together() {
        let mut table = wide();
        assert_eq!(parts(&table, 30), [vec![0, 1, 2], vec![0, 3, 4]]);
        table.header[2] = "\ntwo".into();
        table.header[3] = "\nthree".into();
        assert_eq!(parts(&table, 60), [[0, 1, 2, 3, 4]]);
        assert_eq!(parts(&table, 45), [vec![0, 1, 2, 3], vec![0, 4]]);
    }

    #[test]
    fn narrow_names_leave_their_room_to_wide_ones() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let table = Table {
            header: row(["spec", "k", "traces"]),
            figures: 2..3,
            rows: vec![row(["a/long/name/of/a/spec/that.maz", "optimal", "7"])],
        };
        assert_eq!(widest_name(&table, 80), 27);
        assert!(Plain(&table, 80).to_string().contains(" optimal "));
        assert!(Plain(&table, 100).to_string().contains(" a/long/name/of/a/spec/that.maz "));
        assert_eq!(widest_name(&table, 20), NARROWEST);
    }

    #[test]
    fn html_escapes_and_marks_figures() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let rows = vec![row(["x<y & \"z\"", "1,000"])];
        let html = Html(&Table { rows, ..table() }).to_string();
        let expected = "<td>x&lt;y &amp; &quot;z&quot;</td><td class=\"figure\">1,000</td>";
        assert!(html.contains(expected), "{html}");
    }

    #[test]
    fn markdown_escapes_bars_and_aligns_figures() {
        let text = Markdown(&table()).to_string();
        assert_eq!(text, "| name | a b |\n| --- | ---: |\n| x\\|y | 1,000 |\n");
    }

    #[test]
    fn times_have_three_digits_or_so() {
        assert_eq!(time(12e-6), "12 µs");
        assert_eq!(time(3.42e-3), "3.4 ms");
        assert_eq!(time(0.84), "840 ms");
        assert_eq!(time(312.9), "5m 12s");
    }
}
