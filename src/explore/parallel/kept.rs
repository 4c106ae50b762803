//! A search of classes that is kept: its state is saved now and then, so that it can go on later in
//! another process.
//!
//! The state is a [`Part`]: finished pieces with their results, and open ones. Two kinds of
//! explorers are kept in two ways:
//!
//! - If the pieces of an explorer together are exactly its search ([`Splits::Exactly`]), several
//!   threads search them ([`InPieces::go_on`]). The classes do not depend on where the search was
//!   split, so they are those of a search that was never interrupted. Nor does their order, except
//!   with `parsimonious`: a piece comes before what it has given away, but a whole search finds
//!   children of a class while others are pending, and goes to them first.
//! - Pieces of other explorers do not know what the rest of the search has found, so the result
//!   depends on where it is split. One thread searches piece after piece. A piece gives away all
//!   open work after [`Kept::steps`] steps, and is saved only when it is done. So the pieces depend
//!   on nothing but the program, and the result is that of a kept search that was never
//!   interrupted. There are few pieces, because each of them repeats some work.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Instant;

use super::part::{Part, Saving, Stray};
use super::place::Place;
use super::threads::{GRAIN, InPieces};
use crate::explore::budget::Budget;
use crate::explore::explorer::{Explorer, Splits};
use crate::explore::observer::Observer;
use crate::explore::result::{Outcome, StopReason};
use crate::explore::tree::{Branch, Splitter};
use crate::model::System;

/// The default of [`Kept::steps`].
const STEPS: u64 = 1 << 20;
/// The same for processes that really run.
const STEPS_OF_PROCESSES: u64 = 1 << 14;

/// How a search is kept.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The number of threads, if the explorer splits exactly.
    pub jobs: NonZeroU32,
    /// For these explorers: the steps after which a piece gives away a branch.
    pub grain: NonZeroU64,
    /// For these explorers: the steps between two looks at whether a piece has to give away all
    /// open work, because the search is saved or ends.
    pub look: NonZeroU64,
    /// For other explorers: the steps after which a piece gives away all open work.
    pub steps: u64,
}

impl Kept {
    /// A search by this number of threads, with the default numbers of steps.
    pub fn by(jobs: NonZeroU32) -> Kept {
        Kept { jobs, grain: GRAIN, look: GRAIN, steps: STEPS }
    }

    /// The same, for processes that really run, so that each step may take long.
    pub fn of_processes(jobs: NonZeroU32) -> Kept {
        Kept { look: NonZeroU64::MIN, steps: STEPS_OF_PROCESSES, ..Kept::by(jobs) }
    }
}

/// Goes on with a search that is recorded in `part`, and saves it now and then. Returns its result
/// so far, which also counts pieces that a limit has ended. The time in the result is that of this
/// call.
///
/// # Errors
/// If a branch is not one of this search.
///
/// # Panics
/// If the explorer cannot be split, or if the budget limits the number of executions.
pub fn keep<S: System, E: Explorer>(
    part: &mut Part,
    (system, explorer): (&S, E),
    kept: Kept,
    budget: &Budget,
    saving: Saving<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, Stray> {
    assert!(budget.max_traces.is_none(), "the executions of a piece are not counted in advance");
    part.refusal(system).map_or(Ok(()), Err)?;
    let start = Instant::now();
    let outcome = match explorer.profile().splits {
        Splits::Exactly => {
            let Kept { jobs, grain, look, .. } = kept;
            let pieces = InPieces { grain, look, ..InPieces::new(explorer, jobs) };
            pieces.go_on(system, part, budget, saving, observer)?
        }
        _ => one_by_one(part, (system, explorer), kept.steps, budget, saving, observer)?,
    };
    Ok(Outcome { elapsed: start.elapsed(), ..outcome })
}

/// Searches piece after piece, each as a whole.
fn one_by_one<S: System, E: Explorer>(
    part: &mut Part,
    search: (&S, E),
    steps: u64,
    budget: &Budget,
    saving: Saving<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, Stray> {
    let start = Instant::now();
    let (mut saved, mut unfinished) = (start, None);
    while let Some((place, branch)) = part.next() {
        let budget = budget.after(start.elapsed());
        let mut ending = EndAfter { place: place.clone(), given: Vec::new(), left: steps };
        unfinished = part.explore(search, (&place, &branch), &budget, &mut ending, observer)?;
        if unfinished.is_some() {
            break;
        }
        part.give(&place, ending.given);
        part.join_the_first(budget.shortest);
        if saved.elapsed() >= saving.interval {
            (saving.save)(part);
            saved = Instant::now();
        }
    }
    (saving.save)(part);
    let limit = unfinished.as_ref().and_then(|outcome| outcome.stopped_by);
    let mut outcome = part.clone().with_unfinished(unfinished).into_outcome(budget);
    if let Some(StopReason::Missing) = outcome.stopped_by {
        outcome.stopped_by = limit.or(outcome.stopped_by);
    }
    Ok(outcome)
}

impl Part {
    /// The same, but the first open piece counts as done with this result.
    fn with_unfinished(mut self, outcome: Option<Outcome>) -> Part {
        if let (Some((place, branch)), Some(outcome)) = (self.next(), outcome) {
            self.finish(&place, branch, outcome);
        }
        self
    }
}

/// Ends a piece early: after this number of steps, it gives away all open work.
struct EndAfter {
    place: Place,
    given: Vec<(Place, Branch)>,
    left: u64,
}

impl Splitter for EndAfter {
    fn wants_branch(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    fn take(&mut self, branch: Branch) {
        let place = self.place.given(self.given.len() as u32);
        self.given.push((place, branch));
    }
}
