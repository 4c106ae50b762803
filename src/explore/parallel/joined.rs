//! Combines the results of the pieces of a search, in their order, to the result of the search.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::explore::few_switches::length;
use crate::explore::findings::MAX_VIOLATIONS;
use crate::explore::result::{CutPoll, Outcome, Stats, StopReason, Violation};
use crate::explore::symptom::Symptom;
use crate::model::Schedule;
use crate::property::Leak;

/// The combined result of some pieces.
#[derive(Default)]
pub(super) struct Joined {
    pub(super) stats: Option<Stats>,
    violations: Vec<Violation>,
    known: FxHashMap<Symptom, usize>,
    leaks: Vec<Leak>,
    /// The completed classes, if all pieces report theirs.
    classes: Option<BTreeSet<Schedule>>,
    stopped_by: Option<StopReason>,
    cut_poll: Option<Box<CutPoll>>,
    /// Of similar violations, is the shortest kept?
    shortest: bool,
}

impl Joined {
    /// No results yet.
    pub(super) fn new(shortest: bool) -> Joined {
        Joined { shortest, ..Joined::default() }
    }

    /// Adds the result of the next piece.
    pub(super) fn add(&mut self, outcome: Outcome) {
        self.classes = match (self.stats.is_some(), self.classes.take(), outcome.classes) {
            (true, Some(mut all), Some(more)) => {
                all.extend(more);
                Some(all)
            }
            (false, _, first) => first,
            _ => None,
        };
        add_to(&mut self.stats, &outcome.stats);
        if let (Some(stats), Some(classes)) = (&mut self.stats, &self.classes) {
            stats.classes = Some(classes.len() as u64);
        }
        for violation in outcome.violations {
            self.note(violation);
        }
        for leak in outcome.leaks {
            leak.add_to(&mut self.leaks);
        }
        self.stopped_by = [self.stopped_by, outcome.stopped_by]
            .into_iter()
            .flatten()
            .min_by_key(|&reason| (reason.is_doubt(), reason == StopReason::Depth));
        self.cut_poll = self.cut_poll.take().or(outcome.cut_poll);
    }

    fn note(&mut self, violation: Violation) {
        match self.known.get(&violation.symptom) {
            Some(&at) => {
                let known = &mut self.violations[at];
                if self.shortest && length(&violation) < length(known) {
                    *known = violation;
                }
            }
            None if self.violations.len() < MAX_VIOLATIONS => {
                self.known.insert(violation.symptom, self.violations.len());
                self.violations.push(violation);
            }
            None => {}
        }
    }

    /// The result of the whole search.
    pub(super) fn outcome(mut self) -> Outcome {
        if self.shortest {
            self.violations.sort_by_key(length);
        }
        Outcome { classes: None, ..self.piece() }
    }

    /// The combined result as that of a single piece: violations stay in the order found, and
    /// classes are kept for later joins.
    pub(super) fn piece(self) -> Outcome {
        Outcome {
            stats: self.stats.unwrap_or_default(),
            violations: self.violations,
            leaks: self.leaks,
            classes: self.classes,
            stopped_by: self.stopped_by,
            cut_poll: self.cut_poll,
            elapsed: Default::default(),
            answered_by: None,
        }
    }
}

/// Adds the figures of another part of a search to those so far, if there are any.
pub(super) fn add_to(all: &mut Option<Stats>, part: &Stats) {
    match all {
        Some(all) => all.add(part),
        None => *all = Some(part.clone()),
    }
}
