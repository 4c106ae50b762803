//! Explorers: algorithms that go through the executions of a system, and the driver they share.
//!
//! | file | idea |
//! |---|---|
//! | `tree` | branches: parts of the executions that one search can hand over to another |
//! | `symptom` | the key by which violations are distinguished |
//! | `result` | the result of a search |
//! | `few_switches` | the same violation with fewer switches between processes |
//! | `news` | what a search has come to, so that it can be saved and go on in another process |
//! | `observer` | callbacks that follow a search |
//! | `collected` | the classes that a search completes, for a certificate |
//! | `parallel/ahead` | pieces that other threads explore ahead of a search |
//! | `turns` | several searches go on one after the other, counted in steps |
//! | `unvisited` | invariants: in the states that a search visits, and in those that it skips |
//! | `driver` | the meaning of a visit, the same for all explorers; its `budget` and `watchdog` |
//! | `findings` | the violations that a search finds |
//! | `helped` | a search that claims the pieces which were explored ahead of it |
//! | `ends` | how an exploration can end, and the proof that nothing is missing there |
//! | `order` | the order in which the actions of a state are tried |
//! | `over` | what backtrack sets belong to: executions or configurations |
//! | `parallel/start` | the open work where a search began |
//! | `walk` | forward along an execution, and back |
//! | `pieces` | pieces of a walk that other threads explore ahead of it |
//! | `settings/options` | the options of explorers |
//! | `explorer` | what an explorer is, and how one is run |
//! | `sampling` | explorers that run executions by chance |
//! | `configurations` | searches along configurations: what they share, and DPOR along them |
//! | `dpor` | explorers that walk along executions |
//! | `udpor` | the explorer that walks along configurations |
//! | `states` | explorers that store states |
//! | `parallel` | a search in pieces, by several workers |
//! | `estimate` | about how many classes there are |
//! | `auto` | the default: chooses among explorers, which take turns |
//! | `settings` | the table of explorers, and explorers with their options |
//!
//! A file imports only from rows above its own. A test checks this.

mod auto;
mod budget;
mod collected;
mod configurations;
mod course;
mod dpor;
mod driver;
mod ends;
pub mod estimate;
mod explorer;
mod few_switches;
mod findings;
mod helped;
#[cfg(feature = "json")]
mod kept;
mod news;
mod observer;
mod order;
mod over;
mod parallel;
mod pieces;
mod prefix;
mod reached;
mod result;
mod sampling;
#[cfg(feature = "json")]
mod saved;
mod settings;
mod states;
mod symptom;
mod tree;
mod turns;
mod udpor;
mod unvisited;
mod walk;
mod watchdog;

pub use crate::alternatives::Combs;
pub use budget::{Budget, Depth, ENDLESS};
pub use collected::Collected;
pub use dpor::Way;
pub use driver::Driver;
pub use explorer::{Explorer, Guarantee, Profile, Splits, explore, explore_branch};
pub(crate) use explorer::{has_none, refusal_by};
#[cfg(feature = "json")]
pub use kept::explore_saved;
pub use observer::{End, NoObserver, Observer};
pub use order::{History, Order, Permutation, Sorter};
pub use over::Over;
pub use parallel::crew;
pub use parallel::dispatcher;
pub use parallel::kept::{Kept, keep};
pub use parallel::part::{Disagreement, Done, Part, Saving, Stray};
pub use parallel::place::Place;
pub use parallel::threads::InPieces;
pub use prefix::{
    Holder, NetCondition, NetPlace, OccurrenceNet, Relation, ShownEvent, ShownPrefix,
    finite_prefix, listed_prefix,
};
pub use reached::Reached;
pub use result::{
    CutPoll, Outcome, PrefixFigures, Stats, StopReason, SymmetryFigures, Verdict, Violation,
    ViolationKind,
};
#[cfg(feature = "json")]
pub use saved::Keeper;
pub use settings::options::{OPTIONS, OptionInfo, Options, Orders, Takes};
pub use settings::setting::Setting;
pub use settings::table::*;
pub use states::Sources;
#[cfg(feature = "cli")]
pub use states::count::{Count, Executions, count};
pub use states::settings::{Stateful, Switch, Switches};
pub use symptom::Symptom;
pub use tree::{Branch, Splitter};
pub use udpor::recording::{Recording, unfold};
pub use udpor::{K, recording, udpor_with};
