//! A state in its finest pieces: each message, each receive and each entry is one of its own, and
//! none of them comes back once it has changed.
//!
//! This is for systems whose local states contain all that a process observed. There the pieces of
//! [`State::pieces`] would tell apart in which order sends, receives and their matches happened,
//! although nobody observes it. Here a send, a receive and an entry change only pieces that are
//! new, and a match looks only at its competitors (`objects/network`). So the pieces depend on one
//! another as actions do.
//!
//! | piece | content |
//! |---|---|
//! | process | its local state, the recent missed polls, and which messages it has observed to be received |
//! | p2p mailbox | the process that receives there |
//! | `Message` | a message from when it is sent on |
//! | `Taken` | whether it is received |
//! | `Receive` | a receive: what is known of its competitors; then what it got |
//! | `Entry` | an entry of a rank, from when it enters on |
//! | `End` | whether the entry has ended, and its result |
//!
//! Messages are numbered by sender and mailbox, receives by mailbox, entries by rank. Names of
//! senders are the same along all paths if no process is started.

use smallvec::SmallVec;

use super::State;
use super::pieces::Piece;
use super::portrait::is_in_queue;
use crate::model::op::*;
use crate::model::{
    Action, Completion, Delivery, Entry, Handle, Locals, Object, Op, Parts, Posted, ProcessId,
    Settlement, System, Taker,
};

/// The content of a piece that has only one.
const THERE: u32 = 1;

