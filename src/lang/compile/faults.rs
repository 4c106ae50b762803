//! Compiles what may go wrong: crashes, unreliable sends, receives with a timeout.
//!
//! A process that may crash has a choice before each of its operations, as long as it has crashes
//! left. If it restarts, everything above its durable variables leaves the stack, and it goes back
//! to the place after their declarations; otherwise it ends where it is, with its variables.
//! Procedures are inlined on the same stack, so this is the same within calls.

use super::{BodyKind, Compiler};
use crate::lang::ast::BinaryOp;
use crate::lang::check::{Instantiation, Process};
use crate::lang::code::{Instr, Visible};
use crate::lang::faults::Fault;
use crate::lang::hir::{Channel, Expr, ExprKind, MessageFault, Most, VarId};
use crate::lang::objects::{cell, condvar};
use crate::model::{Probing, Value};

/// What may go wrong in a process. Variables are slots of its stack.
#[derive(Default)]
pub(super) struct Risks {
    life: Option<Life>,
    allowances: Vec<(u32, MessageFault, Count)>,
    /// Does the process have an index? It is in slot 0 then.
    is_family: bool,
}

/// How the process crashes.
#[derive(Clone, Copy)]
struct Life {
    crashes: Count,
    /// If it restarts: the number of values on the stack that a crash leaves there, and where the
    /// process goes on.
    restart: Option<(u32, u32)>,
}

/// The slot with the number of faults so far, and the largest number.
#[derive(Clone, Copy, PartialEq)]
struct Count {
    used: u32,
    most: Bound,
}

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Number(u32),
    Slot(u32),
}

