//! Checks expressions, except calls and names.

use std::sync::Arc;

use super::body::unit;
use super::{Checker, Context, Want};
use crate::lang::ast::{self, BinaryOp, Block, UnaryOp};
use crate::lang::constant;
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Arm, Expr, ExprKind};
use crate::lang::types::Type;
use crate::model::Value;

/// The result for a wrong expression, whose mistake has been reported.
pub(super) fn wrong(span: Span) -> (Expr, Type) {
    (Expr { kind: ExprKind::Error, span }, Type::Error)
}

/// The most steps for the evaluation of a constant index of an object.
const MAX_FOLDED: u64 = 1_000;

/// The longest condition that advice quotes, in bytes.
const MAX_SHOWN: usize = 60;

impl Checker<'_> {
    /// Checks an expression that must have type `ty`.
    pub(super) fn expr_of(&mut self, expr: &ast::Expr, ty: &Type) -> Expr {
        let (checked, found) = self.expr(expr, Want::Hint(ty));
        self.must_be(&found, ty, expr.span);
        checked
    }

    /// Reports that a value of type `found_type` cannot be used where `ty` is expected, if that is
    /// so.
    pub(super) fn must_be(&mut self, found_type: &Type, ty: &Type, span: Span) {
        if !self.infer.coerce(found_type, ty) {
            let (found, expected) = (self.show(found_type), self.show(ty));
            let message = format!("expected {expected}, found {found}");
            let hint = match (self.infer.shallow(found_type), self.infer.shallow(ty)) {
                (Type::Comm(_), _) => Some("`wait` for the communication to get its value"),
                (Type::Int, Type::Bool) => Some("there is no conversion: compare it, `x != 0`"),
                (Type::Set(_) | Type::Map(..), Type::Int) => Some(
                    "sets are combined by `union`, `minus` and `intersect`, and compared by `subset`",
                ),
                (Type::Actor(_) | Type::AnyActor, Type::Actor(_)) => Some(
                    "references to actors of any kind have type `actor`; state it: `var x: actor = …`",
                ),
                _ => self.block_for_set(ty, span),
            };
            let hint = hint.map(str::to_owned);
            let label = format!("this is {found}");
            self.report(Diagnostic::error(span, message).label(label).maybe_hint(hint));
        }
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr, want: Want<'_>) -> (Expr, Type) {
        let checked = self.expr_inside(expr, want);
        if self.infer.is_exceeded() {
            self.too_many_parts(expr.span);
            return wrong(expr.span);
        }
        if matches!(want, Want::Dropped) {
            self.check_dropped(expr, &checked.1);
        }
        checked
    }

    /// Reports an unused value of type `ty`, where that is a mistake. Blocks and branches pass the
    /// value of their last expression on, so only that expression is checked.
    fn check_dropped(&mut self, expr: &ast::Expr, ty: &Type) {
        use ast::ExprKind::{Binary, Block, If, Match};
        let ty = self.infer.shallow(ty);
        match expr.kind {
            Block(_) | If(..) | Match(..) => {}
            _ if self.scope.context.looks() && matches!(ty, Type::Bool | Type::Int) => {
                self.report_unchecked(expr.span, &ty);
            }
            Binary(op, ..) if ty != Type::Error => {
                let message = format!("the value of `{}` is not used", op.text());
                let hint = (ty == Type::Bool).then(|| {
                    let hint =
                        format!("a condition is checked by `{}`", self.assertion_of(expr.span));
                    match op {
                        BinaryOp::Eq => {
                            format!("{hint}, and an assignment is written with one `=`")
                        }
                        _ => hint,
                    }
                });
                self.report(Diagnostic::warning(expr.span, message).maybe_hint(hint));
            }
            _ => {}
        }
    }

    /// Reports a value in `final` or `invariant` that is not in an `assert`: it would not be
    /// checked.
    fn report_unchecked(&mut self, span: Span, ty: &Type) {
        let who = self.scope.context.who();
        let message = format!("{who} does not check this value: nothing uses it");
        let hint = match ty {
            Type::Bool => format!("a condition is checked by `{}`", self.assertion_of(span)),
            _ => "a condition is checked by `assert(…)`".to_owned(),
        };
        self.report(Diagnostic::error(span, message).label("not in an `assert`").hint(hint));
    }

    /// The text of an assertion of the condition at `span`, for advice.
    fn assertion_of(&self, span: Span) -> String {
        let text = self.source.get(span.range()).unwrap_or_default();
        let is_plain = |c: char| c == ' ' || c.is_ascii_graphic();
        match text.len() <= MAX_SHOWN && text.chars().all(is_plain) {
            true => format!("assert({text})"),
            false => "assert(…)".to_owned(),
        }
    }

    fn expr_inside(&mut self, expr: &ast::Expr, want: Want<'_>) -> (Expr, Type) {
        let span = expr.span;
        let (kind, ty) = match &expr.kind {
            ast::ExprKind::Error => return wrong(span),
            ast::ExprKind::Int(n) => (ExprKind::Const(Value::Int(*n)), Type::Int),
            ast::ExprKind::Bool(b) => (ExprKind::Const(Value::Bool(*b)), Type::Bool),
            ast::ExprKind::Text(_) => {
                let message = "a text is not a value";
                let hint = "texts are used in `assert` and `local` only";
                self.report(Diagnostic::error(span, message).hint(hint));
                return wrong(span);
            }
            ast::ExprKind::Range(lo, hi) => {
                self.expr_of(lo, &Type::Int);
                self.expr_of(hi, &Type::Int);
                let hint = "ranges are used in `for`, in `choose` and for processes";
                self.report(Diagnostic::error(span, "a range is not a value").hint(hint));
                return wrong(span);
            }
            ast::ExprKind::Name(name) => return self.name(name, span),
            ast::ExprKind::Variant(of, variant) => return self.variant(of, variant, span),
            ast::ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ast::ExprKind::Binary(op, a, b) => self.binary(*op, a, b, want),
            ast::ExprKind::Tuple(parts) if parts.is_empty() => {
                (ExprKind::Const(Value::Unit), Type::Unit)
            }
            ast::ExprKind::Tuple(parts) => self.tuple(parts, want),
            ast::ExprKind::List(items) => self.list(items, want),
            ast::ExprKind::Set(items) => self.set(items, span, want),
            ast::ExprKind::Map(entries) => self.map(entries, span, want),
            ast::ExprKind::Collect(of) => self.comprehension(of, want),
            ast::ExprKind::Timeout(call, firing, block) => {
                return self.timeout(call, (*firing, block), span, want);
            }
            ast::ExprKind::Quantified(quantifier, generators, condition) => {
                self.quantified(*quantifier, generators, condition)
            }
            ast::ExprKind::Repeat(item, count) => self.repeat(item, count, want),
            ast::ExprKind::Index(base, index) => return self.index(base, index, span),
            ast::ExprKind::Field(base, field) => return self.field(base, field, span),
            ast::ExprKind::Call(name, args) => return self.call(name, args, span, want),
            ast::ExprKind::Spawn(name, args) => return self.spawn(name, args, span),
            ast::ExprKind::Block(block) => self.block(block, want),
            ast::ExprKind::If(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise.as_deref(), span, want)
            }
            ast::ExprKind::Match(value, arms) => self.match_expr(value, arms, span, want),
            ast::ExprKind::While(condition, body) => {
                let condition = self.expr_of(condition, &Type::Bool);
                let (body, _) = self.loop_body(body);
                (ExprKind::While(Box::new(condition), Box::new(body)), Type::Unit)
            }
            ast::ExprKind::Loop(body) => {
                let (body, breaks) = self.loop_body(body);
                (ExprKind::Loop(Box::new(body)), if breaks { Type::Unit } else { Type::Never })
            }
            ast::ExprKind::For(pattern, over, body) => self.for_loop(pattern, over, body),
            ast::ExprKind::Break => (self.leave_loop(span, "break", ExprKind::Break), Type::Never),
            ast::ExprKind::Continue => {
                (self.leave_loop(span, "continue", ExprKind::Continue), Type::Never)
            }
            ast::ExprKind::Return(value) => self.return_expr(value.as_deref(), span),
        };
        let compound = matches!(
            expr.kind,
            ast::ExprKind::Tuple(_)
                | ast::ExprKind::List(_)
                | ast::ExprKind::Repeat(..)
                | ast::ExprKind::Set(_)
                | ast::ExprKind::Map(_)
                | ast::ExprKind::Collect(_)
        );
        (Expr { kind, span }, if compound { self.sized(ty, span) } else { ty })
    }

    fn unary(&mut self, op: UnaryOp, operand: &ast::Expr) -> (ExprKind, Type) {
        let ty = if op == UnaryOp::Neg { Type::Int } else { Type::Bool };
        let operand = self.expr_of(operand, &ty);
        (ExprKind::Unary(op, Box::new(operand)), ty)
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        want: Want<'_>,
    ) -> (ExprKind, Type) {
        use BinaryOp::*;
        let (operands, result) = match op {
            Add | Sub | Mul | Div | Rem => (Type::Int, Type::Int),
            Lt | Le | Gt | Ge => (Type::Int, Type::Bool),
            And | Or => (Type::Bool, Type::Bool),
            Eq | Ne => return self.equality(op, a, b),
            In | Subset | Union | Intersect | Minus => return self.set_operator(op, a, b, want),
        };
        let a = self.expr_of(a, &operands);
        let b = self.expr_of(b, &operands);
        (ExprKind::Binary(op, Box::new(a), Box::new(b)), result)
    }

    fn equality(&mut self, op: BinaryOp, a: &ast::Expr, b: &ast::Expr) -> (ExprKind, Type) {
        let span = a.span.to(b.span);
        let (a, left) = self.expr(a, Want::Any);
        let (b, right) = self.expr(b, Want::Hint(&left));
        if !self.infer.coerce(&left, &right) && !self.infer.coerce(&right, &left) {
            let message = format!("cannot compare {} with {}", self.show(&left), self.show(&right));
            let label = format!("this is {}", self.show(&left));
            let other = format!("this is {}", self.show(&right));
            let hint = self.comm_hint(&left, &a).or_else(|| self.comm_hint(&right, &b));
            let diagnostic = Diagnostic::error(a.span, message).label(label);
            self.report(diagnostic.also(b.span, other).maybe_hint(hint));
        }
        if self.infer.has_comm(&left) {
            self.report(Diagnostic::error(span, "communications cannot be compared"));
        }
        (ExprKind::Binary(op, Box::new(a), Box::new(b)), Type::Bool)
    }

    /// Advice if a communication is used instead of its value.
    fn comm_hint(&self, ty: &Type, expr: &Expr) -> Option<String> {
        let Type::Comm(_) = self.infer.shallow(ty) else { return None };
        let name = match expr.kind {
            ExprKind::Var(id) => self.scope.vars[id as usize].name.as_str(),
            _ => "…",
        };
        Some(format!("`wait({name})` waits for the communication and returns what was received"))
    }

    fn tuple(&mut self, parts: &[ast::Expr], want: Want<'_>) -> (ExprKind, Type) {
        let hints = match want {
            Want::Hint(ty) => match self.infer.shallow(ty) {
                Type::Tuple(hints) if hints.len() == parts.len() => hints,
                _ => Arc::from([]),
            },
            _ => Arc::from([]),
        };
        let mut types = Vec::new();
        let mut checked = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let (part, ty) = match hints.get(at) {
                Some(hint) => self.expr(part, Want::Hint(hint)),
                None => self.expr(part, Want::Any),
            };
            checked.push(part);
            types.push(ty);
        }
        (ExprKind::Tuple(checked), Type::Tuple(types.into()))
    }

    fn list(&mut self, items: &[ast::Expr], want: Want<'_>) -> (ExprKind, Type) {
        let hint = match want {
            Want::Hint(ty) => Some(self.infer.shallow(ty)),
            _ => None,
        };
        let item = match &hint {
            Some(Type::List(item) | Type::Array(item, _)) => (**item).clone(),
            _ => self.infer.fresh(),
        };
        let checked = items.iter().map(|expr| self.expr_of(expr, &item)).collect();
        let ty = match hint {
            Some(Type::Array(..)) => Type::Array(Arc::new(item), items.len() as u32),
            _ => Type::List(Arc::new(item)),
        };
        (ExprKind::List(checked), ty)
    }

    fn repeat(&mut self, item: &ast::Expr, count: &ast::Expr, want: Want<'_>) -> (ExprKind, Type) {
        let hint = match want {
            Want::Hint(ty) => Some(self.infer.shallow(ty)),
            _ => None,
        };
        let (item, ty) = match &hint {
            Some(Type::List(item_type) | Type::Array(item_type, _)) => {
                (self.expr_of(item, item_type), (**item_type).clone())
            }
            _ => self.expr(item, Want::Any),
        };
        let Some(count) = self.size(count, "an array") else {
            return (ExprKind::Error, Type::Error);
        };
        (ExprKind::Repeat(Box::new(item), count), Type::Array(Arc::new(ty), count))
    }

    fn conditional(
        &mut self,
        condition: &ast::Expr,
        then: &Block,
        otherwise: Option<&ast::Expr>,
        span: Span,
        want: Want<'_>,
    ) -> (ExprKind, Type) {
        let condition = Box::new(self.expr_of(condition, &Type::Bool));
        let then_span = then.tail.as_ref().map_or(then.span, |tail| tail.span);
        let (then, then_type) = self.block(then, want);
        let then = Box::new(Expr { kind: then, span });
        let Some(otherwise) = otherwise else {
            let ty = self.infer.shallow(&then_type);
            if !matches!(want, Want::Dropped)
                && !matches!(ty, Type::Unit | Type::Never | Type::Error)
            {
                let message = "an `if` without `else` has no value";
                self.report(Diagnostic::error(then_span, message).hint("add an `else` branch"));
                return (ExprKind::Error, Type::Error);
            }
            return (ExprKind::If(condition, then, Box::new(unit(span))), Type::Unit);
        };
        let else_span = otherwise.span;
        let (otherwise, else_type) = self.expr(otherwise, want);
        let ty = self.branches_agree(&then_type, then_span, &else_type, else_span, want);
        (ExprKind::If(condition, then, Box::new(otherwise)), ty)
    }

    /// The type of a value that comes from one of two branches. Reports branches with different
    /// types.
    fn branches_agree(
        &mut self,
        a: &Type,
        a_span: Span,
        b: &Type,
        b_span: Span,
        want: Want<'_>,
    ) -> Type {
        let (a, b) = (self.infer.shallow(a), self.infer.shallow(b));
        match (&a, &b) {
            (Type::Never, _) => return b,
            (_, Type::Never) => return a,
            _ => {}
        }
        if matches!(want, Want::Dropped) {
            return Type::Unit;
        }
        if self.infer.coerce(&a, &b) {
            return b;
        }
        if self.infer.coerce(&b, &a) {
            return a;
        }
        if let (Type::Actor(_), Type::Actor(_)) = (&a, &b) {
            return Type::AnyActor;
        }
        let (left, right) = (self.show(&a), self.show(&b));
        let message = format!("the branches have different types: {left} and {right}");
        let diagnostic = Diagnostic::error(b_span, message).label(format!("this is {right}"));
        self.report(diagnostic.also(a_span, format!("this is {left}")));
        Type::Error
    }

    fn match_expr(
        &mut self,
        value: &ast::Expr,
        arms: &[ast::Arm],
        span: Span,
        want: Want<'_>,
    ) -> (ExprKind, Type) {
        let value_span = value.span;
        let (value, value_type) = self.expr(value, Want::Any);
        let mut result: Option<(Type, Span)> = None;
        let mut checked = Vec::new();
        for arm in arms {
            let (arm, body_type, body_span) = self.in_block(|checker| {
                let pattern = checker.pattern(&arm.pattern, &value_type, false, "variable");
                let guard = arm.guard.as_ref().map(|guard| checker.expr_of(guard, &Type::Bool));
                let (body, ty) = checker.expr(&arm.body, want);
                (Arm { pattern, guard, body }, ty, arm.body.span)
            });
            checked.push(arm);
            result = Some(match result {
                None => (body_type, body_span),
                Some((ty, span)) => {
                    (self.branches_agree(&ty, span, &body_type, body_span, want), body_span)
                }
            });
        }
        self.must_be_exhaustive(&checked, &value_type, value_span, span);
        let ty = result.map_or(Type::Never, |(ty, _)| ty);
        (ExprKind::Match(Box::new(value), checked), ty)
    }

    /// Checks the body of a loop. Also returns whether it contains a `break`.
    fn loop_body(&mut self, body: &Block) -> (Expr, bool) {
        self.scope.loops.push(false);
        let kind = self.block(body, Want::Dropped).0;
        let breaks = self.scope.loops.pop().unwrap_or(false);
        (Expr { kind, span: body.span }, breaks)
    }

    fn for_loop(
        &mut self,
        pattern: &ast::Pattern,
        over: &ast::Expr,
        body: &Block,
    ) -> (ExprKind, Type) {
        let kind = self.in_block(|checker| {
            let generator = checker.generator(pattern, over);
            let body = checker.loop_body(body).0;
            ExprKind::For(Box::new(generator), Box::new(body))
        });
        (kind, Type::Unit)
    }

    /// The element type of a list or array. Reports other types.
    pub(super) fn item_of(&mut self, ty: &Type, span: Span) -> Type {
        match self.infer.shallow(ty) {
            Type::List(item) | Type::Array(item, _) => (*item).clone(),
            ty @ (Type::Set(_) | Type::Map(..)) => {
                let shown = self.show(&ty);
                let message = format!("expected a list, found {shown}, which has no places");
                let hint = match ty {
                    Type::Set(_) => {
                        "to look for an element, write `x in s`; to add and remove some, `s union {x}` and `s minus {x}`"
                    }
                    _ => "to add a key, write `m[k] = v;`; to remove one, `m minus {k}`",
                };
                self.report(Diagnostic::error(span, message).hint(hint));
                Type::Error
            }
            Type::Error | Type::Never => Type::Error,
            Type::Var(var) => {
                let item = self.infer.fresh();
                self.infer.unify(&Type::Var(var), &Type::List(Arc::new(item.clone())));
                item
            }
            other => {
                let shown = self.show(&other);
                let message = format!("expected a list or an array, found {shown}");
                let hint =
                    (other == Type::Int).then(|| "to count, loop over a range: `0..n`".to_owned());
                self.report(
                    Diagnostic::error(span, message)
                        .label(format!("this is {shown}"))
                        .maybe_hint(hint),
                );
                Type::Error
            }
        }
    }

    fn leave_loop(&mut self, span: Span, word: &str, kind: ExprKind) -> ExprKind {
        match self.scope.loops.last_mut() {
            Some(breaks) => *breaks |= word == "break",
            None => self.report(Diagnostic::error(span, format!("`{word}` outside of a loop"))),
        }
        kind
    }

    fn return_expr(&mut self, value: Option<&ast::Expr>, span: Span) -> (ExprKind, Type) {
        let value = match (self.scope.context, self.scope.result.clone()) {
            (_, Some(result)) if result == Type::Unit && value.is_some() => {
                let value = value.expect("a value");
                let (checked, ty) = self.expr(value, Want::Any);
                let ty = self.infer.shallow(&ty);
                if !matches!(ty, Type::Unit | Type::Never | Type::Error) {
                    self.returns_value(ty, value.span);
                }
                Some(Box::new(checked))
            }
            (_, Some(result)) => match value {
                Some(value) => Some(Box::new(self.expr_of(value, &result))),
                None => {
                    self.must_be(&Type::Unit, &result, span);
                    None
                }
            },
            (context, _) => {
                if let Some(value) = value {
                    self.expr(value, Want::Any);
                    let message = "only a function or a procedure returns a value";
                    self.report(Diagnostic::error(value.span, message));
                } else if context != Context::Process && !context.acts() {
                    self.report(Diagnostic::error(
                        span,
                        "`return` outside of a function, procedure, process or handler",
                    ));
                }
                None
            }
        };
        (ExprKind::Return(value), Type::Never)
    }

    /// Checks a `return` with a value in a function or procedure that states no result type, or
    /// unit.
    fn returns_value(&mut self, ty: Type, span: Span) {
        let signature = match self.scope.context {
            Context::Procedure => &self.procedures[self.out.procedures.len()],
            _ => &self.functions[self.out.functions.len()],
        };
        if signature.states_result {
            self.must_be(&ty, &Type::Unit, span);
        } else {
            self.scope.implied.get_or_insert((ty, span));
        }
    }

    /// Evaluates the index of an array of objects if it is constant. Only well-typed expressions
    /// can be evaluated, so nothing is evaluated after an error.
    pub(super) fn folded(&self, expr: Expr) -> Expr {
        if self.diagnostics.errors() > 0 {
            return expr;
        }
        match constant::evaluate(&expr, &mut { MAX_FOLDED }) {
            Ok(value) => Expr { kind: ExprKind::Const(value), span: expr.span },
            Err(_) => expr,
        }
    }
}
