//! The checked program: names resolved, types known to agree, constants folded away.
//!
//! The checker makes it from the syntax tree, and the compiler makes code from it. It contains no
//! mistakes: each mistake has become a diagnostic, and a file with an error is not compiled.

use std::collections::BTreeSet;
use std::ops::Range;

use super::ast::{BinaryOp, Made, Quantifier, UnaryOp};
use super::code::Visible;
use super::diagnostic::Span;
pub(crate) use super::objects::ObjectKind;
use super::objects::Word;
use crate::model::{Incident, Probing, Temporal, Value};

/// A local variable, numbered within its body.
pub(crate) type VarId = u32;

/// A function, a process, an actor (its parameters and variables), `init`, `final` or `invariant`.
#[derive(Debug)]
pub(crate) struct Body {
    /// The parameters come first.
    pub(crate) vars: Vec<Variable>,
    pub(crate) params: u32,
    pub(crate) block: Expr,
}

/// How a process crashes.
#[derive(Debug)]
pub(crate) struct Lives {
    /// The number of its crashes so far.
    pub(crate) crashes: VarId,
    pub(crate) most: Most,
    /// Do all instances of the declaration share this number?
    pub(crate) in_all: bool,
    pub(crate) span: Span,
    pub(crate) restarts: bool,
}

/// The largest number of faults of one kind that a process may have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Most {
    Number(u32),
    /// What is in this variable.
    Share(VarId),
}

/// The faults of messages that a process may still have, at a channel with a limit.
#[derive(Debug)]
pub(crate) struct Allowance {
    pub(crate) channel: u32,
    pub(crate) kind: MessageFault,
    /// The number of faults so far.
    pub(crate) used: VarId,
    pub(crate) most: Most,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageFault {
    Lost,
    Doubled,
}

/// A declaration of mailboxes that may lose or double messages.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) name: String,
    /// The number of its first mailbox.
    pub(crate) base: u32,
    pub(crate) lossy: Option<Budget>,
    pub(crate) duplicating: Option<Budget>,
    /// The cell with the present cut, if it may be cut.
    pub(crate) cut: Option<u32>,
    pub(crate) span: Span,
}

impl Channel {
    pub(crate) fn budget(&self, kind: MessageFault) -> Option<Budget> {
        match kind {
            MessageFault::Lost => self.lossy,
            MessageFault::Doubled => self.duplicating,
        }
    }
}

/// How often a fault may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Without a number there is no limit.
    pub(crate) most: Option<u32>,
    /// Is it for all processes together?
    pub(crate) in_all: bool,
}

/// A demand on endless executions, one for each value of its index.
#[derive(Debug)]
pub(crate) struct Demand {
    pub(crate) pattern: Temporal,
    /// The name of the index, and its range.
    pub(crate) index: Option<(String, (i64, i64))>,
    pub(crate) name: Option<String>,
    pub(crate) trigger: Option<Body>,
    pub(crate) goal: Body,
    pub(crate) span: Span,
}

/// How fair executions are, where it is said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fair {
    /// The declarations of processes and actors that are unfair, and those that are strongly fair.
    pub(crate) unfair: BTreeSet<u32>,
    pub(crate) strong: BTreeSet<u32>,
    /// The objects at which actions are strongly fair.
    pub(crate) objects: Vec<(ObjectKind, Range<u32>)>,
}

/// A body that may act on objects, run in place of each of its calls.
#[derive(Debug)]
pub(crate) struct Procedure {
    pub(crate) name: String,
    pub(crate) body: Body,
    /// Does it return anything but unit?
    pub(crate) has_result: bool,
}

#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Declared in the outermost block of a process or actor, where `final` and `invariant` can
    /// see it.
    pub(crate) top_level: bool,
}

/// What an actor has besides the parameters and variables that its body declares. Its handlers
/// continue their numbering.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) handlers: Vec<Handler>,
    pub(crate) header: Span,
}

