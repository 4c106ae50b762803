//! Mailboxes with p2p and bag delivery, and the network that matches receives with sends.
//!
//! A mailbox of Pham, Jéron and Quinson orders all its sends. MPI orders only the messages of one
//! sender, so here a send and a receive do no more than *post*: they depend on nothing but their
//! own process. A further action, the *match*, decides which send a receive gets:
//!
//! - For each posted receive r there is one match, with an open choice of the send s. It is
//!   possible when both are posted, neither is matched, r accepts s, every earlier receive of the
//!   mailbox that accepts s is matched, and at a p2p mailbox every earlier send of the same process
//!   that r accepts is matched, too. These earlier posts are its *competitors*.
//! - Its causes are the two posts and the matches of exactly those competitors.
//! - A wait or a test that succeeds depends on the match of its receive, or of its send if that is
//!   synchronous; for a buffered send on nothing.
//! - A test may find nothing complete, since the message may be under way. Then the test depends on
//!   nothing; nor does a probe that finds nothing. (`polling` bounds their number.)
//! - A probe reports a send s that a receive in its place could be matched with. It has the same
//!   causes as that match.
//!
//! **Conflict** is only between two matches of one receive, or two choices at one place of a
//! process. Two receives r < r' that compete for one send need no rule: both accept s, so the match
//! of r' with s has a match of r as a cause. This holds because only one process receives at a
//! mailbox. If a second one does, the execution has no meaning from there on ([`State::misused`]).
//!
//! **Carriers.** A match is an action of the network, and several can be under way. So each process
//! has *carriers*: further processes that are in no program. A receive takes the first free carrier
//! of its process, or starts one. The carrier makes the match, and is free again when its process
//! has observed that the receive is complete. So the matches of a carrier are totally ordered, and
//! a process has as many carriers as it had receives open at the same time.
//!
//! **Cancelling** a receive posts a *wish*. The carrier may then drop the receive instead of
//! matching it: one more choice. A dropped receive counts as matched.
//!
//! The logs have the positions of all these actions in the execution. These positions are the
//! events that an [`Effect`] of the network needs.

mod beginning;
mod cancelling;
mod carriers;
mod optional;
mod polling;
mod posting;
mod probing;

pub(in crate::model) use beginning::Beginning;
pub(in crate::model) use cancelling::{CancelOutcome, Cancelling};
pub(in crate::model) use carriers::Delivering;
pub(in crate::model) use posting::{Receiving, Sending};
pub(in crate::model) use probing::ProbeFor;

use smallvec::{SmallVec, smallvec};

use super::{NONE, Posted, place};
use crate::model::state::State;
use crate::model::{
    Act, Choice, Completion, Delivery, Effect, Envelope, Handle, Lane, MailboxId, May, MessageId,
    Mode, Need, Part, ProcessId, Touch, ValueId,
};

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its id, the same on every branch of a search.
    pub id: MessageId,
    /// The sending process.
    pub process: ProcessId,
    /// The mailbox it is sent to.
    pub mailbox: MailboxId,
    /// Source and tag.
    pub(crate) envelope: Envelope,
    /// Its content.
    pub value: ValueId,
    /// When the send is complete.
    pub(crate) completion: Completion,
    at: u32,
    receive: u32,
    /// The position where its process first observed that it is complete.
    told_at: u32,
}

impl Sent {
    /// The position of the send in the execution.
    pub fn at(&self) -> usize {
        self.at as usize
    }

    /// The receive that it is matched with.
    pub fn receive(&self) -> Option<u32> {
        place(self.receive)
    }

    /// The position in the execution where its process first observed that it is complete.
    pub(crate) fn told_at(&self) -> Option<usize> {
        place(self.told_at).map(|at| at as usize)
    }
}

/// A receive, or a probe that takes the message that it finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reception {
    /// The receiving process.
    pub process: ProcessId,
    pub(crate) mailbox: MailboxId,
    /// What it accepts.
    pub pattern: Envelope,
    /// The process that matches it: the carrier, or the process itself for a probe that takes.
    pub carrier: ProcessId,
    at: u32,
    outcome: Settlement,
    /// The position of its match in the execution.
    matched_at: u32,
    /// The position where it began, if its message was only reserved before; otherwise that of its
    /// match. A send that is complete late is complete then.
    begun_at: u32,
    /// The position of the wish to cancel it.
    cancelled_at: u32,
    /// The position where its process first observed that it is complete.
    told_at: u32,
    /// What was settled when it was posted.
    settled: Settled,
}

