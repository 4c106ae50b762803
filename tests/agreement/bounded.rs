//! Searches cut at a length, and the distances of global states from the initial one.
//!
//! Explorers drop what a bound cuts off. Expectations with `depth` are about that, so it is counted
//! here: by a walk through every execution, as simple as possible.

use std::collections::HashSet;

use mazurka::lang::Program;
use mazurka::model::{Action, LocalId, Locals, ProcessId, State, System, ValueId};
use mazurka::trace::Classes;

/// The number of executions of this length, including shorter complete ones, and the number of
/// classes that they form.
pub fn executions_and_classes(program: &Program, depth: u64) -> (u64, u64) {
    let mut locals = Locals::new(program);
    let mut state = State::initial(&mut locals);
    let mut classes = Classes::default();
    let executions = walk(&mut locals, &mut state, &mut classes, depth);
    (executions, classes.counted() as u64)
}

fn walk(
    locals: &mut Locals<'_, Program>,
    state: &mut State,
    classes: &mut Classes,
    left: u64,
) -> u64 {
    let enabled = enabled(locals, state);
    if left == 0 || enabled.is_empty() {
        classes.count();
        return 1;
    }
    let mut executions = 0;
    for action in enabled {
        state.step(locals, action);
        classes.push(action, state.effect(locals));
        executions += walk(locals, state, classes, left - 1);
        state.undo(locals);
        classes.pop();
    }
    executions
}

/// For a program of actors: the numbers of global states first reached after 0, 1, 2, .. actions.
pub fn states_by_distance(program: &Program) -> Vec<u64> {
    let mut locals = Locals::new(program);
    let mut level = vec![State::initial(&mut locals)];
    let mut seen = HashSet::from([global_state(&level[0])]);
    let mut counts = Vec::new();
    while !level.is_empty() {
        counts.push(level.len() as u64);
        let mut next = Vec::new();
        for state in level {
            for action in enabled(&locals, &state) {
                let mut after = state.clone();
                after.step(&mut locals, action);
                if seen.insert(global_state(&after)) {
                    next.push(after);
                }
            }
        }
        level = next;
    }
    counts
}

fn enabled(locals: &Locals<'_, Program>, state: &State) -> Vec<Action> {
    let mut actions = Vec::new();
    state.enabled(locals, &mut actions);
    actions
}

/// The local states of actors, and the pending contents for each receiver, without the identities
/// of messages.
type GlobalState = (Vec<(ProcessId, LocalId)>, Vec<(ProcessId, ValueId)>);

fn global_state(state: &State) -> GlobalState {
    let locals = state.processes().map(|process| (process, state.local(process)));
    let pending = state.inboxes().log().iter().filter(|message| message.is_pending());
    let mut pending: Vec<_> = pending.map(|message| (message.to, message.content)).collect();
    pending.sort_unstable();
    (locals.collect(), pending)
}

/// Whether the program consists of actors, so that [`states_by_distance`] distinguishes all its
/// states.
pub fn consists_of_actors(program: &Program) -> bool {
    let objects = program.objects();
    let shared = [objects.mailboxes.len(), objects.mutexes.len(), objects.cells.len()];
    let counted = [objects.semaphores.len(), objects.barriers.len()];
    shared.iter().chain(&counted).all(|&n| n == 0)
}
