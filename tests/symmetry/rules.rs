//! Each rule of the analysis by itself: programs that look symmetric and are not, and programs that
//! are. All are compared with the judge, too.

use mazurka::explore::{Budget, FinitePrefix, NoObserver, explore};
use mazurka::model::System;

use super::{compare, read};

const START: &str = "const N = 3;\nshared last: int = -1;\nshared count: int = 0;\n\
    shared flag: [bool; N] = false;\nshared heard: {int} = {};\nmutex own[N];\n\
    mailbox box: int;\n";

/// A program of symmetric processes with this body, and what else there is.
pub fn program(body: &str, rest: &str) -> String {
    format!("{START}symmetric process W[i in 0..N] {{ {body} }}\n{rest}")
}

/// The warning that says why the processes are not symmetric.
pub fn reason(text: &str) -> Option<String> {
    let program = read(text);
    let has_symmetry = program.foresight().symmetry().is_some();
    let mut warnings = program.warnings().iter().map(ToString::to_string);
    let reason = warnings.find(|one| one.contains("not symmetric"));
    assert_eq!(reason.is_none(), has_symmetry, "{reason:?}\n{text}");
    reason
}

/// Compares each of these programs with the judge. It must not be symmetric, for this reason; without
/// one it may be.
pub fn assert_broken(rows: &[(&str, &str, &str)]) {
    for (body, rest, said) in rows {
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
fn what_breaks_the_symmetry_is_named() {
    assert_broken(&[
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
        (
            "if cas(count, 0, 1) { flag[i] = true; }",
            "final { var n = 0; for j in 0..N { if flag[j] { assert(n == 0); } n += 1; } }",
            "a loop counts in this order",
        ),
        (
            "if cas(count, 0, 1) { flag[i] = true; }",
            "final { var n = 0; for j in 0..N { if flag[j] { n = 1; } else { n = 2; } } assert(n == 2); }",
            "a loop counts in this order",
        ),
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
        ("let s = {0, 5}; if i in s { count = 1; }", "", "0 is one of the indices"),
        (
            "if low(i) { count = 1; }",
            "fn low(n: int) -> bool { n < 1 }",
            "compared by more than `==`",
        ),
        (
            "let k = i; let z = 7; if same(5, k) == 1 { count = z; }",
            "fn same(m: int, n: int) -> int { if m == 6 { return n; } n }",
            "1 is one of the indices",
        ),
        ("let m = {0: true, 7: false}; if i in m { count = 1; }", "", "0 is one of the indices"),
        ("let m = {0: true} minus {i}; count = len(keys(m));", "", "0 is one of the indices"),
        ("if first == i { count = 1; }", "shared first: int = 1;", "1 is one of the indices"),
        (
            "let m = {7: true, 8: false, 9: true}; let v = values(m); if v[i] { count = 1; }",
            "",
            "the items of this list have their places",
        ),
        (
            "let m = {(i, true): 7, (last, false): 8}; count = values(m)[0];",
            "",
            "in the order of the keys",
        ),
        (
            "isend(box, 1); last = i;",
            "invariant { assert(len(box) != last || last == -1); }",
            "a number of messages",
        ),
        ("let m = {i: i}; let v = values(m); last = v[0];", "", "in the order of the keys"),
        ("heard = {i}; let s = heard; last = i; if len(s) == i { count = 1; }", "", "elements"),
        // Where the bounds of the inner range cannot be computed, it matters who is asked first.
        (
            "if cas(count, 0, 1) { flag[i] = true; }",
            "final { let c = count - 1; assert(exists j in 0..N: flag[j] || exists k in 0..1 / c: k == 0); }",
            "",
        ),
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
        (
            "if cas(count, 0, 1) { flag[i] = true; }",
            "final { let l = [true]; let c = count + 4; assert(exists j in 0..N: flag[j] || l[c]); }",
            "may not be there",
        ),
        (
            "if cas(count, 0, 1) { flag[i] = true; } if count == 5 { last = i; }",
            "final { let k = last; assert(exists j in 0..N: flag[j] || flag[k]); }",
            "may not be there",
        ),
    ]);
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
        ("last = i;", "process Unused(n: int) { last = n; }"),
        ("count = [4, 5, 6][choose(0..2)];", ""),
    ] {
        let text = program(body, rest);
        assert_eq!(reason(&text), None, "{text}");
        assert!(!compare(&text).is_empty(), "{text}");
    }
}

/// Whatever of two symmetric events a prefix would keep: see `unfolding::prefix`.
#[test]
fn the_prefix_reaches_what_cutoffs_at_symmetric_states_would_miss() {
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        let text = format!(
            "symmetric process P[i in 0..2] {{ var k = 0; k = choose([0, 1, 2]); local(\"chosen\"); }}\n\
             final {{ assert(forall i in 0..2: forall j in 0..2: \
             P[i].k != {one} || P[j].k != {other}); }}"
        );
        let budget = Budget { all: true, ..Budget::default() };
        let found = explore(&read(&text), FinitePrefix::default(), budget, &mut NoObserver);
        assert_eq!(found.verdict(), super::search(&read(&text), true).verdict(), "{text}");
        assert!(!found.violations.is_empty(), "{text}");
        assert!(!compare(&text).is_empty(), "{text}");
    }
}

