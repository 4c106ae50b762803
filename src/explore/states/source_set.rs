//! Are the processes explored from a state a source set?
//!
//! Figure 2 of the paper, UpdateBack:
//!
//! ```text
//! s.backtrack := safeSet(s)              if some t' ∈ current[t] is not in safeSet(s)
//!             := done                    if ∃ T ⊆ done: T = ∪ {current[t] | t ∈ T}
//!             := ∪ {current[t] | t ∈ done}   otherwise
//! ```
//!
//! for the process t explored last. In the second case T is a persistent set, so done is a source
//! set and the state is finished.
//!
//! **As printed, that loses classes.** The first case looks only at the last t. If the current set
//! of a later t contains no disabled process, the third case applies again. It selects processes
//! that are disabled in s: they cannot be explored, and the processes that could enable them are
//! not explored either. So the first case must consider *every* t done so far. And it must come
//! second: if there is a T, the state is finished, whatever the current sets of other processes
//! contain.
//!
//! The largest T is found by repeatedly removing from done a process whose current set is not
//! within the rest.

use super::depth_first::{Frame, Taken};
use super::processes::Processes;

impl Frame {
    /// UpdateBack(s, a) for the process explored last.
    pub(crate) fn update_backtrack(&mut self, as_printed: bool) {
        self.backtrack = match as_printed {
            true => self.printed(),
            false => self.sound(),
        };
    }

    fn sound(&self) -> Processes {
        if self.has_persistent_set() {
            self.done.clone()
        } else if self.those_done().any(|taken| self.needs_all(taken)) {
            self.safe.clone()
        } else {
            self.rivals()
        }
    }

    fn printed(&self) -> Processes {
        if self.those_done().last().is_some_and(|last| self.needs_all(last)) {
            self.safe.clone()
        } else if self.has_persistent_set() {
            self.done.clone()
        } else {
            self.rivals()
        }
    }

    fn those_done(&self) -> impl Iterator<Item = &Taken> {
        self.taken.iter().filter(|taken| self.done.contains(taken.process))
    }

    /// Does its current set contain processes outside the safe set, or is it not known completely?
    fn needs_all(&self, taken: &Taken) -> bool {
        taken.is_open || !taken.current.is_subset(&self.safe)
    }

    /// ∃ T ⊆ done: T = ∪ {current\[t\] | t ∈ T}, not empty
    fn has_persistent_set(&self) -> bool {
        let known = self.those_done().filter(|taken| !taken.is_open);
        let mut set: Vec<&Taken> = known.collect();
        loop {
            let members: Processes = set.iter().map(|taken| taken.process).collect();
            let before = set.len();
            set.retain(|taken| taken.current.is_subset(&members));
            if set.len() == before {
                return before > 0;
            }
        }
    }

    /// ∪ {current\[t\] | t ∈ done}
    fn rivals(&self) -> Processes {
        let mut all = Processes::default();
        self.those_done().for_each(|taken| all.unite(&taken.current));
        all
    }
}
