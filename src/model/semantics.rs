//! What MPI leaves to its implementations.
//!
//! A program that is correct with one of these choices and wrong with another depends on something
//! that MPI does not promise. So both choices are worth a search; or one search in which each
//! communication may go either way on its own ([`Buffering::Any`], [`Leaving::Any`]).

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::Completion;

/// The choices made for one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Semantics {
    /// When a standard send at a p2p or bag mailbox is complete.
    pub buffering: Buffering,
    /// When a rank leaves a collective.
    #[cfg_attr(feature = "json", serde(rename = "collectives"))]
    pub leaving: Leaving,
    /// Maximum number of consecutive unsuccessful polls; then the process blocks until what it
    /// polls is complete. If it would otherwise go on, the search is not complete.
    #[cfg_attr(feature = "json", serde(rename = "polls"))]
    pub max_polls: u8,
}

impl Semantics {
    /// The greatest value of `max_polls` that can be requested.
    pub const MOST_POLLS: u8 = 200;
}

impl Default for Semantics {
    fn default() -> Self {
        let (buffering, leaving) = (Buffering::Infinite, Leaving::Early);
        Semantics { buffering, leaving, max_polls: 2 }
    }
}

impl Semantics {
    /// Everything that an implementation may do, chosen anew each time. An error that occurs with
    /// any other choice also occurs with this one.
    pub const ANY: Semantics =
        Semantics { buffering: Buffering::Any, leaving: Leaving::Any, max_polls: 2 };

    /// May each communication end early or late ([`Completion::Either`])?
    pub fn are_ends_open(self) -> bool {
        self.buffering == Buffering::Any || self.leaving == Leaving::Any
    }

    /// The options of the command line for the values that differ from the default.
    pub fn options(&self) -> String {
        let default = Semantics::default();
        let mut options = String::new();
        if self.buffering != default.buffering {
            options += &format!(" --buffering {}", self.buffering);
        }
        if self.leaving != default.leaving {
            options += &format!(" --collectives {}", self.leaving);
        }
        if self.max_polls != default.max_polls {
            options += &format!(" --polls {}", self.max_polls);
        }
        options
    }
}

/// When a standard send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(into = "String", try_from = "String"))]
pub enum Buffering {
    /// When it is matched: there are no buffers.
    Zero,
    /// At once: buffers never fill up.
    Infinite,
    /// At once or when it is matched; each send chooses for itself.
    Any,
    /// A message of at most this number of bytes at once, a longer one when it is matched.
    Eager(u64),
}

impl Buffering {
    /// When a standard send of `bytes` bytes is complete. A message of unknown length counts as
    /// short.
    pub fn completion(self, bytes: Option<u64>) -> Completion {
        match self {
            Buffering::Zero => Completion::Late,
            Buffering::Infinite => Completion::Early,
            Buffering::Any => Completion::Either,
            Buffering::Eager(most) if bytes.is_some_and(|bytes| bytes > most) => Completion::Late,
            Buffering::Eager(_) => Completion::Early,
        }
    }
}

impl fmt::Display for Buffering {
    /// As on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Buffering::Zero => f.write_str("zero"),
            Buffering::Infinite => f.write_str("infinite"),
            Buffering::Any => f.write_str("any"),
            Buffering::Eager(most) => write!(f, "eager={most}"),
        }
    }
}

impl FromStr for Buffering {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "zero" => Ok(Buffering::Zero),
            "infinite" => Ok(Buffering::Infinite),
            "any" => Ok(Buffering::Any),
            _ => {
                let bytes = text.strip_prefix("eager=").and_then(|bytes| bytes.parse().ok());
                let unknown = || format!("`{text}` is none of zero, infinite, any, eager=BYTES");
                bytes.map(Buffering::Eager).ok_or_else(unknown)
            }
        }
    }
}

impl From<Buffering> for String {
    fn from(buffering: Buffering) -> String {
        buffering.to_string()
    }
}

impl TryFrom<String> for Buffering {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// When a rank leaves a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "lowercase"))]
pub enum Leaving {
    /// As early as MPI allows: when the ranks have entered whose values it needs.
    Early,
    /// When all have entered.
    Synchronizing,
    /// Early, or when all have entered; each rank chooses for itself, each time.
    Any,
}

impl Leaving {
    /// When a rank leaves a collective.
    pub fn completion(self) -> Completion {
        match self {
            Leaving::Early => Completion::Early,
            Leaving::Synchronizing => Completion::Late,
            Leaving::Any => Completion::Either,
        }
    }
}

impl fmt::Display for Leaving {
    /// As on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Leaving::Early => "early",
            Leaving::Synchronizing => "synchronizing",
            Leaving::Any => "any",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffering_is_read_as_it_is_written() {
        for buffering in
            [Buffering::Zero, Buffering::Infinite, Buffering::Any, Buffering::Eager(1024)]
        {
            assert_eq!(buffering.to_string().parse(), Ok(buffering));
        }
        for wrong in ["eager", "eager=", "eager=-1", "eager=1k", "Zero", ""] {
            assert!(wrong.parse::<Buffering>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn short_messages_are_sent_eagerly() {
        let eager = Buffering::Eager(4);
        let bytes = [Some(0), Some(4), Some(5), None];
        let expected = [Completion::Early, Completion::Early, Completion::Late, Completion::Early];
        assert_eq!(bytes.map(|bytes| eager.completion(bytes)), expected);
    }
}
