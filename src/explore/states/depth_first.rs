//! Depth-first through states: the search that the stateful explorers share.
//!
//! ```text
//! Explore(s):                                  s is new, on top of the stack
//!   while the reduction names a process t:
//!     for each transition (s, a, s') of t:     several where t has a choice
//!       push s';  if s' is new: Explore(s');  pop
//!     tell the reduction that t is explored from s
//! ```
//!
//! The explorers differ only in their [`Reduction`], which says which processes to explore from a
//! state. The search keeps one model state, which it steps and undoes ([`Cursor`]).
//!
//! **Cycles.** The paper's state spaces have none. Those of programs that spin have cycles, and
//! along a cycle a process could be put off for ever. So a state with a transition back to the
//! stack is explored in full ([`Frame::is_full`]; condition C3 of Clarke, Grumberg, Peled, *Model
//! checking*, 1999, section 10.5).
//!
//! **Depth.** Within a depth bound another search is used ([`super::breadth_first`]). Only as
//! printed this one is used, and what is beyond the bound is cut off; such a search promises
//! nothing.
//!
//! **Locks as printed.** The paper's lock is one transition, disabled while the mutex is taken.
//! Ours is a request, which is never disabled, and a wait. [`Stateful::as_printed`] makes one
//! transition of the two if the wait comes next. A process that requests a mutex and then only
//! tests it is never blocked.

use smallvec::SmallVec;

use super::batches::Plan;
use super::breadth_first;
use super::cursor::Cursor;
use super::enumeration::Enumeration;
use super::labels::{LabelId, Labels, SummaryId, Touches};
use super::past::{Edge, Mark, Memory, Past};
use super::processes::Processes;
use super::safe_set::SafeSets;
use super::settings::{Stateful, Switch};
use super::store::StateId;
use crate::explore::driver::Driver;
use crate::explore::ends::lost;
use crate::explore::result::StopReason;
use crate::model::{
    Action, Choice, Handle, MutexId, Op, ProcessId, Response, StopSignal, System, Touch,
};
use crate::property::Watch;

/// Which processes are explored from a state.
pub trait Reduction<S: System> {
    /// What it needs to know about states that were left.
    fn memory(&self) -> Memory {
        Memory::Marks
    }

    /// The process to be explored next from the state on top of the stack; `None` if that state is
    /// done.
    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId>;

    /// Notes that a transition of the state on top was taken.
    fn moved(&mut self, search: &mut DepthFirst<'_, S>) {
        let _ = search;
    }

    /// Notes that it led to a state that was met before.
    fn revisited(&mut self, search: &mut DepthFirst<'_, S>, state: StateId) {
        let _ = (search, state);
    }

    /// Notes that all transitions of `process` from the state on top are explored.
    fn explored(&mut self, search: &mut DepthFirst<'_, S>, process: ProcessId) {
        let _ = (search, process);
    }
}

/// A process that was explored from a state.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Who.
    pub process: ProcessId,
    /// What its operation watches there.
    pub watch: LabelId,
    /// s.current\[t\]: itself, and who acts later in a way that races with it.
    pub current: Processes,
    /// Is something that comes after its transitions still unknown?
    pub is_open: bool,
}

/// A state on the stack.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Which one.
    pub state: StateId,
    /// enabled(s)
    pub enabled: Processes,
    /// safeSet(s)
    pub safe: Processes,
    /// The processes explored, or being explored.
    pub explored: Processes,
    /// s.done
    pub done: Processes,
    /// s.backtrack
    pub backtrack: Processes,
    /// The processes explored so far, and what is known of them.
    pub taken: Vec<Taken>,
    /// Is it to be explored in full? See the head of this file.
    pub is_full: bool,
    /// Has the reduction explored enough?
    pub is_complete: bool,
    /// Did a transition of the process at hand lead to a new state?
    pub has_news: bool,
    /// The transitions taken so far.
    pub edges: Vec<Edge>,
    /// Processes whose successors were all met before.
    known: Processes,
    /// How many actions the transition at hand is made of.
    steps: usize,
    after: SummaryId,
    low: u32,
    open: usize,
    /// The start of its choices.
    mark: usize,
}

