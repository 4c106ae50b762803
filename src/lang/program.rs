//! A compiled program as a [`System`].

use std::sync::Arc;

use smallvec::SmallVec;

use super::books::Books;
use super::check::{Enum, Kind};
use super::code::{Code, Instr, Visible};
use super::diagnostic::Diagnostics;
use super::expectation::Expectation;
use super::interpret::{Machine, Rest, Variable, World};
use super::operators;
use crate::model::{
    Access, BarrierId, CellId, Envelope, Failure, FailureKind, Handle, MailboxId, MutexId, Next,
    Objects, Op, Outcome, Request, SemaphoreId, Site, Supply, System, Value, ValueId, Values,
};

/// A program, ready to run.
#[derive(Debug)]
pub struct Program {
    pub(super) code: Code,
    pub(super) processes: Vec<Template>,
    pub(super) enums: Vec<Enum>,
    pub(super) constants: Vec<(String, Value)>,
    pub(super) expectations: Vec<Expectation>,
    pub(super) warnings: Diagnostics,
    pub(super) supplies: super::supplies::Supplies,
}

/// A process as declared.
#[derive(Debug)]
pub(super) struct Template {
    pub name: String,
    pub kind: Kind,
    /// The id of its first instance.
    pub first: u32,
    /// Several processes may spawn it, so a name must say which did.
    pub qualified: bool,
}

/// Who a process is: its declaration and index, or from its oldest ancestor down the template and the
/// number of each spawn.
type Path = SmallVec<[(u32, i64); 1]>;

/// What a process of a compiled program remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    path: Path,
    pc: u32,
    stack: Box<[Value]>,
    books: Books,
    failure: Option<Arc<Failure>>,
}

impl Local {
    fn declaration(&self) -> u32 {
        self.path.last().expect("a process has a declaration").0
    }
}

/// What a process sees while it computes: itself.
struct Own<'b>(&'b Books);

impl World for Own<'_> {
    fn received(&self, comm: Handle) -> Option<Value> {
        self.0.received(comm).cloned()
    }

    fn cell(&self, cell: u32) -> Value {
        unreachable!("a process peeks at cell {cell}")
    }

    fn variable(&self, _: u32, _: i64, name: &str) -> Variable {
        unreachable!("a process looks for `{name}` of another")
    }
}

/// What `final` sees: everything.
struct Whole<'a> {
    program: &'a Program,
    locals: &'a [Option<&'a Local>],
    cells: &'a [ValueId],
    values: &'a Values,
}

impl World for Whole<'_> {
    fn received(&self, comm: Handle) -> Option<Value> {
        unreachable!("`final` asks for {comm:?}")
    }

    fn cell(&self, cell: u32) -> Value {
        self.values.get(self.cells[cell as usize]).clone()
    }

    fn variable(&self, process: u32, instance: i64, name: &str) -> Variable {
        let template = &self.program.processes[process as usize];
        let first = match template.kind {
            Kind::Family { lo, .. } => lo,
            _ => 0,
        };
        let offset = instance.checked_sub(first).and_then(|offset| u32::try_from(offset).ok());
        let Some(offset) = offset.filter(|&offset| offset < template.kind.instances()) else {
            return Variable::NoInstance(format!(
                "there is no process {}[{instance}]",
                template.name
            ));
        };
        let local =
            self.locals[(template.first + offset) as usize].expect("a static process exists");
        match self.program.top_level(local, name) {
            Some(value) => Variable::Value(value.clone()),
            None => Variable::Missing { failed: !matches!(self.program.instr(local), Instr::End) },
        }
    }
}

impl Program {
    /// The constants that can be set from outside, in order of declaration: integers, truth values, variants.
    pub fn constants(&self) -> impl Iterator<Item = (&str, &Value)> {
        let plain =
            |value: &Value| matches!(value, Value::Int(_) | Value::Bool(_) | Value::Variant { .. });
        self.constants
            .iter()
            .filter(move |(_, v)| plain(v))
            .map(|(name, value)| (name.as_str(), value))
    }

