//! Calls: of functions, of messages, of what is built in, and spawns.

use std::sync::Arc;

use super::expr::wrong;
use super::{Checker, Context, Global, Instantiation, Meaning, Want};
use crate::lang::ast::{self, Arg, Name, UnaryOp};
use crate::lang::code::Visible;
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Expr, ExprKind, ObjectKind, Operation};
use crate::lang::objects::{self, is_of, name_of};
use crate::lang::slips;
use crate::lang::types::Type;
use crate::model::CollectiveKind;

/// The operations that are checked by hand, as they are called.
const OPERATIONS: &[&str] = &[
    "isend(mailbox, value)",
    "irecv(mailbox)",
    "send(mailbox, value)",
    "recv(mailbox)",
    "wait(comm)",
    "test(comm)",
    "waitany([comm, …])",
    "testany([comm, …])",
    "waitall([comm, …])",
    "value(comm)",
    "choose(lo..hi)",
    "local(\"label\")",
    "join(process)",
];

/// Those that came later. Programs may use their names for something of their own.
const LATER_OPERATIONS: &[&str] = &[
    "issend(mailbox, value)",
    "ssend(mailbox, value)",
    "ibsend(mailbox, value)",
    "bsend(mailbox, value)",
    "probe(mailbox)",
    "iprobe(mailbox)",
    "mprobe(mailbox)",
    "mrecv(comm)",
    "cancel(comm)",
];

/// What is built in and not an operation, so that not only a process may call it.
const COMPUTATIONS: &[&str] =
    &["assert(condition, \"message\")", "len(list)", "push(list, item)", "remove(list, index)"];

/// Those that came later.
const LATER_COMPUTATIONS: &[&str] = &["keys(map)", "values(map)"];

/// Is the name taken by the language? Functions and procedures may still take the names of list
/// operations, which are then hidden: sets have a `remove`, stacks a `push`. Everything may take
/// the names of operations that came later.
pub(super) fn is_taken(name: &str, meaning: &Meaning) -> bool {
    let hides = matches!(meaning, Meaning::Function(_) | Meaning::Procedure(_));
    objects::words_called(name).any(|(kind, _)| !kind.about().is_soft)
        || OPERATIONS.iter().any(|usage| is_of(usage, name))
        || COMPUTATIONS.iter().any(|usage| is_of(usage, name))
            && !(hides && matches!(name, "len" | "push" | "remove"))
}

/// Does the checker have code for an operation of this name? `barrier` has some if it is about a
/// collective.
pub(super) fn is_checked_by_hand(name: &str) -> bool {
    let mut by_hand = OPERATIONS.iter().chain(LATER_OPERATIONS);
    let is_on_collective = name != "barrier" && collective(name).is_some();
    is_on_collective || by_hand.any(|usage| is_of(usage, name))
}

/// The collective operation with this name, and whether it is the blocking form.
pub(super) fn collective(word: &str) -> Option<(CollectiveKind, bool)> {
    let kind = |word: &str| CollectiveKind::ALL.into_iter().find(|kind| kind.name() == word);
    let blocking = kind(word).map(|kind| (kind, true));
    blocking.or_else(|| word.strip_prefix('i').and_then(kind).map(|kind| (kind, false)))
}

/// How everything that is built in is called.
fn usages() -> impl Iterator<Item = &'static str> {
    let words = objects::words().map(|(_, word)| word.usage);
    let computations = COMPUTATIONS.iter().chain(LATER_COMPUTATIONS);
    let by_hand = OPERATIONS.iter().chain(LATER_OPERATIONS).chain(computations).copied();
    by_hand.chain(words).chain(objects::collective::usages())
}

/// How something built in is used.
pub(super) fn usage(name: &str) -> Option<&'static str> {
    usages().find(|usage| is_of(usage, name))
}

