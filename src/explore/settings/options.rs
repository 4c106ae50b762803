//! The options of explorers. From one table settings are read, written and refused, and the
//! arguments of the command line are made.
//!
//! An option is a field of [`Options`] and a row of [`OPTIONS`]. An explorer takes it by naming it
//! in its [`Takes`], and by reading the field when it is made.

use std::num::NonZeroU32;

use crate::explore::order::Order;
use crate::explore::states::settings::{Stateful, Switch, Switches};
use crate::explore::udpor::k::K;

/// What can be asked of an explorer. `Default` leaves everything to the explorer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// UDPOR's k.
    pub k: Option<K>,
    /// The order in which enabled actions are tried.
    pub order: Option<Order>,
    /// The seed of a random order; part of the order after [`Options::settled`].
    pub seed: Option<u64>,
    /// Adds sleep sets.
    pub sleep_sets: bool,
    /// What is switched off.
    pub without: Switches,
    /// A stateful explorer as the paper prints it.
    pub as_printed: bool,
    /// Histories of processes are part of states.
    pub histories: bool,
    /// Hashes instead of states.
    pub hash_compaction: bool,
    /// How many threads search at once.
    pub jobs: Option<NonZeroU32>,
}

/// Which options an explorer takes.
#[derive(Clone, Copy, Debug)]
pub struct Takes {
    /// The names of the options.
    pub options: &'static [&'static str],
    /// Which orders make a difference to it.
    pub orders: Orders,
    /// What can be switched off in it.
    pub switches: &'static [Switch],
    /// It already uses sleep sets, so they cannot be added.
    pub always_sleeps: bool,
}

impl Takes {
    /// No options.
    pub const NOTHING: Takes =
        Takes { options: &[], orders: Orders::None, switches: &[], always_sleeps: false };
    /// Any order.
    pub const ORDER: Takes =
        Takes { options: &["order", "seed"], orders: Orders::All, ..Takes::NOTHING };

    /// Any order, and how many pieces to search at once.
    pub const PIECES: Takes = Takes { options: &["order", "seed", "jobs"], ..Takes::ORDER };

    /// What an explorer that stores states takes, if these can be switched off in it.
    pub const fn of_stored(switches: &'static [Switch]) -> Takes {
        const OPTIONS: &[&str] =
            &["order", "seed", "without", "as-printed", "histories", "hash-compaction"];
        Takes { options: OPTIONS, orders: Orders::OfProcesses, switches, always_sleeps: false }
    }

    /// Is the option with this name among them?
    pub fn contain(&self, name: &str) -> bool {
        self.options.contains(&name)
    }

    /// The options that make a difference, without the seed, which is a part of the order.
    pub fn useful(&self) -> impl Iterator<Item = &'static OptionInfo> {
        OPTIONS.iter().filter(|option| self.contain(option.name) && option.name != "seed")
    }
}

impl Default for Takes {
    fn default() -> Takes {
        Takes::NOTHING
    }
}

/// Which orders make a difference to an explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// None: it takes enabled actions as they come.
    None,
    /// Orders of the processes, which can be told from a state.
    OfProcesses,
    /// Also orders by what is pending, which only an execution tells.
    All,
}

impl Orders {
    /// Is this order one of them?
    pub fn contain(self, order: Order) -> bool {
        match order {
            Order::Visited => self == Orders::OfProcesses,
            Order::Sequential(_) | Order::Random(_) => self != Orders::None,
            _ => self == Orders::All,
        }
    }
}

/// An option: how it is read, written and refused.
#[derive(Debug)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// Its letter on the command line.
    pub short: Option<char>,
    /// The name of its value; `None` for a flag.
    pub value: Option<&'static str>,
    /// All values, if there are few.
    pub values: fn() -> Vec<&'static str>,
    /// What it does, for a command line.
    pub help: &'static str,
    /// The message for an explorer that does not take it. `{}` stands for the explorer.
    stray: &'static str,
    /// Reads a value.
    pub read: fn(&mut Options, &str) -> Result<(), String>,
    /// The values that were given.
    pub given: fn(&Options) -> Vec<String>,
    /// Sets it to its value in other options.
    copy: fn(&mut Options, &Options),
    /// Why the given values mean nothing to an explorer that takes the option with other values.
    misfit: fn(&Takes, &Options) -> Option<String>,
}

impl OptionInfo {
    /// How it is written on a command line.
    pub fn flag(&self) -> String {
        self.short.map_or_else(|| format!("--{}", self.name), |letter| format!("-{letter}"))
    }

    /// Is it given?
    pub fn is_given(&self, options: &Options) -> bool {
        !(self.given)(options).is_empty()
    }

