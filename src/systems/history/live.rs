//! The live processes of a thread, by their histories. A history is named by its birth, since its
//! number may be used again. Their number is bounded: the least recently
//! used ones are ended first.
//!
//! Each thread has its own. So a live process need not be `Send`, and no thread waits for another
//! to use it.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::patience::{Delivery, Turns};

thread_local! {
    /// The live processes of each system in use, with its number. There are few systems at a time.
    static ALL: RefCell<Vec<(u64, Box<dyn Any>)>> = const { RefCell::new(Vec::new()) };
}

/// What [`Tree::birth`](super::tree::Tree::birth) says of a history.
type Birth = u64;

/// The live processes of one system in one thread.
pub(super) struct Live<P> {
    processes: FxHashMap<Birth, Kept<P>>,
    clock: u64,
    most: usize,
    /// The record of when they run.
    pub(super) turns: Arc<Turns<Delivery>>,
}

struct Kept<P> {
    process: P,
    used: u64,
}

impl<P: 'static> Live<P> {
    /// Takes the live processes of this system, with a bound on their number; `put_back` returns
    /// them. A thread that has none yet joins the search.
    pub(super) fn of(
        system: u64,
        most: usize,
        join: impl FnOnce() -> Arc<Turns<Delivery>>,
    ) -> Box<Live<P>> {
        let found = removed(system);
        match found.and_then(|found| found.downcast().ok()) {
            Some(live) => live,
            None => {
                Box::new(Live { processes: FxHashMap::default(), clock: 0, most, turns: join() })
            }
        }
    }

    /// Returns the live processes, so that they can be taken again.
    pub(super) fn put_back(self: Box<Self>, system: u64) {
        ALL.with_borrow_mut(|all| all.push((system, self)));
    }

    /// Whether there is a process with this history.
    pub(super) fn has(&self, history: Birth) -> bool {
        self.processes.contains_key(&history)
    }

    /// The process with this history, which is removed.
    pub(super) fn take(&mut self, history: Birth) -> Option<P> {
        self.processes.remove(&history).map(|kept| kept.process)
    }

    /// Adds a process with this history. Room for it has been made before it was started.
    pub(super) fn keep(&mut self, history: Birth, process: P) {
        self.clock += 1;
        self.processes.insert(history, Kept { process, used: self.clock });
    }

    /// Makes room for this number of processes by ending others, and returns whether there is room.
    /// If any have to end, an eighth of all ends, so that the oldest ones need not be searched for
    /// again soon.
    pub(super) fn make_room(&mut self, more: usize) -> bool {
        if more > self.most {
            return false;
        }
        if self.processes.len() + more > self.most {
            self.end_oldest(self.processes.len() + more - self.most + self.most / 8);
        }
        true
    }

    fn end_oldest(&mut self, going: usize) {
        let mut used: Vec<u64> = self.processes.values().map(|kept| kept.used).collect();
        let Some(last) = going.min(used.len()).checked_sub(1) else { return };
        let (_, &mut bound, _) = used.select_nth_unstable(last);
        self.processes.retain(|_, kept| kept.used > bound);
    }
}

/// Ends all processes of this system in this thread.
pub(super) fn end_all(system: u64) {
    drop(removed(system));
}

fn removed(system: u64) -> Option<Box<dyn Any>> {
    let remove = |all: &RefCell<Vec<(u64, Box<dyn Any>)>>| {
        let mut all = all.borrow_mut();
        let place = all.iter().position(|(known, _)| *known == system)?;
        Some(all.swap_remove(place).1)
    };
    // A thread that is ending has ended them already.
    ALL.try_with(remove).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::Live;

    #[test]
    fn those_not_used_for_longest_go_first() {
        let mut live = Live::of(u64::MAX, 3, Default::default);
        let keep = |history, live: &mut Live<()>| {
            assert!(live.make_room(1));
            live.keep(history, ());
        };
        (0..3).for_each(|history| keep(history, &mut live));
        live.take(0).expect("the first");
        keep(0, &mut live);
        keep(7, &mut live);
        assert_eq!([0, 1, 2, 7].map(|history| live.has(history)), [true, false, true, true]);
        assert!(live.make_room(3) && !live.make_room(4));
        assert_eq!([0, 1, 2, 7].map(|history| live.has(history)), [false; 4]);
    }
}
