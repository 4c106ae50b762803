//! The cuts of a class of executions that differ in certain relevant actions.
//!
//! An execution goes through some states of its class; other executions of the class go through
//! others. Each state is reached by a *cut*: a set of actions that is closed under happens-before.
//! Suppose that an observer sees only the changes by some actions, the *relevant* ones. Then its
//! view after a cut depends only on the relevant actions in the cut: each of them makes the same
//! change in every execution of the class, or all other actions that influence its change are
//! relevant, too. The relevant actions of a cut are closed under happens-before among the relevant
//! ones. Conversely, each set R of relevant actions that is closed in this way belongs to a cut: R,
//! with everything that happens before an action of R. (This adds no relevant action: it would
//! happen before an action of R, so it is in R.) So it is enough to visit one cut, the smallest,
//! for each such R.
//!
//! If the relevant actions are totally ordered, every execution of the class goes through all these
//! views. Otherwise there may be exponentially many R, so the number of visits is bounded.
//!
//! Each R is visited once; the last of its actions (in the order of the execution) is added last.
//! To go from one R to the next, the enumeration undoes the actions that are not needed and
//! executes the missing ones, so no replay from the start is needed.

use super::HappensBefore;
use super::causal_past::happens_before;
use crate::model::{Locals, Schedule, State, System};

/// The cuts of a class, with the relevant actions of one of its executions.
pub(crate) struct Cuts<'s, S: System> {
    locals: Locals<'s, S>,
    schedule: Schedule,
    order: HappensBefore,
    /// The positions of the relevant actions.
    relevant: Vec<usize>,
}

impl<'s, S: System> Cuts<'s, S> {
    /// The cuts of the class of `schedule`. `is_relevant` is called in each state of the execution,
    /// and decides whether the last action is relevant.
    pub(crate) fn new(
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

    /// Are the relevant actions totally ordered, so that every execution of the class goes through
    /// all views?
    pub(crate) fn are_in_one_order(&self) -> bool {
        self.relevant.windows(2).all(|pair| self.order.before(pair[0], pair[1]))
    }

    /// The shortest execution with all relevant actions.
    pub(crate) fn smallest(mut self) -> Schedule {
        let is_needed = |&position: &usize| {
            let needs = |&last: &usize| last == position || self.order.before(position, last);
            self.relevant.iter().any(needs)
        };
        let needed: Vec<_> = (0..self.schedule.len()).filter(is_needed).collect();
        let actions = needed.into_iter().map(|position| self.schedule[position]);
        Schedule::of_actions(&mut self.locals, actions)
    }

    /// Calls `visit` in the state of the smallest cut for each non-empty R, until `visit` returns
    /// false. Returns false if there are more than `most` cuts; then not all are visited.
    pub(crate) fn each(
        &mut self,
        most: usize,
        mut visit: impl FnMut(&Locals<'s, S>, &State) -> bool,
    ) -> bool {
        let causes = self.causes();
        let mut state = State::initial(&mut self.locals);
        let mut is_done = vec![false; self.schedule.len()];
        // The indices of the relevant actions in R, each with the positions executed for it.
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

    /// For each relevant action, the relevant actions that happen before it.
    fn causes(&self) -> Vec<Vec<usize>> {
        let of = |&position: &usize| {
            let earlier = self.relevant.iter().take_while(move |&&other| other < position);
            earlier.copied().filter(|&other| self.order.before(other, position)).collect()
        };
        self.relevant.iter().map(of).collect()
    }

    /// The positions that must still be executed for the action at `last`, in order.
    fn missing(&self, is_done: &[bool], last: usize) -> Vec<usize> {
        let is_missing = |&position: &usize| {
            !is_done[position] && (position == last || self.order.before(position, last))
        };
        (0..=last).filter(is_missing).collect()
    }
}
