//! The part of a state that its future depends on. Two executions that lead to equal portraits have
//! the same future.
//!
//! The logs of a [`State`] hold its whole past. The future depends only on these parts of it:
//!
//! - the local states, up to the numbers of requests (see
//!   [`Foresight::canonical`](crate::model::Foresight::canonical));
//! - the results of the requests that the local states still name;
//! - the posts not yet paired or matched, and the queues of mutexes, reader-writer locks and
//!   semaphores;
//! - the processes that wait at a condition variable, and the notifications that have not woken
//!   yet;
//! - the arrivals of rounds that are not over;
//! - the owner of a p2p or bag mailbox, and of a rank of a collective: no other process may use it;
//! - what each process has polled without success, which completions it has observed, and which
//!   carriers are free;
//! - the contents of the cells, and of the pending messages of actors.
//!
//! A portrait is a list of numbers: one for each object and then one for each process. So its
//! length grows with the processes spawned. What does not fit into a number is a list that
//! [`Parts`] keeps once.
//!
//! If objects are added to the table during the search ([`crate::model::ObjectTable`]), the numbers
//! of objects are a list with its length in front. [`Parts::EMPTY`] stands for an object in its
//! initial state. The list ends with the last object that is not in its initial state, and its
//! length is rounded up to a power of two, because portraits of equal length share more. So a state
//! keeps its portrait when the search meets further objects.
//!
//! The part of an object says that a request *is* waiting: it has the process and the index of the
//! request there. So the part of a process changes only by its own steps, and when something that
//! it waits for becomes complete.

use crate::model::op::*;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::State;
use crate::model::objects::{ObjectId, all_kinds};
use crate::model::{
    Completion, Delivery, End, Entry, Envelope, LocalId, Locals, Object, ObjectTable, Objects, Op,
    Posted, ProcessId, Sent, Settlement, Status, System, ValueId,
};

/// Lists of numbers, each kept once.
#[derive(Default)]
pub struct Parts {
    ids: HashTable<u32>,
    words: Vec<u32>,
    /// The end of each list in `words`.
    ends: Vec<u32>,
    /// The list under construction.
    scratch: Vec<u32>,
    /// Are there objects whose actions need carriers, even if no process has named one yet?
    pub(super) expects_carriers: bool,
}

impl Parts {
    /// Lists for states of a system with these objects.
    pub(crate) fn of(objects: &Objects) -> Parts {
        let expects_carriers = !objects.collectives.is_empty()
            || objects.mailboxes.any(|&delivery| delivery != Delivery::Ordered);
        Parts { expects_carriers, ..Parts::default() }
    }

    /// The number of the list under construction. O(its length).
    fn intern(&mut self) -> u32 {
        let Parts { ids, words, ends, scratch, .. } = self;
        let of = |id: u32| -> &[u32] { list(words, ends, id) };
        let hash = FxBuildHasher.hash_one(&scratch[..]);
        if let Some(&id) = ids.find(hash, |&id| of(id) == &scratch[..]) {
            return id;
        }
        let id = ends.len() as u32;
        words.extend_from_slice(scratch);
        ends.push(words.len() as u32);
        let (words, ends) = (&*words, &*ends);
        ids.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(list(words, ends, id)));
        id
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.ids.capacity() * 5 + (self.words.capacity() + self.ends.capacity()) * 4
    }
}

fn list<'w>(words: &'w [u32], ends: &[u32], id: u32) -> &'w [u32] {
    let from = id.checked_sub(1).map_or(0, |before| ends[before as usize]);
    &words[from as usize..ends[id as usize] as usize]
}

