//! What a process may still do: its code, run ahead with what is known.
//!
//! The machine that runs the process ([`super::interpret`]) runs here with *abstract* values: a known value, the number of
//! one of some neighbouring objects, or any value. What comes from outside the process (a message, the content of a cell,
//! a choice) is any value; what is computed from known values is known. A known condition decides a branch; any other
//! condition is taken to hold, and not to hold. So for `if i == 0 { .. } else { .. }` each instance of a family is
//! followed on its own side only, and in `for k in 0..3 { send(m[k], ..) }` the mailboxes are known.
//!
//! **Sound.** Every execution of the process is followed, and perhaps others. An abstract stack stands for all stacks
//! with its known values in their places. An instruction that needs a value that is not known is passed over, and so is a
//! call in which that happens: what it leaves may be any value. A stack that was met before, or is covered by one that
//! was, need not be followed again. What a spawned process does also counts: it is followed from its start. In debug
//! builds all that processes do is compared with what was said here ([`crate::model::audit_everything`]).
//!
//! **It ends.** At each place where paths meet (where a loop begins, and behind the sides of a branch) some stacks are kept
//! apart. Further ones are joined into one; where they differ, it has any value. A join can lose a known value at most
//! once for each place of the stack. If it still takes too long, nothing is claimed.
//!
//! There are two such analyses. [`reach`] knows the local state of a process, and keeps [`MOST_STACKS`] stacks apart.
//! [`Touches`] knows no more of a process than which instance it is. It follows the process from its start and joins all
//! stacks, so its answer is the same in all local states.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::check::Instantiation;
use super::code::{Code, Instr, Visible};
use super::interpret::{Domain, Fault, Machine, Rest, Unknown, World};
use crate::model::{
    CollectiveId, Delivery, End, Guess, Handle, MailboxId, Point, Reach, Touch, Value,
};

/// The most stacks that are kept apart at one instruction.
const MOST_STACKS: usize = 64;
/// The most instructions and compared values. More take too long.
const MOST_STEPS: usize = 20_000;
/// The same for all instances of a declaration together, where nothing is known of their local states.
const MOST_STEPS_OF_ALL: usize = 4_000_000;
/// The most local steps that a function may take.
const MOST_STEPS_OF_CALL: u32 = 1_000;

/// For each instruction whether paths meet there.
pub fn meetings(instrs: &[Instr]) -> Vec<bool> {
    let mut ways = vec![0_u32; instrs.len() + 1];
    for (at, instr) in (0..).zip(instrs) {
        // A body may begin with a loop. Then nothing else leads there.
        let is_backwards = matches!(instr, Instr::Loop(_));
        instr.successors(at).for_each(|to| ways[to as usize] += 1 + u32::from(is_backwards));
    }
    ways.into_iter().map(|ways| ways > 1).collect()
}

/// What a process at `pc` with this stack may still touch; `None` if that is too much work.
pub fn reach(code: &Code, pc: u32, stack: &[Value], index: i64) -> Option<Reach> {
    let stack = stack.iter().cloned().map(Abstract::known).collect();
    Walk::new(code, Some(index)).run(pc, stack)
}

