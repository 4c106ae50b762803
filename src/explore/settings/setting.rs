//! Explorers with options: how they are written, read, and refused.
//!
//! ```text
//! udpor    udpor:k=2    dpor:order=lca+sleep-sets    udpor:order=random+seed=7
//! dl-s-por:without=summaries
//! ```

use std::fmt::{self, Display, Formatter};
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;
use std::thread;

use super::options::{OPTIONS, Options};
use super::table::{AnyExplorer, ByChance, Listed};
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile};
use crate::explore::order::Order;
use crate::explore::parallel::threads::InPieces;
use crate::explore::udpor::k::K;
use crate::model::System;

/// An explorer of the table, with options that it accepts.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    explorer: &'static Listed,
    options: Options,
}

impl Setting {
    /// The explorer with these options.
    ///
    /// # Errors
    /// A sentence, if an option has no meaning for the explorer.
    pub fn new(explorer: &'static Listed, options: Options) -> Result<Setting, String> {
        let Profile { name, takes, .. } = explorer.profile();
        let refusal = OPTIONS.iter().find_map(|option| option.refusal(name, &takes, &options));
        refusal.map_or(Ok(Setting { explorer, options }), Err)
    }

    /// The explorer with those of the options that it accepts. The others are dropped.
    pub fn with_what_fits(explorer: &'static Listed, options: Options) -> Setting {
        Setting { explorer, options: options.understood(&explorer.profile().takes) }
    }

    /// Fills in options that are not set yet. Options that the explorer does not accept are
    /// dropped.
    pub fn completed(self, options: Options) -> Setting {
        Setting {
            options: self.options.or(options.understood(&self.explorer.profile().takes)),
            ..self
        }
    }

    /// The explorer.
    pub fn explorer(&self) -> &'static Listed {
        self.explorer
    }

    /// The options that were given.
    pub fn options(&self) -> Options {
        self.options
    }

    /// One setting for each of these k, if the explorer takes a k and none was given; else only the
    /// setting itself.
    pub fn for_each_k(self, ks: &[K]) -> Vec<Setting> {
        if !self.explorer.profile().takes.contain("k") || self.options.k.is_some() || ks.is_empty()
        {
            return vec![self];
        }
        let with = |&k| Setting { options: Options { k: Some(k), ..self.options }, ..self };
        ks.iter().map(with).collect()
    }

    /// The setting without its k.
    pub fn without_k(self) -> Setting {
        Setting { options: Options { k: None, ..self.options }, ..self }
    }

    /// The setting without a number of threads.
    pub fn without_jobs(self) -> Setting {
        Setting { options: Options { jobs: None, ..self.options }, ..self }
    }

    /// The setting with one thread for each processor, if the explorer can use several threads and
    /// no number was given.
    pub fn on_all_processors(self) -> Setting {
        let processors = thread::available_parallelism().ok();
        let jobs = processors.and_then(|count| NonZeroU32::try_from(count).ok());
        self.completed(Options { jobs, ..Options::default() })
    }

    /// This number of executions by chance: by this explorer, or by `random` if it is another kind.
    ///
    /// # Panics
    /// If the number is 0.
    pub fn random(self, executions: u64) -> Setting {
        let executions = NonZeroU64::new(executions).expect("at least one execution");
        self.by_chance(Options { executions: Some(executions), ..Options::default() })
    }

    /// Executions by chance, by priorities of processes that are to find bugs of this depth.
    ///
    /// # Panics
    /// If the depth is 0.
    pub fn pct(self, bug_depth: u32) -> Setting {
        let bug_depth = NonZeroU32::new(bug_depth).expect("a depth of at least 1");
        let pct = Listed::named("pct").expect("an explorer");
        let options = Options { bug_depth: Some(bug_depth), ..self.by_chance_so_far() };
        Setting::with_what_fits(pct, options)
    }

    /// Executions by chance with this seed.
    pub fn seed(self, seed: u64) -> Setting {
        self.by_chance(Options { seed: Some(seed), ..Options::default() })
    }

    fn by_chance(self, options: Options) -> Setting {
        let explorer = match self.explorer.profile().samples {
            true => self.explorer,
            false => Listed::named("random").expect("an explorer"),
        };
        Setting::with_what_fits(explorer, options.or(self.by_chance_so_far()))
    }

    /// The options, if they are those of executions by chance.
    fn by_chance_so_far(&self) -> Options {
        if self.explorer.profile().samples { self.options } else { Options::default() }
    }

    /// The seed of the random choices; `None` if there are none.
    pub fn seed_used(&self) -> Option<u64> {
        match (self.options.order, self.made()) {
            (Some(Order::Random(seed)), _) => Some(seed),
            (_, AnyExplorer::ByChance(ByChance { seed, .. })) => Some(seed),
            _ => None,
        }
    }

    /// The depth of the bugs that priorities of processes are to find, if there are priorities.
    pub fn bug_depth(&self) -> Option<u32> {
        match self.made() {
            AnyExplorer::ByChance(ByChance { bug_depth, .. }) => bug_depth.map(NonZeroU32::get),
            _ => None,
        }
    }

    /// The k of the explorer; `None` if it has none.
    pub fn k(&self) -> Option<K> {
        self.explorer.profile().takes.contain("k").then(|| self.options.k.unwrap_or(K::Optimal))
    }

    /// The explorer with these options.
    pub fn made(&self) -> AnyExplorer {
        self.explorer.with(&self.options)
    }
}

