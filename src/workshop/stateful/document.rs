//! The results of the experiments on stateful reduction: tables, claims and plots, for people and
//! for programs.
//!
//! Everything except times and process memory is the same in every run.
//!
//! | file | idea |
//! |---|---|
//! | `tables` | quantiles, speed-ups, errors by order |
//! | `claims` | the claims of the paper, and whether they hold here |
//! | `plots` | the plots of the paper, with our costs |

mod claims;
mod plots;
mod tables;

pub use claims::{Claim, claims};
pub use plots::pictures;

use std::fmt::{self, Display, Formatter};

use serde::Serialize;
use textwrap::fill;

use super::{Experiment, Trials};
use crate::report::plural;
use crate::report::table::{self, Markdown, Plain, Table};
use crate::report::text::{BAD, HEADING, Styled, UNSURE};
use crate::study::{Measured, Ran};
use crate::workshop::study::Facts;

const TITLE: &str = "Stateful reduction on clients of data structures";
const SOURCE: &str = "\
Cirisci, Enea, Farzan, Mutluergil: A pragmatic approach to stateful partial order reduction (VMCAI 2023),
section 4.1";

/// A table with an introduction.
struct Section {
    heading: &'static str,
    about: String,
    table: Table,
}

fn sections(experiment: &Experiment) -> Vec<Section> {
    let mut sections = tables::of_reductions(&experiment.reductions);
    sections.extend(tables::of_errors(&experiment.errors));
    sections.push(claims::section(experiment));
    sections.retain(|section| !section.table.rows.is_empty());
    sections
}

/// The description of the experiment.
fn about(experiment: &Experiment) -> String {
    let Experiment { reductions, errors } = experiment;
    format!(
        "{} of right structures by {}, and {} of wrong ones in {}.\n\
         Each has three threads. A search is stopped after {}. Times are processor times, the\n\
         shortest of several where they are short.",
        plural(reductions.clients.len(), "client"),
        plural(reductions.contenders.len(), "algorithm"),
        plural(errors.clients.len(), "client"),
        plural(errors.contenders.len(), "way"),
        table::time(reductions.limit.as_secs_f64()),
    )
}

fn interrupted(experiment: &Experiment) -> Option<String> {
    let left = experiment.not_run();
    (left > 0).then(|| format!("Interrupted: {left} of {} searches not done.", experiment.size()))
}

fn agreement(experiment: &Experiment) -> Result<&'static str, Vec<String>> {
    let found = experiment.disagreements();
    if found.is_empty() { Ok(AGREED) } else { Err(found) }
}

const AGREED: &str = "\
All searches of a client that came to their end agree on its verdict and on the number of its
terminal states, and none stores more states than the full search.";

/// The results as text of this width, for a terminal.
pub struct Text<'e>(pub &'e Experiment, pub usize);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Text(experiment, room) = *self;
        writeln!(f, "{}\n{}", Styled(HEADING, TITLE), fill(&about(experiment), room))?;
        for Section { heading, about, table } in sections(experiment) {
            let about = fill(&about, room);
            writeln!(f, "\n{}\n{about}\n", Styled(HEADING, heading))?;
            write!(f, "{}", Plain(&table, room))?;
        }
        writeln!(f)?;
        if let Some(left) = interrupted(experiment) {
            writeln!(f, "{}", Styled(UNSURE, left))?;
        }
        match agreement(experiment) {
            Ok(agreed) => writeln!(f, "{}", fill(agreed, room))?,
            Err(found) => {
                let loud = |text: &String| writeln!(f, "{}", Styled(BAD, fill(text, room)));
                found.iter().try_for_each(loud)?;
            }
        }
        writeln!(f, "{}", fill(&format!("Source: {SOURCE}"), room))
    }
}

/// The results as Markdown; with facts about its origin for a report that stands alone.
pub struct Document<'e>(pub &'e Experiment, pub Option<&'e Facts>);

