//! Notes, during compilation, which parts of the source the instructions stand for: see
//! [`coverage`](crate::lang::coverage).

use super::Compiler;
use crate::lang::coverage::{Part, Place};
use crate::lang::diagnostic::Span;
use crate::lang::hir::{Expr, ExprKind};
use crate::model::Value;

impl Compiler<'_> {
    fn place(&mut self, span: Span) -> Place {
        let last_line = self.lines.position((span.end as usize).saturating_sub(1)).0;
        Place { span, site: self.site(span), last_line }
    }

    /// The place of the statement that is compiled next, with its first instruction; `None` if it
    /// is not to be reported: it is not in the source, or excluded by a constant condition.
    pub(super) fn point(&mut self, statement: &Expr) -> Option<(Place, u32)> {
        let is_reported = self.excluded == 0 && !is_nothing(statement);
        is_reported.then(|| (self.place(statement.span), self.here()))
    }

    /// Notes the statements of a block.
    pub(super) fn note_block(&mut self, statements: Vec<(Place, u32)>) {
        if !statements.is_empty() {
            self.code.points.blocks.push(statements);
        }
    }

    /// Notes that a part at this span is compiled next.
    pub(super) fn note_part(&mut self, part: Part, span: Span) {
        if self.excluded == 0 {
            let (place, at) = (self.place(span), self.here());
            self.code.points.parts.push((part, place, at));
        }
    }

    /// Notes that the next instruction is an assertion.
    pub(super) fn note_assertion(&mut self, span: Span) {
        if self.excluded == 0 {
            let (place, at) = (self.place(span), self.here());
            self.code.points.assertions.push((place, at));
        }
    }

    /// Notes the branches of a condition, decided by this jump, that contain no statement. Returns
    /// for each branch whether it is possible; it is not if the condition is constant and decides
    /// otherwise.
    pub(super) fn sides(
        &mut self,
        condition: &Expr,
        jump: usize,
        then: &Expr,
        otherwise: &Expr,
    ) -> (bool, bool) {
        if let ExprKind::Const(Value::Bool(holds)) = condition.kind {
            return (holds, !holds);
        }
        for (side, holds) in [(then, true), (otherwise, false)] {
            if self.excluded == 0 && has_no_statement(side) {
                let place = self.place(condition.span);
                self.code.points.conditions.push((holds, place, jump as u32));
            }
        }
        (true, true)
    }

    /// Compiles a branch of a condition.
    pub(super) fn side(&mut self, may_run: bool, side: &Expr) {
        self.excluded += u32::from(!may_run);
        self.expr(side);
        self.excluded -= u32::from(!may_run);
    }
}

/// Is it the value of a block without a value?
fn is_nothing(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(Value::Unit))
}

/// Does the branch contain no statement that would be reported as unreached lines?
fn has_no_statement(side: &Expr) -> bool {
    match &side.kind {
        ExprKind::Block(statements, value) => statements.is_empty() && is_nothing(value),
        // `else if`
        ExprKind::If(..) => false,
        _ => true,
    }
}
