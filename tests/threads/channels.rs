//! Random programs with channels, beside all their interleavings in a machine that is slow and
//! obvious.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use mazurka::explore::Verdict;
use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicI8, Ordering::SeqCst};
use mazurka::sync::mpsc::{
    Receiver, RecvTimeoutError, SendError, Sender, SyncSender, TryRecvError, TrySendError, channel,
    sync_channel,
};
use mazurka::thread;

use super::{classes, found, verdict};
use crate::random_models::Rng;

/// What a thread does. A sender that has no handle left sends nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Statement {
    Send(i8),
    TrySend(i8),
    Clone,
    Recv,
    TryRecv,
    RecvTimeout,
    /// Drops a handle, or the receiver.
    Drop,
    /// How many messages were dropped that nobody has received?
    Look,
}

#[derive(Debug)]
struct Program {
    room: Option<usize>,
    /// The first thread receives, the others send.
    threads: Vec<Vec<Statement>>,
    /// Has the receiver a sender?
    keeps: bool,
    /// Can others see that a message is dropped?
    shows: bool,
}

const SENT: i8 = 0;
const ENDED: i8 = -1;
const EMPTY: i8 = -2;
const FULL: i8 = -3;

fn program(seed: u64) -> Program {
    use Statement::*;
    let mut rng = Rng::new(seed);
    let room = *rng.pick(&[None, None, None, Some(0), Some(1), Some(2)]);
    // Where all only wait there is a mailbox.
    let (waits, shows) = (rng.chance(50), rng.chance(30));
    let receives: &[Statement] = match waits {
        true => &[Recv, Recv, Recv, Drop],
        false => &[Recv, Recv, TryRecv, TryRecv, RecvTimeout, Drop],
    };
    let sends: &[Statement] = match room {
        Some(room) if room == 0 || !waits => {
            &[Send(1), Send(1), Send(1), TrySend(1), TrySend(1), Clone, Drop]
        }
        _ => &[Send(1), Send(1), Send(1), Clone, Drop],
    };
    let lengths: &[usize] = match *rng.pick(&[0, 1, 2, 3]) {
        0 => &[3, 3],
        1 => &[2, 1, 2],
        2 => &[2, 2, 1],
        _ => &[3, 1, 1],
    };
    let mut sent = 0;
    let mut statement = |rng: &mut Rng, kinds: &[Statement]| {
        if shows && rng.chance(20) {
            return Look;
        }
        sent += 1;
        match *rng.pick(kinds) {
            Send(_) => Send(sent),
            TrySend(_) => TrySend(sent),
            other => other,
        }
    };
    let threads = lengths
        .iter()
        .enumerate()
        .map(|(thread, &length)| {
            let kinds = if thread == 0 { receives } else { sends };
            (0..length).map(|_| statement(&mut rng, kinds)).collect()
        })
        .collect();
    Program { room, threads, keeps: rng.chance(25), shows }
}

/// What each thread has seen, and how many messages were dropped.
type Outcome = (Vec<Vec<i8>>, i8);

/// Where a thread is in its statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Begin,
    /// It waits for a message; for some time only.
    Waits(bool),
    /// What it sends without room is there to be taken.
    Offers,
    /// So many messages have to be dropped.
    Drops(usize),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    at: Vec<(usize, Place)>,
    seen: Vec<Vec<i8>>,
    /// The messages, and their senders.
    queue: VecDeque<(i8, usize)>,
    handles: Vec<usize>,
    is_unread: bool,
    dropped: i8,
}

impl Machine {
    fn new(program: &Program) -> Machine {
        let count = program.threads.len();
        let mut handles = vec![1; count];
        handles[0] = usize::from(program.keeps);
        Machine {
            at: vec![(0, Place::Begin); count],
            seen: vec![Vec::new(); count],
            queue: VecDeque::new(),
            handles,
            is_unread: false,
            dropped: 0,
        }
    }

