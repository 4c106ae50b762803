//! Declarations: constants with their overrides, enumerations, objects, signatures.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Checked, Checker, Context, Global, Group, Instantiation, MAX_DECLARED, Meaning,
    ProcessSignature, Signature, Want,
};
use crate::lang::ast::{Expr, File, Item, Name, Objects, Param, ProcessKind, TypeExpr};
use crate::lang::diagnostic::{Diagnostic, Findings, listed};
use crate::lang::objects::{Declared, ObjectKind};
use crate::lang::types::{MAX_ELEMENTS, Type};
use crate::lang::{check::Enum, constant};
use crate::model::{Delivery, Value};

/// More objects than this in one array are regarded as a mistake.
const MAX_OBJECTS: i64 = 1_000_000;
/// More processes and actors than this that exist from the start are regarded as a mistake.
const MAX_PROCESSES: i64 = 10_000;

impl Group {
    fn new(
        kind: ObjectKind,
        name: &Name,
        base: u32,
        count: u32,
        is_array: bool,
        ty: Type,
    ) -> Group {
        Group {
            kind,
            name: name.text.clone(),
            base,
            count,
            is_array,
            ty,
            span: name.span,
            first_use: None,
            number: 0,
            calls: Vec::new(),
            delivery: Delivery::Ordered,
            channel: None,
            carries: FxHashMap::default(),
        }
    }

    fn declared(&self) -> Declared<'_> {
        let array = self.is_array.then_some(self.count);
        Declared { name: &self.name, array, number: self.number }
    }
}

