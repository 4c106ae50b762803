//! Mailboxes: sends and receives in order of arrival, and which of them are paired.
//!
//! Invariant, restored by each method that changes a mailbox: the pairing is the stable matching of
//! the two orders (see `effect`). Each post is paired, on arrival, with the oldest unpaired
//! opposite one that matches.

use super::{
    NONE, ObjectId, Operation, Place, Posted, World, choices_of_any, place, response_of_any,
};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    Choice, Delivery, Effect, Envelope, Handle, Lane, Locals, MailboxId, May, Mode, Need, Needs,
    Part, PartSet, ProcessId, Response, System, Touch, ValueId, Values,
};

impl MailboxId {
    /// The lane of the posts at this end.
    #[inline]
    pub fn posts(self, end: End) -> Lane {
        let part = match end {
            End::Send => Part::Sends,
            End::Receive => Part::Receives,
        };
        Lane::new(part, self.0)
    }
}

impl ObjectId for MailboxId {
    type Declared = Delivery;
    type Start = Delivery;

    const PARTS: &'static [Part] = &[Part::Sends, Part::Receives, Part::Messages, Part::Matches];
    const IS_ALONE: bool = true;

    /// At p2p and bag mailboxes posts commute.
    fn lanes_of(delivery: Delivery) -> &'static [Part] {
        match delivery {
            Delivery::Ordered => &[Part::Sends, Part::Receives],
            Delivery::P2p | Delivery::Bag => &[],
        }
    }

    fn start(&declared: &Delivery, _: &mut Values) -> Delivery {
        declared
    }

    fn begin(state: &mut State, delivery: Delivery) {
        state.mailboxes.push(Mailbox::default());
        state.network.begin(delivery);
    }

    fn slot<S: System>(self, state: &State, locals: &mut Locals<'_, S>, parts: &mut Parts) -> u32 {
        match state.network.delivery(self) {
            Delivery::Ordered => state.waiting(locals, parts, self),
            _ => state.on_the_way(locals, parts, self),
        }
    }

    fn has_open_requests(self, state: &State) -> bool {
        let mailbox = state.mailbox(self);
        [End::Send, End::Receive].into_iter().any(|end| mailbox.unpaired(end).next().is_some())
    }

    #[inline]
    fn misused(state: &State) -> Option<MailboxId> {
        state.network.crowded()
    }
}

/// An end of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// Where sends are posted.
    Send,
    /// Where receives are posted.
    Receive,
}

impl End {
    /// The other end.
    pub fn opposite(self) -> End {
        match self {
            End::Send => End::Receive,
            End::Receive => End::Send,
        }
    }
}

/// A send or receive posted at a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// The process that posted it.
    pub(crate) process: ProcessId,
    /// Source and tag, or the pattern.
    pub(crate) envelope: Envelope,
    /// The value that is sent; unit for a receive.
    pub(crate) value: ValueId,
    partner: u32,
}

impl Post {
    /// The opposite post it is paired with, by position.
    pub fn partner(&self) -> Option<u32> {
        place(self.partner)
    }
}

/// The two ends of a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailbox {
    /// Sends in order of arrival.
    pub sends: Vec<Post>,
    /// Receives in order of arrival.
    pub receives: Vec<Post>,
    /// Number of receives that have a pattern. With none, the k-th send pairs with the k-th
    /// receive.
    patterns: u32,
}

impl Mailbox {
    /// The posts at one end.
    pub fn posts(&self, end: End) -> &[Post] {
        match end {
            End::Send => &self.sends,
            End::Receive => &self.receives,
        }
    }

    fn posts_mut(&mut self, end: End) -> &mut Vec<Post> {
        match end {
            End::Send => &mut self.sends,
            End::Receive => &mut self.receives,
        }
    }

    /// Does every post match every opposite one?
    pub(crate) fn is_plain(&self) -> bool {
        self.patterns == 0
    }

    /// The oldest post opposite to `end` that matches `envelope` and is not paired with one of the
    /// first `position` posts at `end`: the partner that a post at that position gets.
    pub(crate) fn partner_at(&self, end: End, position: u32, envelope: Envelope) -> Option<u32> {
        let opposite = self.posts(end.opposite());
        if self.is_plain() && (end == End::Send || envelope.is_wildcard()) {
            return ((position as usize) < opposite.len()).then_some(position);
        }
        let found = opposite.iter().position(|post| {
            let free = place(post.partner).is_none_or(|partner| partner >= position);
            free && match end {
                End::Send => post.envelope.accepts(envelope),
                End::Receive => envelope.accepts(post.envelope),
            }
        });
        found.map(|index| index as u32)
    }

    /// The posts at `end` that are not paired, by position. O(1) each if every post matches.
    pub(crate) fn unpaired(&self, end: End) -> impl Iterator<Item = u32> {
        let from = if self.is_plain() { self.posts(end.opposite()).len() } else { 0 };
        let rest = self.posts(end).iter().enumerate().skip(from);
        rest.filter(|(_, post)| post.partner == NONE).map(|(position, _)| position as u32)
    }

