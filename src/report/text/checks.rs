//! The results of one program under several readings of what MPI leaves open.

use std::fmt::{self, Display, Formatter};

use super::{BAD, Check, HEADING, Styled};
use crate::explore::Verdict;
use crate::report::{CheckReport, Variants};

/// The results of several searches of one program.
pub(crate) struct Checks<'r> {
    /// The results.
    pub(crate) reports: &'r [CheckReport],
    /// Whether to show only the verdicts.
    pub(crate) quiet: bool,
    /// The maximum width of tables, in characters.
    pub(crate) room: usize,
}

impl Display for Checks<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Checks { reports, quiet, room } = *self;
        let name = |report: &CheckReport| {
            let semantics = report.subject.semantics.unwrap_or_default();
            let (buffering, leaving) = (semantics.buffering, semantics.leaving);
            format!("buffering {buffering}, collectives {leaving}")
        };
        for report in reports {
            writeln!(f, "{}", Styled(HEADING, format!("With {}:", name(report))))?;
            writeln!(f, "{}", Check { report, quiet, room })?;
        }
        let of = |verdict: Verdict| reports.iter().filter(move |report| report.verdict == verdict);
        if !Variants::new(reports).agree && of(Verdict::Ok).next().is_some() {
            let right: Vec<_> = of(Verdict::Ok).map(name).collect();
            let line = format!(
                "Whether it is right depends on what MPI leaves open: it is with {}.",
                right.join("; with ")
            );
            writeln!(f, "{}", Styled(BAD, line))?;
        }
        Ok(())
    }
}
