//! Parses ranges, which exclude their end.

use super::Parser;
use crate::lang::ast::{Expr, ExprKind};
use crate::lang::diagnostic::Diagnostic;
use crate::lang::token::Token;

impl Parser<'_> {
    /// Parses an expression or a range `lo..hi`.
    pub(super) fn expr_or_range(&mut self) -> Expr {
        let lo = self.compared();
        if !self.eat(Token::DotDot) {
            return lo;
        }
        self.range_from(lo, Self::expr)
    }

    /// Parses the rest of a range that begins with `lo`, after the `..`; its end by `end`.
    pub(super) fn range_from(&mut self, lo: Expr, end: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let hi = self.range_end(&lo, end);
        let span = lo.span.to(hi.span);
        Expr { kind: ExprKind::Range(Box::new(lo), Box::new(hi)), span }
    }

    /// Parses the end of a range that begins with `lo`, after the `..`, by `end`.
    pub(super) fn range_end(&mut self, lo: &Expr, end: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let sign = self.span();
        if !self.eat(Token::Eq) {
            return end(self);
        }
        let hi = end(self);
        let [first, last] = [lo, &hi].map(|end| &self.source[end.span.range()]);
        let hint = format!("write `{first}..{last} + 1`");
        self.report(Diagnostic::error(sign, "a range excludes its end").hint(hint));
        hi
    }
}
