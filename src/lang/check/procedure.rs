//! Procedures: bodies that may act on objects, and stand for their calls.
//!
//! A call is compiled as the body of the procedure in its place. So a procedure must not call itself, in
//! however many steps, and calls within calls must not grow beyond measure ([`MAX_SIZE`]): both can be told
//! only when every body is known.

use super::expr::wrong;
use super::{Checker, Context};
use crate::lang::ast::{Arg, Block, Param};
use crate::lang::diagnostic::{Diagnostic, Severity, Span};
use crate::lang::hir::{Expr, ExprKind, Procedure};
use crate::lang::types::Type;
use crate::lang::walk;

/// So many expressions a body may have, with those of the procedures in place of their calls.
const MAX_SIZE: u64 = 200_000;

impl Checker<'_> {
    /// The body of the next procedure.
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
        (Expr { kind: ExprKind::Perform(procedure, args), span }, result)
    }

    /// What can be said of procedures when all bodies are known.
    pub(super) fn procedures_end(&mut self) {
        let bodies = self.out.procedures.iter().map(|procedure| &procedure.body.block);
        let calls: Vec<_> = bodies.map(walk::calls).collect();
        let circular = self.report_circles(&calls);
        let sound = self.diagnostics.iter().all(|d| d.severity != Severity::Error);
        if sound && !circular {
            self.report_sizes(&calls);
        }
    }

    /// Reports each procedure that calls itself; is there one?
    fn report_circles(&mut self, calls: &[Vec<u32>]) -> bool {
        let mut found = false;
        for procedure in 0..calls.len() as u32 {
            let Some(way) = circle(procedure, calls) else { continue };
            found = true;
            // A circle is reported once, where its first procedure is declared.
            if way.iter().any(|&other| other < procedure) {
                continue;
            }
            let (name, .., span) = self.procedures[procedure as usize].parts();
            let names = way.iter().chain([&procedure]);
            let names: Vec<_> =
                names.map(|&p| format!("`{}`", self.procedures[p as usize].name)).collect();
            let message = format!("the procedure `{name}` calls itself");
            let diagnostic = Diagnostic::error(span, message).label(match names.len() {
                2 => "in its own body".to_owned(),
                _ => names.join(" calls "),
            });
            self.report(diagnostic.hint("a procedure is run in place of its call: write a loop"));
        }
        found
    }

    /// Reports bodies that the procedures that they call make too large.
    fn report_sizes(&mut self, calls: &[Vec<u32>]) {
        let mut sizes = vec![None; calls.len()];
        for procedure in 0..calls.len() {
            let size = self.size_of(procedure, calls, &mut sizes);
            if size > MAX_SIZE {
                let (name, .., span) = self.procedures[procedure].parts();
                self.too_large(&name, span);
                return;
            }
        }
        for (process, signature) in self.out.processes.iter().zip(&self.processes) {
            let called = walk::calls(&process.body.block);
            let size =
                called.iter().filter_map(|&p| sizes[p as usize]).fold(0, u64::saturating_add);
            if size > MAX_SIZE {
                let (name, span) = (process.name.clone(), signature.span);
                return self.too_large(&name, span);
            }
        }
    }

    fn too_large(&mut self, name: &str, span: Span) {
        let message = format!("`{name}` is too large");
        let label = format!(
            "with the procedures in place of their calls, it has more than {MAX_SIZE} expressions"
        );
        self.report(Diagnostic::error(span, message).label(label).hint("call fewer, or in a loop"));
    }

    fn size_of(&self, procedure: usize, calls: &[Vec<u32>], sizes: &mut [Option<u64>]) -> u64 {
        if let Some(size) = sizes[procedure] {
            return size;
        }
        let mut size: u64 = 0;
        walk::visit(&self.out.procedures[procedure].body.block, &mut |_| size += 1);
        for &callee in &calls[procedure] {
            size = size.saturating_add(self.size_of(callee as usize, calls, sizes));
        }
        sizes[procedure] = Some(size);
        size
    }
}

/// The procedures on a shortest way from `start` back to itself, it first; `None` if there is none.
fn circle(start: u32, calls: &[Vec<u32>]) -> Option<Vec<u32>> {
    let mut ways = vec![vec![start]];
    let mut seen = vec![false; calls.len()];
    let mut next = 0;
    while next < ways.len() {
        let way = ways[next].clone();
        next += 1;
        for &callee in &calls[*way.last()? as usize] {
            if callee == start {
                return Some(way);
            }
            if !std::mem::replace(&mut seen[callee as usize], true) {
                ways.push(way.iter().copied().chain([callee]).collect());
            }
        }
    }
    None
}