    /// Posts at `end`, and pairs the post if it can be.
    pub(in crate::model) fn push(
        &mut self,
        end: End,
        process: ProcessId,
        envelope: Envelope,
        value: ValueId,
    ) {
        let position = self.posts(end).len() as u32;
        if end == End::Receive && !envelope.is_wildcard() {
            self.patterns += 1;
        }
        let partner = self.partner_at(end, position, envelope).unwrap_or(NONE);
        self.posts_mut(end).push(Post { process, envelope, value, partner });
        if partner != NONE {
            self.posts_mut(end.opposite())[partner as usize].partner = position;
        }
    }

    /// Takes back the last post at `end`.
    pub(in crate::model) fn pop(&mut self, end: End) {
        let post = self.posts_mut(end).pop().expect("a post to undo");
        if end == End::Receive && !post.envelope.is_wildcard() {
            self.patterns -= 1;
        }
        if let Some(partner) = post.partner() {
            self.posts_mut(end.opposite())[partner as usize].partner = NONE;
        }
    }
}

impl State {
    /// A mailbox.
    pub fn mailbox(&self, id: MailboxId) -> &Mailbox {
        &self.mailboxes[id.index()]
    }

    /// The mailbox, end, position and partner of a communication.
    pub fn communication(
        &self,
        process: ProcessId,
        handle: Handle,
    ) -> (MailboxId, End, u32, Option<u32>) {
        match self.posted(process, handle) {
            Posted::At(mailbox, end, position) => {
                let post = &self.mailbox(mailbox).posts(end)[position as usize];
                (mailbox, end, position, post.partner())
            }
            other => panic!("{handle:?} of {process:?} is not a communication but {other:?}"),
        }
    }

    /// The value that completing this communication gives to its owner.
    ///
    /// # Panics
    /// If it is not complete.
    pub(crate) fn received(&self, process: ProcessId, comm: Handle) -> ValueId {
        if self.is_of_network(process, comm) {
            return self.fetched(self.posted(process, comm));
        }
        match self.communication(process, comm) {
            (mailbox, End::Receive, _, Some(partner)) => {
                self.mailbox(mailbox).sends[partner as usize].value
            }
            (_, End::Send, _, Some(_)) => ValueId::UNIT,
            other => panic!("{comm:?} of {process:?} is not complete: {other:?}"),
        }
    }

    /// The effect of an action at position `at` of the execution that observes this communication
    /// as complete; `None` if it is not complete.
    pub(crate) fn completion(&self, process: ProcessId, comm: Handle, at: usize) -> Option<Effect> {
        let by = self.completed_by(process, comm)?;
        let effect = Effect::needing(by.as_slice());
        Some(match by {
            Some(Need::At(..)) => effect,
            _ => Effect { at: at as u32, ..effect },
        })
    }

    /// What has completed this communication, `Some(None)` if that needed nothing; `None` if it is
    /// not complete.
    fn completed_by(&self, process: ProcessId, comm: Handle) -> Option<Option<Need>> {
        match self.posted(process, comm) {
            Posted::At(mailbox, end, position) => {
                let partner = self.mailbox(mailbox).posts(end)[position as usize].partner()?;
                Some(Some(Need::At(mailbox.posts(end.opposite()), partner)))
            }
            _ => {
                let matched = self.matched(process, comm)?;
                Some(matched.map(|at| Need::Event(at as u32)))
            }
        }
    }

    /// The effect of a test of these communications of `process` that finds none of them complete.
    pub(crate) fn not_complete(&self, process: ProcessId, comms: &[Handle]) -> Effect {
        if self.is_of_network(process, comms[0]) {
            return Effect::nothing();
        }
        Effect::not_yet(comms.iter().map(|&comm| {
            let (mailbox, end, position, _) = self.communication(process, comm);
            (mailbox.posts(end.opposite()), position)
        }))
    }

    /// Is this communication complete?
    #[inline]
    pub(crate) fn is_complete(&self, process: ProcessId, comm: Handle) -> bool {
        match self.posted(process, comm) {
            Posted::At(mailbox, end, position) => {
                self.mailbox(mailbox).posts(end)[position as usize].partner().is_some()
            }
            _ => self.matched(process, comm).is_some(),
        }
    }

    /// The touch that completes this communication of `process`.
    fn awaited(&self, process: ProcessId, comm: Handle) -> Touch {
        match self.posted(process, comm) {
            Posted::Sent(send) => {
                Touch::new(self.network.sends()[send as usize].mailbox.matches(), May::Open)
            }
            Posted::Receive(receive) => {
                Touch::new(self.network.receives()[receive as usize].mailbox.matches(), May::Open)
            }
            Posted::Entry(entry) => {
                Touch::new(self.collectives.entries()[entry as usize].collective.ends(), May::Open)
            }
            _ => {
                let (mailbox, end, ..) = self.communication(process, comm);
                Touch::new(mailbox.posts(end.opposite()), May::NotYet)
            }
        }
    }
}

