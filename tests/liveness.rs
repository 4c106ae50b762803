//! What must happen in the end: the explorer `fair` against the definitions, on random programs; who
//! refuses; and what users see.

mod judged;
mod oracle;
pub mod programs;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mazurka::explore::{
    Budget, EXPLORERS, Explorer, Fair, Guarantee, NoObserver, StopReason, Verdict, explore,
};
use mazurka::lang::{Program, compile};
use mazurka::property::{Demands, Properties};

use crate::cli::{code, json, run_with, stdout};
use judged::{Compared, judge};
use programs::random_program;

fn programs_to_try() -> u64 {
    std::env::var("MAZURKA_PROGRAMS").map_or(2000, |count| count.parse().expect("a number"))
}

#[test]
fn verdicts_are_those_of_all_fair_sets_of_states() {
    let (mut judged, mut all) = (0, Compared::default());
    for seed in 0..programs_to_try() {
        let random = random_program(seed);
        let compared = judge(&random).unwrap_or_else(|why| {
            panic!("seed {seed}, unfair: {}: {why}\n{}", random.is_unfair, random.text)
        });
        let Some(Compared { violated, ending, fulfilled, shortest }) = compared else { continue };
        judged += 1;
        all.violated += violated;
        all.ending += ending;
        all.fulfilled += fulfilled;
        all.shortest += shortest;
    }
    eprintln!("{judged} programs: {all:?}");
    assert!(judged * 4 > programs_to_try() as usize, "only {judged} programs were small enough");
    assert!(all.violated > judged / 4 && all.fulfilled > judged / 4, "{all:?}");
    assert!(all.shortest > 10 && all.ending > 10, "{all:?}");
}

const PETERSON: &str = include_str!("../specs/liveness/peterson.maz");

fn peterson() -> Program {
    compile("peterson.maz", PETERSON, &[]).expect("a spec")
}

#[test]
fn who_does_not_judge_demands_never_verifies_them() {
    let text = "shared x: int = 0; process P { x = 1; } process Q { x = 2; } eventually { assert(x == 1); }";
    let program = compile("two.maz", text, &[]).expect("a spec");
    let mut refusing = 0;
    for listed in EXPLORERS {
        let explorer = listed.plain();
        let profile = explorer.profile();
        if profile.guarantee == Guarantee::SomeClasses {
            continue;
        }
        let outcome = explore(&program, explorer, Budget::default(), &mut NoObserver);
        if profile.name == "auto" || profile.name == "fair" {
            assert_eq!(outcome.verdict(), Verdict::Ok, "{}", profile.name);
            continue;
        }
        assert_ne!(outcome.verdict(), Verdict::Ok, "{}", profile.name);
        let refusal = explorer.refusal(&program, &Budget::default());
        let refusal = refusal.unwrap_or_else(|| panic!("{} takes it", profile.name));
        assert!(refusal.contains(profile.name), "{refusal}");
        refusing += 1;
    }
    assert!(refusing > 8, "{refusing}");
    // Without the demands, all may do what they do.
    let properties = Properties::default().without::<Demands>();
    let budget = Budget { properties, ..Budget::default() };
    let outcome =
        explore(&program, mazurka::explore::EveryState::default(), budget, &mut NoObserver);
    assert_eq!(outcome.verdict(), Verdict::Ok);
}

#[test]
fn a_search_that_is_stopped_verifies_nothing() {
    let program = peterson();
    let cancelled = Budget { cancel: Arc::new(AtomicBool::new(true)), ..Budget::default() };
    let outcome = explore(&program, Fair, cancelled, &mut NoObserver);
    let reason = Some(StopReason::Interrupted);
    assert_eq!((outcome.verdict(), outcome.stopped_by), (Verdict::Incomplete, reason));
    let deep = Budget { depth: Some(5), ..Budget::default() };
    let outcome = explore(&program, Fair, deep, &mut NoObserver);
    assert_eq!(outcome.verdict(), Verdict::Incomplete);
}

