//! Compiles demands on endless executions: each of their blocks is a proposition.
//!
//! A block is compiled once. If the demand has an index, the code finds the value of the index on
//! the stack, as it finds a parameter, and there is a proposition for each value.

use super::{BodyKind, Compiler, excerpt};
use crate::lang::code::ReadSet;
use crate::lang::hir::{Body, Demand};
use crate::model::{self, Temporal};

impl Compiler<'_> {
    pub(super) fn liveness(&mut self, demands: &[Demand]) {
        for demand in demands {
            let trigger = demand.trigger.as_ref().map(|body| self.proposition(body));
            let goal = self.proposition(&demand.goal);
            let values: Vec<_> = match &demand.index {
                Some((_, (lo, hi))) => (*lo..*hi).map(Some).collect(),
                None => vec![None],
            };
            for value in values {
                let propositions = &mut self.code.liveness.propositions;
                let mut number = |entry| {
                    propositions.push((entry, value));
                    propositions.len() - 1
                };
                let (trigger, goal) = (trigger.map(&mut number), number(goal));
                let text = self.text_of(demand, value);
                let site = self.site(demand.span);
                let site = Some(self.code.sites[site as usize].clone());
                let pattern = demand.pattern;
                let demand = model::Demand { pattern, trigger, goal, text, site };
                self.code.liveness.demands.push(demand);
            }
        }
    }

    /// Compiles a block of a demand. Returns its entry.
    fn proposition(&mut self, body: &Body) -> u32 {
        self.reads = ReadSet::default();
        self.body(body, BodyKind::Invariant)
    }

    /// The demand in words, for this value of its index.
    fn text_of(&self, demand: &Demand, value: Option<i64>) -> String {
        let words = match demand.pattern {
            Temporal::Eventually => "eventually",
            Temporal::AlwaysEventually => "always eventually",
            Temporal::LeadsTo => "whenever",
        };
        let text = match &demand.name {
            Some(name) => format!("{words} \"{name}\""),
            None => excerpt(&self.source[demand.span.range()]),
        };
        match (&demand.index, value) {
            (Some((index, _)), Some(value)) => format!("`{text}` for {index} = {value}"),
            _ => format!("`{text}`"),
        }
    }
}
