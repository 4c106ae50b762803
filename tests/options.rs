//! What a check in a test may be asked for: explorers as values, also one's own; threads; memory. It is the same for
//! systems of the builder, for closures, and for threads.

use std::num::{NonZeroU32, NonZeroU64};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mazurka::check::Checked;
use mazurka::explore::{
    Auto, ByChance, Driver, Exhaustive, Explorer, InPieces, Optimal, Profile, Setting, Sleep,
    Source, StopReason, Udpor, Verdict,
};
use mazurka::model::System;
use mazurka::program::Program;
use mazurka::sync::{Arc, Mutex};
use mazurka::systems::{Builder, Script, lock, unlock};
use mazurka::{thread, threads};

use crate::own_explorer::example::Deepening;

/// Each takes the fork on its left, then the one on its right; the last one the other way round if they are `careful`.
fn built(count: usize, careful: bool) -> Script {
    let mut system = Builder::new();
    let fork = system.mutexes("fork", count);
    for (i, [one, other]) in forks(count, careful) {
        let steps = [lock(fork[one]), lock(fork[other]), unlock(fork[other]), unlock(fork[one])];
        system.process(format!("Philosopher[{i}]"), steps);
    }
    system.build()
}

fn forks(count: usize, careful: bool) -> impl Iterator<Item = (usize, [usize; 2])> {
    (0..count).map(move |i| match careful && i + 1 == count {
        true => (i, [0, i]),
        false => (i, [i, (i + 1) % count]),
    })
}

fn closures(count: usize, careful: bool) -> impl System {
    let mut program = Program::new();
    let fork: Vec<_> = (0..count).map(|i| program.mutex(format!("fork[{i}]"), ())).collect();
    for (i, [one, other]) in forks(count, careful) {
        let (one, other) = (fork[one], fork[other]);
        program.process(format!("Philosopher[{i}]"), async move || {
            let _one = one.lock().await;
            let _other = other.lock().await;
        });
    }
    program.build()
}

