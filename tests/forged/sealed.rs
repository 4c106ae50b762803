//! Files of searches with changed contents, and a checksum that is right for them.

use std::time::Duration;

use mazurka::explore::Part;
use mazurka::study::Task;
use serde_json::Value;

/// FNV-1a, as the files have it.
fn checksum(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The file with the right checksum for its content, if it has a checksum.
pub fn sealed(mut file: Value) -> String {
    let part = |name: &str| file[name].clone();
    let task = serde_json::from_value::<Task>(part("task"));
    let peak = serde_json::from_value::<Option<u64>>(part("peak_memory_bytes"));
    let spent = serde_json::from_value::<Option<Duration>>(part("spent"));
    let noted = serde_json::from_value::<Option<String>>(part("noted"));
    let branches = serde_json::from_value::<Part>(part("part"));
    if let (Ok(task), Ok(peak), Ok(spent), Ok(noted), Ok(part)) =
        (task, peak, spent, noted, branches)
    {
        let content = (task, peak, spent, noted, part);
        let content = serde_json::to_string(&content).expect("a part can be written");
        file["checksum"] = checksum(&content).into();
    }
    file.to_string()
}
