//! Bounded clients of a data structure, which check every outcome.
//!
//! A structure is correct if no client can distinguish it from one whose operations happen at once,
//! one after another: *observational refinement*, which for such specifications is linearizability
//! (I. Filipović, O'Hearn, Rinetzky and Yang, TCS 411, 2010). A client tests that within bounds. It
//! has a few threads, with a few calls each. At the end it asserts that the returned values are
//! those of some sequential execution of the same calls, with the calls of each thread in their
//! order. The outcomes of sequential executions are computed beforehand, by running the structure
//! itself with whole calls as steps (`outcomes`). The method is that of Violat (Emmi and Enea, CAV
//! 2019, LNCS 11562, page 534); so are the random programs (`calls`) and the classes of buggy
//! invocations ([`Buggy`]).
//!
//! Two things are not checked: whether non-overlapping calls of different threads keep their order
//! (the client has no clock), and what the structure contains at the end, unless a call asks for
//! it.
//!
//! # Departures
//! Violat has a specification of the abstract data type besides its implementation. Here the
//! structure is its own specification. So a bug is not found if it also shows in sequential
//! executions.

mod calls;
mod outcomes;
mod text;

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::lang::{self, Diagnostics};

/// The constant with the number of keys, if the structure has it.
const KEYS: &str = "KEYS";
/// The constant with the total number of calls of the client, if the structure has it.
const CALLS: &str = "CALLS";
/// The constant with the key whose calls run into a bug.
const BUGGY_KEY: &str = "BUGGY_KEY";

/// The parameters of a client.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The number of threads.
    pub threads: usize,
    /// The number of calls of each thread.
    pub calls: usize,
    /// The procedures to call. If empty: all procedures that no other procedure calls.
    pub operations: Vec<String>,
    /// Keys are drawn from 1 to this number, inclusive.
    pub keys: usize,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of calls that run into a bug; `None` to leave it to chance.
    pub buggy: Option<Buggy>,
    /// The constants to set, with their values.
    pub defines: Vec<(String, String)>,
    /// The time limit for the sequential executions.
    pub timeout: Option<Duration>,
}

/// The number of calls with the key that runs into a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buggy {
    /// All of them.
    All,
    /// Half of them, rounded down.
    Half,
    /// One.
    One,
    /// None.
    None,
}

impl Buggy {
    /// The name on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Buggy::All => "all",
            Buggy::Half => "half",
            Buggy::One => "one",
            Buggy::None => "none",
        }
    }

    /// The number of buggy calls, out of `calls`.
    fn count(self, calls: usize) -> usize {
        match self {
            Buggy::All => calls,
            Buggy::Half => calls / 2,
            Buggy::One => 1,
            Buggy::None => 0,
        }
    }
}

/// A call of the client, as in the source: `add(1)`.
type Invocation = String;

/// A client of a structure.
#[derive(Clone, Debug)]
pub struct Client {
    /// A complete spec.
    pub text: String,
    /// The number of outcomes of sequential executions.
    pub outcomes: usize,
    /// The number of situations between calls that were visited to find the outcomes.
    pub situations: usize,
}

/// The reason why no client was made.
#[derive(Clone, Debug)]
pub enum Unmade {
    /// The structure, or its client, does not compile.
    Wrong(Diagnostics),
    /// The wish cannot be fulfilled for this structure; the reason, in a sentence.
    Unfit(String),
}

impl From<String> for Unmade {
    fn from(why: String) -> Self {
        Unmade::Unfit(why)
    }
}

impl From<Diagnostics> for Unmade {
    fn from(diagnostics: Diagnostics) -> Self {
        Unmade::Wrong(diagnostics)
    }
}

impl Display for Unmade {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Unmade::Wrong(diagnostics) => write!(f, "{}", diagnostics.render(false)),
            Unmade::Unfit(why) => write!(f, "{why}"),
        }
    }
}

/// Makes a client of the structure in `source`. `name` is the name of the structure in messages,
/// and `command` the command that the first lines of the client quote.
///
/// # Errors
/// If the file has errors, has nothing to call, or does not fit the wish.
pub fn client(name: &str, source: &str, wish: &Wish, command: &str) -> Result<Client, Unmade> {
    let mut structure = lang::structure(name, source, &wish.defines)?;
    let buggy_key = buggy_key(&structure, wish)?;
    let sizes = [(KEYS, wish.keys), (CALLS, wish.threads * wish.calls)];
    for (constant, value) in sizes.into_iter().chain(buggy_key.map(|key| (BUGGY_KEY, key))) {
        let is_set = wish.defines.iter().any(|(name, _)| name == constant);
        if !is_set && structure.constants.iter().any(|known| known == constant) {
            structure.set(constant, &value.to_string());
        }
    }
    let threads = calls::choose(&structure, wish, buggy_key)?;
    let declarations = structure.text();
    let alone = lang::compile(name, &text::sequential(&declarations, &threads), &[])?;
    let found = outcomes::outcomes(&alone, &threads, wish.timeout)?;
    let text = text::client(&declarations, &threads, &found, command);
    // The names of the threads may be in use already.
    lang::compile("client.maz", &text, &[])?;
    Ok(Client { text, outcomes: found.outcomes.len(), situations: found.situations })
}

/// The key with which calls run into a bug, if the wish asks for such calls.
fn buggy_key(structure: &lang::Structure, wish: &Wish) -> Result<Option<usize>, Unmade> {
    if wish.buggy.is_none() {
        return Ok(None);
    }
    if !structure.constants.iter().any(|known| known == BUGGY_KEY) {
        return Err(format!(
            "the structure has no key that runs into a bug: it has no constant `{BUGGY_KEY}`"
        )
        .into());
    }
    let given = wish.defines.iter().rev().find(|(name, _)| name == BUGGY_KEY);
    let key = given.map_or(Some(1), |(_, value)| value.parse().ok());
    match key.filter(|key| (1..=wish.keys).contains(key)) {
        Some(key) => Ok(Some(key)),
        None => Err(format!("{BUGGY_KEY} must be one of the keys, 1 to {}", wish.keys).into()),
    }
}
