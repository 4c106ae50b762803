//! The walk of all explorers that go along executions: forward along one, and back to the last
//! state where something is left to be tried.
//!
//! ```text
//! Explore(E, Sleep):
//!   arrive(E)                                            what the races of E ask for; what is to be tried from E
//!   while there is p that is to be tried from E:
//!     Explore(E·p, {q ∈ Sleep : q is independent of p after E})
//!     add p to Sleep
//! ```
//!
//! This file has only what these algorithms have in common. They differ in their [`Rule`]: in what
//! is to be tried, in what a race means, and in what is remembered on the way back. For a rule
//! without sleep sets, Sleep is empty.

use super::budget::Depth;
use super::driver::Driver;
use super::ends::lost;
use super::order::{Order, Sorter};
use super::parallel::scout::Start;
use super::result::StopReason;
use super::tree::Branch;
use crate::model::{Action, Schedule, StopSignal, System};
use crate::trace::{Candidate, Execution, SleepSet};

/// The part in which explorers that go along executions differ.
pub trait Rule<S: System> {
    /// The walk has gone on to E: finds out what the races of its last action ask for from earlier
    /// states, and begins what is to be tried from E.
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>);

    /// The next action to be tried from E.
    fn next(&mut self, walk: &mut Walk<'_, '_, '_, S>) -> Option<Action>;

    /// Notes that nothing is to be tried from E any more, and that its last action is about to be
    /// taken back.
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>);

    /// Notes, in the state where a branch begins, that only this is to be tried there
    /// ([`Branch::wanted`]). `None` if that has no meaning.
    fn want(&mut self, _: &mut Walk<'_, '_, '_, S>, _: &[Schedule]) -> Option<()> {
        None
    }

    /// Gives something away that is left to do ([`Driver::split_off`]).
    #[cold]
    fn share(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        walk.split();
    }
}

/// The settings of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The order in which enabled actions are tried. Without one they are tried as they come.
    pub order: Option<Order>,
    /// Which actions of a sleep set stay asleep after an independent action.
    pub sleep: Sleepers,
    /// What a depth bound measures.
    pub depth: Depth,
}

impl Manner {
    /// A walk in this order, with or without sleep sets, up to a causal depth.
    pub fn new(order: Order, sleep_sets: bool) -> Manner {
        let sleep = if sleep_sets { Sleepers::All } else { Sleepers::Given };
        Manner { order: Some(order), sleep, depth: Depth::Causal }
    }

    /// A walk whose rule puts to sleep what it passes over, without a bound on the depth.
    pub fn passing() -> Manner {
        Manner { order: None, sleep: Sleepers::Passed, depth: Depth::Unbounded }
    }

    /// A walk in this order, with sleep sets, up to a causal depth.
    pub fn sleeping(order: Order) -> Manner {
        Manner { order: Some(order), sleep: Sleepers::All, depth: Depth::Causal }
    }
}

/// Which actions of the sleep set of a state stay asleep after an independent action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleepers {
    /// Everything: sleep sets (Godefroid 1996).
    All,
    /// Everything, but what was explored is not put to sleep.
    Passed,
    /// Only what others explore ([`Branch::elsewhere`]).
    Given,
    /// Nothing: every interleaving is to be visited.
    None,
}

/// How far an execution goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Something is enabled.
    Open,
    /// Nothing is enabled: it is complete.
    End,
    /// Everything enabled is beyond the depth bound, or would end a fruitless round.
    Cut,
    /// Something is enabled, but the execution is too long.
    TooLong,
    /// The search is to end.
    Stop,
}

/// An execution, and the sleep sets along it.
pub struct Walk<'s, 'd, 'o, S: System> {
    /// E
    pub execution: Execution<'s, S>,
    /// Sleep, for E and its prefixes.
    pub sleep: SleepSet,
    /// The actions enabled after E, in the order of trying. [`Walk::look`] fills it.
    pub enabled: Vec<Action>,
    /// Its settings.
    pub manner: Manner,
    /// The driver, which keeps the accounts.
    pub driver: &'d mut Driver<'o>,
    sorter: Option<Sorter>,
    /// Longer executions are cut.
    max_length: usize,
    /// The shortest prefix of E from which something else may be tried.
    start: Start<'s, S>,
}

/// The stack that a call must find left, and the stack that is added if there is less.
const RED_ZONE: usize = 256 << 10;
const STACK: usize = 4 << 20;
/// This many nested calls need less than the red zone, so it is looked at only once for them.
const FRAMES: usize = 16;

/// Explores what `rule` asks for, and at least one execution, in the branch that the driver gives.
pub fn explore<S: System>(
    system: &S,
    manner: Manner,
    rule: &mut impl Rule<S>,
    driver: &mut Driver<'_>,
) {
    let branch = driver.branch().clone();
    let mut walk = Walk::new(system, manner, driver);
    if branch.is_root() {
        let (locals, state) = walk.execution.parts();
        walk.driver.started(locals, state);
        walk.explore(rule);
    } else if walk.explore_branch(&branch, rule).is_none() && !walk.driver.is_stopped() {
        walk.driver.stop(StopReason::Stray);
    }
}

