//! The static analysis of accesses: what a process may still access, by abstract interpretation of
//! its code.
//!
//! The interpreter ([`super::interpret`]) runs here with *abstract* values: a known value, the
//! number of one of some neighbouring objects, or any value. A value from outside the process (a
//! message, the content of a cell, a choice) is any value; a value computed from known values is
//! known. A known condition selects a branch; for any other condition both branches are followed.
//! So for `if i == 0 { .. } else { .. }` each instance of a family is followed on its own branch
//! only, and in `for k in 0..3 { send(m[k], ..) }` the mailboxes are known.
//!
//! **Soundness.** Every execution of the process is followed, and perhaps others. An abstract stack
//! stands for all stacks with its known values in their slots. An instruction that needs an unknown
//! value is skipped, and so is a call in which this happens: the values that it leaves are any
//! values. A stack that was visited before, or that is covered by a visited one, is not followed
//! again. Accesses of spawned processes are included: they are followed from their start. In debug
//! builds every access of a process is compared with the result of this analysis
//! ([`crate::model::audit_everything`]).
//!
//! **Termination.** At each join point of the control flow (the head of a loop, the end of a
//! branch) a bounded number of stacks is kept apart. Further ones are joined into one; where they
//! differ, it has any value. A join can lose a known value at most once for each slot. If the
//! analysis still takes too long, it has no result, and callers assume every access.
//!
//! There are two such analyses. [`reach`] starts from the local state of a process, and keeps
//! [`MAX_STACKS`] stacks apart at each join point. [`Touches`] only knows which instance the
//! process is. It follows the process from its start and keeps one stack apart, so its result holds
//! for all local states.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::check::Instantiation;
use super::code::{Code, Instr, Visible};
use super::interpret::{Domain, Fault, Machine, Rest, Unknown, World};
use super::operators;
use crate::model::{
    Asking, CollectiveId, Delivery, End, Guess, Handle, Lane, MailboxId, May, MutexId, Part, Point,
    Reach, Touch, Value,
};

/// The most stacks that are kept apart at one join point.
const MAX_STACKS: usize = 64;
/// The most instructions and compared values of an analysis from a local state.
const MAX_STEPS: usize = 20_000;
/// The most instructions and compared values of [`Touches`], for all instances of a declaration
/// together.
const MAX_STEPS_OF_ALL: usize = 4_000_000;
/// The most local steps of a call that is followed.
const MAX_STEPS_OF_CALL: u32 = 1_000;

/// For each instruction: is it a join point of the control flow?
pub(crate) fn join_points(instrs: &[Instr]) -> Vec<bool> {
    let mut ways = vec![0_u32; instrs.len() + 1];
    for (at, instr) in (0..).zip(instrs) {
        // A body may begin with a loop. Then the backward jump is the only predecessor, but the
        // entry of the body also leads there.
        let is_backwards = matches!(instr, Instr::Loop(_));
        instr.successors(at).for_each(|to| ways[to as usize] += 1 + u32::from(is_backwards));
    }
    ways.into_iter().map(|ways| ways > 1).collect()
}

/// What a process at `pc` with this stack may still access; `None` if the analysis takes too long.
pub(crate) fn reach(code: &Code, pc: u32, stack: &[Value], index: i64) -> Option<Reach> {
    let stack = stack.iter().cloned().map(Abstract::known).collect();
    Walk::new(code, Some(index)).run(pc, stack)
}

/// What any process at this point may still access, with `depth` values on the stack; `None` if the
/// analysis takes too long. At most two of the values are known: the lowest, which is the index of
/// the instance (`index`, for a family), and the first of the `arity` arguments of its operation,
/// which is the object.
pub(crate) fn reach_from(
    code: &Code,
    point: Point,
    depth: usize,
    arity: usize,
    index: Option<i64>,
) -> Option<Reach> {
    let mut stack = vec![Abstract::Any; depth];
    if let (Some(index), Some(lowest)) = (index, stack.first_mut()) {
        *lowest = Abstract::Known(Value::Int(index));
    }
    if let (Some(object), Some(first)) = (point.object, stack.get_mut(depth - arity)) {
        *first = Abstract::Known(Value::Int(object));
    }
    Walk::new(code, Some(point.instance)).run(point.instruction, stack)
}

/// What the instances of one declaration may ever access, from their start on. Computed on demand.
#[derive(Clone, Debug)]
pub(crate) struct Touches {
    entry: u32,
    params: u32,
    /// The index of the first instance, for a family.
    first: Option<i64>,
    instances: Box<[OnceLock<Option<Reach>>]>,
    /// The result for an instance with an unknown index.
    any: OnceLock<Option<Reach>>,
}

