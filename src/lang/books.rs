//! What a process remembers about the objects that it uses, besides its variables.
//!
//! The model wants operations to be well-formed: a wait names the process's own request. Programs
//! name the mutex instead. The books tell which request is meant, and whether there is one.

use super::objects::ObjectKind;
use crate::model::{Handle, Value};

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Subject {
    /// The object of this kind with this number.
    Object(ObjectKind, u32),
    /// A communication.
    Comm,
    /// A template for `spawn`.
    Template(u32),
}

/// One fact about an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Entry {
    /// A request for the object, or a post there, that has not ended. Does the process know that it
    /// was granted?
    Request { of: Subject, handle: Handle, is_granted: bool },
    /// A number of what has happened with the subject. An object may have several such numbers,
    /// told apart by `what`.
    Count { of: Subject, what: u8, count: u32 },
    /// The process has seen a communication complete.
    Received(Handle, Value),
    /// The process has cancelled this receive.
    Cancelled(Handle),
}

impl Entry {
    /// Its place in the books: requests for the same object by age.
    fn key(&self) -> (Subject, u32, u8) {
        match *self {
            Entry::Request { of, handle, .. } => (of, handle.0, 0),
            Entry::Count { of, what, .. } => (of, u32::MAX, what),
            Entry::Received(handle, _) => (Subject::Comm, handle.0, 0),
            Entry::Cancelled(handle) => (Subject::Comm, handle.0, 1),
        }
    }

    /// The request that it names.
    fn handle(&self) -> Option<Handle> {
        match self {
            Entry::Request { handle, .. } | Entry::Received(handle, _) => Some(*handle),
            Entry::Cancelled(handle) => Some(*handle),
            Entry::Count { .. } => None,
        }
    }
}

/// All facts, in a canonical order, so that books with the same facts are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Books(Vec<Entry>);

impl Books {
    fn insert(&mut self, entry: Entry) {
        let at = self.0.partition_point(|other| other.key() <= entry.key());
        self.0.insert(at, entry);
    }

    /// The place of the oldest request for an object.
    fn oldest(&self, kind: ObjectKind, object: u32) -> Option<usize> {
        let wanted = Subject::Object(kind, object);
        self.0.iter().position(|entry| matches!(entry, Entry::Request { of, .. } if *of == wanted))
    }

    /// The oldest request for an object that has not ended.
    pub(crate) fn request(&self, kind: ObjectKind, object: u32) -> Option<Handle> {
        self.oldest(kind, object).and_then(|at| self.0[at].handle())
    }

    /// Notes a request.
    pub(crate) fn requested(&mut self, kind: ObjectKind, object: u32, handle: Handle) {
        let of = Subject::Object(kind, object);
        self.insert(Entry::Request { of, handle, is_granted: false });
    }

    /// Does the process know that its oldest request was granted? Being first in the queue of a
    /// mutex is not enough: it has to have waited, or to have been told so by a test.
    pub(crate) fn is_granted(&self, kind: ObjectKind, object: u32) -> bool {
        let oldest = self.oldest(kind, object).map(|at| &self.0[at]);
        matches!(oldest, Some(Entry::Request { is_granted: true, .. }))
    }

    /// Notes that the process knows this.
    pub(crate) fn granted(&mut self, kind: ObjectKind, object: u32) {
        if let Some(at) = self.oldest(kind, object)
            && let Entry::Request { is_granted, .. } = &mut self.0[at]
        {
            *is_granted = true;
        }
    }

    /// Notes that the oldest request has ended.
    pub(crate) fn ended(&mut self, kind: ObjectKind, object: u32) {
        if let Some(at) = self.oldest(kind, object) {
            self.0.remove(at);
        }
    }

    /// How often this has happened with an object.
    pub(crate) fn count(&self, kind: ObjectKind, object: u32, what: u8) -> u32 {
        self.counted(Subject::Object(kind, object), what)
    }

