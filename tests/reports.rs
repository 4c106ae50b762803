//! What reports say about a failure: processes that could help, what `final` has read, the shortest
//! counterexample.

use std::collections::HashMap;
use std::fs;

use mazurka::explore::{Budget, NoObserver, Udpor, ViolationKind, explore};
use mazurka::lang::{Program, compile};
use mazurka::model::{
    End, Envelope, LocalId, Locals, May, Op, ProcessId, Reach, State, System, Touch,
};
use mazurka::property::Properties;
use mazurka::trace::switches;
use serde_json::Value;

use crate::cli::{json, mazurka, run, run_with, stdout};
use crate::judge::{METHODS, check_counterexample_where, is_refused};
use crate::random_models::{Rng, generate};
use crate::tidy::specs_without_demands;

/// The may-access sets of local states, each computed once.
#[derive(Default)]
struct Reaches(HashMap<LocalId, Option<Reach>>);

impl Reaches {
    fn find(&mut self, locals: &Locals<'_, Program>, local: LocalId) -> bool {
        let find = || locals.reach(local);
        self.0.entry(local).or_insert_with(find).is_some()
    }
}

/// Takes random executions. For each action of a process, each earlier local state of it, or of the
/// process that started it, must have the action in its may-access set. Returns the number of
/// checked actions, and the number of claims that exclude something that the text of the process
/// contains.
fn check_reaches(name: &str, program: &Program, random: &mut Rng) -> (usize, usize) {
    let (mut judged, mut refused) = (0, 0);
    let mut locals = Locals::new(program);
    let mut reaches = Reaches::default();
    for _ in 0..6 {
        let mut state = State::initial(&mut locals);
        let mut past: HashMap<ProcessId, Vec<LocalId>> = HashMap::new();
        for _ in 0..200 {
            let mut enabled = Vec::new();
            state.enabled(&locals, &mut enabled);
            let Some(&action) = enabled.get(random.below(enabled.len().max(1))) else { break };
            let process = action.process;
            let before = state.local(process);
            let op = locals.op(before).cloned();
            past.entry(process).or_default().push(before);
            state.step(&mut locals, action);
            let own = past[&process].clone();
            for child in state.just_spawned(&locals).collect::<Vec<_>>() {
                past.insert(child, own.clone());
            }
            let mut touches: Vec<Touch> = Vec::new();
            state.touches(&locals, |touch| touches.push(touch));
            for earlier in own {
                if !reaches.find(&locals, earlier) {
                    continue;
                }
                let reach = reaches.0[&earlier].as_ref().expect("it was found");
                let site = || program.describe().site(locals.get(earlier));
                for &touch in &touches {
                    assert!(
                        reach.contains(locals.declared(touch)),
                        "{name}: {touch:?} after {:?}",
                        site()
                    );
                    judged += 1;
                }
                let posted = match op {
                    Some(Op::Isend { mailbox, envelope, .. }) => {
                        Some((Touch::new(mailbox.posts(End::Send), May::Change), envelope))
                    }
                    Some(Op::Irecv { mailbox, pattern }) => {
                        Some((Touch::new(mailbox.posts(End::Receive), May::Change), pattern))
                    }
                    _ => None,
                };
                if let Some((post, envelope)) = posted {
                    let meets = reach.may_meet(locals.declared(post), envelope);
                    assert!(meets, "{name}: {envelope:?} for {post:?} after {:?}", site());
                    let other = Envelope { src: Some(-77), tag: Some(-77) };
                    refused += usize::from(!reach.may_meet(locals.declared(post), other));
                }
            }
        }
        // A process that is at rest must not claim what lies only behind it.
        for (process, locals_of_it) in &past {
            let now = state.local(*process);
            if reaches.find(&locals, now) && reaches.find(&locals, locals_of_it[0]) {
                let [now, then] = [now, locals_of_it[0]].map(|local| reaches.0[&local].clone());
                refused += usize::from(now != then);
            }
        }
    }
    (judged, refused)
}

