//! A line on the terminal with the progress of a search, or of a batch of searches.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::explore::{Observer, Stats};
use crate::report::text::{duration, thousands};

/// An observer that shows progress on standard error, if that is a terminal.
pub(super) struct Progress {
    line: ProgressBar,
}

/// A progress line on standard error; hidden if that is not a terminal, or if not `wanted`.
pub(super) fn line(wanted: bool) -> ProgressBar {
    let target = if wanted && io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let line = ProgressBar::with_draw_target(None, target);
    line.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("a valid template"));
    line
}

impl Progress {
    /// Shows nothing if not `wanted`.
    pub(super) fn new(wanted: bool) -> Self {
        Progress { line: line(wanted) }
    }

    /// Removes the line from the terminal.
    pub(super) fn finish(self) {
        self.line.finish_and_clear();
    }
}

impl Observer for Progress {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        if self.line.is_hidden() {
            return;
        }
        let seconds = elapsed.as_secs_f64();
        let (count, unit) = match stats.states {
            Some(states) => (states, "states"),
            None => (stats.traces, "traces"),
        };
        let rate = (count as f64 / seconds.max(1e-9)) as u64;
        let events = stats.events.or(stats.events_built);
        let events = match events {
            None => String::new(),
            Some(1) => ", 1 event".into(),
            Some(n) => format!(", {} events", thousands(n)),
        };
        self.line.set_message(format!(
            "{} {}{events}, {} {unit}/s, {}",
            thousands(count),
            if count == 1 { &unit[..unit.len() - 1] } else { unit },
            thousands(rate),
            duration(seconds)
        ));
        self.line.tick();
    }
}
