//! Enforces the limits of a search on time and memory, and passes on its cancellation.
//!
//! A step of a search may take long: one event can have a million extensions. So the search does
//! not read the clock itself; a separate thread does, every few milliseconds. The thread raises a
//! [`StopSignal`], which long loops check. If no thread can be started, the search ends at once. A
//! search without limits on time and memory has no such thread: its signal is the one that cancels
//! it.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::result::StopReason;
use crate::model::{CountsHere, StopSignal};

/// Time between two checks of the limits. A search may exceed its time limit by this much.
const GLANCE: Duration = Duration::from_millis(5);

/// Watches one search, until it is dropped.
pub(super) struct Watchdog {
    alarm: Alarm,
    /// While this exists, the code of the system checks the signal.
    _counts: CountsHere,
    /// The thread ends when this is dropped.
    _over: Option<Sender<()>>,
}

/// What is raised when a limit is reached. Several searches may share it.
#[derive(Clone)]
pub(super) struct Alarm {
    signal: StopSignal,
    /// Which limit was reached.
    reached: Arc<OnceLock<StopReason>>,
    memory: Option<(u64, fn() -> u64)>,
}

impl Watchdog {
    /// Begins to watch a search that starts now, on this thread.
    pub(super) fn new(budget: &Budget) -> Self {
        let reached = Arc::new(OnceLock::new());
        let cancelled = StopSignal::from(budget.cancel.clone());
        if budget.timeout.is_none() && budget.max_memory.is_none() {
            return Watchdog::of(Alarm { signal: cancelled, reached, memory: None });
        }
        let signal = StopSignal::default();
        let (over, is_over) = mpsc::channel::<()>();
        let limits = Limits {
            // A time beyond the range of the clock sets no limit.
            end: budget.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            memory: budget.max_memory,
            cancelled,
        };
        // What has no time left has ended, whether or not a thread finds out in time.
        if budget.timeout == Some(Duration::ZERO) {
            reached.get_or_init(|| StopReason::Timeout);
            signal.raise();
        }
        let (raised, why) = (signal.clone(), reached.clone());
        let watch = thread::Builder::new().spawn(move || {
            while is_over.recv_timeout(limits.until_next_look()) == Err(RecvTimeoutError::Timeout) {
                if let Some(reason) = limits.reached() {
                    why.get_or_init(|| reason);
                    raised.raise();
                    return;
                }
            }
        });
        if watch.is_err() {
            reached.get_or_init(|| StopReason::Unwatched);
            signal.raise();
        }
        let alarm = Alarm { signal, reached, memory: budget.max_memory };
        Watchdog { _over: Some(over), ..Watchdog::of(alarm) }
    }

    /// Watches a search on this thread, which ends when the search that this alarm belongs to must
    /// end.
    pub(super) fn of(alarm: Alarm) -> Self {
        Watchdog { _counts: alarm.signal.counts_here(), alarm, _over: None }
    }

    /// What ends this search, for searches on behalf of it.
    pub(super) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// The signal that the search has to check.
    pub(super) fn signal(&self) -> &StopSignal {
        &self.alarm.signal
    }

    /// Ends the search if an allocation of `bytes` would exceed the memory limit.
    pub(super) fn expect(&self, bytes: u64) {
        let Alarm { signal, reached, memory } = &self.alarm;
        if memory.is_some_and(|(max, in_use)| in_use().saturating_add(bytes) > max) {
            reached.get_or_init(|| StopReason::MaxMemory);
            signal.raise();
        }
    }

    /// Why the search must stop, if it must.
    pub(super) fn reason(&self) -> Option<StopReason> {
        let reached = self.alarm.reached.get().copied();
        self.alarm.signal.is_raised().then(|| reached.unwrap_or(StopReason::Interrupted))
    }
}

impl Alarm {
    /// The signal that searches have to check.
    pub(super) fn signal(&self) -> &StopSignal {
        &self.signal
    }
}

struct Limits {
    end: Option<Instant>,
    memory: Option<(u64, fn() -> u64)>,
    cancelled: StopSignal,
}

impl Limits {
    fn until_next_look(&self) -> Duration {
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        left.map_or(GLANCE, |left| left.min(GLANCE))
    }

    fn reached(&self) -> Option<StopReason> {
        if self.cancelled.is_raised() {
            Some(StopReason::Interrupted)
        } else if self.end.is_some_and(|end| Instant::now() >= end) {
            Some(StopReason::Timeout)
        } else if self.memory.is_some_and(|(max, in_use)| in_use() > max) {
            Some(StopReason::MaxMemory)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    fn raised_within_a_second(watchdog: &Watchdog) -> bool {
        let start = Instant::now();
        while !watchdog.signal().is_raised() && start.elapsed() < Duration::from_secs(1) {
            thread::sleep(Duration::from_millis(1));
        }
        watchdog.signal().is_raised()
    }

    #[test]
    fn each_limit_raises_the_signal_and_is_reported() {
        let short = Some(Duration::from_millis(1));
        let timeout = Watchdog::new(&Budget { timeout: short, ..Budget::default() });
        assert!(raised_within_a_second(&timeout));
        assert_eq!(timeout.reason(), Some(StopReason::Timeout));

        let memory = Watchdog::new(&Budget { max_memory: Some((1, || 2)), ..Budget::default() });
        assert!(raised_within_a_second(&memory));
        assert_eq!(memory.reason(), Some(StopReason::MaxMemory));

        let memory = Watchdog::new(&Budget { max_memory: Some((10, || 2)), ..Budget::default() });
        memory.expect(8);
        assert_eq!(memory.reason(), None);
        memory.expect(9);
        assert_eq!(memory.reason(), Some(StopReason::MaxMemory));

        for timeout in [None, Some(Duration::MAX)] {
            let budget = Budget { timeout, ..Budget::default() };
            let cancelled = Watchdog::new(&budget);
            assert_eq!(cancelled.reason(), None);
            budget.cancel.store(true, Ordering::Relaxed);
            assert!(raised_within_a_second(&cancelled));
            assert_eq!(cancelled.reason(), Some(StopReason::Interrupted));
        }
    }
}
