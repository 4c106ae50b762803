//! Depth-first search through states, shared by the stateful explorers.
//!
//! ```text
//! Explore(s):                                  s is new, on top of the stack
//!   while the reduction names a process t:
//!     for each transition (s, a, s') of t:     several where t has a choice
//!       push s';  if s' is new: Explore(s');  pop
//!     notify the reduction that t is explored from s
//! ```
//!
//! The explorers differ only in their [`Reduction`], which selects the processes to explore from a
//! state. The search has one model state, in which it executes and undoes actions ([`Cursor`]).
//!
//! **Cycles.** The paper's state spaces have none. The state spaces of programs that spin have
//! cycles, and along a cycle a process could be postponed for ever. So a state with a transition
//! back to the stack is explored in full ([`Frame::is_full`]; condition C3 of Clarke, Grumberg,
//! Peled, *Model checking*, 1999, section 10.5).
//!
//! **Depth.** Within a depth bound another search is used ([`super::breadth_first`]), except with
//! [`Stateful::as_printed`]. Then this search cuts off everything beyond the bound, and promises
//! nothing.
//!
//! **Locks as printed.** The paper's lock is one transition, disabled while the mutex is taken.
//! Ours is a request, which is never disabled, followed by a wait. [`Stateful::as_printed`] joins
//! the two to one transition if the wait comes next. A process that requests a mutex and then only
//! tests it is never blocked.

use smallvec::SmallVec;

use super::breadth_first;
use super::cursor::Cursor;
use super::enumeration::Enumeration;
use super::kept;
use super::labels::{LabelId, Labels, SummaryId, Touches};
use super::past::{Edge, Mark, Memory, Past};
use super::plan::{Ended, Plan};
use super::processes::Processes;
use super::safe_set::SafeSets;
use super::settings::{Stateful, Switch};
use super::store::StateId;
use crate::explore::driver::Driver;
use crate::explore::ends::lost;
use crate::explore::news::{Form, Led, News, Noting, is_there};
use crate::explore::result::StopReason;
use crate::model::{Action, Choice, May, MutexId, Part, ProcessId, StopSignal, System, Touch};
use crate::property::{Invariants, Readers, Watch};

/// Selects the processes that are explored from a state.
pub(crate) trait Reduction<S: System> {
    /// How much the search must remember about states that it has left.
    fn memory(&self) -> Memory {
        Memory::Marks
    }

    /// Is one state of those enough that are equal up to the names of symmetric processes?
    fn merges_orbits(&self) -> bool {
        false
    }

    /// Are steps that concern only their process fused with the step before (`fused`)?
    fn fuses(&self) -> bool {
        false
    }

    /// The next process to explore from the state on top of the stack; `None` if that state is
    /// done.
    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId>;

    /// Called when a transition of the state on top was taken.
    fn moved(&mut self, search: &mut DepthFirst<'_, S>) {
        let _ = search;
    }

    /// Called after `moved`, if the transition led to the stored state `state`.
    fn revisited(&mut self, search: &mut DepthFirst<'_, S>, state: StateId) {
        let _ = (search, state);
    }

    /// Called when all transitions of `process` from the state on top are explored.
    fn explored(&mut self, search: &mut DepthFirst<'_, S>, process: ProcessId) {
        let _ = (search, process);
    }
}

/// A process that was explored from a state.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) process: ProcessId,
    /// The objects that its operation watches there.
    pub(crate) watch: LabelId,
    /// s.current\[t\]: the process itself, and the processes that later make racing actions.
    pub(crate) current: Processes,
    /// Are some transitions after its own still unknown?
    pub(crate) is_open: bool,
}

/// A state on the stack.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Its number.
    pub(crate) state: StateId,
    /// enabled(s)
    pub(crate) enabled: Processes,
    /// safeSet(s)
    pub(crate) safe: Processes,
    /// The processes explored, or being explored.
    pub(crate) explored: Processes,
    /// s.done
    pub(crate) done: Processes,
    /// s.backtrack
    pub(crate) backtrack: Processes,
    /// The processes explored so far, with the data of the reduction.
    pub(crate) taken: Vec<Taken>,
    /// Must it be explored in full? See the head of this file.
    pub(crate) is_full: bool,
    /// Has the reduction explored enough?
    pub(crate) is_complete: bool,
    /// Did a transition of the current process lead to a new state?
    pub(crate) has_news: bool,
    /// The transitions taken so far.
    pub(crate) edges: Vec<Edge>,
    /// Processes all of whose successors are stored.
    known: Processes,
    /// The number of actions of the current transition.
    steps: usize,
    after: SummaryId,
    low: u32,
    open: usize,
    /// The start of its choices in [`DepthFirst::choices`].
    mark: usize,
}

