//! Damage to files.

use serde_json::{Map, Value, json};

use super::rng::Rng;

/// How deep values are nested that nobody would write.
const DEEP: usize = 50_000;

/// Changes some bytes, or the number of them; `other` is another file of the kind.
pub fn damaged_bytes(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    if bytes.is_empty() {
        bytes.extend(other);
        return;
    }
    let at = rng.below(bytes.len());
    let length = (1 + rng.below(40)).min(bytes.len() - at);
    match rng.below(11) {
        0 | 1 => bytes[at] ^= 1 << rng.below(8),
        2 => bytes[at] = *rng.pick(b"\x00\xff\x7f\x80 0-9,:[]{}\"\n"),
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..at + length)),
        5 => {
            let again = bytes[at..at + length].to_vec();
            bytes.splice(at..at, again);
        }
        6 => {
            let from = rng.below(other.len().max(1));
            bytes.splice(at.., other.get(from..).unwrap_or_default().iter().copied());
        }
        // A number of bytes, or an offset, that is far too large.
        7 => bytes[at..at + length.min(8)].fill(*rng.pick(&[0xff, 0x7f, 0x80, 0])),
        8 => with_number(bytes, rng),
        9 => {
            // A line twice: a key, an entry.
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
            let line = rng.below(lines.len());
            lines.insert(line, lines[line]);
            *bytes = lines.concat();
        }
        _ if rng.chance(10) => {
            let open = *rng.pick(b"[{(");
            bytes.splice(at..at, std::iter::repeat_n(open, DEEP));
        }
        _ => drop(bytes.remove(at)),
    }
}

/// Another number in the place of one that is written in digits.
fn with_number(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let is_start =
        |at: usize| bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit());
    let starts: Vec<usize> = (0..bytes.len()).filter(|&at| is_start(at)).collect();
    if starts.is_empty() {
        return;
    }
    let start = *rng.pick(&starts);
    let end = (start..bytes.len()).find(|&at| !bytes[at].is_ascii_digit()).unwrap_or(bytes.len());
    let number = *rng.pick(&[
        "0",
        "1",
        "2",
        "7",
        "-1",
        "65535",
        "65536",
        "2147483648",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "1e400",
        "",
    ]);
    bytes.splice(start..end, number.bytes());
}

/// Changes something anywhere in a value; `other` is another file of the kind.
pub fn damaged_json(file: &mut Value, other: &Value, rng: &mut Rng) {
    let mut all = Vec::new();
    spots(file, String::new(), &mut all);
    let spot = rng.pick(&all).clone();
    let elsewhere = file.pointer(rng.pick::<String>(&all)).cloned().expect("a spot");
    // The same place in another file, if it has that.
    let elsewhere = match other.pointer(&spot) {
        Some(value) if rng.chance(40) => value.clone(),
        _ => elsewhere,
    };
    let value = file.pointer_mut(&spot).expect("a spot");
    let odd = [
        json!(0),
        json!(1),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(u32::MAX),
        json!(1e300),
        json!(""),
        json!([]),
        json!({}),
        Value::Null,
        json!(true),
    ];
    match value {
        _ if rng.chance(20) => *value = elsewhere,
        Value::Number(_) if rng.chance(80) => *value = rng.pick(&odd[..7]).clone(),
        Value::Bool(is_so) => *is_so = !*is_so,
        Value::String(text) if rng.chance(80) => {
            let mut bytes = std::mem::take(text).into_bytes();
            damaged_bytes(&mut bytes, b"0,1x2,0x4294967295/", rng);
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        Value::Array(items) if !items.is_empty() && rng.chance(80) => {
            let (at, to) = (rng.below(items.len()), rng.below(items.len()));
            match rng.below(4) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[to].clone()),
                2 => items.swap(at, to),
                _ => items.truncate(at),
            }
        }
        Value::Object(fields) if !fields.is_empty() && rng.chance(80) => without_one(fields, rng),
        _ => *value = rng.pick(&odd).clone(),
    }
}

/// An object without one of its fields, or with that under another name.
fn without_one(fields: &mut Map<String, Value>, rng: &mut Rng) {
    let keys: Vec<String> = fields.keys().cloned().collect();
    let moved = fields.remove(rng.pick::<String>(&keys)).expect("a field");
    if rng.chance(50) {
        let mut bytes = rng.pick(&keys).clone().into_bytes();
        if rng.chance(50) {
            damaged_bytes(&mut bytes, b"/0/1", rng);
        }
        fields.insert(String::from_utf8_lossy(&bytes).into_owned(), moved);
    }
}

/// The places in a value that can be changed.
fn spots(value: &Value, path: String, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, field)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            spots(field, format!("{path}/{key}"), into);
        }),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, item)| spots(item, format!("{path}/{at}"), into));
        }
        _ => {}
    }
    into.push(path);
}
