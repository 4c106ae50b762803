//! How much a search has left to do, estimated from its own steps.
//!
//! A search notes when it is done with a level, and after how many steps. From these marks follows
//! how fast its work grows, and from that how much is left:
//!
//! ```text
//! depth first      level 40   32   28   24      0        work doubles every 4 levels, and 24 are
//!                  steps  1   2k   4k   9k      ?        open: 9k * 2^6 in all
//! breadth first    size   4    8   16          64        from 8 to 16 work grows as size^4, up to
//!                  steps 20  700  11k           ?        half of 64: 11k * 2^4 in all, and again
//! ```
//!
//! **Depth first.** A level is left when all that branches off below it is explored. The growth is
//! that from the last mark with at most half of the steps on: what is deep may grow in another way.
//!
//! **Breadth first.** There are few short executions and few almost complete ones, and most of what
//! there is lies between. So up to half of the length of an execution the work is taken to grow as
//! a power of the size, and what comes after that is taken to be as much again.
//!
//! An estimate may be wrong by any factor. It has to tell a search that is nearly done from one
//! that is hopeless. It depends on steps only, and there are no fractions in it that machines
//! round differently. What is not known is taken to be as much as was done so far.

/// The steps after which a search was done with a level.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Depth first the number of levels that are still open, breadth first the size.
    level: u64,
    steps: u64,
}

/// How far a search has come.
#[derive(Clone, Debug)]
pub(super) struct Course {
    marks: Vec<Mark>,
    /// The fewest levels that were open (depth first).
    least_open: usize,
    is_breadth_first: bool,
}

impl Default for Course {
    fn default() -> Self {
        Course { marks: Vec::new(), least_open: usize::MAX, is_breadth_first: false }
    }
}

impl Course {
    /// Are fewer levels open than ever?
    #[inline]
    pub(super) fn is_news(&self, open: usize) -> bool {
        open < self.least_open
    }

    /// Notes that a depth-first search has left a level, with this many still open.
    #[cold]
    pub(super) fn leave(&mut self, open: usize, steps: u64) {
        self.least_open = open;
        self.marks.push(Mark { level: open as u64, steps });
    }

    /// Notes that a breadth-first search is done with all up to this size.
    pub(super) fn fill(&mut self, size: u64, steps: u64) {
        self.is_breadth_first = true;
        if self.marks.last().is_none_or(|last| last.level < size) {
            self.marks.push(Mark { level: size, steps });
        }
    }

    /// The length of the first execution of a depth-first search.
    pub(super) fn length(&self) -> Option<u64> {
        self.marks.first().filter(|_| !self.is_breadth_first).map(|first| first.level)
    }

    /// The steps that are left after `done` steps, where executions have this length.
    pub(super) fn rest(&self, done: u64, length: Option<u64>) -> u64 {
        let grown = match self.is_breadth_first {
            true => length.and_then(|length| self.growth_up_to(length)),
            false => self.growth_to_the_end(),
        };
        let known = grown.map(|grown| exp2(log2(done).saturating_add(grown)).saturating_sub(done));
        known.unwrap_or(done)
    }

    /// The logarithm of the factor by which the steps grow until no level is open.
    fn growth_to_the_end(&self) -> Option<u64> {
        let last = self.marks.last()?;
        let before = self.marks.iter().rev().find(|mark| mark.steps <= last.steps / 2)?;
        let grown = log2(last.steps) - log2(before.steps);
        Some(grown.saturating_mul(last.level) / (before.level - last.level))
    }

    /// The same until all is done up to this length.
    fn growth_up_to(&self, length: u64) -> Option<u64> {
        let last = self.marks.last()?;
        let before = self.marks.iter().rev().find(|mark| mark.level <= last.level / 2)?;
        let grown = log2(last.steps) - log2(before.steps);
        let ahead = log2(length / 2).saturating_sub(log2(last.level));
        let power = log2(last.level) - log2(before.level);
        Some(ONE + grown.saturating_mul(ahead) / power)
    }
}

/// The logarithm of 2.
const ONE: u64 = 1 << BITS;
/// Logarithms are multiples of 2^-`BITS`.
const BITS: u32 = 16;

/// The logarithm to the base 2, linear between powers of 2. That of 0 is that of 1.
fn log2(number: u64) -> u64 {
    let number = number.max(1);
    let whole = number.ilog2();
    let fraction = ((u128::from(number) << BITS) >> whole) as u64 - ONE;
    u64::from(whole) * ONE + fraction
}

/// The number that has this logarithm.
fn exp2(log: u64) -> u64 {
    let (whole, fraction) = (log >> BITS, log % ONE);
    match whole {
        0..64 => ((u128::from(ONE + fraction) << whole) >> BITS) as u64,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_their_logarithms() {
        for number in [1, 2, 3, 5, 1000, 65_535, 131_072, 1_000_001] {
            let again = exp2(log2(number));
            assert!(number.abs_diff(again) <= number >> 15, "{number} {again}");
        }
        assert_eq!((log2(0), log2(8), exp2(64 * ONE)), (0, 3 * ONE, u64::MAX));
        assert!((log2(u64::MAX), log2(6)) < (64 * ONE, 0) && log2(6) < log2(7));
    }

    /// Below each level there are three times as many steps as below the next one.
    #[test]
    fn a_tree_is_as_large_as_its_first_branches_say() {
        let mut course = Course::default();
        assert_eq!((course.length(), course.rest(7, None)), (None, 7));
        for (level, steps) in [(12, 12), (11, 36), (10, 108), (9, 324), (8, 972)] {
            assert!(course.is_news(level));
            course.leave(level, steps);
        }
        assert!(!course.is_news(9));
        assert_eq!(course.length(), Some(12));
        let (rest, all) = (course.rest(972, None), 972 * 3_u64.pow(8));
        assert!((all / 2..all * 2).contains(&rest), "{rest}, not {all}");
        // Nearly done.
        course.leave(1, 3_000_000);
        assert!(course.rest(3_100_000, None) < 10_000_000);
        course.leave(0, 9_000_000);
        assert_eq!(course.rest(9_000_000, None), 0);
    }

    /// A long stretch without branches says nothing about the levels above it.
    #[test]
    fn only_the_latest_growth_counts() {
        let mut course = Course::default();
        for (level, steps) in [(4000, 4000), (150, 13_000), (147, 30_000), (144, 70_000)] {
            course.leave(level, steps);
        }
        assert!(course.rest(70_000, None) > 1 << 50);
    }

    #[test]
    fn a_power_goes_on_up_to_half_of_the_length() {
        let mut course = Course::default();
        for size in 1..=16 {
            course.fill(size, size.pow(3));
        }
        assert_eq!((course.length(), course.rest(4096, None)), (None, 4096));
        let all = 2 * 32_u64.pow(3);
        assert!(course.rest(4096, Some(64)).abs_diff(all) < all / 4);
        // Beyond half, what is left is at most what is done.
        assert_eq!(course.rest(4096, Some(20)), 4096);
        course.fill(3, 5000);
        assert_eq!(course.rest(4096, Some(20)), 4096);
    }
}
