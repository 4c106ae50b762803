//! Finds the instructions on loops that may change no object: there a process may return to an
//! earlier local state.
//!
//! An instruction is on such a loop if it is on a cycle of the control flow without an operation
//! that always changes an object (posts, requests, unlocks, releases, arrivals, writes, spawns).
//! This over-approximates: a loop that counts never returns to the same local state. Callers
//! compare local states, too; this analysis avoids that for most processes.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::code::{Instr, Visible};
use crate::model::Probing;

/// For each instruction: is it on a loop that may change no object?
pub(crate) fn loops(instrs: &[Instr]) -> Vec<bool> {
    let mut graph = DiGraph::<(), ()>::with_capacity(instrs.len(), instrs.len());
    for _ in instrs {
        graph.add_node(());
    }
    for (at, instr) in instrs.iter().enumerate() {
        if let Instr::Visible(visible) = *instr
            && always_changes(visible)
        {
            continue;
        }
        for next in instr.successors(at as u32) {
            if (next as usize) < instrs.len() {
                graph.add_edge(NodeIndex::new(at), NodeIndex::new(next as usize), ());
            }
        }
    }
    let mut loops = vec![false; instrs.len()];
    for component in kosaraju_scc(&graph) {
        let is_loop = component.len() > 1 || graph.contains_edge(component[0], component[0]);
        component.into_iter().for_each(|node| loops[node.index()] = is_loop);
    }
    loops
}

/// Does the operation change an object each time it is executed?
fn always_changes(visible: Visible) -> bool {
    use Visible::*;
    match visible {
        Isend { .. } | Irecv { .. } | Spawn { .. } | Cancel | Enter { .. } => true,
        Probe { form, .. } => form == Probing::Take,
        Act(act, _) => act.always_changes,
        CancelOutcome | Wait | Test | WaitAny | TestAny | Choose | ChooseFrom | Local | Join
        | Fault(_) => false,
    }
}
