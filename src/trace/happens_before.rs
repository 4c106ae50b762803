//! Happens-before of an execution that grows and shrinks at its end.
//!
//! An action happens before a later one if they depend on one another, or by transitivity. Each action of
//! the execution has a vector clock: how many actions of each process are at or before it. Since the
//! actions of one process are totally ordered, that number says exactly which ones. So:
//!
//! - `i` is before `j` iff `clock(j)` counts `i`: one comparison;
//! - what a new action depends on, most footprints tell ([`Independence::lookup`]): the last action on the same object, or a few
//!   at its end;
//! - otherwise each other process is searched backwards from its last action. The search ends at an action that depends on the
//!   new one, or that the clock of a cause found so far counts already. Older actions need no look: the process's own order
//!   puts them before. Here only the contract of the relation is assumed, so a search may pass through every action that is
//!   concurrent with the new one; usually the clocks end it after a few.
//!
//! Invariants, restored by [`HappensBefore::push`] and [`HappensBefore::pop`]: `clocks` and `causes` hold
//! the entries of all actions one after the other, in the order of the execution, so that taking back an
//! action is truncating. A clock is as wide as there were processes by then; further entries count as 0.
//! No list is ever freed, so a search allocates only while it goes deeper than before.

use std::slice;

use super::initials::Signature;
use crate::model::{Chain, Footprint, Independence, Lookup, ProcessId};

/// An action of the execution.
#[derive(Debug)]
struct Entry {
    process: ProcessId,
    /// Its index among the actions of its process, from 0.
    nth: u32,
    /// The start of its clock in `clocks`.
    clock: u32,
    /// The start of its direct predecessors in `causes`.
    causes: u32,
}

