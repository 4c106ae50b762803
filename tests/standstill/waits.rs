//! Random programs whose processes wait in loops.

use super::Rng;

/// Messages that are taken in an order that needs no buffers, or does. Before and after some of
/// them their sender writes a cell, or has a lock, for which their receiver waits in a loop. Some
/// loops do more in each round, and some sends are tested in a loop.
pub fn waits(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let (ranks, cells) = (2 + usize::from(rng.chance(30)), 1 + rng.below(2));
    let mut lines = vec![String::new(); ranks];
    for n in 0..2 + rng.below(2) {
        let from = rng.below(ranks);
        let to = (from + 1 + rng.below(ranks - 1)) % ranks;
        let (cell, value) = (rng.below(cells), rng.below(2));
        let (send, receive) = (format!("send(m[{to}], 0);"), format!("recv(m[{to}]);"));
        match rng.below(10) {
            0..3 => {
                lines[from] += &format!("x{cell} = {value}; {send} x{cell} = {};", 1 - value);
                let also = match rng.chance(30) {
                    true => format!(" && x{} == {}", rng.below(cells), rng.below(2)),
                    false => String::new(),
                };
                // What a round does beside looking at the cells.
                let mailbox = format!("m[{to}]");
                let (before, round, receive) = match rng.below(12) {
                    0 => (String::new(), format!("probe({mailbox});"), receive),
                    1 => (String::new(), format!("let (_a, _b, _c) = iprobe({mailbox});"), receive),
                    2 => {
                        let look = format!("if x{} == 0 {{ probe({mailbox}); }}", rng.below(cells));
                        (String::new(), look, receive)
                    }
                    asks @ 3..7 => {
                        let begin = format!("let r{n} = irecv({mailbox});");
                        let asks = if asks % 2 == 0 { "wait" } else { "test" };
                        let round = match rng.chance(30) {
                            true => format!("if choose(0..2) == 0 {{ {asks}(r{n}); }}"),
                            false => format!("{asks}(r{n});"),
                        };
                        (begin, round, format!("wait(r{n});"))
                    }
                    7 => {
                        let either = format!("if choose(0..2) == 0 {{ probe({mailbox}); }}");
                        (String::new(), either, receive)
                    }
                    _ => (String::new(), String::new(), receive),
                };
                let condition = format!("x{cell} == {value}{also}");
                lines[to] += &format!("{before} while {condition} {{ {round} }} {receive}");
            }
            3 => {
                lines[from] += &format!("lock(l); {send} unlock(l);");
                lines[to] += &format!("while !try_lock(l) {{}} unlock(l); {receive}");
            }
            4 => lines[from] += &format!("x{cell} = {value};"),
            5 | 6 => {
                // The send is tested in a loop.
                let condition = match rng.chance(50) {
                    true => format!("!test(s{n})"),
                    false => format!("!test(s{n}) && x{cell} == {value}"),
                };
                let begin = format!("let s{n} = isend(m[{to}], 0);");
                lines[from] += &format!("{begin} while {condition} {{}} wait(s{n});");
                lines[to] += &receive;
            }
            7 => lines[from] += &format!("while x{cell} == {value} {{}}"),
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
