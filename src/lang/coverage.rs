//! Coverage: which parts of a program were never run (statements, branches of conditions, arms,
//! handlers, assertions).
//!
//! The compiler notes which part of the source each instruction stands for ([`Points`]). An
//! observed program ([`Program::observed`]) records in [`Reached`] which instructions were
//! executed, and how each condition was decided. The machine runs once for each distinct local
//! state and response, because explorers cache the next local state. So the cost of recording is
//! small, and zero for a program that is not observed.
//!
//! Explorers also run a step to find out its effect, without executing it in the current execution.
//! They do this only for actions that are possible in some execution, so the code of these steps is
//! reachable. A search that visits every class of executions runs every step of every execution. So
//! after a complete search, and only then, code that was not reached is unreachable.
//!
//! Procedures are inlined at each call. So a point is identified by its place in the source, and is
//! reached if one of its copies is. The contents of an unreached part are not reported separately.
//! A condition that only depends on constants has the same value in every execution; its other
//! branch is not reported.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::code::{Code, Instr};
use super::diagnostic::Span;
use super::interpret::{Machine, Rest, World};
use super::program::Program;
use crate::model::Site;

/// The instruction was executed, or a process rested there.
const CAME: u8 = 1;
/// The instruction is a conditional jump, and its condition was true.
const HELD: u8 = 2;
/// The instruction is a conditional jump, and its condition was false.
const FAILED: u8 = 4;

/// The parts of the source that the instructions of a program stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    /// The statements of each block, in order, each with its first instruction.
    pub(crate) blocks: Vec<Vec<(Place, u32)>>,
    /// Parts that need not contain statements, each with its first instruction.
    pub(crate) parts: Vec<(Part, Place, u32)>,
    /// Branches of conditions that contain no statement: the value of the condition that leads to
    /// the branch, the place of the condition, and its jump.
    pub(crate) conditions: Vec<(bool, Place, u32)>,
    /// The assertions, each with its instruction.
    pub(crate) assertions: Vec<(Place, u32)>,
}

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) span: Span,
    pub(crate) site: u32,
    /// The line in which it ends.
    pub(crate) last_line: u32,
}

/// A part of a program that need not contain statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The body of an arm of a `match`.
    Arm,
    /// The body of a handler.
    Handler,
}

/// For each instruction whether it was reached so far, and how: a set of [`CAME`], [`HELD`] and
/// [`FAILED`]. Copies of a program record together.
#[derive(Clone, Debug)]
pub(crate) struct Reached(Arc<[AtomicU8]>);

impl Reached {
    pub(super) fn nothing_of(code: &Code) -> Reached {
        Reached(code.instrs.iter().map(|_| AtomicU8::new(0)).collect())
    }

    /// Runs a machine until it rests, and records the instructions that it reaches.
    pub(super) fn run<W: World>(&self, code: &Code, machine: &mut Machine<'_, W>) -> Rest {
        loop {
            let at = machine.pc;
            let rest = machine.advance();
            let decided = match code.instrs[at as usize] {
                Instr::JumpIfFalse(_) if machine.pc == at + 1 => CAME | HELD,
                Instr::JumpIfFalse(_) => CAME | FAILED,
                _ => CAME,
            };
            self.note(at, decided);
            if let Some(rest) = rest {
                return rest;
            }
        }
    }

    fn note(&self, at: u32, how: u8) {
        let known = &self.0[at as usize];
        if known.load(Ordering::Relaxed) & how != how {
            known.fetch_or(how, Ordering::Relaxed);
        }
    }

    fn has(&self, at: u32, how: u8) -> bool {
        self.0[at as usize].load(Ordering::Relaxed) & how != 0
    }
}

/// The kinds of unreached code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnreachedKind {
    /// Statements from a first unreached one to the end of their block.
    Lines,
    /// The arm of a `match`.
    Arm,
    /// A handler.
    Handler,
    /// A condition that is never true, if its `true` branch contains no statement.
    NeverTrue,
    /// A condition that is never false, if its `false` branch contains no statement.
    NeverFalse,
    /// An assertion.
    Assertion,
}

