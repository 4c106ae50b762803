//! Rust code as it is: the interfaces of the standard library.

mod tasks;
mod twins;

use std::panic::{AssertUnwindSafe, catch_unwind};

use mazurka::explore::{Setting, Verdict};
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use mazurka::thread;
use mazurka::threads::Builder;

/// The number of classes by several explorers, which have to agree.
fn classes(closure: impl Fn() + Send + Sync + Clone + 'static) -> u64 {
    let count = |explorer: &str| {
        let setting: Setting = explorer.parse().unwrap();
        let checked = Builder::new().explorer(setting).all().run(closure.clone());
        assert_eq!(checked.verdict(), Verdict::Ok, "{explorer}: {checked}");
        checked.stats().traces
    };
    let counts = ["udpor", "optimal", "source", "sleep", "parsimonious"].map(count);
    assert!(counts.iter().all(|&n| n == counts[0]), "{counts:?}");
    counts[0]
}

fn verdict(closure: impl Fn() + Send + Sync + 'static) -> (Verdict, String) {
    let checked = Builder::new().all().run(closure);
    (checked.verdict(), checked.to_string())
}

#[test]
fn a_mutex_has_an_order() {
    let n_adders = |n: i32| {
        move || {
            let sum = Arc::new(Mutex::new(0));
            let adders: Vec<_> = (0..n)
                .map(|i| {
                    let sum = sum.clone();
                    thread::spawn(move || *sum.lock().unwrap() += i + 1)
                })
                .collect();
            for adder in adders {
                adder.join().unwrap();
            }
            assert_eq!(*sum.lock().unwrap(), n * (n + 1) / 2);
        }
    };
    assert_eq!(classes(n_adders(2)), 2);
    assert_eq!(classes(n_adders(3)), 6);
    assert_eq!(classes(n_adders(4)), 24);
}

#[test]
fn atomics_are_updated_one_after_another() {
    let counted = || {
        let n = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let n = n.clone();
                thread::spawn(move || n.fetch_add(1, SeqCst))
            })
            .collect();
        let mut seen: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        seen.sort();
        assert_eq!(seen, [0, 1, 2]);
        assert_eq!(n.load(SeqCst), 3);
    };
    assert_eq!(classes(counted), 6);
    let lost = || {
        let n = Arc::new(AtomicUsize::new(0));
        let own = n.clone();
        let other = thread::spawn(move || own.store(own.load(SeqCst) + 1, SeqCst));
        n.store(n.load(SeqCst) + 1, SeqCst);
        other.join().unwrap();
        assert_eq!(n.load(SeqCst), 2);
    };
    let (found, text) = verdict(lost);
    assert_eq!(found, Verdict::Assertion, "{text}");
    assert!(text.contains("left == right (left: 1, right: 2)"), "{text}");
}

#[test]
fn a_condition_variable_wakes() {
    let handed_over = || {
        let pair = Arc::new((Mutex::new(None), Condvar::new()));
        let own = pair.clone();
        let sender = thread::spawn(move || {
            *own.0.lock().unwrap() = Some(5);
            own.1.notify_one();
        });
        let mut value = pair.0.lock().unwrap();
        while value.is_none() {
            value = pair.1.wait(value).unwrap();
        }
        assert_eq!(*value, Some(5));
        drop(value);
        sender.join().unwrap();
    };
    assert!(classes(handed_over) >= 2);
    let lost = || {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let own = pair.clone();
        thread::spawn(move || own.1.notify_one());
        let guard = pair.0.lock().unwrap();
        drop(pair.1.wait(guard).unwrap());
    };
    assert_eq!(verdict(lost).0, Verdict::Deadlock);
}

#[test]
fn two_locks_in_two_orders_deadlock() {
    let (found, text) = verdict(|| {
        let (a, b) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
        let (c, d) = (a.clone(), b.clone());
        let other = thread::spawn(move || {
            let second = d.lock().unwrap();
            *c.lock().unwrap() += *second;
        });
        let first = a.lock().unwrap();
        *b.lock().unwrap() += *first;
        drop(first);
        other.join().unwrap();
    });
    assert_eq!(found, Verdict::Deadlock, "{text}");
}

#[test]
fn readers_share_a_lock() {
    let read = |n: usize| {
        move || {
            let lock = Arc::new(RwLock::new(7));
            let readers: Vec<_> = (0..n)
                .map(|_| {
                    let lock = lock.clone();
                    thread::spawn(move || *lock.read().unwrap())
                })
                .collect();
            let seen: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
            assert!(seen.iter().all(|&value| value == 7));
            *lock.write().unwrap() = 8;
        }
    };
    assert_eq!(classes(read(1)), 1);
    assert!(classes(read(2)) <= 2);
}

#[test]
fn channels_close() {
    let closed = || {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        thread::spawn(move || sender.send(1).unwrap());
        thread::spawn(move || other.send(2).unwrap());
        let mut all: Vec<i32> = receiver.iter().collect();
        all.sort();
        assert_eq!(all, [1, 2]);
        assert!(receiver.recv().is_err());
    };
    assert!(classes(closed) > 2);
    let bounded = || {
        let (sender, receiver) = mpsc::sync_channel(1);
        let other = thread::spawn(move || {
            for i in 0..3 {
                sender.send(i).unwrap();
            }
        });
        assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
        other.join().unwrap();
    };
    assert!(classes(bounded) >= 1);
}

