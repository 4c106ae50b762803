//! The adequate order ≺ on local configurations.
//!
//! Esparza, Römer, Vogler (FMSD 2002, section 6): \[e\] ≺ \[f\] if \[e\] has fewer events; or as
//! many, and a smaller Parikh vector, which counts the events of each transition; or an equal one,
//! and a smaller Foata normal form. That lists the events level by level, the level of an event
//! being one more than the highest level of its causes. Levels are compared as words of
//! transitions: the shorter one is smaller, then the first one by letters. The letter of a
//! transition is its place among all transitions in the order of their first events. So a list of
//! the events says which order was used, and an audit can repeat it (`audit`).
//!
//! **Transitions, not processes and choices.** An extension must not reverse the order. Let two
//! configurations first differ at level i, and add the same transition to both. If the new event of
//! one has a level below i, its conditions stand at the end of that configuration, so no later
//! event there touches their lines. As the other one has the same transitions, and a transition
//! determines the lines that it looks at, no later event touches them there, either: the new event
//! is the same one. If the Parikh vector counted only the steps of each process, a process might
//! come to one state in two ways that touch different lines. Then the same step has different
//! levels, and may reverse the order; there are programs of which a prefix by that order misses
//! states (`specs/memory/two-ways.maz`).
//!
//! In a program without loops a state fixes the number of steps of each process in most cases. By
//! size alone nothing would be a cutoff there.

use std::cmp::Ordering;

use super::PrefixEvent;
use super::build::Prefix;

impl Prefix {
    /// Compares the local configurations of two events of the same size with the same state.
    /// O(lines + size log size).
    pub(super) fn compare(&mut self, e: PrefixEvent, f: PrefixEvent) -> Ordering {
        let (mut one, mut other) = (self.letters(e), self.letters(f));
        by_parikh_vector(&mut one, &mut other).then_with(|| by_levels(&mut one, &mut other))
    }

    /// The level and the letter of each event of a local configuration.
    fn letters(&mut self, event: PrefixEvent) -> Vec<Letter> {
        let mut past = Vec::new();
        self.collect(&[event], &mut past);
        let events = past.iter().map(|&event| &self.events[event as usize]);
        events.map(|event| (event.level, event.letter)).collect()
    }
}

/// The level and the letter of an event.
type Letter = (u32, u32);

/// Compares how often each letter occurs: more often the first one is smaller.
fn by_parikh_vector(one: &mut [Letter], other: &mut [Letter]) -> Ordering {
    one.sort_unstable_by_key(|&(_, letter)| letter);
    other.sort_unstable_by_key(|&(_, letter)| letter);
    let pairs = one.iter().zip(other.iter());
    pairs.map(|(one, other)| one.1.cmp(&other.1)).fold(Ordering::Equal, Ordering::then)
}

fn by_levels(one: &mut [Letter], other: &mut [Letter]) -> Ordering {
    one.sort_unstable();
    other.sort_unstable();
    let levels = |letters| <[Letter]>::chunk_by(letters, |a: &Letter, b: &Letter| a.0 == b.0);
    let by_level = levels(one).zip(levels(other));
    by_level
        .map(|(word, next)| word.len().cmp(&next.len()).then_with(|| word.cmp(next)))
        .fold(Ordering::Equal, Ordering::then)
}
