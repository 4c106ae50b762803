//! The instructions that programs run as: those of a stack machine.
//!
//! Variables and temporaries of a process live on one stack of values; the compiler knows the depth of the
//! stack at every instruction, so a variable is a place counted from the bottom of its frame. A block removes
//! its variables when it ends. So the stack of a process at rest holds what is in scope and nothing else: situations that
//! the rest of the program cannot tell apart do not differ in anything left over.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::ast::{BinaryOp, UnaryOp};
use super::coverage::Points;
use super::diagnostic::Span;
use super::hir::SendMode;
use super::objects::Act;
use crate::model::Semantics;
use crate::model::{CollectiveKind, Objects, Probing, Site, Value};

/// One instruction. `…` in the comments is the rest of the stack, its top to the right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instr {
    /// … → … constant
    Const(u32),
    /// … → … copy of the variable
    Get(u32),
    /// … value → …
    Set(u32),
    /// … indices → … indices part: the part of the variable that the steps lead to.
    GetPart(u32, Box<[Step]>),
    /// … indices value → …: replaces that part of the variable.
    SetPart(u32, Box<[Step]>),
    /// … → … part of the variable, by components of tuples.
    Project(u32, Box<[u32]>),
    /// Removes the topmost values.
    Pop(u32),
    /// Removes values below the topmost `keep` ones.
    Squash {
        keep: u32,
        drop: u32,
    },
    /// … value → … value value
    Dup,
    Jump(u32),
    /// A jump backwards, which counts as a local step.
    Loop(u32),
    /// … condition → …
    JumpIfFalse(u32),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Tuple(u32),
    List(u32),
    Repeat(u32),
    /// … list index → … item
    Index,
    Field(u32),
    Length,
    Push,
    Remove,
    /// Adds 1 to a loop counter, which stays below its bound.
    Increment(u32),
    /// … index → … number of the object
    Address {
        base: u32,
        count: u32,
        name: u32,
    },
    Call(u32),
    Return,
    /// … arguments → … arguments: a call of a procedure begins.
    Enter(u32),
    /// … value → … value: the call has ended.
    Leave(u32),
    /// … condition → …, with a message by number.
    Assert(Option<u32>),
    /// … comm → … value
    Received,
    /// … → … the reference of the actor that runs
    Myself,
    /// … index → … reference to that instance of the family
    Instance(u32),
    /// … contents → … message
    Message {
        name: u32,
        args: u32,
    },
    /// … value → … is it the message with this number?
    IsMessage(u32),
    /// … actor message → … unit
    Send,
    /// … arguments → … reference to the new actor
    Create {
        process: u32,
        args: u32,
    },
    /// Rests here until the operation is carried out.
    Visible(Visible),
    /// An actor rests here until it handles something.
    Handle(u32),
    /// … number of the cell → … content; in `final` and `invariant`.
    Peek,
    /// … number of the mailbox → … its length; in `invariant`.
    Pending,
    /// … index → … value of the variable; in `final` and `invariant`.
    ProcessVar {
        process: u32,
        name: u32,
    },
    /// The process, or the handler, is done.
    End,
}

impl Instr {
    /// The instructions that may follow this one, which is at `at`. What it calls comes in between.
    pub fn successors(&self, at: u32) -> impl Iterator<Item = u32> + use<> {
        let (next, jump) = match *self {
            Instr::Jump(to) | Instr::Loop(to) => (None, Some(to)),
            Instr::JumpIfFalse(to) => (Some(at + 1), Some(to)),
            Instr::End | Instr::Return | Instr::Handle(_) => (None, None),
            _ => (Some(at + 1), None),
        };
        next.into_iter().chain(jump)
    }
}

/// A step to a part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next of the indices on the stack.
    Index,
    /// A component of a tuple.
    Field(u32),
}

/// How many indices these steps take.
pub fn indices_in(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step, Step::Index)).count()
}

/// A visible operation: takes its arguments off the stack and leaves its value there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visible {
    /// mailbox value \[src\] \[tag\] → comm
    Isend {
        src: bool,
        tag: bool,
        mode: SendMode,
    },
    /// mailbox \[src\] \[tag\] → comm
    Irecv {
        src: bool,
        tag: bool,
    },
    /// mailbox \[src\] \[tag\] → tuple
    Probe {
        form: Probing,
        src: bool,
        tag: bool,
    },
    /// comm → unit
    Cancel,
    /// comm → bool
    CancelOutcome,
    /// collective \[root\] \[value\] \[rank\] → comm
    Enter {
        kind: CollectiveKind,
        operator: Option<u32>,
        root: bool,
        value: bool,
        rank: bool,
    },
    /// comm → value
    Wait,
    /// comm → bool
    Test,
    /// list → index
    WaitAny,
    /// list → index
    TestAny,
    /// What the act takes → its value. The number is that of the objects if it takes any number of them, and otherwise the
    /// one in the declaration of its object.
    Act(&'static Act, u32),
    /// lo hi → int
    Choose,
    Local,
    /// arguments → process
    Spawn {
        process: u32,
        args: u32,
    },
    /// process → unit
    Join,
}

