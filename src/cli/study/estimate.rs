//! Estimates how long the rest of a study takes.
//!
//! The estimate for a missing run is the median time of the other runs of its point, or else of its
//! program, or else of all runs. This is rough: larger constants take longer, and limits cut runs
//! short.

use std::collections::BTreeMap;

use crate::study::median;

/// The times of the runs so far, by point and program, both numbered.
#[derive(Default)]
pub(super) struct Estimate {
    by_point: BTreeMap<usize, Vec<f64>>,
    by_program: BTreeMap<usize, Vec<f64>>,
}

impl Estimate {
    pub(super) fn learn(&mut self, point: usize, program: usize, seconds: f64) {
        self.by_point.entry(point).or_default().push(seconds);
        self.by_program.entry(program).or_default().push(seconds);
    }

    /// The estimated total time in seconds of runs of these (point, program) pairs; `None` before
    /// the first run is known.
    pub(super) fn of(&self, missing: impl Iterator<Item = (usize, usize)>) -> Option<f64> {
        let medians = |times: &BTreeMap<usize, Vec<f64>>| -> BTreeMap<usize, f64> {
            times.iter().filter_map(|(&of, times)| Some((of, median(times)?))).collect()
        };
        let (by_point, by_program) = (medians(&self.by_point), medians(&self.by_program));
        let all: Vec<f64> = self.by_point.values().flatten().copied().collect();
        let any = median(&all)?;
        let one = |(point, program): (usize, usize)| {
            by_point.get(&point).or(by_program.get(&program)).copied().unwrap_or(any)
        };
        Some(missing.map(one).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_take_as_long_as_those_like_them() {
        let mut estimate = Estimate::default();
        assert_eq!(estimate.of([(0, 0)].into_iter()), None);
        estimate.learn(0, 0, 1.0);
        estimate.learn(1, 0, 3.0);
        estimate.learn(5, 2, 8.0);
        assert_eq!(estimate.of([(0, 0)].into_iter()), Some(1.0));
        assert_eq!(estimate.of([(2, 0)].into_iter()), Some(2.0));
        assert_eq!(estimate.of([(9, 7), (5, 2)].into_iter()), Some(3.0 + 8.0));
    }
}
