//! Syntax tree to checked program: names, types, constants, and every rule of the language.
//!
//! The checker never stops at a mistake. What is wrong gets [`Type::Error`], which agrees with everything,
//! so that one mistake is one diagnostic. Bodies are checked one after another. The type that a mailbox carries is one
//! type variable per declaration, and the uses in all bodies must agree on it.

mod actor;
mod body;
mod call;
mod declare;
mod exhaustive;
mod expr;
mod message;
mod network;
mod operation;
mod pattern;
mod place;
mod procedure;

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{self, File, Item};
use super::diagnostic::{Diagnostic, Findings, Span, nearest};
use super::hir::{Actor, Body, ObjectKind, Procedure, VarId};
use super::types::{CommId, Inference, MAX_ELEMENTS, MAX_PARTS, Names, Origin, Size, Type, Yield};
use crate::model::{CollectiveKind, Delivery, Objects, Value};

/// A checked program. It has no meaning if there were errors.
#[derive(Debug, Default)]
pub struct Checked {
    /// Every constant in order of declaration.
    pub constants: Vec<(String, Value)>,
    pub enums: Vec<Enum>,
    pub objects: Objects,
    pub functions: Vec<Body>,
    pub procedures: Vec<Procedure>,
    /// Processes and actors.
    pub processes: Vec<Process>,
    pub messages: Vec<String>,
    /// The messages that are sent somewhere without it being known that the target has a handler for them.
    pub sent_blindly: BTreeSet<u32>,
    pub inits: Vec<Body>,
    pub finals: Vec<Body>,
    pub invariants: Vec<Body>,
}

#[derive(Debug)]
pub struct Enum {
    pub variants: Vec<String>,
}

#[derive(Debug)]
pub struct Process {
    pub name: String,
    pub kind: Instantiation,
    pub body: Body,
    /// `None` for a process proper.
    pub actor: Option<Actor>,
}

/// How a process or an actor comes into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instantiation {
    /// One instance, from the start.
    Single,
    /// Instances `lo` to before `hi`, from the start.
    Family { lo: i64, hi: i64 },
    /// By `spawn`.
    Template,
}

impl Instantiation {
    /// How many instances exist from the start.
    pub fn instances(self) -> u32 {
        match self {
            Instantiation::Single => 1,
            Instantiation::Family { lo, hi } => (hi - lo) as u32,
            Instantiation::Template => 0,
        }
    }
}

/// Checks `file`, whose text is `source`, with the constants that `overrides` names set anew.
pub fn check(
    source: &str,
    file: &File,
    overrides: &[(String, String)],
    diagnostics: &mut Findings,
) -> Checked {
    let mut checker = Checker {
        source,
        diagnostics,
        overrides,
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
    };
    checker.declare(file);
    checker.bodies(file);
    checker.procedures_end();
    checker.finish();
    checker.out
}

/// Reports a file in which nothing runs.
pub fn check_that_something_runs(checked: &Checked, diagnostics: &mut Findings) {
    let runs = checked.processes.iter().any(|process| process.kind != Instantiation::Template);
    if !runs && checked.inits.is_empty() && diagnostics.count() == 0 {
        let message = "the file declares no process and no actor that exists from the start";
        let hint = "add one, such as `process Main { }`, or an `init { … }` that spawns";
        diagnostics.push(Diagnostic::outside(message).hint(hint));
    }
}

/// The most elements that constants and cells may have in total, with the objects of arrays.
const MAX_DECLARED: u64 = 2_000_000;
/// The most steps that computing all constants may take.
const MAX_STEPS: u64 = 20_000_000;

/// What a name at the top level stands for.
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
    /// By its place among the processes.
    Actor(u32),
    Message,
    /// A declaration of objects, by its place in `groups`.
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
    /// The first send or receive, to be shown beside one that disagrees.
    first_use: Option<(Span, String)>,
    /// The number in the declaration; 0 if there is none.
    number: u32,
    /// The first call of each word, by its name.
    calls: Vec<(&'static str, Span)>,
    /// Of mailboxes.
    delivery: Delivery,
    /// Of collectives: what the ranks give, by kind.
    carries: FxHashMap<CollectiveKind, Type>,
}

struct Signature {
    name: String,
    params: Vec<Type>,
    result: Type,
    span: Span,
    /// Is the type of the result written down?
    states_result: bool,
    /// If it is not: the type that the body returns nevertheless, and where.
    implied: Option<(Type, Span)>,
}

impl Signature {
    /// Name, parameters, result, and where it is declared.
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
    /// The messages that it handles, if it is an actor.
    handles: Option<Vec<u32>>,
    /// The variables that `final` and `invariant` may read, known once the body is checked.
    variables: Vec<(String, Type)>,
}

impl ProcessSignature {
    fn noun(&self) -> &'static str {
        if self.handles.is_some() { "actor" } else { "process" }
    }
}

