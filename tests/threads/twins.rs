//! Random programs of threads, beside all their interleavings in a machine that is slow and obvious.

use std::collections::BTreeSet;

use mazurka::sync::atomic::{AtomicI8, AtomicPtr, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex, RwLock};
use mazurka::thread;

use super::found;
use crate::random_models::Rng;

/// A statement of a thread. What it reads is added to what the thread has seen.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Load(usize),
    Store(usize, i8),
    Add(usize, i8),
    Swap(usize, i8),
    Max(usize, i8),
    Exchange(usize, i8, i8),
    /// Locks, adds to what is guarded, and unlocks.
    Guarded(usize, i8),
    /// The same with two locks, the second one locked within the first.
    Both(usize, i8),
    /// Reads under the lock of readers and writers; tries to; adds to what it guards.
    Read,
    TryRead,
    Write(i8),
    /// Has this lock as a writer while it does what `Guarded` does.
    Within(usize, i8),
    /// Exchanges the pointer, if it is the first, for the second; just reads it.
    Point(usize, usize),
    Pointed,
}

const ATOMICS: usize = 2;
const LOCKS: usize = 2;
/// The lock of readers and writers, among what is guarded.
const SHARED: usize = LOCKS;
/// What pointers may point to.
static TARGETS: [u8; 3] = [0, 1, 2];
/// What is seen where a lock is not free.
const TAKEN: i8 = -77;

type Seen = Vec<Vec<i8>>;
/// What threads have seen, and what is in memory at the end.
type Outcome = (Seen, [i8; ATOMICS], [i8; LOCKS + 1], usize);

/// Statements of atomics and mutexes; or of other locks and pointers.
fn program(seed: u64, others: bool) -> Vec<Vec<Statement>> {
    let mut rng = Rng::new(seed);
    // Locks that are tried are made in another way.
    let tries = seed.is_multiple_of(3);
    let threads = *rng.pick(&[2, 2, 3, 3]);
    let statement = |rng: &mut Rng| {
        let (at, n) = (*rng.pick(&[0, 1]), *rng.pick(&[1, 2, 100]));
        if others {
            return match *rng.pick(&[0, 0, 1, 2, 3, 4, 5, 6]) {
                0 if tries => Statement::TryRead,
                0 => Statement::Read,
                1 => Statement::Write(n),
                2 => Statement::Within(at, n),
                3 => Statement::Guarded(at, n),
                4 => Statement::Point(at, *rng.pick(&[1, 2])),
                5 => Statement::Point(1 + at, *rng.pick(&[0, 2])),
                _ => Statement::Pointed,
            };
        }
        match *rng.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 7]) {
            0 => Statement::Load(at),
            1 => Statement::Store(at, n),
            2 => Statement::Add(at, n),
            3 => Statement::Swap(at, n),
            4 => Statement::Max(at, n),
            5 => Statement::Exchange(at, *rng.pick(&[0, 1]), n),
            6 => Statement::Guarded(at, n),
            _ => Statement::Both(at, n),
        }
    };
    // Locks that are made of others have many steps.
    let threads = if others { 2 } else { threads };
    let most = if threads == 2 && !others { 5 } else { 3 };
    (0..threads)
        .map(|_| {
            let length = *rng.pick(&[2, most - 1, most]);
            (0..length).map(|_| statement(&mut rng)).collect()
        })
        .collect()
}

/// An atomic step of the machine.
#[derive(Clone, Copy)]
enum Step {
    Lock(usize),
    Unlock(usize),
    /// Begins and ends to read.
    Share,
    Unshare,
    Do(Statement),
}

fn steps(statements: &[Statement]) -> Vec<Step> {
    let of = |&statement: &Statement| match statement {
        Statement::Guarded(at, _) => vec![Step::Lock(at), Step::Do(statement), Step::Unlock(at)],
        Statement::Both(at, _) => {
            let other = 1 - at;
            let (lock, unlock) = (Step::Lock(other), Step::Unlock(other));
            vec![Step::Lock(at), lock, Step::Do(statement), unlock, Step::Unlock(at)]
        }
        Statement::Read => vec![Step::Share, Step::Do(statement), Step::Unshare],
        Statement::Write(_) => {
            vec![Step::Lock(SHARED), Step::Do(statement), Step::Unlock(SHARED)]
        }
        Statement::Within(at, n) => {
            let inner = [Step::Lock(at), Step::Do(Statement::Guarded(at, n)), Step::Unlock(at)];
            [&[Step::Lock(SHARED)], &inner[..], &[Step::Unlock(SHARED)]].concat()
        }
        _ => vec![Step::Do(statement)],
    };
    statements.iter().flat_map(of).collect()
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    at: Vec<usize>,
    outcome: Outcome,
    owners: [Option<usize>; LOCKS + 1],
    readers: usize,
}

