//! Channels: examples, and random programs beside all their interleavings in a machine that is slow
//! and obvious.

use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::{TryRecvError, TrySendError};
use std::sync::{Arc, Mutex};

use mazurka::explore::{Setting, Verdict};
use mazurka::program::{Cell, Channel, Closures, Program};
use mazurka::property::{Deadlocks, Livelocks};
use mazurka::systems::history::History;

use super::{EXPLORERS, all};
use crate::random_models::Rng;

/// An operation on a channel.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Send(usize, i64),
    TrySend(usize, i64),
    Recv(usize),
    TryRecv(usize),
    /// Receives the first message that is at least this number.
    RecvWhere(usize, i64),
    Close(usize),
}

const CHANNELS: usize = 2;

/// What each process has seen, in order, at the end of an execution.
type Seen = Vec<Vec<String>>;

struct Sample {
    capacities: [usize; CHANNELS],
    processes: Vec<Vec<Statement>>,
}

fn sample(seed: u64) -> Sample {
    let mut rng = Rng::new(seed);
    // Every other sample has room, and picks messages.
    let picks = seed % 2 == 1;
    let capacities =
        [(); CHANNELS].map(|()| *rng.pick(if picks { &[2, 3][..] } else { &[1, 1, 2, 3][..] }));
    let kinds: &[i32] =
        if picks { &[0, 0, 0, 0, 1, 3, 4, 4] } else { &[0, 0, 0, 1, 2, 2, 3, 4, 5] };
    let statement = |rng: &mut Rng| {
        let (at, n) = (*rng.pick(&[0, 0, 1]), *rng.pick(&[1, 2, 3]));
        match *rng.pick(kinds) {
            0 => Statement::Send(at, n),
            1 => Statement::TrySend(at, n),
            2 => Statement::Recv(at),
            3 => Statement::TryRecv(at),
            4 => Statement::RecvWhere(at, n),
            _ => Statement::Close(at),
        }
    };
    let lengths = *rng.pick(&[&[3, 3][..], &[4, 2], &[2, 2, 2], &[3, 2, 1]]);
    let process = |&length: &usize| (0..length).map(|_| statement(&mut rng)).collect();
    Sample { capacities, processes: lengths.iter().map(process).collect() }
}

/// A channel of the machine.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Plain {
    queue: VecDeque<i64>,
    is_closed: bool,
}

impl Plain {
    /// What the process sees; `None` if it has to wait.
    fn step(&mut self, statement: Statement, capacity: usize) -> Option<String> {
        let is_full = self.queue.len() >= capacity;
        let ended = |closed: bool| closed.then(|| "ended".to_string());
        match statement {
            Statement::Send(_, n) | Statement::TrySend(_, n) if !self.is_closed && !is_full => {
                self.queue.push_back(n);
                Some("sent".into())
            }
            Statement::Send(..) => self.is_closed.then(|| "closed".into()),
            Statement::TrySend(..) if self.is_closed => Some("closed".into()),
            Statement::TrySend(..) => Some("full".into()),
            Statement::Recv(_) => match self.queue.pop_front() {
                Some(n) => Some(n.to_string()),
                None => ended(self.is_closed),
            },
            Statement::TryRecv(_) => Some(match self.queue.pop_front() {
                Some(n) => n.to_string(),
                None if self.is_closed => "ended".into(),
                None => "empty".into(),
            }),
            Statement::RecvWhere(_, least) => match self.queue.iter().position(|&n| n >= least) {
                Some(index) => self.queue.remove(index).map(|n| n.to_string()),
                None => ended(self.is_closed),
            },
            Statement::Close(_) => {
                self.is_closed = true;
                Some("done".into())
            }
        }
    }
}

fn channel(statement: Statement) -> usize {
    match statement {
        Statement::Send(at, _) | Statement::TrySend(at, _) | Statement::RecvWhere(at, _) => at,
        Statement::Recv(at) | Statement::TryRecv(at) | Statement::Close(at) => at,
    }
}

/// What all complete executions see, and whether there is one that is stuck.
fn plainly(sample: &Sample) -> (BTreeSet<Seen>, bool) {
    let (mut found, mut is_stuck) = (BTreeSet::new(), false);
    let start =
        ([(); CHANNELS].map(|()| Plain::default()), vec![Vec::new(); sample.processes.len()]);
    let (mut known, mut open) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some((channels, seen)) = open.pop() {
        let mut moves = 0;
        for (process, body) in sample.processes.iter().enumerate() {
            let Some(&statement) = body.get(seen[process].len()) else { continue };
            let (mut channels, mut seen): (_, Seen) = (channels.clone(), seen.clone());
            let at = channel(statement);
            if let Some(saw) = channels[at].step(statement, sample.capacities[at]) {
                moves += 1;
                seen[process].push(saw);
                if known.insert((channels.clone(), seen.clone())) {
                    open.push((channels, seen));
                }
            }
        }
        let has_ended =
            sample.processes.iter().zip(&seen).all(|(body, seen)| body.len() == seen.len());
        match has_ended {
            true => drop(found.insert(seen)),
            false => is_stuck |= moves == 0,
        }
    }
    (found, is_stuck)
}

