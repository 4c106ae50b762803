//! The instructions of a compiled program, for a stack machine.
//!
//! Variables and temporaries of a process are on one stack of values. The compiler knows the depth
//! of the stack at every instruction, so a variable is a fixed slot, counted from the bottom of its
//! frame. A block removes its variables when it ends. So the stack of a process at rest contains
//! only variables in scope and temporaries, and states do not differ in values that are out of
//! scope.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{BinaryOp, UnaryOp};
use super::coverage::Points;
use super::diagnostic::Span;
use super::faults::Fault;
use super::hir::{Fair, SendMode};
use super::objects::Act;
use crate::model::{
    CollectiveKind, Completion, Demand, Incident, Objects, Partners, Probing, Semantics, Site,
    Value,
};

/// One instruction. The comments show the stack before and after it: `…` is the rest of the stack,
/// and its top is on the right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instr {
    /// … → … the constant with this number
    Const(u32),
    /// … → … a copy of the variable in this slot
    Get(u32),
    /// … value → …: the variable in this slot gets the value.
    Set(u32),
    /// … indices → … indices part: the part of the variable that the path of steps leads to.
    GetPart(u32, Box<[Step]>),
    /// … indices value → …: replaces the part of the variable that the path of steps leads to.
    SetPart(u32, Box<[Step]>),
    /// … → … a part of the variable, by a path of components of tuples and messages.
    Project(u32, Box<[u32]>),
    /// Removes this number of values from the top.
    Pop(u32),
    /// Removes `drop` values from below the topmost `keep` values.
    Squash { keep: u32, drop: u32 },
    /// … value → … value value
    Dup,
    /// Continues at this instruction.
    Jump(u32),
    /// A backward jump, which counts as a local step.
    Loop(u32),
    /// … condition → …: continues at this instruction if the condition is false.
    JumpIfFalse(u32),
    /// … operand → … result
    Unary(UnaryOp),
    /// … left right → … result
    Binary(BinaryOp),
    /// … components → … tuple
    Tuple(u32),
    /// … items → … list
    List(u32),
    /// … item → … list with this number of copies
    Repeat(u32),
    /// … list index → … item, or … map key → … value
    Index,
    /// … tuple → … component
    Field(u32),
    /// … collection → … number of items
    Length,
    /// … value → …: appends it to the list in this slot.
    Append(u32),
    /// … number lo hi → … bool: is the number one of `lo..hi`?
    Within,
    /// … list item → … longer list
    Push,
    /// … list index → … shorter list
    Remove,
    /// Adds 1 to the loop counter in this slot. It cannot overflow, because it is below its bound.
    Increment(u32),
    /// … index → … number of the object
    Address { base: u32, count: u32, name: u32 },
    /// … → … value: what this Rust closure computes from the frame. For the static analysis the
    /// value is unknown.
    Compute(u32),
    /// … arguments → … result: calls this function.
    Call(u32),
    /// Returns the value on top from a function.
    Return,
    /// … arguments → … arguments: marks the beginning of a call of a procedure.
    Enter(u32),
    /// … value → … value: marks the end of a call of a procedure.
    Leave(u32),
    /// … condition → …: fails if the condition is false, with the text of this number.
    Assert(Option<u32>),
    /// … comm → … value
    Received,
    /// … → … reference to the running actor
    Myself,
    /// … index → … reference to the instance of the family with this index
    Instance(u32),
    /// … contents → … message
    Message { name: u32, args: u32 },
    /// … value → … bool: is the value a message with this number?
    IsMessage(u32),
    /// … actor message → … unit
    Send,
    /// … arguments → … reference to the new actor
    Create { process: u32, args: u32 },
    /// A process rests here until its operation is executed.
    Visible(Visible),
    /// An actor rests here until it handles a message or runs an internal handler.
    Handle(u32),
    /// … number of the cell → … content; in `final` and `invariant`.
    Peek,
    /// … number of the mailbox → … its length; in `invariant`.
    Pending,
    /// … index → … value of the variable; in `final` and `invariant`.
    ProcessVar { process: u32, name: u32 },
    /// The process or the handler ends.
    End,
}

impl Instr {
    /// The possible successors of this instruction, which is at `at`, in its own body. The
    /// successor of a call is the instruction after it.
    pub(crate) fn successors(&self, at: u32) -> impl Iterator<Item = u32> + use<> {
        let (next, jump) = match *self {
            Instr::Jump(to) | Instr::Loop(to) => (None, Some(to)),
            Instr::JumpIfFalse(to) => (Some(at + 1), Some(to)),
            Instr::End | Instr::Return | Instr::Handle(_) => (None, None),
            _ => (Some(at + 1), None),
        };
        next.into_iter().chain(jump)
    }
}

/// A step of a path to a part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// An element of a list, by the next index on the stack, or the value of a key of a map.
    Index,
    /// A component of a tuple.
    Field(u32),
}

