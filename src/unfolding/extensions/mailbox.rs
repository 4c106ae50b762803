//! Extensions at mailboxes: posts, waits and tests of communications.
//!
//! - isend, irecv: each position in the chain of its end, from the last one that `[pre]` knows on. If the post
//!   is paired with a request whose tests failed in C, also each position among those tests.
//! - wait, waitany→j, test→true, testany→j: the partner.
//! - test→false, testany→none: `[pre]` alone, if it holds no partner.

use smallvec::{SmallVec, smallvec};

use super::{Events, Origin, Results, Shape};
use crate::model::{
    Choice, End, Envelope, Handle, MailboxId, Op, Probing, ProcessId, Response, System,
};
use crate::unfolding::event::{EventId, EventKind, Watch};
use crate::unfolding::lanes::Lane;
use crate::unfolding::{Configuration, Unfolding};

/// A send or receive about to be posted.
#[derive(Clone, Copy)]
pub(super) struct Post {
    mailbox: MailboxId,
    end: End,
    envelope: Envelope,
}

impl Post {
    pub(super) fn of(op: &Op) -> Post {
        match *op {
            Op::Isend { mailbox, envelope, .. } => Post { mailbox, end: End::Send, envelope },
            Op::Irecv { mailbox, pattern } => {
                Post { mailbox, end: End::Receive, envelope: pattern }
            }
            ref other => panic!("{other:?} posts nothing"),
        }
    }
}

