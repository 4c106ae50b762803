//! A system as a net: its lines are the pieces of a state ([`Piece`]), its transitions are learned
//! from the model.
//!
//! The enabled transitions of a process, and their effects, depend on its own piece and on those
//! that its operation accesses ([`State::sees`]). Where a transition changes a further piece, that
//! piece is looked at, too, before it is learned again. So what is learned for some codes is right
//! wherever these codes occur together: this is the contract of [`Net`]. The explorers of states
//! memoise transitions in a similar way (`states/moves`).
//!
//! Choices that depend on different pieces are learned one by one: see `branches`. Mutexes that are
//! only locked and unlocked are taken in one step: see `locks`.
//!
//! **Processes that are started.** A new process is named by its parent and the number of those
//! that the parent has started. So a start in a loop leads to another line each time. The net takes
//! only programs where equal codes of the parent lead to the same line, which is checked at each
//! start.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

use super::kept::Kept;
use super::transitions::{Branch, Delay, How, Plan, Step};
use crate::model::{
    Action, Choice, CollectiveId, Entry, LocalId, Locals, Parts, Piece, ProcessId, State, Status,
    Stimulus, StopSignal, System,
};
use crate::property::process_failure;
use crate::unfolding::prefix::{Code, Line, Net, Next, Transition};

/// The code of a process that was started and has ended: nobody can ask for its variables, as
/// `final` and the invariants name only processes that exist from the start.
const GONE: Code = u32::MAX;

/// A look at a line, and what is known to follow, by the code seen there.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Line,
    pub(super) answers: FxHashMap<Code, Next>,
}

/// A system as a net.
pub(crate) struct ModelNet<'s, S: System> {
    pub(crate) locals: Locals<'s, S>,
    pub(crate) state: State,
    /// The transitions that led to the state of the model, with the number of actions after each.
    path: Vec<(u32, usize)>,
    parts: Parts,
    start: Vec<Code>,
    /// The line of each piece, and the other way round.
    lines: FxHashMap<Piece, Line>,
    pieces: Vec<Piece>,
    pub(super) first: FxHashMap<(Line, Code), Next>,
    pub(super) looks: Vec<Look>,
    pub(super) branches: Vec<Branch>,
    /// For each code of a process, a local state, and whether it is stuck if it cannot move.
    pub(super) local: FxHashMap<(Line, Code), (LocalId, bool)>,
    pub(super) transitions: Vec<Transition>,
    pub(super) steps: Vec<Step>,
    /// The number of actions of all of them.
    actions: u64,
    pub(super) plan: Plan,
    pub(super) must_start_again: bool,
    /// Are its lines the finest pieces?
    pub(super) is_fine: bool,
    /// The different entries in the rounds of collectives, and the owners of ranks.
    entries: FxHashMap<(CollectiveId, u32), Vec<Entry>>,
    owners: FxHashMap<(CollectiveId, u32), ProcessId>,
    is_refused: bool,
    stop: StopSignal,
    /// The codes in the state in which something is learned.
    pub(super) before: Vec<Code>,
    /// What is noted of a search that is saved.
    pub(super) kept: Kept,
}

impl<'s, S: System> ModelNet<'s, S> {
    /// The net of a system, by this plan.
    pub(crate) fn new(system: &'s S, plan: Plan, stop: StopSignal) -> Self {
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        let mut net = ModelNet {
            locals,
            state,
            path: Vec::new(),
            parts: Parts::of(system.objects()),
            start: Vec::new(),
            lines: FxHashMap::default(),
            pieces: Vec::new(),
            first: FxHashMap::default(),
            looks: Vec::new(),
            branches: Vec::new(),
            local: FxHashMap::default(),
            transitions: Vec::new(),
            steps: Vec::new(),
            actions: 0,
            is_fine: system.foresight().remembers_all() && !plan.is_coarse,
            plan,
            must_start_again: false,
            entries: FxHashMap::default(),
            owners: FxHashMap::default(),
            is_refused: false,
            stop,
            before: Vec::new(),
            kept: Kept::default(),
        };
        let processes: Vec<ProcessId> = net.state.program_processes().collect();
        for process in processes {
            net.line_of(Piece::Process(process));
        }
        net.start = net.codes();
        net
    }

