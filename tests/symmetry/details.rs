//! Details of the analysis. Some of these programs were taken for symmetric, and a wrong "Verified"
//! was printed; the others are about lines that no other test looked at.

use mazurka::lang::{Granularity, compile_with};
use mazurka::model::System;

use super::rules::{assert_broken, program, reason};
use super::{compare, read, search};

/// What is in the upper bound of a loop is computed, unless the bound is a constant.
#[test]
fn bounds_of_loops_are_looked_at() {
    assert_broken(&[
        (
            "if cas(last, -1, i) { count = 1; }",
            "process M { var n = 0; for _ in 0..last { n += 1; } assert(n != 2); }",
            "a loop counts in this order",
        ),
        (
            "var n = 0; for _ in 0..(if 2 == i { 1 } else { 0 }) { n += 1; } assert(n == 0);",
            "",
            "2 is one of the indices",
        ),
        (
            "flag[i] = exists j in 0..(if 2 == i { 1 } else { 0 }): j == 0;",
            "final { for j in 0..N { assert(!flag[j]); } }",
            "2 is one of the indices",
        ),
    ]);
}

/// With statements as steps a process rests in a loop: with one index, and not yet with the next.
#[test]
fn a_loop_with_steps_in_it_has_an_order() {
    let text = program(
        "heard = heard union {i};",
        "process M { let s = heard; for x in s { assert(x != 7); } }",
    );
    for (granularity, is_symmetric) in
        [(Granularity::Operation, true), (Granularity::Statement, false)]
    {
        let program = compile_with("program.maz", &text, &[], granularity).expect("a program");
        let found = program.foresight().symmetry().is_some();
        assert_eq!(found, is_symmetric, "{granularity:?}\n{text}");
    }
}

/// A constant may name a process that is not there, and then a loop fails, in one order sooner.
#[test]
fn an_instance_that_is_not_there_may_be_missed() {
    assert_broken(&[(
        "if cas(last, -1, i) { flag[i] = true; }",
        "final { assert(exists j in 0..N: flag[j] || W[7].i == j); }",
        "not always in scope",
    )]);
    let fine = program(
        "if cas(last, -1, i) { flag[i] = true; }",
        "process M { let k = last; local(\"k\"); }\n\
         final { assert(exists j in 0..N: flag[j] || V[5].of == 2); }\n\
         process V[of in 5..7] { local(\"v\"); }",
    );
    assert_eq!(reason(&fine), None, "{fine}");
}

/// How many numbers there are to choose from depends on the bounds.
#[test]
fn bounds_of_choices_are_looked_at() {
    let said = "the bounds of this choice are not constant";
    assert_broken(&[
        ("let k = choose(i..N); count = k;", "", said),
        (
            "if cas(last, -1, i) { count = 1; }",
            "process M { let k = last; if k != -1 { let n = choose(k..N); assert(n != 0); } }",
            said,
        ),
    ]);
}

/// What is waited for has its place in a list.
#[test]
fn a_list_that_is_waited_for_has_places() {
    for wait in ["waitany(all)", "testany(all)"] {
        let rest = format!(
            "mailbox other: int;\nprocess M {{ let c = irecv(box); var all = [c; N]; \
             let j = choose(0..N); flag[j] = true; all[j] = irecv(other); isend(other, 1); \
             let k = {wait}; count = 1; assert(k != 2); }}"
        );
        assert_broken(&[("flag[i] = true;", &rest, "a place in a list")]);
    }
}

/// Sums in between may overflow for some indices only.
#[test]
fn the_next_index_is_computed_without_overflows() {
    let most = i64::MAX;
    assert_broken(&[(
        "flag[i] = true;",
        &format!(
            "process M {{ let k = choose(0..N); flag[k] = false; flag[(k + {most} - {most}) % N] = true; }}"
        ),
        "computed with",
    )]);
}

/// An invariant is split into one for each value of its loops. If the range of a loop depends on
/// the variable of another one, there are more of them for some of its values.
#[test]
fn loops_of_invariants_may_depend_on_each_other() {
    assert_broken(&[(
        "if cas(last, -1, i) { flag[i] = true; }",
        "invariant { for a in 0..N { for n in 0..(if a == 2 { 2 } else { 1 }) { \
         assert(!flag[a] || n == 0); } } }",
        "0 is one of the indices",
    )]);
}

