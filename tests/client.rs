//! Data structures and their clients: outcomes, bugs that are found, and what the command writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use mazurka::explore::{
    AnyExplorer, Budget, End, EveryState, Exhaustive, Explorer, NoObserver, Observer, Outcome,
    SPor, Udpor, Verdict, explore,
};
use mazurka::lang::{self, Program};
use mazurka::model::System;
use mazurka::property::Position;
use mazurka::workshop::client::{Buggy, Client, Unmade, Wish, client};

use crate::cli::{code, json, mazurka, run, run_with, stderr, stdout};
use crate::judge::STATEFUL;

/// Every structure, and whether a key runs into its bug.
const STRUCTURES: [(&str, bool); 7] = [
    ("coarse-list", true),
    ("lazy-list", true),
    ("tree-set", true),
    ("coarse-map", true),
    ("striped-map", true),
    ("queue", false),
    ("stack", false),
];

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("specs/structures/{name}.maz"));
    fs::read_to_string(path).expect("a structure")
}

fn wish(threads: usize, calls: usize, seed: u64) -> Wish {
    let (operations, defines) = (Vec::new(), Vec::new());
    Wish { threads, calls, operations, keys: 2, seed, buggy: None, defines, timeout: None }
}

fn made(source: &str, wish: &Wish) -> Client {
    client("test.maz", source, wish, "by hand").unwrap_or_else(|why| panic!("{why}"))
}

fn program(text: &str) -> Program {
    lang::compile("client.maz", text, &[]).unwrap_or_else(|d| panic!("{text}\n{}", d.render(false)))
}

fn explored(text: &str, method: impl Explorer, all: bool) -> Outcome {
    let budget = Budget { all, max_traces: Some(20_000), ..Budget::default() };
    explore(&program(text), method, budget, &mut NoObserver)
}

/// What the processes have in their variables at the ends of executions.
#[derive(Default)]
struct Results(BTreeSet<Vec<Vec<(String, String)>>>);

impl Observer for Results {
    fn trace(&mut self, at: Position<'_>, _: End) {
        self.0.insert(at.processes().map(|process| at.variables(process)).collect());
    }
}

/// The client with every call behind one lock: its executions are the sequential ones.
fn made_sequential(text: &str) -> String {
    let calls = text.find("process T0").expect("a client");
    let mut locked = text[..calls].to_owned() + "mutex whole;\n";
    for line in text[calls..].lines() {
        let is_call = line.starts_with("    ") && line.ends_with(");") && !line.contains("assert");
        locked += &match is_call {
            true => format!("    lock(whole);\n{line}\n    unlock(whole);\n"),
            false => format!("{line}\n"),
        };
    }
    locked
}

#[test]
fn the_outcomes_are_those_of_calls_behind_one_lock() {
    for (name, _) in STRUCTURES {
        let source = source(name);
        for (threads, calls, seed) in [(2, 2, 1), (3, 1, 2), (2, 3, 3), (3, 2, 4)] {
            let client = made(&source, &wish(threads, calls, seed));
            let program = program(&made_sequential(&client.text));
            let mut results = Results::default();
            let budget = Budget { all: true, ..Budget::default() };
            let outcome = explore(&program, Udpor::default(), budget, &mut results);
            assert!(outcome.is_complete(), "{name} {threads}x{calls}");
            assert_eq!(outcome.verdict(), Verdict::Ok, "{name} {threads}x{calls}: one is missing");
            assert_eq!(
                client.outcomes,
                results.0.len(),
                "{name} {threads}x{calls}: {}",
                client.text
            );
        }
    }
}

#[test]
fn structures_have_no_other_outcomes() {
    for (name, has_key) in STRUCTURES {
        let source = source(name);
        for seed in 0..4 {
            let client = made(&source, &wish(2, 2, seed));
            let outcome = explored(&client.text, Udpor::default(), true);
            assert_eq!(outcome.verdict(), Verdict::Ok, "{name} with seed {seed}\n{}", client.text);
            for method in [AnyExplorer::from(Exhaustive), EveryState::of(STATEFUL).into()] {
                let outcome = explored(&client.text, method, true);
                assert!(outcome.violations.is_empty(), "{name} with seed {seed}\n{}", client.text);
            }
        }
        if has_key {
            let none = Wish { buggy: Some(Buggy::None), ..wish(3, 1, 5) };
            let outcome = explored(&made(&source, &none).text, Udpor::default(), true);
            assert_eq!(outcome.verdict(), Verdict::Ok, "{name} away from its bug");
        }
    }
}

