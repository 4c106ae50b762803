//! Hidden actors: those that carry messages of a network that loses or doubles them, and those that
//! make actors crash.
//!
//! **`network lossy, duplicating;`**
//! A handler is one step and cannot choose. So a message that may fail is carried by a *courier*: a
//! hidden actor that the sender starts, with the message and its target. The courier has one step:
//! it delivers the message, delivers it twice, or loses it. That step depends only on the send; a
//! lost message is in conflict with its receipt. Messages of `init` do not fail.
//!
//! **`actor A crashes up to 2`.** A crash is the receipt of a hidden message, so it may come at any
//! time. Beside each instance there is an actor that chooses, once for each crash, whether it sends
//! that message, or no more of them. These choices depend on nothing. So in every execution it is
//! decided how often an actor crashes, and it has ended only when all of that has happened. (An
//! internal handler of the actor itself could be put off for ever: then no execution would end
//! without a crash.)

use super::body::unit;
use super::{Checker, Context, Instantiation, Process};
use crate::lang::ast::{BinaryOp, File, Item};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Actor, Body, Expr, ExprKind, Handler, Pattern, Place, VarId, Variable};
use crate::model::{Incident, ProcessId, Value};

/// The name of couriers in reports.
const NAME: &str = "network";

/// How a courier may fail.
pub(super) struct Courier {
    /// Its number among the processes and actors.
    declaration: u32,
    lossy: Option<Span>,
    duplicating: Option<Span>,
    span: Span,
}

/// The parameters of a courier.
const TARGET: VarId = 0;
const MESSAGE: VarId = 1;

impl Checker<'_> {
    /// Notes how messages between actors fail.
    pub(super) fn network(&mut self, file: &File) {
        let runs = |item: &&Item| matches!(item, Item::Process { .. } | Item::Actor { .. });
        let declaration = file.items.iter().filter(runs).count() as u32;
        let mut first = None;
        for item in &file.items {
            let &Item::Network { lossy, duplicating, span } = item else { continue };
            if let Some(first) = first.replace(span) {
                let message = "the network of the actors is declared twice";
                self.report(Diagnostic::error(span, message).also(first, "declared first here"));
            }
            let courier = Courier { declaration, lossy, duplicating, span };
            self.courier = self.faults.lose().then_some(courier);
        }
    }

    /// A message that is sent by a handler or by `init`.
    pub(super) fn sent(&self, target: Expr, message: Expr, span: Span) -> ExprKind {
        match &self.courier {
            Some(courier) if self.scope.context == Context::Handler => {
                let create = ExprKind::Create(courier.declaration, vec![target, message]);
                ExprKind::Block(vec![Expr { kind: create, span }], Box::new(unit(span)))
            }
            _ => ExprKind::Send(Box::new(target), Box::new(message)),
        }
    }

    /// Declares the courier, after everything else.
    pub(super) fn employ_courier(&mut self) {
        let Some(Courier { lossy, duplicating, span, .. }) = self.courier.take() else { return };
        let ways = [(Some(span), 1), (lossy, 0), (duplicating, 2)];
        let handlers = ways.into_iter().filter_map(|(span, times)| Some(delivers(times, span?)));
        let block = ExprKind::Block(Vec::new(), Box::new(unit(span)));
        let vars =
            ["target", "message"].map(|name| Variable { name: name.into(), top_level: true });
        let body = Body { vars: vars.into(), params: 2, block: Expr { kind: block, span } };
        self.out.processes.push(Process {
            name: NAME.to_owned(),
            kind: Instantiation::Template,
            body,
            actor: Some(Actor { handlers: handlers.collect(), header: span }),
            lives: None,
            allowances: Vec::new(),
            kept: 0,
        });
    }
}

impl Checker<'_> {
    /// Declares what makes actors crash, after everything else.
    pub(super) fn strike_actors(&mut self) {
        let crashing = std::mem::take(&mut self.crashing);
        if crashing.is_empty() {
            return;
        }
        let message = self.out.messages.len() as u32;
        self.out.messages.push("crash".to_owned());
        for (number, most) in crashing {
            let actor = &mut self.out.processes[number];
            let mut handlers = actor.actor.iter_mut().flat_map(|actor| &mut actor.handlers);
            let crash = handlers.find(|handler| handler.incident.is_some()).expect("it may crash");
            crash.message = Some(message);
            let span = crash.header;
            let (name, kind) = (format!("crashes of {}", actor.name), actor.kind);
            let target = match kind {
                Instantiation::Family { .. } => {
                    let index = Box::new(Expr { kind: ExprKind::Var(0), span });
                    ExprKind::Instance(number as u32, index)
                }
                _ => ExprKind::Const(Value::Process(ProcessId(self.processes[number].first))),
            };
            self.out.processes.push(striker(name, kind, (target, message), most, span));
        }
    }
}

/// The actor that sends another one the message that it crashes, at most so often.
fn striker(
    name: String,
    kind: Instantiation,
    (target, message): (ExprKind, u32),
    most: u32,
    span: Span,
) -> Process {
    let expr = |kind| Expr { kind, span };
    let number = |n: u32| Box::new(expr(ExprKind::Const(Value::Int(i64::from(n)))));
    let params = u32::from(matches!(kind, Instantiation::Family { .. }));
    let left = params;
    let becomes = |op, n| expr(ExprKind::Assign(Place::Local(left, Vec::new()), op, number(n)));
    let crash = Box::new(expr(ExprKind::Message(message, Vec::new())));
    let send = expr(ExprKind::Send(Box::new(expr(target)), crash));
    let handler = |effects| {
        let some_left =
            ExprKind::Binary(BinaryOp::Gt, Box::new(expr(ExprKind::Var(left))), number(0));
        Handler {
            message: None,
            params: Vec::new(),
            guard: Some(expr(some_left)),
            body: expr(ExprKind::Block(effects, Box::new(unit(span)))),
            header: span,
            is_strong: false,
            incident: None,
            is_last: false,
        }
    };
    let strikes = handler(vec![becomes(Some(BinaryOp::Sub), 1), send]);
    let spares = handler(vec![becomes(None, 0)]);
    let names = ["index", "crashes left"];
    let vars = names[1 - params as usize..].iter();
    let vars = vars.map(|&name| Variable { name: name.into(), top_level: true }).collect();
    let declared = expr(ExprKind::Let(Pattern::Bind(left), number(most)));
    let block = expr(ExprKind::Block(vec![declared], Box::new(unit(span))));
    let body = Body { vars, params, block };
    let actor = Some(Actor { handlers: vec![strikes, spares], header: span });
    Process { name, kind, body, actor, lives: None, allowances: Vec::new(), kept: 0 }
}

/// The handler that delivers the message this many times; it is the last step of the courier.
fn delivers(times: u32, span: Span) -> Handler {
    let var = |var| Box::new(Expr { kind: ExprKind::Var(var), span });
    let send = |_| Expr { kind: ExprKind::Send(var(TARGET), var(MESSAGE)), span };
    let block = ExprKind::Block((0..times).map(send).collect(), Box::new(unit(span)));
    Handler {
        message: None,
        params: Vec::new(),
        guard: None,
        body: Expr { kind: block, span },
        header: span,
        is_strong: false,
        incident: [Some(Incident::Loss), None, Some(Incident::Doubling)][times as usize],
        is_last: true,
    }
}
