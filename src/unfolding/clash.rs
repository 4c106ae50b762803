//! Is an event in conflict with C? The question that the search for alternatives asks most.
//!
//! It is compatibility of `[u]` and C (see [`super::conflict`]), but C is the current
//! configuration, and membership in it is one look-up. So only those lanes need work in which `[u]`
//! has something new:
//!
//! - the last event of C in such a lane must be before the one of `[u]`;
//! - if the lane is a chain, the changes of `[u]` must have in their history what was observed in C
//!   since C's last change;
//! - if it is a process, its new observations must not miss a change in C.
//!
//! If all causes of u are in C, then u is in ex(C), and the question is only whether it is in
//! en(C), which is known.
//!
//! The answer comes with a *witness*, an event of C that u is in conflict with. That conflict is
//! permanent, so as long as the witness is in C the next answer is known.

use smallvec::SmallVec;

use super::Configuration;
use super::cut::Cut;
use super::event::{EventId, EventKind};
use super::lanes::Lane;
use super::structure::EventStructure;

impl Configuration {
    /// Is u, which is not in C, in conflict with an event of C? O(1) if `witness` is in C and known
    /// to be in conflict with u, or if u is in ex(C). Otherwise O(lanes), with an ancestor query
    /// for each lane in which `[u]` is ahead; and `witness` is set to an event of C that u is in
    /// conflict with, if one is found on the way.
    pub(crate) fn is_in_conflict_with(
        &self,
        structure: &EventStructure,
        u: EventId,
        witness: &mut EventId,
    ) -> bool {
        if self.contains(*witness) {
            return true;
        }
        let is_extension = structure.event(u).causes.iter().all(|&cause| self.contains(cause));
        if is_extension && !structure.is_barred(u) {
            let is_in_conflict = !self.is_enabled(structure, u);
            debug_assert_eq!(
                is_in_conflict,
                self.clashes(structure, u, &mut { *witness }),
                "{u:?}"
            );
            return is_in_conflict;
        }
        self.clashes(structure, u, witness)
    }

    /// Is u in conflict with an event of C? For any u, lane by lane.
    fn clashes(&self, structure: &EventStructure, u: EventId, witness: &mut EventId) -> bool {
        let cut = structure.cut(u);
        let mut ahead: SmallVec<[Lane; 8]> = SmallVec::new();
        let has_rival = match cut {
            Cut::Row(row) => row.iter().enumerate().any(|(lane, &last)| {
                self.has_rival(structure, Lane(lane as u32), last, &mut ahead, witness)
            }),
            Cut::List(list) => list
                .iter()
                .any(|&(lane, last)| self.has_rival(structure, lane, last, &mut ahead, witness)),
        };
        if has_rival {
            return true;
        }
        structure.observes
            && ahead.iter().any(|&lane| match structure.lanes.is_process(lane) {
                true => self.misses_change(structure, cut, lane, witness),
                false => self.misses_observation(structure, cut, lane, witness),
            })
    }

    /// Is there an event of C in the lane that is not on the path to `last`? It becomes the
    /// witness. If there is none, and `last` is not in C, the lane is ahead of C.
    #[inline(always)]
    fn has_rival(
        &self,
        structure: &EventStructure,
        lane: Lane,
        last: EventId,
        ahead: &mut SmallVec<[Lane; 8]>,
        witness: &mut EventId,
    ) -> bool {
        if last == EventId::NONE || self.contains(last) {
            return false;
        }
        let rival = self.rival(structure, lane, last);
        match rival {
            Some(rival) => *witness = rival,
            None => ahead.push(lane),
        }
        rival.is_some()
    }

    /// The oldest event of C in the lane that is not on the path to `last`, if there is one: it
    /// stays in C longest.
    fn rival(&self, structure: &EventStructure, lane: Lane, last: EventId) -> Option<EventId> {
        let own = self.cut[lane.index()];
        if structure.on_one_path(lane, own, last) {
            return None;
        }
        Some(structure.first_off(lane, own, last))
    }

    /// Is there an observation in C, since C's last change in the chain, that is not in the history
    /// of the next changes?
    fn misses_observation(
        &self,
        structure: &EventStructure,
        cut: Cut<'_>,
        chain: Lane,
        witness: &mut EventId,
    ) -> bool {
        let known = |observation: EventId| {
            let event = structure.event(observation);
            let lane = structure.lanes.process(event.process);
            structure.depth(lane, cut.last(lane)) >= event.own.depth
        };
        let version = self.len_of(chain) + 1;
        let current = |&&read: &&EventId| structure.event(read).link.depth == version;
        let mut reads = self.reads[chain.index()].iter().rev().take_while(current);
        let mut tests = self.tests[chain.index()].iter();
        let missed = reads.find(|&&read| !known(read)).or_else(|| {
            tests.find(|&&test| !known(test) && structure.excludes(cut, Cut::Row(&self.cut), test))
        });
        *witness = missed.copied().unwrap_or(*witness);
        missed.is_some()
    }

    /// Is there an observation in `[u]` that a change in C excludes?
    fn misses_change(
        &self,
        structure: &EventStructure,
        cut: Cut<'_>,
        process: Lane,
        witness: &mut EventId,
    ) -> bool {
        let (known, last) = (self.cut[process.index()], cut.last(process));
        let own = Cut::Row(&self.cut);
        let Some(observation) = structure.contradiction(known, last, own, cut) else {
            return false;
        };
        let event = structure.event(observation);
        if event.kind == EventKind::Read {
            let (chain, depth) = (event.chain, event.link.depth);
            *witness = structure.ancestor(chain, self.cut[chain.index()], depth);
        }
        true
    }
}
