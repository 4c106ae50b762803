//! The options of explorers. One table defines how options are read, written and refused, and from
//! it the arguments of the command line are made.
//!
//! An option is a field of [`Options`] and a row of [`OPTIONS`]. An explorer accepts it by naming
//! it in its [`Takes`], and reads the field when it is constructed.

use std::num::{NonZeroU32, NonZeroU64};

use crate::explore::order::Order;
use crate::explore::over::Over;
use crate::explore::states::settings::{Stateful, Switch, Switches};
use crate::explore::udpor::k::K;

/// The options of an explorer. `Default` leaves each to the explorer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How thorough UDPOR's alternatives are.
    pub k: Option<K>,
    /// The order in which enabled actions are tried.
    pub order: Option<Order>,
    /// The seed of random choices. [`Options::settled`] moves that of a random order into `order`.
    pub seed: Option<u64>,
    /// The number of executions that are chosen by chance.
    pub executions: Option<NonZeroU64>,
    /// The depth of the bugs that priorities of processes are to find.
    pub bug_depth: Option<NonZeroU32>,
    /// Are sleep sets added?
    pub sleep_sets: bool,
    /// What DPOR and TransDPOR walk along.
    pub over: Option<Over>,
    /// The optimisations that are switched off.
    pub without: Switches,
    /// Does a stateful explorer run as printed in the paper?
    pub as_printed: bool,
    /// Are the histories of processes part of states?
    pub histories: bool,
    /// Are hashes stored instead of states?
    pub hash_compaction: bool,
    /// The number of threads.
    pub jobs: Option<NonZeroU32>,
}

/// The options that an explorer accepts.
#[derive(Clone, Copy, Debug)]
pub struct Takes {
    /// The names of the options.
    pub options: &'static [&'static str],
    /// The orders that make a difference to it.
    pub orders: Orders,
    /// The optimisations that can be switched off in it.
    pub switches: &'static [Switch],
    /// Does it always use sleep sets, so that they cannot be added?
    pub always_sleeps: bool,
}

impl Takes {
    /// No options.
    pub const NOTHING: Takes =
        Takes { options: &[], orders: Orders::None, switches: &[], always_sleeps: false };
    /// Any order.
    pub const ORDER: Takes =
        Takes { options: &["order", "seed"], orders: Orders::All, ..Takes::NOTHING };

    /// Any order, and the number of threads that explore pieces.
    pub const PIECES: Takes = Takes { options: &["order", "seed", "jobs"], ..Takes::ORDER };

    /// The options of an explorer that stores states and in which `switches` can be switched off.
    pub const fn of_stored(switches: &'static [Switch]) -> Takes {
        const OPTIONS: &[&str] =
            &["order", "seed", "without", "as-printed", "histories", "hash-compaction"];
        Takes { options: OPTIONS, orders: Orders::OfProcesses, switches, always_sleeps: false }
    }

    /// Is the option with this name accepted?
    pub fn contain(&self, name: &str) -> bool {
        self.options.contains(&name)
    }

    /// The accepted options, without a seed that is part of the order.
    pub fn useful(&self) -> impl Iterator<Item = &'static OptionInfo> {
        let is_apart = |name: &str| name != "seed" || !self.contain("order");
        OPTIONS.iter().filter(move |option| self.contain(option.name) && is_apart(option.name))
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
    /// None: it tries enabled actions in the order of the model.
    None,
    /// Orders of the processes, which depend only on a state.
    OfProcesses,
    /// Also orders by the time that actions have been pending, which depend on an execution.
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
    /// Its help text on the command line.
    pub help: &'static str,
    /// The message for an explorer that does not accept it. `{}` stands for the name of the
    /// explorer.
    stray: &'static str,
    /// Reads a value.
    pub read: fn(&mut Options, &str) -> Result<(), String>,
    /// The values that were given, as text; an empty text for a flag.
    pub given: fn(&Options) -> Vec<String>,
    /// Copies its value from the second options to the first.
    copy: fn(&mut Options, &Options),
    /// Why an explorer that accepts the option does not accept the given values; `None` if it does.
    misfit: fn(&Takes, &Options) -> Option<String>,
}