/// All outcomes, and whether an interleaving deadlocks.
fn interleavings(program: &[Vec<Statement>]) -> (BTreeSet<Outcome>, bool) {
    let steps: Vec<Vec<Step>> = program.iter().map(|statements| steps(statements)).collect();
    let start = Machine {
        at: vec![0; program.len()],
        outcome: (vec![Vec::new(); program.len()], [0; ATOMICS], [0; LOCKS + 1], 0),
        owners: [None; LOCKS + 1],
        readers: 0,
    };
    let (mut outcomes, mut deadlocks) = (BTreeSet::new(), false);
    let (mut known, mut pending) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(machine) = pending.pop() {
        let mut moves = 0;
        for (thread, steps) in steps.iter().enumerate() {
            let Some(&step) = steps.get(machine.at[thread]) else { continue };
            let mut next = machine.clone();
            if !carry_out(&mut next, thread, step) {
                continue;
            }
            next.at[thread] += 1;
            moves += 1;
            if known.insert(next.clone()) {
                pending.push(next);
            }
        }
        if moves == 0 {
            let is_over =
                (0..program.len()).all(|thread| machine.at[thread] == steps[thread].len());
            match is_over {
                true => drop(outcomes.insert(machine.outcome)),
                false => deadlocks = true,
            }
        }
    }
    (outcomes, deadlocks)
}

/// Returns false if the thread has to wait.
fn carry_out(machine: &mut Machine, thread: usize, step: Step) -> bool {
    let (seen, atomics, guarded, pointer) = &mut machine.outcome;
    let seen = &mut seen[thread];
    match step {
        Step::Lock(SHARED) if machine.readers > 0 => return false,
        Step::Share if machine.owners[SHARED].is_some() => return false,
        Step::Share => machine.readers += 1,
        Step::Unshare => machine.readers -= 1,
        Step::Do(Statement::TryRead) if machine.owners[SHARED].is_some() => seen.push(TAKEN),
        Step::Do(Statement::Read | Statement::TryRead) => seen.push(guarded[SHARED]),
        Step::Do(Statement::Write(n)) => {
            seen.push(guarded[SHARED]);
            guarded[SHARED] = guarded[SHARED].wrapping_add(n);
        }
        Step::Do(Statement::Pointed) => seen.push(*pointer as i8),
        Step::Do(Statement::Point(expected, new)) => {
            seen.push(*pointer as i8);
            if *pointer == expected {
                *pointer = new;
            }
        }
        Step::Lock(at) if machine.owners[at].is_some() => return false,
        Step::Lock(at) => machine.owners[at] = Some(thread),
        Step::Unlock(at) => machine.owners[at] = None,
        Step::Do(Statement::Store(at, n)) => atomics[at] = n,
        Step::Do(Statement::Guarded(at, n)) => {
            seen.push(guarded[at]);
            guarded[at] = guarded[at].wrapping_add(n);
        }
        Step::Do(Statement::Both(at, n)) => {
            seen.push(guarded[1 - at]);
            guarded[1 - at] = guarded[at].wrapping_sub(n);
        }
        Step::Do(statement) => {
            let (Statement::Load(at)
            | Statement::Add(at, _)
            | Statement::Swap(at, _)
            | Statement::Max(at, _)
            | Statement::Exchange(at, ..)) = statement
            else {
                unreachable!("all others are above");
            };
            seen.push(atomics[at]);
            let old = atomics[at];
            atomics[at] = match statement {
                Statement::Add(_, n) => old.wrapping_add(n),
                Statement::Swap(_, n) => n,
                Statement::Max(_, n) => old.max(n),
                Statement::Exchange(_, expected, n) if old == expected => n,
                _ => old,
            };
        }
    }
    true
}

struct Memory {
    atomics: [AtomicI8; ATOMICS],
    guarded: [Mutex<i8>; LOCKS],
    shared: RwLock<i8>,
    pointer: AtomicPtr<u8>,
}

fn target(number: usize) -> *mut u8 {
    std::ptr::from_ref(&TARGETS[number]).cast_mut()
}

