//! Whether explorers agree.
//!
//! A complete search has visited every Mazurkiewicz class, if its explorer guarantees that. So for
//! two such searches of one program:
//!
//! - either both or neither have found a violation of each kind (and what an incomplete search has
//!   found, a complete one has found, too);
//! - if both store states, they have the same number of terminal states;
//! - if both visit every class once, their numbers of traces, deadlocked traces and violating
//!   traces are equal. An explorer that counts the classes of its traces has the same numbers of
//!   classes;
//! - no other explorer has fewer traces than classes.
//!
//! This module does not decide which of two rows is wrong.

use super::{Case, Figures, Row, Searcher};
use crate::explore::{Explorer, Guarantee, Setting, ViolationKind};

/// The subject of a disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Whether there is such a violation.
    Violation(ViolationKind),
    /// The number of classes.
    Classes,
    /// The number of classes that end in a deadlock.
    Deadlocked,
    /// The number of classes that violate something.
    Violating,
    /// The number of terminal states.
    Ends,
}

const SUBJECTS: [About; 9] = [
    About::Violation(ViolationKind::Deadlock),
    About::Violation(ViolationKind::Livelock),
    About::Violation(ViolationKind::Assertion),
    About::Violation(ViolationKind::Error),
    About::Violation(ViolationKind::Liveness),
    About::Classes,
    About::Deadlocked,
    About::Violating,
    About::Ends,
];

/// Two rows that cannot both be right.
#[derive(Clone, Debug)]
pub struct Disagreement {
    pub(crate) spec: String,
    /// The constants that were set.
    pub(crate) defines: String,
    /// The subject.
    pub(crate) about: About,
    /// One explorer and its number; for violations 1 if it found one, or else 0.
    pub(crate) one: (Searcher, u64),
    /// The other explorer and its number.
    pub(crate) other: (Searcher, u64),
}

/// All disagreements: the first pair for each program and subject.
pub fn disagreements(rows: &[Row]) -> Vec<Disagreement> {
    let is_same = |a: &Row, b: &Row| a.spec == b.spec && a.defines == b.defines;
    let mut found = Vec::new();
    for (index, first) in rows.iter().enumerate() {
        if rows[..index].iter().any(|earlier| is_same(earlier, first)) {
            continue;
        }
        let of_program: Vec<_> = rows.iter().filter(|row| is_same(row, first)).collect();
        found.extend(SUBJECTS.into_iter().filter_map(|about| disagreement(&of_program, about)));
    }
    found
}

fn disagreement(rows: &[&Row], about: About) -> Option<Disagreement> {
    let ((one, first), (other, second)) = match about {
        About::Violation(kind) => over_violation(rows, kind),
        About::Classes => over_number(rows, classes).or_else(|| too_few(rows)),
        About::Deadlocked => over_number(rows, |row| once(row, |stats| stats.deadlocked_traces)),
        About::Violating => over_number(rows, |row| once(row, |stats| stats.violating_traces)),
        About::Ends => over_number(rows, ends),
    }?;
    Some(Disagreement {
        spec: one.spec.clone(),
        defines: one.defines.clone(),
        about,
        one: (one.searcher.clone(), first),
        other: (other.searcher.clone(), second),
    })
}

/// Two rows, each with its number.
type Pair<'r> = ((&'r Row, u64), (&'r Row, u64));

/// A pair where one row has found such a violation, and the other has visited everything without
/// finding any.
fn over_violation<'r>(rows: &[&'r Row], kind: ViolationKind) -> Option<Pair<'r>> {
    let has_found = |row: &Row| row.measured().is_some_and(|m| m.found.contains(&kind));
    let finder = rows.iter().find(|row| has_found(row))?;
    let denier = rows.iter().find(|row| has_found_all(row) && !has_found(row))?;
    Some(((finder, 1), (denier, 0)))
}

/// A pair with different numbers.
fn over_number<'r>(rows: &[&'r Row], number: impl Fn(&Row) -> Option<u64>) -> Option<Pair<'r>> {
    let mut known = rows.iter().filter_map(|&row| Some((row, number(row)?)));
    let first = known.next()?;
    let other = known.find(|other| other.1 != first.1)?;
    Some((first, other))
}

/// A pair where one row visits each class at least once, but has fewer traces than the other has
/// classes.
fn too_few<'r>(rows: &[&'r Row]) -> Option<Pair<'r>> {
    let knower = rows.iter().find_map(|&row| Some((row, classes(row)?)))?;
    let mut complete = rows.iter().filter(|row| has_met_all(row));
    let short = complete.find_map(|&row| {
        let traces = row.measured()?.stats.traces;
        (traces < knower.1).then_some((row, traces))
    })?;
    Some((knower, short))
}

/// Whether the row has visited every class.
fn has_met_all(row: &Row) -> bool {
    is_complete(row) && row.searcher.guarantee >= Guarantee::EveryClass
}

/// Whether the row would have found every kind of violation.
fn has_found_all(row: &Row) -> bool {
    is_complete(row) && row.searcher.guarantee >= Guarantee::EveryEnd
}

fn is_complete(row: &Row) -> bool {
    row.measured().is_some_and(|measured| measured.is_complete())
}

/// The number of terminal states, if the row has it. It has not if states include histories: then
/// executions that end alike are distinguished. Nor has it if an explorer of classes has answered,
/// which builds events.
fn ends(row: &Row) -> Option<u64> {
    let stores_states = row.searcher.guarantee == Guarantee::EveryEnd;
    let has_ends = is_complete(row) && stores_states && !row.searcher.with_histories;
    let stats = &row.measured().filter(|_| has_ends)?.stats;
    stats.events_built.is_none().then_some(stats.traces)
}

