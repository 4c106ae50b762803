//! The checker: turns a syntax tree into a checked program. It resolves names, infers types,
//! evaluates constants, and enforces the rules of the language.
//!
//! The checker never stops at a mistake. A wrong expression gets [`Type::Error`], which unifies
//! with every type, so that one mistake gives one diagnostic. Bodies are checked one after another.
//! The message type of a mailbox is one type variable for each declaration, and the uses in all
//! bodies must agree on it.

mod actor;
mod body;
mod call;
mod collection;
mod courier;
mod declare;
mod exhaustive;
mod expr;
mod faults;
mod instances;
mod liveness;
mod message;
mod network;
mod operation;
mod pattern;
mod place;
mod procedure;
#[cfg(feature = "lang")]
mod shown;
mod strikers;

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::courier::Courier;
#[cfg(feature = "lang")]
pub(crate) use self::declare::check_that_something_runs;
pub(crate) use self::faults::Cuts;
pub(crate) use self::instances::Instantiation;
#[cfg(feature = "lang")]
pub(crate) use self::shown::types;
use self::strikers::Crashing;

use super::ast::{self, File, Item};
use super::diagnostic::{Diagnostic, Findings, Span, nearest};
use super::hir::{
    Actor, Allowance, Body, Channel, Demand, Fair, Lives, ObjectKind, Procedure, VarId,
};
use super::types::{CommId, Inference, MAX_ELEMENTS, MAX_PARTS, Names, Origin, Size, Type, Yield};
use crate::model::{CollectiveKind, Delivery, Faults, Objects, Value};

/// A checked program. It must not be compiled if there were errors.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// All constants, in order of declaration.
    pub(crate) constants: Vec<(String, Value)>,
    pub(crate) enums: Vec<Enum>,
    pub(crate) objects: Objects,
    pub(crate) functions: Vec<Body>,
    pub(crate) procedures: Vec<Procedure>,
    /// Processes and actors.
    pub(crate) processes: Vec<Process>,
    pub(crate) messages: Vec<String>,
    /// The messages that are sent somewhere to a target that is not known to have a handler for
    /// them.
    pub(crate) sent_blindly: BTreeSet<u32>,
    pub(crate) inits: Vec<Body>,
    pub(crate) finals: Vec<Body>,
    pub(crate) invariants: Vec<Body>,
    pub(crate) channels: Vec<Channel>,
    /// Does a send name its source?
    pub(crate) names_sources: bool,
    /// What cuts networks.
    pub(crate) cuts: Vec<Cuts>,
    pub(crate) demands: Vec<Demand>,
    pub(crate) fair: Fair,
}

#[derive(Clone, Debug)]
pub(crate) struct Enum {
    pub(crate) variants: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) kind: Instantiation,
    pub(crate) body: Body,
    /// `None` for a process.
    pub(crate) actor: Option<Actor>,
    /// How it crashes, if it may.
    pub(crate) lives: Option<Lives>,
    pub(crate) allowances: Vec<Allowance>,
    /// The number of statements at its beginning that nothing can go wrong in, and that a restart
    /// does not repeat.
    pub(crate) kept: usize,
}

/// Checks `file`, whose text is `source`, with the constants in `overrides` set to other values.
pub(crate) fn check(
    source: &str,
    file: &File,
    overrides: &[(String, String)],
    faults: Faults,
    diagnostics: &mut Findings,
) -> Checked {
    checker(source, file, overrides, faults, diagnostics).out
}

