//! In the place of `kept`, where the crate is built without the feature `json`: no search is saved.

use super::breadth_first::BreadthFirst;
use super::depth_first::{DepthFirst, Reduction};
use super::full_graph::FullGraph;
use super::news::{Form, News};
use super::plan::{Ended, Levels, Place, Plan};
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
) -> Result<Option<(FullGraph<'s, S>, Place)>, Ended> {
    Ok(None)
}

pub(super) fn depth_first_again<'s, S: System>(
    _: &'s S,
    _: Stateful,
    _: &mut impl Reduction<S>,
    _: &mut Driver<'_>,
) -> Result<Option<DepthFirst<'s, S>>, Ended> {
    Ok(None)
}

pub(super) fn breadth_first_again<'s, S: System>(
    _: &'s S,
    _: Stateful,
    _: u32,
    _: &mut Driver<'_>,
) -> Result<Option<BreadthFirst<'s, S>>, Ended> {
    Ok(None)
}

pub(super) fn news(_: &Driver<'_>) -> Option<News> {
    None
}

pub(super) fn save_from_state_to_state(_: Option<&News>, _: Form, _: &mut Driver<'_>) {}

impl<S: System> FullGraph<'_, S> {
    pub(super) fn keep_log(&mut self, _: &Driver<'_>) {}

    pub(super) fn note(&mut self, _: Visit) {}

    pub(super) fn save_now_and_then(&mut self, _: Option<&Levels>, _: &mut Driver<'_>) {}

    pub(super) fn save_one_by_one(&self, _: &mut Driver<'_>) {}

    pub(super) fn keep_batches(&mut self, _: &Driver<'_>) {}
}
