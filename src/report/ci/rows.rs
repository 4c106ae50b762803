//! The rows of a comparison as test cases.

use super::junit::{Case, Judged};
use super::kind;
use crate::explore::Verdict;
use crate::report::comparison::Comparison;
use crate::study::{Measured, Ran, Row};

/// A test case for each row, for each disagreement, and for rows that were not run.
pub(crate) fn rows(comparison: &Comparison) -> Vec<Case> {
    let of_comparison = |judged| Case {
        class: "comparison".into(),
        name: "explorers agree".into(),
        seconds: 0.0,
        judged,
    };
    let mut cases: Vec<Case> = comparison.rows.iter().map(|row| case(row, comparison)).collect();
    cases.extend(comparison.disagreements().into_iter().map(|text| {
        let message = "explorers with the same guarantee have different results".into();
        of_comparison(Judged::Failed { kind: "disagreement", message, text })
    }));
    if comparison.not_run > 0 {
        let message = format!("interrupted: {} rows were not run", comparison.not_run);
        let (reason, text) = ("interrupted".into(), String::new());
        cases.push(of_comparison(Judged::Undecided { reason, message, text }));
    }
    cases
}

fn case(row: &Row, comparison: &Comparison) -> Case {
    let defines = match row.defines.as_str() {
        "" => String::new(),
        defines => format!(" ({defines})"),
    };
    let seconds = row.measured().map_or(0.0, |measured| measured.stats.wall_seconds);
    let judged = match &row.ran {
        Ran::Refused(why) => Judged::Skipped(why.clone()),
        Ran::Failed(how) => Judged::Undecided {
            reason: "failed".into(),
            message: format!("the search ended without a result: {how}"),
            text: String::new(),
        },
        Ran::Measured(measured) => judged(measured, row, comparison),
    };
    Case { class: row.spec.clone(), name: format!("{}{defines}", row.searcher), seconds, judged }
}

fn judged(measured: &Measured, row: &Row, comparison: &Comparison) -> Judged {
    if let Some(&first) = measured.found.first() {
        let kinds: Vec<&str> = measured.found.iter().map(|&found| kind(found)).collect();
        let message = format!("found: {}", kinds.join(", "));
        let text = "`mazurka check` shows the executions".into();
        return Judged::Failed { kind: kind(first), message, text };
    }
    let Some(reason) = measured.stopped_by else {
        return match measured.verdict {
            Verdict::Ok => Judged::Passed,
            verdict => Judged::Undecided {
                reason: "incomplete".into(),
                message: format!("not decided: {verdict:?}"),
                text: String::new(),
            },
        };
    };
    // Another explorer has decided it, and this one came to its end.
    let is_same = |other: &&Row| other.spec == row.spec && other.constants == row.constants;
    let mut others = comparison.rows.iter().filter(is_same).filter_map(Row::measured);
    if measured.has_ended() && others.any(Measured::is_complete) {
        let word = reason.word();
        return Judged::Skipped(format!(
            "proves nothing ({word}): another explorer has decided it"
        ));
    }
    Judged::Undecided {
        reason: reason.word().into(),
        message: format!("not decided: the search was stopped ({})", reason.word()),
        text: String::new(),
    }
}
