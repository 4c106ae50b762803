//! Programs to be searched up to a depth: known ones, and random ones without an end.

use crate::random_models::Rng;

/// Small programs in which a bound cuts at a critical place.
pub const KNOWN: &[&str] = &[
    // A write that is too high after a read, and not before it.
    "shared x: int = 0; process P { x = 1; } process Q { let d = x; }",
    "shared x: int = 0; process P { while x == 0 {} } process Q { x = 1; }",
    // W is too high after R has read y, and would be a race with S below the bound.
    "shared x: int = 0; shared y: int = 0; process V { x = 1; } process W { y = 1; }
     process R { let a = x; let b = y; } process S { let a = y; let b = x; }",
    "shared x: int = 0; process P[i in 0..3] { let d = x; } process Q { local(\"a\"); x = 1; let e = x; }",
    // Up to 3, `optimal` and `source` in the order `lca` would miss a class.
    "mailbox a: int; process P { let c = isend(a, 1); let v = choose(0..2); if v == 1 { let d = irecv(a); } }
     process Q { let v = recv(a); } process R { let c = isend(a, 2); let b = test(c); wait(c); }",
    // A test of two, one of which is completed too late for it.
    "mailbox a: int; mailbox b: int;
     process P { let c = irecv(a); let d = irecv(b); let k = testany([c, d]); }
     process Q { local(\"q\"); isend(a, 1); } process R { isend(b, 2); }",
    "shared x: int = 0; mutex m;
     process P { lock(m); x = 1; unlock(m); } process Q { while true { x = 2; let y = x; } }",
    "semaphore s = 0; process P { while true { acquire(s); } } process Q { while true { release(s); } }",
    "mailbox m: int; process P[i in 0..2] { while true { isend(m, i); } }
     process Q { while true { let v = recv(m); } }",
    "barrier b(2); shared x: int = 0; process P[i in 0..2] { while true { x = i; barrier(b); } }",
    "actor A { var x = 0; on N() { x = 1; } internal T when x == 0 { assert(false); } } init { send(A, N()); }",
];

/// The number of programs: `count`, unless `MAZURKA_PROGRAMS` is set.
fn asked_or(count: usize) -> u64 {
    let asked = std::env::var("MAZURKA_PROGRAMS").ok();
    asked.map_or(count as u64, |asked| asked.parse().expect("MAZURKA_PROGRAMS is a number"))
}

/// `count` programs of processes that repeat the same for ever.
pub fn endless_processes(count: usize) -> Vec<String> {
    (0..asked_or(count)).map(endless).collect()
}

fn endless(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = String::from(
        "shared x: int = 0; shared y: int = 0; mailbox m: int; mutex l; semaphore s = 1;\n",
    );
    for process in 0..rng.range(2, 4) {
        let length = rng.range(1, 4);
        let body: String = (0..length).map(|n| statement(&mut rng, n)).collect();
        let head = *rng.pick(&["while true", "while true", "while x != 2"]);
        text += &format!("process P{process} {{ {head} {{ {body}}} }}\n");
    }
    text
}

fn statement(rng: &mut Rng, number: usize) -> String {
    let cell = *rng.pick(&["x", "y"]);
    let value = rng.below(3);
    match rng.below(14) {
        0 | 1 => format!("{cell} = {value}; "),
        2 | 3 => format!("let r{number} = {cell}; "),
        4 => format!("let c{number} = cas({cell}, 0, {value}); "),
        5 => format!("let f{number} = fetch_add({cell}, 1); "),
        6 => "lock(l); unlock(l); ".into(),
        7 => "acquire(s); release(s); ".into(),
        8 => format!("isend(m, {value}); "),
        9 => format!("let q{number} = irecv(m); let t{number} = test(q{number}); "),
        10 => format!("let d{number} = choose(0..2); if d{number} == 1 {{ {cell} = {value}; }} "),
        11 => format!("let h{number} = async_lock(l); let k{number} = mutex_test(l); unlock(l); "),
        12 => format!("assert({cell} != 2); "),
        _ => "local(\"a\"); ".into(),
    }
}

/// `count` programs of actors that never run out of messages, some with guards that become false
/// again.
pub fn endless_actors(count: usize) -> Vec<String> {
    (0..asked_or(count)).map(endless_cast).collect()
}

fn endless_cast(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let count = rng.range(1, 4);
    let mut text = String::new();
    let (is_guarded, internals) = (rng.chance(40), rng.chance(20));
    for actor in 0..count {
        let handler = |rng: &mut Rng, name: &str| {
            let guard = match is_guarded && rng.chance(40) {
                true => format!(" when s == {}", rng.below(2)),
                false => String::new(),
            };
            let to = rng.below(count);
            let state = rng.below(3);
            let what = *rng.pick(&["A", "B"]);
            let send = format!("send(R{to}, {what}()); ");
            let more = *rng.pick(&["", "", "s = 1 - s; ", "assert(s != 2); "]);
            let set = if rng.chance(40) { format!("s = {state}; ") } else { String::new() };
            format!("  {name}{guard} {{ {set}{more}{send}}}\n")
        };
        let mut body = handler(&mut rng, "on A()") + &handler(&mut rng, "on B()");
        if internals && rng.chance(60) {
            body +=
                &format!("  internal T when s == {} {{ s = {}; }}\n", rng.below(2), rng.below(3));
        }
        text += &format!("actor R{actor} {{\n  var s = 0;\n{body}}}\n");
    }
    let start: String = (0..rng.range(1, 4))
        .map(|_| format!("send(R{}, {}()); ", rng.below(count), rng.pick(&["A", "B"])))
        .collect();
    text + &format!("init {{ {start}}}\n")
}