/// How many of the first receives and sends of a mailbox no longer concern a taker: they are
/// matched, and the process of the taker had observed that before. So all of them are in the
/// history of every cause that the taker can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(in crate::model) receives: u32,
    sends: u32,
}

/// The outcome of a receive so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// It is neither matched nor cancelled.
    Open,
    /// It is matched with this send.
    Matched(u32),
    /// It is cancelled.
    Dropped,
}

impl Reception {
    /// The position of the receive in the execution.
    pub fn at(&self) -> usize {
        self.at as usize
    }

    /// Its outcome so far.
    pub fn outcome(&self) -> Settlement {
        self.outcome
    }

    /// Is it neither matched nor cancelled?
    pub fn is_open(&self) -> bool {
        self.outcome == Settlement::Open
    }

    /// The position in the execution of the action that matched or dropped it.
    pub(crate) fn matched_at(&self) -> Option<usize> {
        place(self.matched_at).map(|at| at as usize)
    }

    /// The position in the execution of the wish to cancel it.
    pub fn cancelled_at(&self) -> Option<usize> {
        place(self.cancelled_at).map(|at| at as usize)
    }

    /// Has its process observed that it is complete?
    pub fn is_seen(&self) -> bool {
        self.told_at != NONE
    }

    /// The position in the execution where its process first observed that it is complete.
    pub(crate) fn told_at(&self) -> Option<usize> {
        place(self.told_at).map(|at| at as usize)
    }
}

/// A probe that was carried out and may have found another message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its position in the execution.
    pub(crate) at: u32,
    /// What it accepts.
    pub(crate) pattern: Envelope,
    /// Number of receives of the mailbox before it.
    pub(crate) before: u32,
    /// The number of the next request of its process.
    pub(crate) own: Handle,
    /// What was settled when it was carried out.
    pub(crate) settled: Settled,
}

impl Probe {
    /// The probe as a taker.
    pub fn taker(&self, mailbox: MailboxId) -> Taker {
        let Probe { pattern, before, settled, .. } = *self;
        Taker { mailbox, pattern, before, receive: None, settled }
    }
}

/// What was posted at one mailbox, by positions in the logs of the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Sends, in the order of this execution. Only the order of sends of one process means
    /// anything.
    pub(crate) sends: Vec<u32>,
    /// Receives, in the order of their process.
    pub(crate) receives: Vec<u32>,
    /// Probes, in the order of their process.
    pub probes: Vec<Probe>,
    /// The processes that have received or probed here, one entry each time.
    readers: Vec<ProcessId>,
}

impl Ends {
    /// The owner of the mailbox: the first process that received or probed here.
    pub(crate) fn reader(&self) -> Option<ProcessId> {
        self.readers.first().copied()
    }
}

/// All that was posted at p2p and bag mailboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    sends: Vec<Sent>,
    receives: Vec<Reception>,
    /// Per message id, its position among the sends.
    positions: Vec<u32>,
    /// Per mailbox.
    pub(in crate::model) ends: Vec<Ends>,
    /// Per mailbox, how it delivers messages.
    pub(in crate::model) deliveries: Vec<Delivery>,
    /// Number of sends that are not matched, and number of open receives.
    unmatched: u32,
    open: u32,
    /// Number of times that a mailbox had another reader than the time before.
    intruders: u32,
    /// Maximum number of consecutive unsuccessful polls.
    pub(in crate::model) max_polls: u32,
}

/// A few positions in logs or executions.
pub(crate) type Places = SmallVec<[u32; 4]>;

/// A way that a receive or a probe can go: its message, and the positions of all its causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The message that it gets; [`Choice::internal`] 0 if it is cancelled instead.
    pub(crate) choice: Choice,
    /// The causes, in no particular order. Some may be causes of others.
    pub causes: Places,
}

/// A receive or a probe: something that can be given a message.
#[derive(Clone, Copy, Debug)]
pub struct Taker {
    pub(crate) mailbox: MailboxId,
    /// What it accepts.
    pub(crate) pattern: Envelope,
    /// Number of receives of the mailbox before it.
    pub(crate) before: u32,
    /// The position of the receive in the log, if it is one.
    pub(crate) receive: Option<u32>,
    /// What no longer concerns it.
    pub(crate) settled: Settled,
}