impl From<ByChance> for Setting {
    fn from(by_chance: ByChance) -> Setting {
        let ByChance { executions, seed, bug_depth } = by_chance;
        let explorer = Listed::named(by_chance.profile().name).expect("an explorer");
        let options = Options { executions, seed: Some(seed), bug_depth, ..Options::default() };
        Setting::with_what_fits(explorer, options)
    }
}

impl Explorer for Setting {
    fn profile(&self) -> Profile {
        self.made().profile()
    }

    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        self.made().refusal(system, budget)
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let explorer = self.made();
        match self.options.jobs {
            Some(jobs) => InPieces::new(explorer, jobs).explore(system, driver),
            None => explorer.explore(system, driver),
        }
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let options = self.options.text();
        let colon = if options.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{options}", self.profile().name)
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(n, rest)| (n, Some(rest)));
        let explorer = Listed::named(name.trim())?;
        Setting::new(explorer, rest.map_or(Ok(Options::default()), Options::read)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::states::settings::{Switch, Switches};

    #[test]
    fn settings_are_written_as_they_are_read() {
        for text in [
            "udpor",
            "exhaustive",
            "udpor:k=2",
            "udpor:k=optimal+order=random+seed=7",
            "s-por:order=2.0.1",
            "transdpor:order=lca+over=configurations",
            "auto:jobs=3",
            "random:seed=7+executions=100",
            "pct:seed=7+executions=100+bug-depth=2",
            "dl-s-por:without=once+without=summaries+as-printed+histories+hash-compaction",
        ] {
            assert_eq!(text.parse::<Setting>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for (text, fragment) in [
            ("magic", "there is no explorer `magic`"),
            ("udpor:", "is not an option"),
            ("udpor:k", "is not an option"),
            ("udpor:k=0", "k is a number from 1 on"),
            ("udpor:order=best", "`best` is not an order"),
            ("udpor:seed=7", "--seed is for --order random"),
            ("exhaustive:seed=7", "`exhaustive` makes none"),
            ("udpor:executions=7", "`udpor` chooses nothing by chance"),
            ("random:executions=0", "`0` is not a number of executions"),
            ("random:bug-depth=2", "`random` has no priorities"),
            ("pct:bug-depth=0", "`0` is not a depth of bugs"),
            ("pct:jobs=2", "`pct` cannot"),
            ("random:order=random", "that makes no difference to `random`"),
            ("udpor:order=random+seed=x", "is not a seed"),
            ("udpor:sleep-sets", "cannot have any"),
            ("udpor:over=configurations", "`udpor` is not one of them"),
            ("dpor:over=events", "`events` is not something to walk along"),
            ("dpor:sleep-sets+over=configurations", "visits each configuration once"),
            ("exhaustive:k=1", "`exhaustive` has none"),
            ("exhaustive:order=lca", "that makes no difference to `exhaustive`"),
            ("stateful:order=lca", "stores states"),
            ("stateful:order=1,1", "is not an order"),
            ("stateful:order=16", "is not an order"),
            ("udpor:as-printed", "is for explorers that store states"),
            ("s-por:without=once", "`s-por` has no such thing, but safe-sets"),
            ("stateful:without=once", "`stateful` has no such thing, but live-variables"),
            ("dl-s-por:without=wings", "`wings` cannot be switched off"),
        ] {
            let refusal = text.parse::<Setting>().unwrap_err();
            assert!(refusal.contains(fragment), "{text}: {refusal}");
        }
    }

    #[test]
    fn executions_by_chance_are_set_up_in_any_order() {
        let auto: Setting = "auto:jobs=2".parse().unwrap();
        let both = "pct:seed=7+executions=9+bug-depth=2";
        assert_eq!(auto.random(9).pct(2).seed(7).to_string(), both);
        assert_eq!(auto.seed(7).pct(2).random(9).to_string(), both);
        assert_eq!(auto.random(9).to_string(), "random:executions=9");
    }

    #[test]
    fn options_that_do_not_fit_can_be_left_out() {
        let options = Options {
            k: Some(K::Partial(1)),
            order: Some(Order::Lca),
            sleep_sets: true,
            without: Switches::default().and(Switch::SafeSets).and(Switch::Once),
            ..Options::default()
        };
        let fits = |name| {
            let explorer = Listed::named(name).unwrap();
            Setting::with_what_fits(explorer, options).to_string()
        };
        assert_eq!(fits("udpor"), "udpor:k=1+order=lca");
        assert_eq!(fits("exhaustive"), "exhaustive");
        assert_eq!(fits("s-por"), "s-por:without=safe-sets");
    }
}
