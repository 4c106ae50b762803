//! The depth-first walk that all explorers of executions share: forward along an execution, and
//! back to the last state from which another action must be tried.
//!
//! ```text
//! Explore(E, Sleep):
//!   arrive(E)                      handles the races of E; selects the actions to try from E
//!   while there is p that is to be tried from E:
//!     Explore(E·p, {q ∈ Sleep : q is independent of p after E})
//!     add p to Sleep
//! ```
//!
//! This file has only what these algorithms have in common. They differ in their [`Rule`]: which
//! actions must be tried, how a race adds to them, and what is kept when the walk goes back. For a
//! rule without sleep sets, Sleep is empty.

use super::budget::Depth;
use super::driver::Driver;
use super::ends::lost;
use super::order::{Order, Sorter};
use super::parallel::ahead::{Demand, Piece};
use super::parallel::demands::Outbox;
use super::parallel::start::Start;
use super::result::StopReason;
use super::tree::Branch;
use crate::model::{Action, Schedule, StopSignal, System};
use crate::trace::{Candidate, Execution, SleepSet};

/// The part in which explorers of executions differ.
pub(crate) trait Rule<S: System> {
    /// Called when the walk reaches E: handles the races of its last action, which add actions to
    /// try from earlier states, and initialises the actions to try from E.
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>);

    /// The next action to try from E; `None` if there is no further one.
    fn next(&mut self, walk: &mut Walk<'_, '_, '_, S>) -> Option<Action>;

    /// Called when nothing more is tried from E, before its last action is undone.
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>);

    /// Called in the state where a branch begins, if only certain continuations are to be explored
    /// there ([`Branch::wanted`]). `None` if the rule gives no such branches away.
    fn want(&mut self, _: &mut Walk<'_, '_, '_, S>, _: &[Schedule]) -> Option<()> {
        None
    }

    /// Called when a branch is asked for: gives one away ([`Driver::split_off`]), if there is one.
    #[cold]
    fn share(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        walk.split();
    }
}

/// The settings of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkOptions {
    /// The order in which enabled actions are tried; `None` for the order of the model.
    pub(crate) order: Option<Order>,
    /// Which actions of a sleep set stay asleep after an independent action.
    pub(crate) sleep: SleepPolicy,
    /// What a depth bound measures.
    pub(crate) depth: Depth,
}

impl WalkOptions {
    /// A walk in this order, with or without sleep sets, up to a causal depth.
    pub(crate) fn new(order: Order, sleep_sets: bool) -> WalkOptions {
        let sleep = if sleep_sets { SleepPolicy::All } else { SleepPolicy::Given };
        WalkOptions { order: Some(order), sleep, depth: Depth::Causal }
    }

    /// A walk whose rule itself puts actions to sleep ([`Walk::pass_over`]), without a depth bound.
    pub(crate) fn passing() -> WalkOptions {
        WalkOptions { order: None, sleep: SleepPolicy::Passed, depth: Depth::Unbounded }
    }

    /// A walk in this order, with sleep sets, up to a causal depth.
    pub(crate) fn sleeping(order: Order) -> WalkOptions {
        WalkOptions { order: Some(order), sleep: SleepPolicy::All, depth: Depth::Causal }
    }
}

/// Which actions of the sleep set of a state stay asleep after an independent action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SleepPolicy {
    /// All that are independent of it: sleep sets (Godefroid 1996).
    All,
    /// All that are independent of it. The walk does not put explored actions to sleep; the rule
    /// does that ([`Walk::pass_over`]).
    Passed,
    /// Only the actions that are explored elsewhere ([`Branch::elsewhere`]).
    Given,
    /// None: every interleaving is visited.
    None,
}

/// What [`Walk::look`] found after E.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// An action is enabled.
    Open,
    /// No action is possible: E is complete.
    End,
    /// Every possible action is beyond the depth bound, or would end a spin iteration.
    Cut,
    /// An action is enabled, but E has reached the longest length allowed.
    TooLong,
    /// The search must end.
    Stop,
}

