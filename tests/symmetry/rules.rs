//! Each rule of the analysis by itself: programs that look symmetric and are not, and programs that
//! are. All are compared with the judge, too.

use mazurka::model::System;

use super::{compare, read};

const START: &str = "const N = 3;\nshared last: int = -1;\nshared count: int = 0;\n\
    shared flag: [bool; N] = false;\nshared heard: {int} = {};\nmutex own[N];\n\
    mailbox box: int;\n";

/// A program of symmetric processes with this body, and what else there is.
fn program(body: &str, rest: &str) -> String {
    format!("{START}symmetric process W[i in 0..N] {{ {body} }}\n{rest}")
}

/// The warning that says why the processes are not symmetric.
fn reason(text: &str) -> Option<String> {
    let program = read(text);
    let has_symmetry = program.foresight().symmetry().is_some();
    let mut warnings = program.warnings().iter().map(ToString::to_string);
    let reason = warnings.find(|one| one.contains("not symmetric"));
    assert_eq!(reason.is_none(), has_symmetry, "{reason:?}\n{text}");
    reason
}

#[test]
fn what_breaks_the_symmetry_is_named() {
    for (body, rest, said) in [
        ("if i < 1 { count = 1; }", "", "compared by more than `==`"),
        ("count = i + 1;", "", "computed with"),
        ("count = -i;", "", "computed with"),
        ("if i == 0 { count = 1; }", "", "0 is one of the indices"),
        ("last = i; let x = last; if x == 2 { count = 1; }", "", "2 is one of the indices"),
        ("flag[1] = true; flag[i] = true;", "", "1 is one of the indices"),
        ("lock(own[i]); unlock(own[i]); lock(own[0]);", "", "0 is one of the indices"),
        ("last = i;", "process M { last = 1; }", "1 is one of the indices"),
        ("last = i;", "process M { fetch_add(last, 2); }", "computed with"),
        ("last = i;", "final { assert(last < 3); }", "compared by more than `==`"),
        ("last = i;", "final { assert(last != 1); }", "1 is one of the indices"),
        ("last = i;", "invariant { assert(W[0].i == 0); }", "0 is one of the indices"),
        ("let k = i; last = k;", "final { for j in 1..N { assert(W[j].k == j); } }", "only 1..3"),
        ("flag[i] = true;", "final { for j in 1..N { assert(flag[j]); } }", "only 1..3"),
        ("for j in 0..N { flag[j] = true; } last = i;", "process M { flag[0] = last == 5; }", ""),
        ("flag[i] = true; for j in 0..N { flag[j] = true; }", "", "a loop counts in this order"),
        ("var x = i; for j in 0..N { x = j; } last = x;", "", "a loop counts in this order"),
        (
            "heard = heard union {i}; var x = i; for y in heard { x = y; } last = x;",
            "",
            "the elements of a set in order",
        ),
        ("let k = choose(0..2); if k == i { count = 1; }", "", "only 0..2"),
        ("let k = choose(0..count + 3); if k == i { count = 1; }", "", "bounds of this choice"),
        ("let l = [7, 8, 9]; count = l[i];", "", "the items of this list have their places"),
        ("let l = [false; 2]; if l[i] { count = 1; }", "", "there are only 2 places"),
        ("let l = push([i], i); last = l[0];", "", ""),
        ("let m = {i: i}; let v = values(m); last = v[0];", "", "in the order of the keys"),
        ("heard = {i}; let s = heard; last = i; if len(s) == i { count = 1; }", "", "elements"),
        ("if i in 0..2 { count = 1; }", "", "a range is an order"),
        ("let c = [irecv(box)]; isend(box, i); if waitany(c) == i { count = 1; }", "", "a place"),
        ("last = i;", "process V[i in 0..2] { if last == i { count = 1; } }", "which has others"),
        ("last = i;", "process P(x: int) { last = x; } process M { spawn P(-1); }", "spawned"),
        ("let c = irecv(box); isend(box, i); wait(c); last = value(c);", "", "`value`"),
        ("flag[(i + 1) % 2] = true;", "", "the remainder by 2"),
        ("let k = last; if k != -1 { last = (k + 1) % N; } last = i;", "", "has no next one"),
        ("last = (i - 1) % N;", "", "computed with"),
        (
            "count = recv(net[i]);",
            "p2p mailbox net[N]: int partitioned; \
             process S { send(net[choose(0..N)], 1); send(net[choose(0..N)], 2); }",
            "cross a cut of the network",
        ),
        (
            "local(\"late\"); let late = i; local(\"later\"); last = late;",
            "invariant { assert(forall j in 0..N: W[j].late == j); }",
            "not always in scope",
        ),
        (
            "var k = i; let m = {i: true}; if exists j in 0..N: m[j] { last = k; }",
            "",
            "may not be there",
        ),
    ] {
        let text = program(body, rest);
        let reason = reason(&text);
        if !said.is_empty() {
            let reason = reason.unwrap_or_else(|| panic!("taken to be symmetric:\n{text}"));
            assert!(reason.contains(said), "{reason}\n{text}");
        }
        compare(&text);
    }
}

