//! Updates of cells: all integer types, beside the same operations of atomics in all orders.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mazurka::explore::Verdict;
use mazurka::program::{Cell, Integer, Program};

use super::{EXPLORERS, all};
use crate::random_models::Rng;

#[derive(Clone, Copy, Debug)]
enum Update {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Max,
    Min,
    Swap,
    Exchange,
    CompareAndSwap,
    Halve,
}

const UPDATES: [Update; 11] = {
    use Update::*;
    [Add, Sub, And, Or, Xor, Max, Min, Swap, Exchange, CompareAndSwap, Halve]
};

/// The numbers that a test needs of an integer type.
trait Number: Integer + mazurka::program::Bits {
    fn of(n: u8) -> Self;

    fn number(self) -> i128;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            fn of(n: u8) -> Self {
                n as $number
            }

            fn number(self) -> i128 {
                self as i128
            }
        }
    )*};
}
numbers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

/// What the operation returns, and what it leaves.
fn plainly(update: Update, content: i128, n: i128) -> (i128, i128) {
    let new = match update {
        Update::Add => content + n,
        Update::Sub => content - n,
        Update::And => content & n,
        Update::Or => content | n,
        Update::Xor => content ^ n,
        Update::Max => content.max(n),
        Update::Min => content.min(n),
        Update::Swap => n,
        Update::Exchange | Update::CompareAndSwap if content == n => n + 1,
        Update::Exchange | Update::CompareAndSwap => content,
        Update::Halve => content / 2 + n,
    };
    let returned = match update {
        Update::Exchange if content != n => -content,
        Update::CompareAndSwap => i128::from(content == n),
        _ => content,
    };
    (returned, new)
}

async fn act<T: Number>(cell: Cell<T>, update: Update, n: u8) -> i128 {
    let operand = T::of(n);
    let old = match update {
        Update::Add => cell.fetch_add(operand).await,
        Update::Sub => cell.fetch_sub(operand).await,
        Update::And => cell.fetch_and(operand).await,
        Update::Or => cell.fetch_or(operand).await,
        Update::Xor => cell.fetch_xor(operand).await,
        Update::Max => cell.fetch_max(operand).await,
        Update::Min => cell.fetch_min(operand).await,
        Update::Swap => cell.swap(operand).await,
        Update::Exchange => match cell.compare_exchange(operand, T::of(n + 1)).await {
            Ok(old) => old,
            Err(found) => return -found.number(),
        },
        Update::CompareAndSwap => {
            return i128::from(cell.compare_and_swap(operand, T::of(n + 1)).await);
        }
        // What it does depends on what the process has captured.
        Update::Halve => cell.update(move |content| T::of(content.number() as u8 / 2 + n)).await,
    };
    old.number()
}

/// Two processes with some updates each of one number.
fn sample(seed: u64) -> [Vec<(Update, u8)>; 2] {
    let mut rng = Rng::new(seed);
    [(); 2].map(|()| {
        let length = *rng.pick(&[1, 2, 2]);
        (0..length).map(|_| (*rng.pick(&UPDATES), *rng.pick(&[1, 2, 3]))).collect()
    })
}

type Seen = (Vec<Vec<i128>>, i128);

const FIRST: u8 = 20;

/// What all orders of the steps return and leave; `None` if a number is too large or too small for
/// some type.
fn in_all_orders(bodies: &[Vec<(Update, u8)>; 2]) -> Option<BTreeSet<Seen>> {
    let mut open = vec![(vec![Vec::new(); 2], i128::from(FIRST))];
    let mut found = BTreeSet::new();
    while let Some((seen, content)) = open.pop() {
        let mut has_ended = true;
        for (process, body) in bodies.iter().enumerate() {
            if let Some(&(update, n)) = body.get(seen[process].len()) {
                has_ended = false;
                let (returned, new) = plainly(update, content, n.into());
                let mut seen: Vec<Vec<i128>> = seen.clone();
                seen[process].push(returned);
                open.push((seen, new));
            }
        }
        if !(0..=127).contains(&content) {
            return None;
        }
        if has_ended {
            found.insert((seen, content));
        }
    }
    Some(found)
}