/// An execution, and the sleep sets along it.
pub(crate) struct Walk<'s, 'd, 'o, S: System> {
    /// E
    pub(crate) execution: Execution<'s, S>,
    /// Sleep, for E and its prefixes.
    pub(crate) sleep: SleepSet,
    /// The actions enabled after E, in the order of trying. [`Walk::look`] fills it.
    pub(crate) enabled: Vec<Action>,
    /// Its settings.
    pub(crate) options: WalkOptions,
    /// The driver, to which the walk reports.
    pub(crate) driver: &'d mut Driver<'o>,
    sorter: Option<Sorter>,
    /// Longer executions are cut.
    max_length: usize,
    /// The shortest prefix of E from which other actions may be tried.
    start: Start<'s, S>,
    /// If this is a piece of another search: what its races demand of shorter prefixes.
    pub(crate) outbox: Outbox,
}

/// If less stack than `RED_ZONE` (in bytes) is left, a segment of `STACK` bytes is added.
const RED_ZONE: usize = 256 << 10;
const STACK: usize = 4 << 20;
/// Nested calls between two checks of the stack. Together they need less than `RED_ZONE`.
const CALLS_PER_CHECK: usize = 16;

/// Explores the branch of the driver: at least one execution, and all others that `rule` asks for.
pub fn explore<S: System>(
    system: &S,
    options: WalkOptions,
    rule: &mut impl Rule<S>,
    driver: &mut Driver<'_>,
) {
    let branch = driver.branch().clone();
    let mut walk = Walk::new(system, options, driver);
    if let Some(piece) = walk.driver.take_piece() {
        walk.explore_piece(&piece, rule);
    } else if branch.is_root() {
        let (locals, state) = walk.execution.parts();
        walk.driver.started(locals, state);
        walk.explore(rule);
    } else if walk.explore_branch(&branch, rule).is_none() && !walk.driver.is_stopped() {
        walk.driver.stop(StopReason::Stray);
    }
}

impl<'s, 'd, 'o, S: System> Walk<'s, 'd, 'o, S> {
    fn new(system: &'s S, options: WalkOptions, driver: &'d mut Driver<'o>) -> Self {
        let measure = driver.budget().measure.unwrap_or(options.depth);
        let execution = Execution::new(system);
        let (execution, max_length) = match (measure, driver.depth()) {
            (Depth::Length, Some(depth)) => (execution.literal(), depth),
            (_, Some(depth)) => (execution.up_to(depth), driver.length_bound()),
            (_, None) => (execution, driver.length_bound()),
        };
        let mut execution = execution;
        execution.locals.keep_few(driver.budget().keep_locals);
        Walk {
            execution,
            sleep: SleepSet::default(),
            enabled: Vec::new(),
            options,
            driver,
            sorter: options.order.map(Sorter::new),
            max_length: max_length as usize,
            start: Start::at(0),
            outbox: Outbox::default(),
        }
    }

