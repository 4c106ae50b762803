//! Types, and type inference by unification.
//!
//! The types of locals and mailboxes are inferred from their uses. An unknown type is a type
//! variable, which is bound at most once. Communications are special: programs keep the handles of
//! sends, and of receives of different messages, in one list, as MPI programs do, and only wait for
//! them. So the types of communications always unify. If different ones are unified, their group
//! becomes [`Yield::Mixed`]: the program may wait for them, but not use their values.
//!
//! Types share their parts: with `let b = (a, a); let c = (b, b); ...` the number of parts is
//! exponential in the length of the program. So no traversal of a type visits more than
//! [`MAX_PARTS`] parts. A traversal that would exceed this sets a flag
//! ([`Inference::is_exceeded`]), and the caller reports it.

use std::cell::Cell;
use std::sync::Arc;

/// The most parts of a type; one with more is refused.
pub(crate) const MAX_PARTS: u32 = 1_000;
/// The most parts of a type that a message shows.
const MAX_SHOWN: u32 = 30;
/// The most elements of a value of a type; a type with larger values is refused.
pub(crate) const MAX_ELEMENTS: u64 = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// The type of a wrong expression. It unifies with every type, so that no mistake is reported
    /// twice.
    Error,
    /// The type of an expression that never has a value, such as `return`.
    Never,
    Unit,
    Int,
    Bool,
    /// An enumeration, by number.
    Enum(u32),
    Tuple(Arc<[Type]>),
    List(Arc<Type>),
    Array(Arc<Type>, u32),
    Set(Arc<Type>),
    /// Of keys and of values.
    Map(Arc<Type>, Arc<Type>),
    Comm(CommId),
    Process,
    /// A reference to an actor of this declaration.
    Actor(u32),
    /// A reference to an actor of any declaration.
    AnyActor,
    /// A message to an actor.
    Message,
    /// A type variable: not known yet.
    Var(u32),
}

/// The number of a group of communications; unified groups are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommId(pub(crate) u32);

/// The kind of value that a communication yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yield {
    Unknown,
    /// A send yields unit.
    Send,
    /// A receive yields the message.
    Receive,
    /// The group has sends and receives, or receives of different messages.
    Mixed,
}

/// The kind of object at which a communication was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Unknown,
    /// At an ordinary mailbox.
    Ordered,
    /// At a p2p or bag mailbox, or by a collective.
    Network,
    /// The group has communications of both kinds.
    Both,
}

#[derive(Debug)]
struct Comm {
    parent: Option<CommId>,
    origin: Origin,
    yields: Yield,
    value: Type,
}

/// The names that messages use for types.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The enumerations.
    pub(crate) enums: Vec<String>,
    /// The declarations of processes and actors.
    pub(crate) processes: Vec<String>,
}

/// The state of type inference.
#[derive(Debug, Default)]
pub(crate) struct Inference {
    vars: Vec<Option<Type>>,
    comms: Vec<Comm>,
    /// Receives that were unified before the message types of both were known.
    /// [`settle`](Inference::settle) decides whether the group is mixed.
    undecided: Vec<(CommId, [Type; 2])>,
    /// Has a traversal reached [`MAX_PARTS`]?
    exceeded: Cell<bool>,
}

/// How large a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The number of elements of its values; a list, set or map counts as one item, because its
    /// length is unknown.
    pub(crate) elements: u64,
    /// Are all its parts known?
    pub(crate) closed: bool,
}

impl Size {
    /// The size of both together.
    fn and(self, other: Size) -> Size {
        Size {
            elements: self.elements.saturating_add(other.elements),
            closed: self.closed && other.closed,
        }
    }
}

impl Inference {
    /// A new type variable.
    pub(crate) fn fresh(&mut self) -> Type {
        self.vars.push(None);
        Type::Var(self.vars.len() as u32 - 1)
    }

    /// A communication at an ordinary mailbox.
    pub(crate) fn comm(&mut self, yields: Yield, value: Type) -> Type {
        self.comm_from(Origin::Ordered, yields, value)
    }

    /// A communication at a p2p or bag mailbox, or of a collective.
    pub(crate) fn network_comm(&mut self, yields: Yield, value: Type) -> Type {
        self.comm_from(Origin::Network, yields, value)
    }

    fn comm_from(&mut self, origin: Origin, yields: Yield, value: Type) -> Type {
        self.comms.push(Comm { parent: None, origin, yields, value });
        Type::Comm(CommId(self.comms.len() as u32 - 1))
    }

    /// A communication about which nothing is known.
    pub(crate) fn any_comm(&mut self) -> Type {
        let value = self.fresh();
        self.comm_from(Origin::Unknown, Yield::Unknown, value)
    }

    fn root(&self, mut id: CommId) -> CommId {
        while let Some(parent) = self.comms[id.0 as usize].parent {
            id = parent;
        }
        id
    }

    /// Where the communication was begun.
    pub(crate) fn origin(&self, id: CommId) -> Origin {
        self.comms[self.root(id).0 as usize].origin
    }

