//! Visible operations, and those that stand for several.

use super::Compiler;
use crate::lang::code::{Instr, Visible};
use crate::lang::hir::{Expr, ExprKind, Operation, Operator};
use crate::lang::objects::{Does, Step, Takes, Word, cell};
use crate::model::Value;

impl Compiler<'_> {
    pub(super) fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Isend { mailbox, value, src, tag, mode, wait } => {
                self.address(mailbox);
                self.expr(value);
                let (src, tag) = self.envelope(src.as_deref(), tag.as_deref());
                self.visible(Visible::Isend { src, tag, mode: *mode });
                if *wait {
                    self.visible(Visible::Wait);
                }
            }
            Operation::Irecv { mailbox, src, tag, wait } => {
                self.address(mailbox);
                let (src, tag) = self.envelope(src.as_deref(), tag.as_deref());
                self.visible(Visible::Irecv { src, tag });
                if *wait {
                    self.visible(Visible::Wait);
                }
            }
            Operation::Probe { mailbox, form, src, tag } => {
                self.address(mailbox);
                let (src, tag) = self.envelope(src.as_deref(), tag.as_deref());
                self.visible(Visible::Probe { form: *form, src, tag });
            }
            Operation::Cancel(comm) => {
                self.expr(comm);
                self.emit(Instr::Dup);
                self.visible(Visible::Cancel);
                self.pop(1);
                self.visible(Visible::CancelOutcome);
            }
            Operation::Collective { collective, kind, root, operator, value, rank, wait } => {
                self.address(collective);
                for part in [root, value, rank].into_iter().flatten() {
                    self.expr(part);
                }
                self.visible(Visible::Enter {
                    kind: *kind,
                    operator: operator.map(Operator::number),
                    root: root.is_some(),
                    value: value.is_some(),
                    rank: rank.is_some(),
                });
                if *wait {
                    self.visible(Visible::Wait);
                }
            }
            Operation::Wait(comm) => self.on_value(comm, Visible::Wait),
            Operation::Test(comm) => self.on_value(comm, Visible::Test),
            Operation::WaitAny(comms) => self.on_value(comms, Visible::WaitAny),
            Operation::TestAny(comms) => self.on_value(comms, Visible::TestAny),
            Operation::WaitAll(comms) => self.wait_all(comms),
            Operation::Received(comm) => {
                self.code.remembers_values = true;
                self.expr(comm);
                self.emit(Instr::Received);
            }
            Operation::On(word, args) => self.word(word, args),
            Operation::Read(cell) => {
                self.address(cell);
                self.visible(Visible::Act(&cell::READ, 0));
            }
            Operation::Choose(lo, hi) => {
                self.expr(lo);
                self.expr(hi);
                self.visible(Visible::Choose);
            }
            Operation::Local => self.visible(Visible::Local),
            Operation::Spawn(process, args) => {
                for arg in args {
                    self.expr(arg);
                }
                self.visible(Visible::Spawn { process: *process, args: args.len() as u32 });
            }
            Operation::Join(process) => self.on_value(process, Visible::Join),
        }
    }

    fn envelope(&mut self, src: Option<&Expr>, tag: Option<&Expr>) -> (bool, bool) {
        for part in [src, tag].into_iter().flatten() {
            self.expr(part);
        }
        (src.is_some(), tag.is_some())
    }

    fn on_value(&mut self, value: &Expr, visible: Visible) {
        self.expr(value);
        self.visible(visible);
    }

    /// The acts that a word stands for.
    fn word(&mut self, word: &Word, args: &[Expr]) {
        let at = self.frame.depth;
        for arg in args {
            self.expr(arg);
        }
        let number = match (&word.takes, &args[0].kind) {
            (Takes::Object(_), ExprKind::Object(object)) => object.number,
            _ => args.len() as u32,
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
                self.pop(1 + args.len() as u32);
                self.constant(Value::Unit);
            }
        }
    }

    /// The steps of a word whose arguments are on the stack from `at` on. Leaves the value of the last one.
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
