//! How the code of a thread asks for an operation: it leaves its stack, and comes back with the
//! outcome.
//!
//! Code of the program runs only while a [`World`](super::world::World) runs one of its threads. So
//! what the code needs to know of the world is in a place of the thread of the operating system,
//! for as long as that takes.

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::alloc::Blocks;
use super::locals::Locals;
use super::mode::Counting;
use super::statics::Variable;
use super::sync::counted::Drops;
use super::system::{Made, Shared};
use super::thread::Thread;
use super::token::Pointers;
use super::unwind::{self, NO_REQUEST};
use super::watch::Doing;
use crate::model::{CellId, Failure, FailureKind, Handle, Op, Site, Value};
use crate::program::panics;
use crate::systems::history::patience::Turns;
use crate::systems::history::tree::NodeId;
use crate::systems::history::{Asked, Reply, Told};

/// A place in a user's code.
pub(super) type Place = &'static Location<'static>;

/// What a thread does, until it ends.
pub(super) type Body = Box<dyn FnOnce()>;

/// An operation that a thread asks for. A thread that asks for nothing has ended.
pub(super) struct Wanted {
    pub(super) asked: Asked<Start>,
    /// The operation as its author would say it.
    pub(super) text: &'static str,
    pub(super) place: Option<Place>,
}

impl Wanted {
    /// The end of a thread.
    pub(super) fn end(asked: Asked<Start>) -> Wanted {
        Wanted { asked, text: "", place: None }
    }

    /// A hash of the question and its place; 0 for a failure, which may differ.
    pub(super) fn stamp(&self) -> u64 {
        let mut hasher = FxHasher::default();
        match &self.asked {
            Asked::Op { op, values } => (op, values).hash(&mut hasher),
            Asked::Spawn(Start { name, is_daemon, .. }) => (name, is_daemon).hash(&mut hasher),
            Asked::Done => {}
            Asked::Returned(value) => value.hash(&mut hasher),
            Asked::Failed(_) => return 0,
        }
        // One place may have two addresses, where code was compiled twice. Then more is compared.
        (self.text.as_ptr(), self.place.map(std::ptr::from_ref)).hash(&mut hasher);
        hasher.finish() | 1
    }

    /// As it is recorded, with what the thread has printed before.
    pub(super) fn reply(self, printed: String, sites: &Sites) -> Reply<Start> {
        let stamp = self.stamp();
        let site = self.place.map(|place| sites.of(self.text, place));
        let failed = match &self.asked {
            Asked::Failed(failure) => failure.site.clone().map(Arc::new),
            _ => None,
        };
        let printed = (!printed.is_empty()).then(|| printed.into());
        Reply { printed, stamp, ..Reply::new(self.asked, site.or(failed)) }
    }
}

/// The sites of all operations so far, by the addresses of their texts and places.
#[derive(Default)]
pub(super) struct Sites(Mutex<FxHashMap<(usize, usize), Arc<Site>>>);

impl Sites {
    fn of(&self, text: &'static str, place: Place) -> Arc<Site> {
        let mut sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Site { text: text.into(), ..panics::site(place) });
        let addresses = (text.as_ptr().addr(), std::ptr::from_ref(place).addr());
        sites.entry(addresses).or_insert_with(new).clone()
    }
}

/// What distinguishes a thread from others: where it was spawned, and its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Start {
    pub(super) name: Arc<str>,
    pub(super) place: Option<Place>,
    /// The history of the thread that spawned it, when it did so.
    pub(super) spawner: Option<NodeId>,
    /// May it wait for ever?
    pub(super) is_daemon: bool,
}