/// The verdict of `check` on this text, with these arguments.
fn verdict(text: &str, args: &[&str]) -> (String, i32) {
    let mut all = vec!["check", "-", "--format", "json"];
    all.extend(args);
    let output = run_with(&all, text);
    (json(&output)["verdict"].as_str().expect("a verdict").to_owned(), code(&output))
}

#[test]
fn fairness_decides() {
    let spinner = "shared x: int = 0;
        WORD process P { x = 1; }
        daemon process Q { loop { local(\"l\"); } }
        eventually { assert(x == 1); }";
    let fair = spinner.replace("WORD ", "");
    assert_eq!(verdict(&fair, &[]), ("ok".into(), 0));
    assert_eq!(verdict(&fair, &["--unfair"]), ("liveness".into(), 1));
    assert_eq!(verdict(&spinner.replace("WORD", "unfair"), &[]), ("liveness".into(), 1));
    assert_eq!(verdict(&spinner.replace("WORD", "strong"), &[]), ("ok".into(), 0));
    // Alone, a process that may stop need not move; one that the scheduler neglects must.
    let alone = "shared x: int = 0; WORD process P { x = 1; } eventually { assert(x == 1); }";
    assert_eq!(verdict(&alone.replace("WORD", "unfair"), &[]), ("liveness".into(), 1));
    assert_eq!(verdict(&alone.replace("WORD ", ""), &["--unfair"]), ("ok".into(), 0));
}

/// The first process that another one starts has the same number, whatever its declaration is.
#[test]
fn fairness_is_that_of_the_declaration() {
    let text = "shared y: int = 0;
        unfair process A() { y = 1; }
        process B() { y = 1; }
        process P { if choose(0..2) == 0 { let _h = spawn ONE(); } else { let _h = spawn TWO(); } }
        eventually { assert(y == 1); }";
    let actors = "unfair actor A() { var n = 0; internal T when n == 0 { n = 1; send(R, D()); } }
        actor B() { var n = 0; internal T when n == 0 { n = 1; send(R, D()); } }
        actor R {
            var d = 0;
            var s = 0;
            on D() { d = 1; }
            internal M when s == 0 { s = 1; let _b = spawn ONE(); }
            internal N when s == 0 { s = 2; let _a = spawn TWO(); }
        }
        eventually { assert(R.d == 1); }";
    for text in [text, actors] {
        for (one, two, expected) in [("A", "B", 1), ("B", "A", 1), ("A", "A", 1), ("B", "B", 0)] {
            let text = text.replace("ONE", one).replace("TWO", two);
            assert_eq!(verdict(&text, &[]).1, expected, "{text}");
        }
    }
}

#[test]
fn strong_fairness_forces_what_is_possible_now_and_then() {
    let actors = "actor A { var n = 0; WORD internal Turn when n < 2 { n = 1 - n; }
            strong2 internal Leave when n == 1 { n = 2; } }
        eventually { assert(A.n == 2); }";
    let with = |first: &str, second: &str| {
        let text = actors.replace("WORD", first).replace("strong2", second);
        verdict(&text, &[]).0
    };
    assert_eq!(with("", ""), "liveness");
    assert_eq!(with("strong", ""), "liveness");
    assert_eq!(with("", "strong"), "ok");
    let bag = "WORD bag mailbox b: int; shared seen: bool = false;
        process Often { loop { ssend(b, 1); } }
        process Once { ssend(b, 2); }
        process R { loop { if recv(b) == 2 { seen = true; } } }
        eventually { assert(seen); }";
    assert_eq!(verdict(&bag.replace("WORD ", ""), &[]).0, "liveness");
    assert_eq!(verdict(&bag.replace("WORD", "strong"), &[]).0, "ok");
    let tries = "WORD mutex m; shared seen: bool = false;
        process Often { loop { lock(m); unlock(m); } }
        process Tries { while !try_lock(m) { } seen = true; unlock(m); }
        eventually { assert(seen); }";
    assert_eq!(verdict(&tries.replace("WORD ", ""), &[]).0, "liveness");
    assert_eq!(verdict(&tries.replace("WORD", "strong"), &[]).0, "ok");
    assert_eq!(verdict(&tries.replace("WORD", "strong"), &["--unfair"]).0, "liveness");
}

#[test]
fn polls_that_are_cut_are_not_decided() {
    let polling = "bag mailbox b: int;
        process P { loop { ssend(b, 1); } }
        process R { var n = 0; loop { let c = irecv(b); BODY wait(c); n = 1; } }
        always eventually { assert(R.n == 1); }";
    let in_place = polling.replace("BODY", "while !test(c) { }");
    assert_eq!(verdict(&in_place, &[]), ("ok".into(), 0));
    let elsewhere = polling.replace("BODY", "while !test(c) { n = 1 - n; }");
    let (verdict, code) = verdict(&elsewhere, &[]);
    assert_eq!((verdict.as_str(), code), ("incomplete", 3));
}

#[test]
fn an_error_in_a_demand_is_a_violation() {
    let text = "shared x: int = 1; process P { x = 0; } eventually { assert(1 / x == 2); }";
    assert_eq!(verdict(text, &[]), ("error".into(), 1));
}

#[test]
fn lassos_are_replayed_and_drawn() {
    let path = "../../../specs/liveness/peterson.maz";
    let output = run_with(&["check", path, "-D", "BUG=true", "--format", "json"], "");
    let result = json(&output);
    let violation = &result["violations"][0];
    assert_eq!((&result["verdict"], &violation["kind"]), (&"liveness".into(), &"liveness".into()));
    let (replay, from) = (violation["replay"].as_str().unwrap(), &violation["loop_from"]);
    let length = violation["schedule"].as_array().unwrap().len();
    assert!((from.as_u64().unwrap() as usize) < length && replay.contains('/'), "{replay}");
    let replayed = |schedule: &str, more: &[&str]| {
        let mut args = vec!["replay", path, "-D", "BUG=true", "--schedule", schedule];
        args.extend(more);
        run_with(&args, "")
    };
    let output = replayed(replay, &[]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("from here on again and again"), "{}", stdout(&output));
    assert_eq!(json(&replayed(replay, &["--format", "json"]))["verdict"], "liveness");
    // A loop that is not closed, not fair, or no loop at all.
    for (wrong, why) in [("0x2/1", "lead back"), ("/", "end there"), ("0,1/0,0", "lead back")] {
        let output = replayed(wrong, &[]);
        assert_eq!(code(&output), 2, "{wrong}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(why), "{wrong}: {text}");
    }
    let args = ["draw", path, "-D", "BUG=true", "--what", "space-time", "--schedule", replay];
    let drawn = stdout(&run_with(&[&args[..], &["--format", "svg"]].concat(), ""));
    assert!(drawn.contains("again and again"), "{drawn}");
}

#[test]
fn words_of_demands_are_names_elsewhere() {
    let text = "shared eventually: [int; 2] = 0;
        const strong = 1;
        fn unfair(always: int) -> int { always }
        process whenever { eventually[0] = strong; let leadsto = unfair(eventually[1]); assert(leadsto == 0); }
        final { assert(eventually[0] == 1); }";
    assert_eq!(verdict(text, &[]), ("ok".into(), 0));
}

#[test]
fn an_index_makes_a_demand_of_each_value() {
    let text = "shared x: [int; 3] = 0;
        process P { x[0] = 1; x[2] = 1; }
        eventually[i in 0..3] \"set\" { assert(x[i] == 1); }";
    let output = run_with(&["check", "-", "--all", "--format", "json"], text);
    let result = json(&output);
    let messages = result["violations"].as_array().unwrap().iter();
    let messages: BTreeSet<_> = messages.map(|one| one["message"].as_str().unwrap()).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages.first().unwrap().contains("i = 1"), "{messages:?}");
}
