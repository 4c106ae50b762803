//! Conflict, immediate conflict, and the compatibility of two configurations.
//!
//! By definition 4 of Pham, Jéron, Quinson (FORTE 2019), e # f if e and f are dependent and neither
//! is in the other's history; and events inherit the conflicts of their causes. So two
//! configurations A and B are *compatible* (A ∪ B is a configuration) iff no x ∈ A ∖ B depends on a
//! y ∈ B ∖ A. By kind of dependence this means:
//!
//! - *lanes*: in each lane the events of A and of B lie on one path; otherwise two of them are
//!   rivals for one place in it;
//! - *observations*: a later write in B has every read of A in its history; a communication whose
//!   test failed in A is completed in B only with the test in its history (likewise a mutex is
//!   passed on); and the same with A and B exchanged.
//!
//! e #i f (immediate) iff e # f while `[e] ∪ [f)` and `[e) ∪ [f]` are configurations. Such an f
//! shares a parent with e in one of its trees, or watches its chain:
//! [`EventStructure::connect_conflicts`] looks nowhere else. #i generates #, and UDPOR needs only
//! #i.

use super::Configuration;
use super::cut::Cut;
use super::event::{Event, EventId, EventKind, Watch};
use super::lanes::Lane;
use super::structure::EventStructure;
use crate::model::{Part, ProcessId};

impl EventStructure {
    /// e # f. O(lanes · log n).
    pub fn in_conflict(&self, e: EventId, f: EventId) -> bool {
        !self.compatible(self.cut(e), self.cut(f))
    }

    /// Is the union of the configurations with these cuts a configuration? O(lanes · log n), and a
    /// walk along the observations that only one of them has.
    pub(super) fn compatible(&self, a: Cut<'_>, b: Cut<'_>) -> bool {
        self.fits_lanes(a, b)
            && !(self.observes && (self.contradicts(a, b) || self.contradicts(b, a)))
    }

    fn fits_lanes(&self, a: Cut<'_>, b: Cut<'_>) -> bool {
        a.lasts(Lane(0)).all(|(lane, last)| self.on_one_path(lane, last, b.last(lane)))
    }

    /// Does `changed` contain a change that excludes an observation which only `observed` has?
    /// Their lanes are compatible.
    fn contradicts(&self, changed: Cut<'_>, observed: Cut<'_>) -> bool {
        observed.lasts(self.lanes.process(ProcessId(0))).any(|(lane, last)| {
            let known = changed.last(lane);
            known != last && self.contradiction(known, last, changed, observed).is_some()
        })
    }

    /// An observation of one process, up to `last` and after `known`, that a change in `changed`
    /// excludes.
    pub(super) fn contradiction(
        &self,
        known: EventId,
        last: EventId,
        changed: Cut<'_>,
        observed: Cut<'_>,
    ) -> Option<EventId> {
        let own_depth = |event: EventId| self.events.get(event.index()).map_or(0, |e| e.own.depth);
        let observed_by = |event: EventId| {
            self.events.get(event.index()).map_or(EventId::NONE, |event| event.observed)
        };
        let known = own_depth(known);
        let mut observation = observed_by(last);
        while own_depth(observation) > known {
            if self.excludes(changed, observed, observation) {
                return Some(observation);
            }
            observation = observed_by(self.event(observation).own.parent);
        }
        None
    }

    /// Does `changed` contain a change that `observation`, in `observed` alone, cannot precede or
    /// follow?
    pub(super) fn excludes(
        &self,
        changed: Cut<'_>,
        observed: Cut<'_>,
        observation: EventId,
    ) -> bool {
        let event = self.event(observation);
        match event.kind {
            EventKind::Read => {
                let written = changed.last(event.chain);
                self.depth(event.chain, written) >= event.link.depth
            }
            EventKind::FailedTest => self.watches[&observation].iter().any(|watch| {
                match self.lanes.of_chain(watch.lane).part() {
                    Part::Sends => self.is_paired(changed, observed, watch, Part::Receives),
                    Part::Receives => self.is_paired(changed, observed, watch, Part::Sends),
                    _ => self.is_passed_on(changed, observed, watch),
                }
            }),
            EventKind::Plain | EventKind::Change => false,
        }
    }

    /// Does `changed` contain the partner of the request, at the end `own`, that `observed` saw
    /// unpaired?
    fn is_paired(&self, changed: Cut<'_>, observed: Cut<'_>, watch: &Watch, own: Part) -> bool {
        let posted = self.depth(watch.lane, changed.last(watch.lane));
        if !self.patterned[watch.lane.index()] {
            return posted > watch.request;
        }
        let own = self.lanes.beside(watch.lane, own);
        let own_posts = self.path(own, self.deeper(own, changed.last(own), observed.last(own)));
        let posts = self.path(
            watch.lane,
            self.deeper(watch.lane, changed.last(watch.lane), observed.last(watch.lane)),
        );
        let partner = self.stable_partner(&own_posts, &posts, watch.request as usize);
        partner.is_some_and(|partner| (partner as u32) < posted)
    }