fn code(count: usize, careful: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let fork: Arc<Vec<_>> = Arc::new((0..count).map(|_| Mutex::new(())).collect());
        let threads = forks(count, careful).map(|(_, [one, other])| {
            let fork = fork.clone();
            thread::spawn(move || {
                let _one = fork[one].lock().unwrap();
                let _other = fork[other].lock().unwrap();
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// The result for each of the three.
fn results(
    (count, careful): (usize, bool),
    explorer: impl Explorer + 'static,
    jobs: Option<u32>,
) -> [Checked; 3] {
    let (built, closures) = (built(count, careful), closures(count, careful));
    let built = mazurka::check(&built).explorer(explorer).all();
    let closures = mazurka::check(&closures).explorer(explorer).all();
    let threads = threads::Builder::new().explorer(explorer).all();
    match jobs {
        None => [built.run(), closures.run(), threads.run(code(count, careful))],
        Some(n) => {
            [built.jobs(n).run(), closures.jobs(n).run(), threads.jobs(n).run(code(count, careful))]
        }
    }
}

fn figures(results: &[Checked; 3]) -> [(Verdict, u64); 3] {
    results.each_ref().map(|checked| (checked.verdict(), checked.stats().traces))
}

/// The message of a panic.
fn refused(check: impl FnOnce() -> Checked) -> String {
    let panic = catch_unwind(AssertUnwindSafe(check)).expect_err("a refusal");
    *panic.downcast::<String>().expect("a text")
}

#[test]
fn explorers_are_given_as_values() {
    for (program, verdict, traces) in
        [((3, true), Verdict::Ok, 6), ((3, false), Verdict::Deadlock, 7)]
    {
        let expected = [(verdict, traces); 3];
        assert_eq!(figures(&results(program, Udpor::default(), None)), expected);
        assert_eq!(figures(&results(program, Optimal::default(), None)), expected);
        assert_eq!(figures(&results(program, Source::default(), None)), expected);
        assert_eq!(figures(&results(program, Auto::default(), None)), expected);
        let read: Setting = "sleep:order=lca".parse().unwrap();
        assert_eq!(figures(&results(program, read, None)), expected);
        let own = results(program, Deepening, None);
        assert_eq!(figures(&own), expected);
        assert!(own.iter().all(|checked| checked.report.explorer == "deepening"));
    }
}

/// Ends before it has begun.
#[derive(Clone, Copy, Debug)]
struct Lazy;

impl Explorer for Lazy {
    fn profile(&self) -> Profile {
        Profile { name: "lazy", ..Profile::default() }
    }

    fn explore<S: System>(&self, _: &S, _: &mut Driver<'_>) {}
}

#[test]
fn an_explorer_that_promises_nothing_verifies_nothing() {
    for checked in results((2, true), Lazy, None) {
        assert_eq!(checked.verdict(), Verdict::Incomplete);
        assert_eq!(checked.outcome.stopped_by, Some(StopReason::NoGuarantee));
    }
    let check = || threads::Builder::new().explorer(Lazy).check(code(2, true));
    assert!(catch_unwind(check).is_err());
}

/// Searches that are cut so early that small programs have many pieces.
fn in_pieces<E: Explorer + 'static>(
    explorer: E,
    program: (usize, bool),
    jobs: u32,
) -> [Checked; 3] {
    let many = |n| NonZeroU64::new(n).unwrap();
    let pieces = InPieces::new(explorer, NonZeroU32::new(jobs).unwrap());
    results(program, InPieces { first: many(3), grain: many(2), ..pieces }, None)
}

#[test]
fn several_threads_find_what_one_finds() {
    let same = |some: &[Checked; 3], whole: &[Checked; 3]| {
        assert_eq!(figures(some), figures(whole));
        for (one, other) in some.iter().zip(whole) {
            assert_eq!(one.stats().transitions, other.stats().transitions);
            assert_eq!(one.violations().len(), other.violations().len());
        }
    };
    for program in [(3, true), (3, false), (4, false)] {
        let whole = results(program, Sleep::default(), None);
        let read: Setting = "sleep".parse().unwrap();
        same(&results(program, Sleep::default(), Some(2)), &whole);
        same(&results(program, read, Some(2)), &whole);
        let optimal = results(program, Optimal::default(), None);
        same(&results(program, Optimal::default(), Some(2)), &optimal);
        for jobs in [1, 2, 3] {
            same(&in_pieces(Sleep::default(), program, jobs), &whole);
            same(&in_pieces(Optimal::default(), program, jobs), &optimal);
        }
    }
}

#[test]
fn who_cannot_share_work_says_so() {
    let by = |explorer: &str| explorer.parse::<Setting>().unwrap();
    let built = built(2, true);
    let text = refused(|| mazurka::check(&built).explorer(by("dpor")).jobs(2).run());
    assert_eq!(text, "`jobs` is for explorers that can share their work; `dpor` cannot");
    let text = refused(|| mazurka::check(&built).explorer(Deepening).jobs(2).run());
    assert_eq!(text, "`jobs` is for explorers that can share their work; `deepening` cannot");
    let text = refused(|| mazurka::check(&built).explorer(Auto::default()).jobs(2).run());
    assert_eq!(
        text,
        "an explorer that is given as a value has its number of threads: `auto` in `jobs`"
    );
    let text = refused(|| threads::Builder::new().jobs(2).run(code(2, true)));
    assert_eq!(text, "`jobs` is for explorers that can share their work; `udpor` cannot");
    let text = refused(|| threads::Builder::new().jobs(0).run(code(2, true)));
    assert!(text.contains("at least one thread"), "{text}");
    assert!(mazurka::check(&built).jobs(2).run().is_ok());
}

#[test]
fn memory_is_limited() {
    let endless = built(12, false);
    let explore = || mazurka::check(&endless).explorer(Exhaustive).all();
    let checked = explore().max_memory(1 << 20).run();
    assert_eq!(checked.outcome.stopped_by, Some(StopReason::MaxMemory));
    assert!(checked.to_string().contains("stopped at 1.0 MiB of memory (`max_memory()`)"));
    let checked =
        threads::Builder::new().explorer(Exhaustive).all().max_memory(1 << 20).run(code(5, true));
    assert_eq!((checked.verdict(), checked.is_ok()), (Verdict::Incomplete, false));
    assert_eq!(checked.outcome.stopped_by, Some(StopReason::MaxMemory));
    let enough = mazurka::check(&built(2, true)).max_memory(1 << 40).run();
    assert!(enough.is_ok());
}

#[test]
fn chance_as_a_value_keeps_its_options() {
    let built = built(3, true);
    let pct = ByChance { executions: None, seed: 7, bug_depth: NonZeroU32::new(2) };
    let checked = mazurka::check(&built).explorer(pct).random(9).run();
    let report = &checked.report;
    assert_eq!((report.explorer, report.seed, report.bug_depth), ("pct", Some(7), Some(2)));
    assert_eq!((checked.stats().traces, checked.verdict()), (9, Verdict::Incomplete));
    let checked = mazurka::check(&built).explorer(Udpor::default()).random(9).run();
    assert_eq!((checked.report.explorer, checked.stats().traces), ("random", 9));
}
