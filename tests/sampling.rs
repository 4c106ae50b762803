//! Executions by chance: the classes that are counted, what is found, and what is never claimed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mazurka::explore::{
    Budget, End, Exhaustive, Explorer, NoObserver, Observer, Outcome, Setting, StopReason, Udpor,
    Verdict, Violation, explore,
};
use mazurka::lang::{self, Program};
use mazurka::model::Schedule;
use mazurka::property::Position;
use mazurka::{systems, threads};

use crate::cli::{code, json, run, run_with, stderr, stdout};
use crate::judge::{Recorder, check_counterexample};
use crate::random_models::{Sample, Subject, actors, later, p2p, processes};

fn setting(text: &str) -> Setting {
    text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
}

fn program(text: &str) -> Program {
    lang::compile("sampled.maz", text, &[]).unwrap_or_else(|why| panic!("{why:?}: {text}"))
}

fn all() -> Budget {
    Budget { all: true, endless: Some(500), ..Budget::default() }
}

/// The executions that a search completes.
#[derive(Default)]
struct Executions(Vec<Schedule>);

impl Observer for Executions {
    fn trace(&mut self, at: Position<'_>, _: End) {
        self.0.push(at.schedule());
    }
}

fn executions(program: &Program, explorer: &str) -> Vec<Schedule> {
    let mut executions = Executions::default();
    explore(program, setting(explorer), all(), &mut executions);
    executions.0
}

/// Compares the classes that the explorers count by hashes with the normal forms of the same
/// executions, and with all classes. Returns whether each explorer has seen every class.
fn check<S: Subject>(sample: &Sample<S>) -> [bool; 2] {
    let mut recorder = Recorder::new(&sample.script);
    // Local states are forgotten after each execution, or never.
    let keep_locals = if sample.seed.is_multiple_of(2) { 0 } else { usize::MAX };
    let budget = Budget { keep_locals, ..all() };
    let name = |violation: &Violation, recorder: &mut Recorder<'_, S>| {
        let process = recorder.process_of(violation);
        format!("{:?} {process:?} {:?}", violation.kind, violation.failure)
    };
    let violations = explore(&sample.script, Exhaustive, all(), &mut NoObserver).violations;
    let known: BTreeSet<_> = violations.iter().map(|one| name(one, &mut recorder)).collect();
    ["random:executions=150+seed=3", "pct:executions=150+seed=3"].map(|explorer| {
        let what = || format!("{explorer} on {}", sample.describe());
        let outcome = explore(&sample.script, setting(explorer), budget.clone(), &mut recorder);
        assert_eq!(outcome.stopped_by, Some(StopReason::Sampled), "{}", what());
        let (found, stats) = (recorder.take(), &outcome.stats);
        let once = found.values().filter(|class| class.times == 1).count();
        assert_eq!(stats.classes, Some(found.len() as u64), "classes of {}", what());
        assert_eq!(stats.classes_seen_once, Some(once as u64), "seen once by {}", what());
        assert!(found.len() as u64 <= sample.classes, "more than all classes: {}", what());
        let ended = stats.traces + stats.given_up + stats.truncated;
        assert_eq!(ended, 150, "executions of {}", what());
        for violation in &outcome.violations {
            check_counterexample(&sample.script, violation).expect("a counterexample");
            let what_is_wrong = name(violation, &mut recorder);
            assert!(known.contains(&what_is_wrong), "{what_is_wrong}: {}", what());
        }
        found.len() as u64 == sample.classes
    })
}

/// Checks programs of a family. Most are small enough to be seen as a whole.
fn check_all<S: Subject>(samples: &[Sample<S>]) {
    let samples = &samples[..samples.len().min(40)];
    let seen: Vec<_> = samples.iter().map(check).collect();
    let whole = [0, 1].map(|explorer| seen.iter().filter(|seen| seen[explorer]).count());
    println!("{} programs, {whole:?} of them seen as a whole", samples.len());
    assert!(whole.iter().all(|&whole| 2 * whole > samples.len()), "{whole:?}");
}

#[test]
fn classes_of_random_processes_are_counted() {
    check_all(processes());
}

#[test]
fn classes_of_random_processes_with_later_objects_are_counted() {
    check_all(later());
}

#[test]
fn classes_of_random_actors_are_counted() {
    check_all(actors());
}

#[test]
fn classes_of_random_ranks_are_counted() {
    check_all(p2p());
}

