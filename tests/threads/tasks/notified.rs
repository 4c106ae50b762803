//! Random programs of tasks that notify and wait, beside all their interleavings in a machine that
//! is slow and obvious.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use mazurka::future as tokio;
use mazurka::thread;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::super::found;
use super::{SECOND, outcomes, poll_once};
use crate::random_models::Rng;

/// What a task does. Who waits sees whether it was notified.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Statement {
    One,
    Last,
    All,
    Wait,
    /// Waits, and may give up.
    WaitOrNot,
}

type Program = Vec<Vec<Statement>>;
type Seen = Vec<Vec<bool>>;

fn program(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let lengths = rng.pick(&[[3, 3, 0], [2, 2, 1], [2, 1, 1], [4, 2, 0], [1, 1, 2]]).to_vec();
    let statement = |rng: &mut Rng| {
        use Statement::*;
        *rng.pick(&[One, One, Last, All, All, Wait, Wait, WaitOrNot, WaitOrNot, WaitOrNot])
    };
    let lengths = lengths.into_iter().filter(|&length| length > 0);
    lengths.map(|length| (0..length).map(|_| statement(&mut rng)).collect()).collect()
}

/// Where a task is in its statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Begin,
    /// It has made its future after so many notifications of all.
    Made(u32),
    Waits,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    at: Vec<(usize, Place)>,
    seen: Seen,
    permit: bool,
    all: u32,
    queue: VecDeque<usize>,
    /// Who was notified; alone, with which statement.
    told: BTreeMap<usize, Option<bool>>,
}

impl Machine {
    fn one(&mut self, is_last: bool) {
        match if is_last { self.queue.pop_back() } else { self.queue.pop_front() } {
            Some(next) => drop(self.told.insert(next, Some(is_last))),
            None => self.permit = true,
        }
    }

    fn end(mut self, task: usize, sees: Option<bool>) -> Machine {
        self.seen[task].extend(sees);
        self.at[task] = (self.at[task].0 + 1, Place::Begin);
        self
    }

    fn next(&self, task: usize, statement: Statement) -> Vec<Machine> {
        let mut next = self.clone();
        match (statement, self.at[task].1) {
            (Statement::One, _) => next.one(false),
            (Statement::Last, _) => next.one(true),
            (Statement::All, _) => {
                next.all += 1;
                for waits in std::mem::take(&mut next.queue) {
                    next.told.insert(waits, None);
                }
            }
            (_, Place::Begin) => {
                next.at[task].1 = Place::Made(self.all);
                return vec![next];
            }
            (_, Place::Made(all)) => {
                if std::mem::take(&mut next.permit) || self.all != all {
                    return vec![next.end(task, Some(true))];
                }
                next.at[task].1 = Place::Waits;
                next.queue.push_back(task);
                return vec![next];
            }
            (_, Place::Waits) => {
                let mut all = Vec::new();
                let told = next.told.remove(&task);
                if told.is_some() {
                    all.push(next.clone().end(task, Some(true)));
                }
                if statement == Statement::WaitOrNot {
                    next.queue.retain(|&waits| waits != task);
                    if let Some(Some(is_last)) = told {
                        next.one(is_last);
                    }
                    all.push(next.end(task, Some(false)));
                }
                return all;
            }
        }
        vec![next.end(task, None)]
    }
}

/// All outcomes, and whether an interleaving deadlocks.
fn interleavings(program: &Program) -> (BTreeSet<Seen>, bool) {
    let start = Machine {
        at: vec![(0, Place::Begin); program.len()],
        seen: vec![Vec::new(); program.len()],
        permit: false,
        all: 0,
        queue: VecDeque::new(),
        told: BTreeMap::new(),
    };
    let (mut outcomes, mut deadlocks) = (BTreeSet::new(), false);
    let (mut known, mut pending) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(machine) = pending.pop() {
        let running = (0..program.len()).filter_map(|task| {
            let statement = program[task].get(machine.at[task].0)?;
            Some(machine.next(task, *statement))
        });
        let moves: Vec<Machine> = running.flatten().collect();
        if moves.is_empty() {
            let is_over = (0..program.len()).all(|task| machine.at[task].0 == program[task].len());
            match is_over {
                true => drop(outcomes.insert(machine.seen)),
                false => deadlocks = true,
            }
        }
        pending.extend(moves.into_iter().filter(|next| known.insert(next.clone())));
    }
    (outcomes, deadlocks)
}

async fn run(notify: &Notify, statements: Vec<Statement>) -> Vec<bool> {
    let mut seen = Vec::new();
    for statement in statements {
        match statement {
            Statement::One => notify.notify_one(),
            Statement::Last => notify.notify_last(),
            Statement::All => notify.notify_waiters(),
            Statement::Wait => {
                notify.notified().await;
                seen.push(true);
            }
            Statement::WaitOrNot => seen.push(timeout(SECOND, notify.notified()).await.is_ok()),
        }
    }
    seen
}

/// All outcomes that a search finds, whether it finds a deadlock, and the number of its classes.
fn search(program: &Program, explorer: &str) -> (BTreeSet<Seen>, bool, u64) {
    let program = program.clone();
    found(explorer, move || {
        let notify = Arc::new(Notify::new());
        let start = |does: &Vec<Statement>| {
            let (notify, does) = (notify.clone(), does.clone());
            thread::spawn(move || tokio::block_on(run(&notify, does)))
        };
        let tasks: Vec<_> = program.iter().map(start).collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    })
}

#[test]
fn random_programs_have_the_outcomes_of_their_interleavings() {
    let (mut most, mut deadlocking) = (0, 0);
    for seed in 0..33 {
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
        most = most.max(outcomes.len());
        deadlocking += u32::from(deadlocks);
    }
    assert!(most > 3 && deadlocking > 5, "{most} outcomes, {deadlocking} that deadlock");
}

/// Who was made when all were notified does not depend on who has been polled.
#[test]
fn those_that_were_made_before_are_notified() {
    let outcomes = outcomes(|| async {
        let notify = Arc::new(Notify::new());
        let own = notify.clone();
        let task = tokio::spawn(async move { own.notify_waiters() });
        let (mut first, mut second) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
        let is_early = poll_once(&mut second).is_some();
        task.await.unwrap();
        let first = poll_once(&mut first).is_some();
        (first, is_early || poll_once(&mut second).is_some())
    });
    assert_eq!(outcomes, BTreeSet::from([(false, false), (true, false), (true, true)]));
}

#[test]
fn who_is_notified_with_all_leaves_the_permit() {
    let both = |polls_first: bool| {
        outcomes(move || async move {
            let notify = Notify::new();
            let mut first = Box::pin(notify.notified());
            if polls_first {
                assert!(poll_once(&mut first).is_none());
            }
            notify.notify_waiters();
            notify.notify_one();
            first.await;
            poll_once(&mut Box::pin(notify.notified())).is_some()
        })
    };
    assert_eq!([false, true].map(both), [BTreeSet::from([true]), BTreeSet::from([true])]);
}
