//! The visible operations.

use std::sync::Arc;

use super::call::Call;
use super::{Checker, Group, Meaning, Want};
use crate::lang::ast;
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Address, Expr, ExprKind, ObjectKind, Operation, SendMode};
use crate::lang::types::{Type, Yield};
use crate::model::{Asking, Delivery};

impl Checker<'_> {
    pub(super) fn operation(&mut self, call: &Call<'_>) -> Option<(Operation, Type)> {
        use ObjectKind::*;
        let unit = |op| Some((op, Type::Unit));
        match call.name {
            "isend" | "send" | "issend" | "ssend" | "ibsend" | "bsend" => self.send(call),
            "probe" | "iprobe" | "mprobe" => self.probe(call),
            "cancel" => self.cancel(call),
            name if self.is_collective(call) => {
                let what = super::network::collective(name).expect("a collective");
                self.collective(call, what)
            }
            "irecv" | "recv" => self.receive(call),
            "wait" | "mrecv" => self.comm(call).map(|(comm, ty)| (Operation::Wait(comm), ty)),
            "value" => self.comm(call).map(|(comm, ty)| (Operation::Received(comm), ty)),
            "test" => {
                let [comm] = self.positional(call)?;
                let any = self.infer.any_comm();
                let span = comm.span;
                let comm = Box::new(self.expr_of(comm, &any));
                let Type::Comm(id) = any else { unreachable!("a communication has been made") };
                self.tested.push((id, span));
                Some((Operation::Test(comm), Type::Bool))
            }
            "waitany" => Some((Operation::WaitAny(self.comms(call)?), Type::Int)),
            "testany" => Some((Operation::TestAny(self.comms(call)?), Type::Int)),
            "waitall" => unit(Operation::WaitAll(self.comms(call)?)),
            "async_lock" => unit(Operation::AsyncLock(self.object_of(call, Mutex)?)),
            "mutex_wait" => unit(Operation::MutexWait(self.object_of(call, Mutex)?)),
            "mutex_test" => {
                let [mutex] = self.positional(call)?;
                let (group, mutex) = self.address(mutex, Mutex)?;
                self.groups[group as usize].tested.get_or_insert(call.span);
                Some((Operation::MutexTest(mutex), Type::Bool))
            }
            "try_lock" => {
                let [mutex] = self.positional(call)?;
                let (group, mutex) = self.address(mutex, Mutex)?;
                self.groups[group as usize].tried.get_or_insert(call.span);
                Some((Operation::TryLock(mutex), Type::Bool))
            }
            "mutex_waitany" => {
                let mutexes = self.mutexes(call)?.into_iter().map(|(_, mutex)| mutex);
                Some((Operation::MutexWaitAny(mutexes.collect()), Type::Int))
            }
            "mutex_testany" => {
                let mutexes = self.mutexes(call)?;
                for &(group, _) in &mutexes {
                    self.groups[group as usize].tested.get_or_insert(call.span);
                }
                let mutexes = mutexes.into_iter().map(|(_, mutex)| mutex).collect();
                Some((Operation::MutexTestAny(mutexes), Type::Int))
            }
            "lock" => unit(Operation::Lock(self.object_of(call, Mutex)?)),
            "unlock" => match self.names(call.args, RwLock) {
                true => unit(Operation::RwUnlock(self.object_of(call, RwLock)?)),
                false => unit(Operation::Unlock(self.object_of(call, Mutex)?)),
            },
            "cond_wait" => {
                let [condvar, mutex] = self.positional(call)?;
                let condvar = self.address(condvar, Condvar);
                let mutex = self.address(mutex, Mutex);
                let ((group, condvar), (_, mutex)) = (condvar?, mutex?);
                let spurious = self.groups[group as usize].spurious;
                unit(Operation::CondWait { condvar, mutex, spurious })
            }
            "notify_one" => unit(Operation::NotifyOne(self.object_of(call, Condvar)?)),
            "notify_all" => unit(Operation::NotifyAll(self.object_of(call, Condvar)?)),
            "read_lock" => unit(Operation::ReadLock(self.object_of(call, RwLock)?)),
            "write_lock" => unit(Operation::WriteLock(self.object_of(call, RwLock)?)),
            "async_acquire" => unit(Operation::AsyncAcquire(self.object_of(call, Semaphore)?)),
            "acquire_wait" => unit(Operation::AcquireWait(self.object_of(call, Semaphore)?)),
            "acquire" => unit(Operation::Acquire(self.object_of(call, Semaphore)?)),
            "release" => unit(Operation::Release(self.object_of(call, Semaphore)?)),
            "async_barrier" => unit(Operation::Arrive(self.object_of(call, Barrier)?)),
            "barrier_wait" => unit(Operation::BarrierWait(self.object_of(call, Barrier)?)),
            "barrier" => unit(Operation::Barrier(self.object_of(call, Barrier)?)),
            "cas" => {
                let [cell, old, new] = self.positional(call)?;
                let (cell, ty) = self.cell(cell)?;
                let old = Box::new(self.expr_of(old, &ty));
                let new = Box::new(self.expr_of(new, &ty));
                Some((Operation::CompareAndSwap(cell, old, new), Type::Bool))
            }
            "fetch_add" => {
                let [cell, amount] = self.positional(call)?;
                let span = cell.span;
                let (cell, ty) = self.cell(cell)?;
                self.must_be(&ty, &Type::Int, span);
                let amount = Box::new(self.expr_of(amount, &Type::Int));
                Some((Operation::FetchAdd(cell, amount), Type::Int))
            }
            "swap" => {
                let [cell, value] = self.positional(call)?;
                let (cell, ty) = self.cell(cell)?;
                let value = Box::new(self.expr_of(value, &ty));
                Some((Operation::Swap(cell, value), ty))
            }
            "choose" => self.choose(call),
            "local" => {
                let [label] = self.positional(call)?;
                if !matches!(label.kind, ast::ExprKind::Text(_)) {
                    self.report(Diagnostic::error(
                        label.span,
                        "the label of `local` must be a text",
                    ));
                }
                unit(Operation::Local)
            }
            "join" => {
                let [process] = self.positional(call)?;
                let process = Box::new(self.expr_of(process, &Type::Process));
                unit(Operation::Join(process))
            }
            other => unreachable!("`{other}` is not in the table of what is built in"),
        }
    }

    fn object_of(&mut self, call: &Call<'_>, kind: ObjectKind) -> Option<Address> {
        let [object] = self.positional(call)?;
        self.address(object, kind).map(|(_, address)| address)
    }

    /// Is the first argument an object of this kind?
    fn names(&self, args: &[ast::Arg], kind: ObjectKind) -> bool {
        let name = args.first().and_then(|arg| match &arg.value.kind {
            ast::ExprKind::Name(name) => Some(name),
            ast::ExprKind::Index(base, _) => match &base.kind {
                ast::ExprKind::Name(name) => Some(name),
                _ => None,
            },
            _ => None,
        });
        let named = name.and_then(|name| self.globals.get(name)).map(|global| &global.meaning);
        matches!(named, Some(Meaning::Objects(group)) if self.groups[*group as usize].kind == kind)
    }

    fn cell(&mut self, expr: &ast::Expr) -> Option<(Address, Type)> {
        let (group, address) = self.address(expr, ObjectKind::Cell)?;
        Some((address, self.groups[group as usize].ty.clone()))
    }

    /// The argument with this label.
    pub(super) fn labelled(&mut self, call: &Call<'_>, label: &str) -> Option<Box<Expr>> {
        let mut found =
            call.args.iter().filter(|arg| arg.label.as_ref().is_some_and(|l| l.text == label));
        let first = found.next()?;
        if let Some(again) = found.next().and_then(|arg| arg.label.as_ref()) {
            let message = format!("`{label}:` is given twice");
            self.report(
                Diagnostic::error(again.span, message).also(first.value.span, "given first here"),
            );
        }
        Some(Box::new(self.expr_of(&first.value, &Type::Int)))
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
        let src = self.labelled(call, "src");
        let tag = self.labelled(call, "tag");
        let (mode, wait) = Checker::send_mode(call.name);
        if mode != SendMode::Standard && !self.needs_network(call, group, place) {
            return None;
        }
        let result = match (wait, self.groups[group as usize].delivery) {
            (true, _) => Type::Unit,
            (false, Delivery::Ordered) => self.infer.comm(Yield::Send, Type::Unit),
            (false, _) => self.infer.network_comm(Yield::Send, Type::Unit),
        };
        Some((Operation::Isend { mailbox, value: Box::new(value), src, tag, mode, wait }, result))
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
        let [mailbox] = self.positional(call)?;
        let (group, mailbox) = self.address(mailbox, ObjectKind::Mailbox)?;
        let message = self.groups[group as usize].ty.clone();
        if self.groups[group as usize].first_use.is_none() {
            self.groups[group as usize].first_use =
                Some((call.span, "received from it here".to_owned()));
        }
        let src = self.labelled(call, "src");
        let tag = self.labelled(call, "tag");
        let wait = call.name == "recv";
        let result = match (wait, self.groups[group as usize].delivery) {
            (true, _) => message,
            (false, Delivery::Ordered) => self.infer.comm(Yield::Receive, message),
            (false, _) => self.infer.network_comm(Yield::Receive, message),
        };
        Some((Operation::Irecv { mailbox, src, tag, wait }, result))
    }

    /// The communication that `wait` or `value` names, and what it yields.
    fn comm(&mut self, call: &Call<'_>) -> Option<(Box<Expr>, Type)> {
        let [comm] = self.positional(call)?;
        let any = self.infer.any_comm();
        let checked = Box::new(self.expr_of(comm, &any));
        let Type::Comm(id) = any else { unreachable!("a communication has been made") };
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

    /// A list of communications, of whatever messages.
    fn comms(&mut self, call: &Call<'_>) -> Option<Box<Expr>> {
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
            return Some(Box::new(Expr { kind: ExprKind::List(checked), span: list.span }));
        }
        let any = self.infer.any_comm();
        let checked = self.expr_of(list, &Type::List(Arc::new(any.clone())));
        self.note_test(call, vec![any]);
        Some(Box::new(checked))
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

    /// Is it an operation on a collective? `barrier` may be one on a barrier.
    fn is_collective(&self, call: &Call<'_>) -> bool {
        let names_one = || match call.args.first().map(|arg| &arg.value.kind) {
            Some(ast::ExprKind::Name(name)) => self.is_called(name, ObjectKind::Collective),
            Some(ast::ExprKind::Index(base, _)) => match &base.kind {
                ast::ExprKind::Name(name) => self.is_called(name, ObjectKind::Collective),
                _ => false,
            },
            _ => false,
        };
        super::network::collective(call.name).is_some() && (call.name != "barrier" || names_one())
    }

    fn is_called(&self, name: &str, kind: ObjectKind) -> bool {
        let meaning = self.globals.get(name).map(|global| &global.meaning);
        matches!(meaning, Some(&Meaning::Objects(group)) if self.groups[group as usize].kind == kind)
    }

    /// A list of mutexes, or all of an array of them.
    fn mutexes(&mut self, call: &Call<'_>) -> Option<Vec<(u32, Address)>> {
        let [list] = self.positional(call)?;
        let ast::ExprKind::List(items) = &list.kind else {
            let message = format!("`{}` takes a list of mutexes", call.name);
            self.report(
                Diagnostic::error(list.span, message).hint(format!("write `{}`", call.usage)),
            );
            return None;
        };
        if items.is_empty() {
            let message = format!("`{}` needs at least one mutex", call.name);
            self.report(Diagnostic::error(list.span, message));
        }
        let found: Vec<_> =
            items.iter().map(|item| self.address(item, ObjectKind::Mutex)).collect();
        found.into_iter().collect()
    }

    /// Notes which mutexes are tried. A request in the queue of such a mutex cannot be tested.
    pub(super) fn finish_mutexes(&mut self) {
        for group in 0..self.groups.len() {
            let Group { ref name, base, count, tried, tested, .. } = self.groups[group];
            let Some(tried) = tried else { continue };
            if count > 0 {
                self.out.objects.mutexes.restart(base, Asking::Tries);
            }
            if let Some(tested) = tested {
                let message = format!(
                    "the mutex `{name}` is asked for by `try_lock`, so its requests cannot be tested"
                );
                let hint = "wait for a request with `mutex_wait`, or ask for the mutex by \
                            `try_lock` instead of `async_lock`";
                let diagnostic = Diagnostic::error(tested, message).hint(hint);
                self.report(diagnostic.also(tried, "tried here"));
            }
        }
    }

    fn choose(&mut self, call: &Call<'_>) -> Option<(Operation, Type)> {
        let [range] = self.positional(call)?;
        let ast::ExprKind::Range(lo, hi) = &range.kind else {
            let message = "`choose` takes a range";
            self.report(Diagnostic::error(range.span, message).hint("write `choose(lo..hi)`"));
            return None;
        };
        let lo = Box::new(self.expr_of(lo, &Type::Int));
        let hi = Box::new(self.expr_of(hi, &Type::Int));
        Some((Operation::Choose(lo, hi), Type::Int))
    }
}
