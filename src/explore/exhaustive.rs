//! Every interleaving, without reduction: the judge of all other explorers.

use super::{Driver, Guarantee, Info};
use crate::model::{Locals, PaperRelation, State, System};
use crate::trace::Classes;

/// What it is.
pub const INFO: Info = Info {
    name: "exhaustive",
    summary: "every interleaving, without reduction; also tells their Mazurkiewicz classes",
    source: "",
    guarantee: Guarantee::EveryExecution,
    requires: None,
};

/// Depth-first through every interleaving.
pub fn explore<S: System>(system: &S, driver: &mut Driver<'_>) {
    let mut locals = Locals::new(system);
    let mut state = State::initial(&mut locals);
    let mut classes = Classes::new(PaperRelation);
    driver.started(&locals, &state);
    // One list for all levels: the actions still to be taken, newest level last.
    let mut pending = Vec::new();
    let mut levels = Vec::new();
    loop {
        let mark = pending.len();
        if !driver.is_stopped() {
            state.enabled(&locals, &mut pending);
            if pending.len() == mark {
                driver.terminal(&locals, &state);
                classes.count();
            } else if state.depth() as u64 >= u64::from(driver.depth_bound()) {
                driver.truncated(&state);
                pending.truncate(mark);
            }
        }
        levels.push(mark);
        while levels.last().is_some_and(|&mark| pending.len() == mark || driver.is_stopped()) {
            pending.truncate(levels.pop().expect("a level"));
            if levels.is_empty() {
                driver.stats.classes = Some(classes.counted() as u64);
                return;
            }
            state.undo(&locals);
            classes.pop();
        }
        let action = pending.pop().expect("a level with something left");
        state.step(&mut locals, action);
        classes.push(action, state.footprint(&locals));
        driver.moved(&locals, &state, action);
    }
}
