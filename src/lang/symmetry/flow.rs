//! Follows values through the instructions of a program, and collects facts about integers.
//!
//! For each instruction there is the stack before it, as nodes. An instruction says how the nodes
//! that it takes and leaves belong together; where two paths meet, their stacks do. Types are
//! known only in part at first (what is the list here?), so all instructions are passed through
//! until nothing new becomes known.

mod acts;
mod instructions;
mod rounds;
mod values;

use std::collections::BTreeMap;
use std::ops::Range;

use super::kinds::{Node, Nodes, Shape, Why};
use crate::lang::check::Instantiation;
use crate::lang::code::{Code, Instr, Step, Visible};
use crate::lang::objects::ObjectKind;
use crate::lang::program::{Program, Template};
use crate::model::{Delivery, Value};
use values::MOST_ITEMS;

/// A declaration of objects.
pub(super) struct Declaration {
    pub(super) kind: ObjectKind,
    pub(super) name: String,
    pub(super) base: u32,
    pub(super) count: u32,
    /// The indices of its array.
    pub(super) index: Node,
    /// What cells hold and messages carry; their sources and tags.
    pub(super) content: Node,
    pub(super) src: Node,
    pub(super) tag: Node,
}

/// The analysis.
pub(super) struct Flow<'p> {
    program: &'p Program,
    code: &'p Code,
    pub(super) nodes: Nodes,
    pub(super) declarations: Vec<Declaration>,
    /// For each declaration of a process, its index.
    pub(super) indices: Vec<Node>,
    /// The stack before each instruction that is reached, and the function that it is part of.
    pub(super) stacks: Vec<Option<(Vec<Node>, Option<u32>)>>,
    /// What an instruction leaves, where that is something new.
    left: Vec<Option<Node>>,
    /// The results of functions.
    results: Vec<Node>,
    /// Variables of processes that are read from outside.
    seen: BTreeMap<(u32, u32), Node>,
}

impl<'p> Flow<'p> {
    /// Follows all code of the program.
    pub(super) fn of(program: &'p Program, declared: Vec<(ObjectKind, String, u32, u32)>) -> Self {
        let code = &program.code;
        let mut nodes = Nodes::default();
        let declarations = declared.into_iter().map(|(kind, name, base, count)| Declaration {
            kind,
            name,
            base,
            count,
            index: nodes.fresh(),
            content: nodes.fresh(),
            src: nodes.fresh(),
            tag: nodes.fresh(),
        });
        let declarations = declarations.collect();
        let indices: Vec<Node> = program.processes.iter().map(|_| nodes.fresh()).collect();
        let results = code.functions.iter().map(|_| nodes.fresh()).collect();
        let mut flow = Flow {
            program,
            code,
            nodes,
            declarations,
            indices,
            stacks: vec![None; code.instrs.len()],
            left: vec![None; code.instrs.len()],
            results,
            seen: BTreeMap::new(),
        };
        for (declaration, process) in (0..).zip(&program.processes) {
            if let Instantiation::Family { .. } = process.kind {
                let index = flow.indices[declaration as usize];
                flow.nodes.learn(index, |facts| {
                    facts.families.insert(declaration);
                });
            }
        }
        flow.cells();
        flow.nodes.has_news = true;
        while std::mem::take(&mut flow.nodes.has_news) {
            flow.pass();
        }
        flow
    }

    /// The first contents of cells.
    fn cells(&mut self) {
        for at in 0..self.declarations.len() {
            let Declaration { kind, base, count, index, content, .. } = self.declarations[at];
            if kind != ObjectKind::Cell {
                continue;
            }
            for cell in base..base + count.min(MOST_ITEMS as u32) {
                let start = self.code.objects.cells.start(cell).clone();
                self.constant(content, &start, 0);
            }
            if count as usize > MOST_ITEMS {
                self.nodes.spoil(content, "there are too many cells to look at each", 0);
            }
            let first = self.code.objects.cells.start(base);
            let is_equal = |cell| self.code.objects.cells.start(cell) == first;
            if !(base..base + count).all(is_equal) {
                self.nodes.spoil(index, "the cells of this array begin with different contents", 0);
            }
        }
    }

