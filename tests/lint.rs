//! Warnings: what executions leave behind although nothing is wrong, and what no execution runs.

use std::collections::BTreeSet;
use std::fs;

use mazurka::explore::{
    Budget, Depth, End, Exhaustive, Explorer, Guarantee, NoObserver, Observer, explore,
};
use mazurka::lang::{Program, Unreached, UnreachedKind, compile};
use mazurka::model::{self, Posted, ProcessId, Schedule, State, Status};
use mazurka::property::{LeakKind, Position, Replay, When};

use crate::cli::{code, json, run, run_with, stdout};
use crate::judge::{LONG, METHODS, is_refused};
use crate::tidy::specs_without_demands;

/// The maximum number of executions of a program that are checked.
const MOST: u64 = 60;

/// A leak: its kind and its place.
type Place = (LeakKind, u32, u32);

/// What executions leave behind, by definition: computed by replays.
struct Left<'p> {
    program: &'p Program,
    found: BTreeSet<Place>,
}

impl Observer for Left<'_> {
    fn trace(&mut self, at: Position<'_>, end: End) {
        let has_failed = |process| matches!(at.status(process), Status::Failed(_));
        let ends_well = !end.is_deadlocked && !end.is_livelocked && at.final_failure().is_none();
        if ends_well && !at.processes().any(has_failed) {
            self.found.extend(left_behind(self.program, &at.schedule()));
        }
    }
}

/// What this execution leaves behind.
fn left_behind(program: &Program, schedule: &Schedule) -> BTreeSet<Place> {
    let mut replay = Replay::new(program);
    let mut requests = Vec::new();
    for &action in schedule {
        let process = action.process;
        let before = replay.state().posted_count(process);
        let step = replay.step(action).expect("an execution");
        if replay.state().posted_count(process) > before {
            let posted = replay.state().posted(process, model::Handle(before));
            requests.push((process, posted, step.line.unwrap(), step.column.unwrap()));
        }
    }
    let left = |&(process, posted, line, column): &(ProcessId, Posted, u32, u32)| {
        let kind = left_kind(replay.state(), process, posted)?;
        // A waiting daemon may have requests without answer, and keep what it has.
        let waits = replay.waiting_daemons().any(|daemon| daemon == process);
        (!waits || kind == LeakKind::Message).then_some((kind, line, column))
    };
    requests.iter().filter_map(left).collect()
}

/// The leak of a request, if it is one.
fn left_kind(state: &State, process: ProcessId, posted: Posted) -> Option<LeakKind> {
    match posted {
        Posted::At(mailbox, end, at) => {
            let is_paired = state.mailbox(mailbox).posts(end)[at as usize].partner().is_some();
            let kind = match end {
                model::End::Send => LeakKind::Message,
                model::End::Receive => LeakKind::Receive,
            };
            (!is_paired).then_some(kind)
        }
        Posted::Sent(send) => {
            let is_taken = state.network().sends()[send as usize].receive().is_some();
            (!is_taken).then_some(LeakKind::Message)
        }
        Posted::Receive(receive) => {
            let is_open = state.network().receives()[receive as usize].is_open();
            is_open.then_some(LeakKind::Receive)
        }
        Posted::Entry(entry) => {
            let has_ended = state.collectives().entries()[entry as usize].ended_at().is_some();
            (!has_ended).then_some(LeakKind::Collective)
        }
        Posted::Mutex(mutex, request) => {
            let mutex = state.mutex(mutex);
            let place = mutex.queue().position(|queued| queued == process);
            let is_free = mutex.releases().contains(&request);
            place.filter(|_| !is_free).map(|place| match place {
                0 => LeakKind::Held,
                _ => LeakKind::Queued,
            })
        }
        Posted::Enrolment(..) | Posted::Notification(..) => None,
        Posted::RwLock(lock, request) => {
            // A process that ends has waited for every lock that it requested.
            let is_left = !state.rwlock(lock).requests()[request as usize].is_over;
            is_left.then_some(LeakKind::Held)
        }
        Posted::Semaphore(semaphore, at) => {
            let semaphore = state.semaphore(semaphore);
            let granted = semaphore.initial as usize + semaphore.releases.len();
            (at as usize >= granted).then_some(LeakKind::Acquire)
        }
    }
}

