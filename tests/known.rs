//! Programs of actors whose numbers of classes are known.
//!
//! Most are from Tasharofi, Karmani, Lauterburg, Legay, Marinov and Agha, "TransDPOR" (FMOODS/FORTE
//! 2012), where a class is given by the order of the messages that each actor processed. They are
//! written by hand against the bare [`System`] trait, so they also show a program of actors in
//! Rust.

mod programs;
mod repeated;
mod waiting;

use mazurka::explore::{
    AnyExplorer, Budget, Exhaustive, Explorer, Guarantee, NoObserver, Stats, Verdict, explore,
};
use mazurka::model::System;

use crate::judge::{METHODS, check_counterexample};
use crate::random_models::Erased;
use programs::{dining, door, fib, in_one_inbox, pipesort, registry, regsim};

/// The statistics of a complete search. Its verdict must be `verdict`, and its counterexamples must
/// replay.
fn search<S: System>(system: &S, method: impl Explorer, verdict: Verdict) -> Stats {
    let budget = Budget { all: true, ..Budget::default() };
    let outcome = explore(system, method, budget, &mut NoObserver);
    assert!(outcome.is_complete(), "{method:?}");
    assert_eq!(outcome.verdict(), verdict, "{method:?}");
    for violation in &outcome.violations {
        check_counterexample(system, violation).unwrap_or_else(|how| panic!("{how}: {method:?}"));
    }
    outcome.stats
}

/// Checks every explorer that guarantees each class once: its number of visits, and of those that
/// end in a deadlock. (Others may take hours, for example DPOR as published on the regsim of the
/// paper.)
fn check_classes(cast: &Erased<'_>, [classes, deadlocked]: [u64; 2]) {
    let verdict = if deadlocked > 0 { Verdict::Deadlock } else { Verdict::Ok };
    let once = |&&(_, method, _): &&(&str, AnyExplorer, bool)| {
        method.profile().guarantee >= Guarantee::EveryClassOnce
            && method.refusal(cast, &Budget::default()).is_none()
    };
    for &(_, method, never_blocked) in METHODS.iter().filter(once) {
        let stats = search(cast, method, verdict);
        assert_eq!([stats.traces, stats.deadlocked_traces], [classes, deadlocked], "{method:?}");
        assert!(stats.blocked == 0 || !never_blocked, "{method:?}");
    }
}

/// Also checks the number of all executions.
fn check(cast: &Erased<'_>, executions: u64, [classes, deadlocked]: [u64; 2]) {
    let verdict = if deadlocked > 0 { Verdict::Deadlock } else { Verdict::Ok };
    let stats = search(cast, Exhaustive, verdict);
    assert_eq!((stats.traces, stats.classes), (executions, Some(classes)));
    check_classes(cast, [classes, deadlocked]);
}

/// A worker's registration comes after its start, which halves the (2w + 1)! orders of events w
/// times.
#[test]
fn the_registry_has_as_many_classes_as_orders_of_registration() {
    check(&registry(1), 3, [2, 0]);
    check(&registry(2), 30, [6, 0]);
    check(&registry(3), 630, [24, 0]);
    check_classes(&registry(5), [720, 0]);
}

#[test]
fn the_clients_of_regsim_register_in_any_order() {
    check(&regsim(2), 3, [2, 0]);
    check(&regsim(3), 30, [6, 0]);
    check(&regsim(4), 630, [24, 0]);
    check_classes(&regsim(6), [720, 0]);
}

/// Each call of fib(v) with v > 2 is answered twice, in either order.
#[test]
fn fibonacci_has_two_classes_per_inner_call() {
    check(&fib(3), 6, [2, 0]);
    check_classes(&fib(4), [4, 0]);
    check_classes(&fib(5), [16, 0]);
    check_classes(&fib(6), [128, 0]);
}

/// Each philosopher takes the left fork first, or the right one. If each takes the same side first
/// and gets it, no philosopher gets a second fork. (Not all can take the other side: 2^n - 1.)
///
/// For two: 20 orders of the six events up to the deadlock, and 60 of the rest with either winner:
/// after his five events before he puts them down, 8 + 8 + 7 + 7 places for the other's start, and
/// twice for the puts.
#[test]
fn dining_philosophers_deadlock_in_one_class() {
    check(&dining(2, false), 140, [3, 1]);
    check_classes(&dining(3, false), [7, 1]);
    check_classes(&dining(4, false), [15, 1]);
    check_classes(&dining(5, false), [31, 1]);
}

#[test]
fn a_left_handed_philosopher_prevents_the_deadlock() {
    check(&dining(2, true), 120, [2, 0]);
    check_classes(&dining(3, true), [6, 0]);
    check_classes(&dining(4, true), [14, 0]);
}

/// Which of them shuts the door, whether the other looked in before, and the order in which the
/// neighbour is addressed. If the neighbour's visitor is in the sleep set, every execution that
/// source-DPOR may explore ends where only this visitor is left; it must be seen there, too, that
/// the other one could have shut the door.
#[test]
fn a_message_is_refused_where_nothing_more_is_awake() {
    check(&door(), 12, [6, 6]);
}

/// Each sorter may be started before or after the numbers from the left have come.
#[test]
fn a_pipeline_of_sorters_has_a_product_of_factorials() {
    check_classes(&pipesort(2), [2, 0]);
    check_classes(&pipesort(3), [12, 0]);
    check_classes(&pipesort(4), [288, 0]);
}

#[test]
fn messages_in_one_inbox_come_in_any_order() {
    check(&in_one_inbox(5), 120, [120, 0]);
    check_classes(&in_one_inbox(7), [5_040, 0]);
}
