//! [`std::sync::atomic`]: integers and booleans of up to 64 bits, sequentially consistent.
//!
//! Where a program asks for a weaker ordering, executions that only the weaker ordering allows are
//! not explored.

pub use std::sync::atomic::Ordering;

use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::model::{Access, CellId, Op, Opaque, Value};
use crate::systems::history::Asked;
use crate::threads::ask::{Place, Running, ask, ask_for, content};
use crate::threads::system::Made;
use crate::threads::token::{Change, Updating, Width, Word};

/// The number that all atomics are made of.
struct Number {
    cell: CellId,
    first: u64,
    width: Width,
}

impl Number {
    fn new(first: u64, width: Width) -> Number {
        Number { cell: CellId(Running::current().make(Made::Cell)), first, width }
    }

    fn bits(&self, content: &Value) -> u64 {
        Word::of(content).map_or(self.first, |word| word.bits)
    }

    fn load(&self, text: &'static str, place: Place) -> u64 {
        let told = ask_for(Op::Access(self.cell, Access::Read), text, place);
        self.bits(&content(told))
    }

    fn store(&self, bits: u64, text: &'static str, place: Place) {
        let word = Word::new(bits, Running::current().node.get(), None);
        let write = |word| Op::Access(self.cell, Access::Write(word));
        ask(Asked::with(word.value(), write), text, place);
    }

    /// The bits before.
    fn update(&self, change: Change, text: &'static str, place: Place) -> u64 {
        let Number { cell, first, width } = *self;
        let by = Running::current().node.get();
        let update = Opaque::updating(Updating { change, width, first, by });
        let access = |update| Op::Access(cell, Access::Update(update));
        let told = ask(Asked::with(Value::Opaque(update), access), text, place);
        self.bits(&content(told))
    }
}

/// Notes which orderings a program asks for.
fn note(ordering: Ordering) {
    if ordering != SeqCst
        && let Some(running) = Running::try_current()
    {
        running.shared.is_weak.store(true, Relaxed);
    }
}

/// A fence. Where all accesses are sequentially consistent it has no effect.
pub fn fence(ordering: Ordering) {
    note(ordering);
}

macro_rules! atomic {
    ($name:ident, $type:ty, $bits:expr, $signed:expr, $to:expr, $from:expr) => {
        /// An atomic: see [`std::sync::atomic`].
        pub struct $name(Number);

        impl $name {
            /// An atomic that begins with this value.
            pub fn new(value: $type) -> $name {
                $name(Number::new($to(value), Width { bits: $bits, is_signed: $signed }))
            }

            /// The value.
            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $type {
                note(ordering);
                $from(self.0.load("load", Location::caller()))
            }

            /// Writes this value.
            #[track_caller]
            pub fn store(&self, value: $type, ordering: Ordering) {
                note(ordering);
                self.0.store($to(value), "store", Location::caller());
            }

            /// Writes this value, and returns the one before.
            #[track_caller]
            pub fn swap(&self, value: $type, ordering: Ordering) -> $type {
                self.change(Change::Swap($to(value)), ordering, "swap", Location::caller())
            }

            fn change(
                &self,
                change: Change,
                ordering: Ordering,
                text: &'static str,
                place: Place,
            ) -> $type {
                note(ordering);
                $from(self.0.update(change, text, place))
            }

            /// Writes `new` if the value is `current`. Returns the value before.
            ///
            /// # Errors
            /// With the value, if it is not `current`.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                note(failure);
                let change = Change::Exchange($to(current), $to(new));
                let old = self.change(change, success, "compare_exchange", Location::caller());
                if old == current { Ok(old) } else { Err(old) }
            }

            /// As [`compare_exchange`](Self::compare_exchange); it does not fail for no reason.
            ///
            /// # Errors
            /// With the value, if it is not `current`.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Writes what this function makes of the value, as often as another thread comes in
            /// between. Returns the value before.
            ///
            /// # Errors
            /// With the value, if the function returns `None`.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut change: impl FnMut($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                let mut value = self.load(fetch);
                while let Some(new) = change(value) {
                    match self.compare_exchange(value, new, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(found) => value = found,
                    }
                }
                Err(value)
            }

            /// The value.
            #[track_caller]
            pub fn into_inner(self) -> $type {
                $from(self.0.load("into_inner", Location::caller()))
            }

            atomic!(@method fetch_and, And, $type, $to);
            atomic!(@method fetch_nand, Nand, $type, $to);
            atomic!(@method fetch_or, Or, $type, $to);
            atomic!(@method fetch_xor, Xor, $type, $to);
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                $name::new(Default::default())
            }
        }

        impl From<$type> for $name {
            fn from(value: $type) -> Self {
                $name::new(value)
            }
        }
    };
    (@method $method:ident, $change:ident, $type:ty, $to:expr) => {
        /// Changes the value, and returns the one before.
        #[track_caller]
        pub fn $method(&self, value: $type, ordering: Ordering) -> $type {
            let change = Change::$change($to(value));
            self.change(change, ordering, stringify!($method), Location::caller())
        }
    };
}

macro_rules! integers {
    ($($name:ident, $type:ty, $signed:expr;)*) => {$(
        atomic!($name, $type, <$type>::BITS, $signed, |value: $type| value as u64, |bits: u64| bits as $type);

        impl $name {
            atomic!(@method fetch_add, Add, $type, |value: $type| value as u64);
            atomic!(@method fetch_sub, Sub, $type, |value: $type| value as u64);
            atomic!(@method fetch_max, Max, $type, |value: $type| value as u64);
            atomic!(@method fetch_min, Min, $type, |value: $type| value as u64);
        }
    )*};
}

integers! {
    AtomicU8, u8, false;
    AtomicU16, u16, false;
    AtomicU32, u32, false;
    AtomicU64, u64, false;
    AtomicUsize, usize, false;
    AtomicI8, i8, true;
    AtomicI16, i16, true;
    AtomicI32, i32, true;
    AtomicI64, i64, true;
    AtomicIsize, isize, true;
}

atomic!(AtomicBool, bool, 1, false, u64::from, |bits: u64| bits & 1 == 1);
