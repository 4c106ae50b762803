//! Compiles patterns: tests and bindings of parts of a value on the stack.

use super::Compiler;
use crate::lang::ast::BinaryOp;
use crate::lang::code::Instr;
use crate::lang::coverage::Part;
use crate::lang::hir::{Arm, Expr, Pattern, VarId};
use crate::model::Value;

/// The path to a part of a value, as indices of components of tuples and messages.
type Path = Vec<u32>;

/// A test of a part of a value.
enum Test {
    Equal(Value),
    /// The message with this number.
    Message(u32),
}

/// A flattened pattern: the tests of parts of a value, outer ones first, and the variables that are
/// bound to parts of it.
#[derive(Default)]
struct Flat {
    tests: Vec<(Path, Test)>,
    bindings: Vec<(Path, VarId)>,
}

fn flatten(pattern: &Pattern, path: &mut Path, flat: &mut Flat) {
    match pattern {
        Pattern::Wild => {}
        Pattern::Bind(var) => flat.bindings.push((path.clone(), *var)),
        Pattern::Const(value) => flat.tests.push((path.clone(), Test::Equal(value.clone()))),
        Pattern::Tuple(parts) => flatten_parts(parts, path, flat),
        Pattern::Message(message, parts) => {
            flat.tests.push((path.clone(), Test::Message(*message)));
            flatten_parts(parts, path, flat);
        }
    }
}

fn flatten_parts(parts: &[Pattern], path: &mut Path, flat: &mut Flat) {
    for (at, part) in parts.iter().enumerate() {
        path.push(at as u32);
        flatten(part, path, flat);
        path.pop();
    }
}

impl Compiler<'_> {
    /// Replaces the topmost value by the variables that the pattern binds.
    pub(super) fn bind_top(&mut self, pattern: &Pattern) {
        let slot = self.frame.depth - 1;
        if let Pattern::Bind(var) = pattern {
            self.enter(*var, slot);
            return;
        }
        let mut flat = Flat::default();
        flatten(pattern, &mut Vec::new(), &mut flat);
        for (path, _) in &flat.bindings {
            self.emit(Instr::Project(slot, path.as_slice().into()));
        }
        let keep = flat.bindings.len() as u32;
        self.emit(Instr::Squash { keep, drop: 1 });
        for (at, (_, var)) in flat.bindings.iter().enumerate() {
            self.enter(*var, slot + at as u32);
        }
    }

    pub(super) fn match_expr(&mut self, value: &Expr, arms: &[Arm]) {
        let slot = self.frame.depth;
        self.expr(value);
        let ends: Vec<_> = arms.iter().map(|arm| self.arm(arm, slot)).collect();
        // Never reached: the arms cover every value.
        self.constant(Value::Unit);
        for end in ends {
            self.aim(end);
        }
        self.squash(slot);
    }

    /// Compiles an arm and returns the jump at its end.
    fn arm(&mut self, arm: &Arm, slot: u32) -> usize {
        let (depth, scope) = (self.frame.depth, self.frame.scope.len());
        let mut flat = Flat::default();
        flatten(&arm.pattern, &mut Vec::new(), &mut flat);
        let mut misses = Vec::new();
        for (path, test) in flat.tests {
            self.emit(Instr::Project(slot, path.into()));
            match test {
                Test::Equal(value) => {
                    self.constant(value);
                    self.emit(Instr::Binary(BinaryOp::Eq));
                }
                Test::Message(message) => self.emit(Instr::IsMessage(message)),
            }
            misses.push(self.jump(Instr::JumpIfFalse));
        }
        for (path, var) in &flat.bindings {
            self.emit(Instr::Project(slot, path.as_slice().into()));
            self.enter(*var, self.frame.depth - 1);
        }
        let bound = self.frame.depth;
        let refused = arm.guard.as_ref().map(|guard| {
            self.expr(guard);
            self.jump(Instr::JumpIfFalse)
        });
        self.note_part(Part::Arm, arm.body.span);
        self.expr(&arm.body);
        self.leave_scope(scope);
        self.squash(depth);
        let end = self.jump(Instr::Jump);
        if let Some(refused) = refused {
            self.aim(refused);
            self.frame.depth = bound;
            self.pop(bound - depth);
        }
        for miss in misses {
            self.aim(miss);
        }
        self.frame.depth = depth;
        end
    }
}
