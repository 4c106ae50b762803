//! The steps of an execution as a table, and the changes of a step.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use super::place::{one_file, place};
use super::{BAD, FAINT, HEADING, Styled, plural};
use crate::property::{Change, Ending, Step};
use crate::report::many::{self, Row};

/// Executions of at most this many lines are shown in full.
const SHOWN: usize = 200;
/// The number of lines at the start that are shown of longer executions. The rest of [`SHOWN`] is
/// at the end.
const SHOWN_FIRST: usize = 40;
/// The maximum width of operations if outcomes need the room. Longer ones continue in the next
/// line.
pub(super) const WIDEST_ACTION: usize = 44;
/// The minimum width of operations in a narrow terminal.
const LEAST_ACTION: usize = 16;
const LEAST_OUTCOME: usize = 20;
/// The length of the words after the outcome of the last step of a process.
const ENDING: usize = " [fails]".len();
/// The maximum number of characters of a value in texts.
const LONGEST_VALUE: usize = 120;

/// A numbered list of steps. `Display` shows it all, [`row`](StepTable::row) one line of it.
pub(crate) struct StepTable<'s> {
    steps: &'s [Step],
    number: usize,
    process: usize,
    line: usize,
    action: usize,
    room: usize,
    is_in_one_file: bool,
    loop_from: Option<usize>,
    /// `Display` shows the steps from this index on.
    first: usize,
}

impl<'s> StepTable<'s> {
    /// A table with columns wide enough for these steps, within `room`. A text that does not fit
    /// continues below, in its column.
    pub(crate) fn new(steps: &'s [Step], room: usize) -> Self {
        let widest = |of: &dyn Fn(&Step) -> usize| steps.iter().map(of).max().unwrap_or(0);
        let number = steps.len().to_string().len().max(3);
        let process = widest(&|step| step.process.chars().count()).max("process".len());
        let is_in_one_file = one_file(steps.iter().map(|step| &step.file)).is_some();
        let line = widest(&|step| told_place(step, is_in_one_file).chars().count());
        let line = line.max("line".len());
        let spare = room.saturating_sub(number + process + line + 10);
        let outcome =
            widest(&|step| step.outcome.as_ref().map_or(0, |o| o.chars().count()) + ENDING);
        let least = spare.saturating_sub(LEAST_OUTCOME).clamp(LEAST_ACTION, WIDEST_ACTION);
        let action = widest(&|step| step.action.chars().count())
            .min(least.max(spare.saturating_sub(outcome)))
            .max("operation".len());
        let loop_from = None;
        StepTable {
            steps,
            number,
            process,
            line,
            action,
            room,
            is_in_one_file,
            loop_from,
            first: 0,
        }
    }

    /// Marks the place from which on the steps are repeated for ever.
    pub(crate) fn with_loop(self, from: Option<usize>) -> Self {
        StepTable { loop_from: from.filter(|&from| from < self.steps.len()), ..self }
    }

    /// Shows only the steps from this index on.
    #[cfg(feature = "cli")]
    pub(crate) fn beginning_at(self, first: usize) -> Self {
        StepTable { first, ..self }
    }

    /// The line before the step with this index, if the loop begins there.
    pub(crate) fn mark(&self, index: usize) -> Option<String> {
        let line = format!("  {:>1$}  from here on again and again:", "", self.number);
        (self.loop_from == Some(index)).then(|| Styled(FAINT, line).to_string())
    }

    /// The line above the steps.
    pub(crate) fn header(&self) -> String {
        self.headed("")
    }

    /// The line above the steps, which begins with a heading of at most six letters.
    pub(crate) fn headed(&self, heading: &str) -> String {
        let StepTable { number, process, line, action, .. } = *self;
        let heading = Styled(HEADING, format!("{heading:<0$}", number + 4));
        let text = format!(
            "{:<process$}  {:>line$}  {:<action$}  outcome",
            "process", "line", "operation"
        );
        format!("{heading}{}", Styled(FAINT, text))
    }

    /// The step with this index.
    pub(crate) fn row(&self, index: usize) -> String {
        let StepTable { number, process, line, action, .. } = *self;
        let step = &self.steps[index];
        let place = told_place(step, self.is_in_one_file);
        let ended = match step.ended {
            Some(Ending::Done) => Styled(FAINT, "[ends]").to_string(),
            Some(Ending::Failed) => Styled(BAD, "[fails]").to_string(),
            None => String::new(),
        };
        let margin = number + process + line + action + 10;
        let outcome = step.outcome.as_deref().unwrap_or_default();
        let end = if ended.is_empty() { 0 } else { ENDING };
        let outcome = hanging(&shortened(outcome), 0, self.room.saturating_sub(margin + end));
        let space = if outcome.is_empty() || ended.is_empty() { "" } else { " " };
        let outcome = format!("{outcome}{space}{ended}");
        let row = format!(
            "  {}  {:<process$}  {}  {}",
            Styled(FAINT, format!("{:>number$}", index + 1)),
            step.process,
            Styled(FAINT, format!("{place:>line$}")),
            beside((&step.action, action), &outcome, number + process + line + 8),
        );
        row.trim_end().into()
    }

