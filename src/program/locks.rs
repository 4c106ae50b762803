//! Mutexes, reader-writer locks and condition variables. What they guard is inside them, and a
//! guard unlocks when it is dropped.
//!
//! The content is a cell of its own. It is read when the lock is granted, and written before it is
//! released if it was borrowed mutably. Such accesses are ordered by the lock, so they add no
//! executions. A lock that guards `()` has no cell.
//!
//! Each step has a line of the program. The content is written where it was last borrowed mutably.
//! The place where a guard is dropped cannot be known, so it unlocks where it was last used, unless
//! a call of this module drops it.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::rc::Rc;

use super::data::{Data, is_unit, pack, unpack};
use super::handle::{Named, handles, shown};
use super::making::Made;
use super::panics::blame;
use super::process::{Place, Wire, ask};
use super::shared::Cell as Shared;
use super::text::Text;
use crate::model::{
    Access, Asking, CellId, CondvarId, Handle, Hold, MutexId, Object, Op, Request, RwLockId, Value,
};
use crate::systems::history::{Asked, Told};

/// A mutex that guards a `T`.
///
/// ```
/// use mazurka::program::Program;
///
/// let mut program = Program::new();
/// let account = program.mutex("account", 100);
/// for name in ["A", "B"] {
///     program.process(name, async move || {
///         let mut balance = account.lock().await;
///         *balance += 10;
///     });
/// }
/// program.finally(move |end| assert_eq!(end.inside(account), 120));
/// mazurka::check(&program.build()).assert_ok();
/// ```
pub struct Mutex<T> {
    named: Named<MutexId>,
    is_tried: bool,
    content: Content<T>,
}

/// A reader-writer lock that guards a `T`.
pub struct RwLock<T> {
    named: Named<RwLockId>,
    content: Content<T>,
}

/// A condition variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Condvar(pub(super) Named<CondvarId>);

/// What a lock guards.
pub(super) struct Content<T> {
    cell: Option<Named<CellId>>,
    of: PhantomData<fn(T) -> T>,
}

handles! {
    Content { cell }
    Mutex { named }
    RwLock { named }
}

shown! { Mutex<T>.named, RwLock<T>.named, Condvar.0 }

impl<T: Data> Content<T> {
    pub(super) fn new(cell: Option<Named<CellId>>) -> Self {
        Content { cell, of: PhantomData }
    }

    /// The content of a lock that the running process makes with this name.
    #[track_caller]
    fn made(name: &str, content: T) -> Self {
        let cell = if is_unit::<T>() { None } else { Some(Shared::new(name, content).named()) };
        Content::new(cell)
    }

    pub(super) fn cell(self) -> Option<Named<CellId>> {
        self.cell
    }

    async fn read(self, text: Text, place: Place) -> T {
        let Some(cell) = self.cell else { return unpack(&Value::Unit) };
        match ask(Asked::op(Op::Access(cell.id, Access::Read)), text, place).await {
            Told::Value(value) => unpack(&value),
            told => unreachable!("{told:?} is no answer to a read"),
        }
    }
}

impl<T: Data> Mutex<T> {
    /// A mutex that the running process makes, and what it guards.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares a
    /// [`mutex`](super::Program::mutex).
    #[track_caller]
    pub fn new(name: impl AsRef<str>, content: T) -> Self {
        Mutex::made(name.as_ref(), content, Asking::Queues)
    }

    /// A mutex that the running process makes, as [`Mutex::new`] does, and that may be
    /// [tried](Mutex::try_lock).
    #[track_caller]
    pub fn tried(name: impl AsRef<str>, content: T) -> Self {
        Mutex::made(name.as_ref(), content, Asking::Tries)
    }

    #[track_caller]
    fn made(name: &str, content: T, asking: Asking) -> Self {
        let named = Wire::current().make(Made::Mutex(asking), name, MutexId);
        Mutex::of(named, asking, Content::made(name, content))
    }

    pub(super) fn of(named: Named<MutexId>, asking: Asking, content: Content<T>) -> Self {
        Mutex { named, is_tried: asking == Asking::Tries, content }
    }

    pub(super) fn content(self) -> Content<T> {
        self.content
    }

    /// Locks it: waits until no other process has it.
    #[track_caller]
    pub fn lock(self) -> impl Future<Output = Guard<T>> {
        self.lock_at("lock", Location::caller())
    }

