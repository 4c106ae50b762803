//! Strongly connected components, and the fair ones among them.
//!
//! Tarjan, *Depth-first search and linear graph algorithms* (SIAM J. Comput. 1972), with a stack of
//! its own instead of recursion. It runs again and again, on fewer states, so it keeps its arrays.
//!
//! **Weak fairness.** Let C be a component with at least one step. An execution that goes round
//! through all states and steps of C for ever is fair to process p if p cannot move in some state
//! of C, or if a step of C is p's. If neither holds, no execution within C is fair to p: it can
//! move in every state of C, and never moves within it.
//!
//! **Strong fairness.** If a strongly fair action is possible in some states of C, and no step of C
//! takes it, a fair execution within C visits these states only finitely often. So they are taken
//! away, and the components of the rest are judged (Emerson, Lei, *Modalities for model checking*,
//! Sci. Comput. Programming 1987; Streett's condition). This ends, as each time a state goes.
//!
//! So there is a fair execution that stays in a set of states if and only if this finds a fair
//! component there, or a state where executions may end ([`Graph::may_end`]).

use super::graph::{Edge, Graph};
use crate::explore::driver::Driver;
use crate::model::Fairness;

/// Finds components.
pub(super) struct Components<'g> {
    pub(super) graph: &'g Graph,
    /// For each state the number of the set that it was last put in.
    set: Vec<u32>,
    sets: u32,
    /// For each state of the present set: the order in which it was reached, from 1.
    order: Vec<u32>,
    /// The least order that is reached from it by steps of which only the last one goes back.
    /// [`DONE`] when its component is known.
    low: Vec<u32>,
    stack: Vec<u32>,
    /// The states under way, with the number of the next edge.
    calls: Vec<(u32, usize)>,
}

const DONE: u32 = u32::MAX;

