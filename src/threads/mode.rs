//! What a search has to know of a program before it begins. It may turn out on the way; then the
//! search is done once more.

use std::collections::BTreeMap;
use std::panic::Location;

/// Which operations on handles of a content are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counting {
    /// Drops, because it matters who drops the last one.
    Drops,
    /// Drops and clones, because the program asks how many there are.
    All,
}

/// What a search has to know of the program before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mode {
    /// Is some mutex tried? Then all have to be declared in another way.
    pub(super) is_tried: bool,
    /// Are accesses to cells compared?
    pub(super) tracks: bool,
    /// How often each thread may wake for no reason.
    pub(super) spurious: u32,
    /// How often exchanges of each thread may fail for no reason.
    pub(super) failures: u32,
    /// Is the poison of some lock cleared? Then each lock reads whether it is poisoned.
    pub(super) heals: bool,
    /// Are stacks forgotten that are given up?
    pub(super) forgets: bool,
    /// How handles are counted, by the address of the place where the first one was made. A channel
    /// that was made there is a queue.
    pub(super) counted: BTreeMap<usize, Counting>,
}

impl Mode {
    /// How handles are counted whose first one was made there.
    pub(super) fn counting(&self, place: &'static Location<'static>) -> Option<Counting> {
        self.counted.get(&address(place)).copied()
    }
}

/// The address of a place, which distinguishes it.
pub(super) fn address(place: &'static Location<'static>) -> usize {
    std::ptr::from_ref(place).addr()
}