/// The happens-before order of an execution. Its actions are known by their positions in it.
#[derive(Debug)]
pub struct HappensBefore<I> {
    relation: I,
    entries: Vec<Entry>,
    /// What each action touched.
    footprints: Vec<Footprint>,
    signatures: Vec<Signature>,
    /// Positions of the actions of each process, oldest first.
    by_process: Vec<Vec<u32>>,
    clocks: Vec<u32>,
    causes: Vec<u32>,
    /// Per chain the positions of its actions, oldest first.
    chains: Vec<Vec<u32>>,
    /// How many tests have failed.
    tests: u32,
    /// Per process the position of the action that started it, or [`NONE`].
    births: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<I: Independence> HappensBefore<I> {
    /// The order of the empty execution.
    pub fn new(relation: I) -> Self {
        HappensBefore {
            relation,
            entries: Vec::new(),
            footprints: Vec::new(),
            signatures: Vec::new(),
            by_process: Vec::new(),
            clocks: Vec::new(),
            causes: Vec::new(),
            chains: Vec::new(),
            tests: 0,
            births: Vec::new(),
        }
    }

    /// How many actions the execution has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Is this the empty execution?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The process of the action at `position`.
    pub fn process(&self, position: usize) -> ProcessId {
        self.entries[position].process
    }

    /// What the action at `position` touched.
    pub fn footprint(&self, position: usize) -> &Footprint {
        &self.footprints[position]
    }

    /// A few bits of that.
    #[inline]
    pub fn signature(&self, position: usize) -> Signature {
        self.signatures[position]
    }

    /// The positions of the actions of `process`, oldest first.
    pub fn of_process(&self, process: ProcessId) -> &[u32] {
        self.by_process.get(process.index()).map_or(&[], Vec::as_slice)
    }

    /// The positions of the actions in a chain, oldest first.
    #[inline]
    pub fn in_chain(&self, chain: Chain) -> &[u32] {
        self.chains.get(chain.index()).map_or(&[], Vec::as_slice)
    }

    /// The last action of each process that has one.
    pub fn last_of_each(&self) -> impl Iterator<Item = usize> {
        self.by_process.iter().filter_map(|of_one| of_one.last().map(|&last| last as usize))
    }

    /// The direct predecessors of the action at `position`, oldest first: those before it with nothing in
    /// between.
    pub fn direct_predecessors(&self, position: usize) -> &[u32] {
        let end = self.entries.get(position + 1).map_or(self.causes.len(), |e| e.causes as usize);
        &self.causes[self.entries[position].causes as usize..end]
    }

    /// How many actions of each process are at or before the one at `position`. Processes beyond the end
    /// have none.
    pub fn clock(&self, position: usize) -> &[u32] {
        let end = self.entries.get(position + 1).map_or(self.clocks.len(), |e| e.clock as usize);
        &self.clocks[self.entries[position].clock as usize..end]
    }

    /// Does the action at `i` happen before the one at `j`? An action is not before itself.
    pub fn before(&self, i: usize, j: usize) -> bool {
        i < j && self.counts(j, i)
    }

    /// The actions behind `i` that are not after it, oldest first.
    pub fn not_after(&self, i: usize) -> impl Iterator<Item = usize> {
        let Entry { process, nth, .. } = self.entries[i];
        (i + 1..self.len())
            .filter(move |&j| self.clock(j).get(process.index()).is_none_or(|&count| count <= nth))
    }

    /// Does the clock of `j` count `i`: i = j or i < j?
    fn counts(&self, j: usize, i: usize) -> bool {
        let Entry { process, nth, .. } = self.entries[i];
        self.clock(j).get(process.index()).is_some_and(|&count| count > nth)
    }

    /// Adds an action of `process` that touched `footprint`, as [`State::footprint`](crate::model::State::footprint)
    /// tells after the step.
    pub fn push(&mut self, process: ProcessId, footprint: Footprint) {
        if self.by_process.len() <= process.index() {
            self.by_process.resize_with(process.index() + 1, Vec::new);
        }
        let nth = self.by_process[process.index()].len() as u32;
        let clock = self.clocks.len();
        let causes = self.causes.len();
        let chain = self.relation.chain(&footprint);
        self.note(&footprint, self.entries.len() as u32, 1);
        self.signatures.push(Signature::of(process, &footprint));
        self.footprints.push(footprint);
        let (clock_start, causes_start) = (clock as u32, causes as u32);
        self.entries.push(Entry { process, nth, clock: clock_start, causes: causes_start });
        if let Some(&previous) = self.by_process[process.index()].last() {
            let from = self.entries[previous as usize].clock as usize;
            self.clocks.extend_from_within(from..from + self.clock(previous as usize).len());
            self.causes.push(previous);
        }
        self.clocks.resize(clock + self.by_process.len(), 0);
        self.add_causes_of_others(process);
        self.keep_direct(causes);

        self.clocks[clock + process.index()] = nth + 1;
        let position = self.entries.len() as u32 - 1;
        self.by_process[process.index()].push(position);
        if let Some(chain) = chain {
            self.chain_mut(chain).push(position);
        }
    }

    #[inline]
    fn chain_mut(&mut self, chain: Chain) -> &mut Vec<u32> {
        let index = chain.index();
        if self.chains.len() <= index {
            self.chains.resize_with(index + 1, Vec::new);
        }
        &mut self.chains[index]
    }

    /// Counts a failed test, or notes that processes were started at this position.
    #[inline]
    fn note(&mut self, footprint: &Footprint, position: u32, count: i32) {
        use Footprint::{Handler, Held, Incomplete, NotOwned, Spawn};
        let started = match footprint {
            Incomplete(_) | NotOwned(_) | Held(_) => {
                return self.tests = self.tests.wrapping_add_signed(count);
            }
            Spawn(child) => slice::from_ref(child),
            Handler { started, .. } => started,
            _ => return,
        };
        for child in started {
            if self.births.len() <= child.index() {
                self.births.resize(child.index() + 1, NONE);
            }
            self.births[child.index()] = position;
        }
    }

    /// Takes back the last action, and returns what it touched.
    ///
    /// # Panics
    /// If there is none.
    pub fn pop(&mut self) -> Footprint {
        let last = self.entries.pop().expect("an action to take back");
        self.by_process[last.process.index()].pop();
        self.clocks.truncate(last.clock as usize);
        self.causes.truncate(last.causes as usize);
        self.signatures.pop();
        let footprint = self.footprints.pop().expect("one of each action");
        self.note(&footprint, NONE, -1);
        if let Some(chain) = self.relation.chain(&footprint) {
            self.chain_mut(chain).pop();
        }
        footprint
    }

    /// Notes the newest actions of other processes that the newest action depends on.
    fn add_causes_of_others(&mut self, process: ProcessId) {
        let newest = self.entries.len() - 1;
        if let Some(count) = self.told_causes(newest).map(<[u32]>::len) {
            for index in 0..count {
                let cause = self.told_causes(newest).expect("told as before")[index];
                self.add_concurrent(cause);
            }
            return;
        }
        if self.entries[newest].nth == 0
            && let Some(&birth) = self.births.get(process.index())
            && birth != NONE
        {
            self.add_concurrent(birth);
        }
        match self.relation.lookup(&self.footprints[newest]) {
            Lookup::NewestAndTests(_) if self.tests > 0 => self.search_everywhere(process),
            Lookup::Everywhere => self.search_everywhere(process),
            Lookup::Nowhere => {}
            Lookup::LastOf(target) => {
                if let Some(&last) = self.of_process(target).last() {
                    self.add_concurrent(last);
                }
            }
            Lookup::Newest(chain) | Lookup::NewestAndTests(chain) => {
                if let Some(&last) = self.in_chain(chain).last() {
                    self.add_concurrent(last);
                }
            }
            Lookup::At(chain, position) => {
                self.add_concurrent(self.in_chain(chain)[position as usize]);
            }
            Lookup::LastWrite(cell) => {
                let accesses = self.in_chain(Chain::Accesses(cell)).iter();
                if let Some(&write) = accesses.rev().find(|&&access| self.has_written(access)) {
                    self.add_concurrent(write);
                }
            }
            Lookup::Since(cell) => {
                let chain = Chain::Accesses(cell);
                for index in (0..self.in_chain(chain).len()).rev() {
                    let access = self.in_chain(chain)[index];
                    self.add_concurrent(access);
                    if self.has_written(access) {
                        break;
                    }
                }
            }
        }
    }

    fn has_written(&self, position: u32) -> bool {
        matches!(self.footprints[position as usize], Footprint::Write(_))
    }

    /// Notes a cause of the newest action, unless the clock of that counts it already.
    fn add_concurrent(&mut self, cause: u32) {
        if !self.counts(self.entries.len() - 1, cause as usize) {
            self.add_cause(cause);
        }
    }

    /// Searches each other process for what the newest action, of `process`, depends on.
    fn search_everywhere(&mut self, process: ProcessId) {
        for other in (0..self.by_process.len()).filter(|&other| other != process.index()) {
            if let Some(cause) = self.newest_dependent(other) {
                self.add_cause(cause);
            }
        }
    }

    fn told_causes(&self, position: usize) -> Option<&[u32]> {
        self.relation.causes(&self.footprints[position])
    }

    /// The last action of process `other` that the newest action depends on, unless the clock of the
    /// newest one counts it already.
    fn newest_dependent(&self, other: usize) -> Option<u32> {
        let last = self.entries.len() - 1;
        let newest = &self.entries[last];
        let counted = self.clocks[newest.clock as usize + other] as usize;
        let concurrent = &self.by_process[other][counted..];
        concurrent.iter().rev().copied().find(|&position| {
            let of = |position: usize| (self.entries[position].process, &self.footprints[position]);
            let (old, new) = (of(position as usize), of(last));
            let dependent = self.relation.dependent(old, new);
            debug_assert_eq!(
                dependent,
                self.relation.dependent(new, old),
                "the relation is not symmetric on {old:?} and {new:?}"
            );
            dependent
        })
    }

    /// Notes `cause` as a predecessor of the newest action, and joins its clock to that one's.
    fn add_cause(&mut self, cause: u32) {
        let from = self.entries[cause as usize].clock as usize;
        let to = self.entries.last().expect("an action being added").clock as usize;
        let width = self.clock(cause as usize).len();
        let (earlier, joined) = self.clocks.split_at_mut(to);
        for (joined, &count) in joined.iter_mut().zip(&earlier[from..from + width]) {
            *joined = count.max(*joined);
        }
        self.causes.push(cause);
    }

    /// Keeps, of the predecessors noted from `start` on, those that are not before another one, sorted.
    fn keep_direct(&mut self, start: usize) {
        if self.causes.len() < start + 2 {
            return;
        }
        self.causes[start..].sort_unstable();
        let mut kept = start;
        for index in start..self.causes.len() {
            let cause = self.causes[index];
            // What is after it is newer, so further along, and not overwritten yet.
            let later = &self.causes[index + 1..];
            if !later.iter().any(|&later| self.counts(later as usize, cause as usize)) {
                self.causes[kept] = cause;
                kept += 1;
            }
        }
        self.causes.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CellId, PaperRelation};

    const X: CellId = CellId(0);
    const Y: CellId = CellId(1);

    fn order_of(actions: &[(u32, Footprint)]) -> HappensBefore<PaperRelation> {
        let mut order = HappensBefore::new(PaperRelation);
        for (process, footprint) in actions {
            order.push(ProcessId(*process), footprint.clone());
        }
        order
    }

    #[test]
    fn a_write_is_after_the_reads_and_they_after_the_write_before() {
        use Footprint::{Read, Write};
        // w0 → r1, r2 → w3; the write of y is concurrent with all.
        let order =
            order_of(&[(0, Write(X)), (1, Read(X)), (4, Write(Y)), (2, Read(X)), (3, Write(X))]);
        assert_eq!(order.direct_predecessors(1), [0]);
        assert_eq!(order.direct_predecessors(2), [] as [u32; 0]);
        assert_eq!(order.direct_predecessors(3), [0]);
        assert_eq!(order.direct_predecessors(4), [1, 3]);
        assert!(order.before(0, 4) && !order.before(2, 4) && !order.before(4, 0));
        assert!(!order.before(1, 3) && !order.before(1, 1));
    }

    #[test]
    fn a_predecessor_found_later_may_hide_one_found_earlier() {
        use Footprint::{Read, Write};
        // Process 0 is searched first, and its read of x is before process 2's write of x.
        let order = order_of(&[(0, Read(X)), (2, Write(X)), (1, Write(X))]);
        assert_eq!(order.direct_predecessors(2), [1]);
    }

    #[test]
    fn pop_is_the_inverse_of_push() {
        use Footprint::{Read, Write};
        let mut order = order_of(&[(0, Write(X)), (1, Read(X))]);
        let before = format!("{order:?}");
        order.push(ProcessId(1), Write(X));
        order.push(ProcessId(0), Write(X));
        order.pop();
        order.pop();
        assert_eq!(format!("{order:?}"), before);
    }
}