/// A search under way.
pub struct DepthFirst<'s, S: System> {
    /// Its settings.
    pub settings: Stateful,
    /// The labels met so far.
    pub labels: Labels,
    /// What is remembered about states that were left.
    pub past: Past,
    cursor: Cursor<'s, S>,
    /// Looks for processes that go round in vain.
    watch: Watch,
    safe_sets: SafeSets,
    order: Enumeration,
    /// The stack. Frames beyond `depth` are kept to be used again.
    frames: Vec<Frame>,
    depth: usize,
    /// The choices not yet taken of the process at hand, for each state on the stack.
    choices: Vec<Choice>,
}

/// Explores what `reduction` asks for; within a depth bound, everything, as `plan` says if that is
/// done in batches.
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
    let mut search = DepthFirst::new(system, settings, reduction.memory(), driver.signal().clone());
    driver.started(&mut search.cursor.locals, &search.cursor.state);
    let (initial, _) = search.cursor.matched();
    search.enter(initial, driver);
    while search.depth > 0 && !driver.is_stopped() {
        if let Some(action) = search.next_transition() {
            search.take(action, reduction, driver);
        } else if let Some(process) = search.finished() {
            reduction.explored(&mut search, process);
        } else if let Some(process) = reduction.next(&mut search) {
            search.begin(process);
        } else {
            search.prove_explored();
            search.leave();
        }
    }
    driver.stats.state_bytes = Some(search.bytes() as u64);
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
            order: Enumeration::new(settings.order),
            frames: Vec::new(),
            depth: 0,
            choices: Vec::new(),
        }
    }

    /// The state on top of the stack.
    pub fn top(&mut self) -> &mut Frame {
        &mut self.frames[self.depth - 1]
    }

    /// The stack up to the state on top.
    pub fn stack(&mut self) -> (&mut [Frame], &Labels, &mut Past) {
        (&mut self.frames[..self.depth], &self.labels, &mut self.past)
    }

    /// Is this switched on?
    pub fn has(&self, switch: Switch) -> bool {
        self.settings.has(switch)
    }

    /// Bytes in use for states, and for what comes after them.
    fn bytes(&self) -> usize {
        self.cursor.bytes() + self.past.bytes()
    }

    /// Pushes the present state, which is new.
    fn enter(&mut self, id: StateId, driver: &mut Driver<'_>) {
        self.past.push(id, self.depth);
        driver.stats.states = Some(self.cursor.count());
        let mut frame = self.frame(id);
        frame.enabled = self.enabled();
        if driver.is_stopped() {
            // What was found on the way here may have left this state without a meaning.
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

    fn enabled(&mut self) -> Processes {
        let DepthFirst { settings, cursor: Cursor { state, locals, .. }, .. } = self;
        if !settings.as_printed {
            return state.processes().filter(|&p| state.can_move(locals, p)).collect();
        }
        let processes: Vec<_> = self.cursor.state.processes().collect();
        processes.into_iter().filter(|&process| self.is_enabled(process)).collect()
    }

    /// Do all processes that can move go round loops in vain? Then reports it.
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

    /// The mutex that the process is about to lock, if that is one transition.
    fn blocking_lock(&mut self, process: ProcessId) -> Option<MutexId> {
        if !self.settings.as_printed {
            return None;
        }
        let Cursor { state, locals, .. } = &mut self.cursor;
        let local = state.local(process);
        let Some(&Op::AsyncLock(mutex)) = locals.op(local) else { return None };
        let request = Response::Posted(Handle(state.posted_count(process)));
        let after = locals.resume(local, request);
        waits_for(locals.op(after), mutex).then_some(mutex)
    }

    /// safeSet(s)
    fn safe_set(&mut self, enabled: &Processes) -> Processes {
        let invisible = match self.has(Switch::SafeSets) {
            true => self.safe_sets.invisible(&mut self.cursor.locals, &self.cursor.state, enabled),
            false => None,
        };
        invisible.map_or_else(|| enabled.clone(), Processes::only)
    }

    /// Reports a terminal state. If locks are one transition, the processes that cannot get theirs
    /// make their requests, so that nothing can move in the model either.
    fn end(&mut self, driver: &mut Driver<'_>) {
        let mut stuck: Vec<_> = self.cursor.state.processes().collect();
        stuck.retain(|&process| self.blocking_lock(process).is_some());
        for &process in &stuck {
            self.cursor.execute(Action { process, choice: Choice::ONLY });
        }
        driver.terminal(&mut self.cursor.locals, &self.cursor.state);
        self.cursor.undo(stuck.len());
    }

    /// The next process to be explored, in the order asked for. The given processes are enabled and
    /// not explored. With `visited_first`, a process whose transitions all lead to states met
    /// before goes first.
    pub fn first(&mut self, of: &Processes, visited_first: bool) -> Option<ProcessId> {
        if visited_first && of.len() > 1 {
            let known = self.known(of);
            if !known.is_empty() {
                return self.order.first(&known);
            }
        }
        self.order.first(of)
    }

    /// Those of the processes, which are enabled and not explored, whose transitions all lead to
    /// states that were met before.
    pub fn known(&mut self, of: &Processes) -> Processes {
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

    /// The label. If nobody asks what comes after a state, it is always the same one.
    fn label(&mut self, process: ProcessId, mut touches: Touches) -> LabelId {
        if self.past.memory() == Memory::Marks {
            return LabelId::UNUSED;
        }
        self.as_locks(&mut touches);
        self.labels.intern(process, touches)
    }

    /// As printed, every operation on a mutex is a change of it.
    fn as_locks(&self, touches: &mut Touches) {
        if self.settings.as_printed {
            for touch in touches {
                use Touch::{AwaitUnlock, Cancel, Queue, Try, Unlock};
                if let Unlock(m) | Cancel(m) | AwaitUnlock(m) | Queue(m) | Try(m) = *touch {
                    *touch = Touch::Lock(m);
                }
            }
        }
    }

    /// The next transition of the process at hand.
    fn next_transition(&mut self) -> Option<Action> {
        let top = &self.frames[self.depth - 1];
        if self.choices.len() == top.mark {
            return None;
        }
        let process = top.taken.last().expect("a process at hand").process;
        self.choices.pop().map(|choice| Action { process, choice })
    }

    /// The process at hand, if all its transitions have been taken and the reduction has not been
    /// told.
    fn finished(&mut self) -> Option<ProcessId> {
        let top = self.top();
        let is_at_hand = std::mem::replace(&mut top.steps, 0) > 0;
        is_at_hand.then(|| top.taken.last().expect("a process at hand").process)
    }

    /// Takes a transition, and pushes the state that it leads to if that is new.
    fn take(&mut self, action: Action, reduction: &mut impl Reduction<S>, driver: &mut Driver<'_>) {
        let (steps, label) = self.step(action, Some(driver));
        driver.stats.transitions -= steps as u64 - 1;
        let (to, is_new) = self.cursor.matched();
        let top = &mut self.frames[self.depth - 1];
        let wait = Action { choice: Choice::ONLY, ..action };
        let transition = (top.state.0, &[action, wait][..steps], to.0);
        driver.transition(transition, &self.cursor.locals, &self.cursor.state);
        top.steps = steps;
        top.has_news |= is_new;
        top.edges.push(Edge { action, label, to });
        top.after = self.past.with(top.after, &self.labels, label);
        reduction.moved(self);
        if is_new {
            self.enter(to, driver);
        } else {
            self.meet(to);
            reduction.revisited(self, to);
            self.back();
        }
    }

    /// Takes one transition of the model, of one action or two. Returns how many, and what they
    /// touched.
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

    /// Notes that the transition at hand led to a state that was met before.
    fn meet(&mut self, state: StateId) {
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

    /// Undoes the transition at hand of the state on top.
    fn back(&mut self) {
        self.cursor.undo(self.frames[self.depth - 1].steps);
    }

    /// Proves that something was explored from the state on top, if anything is enabled there.
    ///
    /// # Panics
    /// If the reduction has named nobody.
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

/// Does the operation wait for this mutex only?
fn waits_for(op: Option<&Op>, mutex: MutexId) -> bool {
    matches!(op, Some(Op::MutexWaitAny(requests))
        if matches!(**requests, [request] if request.mutex == mutex))
}