/// The number of indices that these steps need on the stack.
pub(crate) fn indices_in(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step, Step::Index)).count()
}

/// A visible operation: takes its arguments off the stack and leaves its value there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visible {
    /// mailbox value \[src\] \[tag\] → comm
    Isend { src: bool, tag: bool, mode: SendMode },
    /// mailbox \[src\] \[tag\] → comm
    Irecv { src: bool, tag: bool },
    /// mailbox \[src\] \[tag\] → tuple; part of a receive with a timeout if it is `timed`
    Probe { form: Probing, src: bool, tag: bool, timed: bool },
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
        /// When it is complete, if the run does not say that.
        completion: Option<Completion>,
        /// Its partners, by their index in the code, if the kind does not say them.
        partners: Option<u32>,
    },
    /// comm → value
    Wait,
    /// comm → bool
    Test,
    /// list → index
    WaitAny,
    /// list → index, or -1
    TestAny,
    /// What the act takes → its value. The number is that of the objects if it takes any number of
    /// them, and otherwise the one in the declaration of its object.
    Act(&'static Act, u32),
    /// lo hi → int
    Choose,
    /// list or set → an element
    ChooseFrom,
    /// → unit
    Local,
    /// arguments → process
    Spawn { process: u32, args: u32 },
    /// process → unit
    Join,
    /// What the fault takes → its value
    Fault(Fault),
}

impl Visible {
    /// The number of arguments on the stack.
    pub(crate) fn arity(self) -> usize {
        use Visible::*;
        match self {
            Isend { src, tag, .. } => 2 + usize::from(src) + usize::from(tag),
            Enter { root, value, rank, .. } => {
                1 + usize::from(root) + usize::from(value) + usize::from(rank)
            }
            Cancel | CancelOutcome => 1,
            Irecv { src, tag } | Probe { src, tag, .. } => 1 + usize::from(src) + usize::from(tag),
            Wait | Test | WaitAny | TestAny | ChooseFrom => 1,
            Act(act, number) => act.arity.unwrap_or(number as usize),
            Join => 1,
            Choose => 2,
            Local => 0,
            Spawn { args, .. } => args as usize,
            Fault(fault) => fault.arity(),
        }
    }
}

/// What the analysis of symmetry has to know of loops in which the order makes no difference: by
/// the place of an instruction. See `compile::order`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// Constants from which a loop counts, and the range over which it goes.
    pub(crate) ranges: FxHashMap<u32, (i64, i64)>,
    /// Other instructions that only count.
    pub(crate) counts: FxHashSet<u32>,
    /// Where a loop in order compares its counter.
    pub(crate) orders: FxHashSet<u32>,
    /// Where the next item of a set is taken.
    pub(crate) items: FxHashSet<u32>,
    /// Instructions that must not fail, or the order matters; with the places in `ranges` and
    /// `items` of the loops around, and whether the index is the variable of such a loop.
    pub(crate) sure: FxHashMap<u32, (Vec<u32>, bool)>,
}

/// A variable: its slot on the stack, and the instructions `from..to` in which it is in scope.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) name: u32,
    pub(crate) slot: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) top_level: bool,
}

/// The instances of a declaration that exist from the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// The id of the first instance.
    pub(crate) first: u32,
    /// The index of the first instance.
    pub(crate) lo: i64,
    pub(crate) count: u32,
    pub(crate) name: u32,
}

/// The handlers of an actor. A handler runs on the stack of the actor at rest, with the values that
/// the message carries on top.
#[derive(Clone, Debug, Default)]
pub(crate) struct Actor {
    /// For each message its handlers, in order of declaration.
    pub(crate) messages: FxHashMap<u32, Vec<Handler>>,
    pub(crate) internals: Vec<Handler>,
    /// Does the actor contain a `spawn`?
    pub(crate) may_spawn: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    /// The entry of the guard's code, which leaves a bool on top.
    pub(crate) guard: Option<u32>,
    pub(crate) entry: u32,
    /// The site of its header.
    pub(crate) site: u32,
    /// The fault that it is.
    pub(crate) incident: Option<Incident>,
}

/// What reports need to know about a procedure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Routine {
    pub(crate) name: u32,
    pub(crate) params: u32,
    pub(crate) has_result: bool,
}

/// The read set of an invariant: what its text names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadSet {
    /// Ranges of cells, by number.
    pub(crate) cells: Vec<Range<u32>>,
    /// Ranges of mailboxes, by number.
    pub(crate) mailboxes: Vec<Range<u32>>,
    /// Variables of processes: the declaration, the index of the instance (`None` if it is not
    /// constant), and the name.
    pub(crate) variables: Vec<(u32, Option<i64>, u32)>,
}

/// The demands on endless executions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Liveness {
    pub(crate) demands: Vec<Demand>,
    /// The entry of each proposition, and the value of the demand's index.
    pub(crate) propositions: Vec<(u32, Option<i64>)>,
    pub(crate) fair: Fair,
    /// The entries of the handlers that are strongly fair.
    pub(crate) strong_handlers: BTreeSet<u32>,
    /// Is no process fair, whatever else is said?
    pub(crate) is_unfair: bool,
}

