//! The calls of collectives.

/// What a rank does in a collective. The calls of all ranks in one round have to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The kind.
    pub kind: CollectiveKind,
    /// The rank of the root, for kinds that have one.
    pub root: Option<u32>,
    /// The operator, for kinds that have one: a number that only the system understands.
    pub operator: Option<u32>,
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
