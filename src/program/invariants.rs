//! What must hold in every state.
//!
//! A search has to know what an invariant reads, since the order of changes of these objects
//! matters. But what a closure reads is known only when it has run. So each is run on the initial
//! state; and if one reads something new later, the search is given up and done once more. In the
//! search that counts, no invariant has read anything else. So in two states that are the same in
//! what is known, it reads the same and says the same.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::data::Data;
use super::locks::{Mutex, RwLock as Lock};
use super::mailboxes::Mailbox;
use super::shared::Cell;
use super::{End, panics};
use crate::model::{
    CellId, Contents, Failure, FailureKind, Invariants, MailboxId, Object, Objects, ProcessId,
    Value, View,
};
use crate::systems::history::Local;

/// A state of a program, as an invariant reads it.
#[derive(Clone, Copy)]
pub struct State<'s> {
    contents: End<'s>,
    lengths: &'s dyn Fn(MailboxId) -> usize,
}

impl State<'_> {
    /// What a cell contains.
    pub fn read<T: Data>(self, cell: Cell<T>) -> T {
        self.contents.read(cell)
    }

    /// What a mutex guards. A process that has locked the mutex writes it back when it unlocks.
    pub fn inside<T: Data>(self, mutex: Mutex<T>) -> T {
        self.contents.inside(mutex)
    }

    /// What a reader-writer lock guards. A process writes it back when it unlocks.
    pub fn inside_rwlock<T: Data>(self, lock: Lock<T>) -> T {
        self.contents.inside_rwlock(lock)
    }

    /// The number of messages that were sent to a mailbox, and have not met a receive yet.
    pub fn len<T: Data>(self, mailbox: Mailbox<T>) -> usize {
        let named = mailbox.named();
        self.contents.expect(named);
        (self.lengths)(named.id)
    }
}

type Judge = dyn Fn(State<'_>) + Send + Sync;

/// An invariant, and what it is known to read.
pub(super) struct Invariant {
    name: String,
    judge: Box<Judge>,
    program: u32,
    seen: RwLock<Seen>,
    /// Has it read something new in this search?
    has_grown: AtomicBool,
}

#[derive(Default)]
struct Seen {
    cells: BTreeSet<CellId>,
    mailboxes: BTreeSet<MailboxId>,
}

/// What an invariant has read in a state, in order, and whether it failed.
struct Judged {
    cells: Vec<(CellId, Value)>,
    mailboxes: Vec<(MailboxId, usize)>,
    failure: Option<Failure>,
}

impl Invariant {
    pub(super) fn new(name: String, program: u32, judge: Box<Judge>) -> Invariant {
        let (seen, has_grown) = (RwLock::default(), AtomicBool::new(false));
        Invariant { name, judge, program, seen, has_grown }
    }

    // No closure runs while the lock is held.
    fn seen(&self) -> RwLockReadGuard<'_, Seen> {
        self.seen.read().expect("nobody panics while it is held")
    }

    fn seen_mut(&self) -> RwLockWriteGuard<'_, Seen> {
        self.seen.write().expect("nobody panics while it is held")
    }

    /// Runs it on the initial state, to find out what it reads.
    fn begin(&self, objects: &Objects) {
        let judged = self.judged(&|cell| objects.cells.start(cell.0).clone(), &|_| 0);
        self.learns(&judged);
    }

    /// From now on, what it has read here is known. Returns whether it was.
    fn learns(&self, judged: &Judged) -> bool {
        let knows = {
            let seen = self.seen();
            judged.cells.iter().all(|(cell, _)| seen.cells.contains(cell))
                && judged.mailboxes.iter().all(|(mailbox, _)| seen.mailboxes.contains(mailbox))
        };
        if !knows {
            let mut seen = self.seen_mut();
            seen.cells.extend(judged.cells.iter().map(|(cell, _)| cell));
            seen.mailboxes.extend(judged.mailboxes.iter().map(|(mailbox, _)| mailbox));
        }
        knows
    }

    fn judged(&self, cells: Contents<'_>, lengths: &dyn Fn(MailboxId) -> usize) -> Judged {
        let read = RefCell::new((Vec::new(), Vec::new()));
        let contents = |cell| {
            let content: Value = cells(cell);
            read.borrow_mut().0.push((cell, content.clone()));
            content
        };
        let lengths = |mailbox| {
            let length = lengths(mailbox);
            read.borrow_mut().1.push((mailbox, length));
            length
        };
        let contents = End { contents: &contents, program: self.program };
        let state = State { contents, lengths: &lengths };
        let failure = panics::guarded(|| (self.judge)(state)).err();
        let failure = failure.map(|failure| Failure {
            message: format!("{}: {}", self.name, failure.message),
            ..failure
        });
        let (cells, mailboxes) = read.into_inner();
        Judged { cells, mailboxes, failure }
    }
}

