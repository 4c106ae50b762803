//! For one demand: the states where its goal does not hold, and a short fair lasso through them.
//!
//! ```text
//! region   := states where the goal does not hold
//! sources  := eventually: the initial state      always eventually: all      leadsto: trigger
//! reached  := states reached from sources in the region, by steps within the region
//! violated := in `reached` an execution may end, or has a fair component
//! ```
//!
//! The stem of a lasso goes on a shortest path from the initial state to a source (anywhere, but
//! for `eventually`), and from there within the region.

use super::components::Components;
use super::graph::Graph;
use super::rounds::Rounds;
use crate::explore::driver::Driver;
use crate::model::{Demand, Temporal};

/// About as many bytes are in use for each state while a demand is judged.
pub(super) const BYTES_PER_STATE: usize = 48;

/// A lasso in the graph.
#[derive(Debug)]
pub(super) struct Lasso {
    /// It begins with a shortest path to this state.
    pub(super) start: u32,
    /// The edges from there to the loop.
    pub(super) stem: Vec<usize>,
    /// The edges of the loop. If there are none, the execution ends.
    pub(super) round: Vec<usize>,
}

/// A lasso that violates the demand, as short as can be found with reasonable effort; `None` if
/// there is none, or if the search is stopped.
pub(super) fn violating(graph: &Graph, demand: &Demand, driver: &mut Driver<'_>) -> Option<Lasso> {
    let stems = Stems::new(graph, demand);
    let expanded = 0..graph.expanded_len() as u32;
    let reached: Vec<u32> = expanded.filter(|&state| stems.is_reached(state)).collect();
    let mut components = Components::new(graph);
    let fair = components.fair(&reached, driver)?;
    let ends = reached.iter().copied().filter(|&state| graph.may_end(state));
    let nearest = ends.min_by_key(|&state| stems.distance(state));
    let most = nearest.map_or(usize::MAX, |state| stems.distance(state) as usize);
    let mut rounds = Rounds::new(&mut components);
    let shorter = rounds.shortest(fair, most, |state| stems.distance(state), driver);
    match (shorter, nearest) {
        (Some((state, round)), _) => Some(stems.lasso(graph, state, round)),
        (None, Some(end)) => Some(stems.lasso(graph, end, Vec::new())),
        (None, None) => None,
    }
}

/// Shortest ways to the states where a demand may be violated.
struct Stems {
    /// For each state the length of the shortest way; `u32::MAX` if it is not reached.
    distances: Vec<u32>,
    /// The state before, and the edge from there; a state itself if it is a source.
    before: Vec<(u32, usize)>,
}

impl Stems {
    fn new(graph: &Graph, demand: &Demand) -> Stems {
        let count = graph.len() as u32;
        let is_open = |state| !graph.holds(demand.goal, state);
        let is_source = |state| match demand.pattern {
            Temporal::Eventually => state == 0,
            Temporal::AlwaysEventually => true,
            Temporal::LeadsTo => demand.trigger.is_some_and(|p| graph.holds(p, state)),
        };
        let mut stems = Stems {
            distances: vec![u32::MAX; count as usize],
            before: vec![(0, 0); count as usize],
        };
        let (mut next_source, mut length) = (0, 0);
        let (mut frontier, mut following) = (Vec::new(), Vec::new());
        while next_source < count || !frontier.is_empty() {
            // Sources are in the order of their depths.
            while next_source < count && graph.depth(next_source) <= length {
                let is_new = !stems.is_reached(next_source);
                if is_new && is_source(next_source) && is_open(next_source) {
                    stems.reach(next_source, length, (next_source, 0));
                    frontier.push(next_source);
                }
                next_source += 1;
            }
            for &state in &frontier {
                if state as usize >= graph.expanded_len() {
                    continue;
                }
                for edge in graph.edges_at(state) {
                    let to = graph.edge(edge).to;
                    if !stems.is_reached(to) && is_open(to) {
                        stems.reach(to, length + 1, (state, edge));
                        following.push(to);
                    }
                }
            }
            std::mem::swap(&mut frontier, &mut following);
            following.clear();
            length += 1;
        }
        stems
    }

    fn reach(&mut self, state: u32, length: u32, before: (u32, usize)) {
        self.distances[state as usize] = length;
        self.before[state as usize] = before;
    }

    fn is_reached(&self, state: u32) -> bool {
        self.distances[state as usize] != u32::MAX
    }

    fn distance(&self, state: u32) -> u32 {
        self.distances[state as usize]
    }

    /// The lasso with this loop, which begins in `state`.
    fn lasso(&self, graph: &Graph, state: u32, round: Vec<usize>) -> Lasso {
        let (mut start, mut stem) = (state, Vec::new());
        while self.before[start as usize].0 != start {
            let (before, edge) = self.before[start as usize];
            stem.push(edge);
            start = before;
        }
        // A way that reaches a source again, by a step to itself, is not shortest.
        debug_assert!(self.distance(start) == graph.depth(start));
        stem.reverse();
        Lasso { start, stem, round }
    }
}
