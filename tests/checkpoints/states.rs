//! Searches of states are saved, in memory, stopped and resumed; in all ways in which states are
//! searched.

use std::io::{self, Read, Write};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mazurka::explore::{
    AnyExplorer, Budget, EveryState, Explorer, Fair, Fused, Keeper, NoObserver, Order, Outcome,
    SPor, Stateful, StopReason, Switch, Switches, Verdict, explore, explore_saved,
};
use mazurka::lang::compile;
use mazurka::model::System;

use crate::liveness::programs::{Random, random_program};
use crate::random_models::{Rng, Sample, Subject, actors, later, p2p, processes};
use crate::symmetry::programs;

/// Saves the state of a search once, in memory, and then ends the search.
#[derive(Default)]
struct InMemory {
    /// The number of times that the search could have been saved before.
    left: usize,
    /// Where it begins, and what was saved.
    from: Vec<u8>,
    saved: Option<Vec<u8>>,
    end: Arc<AtomicBool>,
}

impl Keeper for InMemory {
    fn is_due(&mut self) -> bool {
        self.left = self.left.wrapping_sub(1);
        self.left == usize::MAX
    }

    fn save(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("enough memory");
        self.saved = Some(bytes);
        self.end.store(true, Ordering::Relaxed);
    }

    fn saved(&mut self) -> Option<Box<dyn Read + '_>> {
        (!self.from.is_empty()).then(|| Box::new(&self.from[..]) as Box<dyn Read>)
    }
}

/// A search that is stopped at random, again and again, and how often that was.
pub(super) fn stopped<S: System>(
    system: &S,
    explorer: AnyExplorer,
    budget: &Budget,
    rng: &mut Rng,
) -> (Outcome, u32) {
    let (mut from, mut stops) = (Vec::new(), 0);
    loop {
        let mut keeper =
            InMemory { left: rng.below(4 + stops as usize), from, ..InMemory::default() };
        let budget = Budget { cancel: keeper.end.clone(), ..budget.clone() };
        let outcome = explore_saved(system, explorer, budget, &mut keeper, &mut NoObserver);
        match keeper.saved {
            None => return (outcome, stops),
            Some(saved) => (from, stops) = (saved, stops + 1),
        }
        assert!(stops < 10_000, "it makes no progress");
    }
}

/// An outcome with only those figures that do not tell of memory.
fn without_bytes(mut outcome: Outcome) -> Outcome {
    outcome.stats.state_bytes = None;
    outcome
}

/// The ways in which states are searched: in batches, soon or late, also where that does not pay;
/// by memoised moves from state to state; on the model; by levels; with reductions.
fn ways() -> Vec<(AnyExplorer, Option<u32>)> {
    let of = |how: Stateful| EveryState { first: 20, least_permutations: 2, ..EveryState::of(how) };
    let plain = of(Stateful::default());
    let two = EveryState { jobs: NonZeroU32::new(2).unwrap(), ..plain };
    let by_chance = of(Stateful { order: Order::Random(5), ..Stateful::default() });
    let visited = of(Stateful { order: Order::Visited, ..Stateful::default() });
    let to_the_letter = of(Stateful { as_printed: true, ..Stateful::default() });
    let every = [
        (plain, None),
        (two, None),
        (two, Some(6)),
        (EveryState { first: 1 << 20, ..plain }, None),
        (EveryState { max_replayed: 0, ..plain }, None),
        (by_chance, None),
        (by_chance, Some(7)),
        (visited, None),
        (to_the_letter, None),
        (of(Stateful { histories: true, ..Stateful::default() }), None),
    ];
    let by_chance = Stateful { order: Order::Random(5), ..Stateful::default() };
    let visited = Stateful { order: Order::Visited, ..Stateful::default() };
    let by_traversal =
        Stateful { without: Switches::NONE.and(Switch::Summaries), ..Stateful::default() };
    let fused = |how| AnyExplorer::from(Fused { how });
    let reduced = [
        (fused(Stateful::default()), None),
        (fused(by_chance), None),
        (fused(Stateful::default()), Some(6)),
        (SPor::safe(Stateful::default()).into(), None),
        (SPor::safe(visited).into(), None),
        (SPor::eager(Stateful::default()).into(), None),
        (SPor::eager(by_traversal).into(), None),
        (SPor::lazy(by_chance).into(), None),
        (SPor::lazy(by_traversal).into(), None),
        (SPor::lazy(Stateful { as_printed: true, ..Stateful::default() }).into(), None),
        (Fair.into(), None),
    ];
    every.map(|(way, depth)| (way.into(), depth)).into_iter().chain(reduced).collect()
}

