//! What several threads act on, one operation at a time.
//!
//! Objects of async code, and channels, are plain data in a section. Each of their operations is a
//! turn: it looks at the data and changes it, all at once. Whom it wakes is woken after it.

use std::panic::Location;
use std::sync::{Mutex as Plain, MutexGuard as PlainGuard, PoisonError, TryLockError};

use super::access::new_cell;
use super::turns::Turns;
use crate::model::{Access, CellId, Op};
use crate::systems::history::Asked;
use crate::threads::ask::{Place, Running, ask, ask_for, content, is_stale};
use crate::threads::token::Token;
use crate::threads::unwind;

/// Data that threads act on, one after another.
pub(in crate::threads) struct Section<T> {
    turns: Turns,
    data: Plain<T>,
}

/// An operation that a reader of a counterexample sees: its name and its place in the program.
#[derive(Clone, Copy, Debug)]
pub(in crate::threads) struct Named {
    pub(in crate::threads) text: &'static str,
    pub(in crate::threads) place: Place,
}

impl Named {
    /// An operation of the caller's.
    #[track_caller]
    pub(in crate::threads) fn here(text: &'static str) -> Named {
        Named { text, place: Location::caller() }
    }
}

impl<T> Section<T> {
    /// Data of an object that is called so.
    #[track_caller]
    pub(in crate::threads) fn new(what: &'static str, data: T) -> Section<T> {
        Section::new_at(what, Location::caller(), data)
    }

    pub(in crate::threads) fn new_at(what: &'static str, place: Place, data: T) -> Section<T> {
        Section { turns: Turns::new(what, place), data: Plain::new(data) }
    }

    /// Acts on the data while nobody else does. What acts must not ask for anything.
    pub(in crate::threads) fn enter<R>(&self, named: Named, act: impl FnOnce(&mut T) -> R) -> R {
        // If it is over, nothing that others do depends on it any more.
        if let Some(running) = Running::try_current().filter(|running| !running.is_ending.get()) {
            self.turns.take(named.text, named.place);
            return running.acts(|| act(&mut self.data()));
        }
        act(&mut self.data())
    }

    /// The data, for who owns all of it.
    pub(in crate::threads) fn get_mut(&mut self) -> &mut T {
        self.data.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The data.
    pub(in crate::threads) fn into_inner(self) -> T {
        self.data.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn data(&self) -> PlainGuard<'_, T> {
        match self.data.try_lock() {
            Ok(data) => data,
            Err(TryLockError::Poisoned(data)) => data.into_inner(),
            Err(TryLockError::WouldBlock) => is_stale(),
        }
    }
}

/// Something that is set once, by one thread, and can be read without a section.
pub(in crate::threads) struct Flag(CellId);

impl Flag {
    /// It is not set.
    #[track_caller]
    pub(in crate::threads) fn new(what: &'static str) -> Flag {
        Flag::new_at(what, Location::caller())
    }

    pub(in crate::threads) fn new_at(what: &'static str, place: Place) -> Flag {
        Flag(new_cell(what, place))
    }

    pub(in crate::threads) fn set(&self, Named { text, place }: Named) {
        let token = Token(Running::current().node.get()).value();
        ask(Asked::with(token, |token| Op::Access(self.0, Access::Write(token))), text, place);
    }

    pub(in crate::threads) fn is_set(&self, Named { text, place }: Named) -> bool {
        let told = ask_for(Op::Access(self.0, Access::Read), text, place);
        Token::of(&content(told)).is_some()
    }
}

/// Is the thread unwinding, or are all being ended? Then what is dropped tells nobody. A panic in
/// which this is asked must not be caught.
pub(in crate::threads) fn is_over() -> bool {
    unwind::leaves_out() || Running::is_gone()
}
