//! The one table of explorers.
//!
//! Everything that names explorers reads this table: the command line, `compare`, studies, reports
//! and the matrix of the tests. Explorers that run executions by chance are in a list of their own:
//! they have names like the others, but comparisons take them only if they are named.
//!
//! To add an explorer, write a file with its type (whose fields are its options), `impl Explorer`
//! for it, and a constructor that takes [`Options`]. Then add the type and the constructor to the
//! list below.
//!
//! An explorer is generic over systems, so the table cannot hold trait objects. It holds functions
//! that make an [`AnyExplorer`]: an enum of all the types in the list, which forwards each call to
//! its variant. Explorers of other crates are not in the table;
//! [`explore`](crate::explore::explore) runs them, too.

use super::options::Options;
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile, refusal_by};
use crate::model::System;

/// A row of the table.
#[derive(Debug)]
pub struct Listed {
    make: fn(&Options) -> AnyExplorer,
}

macro_rules! explorers {
    (
        systematic { $($module:ident :: $explorer:ident: $($make:ident),+;)* }
        by_chance { $sampling:ident :: $sampler:ident: $($how:ident),+; }
    ) => {
        pub use crate::explore::$sampling::$sampler;
        $(pub use crate::explore::$module::$explorer;)*

        /// Any explorer of the table.
        #[derive(Clone, Copy, Debug)]
        pub enum AnyExplorer {
            $(#[doc = concat!("`", stringify!($explorer), "`")] $explorer($explorer),)*
            #[doc = concat!("`", stringify!($sampler), "`")] $sampler($sampler),
        }

        $(impl From<$explorer> for AnyExplorer {
            fn from(explorer: $explorer) -> Self {
                AnyExplorer::$explorer(explorer)
            }
        })*

        impl From<$sampler> for AnyExplorer {
            fn from(explorer: $sampler) -> Self {
                AnyExplorer::$sampler(explorer)
            }
        }

        /// The systematic explorers, in the order in which they are listed to users.
        pub const EXPLORERS: &[Listed] = &[$($(Listed {
            make: |options| AnyExplorer::$explorer($explorer::$make(options)),
        }),+),*];

        /// The explorers that run executions by chance. What compares or measures all explorers
        /// leaves them out, because no search by them is complete.
        pub const SAMPLERS: &[Listed] = &[$(Listed {
            make: |options| AnyExplorer::$sampler($sampler::$how(options)),
        }),+];

        impl Explorer for AnyExplorer {
            fn profile(&self) -> Profile {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.profile(),)*
                    AnyExplorer::$sampler(explorer) => explorer.profile(),
                }
            }

            fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
                match self {
                    $(AnyExplorer::$explorer(explorer) => refusal_by(explorer, system, budget),)*
                    AnyExplorer::$sampler(explorer) => refusal_by(explorer, system, budget),
                }
            }

            fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
                match self {
                    $(AnyExplorer::$explorer(explorer) => explorer.explore(system, driver),)*
                    AnyExplorer::$sampler(explorer) => explorer.explore(system, driver),
                }
            }
        }
    };
}

explorers! {
    systematic {
        auto::Auto: new;
        udpor::Udpor: new;
        dpor::Optimal: new;
        dpor::Parsimonious: new;
        dpor::Source: new;
        dpor::Dpor: new;
        dpor::TransDpor: published, of_tool;
        dpor::DporDs: naive, force, completed;
        dpor::Sleep: new;
        states::SPor: lazy, eager, safe;
        states::Fused: new;
        prefix::FinitePrefix: new;
        states::EveryState: new;
        states::Fair: new;
        dpor::Exhaustive: new;
    }
    by_chance {
        sampling::ByChance: uniform, by_priorities;
    }
}

impl Listed {
    /// All explorers: the systematic ones, then those that run executions by chance.
    pub fn all() -> impl Iterator<Item = &'static Listed> {
        EXPLORERS.iter().chain(SAMPLERS)
    }

    /// The explorer with this name.
    ///
    /// # Errors
    /// A sentence that lists the names, if there is none.
    pub fn named(name: &str) -> Result<&'static Listed, String> {
        Listed::all().find(|explorer| explorer.profile().name == name).ok_or_else(|| {
            let names: Vec<_> = Listed::all().map(|explorer| explorer.profile().name).collect();
            let names = names.join(", ");
            format!("there is no explorer `{name}`; there are: {names} (see `mazurka explorers`)")
        })
    }

    /// The explorer with these options.
    pub fn with(&self, options: &Options) -> AnyExplorer {
        (self.make)(options)
    }

    /// The profile of the explorer with default options.
    pub fn profile(&self) -> Profile {
        self.plain().profile()
    }

    /// The explorer with default options.
    pub fn plain(&self) -> AnyExplorer {
        self.with(&Options::default())
    }
}