    /// Only this one of the options.
    pub fn alone(&self, options: &Options) -> Options {
        let mut alone = Options::default();
        (self.copy)(&mut alone, options);
        alone
    }

    /// Why the explorer with this name does not take the option as it was given.
    pub fn refusal(&self, name: &str, takes: &Takes, options: &Options) -> Option<String> {
        if !self.is_given(options) {
            return None;
        }
        let why = match takes.contain(self.name) {
            true => (self.misfit)(takes, options),
            false if self.name == "sleep-sets" && takes.always_sleeps => {
                Some("--sleep-sets adds sleep sets to an explorer; `{}` always has them".into())
            }
            false => Some(self.stray.into()),
        };
        why.map(|why| why.replace("{}", name))
    }
}

/// The most threads of a search.
const MOST_JOBS: u32 = 1_000;

/// What flags have in common with options for which every value is allowed.
const PLAIN: OptionInfo = OptionInfo {
    name: "",
    short: None,
    value: None,
    values: Vec::new,
    help: "",
    stray: "",
    read: |_, _| Ok(()),
    given: |_| Vec::new(),
    copy: |_, _| {},
    misfit: |_, _| None,
};

macro_rules! flag {
    ($field:ident, $name:literal, $stray:expr, $help:expr) => {
        OptionInfo {
            name: $name,
            help: $help,
            stray: $stray,
            read: |options, _| {
                options.$field = true;
                Ok(())
            },
            given: |options| options.$field.then(String::new).into_iter().collect(),
            copy: |to, from| to.$field = from.$field,
            ..PLAIN
        }
    };
}

macro_rules! storing {
    ($option:literal) => {
        concat!($option, " is for explorers that store states; `{}` does not")
    };
}

const ORDER_IS_IDLE: &str =
    "--order says which enabled actions are tried first; that makes no difference to `{}`";

/// All options, in the order in which they are written.
pub const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "k",
        short: Some('k'),
        value: Some("K"),
        help: "How thorough UDPOR's alternatives are: 1, 2, .. or `optimal` [default: optimal]",
        stray: "-k sets how thorough the alternatives of `udpor` are; `{}` has none",
        read: |options, value| value.parse().map(|k| options.k = Some(k)),
        given: |options| options.k.iter().map(K::to_string).collect(),
        copy: |to, from| to.k = from.k,
        ..PLAIN
    },
    OptionInfo {
        name: "order",
        value: Some("ORDER"),
        help: "Which enabled actions are tried first: those pending longest (fifo) or shortest (lifo), of the actor \
               or process created earliest (eca) or latest (lca), of the process with the lowest number (sequential), \
               of processes in the order of this list (2,0,1, counted from 0), of those first that lead to states met \
               before (visited), or any (random) [default: fifo; udpor: the least contended; explorers that store \
               states: sequential]",
        stray: ORDER_IS_IDLE,
        read: |options, value| value.parse().map(|order| options.order = Some(order)),
        given: |options| options.order.iter().map(Order::to_string).collect(),
        copy: |to, from| to.order = from.order,
        misfit: |takes, options| {
            options.order.filter(|&order| !takes.orders.contain(order))?;
            Some(match takes.orders {
                Orders::OfProcesses => {
                    "`{}` stores states, which do not tell what has been pending for how long: \
                     --order is `sequential`, processes such as 2,0,1, `visited`, or `random`"
                        .into()
                }
                _ => ORDER_IS_IDLE.into(),
            })
        },
        ..PLAIN
    },
    OptionInfo {
        name: "seed",
        value: Some("N"),
        help: "The seed of a random order: another seed, another order [default: 0]",
        stray: "--seed is for a random order; `{}` has none",
        read: |options, value| {
            let seed = value.parse().map_err(|_| format!("`{value}` is no seed: a number"))?;
            options.seed = Some(seed);
            Ok(())
        },
        given: |options| match options.order {
            Some(Order::Random(seed)) => vec![seed.to_string()],
            _ => Vec::new(),
        },
        ..PLAIN
    },
    flag!(
        sleep_sets,
        "sleep-sets",
        "--sleep-sets adds sleep sets to an explorer; `{}` cannot have any",
        "Add sleep sets to an explorer that can do without"
    ),
    OptionInfo {
        name: "without",
        value: Some("NAME"),
        values: || Switch::ALL.map(Switch::name).to_vec(),
        help: "Switch an optimisation off in an explorer that stores states, to measure what it is worth; may be \
               given several times",
        stray: storing!("--without"),
        read: |options, value| {
            options.without = options.without.and(value.parse()?);
            Ok(())
        },
        given: |options| options.without.names().map(str::to_owned).collect(),
        copy: |to, from| to.without = from.without,
        misfit: |takes, options| {
            let switches = takes.switches;
            let is_strange = |name: &&str| !switches.iter().any(|s| s.name() == *name);
            let stray = options.without.names().find(is_strange)?;
            let names = switches.iter().map(|switch| switch.name()).collect::<Vec<_>>().join(", ");
            Some(format!("--without {stray}: `{{}}` has no such thing, but {names}"))
        },
        ..PLAIN
    },
    flag!(
        as_printed,
        "as-printed",
        storing!("--as-printed"),
        "Run `s-por`, `de-s-por` or `dl-s-por` as the paper prints them, with locks as one blocking transition: they \
         may miss executions then"
    ),
    flag!(
        histories,
        "histories",
        storing!("--histories"),
        "Let a state tell what each process has gone through, not only where it is: more states, of explorers that \
         store them"
    ),
    flag!(
        hash_compaction,
        "hash-compaction",
        storing!("--hash-compaction"),
        "Keep a hash of each state instead of the state: less memory, but two states may be taken for one, so the \
         search is never complete"
    ),
    OptionInfo {
        name: "jobs",
        value: Some("N"),
        help: "How many threads explore, of `exhaustive`, `parsimonious`, `sleep` and `stateful`: the figures are the same for any \
               number [default: `check`: as many as there are processors; else 1]; how many searches `portfolio` runs at once \
               [default: as many as there are processors, 2 to 6]",
        stray: "--jobs is for explorers that can share their work, or run several searches; `{}` cannot",
        read: |options, value| {
            let jobs = value.parse().ok().filter(|jobs: &NonZeroU32| jobs.get() <= MOST_JOBS);
            let wrong = || format!("`{value}` is no number of jobs from 1 to {MOST_JOBS}");
            options.jobs = Some(jobs.ok_or_else(wrong)?);
            Ok(())
        },
        given: |options| options.jobs.iter().map(NonZeroU32::to_string).collect(),
        copy: |to, from| to.jobs = from.jobs,
        ..PLAIN
    },
];

