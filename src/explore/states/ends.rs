//! What is judged in the current state of a search by memoised moves.

use super::full_graph::FullGraph;
use crate::explore::driver::Driver;
use crate::model::System;

impl<S: System> FullGraph<'_, S> {
    /// Judges the invariants in the current state.
    pub(super) fn judge_views(&mut self, driver: &mut Driver<'_>) {
        self.model();
        let FullGraph { locals, state, views, present, layout, .. } = self;
        if !views.judge(present, layout, (locals, state)) {
            driver.judge_invariants(locals, state);
        }
    }

    /// Is there a process among the pending moves from `from` on that changes something if it moves
    /// alone? Then it is not in a loop that changes nothing, and the model is not needed to see
    /// this.
    pub(super) fn does_some_go_on(&mut self, from: usize) -> bool {
        let FullGraph { pending, moves, present, layout, alone, objects, .. } = self;
        let mut last = None;
        pending[from..].iter().any(|next| {
            let process = next.action.process.index();
            let is_other = last.replace(process) != Some(process);
            is_other && {
                alone.clear();
                alone.extend_from_slice(present);
                moves.goes_on(process, *objects + process, alone, layout)
            }
        })
    }

    /// Are all processes that can move in loops that change nothing? If so, reports it.
    pub(super) fn is_livelock(&mut self, driver: &mut Driver<'_>) -> bool {
        if !self.locals.some_may_return() {
            return false;
        }
        self.model();
        let FullGraph { locals, state, watch, .. } = self;
        driver.is_livelock(watch, locals, state)
    }

    /// Reports that the current state is at the depth bound. Livelocks are judged only at the bound
    /// for endless executions, not at a depth that was asked for.
    pub(super) fn cut_off(&mut self, driver: &mut Driver<'_>) {
        if driver.depth().is_some() || !self.is_livelock(driver) {
            let (locals, state) = self.model();
            driver.truncated(locals, state);
        }
    }
}
