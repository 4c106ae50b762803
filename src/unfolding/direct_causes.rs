//! Causality without the pairs that follow by transitivity.
//!
//! The list of causes that an event comes with can include causes of its other causes. (An
//! operation depends on the previous one of its process and on the last change of an object, and
//! one of the two may be before the other.) A drawing shows the transitive reduction: Aho, Garey,
//! Ullman (SIAM J. Comput. 1972), computed by petgraph.

use petgraph::algo::tred::{dag_to_toposorted_adjacency_list, dag_transitive_reduction_closure};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::IntoNeighbors;

/// The direct causes of each event, ascending. `causes[e]` lists causes of e, all of them less than
/// e, whose closure is the causality.
pub(crate) fn direct_causes(causes: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = causes.iter().map(|_| graph.add_node(())).collect();
    for (event, of_one) in causes.iter().enumerate() {
        for &cause in of_one {
            assert!(cause < event, "event {event} has the cause {cause}");
            graph.update_edge(nodes[cause], nodes[event], ());
        }
    }
    let (list, _) = dag_to_toposorted_adjacency_list::<_, u32>(&graph, &nodes);
    let (reduction, _) = dag_transitive_reduction_closure(&list);
    let mut direct = vec![Vec::new(); causes.len()];
    for cause in 0..causes.len() {
        for event in (&reduction).neighbors(cause as u32) {
            direct[event as usize].push(cause);
        }
    }
    direct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_left_out() {
        let causes = vec![vec![], vec![0], vec![0, 1], vec![2, 0], vec![0]];
        assert_eq!(direct_causes(&causes), [vec![], vec![0], vec![1], vec![2], vec![0]]);
    }
}