    fn end(mut self, thread: usize, sees: Option<i8>) -> Vec<Machine> {
        self.seen[thread].extend(sees);
        self.at[thread] = (self.at[thread].0 + 1, Place::Begin);
        vec![self]
    }

    fn go_to(mut self, thread: usize, place: Place) -> Vec<Machine> {
        self.at[thread].1 = place;
        vec![self]
    }

    fn is_over(&self, program: &Program, thread: usize) -> bool {
        let at_end = self.at[thread] == (program.threads[thread].len(), Place::Begin);
        at_end && self.handles[thread] == 0 && (thread > 0 || self.is_unread)
    }

    fn drop_receiver(mut self, program: &Program) -> Vec<Machine> {
        self.is_unread = true;
        let left = if program.room == Some(0) { 0 } else { self.queue.len() };
        self.queue.drain(..left);
        match program.shows {
            true => self.go_to(0, Place::Drops(left)),
            false => self.go_to(0, Place::Drops(0)),
        }
    }

    /// What a thread can do next.
    fn step(&self, program: &Program, thread: usize) -> Vec<Machine> {
        let mut next = self.clone();
        let (index, place) = self.at[thread];
        if let Place::Drops(left) = place {
            let Some(left) = left.checked_sub(1) else {
                // The end of the thread has no statement.
                next.at[thread] = (program.threads[0].len().min(index + 1), Place::Begin);
                return vec![next];
            };
            next.dropped += 1;
            return next.go_to(0, Place::Drops(left));
        }
        let Some(&statement) = program.threads[thread].get(index) else {
            if thread == 0 && !self.is_unread {
                return next.drop_receiver(program);
            }
            if self.handles[thread] > 0 {
                next.handles[thread] -= 1;
                return vec![next];
            }
            return Vec::new();
        };
        let first = self.queue.front().map(|&(message, _)| message);
        let has_ended = self.handles.iter().all(|&handles| handles == 0);
        match statement {
            Statement::Look => next.end(thread, Some(self.dropped)),
            Statement::Clone => {
                next.handles[thread] += usize::from(self.handles[thread] > 0);
                next.end(thread, None)
            }
            Statement::Drop if thread > 0 => {
                next.handles[thread] = self.handles[thread].saturating_sub(1);
                next.end(thread, None)
            }
            _ if thread == 0 && self.is_unread => next.end(thread, None),
            Statement::Drop => next.drop_receiver(program),
            Statement::Recv | Statement::TryRecv | Statement::RecvTimeout => {
                if let Some(message) = first {
                    next.queue.pop_front();
                    return next.end(thread, Some(message));
                }
                if has_ended {
                    return next.end(thread, Some(ENDED));
                }
                let mut all = Vec::new();
                if place == Place::Begin && statement != Statement::Recv {
                    all.append(&mut next.clone().end(thread, Some(EMPTY)));
                }
                if place == Place::Begin && statement != Statement::TryRecv {
                    all.append(&mut next.go_to(0, Place::Waits(statement != Statement::Recv)));
                }
                all
            }
            Statement::Send(_) | Statement::TrySend(_) if self.handles[thread] == 0 => {
                next.end(thread, None)
            }
            Statement::Send(_) if place == Place::Offers => {
                let is_there = self.queue.front().is_some_and(|&(_, by)| by == thread);
                match (is_there, self.is_unread) {
                    (false, _) => next.end(thread, Some(SENT)),
                    (true, true) => {
                        next.queue.clear();
                        next.end(thread, Some(ENDED))
                    }
                    (true, false) => Vec::new(),
                }
            }
            Statement::Send(_) | Statement::TrySend(_) if self.is_unread => {
                next.end(thread, Some(ENDED))
            }
            Statement::TrySend(message) => {
                let has_room = match program.room {
                    Some(0) => first.is_none() && matches!(self.at[0].1, Place::Waits(_)),
                    room => room.is_none_or(|room| self.queue.len() < room),
                };
                if has_room {
                    next.queue.push_back((message, usize::MAX));
                }
                next.end(thread, Some(if has_room { SENT } else { FULL }))
            }
            Statement::Send(message) => {
                if program.room.is_some_and(|room| self.queue.len() >= room.max(1)) {
                    return Vec::new();
                }
                next.queue.push_back((message, thread));
                match program.room {
                    Some(0) => next.go_to(thread, Place::Offers),
                    _ => next.end(thread, Some(SENT)),
                }
            }
        }
    }
}

