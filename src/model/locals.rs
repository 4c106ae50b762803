//! Interned local states: the program is run once for each distinct local state and outcome.
//!
//! Explorers pass through the same local state of a process over and over, in different executions. They
//! hold it as a [`LocalId`]; [`Locals::resume`] remembers where each outcome leads, so the program's own
//! code runs only the first time. Process ids are interned too: a spawned process is named by its parent
//! and the number of its spawn there, so it has the same id on every branch.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::{Next, Op, Outcome, System, Values};

/// A local state, by its place in [`Locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

impl LocalId {
    /// The local state of a process that does not exist (yet).
    pub const ABSENT: LocalId = LocalId(u32::MAX);
}

/// A process: the static ones in order of declaration, then spawned ones as explorers meet them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

impl ProcessId {
    /// The position in an arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a process in a given local state is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is at this operation.
    At(Op),
    /// It has run its last statement.
    Done,
    /// It stopped on a violation.
    Failed(super::Failure),
}

impl Status {
    /// Done or failed.
    pub fn has_ended(&self) -> bool {
        !matches!(self, Status::At(_))
    }
}

/// The local states of a system met so far, and the values they handle.
pub struct Locals<'s, S: System> {
    system: &'s S,
    /// The values met so far.
    pub values: Values,
    arena: Vec<S::Local>,
    /// `None` for the start of a process that no execution has spawned yet: looking further ahead could
    /// go on for ever.
    status: Vec<Option<Arc<Status>>>,
    ids: HashTable<LocalId>,
    steps: FxHashMap<(LocalId, Outcome), LocalId>,
    initial: Vec<LocalId>,
    parents: Vec<Option<(ProcessId, u32)>>,
    children: FxHashMap<(ProcessId, u32), ProcessId>,
}

impl<'s, S: System> Locals<'s, S> {
    /// The initial local states of `system`.
    pub fn new(system: &'s S) -> Self {
        let mut values = Values::default();
        let first = system.initial(&mut values);
        let mut locals = Locals {
            system,
            values,
            arena: Vec::new(),
            status: Vec::new(),
            ids: HashTable::new(),
            steps: FxHashMap::default(),
            initial: Vec::new(),
            parents: vec![None; first.len()],
            children: FxHashMap::default(),
        };
        for local in first {
            let id = locals.intern(local);
            locals.start(id);
            locals.initial.push(id);
        }
        locals
    }

    /// The system.
    pub fn system(&self) -> &'s S {
        self.system
    }

    /// The local states of the processes that exist from the start.
    pub fn initial(&self) -> &[LocalId] {
        &self.initial
    }

    /// The local state behind `id`.
    pub fn get(&self, id: LocalId) -> &S::Local {
        &self.arena[id.0 as usize]
    }

    /// What a process in local state `id` is about to do.
    ///
    /// # Panics
    /// If `id` is the start of a process that was never [`start`](Locals::start)ed.
    pub fn status(&self, id: LocalId) -> &Status {
        self.status[id.0 as usize].as_deref().expect("a local state that some execution reached")
    }

    /// The same, to be held while the program goes on.
    pub(crate) fn shared_status(&self, id: LocalId) -> Arc<Status> {
        self.status[id.0 as usize].clone().expect("a local state that some execution reached")
    }

    /// The pending operation, unless the process has ended.
    pub fn op(&self, id: LocalId) -> Option<&Op> {
        match self.status(id) {
            Status::At(op) => Some(op),
            _ => None,
        }
    }

    /// Where `outcome` leads from `id`. O(1) after the first time.
    pub fn resume(&mut self, id: LocalId, outcome: Outcome) -> LocalId {
        if let Some(&after) = self.steps.get(&(id, outcome)) {
            return after;
        }
        let after = self.system.resume(&self.arena[id.0 as usize], outcome, &self.values);
        let after = self.intern(after);
        self.start(after);
        self.steps.insert((id, outcome), after);
        after
    }

    /// Finds out what a process in local state `id` is about to do, if that is not known yet.
    pub fn start(&mut self, id: LocalId) {
        if self.status[id.0 as usize].is_some() {
            return;
        }
        let status = match self.system.next(&self.arena[id.0 as usize], &mut self.values) {
            Next::Op(op) => Status::At(op),
            Next::Spawn(child) => Status::At(Op::Spawn(self.intern(child))),
            Next::Done => Status::Done,
            Next::Failed(failure) => Status::Failed(failure),
        };
        self.status[id.0 as usize] = Some(Arc::new(status));
    }

    /// The process that `parent` starts with its spawn of number `nth`.
    pub fn child(&mut self, parent: ProcessId, nth: u32) -> ProcessId {
        *self.children.entry((parent, nth)).or_insert_with(|| {
            self.parents.push(Some((parent, nth)));
            ProcessId(self.parents.len() as u32 - 1)
        })
    }

    /// The process that `parent` started with its spawn of number `nth`, if that ever happened.
    pub fn known_child(&self, parent: ProcessId, nth: u32) -> Option<ProcessId> {
        self.children.get(&(parent, nth)).copied()
    }

    /// Who spawned `process`, and as the how-manieth of its children; `None` for the static ones.
    pub fn parent(&self, process: ProcessId) -> Option<(ProcessId, u32)> {
        self.parents[process.index()]
    }

    /// How many processes were ever met.
    pub fn process_count(&self) -> usize {
        self.parents.len()
    }

    fn intern(&mut self, local: S::Local) -> LocalId {
        let hasher = BuildHasherDefault::<FxHasher>::default();
        let hash = hasher.hash_one(&local);
        let arena = &self.arena;
        if let Some(&id) = self.ids.find(hash, |id| arena[id.0 as usize] == local) {
            return id;
        }
        let id = LocalId(arena.len() as u32);
        self.arena.push(local);
        self.status.push(None);
        let arena = &self.arena;
        self.ids.insert_unique(hash, id, |id| hasher.hash_one(&arena[id.0 as usize]));
        id
    }
}
