//! Steps at p2p and bag mailboxes, and collectives.

use std::sync::Arc;

use super::assembly::Origin;
use super::steps::named_send;
use super::{Builder, Collective, Communication, Expression, Mailbox, Step};
use crate::lang::code::{Instr, Visible};
use crate::model::{
    Call, CollectiveId, Completion, Delivery, Envelope, MailboxId, Object, Partners, Polls, Probing,
};

impl Builder {
    /// A mailbox that keeps only the order of messages of one sender, as MPI does. Only one process
    /// receives there. The source of a send without a source is the index of its process among
    /// those that exist from the start, or -1. The tag of a send without a tag is 0.
    pub fn p2p_mailbox(&mut self, name: impl Into<String>) -> Mailbox {
        self.objects.mailboxes.push(name, Delivery::P2p);
        Mailbox(MailboxId(self.objects.mailboxes.len() as u32 - 1))
    }

    /// A mailbox like [`p2p_mailbox`](Builder::p2p_mailbox), but without any order.
    pub fn bag_mailbox(&mut self, name: impl Into<String>) -> Mailbox {
        self.objects.mailboxes.push(name, Delivery::Bag);
        Mailbox(MailboxId(self.objects.mailboxes.len() as u32 - 1))
    }

    /// Sets the maximum number of consecutive unsuccessful polls (a test or an [`iprobe`]) at p2p
    /// or bag mailboxes. Then the process waits for what it polls. The default is 2.
    pub fn max_polls(&mut self, polls: u8) {
        self.objects.max_polls = Polls(polls);
    }

    /// A collective of this number of ranks. The rank of a process is its index among those that
    /// exist from the start.
    pub fn collective(&mut self, name: impl Into<String>, ranks: u32) -> Collective {
        self.objects.collectives.push(name, ranks);
        Collective(CollectiveId(self.objects.collectives.len() as u32 - 1))
    }
}

/// Starts to send like [`isend_with`](super::isend_with), but at a p2p or bag mailbox the send is
/// complete only when it is matched with a receive.
#[track_caller]
pub fn issend_with(
    name: Communication,
    mailbox: Mailbox,
    value: impl Into<Expression>,
    envelope: Envelope,
) -> Step {
    named_send("issend", name, mailbox, value.into(), envelope, Completion::Late)
}

/// Waits until a receive at this p2p or bag mailbox would get a message. The result is the source
/// of the message.
#[track_caller]
pub fn probe(mailbox: Mailbox, pattern: Envelope) -> Step {
    look("probe", None, mailbox, pattern, Probing::Wait)
}

/// Checks whether a receive at this p2p or bag mailbox would get a message. The result is the
/// source of the message, or -1. It may always be -1, because messages may be under way.
#[track_caller]
pub fn iprobe(mailbox: Mailbox, pattern: Envelope) -> Step {
    look("iprobe", None, mailbox, pattern, Probing::Test)
}

/// Waits for a message at this p2p or bag mailbox and takes it, as a communication that is
/// complete. The result is the source of the message.
#[track_caller]
pub fn mprobe(name: Communication, mailbox: Mailbox, pattern: Envelope) -> Step {
    look("mprobe", Some(name), mailbox, pattern, Probing::Take)
}

#[track_caller]
fn look(
    step: &'static str,
    name: Option<Communication>,
    Mailbox(mailbox): Mailbox,
    Envelope { src, tag }: Envelope,
    form: Probing,
) -> Step {
    Step::new(step, [Object::Mailbox(mailbox)], move |code| {
        if !code.is_of_network(mailbox) {
            return code.fail("only p2p and bag mailboxes can be probed");
        }
        code.object(mailbox.0);
        [src, tag].into_iter().flatten().for_each(|number| code.int(number));
        code.visible(Visible::Probe { form, src: src.is_some(), tag: tag.is_some(), timed: false });
        // The answer ends with source and tag.
        if let Some(name) = name {
            code.emit(Instr::Dup);
            code.emit(Instr::Field(0));
            code.keep(name, Origin { is_receive: true, is_of_network: true });
        }
        code.emit(Instr::Field(u32::from(form != Probing::Wait)));
    })
    .with_result()
}

/// Enters a collective; the communication continues in the background. It receives the sum of the
/// contributions of the ranks that it waited for. `completion` says when it is complete, and
/// `partners` which ranks it waits for, if the kind of the call does not say it.
#[track_caller]
pub fn enter(
    name: Communication,
    Collective(collective): Collective,
    call: Call,
    value: impl Into<Expression>,
    completion: Completion,
    partners: Option<Partners>,
) -> Step {
    let (value, Call { kind, root, operator }) = (value.into(), call);
    let partners = partners.map(Arc::new);
    let step = format!("i{}", kind.name());
    Step::new(step, [Object::Collective(collective)], move |code| {
        let Some(rank) = code.rank() else {
            return code
                .fail("only processes that exist from the start have a rank in a collective");
        };
        code.object(collective.0);
        root.into_iter().for_each(|root| code.int(i64::from(root)));
        code.value(&value);
        code.int(i64::from(rank));
        let (root, completion) = (root.is_some(), Some(completion));
        let partners = partners.as_ref().map(|partners| code.partners(partners));
        let (value, rank) = (true, true);
        code.visible(Visible::Enter { kind, operator, root, value, rank, completion, partners });
        code.keep(name, Origin { is_receive: true, is_of_network: true });
    })
}

/// Cancels a receive at a p2p or bag mailbox, unless it is matched first. The result is 1 if it is
/// cancelled, otherwise 0.
#[track_caller]
pub fn cancel(name: Communication) -> Step {
    Step::new("cancel", [], move |code| {
        code.begun_receive(name);
        code.cancel();
    })
    .with_result()
}