/// Asserts that a search that is stopped at random is one that was not. Returns how often it was
/// stopped.
fn assert_same<S: System>(
    system: &S,
    (explorer, depth): (AnyExplorer, Option<u32>),
    rng: &mut Rng,
    text: &dyn Fn() -> String,
) -> u32 {
    let (all, shortest) = *rng.pick(&[(true, false), (false, false), (true, true)]);
    let budget = Budget { all, shortest, depth, ..Budget::default() };
    if explorer.refusal(system, &budget).is_some() {
        return 0;
    }
    let whole = explore(system, explorer, budget.clone(), &mut NoObserver);
    if whole.stats.transitions > 1000 {
        return 0;
    }
    let (resumed, stops) = stopped(system, explorer, &budget, rng);
    let (whole, resumed) = (without_bytes(whole), without_bytes(resumed));
    let what = || format!("{explorer:?} to {depth:?}, all: {all}, of {}", text());
    assert_eq!(resumed.stats, whole.stats, "{}", what());
    assert_eq!(resumed.violations, whole.violations, "{}", what());
    assert_eq!(resumed.leaks, whole.leaks, "{}", what());
    assert_eq!(resumed.stopped_by, whole.stopped_by, "{}", what());
    assert_eq!(resumed.cut_poll, whole.cut_poll, "{}", what());
    stops
}

/// For each way, how often the searches of these programs were stopped.
fn check_states<S: Subject + 'static>(
    samples: impl Iterator<Item = &'static Sample<S>>,
) -> Vec<u32> {
    let ways = ways();
    let mut stops = vec![0; ways.len()];
    for sample in samples {
        let mut rng = Rng::new(sample.seed);
        for (&way, stops) in ways.iter().zip(&mut stops) {
            *stops += assert_same(&sample.script, way, &mut rng, &|| sample.describe());
        }
    }
    stops
}

#[test]
fn states_are_gone_on_with() {
    let of_processes = check_states(processes().iter().step_by(16));
    let of_actors = check_states(actors().iter().step_by(16));
    let of_all = of_processes.iter().zip(&of_actors).map(|(one, other)| one + other);
    assert!(of_all.clone().all(|stops| stops > 20), "{:?}", of_all.collect::<Vec<_>>());
}

#[test]
#[ignore = "slow"]
fn states_are_gone_on_with_at_length() {
    println!("{:?}", check_states(processes().iter()));
    println!("{:?}", check_states(actors().iter()));
    println!("{:?}", check_states(later().iter()));
    println!("{:?}", check_states(p2p().iter()));
    println!("{:?}", symmetric(150));
}

/// With symmetry: how often searches were stopped, and how many merged states.
fn symmetric(count: u64) -> (u32, u32) {
    let (mut stops, mut merged) = (0, 0);
    let every = EveryState { least_permutations: 2, ..EveryState::of(Stateful::default()) };
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let text = match seed % 3 {
            0 => programs::random_network(&mut rng),
            _ => programs::random(&mut rng),
        };
        let program = compile("program.maz", &text, &[]).expect("a program");
        let few = Budget { all: true, max_traces: Some(200), ..Budget::default() };
        let small = explore(&program, every, few, &mut NoObserver);
        if small.is_complete() && small.stats.transitions < 600 {
            for way in [every.into(), Fused::default().into()] {
                stops += assert_same(&program, (way, None), &mut rng, &|| text.clone());
            }
            merged += u32::from(small.stats.symmetry.is_some());
        }
    }
    (stops, merged)
}

#[test]
fn states_of_symmetric_processes_are_gone_on_with() {
    let (stops, merged) = symmetric(20);
    assert!(stops > 50 && merged > 5, "{stops} {merged}");
}

/// Actors that start others, and objects whose parts grow, keep a search from batches.
#[test]
fn what_grows_is_gone_on_with() {
    let text = "shared x: int = 0; mutex m;
        process Q(n: int) { lock(m); x = x + n; unlock(m); }
        process P[i in 0..2] { if choose(0..2) == 0 { spawn Q(i); } lock(m); x = x * 2; unlock(m); }";
    let program = compile("program.maz", text, &[]).expect("a program");
    let mut stops = 0;
    for way in ways() {
        for seed in 0..3 {
            stops += assert_same(&program, way, &mut Rng::new(seed), &|| text.into());
        }
    }
    assert!(stops > 50, "{stops}");
}

/// How often searches by `fair` were stopped, and how many violated demands they found.
fn of_demands(seeds: impl Iterator<Item = u64>) -> (u32, usize) {
    let (mut stops, mut violated) = (0, 0);
    for seed in seeds {
        let Random { text, .. } = random_program(seed);
        let program = compile("program.maz", &text, &[]).expect("a program");
        stops += assert_same(&program, (Fair.into(), None), &mut Rng::new(seed), &|| text.clone());
        let all = Budget { all: true, ..Budget::default() };
        violated += explore(&program, Fair, all, &mut NoObserver).violations.len();
    }
    (stops, violated)
}