    /// Has a process been started in a loop, so that the system cannot be taken?
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// The plan by which the net must be built again, if something was found out on the way: then
    /// what was built means nothing.
    pub(crate) fn must_start_again(&self) -> Option<&Plan> {
        self.must_start_again.then_some(&self.plan)
    }

    /// Is everything to be built, without cutoffs?
    pub(crate) fn is_whole(&self) -> bool {
        self.plan.is_whole
    }

    /// The net must be built again, without cutoffs.
    pub(crate) fn is_to_be_whole(&mut self) {
        (self.plan.is_whole, self.must_start_again) = (true, true);
    }

    /// From now on the finest pieces do not do.
    fn is_to_be_coarse(&mut self) {
        (self.plan.is_coarse, self.must_start_again) = (true, true);
    }

    /// About as many actions of the model as this many transitions take.
    pub(crate) fn in_actions(&self, transitions: u32) -> u64 {
        u64::from(transitions) * self.actions / (self.steps.len() as u64).max(1)
    }

    /// What the search needs to know about a transition.
    pub(crate) fn step(&self, transition: u32) -> &Step {
        &self.steps[transition as usize]
    }

    /// The piece of a line.
    pub(crate) fn piece(&self, line: Line) -> Piece {
        self.pieces[line as usize]
    }

    /// The line of a piece, if there is one.
    pub(crate) fn find_line(&self, piece: Piece) -> Option<Line> {
        self.lines.get(&piece).copied()
    }

