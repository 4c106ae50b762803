//! Times: which of them is over first, and what their task does then.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, atomic};
use std::task::{Context, Poll, Wake, Waker};

use mazurka::explore::Verdict;
use mazurka::future as tokio;
use mazurka::sync::atomic::AtomicBool;
use tokio::sync::{Notify, mpsc};
use tokio::time::{
    Duration, Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout, timeout_at,
};

use super::super::found;
use super::{SECOND, deadlocks, finds, outcomes, poll_once, runs};
use crate::random_models::Rng;

#[test]
fn a_time_of_a_task_that_waits_is_over_later() {
    let seen = outcomes(|| async {
        let n = Cell::new(0);
        let reads = async {
            sleep(SECOND).await;
            n.get()
        };
        tokio::join!(reads, async { n.set(1) }).0
    });
    assert_eq!(seen, BTreeSet::from([1]));
    let order = outcomes(|| async {
        let order = RefCell::new(String::new());
        let push = async |time: Duration, letter| {
            timeout(time, pending::<()>()).await.unwrap_err();
            order.borrow_mut().push(letter);
        };
        tokio::join!(push(2 * SECOND, 'a'), push(SECOND, 'b'));
        order.take()
    });
    assert_eq!(order, BTreeSet::from(["ab".to_string(), "ba".to_string()]));
    let hangs = || async {
        let n = Cell::new(false);
        let waits = async {
            sleep(SECOND).await;
            if n.get() {
                pending::<()>().await;
            }
        };
        tokio::join!(waits, async { n.set(true) });
    };
    assert!(deadlocks(hangs));
    // Of tasks, too.
    let order = outcomes(|| async {
        let (sender, mut receiver) = mpsc::channel(2);
        for n in 1..=2 {
            let sender = sender.clone();
            tokio::spawn(async move {
                sleep(n * SECOND).await;
                sender.send(n).await.unwrap();
            });
        }
        (receiver.recv().await.unwrap(), receiver.recv().await.unwrap())
    });
    assert_eq!(order, BTreeSet::from([(1, 2), (2, 1)]));
}

#[test]
fn a_time_that_is_over_causes_a_poll() {
    let seen = outcomes(|| async {
        let flag = Arc::new(AtomicBool::new(false));
        let own = flag.clone();
        mazurka::thread::spawn(move || own.store(true, SeqCst));
        let mut polls = 0;
        let looks = poll_fn(|_| {
            polls += 1;
            if flag.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        });
        let is_in_time = timeout(SECOND, looks).await.is_ok();
        (is_in_time, polls)
    });
    // The load may take so long that the time is over.
    assert_eq!(seen, BTreeSet::from([(true, 1), (true, 2), (false, 1), (false, 2)]));
    // A time that is still there wakes its task where it waits for something else.
    let beside = || async {
        let mut time = Box::pin(sleep(SECOND));
        let mut is_first = true;
        poll_fn(|context| match std::mem::take(&mut is_first) {
            true => {
                assert!(time.as_mut().poll(context).is_pending());
                Poll::Pending
            }
            false => Poll::Ready(()),
        })
        .await;
        assert!(time.is_elapsed());
    };
    assert_eq!(runs(beside), 2);
    // One whose waker wakes nobody does not.
    let silent = || async {
        let mut time = Box::pin(sleep(SECOND));
        assert!(poll_once(&mut time).is_none());
        let mut is_first = true;
        poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) })
            .await;
    };
    assert!(deadlocks(silent));
    // Nor does one that was dropped, or that has done so before.
    let dropped = |is_dropped: bool| {
        move || async move {
            let mut time = Some(Box::pin(sleep(SECOND)));
            let mut polls = 0;
            poll_fn(|context| {
                polls += 1;
                match polls {
                    1 => assert!(time.as_mut().unwrap().as_mut().poll(context).is_pending()),
                    2 => {}
                    _ => return Poll::Ready(()),
                }
                if is_dropped {
                    time = None;
                }
                Poll::<()>::Pending
            })
            .await;
        }
    };
    assert!(deadlocks(dropped(true)));
    assert!(deadlocks(dropped(false)));
}

