//! States that are stored: what the explorers that match states are made of.
//!
//! | part | idea |
//! |---|---|
//! | [`Store`] | each state once, compressed as a tree |
//! | [`Cursor`] | the model state at hand, and the stored state that it equals |
//! | [`search`] | depth-first, with a rule for what to explore |
//! | [`breadth`] | breadth-first, everything up to a depth |
//! | [`SafeSets`] | operations that nobody can interfere with |
//! | [`labels`], [`past`] | what comes after a state, and what races with it |
//! | [`source_set`] | whether enough was explored from a state |
//!
//! Cirisci, Enea, Farzan, Mutluergil: *A pragmatic approach to stateful partial order reduction* (VMCAI 2023), "the paper" below.

mod breadth;
mod cursor;
mod enumeration;
mod histories;
pub mod labels;
pub mod past;
mod processes;
mod safe_set;
pub mod search;
pub mod source_set;
mod store;

pub use cursor::Cursor;
pub use enumeration::Enumeration;
pub use histories::Histories;
pub use labels::Touches;
pub use processes::Processes;
pub use safe_set::SafeSets;
pub use store::{StateId, Store};

use super::Order;

/// How a search that stores states goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stateful {
    /// In which order processes are tried: `Sequential`, `Visited` or `Random`.
    pub order: Order,
    /// What is switched off.
    pub without: Switches,
    /// The paper's algorithm to the letter, with locks as one transition. It loses executions.
    pub as_printed: bool,
    /// A state tells what each process has gone through, not only where it is: of two executions that
    /// meet, only those are one that differ in the order of independent actions.
    pub histories: bool,
    /// Keep 64 bits of a hash instead of a state. Two states may be taken for one: no such search is complete.
    pub hash_compaction: bool,
}

impl Stateful {
    /// Is this on? What saves traversals is of no use where there are none.
    pub fn has(&self, switch: Switch) -> bool {
        let saves_traversals = matches!(switch, Switch::VisitedFirst | Switch::VisitedSuccessors);
        let is_of_use = !saves_traversals || self.without.contain(Switch::Summaries);
        is_of_use && !self.without.contain(switch)
    }

    /// What a rule that asks what comes after a state remembers of it.
    pub fn memory(&self) -> past::Memory {
        match self.has(Switch::Summaries) {
            true => past::Memory::Summaries,
            false => past::Memory::Transitions,
        }
    }

    /// Does a process go first that leads to states met before? To find out costs a step of each.
    pub fn visited_first(&self) -> bool {
        self.order == Order::Visited || self.has(Switch::VisitedFirst)
    }
}

/// An optimisation that can be switched off. Number 2 to 6 are those of the paper's appendix A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Switch {
    /// A process whose operation is invisible goes first, alone (`s-por`, `de-s-por`, `dl-s-por`).
    SafeSets,
    /// A traversal takes each transition once, not each execution (`de-s-por`, `dl-s-por`).
    Once,
    /// Nothing is traversed from the last successor of a state (`dl-s-por`, as all that follow).
    LastSuccessor,
    /// Nothing is traversed from a state whose other successors were all met before. On without summaries only.
    VisitedSuccessors,
    /// A traversal ends when it has found all processes of the safe set.
    CompleteSet,
    /// A traversal ends when it has found a process outside the safe set.
    DisabledProcess,
    /// Of the processes to be tried, one that leads to a state met before goes first (`de-s-por`, `dl-s-por`). On
    /// without summaries only: there it saves traversals, else see [`Order::Visited`].
    VisitedFirst,
    /// What comes after a state is kept as a summary and not traversed at all (`de-s-por`, `dl-s-por`).
    Summaries,
}

impl Switch {
    /// All of them.
    pub const ALL: [Switch; 8] = [
        Switch::SafeSets,
        Switch::Once,
        Switch::LastSuccessor,
        Switch::VisitedSuccessors,
        Switch::CompleteSet,
        Switch::DisabledProcess,
        Switch::VisitedFirst,
        Switch::Summaries,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Switch::SafeSets => "safe-sets",
            Switch::Once => "once",
            Switch::LastSuccessor => "last-successor",
            Switch::VisitedSuccessors => "visited-successors",
            Switch::CompleteSet => "complete-set",
            Switch::DisabledProcess => "disabled-process",
            Switch::VisitedFirst => "visited-first",
            Switch::Summaries => "summaries",
        }
    }
}

/// Some of the switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Switches(u8);

impl Switches {
    /// None of them.
    pub const NONE: Switches = Switches(0);

    /// Is it among them?
    pub fn contain(self, switch: Switch) -> bool {
        self.0 >> switch as u8 & 1 == 1
    }

    /// These and one more.
    pub fn and(self, switch: Switch) -> Switches {
        Switches(self.0 | 1 << switch as u8)
    }

    /// All that are in one of the two.
    pub fn or(self, other: Switches) -> Switches {
        Switches(self.0 | other.0)
    }

    /// Those that are listed.
    pub fn among(self, listed: &[Switch]) -> Switches {
        let kept = listed.iter().filter(|&&switch| self.contain(switch));
        kept.fold(Switches::default(), |kept, &switch| kept.and(switch))
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Switch::ALL.into_iter().filter(move |&switch| self.contain(switch)).map(Switch::name)
    }
}