    /// One pass through all instructions.
    fn pass(&mut self) {
        for (declaration, &entry) in self.code.processes.iter().enumerate() {
            let stack = match self.program.processes[declaration].kind {
                Instantiation::Family { .. } => vec![self.indices[declaration]],
                Instantiation::Single => Vec::new(),
                // Nothing spawns it: that would have been refused.
                Instantiation::Template => continue,
            };
            self.arrive(entry, &stack, None);
        }
        for &entry in self.code.finals.iter().chain(self.code.invariants.iter().map(|(at, _)| at)) {
            self.arrive(entry, &[], None);
        }
        let mut is_at_end = false;
        while !is_at_end {
            let reached = self.stacks.iter().flatten().count();
            for pc in 0..self.code.instrs.len() {
                if let Some((stack, function)) = self.stacks[pc].clone() {
                    self.follow(pc as u32, stack, function);
                }
            }
            is_at_end = self.stacks.iter().flatten().count() == reached;
        }
        self.variables();
    }

    /// The variables of processes that are read from outside are those on their stacks.
    fn variables(&mut self) {
        let seen: Vec<((u32, u32), Node)> =
            self.seen.iter().map(|(&at, &node)| (at, node)).collect();
        for ((process, name), node) in seen {
            let (from, to) = self.body(process);
            let live = self.code.live.iter();
            let live = live.filter(|live| live.name == name && live.top_level);
            for live in live.filter(|live| from <= live.from && live.from < to) {
                for pc in live.from..live.to.min(to) {
                    let Some((stack, None)) = &self.stacks[pc as usize] else { continue };
                    if let Some(&slot) = stack.get(live.slot as usize) {
                        self.nodes.join(node, slot, pc);
                    }
                }
            }
        }
    }

    /// The instructions of a process.
    fn body(&self, process: u32) -> (u32, u32) {
        let from = self.code.processes[process as usize];
        let starts = self.code.processes.iter().chain(&self.code.finals).chain(&self.code.inits);
        let starts = starts.chain(self.code.invariants.iter().map(|(entry, _)| entry));
        let to = starts.copied().filter(|&start| start > from).min();
        (from, to.unwrap_or(self.code.instrs.len() as u32))
    }

    /// Is this variable in scope wherever an instance of the process rests?
    fn is_always_in_scope(&self, process: u32, name: u32) -> bool {
        let (from, to) = self.body(process);
        (from..to).all(|pc| {
            let rests = matches!(self.code.instrs[pc as usize], Instr::Visible(_) | Instr::End);
            let is_reached = self.stacks[pc as usize].is_some();
            let mut live = self.code.live.iter();
            !rests
                || !is_reached
                || live.any(|live| {
                    live.name == name && live.top_level && live.from <= pc && pc < live.to
                })
        })
    }

    /// What may fail in loops whose order makes a difference then: the nodes that the loops go
    /// over.
    pub(super) fn failing(&self, is_index: impl Fn(Node, bool) -> bool) -> Vec<(Node, Why)> {
        let mut failing = Vec::new();
        for (&pc, (loops, is_variable)) in &self.code.marks.sure {
            let Some((stack, _)) = &self.stacks[pc as usize] else { continue };
            let top = *stack.last().expect("an index");
            // A variable of a loop is an index if its class is, whatever else is in the class.
            let is_own = *is_variable || self.is_own_index(pc);
            let is_index = |node| is_index(node, is_own);
            let text = match self.code.instrs[pc as usize] {
                Instr::ProcessVar { process, name } => {
                    let is_fine = self.is_instance(process, pc) || is_index(top);
                    let text = "a variable that is not always in scope is read in this loop";
                    (!is_fine || !self.is_always_in_scope(process, name)).then_some(text)
                }
                Instr::Index => {
                    let is_map = matches!(self.nodes.shape(stack[stack.len() - 2]), Shape::Map(..));
                    let text = "what this reads in a loop may not be there";
                    (is_map || !is_index(top)).then_some(text)
                }
                _ => (!is_index(top)).then_some("what this reads in a loop may not be there"),
            };
            if let Some(text) = text {
                failing.extend(loops.iter().filter_map(|&at| {
                    let node = self.left[at as usize]?;
                    Some((node, Why { text, pc }))
                }));
            }
        }
        failing
    }

    /// Is the value on top before this instruction a constant that names an instance of the
    /// process?
    fn is_instance(&self, process: u32, pc: u32) -> bool {
        let number = pc.checked_sub(1).and_then(|before| self.number(before));
        number.is_some_and(|number| match self.program.processes[process as usize].kind {
            Instantiation::Family { lo, hi } => (lo..hi).contains(&number),
            // There is only one.
            _ => true,
        })
    }

