//! The number of executions of a program: the result of `count`, as plain data and as text.

use std::fmt::{self, Display, Formatter};

use num_bigint::BigUint;
use serde::Serialize;

use super::Subject;
use super::text::{self, duration, grouped, plural, thousands};
use crate::explore::{Count, Executions, StopReason, Verdict};
use crate::model::{Locals, State, System};
use crate::study::{Figures, Limits};

/// The result of `count`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CountReport {
    /// The program.
    #[serde(flatten)]
    pub(crate) subject: Subject,
    /// The worst verdict of all executions.
    pub(crate) verdict: Verdict,
    /// Whether the search is complete.
    pub(crate) complete: bool,
    /// Why the search is not complete.
    pub(crate) stopped_by: Option<StopReason>,
    /// The numbers of complete executions; `None` if there are infinitely many, or the search is
    /// incomplete.
    pub(crate) interleavings: Option<Interleavings>,
    /// Whether there are infinitely many executions.
    pub(crate) infinite: bool,
    /// The processes that can go on for ever.
    pub(crate) cycling: Vec<String>,
    /// The limits of the search.
    pub(crate) limits: Limits,
    /// The statistics; a trace is a terminal state here.
    pub(crate) stats: Figures,
}

/// Numbers of executions as decimal strings: they may be too large for numbers in JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Interleavings {
    /// All executions.
    pub(crate) all: String,
    /// Executions that end in a deadlock.
    pub(crate) deadlocked: String,
    /// Executions that violate something: a deadlock, a failed assertion, or a run-time error.
    pub(crate) violating: String,
    /// The number of steps of the shortest execution.
    pub(crate) shortest: u32,
    /// The number of steps of the longest execution.
    pub(crate) longest: u32,
}

impl From<&Executions> for Interleavings {
    fn from(executions: &Executions) -> Self {
        let Executions { all, deadlocked, violating, shortest, longest } = executions;
        let [all, deadlocked, violating] = [all, deadlocked, violating].map(BigUint::to_string);
        Interleavings { all, deadlocked, violating, shortest: *shortest, longest: *longest }
    }
}

impl CountReport {
    /// Describes a count in the program's own terms.
    pub(crate) fn new<S: System>(
        subject: Subject,
        system: &S,
        limits: Limits,
        count: &Count,
        peak_memory_bytes: Option<u64>,
    ) -> Self {
        let mut locals = Locals::new(system);
        let initial = State::initial(&mut locals);
        let is_initial = |process| initial.processes().any(|other| other == process);
        let mut cycling: Vec<_> = count
            .cycling
            .iter()
            .map(|&process| match is_initial(process) {
                true => system.describe().process_name(locals.get(initial.local(process))),
                false => "a process that is started later".into(),
            })
            .collect();
        cycling.dedup();
        let outcome = &count.outcome;
        CountReport {
            subject,
            verdict: outcome.verdict(),
            complete: outcome.is_complete(),
            stopped_by: outcome.stopped_by,
            interleavings: count.executions.as_ref().map(Interleavings::from),
            infinite: outcome.is_complete() && count.executions.is_none(),
            cycling,
            limits,
            stats: Figures::new(outcome, peak_memory_bytes),
        }
    }
}

/// A [`CountReport`] as text.
pub(crate) struct Text<'r>(pub(crate) &'r CountReport);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let report = self.0;
        writeln!(f, "{}: {}.", report.subject.title(), answer(report))?;
        if let Some(Interleavings { shortest, longest, deadlocked, violating, .. }) =
            &report.interleavings
        {
            let bad = [(deadlocked, "end in a deadlock"), (violating, "violate something")];
            let kinds = if violating == deadlocked { 1 } else { 2 };
            let bad = bad.into_iter().take(kinds).filter(|(number, _)| *number != "0");
            for (number, what) in bad {
                writeln!(f, "  {} of them {what}.", grouped(number))?;
            }
            match longest {
                0 => {}
                longest if longest == shortest => {
                    writeln!(f, "  Each has {}.", plural(u64::from(*longest), "step", "steps"))?;
                }
                longest => writeln!(f, "  They have {shortest} to {longest} steps.")?,
            }
        }
        if !report.cycling.is_empty() {
            let names: Vec<_> = report.cycling.iter().map(String::as_str).collect();
            let verb = if names.len() == 1 { "comes" } else { "come" };
            writeln!(
                f,
                "  Some executions never end: in them {} {verb} back to an earlier state.",
                crate::property::list(&names)
            )?;
        }
        writeln!(f)?;
        let Figures { states, transitions, traces, .. } = report.stats;
        writeln!(
            f,
            "{}{}, {}, {}{}",
            text::margin("Explored"),
            plural(states.unwrap_or_default(), "state", "states"),
            plural(transitions, "transition", "transitions"),
            plural(traces, "terminal state", "terminal states"),
            text::bad_among(report.stats.deadlocked_traces, report.stats.violating_traces),
        )?;
        let took = duration(report.stats.wall_seconds);
        let memory =
            report.stats.peak_memory_bytes.map(|bytes| format!(", {}", bytesize::ByteSize(bytes)));
        writeln!(f, "{}{took}{}", text::margin("Took"), memory.unwrap_or_default())
    }
}

/// The number as a clause.
fn answer(report: &CountReport) -> String {
    match (&report.interleavings, report.stopped_by) {
        (Some(Interleavings { all, .. }), _) => {
            let noun = if all == "1" { "interleaving" } else { "interleavings" };
            format!("{}{} {noun}", grouped(all), about(all))
        }
        (None, None) => "infinitely many interleavings".into(),
        (None, Some(reason)) => {
            let why = match reason {
                StopReason::Timeout | StopReason::MaxMemory => {
                    format!("stopped by --{}", reason.word())
                }
                StopReason::Interrupted => "interrupted".into(),
                StopReason::Unwatched => "no thread can be started to watch its limits".into(),
                StopReason::Endless => {
                    format!(
                        "stopped because an execution came to step {} and may never end",
                        thousands(report.stats.max_depth)
                    )
                }
                StopReason::Polls => "a loop that polls was cut at --polls".into(),
                _ => "stopped where more processes arrive at a barrier than take part in it".into(),
            };
            format!("not counted: {why}")
        }
    }
}

/// The order of magnitude of a long number: ` (about 1.66e25)`; empty for a short one.
fn about(digits: &str) -> String {
    if digits.len() <= 9 {
        return String::new();
    }
    let leading: f64 = digits[..9].parse().expect("digits");
    let (mut mantissa, mut exponent) = (leading / 1e8, digits.len() - 1);
    // 9.995 or more would be printed as 10.00.
    if mantissa >= 9.995 {
        (mantissa, exponent) = (1.0, exponent + 1);
    }
    format!(" (about {mantissa:.2}e{exponent})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_readable() {
        assert_eq!(about("884353560"), "");
        assert_eq!(about("16600000000000000000000000"), " (about 1.66e25)");
        assert_eq!(about("99999999999"), " (about 1.00e11)");
    }
}
