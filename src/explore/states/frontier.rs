//! The states that a search has visited but not expanded yet.

#[cfg(feature = "json")]
use std::io::{self, Read, Write};

use super::packed::Repacker;
#[cfg(feature = "json")]
use crate::explore::saved::{read_number, read_words, write_number, write_words};

/// The states that are not expanded yet, by depth.
#[derive(Debug, Default)]
pub(crate) struct Frontier {
    /// By the length of the path to them: packed states, concatenated.
    by_depth: Vec<Vec<u64>>,
}

impl Frontier {
    /// The states at this depth.
    pub(crate) fn at(&mut self, depth: usize) -> &mut Vec<u64> {
        if self.by_depth.len() <= depth {
            self.by_depth.resize_with(depth + 1, Vec::new);
        }
        &mut self.by_depth[depth]
    }

    /// Adds packed states at this depth.
    pub(crate) fn push(&mut self, depth: usize, packed: &[u64]) {
        if !packed.is_empty() {
            self.at(depth).extend_from_slice(packed);
        }
    }

    /// Removes states of at most `most` words, the deepest first, and returns them with their
    /// depths.
    pub(crate) fn take(&mut self, most: usize) -> Vec<(usize, Vec<u64>)> {
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

    /// Removes states of at most `most` words at this depth, and returns them.
    pub(crate) fn take_at(&mut self, depth: usize, most: usize) -> Vec<u64> {
        let level = self.at(depth);
        level.split_off(level.len().saturating_sub(most))
    }

    /// Converts the states, which have `width` words each, to another layout.
    pub(crate) fn lay_out(&mut self, again: &Repacker, width: usize) {
        for level in &mut self.by_depth {
            *level = again.repack_all(level.chunks_exact(width));
        }
    }

    /// Writes the states.
    #[cfg(feature = "json")]
    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        write_number(to, self.by_depth.len() as u64)?;
        self.by_depth.iter().try_for_each(|level| write_words(to, level))
    }

    /// Reads states that were written, in the place of those that are there.
    #[cfg(feature = "json")]
    pub(crate) fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let depths = read_number(from)?;
        self.by_depth = (0..depths).map(|_| read_words(from)).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.by_depth.iter().map(|level| level.capacity() * size_of::<u64>()).sum()
    }
}