/// The running thread, for its code.
pub(super) struct Running {
    pub(super) shared: Arc<Shared>,
    /// The history of the thread, and its empty one.
    pub(super) node: Cell<NodeId>,
    pub(super) thread: Cell<NodeId>,
    /// The number of objects that it has made since its last observation.
    pub(super) made: Cell<u32>,
    /// How often threads of this world have asked for something.
    pub(super) asked: Cell<u64>,
    /// The thread that it is about to spawn.
    pub(super) spawned: RefCell<Option<Body>>,
    /// The threads that were spawned and have not begun, by the histories of their spawners.
    pub(super) bodies: RefCell<FxHashMap<NodeId, Body>>,
    /// Where the running thread goes on at once, the next history last.
    pub(super) ahead: RefCell<Vec<Ahead>>,
    /// Where it would have gone on at once, but has asked for something else.
    pub(super) astray: RefCell<Vec<Ahead>>,
    /// What a guard that is dropped in a panic has left to be done.
    pub(super) deferred: RefCell<Vec<Wanted>>,
    /// Has a destructor asked for something in a panic that was not done?
    pub(super) has_left_out: Cell<bool>,
    /// Does the thread act in a section?
    pub(super) is_in_section: Cell<bool>,
    /// Does the memory not fit the history? Then other threads have gone on too far.
    pub(super) is_stale: Cell<bool>,
    /// Are the threads being ended? Then nothing is asked for any more.
    pub(super) is_ending: Cell<bool>,
    /// How often destructors have asked for something in vain, in this history.
    pub(super) in_vain: Cell<u32>,
    /// The record of this thread of the operating system, if it is watched.
    pub(super) turns: Option<Arc<Turns<Doing>>>,
    pub(super) printed: RefCell<String>,
    /// The threads, by the histories of their spawners.
    pub(super) threads: RefCell<FxHashMap<Option<NodeId>, Thread>>,
    /// The variables of which each thread has its own.
    pub(super) locals: RefCell<Locals>,
    /// What the running thread knows of others: of each, the last of its histories.
    pub(super) clock: RefCell<Clock>,
    /// How often threads have waked for no reason.
    woken: Counts,
    /// How often their exchanges have failed for no reason.
    failed: Counts,
    /// The variables of the program that exist, by their addresses.
    pub(super) statics: RefCell<FxHashMap<usize, Variable>>,
    /// The threads that have scopes.
    pub(super) with_scopes: RefCell<FxHashSet<NodeId>>,
    /// The locks that threads have.
    pub(super) locks: RefCell<Vec<Locked>>,
    /// Memory that the program has allocated.
    pub(super) blocks: RefCell<Blocks>,
    /// Where handles were made that are not counted, and whose contents are being dropped.
    pub(super) uncounted: RefCell<Vec<Place>>,
    /// The drops of handles that are pointers, by these.
    pub(super) raw: RefCell<FxHashMap<usize, Vec<Arc<Drops>>>>,
    /// What was written last to atomics in this world.
    pub(super) now: RefCell<FxHashMap<CellId, u64>>,
    /// What operations on pointers do, by the histories in which they were asked for.
    pub(super) pointers: RefCell<FxHashMap<NodeId, Pointers>>,
    /// Two accesses that race.
    pub(super) race: RefCell<Option<Failure>>,
}

/// A lock that a thread has.
#[derive(Clone, Copy)]
pub(super) struct Locked {
    pub(super) thread: NodeId,
    number: u32,
    /// May others have it, too?
    is_shared: bool,
}

/// A history to which the running thread is to go on, which reads nothing that others have left.
pub(super) struct Ahead {
    pub(super) node: NodeId,
    /// The hash of the question before it.
    pub(super) stamp: u64,
    /// The outcome.
    pub(super) told: Told,
}

/// For each thread a number.
type Counts = RefCell<FxHashMap<NodeId, u32>>;

/// For each thread a history.
pub(super) type Clock = FxHashMap<NodeId, NodeId>;

thread_local! {
    static RUNNING: RefCell<Option<Rc<Running>>> = const { RefCell::new(None) };
}

impl Running {
    pub(super) fn new(shared: Arc<Shared>) -> Running {
        let turns = shared.turns();
        Running {
            shared,
            in_vain: Cell::new(0),
            turns,
            node: Cell::new(0),
            thread: Cell::new(0),
            made: Cell::new(0),
            asked: Cell::new(0),
            spawned: RefCell::default(),
            bodies: RefCell::default(),
            ahead: RefCell::default(),
            astray: RefCell::default(),
            deferred: RefCell::default(),
            has_left_out: Cell::new(false),
            is_in_section: Cell::new(false),
            is_stale: Cell::new(false),
            is_ending: Cell::new(false),
            printed: RefCell::default(),
            threads: RefCell::default(),
            locals: RefCell::default(),
            clock: RefCell::default(),
            woken: RefCell::default(),
            failed: RefCell::default(),
            statics: RefCell::default(),
            with_scopes: RefCell::default(),
            locks: RefCell::default(),
            blocks: RefCell::default(),
            uncounted: RefCell::default(),
            raw: RefCell::default(),
            now: RefCell::default(),
            pointers: RefCell::default(),
            race: RefCell::default(),
        }
    }

    /// What the running thread shares with its world.
    ///
    /// # Panics
    /// If no thread of a program is running.
    pub(super) fn current() -> Rc<Running> {
        Running::try_current().expect("objects of `mazurka::sync` and `mazurka::thread` are for code that `mazurka::model` runs")
    }

    pub(super) fn try_current() -> Option<Rc<Running>> {
        RUNNING.try_with(|running| running.borrow().clone()).ok().flatten()
    }

    /// Does this thread of the operating system end, so that no code of a program can run in it?
    pub(super) fn is_over() -> bool {
        RUNNING.try_with(|_| ()).is_err()
    }

