//! The interpreter: runs instructions up to the next visible operation.
//!
//! The machine has no side effects: it takes a stack and a place in the code, and returns where it
//! came to rest. Types were checked, so an instruction finds the values that it expects. What can
//! still go wrong (a division by zero, an index out of range, an assertion, an endless computation)
//! is a [`Fault`] of the program.
//!
//! The machine is generic over a [`Domain`]: concrete values, or the abstract values of the static
//! analysis ([`super::prospect`]), which so runs the same instructions. If an instruction needs a
//! value that is not known, the machine rests there ([`Rest::Unknown`]), and its caller decides how
//! it continues.

mod apply;
mod collections;
mod domain;
mod parts;

pub(crate) use apply::apply;
pub(crate) use domain::{Domain, Unknown};

use super::ast::BinaryOp;
use super::code::{Code, Family, Instr, Routine};
use super::{constant, operators};
use crate::model::{Failure, FailureKind, Handle, Mark, ProcessId, StopSignal, Value};
use parts::size_within;

/// The most local steps (backward jumps and calls) without a visible operation. A process that
/// takes more is assumed to run for ever.
const MAX_STEPS: u32 = 1_000_000;
/// The most elements of lists, tuples and messages that may be built or compared between two
/// visible operations. The time and the memory of a step are proportional to their number.
const MAX_PARTS: usize = 4_000_000;
/// The most nested calls. A function with more is assumed to call itself for ever.
const MAX_CALLS: usize = 10_000;

/// The number of local steps and list operations between two checks of the stop signal.
const TICKS_PER_CHECK: u32 = 64;

/// Why a machine has come to rest.
#[derive(Debug)]
pub(crate) enum Rest {
    /// Before a visible operation, or where an actor waits for a message.
    Visible,
    /// At the end of a process or a handler.
    End,
    /// At a violation.
    Failed(Failure),
    /// At something that is not known: in `final`, a variable that a process never reached; in
    /// `invariant`, a variable that is not in scope; in a guard that is evaluated without its
    /// actor, `self`; in the static analysis, a value.
    Unknown,
}

/// What code may read and do beyond its own stack. The checker has refused code that needs more
/// than its world offers, so the default methods are never called.
pub(crate) trait World {
    /// The values that the code computes with.
    type Value: Domain;

    /// The value of a communication of the running process.
    fn received(&self, comm: Handle) -> Result<Value, Fault> {
        unreachable!("no process has {comm:?} here")
    }

    /// The number of messages at a mailbox that are sent and not yet paired, in `invariant`.
    fn length(&self, mailbox: u32) -> i64 {
        unreachable!("mailbox {mailbox} is out of sight")
    }

    /// The content of a cell, in `final` and `invariant`.
    fn cell(&self, cell: u32) -> Value {
        unreachable!("cell {cell} is out of sight")
    }

    /// A variable of an instance of a process, in `final` and `invariant`.
    fn variable(&self, process: u32, instance: i64, name: &str) -> Result<Value, Fault> {
        unreachable!("`{name}` of {process}[{instance}] is out of sight")
    }

    /// The running actor, if it is known.
    fn myself(&self) -> Option<ProcessId> {
        unreachable!("no actor runs here")
    }

    /// Sends a message to an actor.
    fn send(&mut self, to: ProcessId, message: Value) {
        unreachable!("{message:?} cannot be sent to {to:?} here")
    }

    /// The number of local steps that sending a message or starting an actor counts as.
    fn effort(&self) -> u32 {
        unreachable!("nothing is sent or started here")
    }

    /// Starts an actor of this template, and returns its id.
    fn create(&mut self, template: u32, args: Vec<Value>) -> ProcessId {
        unreachable!("actor {template} cannot be started with {args:?} here")
    }
}

