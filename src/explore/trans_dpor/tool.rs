//! TransDPOR by its tool

use crate::explore::walk::{self, Rule, Walk};
use crate::explore::{Driver, Guarantee, Info, Scheduling};
use crate::explore::dpor::{known, maker};
use crate::model::{Action, Footprint, ProcessId, System};
use crate::trace::Strand;

/// What it is.
pub const INFO: Info = Info {
    name: "transdpor-tool",
    summary: "TransDPOR as the tool of its paper has it, for its numbers",
    source: "Tasharofi et al. (FORTE 2012), table 1",
    guarantee: Guarantee::EveryClass,
    requires: Some("actors only, without guards"),
};

/// Visits
pub fn explore<S: System>(system: &S, scheduling: Scheduling, driver: &mut Driver<'_>) {
    walk::explore(system, scheduling, &mut Tool, driver);
}

struct Tool;