impl Checker<'_> {
    /// Checks everything except bodies: enumerations and actors first, because types name them,
    /// then in order of the file.
    pub(super) fn declare(&mut self, file: &File) {
        for item in &file.items {
            if let Item::Enum { name, variants } = item {
                self.enumeration(name, variants);
            }
        }
        self.actor_names(file);
        for item in &file.items {
            if let Item::Const { name, ty, value } = item {
                self.constant(name, ty.as_ref(), value);
            }
        }
        self.unknown_overrides();
        for item in &file.items {
            self.object(item);
        }
        self.network(file);
        for item in &file.items {
            match item {
                Item::Function { name, params, result, .. } => {
                    let signature = self.signature(name, params, result.as_ref());
                    self.enter(name, Meaning::Function(self.functions.len() as u32));
                    self.functions.push(signature);
                }
                Item::Procedure { name, params, result, .. } => {
                    let signature = self.signature(name, params, result.as_ref());
                    self.enter(name, Meaning::Procedure(self.procedures.len() as u32));
                    self.procedures.push(signature);
                }
                Item::Process { name, kind, .. } => {
                    self.enter(name, Meaning::Process(self.processes.len() as u32));
                    self.process_signature(name, kind, None);
                }
                Item::Actor { name, kind, body } => {
                    let handles = self.handled(&body.handlers);
                    self.process_signature(name, kind, Some(handles));
                }
                _ => {}
            }
        }
    }

    /// Enters a name; the first declaration of a name stays.
    pub(super) fn enter(&mut self, name: &Name, meaning: Meaning) {
        if name.text.is_empty() {
            return;
        }
        if super::call::is_taken(&name.text, &meaning) {
            let message = format!("`{}` is built in", name.text);
            self.report(Diagnostic::error(name.span, message).hint("choose another name"));
            return;
        }
        if let Some(first) = self.globals.get(&name.text) {
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic = Diagnostic::error(name.span, message)
                .label("declared again here")
                .also(first.span, "first declared here");
            self.report(diagnostic);
            return;
        }
        self.globals.insert(name.text.clone(), Global { meaning, span: name.span });
    }

    fn enumeration(&mut self, name: &Name, variants: &[Name]) {
        let index = self.names.enums.len() as u32;
        self.names.enums.push(name.text.clone());
        self.enter(name, Meaning::Enum(index));
        if variants.is_empty() {
            let message = format!("the enumeration `{}` has no variants", name.text);
            self.report(Diagnostic::error(name.span, message));
        }
        let mut firsts: FxHashMap<&str, &Name> = FxHashMap::default();
        for (at, variant) in variants.iter().enumerate() {
            let first = *firsts.entry(&variant.text).or_insert(variant);
            if first.span != variant.span {
                let message = format!("`{}` is declared twice", variant.text);
                self.report(
                    Diagnostic::error(variant.span, message)
                        .also(first.span, "first declared here"),
                );
            }
            self.variants.entry(variant.text.clone()).or_default().push((index, at as u32));
        }
        let variants = variants.iter().map(|v| v.text.clone()).collect();
        self.out.enums.push(Enum { variants });
    }

    fn constant(&mut self, name: &Name, ty: Option<&TypeExpr>, value: &Expr) {
        let stated = ty.map(|ty| self.resolve_type(ty));
        let (ty, value) =
            self.constant_value(value, stated.as_ref()).unwrap_or((Type::Error, Value::Unit));
        let value = self.overridden(name, &ty).unwrap_or(value);
        let value = if self.has_room_for(&value, name) { value } else { Value::Unit };
        self.enter(name, Meaning::Const(value.clone(), ty));
        self.out.constants.push((name.text.clone(), value));
    }

    /// Checks and computes an expression over earlier constants.
    pub(super) fn constant_value(
        &mut self,
        expr: &Expr,
        expected: Option<&Type>,
    ) -> Option<(Type, Value)> {
        self.scope.context = Context::Constant;
        let errors = self.diagnostics.errors();
        let (checked, ty) = match expected {
            Some(ty) => (self.expr_of(expr, ty), ty.clone()),
            None => self.expr(expr, Want::Any),
        };
        if self.diagnostics.errors() > errors {
            return None;
        }
        match constant::evaluate(&checked, &mut self.steps_left) {
            Ok(value) => Some((ty, value)),
            Err((_, message)) if message.is_empty() => None,
            Err((span, message)) => {
                let hint = (message == constant::NOT_CONSTANT).then(|| {
                    "a constant is computed from literals and earlier constants".to_owned()
                });
                self.report(Diagnostic::error(span, message).maybe_hint(hint));
                None
            }
        }
    }

    /// Counts the elements of a value that the file declares; reports it if there are too many.
    fn has_room_for(&mut self, value: &Value, name: &Name) -> bool {
        let limit = self.elements_left.min(MAX_ELEMENTS);
        let elements = constant::elements(value, limit);
        self.takes_room(elements, name)
    }

    fn takes_room(&mut self, elements: u64, name: &Name) -> bool {
        let (message, label) = match self.elements_left.checked_sub(elements) {
            Some(left) if elements <= MAX_ELEMENTS => {
                self.elements_left = left;
                return true;
            }
            Some(_) => (
                format!("`{}` is too large", name.text),
                format!("it has more than {MAX_ELEMENTS} elements"),
            ),
            None => (
                "the file declares too much".to_owned(),
                format!(
                    "its constants and objects have more than {MAX_DECLARED} elements in total"
                ),
            ),
        };
        self.report(Diagnostic::error(name.span, message).label(label));
        false
    }

    /// The value that the command line gives to a constant.
    fn overridden(&mut self, name: &Name, ty: &Type) -> Option<Value> {
        let text = &self.overrides.iter().rev().find(|(n, _)| *n == name.text)?.1;
        let value = match ty {
            Type::Int => text.parse().ok().map(Value::Int),
            Type::Bool => text.parse().ok().map(Value::Bool),
            Type::Enum(of) => self.variant_called(*of, text),
            Type::Error => return None,
            _ => None,
        };
        if value.is_none() {
            let shown = self.show(ty);
            let message =
                format!("-D {}={text}: `{text}` is not a value of type {shown}", name.text);
            let hint = match ty {
                Type::Int | Type::Bool => None,
                Type::Enum(of) => {
                    let variants = listed(&self.out.enums[*of as usize].variants);
                    Some(format!("its values are {variants}"))
                }
                _ => Some("integers, truth values and variants can be set".to_owned()),
            };
            self.report(
                Diagnostic::error(name.span, message)
                    .label("the constant is declared here")
                    .maybe_hint(hint),
            );
        }
        value
    }

    /// `Red` or `Color::Red`
    fn variant_called(&self, of: u32, text: &str) -> Option<Value> {
        let variant = match text.split_once("::") {
            Some((name, variant)) if name == self.names.enums[of as usize] => variant,
            Some(_) => return None,
            None => text,
        };
        let variants = &self.out.enums[of as usize].variants;
        let index = variants.iter().position(|known| known == variant)?;
        Some(Value::Variant { of, index: index as u32 })
    }

    fn unknown_overrides(&mut self) {
        let names: Vec<_> = self.out.constants.iter().map(|(name, _)| name.clone()).collect();
        let known: FxHashSet<&str> = names.iter().map(String::as_str).collect();
        for (name, value) in self.overrides {
            if known.contains(name.as_str()) {
                continue;
            }
            let hint =
                self.nearest(name, names.iter().map(String::as_str)).or_else(|| match &names[..] {
                    [] => Some("the file declares no constants".to_owned()),
                    names => Some(format!("its constants are {}", listed(names))),
                });
            let message = format!("-D {name}={value}: the file has no constant `{name}`");
            self.report(Diagnostic::outside(message).maybe_hint(hint));
        }
    }

    /// A constant integer within limits; `None` if it is none, which is then reported.
    pub(super) fn bounded(&mut self, expr: &Expr, lo: i64, hi: i64, what: &str) -> Option<i64> {
        let (_, value) = self.constant_value(expr, Some(&Type::Int))?;
        let n = value.int();
        if n < lo || n > hi {
            let label = match lo {
                _ if n > hi => format!("this is {n}, more than {hi}"),
                1 => format!("this is {n}, and must be at least 1"),
                _ => format!("this is {n}, and must not be negative"),
            };
            let message = if n > hi {
                format!("{what} is too large")
            } else {
                format!("{what} is too small")
            };
            self.report(Diagnostic::error(expr.span, message).label(label));
            return None;
        }
        Some(n)
    }

    /// The length of an array.
    pub(super) fn size(&mut self, expr: &Expr, what: &str) -> Option<u32> {
        let (_, value) = self.constant_value_in_place(expr)?;
        let n = value.int();
        if n < 1 {
            let message = format!("{what} cannot be empty");
            self.report(Diagnostic::error(expr.span, message).label(format!("this is {n}")));
            return None;
        }
        if n > MAX_OBJECTS {
            let message = format!("{what} of {n} elements is too large");
            let diagnostic = Diagnostic::error(expr.span, message);
            self.report(diagnostic.label(format!("at most {MAX_OBJECTS} are allowed")));
            return None;
        }
        Some(n as u32)
    }

    /// A constant integer within a body: the body's scope stays.
    fn constant_value_in_place(&mut self, expr: &Expr) -> Option<(Type, Value)> {
        let scope = std::mem::take(&mut self.scope);
        let value = self.constant_value(expr, Some(&Type::Int));
        self.scope = scope;
        value
    }

    fn object(&mut self, item: &Item) {
        match item {
            Item::Mailbox { name, size, message, delivery, faults } => {
                let ty = match message {
                    Some(ty) => self.resolve_type(ty),
                    None => self.infer.fresh(),
                };
                let declared = message.as_ref().map(|m| m.span);
                if let Some(span) = declared {
                    self.must_travel.push((ty.clone(), span, "sent"));
                }
                let group = self.group(ObjectKind::Mailbox, name, size.as_ref(), ty);
                if let Some(span) = declared {
                    let shown = self.show(&self.groups[group].ty.clone());
                    self.groups[group].first_use =
                        Some((span, format!("declared to carry {shown}")));
                }
                self.groups[group].delivery = *delivery;
                let group = &self.groups[group];
                group.declared().add_to(&mut self.out.objects.mailboxes, *delivery);
                self.channel(faults);
            }
            Item::Objects(Objects { kind, name, size, number }) => {
                let about = kind.about();
                let number = about.number.as_ref().map_or(0, |known| {
                    let (lo, hi) = known.bounds;
                    let stated = number.as_ref().and_then(|n| self.bounded(n, lo, hi, known.what));
                    stated.unwrap_or(lo) as u32
                });
                let group = self.group(*kind, name, size.as_ref(), Type::Unit);
                let group = &mut self.groups[group];
                group.number = number;
                if let Some(declare) = about.declare {
                    declare(&mut self.out.objects, &group.declared());
                }
            }
            Item::Shared { name, ty, initial } => self.cells(name, ty, initial),
            _ => {}
        }
    }

    /// Enters a declaration of objects, and returns its place in `groups`.
    fn group(&mut self, kind: ObjectKind, name: &Name, size: Option<&Expr>, ty: Type) -> usize {
        let count = match size {
            Some(size) => self.size(size, "an array of objects"),
            None => Some(1),
        };
        let count = count.filter(|&count| self.takes_room(u64::from(count), name));
        let base = (kind.about().count)(&self.out.objects);
        self.enter(name, Meaning::Objects(self.groups.len() as u32));
        let (base, count) = (base as u32, count.unwrap_or(1));
        self.groups.push(Group::new(kind, name, base, count, size.is_some(), ty));
        self.groups.len() - 1
    }

    fn cells(&mut self, name: &Name, ty: &TypeExpr, initial: &Expr) {
        let declared = self.resolve_type(ty);
        self.must_travel.push((declared.clone(), ty.span, "shared"));
        let base = self.out.objects.cells.len() as u32;
        let (item, count) = match &declared {
            Type::Array(item, count) => ((**item).clone(), Some(*count)),
            other => (other.clone(), None),
        };
        // One value for every element, or a literal that lists them.
        let listed = matches!(
            initial.kind,
            crate::lang::ast::ExprKind::List(_) | crate::lang::ast::ExprKind::Repeat(..)
        );
        let whole = count.is_some() && listed && !matches!(item, Type::List(_) | Type::Array(..));
        let whole = whole || (count.is_some() && self.lists_items(initial, &item));
        let expected = if whole { &declared } else { &item };
        let value =
            self.constant_value(initial, Some(expected)).map_or(Value::Unit, |(_, value)| value);
        let room = match &value {
            Value::List(_) if whole => self.has_room_for(&value, name),
            value => {
                let each = constant::elements(value, MAX_ELEMENTS);
                self.takes_room(each.saturating_mul(u64::from(count.unwrap_or(1))), name)
            }
        };
        let count = if room { count } else { count.map(|_| 1) };
        let cells = &mut self.out.objects.cells;
        match (count, value) {
            (None, value) => cells.push(&name.text, value),
            (Some(count), Value::List(items)) if whole => match items.first() {
                Some(first) if items.iter().all(|item| item == first) => {
                    cells.push_array(&name.text, count, first.clone());
                }
                _ => {
                    let missing = std::iter::repeat(&Value::Unit);
                    let items = items.iter().chain(missing).take(count as usize);
                    cells.push_each(&name.text, items.cloned().collect());
                }
            },
            (Some(count), value) => cells.push_array(&name.text, count, value),
        }
        self.enter(name, Meaning::Objects(self.groups.len() as u32));
        let (number, is_array) = (count.unwrap_or(1), count.is_some());
        self.groups.push(Group::new(ObjectKind::Cell, name, base, number, is_array, item));
    }

    /// For cells that hold lists: is `initial` a list of lists, one for each cell?
    fn lists_items(&self, initial: &Expr, item: &Type) -> bool {
        use crate::lang::ast::ExprKind::{List, Repeat};
        let is_list = |expr: &Expr| matches!(expr.kind, List(_) | Repeat(..));
        match (&initial.kind, item) {
            (List(items), Type::List(_) | Type::Array(..)) => {
                !items.is_empty() && items.iter().all(is_list)
            }
            (Repeat(item, _), Type::List(_) | Type::Array(..)) => is_list(item),
            _ => false,
        }
    }

    fn signature(&mut self, name: &Name, params: &[Param], result: Option<&TypeExpr>) -> Signature {
        let params = params.iter().map(|param| self.resolve_type(&param.ty)).collect();
        let states_result = result.is_some();
        let result = result.map_or(Type::Unit, |ty| self.resolve_type(ty));
        let (name, span) = (name.text.clone(), name.span);
        Signature { name, params, result, span, states_result, implied: None }
    }

    fn process_signature(&mut self, name: &Name, kind: &ProcessKind, handles: Option<Vec<u32>>) {
        let before = self.processes.last().map_or(0, |last| last.first + last.kind.instances());
        let (kind, params) = match kind {
            ProcessKind::Single => (Instantiation::Single, Vec::new()),
            ProcessKind::Family { lo, hi, .. } => (self.family(lo, hi, before), vec![Type::Int]),
            ProcessKind::Template(params) => {
                let types: Vec<_> =
                    params.iter().map(|param| self.resolve_type(&param.ty)).collect();
                let given = match handles {
                    Some(_) => "given to an actor",
                    None => "given to another process",
                };
                for (ty, param) in types.iter().zip(params) {
                    self.must_travel.push((ty.clone(), param.ty.span, given));
                }
                (Instantiation::Template, types)
            }
        };
        if kind == Instantiation::Single && i64::from(before) == MAX_PROCESSES {
            let message =
                format!("the file declares more than {MAX_PROCESSES} processes and actors");
            self.report(Diagnostic::error(name.span, message));
        }
        let declaration = self.processes.len() as u32;
        let handled = handles.iter().flatten().map(|&message| (declaration, message));
        self.handlers.extend(handled);
        self.processes.push(ProcessSignature {
            name: name.text.clone(),
            kind,
            params,
            span: name.span,
            first: before,
            handles,
            variables: Vec::new(),
        });
    }

    /// A family, with `before` processes declared before it.
    fn family(&mut self, lo: &Expr, hi: &Expr, before: u32) -> Instantiation {
        let first = self.constant_value(lo, Some(&Type::Int)).map(|(_, value)| value.int());
        let last = self.constant_value(hi, Some(&Type::Int)).map(|(_, value)| value.int());
        let (Some(first), Some(last)) = (first, last) else {
            return Instantiation::Family { lo: 0, hi: 1 };
        };
        let span = lo.span.to(hi.span);
        if first >= last {
            let message = format!("there is no process in the empty range {first}..{last}");
            let hint = "a range includes its first number and excludes its last";
            self.report(Diagnostic::error(span, message).hint(hint));
            return Instantiation::Family { lo: first, hi: first.saturating_add(1) };
        }
        if last.checked_sub(first).is_none_or(|count| count > MAX_PROCESSES) {
            let message = format!("{first}..{last} is more than {MAX_PROCESSES} processes");
            self.report(Diagnostic::error(span, message));
            return Instantiation::Family { lo: 0, hi: 1 };
        }
        if last - first + i64::from(before) > MAX_PROCESSES {
            let message =
                format!("the file declares more than {MAX_PROCESSES} processes and actors");
            let label = format!("{} here, after {before} others", last - first);
            self.report(Diagnostic::error(span, message).label(label));
            return Instantiation::Family { lo: 0, hi: 1 };
        }
        Instantiation::Family { lo: first, hi: last }
    }
}

/// Reports a file without a process, an actor or an `init` that runs.
pub(crate) fn check_that_something_runs(checked: &Checked, diagnostics: &mut Findings) {
    let runs = checked.processes.iter().any(|process| process.kind != Instantiation::Template);
    if !runs && checked.inits.is_empty() && diagnostics.count() == 0 {
        let message = "the file declares no process and no actor that exists from the start";
        let hint = "add one, such as `process Main { }`, or an `init { … }` that spawns";
        diagnostics.push(Diagnostic::outside(message).hint(hint));
    }
}
