//! What to try instead of a search that ran out of time.

#[cfg(feature = "json")]
use serde::Serialize;

/// An explorer that finishes soon on a system on which another one ran out of time.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Faster {
    /// Its name.
    pub(crate) explorer: &'static str,
    /// Whether it finds a violation; otherwise it completes its search.
    pub(crate) finds_violation: bool,
    /// The time that it takes, in seconds.
    pub(crate) wall_seconds: f64,
}
