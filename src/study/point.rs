//! A point of a study: one search, repeated, because times differ from run to run.
//!
//! Everything else must be the same: two complete runs of one search visit the same executions in
//! the same order, so their counts are equal ([`Point::is_steady`]). A point shows the counts of
//! its first run, or of the first run that a limit stopped; the median of the times; and the
//! maximum of the memory.

use std::collections::BTreeMap;

use super::{Case, Measured, Ran, Row, Searcher};

/// A search with its repetitions.
#[derive(Clone, Debug)]
pub struct Point {
    /// All repetitions as one row; its time is the median.
    pub(crate) row: Row,
    /// The constants that were set, with their values.
    pub(crate) defines: Vec<(String, String)>,
    /// The time of each repetition, in seconds.
    pub(crate) seconds: Vec<f64>,
    /// Whether all complete runs had the same result, except for time and memory.
    pub(crate) is_steady: bool,
}

impl Point {
    /// The point of all runs of a case with a setting, of which there must be at least one.
    pub(crate) fn new(
        case: &Case,
        constants: BTreeMap<String, serde_json::Value>,
        searcher: Searcher,
        runs: Vec<Ran>,
    ) -> Point {
        let measured: Vec<_> = runs.iter().filter_map(measured).collect();
        let seconds: Vec<_> = measured.iter().map(|m| m.stats.wall_seconds).collect();
        let mut complete = measured.iter().filter(|m| m.has_ended()).map(|m| without_cost(m));
        let is_steady = complete.next().is_none_or(|first| complete.all(|other| other == first));
        let ran = runs.iter().find(|ran| measured_whole(ran).is_none());
        let mut ran = ran.or(runs.first()).expect("a run").clone();
        if let Ran::Measured(shown) = &mut ran {
            shown.stats.wall_seconds = median(&seconds).expect("the time of this one");
            let peaks = measured.iter().filter_map(|m| m.stats.peak_memory_bytes);
            shown.stats.peak_memory_bytes = peaks.max();
        }
        let defines = case.defines.clone();
        let row =
            Row { spec: case.name.clone(), constants, defines: case.constants(), searcher, ran };
        Point { row, defines, seconds, is_steady }
    }

    /// The explorer without its k: points that differ only in k have the same family.
    pub(crate) fn family(&self) -> String {
        self.row.searcher.family.clone()
    }

    /// The k as on the command line; `None` if the explorer has none.
    pub(crate) fn k(&self) -> Option<String> {
        self.row.searcher.k.clone()
    }

    /// The measurements, if the search is complete.
    pub(crate) fn complete(&self) -> Option<&Measured> {
        self.row.measured().filter(|measured| measured.has_ended())
    }
}

fn measured(ran: &Ran) -> Option<&Measured> {
    match ran {
        Ran::Measured(measured) => Some(measured),
        Ran::Refused(_) | Ran::Failed(_) => None,
    }
}

fn measured_whole(ran: &Ran) -> Option<&Measured> {
    measured(ran).filter(|measured| measured.has_ended())
}

fn without_cost(measured: &Measured) -> Measured {
    let mut same = measured.clone();
    same.processor_seconds = None;
    same.stats.wall_seconds = 0.0;
    same.stats.peak_memory_bytes = None;
    same
}

/// The median: the middle value, or the mean of the two middle values. `None` if there are no
/// values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n.is_multiple_of(2) => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        _ => Some(sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::StopReason;
    use crate::study::Figures;
    use crate::study::made_up::{made_up, ran};

    fn run(traces: u64, wall_seconds: f64, peak: u64, stopped_by: Option<StopReason>) -> Ran {
        let peak_memory_bytes = Some(peak);
        let stats = Figures { traces, wall_seconds, peak_memory_bytes, ..Figures::default() };
        ran(stats, stopped_by)
    }

    fn point(runs: Vec<Ran>) -> Point {
        made_up("udpor:k=2", runs)
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    #[test]
    fn repetitions_become_one() {
        let point =
            point(vec![run(6, 3.0, 10, None), run(6, 1.0, 30, None), run(6, 2.0, 20, None)]);
        let stats = &point.row.measured().unwrap().stats;
        assert_eq!((stats.traces, stats.wall_seconds), (6, 2.0));
        assert_eq!((stats.peak_memory_bytes, point.seconds.len()), (Some(30), 3));
        assert_eq!((point.family(), point.k()), ("udpor".into(), Some("2".into())));
        assert!(point.is_steady && point.complete().is_some());
    }

    #[test]
    fn a_point_is_complete_only_if_all_its_runs_are() {
        let point = point(vec![run(6, 1.0, 1, None), run(4, 2.0, 1, Some(StopReason::Timeout))]);
        assert!(point.is_steady && point.complete().is_none());
        assert_eq!(point.row.measured().unwrap().stats.traces, 4);
    }

    #[test]
    fn runs_that_differ_are_noticed() {
        assert!(!point(vec![run(6, 1.0, 1, None), run(7, 1.0, 1, None)]).is_steady);
    }
}