/// Communications of several types may be in one list.
#[test]
fn messages_of_several_types_have_terms() {
    for (sent, message) in [("true", "bool"), ("(i, true)", "(int, bool)"), ("{i}", "{int}")] {
        let text = program(
            &format!("isend(box, i); isend(other, {sent});"),
            &format!(
                "mailbox other: {message};\nprocess M {{ let c = irecv(box); let d = irecv(other); \
                 let k = waitany([c, d]); }}"
            ),
        );
        assert_eq!(compare(&text).is_empty(), message != "bool", "{text}");
        let plain = text.replace("box, i", "box, 8");
        compare(&plain);
    }
    let tuples = "mailbox one: (int, bool), other: (int, int, int);\nprocess M { let c = irecv(one); \
                  let d = irecv(other); let k = waitany([c, d]); }";
    assert_broken(&[(
        "isend(one, (i, true)); isend(other, (i, i, i));",
        tuples,
        "values of several types are in one place",
    )]);
}

#[test]
fn what_is_refused_as_a_whole_is_named() {
    assert_broken(&[
        ("last = i;", "condvar c;", "condition variables"),
        ("last = i;", "collective c(N);", "collectives"),
    ]);
}

/// Numbers that reach an index only through one place.
#[test]
fn each_way_to_an_index_is_followed() {
    assert_broken(&[
        (
            "last = i;",
            "final { assert(forall j in 0..N: W[j].i != 1 || j == j); }",
            "1 is one of the indices",
        ),
        (
            "if cas(last, -1, i) { flag[i] = true; }",
            "final { let k = last; assert(exists j in 0..N: flag[j] || W[k].i == j); }",
            "not always in scope",
        ),
        (
            "let k = choose((if last == -1 { 1 } else { 0 })..N); if k == i { count = 1; } last = i;",
            "",
            "bounds of this choice",
        ),
        ("flag[(i + (if last == -1 { 1 } else { 2 })) % N] = true; last = i;", "", "computed with"),
        ("flag[i % N] = true;", "", "computed with"),
        ("if i + 1 == 2 { count = 1; }", "", "computed with"),
        ("async_lock(own[i]); mutex_waitany([own[i], own[0]]);", "", "0 is one of the indices"),
        ("let l = [x for x in {7, 8, 9}]; count = l[i];", "", "have their places"),
        ("var l = [7; N]; l[i] = i; if l[i] == 1 { count = 1; }", "", "1 is one of the indices"),
        ("let p = (i, true); if p.0 == 1 { count = 1; }", "", "1 is one of the indices"),
        ("let l = [i; N]; if l[i] == 1 { count = 1; }", "", "1 is one of the indices"),
        (
            "var l: [bool] = [false; N]; l = remove(push(l, true), 0); if l[i] { count = 1; }",
            "",
            "have their places",
        ),
        ("lock(few[i]);", "mutex few[2];", "there are only 2 places"),
        (
            "isend(boxes[i], 1);",
            "mailbox boxes[N]: int;\ninvariant { assert(len(boxes[1]) == 0 || count == 0); }",
            "1 is one of the indices",
        ),
        (
            "var done = false; done = cas(last, -1, i);",
            "final { for j in 1..N { assert(!W[j].done || last != -1); } }",
            "only 1..3",
        ),
        (
            "var k = i; last = i;",
            "final { let w = last; assert(W[w].k != 7); assert(W[w].k != 1 || w == w); }",
            "1 is one of the indices",
        ),
        ("let m = {i: true}; if 1 in keys(m) { count = 1; }", "", "1 is one of the indices"),
        (
            "let m = {7: i}; let v = values(m); if v[0] == 1 { count = 1; }",
            "",
            "1 is one of the indices",
        ),
        (
            "last = i; let y = recv(inner); if y.0 == 1 { count = 1; }",
            "mailbox inner: (int, bool), outer: ((int, bool), int);\nprocess A { let x = recv(outer); isend(inner, x.0); }\nprocess B { let k = last; isend(outer, ((k, true), 5)); }",
            "1 is one of the indices",
        ),
    ]);
}

