//! Operations that a fixed number of ranks carry out together.

use std::panic::Location;

use super::data::{Data, pack, unpack};
use super::handle::Named;
use super::making::Made;
use super::panics::blame;
use super::process::{Place, Wire, ask};
use super::text::Text;
use crate::model::{Call, CollectiveId, CollectiveKind, Completion, Op, Value};
use crate::systems::history::{Asked, Told};

/// Operations that a fixed number of ranks carry out together, round by round. Each process takes
/// part as one rank.
///
/// ```
/// use mazurka::program::Program;
///
/// let mut program = Program::new();
/// let world = program.collective("world", 3);
/// for me in 0..3 {
///     let world = world.rank(me);
///     program.process(format!("rank {me}"), async move || {
///         let sum = world.allreduce(me, |a, b| a + b).await;
///         assert_eq!(sum, 3);
///         let all = world.gather(0, sum * me).await;
///         assert_eq!(all, (me == 0).then(|| vec![0, 3, 6]));
///     });
/// }
/// mazurka::check(&program.build()).assert_ok();
/// ```
///
/// Ranks wait for each other only as far as MPI promises: in `bcast` and `scatter` for the root; in
/// `gather` and `reduce` the root for all; in `scan` for the ranks before; otherwise all for all.
/// All ranks have to make the same call with the same root; anything else is a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collective {
    pub(super) named: Named<CollectiveId>,
    pub(super) ranks: u32,
}

/// A rank of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rank {
    named: Named<CollectiveId>,
    rank: u32,
    ranks: u32,
}

impl Collective {
    /// A collective that the running process makes, with this number of ranks.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares a
    /// [`collective`](super::Program::collective). More than 64 are a violation.
    #[track_caller]
    pub fn new(name: impl AsRef<str>, ranks: u32) -> Self {
        let (wire, place) = (Wire::current(), Location::caller());
        let named = wire.make_for(ranks, Made::Collective, name.as_ref(), CollectiveId, place);
        Collective { named, ranks }
    }

    /// The rank with this number. Only one process may take part as this rank.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn rank(self, rank: u32) -> Rank {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        Rank { named: self.named, rank, ranks: self.ranks }
    }
}

impl Rank {
    /// Waits until all ranks have entered.
    #[track_caller]
    pub fn barrier(self) -> impl Future<Output = ()> {
        let call = Calling::new(self, CollectiveKind::Barrier, None, Location::caller());
        async move { drop(call.enter::<(), ()>(()).await) }
    }

    /// Gives every rank the value of the root. The other ranks pass `None`.
    #[track_caller]
    pub fn bcast<T: Data>(self, root: u32, value: Option<T>) -> impl Future<Output = T> {
        let call = Calling::new(self, CollectiveKind::Bcast, Some(root), Location::caller());
        async move {
            let given = call.enter::<Option<T>, Option<T>>(value).await;
            given.into_iter().next().flatten().unwrap_or_else(|| call.blame_root())
        }
    }

    /// Gives each rank the value at its place in the list of the root. The other ranks pass `None`.
    #[track_caller]
    pub fn scatter<T: Data>(self, root: u32, values: Option<Vec<T>>) -> impl Future<Output = T> {
        let call = Calling::new(self, CollectiveKind::Scatter, Some(root), Location::caller());
        async move {
            let given = call.enter::<Option<Vec<T>>, Option<Vec<T>>>(values).await;
            let list = given.into_iter().next().flatten().unwrap_or_else(|| call.blame_root());
            call.own_part(list)
        }
    }

    /// Gives the root the values of all ranks, in the order of ranks. The other ranks get `None`.
    #[track_caller]
    pub fn gather<T: Data>(self, root: u32, value: T) -> impl Future<Output = Option<Vec<T>>> {
        let call = Calling::new(self, CollectiveKind::Gather, Some(root), Location::caller());
        async move {
            let given = call.enter(value).await;
            (self.rank == root).then_some(given)
        }
    }

