//! Every interleaving, without reduction: the judge of all other explorers.
//!
//! Up to a depth, every interleaving of every class up to that causal depth: what is too high is not enabled.

use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Info};
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::model::{Action, Locals, PaperRelation, State, System};
use crate::trace::{Classes, Heights, spin};

/// Visits every execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exhaustive;

impl Choosable for Exhaustive {
    const INFO: Info = Info {
        name: "exhaustive",
        summary: "every interleaving, without reduction; also tells their Mazurkiewicz classes",
        source: "",
        guarantee: Guarantee::EveryExecution,
        requires: None,
    };
    const TAKES: Takes = Takes::NOTHING;

    fn new(_: &Options) -> Self {
        Exhaustive
    }
}

impl Explorer for Exhaustive {
    fn info(&self) -> Info {
        Self::INFO
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        every_execution(system, driver);
    }
}

/// Depth-first through every interleaving.
fn every_execution<S: System>(system: &S, driver: &mut Driver<'_>) {
    let mut locals = Locals::new(system);
    let mut state = State::initial(&mut locals);
    let mut classes = Classes::new(PaperRelation);
    let mut heights = driver.depth().map(Heights::new);
    driver.started(&locals, &state);
    // One list for all levels: the actions still to be taken, newest level last.
    let mut pending = Vec::new();
    let mut levels = Vec::new();
    loop {
        let mark = pending.len();
        if !driver.is_stopped() {
            state.enabled(&locals, &mut pending);
            let enabled = pending.len() - mark;
            let mut is_waiting = false;
            if let Some(heights) = heights.as_ref().filter(|heights| heights.have_tops()) {
                leave_out(&mut locals, &mut state, &mut classes, heights, &mut pending, mark);
            } else if heights.is_none() {
                let order = classes.order();
                is_waiting = spin::hold_back(&mut locals, &mut state, order, &mut pending, mark)
                    && pending.len() == mark;
            }
            if is_waiting {
                if driver.waiting(&mut locals, &mut state) {
                    classes.count();
                }
            } else if enabled == 0 {
                driver.terminal(&locals, &state);
                classes.count();
            } else if pending.len() == mark || state.depth() >= driver.length_bound() as usize {
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
            heights.iter_mut().for_each(Heights::pop);
        }
        let action = pending.pop().expect("a level with something left");
        state.step(&mut locals, action);
        classes.push(action, state.footprint(&locals));
        heights.iter_mut().for_each(|heights| heights.push(classes.order()));
        driver.moved(&locals, &state, action);
    }
}

/// Leaves out of the actions enabled in `state`, which are `pending` from `mark` on, those that are too high.
fn leave_out<S: System>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    classes: &mut Classes<PaperRelation>,
    heights: &Heights,
    pending: &mut Vec<Action>,
    mark: usize,
) {
    for action in pending.split_off(mark) {
        classes.push(action, state.peek(locals, action));
        if !heights.exclude(classes.order()) {
            pending.push(action);
        }
        classes.pop();
    }
}
