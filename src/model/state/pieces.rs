//! A state in pieces: what a net needs to know about it, so that operations which do not depend on
//! each other look at different pieces.
//!
//! The pieces of a state determine its [portrait](State::portrait), and equal portraits have equal
//! futures. They are finer where a network is concerned: a message is in the piece of its sender at
//! its mailbox, and the outcome of a receive is in the piece of its carrier. So a send changes
//! nothing that a send of another process looks at, and the match of a receive changes nothing that
//! its process looks at before it waits. For this, requests have names that no later step changes:
//!
//! - a receive or an entry is named by its carrier, which serves nobody else until its process has
//!   observed that it is complete;
//! - a send that may be complete late has a *slot*: the first one at its mailbox that no earlier
//!   send of its process has, from its posting until its process has observed that it is complete
//!   (and until it is matched, if it may be complete before).

use smallvec::SmallVec;

use super::State;
use super::portrait::is_in_queue;
use crate::model::op::*;
use crate::model::{
    Completion, Delivery, Entry, Envelope, Handle, Locals, Object, Op, Parts, Posted, ProcessId,
    Sent, Settlement, System,
};

/// A piece of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    /// An object. Of a p2p or bag mailbox, this is its reader and its open receives.
    Object(Object),
    /// A process of the program.
    Process(ProcessId),
    /// A carrier: whom it serves, and its number among the carriers of that process.
    Carrier(ProcessId, u32),
    /// The unmatched messages at a p2p or bag mailbox from one process that exists from the start,
    /// or from all others (`None`).
    Messages(MailboxId, Option<ProcessId>),
    /// The message of a process at a mailbox with this number ([`State::posts`], as all below).
    Message(MailboxId, ProcessId, u32),
    /// Whether that message is received.
    Taken(MailboxId, ProcessId, u32),
    /// The receive with this number at a mailbox.
    Receive(MailboxId, u32),
    /// The entry of a rank in a round of a collective.
    Entry(CollectiveId, u32, u32),
    /// Whether that entry has ended.
    End(CollectiveId, u32, u32),
}

/// Stands before what is only there if there are carriers.
const CARRIERS: u32 = u32::MAX - 1;