impl<S: System> Unfolding<'_, S> {
    pub(super) fn extend_post(&mut self, c: &Configuration, from: Origin, post: Post) -> Events {
        let chain = self.structure.lanes.posts(post.mailbox, post.end);
        let mut last = EventId::NONE;
        for position in self.positions(c, from, chain) {
            last = self.extend_post_at(c, from, post, chain, position);
        }
        smallvec![last]
    }

    /// The extensions at one position of the chain: without failed tests, and after each of them.
    fn extend_post_at(
        &mut self,
        c: &Configuration,
        from: Origin,
        post: Post,
        chain: Lane,
        position: u32,
    ) -> EventId {
        let link = c.before(chain, position);
        let shape = self.post_shape(c, from, post, chain, link);
        let mut last = self.add(c, from, shape, &[link]);
        if c.tests[chain.index()].is_empty() {
            return last;
        }
        for index in 0..c.tests[chain.index()].len() {
            let test = c.tests[chain.index()][index];
            if self.completes_tested(c, post, chain, position, test) {
                last = self.add(c, from, shape, &[link, test]);
            }
        }
        last
    }

    fn post_shape(
        &self,
        c: &Configuration,
        from: Origin,
        post: Post,
        chain: Lane,
        link: EventId,
    ) -> Shape<'static> {
        let change = Shape::change(chain, self.posted(c, from));
        Shape { link, envelope: post.envelope, ..change }
    }

    /// Would the post at this position be the partner of a request that `test` saw unpaired?
    fn completes_tested(
        &self,
        c: &Configuration,
        post: Post,
        chain: Lane,
        position: u32,
        test: EventId,
    ) -> bool {
        let mailbox = c.state.mailbox(post.mailbox);
        let Some(partner) = mailbox.partner_at(post.end, position, post.envelope) else {
            return false;
        };
        let partner = c.at(self.structure.lanes.opposite(chain), partner);
        let watches = |watch: &Watch| watch.lane == chain && watch.request == partner;
        self.known(test, chain) <= position && self.structure.watches[&test].iter().any(watches)
    }

    /// A process at a post, when e joins C: the post before it in the chain, or a failed test.
    pub(super) fn extend_post_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        post: Post,
        e: EventId,
    ) {
        let chain = self.structure.lanes.posts(post.mailbox, post.end);
        let event = self.structure.event(e);
        if event.chain == chain {
            let from = self.origin(c, process);
            let position = c.len_of(chain);
            let enabled = self.extend_post_at(c, from, post, chain, position);
            self.set_only_enabled(c, process, enabled);
        } else if event.kind == EventKind::FailedTest
            && self.structure.watches[&e].iter().any(|watch| watch.lane == chain)
        {
            let from = self.origin(c, process);
            for position in self.positions(c, from, chain) {
                if !self.completes_tested(c, post, chain, position, e) {
                    continue;
                }
                let link = c.before(chain, position);
                let shape = self.post_shape(c, from, post, chain, link);
                let extension = self.add(c, from, shape, &[link, e]);
                if position == c.len_of(chain) {
                    self.set_only_enabled(c, process, extension);
                }
            }
        }
    }

    pub(super) fn extend_completed(
        &mut self,
        c: &Configuration,
        from: Origin,
        comms: &[Handle],
    ) -> Events {
        let mut enabled = Events::new();
        for (index, &comm) in comms.iter().enumerate() {
            if c.state.is_of_network(from.process, comm) {
                enabled.extend(self.extend_fetched(c, from, (index, comm)));
                continue;
            }
            if let (mailbox, end, _, Some(partner)) = c.state.communication(from.process, comm) {
                let chain = self.structure.lanes.posts(mailbox, end.opposite());
                let cause = c.at(chain, partner);
                let (choice, response) = self.completed(c, from.process, index, comm);
                let shape = Shape { choice, ..Shape::plain(response) };
                enabled.push(self.add(c, from, shape, &[cause]));
            }
        }
        enabled
    }

    pub(super) fn completed(
        &self,
        c: &Configuration,
        process: ProcessId,
        index: usize,
        comm: Handle,
    ) -> (Choice, Response) {
        let value = c.state.received(process, comm);
        (Choice(index as i32), Response::Completed { index: index as u32, value })
    }

    pub(super) fn extend_test(
        &mut self,
        c: &Configuration,
        from: Origin,
        comms: &[Handle],
    ) -> Events {
        let failed = self.extend_failed_test(c, from, comms);
        let succeeded = self.extend_completed(c, from, comms);
        match succeeded.is_empty() {
            true => smallvec![failed],
            false => succeeded,
        }
    }

    fn extend_failed_test(&mut self, c: &Configuration, from: Origin, comms: &[Handle]) -> EventId {
        let mut watches: SmallVec<[Watch; 2]> = SmallVec::new();
        for &comm in comms {
            let (mailbox, end, position, partner) = c.state.communication(from.process, comm);
            let lane = self.structure.lanes.posts(mailbox, end.opposite());
            let own = self.structure.lanes.posts(mailbox, end);
            if partner.is_some_and(|partner| partner < self.known(from.after_event, lane)) {
                return EventId::NONE;
            }
            watches.push(Watch { lane, request: c.at(own, position) });
        }
        let kind = EventKind::FailedTest;
        let plain = Shape::plain(Response::Incomplete);
        self.add(c, from, Shape { choice: Choice::NOTHING, kind, watches: &watches, ..plain }, &[])
    }

    /// The places in this list of communications that e completes.
    pub(super) fn completions_by(
        &self,
        c: &Configuration,
        process: ProcessId,
        comms: &[Handle],
        e: EventId,
    ) -> Results {
        let event = self.structure.event(e);
        if let Op::Deliver | Op::Probe { form: Probing::Take, .. } = self.op(e) {
            return self.fetches_by(c, process, comms, e);
        }
        if event.kind != EventKind::Change || !self.structure.lanes.is_posts(event.chain) {
            return Results::new();
        }
        let completes = |comm: Handle| {
            if c.state.is_of_network(process, comm) {
                return false;
            }
            let (mailbox, end, _, partner) = c.state.communication(process, comm);
            self.structure.lanes.posts(mailbox, end.opposite()) == event.chain
                && partner == Some(event.link.depth - 1)
        };
        let completed = comms.iter().enumerate().filter(|&(_, &comm)| completes(comm));
        completed.map(|(index, &comm)| self.completed(c, process, index, comm)).collect()
    }
}
