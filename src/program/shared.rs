//! Shared cells, semaphores, barriers and latches.

use std::any::type_name;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, BitXor};
use std::panic::Location;
use std::sync::Arc;

use super::data::{Data, pack, unpack};
use super::handle::{Named, handles, shown};
use super::making::Made;
use super::panics::blame;
use super::process::{Asking, Wire, ask};
use super::text::Text;
use super::updates::{Change, Integer, by_function};
use crate::model::{Access, BarrierId, CellId, LatchId, Op, SemaphoreId, Value};
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
    named: Named<CellId>,
    of: PhantomData<fn(T) -> T>,
}

handles! { Cell { named } }

shown! { Cell<T>.named, Semaphore.0, Barrier.0, Latch.0 }

impl<T: Data> Cell<T> {
    /// A cell that the running process makes. To write the content is a step.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares a
    /// [`cell`](super::Program::cell).
    #[track_caller]
    pub fn new(name: impl AsRef<str>, content: T) -> Self {
        let wire = Wire::current();
        let named = wire.make(Made::Cell, name.as_ref(), CellId);
        let write = |value| Op::Access(named.id, Access::Write(value));
        let asked = Asked::with(pack(content), write);
        wire.defer(asked, Text::on(named, "new"), Location::caller());
        Cell::of(named)
    }

    pub(super) fn of(named: Named<CellId>) -> Self {
        Cell { named, of: PhantomData }
    }

    pub(super) fn named(self) -> Named<CellId> {
        self.named
    }

    /// Reads the content.
    #[track_caller]
    pub fn read(self) -> impl Future<Output = T> {
        let asking = self.access(Asked::op(Op::Access(self.named.id, Access::Read)), "read");
        async move { content(&asking.await) }
    }

    /// Writes a value.
    #[track_caller]
    pub fn write(self, value: T) -> impl Future<Output = ()> {
        let write = |value| Op::Access(self.named.id, Access::Write(value));
        let asking = self.access(Asked::with(pack(value), write), "write");
        async move { drop(asking.await) }
    }

    /// Writes a value, and returns the former content.
    #[track_caller]
    pub fn swap(self, value: T) -> impl Future<Output = T> {
        let swap = |value| Op::Access(self.named.id, Access::Swap(value));
        let asking = self.access(Asked::with(pack(value), swap), "swap");
        async move { content(&asking.await) }
    }

    /// Writes `new` if the content is `old`. Returns whether it was.
    #[track_caller]
    pub fn compare_and_swap(self, old: T, new: T) -> impl Future<Output = bool> {
        let asked = Asked::with_two(pack(old), pack(new), |old, new| {
            Op::Access(self.named.id, Access::CompareAndSwap { old, new })
        });
        let asking = self.access(asked, "compare_and_swap");
        async move { asking.await == Told::Value(Value::Bool(true)) }
    }

    /// Writes `new` if the content is `old`. Returns the former content, as an error if it was
    /// another one.
    #[track_caller]
    pub fn compare_exchange(self, old: T, new: T) -> impl Future<Output = Result<T, T>> {
        let exchange = |content: &T, (old, new): &(T, T)| (content == old).then(|| new.clone());
        let change = Change::new("compare_exchange", (old, new), exchange);
        let asking = self.change(&change);
        async move {
            let found = content(&asking.await);
            if change.operands.0 == found { Ok(found) } else { Err(found) }
        }
    }

