//! The memory that this process uses.
//!
//! Limits apply to allocated bytes, which the allocator counts: the number is exact and cheap to
//! read. Reports show the peak of resident memory, which the platform measures.

use std::fs;
use std::sync::OnceLock;

use super::Failure;

/// Returns the number of allocated bytes. Set once, by a program whose allocator counts.
static ALLOCATED: OnceLock<fn() -> u64> = OnceLock::new();

/// Sets the function that returns the number of allocated bytes. Only the first call has an effect.
pub(super) fn count_with(allocated: fn() -> u64) {
    ALLOCATED.get_or_init(|| allocated);
}

/// The number of bytes that are allocated now; 0 if no allocator counts them.
pub(super) fn in_use() -> u64 {
    ALLOCATED.get().map_or(0, |allocated| allocated())
}

/// Refuses a limit on memory if no allocator counts bytes.
pub(super) fn is_known() -> Result<(), Failure> {
    match in_use() {
        0 => Err(Failure::Usage(
            "--max-memory: the memory in use is not counted in this program".into(),
        )),
        _ => Ok(()),
    }
}

/// The peak of resident memory in bytes if the platform provides it, else the bytes allocated now;
/// `None` if neither is known.
pub(super) fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok();
    let peak = status.as_deref().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    });
    peak.or_else(|| Some(in_use()).filter(|&bytes| bytes > 0))
}
