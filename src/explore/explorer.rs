//! Explorers: algorithms that visit the executions of a system.
//!
//! An explorer is a value: its options. It decides which executions to visit. The [`Driver`], which
//! is the same for all explorers, decides what a visit means: it counts, judges properties,
//! enforces limits, notifies observers, and stops the search.
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
use super::order::Order;
use super::over::Over;
use super::result::{Outcome, Stats, StopReason};
use super::settings::options::Takes;
use super::states::settings::Stateful;
use super::tree::{Branch, Splitter};
use crate::model::System;
use crate::property::When;

/// An algorithm with its options.
///
/// # Contract
///
/// [`explore`](Explorer::explore) reports to the driver the initial state ([`Driver::started`]),
/// every action that it executes ([`Driver::moved`]), and every execution that is complete
/// ([`Driver::ended`] or [`Driver::terminal`]) or cut ([`Driver::truncated`], [`Driver::blocked`]).
/// It returns soon after [`Driver::is_stopped`] becomes true. If it returns earlier, the search has
/// fulfilled its [`guarantee`](Profile::guarantee).
pub trait Explorer: Copy + Debug + Send + Sync {
    /// Its name, options and guarantees, known before it runs.
    fn profile(&self) -> Profile;

    /// A sentence that says why it cannot be used on this system or within this budget; `None` if
    /// it can.
    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        let _ = (system, budget);
        None
    }

    /// Explores the executions of `system` and reports them to `driver`.
    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>);
}

/// The name, options and guarantees of an explorer. The default promises nothing.
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
    /// Does a complete search visit every reachable state? (An explorer that visits every execution
    /// does, whatever is said here.)
    pub every_state: bool,
    /// Does a complete search show each invariant all that it can read together? (One that visits
    /// every state does, whatever is said here.)
    pub every_view: bool,
    /// Does a complete search judge what must happen in the end
    /// ([`Liveness`](crate::model::Liveness))?
    pub judges_loops: bool,
    /// Can it explore timeouts that fire when nothing else can happen
    /// ([`Objects::may_time_out_when_stuck`](crate::model::Objects))? They depend on all steps.
    pub knows_when_stuck: bool,
    /// What a depth bound measures, unless [`Budget::measure`] is set.
    pub depth: Depth,
    /// Can a depth bound measure the causal depth as well as the length?
    pub both_depths: bool,
    /// May an exploration be blocked: end in a state where every enabled action is asleep or
    /// disabled?
    pub may_block: bool,
    /// Does it choose among explorers those that can do what a system and its properties demand?
    /// Then the guarantee is the least that all of them give, and the result says who has
    /// [answered](Outcome::answered_by).
    pub chooses: bool,
    /// Does it run executions by chance? Then no search is complete.
    pub samples: bool,
    /// Can it explore a single [`Branch`] ([`explore_branch`]), and hand over branches of its own?
    /// An explorer that takes no depth bound can be split only without one.
    pub splits: Splits,
    /// Can other threads explore ahead of it (`parallel/helpers`)?
    pub takes_help: bool,
    /// Can its state be saved (`explore_saved`), for some systems at least?
    pub can_be_saved: bool,
}

impl Profile {
    /// Can its depth bound measure this?
    pub fn measures(&self, depth: Depth) -> bool {
        depth == self.depth || self.both_depths && depth != Depth::Unbounded
    }

    /// Can a search up to this depth be split?
    pub fn can_split(&self, depth: Option<u32>) -> bool {
        self.splits != Splits::No && (depth.is_none() || self.depth != Depth::Unbounded)
    }

    /// Does a complete search visit every reachable state?
    pub fn visits_every_state(&self) -> bool {
        self.every_state || self.guarantee == Guarantee::EveryExecution
    }

    /// Does a complete search judge a property of this kind in every state where it matters?
    pub fn asks(&self, when: When) -> bool {
        match when {
            When::Failure | When::End | When::Livelock => self.guarantee > Guarantee::SomeClasses,
            When::Step => self.guarantee >= Guarantee::EveryClass || self.visits_every_state(),
            When::Invariant => {
                self.asks(When::Step)
                    || self.every_view
                    || self.guarantee == Guarantee::EveryViolation
            }
            When::State => self.visits_every_state(),
            When::Loop => self.judges_loops,
        }
    }
}

impl Over {
    /// The profile of a search by backtrack sets that walks along this, with or without sleep sets.
    pub(super) fn promise(self, profile: Profile, sleep_sets: bool) -> Profile {
        match self {
            Over::Executions => Profile {
                guarantee: Guarantee::of_classes(sleep_sets),
                both_depths: true,
                may_block: sleep_sets,
                splits: Splits::Roughly,
                ..profile
            },
            Over::Configurations => Profile { guarantee: Guarantee::EveryClassOnce, ..profile },
        }
    }
}

/// Whether a search can be split into pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Splits {
    /// It cannot.
    #[default]
    No,
    /// All pieces together may make more transitions than the whole.
    Roughly,
    /// All pieces together make exactly the transitions of the whole.
    Exactly,
}

