//! Standstills of random programs whose sends, and entries into collectives, may end early or late.

use std::time::Duration;

use mazurka::explore::{
    AnyExplorer, Budget, EXPLORERS, EveryState, Explorer, FinitePrefix, NoObserver, Outcome,
    explore,
};
use mazurka::lang::Program;
use mazurka::model::Completion;

use super::erased::Erased;
use super::standstill::choices::{Chosen, Open};

/// Compares whether the program can stand still, as some explorers see it, with all states of the
/// program in which each send and each entry first chooses how it ends. Returns the number of
/// explorers that agree, 0 if there are too many states.
///
/// # Errors
/// If one does not.
pub fn judge(program: &Program, patience: Duration) -> Result<usize, String> {
    let stands_still = |system: &Erased<'_>, explorer: AnyExplorer| {
        let budget = Budget { all: true, timeout: Some(patience), ..Budget::default() };
        let budget = Budget { endless: Some(LONG), max_traces: Some(MOST), ..budget };
        let is_refused = explorer.refusal(system, &budget).is_some();
        let found = (!is_refused).then(|| explore(system, explorer, budget, &mut NoObserver))?;
        found.is_complete().then(|| is_stuck(&found))
    };
    let chosen = Erased::new(Chosen(program));
    let Some(expected) = stands_still(&chosen, EveryState::default().into()) else { return Ok(0) };
    let open = Erased::new(Open::new(program, Completion::Either));
    let listed = EXPLORERS.iter().map(|listed| listed.plain());
    let of_classes = listed.filter(|explorer| VISITORS.contains(&explorer.profile().name));
    let mut compared = 0;
    for explorer in of_classes.chain([FinitePrefix::default().into()]) {
        match stands_still(&open, explorer) {
            Some(found) if found != expected => {
                let name = explorer.profile().name;
                return Err(format!("{name} says {found} where states say {expected}"));
            }
            found => compared += usize::from(found.is_some()),
        }
    }
    Ok(compared)
}

/// Explorers that visit every class.
const VISITORS: [&str; 3] = ["udpor", "optimal", "source"];
/// A bound on the steps of an execution. No execution of a tested program is as long.
const LONG: u32 = 10_000;
/// The most executions of a search.
const MOST: u64 = 2_000;

fn is_stuck(outcome: &Outcome) -> bool {
    outcome.violations.iter().any(|violation| violation.kind.is_standstill())
}
