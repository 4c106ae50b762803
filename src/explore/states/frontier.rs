//! What a search has met, and not expanded yet.

use super::packed::Repacker;

/// The states that were met, and are not expanded yet.
#[derive(Debug, Default)]
pub struct Frontier {
    /// By the length of the way to them: packed states, one behind the other.
    by_depth: Vec<Vec<u64>>,
}

impl Frontier {
    /// The states at this depth.
    pub fn at(&mut self, depth: usize) -> &mut Vec<u64> {
        if self.by_depth.len() <= depth {
            self.by_depth.resize_with(depth + 1, Vec::new);
        }
        &mut self.by_depth[depth]
    }

    /// Adds packed states at this depth.
    pub fn push(&mut self, depth: usize, packed: &[u64]) {
        if !packed.is_empty() {
            self.at(depth).extend_from_slice(packed);
        }
    }

    /// Takes so many words off it, those of the deepest states, or fewer if there are fewer.
    pub fn take(&mut self, most: usize) -> Vec<(usize, Vec<u64>)> {
        let (mut taken, mut left) = (Vec::new(), most);
        while left > 0
            && let Some(depth) = self.by_depth.len().checked_sub(1)
        {
            let level = &mut self.by_depth[depth];
            let part = level.split_off(level.len().saturating_sub(left));
            left -= part.len();
            if level.is_empty() {
                self.by_depth.pop();
            }
            if !part.is_empty() {
                taken.push((depth, part));
            }
        }
        taken
    }

    /// Takes so many words off those at this depth, or fewer if there are fewer.
    pub fn take_at(&mut self, depth: usize, most: usize) -> Vec<u64> {
        let level = self.at(depth);
        level.split_off(level.len().saturating_sub(most))
    }

    /// Packs the states, which have had this width, in another layout.
    pub fn lay_out(&mut self, again: &Repacker, width: usize) {
        for level in &mut self.by_depth {
            *level = again.repack_all(level.chunks_exact(width));
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.by_depth.iter().map(|level| level.capacity() * size_of::<u64>()).sum()
    }
}
