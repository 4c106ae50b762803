//! Processes that receive their outcomes: a system of histories equals the system whose processes
//! it runs.

pub mod interpreted;

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroU64};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use mazurka::explore::{
    Budget, EXPLORERS, Explorer, Guarantee, InPieces, NoObserver, Outcome, Setting, Sleep, Stats,
    Verdict, Violation, explore,
};
use mazurka::model::System;
use mazurka::systems::history::History;
use mazurka::systems::{Builder, Script as Steps, Variables, assert_that, choose, fetch_add, read};

use crate::random_models::{self, Erased, Sample, Subject};
use interpreted::Interpreted;

/// The explorers that store no states and accept any program.
fn explorers() -> impl Iterator<Item = Setting> {
    let stateless = EXPLORERS.iter().filter(|explorer| {
        let profile = explorer.profile();
        profile.guarantee != Guarantee::EveryEnd && profile.requires.is_none()
    });
    let more = ["udpor:k=2", "udpor:k=1"].map(String::from);
    let names: Vec<_> =
        stateless.map(|explorer| explorer.profile().name.into()).chain(more).collect();
    assert!(names.len() > 6, "{names:?}");
    names.into_iter().map(|name: String| name.parse().expect("an explorer"))
}

fn all<S: System>(system: &S, explorer: Setting) -> Outcome {
    within(system, explorer, Budget::default())
}

fn within<S: System>(system: &S, explorer: Setting, budget: Budget) -> Outcome {
    explore(&Erased::of(system), explorer, Budget { all: true, ..budget }, &mut NoObserver)
}

/// What two searches of one program must agree on. A prefix is larger where states are histories.
fn essence(outcome: &Outcome, is_prefix: bool) -> impl PartialEq + std::fmt::Debug + use<> {
    let stats = match is_prefix {
        true => &Stats::default(),
        false => &outcome.stats,
    };
    let ends = (stats.traces, stats.deadlocked_traces, stats.violating_traces, stats.classes);
    let work = (stats.transitions, stats.events, stats.blocked, stats.max_depth);
    let found: BTreeSet<_> = outcome
        .violations
        .iter()
        .map(|Violation { kind, schedule, failure, symptom, .. }| match is_prefix {
            true => format!("{kind:?} {failure:?} {symptom:?}"),
            false => format!("{kind:?} {schedule} {failure:?}"),
        })
        .collect();
    // What is left where something fails is not compared.
    let leaks = outcome.leaks.iter().filter(|_| is_prefix && outcome.violations.is_empty());
    let leaks: BTreeSet<_> = leaks.map(|leak| format!("{:?} {}", leak.kind, leak.object)).collect();
    (ends, work, found, leaks, outcome.stopped_by)
}

fn agrees<S: Subject + Send + 'static>(samples: &[Sample<S>], explorers: &[Setting])
where
    S::Local: Send + Sync,
{
    for (index, sample) in samples.iter().enumerate() {
        let explorer = explorers[index % explorers.len()];
        let essence = |outcome: &Outcome| essence(outcome, explorer.profile().name == "prefix");
        let expected = essence(&all(&sample.script, explorer));
        for (forks, most) in [(false, 256), (false, 1), (true, 2)] {
            let mut runner = Interpreted::new(sample.script.clone());
            runner.forks = forks;
            let (alive, history) = (runner.alive.clone(), History::new(runner).max_processes(most));
            let found = essence(&all(&history, explorer));
            let told = || format!("{explorer}, {most} live, {}", sample.describe());
            assert_eq!(found, expected, "{}", told());
            // The second time nothing is run at all.
            let runs = history.runs();
            assert_eq!(essence(&all(&history, explorer)), expected, "{}", told());
            if !sample.describe().contains("spawn") {
                assert_eq!(history.runs(), runs, "{}", told());
            }
            assert!(alive.most.load(Ordering::Relaxed) <= most, "{}", told());
        }
        // What no search needs is forgotten at once, and is run again if it is needed again.
        let history = History::new(Interpreted::new(sample.script.clone())).max_histories(0);
        for _ in 0..2 {
            let budget = Budget { keep_locals: 0, ..Budget::default() };
            let found = essence(&within(&history, explorer, budget));
            assert_eq!(found, expected, "{explorer}, forgetful, {}", sample.describe());
        }
    }
}

/// Each thread has live processes of its own, and the number of a history that goes is used again.
#[test]
fn threads_that_forget_find_what_one_finds() {
    for sample in &random_models::processes()[..30] {
        let expected = essence(&all(&sample.script, "sleep".parse().unwrap()), false);
        let history = History::new(Interpreted::new(sample.script.clone())).max_histories(0);
        let pieces = InPieces::new(Sleep::default(), NonZeroU32::new(3).unwrap());
        let many = |n| NonZeroU64::new(n).unwrap();
        let pieces = InPieces { first: many(3), grain: many(2), ..pieces };
        let budget = Budget { all: true, keep_locals: 0, ..Budget::default() };
        let found = explore(&Erased::of(&history), pieces, budget, &mut NoObserver);
        assert_eq!(essence(&found, false), expected, "{}", sample.describe());
    }
}

/// The slow test below has all programs, each by every explorer.
#[test]
fn random_programs_are_what_their_histories_are() {
    let explorers: Vec<_> = explorers().collect();
    agrees(&random_models::processes()[..60], &explorers);
    agrees(&random_models::later()[..30], &explorers);
    agrees(&random_models::p2p()[..40], &explorers);
}

