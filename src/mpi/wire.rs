//! The wire between the search and a rank. `c/wire.c` is the other end, and describes what is sent
//! when.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::model::{Opaque, Value};
use crate::systems::history::Told;

/// Bytes that only ranks interpret: a message, or the contribution of a rank to a collective.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Data {
    bytes: Arc<[u8]>,
    /// The number of bytes that belong to the program.
    shown: u32,
    /// The values in these bytes, as text, if there are only a few.
    values: Box<str>,
    /// Whether this is a message that was sent in ready mode.
    is_ready: bool,
}

impl Data {
    /// Bytes of the library, as a value.
    pub(super) fn value(bytes: &[u8]) -> Value {
        Data::with(bytes, (bytes.len() as u32, String::new()), false)
    }

    /// A message or contribution, with the number of bytes and the values that reports show.
    pub(super) fn of(parts: &mut Parts<'_>, is_ready: bool) -> Result<Value, Short> {
        let values = (parts.u32()?, parts.text()?);
        Ok(Data::with(parts.block()?, values, is_ready))
    }

    /// The number of bytes of a value that belong to the program.
    pub(super) fn shown(value: &Value) -> Option<u64> {
        match value {
            Value::Opaque(data) => data.get::<Data>().map(|data| data.shown.into()),
            _ => None,
        }
    }

    fn with(bytes: &[u8], (shown, values): (u32, String), is_ready: bool) -> Value {
        let (bytes, values) = (bytes.into(), values.into());
        Value::Opaque(Opaque::new(Data { bytes, shown, values, is_ready }))
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shown {
            0 => f.write_str("nothing")?,
            1 => f.write_str("1 byte")?,
            shown => write!(f, "{shown} bytes")?,
        }
        if self.values.is_empty() { Ok(()) } else { write!(f, " ({})", self.values) }
    }
}

/// Sends a frame.
pub(super) fn send(to: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let mut frame = Vec::with_capacity(body.len() + 4);
    frame.put_block(body);
    to.write_all(&frame)
}

/// Receives a frame. Memory is allocated as bytes arrive, whatever length the frame claims.
pub(super) fn receive(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_ne_bytes(length);
    let mut body = Vec::new();
    from.take(length.into()).read_to_end(&mut body)?;
    match body.len() == length as usize {
        true => Ok(body),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Writes the parts of a frame.
pub(super) trait Put {
    fn put_u32(&mut self, value: u32);
    fn put_block(&mut self, bytes: &[u8]);
    fn put_value(&mut self, value: &Value);
    fn put_observation(&mut self, told: &Told);
}

impl Put for Vec<u8> {
    fn put_u32(&mut self, value: u32) {
        self.extend(value.to_ne_bytes());
    }

    fn put_block(&mut self, bytes: &[u8]) {
        self.put_u32(bytes.len() as u32);
        self.extend(bytes);
    }

    /// Appends a value: `n` for nothing, `o` for data, `g` for contributions of ranks, `b` for a
    /// bool.
    fn put_value(&mut self, value: &Value) {
        match value {
            Value::Opaque(data) => {
                self.push(b'o');
                self.put_block(&data.get::<Data>().expect("what a rank has sent").bytes);
            }
            Value::Gathered { given, .. } => {
                self.push(b'g');
                self.put_u32(given.len() as u32);
                given.iter().for_each(|one| self.put_value(one));
            }
            Value::Bool(is_so) => self.extend([b'b', u8::from(*is_so)]),
            _ => self.push(b'n'),
        }
    }

    /// Appends an observation: `U` it happened, `H` a request number, `K` something is complete,
    /// `I` nothing is complete, `P` the result of a probe, `V` a value, `C` what was
    /// chosen.
    fn put_observation(&mut self, told: &Told) {
        match told {
            Told::Posted(handle) => {
                self.push(b'H');
                self.put_u32(handle.0);
            }
            Told::Completed { index, value } => {
                self.push(b'K');
                self.put_u32(*index);
                self.put_value(value);
            }
            Told::Incomplete => self.push(b'I'),
            Told::Value(Value::Tuple(parts)) => self.put_probed(parts),
            Told::Value(value) => {
                self.push(b'V');
                self.put_value(value);
            }
            &Told::Chosen(number) => {
                self.push(b'C');
                self.put_u32(number as u32);
            }
            Told::Unit | Told::Spawned(_) | Told::Overflow => self.push(b'U'),
        }
    }
}

trait PutProbed {
    fn put_probed(&mut self, parts: &[Value]);
}

impl PutProbed for Vec<u8> {
    /// Appends the result of a probe: see [`State::probed`](crate::model::State::probed). The
    /// message comes last, if there is one.
    fn put_probed(&mut self, parts: &[Value]) {
        match parts.last() {
            Some(message @ Value::Opaque(_)) => {
                let handle = parts.iter().find_map(|part| match part {
                    Value::Comm(handle) => Some(handle.0),
                    _ => None,
                });
                self.push(b'P');
                self.put_u32(handle.unwrap_or(0));
                self.put_value(message);
            }
            _ => self.push(b'I'),
        }
    }
}

/// Reads the parts of a frame, one after the other.
pub(super) struct Parts<'f>(pub(super) &'f [u8]);

/// The frame is shorter than its contents require.
#[derive(Debug)]
pub(super) struct Short;

impl<'f> Parts<'f> {
    fn take(&mut self, length: usize) -> Result<&'f [u8], Short> {
        let (first, rest) = self.0.split_at_checked(length).ok_or(Short)?;
        self.0 = rest;
        Ok(first)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        Ok(self.take(N)?.try_into().expect("as many as asked for"))
    }

    pub(super) fn u8(&mut self) -> Result<u8, Short> {
        self.array().map(u8::from_ne_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Short> {
        self.array().map(u32::from_ne_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Short> {
        self.array().map(i32::from_ne_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Short> {
        self.array().map(u64::from_ne_bytes)
    }

    pub(super) fn u64s(&mut self) -> Result<Vec<u64>, Short> {
        (0..self.u32()?).map(|_| self.u64()).collect()
    }

    pub(super) fn block(&mut self) -> Result<&'f [u8], Short> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    pub(super) fn text(&mut self) -> Result<String, Short> {
        self.block().map(readable)
    }
}

/// A text of a program, made safe for a terminal: control characters are written as escapes, such
/// as `\u{1b}`.
pub(super) fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let is_plain = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || turns(c));
    match text.chars().all(is_plain) {
        true => text,
        false => text.chars().fold(String::new(), |mut shown, c| {
            match is_plain(c) {
                true => shown.push(c),
                false => shown.extend(c.escape_unicode()),
            }
            shown
        }),
    }
}

/// Whether the character changes the direction of text.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_no_text_of_a_program() {
        assert_eq!(readable(b"a\tb\r\nc \xc3\xa4\n"), "a\tb\nc \u{e4}\n");
        assert_eq!(readable(b"\x1b[2J\x07 \r"), "\\u{1b}[2J\\u{7} \\u{d}");
        assert_eq!(readable("\u{9b}2J\u{202e}".as_bytes()), "\\u{9b}2J\\u{202e}");
        assert_eq!(readable(b"\xff\x00"), "\u{fffd}\\u{0}");
    }
}
