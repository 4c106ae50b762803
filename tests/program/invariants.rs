//! What must hold in every state.

use mazurka::check::Checked;
use mazurka::explore::{Budget, NoObserver, Udpor, Verdict, explore};
use mazurka::lang;
use mazurka::program::{Closures, Program};
use mazurka::systems::history::History;

use super::{EXPLORERS, all};

/// Peterson's algorithm, or a wrong one in which a process does not care whose turn it is.
fn entering(is_right: bool) -> History<Closures> {
    let mut program = Program::new();
    let flags = [program.cell("flag 0", false), program.cell("flag 1", false)];
    let (turn, inside) = (program.cell("turn", 0), program.cell("inside", 0));
    for me in 0..2 {
        program.process(format!("P{me}"), async move || {
            if is_right {
                flags[me].write(true).await;
            }
            turn.write(1 - me).await;
            while flags[1 - me].read().await && turn.read().await == 1 - me {}
            flags[me].write(true).await;
            inside.fetch_add(1).await;
            inside.fetch_sub(1).await;
            flags[me].write(false).await;
        });
    }
    program.invariant("one at a time", move |state| assert!(state.read(inside) <= 1, "two are"));
    program.build()
}

#[test]
fn an_invariant_holds_in_every_state_or_is_reported() {
    for explorer in EXPLORERS {
        let right = all(&entering(true), explorer);
        assert_eq!(right.verdict(), Verdict::Ok, "{explorer}: {right}");
        let wrong = all(&entering(false), explorer).to_string();
        assert!(
            wrong.contains("Assertion failed: one at a time: two are ("),
            "{explorer}: {wrong}"
        );
        assert!(wrong.contains("where inside = 2"), "{wrong}");
    }
}

/// The sum of two cells is never 2, though both are 1 at some time, one after the other.
#[test]
fn an_invariant_of_several_objects_is_as_in_a_model() {
    let model = "shared a: int = 0; shared b: int = 0;
         process P { a = 1; a = 0; }
         process Q { b = 1; b = 0; }
         invariant { assert(a + b < LIMIT); }";
    for (limit, fails) in [(3, false), (2, true)] {
        let defines = [("LIMIT".to_string(), limit.to_string())];
        let model = format!("const LIMIT = 0;\n{model}");
        let model = lang::compile("model.maz", &model, &defines).expect("a valid model");
        for explorer in EXPLORERS {
            let mut program = Program::new();
            let cells = ["a", "b"].map(|name| program.cell(name, 0));
            for (name, cell) in ["P", "Q"].into_iter().zip(cells) {
                program.process(name, async move || {
                    cell.write(1).await;
                    cell.write(0).await;
                });
            }
            program.invariant("few", move |state| {
                assert!(state.read(cells[0]) + state.read(cells[1]) < limit);
            });
            let (ours, theirs) = (all(&program.build(), explorer), all(&model, explorer));
            let figures = |checked: &Checked| {
                (checked.verdict(), checked.stats().traces, checked.violations().len())
            };
            assert_eq!(figures(&ours), figures(&theirs), "{explorer}: {ours}\n{theirs}");
            assert_eq!(!ours.is_ok(), fails, "{ours}");
        }
    }
}

#[test]
fn mailboxes_and_what_locks_guard_may_be_read() {
    let failing = |n: usize| {
        let mut program = Program::new();
        let (inbox, list) = (program.mailbox("inbox"), program.mutex("list", Vec::new()));
        let table = program.rwlock("table", 0);
        program.process("P", async move || {
            inbox.send(1).await;
            inbox.send(2).await;
            list.lock().await.push(1);
            *table.write().await += 1;
            inbox.recv().await;
        });
        program.invariant("it holds", move |state| {
            assert!(n != 0 || state.len(inbox) < 2, "two wait");
            assert!(n != 1 || state.inside(list).is_empty(), "it is not empty");
            assert!(n != 2 || state.inside_rwlock(table) == 0, "it has changed");
        });
        mazurka::check(&program.build()).run().to_string()
    };
    for (n, expected, reads) in [
        (0, "two wait", "len(inbox) = 2"),
        (1, "it is not empty", "list = [1]"),
        (2, "it has changed", "table = 1"),
    ] {
        let told = failing(n);
        assert!(told.starts_with(&format!("Assertion failed: it holds: {expected} (")), "{told}");
        assert!(told.contains(reads), "{told}");
    }
    assert!(failing(3).starts_with("Verified"));
}

/// What is read depends on what was read before, so it is found out on the way.
fn curious() -> History<Closures> {
    let mut program = Program::new();
    let (first, second) = (program.cell("first", 0), program.cell("second", 0));
    program.process("P", async move || {
        first.write(1).await;
        first.write(0).await;
    });
    program.process("Q", async move || {
        second.write(1).await;
        second.write(0).await;
    });
    program.invariant("never both", move |state| {
        if state.read(first) == 1 {
            assert_ne!(state.read(second), 1, "both are set");
        }
    });
    program.build()
}

#[test]
fn what_an_invariant_reads_is_found_out() {
    for explorer in EXPLORERS {
        let told = all(&curious(), explorer).to_string();
        let expected =
            "Assertion failed: never both: assertion failed: left != right: both are set";
        assert!(told.contains(expected), "{explorer}: {told}");
        assert!(!told.contains("not known before"), "{explorer}: {told}");
    }
}

/// A search that cannot be done again does not say that all is well.
#[test]
fn a_search_that_does_not_know_what_is_read_is_no_proof() {
    let budget = Budget { all: true, ..Budget::default() };
    let outcome = explore(&curious(), Udpor::default(), budget, &mut NoObserver);
    assert_eq!(outcome.verdict(), Verdict::Error);
    let said = outcome.violations.iter().filter_map(|violation| violation.failure.as_ref());
    let said: Vec<_> = said.map(|failure| &*failure.message).collect();
    assert!(said.iter().any(|message| message.contains("not known before")), "{said:?}");
}
