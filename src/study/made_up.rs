//! Points that were not measured, for tests.

use super::{Case, Figures, Measured, Point, Ran};
use crate::explore::{StopReason, Verdict};

/// A run with these figures that found nothing.
pub(crate) fn ran(stats: Figures, stopped_by: Option<StopReason>) -> Ran {
    Ran::Measured(Measured {
        verdict: Verdict::Ok,
        stopped_by,
        found: Vec::new(),
        processor_seconds: None,
        stats,
    })
}

/// A point of `x.maz` with N=3.
pub(crate) fn made_up(setting: &str, runs: Vec<Ran>) -> Point {
    let case = Case {
        name: "x.maz".into(),
        source: String::new(),
        defines: vec![("N".into(), "3".into())],
        by_statement: false,
        allow_pending: false,
        daemons: Vec::new(),
        unfair: false,
        semantics: Default::default(),
        faults: Default::default(),
    };
    Point::new(&case, Default::default(), setting.parse().unwrap(), runs)
}
