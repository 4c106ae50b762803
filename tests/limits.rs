//! Limits on time and memory are kept, whatever the search is doing when they are reached.
//!
//! Each program makes one step of a search long, or one object large: thousands of extensions of one event, a wait
//! for one of thousands, a handler that sends without end, values that grow. How late a limit is kept is measured
//! on whatever machine this runs on, so a test allows for more than the half second that is promised.

use std::time::{Duration, Instant};

use crate::cli::{code, json, run_with, stderr, stdout};

/// Programs that take long, and what is large in them.
const LONG: [&str; 5] = [
    // Ten thousand extensions of the empty configuration, all rivals.
    "shared x: int = 0; process P[i in 0..3000] { fetch_add(x, 1); }",
    // A wait for one of thousands.
    "mailbox m; process P { var l: [comm] = []; for i in 0..3000 { l = push(l, isend(m, i)); } let k = waitany(l); }
     process Q { for i in 0..3000 { let c = irecv(m); } }",
    // A handler with very many messages to one actor.
    "actor A { var n = 0; on M(k: int) { n = n + 1; } }
     actor B { on Go() { for i in 0..30000 { send(A, M(i)); } } }
     init { send(B, Go()); }",
    // Writes after each set of reads.
    "shared x: int = 0; process R[i in 0..20] { let a = x; } process W { x = 1; }",
    // Values that grow from step to step.
    "process P { var l: [[int; 1000]] = []; while true { l = push(l, [0; 1000]); local(\"a\"); } }
     process Q { while true { local(\"b\"); } }",
];

/// How much later than asked a search may end on a busy machine.
const LATE: Duration = Duration::from_secs(20);

#[test]
fn a_search_ends_in_time_whatever_it_is_doing() {
    for explorer in ["udpor", "source", "optimal", "dpor", "exhaustive", "stateful"] {
        for program in LONG {
            let start = Instant::now();
            let output = run_with(
                &["check", "-", "--all", "--timeout", "300ms", "--explorer", explorer],
                program,
            );
            let took = start.elapsed();
            assert!([0, 3].contains(&code(&output)), "{explorer}: {program}: {}", stderr(&output));
            assert!(took < LATE, "{explorer}: {took:?} for {program}");
        }
    }
}

#[test]
fn memory_is_counted_when_it_is_allocated() {
    for program in LONG {
        let args =
            ["check", "-", "--all", "--max-memory", "60M", "--timeout", "20s", "--format", "json"];
        let report = json(&run_with(&args, program));
        let peak = report["stats"]["peak_memory_bytes"].as_u64().expect("a peak");
        assert!(peak < 250_000_000, "{peak} bytes for {program}");
        assert_eq!(report["verdict"], "incomplete", "{program}");
    }
}

#[test]
fn computing_with_large_values_counts_as_work() {
    let program =
        "process P { var i = 0; while true { if [0; 100000] == [1; 100000] { i = i + 1; } } }";
    let output = run_with(&["check", "-"], program);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("too much local computation"), "{}", stdout(&output));
}

#[test]
fn a_choice_among_too_many_is_refused_with_its_place() {
    let output = run_with(&["check", "-"], "process P { let a = choose(0..2147483647); }");
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(text.contains("a range has at most 10000 values") && text.contains("-:1:21"), "{text}");
    let output = run_with(
        &["check", "-", "--explorer", "stateful"],
        "process P { let a = choose(0..10000); }",
    );
    assert_eq!(code(&output), 0);
}

#[test]
fn drawing_has_limits_of_its_own() {
    let spin = "shared x: int = 0; process P { while x == 0 { local(\"a\"); } } process Q { while x == 0 { local(\"b\"); } }";
    for options in [&["--format", "html"][..], &["--format", "svg", "--what", "space-time"][..]] {
        let start = Instant::now();
        let args =
            [&["draw", "-", "--timeout", "1s", "--max-memory", "100M"][..], options].concat();
        let output = run_with(&args, spin);
        assert!([0, 3].contains(&code(&output)), "{options:?}: {}", stderr(&output));
        assert!(start.elapsed() < Duration::from_secs(1) + 2 * LATE, "{options:?}");
    }
}

/// Where a lock is one transition with its wait, a process that requests a mutex only to test it is not held up: there
/// is no deadlock that the program does not have.
#[test]
fn a_request_without_a_wait_is_never_a_blocking_lock() {
    let program =
        "mutex m; process P { async_lock(m); } process Q { async_lock(m); let b = mutex_test(m); }";
    for explorer in ["stateful", "s-por", "de-s-por", "dl-s-por"] {
        let output = run_with(&["check", "-", "--as-printed", "--explorer", explorer], program);
        assert!([0, 3].contains(&code(&output)), "{explorer}: {}", stderr(&output));
    }
}

/// The calls of a search may name events beyond those that were asked for.
#[test]
fn steps_of_a_search_are_drawn_however_few_events_are_wanted() {
    let program =
        "shared x: int = 0; process P { let a = cas(x, 0, 1); } process Q { let b = cas(x, 1, 0); }
                   process R[i in 0..2] { let c = x; }";
    for events in 1..12 {
        for format in ["html", "svg", "json", "dot"] {
            let what = if format == "html" { "unfolding" } else { "steps" };
            let events = events.to_string();
            let args = ["draw", "-", "--what", what, "--format", format, "--max-events", &events];
            let output = run_with(&args, program);
            assert_eq!(code(&output), 0, "{format} of {events}: {}", stderr(&output));
        }
    }
}