/// The state of a run: a place in the code, and a stack.
pub(crate) struct Machine<'c, W: World> {
    code: &'c Code,
    /// What the code can access beyond the stack.
    pub(crate) world: W,
    /// The stack, with its top at the end.
    pub(crate) stack: Vec<W::Value>,
    /// The next instruction.
    pub(crate) pc: u32,
    /// The active calls of functions: for each the return address, and the base of its caller's
    /// frame.
    calls: Vec<(u32, usize)>,
    base: usize,
    steps: u32,
    /// The number of local steps and list operations so far, for [`TICKS_PER_CHECK`].
    ticks: u32,
    /// The number of elements built or compared so far.
    parts: usize,
    /// The beginnings and ends of calls of procedures, if they are to be recorded.
    pub(crate) journal: Option<Vec<Mark>>,
}

/// Why an instruction was not executed.
pub(crate) enum Fault {
    /// A run-time error, with a message.
    Error(String),
    /// An assertion that does not hold, with a message.
    Assertion(String),
    /// The instruction needs a value that is not known.
    Unknown,
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Fault::Error(message)
    }
}

impl From<Unknown> for Fault {
    fn from(_: Unknown) -> Self {
        Fault::Unknown
    }
}

impl<'c, W: World> Machine<'c, W> {
    /// A machine at `pc` with this stack.
    pub(crate) fn new(code: &'c Code, world: W, stack: Vec<W::Value>, pc: u32) -> Self {
        Machine {
            code,
            world,
            stack,
            pc,
            calls: Vec::new(),
            base: 0,
            steps: 0,
            ticks: 0,
            parts: 0,
            journal: None,
        }
    }

    /// Runs until the machine comes to rest.
    pub(crate) fn run(&mut self) -> Rest {
        loop {
            if let Some(rest) = self.advance() {
                return rest;
            }
        }
    }

    /// Executes one instruction. Returns where the machine rests, if it does.
    #[inline(always)]
    pub(crate) fn advance(&mut self) -> Option<Rest> {
        let code = self.code;
        match &code.instrs[self.pc as usize] {
            Instr::Visible(_) | Instr::Handle(_) => Some(Rest::Visible),
            Instr::End => Some(Rest::End),
            instr => {
                let (at, depth) = (self.pc, self.stack.len());
                self.pc += 1;
                let done = self.step(instr);
                debug_assert!(
                    done.is_err() || self.has_effect(instr, depth),
                    "{instr:?} of {depth} values left {}",
                    self.stack.len()
                );
                done.err().map(|fault| self.fail(at, fault))
            }
        }
    }

    /// Did the instruction change a stack of this depth as [`Code::effect`] says?
    fn has_effect(&self, instr: &Instr, depth: usize) -> bool {
        let (taken, left) = self.code.effect(instr);
        // [`Code::effect`] describes a call as a whole, from `Call` to `Return`.
        let is_part_of_call = matches!(instr, Instr::Call(_) | Instr::Return);
        is_part_of_call || self.stack.len() + taken == depth + left
    }

