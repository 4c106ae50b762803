//! A system in pieces ([`Piece`]): what a process looks at, and what its steps change.
//!
//! A line is a piece, and its value is its code. A step of a process depends on its own line and on
//! those that its operation accesses ([`State::sees`]); a line that it changes is one that it looks
//! at. What an actor reacts to, and what a receive or a probe takes, are *parts* of what a process
//! can do: they look at different lines.
//!
//! A mutex that is not tried is locked in one step, when it is free: nobody sees the order in which
//! others ask for it. If a process that has asked for a mutex may do something else than wait for
//! it, or shows something new to `final` or an invariant once it has asked, the mutex is `queued`:
//! asking and waiting are two steps. It is, too, if the list says so.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::Refused;
use super::walk::has_meaning;
use crate::model::{
    Action, Choice, Handled, Incident, LocalId, Locals, MailboxId, MutexId, Object, Op, Parts,
    Piece, ProcessId, State, Status, Stimulus, System,
};

/// A piece, by its number.
pub(super) type Line = u32;
/// The value of a piece.
pub(super) type Code = u32;
/// Lines with codes.
pub(super) type Codes = SmallVec<[(Line, Code); 4]>;

/// The code of a process that was started and has ended, so that nobody can ask for its variables:
/// `final` and invariants name only processes that exist from the start.
const GONE: Code = u32::MAX;

/// More states of processes that wait in loops are not looked at.
const MAX_WAITING: usize = 1 << 12;

/// What a process can do that depends on the same lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Whole,
    /// A reaction of an actor.
    Reaction(Stimulus),
    /// To take a message of this sender, at this mailbox.
    Message(MailboxId, Option<ProcessId>),
    /// To find no message at this mailbox, or to drop a receive that is no longer wanted.
    Nothing(MailboxId),
}

/// A step of a process: one action, or two if it locks a mutex.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) actions: SmallVec<[Action; 2]>,
    /// The code of its own line afterwards.
    pub(super) own: Code,
    /// The other lines that it changes, with their codes afterwards.
    pub(super) changes: Codes,
}

/// What is known of a process that has looked at some lines.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// It looks at this line next.
    Look(Line),
    /// It can do this.
    Steps(Vec<Made>),
}

/// The system at a state.
pub(super) struct Pieces<'s, S: System> {
    pub(super) locals: Locals<'s, S>,
    pub(super) state: State,
    parts: Parts,
    lines: FxHashMap<Piece, Line>,
    pub(super) pieces: Vec<Piece>,
    /// The mutexes, by their declared numbers, that are not locked in one step.
    queued: BTreeSet<u32>,
}

impl<'s, S: System> Pieces<'s, S> {
    /// The initial state.
    pub(super) fn new(system: &'s S, queued: BTreeSet<u32>) -> Self {
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        let parts = Parts::of(system.objects());
        let (lines, pieces) = (FxHashMap::default(), Vec::new());
        Pieces { locals, state, parts, lines, pieces, queued }
    }

    /// The number of a piece.
    pub(super) fn line(&mut self, piece: Piece) -> Line {
        *self.lines.entry(piece).or_insert_with(|| {
            self.pieces.push(piece);
            self.pieces.len() as Line - 1
        })
    }

    /// The line of the process, or the carrier, that moves.
    pub(super) fn line_of(&mut self, process: ProcessId) -> Line {
        let piece = self.piece_of(process);
        self.line(piece)
    }

    fn piece_of(&self, process: ProcessId) -> Piece {
        let numbers = |owner| (0..).map(move |number| (owner, number));
        let carrier = |&(owner, number): &(ProcessId, u32)| self.state.carrier_of(owner, number);
        let mut carriers = self
            .state
            .program_processes()
            .flat_map(|owner| numbers(owner).take_while(|one| carrier(one).is_some()));
        let found = carriers.find(|one| carrier(one) == Some(process));
        found.map_or(Piece::Process(process), |(owner, number)| Piece::Carrier(owner, number))
    }

    /// Is it the line of what can move?
    pub(super) fn moves(&self, line: Line) -> bool {
        matches!(self.pieces[line as usize], Piece::Process(_) | Piece::Carrier(..))
    }

