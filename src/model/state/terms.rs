//! The parts of a state as terms, in which the indices of symmetric processes can be seen.
//!
//! A term says what the portrait says of the same object or process ([`super::portrait`]): each
//! number there is a word here, or names processes, objects or values, and is then resolved. So
//! equal terms are equal parts, and a renamed term is the part of the renamed state. What a
//! portrait lists in an order that depends on the numbers of processes is a bag here: the readers
//! of one turn at a reader-writer lock, the senders of messages at a p2p mailbox.
//!
//! A carrier of the network belongs to the process for which it was started. It is part of the
//! term of that process, and is named by it and its number there.

use super::State;
use super::portrait::is_in_queue;
use crate::model::op::*;
use crate::model::{
    Completion, Delivery, End, Envelope, IndexKind, LocalId, Locals, Object, Op, Posted, ProcessId,
    Sent, Settlement, Status, Symmetry, System, Term, Value, ValueId, Values,
};

/// What terms are made with.
pub struct Describer<'d, 's, S: System> {
    /// The state.
    pub state: &'d State,
    /// The local states.
    pub locals: &'d mut Locals<'s, S>,
    /// What is known of the symmetry of the system.
    pub symmetry: &'d dyn Symmetry<S::Local>,
    /// Numbers values.
    pub pool: &'d mut Values,
}

/// Kinds of objects of which there are terms. A system with others has no symmetry.
pub fn has_term(object: Object) -> bool {
    !matches!(object, Object::Condvar(_) | Object::Collective(_))
}

/// Says that something is missing.
const NONE: Term = Term::Word(u32::MAX);

impl<S: System> Describer<'_, '_, S> {
    /// The term of an object.
    ///
    /// # Panics
    /// If it is of a kind without terms ([`has_term`]).
    pub fn object(&mut self, object: Object) -> Term {
        match object {
            Object::Cell(cell) => self.value(self.state.content(cell), Object::Cell(cell)),
            Object::Mailbox(mailbox) => match self.state.network.delivery(mailbox) {
                Delivery::Ordered => self.waiting(mailbox),
                delivery => self.on_the_way(mailbox, delivery),
            },
            Object::Mutex(mutex) => {
                let queue = self.state.mutex(mutex).queue();
                Term::row(queue.map(|process| self.process_name(process)))
            }
            Object::RwLock(lock) => self.turns(lock),
            Object::Semaphore(semaphore) => {
                let semaphore = self.state.semaphore(semaphore);
                let granted = semaphore.initial as usize + semaphore.releases.len();
                match granted.checked_sub(semaphore.requests.len()) {
                    Some(free) => Term::Word(free as u32),
                    None => Term::row(
                        semaphore.requests[granted..].iter().map(|&one| self.process_name(one)),
                    ),
                }
            }
            Object::Barrier(barrier) => {
                let rounds = self.state.barrier(barrier).rounds.iter();
                Term::row(rounds.map(|arrived| Term::Word(arrived.len() as u32)))
            }
            Object::Latch(latch) => Term::Word(self.state.latch(latch).counted.len() as u32),
            Object::Condvar(_) | Object::Collective(_) => {
                panic!("{object:?} in a system that is taken to be symmetric")
            }
        }
    }

    /// The term of a process, with its carriers.
    pub fn process(&mut self, process: ProcessId) -> Term {
        let state = self.state;
        let local = state.local(process);
        if local == LocalId::ABSENT {
            return NONE;
        }
        let canonical = self.locals.canonical(local);
        let (canonical, requests) = (canonical.local, canonical.requests.clone());
        let own = self.symmetry.local(self.locals.get(canonical), self.pool);
        let own = own.unwrap_or(Term::row([NONE, Term::Word(canonical.0)]));
        let requests: Vec<Posted> = match requests {
            Some(listed) => {
                let listed = listed.iter().map(|&handle| state.posted(process, handle));
                listed.filter(|posted| !is_in_queue(posted)).collect()
            }
            None => state.processes[process.index()].posted.clone(),
        };
        let went = Term::row(requests.into_iter().map(|posted| self.how_it_went(posted)));
        let misses = self.misses(process);
        let carriers = state.processes[process.index()].carriers.iter();
        let seen = carriers.map(|&carrier| match state.exists(carrier) {
            true => Term::Word(u32::from(state.is_seen(state.carried(carrier)))),
            false => NONE,
        });
        Term::row([own, went, misses, Term::row(seen)])
    }

