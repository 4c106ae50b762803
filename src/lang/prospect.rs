//! What a process may still do: its code, run ahead with what it knows.
//!
//! From a local state the instructions are followed with *abstract* values: a known value, one of some neighbouring
//! objects, or any value. What comes from outside the process (a message, the content of a cell, a choice) is any
//! value; what is computed from known values is known. A known condition decides a branch; at any other condition both
//! ways are followed. So for `if i == 0 { .. } else { .. }` each instance of a family is followed on its own
//! side only, and in `for k in 0..3 { send(m[k], ..) }` the mailboxes are known.
//!
//! **Sound.** Every execution of the process is followed, and perhaps others. An abstract stack stands for all stacks
//! with its known values in their places. Each instruction maps these stacks to stacks that its result stands for. A
//! stack that was met before, or is covered by one that was, need not be followed again. What a spawned process does
//! also counts: it is followed from its start.
//!
//! **It ends.** At each place where paths meet (a visible operation, a jump backwards, a branch that is followed both
//! ways) at most [`MOST_STACKS`] stacks are kept apart. Further ones are joined into one; where they differ, it has any
//! value. A join can lose a known value at most once for each place of the stack. If it still takes too long, nothing is
//! claimed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Code, Instr, Visible, indices_in};
use super::interpret::{self, Machine, World};
use super::operators;
use crate::model::{
    BarrierId, CellId, CollectiveId, CondvarId, Delivery, End, Guess, Hold, MailboxId, MutexId,
    Point, Reach, RwLockId, SemaphoreId, Touch, Value,
};

/// The most stacks that are kept apart at one instruction.
const MOST_STACKS: usize = 64;
/// The most instructions and compared values. More take too long.
const MOST_STEPS: usize = 20_000;
/// The most local steps that a function may take.
const MOST_STEPS_OF_CALL: u32 = 1_000;

/// What a process at `pc` with this stack may still touch; `None` if that is too much work.
pub fn reach(code: &Code, pc: u32, stack: &[Value], index: i64) -> Option<Reach> {
    let stack = stack.iter().cloned().map(known).collect();
    let mut walk = Walk {
        code,
        reach: Reach::default(),
        pending: vec![(pc, stack)],
        met: FxHashMap::default(),
        steps: 0,
        index: Some(index),
    };
    while let Some((pc, stack)) = walk.pending.pop() {
        walk.follow(pc, stack)?;
    }
    Some(walk.reach)
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
    let mut stack = vec![Value::Unit; depth];
    if let (Some(index), Some(lowest)) = (index, stack.first_mut()) {
        *lowest = Value::Int(index);
    }
    if let (Some(object), Some(first)) = (point.object, stack.get_mut(depth - arity)) {
        *first = Value::Int(object);
    }
    reach(code, point.instruction, &stack, point.instance)
}

/// What is known about a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Abstract {
    Known(Value),
    /// The number of one of these objects.
    Object {
        base: u32,
        count: u32,
    },
    Any,
}

type Stack = Vec<Abstract>;

/// How much work it is to compare it, roughly: lists may be long.
fn size(value: &Abstract) -> usize {
    let Abstract::Known(known) = value else { return 1 };
    let (mut size, mut value) = (1_usize, known);
    while let Value::List(items) = value {
        let Some(first) = items.front() else { break };
        (size, value) = (size.saturating_mul(items.len()), first);
    }
    size
}

/// Unit is also the value of matches that match nothing. There it stands for a value of any type.
fn known(value: Value) -> Abstract {
    if value == Value::Unit { Abstract::Any } else { Abstract::Known(value) }
}

