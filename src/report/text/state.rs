//! A state in the middle of an execution: where each process is and what the objects hold; and why
//! a process cannot move.

use std::fmt::{self, Display, Formatter};

use super::steps::{hanging, shortened};
use super::{BAD, FAINT, HEADING, Styled};
use crate::model::ProcessId;
use crate::property::{AtRest, Fact, FactKind, Waiting, Why, list};

/// The facts of a state, in this width.
pub(crate) struct StateText<'f> {
    pub(crate) facts: &'f [Fact],
    /// The names of the processes.
    pub(crate) name: &'f dyn Fn(ProcessId) -> String,
    pub(crate) room: usize,
}

impl Display for StateText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let StateText { facts, name, room } = *self;
        let own = facts.iter().filter_map(|fact| fact.process);
        let width = own.map(|process| name(process).chars().count()).max().unwrap_or_default();
        let margin = width + 4;
        let mut before = None;
        for fact in facts {
            let text = told(fact);
            match fact.process {
                Some(process) => {
                    let who = if before == fact.process { String::new() } else { name(process) };
                    let text = hanging(&shortened(&text), margin, room);
                    writeln!(f, "  {who:<width$}  {text}")?;
                }
                None => writeln!(f, "  {}", hanging(&shortened(&text), 4, room))?,
            }
            before = fact.process;
        }
        Ok(())
    }
}

/// A fact without the name of its process.
fn told(Fact { kind, name, value, .. }: &Fact) -> String {
    match kind {
        FactKind::Place => value.clone(),
        FactKind::Wait => format!("waits for {value}"),
        FactKind::Inbox => format!("messages: {value}"),
        FactKind::Variable | FactKind::Cell => format!("{name} = {value}"),
        _ => format!("{name}: {value}"),
    }
}

/// Of more processes than this only their number is shown.
const MOST_NAMES: usize = 8;

/// The processes that cannot move, in a line; nothing if there are none.
pub(crate) struct RestText<'r>(pub(crate) &'r AtRest);

impl Display for RestText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let AtRest { waiting, idle, ended, failed } = self.0;
        let groups = [
            (waiting, "waits", "wait"),
            (idle, "has no message", "have no message"),
            (failed, "has failed", "have failed"),
            (ended, "has ended", "have ended"),
        ];
        let groups = groups.into_iter().filter(|(names, ..)| !names.is_empty());
        let parts: Vec<String> = groups
            .map(|(names, one, many)| {
                let words: Vec<&str> = names.iter().map(String::as_str).collect();
                match names.len() {
                    1 => format!("{} {one}", words[0]),
                    n if n > MOST_NAMES => format!("{n} processes {many}"),
                    _ => format!("{} {many}", list(&words)),
                }
            })
            .collect();
        match parts.is_empty() {
            true => Ok(()),
            false => writeln!(f, "  {}", Styled(FAINT, format!("{}.", parts.join("; ")))),
        }
    }
}

/// Why the process of this name cannot move, in this width.
pub(crate) struct WhyText<'w>(pub(crate) &'w str, pub(crate) &'w Why, pub(crate) usize);

impl Display for WhyText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let &WhyText(name, why, room) = self;
        let who = Styled(HEADING, name);
        let in_step = |step: &Option<usize>| {
            step.map_or(", before the first step".into(), |step| format!(" in step {step}"))
        };
        match why {
            Why::Ended(step) => writeln!(f, "{who} has ended{}.", in_step(step)),
            Why::Failed(step, message) => {
                writeln!(f, "{who} has {}{}: {message}.", Styled(BAD, "failed"), in_step(step))
            }
            Why::Idle => writeln!(f, "{who} has no message to take."),
            Why::Waits(waiting) => waits(f, name, waiting, room),
        }
    }
}

fn waits(f: &mut Formatter<'_>, name: &str, waiting: &Waiting, room: usize) -> fmt::Result {
    let Waiting { blocked, held, variables } = waiting;
    let line = blocked.line.map_or(String::new(), |line| format!(" in line {line}"));
    let what = shortened(&blocked.waits_for);
    let text = format!("{name} waits{line}, at `{}`, for {what}.", blocked.action);
    let text = hanging(&text, 2, room);
    match text.strip_prefix(name) {
        Some(rest) => writeln!(f, "{}{rest}", Styled(HEADING, name))?,
        // The name itself is broken.
        None => writeln!(f, "{text}")?,
    }
    let held = held.iter();
    let held = held
        .map(|held| format!("{} holds {} since step {}.", held.process, held.object, held.since));
    let mut more: Vec<String> = held.collect();
    match &blocked.hopeless {
        Some(reason) => more.push(format!("Nobody can help: {reason}.")),
        None => {
            let now: Vec<_> =
                variables.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            more.extend((!now.is_empty()).then(|| format!("Now it has {}.", now.join(", "))));
            let helpers = blocked.unsaid("");
            more.extend(helpers.map(|helpers| format!("It could come from {helpers}.")));
        }
    }
    more.iter().try_for_each(|line| writeln!(f, "  {}", Styled(FAINT, hanging(line, 2, room))))
}