    /// What the communication yields, and the type of the value.
    pub(crate) fn yields(&self, id: CommId) -> (Yield, &Type) {
        let comm = &self.comms[self.root(id).0 as usize];
        (comm.yields, &comm.value)
    }

    /// The type, with bound variables at its root replaced.
    pub(crate) fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Var(var) = ty {
            match &self.vars[*var as usize] {
                Some(bound) => ty = bound,
                None => break,
            }
        }
        ty.clone()
    }

    /// Unifies two types; false if that is impossible.
    pub(crate) fn unify(&mut self, a: &Type, b: &Type) -> bool {
        self.unify_parts(a, b, &mut { MAX_PARTS })
    }

    fn unify_parts(&mut self, a: &Type, b: &Type, left: &mut u32) -> bool {
        if !self.may_go_on(left) {
            return true;
        }
        match (self.shallow(a), self.shallow(b)) {
            (Type::Error | Type::Never, _) | (_, Type::Error | Type::Never) => true,
            (Type::Var(x), Type::Var(y)) if x == y => true,
            (Type::Var(x), other) | (other, Type::Var(x)) => self.bind(x, other),
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.len() == b.len()
                    && a.iter().zip(&*b).fold(true, |ok, (a, b)| self.unify_parts(a, b, left) && ok)
            }
            (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) => {
                self.unify_parts(&a, &b, left)
            }
            (Type::Map(key, value), Type::Map(other_key, other)) => {
                self.unify_parts(&key, &other_key, left) && self.unify_parts(&value, &other, left)
            }
            (Type::Array(a, n), Type::Array(b, m)) => n == m && self.unify_parts(&a, &b, left),
            (Type::Comm(a), Type::Comm(b)) => {
                self.join(a, b);
                true
            }
            (a, b) => a == b,
        }
    }

    /// Can a value of type `found` be used where `expected` is required? An array can be used as a
    /// list, and a reference to an actor of a known declaration as a reference to any actor. This
    /// also holds for parts, because values are immutable. Binds type variables where necessary.
    pub(crate) fn coerce(&mut self, found: &Type, expected: &Type) -> bool {
        self.coerce_parts(found, expected, &mut { MAX_PARTS })
    }

    fn coerce_parts(&mut self, found: &Type, expected: &Type, left: &mut u32) -> bool {
        if !self.may_go_on(left) {
            return true;
        }
        match (self.shallow(found), self.shallow(expected)) {
            (Type::Array(item, _) | Type::List(item), Type::List(wanted))
            | (Type::Set(item), Type::Set(wanted)) => self.coerce_parts(&item, &wanted, left),
            (Type::Map(key, value), Type::Map(wanted_key, wanted)) => {
                self.coerce_parts(&key, &wanted_key, left)
                    && self.coerce_parts(&value, &wanted, left)
            }
            (Type::Array(item, n), Type::Array(wanted, m)) => {
                n == m && self.coerce_parts(&item, &wanted, left)
            }
            (Type::Tuple(parts), Type::Tuple(wanted)) => {
                let mut pairs = parts.iter().zip(&*wanted);
                parts.len() == wanted.len()
                    && pairs.all(|(part, wanted)| self.coerce_parts(part, wanted, left))
            }
            (Type::Actor(_), Type::AnyActor) => true,
            (found, expected) => self.unify_parts(&found, &expected, left),
        }
    }

    fn bind(&mut self, var: u32, ty: Type) -> bool {
        let finite = !self.occurs(var, &ty);
        if finite {
            self.vars[var as usize] = Some(ty);
        }
        finite
    }

    fn occurs(&self, var: u32, ty: &Type) -> bool {
        // Messages contain no communications, so the value of a communication cannot lead back to
        // it.
        self.has_part(ty, |part| *part == Type::Var(var))
    }

    fn join(&mut self, a: CommId, b: CommId) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let (left, right) = (self.comms[a.0 as usize].yields, self.comms[b.0 as usize].yields);
        let values = [a, b].map(|id| self.comms[id.0 as usize].value.clone());
        let origins = [a, b].map(|id| self.comms[id.0 as usize].origin);
        self.comms[a.0 as usize].origin = match origins {
            [Origin::Unknown, other] | [other, Origin::Unknown] => other,
            [one, other] if one == other => one,
            _ => Origin::Both,
        };
        self.comms[b.0 as usize].parent = Some(a);
        let yields = match (left, right) {
            (Yield::Mixed, _) | (_, Yield::Mixed) => Yield::Mixed,
            (Yield::Send, Yield::Receive) | (Yield::Receive, Yield::Send) => Yield::Mixed,
            (Yield::Unknown, other) | (other, Yield::Unknown) => {
                self.unify(&values[0], &values[1]);
                other
            }
            (Yield::Receive, Yield::Receive) if values.iter().any(|ty| self.is_open(ty)) => {
                // If the values were unified here, two mailboxes whose receives are in one list
                // would have to carry the same type.
                let known = values.iter().find(|ty| !self.is_open(ty)).unwrap_or(&values[0]);
                self.comms[a.0 as usize].value = known.clone();
                self.undecided.push((a, values));
                Yield::Receive
            }
            (same, _) if self.unify(&values[0], &values[1]) => same,
            _ => Yield::Mixed,
        };
        self.comms[a.0 as usize].yields = yields;
    }

    /// Does the type have a part that is not known yet?
    fn is_open(&self, ty: &Type) -> bool {
        self.has_part(ty, |part| matches!(part, Type::Var(_)))
    }

    /// Decides which groups of communications are mixed. Called when all bodies have been checked.
    pub(crate) fn settle(&mut self) {
        for (comm, [a, b]) in std::mem::take(&mut self.undecided) {
            if !self.unify(&a, &b) {
                let root = self.root(comm);
                self.comms[root.0 as usize].yields = Yield::Mixed;
            }
        }
    }

    /// Does the type contain a communication?
    pub(crate) fn has_comm(&self, ty: &Type) -> bool {
        self.has_part(ty, |part| matches!(part, Type::Comm(_)))
    }

    /// Does `is` hold for some part of the type that has no parts itself?
    pub(crate) fn has_part(&self, ty: &Type, is: impl Fn(&Type) -> bool + Copy) -> bool {
        self.has_part_within(ty, is, &mut { MAX_PARTS })
    }

    fn has_part_within(
        &self,
        ty: &Type,
        is: impl Fn(&Type) -> bool + Copy,
        left: &mut u32,
    ) -> bool {
        if !self.may_go_on(left) {
            return false;
        }
        match self.shallow(ty) {
            Type::Tuple(parts) => parts.iter().any(|part| self.has_part_within(part, is, left)),
            Type::List(item) | Type::Array(item, _) | Type::Set(item) => {
                self.has_part_within(&item, is, left)
            }
            Type::Map(key, value) => {
                self.has_part_within(&key, is, left) || self.has_part_within(&value, is, left)
            }
            part => is(&part),
        }
    }

    /// The size of the type, as far as it is known.
    pub(crate) fn size(&self, ty: &Type) -> Size {
        self.size_within(ty, &mut { MAX_PARTS })
    }

    fn size_within(&self, ty: &Type, left: &mut u32) -> Size {
        if !self.may_go_on(left) {
            return Size { elements: 0, closed: true };
        }
        match self.shallow(ty) {
            Type::Tuple(parts) => {
                let sizes = parts.iter().map(|part| self.size_within(part, left));
                sizes.fold(Size { elements: 0, closed: true }, Size::and)
            }
            Type::List(item) | Type::Set(item) => self.size_within(&item, left),
            Type::Map(key, value) => {
                self.size_within(&key, left).and(self.size_within(&value, left))
            }
            Type::Array(item, length) => {
                let item = self.size_within(&item, left);
                let elements = item.elements.saturating_mul(u64::from(length));
                Size { elements, ..item }
            }
            part => Size { elements: 1, closed: !matches!(part, Type::Var(_)) },
        }
    }

    /// Counts a visited part of a type; false if the traversal has to stop.
    fn may_go_on(&self, left: &mut u32) -> bool {
        match left.checked_sub(1) {
            Some(fewer) => *left = fewer,
            None => self.exceeded.set(true),
        }
        !self.exceeded.get()
    }

    /// Has a traversal since the last call exceeded [`MAX_PARTS`]? Resets the flag.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.exceeded.take()
    }

    /// The type as text, for messages.
    pub(crate) fn show(&self, ty: &Type, names: &Names) -> String {
        self.show_within(ty, names, &mut { MAX_SHOWN })
    }

    fn show_within(&self, ty: &Type, names: &Names, left: &mut u32) -> String {
        let Some(fewer) = left.checked_sub(1) else { return "…".to_owned() };
        *left = fewer;
        match self.shallow(ty) {
            Type::Error | Type::Var(_) => "_".to_owned(),
            Type::Never => "!".to_owned(),
            Type::Unit => "()".to_owned(),
            Type::Int => "int".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Enum(index) => names.enums[index as usize].clone(),
            Type::Tuple(parts) => {
                let mut shown = Vec::new();
                for part in parts.iter() {
                    let ends = *left == 0;
                    shown.push(self.show_within(part, names, left));
                    if ends {
                        break;
                    }
                }
                format!("({})", shown.join(", "))
            }
            Type::List(item) => format!("[{}]", self.show_within(&item, names, left)),
            Type::Array(item, length) => {
                format!("[{}; {length}]", self.show_within(&item, names, left))
            }
            Type::Set(item) => format!("{{{}}}", self.show_within(&item, names, left)),
            Type::Map(key, value) => {
                let key = self.show_within(&key, names, left);
                format!("{{{key}: {}}}", self.show_within(&value, names, left))
            }
            Type::Comm(_) => "comm".to_owned(),
            Type::Process => "process".to_owned(),
            Type::Actor(declaration) => names.processes[declaration as usize].clone(),
            Type::AnyActor => "actor".to_owned(),
            Type::Message => "message".to_owned(),
        }
    }
}