/// The number of executions that a complete search with this setting will visit, if an earlier row
/// of the same program determines it.
pub(crate) fn foreseen(rows: &[Row], case: &Case, setting: &Setting) -> Option<u64> {
    let defines = case.constants();
    let of_case = |row: &&Row| row.spec == case.name && row.defines == defines;
    let known = rows.iter().filter(of_case).find_map(classes);
    known.filter(|_| setting.profile().guarantee == Guarantee::EveryClassOnce)
}

/// The number of classes, if the row determines it.
fn classes(row: &Row) -> Option<u64> {
    let measured = row.measured().filter(|_| has_met_all(row))?;
    match row.searcher.guarantee {
        Guarantee::EveryClassOnce => Some(measured.stats.traces),
        _ => measured.stats.classes,
    }
}

/// A number of classes, if the row visits each class once: then it is the row's number of traces.
fn once(row: &Row, number: impl Fn(&Figures) -> u64) -> Option<u64> {
    let measured = row.measured().filter(|_| has_met_all(row))?;
    let is_each_once = row.searcher.guarantee == Guarantee::EveryClassOnce;
    is_each_once.then(|| number(&measured.stats))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{StopReason, Verdict};
    use crate::study::{Measured, Ran};

    fn row(setting: &str, traces: u64, classes: Option<u64>, found: &[ViolationKind]) -> Row {
        let stats = Figures { traces, classes, ..Figures::default() };
        let verdict = found.first().map_or(Verdict::Ok, |&kind| kind.into());
        let found = found.to_vec();
        Row {
            spec: "made-up.maz".into(),
            constants: Default::default(),
            defines: String::new(),
            searcher: setting.parse().unwrap(),
            ran: Ran::Measured(Measured {
                verdict,
                stopped_by: None,
                found,
                processor_seconds: None,
                stats,
            }),
        }
    }

    fn stopped(mut row: Row, reason: StopReason) -> Row {
        if let Ran::Measured(measured) = &mut row.ran {
            measured.stopped_by = Some(reason);
        }
        row
    }

    fn subjects(rows: &[Row]) -> Vec<About> {
        disagreements(rows).into_iter().map(|disagreement| disagreement.about).collect()
    }

    #[test]
    fn classes_are_compared_by_what_is_promised() {
        let judge = row("exhaustive", 90, Some(6), &[]);
        assert_eq!(subjects(&[judge.clone(), row("udpor", 6, None, &[])]), []);
        assert_eq!(subjects(&[judge.clone(), row("udpor", 5, None, &[])]), [About::Classes]);
        let all = [judge, row("udpor", 6, None, &[]), row("udpor:k=1", 7, None, &[])];
        let found = &disagreements(&all)[0];
        assert_eq!((found.one.1, found.other.1), (6, 7));
        assert_eq!(found.other.0.to_string(), "udpor:k=1");
    }

    #[test]
    fn nobody_has_fewer_traces_than_there_are_classes() {
        let few = row("exhaustive", 5, None, &[]);
        assert_eq!(subjects(&[row("udpor", 6, None, &[]), few]), [About::Classes]);
    }

    #[test]
    fn incomplete_rows_only_count_for_what_they_found() {
        let cut = stopped(row("udpor", 2, None, &[]), StopReason::MaxTraces);
        assert_eq!(subjects(&[cut.clone(), row("udpor:k=1", 6, None, &[])]), []);
        let deadlock = &[ViolationKind::Deadlock];
        let found = stopped(row("udpor", 2, None, deadlock), StopReason::Violation);
        let violation = About::Violation(ViolationKind::Deadlock);
        assert_eq!(subjects(&[found.clone(), row("udpor:k=1", 6, None, &[])]), [violation]);
        assert_eq!(subjects(&[found, cut]), []);
    }

    #[test]
    fn terminal_states_are_compared_among_those_who_store_them() {
        let (full, good, bad) = (
            row("stateful", 5, None, &[]),
            row("dl-s-por", 5, None, &[]),
            row("s-por", 4, None, &[]),
        );
        let others = [row("udpor", 9, None, &[]), row("stateful:histories", 7, None, &[])];
        assert_eq!(subjects(&[&[full.clone(), good], &others[..]].concat()), []);
        assert_eq!(subjects(&[full.clone(), bad]), [About::Ends]);
        let deadlock = row("udpor", 9, None, &[ViolationKind::Deadlock]);
        assert_eq!(subjects(&[full, deadlock]), [About::Violation(ViolationKind::Deadlock)]);
        let printed = row("de-s-por:as-printed", 1, None, &[]);
        assert_eq!(subjects(&[row("stateful", 5, None, &[]), printed]), []);
    }

    #[test]
    fn different_programs_are_not_compared() {
        let mut other = row("udpor", 6, None, &[]);
        other.defines = "N=4".into();
        assert_eq!(subjects(&[row("udpor", 2, None, &[]), other]), []);
    }

    #[test]
    fn deadlocked_classes_are_compared() {
        let mut one = row("udpor", 6, None, &[ViolationKind::Deadlock]);
        let other = one.clone();
        if let Ran::Measured(measured) = &mut one.ran {
            measured.stats.deadlocked_traces = 1;
        }
        assert_eq!(subjects(&[one.clone(), other.clone()]), [About::Deadlocked]);
        if let Ran::Measured(measured) = &mut one.ran {
            measured.stats.deadlocked_traces = 0;
            measured.stats.violating_traces = 1;
        }
        assert_eq!(subjects(&[one, other]), [About::Violating]);
    }
}
