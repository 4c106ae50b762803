//! Sets and maps, comprehensions and quantifiers, and what takes any collection.
//!
//! As a collection, a map is the set of its keys. So loops and the like have to know lists and sets
//! only.

use std::sync::Arc;

use super::call::Call;
use super::{Checker, Instantiation, Want};
use crate::lang::ast::{self, BinaryOp, Made, Quantifier, UnaryOp};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Comprehension, Expr, ExprKind, Generator};
use crate::lang::types::Type;
use crate::model::{Map, Set, Value};

/// The type that the context wants, with bound variables at its root replaced.
fn hinted(checker: &Checker<'_>, want: Want<'_>) -> Option<Type> {
    match want {
        Want::Hint(ty) => Some(checker.infer.shallow(ty)),
        Want::Any | Want::Dropped => None,
    }
}

impl Checker<'_> {
    /// The type of sets of this type, which is written or used at `span`.
    pub(super) fn set_of(&mut self, item: Type, span: Span) -> Type {
        self.must_have_order.push((item.clone(), span));
        Type::Set(Arc::new(item))
    }

    /// The type of maps from this type, which is written or used at `span`.
    pub(super) fn map_of(&mut self, key: Type, value: Type, span: Span) -> Type {
        self.must_have_order.push((key.clone(), span));
        Type::Map(Arc::new(key), Arc::new(value))
    }

    /// Reports sets and maps whose elements and keys have no order that is the same in every
    /// execution.
    pub(super) fn finish_collections(&mut self) {
        let is_spawned = |process: &super::ProcessSignature| {
            process.handles.is_some() && process.kind == Instantiation::Template
        };
        let spawns_actors = self.processes.iter().any(is_spawned);
        for (ty, span) in std::mem::take(&mut self.must_have_order) {
            let comes_later = |part: &Type| match part {
                Type::Process => true,
                Type::Actor(declaration) => is_spawned(&self.processes[*declaration as usize]),
                Type::AnyActor | Type::Message => spawns_actors,
                _ => false,
            };
            let diagnostic = if self.infer.has_comm(&ty) {
                let message = "communications cannot be compared, so they cannot be in a set";
                Diagnostic::error(span, message).label("nor be the key of a map")
            } else if self.infer.has_part(&ty, comes_later) {
                let message = "what is spawned has no order, so it cannot be in a set";
                let label = format!("this is {}", self.show(&ty));
                Diagnostic::error(span, message).label(label)
            } else {
                continue;
            };
            self.report(diagnostic.hint("use a list, or a map from numbers: `{int: …}`"));
        }
    }

    /// `{a, b}`
    pub(super) fn set(
        &mut self,
        items: &[ast::Expr],
        span: Span,
        want: Want<'_>,
    ) -> (ExprKind, Type) {
        let item = match hinted(self, want) {
            Some(ty @ (Type::Set(_) | Type::Map(..))) if items.is_empty() => {
                let empty = match ty {
                    Type::Map(..) => Value::Map(Map::from_iter([])),
                    _ => Value::Set(Set::from_iter([])),
                };
                return (ExprKind::Const(empty), ty);
            }
            Some(Type::Error) => return (ExprKind::Error, Type::Error),
            Some(Type::Set(item)) => (*item).clone(),
            _ if items.is_empty() => {
                let message = "the type of `{}` is not known here";
                let hint = "state it where the value is bound, such as `var s: {int} = {};`";
                self.report(Diagnostic::error(span, message).hint(hint));
                return (ExprKind::Error, Type::Error);
            }
            _ => self.infer.fresh(),
        };
        let checked: Vec<Expr> = items.iter().map(|expr| self.expr_of(expr, &item)).collect();
        if let Some((again, first)) = repeated(&checked) {
            let message = "this element is given twice";
            self.report(Diagnostic::warning(again, message).also(first, "first here"));
        }
        let list = Expr { kind: ExprKind::List(checked), span };
        let whole = Expr { kind: ExprKind::Unary(UnaryOp::SetOf, Box::new(list)), span };
        (self.folded(whole).kind, self.set_of(item, span))
    }

    /// `{a: 1, b: 2}`
    pub(super) fn map(
        &mut self,
        entries: &[[ast::Expr; 2]],
        span: Span,
        want: Want<'_>,
    ) -> (ExprKind, Type) {
        let [key, value] = self.entry_types(want);
        let (mut keys, mut pairs) = (Vec::new(), Vec::new());
        for [key_expr, value_expr] in entries {
            let pair = [self.expr_of(key_expr, &key), self.expr_of(value_expr, &value)];
            if let ExprKind::Const(known) = &pair[0].kind {
                keys.push(Expr { kind: ExprKind::Const(known.clone()), span: key_expr.span });
            }
            pairs.push(self.pair(pair));
        }
        if let Some((again, first)) = repeated(&keys) {
            let message = "this key is given twice";
            self.report(Diagnostic::error(again, message).also(first, "first here"));
        }
        let list = Expr { kind: ExprKind::List(pairs), span };
        let whole = Expr { kind: ExprKind::Unary(UnaryOp::MapOf, Box::new(list)), span };
        (self.folded(whole).kind, self.map_of(key, value, span))
    }

    fn entry_types(&mut self, want: Want<'_>) -> [Type; 2] {
        match hinted(self, want) {
            Some(Type::Map(key, value)) => [(*key).clone(), (*value).clone()],
            _ => [self.infer.fresh(), self.infer.fresh()],
        }
    }

    fn pair(&self, pair: [Expr; 2]) -> Expr {
        let span = pair[0].span.to(pair[1].span);
        Expr { kind: ExprKind::Tuple(pair.into()), span }
    }

    /// `{e for x in s if p}`
    pub(super) fn comprehension(
        &mut self,
        comprehension: &ast::Comprehension,
        want: Want<'_>,
    ) -> (ExprKind, Type) {
        let item = match (&comprehension.makes, hinted(self, want)) {
            (Made::List(_), Some(Type::List(item))) | (Made::Set(_), Some(Type::Set(item))) => {
                (*item).clone()
            }
            _ => self.infer.fresh(),
        };
        let entry = self.entry_types(want);
        self.apart(|checker| {
            let generators = checker.generators(&comprehension.generators);
            let condition = comprehension.condition.as_ref();
            let condition = condition.map(|condition| checker.expr_of(condition, &Type::Bool));
            let (makes, ty) = match &comprehension.makes {
                Made::List(of) => {
                    let made = Made::List(checker.expr_of(of, &item));
                    (made, Type::List(Arc::new(item)))
                }
                Made::Set(of) => {
                    let made = Made::Set(checker.expr_of(of, &item));
                    (made, checker.set_of(item, of.span))
                }
                Made::Map([key, value]) => {
                    let [key_type, value_type] = entry;
                    let pair =
                        [checker.expr_of(key, &key_type), checker.expr_of(value, &value_type)];
                    (Made::Map(pair), checker.map_of(key_type, value_type, key.span))
                }
            };
            let collected = Comprehension { makes, generators, condition };
            (ExprKind::Collect(Box::new(collected)), ty)
        })
    }

    /// `exists x in s: p`
    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        generators: &[ast::Generator],
        condition: &ast::Expr,
    ) -> (ExprKind, Type) {
        self.apart(|checker| {
            let generators = checker.generators(generators);
            let condition = Box::new(checker.expr_of(condition, &Type::Bool));
            (ExprKind::Quantified(quantifier, generators, condition), Type::Bool)
        })
    }

    /// Checks an expression with variables of its own. It is a loop, which no `break` can leave.
    fn apart<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let loops = std::mem::take(&mut self.scope.loops);
        let checked = self.in_block(check);
        self.scope.loops = loops;
        checked
    }

    fn generators(&mut self, generators: &[ast::Generator]) -> Vec<Generator> {
        generators.iter().map(|of| self.generator(&of.pattern, &of.over)).collect()
    }

    /// Checks `pattern in over`, and brings the variables of the pattern into scope.
    pub(super) fn generator(&mut self, pattern: &ast::Pattern, over: &ast::Expr) -> Generator {
        if let ast::ExprKind::Range(lo, hi) = &over.kind {
            let [lo, hi] = [lo, hi].map(|end| self.expr_of(end, &Type::Int));
            return Generator::Range(self.loop_variable(pattern), lo, hi);
        }
        let (over, item) = self.elements(over);
        Generator::Each(self.binding_pattern(pattern, &item, false, "loop variable"), over)
    }

    fn loop_variable(&mut self, pattern: &ast::Pattern) -> Option<u32> {
        match &pattern.kind {
            ast::PatternKind::Wild | ast::PatternKind::Error => None,
            ast::PatternKind::Name(name) => {
                Some(self.bind(name, pattern.span, Type::Int, false, "loop variable"))
            }
            _ => {
                let message = "a loop over a range has one variable";
                self.report(Diagnostic::error(pattern.span, message));
                None
            }
        }
    }

    /// A collection as a list or a set, and the type of its elements. Reports what is none.
    fn elements(&mut self, expr: &ast::Expr) -> (Expr, Type) {
        let (collection, ty) = self.expr(expr, Want::Any);
        let item = self.element_of(&ty, expr.span);
        (self.as_items(collection, &ty), item)
    }

    /// A collection of this type as a list or a set.
    pub(super) fn as_items(&self, collection: Expr, ty: &Type) -> Expr {
        match self.infer.shallow(ty) {
            Type::Map(..) => Expr {
                span: collection.span,
                kind: ExprKind::Unary(UnaryOp::Keys, Box::new(collection)),
            },
            _ => collection,
        }
    }

    /// The type of the elements of a collection. Reports other types.
    pub(super) fn element_of(&mut self, ty: &Type, span: Span) -> Type {
        match self.infer.shallow(ty) {
            Type::Set(item) | Type::Map(item, _) => (*item).clone(),
            Type::List(_) | Type::Array(..) | Type::Error | Type::Never | Type::Var(_) => {
                self.item_of(ty, span)
            }
            other => {
                let shown = self.show(&other);
                let message = format!("expected a list, a set or a map, found {shown}");
                let hint = (other == Type::Int).then(|| "to count, use a range: `0..n`".to_owned());
                let label = format!("this is {shown}");
                self.report(Diagnostic::error(span, message).label(label).maybe_hint(hint));
                Type::Error
            }
        }
    }

    /// `x in s`, `s union t` and so on.
    pub(super) fn set_operator(
        &mut self,
        op: BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        want: Want<'_>,
    ) -> (ExprKind, Type) {
        if op == BinaryOp::In {
            return self.membership(a, b);
        }
        let want = if op == BinaryOp::Subset { Want::Any } else { want };
        let want = if matches!(want, Want::Dropped) { Want::Any } else { want };
        let (left, ty) = self.expr(a, want);
        let ty = match (self.infer.shallow(&ty), op) {
            (Type::Error | Type::Never, _) => {
                self.expr(b, Want::Any);
                return (ExprKind::Error, Type::Error);
            }
            (ty @ (Type::Set(_) | Type::Var(_)), _)
            | (ty @ Type::Map(..), BinaryOp::Union | BinaryOp::Minus) => ty,
            (other, _) => {
                self.report_no_set(op, &other, a.span);
                self.expr(b, Want::Any);
                return (ExprKind::Error, Type::Error);
            }
        };
        let expected = match (&ty, op) {
            (Type::Map(key, _), BinaryOp::Minus) => Type::Set(key.clone()),
            _ => ty.clone(),
        };
        let (right, found) = self.expr(b, Want::Hint(&expected));
        let result = match (self.infer.shallow(&found), &ty) {
            (Type::Set(_) | Type::Map(..) | Type::Error | Type::Never, _)
            | (Type::Var(_), Type::Set(_) | Type::Map(..)) => {
                self.same_sets(&found, &expected, &ty, b.span)
            }
            (Type::Var(_), _) => {
                let message = "the type of these sets is not known yet";
                let hint = "declare the type of the variable or mailbox";
                self.report(Diagnostic::error(a.span, message).hint(hint));
                Type::Error
            }
            (other, _) => {
                self.report_no_set(op, &other, b.span);
                Type::Error
            }
        };
        let result = if op == BinaryOp::Subset { Type::Bool } else { result };
        (ExprKind::Binary(op, Box::new(left), Box::new(right)), result)
    }

    /// The type of what is made of a set or map of type `ty` and of another of type `found`.
    fn same_sets(&mut self, found: &Type, expected: &Type, ty: &Type, span: Span) -> Type {
        if self.infer.coerce(found, expected) {
            return ty.clone();
        }
        // Perhaps the left one can be used as one of the type of the right one.
        if self.infer.coerce(expected, found) && expected == ty {
            return found.clone();
        }
        self.must_be(found, expected, span);
        Type::Error
    }

    /// Advice if a block stands where a value of type `expected`, a set or a map, should be.
    pub(super) fn block_for_set(&self, expected: &Type, span: Span) -> Option<&'static str> {
        let is_set = matches!(self.infer.shallow(expected), Type::Set(_) | Type::Map(..));
        (is_set && self.source[span.range()].starts_with('{'))
            .then_some("this `{` opens a block: write the set or map in parentheses, `({…})`")
    }

    fn report_no_set(&mut self, op: BinaryOp, ty: &Type, span: Span) {
        let shown = self.show(ty);
        let what = match op {
            BinaryOp::Union => "sets or of maps",
            _ => "sets",
        };
        let message = format!("`{}` is of {what}, and this is {shown}", op.text());
        let hint = match ty {
            Type::Map(..) => "the keys of a map are `keys(m)`",
            Type::List(_) | Type::Array(..) => "the set of what is in a list: `{x for x in list}`",
            _ => "a set of one element is written `{x}`",
        };
        self.report(Diagnostic::error(span, message).hint(hint));
    }

    /// `x in s`, or `x in lo..hi`
    fn membership(&mut self, a: &ast::Expr, b: &ast::Expr) -> (ExprKind, Type) {
        if let ast::ExprKind::Range(lo, hi) = &b.kind {
            let parts = [a, &**lo, &**hi].map(|part| self.expr_of(part, &Type::Int));
            return (ExprKind::Within(Box::new(parts)), Type::Bool);
        }
        let (items, item) = self.elements(b);
        let (x, found) = self.expr(a, Want::Hint(&item));
        if !self.infer.coerce(&found, &item) && !self.infer.coerce(&item, &found) {
            let (found, item) = (self.show(&found), self.show(&item));
            let message = format!("this is {found}, which cannot be in a collection of {item}");
            self.report(Diagnostic::error(a.span, message).also(b.span, "this collection"));
        }
        if self.infer.has_comm(&item) {
            let span = a.span.to(b.span);
            self.report(Diagnostic::error(span, "communications cannot be compared"));
        }
        (ExprKind::Binary(BinaryOp::In, Box::new(x), Box::new(items)), Type::Bool)
    }

    /// `keys(m)` or `values(m)`
    pub(super) fn part_of_map(&mut self, call: &Call<'_>, op: UnaryOp) -> Option<(ExprKind, Type)> {
        let [map] = self.positional(call)?;
        let (checked, ty) = self.expr(map, Want::Any);
        let ty = match (self.infer.shallow(&ty), op) {
            (Type::Map(key, _), UnaryOp::Keys) => Type::Set(key),
            (Type::Map(_, value), _) => Type::List(value),
            (Type::Error | Type::Never, _) => return None,
            (other, _) => {
                let shown = self.show(&other);
                let message = format!("expected a map, found {shown}");
                self.report(Diagnostic::error(map.span, message).label(format!("this is {shown}")));
                return None;
            }
        };
        Some((ExprKind::Unary(op, Box::new(checked)), ty))
    }

    /// The types of `[index]` and of what it leads to, for a value of type `base`.
    pub(super) fn indexed(&mut self, base: &Type, span: Span) -> (Type, Type) {
        match self.infer.shallow(base) {
            Type::Map(key, value) => ((*key).clone(), (*value).clone()),
            _ => (Type::Int, self.item_of(base, span)),
        }
    }
}

/// The spans of a constant that is there twice: the second one, and the first one.
fn repeated(items: &[Expr]) -> Option<(Span, Span)> {
    let mut firsts = rustc_hash::FxHashMap::default();
    items.iter().find_map(|item| {
        let ExprKind::Const(value) = &item.kind else { return None };
        let first = *firsts.entry(value).or_insert(item.span);
        (first != item.span).then_some((item.span, first))
    })
}
