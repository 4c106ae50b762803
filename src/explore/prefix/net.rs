//! A system as a net: its lines are the parts of the portrait, its transitions are learned from the
//! model.
//!
//! The enabled transitions of a process, and their effects, depend on its own part of the portrait
//! and on the part that its operation accesses ([`State::scope`]). Where a transition changes a
//! further part, that part is looked at, too, before it is learned again. So what is learned for
//! some codes is right wherever these codes occur together: this is the contract of
//! [`Net`]. The explorers of states memoise transitions in the same way (`states/moves`).
//!
//! Mutexes that are only locked and unlocked are taken in one step: see `locks`.
//!
//! **Processes that are started.** A new process is named by its parent and the number of the
//! parent's action. So a start in a loop leads to another line each time. The net takes only
//! programs where equal codes of the parent lead to the same line, which is checked at each start.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

use crate::model::{
    Action, Choice, LocalId, Locals, MutexId, Object, Op, Parts, ProcessId, State, Status,
    Stimulus, StopSignal, System,
};
use crate::property::process_failure;
use crate::unfolding::prefix::{Code, Line, Net, Next, Transition};

/// The code of a process that was started and has ended: nobody can ask for its variables, as
/// `final` and the invariants name only processes that exist from the start.
const GONE: Code = u32::MAX;

/// What the search needs to know about a transition, besides what the net says.
#[derive(Clone, Debug)]
pub struct Step {
    how: How,
    /// Must the driver judge the state after it?
    pub(crate) is_judged: bool,
    /// Does it start a process?
    pub(crate) starts: bool,
}

/// How a transition is carried out on the model.
#[derive(Clone, Debug)]
enum How {
    /// By these choices: two if it locks a mutex in one step.
    Choices(SmallVec<[Choice; 2]>),
    /// By the handler for a message with this content, or by this internal handler. (Messages have
    /// names that depend on the execution.)
    Reaction(Stimulus),
}

/// A look at a line, and what is known to follow, by the code seen there.
#[derive(Debug)]
struct Look {
    at: Line,
    answers: FxHashMap<Code, Next>,
}

/// A choice of a process that depends on other lines than its other choices do.
#[derive(Clone, Copy, Debug)]
struct Part {
    line: Line,
    stimulus: Stimulus,
    next: Option<Next>,
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
    looks: Vec<Look>,
    parts_of: Vec<Part>,
    /// For each code of a process, a local state, and whether it is stuck if it cannot move.
    local: FxHashMap<(Line, Code), (LocalId, bool)>,
    transitions: Vec<Transition>,
    steps: Vec<Step>,
    /// The mutexes that are not taken in one step.
    pub(super) queued: FxHashSet<MutexId>,
    pub(super) must_start_again: bool,
    is_refused: bool,
    stop: StopSignal,
    /// The codes in the state in which something is learned.
    before: Vec<Code>,
}

impl<'s, S: System> ModelNet<'s, S> {
    /// The net of a system in whose states each part is about one object or process
    /// ([`has_fixed_parts`](crate::model::Met::has_fixed_parts)), with these mutexes not taken in
    /// one step.
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
            parts_of: Vec::new(),
            local: FxHashMap::default(),
            transitions: Vec::new(),
            steps: Vec::new(),
            queued,
            must_start_again: false,
            is_refused: false,
            stop,
            before: Vec::new(),
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
    pub fn local(&self, line: Line, code: Code) -> Option<LocalId> {
        self.local.get(&(line, code)).map(|&(local, _)| local)
    }

