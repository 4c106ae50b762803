//! What bounds a search, by our names and by those of loom.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mazurka::explore::{StopReason, Verdict};
use mazurka::model::Builder as Loom;
use mazurka::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex};
use mazurka::thread;
use mazurka::threads::Builder;

#[test]
fn weak_orderings_are_refused_if_asked() {
    let relaxed = || {
        AtomicUsize::new(0).load(std::sync::atomic::Ordering::Relaxed);
    };
    Builder::new().check(relaxed);
    let refused = catch_unwind(|| Builder::new().refuse_weak_orderings().check(relaxed));
    let message = refused.unwrap_err().downcast::<String>();
    assert!(message.is_ok_and(|text| text.contains("weaker than sequential consistency")));
}

#[test]
fn limits_by_the_names_of_loom() {
    let three_write = || {
        let x = Arc::new(AtomicUsize::new(0));
        let write = |n| {
            let x = x.clone();
            thread::spawn(move || x.store(n, SeqCst))
        };
        for writer in [1, 2, 3].map(write) {
            writer.join().unwrap();
        }
        assert!(x.load(SeqCst) > 0);
    };
    let executions = |builder: &Loom| {
        let runs = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
        let own = runs.clone();
        builder.check(move || {
            let x = std::sync::Arc::new(Mutex::new(0));
            let adders = [1, 2, 3].map(|n| {
                let x = x.clone();
                thread::spawn(move || {
                    let mut x = x.lock().unwrap();
                    *x = *x * 10 + n;
                })
            });
            for adder in adders {
                adder.join().unwrap();
            }
            own.lock().unwrap().insert(*x.lock().unwrap());
        });
        runs.lock().unwrap().len()
    };
    let mut builder = Loom::new();
    builder.preemption_bound = Some(0);
    assert_eq!(executions(&builder), 6, "a bound that loom needs is not needed");
    builder.max_permutations = Some(2);
    assert_eq!(executions(&builder), 2, "it ends, and the test passes");
    let mut fails = |limit: fn(&mut Loom)| {
        limit(&mut builder);
        let check = AssertUnwindSafe(|| builder.check(three_write));
        catch_unwind(check).unwrap_err().downcast::<String>().expect("a text")
    };
    let cut = fails(|builder| (builder.max_permutations, builder.max_branches) = (None, 5));
    assert!(cut.contains("Incomplete"), "{cut}");
    assert!(cut.contains("depth 5"), "{cut}");
}

/// A loop that looks so often is taken to wait. That it waits for ever is not said before it is
/// tried for longer.
#[test]
fn a_loop_that_gives_up_late_is_no_livelock() {
    for rounds in [90, 300, 2_000] {
        let search = || {
            Builder::new().run(move || {
                let flag = Arc::new(AtomicUsize::new(0));
                let own = flag.clone();
                let looks = move || (0..rounds).any(|_| own.load(SeqCst) == 1);
                assert!(!thread::spawn(looks).join().unwrap());
            })
        };
        let (found, stats) = (search().to_string(), search().stats().clone());
        assert!(found.starts_with("Verified: "), "{found}");
        assert_eq!((stats.traces, stats.max_depth), (1, rounds + 2), "{found}");
    }
    let waits = || {
        let flag = AtomicUsize::new(0);
        while flag.load(SeqCst) == 0 {}
    };
    let text = Builder::new().run(waits).to_string();
    assert!(text.starts_with("Livelock"), "{text}");
    let rests = "This rests on the assumption that a loop which waits for 10000 rounds does not";
    assert!(text.contains(rests), "{text}");
}

/// Four threads that add: 24 orders.
#[test]
fn the_number_of_classes_is_estimated() {
    let add = || {
        let sum = Arc::new(AtomicUsize::new(0));
        let own = || {
            let sum = sum.clone();
            thread::spawn(move || sum.fetch_add(1, SeqCst))
        };
        [own(), own(), own(), own()].into_iter().for_each(|one| _ = one.join());
    };
    let found = Builder::new().estimate(Duration::from_secs(60), add).expect("an estimate");
    assert!((20.0..29.0).contains(&found.classes), "{found:?}");
    assert_eq!(Builder::new().all().run(add).outcome.stats.traces, 24);
    let nothing = Builder::new().estimate(Duration::ZERO, add);
    assert_eq!(nothing, Err(StopReason::Timeout));
}

/// A weak exchange may fail for no reason; how often that is explored is said.
#[test]
fn a_weak_exchange_fails_for_no_reason_if_it_may() {
    let number = || {
        let x = AtomicUsize::new(0);
        assert!(x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok());
    };
    let pointer = || {
        let x = AtomicPtr::<u8>::default();
        let (free, other) = (std::ptr::null_mut(), std::ptr::dangling_mut());
        assert!(x.compare_exchange_weak(free, other, SeqCst, SeqCst).is_ok());
    };
    let both: [fn(); 2] = [number, pointer];
    for trusts in both {
        let text = Builder::new().run(trusts).to_string();
        let says = "Verified under the assumption that a `compare_exchange_weak` fails for no reason at most 0 times in each thread";
        assert!(text.replace("\n  ", " ").contains(says), "{text}");
        let checked = Builder::new().spurious_failures(1).run(trusts);
        assert_eq!(checked.verdict(), Verdict::Assertion, "{checked}");
    }
    Builder::new().spurious_failures(3).check(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let add = |x: &AtomicUsize| {
            let mut seen = x.load(SeqCst);
            while let Err(found) = x.compare_exchange_weak(seen, seen + 1, SeqCst, SeqCst) {
                assert!(found >= seen);
                seen = found;
            }
        };
        let own = x.clone();
        let other = thread::spawn(move || add(&own));
        add(&x);
        other.join().unwrap();
        assert_eq!(x.load(SeqCst), 2);
    });
}
