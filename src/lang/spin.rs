//! Which instructions lie on loops that may change no object. There a process may come back to an earlier local state.
//!
//! They are those on a cycle of the control flow without an operation that always changes something (posts,
//! requests, unlocks, releases, arrivals, writes, spawns). Loops that count are among them, although they never come
//! back to the same local state. Callers look at local states, too; this module only spares them that for most processes.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::code::{Instr, Visible};
use crate::model::Probing;

/// For each instruction: is it on such a loop?
pub fn loops(instrs: &[Instr]) -> Vec<bool> {
    let mut graph = DiGraph::<(), ()>::with_capacity(instrs.len(), instrs.len());
    for _ in instrs {
        graph.add_node(());
    }
    for (at, instr) in instrs.iter().enumerate() {
        for next in successors(instr, at as u32) {
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

/// The instructions that may follow this one, if it changes no object.
fn successors(instr: &Instr, at: u32) -> impl Iterator<Item = u32> {
    let (next, jump) = match *instr {
        Instr::Jump(to) | Instr::Loop(to) => (None, Some(to)),
        Instr::JumpIfFalse(to) => (Some(at + 1), Some(to)),
        Instr::Visible(visible) if always_changes(visible) => (None, None),
        Instr::End | Instr::Return | Instr::Handle(_) => (None, None),
        _ => (Some(at + 1), None),
    };
    next.into_iter().chain(jump)
}

fn always_changes(visible: Visible) -> bool {
    use Visible::*;
    match visible {
        Isend { .. } | Irecv { .. } | AsyncLock | Unlock | AsyncAcquire | Release | Arrive => true,
        Enrol | NotifyOne | NotifyAll | Wake => true,
        ReadRequest | WriteRequest | RwUnlock | Write | Spawn { .. } => true,
        Cancel | Enter { .. } | Probe { form: Probing::Take, .. } => true,
        Probe { .. } | CancelOutcome => false,
        Wait | Test | WaitAny | TestAny | MutexWait | MutexTest | MutexWaitAny => false,
        Stray { .. } | AwaitWake => false,
        MutexTestAny | TryLock | RwWait | AcquireWait | BarrierWait | Read | CompareAndSwap
        | FetchAdd => false,
        Swap | Choose | Local | Join => false,
    }
}
