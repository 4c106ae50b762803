//! Whatever a file contains, the front end finishes quickly, and reports what is too large.

use std::fmt::Write;
use std::time::{Duration, Instant};

use mazurka::lang;

/// The first line of each diagnostic of `source`. Fails if it takes more time than a linear
/// algorithm needs.
fn reported(source: &str) -> Vec<String> {
    let start = Instant::now();
    let compiled = lang::compile("large.maz", source, &[]);
    assert!(start.elapsed() < Duration::from_secs(20), "{:.80}", source);
    match compiled {
        Ok(_) => Vec::new(),
        Err(diagnostics) => {
            let rendered = diagnostics.render(false);
            assert!(rendered.len() < 100_000, "{} bytes are too much to read", rendered.len());
            diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect()
        }
    }
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        writeln!(text, "{}", line(at)).expect("memory can be written");
        text
    })
}

#[test]
fn types_and_values_have_a_size() {
    let doubled = |word: &str| lines(60, |n| format!("{word} a{} = (a{n}, a{n});", n + 1));
    let parts = "the type of this has more than 1000 parts";
    assert_eq!(reported(&format!("process P {{ let a0 = 1; {} }}", doubled("let")))[0], parts);
    assert_eq!(reported(&format!("const a0 = 1; {} process P {{ }}", doubled("const"))), [parts]);
    // Types that are known only in the end.
    let mailboxes = lines(41, |n| format!("mailbox m{n};"));
    let forward = lines(40, |n| format!("send(m{}, (recv(m{n}), recv(m{n})));", n + 1));
    let backward =
        lines(40, |n| format!("send(m{}, (recv(m{}), recv(m{})));", 40 - n, 39 - n, 39 - n));
    for sends in [forward, backward] {
        let found = reported(&format!("{mailboxes} process P {{ {sends} send(m0, 1); }}"));
        assert!(found.iter().any(|message| message == parts), "{found:?}");
    }
    for (source, expected) in [
        ("const A = [[0; 1000000]; 1000];", "a value of type [[int; 1000000]; 1000] is too large"),
        (
            "const A: [int] = [0; 1000000]; const B: [[int]] = [A; 1000000];",
            "this takes too long to compute",
        ),
        ("mutex a[1000000]; mutex b[1000000]; mutex c[1000000];", "the file declares too much"),
        ("process Q[i in 0..2000000000] { }", "0..2000000000 is more than 10000 processes"),
    ] {
        assert_eq!(reported(&format!("{source} process P {{ }}")), [expected]);
    }
    assert!(reported("const A = [0; 1000000]; process P { assert(A[3] == 0); }").is_empty());
}

#[test]
fn matches_are_looked_at_in_bounded_time() {
    let arms = |cell: &dyn Fn(usize, usize) -> &'static str| {
        lines(28, |row| {
            let cells: Vec<_> = (0..28).map(|column| cell(row, column)).collect();
            format!("({}) => {{}},", cells.join(", "))
        })
    };
    let value = vec!["true"; 28].join(", ");
    let diagonal = arms(&|row, column| if row == column { "true" } else { "_" });
    let source = |arms: &str| format!("process P {{ match ({value}) {{ {arms} }} }}");
    assert_eq!(reported(&source(&diagonal)).len(), 1);
    assert!(reported(&source(&format!("{diagonal} _ => {{}}"))).is_empty());
    let pairs = arms(&|row, column| match (28 + column - row) % 28 {
        0 => "true",
        9 => "false",
        17 => "true",
        _ => "_",
    });
    assert_eq!(reported(&source(&pairs)).len(), 1);
    let variants: Vec<_> = (0..20_000).map(|n| format!("V{n}")).collect();
    let arms = lines(20_000, |n| format!("V{n} => {{}}"));
    let of = format!("enum E {{ {} }} process P {{ match V7 {{ {arms} }} }}", variants.join(", "));
    assert!(reported(&of).is_empty());
}

