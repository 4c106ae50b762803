//! How an execution ended: in a standstill, with a failure, or well.

use std::fmt::{self, Display, Formatter};

use super::calls::CallTable;
use super::place::{one_file, place};
use super::steps::{WIDEST_ACTION, beside, hanging, shortened};
use super::warnings::Warnings;
use super::{FAINT, GOOD, HEADING, Styled, UNSURE, excerpt, plural, values, violation_line};
use crate::explore::ViolationKind;
use crate::property::{Blocked, Step, list};
use crate::report::many::{grouped, named};
use crate::report::{self, ExecutionReport, ViolationReport};

/// The most faults that are told before the steps.
const TOLD: usize = 3;
/// The most processes in the middle of a circle that are all named.
const LONG: usize = 5;

/// The faults of an execution that goes wrong, in a sentence; nothing if there are none.
pub(super) struct Causes<'r>(pub(super) &'r [Step]);

impl Display for Causes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let faults = self.0.iter().filter_map(|step| {
            let place = step.line.map(|line| report::place(step.file.as_deref(), line));
            let place = place.map_or(String::new(), |place| format!(" at {place}"));
            Some(format!("{}{place}", step.fault.as_ref()?))
        });
        let faults: Vec<String> = faults.collect();
        let first: Vec<&str> = faults.iter().take(TOLD).map(String::as_str).collect();
        match faults.len() {
            0 => Ok(()),
            1..=TOLD => writeln!(f, "Before that, {}.", list(&first)),
            n => writeln!(f, "Before that, {n} faults happened: first {}.", list(&first)),
        }
    }
}

/// The processes that wait at the end of a deadlocked execution, in this width.
pub(super) struct Standstill<'r>(pub(super) &'r ViolationReport, pub(super) usize);

impl Display for Standstill<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Standstill(violation, room) = *self;
        let heading = match violation.kind {
            ViolationKind::Livelock => "From here on nothing changes:",
            _ => "Now nothing can move:",
        };
        writeln!(f, "\n{}", Styled(HEADING, heading))?;
        let widest = |of: &dyn Fn(&Blocked) -> usize| {
            violation.blocked.iter().map(of).max().unwrap_or_default()
        };
        let who = widest(&|blocked| blocked.process.chars().count());
        let is_in_one_file = one_file(violation.blocked.iter().map(|b| &b.file)).is_some();
        let told_file = |blocked: &Blocked| blocked.file.clone().filter(|_| !is_in_one_file);
        let number =
            widest(&|blocked| place(told_file(blocked).as_deref(), blocked.line).chars().count());
        let what = widest(&|blocked| blocked.action.chars().count()).min(WIDEST_ACTION);
        for (blocked, alike) in grouped(&violation.blocked) {
            let file = told_file(blocked);
            let place = place(file.as_deref(), blocked.line);
            let place = match (blocked.line, file) {
                (None, _) => String::new(),
                (_, Some(_)) => format!("  {place:<number$}"),
                (_, None) => format!("  line {place:>number$}"),
            };
            let Blocked { process, waits_for, .. } = blocked;
            let left = 2 + who + place.chars().count() + 2;
            let margin = left + what + 2;
            let fitted = |text: &str| hanging(&shortened(text), 0, room.saturating_sub(margin));
            let mut lines = fitted(&format!("waits for {waits_for}"));
            if let Some(hope) = blocked.hope() {
                fitted(&hope)
                    .lines()
                    .for_each(|hope| lines += &format!("\n{}", Styled(FAINT, hope)));
            }
            let texts = beside((&blocked.action, what), &lines, left);
            writeln!(f, "  {process:<who$}{}  {texts}", Styled(FAINT, place))?;
            if !alike.is_empty() {
                writeln!(f, "  {} wait alike.", named(&alike))?;
            }
        }
        let others = [
            (&violation.spinning, "goes round its loop for ever", "go round their loops for ever"),
            (&violation.ended, "has ended", "have ended"),
            (&violation.idle, "has no message left", "have no message left"),
            (&violation.daemons, "waits, as a daemon may", "wait, as daemons may"),
            (&violation.failed, "has failed", "have failed"),
        ];
        for (processes, one, many) in others {
            let names: Vec<_> = processes.iter().map(String::as_str).collect();
            match names.len() {
                0 => {}
                1 => writeln!(f, "  {} {one}.", names[0])?,
                _ => writeln!(f, "  {} {many}.", list(&names))?,
            }
        }
        match &violation.cycle {
            Some(cycle) if cycle.iter().all(|link| link.needs.len() == 1) => {
                writeln!(f, "\n{}", Styled(HEADING, "Each waits for the next:"))?;
                let mut names: Vec<_> = cycle.iter().map(|link| link.process.as_str()).collect();
                names.push(names[0]);
                let way = names.join(" -> ");
                match names.as_slice() {
                    [a, b, c, between @ .., y, z] if between.len() > LONG => {
                        let others = plural(between.len() as u64, "other", "others");
                        writeln!(f, "  {a} -> {b} -> {c} -> ({others}) -> {y} -> {z}")
                    }
                    _ => writeln!(f, "  {way}"),
                }
            }
            Some(cycle) => {
                writeln!(f, "\n{}", Styled(HEADING, "No process outside could help these:"))?;
                for link in cycle {
                    let needs: Vec<_> = link.needs.iter().map(String::as_str).collect();
                    writeln!(f, "  {} -> {}", link.process, needs.join(" or "))?;
                }
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The heading above the steps of an execution.
pub(crate) struct Title<'r>(pub(crate) &'r ExecutionReport);

impl Display for Title<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Title(report) = self;
        let seed = report.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
        writeln!(f, "{}", Styled(HEADING, format!("{}{seed}:", report.subject.title())))
    }
}

