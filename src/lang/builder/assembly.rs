//! Emits the code of steps.
//!
//! The stack of a process has all variables of the builder at its bottom, then the communications
//! and the children. A communication is unit until it is begun, then a pair: what the language
//! knows as a communication, and its [`Origin`]. Texts have types, which exclude that a
//! communication is used before it is begun, or cancelled if it is a send. Steps have none. So a
//! computation looks for such a mistake when the process runs, and fails.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{
    Body, Builder, Child, Communication, Condition, Expression, Finally, Formula, Mutex, Step,
    Template, Variable, Variables,
};
use crate::lang::check::Instantiation;
use crate::lang::code::{Closure, Family, Instr, Live, Visible};
use crate::lang::compile::Compiler;
use crate::lang::objects::{ObjectKind, is_of, mutex};
use crate::lang::program::{self, Program};
use crate::model::{Asking, Delivery, MailboxId, MutexId, Objects, Partners, Site, Value};

/// The code so far.
pub(super) struct Assembly {
    compiler: Compiler<'static>,
    variables: Vec<String>,
    communications: usize,
    children: usize,
    processes: Vec<program::Template>,
    /// For each body how many processes spawn it, at least.
    spawners: Vec<u32>,
    /// The number of processes that exist from the start.
    ranks: u32,
    may_cancel: bool,
    tested: Vec<MutexId>,
    /// Of the body at hand: its index among the processes that exist from the start.
    rank: Option<u32>,
    /// The variables that it sets.
    assigned: BTreeSet<usize>,
}

/// How a communication was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) is_receive: bool,
    /// Was it begun at a p2p or bag mailbox, or by a collective?
    pub(super) is_of_network: bool,
}

impl Origin {
    fn number(self) -> i64 {
        i64::from(self.is_receive) + 2 * i64::from(self.is_of_network)
    }
}

/// The communication in this slot, and the number of its origin.
fn begun(slot: &Value) -> Option<(&Value, i64)> {
    match slot {
        Value::Tuple(parts) => Some((&parts[0], parts[1].int())),
        _ => None,
    }
}

/// The result of a step as a number.
fn number(result: &Value) -> i64 {
    match result {
        Value::Unit => 0,
        Value::Bool(holds) => i64::from(*holds),
        other => other.int(),
    }
}

impl Assembly {
    /// The code of this builder, without its bodies.
    pub(super) fn new(builder: &Builder, objects: Objects) -> Assembly {
        let mut compiler = Compiler::new("", objects);
        compiler.code.adds_up = true;
        Assembly {
            compiler,
            variables: builder.variables.clone(),
            communications: builder.communications,
            children: builder.children,
            processes: Vec::new(),
            spawners: vec![0; builder.bodies.len()],
            ranks: 0,
            may_cancel: false,
            tested: Vec::new(),
            rank: None,
            assigned: BTreeSet::new(),
        }
    }

    /// Emits a process or a template. Its argument becomes the first variable.
    pub(super) fn body(&mut self, body: &Body) {
        self.rank = body.rank;
        self.assigned.clear();
        let (kind, params) = match body.rank {
            Some(_) => (Instantiation::Single, 0),
            None => (Instantiation::Template, 1),
        };
        let entry = self.compiler.here();
        self.compiler.start_body(params);
        for variable in 0..self.variables.len() {
            if variable == 0 && params == 1 {
                self.emit(Instr::Get(0));
                self.assigned.insert(variable);
            } else {
                self.int(0);
            }
        }
        for _ in 0..self.communications + self.children {
            self.compiler.constant(Value::Unit);
        }
        let keep = self.compiler.frame.depth - params;
        self.emit(Instr::Squash { keep, drop: params });
        let from = self.compiler.here();
        self.steps(&body.steps);
        self.emit(Instr::End);
        let to = self.compiler.here();
        for &variable in &self.assigned {
            let (name, slot) = (self.compiler.text(&self.variables[variable]), variable as u32);
            self.compiler.code.live.push(Live { name, slot, from, to, top_level: false });
        }
        let (first, count) = (self.ranks, kind.instances());
        self.ranks += count;
        let name = self.compiler.text(&body.name);
        self.compiler.code.processes.push(entry);
        self.compiler.code.families.push(Family { first, lo: 0, count, name });
        self.processes.push(program::Template {
            name: body.name.clone(),
            kind,
            first,
            qualified: false,
            is_actor: false,
            is_daemon: body.is_daemon,
            params,
        });
    }

