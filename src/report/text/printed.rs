//! What processes have printed, below an execution.

use std::fmt::{self, Display, Formatter};

use super::{FAINT, HEADING, Styled};
use crate::model::printable;
use crate::property::Printed;

/// Of a longer text the last lines are shown.
const SHOWN: usize = 20;

/// What each process has printed; nothing if none has.
pub struct PrintedTexts<'p>(pub &'p [Printed]);

impl Display for PrintedTexts<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for Printed { process, text } in self.0 {
            writeln!(f, "\n{}", Styled(HEADING, format!("{process} has printed:")))?;
            let lines: Vec<&str> = text.lines().collect();
            let left_out = lines.len().saturating_sub(SHOWN);
            if left_out > 0 {
                let note = super::plural(left_out as u64, "line", "lines");
                writeln!(f, "  {}", Styled(FAINT, format!("... {note} before this ...")))?;
            }
            lines[left_out..].iter().try_for_each(|line| writeln!(f, "  {}", printable(line)))?;
        }
        Ok(())
    }
}