    /// Replaces the content by what the function makes of it, in one step. Returns the former
    /// content. The function may be called often, and must depend on nothing else that changes. If
    /// it panics, the content stays and the process fails.
    ///
    /// ```
    /// use mazurka::program::Program;
    ///
    /// let mut program = Program::new();
    /// let words = program.cell("words", Vec::new());
    /// for word in ["a", "b"] {
    ///     program.process(word, async move || {
    ///         words.update(move |words| [&words[..], &[word]].concat()).await;
    ///     });
    /// }
    /// program.finally(move |end| assert_eq!(end.read(words).len(), 2));
    /// mazurka::check(&program.build()).assert_ok();
    /// ```
    #[track_caller]
    pub fn update(
        self,
        function: impl Fn(T) -> T + Send + Sync + 'static,
    ) -> impl Future<Output = T> {
        let (function, place) = (Arc::new(function), Location::caller());
        let applied = function.clone();
        let asked = by_function(self.named.id, move |content: &T| Some(applied(content.clone())));
        let text = Text::on(self.named, "update");
        async move {
            let old: T = content(&ask(asked, text, place).await);
            // Does again what was done in the cell, so that a panic is one of this process.
            Wire::current().compare(&pack(function(old.clone())), place);
            old
        }
    }

    #[track_caller]
    fn access(self, asked: Asked<super::spawning::Start>, verb: &'static str) -> Asking {
        ask(asked, Text::on(self.named, verb), Location::caller())
    }

    #[track_caller]
    fn change<A: Data>(self, change: &Change<T, A>) -> Asking {
        self.access(change.asked(self.named.id), change.verb)
    }

    /// Combines the content with an operand, and returns the former content. `None` is an overflow.
    #[track_caller]
    fn combine(
        self,
        verb: &'static str,
        operand: T,
        combine: fn(&T, &T) -> Option<T>,
    ) -> impl Future<Output = T> {
        let (change, place) = (Change::new(verb, operand, combine), Location::caller());
        let asking = self.change(&change);
        async move {
            let old = content(&asking.await);
            // Does again what was done in the cell, so that a panic is one of this process.
            match combine(&old, &change.operands) {
                Some(_) => old,
                None => blame(format!("{verb} leaves the range of {}", type_name::<T>()), place),
            }
        }
    }
}

