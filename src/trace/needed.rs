//! The possible actions that a search must not leave out, by definition.
//!
//! A search leaves out actions that would end a spin iteration ([`super::spin`]) and actions
//! beyond a causal depth ([`super::Heights`]). Explorers decide both incrementally, each in its own
//! way: along an execution, or along an unfolding. Here it is decided anew from the schedule alone,
//! with a fresh order and fresh heights. So it can check an explorer that finds nothing more to
//! explore.

use super::{HappensBefore, Heights, spin};
use crate::model::{Action, Locals, State, StopSignal, System};

/// The actions that a search leaves out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeftOut {
    /// Does it leave out actions that would end a spin iteration?
    pub(crate) spinning: bool,
    /// Actions with a greater height than this are left out; `None` for no bound.
    pub(crate) max_height: Option<u32>,
}

/// The actions that are possible in `state` and that such a search does not leave out. `state` is
/// the same afterwards. Takes one replay of the n actions that led to `state`, and the computation
/// of the causes of each. Ignores stop signals.
pub(crate) fn needed<S: System>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    left: LeftOut,
) -> Vec<Action> {
    StopSignal::disregarded(|| anew(locals, state, left))
}

fn anew<S: System>(locals: &mut Locals<'_, S>, state: &mut State, left: LeftOut) -> Vec<Action> {
    let mut possible = Vec::new();
    state.enabled(locals, &mut possible);
    if possible.is_empty() {
        return possible;
    }
    let actions: Vec<Action> = state.schedule().collect();
    actions.iter().for_each(|_| state.undo(locals));
    let mut order = HappensBefore::default();
    let mut heights = Heights::new(left.max_height.unwrap_or(u32::MAX));
    for action in actions {
        state.step(locals, action);
        order.push(action.process, state.effect(locals));
        heights.push(&order);
    }
    possible.retain(|&action| {
        order.push(action.process, state.peek(locals, action));
        let is_too_high = heights.exclude(&order);
        order.pop();
        let is_left = is_too_high
            || left.spinning && spin::ends_spin_iteration(locals, state, &order, action);
        !is_left
    });
    possible
}