    /// Is a function running?
    pub(crate) fn is_in_call(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Executes one instruction; if it is a call, also the called function. At most `steps` local
    /// steps are allowed, not counting earlier ones. Returns where the machine rests, if it does.
    pub(crate) fn carry_out(&mut self, steps: u32) -> Option<Rest> {
        (self.steps, self.ticks, self.parts) = (MAX_STEPS - steps, 0, 0);
        loop {
            let rest = self.advance();
            if rest.is_some() || !self.is_in_call() {
                return rest;
            }
        }
    }

    /// Skips the instruction at which the machine rests. `depth` is the depth of the stack before
    /// the instruction. The values that it leaves are unknown.
    pub(crate) fn pass_over(&mut self, depth: usize) {
        let (taken, left) = self.code.effect(&self.code.instrs[self.pc as usize]);
        self.calls.clear();
        (self.base, self.pc) = (0, self.pc + 1);
        self.stack.truncate(depth - taken);
        self.stack.resize(depth - taken + left, W::Value::unknown());
    }

    /// Comes to rest because of a fault at `at`. The stack and the place become those of the
    /// outermost call, outside of functions, so that reports can show the variables of the process.
    fn fail(&mut self, at: u32, fault: Fault) -> Rest {
        self.pc = at;
        if let Some(&(back, _)) = self.calls.first() {
            // Each call keeps the base of its caller. So the base of the outermost function is kept
            // by the next call.
            let base = self.calls.get(1).map_or(self.base, |&(_, base)| base);
            self.pc = back - 1;
            self.stack.truncate(base);
        }
        let (kind, message) = match fault {
            Fault::Error(message) => (FailureKind::Error, message),
            Fault::Assertion(message) => (FailureKind::Assertion, message),
            Fault::Unknown => return Rest::Unknown,
        };
        Rest::Failed(Failure { kind, message, site: Some(self.code.site(at).clone()) })
    }

    fn pop(&mut self) -> W::Value {
        self.stack.pop().expect("a value on the stack")
    }

    /// Takes `count` values from the stack, which become parts of one value, and counts their
    /// elements as work.
    fn pop_parts(&mut self, count: u32) -> Result<Vec<Value>, Fault> {
        let from = self.stack.len() - count as usize;
        let known = self.stack[from..].iter().filter_map(|value| value.get().ok());
        Self::count_parts(&mut self.parts, known, 1)?;
        Ok(W::Value::take_all(self.stack.split_off(from))?)
    }

    fn push(&mut self, value: Value) {
        self.stack.push(W::Value::known(value));
    }

    fn top(&mut self) -> &mut W::Value {
        self.stack.last_mut().expect("a value on the stack")
    }

    fn set_top(&mut self, value: Value) {
        *self.top() = W::Value::known(value);
    }

    fn slot(&mut self, slot: u32) -> &mut W::Value {
        &mut self.stack[self.base + slot as usize]
    }

    /// Counts a local step or list operation, and checks the stop signal from time to time.
    fn tick(&mut self) -> Result<(), Fault> {
        self.ticks = self.ticks.wrapping_add(1);
        match self.ticks.is_multiple_of(TICKS_PER_CHECK) && StopSignal::is_raised_here() {
            true => Err(Fault::Error("stopped by a limit".to_owned())),
            false => Ok(()),
        }
    }

    fn count_steps(&mut self, steps: u32) -> Result<(), Fault> {
        self.tick()?;
        self.steps += steps;
        if self.steps > MAX_STEPS || self.calls.len() > MAX_CALLS {
            return Err(Fault::Error("endless local computation".to_owned()));
        }
        Ok(())
    }

    /// Counts the elements of these values, multiplied by `times`, as work.
    fn count_parts<'v>(
        parts: &mut usize,
        values: impl IntoIterator<Item = &'v Value>,
        times: usize,
    ) -> Result<(), Fault> {
        for value in values {
            let size = size_within(value, MAX_PARTS);
            *parts = parts.saturating_add(size.saturating_mul(times));
            if *parts > MAX_PARTS {
                let millions = MAX_PARTS / 1_000_000;
                return Err(Fault::Error(format!(
                    "too much local computation: more than {millions} million elements of lists built or compared \
                     without a visible operation"
                )));
            }
        }
        Ok(())
    }

