//! The progress of a search, or of a batch of searches: a line on the terminal, or lines of JSON.
//!
//! If a search takes longer than [`SOON`], the number of classes or states is estimated beside it,
//! and the progress says how much is left.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::memory;
use super::output::Output;
use crate::explore::estimate::estimate;
use crate::explore::{Budget, Observer, Stats};
use crate::model::System;
use crate::report::StatesInAll;
use crate::report::text::{duration, rounded, thousands};

/// A search that is done within this time needs no estimate.
const SOON: Duration = Duration::from_secs(1);
/// The estimate takes at most about this time, and this number of samples.
const LONGEST: Duration = Duration::from_secs(5);
const SAMPLES: u32 = 100;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// A line on the terminal, if standard error is one
    Line,
    /// One JSON object a line on standard error, a few times a second
    Json,
}

/// The option for the form of progress.
#[derive(Args)]
pub(super) struct ProgressArgs {
    /// How progress is shown [default: line]
    #[arg(long, value_name = "FORM")]
    progress: Option<Form>,
}

impl ProgressArgs {
    /// What shows the progress of a search.
    pub(super) fn progress(&self, output: &Output) -> Progress {
        Progress::of(self.progress.unwrap_or(Form::Line), !output.is_quiet())
    }
}

/// An observer that shows progress on standard error.
pub(super) struct Progress {
    line: ProgressBar,
    form: Form,
    is_wanted: bool,
    /// The size of the search, once it is known.
    size: Arc<OnceLock<InAll>>,
}

/// How much there is to explore, about.
#[derive(Debug)]
pub(super) enum InAll {
    Classes(f64),
    States(StatesInAll),
}

/// The estimated number of classes of a system.
pub(super) fn classes<S: System>(system: &S, budget: &Budget, time: Duration) -> Option<InAll> {
    let budget = Budget { timeout: Some(time), ..budget.clone() };
    let found = estimate(system, &budget, (SAMPLES, 0)).ok()?;
    Some(InAll::Classes(found.classes))
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

/// Progress as an object of JSON.
#[derive(Serialize)]
struct Line {
    seconds: f64,
    traces: u64,
    transitions: u64,
    states: Option<u64>,
    events: Option<u64>,
    max_depth: u64,
    memory_bytes: u64,
    estimated_classes: Option<u64>,
    estimated_states: Option<u64>,
    seconds_left: Option<f64>,
}

impl Progress {
    /// A line on the terminal; nothing if not `wanted`.
    pub(super) fn new(wanted: bool) -> Self {
        Progress::of(Form::Line, wanted)
    }

    /// Progress in this form; nothing if not `wanted`.
    pub(super) fn of(form: Form, wanted: bool) -> Self {
        let line = line(wanted && form == Form::Line);
        Progress { line, form, is_wanted: wanted, size: Arc::default() }
    }

    fn is_shown(&self) -> bool {
        match self.form {
            Form::Line => !self.line.is_hidden(),
            Form::Json => self.is_wanted,
        }
    }

    /// Removes the line from the terminal.
    pub(super) fn finish(&self) {
        self.line.finish_and_clear();
    }

    /// Runs a search within this budget. If it takes long, and its progress is shown, `guess` says
    /// beside it how much there is to explore, within the time that it is given.
    pub(super) fn beside<T>(
        &mut self,
        guess: impl FnOnce(&Budget, Duration) -> Option<InAll> + Send,
        budget: &Budget,
        search: impl FnOnce(&mut Progress) -> T,
    ) -> T {
        if !self.is_shown() {
            return search(self);
        }
        let over = Arc::new(AtomicBool::new(false));
        let budget = Budget { cancel: over.clone(), ..budget.clone() };
        self.size = Arc::default();
        let size = self.size.clone();
        thread::scope(|scope| {
            // Also if the search panics.
            let _end = Raise(&over);
            scope.spawn(|| {
                let start = Instant::now();
                while start.elapsed() < SOON {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    thread::sleep(Duration::from_millis(20));
                }
                if let Some(found) = guess(&budget, LONGEST) {
                    let _ = size.set(found);
                }
            });
            search(self)
        })
    }

    /// The estimated number of classes, or of states, and the time that is left. `None` if there
    /// are more already than were estimated.
    fn left(&self, stats: &Stats, seconds: f64) -> Option<(u64, f64)> {
        let (done, all) = match self.size.get()? {
            InAll::Classes(all) if stats.states.is_none() => (stats.traces, *all),
            InAll::States(all) => {
                (stats.states.filter(|&states| states <= all.number)?, all.number as f64)
            }
            InAll::Classes(_) => return None,
        };
        let rest = seconds * (all / done as f64 - 1.0).max(0.0);
        (done > 0).then_some((all.round() as u64, rest))
    }
}

/// Raises a flag when it is dropped.
struct Raise<'f>(&'f AtomicBool);

impl Drop for Raise<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Observer for Progress {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        if !self.is_shown() {
            return;
        }
        let seconds = elapsed.as_secs_f64();
        let left = self.left(stats, seconds);
        let events = stats.events.or(stats.events_built).or(stats.prefix.map(|all| all.events));
        if self.form == Form::Json {
            let line = Line {
                seconds,
                traces: stats.traces,
                transitions: stats.transitions,
                states: stats.states,
                events,
                max_depth: stats.max_depth,
                memory_bytes: memory::in_use(),
                estimated_classes: left.filter(|_| stats.states.is_none()).map(|(all, _)| all),
                estimated_states: left.filter(|_| stats.states.is_some()).map(|(all, _)| all),
                seconds_left: left.map(|(_, seconds)| seconds),
            };
            let text = serde_json::to_string(&line).expect("numbers are serialisable");
            // Nobody may read it.
            let _ = writeln!(io::stderr(), "{text}");
            return;
        }
        let (count, unit) = match stats.states {
            Some(states) => (states, "states"),
            None => (stats.traces, "traces"),
        };
        let rate = (count as f64 / seconds.max(1e-9)) as u64;
        let events = match events {
            None => String::new(),
            Some(1) => ", 1 event".into(),
            Some(n) => format!(", {} events", thousands(n)),
        };
        let [of, rest] = match left {
            None => [String::new(), String::new()],
            Some((all, seconds)) => [
                format!(" of about {}", rounded(all)),
                format!(", about {} left", duration(seconds)),
            ],
        };
        self.line.set_message(format!(
            "{}{of} {}{events}, {} {unit}/s, depth {}, {}, {}{rest}",
            thousands(count),
            if count == 1 && of.is_empty() { &unit[..unit.len() - 1] } else { unit },
            thousands(rate),
            stats.max_depth,
            ByteSize(memory::in_use()),
            duration(seconds)
        ));
        self.line.tick();
    }
}
