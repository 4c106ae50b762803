//! Checks demands on endless executions, and the words `unfair` and `strong`.
//!
//! The blocks of a demand read what `invariant` reads: shared cells, lengths of mailboxes, and
//! variables of the outermost blocks of processes. A demand with an index is one demand for each
//! value. Together they are at most [`MOST`].

use super::{Checker, Context, Global, Meaning};
use crate::lang::ast::{Block, File, Index, Item, Liveness, Name};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Body, Demand, ObjectKind};
use crate::lang::types::Type;
use crate::model::Delivery;

/// The most demands of a file.
const MOST: i64 = 1000;

impl Checker<'_> {
    pub(super) fn liveness(&mut self, file: &File) {
        for item in &file.items {
            match item {
                Item::Liveness(demand) => self.demand(demand),
                Item::Fairness { is_strong, names, span } => {
                    names.iter().for_each(|name| self.fair(*is_strong, name, *span));
                }
                _ => {}
            }
        }
    }

    fn demand(&mut self, demand: &Liveness) {
        let range = demand.index.as_ref().map(|index| self.range_of_index(index));
        if range == Some(None) {
            return;
        }
        let index = demand.index.as_ref().map(|index| &index.name);
        let trigger = demand.trigger.as_ref().map(|block| self.indexed_block(index, block));
        let goal = self.indexed_block(index, &demand.goal);
        let (pattern, name, span) = (demand.pattern, demand.name.clone(), demand.span);
        let index = index.map(|index| index.text.clone()).zip(range.flatten());
        self.out.demands.push(Demand { pattern, index, name, trigger, goal, span });
    }

    /// The range of the index of a demand; `None` if it is wrong.
    fn range_of_index(&mut self, index: &Index) -> Option<(i64, i64)> {
        let [lo, hi] = [&index.lo, &index.hi].map(|end| self.constant_value(end, Some(&Type::Int)));
        let (lo, hi) = (lo?.1.int(), hi?.1.int());
        let span = index.lo.span.to(index.hi.span);
        let others: i64 = self.out.demands.iter().map(Demand::count).sum();
        let message = match hi.checked_sub(lo) {
            Some(count) if count > 0 && count + others <= MOST => return Some((lo, hi)),
            Some(count) if count <= 0 => format!("there is nothing in the empty range {lo}..{hi}"),
            _ => format!("the file has more than {MOST} demands"),
        };
        self.report(Diagnostic::error(span, message));
        None
    }

    /// Says how fair executions are to what is declared with this name.
    fn fair(&mut self, is_strong: bool, name: &Name, span: Span) {
        let Some(Global { meaning, .. }) = self.globals.get(&name.text) else { return };
        let refusal = match *meaning {
            Meaning::Process(number) | Meaning::Actor(number) => {
                let fair = &mut self.out.fair;
                let set = if is_strong { &mut fair.strong } else { &mut fair.unfair };
                set.insert(number);
                None
            }
            Meaning::Objects(group) if is_strong => {
                let group = &self.groups[group as usize];
                let objects = group.base..group.base + group.count;
                match (group.kind, group.delivery) {
                    (ObjectKind::Mailbox, Delivery::Ordered) => Some(
                        "messages of an ordinary mailbox come in their order: no fairness is needed",
                    ),
                    (ObjectKind::Mailbox | ObjectKind::Mutex | ObjectKind::Cell, _) => {
                        self.out.fair.objects.push((group.kind, objects));
                        None
                    }
                    _ => Some("its requests are granted in their order: no fairness is needed"),
                }
            }
            _ => Some("only processes and actors are `unfair`"),
        };
        if let Some(refusal) = refusal {
            let word = if is_strong { "strong" } else { "unfair" };
            let message = format!("`{}` cannot be declared `{word}`", name.text);
            let hint = "`strong` are processes, actors, handlers, mutexes, cells, and p2p and bag mailboxes";
            self.report(Diagnostic::error(span, message).label(refusal).hint(hint));
        }
    }

    /// Checks a block of a demand.
    fn indexed_block(&mut self, index: Option<&Name>, block: &Block) -> Body {
        let names: Vec<_> = index.into_iter().collect();
        let types = vec![Type::Int; names.len()];
        self.enter_body(Context::Demand, &names, &types, "index");
        self.end_lone_block(names.len(), block)
    }
}

impl Demand {
    /// The number of demands that it stands for.
    pub(crate) fn count(&self) -> i64 {
        self.index.as_ref().map_or(1, |(_, (lo, hi))| hi - lo)
    }
}
