//! Random programs of tasks on a channel, beside all their interleavings in a machine that is slow
//! and obvious. Futures are dropped in them while they wait.

use std::collections::{BTreeSet, VecDeque};

use mazurka::future as tokio;
use mazurka::thread;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::super::found;
use super::SECOND;
use crate::random_models::Rng;

/// What a task does that sends. It sees 1 for a message that was sent, 0 where the channel is closed,
/// 2 where there is no room, and 3 where it has given up.
#[derive(Clone, Copy, Debug)]
enum Sending {
    Send(i8),
    TrySend(i8),
    /// Sends, and may give up while it has to wait.
    SendOrNot(i8),
    /// Reserves room, and gives it back in the next step.
    Reserve,
}

/// What the task does that receives. It sees the message, -1 where there will be none, -2 where there
/// is none, and -3 where it has given up.
#[derive(Clone, Copy, Debug)]
enum Receiving {
    Recv,
    TryRecv,
    /// Receives, and may give up while it has to wait.
    RecvOrNot,
    Close,
}

#[derive(Clone, Debug)]
struct Program {
    room: usize,
    senders: Vec<Vec<Sending>>,
    receiver: Vec<Receiving>,
    /// Is the first sender never dropped?
    leaks: bool,
}

/// What the tasks have seen; the last one is the receiver.
type Seen = Vec<Vec<i8>>;

fn program(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let room = *rng.pick(&[1, 1, 2]);
    let lengths = rng.pick(&[[2, 1, 2], [1, 1, 2], [2, 0, 3], [3, 0, 2], [1, 1, 1]]).to_vec();
    let mut next = 0;
    let mut sending = |rng: &mut Rng| {
        next += 1;
        match *rng.pick(&[0, 0, 1, 2, 2, 3]) {
            0 => Sending::Send(next),
            1 => Sending::TrySend(next),
            2 => Sending::SendOrNot(next),
            _ => Sending::Reserve,
        }
    };
    let senders = lengths[..2]
        .iter()
        .filter(|&&length| length > 0)
        .map(|&length| (0..length).map(|_| sending(&mut rng)).collect())
        .collect();
    let receiving = |rng: &mut Rng| {
        *rng.pick(&[
            Receiving::Recv,
            Receiving::Recv,
            Receiving::TryRecv,
            Receiving::RecvOrNot,
            Receiving::RecvOrNot,
            Receiving::Close,
        ])
    };
    let receiver = (0..lengths[2]).map(|_| receiving(&mut rng)).collect();
    Program { room, senders, receiver, leaks: *rng.pick(&[true, false, false]) }
}

/// A state of the machine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    at: Vec<usize>,
    seen: Seen,
    /// Those who have begun to wait in their statement.
    waiting: Vec<bool>,
    messages: VecDeque<i8>,
    /// The senders that wait for room, in order.
    queue: VecDeque<usize>,
    /// Those that have room which they do not use yet.
    granted: BTreeSet<usize>,
    is_closed: bool,
    is_gone: bool,
    senders: usize,
}

impl Machine {
    fn has_room(&self, room: usize) -> bool {
        self.messages.len() + self.granted.len() < room
    }

    fn grant(&mut self, room: usize) {
        while self.has_room(room)
            && let Some(first) = self.queue.pop_front()
        {
            self.granted.insert(first);
        }
    }

    fn close(&mut self) {
        self.is_closed = true;
        self.queue.clear();
    }

    /// Goes on to the next statement.
    fn end(mut self, task: usize, sees: Option<i8>) -> Machine {
        self.seen[task].extend(sees);
        self.at[task] += 1;
        self.waiting[task] = false;
        self
    }

    fn push(&mut self, message: i8) {
        if !self.is_gone {
            self.messages.push_back(message);
        }
    }

