//! What a process is written to do: its control flow, as its text nests it.
//!
//! A program may come with this; no explorer needs it. Since the flow is structured, it is a tree: a sequence of
//! [`Step`]s, where branches and loops hold sequences of their own. A sequence is left before its end only by `break`
//! and `continue`, which belong to the innermost loop around them, and by `return`, which leaves the whole.

use serde::Serialize;

/// A process or an actor as declared, once for all its instances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// `process`, `procedure`, `actor`, or `init`.
    pub noun: &'static str,
    /// Its name with its parameters or the range of its index, as written.
    pub title: String,
    /// How many instances exist from the start; `None` if each is started by a `spawn`, and for procedures.
    pub instances: Option<u32>,
    /// Line of its declaration, from 1.
    pub line: u32,
    /// What it does.
    pub steps: Vec<Step>,
}

/// A point of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its number in the program, from 0, in the order of the text.
    pub id: usize,
    /// Line, from 1.
    pub line: u32,
    /// As written; for a branch or a loop, what stands before its body.
    pub text: String,
    /// What the step itself does, bodies left out.
    pub act: Act,
    /// Where it leads.
    #[serde(flatten)]
    pub turn: Turn,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Act {
    /// It computes, and others do not see it.
    Local,
    /// It acts on what others also act on, or starts or awaits others.
    Shared,
    /// The same, or a choice of its own, with several outcomes, each of which is explored.
    Choice,
}

/// Where a step leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "turn", rename_all = "lowercase")]
pub enum Turn {
    /// To the next one.
    Next,
    /// Into one of these.
    Branch {
        /// In the order in which they are written.
        arms: Vec<Arm>,
    },
    /// Into its body and back.
    Loop {
        /// Only a `break` leaves it.
        endless: bool,
        /// What is repeated.
        body: Vec<Step>,
    },
    /// An actor at rest: into a handler and back, for ever.
    Rest {
        /// The handlers. The first step of each is its head.
        arms: Vec<Arm>,
    },
    /// Out of the loop.
    Break,
    /// To the head of the loop.
    Continue,
    /// To the end.
    Return,
}

/// One of several ways to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arm {
    /// When it is taken: `true`, `else`, a pattern; nothing for handlers, whose first step says it.
    pub label: String,
    /// What else must hold.
    pub guard: Option<String>,
    /// What is done then.
    pub steps: Vec<Step>,
}

impl Step {
    /// Can the step after this one be reached?
    pub fn goes_on(&self) -> bool {
        match &self.turn {
            Turn::Next => true,
            Turn::Branch { arms } => arms.iter().any(|arm| go_on(&arm.steps)),
            Turn::Loop { endless, body } => !endless || breaks(body),
            Turn::Rest { .. } | Turn::Break | Turn::Continue | Turn::Return => false,
        }
    }
}

/// Can the end of this sequence be reached?
pub fn go_on(steps: &[Step]) -> bool {
    steps.iter().all(Step::goes_on)
}

/// Is there a `break` for the loop around this sequence?
pub fn breaks(steps: &[Step]) -> bool {
    steps.iter().any(|step| match &step.turn {
        Turn::Break => true,
        Turn::Branch { arms } => arms.iter().any(|arm| breaks(&arm.steps)),
        _ => false,
    })
}