fn explored<T: Number>(bodies: &[Vec<(Update, u8)>; 2], explorer: &str) -> BTreeSet<Seen> {
    let (mut program, found) = (Program::new(), Arc::new(Mutex::new(BTreeSet::new())));
    let cell = program.cell("cell", T::of(FIRST));
    let logs = [0, 1].map(|n| program.cell(format!("log {n}"), Vec::new()));
    for (n, body) in bodies.iter().enumerate() {
        let (body, log) = (body.clone(), logs[n]);
        program.process(format!("P{n}"), async move || {
            let mut seen = Vec::new();
            for &(update, n) in &body {
                seen.push(act(cell, update, n).await);
            }
            log.write(seen).await;
        });
    }
    let noted = found.clone();
    program.finally(move |end| {
        let seen = logs.map(|log| end.read(log)).to_vec();
        noted.lock().unwrap().insert((seen, end.read(cell).number()));
    });
    let checked = all(&program.build(), explorer);
    assert_eq!(checked.verdict(), Verdict::Ok, "{bodies:?}: {checked}");
    let mut found = found.lock().unwrap();
    std::mem::take(&mut found)
}

#[test]
fn updates_of_all_integers_are_those_of_all_orders() {
    fn agrees<T: Number>(seeds: std::ops::Range<u64>) {
        let mut compared = 0;
        for seed in seeds {
            let bodies = sample(seed);
            let Some(expected) = in_all_orders(&bodies) else { continue };
            let found = explored::<T>(&bodies, EXPLORERS[seed as usize % EXPLORERS.len()]);
            assert_eq!(found, expected, "{seed}: {bodies:?}");
            compared += 1;
        }
        assert!(compared > 5, "{compared}");
    }
    agrees::<i64>(0..60);
    agrees::<u8>(100..130);
    agrees::<i8>(200..220);
    agrees::<i16>(300..320);
    agrees::<u16>(400..420);
    agrees::<i32>(500..520);
    agrees::<u32>(600..620);
    agrees::<u64>(700..720);
    agrees::<i128>(800..820);
    agrees::<u128>(900..920);
    agrees::<usize>(1000..1020);
    agrees::<isize>(1100..1120);
}

/// The violation of a process that does this with a cell.
fn wrong<T: mazurka::program::Data>(
    content: T,
    act: impl AsyncFn(Cell<T>) + Send + Sync + 'static,
) -> String {
    let mut program = Program::new();
    let cell = program.cell("cell", content);
    let act = Arc::new(act);
    program.process("P", async move || act(cell).await);
    let told = mazurka::check(&program.build()).run().to_string();
    told.lines().next().expect("a line").to_string()
}

#[test]
fn numbers_that_leave_their_range_are_violations() {
    let place = |line: u32| format!(" (P, tests/program/updates.rs:{line}).");
    let told = wrong(250_u8, async |cell| _ = cell.fetch_add(6).await);
    assert_eq!(told, format!("Error: fetch_add leaves the range of u8{}", place(line!() - 1)));
    let told = wrong(0_usize, async |cell| _ = cell.fetch_sub(1).await);
    assert_eq!(told, format!("Error: fetch_sub leaves the range of usize{}", place(line!() - 1)));
    let told = wrong(i64::MAX, async |cell| _ = cell.fetch_add(1).await);
    assert_eq!(told, format!("Error: fetch_add leaves the range of i64{}", place(line!() - 1)));
    let told = wrong(1_i32, async |cell| _ = cell.update(|n| n / (n - 1)).await);
    assert_eq!(told, format!("Error: attempt to divide by zero{}", place(line!() - 1)));
}

#[test]
fn what_other_types_can_do() {
    let mut program = Program::new();
    let (flag, word) = (program.cell("flag", false), program.cell("word", "b".to_string()));
    program.process("P", async move || {
        assert!(!flag.fetch_or(true).await && flag.fetch_and(false).await);
        assert!(!flag.fetch_xor(true).await && flag.read().await);
        assert_eq!(word.fetch_max("c".into()).await, "b");
        assert_eq!(word.fetch_min("a".into()).await, "c");
        assert_eq!(word.compare_exchange("x".into(), "y".into()).await, Err("a".into()));
    });
    mazurka::check(&program.build()).assert_ok();
}

/// Updates at one place by functions that have captured something else.
#[test]
fn functions_are_told_apart() {
    for explorer in EXPLORERS {
        let mut program = Program::new();
        let sum = program.cell("sum", 0_u64);
        let digits = program.mailbox("digits");
        program.process("sender", async move || {
            for digit in 1..4 {
                digits.send(digit).await;
            }
        });
        for name in ["P", "Q"] {
            program.process(name, async move || {
                let digit = digits.recv().await;
                sum.update(move |sum| 10 * sum + digit).await;
            });
        }
        let found = Arc::new(Mutex::new(BTreeSet::new()));
        let noted = found.clone();
        program.finally(move |end| _ = noted.lock().unwrap().insert(end.read(sum)));
        let checked = all(&program.build().max_histories(0), explorer);
        assert_eq!(checked.verdict(), Verdict::Ok, "{checked}");
        assert_eq!(*found.lock().unwrap(), BTreeSet::from([12, 21]), "{checked}");
    }
}
