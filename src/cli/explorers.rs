//! `mazurka explorers`: what each explorer does, guarantees and requires.

use std::ffi::OsStr;
use std::path::PathBuf;

use anstyle::Style;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args as ClapArgs, Command};
use serde::Serialize;

use super::output::{Format, Output, format};
use super::{Exit, Failure};
use crate::explore::{Depth, Guarantee, Listed, OptionInfo};
use crate::report::json;

/// List the explorers: what each of them does, guarantees and requires
#[derive(ClapArgs)]
pub(super) struct Args {
    /// Write the list to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write the list [default: what FILE ends in, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

/// Takes every text, since options may follow the name of an explorer. Shells offer the names.
#[derive(Clone)]
pub(super) struct ExplorerNames;

impl TypedValueParser for ExplorerNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Listed::all().map(|explorer| PossibleValue::new(explorer.profile().name))))
    }
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    guarantee: &'static str,
    requires: Option<&'static str>,
    depth: &'static str,
    source: Option<&'static str>,
    options: Vec<String>,
}

impl From<&Listed> for Row {
    fn from(explorer: &Listed) -> Self {
        let profile = explorer.profile();
        let guarantee = match profile.guarantee {
            _ if profile.chooses => "as by the explorer that answers",
            _ if profile.samples => "there is none: executions are chosen by chance",
            Guarantee::SomeClasses => "visits some executions, and may miss others",
            Guarantee::EveryViolation => "finds every kind of violation",
            Guarantee::EveryEnd => {
                "reaches every terminal state and every violation, each state once"
            }
            Guarantee::EveryClass => "visits every class of executions",
            Guarantee::EveryClassOnce => "visits every class of executions, once",
            Guarantee::EveryExecution => "visits every execution",
        };
        let source = Some(profile.source).filter(|source| !source.is_empty());
        let options = profile.takes.useful().map(OptionInfo::flag);
        Row {
            name: profile.name,
            summary: profile.summary,
            guarantee,
            requires: profile.requires,
            depth: match profile.depth {
                _ if profile.both_depths => "causal or steps",
                Depth::Causal => "causal",
                Depth::Length => "steps",
                Depth::Unbounded => "none",
            },
            source,
            options: options.collect(),
        }
    }
}

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let rows: Vec<Row> = Listed::all().map(Row::from).collect();
    output.direct(args.output.as_deref(), [])?;
    match format(args.format, args.output.as_deref(), Format::Text) {
        Format::Json => output.print(json::render(&rows))?,
        Format::Text => output.print(list(&rows, output.room()))?,
    }
    Ok(Exit::Fine)
}

const HEADING: Style = Style::new().bold();
/// The indentation of the text about an explorer.
const MARGIN: usize = 2;

/// One paragraph for each explorer, wrapped to `room` columns.
fn list(rows: &[Row], room: usize) -> String {
    rows.iter().map(|row| paragraph(row, room)).collect::<Vec<_>>().join("\n")
}

fn paragraph(row: &Row, room: usize) -> String {
    let mut text = format!("{HEADING}{}{HEADING:#}\n", row.name);
    let mut line = |what: &str, about: &str| {
        let indent = " ".repeat(MARGIN);
        let further = " ".repeat(if what.is_empty() { MARGIN } else { 2 * MARGIN });
        let options =
            textwrap::Options::new(room).initial_indent(&indent).subsequent_indent(&further);
        text += &textwrap::fill(&format!("{what}{about}"), options);
        text.push('\n');
    };
    line("", row.summary);
    line("a complete search: ", row.guarantee);
    if let Some(requires) = row.requires {
        line("requires: ", requires);
    }
    line("--depth: ", row.depth);
    if !row.options.is_empty() {
        line("takes: ", &row.options.join(" "));
    }
    if let Some(source) = row.source {
        line("published in: ", source);
    }
    text
}