    /// Locks it if no process has it or waits for it.
    ///
    /// # Panics
    /// If it is not a [`tried_mutex`](super::Program::tried_mutex).
    #[track_caller]
    pub fn try_lock(self) -> impl Future<Output = Option<Guard<T>>> {
        assert!(self.is_tried, "only a mutex made by `tried_mutex` can be tried");
        let place = Location::caller();
        async move {
            let (mutex, wire) = (self.named.id, self.held_from_now_on(place));
            let text = Text::on(self.named, "try_lock");
            let Told::Posted(handle) = ask(Asked::op(Op::TryLock(mutex)), text, place).await else {
                wire.let_go(mutex);
                return None;
            };
            let value = self.content.read(text, place).await;
            Some(Guard { mutex: self, handle, held: Held::new(value, wire, place) })
        }
    }

    /// Records that the process holds it.
    fn held_from_now_on(self, place: Place) -> Rc<Wire> {
        let wire = Wire::current();
        if !wire.hold(self.named.id) {
            blame("the process locks a mutex that it has already", place);
        }
        wire
    }

    async fn lock_at(self, verb: &'static str, place: Place) -> Guard<T> {
        let (mutex, wire) = (self.named.id, self.held_from_now_on(place));
        let text = Text::on(self.named, verb);
        let Told::Posted(handle) = ask(Asked::op(Op::AsyncLock(mutex)), text, place).await else {
            unreachable!("it is told its request")
        };
        let request = Request { mutex, handle };
        ask(Asked::op(Op::MutexWaitAny([request].into())), text, place).await;
        let value = self.content.read(text, place).await;
        Guard { mutex: self, handle, held: Held::new(value, wire, place) }
    }
}

/// The part of a guard that does not depend on the kind of lock.
struct Held<T> {
    value: T,
    wire: Rc<Wire>,
    /// Where the content was last borrowed mutably, if it was.
    changed: Option<Place>,
    /// Where the guard was last used. Before its first use: where the lock was asked for.
    used: Cell<Place>,
}

impl<T: Data> Held<T> {
    fn new(value: T, wire: Rc<Wire>, place: Place) -> Held<T> {
        Held { value, wire, changed: None, used: Cell::new(place) }
    }

    #[track_caller]
    fn borrow(&self) -> &T {
        self.used.set(Location::caller());
        &self.value
    }

    #[track_caller]
    fn borrow_mut(&mut self) -> &mut T {
        let place = Location::caller();
        self.used.set(place);
        self.changed = Some(place);
        &mut self.value
    }

    /// Requests a write of the content if it may have changed, and then `op`.
    fn release(&self, content: Content<T>, op: Op, on: Named<impl Copy + Into<Object>>) {
        if let (Some(place), Some(cell)) = (self.changed, content.cell) {
            let write = |value| Op::Access(cell.id, Access::Write(value));
            let asked = Asked::with(pack(self.value.clone()), write);
            self.wire.defer(asked, Text::on(cell, "write"), place);
        }
        self.wire.defer(Asked::op(op), Text::on(on, "unlock"), self.used.get());
    }
}

/// A mutex that the process has locked. It is unlocked when this is dropped.
pub struct Guard<T: Data> {
    mutex: Mutex<T>,
    handle: Handle,
    held: Held<T>,
}

impl<T: Data> Guard<T> {
    /// Drops the guard. It unlocks at the place of this call.
    #[track_caller]
    pub fn unlock(guard: Guard<T>) {
        guard.held.used.set(Location::caller());
    }
}

impl<T: Data> Deref for Guard<T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.held.borrow()
    }
}

impl<T: Data> DerefMut for Guard<T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.held.borrow_mut()
    }
}

impl<T: Data> Drop for Guard<T> {
    fn drop(&mut self) {
        let Mutex { named, content, .. } = self.mutex;
        let request = Request { mutex: named.id, handle: self.handle };
        self.held.release(content, Op::Unlock(request), named);
        self.held.wire.let_go(named.id);
    }
}

impl Condvar {
    /// A condition variable that the running process makes.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares a
    /// [`condvar`](super::Program::condvar).
    pub fn new(name: impl AsRef<str>) -> Self {
        Condvar(Wire::current().make(Made::Condvar, name.as_ref(), CondvarId))
    }

    /// Unlocks the mutex, waits to be notified, and locks the mutex again.
    #[track_caller]
    pub fn wait<T: Data>(self, guard: Guard<T>) -> impl Future<Output = Guard<T>> {
        let (Condvar(named), place) = (self, Location::caller());
        async move {
            let (condvar, text) = (named.id, Text::on(named, "wait"));
            let Told::Posted(handle) = ask(Asked::op(Op::Enrol(condvar)), text, place).await else {
                unreachable!("it is told its request")
            };
            let mutex = guard.mutex;
            guard.held.used.set(place);
            drop(guard);
            ask(Asked::op(Op::AwaitWake { condvar, handle }), text, place).await;
            mutex.lock_at("lock", place).await
        }
    }

