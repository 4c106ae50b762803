//! Expectations: parses the `//@` lines of a spec, for the test suite.
//!
//! `//@ traces 2`, `//@ deadlocked 1 verdict deadlock`, `//@ with N=4 traces 6`,
//! `//@ with N=5 slow traces 24`. A line may state several facts. Without `with` they hold for the
//! declared values of constants. With `depth` all figures of the line are those of a search up to
//! this depth. `buffering`, `collectives` and `polls` choose the MPI semantics of the search.

use rustc_hash::FxHashSet;

use super::diagnostic::{Diagnostic, Findings, Lines, Span, nearest};
use crate::model::{Buffering, Leaving, Semantics};

/// The possible verdicts of a complete search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVerdict {
    /// Nothing is violated.
    Ok,
    /// Some execution ends in a deadlock.
    Deadlock,
    /// Some execution ends in a livelock.
    Livelock,
    /// Some `assert` or `final` fails.
    Assertion,
    /// Some process runs into a run-time violation.
    Error,
    /// Something never happens that must happen in the end.
    Liveness,
    /// Nothing is violated, but executions were cut at the bound on polls.
    Incomplete,
}

impl ExpectedVerdict {
    /// The name of the verdict in a spec.
    pub fn name(self) -> &'static str {
        VERDICTS.iter().find(|(_, verdict)| *verdict == self).map_or("", |(name, _)| name)
    }
}

/// What must hold for certain values of constants: one `//@` line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The names and values of constants to set, as by `-D`.
    pub with: Vec<(String, String)>,
    /// Does the check take too long for an ordinary test run?
    pub slow: bool,
    /// The number of Mazurkiewicz classes of complete executions.
    pub traces: Option<u64>,
    /// The number of classes that end in a deadlock.
    pub deadlocked: Option<u64>,
    /// The number of complete interleavings, as the exhaustive explorer counts them.
    pub interleavings: Option<u64>,
    /// The verdict of a complete search.
    pub verdict: Option<ExpectedVerdict>,
    /// The depth at which executions are cut: an execution of this length counts as complete.
    pub depth: Option<u64>,
    /// The numbers of distinct global states that are first reached after 0, 1, 2, .. actions.
    pub states: Option<Vec<u64>>,
    /// Are pending messages no deadlock (`--allow-pending`)? Applies to the whole file.
    pub allow_pending: bool,
    /// The MPI semantics of the search; `None` for the default.
    pub semantics: Option<Semantics>,
    /// The number of the line, for messages.
    pub line: u32,
}

impl Expectation {
    fn has_figures(&self) -> bool {
        let figures = [self.traces, self.deadlocked, self.interleavings];
        self.verdict.is_some() || figures.iter().any(Option::is_some)
    }
}

const WORDS: [&str; 12] = [
    "traces",
    "deadlocked",
    "interleavings",
    "verdict",
    "depth",
    "states",
    "allow-pending",
    "with",
    "buffering",
    "collectives",
    "polls",
    "slow",
];
const VERDICTS: [(&str, ExpectedVerdict); 7] = [
    ("ok", ExpectedVerdict::Ok),
    ("deadlock", ExpectedVerdict::Deadlock),
    ("livelock", ExpectedVerdict::Livelock),
    ("assertion", ExpectedVerdict::Assertion),
    ("error", ExpectedVerdict::Error),
    ("liveness", ExpectedVerdict::Liveness),
    ("incomplete", ExpectedVerdict::Incomplete),
];

/// Parses the expectations at `spans` in `source`; `constants` are the names that `with` may set.
pub(crate) fn parse(
    source: &str,
    spans: &[Span],
    constants: &FxHashSet<&str>,
    diagnostics: &mut Findings,
) -> Vec<Expectation> {
    let lines = Lines::new(source);
    let parsed =
        spans.iter().filter_map(|&span| match parse_line(source, &lines, span, constants) {
            Ok(expectation) => Some(expectation),
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                None
            }
        });
    parsed.collect()
}

/// The words of a line, each with its span.
fn words(source: &str, span: Span) -> impl Iterator<Item = (&str, Span)> {
    let line = &source[span.range()];
    line.split_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - source.as_ptr() as usize;
        (word, Span::new(start, start + word.len()))
    })
}