    /// The recent missed polls of the process. Requests are named as in the present local state.
    fn misses(&mut self, process: ProcessId) -> Term {
        let state = self.state;
        let missed = state.recent_missed_polls(process).iter().map(|&before| {
            let status = self.locals.shared_status(before);
            match &*status {
                Status::At(Op::TestAny(comms)) => Term::row(comms.iter().map(|&comm| {
                    let posted = state.posted(process, comm);
                    self.name_of(process, posted)
                })),
                Status::At(Op::Probe { mailbox, pattern, .. }) => {
                    let name = self.object_name(Object::Mailbox(*mailbox), mailbox.0);
                    Term::row([NONE, name, self.envelope(*pattern, *mailbox)])
                }
                _ => {
                    let canonical = self.locals.canonical(before).local;
                    let local = self.symmetry.local(self.locals.get(canonical), self.pool);
                    Term::row([NONE, local.unwrap_or(Term::Word(canonical.0))])
                }
            }
        });
        let missed: Vec<Term> = missed.collect();
        Term::row(missed)
    }

    /// A process as others name it.
    fn process_name(&self, process: ProcessId) -> Term {
        match self.symmetry.process(process) {
            Some(member) => {
                Term::row([Term::Word(self.symmetry.family_of(process)), Term::Member(member)])
            }
            None => Term::Word(process.0),
        }
    }

    fn object_name(&self, object: Object, number: u32) -> Term {
        match self.symmetry.object(object) {
            Some(member) => {
                Term::row([Term::Word(self.symmetry.array_of(object)), Term::Member(member)])
            }
            None => Term::Word(number),
        }
    }

    /// A value that this object holds or carries.
    fn value(&mut self, value: ValueId, object: Object) -> Term {
        let [kind, ..] = self.symmetry.carried(object);
        let value = self.locals.values.get(value).clone();
        Term::of(&value, kind, self.symmetry.groups(), self.pool)
    }

    fn envelope(&mut self, Envelope { src, tag }: Envelope, mailbox: MailboxId) -> Term {
        let [_, of_src, of_tag] = self.symmetry.carried(Object::Mailbox(mailbox));
        let mut part = |number: Option<i64>, kind: &IndexKind| {
            let Some(number) = number else { return NONE };
            Term::of(&Value::Int(number), kind, self.symmetry.groups(), self.pool)
        };
        Term::row([part(src, of_src), part(tag, of_tag)])
    }

    fn name_of(&mut self, owner: ProcessId, request: Posted) -> Term {
        Term::Word(self.state.name_of(self.locals, owner, request))
    }

    /// An ordered mailbox: its unpaired posts.
    fn waiting(&mut self, mailbox: MailboxId) -> Term {
        let state = self.state;
        Term::row([End::Send, End::Receive].map(|end| {
            Term::row(state.mailbox(mailbox).unpaired(end).map(|position| {
                let post = &state.mailbox(mailbox).posts(end)[position as usize];
                let name = self.name_of(post.process, Posted::At(mailbox, end, position));
                let value = match end {
                    End::Send => self.value(post.value, Object::Mailbox(mailbox)),
                    End::Receive => NONE,
                };
                let envelope = self.envelope(post.envelope, mailbox);
                Term::row([self.process_name(post.process), name, value, envelope])
            }))
        }))
    }

    /// A p2p or bag mailbox: its reader, the unmatched messages, the open receives, and
    /// the messages that are reserved.
    fn on_the_way(&mut self, mailbox: MailboxId, delivery: Delivery) -> Term {
        let state = self.state;
        let ends = state.network.ends(mailbox);
        let reader = ends.reader().map_or(NONE, |reader| self.process_name(reader));
        let mut senders: Vec<(ProcessId, Vec<Term>)> = Vec::new();
        for &send in &ends.sends {
            let sent: &Sent = &state.network.sends()[send as usize];
            if sent.receive().is_some() {
                continue;
            }
            let name = match sent.completion {
                Completion::Early => NONE,
                _ => self.name_of(sent.process, Posted::Sent(send)),
            };
            let value = self.value(sent.value, Object::Mailbox(mailbox));
            let one = Term::row([name, value, self.envelope(sent.envelope, mailbox)]);
            match senders.iter_mut().find(|(process, _)| *process == sent.process) {
                Some((_, all)) => all.push(one),
                None => senders.push((sent.process, vec![one])),
            }
        }
        let is_bag = delivery == Delivery::Bag;
        let senders = senders.into_iter().map(|(process, all)| {
            let all = if is_bag { Term::bag(all) } else { Term::row(all) };
            Term::row([self.process_name(process), all])
        });
        let senders = Term::bag(senders.collect::<Vec<_>>());
        let open = ends.receives.iter().filter(|&&receive| {
            let receive = &state.network.receives()[receive as usize];
            receive.is_open()
        });
        let receives = Term::row(open.map(|&at| {
            let open = &state.network.receives()[at as usize];
            let name = self.name_of(open.process, Posted::Receive(at));
            let is_unwanted = Term::Word(u32::from(open.cancelled_at().is_some()));
            let carrier = self.carrier_name(open.process, open.carrier);
            let pattern = self.envelope(open.pattern, mailbox);
            Term::row([is_unwanted, self.process_name(open.process), name, carrier, pattern])
        }));
        let reserved = Term::row(state.network.reserved(mailbox).map(|send| {
            let sent = &state.network.sends()[send as usize];
            let receive = sent.receive().expect("a receive that has not begun");
            let taker = state.network.receives()[receive as usize].process;
            let name = self.name_of(sent.process, Posted::Sent(send));
            let own = self.name_of(taker, Posted::Receive(receive));
            Term::row([self.process_name(sent.process), name, self.process_name(taker), own])
        }));
        Term::row([reader, senders, receives, reserved])
    }

