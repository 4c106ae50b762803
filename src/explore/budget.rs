//! The limits of a search.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use crate::property::Properties;

/// The usual value of [`Budget::endless`]: longer executions are taken for endless ones.
pub const ENDLESS: u32 = 10_000;
/// With many processes, an execution may have this number of actions for each process before it is
/// taken for an endless one.
pub(super) const ENDLESS_FOR_EACH: u32 = 100;

/// What a depth bound measures in an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "kebab-case"))]
pub enum Depth {
    /// The length of the longest chain of actions in which each happens before the next. It is the
    /// same for all executions of a class. A search up to a causal depth visits the maximal
    /// configurations of the events up to that depth.
    #[default]
    Causal,
    /// The number of actions.
    #[cfg_attr(feature = "json", serde(rename = "steps"))]
    Length,
    /// Nothing: executions are explored to their end, and a bound is refused.
    Unbounded,
}

impl Depth {
    /// What it counts, in the plural; `None` if there is no bound.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Depth::Causal => Some("causal steps"),
            Depth::Length => Some("steps"),
            Depth::Unbounded => None,
        }
    }
}

/// The limits of a search. `Default` has none and stops at the first violation.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Continue after a violation.
    pub all: bool,
    /// Of violations with the same symptom, keep the one with the fewest steps; of equally long
    /// ones, the one with the fewest switches between processes. Sort the violations in the same
    /// order.
    pub shortest: bool,
    /// The depth at which executions are cut; `None` for no bound.
    pub depth: Option<u32>,
    /// What the depth measures; `None` for the explorer's own measure. An explorer that cannot
    /// measure it refuses to run.
    pub measure: Option<Depth>,
    /// Without a depth: an execution of this length (UDPOR: of this causal depth) is assumed to be
    /// endless, and ends the search. The limit is at least 100 steps for each process.
    pub endless: Option<u32>,
    /// The search ends after this number of complete executions.
    pub max_traces: Option<u64>,
    /// The search ends after this time.
    pub timeout: Option<Duration>,
    /// The search ends when more bytes than this are in use; and the function that returns the
    /// bytes in use.
    pub max_memory: Option<(u64, fn() -> u64)>,
    /// The size of U at which UDPOR first discards the events that it no longer needs; `usize::MAX`
    /// for never.
    pub keep_events: usize,
    /// The number of local states at which an explorer of classes first discards those that it no
    /// longer needs; with 0 it does so as often as it can.
    pub keep_locals: usize,
    /// The properties to judge: by default the built-in ones.
    pub properties: Properties,
    /// Another thread sets this to end the search.
    pub cancel: Arc<AtomicBool>,
}

impl Budget {
    /// The same limits, with the time limit reduced by `spent`.
    pub fn after(&self, spent: Duration) -> Budget {
        let timeout = self.timeout.map(|timeout| timeout.saturating_sub(spent));
        Budget { timeout, ..self.clone() }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            all: false,
            shortest: false,
            depth: None,
            measure: None,
            endless: None,
            max_traces: None,
            timeout: None,
            max_memory: None,
            keep_events: 1 << 10,
            keep_locals: 1 << 12,
            properties: Properties::default(),
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}
