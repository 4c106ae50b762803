//! The search tree, compared with algorithm 1 of Pham, Jéron, Quinson (FORTE 2019) and with the
//! search.
//!
//! The sets of each call are judged by causality and conflict as the picture of the whole unfolding
//! shows them: two events are in conflict if events that they need, or they themselves, are in
//! immediate conflict.

use std::collections::BTreeSet;
use std::fs;

use mazurka::explore::recording::{Added, Extent, Searched, record};
use mazurka::explore::{Budget, K, NoObserver, Order, Outcome, Udpor, explore};
use mazurka::lang::{Program, compile};
use mazurka::report::picture::{Node, PartialOrder, SearchTree, Turn};

use super::{EVENTS, prefix, subject, unfolding};
use crate::cli::{json as parsed, run};

type Set = BTreeSet<usize>;

/// A search with this k, with at most these numbers of events and calls.
pub(super) fn tree(program: &Program, k: K, events: usize, calls: usize) -> SearchTree {
    searched(program, k, Extent { events, calls }).0
}

fn searched(program: &Program, k: K, extent: Extent) -> (SearchTree, Outcome) {
    let (mut full, _) = prefix(program, extent.events);
    let budget = Budget { depth: Some(1_000), max_traces: Some(500), ..Budget::default() };
    let search = record(program, k, extent, budget, &mut NoObserver);
    let outcome = search.1.clone();
    (SearchTree::of_search(subject(), program, k, search, &mut full, extent.events), outcome)
}

/// For each event, its causes and the events in conflict with it.
struct Judge {
    order: PartialOrder,
    history: Vec<Set>,
    conflicts: Vec<Set>,
}

impl Judge {
    fn new(order: PartialOrder) -> Judge {
        let mut history: Vec<Set> = Vec::new();
        for event in &order.events {
            let mut own = Set::from([event.id]);
            event.causes.iter().for_each(|&cause| own.extend(&history[cause]));
            history.push(own);
        }
        let mut conflicts = vec![Set::new(); history.len()];
        let history_of = &history;
        let after = |e: usize| (0..history_of.len()).filter(move |&f| history_of[f].contains(&e));
        for &(a, b) in &order.conflicts {
            for (e, f) in after(a).flat_map(|e| after(b).map(move |f| (e, f))) {
                conflicts[e].insert(f);
                conflicts[f].insert(e);
            }
        }
        Judge { order, history, conflicts }
    }

    fn is_configuration(&self, set: &Set) -> bool {
        set.iter().all(|&e| self.history[e].is_subset(set) && set.is_disjoint(&self.conflicts[e]))
    }

    /// en(C) for a configuration C
    fn enabled(&self, c: &Set) -> Set {
        let fits = |&e: &usize| {
            let needed = self.history[e].difference(c);
            needed.eq([&e]) && c.is_disjoint(&self.conflicts[e])
        };
        (0..self.order.events.len()).filter(fits).collect()
    }
}

fn set(events: &[usize]) -> Set {
    events.iter().copied().collect()
}

/// Checks one call against the algorithm.
fn assert_follows(judge: &Judge, tree: &SearchTree, node: &Node, k: usize) {
    let (c, d, a) = (set(&node.c), set(&node.d), set(&node.a));
    assert!(judge.is_configuration(&c), "{node:?}");
    let enabled = judge.enabled(&c);
    match &node.turn {
        Turn::Chose { event, left, alternative, right, asked } => {
            assert!(enabled.contains(event) && !d.contains(event), "{node:?}");
            assert!(a.is_empty() || a.contains(event), "{node:?}");
            let left = &tree.nodes[left.expect("a complete search")];
            let (mut more, mut fewer) = (c.clone(), a.clone());
            more.insert(*event);
            fewer.remove(event);
            assert_eq!((set(&left.c), set(&left.d), set(&left.a)), (more, d.clone(), fewer));
            let mut all = d;
            all.insert(*event);
            let Some(j) = alternative else { return assert!(*asked && right.is_none()) };
            let right = &tree.nodes[right.expect("a call for the alternative")];
            assert_eq!((set(&right.c), set(&right.d), set(&right.a)), (c, all.clone(), set(j)));
            let mut after = set(&node.c);
            after.extend(j);
            assert!(judge.is_configuration(&after) && after.is_disjoint(&all), "{node:?}");
            let hit = |d: &&usize| !after.is_disjoint(&judge.conflicts[**d]);
            let hits = all.iter().filter(hit).count();
            assert!(hits >= k.min(all.len()), "{node:?} is in conflict with {hits}");
        }
        Turn::Maximal { .. } => assert!(enabled.is_empty(), "{node:?}"),
        Turn::Blocked { enabled: found } => {
            assert!(set(found) == enabled && !enabled.is_empty() && enabled.is_subset(&d));
        }
        Turn::Cut | Turn::GivenUp | Turn::Known => {
            panic!("{node:?}: nothing cuts these programs, and UDPOR comes to no C twice")
        }
    }
}