#[test]
fn what_a_process_does_was_never_said_to_be_impossible() {
    let mut random = Rng::new(1);
    let (mut judged, mut refused) = (0, 0);
    let mut check = |name: &str, text: &str| {
        let program = compile(name, text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let (more, less) = check_reaches(name, &program, &mut random);
        judged += more;
        refused += less;
    };
    for path in specs_without_demands() {
        check(&path.display().to_string(), &fs::read_to_string(&path).unwrap());
    }
    for seed in 0..400 {
        let text = generate(seed).text();
        check(&format!("seed {seed}:\n{text}"), &text);
    }
    assert!(judged > 50_000 && refused > 1_000, "{judged} judged, {refused} refused");
}

fn spec(name: &str) -> String {
    format!("../../../specs/mailbox/{name}.maz")
}

/// The deadlock that `check` finds in a spec.
fn deadlock(name: &str) -> Value {
    let result = json(&run(&["check", &spec(name), "--shortest", "--format", "json"]));
    let violation = result["violations"][0].clone();
    assert_eq!(violation["kind"], "deadlock", "{name}");
    violation
}

/// For each blocked process, the processes that could help it.
fn helpers(violation: &Value) -> Vec<(&str, Vec<&str>)> {
    let mut found = Vec::new();
    for blocked in violation["blocked"].as_array().unwrap() {
        let helpers = blocked["helpers"].as_array().unwrap().iter();
        let helpers = helpers.map(|name| name.as_str().unwrap()).collect();
        found.push((blocked["process"].as_str().unwrap(), helpers));
    }
    found
}

#[test]
fn ranks_of_one_text_are_distinguished() {
    let two_phase = deadlock("spmd-two-phase");
    assert_eq!(helpers(&two_phase), [("Rank[1]", vec![]), ("Rank[3]", vec![])]);
    let reason = "every process that sends there has ended";
    assert_eq!(two_phase["blocked"][0]["hopeless"], reason);
    assert_eq!(two_phase["cycle"], Value::Null);
    let ring = deadlock("spmd-ring");
    let each = [("Rank[0]", "Rank[1]"), ("Rank[1]", "Rank[2]"), ("Rank[2]", "Rank[0]")];
    assert_eq!(helpers(&ring), each.map(|(one, other)| (one, vec![other])));
    assert_eq!(ring["cycle"].as_array().unwrap().len(), 3);
    let barrier = deadlock("spmd-barrier");
    let waits = [("Rank[0]", vec!["Rank[1]", "Rank[2]"]), ("Rank[1]", vec![]), ("Rank[2]", vec![])];
    assert_eq!(helpers(&barrier), waits);
    assert_eq!(barrier["blocked"][1]["hopeless"], "nobody is left to arrive");
    let plan = deadlock("spmd-shared-plan");
    assert_eq!(helpers(&plan), [("Rank[1]", vec![]), ("Rank[3]", vec![])]);
}

#[test]
fn who_never_unlocks_is_no_help() {
    let text = "mutex m; mailbox box;
        process P[i in 0..2] { lock(m); if i == 5 { unlock(m); } recv(box); }";
    let output = stdout(&run_with(&["check", "-"], text));
    assert!(output.contains("never unlocks m from where it is"), "{output}");
}

/// What a failed `final` shows: a line of `name = value`.
fn shown(text: &str) -> String {
    let output = stdout(&run_with(&["check", "-"], text));
    let line = output.lines().find(|line| line.trim_start().starts_with("where "));
    line.unwrap_or_else(|| panic!("no values in\n{output}")).trim().to_owned()
}

#[test]
fn a_failed_final_shows_what_it_has_read() {
    let nodes = "const N = 3;
        shared votes: [int; N] = [0, 0, 0];
        shared other: int = 9;
        process Node[i in 0..N] { var leader = i; votes[i] = i; leader = leader * 2; }
        process One { let best = 7; local(\"x\"); }
        fn twice(n: int) -> int { let m = n + n; m }
        final { FINAL }";
    let case = |block: &str| shown(&nodes.replace("FINAL", block));
    let each = "for i in 0..N { assert(Node[i].leader < 4); }";
    assert_eq!(case(each), "where i = 2, Node[2].leader = 4");
    assert_eq!(case("assert(votes[0] == One.best);"), "where votes[0] = 0, One.best = 7");
    assert_eq!(
        case("let sum = votes[1] + votes[2]; assert(sum == One.best);"),
        "where sum = 3, One.best = 7, votes[1] = 1, votes[2] = 2"
    );
    assert_eq!(
        case("assert(twice(votes[2]) == One.best);"),
        "where votes[2] = 2, twice(votes[2]) = 4, One.best = 7"
    );
    // Assertions that held are not shown.
    assert_eq!(
        case("assert(other == 9); let k = 2; assert(votes[k] == 0);"),
        "where k = 2, votes[2] = 2"
    );
    assert_eq!(case("assert(10 / votes[0] == other);"), "where votes[0] = 0");
    // What a variable was computed from is shown; a counter that is out of scope is not.
    let total = "var total = 0; for i in 0..N { total += Node[i].leader; } assert(total == 0);";
    assert_eq!(
        case(total),
        "where total = 6, Node[0].leader = 0, Node[1].leader = 2, Node[2].leader = 4"
    );
}

#[test]
fn actors_are_shown_at_the_end() {
    let text = "actor Node[i in 0..2] { var leader = 5; on Set(n: int) { leader = n; } }
        init { send(Node[0], Set(1)); send(Node[1], Set(2)); }
        final { assert(Node[0].leader == Node[1].leader); }";
    assert_eq!(shown(text), "where Node[0].leader = 1, Node[1].leader = 2");
}

/// The shortest counterexample is never longer than the first one, and it replays.
#[test]
fn the_shortest_is_never_longer_than_the_first() {
    let (mut violated, mut gained) = (0, 0);
    for path in specs_without_demands() {
        let text = fs::read_to_string(&path).unwrap();
        let program = compile("spec", &text, &[]).unwrap();
        let allow_pending = program.expectations().iter().any(|line| line.allow_pending);
        let search = |shortest| {
            let (max_traces, endless) = (Some(400), Some(400));
            let budget = Budget {
                all: true,
                shortest,
                properties: Properties::default().allow_pending(allow_pending),
                max_traces,
                endless,
                ..Budget::default()
            };
            explore(&program, Udpor::default(), budget, &mut NoObserver).violations
        };
        let (first, short) = (search(false), search(true));
        assert_eq!(first.len(), short.len(), "{}", path.display());
        for violation in &short {
            check_counterexample_where(&program, violation, allow_pending)
                .unwrap_or_else(|how| panic!("{}: {how}", path.display()));
        }
        let length = |v: &mazurka::explore::Violation| (v.schedule.len(), switches(&v.schedule));
        if let (Some(a), Some(b)) = (first.iter().map(length).min(), short.iter().map(length).min())
        {
            assert!(b <= a, "{}: {b:?} after {a:?}", path.display());
            violated += 1;
            gained += usize::from(b < a);
        }
    }
    assert!(violated > 60 && gained > 10, "{violated} violated, {gained} gained");
}

#[test]
fn the_shortest_is_reported() {
    let result = json(&run(&["check", "philosophers.maz", "--shortest", "--format", "json"]));
    assert_eq!(result["shortest"], true);
    let violation = &result["violations"][0];
    assert_eq!(violation["has_fewest_switches"], true);
    assert_eq!(violation["switches"], 3);
    let text = stdout(&run(&["check", "philosophers.maz", "--shortest"]));
    assert!(text.contains("between processes; none is shorter"), "{text}");
    let stateful = ["check", "philosophers.maz", "--shortest", "--explorer", "stateful"];
    assert!(stdout(&run(&stateful)).contains("others may be shorter"));
}

/// A process that has checked after the last notification, and found nothing, has not missed it.
#[test]
fn a_notification_comes_too_early_only_for_who_has_not_looked_since() {
    let said = |spec: &str, schedule: &str| {
        let spec = format!("{}/specs/condvar/{spec}.maz", env!("CARGO_MANIFEST_DIR"));
        let output = mazurka(&["replay", &spec, "--schedule", schedule]).output().unwrap();
        let text = stdout(&output);
        text.lines().find(|line| line.starts_with("Deadlock:")).expect("a deadlock").to_owned()
    };
    let missed = said("lost-wakeup", "0x3,1x2,0x2,1");
    assert!(
        missed.ends_with("the notification came before the wait (Notifier, line 25)."),
        "{missed}"
    );
    let looked = said("three-consumers", "3x14,0x6,1x6,2x5");
    assert!(looked.ends_with("but no other process that is left notifies it."), "{looked}");
}

#[test]
fn states_in_which_no_execution_ends_are_no_ends() {
    let ends = |text| {
        let told = stdout(&run_with(&["check", "-", "--explorer", "stateful"], text));
        told.lines().nth(1).expect("a second line").to_owned()
    };
    let none = ends("shared x: int = 0; process P { loop { x = 1 - x; } }");
    assert!(none.ends_with("every state that matters visited; no execution ends."), "{none}");
    let one = ends("shared x: int = 0; process P { x = 1; }");
    assert!(one.ends_with("visited; all executions end alike."), "{one}");
    let two = ends("shared x: int = 0; process P { x = 1; } process Q { x = 2; }");
    assert!(two.ends_with("visited; executions end in 2 states."), "{two}");
}

/// It fails before it does anything visible, as the last thing that happens or before other
/// processes continue.
#[test]
fn a_process_that_fails_as_it_starts_is_found() {
    let text = "shared x: int = 0; process P { spawn C(); x = 1; } process C() { assert(1 == 2); }";
    let program = compile("fails.maz", text, &[]).unwrap_or_else(|_| panic!("a program"));
    for &(name, method, _) in METHODS.iter() {
        if is_refused(&program, method) {
            continue;
        }
        let found = explore(&program, method, Budget::default(), &mut NoObserver).violations;
        let kinds: Vec<_> = found.iter().map(|violation| violation.kind).collect();
        assert_eq!(kinds, [ViolationKind::Assertion], "{name}");
    }
}
