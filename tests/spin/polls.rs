//! Polls, tests, faults and timeouts in loops that wait: small programs, each with what all
//! explorers have to say of it. Most of them were found by reading what the rules rely on.

use crate::cli::{code, run_with, stdout};

/// Explorers of classes and of states, and the prefix.
const EXPLORERS: [&str; 11] = [
    "exhaustive",
    "sleep",
    "udpor",
    "optimal",
    "source",
    "dpor",
    "parsimonious",
    "prefix",
    "stateful",
    "fused",
    "s-por",
];

/// Each explorer ends with this code: 0 is verified, 1 violated, 3 not decided.
fn all_say(expected: i32, text: &str, explorers: &[&str], options: &[&str]) {
    for explorer in explorers {
        let args = [&["check", "-", "--explorer", explorer], options].concat();
        let found = run_with(&args, text);
        assert_eq!(code(&found), expected, "{explorer} {options:?}: {text}\n{}", stdout(&found));
    }
}

/// A loop with several polls of the same comes to the bound on polls in the middle of a round. It
/// polls for ever nevertheless.
#[test]
fn a_loop_that_polls_as_often_as_the_bound_allows_waits() {
    let network = "p2p mailbox m: int; mailbox a: int; shared x: int = 0;";
    let twice = "loop { let a = recv(m) timeout { -1 }; if a >= 0 { break; }
        let b = recv(m) timeout { -1 }; if b >= 0 { break; } }";
    let programs = [
        "process P { while !iprobe(m).0 && !iprobe(m).0 {} }".to_owned(),
        "process P { let d = irecv(m); loop { if test(d) { break; } if test(d) { break; } } }"
            .into(),
        format!("process P {{ {twice} }}"),
        format!(
            "daemon process P {{ {twice} }} process Q {{ x = 1; }} final {{ assert(x == 0); }}"
        ),
        format!("daemon process P {{ {twice} }} process Q {{ recv(a); }}"),
        // `final` has to hold at each point of the loop.
        "daemon process P { var w = 0; loop { w = 0; let _a = recv(m) timeout { -1 };
            w = 1; let _b = recv(m) timeout { -1 }; } } final { assert(P.w == 0); }"
            .into(),
    ];
    for program in programs {
        for polls in ["1", "2", "3"] {
            all_say(1, &format!("{network} {program}"), &EXPLORERS, &["--polls", polls]);
        }
    }
}

/// The bound on polls makes nobody wait for ever: what another poll of the loop finds is found.
#[test]
fn a_loop_goes_on_beyond_the_bound_if_one_of_its_polls_finds_something() {
    let among_three = "mailbox a: int; p2p mailbox m: int;
        process P {
            let c = irecv(a);
            loop {
                if test(c) { break; }
                if iprobe(m).0 { break; }
                if iprobe(m).0 { break; }
                if iprobe(m).0 { break; }
            }
        }
        process Q { isend(a, 1); }";
    all_say(0, among_three, &EXPLORERS, &[]);
    all_say(0, &among_three.replace("mailbox a", "p2p mailbox a"), &EXPLORERS, &[]);
    let inner = "p2p mailbox m: int, a: int;
        process P {
            loop {
                if iprobe(m).0 { break; }
                if iprobe(m).0 { break; }
                loop { if iprobe(a).0 { break; } if !iprobe(m).0 { break; } }
            }
        }
        process Q { isend(m, 1); }";
    all_say(0, inner, &EXPLORERS, &[]);
    // It leaves the loop where a poll misses, which the bound forbids at first.
    let misses = "p2p mailbox m: int, a: int;
        process P {
            let _u = iprobe(m).0; let _w = iprobe(m).0;
            loop { if iprobe(a).0 { break; } if !iprobe(m).0 { break; } }
        }
        process Q { isend(m, 1); }";
    all_say(3, misses, &EXPLORERS, &[]);
    all_say(0, misses, &EXPLORERS, &["--polls", "3"]);
    let chosen = "p2p mailbox m: int;
        process P { while choose(0..2) == 0 || iprobe(m).0 {} }
        process Q { isend(m, 1); }";
    all_say(3, chosen, &EXPLORERS, &["--polls", "0"]);
}

/// An execution is given up where the process should have polled less. Up to a depth, the execution
/// in which it has may be beyond the bound: then nothing is verified.
#[test]
fn what_is_given_up_near_the_bound_on_the_depth_is_cut() {
    let text = "p2p mailbox orders: int; p2p mailbox answers: int; p2p mailbox questions: int;
        process Asker {
            let answer = irecv(answers);
            isend(questions, 6);
            loop { if iprobe(orders).0 { break; } if test(answer) { break; } }
        }
        process Oracle { isend(answers, recv(questions)); }";
    let explorers = ["exhaustive", "udpor", "optimal", "source", "dpor"];
    all_say(3, text, &explorers, &["--depth", "6"]);
    all_say(0, text, &explorers, &["--depth", "30"]);
}

