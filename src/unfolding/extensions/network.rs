//! Extensions at p2p and bag mailboxes: matches, probes, waits and tests.
//!
//! - send, receive, the wish to cancel: `[pre]` alone.
//! - match of r with s, for every r and s of C, matched or not: the two posts and the matches of
//!   the competitors, if all of these are in C and neither r nor s is matched in their history.
//! - r dropped: its post and the wish to cancel it.
//! - probe→s: the causes of a match in its place. A probe that finds nothing: `[pre]` alone.
//! - wait, waitany→j, test→true: the match; of a buffered send `[pre]` alone. A test that finds
//!   nothing: `[pre]` alone.
//!
//! - end of an entry of a collective: the entries that it needs.
//!
//! When e joins C, the new extensions have e among these causes. So only posts at its mailbox are
//! looked at: for a send, every receive and probe there; for a receive, every send; for a match,
//! every pair that had it as a competitor. A receive that is matched in C, and a probe that is in
//! C, are open choices like a `waitany`: see the parent module.

use smallvec::{SmallVec, smallvec};

use super::{Events, Origin, Shape};
use crate::model::{
    Choice, Completion, DROPPED, ENDED, Entry, Envelope, Handle, LocalId, MailboxId, Op, Part,
    Places, Posted, Probing, ProcessId, Reception, Response, Settlement, System, Taker,
};
use crate::unfolding::event::EventId;
use crate::unfolding::{Configuration, Unfolding};

/// A receive, a probe of C, or a probe about to be carried out.
struct Candidate {
    taker: Taker,
    from: Origin,
    /// The event of C that was chosen in its place.
    chosen: EventId,
    /// What a probe does; `None` for a receive.
    form: Option<Probing>,
    /// The handle of the next request of its process.
    own: Handle,
}

/// Is it a receive that a carrier serves, and not a probe that takes?
fn is_carried(c: &Configuration, receive: u32) -> bool {
    let reception = &c.state.network().receives()[receive as usize];
    reception.carrier != reception.process
}