/// The choice of a carrier that drops a cancelled receive. It is not the id of any message.
pub const DROPPED: Choice = Choice(-2);
/// The choice of a carrier that ends an entry of a collective.
pub(crate) const ENDED: Choice = Choice(-3);

impl Network {
    /// All messages, in the order of sending.
    pub fn sends(&self) -> &[Sent] {
        &self.sends
    }

    /// All receives, in the order of this execution.
    pub fn receives(&self) -> &[Reception] {
        &self.receives
    }

    /// What was posted at a mailbox.
    pub fn ends(&self, mailbox: MailboxId) -> &Ends {
        &self.ends[mailbox.index()]
    }

    /// Are there sends that are not matched, or open receives?
    pub(crate) fn has_open_posts(&self) -> bool {
        self.unmatched > 0 || self.open > 0
    }

    /// A p2p or bag mailbox at which two processes have received, if there is one.
    #[inline]
    pub(super) fn crowded(&self) -> Option<MailboxId> {
        if self.intruders == 0 {
            return None;
        }
        let is_crowded = |ends: &Ends| ends.readers.windows(2).any(|two| two[0] != two[1]);
        let index = self.ends.iter().position(is_crowded);
        index.map(|index| MailboxId(index as u32))
    }

    /// Begins the logs of the next mailbox.
    pub(super) fn begin(&mut self, delivery: Delivery) {
        self.ends.push(Ends::default());
        self.deliveries.push(delivery);
    }

    /// Is there any p2p or bag mailbox?
    pub(in crate::model) fn is_used(&self) -> bool {
        self.deliveries.iter().any(|&delivery| delivery != Delivery::Ordered)
    }

    /// How a mailbox delivers.
    pub(crate) fn delivery(&self, mailbox: MailboxId) -> Delivery {
        self.deliveries[mailbox.index()]
    }

    /// The position among all sends of a message that was sent here.
    pub(crate) fn position(&self, id: MessageId) -> Option<u32> {
        self.positions.get(id.index()).copied().and_then(place)
    }

    /// The receive as a taker.
    pub fn taker(&self, receive: u32) -> Taker {
        let Reception { mailbox, pattern, settled, .. } = self.receives[receive as usize];
        let receives = &self.ends(mailbox).receives;
        let before = receives.partition_point(|&other| other < receive) as u32;
        Taker { mailbox, pattern, before, receive: Some(receive), settled }
    }

    /// The taker that a receive or probe would be now.
    pub(crate) fn newest_taker(&self, mailbox: MailboxId, pattern: Envelope) -> Taker {
        let before = self.ends(mailbox).receives.len() as u32;
        Taker { mailbox, pattern, before, receive: None, settled: self.settled(mailbox) }
    }

    /// The sends of a mailbox that may still concern a taker.
    pub(crate) fn sends_for(&self, taker: Taker) -> &[u32] {
        &self.ends(taker.mailbox).sends[taker.settled.sends as usize..]
    }

    /// The receives of a mailbox that were not settled when the last receive for which `is_known`
    /// holds was posted. `is_known` has to hold for a prefix of the receives.
    pub(crate) fn receives_since(
        &self,
        mailbox: MailboxId,
        is_known: impl Fn(&Reception) -> bool,
    ) -> &[u32] {
        let receives = &self.ends(mailbox).receives;
        let known = receives.partition_point(|&receive| is_known(&self.receives[receive as usize]));
        let last = known.checked_sub(1).map(|last| &self.receives[receives[last] as usize]);
        &receives[last.map_or(0, |last| last.settled.receives as usize)..]
    }

    /// What is settled now. Amortised O(1): it continues from what was settled at the last receive.
    fn settled(&self, mailbox: MailboxId) -> Settled {
        let ends = self.ends(mailbox);
        let last = ends.receives.last().map(|&last| self.receives[last as usize].settled);
        let Settled { mut receives, mut sends } = last.unwrap_or_default();
        let is_seen = |receive: u32| self.receives[receive as usize].is_seen();
        while ends.receives.get(receives as usize).is_some_and(|&receive| is_seen(receive)) {
            receives += 1;
        }
        let is_taken = |send: u32| self.sends[send as usize].receive().is_some_and(is_seen);
        while ends.sends.get(sends as usize).is_some_and(|&send| is_taken(send)) {
            sends += 1;
        }
        Settled { receives, sends }
    }

