//! What the transitions of a search have led to, in the order in which they were taken. So that a
//! search from state to state can be saved, and go on in another process. The construction of a
//! prefix notes in the same way which conditions it has found to be concurrent (`prefix/kept`).
//!
//! What such a search knows refers to values of the model, which exist only in one process. But it
//! depends on nothing except the system. So another process goes through the same search *again*,
//! to the same place. It knows what each transition leads to, and takes only those that lead to new
//! states, or from which something was learned. It skips all others: they would be undone.
//!
//! What can be learned from a transition to a known state: how parts of it are renamed, with
//! symmetry; that the state before it must be explored in full, as it is on a cycle; and what comes
//! after it, in a search with source sets ([`Memory`](super::states::past::Memory)). There each
//! transition is taken again.
//!
//! Nothing is believed that can be seen. A transition that is taken again has to lead to what was
//! noted, and in the end all figures have to be the same. What is believed: that no new state was
//! to be found by the transitions that are skipped, and how many steps were fused with them.

#[cfg(feature = "json")]
use std::io::{self, Read, Write};

#[cfg(feature = "json")]
use super::saved::{read_bytes, read_number, stray, write_bytes, write_number};

/// What a transition has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Led {
    /// A new state.
    New,
    /// A known state; and something was learned.
    Told,
    /// A known state.
    Known,
}

/// How a search goes that takes one transition after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// On the model, depth first.
    DepthFirst,
    /// On the model, by levels; and the next state to visit.
    BreadthFirst(u32),
}

/// What the transitions of a search have led to.
#[derive(Debug, Default)]
pub(super) struct News {
    /// For each transition that led to a new state or taught something: twice the number of
    /// transitions between the one before and this one, and 1 if it taught something. In groups of
    /// seven bits, the last ones first, with the bit 128 in all groups but the last.
    entries: Vec<u8>,
    /// The number of transitions after the last entry.
    rest: u64,
    /// The number of steps that were fused with transitions from which nothing was learned.
    fused: u64,
    /// How far the search has gone again; `None` if it does not.
    again: Option<Again>,
    is_stray: bool,
}

/// How far a search has gone again.
#[derive(Debug)]
struct Again {
    /// Where the next entry begins.
    at: usize,
    /// The number of transitions to skip, and what comes after them, if there is something.
    skipped: u64,
    then: Option<Led>,
}

impl News {
    /// Those of a search that has to go again through what was noted. `None` if it is not what a
    /// search has noted.
    #[cfg(any(test, feature = "json"))]
    pub(super) fn to_go_again(entries: Vec<u8>, rest: u64, fused: u64) -> Option<News> {
        let mut at = 0;
        while at < entries.len() {
            (_, at) = entry(&entries, at)?;
        }
        let mut news = News { entries, rest, fused, again: None, is_stray: false };
        news.again = Some(news.from(0));
        Some(news)
    }

    /// The number of steps that were fused with transitions that are skipped.
    #[cfg(any(test, feature = "json"))]
    pub(super) fn fused(&self) -> u64 {
        self.fused
    }

    /// What comes at this place of the entries.
    fn from(&self, at: usize) -> Again {
        match entry(&self.entries, at) {
            None => Again { at, skipped: self.rest, then: None },
            Some((number, at)) => {
                let then = if number % 2 == 0 { Led::New } else { Led::Told };
                Again { at, skipped: number / 2, then: Some(then) }
            }
        }
    }

    /// What the next transition leads to, if the search goes again.
    pub(super) fn foretold(&mut self) -> Option<Led> {
        let again = self.again.as_mut()?;
        if again.skipped > 0 {
            again.skipped -= 1;
            return Some(Led::Known);
        }
        let (then, at) = (again.then?, again.at);
        self.again = Some(self.from(at));
        Some(then)
    }

    /// Notes what a transition has led to, or compares it with what was foretold.
    pub(super) fn note(&mut self, foretold: Option<Led>, led: Led) {
        if let Some(foretold) = foretold {
            self.is_stray |= foretold != led;
            return;
        }
        // There should be no more.
        self.is_stray |= self.goes_again();
        if led == Led::Known {
            self.rest += 1;
            return;
        }
        let mut number = 2 * self.rest + u64::from(led == Led::Told);
        self.rest = 0;
        while number >= 128 {
            self.entries.push(number as u8 | 128);
            number >>= 7;
        }
        self.entries.push(number as u8);
    }

