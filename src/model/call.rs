//! The calls of collectives.

/// What a rank does in a collective. The calls of all ranks in one round have to
/// [agree](Call::agrees).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The kind.
    pub kind: CollectiveKind,
    /// The rank of the root, for kinds that have one. On an intercommunicator of MPI, the other
    /// ranks of its group do not know it.
    pub root: Option<u32>,
    /// The operator, for kinds that have one: a number that only the system understands.
    pub operator: Option<u32>,
}

impl Call {
    /// May these be the calls of two ranks in one round?
    pub fn agrees(&self, other: &Call) -> bool {
        let rest = |call: &Call| (call.kind, call.operator);
        let roots = self.root.zip(other.root);
        rest(self) == rest(other) && roots.is_none_or(|(one, other)| one == other)
    }

    /// All that it consists of, for codes of states.
    pub(super) fn words(self) -> [u32; 3] {
        let part = |part: Option<u32>| part.map_or(0, |part| part + 1);
        [self.kind as u32, part(self.root), part(self.operator)]
    }
}

/// Between which ranks data goes in a collective, where the kind of the call does not say it: not
/// between all of them, because there is none, or only between neighbours, or between two groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partners {
    /// The ranks that this one gets data from, in ascending order. It leaves when they have
    /// entered.
    pub from: Vec<u32>,
    /// The ranks that this one gives data to. The calls do not agree if one of them does not get
    /// data from this one.
    pub to: Vec<u32>,
}

impl Partners {
    /// All that they consist of, for codes of states.
    pub(super) fn words(&self) -> impl Iterator<Item = u32> {
        let list = |ranks: &[u32]| std::iter::once(ranks.len() as u32).chain(ranks.to_vec());
        list(&self.from).chain(list(&self.to))
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
