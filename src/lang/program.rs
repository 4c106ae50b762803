//! A compiled program as a [`System`].

mod actor;
mod canonical;
mod collective;
mod describe;
mod finale;
mod foresight;
mod invariant;
mod liveness;
mod operation;
mod path;
mod symmetry;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::books::Books;
use super::check::{Enum, Instantiation};
use super::code::{Code, Instr};
use super::coverage::Reached;
use super::diagnostic::{Diagnostic, Diagnostics, listed, nearest};
use super::expectation::Expectation;
use super::interpret::{Fault, Machine, Rest, World};
use super::prospect::Touches;
use super::symmetry::Found;
use crate::model::Semantics;
use crate::model::flow::Flow;
use crate::model::{
    Actors, CellId, Contents, Delivery, Describe, Failure, FailureKind, Finale, Foresight, Handle,
    Invariants, Liveness, MailboxId, Names, Next, Objects, Op, Outbox, Polls, ProcessId, Response,
    Stimulus, System, Value, Values,
};
pub(super) use operation::MAX_CHOICES;
use path::Path;

/// A compiled program, which runs as a [`System`].
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) code: Code,
    pub(super) processes: Vec<Template>,
    pub(super) flows: Vec<Flow>,
    pub(super) enums: Vec<Enum>,
    pub(super) constants: Vec<(String, Value)>,
    pub(super) expectations: Vec<Expectation>,
    pub(super) warnings: Diagnostics,
    /// For each declaration of a process or an actor, what its instances may access.
    pub(super) touches: Vec<Touches>,
    /// May a process unlock a mutex that it does not own yet (cancel its request)?
    pub(super) may_cancel: bool,
    pub(super) messages: Vec<String>,
    /// The messages that are sent somewhere to a target that is not known to have a handler for
    /// them.
    pub(super) sent_blindly: BTreeSet<u32>,
    /// The actors that `init` has spawned.
    pub(super) born: Vec<Local>,
    /// The messages that `init` has sent.
    pub(super) sent: Vec<(ProcessId, Value)>,
    /// The code that was run so far, if the program is observed.
    pub(super) reached: Option<Reached>,
    /// Which processes differ only in their index, once somebody has asked.
    pub(super) symmetry: OnceLock<Found>,
}

/// A declaration of a process or an actor.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(crate) name: String,
    pub(crate) kind: Instantiation,
    /// The id of the first instance.
    pub(crate) first: u32,
    /// May several processes spawn it? Then names of instances include the spawning process.
    pub(crate) qualified: bool,
    pub(crate) is_actor: bool,
    /// May an instance wait for ever?
    pub(crate) is_daemon: bool,
    /// The number of parameters of its body.
    pub(crate) params: u32,
}

/// The most parts of the name of a process: the beginning of a longer name is left out.
const MAX_LINKS: usize = 100;

impl Template {
    fn noun(&self) -> &'static str {
        if self.is_actor { "actor" } else { "process" }
    }
}

/// The local state of a process or actor of a compiled program.
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
        self.path.last().0
    }
}

/// The world of a process while it computes: only its own books.
struct OwnWorld<'b>(&'b Books);

impl World for OwnWorld<'_> {
    type Value = Value;

    fn received(&self, comm: Handle) -> Result<Value, Fault> {
        let unseen = || "value of a communication that was not seen complete".to_owned().into();
        self.0.received(comm).cloned().ok_or_else(unseen)
    }
}

/// The world of `final` and `invariant`: the whole state.
struct GlobalWorld<'a> {
    program: &'a Program,
    locals: &'a [Option<&'a Local>],
    cells: Contents<'a>,
    lengths: &'a dyn Fn(MailboxId) -> usize,
    /// Has the execution ended? Then a process that has ended without declaring a variable is a
    /// violation, not an unknown value.
    is_end: bool,
}

