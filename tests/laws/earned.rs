//! Tests that every dependence is needed. Actions that the relation calls dependent without need
//! cost executions, and nothing else shows it: a relation that is too large is still sound.
//!
//! A pair of kinds of operations is *needed* if in some program two actions of these kinds are
//! dependent and possible in either order, and the order matters: the states differ, or one of them
//! prevents the other. A pair is also needed if a process may wait for the n-th of such actions:
//! then their positions have names, and the pair is listed.

use std::collections::BTreeMap;

use mazurka::model::{Action, Locals, Parts, State, dependent};

use crate::naive::{Obstacle, Structure};
use crate::random_models::{self, Sample, Subject, kind_of};

/// Larger programs take long.
const MOST_CONFIGURATIONS: usize = 400;

/// Their order is named by a wait: it waits for the n-th release, or unlock. And at a mutex that is
/// tried, all changes of the queue have one order, which is coarse.
const NAMED: &[[&str; 2]] =
    &[["AsyncLock", "Unlock"], ["Release", "Release"], ["Unlock", "Unlock"]];

/// How often two kinds were dependent, and how often that was needed.
type Pairs = BTreeMap<[String; 2], [u32; 2]>;

/// The canonical state after both actions, and whether they are dependent; `None` if the second
/// cannot follow.
fn both<S: Subject>(
    locals: &mut Locals<'_, S>,
    parts: &mut Parts,
    state: &mut State,
    [first, second]: [Action; 2],
) -> Option<(Vec<u32>, bool)> {
    state.step(locals, first);
    let touched = state.effect(locals);
    let mut choices = Vec::new();
    state.choices(locals, second.process, |choice| choices.push(choice));
    let found = choices.contains(&second.choice).then(|| {
        state.step(locals, second);
        let other = state.effect(locals);
        let dependent = dependent((first.process, &touched), (second.process, &other));
        let mut portrait = Vec::new();
        state.portrait(locals, parts, &mut portrait);
        state.undo(locals);
        (portrait, dependent)
    });
    state.undo(locals);
    found
}

fn count<S: Subject>(pairs: &mut Pairs, samples: &[Sample<S>]) {
    let parts = &mut Parts::default();
    for sample in samples {
        let mut locals = Locals::new(&sample.script);
        let structure = match Structure::of(&mut locals, MOST_CONFIGURATIONS) {
            Err(Obstacle::Broken(how)) => panic!("{how}\n{}", sample.describe()),
            Err(Obstacle::TooLarge) => continue,
            Ok(structure) => structure,
        };
        for configuration in structure.configurations.iter().filter(|c| !c.run.state.is_crowded()) {
            let mut state = configuration.run.state.clone();
            let next = &configuration.next;
            for (index, &(a, _)) in next.iter().enumerate() {
                for &(b, _) in next[index + 1..].iter().filter(|(b, _)| b.process != a.process) {
                    let [one, other] =
                        [[a, b], [b, a]].map(|order| both(&mut locals, parts, &mut state, order));
                    let of_either = one.as_ref().or(other.as_ref());
                    if !of_either.is_some_and(|(_, dependent)| *dependent) {
                        continue;
                    }
                    let mut kinds = [a, b].map(|action| {
                        let op = locals.op(state.local(action.process));
                        kind_of(op.expect("it is enabled"))
                    });
                    kinds.sort();
                    let differ = one.map(|one| one.0) != other.map(|other| other.0);
                    let [times, differences] = pairs.entry(kinds).or_default();
                    *times += 1;
                    *differences += u32::from(differ);
                }
            }
        }
    }
}

#[test]
fn every_dependence_makes_a_difference_somewhere() {
    let mut pairs = Pairs::new();
    count(&mut pairs, random_models::processes());
    count(&mut pairs, random_models::later());
    count(&mut pairs, random_models::actors());
    count(&mut pairs, random_models::p2p());
    println!("{pairs:#?}");
    let unearned: Vec<_> = pairs.iter().filter(|(_, [_, differ])| *differ == 0).collect();
    assert!(
        unearned.iter().map(|(kinds, _)| *kinds).eq(NAMED),
        "dependent without need: {unearned:?}"
    );
    assert!(pairs.len() > 15, "{} kinds of pairs", pairs.len());
}