impl Touches {
    /// For a declaration whose code starts at `entry`, with `params` values on the stack.
    pub(crate) fn new(entry: u32, params: u32, kind: Instantiation) -> Touches {
        let (first, count) = match kind {
            Instantiation::Family { lo, .. } => (Some(lo), kind.instances()),
            Instantiation::Single | Instantiation::Template => (None, 0),
        };
        let instances = (0..count).map(|_| OnceLock::new()).collect();
        Touches { entry, params, first, instances, any: OnceLock::new() }
    }

    /// What the instance with this index may access; `None` if the analysis takes too long.
    pub(crate) fn of(&self, code: &Code, index: i64) -> Option<&Reach> {
        let own = self.first.map(|first| &self.instances[(index - first) as usize]);
        let share = MAX_STEPS_OF_ALL / self.instances.len().max(1);
        let alone = || self.follow_from_start(code, Some(index), share);
        let common = || self.follow_from_start(code, None, MAX_STEPS_OF_ALL);
        let known = own.and_then(|own| own.get_or_init(alone).as_ref());
        known.or_else(|| self.any.get_or_init(common).as_ref())
    }

    /// What the instance with this index may access, or any instance if `index` is `None`.
    fn follow_from_start(
        &self,
        code: &Code,
        index: Option<i64>,
        most_steps: usize,
    ) -> Option<Reach> {
        let mut stack = vec![Abstract::Any; self.params as usize];
        if let Some(index) = index {
            stack[0] = Abstract::Known(Value::Int(index));
        }
        let start = Walk::new(code, if self.first.is_some() { index } else { Some(0) });
        Walk { most_stacks: 1, most_steps, is_from_start: true, ..start }.run(self.entry, stack)
    }
}

/// An abstract value: what is known about a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Abstract {
    Known(Value),
    /// The number of one of the objects `base..base + count`; `number`, if it is known which.
    Object {
        base: u32,
        count: u32,
        number: Option<Value>,
    },
    Any,
}

impl Domain for Abstract {
    /// Unit becomes any value, because the compiler also uses it as a placeholder for a value of
    /// any type, in a `match` without a matching arm.
    fn known(value: Value) -> Abstract {
        if value == Value::Unit { Abstract::Any } else { Abstract::Known(value) }
    }

    fn unknown() -> Abstract {
        Abstract::Any
    }

    fn object(base: u32, count: u32, place: Option<usize>) -> Abstract {
        let number = place.map(|place| Value::object(base, count, Some(place)));
        Abstract::Object { base, count, number }
    }

    fn get(&self) -> Result<&Value, Unknown> {
        match self {
            Abstract::Known(value) | Abstract::Object { number: Some(value), .. } => Ok(value),
            Abstract::Object { number: None, .. } | Abstract::Any => Err(Unknown),
        }
    }

    fn get_mut(&mut self) -> Result<&mut Value, Unknown> {
        match self {
            Abstract::Known(value) => Ok(value),
            Abstract::Object { .. } | Abstract::Any => Err(Unknown),
        }
    }

    fn take(self) -> Result<Value, Unknown> {
        self.get().cloned()
    }

    fn all_known(_: &[Abstract]) -> Result<&[Value], Unknown> {
        Err(Unknown)
    }

    fn take_all(values: Vec<Abstract>) -> Result<Vec<Value>, Unknown> {
        values.into_iter().map(Abstract::take).collect()
    }
}

impl Abstract {
    /// The approximate work to compare the value: lists may be long.
    fn size(&self) -> usize {
        let Abstract::Known(known) = self else { return 1 };
        let (mut size, mut value) = (1_usize, known);
        while let Value::List(_) | Value::Set(_) | Value::Map(_) = value {
            let items = operators::items(value);
            let Some(first) = items.first() else { break };
            (size, value) = (size.saturating_mul(items.len()), first);
        }
        size
    }

    /// An abstract value that stands for both.
    fn join(&self, other: &Abstract) -> Abstract {
        match (self, other) {
            (mine, theirs) if mine == theirs => mine.clone(),
            (&Abstract::Object { base, count, .. }, &Abstract::Object { base: other, .. })
                if base == other =>
            {
                Abstract::Object { base, count, number: None }
            }
            _ => Abstract::Any,
        }
    }
}

type Stack = Vec<Abstract>;

/// Joins `other` into `into`. Returns whether `into` has changed.
fn join(into: &mut Stack, other: &Stack) -> bool {
    debug_assert_eq!(
        into.len(),
        other.len(),
        "all paths to an instruction have the same depth of the stack"
    );
    let mut has_changed = false;
    for (mine, theirs) in into.iter_mut().zip(other) {
        let joined = mine.join(theirs);
        has_changed |= joined != *mine;
        *mine = joined;
    }
    has_changed
}

/// The visited stacks at one join point.
#[derive(Default)]
struct VisitedStacks {
    apart: FxHashSet<Stack>,
    /// The join of all stacks, once there were too many to be kept apart.
    joined: Option<Stack>,
}

