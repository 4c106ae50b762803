//! A search that other threads help: it offers pieces, claims them when it gets there, and adds
//! their results to its own ([`super::parallel::ahead`]).

use super::driver::Driver;
use super::few_switches::length;
use super::findings::MAX_VIOLATIONS;
use super::parallel::ahead::{Claim, Demand, Piece};
use super::result::{Outcome, StopReason};
use crate::trace::Ticket;

impl Driver<'_> {
    /// The piece where this search begins, if it is one.
    pub(crate) fn take_piece(&mut self) -> Option<Piece> {
        self.ahead.as_mut()?.piece.take()
    }

    /// The number of transitions that make a piece worth while.
    pub(crate) fn grain(&self) -> u64 {
        self.ahead.as_ref().map_or(u64::MAX, |ahead| ahead.pace.grain)
    }

    /// Offers a piece of this search, if it has one to give, to the threads that asked for one.
    pub(crate) fn offer(&mut self, piece: Option<Piece>) -> Option<Ticket> {
        self.ahead.as_mut()?.offer(piece)
    }

    /// Claims a piece, now that this search has got there.
    pub(crate) fn claim(&mut self, ticket: Ticket) -> Claim {
        let helpers = self.ahead.as_ref().expect("who took the piece").helpers;
        helpers.claim(ticket, &mut || self.goes_on())
    }

    /// Sends what the races of this piece demand of the states before it.
    pub(crate) fn send(&mut self, demands: Vec<Demand>) {
        let ahead = self.ahead.as_ref().expect("a search on behalf of another");
        let (helpers, own) = (ahead.helpers, ahead.own.expect("a piece"));
        helpers.send(own, demands, &mut || self.goes_on());
    }

    /// While the search waits: shows its progress. Returns whether it is to go on.
    fn goes_on(&mut self) -> bool {
        self.show_progress();
        !self.is_stopped()
    }

    /// Adds the result of a piece of this search, which another thread explored ahead of it. From
    /// now on all is as if this search had explored the piece itself.
    pub(super) fn add_piece(&mut self, piece: Outcome) {
        if let Some(ahead) = &mut self.ahead {
            ahead.learn(piece.stats.transitions);
        }
        self.stats.add(&piece.stats);
        self.leaves += 1;
        for violation in piece.violations {
            match self.known.get(&violation.symptom) {
                Some(&at) => {
                    let known = &mut self.violations[at];
                    if self.budget.shortest && length(&violation) < length(known) {
                        *known = violation;
                    }
                }
                None if self.violations.len() < MAX_VIOLATIONS => {
                    self.known.insert(violation.symptom, self.violations.len());
                    self.violations.push(violation);
                }
                None => {}
            }
        }
        piece.leaks.into_iter().for_each(|leak| self.leaks.adopt(leak));
        self.cut_poll = self.cut_poll.take().or(piece.cut_poll);
        match piece.stopped_by {
            // Its figures and its poll say so, and they are here by now.
            None | Some(StopReason::Depth | StopReason::Polls) => {}
            // So will the whole search, whose explorer it is.
            Some(StopReason::NoGuarantee) => {}
            Some(StopReason::Invariant) => self.invariants.is_open = true,
            Some(StopReason::LongLoop) => self.has_long_loop = true,
            // One that was left undone would be a loss.
            Some(reason) => self.stop(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Budget, NoObserver};
    use crate::systems::{Builder, fetch_add};

    /// Whatever has ended a piece, the search is not complete.
    #[test]
    fn what_ended_a_piece_is_not_forgotten() {
        use StopReason::*;
        let reasons = [
            Violation,
            MaxTraces,
            Timeout,
            MaxMemory,
            Interrupted,
            Unwatched,
            Missing,
            Stray,
            Depth,
            Endless,
            HashCompaction,
            Invariant,
            LongLoop,
            Rounds,
            Growing,
            Oversubscribed,
            Unsupported,
        ];
        let mut system = Builder::new();
        let cell = system.cell("x", 0);
        system.process("P", [fetch_add(cell, 1)]);
        let system = system.build();
        for reason in [None].into_iter().chain(reasons.map(Some)) {
            let (mut nobody, mut nobody_else) = (NoObserver, NoObserver);
            let mut piece = Driver::new(&system, Budget::default(), &mut nobody).finish();
            piece.stopped_by = reason;
            piece.stats.truncated = u64::from(reason == Some(Depth));
            let mut search = Driver::new(&system, Budget::default(), &mut nobody_else);
            search.add_piece(piece);
            assert_eq!(search.finish().stopped_by, reason);
        }
    }
}
