//! What DPOR and TransDPOR walk along.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// What a search by backtrack sets walks along, and what its backtrack sets belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Over {
    /// Executions: sequences of actions.
    #[default]
    Executions,
    /// Configurations of the unfolding: all executions of a class up to here are one.
    Configurations,
}

impl Over {
    /// All of them.
    pub const ALL: [Over; 2] = [Over::Executions, Over::Configurations];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Over::Executions => "executions",
            Over::Configurations => "configurations",
        }
    }
}

impl Display for Over {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Over {
    type Err = String;

    fn from_str(text: &str) -> Result<Over, String> {
        let named = Over::ALL.into_iter().find(|over| over.name() == text);
        named.ok_or_else(|| {
            format!("`{text}` is not something to walk along: `executions` or `configurations`")
        })
    }
}