    /// What the `//@` lines of the file say must hold.
    pub fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }

    /// What is odd but not wrong.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    fn instr(&self, local: &Local) -> &Instr {
        &self.code.instrs[local.pc as usize]
    }

    /// A process that starts with these arguments, run to its first visible operation.
    fn start(&self, path: Path, args: Vec<Value>) -> Local {
        let pc = self.code.processes[path.last().expect("a declaration").0 as usize];
        self.run(path, args, pc, Books::default())
    }

    fn run(&self, path: Path, stack: Vec<Value>, pc: u32, mut books: Books) -> Local {
        let mut machine = Machine::new(&self.code, Own(&books), stack, pc);
        let failure = match machine.run() {
            Rest::Visible | Rest::End => None,
            Rest::Failed(failure) => Some(Arc::new(failure)),
            Rest::Unknown => unreachable!("only `final` asks for what it may not find"),
        };
        let (pc, stack) = (machine.pc, machine.stack);
        if self.code.remembers_values {
            books.forget_unnamed(&stack);
        }
        Local { path, pc, stack: stack.into(), books, failure }
    }

    /// The variables in scope with their values, innermost last.
    fn in_scope<'l>(
        &'l self,
        local: &'l Local,
    ) -> impl DoubleEndedIterator<Item = (&'l str, &'l Value, bool)> {
        let live = self.code.live.iter().filter(|live| live.from <= local.pc && local.pc < live.to);
        live.filter_map(|live| {
            let value = local.stack.get(live.slot as usize)?;
            Some((self.code.texts[live.name as usize].as_str(), value, live.top_level))
        })
    }

    fn top_level<'l>(&'l self, local: &'l Local, name: &str) -> Option<&'l Value> {
        let mut found =
            self.in_scope(local).filter(|&(known, _, top_level)| top_level && known == name);
        found.next_back().map(|(_, value, _)| value)
    }

    fn show(&self, value: &Value) -> String {
        let all = |parts: &mut dyn Iterator<Item = &Value>| {
            parts.map(|part| self.show(part)).collect::<Vec<_>>().join(", ")
        };
        match value {
            Value::Variant { of, index } => match self.enums.get(*of as usize) {
                Some(of) => of.variants[*index as usize].clone(),
                None => value.to_string(),
            },
            Value::Tuple(parts) => format!("({})", all(&mut parts.iter())),
            Value::List(items) => format!("[{}]", all(&mut items.iter())),
            other => other.to_string(),
        }
    }

    /// The operation that `local` rests at, or why it makes no sense.
    fn decode(
        &self,
        visible: Visible,
        local: &Local,
        values: &mut Values,
    ) -> Result<Next<Local>, String> {
        let args = &local.stack[local.stack.len() - visible.arity()..];
        let objects = &self.code.objects;
        let op = match visible {
            Visible::Isend { src, tag } => Op::Isend {
                mailbox: MailboxId(number(&args[0])),
                envelope: envelope(&args[2..], src, tag),
                value: values.intern(args[1].clone()),
            },
            Visible::Irecv { src, tag } => Op::Irecv {
                mailbox: MailboxId(number(&args[0])),
                pattern: envelope(&args[1..], src, tag),
            },
            Visible::Wait => Op::WaitAny([comm(&args[0])].into()),
            Visible::Test => Op::TestAny([comm(&args[0])].into()),
            Visible::WaitAny | Visible::TestAny => {
                let comms: Box<[Handle]> = operators::list(&args[0]).iter().map(comm).collect();
                if comms.is_empty() {
                    return Err("waits for one of no communications".to_owned());
                }
                if visible == Visible::WaitAny { Op::WaitAny(comms) } else { Op::TestAny(comms) }
            }
            Visible::AsyncLock => {
                let mutex = MutexId(number(&args[0]));
                if local.books.mutex(mutex).is_some() {
                    let name = &objects.mutexes[mutex.index()];
                    return Err(format!(
                        "requests the mutex `{name}`, which it has requested already"
                    ));
                }
                Op::AsyncLock(mutex)
            }
            Visible::MutexWait => {
                Op::MutexWaitAny([self.request(local, &args[0], "waits for")?].into())
            }
            Visible::MutexTest => {
                Op::MutexTestAny([self.request(local, &args[0], "tests")?].into())
            }
            Visible::MutexWaitAny => {
                Op::MutexWaitAny(self.requests(local, &args[0], "waits for")?)
            }
            Visible::MutexTestAny => Op::MutexTestAny(self.requests(local, &args[0], "tests")?),
            Visible::Unlock => Op::Unlock(self.request(local, &args[0], "unlocks")?),
            Visible::AsyncAcquire => Op::AsyncAcquire(SemaphoreId(number(&args[0]))),
            Visible::AcquireWait => {
                let semaphore = SemaphoreId(number(&args[0]));
                let handle = local.books.semaphore(semaphore).ok_or_else(|| {
                    let name = &objects.semaphores[semaphore.index()].0;
                    format!("waits for the semaphore `{name}`, which it has not requested")
                })?;
                Op::AcquireWait { semaphore, handle }
            }
            Visible::Release => Op::Release(SemaphoreId(number(&args[0]))),
            Visible::Arrive => {
                let barrier = BarrierId(number(&args[0]));
                Op::Arrive { barrier, round: local.books.barrier(barrier).0 }
            }
            Visible::BarrierWait => {
                let barrier = BarrierId(number(&args[0]));
                let (arrived, passed) = local.books.barrier(barrier);
                if passed >= arrived {
                    let name = &objects.barriers[barrier.index()].0;
                    return Err(format!("waits at the barrier `{name}`, where it has not arrived"));
                }
                Op::BarrierWait { barrier, round: passed }
            }
            Visible::Read => Op::Access(CellId(number(&args[0])), Access::Read),
            Visible::Write => {
                access(args, |values, args| Access::Write(values.intern(args[1].clone())), values)
            }
            Visible::Swap => {
                access(args, |values, args| Access::Swap(values.intern(args[1].clone())), values)
            }
            Visible::FetchAdd => access(args, |_, args| Access::FetchAdd(args[1].int()), values),
            Visible::CompareAndSwap => access(
                args,
                |values, args| Access::CompareAndSwap {
                    old: values.intern(args[1].clone()),
                    new: values.intern(args[2].clone()),
                },
                values,
            ),
            Visible::Choose => choose(args[0].int(), args[1].int())?,
            Visible::Local => Op::Local,
            Visible::Spawn { process, .. } => {
                let mut path = local.path.clone();
                path.push((process, i64::from(local.books.spawned(process)) + 1));
                return Ok(Next::Spawn(self.start(path, args.to_vec())));
            }
            Visible::Join => match &args[0] {
                Value::Process(process) => Op::Join(*process),
                other => unreachable!("join of {other:?} in a checked program"),
            },
        };
        Ok(Next::Op(op))
    }

    fn request(&self, local: &Local, mutex: &Value, does: &str) -> Result<Request, String> {
        let mutex = MutexId(number(mutex));
        let handle = local.books.mutex(mutex).ok_or_else(|| {
            let name = &self.code.objects.mutexes[mutex.index()];
            format!("{does} the mutex `{name}`, which it has not requested")
        })?;
        Ok(Request { mutex, handle })
    }

    fn requests(
        &self,
        local: &Local,
        mutexes: &Value,
        does: &str,
    ) -> Result<Box<[Request]>, String> {
        operators::list(mutexes).iter().map(|mutex| self.request(local, mutex, does)).collect()
    }

    /// The value of a visible operation, given its arguments and what came of it; notes it in the books.
    fn value_of(
        &self,
        visible: Visible,
        args: &[Value],
        outcome: Outcome,
        values: &Values,
        books: &mut Books,
    ) -> Value {
        match outcome {
            Outcome::Unit => {
                note_done(visible, args, books);
                Value::Unit
            }
            Outcome::Posted(handle) => match visible {
                Visible::AsyncLock => {
                    books.requested(MutexId(number(&args[0])), handle);
                    Value::Unit
                }
                Visible::AsyncAcquire => {
                    books.asked(SemaphoreId(number(&args[0])), handle);
                    Value::Unit
                }
                _ => Value::Comm(handle),
            },
            Outcome::Completed { index, value } => {
                let value = values.get(value).clone();
                let completed = match (&args[0], visible) {
                    (Value::Comm(handle), _) => Some(*handle),
                    (Value::List(comms), Visible::WaitAny | Visible::TestAny) => {
                        Some(comm(&comms[index as usize]))
                    }
                    _ => None,
                };
                if let Some(handle) = completed.filter(|_| self.code.remembers_values) {
                    books.completed(handle, value.clone());
                }
                match visible {
                    Visible::Wait => value,
                    Visible::MutexWait => Value::Unit,
                    Visible::Test | Visible::MutexTest => Value::Bool(true),
                    _ => Value::Int(i64::from(index)),
                }
            }
            Outcome::Incomplete => match visible {
                Visible::Test | Visible::MutexTest => Value::Bool(false),
                _ => Value::Int(-1),
            },
            Outcome::Value(value) => values.get(value).clone(),
            Outcome::Chosen(n) => Value::Int(n),
            Outcome::Spawned(process) => {
                if let Visible::Spawn { process: template, .. } = visible {
                    books.count_spawn(template);
                }
                Value::Process(process)
            }
            Outcome::Overflow => unreachable!("an overflow is a failure"),
        }
    }

    fn step_name(&self, (declaration, number): (u32, i64)) -> String {
        let template = &self.processes[declaration as usize];
        match template.kind {
            Kind::Single => template.name.clone(),
            Kind::Family { .. } => format!("{}[{number}]", template.name),
            Kind::Template => format!("{}#{number}", template.name),
        }
    }
}

