//! The steps of an execution as a table, and what a step changed.

use std::fmt::{self, Display, Formatter};

use super::{BAD, FAINT, Styled, thousands};
use crate::property::{Change, Ending, Step};

/// Executions of at most this many steps are shown in full.
const SHOWN: usize = 200;
/// Of longer ones, this many steps at the start and the rest of [`SHOWN`] at the end.
const SHOWN_FIRST: usize = 40;
/// Longer operations are cut in the table.
const WIDEST_ACTION: usize = 44;

/// A numbered list of steps. `Display` shows it all, [`row`](StepTable::row) one line of it.
pub struct StepTable<'s> {
    steps: &'s [Step],
    number: usize,
    process: usize,
    line: usize,
    action: usize,
}

impl<'s> StepTable<'s> {
    /// A table with columns wide enough for these steps.
    pub fn new(steps: &'s [Step]) -> Self {
        let widest = |of: &dyn Fn(&Step) -> usize| steps.iter().map(of).max().unwrap_or(0);
        StepTable {
            steps,
            number: steps.len().to_string().len().max(3),
            process: widest(&|step| step.process.chars().count()).max("process".len()),
            line: widest(&|step| step.line.unwrap_or(0).to_string().len()).max("line".len()),
            action: widest(&|step| step.action.chars().count().min(WIDEST_ACTION))
                .max("operation".len()),
        }
    }

    /// The line above the steps.
    pub fn header(&self) -> String {
        let StepTable { number, process, line, action, .. } = *self;
        let text = format!(
            "  {:>number$}  {:<process$}  {:>line$}  {:<action$}  outcome",
            "", "process", "line", "operation"
        );
        Styled(FAINT, text).to_string()
    }

    /// The step with this index.
    pub fn row(&self, index: usize) -> String {
        let StepTable { number, process, line, action, .. } = *self;
        let step = &self.steps[index];
        let place = step.line.map_or(String::new(), |line| line.to_string());
        let ended = match step.ended {
            Some(Ending::Done) => Styled(FAINT, "[ends]").to_string(),
            Some(Ending::Failed) => Styled(BAD, "[fails]").to_string(),
            None => String::new(),
        };
        let outcome = step.outcome.as_deref().unwrap_or_default();
        let space = if outcome.is_empty() || ended.is_empty() { "" } else { " " };
        let row = format!(
            "  {}  {:<process$}  {}  {:<action$}  {outcome}{space}{ended}",
            Styled(FAINT, format!("{:>number$}", index + 1)),
            step.process,
            Styled(FAINT, format!("{place:>line$}")),
            clipped(&step.action),
        );
        row.trim_end().into()
    }
}

impl Display for StepTable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let count = self.steps.len();
        if count == 0 {
            return Ok(());
        }
        writeln!(f, "{}", self.header())?;
        let left_out =
            if count > SHOWN { SHOWN_FIRST..count - (SHOWN - SHOWN_FIRST) } else { 0..0 };
        for index in 0..count {
            if !left_out.contains(&index) {
                writeln!(f, "{}", self.row(index))?;
            } else if index == left_out.start {
                let count = thousands(left_out.len() as u64);
                writeln!(f, "       ... {count} steps left out; the replay shows them all ...")?;
            }
        }
        Ok(())
    }
}

/// The source text of an operation, cut if it is long.
pub(super) fn clipped(action: &str) -> String {
    if action.chars().count() <= WIDEST_ACTION {
        return action.into();
    }
    let kept: String = action.chars().take(WIDEST_ACTION - 3).collect();
    kept + "..."
}

/// What a step changed, indented below its line.
pub struct ChangeRows<'c>(pub &'c [Change]);

impl Display for ChangeRows<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for Change { what, before, after } in self.0 {
            let text = match (before, after) {
                (Some(before), Some(after)) => format!("{what}: {before} -> {after}"),
                (None, Some(after)) => format!("{what}: {after}"),
                (_, None) => continue,
            };
            writeln!(f, "         {}", Styled(FAINT, text))?;
        }
        Ok(())
    }
}
