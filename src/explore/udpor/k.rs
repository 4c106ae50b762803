//! UDPOR's k.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// How thorough UDPOR's alternatives are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum K {
    /// k-partial alternatives: in conflict with k of the disabled events. k is at least 1.
    Partial(u32),
    /// Alternatives to all disabled events.
    #[default]
    Optimal,
}

impl Display for K {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            K::Partial(k) => write!(f, "{k}"),
            K::Optimal => f.write_str("optimal"),
        }
    }
}

impl FromStr for K {
    type Err = String;

    fn from_str(text: &str) -> Result<K, String> {
        match text.parse() {
            _ if text == "optimal" => Ok(K::Optimal),
            Ok(k) if k > 0 => Ok(K::Partial(k)),
            _ => Err("k is a number from 1 on, or `optimal`".into()),
        }
    }
}
