//! Mailboxes: sends and receives.

use super::{
    Arrow, ArrowKind, Await, LeakKind, Named, Own, Past, Replay, Request, Wait, Words, label,
    listed, network,
};
use crate::model::{
    Action, Delivery, End, Envelope, Handle, MailboxId, May, Need, Object, Part, ProcessId,
    Response, State, System, Touch, ValueId,
};

pub(super) enum Use {
    Isend { mailbox: MailboxId, envelope: Envelope, value: ValueId },
    Irecv(MailboxId),
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Isend { .. } => "isend",
            Use::Irecv(_) => "irecv",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, _: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::Isend { mailbox, envelope, value } => {
                let sent = sends(at, mailbox, envelope, value);
                match newest(at, mailbox, End::Send) {
                    Some(taker) => format!("{sent}; pairs with a receive of {taker}"),
                    None => sent,
                }
            }
            Use::Irecv(mailbox) => match newest(at, mailbox, End::Receive) {
                Some(sender) => format!("pairs with a send of {sender}"),
                None => "no message yet".into(),
            },
        })
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        let (Use::Isend { mailbox, .. } | Use::Irecv(mailbox)) = *self;
        at.now(mailbox)
    }

    /// A post that is paired at once has an arrow from its partner. But if a process observes that
    /// the message has arrived, the only arrow of the message leads to that step.
    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let (mailbox, end) = match *self {
            Use::Isend { mailbox, .. } => (mailbox, End::Send),
            Use::Irecv(mailbox) => (mailbox, End::Receive),
        };
        let position = past.effect(to).acts[0].place;
        let posts = past.replay.state.mailbox(mailbox);
        let partner = posts.posts(end)[position as usize].partner();
        let (sends, opposite) = (mailbox.posts(End::Send), mailbox.posts(end.opposite()));
        let from = partner.map(|partner| past.change(opposite, partner));
        let from = from.filter(|&from| from < to);
        let (kind, send) = match end {
            End::Send => (ArrowKind::Pairing, Some(position)),
            End::Receive => (ArrowKind::Message, partner),
        };
        let has_arrived = send.is_some_and(|send| past.first_with(Need::At(sends, send)).is_some());
        Arrow::all(from.filter(|_| !has_arrived), to, kind)
    }
}

/// A wait or a test for one of these communications.
pub(super) fn complete(comms: &[Handle], is_test: bool) -> Await {
    let name = if is_test { "test" } else { "wait" };
    Await { name, none: "nothing is complete", handles: comms.to_vec(), is_test }
}

/// A send or receive.
pub(super) struct Post {
    pub(super) mailbox: MailboxId,
    pub(super) end: End,
    pub(super) position: u32,
}

impl<S: System> Request<S> for Post {
    fn object(&self, _: &State) -> Object {
        self.mailbox.into()
    }

    fn leak(&self, _: &State) -> LeakKind {
        match self.end {
            End::Send => LeakKind::Message,
            End::Receive => LeakKind::Receive,
        }
    }

    fn completed(&self, at: &Replay<'_, S>, _: Own) -> String {
        let mailbox = at.state.mailbox(self.mailbox);
        let partner = mailbox.posts(self.end)[self.position as usize].partner();
        let partner = partner.expect("a completed communication has a partner") as usize;
        let post = &mailbox.posts(self.end.opposite())[partner];
        match self.end {
            End::Receive => {
                format!("receives{} from {}", content(at, post.value), at.name(post.process))
            }
            End::Send => format!("received by {}", at.name(post.process)),
        }
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Wait {
        let &Post { mailbox, end, position } = self;
        let posts = at.state.mailbox(mailbox);
        let own = posts.posts(end)[position as usize].envelope;
        let opposite = posts.posts(end.opposite());
        let misfits = opposite.iter().filter(|post| post.partner().is_none()).count();
        let touch = Touch::new(mailbox.posts(end.opposite()), May::Change);
        let words = match end {
            End::Receive => message_wanted(at, mailbox, own) + &no_match("message", misfits),
            End::Send => receive_wanted(at, mailbox) + &no_match("receive", misfits),
        };
        wait_for_partner(at, process, words, (touch, touch), own)
    }

    /// The message of a receive arrives at the first step that observes it.
    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let need = past.effect(to).needs[0];
        let arrives = self.end == End::Receive && past.first_with(need) == Some(to);
        let sent = past.needed(to).into_iter().filter(|_| arrives);
        Arrow::all(sent, to, ArrowKind::Message)
    }
}

pub(super) fn message_wanted<S: System>(
    at: &Replay<'_, S>,
    mailbox: MailboxId,
    pattern: Envelope,
) -> String {
    format!("a message at {}{}", at.locals.name_of(mailbox), label(pattern))
}

