//! What an explorer is: an algorithm that goes through the executions of a system.
//!
//! An explorer is a value: its options. It decides which executions to visit. The [`Driver`], which
//! is the same for all explorers, decides what a visit means: counting, judging, limits, telling
//! observers, stopping.
//!
//! ```
//! use mazurka::explore::{Budget, Driver, Explorer, NoObserver, Profile, explore};
//! use mazurka::model::System;
//! use mazurka::trace::Execution;
//!
//! /// Takes the first action that is enabled, again and again.
//! #[derive(Clone, Copy, Debug)]
//! struct First;
//!
//! impl Explorer for First {
//!     fn profile(&self) -> Profile {
//!         Profile { name: "first", summary: "one execution", ..Profile::default() }
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
use super::settings::options::Takes;
use super::states::settings::Stateful;
use super::tree::{Branch, Splitter};
use crate::model::System;
use crate::property::When;

/// An algorithm with its options.
///
/// # Contract
///
/// [`explore`](Explorer::explore) tells the driver of the initial state ([`Driver::started`]), of
/// every action that it executes ([`Driver::moved`]), of every execution that is complete
/// ([`Driver::ended`] or [`Driver::terminal`]) or cut ([`Driver::truncated`], [`Driver::blocked`]),
/// and returns soon after [`Driver::is_stopped`] is true. If it returns before, the search has done
/// what [`guarantee`](Profile::guarantee) says.
pub trait Explorer: Copy + Debug + Send + Sync {
    /// What is known about it, with these options, before it runs.
    fn profile(&self) -> Profile;

    /// Why it cannot be used on this system, or within this budget, in a sentence; `None` if it
    /// can.
    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        let _ = (system, budget);
        None
    }

    /// Goes through the executions of `system`.
    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>);
}

/// What is known about an explorer before it runs. The default promises nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profile {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it was published; empty if nowhere.
    pub source: &'static str,
    /// What it requires of the program, in a line; `None` if nothing.
    pub requires: Option<&'static str>,
    /// Which options it takes.
    pub takes: Takes,
    /// What a complete search promises.
    pub guarantee: Guarantee,
    /// Does a complete search visit all states that some execution goes through? If it visits every
    /// execution, it does.
    pub every_state: bool,
    /// What a depth bound measures, unless [`Budget::measure`] says something else.
    pub depth: Depth,
    /// Can a depth bound measure the causal depth as well as the length?
    pub both_depths: bool,
    /// May an exploration be cut because everything enabled there is asleep or disabled?
    pub may_block: bool,
    /// Can it explore a single [`Branch`] ([`explore_branch`]), and have branches taken out of it?
    /// If no bound on the depth is possible, it cannot below one.
    pub splits: Splits,
}

impl Profile {
    /// Can a depth bound measure this?
    pub fn measures(&self, depth: Depth) -> bool {
        depth == self.depth || self.both_depths && depth != Depth::Unbounded
    }

    /// Can a search up to this depth be split?
    pub fn can_split(&self, depth: Option<u32>) -> bool {
        self.splits != Splits::No && (depth.is_none() || self.depth != Depth::Unbounded)
    }

    /// Does a complete search visit all states that some execution goes through?
    pub fn visits_every_state(&self) -> bool {
        self.every_state || self.guarantee == Guarantee::EveryExecution
    }

    /// In a complete search, is a property that is asked at this time asked wherever it matters?
    pub fn asks(&self, when: When) -> bool {
        match when {
            When::Failure | When::End | When::Livelock => self.guarantee > Guarantee::SomeClasses,
            When::Step | When::Invariant => {
                self.guarantee >= Guarantee::EveryClass || self.visits_every_state()
            }
            When::State => self.visits_every_state(),
        }
    }
}

/// Can a search be made in pieces?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Splits {
    /// It cannot.
    #[default]
    No,
    /// All pieces together may make more transitions than the whole.
    Roughly,
    /// All pieces together make exactly the transitions of the whole.
    Exactly,
}

/// What a complete search has done. Each promises what the one before it promises, except how often
/// a class is visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guarantee {
    /// Visited some executions; others may differ from all of them. So no such search counts as
    /// complete.
    #[default]
    SomeClasses,
    /// Reached every terminal state and every violation, each state once. Executions that meet in a
    /// state continue as one, so not every class was completed.
    EveryEnd,
    /// Visited at least one execution of each Mazurkiewicz class.
    EveryClass,
    /// Completed exactly one execution of each class.
    EveryClassOnce,
    /// Completed every execution.
    EveryExecution,
}

