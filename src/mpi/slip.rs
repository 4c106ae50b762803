//! The mistakes in MPI programs: one list of kinds, for the library, for reports and for test
//! suites.
//!
//! The library puts the name of the kind in front of its message. The search finds the other kinds;
//! `diagnose` classifies deadlocks and calls that disagree.

use std::fmt;

/// Makes the enum and the texts of each kind.
macro_rules! slips {
    ($($slip:ident $name:literal $mbi:literal)*) => {
        /// A kind of mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Slip {
            $(#[doc = $name] $slip,)*
        }

        impl Slip {
            /// All kinds.
            pub const ALL: &'static [Slip] = &[$(Slip::$slip,)*];

            /// The name in messages and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Slip::$slip => $name,)*
                }
            }

            /// The name in the MPI Bugs Initiative; empty if that has no tests of it.
            pub fn mbi(self) -> &'static str {
                match self {
                    $(Slip::$slip => $mbi,)*
                }
            }
        }
    };
}

slips! {
    CallOrder "call order" "CallMatching"
    CommunicatorMismatch "communicator mismatch" "CommunicatorMatching"
    RootMismatch "root mismatch" "RootMatching"
    OperatorMismatch "operator mismatch" "OperatorMatching"
    DatatypeMismatch "datatype mismatch" "DatatypeMatching"
    CountMismatch "count mismatch" ""
    Truncation "truncation" ""
    TagMismatch "tag mismatch" "TagMatching"
    BufferingHazard "buffering hazard" "BufferingHazard"
    ReadyMode "ready mode" ""
    MessageRace "message race" "MessageRace"
    InvalidBuffer "invalid buffer" "InvalidBuffer"
    InvalidCount "invalid count" "InvalidOtherArg"
    InvalidDatatype "invalid datatype" "InvalidDatatype"
    InvalidTag "invalid tag" "InvalidTag"
    InvalidRank "invalid rank" "InvalidSrcDest"
    InvalidRoot "invalid root" "InvalidRoot"
    InvalidCommunicator "invalid communicator" "InvalidCommunicator"
    InvalidGroup "invalid group" "InvalidOtherArg"
    InvalidOperator "invalid operator" "InvalidOperator"
    InvalidRequest "invalid request" "InvalidOtherArg"
    InvalidWindow "invalid window" "InvalidWindow"
    InvalidArgument "invalid argument" "InvalidOtherArg"
    MissingStart "missing start" "MissingStart"
    MissingWait "missing wait" "MissingWait"
    RequestLeak "request leak" "RequestLeak"
    CommunicatorLeak "communicator leak" "CommunicatorLeak"
    GroupLeak "group leak" "GroupLeak"
    DatatypeLeak "datatype leak" "TypeLeak"
    OperatorLeak "operator leak" "OperatorLeak"
    WindowLeak "window leak" "WindowLeak"
    FileLeak "file leak" ""
    MissingEpoch "missing epoch" "MissingEpoch"
    DoubleEpoch "double epoch" "DoubleEpoch"
    LocalConcurrency "local concurrency" "LocalConcurrency"
    GlobalConcurrency "global concurrency" "GlobalConcurrency"
    MissingInit "missing init" ""
    MissingFinalize "missing finalize" ""
    Assertion "assertion" ""
    Abort "abort" ""
    Exit "exit" ""
    Crash "crash" ""
    Hang "hang" ""
    Threads "threads" ""
    DataRace "data race" ""
    Deadlock "deadlock" ""
    Nondeterminism "nondeterminism" ""
    Unsupported "unsupported" ""
}

impl Slip {
    /// The kind that a message begins with, and the rest of the message.
    pub(crate) fn of(message: &str) -> Option<(Slip, &str)> {
        let (name, rest) = message.split_once(": ")?;
        Some((Slip::named(name)?, rest))
    }

    /// The kind with this name.
    pub(crate) fn named(name: &str) -> Option<Slip> {
        Slip::ALL.iter().copied().find(|slip| slip.name() == name)
    }

    /// The object that is leaked, if this kind is about one that is never freed. Such a leak is
    /// harmless: the rank reports it in a [remark](crate::model::Remark) at its end.
    pub(crate) fn unfreed(self) -> Option<&'static str> {
        Some(match self {
            Slip::CommunicatorLeak => "communicator",
            Slip::DatatypeLeak => "datatype",
            Slip::GroupLeak => "group",
            Slip::OperatorLeak => "operator",
            Slip::WindowLeak => "window",
            Slip::FileLeak => "file",
            Slip::RequestLeak => "persistent request",
            Slip::MissingStart => "unused persistent request",
            _ => return None,
        })
    }

    /// Whether a suite uses this label for the kind. In suites, mistakes that depend on the input
    /// have labels of their own.
    pub(crate) fn is_labelled(self, label: &str) -> bool {
        self.mbi() == label || (self == Slip::CallOrder && label == "IHCallMatching")
    }
}

impl fmt::Display for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::library::{PARTS, TWINS};

    #[test]
    fn messages_begin_with_their_kind() {
        assert_eq!(
            Slip::of("invalid tag: the tag is -5"),
            Some((Slip::InvalidTag, "the tag is -5"))
        );
        assert_eq!(Slip::of("the tag is -5"), None);
        for slip in Slip::ALL {
            assert_eq!(Slip::of(&format!("{slip}: x")), Some((*slip, "x")));
        }
    }

    /// Every kind that the library names is in the list.
    #[test]
    fn the_library_names_kinds_that_are_known() {
        let mut found = 0;
        for (name, text) in PARTS.into_iter().chain(TWINS) {
            for call in text.split("fail(\"").skip(1) {
                let kind = call.split('"').next().unwrap();
                assert!(Slip::ALL.iter().any(|slip| slip.name() == kind), "{name}: {kind}");
                found += 1;
            }
        }
        assert!(found > 40, "{found}");
    }
}
