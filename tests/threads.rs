//! Rust code as it is: the interfaces of the standard library.

mod channels;
mod counted;
mod hangs;
mod limits;
mod locals;
mod locks;
mod memory;
mod panics;
mod saved;
mod tasks;
mod twins;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mazurka::explore::{Setting, Verdict};
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, TryLockError, mpsc};
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

/// The outcomes that a search of a program finds, whether it finds a deadlock, and the number of its
/// classes.
fn found<O: Clone + Ord + Send + 'static>(
    explorer: &str,
    run: impl Fn() -> O + Send + Sync + 'static,
) -> (BTreeSet<O>, bool, u64) {
    let outcomes = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let own = outcomes.clone();
    let checked =
        Builder::new().explorer(explorer.parse::<Setting>().unwrap()).all().run(move || {
            let outcome = run();
            own.lock().unwrap().insert(outcome);
        });
    let deadlocks = match checked.verdict() {
        Verdict::Ok => false,
        Verdict::Deadlock => true,
        other => panic!("{other:?} by {explorer}: {checked}"),
    };
    let outcomes = outcomes.lock().unwrap().clone();
    (outcomes, deadlocks, checked.stats().traces)
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

/// Waits for another thread by what this loop does, and then looks at what that has done.
fn waits(wait: fn(&AtomicUsize), sets: bool) -> (Verdict, String) {
    verdict(move || {
        let flag = Arc::new(AtomicUsize::new(0));
        let own = flag.clone();
        let other = thread::spawn(move || {
            if sets {
                own.store(1, SeqCst);
            }
        });
        wait(&flag);
        other.join().unwrap();
    })
}

#[test]
fn loops_that_wait_end() {
    let loops: [fn(&AtomicUsize); 4] = [
        |flag| while flag.load(SeqCst) == 0 {},
        |flag| while flag.compare_exchange(1, 2, SeqCst, SeqCst).is_err() {},
        |flag| while flag.swap(0, SeqCst) == 0 {},
        |flag| {
            while flag.load(SeqCst) == 0 || flag.fetch_max(0, SeqCst) == 0 {
                thread::yield_now();
            }
        },
    ];
    for (n, wait) in loops.into_iter().enumerate() {
        let (found, text) = waits(wait, true);
        assert_eq!(found, Verdict::Ok, "{n}: {text}");
        let says = "Verified under the assumption that a loop which waits for 100 rounds does not count them";
        assert!(text.contains(says), "{n}: {text}");
        assert_eq!(waits(wait, false).0, Verdict::Livelock, "{n}");
    }
}

#[test]
fn a_loop_that_gives_up_is_followed() {
    let (found, text) = waits(
        |flag| {
            let seen = (0..5).any(|_| {
                thread::yield_now();
                flag.load(SeqCst) == 1
            });
            assert!(seen, "given up");
        },
        true,
    );
    assert_eq!(found, Verdict::Assertion, "{text}");
    assert!(text.contains("given up"), "{text}");
    let tries = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let own = flag.clone();
        let other = thread::spawn(move || own.store(1, SeqCst));
        let seen = (0..5).any(|_| flag.load(SeqCst) == 1);
        other.join().unwrap();
        assert!(seen || flag.load(SeqCst) == 1);
    };
    assert_eq!(classes(tries), 6, "before one of the five loads, or after all");
    assert!(!verdict(tries).1.contains("assumption"));
}

#[test]
fn a_wait_with_a_time_out_is_no_deadlock() {
    let nobody_sends = || {
        let (sender, receiver) = mpsc::channel::<i32>();
        let ended = receiver.recv_timeout(Duration::from_millis(1));
        assert_eq!(ended, Err(mpsc::RecvTimeoutError::Timeout));
        drop(sender);
    };
    assert_eq!(verdict(nobody_sends).0, Verdict::Ok);
    let in_time = || {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(1));
        assert!(receiver.recv_timeout(Duration::from_millis(1)).is_ok(), "it may be late");
    };
    assert_eq!(verdict(in_time).0, Verdict::Assertion);
    let blocks_another = || {
        let lock = Arc::new((Mutex::new(0), Condvar::new()));
        let own = lock.clone();
        let other = thread::spawn(move || {
            let guard = own.0.lock().unwrap();
            let (guard, _) = own.1.wait_timeout(guard, Duration::from_secs(1)).unwrap();
            assert_eq!(*guard, 0);
        });
        thread::park_timeout(Duration::from_secs(1));
        other.join().unwrap();
    };
    assert_eq!(verdict(blocks_another).0, Verdict::Ok);
    let stuck = || {
        let lock = Arc::new((Mutex::new(0), Condvar::new()));
        let guard = lock.0.lock().unwrap();
        drop(lock.1.wait(guard));
    };
    assert_eq!(verdict(stuck).0, Verdict::Deadlock);
}

