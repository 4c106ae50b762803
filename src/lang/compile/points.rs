//! What the instructions stand for, noted while they are made: see
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

    /// The statement that is compiled next, with its first instruction; `None` if nobody wrote it.
    pub(super) fn point(&mut self, statement: &Expr) -> Option<(Place, u32)> {
        let is_told = self.excluded == 0 && !is_nothing(statement);
        is_told.then(|| (self.place(statement.span), self.here()))
    }

    /// The block at hand has these statements.
    pub(super) fn note_block(&mut self, statements: Vec<(Place, u32)>) {
        if !statements.is_empty() {
            self.code.points.blocks.push(statements);
        }
    }

    /// A part with this place is compiled next.
    pub(super) fn note_part(&mut self, part: Part, span: Span) {
        if self.excluded == 0 {
            let (place, at) = (self.place(span), self.here());
            self.code.points.parts.push((part, place, at));
        }
    }

    /// An assertion is the next instruction.
    pub(super) fn note_assertion(&mut self, span: Span) {
        if self.excluded == 0 {
            let (place, at) = (self.place(span), self.here());
            self.code.points.assertions.push((place, at));
        }
    }

    /// Notes the sides of a condition, decided by this jump, that contain no statement. Returns for
    /// each side whether some value of the constants may run it.
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

    /// Compiles a side of a condition.
    pub(super) fn side(&mut self, may_run: bool, side: &Expr) {
        self.excluded += u32::from(!may_run);
        self.expr(side);
        self.excluded -= u32::from(!may_run);
    }
}

/// Is it the value of a block that has none?
fn is_nothing(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(Value::Unit))
}

/// Is there nothing in it that is told as lines?
fn has_no_statement(side: &Expr) -> bool {
    match &side.kind {
        ExprKind::Block(statements, value) => statements.is_empty() && is_nothing(value),
        // `else if`
        ExprKind::If(..) => false,
        _ => true,
    }
}