async fn act(channels: [Channel<i64>; CHANNELS], statement: Statement) -> String {
    let at = channels[channel(statement)];
    match statement {
        Statement::Send(_, n) => match at.send(n).await {
            Ok(()) => "sent".into(),
            Err(back) => (if back.0 == n { "closed" } else { "another message" }).into(),
        },
        Statement::TrySend(_, n) => match at.try_send(n).await {
            Ok(()) => "sent".into(),
            Err(TrySendError::Full(back)) => (if back == n { "full" } else { "another" }).into(),
            Err(TrySendError::Disconnected(_)) => "closed".into(),
        },
        Statement::Recv(_) => at.recv().await.map_or("ended".into(), |n| n.to_string()),
        Statement::TryRecv(_) => match at.try_recv().await {
            Ok(n) => n.to_string(),
            Err(TryRecvError::Empty) => "empty".into(),
            Err(TryRecvError::Disconnected) => "ended".into(),
        },
        Statement::RecvWhere(_, least) => {
            let found = at.recv_where(move |&n| n >= least).await;
            found.map_or("ended".into(), |n| n.to_string())
        }
        Statement::Close(_) => {
            at.close().await;
            "done".into()
        }
    }
}

type Found = Arc<Mutex<BTreeSet<Seen>>>;

/// The same as closures; they note what they have seen where the check at the end finds it.
fn closures(sample: &Sample) -> (History<Closures>, Found) {
    let (mut program, found) = (Program::new(), Found::default());
    let [one, two] = sample.capacities;
    let channels = [program.channel("one", one), program.channel("two", two)];
    let logs: Vec<Cell<Vec<String>>> =
        (0..sample.processes.len()).map(|n| program.cell(format!("log {n}"), Vec::new())).collect();
    for (n, body) in sample.processes.iter().enumerate() {
        let (body, log) = (body.clone(), logs[n]);
        program.process(format!("P{n}"), async move || {
            let mut seen = Vec::new();
            for &statement in &body {
                seen.push(act(channels, statement).await);
            }
            log.write(seen).await;
        });
    }
    let noted = found.clone();
    program.finally(move |end| {
        let seen = logs.iter().map(|&log| end.read(log)).collect();
        noted.lock().unwrap().insert(seen);
    });
    // Histories that are not needed are forgotten at once.
    (program.build().max_histories(0), found)
}

#[test]
fn random_programs_see_what_all_interleavings_see() {
    let (mut stuck, mut most) = (0, 0);
    for seed in 0..200 {
        let sample = sample(seed);
        let (expected, is_stuck) = plainly(&sample);
        let explorer = EXPLORERS[seed as usize % EXPLORERS.len()];
        let (system, found) = closures(&sample);
        let checked = all(&system, explorer);
        let context = || format!("{seed}, {explorer}: {:?}\n{checked}", sample.processes);
        let stats = checked.stats();
        let is_blocked = stats.deadlocked_traces + stats.livelocked_traces > 0;
        assert_eq!(*found.lock().unwrap(), expected, "{}", context());
        assert_eq!(is_blocked, is_stuck, "{}", context());
        assert_eq!(checked.verdict() == Verdict::Ok, !is_stuck, "{}", context());
        (stuck, most) = (stuck + usize::from(is_stuck), most.max(expected.len()));
    }
    assert!((20..180).contains(&stuck) && most > 5, "{stuck}, {most}");
}

#[test]
fn each_class_is_explored_once_and_all_explorers_agree() {
    let mut compared = 0;
    for seed in 200..240 {
        let sample = sample(seed);
        let classes = |explorer: &str| {
            let (system, _) = closures(&sample);
            let checked = all(&system, explorer);
            (checked.stats().traces, checked.stats().livelocked_traces)
        };
        let expected = classes("udpor");
        assert_eq!(classes("optimal"), expected, "{seed}: {:?}", sample.processes);
        let mut exhaustive = mazurka::check(&closures(&sample).0)
            .explorer("exhaustive".parse::<Setting>().unwrap())
            .all()
            .max_traces(20_000)
            .run();
        if let Some(classes) = exhaustive.outcome.stats.classes.take() {
            let is_complete = exhaustive.outcome.stopped_by.is_none();
            compared += usize::from(is_complete);
            assert!(!is_complete || classes == expected.0, "{seed}: {classes} and {expected:?}");
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn who_waits_at_a_channel_for_ever_is_reported() {
    let mut program = Program::new();
    let jobs = program.channel("jobs", 1);
    let line = line!() + 3;
    program.process("P", async move || {
        jobs.send(1).await.expect("it is open");
        jobs.send(2).await.expect("it is open");
    });
    let told = mazurka::check(&program.build()).run().to_string();
    assert!(told.starts_with("Livelock: P waits for jobs to change from [1]"), "{told}");
    assert!(told.contains(&format!("P  line {line}  jobs.send()  waits for jobs")), "{told}");
    let mut program = Program::new();
    let jobs = program.channel::<u8>("jobs", 1);
    program.daemon("server", async move || while jobs.recv().await.is_ok() {});
    let checked = mazurka::check(&program.build()).all().run();
    assert_eq!(checked.verdict(), Verdict::Ok, "a daemon may wait: {checked}");
    let mut program = Program::new();
    let jobs = program.channel::<u8>("jobs", 1);
    program.process("P", async move || _ = jobs.recv().await);
    let system = program.build();
    let checked = mazurka::check(&system).without::<Deadlocks>().without::<Livelocks>().run();
    assert_eq!(checked.violations().len(), 0, "{checked}");
}

#[test]
fn what_a_function_of_a_channel_does_wrong_is_the_failure_of_its_process() {
    let mut program = Program::new();
    let inbox = program.channel("inbox", 2);
    let line = line!() + 3;
    program.process("P", async move || {
        inbox.send(1).await.expect("it is open");
        let _ = inbox.recv_where(|&n| [false, true][n + 1]).await;
    });
    let told = mazurka::check(&program.build()).run().to_string();
    let expected = format!(
        "Error: index out of bounds: the len is 2 but the index is 2 (P, tests/program/channels.rs:{line})"
    );
    assert!(told.starts_with(&expected), "{told}");
}
