//! What a write leaves in a cell of the model: the history of the writer, and for an atomic its
//! bits.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::system::Shared;
use crate::model::{Opaque, Update, Value};
use crate::random::mix;
use crate::systems::history::tree::NodeId;

/// The history of a thread when it left something in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Token(pub(super) NodeId);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AsMade.fmt(f)
    }
}

impl Token {
    /// The token as the content of a cell.
    pub(super) fn value(self) -> Value {
        Value::Opaque(Opaque::new(self))
    }

    /// The token that is this content; `None` for what a cell begins with.
    pub(super) fn of(content: &Value) -> Option<Token> {
        let Value::Opaque(content) = content else { return None };
        content.get().copied()
    }
}

/// The content of a cell that nobody has written.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct AsMade;

/// What a token means is nothing that a reader of a counterexample can use.
impl fmt::Debug for AsMade {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// The content of an atomic.
///
/// What an update writes depends on what it finds. So the history in which a thread asks for an
/// update does not name what it writes; with the content that was updated it does.
#[derive(Clone)]
pub(super) struct Word {
    pub(super) bits: u64,
    /// The history in which the writer asked for the operation.
    pub(super) by: NodeId,
    /// The content that it updated, if it did not just overwrite it.
    pub(super) updated: Option<Value>,
    /// How the bits are shown; pointers are not.
    width: Option<Width>,
    hash: u64,
}

impl Word {
    pub(super) fn new(bits: u64, width: Option<Width>, by: NodeId, updated: Option<Value>) -> Word {
        let before =
            updated.as_ref().map_or(0, |value| Word::of(value).map_or(1, |word| word.hash));
        Word { bits, by, updated, width, hash: mix(before ^ mix(u64::from(by) ^ mix(bits))) }
    }

    pub(super) fn value(self) -> Value {
        Value::Opaque(Opaque::new(self))
    }

    /// The word that is this content; `None` for what a cell begins with.
    pub(super) fn of(content: &Value) -> Option<&Word> {
        let Value::Opaque(content) = content else { return None };
        content.get()
    }
}

/// As a counterexample shows it.
impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.width {
            Some(Width { bits: 1, .. }) => (self.bits & 1 == 1).fmt(f),
            Some(width) => width.number(self.bits).fmt(f),
            None => Ok(()),
        }
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        (self.hash, self.bits, self.by) == (other.hash, other.bits, other.by)
            && self.updated == other.updated
    }
}

impl Eq for Word {}

impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// What a turn is asked for with: the history of the thread.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Turn(pub(super) NodeId);

impl Update for Turn {
    fn update(&self, content: &Value) -> Option<Value> {
        let before = Turned::of(content).map_or(1, |before| before.hash);
        let hash = mix(before ^ mix(u64::from(self.0)));
        let turned = Turned { by: self.0, before: content.clone(), hash };
        Some(Value::Opaque(Opaque::new(turned)))
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AsMade.fmt(f)
    }
}

/// The turns that threads have taken, up to one.
///
/// What a thread does in its turn depends on those before. So it does that when it has observed
/// them, in the history that comes after this one.
pub(super) struct Turned {
    /// The history in which the thread asked for the last one.
    pub(super) by: NodeId,
    /// Those before, which that thread has observed.
    pub(super) before: Value,
    hash: u64,
}

impl Turned {
    /// The turns that this content says; `None` if it is what a cell begins with.
    pub(super) fn of(content: &Value) -> Option<&Turned> {
        let Value::Opaque(content) = content else { return None };
        content.get()
    }
}

impl fmt::Debug for Turned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AsMade.fmt(f)
    }
}

impl PartialEq for Turned {
    fn eq(&self, other: &Turned) -> bool {
        (self.hash, self.by) == (other.hash, other.by) && self.before == other.before
    }
}

impl Eq for Turned {}

impl Hash for Turned {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// An integer type of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Width {
    pub(super) bits: u32,
    pub(super) is_signed: bool,
}

impl Width {
    /// The bits of a number that belong to this type.
    fn cut(self, bits: u64) -> u64 {
        bits & (u64::MAX >> (64 - self.bits))
    }

    /// The number with these bits.
    fn number(self, bits: u64) -> i128 {
        let unused = 64 - self.bits;
        match self.is_signed {
            true => i128::from(((bits << unused) as i64) >> unused),
            false => i128::from(self.cut(bits)),
        }
    }
}