/// The number of what this points to.
fn number(pointer: *mut u8) -> usize {
    (0..TARGETS.len()).find(|&number| target(number) == pointer).expect("one of the targets")
}

fn run(statements: &[Statement], memory: &Memory) -> Vec<i8> {
    let Memory { atomics, guarded, shared, pointer } = memory;
    let mut seen = Vec::new();
    for &statement in statements {
        match statement {
            Statement::Load(at) => seen.push(atomics[at].load(SeqCst)),
            Statement::Store(at, n) => atomics[at].store(n, SeqCst),
            Statement::Add(at, n) => seen.push(atomics[at].fetch_add(n, SeqCst)),
            Statement::Swap(at, n) => seen.push(atomics[at].swap(n, SeqCst)),
            Statement::Max(at, n) => seen.push(atomics[at].fetch_max(n, SeqCst)),
            Statement::Exchange(at, expected, n) => {
                let found = atomics[at].compare_exchange(expected, n, SeqCst, SeqCst);
                seen.push(found.unwrap_or_else(|old| old));
            }
            Statement::Guarded(at, n) => {
                let mut value = guarded[at].lock().unwrap();
                seen.push(*value);
                *value = value.wrapping_add(n);
            }
            Statement::Both(at, n) => {
                let outer = guarded[at].lock().unwrap();
                let mut inner = guarded[1 - at].lock().unwrap();
                seen.push(*inner);
                *inner = outer.wrapping_sub(n);
            }
            Statement::Read => seen.push(*shared.read().unwrap()),
            Statement::TryRead => seen.push(shared.try_read().map_or(TAKEN, |value| *value)),
            Statement::Write(n) => {
                let mut value = shared.write().unwrap();
                seen.push(*value);
                *value = value.wrapping_add(n);
            }
            Statement::Within(at, n) => {
                let _outer = shared.write().unwrap();
                let mut value = guarded[at].lock().unwrap();
                seen.push(*value);
                *value = value.wrapping_add(n);
            }
            Statement::Point(expected, new) => {
                let [expected, new] = [expected, new].map(target);
                let found = pointer.compare_exchange(expected, new, SeqCst, SeqCst);
                seen.push(number(found.unwrap_or_else(|old| old)) as i8);
            }
            Statement::Pointed => seen.push(number(pointer.load(SeqCst)) as i8),
        }
    }
    seen
}

/// All outcomes that a search finds, whether it finds a deadlock, and the number of its classes.
fn search(program: &[Vec<Statement>], explorer: &str) -> (BTreeSet<Outcome>, bool, u64) {
    let program = program.to_vec();
    found(explorer, move || {
        let memory = Arc::new(Memory {
            atomics: Default::default(),
            guarded: [Mutex::new(0), Mutex::new(0)],
            shared: RwLock::new(0),
            pointer: AtomicPtr::new(target(0)),
        });
        let threads: Vec<_> = program
            .iter()
            .map(|statements| {
                let (statements, memory) = (statements.clone(), memory.clone());
                thread::spawn(move || run(&statements, &memory))
            })
            .collect();
        let seen = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let atomics = std::array::from_fn(|at| memory.atomics[at].load(SeqCst));
        let [first, second] = [0, 1].map(|at| *memory.guarded[at].lock().unwrap());
        let guarded = [first, second, *memory.shared.read().unwrap()];
        let pointer = number(memory.pointer.load(SeqCst));
        (seen, atomics, guarded, pointer)
    })
}

#[test]
fn random_programs_have_the_outcomes_of_their_interleavings() {
    let (mut most, mut deadlocking) = (0, 0);
    for seed in 0..90 {
        let program = program(seed, seed >= 60);
        let (outcomes, deadlocks) = interleavings(&program);
        let (found, found_deadlocks, classes) = search(&program, "udpor");
        assert_eq!(found, outcomes, "seed {seed}: {program:?}");
        assert_eq!(found_deadlocks, deadlocks, "seed {seed}: {program:?}");
        for explorer in ["optimal", "source"] {
            let by_other = search(&program, explorer);
            assert_eq!(by_other, (found.clone(), deadlocks, classes), "seed {seed}: {program:?}");
        }
        most = most.max(outcomes.len());
        deadlocking += u32::from(deadlocks);
    }
    assert!(most > 20 && deadlocking > 2, "{most} outcomes, {deadlocking} that deadlock");
}
