//! Certificates of prefixes: a list passes iff it has all events. What it says is compared with
//! what all executions say.

use mazurka::audit::{Certificate, Claim, Items, Refused, audit, refusal};
use mazurka::explore::{
    Budget, FinitePrefix, NoObserver, ViolationKind, explore, finite_prefix, listed_prefix,
};
use mazurka::lang::{Program, compile};
use mazurka::model::{Schedule, System};

use super::states::Forgetful;
use super::{Change, MUTATED, classes_of, damaged, program};
use crate::cli::{code, run, stderr, stdout};
use crate::random_models::{Erased, Rng, Sample, actors, later, p2p, processes};
use crate::tidy::{some_of, specs_without_demands};

/// The events of the system, if it has a prefix.
fn events_of<S: System>(system: &S) -> Option<Vec<Schedule>> {
    let budget = Budget { all: true, ..Budget::default() };
    let is_refused = refusal(system, Items::Events).is_some();
    (!is_refused).then(|| listed_prefix(system, budget).ok()).flatten()
}

/// A certificate of these events. `claim` is that of the classes of the program.
fn certificate(list: Vec<Schedule>, claim: Claim) -> Certificate {
    let [deadlocked, violating] =
        [claim.deadlocked, claim.violating].map(|count| u64::from(count > 0));
    let claim = Claim { count: list.len() as u64, deadlocked, violating };
    Certificate { program: "a program".into(), items: Items::Events, claim, list }
}

/// What all classes of a system say.
fn claim_of<S: System>(system: &S) -> Option<Claim> {
    let mut claim = Claim::default();
    let classes = classes_of(system)?;
    classes.values().for_each(|end| claim.add(end.is_deadlocked, end.is_violating));
    Some(claim)
}

/// The certificate of a program that has one.
fn certified(text: &str) -> (Program, Certificate) {
    let program = program(text);
    let claim = claim_of(&program).expect("a small program");
    let made = certificate(events_of(&program).expect("a prefix"), claim);
    assert_eq!(audit(&program, false, &made), Ok(()), "{text}");
    (program, made)
}

