//! Timeouts that fire only when nothing else can happen.

use mazurka::explore::{Auto, Budget, Exhaustive, NoObserver, Setting, explore};
use mazurka::lang::Program;
use mazurka::model::{Action, Choice, Faults, Locals, Op, Probing, State};
use mazurka::property::Position;

use super::{Ends, Faulty, MOST, agree, compile, ends};
use crate::cli::{code, run_with, stdout};
use crate::lang::fails;
use crate::random_models::{Rng, asked};

/// By definition: the ends of the program whose timeouts fire at any time, if they are left out
/// wherever another action is enabled. `None` if there are too many executions.
struct ByDefinition<'p> {
    locals: Locals<'p, Program>,
    state: State,
    ends: Ends,
    count: u64,
}

impl<'p> ByDefinition<'p> {
    fn of(program: &'p Program) -> Option<Ends> {
        let mut locals = Locals::new(program);
        let state = State::initial(&mut locals);
        let mut walk = ByDefinition { locals, state, ends: Ends::default(), count: 0 };
        walk.visit();
        (walk.count <= MOST).then_some(walk.ends)
    }

    fn visit(&mut self) {
        if self.count > MOST {
            return;
        }
        let mut enabled = Vec::new();
        self.state.enabled(&self.locals, &mut enabled);
        if enabled.iter().any(|&action| !self.gives_up(action)) {
            enabled.retain(|&action| !self.gives_up(action));
        }
        if enabled.is_empty() {
            self.count += 1;
            let is_deadlocked = self.state.stuck(&self.locals).next().is_some();
            let cells = Position::new(&self.locals, &self.state).cells();
            self.ends.add(&cells, is_deadlocked);
        }
        for action in enabled {
            self.state.step(&mut self.locals, action);
            self.visit();
            self.state.undo(&self.locals);
        }
    }

    fn gives_up(&self, action: Action) -> bool {
        let op = self.locals.op(self.state.local(action.process));
        action.choice == Choice::NOTHING
            && matches!(op, Some(Op::Probe { form: Probing::Test, .. }))
    }
}

#[test]
fn timeouts_when_stuck_fire_as_defined() {
    let mut rng = Rng::new(37);
    let (mut compared, mut narrower) = (0, 0);
    while compared < asked(60) {
        let anytime = Faulty::any(&mut rng).declared();
        if !anytime.contains("timeout") {
            continue;
        }
        let when_stuck = anytime.replace("timeout {", "timeout when stuck {");
        let plain = compile(&anytime, Faults::default());
        let Some(expected) = ByDefinition::of(&plain) else { continue };
        let Some(found) = ends(&when_stuck, Faults::default(), Exhaustive) else { continue };
        compared += 1;
        assert_eq!(found.0, expected.0, "{when_stuck}");
        agree(&when_stuck, &found);
        let all = ends(&anytime, Faults::default(), Exhaustive);
        narrower += usize::from(all.is_some_and(|all| all.0 != found.0));
    }
    assert!(narrower > compared / 20, "{narrower}");
}