    /// Emits the condition on final states: it looks at all cells.
    pub(super) fn finally(&mut self, Finally { place, what, holds }: Finally) {
        let entry = self.compiler.here();
        let cells = self.compiler.code.objects.cells.len() as u32;
        self.compiler.start_body(0);
        self.compiler.stand_for(Site {
            file: None,
            line: place.line(),
            column: place.column(),
            text: format!("finally({what:?})"),
        });
        for cell in 0..cells {
            self.int(i64::from(cell));
            self.emit(Instr::Peek);
        }
        self.compute(move |cells| Ok(Value::Bool(holds(&|cell| cells[cell.0.0 as usize].int()))));
        self.assert(&format!("final: {what}"));
        self.compiler.pop(cells);
        self.emit(Instr::End);
        self.compiler.code.finals.push(entry);
        self.compiler.code.seen_by_finals.cells.push(0..cells);
    }

    /// The program, when all bodies are emitted.
    pub(super) fn finish(mut self) -> Program {
        let objects = self.objects();
        for MutexId(mutex) in &self.tested {
            let is_tried = *objects.mutexes.start(*mutex) == Asking::Tries;
            let name = || objects.mutexes.name(*mutex);
            assert!(!is_tried, "a mutex that is tried cannot be tested: {}", name());
        }
        for (process, spawners) in self.processes.iter_mut().zip(self.spawners) {
            process.qualified = spawners > 1;
        }
        Program::new(self.compiler.finish(), self.processes, self.may_cancel)
    }

    pub(super) fn objects(&self) -> &Objects {
        &self.compiler.code.objects
    }

    /// Is it a p2p or bag mailbox?
    pub(super) fn is_of_network(&self, mailbox: MailboxId) -> bool {
        *self.objects().mailboxes.start(mailbox.0) != Delivery::Ordered
    }

    /// The index of the process among those that exist from the start.
    pub(super) fn rank(&self) -> Option<u32> {
        self.rank
    }

    /// Emits steps. They leave nothing on the stack but what they store in variables.
    pub(super) fn steps(&mut self, steps: &[Step]) {
        let outer = self.compiler.frame.span;
        for step in steps {
            let depth = self.compiler.frame.depth;
            let names: Vec<_> = step.objects.iter().map(|&one| self.objects().name(one)).collect();
            let text = match names.is_empty() {
                true => step.name.to_string(),
                false => format!("{}({})", step.name, names.join(", ")),
            };
            let (line, column) = (step.place.line(), step.place.column());
            self.compiler.stand_for(Site { file: None, line, column, text });
            (step.emit)(self);
            if let Some(variable) = step.into {
                self.compute(|frame| Ok(Value::Int(number(frame.last().expect("a result")))));
                self.set(variable);
            }
            self.compiler.pop(self.compiler.frame.depth - depth);
        }
        self.compiler.frame.span = outer;
    }

    pub(super) fn emit(&mut self, instr: Instr) {
        self.compiler.emit(instr);
    }

    pub(super) fn visible(&mut self, visible: Visible) {
        self.compiler.visible(visible);
    }

    pub(super) fn int(&mut self, number: i64) {
        self.compiler.constant(Value::Int(number));
    }

    /// Emits the number of an object.
    pub(super) fn object(&mut self, number: u32) {
        self.int(i64::from(number));
    }

    fn compute(
        &mut self,
        computation: impl Fn(&[Value]) -> Result<Value, String> + Send + Sync + 'static,
    ) {
        let closures = &mut self.compiler.code.closures;
        closures.push(Closure(Arc::new(computation)));
        let number = closures.len() as u32 - 1;
        self.emit(Instr::Compute(number));
    }

    /// The index of these partners in the code.
    pub(super) fn partners(&mut self, partners: &Arc<Partners>) -> u32 {
        let all = &mut self.compiler.code.partners;
        all.push(partners.clone());
        all.len() as u32 - 1
    }

    /// Emits a failure.
    pub(super) fn fail(&mut self, message: &'static str) {
        self.compute(|_| Err(message.to_owned()));
    }

    pub(super) fn value(&mut self, Expression(formula): &Expression) {
        match formula {
            Formula::Number(number) => self.int(*number),
            Formula::Variable(variable) => {
                let slot = self.slot(*variable);
                self.emit(Instr::Get(slot));
            }
            Formula::Computed(compute) => {
                let compute = compute.clone();
                self.compute(move |frame| Ok(Value::Int(compute(Variables(frame)))));
            }
        }
    }

    pub(super) fn condition(&mut self, holds: &Condition) {
        let holds = holds.clone();
        self.compute(move |frame| Ok(Value::Bool(holds(Variables(frame)))));
    }

    /// Fails unless the condition on top holds.
    pub(super) fn assert(&mut self, what: &str) {
        let text = self.compiler.text(what);
        self.emit(Instr::Assert(Some(text)));
    }

    /// Stores the value on top.
    pub(super) fn set(&mut self, variable: Variable) {
        let slot = self.slot(variable);
        self.assigned.insert(variable.0);
        self.emit(Instr::Set(slot));
    }

    fn slot(&self, Variable(variable): Variable) -> u32 {
        assert!(variable < self.variables.len(), "a variable of another builder");
        variable as u32
    }

