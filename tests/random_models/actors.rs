//! Random programs of actors.
//!
//! They are separate from the programs of processes, with which they share only the tests: an
//! [`ActorProgram`] is a syntax tree of handlers, and [`ActorScript`] runs it as a system. Every
//! program ends: the messages that a handler sends carry one unit of fuel less than the one it
//! took; nothing is sent without fuel; an internal handler runs once in the life of an actor, and
//! never in an actor that an internal handler has started.

mod generate;
mod script;
mod shares;
mod text;

pub use generate::generate;
pub use script::ActorScript;

/// The guards of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// None: every message is taken at any time.
    Absent,
    /// Guards that stay true once they are: a state is never lowered, and guards require a least
    /// state.
    Monotone,
    /// Any guards, including those that become false again.
    Fickle,
}

/// A program.
#[derive(Clone, Debug)]
pub struct ActorProgram {
    /// What guards it has.
    pub guards: Guards,
    /// States are numbers below this.
    pub states: i64,
    /// The classes of actors.
    pub classes: Vec<Class>,
    /// The classes of the actors that exist from the start, all in state 0.
    pub actors: Vec<usize>,
    /// What is pending from the start.
    pub initial: Vec<Initial>,
    /// `final`: this actor is not in this state.
    pub finally: Option<(usize, i64)>,
}

/// A message that is pending from the start.
#[derive(Clone, Copy, Debug)]
pub struct Initial {
    /// The receiver.
    pub to: usize,
    /// The index of the message.
    pub name: usize,
    /// Its content.
    pub number: i64,
    /// How far it can reach.
    pub fuel: i64,
}

/// A kind of actors.
#[derive(Clone, Debug)]
pub struct Class {
    /// By the names of messages.
    pub handlers: Vec<Handler>,
    /// Each runs once, with one unit of fuel.
    pub internals: Vec<Handler>,
    /// The assertion: no actor is in this state between handlers.
    pub forbidden: Option<i64>,
}

/// The reaction of an actor to a message.
#[derive(Clone, Debug)]
pub struct Handler {
    /// The guard.
    pub guard: Option<Guard>,
    /// The statements.
    pub body: Vec<Statement>,
}

/// The condition of a guard on the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// `state >= n`
    AtLeast(i64),
    /// `state >= number`, the content of the message; 0 for an internal handler.
    AtLeastNumber,
    /// `state < n`
    Below(i64),
    /// `state == n`
    Equals(i64),
}

/// An addressee; there may be no such actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// An actor that exists from the start.
    Static(usize),
    /// The actor itself.
    Own,
    /// The actor that it started last, or remembered from a message.
    Friend,
    /// The actor that the message names.
    Told,
}

/// A step of a handler.
#[derive(Clone, Debug)]
#[rustfmt::skip]
#[allow(missing_docs)]
pub enum Statement {
    /// `state += n`: beyond the last state comes the first, but with monotone guards it stays the
    /// last.
    Add(i64),
    /// `state = number`; with monotone guards, unless it is larger.
    Store,
    /// `friend = told`, if the message names an actor.
    Remember,
    /// `friend = spawn`, with fuel only; in the state of the actor itself, or another.
    Spawn { class: usize, state: Option<i64> },
    /// This number of messages with one content, with fuel only. The content is the state, or a
    /// number.
    Send { to: Whom, name: usize, number: Option<i64>, tells: Option<Whom>, times: usize },
    /// `if state >= n`
    If { at_least: i64, then: Vec<Statement>, otherwise: Vec<Statement> },
}

impl ActorProgram {
    /// Has it internal handlers?
    pub fn has_internals(&self) -> bool {
        self.classes.iter().any(|class| !class.internals.is_empty())
    }

    /// Does some handler start actors?
    pub fn may_spawn(&self) -> bool {
        fn spawns(body: &[Statement]) -> bool {
            body.iter().any(|statement| match statement {
                Statement::Spawn { .. } => true,
                Statement::If { then, otherwise, .. } => spawns(then) || spawns(otherwise),
                _ => false,
            })
        }
        let all =
            |class: &Class| class.handlers.iter().chain(&class.internals).any(|h| spawns(&h.body));
        self.classes.iter().any(all)
    }
}