/// A running search.
pub(crate) struct DepthFirst<'s, S: System> {
    pub(crate) settings: Stateful,
    /// The labels so far.
    pub(crate) labels: Labels,
    /// The memory about states that were left.
    pub(crate) past: Past,
    pub(super) cursor: Cursor<'s, S>,
    /// Finds processes in loops that change nothing.
    watch: Watch,
    pub(super) safe_sets: SafeSets,
    /// Are steps fused that concern only their process?
    fuses: bool,
    /// Which invariants read what, if there are invariants to be judged and steps are fused.
    pub(super) readers: Option<Readers>,
    order: Enumeration,
    /// The stack. Frames beyond `depth` are kept for reuse.
    frames: Vec<Frame>,
    depth: usize,
    /// For each state on the stack, the choices of its current process that are not taken yet.
    choices: Vec<Choice>,
    /// What the transitions have led to, if the search is saved.
    news: Option<News>,
}

/// Explores the processes that `reduction` selects. Within a depth bound, explores every state,
/// perhaps in batches according to `plan`.
pub fn explore<S: System>(
    system: &S,
    (settings, plan): (Stateful, Plan),
    reduction: &mut impl Reduction<S>,
    driver: &mut Driver<'_>,
) {
    match driver.depth().filter(|_| !settings.as_printed) {
        Some(depth) => breadth_first::explore(system, settings, (depth, plan), driver),
        None => depth_first(system, settings, reduction, driver),
    }
    if settings.hash_compaction {
        driver.stop(StopReason::HashCompaction);
    }
}

fn depth_first<S: System>(
    system: &S,
    settings: Stateful,
    reduction: &mut impl Reduction<S>,
    driver: &mut Driver<'_>,
) {
    let known = kept::gone_again(system, Form::DepthFirst, driver, |news, _, again| {
        let mut search = DepthFirst::begun(system, settings, reduction, again);
        search.news = Some(news);
        search.go_on(reduction, again);
        search
    });
    let mut search = match known {
        Ok(Some(search)) => search,
        Err(Ended) => return,
        Ok(None) => {
            let mut search = DepthFirst::begun(system, settings, reduction, driver);
            search.news = kept::news(driver);
            search
        }
    };
    search.go_on(reduction, driver);
    driver.stats.state_bytes = Some(search.bytes() as u64);
    driver.stats.symmetry = search.cursor.symmetry();
}

impl<S: System> Noting for DepthFirst<'_, S> {
    fn news(&mut self) -> Option<&mut News> {
        self.news.as_mut()
    }
}

impl<'s, S: System> DepthFirst<'s, S> {
    fn new(system: &'s S, settings: Stateful, memory: Memory, stop: StopSignal) -> Self {
        DepthFirst {
            settings,
            labels: Labels::default(),
            past: Past::new(memory),
            cursor: Cursor::new(system, settings),
            watch: Watch::new(stop),
            safe_sets: SafeSets::new(settings),
            fuses: false,
            readers: None,
            order: Enumeration::new(settings.order),
            frames: Vec::new(),
            depth: 0,
            choices: Vec::new(),
            news: None,
        }
    }

    /// A search that is in its initial state.
    fn begun(
        system: &'s S,
        settings: Stateful,
        reduction: &impl Reduction<S>,
        driver: &mut Driver<'_>,
    ) -> Self {
        let (memory, stop) = (reduction.memory(), driver.signal().clone());
        let mut search = DepthFirst::new(system, settings, memory, stop);
        if reduction.merges_orbits() {
            search.cursor.match_orbits();
        }
        driver.started(&mut search.cursor.locals, &search.cursor.state);
        if reduction.fuses() {
            search.fuses = true;
            let are_judged = driver.budget().properties.contain::<Invariants>();
            search.readers = system.invariants().filter(|_| are_judged).map(|_| Readers::default());
        }
        let (initial, _) = search.cursor.matched();
        search.enter(initial, driver);
        search
    }