/// A checker that has done its work.
fn checker<'a>(
    source: &'a str,
    file: &File,
    overrides: &'a [(String, String)],
    faults: Faults,
    diagnostics: &'a mut Findings,
) -> Checker<'a> {
    let mut checker = Checker {
        source,
        diagnostics,
        overrides,
        faults,
        courier: None,
        crashing: Vec::new(),
        out: Checked::default(),
        globals: FxHashMap::default(),
        names: Names::default(),
        variants: FxHashMap::default(),
        groups: Vec::new(),
        functions: Vec::new(),
        procedures: Vec::new(),
        processes: Vec::new(),
        messages: Vec::new(),
        message_of: FxHashMap::default(),
        handlers: FxHashSet::default(),
        infer: Inference::default(),
        scope: Scope::default(),
        received: Vec::new(),
        tested: Vec::new(),
        tested_together: Vec::new(),
        cancelled: Vec::new(),
        open: Vec::new(),
        elements_left: MAX_DECLARED,
        steps_left: MAX_STEPS,
        declared: file.items.iter().flat_map(Item::names).map(|name| name.text.clone()).collect(),
        must_travel: Vec::new(),
        must_have_order: Vec::new(),
        bound: Vec::new(),
    };
    checker.declare(file);
    checker.bodies(file);
    checker.employ_courier();
    checker.strike_actors();
    checker.procedures_end();
    checker.finish();
    checker
}

/// The most elements of all constants, cells and arrays of objects together.
const MAX_DECLARED: u64 = 2_000_000;
/// The most steps for the evaluation of all constants together.
const MAX_STEPS: u64 = 20_000_000;

/// The meaning of a top-level name, and its declaration.
#[derive(Clone, Debug)]
struct Global {
    meaning: Meaning,
    span: Span,
}

#[derive(Clone, Debug)]
enum Meaning {
    Const(Value, Type),
    Enum(u32),
    Function(u32),
    Procedure(u32),
    Process(u32),
    /// By its index among the processes and actors.
    Actor(u32),
    Message,
    /// A declaration of objects, by its index in `groups`.
    Objects(u32),
}

/// A declaration of one object or an array of them.
#[derive(Clone, Debug)]
struct Group {
    kind: ObjectKind,
    name: String,
    base: u32,
    count: u32,
    is_array: bool,
    /// The type of the messages or the content; unit for other objects.
    ty: Type,
    span: Span,
    /// The first send or receive, with a label, shown beside one with another type.
    first_use: Option<(Span, String)>,
    /// The number in the declaration; 0 if there is none.
    number: u32,
    /// The first call of each word, by its name.
    calls: Vec<(&'static str, Span)>,
    /// Of mailboxes.
    delivery: Delivery,
    /// The number of the unreliable channel that it is.
    channel: Option<u32>,
    /// For a collective: the type that the ranks contribute, by kind of operation.
    carries: FxHashMap<CollectiveKind, Type>,
}

struct Signature {
    name: String,
    params: Vec<Type>,
    result: Type,
    span: Span,
    /// Does the declaration state the type of the result?
    states_result: bool,
    /// The type and the span of a value that the body returns although no type is stated.
    implied: Option<(Type, Span)>,
}

impl Signature {
    /// Name, parameters, result, and the span of the declaration.
    fn parts(&self) -> (String, Vec<Type>, Type, Span) {
        (self.name.clone(), self.params.clone(), self.result.clone(), self.span)
    }
}

struct ProcessSignature {
    name: String,
    kind: Instantiation,
    params: Vec<Type>,
    span: Span,
    /// The id of the first instance.
    first: u32,
    /// The messages that it handles; `None` for a process.
    handles: Option<Vec<u32>>,
    /// The variables that `final` and `invariant` may read; filled in when the body has been
    /// checked.
    variables: Vec<(String, Type)>,
}

impl ProcessSignature {
    fn noun(&self) -> &'static str {
        if self.handles.is_some() { "actor" } else { "process" }
    }
}

/// The types that a message carries, as declared by its first handler.
struct MessageSignature {
    name: String,
    params: Vec<Type>,
    span: Span,
}

