//! The explorers by name: what each is, which options it takes, and the [`Method`] that they make.
//!
//! This is the one table of them. A command line, a study and a report all name an explorer by a
//! [`Setting`](super::Setting).

use std::num::NonZeroU32;

use super::{Depth, Info, K, Method, Order, Permutation, Scheduling, Stateful, Switch, Switches};
use super::{de_s_por, dl_s_por, portfolio, s_por, stateful};
use super::{dpor, dpor_ds, exhaustive, optimal_dpor, sleep_sets, source_dpor, trans_dpor, udpor};

/// An explorer as others choose it.
#[derive(Debug)]
pub struct Explorer {
    /// What is known of it before it runs.
    pub info: Info,
    /// Does it look for alternatives, with a k?
    pub takes_k: bool,
    /// Which orders make a difference to it.
    pub orders: Orders,
    /// What it does with sleep sets.
    pub sleep_sets: SleepSets,
    /// What can be switched off in it, if it stores states.
    pub switches: Option<&'static [Switch]>,
    /// Does it run several searches at once?
    pub takes_jobs: bool,
    pub(super) method: fn(Options) -> Method,
}

/// Which orders mean something for an explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// None: it takes what is enabled as it comes.
    None,
    /// Orders of the processes, which a state tells.
    OfProcesses,
    /// Also those by what is pending, which only an execution tells.
    All,
}

impl Orders {
    /// Is this one of them?
    pub fn contain(self, order: Order) -> bool {
        match order {
            Order::Visited => self == Orders::OfProcesses,
            Order::Sequential(_) | Order::Random(_) => self != Orders::None,
            _ => self == Orders::All,
        }
    }
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
    /// What is switched off.
    pub without: Switches,
    /// A stateful explorer as the paper prints it.
    pub as_printed: bool,
    /// Histories of processes as a part of states.
    pub histories: bool,
    /// Hashes instead of states.
    pub hash_compaction: bool,
    /// How many searches to run at once.
    pub jobs: Option<NonZeroU32>,
}

/// The explorers that exist.
pub const EXPLORERS: &[Explorer] = &[
    Explorer {
        takes_k: true,
        ..unslept(udpor::INFO, |options| {
            let k = options.k.unwrap_or(K::Optimal);
            options.order.map_or(Method::Udpor(k), |order| Method::UdporIn(order, k))
        })
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
    storing(dl_s_por::INFO, dl_s_por::SWITCHES, |options| Method::DlSPor(options.stateful())),
    storing(de_s_por::INFO, de_s_por::SWITCHES, |options| Method::DeSPor(options.stateful())),
    storing(s_por::INFO, &[Switch::SafeSets], |options| Method::SPor(options.stateful())),
    Explorer {
        takes_jobs: true,
        ..plain(portfolio::INFO, |options| {
            Method::Portfolio(options.jobs.unwrap_or_else(portfolio::default_jobs))
        })
    },
    storing(stateful::INFO, &[], |options| Method::Stateful(options.stateful())),
    plain(exhaustive::INFO, |_| Method::Exhaustive),
];

/// One without options.
const fn plain(info: Info, method: fn(Options) -> Method) -> Explorer {
    Explorer {
        info,
        takes_k: false,
        orders: Orders::None,
        sleep_sets: SleepSets::Never,
        switches: None,
        takes_jobs: false,
        method,
    }
}

/// One that takes an order, and is made of sleep sets.
const fn ordered(info: Info, method: fn(Options) -> Method) -> Explorer {
    Explorer { sleep_sets: SleepSets::Always, ..unslept(info, method) }
}

/// One that takes an order, and has no sleep sets.
const fn unslept(info: Info, method: fn(Options) -> Method) -> Explorer {
    Explorer { orders: Orders::All, ..plain(info, method) }
}

/// One that takes an order, and sleep sets if asked to.
const fn scheduled(info: Info, method: fn(Options) -> Method) -> Explorer {
    Explorer { sleep_sets: SleepSets::Optional, ..unslept(info, method) }
}

/// One that stores states.
const fn storing(
    info: Info,
    switches: &'static [Switch],
    method: fn(Options) -> Method,
) -> Explorer {
    Explorer { orders: Orders::OfProcesses, switches: Some(switches), ..plain(info, method) }
}

impl Options {
    fn stateful(self) -> Stateful {
        Stateful {
            order: self.order.unwrap_or(Order::Sequential(Permutation::default())),
            without: self.without,
            as_printed: self.as_printed,
            histories: self.histories,
            hash_compaction: self.hash_compaction,
        }
    }

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

    /// What a depth bound measures, whatever its options.
    pub fn depth(&self) -> Depth {
        (self.method)(Options::default()).depth()
    }

    /// Those of the options that mean something for this explorer.
    pub fn understood(&self, options: Options) -> Options {
        let switches = self.switches.unwrap_or_default();
        let is_storing = self.switches.is_some();
        Options {
            k: options.k.filter(|_| self.takes_k),
            order: options.order.filter(|&order| self.orders.contain(order)),
            sleep_sets: options.sleep_sets && self.sleep_sets == SleepSets::Optional,
            without: options.without.among(switches),
            as_printed: options.as_printed && is_storing,
            histories: options.histories && is_storing,
            hash_compaction: options.hash_compaction && is_storing,
            jobs: options.jobs.filter(|_| self.takes_jobs),
        }
    }
}
