//! Which actions depend on one another, pair by pair: the table that the library's effects are
//! judged by.
//!
//! It was written before the library had effects, and is an independent formulation: what each
//! operation touched is determined from the states before and after it, and a clause for each pair
//! of operations says when they are dependent.
//!
//! Two actions of one process are dependent. Actions of different processes are dependent only if
//! listed here:
//!
//! | action | and | if |
//! |---|---|---|
//! | isend, irecv | the same | at the same mailbox; an isend and an irecv are independent |
//! | wait, test→true, any→j | isend, irecv | it is the partner that completed the communication |
//! | test→false, any→none | isend, irecv | it is the partner of a communication under test |
//! | send, receive at a p2p or bag mailbox | anything | never; it is a cause of matches |
//! | match, probe→s | send, receive, match | it is the send s, the own receive, or the match of a competitor |
//! | wait, test→true at such a mailbox | match | of its receive, or of its synchronous send |
//! | test→false, probe→none there | anything | never |
//! | async_lock, unlock | the same | of the same mutex; an async_lock and an unlock are independent |
//! | mutex_wait, mutex_test→true | unlock | it is the last one to release a request ahead in the queue |
//! | mutex_test→false | unlock | it makes the tester, who is in the queue, the owner |
//! | try_lock, async_lock, unlock of a mutex that is tried | the same | unless both are a try_lock→false |
//! | write request for a reader-writer lock | a request | of the same lock; two read requests are independent |
//! | wait for a reader-writer lock | unlock | by the writer before it; for a writer also by the readers since then |
//! | notification | notification, enrolment | at the same condition variable; two enrolments are independent |
//! | step that wakes | the same | of the same condition variable |
//! | wait at a condition variable | step that wakes | it woke the process |
//! | async_acquire, release | the same | of the same semaphore; one of each are independent |
//! | acquire_wait | release | it granted the request |
//! | barrier_wait | arrival | of the same round; two arrivals are independent |
//! | wait for a latch | count_down | of the same latch; two counts are independent |
//! | access to a cell | the same | at least one changes the cell |
//! | spawn, join | an event of the process | it is its child, or the process waited for |
//! | handler | an event of an actor | the handler started the actor |
//! | handler | handler | one took a message that the other had sent |
//! | local, choose | anything | never |

use mazurka::model::{
    Action, BarrierId, CellId, Choice, CondvarId, DROPPED, End, Handle, Handled, Hold, LatchId,
    Locals, MailboxId, MutexId, Op, Posted, ProcessId, Request, RwLockId, SemaphoreId, State,
    System,
};

