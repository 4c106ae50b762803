//! What an explorer is: an algorithm that goes through the executions of a system.
//!
//! An explorer is a value: its options. It decides which executions to visit. The [`Driver`], which is the same for all
//! explorers, decides what a visit means: counting, judging, limits, telling observers, stopping.
//!
//! ```
//! use mazurka::explore::{Budget, Driver, Explorer, Guarantee, Info, NoObserver, explore};
//! use mazurka::model::System;
//! use mazurka::trace::Execution;
//!
//! /// Takes the first action that is enabled, again and again.
//! #[derive(Clone, Copy, Debug)]
//! struct First;
//!
//! impl Explorer for First {
//!     fn info(&self) -> Info {
//!         let guarantee = Guarantee::SomeClasses;
//!         Info { name: "first", summary: "one execution", source: "", guarantee, requires: None }
//!     }
//!
//!     fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
//!         let mut execution = Execution::new(system);
//!         let (locals, state) = execution.parts();
//!         driver.started(locals, state);
//!         let mut enabled = Vec::new();
//!         while !driver.is_stopped() {
//!             enabled.clear();
//!             execution.enabled(&mut enabled);
//!             let Some(&action) = enabled.first() else {
//!                 driver.ended(&mut execution);
//!                 break;
//!             };
//!             execution.push(action);
//!             let (locals, state) = execution.parts();
//!             driver.moved(locals, state, action);
//!         }
//!     }
//! }
//!
//! let source = "process P[i in 0..2] { local(\"step\"); }";
//! let program = mazurka::lang::compile("two.maz", source, &[]).expect("a valid program");
//! let outcome = explore(&program, First, Budget::default(), &mut NoObserver);
//! assert_eq!((outcome.stats.traces, outcome.is_complete()), (1, false));
//! ```

use std::fmt::Debug;

use super::budget::{Budget, Depth};
use super::driver::Driver;
use super::observer::Observer;
use super::result::{Outcome, StopReason};
use super::tree::{Branch, Splitter};
use crate::model::System;
use crate::property::When;

/// An algorithm with its options.
///
/// # Contract
///
/// [`explore`](Explorer::explore) tells the driver of the initial state ([`Driver::started`]), of every action that it
/// executes ([`Driver::moved`]), of every execution that is complete ([`Driver::ended`] or [`Driver::terminal`]) or cut
/// ([`Driver::truncated`], [`Driver::blocked`]), and returns soon after [`Driver::is_stopped`] is true. If it returns
/// before, the search has done what [`guarantee`](Explorer::guarantee) says.
pub trait Explorer: Copy + Debug + Send + Sync {
    /// What is known about it before it runs.
    fn info(&self) -> Info;

    /// What a complete search with these options promises.
    fn guarantee(&self) -> Guarantee {
        self.info().guarantee
    }

    /// What a depth bound measures, unless [`Budget::measure`] says something else.
    fn depth(&self) -> Depth {
        Depth::Causal
    }

    /// Can a depth bound measure this?
    fn measures(&self, depth: Depth) -> bool {
        depth == self.depth()
    }

    /// May an exploration be cut because everything enabled there is asleep or disabled?
    fn may_block(&self) -> bool {
        false
    }

    /// Can it explore a single [`Branch`] ([`explore_branch`]) up to this depth, and have branches taken out of it?
    fn can_split(&self, depth: Option<u32>) -> bool {
        let _ = depth;
        false
    }

    /// If it can be split: can it explore the branches that other explorers give away, and they its own?
    fn takes_any_branch(&self) -> bool {
        true
    }

    /// If it can be split: do the pieces together make exactly the transitions of the whole?
    fn splits_exactly(&self) -> bool {
        false
    }

    /// Why it cannot be used on this system, or within this budget, in a sentence; `None` if it can.
    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        let _ = (system, budget);
        None
    }

    /// Goes through the executions of `system`.
    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>);

    /// Does it visit all states that some execution goes through?
    fn visits_every_state(&self) -> bool {
        self.guarantee() == Guarantee::EveryExecution
    }

    /// In a complete search, is a property that is asked at this time asked wherever it matters?
    fn asks(&self, when: When) -> bool {
        match when {
            When::Failure | When::End | When::Livelock => self.guarantee() > Guarantee::SomeClasses,
            When::Step => self.guarantee() >= Guarantee::EveryClass || self.visits_every_state(),
            When::Invariant => {
                self.guarantee() >= Guarantee::EveryClass || self.visits_every_state()
            }
            When::State => self.visits_every_state(),
        }
    }

    /// If a depth bound cuts executions: has the search visited all classes of executions up to that depth, or all states
    /// that they lead to?
    fn covers_up_to_depth(&self) -> bool {
        self.guarantee() > Guarantee::SomeClasses
    }
}

/// What is known about an explorer before it runs.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What a complete search promises.
    pub guarantee: Guarantee,
    /// What it requires of the program, in a line; `None` if nothing.
    pub requires: Option<&'static str>,
}

