//! Standstills of processes that wait in loops for a cell, or try a lock: what such a loop finds may be gone again, before
//! another process stands still.

use mazurka::explore::{EveryState, NoObserver, explore};
use mazurka::lang::compile;
use mazurka::model::Completion;

use super::{Chosen, Open, all, is_found, is_stuck};
use crate::judge::STATEFUL;
use crate::random_models::{self, Erased, Rng};

/// Messages that are taken in an order that needs no buffers, or does. Before and after some of
/// them their sender writes a cell, or has a lock, for which their receiver waits in a loop.
fn waits(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let (ranks, cells) = (2 + usize::from(rng.chance(30)), 1 + rng.below(2));
    let mut lines = vec![String::new(); ranks];
    for _ in 0..2 + rng.below(2) {
        let from = rng.below(ranks);
        let to = (from + 1 + rng.below(ranks - 1)) % ranks;
        let (cell, value) = (rng.below(cells), rng.below(2));
        let (send, receive) = (format!("send(m[{to}], 0);"), format!("recv(m[{to}]);"));
        match rng.below(8) {
            0..3 => {
                lines[from] += &format!("x{cell} = {value}; {send} x{cell} = {};", 1 - value);
                let also = match rng.chance(30) {
                    true => format!(" && x{} == {}", rng.below(cells), rng.below(2)),
                    false => String::new(),
                };
                lines[to] += &format!("while x{cell} == {value}{also} {{}} {receive}");
            }
            3 => {
                lines[from] += &format!("lock(l); {send} unlock(l);");
                lines[to] += &format!("while !try_lock(l) {{}} unlock(l); {receive}");
            }
            4 => lines[from] += &format!("x{cell} = {value};"),
            5 => lines[from] += &format!("while x{cell} == {value} {{}}"),
            _ => {
                lines[from] += &send;
                lines[to] += &receive;
            }
        }
    }
    let start = rng.below(2);
    let mut text = format!("bag mailbox m[{ranks}]: int; mutex l;");
    (0..cells).for_each(|cell| text += &format!(" shared x{cell}: int = {start};"));
    for (rank, own) in lines.iter().enumerate() {
        let daemon = if rng.chance(15) { "daemon " } else { "" };
        text += &format!("\n{daemon}process P{rank} {{ {own} }}");
    }
    text
}

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
        let open = Open::of(&program, Completion::Either);
        is_found(&program, &open, expected, || format!("seed {seed}\n{text}"));
        still += usize::from(expected);
        right += usize::from(!expected);
    }
    assert!(still > 10 && right > 10, "{still} {right}");
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
    let orders = [format!("{waits} {sends}"), format!("{sends} {waits}")];
    let others = [format!("{waits} {spawns}"), both.into(), tries.into()];
    for text in orders.into_iter().chain(others) {
        let text = format!("bag mailbox m: int; shared x: int = 1; {text}");
        let program = compile("gone.maz", &text, &[]).expect("a program");
        let open = Open::of(&program, Completion::Either);
        is_found(&program, &open, true, || text.clone());
    }
}
