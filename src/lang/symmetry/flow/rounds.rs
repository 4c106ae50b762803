//! The next index in a ring: `(i + 1) % N`, `(i + N - 1) % N` and the like.
//!
//! It is recognised by its instructions: an index, constants that are added and subtracted, and the
//! remainder by a constant. What is added is not negative in all, so there is no remainder of a
//! negative number, which would be negative.

use super::Flow;
use crate::lang::ast::BinaryOp;
use crate::lang::code::Instr;
use crate::lang::symmetry::kinds::Node;
use crate::model::Value;

impl Flow<'_> {
    /// The integer that this instruction puts on the stack.
    pub(super) fn number(&self, pc: u32) -> Option<i64> {
        match self.code.instrs.get(pc as usize)? {
            Instr::Const(at) => match self.code.constants[*at as usize] {
                Value::Int(n) => Some(n),
                _ => None,
            },
            _ => None,
        }
    }

    /// The instruction after `… + c - d … % n` that this addition is a part of, if it is one that
    /// is not negative.
    pub(super) fn turns_round(&self, pc: u32) -> Option<u32> {
        let mut at = pc;
        while let Instr::Binary(BinaryOp::Add | BinaryOp::Sub) = self.code.instrs[at as usize] {
            self.number(at + 1)?;
            at += 2;
        }
        self.is_round(at).then_some(at)
    }

    /// Is this the remainder of an index plus a constant that is not negative?
    pub(super) fn is_round(&self, pc: u32) -> bool {
        matches!(self.code.instrs.get(pc as usize), Some(Instr::Binary(BinaryOp::Rem)))
            && self.base_of_round(pc).is_some()
    }

    /// The number of instructions after the index in `(index + c - d …) % n`, that of the
    /// remainder not included.
    pub(super) fn length_of_round(&self, pc: u32) -> u32 {
        let mut at = pc - 2;
        while let Instr::Binary(BinaryOp::Add | BinaryOp::Sub) = self.code.instrs[at as usize] {
            at -= 2;
        }
        pc - at - 1
    }

    /// The index in `(index + c - d …) % n`.
    pub(super) fn base_of_round(&self, pc: u32) -> Option<Node> {
        let length = self.number(pc.checked_sub(1)?)?;
        let (mut at, mut sum) = (pc.checked_sub(2)?, 0_i64);
        while let Instr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) =
            self.code.instrs[at as usize]
        {
            let by = self.number(at.checked_sub(1)?)?;
            // None of the sums in between overflows, or one would for some of the indices.
            if !(0..1 << 32).contains(&by.checked_abs()?) {
                return None;
            }
            sum = match op {
                BinaryOp::Add => sum.checked_add(by)?,
                _ => sum.checked_sub(by)?,
            };
            at = at.checked_sub(2)?;
        }
        let is_straight = self.is_straight(at + 1, pc);
        let is_fine = length > 0 && (0..1 << 32).contains(&sum) && is_straight && at + 2 < pc;
        let (stack, _) = self.stacks[at as usize + 1].as_ref()?;
        is_fine.then(|| stack.last().copied())?
    }
}
