//! Compiles invariants, and notes what each of them names.
//!
//! A block of assertions only is split into one invariant for each assertion. They are checked
//! separately, so that an assertion does not cost more because of what another one reads. Any other
//! block is one invariant.

use std::ops::Range;

use super::{BodyKind, Compiler};
use crate::lang::code::{Instr, ReadSet};
use crate::lang::hir::{Address, Body, Expr, ExprKind};
use crate::model::Value;

impl Compiler<'_> {
    pub(super) fn invariant(&mut self, body: &Body) {
        let ExprKind::Block(statements, value) = &body.block.kind else {
            unreachable!("a body is a block")
        };
        self.reads = ReadSet::default();
        let is_assertion = |statement: &Expr| matches!(statement.kind, ExprKind::Assert(..));
        let has_value = !matches!(value.kind, ExprKind::Const(Value::Unit));
        if has_value || !statements.iter().all(is_assertion) {
            let entry = self.body(body, BodyKind::Invariant);
            return self.note_invariant(entry);
        }
        for assertion in statements {
            let entry = self.here();
            self.start_frame(body, BodyKind::Invariant, 0);
            self.top_statements(std::slice::from_ref(assertion));
            self.emit(Instr::End);
            self.note_invariant(entry);
        }
    }

    fn note_invariant(&mut self, entry: u32) {
        let reads = std::mem::take(&mut self.reads);
        self.code.invariants.push((entry, reads));
    }
}

/// The objects that an address may name.
pub(super) fn named(address: &Address) -> Range<u32> {
    let Address { base, count, index, .. } = address;
    match index.as_ref().map(|index| &index.kind) {
        None => *base..base + 1,
        Some(ExprKind::Const(Value::Int(n))) if (0..i64::from(*count)).contains(n) => {
            let one = base + *n as u32;
            one..one + 1
        }
        Some(_) => *base..base + count,
    }
}

/// The index of the named instance of a process, if it is constant; 0 without an index.
pub(super) fn instance(index: Option<&Expr>) -> Option<i64> {
    match index.map(|index| &index.kind) {
        None => Some(0),
        Some(ExprKind::Const(Value::Int(n))) => Some(*n),
        Some(_) => None,
    }
}
