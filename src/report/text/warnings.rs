//! The warnings of a report: the denied ones first, a few of each lint.

use std::fmt::{self, Display, Formatter};

use super::shell::is_long;
use super::{BAD, HEADING, Styled, plural, replay_command};
use crate::report::lint::{Level, Warning};
use crate::report::{CheckReport, Subject};

/// The maximum number of warnings that are shown for a lint.
const SHOWN: usize = 5;

/// The warnings of a report about this program; empty if there are none.
pub(super) struct Warnings<'r>(pub(super) &'r Subject, pub(super) &'r [Warning]);

impl Display for Warnings<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (level, style, heading) in
            [(Level::Deny, BAD, "Denied:"), (Level::Warn, HEADING, "Warnings:")]
        {
            let shown: Vec<_> = self.1.iter().filter(|w| w.level == level).collect();
            if !shown.is_empty() {
                writeln!(f, "\n{}", Styled(style, heading))?;
            }
            shown
                .chunk_by(|a, b| a.lint == b.lint)
                .try_for_each(|of_lint| self.some_of(f, of_lint))?;
        }
        Ok(())
    }
}

impl Warnings<'_> {
    /// Writes the first warnings of a lint, and how many more there are.
    fn some_of(&self, f: &mut Formatter<'_>, warnings: &[&Warning]) -> fmt::Result {
        for Warning { lint, message, file, has_files, line, replay, .. } in
            warnings.iter().take(SHOWN)
        {
            let place = line.map_or(String::new(), |line| match has_files {
                true => format!("{file}:{line}: "),
                false => format!("line {line}: "),
            });
            writeln!(f, "  {place}{message} ({})", lint.name())?;
            match replay {
                Some(replay) if is_long(replay) => {
                    writeln!(f, "    its schedule is long: --format json prints it")?;
                }
                Some(replay) if self.0.has_file() => {
                    writeln!(f, "    {}", replay_command(self.0, replay))?;
                }
                Some(replay) => writeln!(f, "    `Schedule` {replay}")?,
                None => {}
            }
        }
        match warnings.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            n => writeln!(f, "  and {n} more ({})", warnings[0].lint.name()),
        }
    }
}

/// The sentence that follows the verdict if warnings are denied; empty if none is.
pub(super) fn denied(report: &CheckReport) -> String {
    let count = report.warnings.iter().filter(|warning| warning.level == Level::Deny).count();
    match count {
        0 => String::new(),
        n => Styled(BAD, format!(" Denied: {}.", plural(n as u64, "warning", "warnings")))
            .to_string(),
    }
}