const NETWORK: &str = "p2p mailbox net[N]: int, hub: int;\nbag mailbox bags[N]: int;\n";

#[test]
fn what_polls_tell_of_indices_is_seen() {
    for (body, said) in [
        ("isend(hub, 1, tag: i); isend(hub, 1);", "0 is one of the indices"),
        ("count = recv(net[i], tag: i) timeout { -1 };", "0 is one of the indices"),
        ("count = recv(net[i], src: 1) timeout { -1 };", "1 is one of the indices"),
        ("isend(net[i], 1, src: 0);", "0 is one of the indices"),
        ("let (f, from, _t) = iprobe(net[i]); if f && from < 1 { count = 1; }", "more than `==`"),
        ("let (from, _t) = probe(net[i]); count = from + 1;", "computed with"),
        ("let (f, _s, tag) = iprobe(net[i], tag: i); count = tag + 1;", "computed with"),
        ("let (f, _s, _t) = iprobe(net[0]); if f { count = i; }", "0 is one of the indices"),
        ("let (_f, from, _t) = iprobe(net[i]); flag[(from + 1) % N] = true;", "has no next one"),
    ] {
        let text = program(&format!("{body} isend(net[i], 1);"), NETWORK);
        let reason = reason(&text).unwrap_or_else(|| panic!("taken to be symmetric:\n{text}"));
        assert!(reason.contains(said), "{reason}\n{text}");
    }
    for body in [
        "isend(net[i], i); let k = recv(net[i]) timeout { -1 }; last = k;",
        "isend(net[i], 1); let (f, from, tag) = iprobe(net[i]); last = from; if f { count = tag; }",
        "isend(net[i], 1); let (from, _t) = probe(net[i]); flag[from] = true;",
        "isend(bags[i], i); let k = recv(bags[i]) timeout { i }; count = 7;",
        "isend(net[i], 1); let c = irecv(net[i], src: i); if test(c) { count = wait(c); }",
        "let (f, _s, _t) = iprobe(net[i]); if try_lock(own[i]) { unlock(own[i]); }",
        "isend(net[i], 1); let (f, _s, _t) = iprobe(net[i], src: i, tag: 0); if !f { last = i; }",
    ] {
        let text = program(body, NETWORK);
        assert_eq!(reason(&text), None, "{text}");
        assert!(!compare(&text).is_empty(), "{text}");
    }
    // A poll that is missed again would be one too many: which one was it?
    for polls in [
        "let k = recv(hub); let (f, _s, _t) = iprobe(net[k]);",
        "for _ in 0..1 { let (_f, _s, _t) = iprobe(hub); } let (g, _u, _v) = iprobe(hub); \
         if g { count = 5; }",
        "let k = choose(0..N); for _ in 0..1 { let j = choose(0..N); \
         let (_f, _s, _t) = iprobe(hub, src: j); } \
         let (g, _u, _v) = iprobe(hub, src: k); if g { last = k; }",
    ] {
        let text = program("isend(hub, i);", &format!("{NETWORK}process M {{ {polls} }}"));
        assert!(!compare(&text).is_empty(), "{text}");
    }
}

#[test]
fn processes_that_may_fail_alike_are_symmetric() {
    for faults in [
        "crashes up to 1",
        "crashes up to 1, restarts",
        "crashes up to 1 in all",
        "crashes up to 1 in all, restarts",
    ] {
        let text = format!("{START}symmetric process W[i in 0..N] {faults} {{ last = i; }}");
        assert_eq!(reason(&text), None, "{text}");
        assert!(!compare(&text).is_empty(), "{text}");
    }
    for faults in ["lossy up to 1", "lossy up to 1 in all", "duplicating up to 1 in all"] {
        let text = format!(
            "{START}p2p mailbox net: int {faults};\nsymmetric process W[i in 0..N] {{ \
             send(net, i); }}"
        );
        assert_eq!(reason(&text), None, "{text}");
        assert!(!compare(&text).is_empty(), "{text}");
    }
    // The shares of two families are one list, in which the places of the second one are computed.
    let two = format!(
        "{START}p2p mailbox net: int lossy up to 1 in all;\nsymmetric process W[i in 0..N] {{ \
         send(net, i); }}\nprocess V[i in 0..N] {{ send(net, i); }}"
    );
    assert!(reason(&two).is_some_and(|why| why.contains("computed with")), "{two}");
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
        assert!(!compare(&text).is_empty(), "{text}");
    }
}
