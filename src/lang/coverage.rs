//! What of a program was never run: statements, sides of conditions, arms, handlers, assertions.
//!
//! The compiler notes as it goes which instruction stands for what ([`Points`]). A program that is
//! observed ([`Program::observed`]) notes in [`Reached`] which instructions the machine came to,
//! and how each condition was decided. The machine runs once for each distinct local state and
//! response, because explorers remember the answer. So this costs next to nothing; and if nobody
//! asked, nothing.
//!
//! Explorers also run a step to see what it would do, without executing it then. They ask only
//! about actions that are possible in some execution, so what these run can be reached. A search
//! that visits every class of executions runs every step that some execution has. After such a
//! search, and only then, what was not reached cannot be reached.
//!
//! Procedures are compiled in place of each call. So a point is known by its place in the source,
//! and was reached if one of its copies was. What an unreached part contains is not told again. A
//! condition that only constants decide has one side in every execution; nothing is told of the
//! other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};

use super::code::{Code, Instr};
use super::diagnostic::Span;
use super::interpret::{Machine, Rest, World};
use super::program::Program;
use crate::model::Site;

/// The instruction was carried out, or something rested there.
const CAME: u8 = 1;
/// It was a jump that is taken if a condition does not hold, and the condition held.
const HELD: u8 = 2;
/// The condition did not hold.
const FAILED: u8 = 4;

/// What the instructions of a program stand for.
#[derive(Debug, Default)]
pub struct Points {
    /// The statements of each block, in order, each with its first instruction.
    pub blocks: Vec<Vec<(Place, u32)>>,
    /// Parts that need not contain statements, each with its first instruction.
    pub parts: Vec<(Part, Place, u32)>,
    /// The conditions with a side that contains no statement, each with its jump: is it the side
    /// where the condition holds?
    pub conditions: Vec<(bool, Place, u32)>,
    /// The assertions.
    pub assertions: Vec<(Place, u32)>,
}

/// A place in the source, for the compiler and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub span: Span,
    pub site: u32,
    /// The line in which it ends.
    pub last_line: u32,
}

/// A part of a program that need not contain statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The body of an arm of a `match`.
    Arm,
    /// The body of a handler.
    Handler,
}

/// The instructions that were reached so far, each with how it was.
#[derive(Debug)]
pub struct Reached(Box<[AtomicU8]>);

impl Reached {
    pub(super) fn nothing_of(code: &Code) -> Reached {
        Reached(code.instrs.iter().map(|_| AtomicU8::new(0)).collect())
    }

    /// Runs a machine until it comes to rest, and notes what it reaches.
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

/// The kinds of what was never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnreachedKind {
    /// Statements, up to the end of their block.
    Lines,
    /// The arm of a `match`.
    Arm,
    /// A handler.
    Handler,
    /// A condition that never holds, without a statement that would run if it did.
    NeverTrue,
    /// A condition that never fails, without a statement that would run if it did.
    NeverFalse,
    /// An assertion.
    Assertion,
}

/// Something that was never run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// What.
    pub kind: UnreachedKind,
    /// Where it begins.
    pub site: Site,
    /// The line in which it ends.
    pub last_line: u32,
}

/// A place and whether it was reached, so far as is known.
type Marks = BTreeMap<Place, bool>;

fn mark(marks: &mut Marks, place: Place, is_reached: bool) {
    *marks.entry(place).or_default() |= is_reached;
}

/// Those that were not reached.
fn missing(marks: Marks) -> impl Iterator<Item = Place> {
    marks.into_iter().filter(|&(_, is_reached)| !is_reached).map(|(place, _)| place)
}

impl Points {
    /// The statements that were not reached, those of a block together.
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

    /// The conditions that were decided, but never in one of the ways.
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
    /// What was never run since the program is [observed](Program::observed), by place; nothing if
    /// it is not.
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
        let told = |(Place { site, last_line, .. }, kind)| Unreached {
            kind,
            site: self.code.sites[site as usize].clone(),
            last_line,
        };
        found.into_iter().map(told).collect()
    }
}
