//! Random numbers that are the same on every platform and for ever.
//!
//! Seeds are written in documents and reports, so what follows from a seed may not change.

/// What the generator adds to its state at each step: 2⁶⁴ divided by the golden ratio, made odd.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The generator SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Any seed is a good seed.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts from this seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next number.
    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(GAMMA);
        number
    }

    /// A number below `bound`: the high half of `bound` times the next number.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 up to, but not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of these, of which there is at least one; each with the same probability.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A number below `bound`: the remainder of the next number. It differs from what
    /// [`below`](SplitMix64::below) gives, and the meaning of some seeds depends on it.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn remainder(&mut self, bound: usize) -> usize {
        (self.draw() % bound as u64) as usize
    }
}

/// A bijection that spreads every bit over all others: the number that SplitMix64 draws first from
/// the seed `x`.
#[inline]
pub(crate) fn mix(x: u64) -> u64 {
    let z = x.wrapping_add(GAMMA);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.draw(), 6_457_827_717_110_365_317);
        assert_eq!(random.draw(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn bounds_are_kept_in_two_ways() {
        let drawn = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973_u64];
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.below(10), 3, "{} of 2⁶⁴ is 0.35", drawn[0]);
        assert_eq!(random.remainder(10), 3, "the last digit of {}", drawn[1]);
    }
}