/// The leaks that an explorer finds, each checked by a replay; `None` if there are too many
/// executions.
fn leaks(
    program: &Program,
    explorer: impl Explorer,
    observer: &mut dyn Observer,
) -> Option<BTreeSet<Place>> {
    let wants_depth = explorer.profile().depth == Depth::Length
        && explorer.profile().guarantee != Guarantee::EveryEnd;
    let depth = wants_depth.then_some(LONG);
    let max_traces = Some(MOST);
    // Local states are forgotten at once, so that a new one soon has the id of one with a known leak.
    let (endless, keep_locals) = (Some(LONG), 0);
    let budget = Budget { all: true, depth, max_traces, endless, keep_locals, ..Budget::default() };
    let outcome = explore(program, explorer, budget, observer);
    outcome.is_complete().then_some(())?;
    let place = |leak: &mazurka::property::Leak| {
        let site = leak.site.as_ref().expect("a place in the source");
        let place = (leak.kind, site.line, site.column);
        let left = left_behind(program, &leak.schedule);
        assert!(left.contains(&place), "{leak:?} is not among {left:?}");
        place
    };
    Some(outcome.leaks.iter().map(place).collect())
}

const LEAKING: &[&str] = &[
    "mailbox m; process P { if choose(0..2) == 0 { isend(m, 1); } else { isend(m, 2); } } process Q { irecv(m); irecv(m); }",
    "mailbox m; process P[i in 0..2] { isend(m, i, src: i); } process Q { let c = recv(m, src: 1); }",
    "mutex m; process P { async_lock(m); } process Q[i in 0..2] { async_lock(m); unlock(m); }",
    "semaphore s = 1; process P[i in 0..3] { async_acquire(s); if i == 0 { release(s); } }",
    "mutex m; mailbox b; process P { lock(m); let q = spawn Q(3); } process Q(n: int) { isend(b, n); async_lock(m); }",
    "mailbox m; shared x: int = 0; process P { isend(m, 1); assert(x == 0); } process Q { x = 1; }",
    "mailbox m: int, n: int; process P { let v = choose(0..4); if v == 0 { irecv(n); } else if v == 1 { irecv(n); } else if v == 2 { irecv(n); } else { irecv(n); } }",
    "mailbox m: int, n: int; semaphore s = 0; daemon process D { isend(n, 1); acquire(s); let v = recv(m); } process P { isend(m, 1); }",
];

/// In an ordinary run a program is explored by one in this many explorers, another share of them each time.
const SHARE: usize = 4;

#[test]
fn every_explorer_finds_what_is_left_behind() {
    finds_what_is_left_behind(SHARE);
}

#[test]
#[ignore = "slow"]
fn every_explorer_finds_what_is_left_behind_at_length() {
    finds_what_is_left_behind(1);
}

fn finds_what_is_left_behind(share: usize) {
    let written = LEAKING.iter().map(|text| ((*text).to_owned(), (*text).to_owned()));
    let read = |path: std::path::PathBuf| {
        (path.display().to_string(), fs::read_to_string(&path).expect("a readable spec"))
    };
    let (mut leaking, mut judged) = (0, 0);
    let all = written.chain(specs_without_demands().into_iter().map(read));
    for (place, (name, text)) in all.enumerate() {
        let program = compile("spec.maz", &text, &[]).expect("a valid spec");
        let mut left = Left { program: &program, found: BTreeSet::new() };
        let Some(found) = leaks(&program, Exhaustive, &mut left) else { continue };
        assert_eq!(found, left.found, "exhaustive on {name}");
        for &(method_name, method, _) in METHODS.iter().skip(place % share).step_by(share) {
            if method.profile().guarantee == Guarantee::SomeClasses || is_refused(&program, method)
            {
                continue;
            }
            let none = &mut NoObserver;
            let Some(by_it) = leaks(&program, method, none) else { continue };
            assert_eq!(by_it, found, "{method_name} on {name}");
            judged += 1;
        }
        leaking += usize::from(!found.is_empty());
    }
    assert!(leaking >= 10 && judged >= 600 / share, "{leaking} programs leak, {judged} searches");
}

/// The lints that are reported for a spec.
fn reported(text: &str, options: &[&str]) -> Vec<String> {
    let output = run_with(&[&["check", "-", "--format", "json"], options].concat(), text);
    let report = json(&output);
    let warnings = report["warnings"].as_array().cloned().unwrap_or_default();
    warnings.iter().map(|warning| warning["lint"].as_str().unwrap().to_owned()).collect()
}

const LOST: &str = "mailbox m;\nprocess P { isend(m, 1); }\n";
const LATE: &str = "mailbox m;\nprocess P { irecv(m); }\n";
const KEPT: &str = "mutex m;\nprocess P { lock(m); }\n";

