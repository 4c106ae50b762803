//! Compiles assignments: to cells, and to variables and their parts.

use super::Compiler;
use crate::lang::ast::BinaryOp;
use crate::lang::code::{Instr, Step, Visible};
use crate::lang::hir::{Expr, Place, Projection, VarId};
use crate::lang::objects::cell;
use crate::model::Value;

impl Compiler<'_> {
    pub(super) fn assign(&mut self, place: &Place, op: Option<BinaryOp>, value: &Expr) {
        match place {
            Place::Cell(address) => {
                self.address(address);
                if let Some(op) = op {
                    self.emit(Instr::Dup);
                    self.visible(Visible::Act(&cell::READ, 0));
                    self.expr(value);
                    self.emit(Instr::Binary(op));
                } else {
                    self.expr(value);
                }
                self.visible(Visible::Act(&cell::WRITE, 0));
            }
            Place::Local(var, path) => {
                self.assign_local(*var, path, op, value);
                self.constant(Value::Unit);
            }
        }
    }

    fn assign_local(
        &mut self,
        var: VarId,
        path: &[Projection],
        op: Option<BinaryOp>,
        value: &Expr,
    ) {
        let slot = self.frame.slots[var as usize];
        let mut steps = Vec::new();
        for projection in path {
            steps.push(match projection {
                Projection::Field(at) => Step::Field(*at),
                Projection::Index(index) => {
                    self.expr(index);
                    Step::Index
                }
            });
        }
        let steps: Box<[Step]> = steps.into();
        if let Some(op) = op {
            self.emit(Instr::GetPart(slot, steps.clone()));
            self.expr(value);
            self.emit(Instr::Binary(op));
        } else {
            self.expr(value);
        }
        match steps.is_empty() {
            true => self.emit(Instr::Set(slot)),
            false => self.emit(Instr::SetPart(slot, steps)),
        }
    }
}
