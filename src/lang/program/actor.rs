//! Actors: selects the handler for a stimulus, runs it, and runs `init`.
//!
//! A handler runs on a copy of the actor's variables, with the values that the message carries on
//! top. The variables at its end are the actor's next local state. The rest of the stack is
//! dropped, so that equal variables give equal local states. Messages and new actors go to the
//! [`Outbox`] at once, so messages that a handler sends before it fails are sent.

use std::sync::Arc;

use super::{Local, Path, Program};
use crate::lang::books::Books;
use crate::lang::code::{Handler, Instr};
use crate::lang::diagnostic::Diagnostic;
use crate::lang::interpret::{Machine, Rest, World};
use crate::model::{Failure, Outbox, ProcessId, Site, Stimulus, Value, Values};

/// The handler that runs for a stimulus.
pub(super) struct Selected<'p> {
    handler: &'p Handler,
    /// The values that the message carries.
    args: &'p [Value],
    /// The failure of its guard, if it fails. It is a violation of the actor when the actor takes
    /// the message.
    failure: Option<Failure>,
}

impl Selected<'_> {
    /// The entry of the handler's code.
    pub(super) fn entry(&self) -> u32 {
        self.handler.entry
    }
}

/// The world of a guard: only `self`, if the actor is known.
struct GuardWorld(Option<ProcessId>);

impl World for GuardWorld {
    type Value = Value;

    fn myself(&self) -> Option<ProcessId> {
        self.0
    }
}

/// The world of a handler or of `init`.
struct HandlerWorld<'a> {
    program: &'a Program,
    own: Option<ProcessId>,
    path: Option<&'a Path>,
    books: Books,
    outbox: &'a mut dyn Outbox<Local>,
}

impl World for HandlerWorld<'_> {
    type Value = Value;

    /// Messages and actors of a handler are stored, which takes about 8 times as long as a local
    /// step. `init` has its own bound, [`MAX_BEGINNING`].
    fn effort(&self) -> u32 {
        self.own.map_or(0, |_| 8)
    }

    fn myself(&self) -> Option<ProcessId> {
        self.own
    }

    fn send(&mut self, to: ProcessId, message: Value) {
        self.outbox.send(to, message);
    }

    fn create(&mut self, template: u32, args: Vec<Value>) -> ProcessId {
        let path = Path::new(self.path, (template, i64::from(self.books.spawned(template)) + 1));
        self.books.count_spawn(template);
        self.outbox.spawn(self.program.start(path, args))
    }
}

/// The most messages that `init` may send, and the most actors that it may spawn.
const MAX_BEGINNING: usize = 10_000;

/// The effect of `init` so far.
struct InitEffect {
    /// The id of the next actor.
    next: u32,
    born: Vec<Local>,
    sent: Vec<(ProcessId, Value)>,
    /// The number of actors and messages beyond the bound, which are not stored.
    surplus: usize,
}

impl Outbox<Local> for InitEffect {
    fn send(&mut self, to: ProcessId, message: Value) {
        match self.sent.len() {
            ..MAX_BEGINNING => self.sent.push((to, message)),
            _ => self.surplus += 1,
        }
    }

    fn spawn(&mut self, actor: Local) -> ProcessId {
        match self.born.len() {
            ..MAX_BEGINNING => self.born.push(actor),
            _ => self.surplus += 1,
        }
        self.next += 1;
        ProcessId(self.next - 1)
    }
}

impl Program {
    /// The number of processes and actors that exist from the start, without those that `init`
    /// spawns.
    fn declared(&self) -> u32 {
        self.processes.last().map_or(0, |last| last.first + last.kind.instances())
    }

    /// Runs the `init` blocks. They depend only on constants, so they have one result.
    ///
    /// # Errors
    /// If one fails, or sends or spawns too much.
    pub(in crate::lang) fn initialise(&mut self) -> Result<(), Diagnostic> {
        let (next, born, sent) = (self.declared(), Vec::new(), Vec::new());
        let mut done = InitEffect { next, born, sent, surplus: 0 };
        let mut books = Books::default();
        for &entry in &self.code.inits {
            let outbox = &mut done;
            let world = HandlerWorld { program: self, own: None, path: None, books, outbox };
            let mut machine = Machine::new(&self.code, world, Vec::new(), entry);
            if let Rest::Failed(failure) = self.carry_out(&mut machine) {
                return Err(self.init_failed(failure));
            }
            books = machine.world.books;
            if done.surplus > 0 {
                return Err(self.init_overdoes(entry));
            }
        }
        (self.born, self.sent) = (done.born, done.sent);
        Ok(())
    }

    fn init_failed(&self, failure: Failure) -> Diagnostic {
        let same = |site: &Site| Some(site) == failure.site.as_ref();
        let found = self.code.sites.iter().position(same).expect("a failure has its place");
        let diagnostic = Diagnostic::error(self.code.spans[found], failure.message);
        diagnostic.label("`init` fails here, so there is no initial state")
    }

    fn init_overdoes(&self, entry: u32) -> Diagnostic {
        let span = self.code.spans[self.code.site_of[entry as usize] as usize];
        let label = format!(
            "it may send at most {MAX_BEGINNING} messages and spawn at most {MAX_BEGINNING} actors"
        );
        let diagnostic = Diagnostic::error(span, "`init` sends or spawns too much");
        diagnostic.label(label).hint(
            "pending messages can be handled in any order: no search can explore so many orders",
        )
    }

    /// May some actor not accept a message, because of a guard or a missing handler?
    pub(super) fn may_refuse(&self) -> bool {
        self.code.actors.iter().any(|actor| {
            let lacks = |message: &u32| !actor.messages.contains_key(message);
            let mut handlers = actor.messages.values().flatten();
            self.sent_blindly.iter().any(lacks) || handlers.any(|handler| handler.guard.is_some())
        })
    }