/// All outcomes, and whether an interleaving deadlocks.
fn interleavings(program: &Program) -> (BTreeSet<Outcome>, bool) {
    let (mut outcomes, mut deadlocks) = (BTreeSet::new(), false);
    let start = Machine::new(program);
    let (mut known, mut pending) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(machine) = pending.pop() {
        let threads = 0..program.threads.len();
        let next: Vec<_> =
            threads.clone().flat_map(|thread| machine.step(program, thread)).collect();
        let is_stuck = next.is_empty();
        pending.extend(next.into_iter().filter(|next| known.insert(next.clone())));
        if is_stuck && threads.clone().all(|thread| machine.is_over(program, thread)) {
            outcomes.insert((machine.seen, machine.dropped));
        } else if is_stuck {
            deadlocks |= machine.at[0].1 != Place::Waits(true);
        }
    }
    (outcomes, deadlocks)
}

struct Message {
    number: i8,
    /// Is told when nobody has received it.
    drops: Option<Arc<AtomicI8>>,
}

impl Message {
    fn take(mut self) -> i8 {
        self.drops = None;
        self.number
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if let Some(drops) = &self.drops {
            drops.fetch_add(1, SeqCst);
        }
    }
}

enum Sends {
    Without(Sender<Message>),
    With(SyncSender<Message>),
}

impl Clone for Sends {
    fn clone(&self) -> Sends {
        match self {
            Sends::Without(sender) => Sends::Without(sender.clone()),
            Sends::With(sender) => Sends::With(sender.clone()),
        }
    }
}

fn sends(statements: &[Statement], sender: Sends, drops: &Arc<AtomicI8>, shows: bool) -> Vec<i8> {
    let (mut handles, mut seen) = (vec![sender], Vec::new());
    let message = |number| Message { number, drops: shows.then(|| drops.clone()) };
    for &statement in statements {
        match (statement, handles.last()) {
            (Statement::Look, _) => seen.push(drops.load(SeqCst)),
            (Statement::Drop, _) => drop(handles.pop()),
            (_, None) => {}
            (Statement::Clone, Some(handle)) => handles.push(handle.clone()),
            (Statement::Send(number), Some(handle)) => {
                let sent = match handle {
                    Sends::Without(sender) => sender.send(message(number)),
                    Sends::With(sender) => sender.send(message(number)),
                };
                seen.push(match sent {
                    Ok(()) => SENT,
                    Err(SendError(back)) => {
                        assert_eq!(back.take(), number);
                        ENDED
                    }
                });
            }
            (Statement::TrySend(number), Some(Sends::With(sender))) => {
                let (back, saw) = match sender.try_send(message(number)) {
                    Ok(()) => (None, SENT),
                    Err(TrySendError::Disconnected(back)) => (Some(back), ENDED),
                    Err(TrySendError::Full(back)) => (Some(back), FULL),
                };
                assert!(back.is_none_or(|back| back.take() == number));
                seen.push(saw);
            }
            other => unreachable!("{:?} by a sender", other.0),
        }
    }
    while let Some(handle) = handles.pop() {
        drop(handle);
    }
    seen
}