/// The settings that they mean for a search that stores states.
impl From<&Options> for Stateful {
    fn from(options: &Options) -> Stateful {
        let &Options { without, as_printed, histories, hash_compaction, .. } = options;
        let order = options.order.unwrap_or(Stateful::default().order);
        Stateful { order, without, as_printed, histories, hash_compaction }
    }
}

impl Options {
    /// The options that an explorer takes, in its form.
    pub fn understood(self, takes: &Takes) -> Options {
        let mut understood = Options::default();
        for option in OPTIONS.iter().filter(|option| takes.contain(option.name)) {
            (option.copy)(&mut understood, &self);
        }
        understood.order = understood.order.filter(|&order| takes.orders.contain(order));
        understood.without = understood.without.among(takes.switches);
        understood
    }

    /// These options; those that are not given are as in `others`.
    pub fn or(self, others: Options) -> Options {
        let mut all = self;
        for option in OPTIONS.iter().filter(|option| !option.is_given(&self)) {
            (option.copy)(&mut all, &others);
        }
        all.without = self.without.or(others.without);
        all
    }

    /// The options with the seed as part of the order; `None` if there is no random order.
    pub fn settled(mut self) -> Option<Options> {
        match (self.order, self.seed.take()) {
            (Some(Order::Random(_)), Some(seed)) => self.order = Some(Order::Random(seed)),
            (_, Some(_)) => return None,
            (_, None) => {}
        }
        Some(self)
    }

    /// `k=2+order=lca+sleep-sets`
    pub fn read(text: &str) -> Result<Options, String> {
        let mut options = Options::default();
        for item in text.split('+').map(str::trim) {
            let (name, value) = item.split_once('=').map_or((item, None), |(n, v)| (n, Some(v)));
            let named = |option: &&OptionInfo| {
                option.name == name && option.value.is_some() == value.is_some()
            };
            let Some(option) = OPTIONS.iter().find(named) else {
                let all: Vec<_> = OPTIONS.iter().map(OptionInfo::form).collect();
                let all = all.join(", ");
                return Err(format!("`{item}` is no option of an explorer; there are: {all}"));
            };
            (option.read)(&mut options, value.unwrap_or_default())?;
        }
        options.settled().ok_or_else(|| "a seed is for the order `random`".into())
    }

    /// The options as text; empty if none is given.
    pub fn text(&self) -> String {
        let given = OPTIONS.iter().flat_map(|option| {
            let written = |value: String| match option.value {
                Some(_) => format!("{}={value}", option.name),
                None => option.name.to_owned(),
            };
            (option.given)(self).into_iter().map(written)
        });
        given.collect::<Vec<_>>().join("+")
    }
}

impl OptionInfo {
    fn form(&self) -> String {
        self.value.map_or_else(|| self.name.into(), |value| format!("{}={value}", self.name))
    }
}