    /// Notes that this many steps were fused with a transition that has led to this.
    pub(super) fn note_fused(&mut self, led: Led, steps: u64) {
        if led == Led::Known {
            self.fused += steps;
        }
    }

    /// Does the search go again?
    pub(super) fn goes_again(&self) -> bool {
        self.again.is_some()
    }

    /// Has the search gone through all that was noted, or found that it is not of this search?
    pub(super) fn is_there(&self) -> bool {
        self.is_stray
            || self.again.as_ref().is_some_and(|one| one.skipped == 0 && one.then.is_none())
    }

    /// Is this not what the search has noted?
    #[cfg(all(feature = "json", feature = "sat"))]
    pub(super) fn is_stray(&self) -> bool {
        self.is_stray
    }

    /// Writes what was noted.
    #[cfg(feature = "json")]
    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        write_bytes(to, &self.entries)?;
        write_number(to, self.rest)?;
        write_number(to, self.fused)
    }

    /// Reads what was noted by a search that has to go again.
    #[cfg(feature = "json")]
    pub(super) fn read(from: &mut dyn Read) -> io::Result<News> {
        let entries = read_bytes(from)?;
        News::to_go_again(entries, read_number(from)?, read_number(from)?).ok_or_else(stray)
    }

    /// Goes on with new transitions. Returns whether the search is where it was.
    #[cfg(any(test, feature = "json"))]
    pub(super) fn go_on(&mut self) -> bool {
        let is_where_it_was = self.is_there() && !self.is_stray;
        self.again = None;
        is_where_it_was
    }
}

/// A search that notes what its transitions lead to, if it is saved.
#[cfg_attr(not(feature = "json"), expect(dead_code, reason = "no search is saved"))]
pub(super) trait Noting {
    /// What they have led to.
    fn news(&mut self) -> Option<&mut News>;

    /// Writes what it knows beside that, and cannot find when it goes again.
    #[cfg(feature = "json")]
    fn write_rest(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Reads what [`write_rest`](Noting::write_rest) has written, when it has gone again.
    #[cfg(feature = "json")]
    fn read_rest(&mut self, _: &mut dyn Read) -> io::Result<()> {
        Ok(())
    }
}

/// Has a search gone again, and is where it was, or found that it was never there?
pub(super) fn is_there(news: Option<&News>) -> bool {
    news.is_some_and(News::is_there)
}

/// The entry at this place, and where the next one begins.
fn entry(entries: &[u8], from: usize) -> Option<(u64, usize)> {
    let (mut number, mut at) = (0, from);
    loop {
        let group = *entries.get(at)?;
        let shift = 7 * (at - from) as u32;
        if shift >= u64::BITS {
            return None;
        }
        number |= u64::from(group & 127) << shift;
        at += 1;
        if group < 128 {
            return Some((number, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Those of a search that goes again.
    fn again(news: &News) -> News {
        News::to_go_again(news.entries.clone(), news.rest, news.fused).expect("entries")
    }

    #[test]
    fn what_was_noted_is_foretold() {
        let mut rng = SplitMix64::new(3);
        for length in 0..200 {
            let (mut news, mut led) = (News::default(), Vec::new());
            for _ in 0..length {
                let next = match rng.remainder(40) {
                    0 | 1 => Led::New,
                    2 => Led::Told,
                    _ => Led::Known,
                };
                let times = if rng.remainder(9) == 0 { rng.remainder(300) } else { 1 };
                led.extend(std::iter::repeat_n(next, times));
            }
            led.iter().for_each(|&led| news.note(None, led));
            news.note_fused(Led::New, 9);
            news.note_fused(Led::Known, 2);
            assert_eq!(news.fused(), 2);
            let mut again = again(&news);
            for &led in &led {
                assert!(!again.is_there());
                assert_eq!(again.foretold(), Some(led));
                again.note(Some(led), led);
            }
            assert!(again.is_there() && again.foretold().is_none() && again.go_on());
            again.note(None, Led::New);
            news.note(None, Led::New);
            let noted = |news: &News| (news.entries.clone(), news.rest, news.fused);
            assert_eq!(noted(&again), noted(&news));
        }
    }

    #[test]
    fn what_differs_is_noticed() {
        let mut news = News::default();
        news.note(None, Led::New);
        let mut again = again(&news);
        let foretold = again.foretold();
        again.note(foretold, Led::Known);
        assert!(again.is_there() && !again.go_on());
        assert!(News::to_go_again(vec![128], 0, 0).is_none());
        assert!(News::to_go_again(vec![255; 12], 0, 0).is_none());
    }
}