fn receives(
    statements: &[Statement],
    receiver: Receiver<Message>,
    drops: &AtomicI8,
    kept: Option<Sends>,
) -> Vec<i8> {
    let (mut receiver, mut seen) = (Some(receiver), Vec::new());
    for &statement in statements {
        match (statement, &receiver) {
            (Statement::Look, _) => seen.push(drops.load(SeqCst)),
            (Statement::Drop, _) => receiver = None,
            (_, None) => {}
            (Statement::Recv, Some(receiver)) => {
                seen.push(receiver.recv().map_or(ENDED, Message::take))
            }
            (Statement::TryRecv, Some(receiver)) => seen.push(match receiver.try_recv() {
                Ok(message) => message.take(),
                Err(TryRecvError::Disconnected) => ENDED,
                Err(TryRecvError::Empty) => EMPTY,
            }),
            (Statement::RecvTimeout, Some(receiver)) => {
                seen.push(match receiver.recv_timeout(Duration::ZERO) {
                    Ok(message) => message.take(),
                    Err(RecvTimeoutError::Disconnected) => ENDED,
                    Err(RecvTimeoutError::Timeout) => EMPTY,
                })
            }
            other => unreachable!("{:?} by a receiver", other.0),
        }
    }
    drop(receiver);
    drop(kept);
    seen
}

fn run(program: &Program) -> Outcome {
    let (sender, receiver) = match program.room {
        None => {
            let (sender, receiver) = channel();
            (Sends::Without(sender), receiver)
        }
        Some(room) => {
            let (sender, receiver) = sync_channel(room);
            (Sends::With(sender), receiver)
        }
    };
    let (drops, shows) = (Arc::new(AtomicI8::new(0)), program.shows);
    let kept = program.keeps.then(|| sender.clone());
    let senders: Vec<_> = program.threads[2..].iter().map(|_| sender.clone()).collect();
    let (own, statements) = (drops.clone(), program.threads[0].clone());
    let receives = thread::spawn(move || receives(&statements, receiver, &own, kept));
    let mut threads = vec![receives];
    for (statements, sender) in program.threads[1..].iter().zip([sender].into_iter().chain(senders))
    {
        let (own, statements) = (drops.clone(), statements.clone());
        threads.push(thread::spawn(move || sends(&statements, sender, &own, shows)));
    }
    let seen = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    (seen, drops.load(SeqCst))
}

#[test]
fn random_programs_have_the_outcomes_of_their_interleavings() {
    let (mut most, mut deadlocking, mut dropping) = (0, 0, 0);
    for seed in 0..SEEDS {
        let program = std::sync::Arc::new(program(seed));
        let (outcomes, deadlocks) = interleavings(&program);
        let search = |explorer: &str| {
            let own = program.clone();
            found(explorer, move || run(&own))
        };
        let (found, found_deadlocks, classes) = search("udpor");
        assert_eq!(found, outcomes, "seed {seed}: {program:?}");
        assert_eq!(found_deadlocks, deadlocks, "seed {seed}: {program:?}");
        if classes < 100 {
            for explorer in ["optimal", "source"] {
                let by_other = search(explorer);
                let expected = (found.clone(), deadlocks, classes);
                assert_eq!(by_other, expected, "{explorer}, seed {seed}: {program:?}");
            }
        }
        most = most.max(outcomes.len());
        deadlocking += u32::from(deadlocks);
        dropping += u32::from(outcomes.iter().any(|&(_, dropped)| dropped > 0));
    }
    let counts = format!("{most} outcomes, {deadlocking} that deadlock, {dropping} that drop");
    assert!(most > 10 && deadlocking > 5 && dropping > 5, "{counts}");
}

/// Seeds of random programs.
const SEEDS: u64 = 100;

