//! The `//@` lines of a spec (`specs/README.md`), combined.

use mazurka::lang::{self, Expectation, compile};

/// Whether this expectation is empty.
fn is_empty(expected: &Expectation) -> bool {
    let Expectation { traces, deadlocked, interleavings, verdict, states, .. } = expected;
    let figures = [traces, deadlocked, interleavings];
    figures.iter().all(|n| n.is_none()) && verdict.is_none() && states.is_none()
}

/// The constants and the depth bound as options, for messages.
pub fn options(expected: &Expectation) -> String {
    let constants = expected.with.iter().map(|(name, value)| format!(" -D {name}={value}"));
    let depth = expected.depth.map(|depth| format!(" --depth {depth}"));
    let semantics = expected.semantics.map(|semantics| semantics.options());
    constants.chain(depth).chain(semantics).collect()
}

/// Checks that a line is well-formed by itself.
fn check(line: &Expectation) -> Result<(), String> {
    if is_empty(line) {
        return Err("a line without facts".into());
    }
    let uncut = line.deadlocked.is_some() || line.verdict.is_some() || line.states.is_some();
    if line.depth.is_some() && uncut {
        return Err("with `depth` there are only `traces` and `interleavings`".into());
    }
    Ok(())
}

/// Adds a line about the program without changed constants.
fn add(base: &mut Expectation, line: &Expectation) {
    base.traces = line.traces.or(base.traces);
    base.deadlocked = line.deadlocked.or(base.deadlocked);
    base.interleavings = line.interleavings.or(base.interleavings);
    base.verdict = line.verdict.or(base.verdict);
    base.states = line.states.clone().or(base.states.take());
    base.slow |= line.slow;
}

/// The expectations of a spec: first those of the program without changed constants, then one for
/// each line with `with` or `depth`. If one of them allows pending messages, all do.
pub fn expectations(text: &str) -> Result<Vec<Expectation>, String> {
    let program = compile("spec", text, &[]).map_err(|errors| errors.render(false))?;
    let mut all = vec![Expectation::default()];
    for line in program.expectations() {
        if line.with.is_empty() && line.depth.is_none() && line.semantics.is_none() {
            add(&mut all[0], line);
        } else {
            check(line).map_err(|what| format!("line {}: {what}", line.line))?;
            all.push(line.clone());
        }
    }
    let allow_pending = program.expectations().iter().any(|line| line.allow_pending);
    for expected in &mut all {
        expected.allow_pending = allow_pending;
    }
    Ok(all)
}

/// A program for expectations to speak of.
const PROGRAM: &str = "const N = 3; const B = 0; process P { }";

#[test]
fn facts_are_read_line_by_line() {
    let text =
        "//@ traces 3\n//@ verdict deadlock deadlocked 1\n//@ with N=4 B=1 traces 6 slow\n\n";
    let all = expectations(&format!("{text}{PROGRAM}")).expect("well-formed");
    let base = Expectation {
        traces: Some(3),
        deadlocked: Some(1),
        verdict: Some(lang::ExpectedVerdict::Deadlock),
        ..Expectation::default()
    };
    let constants = vec![("N".into(), "4".into()), ("B".into(), "1".into())];
    let with = Expectation {
        with: constants,
        traces: Some(6),
        slow: true,
        line: 3,
        ..Expectation::default()
    };
    assert_eq!(all, [base, with]);
}

#[test]
fn what_mpi_leaves_open_stands_apart() {
    let text =
        "//@ traces 3\n//@ buffering zero traces 2\n//@ polls 0 collectives early traces 1\n";
    let all = expectations(&format!("{text}{PROGRAM}")).expect("well-formed");
    let semantics: Vec<_> = all.iter().map(|one| one.semantics.map(|s| s.options())).collect();
    let options = |text: &str| Some(text.to_owned());
    assert_eq!(semantics, [None, options(" --buffering zero"), options(" --polls 0")]);
    for text in
        ["//@ buffering one traces 1", "//@ collectives traces 1", "//@ polls many traces 1"]
    {
        assert!(expectations(&format!("{text}\n{PROGRAM}")).is_err(), "{text}");
    }
}

#[test]
fn bounded_figures_stand_apart() {
    let text = "//@ traces 3\n//@ depth 4 traces 2\n//@ states 1,3,6\n";
    let all = expectations(&format!("{text}{PROGRAM}"));
    let base =
        Expectation { traces: Some(3), states: Some(vec![1, 3, 6]), ..Expectation::default() };
    let cut = Expectation { depth: Some(4), traces: Some(2), line: 2, ..Expectation::default() };
    assert_eq!(all, Ok(vec![base, cut]));
}

#[test]
fn pending_messages_are_allowed_in_a_whole_file() {
    let text = "//@ traces 1\n//@ allow-pending\n//@ with N=2 traces 2\n";
    let all = expectations(&format!("{text}{PROGRAM}"));
    assert!(all.expect("well-formed").iter().all(|expectation| expectation.allow_pending));
}

#[test]
fn what_is_no_fact_is_refused() {
    assert!(expectations(&format!("//@ traces 3\n{PROGRAM}")).is_ok());
    for text in [
        "//@ trace 3",
        "//@ traces",
        "//@ traces many",
        "//@ verdict fine",
        "//@ with N=3",
        "//@ with traces 3",
        "//@ states 1,,2",
        "//@ depth 3",
        "//@ depth 3 verdict ok",
    ] {
        assert!(expectations(&format!("{text}\n{PROGRAM}")).is_err(), "{text}");
    }
}
