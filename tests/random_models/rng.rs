//! Random numbers that are the same everywhere.

use mazurka::random::SplitMix64;

/// Any seed is a good seed.
pub struct Rng(SplitMix64);

impl Rng {
    /// Started from `seed`.
    pub fn new(seed: u64) -> Self {
        Rng(SplitMix64::new(seed))
    }

    /// Below `bound`, which is not 0. (The bias of the remainder is of no concern here.)
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.remainder(bound)
    }

    /// In `lo..hi`.
    pub fn range(&mut self, lo: usize, hi: usize) -> usize {
        lo + self.below(hi - lo)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `items`.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }

    /// A small number.
    pub fn value(&mut self) -> i64 {
        self.below(3) as i64
    }
}