impl State {
    /// Calls `each` with each of the finest pieces of the state, and the number of its content.
    pub fn posts<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        mut each: impl FnMut(Piece, u32),
    ) {
        let may_grow = locals.objects().may_grow();
        for at in 0..self.known {
            let object = locals.objects().order()[at];
            match object {
                Object::Mailbox(mailbox) if self.is_unordered(mailbox) => {
                    self.posts_at(parts, mailbox, &mut each);
                }
                Object::Collective(collective) => self.entries_of(parts, collective, &mut each),
                _ if may_grow && self.is_at_start(object) => {}
                _ => each(Piece::Object(object), self.slot(locals, parts, object)),
            }
        }
        for process in self.program_processes() {
            each(Piece::Process(process), self.process_post(locals, parts, process));
        }
    }

    fn posts_at(&self, parts: &mut Parts, mailbox: MailboxId, each: &mut impl FnMut(Piece, u32)) {
        let network = &self.network;
        let ends = network.ends(mailbox);
        if let Some(reader) = ends.reader() {
            each(
                Piece::Object(Object::Mailbox(mailbox)),
                parts.write(|words| words.push(reader.0)),
            );
        }
        let mut counts: SmallVec<[(ProcessId, u32); 8]> = SmallVec::new();
        for &send in &ends.sends {
            let sent = &network.sends()[send as usize];
            let at = counts.iter().position(|&(process, _)| process == sent.process);
            let at = at.unwrap_or_else(|| {
                counts.push((sent.process, 0));
                counts.len() - 1
            });
            let number = counts[at].1;
            counts[at].1 += 1;
            let code = parts.write(|words| {
                words.push(sent.value.0);
                Parts::envelope(words, sent.envelope);
            });
            each(Piece::Message(mailbox, sent.process, number), code);
            if sent.receive().is_some() {
                let code = parts.write(|words| words.push(THERE));
                each(Piece::Taken(mailbox, sent.process, number), code);
            }
        }
        for (number, &receive) in (0..).zip(&ends.receives) {
            let code = parts.write(|words| self.receive_post(words, mailbox, receive));
            each(Piece::Receive(mailbox, number), code);
        }
    }

    fn receive_post(&self, words: &mut Vec<u32>, mailbox: MailboxId, receive: u32) {
        let it = &self.network.receives()[receive as usize];
        match it.outcome() {
            Settlement::Open => {
                words.push(u32::from(it.cancelled_at().is_some()));
                words.push(it.process.0);
                Parts::envelope(words, it.pattern);
                let taker = self.network.taker(receive);
                words.push(taker.settled.receives);
                for &earlier in self.rivals(taker) {
                    Parts::envelope(words, self.network.receives()[earlier as usize].pattern);
                }
                for (sender, count) in self.gone(mailbox, it.at()) {
                    words.extend([sender.0, count]);
                }
            }
            Settlement::Matched(send) => {
                let sent = &self.network.sends()[send as usize];
                let number = self.number_of_send(send);
                words.extend([2, sent.process.0, number, sent.value.0]);
            }
            Settlement::Dropped => words.push(3),
        }
    }

    /// The earlier receives at its mailbox that may compete with a taker, in their order.
    fn rivals(&self, taker: Taker) -> &[u32] {
        let receives = &self.network.ends(taker.mailbox).receives;
        &receives[taker.settled.receives as usize..taker.before as usize]
    }

    /// For each sender, how many of its first messages at a mailbox the reader had observed to be
    /// received before this position of the execution; senders in the order of their numbers, those
    /// without such messages left out.
    fn gone(&self, mailbox: MailboxId, at: usize) -> SmallVec<[(ProcessId, u32); 4]> {
        let mut found: SmallVec<[(ProcessId, u32, bool); 8]> = SmallVec::new();
        for &send in &self.network.ends(mailbox).sends {
            let sent = &self.network.sends()[send as usize];
            let is_gone = sent.receive().is_some_and(|receive| {
                let told = self.network.receives()[receive as usize].told_at();
                told.is_some_and(|told| told < at)
            });
            match found.iter_mut().find(|(sender, _, _)| *sender == sent.process) {
                Some((_, count, goes_on)) => {
                    *goes_on &= is_gone;
                    *count += u32::from(*goes_on);
                }
                None => found.push((sent.process, u32::from(is_gone), is_gone)),
            }
        }
        let mut found: SmallVec<[(ProcessId, u32); 4]> = found
            .into_iter()
            .filter(|&(_, count, _)| count > 0)
            .map(|(sender, count, _)| (sender, count))
            .collect();
        found.sort_unstable();
        found
    }

    /// The number of a send among those of its process at its mailbox. O(sends there).
    fn number_of_send(&self, send: u32) -> u32 {
        let sent = &self.network.sends()[send as usize];
        let earlier = self.network.ends(sent.mailbox).sends.iter().take_while(|&&one| one != send);
        let is_own = |&&one: &&u32| self.network.sends()[one as usize].process == sent.process;
        earlier.filter(is_own).count() as u32
    }

    fn entries_of(
        &self,
        parts: &mut Parts,
        collective: CollectiveId,
        each: &mut impl FnMut(Piece, u32),
    ) {
        let all = self.collectives.get(collective);
        for rank in 0..all.size {
            for (round, entry) in (0..).map_while(|round| Some((round, all.entry(rank, round)?))) {
                let entry = &self.collectives.entries()[entry as usize];
                let code = parts.write(|words| {
                    words.extend([entry.process.0, entry.value.0]);
                    words.extend(entry.words());
                });
                each(Piece::Entry(collective, rank, round), code);
                let code = parts.write(|words| match entry.ended_at() {
                    None => {
                        words.extend([0, entry.value.0]);
                        words.extend(entry.words());
                    }
                    Some(_) => words.extend([1, entry.result().0]),
                });
                each(Piece::End(collective, rank, round), code);
            }
        }
    }

    fn process_post<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        parts: &mut Parts,
        process: ProcessId,
    ) -> u32 {
        let misses = self.portrait_of_misses(locals, process);
        let canonical = locals.canonical(self.local(process));
        let posted = &self.processes[process.index()].posted;
        parts.write(|words| {
            words.push(canonical.local.0);
            for (at, &posted) in (0..).zip(posted) {
                let Posted::Receive(receive) = posted else { continue };
                let it = &self.network.receives()[receive as usize];
                match it.outcome() {
                    Settlement::Matched(send) if it.is_seen() => {
                        let sender = self.network.sends()[send as usize].process;
                        words.extend([at, sender.0, self.number_of_send(send)]);
                    }
                    _ => words.extend(it.is_seen().then_some(at)),
                }
            }
            let mut add = |posted: Posted| match posted {
                Posted::Receive(_) | Posted::Sent(_) | Posted::Entry(_) => {}
                _ if is_in_queue(&posted) => {}
                posted => self.how_it_went(words, process, posted),
            };
            match &canonical.requests {
                Some(listed) => listed.iter().for_each(|&name| add(self.posted(process, name))),
                None => posted.iter().for_each(|&posted| add(posted)),
            }
            self.add_pending(words, process);
            words.push(u32::MAX);
            words.extend(misses);
        })
    }

    /// The finest pieces that the choices of the process and the effect of its operation depend on,
    /// but for its own. What it chooses by different pieces for different choices is left out: the
    /// message that a receive or a probe gets ([`State::offer`]), and which of several
    /// communications is complete ([`State::completion_of`]).
    pub fn sees_posts<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
    ) -> SmallVec<[Piece; 4]> {
        let Some(op) = locals.op(self.local(process)) else { return SmallVec::new() };
        match op {
            Op::Join(target) => SmallVec::from_slice(&[Piece::Process(*target)]),
            Op::Cancel(comm) | Op::CancelOutcome(comm) => {
                self.completion_of(process, *comm).into_iter().collect()
            }
            Op::Send { .. } | Op::Enter { .. } | Op::WaitAny(_) | Op::TestAny(_) => SmallVec::new(),
            Op::Deliver => match self.carried(process) {
                Posted::Entry(entry) => {
                    // Nothing follows from the others while one of them is missing.
                    let entry = &self.collectives.entries()[entry as usize];
                    let collective = self.collectives.get(entry.collective);
                    let others = entry.needs(collective.size).filter(|&rank| rank != entry.rank);
                    let mut is_missing = false;
                    let needed = others.take_while(|&rank| {
                        let goes_on = !is_missing;
                        is_missing = collective.entry(rank, entry.round).is_none();
                        goes_on
                    });
                    needed.map(|rank| Piece::Entry(entry.collective, rank, entry.round)).collect()
                }
                _ => SmallVec::new(),
            },
            _ => {
                let mut pieces = SmallVec::new();
                op.for_each_object(|object| pieces.push(Piece::Object(object)));
                pieces.dedup();
                pieces
            }
        }
    }

    /// The piece that shows whether a communication of a process is complete, if it is not the
    /// piece of the process.
    pub fn completion_of(&self, process: ProcessId, comm: Handle) -> Option<Piece> {
        match self.posted(process, comm) {
            Posted::Sent(send) => {
                let sent = &self.network.sends()[send as usize];
                let number = self.number_of_send(send);
                let is_late = sent.completion == Completion::Late;
                is_late.then_some(Piece::Taken(sent.mailbox, sent.process, number))
            }
            Posted::Receive(receive) => {
                let mailbox = self.network.receives()[receive as usize].mailbox;
                let all = &self.network.ends(mailbox).receives;
                Some(Piece::Receive(mailbox, all.partition_point(|&one| one < receive) as u32))
            }
            Posted::Entry(entry) => {
                let Entry { collective, rank, round, .. } =
                    self.collectives.entries()[entry as usize];
                Some(Piece::End(collective, rank, round))
            }
            _ => None,
        }
    }

    /// The pieces of which one must be without content so that this action may be delayed for ever
    /// ([`State::is_optional`]).
    pub fn delays<S: System>(
        &self,
        locals: &Locals<'_, S>,
        Action { process, choice }: Action,
    ) -> SmallVec<[Piece; 4]> {
        match (locals.op(self.local(process)), usize::try_from(choice.0)) {
            (Some(Op::WaitAny(comms) | Op::TestAny(comms)), Ok(index)) => {
                match self.posted(process, comms[index]) {
                    Posted::Sent(send) => {
                        let sent = &self.network.sends()[send as usize];
                        let is_open = sent.completion == Completion::Either;
                        let taken =
                            Piece::Taken(sent.mailbox, sent.process, self.number_of_send(send));
                        is_open.then_some(taken).into_iter().collect()
                    }
                    _ => SmallVec::new(),
                }
            }
            (Some(Op::Deliver), _) => match self.carried(process) {
                Posted::Entry(entry) => {
                    let entry = &self.collectives.entries()[entry as usize];
                    let of = |rank| Piece::Entry(entry.collective, rank, entry.round);
                    let may_be_late = entry.completion() == Completion::Either;
                    let ranks = 0..self.collectives.get(entry.collective).size;
                    ranks.filter(|_| may_be_late).map(of).collect()
                }
                _ => SmallVec::new(),
            },
            _ => SmallVec::new(),
        }
    }

    /// The first message of a sender that a receive or a probe could get, by its number and its
    /// place among all sends, as far as that is known from the pieces that were `looked_at`; or the
    /// next piece to look at. `None` if there is no message to get.
    pub fn offer<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        sender: ProcessId,
        looked_at: impl Fn(Piece) -> bool,
    ) -> Option<Offer> {
        let (taker, at) = match *locals.op(self.local(process))? {
            Op::Probe { mailbox, pattern, .. } => {
                let reader = Piece::Object(Object::Mailbox(mailbox));
                if !looked_at(reader) {
                    return Some(Offer::Look(reader));
                }
                (self.network.newest_taker(mailbox, pattern), self.depth())
            }
            _ => match self.carried(process) {
                Posted::Receive(receive) => {
                    let at = self.network.receives()[receive as usize].at();
                    (self.network.taker(receive), at)
                }
                _ => return None,
            },
        };
        let Taker { mailbox, pattern, .. } = taker;
        let gone = self.gone(mailbox, at);
        let gone = gone.iter().find(|&&(one, _)| one == sender).map_or(0, |&(_, count)| count);
        for number in gone.. {
            let message = Piece::Message(mailbox, sender, number);
            if !looked_at(message) {
                return Some(Offer::Look(message));
            }
            let send = self.nth_send(mailbox, sender, number)?;
            let sent = &self.network.sends()[send as usize];
            if !pattern.accepts(sent.envelope) {
                continue;
            }
            let taken = Piece::Taken(mailbox, sender, number);
            if !looked_at(taken) {
                return Some(Offer::Look(taken));
            }
            if sent.receive().is_some() {
                continue;
            }
            for (at, &rival) in (taker.settled.receives..).zip(self.rivals(taker)) {
                let receive = &self.network.receives()[rival as usize];
                if receive.pattern.accepts(sent.envelope) {
                    let piece = Piece::Receive(mailbox, at);
                    if !looked_at(piece) {
                        return Some(Offer::Look(piece));
                    }
                    if receive.is_open() {
                        return None;
                    }
                }
            }
            return Some(Offer::Message(number));
        }
        None
    }

    /// A send by its number among those of its process at a mailbox.
    pub fn nth_send(&self, mailbox: MailboxId, sender: ProcessId, number: u32) -> Option<u32> {
        let sends = self.network.ends(mailbox).sends.iter().copied();
        let mut own = sends.filter(|&one| self.network.sends()[one as usize].process == sender);
        own.nth(number as usize)
    }

    /// The process and the carrier of a receive or an entry, and whether it is open.
    pub fn carrier_at(&self, piece: Piece) -> Option<(ProcessId, ProcessId, bool)> {
        match piece {
            Piece::Receive(mailbox, number) => {
                let receives = &self.network.ends.get(mailbox.index())?.receives;
                let receive = *receives.get(number as usize)?;
                let receive = &self.network.receives()[receive as usize];
                Some((receive.process, receive.carrier, receive.is_open()))
            }
            Piece::End(collective, rank, round) => {
                let all = self.collectives.all.get(collective.index())?;
                let entry = &self.collectives.entries()[all.entry(rank, round)? as usize];
                Some((entry.process, entry.carrier, entry.ended_at().is_none()))
            }
            _ => None,
        }
    }

    /// Are there bag mailboxes?
    pub fn has_bags(&self) -> bool {
        self.network.deliveries.contains(&Delivery::Bag)
    }

    /// Has a probe reserved a message whose receive has not begun?
    pub fn has_reserved(&self) -> bool {
        let mailboxes = 0..self.network.deliveries.len() as u32;
        mailboxes.map(MailboxId).any(|mailbox| self.network.reserved(mailbox).next().is_some())
    }

    /// The last entry that was made.
    pub fn last_entry(&self) -> Option<&Entry> {
        self.collectives.entries().last()
    }
}

/// What is known of the message that a receive or a probe can get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It depends on this piece.
    Look(Piece),
    /// It can get the message with this number of its sender.
    Message(u32),
}