/// Notes what an operation that only happens has changed.
fn note_done(visible: Visible, args: &[Value], books: &mut Books) {
    match visible {
        Visible::Unlock => books.unlocked(MutexId(number(&args[0]))),
        Visible::AcquireWait => books.acquired(SemaphoreId(number(&args[0]))),
        Visible::Arrive => {
            let barrier = BarrierId(number(&args[0]));
            let (arrived, passed) = books.barrier(barrier);
            books.set_barrier(barrier, arrived + 1, passed);
        }
        Visible::BarrierWait => {
            let barrier = BarrierId(number(&args[0]));
            let (arrived, passed) = books.barrier(barrier);
            books.set_barrier(barrier, arrived, passed + 1);
        }
        _ => {}
    }
}

/// The number of an object.
fn number(value: &Value) -> u32 {
    value.int() as u32
}

fn comm(value: &Value) -> Handle {
    match value {
        Value::Comm(handle) => *handle,
        other => unreachable!("{other:?} as a communication in a checked program"),
    }
}

fn envelope(args: &[Value], src: bool, tag: bool) -> Envelope {
    let mut parts = args.iter().map(Value::int);
    Envelope {
        src: if src { parts.next() } else { None },
        tag: if tag { parts.next() } else { None },
    }
}

fn access(
    args: &[Value],
    how: impl Fn(&mut Values, &[Value]) -> Access,
    values: &mut Values,
) -> Op {
    Op::Access(CellId(number(&args[0])), how(values, args))
}

