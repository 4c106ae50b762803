//! The programs, written as with the standard library. The module that includes this file provides
//! `sync` and `thread`.
//!
//! `Arc` is from the standard library: loom's `Arc` has steps of its own, with which three writers
//! would have 15 times as many executions.

use std::sync::Arc;

use super::sync::Mutex;
use super::sync::atomic::{AtomicUsize, Ordering};
use super::thread::{self, JoinHandle};

fn all<T>(threads: impl Iterator<Item = JoinHandle<T>>) {
    let threads: Vec<_> = threads.collect();
    threads.into_iter().for_each(|thread| drop(thread.join().expect("no thread fails")));
}

/// `n` threads, each in a critical section once.
pub fn mutex(n: usize) {
    let mutex = Arc::new(Mutex::new(()));
    all((0..n).map(|_| {
        let mutex = mutex.clone();
        thread::spawn(move || drop(mutex.lock().expect("no thread fails")))
    }));
}

/// `n` threads that write one variable.
pub fn writers(n: usize) {
    let x = Arc::new(AtomicUsize::new(0));
    all((0..n).map(|i| {
        let x = x.clone();
        thread::spawn(move || x.store(i + 1, Ordering::SeqCst))
    }));
}

/// One thread searches for the last zero of an array while `n` threads overwrite an element each.
pub fn last_zero(n: usize) {
    let array: Arc<Vec<_>> = Arc::new((0..=n).map(|_| AtomicUsize::new(0)).collect());
    let searched = array.clone();
    let searcher = thread::spawn(move || {
        let mut i = n;
        while searched[i].load(Ordering::SeqCst) != 0 {
            i -= 1;
        }
    });
    let writers = (1..=n).map(|j| {
        let array = array.clone();
        thread::spawn(move || {
            array[j].store(array[j - 1].load(Ordering::SeqCst) + 1, Ordering::SeqCst);
        })
    });
    all([searcher].into_iter().chain(writers));
}

/// `n` philosophers, who take the fork with the smaller number first.
pub fn philosophers(n: usize) {
    let forks: Arc<Vec<_>> = Arc::new((0..n).map(|_| Mutex::new(())).collect());
    all((0..n).map(|i| {
        let forks = forks.clone();
        thread::spawn(move || {
            let right = (i + 1) % n;
            let first = forks[i.min(right)].lock().expect("no thread fails");
            let second = forks[i.max(right)].lock().expect("no thread fails");
            drop(second);
            drop(first);
        })
    }));
}

/// A dispatcher lets one of several servers serve each request. A picker, started for each request,
/// counts through the servers, and the dispatcher takes the server whose number it sees. The thread
/// that starts all others is the dispatcher.
pub fn dispatcher(servers: usize, requests: usize) {
    let locks: Arc<Vec<_>> = Arc::new((0..servers).map(|_| Mutex::new(())).collect());
    let count = Arc::new(Mutex::new(0));
    let serving: Vec<_> = (0..servers)
        .map(|server| {
            let locks = locks.clone();
            thread::spawn(move || drop(locks[server].lock().expect("no thread fails")))
        })
        .collect();
    for _ in 0..requests {
        let counting = count.clone();
        let picker = thread::spawn(move || {
            for server in 0..servers {
                *counting.lock().expect("no thread fails") = server;
            }
        });
        let seen = *count.lock().expect("no thread fails");
        drop(locks[seen].lock().expect("no thread fails"));
        picker.join().expect("no thread fails");
    }
    all(serving.into_iter());
}