    /// The process or carrier of a line, if it exists here.
    fn process(&self, line: Line) -> Option<ProcessId> {
        match self.pieces[line as usize] {
            Piece::Process(process) => self.state.exists(process).then_some(process),
            Piece::Carrier(process, number) => self.state.carrier_of(process, number),
            _ => None,
        }
    }

    /// The local state of the process of a line.
    pub(super) fn local(&self, line: Line) -> Option<LocalId> {
        match self.pieces[line as usize] {
            Piece::Process(process) => {
                self.state.exists(process).then(|| self.state.local(process))
            }
            _ => None,
        }
    }

    /// Has the process of this line not ended?
    pub(super) fn is_unfinished(&self, line: Line) -> bool {
        let process = self.process(line);
        process.is_some_and(|process| self.state.is_unfinished(&self.locals, process))
    }

    /// The codes of all lines here; 0 for a line that has none yet.
    pub(super) fn codes(&mut self) -> Vec<Code> {
        let mut found = Vec::new();
        let each = |piece, code| found.push((piece, code));
        self.state.pieces(&mut self.locals, &mut self.parts, each);
        let mut codes = Vec::new();
        for (piece, code) in found {
            let line = self.line(piece) as usize;
            codes.resize(codes.len().max(line + 1), Parts::EMPTY);
            codes[line] = match piece {
                Piece::Process(process) if self.has_gone(process) => GONE,
                _ => code,
            };
        }
        codes
    }

    fn has_gone(&self, process: ProcessId) -> bool {
        let local = self.state.local(process);
        process.index() >= self.locals.initial().len()
            && *self.locals.status(local) == Status::Done
            && self.locals.returned(local).is_none()
    }

    /// The parts of what the process of a line can do.
    pub(super) fn parts_of(&self, line: Line) -> Vec<Part> {
        let Some(process) = self.process(line) else { return Vec::new() };
        if let Some((mailbox, _)) = self.state.takes(&self.locals, process) {
            let senders = (0..self.locals.initial().len() as u32).map(ProcessId).map(Some);
            let messages = senders.chain([None]).map(|sender| Part::Message(mailbox, sender));
            return messages.chain([Part::Nothing(mailbox)]).collect();
        }
        match self.locals.op(self.state.local(process)) {
            Some(Op::Handle { .. }) => {
                let (mut parts, mut known) = (Vec::new(), FxHashSet::default());
                self.state.choices(&self.locals, process, |choice| {
                    let stimulus = self.state.stimulus(choice);
                    parts.extend(known.insert(stimulus).then_some(Part::Reaction(stimulus)));
                });
                parts
            }
            _ => vec![Part::Whole],
        }
    }

    /// The part to which an enabled action belongs.
    pub(super) fn part_of(&self, Action { process, choice }: Action) -> Part {
        if let Some((mailbox, _)) = self.state.takes(&self.locals, process) {
            return match choice.handled() {
                Handled::Message(_) => Part::Message(mailbox, self.sender(choice)),
                Handled::Internal(_) => Part::Nothing(mailbox),
            };
        }
        match self.locals.op(self.state.local(process)) {
            Some(Op::Handle { .. }) => Part::Reaction(self.state.stimulus(choice)),
            _ => Part::Whole,
        }
    }

    /// The sender of the message that this choice takes, if it exists from the start.
    fn sender(&self, choice: Choice) -> Option<ProcessId> {
        let Handled::Message(id) = choice.handled() else { return None };
        let send = self.state.network().position(id).expect("a message that was sent");
        State::sender(&self.locals, self.state.network().sends()[send as usize].process)
    }

