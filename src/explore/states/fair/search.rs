//! The explorer `fair`: its profile, and what it refuses. See the head of the module.

use super::growth;
use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile};
use crate::explore::result::StopReason;
use crate::explore::settings::options::{Options, Takes};
use crate::model::System;

/// Judges what must happen in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fair;

impl Fair {
    /// The explorer; it has no options.
    pub fn new(_: &Options) -> Self {
        Fair
    }
}

impl Explorer for Fair {
    fn profile(&self) -> Profile {
        Profile {
            name: "fair",
            summary: "every state and step, and what must happen on fair executions that go round for ever",
            guarantee: Guarantee::EveryEnd,
            takes: Takes::NOTHING,
            depth: Depth::Unbounded,
            every_state: true,
            can_be_saved: true,
            judges_loops: true,
            knows_when_stuck: true,
            ..Profile::default()
        }
    }

    fn refusal<S: System>(&self, _: &S, budget: &Budget) -> Option<String> {
        budget.depth.is_some().then(|| {
            "`fair` takes no depth bound: what must happen in the end has no last step".into()
        })
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        if self.refusal(system, driver.budget()).is_some() {
            return driver.stop(StopReason::NoGuarantee);
        }
        growth::explore(system, driver);
    }
}