#[test]
fn what_keeps_the_symmetry_is_found() {
    for (body, rest) in [
        ("last = i;", ""),
        ("if cas(last, -1, i) { count = 1; }", ""),
        ("if last == -1 { last = i; }", "final { assert(last != -1); }"),
        ("flag[i] = true;", "final { assert(forall j in 0..N: flag[j]); }"),
        ("flag[i] = true;", "final { for j in 0..N { assert(flag[j]); } }"),
        ("flag[i] = last == i;", "invariant { for j in 0..N { assert(!flag[j] || j == j); } }"),
        ("lock(own[i]); last = i; unlock(own[i]);", ""),
        ("isend(box, i);", "process M { let k = recv(box); flag[k] = true; last = k; }"),
        ("let k = choose(0..N); flag[k] = true; if k == i { count = 1; }", ""),
        ("heard = heard union {i}; if i in heard { count = 1; }", ""),
        ("heard = heard union {i}; let s = heard; let k = choose(s); flag[k] = true;", ""),
        (
            "var marks = [false; N]; marks[i] = true; if forall j in 0..N: marks[j] { last = i; }",
            "",
        ),
        (
            "var n = 0; var marks = [false; N]; marks[choose(0..N)] = true; \
             for j in 0..N { if marks[j] { n += 1; } } count = n;",
            "",
        ),
        ("let s = {(j, true) for j in 0..N if j != i}; if (last, true) in s { count = 1; }", ""),
        ("let m = {j: j == i for j in 0..N}; flag[i] = m[i];", ""),
        (
            "var k = i; local(\"a\"); k = -1;",
            "invariant { assert(forall j in 0..N: W[j].k != 7); }",
        ),
        ("last = i;", "process V[j in 0..N] { if last == j { flag[j] = true; } }"),
        ("local(\"a\"); local(\"b\");", ""),
        ("count = [4, 5, 6][choose(0..2)];", ""),
    ] {
        let text = program(body, rest);
        assert_eq!(reason(&text), None, "{text}");
        assert!(!compare(&text).is_empty(), "{text}");
    }
}

#[test]
fn rings_are_rotated() {
    for body in [
        "flag[(i + 1) % N] = true;",
        "last = (i + N - 1) % N;",
        "lock(own[i]); lock(own[(i + 1) % N]); unlock(own[i]); unlock(own[(i + 1) % N]);",
    ] {
        let text = program(body, "");
        let program = read(&text);
        let groups = program.foresight().symmetry().expect("a ring").groups().to_vec();
        assert!(groups[0].is_ring, "{text}");
        let warning = program.warnings().iter().next().map(ToString::to_string);
        assert!(warning.is_some_and(|text| text.contains("only rotations are left")), "{text}");
        assert_eq!(compare(&text), [3], "{text}");
    }
}

#[test]
fn the_place_of_what_breaks_it_is_shown() {
    let text = "process Q { local(\"q\"); }\nsymmetric process W[i in 0..2] {\n    local(\"a\");\n    \
                assert(i < 2);\n}\n";
    let shown = read(text).warnings().render(false);
    assert!(shown.contains("program.maz:2:1"), "{shown}");
    assert!(shown.contains("assert(i < 2)") && shown.contains("here"), "{shown}");
    let one = "symmetric process W { local(\"a\"); }";
    let shown = read(one).warnings().render(false);
    assert!(shown.contains("`W` has no index"), "{shown}");
    let name = "process symmetric { let symmetric = 1; assert(symmetric == 1); }";
    assert!(read(name).warnings().is_empty());
    let daemon = "mailbox m: int; symmetric daemon process D[i in 0..2] { recv(m); }\n\
                  process P { isend(m, 1); }";
    assert!(read(daemon).warnings().is_empty());
    assert_eq!(compare(daemon), [2]);
}

/// The judge does not follow the carriers of a network. But the orbits have as many states in all
/// as there are.
#[test]
fn messages_of_a_network_are_renamed() {
    let start = "const N = 3; p2p mailbox inbox, own[N]; bag mailbox bag: int;\n";
    for body in [
        "process W[i in 0..N] { isend(inbox, i); }\nprocess M { let k = recv(inbox); recv(inbox); \
         send(own[k], k); }",
        "process W[i in 0..N] { issend(inbox, i, tag: 2); }\nprocess M { for _ in 0..N { \
         let k = recv(inbox, tag: 2); } }",
        "process W[i in 0..N] { isend(bag, i); isend(bag, i); }\nprocess M { recv(bag); \
         let k = recv(bag); recv(bag); }",
        "process W[i in 0..N] { let c = irecv(own[i]); isend(inbox, i); let k = wait(c); \
         assert(k == i); }\nprocess M { let k = recv(inbox); send(own[k], k); let l = recv(inbox); \
         send(own[l], l); }",
        "process W[i in 0..N] { isend(inbox, 7, src: i); }\nprocess M { var from = -1; \
         from = choose(0..N); recv(inbox, src: from); }",
    ] {
        let text = format!("{start}{body}");
        let program = read(&text);
        let [merged, whole] = [true, false].map(|on| super::search(&program, on));
        assert_eq!(merged.verdict(), whole.verdict(), "{text}");
        let figures = merged.stats.symmetry.as_ref().expect("symmetry");
        assert_eq!(figures.stands_for, whole.stats.states, "{:?}\n{text}", merged.stats.states);
        assert!(merged.stats.states < whole.stats.states, "{text}");
    }
}
