//! Which events of a prefix are cutoffs, by definition: e is one if another event of the list, or
//! the start, has the same state and is smaller.
//!
//! The order ≺ is that of Esparza, Römer, Vogler (FMSD 2002, section 6): by size; then by how often
//! each letter occurs; then by Foata normal form. A letter is a process with all codes that it
//! looks at, and its choice. Letters are in the order of the list: the order is adequate for any
//! order of the letters.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::Refused;
use super::events::{Events, Place};
use crate::model::System;

impl<S: System> Events<'_, S> {
    /// Says which events are cutoffs. Refuses events after cutoffs.
    pub(super) fn find_cutoffs(&mut self) -> Result<(), Refused> {
        let mut alike: FxHashMap<u32, Vec<Place>> = FxHashMap::default();
        for (place, event) in (1..).zip(&self.events) {
            alike.entry(event.state).or_default().push(place);
        }
        for (state, mut events) in alike {
            let is_start = state == 0;
            events.sort_by(|&one, &other| self.compare(one, other));
            let least = events[0];
            for event in events {
                let is_cutoff = is_start || self.compare(least, event) == Ordering::Less;
                self.events[event as usize - 1].is_cutoff = is_cutoff;
            }
        }
        for (place, event) in (1..).zip(&self.events) {
            if event.past().iter().any(|&cause| self.event(cause).is_cutoff) {
                return Err(Refused::new("it comes after a cutoff").about(place as usize - 1));
            }
            for one in event.touched.iter().filter(|_| !event.is_cutoff) {
                let Events { changers, readers, .. } = self;
                let all = if one.is_changed { changers } else { readers };
                all.entry((one.line, one.before)).or_default().push(place);
            }
        }
        Ok(())
    }

    /// The order ≺.
    fn compare(&self, one: Place, other: Place) -> Ordering {
        let [one, other] = [one, other].map(|event| &self.event(event).local.events);
        let letters = |events: &[Place]| {
            let mut letters: Vec<u32> =
                events.iter().map(|&event| self.event(event).letter).collect();
            letters.sort_unstable();
            letters
        };
        let levels = |events: &[Place]| {
            let mut words: Vec<(usize, Vec<u32>)> = Vec::new();
            for event in events.iter().map(|&event| self.event(event)) {
                let at = event.level as usize;
                words.resize(words.len().max(at + 1), (0, Vec::new()));
                words[at].0 += 1;
                words[at].1.push(event.letter);
            }
            words.iter_mut().for_each(|(_, word)| word.sort_unstable());
            words
        };
        let by_size = one.len().cmp(&other.len());
        let by_letters = || letters(one).cmp(&letters(other));
        by_size.then_with(by_letters).then_with(|| levels(one).cmp(&levels(other)))
    }
}