#[test]
fn bugs_are_found_by_some_client_of_each_class() {
    for (name, has_key) in STRUCTURES {
        let source = source(name);
        let classes: Vec<Wish> = if has_key {
            let class = |buggy| Wish { buggy: Some(buggy), keys: 3, ..wish(2, 3, 0) };
            [Buggy::All, Buggy::Half, Buggy::One].map(class).into()
        } else {
            vec![Wish { defines: vec![("BUG".into(), "true".into())], ..wish(2, 3, 0) }]
        };
        for class in classes {
            let violated = |seed| {
                let client = made(&source, &Wish { seed, ..class.clone() });
                let outcome = explored(&client.text, SPor::lazy(STATEFUL), false);
                outcome.verdict() == Verdict::Assertion
            };
            assert!((0..60).any(violated), "{name}: {:?} of no seed below 60", class.buggy);
        }
    }
}

#[test]
fn as_many_calls_have_the_buggy_key_as_asked_for() {
    for (buggy, expected) in [(Buggy::All, 6), (Buggy::Half, 3), (Buggy::One, 1), (Buggy::None, 0)]
    {
        for seed in 0..5 {
            let wish = Wish { buggy: Some(buggy), keys: 3, ..wish(3, 2, seed) };
            let text = made(&source("lazy-list"), &wish).text;
            assert!(text.contains("const BUGGY_KEY = 1;"));
            let calls =
                text.lines().filter(|line| line.starts_with("    let r") && line.contains('('));
            let keys = calls.filter_map(|line| line.split(['(', ',', ')']).nth(1));
            let keys: Vec<_> = keys.filter(|key| key.parse::<u32>().is_ok()).collect();
            assert_eq!(keys.len(), 6, "{text}");
            assert_eq!(keys.iter().filter(|key| **key == "1").count(), expected, "{text}");
        }
    }
}

/// 756,756 orders of the calls, but far fewer situations.
#[test]
fn large_clients_are_made_by_sharing_situations() {
    let client = made(&source("lazy-list"), &wish(3, 5, 1));
    assert!(client.situations < 20_000, "{}", client.situations);
    assert!(client.outcomes > 100, "{}", client.outcomes);
}

#[test]
fn a_client_says_how_to_make_it_again() {
    let args = ["client", "../../../specs/structures/lazy-list.maz", "--calls", "3", "--seed", "5"];
    let args =
        [&args[..], &["--operations", "add,remove", "--buggy", "half", "-D", "KEYS=4"]].concat();
    let first = run(&args);
    assert_eq!((code(&first), stderr(&first)), (0, String::new()));
    let text = stdout(&first);
    let command = text.lines().nth(1).expect("the command").trim_start_matches("//").trim();
    let again: Vec<&str> = command.split_whitespace().skip(1).collect();
    assert_eq!(stdout(&run(&again)), text, "{command}");
    assert!(!text.contains("contains(1)") && !text.contains("//@"), "{text}");
    assert!(program(&text).finale().is_some());
}

/// The book shows what it is good for (`docs/src/comparing.md`).
#[test]
fn a_client_is_as_reviewed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = root.join("tests/golden/cli/client.maz");
    let args = "client specs/structures/coarse-list.maz --threads 2 --calls 1 --operations add --keys 1 --buggy all";
    let args: Vec<&str> = args.split(' ').collect();
    let output = mazurka(&args).current_dir(root).output().expect("an output");
    if std::env::var_os("MAZURKA_BLESS").is_some() {
        fs::write(&golden, &output.stdout).expect("a writable golden file");
    }
    assert_eq!(fs::read_to_string(&golden).unwrap_or_default(), stdout(&output));
}

/// Parameters of all kinds, calls without results, calls without operations, a semaphore, and a
/// mailbox.
#[test]
fn parameters_and_results_of_all_kinds() {
    let source = "
        enum Mode { Soft, Hard }
        semaphore gate = 1;
        mailbox m: int;
        shared x: int = 0;
        proc set(value: int, mode: Mode, twice: bool) -> (Mode, int) {
            acquire(gate);
            let old = x;
            x = if twice { 2 * value } else { value };
            release(gate);
            (mode, old)
        }
        proc constant() -> int { -7 }
        proc note() { isend(m, 1); }
        proc peek() -> Mode { if x > 3 { Hard } else { Soft } }";
    for seed in 0..8 {
        let client = made(source, &wish(2, 3, seed));
        let outcome = explored(&client.text, Udpor::default(), true);
        assert_eq!(outcome.verdict(), Verdict::Ok, "{}", client.text);
        assert_eq!(client.text, made(source, &wish(2, 3, seed)).text);
    }
}

