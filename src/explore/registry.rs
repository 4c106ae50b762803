//! The explorers by name: what each is, which options it takes, and the [`Method`] that they make.
//!
//! This is the one table of them. A command line, a study and a report all name an explorer by a
//! [`Setting`], which is written and read as
//!
//! ```text
//! udpor    udpor:k=2    dpor:order=lca+sleep-sets    udpor:order=random+seed=7
//! ```

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::{Guarantee, Info, K, Method, Order, Scheduling};
use super::{dpor, dpor_ds, exhaustive, optimal_dpor, sleep_sets, source_dpor, trans_dpor, udpor};

/// An explorer as others choose it.
#[derive(Debug)]
pub struct Explorer {
    /// What is known of it before it runs.
    pub info: Info,
    /// Does it look for alternatives, with a k?
    pub takes_k: bool,
    /// Does the order in which enabled actions are tried make a difference to it?
    pub takes_order: bool,
    /// What it does with sleep sets.
    pub sleep_sets: SleepSets,
    method: fn(Options) -> Method,
}

/// What an explorer does with sleep sets (Godefroid, LNCS 1032, 1996).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepSets {
    /// It has none.
    Never,
    /// It has them if asked to.
    Optional,
    /// It is made of them.
    Always,
}

/// What can be asked of an explorer. `Default` leaves everything to the explorer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// UDPOR's k.
    pub k: Option<K>,
    /// The order in which enabled actions are tried.
    pub order: Option<Order>,
    /// With sleep sets on top.
    pub sleep_sets: bool,
}

/// The explorers that exist.
pub const EXPLORERS: &[Explorer] = &[
    Explorer {
        info: udpor::INFO,
        takes_k: true,
        takes_order: true,
        sleep_sets: SleepSets::Never,
        method: |options| {
            let k = options.k.unwrap_or(K::Optimal);
            options.order.map_or(Method::Udpor(k), |order| Method::UdporIn(order, k))
        },
    },
    ordered(optimal_dpor::INFO, |options| Method::Optimal(options.order())),
    ordered(source_dpor::INFO, |options| Method::Source(options.order())),
    scheduled(dpor::INFO, |options| Method::Dpor(options.scheduling())),
    scheduled(trans_dpor::INFO, |options| Method::TransDpor(options.scheduling())),
    scheduled(trans_dpor::tool::INFO, |options| Method::TransDporTool(options.scheduling())),
    unslept(dpor_ds::NAIVE, |options| Method::DporNaive(options.order())),
    unslept(dpor_ds::FORCE, |options| Method::DporForce(options.order())),
    ordered(dpor_ds::DS, |options| Method::DporDs(options.order())),
    ordered(sleep_sets::INFO, |options| Method::Sleep(options.order())),
    Explorer {
        info: exhaustive::INFO,
        takes_k: false,
        takes_order: false,
        sleep_sets: SleepSets::Never,
        method: |_| Method::Exhaustive,
    },
];

/// One that takes an order, and is made of sleep sets.
const fn ordered(info: Info, method: fn(Options) -> Method) -> Explorer {
    let sleep_sets = SleepSets::Always;
    Explorer { info, takes_k: false, takes_order: true, sleep_sets, method }
}

/// One that takes an order, and has no sleep sets.
const fn unslept(info: Info, method: fn(Options) -> Method) -> Explorer {
    let sleep_sets = SleepSets::Never;
    Explorer { info, takes_k: false, takes_order: true, sleep_sets, method }
}

/// One that takes an order, and sleep sets if asked to.
const fn scheduled(info: Info, method: fn(Options) -> Method) -> Explorer {
    let sleep_sets = SleepSets::Optional;
    Explorer { info, takes_k: false, takes_order: true, sleep_sets, method }
}

impl Options {
    fn order(self) -> Order {
        self.order.unwrap_or_default()
    }

    fn scheduling(self) -> Scheduling {
        Scheduling { order: self.order(), sleep_sets: self.sleep_sets }
    }
}

impl Explorer {
    /// The explorer of that name.
    pub fn named(name: &str) -> Result<&'static Explorer, String> {
        EXPLORERS.iter().find(|explorer| explorer.info.name == name).ok_or_else(|| {
            let names: Vec<_> = EXPLORERS.iter().map(|explorer| explorer.info.name).collect();
            let names = names.join(", ");
            format!("there is no explorer `{name}`; there are: {names} (see `mazurka explorers`)")
        })
    }

    /// Those of the options that mean something for this explorer.
    pub fn understood(&self, options: Options) -> Options {
        Options {
            k: options.k.filter(|_| self.takes_k),
            order: options.order.filter(|_| self.takes_order),
            sleep_sets: options.sleep_sets && self.sleep_sets == SleepSets::Optional,
        }
    }
}

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
        if options.order.is_some() && !explorer.takes_order {
            return Err(format!(
                "--order says which enabled actions are tried first; that makes no difference to `{name}`"
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
        let Options { k, order, sleep_sets } = self.options;
        let mut options = Vec::new();
        options.extend(k.map(|k| format!("k={k}")));
        options.extend(order.map(|order| format!("order={}", order.name())));
        if let Some(Order::Random(seed)) = order {
            options.push(format!("seed={seed}"));
        }
        options.extend(sleep_sets.then(|| "sleep-sets".to_owned()));
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
            None if item == "sleep-sets" => options.sleep_sets = true,
            _ => {
                return Err(format!(
                    "`{item}` is no option of an explorer; there are: k=K, order=ORDER, seed=N, sleep-sets"
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
    /// All of them, with the seed 0 where there is one.
    pub const ALL: [Order; 5] =
        [Order::Fifo, Order::Eca, Order::Lca, Order::Lifo, Order::Random(0)];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Order::Fifo => "fifo",
            Order::Eca => "eca",
            Order::Lca => "lca",
            Order::Lifo => "lifo",
            Order::Random(_) => "random",
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        Order::ALL.into_iter().find(|order| order.name() == text).ok_or_else(|| {
            let names = Order::ALL.map(Order::name).join(", ");
            format!("`{text}` is no order; there are: {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_as_they_are_read() {
        for text in ["udpor", "exhaustive", "udpor:k=2", "udpor:k=optimal+order=random+seed=7"] {
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
        ] {
            let refusal = text.parse::<Setting>().unwrap_err();
            assert!(refusal.contains(fragment), "{text}: {refusal}");
        }
    }

    #[test]
    fn options_that_do_not_fit_can_be_left_out() {
        let options = Options { k: Some(K::Partial(1)), order: Some(Order::Lca), sleep_sets: true };
        let fits = |name| {
            let explorer = Explorer::named(name).unwrap();
            Setting::with_what_fits(explorer, options).to_string()
        };
        assert_eq!(fits("udpor"), "udpor:k=1+order=lca");
        assert_eq!(fits("exhaustive"), "exhaustive");
    }
}