impl<S: System> Unfolding<'_, S> {
    /// The extensions that e, which has just joined C, makes possible at its mailbox.
    pub(super) fn extend_network(&mut self, c: &mut Configuration, e: EventId) {
        let position = c.events().len() - 1;
        match *self.op(e) {
            Op::Send { .. } => {
                let send = c.state.network().sends().len() as u32 - 1;
                self.extend_by_send(c, send, e);
            }
            Op::Receive { .. } => {
                let receive = c.state.network().receives().last().expect("a receive");
                self.extend_own(c, receive.carrier);
            }
            Op::Probe { mailbox, form: Probing::Take | Probing::Reserve, .. } => {
                let receive = c.state.network().receives().len() as u32 - 1;
                self.extend_later(c, mailbox, receive, position);
                self.extend_owners(c, Posted::Receive(receive), e);
            }
            Op::Begin(comm) => {
                let process = self.structure.event(e).process;
                self.extend_owners(c, c.state.posted(process, comm), e);
            }
            Op::Cancel(comm) => {
                let process = self.structure.event(e).process;
                if let Posted::Receive(receive) = c.state.posted(process, comm) {
                    self.extend_receive(c, receive, position);
                }
            }
            Op::Deliver => {
                let carried = c.state.carried_at(position);
                if let Posted::Receive(receive) = carried {
                    let mailbox = c.state.network().receives()[receive as usize].mailbox;
                    self.extend_later(c, mailbox, receive, position);
                }
                self.extend_owners(c, carried, e);
            }
            Op::Enter { .. } => {
                let entry = c.state.collectives().entries().len() as u32 - 1;
                self.extend_ends(c, entry);
            }
            _ => {}
        }
    }

    /// The extensions by all takers that a new send e concerns.
    fn extend_by_send(&mut self, c: &mut Configuration, send: u32, e: EventId) {
        let mailbox = c.state.network().sends()[send as usize].mailbox;
        let structure = &self.structure;
        let is_known = |receive: &Reception| {
            structure.is_at_or_before_in_configuration(c.events()[receive.at()], e)
        };
        let receives: SmallVec<[u32; 8]> =
            c.state.network().receives_since(mailbox, is_known).into();
        for receive in receives {
            if is_carried(c, receive) {
                let candidate = self.receiver(c, receive);
                let found = self.extend_pair(c, &candidate, send, None);
                self.enable(c, &candidate, found);
            }
        }
        for index in 0..c.state.network().ends(mailbox).probes.len() {
            let candidate = self.prober(c, mailbox, index);
            self.extend_pair(c, &candidate, send, None);
        }
        self.extend_pending_probes(c, mailbox, c.events().len() - 1);
    }

    /// The extensions by all takers that come later than a receive which was just matched or
    /// dropped at `position`: it may have been a competitor of theirs.
    fn extend_later(
        &mut self,
        c: &mut Configuration,
        mailbox: MailboxId,
        receive: u32,
        position: usize,
    ) {
        let receives = &c.state.network().ends(mailbox).receives;
        let later = receives.partition_point(|&other| other <= receive);
        let later: SmallVec<[u32; 8]> = receives[later..].into();
        for later in later {
            if is_carried(c, later) {
                self.extend_receive(c, later, position);
            }
        }
        let posted = c.state.network().receives()[receive as usize].at() as u32;
        let probes = &c.state.network().ends(mailbox).probes;
        for index in probes.partition_point(|probe| probe.at <= posted)..probes.len() {
            let candidate = self.prober(c, mailbox, index);
            self.extend_taker(c, &candidate, position);
        }
        self.extend_pending_probes(c, mailbox, position);
    }

    /// A probe of C as a candidate.
    fn prober(&self, c: &Configuration, mailbox: MailboxId, index: usize) -> Candidate {
        let probe = c.state.network().ends(mailbox).probes[index];
        let chosen = c.events()[probe.at as usize];
        let Op::Probe { form, .. } = *self.op(chosen) else { unreachable!("a probe") };
        let (taker, from) = (probe.taker(mailbox), self.place_of(chosen));
        Candidate { taker, from, chosen, form: Some(form), own: probe.own }
    }

    /// Adds what was found to the enabled events of the carrier of an open receive.
    fn enable(
        &self,
        c: &mut Configuration,
        candidate: &Candidate,
        found: impl IntoIterator<Item = EventId>,
    ) {
        let mut found = found.into_iter().peekable();
        if !candidate.chosen.is_some() && found.peek().is_some() {
            let carrier = candidate.from.process;
            let mut enabled: Events = c.enabled_of(carrier).into();
            enabled.extend(found);
            c.set_enabled(carrier, &enabled);
        }
    }

    /// The extensions by the process that receives at this mailbox, if it is about to probe.
    fn extend_pending_probes(
        &mut self,
        c: &mut Configuration,
        mailbox: MailboxId,
        position: usize,
    ) {
        if !self.locals.some_probes() {
            return;
        }
        for process in 0..self.locals.process_count() as u32 {
            let process = ProcessId(process);
            let local = c.state.local(process);
            if local == LocalId::ABSENT
                || c.events()[position] == c.cut_of(&self.structure, process)
            {
                continue;
            }
            match self.locals.op(local) {
                Some(&Op::Probe { mailbox: other, pattern, form }) if other == mailbox => {
                    let candidate = self.probe(c, process, (mailbox, pattern, form));
                    let found = self.extend_taker(c, &candidate, position);
                    let mut enabled: Events = c.enabled_of(process).into();
                    enabled.extend(found);
                    c.set_enabled(process, &enabled);
                }
                _ => {}
            }
        }
    }

    fn probe(
        &self,
        c: &Configuration,
        process: ProcessId,
        (mailbox, pattern, form): (MailboxId, Envelope, Probing),
    ) -> Candidate {
        let taker = c.state.network().newest_taker(mailbox, pattern);
        let from = self.origin(c, process);
        let own = Handle(c.state.posted_count(process));
        Candidate { taker, from, chosen: EventId::NONE, form: Some(form), own }
    }

    /// The extensions of C by a probe, whose process has just come to it.
    pub(super) fn extend_probe(
        &mut self,
        c: &Configuration,
        from: Origin,
        what: (MailboxId, Envelope, Probing),
    ) -> Events {
        let candidate = self.probe(c, from.process, what);
        let mut enabled = Events::new();
        for index in 0..c.state.network().sends_for(candidate.taker).len() {
            let send = c.state.network().sends_for(candidate.taker)[index];
            enabled.extend(self.extend_pair(c, &candidate, send, None));
        }
        if what.2 == Probing::Test && c.state.may_poll(&self.locals, from.process) {
            enabled.push(self.add_probe(c, &candidate, Choice::NOTHING, &[]));
        }
        enabled
    }

    /// The extensions of C by a carrier with an open receive.
    pub(super) fn extend_delivery(&mut self, c: &Configuration, carrier: ProcessId) -> Events {
        let receive = match c.state.carried(carrier) {
            Posted::Receive(receive) => receive,
            Posted::Entry(entry) => return self.extend_end(c, entry).into_iter().collect(),
            other => panic!("no carrier serves {other:?}"),
        };
        let candidate = self.receiver(c, receive);
        let mut enabled = Events::new();
        if !c.state.network().receives()[receive as usize].is_open() {
            return enabled;
        }
        for index in 0..c.state.network().sends_for(candidate.taker).len() {
            let send = c.state.network().sends_for(candidate.taker)[index];
            enabled.extend(self.extend_pair(c, &candidate, send, None));
        }
        if let Some(way) = c.state.network().dropping(receive) {
            enabled.extend(self.extend_way(c, &candidate, DROPPED, &way.causes));
        }
        enabled
    }

    /// The ends of entries that the newest one makes possible.
    fn extend_ends(&mut self, c: &mut Configuration, newest: u32) {
        let all = c.state.collectives();
        let needing: SmallVec<[u32; 8]> = all.needing(newest).collect();
        for entry in needing {
            let carrier = c.state.collectives().entries()[entry as usize].carrier;
            if let Some(end) = self.extend_end(c, entry) {
                c.set_enabled(carrier, &[end]);
            } else if entry == newest {
                c.set_enabled(carrier, &[]);
            }
        }
    }

    /// The end of an open entry, if what it needs is in C.
    fn extend_end(&mut self, c: &Configuration, entry: u32) -> Option<EventId> {
        let all = c.state.collectives();
        let Entry { carrier, .. } = all.entries()[entry as usize];
        let (ended, at) =
            (all.entries()[entry as usize].ended_at(), all.entries()[entry as usize].at());
        let causes = all.causes(entry).filter(|_| ended.is_none())?;
        let causes: SmallVec<[EventId; 8]> =
            causes.iter().map(|&at| c.events()[at as usize]).collect();
        let from = Origin {
            process: carrier,
            before: LocalId::CARRIER,
            previous: c.cut_of(&self.structure, carrier),
            after_event: c.events()[at],
        };
        let shape = Shape { choice: ENDED, ..Shape::plain(Response::Unit) };
        Some(self.add(c, from, shape, &causes))
    }

    fn receiver(&self, c: &Configuration, receive: u32) -> Candidate {
        let network = c.state.network();
        let reception = &network.receives()[receive as usize];
        let chosen = reception.matched_at().map_or(EventId::NONE, |at| c.events()[at]);
        let process = reception.carrier;
        let previous = match chosen {
            EventId::NONE => c.cut_of(&self.structure, process),
            chosen => self.structure.event(chosen).own.parent,
        };
        let (before, after_event) = (LocalId::CARRIER, c.events()[reception.at()]);
        let from = Origin { process, before, previous, after_event };
        Candidate { taker: network.taker(receive), from, chosen, form: None, own: Handle(0) }
    }

    /// The match of one receive with each send, and the dropping of the receive, if the event at
    /// `position` is among the causes.
    fn extend_receive(&mut self, c: &mut Configuration, receive: u32, position: usize) {
        let candidate = self.receiver(c, receive);
        let mut found = self.extend_taker(c, &candidate, position);
        let way = c.state.network().dropping(receive);
        if let Some(way) = way.filter(|way| way.causes.contains(&(position as u32))) {
            found.extend(self.extend_way(c, &candidate, DROPPED, &way.causes));
        }
        self.enable(c, &candidate, found);
    }

    /// The extensions by a taker and each send, with the event at `position` among their causes.
    fn extend_taker(
        &mut self,
        c: &Configuration,
        candidate: &Candidate,
        position: usize,
    ) -> Events {
        let mut found = Events::new();
        for index in 0..c.state.network().sends_for(candidate.taker).len() {
            let send = c.state.network().sends_for(candidate.taker)[index];
            found.extend(self.extend_pair(c, candidate, send, Some(position)));
        }
        found
    }

    /// The extension by a taker and a send, if there is one. With a position, only if that is among
    /// its causes.
    fn extend_pair(
        &mut self,
        c: &Configuration,
        candidate: &Candidate,
        send: u32,
        position: Option<usize>,
    ) -> Option<EventId> {
        let network = c.state.network();
        let causes = network.causes(candidate.taker, send)?;
        let is_new = position.is_none_or(|position| causes.contains(&(position as u32)));
        if !is_new {
            return None;
        }
        let sent = &network.sends()[send as usize];
        let taken =
            sent.receive().and_then(|other| network.receives()[other as usize].matched_at());
        if taken.is_some_and(|at| self.is_known(c, c.events()[at], &causes)) {
            return None;
        }
        let choice = Choice::message(sent.id);
        self.extend_way(c, candidate, choice, &causes)
    }

    /// The extension with these causes, unless the taker got something in their history.
    fn extend_way(
        &mut self,
        c: &Configuration,
        candidate: &Candidate,
        choice: Choice,
        causes: &Places,
    ) -> Option<EventId> {
        let chosen = candidate.chosen;
        if chosen.is_some() && self.is_known(c, chosen, causes) {
            return None;
        }
        let causes: SmallVec<[EventId; 4]> =
            causes.iter().map(|&at| c.events()[at as usize]).collect();
        Some(match candidate.form {
            None => {
                let shape = Shape { choice, ..Shape::plain(Response::Unit) };
                self.add(c, candidate.from, shape, &causes)
            }
            Some(_) => self.add_probe(c, candidate, choice, &causes),
        })
    }

    fn add_probe(
        &mut self,
        c: &Configuration,
        candidate: &Candidate,
        choice: Choice,
        causes: &[EventId],
    ) -> EventId {
        let from = candidate.from;
        let form = candidate.form.expect("a probe");
        let probed = c.state.probed(form, candidate.own, choice, &mut self.locals.values);
        self.add(c, from, Shape { choice, ..Shape::plain(Response::Value(probed)) }, causes)
    }

    /// Is `event` one of these causes, or before one?
    fn is_known(&self, c: &Configuration, event: EventId, causes: &Places) -> bool {
        causes.iter().any(|&at| {
            self.structure.is_at_or_before_in_configuration(event, c.events()[at as usize])
        })
    }

    /// The origin of an event: where its process was before it.
    pub(super) fn place_of(&self, event: EventId) -> Origin {
        let chosen = self.structure.event(event);
        Origin {
            process: chosen.process,
            before: chosen.before,
            previous: chosen.own.parent,
            after_event: chosen.after_event,
        }
    }

    /// The extensions by the processes that wait for the receive or entry that e has just ended, or
    /// for the send that a receive got.
    fn extend_owners(&mut self, c: &mut Configuration, carried: Posted, e: EventId) {
        let posted = c.events()[c.state.carried_from(carried)];
        let owner = self.structure.event(posted).process;
        let mut owners: SmallVec<[ProcessId; 2]> = smallvec![owner];
        let outcome = match carried {
            Posted::Receive(receive) => c.state.network().receives()[receive as usize].outcome(),
            _ => Settlement::Open,
        };
        if let Settlement::Matched(send) = outcome {
            let sent = &c.state.network().sends()[send as usize];
            if sent.completion == Completion::Late && sent.process != owners[0] {
                owners.push(sent.process);
            }
        }
        let acted = self.structure.event(e).process;
        for owner in owners.into_iter().filter(|&owner| owner != acted) {
            self.extend_other(c, owner, e, Part::Network.alone());
        }
        if !c.open.is_empty() {
            self.extend_open_choices(c, e, Part::Network.alone());
        }
    }

    /// A test at p2p or bag mailboxes that finds nothing, whatever is complete, if the bound on
    /// polls allows it.
    pub(super) fn extend_vain_poll(&mut self, c: &Configuration, from: Origin) -> Option<EventId> {
        let may_poll = c.state.may_poll(&self.locals, from.process);
        let shape = Shape { choice: Choice::NOTHING, ..Shape::plain(Response::Incomplete) };
        may_poll.then(|| self.add(c, from, shape, &[]))
    }
}
