//! DPOR and TransDPOR over configurations: a backtrack set for each configuration.
//!
//! Flanagan and Godefroid, *Dynamic partial-order reduction for model checking software* (POPL
//! 2005), figure 3, and Tasharofi et al., *TransDPOR* (FORTE 2012), figure 2, on the unfolding of
//! Rodríguez, Sousa, Sharma and Kroening (CONCUR 2015).
//!
//! ```text
//! Explore(C):
//!   backtrack(C) := the first event of en(C)
//!   for each t in backtrack(C) that is not done:
//!     if C ∪ {t} was not visited:  Explore(C ∪ {t})
//!     for each x ∈ U with x #i t that is in no conflict with C:
//!       if [x] ∩ backtrack(C) = ∅  add the first event of [x] ∩ en(C) to backtrack(C)
//!       (TransDPOR: add at most one such event for each t)
//! ```
//!
//! A race is a pair of events t and x in immediate conflict: t is in some configuration M that the
//! search visits, x ∈ cex(M), and C is the last configuration on the way to M that x is in no
//! conflict with. The structure has found x and its conflicts when the last cause of x joined M
//! ([`crate::unfolding`]). On executions the same pair has to be computed from happens-before
//! ([`crate::trace::race`]); the tests compare the two.
//!
//! # Differences from executions
//!
//! - *A backtrack set belongs to a configuration*, not to a sequence. Executions that lead to the
//!   same configuration share it: what follows is explored once. So each class is completed once,
//!   no exploration is blocked, and sleep sets would have nothing to do. The price is a table of
//!   the configurations visited ([`super::visited`]), and that no event is ever discarded.
//! - *Races are handled when the search comes back to C*, not when it meets x. Along an execution
//!   that is too late: the races of a part that is shared would be missed at those who come to it
//!   on another way. That is why searches that store states need summaries of what follows a state.
//!   Here U is the summary. All x that C needs are in U when everything after C ∪ {t} is explored,
//!   whoever has explored it; #i names those that concern t; and whether x is in conflict with C
//!   does not depend on the way to C.
//! - *Events are added, not processes.* `[x] ∩ en(C)` are the minimal events of `[x]` ∖ C. It is
//!   never empty, since C ∪ `[x]` is a configuration. So there is no need to add "all that is
//!   enabled", and x need not be the next action of its process. Choices, open choices, messages
//!   and failed tests are no special cases: they are conflicts.
//! - *TransDPOR needs no actors.* On executions a race that is not handled, because the set is
//!   frozen, must show again with the message that was added; this holds only if races are
//!   transitive. Here it is looked for again, since only the last event t has to have all its races
//!   handled (below).
//! - *A bound on the depth needs no care.* The events up to a height are an event structure of
//!   their own ([`crate::explore::udpor`]), and all this holds for it.
//!
//! # Every class is visited
//!
//! Claim: after Explore(C), every maximal configuration M ⊇ C was visited. By induction on the
//! number of events that can still be added to C, it is enough that backtrack(C) ∩ M ≠ ∅. In terms
//! of Abdulla, Aronis, Jonsson and Sagonas (J. ACM 2017), backtrack(C) is a source set.
//!
//! Suppose that backtrack(C) ∩ M = ∅, and let t be the event of it that was tried last. M is
//! maximal and does not contain t, though all causes of t are in C ⊆ M. So t is in conflict with an
//! event of M; let x be a lowest one. Then `[x)` ∪ C ∪ {t} is a configuration, so x #i t. A maximal
//! configuration that includes it was visited after C ∪ {t}, by induction, so x is in U. And x is
//! in no conflict with C, because both are in M. So x was looked at after t was done, and nothing
//! was added to backtrack(C), or it would have been tried after t. So `[x]` ∩ backtrack(C) ≠ ∅,
//! also in TransDPOR, which adds something if any x is not covered. Since `[x]` ⊆ M, backtrack(C) ∩
//! M ≠ ∅ after all.
//!
//! A configuration that was visited before is explored completely when the search comes to it
//! again: it cannot be on the way to C, because it has more events than C.

use super::intruder;
use super::maximal;
use super::notes::Notes;
use super::proof::prove_extended;
use super::queue::Queue;
use super::visited::Visited;
use crate::explore::driver::Driver;
use crate::explore::order::Order;
use crate::model::System;
use crate::trace::LeftOut;
use crate::unfolding::{Configuration, EventId, Unfolding};

/// How many events are added to a backtrack set when everything after one of its events is
/// explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// One for each race that is not covered yet: DPOR.
    ForEachRace,
    /// One at most: TransDPOR.
    OneAtATime,
}

