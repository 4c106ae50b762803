//! The histories of threads as a system.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ask::{Place, Sites, Start, Wanted, give_up};
use super::mode::{Counting, Mode, address};
use super::token::{AsMade, Word};
use super::watch::Doing;
use super::world::{Stale, World};
use crate::model::{
    Asking, Called, Contents, Delivery, Describe, Failure, FailureKind, Finale, Foresight, Next,
    Objects, Opaque, Remark, Response, Runs, Site, System, Value, Values,
};
use crate::systems::history::patience::{Watched, attempt};
use crate::systems::history::tree::{NodeId, Tree};
use crate::systems::history::waiting::Loops;
use crate::systems::history::{Asked, Reply, Told, difference};

/// The most threads that are run again.
const MOST_AGAIN: usize = 32;

/// The most objects of a kind.
const MANY: u32 = 1 << 30;

/// A history of one thread, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(NodeId);

/// The kinds of objects that threads make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Made {
    Cell,
    Mutex,
    RwLock,
    Condvar,
    Semaphore,
    Mailbox,
}

/// What an object is called.
struct Name {
    what: &'static str,
    /// Where it was made.
    place: Place,
    /// How many that are called the same were made there before, and this one.
    nth: u32,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Name { what, place, nth } = self;
        match nth {
            1 => write!(f, "{what} of line {}", place.line()),
            _ => write!(f, "{what} {nth} of line {}", place.line()),
        }
    }
}

/// The threads of a closure as a [`System`].
pub struct Threads {
    pub(super) shared: Arc<Shared>,
}

/// Ends the threads that are still there.
impl Drop for Threads {
    fn drop(&mut self) {
        self.end();
    }
}

/// What all searches of a program share.
pub(super) struct Shared {
    pub(super) main: Arc<dyn Fn() + Send + Sync>,
    pub(super) number: u64,
    tree: RwLock<Tree<Start>>,
    objects: Objects,
    /// The numbers of objects: each is named by its kind, the history of the thread that made it,
    /// and how many that thread had made before, there.
    names: Mutex<FxHashMap<(Made, NodeId, u32), u32>>,
    /// What objects are called, by their numbers.
    called: Arc<Mutex<Vec<Name>>>,
    starts: AtomicU64,
    told: AtomicU64,
    /// Whether an exchange of a pointer finds what it expects, by the history in which it was asked
    /// for and the content that it finds.
    expectations: Mutex<FxHashMap<(NodeId, Value), bool>>,
    pub(super) sites: Sites,
    /// The addresses of variables, in the order in which they were found.
    statics: Mutex<Vec<usize>>,
    /// The histories in which a thread waits only for some time.
    timed: Mutex<FxHashSet<NodeId>>,
    /// Where a thread did not do the same again. A search that goes on does not notice; another
    /// one does, once this `is_told`.
    broken: Mutex<FxHashMap<NodeId, Failure>>,
    pub(super) is_told: AtomicBool,
    /// The histories in which a thread does not go on.
    hung: Mutex<FxHashSet<NodeId>>,
    pub(super) has_hung: AtomicBool,
    /// The threads of a search, and how long they may compute without an operation.
    pub(super) watched: Watched<Doing>,
    pub(super) is_watched: AtomicBool,
    patience: Duration,
    /// Are stacks forgotten that are given up? Either the mode says so, or one could not be
    /// unwound.
    pub(super) forgets: AtomicBool,
    pub(super) mode: Mode,
    /// Was a mutex tried, a cell made, or a lock healed, that the mode does not expect?
    pub(super) tries: AtomicBool,
    pub(super) cells: AtomicBool,
    healed: AtomicBool,
    /// The handles that have to be counted, as the mode has them.
    counted: Mutex<BTreeMap<usize, Counting>>,
    /// Was a lock made whose readers leave no tokens?
    pub(super) has_rwlocks: AtomicBool,
    /// Did an atomic operation ask for less than sequential consistency?
    pub(super) is_weak: AtomicBool,
    /// Was there an exchange that may fail for no reason?
    pub(super) is_exchanged_weakly: AtomicBool,
    pub(super) loops: Loops,
}

