//! Branches of a search, in portable names: what can be cut off from one search and left to another.
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
//! A [`Branch`] (E, Z) is an execution E and a set Z of actions that are enabled after it. It stands for all classes of complete
//! executions that have a member E·w, and none E·z·w for a z ∈ Z: for what the search has still to do in the
//! state after E, when what begins with an action of Z is explored or will be. The whole search is (∅, ∅). For every e that
//! is enabled after E and not in Z the classes of (E, Z) are those of
//!
//! - (E·e, {z ∈ Z : z is independent of e after E}), where e comes first, and
//! - (E, Z ∪ {e}), where it does not,
//!
//! and no class is in both. So a search of (E, Z) that has gone on to E·e·… can leave (E, Z ∪ {e}), with all of Z that is explored by
//! then, to another, and is from then on the search of (E·e, …). That is how it is cut: always where it began. The pieces,
//! explored in any order, on any machine, by any explorers, give each class once.
//!
//! A search cannot leave what is further down to others and keep what is above: races from there ask for something to
//! be tried above, and nobody would tell it. With branches cut off at random states along the execution, optimal DPOR finds 31
//! of 194 classes of a program.
//!
//! # Why no piece needs another
//!
//! Let P be the event structure of the program ([`crate::unfolding`]). An action z ∈ Z stands for one event of P: the one that it
//! would be after E. Leave these events out, and all that is after them in the causal order. What is left, P', is
//! closed under causes, so it is an event structure, too. The classes of (E, Z) are those maximal configurations of P' that
//! contain E and are maximal in P. An explorer that goes through P' as it would go through P finds all of them, and it needs
//! to know nothing of P but P': neither the backtrack sets, wakeup trees or races of the search that the branch comes
//! from, nor, for UDPOR, its U and D. With sleep sets, P' is what one gets when Z is asleep after E. The search of the branch adds to no
//! set of a state before E: that is for whoever has the branch of that state.
//!
//! That has a price, but a small one. A maximal configuration of P' may be none of P: all that is enabled after it is
//! in Z. An exploration that ends there is blocked. So explorers that are never blocked when they explore everything
//! may be blocked in a branch. And those that ask for a weak initial of what a race wants must not take one from Z that
//! is no part of it, since nobody here explores what begins with it (see `optimal`). On random programs with more than
//! 100 classes, each cut into some 13 pieces, all pieces together make up to 0.7% more transitions than the search in
//! one piece.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::model::{Action, NoSchedule, Schedule};

/// A part of the executions of a system: those that begin with one execution, but for those of certain classes.
///
/// As text: the schedule, a stroke, and the actions that are left out as a schedule writes them: `0,0,1/1,2:1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Branch {
    /// E: how all executions begin.
    pub prefix: Schedule,
    /// Z: actions enabled after it, which begin what others explore.
    pub elsewhere: Vec<Action>,
}

impl Branch {
    /// Does it stand for all executions?
    pub fn is_root(&self) -> bool {
        self.prefix.is_empty() && self.elsewhere.is_empty()
    }
}

impl Display for Branch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.prefix, Schedule::from(self.elsewhere.clone()))
    }
}

impl FromStr for Branch {
    type Err = NoSchedule;

    fn from_str(text: &str) -> Result<Branch, NoSchedule> {
        let (prefix, elsewhere) = text.split_once('/').unwrap_or((text, ""));
        let elsewhere: Schedule = elsewhere.parse()?;
        Ok(Branch { prefix: prefix.parse()?, elsewhere: elsewhere.to_vec() })
    }
}

/// Who takes branches out of a running search.
pub trait Splitter {
    /// The search has gone on to another state. Is a branch to be cut off it?
    fn wants_branch(&mut self) -> bool;

    /// The branch: the one nearest to where the search began. The search that it was taken from will not explore it.
    fn take(&mut self, branch: Branch);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_written_as_they_are_read() {
        for text in ["/", "0x2,1/", "0,0x3/1,2:1", "/0"] {
            let branch: Branch = text.parse().expect("a branch");
            assert_eq!(branch.to_string().parse(), Ok(branch));
        }
        assert!("/".parse::<Branch>().expect("a branch").is_root());
        assert!("0/x".parse::<Branch>().is_err());
    }
}