fn choose(lo: i64, hi: i64) -> Result<Op, String> {
    match hi.checked_sub(lo) {
        Some(1..=0x7fff_ffff) => Ok(Op::Choose { lo, hi }),
        Some(..=0) => Err(format!("chooses from the empty range {lo}..{hi}")),
        _ => Err(format!("chooses from {lo}..{hi}, which is more than 2147483647 values")),
    }
}

impl System for Program {
    type Local = Local;

    fn objects(&self) -> &Objects {
        &self.code.objects
    }

    fn initial(&self, _: &mut Values) -> Vec<Local> {
        let mut locals = Vec::new();
        for (declaration, template) in self.processes.iter().enumerate() {
            let declaration = declaration as u32;
            match template.kind {
                Kind::Single => {
                    locals.push(self.start(SmallVec::from_slice(&[(declaration, 0)]), Vec::new()));
                }
                Kind::Family { lo, hi } => {
                    for index in lo..hi {
                        let path = SmallVec::from_slice(&[(declaration, index)]);
                        locals.push(self.start(path, vec![Value::Int(index)]));
                    }
                }
                Kind::Template => {}
            }
        }
        locals
    }

    fn next(&self, local: &Local, values: &mut Values) -> Next<Local> {
        if let Some(failure) = &local.failure {
            return Next::Failed((**failure).clone());
        }
        match self.instr(local) {
            Instr::End => Next::Done,
            Instr::Visible(visible) => {
                self.decode(*visible, local, values).unwrap_or_else(|message| {
                    let site = Some(self.code.site(local.pc).clone());
                    Next::Failed(Failure { kind: FailureKind::Error, message, site })
                })
            }
            other => unreachable!("a process rests at {other:?}"),
        }
    }