/// isend, irecv.
pub(in crate::model) struct Posting {
    pub(in crate::model) mailbox: MailboxId,
    pub(in crate::model) end: End,
    pub(in crate::model) envelope: Envelope,
    pub(in crate::model) value: ValueId,
}

impl Operation for Posting {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.mailbox.posts(self.end))
    }

    fn at(&self, state: &State, _: &mut Values, process: ProcessId, _: u32) -> (Mode, Response) {
        (Mode::Change, state.next_posted(process))
    }

    fn completes(&self, state: &State, _: ProcessId, changes: u32) -> Option<u32> {
        state.mailbox(self.mailbox).partner_at(self.end, changes, self.envelope)
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let &Posting { mailbox, end, envelope, value } = self;
        let process = done.action.process;
        let log = &mut state.mailboxes[mailbox.index()];
        log.push(end, process, envelope, value);
        let position = log.posts(end).len() as u32 - 1;
        state.note(process, Posted::At(mailbox, end, position))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        state.mailboxes[self.mailbox.index()].pop(self.end);
        state.unnote(done.action.process);
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        let &Place { state, .. } = at;
        let &Posting { mailbox, end, .. } = self;
        let posts = state.mailbox(mailbox).posts(end);
        let partner = posts.last().and_then(Post::partner);
        let mode = partner.map_or(Mode::Change, Mode::Complete);
        Effect::act_at(mailbox.posts(end), mode, posts.len() as u32 - 1)
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// waitany, testany.
pub(in crate::model) struct Completing<'o> {
    pub(in crate::model) comms: &'o [Handle],
    pub(in crate::model) is_test: bool,
}

impl Completing<'_> {
    /// The communication that was returned, if there is one.
    fn completed(&self, done: &Done) -> Option<Handle> {
        usize::try_from(done.action.choice.0).ok().map(|index| self.comms[index])
    }
}

impl Operation for Completing<'_> {
    fn ways(&self, _: &State, _: ProcessId) -> u32 {
        self.comms.len() as u32
    }

    #[inline]
    fn way<S: System>(
        &self,
        at: &Place<'_, '_, S>,
        index: u32,
        needs: &mut Needs,
    ) -> Option<Response> {
        let &Place { state, process, .. } = at;
        let comm = self.comms[index as usize];
        if let Some(need) = state.completed_by(process, comm)? {
            needs.push(need);
        }
        Some(Response::Completed { index, value: state.received(process, comm) })
    }

    fn awaits(&self) -> PartSet {
        Part::Sends.alone().or(Part::Receives.alone()).or(Part::Network.alone())
    }

    fn is_test(&self) -> bool {
        self.is_test
    }

    fn not_yet(&self, state: &State, process: ProcessId) -> Effect {
        state.not_complete(process, self.comms)
    }

    #[inline]
    fn choices<S: System>(&self, at: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        let &Place { state, process, .. } = at;
        let is_complete = |&comm: &Handle| state.is_complete(process, comm);
        let is_poll = self.is_test && state.is_of_network(process, self.comms[0]);
        choices_of_any(self.comms.iter().map(is_complete), self.is_test && !is_poll, each);
        if is_poll && state.may_poll(at.locals, process) {
            each(Choice::NOTHING);
        }
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let process = done.action.process;
        if let Some(comm) = self.completed(done) {
            state.tell(state.posted(process, comm));
        }
        response_of_any(done.action.choice, |index| state.received(process, self.comms[index]))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        if let Some(comm) = self.completed(done) {
            state.untell(state.posted(done.action.process, comm));
        }
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let &Place { state, .. } = at;
        let process = done.action.process;
        match done.action.choice {
            Choice::NOTHING => state.not_complete(process, self.comms),
            Choice(index) => {
                let comm = self.comms[index as usize];
                state.completion(process, comm, state.trail.len() - 1).expect("it is complete")
            }
        }
    }

    fn watches<S: System>(
        &self,
        state: &State,
        _: &S,
        _: &mut Values,
        process: ProcessId,
        each: &mut impl FnMut(Touch),
    ) {
        let is_open = |&&comm: &&Handle| !state.is_complete(process, comm);
        let open = self.comms.iter().filter(is_open);
        open.for_each(|&comm| each(state.awaited(process, comm)));
    }

    /// The result of a test may depend on whether an operation that watches this comes before it.
    fn touches<S: System>(&self, state: &State, _: &S, done: &Done, each: &mut impl FnMut(Touch)) {
        if self.is_test {
            let process = done.action.process;
            self.comms.iter().for_each(|&comm| each(state.awaited(process, comm)));
        }
    }

    fn may_observe(&self) -> bool {
        true
    }

    /// A test at a p2p or bag mailbox may find nothing, whatever is complete.
    fn is_choice(&self) -> bool {
        self.comms.len() > 1 || self.is_test
    }
}
