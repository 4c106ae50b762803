//! The result of a step, in words.

use super::Replay;
use crate::model::{
    Access, Choice, CollectiveId, CollectiveKind, Completion, CondvarId, End, Envelope, Handle,
    Hold, MutexId, Op, Posted, Probing, ProcessId, Request, Response, RwLock, RwLockId,
    SemaphoreId, Settlement, System, ValueId,
};

impl<S: System> Replay<'_, S> {
    /// The result of an operation that `process` has just carried out, in words.
    pub(super) fn outcome(&self, process: ProcessId, op: &Op, choice: Choice) -> Option<String> {
        let state = &self.state;
        let completed = |comms: &[Handle]| self.completed(process, comms[choice.0 as usize]);
        let owned = |requests: &[Request]| {
            format!("owns {}", self.locals.name_of(requests[choice.0 as usize].mutex))
        };
        Some(match op {
            Op::Isend { mailbox, envelope, value } => {
                let taker = state.mailbox(*mailbox).sends.last().and_then(|post| post.partner());
                let taker = taker.map_or(String::new(), |receive| {
                    let taker = state.mailbox(*mailbox).receives[receive as usize].process;
                    format!("; pairs with a receive of {}", self.name(taker))
                });
                let (content, name) = (self.content(*value), self.locals.name_of(*mailbox));
                format!("sends{content} to {name}{}{taker}", label(*envelope))
            }
            Op::Irecv { mailbox, .. } => {
                let sender =
                    state.mailbox(*mailbox).receives.last().and_then(|post| post.partner());
                sender.map_or("no message yet".into(), |send| {
                    let sender = state.mailbox(*mailbox).sends[send as usize].process;
                    format!("pairs with a send of {}", self.name(sender))
                })
            }
            Op::Send { mailbox, envelope, value, .. } => {
                let (content, name) = (self.content(*value), self.locals.name_of(*mailbox));
                format!("sends{content} to {name}{}", label(*envelope))
            }
            Op::Receive { mailbox, pattern } => {
                format!("wants a message at {}{}", self.locals.name_of(*mailbox), label(*pattern))
            }
            Op::Enter { collective, .. } => self.entered(*collective),
            Op::Deliver => self.delivered(),
            Op::Probe { form, .. } => self.probed(*form, choice),
            Op::Cancel(_) => "asks for it to be cancelled".into(),
            Op::CancelOutcome(comm) => match self.state.posted(process, *comm) {
                Posted::Receive(receive)
                    if state.network().receives()[receive as usize].outcome()
                        == Settlement::Dropped =>
                {
                    "true: it is cancelled".into()
                }
                _ => "false: it has a message".into(),
            },
            Op::WaitAny(comms) if comms.len() == 1 => completed(comms),
            Op::WaitAny(comms) => format!("returns index {}: {}", choice.0, completed(comms)),
            Op::TestAny(comms) if choice == Choice::NOTHING => {
                if comms.len() == 1 {
                    "false".into()
                } else {
                    "-1: nothing is complete".into()
                }
            }
            Op::TestAny(comms) if comms.len() == 1 => format!("true: {}", completed(comms)),
            Op::TestAny(comms) => format!("returns index {}: {}", choice.0, completed(comms)),
            Op::AsyncLock(mutex) => self.requested(*mutex),
            Op::MutexWaitAny(requests) if requests.len() == 1 => owned(requests),
            Op::MutexTestAny(requests) if choice == Choice::NOTHING && requests.len() == 1 => {
                self.held(requests[0].mutex)
            }
            Op::MutexTestAny(_) if choice == Choice::NOTHING => "-1: owns none of them".into(),
            Op::MutexTestAny(requests) if requests.len() == 1 => {
                format!("true: {}", owned(requests))
            }
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => {
                format!("returns index {}: {}", choice.0, owned(requests))
            }
            Op::TryLock(mutex) => self.tried(process, *mutex),
            Op::Unlock(request) => self.unlocked(process, *request),
            Op::RwRequest { lock, .. } => self.asked(process, *lock),
            Op::RwWait { lock, handle } => {
                let (_, request) = state.rwlock_request(process, *handle);
                format!("holds {} as a {}", self.locals.name_of(*lock), role(request.hold))
            }
            Op::RwUnlock { lock, .. } => format!("releases {}", self.locals.name_of(*lock)),
            Op::Enrol(condvar) => format!("waits at {}", self.locals.name_of(*condvar)),
            Op::AwaitWake { condvar, .. } => {
                format!("was woken at {}", self.locals.name_of(*condvar))
            }
            Op::Notify { condvar, .. } => {
                let waiting = state.condvar(*condvar).waiting().count();
                let name = self.locals.name_of(*condvar);
                match waiting {
                    0 => format!("notifies {name}, where nobody waits"),
                    n => {
                        format!("notifies {name}, where {n} wait{}", if n == 1 { "s" } else { "" })
                    }
                }
            }
            Op::Wake { condvar, handle } => {
                let position = state.notification(process, *handle);
                self.woken(*condvar, position)
            }
            Op::AsyncAcquire(semaphore) => {
                let name = self.locals.name_of(*semaphore);
                let position = state.semaphore(*semaphore).requests.len() as u32 - 1;
                if state.semaphore(*semaphore).is_granted(position) {
                    format!("is granted a unit of {name}")
                } else {
                    format!("queues for a unit of {name}")
                }
            }
            Op::AcquireWait { semaphore, .. } => {
                format!("has a unit of {}", self.locals.name_of(*semaphore))
            }
            Op::Release(semaphore) => self.released(*semaphore),
            Op::Arrive { barrier, round } => {
                let (name, barrier) = (self.locals.name_of(*barrier), state.barrier(*barrier));
                let arrived = barrier.arrived(*round).len();
                format!("{arrived} of {} have arrived at {name}", barrier.size)
            }
            Op::BarrierWait { barrier, .. } => {
                format!("passes {}", self.locals.name_of(*barrier))
            }
            Op::Choose { lo, .. } => format!("chooses {}", lo + i64::from(choice.0)),
            Op::Spawn(_) => {
                let child = state.just_spawned(&self.locals).next().expect("a spawned child");
                format!("starts {}", self.name(child))
            }
            Op::Join(target) => {
                let returned = self.locals.returned(state.local(*target));
                let with = returned.map(|value| format!(" with {}", self.locals.values.get(value)));
                format!("{} has ended{}", self.name(*target), with.unwrap_or_default())
            }
            Op::Handle { .. } => self.handled(process),
            Op::Local => return None,
            Op::Access(..) => unreachable!("accesses are told by what they did to the cell"),
        })
    }

    /// What the handler that `process` has just run has sent and started.
    fn handled(&self, process: ProcessId) -> String {
        let position = Some(self.state.depth() - 1);
        let log = self.state.inboxes().log();
        let sent = log.iter().rev().take_while(|message| message.creator() == position);
        let mut told: Vec<_> = sent
            .map(|message| {
                format!("sends {} to {}", self.value(message.content), self.name(message.to))
            })
            .collect();
        let started = self.state.just_spawned(&self.locals).collect::<Vec<_>>();
        told.extend(started.iter().rev().map(|&child| format!("starts {}", self.name(child))));
        told.reverse();
        if self.has_failed(process) {
            told.push("fails".into());
        }
        told.join("; ")
    }

    /// `" 3"`, or nothing for unit.
    fn content(&self, value: ValueId) -> String {
        if value == ValueId::UNIT { String::new() } else { format!(" {}", self.value(value)) }
    }

    /// How many have entered a collective in the round that has just been entered.
    fn entered(&self, collective: CollectiveId) -> String {
        let all = self.state.collectives();
        let round = all.entries().last().expect("it was just entered").round;
        let (size, entered) =
            (all.get(collective).size, all.get(collective).entries(round).count());
        format!("{entered} of {size} have entered {}", self.locals.name_of(collective))
    }

    /// What the network has just matched.
    fn delivered(&self) -> String {
        let network = self.state.network();
        let receive = match self.state.carried_at(self.state.depth() - 1) {
            Posted::Receive(receive) => receive,
            Posted::Entry(_) => return "all that it needs have entered".into(),
            other => panic!("nobody carries {other:?}"),
        };
        match network.receives()[receive as usize].outcome() {
            Settlement::Matched(send) => self.given(send),
            _ => "is cancelled".into(),
        }
    }

    /// `"gets 3 of Sender"`.
    fn given(&self, send: u32) -> String {
        let sent = &self.state.network().sends()[send as usize];
        let what = match sent.value {
            ValueId::UNIT => "the message".into(),
            value => self.value(value),
        };
        format!("gets {what} of {}{}", self.name(sent.process), label(sent.envelope))
    }

    /// What a probe has just found.
    fn probed(&self, form: Probing, choice: Choice) -> String {
        let Some(send) = self.state.taken(self.state.depth() - 1) else {
            return "false: sees no message".into();
        };
        debug_assert_ne!(choice, Choice::NOTHING);
        let sent = &self.state.network().sends()[send as usize];
        let who = format!("{}{}", self.name(sent.process), label(sent.envelope));
        match form {
            Probing::Wait => format!("sees a message of {who}"),
            Probing::Test => format!("true: sees a message of {who}"),
            Probing::Take => format!("takes the message of {who}"),
        }
    }

    fn completed(&self, process: ProcessId, comm: Handle) -> String {
        let network = self.state.network();
        match self.state.posted(process, comm) {
            Posted::Receive(receive) => {
                return match network.receives()[receive as usize].outcome() {
                    Settlement::Matched(send) => {
                        let sent = &network.sends()[send as usize];
                        let (value, sender) = (self.content(sent.value), self.name(sent.process));
                        format!("receives{value} from {sender}")
                    }
                    _ => "it was cancelled".into(),
                };
            }
            Posted::Sent(send) => {
                let sent = &network.sends()[send as usize];
                return match sent.receive().filter(|_| sent.completion != Completion::Early) {
                    Some(receive) => {
                        let receiver = network.receives()[receive as usize].process;
                        format!("received by {}", self.name(receiver))
                    }
                    None => "buffered".into(),
                };
            }
            Posted::Entry(entry) => {
                let result = self.state.received(process, comm);
                let entry = &self.state.collectives().entries()[entry as usize];
                let name = self.locals.name_of(entry.collective);
                if entry.call.kind == CollectiveKind::Barrier {
                    return format!("{name} is complete");
                }
                return format!("{name} is complete: {}", self.value(result));
            }
            _ => {}
        }
        let (mailbox, end, _, partner) = self.state.communication(process, comm);
        let partner = partner.expect("a completed communication has a partner") as usize;
        let post = &self.state.mailbox(mailbox).posts(end.opposite())[partner];
        match end {
            End::Receive => {
                format!("receives{} from {}", self.content(post.value), self.name(post.process))
            }
            End::Send => format!("received by {}", self.name(post.process)),
        }
    }

    pub(super) fn accessed(&self, op: &Op, (told, new): (Response, Option<ValueId>)) -> String {
        let Op::Access(cell, access) = op else { unreachable!("{op:?} is no access") };
        let name = self.locals.name_of(*cell);
        let content = self.value(self.state.content(*cell));
        match (access, told) {
            (_, Response::Overflow) => format!("leaves the 64-bit range; {name} stays {content}"),
            (Access::Read, _) => format!("reads {name} = {content}"),
            (Access::Write(_), _) => format!("writes {name} = {content}"),
            (Access::CompareAndSwap { .. }, Response::Value(ValueId::FALSE)) => {
                format!("false: {name} is {content}")
            }
            (Access::CompareAndSwap { .. }, _) => format!("true: {name} = {content}"),
            (Access::FetchAdd(_) | Access::Swap(_), Response::Value(old)) if new.is_some() => {
                format!("{name} goes from {} to {content}", self.value(old))
            }
            (Access::FetchAdd(_) | Access::Swap(_), _) => format!("{name} stays {content}"),
        }
    }

    fn requested(&self, mutex: MutexId) -> String {
        let name = self.locals.name_of(mutex);
        let queue: Vec<_> = self.state.mutex(mutex).queue().collect();
        match queue.as_slice() {
            [_] => format!("gets {name}"),
            [owner, .., _] => format!("queues for {name}, held by {}", self.name(*owner)),
            [] => unreachable!("a request was just made"),
        }
    }

    /// What came of the request of a `read_lock` or `write_lock`.
    fn asked(&self, process: ProcessId, lock: RwLockId) -> String {
        let (name, lock) = (self.locals.name_of(lock), self.state.rwlock(lock));
        let own = lock.requests().last().expect("a request was just made");
        if lock.is_granted(own) {
            return format!("gets {name} as a {}", role(own.hold));
        }
        let holders = self.holders(lock, process);
        format!("queues for {name} as a {}, held by {}", role(own.hold), holders.join(", "))
    }

    /// Those but this one who hold the lock, by name.
    pub(super) fn holders(&self, lock: &RwLock, but: ProcessId) -> Vec<&str> {
        let others = lock.queue().filter(|request| request.process != but);
        let granted = others.filter(|request| lock.is_granted(request));
        granted.map(|request| self.name(request.process)).collect()
    }

    /// Whom a notification has woken.
    fn woken(&self, condvar: CondvarId, notification: u32) -> String {
        let all = self.state.condvar(condvar).enrolments().iter();
        let woken = all.filter(|one| one.woken_by() == Some(notification));
        let names: Vec<_> = woken.map(|one| self.name(one.process)).collect();
        match names.is_empty() {
            true => "wakes nobody".into(),
            false => format!("wakes {}", names.join(", ")),
        }
    }

    /// What came of a `try_lock`.
    fn tried(&self, process: ProcessId, mutex: MutexId) -> String {
        match self.state.mutex(mutex).queue().next() == Some(process) {
            true => format!("true: owns {}", self.locals.name_of(mutex)),
            false => self.held(mutex),
        }
    }

    fn held(&self, mutex: MutexId) -> String {
        let owner = self.state.mutex(mutex).queue().next().expect("another owner");
        format!("false: {} is held by {}", self.locals.name_of(mutex), self.name(owner))
    }

    fn unlocked(&self, process: ProcessId, request: Request) -> String {
        let name = self.locals.name_of(request.mutex);
        if !self.state.owns(process, request) {
            return format!("takes back its request for {name}");
        }
        match self.state.mutex(request.mutex).queue().next() {
            Some(next) => format!("releases {name}, now held by {}", self.name(next)),
            None => format!("releases {name}"),
        }
    }

    fn released(&self, semaphore: SemaphoreId) -> String {
        let name = self.locals.name_of(semaphore);
        let semaphore = self.state.semaphore(semaphore);
        let granted = semaphore.initial as usize + semaphore.releases.len() - 1;
        match semaphore.requests.get(granted) {
            Some(&next) => format!("releases a unit of {name} to {}", self.name(next)),
            None => format!("releases a unit of {name}"),
        }
    }
}

/// How a process holds a reader-writer lock, in a word.
pub(super) fn role(hold: Hold) -> &'static str {
    match hold {
        Hold::Shared => "reader",
        Hold::Exclusive => "writer",
    }
}

/// `" with tag 3 from source 1"`, for the parts that an envelope or a pattern has.
pub(super) fn label(envelope: Envelope) -> String {
    let tag = envelope.tag.map_or(String::new(), |tag| format!(" with tag {tag}"));
    let src = envelope.src.map_or(String::new(), |src| format!(" from source {src}"));
    tag + &src
}