impl<'g> Components<'g> {
    pub(super) fn new(graph: &'g Graph) -> Self {
        let count = graph.len();
        Components {
            graph,
            set: vec![0; count],
            sets: 0,
            order: vec![0; count],
            low: vec![0; count],
            stack: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Makes these states the present set, and returns its number.
    pub(super) fn put(&mut self, states: &[u32]) -> u32 {
        self.sets += 1;
        for &state in states {
            self.set[state as usize] = self.sets;
        }
        self.sets
    }

    /// Is the state in the set with this number, and in no later one?
    pub(super) fn is_in(&self, state: u32, set: u32) -> bool {
        self.set[state as usize] == set
    }

    /// The components of these expanded states, with the steps among them.
    fn of(&mut self, states: &[u32]) -> Vec<Vec<u32>> {
        let set = self.put(states);
        for &state in states {
            self.order[state as usize] = 0;
        }
        let (mut reached, mut found) = (0, Vec::new());
        for &root in states {
            if self.order[root as usize] == 0 {
                self.enter(root, &mut reached);
            }
            while let Some((state, next)) = self.calls.last_mut() {
                let at = *state;
                if *next == self.graph.edges_at(at).end {
                    self.calls.pop();
                    self.leave(at, &mut found);
                    continue;
                }
                let to = self.graph.edge(*next).to;
                *next += 1;
                if self.set[to as usize] != set {
                } else if self.order[to as usize] == 0 {
                    self.enter(to, &mut reached);
                } else if self.low[to as usize] != DONE {
                    self.low[at as usize] = self.low[at as usize].min(self.order[to as usize]);
                }
            }
        }
        found
    }

    fn enter(&mut self, state: u32, reached: &mut u32) {
        *reached += 1;
        self.order[state as usize] = *reached;
        self.low[state as usize] = *reached;
        self.stack.push(state);
        self.calls.push((state, self.graph.edges_at(state).start));
    }

    /// Notes that all that is reached from a state is known.
    fn leave(&mut self, state: u32, found: &mut Vec<Vec<u32>>) {
        let low = self.low[state as usize];
        if let Some(&(before, _)) = self.calls.last() {
            self.low[before as usize] = self.low[before as usize].min(low);
        }
        if low == self.order[state as usize] {
            let from = self.stack.iter().rposition(|&other| other == state).expect("on the stack");
            let component = self.stack.split_off(from);
            for &member in &component {
                self.low[member as usize] = DONE;
            }
            found.push(component);
        }
    }

    /// The largest sets of these states in which a fair execution may go round for ever. `None` if
    /// the search was stopped.
    pub(super) fn fair(
        &mut self,
        states: &[u32],
        driver: &mut Driver<'_>,
    ) -> Option<Vec<Vec<u32>>> {
        let mut found = Vec::new();
        let mut pending = vec![states.to_vec()];
        while let Some(states) = pending.pop() {
            driver.worked(states.len() as u64);
            if driver.is_stopped() {
                return None;
            }
            for component in self.of(&states) {
                match self.verdict(&component) {
                    Judged::Fair => found.push(component),
                    Judged::Unfair => {}
                    Judged::Rest(rest) => pending.push(rest),
                }
            }
        }
        Some(found)
    }

    fn verdict(&mut self, component: &[u32]) -> Judged {
        let graph = self.graph;
        if let [state] = *component
            && graph.edges(state).iter().all(|edge| edge.to != state)
        {
            return Judged::Unfair;
        }
        let set = self.put(component);
        let mut can_move = vec![0; graph.processes()];
        // The same in all states of a component: who was started once is there from then on.
        let mut owed = vec![Fairness::MayStop; graph.processes()];
        let mut moves = vec![false; graph.processes()];
        let mut taken = vec![false; graph.strong_len()];
        let mut possible = vec![false; graph.strong_len()];
        for &state in component {
            let mut last = None;
            for &edge in graph.edges(state) {
                let strong = graph.strong(edge).iter();
                if self.is_in(edge.to, set) {
                    moves[edge.mover().index()] = true;
                    strong.clone().for_each(|&action| taken[action as usize] = true);
                }
                if !edge.is_optional() {
                    strong.for_each(|&action| possible[action as usize] = true);
                    // The edges of one process stand together.
                    if last != Some(edge.mover()) {
                        last = Some(edge.mover());
                        can_move[edge.mover().index()] += 1;
                        owed[edge.mover().index()] = edge.fairness();
                    }
                }
            }
        }
        let mut processes = (0..graph.processes()).filter(|&process| can_move[process] > 0);
        let is_unfair = processes.any(|process| {
            owed[process] >= Fairness::Weak
                && can_move[process] == component.len()
                && !moves[process]
        });
        if is_unfair {
            return Judged::Unfair;
        }
        let neglected = |&action: &u32| possible[action as usize] && !taken[action as usize];
        let is_good = |&&state: &&u32| {
            let duties = graph.edges(state).iter().filter(|edge| !edge.is_optional());
            !duties.flat_map(|&edge: &Edge| graph.strong(edge)).any(neglected)
        };
        let rest: Vec<u32> = component.iter().filter(is_good).copied().collect();
        match rest.len() == component.len() {
            true => Judged::Fair,
            false => Judged::Rest(rest),
        }
    }
}

/// What is known of a component.
enum Judged {
    /// An execution that goes through all of it for ever is fair.
    Fair,
    /// No execution that stays in it is fair.
    Unfair,
    /// A fair execution that stays in it stays among these states in the end.
    Rest(Vec<u32>),
}

#[cfg(test)]
mod tests {
    use petgraph::algo::kosaraju_scc;
    use petgraph::graph::DiGraph;
    use proptest::prelude::*;

    use super::*;
    use crate::model::ProcessId;

    proptest! {
        #[test]
        fn components_are_those_of_petgraph(
            steps in prop::collection::vec((0_u32..9, 0_u32..9), 0..25),
            chosen in prop::collection::vec(any::<bool>(), 9),
        ) {
            let mut graph = Graph::new(0);
            let mut twin = DiGraph::<u32, ()>::new();
            let states: Vec<u32> = (0..9).filter(|&n| chosen[n as usize]).collect();
            let nodes: Vec<_> = (0..9).map(|n| twin.add_node(n)).collect();
            for state in 0..9 {
                graph.add(0);
                for &(_, to) in steps.iter().filter(|step| step.0 == state) {
                    graph.add_edge(Edge::new((ProcessId(0), Fairness::Weak), to, 0, false));
                    twin.add_edge(nodes[state as usize], nodes[to as usize], ());
                }
                graph.expanded();
            }
            twin.retain_nodes(|twin, node| chosen[twin[node] as usize]);
            let sorted = |mut all: Vec<Vec<u32>>| {
                all.iter_mut().for_each(|one| one.sort_unstable());
                all.sort();
                all
            };
            let expected = kosaraju_scc(&twin).into_iter();
            let expected = expected.map(|one| one.into_iter().map(|node| twin[node]).collect());
            let mut components = Components::new(&graph);
            for _ in 0..2 {
                prop_assert_eq!(sorted(components.of(&states)), sorted(expected.clone().collect()));
            }
        }
    }
}