/// Polls a future only where its own waker was woken, as sets of futures do.
struct Apart<F> {
    future: Pin<Box<F>>,
    woken: Arc<Woken>,
}

struct Woken {
    is_woken: atomic::AtomicBool,
    outer: std::sync::Mutex<Option<Waker>>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        let outer = self.outer.lock().unwrap().clone();
        outer.unwrap().wake();
    }
}

fn apart<F: Future>(future: F) -> Apart<F> {
    let woken = Woken { is_woken: true.into(), outer: None.into() };
    Apart { future: Box::pin(future), woken: Arc::new(woken) }
}

impl<F: Future> Future for Apart<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        *self.woken.outer.lock().unwrap() = Some(context.waker().clone());
        if !self.woken.is_woken.swap(false, SeqCst) {
            return Poll::Pending;
        }
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

/// The last number that comes before a time is over, or 0.
async fn last_in_time(receiver: &mut mpsc::Receiver<u32>) -> u32 {
    let mut time = Box::pin(sleep(SECOND));
    let mut got = 0;
    loop {
        tokio::select! {
            biased;
            () = &mut time => break got,
            Some(n) = receiver.recv() => got = n,
        }
    }
}

#[test]
fn times_side_by_side_and_within_one_another() {
    let nested =
        outcomes(|| async { timeout(2 * SECOND, timeout(SECOND, pending::<()>())).await.is_ok() });
    assert_eq!(nested, BTreeSet::from([true, false]));
    let each = outcomes(|| async {
        let (mut first, mut second) = (Box::pin(sleep(SECOND)), Box::pin(sleep(SECOND)));
        let mut order = Vec::new();
        while order.len() < 2 {
            tokio::select! {
                () = &mut first, if !order.contains(&1) => order.push(1),
                () = &mut second, if !order.contains(&2) => order.push(2),
            }
        }
        order
    });
    assert_eq!(each, BTreeSet::from([vec![1, 2], vec![2, 1]]));
    let with_own_wakers = outcomes(|| async {
        let order = RefCell::new(Vec::new());
        let push = async |n| {
            sleep(SECOND).await;
            order.borrow_mut().push(n);
        };
        tokio::join!(apart(push(1)), apart(push(2)));
        order.take()
    });
    assert_eq!(with_own_wakers, BTreeSet::from([vec![1, 2], vec![2, 1]]));
    let one_for_all = outcomes(|| async {
        let (sender, mut receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            let _ = sender.send(1).await;
            let _ = sender.send(2).await;
        });
        last_in_time(&mut receiver).await
    });
    assert_eq!(one_for_all, BTreeSet::from([0, 1, 2]));
    // Also if all messages are there, and the task does not sleep between them. But the time is not
    // over where it begins.
    let queued = outcomes(|| async {
        let (sender, mut receiver) = mpsc::channel(2);
        for n in 1..=2 {
            sender.try_send(n).unwrap();
        }
        last_in_time(&mut receiver).await
    });
    assert_eq!(queued, BTreeSet::from([1, 2]));
    let until = outcomes(|| async {
        let deadline = Instant::now() + SECOND;
        let (_sender, mut receiver) = mpsc::channel::<()>(1);
        let waits = async { timeout_at(deadline, receiver.recv()).await.is_err() };
        let (is_over, ()) = tokio::join!(waits, sleep_until(deadline));
        is_over
    });
    assert_eq!(until, BTreeSet::from([true]));
}