#[test]
fn each_lint_has_its_programs() {
    assert_eq!(reported(LOST, &[]), ["messages"]);
    assert_eq!(reported(LATE, &[]), ["requests"]);
    assert_eq!(reported(KEPT, &[]), ["locks"]);
    assert_eq!(reported("mailbox m; process P { isend(m, 1); irecv(m); }", &[]), [""; 0]);
    assert_eq!(reported("mutex m; process P { lock(m); unlock(m); }", &[]), [""; 0]);
    // The process that waits for ever is reported, not its leaks.
    assert_eq!(
        reported("mailbox m, n; process P { isend(m, 1); let v = recv(n); }", &["--all"]),
        [""; 0]
    );
}

#[test]
fn a_warning_tells_the_place_and_an_execution_that_shows_it() {
    let text = stdout(&run_with(&["check", "-"], LOST));
    let warning = "Warnings:\n  line 2: in some execution the message that P sends to m is never received (messages)\n    \
                   mazurka replay - --schedule 0\n";
    assert!(text.contains(warning), "{text}");
    let output = run_with(&["replay", "-", "--schedule", "0"], LOST);
    let replayed = stdout(&output);
    assert!(
        replayed.contains("line 2: the message that P sends to m is never received"),
        "{replayed}"
    );
    assert_eq!(code(&output), 0);
    let report = json(&run_with(&["check", "-", "--format", "json"], LOST));
    let warning = &report["warnings"][0];
    assert_eq!((&warning["line"], &warning["column"]), (&2.into(), &13.into()));
    assert_eq!((&warning["replay"], &warning["level"]), (&"0".into(), &"warn".into()));
}

#[test]
fn what_is_denied_changes_the_exit_code() {
    for (options, expected, count) in [
        (&[][..], 0, 1),
        (&["--deny", "leaks"], 1, 1),
        (&["--deny", "locks,requests"], 0, 1),
        (&["--deny", "all", "--allow", "messages"], 0, 0),
        (&["--allow", "leaks", "--deny", "messages"], 1, 1),
    ] {
        let output = run_with(&[&["check", "-", "--format", "json"], options].concat(), LOST);
        assert_eq!(code(&output), expected, "{options:?}");
        assert_eq!(json(&output)["verdict"], "ok");
        assert_eq!(reported(LOST, options).len(), count, "{options:?}");
    }
    let text = stdout(&run_with(&["check", "-", "-q", "--deny", "leaks"], LOST));
    assert!(text.ends_with(" Denied: 1 warning.\n"), "{text}");
    for wrong in [&["--deny", "leak"][..], &["--deny", "leaks", "--warn", "leaks"]] {
        assert_eq!(code(&run(&[&["check", "ok.maz"], wrong].concat())), 2, "{wrong:?}");
    }
}

#[test]
fn a_few_of_many_are_shown() {
    let sends = "isend(m, 1);\n".repeat(9);
    let text =
        stdout(&run_with(&["check", "-"], &format!("mailbox m;\nprocess P {{\n{sends}}}\n")));
    assert_eq!(text.matches("is never received").count(), 5, "{text}");
    assert!(text.contains("  and 4 more (messages)\n"), "{text}");
}

/// What is unreached after a search by this explorer; `None` if the search is not complete.
fn unreached(text: &str, explorer: impl Explorer) -> Option<Vec<Unreached>> {
    let program = compile("spec.maz", text, &[]).expect("a valid spec").observed();
    let wants_depth = explorer.profile().depth == Depth::Length
        && explorer.profile().guarantee != Guarantee::EveryEnd;
    let depth = wants_depth.then_some(LONG);
    let max_traces = Some(MOST);
    let budget = Budget { all: true, depth, max_traces, endless: Some(LONG), ..Budget::default() };
    let outcome = explore(&program, explorer, budget, &mut NoObserver);
    outcome.is_complete().then(|| program.unreached())
}

#[test]
fn every_explorer_finds_the_same_unreached() {
    finds_the_same_unreached(SHARE);
}

#[test]
#[ignore = "slow"]
fn every_explorer_finds_the_same_unreached_at_length() {
    finds_the_same_unreached(1);
}

fn finds_the_same_unreached(share: usize) {
    let read = |path: std::path::PathBuf| fs::read_to_string(path).expect("a readable spec");
    let written = ODD.iter().map(|(text, _)| (*text).to_owned());
    let (mut odd, mut judged) = (0, 0);
    for (place, text) in written.chain(specs_without_demands().into_iter().map(read)).enumerate() {
        let Some(expected) = unreached(&text, Exhaustive) else { continue };
        odd += usize::from(!expected.is_empty());
        let program = compile("spec.maz", &text, &[]).expect("a valid spec");
        for &(name, method, _) in METHODS.iter().skip(place % share).step_by(share) {
            if !method.profile().asks(When::Step) || is_refused(&program, method) {
                continue;
            }
            let Some(found) = unreached(&text, method) else { continue };
            assert_eq!(found, expected, "{name} on {text}");
            judged += 1;
        }
    }
    assert!(odd >= 10 && judged >= 500 / share, "{odd} odd programs, {judged} searches");
}