impl<'s, 'd, 'o, S: System> Walk<'s, 'd, 'o, S> {
    fn new(system: &'s S, manner: Manner, driver: &'d mut Driver<'o>) -> Self {
        let measure = driver.budget().measure.unwrap_or(manner.depth);
        let execution = Execution::new(system);
        let (execution, max_length) = match (measure, driver.depth()) {
            (Depth::Length, Some(depth)) => (execution.literal(), depth),
            (_, Some(depth)) => (execution.up_to(depth), driver.length_bound()),
            (_, None) => (execution, driver.length_bound()),
        };
        Walk {
            execution,
            sleep: SleepSet::default(),
            enabled: Vec::new(),
            manner,
            driver,
            sorter: manner.order.map(Sorter::new),
            max_length: max_length as usize,
            start: Start::at(0),
        }
    }

    /// Explore(E, Z), where E is a prefix from which nothing is to be tried. `None` if the branch
    /// is not one of this search.
    fn explore_branch(&mut self, branch: &Branch, rule: &mut impl Rule<S>) -> Option<()> {
        self.start.length = branch.prefix.len();
        for &portable in &branch.prefix {
            if self.driver.is_stopped() {
                return Some(());
            }
            rule.arrive(self);
            let p = self.named(portable)?;
            if self.manner.sleep == Sleepers::Passed {
                self.pass_over(p);
            }
            self.execution.push(p);
            self.fall_asleep();
        }
        if self.driver.is_stopped() {
            return Some(());
        }
        for &portable in &branch.elsewhere {
            let z = self.named(portable)?;
            let effect = self.execution.effect(z);
            self.sleep.give(z, effect);
        }
        match branch.wanted.is_empty() {
            true => rule.arrive(self),
            false => StopSignal::disregarded(|| rule.want(self, &branch.wanted))?,
        }
        if self.manner.sleep == Sleepers::Passed {
            self.start.length = 0;
        }
        self.go_on(rule);
        for _ in &branch.prefix {
            self.execution.pop();
            self.sleep.ascend();
            self.go_on(rule);
        }
        Some(())
    }

    /// The action of a branch with this name; `None` if it is not enabled after E.
    pub fn named(&self, portable: Action) -> Option<Action> {
        self.execution.state().action_named(&self.execution.locals, portable)
    }

    /// Explore(E, Sleep)
    fn explore(&mut self, rule: &mut impl Rule<S>) {
        let leaves = self.driver.leaves();
        rule.arrive(self);
        if !self.try_all(rule) && self.driver.leaves() == leaves {
            self.prove_idle();
        }
        rule.leave(self);
    }

    /// Tries from E what is to be tried, and leaves E.
    #[inline(always)]
    fn go_on(&mut self, rule: &mut impl Rule<S>) {
        self.try_all(rule);
        rule.leave(self);
    }

    /// Proves that nothing was tried from E, and E was not said to go no further, only because the
    /// search is to end.
    #[cold]
    fn prove_idle(&mut self) {
        if !self.driver.is_stopped() {
            self.enabled.clear();
            self.execution.enabled(&mut self.enabled);
            assert!(!self.enabled.is_empty(), "an end was not judged");
            self.prove_asleep();
        }
    }

    /// Proves that all `enabled` actions are asleep. If the search is to end, they need not be what
    /// the model says.
    fn prove_asleep(&mut self) {
        let awake = self.enabled.iter().find(|&&action| !self.sleep.contains(action));
        if let Some(&action) = awake.filter(|_| !self.driver.is_stopped()) {
            lost(&self.execution.locals, self.execution.state(), action);
        }
    }

    /// Tries from E what is to be tried. Was there anything?
    #[inline(always)]
    fn try_all(&mut self, rule: &mut impl Rule<S>) -> bool {
        let mut has_tried = false;
        while let Some(p) = self.next(rule) {
            has_tried = true;
            self.push(p, rule);
            if self.execution.len().is_multiple_of(FRAMES) {
                stacker::maybe_grow(RED_ZONE, STACK, || self.explore(rule));
            } else {
                self.explore(rule);
            }
            self.pop();
        }
        has_tried
    }

    // Here and below: a call for each part of a step would cost up to 4% of all instructions.
    #[inline(always)]
    fn next(&mut self, rule: &mut impl Rule<S>) -> Option<Action> {
        if self.execution.len() < self.start.length || self.driver.is_stopped() {
            None
        } else {
            rule.next(self)
        }
    }

    /// E := E·p
    #[inline(always)]
    fn push(&mut self, p: Action, rule: &mut impl Rule<S>) {
        self.execution.push(p);
        self.fall_asleep();
        let (locals, state) = self.execution.parts();
        self.driver.moved(locals, state, p);
        if self.driver.is_to_split() {
            rule.share(self);
        }
    }

