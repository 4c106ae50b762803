//! Checks what may go wrong: unreliable channels, crashes, timeouts.
//!
//! A fault that the run does not allow is checked like any other, and then left out.

use super::body::unit;
use super::expr::wrong;
use super::strikers::Crashing;
use super::{Checker, Context, Instantiation, Process, Want};
use crate::lang::ast::{
    self, BinaryOp, Block, ChannelFaults, Crashes, Firing, Limit, StatementKind,
};
use crate::lang::code::Visible;
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{
    Budget, Channel, Expr, ExprKind, Handler, Lives, Most, Operation, Pattern, Place, VarId,
};
use crate::lang::types::Type;
use crate::model::{Delivery, Incident, Probing, Set, Value};

use super::call::Call;

/// More faults than this are regarded as a mistake.
const MAX_FAULTS: i64 = 1_000;
/// A network of more nodes has too many cuts.
const MAX_NODES: u32 = 12;
/// The variable with the number of crashes.
const CRASHES: &str = "crashes";

/// The cuts of a network.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// The cell with the set of the nodes that are cut off from the others at present.
    pub(crate) cell: u32,
    pub(crate) nodes: u32,
    /// The name of its mailboxes.
    pub(crate) name: String,
    /// The largest number of cuts in an execution.
    pub(crate) most: u32,
    pub(crate) heals: bool,
    pub(crate) span: Span,
}

impl Process {
    /// Counts its crashes from 0.
    pub(super) fn begin_life(&mut self, lives: Lives, kept: usize) {
        self.kept = kept;
        let (crashes, span) = (Pattern::Bind(lives.crashes), lives.span);
        self.lives = Some(lives);
        let zero = Box::new(Expr { kind: ExprKind::Const(Value::Int(0)), span });
        self.prepend([Expr { kind: ExprKind::Let(crashes, zero), span }]);
    }

    /// Puts statements before the others. A restart does not repeat them.
    pub(crate) fn prepend<const N: usize>(&mut self, statements: [Expr; N]) {
        let ExprKind::Block(all, _) = &mut self.body.block.kind else {
            unreachable!("a body is a block")
        };
        all.splice(0..0, statements);
        self.kept += N;
    }
}

fn is_durable(statement: &ast::Statement) -> bool {
    matches!(statement.kind, StatementKind::Let { durable: true, .. })
}