    /// A carrier, as its number among those of its process.
    fn carrier_name(&self, process: ProcessId, carrier: ProcessId) -> Term {
        let mut carriers = self.state.processes[process.index()].carriers.iter();
        Term::Word(carriers.position(|&one| one == carrier).map_or(u32::MAX, |at| at as u32))
    }

    /// A reader-writer lock: the readers of one turn are in no order.
    fn turns(&mut self, lock: RwLockId) -> Term {
        let (mut turns, mut readers) = (Vec::new(), Vec::new());
        for request in self.state.rwlock(lock).queue() {
            let process = self.process_name(request.process);
            match request.hold {
                Hold::Shared => readers.push(process),
                Hold::Exclusive => {
                    turns.push(Term::bag(std::mem::take(&mut readers)));
                    turns.push(process);
                }
            }
        }
        turns.push(Term::bag(readers));
        Term::row(turns)
    }

    /// The result of a request so far.
    fn how_it_went(&mut self, posted: Posted) -> Term {
        let state = self.state;
        let was_told = Term::Word(u32::from(state.told_at(posted).is_some()));
        let word = |is_so: bool| Term::Word(u32::from(is_so));
        match posted {
            Posted::At(mailbox, end, position) => {
                let post = &state.mailbox(mailbox).posts(end)[position as usize];
                let value = post.partner().map(|partner| match end {
                    End::Receive => {
                        let sent = state.mailbox(mailbox).sends[partner as usize].value;
                        self.value(sent, Object::Mailbox(mailbox))
                    }
                    End::Send => Term::Word(0),
                });
                let name = self.object_name(Object::Mailbox(mailbox), mailbox.0);
                Term::row([Term::Word(end as u32), name, Term::row(value)])
            }
            Posted::Sent(send) => {
                let sent = &state.network.sends()[send as usize];
                let is_begun = state.network.begun_at(sent).is_some();
                let is_complete = sent.completion != Completion::Late || is_begun;
                let name = self.object_name(Object::Mailbox(sent.mailbox), sent.mailbox.0);
                Term::row([Term::Word(2), name, word(is_complete), was_told])
            }
            Posted::Receive(receive) => {
                let receive = &state.network.receives()[receive as usize];
                let mailbox = Object::Mailbox(receive.mailbox);
                let value = match receive.outcome() {
                    Settlement::Open => Term::row([]),
                    Settlement::Dropped => NONE,
                    Settlement::Matched(send) => {
                        let value = state.network.sends()[send as usize].value;
                        Term::row([self.value(value, mailbox)])
                    }
                };
                let name = self.object_name(mailbox, receive.mailbox.0);
                Term::row([Term::Word(3), name, value, was_told])
            }
            Posted::Mutex(mutex, request) => {
                let is_over = state.mutex(mutex).released_at(request).is_some();
                let name = self.object_name(Object::Mutex(mutex), mutex.0);
                Term::row([Term::Word(4), name, word(is_over)])
            }
            Posted::RwLock(lock, request) => {
                let is_over = state.rwlock(lock).requests()[request as usize].is_over;
                let name = self.object_name(Object::RwLock(lock), lock.0);
                Term::row([Term::Word(5), name, word(is_over)])
            }
            Posted::Semaphore(semaphore, request) => {
                let is_granted = state.semaphore(semaphore).is_granted(request);
                let name = self.object_name(Object::Semaphore(semaphore), semaphore.0);
                Term::row([Term::Word(6), name, word(is_granted)])
            }
            Posted::Entry(_) | Posted::Enrolment(..) | Posted::Notification(..) => {
                panic!("{posted:?} in a system that is taken to be symmetric")
            }
        }
    }
}