    /// Explores everything from the states on the stack; or, if the search goes again, up to where
    /// it was.
    fn go_on(&mut self, reduction: &mut impl Reduction<S>, driver: &mut Driver<'_>) {
        while self.depth > 0 && !driver.is_stopped() && !is_there(self.news.as_ref()) {
            kept::save_from_state_to_state(self, Form::DepthFirst, driver);
            if let Some(action) = self.next_transition() {
                self.take(action, reduction, driver);
            } else if let Some(process) = self.finished() {
                reduction.explored(self, process);
            } else if let Some(process) = reduction.next(self) {
                self.begin(process);
            } else {
                self.prove_explored();
                self.leave();
                driver.has_left(self.depth);
            }
        }
    }

    /// The state on top of the stack.
    pub(crate) fn top(&mut self) -> &mut Frame {
        &mut self.frames[self.depth - 1]
    }

    /// The stack up to the state on top.
    pub(crate) fn stack(&mut self) -> (&mut [Frame], &Labels, &mut Past) {
        (&mut self.frames[..self.depth], &self.labels, &mut self.past)
    }

    /// Is this optimisation on?
    pub(crate) fn has(&self, switch: Switch) -> bool {
        self.settings.has(switch)
    }

    /// Bytes in use for states, and for summaries or stored transitions.
    fn bytes(&self) -> usize {
        self.cursor.bytes() + self.past.bytes()
    }

    /// Pushes the current state, which is new.
    fn enter(&mut self, id: StateId, driver: &mut Driver<'_>) {
        self.past.push(id, self.depth);
        driver.stats.states = Some(self.cursor.count());
        let mut frame = self.frame(id);
        frame.enabled = self.enabled();
        if driver.is_stopped() {
            // A violation on the step to this state may have left the state without a meaning.
        } else if frame.enabled.is_empty() {
            self.end(driver);
        } else if !self.is_livelock(driver)
            && self.cursor.state.depth() as u64 >= u64::from(driver.depth_bound())
        {
            driver.truncated(&self.cursor.locals, &self.cursor.state);
            frame.enabled = Processes::default();
        }
        frame.safe = self.safe_set(&frame.enabled);
        match self.frames.get_mut(self.depth) {
            Some(left) => *left = frame,
            None => self.frames.push(frame),
        }
        self.depth += 1;
    }

    /// A frame for a new state, with the allocations of one that was left.
    fn frame(&mut self, state: StateId) -> Frame {
        let left = self.frames.get_mut(self.depth);
        let (mut taken, mut edges) = left.map_or_else(Default::default, |left| {
            (std::mem::take(&mut left.taken), std::mem::take(&mut left.edges))
        });
        taken.clear();
        edges.clear();
        Frame {
            state,
            enabled: Processes::default(),
            safe: Processes::default(),
            explored: Processes::default(),
            done: Processes::default(),
            backtrack: Processes::default(),
            taken,
            is_full: false,
            is_complete: false,
            has_news: false,
            edges,
            known: Processes::default(),
            steps: 0,
            after: SummaryId::NONE,
            low: self.depth as u32,
            open: self.past.open(),
            mark: self.choices.len(),
        }
    }

    pub(super) fn enabled(&mut self) -> Processes {
        let DepthFirst { settings, cursor: Cursor { state, locals, .. }, .. } = self;
        if !settings.as_printed {
            return state.processes().filter(|&p| state.can_move(locals, p)).collect();
        }
        let processes: Vec<_> = self.cursor.state.processes().collect();
        processes.into_iter().filter(|&process| self.is_enabled(process)).collect()
    }

    /// Are all processes that can move in loops that change nothing? If so, reports it.
    fn is_livelock(&mut self, driver: &mut Driver<'_>) -> bool {
        let DepthFirst { settings, watch, cursor: Cursor { state, locals, .. }, .. } = self;
        let may_wait = locals.some_may_return() && !settings.as_printed;
        may_wait && driver.is_livelock(watch, locals, state)
    }

    fn is_enabled(&mut self, process: ProcessId) -> bool {
        match self.blocking_lock(process) {
            Some(mutex) => self.cursor.state.mutex(mutex).owner().is_none(),
            None => self.cursor.state.can_move(&self.cursor.locals, process),
        }
    }

    /// safeSet(s)
    fn safe_set(&mut self, enabled: &Processes) -> Processes {
        let invisible = match self.has(Switch::SafeSets) {
            true if self.fuses => self.first_alone(enabled),
            true => self.safe_sets.invisible(&mut self.cursor.locals, &self.cursor.state, enabled),
            false => None,
        };
        invisible.map_or_else(|| enabled.clone(), Processes::only)
    }

