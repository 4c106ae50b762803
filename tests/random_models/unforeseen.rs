//! Every explorer, compared with one that has no static analysis.
//!
//! Reductions rely on what a program says about itself in advance
//! ([`Foresight`](mazurka::model::Foresight)). So the judge here runs the same program without it:
//! an error in the static analysis cannot deceive it. Violations, terminal states, and the number
//! of classes are compared. And each counterexample is replayed and explained.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use mazurka::explore::{
    Budget, Depth, End, Exhaustive, Explorer, Guarantee, Listed, Observer, Options, Outcome,
    Setting, StopReason, Symptom, Violation, ViolationKind, explore,
};
use mazurka::model::System;
use mazurka::property::{Position, Replay, Standing};

use super::Erased;

/// A bound for explorers that need one. No execution of a tested program is as long.
const LONG: u32 = 10_000;

fn everything(timeout: Option<Duration>) -> Budget {
    Budget { all: true, endless: Some(LONG), timeout, ..Budget::default() }
}

/// The terminal states of a search, by a hash of each. Only what a future could depend on counts,
/// because searches that store states distinguish no more. Livelocks are excluded: at which point
/// of the loop a process is found differs.
struct Ends<'s, S> {
    system: &'s S,
    found: HashSet<u64>,
}

impl<S: System> Observer for Ends<'_, S> {
    fn trace(&mut self, at: Position<'_>, _: End) {
        if !at.spins().is_empty() {
            return;
        }
        let foresight = self.system.foresight();
        let mut number = DefaultHasher::new();
        for process in at.processes() {
            let local: &S::Local = at.local_as(process).expect("a local state of the system");
            let alive = foresight.without_dead(local).unwrap_or_else(|| local.clone());
            foresight.canonical(&alive).map_or(alive, |(local, _)| local).hash(&mut number);
        }
        at.cells().hash(&mut number);
        self.found.insert(number.finish());
    }
}

/// Explores the whole program. Returns what was found, and the terminal states.
fn search<S: System<Local = L>, L: 'static>(
    explored: &impl System<Local = L>,
    system: &S,
    explorer: impl Explorer,
    budget: Budget,
) -> (Outcome, HashSet<u64>) {
    let mut ends = Ends { system, found: HashSet::new() };
    let outcome = explore(explored, explorer, budget, &mut ends);
    (outcome, ends.found)
}

/// The results of the judge for a program.
pub struct Judgement {
    /// `None` if the program spawns: the names of new processes depend on the path to a state.
    ends: Option<HashSet<u64>>,
    symptoms: BTreeSet<Option<Symptom>>,
    classes: u64,
    timeout: Option<Duration>,
}

impl Judgement {
    /// By an exhaustive search that knows nothing in advance; `None` if there are more than `most`
    /// executions. Each search has this much time.
    pub fn of<S: System>(system: &S, most: u64, timeout: Option<Duration>) -> Option<Judgement> {
        let budget = Budget { max_traces: Some(most), ..everything(timeout) };
        let system = Erased::of(system);
        let (outcome, ends) = search(&system.unforeseen(), &system, Exhaustive, budget);
        let spawns = system.foresight().may_spawn() || system.actors().may_spawn();
        has_ended(&outcome).then(|| Judgement {
            ends: (!spawns).then_some(ends),
            symptoms: symptoms(&outcome),
            classes: outcome.stats.classes.expect("the exhaustive explorer counts classes"),
            timeout,
        })
    }

    /// The difference between the results of this explorer and of the judge; `None` if the explorer
    /// does not accept the system.
    pub fn compare<S: System>(
        &self,
        system: &S,
        explorer: &'static Listed,
    ) -> Option<Result<(), String>> {
        let setting = Setting::with_what_fits(explorer, Options::default());
        self.compare_with(system, setting, &Budget::default())
    }

    /// The same, with options, and with what the budget says of what is kept and shown.
    pub fn compare_with<S: System>(
        &self,
        system: &S,
        explorer: Setting,
        kept: &Budget,
    ) -> Option<Result<(), String>> {
        let depth = (explorer.profile().depth == Depth::Length).then_some(LONG);
        let Budget { shortest, keep_events, keep_locals, .. } = *kept;
        let all = everything(self.timeout);
        let budget = Budget { depth, shortest, keep_events, keep_locals, ..all };
        if explorer.refusal(system, &budget).is_some() {
            return None;
        }
        let (outcome, ends) = search(system, system, explorer, budget);
        // Observers are not told what other threads visit.
        let ends = explorer.options().jobs.is_none().then_some(&ends);
        // Loops that poll are not cut on the graph of all states.
        let is_cut =
            explorer.profile().name == "fair" && outcome.stopped_by == Some(StopReason::Polls);
        if is_cut || outcome.stopped_by == Some(StopReason::Growing) {
            return None;
        }
        let judged = self.judge(&outcome, ends, explorer.profile().guarantee);
        Some(judged.and_then(|()| explained(system, &outcome)).map_err(|how| {
            let name = explorer.profile().name;
            format!("{name} and a search that knows nothing in advance disagree: {how}")
        }))
    }

    fn judge(
        &self,
        outcome: &Outcome,
        ends: Option<&HashSet<u64>>,
        guarantee: Guarantee,
    ) -> Result<(), String> {
        if guarantee == Guarantee::SomeClasses {
            return Ok(());
        }
        if !has_ended(outcome) {
            return Err(format!("stopped by {:?}", outcome.stopped_by));
        }
        let found = symptoms(outcome);
        if found != self.symptoms {
            let (lost, new) = (&self.symptoms - &found, &found - &self.symptoms);
            return Err(format!("{} violations lost, {} made up", lost.len(), new.len()));
        }
        // `auto` reports the executions of the search that starts, and a prefix does not go to all ends.
        let is_told = outcome.answered_by.as_ref().is_none_or(|name| name == "udpor")
            && outcome.stats.prefix.is_none();
        if let (true, Some(ends), Some(all)) = (is_told, ends, &self.ends)
            && ends != all
        {
            let (lost, new) = ((all - ends).len(), (ends - all).len());
            return Err(format!("{lost} terminal states lost, {new} made up"));
        }
        let (traces, classes) = (outcome.stats.traces, self.classes);
        match guarantee {
            Guarantee::EveryClassOnce if traces != classes => {
                Err(format!("{traces} classes for {classes}"))
            }
            Guarantee::EveryClass if traces < classes => {
                Err(format!("{traces} executions for {classes} classes"))
            }
            _ => Ok(()),
        }
    }
}

/// Each counterexample leads to something that can be explained.
fn explained<S: System>(system: &S, outcome: &Outcome) -> Result<(), String> {
    for violation in &outcome.violations {
        let mut replay = Replay::new(system);
        replay.follow(&violation.schedule).map_err(|how| format!("{how:?}"))?;
        if matches!(replay.standing(), Standing::Open | Standing::Ended) {
            return Err(format!("{:?} is none: {:?}", violation.kind, violation.schedule));
        }
    }
    Ok(())
}

/// The identities of violations. Livelocks count as one, because which loops spin together is
/// reported only for some paths.
fn symptoms(outcome: &Outcome) -> BTreeSet<Option<Symptom>> {
    let is_livelock = |kind| kind == ViolationKind::Livelock;
    let symptom = |v: &Violation| (!is_livelock(v.kind)).then_some(v.symptom);
    outcome.violations.iter().map(symptom).collect()
}

fn has_ended(outcome: &Outcome) -> bool {
    outcome.stopped_by.is_none_or(StopReason::is_doubt)
}
