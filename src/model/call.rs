//! The calls of collectives.

/// What a rank does in a collective. The calls of all ranks in one round have to
/// [agree](Call::agrees).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The kind.
    pub kind: CollectiveKind,
    /// The rank of the root, for kinds that have one. On an intercommunicator, the other ranks of
    /// its group do not know it.
    pub root: Option<u32>,
    /// The operator, for kinds that have one: a number that only the system understands.
    pub operator: Option<u32>,
    /// On an intercommunicator, whose ranks are those of one group and then those of the other:
    /// the size of the first group. Otherwise 0.
    pub first_group: u16,
}

impl Call {
    /// May these be the calls of two ranks in one round?
    pub fn agrees(&self, other: &Call) -> bool {
        let rest = |call: &Call| (call.kind, call.operator, call.first_group);
        let is_unknown = |call: &Call| call.first_group > 0 && call.root.is_none();
        let has_root = is_unknown(self) || is_unknown(other) || self.root == other.root;
        rest(self) == rest(other) && has_root
    }

    /// All that it consists of, for codes of states.
    pub(super) fn words(self) -> [u32; 4] {
        let part = |part: Option<u32>| part.map_or(0, |part| part + 1);
        [self.kind as u32, part(self.root), part(self.operator), self.first_group.into()]
    }
}

impl CollectiveKind {
    /// The name of the blocking operation in the modelling language.
    pub fn name(self) -> &'static str {
        use CollectiveKind::*;
        match self {
            Barrier => "barrier",
            Bcast => "bcast",
            Scatter => "scatter",
            Gather => "gather",
            Reduce => "reduce",
            Allreduce => "allreduce",
            Allgather => "allgather",
            Alltoall => "alltoall",
            Scan => "scan",
            Exscan => "exscan",
            ReduceScatter => "reduce_scatter",
        }
    }
}

/// The kinds of collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum CollectiveKind {
    Barrier,
    Bcast,
    Scatter,
    Gather,
    Reduce,
    Allreduce,
    Allgather,
    Alltoall,
    Scan,
    Exscan,
    ReduceScatter,
}

impl CollectiveKind {
    /// All kinds, in this order. The library for programs in C uses the same numbers.
    pub const ALL: [CollectiveKind; 11] = {
        use CollectiveKind::*;
        [
            Barrier,
            Bcast,
            Scatter,
            Gather,
            Reduce,
            Allreduce,
            Allgather,
            Alltoall,
            Scan,
            Exscan,
            ReduceScatter,
        ]
    };
}