    // Inlined: a function call for each instruction would take a fifth of the time.
    #[inline(always)]
    fn step(&mut self, instr: &Instr) -> Result<(), Fault> {
        match *instr {
            Instr::Const(at) => self.push(self.code.constants[at as usize].clone()),
            Instr::Get(slot) => {
                let value = self.slot(slot).clone();
                self.stack.push(value);
            }
            Instr::Set(slot) => *self.slot(slot) = self.pop(),
            Instr::GetPart(slot, ref steps) => self.get_part(slot, steps)?,
            Instr::SetPart(slot, ref steps) => self.set_part(slot, steps)?,
            Instr::Project(slot, ref path) => {
                let mut part = self.slot(slot).get()?;
                for &at in path {
                    part = operators::field(part, at);
                }
                let part = part.clone();
                self.push(part);
            }
            Instr::Pop(count) => self.stack.truncate(self.stack.len() - count as usize),
            Instr::Squash { keep, drop } => {
                let end = self.stack.len() - keep as usize;
                self.stack.drain(end - drop as usize..end);
            }
            Instr::Dup => {
                let value = self.top().clone();
                self.stack.push(value);
            }
            Instr::Jump(to) => self.pc = to,
            Instr::Loop(to) => {
                self.pc = to;
                self.count_steps(1)?;
            }
            Instr::JumpIfFalse(to) => {
                if self.pop().take()? == Value::Bool(false) {
                    self.pc = to;
                }
            }
            Instr::Unary(op) => {
                let value = operators::unary(op, self.top().get()?)?;
                self.set_top(value);
            }
            Instr::Binary(op) => self.binary(op)?,
            Instr::Tuple(count) => {
                let parts = self.pop_parts(count)?;
                self.push(Value::Tuple(parts.into()));
            }
            Instr::List(count) => {
                let items = self.pop_parts(count)?;
                self.push(Value::List(items.into()));
            }
            Instr::Repeat(count) => {
                let item = self.stack.last().expect("an item to repeat").get()?;
                Self::count_parts(&mut self.parts, [item], count as usize)?;
                let list = constant::repeat(item, count);
                self.set_top(list);
            }
            Instr::Index | Instr::Push | Instr::Remove => self.on_list(instr)?,
            Instr::Append(slot) => self.append(slot)?,
            Instr::Within => self.within()?,
            Instr::Field(at) => {
                let part = operators::field(self.top().get()?, at).clone();
                self.set_top(part);
            }
            Instr::Length => {
                let length = operators::items(self.top().get()?).len() as i64;
                self.set_top(Value::Int(length));
            }
            Instr::Increment(slot) => {
                let counter = self.slot(slot).get_mut()?;
                *counter = Value::Int(counter.int() + 1);
            }
            Instr::Address { base, count, name } => {
                let code = self.code;
                let index = self.top().get().map(Value::int).ok();
                let name = format_args!("`{}`", code.texts[name as usize]);
                let place = index.map(|index| operators::place(index, count as usize, name));
                *self.top() = W::Value::object(base, count, place.transpose()?);
            }
            Instr::Compute(closure) => self.compute(closure)?,
            Instr::Call(function) => self.call(function)?,
            Instr::Return => {
                let value = self.pop();
                let (back, base) = self.calls.pop().expect("a call to return from");
                self.stack.truncate(self.base);
                self.stack.push(value);
                (self.pc, self.base) = (back, base);
            }
            Instr::Enter(_) | Instr::Leave(_) => self.note(instr),
            Instr::Assert(message) => {
                if self.pop().take()? == Value::Bool(false) {
                    let message = match message {
                        Some(text) => {
                            format!("assertion failed: {}", self.code.texts[text as usize])
                        }
                        None => "assertion failed".to_owned(),
                    };
                    return Err(Fault::Assertion(message));
                }
            }
            Instr::Received => self.received()?,
            Instr::Pending => {
                let mailbox = self.pop().take()?.int() as u32;
                let length = self.world.length(mailbox);
                self.push(Value::Int(length));
            }
            Instr::Peek => {
                let cell = self.pop().take()?.int() as u32;
                let content = self.world.cell(cell);
                self.push(content);
            }
            Instr::ProcessVar { process, name } => self.process_variable(process, name)?,
            Instr::Myself
            | Instr::Instance(_)
            | Instr::Message { .. }
            | Instr::IsMessage(_)
            | Instr::Send
            | Instr::Create { .. } => self.of_actors(instr)?,
            Instr::Visible(_) | Instr::Handle(_) | Instr::End => {
                unreachable!("the run ends here")
            }
        }
        Ok(())
    }