/// The values of constants are looked at, with all their parts.
#[test]
fn constants_are_looked_at() {
    assert_broken(&[
        (
            "let p = (i, true); if p == K { count = 1; }",
            "const K = (1, true);",
            "1 is one of the indices",
        ),
        ("count = L[i];", "const L = [7, 8, 9];", "have their places"),
        ("count = L[i];", "const L = [7, 7];", "there are only 2 places"),
        ("if i in L { count = 1; }", "const L = [0, 7];", "0 is one of the indices"),
        ("if i in S { count = 1; }", "const S = {0, 1};", "only 0..2"),
        ("if i in S { count = 1; }", "const S = {0, 2};", "0 is one of the indices"),
        (
            "let l = choose(S); if l[i] { count = 1; }",
            "const S = {[true, false], [false, true]};",
            "there are only 2 places",
        ),
        (
            "let l = choose(S); if l[i] == i { count = 1; }",
            "const S = {[0, 7, 7], [7, 0, 7], [7, 7, 0]};",
            "0 is one of the indices",
        ),
        (
            "let l = choose(S); if l[i] { count = 1; }",
            "const S = {[true, false, false], [false, true, false]};",
            "have their places",
        ),
        (
            "let l = choose(S); if l[0] { flag[i] = l != [true, false, false]; } if l[i] { count = 1; }",
            "const S = {[true, false, false], [false, true, false], [false, false, true], [true, true]};",
            "have their places",
        ),
        ("if M[7] == i { count = 1; }", "const M = {7: 1};", "1 is one of the indices"),
        (
            "let p = pair; if p.0 == i { count = 1; }",
            "shared pair: (int, bool) = (1, true);",
            "1 is one of the indices",
        ),
        ("start = {i} union start;", "shared start: {int} = {0, 1};", "only 0..2"),
        (
            "var l = [false; N]; l[i] = true; if l == short { count = 1; }",
            "shared short: [bool] = [false, false];",
            "there are only 2 places",
        ),
    ]);
}

/// The cells of one array may begin with different contents.
#[test]
fn cells_of_an_array_begin_alike() {
    assert_broken(&[(
        "if code[i] == 6 { last = i; }",
        "shared code: [int; N] = [5, 6, 7];",
        "begin with different contents",
    )]);
}

/// A failed process is as it is: it has no term.
#[test]
fn processes_that_fail_are_kept() {
    let text = program("last = i; assert(last == 7);", "");
    let program = read(&text);
    let [merged, whole] = [true, false].map(|on| search(&program, on));
    assert_eq!(merged.verdict(), whole.verdict(), "{text}");
    assert!(merged.stats.symmetry.is_some(), "{text}");
}

/// What comes after the first 10,000 parts of a constant is not looked at, so all is refused.
#[test]
fn long_constants_are_refused() {
    for (body, rest, said) in [
        (
            "if L[0] == i { count = 1; }",
            "const L = [if x == 10000 { 1 } else { 7 } for x in 0..10001];",
            "too long",
        ),
        ("if i in S { count = 1; }", "const S = {2 * x + 10 for x in 0..10001};", "too large"),
        (
            "if i in M { count = 1; }",
            "const M = {2 * x + 10: x == 1 for x in 0..10001};",
            "too large",
        ),
        ("if many[5] == i { count = 1; }", "shared many: [int; 10001] = 7;", "too many cells"),
    ] {
        let text = program(body, rest);
        assert!(reason(&text).is_some_and(|why| why.contains(said)), "{text}");
    }
}

