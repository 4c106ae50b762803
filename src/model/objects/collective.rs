//! Collectives: operations that a fixed number of ranks carry out together, round by round.
//!
//! A rank *enters* with a call (what it does, with which root and operator) and a value. Entering
//! depends on nothing. A rank leaves as early as MPI allows or, with `synchronizing`, as late as an
//! implementation may delay it:
//!
//! | call | leaves when these have entered | with `synchronizing` |
//! |---|---|---|
//! | barrier, allreduce, allgather, alltoall, reduce_scatter | all | all |
//! | bcast, scatter | the root | all |
//! | reduce, gather | for the root all, for others none | all |
//! | scan, exscan | the ranks up to this one | all |
//!
//! In MPI a rank may need fewer: where no data comes from a rank (its count is 0, or it is no
//! neighbour, or on an intercommunicator it is of the same group), a rank need not wait for it
//! (MPI 4.1, 6.1 and 6.2.3). Such a rank says as it enters which ranks it gets data from, and which
//! it gives data to ([`Partners`]).
//!
//! As with a receive, a carrier of the process ends the communication ([`super::network`]). This
//! action depends on the entries listed here, and waits and tests depend on it. Nothing here is
//! ever a choice, so no conflict comes from it.
//!
//! A communication ends only if the calls of all entries that it needs agree. It is a violation if
//! the calls of ranks do not agree, or if two processes enter as one rank: such an execution has no
//! meaning from there on ([`State::discord`]).

use std::sync::Arc;

use smallvec::SmallVec;

use super::network::{Places, effect_here};
use super::{NONE, ObjectId, Operation, Place, Posted, World, place};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    Call, CollectiveId, CollectiveKind, Completion, Effect, Lane, Locals, Part, Partners,
    ProcessId, Response, System, Value, ValueId, Values,
};

/// An entry of a rank into a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The process that entered.
    pub(crate) process: ProcessId,
    pub(crate) collective: CollectiveId,
    /// The rank that it entered as.
    pub(crate) rank: u32,
    /// The round, counted from 0.
    pub(crate) round: u32,
    /// What it does.
    pub(crate) call: Call,
    /// The value that it gives.
    pub(crate) value: ValueId,
    /// The carrier that ends it.
    pub(crate) carrier: ProcessId,
    /// When it is complete.
    completion: Completion,
    /// The ranks that it needs, if the kind does not say it.
    partners: Option<Arc<Partners>>,
    at: u32,
    /// The position of its end in the execution.
    ended_at: u32,
    /// The value that its end gives to its process.
    result: ValueId,
    /// The position in the execution where its process first observed that it is complete.
    pub(super) told_at: u32,
    /// Does it disagree with an earlier entry?
    is_discordant: bool,
}

impl Entry {
    /// Its position in the execution.
    pub(crate) fn at(&self) -> usize {
        self.at as usize
    }

    /// The position of its end in the execution.
    pub fn ended_at(&self) -> Option<usize> {
        place(self.ended_at).map(|at| at as usize)
    }

    pub(in crate::model) fn result(&self) -> ValueId {
        self.result
    }

    /// When it is complete.
    pub(in crate::model) fn completion(&self) -> Completion {
        self.completion
    }

    /// Has its process observed that it is complete?
    pub(crate) fn is_seen(&self) -> bool {
        self.told_at != NONE
    }

    /// The ranks that have to enter before it is complete, out of `size` ranks.
    pub(in crate::model) fn needs(&self, size: u32) -> impl Iterator<Item = u32> {
        let (listed, others) = match &self.partners {
            _ if self.completion == Completion::Late => (&[][..], 0..size),
            Some(partners) => (&partners.from[..], 0..0),
            None => (&[][..], self.needs_by_kind(size)),
        };
        listed.iter().copied().chain(others)
    }

