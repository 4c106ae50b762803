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
    /// The figures are those of the executions cut at this length.
    pub depth: Option<u64>,
    /// Global states first reached after 0, 1, 2, .. actions.
    pub states: Option<Vec<u64>>,
    /// Messages that stay pending make no deadlock; the same for all expectations of a file.
    pub allow_pending: bool,
    /// Not for the ordinary run.
    pub slow: bool,
}

impl Expectation {
    /// Does it say anything?
    pub fn is_empty(&self) -> bool {
        let Expectation { traces, deadlocked, interleavings, verdict, states, .. } = self;
        let figures = [traces, deadlocked, interleavings];
        figures.iter().all(|n| n.is_none()) && verdict.is_none() && states.is_none()
    }

    /// For messages: the constants, and where executions are cut, as options.
    pub fn options(&self) -> String {
        let constants = self.constants.iter().map(|(name, value)| format!(" -D {name}={value}"));
        let depth = self.depth.map(|depth| format!(" --depth {depth}"));
        constants.chain(depth).collect()
    }

    /// Is a line of its own well-formed?
    fn check(&self, is_with: bool) -> Result<(), String> {
        if is_with && self.constants.is_empty() {
            return Err("a `with` without constants".into());
        }
        if self.is_empty() {
            return Err("a line without facts".into());
        }
        let uncut = self.deadlocked.is_some() || self.verdict.is_some() || self.states.is_some();
        if self.depth.is_some() && uncut {
            return Err("with `depth` there are only `traces` and `interleavings`".into());
        }
        Ok(())
    }
}

/// The expectations of a spec: of the program as it stands first, then one for each line that says `with` or
/// `depth`.
pub fn expectations(text: &str) -> Result<Vec<Expectation>, String> {
    let mut all = vec![Expectation::default()];
    for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("//@")) {
        let words: Vec<_> = line.split_whitespace().collect();
        let facts = words.strip_prefix(&["with"]);
        let read = if facts.is_some() || words.contains(&"depth") {
            let mut own = Expectation::default();
            let read = read_facts(facts.unwrap_or(&words), &mut own);
            read.and_then(|()| own.check(facts.is_some())).map(|()| all.push(own))
        } else {
            read_facts(&words, &mut all[0])
        };
        read.map_err(|what| format!("`//@{line}`: {what}"))?;
    }
    let allow_pending = all.iter().any(|expectation| expectation.allow_pending);
    for expectation in &mut all {
        expectation.allow_pending = allow_pending;
    }
    Ok(all)
}

fn read_facts(mut words: &[&str], into: &mut Expectation) -> Result<(), String> {
    while let [word, rest @ ..] = words {
        words = rest;
        let flag = match *word {
            "slow" => Some(&mut into.slow),
            "allow-pending" => Some(&mut into.allow_pending),
            _ => None,
        };
        if let Some(flag) = flag {
            *flag = true;
            continue;
        }
        if let Some((name, value)) = word.split_once('=') {
            into.constants.push((name.into(), value.into()));
            continue;
        }
        let [value, rest @ ..] = words else { return Err(format!("{word} is without a value")) };
        words = rest;
        if *word == "verdict" {
            if !["ok", "deadlock", "livelock", "assertion", "error"].contains(value) {
                return Err(format!("{value} is no verdict"));
            }
            into.verdict = Some((*value).into());
            continue;
        }
        let number = |text: &str| text.parse().map_err(|_| format!("{text} is no number"));
        if *word == "states" {
            into.states = Some(value.split(',').map(number).collect::<Result<_, _>>()?);
            continue;
        }
        let number = number(value)?;
        *match *word {
            "depth" => &mut into.depth,
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
fn bounded_figures_stand_apart() {
    let all = expectations("//@ traces 3\n//@ depth 4 traces 2\n//@ states 1,3,6");
    let base =
        Expectation { traces: Some(3), states: Some(vec![1, 3, 6]), ..Expectation::default() };
    let cut = Expectation { depth: Some(4), traces: Some(2), ..Expectation::default() };
    assert_eq!(all, Ok(vec![base, cut]));
}

#[test]
fn pending_messages_are_allowed_in_a_whole_file() {
    let all = expectations("//@ traces 1\n//@ allow-pending\n//@ with N=2 traces 2");
    assert!(all.expect("well-formed").iter().all(|expectation| expectation.allow_pending));
}

#[test]
fn what_is_no_fact_is_refused() {
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
        assert!(expectations(text).is_err(), "{text}");
    }
}