impl World for GlobalWorld<'_> {
    type Value = Value;

    fn length(&self, mailbox: u32) -> i64 {
        (self.lengths)(MailboxId(mailbox)) as i64
    }

    fn cell(&self, cell: u32) -> Value {
        (self.cells)(CellId(cell))
    }

    fn variable(&self, process: u32, instance: i64, name: &str) -> Result<Value, Fault> {
        let template = &self.program.processes[process as usize];
        let first = match template.kind {
            Instantiation::Family { lo, .. } => lo,
            _ => 0,
        };
        let offset = instance.checked_sub(first).and_then(|offset| u32::try_from(offset).ok());
        let Some(offset) = offset.filter(|&offset| offset < template.kind.instances()) else {
            let (noun, name) = (template.noun(), &template.name);
            return Err(format!("there is no {noun} {name}[{instance}]").into());
        };
        let local =
            self.locals[(template.first + offset) as usize].expect("a static process exists");
        self.program.top_level(local, name).cloned().ok_or_else(|| {
            // A process that has not ended may have failed, or may not have declared the variable
            // yet.
            match self.is_end && self.program.has_ended(local) {
                true => format!("the process ended before it declared `{name}`").into(),
                false => Fault::Unknown,
            }
        })
    }
}

impl Program {
    /// A program of this code and nothing else.
    pub(super) fn new(code: Code, processes: Vec<Template>, may_cancel: bool) -> Program {
        let touches = std::iter::zip(&code.processes, &processes)
            .map(|(&entry, process)| Touches::new(entry, process.params, process.kind))
            .collect();
        Program {
            code,
            processes,
            flows: Vec::new(),
            enums: Vec::new(),
            constants: Vec::new(),
            expectations: Vec::new(),
            warnings: Diagnostics::default(),
            touches,
            may_cancel,
            messages: Vec::new(),
            sent_blindly: BTreeSet::new(),
            born: Vec::new(),
            sent: Vec::new(),
            reached: None,
            symmetry: OnceLock::new(),
        }
    }

    /// The constants that can be set from outside (integers, bools and variants), in order of
    /// declaration.
    pub fn constants(&self) -> impl Iterator<Item = (&str, &Value)> {
        let plain =
            |value: &Value| matches!(value, Value::Int(_) | Value::Bool(_) | Value::Variant { .. });
        self.constants
            .iter()
            .filter(move |(_, v)| plain(v))
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The control flow of processes, procedures, actors and `init`, in order of declaration.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The expectations in the `//@` lines of the file.
    pub fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }

    /// The warnings about the file.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Records from now on which code is run: see [`unreached`](Program::unreached).
    pub fn observed(mut self) -> Program {
        self.reached = Some(Reached::nothing_of(&self.code));
        // It did not fail when the program was compiled.
        self.initialise().unwrap_or_else(|_| unreachable!("`init` has the same result each time"));
        self
    }

    /// Runs a machine until it comes to rest, and records what it reaches if the program is
    /// observed.
    fn carry_out<W: World>(&self, machine: &mut Machine<'_, W>) -> Rest {
        match &self.reached {
            None => machine.run(),
            Some(reached) => reached.run(&self.code, machine),
        }
    }

    /// The index of an instance of a family; 0 for other processes.
    fn index_of(&self, local: &Local) -> i64 {
        let (declaration, index) = local.path.last();
        match self.processes[declaration as usize].kind {
            Instantiation::Family { .. } => index,
            Instantiation::Single | Instantiation::Template => 0,
        }
    }

    /// Sets the MPI semantics with which the program runs.
    pub fn set_semantics(&mut self, semantics: Semantics) {
        self.code.objects.max_polls = Polls(semantics.max_polls);
        self.code.objects.may_end_late = semantics.are_ends_open() && self.uses_network();
        self.code.semantics = semantics;
    }

    /// Declares all instances of these processes as daemons, which may wait for ever.
    ///
    /// # Errors If the program does not declare a process with one of these names.
    pub fn allow_daemons(&mut self, names: &[String]) -> Result<(), Diagnostic> {
        for name in names {
            let mut processes = self.processes.iter_mut().filter(|process| !process.is_actor);
            match processes.find(|process| process.name == *name) {
                Some(process) => process.is_daemon = true,
                None => return Err(self.no_process(name)),
            }
        }
        Ok(())
    }

    fn no_process(&self, name: &str) -> Diagnostic {
        let processes = self.processes.iter().filter(|process| !process.is_actor);
        let names: Vec<_> = processes.map(|process| process.name.as_str()).collect();
        let hint = nearest(name, names.iter().copied()).unwrap_or_else(|| match names[..] {
            [] => "the file declares no processes".into(),
            _ => format!("its processes are {}", listed(&names)),
        });
        let message = format!("--allow daemons={name}: the file has no process `{name}`");
        Diagnostic::outside(message).hint(hint)
    }

