//! The plan of a search through the full state graph: when it works in batches, and how large they
//! are ([`super::batches`]).

/// When to explore in batches, and by how many threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The number of threads.
    pub(crate) jobs: usize,
    /// Number of transitions before batches begin.
    pub(crate) first: u64,
    /// Number of replayed actions after which batches end (in addition to an eighth of the
    /// transitions).
    pub(crate) max_replayed: u64,
}

impl Default for Plan {
    /// One thread. Most programs are done before batches begin.
    fn default() -> Plan {
        Plan { jobs: 1, first: 1 << 17, max_replayed: 1 << 16 }
    }
}

impl Plan {
    /// The least number of states that a thread expands at a time.
    pub(super) fn part(self) -> usize {
        (self.first as usize >> 8).max(1)
    }

    /// The least size of a batch that is shared among threads.
    pub(super) fn to_share(self) -> usize {
        4 * self.part()
    }

    /// The least size of a batch, if the frontier has as many states.
    pub(super) fn batch(self) -> usize {
        8 * self.part()
    }
}

/// How far a search by levels is: the sizes of the levels that are complete, and the number of
/// states that were known when the last of them was.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    pub(super) counts: Vec<u64>,
    pub(super) before: usize,
}

/// Where a search by memoised moves was when it was saved.
#[cfg_attr(not(feature = "json"), expect(dead_code, reason = "no search is saved"))]
#[derive(Debug)]
pub(super) enum Place {
    /// It went from state to state, and had not gone in batches.
    BeforeBatches,
    InBatches,
    InLevels(Levels),
    /// It had fallen back to one state at a time.
    AfterBatches,
}

/// A search that was to go on from a saved state has ended already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended;