    /// Gives the root all values, combined from left to right. The other ranks get `None`.
    #[track_caller]
    pub fn reduce<T: Data>(
        self,
        root: u32,
        value: T,
        combine: impl Fn(T, T) -> T,
    ) -> impl Future<Output = Option<T>> {
        let call = Calling::new(self, CollectiveKind::Reduce, Some(root), Location::caller());
        async move {
            let given: Vec<T> = call.enter(value).await;
            given.into_iter().reduce(combine).filter(|_| self.rank == root)
        }
    }

    /// Gives every rank the values of all ranks, in the order of ranks.
    #[track_caller]
    pub fn allgather<T: Data>(self, value: T) -> impl Future<Output = Vec<T>> {
        let call = Calling::new(self, CollectiveKind::Allgather, None, Location::caller());
        async move { call.enter(value).await }
    }

    /// Gives every rank all values, combined from left to right.
    #[track_caller]
    pub fn allreduce<T: Data>(
        self,
        value: T,
        combine: impl Fn(T, T) -> T,
    ) -> impl Future<Output = T> {
        let call = Calling::new(self, CollectiveKind::Allreduce, None, Location::caller());
        async move {
            let given: Vec<T> = call.enter(value).await;
            given.into_iter().reduce(combine).expect("there is a rank")
        }
    }

    /// Gives each rank the values at its place in the lists of all ranks, in the order of ranks.
    #[track_caller]
    pub fn alltoall<T: Data>(self, values: Vec<T>) -> impl Future<Output = Vec<T>> {
        let call = Calling::new(self, CollectiveKind::Alltoall, None, Location::caller());
        async move {
            let given: Vec<Vec<T>> = call.enter(values).await;
            given.into_iter().map(|list| call.own_part(list)).collect()
        }
    }

    /// Gives each rank the values of the ranks up to its own, combined from left to right.
    #[track_caller]
    pub fn scan<T: Data>(self, value: T, combine: impl Fn(T, T) -> T) -> impl Future<Output = T> {
        let call = Calling::new(self, CollectiveKind::Scan, None, Location::caller());
        async move {
            let given: Vec<T> = call.enter(value).await;
            given.into_iter().reduce(combine).expect("its own")
        }
    }
}

/// A call that a rank is about to make.
#[derive(Clone, Copy)]
struct Calling {
    rank: Rank,
    call: Call,
    place: Place,
}

impl Calling {
    fn new(rank: Rank, kind: CollectiveKind, root: Option<u32>, place: Place) -> Self {
        Calling { rank, call: Call { kind, root, operator: None }, place }
    }

    /// Enters with a value. Returns the values of the ranks that this rank waits for, in the order
    /// of ranks.
    async fn enter<T: Data, G: Data>(self, value: T) -> Vec<G> {
        let Calling { rank: Rank { named, rank, ranks }, call, place } = self;
        if call.root.is_some_and(|root| root >= ranks) {
            blame("there is no such root", place);
        }
        let (collective, text) = (named.id, Text::on(named, call.kind.name()));
        let asked = Asked::with(pack(value), |value| {
            let completion = Completion::Early;
            Op::Enter { collective, rank, call, value, completion, partners: None }
        });
        let Told::Posted(handle) = ask(asked, text, place).await else {
            unreachable!("it is told its request")
        };
        let told = ask(Asked::op(Op::WaitAny([handle].into())), text, place).await;
        match told {
            Told::Completed { value: Value::Gathered { given, .. }, .. } => {
                given.iter().map(unpack).collect()
            }
            told => unreachable!("{told:?} is no end of a collective"),
        }
    }

    fn own_part<T: Data>(self, mut list: Vec<T>) -> T {
        let own = self.rank.rank as usize;
        if list.len() != self.rank.ranks as usize {
            blame("the list has to have a value for each rank", self.place);
        }
        list.swap_remove(own)
    }

    fn blame_root(self) -> ! {
        blame("the root has no value", self.place)
    }
}