/// What an executed action touched. Positions are indices into the logs of the state.
#[derive(Clone, Debug)]
pub enum Footprint {
    /// isend or irecv.
    Post {
        /// The mailbox.
        mailbox: MailboxId,
        /// The end at which it was posted.
        end: End,
        /// Its index among the posts at that end.
        position: u32,
        /// The opposite post that it was paired with on arrival.
        partner: Option<u32>,
    },
    /// wait, waitany→j, test→true, testany→j.
    Completed {
        /// The mailbox.
        mailbox: MailboxId,
        /// The end at which the partner was posted.
        partner_end: End,
        /// The partner that completed the communication.
        partner: u32,
    },
    /// test→false, testany→none: the communications under test, by mailbox, own end and position.
    Incomplete(Vec<(MailboxId, End, u32)>),
    /// An action at a p2p or bag mailbox, or of the network. It depends on the actions at these
    /// steps of the execution, and on no other earlier ones.
    Network {
        /// Its own step in the execution.
        at: u32,
        /// The steps of all its causes in other processes.
        causes: Vec<u32>,
    },
    /// async_lock.
    Lock(MutexId),
    /// unlock.
    Unlock {
        /// The mutex.
        mutex: MutexId,
        /// Its index among the unlocks of it.
        position: u32,
        /// The request that owns the mutex because of this unlock, if it is in the queue already.
        new_owner: Option<u32>,
    },
    /// mutex_wait, mutex_test→true, and the any-forms.
    Owned {
        /// The mutex owned.
        mutex: MutexId,
        /// The last unlock among the requests ahead of the own one.
        by: Option<u32>,
    },
    /// mutex_test→false: the own requests under test.
    NotOwned(Vec<(MutexId, u32)>),
    /// A request for a mutex that is tried, or a try_lock→true.
    Enqueue(MutexId),
    /// try_lock→false.
    Held(MutexId),
    /// The request of a read_lock or write_lock.
    RwRequest {
        /// The lock.
        lock: RwLockId,
        /// As a reader or a writer.
        hold: Hold,
    },
    /// The wait of a read_lock or write_lock.
    RwOwned {
        /// The lock.
        lock: RwLockId,
        /// The turn of the request.
        turn: u32,
        /// As a reader or a writer.
        hold: Hold,
    },
    /// unlock of a reader-writer lock.
    RwUnlock {
        /// The lock.
        lock: RwLockId,
        /// The turn of the request.
        turn: u32,
        /// As a reader or a writer.
        hold: Hold,
    },
    /// The enrolment of a cond_wait.
    Enrol(CondvarId),
    /// The wait of a cond_wait.
    Woken {
        /// The condition variable.
        condvar: CondvarId,
        /// The notification that woke it.
        by: u32,
    },
    /// The notification of a notify_one or notify_all.
    Notify(CondvarId),
    /// The step of it that wakes.
    Wake {
        /// The condition variable.
        condvar: CondvarId,
        /// Its index among the notifications.
        position: u32,
    },
    /// async_acquire.
    Acquire(SemaphoreId),
    /// release.
    Release {
        /// The semaphore.
        semaphore: SemaphoreId,
        /// Its index among the releases of it.
        position: u32,
    },
    /// acquire_wait.
    Granted {
        /// The semaphore.
        semaphore: SemaphoreId,
        /// The release that granted the request.
        by: Option<u32>,
    },
    /// async_barrier.
    Arrive {
        /// The barrier.
        barrier: BarrierId,
        /// The round.
        round: u32,
    },
    /// barrier_wait.
    Pass {
        /// The barrier.
        barrier: BarrierId,
        /// The round.
        round: u32,
    },
    /// count_down.
    CountDown(LatchId),
    /// The wait for a latch.
    LatchPass(LatchId),
    /// An access that left the cell as it was.
    Read(CellId),
    /// An access that changed the cell.
    Write(CellId),
    /// spawn.
    Spawn(ProcessId),
    /// join.
    Join(ProcessId),
    /// A handler of an actor.
    Handler {
        /// The index of the message taken among all messages sent; `None` for an internal handler.
        taken: Option<u32>,
        /// The messages sent: the number of the first one, and how many there are.
        sent: (u32, u32),
        /// The actors started.
        started: Vec<ProcessId>,
    },
    /// local, choose.
    Nothing,
}