#[test]
fn demands_are_judged_after_a_stop() {
    let (stops, violated) = of_demands(0..60);
    assert!(stops > 100 && violated > 10, "{stops} {violated}");
}

#[test]
#[ignore = "slow"]
fn demands_are_judged_after_a_stop_at_length() {
    println!("{:?}", of_demands(60..4000));
}

/// Also if it distinguishes nothing, so that its view of a state has no words.
#[test]
fn invariants_are_judged_after_a_stop() {
    let every = EveryState { first: 4, ..EveryState::of(Stateful::default()) };
    for explorer in [every.into(), Fused::default().into()] {
        for (invariant, expected) in
            [("1 < 2", Verdict::Ok), ("x < 4", Verdict::Ok), ("x < 3", Verdict::Assertion)]
        {
            assert_judges(explorer, invariant, expected);
        }
    }
}

fn assert_judges(explorer: AnyExplorer, invariant: &str, expected: Verdict) {
    let text = format!(
        "shared x: int = 0; mutex m; process P[i in 0..3] {{ lock(m); x = x + 1; unlock(m); }}
         invariant {{ assert({invariant}); }}"
    );
    let program = compile("program.maz", &text, &[]).expect("a program");
    let budget = Budget { all: true, ..Budget::default() };
    let whole = explore(&program, explorer, budget.clone(), &mut NoObserver);
    let (resumed, stops) = stopped(&program, explorer, &budget, &mut Rng::new(1));
    assert_eq!((whole.verdict(), resumed.verdict()), (expected, expected), "{text}");
    assert_eq!(without_bytes(resumed).stats, without_bytes(whole).stats, "{text}");
    assert!(stops > 0, "{text}");
}

/// The state of another search, or a part of a state, is an error and not a panic.
#[test]
fn other_states_are_refused() {
    let every = EveryState { first: 20, ..EveryState::of(Stateful::default()) };
    assert_refuses_others(every.into());
    assert_refuses_others(Fused::default().into());
    assert_refuses_others(SPor::lazy(Stateful::default()).into());
    assert_refuses_others(Fair.into());
}

/// The steps between states are believed, but not that they are steps of this graph.
#[test]
fn damaged_edges_are_refused_or_judged() {
    let text = "shared x: int = 0;
        process P[i in 0..3] { while true { x = (x + i) % 7; } } eventually { assert(x == 6); }";
    let program = compile("program.maz", text, &[]).expect("a program");
    let state = saved_after(&program, Fair.into(), 0).expect("a state");
    let (mut refused, mut judged) = (0, 0);
    for at in state.len() - 200..state.len() {
        let mut bad = state.clone();
        bad[at] ^= 0x55;
        let is_refused = begun_from(&program, Fair.into(), &bad) == Some(StopReason::Stray);
        *if is_refused { &mut refused } else { &mut judged } += 1;
    }
    assert!(refused > 50 && judged > 10, "{refused} {judged}");
}

/// What is saved at this place of a search; `None` if that ends before.
fn saved_after<S: System>(system: &S, explorer: AnyExplorer, left: usize) -> Option<Vec<u8>> {
    let mut keeper = InMemory { left, ..InMemory::default() };
    let budget = Budget { cancel: keeper.end.clone(), all: true, ..Budget::default() };
    let outcome = explore_saved(system, explorer, budget, &mut keeper, &mut NoObserver);
    keeper.saved.filter(|_| outcome.stopped_by == Some(StopReason::Interrupted))
}

/// What stops a search that goes on from these bytes.
fn begun_from<S: System>(system: &S, explorer: AnyExplorer, from: &[u8]) -> Option<StopReason> {
    let mut keeper = InMemory { left: 1000, from: from.to_vec(), ..InMemory::default() };
    let budget = Budget { all: true, ..Budget::default() };
    explore_saved(system, explorer, budget, &mut keeper, &mut NoObserver).stopped_by
}

pub(super) fn assert_refuses_others(explorer: AnyExplorer) {
    let samples: Vec<_> = processes().iter().step_by(5).take(40).collect();
    let saved = |sample: &Sample<_>| saved_after(&sample.script, explorer, 5);
    let states: Vec<_> = samples.iter().map(|sample| (sample, saved(sample))).collect();
    let mut states = states.into_iter().filter_map(|(sample, saved)| Some((sample, saved?)));
    let (sample, state) = states.next().expect("one that is long enough");
    let begun_from = |from: &[u8]| begun_from(&sample.script, explorer, from);
    let mut refused = 0;
    for (_, other) in states {
        refused += u32::from(begun_from(&other) == Some(StopReason::Stray));
    }
    assert!(refused > 3, "{refused}");
    for length in (1..state.len()).step_by(1 + state.len() / 40) {
        assert_eq!(begun_from(&state[..length]), Some(StopReason::Stray), "{length}");
    }
}