    /// The receives that have to be matched before `taker` can get the message `send`, which it
    /// accepts. `None` if one of these matches is missing.
    fn competitors(&self, taker: Taker, send: u32) -> Option<Places> {
        let ends = self.ends(taker.mailbox);
        let wanted = &self.sends[send as usize];
        let mut found = Places::new();
        for &other in &ends.receives[taker.settled.receives as usize..taker.before as usize] {
            let receive = &self.receives[other as usize];
            if receive.pattern.accepts(wanted.envelope) {
                if receive.is_open() {
                    return None;
                }
                found.push(other);
            }
        }
        if self.delivery(taker.mailbox) == Delivery::P2p {
            for &other in self.sends_for(taker).iter().take_while(|&&other| other < send) {
                let other = &self.sends[other as usize];
                if other.process == wanted.process && taker.pattern.accepts(other.envelope) {
                    found.push(other.receive()?);
                }
            }
        }
        Some(found)
    }

    /// May the match of `receive` be a cause of it that `taker` gets the message `send`?
    pub(crate) fn may_compete(&self, receive: u32, taker: Taker, send: u32) -> bool {
        let earlier = &self.ends(taker.mailbox).receives[..taker.before as usize];
        let follows = |other: u32| {
            other < send && self.sends[other as usize].process == self.sends[send as usize].process
        };
        let outcome = self.receives[receive as usize].outcome;
        earlier.last().is_some_and(|&last| receive <= last)
            || matches!(outcome, Settlement::Matched(other) if follows(other))
    }

    /// How `taker` could get the message `send`: the positions of all causes in the execution,
    /// before and after its own. `None` if one of them is missing or is its own match.
    pub fn causes(&self, taker: Taker, send: u32) -> Option<Places> {
        let wanted = &self.sends[send as usize];
        if !taker.pattern.accepts(wanted.envelope) || self.is_gone(taker, wanted) {
            return None;
        }
        let competitors = self.competitors(taker, send)?;
        if competitors.iter().any(|&other| Some(other) == taker.receive) {
            return None;
        }
        let mut causes: Places = smallvec![wanted.at];
        causes.extend(taker.receive.map(|own| self.receives[own as usize].at));
        causes.extend(competitors.iter().map(|&other| self.receives[other as usize].matched_at));
        Some(causes)
    }

    /// Had the process of `taker` observed before that it received this message?
    fn is_gone(&self, taker: Taker, sent: &Sent) -> bool {
        let receives = &self.ends(taker.mailbox).receives;
        let first_open = receives.get(taker.settled.receives as usize);
        sent.receive().is_some_and(|receive| first_open.is_none_or(|&first| receive < first))
    }

    /// The way of this receive to be cancelled, if there is a wish to cancel it.
    pub fn dropping(&self, receive: u32) -> Option<Way> {
        let receive = &self.receives[receive as usize];
        let wish = place(receive.cancelled_at)?;
        Some(Way { choice: DROPPED, causes: smallvec![receive.at, wish] })
    }

    /// Calls `each` with the choices that a carrier has for this receive.
    fn choices(&self, receive: u32, each: &mut impl FnMut(Choice)) {
        let reception = &self.receives[receive as usize];
        if !reception.is_open() {
            return;
        }
        let name = |send: u32| Choice::message(self.sends[send as usize].id);
        self.possible(self.taker(receive), |send| each(name(send)));
        if reception.cancelled_at != NONE {
            each(DROPPED);
        }
    }

    /// Calls `each` with the unmatched sends that `taker` can get now.
    fn possible(&self, taker: Taker, mut each: impl FnMut(u32)) {
        for &send in self.sends_for(taker) {
            let sent = &self.sends[send as usize];
            if sent.receive == NONE
                && taker.pattern.accepts(sent.envelope)
                && self.competitors(taker, send).is_some()
            {
                each(send);
            }
        }
    }

    fn open_receive(&mut self, receive: Reception) -> u32 {
        let at = self.receives.len() as u32;
        let ends = &mut self.ends[receive.mailbox.index()];
        ends.receives.push(at);
        self.open += 1;
        self.enter(receive.mailbox, receive.process);
        self.receives.push(receive);
        at
    }

    fn close_receive(&mut self) {
        let receive = self.receives.pop().expect("a receive to take back");
        let ends = &mut self.ends[receive.mailbox.index()];
        ends.receives.pop();
        self.open -= 1;
        self.leave(receive.mailbox);
    }