struct Checker<'a> {
    source: &'a str,
    /// The variables and parameters of all bodies.
    bound: Vec<(Span, Type)>,
    diagnostics: &'a mut Findings,
    overrides: &'a [(String, String)],
    /// The faults that the run allows.
    faults: Faults,
    /// What carries messages between actors, if they may fail.
    courier: Option<Courier>,
    /// The actors that crash, and how often.
    crashing: Vec<Crashing>,
    out: Checked,
    globals: FxHashMap<String, Global>,
    names: Names,
    /// For each name of a variant: the enumerations that have it, and the index in each.
    variants: FxHashMap<String, Vec<(u32, u32)>>,
    groups: Vec<Group>,
    functions: Vec<Signature>,
    procedures: Vec<Signature>,
    /// Processes and actors, in order of declaration.
    processes: Vec<ProcessSignature>,
    messages: Vec<MessageSignature>,
    message_of: FxHashMap<String, u32>,
    /// Pairs of an actor and a message that it handles.
    handlers: FxHashSet<(u32, u32)>,
    infer: Inference,
    /// The body that is being checked.
    scope: Scope,
    /// The uses of values of communications.
    received: Vec<(CommId, Span)>,
    /// The tests of single communications.
    tested: Vec<(CommId, Span)>,
    /// The tests of several communications.
    tested_together: Vec<(Vec<CommId>, Span)>,
    /// The cancelled communications.
    cancelled: Vec<(CommId, Span)>,
    /// Types of tuples and arrays that contained an unknown part. Their size is checked at the end.
    open: Vec<(Type, Span)>,
    /// The number of elements that further constants, cells and arrays of objects may have.
    elements_left: u64,
    /// The number of steps that the evaluation of further constants may take.
    steps_left: u64,
    /// All names that the file declares, including those that are not entered yet.
    declared: FxHashSet<String>,
    /// Types of values that leave their process (messages, contents of cells, arguments), which
    /// must not contain communications.
    must_travel: Vec<(Type, Span, &'static str)>,
    /// Types of elements of sets and of keys of maps.
    must_have_order: Vec<(Type, Span)>,
}

/// The kind of body that is being checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Context {
    #[default]
    Constant,
    Function,
    Procedure,
    Process,
    /// The variables of an actor.
    Actor,
    Guard,
    Handler,
    Init,
    Final,
    Invariant,
    /// A block of a demand on endless executions.
    Demand,
}

impl Context {
    /// The name of the context as the subject of a message.
    fn who(self) -> &'static str {
        match self {
            Context::Constant => "a constant",
            Context::Function => "a function",
            Context::Procedure => "a procedure",
            Context::Process => "a process",
            Context::Actor => "the first value of an actor's variable",
            Context::Guard => "a guard",
            Context::Handler => "a handler",
            Context::Init => "`init`",
            Context::Final => "`final`",
            Context::Invariant => "`invariant`",
            Context::Demand => "`eventually`",
        }
    }

    /// May it operate on objects, as a process does?
    fn operates(self) -> bool {
        matches!(self, Context::Process | Context::Procedure)
    }

    /// Does it observe the whole program?
    fn looks(self) -> bool {
        matches!(self, Context::Final | Context::Invariant | Context::Demand)
    }

    /// Is it a part of an actor?
    fn in_actor(self) -> bool {
        matches!(self, Context::Actor | Context::Guard | Context::Handler)
    }

    /// May it send and spawn as actors do?
    fn acts(self) -> bool {
        matches!(self, Context::Handler | Context::Init)
    }
}

/// The body that is being checked.
#[derive(Default)]
struct Scope {
    context: Context,
    vars: Vec<Var>,
    /// The names bound in each open block, innermost last.
    blocks: Vec<Vec<String>>,
    /// For each name the variables with it that are in scope; the last one hides the others.
    visible: FxHashMap<String, Vec<VarId>>,
    /// The variables of the current pattern.
    in_pattern: FxHashMap<String, VarId>,
    /// For each enclosing loop: does it contain a `break`?
    loops: Vec<bool>,
    result: Option<Type>,
    /// For a function or procedure without a stated result type: the type and the span of the first
    /// value that it returns.
    implied: Option<(Type, Span)>,
    /// The number of variables before the current guard.
    guard_from: usize,
    /// For a process that may crash: the number of durable variables that are not declared yet.
    durables_left: Option<usize>,
}