/// A call of something built in, its arguments not looked at yet.
pub(super) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) args: &'a [Arg],
    pub(crate) span: Span,
    /// How it should look.
    pub(crate) usage: &'static str,
    pub(crate) want_dropped: bool,
}

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        name: &Name,
        args: &[Arg],
        span: Span,
        want: Want<'_>,
    ) -> (Expr, Type) {
        let builtin = usage(&name.text).filter(|_| !self.globals.contains_key(&name.text));
        let Some(usage) = builtin else {
            return self.call_function(name, args, span, want);
        };
        let visible = !COMPUTATIONS.iter().chain(LATER_COMPUTATIONS).any(|known| *known == usage);
        let tells = name.text == "send" && self.scope.context.acts();
        if visible && !tells && !self.scope.context.operates() {
            self.refuse_operation(&name.text, span);
            return wrong(span);
        }
        let want_dropped = matches!(want, Want::Dropped);
        let call = Call { name: &name.text, args, span, usage, want_dropped };
        let checked = match name.text.as_str() {
            "assert" => self.assertion(&call),
            "len" => self.length(&call),
            "push" => self.push(&call, want),
            "remove" => self.remove(&call, want),
            "keys" => self.part_of_map(&call, UnaryOp::Keys),
            "values" => self.part_of_map(&call, UnaryOp::Values),
            "send" if tells => self.tell(&call),
            _ => self.operation(&call).map(|(op, ty)| (ExprKind::Operation(op), ty)),
        };
        if want_dropped && matches!(name.text.as_str(), "push" | "remove") {
            let hint = match &args.first().map(|arg| &arg.value.kind) {
                Some(ast::ExprKind::Name(list)) => {
                    format!("write `{list} = {}({list}, …)`", name.text)
                }
                _ => "assign it to the variable that holds the list".to_owned(),
            };
            let message = format!("`{}` gives a new list, which is dropped here", name.text);
            self.report(Diagnostic::error(span, message).hint(hint));
        }
        match checked {
            Some((kind, ty)) => (Expr { kind, span }, ty),
            None => wrong(span),
        }
    }

    /// The arguments without labels, if their number is right.
    pub(super) fn positional<'a, const N: usize>(
        &mut self,
        call: &Call<'a>,
    ) -> Option<[&'a ast::Expr; N]> {
        self.counted(call, N)?.try_into().ok()
    }

    /// The arguments without labels, if there are as many as expected.
    pub(super) fn counted<'a>(
        &mut self,
        call: &Call<'a>,
        expected: usize,
    ) -> Option<Vec<&'a ast::Expr>> {
        let plain = self.plain_arguments(call);
        if plain.len() != expected {
            self.report_count(call, expected, plain.len());
            return None;
        }
        Some(plain)
    }

    /// The arguments without labels.
    pub(super) fn plain_arguments<'a>(&mut self, call: &Call<'a>) -> Vec<&'a ast::Expr> {
        let labelled: Vec<_> = call.args.iter().filter_map(|arg| arg.label.as_ref()).collect();
        let labels = self.labels_of(call.name);
        for label in labelled {
            if !labels.contains(&label.text.as_str()) {
                let message = format!("`{}` has no argument `{}:`", call.name, label.text);
                let hint = match labels {
                    [] => None,
                    [one] => Some(format!("its named argument is `{one}:`")),
                    _ => Some("its named arguments are `src:` and `tag:`".to_owned()),
                };
                self.report(Diagnostic::error(label.span, message).maybe_hint(hint));
            }
        }
        let plain: Vec<_> =
            call.args.iter().filter(|arg| arg.label.is_none()).map(|arg| &arg.value).collect();
        plain
    }

    /// The names that arguments of this operation may have.
    fn labels_of(&self, name: &str) -> &'static [&'static str] {
        match name {
            "isend" | "irecv" | "send" | "recv" | "issend" | "ssend" | "ibsend" | "bsend" => {
                &["src", "tag"]
            }
            "probe" | "iprobe" | "mprobe" => &["src", "tag"],
            _ if collective(name).is_some() => &["as"],
            _ => &[],
        }
    }

    /// Reports that an operation has the wrong number of arguments.
    pub(super) fn report_count(&mut self, call: &Call<'_>, expected: usize, found: usize) {
        let hint = format!("it is used as `{}`", call.usage);
        self.report(wrong_count(call.name, expected, found, call.span, hint));
    }

    fn call_function(
        &mut self,
        name: &Name,
        args: &[Arg],
        span: Span,
        want: Want<'_>,
    ) -> (Expr, Type) {
        let function = match self.globals.get(&name.text).map(|global| &global.meaning) {
            Some(Meaning::Function(function)) => *function,
            Some(&Meaning::Procedure(procedure)) => {
                return self.call_procedure(procedure, args, span, want);
            }
            _ => {
                if let Some(message) = self.message_called(&name.text) {
                    return self.message(message, args, span, want);
                }
                self.no_function(name, args, want);
                return wrong(span);
            }
        };
        let (_, params, result, declared) = self.functions[function as usize].parts();
        if self.scope.context == Context::Constant {
            self.report(Diagnostic::error(span, "a constant cannot call a function"));
            return wrong(span);
        }
        let args = self.arguments(&name.text, args, &params, span, declared);
        (Expr { kind: ExprKind::Call(function, args), span }, result)
    }

    /// Reports a call of what cannot be called.
    fn no_function(&mut self, name: &Name, args: &[Arg], want: Want<'_>) {
        for arg in args {
            if !matches!(arg.value.kind, ast::ExprKind::Text(_) | ast::ExprKind::Range(..)) {
                self.argument_of_nothing(&arg.value);
            }
        }
        if name.text.is_empty() {
            return;
        }
        let is_message = match want {
            Want::Hint(ty) => self.infer.shallow(ty) == Type::Message,
            _ => false,
        };
        let hint = match self.globals.get(&name.text).map(|global| &global.meaning) {
            _ if is_message => Some(self.nearest_message(&name.text)),
            Some(Meaning::Process(_)) => {
                Some(format!("to start a process, write `spawn {}(…)`", name.text))
            }
            Some(Meaning::Actor(_)) => {
                Some(format!("to start an actor, write `spawn {}(…)`", name.text))
            }
            _ if self.scope.context == Context::Constant && self.declared.contains(&name.text) => {
                Some("a constant cannot call a function".to_owned())
            }
            _ => {
                let functions = self.functions.iter().chain(&self.procedures);
                let functions = functions.map(|function| function.name.as_str());
                let messages = self.messages.iter().map(|message| message.name.as_str());
                let builtins = usages().map(|usage| -> &str { name_of(usage) });
                let slip = slips::function(&name.text).or_else(|| objects::slip(&name.text));
                slip.map(str::to_owned)
                    .or_else(|| self.nearest(&name.text, functions.chain(builtins).chain(messages)))
            }
        };
        let what = if is_message { "message" } else { "function" };
        let message = format!("there is no {what} `{}`", name.text);
        let diagnostic = Diagnostic::error(name.span, message).label("unknown name");
        self.report(diagnostic.maybe_hint(hint));
    }

    /// Marks the variables of an argument as used. Says nothing about objects, because the
    /// operation that was meant may take them.
    fn argument_of_nothing(&mut self, expr: &ast::Expr) {
        let is_object = matches!(&expr.kind, ast::ExprKind::Name(name)
            if matches!(self.globals.get(name), Some(Global { meaning: Meaning::Objects(_), .. })));
        if !is_object {
            self.expr(expr, Want::Any);
        }
    }

    pub(super) fn arguments(
        &mut self,
        name: &str,
        args: &[Arg],
        params: &[Type],
        span: Span,
        declared: Span,
    ) -> Vec<Expr> {
        if args.len() != params.len() {
            let types: Vec<_> = params.iter().map(|ty| self.show(ty)).collect();
            let hint = format!("it is declared as `{name}({})`", types.join(", "));
            let diagnostic = wrong_count(name, params.len(), args.len(), span, hint);
            self.report(diagnostic.also(declared, "declared here"));
        }
        let mut checked = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            if let Some(label) = &arg.label {
                let message = format!("`{name}` has no argument `{}:`", label.text);
                self.report(Diagnostic::error(label.span, message));
            }
            checked.push(match params.get(at) {
                Some(ty) => self.expr_of(&arg.value, ty),
                None => self.expr(&arg.value, Want::Any).0,
            });
        }
        checked
    }

    pub(super) fn spawn(&mut self, name: &Name, args: &[Arg], span: Span) -> (Expr, Type) {
        let template = match self.globals.get(&name.text).map(|global| &global.meaning) {
            Some(&(Meaning::Process(template) | Meaning::Actor(template))) => template,
            _ => {
                let names = self.processes.iter().map(|process| process.name.as_str());
                let hint = self.nearest(&name.text, names);
                let noun = if self.scope.context.acts() { "actor" } else { "process" };
                let message = format!("there is no {noun} `{}`", name.text);
                let diagnostic = Diagnostic::error(name.span, message).label("unknown name");
                self.report(diagnostic.maybe_hint(hint));
                return wrong(span);
            }
        };
        let context = self.scope.context;
        let Some(signature) = self.processes.get(template as usize) else {
            let message = format!("{} cannot spawn", context.who());
            self.report(Diagnostic::error(span, message));
            return wrong(span);
        };
        let (kind, params, declared) = (signature.kind, signature.params.clone(), signature.span);
        let (noun, is_actor) = (signature.noun(), signature.handles.is_some());
        if kind != Instantiation::Template {
            let message = format!("`{}` exists from the start and cannot be spawned", name.text);
            let diagnostic = Diagnostic::error(name.span, message).also(declared, "declared here");
            let hint = format!("a template has parameters: `{noun} {}()`", name.text);
            self.report(diagnostic.hint(hint));
            return wrong(span);
        }
        let may = if is_actor { context.acts() } else { context.operates() };
        if !may {
            self.refuse_spawn(is_actor, span);
            return wrong(span);
        }
        let args = self.arguments(&name.text, args, &params, span, declared);
        if is_actor {
            return (Expr { kind: ExprKind::Create(template, args), span }, Type::Actor(template));
        }
        let visible = Visible::Spawn { process: template, args: args.len() as u32 };
        let kind = ExprKind::Operation(Operation::one(visible, args));
        (Expr { kind, span }, Type::Process)
    }

    fn refuse_spawn(&mut self, is_actor: bool, span: Span) {
        let who = self.scope.context.who();
        let diagnostic = match (is_actor, self.scope.context) {
            (true, context) if context.operates() => {
                Diagnostic::error(span, format!("{who} cannot spawn an actor"))
            }
            (false, context) if context.acts() => {
                Diagnostic::error(span, format!("{who} cannot spawn a process"))
            }
            _ => Diagnostic::error(span, format!("{who} cannot spawn")),
        };
        self.report(diagnostic.hint(match is_actor {
            true => "only handlers and `init` spawn actors",
            false => "only processes spawn processes",
        }));
    }

    fn assertion(&mut self, call: &Call<'_>) -> Option<(ExprKind, Type)> {
        if self.scope.context == Context::Constant {
            self.report(Diagnostic::error(call.span, "a constant cannot assert"));
            return None;
        }
        let (condition, message) = match call.args {
            [condition] => (condition, None),
            [condition, message] => match &message.value.kind {
                ast::ExprKind::Text(text) => (condition, Some(text.clone())),
                _ => {
                    let span = message.value.span;
                    self.report(Diagnostic::error(span, "the message of `assert` must be a text"));
                    (condition, None)
                }
            },
            args => {
                let hint = format!("it is used as `{}`", call.usage);
                self.report(wrong_count("assert", 1, args.len(), call.span, hint));
                return None;
            }
        };
        let condition = self.expr_of(&condition.value, &Type::Bool);
        Some((ExprKind::Assert(Box::new(condition), message), Type::Unit))
    }

    fn length(&mut self, call: &Call<'_>) -> Option<(ExprKind, Type)> {
        let [list] = self.positional(call)?;
        if let ast::ExprKind::Name(name) = &list.kind
            && let (None, Some(&Global { meaning: Meaning::Objects(group), .. })) =
                (self.variable(name), self.globals.get(name))
        {
            let group = &self.groups[group as usize];
            if group.is_array {
                let count = crate::model::Value::Int(i64::from(group.count));
                return Some((ExprKind::Const(count), Type::Int));
            }
        }
        if self.names(list, ObjectKind::Mailbox) {
            return self.pending(list);
        }
        let (checked, ty) = self.expr(list, Want::Any);
        self.element_of(&ty, list.span);
        Some((ExprKind::Length(Box::new(checked)), Type::Int))
    }

    /// The messages at a mailbox that are sent and not yet paired.
    fn pending(&mut self, mailbox: &ast::Expr) -> Option<(ExprKind, Type)> {
        if !matches!(self.scope.context, Context::Invariant | Context::Demand) {
            let message = "only `invariant` may look at the length of a mailbox";
            let hint = "messages are counted by who sends or receives them";
            self.report(Diagnostic::error(mailbox.span, message).hint(hint));
            return None;
        }
        let (_, address) = self.address(mailbox, ObjectKind::Mailbox)?;
        Some((ExprKind::Pending(address), Type::Int))
    }

    /// A list argument: its type must be a list, not an array, as its length changes.
    fn list_argument(&mut self, list: &ast::Expr, want: Want<'_>) -> (Expr, Type) {
        let (checked, ty) = self.expr(list, want);
        let item = self.item_of(&ty, list.span);
        if let Type::Array(..) = self.infer.shallow(&ty) {
            let shown = self.show(&ty);
            let message =
                format!("expected a list, found the array {shown}, whose length is fixed");
            let hint = format!("declare it as a list: `[{}]`", self.show(&item));
            self.report(Diagnostic::error(list.span, message).hint(hint));
        }
        (checked, item)
    }

    fn push(&mut self, call: &Call<'_>, want: Want<'_>) -> Option<(ExprKind, Type)> {
        let [list, item] = self.positional(call)?;
        let want = if call.want_dropped { Want::Any } else { want };
        let (list, item_type) = self.list_argument(list, want);
        let item = self.expr_of(item, &item_type);
        if item_type == Type::Error {
            return None;
        }
        Some((ExprKind::Push(Box::new(list), Box::new(item)), Type::List(Arc::new(item_type))))
    }

    fn remove(&mut self, call: &Call<'_>, want: Want<'_>) -> Option<(ExprKind, Type)> {
        let [list, index] = self.positional(call)?;
        let want = if call.want_dropped { Want::Any } else { want };
        let (list, item_type) = self.list_argument(list, want);
        let index = self.expr_of(index, &Type::Int);
        if item_type == Type::Error {
            return None;
        }
        Some((ExprKind::Remove(Box::new(list), Box::new(index)), Type::List(Arc::new(item_type))))
    }
}

fn wrong_count(name: &str, expected: usize, found: usize, span: Span, hint: String) -> Diagnostic {
    let arguments = if expected == 1 { "argument" } else { "arguments" };
    let message = format!("`{name}` takes {expected} {arguments}, not {found}");
    Diagnostic::error(span, message).hint(hint)
}
