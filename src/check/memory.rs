//! The memory that this process uses. A test has no allocator that counts, as the command line has.

use std::fs;

/// The resident memory in bytes; `None` if the platform does not tell (only Linux does).
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The number of bytes in use; 0 if that is not known.
pub(super) fn in_use() -> u64 {
    resident().unwrap_or(0)
}

/// Is the memory in use known here?
pub(super) fn is_known() -> bool {
    resident().is_some()
}
