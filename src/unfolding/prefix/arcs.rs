//! Read arcs: an event that consumes a condition exists once, whatever has read the condition.
//!
//! Here the causes of an event are only the events that made what it consumes or reads. So n reads
//! and a write are n + 1 events, and not 2^n copies of the write (`copies`). But whoever reads a
//! condition has to come before whoever consumes it: a set of events that contains the causes of
//! each, and at most one consumer of each condition, is a configuration only if these two relations
//! together have no cycle. This is the unfolding of a contextual net (Baldan, Corradini, Montanari,
//! *Contextual Petri nets, asymmetric event structures, and processes*, Information and Computation
//! 171, 2001).
//!
//! **When a set of conditions is concurrent.** Two by two does not do: three events can each be
//! fine with each other one, and form a cycle. So the local configurations of all conditions that
//! an event needs are looked at together, if their cuts agree ([`Prefix::can_be_arranged`]): O(size
//! of the configuration). The event itself never closes a cycle: what it consumes nobody else of
//! them has consumed, so their reads come before it; nor what it reads.
//!
//! **No cutoffs.** What can happen after \[e\] depends on its state, but there are fewer events
//! than executions: the other orders of reads and writes are configurations that are no local ones.
//! An example that loses a state is two processes, `loop { x := 1; x := 0 }` and one that reads x
//! once: the second write leads to the state at the start, and is a cutoff, although the read may
//! come between. So this is for programs without loops. That a program has one is seen when a
//! process comes to a code where it was before ([`Prefix::returns`]): if none does, each process
//! has as many events at most, one after the other, as it has codes.

use rustc_hash::FxHashMap;
use std::mem;

use super::build::{Prefix, Reads};
use super::{Condition, PrefixEvent};

/// How far a walk has come at an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    Begun,
    Done,
}

impl Prefix {
    /// From now on reads are arcs, and no event is a cutoff: this is the unfolding itself, which
    /// must be finite.
    pub fn with_read_arcs(&mut self) {
        (self.is_whole, self.reads_as) = (true, Reads::Arcs);
    }

    /// Are reads arcs?
    pub fn has_read_arcs(&self) -> bool {
        self.reads_as == Reads::Arcs
    }

    /// Has the process of an event been at the code before to which the event leads? O(steps of
    /// the process).
    pub fn returns(&self, event: PrefixEvent) -> bool {
        let own = self.events[event as usize].made;
        let mut before = std::iter::successors(self.replaced(own), |&one| self.replaced(one));
        before.any(|one| self.code(one) == self.code(own))
    }

    /// These events, which contain the causes of each, in an order in which they can happen: causes
    /// come first, and so do reads of what an event consumes.
    ///
    /// # Errors
    /// Some of the events that cannot happen together, each of which has to come before the next
    /// one and the last one before the first.
    pub fn arrange(&self, events: &[PrefixEvent]) -> Result<Vec<PrefixEvent>, Vec<PrefixEvent>> {
        if self.reads_as == Reads::Copies {
            // Causes have smaller numbers.
            return Ok(events.to_vec());
        }
        let mut walks: FxHashMap<PrefixEvent, Option<Walk>> =
            events.iter().map(|&event| (event, None)).collect();
        let mut order = Vec::with_capacity(events.len());
        // The way to where the walk is; with what has to come before each event and is still open.
        let mut way: Vec<(PrefixEvent, Vec<PrefixEvent>)> = Vec::new();
        for &event in events {
            if walks[&event].is_some() {
                continue;
            }
            walks.insert(event, Some(Walk::Begun));
            way.push((event, self.before(event)));
            while let Some((here, open)) = way.last_mut() {
                let Some(next) = open.pop() else {
                    walks.insert(*here, Some(Walk::Done));
                    order.push(*here);
                    way.pop();
                    continue;
                };
                match walks.get(&next) {
                    Some(None) => {
                        walks.insert(next, Some(Walk::Begun));
                        way.push((next, self.before(next)));
                    }
                    Some(Some(Walk::Begun)) => {
                        let from = way.iter().position(|&(event, _)| event == next);
                        let cycle = &way[from.expect("an event on the way")..];
                        return Err(cycle.iter().rev().map(|&(event, _)| event).collect());
                    }
                    // The start, a read that is not in the set, or what has been arranged.
                    None | Some(Some(Walk::Done)) => {}
                }
            }
        }
        Ok(order)
    }

    /// What has to come before an event if it is there: its causes, and the reads of what it
    /// consumes.
    fn before(&self, event: PrefixEvent) -> Vec<PrefixEvent> {
        let reads = self.consumed(event).flat_map(|one| self.readers(one).iter().copied());
        self.causes(event).chain(reads).filter(|&other| other != 0).collect()
    }

    /// Can the events before all of these conditions happen together, given that the cuts of those
    /// before all but the last one agree with the cut before the last one?
    pub(super) fn can_be_arranged(&mut self, chosen: &[Condition]) -> bool {
        let events: Vec<PrefixEvent> = chosen.iter().map(|&one| self.maker(one)).collect();
        let mut past = Vec::new();
        self.collect_any(&events, &mut past);
        self.has_worked(past.len() as u64);
        let (stamp, stamps) = (self.stamp, mem::take(&mut self.stamps));
        // If each read that is there is a cause of who consumes what it has read, there is no
        // cycle.
        let is_ordered = past.iter().all(|&event| {
            let reads = self.consumed(event).flat_map(|one| self.readers(one));
            let mut there = reads.filter(|&&read| stamps[read as usize] == stamp);
            there.all(|&read| self.is_cause(read, event))
        });
        self.stamps = stamps;
        is_ordered || self.arrange(&past).is_ok()
    }

    /// Is `cause` in \[event)?
    fn is_cause(&self, cause: PrefixEvent, event: PrefixEvent) -> bool {
        let own = (self.events[cause as usize].line, self.events[cause as usize].made);
        self.cuts.contains(&self.conditions, self.events[event as usize].before, own)
    }
}
