//! The dependence relation, compared with two other formulations: the chains of the unfolding, and
//! the touches of searches that store states.
//!
//! The relation is written once ([`dependent`]). A chain claims that its changes are totally
//! ordered, and a touch that there is no race without it. Both claims are exact for actions that
//! change the same thing, and over-approximate if an action only reads.

use std::collections::HashSet;

use mazurka::model::{
    Act, Action, Effect, Locals, May, Part, ProcessId, State, StopSignal, Touch, dependent,
};
use mazurka::unfolding::{EventId, EventKind, Unfolding};

use super::hold_on_random_programs;
use crate::random_models::{Rng, Sample, Subject, commuting};

hold_on_random_programs! {
    chains_order_what_depends
    touches_announce_what_depends
    what_does_not_race_commutes
}

/// Executions tried for each program.
const WALKS: usize = 4;
/// The number of steps ahead in which a race is searched for.
const AHEAD: usize = 6;
/// The number of states of a program in which the order of steps is tried.
const MOST_STATES: usize = 300;

/// An event of an execution, with what it touched there.
struct Done {
    event: EventId,
    process: ProcessId,
    effect: Effect,
    history: HashSet<EventId>,
}

/// A random maximal configuration, in the order of an execution.
fn configuration<S: Subject>(unfolding: &mut Unfolding<'_, S>, rng: &mut Rng) -> Vec<Done> {
    let stop = StopSignal::default();
    let (fresh, mut c) = Unfolding::new(unfolding.locals.system(), u32::MAX, false, stop);
    *unfolding = fresh;
    let mut done: Vec<Done> = Vec::new();
    loop {
        let enabled: Vec<EventId> = c.enabled().collect();
        if enabled.is_empty() || c.state().is_crowded() {
            return done;
        }
        let event = *rng.pick(&enabled);
        unfolding.push(&mut c, event);
        let causes = &unfolding.structure.event(event).causes;
        let mut history: HashSet<EventId> = causes.iter().copied().collect();
        let earlier = done.iter().filter(|one| causes.contains(&one.event));
        history.extend(earlier.flat_map(|one| &one.history));
        let process = unfolding.structure.event(event).process;
        let effect = c.state().effect(&unfolding.locals);
        done.push(Done { event, process, effect, history });
    }
}

/// Two changes of one chain are dependent, and so are a read and a change. Two dependent changes
/// share a chain. An action that depends on an earlier event has it among its causes, and it
/// depends on every direct cause in another process.
pub(super) fn chains_order_what_depends<S: Subject>(samples: &[Sample<S>]) {
    let mut shared = 0;
    for sample in samples {
        let mut rng = Rng::new(sample.seed);
        let stop = StopSignal::default();
        let (mut unfolding, _) = Unfolding::new(&sample.script, u32::MAX, false, stop);
        for _ in 0..WALKS {
            let done = configuration(&mut unfolding, &mut rng);
            for (at, later) in done.iter().enumerate() {
                for earlier in done[..at].iter().filter(|one| one.process != later.process) {
                    shared += usize::from(check_chains(&unfolding, earlier, later, sample));
                }
            }
        }
    }
    // Messages to actors and at p2p and bag mailboxes have no chains.
    let has_chains = |sample: &Sample<S>| {
        let features = sample.script.features();
        !features.actors && !features.network
    };
    assert!(
        !samples.iter().any(has_chains) || shared > samples.len(),
        "{shared} pairs share a chain"
    );
}

/// Checks whether the two share a chain.
fn check_chains<S: Subject>(
    unfolding: &Unfolding<'_, S>,
    earlier: &Done,
    later: &Done,
    sample: &Sample<S>,
) -> bool {
    let [a, b] = [earlier, later].map(|one| unfolding.structure.event(one.event));
    let [f, g] = [&earlier.effect, &later.effect];
    let depend = dependent((a.process, f), (b.process, g));
    let pair = || format!("{f:?} and {g:?} in {}", sample.describe());
    assert_eq!(depend, dependent((b.process, g), (a.process, f)), "{}", pair());
    let are_of_one_chain =
        a.kind != EventKind::Plain && a.chain == b.chain && b.kind != EventKind::Plain;
    let is_in_chain = |kind| matches!(kind, EventKind::Change | EventKind::Read);
    let share = are_of_one_chain && is_in_chain(a.kind) && is_in_chain(b.kind);
    if share {
        let is_change = a.kind == EventKind::Change || b.kind == EventKind::Change;
        assert_eq!(depend, is_change, "one chain: {}", pair());
    }
    let is_elsewhere = |act: &Act| {
        matches!(act.lane.part(), Part::Process | Part::Inbox | Part::Wakes | Part::Network)
    };
    let changes = |one: &Effect| !one.is_observation() && !one.acts.iter().any(is_elsewhere);
    if depend && changes(f) && changes(g) {
        assert!(share, "two changes without a chain: {}", pair());
    }
    if depend {
        assert!(later.history.contains(&earlier.event), "not in its history: {}", pair());
    }
    if b.causes.contains(&earlier.event) {
        assert!(depend, "a cause on which it does not depend: {}", pair());
    }
    share
}

