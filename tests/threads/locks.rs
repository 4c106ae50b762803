//! Locks: what poisons them, how they are tried, and whom they wake.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use mazurka::explore::Verdict;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock};
use mazurka::thread;
use mazurka::threads::Builder;

use super::{fails_if_woken, found, verdict};

/// Panics with this, and catches it.
fn panic_with<G>(guard: impl FnOnce() -> G) {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _guard = guard();
        resume_unwind(Box::new(1));
    }));
    assert!(caught.is_err());
}

#[test]
fn when_a_lock_is_poisoned_is_explored() {
    let (mutexes, _, classes) = found("optimal", || {
        let lock = Arc::new(Mutex::new(0));
        let own = lock.clone();
        let other = thread::spawn(move || panic_with(|| own.lock()));
        let is_poisoned = lock.is_poisoned();
        other.join().unwrap();
        assert!(lock.is_poisoned() && lock.lock().is_err());
        is_poisoned
    });
    assert_eq!((mutexes.len(), classes), (2, 2), "before and after");
    let (locks, ..) = found("optimal", || {
        let lock = Arc::new(RwLock::new(0));
        let own = lock.clone();
        let other = thread::spawn(move || {
            panic_with(|| own.read());
            panic_with(|| own.write());
        });
        let is_poisoned = lock.is_poisoned();
        other.join().unwrap();
        assert!(lock.is_poisoned() && lock.read().is_err());
        is_poisoned
    });
    assert_eq!(locks.len(), 2, "before and after");
}

#[test]
fn when_a_lock_is_healed_is_explored() {
    let (seen, ..) = found("optimal", || {
        let lock = Arc::new(Mutex::new(0));
        panic_with(|| lock.lock());
        let own = lock.clone();
        let other = thread::spawn(move || own.clear_poison());
        let was_poisoned = lock.lock().is_err();
        other.join().unwrap();
        assert!(!lock.is_poisoned() && lock.lock().is_ok());
        was_poisoned
    });
    assert_eq!(seen.len(), 2, "before and after");
}

/// The documentation of `std::sync::RwLock` shows it.
#[test]
fn who_reads_twice_may_wait_for_a_writer_between() {
    for tries in [false, true] {
        let (text, says) = verdict(move || {
            let lock = Arc::new(RwLock::new(0));
            if tries {
                drop(Mutex::new(0).try_lock());
            }
            let own = lock.clone();
            let writer = thread::spawn(move || *own.write().unwrap() += 1);
            let one = lock.read().unwrap();
            drop((lock.read().unwrap(), one));
            writer.join().unwrap();
        });
        assert_eq!(text, Verdict::Deadlock, "tries: {tries}, {says}");
    }
}

#[test]
fn two_readers_may_not_meet_behind_a_writer() {
    for tries in [false, true] {
        let (text, says) = verdict(move || {
            let (lock, barrier) = (Arc::new(RwLock::new(0)), Arc::new(Barrier::new(2)));
            if tries {
                drop(RwLock::new(0).try_read());
            }
            let readers = [1, 2].map(|_| {
                let (lock, barrier) = (lock.clone(), barrier.clone());
                thread::spawn(move || {
                    let _read = lock.read().unwrap();
                    barrier.wait();
                })
            });
            *lock.write().unwrap() += 1;
            readers.into_iter().for_each(|reader| reader.join().unwrap());
        });
        assert_eq!(text, Verdict::Deadlock, "tries: {tries}, {says}");
    }
}

/// What is tried is found to be locked by a writer that waits, too, as std's is.
#[test]
fn readers_try_in_vain_if_a_writer_waits() {
    let (seen, deadlocks, _) = found("optimal", || {
        let lock = Arc::new(RwLock::new(0));
        let own = lock.clone();
        let read = lock.read().unwrap();
        let writer = thread::spawn(move || *own.write().unwrap() += 1);
        let is_read = lock.try_read().is_ok();
        drop(read);
        writer.join().unwrap();
        assert_eq!(*lock.try_read().unwrap(), 1);
        is_read
    });
    assert_eq!((seen.len(), deadlocks), (2, false));
}

#[test]
fn a_thread_that_is_parked_wakes_for_no_reason_if_it_may() {
    let trusts = || {
        let flag = Arc::new(AtomicBool::new(false));
        let (own, main) = (flag.clone(), thread::current());
        let other = thread::spawn(move || {
            own.store(true, SeqCst);
            main.unpark();
        });
        thread::park();
        assert!(flag.load(SeqCst));
        other.join().unwrap();
    };
    fails_if_woken(trusts);
    let trusts = || {
        let lock = Arc::new((Mutex::new(false), Condvar::new()));
        let own = lock.clone();
        thread::spawn(move || {
            *own.0.lock().unwrap() = true;
            own.1.notify_one();
        });
        let guard = lock.0.lock().unwrap();
        if !*guard {
            let (guard, result) = lock.1.wait_timeout(guard, Duration::from_secs(1)).unwrap();
            assert!(*guard || result.timed_out());
        }
    };
    fails_if_woken(trusts);
}

/// Only what the program waits for wakes for no reason; not what others are made of.
#[test]
fn nobody_sees_what_wakes_inside_for_no_reason() {
    let meets = || {
        let barrier = Arc::new(Barrier::new(2));
        let own = barrier.clone();
        let other = thread::spawn(move || own.wait().is_leader());
        let is_leader = barrier.wait().is_leader();
        assert_ne!(is_leader, other.join().unwrap());
    };
    let classes = |builder: Builder| builder.all().run(meets).stats().traces;
    assert_eq!(classes(Builder::new().spurious_wakeups(2)), classes(Builder::new()));
}

#[test]
fn a_guard_that_is_forgotten_locks_no_other_lock() {
    Builder::new().check(|| {
        for _ in 0..3 {
            let (lock, other) = (Box::new(Mutex::new(0)), Box::new(RwLock::new(0)));
            std::mem::forget((lock.lock().unwrap(), other.write().unwrap()));
        }
    });
}

#[test]
fn what_is_made_once_asks_for_no_weak_ordering() {
    Builder::new().refuse_weak_orderings().check(|| {
        let once = Arc::new(OnceLock::new());
        let own = once.clone();
        let other = thread::spawn(move || *own.get_or_init(|| 1));
        assert_eq!(other.join().unwrap(), *once.get_or_init(|| 2));
    });
}

#[test]
fn reports_say_where_a_thread_is_parked() {
    let line = line!() + 2;
    let (found, text) = verdict(|| {
        thread::park();
    });
    assert_eq!(found, Verdict::Deadlock, "{text}");
    assert!(text.contains(&format!("park of line {line}")), "{text}");
    assert!(!text.contains("Condvar of line"), "{text}");
    let line = line!() + 2;
    let (found, text) = verdict(|| {
        let other = thread::spawn(|| {
            thread::park();
        });
        other.join().unwrap();
    });
    assert_eq!(found, Verdict::Deadlock, "{text}");
    assert!(text.contains(&format!("park of line {line}")), "{text}");
}