/// The same for all processes at this place, with so many values on the stack. Of these values only two are known: the index of
/// an instance, which is the lowest, and the object that its operation is about, which is the first of its arguments.
pub fn reach_from(
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

/// What the instances of one declaration may ever touch, each from its start on. It is found out when somebody asks.
#[derive(Debug)]
pub struct Touches {
    entry: u32,
    params: u32,
    /// For a family the index of its first instance.
    first: Option<i64>,
    instances: Box<[OnceLock<Option<Reach>>]>,
    /// Of an instance of which not even the index is known.
    any: OnceLock<Option<Reach>>,
}

impl Touches {
    /// For a declaration whose code starts at `entry`, with so many values.
    pub fn new(entry: u32, params: u32, kind: Instantiation) -> Touches {
        let (first, count) = match kind {
            Instantiation::Family { lo, .. } => (Some(lo), kind.instances()),
            Instantiation::Single | Instantiation::Template => (None, 0),
        };
        let instances = (0..count).map(|_| OnceLock::new()).collect();
        Touches { entry, params, first, instances, any: OnceLock::new() }
    }

    /// What this instance of the declaration may touch; `None` if that is too much work.
    pub fn of(&self, code: &Code, index: i64) -> Option<&Reach> {
        let own = self.first.map(|first| &self.instances[(index - first) as usize]);
        let share = MOST_STEPS_OF_ALL / self.instances.len().max(1);
        let alone = || self.follow_from_start(code, Some(index), share);
        let common = || self.follow_from_start(code, None, MOST_STEPS_OF_ALL);
        let known = own.and_then(|own| own.get_or_init(alone).as_ref());
        known.or_else(|| self.any.get_or_init(common).as_ref())
    }

    /// What an instance may touch, of a family the one with this index.
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

/// What is known about a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Abstract {
    Known(Value),
    /// The number of one of these objects, and which, if that is known.
    Object {
        base: u32,
        count: u32,
        number: Option<Value>,
    },
    Any,
}

impl Domain for Abstract {
    /// Unit is also the value of matches that match nothing. There it stands for a value of any type.
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

    fn take_all(values: Vec<Abstract>) -> Result<Vec<Value>, Unknown> {
        values.into_iter().map(Abstract::take).collect()
    }
}

impl Abstract {
    /// How much work it is to compare it, roughly: lists may be long.
    fn size(&self) -> usize {
        let Abstract::Known(known) = self else { return 1 };
        let (mut size, mut value) = (1_usize, known);
        while let Value::List(items) = value {
            let Some(first) = items.front() else { break };
            (size, value) = (size.saturating_mul(items.len()), first);
        }
        size
    }

    /// What stands for both.
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

/// Makes `into` stand for `other`, too. Did that change it?
fn join(into: &mut Stack, other: &Stack) -> bool {
    debug_assert_eq!(into.len(), other.len(), "the stack is as deep whichever way one comes");
    let mut has_changed = false;
    for (mine, theirs) in into.iter_mut().zip(other) {
        let joined = mine.join(theirs);
        has_changed |= joined != *mine;
        *mine = joined;
    }
    has_changed
}

/// The stacks met at one instruction.
#[derive(Default)]
struct Met {
    apart: FxHashSet<Stack>,
    joined: Option<Stack>,
}

impl Met {
    /// The stack that is to be followed because of this one, if any.
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

/// A process that is followed, and those that it spawns.
struct Walk<'c> {
    code: &'c Code,
    most_stacks: usize,
    most_steps: usize,
    /// What they may touch, so far as is known.
    reach: Reach,
    pending: Vec<(u32, Stack)>,
    met: FxHashMap<u32, Met>,
    steps: usize,
    /// Is the process followed from its start?
    is_from_start: bool,
    /// The index of the process, unless others that it spawns are followed, too.
    index: Option<i64>,
}

/// The world of code that is run ahead.
struct Later;

impl World for Later {
    type Value = Abstract;

    fn received(&self, _: Handle) -> Result<Value, Fault> {
        Err(Fault::Unknown)
    }
}

impl<'c> Walk<'c> {
    fn new(code: &'c Code, index: Option<i64>) -> Walk<'c> {
        Walk {
            code,
            most_stacks: MOST_STACKS,
            most_steps: MOST_STEPS,
            reach: Reach::default(),
            pending: Vec::new(),
            met: FxHashMap::default(),
            steps: 0,
            is_from_start: false,
            index,
        }
    }

    /// What the process may touch from here on; `None` if that is too much work.
    fn run(mut self, pc: u32, stack: Stack) -> Option<Reach> {
        self.pending.push((pc, stack));
        while let Some((pc, stack)) = self.pending.pop() {
            self.follow(pc, stack)?;
        }
        Some(self.reach)
    }

    /// Follows the instructions from `pc` to where paths meet or part; `None` if that is too far.
    fn follow(&mut self, pc: u32, stack: Stack) -> Option<()> {
        let mut machine = Machine::new(self.code, Later, stack, pc);
        loop {
            self.steps += 1;
            if self.steps > self.most_steps {
                return None;
            }
            let (at, depth) = (machine.pc, machine.stack.len());
            let rest = machine.carry_out(MOST_STEPS_OF_CALL);
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
                // A call in which the process fails, or that takes too long, is not worth following exactly.
                (Instr::Call(_), Some(_)) | (_, Some(Rest::Unknown)) => machine.pass_over(depth),
                (_, Some(Rest::Visible | Rest::End | Rest::Failed(_))) => return Some(()),
            }
            if self.code.meetings[machine.pc as usize] {
                self.arrive(machine.pc, machine.stack);
                return Some(());
            }
        }
    }

    /// Notes the stack, and that it is to be followed if it is new.
    fn arrive(&mut self, at: u32, stack: Stack) {
        let work = stack.iter().map(Abstract::size).fold(0, usize::saturating_add);
        self.steps = self.steps.saturating_add(work);
        if let Some(stack) = self.met.entry(at).or_default().add(stack, self.most_stacks) {
            self.pending.push((at, stack));
        }
    }

    /// Notes what an operation touches, and follows the process that it starts.
    fn act(&mut self, visible: Visible, args: &[Abstract]) {
        use Touch::{AwaitPost, Ending, Match, Post, Send};
        let all = &self.code.objects;
        let mailboxes = all.mailboxes.len();
        match visible {
            Visible::Isend { src, tag, .. } => {
                self.touch(args, mailboxes, MailboxId, &[|id| Post(id, End::Send)]);
                if self.is_network(&args[0]) {
                    self.touch(args, mailboxes, MailboxId, &[Send]);
                }
                self.label(End::Send, args, (src, tag), 2);
            }
            Visible::Irecv { src, tag } => {
                self.touch(args, mailboxes, MailboxId, &[|id| Post(id, End::Receive)]);
                if self.is_network(&args[0]) {
                    self.touch(args, mailboxes, MailboxId, &[Match]);
                }
                self.label(End::Receive, args, (src, tag), 1);
            }
            Visible::Probe { src, tag, .. } => {
                self.touch(args, mailboxes, MailboxId, &[Match]);
                self.label(End::Receive, args, (src, tag), 1);
            }
            // Communications are values: all tests are one.
            Visible::Test | Visible::TestAny => {
                self.reach.add(AwaitPost(MailboxId(0), End::Send), 1)
            }
            // Where the receive was posted, later ones may be matched sooner. Whoever is followed from its start was seen to
            // post it.
            Visible::Cancel if self.is_from_start => {}
            Visible::Cancel => self.reach.add(Match(MailboxId(0)), mailboxes as u32),
            Visible::Enter { .. } => {
                self.touch(args, all.collectives.len(), CollectiveId, &[Ending]);
            }
            Visible::Act(act, _) => {
                let all = (act.kind.about().count)(all);
                let own = if act.arity.is_none() { args } else { &args[..1] };
                for object in own.chunks(1) {
                    self.touch(object, all, |id| id, act.touches);
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
            | Visible::Local
            | Visible::Join => {}
        }
    }

    /// Notes what is done to the first of these arguments, the number of one of `all` objects of a kind.
    fn touch<Id>(
        &mut self,
        args: &[Abstract],
        all: usize,
        id: fn(u32) -> Id,
        touches: &[fn(Id) -> Touch],
    ) {
        let (base, count) = objects(&args[0], all);
        touches.iter().for_each(|touch| self.reach.add(touch(id(base)), count));
    }

    /// Notes what a post or a probe may carry.
    fn label(&mut self, end: End, args: &[Abstract], (src, tag): (bool, bool), labels: usize) {
        let mut labels = args[labels..].iter();
        let mut guess = |is_there: bool| match is_there.then(|| labels.next()).flatten() {
            None => Guess::Exactly(None),
            Some(number) => {
                number.get().map_or(Guess::Some, |number| Guess::Exactly(Some(number.int())))
            }
        };
        let (mut src, mut tag) = (guess(src), guess(tag));
        // There a send without a source has that of its process, and one without a tag has the tag 0.
        if end == End::Send && self.is_network(&args[0]) {
            let own = self.index.map_or(Guess::Some, |index| Guess::Exactly(Some(index)));
            src = if src == Guess::Exactly(None) { own } else { src };
            tag = if tag == Guess::Exactly(None) { Guess::Exactly(Some(0)) } else { tag };
        }
        let (base, count) = objects(&args[0], self.code.objects.mailboxes.len());
        self.reach.add_posts(MailboxId(base), count, end, (src, tag));
    }

    /// May this mailbox be p2p or bag?
    fn is_network(&self, mailbox: &Abstract) -> bool {
        let mailboxes = &self.code.objects.mailboxes;
        let (base, count) = objects(mailbox, mailboxes.len());
        (base..base + count).any(|id| *mailboxes.start(id) != Delivery::Ordered)
    }
}

/// The objects that a number on the stack may stand for, of `all` of its kind: the first, and how many.
fn objects(number: &Abstract, all: usize) -> (u32, u32) {
    match (number, number.get()) {
        (_, Ok(number)) => (number.int() as u32, 1),
        (&Abstract::Object { base, count, .. }, _) => (base, count),
        _ => (0, all as u32),
    }
}
