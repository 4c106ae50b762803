//! Cuts: a configuration as the last event of each lane.
//!
//! The events of a lane in a configuration form a path in the lane's tree, so the last one stands for all
//! of them. [`Cuts`] keeps the cut of every local configuration `[e]` in one flat table, a row an event.
//! Causality is then one ancestor query:
//!
//! ```text
//! e ≤ f   iff   the ancestor of  cut(f)[process of e]  at the depth of e  is e
//! ```

use super::event::{Event, EventId, Kind};
use super::lanes::Lanes;
use super::structure::EventStructure;

/// The cuts of all local configurations.
pub(super) struct Cuts {
    rows: Vec<EventId>,
    /// Room for lanes per row.
    stride: usize,
    /// Lanes in use.
    lanes: usize,
    /// The many causes that were joined last, and their rows joined.
    crowd: (Vec<EventId>, Vec<EventId>),
}

/// So many causes are many: joining them is worth being remembered. All who wait at a barrier have the same.
const CROWD: usize = 16;

impl Cuts {
    pub(super) fn new(lanes: usize) -> Self {
        Cuts { rows: Vec::new(), stride: lanes.max(1), lanes, crowd: Default::default() }
    }

    /// More lanes, for processes that were just spawned. Rows are laid out anew when they outgrow their
    /// room, which doubles.
    pub(super) fn reserve_lanes(&mut self, lanes: usize) {
        self.lanes = self.lanes.max(lanes);
        if lanes > self.stride {
            self.lay_out((2 * self.stride).max(lanes), self.stride, self.stride);
        }
    }

    /// More room for chains, which were so many: the lanes of processes move up.
    pub(super) fn widen(&mut self, chains: usize, more: usize) {
        self.lanes += more;
        self.lay_out(self.stride + more, chains, chains + more);
    }

    /// Rows of another length: what was at `from` and after it is at `to` and after it.
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

    /// Events have left U, or rows have another length: what is remembered of a crowd means nothing any more.
    pub(super) fn forget(&mut self) {
        self.crowd = Default::default();
    }

    /// The cut of `[event]`.
    #[inline]
    pub(super) fn row(&self, event: EventId) -> &[EventId] {
        let start = event.index() * self.stride;
        &self.rows[start..start + self.lanes]
    }

    /// Fills in the row of an event whose causes are pairwise compatible: per lane the deepest of theirs,
    /// and the event itself in its own lanes.
    pub(super) fn join(&mut self, events: &[Event], lanes: &Lanes, id: EventId) {
        let start = id.index() * self.stride;
        if self.rows.len() < start + self.stride {
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
        if event.kind == Kind::Change {
            self.rows[start + event.chain.index()] = id;
        }
    }

    /// The rows of many causes, joined; those of the last crowd need not be joined again.
    fn join_crowd(&mut self, events: &[Event], lanes: &Lanes, id: EventId) {
        let start = id.index() * self.stride;
        let causes = &events[id.index()].causes;
        let (known, joined) = &self.crowd;
        if known[..] == causes[..] {
            self.rows[start..start + self.stride].copy_from_slice(joined);
            return;
        }
        self.rows[start..start + self.stride].fill(EventId::NONE);
        for &cause in causes {
            let event = &events[cause.index()];
            match event.causes.is_empty() && event.kind != Kind::Change {
                // All that is in its history is the event itself.
                true => self.rows[start + lanes.process(event.process).index()] = cause,
                false => {
                    self.join_row(events, lanes.chains(), start, cause.index() * self.stride);
                }
            }
        }
        self.crowd = (causes.to_vec(), self.rows[start..start + self.stride].to_vec());
    }

    fn join_row(&mut self, events: &[Event], chains: usize, into: usize, from: usize) {
        for lane in 0..self.lanes {
            let (a, b) = (self.rows[into + lane], self.rows[from + lane]);
            if a == b || b == EventId::NONE {
                continue;
            }
            let deeper = match lane < chains {
                _ if a == EventId::NONE => true,
                true => events[b.index()].link.depth > events[a.index()].link.depth,
                false => events[b.index()].own.depth > events[a.index()].own.depth,
            };
            if deeper {
                self.rows[into + lane] = b;
            }
        }
    }
}

/// Makes room in a row for more chains, which were so many.
pub(super) fn widen(row: &mut Vec<EventId>, chains: usize, more: usize) {
    row.splice(chains..chains, std::iter::repeat_n(EventId::NONE, more));
}

impl EventStructure {
    /// The cut of `[event]`; all roots for [`EventId::NONE`].
    pub fn cut(&self, event: EventId) -> &[EventId] {
        self.cuts.row(event)
    }

    /// e ≤ f: is e in the local configuration of f? O(log n).
    pub fn is_at_or_before(&self, e: EventId, f: EventId) -> bool {
        let lane = self.lanes.process(self.event(e).process);
        let last = self.cut(f)[lane.index()];
        let depth = self.event(e).own.depth;
        last == e || (self.depth(lane, last) > depth && self.ancestor(lane, last, depth) == e)
    }

    /// e < f. O(log n).
    pub fn is_before(&self, e: EventId, f: EventId) -> bool {
        e != f && self.is_at_or_before(e, f)
    }

    /// Is e ≤ f, for two events of one configuration? O(1): there, depth tells.
    #[inline]
    pub(super) fn is_at_or_before_in_configuration(&self, e: EventId, f: EventId) -> bool {
        let lane = self.lanes.process(self.event(e).process);
        let last = self.cut(f)[lane.index()];
        last.is_some() && self.event(last).own.depth >= self.event(e).own.depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_laid_out_anew() {
        let [e, f, g, none] = [EventId(0), EventId(1), EventId(2), EventId::NONE];
        let rows = vec![e, f, none, e, f, g];
        let mut cuts = Cuts { rows, stride: 3, lanes: 3, crowd: Default::default() };
        cuts.widen(1, 2);
        assert_eq!(cuts.row(e), [e, none, none, f, none]);
        assert_eq!(cuts.row(f), [e, none, none, f, g]);
        cuts.reserve_lanes(6);
        assert_eq!(cuts.row(f), [e, none, none, f, g, none]);
        let mut row = vec![e, f, g];
        widen(&mut row, 1, 2);
        assert_eq!(row, [e, none, none, f, g]);
    }
}
