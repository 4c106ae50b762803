//! Branches of a search, in portable names: parts that one search can hand over to another.
//!
//! ```text
//!          ∅
//!          │ e0
//!          ├─ explored, in any way                 z1 … zn
//!          ├─ being explored                       e1 … en
//!          ┊                                       (E, Z): E = e0, Z = {z1, …, zn, e1}
//!          ┊  all else that begins with e0         is a branch
//! ```
//!
//! A [`Branch`] (E, Z) is an execution E and a set Z of actions that are enabled after it. It
//! stands for all classes of complete executions that have a member E·w, but no member E·z·w for a
//! z ∈ Z. This is the open work in the state after E when everything that begins with an action of
//! Z is explored elsewhere. The whole search is (∅, ∅). For every e that is enabled after E and not
//! in Z the classes of (E, Z) are those of
//!
//! - (E·e, {z ∈ Z : z is independent of e after E}), where e comes first, and
//! - (E, Z ∪ {e}), where it does not,
//!
//! and no class is in both. Suppose that a search of (E, Z) has gone on to E·e·…. Then it can give
//! (E, Z ∪ {e}), where Z includes everything explored by then, to another search, and continue as
//! the search of (E·e, …). A search is always split in this way, at the prefix where it began. The
//! pieces, explored in any order, on any machine, by any explorers, give each class once.
//!
//! A search cannot give away a subtree below and keep the open work above it. Races found in the
//! subtree add actions to try above, and the search would not learn of these races. In an
//! experiment with branches split off at random states of the execution, optimal DPOR found only 31
//! of the 194 classes of a program.
//!
//! # Why no piece needs another
//!
//! Let P be the event structure of the program ([`crate::unfolding`]). An action z ∈ Z stands for
//! one event of P: the event of executing z after E. Remove these events, and all that is after
//! them in the causal order. The rest, P', is closed under causes, so it is an event structure,
//! too. The classes of (E, Z) are those maximal configurations of P' that contain E and are maximal
//! in P. An explorer that goes through P' as it would go through P finds all of them. It needs to
//! know only P': neither the backtrack sets, wakeup trees or races of the search that the branch
//! comes from, nor, for UDPOR, its U and D. With sleep sets, the search is one of P' if Z is asleep
//! after E. The search of the branch adds nothing to sets of states before E: that belongs to the
//! search that has the branch of that state.
//!
//! The price is small. A maximal configuration of P' need not be maximal in P: every event enabled
//! after it may be in Z. An exploration that ends there is blocked. So explorers that are never
//! blocked in a whole search may be blocked in a branch. And an explorer that looks for a weak
//! initial of the sequence that a race asks for must not accept one from Z that is not part of this
//! sequence, because this search does not explore what begins with it (see `optimal`). On random
//! programs with more than 100 classes, each cut into about 13 pieces, all pieces together make up
//! to 0.7% more transitions than the search in one piece. With many pieces of programs in which few
//! events conflict it is much more ([`super::parallel::threads`]).

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::model::{Action, NoSchedule, Schedule, stored_as_text};

/// A part of the executions of a system: those that begin with one execution, without those of
/// certain classes.
///
/// As text: the prefix as a schedule, a slash, and the actions of `elsewhere` as a schedule:
/// `0,0,1/1,2:1`. After each further slash comes one schedule of `wanted`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Branch {
    /// E: the common prefix of its executions.
    pub prefix: Schedule,
    /// Z, the initial sleep set: actions enabled after E whose continuations are explored
    /// elsewhere.
    pub elsewhere: Vec<Action>,
    /// If not empty: only these continuations, and what their races lead to, are to be explored.
    /// Their meaning depends on the explorer that has given the branch away; other explorers refuse
    /// the branch ([`StopReason::Stray`](super::result::StopReason::Stray)).
    pub wanted: Vec<Schedule>,
}

impl Branch {
    /// Does it stand for all executions?
    pub fn is_root(&self) -> bool {
        self.prefix.is_empty() && self.elsewhere.is_empty() && self.wanted.is_empty()
    }
}

impl Display for Branch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.prefix, Schedule::from(self.elsewhere.clone()))?;
        self.wanted.iter().try_for_each(|wanted| write!(f, "/{wanted}"))
    }
}

impl FromStr for Branch {
    type Err = NoSchedule;

    fn from_str(text: &str) -> Result<Branch, NoSchedule> {
        let mut parts = text.split('/');
        let prefix = parts.next().unwrap_or_default().parse()?;
        let elsewhere: Schedule = parts.next().unwrap_or_default().parse()?;
        let wanted = parts.map(str::parse).collect::<Result<_, _>>()?;
        Ok(Branch { prefix, elsewhere: elsewhere.to_vec(), wanted })
    }
}

stored_as_text!(Branch);

/// Takes branches out of a running search.
pub trait Splitter {
    /// Is a branch to be split off now? Asked once after each step of the search.
    fn wants_branch(&mut self) -> bool;

    /// Takes over the branch, which the search itself will not explore. Of the open work it is the
    /// part nearest to the start of the search.
    fn take(&mut self, branch: Branch);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_written_as_they_are_read() {
        for text in ["/", "0x2,1/", "0,0x3/1,2:1", "/0", "0//1,2/1x2"] {
            let branch: Branch = text.parse().expect("a branch");
            assert_eq!(branch.to_string().parse(), Ok(branch));
        }
        assert!("/".parse::<Branch>().expect("a branch").is_root());
        assert!("0/x".parse::<Branch>().is_err());
    }
}
