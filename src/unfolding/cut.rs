//! Cuts: a configuration as the last event of each lane.
//!
//! The events of a lane in a configuration form a path in the lane's tree, so the last one stands
//! for all of them. [`Cuts`] keeps the cut of every local configuration `[e]`, in one flat table
//! with a row for each event. Causality is then one ancestor query:
//!
//! ```text
//! e ≤ f   iff   the ancestor of  cut(f)[process of e]  at the depth of e  is e
//! ```
//!
//! **Many lanes.** With thousands of processes most local configurations have events in few lanes,
//! and a table would be nearly empty. Above [`MAX_ROW`] lanes each cut is a list of the lanes in
//! which it has events.

use super::event::{Event, EventId, EventKind};
use super::lanes::{Lane, Lanes};
use super::structure::EventStructure;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut<'c> {
    /// For each lane its last event.
    Row(&'c [EventId]),
    /// The lanes that have events, ascending, each with its last one.
    List(&'c [(Lane, EventId)]),
}

impl<'c> Cut<'c> {
    /// The last event of a lane, [`EventId::NONE`] if it has none. O(1) in a row; in a list O(log
    /// n).
    #[inline]
    pub(crate) fn last(self, lane: Lane) -> EventId {
        match self {
            Cut::Row(row) => row[lane.index()],
            Cut::List(list) => last_in(list, lane),
        }
    }

    /// The lanes from `first` on that have events, each with its last one.
    pub(crate) fn lasts(self, first: Lane) -> impl Iterator<Item = (Lane, EventId)> + 'c {
        let (row, list) = match self {
            Cut::Row(row) => (&row[first.index()..], &[][..]),
            Cut::List(list) => (&[][..], &list[list.partition_point(|&(lane, _)| lane < first)..]),
        };
        let lanes = (first.0..).map(Lane);
        let of_row = lanes.zip(row).map(|(lane, &last)| (lane, last));
        of_row.filter(|(_, last)| last.is_some()).chain(list.iter().copied())
    }
}

#[cold]
#[inline(never)]
fn last_in(list: &[(Lane, EventId)], lane: Lane) -> EventId {
    match list.binary_search_by_key(&lane, |&(lane, _)| lane) {
        Ok(at) => list[at].1,
        Err(_) => EventId::NONE,
    }
}

/// Puts `last` into its place in a list.
fn set_in(list: &mut Vec<(Lane, EventId)>, lane: Lane, last: EventId) {
    match list.binary_search_by_key(&lane, |&(lane, _)| lane) {
        Ok(at) if last.is_some() => list[at].1 = last,
        Ok(at) => drop(list.remove(at)),
        Err(at) if last.is_some() => list.insert(at, (lane, last)),
        Err(_) => {}
    }
}

/// A cut that can be changed.
#[derive(Default)]
pub(super) struct CutBuffer {
    row: Vec<EventId>,
    list: Vec<(Lane, EventId)>,
}

impl CutBuffer {
    /// Makes it a copy of this cut.
    pub(super) fn copy(&mut self, cut: Cut<'_>) {
        self.row.clear();
        self.list.clear();
        match cut {
            Cut::Row(row) => self.row.extend_from_slice(row),
            Cut::List(list) => self.list.extend_from_slice(list),
        }
    }

    /// Makes `last` the last event of a lane.
    pub(super) fn set(&mut self, lane: Lane, last: EventId) {
        match self.row.get_mut(lane.index()) {
            Some(place) => *place = last,
            None => set_in(&mut self.list, lane, last),
        }
    }

    /// The current cut.
    pub(super) fn cut(&self) -> Cut<'_> {
        match self.row.is_empty() {
            true => Cut::List(&self.list),
            false => Cut::Row(&self.row),
        }
    }
}

/// With more lanes than `MAX_ROW`, cuts are lists.
const MAX_ROW: usize = 256;

/// The cuts of all local configurations.
pub(super) struct Cuts {
    rows: Vec<EventId>,
    /// Number of lanes that fit into a row.
    stride: usize,
    /// Number of lanes in use.
    lanes: usize,
    /// The lists that replace the rows once there are many lanes.
    lists: Option<Vec<Vec<(Lane, EventId)>>>,
    /// The last large list of causes that was joined, and the result.
    crowd: (Vec<EventId>, CutBuffer),
    /// Scratch space for the lists of causes.
    joined: Vec<(Lane, u32, EventId)>,
}

