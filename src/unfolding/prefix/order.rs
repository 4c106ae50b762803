//! The adequate order ≺ on local configurations.
//!
//! Esparza, Römer, Vogler (FMSD 2002, section 6): \[e\] ≺ \[f\] if \[e\] has fewer events; or as
//! many, and a smaller Parikh vector; or an equal one, and a smaller Foata normal form. Here the
//! Parikh vector counts the steps of each process. The Foata normal form lists the events level by
//! level, the level of an event being one more than the highest level of its causes. Levels are
//! compared as words of labels: the shorter one is smaller, then the first one by letters. The
//! label of an event is its process and its choice.
//!
//! In a program without loops a state fixes the number of steps of each process in most cases, so
//! nearly all is decided by the normal form. By size alone nothing would be a cutoff there.

use std::cmp::Ordering;

use super::build::Prefix;
use super::{Line, PrefixEvent};

/// The level, the process and the choice of an event.
type Letter = (u32, Line, i32);

impl Prefix {
    /// Compares the local configurations of two events of the same size with the same state.
    /// O(lines + size log size).
    pub(super) fn compare(&mut self, e: PrefixEvent, f: PrefixEvent) -> Ordering {
        let steps = self.movers().map(|line| self.steps(e, line).cmp(&self.steps(f, line)));
        let parikh = steps.fold(Ordering::Equal, Ordering::then);
        parikh.then_with(|| {
            let (one, other) = (self.normal_form(e), self.normal_form(f));
            compare_levels(&one, &other)
        })
    }

    fn normal_form(&mut self, event: PrefixEvent) -> Vec<Letter> {
        let mut past = Vec::new();
        self.collect(&[event], &mut past);
        let letter = |&event: &PrefixEvent| {
            let it = &self.events[event as usize];
            (it.level, it.line, it.label)
        };
        let mut letters: Vec<Letter> = past.iter().map(letter).collect();
        letters.sort_unstable();
        letters
    }
}

fn compare_levels(one: &[Letter], other: &[Letter]) -> Ordering {
    let levels = |letters| <[Letter]>::chunk_by(letters, |a: &Letter, b: &Letter| a.0 == b.0);
    let by_level = levels(one).zip(levels(other));
    by_level
        .map(|(word, next)| word.len().cmp(&next.len()).then_with(|| word.cmp(next)))
        .fold(Ordering::Equal, Ordering::then)
}
