//! Checks actors: their names, which are also types, references to them, and their bodies.
//!
//! An actor is one scope: its parameters and variables, then each handler in a block of its own.
//! The [`Context`] decides what is permitted: first values of variables and guards only compute,
//! and handlers also send and spawn. No code of an actor accesses anything outside of it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::body::unit;
use super::expr::wrong;
use super::{Checker, Context, Instantiation, Meaning};
use crate::lang::ast::{self, ActorBody, File, Item, Name};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Actor, Expr, ExprKind, Handler};
use crate::lang::types::Type;
use crate::model::{ProcessId, Value};

impl Checker<'_> {
    /// Numbers the declarations of processes and actors, and enters the names of actors, because
    /// types use them.
    pub(super) fn actor_names(&mut self, file: &File) {
        for item in &file.items {
            let (Item::Process { name, .. } | Item::Actor { name, .. }) = item else { continue };
            if matches!(item, Item::Actor { .. }) {
                self.enter(name, Meaning::Actor(self.names.processes.len() as u32));
            }
            self.names.processes.push(name.text.clone());
        }
    }

    /// Checks the name of an actor as a value: a reference.
    pub(super) fn actor_reference(
        &mut self,
        declaration: u32,
        index: Option<&ast::Expr>,
        span: Span,
    ) -> (Expr, Type) {
        let index = index.map(|index| self.expr_of(index, &Type::Int));
        let name = &self.names.processes[declaration as usize];
        if self.scope.context == Context::Constant {
            self.report(Diagnostic::error(span, "a constant cannot refer to an actor"));
            return wrong(span);
        }
        let signature = &self.processes[declaration as usize];
        let kind = match (signature.kind, index) {
            (Instantiation::Single, None) => {
                ExprKind::Const(Value::Process(ProcessId(signature.first)))
            }
            (Instantiation::Family { .. }, Some(index)) => {
                ExprKind::Instance(declaration, Box::new(index))
            }
            (kind, _) => {
                let (message, hint) = match kind {
                    Instantiation::Single => (
                        format!("`{name}` is a single actor: it has no index"),
                        format!("write `{name}`"),
                    ),
                    Instantiation::Family { .. } => (
                        format!("`{name}` has several instances"),
                        format!("say which: `{name}[i]`"),
                    ),
                    Instantiation::Template => (
                        format!("`{name}` is a template: no instance exists from the start"),
                        format!("`spawn {name}(…)` makes one and gives its reference"),
                    ),
                };
                let diagnostic = Diagnostic::error(span, message).hint(hint);
                self.report(diagnostic.also(signature.span, "declared here"));
                return (Expr { kind: ExprKind::Error, span }, Type::Actor(declaration));
            }
        };
        (Expr { kind, span }, Type::Actor(declaration))
    }

    /// The declaration of actors that `base` names, if it does.
    pub(super) fn actors_called(&self, base: &ast::Expr) -> Option<u32> {
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        match (self.variable(name), &self.globals.get(name)?.meaning) {
            (None, Meaning::Actor(declaration)) => Some(*declaration),
            _ => None,
        }
    }

    /// Checks `self`.
    pub(super) fn myself(&mut self, span: Span) -> (Expr, Type) {
        let hint = match self.scope.context {
            Context::Handler | Context::Guard => {
                let declaration = self.out.processes.len() as u32;
                return (Expr { kind: ExprKind::Myself, span }, Type::Actor(declaration));
            }
            Context::Actor => "an actor has its reference from its first handler on",
            Context::Process => "name what the process needs, or give its index",
            Context::Init => "`init` is not an actor, so it cannot get an answer",
            _ => "pass it as an argument",
        };
        let message = format!("there is no `self` in {}", self.scope.context.who());
        let diagnostic =
            Diagnostic::error(span, message).label("only handlers and guards have one");
        self.report(diagnostic.hint(hint));
        wrong(span)
    }

    /// Checks the body of an actor.
    pub(super) fn actor(&mut self, index: usize, params: &[&Name], body: &ActorBody) {
        let types = self.processes[index].params.clone();
        let what = if self.processes[index].kind == Instantiation::Template {
            "parameter"
        } else {
            "index"
        };
        let crashing = body.crashes.as_ref().and_then(|crashes| self.crashing(index, crashes));
        self.enter_body(Context::Actor, params, &types, what);
        self.repeated_handlers(&body.handlers);
        let (variables, handlers) = self.in_block(|checker| {
            let mut variables = Vec::new();
            let count = body.crashes.as_ref().map(|crashes| {
                let (count, declared) = checker.count_of_crashes(crashes, &body.variables);
                variables.push(declared);
                count
            });
            variables.extend(body.variables.iter().map(|binding| checker.statement(binding).0));
            let handlers = body.handlers.iter().map(|handler| checker.handler(handler));
            let mut handlers: Vec<_> = handlers.collect();
            if let (Some(crashes), Some(count), Some(_)) = (&body.crashes, count, &crashing) {
                handlers.push(checker.crash_of_actor(crashes, &body.variables, count));
            }
            (variables, handlers)
        });
        let kind = ExprKind::Block(variables, Box::new(unit(body.header)));
        let actor = Actor { handlers, header: body.header };
        self.end_process(index, params.len(), Expr { kind, span: body.header }, Some(actor));
        self.crashing.extend(crashing);
    }

    fn handler(&mut self, handler: &ast::Handler) -> Handler {
        let given = handler.params.as_deref().unwrap_or_default();
        let types: Vec<_> = given.iter().map(|param| self.known_type(&param.ty)).collect();
        let names: Vec<_> = given.iter().map(|param| &param.name).collect();
        self.in_block(|checker| {
            let params = checker.parameters(&names, &types, "parameter");
            checker.scope.context = Context::Guard;
            checker.scope.guard_from = checker.scope.vars.len();
            let guard = handler.guard.as_ref().map(|guard| checker.expr_of(guard, &Type::Bool));
            checker.scope.context = Context::Handler;
            let kind = checker.block(&handler.body, super::Want::Dropped).0;
            let body = Expr { kind, span: handler.body.span };
            let message =
                handler.params.as_ref().and_then(|_| checker.message_called(&handler.name.text));
            let (is_strong, header) = (handler.is_strong, handler.header);
            let (incident, is_last) = (None, false);
            Handler { message, params, guard, body, is_strong, header, incident, is_last }
        })
    }

    /// Resolves a type that was resolved before, without reporting its mistakes again.
    fn known_type(&mut self, ty: &ast::TypeExpr) -> Type {
        let before = self.diagnostics.mute();
        let resolved = self.resolve_type(ty);
        self.diagnostics.unmute(before);
        resolved
    }

    /// Reports internal handlers with the same name, and handlers that never run because of an
    /// earlier one without a guard.
    fn repeated_handlers(&mut self, handlers: &[ast::Handler]) {
        let mut reported = FxHashSet::default();
        // The first internal handler of each name, and the first of each message that has no guard.
        let mut firsts: FxHashMap<(&str, bool), &ast::Handler> = FxHashMap::default();
        for handler in handlers {
            let (name, internal) = (handler.name.text.as_str(), handler.params.is_none());
            let first = firsts.get(&(name, internal)).copied();
            if first.is_none() && (internal || handler.guard.is_none()) {
                firsts.insert((name, internal), handler);
            }
            let Some(first) = first.filter(|_| !name.is_empty()) else { continue };
            if internal {
                let message = format!("the actor has two internal handlers `{name}`");
                let diagnostic = Diagnostic::error(handler.name.span, message);
                self.report(diagnostic.also(first.name.span, "the first one"));
            } else if reported.insert(name) {
                let message = format!("this handler of `{name}` never runs");
                let diagnostic = Diagnostic::warning(handler.header, message);
                self.report(
                    diagnostic
                        .also(first.header, "this one takes every such message")
                        .hint("the first handler whose `when` holds is taken"),
                );
            }
        }
    }
}
