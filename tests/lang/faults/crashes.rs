//! Processes that crash.

use mazurka::explore::Udpor;
use mazurka::lang::{self, Choices};
use mazurka::model::{FaultKinds, Faults};

use super::super::{fails, holds};
use super::{agree, ends, least};

/// A process that has a number of its own has no share of that of others.
#[test]
fn a_spawned_process_may_crash_beside_processes_that_share_a_number() {
    let text = "
        shared x: int = 0;
        process T() crashes up to 1 { fetch_add(x, 1); }
        process P[i in 0..2] crashes up to 1 in all { fetch_add(x, 1); }
        process Main { join(spawn T()); }
    ";
    assert_eq!(least(text, FaultKinds::All, None), 1);
    assert_eq!(least(&text.replace("in all", ""), FaultKinds::All, None), 0);
}

/// Nobody knows how many will be spawned, so they have no shares of a number.
#[test]
fn spawned_processes_share_no_number_of_crashes() {
    let text = "
        shared x: int = 0;
        process T() crashes up to 1 { fetch_add(x, 1); }
        process Main { let a = spawn T(); let b = spawn T(); join(a); join(b); }
    ";
    assert_eq!(least(text, FaultKinds::All, None), 0);
    assert_eq!(least(text, FaultKinds::All, Some(0)), 2);
    for most in 1..3 {
        let faults = Faults { max_crashes: Some(most), ..Faults::default() };
        let choices = Choices { faults, ..Choices::default() };
        let refused =
            lang::compile_with("faults.maz", text, &[], choices).err().map(|d| d.render(false));
        let refused = refused.unwrap_or_default();
        assert!(refused.contains("only processes that exist from the start share"), "{refused}");
    }
}

#[test]
fn what_a_crashed_process_holds_stays_held() {
    fails(
        "mutex m; process P crashes up to 1 { lock(m); unlock(m); } process Q { lock(m); unlock(m); }",
        "Deadlock",
    );
    // A receive that it has posted takes the message.
    fails(
        "mailbox m: int;
        process P crashes up to 1 { let c = irecv(m); local(\"x\"); let v = wait(c); assert(v == 1); }
        process Q { isend(m, 1); isend(m, 2); }
        process R { local(\"later\"); let v = recv(m); assert(v == 1); }",
        "assertion failed",
    );
}

#[test]
fn a_crashed_process_has_ended() {
    holds(
        "process T() crashes up to 1 { local(\"x\"); local(\"y\"); } process Main { join(spawn T()); }",
    );
    // `final` is not decided where the variable was not declared; else it has its last content.
    holds(
        "shared x: int = 0;
        process P crashes up to 1 { fetch_add(x, 1); var v = 1; fetch_add(x, 1); v = 2; }
        final { assert(P.v == 2 || P.crashes == 1 && P.v == 1); }",
    );
    fails(
        "shared x: int = 0;
        process P crashes up to 1 { var v = 1; fetch_add(x, 1); v = 2; }
        final { assert(P.v == 2); }",
        "assertion failed",
    );
}

#[test]
fn a_process_may_crash_before_what_others_do_not_notice() {
    for operation in ["local(\"done\")", "let _k = choose(0..2)"] {
        let fails = |text: &str| fails(&text.replace("OPERATION", operation), "assertion failed");
        // It starts again where nothing else would come.
        fails(
            "shared x: int = 0;
            process P crashes up to 1, restarts { x = x + 1; OPERATION; }
            final { assert(x <= 1); }",
        );
        // What is computed afterwards would undo what lasts.
        fails(
            "process P crashes up to 1, restarts {
                durable var d = 0;
                d += 1;
                OPERATION;
                assert(d == 1);
                d = 0;
                local(\"end\");
            }",
        );
        // `final` sees where it crashed.
        fails(
            "process P crashes up to 1 { var v = 1; OPERATION; v = 2; local(\"end\"); }
            final { assert(P.v == 2); }",
        );
    }
}

#[test]
fn a_restart_keeps_durable_variables_only() {
    holds(
        "shared x: int = 0;
        proc work(n: int) -> int { fetch_add(x, 1); fetch_add(x, n); n + 1 }
        process P crashes up to 2, restarts {
            durable var begun = 0;
            durable var most = 0;
            var here = 0;
            begun += 1;
            assert(begun == crashes + 1);
            for k in 0..2 { here = work(here); }
            assert(here == 2);
            most = here;
            fetch_add(x, 1);
        }
        final { assert(P.most == 2 && P.here == 2); }",
    );
}

/// What it was enrolled for before it crashed stays there: a notification may wake that. The process
/// itself waits for what it does now.
#[test]
fn a_process_that_crashed_at_a_condition_variable_may_use_it_again() {
    let text = "
        mutex l;
        condvar w;
        shared x: int = 0;
        process P crashes up to 1, restarts {
            notify_one(w);
            lock(l);
            cond_wait(w, l);
            x = 1;
        }
        process Q { notify_one(w); }
    ";
    let expected = ends(text, Faults::default(), Udpor::default()).expect("few executions");
    let deadlocked = expected.0.iter().filter(|end| end.1).count();
    assert!(deadlocked > 0 && deadlocked < expected.0.len(), "{:?}", expected.0);
    agree(text, &expected);
}
