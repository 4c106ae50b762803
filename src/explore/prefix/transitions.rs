//! What a net knows of a transition besides what it changes: how it is carried out on the model.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::model::{Choice, MailboxId, ProcessId, Stimulus};
use crate::unfolding::prefix::{Line, Next};

/// What the search needs to know about a transition, besides what the net says.
#[derive(Clone, Debug)]
pub struct Step {
    pub(super) how: How,
    /// Must the driver judge the state after it?
    pub(crate) is_judged: bool,
    /// Does it start a process?
    pub(crate) starts: bool,
    /// May it be delayed for ever, although it is enabled?
    #[cfg_attr(not(feature = "sat"), expect(dead_code, reason = "questions to the solver ask it"))]
    pub(super) delay: Delay,
}

impl Step {
    /// The number of actions of the model that it takes.
    pub(super) fn actions(&self) -> usize {
        match &self.how {
            How::Choices(choices) => choices.len(),
            How::Reaction(_) | How::Message(..) | How::Numbered(..) => 1,
        }
    }
}

/// Whether an enabled transition may be delayed for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Delay {
    Never,
    Always,
    /// While one of these lines is as it was at the start.
    While(SmallVec<[Line; 2]>),
}

/// What is found out only on the way about how a net has to be built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The mutexes that are not taken in one step, by their declared indices.
    pub(super) queued: FxHashSet<u32>,
    /// Do the finest pieces ([`State::posts`](crate::model::State::posts)) not do? They are for
    /// programs whose processes really run, without bag mailboxes and processes that are started,
    /// and if calls of collectives agree.
    pub(super) is_coarse: bool,
    /// Are there no cutoffs? They leave out from ends what happened before them.
    pub(super) is_whole: bool,
}

/// How a transition is carried out on the model.
#[derive(Clone, Debug)]
pub(super) enum How {
    /// By these choices: two if it locks a mutex in one step.
    Choices(SmallVec<[Choice; 2]>),
    /// By the handler for a message with this content, or by this internal handler. (Messages have
    /// names that depend on the execution.)
    Reaction(Stimulus),
    /// By taking, at this mailbox, the message at this place in the piece of this sender.
    Message(MailboxId, Option<ProcessId>, usize),
    /// By taking, at this mailbox, the message of this sender with this number.
    Numbered(MailboxId, ProcessId, u32),
}

/// A choice of a process, or several, that depend on the same lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    pub(super) line: Line,
    pub(super) what: What,
    pub(super) next: Option<Next>,
}

/// What a branch is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// To react to this.
    Reaction(Stimulus),
    /// To take a message from this sender, at this mailbox.
    Message(MailboxId, Option<ProcessId>),
    /// To find no message at this mailbox, or to drop a receive that is no longer wanted.
    Nothing(MailboxId),
    /// To take a message from this sender, by the finest pieces.
    Offer(ProcessId),
    /// To observe that the communication at this place of a wait or a test is complete.
    Complete(usize),
    /// To find nothing, or to drop a receive: by the finest pieces.
    InVain,
}