#[derive(Debug)]
struct Var {
    name: String,
    ty: Type,
    mutable: bool,
    span: Span,
    used: bool,
    top_level: bool,
    /// The kind of variable, for messages.
    what: &'static str,
}

/// What the context does with the value of an expression.
#[derive(Clone, Copy)]
enum Want<'t> {
    /// The value is used, whatever its type.
    Any,
    /// The value is dropped.
    Dropped,
    /// The value should have this type; the caller checks that.
    Hint(&'t Type),
}

impl Checker<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn show(&self, ty: &Type) -> String {
        self.infer.show(ty, &self.names)
    }

    /// Advice with the known name that is most similar; `None` if no further diagnostics are shown.
    fn nearest<'n>(&self, name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
        if self.diagnostics.is_full() { None } else { nearest(name, known) }
    }

    /// Checks the size of a type that is constructed at `span`. Reports it, and returns
    /// [`Type::Error`], if it is too large.
    fn sized(&mut self, ty: Type, span: Span) -> Type {
        let Size { elements, closed } = self.infer.size(&ty);
        if self.infer.is_exceeded() {
            return self.too_many_parts(span);
        }
        if elements > MAX_ELEMENTS {
            let shown = self.show(&ty);
            let message = format!("a value of type {shown} is too large");
            let label = format!("it has {elements} elements, more than {MAX_ELEMENTS}");
            self.report(Diagnostic::error(span, message).label(label));
            return Type::Error;
        }
        if !closed {
            self.open.push((ty.clone(), span));
        }
        ty
    }

    fn too_many_parts(&mut self, span: Span) -> Type {
        let message = format!("the type of this has more than {MAX_PARTS} parts");
        let hint = "a tuple of tuples has the parts of all of them: carry less, or use a list";
        self.report(Diagnostic::error(span, message).hint(hint));
        Type::Error
    }

    fn resolve_type(&mut self, ty: &ast::TypeExpr) -> Type {
        let resolved = self.resolve_parts(ty);
        match ty.kind {
            ast::TypeKind::Tuple(_)
            | ast::TypeKind::List(_)
            | ast::TypeKind::Array(..)
            | ast::TypeKind::Set(_)
            | ast::TypeKind::Map(..) => self.sized(resolved, ty.span),
            _ => resolved,
        }
    }

    fn resolve_parts(&mut self, ty: &ast::TypeExpr) -> Type {
        match &ty.kind {
            ast::TypeKind::Error => Type::Error,
            ast::TypeKind::Process => Type::Process,
            ast::TypeKind::Actor => Type::AnyActor,
            ast::TypeKind::List(item) => Type::List(Arc::new(self.resolve_type(item))),
            ast::TypeKind::Set(item) => {
                let ty = self.resolve_type(item);
                self.set_of(ty, item.span)
            }
            ast::TypeKind::Map(key, value) => {
                let (key, span) = (self.resolve_type(key), key.span);
                let value = self.resolve_type(value);
                self.map_of(key, value, span)
            }
            ast::TypeKind::Array(item, length) => {
                let item = self.resolve_type(item);
                match self.size(length, "an array") {
                    Some(length) => Type::Array(Arc::new(item), length),
                    None => Type::Error,
                }
            }
            ast::TypeKind::Tuple(parts) if parts.is_empty() => Type::Unit,
            ast::TypeKind::Tuple(parts) => {
                Type::Tuple(parts.iter().map(|part| self.resolve_type(part)).collect())
            }
            ast::TypeKind::Named(name) => self.named_type(name, ty.span),
        }
    }

    fn named_type(&mut self, name: &str, span: Span) -> Type {
        match name {
            "int" => return Type::Int,
            "bool" => return Type::Bool,
            "comm" => return self.infer.any_comm(),
            _ => {}
        }
        match self.globals.get(name).map(|global| &global.meaning) {
            Some(Meaning::Enum(index)) => return Type::Enum(*index),
            Some(Meaning::Actor(declaration)) => return Type::Actor(*declaration),
            _ if name == "message" => return Type::Message,
            _ => {}
        }
        let foreign = match name {
            "integer" | "i32" | "i64" | "u32" | "u64" | "byte" | "long" => {
                Some("the type of integers is `int`")
            }
            "set" | "Set" => Some("a type of sets is written `{int}`"),
            "map" | "Map" | "dict" => Some("a type of maps is written `{int: bool}`"),
            "boolean" => Some("the type of truth values is `bool`"),
            _ => None,
        };
        let declared = self
            .globals
            .iter()
            .filter(|(_, global)| matches!(global.meaning, Meaning::Enum(_) | Meaning::Actor(_)));
        let mut known: Vec<&str> = declared.map(|(name, _)| name.as_str()).collect();
        known.extend(["int", "bool", "comm", "process", "actor", "message"]);
        known.sort_unstable();
        let hint = foreign.map(str::to_owned).or_else(|| self.nearest(name, known));
        self.report(Diagnostic::error(span, format!("there is no type `{name}`")).maybe_hint(hint));
        Type::Error
    }

    /// Performs the checks that need the whole program.
    fn finish(&mut self) {
        self.finish_objects();
        self.infer.settle();
        for (ty, span) in std::mem::take(&mut self.open) {
            if self.sized(ty, span) == Type::Error {
                break;
            }
        }
        for (comm, span) in std::mem::take(&mut self.received) {
            if self.infer.yields(comm).0 == Yield::Mixed {
                let message = "this communication may yield values of different types";
                let diagnostic = Diagnostic::error(span, message)
                    .label("so its value cannot be used")
                    .hint("name them in the call that waits: `waitany([a, b])`")
                    .hint("or keep communications of different messages in different lists");
                self.report(diagnostic);
            }
        }
        for (comm, span) in std::mem::take(&mut self.tested) {
            if self.infer.origin(comm) == Origin::Both {
                self.report(mixed_test(span));
            }
        }
        for (comms, span) in std::mem::take(&mut self.tested_together) {
            let origins: Vec<_> = comms.iter().map(|&comm| self.infer.origin(comm)).collect();
            let is = |wanted: Origin| origins.contains(&wanted);
            if is(Origin::Both) || is(Origin::Ordered) && is(Origin::Network) {
                self.report(mixed_test(span));
            }
        }
        for (comm, span) in std::mem::take(&mut self.cancelled) {
            let may_be_other =
                !matches!(self.infer.yields(comm).0, Yield::Receive | Yield::Unknown);
            if may_be_other || self.infer.origin(comm) != Origin::Network {
                let message = "only a receive at a p2p or bag mailbox can be cancelled";
                self.report(Diagnostic::error(span, message));
            }
        }
        for (ty, span, what) in std::mem::take(&mut self.must_travel) {
            if self.infer.has_comm(&ty) {
                let message = format!("a communication cannot be {what}");
                let diagnostic = Diagnostic::error(span, message)
                    .label("only the process that posted it may use it")
                    .hint("wait for it here and pass on what it yields");
                self.report(diagnostic);
            }
        }
        self.finish_collections();
        for index in 0..self.groups.len() {
            let group = &self.groups[index];
            if group.kind == ObjectKind::Mailbox && group.first_use.is_none() {
                let message = format!("the mailbox `{}` is never used", group.name);
                let span = group.span;
                self.report(Diagnostic::warning(span, message));
            }
        }
    }
}

fn mixed_test(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this test may be about mailboxes with different delivery").hint(
        "test communications of ordinary mailboxes separately from those of p2p and bag mailboxes",
    )
}