#[test]
fn clients_that_cannot_be_made_are_refused_with_a_reason() {
    let refused = |source: &str, wish: Wish, why: &str| {
        match client("s.maz", source, &wish, "") {
            Err(Unmade::Unfit(found)) => assert!(found.contains(why), "{found}"),
            other => panic!("{why}: {other:?}"),
        };
    };
    let plain = || wish(2, 2, 0);
    let list = source("lazy-list");
    refused("shared x: int = 0;", plain(), "no procedure to call");
    refused("proc p(l: [int]) { }", plain(), "its parameter `l` is no int");
    refused("shared x: [int] = []; proc p() -> [int] { x }", plain(), "calls must return ints");
    refused(&list, Wish { operations: vec!["pop".into()], ..plain() }, "no procedure `pop`");
    let small = vec![("CALLS".into(), "1".into())];
    refused(&list, Wish { defines: small, ..plain() }, "goes wrong: index");
    let far = vec![("BUGGY_KEY".into(), "9".into())];
    refused(&list, Wish { buggy: Some(Buggy::One), defines: far, ..plain() }, "one of the keys");
    refused(&list, Wish { buggy: Some(Buggy::Half), keys: 1, ..plain() }, "--keys 2");
    refused(&source("queue"), Wish { buggy: Some(Buggy::One), ..plain() }, "BUGGY_KEY");
    let short = Some(Duration::from_millis(100));
    refused(&list, Wish { timeout: short, ..wish(8, 20, 0) }, "take too long (--timeout)");
    refused(
        "const BUGGY_KEY = 0; proc p() { }",
        Wish { buggy: Some(Buggy::All), ..plain() },
        "`key: int`",
    );
    refused("shared x: int = 0; proc p() { while x == 0 { } }", plain(), "does not come to an end");
    refused("semaphore s = 0; proc p() { acquire(s); }", plain(), "no order of the calls");
    refused("shared x: int = 0; proc p() { assert(x == 0); x = 1; }", plain(), "`p()` goes wrong");
    let wrong = client("s.maz", "proc p() { y = 1; }", &plain(), "");
    assert!(matches!(wrong, Err(Unmade::Wrong(_))), "{wrong:?}");
    let wrong = client("s.maz", "shared T0: int = 0; proc p() -> int { T0 }", &plain(), "");
    assert!(matches!(wrong, Err(Unmade::Wrong(_))), "{wrong:?}");
}

#[test]
fn mistakes_exit_with_2() {
    let list = "../../../specs/structures/lazy-list.maz";
    for args in [
        &["client", "no-such-file.maz"][..],
        &["client", "ok.maz"],
        &["client", list, "-D", "NOTHING=1"],
        &["client", list, "--threads", "0"],
        &["client", list, "--buggy", "some"],
        &["client", list, "-o", "no-such-folder/client.maz"],
    ] {
        let output = run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains("error"), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_violation_is_shown_with_its_history() {
    let args =
        ["client", "../../../specs/structures/coarse-list.maz", "--buggy", "all", "--keys", "1"];
    let made = run(&[&args[..], &["--threads", "2", "--operations", "add"]].concat());
    let text = stdout(&made);
    let check = run_with(&["check", "-"], &text);
    assert_eq!(code(&check), 1, "{text}");
    let told = stdout(&check);
    assert!(told.starts_with("Assertion failed: no sequential execution of these calls"), "{told}");
    let history = told.split("Calls and what they returned:\n").nth(1).expect("a history");
    let rows: Vec<_> = history.lines().take(4).collect();
    assert!(rows.iter().all(|row| row.contains("add(1, ") && row.contains("  step")), "{told}");
    let check = json(&run_with(&["check", "-", "--format", "json"], &text));
    let calls = check["violations"][0]["calls"].as_array().expect("calls");
    let returned = calls.iter().filter(|call| call["result"] == "true").count();
    assert_eq!((calls.len(), returned >= 2), (4, true), "{calls:?}");
    assert!(calls.iter().all(|call| call["first_step"].as_u64() <= call["last_step"].as_u64()));
}
