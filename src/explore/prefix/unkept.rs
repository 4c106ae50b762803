//! Without the features `json` and `sat`, no search is saved.

#[cfg(feature = "sat")]
use super::replies::Replies;
use crate::explore::driver::Driver;

/// What is noted of a search: nothing.
#[derive(Default)]
pub(crate) struct Kept {
    #[cfg(feature = "sat")]
    pub(super) replies: Replies,
}

impl Kept {
    pub(super) fn begun(_: &Driver<'_>) -> Option<Kept> {
        Some(Kept::default())
    }

    pub(super) fn foretold(&self) -> Option<bool> {
        None
    }

    pub(super) fn note(&self, _: Option<bool>, _: bool) {}

    pub(super) fn pass(&self, _: bool, _: &Driver<'_>) {}

    pub(super) fn is_built(&self, _: &Driver<'_>) {}

    pub(super) fn end(&self, _: &Driver<'_>) {}
}