impl VisitedStacks {
    /// Adds a stack. Returns the stack to be followed because of it, if any.
    fn add(&mut self, stack: Stack, most: usize) -> Option<Stack> {
        if self.apart.contains(&stack) {
            return None;
        }
        if self.apart.len() < most {
            self.apart.insert(stack.clone());
            return Some(stack);
        }
        match &mut self.joined {
            Some(joined) => join(joined, &stack).then(|| joined.clone()),
            None => {
                let mut all = stack;
                for other in &self.apart {
                    join(&mut all, other);
                }
                self.joined.insert(all).clone().into()
            }
        }
    }
}

/// An analysis of a process, with the processes that it spawns.
struct Walk<'c> {
    code: &'c Code,
    most_stacks: usize,
    most_steps: usize,
    /// The accesses found so far.
    reach: Reach,
    pending: Vec<(u32, Stack)>,
    visited: FxHashMap<u32, VisitedStacks>,
    steps: usize,
    /// Is the process followed from its start?
    is_from_start: bool,
    /// The index of the process; `None` once spawned processes are followed, too.
    index: Option<i64>,
}

/// The world of the analysed code: nothing is known about it.
struct AbstractWorld;

impl World for AbstractWorld {
    type Value = Abstract;

    fn received(&self, _: Handle) -> Result<Value, Fault> {
        Err(Fault::Unknown)
    }
}