    /// Wakes one of the waiting processes, if there are any.
    #[track_caller]
    pub fn notify_one(self) -> impl Future<Output = ()> {
        self.notify(false, "notify_one", Location::caller())
    }

    /// Wakes all waiting processes.
    #[track_caller]
    pub fn notify_all(self) -> impl Future<Output = ()> {
        self.notify(true, "notify_all", Location::caller())
    }

    async fn notify(self, all: bool, verb: &'static str, place: Place) {
        let Condvar(named) = self;
        let (condvar, text) = (named.id, Text::on(named, verb));
        let Told::Posted(handle) = ask(Asked::op(Op::Notify { condvar, all }), text, place).await
        else {
            unreachable!("it is told its request")
        };
        ask(Asked::op(Op::Wake { condvar, handle }), text, place).await;
    }
}

impl<T: Data> RwLock<T> {
    /// A reader-writer lock that the running process makes, and what it guards.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares an
    /// [`rwlock`](super::Program::rwlock).
    #[track_caller]
    pub fn new(name: impl AsRef<str>, content: T) -> Self {
        let name = name.as_ref();
        let named = Wire::current().make(Made::RwLock, name, RwLockId);
        RwLock::of(named, Content::made(name, content))
    }

    pub(super) fn of(named: Named<RwLockId>, content: Content<T>) -> Self {
        RwLock { named, content }
    }

    pub(super) fn content(self) -> Content<T> {
        self.content
    }

    /// Locks it together with other readers. A process must not lock it twice.
    #[track_caller]
    pub fn read(self) -> impl Future<Output = ReadGuard<T>> {
        let place = Location::caller();
        async move { ReadGuard(self.lock_at(Hold::Shared, "read", place).await) }
    }

    /// Locks it alone. A process must not lock it twice.
    #[track_caller]
    pub fn write(self) -> impl Future<Output = WriteGuard<T>> {
        let place = Location::caller();
        async move { WriteGuard(self.lock_at(Hold::Exclusive, "write", place).await) }
    }

    async fn lock_at(self, hold: Hold, verb: &'static str, place: Place) -> RwHeld<T> {
        let (lock, wire) = (self.named.id, Wire::current());
        if !wire.enter(lock) {
            blame("the process locks a reader-writer lock that it has already", place);
        }
        let text = Text::on(self.named, verb);
        let Told::Posted(handle) = ask(Asked::op(Op::RwRequest { lock, hold }), text, place).await
        else {
            unreachable!("it is told its request")
        };
        ask(Asked::op(Op::RwWait { lock, handle }), text, place).await;
        let value = self.content.read(text, place).await;
        RwHeld { lock: self, handle, held: Held::new(value, wire, place) }
    }
}

/// A reader-writer lock that the process holds, as a reader or a writer.
struct RwHeld<T: Data> {
    lock: RwLock<T>,
    handle: Handle,
    held: Held<T>,
}

impl<T: Data> Drop for RwHeld<T> {
    fn drop(&mut self) {
        let (RwLock { named, content }, handle) = (self.lock, self.handle);
        self.held.release(content, Op::RwUnlock { lock: named.id, handle }, named);
        self.held.wire.leave(named.id);
    }
}

/// A reader-writer lock that the process reads. It is unlocked when this is dropped.
pub struct ReadGuard<T: Data>(RwHeld<T>);

impl<T: Data> ReadGuard<T> {
    /// Drops the guard. It unlocks at the place of this call.
    #[track_caller]
    pub fn unlock(guard: ReadGuard<T>) {
        guard.0.held.used.set(Location::caller());
    }
}

impl<T: Data> Deref for ReadGuard<T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.0.held.borrow()
    }
}

/// A reader-writer lock that the process writes. It is unlocked when this is dropped.
pub struct WriteGuard<T: Data>(RwHeld<T>);

impl<T: Data> WriteGuard<T> {
    /// Drops the guard. It unlocks at the place of this call.
    #[track_caller]
    pub fn unlock(guard: WriteGuard<T>) {
        guard.0.held.used.set(Location::caller());
    }
}

impl<T: Data> Deref for WriteGuard<T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.0.held.borrow()
    }
}

impl<T: Data> DerefMut for WriteGuard<T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.0.held.borrow_mut()
    }
}
