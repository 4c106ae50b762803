//! A system as a net: its lines are the parts of the portrait, its transitions are learned from the
//! model.
//!
//! The enabled transitions of a process, and their effects, depend on its own part of the portrait
//! and on the part that its operation accesses ([`State::scope`]). Where a transition changes a
//! further part, that part is looked at, too, before it is learned again. So what is learned for
//! some codes is right wherever these codes occur together: this is the contract of
//! [`Net`]. The explorers of states memoise transitions in the same way (`states/moves`).
//!
//! **Locks in one step.** A process that queues for a mutex would be part of the mutex's code, so
//! there would be a code for each order of the queue. Where mutexes are only locked and unlocked,
//! the order of the queue does not matter: a process may as well queue at the moment when it gets
//! the mutex. So a request and the wait for it are one transition here, which is possible while the
//! mutex is free. Every state of the model in which nobody waits in a queue is a state of the net,
//! and the others differ from it only by such requests. If a request for a mutex is followed by
//! anything but the wait for it, the mutex is taken as it is ([`ModelNet::must_start_again`]).
//!
//! **Processes that are started.** A new process is named by its parent and the number of the
//! parent's action. So a start in a loop leads to another line each time. The net takes only
//! programs where equal codes of the parent lead to the same line, which is checked at each start.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

use crate::model::{
    Action, Choice, LocalId, Locals, MutexId, Object, Op, Parts, ProcessId, Scope, State, Status,
    StopSignal, System,
};
use crate::property::process_failure;
use crate::unfolding::prefix::{Code, Line, Net, Next, Transition};

/// The code of a process that was started and has ended: nobody can ask for its variables, as
/// `final` and the invariants name only processes that exist from the start.
const GONE: Code = u32::MAX;

/// What the search needs to know about a transition, besides what the net says.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Its choices: two if it locks a mutex in one step.
    pub(crate) choices: SmallVec<[Choice; 2]>,
    /// Must the driver judge the state after it?
    pub(crate) is_judged: bool,
    /// Does it start a process?
    pub(crate) starts: bool,
}

/// A system as a net.
pub(crate) struct ModelNet<'s, S: System> {
    pub(crate) locals: Locals<'s, S>,
    pub(crate) state: State,
    /// The transitions that led to the state of the model, with the number of actions after each.
    path: Vec<(u32, usize)>,
    parts: Parts,
    start: Vec<Code>,
    /// The number of lines that belong to objects, and that of processes at the start.
    objects: Line,
    processes: Line,
    first: FxHashMap<(Line, Code), Next>,
    looks: Vec<Line>,
    seen: FxHashMap<(u32, Code), Next>,
    /// The answers at each look, once more.
    seen_at: Vec<Vec<(Code, Next)>>,
    /// A local state for each code of a process.
    local: FxHashMap<(Line, Code), LocalId>,
    transitions: Vec<Transition>,
    steps: Vec<Step>,
    /// The mutexes that are not taken in one step.
    queued: FxHashSet<MutexId>,
    must_start_again: bool,
    is_refused: bool,
    stop: StopSignal,
    before: Vec<Code>,
    after: Vec<Code>,
}

impl<'s, S: System> ModelNet<'s, S> {
    /// The net of a system in whose states each part is about one object or process
    /// ([`State::has_scopes`]), with these mutexes not taken in one step.
    pub(crate) fn new(system: &'s S, queued: FxHashSet<MutexId>, stop: StopSignal) -> Self {
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        let (mut parts, mut start) = (Parts::default(), Vec::new());
        state.portrait(&mut locals, &mut parts, &mut start);
        let mut net = ModelNet {
            objects: state.place_of_process(ProcessId(0)) as Line,
            processes: start.len() as Line,
            locals,
            state,
            path: Vec::new(),
            parts,
            start,
            first: FxHashMap::default(),
            looks: Vec::new(),
            seen: FxHashMap::default(),
            seen_at: Vec::new(),
            local: FxHashMap::default(),
            transitions: Vec::new(),
            steps: Vec::new(),
            queued,
            must_start_again: false,
            is_refused: false,
            stop,
            before: Vec::new(),
            after: Vec::new(),
        };
        net.portrait();
        net
    }