    /// What may come next by a sender.
    fn send(&self, task: usize, sending: Option<Sending>, program: &Program) -> Vec<Machine> {
        let room = program.room;
        let mut next = self.clone();
        let (message, may_give_up) = match sending {
            None => {
                next.senders -= usize::from(task > 0 || !program.leaks);
                return vec![next.end(task, None)];
            }
            Some(Sending::TrySend(message)) => {
                let sees = match (self.is_closed, self.queue.is_empty() && self.has_room(room)) {
                    (true, _) => 0,
                    (_, false) => 2,
                    (_, true) => {
                        next.push(message);
                        1
                    }
                };
                return vec![next.end(task, Some(sees))];
            }
            Some(Sending::Send(message)) => (Some(message), false),
            Some(Sending::SendOrNot(message)) => (Some(message), true),
            Some(Sending::Reserve) => (None, false),
        };
        let mut all = Vec::new();
        if self.waiting[task] && message.is_none() && self.seen[task].last() == Some(&4) {
            // It gives back what it has reserved.
            next.seen[task].pop();
            next.granted.remove(&task);
            next.grant(room);
            return vec![next.end(task, Some(1))];
        }
        let is_granted = self.granted.contains(&task)
            || (!self.waiting[task]
                && !self.is_closed
                && self.queue.is_empty()
                && self.has_room(room));
        if is_granted {
            match message {
                Some(message) => {
                    next.granted.remove(&task);
                    next.push(message);
                    all.push(next.end(task, Some(1)));
                }
                None => {
                    next.granted.insert(task);
                    next.waiting[task] = true;
                    next.seen[task].push(4);
                    all.push(next);
                }
            }
        } else if self.is_closed {
            all.push(next.end(task, Some(0)));
        } else if !self.waiting[task] {
            next.waiting[task] = true;
            next.queue.push_back(task);
            all.push(next);
        }
        if self.waiting[task] && may_give_up {
            let mut next = self.clone();
            next.granted.remove(&task);
            next.queue.retain(|&waits| waits != task);
            next.grant(room);
            all.push(next.end(task, Some(3)));
        }
        all
    }

    /// What may come next by the receiver.
    fn receive(&self, receiving: Option<Receiving>, room: usize) -> Vec<Machine> {
        let task = self.at.len() - 1;
        let mut next = self.clone();
        let is_over = self.senders == 0 || (self.is_closed && self.granted.is_empty());
        let found = match (self.messages.front(), is_over) {
            (Some(&message), _) => Some(message),
            (None, true) => Some(-1),
            (None, false) => None,
        };
        let take = |mut next: Machine, found: i8| {
            next.messages.pop_front();
            next.grant(room);
            next.end(task, Some(found))
        };
        match receiving {
            None => {
                next.close();
                next.is_gone = true;
                next.messages.clear();
                vec![next.end(task, None)]
            }
            Some(Receiving::Close) => {
                next.close();
                vec![next.end(task, None)]
            }
            Some(Receiving::TryRecv) => match found {
                Some(found) => vec![take(next, found)],
                None => vec![next.end(task, Some(-2))],
            },
            Some(Receiving::Recv) => found.map(|found| take(next, found)).into_iter().collect(),
            Some(Receiving::RecvOrNot) => {
                let mut all: Vec<_> =
                    found.map(|found| take(next.clone(), found)).into_iter().collect();
                if self.waiting[task] {
                    all.push(next.end(task, Some(-3)));
                } else if found.is_none() {
                    next.waiting[task] = true;
                    all.push(next);
                }
                all
            }
        }
    }
}

/// All outcomes, and whether an interleaving deadlocks.
fn interleavings(program: &Program) -> (BTreeSet<Seen>, bool) {
    let tasks = program.senders.len() + 1;
    let start = Machine {
        at: vec![0; tasks],
        seen: vec![Vec::new(); tasks],
        waiting: vec![false; tasks],
        messages: VecDeque::new(),
        queue: VecDeque::new(),
        granted: BTreeSet::new(),
        is_closed: false,
        is_gone: false,
        senders: program.senders.len(),
    };
    let (mut outcomes, mut deadlocks) = (BTreeSet::new(), false);
    let (mut known, mut pending) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(machine) = pending.pop() {
        let mut moves = Vec::new();
        for (task, statements) in program.senders.iter().enumerate() {
            // After the last statement the sender is dropped.
            if machine.at[task] <= statements.len() {
                let statement = statements.get(machine.at[task]).copied();
                moves.extend(machine.send(task, statement, program));
            }
        }
        let at = machine.at[tasks - 1];
        if at <= program.receiver.len() {
            moves.extend(machine.receive(program.receiver.get(at).copied(), program.room));
        }
        if moves.is_empty() {
            let lengths = program.senders.iter().map(Vec::len).chain([program.receiver.len()]);
            match machine.at.iter().copied().eq(lengths.map(|length| length + 1)) {
                true => drop(outcomes.insert(machine.seen)),
                false => deadlocks = true,
            }
        }
        pending.extend(moves.into_iter().filter(|next| known.insert(next.clone())));
    }
    (outcomes, deadlocks)
}