    fn needs_by_kind(&self, size: u32) -> std::ops::Range<u32> {
        use CollectiveKind::*;
        let root = self.call.root.unwrap_or(0);
        match self.call.kind {
            Barrier | Allreduce | Allgather | Alltoall | ReduceScatter => 0..size,
            Bcast | Scatter => root..root + 1,
            Reduce | Gather if self.rank == root => 0..size,
            Reduce | Gather => 0..0,
            Scan | Exscan => 0..self.rank + 1,
        }
    }

    /// May this be the entry of another rank in the same round?
    pub(crate) fn agrees(&self, other: &Entry) -> bool {
        self.call.agrees(&other.call) && self.is_expected_by(other) && other.is_expected_by(self)
    }

    /// Does the other one expect what this one gives to it?
    fn is_expected_by(&self, other: &Entry) -> bool {
        let (Some(own), Some(others)) = (&self.partners, &other.partners) else { return true };
        self.rank == other.rank || !own.to.contains(&other.rank) || others.from.contains(&self.rank)
    }

    /// What the rank says as it enters, for codes of states.
    pub(crate) fn words(&self) -> impl Iterator<Item = u32> {
        let rest = [self.completion as u32, self.partners.is_some().into()];
        let partners = self.partners.iter().flat_map(|partners| partners.words());
        self.call.words().into_iter().chain(rest).chain(partners)
    }
}

/// A collective: its entries, by round and rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collective {
    /// Number of ranks.
    pub(crate) size: u32,
    /// The entries of each rank, one for each round, by positions in the log of entries.
    by_rank: Vec<Vec<u32>>,
}

impl Collective {
    pub(in crate::model) fn new(size: u32) -> Self {
        Collective { size, by_rank: vec![Vec::new(); size as usize] }
    }

    /// The entry of a rank in a round.
    pub(crate) fn entry(&self, rank: u32, round: u32) -> Option<u32> {
        self.by_rank[rank as usize].get(round as usize).copied()
    }

    /// The entries of a round, by rank.
    pub(crate) fn entries(&self, round: u32) -> impl Iterator<Item = u32> {
        (0..self.size).filter_map(move |rank| self.entry(rank, round))
    }
}

/// All collectives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collectives {
    entries: Vec<Entry>,
    pub(in crate::model) all: Vec<Collective>,
    discords: u32,
}

impl Collectives {
    /// All entries, in the order of this execution.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The collective with this number.
    pub(crate) fn get(&self, id: CollectiveId) -> &Collective {
        &self.all[id.index()]
    }

    /// The entries that this one needs to be complete; `None` unless all of them exist and their
    /// calls agree.
    fn needed(&self, entry: &Entry) -> Option<SmallVec<[u32; 8]>> {
        let collective = self.get(entry.collective);
        let needed = entry.needs(collective.size).map(|rank| collective.entry(rank, entry.round));
        let agrees = |&other: &u32| self.entries[other as usize].agrees(entry);
        needed.map(|other| other.filter(agrees)).collect()
    }

    /// The ranks that an entry waits for and that have not entered. If everything that it needs is
    /// there and it waits all the same, it waits for all other ranks.
    pub(crate) fn missing(&self, entry: u32) -> Vec<u32> {
        let entry = &self.entries[entry as usize];
        let collective = self.get(entry.collective);
        let is_missing = |&rank: &u32| collective.entry(rank, entry.round).is_none();
        let needed: Vec<u32> = entry.needs(collective.size).filter(is_missing).collect();
        match needed.is_empty() {
            true => (0..collective.size).filter(is_missing).collect(),
            false => needed,
        }
    }

    /// May an implementation keep this entry from leaving after the first `depth` actions, because
    /// not all ranks have entered?
    pub(super) fn may_leave_late(&self, entry: u32, depth: usize) -> bool {
        let entry = &self.entries[entry as usize];
        let collective = self.get(entry.collective);
        let is_in = |&other: &u32| self.entries[other as usize].at() < depth;
        entry.completion == Completion::Either
            && (collective.entries(entry.round).filter(is_in).count() as u32) < collective.size
    }