    /// The partner of `own[wanted]` in the stable matching of the posts at one end with the posts
    /// at the other: each post in turn takes the oldest free one that matches.
    fn stable_partner(&self, own: &[EventId], other: &[EventId], wanted: usize) -> Option<usize> {
        let envelope = |event: EventId| self.envelopes.get(&event).copied().unwrap_or_default();
        let chain = self.lanes.of_chain(self.event(own[wanted]).chain);
        let matches = |a: EventId, b: EventId| match chain.part() == Part::Receives {
            true => envelope(a).accepts(envelope(b)),
            false => envelope(b).accepts(envelope(a)),
        };
        let mut free = vec![true; other.len()];
        let mut partner = None;
        for &post in &own[..=wanted] {
            partner = (0..other.len()).find(|&at| free[at] && matches(post, other[at]));
            if let Some(at) = partner {
                free[at] = false;
            }
        }
        partner
    }

    /// Does `changed` contain the unlocks that make the watched request the owner?
    fn is_passed_on(&self, changed: Cut<'_>, observed: Cut<'_>, watch: &Watch) -> bool {
        let locks = self.lanes.beside(watch.lane, Part::Requests);
        debug_assert!(observed.last(locks).is_some(), "a request under test is in the history");
        let ahead = watch.request;
        let released = self
            .path(watch.lane, changed.last(watch.lane))
            .into_iter()
            .filter(|&unlock| self.event(self.request_ended_by(unlock, locks)).link.depth <= ahead)
            .count();
        released == ahead as usize
    }

    /// The request that an unlock ended: the last one of the process at that mutex.
    fn request_ended_by(&self, unlock: EventId, locks: Lane) -> EventId {
        let mut event = self.event(unlock).own.parent;
        while self.event(event).chain != locks {
            event = self.event(event).own.parent;
        }
        event
    }

    /// The events of a lane up to `last`, oldest first.
    fn path(&self, lane: Lane, last: EventId) -> Vec<EventId> {
        let mut path = Vec::with_capacity(self.depth(lane, last) as usize);
        let mut event = last;
        while event.is_some() {
            path.push(event);
            event = self.node(lane, event).parent;
        }
        path.reverse();
        path
    }

    fn deeper(&self, lane: Lane, a: EventId, b: EventId) -> EventId {
        if self.depth(lane, a) < self.depth(lane, b) { b } else { a }
    }

    /// Finds the immediate conflicts of a new extension of C with the events of U.
    pub(super) fn connect_conflicts(&mut self, id: EventId, c: &Configuration) {
        let mut rivals = std::mem::take(&mut self.rivals);
        self.collect_rivals(id, &mut rivals);
        for &rival in &rivals {
            if self.is_stopped() {
                break;
            }
            if self.is_immediate(id, rival, c) {
                self.add_edge(id, rival);
                self.add_edge(rival, id);
            }
        }
        rivals.clear();
        self.rivals = rivals;
    }

    /// The events of U, each once, that depend on `id` directly if they are not causally related to
    /// it.
    fn collect_rivals(&mut self, id: EventId, rivals: &mut Vec<EventId>) {
        self.stamps.clear();
        let Event { link, chain, kind, is_choice, .. } = *self.event(id);
        if is_choice {
            self.collect_other_outcomes(id, rivals);
        }
        if chain != Lane::NONE {
            self.collect_links(id, chain, link.parent, rivals);
        }
        if kind == EventKind::Change {
            self.collect_watchers(id, chain, rivals);
        }
        if kind == EventKind::FailedTest {
            self.collect_watched(id, rivals);
        }
    }

    /// Other results of the same choice. Two events of one process after the same last event that
    /// have the same choice are never in *immediate* conflict: the union of their histories would
    /// enable both, but a configuration enables one event per action.
    fn collect_other_outcomes(&mut self, id: EventId, rivals: &mut Vec<EventId>) {
        let Event { process, choice, after_event, .. } = *self.event(id);
        let mut rival = match after_event {
            EventId::NONE => self.roots[self.lanes.process(process).index()],
            parent => self.event(parent).first_child,
        };
        while rival.is_some() {
            let event = &self.events[rival.index()];
            if event.process == process && event.choice != choice && self.stamps.insert(rival) {
                rivals.push(rival);
            }
            rival = event.next_sibling;
        }
    }

