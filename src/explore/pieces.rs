//! The pieces of a walk along executions that other threads explore ahead of it
//! (`parallel/helpers`).

use super::parallel::ahead::{Claim, Demand, Piece};
use super::result::StopReason;
use super::walk::Walk;
use crate::model::{Action, Schedule, System};
use crate::trace::Ticket;

/// The way to a piece: each action, with those that will have been put to sleep before it, to its
/// left.
pub(crate) type Path = Vec<(Vec<Action>, Action)>;

/// How long a search was in the states along its execution, which tells where a piece is worth
/// while.
#[derive(Debug, Default)]
pub(crate) struct Sizes(Vec<Size>);

#[derive(Debug)]
struct Size {
    /// The transitions of the search before it came here.
    before: u64,
    /// The transitions below the last child that it has left.
    in_child: u64,
}

impl Sizes {
    /// The search comes to a state, after so many transitions.
    #[inline]
    pub(crate) fn arrive(&mut self, transitions: u64) {
        self.0.push(Size { before: transitions, in_child: 0 });
    }

    /// The search leaves the state, after so many transitions.
    #[inline]
    pub(crate) fn leave(&mut self, transitions: u64) {
        let left = self.0.pop().expect("a state to leave");
        if let Some(parent) = self.0.last_mut() {
            parent.in_child = transitions - left.before;
        }
    }

    /// Where to look for a piece, as lengths of prefixes: first the longest prefix from which the
    /// last child took at least `grain` transitions, because what is near will be needed soon; then
    /// the shortest.
    fn places(&self, grain: u64) -> impl Iterator<Item = usize> {
        let long = (0..self.0.len()).rev().filter(move |&at| self.0[at].in_child >= grain);
        long.chain(0..self.0.len())
    }
}

impl<S: System> Walk<'_, '_, '_, S> {
    /// Offers a piece to a thread that has no work. `find` tells, for the length of a prefix of E,
    /// the way to the next piece there, if there is one. Returns what `find` has returned with the
    /// piece that was given away.
    pub(crate) fn offer_piece<L>(
        &mut self,
        sizes: &Sizes,
        mut find: impl FnMut(usize) -> Option<(Path, L)>,
    ) -> Option<(L, Ticket)> {
        let mut places = sizes.places(self.driver.grain());
        let found = places.find_map(|at| find(at).map(|found| (at, found)));
        let (piece, what) = match found {
            Some((at, (path, what))) => (Some(self.piece(at, path)), Some(what)),
            None => (None, None),
        };
        what.zip(self.driver.offer(piece))
    }

    /// The piece that begins after `at` actions of E and this path.
    fn piece(&mut self, at: usize, path: Path) -> Piece {
        let mut prefix = Schedule::of(self.execution.state()).into_actions();
        prefix.truncate(at);
        let walk = &*self;
        let names = |at| walk.sleep.put_at(at).map(move |action| walk.portable(at, action));
        let mut asleep: Vec<Vec<Action>> = (0..at).map(|at| names(at).collect()).collect();
        // What sleeps there, and what is being explored.
        let mut before: Vec<Action> = self.sleep.put_at(at).collect();
        before.push(self.execution.action(at));
        self.execution.looking_back(at, |locals, state| {
            for (left, next) in path {
                before.extend(left);
                asleep.push(before.drain(..).map(|one| state.name(locals, one)).collect());
                prefix.push(state.name(locals, next));
                state.step(locals, next);
            }
        });
        Piece { prefix, asleep }
    }

    /// Adds what a piece of this search has found, which was given away, and hands its demands to
    /// `meet`. Returns false if nobody has explored it.
    pub(crate) fn claim_piece(
        &mut self,
        ticket: Ticket,
        mut meet: impl FnMut(&mut Self, &Demand),
    ) -> bool {
        loop {
            match self.driver.claim(ticket) {
                Claim::Demands(demands) => demands.iter().for_each(|demand| meet(self, demand)),
                Claim::Done(outcome) => {
                    self.driver.add_piece(*outcome);
                    return true;
                }
                Claim::Own => return false,
                Claim::Over => {
                    self.driver.stop(StopReason::Interrupted);
                    return true;
                }
            }
        }
    }
}