/// A reported lint: kind, first and last line, text.
type Told = (UnreachedKind, u32, u32, &'static str);

/// Programs with their reports.
const ODD: &[(&str, &[Told])] = &[
    (
        "shared x: int = 0;\nprocess P {\n if x == 1 {\n  x = 2;\n  x = 3;\n }\n if x == 0 {\n  x = 0;\n }\n}",
        &[(UnreachedKind::Lines, 4, 5, "x = 2"), (UnreachedKind::NeverFalse, 7, 7, "x == 0")],
    ),
    (
        "shared x: int = 0;\nprocess P { if x == 1 { } else { local(\"a\"); } }",
        &[(UnreachedKind::NeverTrue, 2, 2, "x == 1")],
    ),
    (
        "shared x: int = 0;\nprocess P {\n match x { 0 => {}, 1 => { x = 9; } _ => {} }\n}",
        &[(UnreachedKind::Arm, 3, 3, "{ x = 9; }"), (UnreachedKind::Arm, 3, 3, "{}")],
    ),
    (
        "shared x: int = 0;\nprocess P { let y = x == 1 && { assert(x == 2); true }; }",
        &[
            (UnreachedKind::Lines, 2, 2, "assert(x == 2)"),
            (UnreachedKind::Assertion, 2, 2, "assert(x == 2)"),
        ],
    ),
    (
        "process P { let c = choose(0..2); if c == 0 { f(c); } else { f(c); } }\nfn g(a: int) { if a > 1 {\n assert(a == 5);\n } }\nproc f(a: int) { g(a); }",
        &[
            (UnreachedKind::Lines, 3, 3, "assert(a == 5)"),
            (UnreachedKind::Assertion, 3, 3, "assert(a == 5)"),
        ],
    ),
    (
        "actor A { var n = 0; on Ping() { n = 1; } on Pong() { n = 2; } }\ninit { send(A, Ping()); }",
        &[(UnreachedKind::Handler, 1, 1, "on Pong() { n = 2; }")],
    ),
    (
        "mailbox m: int;\nprocess P { let v = recv(m); }\nfinal { assert(true); }",
        &[
            (UnreachedKind::Lines, 3, 3, "assert(true)"),
            (UnreachedKind::Assertion, 3, 3, "assert(true)"),
        ],
    ),
    ("const DEBUG = false;\nprocess P { if DEBUG { local(\"a\"); } }", &[]),
    ("shared x: int = 0;\nprocess P { while x == 0 { } }\nprocess Q { x = 1; }", &[]),
];

#[test]
fn what_is_never_run_is_reported() {
    for (text, expected) in ODD {
        let found = unreached(text, Exhaustive).expect("a small program");
        let told = |u: &Unreached| (u.kind, u.site.line, u.last_line, u.site.text.clone());
        let found: Vec<_> = found.iter().map(told).collect();
        let expected: Vec<_> = expected.iter().map(|e| (e.0, e.1, e.2, e.3.to_owned())).collect();
        assert_eq!(found, expected, "{text}");
    }
}

const BRANCHING: &str = "shared x: int = 0;\nprocess P { if x == 1 { assert(x == 1); } }\nprocess Q { if x == 0 { } }\n";

#[test]
fn what_is_unreached_is_reported_if_asked_and_known() {
    assert_eq!(reported(BRANCHING, &[]), [""; 0]);
    assert_eq!(reported(BRANCHING, &["--warn", "unreached"]), ["lines", "branches", "assertions"]);
    assert_eq!(reported(BRANCHING, &["--warn", "branches"]), ["branches"]);
    let denied = run_with(&["check", "-", "--deny", "assertions"], BRANCHING);
    assert_eq!(code(&denied), 1);
    assert!(
        stdout(&denied)
            .contains("Denied:\n  line 2: never evaluated: `assert(x == 1)` (assertions)")
    );
    // The rest is unknown.
    let cut = "shared x: int = 0;\nprocess P[i in 0..2] { assert(x == i); x = 1; }\nprocess Q { x = 0; local(\"a\"); }";
    assert_eq!(reported(cut, &["--warn", "all"]), [""; 0]);
    assert_eq!(reported(cut, &["--warn", "all", "--all", "--max-traces", "1"]), [""; 0]);
    let refused = run_with(&["check", "-", "--warn", "lines", "--explorer", "s-por"], BRANCHING);
    assert_eq!(code(&refused), 2);
}
