//! Which of the faults that a program declares may happen in a run.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

/// The faults that a run allows: those that a program declares, or fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Faults {
    /// Which kinds.
    #[cfg_attr(feature = "json", serde(rename = "faults"))]
    pub kinds: FaultKinds,
    /// The maximum number of crashes in an execution, of all processes together.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub max_crashes: Option<u32>,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults { kinds: FaultKinds::All, max_crashes: None }
    }
}

/// What happens in a step in which a fault is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    /// The process does not crash.
    Survival,
    /// It crashes.
    Crash {
        /// Does it start again?
        restarts: bool,
    },
    /// The message is sent once.
    Delivery,
    /// The message is lost.
    Loss,
    /// The message is sent twice.
    Doubling,
    /// The network stays as it is.
    Connection,
    /// Nodes of the network are cut off from the others.
    Cut,
    /// A receive gives up, which is not a fault.
    Timeout,
}

impl Incident {
    /// What a table of steps says of it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Incident::Survival => "does not crash here",
            Incident::Crash { restarts: false } => "crashes before this",
            Incident::Crash { restarts: true } => "crashes before this, and starts again",
            Incident::Delivery => "the message is not lost",
            Incident::Loss => "the message is lost",
            Incident::Doubling => "the message is sent twice",
            Incident::Connection => "is not cut",
            Incident::Cut => "is cut",
            Incident::Timeout => "sees no message, and gives up",
        }
    }

    /// Is it the lack of a fault?
    pub(crate) fn is_quiet(self) -> bool {
        matches!(self, Incident::Survival | Incident::Delivery | Incident::Connection)
    }

    /// Is it a fault? Nothing makes it happen.
    pub(crate) fn is_fault(self) -> bool {
        !self.is_quiet() && self != Incident::Timeout
    }

    /// The fault as a cause of what follows; `None` if none has happened.
    pub(crate) fn cause(self, process: &str) -> Option<String> {
        match self {
            Incident::Crash { restarts: false } => Some(format!("{process} crashed")),
            Incident::Crash { restarts: true } => {
                Some(format!("{process} crashed and started again"))
            }
            Incident::Loss => Some(format!("a message of {process} was lost")),
            Incident::Doubling => Some(format!("a message of {process} was sent twice")),
            Incident::Cut => Some(format!("{process} was cut")),
            _ => None,
        }
    }
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(rename_all = "lowercase"))]
pub enum FaultKinds {
    /// No faults, and no timeouts.
    None,
    /// Crashes, and timeouts.
    Crash,
    /// Lost and doubled messages, partitions, and timeouts.
    Loss,
    /// All that the program declares.
    All,
}

impl Faults {
    /// May processes crash?
    pub fn crash(self) -> bool {
        matches!(self.kinds, FaultKinds::Crash | FaultKinds::All) && self.max_crashes != Some(0)
    }

    /// May messages fail?
    pub fn lose(self) -> bool {
        matches!(self.kinds, FaultKinds::Loss | FaultKinds::All)
    }

    /// Do timeouts run?
    pub fn time_out(self) -> bool {
        self.kinds != FaultKinds::None
    }

    /// The options of the command line that ask for them; nothing if all are allowed.
    pub fn options(self) -> String {
        let kinds = match self.kinds {
            FaultKinds::All => String::new(),
            kinds => format!(" --faults {kinds}"),
        };
        kinds + &self.max_crashes.map_or(String::new(), |most| format!(" --max-crashes {most}"))
    }

    /// Are all allowed?
    pub fn are_all(&self) -> bool {
        *self == Faults::default()
    }
}

impl FaultKinds {
    const NAMES: [(&str, FaultKinds); 4] = [
        ("none", FaultKinds::None),
        ("crash", FaultKinds::Crash),
        ("loss", FaultKinds::Loss),
        ("all", FaultKinds::All),
    ];
}

impl Display for FaultKinds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, _) = Self::NAMES.into_iter().find(|(_, kinds)| kinds == self).expect("named");
        f.write_str(name)
    }
}

impl FromStr for FaultKinds {
    type Err = String;

    fn from_str(text: &str) -> Result<FaultKinds, String> {
        let found = Self::NAMES.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, kinds)| kinds).ok_or_else(|| "write none, crash, loss or all".to_owned())
    }
}
