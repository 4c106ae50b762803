//! The complete finite prefix of the unfolding of a net.
//!
//! A [`Net`] has *lines*: one for each object and each process. Each line has a value, its *code*.
//! A transition of a process looks at the codes of its own line and of some others, and changes
//! some of them. Its own line counts as changed in any case. So a line and a code are a place of a
//! Petri net with at most one token, and the values of all lines are a marking, the *state*.
//!
//! The unfolding consists of *conditions* and events. A condition is a line after an event that
//! changed it. The conditions of a line form a tree: its root is the line at the start, and each
//! condition replaces its parent. An event *consumes* the conditions of the lines that it changes
//! and *reads* the other ones that it looks at.
//!
//! ```text
//!   process P   at lock m ──e1── holds m ──e2── done
//!                          ╱              ╲
//!   mutex m     free ─────╱── of P ────────╲─── free
//! ```
//!
//! A configuration is known by its *cut*: the last condition of each line, and who has read it.
//!
//! **Reads.** Events that only read a condition do not affect one another. An event that consumes
//! the condition comes after some of the reads and excludes the others. So there is a copy of it
//! for each set of reads that it may come after: the replication of read conditions (Vogler,
//! Semenov, Yakovlev, CONCUR 1998). With it, this is the unfolding of an ordinary safe net. In
//! programs without loops there may be one event for all of these copies instead, but then nothing
//! is cut off (`arcs`).
//!
//! **Cutoffs.** State(C) is the codes of the lines in the cut of C. An event e is a *cutoff* if
//! there is another event e' in the prefix with State(\[e'\]) = State(\[e\]) and \[e'\] ≺ \[e\].
//! Nothing after a cutoff is built. The order ≺ is that of Esparza, Römer, Vogler (FMSD 2002): by
//! size, then by how often each transition occurs, then by Foata normal form (`order`).
//!
//! **Completeness.** For each reachable state there is a configuration without cutoffs that leads
//! to it, and each transition that is enabled there has an event in the prefix. This is their
//! theorem 4.9 for safe nets, given that ≺ is adequate (their theorem 6.6). A transition is a
//! process with all codes that it looks at and its choice. The theorem needs that what can happen
//! after C depends only on State(C). That is so by the contract of [`Net`]: what a transition does
//! is determined by the codes that it looks at, and names of processes, messages and requests are
//! part of the codes, so no renaming is needed.
//!
//! **Symmetry.** An event is no cutoff because a permutation of processes maps State(\[e'\]) to
//! State(\[e\]) (`explore::states` merges such states). Let two processes choose one of three
//! values each, and end. There are six events without causes. The two for one value have symmetric
//! states, so a rule that cuts off at them keeps one of the two. For two of the three values it
//! keeps events of the same process. But the states in which one process has one of these values,
//! and one the other, need an event of each process. So no state of this orbit is reached, whatever
//! the rule, and no order on configurations helps. An order that permutations keep, such as the one
//! by size, would be adequate up to symmetry. But two symmetric configurations have the same size:
//! they are never ordered, and there is little to gain. (Compare Couvreur, Grivet, Poitrenaud,
//! *Unfolding of products of symmetrical Petri nets*, ICATPN 2001.)
//!
//! **How it is built** (`build`). The next event is always a smallest one, so cutoffs are known
//! when they are added. Neither configurations nor pairs of concurrent conditions are stored. Two
//! conditions are concurrent if the cuts of the events that made them agree on each line, and
//! neither consumed the other (`cuts`).

mod arcs;
mod build;
mod conditions;
mod copies;
mod cuts;
mod order;
mod view;
mod waiting;

pub use build::Prefix;
use smallvec::SmallVec;
use std::ops::Range;

/// A line: an object or a process.
pub type Line = u32;
/// The value of a line.
pub type Code = u32;
/// An event of the prefix, by its place in it. 0 is the start, which is no event of the system.
pub type PrefixEvent = u32;
/// A condition: a line after an event.
pub(crate) type Condition = u32;

/// A system as lines and transitions, which are found on demand.
///
/// # Contract
/// - What [`first`](Net::first) and [`seen`](Net::seen) answer never changes.
/// - The lines that a transition changes, besides the line of its process, are among those that
///   were looked at before it was found; or they are new lines (a process that it starts), which no
///   other transition can change before.
pub trait Net {
    /// The code of a line at the start. Lines may come later; this is their code until then.
    fn start(&self, line: Line) -> Code;

    /// The lines of the processes that may move from the start on.
    fn movers(&self) -> Range<Line>;

    /// Is it the line of a process?
    fn is_process(&self, line: Line) -> bool;

    /// What a process with this line and code does next; `None` if that has to be learned.
    fn first(&self, line: Line, code: Code) -> Option<Next>;

    /// What it does after it has seen `code` at this look; `None` if that has to be learned.
    fn seen(&self, look: u32, code: Code) -> Option<Next>;

    /// The line at which a look looks.
    fn looks_at(&self, look: u32) -> Line;

    /// What a process does that makes one of several independent choices: see [`Next::Each`].
    fn part(&self, number: u32) -> Option<Next>;

    /// A transition by its number.
    fn transition(&self, number: u32) -> &Transition;

    /// Learns what the process with this line does after these transitions. At least one question
    /// that had no answer before has one afterwards.
    fn learn(&mut self, line: Line, path: &[u32]);

    /// Must nothing more be built?
    fn is_stopped(&self) -> bool;

    /// Were the next conditions that are compared found to be concurrent, when this prefix was
    /// built before? `None` if that is not known. If they were not, nobody looks again.
    fn foretold(&mut self) -> Option<bool> {
        None
    }

    /// Notes whether conditions are concurrent, of which this was foretold.
    fn note(&mut self, foretold: Option<bool>, are_concurrent: bool) {
        let _ = (foretold, are_concurrent);
    }
}

/// What a process does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It depends on another line: the look with this number.
    Look(u32),
    /// It makes one of the transitions from the first number up to the second; it is blocked if
    /// there are none.
    Transitions(u32, u32),
    /// It makes one of several choices, each of which depends on other lines: the parts from the
    /// first number up to the second ([`Net::part`]).
    Each(u32, u32),
}

/// A transition of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The line of its process.
    pub line: Line,
    /// The code of this line afterwards.
    pub own: Code,
    /// The other lines that it changes, with their new codes.
    pub changes: SmallVec<[(Line, Code); 2]>,
}
