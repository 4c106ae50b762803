//! Every class of executions up to a depth, by the definitions: a walk through all configurations.

use std::collections::HashSet;

use mazurka::explore::Depth;
use mazurka::model::{Effect, Locals, ProcessId, Schedule, State, System, dependent};
use mazurka::property::{Motion, polling};
use mazurka::trace::{Classes, NormalForm};

use crate::judge::Recorder;

/// Passes an execution of each class up to this depth to the recorder. Returns false, and stops, if
/// there are too many configurations.
pub fn bounded_classes<'s, S: System>(
    system: &'s S,
    measure: Depth,
    depth: u32,
    max_configurations: usize,
    recorder: &mut Recorder<'s, S>,
) -> bool {
    let mut locals = Locals::new(system);
    let state = State::initial(&mut locals);
    let mut walk = Walk {
        locals,
        state,
        classes: Classes::default(),
        execution: Vec::new(),
        seen: HashSet::new(),
        measure,
        depth,
        max_configurations,
        recorder,
    };
    walk.go_on();
    walk.seen.len() < max_configurations
}

struct Walk<'w, 's, S: System> {
    locals: Locals<'s, S>,
    state: State,
    classes: Classes,
    /// For each step: the process, its effect, and its depth.
    execution: Vec<(ProcessId, Effect, u32)>,
    /// Configurations.
    seen: HashSet<NormalForm>,
    measure: Depth,
    depth: u32,
    max_configurations: usize,
    recorder: &'w mut Recorder<'s, S>,
}

impl<S: System> Walk<'_, '_, S> {
    fn go_on(&mut self) {
        if self.seen.len() == self.max_configurations
            || !self.seen.insert(self.classes.normal_form())
        {
            return;
        }
        let mut enabled = Vec::new();
        self.state.enabled(&self.locals, &mut enabled);
        let mut is_maximal = true;
        for &action in &enabled {
            self.state.step(&mut self.locals, action);
            let effect = self.state.effect(&self.locals);
            let depth = self.depth_of(action.process, &effect);
            if depth <= self.depth {
                is_maximal = false;
                self.classes.push(action, effect.clone());
                self.execution.push((action.process, effect, depth));
                self.go_on();
                self.execution.pop();
                self.classes.pop();
            }
            self.state.undo(&self.locals);
        }
        // A process that waits at a poll although something else of its loop is available is in no
        // final state: such executions are given up.
        let is_given_up =
            enabled.is_empty() && polling(&mut self.locals, &self.state) == Motion::On;
        match (enabled.is_empty(), is_maximal) {
            (true, _) if is_given_up => {}
            (true, _) => self.recorder.note(&Schedule::of(&self.state), true),
            (false, true) => self.recorder.note(&Schedule::of(&self.state), false),
            (false, false) => {}
        }
    }

    /// The depth of this next action: the length of the longest chain of dependent actions that
    /// ends in it, or the number of actions including it.
    fn depth_of(&self, process: ProcessId, effect: &Effect) -> u32 {
        let depends = |(other, touched, _): &&(ProcessId, Effect, u32)| {
            dependent((*other, touched), (process, effect))
        };
        match self.measure {
            Depth::Length => self.execution.len() as u32 + 1,
            Depth::Causal | Depth::Unbounded => {
                let causes = self.execution.iter().filter(depends);
                1 + causes.map(|&(.., height)| height).max().unwrap_or(0)
            }
        }
    }
}