/// Visits every class once. Returns the unfolding built, the empty configuration, and the notes.
pub fn explore<'s, S: System, N: Notes>(
    system: &'s S,
    order: Order,
    added: Added,
    notes: N,
    driver: &mut Driver<'_>,
) -> (Unfolding<'s, S>, Configuration, N) {
    let (waits, max_height) = (driver.depth().is_none(), driver.depth_bound());
    let (unfolding, c) = Unfolding::new(system, max_height, waits, driver.signal().clone());
    let mut search = Backtracking {
        unfolding,
        c,
        backtrack: Vec::new(),
        visited: Visited::default(),
        queue: Queue::new(order),
        added,
        notes,
        left: LeftOut { spinning: waits, max_height: Some(max_height) },
        driver,
    };
    search.driver.started(&mut search.unfolding.locals, search.c.state());
    search.explore();
    let structure = &mut search.unfolding.structure;
    search.driver.stats.events_built = Some(structure.built());
    search.driver.stats.events = structure.distinct();
    search.unfolding.go_on();
    (search.unfolding, search.c, search.notes)
}

struct Backtracking<'s, 'd, 'o, S: System, N> {
    unfolding: Unfolding<'s, S>,
    c: Configuration,
    /// The backtrack sets of C and of the configurations on the way to it, concatenated, that of C
    /// last. Only the set of C grows.
    backtrack: Vec<EventId>,
    visited: Visited,
    queue: Queue,
    added: Added,
    notes: N,
    /// The actions that are left out of the unfolding.
    left: LeftOut,
    driver: &'d mut Driver<'o>,
}

/// If less stack than `RED_ZONE` (in bytes) is left, a segment of `STACK` bytes is added.
const RED_ZONE: usize = 64 << 10;
const STACK: usize = 4 << 20;

impl<S: System, N: Notes> Backtracking<'_, '_, '_, S, N> {
    /// Explore(C)
    fn explore(&mut self) {
        let first = self.backtrack.len();
        self.arrive();
        let mut next = first;
        while let Some(&t) = self.backtrack.get(next).filter(|_| !self.is_stopped()) {
            next += 1;
            if intruder::is_too_late(&self.unfolding, &self.c, t) {
                intruder::report(&mut self.unfolding, &self.c, t, self.driver);
                break;
            }
            self.notes.chose(t);
            if self.visited.enter(self.unfolding.action(t).process, t) {
                self.push(t);
                stacker::maybe_grow(RED_ZONE, STACK, || self.explore());
                self.pop();
            } else {
                self.notes.known();
            }
            if !self.is_stopped() {
                self.reverse_races(first, t);
                self.notes.answered(self.backtrack.get(next..next + 1));
            }
        }
        self.backtrack.truncate(first);
    }

    fn is_stopped(&self) -> bool {
        self.driver.is_stopped() || self.notes.are_full()
    }

    /// backtrack(C) := the first event of en(C). If there is none, C is maximal.
    fn arrive(&mut self) {
        if self.is_stopped() {
            return;
        }
        if cfg!(debug_assertions) {
            prove_extended(&mut self.unfolding, &mut self.c, self.left);
        }
        match self.queue.first(&self.unfolding, &self.c, self.c.enabled()) {
            Some(e) => self.backtrack.push(e),
            None => maximal::report(&mut self.unfolding, &mut self.c, self.driver, &mut self.notes),
        }
    }

    fn push(&mut self, t: EventId) {
        self.unfolding.push(&mut self.c, t);
        let action = self.unfolding.action(t);
        self.driver.stats.events_built = Some(self.unfolding.structure.built());
        self.driver.moved(&mut self.unfolding.locals, self.c.state(), action);
        self.notes.pushed(self.unfolding.structure.len());
    }

    fn pop(&mut self) {
        self.unfolding.pop(&mut self.c);
        self.visited.leave();
        self.notes.popped();
    }

    /// Extends backtrack(C), which begins at `first`, for the races of t ∈ backtrack(C).
    fn reverse_races(&mut self, first: usize, t: EventId) {
        let Backtracking { unfolding, c, backtrack, queue, .. } = self;
        for x in unfolding.structure.immediate_conflicts(t) {
            let is_at_or_before_x = |&e: &EventId| unfolding.structure.is_at_or_before(e, x);
            if backtrack[first..].iter().any(is_at_or_before_x)
                || c.is_in_conflict_with(&unfolding.structure, x, &mut EventId::NONE.clone())
            {
                continue;
            }
            let initial = queue.first(unfolding, c, c.enabled().filter(is_at_or_before_x));
            backtrack.push(initial.expect("C ∪ [x] is a configuration"));
            if self.added == Added::OneAtATime {
                break;
            }
        }
    }
}