/// From `CROWD` causes on, the result of joining them is remembered. All processes that wait at a
/// barrier have the same causes.
const CROWD: usize = 16;

impl Cuts {
    pub(super) fn new(lanes: usize) -> Self {
        Cuts {
            rows: Vec::new(),
            stride: lanes.max(1),
            lanes,
            lists: (lanes > MAX_ROW).then(Vec::new),
            crowd: Default::default(),
            joined: Vec::new(),
        }
    }

    /// Adds lanes for newly spawned processes. When rows outgrow their length, the length doubles
    /// and all rows are copied.
    pub(super) fn reserve_lanes(&mut self, lanes: usize) {
        self.lanes = self.lanes.max(lanes);
        if lanes > self.stride && !self.begin_lists() {
            self.lay_out((2 * self.stride).max(lanes), self.stride, self.stride);
        }
    }

    /// Adds `more` lanes for chains, of which there were `chains`. The lanes of processes move up.
    pub(super) fn widen(&mut self, chains: usize, more: usize) {
        self.lanes += more;
        if self.begin_lists() {
            let lists = self.lists.iter_mut().flatten().flatten();
            let (chains, more) = (chains as u32, more as u32);
            lists.for_each(|(lane, _)| lane.0 += if lane.0 < chains { 0 } else { more });
            self.forget();
        } else {
            self.lay_out(self.stride + more, chains, chains + more);
        }
    }

    /// Turns the rows into lists if there are many lanes now. Returns whether cuts are lists.
    fn begin_lists(&mut self) -> bool {
        if self.lists.is_none() && self.lanes > MAX_ROW {
            let rows = std::mem::take(&mut self.rows);
            let list = |row: &[EventId]| Cut::Row(row).lasts(Lane(0)).collect();
            self.lists = Some(rows.chunks(self.stride).map(list).collect());
            self.forget();
        }
        self.lists.is_some()
    }

    /// Gives rows another length, and moves what was from `from` on to `to`.
    fn lay_out(&mut self, stride: usize, from: usize, to: usize) {
        let moved = self.stride - from;
        let mut rows = vec![EventId::NONE; self.rows.len() / self.stride * stride];
        for (old, new) in self.rows.chunks(self.stride).zip(rows.chunks_mut(stride)) {
            new[..from].copy_from_slice(&old[..from]);
            new[to..to + moved].copy_from_slice(&old[from..]);
        }
        (self.rows, self.stride) = (rows, stride);
        self.forget();
    }

    /// Forgets the last large list of causes, because events have left U or lanes have moved.
    pub(super) fn forget(&mut self) {
        self.crowd = Default::default();
    }

