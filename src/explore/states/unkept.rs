//! In the place of `kept`, where the crate is built without the feature `json`: no search is saved.

use super::full_graph::FullGraph;
use super::plan::{Ended, Levels, Place, Plan};
use super::settings::Stateful;
use super::visits::Visit;
use crate::explore::driver::Driver;
use crate::explore::news::{Form, News, Noting};
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

pub(super) fn gone_again<S: System, T: Noting>(
    _: &S,
    _: Form,
    _: &mut Driver<'_>,
    _: impl FnOnce(News, u32, &mut Driver<'_>) -> T,
) -> Result<Option<T>, Ended> {
    Ok(None)
}

pub(super) fn news(_: &Driver<'_>) -> Option<News> {
    None
}

pub(super) fn save_from_state_to_state(_: &mut impl Noting, _: Form, _: &mut Driver<'_>) {}

impl<S: System> FullGraph<'_, S> {
    pub(super) fn keep_log(&mut self, _: &Driver<'_>) {}

    pub(super) fn note(&mut self, _: Visit) {}

    pub(super) fn save_now_and_then(&mut self, _: Option<&Levels>, _: &mut Driver<'_>) {}

    pub(super) fn save_one_by_one(&self, _: &mut Driver<'_>) {}

    pub(super) fn keep_batches(&mut self, _: &Driver<'_>) {}
}
