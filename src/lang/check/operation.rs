//! The visible operations.

use std::sync::Arc;

use super::call::{Call, is_checked_by_hand};
use super::{Checker, Group, Meaning, Want};
use crate::lang::ast;
use crate::lang::code::Visible;
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Expr, ExprKind, Operation, SendMode};
use crate::lang::objects::{self, Gives, ObjectKind, Param, Takes, Uses, Word};
use crate::lang::types::{CommId, Type, Yield};
use crate::model::Delivery;

impl Checker<'_> {
    pub(super) fn operation(&mut self, call: &Call<'_>) -> Option<(Operation, Type)> {
        let unit = |op| Some((op, Type::Unit));
        if let Some((kind, word)) = self.word(call) {
            return self.word_on_object(call, kind, word);
        }
        match call.name {
            "isend" | "send" | "issend" | "ssend" | "ibsend" | "bsend" => self.send(call),
            "probe" | "iprobe" | "mprobe" => self.probe(call),
            "cancel" => self.cancel(call),
            name if self.is_collective(call) => {
                let what = super::call::collective(name).expect("a collective");
                self.collective(call, what)
            }
            "irecv" | "recv" => self.receive(call),
            "wait" | "mrecv" => {
                let (comm, ty) = self.comm(call)?;
                Some((Operation::one(Visible::Wait, [comm]), ty))
            }
            "value" => {
                let (comm, ty) = self.comm(call)?;
                Some((Operation::Received(Box::new(comm)), ty))
            }
            "test" => {
                let [comm] = self.positional(call)?;
                let (checked, id) = self.any_comm(comm);
                self.tested.push((id, comm.span));
                Some((Operation::one(Visible::Test, [checked]), Type::Bool))
            }
            "waitany" => {
                let comms = self.comms(call)?;
                Some((Operation::one(Visible::WaitAny, [comms]), Type::Int))
            }
            "testany" => {
                let comms = self.comms(call)?;
                Some((Operation::one(Visible::TestAny, [comms]), Type::Int))
            }
            "waitall" => unit(Operation::WaitAll(Box::new(self.comms(call)?))),
            "choose" => self.choose(call),
            "local" => {
                let [label] = self.positional(call)?;
                if !matches!(label.kind, ast::ExprKind::Text(_)) {
                    self.report(Diagnostic::error(
                        label.span,
                        "the label of `local` must be a text",
                    ));
                }
                unit(Operation::one(Visible::Local, []))
            }
            "join" => {
                let [process] = self.positional(call)?;
                let process = self.expr_of(process, &Type::Process);
                unit(Operation::one(Visible::Join, [process]))
            }
            other => unreachable!("`{other}` is not in the table of what is built in"),
        }
    }

    /// The word that is called. If several kinds of objects have it, the first argument says which
    /// one is meant.
    fn word(&self, call: &Call<'_>) -> Option<(ObjectKind, &'static Word)> {
        let first = call.args.first();
        let is_meant = |kind: ObjectKind| first.is_some_and(|arg| self.names(&arg.value, kind));
        let mut known = objects::words_called(call.name);
        let meant = known.clone().find(|&(kind, _)| is_meant(kind));
        meant.or_else(|| known.next().filter(|_| !self.is_by_hand(call)))
    }

    /// An operation on objects, with the arguments that its word takes.
    fn word_on_object(
        &mut self,
        call: &Call<'_>,
        kind: ObjectKind,
        word: &'static Word,
    ) -> Option<(Operation, Type)> {
        let (groups, args) = match word.takes {
            Takes::Objects => self.objects(call, kind)?,
            Takes::Object(params) => self.object_with(call, kind, params)?,
        };
        for &group in &groups {
            let calls = &mut self.groups[group as usize].calls;
            if calls.iter().all(|&(name, _)| name != word.name()) {
                calls.push((word.name(), call.span));
            }
        }
        let ty = match word.gives() {
            Gives::Unit => Type::Unit,
            Gives::Bool => Type::Bool,
            Gives::Place => Type::Int,
            Gives::Content => self.groups[groups[0] as usize].ty.clone(),
        };
        Some((Operation::On(word, args), ty))
    }

    /// An object with further arguments.
    fn object_with(
        &mut self,
        call: &Call<'_>,
        kind: ObjectKind,
        params: &[Param],
    ) -> Option<(Vec<u32>, Vec<Expr>)> {
        let plain = self.counted(call, 1 + params.len())?;
        let object = plain[0];
        let found = self.address(object, kind);
        let content = found.as_ref().map(|(group, _)| self.groups[*group as usize].ty.clone());
        let mut args = Vec::new();
        for (param, arg) in params.iter().zip(&plain[1..]) {
            args.push(match (param, &content) {
                (Param::Object(kind), _) => {
                    self.address(arg, *kind).map(|(_, address)| Expr::object(address, arg.span))
                }
                (_, None) => None,
                (Param::Content, Some(ty)) => Some(self.expr_of(arg, ty)),
                (Param::Int, Some(ty)) => {
                    if kind == ObjectKind::Cell {
                        self.must_be(ty, &Type::Int, object.span);
                    }
                    Some(self.expr_of(arg, &Type::Int))
                }
            });
        }
        let (group, address) = found?;
        let all = std::iter::once(Some(Expr::object(address, object.span))).chain(args);
        Some((vec![group], all.collect::<Option<_>>()?))
    }

    /// A list of objects.
    fn objects(&mut self, call: &Call<'_>, kind: ObjectKind) -> Option<(Vec<u32>, Vec<Expr>)> {
        let (one, several) = kind.about().names;
        let [list] = self.positional(call)?;
        let ast::ExprKind::List(items) = &list.kind else {
            let message = format!("`{}` takes a list of {several}", call.name);
            self.report(
                Diagnostic::error(list.span, message).hint(format!("write `{}`", call.usage)),
            );
            return None;
        };
        if items.is_empty() {
            let message = format!("`{}` needs at least one {one}", call.name);
            self.report(Diagnostic::error(list.span, message));
        }
        let found: Vec<_> = items
            .iter()
            .map(|item| {
                let (group, address) = self.address(item, kind)?;
                Some((group, Expr::object(address, item.span)))
            })
            .collect();
        Some(found.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip())
    }

    /// Does it name an object of this kind, or an array of them?
    pub(super) fn names(&self, expr: &ast::Expr, kind: ObjectKind) -> bool {
        self.objects_named(expr).is_some_and(|group| group.kind == kind)
    }

    /// The declaration of the object, or the array of objects, that `expr` names.
    pub(super) fn objects_named(&self, expr: &ast::Expr) -> Option<&Group> {
        let owner = match &expr.kind {
            ast::ExprKind::Index(owner, _) => owner,
            _ => expr,
        };
        let ast::ExprKind::Name(name) = &owner.kind else { return None };
        match (self.variable(name), &self.globals.get(name)?.meaning) {
            (None, &Meaning::Objects(group)) => Some(&self.groups[group as usize]),
            _ => None,
        }
    }

    /// The argument with this label.
    pub(super) fn labelled(&mut self, call: &Call<'_>, label: &str) -> Option<Expr> {
        let mut found =
            call.args.iter().filter(|arg| arg.label.as_ref().is_some_and(|l| l.text == label));
        let first = found.next()?;
        if let Some(again) = found.next().and_then(|arg| arg.label.as_ref()) {
            let message = format!("`{label}:` is given twice");
            self.report(
                Diagnostic::error(again.span, message).also(first.value.span, "given first here"),
            );
        }
        Some(self.expr_of(&first.value, &Type::Int))
    }

    /// Adds source and tag of an operation at a mailbox to its arguments, and says which of them
    /// there are.
    pub(super) fn envelope(&mut self, call: &Call<'_>, args: &mut Vec<Expr>) -> (bool, bool) {
        let (src, tag) = (self.labelled(call, "src"), self.labelled(call, "tag"));
        let there = (src.is_some(), tag.is_some());
        args.extend(src.into_iter().chain(tag));
        there
    }

    fn send(&mut self, call: &Call<'_>) -> Option<(Operation, Type)> {
        if self.sends_to_actor(call) {
            return None;
        }
        let [place, value] = self.positional(call)?;
        let found = self.address(place, ObjectKind::Mailbox);
        let Some((group, mailbox)) = found else {
            self.expr(value, Want::Any);
            return None;
        };
        let message = self.groups[group as usize].ty.clone();
        let value_span = value.span;
        let (value, ty) = self.expr(value, Want::Hint(&message));
        if self.must_carry(group, &ty, &message, value_span) {
            self.must_travel.push((ty, value_span, "sent"));
        }
        let mut args = vec![Expr::object(mailbox, place.span), value];
        let (src, tag) = self.envelope(call, &mut args);
        self.out.names_sources |= src;
        let (mode, wait) = Checker::send_mode(call.name);
        if mode != SendMode::Standard && !self.needs_network(call, group, place) {
            return None;
        }
        let result = match (wait, self.groups[group as usize].delivery) {
            (true, _) => Type::Unit,
            (false, Delivery::Ordered) => self.infer.comm(Yield::Send, Type::Unit),
            (false, _) => self.infer.network_comm(Yield::Send, Type::Unit),
        };
        if let Some(channel) = self.groups[group as usize].channel {
            self.only_send(call, group);
            let visible = Visible::Isend { src, tag, mode: SendMode::Buffered };
            return Some((Operation::Unreliable { channel, visible, args }, Type::Unit));
        }
        let visible = Visible::Isend { src, tag, mode };
        Some((Operation::One { visible, args, wait }, result))
    }

    /// A mailbox carries one type of message; shows both uses if they disagree.
    fn must_carry(&mut self, group: u32, found: &Type, message: &Type, span: Span) -> bool {
        let agrees = self.infer.coerce(found, message);
        let first = self.groups[group as usize].first_use.clone();
        if !agrees {
            let (found, expected) = (self.show(found), self.show(message));
            let name = self.groups[group as usize].name.clone();
            let message = format!("the mailbox `{name}` carries {expected}, but this is {found}");
            let mut diagnostic = Diagnostic::error(span, message).label(format!("this is {found}"));
            if let Some((first, label)) = first {
                diagnostic = diagnostic.also(first, label);
            }
            self.report(
                diagnostic.hint("a mailbox carries one type of message; use two mailboxes"),
            );
        } else if first.is_none() {
            let label = format!("here it carries {}", self.show(message));
            self.groups[group as usize].first_use = Some((span, label));
        }
        agrees
    }

    fn receive(&mut self, call: &Call<'_>) -> Option<(Operation, Type)> {
        let [place] = self.positional(call)?;
        let (group, mailbox) = self.address(place, ObjectKind::Mailbox)?;
        let message = self.groups[group as usize].ty.clone();
        if self.groups[group as usize].first_use.is_none() {
            self.groups[group as usize].first_use =
                Some((call.span, "received from it here".to_owned()));
        }
        let mut args = vec![Expr::object(mailbox, place.span)];
        let (src, tag) = self.envelope(call, &mut args);
        let wait = call.name == "recv";
        let result = match (wait, self.groups[group as usize].delivery) {
            (true, _) => message,
            (false, Delivery::Ordered) => self.infer.comm(Yield::Receive, message),
            (false, _) => self.infer.network_comm(Yield::Receive, message),
        };
        Some((Operation::One { visible: Visible::Irecv { src, tag }, args, wait }, result))
    }

    /// The communication that `wait` or `value` names, and what it yields.
    fn comm(&mut self, call: &Call<'_>) -> Option<(Expr, Type)> {
        let [comm] = self.positional(call)?;
        let (checked, id) = self.any_comm(comm);
        if !call.want_dropped {
            self.received.push((id, call.span));
        }
        // The mixed values are reported once; uses of the result are not reported again.
        let ty = match self.infer.yields(id) {
            (Yield::Mixed, _) => Type::Error,
            (_, ty) => ty.clone(),
        };
        Some((checked, ty))
    }

    /// A communication, of whatever messages.
    pub(super) fn any_comm(&mut self, comm: &ast::Expr) -> (Expr, CommId) {
        let any = self.infer.any_comm();
        let checked = self.expr_of(comm, &any);
        let Type::Comm(id) = any else { unreachable!("a communication has been made") };
        (checked, id)
    }

    /// A list of communications, of whatever messages.
    fn comms(&mut self, call: &Call<'_>) -> Option<Expr> {
        let [list] = self.positional(call)?;
        if let ast::ExprKind::List(items) = &list.kind {
            if items.is_empty() && call.name != "waitall" {
                let message = format!("`{}` needs at least one communication", call.name);
                self.report(Diagnostic::error(list.span, message));
            }
            let (mut checked, mut firsts) = (Vec::new(), Vec::new());
            for item in items {
                let any = self.infer.any_comm();
                checked.push(self.expr_of(item, &any));
                firsts.push(any);
            }
            self.note_test(call, firsts);
            return Some(Expr { kind: ExprKind::List(checked), span: list.span });
        }
        let any = self.infer.any_comm();
        let checked = self.expr_of(list, &Type::List(Arc::new(any.clone())));
        self.note_test(call, vec![any]);
        Some(checked)
    }

    /// Notes what a `testany` is about: it must not mix mailboxes with different delivery.
    fn note_test(&mut self, call: &Call<'_>, comms: Vec<Type>) {
        if call.name == "testany" {
            let ids = comms.into_iter().filter_map(|comm| match comm {
                Type::Comm(id) => Some(id),
                _ => None,
            });
            self.tested_together.push((ids.collect(), call.span));
        }
    }

    /// Is there code for this operation here? `barrier` may be one on a collective.
    fn is_by_hand(&self, call: &Call<'_>) -> bool {
        is_checked_by_hand(call.name) || self.is_collective(call)
    }

    fn is_collective(&self, call: &Call<'_>) -> bool {
        let names_one = || {
            let first = call.args.first();
            first.is_some_and(|arg| self.names(&arg.value, ObjectKind::Collective))
        };
        super::call::collective(call.name).is_some() && (call.name != "barrier" || names_one())
    }

    /// Looks at each declaration of objects, with all its uses.
    pub(super) fn finish_objects(&mut self) {
        for group in 0..self.groups.len() {
            let Group { kind, ref name, base, ref calls, .. } = self.groups[group];
            let uses = Uses { name, base, calls };
            if let Some(diagnostic) = (kind.about().finish)(&mut self.out.objects, &uses) {
                self.report(diagnostic);
            }
        }
    }

    fn choose(&mut self, call: &Call<'_>) -> Option<(Operation, Type)> {
        let [range] = self.positional(call)?;
        let ast::ExprKind::Range(lo, hi) = &range.kind else {
            let (collection, ty) = self.expr(range, Want::Any);
            if self.infer.shallow(&ty) == Type::Int {
                let message = "`choose` takes a range or a collection";
                self.report(Diagnostic::error(range.span, message).hint("write `choose(lo..hi)`"));
                return None;
            }
            let item = self.element_of(&ty, range.span);
            let items = self.as_items(collection, &ty);
            return Some((Operation::one(Visible::ChooseFrom, [items]), item));
        };
        let bounds = [lo, hi].map(|bound| self.expr_of(bound, &Type::Int));
        Some((Operation::one(Visible::Choose, bounds), Type::Int))
    }
}
