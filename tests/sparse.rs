//! Objects that are declared but not used: they cost nothing and do not change any result.

use std::time::{Duration, Instant};

use mazurka::explore::{Budget, EXPLORERS, NoObserver, Outcome, Stats, explore};
use mazurka::lang::{Program, compile};

use crate::cli::{code, json, run_with, stderr, stdout};
use crate::judge::{METHODS, is_refused};
use crate::random_models::{Subject, processes};

/// The number of objects that replace one object of a program.
const PLACES: usize = 1_000;

/// The program with arrays instead of objects of these kinds (given by the letters of their names
/// in random programs). One element of each array is used.
fn spread(text: &str, kinds: &str) -> String {
    text.lines().map(|line| spread_line(line, kinds) + "\n").collect()
}

fn spread_line(line: &str, kinds: &str) -> String {
    let declares = |word: &str| {
        ["mailbox ", "mutex ", "semaphore ", "barrier ", "shared "]
            .iter()
            .any(|keyword| line.strip_prefix(keyword).is_some_and(|rest| rest.starts_with(word)))
    };
    let mut spread = String::new();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_part(c) != is_part(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        spread += word;
        let number: Option<usize> = word.get(1..).and_then(|number| number.parse().ok());
        match number.filter(|_| kinds.contains(first)) {
            Some(_) if declares(word) && first == 'x' => {
                spread += &after.replacen("int", &format!("[int; {PLACES}]"), 1);
                return spread;
            }
            Some(_) if declares(word) => spread += &format!("[{PLACES}]"),
            Some(number) => spread += &format!("[{}]", (number * 331 + 900) % PLACES),
            None => {}
        }
    }
    spread
}

#[test]
fn names_become_elements() {
    let spread = |line| spread_line(line, "mx");
    assert_eq!(spread("mailbox m0;"), "mailbox m0[1000];");
    assert_eq!(spread("shared x1: int = 3;"), "shared x1: [int; 1000] = 3;");
    assert_eq!(
        spread("let c0 = isend(m1, v0); lock(l0);"),
        "let c0 = isend(m1[231], v0); lock(l0);"
    );
    assert_eq!(spread_line("barrier a0(2);", "a"), "barrier a0[1000](2);");
}

/// The outcome of a search, except for its name and size.
fn reported(outcome: &Outcome) -> (Stats, Vec<String>) {
    let mut stats = outcome.stats.clone();
    stats.state_bytes = None;
    let violations = outcome.violations.iter();
    let told = violations.map(|v| format!("{:?} of {:?}: {:?}", v.kind, v.process, v.schedule));
    (stats, told.collect())
}

fn compiled(text: &str) -> Program {
    compile("sparse", text, &[]).unwrap_or_else(|error| panic!("{}\n{text}", error.render(false)))
}

/// With thousands of objects of all kinds, or of some kinds, every explorer does the same.
#[test]
fn random_programs_do_not_care_how_many_objects_there_are() {
    let budget = || Budget { all: true, ..Budget::default() };
    for (number, sample) in processes().iter().take(100).enumerate() {
        let text = sample.script.text();
        let dense = compiled(&text);
        let kinds = ["mlsax", "ml", "xs", "max"][number % 4];
        let sparse = compiled(&spread(&text, kinds));
        // Each in one of its variants, another one for each program.
        for &(name, method, _) in METHODS.iter().skip(number % 3).step_by(3) {
            if is_refused(&dense, method) {
                continue;
            }
            let found = explore(&sparse, method, budget(), &mut NoObserver);
            let expected = explore(&dense, method, budget(), &mut NoObserver);
            let what = || format!("{name} on {kinds} of {}", sample.describe());
            assert_eq!(reported(&found), reported(&expected), "{}", what());
        }
    }
}

/// Programs that use the first and the last of N objects.
const WIDE: [&str; 6] = [
    "mutex m[N];
     process P[i in 0..3] { let k = (i % 2) * (N - 1); lock(m[k]); unlock(m[k]); }",
    "mailbox m[N];
     process P[i in 0..2] { send(m[i * (N - 1)], i); }
     process Q { let a = recv(m[N - 1]); let b = recv(m[0]); }",
    "semaphore s[N] = 1;
     process P[i in 0..3] { let k = (i % 2) * (N - 1); acquire(s[k]); release(s[k]); }",
    "barrier b[N](2);
     process P[i in 0..2] { barrier(b[0]); barrier(b[N - 1]); }",
    "shared x: [int; N] = 0;
     process P[i in 0..2] { fetch_add(x[i * (N - 1)], 1); let a = x[(1 - i) * (N - 1)]; }
     final { assert(x[0] == 1 && x[N - 1] == 1); }",
    "shared x: [int; N] = [7; N];
     process P { x[0] = 1; } process Q { let a = x[N - 1]; assert(a == 7); }
     final { assert(x[N - 1] == 7); }",
];