/// What a complete search has visited. Each guarantee includes the guarantees above it, except for
/// the number of visits of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Guarantee {
    /// Visited some executions, and may have missed classes. So no such search counts as complete.
    #[default]
    SomeClasses,
    /// Found every kind of violation: each failure, and each set of places at which processes are
    /// deadlocked. Neither executions nor states are visited one by one.
    EveryViolation,
    /// Reached every terminal state and every violation, each state once. Executions that reach the
    /// same state continue as one, so not every class was completed.
    EveryEnd,
    /// Visited at least one execution of each Mazurkiewicz class.
    EveryClass,
    /// Completed exactly one execution of each class.
    EveryClassOnce,
    /// Completed every execution.
    EveryExecution,
}

impl Guarantee {
    /// The guarantee of a search that visits every class, with or without sleep sets.
    pub(super) fn of_classes(sleep_sets: bool) -> Guarantee {
        if sleep_sets { Guarantee::EveryClassOnce } else { Guarantee::EveryClass }
    }

    /// The guarantee of a search that stores states in this way.
    pub(super) fn of_states(how: Stateful) -> Guarantee {
        if how.is_sound() { Guarantee::EveryEnd } else { Guarantee::SomeClasses }
    }
}

/// Runs the explorer on `system` until it is complete or the budget ends it. A search does not
/// count as complete ([`StopReason::NoGuarantee`]) if the explorer promises too little, refuses
/// this system ([`Explorer::refusal`]), or may skip states that a property has to judge.
pub fn explore<S: System>(
    system: &S,
    explorer: impl Explorer,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    let refusal = explorer.refusal(system, &budget);
    run(system, explorer, refusal, Driver::new(system, budget, observer))
}

/// Runs the explorer on one branch of a search until it is complete or the budget ends it.
/// `splitter` may take parts of the branch. The guarantee of the explorer covers the classes of the
/// remaining branch. Explorations may be blocked there (see [`Branch`]). If this explorer never
/// gives such a branch away on this system, the search ends with [`StopReason::Stray`].
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

/// A sentence that says why an explorer cannot be used on this system or within this
/// budget; `None` if it can.
pub(crate) fn refusal_by<S: System>(
    explorer: &impl Explorer,
    system: &S,
    budget: &Budget,
) -> Option<String> {
    let (own, profile) = (explorer.refusal(system, budget), explorer.profile());
    if profile.chooses {
        return own;
    }
    own.or_else(|| cannot_measure(&profile, budget))
        .or_else(|| missing_states(&profile, system))
        .or_else(|| missing_loops(&profile, system))
        .or_else(|| misses_timeouts(&profile, system))
        .or_else(|| misses_standstills(&profile, system))
        .or_else(|| gains_nothing(&profile, system))
}

/// Does a complete search by this explorer judge all properties in every state where they matter?
pub(super) fn judges_all<S: System>(explorer: &Profile, system: &S, budget: &Budget) -> bool {
    explorer.guarantee > Guarantee::SomeClasses
        && misses_timeouts(explorer, system).is_none()
        && budget.properties.iter().all(|property| {
            let when = property.when();
            explorer.asks(when) || has_none(system, when)
        })
}

/// Has the system nothing that is judged at this time?
pub(crate) fn has_none<S: System>(system: &S, when: When) -> bool {
    match when {
        When::Invariant => system.invariants().is_none(),
        When::Loop => system.liveness().is_none(),
        _ => false,
    }
}

/// A sentence that says why an explorer by source sets or wakeup trees takes no depth bound in this
/// order; `None` if it does. In the order `lca` a class was lost where a test fails and what would
/// complete it is too high: `tests/depth/programs` has the program. It is not known why.
pub(super) fn depth_in_other_order(name: &str, order: Order, budget: &Budget) -> Option<String> {
    (budget.depth.is_some() && order != Order::default()).then(|| {
        format!(
            "`{name}` takes a depth bound only in its own order (`udpor` takes it in any order)"
        )
    })
}

/// A sentence that says why an explorer cannot measure depths as the budget asks; `None` if it can.
fn cannot_measure(explorer: &Profile, budget: &Budget) -> Option<String> {
    let measure = budget.measure.filter(|&measure| !explorer.measures(measure))?;
    let name = explorer.name;
    Some(match (explorer.depth.unit(), measure.unit()) {
        (Some(own), Some(asked)) => format!(
            "`{name}` measures a depth in {own}, not in {asked} (`mazurka explorers` lists the explorers that can do \
             both)"
        ),
        _ => format!(
            "`{name}` takes no depth bound (`mazurka explorers` lists the explorers that do)"
        ),
    })
}