    /// The handlers for a stimulus, and the values that the message carries.
    fn candidates<'p>(
        &'p self,
        local: &Local,
        stimulus: Stimulus,
        values: &'p Values,
    ) -> (&'p [Handler], &'p [Value]) {
        let Instr::Handle(actor) = *self.instr(local) else { return (&[], &[]) };
        let actor = &self.code.actors[actor as usize];
        match stimulus {
            Stimulus::Internal(number) => {
                (std::slice::from_ref(&actor.internals[number as usize]), &[])
            }
            Stimulus::Message(message) => match values.get(message) {
                Value::Message { name, args } => {
                    (actor.messages.get(name).map_or(&[], Vec::as_slice), args)
                }
                other => unreachable!("{other:?} as a message in a checked program"),
            },
        }
    }

    /// The first handler for the stimulus that has no guard, or one that holds or fails.
    pub(super) fn taken<'p>(
        &'p self,
        local: &Local,
        own: Option<ProcessId>,
        stimulus: Stimulus,
        values: &'p Values,
    ) -> Option<Selected<'p>> {
        let (handlers, args) = self.candidates(local, stimulus, values);
        handlers.iter().find_map(|handler| {
            let runs = Selected { handler, args, failure: None };
            let Some(guard) = handler.guard else { return Some(runs) };
            let stack = [&local.stack, args].concat();
            let mut machine = Machine::new(&self.code, GuardWorld(own), stack, guard);
            match self.carry_out(&mut machine) {
                Rest::Failed(failure) => Some(Selected { failure: Some(failure), ..runs }),
                Rest::End if machine.stack.last() == Some(&Value::Bool(false)) => None,
                // An unknown guard may hold.
                Rest::End | Rest::Unknown => Some(runs),
                Rest::Visible => unreachable!("a guard rests"),
            }
        })
    }

    /// Runs the handler for an accepted stimulus, and returns the next local state.
    pub(super) fn react(
        &self,
        local: &Local,
        own: ProcessId,
        stimulus: Stimulus,
        values: &Values,
        outbox: &mut dyn Outbox<Local>,
    ) -> Local {
        let taken = self.taken(local, Some(own), stimulus, values);
        let Selected { handler, args, failure } = taken.expect("an accepted stimulus");
        match failure {
            Some(failure) => Local { failure: Some(Arc::new(failure)), ..local.clone() },
            None => self.run_handler(local, own, handler, args, outbox),
        }
    }

    fn run_handler(
        &self,
        local: &Local,
        own: ProcessId,
        handler: &Handler,
        args: &[Value],
        outbox: &mut dyn Outbox<Local>,
    ) -> Local {
        let Local { path, books, .. } = local;
        let (path, books) = (Some(path), books.clone());
        let world = HandlerWorld { program: self, own: Some(own), path, books, outbox };
        let stack = [&local.stack, args].concat();
        let mut machine = Machine::new(&self.code, world, stack, handler.entry);
        let failure = match self.carry_out(&mut machine) {
            Rest::End => None,
            Rest::Failed(failure) => Some(Arc::new(failure)),
            rest => unreachable!("a handler comes to {rest:?}"),
        };
        let (mut stack, mut pc) = (machine.stack, machine.pc);
        if failure.is_none() {
            stack.truncate(local.stack.len());
            // An actor that has crashed rests where its handler has ended.
            if self.code.crashed.binary_search(&pc).is_err() {
                pc = local.pc;
            }
        }
        let (path, books) = (local.path.clone(), machine.world.books);
        Local { path, pc, stack: stack.into(), books, failure }
    }

    /// The handler that the stimulus runs.
    pub(super) fn handler<'p>(
        &'p self,
        local: &Local,
        stimulus: Stimulus,
        values: &'p Values,
    ) -> Option<&'p Handler> {
        let taken = self.taken(local, self.static_id(local), stimulus, values);
        taken.map(|taken| taken.handler)
    }

    /// The site of the handler for the stimulus; if no guard holds, of the first candidate.
    pub(super) fn site_of_handler(
        &self,
        local: &Local,
        stimulus: Stimulus,
        values: &Values,
    ) -> Option<Site> {
        let first = || self.candidates(local, stimulus, values).0.first();
        let handler = self.handler(local, stimulus, values).or_else(first)?;
        Some(self.code.sites[handler.site as usize].clone())
    }

    /// The id of an actor that is declared to exist from the start; `None` for a spawned one.
    fn static_id(&self, local: &Local) -> Option<ProcessId> {
        let (declaration, index) = local.path.only()?;
        let family = &self.code.families[declaration as usize];
        let offset =
            u32::try_from(index - family.lo).ok().filter(|&offset| offset < family.count)?;
        Some(ProcessId(family.first + offset))
    }

    /// The text of a reference: the name of the actor if it is known, otherwise its number.
    pub(super) fn show_reference(&self, process: ProcessId) -> String {
        let ProcessId(id) = process;
        let born = id.checked_sub(self.declared());
        let found = self.processes.iter().enumerate().find(|(_, template)| {
            (template.first..template.first + template.kind.instances()).contains(&id)
        });
        if let Some((declaration, template)) = found {
            let index = self.code.families[declaration].lo + i64::from(id - template.first);
            return self.link_name((declaration as u32, index));
        }
        match born.and_then(|born| self.born.get(born as usize)) {
            Some(local) => crate::model::Describe::process_name(self, local),
            None if self.processes.iter().all(|template| template.is_actor) => {
                format!("actor {id}")
            }
            None => Value::Process(process).to_string(),
        }
    }
}