/// A million objects of which two are used take the memory of two.
#[test]
fn a_million_objects_cost_what_is_used() {
    let mut searches = 0;
    for explorer in EXPLORERS {
        for program in WIDE {
            let search = |n: &str| {
                let args = ["check", "-", "--all", "--max-memory", "100M", "--format", "json"];
                let size = format!("N={n}");
                let explorer = ["--explorer", explorer.profile().name, "-D", &size];
                let program = format!("const N = 2;\n{program}");
                run_with(&[&args[..], &explorer].concat(), &program)
            };
            let start = Instant::now();
            let (few, many) = (search("2"), search("1000000"));
            let is_refused = |output, why: &str| code(output) == 2 && stderr(output).contains(why);
            if is_refused(&few, "for programs of actors only")
                || is_refused(&many, "programs that meet their objects on the way")
            {
                continue;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "{program}");
            let both = [few, many].map(|output| {
                let name = explorer.profile().name;
                assert_eq!(code(&output), 0, "{name} on {program}: {}", stdout(&output));
                json(&output)
            });
            let [few, many] = both;
            searches += 1;
            for figure in ["traces", "transitions", "events", "states", "max_depth"] {
                let [few, many] = [&few, &many].map(|report| &report["stats"][figure]);
                assert_eq!(few, many, "{figure} of {} on {program}", explorer.profile().name);
            }
        }
    }
    assert!(searches >= 9 * WIDE.len(), "{searches} searches");
}

/// Reports name the objects as they are declared, and only those that were visited.
#[test]
fn reports_tell_of_the_objects_that_were_used() {
    let program = "mutex m[1000000]; mailbox a[500000]: int; shared x: [int; 500000] = 3;
         process P { x[8] = 4; isend(a[5], 1); lock(m[999999]); lock(m[7]); unlock(m[7]); unlock(m[999999]); }
         process Q { lock(m[7]); lock(m[999999]); unlock(m[999999]); unlock(m[7]); }";
    let output = run_with(&["check", "-"], program);
    let text = stdout(&output);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(text.contains("mutex m[999999], held by P"), "{text}");
    assert!(text.contains("mutex m[7], held by Q"), "{text}");
    let output = run_with(&["draw", "-", "--what", "processes", "--format", "dot"], program);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let start = Instant::now();
    let output = run_with(&["draw", "-", "--format", "html"], program);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(start.elapsed() < Duration::from_secs(10) && output.stdout.len() < 10_000_000);
}

/// With hundreds of processes that end at once, the unfolding stores its cuts as lists; all results
/// are as without these processes.
#[test]
fn random_programs_do_not_care_how_many_processes_there_are() {
    let mut lists = 0;
    for sample in processes().iter().take(300) {
        let text = sample.script.text();
        let (alone, crowded) =
            (compiled(&text), compiled(&format!("{text}\nprocess Idle[i in 0..300] {{}}\n")));
        for &(name, method, _) in METHODS.iter().filter(|(name, ..)| *name == "udpor") {
            let come = |program| {
                let budget = Budget { all: true, ..Budget::default() };
                let outcome = explore(program, method, budget, &mut NoObserver);
                let violations = outcome.violations.iter();
                let told: Vec<_> = violations.map(|v| (v.kind, v.schedule.len())).collect();
                (outcome.stats, told)
            };
            assert_eq!(come(&crowded), come(&alone), "{name} on {}", sample.describe());
            lists += 1;
        }
    }
    assert!(lists >= 300);
}

/// Processes that do little cost little, however many there are.
#[test]
fn thousands_of_processes_that_do_little() {
    for program in [
        "mutex m[N]; process P[i in 0..N] { lock(m[i]); unlock(m[i]); }",
        "mailbox m[N]; process P[i in 0..N] { isend(m[i], i); let a = recv(m[i]); assert(a == i); }",
        "shared x: [int; N] = 0; process P[i in 0..N] { x[i] = i; }",
    ] {
        let program = format!("const N = 3000;\n{program}");
        let output = run_with(&["check", "-", "--max-memory", "200M"], &program);
        assert_eq!(code(&output), 0, "{program}: {}", stdout(&output));
    }
}