const RETRY: &str = "p2p mailbox requests: int lossy up to 2;
    p2p mailbox replies: int;
    process Client {
        var tries = 0;
        loop {
            send(requests, tries);
            let reply = recv(replies) timeout when stuck { tries += 1; continue; };
            assert(reply == tries, \"the reply to the last request\");
            break;
        }
        assert(tries < 2, \"at most one\");
    }
    daemon process Server { loop { let request = recv(requests); send(replies, request); } }";

#[test]
fn a_reply_that_is_under_way_keeps_a_timeout_from_firing() {
    let verdict = |text: &str| {
        let program = compile(text, Faults::default());
        let outcome = explore(&program, Auto::default(), Budget::default(), &mut NoObserver);
        let failure = outcome.violations.first().and_then(|violation| violation.failure.as_ref());
        failure.map(|failure| failure.message.clone())
    };
    assert_eq!(verdict(&RETRY.replace("tries < 2", "tries < 3")), None);
    assert_eq!(verdict(RETRY).as_deref(), Some("assertion failed: at most one"));
    let at_any_time = verdict(&RETRY.replace(" when stuck", ""));
    assert_eq!(at_any_time.as_deref(), Some("assertion failed: the reply to the last request"));
}

/// Nobody ever sends, so a probe concerns no other process, as it seems. But who gives up first is
/// the one that writes first: the other one gives up when that is done.
#[test]
fn any_one_of_several_may_give_up_first() {
    let text = "p2p mailbox m[2]: int; shared x: int = 0;
        process P[i in 0..2] { let v = recv(m[i]) timeout when stuck { 9 }; x = i + v; }";
    let found = ends(text, Faults::default(), Exhaustive).expect("few executions");
    assert_eq!(found.0.len(), 2);
    agree(text, &found);
}

#[test]
fn all_that_has_happened_is_a_cause_of_a_timeout() {
    let text = "p2p mailbox m: int; shared x: int = 0;
        process Other { x = 1; }
        process P { let got = recv(m) timeout when stuck { 7 }; assert(got != 7); }";
    let shown = stdout(&run_with(&["check", "-"], text));
    assert!(shown.contains("Other") && shown.contains("gives up"), "{shown}");
}

#[test]
fn a_timeout_that_fires_in_vain_waits() {
    fails(
        "p2p mailbox m: int; process Q { if false { send(m, 1); } }
         process P { loop { let v = recv(m) timeout when stuck { continue; }; break; } }",
        "Livelock",
    );
}

#[test]
fn explorers_that_rely_on_independence_refuse() {
    for explorer in ["udpor", "optimal", "source", "prefix", "s-por", "sleep"] {
        let out = run_with(&["check", "-", "--explorer", explorer], RETRY);
        assert_eq!(out.status.code(), Some(2), "{explorer}");
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(told.contains("`timeout when stuck` depends on all steps"), "{told}");
    }
}

/// Checks that all explorers that accept the program find violations of these kinds.
fn all_find(text: &str, expected: &[&str]) {
    let program = compile(text, Faults::default());
    for explorer in ["exhaustive", "stateful", "fused", "fair", "auto"] {
        let setting: Setting = explorer.parse().expect("an explorer");
        let budget = Budget { all: true, ..Budget::default() };
        let outcome = explore(&program, setting, budget, &mut NoObserver);
        assert!(outcome.is_complete(), "{explorer}: {text}");
        let mut found: Vec<_> =
            outcome.violations.iter().map(|v| format!("{:?}", v.kind)).collect();
        found.dedup();
        assert_eq!(found, expected, "{explorer}: {text}");
    }
}

/// Beside a process that waits for ever until all are stuck: a process that leaves its loop, or may
/// give up and then ends, spins no more than without it.
#[test]
fn what_leaves_its_loop_does_not_go_round() {
    let waits = "loop { let _u = recv(p) timeout when stuck { 0 };";
    let objects = "p2p mailbox p: int; p2p mailbox q: int; shared x: int = 0;";
    let leaves = "while x == 1 { }";
    all_find(&format!("{objects} daemon process A {{ {waits} }} }} process B {{ {leaves} }}"), &[]);
    let gives_up = "let _v = recv(q) timeout when stuck { 7 };";
    let program = |more: &str| {
        format!("{objects} daemon process A {{ {waits} {more} }} }} process B {{ {gives_up} }}")
    };
    all_find(&program("local(\"a\");"), &[]);
    all_find(&program(""), &[]);
    let beside_spinning = "process A { let _u = recv(p) timeout when stuck { 9 }; }
         daemon process B { while x == 0 { } }";
    let text = format!("{objects} {beside_spinning} process C {{ {leaves} }}");
    all_find(&text, &["Deadlock"]);
    let stays = "while x == 0 { }";
    all_find(&format!("{objects} {beside_spinning} process C {{ {stays} }}"), &["Livelock"]);
    all_find(
        &format!("{objects} process A {{ {waits} }} }} process B {{ {leaves} }}"),
        &["Livelock"],
    );
}

/// Without polls a process comes to the bound when the last other one has ended, by the step of that
/// one.
#[test]
fn a_timeout_that_no_poll_is_left_for_is_no_end() {
    let objects = "p2p mailbox q: int; mutex m;";
    let gives_up = "process B { let _u = recv(q) timeout when stuck { 7 }; assert(false); }";
    for others in ["", "process C { local(\"c\"); }", "process E[i in 0..2] { lock(m); }"] {
        for explorer in ["exhaustive", "stateful", "fused", "fair", "auto"] {
            let args = ["check", "-", "--polls", "0", "--explorer", explorer];
            let out = run_with(&args, &format!("{objects} {gives_up} {others}"));
            assert_eq!(code(&out), 3, "{explorer} beside {others:?}");
        }
    }
}
