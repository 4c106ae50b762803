//! Stateful searches of many clients of data structures: the experiments of a paper, with our
//! explorers.
//!
//! Cirisci, Enea, Farzan, Mutluergil, *A pragmatic approach to stateful partial order reduction*
//! (section 4.1), measure their algorithms on 75 clients of seven structures, and the time to the
//! first error on 310 clients of structures with a misplaced lock. Their clients are not published,
//! so the clients here are our own, made from fixed seeds by [`client`](super::client); [`plan`]
//! lists them. The claims of the paper are checked with its own way to find source sets, which
//! traverses stored transitions again and again (`without=summaries`). The summaries that our
//! explorers use by default are shown beside it.
//!
//! | part | idea |
//! |---|---|
//! | [`plan`] | the clients and explorers |
//! | [`Trials`] | clients by explorers: the result of each pair |
//! | [`document`] | the results as tables, claims and plots |
//! | `figures` | quantiles, means, speed-ups |
//! | `orders` | the time to the first error, by the order of the threads |
//!
//! # Departures
//! The programs of the paper are in Java, and a step executes bytecode. Here a step takes less than
//! a microsecond, so the savings of a reduction weigh less against its cost. Therefore numbers of
//! transitions, which do not depend on the machine, are shown beside times. Memory is the memory of
//! stored states and of what is stored about them, not the size of a heap.

pub mod document;
pub(crate) mod figures;
pub(crate) mod orders;
pub mod plan;

use std::time::Duration;

use crate::explore::{StopReason, Verdict};
use crate::study::{Case, Job, Limits, Measured, Ran};
use figures::Cost;
use plan::Bounded;

/// A search is repeated for this time if it is shorter.
const REPEAT_FOR: Duration = Duration::from_millis(50);

/// An explorer in the experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    pub(crate) name: String,
    /// The explorer with its options.
    pub(crate) setting: String,
}

/// Clients by contenders, with results.
#[derive(Clone, Debug)]
pub struct Trials {
    pub(crate) clients: Vec<Bounded>,
    /// The explorers.
    pub(crate) contenders: Vec<Contender>,
    /// Whether searches continue after an error.
    pub(crate) all: bool,
    /// The time limit of a search.
    pub(crate) limit: Duration,
    /// The results, client by client; of each client those of all contenders. After an interrupt
    /// the last clients are missing.
    ran: Vec<Ran>,
}

/// Both experiments.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Complete searches of correct structures, by `plan::ALGORITHMS`.
    pub reductions: Trials,
    /// Searches for the first error in buggy structures, by `plan::hunters`.
    pub errors: Trials,
}

impl Experiment {
    /// The experiment before any search.
    pub fn new(clients: Vec<Bounded>, buggy: Vec<Bounded>, limit: Duration) -> Experiment {
        Experiment {
            reductions: Trials::new(clients, plan::algorithms(), true, limit),
            errors: Trials::new(buggy, plan::hunters(), false, limit),
        }
    }

    /// The number of searches.
    pub(crate) fn size(&self) -> usize {
        self.reductions.size() + self.errors.size()
    }

    /// The number of searches that have not been run.
    pub fn not_run(&self) -> usize {
        self.size() - self.reductions.ran.len() - self.errors.ran.len()
    }

    /// Disagreements between searches of one client, each in a sentence: they are bugs of this
    /// crate.
    pub fn disagreements(&self) -> Vec<String> {
        let of_both = [&self.reductions, &self.errors].into_iter();
        of_both.flat_map(Trials::disagreements).collect()
    }
}

impl Trials {
    /// The experiment before any search.
    pub(crate) fn new(
        clients: Vec<Bounded>,
        contenders: Vec<Contender>,
        all: bool,
        limit: Duration,
    ) -> Trials {
        Trials { clients, contenders, all, limit, ran: Vec::new() }
    }

    /// The number of searches.
    pub(crate) fn size(&self) -> usize {
        self.clients.len() * self.contenders.len()
    }

    /// Runs the searches, client by client, until `run` returns `None`.
    pub fn run<E>(&mut self, mut run: impl FnMut(&Job) -> Result<Option<Ran>, E>) -> Result<(), E> {
        for client in &self.clients {
            let case = client.case();
            for contender in &self.contenders {
                let ran = match &case {
                    Ok(case) => run(&self.job(case, contender))?,
                    Err(why) => Some(Ran::Failed(why.to_string())),
                };
                let Some(ran) = ran else { return Ok(()) };
                self.ran.push(ran);
            }
        }
        Ok(())
    }

    fn job(&self, case: &Case, contender: &Contender) -> Job {
        Job {
            case: case.clone(),
            setting: contender.setting.clone(),
            limits: Limits { timeout: Some(self.limit), ..Limits::default() },
            all: self.all,
            repeat_for: REPEAT_FOR,
        }
    }

    /// The result for this client and this contender; `None` if it was not run.
    pub(crate) fn ran(&self, client: usize, contender: usize) -> Option<&Ran> {
        self.ran.get(client * self.contenders.len() + contender)
    }

