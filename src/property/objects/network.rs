//! P2p and bag mailboxes: sends, receives, matches of the network, and probes.

use super::mailbox::{
    content, message_wanted, no_match, posted, receive_wanted, sends, wait_for_partner,
};
use super::{Arrow, ArrowKind, LeakKind, Named, Own, Past, Replay, Request, Wait, Words, label};
use crate::model::{
    Action, Choice, Completion, End, Envelope, Failure, FailureKind, Handle, Locals, MailboxId,
    May, Object, Posted, Probing, ProcessId, Response, Settlement, Site, State, System, Touch,
    ValueId,
};

pub(super) enum Use {
    Send { mailbox: MailboxId, envelope: Envelope, value: ValueId, completion: Completion },
    Receive { mailbox: MailboxId, pattern: Envelope },
    Probe { mailbox: MailboxId, pattern: Envelope, form: Probing },
    Cancel,
    CancelOutcome(Handle),
    Begin,
    Deliver,
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Send { completion: Completion::Late, .. } => "issend",
            Use::Send { .. } => "isend",
            Use::Receive { .. } => "irecv",
            Use::Probe { form: Probing::Wait, .. } => "probe",
            Use::Probe { form: Probing::Test | Probing::WhenStuck, .. } => "iprobe",
            Use::Probe { form: Probing::Take | Probing::Reserve, .. } => "mprobe",
            Use::Cancel | Use::CancelOutcome(_) => "cancel",
            Use::Begin => "mrecv",
            Use::Deliver => "match",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, by: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::Send { mailbox, envelope, value, .. } => sends(at, mailbox, envelope, value),
            Use::Receive { mailbox, pattern } => {
                format!("wants a message at {}{}", at.locals.name_of(mailbox), label(pattern))
            }
            Use::Probe { form, .. } => probed(at, form, by.choice),
            Use::Cancel => "asks for it to be cancelled".into(),
            Use::Begin => "receives the message that a probe took".into(),
            Use::CancelOutcome(comm) => match at.state.posted(by.process, comm) {
                Posted::Receive(receive) if settlement(at, receive) == Settlement::Dropped => {
                    "true: it is cancelled".into()
                }
                _ => "false: it has a message".into(),
            },
            Use::Deliver => delivered(at),
        })
    }

    fn view(&self, at: &Replay<'_, S>, process: ProcessId) -> Vec<Named> {
        match *self {
            Use::Send { mailbox, .. }
            | Use::Receive { mailbox, .. }
            | Use::Probe { mailbox, .. } => at.now(mailbox),
            Use::Deliver => match at.state.carried(process) {
                Posted::Receive(receive) => {
                    at.now(at.state.network().receives()[receive as usize].mailbox)
                }
                _ => Vec::new(),
            },
            Use::Cancel | Use::CancelOutcome(_) | Use::Begin => Vec::new(),
        }
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        match *self {
            Use::CancelOutcome(comm) => Some(at.wait_for((process, comm))),
            Use::Probe { mailbox, pattern, form } => {
                let mut wait = wait_for_message(at, process, mailbox, pattern);
                if form == Probing::WhenStuck {
                    wait.words += ", or until nothing else can move";
                    wait.hopeless = None;
                }
                Some(wait)
            }
            Use::Send { .. } | Use::Receive { .. } | Use::Cancel | Use::Begin | Use::Deliver => {
                None
            }
        }
    }

    fn wait_in_loop(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        match self {
            Use::Probe { .. } => self.wait(at, process),
            _ => None,
        }
    }

    /// For a carrier: place and text of the receive that it matches, or of the entry that it ends.
    fn site(&self, at: &Replay<'_, S>, process: ProcessId, _: Option<Choice>) -> Option<Site> {
        if !matches!(self, Use::Deliver) {
            return None;
        }
        let carried = at.state.carried(process);
        let local = at.state.before(at.state.carried_from(carried));
        let verb = match carried {
            Posted::Entry(_) => "end",
            _ => "match",
        };
        Some(match at.locals.system().describe().site(at.locals.get(local)) {
            Some(site) => Site { text: format!("{verb} of {}", site.text), ..site },
            None => Site { file: None, line: 0, column: 0, text: verb.into() },
        })
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let state = &past.replay.state;
        match self {
            Use::Deliver => match state.carried_at(to) {
                Posted::Entry(entry) => {
                    let own = state.collectives().entries()[entry as usize].at();
                    let last = past.needed(to).into_iter().filter(|&cause| cause != own).max();
                    Arrow::all(last, to, ArrowKind::Barrier)
                }
                _ => message(past, to),
            },
            Use::Probe { .. } => message(past, to),
            Use::Send { .. }
            | Use::Receive { .. }
            | Use::Cancel
            | Use::CancelOutcome(_)
            | Use::Begin => Vec::new(),
        }
    }
}