pub(super) fn receive_wanted<S: System>(at: &Replay<'_, S>, mailbox: MailboxId) -> String {
    format!("a receive at {} to match its send", at.locals.name_of(mailbox))
}

/// A remark that `count` posts are there, of which none matches.
pub(super) fn no_match(noun: &str, count: usize) -> String {
    match count {
        0 => String::new(),
        1 => format!(" (the {noun} that is there does not match)"),
        n => format!(" (the {n} {noun}s that are there do not match)"),
    }
}

/// The wait for a post that matches `own`. A process with `touch` may supply it. `post` is the
/// touch under which a [`Reach`](crate::model::Reach) has the envelopes of such posts.
pub(super) fn wait_for_partner<S: System>(
    at: &Replay<'_, S>,
    process: ProcessId,
    words: String,
    (touch, post): (Touch, Touch),
    own: Envelope,
) -> Wait {
    let (verb, sends_to) = match post.lane.part() {
        Part::Sends => ("sends there", Some(MailboxId(post.lane.object()))),
        _ => ("receives there", None),
    };
    let fits = |&other: &ProcessId| match (at.reach(other), sends_to) {
        (Some(reach), _) => reach.may_meet(at.locals.declared(post), own),
        (None, Some(mailbox)) => at.locals.may_send(at.state.local(other), mailbox, own),
        (None, None) => true,
    };
    let suppliers = at.suppliers(touch).into_iter();
    let helpers = suppliers.filter(|&p| p != process).filter(fits).collect();
    Wait::for_one(words, helpers, || why_no_post(at, process, touch, verb))
}

/// Why no other process posts what `process` waits for.
fn why_no_post<S: System>(
    at: &Replay<'_, S>,
    process: ProcessId,
    touch: Touch,
    verb: &str,
) -> String {
    let may_ever = |&p: &ProcessId| at.may_ever(p, touch);
    if at.suppliers(touch).iter().any(|&p| p != process) {
        return format!("no process that is left {verb} what matches");
    }
    if at.others(process).any(|p| may_ever(&p)) {
        return format!("no process that is left {verb} any more");
    }
    let ended = at.state.program_processes().any(|p| p != process && may_ever(&p));
    match (ended, may_ever(&process)) {
        (true, _) => format!("every process that {verb} has ended"),
        (false, true) => format!("no other process {verb}"),
        (false, false) => format!("no process {verb}"),
    }
}

/// The posts at both ends that have no partner.
pub(super) fn now<S: System>(at: &Replay<'_, S>, mailbox: MailboxId) -> Vec<Named> {
    let name = at.locals.name_of(mailbox);
    let [messages, receives] = match at.state.network().delivery(mailbox) {
        Delivery::Ordered => [End::Send, End::Receive].map(|end| {
            let posts = at.state.mailbox(mailbox).posts(end).iter();
            let open = posts.filter(|post| post.partner().is_none());
            open.map(|post| posted(at, end, post.process, post.value, post.envelope)).collect()
        }),
        Delivery::P2p | Delivery::Bag => network::open(at, mailbox),
    };
    vec![
        (format!("messages at {name}"), listed(messages, "none")),
        (format!("receives at {name}"), listed(receives, "none")),
    ]
}

/// `"3 of Sender with tag 2"`; for a receive only `"Receiver with tag 2"`.
pub(super) fn posted<S: System>(
    at: &Replay<'_, S>,
    end: End,
    process: ProcessId,
    value: ValueId,
    envelope: Envelope,
) -> String {
    let whose = format!("{}{}", at.name(process), label(envelope));
    match end {
        End::Send => match content(at, value) {
            none if none.is_empty() => format!("one of {whose}"),
            words => format!("{} of {whose}", words.trim_start()),
        },
        End::Receive => whose,
    }
}

/// The process whose post is the partner of the newest post at this end.
fn newest<'r, S: System>(at: &'r Replay<'_, S>, mailbox: MailboxId, end: End) -> Option<&'r str> {
    let mailbox = at.state.mailbox(mailbox);
    let partner = mailbox.posts(end).last()?.partner()?;
    Some(at.name(mailbox.posts(end.opposite())[partner as usize].process))
}

pub(super) fn sends<S: System>(
    at: &Replay<'_, S>,
    mailbox: MailboxId,
    envelope: Envelope,
    value: ValueId,
) -> String {
    let name = at.locals.name_of(mailbox);
    format!("sends{} to {name}{}", content(at, value), label(envelope))
}

/// `" 3"`, or nothing for unit.
pub(super) fn content<S: System>(at: &Replay<'_, S>, value: ValueId) -> String {
    match at.value(value) {
        // Some contents have no words.
        words if value == ValueId::UNIT || words.is_empty() => String::new(),
        words => format!(" {words}"),
    }
}
