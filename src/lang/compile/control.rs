//! Compiles control flow: conditions, loops, `break`, `continue` and `return`.
//!
//! Every loop notes the depth of the stack at its start. A jump out of the loop first removes the
//! values above this depth. The code after a `break`, `continue` or `return` is unreachable, but
//! compiled like other code.

use super::{BodyKind, Compiler, OpenLoop, order};
use crate::lang::ast::BinaryOp;
use crate::lang::code::Instr;
use crate::lang::hir::{Expr, ExprKind, Generator, Pattern, VarId};
use crate::model::Value;

impl Compiler<'_> {
    pub(super) fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) {
        self.expr(condition);
        let no = self.jump(Instr::JumpIfFalse);
        let sides = self.sides(condition, no, then, otherwise);
        self.side(sides.0, then);
        let end = self.jump(Instr::Jump);
        self.aim(no);
        self.frame.depth -= 1;
        self.side(sides.1, otherwise);
        self.aim(end);
    }

    pub(super) fn enter_loop(&mut self) {
        let depth = self.frame.depth;
        self.frame.loops.push(OpenLoop { depth, breaks: Vec::new(), continues: Vec::new() });
    }

    /// Sets the target of each `continue` of the innermost loop to the next instruction.
    pub(super) fn aim_continues(&mut self) {
        let frame = self.frame.loops.last_mut().expect("a loop at hand");
        for jump in std::mem::take(&mut frame.continues) {
            self.aim(jump);
        }
    }

    pub(super) fn exit_loop(&mut self) {
        let frame = self.frame.loops.pop().expect("a loop at hand");
        for jump in frame.breaks {
            self.aim(jump);
        }
    }

    pub(super) fn while_loop(&mut self, condition: Option<&Expr>, body: &Expr) {
        self.enter_loop();
        let start = self.here();
        let end = condition.map(|condition| {
            self.expr(condition);
            self.jump(Instr::JumpIfFalse)
        });
        self.expr(body);
        self.pop(1);
        self.aim_continues();
        self.emit(Instr::Loop(start));
        if let Some(end) = end {
            self.aim(end);
        }
        self.exit_loop();
        self.constant(Value::Unit);
    }

    pub(super) fn for_loop(&mut self, generator: &Generator, body: &Expr) {
        self.is_free = order::is_for_free(body);
        self.each(generator, &mut |compiler| {
            compiler.expr(body);
            compiler.pop(1);
        });
        self.constant(Value::Unit);
    }

    /// Compiles a loop that does this for each value of a generator. It leaves nothing on the
    /// stack; in the loop, the variables of the generator are in scope.
    pub(super) fn each(&mut self, generator: &Generator, body: &mut dyn FnMut(&mut Self)) {
        let (loops, slots) = (self.free_loops.len(), self.free_slots.len());
        match generator {
            Generator::Range(var, lo, hi) => self.each_number(*var, lo, hi, body),
            Generator::Each(pattern, items) => self.each_item(pattern, items, body),
        }
        self.free_loops.truncate(loops);
        self.free_slots.truncate(slots);
    }

    /// Notes that the instructions at `pcs` only count in a loop whose body begins at `start`, and
    /// makes no difference to the order. False if a process may rest there: with statements as
    /// steps. It would rest with one index, and not yet with another one.
    fn only_counts(&mut self, start: u32, pcs: [u32; 3]) -> bool {
        let mut body = self.code.instrs[start as usize..].iter();
        let rests = body.any(|instr| matches!(instr, Instr::Visible(_)));
        if !rests {
            self.code.marks.counts.extend(pcs);
        }
        !rests
    }

    fn each_number(
        &mut self,
        var: Option<VarId>,
        lo: &Expr,
        hi: &Expr,
        body: &mut dyn FnMut(&mut Self),
    ) {
        let (counter, scope) = (self.frame.depth, self.frame.scope.len());
        let is_free = std::mem::take(&mut self.is_free);
        let range = constant(lo).zip(constant(hi)).filter(|_| is_free);
        let from = self.here();
        self.expr(lo);
        let to = self.here();
        self.expr(hi);
        if range.is_some() {
            self.free_loops.push(from);
            self.free_slots.push(counter);
        }
        if let Some(var) = var {
            self.enter(var, counter);
        }
        self.enter_loop();
        let start = self.here();
        self.emit(Instr::Get(counter));
        self.emit(Instr::Get(counter + 1));
        let compared = self.here();
        self.code.marks.orders.insert(compared);
        self.emit(Instr::Binary(BinaryOp::Lt));
        let end = self.jump(Instr::JumpIfFalse);
        body(self);
        self.aim_continues();
        let counted = self.here();
        self.emit(Instr::Increment(counter));
        self.emit(Instr::Loop(start));
        if let Some(range) = range
            && self.only_counts(start, [to, compared, counted])
        {
            self.code.marks.ranges.insert(from, range);
        }
        self.aim(end);
        self.exit_loop();
        self.leave_scope(scope);
        self.pop(2);
    }

    fn each_item(&mut self, pattern: &Pattern, items: &Expr, body: &mut dyn FnMut(&mut Self)) {
        let (list, scope) = (self.frame.depth, self.frame.scope.len());
        let counter = list + 1;
        let is_free = std::mem::take(&mut self.is_free);
        self.expr(items);
        let from = self.here();
        self.constant(Value::Int(0));
        self.enter_loop();
        let start = self.here();
        let end = self.next_item(list, counter);
        let taken = self.here() - 1;
        if is_free {
            self.free_loops.push(taken);
        }
        let compared = start + 3;
        self.code.marks.orders.insert(compared);
        self.bind_top(pattern);
        body(self);
        self.leave_scope(scope);
        self.pop(self.frame.depth - counter - 1);
        self.aim_continues();
        let counted = self.here();
        self.emit(Instr::Increment(counter));
        self.emit(Instr::Loop(start));
        if is_free && self.only_counts(start, [from, compared, counted]) {
            self.code.marks.items.insert(taken);
            self.code.marks.sure.remove(&taken);
        }
        self.aim(end);
        self.exit_loop();
        self.pop(2);
    }

    /// Puts the item at index `counter` on the stack. Returns the jump that is taken if there is no
    /// such item.
    pub(super) fn next_item(&mut self, items: u32, counter: u32) -> usize {
        self.emit(Instr::Get(counter));
        self.emit(Instr::Get(items));
        self.emit(Instr::Length);
        self.emit(Instr::Binary(BinaryOp::Lt));
        let end = self.jump(Instr::JumpIfFalse);
        self.emit(Instr::Get(items));
        self.emit(Instr::Get(counter));
        self.emit(Instr::Index);
        end
    }

    pub(super) fn leave_loop(&mut self, kind: &ExprKind) {
        let depth = self.frame.depth;
        let loop_depth = self.frame.loops.last().expect("a loop around").depth;
        self.pop(depth - loop_depth);
        let jump = self.jump(Instr::Jump);
        let frame = self.frame.loops.last_mut().expect("a loop around");
        match kind {
            ExprKind::Break => frame.breaks.push(jump),
            _ => frame.continues.push(jump),
        }
        self.frame.depth = depth + 1;
    }

    pub(super) fn return_expr(&mut self, value: Option<&Expr>) {
        let depth = self.frame.depth;
        match self.frame.kind {
            BodyKind::Function => {
                match value {
                    Some(value) => self.expr(value),
                    None => self.constant(Value::Unit),
                }
                self.emit(Instr::Return);
            }
            BodyKind::Procedure => self.return_from_procedure(value),
            BodyKind::Process
            | BodyKind::Actor
            | BodyKind::Init
            | BodyKind::Final
            | BodyKind::Invariant => {
                self.pop(depth - self.frame.top);
                self.emit(Instr::End);
            }
        }
        self.frame.depth = depth + 1;
    }
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr.kind {
        ExprKind::Const(Value::Int(n)) => Some(n),
        _ => None,
    }
}