impl OptionInfo {
    /// How it is written on a command line.
    pub fn flag(&self) -> String {
        self.short.map_or_else(|| format!("--{}", self.name), |letter| format!("-{letter}"))
    }

    /// Was a value given?
    pub fn is_given(&self, options: &Options) -> bool {
        !(self.given)(options).is_empty()
    }

    /// These options reduced to this one.
    pub fn alone(&self, options: &Options) -> Options {
        let mut alone = Options::default();
        (self.copy)(&mut alone, options);
        alone
    }

    /// A sentence that says why the explorer with this name does not accept the option as given;
    /// `None` if it does, or if the option was not given.
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

/// The defaults of the fields of an option, for one without a value or with any value.
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
    "--order sets which enabled actions are tried first; that makes no difference to `{}`";

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
               of processes in the order of this list (2,0,1, counted from 0), those that lead to stored states \
               (visited), or random ones (random) [default: fifo; udpor: the least contended; explorers that store \
               states: sequential]",
        stray: ORDER_IS_IDLE,
        read: |options, value| value.parse().map(|order| options.order = Some(order)),
        given: |options| options.order.iter().map(Order::to_string).collect(),
        copy: |to, from| to.order = from.order,
        misfit: |takes, options| {
            options.order.filter(|&order| !takes.orders.contain(order))?;
            Some(match takes.orders {
                Orders::OfProcesses => {
                    "`{}` stores states, which do not record how long an action has been pending: \
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
        help: "The seed of a random order, or of `random` and `pct`: another seed, another order or other executions \
               [default: 0]",
        stray: "--seed is for random choices; `{}` makes none",
        read: |options, value| {
            let seed = value.parse().map_err(|_| format!("`{value}` is not a seed: a number"))?;
            options.seed = Some(seed);
            Ok(())
        },
        given: |options| match options.order {
            Some(Order::Random(seed)) => vec![seed.to_string()],
            _ => options.seed.iter().map(u64::to_string).collect(),
        },
        copy: |to, from| to.seed = from.seed,
        misfit: |takes, options| {
            let is_idle = takes.contain("order") && options.seed.is_some();
            is_idle.then(|| "--seed is for --order random, or for `random` and `pct`".into())
        },
        ..PLAIN
    },
    OptionInfo {
        name: "executions",
        value: Some("N"),
        help: "The number of executions of `random` and `pct`, also counting those that are cut [default: 10000; with \
               --timeout or --max-traces: as many as these allow]",
        stray: "--executions is for `random` and `pct`; `{}` chooses nothing by chance",
        read: |options, value| {
            let wrong = |_| format!("`{value}` is not a number of executions, from 1 on");
            options.executions = Some(value.parse().map_err(wrong)?);
            Ok(())
        },
        given: |options| options.executions.iter().map(NonZeroU64::to_string).collect(),
        copy: |to, from| to.executions = from.executions,
        ..PLAIN
    },
    OptionInfo {
        name: "bug-depth",
        value: Some("D"),
        help: "The depth of the bugs that `pct` is to find: the number of pairs of steps whose order matters. A process \
               loses its priority D - 1 times in an execution [default: 3]",
        stray: "--bug-depth is for `pct`; `{}` has no priorities",
        read: |options, value| {
            let wrong = |_| format!("`{value}` is not a depth of bugs, from 1 on");
            options.bug_depth = Some(value.parse().map_err(wrong)?);
            Ok(())
        },
        given: |options| options.bug_depth.iter().map(NonZeroU32::to_string).collect(),
        copy: |to, from| to.bug_depth = from.bug_depth,
        ..PLAIN
    },
    flag!(
        sleep_sets,
        "sleep-sets",
        "--sleep-sets adds sleep sets to an explorer; `{}` cannot have any",
        "Add sleep sets to an explorer in which they are optional"
    ),
    OptionInfo {
        name: "over",
        value: Some("WHAT"),
        values: || Over::ALL.map(Over::name).to_vec(),
        help: "What `dpor` and `transdpor` walk along: executions, or configurations of the unfolding, each of them \
               once [default: executions]",
        stray: "--over is for `dpor` and `transdpor`; `{}` is not one of them",
        read: |options, value| value.parse().map(|over| options.over = Some(over)),
        given: |options| options.over.iter().map(Over::to_string).collect(),
        copy: |to, from| to.over = from.over,
        misfit: |_, options| {
            let is_useless = options.sleep_sets && options.over == Some(Over::Configurations);
            is_useless.then(|| {
                "`{}` over configurations visits each configuration once, so --sleep-sets makes no difference"
                    .into()
            })
        },
        ..PLAIN
    },
    OptionInfo {
        name: "without",
        value: Some("NAME"),
        values: || Switch::ALL.map(Switch::name).to_vec(),
        help: "Switch an optimisation off in an explorer that stores states, to measure its effect; may be \
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
        "Make the history of each process part of a state, in explorers that store states: there are more states \
         then"
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
        help: "The number of threads of `auto`, `exhaustive`, `parsimonious`, `sleep` and `stateful`: the figures are the same for \
               any number [default: `check`: as many as there are processors; else 1]",
        stray: "--jobs is for explorers that can share their work; `{}` cannot",
        read: |options, value| {
            let jobs = value.parse().ok().filter(|jobs: &NonZeroU32| jobs.get() <= MOST_JOBS);
            let wrong = || format!("`{value}` is not a number of jobs from 1 to {MOST_JOBS}");
            options.jobs = Some(jobs.ok_or_else(wrong)?);
            Ok(())
        },
        given: |options| options.jobs.iter().map(NonZeroU32::to_string).collect(),
        copy: |to, from| to.jobs = from.jobs,
        ..PLAIN
    },
];

/// The part of the options that matters to a search that stores states.
impl From<&Options> for Stateful {
    fn from(options: &Options) -> Stateful {
        let &Options { without, as_printed, histories, hash_compaction, .. } = options;
        let order = options.order.unwrap_or(Stateful::default().order);
        Stateful { order, without, as_printed, histories, hash_compaction }
    }
}

impl Options {
    /// Those of the options and values that an explorer accepts.
    pub fn understood(self, takes: &Takes) -> Options {
        let mut understood = Options::default();
        for option in OPTIONS.iter().filter(|option| takes.contain(option.name)) {
            (option.copy)(&mut understood, &self);
        }
        understood.order = understood.order.filter(|&order| takes.orders.contain(order));
        understood.seed = understood.seed.filter(|_| !takes.contain("order"));
        understood.without = understood.without.among(takes.switches);
        understood
    }

    /// These options; an option that is not given is taken from `others`.
    pub fn or(self, others: Options) -> Options {
        let mut all = self;
        for option in OPTIONS.iter().filter(|option| !option.is_given(&self)) {
            (option.copy)(&mut all, &others);
        }
        all.without = self.without.or(others.without);
        all
    }

    /// Moves the seed into the order, if the order is random.
    pub fn settled(mut self) -> Options {
        if let (Some(Order::Random(seed)), Some(given)) = (&mut self.order, self.seed) {
            *seed = given;
            self.seed = None;
        }
        self
    }

    /// Reads options as text, such as `k=2+order=lca+sleep-sets`.
    ///
    /// # Errors
    /// A sentence, if an option is unknown or a value cannot be read.
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
                return Err(format!("`{item}` is not an option of an explorer; there are: {all}"));
            };
            (option.read)(&mut options, value.unwrap_or_default())?;
        }
        Ok(options.settled())
    }

    /// The given options as text, as [`Options::read`] reads it; empty if none is given.
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