    /// The cut of `[event]`.
    #[inline]
    pub(super) fn cut(&self, event: EventId) -> Cut<'_> {
        match &self.lists {
            None => Cut::Row(self.row(event)),
            Some(lists) => Cut::List(&lists[event.index()]),
        }
    }

    /// The last event of a lane in `[event]`.
    #[inline]
    fn last(&self, event: EventId, lane: Lane) -> EventId {
        match &self.lists {
            None => self.rows[event.index() * self.stride + lane.index()],
            Some(lists) => last_in(&lists[event.index()], lane),
        }
    }

    #[inline]
    fn row(&self, event: EventId) -> &[EventId] {
        let start = event.index() * self.stride;
        &self.rows[start..start + self.lanes]
    }

    /// Fills in the cut of an event whose causes are pairwise compatible: per lane the deepest
    /// event of their cuts, and the event itself in its own lanes.
    pub(super) fn join(&mut self, events: &[Event], lanes: &Lanes, id: EventId) {
        if self.lists.is_some() {
            return self.join_lists(events, lanes, id);
        }
        let start = id.index() * self.stride;
        if self.rows.len() < start + self.stride {
            make_room(&mut self.rows, self.stride);
            self.rows.resize(start + self.stride, EventId::NONE);
        }
        let event = &events[id.index()];
        match event.causes.split_first() {
            Some(_) if event.causes.len() >= CROWD => self.join_crowd(events, lanes, id),
            None => self.rows[start..start + self.stride].fill(EventId::NONE),
            Some((first, others)) => {
                let first = first.index() * self.stride;
                self.rows.copy_within(first..first + self.stride, start);
                for other in others {
                    self.join_row(events, lanes.chains(), start, other.index() * self.stride);
                }
            }
        }
        self.rows[start + lanes.process(event.process).index()] = id;
        if event.kind == EventKind::Change {
            self.rows[start + event.chain.index()] = id;
        }
    }

    /// Joins the rows of many causes. For the causes of the last large list the result is copied.
    fn join_crowd(&mut self, events: &[Event], lanes: &Lanes, id: EventId) {
        let row = id.index() * self.stride..(id.index() + 1) * self.stride;
        let causes = &events[id.index()].causes;
        let (known, joined) = &self.crowd;
        if known[..] == causes[..] {
            self.rows[row].copy_from_slice(&joined.row);
            return;
        }
        self.rows[row.clone()].fill(EventId::NONE);
        for &cause in causes {
            let event = &events[cause.index()];
            match event.causes.is_empty() && event.kind != EventKind::Change {
                // Its local configuration is the event alone.
                true => self.rows[row.start + lanes.process(event.process).index()] = cause,
                false => {
                    self.join_row(events, lanes.chains(), row.start, cause.index() * self.stride);
                }
            }
        }
        self.crowd.0 = causes.to_vec();
        self.crowd.1.copy(Cut::Row(&self.rows[row]));
    }

    fn join_row(&mut self, events: &[Event], chains: usize, into: usize, from: usize) {
        for lane in 0..self.lanes {
            let (a, b) = (self.rows[into + lane], self.rows[from + lane]);
            if a == b || b == EventId::NONE {
                continue;
            }
            let depth = |event| depth(events, chains, Lane(lane as u32), event);
            if a == EventId::NONE || depth(b) > depth(a) {
                self.rows[into + lane] = b;
            }
        }
    }

    /// Fills in the cut of an event as a list: see [`join`](Cuts::join). O(n log n) for n entries
    /// in the lists of the causes.
    fn join_lists(&mut self, events: &[Event], lanes: &Lanes, id: EventId) {
        let lists = self.lists.as_mut().expect("lists to join");
        if lists.len() <= id.index() {
            lists.resize(id.index() + 1, Vec::new());
        }
        let event = &events[id.index()];
        let mut list = std::mem::take(&mut lists[id.index()]);
        list.clear();
        let (known, joined) = &mut self.crowd;
        match event.causes[..] {
            [] => {}
            [only] => list.extend_from_slice(&lists[only.index()]),
            ref causes if known[..] == *causes => list.extend_from_slice(&joined.list),
            ref causes => {
                self.joined.clear();
                for &(lane, last) in causes.iter().flat_map(|cause| &lists[cause.index()]) {
                    self.joined.push((lane, depth(events, lanes.chains(), lane, last), last));
                }
                self.joined.sort_unstable();
                for of_lane in self.joined.chunk_by(|one, other| one.0 == other.0) {
                    let &(lane, _, deepest) = of_lane.last().expect("an event of the lane");
                    list.push((lane, deepest));
                }
                if causes.len() >= CROWD {
                    *known = causes.to_vec();
                    joined.copy(Cut::List(&list));
                }
            }
        }
        set_in(&mut list, lanes.process(event.process), id);
        if event.kind == EventKind::Change {
            set_in(&mut list, event.chain, id);
        }
        lists[id.index()] = list;
    }
}

/// Makes room for `more` elements, and for a quarter beyond: doubling would leave up to half of a
/// large list empty.
pub(super) fn make_room<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more + list.len() / 4);
    }
}

/// The number of events that a lane has up to `event`, which is in the lane.
fn depth(events: &[Event], chains: usize, lane: Lane, event: EventId) -> u32 {
    match lane.index() < chains {
        true => events[event.index()].link.depth,
        false => events[event.index()].own.depth,
    }
}