impl State {
    /// Calls `each` with each piece of the state, and the number of its content. The content of a
    /// piece that is left out is `Parts::EMPTY`.
    pub fn pieces<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        mut each: impl FnMut(Piece, u32),
    ) {
        let may_grow = locals.objects().may_grow();
        for at in 0..self.known {
            let object = locals.objects().order()[at];
            let code = match object {
                Object::Mailbox(mailbox) if self.is_unordered(mailbox) => {
                    self.open_receives(parts, mailbox)
                }
                Object::Collective(collective) => self.open_rounds(parts, collective),
                _ if may_grow && self.is_at_start(object) => Parts::EMPTY,
                _ => self.slot(locals, parts, object),
            };
            each(Piece::Object(object), code);
            if let Object::Mailbox(mailbox) = object
                && self.is_unordered(mailbox)
            {
                for sender in self.senders(locals, mailbox) {
                    let code = self.messages_from(locals, parts, mailbox, sender);
                    each(Piece::Messages(mailbox, sender), code);
                }
            }
        }
        for process in self.program_processes() {
            each(Piece::Process(process), self.own_piece(locals, parts, process));
            for number in 0..self.processes[process.index()].carriers.len() as u32 {
                let code = self.carrier_piece(locals, parts, process, number);
                each(Piece::Carrier(process, number), code);
            }
        }
    }

    /// The process that has this number among the carriers of a process, if it was started.
    pub fn carrier_of(&self, process: ProcessId, number: u32) -> Option<ProcessId> {
        self.processes.get(process.index())?.carriers.get(number as usize).copied()
    }

    /// Is it a p2p or bag mailbox?
    pub fn is_unordered(&self, mailbox: MailboxId) -> bool {
        self.network.delivery(mailbox) != Delivery::Ordered
    }

    /// The sender of a message as [`Piece::Messages`] names it.
    pub fn sender<S: System>(locals: &Locals<'_, S>, process: ProcessId) -> Option<ProcessId> {
        (process.index() < locals.initial().len()).then_some(process)
    }

    /// The pieces that the choices of the process and the effect of its operation depend on, but
    /// for its own. Those that it changes without depending on them may be left out.
    ///
    /// What a probe or an actor chooses, and what a carrier does with a receive, depends on
    /// different pieces for different choices: nothing is said about them here.
    pub fn sees<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
    ) -> SmallVec<[Piece; 2]> {
        let Some(op) = locals.op(self.local(process)) else { return SmallVec::new() };
        let mut pieces = SmallVec::new();
        match op {
            Op::Join(target) => pieces.push(Piece::Process(*target)),
            Op::WaitAny(comms) | Op::TestAny(comms) => {
                pieces.extend(comms.iter().filter_map(|&comm| self.shows(locals, process, comm)));
            }
            Op::CancelOutcome(comm) => pieces.extend(self.shows(locals, process, *comm)),
            Op::Begin(comm) => {
                if let Some(sent) = self.message_of(process, *comm) {
                    pieces.push(Piece::Messages(sent.mailbox, State::sender(locals, sent.process)));
                }
            }
            Op::Cancel(comm) => {
                if let Posted::Receive(receive) = self.posted(process, *comm) {
                    let mailbox = self.network.receives()[receive as usize].mailbox;
                    pieces.push(Piece::Object(Object::Mailbox(mailbox)));
                }
            }
            Op::Send { mailbox, .. } => {
                pieces.push(Piece::Messages(*mailbox, State::sender(locals, process)));
            }
            Op::Deliver => {
                if let Posted::Entry(entry) = self.carried(process)
                    && !self.is_seen(Posted::Entry(entry))
                {
                    let collective = self.collectives.entries()[entry as usize].collective;
                    pieces.push(Piece::Object(Object::Collective(collective)));
                }
            }
            _ => op.for_each_object(|object| pieces.push(Piece::Object(object))),
        }
        pieces.dedup();
        pieces
    }

    /// The piece that shows whether a communication of a process is complete, if it is not the
    /// piece of the process.
    fn shows<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        comm: Handle,
    ) -> Option<Piece> {
        match self.posted(process, comm) {
            Posted::Sent(send) => {
                let sent = &self.network.sends()[send as usize];
                let is_late = sent.completion != Completion::Early;
                is_late.then(|| Piece::Messages(sent.mailbox, State::sender(locals, process)))
            }
            posted => {
                let number = self.carried_by(process, posted)?;
                Some(Piece::Carrier(process, number))
            }
        }
    }

    /// The number of the carrier that serves this request of a process, if one does, and the
    /// process has not observed yet that it is complete.
    fn carried_by(&self, process: ProcessId, posted: Posted) -> Option<u32> {
        let carrier = match posted {
            Posted::Receive(receive) => self.network.receives()[receive as usize].carrier,
            Posted::Entry(entry) => self.collectives.entries()[entry as usize].carrier,
            _ => return None,
        };
        let mut carriers = self.processes[process.index()].carriers.iter();
        let number = carriers.position(|&one| one == carrier)?;
        (!self.is_seen(posted)).then_some(number as u32)
    }

    /// The mailbox and the pattern, if the process is a carrier with an open receive, or probes.
    pub fn takes<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
    ) -> Option<(MailboxId, Envelope)> {
        match locals.op(self.local(process))? {
            Op::Probe { mailbox, pattern, .. } => Some((*mailbox, *pattern)),
            Op::Deliver => match self.carried(process) {
                Posted::Receive(receive) => {
                    let receive = &self.network.receives()[receive as usize];
                    receive.is_open().then_some((receive.mailbox, receive.pattern))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The unmatched messages at a mailbox from a sender, in the order of the content of this
    /// piece, by their places among all sends.
    pub fn unmatched<S: System>(
        &self,
        locals: &Locals<'_, S>,
        mailbox: MailboxId,
        sender: Option<ProcessId>,
    ) -> SmallVec<[u32; 8]> {
        let sent = |send: u32| &self.network.sends()[send as usize];
        let is_one = |&send: &u32| {
            let sent = sent(send);
            sent.receive().is_none() && State::sender(locals, sent.process) == sender
        };
        let sends = self.network.ends(mailbox).sends.iter().copied();
        let mut found: SmallVec<[u32; 8]> = sends.filter(is_one).collect();
        match self.network.delivery(mailbox) {
            Delivery::Bag => found.sort_by_cached_key(|&send| {
                let Sent { process, envelope: Envelope { src, tag }, value, .. } = *sent(send);
                (process, src, tag, value, self.slot_of(send))
            }),
            _ => found.sort_by_key(|&send| sent(send).process),
        }
        found
    }

    /// The senders of the unmatched messages at a mailbox.
    fn senders<S: System>(
        &self,
        locals: &Locals<'_, S>,
        mailbox: MailboxId,
    ) -> SmallVec<[Option<ProcessId>; 4]> {
        let sends = self.network.ends(mailbox).sends.iter();
        let sends = sends.map(|&send| &self.network.sends()[send as usize]);
        let open = sends.filter(|sent| self.network.begun_at(sent).is_none());
        let mut senders: SmallVec<[_; 4]> =
            open.map(|sent| State::sender(locals, sent.process)).collect();
        senders.sort_unstable();
        senders.dedup();
        senders
    }

    fn messages_from<S: System>(
        &self,
        locals: &Locals<'_, S>,
        parts: &mut Parts,
        mailbox: MailboxId,
        sender: Option<ProcessId>,
    ) -> u32 {
        parts.write(|words| {
            for send in self.unmatched(locals, mailbox, sender) {
                let sent = &self.network.sends()[send as usize];
                words.extend([sent.process.0, self.slot_of(send), sent.value.0]);
                Parts::envelope(words, sent.envelope);
            }
            for send in self.network.reserved(mailbox) {
                let sent = &self.network.sends()[send as usize];
                if State::sender(locals, sent.process) == sender {
                    words.extend([u32::MAX, sent.process.0, self.slot_of(send)]);
                }
            }
        })
    }

    /// The message of this request of a process, which a probe has reserved.
    fn message_of(&self, process: ProcessId, comm: Handle) -> Option<&Sent> {
        let Posted::Receive(receive) = self.posted(process, comm) else { return None };
        let Settlement::Matched(send) = self.network.receives()[receive as usize].outcome() else {
            return None;
        };
        Some(&self.network.sends()[send as usize])
    }

    /// The slot of a send; `u32::MAX` if it is complete at once. O(sends of its process).
    fn slot_of(&self, send: u32) -> u32 {
        let sends = self.network.sends();
        let Sent { process, mailbox, completion, .. } = sends[send as usize];
        if completion == Completion::Early {
            return u32::MAX;
        }
        let mut slots: SmallVec<[(u32, u32); 4]> = SmallVec::new();
        for &posted in &self.processes[process.index()].posted {
            let Posted::Sent(one) = posted else { continue };
            let it = &sends[one as usize];
            if it.mailbox != mailbox || it.completion == Completion::Early {
                continue;
            }
            slots.retain(|&mut (other, _)| self.keeps_slot(other, it.at()));
            let is_free = |slot: &u32| slots.iter().all(|(_, taken)| taken != slot);
            let slot = (0..).find(is_free).expect("a free number");
            if one == send {
                return slot;
            }
            slots.push((one, slot));
        }
        unreachable!("the send is a request of its process")
    }

    /// Does a send still have its slot at this position of the execution?
    fn keeps_slot(&self, send: u32, at: usize) -> bool {
        let sent = &self.network.sends()[send as usize];
        let is_past = |position: Option<usize>| position.is_some_and(|position| position < at);
        let may_be_late =
            sent.completion == Completion::Either && !is_past(self.network.begun_at(sent));
        !is_past(sent.told_at()) || may_be_late
    }

    fn open_receives(&self, parts: &mut Parts, mailbox: MailboxId) -> u32 {
        let ends = self.network.ends(mailbox);
        parts.write(|words| {
            words.extend(ends.reader().map(|process| process.0));
            for &receive in &ends.receives {
                let open = &self.network.receives()[receive as usize];
                if open.is_open() {
                    let carrier = self.carried_by(open.process, Posted::Receive(receive));
                    let is_unwanted = u32::from(open.cancelled_at().is_some());
                    words.extend([is_unwanted, open.process.0, carrier.unwrap_or(u32::MAX)]);
                    Parts::envelope(words, open.pattern);
                }
            }
        })
    }

    fn open_rounds(&self, parts: &mut Parts, collective: CollectiveId) -> u32 {
        let all = &self.collectives;
        parts.write(|words| {
            if all.owners(collective).any(|owner| owner.is_some()) {
                let owners = all.owners(collective);
                words.extend(owners.map(|owner| owner.map_or(0, |process| process.0 + 1)));
            }
            for (round, entries) in all.unfinished(collective) {
                words.push(u32::MAX - round);
                for entry in entries {
                    let made = &all.entries()[entry as usize];
                    let Entry { process, rank, value, .. } = *made;
                    let carrier = match made.ended_at() {
                        None => self.carried_by(process, Posted::Entry(entry)),
                        Some(_) => None,
                    };
                    words.extend([rank, process.0, carrier.unwrap_or(u32::MAX), value.0]);
                    words.extend(made.words());
                }
            }
        })
    }

    /// What a carrier does, and whether its process may still ask for that.
    fn carrier_piece<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        process: ProcessId,
        number: u32,
    ) -> u32 {
        let posted = self.carried(self.processes[process.index()].carriers[number as usize]);
        if self.is_seen(posted) {
            return Parts::EMPTY;
        }
        let is_named = match &locals.canonical(self.local(process)).requests {
            Some(listed) => listed.iter().any(|&name| self.posted(process, name) == posted),
            None => true,
        };
        parts.write(|words| {
            words.push(u32::from(is_named));
            match posted {
                Posted::Receive(receive) => {
                    let receive = &self.network.receives()[receive as usize];
                    words.extend([0, receive.mailbox.0]);
                    match receive.outcome() {
                        Settlement::Open => Parts::envelope(words, receive.pattern),
                        Settlement::Dropped => words.push(u32::MAX),
                        Settlement::Matched(send) => {
                            let value = self.network.sends()[send as usize].value;
                            words.push(u32::MAX - 1);
                            words.extend(is_named.then_some(value.0));
                        }
                    }
                }
                Posted::Entry(entry) => {
                    let entry = &self.collectives.entries()[entry as usize];
                    words.extend([1, entry.collective.0]);
                    if entry.ended_at().is_some() {
                        words.push(1);
                        words.extend(is_named.then(|| self.fetched(posted).0));
                    }
                }
                other => panic!("no carrier serves {other:?}"),
            }
        })
    }

    fn own_piece<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        process: ProcessId,
    ) -> u32 {
        // What is said of a state must not depend on what other states have named.
        if !parts.expects_carriers {
            return self.process(locals, parts, process);
        }
        let misses = self.portrait_of_misses(locals, process);
        let canonical = locals.canonical(self.local(process));
        parts.write(|words| {
            words.push(canonical.local.0);
            let posted = &self.processes[process.index()].posted;
            match &canonical.requests {
                Some(listed) => {
                    let listed = listed.iter().map(|&handle| self.posted(process, handle));
                    let waited = listed.filter(|posted| !is_in_queue(posted));
                    waited.for_each(|posted| self.how_it_stands(words, process, posted));
                }
                None => {
                    posted.iter().for_each(|&posted| self.how_it_stands(words, process, posted));
                }
            }
            words.push(CARRIERS);
            let before = words.len();
            for &posted in posted {
                match posted {
                    Posted::Sent(send) => {
                        let sent = &self.network.sends()[send as usize];
                        if sent.completion != Completion::Early && sent.told_at().is_none() {
                            words.push((sent.mailbox.0 << 16) + self.slot_of(send));
                        }
                    }
                    _ => words.extend(self.carried_by(process, posted).map(|it| CARRIERS - it)),
                }
            }
            words[before..].sort_unstable();
            self.add_pending(words, process);
            if !misses.is_empty() {
                words.push(u32::MAX);
                words.extend(misses);
            }
        })
    }

    /// What a process itself knows about a request.
    fn how_it_stands(&self, words: &mut Vec<u32>, process: ProcessId, posted: Posted) {
        let number = self.carried_by(process, posted);
        match (posted, number) {
            (Posted::Sent(send), _) => {
                let sent = &self.network.sends()[send as usize];
                let was_told = u32::from(sent.told_at().is_some());
                words.extend([sent.mailbox.0, self.slot_of(send)]);
                words.push(2 * sent.completion as u32 + was_told);
            }
            (Posted::Receive(receive), Some(number)) => {
                let mailbox = self.network.receives()[receive as usize].mailbox;
                words.extend([mailbox.0, CARRIERS, number]);
            }
            (Posted::Entry(entry), Some(number)) => {
                let collective = self.collectives.entries()[entry as usize].collective;
                words.extend([collective.0, CARRIERS, number]);
            }
            (posted, _) => self.how_it_went(words, process, posted),
        }
    }
}
