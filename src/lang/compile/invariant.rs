//! Compiles invariants, and notes what each of them names.
//!
//! A block of assertions only, also within loops over constant ranges, is split into one invariant
//! for each assertion and each value of the loops' variables. They are checked separately, so that
//! an assertion does not cost more because of what another one reads. (An assertion about two
//! neighbours of a ring reads two processes, where the loop reads all.) Any other block is one
//! invariant.

use std::ops::Range;

use super::{BodyKind, Compiler};
use crate::lang::code::{Instr, ReadSet};
use crate::lang::constant::evaluate_where;
use crate::lang::hir::{Address, Body, Expr, ExprKind, Generator, VarId};
use crate::model::Value;

/// The most invariants that a block is split into.
const MOST_PARTS: usize = 1000;

/// The most rounds of loops without assertions, for such a block.
const MOST_IDLE: usize = 1000;

/// The most steps for a bound or an index.
const MOST_STEPS: u64 = 1000;

/// Loop variables with their values.
type Known = Vec<(VarId, Value)>;

/// The ranges of loops; `None` if the range of a loop within depends on the variable. Then the
/// values of the variable are not alike.
type Ranges = Vec<Option<(i64, i64)>>;

/// An assertion, and the values of the variables of its loops, with the ranges of the loops.
type Part<'e> = (&'e Expr, Known, Ranges);

impl Compiler<'_> {
    pub(super) fn invariant(&mut self, body: &Body) {
        self.reads = ReadSet::default();
        let mut parts = Vec::new();
        let mut idle = MOST_IDLE;
        if split(&body.block, &mut (Known::new(), Vec::new()), &mut parts, &mut idle).is_none() {
            let entry = self.body(body, BodyKind::Invariant);
            return self.note_invariant(entry);
        }
        for (assertion, known, ranges) in parts {
            self.known = known;
            let entry = self.here();
            self.start_frame(body, BodyKind::Invariant, 0);
            for ((variable, value), range) in self.known.clone().into_iter().zip(ranges) {
                let slot = self.frame.depth;
                // There is such a part for each value of the range.
                let here = self.here();
                self.code.marks.ranges.extend(range.map(|range| (here, range)));
                self.constant(value);
                self.enter(variable, slot);
            }
            self.top_statements(std::slice::from_ref(assertion));
            self.leave_scope(0);
            self.emit(Instr::End);
            self.note_invariant(entry);
        }
        self.known.clear();
    }

    /// What only `final` and `invariant` read. Notes that it is read.
    pub(super) fn look(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Peek(address) => {
                self.reads.cells.push(named(&self.known, address));
                self.address(address);
                self.emit(Instr::Peek);
            }
            ExprKind::Pending(address) => {
                self.reads.mailboxes.push(named(&self.known, address));
                self.address(address);
                self.emit(Instr::Pending);
            }
            ExprKind::ProcessVar { process, index, name } => {
                match index {
                    Some(index) => self.expr(index),
                    None => self.constant(Value::Int(0)),
                }
                let name = self.text(name);
                self.reads.variables.push((
                    *process,
                    instance(&self.known, index.as_deref()),
                    name,
                ));
                self.emit(Instr::ProcessVar { process: *process, name });
            }
            other => unreachable!("{other:?} can be read in every body"),
        }
    }

    fn note_invariant(&mut self, entry: u32) {
        let reads = std::mem::take(&mut self.reads);
        self.code.invariants.push((entry, reads));
    }
}

/// Adds the parts of a block of assertions; `None` if the block has something else, or too many.
/// `idle` is the number of rounds without assertions that may still come.
fn split<'e>(
    block: &'e Expr,
    of: &mut (Known, Ranges),
    parts: &mut Vec<Part<'e>>,
    idle: &mut usize,
) -> Option<()> {
    let ExprKind::Block(statements, value) = &block.kind else { return None };
    for statement in statements.iter().chain([&**value]) {
        match &statement.kind {
            ExprKind::Const(Value::Unit) => {}
            ExprKind::Assert(..) => parts.push((statement, of.0.clone(), of.1.clone())),
            ExprKind::For(generator, body) => {
                let Generator::Range(Some(var), from, to) = &**generator else { return None };
                let is_fixed = [from, to].iter().all(|end| constant(&Known::new(), end).is_some());
                let [from, to] = [constant(&of.0, from)?, constant(&of.0, to)?];
                let around = of.1.clone();
                if !is_fixed {
                    of.1.fill(None);
                }
                for value in from..to {
                    let before = parts.len();
                    of.0.push((*var, Value::Int(value)));
                    of.1.push(Some((from, to)));
                    split(body, of, parts, idle)?;
                    of.0.pop();
                    of.1.pop();
                    // There is no assertion where an inner loop is empty. That might be often.
                    if parts.len() == before {
                        *idle = idle.checked_sub(1)?;
                    }
                }
                of.1 = around;
            }
            _ => return None,
        }
        if parts.len() > MOST_PARTS {
            return None;
        }
    }
    Some(())
}

fn constant(known: &Known, expr: &Expr) -> Option<i64> {
    evaluate_where(known, expr, &mut { MOST_STEPS }).ok().map(|value| value.int())
}

/// The objects that an address may name.
fn named(known: &Known, address: &Address) -> Range<u32> {
    let Address { base, count, index, .. } = address;
    let Some(index) = index else { return *base..base + 1 };
    match constant(known, index) {
        Some(n) if (0..i64::from(*count)).contains(&n) => {
            let one = base + n as u32;
            one..one + 1
        }
        _ => *base..base + count,
    }
}

/// The index of the named instance of a process, if it is constant; 0 without an index.
fn instance(known: &Known, index: Option<&Expr>) -> Option<i64> {
    index.map_or(Some(0), |index| constant(known, index))
}