impl Display for Document<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Document(experiment, facts) = self;
        writeln!(f, "# {TITLE}\n\n{}\n\nSource: {SOURCE}", about(experiment))?;
        for Section { heading, about, table } in sections(experiment) {
            writeln!(f, "\n## {heading}\n\n{about}\n\n{}", Markdown(&table))?;
        }
        writeln!(f, "## Agreement\n")?;
        match agreement(experiment) {
            Ok(agreed) => writeln!(f, "{agreed}")?,
            Err(found) => found.iter().try_for_each(|text| writeln!(f, "- **{text}**"))?,
        }
        if let Some(left) = interrupted(experiment) {
            writeln!(f, "\n{left}")?;
        }
        let Some(facts) = facts else { return Ok(()) };
        writeln!(f, "\n## To repeat it\n\n    {}\n", facts.command)?;
        writeln!(f, "Mazurka {}; written {}.", facts.version, facts.date)?;
        facts.origins.iter().try_for_each(|origin| writeln!(f, "{origin}"))
    }
}

/// A search, for comma-separated values.
#[derive(Serialize)]
struct Record<'e> {
    structure: &'e str,
    calls: usize,
    keys: usize,
    seed: u64,
    buggy: Option<&'static str>,
    algorithm: &'e str,
    explorer: &'e str,
    verdict: &'static str,
    stopped_by: Option<&'static str>,
    ends: Option<u64>,
    states: Option<u64>,
    transitions: Option<u64>,
    state_bytes: Option<u64>,
    processor_seconds: Option<f64>,
    wall_seconds: Option<f64>,
    peak_memory_bytes: Option<u64>,
    /// The command that makes the client.
    client: String,
}

fn records(trials: &Trials) -> Vec<Record<'_>> {
    let mut records = Vec::new();
    for client in 0..trials.begun() {
        for contender in 0..trials.contenders.len() {
            let ran = trials.ran(client, contender);
            records.extend(ran.map(|ran| record(trials, client, contender, ran)));
        }
    }
    records
}

fn record<'e>(trials: &'e Trials, client: usize, contender: usize, ran: &Ran) -> Record<'e> {
    let measured = trials.measured(client, contender);
    let of = |figure: fn(&Measured) -> Option<u64>| measured.and_then(figure);
    let (client, contender) = (&trials.clients[client], &trials.contenders[contender]);
    Record {
        structure: client.structure,
        calls: client.calls,
        keys: client.keys,
        seed: client.seed,
        buggy: client.buggy.map(|class| class.word()),
        algorithm: &contender.name,
        explorer: &contender.setting,
        verdict: match ran {
            Ran::Measured(measured) => measured.verdict.word(),
            Ran::Refused(_) => "refused",
            Ran::Failed(_) => "failed",
        },
        stopped_by: measured.and_then(|m| m.stopped_by).map(|reason| reason.word()),
        ends: of(|m| Some(m.stats.traces)),
        states: of(|m| m.stats.states),
        transitions: of(|m| Some(m.stats.transitions)),
        state_bytes: of(|m| m.stats.state_bytes),
        processor_seconds: measured.and_then(|m| m.processor_seconds),
        wall_seconds: measured.map(|m| m.stats.wall_seconds),
        peak_memory_bytes: of(|m| m.stats.peak_memory_bytes),
        client: client.command(),
    }
}

/// The searches as comma-separated values, a line for each.
pub fn csv(trials: &[&Trials]) -> String {
    table::csv(trials.iter().flat_map(|trials| records(trials)))
}

/// The results as one JSON object, for other programs.
#[derive(Serialize)]
pub(crate) struct Object<'e> {
    mazurka: &'static str,
    name: &'static str,
    source: &'static str,
    claims: Vec<Claim>,
    disagreements: Vec<String>,
    not_run: usize,
    clients: Vec<Record<'e>>,
    errors: Vec<Record<'e>>,
}

impl<'e> Object<'e> {
    /// `version` is the version of this crate.
    pub(crate) fn new(experiment: &'e Experiment, version: &'static str) -> Self {
        Object {
            mazurka: version,
            name: "stateful",
            source: SOURCE,
            claims: claims(experiment),
            disagreements: experiment.disagreements(),
            not_run: experiment.not_run(),
            clients: records(&experiment.reductions),
            errors: records(&experiment.errors),
        }
    }
}
