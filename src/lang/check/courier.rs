//! The hidden actors that carry messages of a network that loses or doubles them.
//!
//! A handler is one step and cannot choose. So with `network lossy, duplicating;` a message that a
//! handler sends is carried by a *courier*: a hidden actor that the sender starts, with the message
//! and its target. The courier has one step: it delivers the message, delivers it twice, or loses
//! it. That step depends only on the send; a lost message is in conflict with its receipt. Messages
//! of `init` do not fail.

use super::body::unit;
use super::{Checker, Context, Instantiation, Process};
use crate::lang::ast::{File, Item};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Actor, Body, Expr, ExprKind, Handler, VarId, Variable};
use crate::model::Incident;

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