/// What the last action of `after` touched; it was carried out in `before`.
pub fn footprint<S: System>(locals: &Locals<'_, S>, before: &State, after: &State) -> Footprint {
    let at = before.depth();
    let Action { process, choice } = after.action(at);
    let op = locals.op(before.local(process)).expect("a process that moved");
    let network = |causes: Vec<u32>| Footprint::Network { at: at as u32, causes };
    let completed = |comm: Handle| match after.is_of_network(process, comm) {
        true => {
            let by = after.matched(process, comm).expect("it is complete");
            network(by.into_iter().map(|by| by as u32).collect())
        }
        false => {
            let (mailbox, end, _, partner) = after.communication(process, comm);
            let partner = partner.expect("it is complete");
            Footprint::Completed { mailbox, partner_end: end.opposite(), partner }
        }
    };
    match *op {
        Op::Isend { mailbox, .. } => post(after, mailbox, End::Send),
        Op::Irecv { mailbox, .. } => post(after, mailbox, End::Receive),
        Op::Send { .. } | Op::Receive { .. } | Op::Enter { .. } => network(vec![]),
        Op::Cancel(_) | Op::Begin(_) => network(vec![]),
        Op::CancelOutcome(comm) => completed(comm),
        Op::WaitAny(ref comms) | Op::TestAny(ref comms) => match choice {
            Choice::NOTHING if after.is_of_network(process, comms[0]) => Footprint::Nothing,
            Choice::NOTHING => Footprint::Incomplete(
                comms
                    .iter()
                    .map(|&comm| {
                        let (mailbox, end, position, _) = after.communication(process, comm);
                        (mailbox, end, position)
                    })
                    .collect(),
            ),
            Choice(index) => completed(comms[index as usize]),
        },
        Op::Deliver => {
            let sends = after.network();
            let causes = match before.carried(process) {
                Posted::Entry(entry) => after.collectives().causes(entry),
                Posted::Receive(receive) if choice == DROPPED => {
                    sends.dropping(receive).map(|way| way.causes)
                }
                Posted::Receive(receive) => sends.causes(sends.taker(receive), send(after, choice)),
                other => panic!("no carrier serves {other:?}"),
            };
            network(causes.expect("a match has its causes").to_vec())
        }
        Op::Probe { .. } if choice == Choice::NOTHING => Footprint::Nothing,
        Op::Probe { mailbox, .. } => {
            let probe = after.network().ends(mailbox).probes.last().expect("it was carried out");
            let causes = after.network().causes(probe.taker(mailbox), send(after, choice));
            network(causes.expect("a probe has its causes").to_vec())
        }
        Op::AsyncLock(mutex) if after.mutex(mutex).is_tried() => Footprint::Enqueue(mutex),
        Op::AsyncLock(mutex) => Footprint::Lock(mutex),
        Op::TryLock(mutex) if after.mutex(mutex) == before.mutex(mutex) => Footprint::Held(mutex),
        Op::TryLock(mutex) => Footprint::Enqueue(mutex),
        Op::MutexWaitAny(ref requests) | Op::MutexTestAny(ref requests) => {
            let position = |&request: &Request| after.mutex_request(process, request);
            match choice {
                Choice::NOTHING => {
                    Footprint::NotOwned(requests.iter().map(|r| (r.mutex, position(r))).collect())
                }
                Choice(index) => {
                    let request = requests[index as usize];
                    let by = after.mutex(request.mutex).granted_by(position(&request));
                    Footprint::Owned { mutex: request.mutex, by }
                }
            }
        }
        Op::Unlock(Request { mutex, .. }) => {
            let queue = after.mutex(mutex);
            let position = queue.releases().len() as u32 - 1;
            let new_owner = queue.owner().filter(|&o| queue.granted_by(o) == Some(position));
            Footprint::Unlock { mutex, position, new_owner }
        }
        Op::RwRequest { lock, hold } => Footprint::RwRequest { lock, hold },
        Op::RwWait { lock, handle } => {
            let (_, request) = after.rwlock_request(process, handle);
            Footprint::RwOwned { lock, turn: request.turn, hold: request.hold }
        }
        Op::RwUnlock { lock, handle } => {
            let (_, request) = after.rwlock_request(process, handle);
            Footprint::RwUnlock { lock, turn: request.turn, hold: request.hold }
        }
        Op::Enrol(condvar) => Footprint::Enrol(condvar),
        Op::AwaitWake { condvar, handle } => {
            let by = after.enrolment(process, handle).woken_by().expect("it was woken");
            Footprint::Woken { condvar, by }
        }
        Op::Notify { condvar, .. } => Footprint::Notify(condvar),
        Op::Wake { condvar, handle } => {
            Footprint::Wake { condvar, position: after.notification(process, handle) }
        }
        Op::AsyncAcquire(semaphore) => Footprint::Acquire(semaphore),
        Op::AcquireWait { semaphore, handle } => {
            let request = after.semaphore_request(process, handle);
            Footprint::Granted { semaphore, by: after.semaphore(semaphore).granted_by(request) }
        }
        Op::Release(semaphore) => {
            let position = after.semaphore(semaphore).releases.len() as u32 - 1;
            Footprint::Release { semaphore, position }
        }
        Op::Arrive { barrier, round } => Footprint::Arrive { barrier, round },
        Op::BarrierWait { barrier, round } => Footprint::Pass { barrier, round },
        Op::CountDown(latch) => Footprint::CountDown(latch),
        Op::LatchWait(latch) => Footprint::LatchPass(latch),
        Op::Access(cell, _) if after.versions(cell) == before.versions(cell) => {
            Footprint::Read(cell)
        }
        Op::Access(cell, _) => Footprint::Write(cell),
        Op::Spawn(_) => Footprint::Spawn(started(before, after).next().expect("a child")),
        Op::Join(target) => Footprint::Join(target),
        Op::Handle { .. } => {
            let (first, end) = (before.inboxes().log().len(), after.inboxes().log().len());
            let taken = match choice.handled() {
                Handled::Internal(_) => None,
                Handled::Message(id) => after.inboxes().log().iter().position(|m| m.id == id),
            };
            Footprint::Handler {
                taken: taken.map(|taken| taken as u32),
                sent: (first as u32, (end - first) as u32),
                started: started(before, after).collect(),
            }
        }
        Op::Choose { .. } | Op::Local => Footprint::Nothing,
    }
}

fn post(after: &State, mailbox: MailboxId, end: End) -> Footprint {
    let posts = after.mailbox(mailbox).posts(end);
    let partner = posts.last().expect("it was posted").partner();
    Footprint::Post { mailbox, end, position: posts.len() as u32 - 1, partner }
}