/// What could be refused, and is not.
#[test]
fn what_says_nothing_of_indices_keeps_the_symmetry() {
    for (body, rest) in [
        (
            "flag[i] = true;",
            "p2p mailbox net[N]: int;\nprocess M { let k = choose(0..N); flag[k] = true; isend(net[k], 1, src: k); }",
        ),
        (
            "async_lock(own[i]); async_lock(other[i]); async_lock(third[i]); mutex_waitany([own[i], other[i], third[i]]);",
            "mutex other[N], third[N];",
        ),
        (
            "let k = i; last = k; if last == i { let k = 2; local(\"b\"); count = k; }",
            "final { assert(forall j in 0..N: W[j].k != 7); }",
        ),
        (
            "let k = 2; last = i; count = k;",
            "process V[j in 0..N] { let k = j; last = k; }\nfinal { assert(forall j in 0..N: V[j].k != 7); }",
        ),
        ("flag[i] = true; count = 3;", ""),
        (
            "flag[i] = true; isend(net[i], 1);",
            "p2p mailbox net[N]: int, other[N]: int;\nprocess M { let k = choose(0..N); flag[k] = true; for _ in 0..1 { let (_f, _s, _t) = if choose(5..7) == 5 { iprobe(net[k]) } else { iprobe(other[k]) }; } loop { let (g, _u, _v) = iprobe(net[k]); if g { flag[k] = false; return; } let (h, _w, _x) = iprobe(other[k]); if h { return; } } }",
        ),
        (
            "if choose(5..7) == 5 { async_barrier(b); } local(\"a\");",
            "barrier b(4);\nprocess M { if choose(5..7) == 5 { async_barrier(b); } local(\"a\"); }",
        ),
        (
            "if choose(5..7) == 5 { async_lock(other[i]); } else { async_lock(own[i]); } local(\"a\");",
            "mutex other[N];",
        ),
        (
            "async_acquire(s[i]); local(\"a\"); if choose(5..7) == 5 { async_acquire(t[i]); } local(\"b\");",
            "semaphore s[N] = 1, t[N] = 1;",
        ),
        (
            "var l = [false; N]; l[choose(0..N)] = true; last = i; if exists j in 0..N: l[i] && j == i { flag[i] = true; }",
            "",
        ),
        (
            "let k = choose(0..N); var l = [false; N]; l[i] = true; if exists j in 0..N: l[k] && j == i { flag[i] = true; }",
            "",
        ),
        ("heard = heard union {i}; let s = heard; if exists x in s: x == i { count = 1; }", ""),
        (
            "var l = [false; N]; l[choose(0..N)] = true; if exists x in l: x { count = 1; } flag[i] = l[i];",
            "",
        ),
        (
            "isend(hub, 1, tag: i);",
            "p2p mailbox net[N]: int, hub: int;\nbag mailbox bags[N]: int;\nprocess M { recv(hub); let (_s, t) = probe(hub); flag[t] = true; }",
        ),
        (
            "isend(box, i, tag: i); isend(box, 5);",
            "process M { let k = choose(0..N); irecv(box, tag: k); }",
        ),
        (
            "isend(net[i], 1); let (s, _t) = probe(net[i]); flag[(s + 1) % N] = true; last = 7;",
            "p2p mailbox net[N]: int, hub: int;\nbag mailbox bags[N]: int;\n",
        ),
        ("var l = [0; N]; l[i] += 1; count = l[i];", ""),
        ("if i in S { count = 1; } last = i;", "const S = {0, 1, 2};"),
        ("pair = (i, last); last = i;", "shared pair: (int, int) = (-1, -1);"),
        (
            "last = i; let p = pair; if p.0 == i { count = 1; }",
            "shared pair: (int, bool) = (-1, true);\nmailbox outer: ((int, bool), int);\nprocess A { let x = recv(outer); pair = x.0; }\nprocess B { let k = last; isend(outer, ((k, true), 5)); }",
        ),
        (
            "let l = choose(S); if l[i] { count = 1; }",
            "const S = {[true, false, false], [false, true, false], [false, false, true]};",
        ),
    ] {
        let text = program(body, rest);
        assert_eq!(reason(&text), None, "{text}");
        assert!(!compare(&text).is_empty(), "{text}");
    }
}

/// Ranges need not begin with 0.
#[test]
fn ranges_begin_anywhere() {
    for (text, said) in [
        (
            "shared f: [bool; 3] = false;\nsymmetric process W[i in -1..2] { f[i] = true; }",
            "there are only 3 places",
        ),
        (
            "shared f: [bool; 4] = false;\nsymmetric process W[i in 1..4] { f[(i + 1) % 4] = true; }",
            "the remainder by 4",
        ),
    ] {
        assert!(reason(text).is_some_and(|why| why.contains(said)), "{text}");
        compare(text);
    }
    let text = "shared last: int = 7;\nsymmetric process W[i in -1..2] { last = i; }";
    assert_eq!(compare(text), [3]);
    // Of one process there is nothing to say.
    let one = "shared last: int = 7;\nsymmetric process W[i in 0..1] { if i == 0 { last = 1; } }";
    assert!(read(one).warnings().is_empty());
}

#[test]
fn declarations_with_the_same_indices_are_one_group() {
    let text = program("last = i;", "process V[j in 0..N] { if last == j { flag[j] = true; } }");
    let program = read(&text);
    let groups = program.foresight().symmetry().expect("symmetry").groups().to_vec();
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!(groups[0].name, "W, V");
}
