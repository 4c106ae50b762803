//! What MPI leaves to its implementations.
//!
//! A program that is right with one of these choices and wrong with another depends on something that MPI does not
//! promise. So both are worth a search.

use serde::{Deserialize, Serialize};

/// The choices of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Semantics {
    /// When a standard send at a p2p or bag mailbox is complete.
    pub buffering: Buffering,
    /// When a rank leaves a collective.
    #[serde(rename = "collectives")]
    pub leaving: Leaving,
    /// So often in a row the same poll may be in vain; then a process waits for what it polls.
    #[serde(rename = "polls")]
    pub max_polls: u8,
}

impl Default for Semantics {
    fn default() -> Self {
        let (buffering, leaving) = (Buffering::Infinite, Leaving::Early);
        Semantics { buffering, leaving, max_polls: 2 }
    }
}

impl Semantics {
    /// As options of the command line: those that differ from the default.
    pub fn options(&self) -> String {
        let default = Semantics::default();
        let mut options = String::new();
        if self.buffering != default.buffering {
            options += &format!(" --buffering {}", self.buffering.name());
        }
        if self.leaving != default.leaving {
            options += &format!(" --collectives {}", self.leaving.name());
        }
        if self.max_polls != default.max_polls {
            options += &format!(" --polls {}", self.max_polls);
        }
        options
    }
}

impl Buffering {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Buffering::Zero => "zero",
            Buffering::Infinite => "infinite",
        }
    }
}

impl Leaving {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Leaving::Early => "early",
            Leaving::Synchronizing => "synchronizing",
        }
    }
}

/// When a standard send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Buffering {
    /// When it is matched: there are no buffers.
    Zero,
    /// At once: buffers never fill up.
    Infinite,
}

/// When a rank leaves a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leaving {
    /// As early as MPI allows: when those have entered whose values it needs.
    Early,
    /// When all have entered.
    Synchronizing,
}
