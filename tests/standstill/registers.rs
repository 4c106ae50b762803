//! Standstills of processes that wait in loops for a cell, or try a lock: what such a loop finds may
//! be gone again, before another process stands still.

use mazurka::explore::{AnyExplorer, EveryState, FinitePrefix, NoObserver, explore};
use mazurka::lang::compile;
use mazurka::model::Completion;

use super::waits::waits;
use super::{Chosen, all, is_found, is_stuck, opened};
use crate::cli::{run_with, stdout};
use crate::judge::STATEFUL;
use crate::random_models::{self, Erased};

#[test]
fn a_process_that_waits_for_a_register_stands_still() {
    let (mut still, mut right) = (0, 0);
    for seed in 0..random_models::asked(300) as u64 {
        let text = waits(seed);
        let program = compile("waits.maz", &text, &[]).unwrap_or_else(|errors| {
            panic!("{}\n{text}", errors.render(false));
        });
        let states = |system: &Erased<'_>| {
            let found = explore(system, EveryState::of(STATEFUL), all(), &mut NoObserver);
            assert!(found.is_complete(), "seed {seed}\n{text}");
            is_stuck(&found)
        };
        if states(&Erased::of(&program)) {
            continue;
        }
        let expected = states(&Erased::new(Chosen(&program)));
        let open = opened(&program, Completion::Either);
        is_found(&program, &open, expected, || format!("seed {seed}\n{text}"));
        still += usize::from(expected);
        right += usize::from(!expected);
    }
    assert!(still > 10 && right > 10, "{still} {right}");
}

/// Two entries that differ only in when they are complete. The states after them were taken for one.
#[test]
fn states_differ_in_when_an_entry_is_complete() {
    let text = "collective g(3); process P { bcast(g, 0, 1, as: 0); }";
    let program = compile("alone.maz", text, &[]).expect("a program");
    let chosen = Erased::new(Chosen(&program));
    for explorer in [EveryState::of(STATEFUL).into(), FinitePrefix::default().into()] {
        let explorer: AnyExplorer = explorer;
        assert!(is_stuck(&explore(&chosen, explorer, all(), &mut NoObserver)), "{explorer:?}");
    }
    let open = opened(&program, Completion::Either);
    is_found(&program, &open, true, || text.into());
}

/// P tests its send for ever, if it is not buffered. If it is, P fails: so there is no end without a
/// failure whose class would show the standstill, too.
const TESTED: &str = "shared y: int = 0; process Q { while x == 1 {} recv(m); }
    process P {
        let r = isend(m, 1);
        while y == 0 { if test(r) { y = 1; } }
        x = 0;
        assert(false);
    }";

/// The loop says for what it waits: not for what it may find at once, but need not.
#[test]
fn a_loop_waits_for_a_receive_of_what_it_sends() {
    let text = format!("bag mailbox m: int; shared x: int = 1; {TESTED}");
    for explorer in ["udpor", "prefix"] {
        let args = ["check", "-", "--explorer", explorer, "--buffering", "any", "--all"];
        let told = stdout(&run_with(&args, &text));
        let words: Vec<_> = told.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains(" a receive at m to match its send"), "{told}");
        assert!(words.contains(" could come from Q "), "{told}");
    }
}

/// The loop would go on until x is 0, and again when x is 1. In between the sender stands still if
/// its message is not buffered.
#[test]
fn what_a_loop_finds_may_be_gone_again() {
    let waits = "process Q { while x == 0 {} recv(m); }";
    let sends = "process P { x = 0; send(m, 1); x = 1; }";
    let spawns = "process Late() { x = 0; send(m, 1); x = 1; } process P { spawn Late(); }";
    let both = "process Q { while x == 0 || x == 2 {} recv(m); }
                process P { x = 2; x = 0; send(m, 1); x = 2; x = 1; }";
    let tries = "mutex l; process Q { while !try_lock(l) {} unlock(l); recv(m); }
                 process P { lock(l); send(m, 1); unlock(l); }";
    // What follows the next change of `x` is no standstill, what precedes the next one of `y` is.
    let either = "shared y: int = 1; process Q { while x == 0 || y == 0 {} recv(m); }
                  process P { y = 0; send(m, 1); y = 1; x = 2; }";
    let orders = [format!("{waits} {sends}"), format!("{sends} {waits}")];
    let others = [format!("{waits} {spawns}"), both.into(), tries.into(), either.into()];
    for text in orders.into_iter().chain(others).chain([TESTED.into()]) {
        let text = format!("bag mailbox m: int; shared x: int = 1; {text}");
        let program = compile("gone.maz", &text, &[]).expect("a program");
        let open = opened(&program, Completion::Either);
        is_found(&program, &open, true, || text.clone());
    }
}
