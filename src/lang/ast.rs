//! The syntax tree: what was written, with names unresolved. Every node knows its span.
//!
//! The parser makes a tree of every file. Where the text is wrong, it reports that and leaves an
//! `Error` node, about which later passes report nothing.

use super::diagnostic::Span;
use super::objects::ObjectKind;
use crate::model::{Delivery, Temporal};

/// A name where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) items: Vec<Item>,
    /// The places of the items that [run](Item::runs).
    pub(crate) running: Vec<Span>,
    /// The opening braces of sets and maps, and of their types.
    pub(crate) collections: Vec<Span>,
}

/// A declaration at the top level.
#[derive(Debug)]
pub(crate) enum Item {
    Const {
        name: Name,
        ty: Option<TypeExpr>,
        value: Expr,
    },
    Mailbox {
        name: Name,
        size: Option<Expr>,
        message: Option<TypeExpr>,
        delivery: Delivery,
        faults: Box<ChannelFaults>,
    },
    Objects(Objects),
    Shared {
        name: Name,
        ty: TypeExpr,
        initial: Expr,
    },
    Enum {
        name: Name,
        variants: Vec<Name>,
    },
    Function {
        name: Name,
        params: Vec<Param>,
        result: Option<TypeExpr>,
        body: Block,
    },
    Procedure {
        name: Name,
        params: Vec<Param>,
        result: Option<TypeExpr>,
        body: Block,
    },
    Process {
        name: Name,
        kind: ProcessKind,
        body: Block,
        is_daemon: bool,
        crashes: Option<Crashes>,
        /// The word `symmetric`, if it is there.
        symmetric: Option<Span>,
    },
    Actor {
        name: Name,
        kind: ProcessKind,
        body: ActorBody,
    },
    /// `network lossy, duplicating;`: how messages between actors fail.
    Network {
        lossy: Option<Span>,
        duplicating: Option<Span>,
        span: Span,
    },
    Init {
        body: Block,
    },
    Final {
        body: Block,
    },
    Invariant {
        body: Block,
    },
    Liveness(Box<Liveness>),
    /// How fair executions are to what was declared just before.
    Fairness {
        is_strong: bool,
        names: Vec<Name>,
        span: Span,
    },
}

impl Item {
    /// The names that it declares: its own, and those of the messages that an actor handles.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        let handlers = match self {
            Item::Actor { body, .. } => &body.handlers[..],
            _ => &[],
        };
        let messages = handlers.iter().filter(|handler| handler.params.is_some());
        self.name().into_iter().chain(messages.map(|handler| &handler.name))
    }

    /// Does it run, or judge what runs? Other items declare what can be used.
    pub(crate) fn runs(&self) -> bool {
        use Item::*;
        matches!(
            self,
            Process { .. }
                | Actor { .. }
                | Init { .. }
                | Final { .. }
                | Invariant { .. }
                | Liveness(_)
        )
    }

    /// The name of the process, actor or object that it declares.
    pub(crate) fn declared(&self) -> Option<&Name> {
        self.name()
    }

    fn name(&self) -> Option<&Name> {
        match self {
            Item::Const { name, .. }
            | Item::Mailbox { name, .. }
            | Item::Objects(Objects { name, .. })
            | Item::Shared { name, .. }
            | Item::Enum { name, .. }
            | Item::Function { name, .. }
            | Item::Procedure { name, .. }
            | Item::Process { name, .. }
            | Item::Actor { name, .. } => Some(name),
            Item::Network { .. }
            | Item::Init { .. }
            | Item::Final { .. }
            | Item::Invariant { .. }
            | Item::Liveness(_)
            | Item::Fairness { .. } => None,
        }
    }
}

/// How messages at a mailbox may fail.
#[derive(Debug, Default)]
pub(crate) struct ChannelFaults {
    pub(crate) lossy: Option<Limit>,
    pub(crate) duplicating: Option<Limit>,
    pub(crate) partitioned: Option<Partitions>,
}

