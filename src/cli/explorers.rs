//! `mazurka explorers`: what each explorer is, guarantees and requires.

use clap::Args as ClapArgs;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::output::{Format, Output};
use super::{Exit, Failure};
use crate::explore::{Depth, EXPLORERS, Explorer, Guarantee, Orders, SleepSets};
use crate::report::json;

/// List the explorers: what each is, guarantees and requires
#[derive(ClapArgs)]
pub(super) struct Args {
    /// How to print the list
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    guarantee: &'static str,
    requires: Option<&'static str>,
    depth: &'static str,
    source: Option<&'static str>,
    options: Vec<&'static str>,
}

impl From<&Explorer> for Row {
    fn from(explorer: &Explorer) -> Self {
        let info = &explorer.info;
        let guarantee = match info.guarantee {
            Guarantee::SomeClasses => "visits some executions, and may miss others",
            Guarantee::EveryEnd => {
                "reaches every terminal state and every violation, each state once"
            }
            Guarantee::EveryClass => "visits every class of executions",
            Guarantee::EveryClassOnce => "visits every class of executions, once",
            Guarantee::EveryExecution => "visits every execution",
        };
        let source = Some(info.source).filter(|source| !source.is_empty());
        let options = [
            (explorer.takes_k, "-k"),
            (explorer.orders != Orders::None, "--order"),
            (explorer.sleep_sets == SleepSets::Optional, "--sleep-sets"),
            (explorer.switches.is_some_and(|switches| !switches.is_empty()), "--without"),
            (explorer.takes_jobs, "--jobs"),
            (explorer.switches.is_some(), "--as-printed"),
            (explorer.switches.is_some(), "--histories"),
            (explorer.switches.is_some(), "--hash-compaction"),
        ];
        let options = options.into_iter().filter(|&(taken, _)| taken).map(|(_, option)| option);
        Row {
            name: info.name,
            summary: info.summary,
            guarantee,
            requires: info.requires,
            depth: match explorer.depth() {
                Depth::Causal => "causal",
                Depth::Length => "steps",
            },
            source,
            options: options.collect(),
        }
    }
}

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let rows: Vec<Row> = EXPLORERS.iter().map(Row::from).collect();
    match args.format {
        Format::Json => output.print(json::render(&rows))?,
        Format::Text => output.print(table(&rows).trim_fmt() + "\n")?,
    }
    Ok(Exit::Fine)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header([
            "explorer",
            "what it does",
            "a complete search",
            "requires",
            "--depth",
            "takes",
            "published in",
        ]);
    if table.width().is_none() {
        table.set_width(120);
    }
    for row in rows {
        let requires = row.requires.unwrap_or("nothing");
        let source = row.source.unwrap_or("-");
        let options = if row.options.is_empty() { "-".into() } else { row.options.join(" ") };
        table.add_row([
            row.name,
            row.summary,
            row.guarantee,
            requires,
            row.depth,
            &options,
            source,
        ]);
    }
    table
}
