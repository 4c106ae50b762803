//! Turns: what threads do to something in memory, one after another.
//!
//! A turn is one operation: an update of a cell, by which the thread learns which turns came
//! before. Then it acts, and asks for nothing until it has done so. So nobody sees the middle of a
//! turn, and a thread that learns of it comes after all of it.

use std::sync::atomic::{AtomicU32, Ordering};

use super::access::{new_cell, update_cell};
use crate::model::CellId;
use crate::threads::ask::{Place, Running, content, is_stale};
use crate::threads::token::{Turn, Turned};
use crate::threads::unwind;

/// The turns that were taken at something.
#[derive(Debug)]
pub(in crate::threads) struct Turns {
    cell: CellId,
    /// The history in which the last one was asked for, as memory has it; [`u32::MAX`] at first.
    last_by: AtomicU32,
}

impl Turns {
    /// None yet, at what is called so.
    pub(in crate::threads) fn new(what: &'static str, place: Place) -> Turns {
        Turns { cell: new_cell(what, place), last_by: AtomicU32::new(u32::MAX) }
    }

    /// Comes after all turns so far, and before all later ones. So does what only looks: what is in
    /// memory has to be as it was then.
    pub(in crate::threads) fn take(&self, text: &'static str, place: Place) {
        let running = Running::current();
        if unwind::leaves_out() {
            return;
        }
        let by = running.node.get();
        drop(running);
        let Some(told) = update_cell(self.cell, Turn(by), text, place) else { return };
        // In memory, the last turn has to be the one that was observed.
        let observed = Turned::of(&content(Some(told))).map_or(u32::MAX, |last| last.by);
        if observed != self.last_by.load(Ordering::Relaxed) {
            is_stale();
        }
        self.last_by.store(by, Ordering::Relaxed);
    }
}
