//! The values that a failing `final` or `invariant` has read, which explain the failure.
//!
//! The block is run once more, instruction by instruction, and each value that it reads is noted: a
//! cell, a variable of a process, a variable of the block itself, the result of a function. Values
//! have their names in the source, with indices resolved: `Node[2].leader` for `Node[i].leader`.
//! Values that were read in an assertion that holds are dropped. The values in the failed
//! expression come first. If variables of the block are among them, earlier values follow, because
//! these variables were computed from them.

use crate::lang::code::{Instr, Live};
use crate::lang::diagnostic::Span;
use crate::lang::interpret::{Machine, Rest};
use crate::lang::program::{GlobalWorld, Local, Program};
use crate::model::{Contents, Value};

/// A value that the block has read.
struct Read {
    /// The instruction that read it.
    at: u32,
    span: Span,
    name: String,
    value: Value,
    /// Is it a variable or a function result of the block itself?
    is_own: bool,
}

impl Program {
    /// The world of `final` at the end of an execution.
    pub(super) fn at_the_end<'a>(
        &'a self,
        locals: &'a [Option<&'a Local>],
        cells: Contents<'a>,
    ) -> GlobalWorld<'a> {
        let lengths = &|_| unreachable!("`final` does not read the length of a mailbox");
        GlobalWorld { program: self, locals, cells, lengths, is_end: true }
    }

    /// The values that the first failing `final` has read, with their names; `None` if all hold.
    pub(super) fn readings<'a>(
        &self,
        world: impl Fn() -> GlobalWorld<'a>,
    ) -> Option<Vec<(String, Value)>> {
        self.code.finals.iter().find_map(|&entry| self.readings_of(world(), entry))
    }

    pub(super) fn readings_of(
        &self,
        world: GlobalWorld<'_>,
        entry: u32,
    ) -> Option<Vec<(String, Value)>> {
        self.readings_with(world, Vec::new(), entry)
    }

    /// The same of a block that starts with this stack.
    pub(super) fn readings_with(
        &self,
        world: GlobalWorld<'_>,
        stack: Vec<Value>,
        entry: u32,
    ) -> Option<Vec<(String, Value)>> {
        let mut machine = Machine::new(&self.code, world, stack, entry);
        let mut reads: Vec<Read> = Vec::new();
        let mut call = entry;
        let rest = loop {
            let (at, is_inside) = (machine.pc, machine.is_in_call());
            let index = machine.stack.last().cloned();
            if let Some(rest) = machine.advance() {
                break rest;
            }
            if !is_inside && machine.is_in_call() {
                call = at;
            }
            if machine.is_in_call() {
                continue;
            }
            let at = if is_inside { call } else { at };
            let span = self.span(at);
            match self.named(at, index) {
                Some((name, is_own)) => {
                    let value = machine.stack.last().expect("what was read").clone();
                    reads.push(Read { at, span, name, value, is_own });
                }
                None if matches!(self.code.instrs[at as usize], Instr::Assert(_)) => {
                    reads.retain(|read| !is_within(read.span, span));
                }
                None => {}
            }
        };
        if !matches!(rest, Rest::Failed(_)) {
            return None;
        }
        // A variable that is out of scope is not part of the failed expression, so its value
        // explains nothing.
        let is_gone = |read: &Read| match self.code.instrs[read.at as usize] {
            Instr::Get(slot) => {
                let is_it = |live: &&Live| live.slot == slot && is_alive(live, read.at);
                self.code.live.iter().rfind(is_it).is_some_and(|live| !is_alive(live, machine.pc))
            }
            _ => false,
        };
        reads.retain(|read| !is_gone(read));
        Some(relevant(reads, self.span(machine.pc)))
    }

    fn span(&self, pc: u32) -> Span {
        self.code.spans[self.code.site_of[pc as usize] as usize]
    }

    /// The name in the source for the value that this instruction reads, and whether it is the
    /// block's own ([`Read::is_own`]). `index` is the top of the stack before the instruction.
    fn named(&self, at: u32, index: Option<Value>) -> Option<(String, bool)> {
        match self.code.instrs[at as usize] {
            Instr::Peek => {
                let cell = index.expect("the number of a cell").int() as u32;
                Some((self.code.objects.cells.name(cell), false))
            }
            Instr::Pending => {
                let mailbox = index.expect("the number of a mailbox").int() as u32;
                Some((format!("len({})", self.code.objects.mailboxes.name(mailbox)), false))
            }
            Instr::ProcessVar { process, name } => {
                let instance = index.expect("an index").int();
                let owner = self.link_name((process, instance));
                Some((format!("{owner}.{}", self.code.texts[name as usize]), false))
            }
            Instr::Get(slot) => {
                let is_it = |live: &&Live| live.slot == slot && is_alive(live, at);
                let live = self.code.live.iter().rfind(is_it)?;
                Some((self.code.texts[live.name as usize].clone(), true))
            }
            Instr::Call(_) => Some((self.code.site(at).text.clone(), true)),
            _ => None,
        }
    }
}

fn is_alive(variable: &Live, at: u32) -> bool {
    variable.from <= at && at < variable.to
}

fn is_within(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The values in the expression at `failed`, then the earlier values that they may be computed
/// from. For each name only the last value.
fn relevant(reads: Vec<Read>, failed: Span) -> Vec<(String, Value)> {
    let (inside, mut before): (Vec<_>, Vec<_>) =
        reads.into_iter().partition(|read| is_within(read.span, failed));
    if !inside.iter().any(|read| read.is_own) {
        before.clear();
    }
    let mut found = latest(inside);
    for (name, value) in latest(before) {
        if found.iter().all(|(known, _)| *known != name) {
            found.push((name, value));
        }
    }
    found
}

/// The last value of each name, in the order in which the names were first read.
fn latest(reads: Vec<Read>) -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = Vec::new();
    for Read { name, value, .. } in reads {
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => found.push((name, value)),
        }
    }
    found
}