    /// Is no thread running, or are the threads being ended? Then what is dropped need tell nobody.
    pub(super) fn is_gone() -> bool {
        Running::try_current().is_none_or(|running| running.is_ending.get())
    }

    /// Lets code run as the code of this world.
    pub(super) fn enter<T>(self: &Rc<Self>, run: impl FnOnce() -> T) -> T {
        /// Also if it panics.
        struct Reset(Option<Rc<Running>>);

        impl Drop for Reset {
            fn drop(&mut self) {
                RUNNING.set(self.0.take());
            }
        }

        let _reset = Reset(RUNNING.replace(Some(self.clone())));
        run()
    }

    /// The outcome of what the running thread asks, if it is to go on at once.
    fn goes_on(&self, wanted: &Wanted) -> Option<Told> {
        let next = self.ahead.borrow_mut().pop()?;
        if next.stamp != wanted.stamp() {
            self.astray.borrow_mut().append(&mut self.ahead.borrow_mut());
            self.astray.borrow_mut().push(next);
            return None;
        }
        self.keep_spawned(wanted);
        self.printed.borrow_mut().clear();
        self.enter_history(next.node);
        self.goes_on_with(next.node);
        self.shared.has_run(false);
        Some(next.told)
    }

    /// The running thread has this history from now on.
    pub(super) fn enter_history(&self, node: NodeId) {
        self.node.set(node);
        self.made.set(0);
        self.in_vain.set(0);
    }

    /// If a thread is spawned, keeps what it is to run.
    pub(super) fn keep_spawned(&self, wanted: &Wanted) {
        if let Asked::Spawn(_) = &wanted.asked
            && let Some(body) = self.spawned.take()
        {
            self.bodies.borrow_mut().insert(self.node.get(), body);
        }
    }

    /// Until the result is dropped, contents are dropped whose handles were made there and are not
    /// counted.
    pub(super) fn drops_uncounted(self: Rc<Self>, place: Place) -> impl Drop {
        struct Uncounted(Rc<Running>);

        impl Drop for Uncounted {
            fn drop(&mut self) {
                self.0.uncounted.borrow_mut().pop();
            }
        }

        self.uncounted.borrow_mut().push(place);
        Uncounted(self)
    }

    /// What the thread does now can be seen by others. If a destructor does it, handles have to be
    /// counted.
    pub(super) fn is_seen(&self) {
        let dropped = self.uncounted.borrow().last().copied();
        if let Some(place) = dropped {
            self.shared.counts(place, Counting::Drops);
        }
    }

    /// Drops what threads were to run that will not begin. What panics meanwhile has been run for
    /// nothing.
    pub(super) fn drop_bodies(&self) {
        let bodies = self.bodies.take().into_values().chain(self.spawned.take());
        bodies.for_each(|body| drop(catch_unwind(AssertUnwindSafe(|| drop(body)))));
    }

    /// Does this thread know of what another one did in this history?
    pub(super) fn knows(&self, own: NodeId, thread: NodeId, node: NodeId) -> bool {
        own == thread || self.clock.borrow().get(&thread).is_some_and(|&known| node <= known)
    }

    /// Notes a race. The first one counts.
    pub(super) fn note_race(&self, message: String, place: Place) {
        let site = Some(panics::site(place));
        let failure = Failure { kind: FailureKind::Error, message, site };
        self.race.borrow_mut().get_or_insert(failure);
    }

