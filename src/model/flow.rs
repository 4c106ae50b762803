//! The control flow of a process, as its source text nests it.
//!
//! A program may come with this; no explorer needs it. Control flow is structured, so it is a tree:
//! a sequence of [`Step`]s, where branches and loops contain sequences of their own. A sequence is
//! left before its end only by `break` and `continue`, which belong to the innermost enclosing
//! loop, and by `return`, which leaves the whole flow.

#[cfg(feature = "json")]
use serde::Serialize;

/// A process or an actor as declared, once for all its instances.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Flow {
    /// `process`, `procedure`, `actor`, or `init`.
    pub noun: &'static str,
    /// Its name with its parameters or the range of its index, as written.
    pub title: String,
    /// Number of instances that exist from the start; `None` for procedures, and if each instance
    /// is started by a `spawn`.
    pub instances: Option<u32>,
    /// Line of its declaration, from 1.
    pub line: u32,
    /// What it does.
    pub steps: Vec<Step>,
}

/// A step of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Step {
    /// Its number in the program, from 0, in the order of the text.
    pub id: usize,
    /// Line, from 1.
    pub line: u32,
    /// The source text; for a branch or a loop, only the text before its body.
    pub text: String,
    /// What the step itself does, without its bodies.
    pub act: Act,
    /// Where control goes from it.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub turn: Turn,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "lowercase"))]
pub enum Act {
    /// It computes, and other processes do not see it.
    Local,
    /// It acts on shared objects, or starts or awaits other processes.
    Shared,
    /// Like `Shared`, or a choice of the process, but with several outcomes. Each outcome is
    /// explored.
    Choice,
}

/// Where control goes from a step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(tag = "turn", rename_all = "lowercase"))]
pub enum Turn {
    /// To the next step.
    Next,
    /// Into one of these arms.
    Branch {
        /// The arms, in the order in which they are written.
        arms: Vec<Arm>,
    },
    /// Into its body and back.
    Loop {
        /// Is it left only by a `break`?
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Arm {
    /// When it is taken: `true`, `else`, or a pattern. Empty for handlers, whose first step says
    /// it.
    pub label: String,
    /// A further condition, if there is one.
    pub guard: Option<String>,
    /// What it does.
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
pub(crate) fn go_on(steps: &[Step]) -> bool {
    steps.iter().all(Step::goes_on)
}

/// Is there a `break` for the loop around this sequence?
pub(crate) fn breaks(steps: &[Step]) -> bool {
    steps.iter().any(|step| match &step.turn {
        Turn::Break => true,
        Turn::Branch { arms } => arms.iter().any(|arm| breaks(&arm.steps)),
        _ => false,
    })
}
