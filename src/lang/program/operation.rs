//! The operations of processes: from the stack to the model, and from their responses back to the
//! stack.
//!
//! The model wants operations to be well-formed. What a program may do wrong (unlock a mutex that
//! it has not requested) is found here, with the help of the books, and becomes a violation.

use crate::lang::books::Books;
use crate::lang::code::{Instr, Visible};
use crate::lang::hir::SendMode;
use crate::lang::objects::{Answer, Caller, number};
use crate::lang::operators;
use crate::lang::program::{Local, Path, Program};
use crate::model::{
    Choice, Completion, Delivery, Envelope, Handle, Incident, MailboxId, Next, Op, Response, Value,
    ValueId, Values,
};

impl Program {
    /// The operation that `local` rests at, or why it is invalid.
    pub(super) fn decode(
        &self,
        visible: Visible,
        local: &Local,
        values: &mut Values,
    ) -> Result<Next<Local>, String> {
        let args = &local.stack[local.stack.len() - visible.arity()..];
        let op = match visible {
            Visible::Isend { src, tag, mode } if self.is_of_network(&args[0]) => Op::Send {
                mailbox: MailboxId(number(&args[0])),
                envelope: {
                    let Envelope { src, tag } = envelope(&args[2..], src, tag);
                    let src = src.unwrap_or_else(|| self.index_of(local));
                    Envelope { src: Some(src), tag: Some(tag.unwrap_or(0)) }
                },
                value: values.intern(args[1].clone()),
                completion: match mode {
                    SendMode::Synchronous => Completion::Late,
                    SendMode::Buffered => Completion::Early,
                    SendMode::Standard => self.code.semantics.buffering.completion(None),
                },
            },
            Visible::Irecv { src, tag } if self.is_of_network(&args[0]) => Op::Receive {
                mailbox: MailboxId(number(&args[0])),
                pattern: envelope(&args[1..], src, tag),
            },
            Visible::Probe { form, src, tag, .. } => Op::Probe {
                mailbox: MailboxId(number(&args[0])),
                pattern: envelope(&args[1..], src, tag),
                form,
            },
            Visible::Cancel => Op::Cancel(self.uncancelled(local, &args[0], "cancels")?),
            Visible::CancelOutcome => Op::CancelOutcome(comm(&args[0])),
            Visible::Enter { .. } => self.enter(visible, local, args, values)?,
            Visible::Isend { src, tag, .. } => Op::Isend {
                mailbox: MailboxId(number(&args[0])),
                envelope: envelope(&args[2..], src, tag),
                value: values.intern(args[1].clone()),
            },
            Visible::Irecv { src, tag } => Op::Irecv {
                mailbox: MailboxId(number(&args[0])),
                pattern: envelope(&args[1..], src, tag),
            },
            Visible::Wait => Op::WaitAny([self.uncancelled(local, &args[0], "waits for")?].into()),
            Visible::Test => Op::TestAny([self.uncancelled(local, &args[0], "tests")?].into()),
            Visible::WaitAny | Visible::TestAny => {
                let (does, op): (_, fn(_) -> _) = match visible {
                    Visible::WaitAny => ("waits for", Op::WaitAny),
                    _ => ("tests", Op::TestAny),
                };
                let comms = operators::items(&args[0]).iter();
                let comms: Result<Box<[Handle]>, String> =
                    comms.map(|comm| self.uncancelled(local, comm, does)).collect();
                let comms = comms?;
                if comms.is_empty() {
                    return Err(format!("{does} one of no communications"));
                }
                op(comms)
            }
            Visible::Act(act, declared) => (act.op)(&mut Caller {
                kind: act.kind,
                args,
                books: &local.books,
                objects: &self.code.objects,
                values,
                declared,
            })?,
            Visible::Choose => choose(args[0].int(), args[1].int())?,
            Visible::ChooseFrom => choose_from(operators::items(&args[0]).len())?,
            Visible::Local => Op::Local,
            Visible::Fault(fault) => Op::Choose { lo: 0, hi: fault.ways(possible(args)) },
            Visible::Spawn { process, .. } => {
                let number = i64::from(local.books.spawned(process)) + 1;
                let path = Path::new(Some(&local.path), (process, number));
                return Ok(Next::Spawn(self.start(path, args.to_vec())));
            }
            Visible::Join => match &args[0] {
                Value::Process(process) => Op::Join(*process),
                other => unreachable!("join of {other:?} in a checked program"),
            },
        };
        Ok(Next::Op(op))
    }

    fn is_of_network(&self, mailbox: &Value) -> bool {
        *self.code.objects.mailboxes.start(number(mailbox)) != Delivery::Ordered
    }

    /// The communication, unless it was cancelled.
    fn uncancelled(&self, local: &Local, value: &Value, does: &str) -> Result<Handle, String> {
        let handle = comm(value);
        match local.books.is_cancelled(handle) {
            true => Err(format!("{does} a receive that it has cancelled")),
            false => Ok(handle),
        }
    }

