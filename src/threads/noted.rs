//! What has been found out about a closure, for a search that goes on in another process.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::mode::{Counting, Mode};
use super::system::Threads;

/// Places are constants of the program: their addresses are noted from here on, because a program
/// may be loaded elsewhere the next time.
static ORIGIN: &str = "here";

fn origin() -> usize {
    ORIGIN.as_ptr().addr()
}

impl Mode {
    /// The mode in which a search has to go on that has noted this.
    #[cfg(feature = "cli")]
    pub(super) fn noted(notes: &str) -> Option<Mode> {
        Mode::read(notes.lines().next()?)
    }

    /// Is it the same as another mode, but for what was found out about the program?
    pub(super) fn extends(&self, other: &Mode) -> bool {
        (self.spurious, self.failures, self.forgets)
            == (other.spurious, other.failures, other.forgets)
    }

    fn text(&self) -> String {
        let Mode { is_tried, tracks, heals, spurious, failures, forgets, counted } = self;
        let mut text = format!("{is_tried} {tracks} {heals} {spurious} {failures} {forgets}");
        for (address, counting) in counted {
            let kind = match counting {
                Counting::Drops => "drops",
                Counting::All => "all",
            };
            text += &format!(" {} {kind}", address.wrapping_sub(origin()));
        }
        text
    }

    fn read(text: &str) -> Option<Mode> {
        let mut words = text.split(' ');
        let mut next = || words.next();
        let (is_tried, tracks) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let (heals, spurious) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let (failures, forgets) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let counted = BTreeMap::new();
        let mut mode = Mode { is_tried, tracks, heals, spurious, failures, forgets, counted };
        while let Some(offset) = next() {
            let address = offset.parse::<usize>().ok()?.wrapping_add(origin());
            let counting = match next()? {
                "drops" => Counting::Drops,
                "all" => Counting::All,
                _ => return None,
            };
            mode.counted.insert(address, counting);
        }
        Some(mode)
    }
}

impl Threads {
    /// What has been found out so far: the mode in which the closure has to be searched, and the
    /// one in which it is; whether orderings are weak, exchanges are, and a thread did not do the
    /// same again; and how loops are cut.
    pub(super) fn notes(&self) -> String {
        let (needed, present) = (self.mode().text(), self.shared.mode.text());
        let (is_weak, is_broken) = (self.is_weak(), !self.shared.broken().is_empty());
        let is_exchanged = self.shared.is_exchanged_weakly.load(Ordering::Relaxed);
        let loops = self.shared.loops.noted();
        format!("{needed}\n{present}\n{is_weak} {is_exchanged} {is_broken}\n{loops}")
    }

    /// Takes up what was found out in another process. Returns whether that search can go on: not
    /// if it was one in another mode, or if a thread did not do the same again.
    pub(super) fn take_notes(&self, notes: &str) -> bool {
        let lines: Vec<&str> = notes.lines().collect();
        let [needed, present, found, loops] = lines[..] else { return false };
        let mode = Some(&self.shared.mode);
        let is_same = |text| Mode::read(text).as_ref() == mode;
        let found: Vec<&str> = found.split(' ').collect();
        let [is_weak, is_exchanged, is_broken] = found[..] else { return false };
        self.shared.is_weak.fetch_or(is_weak == "true", Ordering::Relaxed);
        self.shared.is_exchanged_weakly.fetch_or(is_exchanged == "true", Ordering::Relaxed);
        is_same(needed)
            && is_same(present)
            && is_broken == "false"
            && self.shared.loops.recall(loops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_noted_as_they_are() {
        let place = std::panic::Location::caller();
        let address = std::ptr::from_ref(place).addr();
        for (is_tried, tracks, counting) in [
            (false, true, None),
            (true, false, Some(Counting::Drops)),
            (true, true, Some(Counting::All)),
        ] {
            let counted = counting.map(|counting| (address, counting)).into_iter().collect();
            let (heals, spurious, failures, forgets) = (tracks, 3, 4, true);
            let mode = Mode { is_tried, tracks, heals, spurious, failures, forgets, counted };
            assert_eq!(Mode::read(&mode.text()), Some(mode));
        }
        for bad in [
            "",
            "true",
            "true true true 1 1",
            "true true true 1 x true",
            "true true true 1 1 true 5",
        ] {
            assert_eq!(Mode::read(bad), None, "{bad}");
        }
    }
}