impl Threads {
    /// The threads that this closure spawns, and the one that runs it.
    pub(super) fn new(
        main: Arc<dyn Fn() + Send + Sync>,
        mode: Mode,
        patience: Duration,
    ) -> Threads {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut objects = Objects::default();
        objects.cells.push_array("cell", MANY, Value::Opaque(Opaque::new(AsMade)));
        let called: Arc<Mutex<Vec<Name>>> = Arc::default();
        let names = called.clone();
        objects.called = Called(Some(Arc::new(move |object| {
            let names = names.lock().unwrap_or_else(PoisonError::into_inner);
            names.get(object.number() as usize).map(Name::to_string)
        })));
        let asking = if mode.is_tried { Asking::Tries } else { Asking::Queues };
        objects.mutexes.push_array("mutex", MANY, asking);
        objects.rwlocks.push_array("rwlock", MANY, ());
        objects.condvars.push_array("condvar", MANY, ());
        objects.semaphores.push_array("bell", MANY, 0);
        objects.mailboxes.push_array("channel", MANY, Delivery::Ordered);
        let start = Start { name: "main".into(), place: None, spawner: None, is_daemon: false };
        let shared = Shared {
            main,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            tree: RwLock::new(Tree::new(vec![start])),
            objects,
            names: Mutex::default(),
            called,
            starts: AtomicU64::new(0),
            told: AtomicU64::new(0),
            expectations: Mutex::default(),
            sites: Sites::default(),
            statics: Mutex::default(),
            timed: Mutex::default(),
            broken: Mutex::default(),
            is_told: AtomicBool::new(false),
            hung: Mutex::default(),
            has_hung: AtomicBool::new(false),
            watched: Watched::default(),
            is_watched: AtomicBool::new(false),
            patience,
            forgets: AtomicBool::new(mode.forgets),
            counted: Mutex::new(mode.counted.clone()),
            mode,
            tries: AtomicBool::new(false),
            cells: AtomicBool::new(false),
            healed: AtomicBool::new(false),
            has_rwlocks: AtomicBool::new(false),
            is_weak: AtomicBool::new(false),
            is_exchanged_weakly: AtomicBool::new(false),
            loops: Loops::default(),
        };
        Threads { shared: Arc::new(shared) }
    }

    /// Has the program asked for an ordering that is weaker than sequential consistency?
    pub(super) fn is_weak(&self) -> bool {
        self.shared.is_weak.load(Ordering::Relaxed)
    }

    /// Ends the threads that are still there.
    pub(super) fn end(&self) {
        drop(World::take(self.shared.number));
    }