#[test]
fn others_of_the_standard_library() {
    let all = || {
        let once = Arc::new(OnceLock::new());
        let (barrier, own) = (Arc::new(Barrier::new(2)), once.clone());
        let there = barrier.clone();
        let other = thread::spawn(move || {
            let value = *own.get_or_init(|| 3);
            (value, there.wait().is_leader())
        });
        let value = *once.get_or_init(|| 3);
        let is_leader = barrier.wait().is_leader();
        assert_eq!((value, !is_leader), other.join().unwrap());
    };
    assert_eq!(verdict(all).0, Verdict::Ok);
    let parked = || {
        let main = thread::current();
        let other = thread::Builder::new().name("other".into()).spawn(move || main.unpark());
        thread::park();
        other.unwrap().join().unwrap();
    };
    assert_eq!(verdict(parked).0, Verdict::Ok);
}

#[test]
fn a_loop_that_yields_waits() {
    let spins = |sets: bool| {
        move || {
            let flag = Arc::new(AtomicBool::new(false));
            let own = flag.clone();
            let other = thread::spawn(move || {
                if sets {
                    own.store(true, SeqCst);
                }
            });
            while !flag.load(SeqCst) {
                thread::yield_now();
            }
            other.join().unwrap();
        }
    };
    assert_eq!(verdict(spins(true)).0, Verdict::Ok);
    assert_ne!(verdict(spins(false)).0, Verdict::Ok);
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
fn a_mutex_is_tried() {
    let tried = || {
        let lock = Arc::new(Mutex::new(0));
        let own = lock.clone();
        let other = thread::spawn(move || own.try_lock().is_ok());
        let is_locked = lock.try_lock().is_ok();
        let other = other.join().unwrap();
        assert!(is_locked || other);
    };
    let (found, text) = verdict(tried);
    assert_eq!(found, Verdict::Ok, "{text}");
}

#[test]
fn what_changes_from_run_to_run_is_noticed() {
    static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let (found, text) = verdict(|| {
        let lock = Arc::new(AtomicUsize::new(0));
        let own = lock.clone();
        let other = thread::spawn(move || own.store(RUNS.fetch_add(1, SeqCst), SeqCst));
        lock.store(1, SeqCst);
        lock.load(SeqCst);
        other.join().unwrap();
    });
    assert_eq!(found, Verdict::Error, "{text}");
}

#[test]
fn a_violation_panics_with_its_execution() {
    let result = catch_unwind(AssertUnwindSafe(|| {
        mazurka::model(|| {
            let n = Arc::new(AtomicUsize::new(0));
            let own = n.clone();
            thread::spawn(move || own.store(1, SeqCst));
            assert_eq!(n.load(SeqCst), 0, "n is still 0");
        });
    }));
    let message = *result.expect_err("a violation").downcast::<String>().unwrap();
    assert!(message.contains("n is still 0") && message.contains("store"), "{message}");
}

#[test]
fn a_verdict_says_that_memory_is_sequentially_consistent() {
    use mazurka::sync::atomic::Ordering::{Acquire, Release};
    let handed_over = || {
        let flag = Arc::new(AtomicBool::new(false));
        let own = flag.clone();
        thread::spawn(move || own.store(true, Release));
        flag.load(Acquire);
    };
    let (found, text) = verdict(handed_over);
    assert_eq!(found, Verdict::Ok);
    assert!(text.starts_with("Verified under sequential consistency: no execution"), "{text}");
    let (_, text) = verdict(|| assert!(!AtomicBool::new(false).load(SeqCst)));
    assert!(text.starts_with("Verified: no execution"), "{text}");
}

#[test]
fn accesses_to_a_cell_race_if_nothing_orders_them() {
    use mazurka::cell::UnsafeCell;
    let ordered = |is_ordered: bool| {
        move || {
            let shared = Arc::new((UnsafeCell::new(0), AtomicBool::new(false)));
            let own = shared.clone();
            let writer = thread::spawn(move || {
                own.0.with_mut(|value| assert!(!value.is_null()));
                own.1.store(true, SeqCst);
            });
            if shared.1.load(SeqCst) || !is_ordered {
                shared.0.with(|value| assert!(!value.is_null()));
            }
            writer.join().unwrap();
            shared.0.with(|value| assert!(!value.is_null()));
        }
    };
    assert_eq!(verdict(ordered(true)).0, Verdict::Ok);
    let (found, text) = verdict(ordered(false));
    assert_eq!(found, Verdict::Error, "{text}");
    assert!(text.contains("data race: a ") && text.contains("are not ordered"), "{text}");
}

#[test]
fn threads_have_variables_of_their_own_and_run_futures() {
    mazurka::thread_local! { static OWN: std::cell::Cell<u32> = std::cell::Cell::new(1); }
    let counted = || {
        let other = thread::spawn(|| OWN.with(|own| own.replace(5)));
        assert_eq!(OWN.with(|own| own.get()), 1);
        assert_eq!(other.join().unwrap(), 1);
    };
    assert_eq!(verdict(counted).0, Verdict::Ok);
    let woken = || {
        let shared = Arc::new((AtomicBool::new(false), mazurka::future::AtomicWaker::new()));
        let own = shared.clone();
        thread::spawn(move || {
            own.0.store(true, SeqCst);
            own.1.wake();
        });
        mazurka::future::block_on(std::future::poll_fn(|context| {
            shared.1.register_by_ref(context.waker());
            match shared.0.load(SeqCst) {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        }));
    };
    let (found, text) = verdict(woken);
    assert_eq!(found, Verdict::Ok, "{text}");
}

#[test]
fn nothing_aborts_where_a_search_panics_in_a_thread() {
    static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let search = std::thread::spawn(|| {
        mazurka::model(|| AtomicUsize::new(0).store(RUNS.fetch_add(1, SeqCst), SeqCst));
    });
    let message = *search.join().expect_err("it panics").downcast::<String>().unwrap();
    assert!(message.contains("nondeterminism"), "{message}");
}