/// The net of a system of histories has a place for each message, receive and entry.
#[test]
fn prefixes_of_networks_are_what_those_of_their_histories_are() {
    let prefix: Setting = "prefix".parse().expect("an explorer");
    agrees(random_models::p2p(), &[prefix]);
}

#[test]
#[ignore = "slow"]
fn random_programs_are_what_their_histories_are_at_length() {
    for explorer in explorers() {
        agrees(random_models::processes(), &[explorer]);
        agrees(random_models::later(), &[explorer]);
        agrees(random_models::p2p(), &[explorer]);
    }
}

/// A process that asks something else after the same observations is detected by every explorer.
#[test]
fn who_asks_something_else_the_second_time_is_found_out() {
    let mut found = 0;
    for sample in &random_models::processes()[..150] {
        for explorer in explorers() {
            let mut runner = Interpreted::new(sample.script.clone());
            runner.fickle_after = Some(runner.system.initial(&mut Default::default()).len());
            let history = History::new(runner);
            let outcome = all(&history, explorer);
            let is_told_again =
                history.runs().starts > sample.script.initial(&mut Default::default()).len() as u64;
            let told = outcome.violations.iter().filter_map(|violation| violation.failure.as_ref());
            let told: Vec<_> = told.filter(|f| f.message.starts_with("nondeterminism")).collect();
            // A spawned process is fickle from the start, so it is the same every time.
            if !is_told_again {
                assert!(told.is_empty(), "{told:?} of {}", sample.describe());
            }
            found += usize::from(!told.is_empty());
        }
    }
    assert!(found > 500, "{found}");
}

fn drawn() -> Steps {
    let mut system = Builder::new();
    let (total, drawn) = (system.cell("total", 0), system.variable("drawn"));
    let seen = system.variable("seen");
    system.process(
        "A",
        [
            choose(0..3).into(drawn),
            fetch_add(total, drawn),
            read(total).into(seen),
            assert_that("seen < 12", move |v| v[seen] < 12),
        ],
    );
    system.process("B", [fetch_add(total, 10), fetch_add(total, move |_: Variables<'_>| 20)]);
    system.build()
}

#[test]
fn nondeterminism_is_reported_with_both_requests_and_their_places() {
    let mut runner = Interpreted::new(drawn());
    runner.fickle_after = Some(2);
    let checked = mazurka::check(&Erased::new(History::new(runner))).all().run();
    assert_eq!(checked.verdict(), Verdict::Error);
    let told = checked.to_string();
    let expected = "nondeterminism: after the same outcomes, the process asked for `";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn explorers_that_store_states_refuse() {
    let history = History::new(Interpreted::new(drawn()));
    for explorer in EXPLORERS.iter().filter(|e| e.profile().guarantee == Guarantee::EveryEnd) {
        let name = explorer.profile().name;
        let setting: Setting = name.parse().unwrap();
        let why = setting.refusal(&Erased::of(&history), &Budget::default()).expect(name);
        assert!(why.contains("stores states, and that gains nothing"), "{why}");
        let check = || drop(mazurka::check(&Erased::of(&history)).explorer(setting).run());
        let panic = catch_unwind(AssertUnwindSafe(check)).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>(), Some(&why));
    }
}

#[test]
fn each_process_runs_once_for_each_history_of_its_own() {
    let senders = |count: i64| {
        let mut system = Builder::new();
        let mailbox = system.mailbox("m");
        for i in 0..count {
            let comm = system.communication();
            system.process(format!("S{i}"), [mazurka::systems::isend(comm, mailbox, i)]);
        }
        system.process("R", (0..count).map(|_| mazurka::systems::recv(mailbox)));
        system.build()
    };
    let history = History::new(Interpreted::new(senders(5)));
    let outcome = all(&history, "optimal".parse().unwrap());
    assert_eq!(outcome.stats.traces, 120);
    let runs = history.runs();
    // Five senders and one receiver; the receiver again for each order but the first.
    assert_eq!(runs.starts, 6 + 119);
    // A sender gets one outcome; the receiver gets its requests, and each sequence of distinct
    // messages.
    let sequences = 5 + 20 + 60 + 120 + 120;
    assert_eq!(runs.histories, 5 * 2 + 1 + sequences + (1 + 5 + 20 + 60 + 120));
}

/// Independent pairs of processes that race have a class for each combination of the outcomes. The prefix follows none.
#[test]
fn the_prefix_starts_processes_once_for_each_history_whatever_the_number_of_classes() {
    let pairs = |count: i64| {
        let mut system = Builder::new();
        for i in 0..count {
            let (cell, seen) = (system.cell(format!("c{i}"), 0), system.variable("seen"));
            let race = move || {
                [fetch_add(cell, 1).into(seen), assert_that("seen < 2", move |v| v[seen] < 2)]
            };
            system.process(format!("A{i}"), race());
            system.process(format!("B{i}"), race());
        }
        system.build()
    };
    let history = History::new(Interpreted::new(pairs(12)));
    let outcome = all(&history, "prefix".parse().unwrap());
    assert_eq!((outcome.violations.len(), outcome.stopped_by), (0, None));
    // Each process is the first one or the second one of its pair.
    assert_eq!(outcome.stats.prefix.expect("a prefix").events, 24 * 2);
    // Each process once from its start, and once more for the second one of its two histories.
    assert_eq!(history.runs().starts, 24 + 24);
    let history = History::new(Interpreted::new(pairs(3)));
    let classes = all(&history, "udpor".parse().unwrap()).stats.traces;
    assert_eq!(classes, 1 << 3);
}