    /// The mode in which the program has to be searched, as far as is known.
    pub(super) fn mode(&self) -> Mode {
        let Shared { mode, tries, cells, healed, counted, .. } = &*self.shared;
        Mode {
            is_tried: mode.is_tried || tries.load(Ordering::Relaxed),
            tracks: mode.tracks || cells.load(Ordering::Relaxed),
            heals: mode.heals || healed.load(Ordering::Relaxed),
            spurious: mode.spurious,
            failures: mode.failures,
            forgets: mode.forgets,
            counted: counted.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Runs some threads again, from the start to their ends, to see whether they do the same.
    /// Returns whether one did not.
    pub(super) fn differs(&self) -> bool {
        let ends: Vec<NodeId> = {
            let tree = self.shared.tree();
            let is_end = |&node: &NodeId| {
                tree.reply(node).is_some_and(|reply| reply.asked.is_end())
                    && !self.shared.has_hung(node)
            };
            let ends: Vec<NodeId> = tree.all().filter(is_end).collect();
            ends.iter().step_by(ends.len().div_ceil(MOST_AGAIN).max(1)).copied().collect()
        };
        for end in ends {
            self.end();
            self.shared.bring_to(end);
        }
        let differs = !self.shared.broken().is_empty();
        self.shared.is_told.store(differs, Ordering::Relaxed);
        differs
    }
}

impl Shared {
    pub(super) fn broken(&self) -> MutexGuard<'_, FxHashMap<NodeId, Failure>> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tree(&self) -> RwLockReadGuard<'_, Tree<Start>> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree<Start>> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hung(&self) -> MutexGuard<'_, FxHashSet<NodeId>> {
        self.hung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No observation leads back any more, until it does again.
    pub(super) fn forget_returns(&self) {
        self.tree_mut().forget_returns();
    }

    /// The number of an object, which is called so, and was made there.
    pub(super) fn name(&self, made: (Made, NodeId, u32), what: &'static str, place: Place) -> u32 {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let next = names.len() as u32;
        let number = *names.entry(made).or_insert(next);
        if number == next {
            let mut called = self.called.lock().unwrap_or_else(PoisonError::into_inner);
            let alike = called.iter().filter(|name| (name.what, name.place) == (what, place));
            let nth = alike.count() as u32 + 1;
            called.push(Name { what, place, nth });
        }
        number
    }

    /// The number of the variable with this address.
    pub(super) fn static_at(&self, address: usize) -> u32 {
        let mut statics = self.statics.lock().unwrap_or_else(PoisonError::into_inner);
        let known = statics.iter().position(|&known| known == address);
        known.unwrap_or_else(|| {
            statics.push(address);
            statics.len() - 1
        }) as u32
    }

    /// Notes that the thread with this history is about to wait for a time.
    pub(super) fn wait_for_time(&self, node: NodeId) {
        self.timed.lock().unwrap_or_else(PoisonError::into_inner).insert(node);
    }

    /// Counts that a thread was run.
    pub(super) fn has_run(&self, is_start: bool) {
        let counter = if is_start { &self.starts } else { &self.told };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Records what a thread does after this history, or compares it with what it did before. If it
    /// does something else, what it would be told is not for it.
    pub(super) fn answer(
        &self,
        node: NodeId,
        wanted: Wanted,
        printed: String,
    ) -> Result<(), Stale> {
        let stamp = wanted.stamp();
        if stamp != 0 && self.tree().reply(node).is_some_and(|known| known.stamp == stamp) {
            return Ok(());
        }
        let reply = wanted.reply(printed, &self.sites);
        let mut tree = self.tree_mut();
        let Some(known) = tree.reply(node) else {
            tree.begin(node, reply);
            return Ok(());
        };
        let kind = || FailureKind::Error;
        let differs = difference::between("the thread", known, &reply, &kind);
        drop(tree);
        let Some(Reply { asked: Asked::Failed(failure), .. }) = differs else { return Ok(()) };
        if self.has_rwlocks.load(Ordering::Relaxed) {
            self.tries.store(true, Ordering::Relaxed);
        }
        self.broken().entry(node).or_insert(failure);
        Err(Stale)
    }

    /// Notes that the threads cannot be brought to this history again.
    ///
    /// A thread that has read under a lock leaves no token, so in a world a writer may come before
    /// it. If there are such locks, the search is done once more, with locks that leave tokens.
    fn breaks(&self, node: NodeId) -> Failure {
        if self.has_rwlocks.load(Ordering::Relaxed) {
            self.tries.store(true, Ordering::Relaxed);
        }
        let message = "nondeterminism: the threads do not do the same again".to_string();
        let failure = Failure { kind: FailureKind::Error, message, site: None };
        let mut broken = self.broken();
        let seen = broken.values().next().cloned();
        broken.entry(node).or_insert(seen.unwrap_or(failure)).clone()
    }

    /// Does the exchange of a pointer that is asked for in this history find what it expects, if it
    /// finds this content? That is seen in a world in which the pointers were written.
    pub(super) fn finds_expected(self: &Arc<Self>, by: NodeId, content: &Value) -> bool {
        let lock = || self.expectations.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (by, content.clone());
        if let Some(&known) = lock().get(&key) {
            return known;
        }
        let writer = Word::of(content).map(|word| word.by);
        let compare = |world: &mut World| {
            let is_there = |node| world.bring_to(node).is_ok();
            let is_there = [Some(by), writer].into_iter().flatten().all(is_there);
            is_there.then(|| world.compares(by, writer))
        };
        let mut world = World::take(self.number).unwrap_or_else(|| World::new(self.clone()));
        let found = compare(&mut world).or_else(|| {
            world = World::new(self.clone());
            compare(&mut world)
        });
        world.keep(self.number);
        if found.is_none() {
            self.breaks(by);
        }
        let found = found.unwrap_or(false);
        lock().insert(key, found);
        found
    }

    /// Says that accesses have to be compared. If they are not, the search is done once more.
    pub(super) fn tracks(&self) {
        if !self.mode.tracks {
            self.cells.store(true, Ordering::Relaxed);
            give_up();
        }
    }

    /// Says that handles are counted whose first one was made there. If they are not, the search is
    /// done once more.
    pub(super) fn counts(&self, place: Place, counting: Counting) {
        if self.mode.counting(place) < Some(counting) {
            let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
            let known = counted.entry(address(place)).or_insert(counting);
            *known = counting.max(*known);
            drop(counted);
            give_up();
        }
    }

    /// Says that locks are tried. If that is not expected, the search is done once more.
    pub(super) fn tries(&self) {
        if !self.mode.is_tried {
            self.tries.store(true, Ordering::Relaxed);
            give_up();
        }
    }

    /// Says that the poison of locks is cleared. If that is not expected, the search is done once
    /// more.
    pub(super) fn heals(&self) {
        if !self.mode.heals {
            self.healed.store(true, Ordering::Relaxed);
            give_up();
        }
    }

    /// Finds out what the thread does after this history.
    fn bring_to(self: &Arc<Self>, node: NodeId) {
        let world = World::take(self.number);
        let fresh = || World::new(self.clone());
        let (mut world, is_fresh) = match world {
            Some(world) => (world, false),
            None => (fresh(), true),
        };
        if let Err(Stale) = world.bring_to(node) {
            drop(world);
            world = fresh();
            let again = if is_fresh { Err(Stale) } else { world.bring_to(node) };
            if let Err(Stale) = again {
                let reply = Reply::new(Asked::Failed(self.breaks(node)), None);
                self.tree_mut().begin(node, reply);
            }
        }
        world.keep(self.number);
    }
}

impl System for Threads {
    type Local = Local;

    fn objects(&self) -> &Objects {
        &self.shared.objects
    }

    fn initial(&self, _: &mut Values) -> Vec<Local> {
        self.shared.tree().initial().iter().copied().map(Local).collect()
    }

    fn next(&self, &Local(node): &Local, values: &mut Values) -> Next<Local> {
        if self.shared.tree().reply(node).is_none() {
            self.shared.bring_to(node);
        }
        if self.shared.is_told.load(Ordering::Relaxed)
            && let Some(failure) = self.shared.broken().get(&node)
        {
            return Next::Failed(failure.clone());
        }
        let tree = self.shared.tree();
        match &tree.reply(node).expect("it was brought there").asked {
            Asked::Op { op, values: given } => {
                Next::Op(op.with_values(|place| values.intern(given[place.0 as usize].clone())))
            }
            Asked::Spawn(start) => {
                let start = Start { spawner: Some(node), ..start.clone() };
                drop(tree);
                let mut tree = self.shared.tree_mut();
                Next::Spawn(Local(tree.spawned(node, &start)))
            }
            Asked::Done => Next::Done,
            Asked::Returned(value) => Next::Returned(values.intern(value.clone())),
            Asked::Failed(failure) => Next::Failed(failure.clone()),
        }
    }

    fn resume(&self, &Local(node): &Local, response: Response, values: &Values) -> Local {
        let told = Told::new(response, values);
        let tree = self.shared.tree();
        if let Some(known) = tree.child(node, &told) {
            return Local(known);
        }
        drop(tree);
        let back = self.shared.back(node, &told);
        let mut tree = self.shared.tree_mut();
        Local(match back {
            Some(earlier) => tree.come_back(node, told, earlier),
            None => tree.extend(node, told),
        })
    }

    fn attempt<T: Send + 'static>(&self, work: impl Fn(&Self) -> T + Send + Sync + 'static) -> T {
        self.shared.is_watched.store(true, Ordering::Relaxed);
        let result = attempt(self, self.shared.patience, move |threads: &Threads| {
            let result = work(threads);
            // While somebody watches: stacks are unwound.
            threads.end();
            result
        });
        self.shared.is_watched.store(false, Ordering::Relaxed);
        result
    }

    fn looks_further(&self) -> bool {
        self.shared.gives_up()
    }

    fn noted(&self) -> Option<String> {
        Some(self.notes())
    }

    fn recall(&self, noted: &str) -> bool {
        self.take_notes(noted)
    }

    fn is_daemon(&self, &Local(node): &Local) -> bool {
        self.shared.tree().start(node).is_daemon
    }

    /// A panic is a violation at once, and what its thread had is not given back.
    fn excuses(&self, &Local(node): &Local) -> bool {
        let tree = self.shared.tree();
        let has_failed =
            tree.reply(node).is_some_and(|reply| matches!(reply.asked, Asked::Failed(_)));
        has_failed
            || self.shared.timed.lock().unwrap_or_else(PoisonError::into_inner).contains(&node)
    }

    fn finale(&self) -> Option<&dyn Finale<Local>> {
        self.shared.mode.tracks.then_some(self as &dyn Finale<Local>)
    }

    fn foresight(&self) -> &dyn Foresight<Local> {
        self
    }

    fn describe(&self) -> &dyn Describe<Local> {
        self
    }
}

/// Accesses to cells that race are found where all threads of an execution have run.
impl Finale<Local> for Threads {
    fn judge(&self, locals: &[Option<&Local>], _: Contents<'_>, _: &Values) -> Option<Failure> {
        // Always run anew, so that the same pair of accesses is found whenever this is asked.
        drop(World::take(self.shared.number));
        let mut world = World::new(self.shared.clone());
        let ends = locals.iter().flatten().map(|&&Local(node)| node);
        let mut ends = ends.filter(|&end| !self.shared.has_hung(end));
        if let Some(end) = ends.find(|&end| world.bring_to(end).is_err()) {
            return Some(self.shared.breaks(end));
        }
        let misuse = world.misuse();
        world.keep(self.shared.number);
        misuse
    }
}

impl Foresight<Local> for Threads {
    /// Histories only grow, but for a thread that waits in a loop.
    fn may_return(&self, &Local(node): &Local) -> bool {
        self.shared.may_wait(node)
    }

    /// Only a thread with a guard unlocks a mutex, so it owns the mutex.
    fn may_cancel(&self) -> bool {
        false
    }

    fn remembers_all(&self) -> bool {
        true
    }

    fn holds_values(&self) -> bool {
        false
    }
}

impl Describe<Local> for Threads {
    fn process_name(&self, &Local(node): &Local) -> String {
        self.shared.tree().start(node).name.to_string()
    }

    fn site(&self, &Local(node): &Local) -> Option<Site> {
        self.shared.tree().reply(node)?.site.as_deref().cloned()
    }

    fn assumes(&self) -> Option<String> {
        self.shared.assumptions()
    }

    fn runs(&self) -> Option<Runs> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let histories = self.shared.tree().added();
        Some(Runs { starts: load(&self.shared.starts), told: load(&self.shared.told), histories })
    }

    fn printed(&self, &Local(node): &Local) -> Option<String> {
        self.shared.tree().reply(node)?.printed.as_deref().map(String::from)
    }

    fn remarks(&self, _: &Local) -> Option<Arc<[Remark]>> {
        None
    }
}