    /// Has a process been started in a loop, so that the system cannot be taken?
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// The mutexes that must not be taken in one step, if that was found out on the way: then what
    /// was built means nothing.
    pub(crate) fn must_start_again(&self) -> Option<&FxHashSet<MutexId>> {
        self.must_start_again.then_some(&self.queued)
    }

    /// What the search needs to know about a transition.
    pub(crate) fn step(&self, transition: u32) -> &Step {
        &self.steps[transition as usize]
    }

    /// The process of a line.
    pub(crate) fn process(&self, line: Line) -> ProcessId {
        ProcessId(line - self.objects)
    }

    /// Is this the line of an object?
    pub(crate) fn is_object(&self, line: Line) -> bool {
        line < self.objects
    }

    /// The local state of a process with this code; `None` if it does not exist.
    pub(crate) fn local(&self, line: Line, code: Code) -> Option<LocalId> {
        self.local.get(&(line, code)).copied()
    }

    /// The situations in which a process with this code is blocked, or has ended: for each, the
    /// codes that it has seen at other lines.
    pub(crate) fn rests(&self, line: Line, code: Code) -> Vec<Vec<(Line, Code)>> {
        let mut found = Vec::new();
        if let Some(&next) = self.first.get(&(line, code)) {
            self.add_rests(next, &mut Vec::new(), &mut found);
        }
        found
    }

    fn add_rests(
        &self,
        next: Next,
        seen: &mut Vec<(Line, Code)>,
        found: &mut Vec<Vec<(Line, Code)>>,
    ) {
        match next {
            Next::Transitions(from, to) if from == to => found.push(seen.clone()),
            Next::Transitions(..) => {}
            Next::Look(look) => {
                for &(code, next) in &self.seen_at[look as usize] {
                    seen.push((self.looks[look as usize], code));
                    self.add_rests(next, seen, found);
                    seen.pop();
                }
            }
        }
    }

    /// The lines that a process with this code may look at.
    pub(crate) fn lines_seen(&self, line: Line, code: Code) -> Vec<Line> {
        let (mut lines, mut open) = (Vec::new(), Vec::new());
        open.extend(self.first.get(&(line, code)).copied());
        while let Some(next) = open.pop() {
            if let Next::Look(look) = next {
                lines.push(self.looks[look as usize]);
                open.extend(self.seen_at[look as usize].iter().map(|&(_, next)| next));
            }
        }
        lines
    }