impl<'c> Walk<'c> {
    fn new(code: &'c Code, index: Option<i64>) -> Walk<'c> {
        Walk {
            code,
            most_stacks: MAX_STACKS,
            most_steps: MAX_STEPS,
            reach: Reach::default(),
            pending: Vec::new(),
            visited: FxHashMap::default(),
            steps: 0,
            is_from_start: false,
            index,
        }
    }

    /// What the process may access from `pc` on; `None` if the analysis takes too long.
    fn run(mut self, pc: u32, stack: Stack) -> Option<Reach> {
        self.pending.push((pc, stack));
        while let Some((pc, stack)) = self.pending.pop() {
            self.follow(pc, stack)?;
        }
        Some(self.reach)
    }

    /// Follows the instructions from `pc` to a join point, an undecided branch or the end; `None`
    /// if the analysis takes too long.
    fn follow(&mut self, pc: u32, stack: Stack) -> Option<()> {
        let mut machine = Machine::new(self.code, AbstractWorld, stack, pc);
        loop {
            self.steps += 1;
            if self.steps > self.most_steps {
                return None;
            }
            let (at, depth) = (machine.pc, machine.stack.len());
            let rest = machine.carry_out(MAX_STEPS_OF_CALL);
            match (&self.code.instrs[at as usize], rest) {
                (_, None) => {}
                (Instr::Visible(visible), Some(_)) => {
                    self.act(*visible, &machine.stack[depth - visible.arity()..]);
                    machine.pass_over(depth);
                }
                (Instr::JumpIfFalse(_), Some(_)) => {
                    for holds in [false, true] {
                        let mut stack = machine.stack.clone();
                        stack.push(Abstract::Known(Value::Bool(holds)));
                        self.pending.push((at, stack));
                    }
                    return Some(());
                }
                // A call that fails, needs an unknown value or takes too long is skipped.
                (Instr::Call(_), Some(_)) | (_, Some(Rest::Unknown)) => machine.pass_over(depth),
                (_, Some(Rest::Visible | Rest::End | Rest::Failed(_))) => return Some(()),
            }
            if self.code.join_points[machine.pc as usize] {
                self.arrive(machine.pc, machine.stack);
                return Some(());
            }
        }
    }

    /// Adds a stack at a join point, to be followed if it is new.
    fn arrive(&mut self, at: u32, stack: Stack) {
        let work = stack.iter().map(Abstract::size).fold(0, usize::saturating_add);
        self.steps = self.steps.saturating_add(work);
        if let Some(stack) = self.visited.entry(at).or_default().add(stack, self.most_stacks) {
            self.pending.push((at, stack));
        }
    }

    /// Adds the accesses of an operation, and follows the process that it spawns.
    fn act(&mut self, visible: Visible, args: &[Abstract]) {
        use May::{Add, Change};
        let all = &self.code.objects;
        let mailboxes = all.mailboxes.len();
        let sends = |id| MailboxId(id).posts(End::Send);
        let receives = |id| MailboxId(id).posts(End::Receive);
        let matches = |id| MailboxId(id).matches();
        match visible {
            Visible::Isend { src, tag, .. } => {
                self.touch(args, mailboxes, &[Change], sends);
                if self.is_network(&args[0]) {
                    self.touch(args, mailboxes, &[Add], |id| MailboxId(id).messages());
                }
                self.label(End::Send, args, (src, tag), 2);
            }
            Visible::Irecv { src, tag } => {
                self.touch(args, mailboxes, &[Change], receives);
                if self.is_network(&args[0]) {
                    self.touch(args, mailboxes, &[Add], matches);
                }
                self.label(End::Receive, args, (src, tag), 1);
            }
            Visible::Probe { src, tag, .. } => {
                self.touch(args, mailboxes, &[Add], matches);
                self.label(End::Receive, args, (src, tag), 1);
            }
            // Communications are values, so it is not known which post a test is about: all tests
            // have the same access.
            Visible::Test | Visible::TestAny => self.reach.add(Touch::ANY_TEST, 1),
            // A cancelled receive lets later receives at its mailbox match sooner. If the process
            // is followed from its start, the match was added when the receive was posted.
            Visible::Cancel if self.is_from_start => {}
            Visible::Cancel => {
                self.reach.add(Touch::new(matches(0), Add), mailboxes as u32);
            }
            Visible::Enter { .. } => {
                self.touch(args, all.collectives.len(), &[Add], |id| CollectiveId(id).ends());
            }
            Visible::Act(act, _) => {
                let all = (act.kind.about().count)(all);
                let own = if act.arity.is_none() { args } else { &args[..1] };
                for object in own {
                    self.touch_by(object, all, act.touches);
                }
            }
            Visible::Spawn { process, .. } => {
                self.index = None;
                self.arrive(self.code.processes[process as usize], args.to_vec());
            }
            Visible::CancelOutcome
            | Visible::Wait
            | Visible::WaitAny
            | Visible::Choose
            | Visible::ChooseFrom
            | Visible::Local
            | Visible::Fault(_)
            | Visible::Join => {}
        }
    }

    /// Adds these accesses to an object; `all` is the number of objects of its kind. A request for
    /// a mutex that may be tried changes its queue, too.
    fn touch_by(&mut self, object: &Abstract, all: usize, touches: &[fn(u32) -> Touch]) {
        let (base, count) = objects(object, all);
        for touch in touches {
            let touch = touch(base);
            self.reach.add(touch, count);
            if touch.lane.part() == Part::Requests && self.is_tried(object) {
                self.reach.add(Touch::new(MutexId(base).queue(), touch.may), count);
            }
        }
    }

    /// Adds these accesses to a lane of the object that the first argument names; `all` is the
    /// number of objects of its kind.
    fn touch(&mut self, args: &[Abstract], all: usize, may: &[May], lane: fn(u32) -> Lane) {
        let (base, count) = objects(&args[0], all);
        may.iter().for_each(|&may| self.reach.add(Touch::new(lane(base), may), count));
    }

    /// Adds the possible source and tag of a post or a probe; its labels start at `args[labels]`.
    fn label(&mut self, end: End, args: &[Abstract], (src, tag): (bool, bool), labels: usize) {
        let mut labels = args[labels..].iter();
        let mut guess = |is_there: bool| match is_there.then(|| labels.next()).flatten() {
            None => Guess::Exactly(None),
            Some(number) => {
                number.get().map_or(Guess::Some, |number| Guess::Exactly(Some(number.int())))
            }
        };
        let (mut src, mut tag) = (guess(src), guess(tag));
        // At p2p and bag mailboxes a send without a source has the index of its process, and a send
        // without a tag has tag 0.
        if end == End::Send && self.is_network(&args[0]) {
            let own = self.index.map_or(Guess::Some, |index| Guess::Exactly(Some(index)));
            src = if src == Guess::Exactly(None) { own } else { src };
            tag = if tag == Guess::Exactly(None) { Guess::Exactly(Some(0)) } else { tag };
        }
        let (base, count) = objects(&args[0], self.code.objects.mailboxes.len());
        self.reach.add_posts(MailboxId(base), count, end, (src, tag));
    }

    /// Could the mutex be tried?
    fn is_tried(&self, mutex: &Abstract) -> bool {
        let mutexes = &self.code.objects.mutexes;
        let (base, count) = objects(mutex, mutexes.len());
        (base..base + count).any(|id| *mutexes.start(id) == Asking::Tries)
    }

    /// May the mailbox be a p2p or bag mailbox?
    fn is_network(&self, mailbox: &Abstract) -> bool {
        let mailboxes = &self.code.objects.mailboxes;
        let (base, count) = objects(mailbox, mailboxes.len());
        (base..base + count).any(|id| *mailboxes.start(id) != Delivery::Ordered)
    }
}

/// The objects that a number on the stack may stand for, of `all` objects of the kind: the first
/// one, and their number.
fn objects(number: &Abstract, all: usize) -> (u32, u32) {
    match (number, number.get()) {
        (_, Ok(number)) => (number.int() as u32, 1),
        (&Abstract::Object { base, count, .. }, _) => (base, count),
        _ => (0, all as u32),
    }
}