/// A part of a program that was never run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The kind of part.
    pub kind: UnreachedKind,
    /// The place where it begins.
    pub site: Site,
    /// The line in which it ends.
    pub last_line: u32,
}

/// Places, each with whether any of its copies was reached.
type Marks = BTreeMap<Place, bool>;

fn mark(marks: &mut Marks, place: Place, is_reached: bool) {
    *marks.entry(place).or_default() |= is_reached;
}

/// The places that were not reached.
fn missing(marks: Marks) -> impl Iterator<Item = Place> {
    marks.into_iter().filter(|&(_, is_reached)| !is_reached).map(|(place, _)| place)
}

impl Points {
    /// The unreached statements, one finding for each block.
    fn lines(&self, reached: &Reached) -> Vec<(Place, UnreachedKind)> {
        let mut marks = Marks::new();
        for &(place, at) in self.blocks.iter().flatten() {
            mark(&mut marks, place, reached.has(at, CAME));
        }
        let unreached = |block: &Vec<(Place, u32)>| {
            let first = block.iter().find(|(place, _)| !marks[place])?.0;
            let last = block.last()?.0;
            let place =
                Place { span: first.span.to(last.span), last_line: last.last_line, ..first };
            Some((place, UnreachedKind::Lines))
        };
        let mut found: Vec<_> = self.blocks.iter().filter_map(unreached).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The arms and handlers that were not reached.
    fn parts(&self, reached: &Reached) -> Vec<(Place, UnreachedKind)> {
        let of = |part: Part, kind: UnreachedKind| {
            let mut marks = Marks::new();
            for &(_, place, at) in self.parts.iter().filter(|known| known.0 == part) {
                mark(&mut marks, place, reached.has(at, CAME));
            }
            missing(marks).map(move |place| (place, kind))
        };
        of(Part::Arm, UnreachedKind::Arm).chain(of(Part::Handler, UnreachedKind::Handler)).collect()
    }

    /// The conditions that were reached, but always had the same value.
    fn sides(&self, reached: &Reached) -> Vec<(Place, UnreachedKind)> {
        let of = |side: bool, how: u8, kind: UnreachedKind| {
            let (mut came, mut decided) = (Marks::new(), Marks::new());
            for &(_, place, at) in self.conditions.iter().filter(|known| known.0 == side) {
                mark(&mut came, place, reached.has(at, CAME));
                mark(&mut decided, place, reached.has(at, how));
            }
            missing(decided)
                .filter(|place| came[place])
                .map(|place| (place, kind))
                .collect::<Vec<_>>()
        };
        let never_true = of(true, HELD, UnreachedKind::NeverTrue);
        never_true.into_iter().chain(of(false, FAILED, UnreachedKind::NeverFalse)).collect()
    }

    fn unchecked(&self, reached: &Reached) -> Vec<(Place, UnreachedKind)> {
        let mut marks = Marks::new();
        for &(place, at) in &self.assertions {
            mark(&mut marks, place, reached.has(at, CAME));
        }
        missing(marks).map(|place| (place, UnreachedKind::Assertion)).collect()
    }
}

impl Program {
    /// The parts that were never run since the program is [observed](Program::observed), ordered by
    /// place; empty if it is not observed.
    pub fn unreached(&self) -> Vec<Unreached> {
        let Some(reached) = &self.reached else { return Vec::new() };
        let points = &self.code.points;
        let mut found = points.lines(reached);
        found.extend(points.parts(reached));
        found.extend(points.sides(reached));
        let all = found.clone();
        found.retain(|&(inner, kind)| {
            let is_around = |&(outer, other): &(Place, UnreachedKind)| {
                let (inner, outer) = (inner.span, outer.span);
                let contains = outer.start <= inner.start && inner.end <= outer.end;
                contains && (outer != inner || other > kind)
            };
            !all.iter().any(is_around)
        });
        found.extend(points.unchecked(reached));
        found.sort_by_key(|&(place, kind)| (place.span.start, kind));
        let described = |(Place { site, last_line, .. }, kind)| Unreached {
            kind,
            site: self.code.sites[site as usize].clone(),
            last_line,
        };
        found.into_iter().map(described).collect()
    }
}