    /// Carries out what the net leaves out: the requests for mutexes that are not free. They are
    /// undone when the model goes elsewhere.
    pub(crate) fn settle(&mut self) {
        for process in self.state.processes().collect::<Vec<_>>() {
            if let Some(mutex) = self.locks(process)
                && self.state.mutex(mutex).owner().is_some()
            {
                self.state.step(&mut self.locals, Action { process, choice: Choice(0) });
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
            let process = self.process(self.transitions[transition as usize].line);
            for &choice in &self.steps[transition as usize].choices {
                self.state.step(&mut self.locals, Action { process, choice });
            }
            self.path.push((transition, self.state.depth()));
        }
        (&mut self.locals, &mut self.state)
    }

    /// Does the last of these transitions, which starts a process, start the process that it is
    /// known to start? If not, the system is refused.
    pub(crate) fn check_start(&mut self, path: &[u32]) {
        let last = *path.last().expect("a start");
        self.go_to(path);
        let started = self.state.just_spawned(&self.locals).next();
        let line = started.map(|child| self.state.place_of_process(child) as Line);
        let known = self.transitions[last as usize].changes.iter().map(|&(line, _)| line);
        if !known.into_iter().any(|known| Some(known) == line) {
            self.is_refused = true;
        }
    }

    /// Brings the model to the state after these transitions, and compares its codes with those
    /// of a cut.
    ///
    /// # Panics
    /// If they differ: then the net is not that of the system.
    pub(crate) fn check(&mut self, path: &[u32], code: impl Fn(Line) -> Code) {
        self.go_to(path);
        let here = self.portrait();
        for (line, &of_model) in (0..).zip(&here) {
            assert_eq!(of_model, code(line), "line {line} after {path:?}");
        }
    }

    fn portrait(&mut self) -> Vec<Code> {
        let mut codes = Vec::new();
        self.state.portrait(&mut self.locals, &mut self.parts, &mut codes);
        for line in self.objects..codes.len() as Line {
            let process = self.process(line);
            if !self.state.exists(process) {
                continue;
            }
            let local = self.state.local(process);
            if line >= self.processes && self.has_gone(local) {
                codes[line as usize] = GONE;
            }
            self.local.entry((line, codes[line as usize])).or_insert(local);
        }
        codes
    }

    /// Has a process in this local state ended, and left nothing that another one may ask for?
    fn has_gone(&self, local: LocalId) -> bool {
        *self.locals.status(local) == Status::Done && self.locals.returned(local).is_none()
    }

    /// The mutex that the process is about to request, if that is taken in one step.
    fn locks(&self, process: ProcessId) -> Option<MutexId> {
        match self.locals.op(self.state.local(process))? {
            Op::AsyncLock(mutex) if self.is_simple(*mutex) => Some(*mutex),
            _ => None,
        }
    }

    fn is_simple(&self, mutex: MutexId) -> bool {
        !self.queued.contains(&mutex) && !self.state.mutex(mutex).is_tried()
    }

    /// Is the process, which has just requested the mutex, about to wait for just that?
    fn waits_for(&self, process: ProcessId, mutex: MutexId) -> bool {
        let Some(Op::MutexWaitAny(requests)) = self.locals.op(self.state.local(process)) else {
            return false;
        };
        matches!(requests[..], [request] if request.mutex == mutex)
    }

    /// The choices of a process, each with all its actions.
    fn choices(&mut self, process: ProcessId) -> Vec<SmallVec<[Choice; 2]>> {
        let mut choices = Vec::new();
        self.state.choices(&self.locals, process, |choice| choices.push(smallvec![choice]));
        if let Some(mutex) = self.locks(process) {
            let is_free = self.state.mutex(mutex).owner().is_none();
            choices.retain(|_| is_free);
            choices.iter_mut().for_each(|all: &mut SmallVec<_>| all.push(Choice(0)));
        }
        choices
    }

    /// Learns the transitions of the process in the state of the model.
    fn transitions_here(&mut self, line: Line) -> (Vec<Transition>, Vec<Step>) {
        let (process, depth) = (self.process(line), self.state.depth());
        if !self.state.exists(process) {
            return (Vec::new(), Vec::new());
        }
        let locks = self.locks(process);
        let (mut transitions, mut steps) = (Vec::new(), Vec::new());
        for choices in self.choices(process) {
            for (at, &choice) in choices.iter().enumerate() {
                if let Some(mutex) =
                    locks.filter(|&mutex| at == 1 && !self.waits_for(process, mutex))
                {
                    self.queued.insert(mutex);
                    self.must_start_again = true;
                    break;
                }
                self.state.step(&mut self.locals, Action { process, choice });
            }
            let starts = self.state.has_just_spawned();
            let is_judged = process_failure(&self.locals, &self.state, process).is_some()
                || self.state.is_crowded()
                || starts;
            self.after = self.portrait();
            while self.state.depth() > depth {
                self.state.undo(&self.locals);
            }
            let before = self.before.iter().copied().chain(std::iter::repeat(0));
            let both = (0..).zip(before.zip(self.after.iter().copied()));
            let changed = both.filter(|&(at, (from, to))| from != to && at != line);
            transitions.push(Transition {
                line,
                own: self.after[line as usize],
                label: choices[0].0,
                changes: changed.map(|(at, (_, to))| (at, to)).collect(),
            });
            steps.push(Step { choices, is_judged, starts });
        }
        (transitions, steps)
    }

    /// What the process depends on first, in the state of the model.
    fn scope(&mut self, line: Line) -> Scope {
        let process = self.process(line);
        if !self.state.exists(process) {
            return Scope::Own;
        }
        match self.state.scope(&self.locals, process) {
            Scope::Anything if self.starts_one(process) => Scope::Own,
            scope => scope,
        }
    }

    fn starts_one(&self, process: ProcessId) -> bool {
        matches!(self.locals.op(self.state.local(process)), Some(Op::Spawn(_)))
    }

    fn add_look(&mut self, at: Line) -> Next {
        self.looks.push(at);
        self.seen_at.push(Vec::new());
        Next::Look(self.looks.len() as u32 - 1)
    }
}

impl<S: System> Net for ModelNet<'_, S> {
    fn start(&self, line: Line) -> Code {
        self.start.get(line as usize).copied().unwrap_or(0)
    }

