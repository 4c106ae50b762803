//! What those wait for who wait at p2p and bag mailboxes.

use super::Wait;
use crate::model::{End, Envelope, MailboxId, May, Part, ProcessId, System, Touch};
use crate::property::Replay;
use crate::property::narration::label;

impl<S: System> Replay<'_, S> {
    /// The wait for a message that this pattern accepts.
    pub(super) fn wait_for_message(
        &self,
        process: ProcessId,
        mailbox: MailboxId,
        pattern: Envelope,
    ) -> Wait {
        let name = self.locals.name_of(mailbox);
        let network = self.state.network();
        let there = network.ends(mailbox).sends.iter().map(|&send| &network.sends()[send as usize]);
        let there = there.filter(|sent| sent.receive().is_none());
        let (fitting, misfits): (Vec<_>, Vec<_>) =
            there.partition(|sent| pattern.accepts(sent.envelope));
        let mut words = format!("a message at {name}{}", label(pattern));
        words += &match (fitting.len(), misfits.len()) {
            (0, 0) => String::new(),
            (0, 1) => " (the message that is there does not match)".into(),
            (0, n) => format!(" (the {n} messages that are there do not match)"),
            _ => " (what is there is for an earlier receive)".into(),
        };
        let touch = Touch::new(mailbox.messages(), May::Add);
        let post = Touch::new(mailbox.posts(End::Send), May::Change);
        self.wait_for_partner(process, words, (touch, post), pattern, "sends there")
    }

    /// The wait of a synchronous send for a receive.
    pub(super) fn wait_for_receiver(&self, process: ProcessId, send: u32) -> Wait {
        let network = self.state.network();
        let sent = &network.sends()[send as usize];
        let name = self.locals.name_of(sent.mailbox);
        let receives = network.ends(sent.mailbox).receives.iter();
        let open = receives.map(|&receive| &network.receives()[receive as usize]);
        let misfits = open.filter(|receive| receive.is_open()).count();
        let words = format!("a receive at {name} to match its send")
            + &match misfits {
                0 => String::new(),
                1 => " (the receive that is there does not match)".into(),
                n => format!(" (the {n} receives that are there do not match)"),
            };
        let touch = Touch::new(sent.mailbox.matches(), May::Add);
        let post = Touch::new(sent.mailbox.posts(End::Receive), May::Change);
        self.wait_for_partner(process, words, (touch, post), sent.envelope, "receives there")
    }

    /// The wait for the others to enter a collective.
    pub(super) fn wait_for_entries(&self, entry: u32) -> Wait {
        let all = self.state.collectives();
        let own = &all.entries()[entry as usize];
        let (collective, name) = (all.get(own.collective), self.locals.name_of(own.collective));
        let entered = collective.entries(own.round);
        let here: Vec<_> = entered.map(|other| all.entries()[other as usize].process).collect();
        let missing = all.missing(entry);
        let ranks: Vec<_> = missing.iter().map(u32::to_string).collect();
        let words = format!(
            "rank {} to enter {name}, round {}: {} of {} have",
            ranks.join(", "),
            own.round + 1,
            here.len(),
            collective.size
        );
        let mut helpers = self.suppliers(Touch::new(own.collective.ends(), May::Add));
        helpers.retain(|other| !here.contains(other));
        let hopeless = (helpers.len() < missing.len()).then(|| match helpers.len() {
            0 => "nobody is left to enter".into(),
            n => format!("{} are missing and only {n} could enter", missing.len()),
        });
        let helpers = if hopeless.is_some() { Vec::new() } else { helpers };
        Wait { words, helpers, hopeless }
    }

    fn wait_for_partner(
        &self,
        process: ProcessId,
        words: String,
        (touch, post): (Touch, Touch),
        envelope: Envelope,
        verb: &str,
    ) -> Wait {
        let fits = |other: &ProcessId| match self.reach(*other) {
            Some(reach) => reach.may_meet(self.locals.declared(post), envelope),
            None => self.may_post(*other, post, envelope),
        };
        let suppliers = self.suppliers(touch).into_iter();
        let helpers: Vec<_> = suppliers.filter(|&p| p != process).filter(fits).collect();
        let hopeless = helpers.is_empty().then(|| self.why_no_post(process, touch, verb));
        Wait { words, helpers, hopeless }
    }

    /// May a process of which only its beginning is known ever do this?
    fn may_post(&self, process: ProcessId, post: Touch, envelope: Envelope) -> bool {
        let mailbox = MailboxId(post.lane.object());
        post.lane.part() != Part::Sends
            || self.locals.may_send(self.state.local(process), mailbox, envelope)
    }
}
