//! A description of the machine, for reports with times.

use std::fs;
use std::thread;

use bytesize::ByteSize;

/// `linux x86_64, 2 cores, Some Processor, 7.8 GiB of memory`, as far as the platform provides it.
pub(super) fn machine() -> String {
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let cores = thread::available_parallelism().ok().map(|cores| match cores.get() {
        1 => "1 core".into(),
        n => format!("{n} cores"),
    });
    let processor = entry("/proc/cpuinfo", "model name");
    let memory = entry("/proc/meminfo", "MemTotal").and_then(|size| {
        let kibibytes: u64 = size.strip_suffix("kB")?.trim().parse().ok()?;
        Some(format!("{} of memory", ByteSize::kib(kibibytes)))
    });
    let parts = [Some(system), cores, processor, memory];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The first value with this name in a file of lines `name : value`.
fn entry(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim().to_owned())
}