    /// What the process of a line can do here, of this part, after it has looked at these lines.
    /// The state is the same afterwards.
    pub(super) fn go_on(
        &mut self,
        line: Line,
        part: Part,
        looked: &[Line],
    ) -> Result<Known, Refused> {
        let Some(process) = self.process(line) else { return Ok(Known::Steps(Vec::new())) };
        let object = |mailbox| Piece::Object(Object::Mailbox(mailbox));
        let sees: SmallVec<[Piece; 2]> = match part {
            Part::Whole => self.state.sees(&self.locals, process),
            Part::Reaction(_) => SmallVec::new(),
            Part::Message(mailbox, sender) => {
                let messages = Piece::Messages(mailbox, sender);
                match self.state.unmatched(&self.locals, mailbox, sender).is_empty() {
                    true => smallvec![messages],
                    false => smallvec![messages, object(mailbox)],
                }
            }
            Part::Nothing(mailbox) => smallvec![object(mailbox)],
        };
        for piece in sees {
            let line = self.line(piece);
            if !looked.contains(&line) {
                return Ok(Known::Look(line));
            }
        }
        let mut steps: Vec<Made> = Vec::new();
        for actions in self.ways(process, part)? {
            let (made, new) = self.step(line, actions)?;
            let is_unseen =
                |&&(line, _): &&(Line, Code)| !looked.contains(&line) && !new.contains(&line);
            if let Some(&(line, _)) = made.changes.iter().find(is_unseen) {
                return Ok(Known::Look(line));
            }
            let is_same = |one: &Made| (one.own, &one.changes) == (made.own, &made.changes);
            // Messages that are equal are one choice.
            if part == Part::Whole || !steps.iter().any(is_same) {
                steps.push(made);
            }
        }
        Ok(Known::Steps(steps))
    }

    /// The ways to go on of this part, each with its actions.
    fn ways(
        &mut self,
        process: ProcessId,
        part: Part,
    ) -> Result<Vec<SmallVec<[Action; 2]>>, Refused> {
        let mut choices = Vec::new();
        self.state.choices(&self.locals, process, |choice| {
            let action = Action { process, choice };
            choices.extend((self.part_of(action) == part).then_some(action));
        });
        if matches!(part, Part::Reaction(_)) {
            choices.truncate(1);
        }
        let mutex = self.asks(process);
        if let Some(mutex) = mutex {
            self.expect_wait(process, mutex)?;
            choices.retain(|_| self.state.mutex(mutex).owner().is_none());
        }
        let wait = mutex.map(|_| Action { process, choice: Choice::ONLY });
        Ok(choices
            .into_iter()
            .map(|action| [Some(action), wait].into_iter().flatten().collect())
            .collect())
    }

    /// The mutex that the process is about to lock in one step.
    pub(super) fn asks(&self, process: ProcessId) -> Option<MutexId> {
        match self.locals.op(self.state.local(process))? {
            &Op::AsyncLock(mutex) => {
                let is_tried = self.state.mutex(mutex).is_tried();
                (!is_tried && !self.queued.contains(&self.declared(mutex))).then_some(mutex)
            }
            _ => None,
        }
    }

    fn declared(&self, mutex: MutexId) -> u32 {
        self.locals.objects().mutexes.declared(mutex.0)
    }

    /// Refuses a process that asks for the mutex, and does something else than wait for it next, or
    /// shows something new to `final` or an invariant while it waits.
    fn expect_wait(&mut self, process: ProcessId, mutex: MutexId) -> Result<(), Refused> {
        let before = self.state.local(process);
        self.state.step(&mut self.locals, Action { process, choice: Choice::ONLY });
        let shows = self.locals.shows(process, [before, self.state.local(process)]);
        let waits = match self.locals.op(self.state.local(process)) {
            Some(Op::MutexWaitAny(requests)) => {
                matches!(requests[..], [request] if request.mutex == mutex)
            }
            _ => false,
        };
        self.state.undo(&self.locals);
        match waits && !shows {
            true => Ok(()),
            false => Err(self.queue(mutex)),
        }
    }

    /// From the start again: this mutex is not locked in one step.
    pub(super) fn queue(&self, mutex: MutexId) -> Refused {
        Refused { queued: Some(self.declared(mutex)), ..Refused::new("a mutex is queued for") }
    }

    /// Carries out these actions.
    pub(super) fn carry_out(&mut self, actions: &[Action]) -> Result<(), Refused> {
        for &action in actions {
            let mut is_enabled = false;
            self.state.choices(&self.locals, action.process, |choice| {
                is_enabled |= choice == action.choice;
            });
            if !is_enabled {
                return Err(Refused::new("a step needs one that it does not come after"));
            }
            self.state.step(&mut self.locals, action);
            has_meaning(&mut self.locals, &self.state, action.process)?;
        }
        Ok(())
    }

