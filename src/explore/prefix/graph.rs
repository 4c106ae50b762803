//! The event structure of a prefix as a graph of the crate `petgraph`.

use petgraph::graph::{DiGraph, NodeIndex};

use super::shown::{ShownEvent, ShownPrefix};

/// How two events of a prefix are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The first one is a direct cause of the second one.
    Cause,
    /// They are in immediate conflict. The edge goes from the smaller number to the larger one, and
    /// means the same in both directions.
    Conflict,
}

impl ShownPrefix {
    /// The events with their direct causes and their immediate conflicts, as a graph of petgraph
    /// 0.8. A node has the number of its event.
    ///
    /// ```
    /// use mazurka::explore::{Budget, Relation, finite_prefix};
    /// use petgraph::visit::EdgeRef;
    ///
    /// let source = "shared x: int = 0; process P { while true { x = 1 - x; } }";
    /// let program = mazurka::lang::compile("flip.maz", source, &[]).expect("a valid program");
    /// let prefix = finite_prefix(&program, usize::MAX, Budget::default()).expect("a prefix");
    /// let graph = prefix.graph();
    ///
    /// for edge in graph.edge_references().filter(|edge| *edge.weight() == Relation::Cause) {
    ///     let (cause, event) = (edge.source(), edge.target());
    ///     println!("{} comes before {}", graph[cause].step.action, graph[event].step.action);
    /// }
    /// // It goes round and round, and the last event leads back to the start.
    /// let last = graph.externals(petgraph::Outgoing).next().expect("a last event");
    /// assert_eq!(graph[last].cutoff_of, Some(None));
    /// ```
    pub fn graph(&self) -> DiGraph<&ShownEvent, Relation> {
        let mut graph = DiGraph::with_capacity(self.events.len(), self.conflicts.len());
        let nodes: Vec<NodeIndex> = self.events.iter().map(|event| graph.add_node(event)).collect();
        for (event, shown) in self.events.iter().enumerate() {
            for &cause in &shown.causes {
                graph.add_edge(nodes[cause], nodes[event], Relation::Cause);
            }
        }
        for &(one, other) in &self.conflicts {
            graph.add_edge(nodes[one], nodes[other], Relation::Conflict);
        }
        graph
    }
}
