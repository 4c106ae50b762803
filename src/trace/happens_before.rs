//! The happens-before order of an execution that is extended and shortened at its end.
//!
//! An action happens before a later one if they depend on one another, or by transitivity. Each
//! action of the execution has a vector clock: the number of actions of each process that are at or
//! before it. Since the actions of one process are totally ordered, these numbers determine the
//! actions. So:
//!
//! - `i` is before `j` iff `clock(j)` counts `i`: one comparison;
//! - the causes of a new action follow from its effect ([`Effect`]): actions at the end of a lane,
//!   at a place of a lane, or certain events of the execution. So each lane stores the positions of
//!   the actions on it.
//!
//! Invariants, restored by [`HappensBefore::push`] and [`HappensBefore::pop`]: `clocks` and
//! `causes` hold the concatenated entries of all actions, in the order of the execution, so that an
//! action is removed by truncation. A clock has an entry for each process that had acted by then;
//! further entries count as 0. No list is ever freed, so a search allocates only while it goes
//! deeper than before.

use std::slice;

use super::initials::Signature;
use crate::model::{Effect, Lane, Mode, Need, Part, ProcessId};

/// The data of one action.
#[derive(Debug)]
struct Entry {
    process: ProcessId,
    /// Its index among the actions of its process, from 0.
    nth: u32,
    /// The start of its clock in the list of clocks.
    clock: u32,
    /// The start of its direct predecessors in the list of causes.
    causes: u32,
}

/// The happens-before order of an execution. Actions are identified by their positions.
#[derive(Debug, Default)]
pub struct HappensBefore {
    clocks: Clocks,
    /// The effect of each action.
    effects: Vec<Effect>,
    signatures: Vec<Signature>,
    /// Positions of the actions of each process, oldest first.
    by_process: Vec<Vec<u32>>,
    lanes: Lanes,
}

/// The vector clocks of the actions, and their direct predecessors.
#[derive(Debug, Default)]
struct Clocks {
    entries: Vec<Entry>,
    clocks: Vec<u32>,
    causes: Vec<u32>,
}

/// The actions on each lane: by the kind of lane and the number of the object.
#[derive(Debug, Default)]
struct Lanes([Vec<Line>; Lane::PARTS]);

/// The actions on one lane: positions, oldest first.
#[derive(Debug, Default)]
struct Line {
    changes: Vec<u32>,
    /// Looks and marks.
    looks: Vec<u32>,
    /// Failed tests, each with the request that it tested.
    tests: Vec<(u32, u32)>,
    /// Additions, by their keys.
    added: Vec<Vec<u32>>,
}