    /// Reports a terminal state. If locks are single transitions, the processes that are blocked at
    /// a lock make their requests first, so that the state is terminal in the model, too.
    fn end(&mut self, driver: &mut Driver<'_>) {
        let mut stuck: Vec<_> = self.cursor.state.processes().collect();
        stuck.retain(|&process| self.blocking_lock(process).is_some());
        for &process in &stuck {
            self.cursor.execute(Action { process, choice: Choice::ONLY });
        }
        driver.terminal(&mut self.cursor.locals, &self.cursor.state);
        self.cursor.undo(stuck.len());
    }

    /// The first of these enabled, unexplored processes in the order of the search. With
    /// `visited_first`, processes all of whose transitions lead to stored states go first.
    pub(crate) fn first(&mut self, of: &Processes, visited_first: bool) -> Option<ProcessId> {
        if visited_first && of.len() > 1 {
            let known = self.known(of);
            if !known.is_empty() {
                return self.order.first(&known);
            }
        }
        self.order.first(of)
    }

    /// Of these enabled, unexplored processes, those all of whose transitions lead to stored
    /// states.
    pub(crate) fn known(&mut self, of: &Processes) -> Processes {
        let before = std::mem::take(&mut self.top().known);
        let known = of.iter().filter(|&process| before.contains(process) || self.is_known(process));
        let known: Processes = known.collect();
        self.top().known.clone_from(&known);
        known
    }

    fn is_known(&mut self, process: ProcessId) -> bool {
        let mut choices: SmallVec<[Choice; 4]> = SmallVec::new();
        self.cursor.state.choices(&self.cursor.locals, process, |choice| choices.push(choice));
        choices.into_iter().all(|choice| {
            let (steps, _) = self.step(Action { process, choice }, None);
            let is_known = self.cursor.is_known();
            self.cursor.undo(steps);
            is_known
        })
    }

    /// Begins to explore a process from the state on top.
    fn begin(&mut self, process: ProcessId) {
        let watch = self.watch(process);
        let DepthFirst { cursor: Cursor { state, locals, .. }, choices, .. } = self;
        let from = choices.len();
        state.choices(locals, process, |choice| choices.push(choice));
        choices[from..].reverse();
        let current = Processes::only(process);
        let top = self.top();
        top.taken.push(Taken { process, watch, current, is_open: false });
        top.explored.insert(process);
        top.has_news = false;
    }

    fn watch(&mut self, process: ProcessId) -> LabelId {
        let mut touches = Touches::new();
        if self.past.memory() != Memory::Marks {
            self.cursor
                .state
                .watches(&mut self.cursor.locals, process, |touch| touches.push(touch));
        }
        self.label(process, touches)
    }

    /// The label; always the same if the reduction needs no labels.
    fn label(&mut self, process: ProcessId, mut touches: Touches) -> LabelId {
        if self.past.memory() == Memory::Marks {
            return LabelId::UNUSED;
        }
        self.as_locks(&mut touches);
        self.labels.intern(process, touches)
    }

    /// As printed, every operation on a mutex is a change of the mutex.
    fn as_locks(&self, touches: &mut Touches) {
        if self.settings.as_printed {
            for touch in touches {
                if touch.lane.part() == Part::Queue {
                    let mutex = MutexId(touch.lane.object());
                    *touch = Touch::new(mutex.requests(), May::Change);
                }
            }
        }
    }

    /// The next transition of the current process.
    fn next_transition(&mut self) -> Option<Action> {
        let top = &self.frames[self.depth - 1];
        if self.choices.len() == top.mark {
            return None;
        }
        let process = top.taken.last().expect("a process at hand").process;
        self.choices.pop().map(|choice| Action { process, choice })
    }

    /// The current process, if all its transitions have been taken and the reduction has not been
    /// notified yet.
    fn finished(&mut self) -> Option<ProcessId> {
        let top = self.top();
        let is_at_hand = std::mem::replace(&mut top.steps, 0) > 0;
        is_at_hand.then(|| top.taken.last().expect("a process at hand").process)
    }