/// A computation in Rust: a function of the values in the frame. An error is a violation.
#[derive(Clone)]
pub(crate) struct Closure(pub(crate) Arc<Computation>);

pub(crate) type Computation = dyn Fn(&[Value]) -> Result<Value, String> + Send + Sync;

impl fmt::Debug for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a closure")
    }
}

/// The compiled bodies of a program and what their instructions refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) instrs: Vec<Instr>,
    /// For each instruction the number of its site.
    pub(crate) site_of: Vec<u32>,
    pub(crate) sites: Vec<Site>,
    /// The span of each site.
    pub(crate) spans: Vec<Span>,
    pub(crate) constants: Vec<Value>,
    pub(crate) closures: Vec<Closure>,
    pub(crate) partners: Vec<Arc<Partners>>,
    /// Names of variables and objects, and messages of assertions.
    pub(crate) texts: Vec<String>,
    pub(crate) live: Vec<Live>,
    /// The entry of each function, and its number of parameters.
    pub(crate) functions: Vec<(u32, u32)>,
    /// The procedures. They have no code of their own: it is copied to each call.
    pub(crate) routines: Vec<Routine>,
    pub(crate) processes: Vec<u32>,
    /// Where processes rest that have crashed and do not start again, in ascending order.
    pub(crate) crashed: Vec<u32>,
    /// For each instruction: is it on a loop that may change no object? See [`super::spin`].
    pub(crate) loops: Vec<bool>,
    /// For each instruction: is it a join point of the control flow, that is, the target of a
    /// backward jump, or the successor of several instructions?
    pub(crate) join_points: Vec<bool>,
    /// For instructions at which processes rest: the slots of variables that are never read again.
    /// See [`super::liveness`].
    pub(crate) dead: FxHashMap<u32, Box<[u32]>>,
    pub(crate) actors: Vec<Actor>,
    /// For each process or actor its instances.
    pub(crate) families: Vec<Family>,
    pub(crate) inits: Vec<u32>,
    pub(crate) finals: Vec<u32>,
    /// What they read.
    pub(crate) seen_by_finals: ReadSet,
    /// The entry of each invariant, and what it names.
    pub(crate) invariants: Vec<(u32, ReadSet)>,
    pub(crate) liveness: Liveness,
    /// Does the program use `value(c)`? If not, processes need not remember what communications
    /// yielded.
    pub(crate) remembers_values: bool,
    /// Does a rank get the sum of what it waited for, whatever the collective is?
    pub(crate) adds_up: bool,
    pub(crate) objects: Objects,
    /// Loops in which the order makes no difference.
    pub(crate) marks: Marks,
    /// The parts of the source that instructions stand for: see [`super::coverage`].
    pub(crate) points: Points,
    pub(crate) semantics: Semantics,
}

impl Code {
    /// The number of values that the instruction takes from the stack, and the number that it puts
    /// there. A call includes all that its function does.
    ///
    /// The compiler uses this to know the depth of the stack, and the static analysis to skip an
    /// instruction. In debug builds the interpreter asserts it.
    pub(crate) fn effect(&self, instr: &Instr) -> (usize, usize) {
        use Instr::*;
        match *instr {
            Const(_) | Get(_) | GetPart(..) | Project(..) | Compute(_) | Myself => (0, 1),
            Set(_) | Append(_) | JumpIfFalse(_) | Assert(_) | Return => (1, 0),
            SetPart(_, ref steps) => (indices_in(steps) + 1, 0),
            Pop(count) => (count as usize, 0),
            Squash { keep, drop } => ((keep + drop) as usize, keep as usize),
            Dup => (1, 2),
            Jump(_) | Loop(_) | Increment(_) | Enter(_) | Leave(_) | Handle(_) | End => (0, 0),
            Unary(_) | Repeat(_) | Field(_) | Length | Address { .. } => (1, 1),
            Received | Instance(_) | IsMessage(_) | Peek | Pending | ProcessVar { .. } => (1, 1),
            Binary(_) | Index | Push | Remove | Send => (2, 1),
            Within => (3, 1),
            Tuple(count) | List(count) => (count as usize, 1),
            Message { args, .. } | Create { args, .. } => (args as usize, 1),
            Call(function) => (self.functions[function as usize].1 as usize, 1),
            Visible(visible) => (visible.arity(), 1),
        }
    }

    /// The part of the text that the instruction at `pc` stands for.
    pub(crate) fn span(&self, pc: u32) -> Span {
        self.spans[self.site_of[pc as usize] as usize]
    }

    /// The site of the instruction at `pc`.
    pub(crate) fn site(&self, pc: u32) -> &Site {
        &self.sites[self.site_of[pc as usize] as usize]
    }
}
