//! The states of a class of executions that differ in something: its cuts, as far as some of its
//! actions tell them apart.
//!
//! An execution goes through some states of its class; other executions of the class go through
//! others. Each state is reached by a *cut*: a set of actions that contains, with each of its
//! actions, those that happen before it. Suppose that only some actions, the *relevant* ones,
//! change what somebody looks at. Then what is seen after a cut depends only on the relevant
//! actions in it, as each of them changes the same in every execution of the class or all the
//! others that bear on it are relevant, too. The relevant actions of a cut are closed under
//! happens-before among the relevant ones; and each set R that is so closed is that of a cut:
//! everything that happens before one of R, and R. (No other relevant action gets in: it would
//! happen before one of R, so it is in R.) So it is enough to visit one cut, the smallest, for each
//! such R.
//!
//! If the relevant actions are all ordered, every execution of the class goes through all of that,
//! one after the other. Otherwise there may be exponentially many R, so there is a bound to how
//! many are visited.
//!
//! Each R is visited once, with the last of its actions (in the order of the execution) added last.
//! Going from one to the next executes what is missing and takes back what is too much, so no state
//! is reached twice from the start.

use super::HappensBefore;
use super::causal_past::happens_before;
use crate::model::{Locals, Schedule, State, System};

/// The relevant actions of an execution.
pub struct Cuts<'s, S: System> {
    locals: Locals<'s, S>,
    schedule: Schedule,
    order: HappensBefore,
    /// Their positions.
    relevant: Vec<usize>,
}

impl<'s, S: System> Cuts<'s, S> {
    /// The cuts of the class of `schedule`. `is_relevant` is asked about the last action of each
    /// state.
    pub fn new(
        system: &'s S,
        schedule: Schedule,
        mut is_relevant: impl FnMut(&Locals<'s, S>, &State) -> bool,
    ) -> Self {
        let (mut locals, order) = happens_before(system, &schedule);
        let mut relevant = Vec::new();
        let note = |locals: &Locals<'s, S>, state: &State| {
            if is_relevant(locals, state) {
                relevant.push(state.depth() - 1);
            }
        };
        schedule.replay_with(&mut locals, note).expect("an execution");
        Cuts { locals, schedule, order, relevant }
    }

    /// Does every execution of the class go through all of them?
    pub fn are_in_one_order(&self) -> bool {
        self.relevant.windows(2).all(|pair| self.order.before(pair[0], pair[1]))
    }

    /// The smallest execution with all the relevant actions.
    pub fn smallest(mut self) -> Schedule {
        let is_needed = |&position: &usize| {
            let needs = |&last: &usize| last == position || self.order.before(position, last);
            self.relevant.iter().any(needs)
        };
        let needed: Vec<_> = (0..self.schedule.len()).filter(is_needed).collect();
        let actions = needed.into_iter().map(|position| self.schedule[position]);
        Schedule::of_actions(&mut self.locals, actions)
    }

    /// Calls `visit` in the state of each of them but the empty one, until that returns false. Are
    /// there at most `most`?
    pub fn each(
        &mut self,
        most: usize,
        mut visit: impl FnMut(&Locals<'s, S>, &State) -> bool,
    ) -> bool {
        let causes = self.causes();
        let mut state = State::initial(&mut self.locals);
        let mut is_done = vec![false; self.schedule.len()];
        // The relevant actions that were added, each with what was executed for it.
        let mut added: Vec<(usize, Vec<usize>)> = Vec::new();
        let (mut next, mut visited) = (0, 0);
        loop {
            let fits = |&index: &usize| causes[index].iter().all(|&cause| is_done[cause]);
            if let Some(index) = (next..self.relevant.len()).find(fits) {
                visited += 1;
                if visited > most {
                    return false;
                }
                let missing = self.missing(&is_done, self.relevant[index]);
                for &position in &missing {
                    state.step(&mut self.locals, self.schedule[position]);
                    is_done[position] = true;
                }
                added.push((index, missing));
                if !visit(&self.locals, &state) {
                    return true;
                }
                next = index + 1;
            } else if let Some((index, executed)) = added.pop() {
                for position in executed {
                    state.undo(&self.locals);
                    is_done[position] = false;
                }
                next = index + 1;
            } else {
                return true;
            }
        }
    }

    /// For each relevant action the relevant ones that happen before it.
    fn causes(&self) -> Vec<Vec<usize>> {
        let of = |&position: &usize| {
            let earlier = self.relevant.iter().take_while(move |&&other| other < position);
            earlier.copied().filter(|&other| self.order.before(other, position)).collect()
        };
        self.relevant.iter().map(of).collect()
    }

    /// What has to be executed up to this action, in order.
    fn missing(&self, is_done: &[bool], last: usize) -> Vec<usize> {
        let is_missing = |&position: &usize| {
            !is_done[position] && (position == last || self.order.before(position, last))
        };
        (0..=last).filter(is_missing).collect()
    }
}
