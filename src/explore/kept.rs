//! A search that stores states is saved now and then, so that it can go on in another process.
//!
//! An explorer that can be saved asks, wherever its state is complete, whether it is to be saved
//! ([`Driver::is_to_save`]), and when it begins, whether there is a state to go on from
//! ([`Driver::go_on_from`]). The driver saves what it knows itself: figures, violations and leaks.

use std::io::{self, Read, Write};
use std::mem;

use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::driver::Driver;
use super::explorer::{Explorer, run};
use super::observer::Observer;
use super::result::{CutPoll, Outcome, Stats, StopReason, Violation};
use super::saved::{Keeper, read_number, write_number};
use crate::model::System;
use crate::property::{Leak, Leaks};

/// Runs the explorer on `system`, as [`explore`](super::explore) does, and saves the state of the
/// search. An explorer that cannot be saved ([`Profile::can_be_saved`]) never asks the keeper. If
/// the saved state is not one of this search, the search ends with [`StopReason::Stray`].
///
/// [`Profile::can_be_saved`]: super::Profile::can_be_saved
pub fn explore_saved<S: System>(
    system: &S,
    explorer: impl Explorer,
    budget: Budget,
    keeper: &mut dyn Keeper,
    observer: &mut dyn Observer,
) -> Outcome {
    let refusal = explorer.refusal(system, &budget);
    run(system, explorer, refusal, Driver::new(system, budget, observer).kept_by(keeper))
}

/// What the driver of a search saves.
#[derive(Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Findings {
    stats: Stats,
    violations: Vec<Violation>,
    leaks: Vec<Leak>,
    cut_poll: Option<Box<CutPoll>>,
    has_long_loop: bool,
    leaves: u64,
    /// Is the search over? If so, what has ended it, if something has.
    is_over: bool,
    stopped_by: Option<StopReason>,
}

impl<'o> Driver<'o> {
    /// Lets the state of the search be saved.
    fn kept_by(mut self, keeper: &'o mut dyn Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Is the state saved now and then?
    pub(super) fn is_kept(&self) -> bool {
        self.keeper.is_some()
    }

    /// Is the state to be saved now?
    pub(super) fn is_to_save(&mut self) -> bool {
        !self.is_stopped() && self.keeper.as_mut().is_some_and(|keeper| keeper.is_due())
    }

    /// The same, for a search that asks often: only now and then something is found out.
    #[inline]
    pub(super) fn is_to_save_by_now(&mut self) -> bool {
        mem::take(&mut self.has_ticked) && self.is_to_save()
    }

    /// Saves the state: what this driver knows, and what `rest` writes.
    pub(super) fn save(&mut self, rest: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        self.save_findings(false, rest);
    }

    /// Saves that the search is over, unless a limit has ended it.
    pub(super) fn save_end(&mut self) {
        let is_over =
            !self.signal().is_raised() && !self.stopped_by.is_some_and(StopReason::leaves_undone);
        if is_over {
            self.save_findings(true, &mut |_| Ok(()));
        }
    }

    fn save_findings(
        &mut self,
        is_over: bool,
        rest: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) {
        let findings = self.findings(is_over);
        let text = serde_json::to_vec(&findings).expect("findings are serialisable");
        if let Some(keeper) = &mut self.keeper {
            keeper.save(&mut |to| {
                write_number(to, text.len() as u64)?;
                to.write_all(&text)?;
                rest(to)
            });
        }
    }

    fn findings(&self, is_over: bool) -> Findings {
        Findings {
            stats: self.stats.clone(),
            violations: self.violations.clone(),
            leaks: self.leaks.listed().to_vec(),
            cut_poll: self.cut_poll.clone(),
            has_long_loop: self.has_long_loop,
            leaves: self.leaves,
            is_over,
            stopped_by: self.stopped_by,
        }
    }

    /// Forgets all that was read, for a search that finds it again, and returns it.
    #[cfg(feature = "sat")]
    pub(super) fn begin_again(&mut self) -> Findings {
        let read = self.findings(false);
        self.know(Findings::default());
        read
    }

    /// Does it know exactly this?
    #[cfg(feature = "sat")]
    pub(super) fn has_found(&self, findings: &Findings) -> bool {
        self.findings(false) == *findings
    }

    /// If there is a state to go on from: reads what this driver knew, and lets `rest` read what
    /// follows. Returns what it returns; nothing if the search was over.
    ///
    /// # Errors
    /// If the state cannot be read.
    pub(super) fn go_on_from<T>(
        &mut self,
        rest: impl FnOnce(&mut dyn Read, &mut Driver<'_>) -> io::Result<T>,
    ) -> Option<io::Result<Option<T>>> {
        let keeper = self.keeper.take()?;
        let mut is_over = false;
        let read = keeper.saved().map(|mut from| {
            let length = read_number(&mut *from)?;
            let mut text = Vec::new();
            (&mut *from).take(length).read_to_end(&mut text)?;
            let findings: Findings = serde_json::from_slice(&text)?;
            is_over = findings.is_over;
            self.know(findings);
            if is_over { Ok(None) } else { rest(&mut *from, self).map(Some) }
        });
        // There is nothing more to save.
        self.keeper = Some(keeper).filter(|_| !is_over);
        read
    }

    /// Knows this, and nothing else.
    pub(super) fn know(&mut self, findings: Findings) {
        self.stats = findings.stats;
        let symptoms = findings.violations.iter().map(|violation| violation.symptom);
        self.known = symptoms.zip(0..).collect();
        self.violations = findings.violations;
        self.leaks = Leaks::default();
        findings.leaks.into_iter().for_each(|leak| self.leaks.adopt(leak));
        self.cut_poll = findings.cut_poll;
        self.has_long_loop = findings.has_long_loop;
        self.leaves = findings.leaves;
        self.stopped_by = findings.stopped_by;
    }

    /// Ends the search: the saved state is not one of this search.
    pub(super) fn is_not_of_this(&mut self) {
        self.stop(StopReason::Stray);
    }
}