impl HappensBefore {
    /// The number of actions.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.clocks.entries.len()
    }

    /// The process of the action at `position`.
    #[inline]
    pub(crate) fn process(&self, position: usize) -> ProcessId {
        self.clocks.entries[position].process
    }

    /// The effect of the action at `position`.
    #[inline]
    pub(crate) fn effect(&self, position: usize) -> &Effect {
        &self.effects[position]
    }

    /// The signature of the action at `position`.
    #[inline]
    pub(crate) fn signature(&self, position: usize) -> Signature {
        self.signatures[position]
    }

    /// The positions of the actions of `process`, oldest first.
    #[inline]
    pub(crate) fn of_process(&self, process: ProcessId) -> &[u32] {
        self.by_process.get(process.index()).map_or(&[], Vec::as_slice)
    }

    /// The positions of the changes of a lane, oldest first.
    #[inline]
    pub(crate) fn changes(&self, lane: Lane) -> &[u32] {
        self.lanes.get(lane).map_or(&[], |line| &line.changes)
    }

    /// The position of the last action of each process that has acted.
    pub(crate) fn last_of_each(&self) -> impl Iterator<Item = usize> {
        self.by_process.iter().filter_map(|of_one| of_one.last().map(|&last| last as usize))
    }

    /// The direct predecessors of the action at `position`, oldest first: the actions that happen
    /// before it with no other action in between.
    #[inline]
    pub fn direct_predecessors(&self, position: usize) -> &[u32] {
        let Clocks { entries, causes, .. } = &self.clocks;
        let end = entries.get(position + 1).map_or(causes.len(), |e| e.causes as usize);
        &causes[entries[position].causes as usize..end]
    }

    /// For each process, the number of its actions that are at or before the action at `position`.
    /// Processes beyond the end of the slice have none.
    #[inline]
    pub(crate) fn clock(&self, position: usize) -> &[u32] {
        self.clocks.of(position)
    }

    /// Does the action at `i` happen before the one at `j`? An action is not before itself.
    #[inline]
    pub fn before(&self, i: usize, j: usize) -> bool {
        i < j && self.clocks.counts(j, i)
    }

    /// The positions after `i` of the actions that do not happen after it, oldest first.
    pub(crate) fn not_after(&self, i: usize) -> impl Iterator<Item = usize> {
        let Entry { process, nth, .. } = self.clocks.entries[i];
        (i + 1..self.len())
            .filter(move |&j| self.clock(j).get(process.index()).is_none_or(|&count| count <= nth))
    }

    /// Adds an action of `process` with this effect, which is that of
    /// [`State::effect`](crate::model::State::effect) after the step.
    pub fn push(&mut self, process: ProcessId, effect: Effect) {
        if self.by_process.len() <= process.index() {
            self.by_process.resize_with(process.index() + 1, Vec::new);
        }
        let position = self.len() as u32;
        let own = &self.by_process[process.index()];
        let (nth, previous) = (own.len() as u32, own.last().copied());
        self.clocks.begin(
            Entry { process, nth, clock: 0, causes: 0 },
            previous,
            self.by_process.len(),
        );
        if previous.is_none() {
            self.add(self.changes(process.lane()).last().copied());
        }
        self.add_causes(&effect);
        self.clocks.end();
        self.by_process[process.index()].push(position);
        for act in effect.acts.iter() {
            let line = self.lanes.get_mut(act.lane);
            match act.mode {
                Mode::Change | Mode::Complete(_) => line.changes.push(position),
                Mode::Look | Mode::Mark => line.looks.push(position),
                Mode::NotYet(request) => line.tests.push((position, request)),
                Mode::Add(key) => line.under(key).push(position),
            }
        }
        self.signatures.push(Signature::of(process, &effect));
        self.effects.push(effect);
    }

    /// Removes the last action, and returns its effect.
    ///
    /// # Panics
    /// If the execution is empty.
    pub(crate) fn pop(&mut self) -> Effect {
        let process = self.clocks.pop();
        self.by_process[process.index()].pop();
        self.signatures.pop();
        let effect = self.effects.pop().expect("one of each action");
        for act in effect.acts.iter() {
            let line = self.lanes.get_mut(act.lane);
            match act.mode {
                Mode::Change | Mode::Complete(_) => drop(line.changes.pop()),
                Mode::Look | Mode::Mark => drop(line.looks.pop()),
                Mode::NotYet(_) => drop(line.tests.pop()),
                Mode::Add(key) => drop(line.under(key).pop()),
            }
        }
        effect
    }

    /// Adds the actions on which an action with this effect depends to the causes of the newest
    /// action.
    #[inline]
    fn add_causes(&mut self, effect: &Effect) {
        let HappensBefore { clocks, lanes, by_process, .. } = self;
        for act in effect.acts.iter() {
            let Some(line) = lanes.get(act.lane) else { continue };
            let last = line.changes.last().copied();
            match act.mode {
                Mode::Add(_) | Mode::NotYet(_) => {}
                Mode::Look | Mode::Mark => last.into_iter().for_each(|last| clocks.add(last)),
                Mode::Change | Mode::Complete(_) => {
                    last.into_iter().for_each(|last| clocks.add(last));
                    let since = line.looks.iter().rev();
                    let since = since.take_while(|&&look| last.is_none_or(|last| look > last));
                    since.for_each(|&look| clocks.add(look));
                    if let Mode::Complete(request) = act.mode {
                        let tests = line.tests.iter().filter(|&&(_, tested)| tested == request);
                        tests.for_each(|&(test, _)| clocks.add(test));
                    }
                }
            }
        }
        for need in effect.needs.iter() {
            needed(lanes, by_process, need).iter().for_each(|&at| clocks.add(at));
        }
    }

    /// The position of the last of the actions that one of these needs asks for; `None` if there is
    /// none.
    pub fn last_needed(&self, needs: &[Need]) -> Option<usize> {
        let HappensBefore { lanes, by_process, .. } = self;
        let last = |need| needed(lanes, by_process, need).last();
        needs.iter().filter_map(last).max().map(|&last| last as usize)
    }

    /// Adds a cause to the newest action, if there is one.
    fn add(&mut self, cause: Option<u32>) {
        cause.into_iter().for_each(|cause| self.clocks.add(cause));
    }
}