macro_rules! combinations {
    ($($(#[$doc:meta])* $verb:ident where $bound:ident, |$content:ident, $operand:ident| $result:expr;)*) => {$(
        impl<T: Data + $bound> Cell<T> {
            $(#[$doc])*
            #[track_caller]
            pub fn $verb(self, operand: T) -> impl Future<Output = T> {
                self.combine(stringify!($verb), operand, |$content, $operand| $result)
            }
        }
    )*};
}

/// Types whose values can be combined by `&`, `|` and `^`.
pub trait Bits:
    Sized + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
}

impl<T: BitAnd<Output = T> + BitOr<Output = T> + BitXor<Output = T>> Bits for T {}

combinations! {
    /// Combines the content with the operand by `&`. Returns the former content.
    fetch_and where Bits, |content, operand| Some(content.clone() & operand.clone());
    /// Combines the content with the operand by `|`. Returns the former content.
    fetch_or where Bits, |content, operand| Some(content.clone() | operand.clone());
    /// Combines the content with the operand by `^`. Returns the former content.
    fetch_xor where Bits, |content, operand| Some(content.clone() ^ operand.clone());
    /// Writes the operand if it is greater than the content. Returns the former content.
    fetch_max where Ord, |content, operand| Some(content.max(operand).clone());
    /// Writes the operand if it is less than the content. Returns the former content.
    fetch_min where Ord, |content, operand| Some(content.min(operand).clone());
    /// Subtracts a number, and returns the former content. To leave the range of the type is a
    /// violation.
    fetch_sub where Integer, |content, operand| content.less(*operand);
}

impl<T: Integer> Cell<T> {
    /// Adds a number, and returns the former content. To leave the range of the type is a
    /// violation. (For numbers that wrap around there is [`update`](Cell::update).)
    #[track_caller]
    pub fn fetch_add(self, operand: T) -> impl Future<Output = T> {
        let place = Location::caller();
        // The model itself adds numbers of this type.
        let delta = match pack(operand) {
            Value::Int(delta) => Some(delta),
            _ => None,
        };
        let add = |delta| Asked::op(Op::Access(self.named.id, Access::FetchAdd(delta)));
        let asking = delta.map(|delta| self.access(add(delta), "fetch_add"));
        let otherwise =
            self.combine("fetch_add", operand, |content, operand| content.plus(*operand));
        async move {
            match asking {
                None => otherwise.await,
                Some(asking) => match asking.await {
                    Told::Overflow => blame("fetch_add leaves the range of i64", place),
                    told => content(&told),
                },
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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Semaphore(pub(super) Named<SemaphoreId>);

impl Semaphore {
    /// A semaphore that the running process makes. To give it a unit is a step.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares a
    /// [`semaphore`](super::Program::semaphore).
    #[track_caller]
    pub fn new(name: impl AsRef<str>, units: u32) -> Self {
        let (wire, place) = (Wire::current(), Location::caller());
        let named = wire.make(Made::Semaphore, name.as_ref(), SemaphoreId);
        for _ in 0..units {
            wire.defer(Asked::op(Op::Release(named.id)), Text::on(named, "new"), place);
        }
        Semaphore(named)
    }

    /// Takes a unit: waits until there is one.
    #[track_caller]
    pub fn acquire(self) -> impl Future<Output = ()> {
        let (Semaphore(named), place) = (self, Location::caller());
        let (semaphore, text) = (named.id, Text::on(named, "acquire"));
        async move {
            let told = ask(Asked::op(Op::AsyncAcquire(semaphore)), text, place).await;
            let Told::Posted(handle) = told else { unreachable!("it is told its request") };
            ask(Asked::op(Op::AcquireWait { semaphore, handle }), text, place).await;
        }
    }

    /// Gives a unit.
    #[track_caller]
    pub fn release(self) -> impl Future<Output = ()> {
        let text = Text::on(self.0, "release");
        let asking = ask(Asked::op(Op::Release(self.0.id)), text, Location::caller());
        async move { drop(asking.await) }
    }
}

/// A barrier.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Barrier(pub(super) Named<BarrierId>);

impl Barrier {
    /// A barrier that the running process makes, for this number of participants.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares a
    /// [`barrier`](super::Program::barrier). More than 64 are a violation.
    #[track_caller]
    pub fn new(name: impl AsRef<str>, participants: u32) -> Self {
        let (wire, place) = (Wire::current(), Location::caller());
        let named = wire.make_for(participants, Made::Barrier, name.as_ref(), BarrierId, place);
        Barrier(named)
    }

    /// Arrives, and waits until all participants have arrived. Then the barrier may be used again.
    #[track_caller]
    pub fn wait(self) -> impl Future<Output = ()> {
        let (Barrier(named), place) = (self, Location::caller());
        let (barrier, text) = (named.id, Text::on(named, "wait"));
        async move {
            let round = Wire::current().arrive(barrier);
            ask(Asked::op(Op::Arrive { barrier, round }), text, place).await;
            ask(Asked::op(Op::BarrierWait { barrier, round }), text, place).await;
        }
    }
}

/// A latch.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Latch(pub(super) Named<LatchId>);

impl Latch {
    /// A latch that the running process makes, which this number of counts opens.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares a
    /// [`latch`](super::Program::latch). More than 64 are a violation.
    #[track_caller]
    pub fn new(name: impl AsRef<str>, counts: u32) -> Self {
        let (wire, place) = (Wire::current(), Location::caller());
        let named = wire.make_for(counts, Made::Latch, name.as_ref(), LatchId, place);
        Latch(named)
    }

    /// Counts down. One count more than the latch has is a violation.
    #[track_caller]
    pub fn count_down(self) -> impl Future<Output = ()> {
        let text = Text::on(self.0, "count_down");
        let asking = ask(Asked::op(Op::CountDown(self.0.id)), text, Location::caller());
        async move { drop(asking.await) }
    }

    /// Waits until the latch is counted down to zero.
    #[track_caller]
    pub fn wait(self) -> impl Future<Output = ()> {
        let text = Text::on(self.0, "wait");
        let asking = ask(Asked::op(Op::LatchWait(self.0.id)), text, Location::caller());
        async move { drop(asking.await) }
    }
}