    /// All pieces that have lines.
    #[cfg(feature = "sat")]
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Line, Piece)> {
        (0..).zip(self.pieces.iter().copied())
    }

    /// The line of a piece.
    pub(super) fn line_of(&mut self, piece: Piece) -> Line {
        *self.lines.entry(piece).or_insert_with(|| {
            self.pieces.push(piece);
            self.pieces.len() as Line - 1
        })
    }

    /// The process or carrier of a line, if it exists in the state of the model.
    pub(super) fn process(&self, line: Line) -> Option<ProcessId> {
        match self.piece(line) {
            Piece::Process(process) => self.state.exists(process).then_some(process),
            Piece::Carrier(process, number) => self.state.carrier_of(process, number),
            piece => {
                let (_, carrier, is_open) = self.state.carrier_at(piece)?;
                is_open.then_some(carrier)
            }
        }
    }

    /// The process of a line that moves in the state of the model.
    pub(crate) fn mover(&self, line: Line) -> ProcessId {
        self.process(line).expect("a process that exists")
    }

    /// The process of a line, or the process that its carrier serves, in the state of the model.
    pub(super) fn served(&self, line: Line) -> ProcessId {
        match self.piece(line) {
            Piece::Process(process) | Piece::Carrier(process, _) => process,
            piece => {
                let (process, ..) = self.state.carrier_at(piece).expect("a line that moves");
                process
            }
        }
    }

    /// Brings the model to the state after these transitions.
    pub(crate) fn go_to(&mut self, path: &[u32]) -> (&mut Locals<'s, S>, &mut State) {
        let both = self.path.iter().zip(path);
        let common = both.take_while(|((one, _), other)| one == *other).count();
        self.path.truncate(common);
        let depth = self.path.last().map_or(0, |&(_, depth)| depth);
        while self.state.depth() > depth {
            self.state.undo(&self.locals);
        }
        for &transition in &path[common..] {
            let process = self.mover(self.transitions[transition as usize].line);
            let how = self.steps[transition as usize].how.clone();
            self.carry_out(process, &how);
            self.path.push((transition, self.state.depth()));
        }
        (&mut self.locals, &mut self.state)
    }

    /// The number of actions after each transition that led to the state of the model.
    pub(crate) fn depths(&self) -> impl Iterator<Item = usize> {
        self.path.iter().map(|&(_, depth)| depth)
    }

    /// Carries out a transition of a process in the state of the model.
    fn carry_out(&mut self, process: ProcessId, how: &How) {
        let choice = self.first_choice(process, how);
        self.state.step(&mut self.locals, Action { process, choice });
        if let How::Choices(choices) = how {
            for &choice in &choices[1..] {
                self.state.step(&mut self.locals, Action { process, choice });
            }
        }
    }

    /// The first choice of a transition of a process in the state of the model.
    fn first_choice(&self, process: ProcessId, how: &How) -> Choice {
        match *how {
            How::Choices(ref choices) => choices[0],
            How::Reaction(stimulus) => {
                self.choice_of(process, stimulus).expect("a choice that it has")
            }
            How::Message(mailbox, sender, at) => {
                let send = self.state.unmatched(&self.locals, mailbox, sender)[at];
                Choice::message(self.state.network().sends()[send as usize].id)
            }
            How::Numbered(mailbox, sender, number) => {
                let send = self.state.nth_send(mailbox, sender, number).expect("a message");
                Choice::message(self.state.network().sends()[send as usize].id)
            }
        }
    }

    /// Does the last of these transitions, which starts a process, start the process that it is
    /// known to start? If not, the system is refused.
    pub(crate) fn check_start(&mut self, path: &[u32]) {
        let last = *path.last().expect("a start");
        self.go_to(path);
        let changes = &self.transitions[last as usize].changes;
        let is_known = |child: ProcessId| {
            let line = self.find_line(Piece::Process(child));
            changes.iter().any(|&(changed, _)| Some(changed) == line)
        };
        if !self.state.just_spawned(&self.locals).all(is_known) {
            self.is_refused = true;
        }
    }

    /// Brings the model to the state after these transitions, and compares its codes with those
    /// of a cut (`None` for a line that nothing has changed). A process that has failed keeps the
    /// values of variables that were dead before, and nobody can ask for them: so it may have
    /// another code.
    ///
    /// # Panics
    /// If they differ: then the net is not that of the system.
    pub(crate) fn check(&mut self, path: &[u32], code: impl Fn(Line) -> Option<Code>) {
        self.go_to(path);
        let here = self.codes();
        for (line, &of_model) in (0..).zip(&here) {
            let of_cut = code(line).unwrap_or_else(|| self.start(line));
            let have_failed = || [of_model, of_cut].iter().all(|&code| self.has_failed(line, code));
            if of_model != of_cut && have_failed() {
                continue;
            }
            assert_eq!(of_model, of_cut, "{:?} after {path:?}", self.piece(line));
        }
    }

    /// The codes of all lines in the state of the model.
    fn codes(&mut self) -> Vec<Code> {
        let mut found: Vec<(Piece, Code)> = Vec::new();
        let each = |piece, code| found.push((piece, code));
        match self.is_fine {
            true => self.state.posts(&mut self.locals, &mut self.parts, each),
            false => self.state.pieces(&mut self.locals, &mut self.parts, each),
        }
        let mut codes = vec![Parts::EMPTY; self.pieces.len()];
        for (piece, mut code) in found {
            let line = self.line_of(piece);
            if let Piece::Process(process) = piece {
                let local = self.state.local(process);
                if process.index() >= self.locals.initial().len() && self.has_gone(local) {
                    code = GONE;
                }
                let is_open = self.state.is_unfinished(&self.locals, process);
                self.local.entry((line, code)).or_insert((local, is_open));
            }
            codes.resize(codes.len().max(line as usize + 1), Parts::EMPTY);
            codes[line as usize] = code;
        }
        codes
    }

    /// Is this the code of a process that has failed?
    fn has_failed(&self, line: Line, code: Code) -> bool {
        let local = self.local.get(&(line, code));
        local.is_some_and(|&(local, _)| matches!(self.locals.status(local), Status::Failed(_)))
    }

    /// Has a process in this local state ended, and left nothing that another one may ask for?
    fn has_gone(&self, local: LocalId) -> bool {
        *self.locals.status(local) == Status::Done && self.locals.returned(local).is_none()
    }

    /// The choices of a process, each with all its actions.
    fn choices(&mut self, process: ProcessId) -> Vec<SmallVec<[Choice; 2]>> {
        let mut choices = Vec::new();
        self.state.choices(&self.locals, process, |choice| choices.push(smallvec![choice]));
        if let Some(mutex) = self.locks(process) {
            self.expect_wait(process, mutex);
            let is_free = self.state.mutex(mutex).owner().is_none();
            choices.retain(|_| is_free);
            choices.iter_mut().for_each(|all: &mut SmallVec<_>| all.push(Choice(0)));
        }
        choices
    }

    /// The first choice of an actor that is a reaction to this.
    pub(super) fn choice_of(&self, process: ProcessId, stimulus: Stimulus) -> Option<Choice> {
        let mut found = None;
        self.state.choices(&self.locals, process, |choice| {
            let is_it = found.is_none() && self.state.stimulus(choice) == stimulus;
            found = if is_it { Some(choice) } else { found };
        });
        found
    }

    /// Carries out a transition in the state of the model, which becomes the one before again.
    pub(super) fn learn_step(&mut self, line: Line, how: How) -> (Transition, Step) {
        let (process, depth) = (self.mover(line), self.state.depth());
        let choice = self.first_choice(process, &how);
        let delay = self.delay(Action { process, choice });
        self.carry_out(process, &how);
        self.look_at_entry();
        let state = &self.state;
        let starts = state.has_just_spawned()
            && state.just_spawned(&self.locals).any(|child| !state.is_carrier(child));
        let is_judged = process_failure(&self.locals, state, process).is_some()
            || state.is_crowded()
            || starts
            || state.is_cut_at_poll(&mut self.locals, process);
        let after = self.codes();
        let before = self.before.iter().copied().chain(std::iter::repeat(0));
        let both = (0..).zip(before.zip(after.iter().copied()));
        let changed = both.filter(|&(at, (from, to))| from != to && at != line);
        let changes = changed.map(|(at, (_, to))| (at, to)).collect();
        while self.state.depth() > depth {
            self.state.undo(&self.locals);
        }
        let made = Transition { line, own: after[line as usize], changes };
        (made, Step { how, is_judged, starts, delay })
    }

    /// May this action, which is possible in the state of the model, be delayed for ever?
    fn delay(&mut self, action: Action) -> Delay {
        if !self.is_fine {
            return match self.state.is_optional(&self.locals, action) {
                true => Delay::Always,
                false => Delay::Never,
            };
        }
        let pieces = self.state.delays(&self.locals, action);
        match pieces.is_empty() {
            true => Delay::Never,
            false => Delay::While(pieces.into_iter().map(|piece| self.line_of(piece)).collect()),
        }
    }

    /// Notes the last entry into a collective. If it disagrees with another one, entries are not
    /// independent.
    fn look_at_entry(&mut self) {
        let Some(entry) = self.state.last_entry().filter(|_| self.is_fine) else { return };
        let &Entry { collective, rank, round, process, .. } = entry;
        let earlier = self.entries.entry((collective, round)).or_default();
        let agrees = earlier.iter().all(|other| other.agrees(entry))
            && *self.owners.entry((collective, rank)).or_insert(process) == process;
        if !earlier.iter().any(|other| other.rank == rank && other.words().eq(entry.words())) {
            earlier.push(entry.clone());
        }
        if !agrees {
            self.is_to_be_coarse();
        }
    }

    /// Learns the transitions of the process in the state of the model.
    fn transitions_here(&mut self, line: Line) -> Vec<(Transition, Step)> {
        let Some(process) = self.process(line) else { return Vec::new() };
        let mut found = Vec::new();
        for choices in self.choices(process) {
            if self.must_start_again {
                break;
            }
            found.push(self.learn_step(line, How::Choices(choices)));
        }
        found
    }

    pub(super) fn add_look(&mut self, at: Line) -> Next {
        self.looks.push(Look { at, answers: FxHashMap::default() });
        Next::Look(self.looks.len() as u32 - 1)
    }

    /// The first of these pieces that was not looked at, as a look.
    pub(super) fn look_at(
        &mut self,
        pieces: impl IntoIterator<Item = Piece>,
        looked_at: &[Line],
    ) -> Option<Next> {
        let lines: SmallVec<[Line; 4]> =
            pieces.into_iter().map(|piece| self.line_of(piece)).collect();
        let at = lines.into_iter().find(|at| !looked_at.contains(at))?;
        Some(self.add_look(at))
    }
}

