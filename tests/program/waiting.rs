//! Loops that wait: they have the executions of the same loops in a model.

use std::time::{Duration, Instant};

use mazurka::check::Checked;
use mazurka::explore::Verdict;
use mazurka::lang;
use mazurka::program::{Closures, Program};
use mazurka::systems::history::History;

use super::{EXPLORERS, all};

/// The program is as right or wrong as this model. It may have more executions, since a round that
/// waits is seen once before it is known.
fn is_as(program: impl Fn() -> History<Closures>, model: &str) {
    let model = lang::compile("model.maz", model, &[]).expect("a valid model");
    for explorer in EXPLORERS {
        let (ours, theirs) = (all(&program(), explorer), all(&model, explorer));
        let context = || format!("{explorer}: {ours}\n{theirs}");
        assert_eq!(ours.verdict(), theirs.verdict(), "{}", context());
        let what = |checked: &Checked| {
            let stats = checked.stats();
            let all = [stats.deadlocked_traces, stats.violating_traces, stats.livelocked_traces];
            all.map(|number| number > 0)
        };
        assert_eq!(what(&ours), what(&theirs), "{}", context());
        let [ours_in_all, theirs_in_all] = [&ours, &theirs].map(|checked| checked.stats().traces);
        assert!(ours_in_all >= theirs_in_all, "{}", context());
    }
}

#[test]
fn who_waits_for_a_flag() {
    let program = || {
        let mut program = Program::new();
        let (flag, other) = (program.cell("flag", 0), program.cell("other", 0));
        program.process("P", async move || {
            while flag.read().await == 0 {}
            assert_eq!(other.read().await, 1);
        });
        program.process("Q", async move || {
            other.write(1).await;
            flag.write(1).await;
        });
        program.process("R", async move || _ = other.swap(1).await);
        program.build()
    };
    is_as(
        program,
        "shared flag: int = 0; shared other: int = 0;
         process P { while flag == 0 {} assert(other == 1); }
         process Q { other = 1; flag = 1; }
         process R { let _ = swap(other, 1); }",
    );
    let told = mazurka::check(&program()).run().to_string();
    let assumed = "Verified under the assumption that a loop which waits for 100 rounds does not";
    assert!(told.starts_with(assumed), "{told}");
}

#[test]
fn spinlocks() {
    let program = || {
        let mut program = Program::new();
        let (taken, sum) = (program.cell("taken", 0), program.cell("sum", 0));
        for n in 0..3 {
            program.process(format!("P{n}"), async move || {
                while taken.compare_exchange(0, 1).await.is_err() {}
                let seen = sum.read().await;
                sum.write(seen + 1).await;
                taken.write(0).await;
            });
        }
        program.finally(move |end| assert_eq!(end.read(sum), 3));
        program.build()
    };
    is_as(
        program,
        "shared taken: int = 0; shared sum: int = 0;
         process P[i in 0..3] { while !cas(taken, 0, 1) {} sum = sum + 1; taken = 0; }
         final { assert(sum == 3); }",
    );
}

/// A round of several observations; and one that waits in vain.
#[test]
fn who_waits_for_one_of_two_flags() {
    let program = |set: bool| {
        move || {
            let mut program = Program::new();
            let (a, b) = (program.cell("a", 0), program.cell("b", 0));
            program.process("P", async move || while a.read().await + b.read().await < 2 {});
            program.process("Q", async move || a.write(1).await);
            program.process("R", async move || b.write(i32::from(set)).await);
            program.build()
        }
    };
    for set in [true, false] {
        let model = format!(
            "shared a: int = 0; shared b: int = 0;
             process P {{ while true {{ let x = a; let y = b; if x + y == 2 {{ break; }} }} }}
             process Q {{ a = 1; }}
             process R {{ b = {}; }}",
            i32::from(set)
        );
        is_as(program(set), &model);
    }
}

#[test]
fn a_mutex_that_is_tried_again_and_again() {
    for explorer in EXPLORERS {
        let mut program = Program::new();
        let lock = program.tried_mutex("lock", 0);
        for name in ["A", "B"] {
            program.process(name, async move || {
                loop {
                    if let Some(mut guard) = lock.try_lock().await {
                        *guard += 1;
                        break;
                    }
                }
            });
        }
        program.finally(move |end| assert_eq!(end.inside(lock), 2));
        let checked = all(&program.build(), explorer);
        assert_eq!(checked.verdict(), Verdict::Ok, "{checked}");
        assert!(checked.stats().traces >= 2, "{checked}");
    }
}

/// A loop that gives up is followed to its end, if it does so soon enough.
#[test]
fn who_gives_up_is_followed() {
    for patience in [3, 50] {
        let mut program = Program::new();
        let flag = program.cell("flag", 0);
        program.process("P", async move || {
            let mut rounds = 0;
            while flag.read().await == 0 {
                rounds += 1;
                assert!(rounds < patience, "it has given up");
            }
        });
        program.process("Q", async move || flag.write(1).await);
        let system = program.build();
        let told = mazurka::check(&system).run().to_string();
        assert!(told.starts_with("Assertion failed: it has given up (P, "), "{told}");
        assert!(told.contains(&format!("after {patience} steps")), "{told}");
    }
}

#[test]
fn a_waiting_loop_takes_no_time() {
    let begun = Instant::now();
    let mut program = Program::new();
    let turn = program.cell("turn", 0);
    for n in 0..4 {
        program.process(format!("P{n}"), async move || {
            while turn.read().await != n {}
            turn.write(n + 1).await;
        });
    }
    program.finally(move |end| assert_eq!(end.read(turn), 4));
    let checked = mazurka::check(&program.build()).all().run();
    assert_eq!(checked.verdict(), Verdict::Ok, "{checked}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{checked}");
}

/// A loop that gives up late is not taken for one that waits for ever.
#[test]
fn who_gives_up_late_does_not_wait_for_ever() {
    for rounds in [300, 1_000] {
        let mut program = Program::new();
        let (flag, seen) = (program.cell("flag", 0), program.cell("seen", 0));
        program.process("P", async move || {
            for _ in 0..rounds {
                if flag.read().await == 1 {
                    seen.write(1).await;
                    break;
                }
            }
        });
        program
            .process("Q", async move || while flag.swap(0).await == 0 && seen.read().await == 0 {});
        let system = program.build();
        let checked = mazurka::check(&system).run();
        let told = checked.to_string();
        assert_eq!(checked.verdict(), Verdict::Livelock, "{told}");
        assert!(told.contains("Q goes round its loop for ever"), "{told}");
        assert!(told.contains("P has ended"), "{told}");
    }
}