/// At a mailbox only the sends have an order, and the drops of senders.
#[test]
fn a_receiver_that_waits_has_few_classes() {
    let sent_once = || {
        let (sender, receiver) = channel();
        thread::spawn(move || sender.send(5).unwrap());
        assert_eq!(receiver.recv(), Ok(5));
    };
    assert_eq!(classes(sent_once), 1);
    let two_senders = || {
        let (sender, receiver) = channel();
        for (n, sender) in [sender.clone(), sender].into_iter().enumerate() {
            thread::spawn(move || sender.send(n).unwrap());
        }
        assert_eq!(receiver.iter().sum::<usize>(), 1);
    };
    assert_eq!(classes(two_senders), 2 * 2, "who sends first, and who is dropped first");
    let served = || {
        let (requests, inbox) = channel::<(i32, Sender<i32>)>();
        thread::spawn(move || inbox.iter().for_each(|(n, reply)| reply.send(n + 1).unwrap()));
        for n in 0..3 {
            let (reply, replies) = channel();
            requests.send((n, reply)).unwrap();
            assert_eq!(replies.recv(), Ok(n + 1));
            assert!(replies.recv().is_err());
        }
    };
    assert_eq!(classes(served), 1);
    let with_room = |room| {
        move || {
            let (sender, receiver) = sync_channel(room);
            thread::spawn(move || (0..4).for_each(|n| sender.send(n).unwrap()));
            assert!(receiver.into_iter().eq(0..4));
        }
    };
    assert_eq!([1, 2].map(|room| classes(with_room(room))), [1, 1]);
}

#[test]
fn who_waits_at_a_channel_for_ever_is_reported() {
    let line = line!() + 5;
    let (found, text) = verdict(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        thread::spawn(move || other.send(1).unwrap());
        let _both = (receiver.recv(), receiver.recv());
        drop(sender);
    });
    assert_eq!(found, Verdict::Deadlock, "{text}");
    let waits =
        format!("main  line {line}  recv  waits for a message at channel of line {}", line - 3);
    assert!(text.contains(&waits), "{text}");
    let receives = "receives from thread of line";
    assert!(text.contains(receives), "{text}");
    let line = line!() + 4;
    let (found, text) = verdict(|| {
        let (sender, receiver) = sync_channel(1);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(receiver);
    });
    assert_eq!(found, Verdict::Deadlock, "{text}");
    let waits = format!("main  line {line}  send  waits for a message at room of a channel");
    assert!(text.contains(&waits), "{text}");
}

/// Nobody sees when such a message is dropped, but it is, wherever its sender was.
#[test]
fn messages_that_nobody_receives_are_dropped() {
    let counted = || {
        let (sender, receiver) = channel();
        let (message, own) = (Arc::new(5), sender.clone());
        let sent = message.clone();
        let other = thread::spawn(move || drop(own.send(sent)));
        drop(receiver);
        other.join().unwrap();
        assert_eq!(Arc::strong_count(&message), 1);
        drop(sender);
    };
    let (found, text) = verdict(counted);
    assert_eq!(found, Verdict::Ok, "{text}");
}

/// What a receiver that is dropped leaves may be the last sender of another channel.
#[test]
fn a_request_that_nobody_takes_ends_its_replies() {
    let asked = || {
        let (requests, inbox) = channel::<Sender<i32>>();
        let server = thread::spawn(move || drop(inbox));
        let (reply, replies) = channel();
        let _ = requests.send(reply);
        assert!(replies.recv().is_err());
        server.join().unwrap();
        assert!(requests.send(channel().0).is_err());
    };
    let (found, text) = verdict(asked);
    assert_eq!(found, Verdict::Ok, "{text}");
}

#[test]
fn senders_that_wait_for_room_are_told_that_the_receiver_is_gone() {
    let told = || {
        let (sender, receiver) = sync_channel(1);
        sender.send(0).unwrap();
        let senders = [1, 2].map(|n| {
            let sender = sender.clone();
            thread::spawn(move || assert_eq!(sender.send(n), Err(SendError(n))))
        });
        drop(receiver);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        assert_eq!([sender.send(3), sender.send(4)], [Err(SendError(3)), Err(SendError(4))]);
    };
    let (found, text) = verdict(told);
    assert_eq!(found, Verdict::Ok, "{text}");
}