/// A sentence that says why an explorer cannot judge the invariants of this system. `None` if it
/// can, if it promises nothing, or if there are no invariants.
fn missing_states<S: System>(explorer: &Profile, system: &S) -> Option<String> {
    let promises = explorer.guarantee > Guarantee::SomeClasses;
    let is_missing = system.invariants().is_some() && promises && !explorer.asks(When::Invariant);
    is_missing.then(|| {
        format!(
            "`{}` leaves out states in which an `invariant` of the program may fail: `stateful` visits all \
             states, and `udpor` all classes",
            explorer.name
        )
    })
}

/// A sentence that says why an explorer cannot judge what must happen in the end. `None` if it can,
/// if it promises nothing, or if nothing must.
fn missing_loops<S: System>(explorer: &Profile, system: &S) -> Option<String> {
    let promises = explorer.guarantee > Guarantee::SomeClasses;
    (system.liveness().is_some() && promises && !explorer.judges_loops).then(|| {
        format!(
            "`{}` does not keep the loops on which an `eventually` or a `leadsto` of the program may fail: `fair` \
             judges them, on all states",
            explorer.name
        )
    })
}

/// A sentence that says why an explorer cannot explore timeouts that fire when nothing else can
/// happen. `None` if it can, if it promises nothing, or if there are none.
fn misses_timeouts<S: System>(explorer: &Profile, system: &S) -> Option<String> {
    let promises = explorer.guarantee > Guarantee::SomeClasses;
    let is_missing = system.objects().may_time_out_when_stuck
        && promises
        && !explorer.chooses
        && !explorer.knows_when_stuck;
    is_missing.then(|| {
        format!(
            "`{}` relies on independent steps, and a `timeout when stuck` depends on all steps: use `fused`, \
             `stateful`, `fair` or `exhaustive`",
            explorer.name
        )
    })
}

/// A sentence that says why an explorer cannot find the standstills of implementations without
/// buffers. `None` if it can, if it promises nothing, or if the system leaves buffering fixed.
fn misses_standstills<S: System>(explorer: &Profile, system: &S) -> Option<String> {
    let stores_states = explorer.guarantee == Guarantee::EveryEnd;
    (stores_states && system.objects().may_end_late).then(|| {
        format!(
            "`{}` does not complete every class, so it may miss standstills without buffers (`any`): use \
             `udpor`, or `zero` and `infinite`",
            explorer.name
        )
    })
}

/// A sentence that says why storing the states of this system gains nothing. `None` if it may gain
/// something, or if the explorer stores no states.
fn gains_nothing<S: System>(explorer: &Profile, system: &S) -> Option<String> {
    let stores_states = explorer.guarantee == Guarantee::EveryEnd;
    (stores_states && system.foresight().remembers_all()).then(|| {
        format!(
            "`{}` stores states, and that gains nothing here: the state of a process that really runs is its whole \
             history, so different executions never reach one state (`udpor` and `optimal` store no states)",
            explorer.name
        )
    })
}

/// Runs the explorer with this driver. `refusal` is what the explorer says of the system.
pub(super) fn run<S: System>(
    system: &S,
    explorer: impl Explorer,
    refusal: Option<String>,
    mut driver: Driver<'_>,
) -> Outcome {
    let profile = explorer.profile();
    // The explorers that are chosen answer for themselves.
    let misses_nothing =
        profile.chooses || refusal.is_none() && judges_all(&profile, system, driver.budget());
    if profile.visits_every_state() || profile.every_view {
        driver.goes_through_all_states();
    }
    explorer.explore(system, &mut driver);
    #[cfg(feature = "json")]
    if profile.can_be_saved {
        driver.save_end();
    }
    // Where states are stored, executions may also go on for ever.
    let visits_classes = profile.guarantee >= Guarantee::EveryClass && !profile.chooses;
    let (is_whole, bound) = (driver.is_whole(), driver.depth());
    let mut outcome = driver.finish();
    if visits_classes {
        look_at_given_up(&mut outcome, is_whole, bound);
    }
    if !misses_nothing {
        outcome.stopped_by.get_or_insert(StopReason::NoGuarantee);
    }
    outcome
}

/// Each execution that was given up is said to be explored in another way. Up to a depth, that way
/// may be beyond the bound: then it was cut. In a search that explores everything, some execution
/// has an end.
///
/// # Panics
/// If the search is complete, and all its executions were given up.
fn look_at_given_up(outcome: &mut Outcome, is_whole: bool, bound: Option<u32>) {
    let Stats { traces, blocked, given_up, max_depth, .. } = outcome.stats;
    if given_up == 0 || outcome.stopped_by.is_some() {
        return;
    }
    if bound.is_some_and(|bound| max_depth >= bound.into()) {
        outcome.stats.truncated = given_up;
        outcome.stats.given_up = 0;
        outcome.stopped_by = Some(StopReason::Depth);
        return;
    }
    let has_end = traces + blocked > 0 || !outcome.violations.is_empty();
    assert!(
        !is_whole || has_end,
        "internal error: all executions were given up, because others were said to be explored, \
         and there are none. So there is no verdict. Please report this, with the program"
    );
}