/// The step of the send with this name.
fn send(state: &State, choice: Choice) -> u32 {
    let sends = state.network().sends().iter();
    let mut named = sends.enumerate().filter(|(_, sent)| Choice::message(sent.id) == choice);
    named.next().expect("a message that was sent").0 as u32
}

/// The processes that exist after an action, but not before.
fn started(before: &State, after: &State) -> impl Iterator<Item = ProcessId> {
    let new: Vec<_> = after.processes().filter(|&process| !before.exists(process)).collect();
    new.into_iter()
}

/// Whether two actions of one execution are dependent.
pub fn dependent((p, a): (ProcessId, &Footprint), (q, b): (ProcessId, &Footprint)) -> bool {
    p == q || depends(a, q, b) || depends(b, p, a)
}

/// One half of the table; q is the process of b. The other half is its mirror image.
fn depends(a: &Footprint, q: ProcessId, b: &Footprint) -> bool {
    use Footprint::*;
    match (a, b) {
        (Post { mailbox, end, .. }, Post { mailbox: other, end: other_end, .. }) => {
            mailbox == other && end == other_end
        }
        (
            Post { mailbox, end, position, .. },
            Completed { mailbox: other, partner_end, partner },
        ) => mailbox == other && end == partner_end && position == partner,
        (Post { mailbox, end, partner: Some(partner), .. }, Incomplete(tested)) => {
            tested.contains(&(*mailbox, end.opposite(), *partner))
        }
        (Network { at, .. }, Network { causes, .. }) => causes.contains(at),
        (Lock(mutex), Lock(other)) => mutex == other,
        (Unlock { mutex, .. }, Unlock { mutex: other, .. }) => mutex == other,
        (Unlock { mutex, position, .. }, Owned { mutex: other, by }) => {
            mutex == other && Some(*position) == *by
        }
        (Unlock { mutex, new_owner: Some(owner), .. }, NotOwned(tested)) => {
            tested.contains(&(*mutex, *owner))
        }
        (Enqueue(mutex), Enqueue(other) | Held(other)) => mutex == other,
        (Unlock { mutex, .. }, Enqueue(other) | Held(other)) => mutex == other,
        (RwRequest { lock, hold: Hold::Exclusive }, RwRequest { lock: other, .. }) => lock == other,
        (
            RwUnlock { lock, turn, hold: Hold::Exclusive },
            RwOwned { lock: other, turn: other_turn, .. },
        ) => lock == other && turn + 1 == *other_turn,
        (
            RwUnlock { lock, turn, hold: Hold::Shared },
            RwOwned { lock: other, turn: other_turn, hold: Hold::Exclusive },
        ) => lock == other && turn == other_turn,
        (Notify(condvar), Notify(other) | Enrol(other)) => condvar == other,
        (Wake { condvar, .. }, Wake { condvar: other, .. }) => condvar == other,
        (Wake { condvar, position }, Woken { condvar: other, by }) => {
            condvar == other && position == by
        }
        (Acquire(semaphore), Acquire(other)) => semaphore == other,
        (Release { semaphore, .. }, Release { semaphore: other, .. }) => semaphore == other,
        (Release { semaphore, position }, Granted { semaphore: other, by }) => {
            semaphore == other && Some(*position) == *by
        }
        (Arrive { barrier, round }, Pass { barrier: other, round: other_round }) => {
            barrier == other && round == other_round
        }
        (CountDown(latch), LatchPass(other)) => latch == other,
        (Write(cell), Read(other) | Write(other)) => cell == other,
        (Spawn(child), _) => *child == q,
        (Handler { started, .. }, _) if started.contains(&q) => true,
        (Handler { sent: (first, count), .. }, Handler { taken: Some(taken), .. }) => {
            (*first..first + count).contains(taken)
        }
        // Only the last event of the process waited for can be next to the join, and it enables it.
        (Join(target), _) => *target == q,
        (Post { .. } | Completed { .. } | Incomplete(_) | Lock(_) | Unlock { .. }, _) => false,
        (Enrol(_) | Woken { .. } | Notify(_) | Wake { .. }, _) => false,
        (Enqueue(_) | Held(_) | RwRequest { .. } | RwOwned { .. } | RwUnlock { .. }, _) => false,
        (Network { .. }, _) => false,
        (Owned { .. } | NotOwned(_) | Acquire(_) | Release { .. } | Granted { .. }, _) => false,
        (CountDown(_) | LatchPass(_), _) => false,
        (Arrive { .. } | Pass { .. } | Read(_) | Write(_) | Handler { .. } | Nothing, _) => false,
    }
}
