//! The explorer of a check: one of the table with its options, or any other.
//!
//! A check may be of any system, and by any explorer. So that not every test compiles all explorers
//! for its own system, the type of the system is forgotten ([`AnySystem`]), and so is the type of
//! an explorer that is not of the table. What is left is compiled once, with this crate.

use std::any::Any;
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::explore::{
    Budget, ByChance, Explorer, InPieces, Observer, Options, Outcome, Profile, Setting, Splits,
    explore, refusal_by,
};
use crate::model::AnySystem;
use crate::report::Instrument;

/// An explorer.
#[derive(Clone, Debug)]
pub(crate) enum Chosen {
    /// One of the table, with its options.
    Listed(Setting),
    /// Any other, as a value.
    Other(Arc<dyn Runs>),
}

impl Chosen {
    /// The explorer of the table with this name and these options.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn named(text: &str) -> Chosen {
        Chosen::Listed(text.parse().expect("an explorer"))
    }

    /// This explorer, which may be a [`Setting`].
    pub(crate) fn new(explorer: impl Explorer + 'static) -> Chosen {
        let any: &dyn Any = &explorer;
        match (any.downcast_ref(), any.downcast_ref::<ByChance>()) {
            (Some(&setting), _) => Chosen::Listed(setting),
            (_, Some(&by_chance)) => Chosen::Listed(by_chance.into()),
            _ => Chosen::Other(Arc::new(explorer)),
        }
    }

    /// Executions by chance in its place; `change` says how they are chosen.
    pub(crate) fn by_chance(&self, change: impl FnOnce(Setting) -> Setting) -> Chosen {
        let so_far = match self {
            Chosen::Listed(setting) => *setting,
            Chosen::Other(_) => "random".parse().expect("an explorer"),
        };
        Chosen::Listed(change(so_far))
    }

    /// The explorer and its options, if it is of the table.
    #[cfg(feature = "cli")]
    pub(super) fn setting(&self) -> Option<Setting> {
        match self {
            Chosen::Listed(setting) => Some(*setting),
            Chosen::Other(_) => None,
        }
    }

    /// One whose pieces repeat nothing, if it is one of those that are the default.
    #[cfg(feature = "cli")]
    pub(super) fn in_pieces(self) -> Chosen {
        let is_default = self
            .setting()
            .is_some_and(|setting| ["auto", "udpor"].contains(&setting.to_string().as_str()));
        if is_default { Chosen::named("parsimonious") } else { self }
    }

    pub(crate) fn profile(&self) -> Profile {
        match self {
            Chosen::Listed(setting) => setting.profile(),
            Chosen::Other(explorer) => explorer.about(),
        }
    }

    /// What reports say about it.
    pub(super) fn instrument(&self) -> Instrument {
        match self {
            Chosen::Listed(setting) => (*setting).into(),
            Chosen::Other(explorer) => Instrument::new(explorer.about()),
        }
    }

    /// A sentence that says why it cannot explore this system in this way; `None` if it can.
    pub(super) fn refusal(
        &self,
        system: &AnySystem<'_>,
        jobs: Option<NonZeroU32>,
        budget: &Budget,
    ) -> Option<String> {
        let profile = self.profile();
        let shares = match self {
            Chosen::Listed(_) => profile.takes.contain("jobs"),
            Chosen::Other(_) => profile.takes_help || profile.splits == Splits::Exactly,
        };
        if jobs.is_some() && !shares {
            let name = profile.name;
            return Some(match profile.takes.contain("jobs") {
                true => format!(
                    "an explorer that is given as a value has its number of threads: `{name}` in `jobs`"
                ),
                false => {
                    format!("`jobs` is for explorers that can share their work; `{name}` cannot")
                }
            });
        }
        match self {
            Chosen::Listed(setting) => with_jobs(*setting, jobs).refusal(system, budget),
            Chosen::Other(explorer) => explorer.refuses(system, budget),
        }
    }

    /// Runs it, by this number of threads.
    pub(super) fn explore(
        &self,
        system: &AnySystem<'_>,
        jobs: Option<NonZeroU32>,
        budget: Budget,
        observer: &mut dyn Observer,
    ) -> Outcome {
        match self {
            Chosen::Listed(setting) => explore(system, with_jobs(*setting, jobs), budget, observer),
            Chosen::Other(explorer) => explorer.run(system, jobs, budget, observer),
        }
    }
}

/// The explorer with this number of threads, if one is given.
fn with_jobs(setting: Setting, jobs: Option<NonZeroU32>) -> Setting {
    let given = setting.options();
    let options = Options { jobs: jobs.or(given.jobs), ..given };
    Setting::with_what_fits(setting.explorer(), options)
}

/// An explorer whose type is forgotten.
pub(crate) trait Runs: Debug + Send + Sync {
    fn about(&self) -> Profile;

    fn refuses(&self, system: &AnySystem<'_>, budget: &Budget) -> Option<String>;

    fn run(
        &self,
        system: &AnySystem<'_>,
        jobs: Option<NonZeroU32>,
        budget: Budget,
        observer: &mut dyn Observer,
    ) -> Outcome;
}

impl<E: Explorer> Runs for E {
    fn about(&self) -> Profile {
        self.profile()
    }

    fn refuses(&self, system: &AnySystem<'_>, budget: &Budget) -> Option<String> {
        refusal_by(self, system, budget)
    }

    fn run(
        &self,
        system: &AnySystem<'_>,
        jobs: Option<NonZeroU32>,
        budget: Budget,
        observer: &mut dyn Observer,
    ) -> Outcome {
        match jobs {
            Some(jobs) => explore(system, InPieces::new(*self, jobs), budget, observer),
            None => explore(system, *self, budget, observer),
        }
    }
}