    /// The stacks of processes where they may rest.
    pub(super) fn resting(&self) -> impl Iterator<Item = (u32, &Vec<Node>)> {
        let rests =
            |pc: u32| matches!(self.code.instrs[pc as usize], Instr::Visible(_) | Instr::End);
        let reached = (0..).zip(&self.stacks);
        let reached = reached.filter_map(|(pc, stack)| Some((pc, &stack.as_ref()?.0)));
        reached.filter(move |(pc, _)| rests(*pc))
    }

    /// Is the value on top before this instruction the index of the process that runs? It is never
    /// assigned to.
    fn is_own_index(&self, pc: u32) -> bool {
        let is_first = pc > 0
            && matches!(self.code.instrs[pc as usize - 1], Instr::Get(0))
            && !self.code.join_points[pc as usize];
        let processes = (0..).zip(&self.program.processes);
        is_first
            && processes.filter(|(_, process)| several(process).is_some()).any(|(at, _)| {
                let (from, to) = self.body(at);
                (from..to).contains(&pc)
            })
    }

    fn arrive(&mut self, pc: u32, stack: &[Node], function: Option<u32>) {
        match self.stacks[pc as usize].clone() {
            None => self.stacks[pc as usize] = Some((stack.to_vec(), function)),
            Some((known, _)) => {
                known.iter().zip(stack).for_each(|(&a, &b)| self.nodes.join(a, b, pc));
            }
        }
    }

    /// What this instruction leaves.
    fn fresh_at(&mut self, pc: u32) -> Node {
        let nodes = &mut self.nodes;
        *self.left[pc as usize].get_or_insert_with(|| nodes.fresh())
    }

    /// Passes through one instruction.
    fn follow(&mut self, pc: u32, mut stack: Vec<Node>, function: Option<u32>) {
        let code = self.code;
        let instr = &code.instrs[pc as usize];
        let mut next = Some(pc + 1);
        match instr {
            Instr::Jump(to) | Instr::Loop(to) => next = Some(*to),
            Instr::JumpIfFalse(to) => {
                stack.pop();
                self.arrive(*to, &stack, function);
            }
            Instr::End | Instr::Handle(_) => next = None,
            Instr::Return => {
                let result = self.results[function.expect("a function returns") as usize];
                self.nodes.join(result, *stack.last().expect("a result"), pc);
                next = None;
            }
            Instr::Call(called) => {
                let (entry, params) = code.functions[*called as usize];
                let args = stack.split_off(stack.len() - params as usize);
                self.arrive(entry, &args, Some(*called));
                stack.push(self.results[*called as usize]);
            }
            Instr::Visible(visible) => {
                let args = stack.split_off(stack.len() - visible.arity());
                let left = self.operation(*visible, &args, pc);
                stack.push(left);
            }
            _ => self.compute(instr, &mut stack, pc),
        }
        if let Some(next) = next {
            self.arrive(next, &stack, function);
        }
    }

    fn spoil_all(&mut self, nodes: &[Node], text: &'static str, pc: u32) {
        nodes.iter().for_each(|&node| self.nodes.spoil(node, text, pc));
    }

    /// Is each of these instructions reached only by the one before it?
    fn is_straight(&self, from: u32, to: u32) -> bool {
        (from..=to).all(|pc| !self.code.join_points[pc as usize])
    }

    /// The part of a value that a path of steps leads to.
    fn part(&mut self, whole: Node, steps: &[Step], indices: &[Node], pc: u32) -> Option<Node> {
        let (mut part, mut indices) = (whole, indices.iter());
        for step in steps {
            part = match step {
                Step::Field(at) => match self.nodes.shape(part) {
                    Shape::Tuple(parts) => parts[*at as usize],
                    _ => return None,
                },
                Step::Index => {
                    let at = *indices.next().expect("an index for each step");
                    self.element(part, at, pc)?
                }
            };
        }
        Some(part)
    }

    /// The element of a collection at an index, or the value of a key.
    fn element(&mut self, of: Node, at: Node, pc: u32) -> Option<Node> {
        match *self.nodes.shape(of) {
            Shape::List(places, item) => {
                self.nodes.join(places, at, pc);
                Some(item)
            }
            Shape::Map(key, value) => {
                self.nodes.join(key, at, pc);
                Some(value)
            }
            Shape::Set(item) => {
                if !self.code.marks.items.contains(&pc) {
                    self.nodes.spoil(item, "a loop takes the elements of a set in order", pc);
                }
                Some(item)
            }
            _ => None,
        }
    }