/// `up to 2`, `up to 2 in all`
#[derive(Debug)]
pub(crate) struct Limit {
    /// Without a number there is no limit.
    pub(crate) most: Option<Expr>,
    /// Is it for all processes together?
    pub(crate) in_all: bool,
    pub(crate) span: Span,
}

/// `partitioned`, `partitioned up to 2, heals`
#[derive(Debug)]
pub(crate) struct Partitions {
    /// By default one.
    pub(crate) most: Option<Expr>,
    pub(crate) heals: bool,
    pub(crate) span: Span,
}

/// `crashes up to 1, restarts`
#[derive(Debug)]
pub(crate) struct Crashes {
    pub(crate) limit: Limit,
    pub(crate) restarts: bool,
}

/// A declaration of one object or an array of them, of a kind without a syntax of its own.
#[derive(Debug)]
pub(crate) struct Objects {
    pub(crate) kind: ObjectKind,
    pub(crate) name: Name,
    pub(crate) size: Option<Expr>,
    pub(crate) number: Option<Expr>,
}

/// A demand on endless executions.
#[derive(Debug)]
pub(crate) struct Liveness {
    pub(crate) pattern: Temporal,
    /// There is a demand for each value of the index.
    pub(crate) index: Option<Index>,
    pub(crate) name: Option<String>,
    /// The first block of `whenever`.
    pub(crate) trigger: Option<Block>,
    pub(crate) goal: Block,
    pub(crate) span: Span,
}

/// An index and its range.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) name: Name,
    pub(crate) lo: Expr,
    pub(crate) hi: Expr,
}

/// How a process or an actor comes into being.
#[derive(Debug)]
pub(crate) enum ProcessKind {
    /// One instance, from the start.
    Single,
    /// One instance for each index of a range, from the start.
    Family { index: Name, lo: Box<Expr>, hi: Box<Expr> },
    /// A template for `spawn`.
    Template(Vec<Param>),
}

impl ProcessKind {
    /// The names that its body starts with.
    pub(crate) fn params(&self) -> Vec<&Name> {
        match self {
            ProcessKind::Single => Vec::new(),
            ProcessKind::Family { index, .. } => vec![index],
            ProcessKind::Template(params) => params.iter().map(|param| &param.name).collect(),
        }
    }
}

/// What an actor remembers and does.
#[derive(Debug)]
pub(crate) struct ActorBody {
    /// The declarations of its variables.
    pub(crate) variables: Vec<Statement>,
    pub(crate) handlers: Vec<Handler>,
    /// `actor Node[i in 0..N]`
    pub(crate) header: Span,
    pub(crate) crashes: Option<Crashes>,
}

/// `on Msg(x: int) when guard { … }` or `internal Step when guard { … }`
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) name: Name,
    /// The parameters of the message; `None` for an internal handler.
    pub(crate) params: Option<Vec<Param>>,
    pub(crate) guard: Option<Expr>,
    pub(crate) body: Block,
    pub(crate) is_strong: bool,
    /// The part before the guard.
    pub(crate) header: Span,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: Name,
    pub(crate) ty: TypeExpr,
}

/// A type as written.
#[derive(Debug)]
pub(crate) struct TypeExpr {
    pub(crate) kind: TypeKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum TypeKind {
    Error,
    Named(String),
    Tuple(Vec<TypeExpr>),
    List(Box<TypeExpr>),
    Array(Box<TypeExpr>, Box<Expr>),
    Set(Box<TypeExpr>),
    Map(Box<TypeExpr>, Box<TypeExpr>),
    Process,
    Actor,
}

/// Statements, and a value at the end.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) statements: Vec<Statement>,
    pub(crate) tail: Option<Box<Expr>>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum StatementKind {
    Let {
        mutable: bool,
        /// Does a restart of the process keep it?
        durable: bool,
        pattern: Pattern,
        ty: Option<TypeExpr>,
        value: Expr,
    },
    Assign {
        place: Expr,
        op: Option<BinaryOp>,
        value: Expr,
    },
    /// A value computed for its effect.
    Expr(Expr),
}

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) kind: PatternKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum PatternKind {
    Error,
    Wild,
    /// A variant if there is one with that name, else a new variable.
    Name(String),
    Variant(Name, Name),
    Int(i64),
    Bool(bool),
    Tuple(Vec<Pattern>),
    /// `Register(id)`
    Message(Name, Vec<Pattern>),
}