macro_rules! define_slots {
    ($($(#[$doc:meta])* $kind:ident($id:ident) $all:ident [$($log:ty)?],)*) => {
        impl State {
            /// Appends the numbers of all objects, if all were in the table from the start.
            fn objects<S: System>(
                &self,
                locals: &mut Locals<'_, S>,
                parts: &mut Parts,
                slots: &mut Vec<u32>,
            ) {
                $(for number in 0..locals.objects().$all.len() as u32 {
                    slots.push($id(number).slot(self, locals, parts));
                })*
            }

            /// The number of an object in a portrait.
            pub(super) fn slot<S: System>(
                &self,
                locals: &mut Locals<'_, S>,
                parts: &mut Parts,
                object: Object,
            ) -> u32 {
                match object {
                    $(Object::$kind(id) => id.slot(self, locals, parts),)*
                }
            }

            /// Is the object in its initial state, although its number is not [`Parts::EMPTY`]
            /// then?
            pub(super) fn is_at_start(&self, object: Object) -> bool {
                match object {
                    $(Object::$kind(id) => id.is_at_start(self),)*
                }
            }

            /// The index of an object in a portrait, if all objects were in the table from the
            /// start.
            pub fn place_of(&self, table: &ObjectTable, object: Object) -> usize {
                let mut before = 0;
                $(
                    if let Object::$kind(id) = object {
                        return before + id.index();
                    }
                    before += table.$all.len();
                )*
                unreachable!("{object:?} is of no kind, after {before}")
            }

            /// Does an object have a request that is not answered?
            pub(super) fn has_open_requests_of(&self, object: Object) -> bool {
                match object {
                    $(Object::$kind(id) => id.has_open_requests(self),)*
                }
            }

            /// Does each operation on such an object read and change only this object and its own
            /// process?
            pub(super) fn is_alone(object: Object) -> bool {
                match object {
                    $(Object::$kind(_) => <$id as ObjectId>::IS_ALONE,)*
                }
            }
        }
    };
}
all_kinds!(define_slots);

impl State {
    /// Writes the portrait into `slots`. O(processes + objects + waiting requests).
    pub fn portrait<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        slots: &mut Vec<u32>,
    ) {
        slots.clear();
        match locals.objects().may_grow() {
            false => self.objects(locals, parts, slots),
            true => self.objects_met(locals, parts, slots),
        }
        let existing = self.processes.iter().rposition(|p| p.local != LocalId::ABSENT);
        for process in 0..existing.map_or(0, |last| last + 1) {
            slots.push(self.process(locals, parts, ProcessId(process as u32)));
        }
    }

    /// Appends the numbers of the objects in the table, up to the last one that is not in its
    /// initial state.
    fn objects_met<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        slots: &mut Vec<u32>,
    ) {
        slots.push(0);
        let mut used = 0;
        for at in 0..self.known {
            let object = locals.objects().order()[at];
            let slot = match self.is_at_start(object) {
                true => Parts::EMPTY,
                false => self.slot(locals, parts, object),
            };
            slots.push(slot);
            if slot != Parts::EMPTY {
                used = at + 1;
            }
        }
        let length = match used {
            0 => 0,
            used => used.next_power_of_two(),
        };
        slots.resize(1 + length, Parts::EMPTY);
        slots[0] = length as u32;
    }

    /// The part of a collective: the owners of its ranks, and the entries of its unfinished rounds.
    pub(in crate::model) fn under_way<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        collective: CollectiveId,
    ) -> u32 {
        let all = &self.collectives;
        parts.scratch.clear();
        if all.owners(collective).any(|owner| owner.is_some()) {
            let owners = all.owners(collective);
            parts.scratch.extend(owners.map(|owner| owner.map_or(0, |process| process.0 + 1)));
        }
        for (round, entries) in all.unfinished(collective) {
            parts.scratch.push(u32::MAX - round);
            for entry in entries {
                let made = &all.entries()[entry as usize];
                let Entry { process, rank, value, carrier, .. } = *made;
                // Its carrier ends it, whether or not the process still names it.
                let is_open = made.ended_at().is_none();
                let name = match is_open {
                    true => self.name_of(locals, process, Posted::Entry(entry)),
                    false => u32::MAX,
                };
                let is_open = u32::from(is_open);
                parts.scratch.extend([rank, process.0, is_open, name, carrier.0, value.0]);
                parts.scratch.extend(made.words());
            }
        }
        parts.pack()
    }

    /// The part of a p2p or bag mailbox: its receiving process, and what waits there: the unmatched
    /// messages, by sender, and the open receives.
    pub(in crate::model) fn on_the_way<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        mailbox: MailboxId,
    ) -> u32 {
        let network = &self.network;
        let ends = network.ends(mailbox);
        let mut free: SmallVec<[u32; 8]> = ends.sends.iter().copied().collect();
        free.retain(|&mut send| network.sends()[send as usize].receive().is_none());
        let sent = |send: u32| &network.sends()[send as usize];
        match network.delivery(mailbox) {
            Delivery::Bag => free.sort_by_key(|&send| {
                let Sent { process, envelope: Envelope { src, tag }, value, .. } = *sent(send);
                (process, src, tag, value)
            }),
            _ => free.sort_by_key(|&send| sent(send).process),
        }
        parts.scratch.clear();
        parts.scratch.extend(ends.reader().map(|process| process.0));
        for send in free {
            let Sent { process, envelope, value, completion, .. } = *sent(send);
            let name = match completion {
                Completion::Early => u32::MAX,
                _ => self.name_of(locals, process, Posted::Sent(send)),
            };
            parts.scratch.extend([0, process.0, name, value.0]);
            Parts::envelope(&mut parts.scratch, envelope);
        }
        for send in network.reserved(mailbox) {
            let sender = sent(send).process;
            let receive = sent(send).receive().expect("a receive that has not begun");
            let taker = network.receives()[receive as usize].process;
            let name = self.name_of(locals, sender, Posted::Sent(send));
            let own = self.name_of(locals, taker, Posted::Receive(receive));
            parts.scratch.extend([3, sender.0, name, taker.0, own]);
        }
        for &receive in &ends.receives {
            let open = &network.receives()[receive as usize];
            if open.is_open() {
                let name = self.name_of(locals, open.process, Posted::Receive(receive));
                let is_unwanted = u32::from(open.cancelled_at().is_some());
                parts.scratch.extend([1 + is_unwanted, open.process.0, name, open.carrier.0]);
                Parts::envelope(&mut parts.scratch, open.pattern);
            }
        }
        parts.pack()
    }

    /// The part of an ordered mailbox: its unpaired posts.
    pub(in crate::model) fn waiting<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        mailbox: MailboxId,
    ) -> u32 {
        parts.scratch.clear();
        for end in [End::Send, End::Receive] {
            for position in self.mailbox(mailbox).unpaired(end) {
                let post = &self.mailbox(mailbox).posts(end)[position as usize];
                let owner = post.process;
                let name = self.name_of(locals, owner, Posted::At(mailbox, end, position));
                parts.scratch.extend([end as u32, owner.0, name, post.value.0]);
                Parts::envelope(&mut parts.scratch, post.envelope);
            }
        }
        parts.pack()
    }

    /// The index of this request among the requests that the future of `owner` depends on;
    /// `u32::MAX` if it is not among them.
    pub(super) fn name_of<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        owner: ProcessId,
        request: Posted,
    ) -> u32 {
        let canonical = locals.canonical(self.local(owner));
        let found = match &canonical.requests {
            Some(listed) => listed.iter().position(|&name| self.posted(owner, name) == request),
            None => self.processes[owner.index()].posted.iter().position(|&made| made == request),
        };
        found.map_or(u32::MAX, |name| name as u32)
    }

    pub(super) fn process<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        process: ProcessId,
    ) -> u32 {
        let local = self.local(process);
        if local == LocalId::ABSENT {
            return Parts::EMPTY;
        }
        if local == LocalId::CARRIER {
            return Parts::plain(u32::from(self.is_seen(self.carried(process))));
        }
        let misses = self.portrait_of_misses(locals, process);
        let canonical = locals.canonical(local);
        if let Some(listed) = &canonical.requests
            && misses.is_empty()
            && !self.inboxes.has_pending(process)
            && listed.iter().all(|&handle| is_in_queue(&self.posted(process, handle)))
        {
            return Parts::plain(canonical.local.0);
        }
        parts.scratch.clear();
        parts.scratch.push(canonical.local.0);
        match &canonical.requests {
            Some(listed) => {
                let listed = listed.iter().map(|&handle| self.posted(process, handle));
                let waited = listed.filter(|posted| !is_in_queue(posted));
                waited.for_each(|posted| self.how_it_went(&mut parts.scratch, process, posted));
            }
            None => {
                let all = self.processes[process.index()].posted.iter();
                all.for_each(|&posted| self.how_it_went(&mut parts.scratch, process, posted));
            }
        }
        self.add_pending(&mut parts.scratch, process);
        if !misses.is_empty() {
            parts.scratch.push(u32::MAX - misses.len() as u32);
            parts.scratch.extend(misses);
        }
        match parts.scratch[..] {
            [local] => Parts::plain(local),
            _ => parts.pack(),
        }
    }

    /// Appends the contents of the messages that an actor has not handled.
    pub(super) fn add_pending(&self, words: &mut Vec<u32>, process: ProcessId) {
        let sent = self.inboxes.pending(process).map(|at| self.inboxes.log()[at as usize].content);
        let before = words.len();
        words.extend(sent.map(|content: ValueId| content.0));
        words[before..].sort_unstable();
    }

    /// The recent missed polls of the process. Requests are named as in the present local state.
    pub(super) fn portrait_of_misses<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
    ) -> Vec<u32> {
        let mut words = Vec::new();
        for &before in self.recent_missed_polls(process) {
            let status = locals.shared_status(before);
            let Status::At(op) = &*status else { unreachable!("a process that moved") };
            match op {
                Op::TestAny(comms) => {
                    words.push(comms.len() as u32);
                    for &comm in comms {
                        words.push(self.name_of(locals, process, self.posted(process, comm)));
                    }
                }
                Op::Probe { mailbox, pattern, .. } => {
                    words.extend([0, mailbox.0]);
                    Parts::envelope(&mut words, *pattern);
                }
                _ => words.extend([0, u32::MAX, locals.canonical(before).local.0]),
            }
        }
        words
    }

    /// The result of a request so far, and which carrier is busy with it, if one is: the next
    /// request is served by one that is free.
    pub(super) fn how_it_went(&self, words: &mut Vec<u32>, process: ProcessId, posted: Posted) {
        let was_told = u32::from(self.told_at(posted).is_some());
        let busy = |carrier: ProcessId| if was_told == 0 { carrier.0 } else { u32::MAX };
        match posted {
            Posted::At(mailbox, end, position) => {
                let post = &self.mailbox(mailbox).posts(end)[position as usize];
                let received = post.partner().map(|partner| match end {
                    End::Receive => self.mailbox(mailbox).sends[partner as usize].value,
                    End::Send => ValueId::UNIT,
                });
                let value = received.map_or(u32::MAX, |value| value.0);
                words.extend([mailbox.0, end as u32, value]);
            }
            Posted::Sent(send) => {
                let sent = &self.network.sends()[send as usize];
                let is_begun = self.network.begun_at(sent).is_some();
                let is_complete = sent.completion != Completion::Late || is_begun;
                words.extend([sent.mailbox.0, 2, u32::from(is_complete) + was_told]);
            }
            Posted::Receive(receive) => {
                let receive = &self.network.receives()[receive as usize];
                let value = match receive.outcome() {
                    Settlement::Open => u32::MAX,
                    Settlement::Dropped => u32::MAX - 1,
                    Settlement::Matched(send) => self.network.sends()[send as usize].value.0,
                };
                words.extend([receive.mailbox.0, 3 + 2 * was_told, value, busy(receive.carrier)]);
            }
            Posted::Entry(entry) => {
                let entry = &self.collectives.entries()[entry as usize];
                let result = entry.ended_at().map_or(u32::MAX, |_| self.fetched(posted).0);
                words.extend([entry.collective.0, 4 + 2 * was_told, result, busy(entry.carrier)]);
            }
            Posted::Mutex(mutex, request) => {
                let is_over = self.mutex(mutex).released_at(request).is_some();
                words.extend([mutex.0, process.0, u32::from(is_over)]);
            }
            Posted::RwLock(lock, request) => {
                let is_over = self.rwlock(lock).requests()[request as usize].is_over;
                words.extend([lock.0, process.0, u32::from(is_over)]);
            }
            Posted::Enrolment(condvar, at) => {
                let is_woken = self.condvar(condvar).enrolments()[at as usize].woken_by().is_some();
                words.extend([condvar.0, process.0, u32::from(is_woken)]);
            }
            Posted::Notification(condvar, position) => {
                let ahead = (position + 1).saturating_sub(self.condvar(condvar).over());
                words.extend([condvar.0, process.0, ahead]);
            }
            Posted::Semaphore(semaphore, request) => {
                let is_granted = self.semaphore(semaphore).is_granted(request);
                words.extend([semaphore.0, process.0, u32::from(is_granted)]);
            }
        }
    }
}

