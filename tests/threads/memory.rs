//! Memory of threads: pointers, variables, blocks.

use std::alloc::Layout;

use mazurka::explore::Verdict;
use mazurka::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex};
use mazurka::thread;

use super::{classes, verdict};

/// A stack of pointers that are exchanged.
struct Stack(AtomicPtr<i32>);

impl Stack {
    fn push(&self, value: i32) {
        // Nobody follows these pointers, so they need not be linked.
        let node = Box::into_raw(Box::new(value));
        let mut top = self.0.load(SeqCst);
        while let Err(found) = self.0.compare_exchange(top, node, SeqCst, SeqCst) {
            top = found;
        }
    }
}

#[test]
fn pointers_are_exchanged() {
    let pushed = || {
        let stack = Arc::new(Stack(AtomicPtr::default()));
        let own = stack.clone();
        let other = thread::spawn(move || own.push(1));
        stack.push(2);
        other.join().unwrap();
        let top = stack.0.swap(std::ptr::null_mut(), SeqCst);
        assert!(!top.is_null());
        assert!(stack.0.load(SeqCst).is_null());
    };
    assert_eq!(classes(pushed), 4, "who is first, and whether the second has seen it before");
    let lost = || {
        let shared = Arc::new(AtomicPtr::new(std::ptr::null_mut::<i32>()));
        let (mut one, mut two) = (1, 2);
        let (one, two) = (&raw mut one as usize, &raw mut two as usize);
        let own = shared.clone();
        let other =
            thread::spawn(move || own.store(std::ptr::with_exposed_provenance_mut(one), SeqCst));
        let mine = std::ptr::with_exposed_provenance_mut(two);
        let before = shared.compare_exchange(std::ptr::null_mut(), mine, SeqCst, SeqCst);
        other.join().unwrap();
        assert!(before.is_err() || shared.load(SeqCst) == mine, "overwritten");
    };
    let (found, text) = verdict(lost);
    assert_eq!(found, Verdict::Assertion, "{text}");
}

#[test]
fn an_atomic_that_is_not_shared_is_changed() {
    let changed = || {
        let mut counter = AtomicUsize::new(1);
        *counter.get_mut() += 1;
        counter.fetch_add(1, SeqCst);
        counter.with_mut(|value| *value *= 2);
        let counter = Arc::new(counter);
        let own = counter.clone();
        let other = thread::spawn(move || own.fetch_add(1, SeqCst));
        counter.fetch_add(1, SeqCst);
        other.join().unwrap();
        let counter = Arc::try_unwrap(counter).expect("the other has ended");
        assert_eq!(counter.into_inner(), 8);
    };
    assert_eq!(classes(changed), 2);
}

mazurka::lazy_static! {
    static ref CALLS: AtomicUsize = AtomicUsize::new(7);
    static ref NAMES: Mutex<Vec<&'static str>> = Mutex::new(vec!["first"]);
}

#[test]
fn variables_are_made_anew_in_each_execution() {
    let used = || {
        let other = thread::spawn(|| {
            CALLS.fetch_add(1, SeqCst);
            NAMES.lock().unwrap().push("other");
        });
        CALLS.fetch_add(1, SeqCst);
        NAMES.lock().unwrap().push("main");
        other.join().unwrap();
        assert_eq!((CALLS.load(SeqCst), NAMES.lock().unwrap().len()), (9, 3));
    };
    assert!(classes(used) >= 4);
}

/// What two threads share until both have let go of it: the last one frees it, or the first.
#[expect(unsafe_code, reason = "what is tested is memory of one's own")]
fn freed(by_the_last: bool) -> (Verdict, String) {
    verdict(move || {
        let layout = Layout::new::<AtomicUsize>();
        // SAFETY: the block has the layout of what is written to it.
        let shared = unsafe { mazurka::alloc::alloc(layout) }.cast::<AtomicUsize>();
        unsafe { shared.write(AtomicUsize::new(2)) };
        let address = shared.expose_provenance();
        let let_go = move || {
            let shared: *mut AtomicUsize = std::ptr::with_exposed_provenance_mut(address);
            // SAFETY: the memory of an execution is given back only when it ends.
            let left = unsafe { &*shared }.fetch_sub(1, SeqCst);
            if (left == 1) == by_the_last {
                unsafe { mazurka::alloc::dealloc(shared.cast(), layout) };
            }
        };
        let other = thread::spawn(let_go);
        let_go();
        other.join().unwrap();
    })
}

