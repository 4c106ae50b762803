//! Compiles calls of procedures, by inlining the body.
//!
//! The body works on the stack of the process, above the values that are there at the call. So an
//! enclosing expression keeps its operands. The body begins with its arguments on the stack and
//! always ends with its value in their place, so it leaves nothing else in the state of the
//! process. [`Instr::Enter`] and [`Instr::Leave`] only mark the call for reports.

use super::{BodyKind, Compiler};
use crate::lang::code::{Instr, Routine};
use crate::lang::hir::{Expr, ExprKind};
use crate::model::Value;

/// The stack space that a body needs without the calls in it, in bytes. If there is less, the stack
/// is extended.
const ROOM: usize = 8 << 20;
/// The size of a stack extension, in bytes.
const STACK: usize = 64 << 20;

impl Compiler<'_> {
    /// Notes what reports need to know about the procedures.
    pub(super) fn routines(&mut self) {
        for procedure in self.procedures {
            let name = self.text(&procedure.name);
            let (params, has_result) = (procedure.body.params, procedure.has_result);
            self.code.routines.push(Routine { name, params, has_result });
        }
    }

    pub(super) fn perform(&mut self, number: u32, args: &[Expr]) {
        // Calls may be nested thousands deep.
        stacker::maybe_grow(ROOM, STACK, || self.perform_here(number, args));
    }

    fn perform_here(&mut self, number: u32, args: &[Expr]) {
        self.several_values(args);
        let floor = self.frame.depth - args.len() as u32;
        self.emit(Instr::Enter(number));
        let procedure = &self.procedures[number as usize];
        let ExprKind::Block(_, value) = &procedure.body.block.kind else {
            unreachable!("a body is a block")
        };
        let caller = std::mem::take(&mut self.frame);
        self.open(&procedure.body, BodyKind::Procedure, floor);
        self.expr(value);
        if !procedure.has_result {
            self.pop(1);
            self.constant(Value::Unit);
        }
        self.leave_scope(0);
        self.squash(floor);
        let body = std::mem::replace(&mut self.frame, caller);
        for jump in body.returns {
            self.aim(jump);
        }
        self.frame.depth = floor + 1;
        self.emit(Instr::Leave(number));
    }

    /// Compiles `return` in a procedure: a jump to its end, with only its value on the stack.
    pub(super) fn return_from_procedure(&mut self, value: Option<&Expr>) {
        match value {
            Some(value) => self.expr(value),
            None => self.constant(Value::Unit),
        }
        self.squash(self.frame.floor);
        let jump = self.jump(Instr::Jump);
        self.frame.returns.push(jump);
    }
}