fn parse_line(
    source: &str,
    lines: &Lines<'_>,
    span: Span,
    constants: &FxHashSet<&str>,
) -> Result<Expectation, Box<Diagnostic>> {
    let (line, _) = lines.position(span.start as usize);
    let mut expectation = Expectation { line, ..Expectation::default() };
    let mut words = words(source, span).peekable();
    if words.peek().is_none() {
        let hint = "such as `//@ traces 2`";
        return Err(Box::new(
            Diagnostic::error(span, "an expectation that states nothing").hint(hint),
        ));
    }
    while let Some((word, at)) = words.next() {
        match word {
            "traces" => expectation.traces = Some(number(words.next(), at)?),
            "deadlocked" => expectation.deadlocked = Some(number(words.next(), at)?),
            "interleavings" => expectation.interleavings = Some(number(words.next(), at)?),
            "verdict" => expectation.verdict = Some(verdict(words.next(), at)?),
            "depth" => expectation.depth = Some(number(words.next(), at)?),
            "states" => expectation.states = Some(numbers(words.next(), at)?),
            "allow-pending" => expectation.allow_pending = true,
            "slow" => expectation.slow = true,
            "buffering" => {
                expectation.semantics.get_or_insert_default().buffering = match words.next() {
                    Some(("zero", _)) => Buffering::Zero,
                    Some(("infinite", _)) => Buffering::Infinite,
                    Some(("any", _)) => Buffering::Any,
                    other => return Err(unknown(other, at, "`zero`, `infinite` or `any`")),
                }
            }
            "collectives" => {
                expectation.semantics.get_or_insert_default().leaving = match words.next() {
                    Some(("early", _)) => Leaving::Early,
                    Some(("synchronizing", _)) => Leaving::Synchronizing,
                    Some(("any", _)) => Leaving::Any,
                    other => return Err(unknown(other, at, "`early`, `synchronizing` or `any`")),
                }
            }
            "polls" => {
                let polls = number(words.next(), at)?;
                expectation.semantics.get_or_insert_default().max_polls =
                    polls.min(Semantics::MOST_POLLS.into()) as u8;
            }
            "with" => {
                while let Some((setting, at)) = words.next_if(|(word, _)| word.contains('=')) {
                    expectation.with.push(setting_of(setting, at, constants)?);
                }
                if expectation.with.is_empty() {
                    let diagnostic = Diagnostic::error(at, "`with` needs a constant");
                    return Err(Box::new(diagnostic.hint("such as `with N=4`")));
                }
            }
            other => {
                let message = format!("unknown expectation `{other}`");
                let hint =
                    nearest(other, WORDS).unwrap_or_else(|| format!("one of {}", WORDS.join(", ")));
                return Err(Box::new(Diagnostic::error(at, message).hint(hint)));
            }
        }
    }
    if expectation.depth.is_some() && !expectation.has_figures() {
        let diagnostic = Diagnostic::error(span, "a `depth` without a figure");
        let hint = "state what a search up to this depth finds: `//@ depth 10 traces 42`";
        return Err(Box::new(diagnostic.hint(hint)));
    }
    Ok(expectation)
}

fn unknown(word: Option<(&str, Span)>, after: Span, wanted: &str) -> Box<Diagnostic> {
    let (_, at) = word.unwrap_or(("", after));
    Box::new(Diagnostic::error(at, format!("expected {wanted}")))
}

fn numbers(word: Option<(&str, Span)>, after: Span) -> Result<Vec<u64>, Box<Diagnostic>> {
    let (word, at) = word.unwrap_or(("", after));
    let all: Option<_> = word.split(',').map(|n| n.replace('_', "").parse().ok()).collect();
    all.ok_or_else(|| {
        let diagnostic = Diagnostic::error(at, "expected numbers, one for each depth");
        Box::new(diagnostic.hint("such as `states 1,3,6`, without spaces"))
    })
}

fn number(word: Option<(&str, Span)>, after: Span) -> Result<u64, Box<Diagnostic>> {
    let (word, at) = word.unwrap_or(("", after));
    word.replace('_', "").parse().map_err(|_| Box::new(Diagnostic::error(at, "expected a number")))
}

fn verdict(word: Option<(&str, Span)>, after: Span) -> Result<ExpectedVerdict, Box<Diagnostic>> {
    let (word, at) = word.unwrap_or(("", after));
    let found = VERDICTS.iter().find(|(name, _)| *name == word);
    found.map(|&(_, verdict)| verdict).ok_or_else(|| {
        let hint = "a verdict is ok, deadlock, livelock, assertion, error, liveness or incomplete";
        Box::new(Diagnostic::error(at, "expected a verdict").hint(hint))
    })
}

fn setting_of(
    word: &str,
    at: Span,
    constants: &FxHashSet<&str>,
) -> Result<(String, String), Box<Diagnostic>> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if !constants.contains(name) {
        let hint = nearest(name, constants.iter().copied());
        let message = format!("the file has no constant `{name}`");
        return Err(Box::new(Diagnostic::error(at, message).maybe_hint(hint)));
    }
    Ok((name.to_owned(), value.to_owned()))
}