    /// Takes a transition, and pushes the state that it leads to if that is new.
    fn take(&mut self, action: Action, reduction: &mut impl Reduction<S>, driver: &mut Driver<'_>) {
        let foretold = self.news.as_mut().and_then(News::foretold);
        if foretold == Some(Led::Known) {
            // Steps that are skipped need not be undone.
            self.top().steps = 1;
            return driver.moved_on(self.cursor.state.depth() + 1);
        }
        let (mut steps, label) = self.step(action, Some(driver));
        driver.stats.transitions -= steps as u64 - 1;
        let before = driver.stats.transitions;
        if self.fuses {
            steps += self.fuse(driver);
        }
        let (to, mut led) = self.cursor.matched_as();
        if led == Led::Known && self.is_told_by(to) {
            led = Led::Told;
        }
        if let Some(news) = &mut self.news {
            news.note(foretold, led);
            news.note_fused(led, driver.stats.transitions - before);
        }
        let is_new = led == Led::New;
        let top = &mut self.frames[self.depth - 1];
        let Cursor { state, locals, .. } = &self.cursor;
        let actions = (state.depth() - steps..state.depth()).map(|index| state.action(index));
        let actions: SmallVec<[Action; 2]> = actions.collect();
        driver.transition((top.state.0, &actions, to.0), locals, state);
        top.steps = steps;
        top.has_news |= is_new;
        top.edges.push(Edge { action, label, to });
        top.after = self.past.with(top.after, &self.labels, label);
        reduction.moved(self);
        if is_new {
            self.enter(to, driver);
        } else {
            self.note_known(to);
            reduction.revisited(self, to);
            self.back();
        }
    }

    /// Is something learned from a transition to this state, which is known?
    fn is_told_by(&mut self, state: StateId) -> bool {
        let is_back = matches!(self.past.mark(state), Mark::OnStack(_));
        self.past.memory() != Memory::Marks || is_back && !self.top().is_full
    }

    /// Takes one transition, of one or two actions of the model. Returns the number of actions, and
    /// the label of what they touched.
    fn step(&mut self, action: Action, driver: Option<&mut Driver<'_>>) -> (usize, LabelId) {
        let lock = self.blocking_lock(action.process);
        let (mut touches, mut steps, mut driver) = (Touches::new(), 0, driver);
        let mut next = Some(action);
        while let Some(action) = next.take() {
            self.cursor.execute(action);
            steps += 1;
            if let Some(driver) = &mut driver {
                driver.moved(&mut self.cursor.locals, &self.cursor.state, action);
                if self.past.memory() != Memory::Marks {
                    self.cursor.state.touches(&self.cursor.locals, |touch| touches.push(touch));
                }
            }
            let waits = steps == 1 && lock.is_some();
            next = waits.then_some(Action { choice: Choice::ONLY, ..action });
        }
        (steps, self.label(action.process, touches))
    }

    /// Updates the state on top, whose current transition led to a stored state.
    fn note_known(&mut self, state: StateId) {
        let mark = self.past.mark(state);
        let top = &mut self.frames[self.depth - 1];
        match mark {
            Mark::OnStack(place) => {
                top.low = top.low.min(place);
                top.is_full = true;
                top.safe = top.enabled.clone();
            }
            Mark::Open(low) => top.low = top.low.min(low),
            Mark::Closed(after) => top.after = self.past.union(top.after, after),
        }
    }

    /// Undoes the current transition of the state on top.
    fn back(&mut self) {
        self.cursor.undo(self.frames[self.depth - 1].steps);
    }

    /// Proves that a process was explored from the state on top, if one is enabled there.
    ///
    /// # Panics
    /// If the reduction has selected no process.
    fn prove_explored(&self) {
        let top = &self.frames[self.depth - 1];
        if top.explored.is_empty()
            && let Some(process) = top.enabled.iter().next()
        {
            let Cursor { state, locals, .. } = &self.cursor;
            let mut choice = None;
            state.choices(locals, process, |possible| choice = choice.or(Some(possible)));
            lost(locals, state, Action { process, choice: choice.unwrap_or(Choice::ONLY) });
        }
    }

    /// Pops the state on top.
    fn leave(&mut self) {
        self.depth -= 1;
        let Frame { state, low, after, open, .. } = self.frames[self.depth];
        self.past.leave(state, self.depth, low, open, after);
        self.past.keep(state, &self.frames[self.depth].edges);
        if self.depth > 0 {
            let top = &mut self.frames[self.depth - 1];
            top.low = top.low.min(low);
            top.after = self.past.union(top.after, after);
            self.back();
        }
    }
}