    /// Records that `process` receives or probes at a mailbox.
    fn enter(&mut self, mailbox: MailboxId, process: ProcessId) {
        let readers = &mut self.ends[mailbox.index()].readers;
        self.intruders += u32::from(readers.last().is_some_and(|&last| last != process));
        readers.push(process);
    }

    /// Undoes the last such record.
    fn leave(&mut self, mailbox: MailboxId) {
        let readers = &mut self.ends[mailbox.index()].readers;
        let gone = readers.pop().expect("a note to take back");
        self.intruders -= u32::from(readers.last().is_some_and(|&last| last != gone));
    }

    fn match_up(&mut self, receive: u32, send: u32, at: u32) {
        let taker = &mut self.receives[receive as usize];
        (taker.outcome, taker.matched_at) = (Settlement::Matched(send), at);
        taker.begun_at = at;
        (self.unmatched, self.open) = (self.unmatched - 1, self.open - 1);
        self.sends[send as usize].receive = receive;
    }

    fn unmatch(&mut self, receive: u32) {
        let taker = &mut self.receives[receive as usize];
        if let Settlement::Matched(send) = taker.outcome {
            self.sends[send as usize].receive = NONE;
            self.unmatched += 1;
        }
        self.open += 1;
        (taker.outcome, taker.matched_at, taker.begun_at) = (Settlement::Open, NONE, NONE);
    }
}

impl MailboxId {
    /// The lane of the messages sent to it, if it is a p2p or bag mailbox.
    pub(crate) fn messages(self) -> Lane {
        Lane::new(Part::Messages, self.0)
    }

    /// The lane of the matches there.
    pub(crate) fn matches(self) -> Lane {
        Lane::new(Part::Matches, self.0)
    }

    /// What may give a match or a probe there another choice: a message, or the match of another
    /// one.
    fn awaits(self) -> impl Iterator<Item = Touch> {
        [self.messages(), self.matches()].into_iter().map(|lane| Touch::new(lane, May::Open))
    }
}

impl State {
    /// What was posted at p2p and bag mailboxes.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Are there mailboxes or collectives whose actions need carriers?
    pub(crate) fn has_carriers(&self) -> bool {
        self.network.is_used() || !self.collectives.all.is_empty()
    }

    /// Is this request of a process a send, a receive or an entry of the network?
    pub fn is_of_network(&self, process: ProcessId, comm: Handle) -> bool {
        let posted = self.posted(process, comm);
        matches!(posted, Posted::Sent(_) | Posted::Receive(_) | Posted::Entry(_))
    }

    /// If the communication is one of the network and complete: the position of the action that
    /// completed it, `Some(None)` if that needed none.
    pub fn matched(&self, process: ProcessId, comm: Handle) -> Option<Option<usize>> {
        match self.posted(process, comm) {
            Posted::Receive(receive) => {
                self.network.receives[receive as usize].matched_at().map(Some)
            }
            Posted::Sent(send) => match &self.network.sends[send as usize] {
                Sent { completion: Completion::Early | Completion::Either, .. } => Some(None),
                sent => self.network.begun_at(sent).map(Some),
            },
            Posted::Entry(entry) => self.collectives.entries()[entry as usize].ended_at().map(Some),
            other => panic!("{comm:?} of {process:?} is not a communication but {other:?}"),
        }
    }

    /// The value that a complete communication of the network gives to its owner.
    pub(in crate::model) fn fetched(&self, posted: Posted) -> ValueId {
        match posted {
            Posted::Receive(receive) => match self.network.receives[receive as usize].outcome {
                Settlement::Matched(send) => self.network.sends[send as usize].value,
                _ => ValueId::UNIT,
            },
            Posted::Entry(entry) => self.collectives.entries()[entry as usize].result(),
            _ => ValueId::UNIT,
        }
    }
}

/// The effect of the last action of `state`, with these causes. `changes`: does it post, match or
/// take something?
pub(super) fn effect_here(state: &State, changes: bool, causes: &[u32]) -> Effect {
    network_effect(state.trail.len() as u32 - 1, changes, causes)
}

/// The effect of an action at position `at`, with these causes. `changes`: does it post, match or
/// take something?
pub(crate) fn network_effect(at: u32, changes: bool, causes: &[u32]) -> Effect {
    let act = Act::new(Lane::new(Part::Network, 0), Mode::Add(0));
    Effect {
        at,
        acts: changes.then_some(act).into_iter().collect(),
        needs: causes.iter().map(|&cause| Need::Event(cause)).collect(),
    }
}