/// The positions of the actions that are needed, oldest first.
#[inline]
fn needed<'n>(lanes: &'n Lanes, by_process: &'n [Vec<u32>], need: &'n Need) -> &'n [u32] {
    match *need {
        Need::Event(ref position) => slice::from_ref(position),
        Need::At(lane, place) => {
            let line = lanes.get(lane).expect("a lane with the change that is needed");
            slice::from_ref(&line.changes[place as usize])
        }
        Need::All(lane, _) if lane.part() == Part::Process => {
            let own = by_process.get(lane.object() as usize);
            own.and_then(|own| own.last()).map_or(&[], slice::from_ref)
        }
        Need::All(lane, key) => {
            let added = lanes.get(lane).and_then(|line| line.added.get(key as usize));
            added.map_or(&[], Vec::as_slice)
        }
    }
}

impl Clocks {
    /// The clock of the action at `position`.
    #[inline]
    fn of(&self, position: usize) -> &[u32] {
        let end = self.entries.get(position + 1).map_or(self.clocks.len(), |e| e.clock as usize);
        &self.clocks[self.entries[position].clock as usize..end]
    }

    /// Does the clock of `j` count `i`: i = j or i < j?
    #[inline]
    fn counts(&self, j: usize, i: usize) -> bool {
        let Entry { process, nth, .. } = self.entries[i];
        self.of(j).get(process.index()).is_some_and(|&count| count > nth)
    }

    /// Begins an action that follows the action `previous` of its process, if there is one. Its
    /// clock gets `width` entries.
    fn begin(&mut self, entry: Entry, previous: Option<u32>, width: usize) {
        let (clock, causes) = (self.clocks.len(), self.causes.len());
        self.entries.push(Entry { clock: clock as u32, causes: causes as u32, ..entry });
        if let Some(previous) = previous {
            let from = self.entries[previous as usize].clock as usize;
            self.clocks.extend_from_within(from..from + self.of(previous as usize).len());
            self.causes.push(previous);
        }
        self.clocks.resize(clock + width, 0);
    }

    /// Adds a cause to the newest action, unless the clock of the newest action counts it already.
    /// The clock of the cause is joined to that of the newest action.
    #[inline]
    fn add(&mut self, cause: u32) {
        if self.counts(self.entries.len() - 1, cause as usize) {
            return;
        }
        let from = self.entries[cause as usize].clock as usize;
        let to = self.entries.last().expect("an action being added").clock as usize;
        let width = self.of(cause as usize).len();
        let (earlier, joined) = self.clocks.split_at_mut(to);
        for (joined, &count) in joined.iter_mut().zip(&earlier[from..from + width]) {
            *joined = count.max(*joined);
        }
        self.causes.push(cause);
    }