/// What a complete search has done. Each promises what the one before it promises, except how often a class is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guarantee {
    /// Visited some executions; others may differ from all of them. So no such search counts as complete.
    SomeClasses,
    /// Reached every terminal state and every violation, each state once. Executions that meet in a state
    /// continue as one, so not every class was completed.
    EveryEnd,
    /// Visited at least one execution of each Mazurkiewicz class.
    EveryClass,
    /// Completed exactly one execution of each class.
    EveryClassOnce,
    /// Completed every execution.
    EveryExecution,
}

/// Runs the explorer on `system` until it is complete or the budget ends it. A search is never complete if the
/// explorer may miss executions, by its nature or because it cannot be used on this system; or if it may miss states that
/// a property is about.
pub fn explore<S: System>(
    system: &S,
    explorer: impl Explorer,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    let refusal = explorer.refusal(system, &budget);
    run(system, explorer, refusal, Driver::new(system, budget, observer))
}

/// As [`explore`], for one branch, parts of which `splitter` may take. The guarantee of the explorer is for the classes of
/// the rest of the branch. An exploration may be blocked (see [`Branch`]). If the branch is not one
/// that such an explorer gives away on this system, the search ends with [`StopReason::Stray`].
///
/// # Panics
/// If the explorer cannot be split ([`Explorer::can_split`]).
pub fn explore_branch<S: System>(
    system: &S,
    explorer: impl Explorer,
    branch: &Branch,
    splitter: &mut dyn Splitter,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    assert!(explorer.can_split(budget.depth), "{} cannot be split", explorer.info().name);
    let refusal = explorer.refusal(system, &budget);
    let driver = Driver::new(system, budget, observer).of_branch(branch, splitter);
    run(system, explorer, refusal, driver)
}

/// Why the explorer cannot measure depths as the budget says, in a sentence; `None` if it can.
pub(super) fn cannot_measure(explorer: &impl Explorer, budget: &Budget) -> Option<String> {
    let measure = budget.measure.filter(|&measure| !explorer.measures(measure))?;
    let (name, own) = (explorer.info().name, explorer.depth());
    Some(format!(
        "a depth cannot be measured in {} by `{name}`, but in {} (`mazurka explorers` says which explorers can do \
         both)",
        measure.unit(),
        own.unit()
    ))
}

/// Why the explorer cannot judge the invariants of this system, in a sentence; `None` if it can, or promises nothing, or
/// there are none.
pub(super) fn missing_states<S: System>(explorer: &impl Explorer, system: &S) -> Option<String> {
    let promises = explorer.guarantee() > Guarantee::SomeClasses;
    let is_missing = system.invariants().is_some() && promises && !explorer.asks(When::Invariant);
    is_missing.then(|| {
        let name = explorer.info().name;
        format!(
            "`{name}` leaves out states in which an `invariant` of the program may fail: `stateful` goes through all \
             states, and `udpor` through all classes"
        )
    })
}

/// Why the explorer cannot judge what only an implementation without buffers does, in a sentence; `None` if it can, or promises nothing,
/// or the system leaves nothing open.
pub(super) fn misses_standstills<S: System>(
    explorer: &impl Explorer,
    system: &S,
) -> Option<String> {
    let stores_states = explorer.guarantee() == Guarantee::EveryEnd;
    (stores_states && system.objects().may_end_late).then(|| {
        let name = explorer.info().name;
        format!(
            "`{name}` does not complete every class, so it may miss where programs stand still without buffers (`any`): use \
             `udpor`, or `zero` and `infinite`"
        )
    })
}

/// Why it is of no use to store the states of this system, in a sentence; `None` if it is, or the explorer stores none.
pub(super) fn gains_nothing<S: System>(explorer: &impl Explorer, system: &S) -> Option<String> {
    let stores_states = explorer.guarantee() == Guarantee::EveryEnd;
    (stores_states && system.foresight().remembers_all()).then(|| {
        let name = explorer.info().name;
        format!(
            "`{name}` stores states, and that gains nothing here: processes that really run are told apart by all that \
             they were told, so executions meet in no state (`udpor` and `optimal` store none)"
        )
    })
}

fn run<S: System>(
    system: &S,
    explorer: impl Explorer,
    refusal: Option<String>,
    mut driver: Driver<'_>,
) -> Outcome {
    let misses_nothing = explorer.guarantee() > Guarantee::SomeClasses
        && refusal.is_none()
        && driver.budget().properties.iter().all(|property| {
            let when = property.when();
            explorer.asks(when) || when == When::Invariant && system.invariants().is_none()
        });
    if explorer.visits_every_state() {
        driver.goes_through_all_states();
    }
    explorer.explore(system, &mut driver);
    let mut outcome = driver.finish();
    if !misses_nothing {
        outcome.stopped_by.get_or_insert(StopReason::NoGuarantee);
    }
    outcome
}
