//! [`std::alloc`], with memory that is used after it was freed found, and memory that is never
//! freed.
//!
//! A block is given back when the world ends, so that what is still used by mistake is there. Until
//! then accesses to atomics and cells in it are compared with its end, as accesses to cells are
//! compared with one another ([`cell`](super::cell)).

pub use std::alloc::Layout;

use std::collections::BTreeMap;
use std::panic::Location;

use rustc_hash::FxHashMap;

use super::ask::{Place, Running};
use crate::model::{Failure, FailureKind};
use crate::program::panics;
use crate::systems::history::tree::NodeId;

/// A block of memory.
struct Block {
    layout: Layout,
    place: Place,
    /// The last access of each thread.
    accesses: FxHashMap<NodeId, Access>,
    /// Where it was freed.
    freed: Option<Place>,
}

#[derive(Clone, Copy)]
struct Access {
    /// The history of the thread then.
    node: NodeId,
    place: Place,
}

/// The blocks of a world, by their addresses.
#[derive(Default)]
pub(super) struct Blocks(BTreeMap<usize, Block>);

/// A new block. See [`std::alloc::alloc`].
///
/// # Safety
/// As for [`std::alloc::alloc`]: the block has a size.
#[expect(unsafe_code, reason = "the signature of the standard library")]
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    let running = Running::current();
    running.shared.tracks();
    // SAFETY: promised by the caller.
    let pointer = unsafe { std::alloc::alloc(layout) };
    let place = Location::caller();
    let block = Block { layout, place, accesses: FxHashMap::default(), freed: None };
    running.blocks.borrow_mut().0.insert(pointer.expose_provenance(), block);
    pointer
}

/// A new block of zeros. See [`std::alloc::alloc_zeroed`].
///
/// # Safety
/// As for [`std::alloc::alloc_zeroed`]: the block has a size.
#[expect(unsafe_code, reason = "the signature of the standard library")]
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: promised by the caller; and a new block has room for as many bytes.
    unsafe {
        let pointer = alloc(layout);
        pointer.write_bytes(0, layout.size());
        pointer
    }
}

/// Frees a block. See [`std::alloc::dealloc`].
///
/// # Safety
/// As for [`std::alloc::dealloc`]: the block came from [`alloc`], with this layout.
#[expect(unsafe_code, reason = "the signature of the standard library")]
#[track_caller]
pub unsafe fn dealloc(pointer: *mut u8, _: Layout) {
    let (running, place) = (Running::current(), Location::caller());
    if running.is_ending.get() {
        // All blocks are given back after this.
        return;
    }
    let mut blocks = running.blocks.borrow_mut();
    let block = blocks.0.get_mut(&pointer.addr()).expect("a block that `alloc` has made");
    let own = running.thread.get();
    if let Some(freed) = block.freed {
        let (first, line) = (freed.line(), place.line());
        running.note_race(format!("memory is freed in line {first}, and again in {line}"), place);
    }
    let used = block.accesses.iter().find(|&(&of, access)| !running.knows(own, of, access.node));
    if let Some((_, access)) = used {
        running.note_race(used_after_free(access.place, place), access.place);
    }
    block.freed = Some(place);
}

fn used_after_free(used: Place, freed: Place) -> String {
    let (used, freed) = (used.line(), freed.line());
    format!(
        "use after free: memory is used in line {used}, and nothing orders that before line {freed}, where it is freed"
    )
}

impl Running {
    /// Notes that the running thread uses what is at this address.
    pub(super) fn uses<T: ?Sized>(&self, object: &T, place: Place) {
        let mut blocks = self.blocks.borrow_mut();
        if blocks.0.is_empty() || self.is_ending.get() {
            return;
        }
        let address = std::ptr::from_ref(object).addr();
        let Some((&start, block)) = blocks.0.range_mut(..=address).next_back() else { return };
        if address >= start + block.layout.size() {
            return;
        }
        if let Some(freed) = block.freed {
            self.note_race(used_after_free(place, freed), place);
        }
        let access = Access { node: self.node.get(), place };
        block.accesses.insert(self.thread.get(), access);
    }

    /// Memory that nobody has freed, at the end of an execution.
    pub(super) fn leak(&self) -> Option<Failure> {
        let blocks = self.blocks.borrow();
        let block = blocks
            .0
            .values()
            .filter(|block| block.freed.is_none())
            .min_by_key(|block| (block.place.file(), block.place.line()))?;
        let message = "the memory that is allocated here is never freed".into();
        let site = Some(panics::site(block.place));
        Some(Failure { kind: FailureKind::Error, message, site })
    }
}

/// Gives the blocks back. No code of the program runs any more.
impl Drop for Blocks {
    #[expect(unsafe_code, reason = "what `alloc` has got is given back here only")]
    fn drop(&mut self) {
        for (address, block) in &self.0 {
            let pointer = std::ptr::with_exposed_provenance_mut(*address);
            // SAFETY: `alloc` has got this block with this layout, and nothing else frees it.
            unsafe { std::alloc::dealloc(pointer, block.layout) };
        }
    }
}
