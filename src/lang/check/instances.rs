//! How many instances a declaration of a process or an actor has.

/// How a process or an actor comes into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instantiation {
    /// One instance, from the start.
    Single,
    /// Instances with the indices `lo..hi`, from the start.
    Family { lo: i64, hi: i64 },
    /// Instances are made by `spawn`.
    Template,
}

impl Instantiation {
    /// The number of instances that exist from the start.
    pub(crate) fn instances(self) -> u32 {
        match self {
            Instantiation::Single => 1,
            Instantiation::Family { lo, hi } => (hi - lo) as u32,
            Instantiation::Template => 0,
        }
    }
}
