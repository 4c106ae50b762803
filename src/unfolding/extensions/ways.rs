//! Extensions by operations that have some ways to go on: waits, tests, choices, and operations
//! that are always possible.
//!
//! - each way that is possible in C: after what it needs.
//! - a test that fails: `[pre]` alone, if no way is possible there.

use smallvec::SmallVec;

use super::{Events, Origin, Shape};
use crate::model::{Act, Choice, Mode, Need, Needs, Op, Part, ProcessId, Response, Status, System};
use crate::unfolding::event::{EventId, EventKind, Watch};
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    /// The extensions of C by the ways of an operation that are possible; if `required` is an
    /// event, only extensions that need it.
    pub(super) fn extend_ways(
        &mut self,
        c: &Configuration,
        from: Origin,
        op: &Op,
        required: EventId,
    ) -> Events {
        let mut found = Events::new();
        let mut needs = Needs::new();
        for index in 0..c.state.ways(op, from.process) {
            needs.clear();
            let way = c.state.way(&self.locals, (op, from.process), index, &mut needs);
            let Some(response) = way else { continue };
            let shape = Shape { choice: Choice(index as i32), ..Shape::plain(response) };
            if let &[Need::All(lane, key)] = &needs[..]
                && lane.part() != Part::Process
            {
                // A gathering may have many events.
                let gathered = c.gathered(&self.structure.lanes, lane, key);
                if !required.is_some() || gathered.iter().rev().any(|&event| event == required) {
                    found.push(self.add(c, from, shape, gathered));
                }
                continue;
            }
            let causes = self.needed(c, &needs);
            if !required.is_some() || causes.contains(&required) {
                found.push(self.add(c, from, shape, &causes));
            }
        }
        found
    }

    /// Does a way of this operation that is possible need e, which has just joined C?
    pub(super) fn is_needed(
        &self,
        c: &Configuration,
        (op, process): (&Op, ProcessId),
        e: EventId,
    ) -> bool {
        let (lanes, event) = (&self.structure.lanes, self.structure.event(e));
        let mut needs = Needs::new();
        let is_it = |&need: &Need| match need {
            Need::Event(at) => c.events()[at as usize] == e,
            Need::At(lane, place) if lane.part().is_ordered() => {
                event.chain == lanes.chain(lane)
                    && event.kind == EventKind::Change
                    && event.link.depth == place + 1
            }
            Need::All(lane, _) if lane.part() == Part::Process => event.process.0 == lane.object(),
            Need::At(lane, key) | Need::All(lane, key) => {
                c.gathered(lanes, lane, key).last() == Some(&e)
            }
        };
        (0..c.state.ways(op, process)).any(|index| {
            needs.clear();
            let way = c.state.way(&self.locals, (op, process), index, &mut needs);
            way.is_some() && needs.iter().any(is_it)
        })
    }

    /// Are all needed events of C among these events of C and their causes?
    pub(super) fn has_needed(&self, c: &Configuration, needs: &Needs, known: &[EventId]) -> bool {
        let is_below = |e: EventId, f: EventId| {
            f.is_some() && self.structure.is_at_or_before_in_configuration(e, f)
        };
        self.needed(c, needs).iter().all(|&e| known.iter().any(|&f| is_below(e, f)))
    }

    /// The events of C that are needed.
    fn needed(&self, c: &Configuration, needs: &Needs) -> Events {
        let lanes = &self.structure.lanes;
        let mut causes = Events::new();
        for &need in needs {
            match need {
                Need::Event(at) => causes.push(c.events()[at as usize]),
                Need::At(lane, place) if lane.part().is_ordered() => {
                    causes.push(c.at(lanes.chain(lane), place));
                }
                Need::All(lane, _) if lane.part() == Part::Process => {
                    causes.push(c.last_of(lanes, ProcessId(lane.object())));
                }
                Need::At(lane, key) | Need::All(lane, key) => {
                    causes.extend_from_slice(c.gathered(lanes, lane, key));
                }
            }
        }
        causes
    }

    /// The failure of a test, if it is one and no way is possible after `[pre]` alone.
    pub(super) fn extend_failed_test(
        &mut self,
        c: &Configuration,
        from: Origin,
        op: &Op,
    ) -> Option<EventId> {
        if !op.is_test() {
            return None;
        }
        let mut needs = Needs::new();
        for index in 0..c.state.ways(op, from.process) {
            needs.clear();
            let way = c.state.way(&self.locals, (op, from.process), index, &mut needs);
            if way.is_some() && self.has_needed(c, &needs, &[from.after_event]) {
                return None;
            }
        }
        let watch = |act: &Act| match act.mode {
            Mode::NotYet(request) => Watch { lane: self.structure.lanes.chain(act.lane), request },
            other => unreachable!("a failed test does {other:?}"),
        };
        let failure = c.state.not_yet(op, from.process);
        let watches: SmallVec<[Watch; 2]> = failure.acts.iter().map(watch).collect();
        let (choice, kind) = (Choice::NOTHING, EventKind::FailedTest);
        let plain = Shape::plain(Response::Incomplete);
        Some(self.add(c, from, Shape { choice, kind, watches: &watches, ..plain }, &[]))
    }

    /// The extensions by a process that waits or tests, when e joins C, which may have made some of
    /// its ways possible.
    pub(super) fn extend_ways_by(&mut self, c: &mut Configuration, process: ProcessId, e: EventId) {
        let from = self.origin(c, process);
        let status = self.locals.shared_status(from.before);
        let Status::At(op) = &*status else { unreachable!("a process at an operation") };
        let found = self.extend_ways(c, from, op, e);
        if found.is_empty() {
            return;
        }
        if c.enabled_of(process).is_empty() {
            return c.set_enabled(process, &found);
        }
        // A test of the network may find nothing, whatever is complete.
        let stays = |&&event: &&EventId| self.structure.event(event).kind != EventKind::FailedTest;
        let mut enabled: Events = c.enabled_of(process).iter().filter(stays).copied().collect();
        enabled.extend(found);
        c.set_enabled(process, &enabled);
    }
}