/// Where a test succeeds for ever, what it did before its request was complete is explored, too.
#[test]
fn a_test_fails_before_its_request_is_complete() {
    let [leaves, beside] = ["", "let _u = x;"].map(|before| {
        format!(
            "mailbox a: int; shared x: int = 0;
            process Q {{ isend(a, 1); x = 1; }}
            daemon process P {{
                let c = irecv(a); {before} while test(c) {{}} assert(false);
            }}"
        )
    });
    let mutex = "mutex l; shared x: int = 0;
        process Q { lock(l); unlock(l); x = 1; }
        daemon process P { async_lock(l); while mutex_test(l) {} assert(false); }";
    for text in [leaves.as_str(), beside.as_str(), mutex] {
        for order in ["fifo", "lifo", "eca", "lca", "sequential"] {
            all_say(1, text, &["optimal", "source", "dpor"], &["--order", order]);
        }
        all_say(1, text, &EXPLORERS, &[]);
    }
}

/// A process that has learnt that its receive is complete never misses it again: it is in another
/// state, so to learn it is no iteration that changes nothing.
#[test]
fn what_a_process_has_learnt_it_does_not_forget() {
    let programs = [
        "process P { let d = irecv(m); while test(d) {} } process Q { isend(m, 1); }",
        "process P { let d = irecv(m); loop { if test(d) { continue; } break; } }
            process Q { isend(m, 1); }",
        "daemon process P { let d = irecv(m); loop { wait(d); if !test(d) { break; } } assert(false); }
            process Q { isend(m, 1); recv(other); }",
    ];
    for program in programs {
        let text = format!("p2p mailbox m: int; mailbox other: int; {program}");
        all_say(1, &text, &EXPLORERS, &[]);
    }
}

/// Nothing makes a process crash: if it spins unless it crashes, it spins.
#[test]
fn a_crash_is_no_way_out_of_a_loop() {
    let programs = [
        "process P crashes up to 1 { while x == 0 {} }",
        "process P[i in 0..2] crashes up to 1 { while !cas(x, 0, 1) {} }",
        "process P crashes up to 1, restarts { while x == 0 {} }",
        "daemon process P crashes up to 1 { while x == 0 {} } final { assert(P.crashes == 1); }",
        "daemon process P crashes up to 1 { while x == 0 {} } process Q { recv(m); }",
    ];
    for program in programs {
        all_say(1, &format!("shared x: int = 0; mailbox m: int; {program}"), &EXPLORERS, &[]);
    }
    // Polls are bounded, also if the process could crash between them.
    let counts = "p2p mailbox m: int;
        process P crashes up to 1 { var n = 0; while !iprobe(m).0 { n += 1; } }
        process Q { isend(m, 1); }";
    for explorer in EXPLORERS {
        let found = stdout(&run_with(&["check", "-", "--explorer", explorer], counts));
        assert!(found.contains("a loop that polls at line 2 was cut"), "{explorer}: {found}");
    }
}

/// A receive that gives up when nothing else can happen is no part of a loop of one process alone.
/// Beside a loop that polls or spins for ever something can always happen.
#[test]
fn what_gives_up_when_stuck_is_judged_with_all_others() {
    let explorers = ["exhaustive", "stateful", "fused", "fair", "auto"];
    let takes_turns = "p2p mailbox a: int, b: int; shared x: int = 0;
        process P {
            loop { let r = recv(a) timeout when stuck { 5 }; if r != 5 || x == 1 { break; } }
        }
        process Q { let _r = recv(b) timeout when stuck { x = 1; 7 }; }";
    all_say(0, takes_turns, &explorers, &[]);
    let never = takes_turns.replace("x = 1; 7", "while x == 0 {} 7");
    all_say(1, &never, &explorers, &[]);
    let both = "p2p mailbox a: int, b: int; shared x: int = 0;
        process P { loop { let _r = recv(a) timeout when stuck { 5 }; if x == 1 { break; } } }
        process Q { loop { let _r = recv(b) timeout when stuck { 5 }; if x == 1 { break; } } }";
    all_say(1, both, &explorers, &[]);
    for polls in ["!iprobe(m[0]).0", "x == 0"] {
        for gives_up in ["assert(false);", "isend(m[0], 1);"] {
            let text = format!(
                "p2p mailbox m[2]: int; shared x: int = 0;
                process P {{ while {polls} {{}} }}
                process Q {{ let _r = recv(m[1]) timeout when stuck {{ {gives_up} 5 }}; }}"
            );
            all_say(1, &text, &explorers, &["--all"]);
            for explorer in explorers {
                let args = ["check", "-", "--all", "--explorer", explorer];
                let found = stdout(&run_with(&args, &text));
                assert!(!found.contains("Assertion failed"), "{explorer}: {text}\n{found}");
            }
        }
    }
}
