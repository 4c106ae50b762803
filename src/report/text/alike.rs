//! Violations with their numbers, and those that are alike in one place.

use std::fmt::{self, Display, Formatter};

use super::{HEADING, Styled, violation_line};
use crate::report::ViolationReport;

/// The maximum number of violations that are listed as alike.
const LISTED: usize = 10;

/// One of several violations, given by its number from 1, in a line.
pub(super) struct Numbered<'r>(pub(super) usize, pub(super) &'r [ViolationReport]);

impl Display for Numbered<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Numbered(number, all) = *self;
        let name = Styled(HEADING, format!("{number} of {}", all.len()));
        write!(f, "{name}  {}", violation_line(&all[number - 1]))
    }
}

/// The violations that are like the one with this number; empty if there are none.
pub(super) struct Alike<'r>(pub(super) usize, pub(super) &'r [ViolationReport]);

impl Display for Alike<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Alike(number, all) = *self;
        let alike = (1..).zip(all).filter(|(_, other)| other.like == Some(number));
        let alike: Vec<usize> = alike.map(|(number, _)| number).collect();
        if alike.is_empty() {
            return Ok(());
        }
        let heading = format!("{} more alike, with other names:", alike.len());
        writeln!(f, "\n{}", Styled(HEADING, heading))?;
        let listed = alike.iter().take(LISTED);
        listed.into_iter().try_for_each(|&other| writeln!(f, "  {}", Numbered(other, all)))?;
        match alike.len().saturating_sub(LISTED) {
            0 => Ok(()),
            rest => writeln!(f, "  and {rest} more"),
        }
    }
}
