//! What to try instead of a search that ran out of time.

use serde::Serialize;

/// An explorer that comes to an end soon where the one that was asked for has run out of time.
#[derive(Clone, Debug, Serialize)]
pub struct Faster {
    /// Its name.
    pub explorer: &'static str,
    /// Does it find something wrong? Otherwise it explores everything.
    pub finds_violation: bool,
    /// How long that takes.
    pub wall_seconds: f64,
}
