//! Handles that are counted: which thread drops the last one.

use std::collections::{BTreeSet, HashSet};

use mazurka::cell::UnsafeCell;
use mazurka::explore::Verdict;
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::sync::counted::{Arc, Weak};
use mazurka::threads::Builder;
use mazurka::{sync, thread};

use super::{classes, found, verdict};
use crate::random_models::Rng;

/// What a thread does with its handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Clone,
    Drop,
    Upgrade,
    Unwrap,
    GetMut,
    Count,
}

/// For each thread what it does. Each has a handle at first, and drops those that it has at the end;
/// and a weak one, if some upgrades it.
type Script = Vec<Vec<Step>>;

fn script(seed: u64) -> Script {
    let mut rng = Rng::new(seed);
    let steps: &[Step] = match seed % 3 {
        0 => &[Step::Clone, Step::Drop, Step::Upgrade, Step::Unwrap],
        1 => &[Step::Clone, Step::Drop, Step::GetMut, Step::Unwrap],
        _ => &[Step::Clone, Step::Drop, Step::Upgrade, Step::Count],
    };
    let threads = *rng.pick(&[2, 3]);
    let one = |rng: &mut Rng| (0..*rng.pick(&[1, 2])).map(|_| *rng.pick(steps)).collect();
    (0..threads).map(|_| one(&mut rng)).collect()
}

fn has_weak(script: &Script) -> bool {
    script.iter().flatten().any(|&step| step == Step::Upgrade)
}

/// Who destroyed the content, and what each thread saw.
type Seen = (usize, Vec<Vec<usize>>);

struct Content(sync::Arc<AtomicUsize>);

impl Drop for Content {
    fn drop(&mut self) {
        // The main thread has no name. It drops a handle only where an execution is given up.
        if let Some(name) = thread::current().name() {
            self.0.store(name.parse().expect("a number"), SeqCst);
        }
    }
}

fn run(script: &Script) -> Seen {
    let destroyed_by = sync::Arc::new(AtomicUsize::new(usize::MAX));
    let first = Arc::new(Content(destroyed_by.clone()));
    let weak = if has_weak(script) { Arc::downgrade(&first) } else { Weak::new() };
    let mut handles: Vec<_> = script.iter().skip(1).map(|_| first.clone()).collect();
    handles.push(first);
    let threads: Vec<_> = script
        .iter()
        .zip(handles)
        .enumerate()
        .map(|(index, (steps, handle))| {
            let (steps, weak) = (steps.clone(), weak.clone());
            let builder = thread::Builder::new().name(index.to_string());
            builder.spawn(move || act(&steps, handle, &weak)).unwrap()
        })
        .collect();
    let seen = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    (destroyed_by.load(SeqCst), seen)
}

fn act(steps: &[Step], handle: Arc<Content>, weak: &Weak<Content>) -> Vec<usize> {
    let (mut handles, mut seen) = (vec![handle], Vec::new());
    for step in steps {
        match step {
            Step::Upgrade => {
                let new = weak.upgrade();
                seen.push(usize::from(new.is_some()));
                handles.extend(new);
            }
            Step::Clone => handles.extend(handles.last().cloned()),
            Step::Drop => drop(handles.pop()),
            Step::Unwrap => {
                if let Some(handle) = handles.pop() {
                    let result = Arc::try_unwrap(handle);
                    seen.push(usize::from(result.is_ok()));
                    handles.extend(result.err());
                }
            }
            Step::GetMut => {
                if let Some(handle) = handles.last_mut() {
                    seen.push(usize::from(Arc::get_mut(handle).is_some()));
                }
            }
            Step::Count => {
                if let Some(handle) = handles.last() {
                    seen.push(Arc::strong_count(handle));
                }
            }
        }
    }
    while let Some(handle) = handles.pop() {
        drop(handle);
    }
    seen
}

/// A plain machine that does one step after another.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    at: Vec<usize>,
    handles: Vec<usize>,
    destroyed_by: usize,
    seen: Vec<Vec<usize>>,
}

impl Machine {
    /// Lets a thread do a step, if it has one left.
    fn step(&self, script: &Script, thread: usize) -> Option<Machine> {
        let mut next = self.clone();
        let all: usize = self.handles.iter().sum();
        let (own, by) = (&mut next.handles[thread], &mut next.destroyed_by);
        let goes = |own: &mut usize, by: &mut usize| {
            *own -= 1;
            if all == 1 {
                *by = thread;
            }
        };
        let Some(step) = script[thread].get(self.at[thread]) else {
            if *own == 0 {
                return None;
            }
            goes(own, by);
            return Some(next);
        };
        next.at[thread] += 1;
        match step {
            Step::Upgrade => {
                next.seen[thread].push(usize::from(all > 0));
                *own += usize::from(all > 0);
            }
            Step::Clone => *own += usize::from(*own > 0),
            Step::Drop if *own > 0 => goes(own, by),
            Step::Unwrap if *own > 0 => {
                next.seen[thread].push(usize::from(all == 1));
                if all == 1 {
                    goes(own, by);
                }
            }
            Step::GetMut if *own > 0 => next.seen[thread].push(usize::from(all == 1)),
            Step::Count if *own > 0 => next.seen[thread].push(all),
            _ => {}
        }
        Some(next)
    }

