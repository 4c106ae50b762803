//! Compiles comprehensions and quantifiers, which are loops with a value.

use super::{Compiler, order};
use crate::lang::ast::{Made, Quantifier, UnaryOp};
use crate::lang::code::Instr;
use crate::lang::hir::{Comprehension, Expr, ExprKind, Generator};
use crate::model::{List, Value};

impl Compiler<'_> {
    pub(super) fn on_collections(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Within(parts) => {
                parts.iter().for_each(|part| self.expr(part));
                self.emit(Instr::Within);
            }
            ExprKind::Collect(comprehension) => self.comprehension(comprehension),
            ExprKind::Quantified(quantifier, generators, condition) => {
                self.quantified(*quantifier, generators, condition);
            }
            other => unreachable!("{other:?} is not about collections"),
        }
    }

    /// Appends each element to a list, which becomes the value, or is then made a set or a map.
    fn comprehension(&mut self, comprehension: &Comprehension) {
        let Comprehension { makes, generators, condition } = comprehension;
        let list = self.frame.depth;
        self.constant(Value::List(List::from(Vec::new())));
        let is_free = order::is_collection_free(comprehension);
        self.nest(generators, is_free, &mut |compiler| {
            let skipped = condition.as_ref().map(|condition| {
                compiler.expr(condition);
                compiler.jump(Instr::JumpIfFalse)
            });
            makes.parts().iter().for_each(|part| compiler.expr(part));
            if let Made::Map(_) = makes {
                compiler.emit(Instr::Tuple(2));
            }
            compiler.emit(Instr::Append(list));
            skipped.into_iter().for_each(|jump| compiler.aim(jump));
        });
        match makes {
            Made::List(_) => {}
            Made::Set(_) => self.emit(Instr::Unary(UnaryOp::SetOf)),
            Made::Map(_) => self.emit(Instr::Unary(UnaryOp::MapOf)),
        }
    }

    /// The value is that of no elements, until one is found that decides otherwise.
    fn quantified(&mut self, quantifier: Quantifier, generators: &[Generator], condition: &Expr) {
        let value = self.frame.depth;
        let of_none = quantifier == Quantifier::Forall;
        let mut decided = 0;
        self.constant(Value::Bool(of_none));
        let is_free = order::is_quantifier_free(generators, condition);
        self.nest(generators, is_free, &mut |compiler| {
            let outer = std::mem::replace(&mut compiler.must_not_fail, is_free);
            compiler.expr(condition);
            compiler.must_not_fail = outer;
            if of_none {
                compiler.emit(Instr::Unary(UnaryOp::Not));
            }
            let next = compiler.jump(Instr::JumpIfFalse);
            let depth = compiler.frame.depth;
            compiler.pop(depth - value);
            compiler.constant(Value::Bool(!of_none));
            decided = compiler.jump(Instr::Jump);
            compiler.frame.depth = depth;
            compiler.aim(next);
        });
        self.aim(decided);
    }

    /// Compiles loops within loops, the last one with this body. `is_free`: does the order of the
    /// values make no difference?
    fn nest(&mut self, generators: &[Generator], is_free: bool, body: &mut dyn FnMut(&mut Self)) {
        match generators.split_first() {
            None => body(self),
            Some((first, rest)) => {
                self.is_free = is_free;
                self.each(first, &mut |compiler| compiler.nest(rest, is_free, body));
            }
        }
    }
}