    /// Completes the newest action, after all its causes were added: its clock counts the action
    /// itself.
    fn end(&mut self) {
        self.keep_direct();
        let Entry { process, nth, clock, .. } = self.entries[self.entries.len() - 1];
        self.clocks[clock as usize + process.index()] = nth + 1;
    }

    /// Reduces the causes of the newest action to its direct predecessors, and sorts them.
    fn keep_direct(&mut self) {
        let start = self.entries[self.entries.len() - 1].causes as usize;
        if self.causes.len() < start + 2 {
            return;
        }
        self.causes[start..].sort_unstable();
        let mut kept = start;
        for index in start..self.causes.len() {
            let cause = self.causes[index];
            // Causes that happen after this one are newer, so they come later in the list and are
            // not overwritten yet.
            let later = &self.causes[index + 1..];
            if !later.iter().any(|&later| self.counts(later as usize, cause as usize)) {
                self.causes[kept] = cause;
                kept += 1;
            }
        }
        self.causes.truncate(kept);
    }

    /// Removes the last action, and returns its process.
    fn pop(&mut self) -> ProcessId {
        let last = self.entries.pop().expect("an action to take back");
        self.clocks.truncate(last.clock as usize);
        self.causes.truncate(last.causes as usize);
        last.process
    }
}

impl Lanes {
    #[inline]
    fn get(&self, lane: Lane) -> Option<&Line> {
        self.0[lane.part() as usize].get(lane.object() as usize)
    }

    #[inline]
    fn get_mut(&mut self, lane: Lane) -> &mut Line {
        let lines = &mut self.0[lane.part() as usize];
        let index = lane.object() as usize;
        if lines.len() <= index {
            lines.resize_with(index + 1, Line::default);
        }
        &mut lines[index]
    }
}

impl Line {
    #[inline]
    fn under(&mut self, key: u32) -> &mut Vec<u32> {
        let index = key as usize;
        if self.added.len() <= index {
            self.added.resize_with(index + 1, Vec::new);
        }
        &mut self.added[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CellId;

    const X: CellId = CellId(0);
    const Y: CellId = CellId(1);

    fn read(cell: CellId) -> Effect {
        Effect::act(cell.lane(), Mode::Look)
    }

    fn write(cell: CellId) -> Effect {
        Effect::act(cell.lane(), Mode::Change)
    }

    fn order_of(actions: &[(u32, Effect)]) -> HappensBefore {
        let mut order = HappensBefore::default();
        for (process, effect) in actions {
            order.push(ProcessId(*process), effect.clone());
        }
        order
    }

    #[test]
    fn a_write_is_after_the_reads_and_they_after_the_write_before() {
        // w0 → r1, r2 → w3; the write of y is concurrent with all.
        let order =
            order_of(&[(0, write(X)), (1, read(X)), (4, write(Y)), (2, read(X)), (3, write(X))]);
        assert_eq!(order.direct_predecessors(1), [0]);
        assert_eq!(order.direct_predecessors(2), [] as [u32; 0]);
        assert_eq!(order.direct_predecessors(3), [0]);
        assert_eq!(order.direct_predecessors(4), [1, 3]);
        assert!(order.before(0, 4) && !order.before(2, 4) && !order.before(4, 0));
        assert!(!order.before(1, 3) && !order.before(1, 1));
    }

    #[test]
    fn a_predecessor_found_later_may_hide_one_found_earlier() {
        // Needs are looked up in order, and the read of x is before the write.
        let both = Effect::needing(&[Need::Event(0), Need::Event(1)]);
        let order = order_of(&[(0, read(X)), (2, write(X)), (1, both)]);
        assert_eq!(order.direct_predecessors(2), [1]);
    }

    #[test]
    fn pop_is_the_inverse_of_push() {
        let mut order = order_of(&[(0, write(X)), (1, read(X))]);
        let before = format!("{order:?}");
        order.push(ProcessId(1), write(X));
        order.push(ProcessId(0), write(X));
        order.pop();
        order.pop();
        assert_eq!(format!("{order:?}"), before);
    }
}
