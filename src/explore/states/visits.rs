//! What a search in batches has asked the model, in order, so that it can be asked again
//! (`states/kept`).

/// What a search in batches has asked the model.
#[cfg(feature = "json")]
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// For each visit: what was done, how many moves the way to the state has in common with the
    /// one before, how many further moves it has, and their numbers.
    pub(super) entries: Vec<u32>,
    /// The way to the state of the last visit.
    last: Vec<u32>,
}

/// What was done in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Visit {
    /// Unknown moves were learned.
    Learn,
    /// Moves were executed that cannot be learned.
    Try,
}

#[cfg(feature = "json")]
impl Log {
    /// Notes what is done in the state to which this way leads.
    pub(super) fn note(&mut self, visit: Visit, way: &[u32]) {
        let same = self.last.iter().zip(way).take_while(|(one, other)| one == other).count();
        let rest = &way[same..];
        self.entries.extend([visit as u32, same as u32, rest.len() as u32]);
        self.entries.extend_from_slice(rest);
        self.last.truncate(same);
        self.last.extend_from_slice(rest);
    }
}