    fn outcomes(script: &Script) -> BTreeSet<Seen> {
        let (n, mut outcomes, mut known) = (script.len(), BTreeSet::new(), HashSet::new());
        let start = Machine {
            at: vec![0; n],
            handles: vec![1; n],
            destroyed_by: usize::MAX,
            seen: vec![Vec::new(); n],
        };
        let mut pending = vec![start];
        while let Some(machine) = pending.pop() {
            let all: Vec<_> = (0..n).filter_map(|thread| machine.step(script, thread)).collect();
            if all.is_empty() {
                outcomes.insert((machine.destroyed_by, machine.seen));
            } else {
                pending.extend(all.into_iter().filter(|next| known.insert(next.clone())));
            }
        }
        outcomes
    }
}

#[test]
fn random_programs_have_the_outcomes_of_all_interleavings() {
    let mut several = 0;
    for seed in 0..24 {
        let script = script(seed);
        let expected = Machine::outcomes(&script);
        several += usize::from(expected.len() > 1);
        for explorer in ["udpor", "optimal"] {
            let own = script.clone();
            let (outcomes, deadlocks, _) = found(explorer, move || run(&own));
            assert_eq!(outcomes, expected, "{explorer}, seed {seed}: {script:?}");
            assert!(!deadlocks, "seed {seed}");
        }
    }
    assert!(several > 8, "{several}");
}

/// Handles are counted only if their number matters.
#[test]
fn drops_of_what_has_no_visible_destructor_are_not_seen() {
    let share = |content: fn() -> Box<dyn std::any::Any + Send + Sync>| {
        move || {
            let handle = Arc::new(content());
            let threads: Vec<_> = (0..3)
                .map(|_| handle.clone())
                .map(|own| thread::spawn(move || drop(own)))
                .collect();
            drop(handle);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    };
    struct Seen(AtomicBool);
    impl Drop for Seen {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    assert_eq!(classes(share(|| Box::new(5))), 1);
    assert_eq!(classes(share(|| Box::new(Seen(AtomicBool::new(false))))), 24);
}

/// The standard handle of the same content is dropped last by the one thread that was last in one run.
#[test]
fn who_is_last_matters() {
    struct Locks(sync::Arc<sync::Mutex<Vec<Option<String>>>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(thread::current().name().map(String::from));
        }
    }
    let (verdict, text) = verdict(|| {
        let log = sync::Arc::new(sync::Mutex::new(Vec::new()));
        let handle = Arc::new(Locks(log.clone()));
        let own = handle.clone();
        let thread = thread::Builder::new().name("other".into()).spawn(move || drop(own)).unwrap();
        drop(handle);
        thread.join().unwrap();
        assert_eq!(*log.lock().unwrap(), [None]);
    });
    assert_eq!(verdict, Verdict::Assertion, "{text}");
    assert!(text.contains("drops of Arc"), "{text}");
}

#[test]
fn the_last_drop_comes_after_all_others() {
    struct Owns(UnsafeCell<u32>);
    impl Drop for Owns {
        fn drop(&mut self) {
            self.0.with_mut(|_| ());
        }
    }
    #[expect(unsafe_code, reason = "what is tested is that accesses are ordered")]
    unsafe impl Sync for Owns {}
    Builder::new().check(|| {
        let handle = Arc::new(Owns(UnsafeCell::new(0)));
        let own = handle.clone();
        let thread = thread::spawn(move || own.0.with(|_| ()));
        handle.0.with(|_| ());
        drop(handle);
        thread.join().unwrap();
    });
}

#[test]
fn handles_become_pointers_and_come_back() {
    struct Says(sync::Arc<AtomicUsize>);
    impl Drop for Says {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    Builder::new().check(|| {
        let said = sync::Arc::new(AtomicUsize::new(0));
        let pointer = Arc::into_raw(Arc::new(Says(said.clone())));
        #[expect(unsafe_code, reason = "the pointer is that of a handle")]
        let handles = unsafe {
            Arc::increment_strong_count(pointer);
            [Arc::from_raw(pointer), Arc::from_raw(pointer)]
        };
        let threads = handles.map(|handle| thread::spawn(move || drop(handle)));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(said.load(SeqCst), 1);
    });
}
