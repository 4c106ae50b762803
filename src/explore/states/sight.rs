//! Which steps the invariants of a program see, for a search that moves only those that none of
//! them sees.

use crate::explore::driver::Driver;
use crate::model::System;
use crate::property::{Invariants, Readers};

/// What a search that fuses steps knows of invariants.
#[derive(Default)]
pub(super) struct Sight(pub(super) Option<Readers>);

impl Sight {
    /// The sight of the invariants that the search has to judge.
    pub(super) fn new<S: System>(system: &S, driver: &Driver<'_>) -> Sight {
        let are_judged = driver.budget().properties.contain::<Invariants>();
        Sight(system.invariants().filter(|_| are_judged).map(|_| Readers::default()))
    }
}