/// Let t be enabled, and let other processes move until one of them does an action that some
/// continuation of t's process depends on. If t comes first, that action touches something that
/// races with what t's operation watched. And if both change one thing, racing touches are
/// dependent.
fn touches_announce_what_depends<S: Subject>(samples: &[Sample<S>]) {
    let mut announced = 0;
    for sample in samples {
        let mut rng = Rng::new(sample.seed);
        for _ in 0..WALKS {
            let mut locals = Locals::new(&sample.script);
            let mut state = State::initial(&mut locals);
            loop {
                let mut enabled = Vec::new();
                state.enabled(&locals, &mut enabled);
                if enabled.is_empty() || state.is_crowded() {
                    break;
                }
                for &t in &enabled {
                    for _ in 0..2 {
                        announced +=
                            usize::from(look_ahead(&mut locals, &mut state, t, &mut rng, sample));
                    }
                }
                state.step(&mut locals, *rng.pick(&enabled));
            }
        }
    }
    assert!(announced > samples.len(), "{announced} races");
}

/// The enabled actions of `process`.
fn actions_of<S: Subject>(
    locals: &Locals<'_, S>,
    state: &State,
    process: ProcessId,
) -> Vec<Action> {
    let mut actions = Vec::new();
    state.choices(locals, process, |choice| actions.push(Action { process, choice }));
    actions
}

/// Checks the touches along a random execution without the process of `t`. Returns whether a race
/// was found.
fn look_ahead<S: Subject>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    t: Action,
    rng: &mut Rng,
    sample: &Sample<S>,
) -> bool {
    let start = state.depth();
    let mut watched: Vec<Touch> = Vec::new();
    state.watches(locals, t.process, |touch| watched.push(touch));
    let mut rival = None;
    while rival.is_none() && state.depth() < start + AHEAD {
        let mut others = Vec::new();
        state.enabled(locals, &mut others);
        others.retain(|action| action.process != t.process);
        if others.is_empty() || state.is_crowded() {
            break;
        }
        let a = *rng.pick(&others);
        state.step(locals, a);
        let touched = state.effect(locals);
        let own = actions_of(locals, state, t.process);
        let depends = own.into_iter().any(|own| {
            let effect = state.peek(locals, own);
            dependent((t.process, &effect), (a.process, &touched))
        });
        rival = depends.then_some(a);
    }
    let mut path: Vec<Action> = (start..state.depth()).map(|at| state.action(at)).collect();
    path.iter().for_each(|_| state.undo(locals));
    let Some(a) = rival else { return false };
    path.pop();
    state.step(locals, t);
    let first = state.effect(locals);
    for action in path.iter().copied() {
        let possible = actions_of(locals, state, action.process);
        assert!(possible.contains(&action), "{t:?} disables {action:?} in {}", sample.describe());
        state.step(locals, action);
    }
    let possible = actions_of(locals, state, a.process);
    let again = possible.iter().find(|&&same| same == a).or(possible.first());
    let again = *again.unwrap_or_else(|| panic!("{t:?} blocks {a:?} in {}", sample.describe()));
    state.step(locals, again);
    let mut touches: Vec<Touch> = Vec::new();
    state.touches(locals, |touch| touches.push(touch));
    let second = state.effect(locals);
    let racing = |watch: &Touch| touches.iter().any(|&touch| watch.races(touch));
    let pair = || format!("{watched:?} before {touches:?} in {}", sample.describe());
    assert!(watched.iter().any(racing), "a race unannounced: {}", pair());
    let exact = |&watch: &Touch| {
        touches.iter().any(|&touch| watch.races(touch) && is_change(watch) && is_change(touch))
    };
    if path.is_empty() && watched.iter().any(exact) {
        let depend = dependent((t.process, &first), (a.process, &second));
        assert!(depend, "a race that is none: {}", pair());
    }
    while state.depth() > start {
        state.undo(locals);
    }
    true
}

/// This test does not use the dependence relation.
fn what_does_not_race_commutes<S: Subject>(samples: &[Sample<S>]) {
    let mut pairs = 0;
    for sample in samples.iter().step_by(3) {
        let found = commuting::judge(&sample.script, MOST_STATES);
        pairs += found.unwrap_or_else(|how| panic!("{how}\n{}", sample.describe()));
    }
    println!("{pairs} pairs in both orders");
    assert!(pairs > samples.len(), "{pairs} pairs in both orders");
}

/// Whether this touch is more than a read, and exact. (Whether a test would see an unlock is not known.)
fn is_change(touch: Touch) -> bool {
    let is_ordered = touch.lane.part().is_ordered() && touch.lane.part() != Part::Queue;
    is_ordered && matches!(touch.may, May::Change | May::Look)
}
