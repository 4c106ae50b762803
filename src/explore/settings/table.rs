//! The one table of explorers.
//!
//! All places that name explorers read this table: the command line, `compare`, studies, reports and the matrix of the
//! tests. To add one, write its file, with the type (whose fields are its options), `impl Explorer` and `impl Choosable`,
//! and add the type to the list below.
//!
//! An explorer is generic over systems, so the table cannot hold trait objects. It holds functions that make an
//! [`AnyExplorer`]: an enum, made from the list, of all the types in it, which passes each call on to the one that it is.
//! Explorers of other crates are not in the table; they are run as [`explore`](crate::explore::explore) runs any.

use super::options::{Choosable, Options, Takes};
use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{
    Explorer, Guarantee, Info, cannot_measure, gains_nothing, misses_standstills, missing_states,
};
use crate::model::System;

/// A row of the table.
#[derive(Debug)]
pub struct Listed {
    /// What is known of the explorer before it runs.
    pub info: Info,
    /// Which options it takes.
    pub takes: Takes,
    make: fn(&Options) -> AnyExplorer,
}

macro_rules! explorers {
    ($($module:ident :: $explorer:ident),* $(,)?) => {
        $(pub use crate::explore::$module::$explorer;)*

        /// AnyExplorer explorer of the table.
        #[derive(Clone, Copy, Debug)]
        pub enum AnyExplorer {
            $(#[doc = concat!("`", stringify!($explorer), "`")] $explorer($explorer)),*
        }

        $(impl From<$explorer> for AnyExplorer {
            fn from(explorer: $explorer) -> Self {
                AnyExplorer::$explorer(explorer)
            }
        })*

        /// The explorers that exist.
        pub const EXPLORERS: &[Listed] = &[$(Listed {
            info: <$explorer as Choosable>::INFO,
            takes: <$explorer as Choosable>::TAKES,
            make: |options| AnyExplorer::$explorer(<$explorer as Choosable>::new(options)),
        }),*];

        impl Explorer for AnyExplorer {
            fn info(&self) -> Info {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.info()),*
                }
            }

            fn guarantee(&self) -> Guarantee {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.guarantee()),*
                }
            }

            fn depth(&self) -> Depth {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.depth()),*
                }
            }

            fn measures(&self, depth: Depth) -> bool {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.measures(depth)),*
                }
            }

            fn may_block(&self) -> bool {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.may_block()),*
                }
            }

            fn can_split(&self, depth: Option<u32>) -> bool {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.can_split(depth)),*
                }
            }

            fn takes_any_branch(&self) -> bool {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.takes_any_branch()),*
                }
            }

            fn splits_exactly(&self) -> bool {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.splits_exactly()),*
                }
            }

            fn visits_every_state(&self) -> bool {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.visits_every_state()),*
                }
            }

            fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
                let own = match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.refusal(system, budget)),*
                };
                own.or_else(|| cannot_measure(self, budget))
                    .or_else(|| missing_states(self, system))
                    .or_else(|| misses_standstills(self, system))
                    .or_else(|| gains_nothing(self, system))
            }

            fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.explore(system, driver)),*
                }
            }
        }
    };
}

explorers! {
    udpor::Udpor,
    dpor::Optimal,
    dpor::Parsimonious,
    dpor::Source,
    dpor::Dpor,
    dpor::TransDpor,
    dpor::TransDporTool,
    dpor::DporNaive,
    dpor::DporForce,
    dpor::DporDs,
    dpor::Sleep,
    states::DlSPor,
    states::DeSPor,
    states::SPor,
    states::Portfolio,
    states::EveryState,
    dpor::Exhaustive,
}

impl Listed {
    /// The explorer with this name.
    pub fn named(name: &str) -> Result<&'static Listed, String> {
        EXPLORERS.iter().find(|explorer| explorer.info.name == name).ok_or_else(|| {
            let names: Vec<_> = EXPLORERS.iter().map(|explorer| explorer.info.name).collect();
            let names = names.join(", ");
            format!("there is no explorer `{name}`; there are: {names} (see `mazurka explorers`)")
        })
    }

    /// The explorer with these options.
    pub fn with(&self, options: &Options) -> AnyExplorer {
        (self.make)(options)
    }

    /// The explorer with its defaults.
    pub fn plain(&self) -> AnyExplorer {
        self.with(&Options::default())
    }
}