/// What a message carries, according to its first handler.
struct MessageSignature {
    name: String,
    params: Vec<Type>,
    span: Span,
}

struct Checker<'a> {
    source: &'a str,
    diagnostics: &'a mut Findings,
    overrides: &'a [(String, String)],
    out: Checked,
    globals: FxHashMap<String, Global>,
    names: Names,
    /// Variants by name, with their enumerations.
    variants: FxHashMap<String, Vec<(u32, u32)>>,
    groups: Vec<Group>,
    functions: Vec<Signature>,
    procedures: Vec<Signature>,
    /// Processes and actors, in order of declaration.
    processes: Vec<ProcessSignature>,
    messages: Vec<MessageSignature>,
    message_of: FxHashMap<String, u32>,
    /// Which actor handles which message.
    handlers: FxHashSet<(u32, u32)>,
    infer: Inference,
    /// The body at hand.
    scope: Scope,
    /// The places where the value of a communication is used.
    received: Vec<(CommId, Span)>,
    /// The places where communications are tested, and cancelled.
    tested: Vec<(CommId, Span)>,
    tested_together: Vec<(Vec<CommId>, Span)>,
    cancelled: Vec<(CommId, Span)>,
    /// The types of tuples and arrays with a part that was not known yet. By now they may be too large.
    open: Vec<(Type, Span)>,
    /// How many more elements constants, cells and arrays of objects may have.
    elements_left: u64,
    /// How many more steps the constants may take to compute.
    steps_left: u64,
    /// Every name that the file declares, even if it is not entered yet.
    declared: FxHashSet<String>,
    /// Types of messages, contents and arguments, which leave their process.
    must_travel: Vec<(Type, Span, &'static str)>,
}

/// Which kind of body is being checked.
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
}

impl Context {
    /// Who does or may not do something.
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
        }
    }

    /// Does it run as a process, so that it may act on objects?
    fn operates(self) -> bool {
        matches!(self, Context::Process | Context::Procedure)
    }

    /// Does it look at the whole program from outside?
    fn looks(self) -> bool {
        matches!(self, Context::Final | Context::Invariant)
    }

    /// Is it part of an actor?
    fn in_actor(self) -> bool {
        matches!(self, Context::Actor | Context::Guard | Context::Handler)
    }

    /// May it send and spawn as actors do?
    fn acts(self) -> bool {
        matches!(self, Context::Handler | Context::Init)
    }
}

/// The body at hand.
#[derive(Default)]
struct Scope {
    context: Context,
    vars: Vec<Var>,
    /// The names that each block binds, innermost last.
    blocks: Vec<Vec<String>>,
    /// What each name stands for: the last one, which hides those before it.
    visible: FxHashMap<String, Vec<VarId>>,
    /// The variables of the pattern at hand.
    in_pattern: FxHashMap<String, VarId>,
    /// For each loop around: is there a `break` in it?
    loops: Vec<bool>,
    result: Option<Type>,
    /// For a function without a written result type: the first type that it returns, and where.
    implied: Option<(Type, Span)>,
    /// The first variable of the guard at hand.
    guard_from: usize,
}

#[derive(Debug)]
struct Var {
    name: String,
    ty: Type,
    mutable: bool,
    span: Span,
    used: bool,
    top_level: bool,
    /// A parameter, an index, or a variable bound by a loop or pattern.
    what: &'static str,
}

/// What happens to the value of an expression.
#[derive(Clone, Copy)]
enum Want<'t> {
    /// It is used, whatever its type.
    Any,
    /// It is dropped.
    Dropped,
    /// It should have this type; the caller checks.
    Hint(&'t Type),
}

impl Checker<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn show(&self, ty: &Type) -> String {
        self.infer.show(ty, &self.names)
    }

    /// The nearest of the names that exist, unless it would not be shown anyway.
    fn nearest<'n>(&self, name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
        if self.diagnostics.is_full() { None } else { nearest(name, known) }
    }

    /// A type that was put together at `span`; reports it if it is too large.
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
            ast::TypeKind::Tuple(_) | ast::TypeKind::List(_) | ast::TypeKind::Array(..) => {
                self.sized(resolved, ty.span)
            }
            _ => resolved,
        }
    }

    fn resolve_parts(&mut self, ty: &ast::TypeExpr) -> Type {
        match &ty.kind {
            ast::TypeKind::Error => Type::Error,
            ast::TypeKind::Process => Type::Process,
            ast::TypeKind::Actor => Type::AnyActor,
            ast::TypeKind::List(item) => Type::List(Arc::new(self.resolve_type(item))),
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

    /// Reports what can be told only of the whole program.
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
                    .hint("name them where they are waited for: `waitany([a, b])`")
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
    Diagnostic::error(span, "this test may be about mailboxes with different delivery")
        .hint("test those of ordinary mailboxes apart from those of p2p and bag mailboxes")
}