    /// The positions in the execution of what an entry needs, its own included; `None` unless all
    /// of that is there.
    pub fn causes(&self, entry: u32) -> Option<Places> {
        let entry = &self.entries[entry as usize];
        let needed = self.needed(entry)?;
        let own = std::iter::once(entry.at);
        let mut causes: Places =
            own.chain(needed.iter().map(|&other| self.entries[other as usize].at)).collect();
        causes.sort_unstable();
        causes.dedup();
        Some(causes)
    }

    /// The entries that need the entry at this position.
    pub(crate) fn needing(&self, entry: u32) -> impl Iterator<Item = u32> {
        let Entry { collective, rank, round, .. } = self.entries[entry as usize];
        let collective = self.get(collective);
        let needs = move |other: &u32| {
            *other == entry
                || self.entries[*other as usize].needs(collective.size).any(|one| one == rank)
        };
        collective.entries(round).filter(needs)
    }

    /// The rounds of a collective from the first one on that is not over, with their numbers
    /// counted from there and their entries by rank. A round is over when all ranks have entered
    /// and all entries have ended.
    pub(in crate::model) fn unfinished(&self, id: CollectiveId) -> Vec<(u32, Vec<u32>)> {
        let collective = self.get(id);
        let rounds = collective.by_rank.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let is_open = |&entry: &u32| self.entries[entry as usize].ended_at == NONE;
        let all = (0..rounds).map(|round| collective.entries(round).collect::<Vec<_>>());
        let is_over = |round: &Vec<u32>| {
            round.len() == collective.size as usize && !round.iter().any(is_open)
        };
        (0..).zip(all.skip_while(is_over)).collect()
    }

    /// The owner of each rank: the first process that entered as it.
    pub(in crate::model) fn owners(
        &self,
        id: CollectiveId,
    ) -> impl Iterator<Item = Option<ProcessId>> {
        let first =
            |entries: &Vec<u32>| entries.first().map(|&at| self.entries[at as usize].process);
        self.get(id).by_rank.iter().map(first)
    }

    /// Ends an entry. Its process gets the values of the entries that it needed, in the order of
    /// their ranks.
    pub(super) fn end(&mut self, entry: u32, at: u32, values: &mut Values) {
        let ended = &self.entries[entry as usize];
        let needed = self.needed(ended).expect("an entry that can end");
        let given = needed.iter().map(|&other| self.entries[other as usize].value);
        let given = given.map(|value| values.get(value).clone()).collect();
        let own = Arc::new(values.get(ended.value).clone());
        let (call, rank) = (ended.call, ended.rank);
        let result = values.intern(Value::Gathered { call, rank, own, given });
        let ended = &mut self.entries[entry as usize];
        (ended.ended_at, ended.result) = (at, result);
    }

    /// Undoes the end of an entry.
    pub(super) fn reopen(&mut self, entry: u32) {
        let reopened = &mut self.entries[entry as usize];
        (reopened.ended_at, reopened.result) = (NONE, ValueId::UNIT);
    }

    /// The position in the execution where the process first observed that its entry is complete.
    pub(super) fn told_at(&mut self, entry: u32) -> &mut u32 {
        &mut self.entries[entry as usize].told_at
    }

    /// Does the entry disagree with another one of its round?
    fn disagrees(&self, entry: &Entry) -> bool {
        let collective = self.get(entry.collective);
        let differs = |other: u32| !self.entries[other as usize].agrees(entry);
        let calls_differ = || collective.entries(entry.round).any(differs);
        let earlier = collective.by_rank[entry.rank as usize].last();
        earlier.is_some_and(|&other| self.entries[other as usize].process != entry.process)
            || calls_differ()
    }
}

impl CollectiveId {
    /// The lane of the ends of its entries.
    pub(crate) fn ends(self) -> Lane {
        Lane::new(Part::Ends, self.0)
    }
}

impl ObjectId for CollectiveId {
    type Declared = u32;
    type Start = u32;

    const PARTS: &'static [Part] = &[Part::Ends];
    const IS_ALONE: bool = false;

