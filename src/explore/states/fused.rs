//! S-POR with fused steps: a step that concerns only its process is made together with the step
//! before it.
//!
//! ```text
//! Explore(s):
//!   if s was not visited:
//!     for all t ∈ safeSet(s), and each transition (s, a, s') of t:
//!       while some process has an invisible operation in s', and one way to carry it out:
//!         s' := the state after it
//!       Explore(s')
//! ```
//!
//! Where each operation is a step, most steps concern only their process: a wait that is over, the
//! post of a receive that no other process can notice, a choice. [S-POR](super::s_por) makes such a
//! step first, alone, but keeps the state before it. Here that state is not kept at all, like the
//! states within an atomic block. (SPIN calls it *statement merging*.) A process that goes round in
//! a loop is left where the loop begins, and at most [`MOST`] steps are fused: so a process that
//! waits or computes for ever does not hold up the search.
//!
//! **Sound** for the same reason as S-POR: the process is a persistent set in each of the states
//! that are left out. A cycle of the search is a cycle of kept states, and one of them is explored
//! in full.
//!
//! **Invariants.** A step is visible, too, if an invariant reads something that the step changes
//! ([`Readers`](crate::property::Readers)). The steps that are made first are then unseen by all
//! invariants. So for each execution the search makes one in which the invariants see the same, in
//! the same order (Clarke, Grumberg, Peled, *Model checking*, 1999, section 10.6). S-POR itself
//! does not know that, and refuses invariants.
//!
//! **Timeouts that wait until all are stuck** cannot fire while a step that is made first is
//! enabled, so they do not disturb such a step. They depend on all processes, and are never made
//! first themselves.
//!
//! **Symmetry.** One state of each orbit is kept ([`super::orbits`]). Renaming processes maps the
//! persistent sets of a state to those of its image, so the two reductions go together: E. A.
//! Emerson, S. Jha, D. Peled, *Combining partial order and symmetry reductions* (TACAS 1997). The
//! states that are left out are never renamed, which takes most of the time of such a search.

use smallvec::SmallVec;

use super::depth_first::{self, DepthFirst, Reduction};
use super::plan::Plan;
use super::processes::Processes;
use super::settings::{Stateful, Switch};
use crate::explore::budget::Depth;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile};
use crate::explore::settings::options::{Options, Takes};
use crate::model::{Action, Choice, LocalId, Op, Probing, ProcessId, System};
use crate::property::Changed;

/// The largest number of steps that are fused with the one before them.
const MOST: usize = 64;

/// Visits the states in which no process has a step to make that concerns only itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fused {
    /// How states are stored and matched.
    pub how: Stateful,
}

impl Fused {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        Fused { how: options.into() }
    }
}

const OPTIONS: &[&str] = &["order", "seed", "without", "histories", "hash-compaction"];

impl Explorer for Fused {
    fn profile(&self) -> Profile {
        Profile {
            name: "fused",
            summary: "s-por; steps that concern only their process are fused with the one before",
            source: "Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023)",
            guarantee: Guarantee::of_states(self.how),
            every_view: self.how.is_sound(),
            takes: Takes {
                options: OPTIONS,
                ..Takes::of_stored(&[
                    Switch::ProgramPoints,
                    Switch::LiveVariables,
                    Switch::Symmetry,
                ])
            },
            depth: Depth::Length,
            knows_when_stuck: true,
            can_be_saved: true,
            ..Profile::default()
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let merges_orbits = self.how.merges_orbits(system, driver, 2);
        let all = &mut FirstAlone { merges_orbits };
        depth_first::explore(system, (self.how, Plan::default()), all, driver);
    }
}

struct FirstAlone {
    merges_orbits: bool,
}

impl<S: System> Reduction<S> for FirstAlone {
    fn merges_orbits(&self) -> bool {
        self.merges_orbits
    }

    fn fuses(&self) -> bool {
        true
    }

    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId> {
        let top = search.top();
        let rest = top.safe.without(&top.explored);
        search.first(&rest, false)
    }
}

impl<S: System> DepthFirst<'_, S> {
    /// Executes the steps that follow the current state and concern only their process, as long as
    /// each of them has one way to go. Returns their number.
    pub(super) fn fuse(&mut self, driver: &mut Driver<'_>) -> usize {
        let (start, mut spinning) = (self.cursor.state.depth(), Processes::default());
        while let Some(action) = self.next_alone(&spinning)
            && self.cursor.state.depth() < start + MOST
            && !driver.is_stopped()
        {
            if !self.run(action, start + MOST, driver) {
                spinning.insert(action.process);
            }
        }
        self.cursor.state.depth() - start
    }

    /// The only action of the first process, but for these, that has one and concerns no other.
    fn next_alone(&mut self, except: &Processes) -> Option<Action> {
        let enabled = self.enabled().without(except);
        enabled.iter().find_map(|process| self.only_way(process))
    }

    /// Executes this action and those of its process that follow, as long as each is the only one
    /// and concerns no other process, until the execution has this length. Returns false if they
    /// lead round in a loop. Then it has made those before the loop.
    fn run(&mut self, first: Action, longest: usize, driver: &mut Driver<'_>) -> bool {
        let mut locals: SmallVec<[LocalId; 8]> = SmallVec::new();
        let mut next = Some(first);
        while let Some(action) = next
            && self.cursor.state.depth() < longest
            && !driver.is_stopped()
        {
            let here = self.cursor.state.local(action.process);
            if let Some(place) = locals.iter().position(|&earlier| earlier == here) {
                self.cursor.undo(locals.len() - place);
                return false;
            }
            locals.push(here);
            self.cursor.execute(action);
            driver.moved(&mut self.cursor.locals, &self.cursor.state, action);
            next = self.only_way(action.process);
        }
        true
    }

    /// The action of this process, if it is the only one, and concerns no other process.
    fn only_way(&mut self, process: ProcessId) -> Option<Action> {
        match self.ways(process)[..] {
            [choice] if self.is_alone(process) => Some(Action { process, choice }),
            _ => None,
        }
    }

    fn ways(&self, process: ProcessId) -> SmallVec<[Choice; 4]> {
        let mut ways = SmallVec::new();
        self.cursor.state.choices(&self.cursor.locals, process, |choice| ways.push(choice));
        ways
    }

    /// The first of these enabled processes whose operation concerns no other process, and no
    /// invariant.
    pub(super) fn first_alone(&mut self, enabled: &Processes) -> Option<ProcessId> {
        enabled.iter().find(|&process| self.is_alone(process))
    }

    fn is_alone(&mut self, process: ProcessId) -> bool {
        let DepthFirst { safe_sets, cursor, .. } = self;
        let op = cursor.locals.op(cursor.state.local(process));
        if matches!(op, Some(Op::Probe { form: Probing::WhenStuck, .. })) {
            return false;
        }
        safe_sets.is_invisible(&mut cursor.locals, &cursor.state, process)
            && self.is_unseen(process)
    }

    /// Does no invariant read what the operation of this process changes, whichever way it goes?
    fn is_unseen(&mut self, process: ProcessId) -> bool {
        let ways = self.ways(process);
        let DepthFirst { cursor, readers: Some(readers), .. } = self else { return true };
        ways.into_iter().all(|choice| {
            cursor.execute(Action { process, choice });
            let changed = Changed::by_last(&cursor.locals, &cursor.state);
            let is_unseen = readers.of(&cursor.locals, &changed).is_empty();
            cursor.undo(1);
            is_unseen
        })
    }
}
