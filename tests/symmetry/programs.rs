//! Random programs whose processes differ in little but their indices.
//!
//! Some have something in them that tells the indices apart.

use std::fmt::Write;

use crate::random_models::rng::Rng;

/// The statements of a process. `@` stands for its index, `$` for a variable that has one or -1.
const STATEMENTS: &[&str] = &[
    "last = @;",
    "last = $;",
    "if last == @ { flag[@] = true; } else { lock(m); unlock(m); }",
    "if cas(last, -1, @) { flag[@] = true; }",
    "$ = choose(0..N);",
    "$ = last;",
    "if $ != -1 { flag[$] = true; }",
    "if $ == @ { swap(last, -1); }",
    "flag[@] = !flag[@];",
    "to[@] = $;",
    "if $ != -1 { $ = to[$]; }",
    "lock(m); $ = last; last = @; unlock(m);",
    "lock(own[@]); unlock(own[@]);",
    "if $ != -1 { lock(own[$]); lock(m); unlock(m); unlock(own[$]); }",
    "seen = seen union {@};",
    "if $ != -1 { seen = seen union {$}; }",
    "heard = heard union seen;",
    "heard = heard union {@};",
    "seen = heard;",
    "if @ in seen { seen = seen minus {@}; }",
    "if len(seen) > 0 { $ = choose(seen); }",
    "isend(box, @);",
    "isend(box, $);",
    "$ = recv(box);",
    "isend(reply[@], $);",
    "if $ != -1 { isend(reply[$], @); }",
    "$ = recv(reply[@]);",
    "send(pair, (@, $));",
    "let (a, c) = recv(pair); if a == @ { $ = c; }",
    "marks[@] = true;",
    "if $ != -1 { marks[$] = !marks[$]; }",
    "if forall j in 0..N: marks[j] { local(\"all\"); }",
    "for j in 0..N { if marks[j] { n += 1; } }",
    "assert(exists j in 0..N: j == @);",
    "assert($ != @);",
    "acquire(s); release(s);",
    "acquire(s);",
    "release(s);",
    "count_down(l);",
    "barrier(b);",
    "n = choose(5..7);",
    "count += 1;",
    "book[@] = $;",
    "if $ in book { $ = book[$]; }",
    "if @ in keys(book) { n += len(book); }",
    "seen = {x for x in seen if x != @};",
    "if exists x in seen: x == $ { count = n; }",
    "read_lock(rw); unlock(rw);",
    "write_lock(rw); flag[@] = true; unlock(rw);",
    "if try_lock(t) { last = @; unlock(t); }",
];

/// Statements that break the symmetry, each in its own way.
const BREAKING: &[&str] = &[
    "if @ == 0 { last = @; }",
    "flag[0] = true;",
    "last = 1;",
    "if @ < 1 { count += 1; }",
    "count = @ + 1;",
    "for j in 0..N { flag[j] = true; }",
    "for j in 0..N { if marks[j] { $ = j; } }",
    "for x in seen { $ = x; }",
    "$ = choose(0..N - 1);",
    "if $ != -1 { n = choose($..N); }",
    "for _ in 0..$ { n += 1; }",
    "let c = irecv(box); var all = [c; N]; all[@] = irecv(reply[@]); n = testany(all);",
    "$ = len(seen);",
    "if $ != -1 { n = [4, 5, 6, 7][$]; }",
    "let all = [j for j in 0..N]; $ = all[n % N];",
    "isend(box, n % N);",
    "let c = [irecv(reply[@]), irecv(box)]; $ = waitany(c);",
];

/// Statements of rings.
const ROUND: &[&str] = &[
    "flag[(@ + 1) % N] = true;",
    "isend(reply[(@ + 1) % N], @);",
    "last = (@ + N - 1) % N;",
    "if last == (@ + 1) % N { count += 1; }",
    "lock(own[@]); lock(own[(@ + 1) % N]); unlock(own[@]); unlock(own[(@ + 1) % N]);",
];

const ASSERTIONS: &[&str] = &[
    "assert(last != -1);",
    "assert(forall j in 0..N: flag[j]);",
    "assert(exists j in 0..N: W[j].k == j);",
    "for j in 0..N { assert(to[j] != j); }",
    "for i in 0..N { for j in 0..N { assert(i == j || W[i].k != W[j].k || W[i].k == -1); } }",
    "assert(len(heard) < N);",
    "assert(forall x in heard: flag[x]);",
    "assert(forall i in 0..N: W[i].n < 6);",
    "assert(count < 3);",
];

