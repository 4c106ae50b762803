//! The limits of a search.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::property::Properties;

/// Longer executions are expected only of programs that never end: see [`Budget::endless`].
pub const ENDLESS: u32 = 10_000;
/// The same for each process, because many processes that do little also make long executions.
pub(super) const ENDLESS_FOR_EACH: u32 = 100;

/// What a depth bound measures in an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// The length of the longest chain of actions in which each happens before the next. It is the
    /// same for all executions of a class. The bound has classes of its own: maximal sets of events
    /// up to that height that fit together.
    #[default]
    Causal,
    /// The number of actions.
    #[serde(rename = "steps")]
    Length,
    /// Nothing: executions are explored to their end, and a bound is refused.
    Unbounded,
}

impl Depth {
    /// What it counts, in the plural.
    pub fn unit(self) -> &'static str {
        match self {
            Depth::Causal => "causal steps",
            Depth::Length => "steps",
            Depth::Unbounded => "nothing",
        }
    }
}

/// The limits of a search. `Default` has none and stops at the first violation.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Continue after a violation.
    pub all: bool,
    /// Of similar violations keep the one with the fewest steps, then the fewest switches between
    /// processes. Sort the violations in the same way.
    pub shortest: bool,
    /// Where executions are cut.
    pub depth: Option<u32>,
    /// What the depth measures; if this is not said, what the explorer measures by itself. An
    /// explorer that cannot measure this refuses it.
    pub measure: Option<Depth>,
    /// Without a depth: an execution of this length (UDPOR: of this causal depth) is assumed to go
    /// on for ever, and ends the search. With very many processes the length is 100 steps for each
    /// of them, if that is more.
    pub endless: Option<u32>,
    /// Complete executions.
    pub max_traces: Option<u64>,
    /// Time.
    pub timeout: Option<Duration>,
    /// Bytes, and how to ask how many are in use.
    pub max_memory: Option<(u64, fn() -> u64)>,
    /// When UDPOR has met this many events, it forgets those that cannot matter any more;
    /// `usize::MAX` for never.
    pub keep_events: usize,
    /// What is judged: by default the built-in properties.
    pub properties: Properties,
    /// Set from outside to end the search.
    pub cancel: Arc<AtomicBool>,
}

impl Budget {
    /// What is left of it after this time.
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
            properties: Properties::default(),
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}
