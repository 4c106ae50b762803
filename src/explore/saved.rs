//! The state of a search in bytes, and who stores it.
//!
//! The bytes are trusted to be those that were saved. Who stores them has to find out whether they
//! were damaged. What cannot be read nevertheless is an error, not a panic.

use std::io::{self, Read, Write};

/// Stores the state of a search.
pub trait Keeper {
    /// Is the state to be saved now?
    fn is_due(&mut self) -> bool;

    /// Saves the state, which `write` writes.
    fn save(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>);

    /// The state that the search goes on from; `None` if it begins. Asked once.
    fn saved(&mut self) -> Option<Box<dyn Read + '_>>;
}

/// The error of a state that was read, and cannot be one of this search.
pub(super) fn stray() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

pub(super) fn write_number(to: &mut dyn Write, number: u64) -> io::Result<()> {
    to.write_all(&number.to_le_bytes())
}

pub(super) fn read_number(from: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn write_words(to: &mut dyn Write, words: &[u64]) -> io::Result<()> {
    write_list(to, words.iter().map(|word| word.to_le_bytes()))
}

pub(super) fn read_words(from: &mut dyn Read) -> io::Result<Vec<u64>> {
    let bytes = read_list(from, size_of::<u64>())?;
    Ok(bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect())
}

pub(super) fn write_numbers(to: &mut dyn Write, numbers: &[u32]) -> io::Result<()> {
    write_list(to, numbers.iter().map(|number| number.to_le_bytes()))
}

pub(super) fn read_numbers(from: &mut dyn Read) -> io::Result<Vec<u32>> {
    let bytes = read_list(from, size_of::<u32>())?;
    Ok(bytes.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number)).collect())
}

pub(super) fn write_bytes(to: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    write_number(to, bytes.len() as u64)?;
    to.write_all(bytes)
}

pub(super) fn read_bytes(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    read_list(from, 1)
}

/// Writes a list, after its length.
fn write_list<const SIZE: usize>(
    to: &mut dyn Write,
    mut entries: impl ExactSizeIterator<Item = [u8; SIZE]>,
) -> io::Result<()> {
    write_number(to, entries.len() as u64)?;
    let mut bytes = Vec::with_capacity(CHUNK * SIZE);
    while entries.len() > 0 {
        bytes.clear();
        bytes.extend(entries.by_ref().take(CHUNK).flatten());
        to.write_all(&bytes)?;
    }
    Ok(())
}

/// Entries of a list that are written at a time.
const CHUNK: usize = 1 << 12;

/// The bytes of a list of entries of this size. Allocates no more than there is.
fn read_list(from: &mut dyn Read, size: usize) -> io::Result<Vec<u8>> {
    let length = read_number(from)?.checked_mul(size as u64).ok_or_else(stray)?;
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(stray()) }
}