    /// Can the MPI semantics matter? False if the program has neither p2p or bag mailboxes nor
    /// collectives.
    pub fn uses_network(&self) -> bool {
        let objects = &self.code.objects;
        let mut mailboxes = 0..objects.mailboxes.len() as u32;
        !objects.collectives.is_empty()
            || mailboxes.any(|id| *objects.mailboxes.start(id) != Delivery::Ordered)
    }

    /// Has the process run its last statement, or returned? Not if it has crashed.
    fn has_ended(&self, local: &Local) -> bool {
        matches!(self.instr(local), Instr::End)
            && self.code.crashed.binary_search(&local.pc).is_err()
    }

    fn instr(&self, local: &Local) -> &Instr {
        &self.code.instrs[local.pc as usize]
    }

    /// The local state of a process that starts with these arguments, at its first visible
    /// operation.
    fn start(&self, path: Path, args: Vec<Value>) -> Local {
        let pc = self.code.processes[path.last().0 as usize];
        self.run(path, args, pc, Books::default())
    }

    fn run(&self, path: Path, stack: Vec<Value>, pc: u32, mut books: Books) -> Local {
        let mut machine = Machine::new(&self.code, OwnWorld(&books), stack, pc);
        let failure = match self.carry_out(&mut machine) {
            Rest::Visible | Rest::End => None,
            Rest::Failed(failure) => Some(Arc::new(failure)),
            Rest::Unknown => unreachable!("a process only reads known values"),
        };
        let (pc, stack) = (machine.pc, machine.stack);
        if self.code.remembers_values {
            books.forget_unnamed(&stack);
        }
        Local { path, pc, stack: stack.into(), books, failure }
    }

    /// Stack and books of a process after the response to its operation.
    fn after_response(
        &self,
        local: &Local,
        response: Response,
        values: &Values,
    ) -> Result<(Vec<Value>, Books), Failure> {
        let Instr::Visible(visible) = *self.instr(local) else {
            unreachable!("{local:?} is not at an operation")
        };
        let mut stack = local.stack.to_vec();
        let args = stack.split_off(stack.len() - visible.arity());
        let mut books = local.books.clone();
        let value = self.value_of(visible, &args, response, values, &mut books);
        let value = value.map_err(|message| {
            let site = Some(self.code.site(local.pc).clone());
            Failure { kind: FailureKind::Error, message, site }
        })?;
        stack.push(value);
        Ok((stack, books))
    }

    /// The variables in scope, innermost last: name, value, and whether it is in the outermost
    /// block.
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

