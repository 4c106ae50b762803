//! Panics of threads, and what destructors do.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::AtomicUsize as Plain;

use mazurka::explore::Verdict;
use mazurka::program::Program;
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{Arc, Condvar, Mutex, PoisonError, RwLock, mpsc};
use mazurka::thread;
use mazurka::threads::Builder;

use super::verdict;

#[test]
fn a_lock_is_poisoned_by_a_panic_that_is_caught() {
    let poisoned = || {
        let lock = Arc::new(Mutex::new(0));
        let own = lock.clone();
        let other = thread::spawn(move || {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _guard = own.lock().unwrap();
                panic!("caught");
            }));
            assert!(caught.is_err());
            assert!(own.lock().is_err(), "by itself");
        });
        let seen = lock.lock().is_err();
        other.join().unwrap();
        assert!(lock.is_poisoned() && (seen || lock.lock().is_err()));
    };
    let (found, text) = verdict(poisoned);
    assert_eq!(found, Verdict::Ok, "{text}");
}

/// Empties what others use, when it is dropped.
struct Emptied(Arc<Mutex<Vec<i32>>>);

impl Drop for Emptied {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[test]
fn destructors_lock_what_others_had_locked() {
    // Executions end in the middle, with the lock in the hands of a thread that waits.
    let (found, text) = verdict(|| {
        let (all, gate) = (Arc::new(Mutex::new(vec![1])), Arc::new(Mutex::new(())));
        let emptied = Emptied(all.clone());
        let (own, wait) = (all.clone(), gate.clone());
        let other = thread::spawn(move || {
            let mut all = own.lock().unwrap();
            drop(wait.lock());
            all.push(2);
        });
        drop(gate.lock());
        let more = Emptied(all.clone());
        drop(gate.lock());
        drop((emptied, more));
        other.join().unwrap();
        assert!(all.lock().unwrap().len() <= 1);
    });
    assert_eq!(found, Verdict::Ok, "{text}");
}

#[test]
fn a_panic_that_is_caught_must_not_lock() {
    let dropped = || {
        let (sender, receiver) = mpsc::channel::<i32>();
        let other = thread::spawn(move || {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _sender = sender;
                panic!("with a sender");
            }));
            assert!(caught.is_err());
        });
        assert!(receiver.recv().is_err(), "nobody sends");
        other.join().unwrap();
    };
    let (found, text) = verdict(dropped);
    assert_eq!(found, Verdict::Assertion, "{text}");
    assert!(text.contains("that is not supported"), "{text}");
}

#[test]
fn a_panic_with_a_guard_is_one_violation() {
    let checked = Builder::new().all().run(|| {
        let lock = Arc::new(Mutex::new(0));
        let own = lock.clone();
        thread::spawn(move || {
            let _guard = own.lock().unwrap();
            panic!("with a guard");
        });
        drop(lock.lock());
    });
    assert_eq!(checked.verdict(), Verdict::Assertion, "{checked}");
    let violations = checked.violations();
    assert!(violations.iter().all(|violation| violation.failure.is_some()), "{checked}");
}

#[test]
fn destructors_lock_what_a_thread_has_locked_that_came_before() {
    let (found, text) = verdict(|| {
        let all = Arc::new(Mutex::new(vec![1]));
        let own = all.clone();
        thread::spawn(move || {
            let _emptied = Emptied(own);
            thread::park();
        });
        let _guard = all.lock().unwrap();
        thread::park();
    });
    assert_eq!(found, Verdict::Deadlock, "{text}");
}

#[test]
fn who_waits_for_a_thread_that_has_failed_is_in_no_deadlock() {
    let checked = Builder::new().all().run(|| {
        let (sender, receiver) = mpsc::channel::<i32>();
        let kept = sender.clone();
        thread::spawn(move || {
            let _sender = sender;
            panic!("nothing is sent");
        });
        let received = receiver.recv();
        drop((kept, received));
    });
    assert_eq!(checked.verdict(), Verdict::Assertion, "{checked}");
    let violations = checked.violations();
    assert!(violations.iter().all(|violation| violation.failure.is_some()), "{checked}");
}

/// Many worlds end in the middle of an execution. Meanwhile a panic elsewhere keeps its place.
#[test]
fn panics_elsewhere_are_noted_meanwhile() {
    let elsewhere = std::thread::spawn(|| {
        for _ in 0..200 {
            let mut program = Program::new();
            program.process("main", async move || panic!("elsewhere"));
            let checked = mazurka::check(&program.build()).run();
            let text = checked.to_string();
            assert!(text.contains("tests/threads/panics.rs:"), "{text}");
        }
    });
    while !elsewhere.is_finished() {
        Builder::new().check(|| {
            let lock = Arc::new(Mutex::new(0));
            for _ in 0..3 {
                let lock = lock.clone();
                thread::spawn(move || *lock.lock().unwrap() += 1);
            }
        });
    }
    elsewhere.join().unwrap();
}

