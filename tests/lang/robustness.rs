//! No input makes the front end panic or run out of stack.

use mazurka::explore::{self, Budget, NoObserver, Udpor, Verdict};
use mazurka::lang::{self, Program};
use mazurka::model::{Locals, State, System};
use proptest::prelude::*;

/// A spec with every construct of the language.
const SPEC: &str = include_str!("everything.maz");

/// A spec with everything about actors.
const ACTORS: &str = include_str!("actors.maz");

/// Pieces to throw in.
const WORDS: [&str; 76] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ":",
    "::",
    "..",
    ".",
    "->",
    "=>",
    "=",
    "==",
    "+=",
    "-",
    "!",
    "&&",
    "/*",
    "*/",
    "//@ with",
    "\"",
    "let",
    "var",
    "if",
    "else",
    "match",
    "for",
    "in",
    "process",
    "fn",
    "const",
    "spawn",
    "break",
    "0",
    "-1",
    "N",
    "x",
    "m",
    "wait",
    "é",
    "_",
    "int x",
    "for (",
    "++",
    "--",
    "0xff",
    "1.5",
    "'c'",
    "on",
    "when",
    "internal",
    "actor",
    "init",
    "self",
    "send(self,",
    "message",
    "Ping",
    "Ping(",
    "on Ping(",
    "Node",
    "Node[",
    "{}",
    "{1: ",
    "union",
    "minus",
    "intersect",
    "subset",
    "not in",
    "for x in",
    "exists x in",
    "forall (x, y) in s:",
    "keys(m)",
    "choose(s)",
];

/// A program that does not compile is explained; one that compiles can run (types were checked, so
/// nothing gets stuck).
fn runs_or_explains(source: &str) {
    match lang::compile("fuzz.maz", source, &[]) {
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            assert!(!diagnostics.render(false).is_empty());
        }
        Ok(program) => {
            for seed in 0..4 {
                run(&program, seed);
            }
        }
    }
}

/// One execution, cut after some actions; which, depends on `seed`.
fn run(program: &Program, seed: usize) {
    let mut locals = Locals::new(program);
    let mut state = State::initial(&mut locals);
    let mut enabled = Vec::new();
    for at in 0..150 {
        state.enabled(&locals, &mut enabled);
        if enabled.is_empty() || state.is_crowded() {
            return;
        }
        let chosen = enabled[(seed * 7919 + at * at * (seed + 1)) % enabled.len()];
        enabled.clear();
        state.step(&mut locals, chosen);
        let local = locals.get(state.local(chosen.process));
        program.describe().variables(local, &|_| None);
        program.describe().process_name(local);
    }
}

/// Where characters start.
fn boundaries(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

#[test]
fn everything_compiles() {
    for source in [SPEC, ACTORS] {
        let program = lang::compile("everything.maz", source, &[])
            .unwrap_or_else(|d| panic!("{}", d.render(false)));
        assert!(program.warnings().is_empty(), "{}", program.warnings().render(false));
    }
    let program = super::program(ACTORS);
    let budget = Budget { all: true, ..Budget::default() };
    let outcome = explore::explore(&program, Udpor::default(), budget, &mut NoObserver);
    assert_eq!((outcome.verdict(), outcome.stats.traces), (Verdict::Ok, 180));
}

#[test]
fn depth_is_bounded() {
    let deep = |open: &str, inner: &str, close: &str| {
        let n = 20_000;
        format!("process P {{ let x = {}{inner}{}; }}", open.repeat(n), close.repeat(n))
    };
    for source in [
        deep("(", "1", ")"),
        deep("[", "1", "]"),
        deep("{", "1", "}"),
        deep("-", "x", ""),
        deep("!", "x", ""),
        deep("f(", "1", ")"),
        deep("x", "", "[0]"),
        deep("x", "", ".0"),
        deep("1 + ", "1", ""),
        deep("if true { ", "1", " }"),
        deep("if true { 1 } else ", "{ 1 }", ""),
        deep("match x { _ => ", "1", "}"),
        deep("(", "", ""),
        deep("loop {", "", ""),
        format!("actor A {{ on M() when {}true{} {{ }} }}", "(".repeat(20_000), ")".repeat(20_000)),
        format!(
            "actor A {{ on M(m: message) {{ match m {{ {}_{} => 1 }} }} }}",
            "M(".repeat(20_000),
            ")".repeat(20_000)
        ),
        "actor A { on M() ".repeat(20_000),
        format!("mailbox m: {}int{};", "[".repeat(20_000), "]".repeat(20_000)),
        format!("process P {{ match 1 {{ {} => 1 }} }}", "(".repeat(20_000)),
    ] {
        let diagnostics = lang::compile("deep.maz", &source, &[]).expect_err("too deep");
        assert!(!diagnostics.is_empty());
    }
}

#[test]
fn just_deep_enough() {
    let nested = format!("process P {{ let x = {}1{}; }}", "(".repeat(40), ")".repeat(40));
    let chain = format!("process P {{ let x = 1{}; }}", " + 1".repeat(150));
    for source in [nested, chain] {
        lang::compile("deep.maz", &source, &[]).unwrap_or_else(|d| panic!("{}", d.render(false)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Cut a piece out, put words in.
    #[test]
    fn mutilated_specs(
        actors in any::<bool>(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40), 0..4),
        words in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..WORDS.len()), 0..4),
    ) {
        let mut source = if actors { ACTORS } else { SPEC }.to_owned();
        for (at, length) in cuts {
            let places = boundaries(&source);
            let from = at.index(places.len());
            let to = (from + length).min(places.len() - 1);
            source.replace_range(places[from]..places[to], "");
        }
        for (at, word) in words {
            let places = boundaries(&source);
            source.insert_str(places[at.index(places.len())], &format!(" {} ", WORDS[word]));
        }
        runs_or_explains(&source);
    }

    #[test]
    fn any_text(source in "\\PC{0,80}") {
        runs_or_explains(&source);
        runs_or_explains(&format!("process P {{ {source} }}"));
        runs_or_explains(&format!("actor A {{ {source} }}"));
        runs_or_explains(&format!("actor A {{ on B() {{ {source} }} }} init {{ send(A, B()); }}"));
    }
}
