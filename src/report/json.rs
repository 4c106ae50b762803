//! One JSON object a report.

use serde::Serialize;

/// The report as indented JSON, with a line break at the end.
///
/// # Panics
/// Never for the reports of this crate: their keys are strings and their numbers finite.
pub fn render(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).expect("reports are serialisable") + "\n"
}
