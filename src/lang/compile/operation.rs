//! Visible operations, and those that stand for several.

use super::Compiler;
use crate::lang::code::{Instr, Visible};
use crate::lang::hir::{Expr, ExprKind, Operation};
use crate::lang::objects::{Does, Step, Takes, Word};
use crate::model::Value;

impl Compiler<'_> {
    pub(super) fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::One { visible, args, wait } => {
                args.iter().for_each(|arg| self.expr(arg));
                self.visible(*visible);
                if *wait {
                    self.visible(Visible::Wait);
                }
            }
            Operation::On(word, args) => self.word(word, args),
            Operation::Cancel(comm) => {
                self.expr(comm);
                self.cancel();
            }
            Operation::WaitAll(comms) => self.wait_all(comms),
            Operation::Unreliable { channel, visible, args } => {
                self.unreliable(*channel, *visible, args);
            }
            Operation::Timed { form, src, tag, args, otherwise } => {
                self.timed((*form, *src, *tag), args, otherwise);
            }
            Operation::Received(comm) => {
                self.code.remembers_values = true;
                self.expr(comm);
                self.emit(Instr::Received);
            }
        }
    }

    /// Cancels the receive on top, and leaves whether that has succeeded.
    pub(in crate::lang) fn cancel(&mut self) {
        self.emit(Instr::Dup);
        self.visible(Visible::Cancel);
        self.pop(1);
        self.visible(Visible::CancelOutcome);
    }

    fn word(&mut self, word: &Word, args: &[Expr]) {
        args.iter().for_each(|arg| self.expr(arg));
        let declared = match &args[0].kind {
            ExprKind::Object(object) => object.number,
            _ => 0,
        };
        self.acts(word, args.len() as u32, declared);
    }

    /// The acts that a word stands for. Its arguments are on top; `declared` is the number in the
    /// declaration of its object.
    pub(in crate::lang) fn acts(&mut self, word: &Word, args: u32, declared: u32) {
        let at = self.frame.depth - args;
        let number = match word.takes {
            Takes::Object(_) => declared,
            Takes::Objects => args,
        };
        match word.does {
            Does::Act(act) => self.visible(Visible::Act(act, number)),
            Does::RequestAndWait(request, wait) => {
                self.emit(Instr::Dup);
                self.visible(Visible::Act(request, number));
                self.pop(1);
                self.visible(Visible::Act(wait, number));
            }
            Does::Steps(steps) => {
                self.steps(steps, at, number);
                // The value of the last step is unit, and so is that of the word.
                self.pop(1 + args);
                self.constant(Value::Unit);
            }
        }
    }

    /// The steps of a word whose arguments are on the stack from `at` on. Leaves the value of the
    /// last one.
    fn steps(&mut self, steps: &[Step], at: u32, number: u32) {
        for (done, step) in steps.iter().enumerate() {
            if done > 0 {
                self.pop(1);
            }
            match step {
                Step::Do(act, places) => {
                    for place in *places {
                        self.emit(Instr::Get(at + place));
                    }
                    self.visible(Visible::Act(act, number));
                }
                Step::If(_, _, no) if number == 0 => self.steps(no, at, number),
                Step::If(act, yes, no) => {
                    self.emit(Instr::Get(at));
                    self.visible(Visible::Act(act, number));
                    let refused = self.jump(Instr::JumpIfFalse);
                    self.steps(yes, at, number);
                    let end = self.jump(Instr::Jump);
                    self.aim(refused);
                    self.frame.depth -= 1;
                    self.steps(no, at, number);
                    self.aim(end);
                }
            }
        }
    }

    /// A wait for each, in order.
    fn wait_all(&mut self, comms: &Expr) {
        let items = self.frame.depth;
        let counter = items + 1;
        self.expr(comms);
        self.constant(Value::Int(0));
        let start = self.here();
        let end = self.next_item(items, counter);
        self.visible(Visible::Wait);
        self.pop(1);
        self.emit(Instr::Increment(counter));
        self.emit(Instr::Loop(start));
        self.aim(end);
        self.pop(2);
        self.constant(Value::Unit);
    }
}
