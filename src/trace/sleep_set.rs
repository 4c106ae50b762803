//! Sleep sets along an execution.
//!
//! Godefroid (LNCS 1032, 1996), chapter 5. When a search backtracks from action a in state s, all
//! continuations of s that begin with a are explored. From then on a *sleeps*: it need not be
//! executed until an action is executed on which it depends, because only then it becomes another
//! event. With sleep sets alone, a search completes each Mazurkiewicz class once. But it still runs
//! into states in which every enabled action sleeps.
//!
//! A sleeper is an action, that is, a process and a choice: another choice of the same `waitany` is
//! another event. After b in s, a still sleeps iff b is of another process and independent of a in
//! s. Then a is still enabled, and still the same event.
//!
//! Invariant, restored by [`SleepSet::descend`] and [`SleepSet::ascend`]: level n is the sleep set
//! of the state after n actions, as indices into one table of sleepers. The levels are
//! concatenated, so nothing is allocated unless the search goes deeper than before.

use super::Execution;
use super::initials::{Signature, dependence, dependent_here};
use crate::model::{Action, Effect, System};

/// The sleep sets of all prefixes of an execution.
#[derive(Clone, Debug)]
pub struct SleepSet {
    /// The actions put to sleep on the current levels, each with its effect there.
    sleepers: Vec<(Action, Effect)>,
    /// The number of sleepers that were given before the search began.
    given: u32,
    /// The concatenated sleep sets, as indices into `sleepers`.
    asleep: Vec<u32>,
    /// The start of each sleep set in `asleep`, and the number of sleepers at that time.
    levels: Vec<(u32, u32)>,
}

/// A snapshot of the current level, for [`SleepSet::back_to`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    asleep: u32,
    sleepers: u32,
}

impl Default for SleepSet {
    fn default() -> Self {
        SleepSet { sleepers: Vec::new(), given: 0, asleep: Vec::new(), levels: vec![(0, 0)] }
    }
}

impl SleepSet {
    /// Does `action` sleep?
    pub fn contains(&self, action: Action) -> bool {
        let start = self.levels[self.levels.len() - 1].0 as usize;
        self.asleep[start..].iter().any(|&index| self.sleepers[index as usize].0 == action)
    }

    /// The sleepers after the first `length` actions, each with its effect. The flag is true for a
    /// given sleeper, whose continuations this search never explores.
    pub(crate) fn at(&self, length: usize) -> impl Iterator<Item = (&(Action, Effect), bool)> {
        let end = self.levels.get(length + 1).map_or(self.asleep.len(), |next| next.0 as usize);
        let asleep = &self.asleep[self.levels[length].0 as usize..end];
        asleep.iter().map(|&index| (&self.sleepers[index as usize], index < self.given))
    }

    /// Of the sleepers after the first `length` actions, those put to sleep in that state.
    pub(crate) fn put_at(&self, length: usize) -> impl Iterator<Item = Action> {
        let before = self.levels[length].1;
        let end = self.levels.get(length + 1).map_or(self.asleep.len(), |next| next.0 as usize);
        let asleep = &self.asleep[self.levels[length].0 as usize..end];
        let put = asleep.iter().filter(move |&&index| index >= before);
        put.map(|&index| self.sleepers[index as usize].0)
    }

    /// Were actions given that sleep from the start?
    pub(crate) fn has_given(&self) -> bool {
        self.given > 0
    }

    /// Puts the enabled `action`, which has this effect, to sleep before the search begins. No
    /// other action may have been put to sleep yet, except by this method.
    pub(crate) fn give(&mut self, action: Action, effect: Effect) {
        self.put(action, effect);
        self.given = self.sleepers.len() as u32;
    }

    /// Puts the enabled `action`, which has this effect, to sleep.
    pub fn put(&mut self, action: Action, effect: Effect) {
        self.asleep.push(self.sleepers.len() as u32);
        self.sleepers.push((action, effect));
    }

    /// Does any action sleep?
    pub(crate) fn has_any(&self) -> bool {
        self.asleep.len() > self.levels[self.levels.len() - 1].0 as usize
    }

    /// Of the actions that sleep, the one that was put to sleep first.
    pub(crate) fn first(&self) -> Option<Action> {
        let start = self.levels[self.levels.len() - 1].0 as usize;
        self.asleep.get(start).map(|&index| self.sleepers[index as usize].0)
    }

    /// A snapshot of the current level.
    pub(crate) fn mark(&self) -> Mark {
        Mark { asleep: self.asleep.len() as u32, sleepers: self.sleepers.len() as u32 }
    }

    /// Wakes the actions that were put to sleep on this level since the snapshot.
    pub(crate) fn back_to(&mut self, mark: Mark) {
        self.asleep.truncate(mark.asleep as usize);
        self.sleepers.truncate(mark.sleepers as usize);
    }

    /// The sleepers that the action at this position woke.
    pub(crate) fn woken_by(&self, position: usize) -> impl Iterator<Item = &(Action, Effect)> {
        let bound = |length: usize| {
            self.levels.get(length).map_or(self.asleep.len(), |level| level.0 as usize)
        };
        let slept = &self.asleep[bound(position)..bound(position + 1)];
        let sleeps = &self.asleep[bound(position + 1)..bound(position + 2)];
        let woken = slept.iter().filter(move |index| !sleeps.contains(index));
        woken.map(|&index| &self.sleepers[index as usize])
    }

    /// Follows the execution by one action, which wakes the sleepers that depend on it.
    pub fn descend<S: System>(&mut self, execution: &mut Execution<'_, S>) {
        self.descend_with(execution, |_| true);
    }

    /// Follows the execution by one action, which wakes the sleepers that depend on it, and every
    /// sleeper for which `stays` returns false. The argument of `stays` is true for a given
    /// sleeper.
    #[inline]
    pub(crate) fn descend_with<S: System>(
        &mut self,
        execution: &mut Execution<'_, S>,
        stays: impl Fn(bool) -> bool,
    ) {
        let (start, end) = (self.levels[self.levels.len() - 1].0 as usize, self.asleep.len());
        self.levels.push((end as u32, self.sleepers.len() as u32));
        for index in start..end {
            let sleeper = self.asleep[index];
            if !stays(sleeper < self.given) {
                continue;
            }
            let (action, effect) = &self.sleepers[sleeper as usize];
            if !wakes(execution, *action, effect) {
                self.asleep.push(sleeper);
            }
        }
    }

    /// Follows the execution back by its last action.
    pub fn ascend(&mut self) {
        let (asleep, sleepers) = self.levels.pop().expect("a level to leave");
        self.asleep.truncate(asleep as usize);
        self.sleepers.truncate(sleepers as usize);
    }
}

/// Does the last action of the execution depend on the sleeper, in the state before it?
fn wakes<S: System>(execution: &mut Execution<'_, S>, sleeper: Action, effect: &Effect) -> bool {
    let last = execution.len() - 1;
    let process = execution.order().process(last);
    let passed = execution.order().effect(last);
    let (sleeps, moved) = ((sleeper.process, effect), (process, passed));
    if !Signature::of(sleeper.process, effect).meets(execution.order().signature(last)) {
        debug_assert_eq!(dependence(sleeps, moved), Some(false), "{sleeps:?} and {moved:?}");
        return false;
    }
    let known = dependence(sleeps, moved);
    known.unwrap_or_else(|| {
        let here = execution.looking_back(last, |locals, state| state.peek(locals, sleeper));
        let passed = execution.order().effect(last);
        dependent_here((sleeper.process, &here), (process, passed))
    })
}