/// The invariants of a program.
pub(super) struct All {
    invariants: Vec<Invariant>,
    objects: Objects,
}

impl All {
    /// These invariants of a program with these objects; `None` if there are none.
    pub(super) fn of(invariants: Vec<Invariant>, objects: &Objects) -> Option<All> {
        invariants.iter().for_each(|invariant| invariant.begin(objects));
        (!invariants.is_empty()).then(|| All { invariants, objects: objects.clone() })
    }

    /// Whether an invariant has read something in the last search that was not known before.
    pub(super) fn have_learnt(&self) -> bool {
        let swap = |invariant: &Invariant| invariant.has_grown.swap(false, Ordering::Relaxed);
        self.invariants.iter().filter(|invariant| swap(invariant)).count() > 0
    }

    fn judged(&self, invariant: usize, at: &View<'_, Local>) -> Judged {
        self.invariants[invariant].judged(at.cells, at.lengths)
    }
}

impl Invariants<Local> for All {
    fn count(&self) -> usize {
        self.invariants.len()
    }

    fn judge(&self, number: usize, at: &View<'_, Local>) -> Option<Failure> {
        let (invariant, judged) = (&self.invariants[number], self.judged(number, at));
        if !invariant.learns(&judged) {
            invariant.has_grown.store(true, Ordering::Relaxed);
        }
        let unknown = || Failure {
            kind: FailureKind::Error,
            message: format!(
                "the invariant {} reads what was not known before: the search has to be done again, \
                 within `System::attempt`",
                invariant.name
            ),
            site: None,
        };
        let has_grown = invariant.has_grown.load(Ordering::Relaxed);
        judged.failure.or_else(|| has_grown.then(unknown))
    }

    fn readings(&self, invariant: usize, at: &View<'_, Local>) -> Option<Vec<(String, Value)>> {
        let Judged { cells, mailboxes, failure } = self.judged(invariant, at);
        failure?;
        let name = |object: Object| self.objects.name(object);
        let cells = cells.into_iter().map(|(cell, content)| (name(cell.into()), content));
        let length = |length| Value::Int(length as i64);
        let mailboxes = mailboxes
            .into_iter()
            .map(|(mailbox, count)| (format!("len({})", name(mailbox.into())), length(count)));
        let mut all: Vec<(String, Value)> = Vec::new();
        for reading in cells.chain(mailboxes) {
            if !all.contains(&reading) {
                all.push(reading);
            }
        }
        Some(all)
    }

    fn sees_cell(&self, invariant: usize, cell: CellId) -> bool {
        self.invariants[invariant].seen().cells.contains(&cell)
    }

    fn sees_mailbox(&self, invariant: usize, mailbox: MailboxId) -> bool {
        self.invariants[invariant].seen().mailboxes.contains(&mailbox)
    }

    fn may_tell(&self, _: usize, _: ProcessId, _: &Local) -> bool {
        false
    }

    fn tells(&self, _: usize, _: ProcessId, _: &Local, _: &Local) -> bool {
        false
    }

    fn sees_one_thing(&self, invariant: usize) -> bool {
        let seen = self.invariants[invariant].seen();
        seen.mailboxes.is_empty() && seen.cells.len() <= 1
    }
}