/// Destructors run in the middle of an execution that is given up, unless stacks are forgotten.
#[test]
fn stacks_are_unwound_or_forgotten() {
    struct Counts(Arc<Plain>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(usize::from(std::thread::panicking()), SeqCst);
        }
    }
    let unwound = |builder: Builder| {
        let count = Arc::new(Plain::new(0));
        let own = count.clone();
        builder.check(move || {
            let x = Arc::new(AtomicUsize::new(0));
            let threads = [1, 2, 3].map(|n| {
                let (x, counts) = (x.clone(), Counts(own.clone()));
                thread::spawn(move || {
                    let _counts = counts;
                    let seen = x.load(SeqCst);
                    x.store(seen + n, SeqCst);
                })
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        count.load(SeqCst)
    };
    assert!(unwound(Builder::new()) > 0);
    assert_eq!(unwound(Builder::new().forget_stacks()), 0);
}

#[test]
fn who_waits_for_a_lock_that_it_has_is_told_so() {
    let own: [fn(); 4] = [
        || {
            let lock = Mutex::new(0);
            let _guards = (lock.lock(), lock.lock());
        },
        || {
            let lock = RwLock::new(0);
            let _guards = (lock.write(), lock.write());
        },
        || {
            let lock = RwLock::new(0);
            let _guards = (lock.read(), lock.write());
        },
        || {
            let lock = RwLock::new(0);
            let _guards = (lock.write(), lock.read());
        },
    ];
    for twice in own {
        let (found, text) = verdict(twice);
        assert_eq!(found, Verdict::Error, "{text}");
        assert!(text.starts_with("Error: the thread waits for a lock that it has"), "{text}");
    }
    Builder::new().check(|| {
        let lock = RwLock::new(0);
        drop((lock.read(), lock.read()));
        drop(lock.write());
    });
}

/// A thread that does something else the second time is not told what was meant for the first one.
#[test]
fn a_thread_that_differs_is_not_followed() {
    let runs = Plain::new(0);
    let (found, text) = verdict(move || {
        let (x, lock) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(0)));
        let own = (x.clone(), lock.clone());
        let thread = thread::spawn(move || *own.1.lock().unwrap() += own.0.load(SeqCst));
        if runs.fetch_add(1, SeqCst) > 2 {
            x.store(1, SeqCst);
        }
        *lock.lock().unwrap() += 1;
        thread.join().unwrap();
    });
    assert_eq!(found, Verdict::Error, "{text}");
    assert!(text.contains("nondeterminism: after the same outcomes"), "{text}");
}

/// Does this when it is dropped.
struct Does<F: FnMut()>(F);

impl<F: FnMut()> Drop for Does<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Does this while a panic unwinds that is caught.
fn in_a_panic(act: impl FnMut()) {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _does = Does(act);
        resume_unwind(Box::new(1));
    }));
    assert!(caught.is_err());
}

/// What a destructor asks for in a panic that is caught is done, or the search says that it is not.
#[test]
fn nothing_is_left_out_in_a_panic_that_is_caught() {
    let all: [fn(); 12] = [
        || in_a_panic(|| drop(thread::spawn(|| panic!("it runs")))),
        || {
            let (lock, got) = (Mutex::new(0), Rc::new(Cell::new(false)));
            in_a_panic(|| got.set(lock.try_lock().is_ok()));
            assert!(!got.get());
        },
        || {
            let lock = RwLock::new(0);
            in_a_panic(|| drop(lock.try_read()));
        },
        || {
            let x = Arc::new(AtomicUsize::new(0));
            let own = x.clone();
            let other = thread::spawn(move || own.store(1, SeqCst));
            in_a_panic(|| assert!(x.load(SeqCst) < 2));
            other.join().unwrap();
        },
        || {
            let x = AtomicUsize::new(0);
            in_a_panic(|| _ = x.swap(1, SeqCst));
        },
        || {
            let mut other = Some(thread::spawn(|| ()));
            in_a_panic(|| _ = other.take().unwrap().join());
        },
        || {
            let wait = (Mutex::new(false), Condvar::new());
            in_a_panic(|| drop(wait.1.wait(wait.0.lock().unwrap())));
        },
        || {
            let text = "alive and well, a long enough text".to_string();
            in_a_panic(|| {
                let local = text.clone();
                thread::scope(|scope| {
                    scope.spawn(|| assert_eq!(local, "alive and well, a long enough text"));
                });
            });
        },
        || in_a_panic(thread::park),
        || {
            let lock = mazurka::future::sync::Mutex::new(0);
            let mut guard = Some(lock.blocking_lock());
            in_a_panic(|| drop(guard.take()));
            drop(lock.blocking_lock());
        },
        || {
            let permits = Arc::new(mazurka::future::sync::Semaphore::new(1));
            let mut permit = Some(permits.clone().try_acquire_owned().unwrap());
            in_a_panic(|| drop(permit.take()));
            drop(permits.try_acquire_owned().unwrap());
        },
        || {
            let (sender, mut receiver) = mazurka::future::sync::mpsc::channel::<i32>(1);
            let mut sender = Some(sender);
            in_a_panic(|| drop(sender.take()));
            assert!(receiver.blocking_recv().is_none());
        },
    ];
    for (n, act) in all.into_iter().enumerate() {
        let (found, text) = verdict(act);
        assert!(text.contains("that is not supported"), "{n}: {text}");
        assert_ne!(found, Verdict::Ok, "{n}: {text}");
    }
}

/// What needs no outcome is done once the panic is caught.
#[test]
fn what_needs_no_outcome_is_done_after_a_panic() {
    Builder::new().check(|| {
        let (x, lock) = (Arc::new(AtomicUsize::new(0)), Arc::new((Mutex::new(0), Condvar::new())));
        let own = (x.clone(), lock.clone());
        let other = thread::spawn(move || {
            let (x, lock) = own;
            let mut guard = Some(lock.0.lock().unwrap());
            in_a_panic(|| {
                x.store(1, SeqCst);
                drop(guard.take());
                lock.1.notify_one();
            });
        });
        let mut guard = lock.0.lock().unwrap_or_else(PoisonError::into_inner);
        while x.load(SeqCst) == 0 {
            guard = lock.1.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        other.join().unwrap();
    });
}
