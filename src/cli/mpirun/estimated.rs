//! `mpirun --estimate`: how large is the search of an MPI program?

use std::time::Duration;

use super::super::estimate::tried_by;
use super::super::output::{Format, Output};
use super::super::{Exit, Failure};
use crate::explore::estimate::estimate;
use crate::explore::{Budget, NoObserver, Setting, explore};
use crate::model::AnySystem;
use crate::report::estimate::{EstimateReport, Smaller, Text};
use crate::report::json;
use crate::study::MpiProgram;

/// The explorers that are tried.
const TRIED: [&str; 3] = ["udpor", "optimal", "parsimonious"];
/// The parts of the time: for samples, for the explorers, and for fewer ranks.
const SHARES: u32 = 3;
/// The largest number of samples, and their seed.
const SAMPLES: (u32, u64) = (1000, 0);

/// Estimates the number of classes within this time, and how long a search takes. The budget is for
/// each search.
pub(super) fn estimated(
    run: &MpiProgram,
    (time, budget): (Duration, &Budget),
    format: Format,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let share = time / SHARES;
    let within = |time| Budget { timeout: Some(time), all: true, ..budget.clone() };
    let system = run.system()?;
    let found = estimate(&AnySystem::of(&system), &within(share), SAMPLES);
    let known = found.ok();
    let tried = TRIED.iter().map(|name| {
        let setting: Setting = name.parse().expect("an explorer");
        // No explorer has the ranks that another one has run.
        let system = run.system()?;
        let budget = Budget { all: budget.all, ..within(share / TRIED.len() as u32) };
        let outcome = explore(&AnySystem::of(&system), setting, budget, &mut NoObserver);
        Ok(tried_by(setting, &system.runner().judged(outcome), known, None))
    });
    let tried = tried.collect::<Result<Vec<_>, Failure>>()?;
    let fewer = MpiProgram { ranks: run.ranks - 1, ..run.clone() };
    let mut smaller = Vec::new();
    if known.is_some()
        && fewer.ranks > 0
        && let Ok(found) = estimate(&AnySystem::new(fewer.system()?), &within(share), SAMPLES)
    {
        let (constant, value) = ("ranks".to_owned(), i64::from(fewer.ranks));
        smaller.push(Smaller { constant, value, classes: found.into() });
    }
    if let Some(why) = system.runner().reservation() {
        output.note(format!("Not decided: {why}.\n"));
    }
    let report = EstimateReport {
        subject: run.subject(),
        classes: known.map(Into::into),
        not_estimated: found.err(),
        tried,
        smaller,
    };
    match format {
        Format::Json => output.print(json::render(&report))?,
        Format::Text => output.print(Text(&report))?,
    }
    Ok(if known.is_some() { Exit::Fine } else { Exit::Incomplete })
}