#[test]
fn many_of_anything_take_linear_time() {
    let calls = lines(20_000, |n| format!("proc p{}() {{ p{n}(); }}", n + 1));
    assert!(reported(&format!("proc p0() {{ }} {calls} process P {{ p20000(); }}")).is_empty());
    let circle = lines(20_000, |n| format!("proc p{n}() {{ p{}(); }}", (n + 1) % 20_000));
    assert_eq!(
        reported(&format!("{circle} process P {{ p0(); }}")),
        ["the procedure `p0` calls itself"]
    );
    let handlers = lines(10_000, |n| format!("on M{n}() {{ }}"));
    let sends = lines(10_000, |n| format!("send(A, M{n}());"));
    assert!(reported(&format!("actor A {{ {handlers} }} init {{ {sends} }}")).is_empty());
    let templates = lines(5_000, |n| format!("process T{n}() {{ spawn T{}(); }}", n + 1));
    assert!(
        reported(&format!("{templates} process T5000() {{ }} process P {{ spawn T0(); }}"))
            .is_empty()
    );
    let lets = lines(20_000, |n| format!("let x{n} = 1; assert(x{n} == 1);"));
    assert!(reported(&format!("process P {{ {lets} }}")).is_empty());
    let constant = lines(5_000, |_| "assert(A[3] == 0);".to_owned());
    assert!(reported(&format!("const A = [0; 1000000]; process P {{ {constant} }}")).is_empty());
    let all = "actor A { on M() { } } init { for i in 0..900000 { send(A, M()); } }";
    assert_eq!(reported(all), ["`init` sends or spawns too much"]);
}

/// What is longer or deeper would exhaust the stack of the parser, or of a later pass.
#[test]
fn expressions_have_a_length_and_a_depth() {
    let value =
        |text: &str| reported(&format!("process P {{ let l = [1]; let x = {text}; }}")).join("\n");
    assert_eq!(value(&format!("1{}", " + 1".repeat(100))), "");
    for long in [format!("1{}", " + 1".repeat(300)), format!("l{}", "[0]".repeat(300))] {
        assert!(value(&long).contains("this expression is too long"), "{}", value(&long));
    }
    let deep = value(&"(".repeat(1_000));
    assert!(deep.contains("this nests too deeply"), "{deep}");
}

#[test]
fn mistakes_are_counted_when_there_are_many() {
    let names = lines(20_000, |n| format!("y{n} = x{n};"));
    let diagnostics = lang::compile("errors.maz", &format!("process P {{ {names} }}"), &[])
        .expect_err("unknown names");
    assert_eq!((diagnostics.len(), diagnostics.iter().count()), (40_000, 60));
    assert!(diagnostics.render(false).ends_with("... and 39940 more like these\n\n"));
    for wrong in ["é; ", "let ; ", "for ( ", "\"\\q\"; "] {
        assert!(!reported(&format!("process P {{ {} }}", wrong.repeat(50_000))).is_empty());
    }
}

#[test]
fn an_index_that_may_be_anything_is_one_range() {
    let source = "mutex m[1000000]; process P[i in 0..10000] { let k = choose(0..2); lock(m[k]); unlock(m[k]); }";
    assert!(reported(source).is_empty());
}

/// To know whether a brace opens a block, the parser looks for the one that closes it.
#[test]
fn braces_and_comprehensions_take_bounded_time() {
    for line in ["let a = {1, 2 3 (};", "exists(;", "f({1, [});", "let s = {(;", "{ {1} {"] {
        let found = reported(&format!("process P {{ {} }}", lines(20_000, |_| line.to_owned())));
        assert!(!found.is_empty(), "{line}");
    }
    for comprehension in
        ["{x for x in 0..100000000}", "forall x in 0..100000000000, y in 0..0: x > y"]
    {
        let found = reported(&format!("const A = {comprehension}; process P {{ }}"));
        assert_eq!(found, ["this takes too long to compute"]);
    }
}
