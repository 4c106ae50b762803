//! Certificates of states: a list passes iff it has a way to every state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mazurka::audit::{Certificate, Claim, Items, Refused, audit};
use mazurka::explore::{Budget, End, EveryState, NoObserver, Observer, Reached, explore};
use mazurka::lang::{Program, compile};
use mazurka::model::{
    Access, Action, CellId, Foresight, Handle, Locals, Next, Objects, Op, Parts, Response,
    Schedule, State, System, Value, Values,
};
use mazurka::property::Position;

use super::{Change, MUTATED, damaged, program};
use crate::cli::{code, run, stderr, stdout};
use crate::random_models::{Erased, Rng, Sample, actors, later, p2p, processes};
use crate::tidy::{some_of, specs_without_demands};

type States = BTreeMap<Schedule, End>;

/// A way to each state of the system, if `stateful` finds them all within this number of steps.
fn states_of<S: System>(system: &S, most: u64) -> Option<States> {
    if mazurka::audit::refusal(system, Items::States).is_some() {
        return None;
    }
    let mut none = NoObserver;
    let budget = Budget { all: true, ..Budget::default() };
    let cancel = budget.cancel.clone();
    let mut few = Few { reached: Reached::new(system, &mut none), left: most, cancel };
    let outcome = explore(system, EveryState::default(), budget, &mut few);
    let is_whole = outcome.is_complete() && outcome.stats.given_up == 0;
    is_whole.then(|| few.reached.states(&outcome).ok()).flatten()
}

/// Cancels the search when it has taken some steps.
struct Few<'o> {
    reached: Reached<'o>,
    left: u64,
    cancel: Arc<AtomicBool>,
}

impl Observer for Few<'_> {
    fn trace(&mut self, at: Position<'_>, end: End) {
        self.reached.trace(at, end);
    }

    fn transition(&mut self, from: u32, actions: &[Action], to: u32, at: Position<'_>) {
        self.left = self.left.saturating_sub(1);
        self.cancel.fetch_or(self.left == 0, Ordering::Relaxed);
        self.reached.transition(from, actions, to, at);
    }
}

/// A certificate of these states that says nothing wrong about them.
fn certificate<'s>(states: impl IntoIterator<Item = (&'s Schedule, &'s End)>) -> Certificate {
    let (mut claim, mut list) = (Claim::default(), Vec::new());
    for (way, end) in states {
        claim.count += 1;
        claim.deadlocked += u64::from(end.is_deadlocked);
        claim.violating += u64::from(end.is_violating);
        list.push(way.clone());
    }
    Certificate { program: "a program".into(), items: Items::States, claim, list }
}

/// The states of a program that has a certificate.
fn certified(text: &str) -> (Program, States) {
    let program = program(text);
    let states = states_of(&program, 5_000).expect("a small program");
    assert_eq!(audit(&program, false, &certificate(&states)), Ok(()), "{text}");
    (program, states)
}

/// The states to which the ways of each list lead.
fn reached<S: System>(system: &S, lists: [&[Schedule]; 2]) -> [BTreeSet<Vec<u32>>; 2] {
    let (mut locals, mut parts) = (Locals::new(system), Parts::default());
    lists.map(|ways| {
        let lead = |way: &Schedule| {
            let mut state = State::initial(&mut locals);
            for &action in &**way {
                let named = state.action_named(&locals, action).expect("a possible step");
                state.step(&mut locals, named);
            }
            let mut portrait = Vec::new();
            state.portrait(&mut locals, &mut parts, &mut portrait);
            portrait
        };
        ways.iter().map(lead).collect()
    })
}

/// Checks that lists without some of the states are refused. Returns how many programs there were.
fn sound(samples: &[Sample<Erased<'_>>], programs: usize, most: usize) -> usize {
    let small = samples.iter().filter_map(|sample| {
        let states = states_of(&sample.script, 4 * most as u64)?;
        (2..=most).contains(&states.len()).then_some((sample, states))
    });
    let check = |(sample, states): (&Sample<_>, States)| {
        let passes = |is_in: &dyn Fn(usize) -> bool| {
            let some = states.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, one)| one);
            audit(&sample.script, false, &certificate(some))
        };
        assert_eq!(passes(&|_| true), Ok(()), "{}", sample.describe());
        let mut rng = Rng::new(states.len() as u64);
        for missing in 0..states.len() {
            assert!(passes(&|at| at != missing).is_err(), "no {missing}: {}", sample.describe());
            let others: Vec<bool> =
                (0..states.len()).map(|at| at != missing && rng.chance(80)).collect();
            assert!(passes(&|at| others[at]).is_err(), "{others:?} of {}", sample.describe());
        }
    };
    small.take(programs).map(check).count()
}

#[test]
fn only_all_states_of_random_programs_pass() {
    for family in [processes(), later(), actors(), p2p()] {
        assert_eq!(sound(family, 4, 150), 4);
    }
}

#[test]
#[ignore = "slow"]
fn only_all_states_of_random_programs_pass_at_length() {
    for family in [processes(), later(), actors(), p2p()] {
        assert!(sound(family, usize::MAX, 600) > 10);
    }
}

