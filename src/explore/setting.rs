//! Explorers with options: how they are written, read, and refused.
//!
//! ```text
//! udpor    udpor:k=2    dpor:order=lca+sleep-sets    udpor:order=random+seed=7    dl-s-por:without=summaries
//! ```

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::registry::{Explorer, Options, Orders, SleepSets};
use super::{Guarantee, K, Method, Order, Permutation, Switch, Switches};
use crate::model::ProcessId;

/// An explorer with options that it takes.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    explorer: &'static Explorer,
    options: Options,
}

impl Setting {
    /// Refuses, with a sentence, an option that means nothing for the explorer.
    pub fn new(explorer: &'static Explorer, options: Options) -> Result<Setting, String> {
        let name = explorer.info.name;
        if options.k.is_some() && !explorer.takes_k {
            return Err(format!(
                "-k sets how thorough the alternatives of `udpor` are; `{name}` has none"
            ));
        }
        if let Some(order) = options.order {
            orderly(explorer, order)?;
        }
        storing(explorer, options)?;
        if options.jobs.is_some() && !explorer.takes_jobs {
            return Err(format!(
                "--jobs is for explorers that run several searches; `{name}` is one"
            ));
        }
        match explorer.sleep_sets {
            SleepSets::Never if options.sleep_sets => Err(format!(
                "--sleep-sets adds sleep sets to an explorer; `{name}` cannot have any"
            )),
            SleepSets::Always if options.sleep_sets => Err(format!(
                "--sleep-sets adds sleep sets to an explorer; `{name}` always has them"
            )),
            _ => Ok(Setting { explorer, options }),
        }
    }

    /// The explorer with those of the options that mean something for it.
    pub fn with_what_fits(explorer: &'static Explorer, options: Options) -> Setting {
        Setting { explorer, options: explorer.understood(options) }
    }

    /// The same; what was not asked for is taken from `options`, as far as it means something.
    pub fn completed(self, options: Options) -> Setting {
        let fitting = self.explorer.understood(options);
        let options = Options {
            k: self.options.k.or(fitting.k),
            order: self.options.order.or(fitting.order),
            sleep_sets: self.options.sleep_sets || fitting.sleep_sets,
            without: self.options.without.or(fitting.without),
            as_printed: self.options.as_printed || fitting.as_printed,
            histories: self.options.histories || fitting.histories,
            hash_compaction: self.options.hash_compaction || fitting.hash_compaction,
            jobs: self.options.jobs.or(fitting.jobs),
        };
        Setting { options, ..self }
    }

    /// The explorer.
    pub fn explorer(&self) -> &'static Explorer {
        self.explorer
    }

    /// The options that were given.
    pub fn options(&self) -> Options {
        self.options
    }

    /// What to run.
    pub fn method(&self) -> Method {
        (self.explorer.method)(self.options)
    }

    /// The same for each k, if it takes one and was not given its own; else as it is.
    pub fn for_each_k(self, ks: &[K]) -> Vec<Setting> {
        if !self.explorer.takes_k || self.options.k.is_some() || ks.is_empty() {
            return vec![self];
        }
        let with = |&k| Setting { options: Options { k: Some(k), ..self.options }, ..self };
        ks.iter().map(with).collect()
    }

    /// The same, with the k left open.
    pub fn without_k(self) -> Setting {
        Setting { options: Options { k: None, ..self.options }, ..self }
    }

    /// What a complete search promises.
    pub fn guarantee(&self) -> Guarantee {
        self.method().guarantee()
    }

    /// The k that the explorer works with; `None` if it has none.
    pub fn k(&self) -> Option<K> {
        self.explorer.takes_k.then(|| self.options.k.unwrap_or(K::Optimal))
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Options { k, order, sleep_sets, without, as_printed, histories, hash_compaction, jobs } =
            self.options;
        let mut options = Vec::new();
        options.extend(k.map(|k| format!("k={k}")));
        options.extend(order.map(|order| format!("order={order}")));
        if let Some(Order::Random(seed)) = order {
            options.push(format!("seed={seed}"));
        }
        options.extend(sleep_sets.then(|| "sleep-sets".to_owned()));
        options.extend(without.names().map(|name| format!("without={name}")));
        options.extend(jobs.map(|jobs| format!("jobs={jobs}")));
        options.extend(as_printed.then(|| "as-printed".to_owned()));
        options.extend(histories.then(|| "histories".to_owned()));
        options.extend(hash_compaction.then(|| "hash-compaction".to_owned()));
        let colon = if options.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.explorer.info.name, options.join("+"))
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(n, rest)| (n, Some(rest)));
        let explorer = Explorer::named(name.trim())?;
        Setting::new(explorer, rest.map_or(Ok(Options::default()), options)?)
    }
}