/// Replaces the parts of `into` in which `other` differs by any value. Did that change it?
fn join(into: &mut Stack, other: &Stack) -> bool {
    debug_assert_eq!(into.len(), other.len(), "the stack is as deep whichever way one comes");
    let mut has_changed = false;
    for (mine, theirs) in into.iter_mut().zip(other) {
        if *mine != Abstract::Any && mine != theirs {
            *mine = Abstract::Any;
            has_changed = true;
        }
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
    fn add(&mut self, stack: Stack) -> Option<Stack> {
        if self.apart.contains(&stack) {
            return None;
        }
        if self.apart.len() < MOST_STACKS {
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

struct Walk<'c> {
    code: &'c Code,
    reach: Reach,
    pending: Vec<(u32, Stack)>,
    met: FxHashMap<u32, Met>,
    steps: usize,
    /// The index of the process, unless others that it spawns are followed, too.
    index: Option<i64>,
}

/// The world of code that is only computed.
struct Nobody;

impl World for Nobody {}

impl Walk<'_> {
    /// Follows the instructions from `pc` to where paths meet; `None` if that is too far.
    fn follow(&mut self, pc: u32, mut stack: Stack) -> Option<()> {
        let mut at = pc;
        loop {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return None;
            }
            if at != pc && self.is_meeting(at, &stack) {
                self.arrive(at, stack);
                return Some(());
            }
            let code = self.code;
            let instr = &code.instrs[at as usize];
            let (depth, (takes, leaves)) = (stack.len(), code.effect(instr));
            at = match instr {
                Instr::End | Instr::Handle(_) => return Some(()),
                Instr::Jump(to) => *to,
                // The first instruction of a loop may be this one; then the paths meet here.
                Instr::Loop(to) => {
                    self.arrive(*to, stack);
                    return Some(());
                }
                Instr::JumpIfFalse(to) => match stack.pop() {
                    Some(Abstract::Known(Value::Bool(false))) => *to,
                    Some(Abstract::Known(_)) => at + 1,
                    _ => {
                        self.arrive(*to, stack.clone());
                        self.arrive(at + 1, stack);
                        return Some(());
                    }
                },
                Instr::Visible(visible) => {
                    let args = stack.split_off(stack.len() - takes);
                    self.act(*visible, args);
                    stack.push(Abstract::Any);
                    at + 1
                }
                instr => match self.compute(at, instr, &mut stack) {
                    Ok(()) => at + 1,
                    // The process fails there.
                    Err(Fails) => return Some(()),
                },
            };
            debug_assert_eq!(stack.len() + takes, depth + leaves, "{instr:?}");
        }
    }

    fn is_meeting(&self, at: u32, stack: &Stack) -> bool {
        match &self.code.instrs[at as usize] {
            Instr::Visible(_) => true,
            Instr::JumpIfFalse(_) => !matches!(stack.last(), Some(Abstract::Known(_))),
            _ => false,
        }
    }

    /// Notes the stack, and that it is to be followed if it is new.
    fn arrive(&mut self, at: u32, stack: Stack) {
        let work = stack.iter().map(size).fold(0, usize::saturating_add);
        self.steps = self.steps.saturating_add(work);
        if let Some(stack) = self.met.entry(at).or_default().add(stack) {
            self.pending.push((at, stack));
        }
    }

    /// Notes what an operation touches, and follows the process that it starts.
    fn act(&mut self, visible: Visible, args: Stack) {
        let (object, all) = (args.first(), &self.code.objects);
        let mut add = |all: usize, touches: &[fn(u32) -> Touch]| {
            let (base, count) = objects(object, all);
            touches.iter().for_each(|touch| self.reach.add(touch(base), count));
        };
        match visible {
            Visible::Isend { src, tag, .. } => self.post(End::Send, &args, (src, tag), 2),
            Visible::Probe { src, tag, .. } => self.post(End::Receive, &args, (src, tag), 1),
            Visible::Enter { .. } => {
                add(all.collectives.len(), &[|id| Touch::Ending(CollectiveId(id))]);
            }
            Visible::Irecv { src, tag } => self.post(End::Receive, &args, (src, tag), 1),
            Visible::AsyncLock => add(
                all.mutexes.len(),
                &[|id| Touch::Lock(MutexId(id)), |id| Touch::Queue(MutexId(id))],
            ),
            Visible::TryLock => add(
                all.mutexes.len(),
                &[|id| Touch::Try(MutexId(id)), |id| Touch::Queue(MutexId(id))],
            ),
            Visible::Unlock => add(
                all.mutexes.len(),
                &[
                    |id| Touch::Unlock(MutexId(id)),
                    |id| Touch::Cancel(MutexId(id)),
                    |id| Touch::Queue(MutexId(id)),
                ],
            ),
            Visible::MutexTest => add(all.mutexes.len(), &[|id| Touch::AwaitUnlock(MutexId(id))]),
            // Of a list: whichever they are.
            Visible::MutexTestAny => {
                self.reach.add(Touch::AwaitUnlock(MutexId(0)), all.mutexes.len() as u32);
            }
            Visible::ReadRequest => {
                add(all.rwlocks.len(), &[|id| Touch::RwRequest(RwLockId(id), Hold::Shared)])
            }
            Visible::WriteRequest => {
                add(all.rwlocks.len(), &[|id| Touch::RwRequest(RwLockId(id), Hold::Exclusive)])
            }
            Visible::RwUnlock => add(all.rwlocks.len(), &[|id| Touch::RwUnlock(RwLockId(id))]),
            Visible::Enrol => add(all.condvars.len(), &[|id| Touch::Enrol(CondvarId(id))]),
            Visible::NotifyOne | Visible::NotifyAll => {
                add(all.condvars.len(), &[|id| Touch::Notify(CondvarId(id))]);
            }
            Visible::AsyncAcquire => {
                add(all.semaphores.len(), &[|id| Touch::Acquire(SemaphoreId(id))]);
            }
            Visible::Release => add(all.semaphores.len(), &[|id| Touch::Release(SemaphoreId(id))]),
            Visible::Arrive => add(all.barriers.len(), &[|id| Touch::Arrive(BarrierId(id))]),
            Visible::Read => add(all.cells.len(), &[|id| Touch::Read(CellId(id))]),
            Visible::Write => add(all.cells.len(), &[|id| Touch::Write(CellId(id))]),
            Visible::CompareAndSwap | Visible::FetchAdd | Visible::Swap => {
                add(
                    all.cells.len(),
                    &[|id| Touch::Read(CellId(id)), |id| Touch::Write(CellId(id))],
                );
            }
            Visible::Spawn { process, .. } => {
                self.index = None;
                self.arrive(self.code.processes[process as usize], args);
            }
            // Of a receive, which is a value: wherever it was posted, later receives may be matched sooner.
            Visible::Cancel => {
                self.reach.add(Touch::Match(MailboxId(0)), all.mailboxes.len() as u32);
            }
            Visible::CancelOutcome
            | Visible::Wait
            | Visible::Test
            | Visible::WaitAny
            | Visible::TestAny
            | Visible::MutexWait
            | Visible::MutexWaitAny
            | Visible::RwWait
            | Visible::Stray { .. }
            | Visible::AwaitWake
            | Visible::Wake
            | Visible::AcquireWait
            | Visible::BarrierWait
            | Visible::Choose
            | Visible::Local
            | Visible::Join => {}
        }
    }

    fn post(&mut self, end: End, args: &[Abstract], (src, tag): (bool, bool), labels: usize) {
        let mut labels = args[labels..].iter();
        let mut guess = |is_there: bool| match is_there.then(|| labels.next()).flatten() {
            None => Guess::Exactly(None),
            Some(Abstract::Known(number)) => Guess::Exactly(Some(number.int())),
            Some(_) => Guess::Some,
        };
        let (mut src, mut tag) = (guess(src), guess(tag));
        let (base, count) = objects(args.first(), self.code.objects.mailboxes.len());
        if (base..base + count)
            .any(|id| *self.code.objects.mailboxes.start(id) != Delivery::Ordered)
        {
            // There a send without a source has that of its process, and one without a tag has the tag 0.
            if end == End::Send {
                let own = self.index.map_or(Guess::Some, |index| Guess::Exactly(Some(index)));
                src = if src == Guess::Exactly(None) { own } else { src };
                tag = if tag == Guess::Exactly(None) { Guess::Exactly(Some(0)) } else { tag };
            }
            self.reach.add(
                match end {
                    End::Send => Touch::Send(MailboxId(base)),
                    End::Receive => Touch::Match(MailboxId(base)),
                },
                count,
            );
        }
        self.reach.add_posts(MailboxId(base), count, end, (src, tag));
    }

    /// Carries out an instruction that only computes.
    fn compute(&self, at: u32, instr: &Instr, stack: &mut Stack) -> Result<(), Fails> {
        let (takes, _) = self.code.effect(instr);
        match *instr {
            Instr::Const(at) => stack.push(known(self.code.constants[at as usize].clone())),
            Instr::Get(slot) => stack.push(stack[slot as usize].clone()),
            Instr::Set(slot) => stack[slot as usize] = stack.pop().expect("a value to set"),
            Instr::GetPart(slot, ref steps) => {
                let indices = all_known(&stack[stack.len() - indices_in(steps)..]);
                let part = match (&stack[slot as usize], indices) {
                    (Abstract::Known(whole), Some(indices)) => {
                        known(interpret::part(whole, steps, &indices)?.clone())
                    }
                    _ => Abstract::Any,
                };
                stack.push(part);
            }
            Instr::SetPart(slot, ref steps) => {
                let value = taken(stack, 1);
                let indices = taken(stack, indices_in(steps));
                let whole = &mut stack[slot as usize];
                match (&mut *whole, indices, value.and_then(|mut value| value.pop())) {
                    (Abstract::Known(whole), Some(indices), Some(value)) => {
                        let mut indices = indices.iter().map(Value::int);
                        interpret::replace(whole, steps, &mut indices, value)?;
                    }
                    _ => *whole = Abstract::Any,
                }
            }
            Instr::Project(slot, ref path) => {
                let part = match &stack[slot as usize] {
                    Abstract::Known(whole) => {
                        let part = path.iter().fold(whole, |part, &at| operators::field(part, at));
                        known(part.clone())
                    }
                    _ => Abstract::Any,
                };
                stack.push(part);
            }
            Instr::Pop(count) => stack.truncate(stack.len() - count as usize),
            Instr::Squash { keep, drop } => {
                let end = stack.len() - keep as usize;
                stack.drain(end - drop as usize..end);
            }
            Instr::Dup => stack.push(stack.last().expect("a value to copy").clone()),
            Instr::Increment(slot) => {
                if let Abstract::Known(counter) = &mut stack[slot as usize] {
                    *counter = Value::Int(counter.int() + 1);
                }
            }
            Instr::Address { base, count, .. } => {
                let place = match stack.pop() {
                    Some(Abstract::Known(index)) => {
                        let place = operators::place(index.int(), count as usize, "")?;
                        Abstract::Known(Value::Int(i64::from(base) + place as i64))
                    }
                    _ => Abstract::Object { base, count },
                };
                stack.push(place);
            }
            Instr::Enter(_) | Instr::Leave(_) => {}
            Instr::Assert(_) => {
                if stack.pop() == Some(Abstract::Known(Value::Bool(false))) {
                    return Err(Fails);
                }
            }
            Instr::Call(_) => {
                // If it takes too long, or fails, it is not worth following exactly.
                let result = taken(stack, takes)
                    .and_then(|args| self.computed(at, args).ok())
                    .map_or(Abstract::Any, known);
                stack.push(result);
            }
            ref instr => {
                let args = taken(stack, takes);
                stack.push(match args.filter(|_| !asks(instr)) {
                    Some(args) => known(self.computed(at, args)?),
                    None => Abstract::Any,
                });
            }
        }
        Ok(())
    }

    /// What the instruction makes of these operands.
    fn computed(&self, at: u32, operands: Vec<Value>) -> Result<Value, Fails> {
        let mut machine = Machine::new(self.code, Nobody, operands, at);
        match machine.carry_out(MOST_STEPS_OF_CALL) {
            true => Ok(machine.stack.pop().expect("a result")),
            false => Err(Fails),
        }
    }
}

/// The process fails here, and does nothing more.
struct Fails;

impl From<operators::Fault> for Fails {
    fn from(_: operators::Fault) -> Self {
        Fails
    }
}

/// These values, if all are known.
fn all_known(values: &[Abstract]) -> Option<Vec<Value>> {
    let known = values.iter().map(|value| match value {
        Abstract::Known(value) => Some(value.clone()),
        Abstract::Object { .. } | Abstract::Any => None,
    });
    known.collect()
}

/// Removes the topmost values, and returns them if all are known.
fn taken(stack: &mut Stack, count: usize) -> Option<Vec<Value>> {
    all_known(&stack.split_off(stack.len() - count))
}

/// The objects that a number on the stack may stand for, of `all` of its kind: the first, and how many.
fn objects(number: Option<&Abstract>, all: usize) -> (u32, u32) {
    match number {
        Some(Abstract::Known(number)) => (number.int() as u32, 1),
        Some(&Abstract::Object { base, count }) => (base, count),
        Some(Abstract::Any) | None => (0, all as u32),
    }
}

/// Does it depend on more than its operands?
fn asks(instr: &Instr) -> bool {
    use Instr::{Create, Instance, Myself, Peek, Pending, ProcessVar, Received, Send};
    matches!(
        instr,
        Received | Instance(_) | Peek | Pending | ProcessVar { .. } | Send | Create { .. } | Myself
    )
}