    /// The steps that are like the shown ones. It begins with the number of the last one.
    fn likewise(&self, row: &Row) -> String {
        let alike = &self.steps[row.alike.clone()];
        let turns = alike.chunks(row.shown.len());
        let names: Vec<&str> = turns.map(|turn| &*turn[0].process).collect();
        let [before, last] = [row.shown.end, row.alike.end].map(|end| &self.steps[end - 1].outcome);
        let at_last = last.as_deref().filter(|_| before != last);
        let at_last =
            at_last.map_or(String::new(), |last| format!("; at last: {}", shortened(last)));
        let text = format!("likewise {}{at_last}", many::named(&names));
        let numbers = format!("{:>1$}", format!("..{}", row.alike.end), self.number);
        format!("  {}  {}", Styled(FAINT, numbers), hanging(&text, self.number + 4, self.room))
    }
}

/// A line of the table.
enum Line {
    Step(usize),
    /// Steps that are like the ones above.
    Alike(Row),
    /// The loop begins here, at the step with this index.
    Loop(usize),
}

impl Line {
    /// The number of steps that it tells.
    fn steps(&self) -> usize {
        match self {
            Line::Step(_) => 1,
            Line::Alike(row) => row.alike.len(),
            Line::Loop(_) => 0,
        }
    }
}

/// The lines of all steps; of those before the loop and of those on it apart.
fn lines(steps: &[Step], loop_from: Option<usize>) -> Vec<Line> {
    let Some(from) = loop_from else { return lines_of(steps, 0) };
    let mut lines = lines_of(&steps[..from], 0);
    lines.push(Line::Loop(from));
    lines.extend(lines_of(&steps[from..], from));
    lines
}

/// The lines of these steps, of which the first has this index.
fn lines_of(steps: &[Step], first: usize) -> Vec<Line> {
    let later = |range: Range<usize>| range.start + first..range.end + first;
    let rows = many::rows(steps).into_iter();
    let rows = rows.map(|Row { shown, alike }| Row { shown: later(shown), alike: later(alike) });
    let lines = rows.flat_map(|row| {
        let shown = row.shown.clone().filter(|&at| !steps[at - first].is_quiet).map(Line::Step);
        shown.chain((!row.alike.is_empty()).then_some(Line::Alike(row)))
    });
    lines.collect()
}

fn told_place(step: &Step, is_in_one_file: bool) -> String {
    place(step.file.as_deref().filter(|_| !is_in_one_file), step.line)
}

impl Display for StepTable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shown = &self.steps[self.first..];
        if shown.is_empty() {
            return Ok(());
        }
        writeln!(f, "{}", self.header())?;
        let lines = match self.first {
            0 => lines(self.steps, self.loop_from),
            first => lines_of(shown, first),
        };
        let left_out = match lines.len() > SHOWN {
            true => SHOWN_FIRST..lines.len() - (SHOWN - SHOWN_FIRST),
            false => 0..0,
        };
        for (place, line) in lines.iter().enumerate() {
            if place == left_out.start && !left_out.is_empty() {
                let steps: usize = lines[left_out.clone()].iter().map(Line::steps).sum();
                let steps = plural(steps as u64, "step", "steps");
                writeln!(f, "       ... {steps} left out; the replay shows them all ...")?;
            }
            match line {
                _ if left_out.contains(&place) => {}
                Line::Step(index) => writeln!(f, "{}", self.row(*index))?,
                Line::Alike(row) => writeln!(f, "{}", self.likewise(row))?,
                Line::Loop(at) => self.mark(*at).map_or(Ok(()), |mark| writeln!(f, "{mark}"))?,
            }
        }
        match shown.iter().filter(|step| step.is_quiet).count() {
            0 => Ok(()),
            quiet => {
                let steps = plural(quiet as u64, "step", "steps");
                writeln!(f, "       ... {steps} not shown, where a fault might have happened ...")
            }
        }
    }
}

/// Two texts side by side: the first from column `margin` on and `width` wide, the second behind
/// it.
pub(super) fn beside((text, width): (&str, usize), lines: &str, margin: usize) -> String {
    let left = textwrap::wrap(text, width);
    let right: Vec<&str> = lines.lines().collect();
    let rows = (0..left.len().max(right.len())).map(|row| {
        let left = left.get(row).map_or("", |line| line);
        let right = right.get(row).copied().unwrap_or_default();
        format!("{left:<width$}  {right}").trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join(&format!("\n{:margin$}", ""))
}

fn clipped_to(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.into();
    }
    let kept: String = text.chars().take(width - 1).collect();
    kept + "…"
}

/// A text, cut to [`LONGEST_VALUE`] characters. The JSON has all of it.
pub(super) fn shortened(value: &str) -> String {
    clipped_to(value, LONGEST_VALUE)
}

/// A text that begins at column `margin`, broken into as many lines as it needs to fit into `room`.
pub(super) fn hanging(text: &str, margin: usize, room: usize) -> String {
    let width = room.saturating_sub(margin).max(LEAST_OUTCOME);
    let below = format!("\n{:margin$}", "");
    textwrap::wrap(text, width).join(&below)
}

/// The column at which the changes of a step begin.
const CHANGES: usize = 9;

/// The changes of a step, indented below its line, in this width.
pub(crate) struct ChangeRows<'c>(pub(crate) &'c [Change], pub(crate) usize);

impl Display for ChangeRows<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for Change { what, before, after } in self.0 {
            let text = match (before.as_deref().map(shortened), after.as_deref().map(shortened)) {
                (Some(before), Some(after)) => format!("{what}: {before} -> {after}"),
                (None, Some(after)) => format!("{what}: {after}"),
                (_, None) => continue,
            };
            writeln!(f, "{:CHANGES$}{}", "", Styled(FAINT, hanging(&text, CHANGES, self.1)))?;
        }
        Ok(())
    }
}
