//! How much memory this process uses.
//!
//! Limits are about allocated bytes, which the allocator counts: that is exact at each moment and
//! cheap to ask. Reports tell the peak of resident memory, which the platform knows.

use std::fs;
use std::sync::OnceLock;

use super::Failure;

/// Set once, by the program whose allocator it asks.
static ALLOCATED: OnceLock<fn() -> u64> = OnceLock::new();

/// Sets how bytes are counted from now on.
pub(super) fn count_with(allocated: fn() -> u64) {
    ALLOCATED.get_or_init(|| allocated);
}

/// Bytes allocated now, 0 if nobody counts.
pub(super) fn in_use() -> u64 {
    ALLOCATED.get().map_or(0, |allocated| allocated())
}

/// Refuses a limit on memory where nobody counts it.
pub(super) fn is_known() -> Result<(), Failure> {
    match in_use() {
        0 => Err(Failure::Usage(
            "--max-memory: this platform does not tell how much memory is in use".into(),
        )),
        _ => Ok(()),
    }
}

/// The peak of resident bytes, if the platform tells it; else the bytes allocated now.
pub(super) fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok();
    let peak = status.as_deref().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    });
    peak.or_else(|| Some(in_use()).filter(|&bytes| bytes > 0))
}
