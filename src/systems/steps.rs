//! Steps at p2p and bag mailboxes, and collectives.

use super::builder::{Builder, Collective, Communication, Expression, Mailbox, Step};
use super::instruction::Instruction;
use crate::model::{
    Call, CollectiveId, Completion, Delivery, Envelope, LatchId, MailboxId, Op, Polls, Probing,
};

impl Builder {
    /// A mailbox that keeps only the order of messages of one sender, as MPI does. Only one process
    /// receives there. The source of a send without a source is the index of its process among
    /// those that exist from the start.
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
    let (comm, value, completion) = (Some(name.0), Some(value.into()), Completion::Late);
    Step::new([Instruction::Post { comm, mailbox: mailbox.0, envelope, value, completion }])
}

/// Waits until a receive at this p2p or bag mailbox would get a message. The result is the source
/// of the message.
#[track_caller]
pub fn probe(mailbox: Mailbox, pattern: Envelope) -> Step {
    look(0, mailbox, pattern, Probing::Wait)
}

/// Checks whether a receive at this p2p or bag mailbox would get a message. The result is the
/// source of the message, or -1. It may always be -1, because messages may be under way.
#[track_caller]
pub fn iprobe(mailbox: Mailbox, pattern: Envelope) -> Step {
    look(0, mailbox, pattern, Probing::Test)
}

/// Waits for a message at this p2p or bag mailbox and takes it, as a communication that is
/// complete. The result is the source of the message.
#[track_caller]
pub fn mprobe(name: Communication, mailbox: Mailbox, pattern: Envelope) -> Step {
    look(name.0, mailbox, pattern, Probing::Take)
}

#[track_caller]
fn look(comm: usize, mailbox: Mailbox, pattern: Envelope, form: Probing) -> Step {
    Step::new([Instruction::Probe { comm, mailbox: mailbox.0, pattern, form, into: None }])
}

/// Enters a collective; the communication continues in the background. It receives the sum of the
/// contributions of the ranks that it waited for. `completion` says when it is complete.
#[track_caller]
pub fn enter(
    name: Communication,
    Collective(collective): Collective,
    call: Call,
    value: impl Into<Expression>,
    completion: Completion,
) -> Step {
    let (comm, value) = (Some(name.0), value.into());
    Step::new([Instruction::Enter { comm, collective, call, value, completion }])
}

/// Cancels a receive at a p2p or bag mailbox, unless it is matched first. The result is 1 if it is
/// cancelled, otherwise 0.
#[track_caller]
pub fn cancel(name: Communication) -> Step {
    let comm = name.0;
    Step::new([Instruction::Cancel(comm), Instruction::CancelOutcome { comm, into: None }])
}

/// A declared latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Latch(LatchId);

impl Builder {
    /// Declares a latch that this number of counts opens.
    pub fn latch(&mut self, name: impl Into<String>, counts: u32) -> Latch {
        self.objects.latches.push(name, counts);
        Latch(LatchId(self.objects.latches.len() as u32 - 1))
    }
}

/// Counts a latch down.
#[track_caller]
pub fn count_down(latch: Latch) -> Step {
    Step::new([Instruction::Plain(Op::CountDown(latch.0), "count_down")])
}

/// Waits until a latch is counted down to zero.
#[track_caller]
pub fn latch_wait(latch: Latch) -> Step {
    Step::new([Instruction::Plain(Op::LatchWait(latch.0), "wait")])
}