#[test]
fn times_begin_anew() {
    // As tokio does, it wakes a task that has polled it before it began anew.
    let anew = outcomes(|| async {
        let mut time = Box::pin(sleep(SECOND));
        let (sender, mut receiver) = mpsc::channel(1);
        tokio::spawn(async move { sender.send(()).await });
        let mut resets = 0;
        loop {
            tokio::select! {
                biased;
                Some(()) = receiver.recv() => {
                    resets += 1;
                    time.as_mut().reset(Instant::now() + SECOND);
                    assert!(!time.is_elapsed());
                }
                () = &mut time => break resets,
            }
        }
    });
    assert_eq!(anew, BTreeSet::from([0, 1]));
    // One that ticks late ticks again at once, unless it is not to do so.
    let ticks = |missed: MissedTickBehavior| {
        outcomes(move || async move {
            let mut interval = interval(SECOND);
            interval.set_missed_tick_behavior(missed);
            interval.tick().await;
            interval.tick().await;
            tokio::select! {
                biased;
                _ = interval.tick() => true,
                () = async {} => false,
            }
        })
    };
    assert_eq!(ticks(MissedTickBehavior::Burst), BTreeSet::from([true, false]));
    assert_eq!(ticks(MissedTickBehavior::Delay), BTreeSet::from([false]));
    assert_eq!(ticks(MissedTickBehavior::Skip), BTreeSet::from([false]));
    // A time that nobody looks at goes by, and what takes no time is not too late.
    let late = |sleeps: bool| {
        outcomes(move || async move {
            let mut time = Box::pin(sleep(SECOND));
            if sleeps {
                sleep(2 * SECOND).await;
            }
            poll_once(&mut time).is_some()
        })
    };
    assert_eq!(late(true), BTreeSet::from([true, false]));
    assert_eq!(late(false), BTreeSet::from([false]));
    let nothing = outcomes(|| async { poll_once(&mut Box::pin(sleep(Duration::ZERO))).is_some() });
    assert_eq!(nothing, BTreeSet::from([true, false]));
}

/// As a loop that looks at an atomic only.
#[test]
fn a_loop_that_looks_at_a_time_waits() {
    let spins = |gives_up: bool| {
        move || async move {
            let flag = Arc::new(AtomicBool::new(false));
            let own = flag.clone();
            let setter = mazurka::thread::spawn(move || own.store(true, SeqCst));
            let mut time = Box::pin(sleep(SECOND));
            while !flag.load(SeqCst) {
                if poll_once(&mut time).is_some() && gives_up {
                    break;
                }
            }
            setter.join().unwrap();
        }
    };
    assert_eq!(finds(spins(true)).0, Verdict::Ok);
    assert_eq!(finds(spins(false)).0, Verdict::Ok);
}

/// Besides, there is one where the task is not woken, which is not judged.
#[test]
fn times_without_races_are_few_executions() {
    let in_a_row = |n: u64| {
        runs(move || async move {
            for _ in 0..n {
                sleep(SECOND).await;
            }
        })
    };
    assert_eq!([1, 2, 5].map(in_a_row), [2, 3, 6]);
    let pending = || async {
        for _ in 0..3 {
            timeout(SECOND, pending::<()>()).await.unwrap_err();
        }
    };
    assert_eq!(runs(pending), 4);
    let in_time = || async {
        assert_eq!(timeout(SECOND, async { 1 }).await, Ok(1));
        let notify = Notify::new();
        notify.notify_one();
        timeout(SECOND, notify.notified()).await.unwrap();
    };
    assert_eq!(runs(in_time), 1);
}

/// A part of a task, or another task.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Statement {
    Go,
    Sleep,
    One,
    Wait,
    WaitOrNot,
}

/// The parts of the task, and what another one does.
#[derive(Clone, Debug)]
struct Program {
    parts: Vec<Vec<Statement>>,
    other: u8,
}

fn program(seed: u64) -> Program {
    use Statement::*;
    let mut rng = Rng::new(seed);
    let lengths = rng.pick(&[vec![2, 2], vec![1, 2], vec![2, 1], vec![1, 1, 1]]).clone();
    let mut statement = |_| *rng.pick(&[Go, Sleep, Sleep, One, Wait, WaitOrNot, WaitOrNot]);
    let parts = lengths.into_iter().map(|length| (0..length).map(&mut statement).collect());
    let parts = parts.collect();
    Program { parts, other: *rng.pick(&[0, 1, 1, 2]) }
}