/// Checks the certificates of about one of `each` specs, if so many steps suffice for its search.
fn assert_specs_are_certified(each: usize, most: u64) {
    let mut certified = 0;
    for path in some_of(specs_without_demands(), each) {
        let text = std::fs::read_to_string(&path).expect("a spec");
        let Ok(program) = compile("spec.maz", &text, &[]) else { continue };
        if let Some(states) = states_of(&program, most) {
            let made = certificate(&states);
            assert_eq!(audit(&program, false, &made), Ok(()), "{}", path.display());
            assert_eq!(made.to_string().parse(), Ok(made), "{}", path.display());
            certified += 1;
        }
    }
    assert!(certified * each > 200, "only {certified} specs");
}

#[test]
fn specs_are_certified() {
    assert_specs_are_certified(5, 2_000);
}

#[test]
#[ignore = "slow"]
fn specs_are_certified_at_length() {
    assert_specs_are_certified(1, 200_000);
}

#[test]
fn false_statements_are_refused() {
    let (program, states) = certified(
        "shared x: int = 0; process P { x = 1; } process Q { x = 2; }
         final { assert(x == 1, \"one\"); }",
    );
    let good = certificate(&states);
    let text = "mazurka certificate 1\nprogram a program\nstates 6\ndeadlocked 0\nviolating 1\n\
                0 \n0 0\n1 1\n0 1\n1 0\n";
    assert_eq!(good.claim, Claim { count: 5, deadlocked: 0, violating: 1 });
    assert_eq!(good.to_string(), text.replace("states 6", "states 5"));
    let cases: [(Change<'_>, &str); 9] = [
        (&|bad| bad.claim.violating = 0, "it says 5 states, 0 deadlocked, 0 violating, but"),
        (&|bad| bad.claim.deadlocked = 1, "it says 5 states, 1 deadlocked, 1 violating, but"),
        (&|bad| bad.claim.count = 6, "it says 6 states"),
        (&|bad| bad.list.clear(), "it has no state"),
        (&|bad| bad.list.swap(1, 2), "state 3: it is not in order"),
        (&|bad| drop(bad.list.pop()), "state 4: a state that follows is missing"),
        (&|bad| drop(bad.list.remove(0)), "the initial state is missing"),
        (&|bad| bad.list[4] = "1,0,0".parse().unwrap(), "state 5: its step 3 is not possible"),
        (&|bad| bad.items = Items::Classes, "class 1: it does not end"),
    ];
    for (change, expected) in cases {
        let mut bad = good.clone();
        change(&mut bad);
        let why = audit(&program, false, &bad).expect_err("it is wrong").to_string();
        assert!(why.starts_with(expected), "{why}");
    }
}

/// A state that is there twice is refused.
#[test]
fn two_ways_to_one_state_are_refused() {
    let (program, states) = certified("process P { local(\"p\"); } process Q { local(\"q\"); }");
    let mut bad = certificate(&states);
    assert_eq!(bad.claim.count, 4);
    bad.list.push("1,0".parse().unwrap());
    let why = audit(&program, false, &bad).expect_err("twice").to_string();
    assert_eq!(why, "state 5: it is the same as state 3");
}

/// Executions without an end, a failure that others outlive, and invariants.
#[test]
fn states_of_endless_programs_are_judged() {
    let turns = "process P[i in 0..2] { while true { turn = 1 - i; } }";
    let judged = |more: &str| {
        let (_, states) = certified(&format!("shared turn: int = 0; {turns} {more}"));
        certificate(&states).claim.violating
    };
    assert_eq!(judged(""), 0);
    assert_eq!(judged("invariant { assert(turn < 2, \"two\"); }"), 0);
    assert!(judged("invariant { assert(turn == 0, \"none\"); }") > 0);
    assert!(judged("process Q { assert(turn == 0, \"none\"); }") > 0);
    // Requests that are over are forgotten: there are finitely many states.
    let locks = "rwlock l; process P[i in 0..2] { while true { read_lock(l); unlock(l); write_lock(l); unlock(l); } }";
    assert_eq!(certificate(&certified(locks).1).claim.violating, 0);
}

/// A loop that waits has an end if what it waits for comes. Where all wait for ever there is no
/// certificate, and the audit needs nobody to say so.
#[test]
fn all_may_not_wait_for_ever() {
    let text = |most| {
        format!(
            "shared x: int = 0; process P {{ while x == 0 {{}} }} process Q {{ x = choose({most}..2); }}"
        )
    };
    certified(&text(1));
    let livelock = program(&text(0));
    assert!(states_of(&livelock, 1_000).is_none());
    let ways = ["", "1:0", "1:0,1", "1:1", "1:1,1", "1:1,1,0"];
    let claim = Claim { count: 6, deadlocked: 0, violating: 0 };
    let list = ways.iter().map(|way| way.parse().unwrap()).collect();
    let all = Certificate { program: "a program".into(), items: Items::States, claim, list };
    let why = audit(&livelock, false, &all).expect_err("a livelock").to_string();
    assert_eq!(why, "state 3: after it all wait in loops for ever");
}

/// A process reads a cell and writes what it has read to another one. It claims that no future
/// depends on what it has read.
pub(super) struct Forgetful(Objects);

impl Forgetful {
    pub(super) fn new() -> Self {
        let mut objects = Objects::default();
        objects.cells.push("x", Value::Int(0));
        objects.cells.push("y", Value::Int(0));
        Forgetful(objects)
    }
}

impl System for Forgetful {
    /// The number of steps, and what the process has read.
    type Local = (u32, i64);

    fn objects(&self) -> &Objects {
        &self.0
    }

    fn initial(&self, _: &mut Values) -> Vec<(u32, i64)> {
        vec![(0, 0), (10, 0)]
    }

    fn next(&self, &(steps, read): &(u32, i64), values: &mut Values) -> Next<(u32, i64)> {
        let write = |value, values: &mut Values| Access::Write(values.intern(Value::Int(value)));
        let (cell, access) = match steps {
            0 => (0, Access::Read),
            1 => (1, write(read, values)),
            10 => (0, write(1, values)),
            _ => return Next::Done,
        };
        Next::Op(Op::Access(CellId(cell), access))
    }

    fn resume(
        &self,
        &(steps, read): &(u32, i64),
        response: Response,
        values: &Values,
    ) -> (u32, i64) {
        match (steps, response) {
            (0, Response::Value(seen)) => (1, values.get(seen).int()),
            _ => (steps + 1, read),
        }
    }

    fn foresight(&self) -> &dyn Foresight<(u32, i64)> {
        self
    }
}

impl Foresight<(u32, i64)> for Forgetful {
    fn canonical(&self, &(steps, _): &(u32, i64)) -> Option<((u32, i64), Vec<Handle>)> {
        Some(((steps, 0), Vec::new()))
    }
}

/// Which states are the same follows from an analysis of the program. If it is wrong about a value
/// that the next step writes, the audit notices.
#[test]
fn states_that_only_seem_to_be_the_same_are_noticed() {
    let system = Forgetful::new();
    let states = states_of(&system, 1_000).expect("a small system");
    let why = audit(&system, false, &certificate(&states)).expect_err("a wrong analysis");
    assert!(why.to_string().contains("after another way to a state"), "{why}");
}

/// Of two requests one is forgotten, which keeps its carrier busy: two states differ in which
/// carrier serves the next request, and so in what follows.
#[test]
fn which_carrier_is_busy_is_part_of_a_state() {
    let receives = "{ let q = irecv(m); let w = irecv(m); waitany([q, w]); } recv(m);";
    let collectives = "{ let q = ibarrier(g, as: r); let w = ibarrier(g, as: r); waitany([q, w]); } barrier(g, as: r);";
    certified(&format!(
        "p2p mailbox m: int; process P {{ {receives} }} process Q {{ send(m, 1); send(m, 1); send(m, 1); }}"
    ));
    certified(&format!("collective g(2); process P[r in 0..2] {{ {collectives} }}"));
}

/// Refuses 10,000 certificates that are damaged in one place or two, unless they still have a way to
/// each state.
#[test]
fn damaged_certificates_are_refused() {
    let mut rng = Rng::new(8);
    let mut all: Vec<_> = MUTATED.iter().map(|text| certified(text)).collect();
    all.retain(|(_, states)| states.len() < 100);
    assert!(all.len() > 2);
    let (mut refused, mut others) = (0, 0);
    while refused < 10_000 {
        let (program, states) = rng.pick(&all);
        let good = certificate(states);
        let (bad, verdict) = damaged(&mut rng, program, &good, |_| 1);
        match verdict {
            Ok(()) if bad.list == good.list => assert_eq!(bad.claim, good.claim),
            Ok(()) => {
                assert_eq!((bad.claim, bad.list.len()), (good.claim, good.list.len()));
                let [one, other] = reached(program, [&bad.list, &good.list]);
                assert_eq!(one, other, "{bad}");
                others += 1;
            }
            Err(Refused { .. }) => refused += 1,
        }
    }
    assert!(others < 500, "{others} lists of other ways");
}

#[test]
fn certificates_of_states_on_the_command_line() {
    let root = env!("CARGO_MANIFEST_DIR");
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-states", std::process::id()));
    let file = file.to_str().expect("a path in UTF-8");
    let dining = format!("{root}/specs/mutex/philosophers.maz");
    // Symmetry would leave out states.
    let made = run(&["check", &dining, "--explorer", "stateful", "--certificate", file]);
    assert_eq!(code(&made), 1, "{}", stderr(&made));
    let good = run(&["audit", &dining, file]);
    let lines = "Certified: the program is violated: 1 state is a deadlock.\n\
                 287 states, replayed and judged; none is missing.\n";
    assert_eq!((code(&good), stdout(&good).as_str()), (1, lines), "{}", stderr(&good));
    std::fs::remove_file(file).unwrap();

    let waiting = format!("{root}/specs/daemon/watcher.maz");
    let none = run(&["check", &waiting, "--explorer", "stateful", "--certificate", file]);
    assert!(stderr(&none).contains("waits in a loop for ever"), "{}", stderr(&none));
    assert!(!std::path::Path::new(file).exists());
}