/// Specs whose number of classes UDPOR knows.
#[test]
fn all_classes_of_a_spec_are_seen_and_never_more() {
    for (path, constants) in [
        ("specs/mutex/philosophers.maz", &[("N", "3")][..]),
        ("specs/mutex/readers-writers.maz", &[]),
        ("specs/mailbox/rmq-receiving.maz", &[]),
        ("specs/mpi/wildcard.maz", &[]),
        ("specs/barrier/choice.maz", &[]),
        ("specs/actor/registry.maz", &[]),
    ] {
        let text = fs::read_to_string(path).expect("a spec");
        let defines = constants.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let program = lang::compile(path, &text, &defines.collect::<Vec<_>>()).expect("a spec");
        let classes = explore(&program, Udpor::default(), all(), &mut NoObserver).stats.traces;
        assert!(classes > 1, "{path}: {classes}");
        for explorer in ["random:executions=4000", "pct:executions=4000"] {
            let outcome = explore(&program, setting(explorer), all(), &mut NoObserver);
            assert_eq!(outcome.stats.classes, Some(classes), "{explorer} on {path}");
            assert_eq!(outcome.stopped_by, Some(StopReason::Sampled), "{explorer} on {path}");
            assert_ne!(outcome.verdict(), Verdict::Ok, "{explorer} on {path}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_executions() {
    let program = program(&long_way(4));
    for explorer in ["random", "pct"] {
        let of = |seed: u32| executions(&program, &format!("{explorer}:executions=50+seed={seed}"));
        assert_eq!(of(7).len(), 50);
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }
}

/// Three steps have six orders. Uniform choices take each with the probability 1/6.
#[test]
fn a_uniform_choice_is_uniform() {
    let program = program("process P[i in 0..3] { local(\"step\"); }");
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for schedule in executions(&program, "random:executions=6000") {
        *counts.entry(schedule.to_string()).or_default() += 1;
    }
    assert_eq!(counts.len(), 6, "{counts:?}");
    assert!(counts.values().all(|count| (900..1100).contains(count)), "{counts:?}");
}

/// The assertion fails if B reads between the two writes, and before that it has a long way to go:
/// a bug of depth 2, which uniform choices find with a probability of about `steps` in 2^`steps`.
fn long_way(steps: usize) -> String {
    format!(
        "shared x: int = 0;
         process A {{ x = 1; x = 0; for i in 0..{steps} {{ local(\"rest\"); }} }}
         process B {{ for i in 0..{steps} {{ local(\"way\"); }} let seen = x; assert(seen == 0); }}"
    )
}

fn found(outcome: &Outcome) -> u64 {
    outcome.stats.violating_traces
}

#[test]
fn priorities_find_a_bug_of_depth_2_that_uniform_choices_miss() {
    let program = program(&long_way(24));
    let sample = |explorer: &str| explore(&program, setting(explorer), all(), &mut NoObserver);
    let known = explore(&program, Udpor::default(), all(), &mut NoObserver);
    assert_eq!((known.stats.traces, found(&known)), (3, 1), "it has three classes, one is bad");
    assert_eq!(found(&sample("random:executions=5000+seed=1")), 0, "uniform choices");
    assert_eq!(
        found(&sample("pct:executions=5000+bug-depth=1+seed=1")),
        0,
        "no change of priority"
    );
    // A has the higher priority in half of the executions, and loses it after one step of 51.
    let outcome = sample("pct:executions=20000+bug-depth=2+seed=1");
    assert_eq!(outcome.stats.max_depth, 51);
    let promised = 20_000 / (2 * 51);
    println!("found in {} of 20000 executions; promised: {promised}", found(&outcome));
    assert!((promised - 40..promised + 40).contains(&found(&outcome)), "{}", found(&outcome));
    assert_eq!(outcome.verdict(), Verdict::Assertion);
    check_counterexample(&program, &outcome.violations[0]).expect("a counterexample");
}

/// An assertion that fails if the process with the longest way is the last one: depth 1.
#[test]
fn one_order_of_the_processes_is_enough_for_a_bug_of_depth_1() {
    let program = program(
        "shared x: int = 0;
         process A { for i in 0..30 { local(\"way\"); } x = 1; }
         process B { for i in 0..3 { local(\"way\"); } let seen = x; assert(seen == 0); }",
    );
    let sample = |explorer: &str| explore(&program, setting(explorer), all(), &mut NoObserver);
    let (uniform, pct) =
        (sample("random:executions=2000"), sample("pct:executions=2000+bug-depth=1"));
    assert_eq!(found(&uniform), 0);
    assert!((900..1100).contains(&found(&pct)), "a half of the orders: {}", found(&pct));
}

#[test]
fn executions_without_an_end_are_cut_and_the_search_goes_on() {
    let endless = program(
        "shared x: int = 0; shared y: int = 0;
         process P { while true { let a = x; x = (a + 1) % 1000; } }
         process Q { y = 1; let b = y; assert(b == 1); }",
    );
    for explorer in ["random:executions=20", "pct:executions=20"] {
        let outcome = explore(&endless, setting(explorer), all(), &mut NoObserver);
        let stats = &outcome.stats;
        assert_eq!((stats.traces, stats.truncated, stats.max_depth), (0, 20, 500), "{explorer}");
        assert_eq!(outcome.stopped_by, Some(StopReason::Sampled));
        assert_eq!((stats.classes, stats.classes_seen_once), (Some(0), Some(0)), "{explorer}");
        let cut = Budget { depth: Some(9), ..all() };
        let outcome = explore(&endless, setting(explorer), cut, &mut NoObserver);
        assert_eq!((outcome.stats.truncated, outcome.stats.max_depth), (20, 9), "{explorer}");
    }
}

/// The process that spins may have the highest priority.
#[test]
fn loops_that_wait_do_not_keep_an_execution_going() {
    let waiting = program(
        "shared x: int = 0;
         process Waits { while x == 0 { } }
         process Writes { local(\"way\"); x = 1; }",
    );
    for explorer in ["random:executions=200", "pct:executions=200"] {
        let outcome = explore(&waiting, setting(explorer), all(), &mut NoObserver);
        assert_eq!(outcome.stats.truncated, 0, "{explorer}");
        assert!(outcome.stats.traces > 50, "{explorer}: {}", outcome.stats.traces);
        assert_eq!(outcome.verdict(), Verdict::Incomplete);
    }
    let path = "specs/mpi/polling-given-up.maz";
    let text = fs::read_to_string(path).expect("a spec");
    let given_up = lang::compile(path, &text, &[]).expect("a spec");
    let stats = explore(&given_up, setting("random:executions=9"), all(), &mut NoObserver).stats;
    assert_eq!((stats.traces, stats.given_up, stats.classes), (0, 9, Some(0)), "{path}");
    let for_ever = program("shared x: int = 0; process Waits { while x == 0 { } }");
    let outcome = explore(&for_ever, setting("random:executions=5"), all(), &mut NoObserver);
    assert_eq!(outcome.verdict(), Verdict::Livelock);
}

/// Executions in which R writes before P are one class, and the others the other one. In the first
/// one the invariant fails, also if Q is first and no state on the way is bad.
#[test]
fn invariants_are_judged_in_all_states_of_a_class() {
    let program = program(
        "shared x: int = 0; shared y: int = 0; shared r: int = 0;
         process P { x = 1; } process Q { y = 1; } process R { x = 2; r = 1; }
         invariant { assert(!(x == 1 && r == 1 && y == 0)); }",
    );
    let bad = |schedule: &Schedule| {
        let text = schedule.to_string();
        let place = |process: char| text.find(process).expect("a step of each");
        place('2') < place('0')
    };
    for explorer in ["random:executions=300", "pct:executions=300"] {
        let mut executions = Executions::default();
        let outcome = explore(&program, setting(explorer), all(), &mut executions);
        let expected = executions.0.iter().filter(|schedule| bad(schedule)).count() as u64;
        assert_eq!((outcome.stats.traces, outcome.stats.classes), (300, Some(2)), "{explorer}");
        assert!((80..220).contains(&expected), "{expected}");
        assert_eq!(outcome.stats.violating_traces, expected, "{explorer}");
    }
}

/// As many as there is time for, if the number is not given.
#[test]
fn other_limits_hold() {
    let program = program(&long_way(4));
    let limited = Budget { max_traces: Some(12_000), ..all() };
    let outcome = explore(&program, setting("random"), limited.clone(), &mut NoObserver);
    assert_eq!(outcome.stats.traces, 12_000);
    assert_eq!(outcome.stopped_by, Some(StopReason::MaxTraces));
    let outcome = explore(&program, setting("random:executions=30"), limited, &mut NoObserver);
    assert_eq!((outcome.stats.traces, outcome.stopped_by), (30, Some(StopReason::Sampled)));
    let outcome = explore(&program, setting("random"), all(), &mut NoObserver);
    assert_eq!((outcome.stats.traces, outcome.stopped_by), (10_000, Some(StopReason::Sampled)));
    assert!(!setting("random").profile().samples || outcome.verdict() != Verdict::Ok);
}

fn sampled(text: &str, args: &[&str]) -> std::process::Output {
    run_with(&[&["check", "-"], args].concat(), text)
}

#[test]
fn a_report_says_how_much_was_new_and_claims_nothing() {
    let right = "process P[i in 0..2] { local(\"step\"); }";
    let args = ["--explorer", "random", "--executions", "100", "--seed", "7"];
    let output = sampled(right, &args);
    let text = stdout(&output);
    assert_eq!(code(&output), 3, "{text}");
    let endless = "shared x: int = 0; process P { while true { let a = x; x = (a + 1) % 9; } }";
    let cut = stdout(&sampled(endless, &["--explorer", "random", "--executions", "3"]));
    assert!(cut.contains("0 traces, 0 classes, 3 executions cut"), "{cut}");
    for part in [
        "Incomplete: nothing wrong was found, but not everything was explored.",
        "100 executions were chosen by chance (--executions)",
        "100 executions explored to the end, of 1 class",
        "all other executions: they may still hold a violation",
        "random (seed 7)",
        "which is no proof",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("Verified"), "{text}");
    let object = json(&sampled(right, &[&args[..], &["--format", "json"]].concat()));
    assert_eq!(object["verdict"], "incomplete");
    assert_eq!(object["stopped_by"], "sampled");
    assert_eq!((&object["complete"], &object["seed"]), (&false.into(), &7.into()));
    let stats = &object["stats"];
    assert_eq!((&stats["traces"], &stats["classes"]), (&100.into(), &1.into()));
    assert_eq!(stats["classes_seen_once"], 0);
    assert_eq!(stats["new_class_probability"], 0.0);
}

/// Of the three classes, the bad one is seen once.
#[test]
fn the_probability_of_a_new_class_is_estimated() {
    let args = ["--explorer", "random", "--executions", "8", "--seed", "1", "--all"];
    let text = "shared x: int = 0; process P[i in 0..4] { x = i; }";
    let object = json(&sampled(text, &[&args[..], &["--format", "json"]].concat()));
    let stats = &object["stats"];
    let once = stats["classes_seen_once"].as_u64().expect("a number");
    assert!(once > 0, "{stats}");
    assert_eq!(stats["new_class_probability"], once as f64 / 8.0);
    let shown = stdout(&sampled(text, &args));
    let percent = format!("about {} % of further executions", (100 * once + 4) / 8);
    assert!(shown.contains(&percent), "{percent}: {shown}");
}

#[test]
fn a_violation_is_reported_with_its_execution() {
    let text = long_way(24);
    let pct = ["--explorer", "pct", "--bug-depth", "2", "--executions", "2000"];
    let output = sampled(&text, &pct);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("pct, bugs of depth 2 (seed 0)"), "{}", stdout(&output));
    let object = json(&sampled(&text, &[&pct[..], &["--format", "json"]].concat()));
    assert_eq!((&object["verdict"], &object["bug_depth"]), (&"assertion".into(), &2.into()));
    let schedule = object["violations"][0]["replay"].as_str().expect("a schedule").to_owned();
    let replayed = run_with(&["replay", "-", "--schedule", &schedule], &text);
    assert_eq!(code(&replayed), 1, "{}", stdout(&replayed));
    let all = stdout(&sampled(&text, &[&pct[..], &["--all"]].concat()));
    assert!(all.contains("2,000 executions were chosen by chance"), "{all}");
    assert!(all.contains("there may be more violations"), "{all}");
}

#[test]
fn what_has_no_meaning_is_refused() {
    for (args, fragment) in [
        (&["--executions", "5"][..], "`udpor` chooses nothing by chance"),
        (&["--bug-depth", "2"], "`udpor` has no priorities"),
        (&["--explorer", "random", "--bug-depth", "2"], "`random` has no priorities"),
        (&["--explorer", "random", "--executions", "0"], "is not a number of executions"),
        (&["--explorer", "pct", "--bug-depth", "0"], "is not a depth of bugs"),
        (&["--explorer", "random", "--jobs", "2"], "`random` cannot"),
        (&["--explorer", "random", "--order", "lca"], "no difference to `random`"),
        (&["--explorer", "random", "-k", "1"], "`random` has none"),
        (&["--explorer", "random", "--sleep-sets"], "`random` cannot have any"),
        (
            &["--explorer", "random", "--depth", "9", "--depth-measure", "causal"],
            "measures a depth in steps",
        ),
        (&["--explorer", "random", "--warn", "unreached"], "does not visit every class"),
        (&["--explorer", "random", "--branches", "jobs"], "cannot search a single branch"),
        (&["--explorer", "random:seed=1", "--seed", "2"], "gives seed already"),
    ] {
        let output = sampled("process P { local(\"step\"); }", args);
        assert_eq!(code(&output), 2, "{args:?}: {}", stdout(&output));
        assert!(stderr(&output).contains(fragment), "{args:?}: {}", stderr(&output));
    }
}

/// Comparisons and studies take them only if they are named.
#[test]
fn a_comparison_takes_them_only_if_they_are_named() {
    let of = |args: &[&str]| {
        let output = run(&[&["compare", "ok.maz"], args].concat());
        assert_eq!(code(&output), 0, "{}", stdout(&output));
        stdout(&output)
    };
    assert!(!of(&[]).contains("pct"), "{}", of(&[]));
    let explorers = "udpor,random:executions=20,pct:executions=20";
    let named = of(&["--explorers", explorers, "--format", "csv"]);
    assert!(named.contains("random:executions=20"), "{named}");
    assert_eq!(named.matches("sampled").count(), 2, "{named}");
    let alone = run(&["compare", "ok.maz", "--explorers", "random:executions=20"]);
    assert_eq!(code(&alone), 3, "{}", stdout(&alone));
    let note = "chosen by chance: that they found nothing proves nothing";
    assert!(stdout(&alone).replace("\n", " ").contains(note), "{}", stdout(&alone));
}

#[test]
fn systems_in_rust_are_sampled() {
    let system = |good: bool| {
        let mut system = systems::Builder::new();
        let fork = system.mutexes("fork", 2);
        for (i, other) in [(0, 1), (1, if good { 1 } else { 0 })] {
            let (first, second) = (fork[if good { 0 } else { i }], fork[other]);
            let steps = [
                systems::lock(first),
                systems::lock(second),
                systems::unlock(second),
                systems::unlock(first),
            ];
            system.process(format!("P[{i}]"), steps);
        }
        system.build()
    };
    let (right, wrong) = (system(true), system(false));
    let checked = mazurka::check(&right).random(40).seed(3).run();
    assert_eq!((checked.verdict(), checked.stats().traces), (Verdict::Incomplete, 40));
    assert!(checked.to_string().contains("chosen by chance (`random()`)"), "{checked}");
    mazurka::check(&right).random(40).pct(2).assert_none_found();
    let panics = |run: &dyn Fn()| catch_unwind(AssertUnwindSafe(run)).is_err();
    assert!(panics(&|| mazurka::check(&right).random(40).assert_ok()), "no proof");
    assert!(panics(&|| mazurka::check(&wrong).random(40).assert_none_found()), "a deadlock");
    let late = || mazurka::check(&right).random(40).timeout(Duration::ZERO);
    assert_eq!(late().run().stats().traces, 0);
    assert!(panics(&|| late().assert_none_found()), "nothing was executed");
    let found = mazurka::check(&wrong).random(40).pct(2).run();
    assert_eq!(found.verdict(), Verdict::Deadlock);
}

#[test]
fn threads_are_sampled() {
    let runs = Arc::new(AtomicU32::new(0));
    let counter = |is_right: bool, runs: Arc<AtomicU32>| {
        move || {
            runs.fetch_add(1, Ordering::Relaxed);
            let x = mazurka::sync::Arc::new(mazurka::sync::Mutex::new(0));
            let other = x.clone();
            let child = mazurka::thread::spawn(move || {
                let seen = *other.lock().unwrap();
                *other.lock().unwrap() = seen + 1;
            });
            if is_right {
                child.join().unwrap();
                *x.lock().unwrap() += 1;
            } else {
                *x.lock().unwrap() += 1;
                child.join().unwrap();
            }
            assert_eq!(*x.lock().unwrap(), 2);
        }
    };
    threads::Builder::new().random(30).check(counter(true, runs.clone()));
    let late = threads::Builder::new().random(30).timeout(Duration::ZERO);
    let late = AssertUnwindSafe(|| late.check(counter(true, runs.clone())));
    assert!(catch_unwind(late).is_err(), "nothing was executed");
    assert!(runs.load(Ordering::Relaxed) > 0);
    for builder in [threads::Builder::new().random(30), threads::Builder::new().pct(2).seed(1)] {
        let checked = builder.run(counter(false, runs.clone()));
        assert_eq!(checked.verdict(), Verdict::Assertion, "{checked}");
    }
}