impl<S: System> Net for ModelNet<'_, S> {
    fn start(&self, line: Line) -> Code {
        self.start.get(line as usize).copied().unwrap_or(0)
    }

    fn movers(&self) -> Range<Line> {
        0..self.locals.initial().len() as Line
    }

    fn is_process(&self, line: Line) -> bool {
        use Piece::*;
        matches!(self.piece(line), Process(_) | Carrier(..) | Receive(..) | End(..))
    }

    #[inline]
    fn first(&self, line: Line, code: Code) -> Option<Next> {
        self.first.get(&(line, code)).copied()
    }

    #[inline]
    fn seen(&self, look: u32, code: Code) -> Option<Next> {
        self.looks[look as usize].answers.get(&code).copied()
    }

    fn part(&self, number: u32) -> Option<Next> {
        self.branches[number as usize].next
    }

    fn looks_at(&self, look: u32) -> Line {
        self.looks[look as usize].at
    }

    #[inline]
    fn transition(&self, number: u32) -> &Transition {
        &self.transitions[number as usize]
    }

    fn learn(&mut self, line: Line, path: &[u32]) {
        self.go_to(path);
        self.before = self.codes();
        if self.is_fine && self.state.has_carriers() {
            let started = self.state.program_processes().count() > self.locals.initial().len();
            if started || self.state.has_bags() || self.state.has_reserved() {
                self.is_to_be_coarse();
            }
        }
        let own = self.before.get(line as usize).copied().unwrap_or(0);
        let mut looked_at: SmallVec<[Line; 4]> = smallvec![line];
        let place = self.follow(Place::First(line, own), &mut looked_at);
        match self.at(place) {
            Some(Next::Each(from, to)) => (from..to).for_each(|part| self.learn_branch(part)),
            Some(_) => {}
            None => {
                let answer = self.answer(line, &looked_at);
                self.note(place, answer);
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.must_start_again || self.is_refused || self.stop.is_raised()
    }

    #[inline]
    fn foretold(&mut self) -> Option<bool> {
        self.kept.foretold()
    }

    #[inline]
    fn note(&mut self, foretold: Option<bool>, are_concurrent: bool) {
        self.kept.note(foretold, are_concurrent);
    }
}

/// Where an answer belongs.
#[derive(Clone, Copy)]
pub(super) enum Place {
    First(Line, Code),
    Seen(u32, Code),
    Part(u32),
}

impl<S: System> ModelNet<'_, S> {
    pub(super) fn at(&self, place: Place) -> Option<Next> {
        match place {
            Place::First(line, code) => self.first(line, code),
            Place::Seen(look, code) => self.seen(look, code),
            Place::Part(part) => self.part(part),
        }
    }

    pub(super) fn note(&mut self, place: Place, answer: Next) {
        match place {
            Place::First(line, code) => {
                self.first.insert((line, code), answer);
            }
            Place::Seen(look, code) => {
                self.looks[look as usize].answers.insert(code, answer);
            }
            Place::Part(part) => self.branches[part as usize].next = Some(answer),
        }
    }

    /// Follows the looks from here on, in the state of the model, and notes the lines in
    /// `looked_at`. Returns where the last of them leads.
    pub(super) fn follow(&self, mut place: Place, looked_at: &mut SmallVec<[Line; 4]>) -> Place {
        while let Some(Next::Look(look)) = self.at(place) {
            let at = self.looks[look as usize].at;
            looked_at.push(at);
            place = Place::Seen(look, self.before.get(at as usize).copied().unwrap_or(0));
        }
        place
    }

    /// What a process does that has looked at these lines, in the state of the model.
    fn answer(&mut self, line: Line, looked_at: &[Line]) -> Next {
        if let Some(branches) = self.branches_here(line) {
            return branches;
        }
        let process = self.process(line);
        let sees: SmallVec<[Piece; 4]> = match process {
            Some(process) if self.is_fine => self.state.sees_posts(&self.locals, process),
            Some(process) => self.state.sees(&self.locals, process).into_iter().collect(),
            None => SmallVec::new(),
        };
        match self.look_at(sees, looked_at) {
            Some(look) => look,
            None => {
                let transitions = self.transitions_here(line);
                self.learned(transitions, looked_at)
            }
        }
    }

    /// These transitions of a process, if they change only lines that were looked at, and those of
    /// processes that they start; or else the next look.
    pub(super) fn learned(&mut self, found: Vec<(Transition, Step)>, looked_at: &[Line]) -> Next {
        for (made, step) in &found {
            for &(changed, _) in &made.changes {
                let before = self.before.get(changed as usize).copied().unwrap_or(0);
                let is_new = before == 0
                    && match self.piece(changed) {
                        Piece::Process(_) => step.starts,
                        Piece::Message(..) | Piece::Receive(..) => true,
                        Piece::Entry(..) | Piece::End(..) => true,
                        _ => false,
                    };
                if !looked_at.contains(&changed) && !is_new {
                    return self.add_look(changed);
                }
            }
        }
        let from = self.transitions.len() as u32;
        for (made, step) in found {
            self.transitions.push(made);
            self.actions += step.actions() as u64;
            self.steps.push(step);
        }
        Next::Transitions(from, self.transitions.len() as u32)
    }
}
