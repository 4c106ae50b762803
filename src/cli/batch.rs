//! A batch of searches, run one after the other, each in a process of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;

use super::measure::{Beat, measure};
use super::{Failure, interrupt, progress};
use crate::report::table::time;
use crate::report::text::thousands;
use crate::study::{Job, Ran};

/// Runs searches, shows which one is running, and stops at an interrupt.
pub(super) struct Batch {
    cancel: Arc<AtomicBool>,
    line: ProgressBar,
    total: usize,
    begun: usize,
    /// The estimated time of all remaining searches, as text; empty if there is no estimate.
    left: String,
}

impl Batch {
    /// A batch of `total` searches; with `quiet` it shows no progress.
    ///
    /// A process has at most one batch and runs no other search beside it, because the handler for
    /// interrupts can be set only once.
    ///
    /// # Errors
    /// If the handler for interrupts cannot be set.
    pub(super) fn new(total: usize, quiet: bool) -> Result<Self, Failure> {
        Ok(Batch {
            cancel: interrupt::flag()?,
            line: progress::line(!quiet),
            total,
            begun: 0,
            left: String::new(),
        })
    }

    /// Sets the estimated time of all remaining searches, in seconds.
    pub(super) fn expect(&mut self, seconds: Option<f64>) {
        self.left = seconds.map_or(String::new(), |s| format!(" (all: about {} left)", time(s)));
    }

    /// Counts the next search as done, without running it.
    pub(super) fn skip(&mut self) {
        self.begun += 1;
    }

    /// Runs the next search; `None` after an interrupt. `foreseen` is the expected number of
    /// traces, if it is known.
    pub(super) fn run(&mut self, job: &Job, foreseen: Option<u64>) -> Option<Ran> {
        if self.cancel.load(Ordering::Relaxed) {
            return None;
        }
        self.begun += 1;
        let row = format!(
            "{} of {}{}: {} on {}",
            self.begun, self.total, self.left, job.setting, job.case.name
        );
        self.line.set_message(row.clone());
        self.line.tick();
        let ran = measure(job, &self.cancel, |beat| {
            self.line.set_message(format!("{row}, {}", how_far(beat, foreseen)));
            self.line.tick();
        });
        Some(ran)
    }

    /// Runs `print` while the progress line is hidden.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.line.suspend(print)
    }

    /// Removes the progress line from the terminal.
    pub(super) fn finish(self) {
        self.line.finish_and_clear();
    }
}

fn how_far(beat: Beat, foreseen: Option<u64>) -> String {
    let Beat { traces, seconds } = beat;
    let so_far = format!(
        "{} {}, {}",
        thousands(traces),
        if traces == 1 { "trace" } else { "traces" },
        time(seconds)
    );
    match foreseen {
        Some(all) if traces > 0 && traces < all => {
            let left = seconds * (all - traces) as f64 / traces as f64;
            format!("{so_far}, {}%, about {} left", 100 * traces / all, time(left))
        }
        _ => so_far,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_estimated() {
        let beat = Beat { traces: 250, seconds: 2.0 };
        assert_eq!(how_far(beat, Some(1000)), "250 traces, 2.00 s, 25%, about 6.00 s left");
        assert_eq!(how_far(beat, None), "250 traces, 2.00 s");
        assert_eq!(how_far(beat, Some(200)), "250 traces, 2.00 s");
    }
}
