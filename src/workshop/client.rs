//! Bounded clients of a data structure, which check every outcome.
//!
//! A structure is right if nobody can tell it from one whose operations happen at once, one after
//! the other: *observational refinement*, which for such specifications is linearizability (I.
//! Filipović, O'Hearn, Rinetzky and Yang, TCS 411, 2010). A client tests that within bounds. It has
//! a few threads, each with a few calls. At the end it asserts that the values they returned are
//! those of some sequential execution of the same calls, with the calls of each thread in their
//! order. The outcomes of sequential executions are computed beforehand, by running the structure
//! itself with whole calls as steps (`outcomes`). Violat (Emmi and Enea, CAV 2019, LNCS 11562, p.
//! 534) makes clients in this way; its random programs (`calls`) and classes of buggy invocations
//! ([`Buggy`]) are followed here.
//!
//! Two things are not checked: whether calls of different threads that do not overlap keep their
//! order (the client has no clock), and what the structure holds at the end, unless a call asks for
//! it.
//!
//! # Departures
//! Violat has a specification of the abstract data type besides its implementation. Here the
//! structure is its own specification. So a bug that also shows when calls run alone, one after the
//! other, is not found.

mod calls;
mod outcomes;
mod text;

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::lang::{self, Diagnostics};

/// The constant that says how many keys there are, if the structure has it.
const KEYS: &str = "KEYS";
/// The constant that says how many calls the client has in total, if the structure has it.
const CALLS: &str = "CALLS";
/// The constant that names the key with which calls run into a bug.
const BUGGY_KEY: &str = "BUGGY_KEY";

/// What a client should be like.
#[derive(Clone, Debug)]
pub struct Wish {
    /// How many threads.
    pub threads: usize,
    /// How many calls each of them makes.
    pub calls: usize,
    /// The procedures to call. If empty: all procedures that no other procedure calls.
    pub operations: Vec<String>,
    /// Keys are drawn from 1 up to this number.
    pub keys: usize,
    /// The seed: another seed makes another client.
    pub seed: u64,
    /// How many calls run into a bug; `None` to leave that to chance.
    pub buggy: Option<Buggy>,
    /// The constants to set, with their values.
    pub defines: Vec<(String, String)>,
    /// How long the sequential executions may take.
    pub timeout: Option<Duration>,
}

/// How many calls are made with the key that runs into a bug.
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
    /// The word for it, as on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Buggy::All => "all",
            Buggy::Half => "half",
            Buggy::One => "one",
            Buggy::None => "none",
        }
    }

    /// How many that is of this many calls.
    fn count(self, calls: usize) -> usize {
        match self {
            Buggy::All => calls,
            Buggy::Half => calls / 2,
            Buggy::One => 1,
            Buggy::None => 0,
        }
    }
}

/// A call of the client, as the file writes it: `add(1)`.
type Invocation = String;

/// A client of a structure.
#[derive(Clone, Debug)]
pub struct Client {
    /// A complete spec.
    pub text: String,
    /// How many outcomes sequential executions have.
    pub outcomes: usize,
    /// How many situations between calls were looked at to find them.
    pub situations: usize,
}

/// Why there is no client.
#[derive(Clone, Debug)]
pub enum Unmade {
    /// The structure, or the client made of it, is no program.
    Wrong(Diagnostics),
    /// The wish does not fit the structure; why, in a sentence.
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

/// Makes a client of the structure in `source`. `name` is how messages call it, and `command` what
/// the client's first lines say made it.
///
/// # Errors
/// If the file has mistakes, has nothing to call, or what is asked for does not fit it.
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
    // The names of threads may be taken.
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