const BREAKING_ASSERTIONS: &[&str] = &[
    "assert(!flag[0]);",
    "assert(W[1].k != 0);",
    "assert(last != 1);",
    "assert(last < 1);",
    "assert(exists j in 0..N: flag[j] || W[7].k == j);",
    "for i in 0..N { for j in 0..(if i == 1 { 2 } else { 1 }) { assert(!flag[i] || j == 0); } }",
    "var n = 0; for _ in 0..last { n += 1; } assert(n != 1);",
    "for i in 1..N { assert(W[i].k == -1); }",
    "assert(exists j in 0..N: j > 0 && flag[j]);",
];

/// Statements of processes that receive at p2p and bag mailboxes.
const NETWORK: &[&str] = &[
    "isend(net[@], @);",
    "if $ != -1 { isend(net[$], @); }",
    "if $ != -1 { isend(bags[$], @); }",
    "isend(bags[@], 5); isend(bags[@], @);",
    "if $ != -1 { isend(net[$], $, src: @, tag: 1); }",
    "$ = recv(net[@]) timeout { -1 };",
    "$ = recv(net[@], src: @) timeout { $ };",
    "$ = recv(bags[@]) timeout { @ };",
    "$ = recv(net[@], tag: 1) timeout { -1 };",
    "let (found, from, tag) = iprobe(net[@]); if found { $ = from; } else { n = tag; }",
    "let (found, from, _t) = iprobe(bags[@]); $ = from; if found { last = @; }",
    "let (from, tag) = probe(net[@]); $ = recv(net[@], src: from); n = tag;",
    "if $ != -1 { let (f, _s, _t) = iprobe(net[@], src: $); if f { flag[$] = true; } }",
    "let c = irecv(net[@]); if test(c) { $ = wait(c); }",
    "let c = irecv(bags[@]); if test(c) { last = @; } $ = wait(c);",
    "let c = irecv(net[@], src: @); if !test(c) { flag[@] = true; }",
    "isend(hub, @);",
    "isend(hub, 7);",
    "isend(marked, @, tag: @);",
    "send(lost, @);",
    "send(lost, $);",
    "send(twice, @);",
    "send(twice, $);",
    "if try_lock(t) { last = @; unlock(t); }",
    "$ = last;",
    "last = @;",
    "$ = choose(0..N);",
    "$ = @;",
    "flag[@] = !flag[@];",
];

/// Statements of a process that has the hub.
const OF_HUB: &[&str] = &[
    "$ = recv(hub);",
    "$ = recv(hub) timeout { -1 };",
    "let (f, from, _t) = iprobe(hub); if f { $ = from; }",
    "let (from, tag) = probe(marked); $ = recv(marked, tag: tag); last = from;",
    "$ = recv(marked, tag: $) timeout { -1 };",
    "if $ != -1 { isend(net[$], $, src: $); }",
    "$ = recv(lost) timeout { -1 };",
    "$ = recv(twice); flag[$] = true;",
    "$ = recv(twice) timeout { -1 }; last = $;",
    "$ = choose(0..N);",
    "last = $;",
];

/// Statements that break the symmetry of a network.
const BREAKING_NETWORK: &[&str] = &[
    "isend(marked, @);",
    "$ = recv(net[@], tag: @) timeout { -1 };",
    "$ = recv(net[@], src: 1) timeout { -1 };",
    "let (f, from, _t) = iprobe(net[@]); if f && from < 1 { last = @; }",
    "let (_f, from, _t) = iprobe(net[0]); $ = from;",
    "let (_f, _s, tag) = iprobe(net[@]); $ = tag;",
    "isend(net[@], @, src: 0);",
];

