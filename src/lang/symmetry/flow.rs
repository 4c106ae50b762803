//! Follows values through the instructions of a program, and collects facts about integers.
//!
//! For each instruction there is the stack before it, as nodes. An instruction says how the nodes
//! that it takes and leaves belong together; where two paths meet, their stacks do. Types are
//! known only in part at first (what is the list here?), so all instructions are passed through
//! until nothing new becomes known.

use std::collections::BTreeMap;

use super::groups::several;
use super::kinds::{Node, Nodes, Shape, Why};
use crate::lang::ast::{BinaryOp, UnaryOp};
use crate::lang::check::Instantiation;
use crate::lang::code::{Code, Instr, Step, Visible, indices_in};
use crate::lang::objects::ObjectKind;
use crate::lang::program::Program;
use crate::model::{List, Value};

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

/// Lists of more items are not looked at one by one.
const MOST_ITEMS: usize = 10_000;

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
            let Declaration { kind, base, count, content, .. } = self.declarations[at];
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
        }
    }

    /// One pass through all instructions.
    fn pass(&mut self) {
        for (declaration, &entry) in self.code.processes.iter().enumerate() {
            let stack = match self.program.processes[declaration].kind {
                Instantiation::Family { .. } => vec![self.indices[declaration]],
                _ => Vec::new(),
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
            let is_constant =
                pc > 0 && matches!(self.code.instrs[pc as usize - 1], Instr::Const(_));
            let text = match self.code.instrs[pc as usize] {
                Instr::ProcessVar { process, name } => {
                    let is_fine = is_constant || is_index(top);
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

    /// The node has a constant.
    fn constant(&mut self, node: Node, value: &Value, pc: u32) {
        match value {
            Value::Int(n) => {
                self.nodes.learn(node, |facts| {
                    facts.constants.entry(*n).or_insert(pc);
                });
            }
            Value::Tuple(parts) => {
                let nodes = self.parts_of(node, parts.len(), pc);
                nodes.into_iter().zip(parts.iter()).for_each(|(node, part)| {
                    self.constant(node, part, pc);
                });
            }
            Value::List(items) => {
                let (at, item) = self.list(node, pc);
                let all: Vec<&Value> = items.iter().take(MOST_ITEMS).collect();
                if all.windows(2).all(|two| two[0] == two[1]) && items.len() <= MOST_ITEMS {
                    self.has_length(at, items.len() as u32, pc);
                } else {
                    self.nodes.spoil(at, "the items of this list have their places", pc);
                }
                if items.len() > MOST_ITEMS {
                    self.nodes.spoil(item, "this list is too long to look at each item", pc);
                }
                all.into_iter().for_each(|value| self.constant(item, value, pc));
            }
            Value::Set(set) => {
                let item = self.set(node, pc);
                if let Some(range) = whole_range(set.items()) {
                    // If these are all indices, no permutation changes the set.
                    self.nodes.learn(item, |facts| {
                        facts.ranges.entry(range).or_insert(pc);
                    });
                    return;
                }
                for value in set.items().iter().take(MOST_ITEMS) {
                    self.constant(item, value, pc);
                }
                if set.items().len() > MOST_ITEMS {
                    self.nodes.spoil(item, "this set is too large to look at each element", pc);
                }
            }
            Value::Map(map) => {
                let (key, of) = self.map(node, pc);
                for (one, other) in map.iter().take(MOST_ITEMS) {
                    self.constant(key, one, pc);
                    self.constant(of, other, pc);
                }
                if map.len() > MOST_ITEMS {
                    self.nodes.spoil(node, "this map is too large to look at each key", pc);
                }
            }
            _ => {}
        }
    }

    fn has_length(&mut self, at: Node, length: u32, pc: u32) {
        self.nodes.learn(at, |facts| {
            facts.lengths.entry(length).or_insert(pc);
        });
    }

    /// The components of tuples at this node.
    fn parts_of(&mut self, node: Node, count: usize, pc: u32) -> Vec<Node> {
        if let Shape::Tuple(parts) = self.nodes.shape(node)
            && parts.len() == count
        {
            return parts.clone();
        }
        let parts: Vec<Node> = (0..count).map(|_| self.nodes.fresh()).collect();
        self.nodes.make(node, Shape::Tuple(parts.clone()), pc);
        parts
    }

    fn list(&mut self, node: Node, pc: u32) -> (Node, Node) {
        if let Shape::List(at, item) = *self.nodes.shape(node) {
            return (at, item);
        }
        let (at, item) = (self.nodes.fresh(), self.nodes.fresh());
        self.nodes.make(node, Shape::List(at, item), pc);
        (at, item)
    }

    fn set(&mut self, node: Node, pc: u32) -> Node {
        if let Shape::Set(item) = *self.nodes.shape(node) {
            return item;
        }
        let item = self.nodes.fresh();
        self.nodes.make(node, Shape::Set(item), pc);
        item
    }

    fn map(&mut self, node: Node, pc: u32) -> (Node, Node) {
        if let Shape::Map(key, of) = *self.nodes.shape(node) {
            return (key, of);
        }
        let (key, of) = (self.nodes.fresh(), self.nodes.fresh());
        self.nodes.make(node, Shape::Map(key, of), pc);
        (key, of)
    }

    pub(super) fn comm(&mut self, node: Node, pc: u32) -> Node {
        if let Shape::Comm(of) = *self.nodes.shape(node) {
            return of;
        }
        let of = self.nodes.fresh();
        self.nodes.make(node, Shape::Comm(of), pc);
        of
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

    /// An instruction that only computes.
    fn compute(&mut self, instr: &Instr, stack: &mut Vec<Node>, pc: u32) {
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
    fn result(&mut self, instr: &Instr, args: &[Node], stack: &[Node], pc: u32) -> Option<Node> {
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

    fn unary(&mut self, op: UnaryOp, arg: Node, out: Node, pc: u32) {
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

    fn binary(&mut self, op: BinaryOp, args: &[Node], out: Node, pc: u32) {
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

    fn spoil_all(&mut self, nodes: &[Node], text: &'static str, pc: u32) {
        nodes.iter().for_each(|&node| self.nodes.spoil(node, text, pc));
    }

    /// The integer that this instruction puts on the stack.
    fn number(&self, pc: u32) -> Option<i64> {
        match self.code.instrs.get(pc as usize)? {
            Instr::Const(at) => match self.code.constants[*at as usize] {
                Value::Int(n) => Some(n),
                _ => None,
            },
            _ => None,
        }
    }

    /// The instruction after `… + c - d … % n` that this addition is a part of, if it is one that
    /// is not negative.
    fn turns_round(&self, pc: u32) -> Option<u32> {
        let mut at = pc;
        while let Instr::Binary(BinaryOp::Add | BinaryOp::Sub) = self.code.instrs[at as usize] {
            self.number(at + 1)?;
            at += 2;
        }
        self.is_round(at).then_some(at)
    }

    /// Is this the remainder of an index plus a constant that is not negative?
    fn is_round(&self, pc: u32) -> bool {
        matches!(self.code.instrs.get(pc as usize), Some(Instr::Binary(BinaryOp::Rem)))
            && self.base_of_round(pc).is_some()
    }

    /// The number of instructions after the index in `(index + c - d …) % n`, that of the
    /// remainder not included.
    fn length_of_round(&self, pc: u32) -> u32 {
        let mut at = pc - 2;
        while let Instr::Binary(BinaryOp::Add | BinaryOp::Sub) = self.code.instrs[at as usize] {
            at -= 2;
        }
        pc - at - 1
    }

    /// The index in `(index + c - d …) % n`.
    fn base_of_round(&self, pc: u32) -> Option<Node> {
        let length = self.number(pc.checked_sub(1)?)?;
        let (mut at, mut sum) = (pc.checked_sub(2)?, 0_i64);
        loop {
            let op = match self.code.instrs[at as usize] {
                Instr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) => op,
                _ => break,
            };
            let by = self.number(at.checked_sub(1)?)?;
            sum = match op {
                BinaryOp::Add => sum.checked_add(by)?,
                _ => sum.checked_sub(by)?,
            };
            at = at.checked_sub(2)?;
        }
        let is_straight = self.is_straight(at + 1, pc);
        let is_fine = length > 0 && (0..1 << 32).contains(&sum) && is_straight && at + 2 < pc;
        let (stack, _) = self.stacks[at as usize + 1].as_ref()?;
        is_fine.then(|| stack.last().copied())?
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
        self.nodes.learn(index, |facts| {
            facts.constants.entry(i64::from(number - base)).or_insert(pc);
        });
        Some(at)
    }

    /// A visible operation: what it leaves.
    fn operation(&mut self, visible: Visible, args: &[Node], pc: u32) -> Node {
        let out = self.fresh_at(pc);
        match visible {
            Visible::Isend { src, tag, .. } | Visible::Irecv { src, tag } => {
                self.post(visible, args, (src, tag), out, pc);
            }
            Visible::Wait => {
                let of = self.comm(args[0], pc);
                self.nodes.join(out, of, pc);
            }
            Visible::WaitAny | Visible::TestAny => {
                self.nodes.spoil(out, "this is a place in a list", pc);
            }
            Visible::Act(..) => super::acts::follow(self, visible, args, out, pc),
            Visible::Choose => match (self.number(pc - 2), self.number(pc - 1)) {
                (Some(from), Some(to)) if self.is_straight(pc - 1, pc) => {
                    self.nodes.learn(out, |facts| {
                        facts.ranges.entry((from, to)).or_insert(pc);
                    })
                }
                _ => self.nodes.spoil(out, "the bounds of this choice are not constant", pc),
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

/// The range that these numbers are, if they are several, in order and without a gap.
fn whole_range(items: &List) -> Option<(i64, i64)> {
    let numbers: Option<Vec<i64>> = items
        .iter()
        .map(|item| match item {
            Value::Int(n) => Some(*n),
            _ => None,
        })
        .collect();
    let numbers = numbers?;
    let [first, .., last] = numbers[..] else { return None };
    let is_whole = numbers.windows(2).all(|two| two[0].checked_add(1) == Some(two[1]));
    is_whole.then_some((first, last.checked_add(1)?))
}