    fn of_actors(&mut self, instr: &Instr) -> Result<(), Fault> {
        let value = match *instr {
            Instr::Myself => Value::Process(self.world.myself().ok_or(Fault::Unknown)?),
            Instr::Instance(family) => {
                let index = self.pop().take()?.int();
                self.instance(&self.code.families[family as usize], index)?
            }
            Instr::Message { name, args } => {
                let args = self.pop_parts(args)?;
                operators::message(name, args)?
            }
            Instr::IsMessage(message) => match self.pop().take()? {
                Value::Message { name, .. } => Value::Bool(name == message),
                other => unreachable!("{other:?} as a message in a checked program"),
            },
            Instr::Send => {
                self.count_steps(self.world.effort())?;
                let (message, to) = (self.pop().take()?, self.pop().take()?);
                let Value::Process(to) = to else { unreachable!("a send to {to:?}") };
                self.world.send(to, message);
                Value::Unit
            }
            Instr::Create { process, args } => {
                self.count_steps(self.world.effort())?;
                let args = self.stack.split_off(self.stack.len() - args as usize);
                Value::Process(self.world.create(process, W::Value::take_all(args)?))
            }
            ref other => unreachable!("{other:?} is not of actors"),
        };
        self.push(value);
        Ok(())
    }

    fn instance(&self, family: &Family, index: i64) -> Result<Value, String> {
        let Family { first, lo, count, name } = *family;
        let offset = index.checked_sub(lo).and_then(|offset| u32::try_from(offset).ok());
        match offset.filter(|&offset| offset < count) {
            Some(offset) => Ok(Value::Process(ProcessId(first + offset))),
            None => {
                let (name, last) = (&self.code.texts[name as usize], lo + i64::from(count) - 1);
                let known = match count {
                    1 => format!("the only actor of that name is {name}[{lo}]"),
                    _ => format!("the actors are {name}[{lo}] to {name}[{last}]"),
                };
                Err(format!("index {index} is out of range: {known}"))
            }
        }
    }

    fn binary(&mut self, op: BinaryOp) -> Result<(), Fault> {
        let right = self.pop().take()?;
        if let Value::List(_) | Value::Tuple(_) | Value::Set(_) | Value::Map(_) = &right {
            self.count_operands(op, &right)?;
        }
        let value = operators::binary(op, self.top().get()?, &right)?;
        self.set_top(value);
        Ok(())
    }

    // Not inlined: programs from text never come here.
    #[inline(never)]
    fn compute(&mut self, closure: u32) -> Result<(), Fault> {
        let frame = W::Value::all_known(&self.stack[self.base..])?;
        let value = (self.code.closures[closure as usize].0)(frame)?;
        self.push(value);
        Ok(())
    }

    fn call(&mut self, function: u32) -> Result<(), Fault> {
        let (entry, params) = self.code.functions[function as usize];
        self.calls.push((self.pc, self.base));
        self.base = self.stack.len() - params as usize;
        self.pc = entry;
        self.count_steps(1)
    }

    /// Records the beginning or the end of a call of a procedure in the journal.
    fn note(&mut self, instr: &Instr) {
        let Some(journal) = &mut self.journal else { return };
        journal.push(match *instr {
            Instr::Enter(routine) => {
                let Routine { name, params, .. } = self.code.routines[routine as usize];
                let arguments = &self.stack[self.stack.len() - params as usize..];
                let arguments = arguments.iter().filter_map(|value| value.get().ok()).cloned();
                let procedure = self.code.texts[name as usize].clone();
                Mark::Begins { procedure, arguments: arguments.collect() }
            }
            Instr::Leave(routine) => {
                let has_result = self.code.routines[routine as usize].has_result;
                let last = self.stack.last().and_then(|value| value.get().ok());
                Mark::Ends { result: last.filter(|_| has_result).cloned() }
            }
            ref other => unreachable!("{other:?} is not a mark"),
        });
    }

    fn received(&mut self) -> Result<(), Fault> {
        let Value::Comm(comm) = self.pop().take()? else {
            unreachable!("`value` of a communication")
        };
        let value = self.world.received(comm)?;
        self.push(value);
        Ok(())
    }

    fn process_variable(&mut self, process: u32, name: u32) -> Result<(), Fault> {
        let instance = self.pop().take()?.int();
        let value = self.world.variable(process, instance, &self.code.texts[name as usize])?;
        self.push(value);
        Ok(())
    }
}
