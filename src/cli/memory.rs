//! How much memory this process uses.

use std::fs;

/// Bytes in use now, 0 if the platform does not tell.
pub(super) fn in_use() -> u64 {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64)
}

/// The most bytes that were ever in use, if the platform tells; where it tells only what is in use now,
/// that.
pub(super) fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok();
    let peak = status.as_deref().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    });
    peak.or_else(|| Some(in_use()).filter(|&bytes| bytes > 0))
}
