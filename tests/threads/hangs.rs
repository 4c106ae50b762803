//! Threads that make no further operation, and destructors that wait in vain.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use mazurka::explore::Verdict;
use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::thread;
use mazurka::threads::Builder;

use super::verdict;

/// Waits for the flag when it is dropped.
struct Waits(Arc<AtomicBool>);

impl Drop for Waits {
    fn drop(&mut self) {
        while !self.0.load(SeqCst) {
            thread::yield_now();
        }
    }
}

#[test]
fn a_destructor_that_waits_ends_with_its_execution() {
    let checked = Builder::new().run(|| {
        let (done, x) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let own = (done.clone(), x.clone());
        thread::spawn(move || {
            assert!(own.1.load(SeqCst) == 0);
            own.0.store(true, SeqCst);
        });
        let _waits = Waits(done);
        x.store(1, SeqCst);
    });
    assert_eq!(checked.verdict(), Verdict::Assertion, "{checked}");
    let (found, text) = verdict(|| {
        let (done, x) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (own, other) = ((done.clone(), x.clone()), (done.clone(), x.clone()));
        thread::spawn(move || {
            if own.1.load(SeqCst) == 1 {
                own.1.store(5, SeqCst);
            }
            own.0.store(true, SeqCst);
        });
        thread::spawn(move || {
            let _waits = Waits(other.0);
            other.1.store(1, SeqCst);
            other.1.store(2, SeqCst);
        });
        let _waits = Waits(done);
        x.store(3, SeqCst);
        x.load(SeqCst);
    });
    assert_eq!(found, Verdict::Ok, "{text}");
}

#[test]
fn a_destructor_that_waits_in_a_panic_is_reported() {
    let (found, text) = verdict(|| {
        let done = Arc::new(AtomicBool::new(false));
        let own = done.clone();
        let other = thread::spawn(move || own.store(true, SeqCst));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _waits = Waits(done);
            resume_unwind(Box::new(1));
        }));
        assert!(caught.is_err());
        other.join().unwrap();
    });
    assert_eq!(found, Verdict::Error, "{text}");
    let says =
        "a destructor that is called in a panic waits for what others do: that is not supported";
    assert!(text.contains(says), "{text}");
}

#[test]
fn a_destructor_that_joins_in_a_panic_does_not_abort() {
    struct Joins(Option<thread::JoinHandle<()>>);
    impl Drop for Joins {
        fn drop(&mut self) {
            self.0.take().unwrap().join().unwrap();
        }
    }
    let (found, text) = verdict(|| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _joins = Joins(Some(thread::spawn(|| ())));
            resume_unwind(Box::new(1));
        }));
        assert!(caught.is_err());
    });
    assert_eq!(found, Verdict::Error, "{text}");
    assert!(text.contains("joins a thread: that is not supported"), "{text}");
}

#[test]
fn who_catches_all_panics_is_ended() {
    let (found, text) = verdict(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let own = flag.clone();
        let supervisor = thread::spawn(move || {
            while !matches!(catch_unwind(AssertUnwindSafe(|| own.load(SeqCst))), Ok(true)) {
                thread::yield_now();
            }
        });
        flag.store(true, SeqCst);
        supervisor.join().unwrap();
    });
    assert_eq!(found, Verdict::Ok, "{text}");
}

#[test]
fn a_thread_that_computes_for_ever_hangs() {
    let patient = || Builder::new().step_timeout(Duration::from_millis(300));
    for jobs in [1, 2] {
        let builder = patient().explorer("optimal".parse::<mazurka::explore::Setting>().unwrap());
        let checked = builder.jobs(jobs).run(|| {
            let x = Arc::new(AtomicUsize::new(0));
            let own = x.clone();
            thread::spawn(move || x.store(1, SeqCst));
            if own.load(SeqCst) == 1 {
                loop {
                    std::hint::spin_loop();
                }
            }
        });
        assert_eq!(checked.verdict(), Verdict::Error, "{checked}");
        let text = checked.to_string();
        let says = "hang: after load the thread makes no operation for 300ms";
        assert!(text.contains(says) && text.contains("tests/threads/hangs.rs"), "{text}");
    }
    let checked = patient().all().run(|| {
        let lock = Arc::new(std::sync::Mutex::new(AtomicUsize::new(0)));
        let own = lock.clone();
        let other = thread::spawn(move || own.lock().unwrap().load(SeqCst));
        lock.lock().unwrap().store(1, SeqCst);
        other.join().unwrap();
    });
    assert_eq!(checked.verdict(), Verdict::Error, "{checked}");
    assert!(checked.to_string().contains("hang: "), "{checked}");
}