    fn movers(&self) -> Range<Line> {
        self.objects..self.processes
    }

    #[inline]
    fn first(&self, line: Line, code: Code) -> Option<Next> {
        self.first.get(&(line, code)).copied()
    }

    #[inline]
    fn seen(&self, look: u32, code: Code) -> Option<Next> {
        self.seen.get(&(look, code)).copied()
    }

    fn looks_at(&self, look: u32) -> Line {
        self.looks[look as usize]
    }

    #[inline]
    fn transition(&self, number: u32) -> &Transition {
        &self.transitions[number as usize]
    }

    fn learn(&mut self, line: Line, path: &[u32]) {
        self.go_to(path);
        self.before = self.portrait();
        let own = self.before.get(line as usize).copied().unwrap_or(0);
        let Some(&(mut next)) = self.first.get(&(line, own)) else {
            let answer = match self.scope(line) {
                Scope::With(place) => self.add_look(place as Line),
                Scope::Own => self.learned(line, &[line]),
                scope => unreachable!("a system that is refused: {scope:?}"),
            };
            self.first.insert((line, own), answer);
            return;
        };
        let mut looked_at: SmallVec<[Line; 4]> = smallvec![line];
        while let Next::Look(look) = next {
            let at = self.looks[look as usize];
            looked_at.push(at);
            let code = self.before.get(at as usize).copied().unwrap_or(0);
            match self.seen.get(&(look, code)) {
                Some(&known) => next = known,
                None => {
                    let answer = self.learned(line, &looked_at);
                    self.seen.insert((look, code), answer);
                    self.seen_at[look as usize].push((code, answer));
                    return;
                }
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.must_start_again || self.is_refused || self.stop.is_raised()
    }
}

impl<S: System> ModelNet<'_, S> {
    /// The transitions of a process in the state of the model, if they change only lines that were
    /// looked at, and new ones; or else the next look.
    fn learned(&mut self, line: Line, looked_at: &[Line]) -> Next {
        let (transitions, steps) = self.transitions_here(line);
        let known = self.before.len() as Line;
        for made in &transitions {
            for &(changed, _) in &made.changes {
                let is_new = changed >= known
                    || self.before[changed as usize] == 0 && changed >= self.processes;
                if !looked_at.contains(&changed) && !is_new {
                    return self.add_look(changed);
                }
            }
        }
        let from = self.transitions.len() as u32;
        self.transitions.extend(transitions);
        self.steps.extend(steps);
        Next::Transitions(from, self.transitions.len() as u32)
    }

    /// Where the objects of the system are among the lines.
    pub(crate) fn line_of(&self, object: Object) -> Line {
        self.state.place_of(self.locals.met(), object) as Line
    }
}