/// Adds `more` lanes for chains to a row that has `chains` of them.
pub(super) fn widen(row: &mut Vec<EventId>, chains: usize, more: usize) {
    row.splice(chains..chains, std::iter::repeat_n(EventId::NONE, more));
}

impl EventStructure {
    /// The cut of `[event]`.
    #[inline]
    pub(crate) fn cut(&self, event: EventId) -> Cut<'_> {
        self.cuts.cut(event)
    }

    /// The last event of a lane in `[event]`; [`EventId::NONE`] if there is none.
    #[inline]
    pub(super) fn last(&self, event: EventId, lane: Lane) -> EventId {
        self.cuts.last(event, lane)
    }

    /// e ≤ f: is e in the local configuration of f? O(log n).
    #[inline]
    pub(crate) fn is_at_or_before(&self, e: EventId, f: EventId) -> bool {
        let lane = self.lanes.process(self.event(e).process);
        let last = self.last(f, lane);
        let depth = self.event(e).own.depth;
        last == e || (self.depth(lane, last) > depth && self.ancestor(lane, last, depth) == e)
    }

    /// e < f. O(log n).
    pub fn is_before(&self, e: EventId, f: EventId) -> bool {
        e != f && self.is_at_or_before(e, f)
    }

    /// Is e ≤ f, for two events of one configuration? O(1): there it is enough to compare depths.
    #[inline]
    pub(super) fn is_at_or_before_in_configuration(&self, e: EventId, f: EventId) -> bool {
        let lane = self.lanes.process(self.event(e).process);
        let last = self.last(f, lane);
        last.is_some() && self.event(last).own.depth >= self.event(e).own.depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: EventId = EventId::NONE;
    const E: EventId = EventId(0);
    const F: EventId = EventId(1);
    const G: EventId = EventId(2);

    fn row(cuts: &Cuts, event: EventId) -> Vec<EventId> {
        (0..cuts.lanes as u32).map(|lane| cuts.last(event, Lane(lane))).collect()
    }

    #[test]
    fn rows_are_laid_out_anew() {
        let mut cuts = Cuts { rows: vec![E, F, NONE, E, F, G], ..Cuts::new(3) };
        cuts.widen(1, 2);
        assert_eq!(row(&cuts, E), [E, NONE, NONE, F, NONE]);
        assert_eq!(row(&cuts, F), [E, NONE, NONE, F, G]);
        cuts.reserve_lanes(6);
        assert_eq!(row(&cuts, F), [E, NONE, NONE, F, G, NONE]);
        let mut row = vec![E, F, G];
        widen(&mut row, 1, 2);
        assert_eq!(row, [E, NONE, NONE, F, G]);
    }

    #[test]
    fn rows_become_lists() {
        let mut cuts = Cuts { rows: vec![E, F, NONE, E, F, G], ..Cuts::new(3) };
        cuts.reserve_lanes(MAX_ROW + 1);
        assert!(matches!(cuts.cut(F), Cut::List([(Lane(0), E), (Lane(1), F), (Lane(2), G)])));
        cuts.widen(1, 2);
        assert_eq!(row(&cuts, E)[..6], [E, NONE, NONE, F, NONE, NONE]);
        assert_eq!(row(&cuts, F)[..6], [E, NONE, NONE, F, G, NONE]);
        let lasts = |first| cuts.cut(F).lasts(Lane(first)).collect::<Vec<_>>();
        assert_eq!(lasts(0), [(Lane(0), E), (Lane(3), F), (Lane(4), G)]);
        assert_eq!(lasts(1), [(Lane(3), F), (Lane(4), G)]);
    }

    #[test]
    fn a_buffer_is_a_cut_that_changes() {
        for cut in [Cut::Row(&[E, NONE, F]), Cut::List(&[(Lane(0), E), (Lane(2), F)])] {
            let mut buffer = CutBuffer::default();
            buffer.copy(cut);
            buffer.set(Lane(0), NONE);
            buffer.set(Lane(1), G);
            assert_eq!([0, 1, 2].map(|lane| buffer.cut().last(Lane(lane))), [NONE, G, F]);
            let lasts: Vec<_> = buffer.cut().lasts(Lane(0)).collect();
            assert_eq!(lasts, [(Lane(1), G), (Lane(2), F)]);
        }
    }
}