#[derive(Debug)]
pub(crate) struct Handler {
    /// What it handles; `None` for an internal one.
    pub(crate) message: Option<u32>,
    pub(crate) params: Vec<VarId>,
    pub(crate) guard: Option<Expr>,
    pub(crate) body: Expr,
    pub(crate) is_strong: bool,
    pub(crate) header: Span,
    /// The fault that it is.
    pub(crate) incident: Option<Incident>,
    /// Does the actor end with it?
    pub(crate) is_last: bool,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

impl Expr {
    /// The number of an object, as an argument of an operation.
    pub(crate) fn object(address: Address, span: Span) -> Expr {
        Expr { kind: ExprKind::Object(address), span }
    }
}

/// One object of a declaration: the only one, or the one with this index.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) name: String,
    pub(crate) base: u32,
    pub(crate) count: u32,
    pub(crate) index: Option<Box<Expr>>,
    /// The number in the declaration; 0 if there is none.
    pub(crate) number: u32,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Error,
    Const(Value),
    Var(VarId),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Repeat(Box<Expr>, u32),
    /// An element of a list, or the value of a key of a map.
    Index(Box<Expr>, Box<Expr>),
    Field(Box<Expr>, u32),
    Length(Box<Expr>),
    /// Is the first one a number from the second one to before the third one?
    Within(Box<[Expr; 3]>),
    Push(Box<Expr>, Box<Expr>),
    Remove(Box<Expr>, Box<Expr>),
    Call(u32, Vec<Expr>),
    /// A call of a procedure; processes and procedures only.
    Perform(u32, Vec<Expr>),
    /// Statements, each with a value that is dropped, then the value.
    Block(Vec<Expr>, Box<Expr>),
    Let(Pattern, Box<Expr>),
    Assign(Place, Option<BinaryOp>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Match(Box<Expr>, Vec<Arm>),
    While(Box<Expr>, Box<Expr>),
    Loop(Box<Expr>),
    For(Box<Generator>, Box<Expr>),
    Collect(Box<Comprehension>),
    Quantified(Quantifier, Vec<Generator>, Box<Expr>),
    Break,
    Continue,
    Return(Option<Box<Expr>>),
    Assert(Box<Expr>, Option<String>),
    Operation(Operation),
    /// Among the arguments of an operation: the number of an object.
    Object(Address),
    /// The actor's reference to itself.
    Myself,
    /// A reference to the instance with this index in a family of actors.
    Instance(u32, Box<Expr>),
    /// The message with this number.
    Message(u32, Vec<Expr>),
    /// Handlers and `init` only: target and message.
    Send(Box<Expr>, Box<Expr>),
    /// Handlers and `init` only: a new actor of this template.
    Create(u32, Vec<Expr>),
    /// `final` and `invariant` only: the content of a cell.
    Peek(Address),
    /// `invariant` only: the messages at a mailbox that are sent and not yet paired.
    Pending(Address),
    /// `final` and `invariant` only: a top-level variable of instance `index` of a process.
    ProcessVar {
        process: u32,
        index: Option<Box<Expr>>,
        name: String,
    },
}

/// Values that variables take one after another.
#[derive(Debug)]
pub(crate) enum Generator {
    /// The numbers from the first to before the second.
    Range(Option<VarId>, Expr, Expr),
    /// The elements of a list or a set.
    Each(Pattern, Expr),
}

/// A list, set or map of what is computed for each element of others.
#[derive(Debug)]
pub(crate) struct Comprehension {
    pub(crate) makes: Made<Expr>,
    /// The first one changes slowest.
    pub(crate) generators: Vec<Generator>,
    pub(crate) condition: Option<Expr>,
}

/// The target of an assignment.
#[derive(Debug)]
pub(crate) enum Place {
    Local(VarId, Vec<Projection>),
    Cell(Address),
}

/// A step into a local list, map or tuple.
#[derive(Debug)]
pub(crate) enum Projection {
    Index(Expr),
    Field(u32),
}

#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) pattern: Pattern,
    pub guard: Option<Expr>,
    pub(crate) body: Expr,
}

#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Wild,
    Bind(VarId),
    Const(Value),
    Tuple(Vec<Pattern>),
    /// The message with this number.
    Message(u32, Vec<Pattern>),
}

/// When a send at a p2p or bag mailbox is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendMode {
    /// As the run says.
    Standard,
    /// When it is matched.
    Synchronous,
    /// At once.
    Buffered,
}

/// What a collective computes of the values of the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Sum,
    Prod,
    Min,
    Max,
    And,
    Or,
    /// A function of two arguments, by number.
    Function(u32),
}

impl Operator {
    const BUILT_IN: [Operator; 6] =
        [Operator::Sum, Operator::Prod, Operator::Min, Operator::Max, Operator::And, Operator::Or];

    /// A number for the model.
    pub(crate) fn number(self) -> u32 {
        match self {
            Operator::Function(function) => Self::BUILT_IN.len() as u32 + function,
            built_in => Self::BUILT_IN.iter().position(|&op| op == built_in).unwrap_or(0) as u32,
        }
    }

    /// The operator with this number.
    pub(crate) fn numbered(number: u32) -> Operator {
        let built_in = Self::BUILT_IN.get(number as usize).copied();
        built_in.unwrap_or_else(|| Operator::Function(number - Self::BUILT_IN.len() as u32))
    }
}

/// A visible operation, or several that the language has a word for.
#[derive(Debug)]
pub(crate) enum Operation {
    /// This one. If it posts something and `wait` holds, the process waits for that next.
    One {
        visible: Visible,
        args: Vec<Expr>,
        wait: bool,
    },
    /// A word of a kind of objects.
    On(&'static Word, Vec<Expr>),
    Cancel(Box<Expr>),
    WaitAll(Box<Expr>),
    /// A send at the unreliable channel with this number.
    Unreliable {
        channel: u32,
        visible: Visible,
        args: Vec<Expr>,
    },
    /// Receives what a probe of this form with these arguments finds. If it finds nothing, the last
    /// expression is the value.
    Timed {
        form: Probing,
        src: bool,
        tag: bool,
        args: Vec<Expr>,
        otherwise: Box<Expr>,
    },
    /// Local: the value of a communication that was seen complete.
    Received(Box<Expr>),
}

impl Operation {
    /// A visible operation, not followed by a wait.
    pub(crate) fn one(visible: Visible, args: impl Into<Vec<Expr>>) -> Operation {
        Operation::One { visible, args: args.into(), wait: false }
    }
}