/// Checks that this is right unless a thread wakes for no reason.
fn fails_if_woken(trusts: impl Fn() + Copy + Send + Sync + 'static) {
    assert_eq!(verdict(trusts).0, Verdict::Ok);
    let checked = Builder::new().spurious_wakeups(1).all().run(trusts);
    assert_eq!(checked.verdict(), Verdict::Assertion, "{checked}");
}

#[test]
fn a_thread_wakes_for_no_reason_if_it_may() {
    let trusts = || {
        let lock = Arc::new((Mutex::new(0), Condvar::new()));
        let own = lock.clone();
        thread::spawn(move || {
            *own.0.lock().unwrap() = 1;
            own.1.notify_one();
        });
        let mut guard = lock.0.lock().unwrap();
        if *guard == 0 {
            guard = lock.1.wait(guard).unwrap();
        }
        assert_eq!(*guard, 1);
    };
    fails_if_woken(trusts);
}

#[test]
fn locks_of_readers_and_writers_are_tried() {
    let tried = || {
        let lock = Arc::new(RwLock::new(0));
        let own = lock.clone();
        let other = thread::spawn(move || match own.try_write() {
            Ok(mut guard) => *guard += 1,
            Err(error) => assert!(matches!(error, TryLockError::WouldBlock)),
        });
        let read = *lock.read().unwrap();
        let second = lock.try_read().map(|guard| *guard);
        other.join().unwrap();
        assert!(read <= 1);
        assert!(second.is_ok_and(|value| value == 0 || value == 1) || *lock.read().unwrap() == 1);
    };
    let n = classes(tried);
    assert!(n >= 4, "{n}");
    let (found, text) = verdict(|| {
        let lock = Arc::new(RwLock::new(0));
        let own = lock.clone();
        thread::spawn(move || *own.write().unwrap() += 1);
        assert!(lock.try_read().is_ok());
    });
    assert_eq!(found, Verdict::Assertion, "{text}");
}

#[test]
fn a_writer_comes_after_readers_that_are_behind() {
    let behind = || {
        let (lock, mutex) = (Arc::new(RwLock::new(0)), Arc::new(Mutex::new(0)));
        let (own, other) = (lock.clone(), mutex.clone());
        let reader = thread::spawn(move || {
            drop(own.read());
            drop(other.lock());
        });
        let writing = lock.write();
        drop(mutex.lock());
        drop(writing);
        reader.join().unwrap();
    };
    assert_eq!(classes(behind), 34, "by locks that leave tokens");
}

#[test]
fn a_daemon_may_wait_for_ever() {
    let served = |is_daemon: bool| {
        move || {
            let (sender, receiver) = mpsc::channel::<mpsc::Sender<i32>>();
            let server = thread::Builder::new().name("server".into());
            let server = if is_daemon { server.daemon() } else { server };
            let kept = sender.clone();
            let serves = move || {
                let _kept = kept;
                for reply in receiver.iter() {
                    reply.send(42).unwrap();
                }
            };
            server.spawn(serves).unwrap();
            let (reply, replies) = mpsc::channel();
            sender.send(reply).unwrap();
            assert_eq!(replies.recv(), Ok(42));
        }
    };
    assert_eq!(verdict(served(true)).0, Verdict::Ok);
    assert_eq!(verdict(served(false)).0, Verdict::Deadlock);
}

#[test]
fn a_scope_lends_to_its_threads() {
    let lent = || {
        let (lock, mut sum) = (Mutex::new(0), 0);
        let sums = thread::scope(|scope| {
            let first = scope.spawn(|| {
                *lock.lock().unwrap() += 1;
                &lock
            });
            scope.spawn(|| *lock.lock().unwrap() += 2);
            scope.spawn(|| sum += 5);
            first.join().unwrap().is_poisoned()
        });
        assert!(!sums);
        assert_eq!((*lock.lock().unwrap(), sum), (3, 5));
    };
    assert_eq!(classes(lent), 2);
    let (found, text) = verdict(|| {
        let lock = Mutex::new(vec![1]);
        thread::scope(|scope| {
            scope.spawn(|| lock.lock().unwrap().push(2));
            scope.spawn(|| assert_eq!(lock.lock().unwrap().len(), 2));
        });
    });
    assert_eq!(found, Verdict::Assertion, "{text}");
}
