//! The limits of a search.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::property::Properties;

/// A length that no execution of a program that ends is expected to have: see [`Budget::endless`].
pub const ENDLESS: u32 = 10_000;
/// The same by the number of processes: many that do little make long executions, too.
pub(super) const ENDLESS_FOR_EACH: u32 = 100;

/// The limits of a search. `Default` has none and stops at the first violation.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Go on after a violation.
    pub all: bool,
    /// Of violations that are alike keep the one with the fewest steps, then the fewest switches between processes, and
    /// sort them so.
    pub shortest: bool,
    /// Where executions are cut. What it measures is a question of the explorer ([`Depth`](super::explorer::Depth)).
    pub depth: Option<u32>,
    /// Without a depth: an execution of this length (UDPOR: of this causal depth) is taken for one that goes on
    /// for ever, and ends the search. Where there are very many processes, that length is 100 steps for each of them, if that is more.
    pub endless: Option<u32>,
    /// Complete executions.
    pub max_traces: Option<u64>,
    /// Time.
    pub timeout: Option<Duration>,
    /// Bytes, and how to ask how many are in use.
    pub max_memory: Option<(u64, fn() -> u64)>,
    /// UDPOR forgets events that cannot matter any more when it has met this many; `usize::MAX`: never.
    pub keep_events: usize,
    /// What is judged: the built-in properties, unless somebody says otherwise.
    pub properties: Properties,
    /// Set from outside to end the search.
    pub cancel: Arc<AtomicBool>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            all: false,
            shortest: false,
            depth: None,
            endless: None,
            max_traces: None,
            timeout: None,
            max_memory: None,
            keep_events: 1 << 14,
            properties: Properties::default(),
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}
