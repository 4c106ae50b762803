//! The unfinished processes of a state, indexed by what they may still do.
//!
//! For each process that waits, the processes are asked for that may do what it waits for. The
//! index answers this. Only processes that may touch many neighbouring objects, or about which
//! nothing is known, are examined one by one.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::replay::Replay;
use crate::model::{ProcessId, Reach, System, Touch};

/// A process that may touch more neighbouring objects than this is not in the index. In debug
/// builds, which compare the index with the processes one by one, the number is so small that small
/// programs have such processes, too.
const MOST_NEIGHBOURS: u32 = if cfg!(debug_assertions) { 2 } else { 16 };

/// The processes that have not ended, by what they may still do.
#[derive(Default)]
pub(super) struct Suppliers {
    /// The processes by what they may do; objects have their declared index.
    by_touch: FxHashMap<Touch, Vec<ProcessId>>,
    /// The processes that are not in `by_touch`: they are examined one by one.
    others: Vec<(ProcessId, Option<Rc<Reach>>)>,
}

impl<S: System> Replay<'_, S> {
    /// The processes that have not ended and may still do this, or start a process that may, by
    /// number. Not for tests of communications and for messages to actors, because a [`Reach`] does
    /// not have them.
    pub(super) fn suppliers(&self, touch: Touch) -> Vec<ProcessId> {
        let all = self.all_suppliers();
        let declared = self.locals.declared(touch);
        let asked = all.others.iter().filter(|(process, reach)| match reach {
            Some(reach) => reach.contains(declared),
            None => self.may_ever(*process, touch),
        });
        let known = all.by_touch.get(&declared).into_iter().flatten().copied();
        let mut found: Vec<_> = known.chain(asked.map(|(process, _)| *process)).collect();
        found.sort_unstable();
        if cfg!(debug_assertions) {
            let unfinished = self.state.unfinished(&self.locals);
            let one_by_one: Vec<_> = unfinished.filter(|&p| self.may_still(p, touch)).collect();
            assert_eq!(found, one_by_one, "who may still do {touch:?}");
        }
        found
    }

    /// The index of this state, which is built when it is first needed.
    fn all_suppliers(&self) -> Rc<Suppliers> {
        let mut index = self.suppliers.borrow_mut();
        index.get_or_insert_with(|| Rc::new(self.index_suppliers())).clone()
    }

    fn index_suppliers(&self) -> Suppliers {
        let mut index = Suppliers::default();
        for process in self.state.unfinished(&self.locals) {
            let reach = self.reach(process);
            match reach.as_ref().and_then(|reach| reach.touches(MOST_NEIGHBOURS)) {
                Some(touches) => touches.for_each(|touch| {
                    let known = index.by_touch.entry(touch).or_default();
                    // Spans overlap if the same is done with a known index and with an unknown one.
                    if known.last() != Some(&process) {
                        known.push(process);
                    }
                }),
                None => index.others.push((process, reach.clone())),
            }
        }
        index
    }

    /// May `process`, or a process that it spawns, do this in any execution of its text? The
    /// present place in the text does not matter.
    pub(super) fn may_ever(&self, process: ProcessId, touch: Touch) -> bool {
        self.locals.may_touch(self.state.local(process), touch)
    }
}