    /// The changes and reads of other processes in the same place of the chain, but not reads for a
    /// read.
    fn collect_links(
        &mut self,
        id: EventId,
        chain: Lane,
        parent: EventId,
        rivals: &mut Vec<EventId>,
    ) {
        let Event { process, kind, .. } = *self.event(id);
        let mut newest = self.first_link(chain, parent);
        while newest.is_some() {
            let mut rival = match self.event(newest).process == process {
                true => EventId::NONE,
                false => newest,
            };
            while rival.is_some() {
                let event = &self.events[rival.index()];
                if (kind, event.kind) != (EventKind::Read, EventKind::Read)
                    && self.stamps.insert(rival)
                {
                    rivals.push(rival);
                }
                rival = event.next_link;
            }
            newest = self.event(newest).next_group;
        }
    }

    /// The failed tests that the change `id` excludes.
    fn collect_watchers(&mut self, id: EventId, chain: Lane, rivals: &mut Vec<EventId>) {
        for index in 0..self.watchers[chain.index()].len() {
            if self.is_stopped() {
                return;
            }
            let test = self.watchers[chain.index()][index];
            if self.fits_lanes(self.cut(id), self.cut(test))
                && self.excludes(self.cut(id), self.cut(test), test)
                && self.stamps.insert(test)
            {
                rivals.push(test);
            }
        }
    }

    /// The changes that the failed test `id` excludes: the first ones on each path below its
    /// history.
    fn collect_watched(&mut self, id: EventId, rivals: &mut Vec<EventId>) {
        for index in 0..self.watches[&id].len() {
            let lane = self.watches[&id][index].lane;
            let mut pending = vec![self.first_link(lane, self.last(id, lane))];
            while let Some(change) = pending.pop().filter(|_| !self.is_stopped()) {
                if !change.is_some() {
                    continue;
                }
                pending.push(self.event(change).next_link);
                pending.push(self.event(change).next_group);
                if !self.fits_lanes(self.cut(change), self.cut(id)) {
                    continue;
                }
                if !self.excludes(self.cut(change), self.cut(id), id) {
                    pending.push(self.event(change).first_link);
                } else if self.stamps.insert(change) {
                    rivals.push(change);
                }
            }
        }
    }

    /// e #i f, for two events that depend on one another if they are not causally related; e is a
    /// new extension of C.
    fn is_immediate(&mut self, e: EventId, f: EventId, c: &Configuration) -> bool {
        !self.is_at_or_before(f, e)
            && self.histories_fit(e, f, c)
            && !(self.observes && self.histories_contradict(e, f))
    }

    /// Do `[e]` and `[f)` fit in all lanes, and do `[e)` and `[f]`?
    fn histories_fit(&mut self, e: EventId, f: EventId, c: &Configuration) -> bool {
        let (a, b) = (self.cut(e), self.cut(f));
        let (Cut::Row(a), Cut::Row(b)) = (a, b) else {
            return a.lasts(Lane(0)).all(|(lane, x)| {
                let y = b.last(lane);
                !y.is_some() || self.histories_fit_in(lane.index(), (e, x), (f, y), c)
            });
        };
        // Rivals of one event tend to clash in the same lane.
        let likely = self.likely_clash.min(a.len() - 1);
        if !self.histories_fit_in(likely, (e, a[likely]), (f, b[likely]), c) {
            return false;
        }
        for (lane, (&x, &y)) in a.iter().zip(b).enumerate() {
            if !self.histories_fit_in(lane, (e, x), (f, y), c) {
                self.likely_clash = lane;
                return false;
            }
        }
        true
    }

    /// Do the histories fit in one lane? x is the last event of `[e]` in it, and y the last of
    /// `[f]`.
    #[inline(always)]
    fn histories_fit_in(
        &self,
        lane: usize,
        (e, x): (EventId, EventId),
        (f, y): (EventId, EventId),
        c: &Configuration,
    ) -> bool {
        // If a lane ends in e on one side and in f on the other, they are rivals for one place. In
        // all other lanes it does not matter whether e or f belongs to its history: neither has the
        // other in it.
        let lane = Lane(lane as u32);
        match (x == e, y == f) {
            (true, true) => self.node(lane, e).parent == self.node(lane, f).parent,
            // `[e)` is in C, so if y is too, they are on the path that C takes.
            (false, _) if c.contains(y) => true,
            _ => self.on_one_path(lane, x, y),
        }
    }

    /// Does an observation make `[e]` and `[f)` incompatible, or `[e)` and `[f]`?
    fn histories_contradict(&mut self, e: EventId, f: EventId) -> bool {
        let mut history = std::mem::take(&mut self.history);
        let mut contradict = |whole: EventId, strict: EventId| {
            history.copy(self.cut(strict));
            let event = self.event(strict);
            history.set(self.lanes.process(event.process), event.own.parent);
            if event.kind == EventKind::Change {
                history.set(event.chain, event.link.parent);
            }
            let whole = self.cut(whole);
            self.contradicts(whole, history.cut()) || self.contradicts(history.cut(), whole)
        };
        let contradict = contradict(e, f) || contradict(f, e);
        self.history = history;
        contradict
    }
}
