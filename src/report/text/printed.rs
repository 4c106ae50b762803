//! The output of processes, below an execution.

use std::fmt::{self, Display, Formatter};

use super::{FAINT, HEADING, Styled, replay_command};
use crate::model::printable;
use crate::property::Printed;
use crate::report::{Shown, Subject};

/// The maximum number of lines, the last ones, that are shown below a counterexample.
const SHOWN: usize = 20;

/// The output of each process, its last 20 lines at most; empty if there is none.
pub(crate) struct PrintedTexts<'p>(pub(crate) &'p [Printed]);

impl Display for PrintedTexts<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|one| of_process(f, one, SHOWN))
    }
}

/// An execution in which nothing is wrong: all its output, and the command that shows its steps.
pub(super) struct ShownText<'r>(pub(super) &'r Subject, pub(super) &'r Shown);

impl Display for ShownText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ShownText(subject, Shown { printed, replay }) = self;
        printed.iter().try_for_each(|one| of_process(f, one, usize::MAX))?;
        if printed.is_empty() {
            writeln!(f, "\nNothing is printed in the first execution.")?;
        }
        if subject.has_file() {
            let heading = Styled(HEADING, "This is the first execution. Replay it step by step:");
            writeln!(f, "\n{heading}\n  {}", replay_command(subject, replay))?;
        }
        Ok(())
    }
}

/// The last `most` lines that a process has printed.
fn of_process(f: &mut Formatter<'_>, printed: &Printed, most: usize) -> fmt::Result {
    let Printed { process, text } = printed;
    writeln!(f, "\n{}", Styled(HEADING, format!("{process} has printed:")))?;
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len().saturating_sub(most);
    if left_out > 0 {
        let note = super::plural(left_out as u64, "line", "lines");
        writeln!(f, "  {}", Styled(FAINT, format!("... {note} before this ...")))?;
    }
    lines[left_out..].iter().try_for_each(|line| writeln!(f, "  {}", printable(line)))
}
