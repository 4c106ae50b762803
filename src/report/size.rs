//! The size of a program: about how many classes of executions it has.

#[cfg(feature = "json")]
use serde::Serialize;

use crate::explore::estimate::Estimate;

/// A number of classes, which may be estimated.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Size {
    /// The number.
    pub(crate) number: u64,
    /// Its standard error; 0 if the number is exact.
    pub(crate) error: u64,
    /// The number of samples of which it is the mean.
    pub(crate) samples: u32,
    /// Whether it is no estimate.
    pub(crate) exact: bool,
}

impl From<Estimate> for Size {
    fn from(found: Estimate) -> Size {
        let Estimate { classes, error, sweeps, is_exact, .. } = found;
        let [number, error] = [classes, error].map(|number| number.round() as u64);
        Size { number, error, samples: sweeps, exact: is_exact }
    }
}

/// A number of states, estimated from programs with a smaller constant.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct StatesInAll {
    /// The number.
    pub(crate) number: u64,
    /// The constant, and the values of it with which the states were counted.
    pub(crate) constant: String,
    pub(crate) from: [i64; 2],
}
