//! The settings of a search that stores states.

use std::str::FromStr;

use crate::explore::driver::Driver;
use crate::explore::order::{Order, Permutation};
use crate::model::{Symmetry, System};

/// The settings of a search that stores states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stateful {
    /// The order in which processes are tried: `Sequential`, `Visited` or `Random`.
    pub order: Order,
    /// The optimisations that are switched off.
    pub without: Switches,
    /// Run the paper's algorithm to the letter, with locks as one transition. It may miss
    /// executions.
    pub as_printed: bool,
    /// Make the history of each process part of a state. Then two executions reach the same state
    /// only if they differ just in the order of independent actions.
    pub histories: bool,
    /// Store a hash of 64 bits instead of a state. Two states may be taken for one, so no such
    /// search is complete.
    pub hash_compaction: bool,
}

impl Stateful {
    /// Can a search with these settings be complete?
    pub fn is_sound(self) -> bool {
        !self.as_printed && !self.hash_compaction
    }

    /// Is this optimisation on? Optimisations that save traversals are off if there are no
    /// traversals.
    pub fn has(&self, switch: Switch) -> bool {
        let saves_traversals = matches!(switch, Switch::VisitedFirst | Switch::VisitedSuccessors);
        let is_of_use = !saves_traversals || self.without.contain(Switch::Summaries);
        is_of_use && !self.without.contain(switch)
    }

    /// Do processes that lead to stored states go first? To find out costs a step of each process.
    pub fn visited_first(&self) -> bool {
        self.order == Order::Visited || self.has(Switch::VisitedFirst)
    }
}

impl Stateful {
    /// Is one state of each orbit kept ([`super::orbits`]), if there are at least this many
    /// permutations? Not if states are stored in other ways, or if somebody wants to see all
    /// transitions, or has properties of their own, which may tell processes apart.
    pub(super) fn merges_orbits<S: System>(
        self,
        system: &S,
        driver: &Driver<'_>,
        least_permutations: u64,
    ) -> bool {
        self.renames(system, least_permutations)
            && driver.depth().is_none()
            && !driver.follows_transitions()
            && driver.budget().properties.own().next().is_none()
    }

    /// Would it keep one state of each orbit of this system, if nothing else were asked of it?
    pub(super) fn renames<S: System>(self, system: &S, least_permutations: u64) -> bool {
        let is_enough = |symmetry: &dyn Symmetry<S::Local>| {
            let each = symmetry.groups().iter();
            let each = each.map(|group| group.permutations().unwrap_or(u64::MAX));
            each.fold(1, u64::saturating_mul) >= least_permutations
        };
        self.has(Switch::Symmetry)
            && self == Stateful { without: self.without, order: self.order, ..Stateful::default() }
            && system.foresight().symmetry().is_some_and(is_enough)
    }
}

impl Default for Stateful {
    fn default() -> Self {
        Stateful {
            order: Order::Sequential(Permutation::BY_NUMBER),
            without: Switches::NONE,
            as_printed: false,
            histories: false,
            hash_compaction: false,
        }
    }
}

/// An optimisation that can be switched off. `Once` to `VisitedFirst` are those of the paper's
/// appendix A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Switch {
    /// A process with an invisible operation goes first, alone (`s-por`, `de-s-por`, `dl-s-por`).
    SafeSets,
    /// A traversal takes each transition once, not each execution (`de-s-por`, `dl-s-por`).
    Once,
    /// Nothing is traversed from the last successor of a state (`dl-s-por` only).
    LastSuccessor,
    /// Nothing is traversed from a state whose other successors are all stored (`dl-s-por` only).
    /// On only without summaries.
    VisitedSuccessors,
    /// A traversal ends when it has found all processes of the safe set (`dl-s-por` only).
    CompleteSet,
    /// A traversal ends when it has found a process outside the safe set (`dl-s-por` only).
    DisabledProcess,
    /// Of the processes to try, one that leads to a stored state goes first (`de-s-por`,
    /// `dl-s-por`). On only without summaries, where it saves traversals; otherwise see
    /// [`Order::Visited`].
    VisitedFirst,
    /// The transitions after a state are stored as a summary and not traversed at all (`de-s-por`,
    /// `dl-s-por`).
    Summaries,
    /// Whether other processes may interfere depends on their remaining code, not on their whole
    /// code (`s-por`, `de-s-por`, `dl-s-por`, `fused`).
    ProgramPoints,
    /// Variables that are never read again are not part of a state.
    LiveVariables,
    /// Of the states that are equal up to the names of symmetric processes one is kept (`stateful`,
    /// `fused`).
    Symmetry,
}

impl Switch {
    /// All switches.
    pub const ALL: [Switch; 11] = [
        Switch::SafeSets,
        Switch::Once,
        Switch::LastSuccessor,
        Switch::VisitedSuccessors,
        Switch::CompleteSet,
        Switch::DisabledProcess,
        Switch::VisitedFirst,
        Switch::Summaries,
        Switch::ProgramPoints,
        Switch::LiveVariables,
        Switch::Symmetry,
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
            Switch::ProgramPoints => "program-points",
            Switch::LiveVariables => "live-variables",
            Switch::Symmetry => "symmetry",
        }
    }
}

impl FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Switch, String> {
        let found = Switch::ALL.into_iter().find(|switch| switch.name() == text);
        found.ok_or_else(|| {
            let names = Switch::ALL.map(Switch::name).join(", ");
            format!("`{text}` cannot be switched off; there are: {names}")
        })
    }
}

/// A set of switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Switches(u16);

impl Switches {
    /// No switches.
    pub const NONE: Switches = Switches(0);

    /// Is the switch in the set?
    pub fn contain(self, switch: Switch) -> bool {
        self.0 >> switch as u8 & 1 == 1
    }

    /// The set with `switch` added.
    pub fn and(self, switch: Switch) -> Switches {
        Switches(self.0 | 1 << switch as u8)
    }

    /// The union of the two sets.
    pub fn or(self, other: Switches) -> Switches {
        Switches(self.0 | other.0)
    }

    /// The switches of the set that are also in `listed`.
    pub fn among(self, listed: &[Switch]) -> Switches {
        let kept = listed.iter().filter(|&&switch| self.contain(switch));
        kept.fold(Switches::default(), |kept, &switch| kept.and(switch))
    }

    /// The names of the switches in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Switch::ALL.into_iter().filter(move |&switch| self.contain(switch)).map(Switch::name)
    }
}
