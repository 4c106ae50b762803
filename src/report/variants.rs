//! The results of several searches of one program.

#[cfg(feature = "json")]
use serde::Serialize;

use super::{CheckReport, VERSION};
use crate::explore::Verdict;

/// The results of `check` for several choices of what MPI leaves open.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Variants<'r> {
    /// This crate's version.
    pub mazurka: &'static str,
    /// The path of the spec.
    pub spec: &'r str,
    /// The most serious of the verdicts.
    pub verdict: Verdict,
    /// Whether all searches ended with the same verdict.
    pub agree: bool,
    /// The result of each search.
    pub searches: &'r [CheckReport],
}

impl<'r> Variants<'r> {
    /// Summarises these searches, of which there is at least one.
    pub fn new(searches: &'r [CheckReport]) -> Self {
        let verdicts = || searches.iter().map(|report| report.verdict);
        let bad =
            verdicts().find(|&verdict| verdict != Verdict::Ok && verdict != Verdict::Incomplete);
        let unsure = verdicts().find(|&verdict| verdict == Verdict::Incomplete);
        Variants {
            mazurka: VERSION,
            spec: &searches[0].subject.spec,
            verdict: bad.or(unsure).unwrap_or(Verdict::Ok),
            agree: verdicts().all(|verdict| verdict == searches[0].verdict),
            searches,
        }
    }
}
