//! Variables of which each thread has its own, and their destructors.

use std::cell::{Cell, RefCell};

use mazurka::explore::Verdict;
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex, counted, mpsc};
use mazurka::thread;
use mazurka::threads::Builder;

use super::{found, verdict};

/// Adds one when it is dropped.
struct Adds(Arc<AtomicUsize>);

impl Drop for Adds {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

mazurka::thread_local! {
    static ADDS: RefCell<Option<Adds>> = RefCell::new(None);
    static NUMBER: Cell<usize> = Cell::new(7);
    static USES: RefCell<Option<Uses>> = RefCell::new(None);
}

/// Uses other variables of its thread when it is dropped.
struct Uses(Arc<AtomicUsize>);

impl Drop for Uses {
    fn drop(&mut self) {
        self.0.fetch_add(NUMBER.with(Cell::get), SeqCst);
        assert!(USES.try_with(|_| ()).is_err(), "it is being dropped");
    }
}

#[test]
fn destructors_of_a_thread_are_part_of_it() {
    let adds = || {
        let x = Arc::new(AtomicUsize::new(0));
        let own = x.clone();
        let other = thread::spawn(move || ADDS.with(|adds| *adds.borrow_mut() = Some(Adds(own))));
        ADDS.with(|_| ());
        let seen = x.load(SeqCst);
        other.join().unwrap();
        assert_eq!(x.load(SeqCst), 1);
        seen
    };
    let (seen, _, classes) = found("optimal", adds);
    assert_eq!((seen.len(), classes), (2, 2));
}

#[test]
fn destructors_use_other_variables_of_their_thread() {
    Builder::new().check(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let own = x.clone();
        let uses = move || {
            NUMBER.with(|number| number.set(5));
            USES.with(|uses| *uses.borrow_mut() = Some(Uses(own)));
        };
        thread::spawn(uses).join().unwrap();
        assert_eq!(x.load(SeqCst), 5);
    });
    let (found, text) = verdict(|| {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("at the end");
            }
        }
        mazurka::thread_local!(static PANICS: RefCell<Option<Panics>> = RefCell::new(None));
        thread::spawn(|| PANICS.with(|panics| *panics.borrow_mut() = Some(Panics)));
    });
    assert_eq!(found, Verdict::Assertion, "{text}");
    assert!(text.contains("at the end"), "{text}");
}

/// Says in which thread it was dropped.
struct Says(Arc<Mutex<Option<thread::ThreadId>>>);

impl Drop for Says {
    fn drop(&mut self) {
        let own = thread::current().id();
        *self.0.lock().unwrap() = Some(own);
    }
}

#[test]
fn which_thread_drops_the_last_handle_is_seen() {
    struct Id(std::rc::Rc<Cell<Option<thread::ThreadId>>>);
    impl Drop for Id {
        fn drop(&mut self) {
            self.0.set(Some(thread::current().id()));
        }
    }
    struct Local(std::rc::Rc<Cell<usize>>);
    impl Drop for Local {
        fn drop(&mut self) {
            self.0.set(NUMBER.with(Cell::get));
        }
    }
    let by_id = || {
        let id = std::rc::Rc::new(Cell::new(None));
        let handle = counted::Arc::new(Id(id.clone()));
        let own = handle.clone();
        let other = thread::spawn(move || drop(own));
        let main = thread::current().id();
        drop(handle);
        other.join().unwrap();
        id.get() == Some(main)
    };
    let (seen, _, classes) = found("optimal", by_id);
    assert_eq!((seen.len(), classes), (2, 2));
    let by_variable = || {
        let number = std::rc::Rc::new(Cell::new(0));
        let handle = counted::Arc::new(Local(number.clone()));
        let own = handle.clone();
        let other = thread::spawn(move || {
            NUMBER.with(|number| number.set(1));
            drop(own);
        });
        NUMBER.with(|number| number.set(2));
        drop(handle);
        other.join().unwrap();
        number.get()
    };
    let (seen, _, classes) = found("optimal", by_variable);
    assert_eq!((seen.into_iter().collect::<Vec<_>>(), classes), (vec![1, 2], 2));
}

#[test]
fn who_drops_what_a_thread_has_returned_is_explored() {
    let (ended, ..) = found("optimal", || {
        let (sender, receiver) = mpsc::channel();
        let handle = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        assert_eq!(receiver.recv(), Ok(1));
        drop(handle);
        receiver.recv().is_err()
    });
    assert_eq!(ended.into_iter().collect::<Vec<_>>(), [true]);
    let (by_main, ..) = found("optimal", || {
        let id = Arc::new(Mutex::new(None));
        let says = Says(id.clone());
        let handle = thread::spawn(move || says);
        let main = thread::current().id();
        drop(handle);
        let seen = *id.lock().unwrap();
        seen.map(|id| id == main)
    });
    assert_eq!(by_main.len(), 3, "by main, by the thread, or later");
}
