//! Limits on time and memory are kept, whatever the search is doing when it reaches them.
//!
//! In each program one step of a search takes long, or one object is large: thousands of extensions
//! of one event, a wait for one of thousands, a handler that sends without end, values that grow.
//! The delay in keeping a limit depends on the machine, so a test allows more than the half second
//! that is guaranteed.

use std::time::{Duration, Instant};

use crate::cli::{code, json, run_with, stderr, stdout};

/// Programs that take long, and what is large in them.
const LONG: [&str; 5] = [
    // Ten thousand extensions of the empty configuration, all in conflict.
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

/// The maximum delay on a busy machine.
const LATE: Duration = Duration::from_secs(20);

/// More than 40 billion orders, and a few thousand states. The assertion fails only if `First` goes
/// before `Last`, which is tried last.
#[test]
fn a_search_that_runs_out_of_time_names_an_explorer_that_does_not() {
    let spec = "const SURE = true;
        shared x: int = 0;
        process First { assert(x == 1 || SURE); }
        process P[i in 0..5] { local(\"a\"); local(\"b\"); local(\"c\"); }
        process Last { x = 1; }";
    let slow = ["check", "-", "--explorer", "exhaustive", "--timeout"];
    let output = run_with(&[&slow[..], &["3s"]].concat(), spec);
    let text = stdout(&output);
    assert_eq!(code(&output), 3, "{text}");
    assert!(text.contains("  Try `--explorer stateful`: it explores all of it in "), "{text}");
    let wrong = ["3s", "-D", "SURE=false", "--format", "json"];
    let result = json(&run_with(&[&slow[..], &wrong].concat(), spec));
    assert_eq!(result["faster"]["explorer"], "stateful");
    assert_eq!(result["faster"]["finds_violation"], true);

    // 8! / 2^4 = 2,520 orders of four senders of two messages, in far more interleavings.
    let many = "p2p mailbox m: int; process S[i in 0..4] { bsend(m, 0); bsend(m, 1); }
        daemon process R { loop { recv(m); } }";
    let text = stdout(&run_with(&[&slow[..], &["5s"]].concat(), many));
    let (_, found) = text.split_once("  In all there are ").unwrap_or_else(|| panic!("{text}"));
    let (number, _) = found.split_once(" classes").unwrap();
    let number: u64 = number.trim_start_matches("about ").replace(',', "").parse().unwrap();
    assert!((630..10_080).contains(&number), "{number}");

    // A program that neither of them explores in time.
    let large = "shared x: [int; 12] = 0; process P[i in 0..12] { for n in 1..5 { x[i] = n; } }";
    let result = json(&run_with(&[&slow[..], &["300ms", "--format", "json"]].concat(), large));
    assert_eq!(
        (&result["stopped_by"], &result["faster"]),
        (&"timeout".into(), &serde_json::Value::Null)
    );
}

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

/// Where a lock and its wait are one transition, a process that requests a mutex only to test it
/// must not be blocked: this would be a deadlock that the program does not have.
#[test]
fn a_request_without_a_wait_is_never_a_blocking_lock() {
    let program =
        "mutex m; process P { async_lock(m); } process Q { async_lock(m); let b = mutex_test(m); }";
    for explorer in ["stateful", "s-por", "de-s-por", "dl-s-por"] {
        let output = run_with(&["check", "-", "--as-printed", "--explorer", explorer], program);
        assert!([0, 3].contains(&code(&output)), "{explorer}: {}", stderr(&output));
    }
}

/// The calls of a search may name events beyond the requested number.
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

/// Local computation that alone takes minutes: elements are removed from the middle of a long list.
const SLOW: &str = "process P { var a: [int] = [0; 1000000]; for i in 0..900000 { a = remove(a, len(a) / 2); } assert(false); }
     process Q { let c = choose(0..3); }";

/// Local computation that alone takes gigabytes.
const LARGE: &str = "process P { var a: [[int]] = []; var i = 0; while i < 900000 { i += 1; let b = push([1], i); a = push(a, push(b, 2)); }
         assert(false); }";

/// A process that computes when the search is stopped has not failed.
#[test]
fn limits_are_kept_within_local_computation() {
    for explorer in ["udpor", "optimal", "sleep", "stateful", "dl-s-por", "auto"] {
        for (program, limit, value) in
            [(LARGE, "max-memory", "100M"), (LARGE, "timeout", "200ms"), (SLOW, "timeout", "200ms")]
        {
            let option = format!("--{limit}");
            let args = ["check", "-", &option, value, "--explorer", explorer, "--format", "json"];
            let output = run_with(&args, program);
            assert_eq!(code(&output), 3, "{explorer}: {}", stderr(&output));
            let report = json(&output);
            assert_eq!(report["stopped_by"], limit, "{explorer}: {report}");
            assert_eq!(report["violations"].as_array().map(Vec::len), Some(0), "{explorer}");
            if limit == "max-memory" {
                let peak = report["stats"]["peak_memory_bytes"].as_u64().expect("a number");
                assert!(peak < 500_000_000, "{explorer}: {peak} bytes for {value}");
            }
        }
    }
}

#[test]
fn executions_have_limits() {
    let endless = "process P { var l: [[int; 1000]] = []; while true { l = push(l, [0; 1000]); local(\"a\"); } }";
    let limits: [([&str; 2], &[&str]); 2] = [
        (["--timeout", "300ms"], &[endless, SLOW, LARGE]),
        (["--max-memory", "40M"], &[endless, LARGE]),
    ];
    for (limit, programs) in limits {
        for program in programs {
            let output = run_with(&[&["run", "-"][..], &limit].concat(), program);
            assert_eq!(code(&output), 3, "{limit:?}: {program}: {}", stderr(&output));
            let reached = format!("{} was reached", limit[0]);
            assert!(stderr(&output).contains(&reached), "{limit:?}: {}", stderr(&output));
        }
        let long = "0x9000";
        let args = [&["replay", "-", "--schedule", long][..], &limit].concat();
        let output = run_with(&args, endless);
        assert_eq!(code(&output), 3, "{limit:?}: {}", stderr(&output));
    }
}

/// Each of 2,000 states is shown with a list of 100,000 elements.
#[test]
fn a_drawing_that_is_not_ready_in_time_is_given_up() {
    let program = "process P { var big: [int; 100000] = [0; 100000]; for i in 0..1000 { big[i] = 1; local(\"a\"); } }
         process Q { for i in 0..1000 { local(\"b\"); } }";
    let args = ["draw", "-", "--timeout", "500ms", "--format", "html"];
    let page = [&args[..], &["--schedule", "0x1000,1x1000"]].concat();
    let output = run_with(&page, program);
    assert_eq!((code(&output), stdout(&output)), (3, String::new()), "{}", stderr(&output));
    assert!(stderr(&output).contains("Nothing drawn"), "{}", stderr(&output));
}

/// Ten thousand processes, each started by the previous one: the data stored for each does not grow
/// with its number.
#[test]
fn a_chain_of_spawns_needs_little_memory() {
    let program = "process P() { let h = spawn P(); } process S { let h = spawn P(); }";
    for explorer in ["sleep", "source"] {
        let args =
            ["check", "-", "--explorer", explorer, "--max-memory", "600M", "--format", "json"];
        let report = json(&run_with(&args, program));
        assert_eq!(report["stopped_by"], "endless", "{explorer}: {report}");
    }
}

#[test]
fn very_many_threads_are_refused() {
    for jobs in ["5000", "0", "1001"] {
        for explorer in ["sleep", "stateful", "auto"] {
            let args = ["check", "-", "--explorer", explorer, "--jobs", jobs];
            let output = run_with(&args, "process P { local(\"a\"); }");
            assert_eq!(code(&output), 2, "{explorer}");
            assert!(
                stderr(&output).contains("not a number of jobs from 1 to 1000"),
                "{}",
                stderr(&output)
            );
        }
    }
}