    /// Explore(E, Z) for a branch: nothing else is tried from the proper prefixes of E. `None` if
    /// the branch is not one of this search.
    fn explore_branch(&mut self, branch: &Branch, rule: &mut impl Rule<S>) -> Option<()> {
        self.start.length = branch.prefix.len();
        for &portable in &branch.prefix {
            if self.driver.is_stopped() {
                return Some(());
            }
            rule.arrive(self);
            let p = self.named(portable)?;
            if self.options.sleep == SleepPolicy::Passed {
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
        if self.options.sleep == SleepPolicy::Passed {
            self.start.length = 0;
        }
        self.go_on(rule);
        self.leave_prefix(branch.prefix.len(), rule);
        Some(())
    }

    /// Leaves the prefixes of the execution where a search began, which has this length.
    fn leave_prefix(&mut self, length: usize, rule: &mut impl Rule<S>) {
        for _ in 0..length {
            self.execution.pop();
            self.sleep.ascend();
            self.go_on(rule);
        }
    }

    /// The portable name of an action that is enabled after `length` actions of E.
    pub(crate) fn portable(&self, length: usize, action: Action) -> Action {
        let (state, order) = (self.execution.state(), self.execution.order());
        let mut own = order.of_process(action.process).iter().map(|&at| at as usize);
        let before = match own.find(|&at| at >= length) {
            Some(at) => state.before(at),
            None => state.local(action.process),
        };
        let op = self.execution.locals.op(before).expect("it was enabled");
        state.portable(action, op.chooses_message())
    }

    /// Explore(E, Sleep) for a piece of another search.
    ///
    /// # Panics
    /// If it is not a piece of a search of this system.
    fn explore_piece(&mut self, piece: &Piece, rule: &mut impl Rule<S>) {
        const STRAY: &str = "a piece of a search of this system";
        self.start.length = piece.prefix.len();
        for (&next, asleep) in piece.prefix.iter().zip(&piece.asleep) {
            if self.driver.is_stopped() {
                return;
            }
            rule.arrive(self);
            for &name in asleep {
                let action = self.named(name).expect(STRAY);
                self.put_to_sleep(action);
            }
            let p = self.named(next).expect(STRAY);
            self.execution.push(p);
            self.fall_asleep();
        }
        // The other search has not gone this far: the last step is part of the piece.
        if let Some(last) = self.execution.state().schedule().last() {
            let (locals, state) = self.execution.parts();
            self.driver.moved(locals, state, last);
        }
        rule.arrive(self);
        self.go_on(rule);
        self.leave_prefix(piece.prefix.len(), rule);
        self.send_demands();
    }

    /// If this is a piece of another search: the length of the prefix where it begins. Shorter ones
    /// are the concern of that search.
    pub(crate) fn piece_start(&self) -> usize {
        if self.driver.is_piece() { self.start.length } else { 0 }
    }

    /// Demands something of a state before this piece ([`Walk::piece_start`]).
    pub(crate) fn demand(&mut self, demand: Demand) {
        if self.outbox.put(demand) {
            self.send_demands();
        }
    }

    fn send_demands(&mut self) {
        let demands = self.outbox.take();
        self.driver.send(demands);
    }

    /// Puts p, which is enabled after E, to sleep: what begins with it was explored elsewhere.
    pub(crate) fn put_to_sleep(&mut self, p: Action) {
        let effect = self.execution.effect(p);
        self.sleep.put(p, effect);
    }

    /// The action with this portable name; `None` if it is not enabled after E.
    pub(crate) fn named(&self, portable: Action) -> Option<Action> {
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

    /// Tries the actions that are to be tried from E, and leaves E.
    #[inline(always)]
    fn go_on(&mut self, rule: &mut impl Rule<S>) {
        self.try_all(rule);
        rule.leave(self);
    }

    /// For an E from which nothing was tried, and which was not reported as an end: proves that the
    /// search must end, or that every enabled action is asleep.
    #[cold]
    fn prove_idle(&mut self) {
        if !self.driver.is_stopped() {
            self.enabled.clear();
            self.execution.enabled(&mut self.enabled);
            assert!(!self.enabled.is_empty(), "an end was not judged");
            self.prove_asleep();
        }
    }

    /// Proves that all `enabled` actions are asleep. When the search must end, `enabled` may be
    /// incomplete, and nothing is proved.
    fn prove_asleep(&mut self) {
        let awake = self.enabled.iter().find(|&&action| !self.sleep.contains(action));
        if let Some(&action) = awake.filter(|_| !self.driver.is_stopped()) {
            lost(&self.execution.locals, self.execution.state(), action);
        }
    }

    /// Tries the actions that are to be tried from E. Returns whether there were any.
    #[inline(always)]
    fn try_all(&mut self, rule: &mut impl Rule<S>) -> bool {
        let mut has_tried = false;
        while let Some(p) = self.next(rule) {
            has_tried = true;
            self.push(p, rule);
            if self.execution.len().is_multiple_of(CALLS_PER_CHECK) {
                stacker::maybe_grow(RED_ZONE, STACK, || self.explore(rule));
            } else {
                self.explore(rule);
            }
            self.pop();
        }
        has_tried
    }

    // Inlined here and below: a call for each part of a step would cost up to 4% of all
    // instructions.
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

    /// Computes the sleep set of E·p from that of E.
    #[inline(always)]
    fn fall_asleep(&mut self) {
        let sleep = self.options.sleep;
        self.sleep.descend_with(&mut self.execution, |is_given| match sleep {
            SleepPolicy::All | SleepPolicy::Passed => true,
            SleepPolicy::Given => is_given,
            SleepPolicy::None => false,
        });
    }

    /// Gives away the open work of the shortest prefix that has any.
    pub(crate) fn split(&mut self) {
        let mut start = std::mem::replace(&mut self.start, Start::at(0));
        let elsewhere = |length| {
            let asleep = self.sleep.at(length).map(|((action, _), _)| *action);
            let all = asleep.chain([self.execution.action(length)]);
            all.map(|action| self.portable(length, action)).collect()
        };
        let system = self.execution.locals.system();
        let branch = start.next_branch((system, self.execution.state()), elsewhere);
        self.start = start;
        if let Some(branch) = branch {
            self.driver.split_off(branch);
        }
    }

    /// Puts to sleep the enabled actions that come before `step` in the order. Returns true if
    /// `step` is enabled and awake.
    pub(crate) fn pass_over(&mut self, step: Action) -> bool {
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

    /// Goes back to the first `length` actions of E, tries the actions that are to be tried there,
    /// and returns to E. The caller has set `rule` back to that state.
    pub(crate) fn go_back(&mut self, length: usize, rule: &mut impl Rule<S>) {
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

    /// May an action be asleep in this walk?
    pub(crate) fn has_sleepers(&self) -> bool {
        self.options.sleep == SleepPolicy::All || self.sleep.has_given()
    }

    /// Is E still shorter than the prefix of the branch?
    pub(crate) fn is_on_its_way(&self) -> bool {
        self.execution.len() < self.start.length
    }

    /// Is E the prefix of the branch?
    pub(crate) fn is_start(&self) -> bool {
        self.execution.len() == self.start.length
    }

    /// Undoes p, and adds it to Sleep.
    #[inline(always)]
    fn pop(&mut self) {
        self.sleep.ascend();
        let (p, effect) = self.execution.pop();
        if self.execution.locals.are_many() {
            self.forget();
        }
        let sleeps = match self.options.sleep {
            SleepPolicy::All => true,
            SleepPolicy::Passed => false,
            SleepPolicy::Given | SleepPolicy::None => self.driver.can_split(),
        };
        if sleeps {
            self.sleep.put(p, effect);
        }
    }

    /// Forgets the local states that E has not passed through.
    #[cold]
    fn forget(&mut self) {
        let Walk { execution, driver, .. } = self;
        execution.forget(|needed| driver.tell_needed(needed));
    }

    /// Computes the enabled actions after E, and reports to the driver if E has ended.
    #[inline(always)]
    pub(crate) fn look(&mut self) -> Reached {
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
        } else if self.options.sleep == SleepPolicy::Passed {
            self.execution.sort(&mut self.enabled);
        }
        if self.execution.len() >= self.max_length {
            self.driver.truncated(&self.execution.locals, self.execution.state());
            return Reached::TooLong;
        }
        Reached::Open
    }

    /// The enabled actions after E, as candidates for a backtrack set.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.enabled.iter().map(|&action| {
            Candidate::new(action, self.execution.strand(action), self.sleep.contains(action))
        })
    }

    /// Sorts pending actions into the order in which they are tried.
    pub(crate) fn sort(&mut self, actions: &mut [Action]) {
        if let Some(sorter) = &mut self.sorter {
            sorter.sort(&self.execution, actions);
        }
    }

    /// Reports that E is blocked: every enabled action is asleep, which is proved.
    pub(crate) fn blocked(&mut self) {
        self.prove_asleep();
        self.abandoned();
    }

    /// Reports that E is abandoned: the explorer covers its continuations elsewhere.
    pub(crate) fn abandoned(&mut self) {
        self.driver.blocked(&self.execution.locals, self.execution.state());
    }
}
