//! In the place of `kept`, where the crate is built without the feature `json`: no search is saved.

use super::full_graph::FullGraph;
use super::plan::{Ended, Levels, Plan};
use super::settings::Stateful;
use super::visits::Visit;
use crate::explore::driver::Driver;
use crate::model::System;

/// There is no saved state.
pub(super) fn resumed<'s, S: System>(
    _: &'s S,
    _: (Stateful, Plan),
    _: bool,
    _: &mut Driver<'_>,
) -> Result<Option<(FullGraph<'s, S>, Levels)>, Ended> {
    Ok(None)
}

impl<S: System> FullGraph<'_, S> {
    pub(super) fn keep_log(&mut self, _: &Driver<'_>) {}

    pub(super) fn note(&mut self, _: Visit) {}

    pub(super) fn save_now_and_then(&mut self, _: Option<&Levels>, _: &mut Driver<'_>) {}
}