    /// The declaration of the object with the number at this node.
    pub(super) fn object(&mut self, node: Node, kind: ObjectKind, pc: u32) -> Option<usize> {
        let facts = self.nodes.facts(node);
        if let Some(declaration) = facts.declaration {
            return Some(declaration);
        }
        let number = u32::try_from(*facts.constants.keys().next()?).ok()?;
        let at = self.declarations.iter().position(|one| {
            one.kind == kind && (one.base..one.base + one.count).contains(&number)
        })?;
        let Declaration { index, base, .. } = self.declarations[at];
        self.nodes.learn_constant(index, i64::from(number - base), pc);
        Some(at)
    }

    /// A visible operation: what it leaves.
    fn operation(&mut self, visible: Visible, args: &[Node], pc: u32) -> Node {
        let out = self.fresh_at(pc);
        match visible {
            Visible::Isend { src, tag, .. } | Visible::Irecv { src, tag } => {
                self.post(visible, args, (src, tag), out, pc);
            }
            Visible::Probe { form, src, tag, .. } => {
                acts::probe(self, (form, src, tag), args, out, pc);
            }
            Visible::Wait => {
                let of = self.comm(args[0], pc);
                self.nodes.join(out, of, pc);
            }
            Visible::WaitAny | Visible::TestAny => {
                let (places, _) = self.list(args[0], pc);
                self.spoil_all(&[places, out], "this is a place in a list", pc);
            }
            Visible::Act(..) => acts::follow(self, visible, args, out, pc),
            Visible::Choose => match (self.number(pc - 2), self.number(pc - 1)) {
                (Some(from), Some(to)) if self.is_straight(pc - 1, pc) => {
                    self.nodes.learn(out, |facts| {
                        facts.ranges.entry((from, to)).or_insert(pc);
                    })
                }
                _ => {
                    let all = [args[0], args[1], out];
                    self.spoil_all(&all, "the bounds of this choice are not constant", pc);
                }
            },
            Visible::ChooseFrom => match *self.nodes.shape(args[0]) {
                Shape::Set(item) | Shape::List(_, item) | Shape::Map(item, _) => {
                    self.nodes.join(out, item, pc);
                }
                _ => {}
            },
            _ => {}
        }
        out
    }

    fn post(
        &mut self,
        visible: Visible,
        args: &[Node],
        (src, tag): (bool, bool),
        out: Node,
        pc: u32,
    ) {
        let Some(mailbox) = self.object(args[0], ObjectKind::Mailbox, pc) else { return };
        let Declaration { content, src: sources, tag: tags, .. } = self.declarations[mailbox];
        let mut rest = args[1..].iter();
        if let Visible::Isend { .. } = visible {
            let value = *rest.next().expect("a value that is sent");
            self.nodes.join(content, value, pc);
            self.comm(out, pc);
        } else {
            let of = self.comm(out, pc);
            self.nodes.join(of, content, pc);
        }
        if let Some(&node) = rest.by_ref().next().filter(|_| src) {
            self.nodes.join(sources, node, pc);
        }
        let last = *args.last().expect("a mailbox");
        if tag {
            self.nodes.join(tags, last, pc);
        }
        let base = self.declarations[mailbox].base;
        let is_ordered = *self.code.objects.mailboxes.start(base) == Delivery::Ordered;
        if !tag && !is_ordered && matches!(visible, Visible::Isend { .. }) {
            // What it states at a p2p or bag mailbox.
            self.constant(tags, &Value::Int(0), pc);
        }
        if !src && matches!(visible, Visible::Isend { .. }) {
            self.default_source(sources, pc);
        }
    }

    /// A send without `src:` at a p2p or bag mailbox states the index of its process.
    fn default_source(&mut self, sources: Node, pc: u32) {
        for process in 0..self.code.processes.len() as u32 {
            let (from, to) = self.body(process);
            if !(from..to).contains(&pc) {
                continue;
            }
            match self.program.processes[process as usize].kind {
                Instantiation::Family { .. } => {
                    self.nodes.join(sources, self.indices[process as usize], pc);
                }
                _ => self.constant(sources, &Value::Int(0), pc),
            }
        }
    }
}

/// The indices of a process that has several instances.
pub(super) fn several(process: &Template) -> Option<Range<i64>> {
    match process.kind {
        Instantiation::Family { lo, hi } if hi - lo > 1 && !process.is_actor => Some(lo..hi),
        _ => None,
    }
}
