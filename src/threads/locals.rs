//! Variables of which each thread has its own, with their ends.
//!
//! They are dropped when the code of their thread has returned, the last one that was made first.
//! That is part of the thread. Meanwhile destructors can use those that are still there, and those
//! that have no destructor.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::ask::Running;
use crate::systems::history::tree::NodeId;

/// The variables of each thread, in the order in which they were made.
pub(super) type Locals = FxHashMap<NodeId, Vec<Local>>;

/// A variable of a thread.
pub(super) struct Local {
    address: usize,
    needs_drop: bool,
    /// `None` once it is dropped.
    variable: Option<Rc<dyn Any>>,
}

impl Running {
    /// The variable of the running thread with this address; `None` in it if it was dropped.
    pub(super) fn local(&self, address: usize) -> Option<Option<Rc<dyn Any>>> {
        let locals = self.locals.borrow();
        let own = locals.get(&self.thread.get())?;
        own.iter().find(|local| local.address == address).map(|local| local.variable.clone())
    }

    /// Adds a variable of the running thread.
    pub(super) fn add_local<T: 'static>(&self, address: usize, variable: Rc<T>) {
        let needs_drop = std::mem::needs_drop::<T>();
        let local = Local { address, needs_drop, variable: Some(variable) };
        self.locals.borrow_mut().entry(self.thread.get()).or_default().push(local);
    }

    /// Drops the variables of all threads, because the world ends. What panics meanwhile has been
    /// run for nothing.
    pub(super) fn drop_all_locals(&self) {
        let threads: Vec<NodeId> = self.locals.borrow().keys().copied().collect();
        for thread in threads {
            self.thread.set(thread);
            while catch_unwind(AssertUnwindSafe(|| self.drop_locals())).is_err() {}
        }
    }

    /// Drops the variables of the running thread, one after another.
    pub(super) fn drop_locals(&self) {
        let last = || {
            let mut locals = self.locals.borrow_mut();
            let own = locals.get_mut(&self.thread.get())?.iter_mut().rev();
            own.filter(|local| local.needs_drop).find_map(|local| local.variable.take())
        };
        while let Some(variable) = last() {
            drop(variable);
        }
    }
}