/// An arrow from the send whose message the step has matched or found.
fn message<S: System>(past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
    let state = &past.replay.state;
    let sent = state.taken(to).map(|send| state.network().sends()[send as usize].at());
    Arrow::all(past.of_others(sent, to), to, ArrowKind::Message)
}

/// The result of a step of a carrier: the message that it has matched.
fn delivered<S: System>(at: &Replay<'_, S>) -> String {
    let receive = match at.state.carried_at(at.state.depth() - 1) {
        Posted::Receive(receive) => receive,
        Posted::Entry(_) => return "all that it needs have entered".into(),
        other => panic!("nobody carries {other:?}"),
    };
    let Settlement::Matched(send) = settlement(at, receive) else { return "is cancelled".into() };
    let sent = &at.state.network().sends()[send as usize];
    let what = match sent.value {
        ValueId::UNIT => "the message".into(),
        value => at.value(value),
    };
    format!("gets {what} of {}{}", at.name(sent.process), label(sent.envelope))
}

/// The result of a probe.
fn probed<S: System>(at: &Replay<'_, S>, form: Probing, choice: Choice) -> String {
    let Some(send) = at.state.taken(at.state.depth() - 1) else {
        return "false: sees no message".into();
    };
    debug_assert_ne!(choice, Choice::NOTHING);
    let sent = &at.state.network().sends()[send as usize];
    let who = format!("{}{}", at.name(sent.process), label(sent.envelope));
    match form {
        Probing::Wait => format!("sees a message of {who}"),
        Probing::Test | Probing::WhenStuck => format!("true: sees a message of {who}"),
        Probing::Take | Probing::Reserve => format!("takes the message of {who}"),
    }
}

fn settlement<S: System>(at: &Replay<'_, S>, receive: u32) -> Settlement {
    at.state.network().receives()[receive as usize].outcome()
}

/// The wait for a message that this pattern accepts.
fn wait_for_message<S: System>(
    at: &Replay<'_, S>,
    process: ProcessId,
    mailbox: MailboxId,
    pattern: Envelope,
) -> Wait {
    let network = at.state.network();
    let there = network.ends(mailbox).sends.iter().map(|&send| &network.sends()[send as usize]);
    let there = there.filter(|sent| sent.receive().is_none());
    let (fitting, misfits): (Vec<_>, Vec<_>) =
        there.partition(|sent| pattern.accepts(sent.envelope));
    let but = match fitting.is_empty() {
        true => no_match("message", misfits.len()),
        false if at.stands_still() => " (what is there is for an earlier receive)".into(),
        false => " (what is there is not matched yet)".into(),
    };
    let words = message_wanted(at, mailbox, pattern) + &but;
    let touches = (
        Touch::new(mailbox.messages(), May::Add),
        Touch::new(mailbox.posts(End::Send), May::Change),
    );
    wait_for_partner(at, process, words, touches, pattern)
}

/// A send, by its index in the log.
pub(super) struct Sent(pub(super) u32);

