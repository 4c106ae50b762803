//! Rust code as it is: the interfaces of the standard library.

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
    assert!(text.contains("assertion failed: left == right (left: 1, right: 2)"), "{text}");
}