/// Is it a request that the part of its object shows? The requests that a local state lists are in
/// the queue.
pub(super) fn is_in_queue(posted: &Posted) -> bool {
    matches!(posted, Posted::Mutex(..) | Posted::RwLock(..))
}

impl Parts {
    /// The number of an object in its initial state, and of a process that does not exist.
    pub(crate) const EMPTY: u32 = 0;

    /// A number that stands for itself. It differs from the numbers of all lists.
    pub(in crate::model) fn plain(number: u32) -> u32 {
        2 * number + 1
    }

    /// The number of this list.
    pub(in crate::model) fn list(&mut self, numbers: impl IntoIterator<Item = u32>) -> u32 {
        self.scratch.clear();
        self.scratch.extend(numbers);
        self.pack()
    }

    /// The number of the list that `add` appends to an empty one.
    pub(super) fn write(&mut self, add: impl FnOnce(&mut Vec<u32>)) -> u32 {
        self.scratch.clear();
        add(&mut self.scratch);
        self.pack()
    }

    /// The number of the list under construction, or [`Parts::EMPTY`] for the empty list.
    fn pack(&mut self) -> u32 {
        if self.scratch.is_empty() { Parts::EMPTY } else { 2 * (self.intern() + 1) }
    }

    /// The number of a queue, which in most cases has at most one process.
    pub(in crate::model) fn queue(&mut self, mut waiting: impl Iterator<Item = ProcessId>) -> u32 {
        let Some(first) = waiting.next() else { return Parts::EMPTY };
        self.scratch.clear();
        self.scratch.push(first.0);
        self.scratch.extend(waiting.map(|process| process.0));
        match self.scratch[..] {
            [only] => Parts::plain(only),
            _ => self.pack(),
        }
    }

    pub(super) fn envelope(words: &mut Vec<u32>, Envelope { src, tag }: Envelope) {
        words.push(u32::from(src.is_some()) + 2 * u32::from(tag.is_some()));
        for number in [src, tag].into_iter().flatten() {
            words.extend([number as u32, (number >> 32) as u32]);
        }
    }
}
