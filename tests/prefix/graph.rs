//! The prefix as a graph, and the executions of its events.

use std::fs;

use mazurka::explore::{Budget, Relation, finite_prefix};
use mazurka::lang::compile;
use petgraph::algo::is_cyclic_directed;
use petgraph::visit::EdgeRef;

use crate::tidy::specs_without_demands;

#[test]
fn graphs_have_the_events_and_relations_of_prefixes() {
    let (mut cutoffs, mut conflicts, mut longer) = (0, 0, 0);
    for path in specs_without_demands() {
        let text = fs::read_to_string(&path).expect("a readable spec");
        let program = compile("spec.maz", &text, &[]).expect("a valid spec");
        let Ok(prefix) = finite_prefix(&program, 100, Budget::default()) else { continue };
        let graph = prefix.graph();
        assert_eq!(graph.node_count(), prefix.events.len());
        assert!(!is_cyclic_directed(&graph.filter_map(
            |_, event| Some(event),
            |_, relation| (*relation == Relation::Cause).then_some(()),
        )));
        let of = |wanted| {
            let edges = graph.edge_references().filter(move |edge| *edge.weight() == wanted);
            edges.map(|edge| (edge.source().index(), edge.target().index()))
        };
        assert!(of(Relation::Conflict).eq(prefix.conflicts.iter().copied()));
        let causes = prefix.events.iter().enumerate();
        let causes = causes.flat_map(|(at, one)| one.causes.iter().map(move |&cause| (cause, at)));
        assert!(of(Relation::Cause).eq(causes));
        for (at, event) in prefix.events.iter().enumerate() {
            assert_eq!(event.steps.len(), event.schedule.len());
            assert_eq!(event.steps.last(), Some(&at));
            assert!(event.causes.iter().all(|cause| event.steps.contains(cause)));
            let own = event.steps.iter().filter(|&&step| step == at).count();
            assert!(own == 1 || own == 2, "{own} actions of an event");
            longer += own - 1;
            assert_eq!(graph[petgraph::graph::NodeIndex::new(at)].step, event.step);
        }
        cutoffs += prefix.events.iter().filter(|event| event.cutoff_of.is_some()).count();
        conflicts += prefix.conflicts.len();
    }
    println!("{cutoffs} cutoffs, {conflicts} conflicts, {longer} locks in one step");
    assert!(cutoffs > 100 && conflicts > 1_000 && longer > 100);
}
