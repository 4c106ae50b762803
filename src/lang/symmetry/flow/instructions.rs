//! Instructions that only compute: what they take and leave, and what that says about integers.
//!
//! An instruction that has no case here says nothing about what it leaves: it leaves no integer.

use super::Flow;
use crate::lang::ast::{BinaryOp, UnaryOp};
use crate::lang::check::Instantiation;
use crate::lang::code::{Instr, indices_in};
use crate::lang::objects::ObjectKind;
use crate::lang::symmetry::flow::Declaration;
use crate::lang::symmetry::kinds::{Node, Shape};

impl Flow<'_> {
    /// An instruction that only computes.
    pub(super) fn compute(&mut self, instr: &Instr, stack: &mut Vec<Node>, pc: u32) {
        let code = self.code;
        let (taken, left) = code.effect(instr);
        match instr {
            Instr::Set(slot) => stack[*slot as usize] = stack.pop().expect("a value"),
            Instr::Squash { keep, drop } => {
                let end = stack.len() - *keep as usize;
                stack.drain(end - *drop as usize..end);
            }
            Instr::Dup => stack.push(*stack.last().expect("a value")),
            Instr::Append(slot) => {
                let value = stack.pop().expect("a value");
                let (at, item) = self.list(stack[*slot as usize], pc);
                self.nodes.spoil(at, "the items of this list have their places", pc);
                self.nodes.join(item, value, pc);
            }
            Instr::SetPart(slot, steps) => {
                let value = stack.pop().expect("a value");
                let indices = stack.split_off(stack.len() - indices_in(steps));
                if let Some(part) = self.part(stack[*slot as usize], steps, &indices, pc) {
                    self.nodes.join(part, value, pc);
                }
            }
            Instr::Increment(slot) => {
                if !code.marks.counts.contains(&pc) {
                    self.nodes.spoil(stack[*slot as usize], "a loop counts in this order", pc);
                }
            }
            _ => {
                let args = stack[stack.len() - taken..].to_vec();
                let result = self.result(instr, &args, stack, pc);
                stack.truncate(stack.len() - taken);
                stack.extend(result.filter(|_| left == 1));
            }
        }
    }

    /// The value that an instruction leaves, given what it takes.
    pub(super) fn result(
        &mut self,
        instr: &Instr,
        args: &[Node],
        stack: &[Node],
        pc: u32,
    ) -> Option<Node> {
        let out = self.fresh_at(pc);
        match instr {
            Instr::Const(at) => match self.code.marks.ranges.get(&pc) {
                Some(&range) => self.nodes.learn(out, |facts| {
                    facts.ranges.entry(range).or_insert(pc);
                }),
                None if self.code.marks.counts.contains(&pc) => {}
                None => {
                    let value = &self.program.code.constants[*at as usize];
                    self.constant(out, value, pc);
                }
            },
            Instr::Get(slot) => return Some(stack[*slot as usize]),
            Instr::GetPart(slot, steps) => {
                let indices = &stack[stack.len() - indices_in(steps)..];
                let part = self.part(stack[*slot as usize], steps, indices, pc)?;
                self.nodes.join(out, part, pc);
            }
            Instr::Project(slot, path) => {
                let mut part = stack[*slot as usize];
                for &at in path {
                    let Shape::Tuple(parts) = self.nodes.shape(part) else { return Some(out) };
                    part = parts[at as usize];
                }
                self.nodes.join(out, part, pc);
            }
            Instr::Field(at) => {
                if let Shape::Tuple(parts) = self.nodes.shape(args[0]) {
                    let part = parts[*at as usize];
                    self.nodes.join(out, part, pc);
                }
            }
            Instr::Unary(op) => self.unary(*op, args[0], out, pc),
            Instr::Binary(op) => self.binary(*op, args, out, pc),
            Instr::Tuple(_) => self.nodes.make(out, Shape::Tuple(args.to_vec()), pc),
            Instr::List(count) => {
                let (at, item) = self.list(out, pc);
                args.iter().for_each(|&arg| self.nodes.join(item, arg, pc));
                match count {
                    0 | 1 => self.has_length(at, *count, pc),
                    _ => self.nodes.spoil(at, "the items of this list have their places", pc),
                }
            }
            Instr::Repeat(count) => {
                let (at, item) = self.list(out, pc);
                self.nodes.join(item, args[0], pc);
                self.has_length(at, *count, pc);
            }
            Instr::Index => {
                if let Some(part) = self.element(args[0], args[1], pc) {
                    self.nodes.join(out, part, pc);
                }
            }
            Instr::Length => self.nodes.spoil(out, "this is a number of elements", pc),
            Instr::Within => {
                args.iter().for_each(|&arg| self.nodes.spoil(arg, "a range is an order", pc));
            }
            Instr::Push | Instr::Remove => {
                let (at, item) = self.list(args[0], pc);
                self.nodes.spoil(at, "the items of this list have their places", pc);
                match instr {
                    Instr::Push => self.nodes.join(item, args[1], pc),
                    _ => self.nodes.spoil(args[1], "this is a place in a list", pc),
                }
                self.nodes.join(out, args[0], pc);
            }
            Instr::Address { name, .. } => {
                let name = &self.code.texts[*name as usize];
                let at = self.declarations.iter().position(|one| one.name == *name);
                let at = at.expect("a declaration of this name");
                let Declaration { index, count, .. } = self.declarations[at];
                self.nodes.join(index, args[0], pc);
                self.has_length(index, count, pc);
                self.nodes.learn(out, |facts| facts.declaration = Some(at));
            }
            Instr::Peek => {
                if let Some(cell) = self.object(args[0], ObjectKind::Cell, pc) {
                    let content = self.declarations[cell].content;
                    self.nodes.join(out, content, pc);
                }
            }
            Instr::Pending => {
                self.object(args[0], ObjectKind::Mailbox, pc);
                self.nodes.spoil(out, "this is a number of messages", pc);
            }
            Instr::ProcessVar { process, name } => {
                if let Instantiation::Family { .. } = self.program.processes[*process as usize].kind
                {
                    self.nodes.join(self.indices[*process as usize], args[0], pc);
                }
                self.seen.entry((*process, *name)).or_insert(out);
                let seen = self.seen[&(*process, *name)];
                self.nodes.join(seen, out, pc);
            }
            _ => {}
        }
        Some(out)
    }

    pub(super) fn unary(&mut self, op: UnaryOp, arg: Node, out: Node, pc: u32) {
        match op {
            UnaryOp::Not => {}
            UnaryOp::Neg => self.spoil_all(&[arg, out], "it is computed with", pc),
            UnaryOp::Keys => {
                let (key, _) = self.map(arg, pc);
                self.nodes.make(out, Shape::Set(key), pc);
            }
            UnaryOp::Values => {
                let (key, of) = self.map(arg, pc);
                self.nodes.spoil(key, "`values` are in the order of the keys", pc);
                let (at, item) = self.list(out, pc);
                self.nodes.spoil(at, "the items of this list have their places", pc);
                self.nodes.join(item, of, pc);
            }
            UnaryOp::SetOf => {
                let (_, item) = self.list(arg, pc);
                self.nodes.make(out, Shape::Set(item), pc);
            }
            UnaryOp::MapOf => {
                let (_, item) = self.list(arg, pc);
                let parts = self.parts_of(item, 2, pc);
                self.nodes.make(out, Shape::Map(parts[0], parts[1]), pc);
            }
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, args: &[Node], out: Node, pc: u32) {
        use BinaryOp::*;
        let (left, right) = (args[0], args[1]);
        match op {
            Eq | Ne => self.nodes.join(left, right, pc),
            Lt | Le | Gt | Ge => {
                if !self.code.marks.counts.contains(&pc) {
                    let text = match self.code.marks.orders.contains(&pc) {
                        true => "a loop counts in this order",
                        false => "it is compared by more than `==`",
                    };
                    self.spoil_all(args, text, pc);
                }
            }
            Add | Sub if self.turns_round(pc).is_some() => {}
            Rem if self.is_round(pc) => {
                let length = self.number(pc - 1).expect("a constant");
                let base = self.base_of_round(pc).expect("the beginning of it");
                self.nodes.join(out, base, pc);
                let is_own = self.is_own_index(pc - self.length_of_round(pc));
                self.nodes.learn(out, |facts| {
                    facts.rings.entry(length).or_insert(pc);
                    if !is_own {
                        facts.any_turns = facts.any_turns.or(Some(pc));
                    }
                });
            }
            Add | Sub | Mul | Div | Rem => {
                self.spoil_all(&[left, right, out], "it is computed with", pc);
                // Numbers of objects are computed with only for the sake of cuts.
                for &arg in args {
                    if let Some(declaration) = self.nodes.facts(arg).declaration {
                        let Declaration { index, .. } = self.declarations[declaration];
                        self.nodes.spoil(index, "messages may cross a cut of the network", pc);
                    }
                }
            }
            And | Or => {}
            In => match *self.nodes.shape(right) {
                Shape::Set(item) | Shape::List(_, item) | Shape::Map(item, _) => {
                    self.nodes.join(item, left, pc);
                }
                _ => {}
            },
            Subset => self.nodes.join(left, right, pc),
            Union | Intersect => {
                self.nodes.join(left, right, pc);
                self.nodes.join(out, left, pc);
            }
            Minus => {
                self.nodes.join(out, left, pc);
                match *self.nodes.shape(left) {
                    Shape::Map(key, _) => {
                        let item = self.set(right, pc);
                        self.nodes.join(item, key, pc);
                    }
                    Shape::Set(_) => self.nodes.join(left, right, pc),
                    _ => {}
                }
            }
        }
    }
}