impl Visible {
    /// How many arguments it takes off the stack.
    pub fn arity(self) -> usize {
        use Visible::*;
        match self {
            Isend { src, tag, .. } => 2 + usize::from(src) + usize::from(tag),
            Enter { root, value, rank, .. } => {
                1 + usize::from(root) + usize::from(value) + usize::from(rank)
            }
            Cancel | CancelOutcome => 1,
            Irecv { src, tag } | Probe { src, tag, .. } => 1 + usize::from(src) + usize::from(tag),
            Wait | Test | WaitAny | TestAny => 1,
            Act(act, number) => act.arity.unwrap_or(number as usize),
            Join => 1,
            Choose => 2,
            Local => 0,
            Spawn { args, .. } => args as usize,
        }
    }
}

/// Where a variable is on the stack, and between which instructions.
#[derive(Clone, Debug)]
pub struct Live {
    pub name: u32,
    pub slot: u32,
    pub from: u32,
    pub to: u32,
    pub top_level: bool,
}

/// The instances of a declaration of actors.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The id of the first one.
    pub first: u32,
    /// The index of the first one.
    pub lo: i64,
    pub count: u32,
    pub name: u32,
}

/// The handlers of an actor. They run on its variables, as they are when it is at rest, with the values that the message
/// carries on top.
#[derive(Debug, Default)]
pub struct Actor {
    /// By message; the handlers of each in order of declaration.
    pub messages: FxHashMap<u32, Vec<Handler>>,
    pub internals: Vec<Handler>,
    /// Does some handler start actors?
    pub may_spawn: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// Leaves a truth value on top.
    pub guard: Option<u32>,
    pub entry: u32,
    /// Of its header.
    pub site: u32,
}

/// What an execution tells about a call of a procedure.
#[derive(Clone, Copy, Debug)]
pub struct Routine {
    pub name: u32,
    pub params: u32,
    pub has_result: bool,
}

/// What an invariant names.
#[derive(Debug, Default)]
pub struct Seen {
    /// Numbers of cells.
    pub cells: Vec<Range<u32>>,
    /// Numbers of mailboxes.
    pub mailboxes: Vec<Range<u32>>,
    /// Variables of processes: the declaration, the instance if that is known, the name.
    pub variables: Vec<(u32, Option<i64>, u32)>,
}

/// The compiled bodies of a program and what their instructions refer to.
#[derive(Debug, Default)]
pub struct Code {
    pub instrs: Vec<Instr>,
    /// For each instruction its site.
    pub site_of: Vec<u32>,
    pub sites: Vec<Site>,
    /// Of each site.
    pub spans: Vec<Span>,
    pub constants: Vec<Value>,
    /// Names of variables and objects, and messages of assertions.
    pub texts: Vec<String>,
    pub live: Vec<Live>,
    /// Where each function starts, and its number of parameters.
    pub functions: Vec<(u32, u32)>,
    /// The procedures, whose code is where they are called.
    pub routines: Vec<Routine>,
    pub processes: Vec<u32>,
    /// For each instruction whether it lies on a loop that may change no object: see [`super::spin`].
    pub loops: Vec<bool>,
    /// For each instruction whether paths meet there: one that jumps backwards leads to it, or more than one instruction.
    pub meetings: Vec<bool>,
    /// Where processes rest, the places of the stack whose variables are never read again: see [`super::liveness`].
    pub dead: FxHashMap<u32, Box<[u32]>>,
    pub actors: Vec<Actor>,
    /// For each process or actor.
    pub families: Vec<Family>,
    pub inits: Vec<u32>,
    pub finals: Vec<u32>,
    /// Each with what it names.
    pub invariants: Vec<(u32, Seen)>,
    /// Is there a `value(c)` anywhere? If not, what communications yielded need not be remembered.
    pub remembers_values: bool,
    pub objects: Objects,
    /// What the instructions stand for.
    pub points: Points,
    pub semantics: Semantics,
}

impl Code {
    /// How many values the instruction takes off the top of the stack, and how many it leaves there
    /// instead. A call counts with all that its function does.
    ///
    /// The compiler counts the depth of the stack by this, and so does whoever passes over an instruction without running it.
    /// Where they run, debug builds assert it.
    pub fn effect(&self, instr: &Instr) -> (usize, usize) {
        use Instr::*;
        match *instr {
            Const(_) | Get(_) | GetPart(..) | Project(..) | Myself => (0, 1),
            Set(_) | JumpIfFalse(_) | Assert(_) | Return => (1, 0),
            SetPart(_, ref steps) => (indices_in(steps) + 1, 0),
            Pop(count) => (count as usize, 0),
            Squash { keep, drop } => ((keep + drop) as usize, keep as usize),
            Dup => (1, 2),
            Jump(_) | Loop(_) | Increment(_) | Enter(_) | Leave(_) | Handle(_) | End => (0, 0),
            Unary(_) | Repeat(_) | Field(_) | Length | Address { .. } => (1, 1),
            Received | Instance(_) | IsMessage(_) | Peek | Pending | ProcessVar { .. } => (1, 1),
            Binary(_) | Index | Push | Remove | Send => (2, 1),
            Tuple(count) | List(count) => (count as usize, 1),
            Message { args, .. } | Create { args, .. } => (args as usize, 1),
            Call(function) => (self.functions[function as usize].1 as usize, 1),
            Visible(visible) => (visible.arity(), 1),
        }
    }

    /// The site of the instruction at `pc`.
    pub fn site(&self, pc: u32) -> &Site {
        &self.sites[self.site_of[pc as usize] as usize]
    }
}