    /// Lets the running thread act in a section: it must not ask for anything meanwhile.
    pub(super) fn acts<R>(&self, act: impl FnOnce() -> R) -> R {
        /// Also if it panics.
        struct Leave<'a>(&'a Cell<bool>);

        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }

        self.is_in_section.set(true);
        let _leave = Leave(&self.is_in_section);
        act()
    }

    /// Fails the running thread if it has the lock with this number, alone or to be alone.
    pub(super) fn must_not_have(&self, number: u32, is_shared: bool, place: Place) {
        let own = (self.thread.get(), number);
        let locks = self.locks.borrow();
        let is_own = |lock: &Locked| (lock.thread, lock.number) == own;
        let is_alone = |lock: &Locked| !(lock.is_shared && is_shared);
        let waits = locks.iter().any(|lock| is_own(lock) && is_alone(lock));
        drop(locks);
        if waits && !std::thread::panicking() {
            panics::blame("the thread waits for a lock that it has", place);
        }
    }

    /// Notes that the running thread gets a lock.
    pub(super) fn has_locked(&self, number: u32, is_shared: bool) {
        let thread = self.thread.get();
        self.locks.borrow_mut().push(Locked { thread, number, is_shared });
    }

    /// Notes that the running thread gives a lock back.
    pub(super) fn has_unlocked(&self, number: u32) {
        let own = (self.thread.get(), number);
        let mut locks = self.locks.borrow_mut();
        let place = locks.iter().rposition(|lock| (lock.thread, lock.number) == own);
        place.map(|place| locks.swap_remove(place));
    }

    /// Does something happen to the running thread for no reason? That is a choice, as often as
    /// threads may do so.
    fn happens(&self, done: &Counts, most: u32, text: &'static str, place: Place) -> bool {
        let thread = self.thread.get();
        let count = done.borrow().get(&thread).copied().unwrap_or(0);
        let choice = Op::Choose { lo: 0, hi: 2 };
        let happens = count < most && ask_for(choice, text, place) == Some(Told::Chosen(1));
        if happens {
            done.borrow_mut().insert(thread, count + 1);
        }
        happens
    }

    /// Does the running thread wake for no reason, where it would wait?
    pub(super) fn wakes_for_nothing(&self, place: Place) -> bool {
        self.happens(&self.woken, self.shared.mode.spurious, "wakes for no reason", place)
    }

    /// Does an exchange of the running thread fail for no reason?
    pub(super) fn fails_for_nothing(&self, place: Place) -> bool {
        self.shared.is_exchanged_weakly.store(true, Ordering::Relaxed);
        self.happens(&self.failed, self.shared.mode.failures, "fails for no reason", place)
    }

    /// The number of a new object, which is called so.
    pub(super) fn make(&self, kind: Made, what: &'static str, place: Place) -> u32 {
        let number = self.made.get();
        self.made.set(number + 1);
        self.shared.name((kind, self.node.get(), number), what, place)
    }

    /// Makes an object that belongs to no thread: the `index`-th static of the program.
    pub(super) fn make_static<T>(&self, index: u32, make: impl FnOnce() -> T) -> T {
        let (node, made) = (self.node.replace(NodeId::MAX - index), self.made.replace(0));
        let object = make();
        self.node.set(node);
        self.made.set(made);
        object
    }
}

/// Asks for an operation, and returns its outcome. `None` if the threads are being ended: then it
/// does not matter what happens.
pub(super) fn ask(asked: Asked<Start>, text: &'static str, place: Place) -> Option<Told> {
    let running = Running::current();
    if running.is_ending.get() {
        running.asks_in_vain();
        return None;
    }
    running.is_seen();
    let wanted = Wanted { asked, text, place: Some(place) };
    if std::thread::panicking() {
        return unwind::defer(&running, wanted);
    }
    running.has_caught_too_much();
    let what = "a waker does what other threads see, where it is cloned or dropped";
    assert!(!running.is_in_section.get(), "{what}: that is not supported");
    drop(running);
    unwind::do_deferred();
    leave(wanted)
}

/// Leaves the stack of the thread until there is an outcome, or the threads are ended: then the
/// stack is unwound.
pub(super) fn leave(wanted: Wanted) -> Option<Told> {
    Running::current().asked.update(|asked| asked + 1);
    if let Some(told) = Running::current().goes_on(&wanted) {
        return Some(told);
    }
    #[expect(deprecated, reason = "the code of a thread has no handle of its stack")]
    let told = generator::yield_(wanted);
    if Running::current().is_ending.get() {
        resume_unwind(Box::new(Ended));
    }
    told
}

/// What a stack is unwound with at the end.
struct Ended;

/// Asks for an operation without values.
pub(super) fn ask_for(op: Op, text: &'static str, place: Place) -> Option<Told> {
    ask(Asked::op(op), text, place)
}

/// Asks for a request, and returns its handle.
pub(super) fn request(op: Op, text: &'static str, place: Place) -> Handle {
    match ask_for(op, text, place) {
        Some(Told::Posted(handle)) => handle,
        _ => NO_REQUEST,
    }
}

/// The content that was read.
pub(super) fn content(told: Option<Told>) -> Value {
    match told {
        Some(Told::Value(value)) => value,
        _ => Value::Unit,
    }
}

/// Ends the search in this mode. The thread does not go on: to unwind it could end the process.
pub(super) fn give_up() {
    if !std::thread::panicking() && !Running::is_gone() {
        is_stale();
    }
}

/// Says that what is in memory is not what the history of the thread says.
pub(super) fn is_stale() -> ! {
    let running = Running::current();
    running.is_stale.set(true);
    if running.is_ending.get() || std::thread::panicking() {
        running.cannot_go_on("locks what another thread has locked");
        // The process is aborted: no destructor that was called while a stack unwinds may panic.
        let what = "a destructor that is called in a panic, or at the end of an execution";
        panics::aloud();
        panic!("{what}, locks what another thread has locked");
    }
    let asked = Asked::Done;
    leave(Wanted::end(asked));
    unreachable!("a world that is stale does not go on")
}