/// Does the order mean something for the explorer?
fn orderly(explorer: &Explorer, order: Order) -> Result<(), String> {
    let name = explorer.info.name;
    match explorer.orders {
        orders if orders.contain(order) => Ok(()),
        Orders::OfProcesses => Err(format!(
            "`{name}` stores states, which do not tell what has been pending for how long: \
             --order is `sequential`, processes such as 2,0,1, `visited`, or `random`"
        )),
        _ => Err(format!(
            "--order says which enabled actions are tried first; that makes no difference to `{name}`"
        )),
    }
}

/// Do the options for searches that store states mean something for it?
fn storing(explorer: &Explorer, options: Options) -> Result<(), String> {
    let name = explorer.info.name;
    let Some(switches) = explorer.switches else {
        let given = [
            (options.without != Switches::default(), "--without"),
            (options.as_printed, "--as-printed"),
            (options.histories, "--histories"),
            (options.hash_compaction, "--hash-compaction"),
        ];
        let stray = given.into_iter().find(|&(is_given, _)| is_given);
        return stray.map_or(Ok(()), |(_, option)| {
            Err(format!("{option} is for explorers that store states; `{name}` does not"))
        });
    };
    match options.without.names().find(|stray| !switches.iter().any(|s| s.name() == *stray)) {
        None => Ok(()),
        Some(stray) if switches.is_empty() => {
            Err(format!("--without {stray}: there is nothing to switch off in `{name}`"))
        }
        Some(stray) => {
            let names: Vec<_> = switches.iter().map(|switch| switch.name()).collect();
            let names = names.join(", ");
            Err(format!("--without {stray}: `{name}` has no such thing, but {names}"))
        }
    }
}

/// `k=2+order=lca+sleep-sets`
fn options(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    let mut seed = None;
    for item in text.split('+').map(str::trim) {
        match item.split_once('=') {
            Some(("k", value)) => options.k = Some(value.parse()?),
            Some(("order", value)) => options.order = Some(value.parse()?),
            Some(("seed", value)) => {
                seed = Some(value.parse().map_err(|_| format!("`{value}` is no seed: a number"))?);
            }
            Some(("jobs", value)) => {
                let jobs = value.parse().map_err(|_| format!("`{value}` is no number of jobs"))?;
                options.jobs = Some(jobs);
            }
            Some(("without", name)) => options.without = options.without.and(name.parse()?),
            None if item == "sleep-sets" => options.sleep_sets = true,
            None if item == "as-printed" => options.as_printed = true,
            None if item == "histories" => options.histories = true,
            None if item == "hash-compaction" => options.hash_compaction = true,
            _ => {
                return Err(format!(
                    "`{item}` is no option of an explorer; there are: k=K, order=ORDER, seed=N, \
                     sleep-sets, without=NAME, as-printed, histories, hash-compaction, jobs=N"
                ));
            }
        }
    }
    options.order = seeded(options.order, seed)?;
    Ok(options)
}

/// The order with the seed of its chances.
pub fn seeded(order: Option<Order>, seed: Option<u64>) -> Result<Option<Order>, String> {
    match (order, seed) {
        (Some(Order::Random(_)), Some(seed)) => Ok(Some(Order::Random(seed))),
        (_, Some(_)) => Err("a seed is for the order `random`".into()),
        (order, None) => Ok(order),
    }
}

impl Display for K {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            K::Partial(k) => write!(f, "{k}"),
            K::Optimal => f.write_str("optimal"),
        }
    }
}

impl FromStr for K {
    type Err = String;

    fn from_str(text: &str) -> Result<K, String> {
        match text.parse() {
            _ if text == "optimal" => Ok(K::Optimal),
            Ok(k) if k > 0 => Ok(K::Partial(k)),
            _ => Err("k is a number from 1 on, or `optimal`".into()),
        }
    }
}

