//! What a search must not leave out of an execution, by definition.
//!
//! A search leaves out actions that would end a fruitless round ([`super::spin`]) and actions
//! beyond a causal depth ([`super::Heights`]). Explorers decide both as they go, each in its own
//! way: along an execution, along an unfolding. Here it is decided anew from the schedule alone,
//! with an order and heights that nobody has kept up to date. So it is the judge of what an
//! explorer says when it has nothing left to do.

use super::{HappensBefore, Heights, spin};
use crate::model::{Action, Locals, State, StopSignal, System};

/// What a search leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Does it leave out actions that would end a fruitless round?
    pub fruitless: bool,
    /// Actions that are higher than this are left out.
    pub max_height: Option<u32>,
}

/// The actions that are possible in `state` and that such a search does not leave out. When this
/// returns, `state` is as before. It costs one execution of the n actions that led there, and the
/// causes of each. No signal stops it.
pub fn needed<S: System>(locals: &mut Locals<'_, S>, state: &mut State, left: Left) -> Vec<Action> {
    StopSignal::disregarded(|| anew(locals, state, left))
}

fn anew<S: System>(locals: &mut Locals<'_, S>, state: &mut State, left: Left) -> Vec<Action> {
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
        let is_left =
            is_too_high || left.fruitless && spin::is_fruitless(locals, state, &order, action);
        !is_left
    });
    possible
}