/// What an update makes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Change {
    Swap(u64),
    Add(u64),
    Sub(u64),
    And(u64),
    Nand(u64),
    Or(u64),
    Xor(u64),
    Max(u64),
    Min(u64),
    /// Only if it is the first: then the second.
    Exchange(u64, u64),
}

impl Change {
    /// The new bits, unless they stay as they are because an exchange fails.
    pub(super) fn apply(self, width: Width, old: u64) -> Option<u64> {
        let new = match self {
            Change::Swap(new) => new,
            Change::Add(by) => old.wrapping_add(by),
            Change::Sub(by) => old.wrapping_sub(by),
            Change::And(with) => old & with,
            Change::Nand(with) => !(old & with),
            Change::Or(with) => old | with,
            Change::Xor(with) => old ^ with,
            Change::Max(other) if width.number(other) > width.number(old) => other,
            Change::Min(other) if width.number(other) < width.number(old) => other,
            Change::Max(_) | Change::Min(_) => old,
            Change::Exchange(expected, new) => {
                return (width.cut(expected) == width.cut(old)).then(|| width.cut(new));
            }
        };
        Some(width.cut(new))
    }
}

/// An update of an atomic. One that leaves the bits as they are is no write: then nobody can tell
/// whether it has happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Updating {
    pub(super) change: Change,
    pub(super) width: Width,
    /// The bits that the atomic begins with.
    pub(super) first: u64,
    pub(super) by: NodeId,
}

impl Update for Updating {
    fn update(&self, content: &Value) -> Option<Value> {
        let old = Word::of(content).map_or(self.first, |word| word.bits);
        let bits =
            self.change.apply(self.width, old).filter(|&bits| bits != self.width.cut(old))?;
        Some(Word::new(bits, Some(self.width), self.by, Some(content.clone())).value())
    }
}

/// What an operation on a pointer does, in memory: the addresses that it expects and writes, and
/// the one that the pointer began with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointers {
    pub(super) expected: usize,
    pub(super) new: usize,
    pub(super) first: usize,
}

/// An update of a pointer. Where it points is known only to a world that runs its threads.
pub(super) struct Repointing {
    pub(super) shared: Arc<Shared>,
    pub(super) by: NodeId,
    /// Is it done only if the pointer is the expected one?
    pub(super) expects: bool,
}

impl Update for Repointing {
    fn update(&self, content: &Value) -> Option<Value> {
        let is_done = !self.expects || self.shared.finds_expected(self.by, content);
        is_done.then(|| Word::new(0, None, self.by, Some(content.clone())).value())
    }
}

impl fmt::Debug for Repointing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pointer")
    }
}

impl PartialEq for Repointing {
    fn eq(&self, other: &Repointing) -> bool {
        (self.by, self.expects) == (other.by, other.expects)
    }
}

impl Eq for Repointing {}

impl Hash for Repointing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.by, self.expects).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_around_in_their_type() {
        let (byte, signed) =
            (Width { bits: 8, is_signed: false }, Width { bits: 8, is_signed: true });
        assert_eq!(Change::Add(3).apply(byte, 254), Some(1));
        assert_eq!(Change::Sub(1).apply(byte, 0), Some(255));
        assert_eq!(Change::Max(0xff).apply(signed, 1), Some(1), "-1 is less than 1");
        assert_eq!(Change::Min(0xff).apply(signed, 1), Some(0xff));
        assert_eq!(Change::Max(0xff).apply(byte, 1), Some(0xff));
        assert_eq!(Change::Nand(3).apply(byte, 1), Some(0xfe));
        assert_eq!(Change::Exchange(2, 7).apply(byte, 1), None);
        let wide = Width { bits: 64, is_signed: true };
        assert_eq!(Change::Add(1).apply(wide, u64::MAX), Some(0));
    }

    #[test]
    fn a_word_is_named_by_its_writer_and_what_was_updated() {
        let add = |by| Updating {
            change: Change::Add(1),
            width: Width { bits: 32, is_signed: true },
            first: 5,
            by,
        };
        let first = add(3).update(&Value::Unit).expect("a change");
        assert_eq!(Word::of(&first).map(|word| word.bits), Some(6));
        let (second, other) = (add(4).update(&first), add(4).update(&Value::Unit));
        assert_ne!(second, other);
        assert_eq!(second, add(4).update(&add(3).update(&Value::Unit).unwrap()));
    }
}