    /// What happens if `local` is where a fault, or a timeout, is possible and goes on like this.
    pub(super) fn incident(&self, local: &Local, choice: Choice) -> Option<Incident> {
        match *self.instr(local) {
            Instr::Visible(Visible::Fault(fault)) => {
                let args = &local.stack[local.stack.len() - fault.arity()..];
                Some(fault.incident(fault.value(possible(args), i64::from(choice.0))))
            }
            Instr::Visible(Visible::Probe { timed: true, .. }) => {
                (choice == Choice::NOTHING).then_some(Incident::Timeout)
            }
            _ => None,
        }
    }

    /// The element at this place, if `local` is at a choice from a collection.
    pub(super) fn chosen_element(&self, local: &Local, place: i64) -> Option<Value> {
        let Instr::Visible(Visible::ChooseFrom) = self.instr(local) else { return None };
        let items = operators::items(local.stack.last()?);
        items.iter().nth(place as usize).cloned()
    }

    /// The value of a visible operation, given its arguments and the response. Notes it in the
    /// books.
    pub(super) fn value_of(
        &self,
        visible: Visible,
        args: &[Value],
        response: Response,
        values: &Values,
        books: &mut Books,
    ) -> Result<Value, String> {
        if let Visible::Act(act, _) = visible {
            (act.learn)(&mut Answer { kind: act.kind, args, response, books });
            return Ok(act.value(response, values));
        }
        Ok(match response {
            Response::Unit => Value::Unit,
            Response::Posted(handle) => Value::Comm(handle),
            Response::Completed { index, value } => {
                let is_used = visible == Visible::Wait || self.code.remembers_values;
                let value = match values.get(value) {
                    Value::Gathered { .. } if !is_used => Value::Unit,
                    Value::Gathered { call, rank, own, given } => {
                        self.conclude(*call, *rank, own, given)?
                    }
                    other => other.clone(),
                };
                let completed = match (&args[0], visible) {
                    (Value::Comm(handle), _) => Some(*handle),
                    (Value::List(comms), Visible::WaitAny | Visible::TestAny) => {
                        Some(comm(&comms[index as usize]))
                    }
                    _ => None,
                };
                if let Some(handle) = completed.filter(|_| self.code.remembers_values) {
                    books.completed(handle, value.clone());
                }
                match visible {
                    Visible::Wait => value,
                    Visible::Test => Value::Bool(true),
                    _ => Value::Int(i64::from(index)),
                }
            }
            Response::Incomplete => match visible {
                Visible::Test => Value::Bool(false),
                _ => Value::Int(-1),
            },
            Response::Value(value) => {
                if visible == Visible::CancelOutcome && value == ValueId::TRUE {
                    books.cancelled(comm(&args[0]));
                }
                values.get(value).clone()
            }
            Response::Chosen(place) if visible == Visible::ChooseFrom => {
                operators::items(&args[0])[place as usize].clone()
            }
            Response::Chosen(n) => match visible {
                Visible::Fault(fault) => Value::Int(fault.value(possible(args), n)),
                _ => Value::Int(n),
            },
            Response::Spawned(process) => {
                if let Visible::Spawn { process: template, .. } = visible {
                    books.count_spawn(template);
                }
                Value::Process(process)
            }
            Response::Overflow => unreachable!("an overflow is a failure"),
        })
    }
}

/// The faults of a message that are possible, as they stand on the stack.
fn possible(args: &[Value]) -> [bool; 2] {
    let is = |at: usize| args.get(at) == Some(&Value::Bool(true));
    [is(0), is(1)]
}

fn comm(value: &Value) -> Handle {
    match value {
        Value::Comm(handle) => *handle,
        other => unreachable!("{other:?} as a communication in a checked program"),
    }
}

fn envelope(args: &[Value], src: bool, tag: bool) -> Envelope {
    let mut parts = args.iter().map(Value::int);
    Envelope {
        src: if src { parts.next() } else { None },
        tag: if tag { parts.next() } else { None },
    }
}

/// A choice among more values is refused. Each value is explored and remembered as an event, so the
/// search would take too long.
pub(in crate::lang) const MAX_CHOICES: i64 = 10_000;

fn choose(lo: i64, hi: i64) -> Result<Op, String> {
    match hi.checked_sub(lo) {
        Some(1..=MAX_CHOICES) => Ok(Op::Choose { lo, hi }),
        Some(..=0) => Err(format!("chooses from the empty range {lo}..{hi}")),
        _ => Err(format!(
            "chooses from {lo}..{hi}: each value is explored, so a range has at most {MAX_CHOICES} values"
        )),
    }
}

/// A choice of a place among this number of elements.
fn choose_from(count: usize) -> Result<Op, String> {
    match count as i64 {
        0 => Err("chooses from an empty collection".to_owned()),
        hi @ 1..=MAX_CHOICES => Ok(Op::Choose { lo: 0, hi }),
        count => Err(format!(
            "chooses from {count} elements: each is explored, so there are at most {MAX_CHOICES}"
        )),
    }
}