/// Checks that the events of programs pass, with what their classes say and with nothing else, and
/// that lists without some of the events are refused. Returns how many programs there were.
fn sound(samples: &[Sample<Erased<'_>>], programs: usize, most: usize) -> usize {
    let small = samples.iter().filter_map(|sample| {
        let claim = claim_of(&sample.script)?;
        let events = events_of(&sample.script)?;
        (2..=most).contains(&events.len()).then(|| (sample, certificate(events, claim)))
    });
    let check = |(sample, good): (&Sample<_>, Certificate)| {
        assert_eq!(audit(&sample.script, false, &good), Ok(()), "{}", sample.describe());
        let Claim { deadlocked, violating, .. } = good.claim;
        for (deadlocked, violating) in [(1 - deadlocked, violating), (deadlocked, 1 - violating)] {
            let mut bad = good.clone();
            bad.claim = Claim { deadlocked, violating, ..good.claim };
            assert!(audit(&sample.script, false, &bad).is_err(), "{}", sample.describe());
        }
        let mut rng = Rng::new(good.list.len() as u64);
        for missing in 0..good.list.len() {
            for share in [100, 80] {
                let mut bad = good.clone();
                let mut at = 0;
                bad.list.retain(|_| (at += 1, at - 1 != missing && rng.chance(share)).1);
                bad.claim.count = bad.list.len() as u64;
                let verdict = audit(&sample.script, false, &bad);
                assert!(verdict.is_err(), "{bad} of {}", sample.describe());
            }
        }
    };
    small.take(programs).map(check).count()
}

#[test]
fn only_all_events_of_random_programs_pass() {
    for family in [processes(), later(), actors(), p2p()] {
        assert_eq!(sound(family, 6, 60), 6);
    }
}

#[test]
#[ignore = "slow"]
fn only_all_events_of_random_programs_pass_at_length() {
    for family in [processes(), later(), actors(), p2p()] {
        assert!(sound(family, usize::MAX, 400) > 10);
    }
}

/// Checks the certificates of about one of `each` specs, if it has a prefix of at most this many
/// events.
fn assert_specs_are_certified(each: usize, most: usize) {
    let mut certified = 0;
    for path in some_of(specs_without_demands(), each) {
        let text = std::fs::read_to_string(&path).expect("a spec");
        let Ok(program) = compile("spec.maz", &text, &[]) else { continue };
        let budget = Budget { all: true, ..Budget::default() };
        let is_small =
            || finite_prefix(&program, most, budget.clone()).is_ok_and(|prefix| prefix.is_whole);
        if refusal(&program, Items::Events).is_some() || !is_small() {
            continue;
        }
        let outcome = explore(&program, FinitePrefix::default(), budget.clone(), &mut NoObserver);
        let is_of = |kind| outcome.violations.iter().any(|one| one.kind == kind);
        let is_whole = outcome.is_complete() && outcome.stats.given_up == 0;
        if !is_whole || is_of(ViolationKind::Livelock) {
            continue;
        }
        let claim = Claim {
            count: 0,
            deadlocked: u64::from(is_of(ViolationKind::Deadlock)),
            violating: u64::from(!outcome.violations.is_empty()),
        };
        let made = certificate(events_of(&program).expect("a prefix"), claim);
        assert_eq!(audit(&program, false, &made), Ok(()), "{}", path.display());
        assert_eq!(made.to_string().parse(), Ok(made), "{}", path.display());
        certified += 1;
    }
    assert!(certified * each > 200, "only {certified} specs");
}

#[test]
fn specs_are_certified() {
    assert_specs_are_certified(6, 150);
}

#[test]
#[ignore = "slow"]
fn specs_are_certified_at_length() {
    assert_specs_are_certified(1, 5_000);
}

#[test]
fn false_statements_are_refused() {
    let (program, good) = certified(
        "shared x: int = 0; process P { x = 1; } process Q { x = 2; }
         final { assert(x == 1, \"one\"); }",
    );
    let text = "mazurka certificate 1\nprogram a program\nevents 4\ndeadlocked 0\nviolating 1\n\
                0 0\n0 1\n0 0,1\n0 1,0\n";
    assert_eq!(good.to_string(), text);
    let cases: [(Change<'_>, &str); 9] = [
        (&|bad| bad.claim.violating = 0, "it says 4 events, 0 deadlocked, 0 violating, but"),
        (&|bad| bad.claim.deadlocked = 1, "it says 4 events, 1 deadlocked, 1 violating, but"),
        (&|bad| bad.claim.count = 5, "it says 5 events"),
        (&|bad| bad.list.clear(), "an event is missing, the last one of 0"),
        (&|bad| bad.list.swap(0, 2), "event 1: one of its causes is not before it"),
        (&|bad| drop(bad.list.pop()), "an event is missing, the last one of 1,0"),
        (&|bad| bad.list[3] = "0,1,0".parse().unwrap(), "event 4: its step 3 is not possible"),
        (&|bad| bad.list[1] = "0".parse().unwrap(), "event 2: it is the same as an earlier one"),
        (&|bad| bad.items = Items::Classes, "class 1: it does not end"),
    ];
    for (change, expected) in cases {
        let mut bad = good.clone();
        change(&mut bad);
        let why = audit(&program, false, &bad).expect_err("it is wrong").to_string();
        assert!(why.starts_with(expected), "{why}");
    }
}

/// An event has its own past, and nothing else before it.
#[test]
fn steps_that_an_event_does_not_come_after_are_refused() {
    let (program, good) = certified("process P { local(\"p\"); } process Q { local(\"q\"); }");
    let mut bad = good.clone();
    bad.list[1] = "0,1".parse().unwrap();
    let why = audit(&program, false, &bad).expect_err("P is no cause of Q").to_string();
    assert_eq!(why, "event 2: it has steps that it does not come after");
}

/// A mutex is locked in one step, which is two actions.
#[test]
fn a_mutex_that_is_requested_is_taken() {
    let text = "mutex m; process P { lock(m); unlock(m); } process Q { local(\"q\"); }";
    let (program, good) = certified(text);
    assert_eq!(good.list[0].to_string(), "0x2");
    for other in ["0", "0,1", "0:1,0"] {
        let mut bad = good.clone();
        bad.list[0] = other.parse().unwrap();
        assert!(audit(&program, false, &bad).is_err(), "{other}");
    }
    let text = "mutex m; process P[i in 0..2] { lock(m); unlock(m); }";
    let (program, mut bad) = certified(text);
    bad.list.push("0x2,1".parse().unwrap());
    bad.claim.count += 1;
    assert!(audit(&program, false, &bad).is_err(), "P[1] queues");
    // P does something else when it has asked, so there are two steps for Q, too.
    certified(
        "mutex m; process P { async_lock(m); local(\"p\"); mutex_wait(m); unlock(m); }
         process Q { lock(m); unlock(m); }",
    );
}

/// Nothing is listed after a cutoff: what follows is there already.
#[test]
fn events_after_cutoffs_are_refused() {
    let (program, good) = certified("process P { var x = choose(0..2); x = 0; local(\"p\"); }");
    assert_eq!(good.list.iter().map(Schedule::to_string).collect::<Vec<_>>(), ["0", "0:1", "0x2"]);
    let mut bad = good.clone();
    bad.list.push("0:1,0".parse().unwrap());
    bad.claim.count += 1;
    let why = audit(&program, false, &bad).expect_err("after a cutoff").to_string();
    assert_eq!(why, "event 4: it comes after a cutoff");
}

/// Which processes are in the same place follows from an analysis of the program. If it is wrong
/// about a value that the next step writes, the audit notices.
#[test]
fn steps_that_only_seem_to_be_the_same_are_noticed() {
    let ways = ["0", "1", "0,1", "1,0", "0x2", "1,0x2"];
    let list = ways.iter().map(|way| way.parse().unwrap()).collect();
    let made = certificate(list, Claim::default());
    let why = audit(&Forgetful::new(), false, &made).expect_err("a wrong analysis").to_string();
    assert_eq!(why, "event 6: a step depends on what it does not look at");
}

/// A loop that waits has an end if what it waits for comes. Where all wait for ever there is no
/// certificate, and the audit needs nobody to say so. A daemon may wait for ever.
#[test]
fn all_may_not_wait_for_ever() {
    let judged = |kind: &str, most: i64| {
        let text = format!(
            "shared x: int = 0; {kind} P {{ while x == 0 {{}} }} process Q {{ x = choose({most}..2); }}"
        );
        let program = program(&text);
        let made = certificate(events_of(&program).expect("a prefix"), Claim::default());
        audit(&program, false, &made).map_err(|why| why.to_string())
    };
    assert_eq!(judged("process", 1), Ok(()));
    assert_eq!(judged("process", 0), Err("processes may wait in loops for ever".into()));
    assert_eq!(judged("daemon process", 0), Ok(()));
}

/// Where a process is in a loop that it can leave, it does not wait for ever, and nothing ends there:
/// a certificate of a violation is refused as well.
#[test]
fn a_process_that_can_leave_its_loop_is_not_at_an_end() {
    let flag = "shared x: int = 0; process W { x = 1; }
        daemon process D { loop { local(\"tick\"); } }";
    let programs = [
        format!("{flag} process P {{ while x == 0 {{}} }}"),
        format!(
            "{flag} daemon process P {{ var v = 0; while x == 0 {{}} v = 1; }}
            final {{ assert(P.v == 1); }}"
        ),
        format!("{flag} process P crashes up to 1 {{ while x == 0 {{}} }}"),
        format!(
            "{flag} daemon process P {{ var v = 0; loop {{ let _y = x; if choose(0..2) == 1 {{ break; }} }}
            v = 1; }} final {{ assert(P.v == 1); }}"
        ),
    ];
    for text in programs {
        let program = program(&text);
        let list = events_of(&program).expect("a prefix");
        for violating in [0, 1] {
            let claim = Claim { count: 0, deadlocked: 0, violating };
            let audited = audit(&program, false, &certificate(list.clone(), claim));
            assert_eq!(audited.is_ok(), violating == 0, "{audited:?}: {text}");
        }
    }
}

/// Where daemons wait in a loop for ever, another process that waits is in a deadlock; without one
/// `final` has to hold at each place of the loop.
#[test]
fn daemons_that_wait_for_ever_are_at_an_end() {
    let judged = |asserted: &str, [sends, receives]: [&str; 2]| {
        let program = program(&format!(
            "shared x: int = 0; mailbox m: int;
            daemon process P {{ var at = 0; while x == 0 {{ at = 1 - at; }} {sends} }}
            process Q {{ x = choose(0..2); {receives} }}
            final {{ assert({asserted}); }}"
        ));
        let list = events_of(&program).expect("a prefix");
        let budget = Budget { all: true, ..Budget::default() };
        let found = explore(&program, FinitePrefix::default(), budget, &mut NoObserver);
        let is_of = |kind| u64::from(found.violations.iter().any(|one| one.kind == kind));
        let is_deadlocked = is_of(ViolationKind::Deadlock);
        let fails = u64::from(!found.violations.is_empty());
        for (deadlocked, violating) in [(0, 0), (0, 1), (1, 1)] {
            let claim = Claim { count: 0, deadlocked, violating };
            let audited = audit(&program, false, &certificate(list.clone(), claim));
            let is_right = (deadlocked, violating) == (is_deadlocked, fails);
            assert_eq!(audited.is_ok(), is_right, "{asserted}, {receives}: {audited:?}");
        }
        [is_deadlocked, fails]
    };
    assert_eq!(judged("x < 2", [""; 2]), [0, 0]);
    assert_eq!(judged("x != 0", [""; 2]), [0, 1]);
    assert_eq!(judged("x != 0 || P.at == 0", [""; 2]), [0, 1]);
    assert_eq!(judged("x != 0 || P.at == 1", [""; 2]), [0, 1]);
    assert_eq!(judged("x == 0", [""; 2]), [0, 1]);
    assert_eq!(judged("x < 2", ["send(m, 1);", "recv(m);"]), [1, 1]);
}

/// Executions without an end, a failure that others outlive, and invariants.
#[test]
fn events_of_endless_programs_are_judged() {
    let turns = "process P[i in 0..2] { while true { turn = 1 - i; } }";
    let judged = |more: &str| {
        let program = program(&format!("shared turn: int = 0; {turns} {more}"));
        let list = events_of(&program).expect("a prefix");
        let judged = [0, 1].map(|violating| {
            let claim = Claim { count: 0, deadlocked: 0, violating };
            audit(&program, false, &certificate(list.clone(), claim)).is_ok()
        });
        assert!(judged[0] != judged[1], "{judged:?}");
        judged[1]
    };
    assert!(!judged(""));
    assert!(!judged("invariant { assert(turn < 2, \"two\"); }"));
    assert!(judged("invariant { assert(turn == 0, \"none\"); }"));
    assert!(judged("process Q { assert(turn == 0, \"none\"); }"));
}

/// Refuses 10,000 certificates that are damaged in one place or two, unless they still have all
/// events (perhaps in another order).
#[test]
fn damaged_certificates_are_refused() {
    let mut rng = Rng::new(9);
    let all: Vec<_> = MUTATED.iter().map(|text| certified(text)).collect();
    let (mut refused, mut others) = (0, 0);
    while refused < 10_000 {
        let (program, good) = rng.pick(&all);
        let (bad, verdict) = damaged(&mut rng, program, good, |_| 1);
        match verdict {
            Ok(()) => {
                assert_eq!(bad.claim, good.claim, "{bad}\n\n{good}");
                others += usize::from(bad.list != good.list);
            }
            Err(Refused { .. }) => refused += 1,
        }
    }
    assert!(others < 2_000, "{others} lists in another order");
}

#[test]
fn certificates_of_prefixes_on_the_command_line() {
    let root = env!("CARGO_MANIFEST_DIR");
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-events", std::process::id()));
    let file = file.to_str().expect("a path in UTF-8");
    let dining = format!("{root}/specs/mutex/philosophers.maz");
    let made = run(&["check", &dining, "--explorer", "prefix", "--certificate", file]);
    assert_eq!(code(&made), 1, "{}", stderr(&made));
    let good = run(&["audit", &dining, file]);
    let lines = "Certified: the program is violated: an execution deadlocks.\n\
                 42 events, replayed and judged; none is missing.\n";
    assert_eq!((code(&good), stdout(&good).as_str()), (1, lines), "{}", stderr(&good));
    std::fs::remove_file(file).unwrap();

    let livelock = format!("{root}/specs/memory/livelock.maz");
    let none = run(&["check", &livelock, "--explorer", "prefix", "--certificate", file]);
    assert!(stderr(&none).contains("executions wait in loops"), "{}", stderr(&none));
    assert!(!std::path::Path::new(file).exists());
}

/// A process that has asked for a mutex may show `final` or an invariant something before it waits:
/// then the mutex is not locked in one step.
#[test]
fn what_a_process_shows_once_it_has_asked_for_a_mutex_is_judged() {
    let waits = "mutex m; process P { var v = 0; async_lock(m); v = 1; mutex_wait(m); v = 0; }
        invariant { assert(P.v == 0); }";
    let at_the_end = "mutex m; mailbox b: int; process P { lock(m); send(b, 1); }
        daemon process D {
            var v = 0; let g = recv(b); let w = choose(0..2);
            async_lock(m); v = 1 - w; mutex_wait(m);
        }
        final { assert(D.v == 0); }";
    for text in [waits, at_the_end] {
        let (program, made) = certified(text);
        assert_eq!(made.claim.violating, 1, "{text}");
        let mut bad = made.clone();
        bad.claim.violating = 0;
        assert!(audit(&program, false, &bad).is_err(), "{text}");
    }
    let program = program(waits);
    let in_one_step: Schedule = "0x2".parse().unwrap();
    let bad = certificate(vec![in_one_step], Claim::default());
    assert!(audit(&program, false, &bad).is_err());
}

/// To write what is there already is a change: nobody waits in a loop that does so, and a process
/// beside it that waits is in no deadlock.
#[test]
fn a_loop_that_writes_changes_something() {
    for text in [
        "shared x: int = 0; process P { loop { x = 0; } }",
        "shared x: int = 0; mailbox b: int; daemon process D { loop { x = 0; } }
        process P { let v = recv(b); }",
        "shared x: int = 0; daemon process D { var v = 0; loop { x = 0; v = 1; x = 0; v = 0; } }
        final { assert(D.v == 0); }",
        "actor A { on M() { send(self, M()); } } init { send(A, M()); }",
    ] {
        let program = program(text);
        let made = certificate(events_of(&program).expect("a prefix"), Claim::default());
        assert_eq!(audit(&program, false, &made), Ok(()), "{text}");
    }
}
