//! The cursor of a search that stores states: the current model state, and the stored states with
//! which it is matched.
//!
//! A state is matched by its portrait in the [`Store`], together with the histories of its
//! processes if these are part of a state. With symmetry, by its key ([`super::orbits`]).

use super::histories::Histories;
use super::orbits::{Orbits, symmetry_of};
use super::settings::{Stateful, Switch};
use super::store::{StateId, Store};
use crate::explore::news::Led;
use crate::explore::result::SymmetryFigures;
use crate::model::{Action, Locals, Parts, State, Symmetry, System};

/// The current model state, and the stored states.
pub(crate) struct Cursor<'s, S: System> {
    /// The interned local states.
    pub(crate) locals: Locals<'s, S>,
    /// The current state.
    pub(crate) state: State,
    parts: Parts,
    portrait: Vec<u32>,
    store: Store,
    /// The histories, if they are part of a state.
    histories: Option<Histories>,
    /// If states that are equal up to the names of symmetric processes are matched.
    orbits: Option<(&'s dyn Symmetry<S::Local>, Orbits)>,
}

impl<'s, S: System> Cursor<'s, S> {
    /// A cursor in the initial state, without stored states.
    pub(crate) fn new(system: &'s S, settings: Stateful) -> Self {
        let mut locals = Locals::new(system);
        if !settings.has(Switch::LiveVariables) {
            locals.keep_dead();
        }
        let state = State::initial(&mut locals);
        Cursor {
            locals,
            state,
            parts: Parts::default(),
            portrait: Vec::new(),
            store: Store::new(settings.hash_compaction),
            histories: settings.histories.then(Histories::default),
            orbits: None,
        }
    }

    /// From now on matches states that are equal up to the names of symmetric processes, if the
    /// system has some.
    pub(crate) fn match_orbits(&mut self) {
        let symmetry = symmetry_of(self.locals.system(), &self.locals);
        self.orbits = symmetry.map(|symmetry| {
            let orbits = Orbits::new(symmetry, &self.locals, &self.state);
            (symmetry, orbits)
        });
    }

    /// The figures of symmetry, if it is used.
    pub(crate) fn symmetry(&self) -> Option<SymmetryFigures> {
        self.orbits.as_ref().map(|(_, orbits)| orbits.figures())
    }

    /// Stores the current state. Returns its number, and whether it is new.
    pub(crate) fn matched(&mut self) -> (StateId, bool) {
        self.take_portrait();
        let found = self.store.insert(&self.portrait);
        if let ((_, true), Some((_, orbits))) = (found, &mut self.orbits) {
            orbits.count();
        }
        found
    }

    /// Stores the current state. Returns its number, and what it is to a search that is saved.
    pub(super) fn matched_as(&mut self) -> (StateId, Led) {
        let numbers = |cursor: &Self| cursor.orbits.as_ref().map(|(_, orbits)| orbits.numbers());
        let before = numbers(self);
        let (to, is_new) = self.matched();
        let led = match is_new {
            true => Led::New,
            false if numbers(self) != before => Led::Told,
            false => Led::Known,
        };
        (to, led)
    }

    /// Is the current state stored?
    pub(crate) fn is_known(&mut self) -> bool {
        self.known().is_some()
    }

    /// The number of the current state, if it is stored.
    pub(crate) fn known(&mut self) -> Option<StateId> {
        self.take_portrait();
        self.store.find(&self.portrait)
    }

    fn take_portrait(&mut self) {
        self.state.portrait(&mut self.locals, &mut self.parts, &mut self.portrait);
        if let Some(histories) = &self.histories {
            histories.add_to(&mut self.portrait);
        }
        if let Some((symmetry, orbits)) = &mut self.orbits {
            orbits.rename(&mut self.portrait, *symmetry, &mut self.locals, &self.state);
        }
    }

    /// Executes an action.
    pub(crate) fn execute(&mut self, action: Action) {
        self.state.step(&mut self.locals, action);
        if let Some(histories) = &mut self.histories {
            histories.extend(action.process, &self.state);
        }
    }

    /// Undoes the last actions.
    pub(crate) fn undo(&mut self, actions: usize) {
        for _ in 0..actions {
            self.state.undo(&self.locals);
            if let Some(histories) = &mut self.histories {
                histories.undo();
            }
        }
    }

    /// The number of stored states.
    pub fn count(&self) -> u64 {
        self.store.count() as u64
    }

    /// Bytes in use for the stored states.
    pub(crate) fn bytes(&self) -> usize {
        let orbits = self.orbits.as_ref().map_or(0, |(_, orbits)| orbits.bytes());
        self.store.bytes() + self.parts.bytes() + orbits
    }
}