    /// Entries commute.
    fn lanes_of(_: u32) -> &'static [Part] {
        &[]
    }

    fn start(&declared: &u32, _: &mut Values) -> u32 {
        declared
    }

    fn begin(state: &mut State, size: u32) {
        state.collectives.all.push(Collective::new(size));
    }

    fn slot<S: System>(self, state: &State, locals: &mut Locals<'_, S>, parts: &mut Parts) -> u32 {
        state.under_way(locals, parts, self)
    }

    fn has_open_requests(self, state: &State) -> bool {
        let entries = state.collectives.entries.iter();
        entries.filter(|entry| entry.collective == self).any(|entry| entry.ended_at().is_none())
    }

    #[inline]
    fn misused(state: &State) -> Option<CollectiveId> {
        let [entry, _] = state.discord()?;
        Some(state.collectives.entries[entry as usize].collective)
    }
}

impl State {
    /// The collectives.
    pub fn collectives(&self) -> &Collectives {
        &self.collectives
    }

    /// Two entries that do not agree: of one round, or of one rank and two processes. The lower
    /// rank comes first.
    #[inline]
    pub(crate) fn discord(&self) -> Option<[u32; 2]> {
        if self.collectives.discords == 0 { None } else { Some(self.first_discord()) }
    }

    #[cold]
    fn first_discord(&self) -> [u32; 2] {
        let all = &self.collectives;
        let at = all.entries.iter().position(|entry| entry.is_discordant).expect("one of them");
        let late = &all.entries[at];
        let collective = all.get(late.collective);
        let same_rank = collective.by_rank[late.rank as usize].iter().copied();
        let intruded = same_rank
            .into_iter()
            .find(|&other| all.entries[other as usize].process != late.process);
        let differs = |&other: &u32| !all.entries[other as usize].agrees(late);
        let other = intruded.or_else(|| collective.entries(late.round).find(differs));
        let mut pair = [other.expect("it disagrees with one of them"), at as u32];
        pair.sort_by_key(|&entry| all.entries[entry as usize].rank);
        pair
    }
}

/// The operation with which a rank enters.
pub(in crate::model) struct Entering<'o> {
    pub(in crate::model) collective: CollectiveId,
    pub(in crate::model) rank: u32,
    pub(in crate::model) call: Call,
    pub(in crate::model) value: ValueId,
    pub(in crate::model) completion: Completion,
    pub(in crate::model) partners: &'o Option<Arc<Partners>>,
}

impl Operation for Entering<'_> {
    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        let &Entering { collective, rank, call, value, completion, partners } = self;
        let process = done.action.process;
        let carrier = state.carrier(world.births, done);
        let round = state.collectives.get(collective).by_rank[rank as usize].len() as u32;
        let at = state.trail.len() as u32;
        let mut entry = Entry {
            process,
            collective,
            rank,
            round,
            call,
            value,
            carrier,
            completion,
            partners: partners.clone(),
            at,
            ended_at: NONE,
            result: ValueId::UNIT,
            told_at: NONE,
            is_discordant: false,
        };
        entry.is_discordant = state.collectives.disagrees(&entry);
        let all = &mut state.collectives;
        all.discords += u32::from(entry.is_discordant);
        let place = all.entries.len() as u32;
        all.entries.push(entry);
        all.all[collective.index()].by_rank[rank as usize].push(place);
        state.processes[carrier.index()].posted.push(Posted::Entry(place));
        state.note(process, Posted::Entry(place))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        let all = &mut state.collectives;
        let entry = all.entries.pop().expect("an entry to take back");
        all.discords -= u32::from(entry.is_discordant);
        all.all[self.collective.index()].by_rank[self.rank as usize].pop();
        state.processes[entry.carrier.index()].posted.pop();
        state.unnote(done.action.process);
        state.dismiss(done);
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        let &Place { state, .. } = at;
        effect_here(state, true, &[])
    }

    fn may_observe(&self) -> bool {
        false
    }
}
