//! The number of distinct events ever built, although forgotten ones may be built again.
//!
//! Each event has a fingerprint of 64 bits that depends only on what determines the event: its
//! process, its choice and the fingerprints of its causes. Of a forgotten event only the
//! fingerprint is kept, in a list. When the count is asked for, or when the list is full, the list
//! is sorted and duplicates are dropped.
//!
//! Two different events have the same fingerprint with a probability of about n² / 2⁶⁵ for n
//! events: less than one in a million for the [`MAX_FORGOTTEN`] that are kept. Beyond that the
//! count is unknown.

use super::event::{Event, EventId};
use crate::model::{Choice, ProcessId};
use crate::random::mix;

/// The largest number of fingerprints that are kept: eight megabytes.
const MAX_FORGOTTEN: usize = 1 << 20;

/// The largest number of fingerprints that are sorted by radix: that is faster, but takes as much
/// room again.
const MOST_BY_RADIX: usize = MAX_FORGOTTEN / 8;

/// The count, and what is needed to continue it.
#[derive(Default)]
pub(super) struct Census {
    built: u64,
    forgotten: Vec<u64>,
    has_overflowed: bool,
}

impl Census {
    /// Counts an event that is built.
    pub(super) fn add(&mut self) {
        self.built += 1;
    }

    /// Records that an event with this fingerprint is forgotten.
    pub(super) fn forget(&mut self, print: u64) {
        if self.has_overflowed {
            return;
        }
        self.forgotten.push(print);
        if self.forgotten.len() == MAX_FORGOTTEN {
            self.drop_repeated();
            // Too little was gained to try again.
            if self.forgotten.len() > MAX_FORGOTTEN / 4 * 3 {
                self.has_overflowed = true;
                self.forgotten = Vec::new();
            }
        }
    }

    fn drop_repeated(&mut self) {
        match self.forgotten.len() <= MOST_BY_RADIX {
            true => radsort::sort(&mut self.forgotten),
            false => self.forgotten.sort_unstable(),
        }
        self.forgotten.dedup();
    }

    /// The number of events built, counting an event each time.
    pub(super) fn built(&self) -> u64 {
        self.built
    }

    /// The number of distinct events built, given the fingerprints of those that are not forgotten;
    /// `None` if it is no longer known. O((n + m) log n) for n forgotten events and m others.
    pub(super) fn distinct(&mut self, live: impl ExactSizeIterator<Item = u64>) -> Option<u64> {
        if self.has_overflowed {
            return None;
        }
        self.drop_repeated();
        let live_count = live.len() as u64;
        let rebuilt = live.filter(|print| self.forgotten.binary_search(print).is_ok()).count();
        Some(self.forgotten.len() as u64 + live_count - rebuilt as u64)
    }
}

/// The fingerprint of an event with these causes, in any order.
pub(super) fn fingerprint(
    events: &[Event],
    process: ProcessId,
    choice: Choice,
    causes: &[EventId],
) -> u64 {
    let own = mix(u64::from(process.0) << 32 | u64::from(choice.0 as u32));
    let add = |sum: u64, cause: &EventId| sum.wrapping_add(mix(events[cause.index()].print));
    mix(causes.iter().fold(own, add))
}