    /// Notes that it has happened once more.
    pub(crate) fn count_up(&mut self, kind: ObjectKind, object: u32, what: u8) {
        self.note_one_more(Subject::Object(kind, object), what);
    }

    /// How many processes of a template were spawned.
    pub(crate) fn spawned(&self, template: u32) -> u32 {
        self.counted(Subject::Template(template), 0)
    }

    /// Notes one more.
    pub(crate) fn count_spawn(&mut self, template: u32) {
        self.note_one_more(Subject::Template(template), 0);
    }

    fn counted(&self, subject: Subject, wanted: u8) -> u32 {
        let found = self.0.iter().find_map(|entry| match *entry {
            Entry::Count { of, what, count } if of == subject && what == wanted => Some(count),
            _ => None,
        });
        found.unwrap_or(0)
    }

    fn note_one_more(&mut self, of: Subject, what: u8) {
        let entry = Entry::Count { of, what, count: self.counted(of, what) + 1 };
        self.0.retain(|other| other.key() != entry.key());
        self.insert(entry);
    }

    /// The value of a communication that the process has observed complete.
    pub(crate) fn received(&self, comm: Handle) -> Option<&Value> {
        self.0.iter().find_map(|entry| match entry {
            Entry::Received(handle, value) if *handle == comm => Some(value),
            _ => None,
        })
    }

    /// Notes that the process has observed a communication complete, with this value.
    pub(crate) fn completed(&mut self, comm: Handle, value: Value) {
        if self.received(comm).is_none() {
            self.insert(Entry::Received(comm, value));
        }
    }

    /// Notes that the process has cancelled a receive.
    pub(crate) fn cancelled(&mut self, comm: Handle) {
        self.insert(Entry::Cancelled(comm));
    }

    /// Has the process cancelled this receive?
    pub(crate) fn is_cancelled(&self, comm: Handle) -> bool {
        self.0.contains(&Entry::Cancelled(comm))
    }

    /// Removes communications that do not occur in a value on `stack`.
    pub(crate) fn forget_unnamed(&mut self, stack: &[Value]) {
        self.0.retain(|entry| match entry {
            Entry::Received(handle, _) | Entry::Cancelled(handle) => {
                stack.iter().any(|value| names(value, *handle))
            }
            _ => true,
        });
    }

    /// All entries: the object that an entry is about, and what it says about it, as a text that
    /// differs for different facts.
    pub(crate) fn about(&self) -> impl Iterator<Item = (Option<(ObjectKind, u32)>, String)> {
        self.0.iter().map(|entry| match entry {
            Entry::Request { of: Subject::Object(kind, number), handle, is_granted } => {
                (Some((*kind, *number)), format!("r {} {is_granted}", handle.0))
            }
            Entry::Count { of: Subject::Object(kind, number), what, count } => {
                (Some((*kind, *number)), format!("c {what} {count}"))
            }
            other => (None, format!("{other:?}")),
        })
    }

    /// All requests in the books.
    pub(crate) fn requests(&self) -> impl Iterator<Item = Handle> {
        self.0.iter().filter_map(Entry::handle)
    }

    /// The books with each request renamed by `name`, which must preserve the order of requests.
    pub(crate) fn renamed(&self, name: &dyn Fn(Handle) -> Handle) -> Books {
        let mut renamed = self.clone();
        for entry in &mut renamed.0 {
            match entry {
                Entry::Request { handle, .. } | Entry::Received(handle, _) => {
                    *handle = name(*handle)
                }
                Entry::Cancelled(handle) => *handle = name(*handle),
                Entry::Count { .. } => {}
            }
        }
        renamed
    }
}

/// Does the communication occur in the value?
fn names(value: &Value, comm: Handle) -> bool {
    match value {
        Value::Comm(handle) => *handle == comm,
        Value::Tuple(parts) => parts.iter().any(|part| names(part, comm)),
        Value::List(items) => items.iter().any(|item| names(item, comm)),
        Value::Map(map) => map.values().iter().any(|item| names(item, comm)),
        _ => false,
    }
}
