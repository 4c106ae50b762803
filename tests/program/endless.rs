//! Programs that run for ever: what is wrong elsewhere is found, and they are never verified.

use mazurka::explore::{Setting, StopReason, Verdict};
use mazurka::program::{Closures, Program};
use mazurka::systems::history::History;

/// Two processes that lose an update, or not, beside a process that does this for ever.
fn beside(kind: usize, is_right: bool) -> History<Closures> {
    let mut program = Program::new();
    let (news, ticks) = (program.mailbox("news"), program.cell("ticks", 0));
    let clock = async move || loop {
        match kind {
            0 => news.send(1).await,
            1 => drop(ticks.update(|ticks| ticks ^ 1).await),
            _ => drop(ticks.fetch_add(1).await),
        }
    };
    match kind {
        0 => program.process("clock", clock),
        _ => program.daemon("clock", clock),
    }
    let (sum, done) = (program.cell("sum", 0), program.cell("done", 0));
    for name in ["P", "Q"] {
        program.process(name, async move || {
            for _ in 0..3 {
                if is_right {
                    sum.fetch_add(1).await;
                } else {
                    let seen = sum.read().await;
                    sum.write(seen + 1).await;
                }
            }
            if done.fetch_add(1).await == 1 {
                assert_eq!(sum.read().await, 6, "nothing is lost");
            }
            if kind == 3 {
                ticks.read().await;
            }
        });
    }
    program.build()
}

#[test]
fn what_is_wrong_beside_an_endless_loop_is_found() {
    for kind in 0..4 {
        let told = mazurka::check(&beside(kind, false)).run().to_string();
        assert!(
            told.starts_with("Assertion failed: left == right: nothing is lost")
                || told.contains("nothing is lost"),
            "{kind}: {told}"
        );
    }
}

#[test]
fn a_program_that_runs_for_ever_is_never_verified() {
    for kind in 0..3 {
        let checked = mazurka::check(&beside(kind, true)).run();
        assert_eq!(checked.verdict(), Verdict::Incomplete, "{kind}: {checked}");
        assert_eq!(checked.outcome.stopped_by, Some(StopReason::Depth), "{kind}: {checked}");
        let told = checked.to_string();
        assert!(told.contains("every execution up to causal depth "), "{kind}: {told}");
    }
}

/// Who asks for a depth, an explorer or a number of executions gets these.
#[test]
fn limits_that_are_given_hold() {
    let checked = mazurka::check(&beside(0, false)).depth(5).run();
    assert_eq!(checked.outcome.stopped_by, Some(StopReason::Depth), "{checked}");
    let parsimonious = "parsimonious".parse::<Setting>().expect("it cannot measure depths");
    let checked = mazurka::check(&beside(0, true)).explorer(parsimonious).run();
    assert_eq!(checked.outcome.stopped_by, Some(StopReason::Endless), "{checked}");
}