#[test]
fn memory_is_used_until_it_is_freed() {
    let (found, text) = freed(true);
    assert_eq!(found, Verdict::Ok, "{text}");
    let (found, text) = freed(false);
    assert_eq!(found, Verdict::Error, "{text}");
    assert!(text.contains("use after free: memory is used in line"), "{text}");
    #[expect(unsafe_code, reason = "what is tested is memory of one's own")]
    let (found, text) = verdict(|| {
        // SAFETY: the layout has a size.
        unsafe { mazurka::alloc::alloc(Layout::new::<u64>()) };
    });
    assert_eq!(found, Verdict::Error, "{text}");
    assert!(text.contains("never freed"), "{text}");
}

#[test]
#[expect(unsafe_code, reason = "what is tested is memory of one's own")]
fn memory_is_freed_once() {
    let (found, text) = verdict(|| {
        let layout = Layout::new::<u64>();
        // SAFETY: the layout has a size, and the block has room for what is read. It is given back
        // only when the execution ends.
        unsafe {
            let block = mazurka::alloc::alloc_zeroed(layout);
            assert_eq!(block.cast::<u64>().read(), 0);
            mazurka::alloc::dealloc(block, layout);
            mazurka::alloc::dealloc(block, layout);
        }
    });
    assert_eq!(found, Verdict::Error, "{text}");
    assert!(text.contains("and again in"), "{text}");
}

/// An access by `with_mut` lasts as long as its closure, which may do other things meanwhile.
#[test]
fn an_access_lasts_as_long_as_its_closure() {
    use mazurka::cell::UnsafeCell;
    use mazurka::sync::atomic::AtomicBool;
    let early = |is_early: bool| {
        move || {
            let cell = Arc::new((AtomicBool::new(false), UnsafeCell::new(0)));
            let own = cell.clone();
            let other = thread::spawn(move || {
                own.1.with_mut(|_| {
                    if is_early {
                        own.0.store(true, SeqCst);
                    }
                });
                own.0.store(true, SeqCst);
            });
            if cell.0.load(SeqCst) {
                cell.1.with(|_| ());
            }
            other.join().unwrap();
        }
    };
    assert_eq!(verdict(early(false)).0, Verdict::Ok);
    let (found, text) = verdict(early(true));
    assert_eq!(found, Verdict::Error, "{text}");
    assert!(text.contains("data race: a"), "{text}");
}

/// A lock that is a pointer: who waits asks the same again and again.
#[test]
fn who_waits_for_a_pointer_waits_as_for_a_number() {
    let spins = |unlocks: bool| {
        move || {
            let lock = Arc::new((AtomicPtr::<i32>::default(), AtomicUsize::new(0)));
            let locks = move |lock: &(AtomicPtr<i32>, AtomicUsize)| {
                let (free, locked) = (std::ptr::null_mut(), std::ptr::dangling_mut());
                while lock.0.compare_exchange(free, locked, SeqCst, SeqCst).is_err() {
                    thread::yield_now();
                }
                lock.1.store(lock.1.load(SeqCst) + 1, SeqCst);
                if unlocks {
                    lock.0.store(free, SeqCst);
                }
            };
            let own = lock.clone();
            let other = thread::spawn(move || locks(&own));
            locks(&lock);
            other.join().unwrap();
            assert_eq!(lock.1.load(SeqCst), 2);
        }
    };
    let search = |unlocks| {
        let builder = mazurka::threads::Builder::new().all().max_traces(100);
        let checked = builder.run(spins(unlocks));
        (checked.verdict(), checked.stats().traces, checked.to_string())
    };
    let (found, classes, text) = search(true);
    assert_eq!((found, classes), (Verdict::Ok, 4), "{text}");
    let (found, _, text) = search(false);
    assert_eq!(found, Verdict::Livelock, "{text}");
}

/// A loop that expects another pointer each time gives up once it has found the right one.
#[test]
fn a_loop_that_expects_other_pointers_is_followed() {
    let (found, text) = verdict(|| {
        let shared = Arc::new(AtomicPtr::<u8>::new(std::ptr::without_provenance_mut(150)));
        let mut tries = 1;
        let exchange = |expected: usize| {
            let expected = std::ptr::without_provenance_mut(expected);
            shared.compare_exchange(expected, std::ptr::null_mut(), SeqCst, SeqCst).is_ok()
        };
        while !exchange(tries) {
            tries += 1;
        }
        assert_eq!(tries, 150);
    });
    assert_eq!(found, Verdict::Ok, "{text}");
}