impl Checker<'_> {
    /// Notes how messages fail at the mailboxes that were declared last.
    pub(super) fn channel(&mut self, faults: &ChannelFaults) {
        let (lossy, duplicating) = (&faults.lossy, &faults.duplicating);
        let limits = lossy.iter().chain(duplicating).map(|limit| limit.span);
        let cuts = faults.partitioned.iter().map(|partitions| partitions.span);
        let Some(span) = limits.chain(cuts).reduce(Span::to) else { return };
        let [lossy, duplicating] = [lossy, duplicating].map(|limit| {
            let budget = limit.as_ref().map(|limit| self.budget(limit, "the number of faults"));
            budget.filter(|_| self.faults.lose())
        });
        let cut = faults.partitioned.as_ref().and_then(|partitions| self.cuts(partitions));
        let group = self.groups.last_mut().expect("just declared");
        group.channel = Some(self.out.channels.len() as u32);
        let (name, base) = (group.name.clone(), group.base);
        self.out.channels.push(Channel { name, base, lossy, duplicating, cut, span });
    }

    fn budget(&mut self, limit: &Limit, what: &str) -> Budget {
        let most = limit.most.as_ref();
        let most = most.map(|most| self.bounded(most, 0, MAX_FAULTS, what).unwrap_or(0) as u32);
        Budget { most, in_all: limit.in_all }
    }

    /// Makes the cell with the cut of the network that was declared last, and what changes it.
    fn cuts(&mut self, partitions: &ast::Partitions) -> Option<u32> {
        let most = partitions.most.as_ref();
        let most =
            most.map_or(Some(1), |most| self.bounded(most, 0, MAX_FAULTS, "the number of cuts"))?;
        let group = self.groups.last().expect("just declared");
        let (name, nodes) = (group.name.clone(), group.count);
        if !(2..=MAX_NODES).contains(&nodes) {
            let message = format!("a network with partitions has 2 to {MAX_NODES} mailboxes");
            let label = format!("`{name}` has {nodes}");
            self.report(Diagnostic::error(partitions.span, message).label(label));
            return None;
        }
        if !self.faults.lose() || most == 0 {
            return None;
        }
        let cell = self.out.objects.cells.len() as u32;
        let whole = Value::Set(Set::from_iter([]));
        self.out.objects.cells.push(format!("the cut of {name}"), whole);
        let (most, heals, span) = (most as u32, partitions.heals, partitions.span);
        self.out.cuts.push(Cuts { cell, nodes, name, most, heals, span });
        Some(cell)
    }

    /// Reports every send at an unreliable mailbox but the plain one.
    pub(super) fn only_send(&mut self, call: &Call<'_>, group: u32) {
        if call.name == "send" {
            return;
        }
        let (name, span) = (&self.groups[group as usize].name, call.span);
        let message = format!("`{}` is not for mailboxes that may lose messages", call.name);
        let hint = format!("write `send({name}, …)`: it does not wait there");
        self.report(Diagnostic::error(span, message).hint(hint));
    }

    /// How often a process may crash.
    pub(super) fn crash_budget(&mut self, index: usize, crashes: &Crashes) -> Budget {
        let budget = self.budget(&crashes.limit, "the number of crashes");
        if budget.in_all && self.processes[index].kind == Instantiation::Template {
            let message = "only processes that exist from the start share a number of crashes";
            let hint = "leave out `in all`: the number is for each process then";
            self.report(Diagnostic::error(crashes.limit.span, message).hint(hint));
        }
        match self.faults.crash() {
            true => budget,
            false => Budget { most: Some(0), in_all: false },
        }
    }

    /// Declares the number of crashes of a process, before its body is checked.
    /// The number of its durable variables, too.
    pub(super) fn lives(
        &mut self,
        crashes: &Crashes,
        budget: Budget,
        block: &Block,
    ) -> (Lives, usize) {
        let span = crashes.limit.span;
        let count = self.bind(CRASHES, span, Type::Int, false, "number of crashes");
        let kept = block.statements.iter().take_while(|one| is_durable(one)).count();
        if !crashes.restarts && kept > 0 {
            self.needs_no_durable(block.statements[0].span);
        }
        self.scope.durables_left = Some(kept);
        let most = Most::Number(budget.most.unwrap_or(0));
        let (in_all, restarts) = (budget.in_all, crashes.restarts);
        (Lives { crashes: count, most, in_all, span, restarts }, kept)
    }

    /// How often an actor may crash.
    pub(super) fn crashing(&mut self, index: usize, crashes: &Crashes) -> Option<Crashing> {
        let budget = self.budget(&crashes.limit, "the number of crashes");
        if self.processes[index].kind == Instantiation::Template {
            let message = "only actors that exist from the start crash";
            let label = format!("`{}` is spawned", self.processes[index].name);
            self.report(Diagnostic::error(crashes.limit.span, message).label(label));
        }
        let most = budget.most.filter(|&most| most > 0 && self.faults.crash())?;
        let each = if crashes.restarts { most } else { 1 };
        let in_all = budget.in_all.then_some(most);
        Some(Crashing { declaration: index, each, in_all })
    }

    /// Declares the number of crashes of an actor.
    pub(super) fn count_of_crashes(
        &mut self,
        crashes: &Crashes,
        variables: &[ast::Statement],
    ) -> (VarId, Expr) {
        let span = crashes.limit.span;
        let count = self.bind(CRASHES, span, Type::Int, false, "number of crashes");
        let durable = variables.iter().filter(|one| is_durable(one)).count();
        if let (false, Some(first)) =
            (crashes.restarts, variables.iter().find(|one| is_durable(one)))
        {
            self.needs_no_durable(first.span);
        }
        self.scope.durables_left = Some(durable);
        let zero = Box::new(Expr { kind: ExprKind::Const(Value::Int(0)), span });
        (count, Expr { kind: ExprKind::Let(Pattern::Bind(count), zero), span })
    }

    /// The crash of an actor: the handler of a message that nothing in the program can send.
    pub(super) fn crash_of_actor(
        &mut self,
        crashes: &Crashes,
        variables: &[ast::Statement],
        count: VarId,
    ) -> Handler {
        let span = crashes.limit.span;
        let expr = |kind| Expr { kind, span };
        let one = Box::new(expr(ExprKind::Const(Value::Int(1))));
        let place = Place::Local(count, Vec::new());
        let mut effects = vec![expr(ExprKind::Assign(place, Some(BinaryOp::Add), one))];
        if crashes.restarts {
            self.scope.context = Context::Actor;
            for variable in variables {
                effects.extend(self.reset(variable));
            }
        }
        let body = expr(ExprKind::Block(effects, Box::new(unit(span))));
        let number = self.bind("number of the crash", span, Type::Int, false, "parameter");
        let [number_read, count_read] =
            [number, count].map(|var| Box::new(expr(ExprKind::Var(var))));
        let guard = Some(expr(ExprKind::Binary(BinaryOp::Eq, number_read, count_read)));
        let (message, params) = (None, vec![number]);
        let incident = Some(Incident::Crash { restarts: crashes.restarts });
        let (is_strong, is_last) = (false, !crashes.restarts);
        Handler { message, params, guard, body, is_strong, header: span, incident, is_last }
    }

    /// Gives a variable of an actor its first value again, if it can change and is not durable.
    fn reset(&mut self, variable: &ast::Statement) -> Option<Expr> {
        let StatementKind::Let { mutable: true, durable: false, pattern, value, .. } =
            &variable.kind
        else {
            return None;
        };
        let ast::PatternKind::Name(name) = &pattern.kind else {
            let message = "a restart cannot reset variables that are declared together";
            self.report(Diagnostic::error(variable.span, message).hint("declare each by itself"));
            return None;
        };
        let var = self.variable(name)?;
        let ty = self.scope.vars[var as usize].ty.clone();
        // Its mistakes are reported where it is declared.
        let before = self.diagnostics.mute();
        let value = Box::new(self.expr_of(value, &ty));
        self.diagnostics.unmute(before);
        let kind = ExprKind::Assign(Place::Local(var, Vec::new()), None, value);
        Some(Expr { kind, span: variable.span })
    }

    fn needs_no_durable(&mut self, span: Span) {
        let message = "only what restarts needs durable variables";
        let hint = "add `restarts`, or leave out `durable`";
        self.report(Diagnostic::error(span, message).hint(hint));
    }

    /// Checks that a durable variable is one of a process that restarts.
    pub(super) fn durable(&mut self, span: Span) {
        match &mut self.scope.durables_left {
            Some(0) => {
                let message = "durable variables are declared before everything else in a process";
                self.report(Diagnostic::error(span, message));
            }
            Some(left) => *left -= 1,
            None => {
                let message = "only a process that crashes and restarts has durable variables";
                let hint = "such as `process P crashes up to 1, restarts { durable var x = 0; … }`";
                self.report(Diagnostic::error(span, message).hint(hint));
            }
        }
    }

    /// `recv(m) timeout { … }`
    pub(super) fn timeout(
        &mut self,
        call: &ast::Expr,
        (firing, block): (Firing, &Block),
        span: Span,
        want: Want<'_>,
    ) -> (Expr, Type) {
        let (received, ty) = self.expr(call, Want::Any);
        let is_dropped = matches!(want, Want::Dropped);
        let want = if is_dropped { Want::Dropped } else { Want::Hint(&ty) };
        let (kind, found) = self.block(block, want);
        if !is_dropped {
            self.must_be(&found, &ty, block.tail.as_ref().map_or(block.span, |tail| tail.span));
        }
        let otherwise = Box::new(Expr { kind, span: block.span });
        let ty = if is_dropped { Type::Unit } else { ty };
        let ExprKind::Operation(Operation::One {
            visible: Visible::Irecv { src, tag },
            args,
            wait: true,
        }) = received.kind
        else {
            if !matches!(received.kind, ExprKind::Error) {
                let message = "`timeout` follows a `recv(mailbox)`";
                self.report(Diagnostic::error(call.span, message));
            }
            return wrong(span);
        };
        if !self.may_time_out(call) {
            return wrong(span);
        }
        let form = match firing {
            Firing::Anytime => Probing::Test,
            Firing::WhenStuck => Probing::WhenStuck,
        };
        let operation = match self.faults.time_out() {
            true => Operation::Timed { form, src, tag, args, otherwise },
            false => Operation::One { visible: Visible::Irecv { src, tag }, args, wait: true },
        };
        let span = Span { end: block.span.start, ..call.span };
        (Expr { kind: ExprKind::Operation(operation), span }, ty)
    }

    /// Reports a timeout at an ordinary mailbox. Returns true if it is at another one.
    fn may_time_out(&mut self, call: &ast::Expr) -> bool {
        let ast::ExprKind::Call(_, args) = &call.kind else { return false };
        let group = args.first().and_then(|place| self.objects_named(&place.value));
        let Some(group) = group.filter(|group| group.delivery == Delivery::Ordered) else {
            return true;
        };
        let (name, declared) = (group.name.clone(), group.span);
        let message = "`timeout` needs a p2p or bag mailbox";
        let diagnostic = Diagnostic::error(call.span, message)
            .also(declared, "declared as an ordinary mailbox here")
            .hint(format!("declare it as `p2p mailbox {name};`, or `bag` if messages overtake"));
        self.report(diagnostic);
        false
    }
}