    fn resume(&self, local: &Local, outcome: Outcome, values: &Values) -> Local {
        let Instr::Visible(visible) = *self.instr(local) else {
            unreachable!("{local:?} is not at an operation")
        };
        if outcome == Outcome::Overflow {
            let message = "overflow: the sum of `fetch_add` does not fit into 64 bits".to_owned();
            let site = Some(self.code.site(local.pc).clone());
            let failure = Failure { kind: FailureKind::Error, message, site };
            return Local { failure: Some(Arc::new(failure)), ..local.clone() };
        }
        let mut stack = local.stack.to_vec();
        let args = stack.split_off(stack.len() - visible.arity());
        let mut books = local.books.clone();
        let value = self.value_of(visible, &args, outcome, values, &mut books);
        stack.push(value);
        self.run(local.path.clone(), stack, local.pc + 1, books)
    }

    fn judge_final(
        &self,
        locals: &[Option<&Local>],
        cells: &[ValueId],
        values: &Values,
    ) -> Option<Failure> {
        self.code.finals.iter().find_map(|&entry| {
            let world = Whole { program: self, locals, cells, values };
            match Machine::new(&self.code, world, Vec::new(), entry).run() {
                Rest::Failed(failure) => Some(failure),
                _ => None,
            }
        })
    }

    fn has_final(&self) -> bool {
        !self.code.finals.is_empty()
    }

    fn process_name(&self, local: &Local) -> String {
        let qualified = self.processes[local.declaration() as usize].qualified;
        let steps = if qualified { &local.path[..] } else { &local.path[local.path.len() - 1..] };
        let names: Vec<_> = steps.iter().map(|&step| self.step_name(step)).collect();
        names.join("/")
    }

    fn site(&self, local: &Local) -> Option<Site> {
        match (&local.failure, self.instr(local)) {
            (Some(failure), _) => failure.site.clone(),
            (None, Instr::Visible(_)) => Some(self.code.site(local.pc).clone()),
            _ => None,
        }
    }

    fn variables(&self, local: &Local) -> Vec<(String, String)> {
        self.in_scope(local).map(|(name, value, _)| (name.to_owned(), self.show(value))).collect()
    }

    fn may_supply(&self, local: &Local, supply: Supply) -> bool {
        let &(declaration, index) = local.path.last().expect("a process has a declaration");
        self.supplies.contain(declaration, index, supply)
    }

    fn show_value(&self, value: &Value) -> String {
        self.show(value)
    }
}