    /// The measurements, if there are any.
    pub(crate) fn measured(&self, client: usize, contender: usize) -> Option<&Measured> {
        match self.ran(client, contender)? {
            Ran::Measured(measured) => Some(measured),
            Ran::Refused(_) | Ran::Failed(_) => None,
        }
    }

    /// The measurements of a search that has finished: it is complete, or has found the error that
    /// it searched for.
    pub(crate) fn finished(&self, client: usize, contender: usize) -> Option<&Measured> {
        let measured = self.measured(client, contender);
        measured.filter(|m| matches!(m.stopped_by, None | Some(StopReason::Violation)))
    }

    /// The cost of a search that has finished.
    pub(crate) fn cost(&self, client: usize, contender: usize, cost: Cost) -> Option<f64> {
        self.finished(client, contender).and_then(|measured| cost.of(measured))
    }

    /// The index of the contender with this setting.
    ///
    /// # Panics
    /// If there is no such contender.
    pub(crate) fn contender(&self, setting: &str) -> usize {
        let found = self.contenders.iter().position(|contender| contender.setting == setting);
        found.unwrap_or_else(|| panic!("`{setting}` takes no part"))
    }

    /// The number of clients that were searched by at least one contender.
    pub(crate) fn begun(&self) -> usize {
        self.ran.len().div_ceil(self.contenders.len())
    }

    /// Disagreements between searches of one client, each in a sentence.
    pub(crate) fn disagreements(&self) -> Vec<String> {
        (0..self.begun()).flat_map(|client| self.disagreements_on(client)).collect()
    }

    fn disagreements_on(&self, client: usize) -> Vec<String> {
        let name = &self.clients[client].name();
        let mut found = Vec::new();
        let mut first: Option<(usize, &Measured)> = None;
        for (contender, Contender { setting, .. }) in self.contenders.iter().enumerate() {
            if let Some(Ran::Failed(how) | Ran::Refused(how)) = self.ran(client, contender) {
                found.push(format!("{setting} on {name}: {how}."));
            }
            let Some(measured) = self.finished(client, contender) else { continue };
            let Some((of, other)) = first else {
                first = Some((contender, measured));
                continue;
            };
            let (ours, theirs) = (self.findings(measured), self.findings(other));
            if ours != theirs {
                let other = &self.contenders[of].setting;
                found.push(format!("On {name} {other} finds {theirs}, and {setting} {ours}."));
            }
            if self.all && measured.stats.states > other.stats.states {
                let other = &self.contenders[of].setting;
                found.push(format!("On {name} {setting} stores more states than {other}."));
            }
        }
        found
    }

    /// The findings that all searches of a client must agree on, as text.
    fn findings(&self, measured: &Measured) -> String {
        match self.all {
            true => {
                format!("`{}` and {} ends", measured.verdict.word(), measured.stats.traces)
            }
            false => format!("`{}`", measured.verdict.word()),
        }
    }

    /// Whether an error was found in this client.
    pub(crate) fn has_error(&self, client: usize) -> bool {
        let mut of_all = (0..self.contenders.len()).filter_map(|c| self.finished(client, c));
        of_all.any(|measured| measured.verdict != Verdict::Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Figures;

    fn trials(results: &[(Verdict, u64, u64)]) -> Trials {
        let contender = |n: usize| Contender { name: n.to_string(), setting: format!("s{n}") };
        let contenders = (0..results.len()).map(contender).collect();
        let limit = Duration::from_secs(1);
        let clients = plan::clients(false)[..1].to_vec();
        let mut trials = Trials::new(clients, contenders, true, limit);
        trials.ran = results
            .iter()
            .map(|&(verdict, traces, states)| {
                let stats = Figures { traces, states: Some(states), ..Figures::default() };
                let (stopped_by, found) = (None, Vec::new());
                let processor_seconds = None;
                Ran::Measured(Measured { verdict, stopped_by, found, processor_seconds, stats })
            })
            .collect();
        trials
    }

    #[test]
    fn searches_that_differ_are_reported() {
        let ok = Verdict::Ok;
        assert_eq!(trials(&[(ok, 2, 9), (ok, 2, 9), (ok, 2, 3)]).disagreements().len(), 0);
        let told = |other| trials(&[(ok, 2, 9), other]).disagreements().concat();
        assert!(told((ok, 1, 9)).ends_with("s0 finds `ok` and 2 ends, and s1 `ok` and 1 ends."));
        assert!(told((Verdict::Deadlock, 2, 9)).ends_with("and s1 `deadlock` and 2 ends."));
        assert!(told((ok, 2, 10)).ends_with("s1 stores more states than s0."));
        let mut failed = trials(&[(ok, 2, 9), (ok, 2, 9)]);
        failed.ran[1] = Ran::Failed("ended without a result".into());
        assert!(failed.disagreements().concat().ends_with(": ended without a result."));
    }
}