#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) pattern: Pattern,
    pub guard: Option<Expr>,
    pub(crate) body: Expr,
}

#[derive(Debug)]
pub(crate) struct Arg {
    pub(crate) label: Option<Name>,
    pub(crate) value: Expr,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// When a timeout may fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Firing {
    /// At any time.
    Anytime,
    /// When nothing else can happen.
    WhenStuck,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Error,
    Int(i64),
    Bool(bool),
    Text(String),
    Name(String),
    /// `Color::Red`
    Variant(Name, Name),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// The empty one is unit.
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Repeat(Box<Expr>, Box<Expr>),
    /// The empty one may also be a map.
    Set(Vec<Expr>),
    Map(Vec<[Expr; 2]>),
    Collect(Box<Comprehension>),
    Quantified(Quantifier, Vec<Generator>, Box<Expr>),
    Range(Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    /// `t.0`, or `P.v` in `final`.
    Field(Box<Expr>, Name),
    Call(Name, Vec<Arg>),
    /// `recv(m) timeout { … }`
    Timeout(Box<Expr>, Firing, Block),
    Spawn(Name, Vec<Arg>),
    Block(Block),
    If(Box<Expr>, Block, Option<Box<Expr>>),
    Match(Box<Expr>, Vec<Arm>),
    While(Box<Expr>, Block),
    Loop(Block),
    For(Pattern, Box<Expr>, Block),
    Break,
    Continue,
    Return(Option<Box<Expr>>),
}

impl ExprKind {
    /// Does it end with a block, so that it needs no `;` as a statement?
    pub(crate) fn is_block_like(&self) -> bool {
        use ExprKind::*;
        matches!(self, Block(_) | If(..) | Match(..) | While(..) | Loop(_) | For(..))
    }
}

/// `x in s`: what a variable takes one after another.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) pattern: Pattern,
    pub(crate) over: Expr,
}

/// `{e for x in s if p}`, or the same as a list or a map.
#[derive(Debug)]
pub(crate) struct Comprehension {
    pub(crate) makes: Made<Expr>,
    pub(crate) generators: Vec<Generator>,
    pub(crate) condition: Option<Expr>,
}

/// The elements of a collection that is made.
#[derive(Debug)]
pub(crate) enum Made<T> {
    List(T),
    Set(T),
    /// A key and its value.
    Map([T; 2]),
}

impl<T> Made<T> {
    /// What is computed for an element, in this order.
    pub(crate) fn parts(&self) -> &[T] {
        match self {
            Made::List(item) | Made::Set(item) => std::slice::from_ref(item),
            Made::Map(entry) => entry,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Exists,
    Forall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Neg,
    Not,
    /// The set of the keys of a map.
    Keys,
    /// The list of the values of a map, in the order of keys.
    Values,
    /// The set of what is in a list.
    SetOf,
    /// The map of the pairs in a list; of equal keys the last one counts.
    MapOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    In,
    Subset,
    Union,
    Intersect,
    Minus,
}

impl BinaryOp {
    /// As written.
    pub(crate) fn text(self) -> &'static str {
        use BinaryOp::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            And => "&&",
            Or => "||",
            In => "in",
            Subset => "subset",
            Union => "union",
            Intersect => "intersect",
            Minus => "minus",
        }
    }
}