    /// What these actions of the process of a line change, and the lines of the processes that they
    /// start. The state is the same afterwards.
    pub(super) fn step(
        &mut self,
        line: Line,
        actions: SmallVec<[Action; 2]>,
    ) -> Result<(Made, SmallVec<[Line; 2]>), Refused> {
        let (depth, before) = (self.state.depth(), self.codes());
        self.carry_out(&actions)?;
        let after = self.codes();
        let code = |codes: &[Code], line: Line| codes.get(line as usize).copied().unwrap_or(0);
        let all = 0..after.len().max(before.len()) as Line;
        let changed = all.filter(|&at| at != line && code(&before, at) != code(&after, at));
        let changes: Codes = changed.map(|at| (at, code(&after, at))).collect();
        let children: SmallVec<[ProcessId; 2]> = self.state.just_spawned(&self.locals).collect();
        let children = children.into_iter().filter(|&child| !self.state.is_carrier(child));
        let children: SmallVec<[ProcessId; 2]> = children.collect();
        let new = children.into_iter().map(|child| self.line(Piece::Process(child))).collect();
        self.back_to(depth);
        Ok((Made { actions, own: code(&after, line), changes }, new))
    }

    /// Lets all that ask for a mutex that is not free do so.
    pub(super) fn settle(&mut self) {
        for process in self.state.processes().collect::<Vec<_>>() {
            if let Some(mutex) = self.asks(process)
                && self.state.mutex(mutex).owner().is_some()
            {
                self.state.step(&mut self.locals, Action { process, choice: Choice::ONLY });
            }
        }
    }

    /// Undoes all but the first actions.
    pub(super) fn back_to(&mut self, depth: usize) {
        while self.state.depth() > depth {
            self.state.undo(&self.locals);
        }
    }

    /// Do all processes that can move go round, and come back to here whatever they do? Not if one
    /// of them can end or be blocked, or make a step that changes an object or more than its own
    /// line.
    pub(super) fn goes_round(&mut self) -> Result<bool, Refused> {
        let start = self.state.depth();
        let mut numbers: FxHashMap<Vec<Code>, usize> = FxHashMap::default();
        // The numbers of the states on the way, and for each state those directly before it.
        let (mut way, mut before): (Vec<usize>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        let mut open: Vec<(usize, Option<Action>)> = vec![(start, None)];
        let mut goes_round = true;
        while goes_round && let Some((depth, action)) = open.pop() {
            self.back_to(depth);
            way.truncate(depth + 1 - start);
            self.carry_out(action.as_slice())?;
            let codes = self.codes();
            let number = *numbers.entry(codes.clone()).or_insert(before.len());
            if number == before.len() {
                let mut enabled = Vec::new();
                self.state.enabled(&self.locals, &mut enabled);
                enabled.retain(|&action| !self.is_fault(action));
                goes_round = !enabled.is_empty();
                for action in enabled {
                    goes_round = goes_round && self.only_looks(action, &codes)?;
                    open.push((self.state.depth(), Some(action)));
                }
                before.push(Vec::new());
            }
            if before.len() > MAX_WAITING {
                return Err(Refused::new("processes wait in too many ways"));
            }
            before[number].extend(action.and(way.last()));
            way.push(number);
        }
        self.back_to(start);
        let (mut leads_back, mut open) = (FxHashSet::default(), vec![0]);
        while let Some(number) = open.pop() {
            if leads_back.insert(number) {
                open.extend(&before[number]);
            }
        }
        Ok(goes_round && leads_back.len() == before.len())
    }

    /// Does this action change nothing but the line of its process? These are the codes before it.
    fn only_looks(&mut self, action: Action, before: &[Code]) -> Result<bool, Refused> {
        let (depth, line) = (self.state.depth(), self.line_of(action.process) as usize);
        self.carry_out(&[action])?;
        let after = self.codes();
        // To write what is there, or to take a message and send the same, is a change, too.
        let is_observation = self.state.effect(&self.locals).is_observation();
        self.back_to(depth);
        let code = |codes: &[Code], at: usize| codes.get(at).copied().unwrap_or(0);
        let all = 0..before.len().max(after.len());
        Ok(is_observation
            && all.into_iter().all(|at| at == line || code(before, at) == code(&after, at)))
    }

    /// Is it a fault?
    fn is_fault(&self, Action { process, choice }: Action) -> bool {
        let incident = self.locals.incident(self.state.local(process), choice);
        incident.is_some_and(Incident::is_fault)
    }
}