    /// Has a process with this code ended, or may it rest for ever?
    pub fn has_ended(&self, line: Line, code: Code) -> bool {
        self.local.get(&(line, code)).is_none_or(|&(_, is_open)| !is_open)
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
            // An actor that accepts a message can move.
            Next::Transitions(..) | Next::Each(..) => {}
            Next::Look(look) => {
                let Look { at, ref answers } = self.looks[look as usize];
                for (&code, &next) in answers {
                    seen.push((at, code));
                    self.add_rests(next, seen, found);
                    seen.pop();
                }
            }
        }
    }

    /// The codes of processes from which they can come back to them by transitions that change no
    /// other line.
    pub fn codes_on_circles(&self) -> FxHashSet<(Line, Code)> {
        let mut steps: DiGraphMap<(Line, Code), ()> = DiGraphMap::new();
        for (&(line, code), &next) in &self.first {
            self.each_after(next, |next| {
                if let Next::Transitions(from, to) = next {
                    let made = self.transitions[from as usize..to as usize].iter();
                    for made in made.filter(|made| made.changes.is_empty()) {
                        steps.add_edge((line, code), (line, made.own), ());
                    }
                }
            });
        }
        let components = tarjan_scc(&steps).into_iter();
        let is_circle = |all: &Vec<(Line, Code)>| {
            all.len() > 1 || all.iter().any(|&one| steps.contains_edge(one, one))
        };
        components.filter(is_circle).flatten().collect()
    }

    /// The lines that a process with this code may look at.
    pub(crate) fn lines_seen(&self, line: Line, code: Code) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(next) = self.first(line, code) {
            self.each_after(next, |next| {
                if let Next::Look(look) = next {
                    lines.push(self.looks[look as usize].at);
                }
            });
        }
        lines
    }

    /// Calls `each` with this answer and all that are known to follow it.
    fn each_after(&self, next: Next, mut each: impl FnMut(Next)) {
        let mut open = vec![next];
        while let Some(next) = open.pop() {
            each(next);
            match next {
                Next::Transitions(..) => {}
                Next::Look(look) => open.extend(self.looks[look as usize].answers.values()),
                Next::Each(from, to) => {
                    let parts = &self.parts_of[from as usize..to as usize];
                    open.extend(parts.iter().filter_map(|part| part.next));
                }
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
            match self.steps[transition as usize].how.clone() {
                How::Choices(choices) => choices.into_iter().for_each(|choice| {
                    self.state.step(&mut self.locals, Action { process, choice });
                }),
                How::Reaction(stimulus) => {
                    let choice = self.choice_of(process, stimulus).expect("a choice that it has");
                    self.state.step(&mut self.locals, Action { process, choice });
                }
            }
            self.path.push((transition, self.state.depth()));
        }
        (&mut self.locals, &mut self.state)
    }

    /// The number of actions after each transition that led to the state of the model.
    pub(crate) fn depths(&self) -> impl Iterator<Item = usize> {
        self.path.iter().map(|&(_, depth)| depth)
    }

    /// Does the last of these transitions, which starts a process, start the process that it is
    /// known to start? If not, the system is refused.
    pub(crate) fn check_start(&mut self, path: &[u32]) {
        let last = *path.last().expect("a start");
        self.go_to(path);
        let changes = &self.transitions[last as usize].changes;
        let is_known = |child: ProcessId| {
            let line = self.state.place_of_process(child) as Line;
            changes.iter().any(|&(changed, _)| changed == line)
        };
        if !self.state.just_spawned(&self.locals).all(is_known) {
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
            let is_open = self.state.is_unfinished(&self.locals, process);
            self.local.entry((line, codes[line as usize])).or_insert((local, is_open));
        }
        codes
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
    fn choice_of(&self, process: ProcessId, stimulus: Stimulus) -> Option<Choice> {
        let mut found = None;
        self.state.choices(&self.locals, process, |choice| {
            let is_it = found.is_none() && self.state.stimulus(choice) == stimulus;
            found = if is_it { Some(choice) } else { found };
        });
        found
    }

    /// The transition of an actor that reacts to this, in the state of the model.
    fn reaction_here(&mut self, line: Line, stimulus: Stimulus) -> (Transition, Step) {
        let process = self.process(line);
        let choice = self.choice_of(process, stimulus).expect("a choice that it has");
        self.state.step(&mut self.locals, Action { process, choice });
        let (made, is_judged, starts) = self.made(line, 0);
        self.state.undo(&self.locals);
        (made, Step { how: How::Reaction(stimulus), is_judged, starts })
    }

    /// The transition that has led from the codes before to the state of the model; whether it must
    /// be judged; and whether it has started a process.
    fn made(&mut self, line: Line, label: i32) -> (Transition, bool, bool) {
        let process = self.process(line);
        let starts = self.state.has_just_spawned();
        let is_judged = process_failure(&self.locals, &self.state, process).is_some()
            || self.state.is_crowded()
            || starts;
        let after = self.portrait();
        let before = self.before.iter().copied().chain(std::iter::repeat(0));
        let both = (0..).zip(before.zip(after.iter().copied()));
        let changed = both.filter(|&(at, (from, to))| from != to && at != line);
        let changes = changed.map(|(at, (_, to))| (at, to)).collect();
        (Transition { line, own: after[line as usize], label, changes }, is_judged, starts)
    }

    /// Learns the transitions of the process in the state of the model.
    fn transitions_here(&mut self, line: Line) -> (Vec<Transition>, Vec<Step>) {
        let (process, depth) = (self.process(line), self.state.depth());
        if !self.state.exists(process) {
            return (Vec::new(), Vec::new());
        }
        let (mut transitions, mut steps) = (Vec::new(), Vec::new());
        for choices in self.choices(process) {
            if self.must_start_again {
                break;
            }
            for &choice in &choices {
                self.state.step(&mut self.locals, Action { process, choice });
            }
            let (made, is_judged, starts) = self.made(line, choices[0].0);
            while self.state.depth() > depth {
                self.state.undo(&self.locals);
            }
            transitions.push(made);
            steps.push(Step { how: How::Choices(choices), is_judged, starts });
        }
        (transitions, steps)
    }

    /// The lines that the process looks at besides its own, in the state of the model.
    fn sees(&self, line: Line) -> SmallVec<[Line; 2]> {
        let process = self.process(line);
        if !self.state.exists(process) {
            return SmallVec::new();
        }
        let places = self.state.sees(&self.locals, process);
        let places = places.unwrap_or_else(|| panic!("{process:?} of a system that is refused"));
        places.into_iter().map(|place| place as Line).collect()
    }

    fn add_look(&mut self, at: Line) -> Next {
        self.looks.push(Look { at, answers: FxHashMap::default() });
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
        self.looks[look as usize].answers.get(&code).copied()
    }

    fn part(&self, number: u32) -> Option<Next> {
        self.parts_of[number as usize].next
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
        self.before = self.portrait();
        let own = self.before.get(line as usize).copied().unwrap_or(0);
        let mut looked_at: SmallVec<[Line; 4]> = smallvec![line];
        let place = self.follow(Place::First(line, own), &mut looked_at);
        match self.at(place) {
            Some(Next::Each(from, to)) => (from..to).for_each(|part| self.learn_part(part)),
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
}

/// Where an answer belongs.
#[derive(Clone, Copy)]
enum Place {
    First(Line, Code),
    Seen(u32, Code),
    Part(u32),
}

impl<S: System> ModelNet<'_, S> {
    fn at(&self, place: Place) -> Option<Next> {
        match place {
            Place::First(line, code) => self.first(line, code),
            Place::Seen(look, code) => self.seen(look, code),
            Place::Part(part) => self.part(part),
        }
    }

    fn note(&mut self, place: Place, answer: Next) {
        match place {
            Place::First(line, code) => {
                self.first.insert((line, code), answer);
            }
            Place::Seen(look, code) => {
                self.looks[look as usize].answers.insert(code, answer);
            }
            Place::Part(part) => self.parts_of[part as usize].next = Some(answer),
        }
    }

    /// Follows the looks from here on, in the state of the model, and notes the lines in
    /// `looked_at`. Returns where the last of them leads.
    fn follow(&self, mut place: Place, looked_at: &mut SmallVec<[Line; 4]>) -> Place {
        while let Some(Next::Look(look)) = self.at(place) {
            let at = self.looks[look as usize].at;
            looked_at.push(at);
            place = Place::Seen(look, self.before.get(at as usize).copied().unwrap_or(0));
        }
        place
    }

    /// What a process does that has looked at these lines, in the state of the model.
    fn answer(&mut self, line: Line, looked_at: &[Line]) -> Next {
        if let Some(stimuli) = self.stimuli(line) {
            return self.add_parts(line, stimuli);
        }
        match self.sees(line).into_iter().find(|at| !looked_at.contains(at)) {
            Some(at) => self.add_look(at),
            None => {
                let (transitions, steps) = self.transitions_here(line);
                self.learned(transitions, steps, looked_at)
            }
        }
    }

    /// Learns what an actor does that makes this choice, in the state of the model.
    fn learn_part(&mut self, part: u32) {
        let Part { line, stimulus, .. } = self.parts_of[part as usize];
        let mut looked_at: SmallVec<[Line; 4]> = smallvec![line];
        let place = self.follow(Place::Part(part), &mut looked_at);
        if self.at(place).is_none() {
            let (made, step) = self.reaction_here(line, stimulus);
            let made = Transition { label: part as i32, ..made };
            let answer = self.learned(vec![made], vec![step], &looked_at);
            self.note(place, answer);
        }
    }

    /// What an actor at rest may react to: each content once. `None` if it is none.
    fn stimuli(&self, line: Line) -> Option<Vec<Stimulus>> {
        let process = self.process(line);
        let op = self.state.exists(process).then(|| self.locals.op(self.state.local(process)))?;
        if !matches!(op, Some(Op::Handle { .. })) {
            return None;
        }
        let mut all = Vec::new();
        self.state.choices(&self.locals, process, |choice| {
            let stimulus = self.state.stimulus(choice);
            if !all.contains(&stimulus) {
                all.push(stimulus);
            }
        });
        Some(all)
    }

    /// What an actor does that may react to these. (Nothing, if there are none.)
    fn add_parts(&mut self, line: Line, stimuli: Vec<Stimulus>) -> Next {
        if stimuli.is_empty() {
            return Next::Transitions(0, 0);
        }
        let from = self.parts_of.len() as u32;
        let part = |stimulus| Part { line, stimulus, next: None };
        self.parts_of.extend(stimuli.into_iter().map(part));
        Next::Each(from, self.parts_of.len() as u32)
    }

    /// These transitions of a process, if they change only lines that were looked at, and those of
    /// processes that they start; or else the next look.
    fn learned(
        &mut self,
        transitions: Vec<Transition>,
        steps: Vec<Step>,
        looked_at: &[Line],
    ) -> Next {
        for (made, step) in transitions.iter().zip(&steps) {
            for &(changed, _) in &made.changes {
                let before = self.before.get(changed as usize).copied().unwrap_or(0);
                let is_new = step.starts && before == 0 && changed >= self.processes;
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

    /// The line of an object.
    pub fn line_of(&self, object: Object) -> Line {
        self.state.place_of(self.locals.met(), object) as Line
    }
}
