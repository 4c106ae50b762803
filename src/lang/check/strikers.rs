//! The hidden actors that make others crash.
//!
//! A crash of an actor is the receipt of a hidden message, so it may come at any time. A *striker*
//! sends these messages. Its steps depend on nothing: each time it makes one of its actors crash,
//! or no more of them. So in every execution it is decided how often each actor crashes, and it has
//! ended only when all of that has happened. (An internal handler of the actor itself could be put
//! off for ever: then no execution would end without a crash.)
//!
//! Actors that share a number of crashes (`in all`, `--max-crashes`) have one striker, the others
//! each their own. In which order a striker makes actors crash cannot be observed, so it goes
//! through them in one order. The crashes of one actor are numbered, and it takes them in order.

use std::ops::Range;

use super::body::unit;
use super::{Checker, Instantiation, Process};
use crate::lang::ast::BinaryOp;
use crate::lang::diagnostic::Span;
use crate::lang::hir::{Actor, Body, Expr, ExprKind, Handler, Pattern, Place, VarId, Variable};
use crate::model::{ProcessId, Value};

/// The declaration of an actor that may crash.
pub(super) struct Crashing {
    /// Its number among the processes and actors.
    pub(super) declaration: usize,
    /// How often each instance may crash.
    pub(super) each: u32,
    /// How often all instances together may crash.
    pub(super) in_all: Option<u32>,
}

/// Actors with one striker.
struct Group {
    name: String,
    members: Vec<ProcessId>,
    /// How often these members may crash together. Each has a limit of its own.
    limits: Vec<(Range<usize>, u32)>,
    span: Span,
}

impl Group {
    fn new(name: String, span: Span) -> Group {
        Group { name, members: Vec::new(), limits: Vec::new(), span }
    }

    /// Adds actors, of which each may crash so often.
    fn add(&mut self, members: Range<u32>, each: u32) {
        for member in members {
            let at = self.members.len();
            self.members.push(ProcessId(member));
            self.limits.push((at..at + 1, each));
        }
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
        for group in self.groups_of_crashes(&crashing, message) {
            self.out.processes.push(striker(&group, message));
        }
    }

    /// The groups of actors that share a number of crashes.
    fn groups_of_crashes(&mut self, crashing: &[Crashing], message: u32) -> Vec<Group> {
        let most = |&Crashing { declaration, each, in_all }: &Crashing| {
            let all = u64::from(self.out.processes[declaration].kind.instances()) * u64::from(each);
            in_all.map_or(all, |most| all.min(u64::from(most)))
        };
        let sum: u64 = crashing.iter().map(most).sum();
        let bound = self.faults.max_crashes.filter(|&bound| u64::from(bound) < sum);
        let mut groups: Vec<Group> = Vec::new();
        for &Crashing { declaration, each, in_all } in crashing {
            let first = self.processes[declaration].first;
            let Process { name, kind, actor, .. } = &mut self.out.processes[declaration];
            let mut handlers = actor.iter_mut().flat_map(|actor| &mut actor.handlers);
            let crash = handlers.find(|handler| handler.incident.is_some()).expect("it may crash");
            crash.message = Some(message);
            let span = crash.header;
            let members = first..first + kind.instances();
            if bound.is_none() && in_all.is_none() {
                groups.extend(members.map(|member| {
                    let name = match kind {
                        Instantiation::Family { lo, .. } => {
                            format!("{name}[{}]", *lo + i64::from(member - first))
                        }
                        _ => name.clone(),
                    };
                    let mut group = Group::new(format!("crashes of {name}"), span);
                    group.add(member..member + 1, each);
                    group
                }));
                continue;
            }
            match bound {
                Some(_) if !groups.is_empty() => {}
                Some(_) => groups.push(Group::new("crashes".to_owned(), span)),
                None => groups.push(Group::new(format!("crashes of {name}"), span)),
            }
            let group = groups.last_mut().expect("there is one now");
            let from = group.members.len();
            group.add(members, each);
            group.limits.extend(in_all.map(|most| (from..group.members.len(), most)));
        }
        if let (Some(bound), [group]) = (bound, groups.as_mut_slice()) {
            group.limits.push((0..group.members.len(), bound));
        }
        groups
    }
}

/// The first member that the striker may still make crash.
const NEXT: VarId = 0;
/// The crashes that count towards the first limit; then come those of the others.
const CRASHES: VarId = 1;

fn striker(group: &Group, message: u32) -> Process {
    let Group { name, members, limits, span } = group;
    let expr = |kind| Expr { kind, span: *span };
    let number = |n: usize| Box::new(expr(ExprKind::Const(Value::Int(n as i64))));
    let read = |var| Box::new(expr(ExprKind::Var(var)));
    let binary = |op, left, right| Box::new(expr(ExprKind::Binary(op, left, right)));
    let change = |var, op, n| expr(ExprKind::Assign(Place::Local(var, Vec::new()), op, number(n)));
    let limits_of = |at: usize| {
        let all = (CRASHES..).zip(limits);
        all.filter(move |(_, (range, _))| range.contains(&at))
    };
    let may_strike = |at: usize| {
        let is_next = binary(BinaryOp::Le, read(NEXT), number(at));
        limits_of(at).fold(is_next, |may, (count, (_, most))| {
            let some_left = binary(BinaryOp::Lt, read(count), number(*most as usize));
            binary(BinaryOp::And, may, some_left)
        })
    };
    let handler = |guard: Box<Expr>, effects| Handler {
        message: None,
        params: Vec::new(),
        guard: Some(*guard),
        body: expr(ExprKind::Block(effects, Box::new(unit(*span)))),
        header: *span,
        is_strong: false,
        incident: None,
        is_last: false,
    };
    let strikes = members.iter().enumerate().map(|(at, &member)| {
        let own = limits_of(at).find(|(_, (range, _))| *range == (at..at + 1));
        let (count, _) = own.expect("each member has its own");
        let crash = expr(ExprKind::Message(message, vec![*read(count)]));
        let target = expr(ExprKind::Const(Value::Process(member)));
        let mut effects = vec![expr(ExprKind::Send(Box::new(target), Box::new(crash)))];
        effects.extend(limits_of(at).map(|(count, _)| change(count, Some(BinaryOp::Add), 1)));
        effects.push(change(NEXT, None, at));
        handler(may_strike(at), effects)
    });
    let mut handlers: Vec<Handler> = strikes.collect();
    let may_go_on = (0..members.len()).map(may_strike);
    let may_go_on = may_go_on.reduce(|one, other| binary(BinaryOp::Or, one, other));
    let spares = vec![change(NEXT, None, members.len())];
    handlers.extend(may_go_on.map(|guard| handler(guard, spares)));
    let names = std::iter::once("next".to_owned());
    let names = names.chain((1..=limits.len()).map(|limit| format!("crashes {limit}")));
    let vars: Vec<_> = names.map(|name| Variable { name, top_level: true }).collect();
    let start = |var| expr(ExprKind::Let(Pattern::Bind(var), number(0)));
    let starts = (0..vars.len() as VarId).map(start).collect();
    let block = expr(ExprKind::Block(starts, Box::new(unit(*span))));
    Process {
        name: name.clone(),
        kind: Instantiation::Single,
        body: Body { vars, params: 0, block },
        actor: Some(Actor { handlers, header: *span }),
        lives: None,
        allowances: Vec::new(),
        kept: 0,
    }
}
