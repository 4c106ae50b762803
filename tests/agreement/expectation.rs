//! The `//@` lines of a spec (`specs/README.md`).

/// What must hold of a spec, as it stands or with some of its constants overridden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// `with`: the constants overridden.
    pub constants: Vec<(String, String)>,
    /// Mazurkiewicz classes.
    pub traces: Option<u64>,
    /// Those of them that end in a deadlock.
    pub deadlocked: Option<u64>,
    /// Complete executions.
    pub interleavings: Option<u64>,
    /// `ok`, `deadlock`, `assertion` or `error`.
    pub verdict: Option<String>,
    /// Not for the ordinary run.
    pub slow: bool,
}

impl Expectation {
    /// Does it say anything?
    pub fn is_empty(&self) -> bool {
        let Expectation { traces, deadlocked, interleavings, verdict, .. } = self;
        [traces, deadlocked, interleavings].iter().all(|n| n.is_none()) && verdict.is_none()
    }

    /// For messages: the constants as options.
    pub fn options(&self) -> String {
        self.constants.iter().map(|(name, value)| format!(" -D {name}={value}")).collect()
    }
}

/// The expectations of a spec: of the program as it stands first, then one for each `with` line.
pub fn expectations(text: &str) -> Result<Vec<Expectation>, String> {
    let mut all = vec![Expectation::default()];
    for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("//@")) {
        let words: Vec<_> = line.split_whitespace().collect();
        let read = match words.strip_prefix(&["with"]) {
            Some(words) => {
                let mut with = Expectation::default();
                read_facts(words, &mut with).map(|()| all.push(with))
            }
            None => read_facts(&words, &mut all[0]),
        };
        read.map_err(|what| format!("`//@{line}`: {what}"))?;
    }
    if all[1..].iter().any(|with| with.constants.is_empty() || with.is_empty()) {
        return Err("a `with` line without constants or without facts".into());
    }
    Ok(all)
}

fn read_facts(mut words: &[&str], into: &mut Expectation) -> Result<(), String> {
    while let [word, rest @ ..] = words {
        words = rest;
        if *word == "slow" {
            into.slow = true;
            continue;
        }
        if let Some((name, value)) = word.split_once('=') {
            into.constants.push((name.into(), value.into()));
            continue;
        }
        let [value, rest @ ..] = words else { return Err(format!("{word} is without a value")) };
        words = rest;
        if *word == "verdict" {
            if !["ok", "deadlock", "assertion", "error"].contains(value) {
                return Err(format!("{value} is no verdict"));
            }
            into.verdict = Some((*value).into());
            continue;
        }
        let number = value.parse().map_err(|_| format!("{value} is no number"))?;
        *match *word {
            "traces" => &mut into.traces,
            "deadlocked" => &mut into.deadlocked,
            "interleavings" => &mut into.interleavings,
            other => return Err(format!("{other} is no fact")),
        } = Some(number);
    }
    Ok(())
}

#[test]
fn facts_are_read_line_by_line() {
    let text = "//@ traces 3\n//@ verdict deadlock deadlocked 1\n//@ with N=4 B=1 traces 6 slow\n\nconst N = 3;";
    let all = expectations(text).expect("well-formed");
    let base = Expectation {
        traces: Some(3),
        deadlocked: Some(1),
        verdict: Some("deadlock".into()),
        ..Expectation::default()
    };
    let constants = vec![("N".into(), "4".into()), ("B".into(), "1".into())];
    let with = Expectation { constants, traces: Some(6), slow: true, ..Expectation::default() };
    assert_eq!(all, [base, with]);
}

#[test]
fn what_is_no_fact_is_refused() {
    for text in ["//@ trace 3", "//@ traces", "//@ traces many", "//@ verdict fine", "//@ with N=3"]
    {
        assert!(expectations(text).is_err(), "{text}");
    }
}