async fn send(sender: mpsc::Sender<i8>, statements: Vec<Sending>, leaks: bool) -> Vec<i8> {
    use mpsc::error::TrySendError;
    let mut seen = Vec::new();
    for statement in statements {
        seen.push(match statement {
            Sending::Send(n) => i8::from(sender.send(n).await.is_ok()),
            Sending::TrySend(n) => match sender.try_send(n) {
                Ok(()) => 1,
                Err(TrySendError::Closed(_)) => 0,
                Err(TrySendError::Full(_)) => 2,
            },
            Sending::SendOrNot(n) => {
                timeout(SECOND, sender.send(n)).await.map_or(3, |sent| i8::from(sent.is_ok()))
            }
            Sending::Reserve => i8::from(sender.reserve().await.is_ok()),
        });
    }
    if leaks {
        std::mem::forget(sender);
    }
    seen
}

async fn receive(mut receiver: mpsc::Receiver<i8>, statements: Vec<Receiving>) -> Vec<i8> {
    use mpsc::error::TryRecvError;
    let mut seen = Vec::new();
    for statement in statements {
        seen.push(match statement {
            Receiving::Recv => receiver.recv().await.unwrap_or(-1),
            Receiving::TryRecv => match receiver.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Disconnected) => -1,
                Err(TryRecvError::Empty) => -2,
            },
            Receiving::RecvOrNot => {
                let received = timeout(SECOND, receiver.recv()).await;
                received.map_or(-3, |message| message.unwrap_or(-1))
            }
            Receiving::Close => {
                receiver.close();
                continue;
            }
        });
    }
    seen
}

/// All outcomes that a search finds, whether it finds a deadlock, and the number of its classes.
fn search(program: &Program, explorer: &str) -> (BTreeSet<Seen>, bool, u64) {
    let program = program.clone();
    found(explorer, move || {
        let program = program.clone();
        let (sender, receiver) = mpsc::channel(program.room);
        let mut senders = vec![sender];
        while senders.len() < program.senders.len() {
            senders.push(senders[0].clone());
        }
        // A thread that runs a future is a task that is joined without being polled.
        let started = program.senders.into_iter().zip(senders).enumerate();
        let mut tasks: Vec<_> = started
            .map(|(task, (does, sender))| {
                let leaks = program.leaks && task == 0;
                thread::spawn(move || tokio::block_on(send(sender, does, leaks)))
            })
            .collect();
        let does = program.receiver;
        tasks.push(thread::spawn(move || tokio::block_on(receive(receiver, does))));
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    })
}

#[test]
fn random_programs_have_the_outcomes_of_their_interleavings() {
    let (mut most, mut deadlocking, mut gives_up) = (0, 0, false);
    for seed in 0..25 {
        let program = program(seed);
        let (outcomes, deadlocks) = interleavings(&program);
        let (found, found_deadlocks, classes) = search(&program, "udpor");
        assert_eq!(found, outcomes, "seed {seed}: {program:?}");
        assert_eq!(found_deadlocks, deadlocks, "seed {seed}: {program:?}");
        if classes < 100 {
            for explorer in ["optimal", "source"] {
                let by_other = search(&program, explorer);
                assert_eq!(
                    by_other,
                    (found.clone(), deadlocks, classes),
                    "seed {seed}: {program:?}"
                );
            }
        }
        gives_up |= found.iter().flatten().any(|seen| seen.contains(&3));
        most = most.max(outcomes.len());
        deadlocking += u32::from(deadlocks);
    }
    assert!(
        most > 20 && deadlocking > 2 && gives_up,
        "{most} outcomes, {deadlocking} that deadlock"
    );
}
