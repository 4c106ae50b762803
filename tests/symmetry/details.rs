//! Details of the analysis. Some of these programs were taken for symmetric, and a wrong "Verified"
//! was printed; the others are about lines that no other test looked at.

use mazurka::lang::{Granularity, compile_with};
use mazurka::model::System;

use super::compare;
use super::rules::{program, reason};

/// Asserts that each of these programs is not symmetric, for this reason.
fn assert_broken(rows: &[(&str, &str, &str)]) {
    for (body, rest, said) in rows {
        let text = program(body, rest);
        let reason = reason(&text).unwrap_or_else(|| panic!("taken to be symmetric:\n{text}"));
        assert!(reason.contains(said), "{reason}\n{text}");
        compare(&text);
    }
}

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
}
