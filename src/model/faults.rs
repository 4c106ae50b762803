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