impl Order {
    /// Those with a name, with the seed 0 where there is one.
    pub const ALL: [Order; 7] = [
        Order::Fifo,
        Order::Eca,
        Order::Lca,
        Order::Lifo,
        Order::Sequential(Permutation::BY_NUMBER),
        Order::Visited,
        Order::Random(0),
    ];

    /// Its kind on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Order::Fifo => "fifo",
            Order::Eca => "eca",
            Order::Lca => "lca",
            Order::Lifo => "lifo",
            Order::Sequential(_) => "sequential",
            Order::Visited => "visited",
            Order::Random(_) => "random",
        }
    }
}

/// The name; of a sequential one the processes it lists, as `2.0.1`.
impl Display for Order {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Order::Sequential(permutation) if *permutation != Permutation::BY_NUMBER => {
                let listed: Vec<_> = permutation.processes().map(|p| p.0.to_string()).collect();
                // No comma: those part explorers.
                f.write_str(&listed.join("."))
            }
            order => f.write_str(order.name()),
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        let named = Order::ALL.into_iter().find(|order| order.name() == text);
        named.or_else(|| permutation(text).map(Order::Sequential)).ok_or_else(|| {
            let names = Order::ALL.map(Order::name).join(", ");
            format!(
                "`{text}` is no order; there are: {names}, and processes by number such as 2,0,1 (each once, \
                 below {})",
                Permutation::LIMIT
            )
        })
    }
}

/// `2,0,1` or `2.0.1`
fn permutation(text: &str) -> Option<Permutation> {
    let numbers: Result<Vec<u32>, _> = text.split([',', '.']).map(str::parse).collect();
    let processes: Vec<_> = numbers.ok()?.into_iter().map(ProcessId).collect();
    Permutation::new(&processes)
}

impl FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Switch, String> {
        let found = Switch::ALL.into_iter().find(|switch| switch.name() == text);
        found.ok_or_else(|| {
            let names = Switch::ALL.map(Switch::name).join(", ");
            format!("`{text}` cannot be switched off; there are: {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_as_they_are_read() {
        for text in [
            "udpor",
            "exhaustive",
            "udpor:k=2",
            "udpor:k=optimal+order=random+seed=7",
            "s-por:order=2.0.1",
            "portfolio:jobs=3",
            "dl-s-por:without=once+without=summaries+as-printed+histories+hash-compaction",
        ] {
            assert_eq!(text.parse::<Setting>().unwrap().to_string(), text);
        }
        let setting: Setting = "udpor:order=lca".parse().unwrap();
        assert_eq!(setting.method(), Method::UdporIn(Order::Lca, K::Optimal));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for (text, fragment) in [
            ("magic", "there is no explorer `magic`"),
            ("udpor:", "is no option"),
            ("udpor:k", "is no option"),
            ("udpor:k=0", "k is a number from 1 on"),
            ("udpor:order=best", "`best` is no order"),
            ("udpor:seed=7", "a seed is for the order `random`"),
            ("udpor:order=random+seed=x", "is no seed"),
            ("udpor:sleep-sets", "cannot have any"),
            ("exhaustive:k=1", "`exhaustive` has none"),
            ("exhaustive:order=lca", "makes no difference to `exhaustive`"),
            ("stateful:order=lca", "stores states"),
            ("stateful:order=1,1", "is no order"),
            ("stateful:order=16", "is no order"),
            ("udpor:as-printed", "is for explorers that store states"),
            ("s-por:without=once", "`s-por` has no such thing, but safe-sets"),
            ("stateful:without=once", "there is nothing to switch off in `stateful`"),
            ("dl-s-por:without=wings", "`wings` cannot be switched off"),
        ] {
            let refusal = text.parse::<Setting>().unwrap_err();
            assert!(refusal.contains(fragment), "{text}: {refusal}");
        }
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
            let explorer = Explorer::named(name).unwrap();
            Setting::with_what_fits(explorer, options).to_string()
        };
        assert_eq!(fits("udpor"), "udpor:k=1+order=lca");
        assert_eq!(fits("exhaustive"), "exhaustive");
        assert_eq!(fits("s-por"), "s-por:without=safe-sets");
    }
}