impl Guarantee {
    /// That of a search which visits every class, with or without sleep sets.
    pub(super) fn of_classes(sleep_sets: bool) -> Guarantee {
        if sleep_sets { Guarantee::EveryClassOnce } else { Guarantee::EveryClass }
    }

    /// That of a search which stores states in this way.
    pub(super) fn of_states(how: Stateful) -> Guarantee {
        if how.is_sound() { Guarantee::EveryEnd } else { Guarantee::SomeClasses }
    }
}

/// Runs the explorer on `system` until it is complete or the budget ends it. A search is never
/// complete if the explorer may miss executions, by its nature or because it cannot be used on this
/// system; or if it may miss states that a property is about.
pub fn explore<S: System>(
    system: &S,
    explorer: impl Explorer,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    let refusal = explorer.refusal(system, &budget);
    run(system, explorer, refusal, Driver::new(system, budget, observer))
}

/// As [`explore`], for one branch, parts of which `splitter` may take. The guarantee of the
/// explorer is for the classes of the rest of the branch. An exploration may be blocked (see
/// [`Branch`]). If the branch is not one that such an explorer gives away on this system, the
/// search ends with [`StopReason::Stray`].
///
/// # Panics
/// If the explorer cannot be split ([`Profile::can_split`]).
pub fn explore_branch<S: System>(
    system: &S,
    explorer: impl Explorer,
    branch: &Branch,
    splitter: &mut dyn Splitter,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    let profile = explorer.profile();
    assert!(profile.can_split(budget.depth), "{} cannot be split", profile.name);
    let refusal = explorer.refusal(system, &budget);
    let driver = Driver::new(system, budget, observer).of_branch(branch, splitter);
    run(system, explorer, refusal, driver)
}

/// Why an explorer cannot measure depths as the budget says, in a sentence; `None` if it can.
pub(super) fn cannot_measure(explorer: &Profile, budget: &Budget) -> Option<String> {
    let measure = budget.measure.filter(|&measure| !explorer.measures(measure))?;
    Some(format!(
        "a depth cannot be measured in {} by `{}`, but in {} (`mazurka explorers` says which explorers can do \
         both)",
        measure.unit(),
        explorer.name,
        explorer.depth.unit()
    ))
}

/// Why an explorer cannot judge the invariants of this system, in a sentence; `None` if it can, or
/// promises nothing, or there are none.
pub(super) fn missing_states<S: System>(explorer: &Profile, system: &S) -> Option<String> {
    let promises = explorer.guarantee > Guarantee::SomeClasses;
    let is_missing = system.invariants().is_some() && promises && !explorer.asks(When::Invariant);
    is_missing.then(|| {
        format!(
            "`{}` leaves out states in which an `invariant` of the program may fail: `stateful` goes through all \
             states, and `udpor` through all classes",
            explorer.name
        )
    })
}

/// Why an explorer cannot judge what only an implementation without buffers does, in a sentence;
/// `None` if it can, or promises nothing, or the system leaves nothing open.
pub(super) fn misses_standstills<S: System>(explorer: &Profile, system: &S) -> Option<String> {
    let stores_states = explorer.guarantee == Guarantee::EveryEnd;
    (stores_states && system.objects().may_end_late).then(|| {
        format!(
            "`{}` does not complete every class, so it may miss where programs stand still without buffers (`any`): use \
             `udpor`, or `zero` and `infinite`",
            explorer.name
        )
    })
}

/// Why it is of no use to store the states of this system, in a sentence; `None` if it is, or the
/// explorer stores none.
pub(super) fn gains_nothing<S: System>(explorer: &Profile, system: &S) -> Option<String> {
    let stores_states = explorer.guarantee == Guarantee::EveryEnd;
    (stores_states && system.foresight().remembers_all()).then(|| {
        format!(
            "`{}` stores states, and that gains nothing here: processes that really run are told apart by all that \
             they were told, so executions meet in no state (`udpor` and `optimal` store none)",
            explorer.name
        )
    })
}

fn run<S: System>(
    system: &S,
    explorer: impl Explorer,
    refusal: Option<String>,
    mut driver: Driver<'_>,
) -> Outcome {
    let profile = explorer.profile();
    let misses_nothing = profile.guarantee > Guarantee::SomeClasses
        && refusal.is_none()
        && driver.budget().properties.iter().all(|property| {
            let when = property.when();
            profile.asks(when) || when == When::Invariant && system.invariants().is_none()
        });
    if profile.visits_every_state() {
        driver.goes_through_all_states();
    }
    explorer.explore(system, &mut driver);
    let mut outcome = driver.finish();
    if !misses_nothing {
        outcome.stopped_by.get_or_insert(StopReason::NoGuarantee);
    }
    outcome
}