impl Compiler<'_> {
    /// Compiles the body of a process.
    pub(super) fn process(&mut self, process: &Process) -> u32 {
        let (entry, body) = (self.here(), &process.body);
        let ExprKind::Block(statements, value) = &body.block.kind else {
            unreachable!("a body is a block")
        };
        self.start_frame(body, BodyKind::Process, 0);
        let (kept, rest) = statements.split_at(process.kept);
        self.top_statements(kept);
        self.begin_risks(process);
        self.top_statements(rest);
        self.close(body, BodyKind::Process, value);
        self.risks = Risks::default();
        entry
    }

    /// From here on the process may crash, and lose messages.
    fn begin_risks(&mut self, process: &Process) {
        let slot = |var: VarId| self.frame.slots[var as usize];
        let count = |used: VarId, most: Most| {
            let most = match most {
                Most::Number(most) => Bound::Number(most),
                Most::Share(var) => Bound::Slot(slot(var)),
            };
            Count { used: slot(used), most }
        };
        let allowances = process.allowances.iter();
        let allowances = allowances.map(|one| (one.channel, one.kind, count(one.used, one.most)));
        let allowances = allowances.collect();
        let crashes = process.lives.as_ref().map(|lives| (count(lives.crashes, lives.most), lives));
        let life = crashes.filter(|(count, _)| !matches!(count.most, Bound::Number(0)));
        let life = life.map(|(crashes, lives)| {
            let start = (self.frame.depth, self.here());
            Life { crashes, restart: lives.restarts.then_some(start) }
        });
        let is_family = matches!(process.kind, Instantiation::Family { .. });
        self.risks = Risks { life, allowances, is_family };
    }

    /// The choice whether the process crashes before this operation.
    pub(super) fn crash_point(&mut self, before: Visible) {
        let Some(life) = self.risks.life else { return };
        if !matters(before) {
            return;
        }
        self.push_left(life.crashes);
        let none_left = self.jump(Instr::JumpIfFalse);
        let restarts = life.restart.is_some();
        self.emit(Instr::Visible(Visible::Fault(Fault::Crash { restarts })));
        let goes_on = self.if_equal(Fault::CRASHED);
        let depth = self.frame.depth;
        self.count_up(life.crashes);
        match life.restart {
            Some((base, start)) => {
                self.pop(depth - base);
                self.emit(Instr::Loop(start));
                self.frame.depth = depth;
            }
            None => {
                self.code.crashed.push(self.here());
                self.emit(Instr::End);
            }
        }
        self.aim(goes_on);
        self.aim(none_left);
    }

    /// Puts on the stack whether a fault is left.
    fn push_left(&mut self, count: Count) {
        self.emit(Instr::Get(count.used));
        match count.most {
            Bound::Number(most) => self.constant(Value::Int(i64::from(most))),
            Bound::Slot(slot) => self.emit(Instr::Get(slot)),
        }
        self.emit(Instr::Binary(BinaryOp::Lt));
    }

    fn count_up(&mut self, count: Count) {
        self.emit(Instr::Increment(count.used));
    }

    /// Takes a number off the stack. Returns the jump that is taken if it is another one.
    fn if_equal(&mut self, number: i64) -> usize {
        self.constant(Value::Int(number));
        self.emit(Instr::Binary(BinaryOp::Eq));
        self.jump(Instr::JumpIfFalse)
    }

    /// A send that may be lost or doubled. Leaves unit.
    pub(super) fn unreliable(&mut self, number: u32, visible: Visible, args: &[Expr]) {
        let at = self.frame.depth;
        args.iter().for_each(|arg| self.expr(arg));
        let channel = &self.channels[number as usize];
        let cut = channel.cut.map(|cell| self.crosses(channel, cell, (visible, at)));
        let chances = [MessageFault::Lost, MessageFault::Doubled].map(|kind| {
            let budget = channel.budget(kind).filter(|budget| budget.most != Some(0));
            budget.map(|_| self.risks.count(number, kind))
        });
        let lost = self.message_fault(chances, visible, at);
        self.visible(visible);
        let lost: Vec<usize> = cut.into_iter().chain(lost).collect();
        if !lost.is_empty() {
            let sent = self.jump(Instr::Jump);
            lost.into_iter().for_each(|jump| self.aim(jump));
            self.frame.depth = at + args.len() as u32;
            self.pop(args.len() as u32 - 1);
            self.aim(sent);
        }
        self.pop(1);
        self.constant(Value::Unit);
    }

    /// The choice whether a message is lost or doubled, if it may be; for each of these the count,
    /// if there is a limit. A doubled message is sent once here. Returns the jump that is taken if
    /// it is lost. The arguments of the send are on the stack from `at` on, and stay there.
    fn message_fault(
        &mut self,
        chances: [Option<Option<Count>>; 2],
        send: Visible,
        at: u32,
    ) -> Option<usize> {
        if chances.iter().all(Option::is_none) {
            return None;
        }
        let outcome = self.frame.depth;
        self.choose_fault(chances);
        let lost = chances[0].map(|count| {
            self.emit(Instr::Get(outcome));
            let not_lost = self.if_equal(Fault::LOST);
            count.into_iter().for_each(|count| self.count_up(count));
            self.pop(1);
            let lost = self.jump(Instr::Jump);
            self.frame.depth = outcome + 1;
            self.aim(not_lost);
            lost
        });
        if let Some(count) = chances[1] {
            self.emit(Instr::Get(outcome));
            let once = self.if_equal(Fault::DOUBLED);
            count.into_iter().for_each(|count| self.count_up(count));
            (at..outcome).for_each(|arg| self.emit(Instr::Get(arg)));
            self.visible(send);
            self.pop(1);
            self.aim(once);
        }
        self.pop(1);
        lost
    }

    /// Leaves the fault of a message that is chosen, or 0. If no fault is left, there is no choice:
    /// it would be a step without a meaning.
    fn choose_fault(&mut self, chances: [Option<Option<Count>>; 2]) {
        let first = self.frame.depth;
        for chance in chances {
            match chance {
                Some(Some(count)) => self.push_left(count),
                unlimited => self.constant(Value::Bool(unlimited.is_some())),
            }
        }
        if chances.contains(&Some(None)) {
            return self.visible(Visible::Fault(Fault::Message));
        }
        self.emit(Instr::Get(first));
        let second = self.jump(Instr::JumpIfFalse);
        let some_left = self.jump(Instr::Jump);
        self.aim(second);
        self.emit(Instr::Get(first + 1));
        let none_left = self.jump(Instr::JumpIfFalse);
        self.aim(some_left);
        self.visible(Visible::Fault(Fault::Message));
        let chosen = self.jump(Instr::Jump);
        self.aim(none_left);
        self.frame.depth = first + 2;
        self.pop(2);
        self.constant(Value::Int(0));
        self.aim(chosen);
    }

    /// Reads the present cut. Returns the jump that is taken if the message, whose arguments are on
    /// the stack from `at` on, would cross it.
    fn crosses(&mut self, channel: &Channel, cell: u32, (send, at): (Visible, u32)) -> usize {
        self.constant(Value::Int(i64::from(cell)));
        self.visible(Visible::Act(&cell::READ, 0));
        let cut = self.frame.depth - 1;
        match send {
            Visible::Isend { src: true, .. } => self.emit(Instr::Get(at + 2)),
            _ if self.risks.is_family => self.emit(Instr::Get(0)),
            _ => self.constant(Value::Int(0)),
        }
        self.emit(Instr::Get(cut));
        self.emit(Instr::Binary(BinaryOp::In));
        self.emit(Instr::Get(at));
        self.constant(Value::Int(i64::from(channel.base)));
        self.emit(Instr::Binary(BinaryOp::Sub));
        self.emit(Instr::Get(cut));
        self.emit(Instr::Binary(BinaryOp::In));
        self.emit(Instr::Binary(BinaryOp::Eq));
        self.emit(Instr::Squash { keep: 1, drop: 1 });
        self.jump(Instr::JumpIfFalse)
    }

    /// Receives if a poll finds something. Without a message the value is that of `otherwise`.
    ///
    /// Where sources are those of the processes, the receive accepts only messages of the source
    /// that was found, so that the poll and the receive do not both choose among sources. If it
    /// accepted less, messages of another process with this source could overtake one another.
    pub(super) fn timed(
        &mut self,
        (form, src, tag): (Probing, bool, bool),
        args: &[Expr],
        otherwise: &Expr,
    ) {
        self.code.objects.may_time_out_when_stuck |= form == Probing::WhenStuck;
        let at = self.frame.depth;
        args.iter().for_each(|arg| self.expr(arg));
        (0..args.len() as u32).for_each(|arg| self.emit(Instr::Get(at + arg)));
        self.visible(Visible::Probe { form, src, tag, timed: true });
        let found = self.frame.depth - 1;
        let part = |compiler: &mut Self, part: u32| {
            compiler.emit(Instr::Get(found));
            compiler.emit(Instr::Field(part));
        };
        part(self, 0);
        let nothing = self.jump(Instr::JumpIfFalse);
        self.emit(Instr::Get(at));
        let is_narrow = !self.names_sources;
        if is_narrow {
            part(self, 1);
        } else if src {
            self.emit(Instr::Get(at + 1));
        }
        if tag {
            self.emit(Instr::Get(at + 1 + u32::from(src)));
        }
        self.visible(Visible::Irecv { src: is_narrow || src, tag });
        self.visible(Visible::Wait);
        self.squash(at);
        let end = self.jump(Instr::Jump);
        self.aim(nothing);
        self.frame.depth = found + 1;
        self.pop(found + 1 - at);
        self.expr(otherwise);
        self.aim(end);
    }
}

impl Risks {
    /// The count of these faults, if they have a limit.
    fn count(&self, channel: u32, kind: MessageFault) -> Option<Count> {
        let mut all = self.allowances.iter();
        all.find(|one| (one.0, one.1) == (channel, kind)).map(|one| one.2)
    }
}

/// May a process crash before this operation? A choice of faults and a wake-up are parts of other
/// operations. (A `local` and a `choose` are none: there may be no operation after them, and what
/// is computed in between may be seen, or may last.)
fn matters(before: Visible) -> bool {
    use Visible::*;
    match before {
        Fault(_) | CancelOutcome => false,
        Act(act, _) => act != &condvar::WAKE,
        _ => true,
    }
}
