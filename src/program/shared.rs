//! Shared cells, semaphores and barriers.

use std::marker::PhantomData;
use std::panic::Location;

use super::data::{Data, pack, unpack};
use super::panics::blame;
use super::process::{Asking, Channel, ask};
use super::text::Text;
use crate::model::{Access, BarrierId, CellId, LatchId, Object, Op, SemaphoreId, Value};
use crate::systems::history::{Asked, Told};

/// A cell that processes share. Each access is atomic, and a step of its own.
///
/// ```should_panic
/// use mazurka::program::Program;
///
/// let mut program = Program::new();
/// let counter = program.cell("counter", 0_u32);
/// for name in ["A", "B"] {
///     program.process(name, async move || {
///         let seen = counter.read().await;
///         counter.write(seen + 1).await;
///     });
/// }
/// program.finally(move |end| assert_eq!(end.read(counter), 2));
/// mazurka::check(&program.build()).assert_ok();
/// ```
pub struct Cell<T> {
    id: CellId,
    of: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Cell<T> {}

impl<T: Data> Cell<T> {
    pub(super) fn new(id: CellId) -> Self {
        Cell { id, of: PhantomData }
    }

    pub(super) fn id(self) -> CellId {
        self.id
    }

    /// Reads the content.
    #[track_caller]
    pub fn read(self) -> impl Future<Output = T> {
        let asking = self.access(Asked::op(Op::Access(self.id, Access::Read)), "read");
        async move { content(&asking.await) }
    }

    /// Writes a value.
    #[track_caller]
    pub fn write(self, value: T) -> impl Future<Output = ()> {
        let write = |value| Op::Access(self.id, Access::Write(value));
        let asking = self.access(Asked::with(pack(value), write), "write");
        async move { drop(asking.await) }
    }

    /// Writes a value, and returns the former content.
    #[track_caller]
    pub fn swap(self, value: T) -> impl Future<Output = T> {
        let swap = |value| Op::Access(self.id, Access::Swap(value));
        let asking = self.access(Asked::with(pack(value), swap), "swap");
        async move { content(&asking.await) }
    }

    /// Writes `new` if the content is `old`. Returns whether it was.
    #[track_caller]
    pub fn compare_and_swap(self, old: T, new: T) -> impl Future<Output = bool> {
        let asked = Asked::with_two(pack(old), pack(new), |old, new| {
            Op::Access(self.id, Access::CompareAndSwap { old, new })
        });
        let asking = self.access(asked, "compare_and_swap");
        async move { asking.await == Told::Value(Value::Bool(true)) }
    }

    #[track_caller]
    fn access(self, asked: Asked<super::spawning::Start>, verb: &'static str) -> Asking {
        ask(asked, Text { on: Some(Object::Cell(self.id)), verb }, Location::caller())
    }
}

impl Cell<i64> {
    /// Adds a number, and returns the former content.
    #[track_caller]
    pub fn fetch_add(self, delta: i64) -> impl Future<Output = i64> {
        let place = Location::caller();
        let add = Asked::op(Op::Access(self.id, Access::FetchAdd(delta)));
        let asking = self.access(add, "fetch_add");
        async move {
            match asking.await {
                Told::Overflow => blame("fetch_add leaves the range of integers", place),
                told => content(&told),
            }
        }
    }
}

fn content<T: Data>(told: &Told) -> T {
    match told {
        Told::Value(value) => unpack(value),
        told => unreachable!("{told:?} is no answer to an access"),
    }
}

/// A semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Semaphore(pub(super) SemaphoreId);

impl Semaphore {
    /// Takes a unit: waits until there is one.
    #[track_caller]
    pub fn acquire(self) -> impl Future<Output = ()> {
        let (Semaphore(semaphore), place) = (self, Location::caller());
        let text = Text { on: Some(Object::Semaphore(semaphore)), verb: "acquire" };
        async move {
            let told = ask(Asked::op(Op::AsyncAcquire(semaphore)), text, place).await;
            let Told::Posted(handle) = told else { unreachable!("it is told its request") };
            ask(Asked::op(Op::AcquireWait { semaphore, handle }), text, place).await;
        }
    }

    /// Gives a unit.
    #[track_caller]
    pub fn release(self) -> impl Future<Output = ()> {
        let text = Text { on: Some(Object::Semaphore(self.0)), verb: "release" };
        let asking = ask(Asked::op(Op::Release(self.0)), text, Location::caller());
        async move { drop(asking.await) }
    }
}

/// A barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Barrier(pub(super) BarrierId);

impl Barrier {
    /// Arrives, and waits until all participants have arrived. Then the barrier may be used again.
    #[track_caller]
    pub fn wait(self) -> impl Future<Output = ()> {
        let (Barrier(barrier), place) = (self, Location::caller());
        let text = Text { on: Some(Object::Barrier(barrier)), verb: "wait" };
        async move {
            let round = Channel::current().arrive(barrier);
            ask(Asked::op(Op::Arrive { barrier, round }), text, place).await;
            ask(Asked::op(Op::BarrierWait { barrier, round }), text, place).await;
        }
    }
}

/// A latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Latch(pub(super) LatchId);

impl Latch {
    /// Counts down. One count more than the latch has is a violation.
    #[track_caller]
    pub fn count_down(self) -> impl Future<Output = ()> {
        let text = Text { on: Some(self.0.into()), verb: "count_down" };
        let asking = ask(Asked::op(Op::CountDown(self.0)), text, Location::caller());
        async move { drop(asking.await) }
    }

    /// Waits until the latch is counted down to zero.
    #[track_caller]
    pub fn wait(self) -> impl Future<Output = ()> {
        let text = Text { on: Some(self.0.into()), verb: "wait" };
        let asking = ask(Asked::op(Op::LatchWait(self.0)), text, Location::caller());
        async move { drop(asking.await) }
    }
}