/// The result of an execution, in one line.
pub(crate) struct Upshot<'r>(pub(crate) &'r ExecutionReport);

impl Display for Upshot<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Upshot(report) = self;
        let steps = plural(report.schedule.len() as u64, "step", "steps");
        match report.violations.first() {
            Some(violation) => writeln!(f, "{}", violation_line(violation)),
            None if report.complete => {
                let names: Vec<_> = report.daemons.iter().map(String::as_str).collect();
                let text = match names.len() {
                    0 => format!("All processes have ended after {steps}; nothing is wrong."),
                    _ => format!(
                        "All processes but daemons have ended after {steps}, and {} may wait; nothing is wrong.",
                        list(&names)
                    ),
                };
                writeln!(f, "{}", Styled(GOOD, text))
            }
            None => {
                let names: Vec<_> = report.enabled.iter().map(String::as_str).collect();
                let text = format!("The execution is cut here, after {steps}.");
                writeln!(f, "{} {} can still move.", Styled(UNSURE, text), list(&names))
            }
        }
    }
}

/// The text below the steps of an execution, in this width.
pub(crate) struct Ending<'r>(pub(crate) &'r ExecutionReport, pub(crate) usize);

impl Display for Ending<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Ending(report, room) = *self;
        write!(f, "{}\n{}", CallTable(&report.calls), EndInFull(report, room))
    }
}

/// How an execution ended, with all details, in this width.
pub(crate) struct EndInFull<'r>(pub(crate) &'r ExecutionReport, pub(crate) usize);

impl Display for EndInFull<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let EndInFull(report, room) = *self;
        write!(f, "{}", Upshot(report))?;
        match report.violations.first() {
            Some(violation) if violation.kind.is_standstill() => {
                write!(f, "{}", Standstill(violation, room))
            }
            Some(violation) => {
                if violation.loop_from == Some(violation.schedule.len()) {
                    writeln!(f, "Nothing more has to happen: the execution stays in this state.")?;
                }
                write!(f, "{}{}", excerpt(&report.subject, violation), values(violation))
            }
            None => write!(f, "{}", Warnings(&report.subject, &report.warnings)),
        }
    }
}
