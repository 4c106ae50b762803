//! Checks bodies of functions, procedures, processes, `init`, `final` and `invariant`; their
//! variables and blocks.

use rustc_hash::FxHashMap;

use super::{Checker, Context, Instantiation, Process, ProcessSignature, Scope, Var, Want};
use crate::lang::ast::{self, Block, Crashes, File, Item, Name, Param, Statement, StatementKind};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Actor, Body, Expr, ExprKind, VarId, Variable};
use crate::lang::types::Type;
use crate::model::Value;

impl Checker<'_> {
    /// Checks all bodies. `final` and `invariant` come last, because they name variables of
    /// processes.
    pub(super) fn bodies(&mut self, file: &File) {
        for item in &file.items {
            match item {
                Item::Function { params, body, .. } => {
                    let body = self.function(Context::Function, params, body);
                    self.out.functions.push(body);
                }
                Item::Procedure { params, body, .. } => self.procedure(params, body),
                _ => {}
            }
        }
        let mut next = 0;
        for item in &file.items {
            match item {
                Item::Process { kind, body, crashes, .. } => {
                    self.process(next, &kind.params(), body, crashes.as_ref());
                }
                Item::Actor { kind, body, .. } => self.actor(next, &kind.params(), body),
                _ => continue,
            }
            next += 1;
        }
        for item in &file.items {
            if let Item::Init { body } = item {
                let body = self.lone_block(Context::Init, body);
                self.out.inits.push(body);
            }
        }
        for item in &file.items {
            if let Item::Final { body } = item {
                let body = self.lone_block(Context::Final, body);
                self.out.finals.push(body);
            }
        }
        for item in &file.items {
            if let Item::Invariant { body } = item {
                let body = self.lone_block(Context::Invariant, body);
                self.out.invariants.push(body);
            }
        }
        self.liveness(file);
    }

    /// Checks the block of `init`, `final` or `invariant`.
    fn lone_block(&mut self, context: Context, block: &Block) -> Body {
        self.enter_body(context, &[], &[], "parameter");
        self.end_lone_block(0, block)
    }

    /// Checks the block of a body that has this number of parameters and no value.
    pub(super) fn end_lone_block(&mut self, params: usize, block: &Block) -> Body {
        let kind = self.block(block, Want::Dropped).0;
        self.take_body(params, Expr { kind, span: block.span })
    }

    /// Checks the body of the next function or procedure.
    pub(super) fn function(&mut self, context: Context, params: &[Param], block: &Block) -> Body {
        let signature = match context {
            Context::Procedure => &self.procedures[self.out.procedures.len()],
            _ => &self.functions[self.out.functions.len()],
        };
        let states_result = signature.states_result;
        let (name, types, result, declared) = signature.parts();
        let params: Vec<_> = params.iter().map(|param| &param.name).collect();
        self.enter_body(context, &params, &types, "parameter");
        self.scope.result = Some(result.clone());
        let want = match context {
            // A function has no effect, so its value is always wanted.
            Context::Function if !states_result => Want::Any,
            _ if result == Type::Unit => Want::Dropped,
            _ => Want::Hint(&result),
        };
        let (kind, ty) = self.block(block, want);
        if !states_result {
            self.imply(context, &ty, block);
        }
        if result != Type::Unit && !self.infer.coerce(&ty, &result) {
            let span = block
                .tail
                .as_ref()
                .map_or(Span { start: block.span.end - 1, ..block.span }, |tail| tail.span);
            let (found, expected) = (self.show(&ty), self.show(&result));
            let message = format!("`{name}` returns {expected}, but this is {found}");
            let diagnostic = Diagnostic::error(span, message)
                .label(format!("expected {expected}, found {found}"));
            let hint = match self.block_for_set(&result, span) {
                Some(hint) => Some(hint.to_owned()),
                None => (ty == Type::Unit).then(|| {
                    format!("the value of {} is its last expression, without `;`", context.who())
                }),
            };
            self.report(diagnostic.also(declared, "declared here").maybe_hint(hint));
        }
        self.take_body(params.len(), Expr { kind, span: block.span })
    }

    /// Notes that a function or procedure returns a value but does not state a result type. This is
    /// a mistake in a function, and for a `return` with a value. A procedure, however, may end with
    /// an operation whose value is not used.
    fn imply(&mut self, context: Context, ty: &Type, block: &Block) {
        let is_value = |ty: &Type| !matches!(ty, Type::Unit | Type::Never | Type::Error);
        let tail = block.tail.as_ref().map(|tail| (self.infer.shallow(ty), tail.span));
        let tail = tail.filter(|(ty, _)| is_value(ty));
        let returned = self.scope.implied.take();
        let is_wrong = returned.is_some() || context == Context::Function;
        let Some(implied) = returned.or(tail) else { return };
        let signature = match context {
            Context::Procedure => &mut self.procedures[self.out.procedures.len()],
            _ => &mut self.functions[self.out.functions.len()],
        };
        signature.implied = Some(implied);
        if is_wrong {
            let (name, span) = (signature.name.clone(), signature.span);
            signature.result = Type::Error;
            let (ty, at) = signature.implied.take().expect("just set");
            let word = if context == Context::Function { "fn" } else { "proc" };
            self.no_result_type(word, &name, span, &ty, at, "this is its value");
        }
    }

    /// Reports a function or procedure that returns a value of type `ty` but does not state a
    /// result type.
    pub(super) fn no_result_type(
        &mut self,
        word: &str,
        name: &str,
        span: Span,
        ty: &Type,
        at: Span,
        label: &str,
    ) {
        let shown = self.show(ty);
        let message = format!("`{name}` returns a value, but does not state its type");
        let hint = format!("write `{word} {name}(…) -> {shown} {{ … }}`");
        self.report(Diagnostic::error(span, message).also(at, label).hint(hint));
    }

    fn process(
        &mut self,
        index: usize,
        params: &[&Name],
        block: &Block,
        crashes: Option<&Crashes>,
    ) {
        let types = self.processes[index].params.clone();
        let what = if self.processes[index].kind == Instantiation::Template {
            "parameter"
        } else {
            "index"
        };
        let budget = crashes.map(|crashes| self.crash_budget(index, crashes));
        self.enter_body(Context::Process, params, &types, what);
        let lives = crashes.zip(budget);
        let lives = lives.map(|(crashes, budget)| self.lives(crashes, budget, block));
        let kind = self.block(block, Want::Dropped).0;
        self.end_process(index, params.len(), Expr { kind, span: block.span }, None);
        if let Some((lives, kept)) = lives {
            self.out.processes[index].begin_life(lives, kept);
        }
    }

    /// Completes the body of a process or an actor.
    pub(super) fn end_process(
        &mut self,
        index: usize,
        params: usize,
        block: Expr,
        actor: Option<Actor>,
    ) {
        let variables = self.scope.vars.iter().filter(|var| var.top_level);
        self.processes[index].variables =
            variables.map(|var| (var.name.clone(), var.ty.clone())).collect();
        let body = self.take_body(params, block);
        let ProcessSignature { name, kind, .. } = &self.processes[index];
        let (name, kind) = (name.clone(), *kind);
        let process =
            Process { name, kind, body, actor, lives: None, allowances: Vec::new(), kept: 0 };
        self.out.processes.push(process);
    }

    pub(super) fn enter_body(
        &mut self,
        context: Context,
        params: &[&Name],
        types: &[Type],
        what: &'static str,
    ) {
        self.scope = Scope { context, blocks: vec![Vec::new()], ..Scope::default() };
        self.parameters(params, types, what);
    }

    pub(super) fn parameters(
        &mut self,
        params: &[&Name],
        types: &[Type],
        what: &'static str,
    ) -> Vec<VarId> {
        let mut bound = Vec::new();
        let mut firsts: FxHashMap<&str, Span> = FxHashMap::default();
        for (name, ty) in params.iter().zip(types) {
            let first = *firsts.entry(&name.text).or_insert(name.span);
            if first != name.span {
                let message = format!("two parameters are called `{}`", name.text);
                self.report(Diagnostic::error(name.span, message).also(first, "the first one"));
            }
            bound.push(self.bind(&name.text, name.span, ty.clone(), false, what));
        }
        bound
    }

    fn take_body(&mut self, params: usize, block: Expr) -> Body {
        let scope = std::mem::take(&mut self.scope);
        for var in &scope.vars {
            let silent =
                var.used || var.top_level || var.name.starts_with('_') || var.what != "variable";
            if !silent && !self.infer.has_comm(&var.ty) {
                let message = format!("the variable `{}` is never used", var.name);
                let hint = format!("call it `_{}` if that is intended", var.name);
                self.report(Diagnostic::warning(var.span, message).hint(hint));
            }
        }
        let vars =
            scope.vars.into_iter().map(|var| Variable { name: var.name, top_level: var.top_level });
        Body { vars: vars.collect(), params: params as u32, block }
    }

    /// Declares a variable in the innermost block.
    pub(super) fn bind(
        &mut self,
        name: &str,
        span: Span,
        ty: Type,
        mutable: bool,
        what: &'static str,
    ) -> VarId {
        let id = self.scope.vars.len() as VarId;
        self.bound.push((span, ty.clone()));
        if name == "self" && self.scope.context.in_actor() {
            let message = "`self` is the reference of the actor";
            self.report(Diagnostic::error(span, message).label("choose another name"));
        }
        let outermost = matches!(self.scope.context, Context::Process | Context::Actor);
        let top_level = outermost && self.scope.blocks.len() <= 2;
        let name = name.to_owned();
        if let Some(block) = self.scope.blocks.last_mut() {
            block.push(name.clone());
        }
        self.scope.visible.entry(name.clone()).or_default().push(id);
        self.scope.vars.push(Var { name, ty, mutable, span, used: false, top_level, what });
        id
    }

    /// The variable in scope with this name.
    pub(super) fn variable(&self, name: &str) -> Option<VarId> {
        self.scope.visible.get(name)?.last().copied()
    }

    /// Runs `check` in a new block.
    pub(super) fn in_block<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.scope.blocks.push(Vec::new());
        let result = check(self);
        for name in self.scope.blocks.pop().unwrap_or_default() {
            if let Some(hidden) = self.scope.visible.get_mut(&name) {
                hidden.pop();
            }
        }
        result
    }

    pub(super) fn block(&mut self, block: &Block, want: Want<'_>) -> (ExprKind, Type) {
        self.in_block(|checker| checker.block_inside(block, want))
    }

    fn block_inside(&mut self, block: &Block, want: Want<'_>) -> (ExprKind, Type) {
        let mut never = false;
        let mut statements = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            let (checked, ty) = self.statement(statement);
            never |= ty == Type::Never;
            statements.push(checked);
        }
        let end = Span { start: block.span.end, ..block.span };
        let (value, ty) = match &block.tail {
            Some(tail) => self.expr(tail, want),
            None if never => (unit(end), Type::Never),
            None => (unit(end), Type::Unit),
        };
        (ExprKind::Block(statements, Box::new(value)), ty)
    }

    pub(super) fn statement(&mut self, statement: &Statement) -> (Expr, Type) {
        match &statement.kind {
            StatementKind::Expr(expr) => self.expr(expr, Want::Dropped),
            StatementKind::Let { mutable, durable, pattern, ty, value } => {
                if *durable {
                    self.durable(statement.span);
                }
                let checked = self.binding(*mutable, pattern, ty.as_ref(), value, statement.span);
                (checked, Type::Unit)
            }
            StatementKind::Assign { place, op, value } => {
                (self.assignment(place, *op, value, statement.span), Type::Unit)
            }
        }
    }

    fn binding(
        &mut self,
        mutable: bool,
        pattern: &ast::Pattern,
        ty: Option<&ast::TypeExpr>,
        value: &ast::Expr,
        span: Span,
    ) -> Expr {
        let (value, ty) = match ty {
            Some(ty) => {
                let ty = self.resolve_type(ty);
                (self.expr_of(value, &ty), ty)
            }
            None => self.expr(value, Want::Any),
        };
        let pattern = self.binding_pattern(pattern, &ty, mutable, "variable");
        Expr { kind: ExprKind::Let(pattern, Box::new(value)), span }
    }
}

/// The unit value, for blocks without a value.
pub(super) fn unit(span: Span) -> Expr {
    Expr { kind: ExprKind::Const(Value::Unit), span }
}
