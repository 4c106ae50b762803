//! Checks patterns of `match`, `let` and `for`.

use super::Checker;
use crate::lang::ast::{self, PatternKind};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::Pattern;
use crate::lang::types::Type;
use crate::model::Value;

impl Checker<'_> {
    /// Checks a pattern that must match every value.
    pub(super) fn binding_pattern(
        &mut self,
        pattern: &ast::Pattern,
        ty: &Type,
        mutable: bool,
        what: &'static str,
    ) -> Pattern {
        let checked = self.pattern(pattern, ty, mutable, what);
        if is_refutable(&checked) {
            let message = "this pattern does not match every value";
            self.report(
                Diagnostic::error(pattern.span, message).hint("use `match` to distinguish values"),
            );
        }
        checked
    }

    pub(super) fn pattern(
        &mut self,
        pattern: &ast::Pattern,
        ty: &Type,
        mutable: bool,
        what: &'static str,
    ) -> Pattern {
        self.scope.in_pattern.clear();
        self.pattern_inside(pattern, ty, mutable, what)
    }

    fn pattern_inside(
        &mut self,
        pattern: &ast::Pattern,
        ty: &Type,
        mutable: bool,
        what: &'static str,
    ) -> Pattern {
        let span = pattern.span;
        match &pattern.kind {
            PatternKind::Error | PatternKind::Wild => Pattern::Wild,
            PatternKind::Int(n) => {
                self.must_match(&Type::Int, ty, span);
                Pattern::Const(Value::Int(*n))
            }
            PatternKind::Bool(b) => {
                self.must_match(&Type::Bool, ty, span);
                Pattern::Const(Value::Bool(*b))
            }
            PatternKind::Variant(of, variant) => match self.find_variant(of, variant) {
                Some((of, index)) => self.variant_pattern(of, index, ty, span),
                None => Pattern::Wild,
            },
            PatternKind::Name(name) => self.name_pattern(name, ty, span, mutable, what),
            PatternKind::Tuple(parts) if parts.is_empty() => {
                self.must_match(&Type::Unit, ty, span);
                Pattern::Wild
            }
            PatternKind::Tuple(parts) => self.tuple_pattern(parts, ty, span, mutable, what),
            PatternKind::Message(name, parts) => {
                self.must_match(&Type::Message, ty, span);
                self.message_pattern(name, parts, span, &mut |checker, part, ty| {
                    checker.pattern_inside(part, ty, mutable, what)
                })
            }
        }
    }

    fn must_match(&mut self, pattern: &Type, value: &Type, span: Span) {
        if !self.infer.unify(pattern, value) {
            let (pattern, value) = (self.show(pattern), self.show(value));
            let message = format!("a pattern for {pattern} cannot match {value}");
            self.report(Diagnostic::error(span, message));
        }
    }

    fn variant_pattern(&mut self, of: u32, index: u32, ty: &Type, span: Span) -> Pattern {
        self.must_match(&Type::Enum(of), ty, span);
        Pattern::Const(Value::Variant { of, index })
    }

    fn name_pattern(
        &mut self,
        name: &str,
        ty: &Type,
        span: Span,
        mutable: bool,
        what: &'static str,
    ) -> Pattern {
        let known = self.variants.get(name).cloned().unwrap_or_default();
        let shallow = self.infer.shallow(ty);
        if let Type::Enum(of) = shallow {
            if let Some(&(of, index)) = known.iter().find(|(owner, _)| *owner == of) {
                return self.variant_pattern(of, index, ty, span);
            }
            if name.starts_with(|c: char| c.is_ascii_uppercase()) {
                let variants = self.out.enums[of as usize].variants.iter().map(String::as_str);
                let hint = self.nearest(name, variants);
                let message =
                    format!("`{}` has no variant `{name}`", self.names.enums[of as usize]);
                self.report(Diagnostic::error(span, message).maybe_hint(hint));
                return Pattern::Wild;
            }
        } else if let [(of, index)] = known[..] {
            return self.variant_pattern(of, index, ty, span);
        }
        if let Some(&first) = self.scope.in_pattern.get(name) {
            let first = &self.scope.vars[first as usize];
            let message = format!("`{name}` is bound twice in one pattern");
            let diagnostic = Diagnostic::error(span, message).also(first.span, "first bound here");
            self.report(diagnostic);
        }
        if name.is_empty() {
            return Pattern::Wild;
        }
        let id = self.bind(name, span, ty.clone(), mutable, what);
        self.scope.in_pattern.entry(name.to_owned()).or_insert(id);
        Pattern::Bind(id)
    }

    fn tuple_pattern(
        &mut self,
        parts: &[ast::Pattern],
        ty: &Type,
        span: Span,
        mutable: bool,
        what: &'static str,
    ) -> Pattern {
        let types = match self.infer.shallow(ty) {
            Type::Tuple(types) if types.len() == parts.len() => types.to_vec(),
            Type::Error | Type::Never => vec![Type::Error; parts.len()],
            Type::Var(var) => {
                let types: Vec<_> = parts.iter().map(|_| self.infer.fresh()).collect();
                self.infer.unify(&Type::Var(var), &Type::Tuple(types.clone().into()));
                types
            }
            other => {
                let shown = self.show(&other);
                let message = format!("a pattern of {} parts cannot match {shown}", parts.len());
                self.report(Diagnostic::error(span, message));
                vec![Type::Error; parts.len()]
            }
        };
        let parts = parts.iter().zip(&types);
        Pattern::Tuple(
            parts.map(|(part, ty)| self.pattern_inside(part, ty, mutable, what)).collect(),
        )
    }
}

/// Is there a value that the pattern does not match?
fn is_refutable(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Wild | Pattern::Bind(_) => false,
        Pattern::Const(_) | Pattern::Message(..) => true,
        Pattern::Tuple(parts) => parts.iter().any(is_refutable),
    }
}
