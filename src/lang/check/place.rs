//! Names, the places they stand for, and assignments.

use super::call::usage;
use super::expr::wrong;
use super::{Checker, Context, Global, Group, Instantiation, Meaning, Want};
use crate::lang::ast::{self, BinaryOp, Name};
use crate::lang::code::Visible;
use crate::lang::diagnostic::{Diagnostic, Span, listed};
use crate::lang::hir::{Address, Expr, ExprKind, ObjectKind, Operation, Place, Projection};
use crate::lang::objects::cell;
use crate::lang::slips;
use crate::lang::types::Type;
use crate::model::Value;

/// The most enumerations with the same variant that a message lists.
const MAX_OWNERS: usize = 5;

/// What a binding that cannot change belongs to.
fn owner(what: &str, context: Context) -> &'static str {
    match what {
        "index" if context == Context::Process => "process",
        "index" => "actor",
        "loop variable" => "loop",
        _ => "body",
    }
}

impl Checker<'_> {
    /// A name as a value.
    pub(super) fn name(&mut self, name: &str, span: Span) -> (Expr, Type) {
        if let Some(id) = self.variable(name) {
            let var = &mut self.scope.vars[id as usize];
            var.used = true;
            return (Expr { kind: ExprKind::Var(id), span }, var.ty.clone());
        }
        match self.globals.get(name).map(|global| global.meaning.clone()) {
            // A wrong constant has no value.
            Some(Meaning::Const(_, Type::Error)) => wrong(span),
            Some(Meaning::Const(value, ty)) => (Expr { kind: ExprKind::Const(value), span }, ty),
            Some(Meaning::Objects(group)) => self.object_as_value(group, span),
            Some(Meaning::Actor(declaration)) => self.actor_reference(declaration, None, span),
            Some(other) => {
                let (what, hint) = match other {
                    Meaning::Enum(_) => ("an enumeration", format!("name a variant: `{name}::…`")),
                    Meaning::Function(_) => ("a function", format!("call it: `{name}(…)`")),
                    Meaning::Procedure(_) => ("a procedure", format!("call it: `{name}(…)`")),
                    Meaning::Message => ("a message", format!("say what it carries: `{name}(…)`")),
                    _ => ("a process", "`final` may read its variables: `P.v`".to_owned()),
                };
                let message = format!("`{name}` is {what}, not a value");
                self.report(Diagnostic::error(span, message).hint(hint));
                wrong(span)
            }
            None if name == "self" => self.myself(span),
            None => self.bare_variant(name, span),
        }
    }

    fn bare_variant(&mut self, name: &str, span: Span) -> (Expr, Type) {
        match self.variants.get(name).map(Vec::as_slice) {
            Some(&[(of, index)]) => {
                (Expr { kind: ExprKind::Const(Value::Variant { of, index }), span }, Type::Enum(of))
            }
            Some(several) => {
                let owners = several.iter().take(MAX_OWNERS);
                let owners: Vec<_> = owners
                    .map(|&(of, _)| format!("`{}::{name}`", self.names.enums[of as usize]))
                    .collect();
                let message = format!("`{name}` is a variant of several enumerations");
                self.report(
                    Diagnostic::error(span, message).hint(format!("write {}", owners.join(" or "))),
                );
                wrong(span)
            }
            None => {
                self.unknown(name, span, "value");
                wrong(span)
            }
        }
    }

    /// Reports a name that means nothing, with the nearest one that does.
    pub(super) fn unknown(&mut self, name: &str, span: Span, what: &str) {
        if name.is_empty() {
            return;
        }
        if self.diagnostics.is_full() {
            return self.report(Diagnostic::error(span, format!("there is no {what} `{name}`")));
        }
        if let Some(usage) = usage(name) {
            let message = format!("`{name}` is built in, not a {what}");
            self.report(Diagnostic::error(span, message).hint(format!("it is used as `{usage}`")));
            return;
        }
        let locals = self.scope.blocks.iter().flatten().map(String::as_str);
        let globals = self.globals.keys().map(String::as_str);
        let mut known: Vec<&str> =
            locals.chain(globals).chain(self.variants.keys().map(String::as_str)).collect();
        known.sort_unstable();
        let declared_later =
            self.scope.context == Context::Constant && self.declared.contains(name);
        let hint = match declared_later {
            true => {
                Some("a constant can use the constants declared before it, nothing else".to_owned())
            }
            false => {
                let slip = slips::value(name).map(str::to_owned);
                slip.or_else(|| self.nearest(name, known)).or_else(|| match what {
                    "variable" => Some(format!("declare it first: `var {name} = …;`")),
                    _ if self.scope.context == Context::Constant => {
                        Some(format!("declare it first: `const {name} = …;`"))
                    }
                    _ => None,
                })
            }
        };
        let diagnostic = Diagnostic::error(span, format!("there is no {what} `{name}`"));
        self.report(diagnostic.label("unknown name").maybe_hint(hint));
    }

    pub(super) fn variant(&mut self, of: &Name, variant: &Name, span: Span) -> (Expr, Type) {
        match self.find_variant(of, variant) {
            Some((of, index)) => {
                (Expr { kind: ExprKind::Const(Value::Variant { of, index }), span }, Type::Enum(of))
            }
            None => wrong(span),
        }
    }

    /// The variant that `of::variant` names; reports it if there is none.
    pub(super) fn find_variant(&mut self, of: &Name, variant: &Name) -> Option<(u32, u32)> {
        let Some(Global { meaning: Meaning::Enum(index), .. }) = self.globals.get(&of.text) else {
            let hint = self.nearest(&of.text, self.names.enums.iter().map(String::as_str));
            let message = format!("there is no enumeration `{}`", of.text);
            self.report(Diagnostic::error(of.span, message).maybe_hint(hint));
            return None;
        };
        let index = *index;
        let known = self.variants.get(&variant.text).map_or(&[][..], Vec::as_slice);
        if let Some(&found) = known.iter().find(|&&(owner, _)| owner == index) {
            return Some(found);
        }
        let variants = &self.out.enums[index as usize].variants;
        let hint = self.nearest(&variant.text, variants.iter().map(String::as_str));
        let message = format!("`{}` has no variant `{}`", of.text, variant.text);
        self.report(Diagnostic::error(variant.span, message).maybe_hint(hint));
        None
    }

    fn object_as_value(&mut self, group: u32, span: Span) -> (Expr, Type) {
        let Group { kind, name, is_array, ty, count, .. } = self.groups[group as usize].clone();
        if kind == ObjectKind::Cell && !is_array {
            return self.read(self.address_of(group, None), ty, span);
        }
        let (one, _) = kind.about().names;
        let diagnostic = if kind == ObjectKind::Cell {
            let message = match count {
                1 => format!("`{name}` is an array of 1 cell, which is read by its index"),
                _ => format!("`{name}` is an array of {count} cells, which are read one by one"),
            };
            Diagnostic::error(span, message).hint(format!("say which: `{name}[i]`"))
        } else {
            Diagnostic::error(span, format!("`{name}` is a {one}, not a value"))
                .hint(kind.about().usage)
        };
        self.report(diagnostic);
        wrong(span)
    }

    /// A read of a cell: an action in a process, a plain look in `final` and `invariant`, a mistake
    /// elsewhere.
    fn read(&mut self, address: Address, ty: Type, span: Span) -> (Expr, Type) {
        let kind = match self.scope.context {
            context if context.looks() => ExprKind::Peek(address),
            context if context.operates() => {
                let args = [Expr::object(address, span)];
                ExprKind::Operation(Operation::one(Visible::Act(&cell::READ, 0), args))
            }
            context => {
                let name = &address.name;
                let message = match context {
                    Context::Constant => format!("the content of `{name}` is not constant"),
                    context => format!("{} cannot read the shared cell `{name}`", context.who()),
                };
                let hint = match context {
                    Context::Constant => None,
                    Context::Function => Some(
                        "functions are pure: pass the content as an argument, or make it a `proc`",
                    ),
                    _ => Some("shared cells belong to processes; actors share nothing"),
                };
                let diagnostic = Diagnostic::error(span, message);
                self.report(diagnostic.maybe_hint(hint.map(str::to_owned)));
                return (Expr { kind: ExprKind::Error, span }, ty);
            }
        };
        (Expr { kind, span }, ty)
    }

    pub(super) fn address_of(&self, group: u32, index: Option<Expr>) -> Address {
        let group = &self.groups[group as usize];
        Address {
            name: group.name.clone(),
            base: group.base,
            count: group.count,
            index: index.map(Box::new),
            number: group.number,
        }
    }

    /// An argument that must name an object of this kind.
    pub(super) fn address(&mut self, expr: &ast::Expr, kind: ObjectKind) -> Option<(u32, Address)> {
        let (name, name_span, index) = match &expr.kind {
            ast::ExprKind::Name(name) => (name, expr.span, None),
            ast::ExprKind::Index(base, index) => match &base.kind {
                ast::ExprKind::Name(name) => (name, base.span, Some(index)),
                _ => return self.no_object(expr, kind),
            },
            _ => return self.no_object(expr, kind),
        };
        if self.variable(name).is_some() {
            return self.no_object(expr, kind);
        }
        let group = match self.globals.get(name).map(|global| &global.meaning) {
            Some(Meaning::Objects(group)) if self.groups[*group as usize].kind == kind => *group,
            Some(_) => return self.no_object(expr, kind),
            None => {
                let names = self.groups.iter().filter(|group| group.kind == kind);
                let hint = self.nearest(name, names.map(|group| group.name.as_str()));
                let message = format!("there is no {} `{name}`", kind.about().names.0);
                if !name.is_empty() {
                    self.report(
                        Diagnostic::error(name_span, message)
                            .label("unknown name")
                            .maybe_hint(hint),
                    );
                }
                if let Some(index) = index {
                    self.expr_of(index, &Type::Int);
                }
                return None;
            }
        };
        let index = index.map(|index| self.expr_of(index, &Type::Int));
        self.check_index(group, index, expr.span)
    }

    /// An array of objects needs an index, a single one must not have one.
    fn check_index(
        &mut self,
        group: u32,
        index: Option<Expr>,
        span: Span,
    ) -> Option<(u32, Address)> {
        let Group { kind, name, is_array, count, span: declared, .. } =
            self.groups[group as usize].clone();
        let (one, several) = kind.about().names;
        match (is_array, &index) {
            (true, None) => {
                let message = format!("`{name}` is an array of {count} {several}");
                let diagnostic =
                    Diagnostic::error(span, message).hint(format!("say which: `{name}[i]`"));
                self.report(diagnostic);
                None
            }
            (false, Some(_)) => {
                let message = format!("`{name}` is a single {one}");
                let diagnostic = Diagnostic::error(span, message).label("it has no index");
                self.report(diagnostic.also(declared, "declared here"));
                None
            }
            _ => {
                let index = index.map(|index| self.folded(index));
                Some((group, self.address_of(group, index)))
            }
        }
    }

    fn no_object(&mut self, expr: &ast::Expr, kind: ObjectKind) -> Option<(u32, Address)> {
        let (one, several) = kind.about().names;
        let what = match &expr.kind {
            ast::ExprKind::Error => return None,
            ast::ExprKind::Name(name) if self.variable(name).is_some() => {
                format!("`{name}` is a variable")
            }
            ast::ExprKind::Name(name) => match self.globals.get(name).map(|global| &global.meaning)
            {
                Some(Meaning::Objects(group)) => {
                    let kind = self.groups[*group as usize].kind;
                    format!("`{name}` is a {}", kind.about().names.0)
                }
                Some(Meaning::Const(..)) => format!("`{name}` is a constant"),
                Some(Meaning::Enum(_)) => format!("`{name}` is an enumeration"),
                Some(Meaning::Function(_)) => format!("`{name}` is a function"),
                Some(Meaning::Procedure(_)) => format!("`{name}` is a procedure"),
                Some(Meaning::Process(_)) => format!("`{name}` is a process"),
                Some(Meaning::Actor(_)) => format!("`{name}` is an actor"),
                Some(Meaning::Message) => format!("`{name}` is a message"),
                None => format!("`{name}` is unknown"),
            },
            _ => "this is a value".to_owned(),
        };
        let mut known = self.groups.iter().filter(|group| group.kind == kind).peekable();
        let hint = match known.peek() {
            None => format!("the file declares no {several}"),
            Some(_) => {
                let names = known.map(|group| format!("`{}`", group.name));
                format!("the {several} of the file: {}", listed(names))
            }
        };
        let message = format!("expected a {one}");
        self.report(Diagnostic::error(expr.span, message).label(what).hint(hint));
        None
    }

    /// `base[index]` as a value.
    pub(super) fn index(
        &mut self,
        base: &ast::Expr,
        index: &ast::Expr,
        span: Span,
    ) -> (Expr, Type) {
        if let Some(group) = self.cell_array(base) {
            let index = self.expr_of(index, &Type::Int);
            let ty = self.groups[group as usize].ty.clone();
            return match self.check_index(group, Some(index), span) {
                Some((_, address)) => self.read(address, ty, span),
                None => wrong(span),
            };
        }
        if let Some(declaration) = self.actors_called(base) {
            return self.actor_reference(declaration, Some(index), span);
        }
        let (list, ty) = self.expr(base, Want::Any);
        let (key, item) = self.indexed(&ty, base.span);
        let index = self.expr_of(index, &key);
        (Expr { kind: ExprKind::Index(Box::new(list), Box::new(index)), span }, item)
    }

    /// The declaration that `base` names, if it is an array of cells.
    fn cell_array(&self, base: &ast::Expr) -> Option<u32> {
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        if self.variable(name).is_some() {
            return None;
        }
        match self.globals.get(name)?.meaning {
            Meaning::Objects(group) => {
                let found = &self.groups[group as usize];
                (found.kind == ObjectKind::Cell && found.is_array).then_some(group)
            }
            _ => None,
        }
    }

    /// `base.field` as a value: part of a tuple, or in `final` and `invariant` a variable of a
    /// process.
    pub(super) fn field(&mut self, base: &ast::Expr, field: &Name, span: Span) -> (Expr, Type) {
        let (owner, index) = match &base.kind {
            ast::ExprKind::Index(owner, index) => (&**owner, Some(&**index)),
            _ => (base, None),
        };
        if let ast::ExprKind::Name(name) = &owner.kind
            && let (
                None,
                Some(&Global {
                    meaning: Meaning::Process(process) | Meaning::Actor(process), ..
                }),
            ) = (self.variable(name), self.globals.get(name))
            && self.scope.context != Context::Constant
        {
            return self.process_variable(process, index, field, span);
        }
        let (tuple, ty) = self.expr(base, Want::Any);
        let Some((at, ty)) = self.component(&ty, field, base.span) else { return wrong(span) };
        (Expr { kind: ExprKind::Field(Box::new(tuple), at), span }, ty)
    }

    /// Component `field` of a tuple of type `ty`.
    fn component(&mut self, ty: &Type, field: &Name, base: Span) -> Option<(u32, Type)> {
        let parts = match self.infer.shallow(ty) {
            Type::Tuple(parts) => parts,
            Type::Error | Type::Never => return None,
            Type::Var(_) => {
                let message = "the type of this is not known yet";
                self.report(
                    Diagnostic::error(base, message)
                        .hint("declare the type of the variable or mailbox"),
                );
                return None;
            }
            other => {
                let message = format!("expected a tuple, found {}", self.show(&other));
                self.report(Diagnostic::error(base, message));
                return None;
            }
        };
        let at = field.text.parse::<usize>().ok().filter(|&at| at < parts.len());
        if at.is_none() {
            let last = parts.len().saturating_sub(1);
            let message = format!("the tuple has no field `{}`", field.text);
            self.report(
                Diagnostic::error(field.span, message)
                    .hint(format!("its fields are .0 to .{last}")),
            );
        }
        at.map(|at| (at as u32, parts[at].clone()))
    }

    fn process_variable(
        &mut self,
        process: u32,
        index: Option<&ast::Expr>,
        field: &Name,
        span: Span,
    ) -> (Expr, Type) {
        let index = index.map(|index| self.expr_of(index, &Type::Int));
        let signature = &self.processes[process as usize];
        let (name, noun) = (signature.name.clone(), signature.noun());
        if !self.scope.context.looks() {
            let message = format!("only `final` and `invariant` may read a variable of `{name}`");
            let hint = match noun {
                "actor" => "an actor tells what it knows by a message",
                _ => "processes share cells and send messages",
            };
            self.report(Diagnostic::error(span, message).hint(hint));
            return wrong(span);
        }
        let problem = match (signature.kind, &index) {
            (Instantiation::Template, _) => {
                Some(format!("`{name}` is a template: no instance exists from the start"))
            }
            (Instantiation::Family { .. }, None) => {
                Some(format!("`{name}` has several instances: say which, `{name}[i]`"))
            }
            (Instantiation::Single, Some(_)) => {
                Some(format!("`{name}` is a single {noun}: it has no index"))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            self.report(Diagnostic::error(span, problem));
            return wrong(span);
        }
        let variables = &signature.variables;
        let Some((_, ty)) = variables.iter().rev().find(|(known, _)| *known == field.text) else {
            let hint = self.nearest(&field.text, variables.iter().map(|(name, _)| name.as_str()));
            let hint = hint
                .or_else(|| Some("only variables of its outermost block can be read".to_owned()));
            let message = format!("`{name}` has no top-level variable `{}`", field.text);
            self.report(Diagnostic::error(field.span, message).maybe_hint(hint));
            return wrong(span);
        };
        let ty = ty.clone();
        let kind =
            ExprKind::ProcessVar { process, index: index.map(Box::new), name: field.text.clone() };
        (Expr { kind, span }, ty)
    }

    pub(super) fn assignment(
        &mut self,
        place: &ast::Expr,
        op: Option<BinaryOp>,
        value: &ast::Expr,
        span: Span,
    ) -> Expr {
        let place_span = place.span;
        let Some((place, ty)) = self.place(place) else {
            self.expr(value, Want::Any);
            return Expr { kind: ExprKind::Error, span };
        };
        if op.is_some() {
            self.must_be(&ty, &Type::Int, place_span);
        }
        let value = self.expr_of(value, &ty);
        Expr { kind: ExprKind::Assign(place, op, Box::new(value)), span }
    }

    /// The target of an assignment, and the type of what is assigned.
    fn place(&mut self, expr: &ast::Expr) -> Option<(Place, Type)> {
        match &expr.kind {
            ast::ExprKind::Name(name) => match self.variable(name) {
                Some(id) => self.local_place(id, expr.span),
                None => self.global_place(name, expr),
            },
            ast::ExprKind::Index(base, index) => {
                if self.cell_array(base).is_some() {
                    return self.cell_place(expr);
                }
                let (place, ty) = self.place(base)?;
                let (key, item) = self.indexed(&ty, base.span);
                let index = self.expr_of(index, &key);
                Some((self.project(place, Projection::Index(index), expr.span)?, item))
            }
            ast::ExprKind::Field(base, field) => {
                let (place, ty) = self.place(base)?;
                let (at, part) = self.component(&ty, field, base.span)?;
                Some((self.project(place, Projection::Field(at), expr.span)?, part))
            }
            ast::ExprKind::Error => None,
            _ => {
                let message = "this cannot be assigned to";
                self.report(
                    Diagnostic::error(expr.span, message)
                        .hint("assign to a variable or a shared cell"),
                );
                None
            }
        }
    }

    fn local_place(&mut self, id: u32, span: Span) -> Option<(Place, Type)> {
        let var = &self.scope.vars[id as usize];
        if self.scope.context == Context::Guard && (id as usize) < self.scope.guard_from {
            let message = format!("a guard cannot assign to `{}`", var.name);
            let diagnostic = Diagnostic::error(span, message).also(var.span, "declared here");
            self.report(diagnostic.hint("a guard only looks; its handler may assign"));
            return None;
        }
        if var.mutable {
            return Some((Place::Local(id, Vec::new()), var.ty.clone()));
        }
        let (name, declared, what) = (var.name.clone(), var.span, var.what);
        let (message, hint) = match what {
            "variable" => (
                format!("`{name}` cannot be assigned to: `let` binds once"),
                format!("declare it with `var {name} = …`"),
            ),
            what => (
                format!(
                    "`{name}` cannot be assigned to: it is the {what} of this {}",
                    owner(what, self.scope.context)
                ),
                format!("copy it: `var {name} = {name};`"),
            ),
        };
        let diagnostic = Diagnostic::error(span, message).label("assigned again here");
        self.report(diagnostic.also(declared, "bound here").hint(hint));
        None
    }

    fn global_place(&mut self, name: &str, expr: &ast::Expr) -> Option<(Place, Type)> {
        match self.globals.get(name).map(|global| global.meaning.clone()) {
            Some(Meaning::Objects(group))
                if self.groups[group as usize].kind == ObjectKind::Cell =>
            {
                self.cell_place(expr)
            }
            Some(Meaning::Const(..)) => {
                let message = format!("`{name}` is a constant");
                self.report(Diagnostic::error(expr.span, message).label("cannot be assigned to"));
                None
            }
            Some(_) => {
                let message = format!("`{name}` is no variable");
                self.report(Diagnostic::error(expr.span, message).label("cannot be assigned to"));
                None
            }
            None => {
                self.unknown(name, expr.span, "variable");
                None
            }
        }
    }

    fn cell_place(&mut self, expr: &ast::Expr) -> Option<(Place, Type)> {
        let (group, address) = self.address(expr, ObjectKind::Cell)?;
        if !self.scope.context.operates() {
            let message = format!("only a process may write the shared cell `{}`", address.name);
            let in_actor = self.scope.context == Context::Handler;
            let hint =
                in_actor.then(|| "actors share nothing; declare a `var` in the actor".to_owned());
            self.report(Diagnostic::error(expr.span, message).maybe_hint(hint));
            return None;
        }
        Some((Place::Cell(address), self.groups[group as usize].ty.clone()))
    }

    fn project(&mut self, place: Place, projection: Projection, span: Span) -> Option<Place> {
        match place {
            Place::Local(id, mut path) => {
                path.push(projection);
                Some(Place::Local(id, path))
            }
            Place::Cell(address) => {
                let message =
                    format!("`{}` is one cell, which is written as a whole", address.name);
                let hint = "read it into a `var`, change that, and write it back";
                self.report(Diagnostic::error(span, message).hint(hint));
                None
            }
        }
    }
}