    fn slot_of(&self, Communication(name): Communication) -> usize {
        assert!(name < self.communications, "a communication of another builder");
        self.variables.len() + name
    }

    fn slot_of_child(&self, Child(name): Child) -> usize {
        assert!(name < self.children, "a child of another builder");
        self.variables.len() + self.communications + name
    }

    /// Keeps the communication on top.
    pub(super) fn keep(&mut self, name: Communication, origin: Origin) {
        let slot = self.slot_of(name) as u32;
        self.int(origin.number());
        self.emit(Instr::Tuple(2));
        self.emit(Instr::Set(slot));
    }

    /// Emits a communication. If it was not begun, the process fails.
    pub(super) fn begun(&mut self, name: Communication, otherwise: &'static str) {
        let slot = self.slot_of(name);
        self.compute(move |frame| match begun(&frame[slot]) {
            Some((comm, _)) => Ok(comm.clone()),
            None => Err(otherwise.to_owned()),
        });
    }

    /// Emits a receive to be cancelled.
    pub(super) fn begun_receive(&mut self, name: Communication) {
        let slot = self.slot_of(name);
        let wanted = Origin { is_receive: true, is_of_network: true }.number();
        self.compute(move |frame| match begun(&frame[slot]) {
            Some((comm, origin)) if origin == wanted => Ok(comm.clone()),
            _ => Err("only a receive at a p2p or bag mailbox is cancelled".to_owned()),
        });
    }

    /// Emits a list of communications to wait for, or to test.
    pub(super) fn all_begun(&mut self, names: &[Communication], is_test: bool) {
        let slots: Box<[usize]> = names.iter().map(|&name| self.slot_of(name)).collect();
        self.compute(move |frame| {
            let all: Option<Vec<_>> = slots.iter().map(|&slot| begun(&frame[slot])).collect();
            let all = all.ok_or("one of these communications was not begun")?;
            let mut networks = all.iter().map(|(_, origin)| origin / 2);
            let first = networks.next();
            if is_test && networks.any(|other| Some(other) != first) {
                return Err("a test of mailboxes with different delivery".to_owned());
            }
            Ok(Value::List(all.into_iter().map(|(comm, _)| comm.clone()).collect()))
        });
    }

    /// Starts a process with the argument on top.
    pub(super) fn spawn(&mut self, Template(body): Template, name: Child) {
        assert!(body < self.spawners.len(), "a template of another builder");
        self.spawners[body] += if self.rank.is_some() { 1 } else { 2 };
        self.visible(Visible::Spawn { process: body as u32, args: 1 });
        let slot = self.slot_of_child(name) as u32;
        self.emit(Instr::Set(slot));
    }

    /// Emits a child. If none was spawned, the process fails.
    pub(super) fn child(&mut self, name: Child) {
        let slot = self.slot_of_child(name);
        self.compute(move |frame| match &frame[slot] {
            Value::Unit => Err("nothing was spawned".to_owned()),
            child => Ok(child.clone()),
        });
    }

    /// Lets the value of communications be known after their completion.
    pub(super) fn received(&mut self) {
        self.compiler.code.remembers_values = true;
        self.emit(Instr::Received);
    }

    /// Cancels the receive on top.
    pub(super) fn cancel(&mut self) {
        self.compiler.cancel();
    }

    /// Does what this word of the language does, with the topmost `args` values.
    pub(super) fn word(&mut self, kind: ObjectKind, name: &str, args: usize) {
        let mut words = kind.about().words.iter();
        let word = words.find(|word| is_of(word.usage, name)).expect("a word of the language");
        self.may_cancel |= mutex::only_requests(word);
        self.compiler.acts(word, args as u32, 0);
    }

    /// From now on the mutex is known to be tried.
    pub(super) fn try_mutex(&mut self, Mutex(mutex): Mutex) {
        self.compiler.code.objects.mutexes.restart(mutex.0, Asking::Tries);
    }

    /// Requests for these mutexes are tested.
    pub(super) fn test_mutexes(&mut self, mutexes: &[Mutex]) {
        self.tested.extend(mutexes.iter().map(|mutex| mutex.0));
    }

    /// Emits the first steps if the condition holds, otherwise the second ones.
    pub(super) fn branch(&mut self, holds: &Condition, then: &[Step], otherwise: &[Step]) {
        self.condition(holds);
        let no = self.compiler.jump(Instr::JumpIfFalse);
        self.steps(then);
        let end = self.compiler.jump(Instr::Jump);
        self.compiler.aim(no);
        self.steps(otherwise);
        self.compiler.aim(end);
    }

    /// Emits steps that are repeated while the condition holds.
    pub(super) fn repeat(&mut self, holds: &Condition, steps: &[Step]) {
        let start = self.compiler.here();
        self.condition(holds);
        let end = self.compiler.jump(Instr::JumpIfFalse);
        self.steps(steps);
        self.emit(Instr::Loop(start));
        self.compiler.aim(end);
    }
}