impl<S: System> Request<S> for Sent {
    fn object(&self, state: &State) -> Object {
        state.network().sends()[self.0 as usize].mailbox.into()
    }

    fn leak(&self, _: &State) -> LeakKind {
        LeakKind::Message
    }

    fn completed(&self, at: &Replay<'_, S>, _: Own) -> String {
        let sent = &at.state.network().sends()[self.0 as usize];
        let is_begun = at.state.network().begun_at(sent).is_some();
        match sent.receive().filter(|_| sent.completion != Completion::Early && is_begun) {
            Some(receive) => {
                let receive = &at.state.network().receives()[receive as usize];
                format!("received by {}", at.name(receive.process))
            }
            None => "buffered".into(),
        }
    }

    fn is_complete(&self, at: &Replay<'_, S>, _: Own) -> bool {
        let sent = &at.state.network().sends()[self.0 as usize];
        sent.completion == Completion::Early || at.state.network().begun_at(sent).is_some()
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Wait {
        let network = at.state.network();
        let sent = &network.sends()[self.0 as usize];
        let receives = network.ends(sent.mailbox).receives.iter();
        let open = receives.map(|&receive| &network.receives()[receive as usize]);
        let misfits = open.filter(|receive| receive.is_open()).count();
        let words = match sent.receive() {
            None => receive_wanted(at, sent.mailbox) + &no_match("receive", misfits),
            Some(_) => "the receive of its message, which a probe has taken".into(),
        };
        let touches = (
            Touch::new(sent.mailbox.matches(), May::Add),
            Touch::new(sent.mailbox.posts(End::Receive), May::Change),
        );
        wait_for_partner(at, process, words, touches, sent.envelope)
    }
}

/// A receive, by its index in the log.
pub(super) struct Received(pub(super) u32);

impl<S: System> Request<S> for Received {
    fn object(&self, state: &State) -> Object {
        state.network().receives()[self.0 as usize].mailbox.into()
    }

    fn leak(&self, _: &State) -> LeakKind {
        LeakKind::Receive
    }

    fn completed(&self, at: &Replay<'_, S>, _: Own) -> String {
        match settlement(at, self.0) {
            Settlement::Matched(send) => {
                let sent = &at.state.network().sends()[send as usize];
                format!("receives{} from {}", content(at, sent.value), at.name(sent.process))
            }
            _ => "it was cancelled".into(),
        }
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Wait {
        let receive = &at.state.network().receives()[self.0 as usize];
        wait_for_message(at, process, receive.mailbox, receive.pattern)
    }

    /// The arrow leads to the match instead, which is an earlier step.
    fn arrows(&self, _: &Past<'_, '_, S>, _: usize) -> Vec<Arrow> {
        Vec::new()
    }
}

/// The sends and the receives at a mailbox that are not matched.
pub(super) fn open<S: System>(at: &Replay<'_, S>, mailbox: MailboxId) -> [Vec<String>; 2] {
    let (network, ends) = (at.state.network(), at.state.network().ends(mailbox));
    let sends = ends.sends.iter().map(|&send| &network.sends()[send as usize]);
    let sends = sends.filter(|sent| sent.receive().is_none());
    let receives = ends.receives.iter().map(|&receive| &network.receives()[receive as usize]);
    let receives = receives.filter(|receive| receive.is_open());
    [
        sends.map(|one| posted(at, End::Send, one.process, one.value, one.envelope)).collect(),
        receives
            .map(|one| posted(at, End::Receive, one.process, ValueId::UNIT, one.pattern))
            .collect(),
    ]
}

/// Two processes receive at a mailbox that is for one receiver.
pub(super) fn shared<S: System>(locals: &Locals<'_, S>, mailbox: MailboxId) -> Failure {
    let name = locals.name_of(mailbox);
    let message = format!("two processes receive at {name}, which is for one receiver");
    Failure { kind: FailureKind::Error, message, site: None }
}