/// A program with a network, polls and faults.
pub fn random_network(rng: &mut Rng) -> String {
    let n = rng.range(2, 4);
    let mut text = format!("const N = {n};\n");
    text += "shared last: int = -1;\nshared flag: [bool; N] = false;\nmutex t;\n\
             p2p mailbox net[N]: int;\nbag mailbox bags[N]: int;\np2p mailbox hub: int;\n\
             p2p mailbox marked: int;\n";
    let limit = |rng: &mut Rng| *rng.pick(&["", " up to 1", " up to 1 in all"]);
    writeln!(text, "p2p mailbox lost: int lossy{};", limit(rng)).expect("a string");
    writeln!(text, "bag mailbox twice: int duplicating{};", limit(rng)).expect("a string");
    let crashes = match rng.range(0, 6) {
        0 => " crashes up to 1",
        1 => " crashes up to 1 in all",
        2 => " crashes up to 1, restarts",
        3 => " crashes up to 1 in all, restarts",
        _ => "",
    };
    let statements = rng.range(1, if n == 2 { 4 } else { 2 });
    let all = if rng.chance(10) { BREAKING_NETWORK } else { NETWORK };
    let mut body_of = lines(rng, statements, "i", |_| NETWORK);
    body_of += &lines(rng, 1, "i", |_| all);
    let durable = if crashes.contains("restarts") { "    durable var d = -1;\n" } else { "" };
    let keeps = if durable.is_empty() { "" } else { "    d = k; if d == i { last = d; }\n" };
    write!(text, "process W[i in 0..N]{crashes} {{\n{durable}    var k = -1;\n    var n = 0;\n")
        .expect("a string");
    write!(text, "{body_of}{keeps}    if n == 7 {{ last = i; }}\n}}\n").expect("a string");
    if rng.chance(60) {
        let first = rng.pick(&["k = recv(hub) timeout { -1 };", "k = last;", "k = choose(0..N);"]);
        let body_of = lines(rng, 1, "k", |_| OF_HUB);
        write!(text, "process M {{\n    var k = -1;\n    {first}\n{body_of}}}\n")
            .expect("a string");
    }
    if rng.chance(30) {
        let assertion = rng.pick(&ASSERTIONS[..3]);
        writeln!(text, "final {{ {assertion} }}").expect("a string");
    }
    text
}

fn body(rng: &mut Rng, count: usize, index: &str) -> String {
    lines(rng, count, index, |rng| match () {
        () if rng.chance(3) => BREAKING,
        () if rng.chance(6) => ROUND,
        () => STATEMENTS,
    })
}

fn lines(
    rng: &mut Rng,
    count: usize,
    index: &str,
    all: impl Fn(&mut Rng) -> &'static [&'static str],
) -> String {
    let mut text = String::new();
    for _ in 0..count {
        let all = all(rng);
        let line = rng.pick(all);
        // A process without an index acts in place of one that it knows.
        let line = line.replace('@', index).replace('$', "k");
        match index {
            "k" => writeln!(text, "    if k != -1 {{ {line} }}").expect("a string"),
            _ => writeln!(text, "    {line}").expect("a string"),
        }
    }
    text
}

const VARIABLES: &str = "    var k = -1;\n    var n = 0;\n    var seen: {int} = {};\n    \
                         var marks = [false; N];\n    var book: {int: int} = {};\n";

/// A program.
pub fn random(rng: &mut Rng) -> String {
    let n = rng.range(2, 5);
    let mut text = format!("const N = {n};\n");
    text += "shared last: int = -1;\nshared count: int = 0;\nshared flag: [bool; N] = false;\n\
             shared to: [int; N] = -1;\nshared heard: {int} = {};\nmutex m, own[N], t;\n\
             rwlock rw;\nmailbox box: int, reply[N]: int, pair: (int, int);\nsemaphore s = 1;\n\
             latch l(9);\nbarrier b(N);\n";
    let most = if n == 4 { 2 } else { 4 };
    let statements = rng.range(1, most + 1);
    let body_of = body(rng, statements, "i");
    write!(text, "process W[i in 0..N] {{\n{VARIABLES}{body_of}}}\n").expect("a string");
    if rng.chance(25) && n < 4 {
        let statements = rng.range(1, 3);
        let body_of = body(rng, statements, "i");
        write!(text, "process V[i in 0..N] {{\n{VARIABLES}{body_of}}}\n").expect("a string");
    }
    if rng.chance(15) {
        // Indices of their own, in a second group.
        text += "shared free: int = -1;\nprocess U[i in 0..2] { free = i; if free == i { lock(m); unlock(m); } }\n";
    }
    if rng.chance(40) {
        let first = rng.pick(&["k = recv(box);", "k = last;", "k = choose(0..N);"]);
        let statements = rng.range(1, 3);
        let body_of = body(rng, statements, "k");
        write!(text, "process M {{\n{VARIABLES}    {first}\n{body_of}}}\n").expect("a string");
    }
    for kind in ["final", "invariant"] {
        if rng.chance(30) {
            let all = if rng.chance(10) { BREAKING_ASSERTIONS } else { ASSERTIONS };
            let assertion = rng.pick(all);
            writeln!(text, "{kind} {{ {assertion} }}").expect("a string");
        }
    }
    text
}
