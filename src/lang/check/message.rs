//! Checks messages between actors: what they carry, how they are constructed and sent; and
//! operations that actors may not use.
//!
//! A message name has one meaning in the whole program: its first handler decides what it carries,
//! and the others must agree. All messages have the same type. So an actor may get, through a
//! variable, a message that it has no handler for; that message stays pending. The checker reports
//! it if both the actor and the message are known.

use rustc_hash::FxHashSet;

use super::call::Call;
use super::expr::wrong;
use super::{Checker, Context, Meaning, MessageSignature, Want};
use crate::lang::ast::{self, Arg, Handler, Name, Param};
use crate::lang::diagnostic::{Diagnostic, Span, listed};
use crate::lang::hir::{Expr, ExprKind, ObjectKind, Pattern};
use crate::lang::types::Type;

impl Checker<'_> {
    /// Declares the messages of the handlers of an actor, and returns them.
    pub(super) fn handled(&mut self, handlers: &[Handler]) -> Vec<u32> {
        let mut handled = Vec::new();
        let mut known = FxHashSet::default();
        for handler in handlers {
            let Some(params) = &handler.params else { continue };
            let message = self.declare_message(&handler.name, params, handler.header);
            handled.extend(message.filter(|&message| known.insert(message)));
        }
        handled
    }

    fn declare_message(&mut self, name: &Name, params: &[Param], span: Span) -> Option<u32> {
        let types: Vec<_> = params.iter().map(|param| self.resolve_type(&param.ty)).collect();
        for (ty, param) in types.iter().zip(params) {
            self.must_travel.push((ty.clone(), param.ty.span, "sent"));
        }
        if let Some(message) = self.message_called(&name.text) {
            self.must_agree(message, &types, span);
            return Some(message);
        }
        if name.text.is_empty() {
            return None;
        }
        // A message whose name is taken is declared nevertheless, so that its uses are not
        // reported.
        let message = self.messages.len() as u32;
        self.enter(name, Meaning::Message);
        self.message_of.insert(name.text.clone(), message);
        self.messages.push(MessageSignature { name: name.text.clone(), params: types, span });
        self.out.messages.push(name.text.clone());
        Some(message)
    }

    fn must_agree(&mut self, message: u32, types: &[Type], span: Span) {
        let first = &self.messages[message as usize];
        let (name, params, declared) = (first.name.clone(), first.params.clone(), first.span);
        let mut pairs = types.iter().zip(&params);
        if types.len() == params.len() && pairs.all(|(a, b)| self.infer.unify(a, b)) {
            return;
        }
        let [found, expected] = [types, &params[..]].map(|types| self.signature_of(&name, types));
        let message = format!("`{name}` carries something else in another handler");
        let diagnostic = Diagnostic::error(span, message).label(format!("here it is `{found}`"));
        let hint = "a message carries the same in the whole program; give this one another name";
        self.report(diagnostic.also(declared, format!("here it is `{expected}`")).hint(hint));
    }

    fn signature_of(&self, name: &str, types: &[Type]) -> String {
        let types: Vec<_> = types.iter().map(|ty| self.show(ty)).collect();
        format!("{name}({})", types.join(", "))
    }

    /// The message with this name.
    pub(super) fn message_called(&self, name: &str) -> Option<u32> {
        self.message_of.get(name).copied()
    }

    /// Checks a message as a value: `Register(id)`.
    pub(super) fn message(
        &mut self,
        message: u32,
        args: &[Arg],
        span: Span,
        want: Want<'_>,
    ) -> (Expr, Type) {
        let signature = &self.messages[message as usize];
        let (name, params) = (signature.name.clone(), signature.params.clone());
        let declared = signature.span;
        if self.scope.context == Context::Constant {
            self.report(Diagnostic::error(span, "a constant cannot be a message"));
            return wrong(span);
        }
        if matches!(want, Want::Dropped) {
            let warning = Diagnostic::warning(span, format!("the message `{name}` is not sent"));
            self.report(warning.hint(format!("write `send(actor, {name}(…))`")));
        }
        let args = self.arguments(&name, args, &params, span, declared);
        (Expr { kind: ExprKind::Message(message, args), span }, Type::Message)
    }

    /// Advice for an unknown message.
    pub(super) fn nearest_message(&self, name: &str) -> String {
        self.nearest(name, self.messages.iter().map(|message| message.name.as_str()))
            .unwrap_or_else(|| {
                format!("a message exists if an actor handles it: `on {name}(…) {{ … }}`")
            })
    }

    /// Checks a message as a pattern: `Register(id)`.
    pub(super) fn message_pattern(
        &mut self,
        name: &Name,
        parts: &[ast::Pattern],
        span: Span,
        check: &mut dyn FnMut(&mut Self, &ast::Pattern, &Type) -> Pattern,
    ) -> Pattern {
        let Some(message) = self.message_called(&name.text) else {
            if !name.text.is_empty() {
                let diagnostic =
                    Diagnostic::error(name.span, format!("there is no message `{}`", name.text));
                let hint = self.nearest_message(&name.text);
                self.report(diagnostic.label("unknown name").hint(hint));
            }
            for part in parts {
                check(self, part, &Type::Error);
            }
            return Pattern::Wild;
        };
        let mut types = self.messages[message as usize].params.clone();
        if types.len() != parts.len() {
            let declared = self.signature_of(&name.text, &types);
            let message =
                format!("`{}` carries {}, not {}", name.text, values(types.len()), parts.len());
            let hint = format!("it is declared as `{declared}`");
            self.report(Diagnostic::error(span, message).hint(hint));
            types.resize(parts.len(), Type::Error);
        }
        let parts = parts.iter().zip(&types).map(|(part, ty)| check(self, part, ty)).collect();
        Pattern::Message(message, parts)
    }

    /// Checks `send(actor, message)`.
    pub(super) fn tell(&mut self, call: &Call<'_>) -> Option<(ExprKind, Type)> {
        if let Some(label) = call.args.iter().find_map(|arg| arg.label.as_ref()) {
            let message = format!("a message to an actor has no `{}:`", label.text);
            let hint = "put what the actor needs to know into the message";
            self.report(Diagnostic::error(label.span, message).hint(hint));
            return None;
        }
        let call = Call { usage: "send(actor, Msg(…))", ..*call };
        let [target, message] = self.positional(&call)?;
        let target_span = target.span;
        let target = self.target(target);
        let (message, ty) = self.expr(message, Want::Hint(&Type::Message));
        let (target, to) = target?;
        if !self.infer.coerce(&ty, &Type::Message) {
            let shown = self.show(&ty);
            let diagnostic =
                Diagnostic::error(message.span, format!("expected a message, found {shown}"));
            let hint = "a message is written with its name: `Msg(…)`";
            self.report(diagnostic.label(format!("this is {shown}")).hint(hint));
        }
        match (&to, &message.kind) {
            (Type::Actor(declaration), ExprKind::Message(name, _)) => {
                self.must_handle(*declaration, *name, message.span, target_span);
            }
            (_, ExprKind::Message(name, _)) => {
                self.out.sent_blindly.insert(*name);
            }
            _ if self.out.sent_blindly.len() == self.messages.len() => {}
            _ => self.out.sent_blindly.extend(0..self.messages.len() as u32),
        }
        Some((self.sent(target, message, call.span), Type::Unit))
    }

    /// Checks the target of a message. Returns its type, too, which may be a known declaration.
    fn target(&mut self, target: &ast::Expr) -> Option<(Expr, Type)> {
        let objects = self.objects_named(target);
        if let Some(mailbox) = objects.filter(|group| group.kind == ObjectKind::Mailbox) {
            let (who, name) = (self.scope.context.who(), &mailbox.name);
            let message = format!("{who} cannot send to the mailbox `{name}`");
            let hint = "mailboxes belong to processes; send to an actor";
            self.report(Diagnostic::error(target.span, message).hint(hint));
            return None;
        }
        let (checked, ty) = self.expr(target, Want::Any);
        if !self.infer.coerce(&ty, &Type::AnyActor) {
            let shown = self.show(&ty);
            let diagnostic =
                Diagnostic::error(target.span, format!("expected an actor, found {shown}"));
            self.report(diagnostic.label(format!("this is {shown}")));
        }
        Some((checked, self.infer.shallow(&ty)))
    }

    /// Reports a message to an actor that has no handler for it.
    fn must_handle(&mut self, declaration: u32, message: u32, span: Span, target: Span) {
        let actor = &self.processes[declaration as usize];
        if self.handlers.contains(&(declaration, message)) {
            return;
        }
        let handled = actor.handles.as_deref().unwrap_or_default();
        let names = handled.iter().map(|&known| self.messages[known as usize].name.as_str());
        let name = &self.messages[message as usize].name;
        let hint = self.nearest(name, names.clone()).unwrap_or_else(|| match handled {
            [] => format!("`{}` handles no messages", actor.name),
            _ => format!("it handles {}", listed(names.map(|n| format!("`{n}`")))),
        });
        let text = format!("`{}` has no handler for `{name}`", actor.name);
        let diagnostic = Diagnostic::error(span, text).label("it would stay pending for ever");
        let label = format!("this is an actor `{}`", actor.name);
        self.report(diagnostic.also(target, label).hint(hint));
    }

    /// Reports a process that sends to an actor.
    pub(super) fn sends_to_actor(&mut self, call: &Call<'_>) -> bool {
        let Some(target) = call.args.first().map(|arg| &arg.value) else { return false };
        let base = match &target.kind {
            ast::ExprKind::Index(base, _) => base,
            _ => target,
        };
        let found = match &base.kind {
            ast::ExprKind::Name(name) => match self.variable(name) {
                Some(id) => self.is_reference(&self.scope.vars[id as usize].ty),
                None => self.actors_called(base).is_some(),
            },
            _ => false,
        };
        if found {
            let message = format!("a process cannot `{}` to an actor", call.name);
            let diagnostic = Diagnostic::error(target.span, message).label("this is an actor");
            self.report(
                diagnostic.hint("handlers and `init` send to actors, processes to mailboxes"),
            );
            for arg in call.args {
                self.expr(&arg.value, Want::Any);
            }
        }
        found
    }

    /// Is it a type of references to actors, or of lists or maps to them?
    fn is_reference(&self, ty: &Type) -> bool {
        match self.infer.shallow(ty) {
            Type::List(item) | Type::Array(item, _) | Type::Map(_, item) => {
                self.is_reference(&item)
            }
            ty => matches!(ty, Type::Actor(_) | Type::AnyActor),
        }
    }

    /// Reports an operation of processes in another context.
    pub(super) fn refuse_operation(&mut self, name: &str, span: Span) {
        let context = self.scope.context;
        let message = format!("{} cannot call `{name}`", context.who());
        let in_actor = context.in_actor() || context == Context::Init;
        let diagnostic = Diagnostic::error(span, message);
        self.report(match (in_actor, name) {
            (true, "send") => diagnostic.label("only handlers and `init` may do this"),
            (true, name) => diagnostic.label("only a process may do this").hint(actors_way(name)),
            (false, "send") => {
                diagnostic.label("only processes, procedures, handlers and `init` send")
            }
            (false, _) => diagnostic.label("only a process or a procedure may do this"),
        });
    }
}

/// Advice: what actors have instead of an operation of processes.
fn actors_way(operation: &str) -> &'static str {
    match operation {
        "choose" => "give the actor an `internal` handler for each choice",
        "local" => "an `internal` handler is an action of the actor alone",
        "cas" | "fetch_add" | "swap" => {
            "actors share nothing: an actor reads and writes its own variables"
        }
        "isend" | "irecv" | "recv" | "wait" | "test" | "waitany" | "testany" | "waitall"
        | "value" => "actors exchange messages: `send(actor, Msg(…))` and `on Msg(…) { … }`",
        _ => "an actor never waits: it handles one message after another",
    }
}

fn values(count: usize) -> String {
    match count {
        0 => "nothing".to_owned(),
        1 => "1 value".to_owned(),
        n => format!("{n} values"),
    }
}
