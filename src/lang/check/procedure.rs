//! Checks procedures: bodies that may operate on objects, and that are inlined at their calls.
//!
//! A call is compiled as the body of the procedure. So a procedure must not call itself, directly
//! or through others, and bodies must not become too large by inlining ([`MAX_SIZE`]). Both are
//! checked after all bodies.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

use super::expr::wrong;
use super::{Checker, Context, Want};
use crate::lang::ast::{Arg, Block, Param};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Expr, ExprKind, Procedure};
use crate::lang::types::Type;
use crate::lang::walk;

/// The most expressions of a body after inlining.
const MAX_SIZE: u64 = 200_000;
/// The most expressions of all processes together after inlining.
const MAX_TOTAL: u64 = 1_000_000;
/// The most procedures of a cycle of calls that a message lists.
const MAX_CYCLE: usize = 10;

impl Checker<'_> {
    /// Checks the body of the next procedure.
    pub(super) fn procedure(&mut self, params: &[Param], block: &Block) {
        let body = self.function(Context::Procedure, params, block);
        let (name, _, result, _) = self.procedures[self.out.procedures.len()].parts();
        let has_result = result != Type::Unit;
        self.out.procedures.push(Procedure { name, body, has_result });
    }

    pub(super) fn call_procedure(
        &mut self,
        procedure: u32,
        args: &[Arg],
        span: Span,
        want: Want<'_>,
    ) -> (Expr, Type) {
        let (name, params, result, declared) = self.procedures[procedure as usize].parts();
        let context = self.scope.context;
        if !context.operates() {
            let message = format!("{} cannot call the procedure `{name}`", context.who());
            let diagnostic = Diagnostic::error(span, message)
                .label("only processes and procedures may do this")
                .also(declared, "declared here");
            let hint = (context == Context::Function)
                .then(|| "functions are pure: make it a `proc`, too".to_owned());
            self.report(diagnostic.maybe_hint(hint));
            return wrong(span);
        }
        let args = self.arguments(&name, args, &params, span, declared);
        let wanted = match want {
            Want::Dropped => false,
            Want::Any => true,
            Want::Hint(ty) => self.infer.shallow(ty) != Type::Unit,
        };
        let signature = &mut self.procedures[procedure as usize];
        if let Some((ty, _)) = signature.implied.take_if(|_| wanted) {
            signature.result = Type::Error;
            self.no_result_type("proc", &name, declared, &ty, span, "its value is used here");
            return wrong(span);
        }
        (Expr { kind: ExprKind::Perform(procedure, args), span }, result)
    }

    /// Performs the checks of procedures that need all bodies.
    pub(super) fn procedures_end(&mut self) {
        let bodies = self.out.procedures.iter().map(|procedure| &procedure.body.block);
        let calls: Vec<_> = bodies.map(walk::calls).collect();
        let components = components(&calls);
        let has_cycle = self.report_cycles(&cyclic(&components, &calls), &calls);
        if self.diagnostics.errors() == 0 && !has_cycle {
            self.report_sizes(&components.concat(), &calls);
        }
    }

    /// Reports each cycle of calls. Returns whether there is one.
    fn report_cycles(&mut self, components: &[Vec<u32>], calls: &[Vec<u32>]) -> bool {
        let mut found = false;
        for component in components {
            // A cycle is reported once, at the declaration of its first procedure.
            let first = *component.iter().min().expect("a component of some procedures");
            let Some(way) = cycle(first, calls) else { continue };
            found = true;
            let (name, .., span) = self.procedures[first as usize].parts();
            let names = way.iter().map(|&p| format!("`{}`", self.procedures[p as usize].name));
            let message = format!("the procedure `{name}` calls itself");
            let diagnostic = Diagnostic::error(span, message).label(match way.len() {
                2 => "in its own body".to_owned(),
                length if length > MAX_CYCLE => format!("through {} others", length - 2),
                _ => names.collect::<Vec<_>>().join(" calls "),
            });
            self.report(diagnostic.hint("calls of procedures are inlined: write a loop"));
        }
        found
    }

    /// Reports bodies that are too large after inlining. `order` is topological: called procedures
    /// come first.
    fn report_sizes(&mut self, order: &[u32], calls: &[Vec<u32>]) {
        let mut sizes = vec![0_u64; calls.len()];
        for &procedure in order {
            let procedure = procedure as usize;
            let mut size: u64 = 0;
            walk::visit(&self.out.procedures[procedure].body.block, &mut |_| size += 1);
            for &callee in &calls[procedure] {
                size = size.saturating_add(sizes[callee as usize]);
            }
            sizes[procedure] = size;
            if size > MAX_SIZE {
                let (name, .., span) = self.procedures[procedure].parts();
                return self.too_large(&name, span);
            }
        }
        let mut total = 0_u64;
        for (process, signature) in self.out.processes.iter().zip(&self.processes) {
            let called = walk::calls(&process.body.block);
            let size = called.iter().map(|&p| sizes[p as usize]).fold(0, u64::saturating_add);
            total = total.saturating_add(size);
            let (name, span) = (process.name.clone(), signature.span);
            if size > MAX_SIZE {
                return self.too_large(&name, span);
            }
            if total > MAX_TOTAL {
                let label = format!("up to here they have more than {MAX_TOTAL} expressions");
                let message = "the processes are too large with the procedures that they call";
                let diagnostic = Diagnostic::error(span, message).label(label);
                self.report(
                    diagnostic.hint("declare processes that are alike as a family: `P[i in 0..N]`"),
                );
                return;
            }
        }
    }

    fn too_large(&mut self, name: &str, span: Span) {
        let message = format!("`{name}` is too large");
        let label =
            format!("with the called procedures inlined, it has more than {MAX_SIZE} expressions");
        self.report(Diagnostic::error(span, message).label(label).hint("call fewer, or in a loop"));
    }
}

/// The procedures on a shortest cycle of calls through `start`, which is the first and the last
/// one; `None` if there is no cycle.
fn cycle(start: u32, calls: &[Vec<u32>]) -> Option<Vec<u32>> {
    let mut caller: FxHashMap<u32, u32> = FxHashMap::default();
    let mut pending = VecDeque::from([start]);
    while let Some(procedure) = pending.pop_front() {
        for &callee in &calls[procedure as usize] {
            if callee == start {
                let way = std::iter::successors(Some(procedure), |at| caller.get(at).copied());
                let mut way: Vec<u32> = std::iter::once(start).chain(way).collect();
                way.reverse();
                return Some(way);
            }
            if let Entry::Vacant(unseen) = caller.entry(callee) {
                unseen.insert(procedure);
                pending.push_back(callee);
            }
        }
    }
    None
}

/// The strongly connected components of the call graph; a component comes after those that it
/// calls.
fn components(calls: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let edges =
        (0..).zip(calls).flat_map(|(from, callees)| callees.iter().map(move |&to| (from, to)));
    let mut graph: DiGraph<(), (), u32> = DiGraph::from_edges(edges);
    while graph.node_count() < calls.len() {
        graph.add_node(());
    }
    let found = kosaraju_scc(&graph);
    found
        .into_iter()
        .map(|group| group.into_iter().map(|node| node.index() as u32).collect())
        .collect()
}

/// The components with a cycle: of several procedures, or of one that calls itself.
fn cyclic(components: &[Vec<u32>], calls: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let is_cyclic = |group: &&Vec<u32>| match group[..] {
        [one] => calls[one as usize].contains(&one),
        _ => true,
    };
    components.iter().filter(is_cyclic).cloned().collect()
}
