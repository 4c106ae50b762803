//! Sleep sets along an execution.
//!
//! Godefroid (LNCS 1032, 1996), chapter 5. When a search has come back from action a in state s, all that
//! begins with a there is explored. Whatever it does next, a *sleeps*: it need not be executed, until some
//! action is executed that depends on it, which makes its execution later another one. Sleep sets alone
//! let a search complete each Mazurkiewicz class once; what they do not spare is to run into states
//! in which everything enabled sleeps.
//!
//! What sleeps is an action, process and choice: another outcome of the same `waitany` is another
//! event. After b in s, a still sleeps iff b is another process's and independent of it in s. Then it is
//! still enabled, and the same event.
//!
//! Invariant, restored by [`SleepSet::descend`] and [`SleepSet::ascend`]: level n is the sleep set of the
//! state after n actions, as numbers of entries in one table; the levels lie one after the other, so that
//! nothing is allocated once the search has been as deep before.

use super::Execution;
use super::initials::{dependence, dependent_here};
use crate::model::{Action, Footprint, System};

/// The sleep sets of all prefixes of an execution.
#[derive(Debug)]
pub struct SleepSet {
    /// What was put to sleep on the levels that there are, with what it touched there.
    sleepers: Vec<(Action, Footprint)>,
    /// How many of them were asleep before the search began.
    given: u32,
    /// The sleep sets, one after the other.
    asleep: Vec<u32>,
    /// Where each begins, and how many sleepers there were then.
    levels: Vec<(u32, u32)>,
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

    /// What sleeps after the first `length` actions; and was it given, so that this search never explores what begins
    /// with it?
    pub fn at(&self, length: usize) -> impl Iterator<Item = (&(Action, Footprint), bool)> {
        let end = self.levels.get(length + 1).map_or(self.asleep.len(), |next| next.0 as usize);
        let asleep = &self.asleep[self.levels[length].0 as usize..end];
        asleep.iter().map(|&index| (&self.sleepers[index as usize], index < self.given))
    }

    /// Did anything sleep before the search began?
    pub fn has_given(&self) -> bool {
        self.given > 0
    }

    /// The enabled `action`, which touches `footprint`, sleeps where the search begins: nothing has been put to sleep yet.
    pub fn give(&mut self, action: Action, footprint: Footprint) {
        self.put(action, footprint);
        self.given = self.sleepers.len() as u32;
    }

    /// The enabled `action`, which touches `footprint`, goes to sleep.
    pub fn put(&mut self, action: Action, footprint: Footprint) {
        self.asleep.push(self.sleepers.len() as u32);
        self.sleepers.push((action, footprint));
    }

    /// The execution has gone on by one action, which wakes what depends on it.
    pub fn descend<S: System>(&mut self, execution: &mut Execution<'_, S>) {
        self.descend_with(execution, |_| true);
    }

    /// The same, and it wakes everything that `stays` is false of: was it given?
    #[inline]
    pub fn descend_with<S: System>(
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
            let (action, footprint) = &self.sleepers[sleeper as usize];
            if !wakes(execution, *action, footprint) {
                self.asleep.push(sleeper);
            }
        }
    }

    /// The last action is taken back.
    pub fn ascend(&mut self) {
        let (asleep, sleepers) = self.levels.pop().expect("a level to leave");
        self.asleep.truncate(asleep as usize);
        self.sleepers.truncate(sleepers as usize);
    }
}

/// Does the last action of the execution depend on the sleeper, in the state before it?
fn wakes<S: System>(
    execution: &mut Execution<'_, S>,
    sleeper: Action,
    footprint: &Footprint,
) -> bool {
    let last = execution.len() - 1;
    let process = execution.order().process(last);
    let passed = execution.order().footprint(last);
    let known = dependence((sleeper.process, footprint), (process, passed));
    known.unwrap_or_else(|| {
        let here = execution.looking_back(last, |locals, state| state.peek(locals, sleeper));
        let passed = execution.order().footprint(last);
        dependent_here((sleeper.process, &here), (process, passed))
    })
}
