//! Checks operations at p2p and bag mailboxes, and collectives.

use std::sync::Arc;

use super::call::Call;
use super::{Checker, Meaning};
use crate::lang::ast;
use crate::lang::code::Visible;
use crate::lang::diagnostic::Diagnostic;
use crate::lang::hir::{Expr, ObjectKind, Operation, Operator, SendMode};
use crate::lang::types::{Type, Yield};
use crate::model::{CollectiveKind, Delivery, Probing};

/// The built-in operators of reductions.
const OPERATORS: [(&str, Operator); 6] = [
    ("sum", Operator::Sum),
    ("prod", Operator::Prod),
    ("min", Operator::Min),
    ("max", Operator::Max),
    ("and", Operator::And),
    ("or", Operator::Or),
];

impl Checker<'_> {
    /// The mode of the send with this name, and whether it waits for completion.
    pub(super) fn send_mode(name: &str) -> (SendMode, bool) {
        match name {
            "issend" => (SendMode::Synchronous, false),
            "ssend" => (SendMode::Synchronous, true),
            "ibsend" => (SendMode::Buffered, false),
            "bsend" => (SendMode::Buffered, true),
            "send" => (SendMode::Standard, true),
            _ => (SendMode::Standard, false),
        }
    }

    /// Reports an operation that ordinary mailboxes do not have. Returns true if the mailbox is p2p
    /// or bag.
    pub(super) fn needs_network(
        &mut self,
        call: &Call<'_>,
        group: u32,
        mailbox: &ast::Expr,
    ) -> bool {
        let group = &self.groups[group as usize];
        if group.delivery != Delivery::Ordered {
            return true;
        }
        let (name, declared) = (group.name.clone(), group.span);
        let message = format!("`{}` needs a p2p or bag mailbox", call.name);
        let diagnostic = Diagnostic::error(mailbox.span, message)
            .also(declared, "declared as an ordinary mailbox here")
            .hint(format!("declare it as `p2p mailbox {name};` for the order of MPI"));
        self.report(diagnostic);
        false
    }

    pub(super) fn probe(&mut self, call: &Call<'_>) -> Option<(Operation, Type)> {
        let [place] = self.positional(call)?;
        let (group, mailbox) = self.address(place, ObjectKind::Mailbox)?;
        let message = self.groups[group as usize].ty.clone();
        let mut args = vec![Expr::object(mailbox, place.span)];
        let (src, tag) = self.envelope(call, &mut args);
        if !self.needs_network(call, group, place) {
            return None;
        }
        let (form, first) = match call.name {
            "probe" => (Probing::Wait, None),
            "iprobe" => (Probing::Test, Some(Type::Bool)),
            _ => (Probing::Take, Some(self.infer.network_comm(Yield::Receive, message))),
        };
        let parts = first.into_iter().chain([Type::Int, Type::Int]).collect();
        let visible = Visible::Probe { form, src, tag, timed: false };
        Some((Operation::one(visible, args), Type::Tuple(parts)))
    }

    pub(super) fn cancel(&mut self, call: &Call<'_>) -> Option<(Operation, Type)> {
        let [comm] = self.positional(call)?;
        let (checked, id) = self.any_comm(comm);
        self.cancelled.push((id, comm.span));
        Some((Operation::Cancel(Box::new(checked)), Type::Bool))
    }

    pub(super) fn collective(
        &mut self,
        call: &Call<'_>,
        (kind, wait): (CollectiveKind, bool),
    ) -> Option<(Operation, Type)> {
        use CollectiveKind::*;
        let plain: Vec<_> = self.plain_arguments(call);
        let has_root = matches!(kind, Bcast | Scatter | Gather | Reduce);
        let has_operator = matches!(kind, Reduce | Allreduce | Scan | Exscan | ReduceScatter);
        let has_value = kind != Barrier;
        let count = 1 + [has_root, has_operator, has_value].into_iter().filter(|&has| has).count();
        if plain.len() != count {
            self.report_count(call, count, plain.len());
            return None;
        }
        let mut plain = plain.into_iter();
        let place = plain.next().expect("counted");
        let (group, collective) = self.address(place, ObjectKind::Collective)?;
        let root = has_root.then(|| {
            let root = plain.next().expect("counted");
            self.expr_of(root, &Type::Int)
        });
        let operator = match has_operator {
            true => Some(plain.next().expect("counted")),
            false => None,
        };
        let carried = self.carried_by(group, kind);
        let takes_list = matches!(kind, Scatter | Alltoall | ReduceScatter);
        let gives = match takes_list {
            true => Type::List(Arc::new(carried.clone())),
            false => carried.clone(),
        };
        let value = has_value.then(|| {
            let value = plain.next().expect("counted");
            let checked = self.expr_of(value, &gives);
            self.must_travel.push((gives.clone(), value.span, "sent"));
            checked
        });
        let operator = match operator {
            Some(operator) => Some(self.operator(operator, &carried)?),
            None => None,
        };
        let rank = self.labelled(call, "as");
        let list = Type::List(Arc::new(carried.clone()));
        let result = match kind {
            Barrier => Type::Unit,
            Gather | Allgather | Alltoall => list,
            _ => carried,
        };
        let visible = Visible::Enter {
            kind,
            operator: operator.map(Operator::number),
            root: has_root,
            value: has_value,
            rank: rank.is_some(),
            completion: None,
            partners: None,
        };
        let parts = [root, value, rank].into_iter().flatten();
        let args = std::iter::once(Expr::object(collective, place.span)).chain(parts).collect();
        let operation = Operation::One { visible, args, wait };
        match wait {
            true => Some((operation, result)),
            false if kind == Barrier => {
                Some((operation, self.infer.network_comm(Yield::Send, Type::Unit)))
            }
            false => Some((operation, self.infer.network_comm(Yield::Receive, result))),
        }
    }

    /// The type that ranks contribute in this kind of operation of a collective: the same in all
    /// calls.
    fn carried_by(&mut self, group: u32, kind: CollectiveKind) -> Type {
        if let Some(ty) = self.groups[group as usize].carries.get(&kind) {
            return ty.clone();
        }
        let ty = self.infer.fresh();
        self.groups[group as usize].carries.insert(kind, ty.clone());
        ty
    }

    /// Checks an operator: a built-in one, or a function of two arguments.
    fn operator(&mut self, expr: &ast::Expr, of: &Type) -> Option<Operator> {
        let hint =
            "an operator is `sum`, `prod`, `min`, `max`, `and`, `or` or a `fn` of two arguments";
        let ast::ExprKind::Name(name) = &expr.kind else {
            self.report(Diagnostic::error(expr.span, "this is not an operator").hint(hint));
            return None;
        };
        let meaning = self.globals.get(name).map(|global| global.meaning.clone());
        if let Some(Meaning::Function(function)) = meaning {
            let (_, params, result, declared) = self.functions[function as usize].parts();
            let fits = params.len() == 2
                && params.iter().chain([&result]).all(|ty| self.infer.coerce(ty, of));
            if !fits {
                let of = self.show(of);
                let message = format!("`{name}` is not an operator on {of}");
                let diagnostic =
                    Diagnostic::error(expr.span, message).also(declared, "declared here");
                let hint = format!("it has to take two values of {of} and return one");
                self.report(diagnostic.hint(hint));
                return None;
            }
            return Some(Operator::Function(function));
        }
        let Some(&(_, operator)) = OPERATORS.iter().find(|(known, _)| known == name) else {
            self.report(
                Diagnostic::error(expr.span, format!("`{name}` is not an operator")).hint(hint),
            );
            return None;
        };
        let of_bools = matches!(operator, Operator::And | Operator::Or);
        let wanted = if of_bools { Type::Bool } else { Type::Int };
        self.must_be(of, &wanted, expr.span);
        Some(operator)
    }
}
