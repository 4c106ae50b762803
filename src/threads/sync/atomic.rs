//! [`std::sync::atomic`]: integers and booleans of up to 64 bits, sequentially consistent.
//!
//! Where a program asks for a weaker ordering, executions that only the weaker ordering allows are
//! not explored.

pub use std::sync::atomic::Ordering;

pub use super::pointer::AtomicPtr;

use std::fmt;
use std::panic::Location;

use super::access::{leave, new_cell, note, now, update_cell};
use crate::model::{Access, CellId, Op};
use crate::systems::history::{Asked, Told};
use crate::threads::ask::{Place, Running, ask, ask_for};
use crate::threads::token::{Change, Updating, Width, Word};

/// The cell of an atomic, and what it begins with.
///
/// It is copied before an operation: as soon as that is done, another thread may free the atomic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    cell: CellId,
    width: Width,
    first: u64,
}

impl Number {
    /// A number that is no atomic of the program, and is called so.
    pub(super) fn new(what: &'static str, width: Width, first: u64, place: Place) -> Number {
        Number { cell: new_cell(what, place), width, first }
    }

    /// The bits that were found.
    fn bits(self, told: Option<Told>) -> u64 {
        match told {
            Some(Told::Value(content)) => Word::of(&content).map_or(self.first, |word| word.bits),
            _ => now(self.cell).unwrap_or(self.first),
        }
    }

    pub(super) fn load(self, text: &'static str, place: Place) -> u64 {
        self.bits(ask_for(Op::Access(self.cell, Access::Read), text, place))
    }

    /// Loads what another thread must not write at the same time.
    fn load_alone(self, place: Place) -> u64 {
        let known = Running::current().clock.borrow().clone();
        let told = ask_for(Op::Access(self.cell, Access::Read), "unsync_load", place);
        if let Some(Told::Value(content)) = &told
            && let Some(word) = Word::of(content)
        {
            let running = Running::current();
            let (own, writer) = {
                let tree = running.shared.tree();
                (tree.root(running.node.get()), tree.root(word.by))
            };
            if own != writer && known.get(&writer).is_none_or(|&known| known < word.by) {
                let what = "reads what another thread writes";
                let race = format!("data race: `unsync_load` in line {} {what}", place.line());
                running.note_race(race, place);
            }
        }
        self.bits(told)
    }

    pub(super) fn store(self, bits: u64, text: &'static str, place: Place) {
        let word = Word::new(bits, Some(self.width), Running::current().node.get(), None);
        let write = |word| Op::Access(self.cell, Access::Write(word));
        ask(Asked::with(word.value(), write), text, place);
        leave(self.cell, bits);
    }

    /// The bits before.
    fn update(self, change: Change, text: &'static str, place: Place) -> u64 {
        let Number { cell, width, first } = self;
        let by = Running::current().node.get();
        let update = Updating { change, width, first, by };
        let before = self.bits(update_cell(cell, update, text, place));
        if let Some(bits) = change.apply(width, before) {
            leave(cell, bits);
        }
        before
    }
}

/// A fence. Where all accesses are sequentially consistent it has no effect.
pub fn fence(ordering: Ordering) {
    note(ordering);
}

macro_rules! atomic {
    ($name:ident, $type:ty, $bits:expr, $signed:expr, $to:expr, $from:expr) => {
        /// An atomic: see [`std::sync::atomic`].
        pub struct $name {
            cell: CellId,
            /// What it begins with.
            first: $type,
        }

        impl $name {
            /// An atomic that begins with this value.
            #[track_caller]
            pub fn new(value: $type) -> $name {
                let cell = new_cell(stringify!($name), Location::caller());
                $name { cell, first: value }
            }

            fn number(&self, place: Place) -> Number {
                Running::try_current().inspect(|running| running.uses(self, place));
                let width = Width { bits: $bits, is_signed: $signed };
                Number { cell: self.cell, width, first: $to(self.first) }
            }

            /// The value.
            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $type {
                note(ordering);
                let place = Location::caller();
                $from(self.number(place).load("load", place))
            }

            /// Writes this value.
            #[track_caller]
            pub fn store(&self, value: $type, ordering: Ordering) {
                note(ordering);
                let place = Location::caller();
                self.number(place).store($to(value), "store", place);
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
                $from(self.number(place).update(change, text, place))
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

            /// As [`compare_exchange`](Self::compare_exchange); it may fail for no reason, if
            /// threads may ([`spurious_failures`](crate::threads::Builder::spurious_failures)).
            ///
            /// # Errors
            /// With the value, if it is not `current`, or for no reason.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                if Running::current().fails_for_nothing(Location::caller()) {
                    return Err(self.load(failure));
                }
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

            /// The value before, as `loom` has it: see
            /// [`compare_exchange`](Self::compare_exchange).
            #[track_caller]
            pub fn compare_and_swap(
                &self,
                current: $type,
                new: $type,
                ordering: Ordering,
            ) -> $type {
                let change = Change::Exchange($to(current), $to(new));
                self.change(change, ordering, "compare_and_swap", Location::caller())
            }

            /// The value.
            #[track_caller]
            pub fn into_inner(self) -> $type {
                let place = Location::caller();
                $from(self.number(place).load("into_inner", place))
            }

            /// The value, to be changed. Nobody else can access the atomic meanwhile.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $type {
                let place = Location::caller();
                let value = self.number(place).load("get_mut", place);
                // From now on it is another atomic, which begins with what is left here.
                *self = $name::new($from(value));
                &mut self.first
            }

            /// Calls the function with the value, to be changed.
            #[track_caller]
            pub fn with_mut<R>(&mut self, work: impl FnOnce(&mut $type) -> R) -> R {
                work(self.get_mut())
            }

            /// The value, if no other thread writes it at the same time: that is a violation.
            ///
            /// # Safety
            /// Nothing unsafe happens. It is marked because it is to be used like a load that is
            /// not atomic.
            #[expect(unsafe_code, reason = "a signature that others have given to it")]
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $type {
                Running::current().shared.tracks();
                let place = Location::caller();
                $from(self.number(place).load_alone(place))
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
            #[track_caller]
            fn default() -> Self {
                $name::new(Default::default())
            }
        }

        impl From<$type> for $name {
            #[track_caller]
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