    /// The sleep set of E·p.
    #[inline(always)]
    fn fall_asleep(&mut self) {
        let sleep = self.manner.sleep;
        self.sleep.descend_with(&mut self.execution, |is_given| match sleep {
            Sleepers::All | Sleepers::Passed => true,
            Sleepers::Given => is_given,
            Sleepers::None => false,
        });
    }

    /// Gives to others what is left to do from the first prefix where anything is.
    fn split(&mut self) {
        let Walk { execution, sleep, start, driver, .. } = self;
        let (state, order) = (execution.state(), execution.order());
        let portable = |length: usize, action: Action| {
            let later = order.of_process(action.process).iter().map(|&at| at as usize);
            let before = match later.into_iter().find(|&at| at >= length) {
                Some(at) => state.before(at),
                None => state.local(action.process),
            };
            let op = execution.locals.op(before).expect("it was enabled");
            state.portable(action, op.chooses_message())
        };
        let elsewhere = |length| {
            let asleep = sleep.at(length).map(|((action, _), _)| *action);
            let all = asleep.chain([execution.action(length)]);
            all.map(|action| portable(length, action)).collect()
        };
        let system = execution.locals.system();
        if let Some(branch) = start.next_branch((system, state), elsewhere) {
            driver.split_off(branch);
        }
    }

    /// Puts to sleep what is enabled and would be tried before this action. Can the action be
    /// taken: is it enabled and awake?
    pub fn pass_over(&mut self, step: Action) -> bool {
        self.enabled.clear();
        self.execution.enabled(&mut self.enabled);
        self.execution.sort(&mut self.enabled);
        let Some(place) = self.enabled.iter().position(|&action| action == step) else {
            return false;
        };
        for &action in &self.enabled[..place] {
            if !self.sleep.contains(action) {
                let effect = self.execution.effect(action);
                self.sleep.put(action, effect);
            }
        }
        !self.sleep.contains(step)
    }

    /// Tries what is to be tried from the first `length` actions of E; then E is as before. `rule`
    /// has been set back to that state.
    pub fn go_back(&mut self, length: usize, rule: &mut impl Rule<S>) {
        let sleep = self.sleep.clone();
        let mut undone = Vec::new();
        while self.execution.len() > length {
            undone.push(self.execution.pop().0);
            self.sleep.ascend();
        }
        stacker::maybe_grow(RED_ZONE, STACK, || self.try_all(rule));
        while let Some(action) = undone.pop() {
            self.execution.push(action);
        }
        self.sleep = sleep;
    }

    /// Is anything ever asleep?
    pub fn has_sleepers(&self) -> bool {
        self.manner.sleep == Sleepers::All || self.sleep.has_given()
    }

    /// Does the walk still go to the state where its branch begins?
    pub fn is_on_its_way(&self) -> bool {
        self.execution.len() < self.start.length
    }

    /// Is E the prefix where the walk begins?
    pub fn is_start(&self) -> bool {
        self.execution.len() == self.start.length
    }

    /// Takes p back, and adds it to Sleep.
    #[inline(always)]
    fn pop(&mut self) {
        self.sleep.ascend();
        let (p, effect) = self.execution.pop();
        let sleeps = match self.manner.sleep {
            Sleepers::All => true,
            Sleepers::Passed => false,
            Sleepers::Given | Sleepers::None => self.driver.can_split(),
        };
        if sleeps {
            self.sleep.put(p, effect);
        }
    }

    /// Finds out what is enabled after E, and tells the driver if E goes no further.
    #[inline(always)]
    pub fn look(&mut self) -> Reached {
        self.enabled.clear();
        if self.driver.is_stopped() {
            return Reached::Stop;
        }
        self.execution.enabled(&mut self.enabled);
        if self.enabled.is_empty() {
            let is_end = self.driver.ended(&mut self.execution);
            return if is_end { Reached::End } else { Reached::Cut };
        }
        if let Some(sorter) = &mut self.sorter {
            sorter.sort(&self.execution, &mut self.enabled);
        } else if self.manner.sleep == Sleepers::Passed {
            self.execution.sort(&mut self.enabled);
        }
        if self.execution.len() >= self.max_length {
            self.driver.truncated(&self.execution.locals, self.execution.state());
            return Reached::TooLong;
        }
        Reached::Open
    }

    /// What is enabled after E, for a backtrack set.
    pub fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.enabled.iter().map(|&action| {
            Candidate::new(action, self.execution.strand(action), self.sleep.contains(action))
        })
    }

    /// Sorts pending actions into the order of trying.
    pub fn sort(&mut self, actions: &mut [Action]) {
        if let Some(sorter) = &mut self.sorter {
            sorter.sort(&self.execution, actions);
        }
    }

    /// Notes that everything enabled is asleep, and proves it.
    pub fn blocked(&mut self) {
        self.prove_asleep();
        self.abandoned();
    }

    /// Notes that E is not what was looked for, so that others explore what is possible after it.
    pub fn abandoned(&mut self) {
        self.driver.blocked(&self.execution.locals, self.execution.state());
    }
}
