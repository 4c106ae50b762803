//! The walk of a search, recorded and replayed on the bare model: a lower bound ("floor") for the
//! cost of the search.
//!
//! In addition to the model, a search along executions maintains happens-before, events, sleep sets
//! and wakeup trees. Its floor is the same walk without all that: the same actions, executed and
//! undone in the same order, with the enabled actions computed in each state.
//!
//! An observer receives the end of each execution, complete or blocked. Since a search is
//! depth-first, two consecutive ends determine the steps in between: back to where the second
//! execution leaves the first, and forward from there. So the ends determine the walk. Its number
//! of steps must equal the number of transitions of the search, which is checked.
//!
//! Actions are recorded in portable names, because a search numbers processes and messages in the
//! order of their creation. They are renamed once for the walk, whose own numbering is the same
//! each time.

use mazurka::explore::{End, Observer};
use mazurka::lang::Program;
use mazurka::model::{Action, Locals, State};
use mazurka::property::Position;

/// A part of the walk: `back` steps undone, then `on` steps executed.
struct Leg {
    back: usize,
    on: usize,
}

/// Records the walk of the search that it observes.
#[derive(Default)]
pub struct Recorder {
    legs: Vec<Leg>,
    /// In portable names.
    actions: Vec<Action>,
    /// The last execution, in the names of the search.
    execution: Vec<Action>,
}

impl Recorder {
    fn end(&mut self, at: Position<'_>) {
        let same = self.execution.iter().zip(at.state().schedule());
        let shared = same.take_while(|(one, other)| *one == other).count();
        let leg = Leg { back: self.execution.len() - shared, on: at.state().depth() - shared };
        self.legs.push(leg);
        self.actions.extend_from_slice(&at.schedule()[shared..]);
        self.execution.truncate(shared);
        self.execution.extend(at.state().schedule().skip(shared));
    }

    /// The walk.
    pub fn tape(mut self, program: &Program) -> Tape {
        let mut walk = Walk::new(program);
        let mut actions = self.actions.iter_mut();
        for leg in &self.legs {
            walk.back(leg.back);
            for action in actions.by_ref().take(leg.on) {
                let named = walk.state.action_named(&walk.locals, *action);
                *action = named.unwrap_or_else(|| panic!("{action:?} is not enabled"));
                walk.on(*action);
            }
        }
        Tape { legs: self.legs, actions: self.actions }
    }
}

impl Observer for Recorder {
    fn trace(&mut self, at: Position<'_>, _: End) {
        self.end(at);
    }

    fn blocked(&mut self, at: Position<'_>) {
        self.end(at);
    }
}

/// A recorded walk, in the names of fresh [`Locals`] that are used for nothing else.
pub struct Tape {
    legs: Vec<Leg>,
    actions: Vec<Action>,
}

impl Tape {
    /// The number of actions that it executes.
    pub fn steps(&self) -> usize {
        self.actions.len()
    }

    /// Executes the whole walk, and returns the number of enabled actions in all states together.
    pub fn play(&self, program: &Program) -> usize {
        let mut walk = Walk::new(program);
        let mut actions = self.actions.iter();
        for leg in &self.legs {
            walk.back(leg.back);
            actions.by_ref().take(leg.on).for_each(|&action| walk.on(action));
        }
        walk.back(walk.state.depth());
        walk.met
    }
}

/// The bare model.
struct Walk<'p> {
    locals: Locals<'p, Program>,
    state: State,
    enabled: Vec<Action>,
    /// The number of enabled actions, in all states together.
    met: usize,
}

impl<'p> Walk<'p> {
    fn new(program: &'p Program) -> Self {
        let mut locals = Locals::new(program);
        let state = State::initial(&mut locals);
        let mut walk = Walk { locals, state, enabled: Vec::new(), met: 0 };
        walk.look();
        walk
    }

    fn on(&mut self, action: Action) {
        self.state.step(&mut self.locals, action);
        self.look();
    }

    fn back(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.state.undo(&self.locals));
    }

    fn look(&mut self) {
        self.enabled.clear();
        self.state.enabled(&self.locals, &mut self.enabled);
        self.met += self.enabled.len();
    }
}
