//! A portfolio: several searches of one program run at once; the first answer ends them all.
//!
//! Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023, section 4.1) find that S-POR is fastest if there
//! is little to reduce, and DL-S-POR otherwise; and that the order of processes decides how soon an
//! error is found. Which search is best is not known beforehand. So several are run, each on a
//! thread of its own: S-POR and DL-S-POR, first by number, then in reverse, then at random.
//!
//! An answer is a complete search, or a violation if one is enough. Which search answers first
//! depends on timing. So the figures, and the violation that is shown if there are several, may
//! differ from run to run; the verdict does not.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::s_por::SPor;
use super::settings::Stateful;
use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, explore};
use crate::explore::observer::Observer;
use crate::explore::order::{Order, Permutation};
use crate::explore::result::{Outcome, Stats};
use crate::explore::settings::options::{Options, Takes};
use crate::model::{ProcessId, System, Values};

/// Runs several searches; the first answer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portfolio {
    /// The number of searches.
    pub jobs: NonZeroU32,
}

impl Default for Portfolio {
    /// One search for each processor, at least 2 and at most 6. More searches than processors would
    /// only slow one another down.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, |n| n.get() as u32);
        Portfolio { jobs: NonZeroU32::new(cores.clamp(2, 6)).expect("two at least") }
    }
}

impl Portfolio {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        options.jobs.map_or_else(Portfolio::default, |jobs| Portfolio { jobs })
    }
}

impl Explorer for Portfolio {
    fn profile(&self) -> Profile {
        Profile {
            name: "portfolio",
            summary: "s-por and dl-s-por in several orders at once; the first answer counts",
            source: "Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023)",
            guarantee: Guarantee::EveryEnd,
            takes: Takes { options: &["jobs"], ..Takes::NOTHING },
            depth: Depth::Length,
            ..Profile::default()
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let outcome = first_answer(system, self.jobs, driver);
        driver.adopt(outcome);
    }
}

/// Time between two checks of limits and progress.
const POLL: Duration = Duration::from_millis(20);

/// The text of one of the searches on a command line.
fn name(entrant: SPor) -> String {
    let options = Options { order: Some(entrant.how.order), ..Options::default() };
    format!("{}:{}", entrant.profile().name, options.text())
}

/// The first `jobs` searches of the portfolio.
fn entrants(processes: u32, jobs: NonZeroU32) -> Vec<SPor> {
    let listed: Vec<_> = (0..processes.min(Permutation::LIMIT)).rev().map(ProcessId).collect();
    let reverse = Permutation::new(&listed).expect("each process once");
    let orders = [Permutation::BY_NUMBER, reverse].map(Order::Sequential);
    let orders = orders.into_iter().chain((0..).map(Order::Random));
    let stored = orders.map(|order| Stateful { order, ..Stateful::default() });
    let all = stored.flat_map(|how| [SPor::safe(how), SPor::lazy(how)]);
    all.take(jobs.get() as usize).collect()
}

/// Runs the searches until one of them has an answer.
fn first_answer<S: System>(system: &S, jobs: NonZeroU32, driver: &mut Driver<'_>) -> Outcome {
    let budget = driver.budget().clone();
    let processes = system.initial(&mut Values::default()).len() as u32;
    let entrants = entrants(processes, jobs);
    let stop = Arc::new(AtomicBool::new(false));
    let latest = Mutex::new(Stats::default());
    std::thread::scope(|scope| {
        let (sender, answers) = channel();
        for &entrant in &entrants {
            let (sender, latest) = (sender.clone(), &latest);
            let budget = Budget { cancel: stop.clone(), ..budget.clone() };
            scope.spawn(move || run(system, entrant, budget, latest, &sender));
        }
        drop(sender);
        let (mut best, mut running) = (None::<Outcome>, entrants.len());
        while running > 0 {
            match answers.recv_timeout(POLL) {
                Ok(outcome) => {
                    running -= 1;
                    if is_answer(&outcome) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    let is_better =
                        best.as_ref().is_none_or(|best| !is_answer(best) && is_answer(&outcome));
                    best = if is_better { Some(outcome) } else { best };
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if budget.cancel.load(Ordering::Relaxed) {
                stop.store(true, Ordering::Relaxed);
            }
            let stats = latest.lock().expect("no search panicked").clone();
            driver.progress(&stats);
        }
        best.expect("each search has an outcome")
    })
}

/// Is this outcome an answer?
fn is_answer(outcome: &Outcome) -> bool {
    outcome.is_complete() || !outcome.violations.is_empty()
}

fn run<S: System>(
    system: &S,
    entrant: SPor,
    budget: Budget,
    latest: &Mutex<Stats>,
    sender: &Sender<Outcome>,
) {
    let outcome = explore(system, entrant, budget, &mut Latest(latest));
    // The receiver waits for all senders.
    let _ = sender.send(Outcome { answered_by: Some(name(entrant)), ..outcome });
}

/// Stores the latest figures of a search.
struct Latest<'l>(&'l Mutex<Stats>);

impl Observer for Latest<'_> {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, _: Duration) {
        self.0.lock().expect("no search panicked").clone_from(stats);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_algorithms_run_and_then_other_orders() {
        let names = |jobs| {
            let entrants = entrants(3, NonZeroU32::new(jobs).expect("some"));
            entrants.into_iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(2), ["s-por:order=sequential", "dl-s-por:order=sequential"]);
        assert_eq!(
            names(5)[2..],
            ["s-por:order=2.1.0", "dl-s-por:order=2.1.0", "s-por:order=random+seed=0"]
        );
    }
}
