//! The programs for Mazurka.

use mazurka::program::{Closures, Program, spawn};
use mazurka::systems::history::History;

pub fn mutex(n: usize) -> History<Closures> {
    let mut program = Program::new();
    let mutex = program.mutex("mutex", ());
    for i in 0..n {
        program.process(format!("P{i}"), async move || drop(mutex.lock().await));
    }
    program.build()
}

pub fn writers(n: usize) -> History<Closures> {
    let mut program = Program::new();
    let x = program.cell("x", 0);
    for i in 0..n {
        program.process(format!("writer {i}"), async move || x.write(i + 1).await);
    }
    program.build()
}

pub fn last_zero(n: usize) -> History<Closures> {
    let mut program = Program::new();
    let array: Vec<_> = (0..=n).map(|i| program.cell(format!("a[{i}]"), 0)).collect();
    let searched = array.clone();
    program.process("searcher", async move || {
        let mut i = n;
        while searched[i].read().await != 0 {
            i -= 1;
        }
    });
    for j in 1..=n {
        let (from, to) = (array[j - 1], array[j]);
        program.process(format!("writer {j}"), async move || to.write(from.read().await + 1).await);
    }
    program.build()
}

pub fn philosophers(n: usize) -> History<Closures> {
    let mut program = Program::new();
    let forks: Vec<_> = (0..n).map(|i| program.mutex(format!("fork {i}"), ())).collect();
    for i in 0..n {
        let right = (i + 1) % n;
        let (first, second) = (forks[i.min(right)], forks[i.max(right)]);
        program.process(format!("philosopher {i}"), async move || {
            let first = first.lock().await;
            let second = second.lock().await;
            drop(second);
            drop(first);
        });
    }
    program.build()
}

pub fn dispatcher(servers: usize, requests: usize) -> History<Closures> {
    let mut program = Program::new();
    let locks: Vec<_> = (0..servers).map(|i| program.mutex(format!("server {i}"), ())).collect();
    let count = program.mutex("count", 0);
    for (i, &lock) in locks.iter().enumerate() {
        program.process(format!("server {i}"), async move || drop(lock.lock().await));
    }
    program.process("dispatcher", async move || {
        for _ in 0..requests {
            let picker = spawn("picker", async move || {
                for server in 0..servers {
                    *count.lock().await = server;
                }
            });
            let picker = picker.await;
            let seen = *count.lock().await;
            drop(locks[seen].lock().await);
            picker.join().await;
        }
    });
    program.build()
}
