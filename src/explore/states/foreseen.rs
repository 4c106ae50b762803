//! Estimates of the memory that a batch is about to allocate.
//!
//! A batch may take as much memory as all known states. So a limit that is only checked now and
//! then would be exceeded by much. Before a batch is expanded, and again before its successors are
//! added, the search announces the memory that it may need, and ends if that would exceed the
//! limit.

use super::expander::Part;
use super::full_graph::FullGraph;
use super::known::SPREAD;
use crate::model::System;

impl<S: System> FullGraph<'_, S> {
    /// Bytes needed to list the successors of these states, if each has as many as the average so
    /// far, and lists are half full. The capacity of the lists of earlier batches is available
    /// already.
    pub(super) fn bytes_to_expand(
        &self,
        states: &[(usize, Vec<u64>)],
        parts: &[Part],
        transitions: u64,
    ) -> usize {
        let width = self.layout.width();
        let count = states.iter().map(|(_, states)| states.len()).sum::<usize>() / width;
        let from_each = transitions as usize / self.known.len().max(1) + 1;
        let needed = 2 * count * from_each * (width * size_of::<u64>() + size_of::<u32>());
        let lists = parts.iter().flat_map(|part| &part.led_to);
        let present = lists.map(|(states, by)| {
            states.capacity() * size_of::<u64>() + by.capacity() * size_of::<u32>()
        });
        needed.saturating_sub(present.sum())
    }

    /// Bytes needed to add the successors in `parts`: tables grow, and each state may be new, and
    /// is then in a list of its table and in the frontier.
    pub(super) fn bytes_to_add(&mut self, parts: &[Part]) -> usize {
        let led_to = |table: usize| parts.iter().map(move |part| part.led_to[table].1.len()).sum();
        let added: Vec<usize> = (0..SPREAD).map(led_to).collect();
        let states = added.iter().sum::<usize>() * self.layout.width() * size_of::<u64>();
        let tables = self.known.tables().expect("batches are of states in tables");
        tables.growth(added.into_iter()) + 2 * states
    }
}
