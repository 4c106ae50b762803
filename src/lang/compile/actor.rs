//! Compiles actors: the place where they rest, their handlers, and the operations that only actors
//! and `init` have.
//!
//! An actor starts like a process: with its parameters, then the first values of its variables.
//! Then it rests at [`Instr::Handle`]. The code of each guard and handler follows. It is compiled
//! as a continuation of the actor at rest, with the parameters of the message on top of the stack.
//! So handlers find the variables of the actor in their slots, and the variables are in scope in an
//! actor at rest.

use super::{BodyKind, Compiler};
use crate::lang::check::{self, Process};
use crate::lang::code::{self, Family, Instr};
use crate::lang::coverage::Part;
use crate::lang::hir::{Actor, Body, Expr, ExprKind, Handler, VarId};

impl Compiler<'_> {
    /// Notes the ids of the instances of each declaration.
    pub(super) fn families(&mut self, processes: &[Process]) {
        let mut first = 0;
        for process in processes {
            let lo = match process.kind {
                check::Instantiation::Family { lo, .. } => lo,
                _ => 0,
            };
            let (name, count) = (self.text(&process.name), process.kind.instances());
            self.code.families.push(Family { first, lo, count, name });
            first += count;
        }
    }

    /// Compiles an actor and returns the entry of its code.
    pub(super) fn actor(&mut self, body: &Body, actor: &Actor) -> u32 {
        let entry = self.here();
        self.open(body, BodyKind::Actor, 0);
        self.frame.span = actor.header;
        let mut compiled = code::Actor::default();
        self.emit(Instr::Handle(self.code.actors.len() as u32));
        for handler in &actor.handlers {
            let code = self.handler(handler);
            match handler.message {
                Some(message) => compiled.messages.entry(message).or_default().push(code),
                None => compiled.internals.push(code),
            }
        }
        self.leave_scope(0);
        let instrs = &self.code.instrs[entry as usize..];
        compiled.may_spawn = instrs.iter().any(|instr| matches!(instr, Instr::Create { .. }));
        self.code.actors.push(compiled);
        entry
    }

    fn handler(&mut self, handler: &Handler) -> code::Handler {
        let guard = handler.guard.as_ref().map(|guard| self.with_params(&handler.params, guard));
        self.note_part(Part::Handler, handler.header.to(handler.body.span));
        let entry = self.with_params(&handler.params, &handler.body);
        if handler.is_last {
            self.code.crashed.push(self.here() - 1);
        }
        if handler.is_strong {
            self.code.liveness.strong_handlers.insert(entry);
        }
        code::Handler { guard, entry, site: self.site(handler.header), incident: handler.incident }
    }

    /// Compiles `expr` with `params` on top of the stack, where it also leaves its value. Returns
    /// the entry.
    fn with_params(&mut self, params: &[VarId], expr: &Expr) -> u32 {
        let entry = self.here();
        let (depth, scope) = (self.frame.depth, self.frame.scope.len());
        for &param in params {
            self.enter(param, self.frame.depth);
            self.frame.depth += 1;
        }
        self.expr(expr);
        self.emit(Instr::End);
        self.leave_scope(scope);
        self.frame.depth = depth;
        entry
    }

    pub(super) fn of_actors(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Myself => self.emit(Instr::Myself),
            ExprKind::Instance(declaration, index) => {
                self.expr(index);
                self.emit(Instr::Instance(*declaration));
            }
            ExprKind::Message(name, args) => {
                self.several_values(args);
                let instr = Instr::Message { name: *name, args: args.len() as u32 };
                self.emit(instr);
            }
            ExprKind::Send(to, message) => self.two(to, message, Instr::Send),
            ExprKind::Create(process, args) => {
                self.several_values(args);
                let instr = Instr::Create { process: *process, args: args.len() as u32 };
                self.emit(instr);
            }
            other => unreachable!("{other:?} is not of actors"),
        }
    }
}