/// DPOR over configurations: each configuration is explored once, and every maximal one is found.
#[test]
fn the_tree_of_dpor_follows_its_algorithm() {
    let mut known = 0;
    for (spec, defines) in [
        ("specs/mutex/philosophers.maz", &[("N", "2")][..]),
        ("specs/actor/registry.maz", &[]),
        ("specs/language/spawn-race.maz", &[]),
        ("specs/mutex/dispatcher.maz", &[("S", "2"), ("R", "1")]),
    ] {
        let defines: Vec<_> =
            defines.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let program = compile(spec, &fs::read_to_string(spec).unwrap(), &defines).unwrap();
        let judge = Judge::new(unfolding(&program, 10_000));
        let (mut full, outcome) = prefix(&program, 10_000);
        for added in [Added::ForEachRace, Added::OneAtATime] {
            let searched = Searched::Backtracking(Order::default(), added);
            let extent = Extent { events: 10_000, calls: usize::MAX };
            let search = record(&program, searched, extent, Budget::default(), &mut NoObserver);
            let tree =
                SearchTree::of_search(subject(), &program, searched, search, &mut full, 10_000);
            assert!(tree.complete, "{spec}: {:?}", tree.left_out);
            let mut entered = BTreeSet::new();
            let mut maximal = 0;
            for node in &tree.nodes {
                let (c, d) = (set(&node.c), set(&node.d));
                let enabled = judge.enabled(&c);
                let is_first = d.is_empty() && entered.insert(c.clone());
                match &node.turn {
                    Turn::Chose { event, left, alternative, right, .. } => {
                        assert_ne!(is_first, !d.is_empty(), "{node:?}");
                        assert!(enabled.contains(event) && d.is_subset(&enabled), "{node:?}");
                        let left = &tree.nodes[left.expect("a call")];
                        assert_eq!((left.c.last(), left.d.len()), (Some(event), 0), "{node:?}");
                        assert_eq!(alternative.is_some(), right.is_some(), "{node:?}");
                    }
                    Turn::Maximal { .. } => {
                        assert!(is_first && enabled.is_empty(), "{node:?}");
                        maximal += 1;
                    }
                    Turn::Known => {
                        assert!(!is_first, "{node:?}");
                        known += 1;
                    }
                    other => panic!("{other:?} of {spec}"),
                }
            }
            assert_eq!(maximal, outcome.stats.traces, "{spec}");
        }
    }
    assert!(known > 0, "some configurations are come to twice");
}

#[test]
fn a_search_tree_follows_the_algorithm() {
    let mut blocked = 0;
    for (spec, defines) in [
        ("specs/mutex/philosophers.maz", &[("N", "2")][..]),
        ("specs/actor/registry.maz", &[]),
        ("specs/mailbox/rmq-receiving.maz", &[("N", "4")]),
        ("specs/language/spawn-race.maz", &[]),
        ("specs/memory/lastzero.maz", &[("N", "3")]),
        ("specs/mutex/dispatcher.maz", &[("S", "2"), ("R", "1")]),
        ("specs/mutex/multiprodcon.maz", &[("P", "2"), ("W", "3")]),
    ] {
        let defines: Vec<_> =
            defines.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let program = compile(spec, &fs::read_to_string(spec).unwrap(), &defines).unwrap();
        let judge = Judge::new(unfolding(&program, 10_000));
        for (k, at_least) in [(K::Partial(1), 1), (K::Partial(2), 2), (K::Optimal, usize::MAX)] {
            let extent = Extent { events: 10_000, calls: usize::MAX };
            let (tree, outcome) = searched(&program, k, extent);
            assert!(tree.complete, "{spec}: {:?}", tree.left_out);
            tree.nodes.iter().for_each(|node| assert_follows(&judge, &tree, node, at_least));
            assert_eq!(tree.events, judge.order.events, "{spec}: the same events");
            let count = |is: fn(&Turn) -> bool| {
                tree.nodes.iter().filter(|node| is(&node.turn)).count() as u64
            };
            let maximal = count(|turn| matches!(turn, Turn::Maximal { .. }));
            let blocks = count(|turn| matches!(turn, Turn::Blocked { .. }));
            let budget = Budget { all: true, ..Budget::default() };
            let plain = explore(&program, Udpor { k, order: None }, budget, &mut NoObserver);
            assert_eq!((maximal, blocks), (plain.stats.traces, plain.stats.blocked), "{spec}");
            assert_eq!(outcome.stats.transitions, plain.stats.transitions, "{spec}");
            blocked += blocks;
        }
    }
    assert!(blocked > 0, "some of these block with k = 1");
}

#[test]
fn what_a_search_tree_leaves_out_is_said() {
    let source = fs::read_to_string("specs/mutex/philosophers.maz").unwrap();
    let program = compile("philosophers.maz", &source, &[]).unwrap();
    for (calls, many) in [(1, "1 call"), (7, "7 calls"), (40, "40 calls")] {
        let tree = tree(&program, K::Optimal, EVENTS, calls);
        assert_eq!((tree.nodes.len(), tree.complete), (calls, false));
        assert_eq!(tree.left_out, [format!("the search was stopped after {many} (--max-nodes)")]);
    }
    let few = tree(&program, K::Partial(1), 9, usize::MAX);
    assert!(few.events.len() == 9 && few.left_out[0].contains("--max-events"), "{few:?}");
}

#[test]
fn the_steps_have_the_fields_of_the_contract() {
    let args = ["draw", "philosophers.maz", "-D", "N=2", "--what", "steps", "--format", "json"];
    let model = parsed(&run(&args));
    assert_eq!((&model["what"], &model["k"]), (&"steps".into(), &"optimal".into()));
    let first = &model["nodes"][0];
    assert_eq!((&first["turn"], &first["event"]), (&"chose".into(), &0.into()));
    assert_eq!((&first["left"], &first["parent"]), (&1.into(), &serde_json::Value::Null));
    let second = &model["nodes"][first["right"].as_u64().unwrap() as usize];
    assert_eq!((&second["a"], &second["d"][0]), (&first["alternative"], &first["event"]));
    let ends = model["nodes"].as_array().unwrap().iter().filter(|n| n["turn"] == "maximal");
    assert_eq!(ends.map(|n| n["verdict"].clone()).collect::<Vec<_>>(), ["ok", "deadlock", "ok"]);
}