    fn show(&self, value: &Value, names: Names<'_>) -> String {
        let all = |parts: &mut dyn Iterator<Item = &Value>| {
            parts.map(|part| self.show(part, names)).collect::<Vec<_>>().join(", ")
        };
        match value {
            Value::Variant { of, index } => match self.enums.get(*of as usize) {
                Some(of) => of.variants[*index as usize].clone(),
                None => value.to_string(),
            },
            Value::Tuple(parts) => format!("({})", all(&mut parts.iter())),
            Value::List(items) => format!("[{}]", all(&mut items.iter())),
            Value::Set(set) => format!("{{{}}}", all(&mut set.items().iter())),
            Value::Map(map) => {
                let show = |part| self.show(part, names);
                let entry = |(key, value)| format!("{}: {}", show(key), show(value));
                format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
            Value::Message { name, args } => match self.messages.get(*name as usize) {
                Some(name) => format!("{name}({})", all(&mut args.iter())),
                None => value.to_string(),
            },
            Value::Process(process) => {
                names(*process).unwrap_or_else(|| self.show_reference(*process))
            }
            other => other.to_string(),
        }
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
                Instantiation::Single => {
                    locals.push(self.start(Path::new(None, (declaration, 0)), Vec::new()));
                }
                Instantiation::Family { lo, hi } => {
                    for index in lo..hi {
                        let path = Path::new(None, (declaration, index));
                        locals.push(self.start(path, vec![Value::Int(index)]));
                    }
                }
                Instantiation::Template => {}
            }
        }
        locals.extend(self.born.iter().cloned());
        locals
    }

    fn next(&self, local: &Local, values: &mut Values) -> Next<Local> {
        if let Some(failure) = &local.failure {
            return Next::Failed((**failure).clone());
        }
        match self.instr(local) {
            Instr::End => Next::Done,
            Instr::Handle(actor) => {
                let internals = self.code.actors[*actor as usize].internals.len() as u32;
                Next::Op(Op::Handle { internals })
            }
            Instr::Visible(visible) => {
                self.decode(*visible, local, values).unwrap_or_else(|message| {
                    let site = Some(self.code.site(local.pc).clone());
                    Next::Failed(Failure { kind: FailureKind::Error, message, site })
                })
            }
            other => unreachable!("a process rests at {other:?}"),
        }
    }

    fn resume(&self, local: &Local, response: Response, values: &Values) -> Local {
        if response == Response::Overflow {
            let message = "overflow: the sum of `fetch_add` does not fit into 64 bits".to_owned();
            let site = Some(self.code.site(local.pc).clone());
            let failure = Failure { kind: FailureKind::Error, message, site };
            return Local { failure: Some(Arc::new(failure)), ..local.clone() };
        }
        match self.after_response(local, response, values) {
            Ok((stack, books)) => self.run(local.path.clone(), stack, local.pc + 1, books),
            Err(failure) => Local { failure: Some(Arc::new(failure)), ..local.clone() },
        }
    }

    fn is_daemon(&self, local: &Local) -> bool {
        self.processes[local.declaration() as usize].is_daemon
    }

    fn actors(&self) -> &dyn Actors<Local> {
        self
    }

    fn finale(&self) -> Option<&dyn Finale<Local>> {
        (!self.code.finals.is_empty()).then_some(self as &dyn Finale<Local>)
    }

    fn invariants(&self) -> Option<&dyn Invariants<Local>> {
        (!self.code.invariants.is_empty()).then_some(self as &dyn Invariants<Local>)
    }

    fn liveness(&self) -> Option<&dyn Liveness<Local>> {
        let has_demands = !self.code.liveness.demands.is_empty();
        has_demands.then_some(self as &dyn Liveness<Local>)
    }

    fn foresight(&self) -> &dyn Foresight<Local> {
        self
    }

    fn describe(&self) -> &dyn Describe<Local> {
        self
    }
}

impl Actors<Local> for Program {
    fn initial_messages(&self) -> Vec<(ProcessId, Value)> {
        self.sent.clone()
    }

    fn has_guards(&self) -> bool {
        self.may_refuse()
    }

    fn has_internals(&self) -> bool {
        self.code.actors.iter().any(|actor| !actor.internals.is_empty())
    }

    fn may_spawn(&self) -> bool {
        self.code.actors.iter().any(|actor| actor.may_spawn)
    }

    fn accepts(&self, local: &Local, own: ProcessId, stimulus: Stimulus, values: &Values) -> bool {
        self.taken(local, Some(own), stimulus, values).is_some()
    }

    fn handle(
        &self,
        local: &Local,
        own: ProcessId,
        stimulus: Stimulus,
        values: &Values,
        outbox: &mut dyn Outbox<Local>,
    ) -> Local {
        self.react(local, own, stimulus, values, outbox)
    }
}

impl Finale<Local> for Program {
    fn judge(&self, locals: &[Option<&Local>], cells: Contents<'_>, _: &Values) -> Option<Failure> {
        self.code.finals.iter().find_map(|&entry| {
            let world = self.at_the_end(locals, cells);
            match self.carry_out(&mut Machine::new(&self.code, world, Vec::new(), entry)) {
                Rest::Failed(failure) => Some(failure),
                _ => None,
            }
        })
    }

    fn readings(
        &self,
        locals: &[Option<&Local>],
        cells: Contents<'_>,
        _: &Values,
    ) -> Option<Vec<(String, Value)>> {
        self.readings(|| self.at_the_end(locals, cells))
    }

    fn sees_cell(&self, cell: CellId) -> bool {
        self.code.seen_by_finals.cells.iter().any(|range| range.contains(&cell.0))
    }

    fn tells(&self, _: ProcessId, before: &Local, after: &Local) -> bool {
        let reads = &self.code.seen_by_finals;
        // A variable that a process has not declared is a violation only if the process has ended.
        let is_unknown = self.has_ended(before) != self.has_ended(after)
            && self.reads_of(reads, before).any(|name| self.top_level(before, name).is_none());
        is_unknown || self.differ_for(reads, before, after)
    }
}