/// What was done, in order: the part, its statement, and whether it was not given up.
type Seen = Vec<(usize, usize, bool)>;

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    at: usize,
    /// Does it wait in its statement, and is the time of that over?
    waits: bool,
    is_over: bool,
    /// It looks at its time next.
    looks: bool,
}

/// A task that polls its parts in turn.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    parts: Vec<Part>,
    /// The part that is polled; none while the task sleeps.
    polls: Option<usize>,
    /// Has it woken itself, and have others?
    is_up: bool,
    is_rung: bool,
    permit: bool,
    queue: VecDeque<usize>,
    told: BTreeSet<usize>,
    other: u8,
    seen: Seen,
}

impl Machine {
    fn notify(&mut self, is_own: bool) {
        match self.queue.pop_front() {
            Some(part) => {
                self.told.insert(part);
                self.is_up |= is_own;
                self.is_rung |= !is_own;
            }
            None => self.permit = true,
        }
    }

    fn end(&mut self, part: usize, is_done: bool) {
        self.seen.push((part, self.parts[part].at, is_done));
        self.parts[part] = Part { at: self.parts[part].at + 1, ..Part::default() };
    }

    /// The part that is polled goes on.
    fn poll(&self, part: usize, statement: Option<Statement>) -> Machine {
        let mut next = self.clone();
        let leaves = Some(part + 1);
        match (statement, self.parts[part]) {
            (None, _) => next.polls = leaves,
            (Some(Statement::Go), _) => next.end(part, true),
            (Some(Statement::One), _) => {
                next.notify(true);
                next.end(part, true);
            }
            (Some(Statement::Sleep), Part { is_over: true, .. }) => next.end(part, true),
            (Some(Statement::Sleep), _) => {
                next.parts[part].waits = true;
                next.polls = leaves;
            }
            (Some(_), Part { looks: true, is_over: true, .. }) => {
                // What it was told is for the next one.
                match next.told.remove(&part) {
                    true => next.notify(true),
                    false => next.queue.retain(|&waits| waits != part),
                }
                next.end(part, false);
            }
            (Some(_), Part { looks: true, .. }) => {
                next.parts[part].looks = false;
                next.polls = leaves;
            }
            (Some(statement), Part { waits, .. }) => {
                let was_told = next.told.remove(&part);
                if was_told || (!waits && std::mem::take(&mut next.permit)) {
                    next.end(part, true);
                } else {
                    if !waits {
                        next.queue.push_back(part);
                    }
                    next.parts[part].waits = true;
                    match statement {
                        Statement::WaitOrNot => next.parts[part].looks = true,
                        _ => next.polls = leaves,
                    }
                }
            }
        }
        next
    }

    fn next(&self, program: &Program) -> Vec<Machine> {
        let mut all = Vec::new();
        if self.other > 0 {
            let mut next = self.clone();
            next.other -= 1;
            next.notify(false);
            all.push(next);
        }
        let is_timed = |part: usize| {
            let statement = program.parts[part].get(self.parts[part].at);
            matches!(statement, Some(Statement::Sleep | Statement::WaitOrNot))
        };
        // Time passes where the task sleeps, or is to be polled again.
        if self.polls.is_none() || self.is_up {
            for part in 0..self.parts.len() {
                let Part { waits, is_over, looks, .. } = self.parts[part];
                if is_timed(part) && waits && !is_over && !looks {
                    let mut next = self.clone();
                    next.parts[part].is_over = true;
                    next.is_up = true;
                    all.push(next);
                }
            }
        }
        match self.polls {
            None if self.is_up || self.is_rung => {
                let next = self.clone();
                all.push(Machine { polls: Some(0), is_up: false, is_rung: false, ..next });
            }
            None => {}
            Some(_) if self.is_over(program) => {}
            Some(part) if part == self.parts.len() => {
                all.push(Machine { polls: None, ..self.clone() });
            }
            Some(part) => {
                let statement = program.parts[part].get(self.parts[part].at);
                all.push(self.poll(part, statement.copied()));
            }
        }
        all
    }

    fn is_over(&self, program: &Program) -> bool {
        let lengths = program.parts.iter().map(Vec::len);
        self.parts.iter().map(|part| part.at).eq(lengths)
    }
}

/// All outcomes, and whether an execution deadlocks.
fn machine_outcomes(program: &Program) -> (BTreeSet<Seen>, bool) {
    let start = Machine {
        parts: vec![Part::default(); program.parts.len()],
        polls: Some(0),
        is_up: false,
        is_rung: false,
        permit: false,
        queue: VecDeque::new(),
        told: BTreeSet::new(),
        other: program.other,
        seen: Vec::new(),
    };
    let (mut outcomes, mut deadlocks) = (BTreeSet::new(), false);
    let (mut known, mut pending) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(machine) = pending.pop() {
        let moves = machine.next(program);
        if moves.is_empty() {
            match machine.is_over(program) {
                true => drop(outcomes.insert(machine.seen)),
                false => deadlocks = true,
            }
        }
        pending.extend(moves.into_iter().filter(|next| known.insert(next.clone())));
    }
    (outcomes, deadlocks)
}

async fn run(part: usize, does: Vec<Statement>, notify: Rc<Notify>, seen: Rc<RefCell<Seen>>) {
    for (at, statement) in does.into_iter().enumerate() {
        let mut is_done = true;
        match statement {
            Statement::Go => {}
            Statement::Sleep => sleep(SECOND).await,
            Statement::One => notify.notify_one(),
            Statement::Wait => notify.notified().await,
            Statement::WaitOrNot => is_done = timeout(SECOND, notify.notified()).await.is_ok(),
        }
        seen.borrow_mut().push((part, at, is_done));
    }
}

#[test]
fn random_times_have_the_outcomes_of_a_machine() {
    let mut seen = BTreeMap::from([("deadlocks", 0), ("outcomes", 0), ("gives up", 0)]);
    for seed in 0..60 {
        let program = program(seed);
        let (outcomes, deadlocks) = machine_outcomes(&program);
        let own = program.clone();
        let (found, found_deadlocks, classes) = found("udpor", move || {
            let Program { parts, other } = own.clone();
            let notify = Rc::new(Notify::new());
            let notifies = notify.clone();
            let task = mazurka::thread::spawn(move || {
                for _ in 0..other {
                    notifies.notify_one();
                }
            });
            let seen = Rc::new(RefCell::new(Seen::new()));
            let mut parts = parts
                .into_iter()
                .enumerate()
                .map(|(part, does)| Box::pin(run(part, does, notify.clone(), seen.clone())));
            let mut next = || parts.next();
            tokio::block_on(async {
                match (next(), next(), next()) {
                    (Some(one), Some(two), None) => drop(tokio::join!(one, two)),
                    (Some(one), Some(two), Some(three)) => drop(tokio::join!(one, two, three)),
                    _ => unreachable!("two or three"),
                }
            });
            task.join().unwrap();
            seen.take()
        });
        assert_eq!(found, outcomes, "seed {seed}: {program:?}, {classes} classes");
        assert_eq!(found_deadlocks, deadlocks, "seed {seed}: {program:?}");
        let mut count = |what, is: bool| *seen.get_mut(what).unwrap() += u32::from(is);
        count("deadlocks", deadlocks);
        count("outcomes", outcomes.len() > 3);
        count("gives up", outcomes.iter().flatten().any(|&(_, _, is_done)| !is_done));
    }
    assert!(seen.values().all(|&programs| programs > 5), "{seen:?}");
}
