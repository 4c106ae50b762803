//! Pieces of a search that other threads explore ahead of it, before it gets there.
//!
//! `parallel/helpers` has the threads, and says why a search that uses them is the same as without
//! them.

use crate::explore::result::{Outcome, Stats};
use crate::model::Action;
use crate::trace::Ticket;

/// A continuation that a search has still to explore, in portable names. When the search gets
/// there, exactly these actions will be asleep.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The execution where it begins.
    pub(crate) prefix: Vec<Action>,
    /// For each action of the prefix: the actions that the search has put to sleep before it, in
    /// the state where it is executed.
    pub(crate) asleep: Vec<Vec<Action>>,
}

/// What a race in a piece demands of a state before the piece, which is the concern of the search
/// that it is a piece of.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    /// The length of the execution to that state.
    pub(crate) at: u32,
    /// The continuation to explore from there, as numbers of events
    /// (`parallel/demands` numbers them).
    pub(crate) events: Box<[u32]>,
    /// If an event has its number for the first time: the events, in portable names.
    pub(crate) names: Option<Box<[Action]>>,
}

/// What has become of a piece, when the search gets there.
pub(crate) enum Claim {
    /// Nobody has begun it: the search explores it itself.
    Own,
    /// These are its next demands; more will follow.
    Demands(Vec<Demand>),
    /// It is done, and this is its result.
    Done(Box<Outcome>),
    /// The search is over.
    Over,
}

/// Threads that explore pieces.
pub(crate) trait Helpers {
    /// Is there a thread without work?
    fn are_idle(&self) -> bool;

    /// Offers a piece of the search, or of the piece with the ticket `of`.
    fn offer(&self, of: Option<Ticket>, piece: Piece) -> Ticket;

    /// Claims what has become of a piece. Waits while it is being explored; `goes_on` is called
    /// again and again, until it returns false.
    fn claim(&self, ticket: Ticket, goes_on: &mut dyn FnMut() -> bool) -> Claim;

    /// Sends demands of a piece. May wait until the piece is claimed.
    fn send(&self, ticket: Ticket, demands: Vec<Demand>, goes_on: &mut dyn FnMut() -> bool);

    /// Adds the figures of the threads to those of the search.
    fn add_figures(&self, stats: &mut Stats);
}

/// The threads that explore ahead of a search, as the search sees them.
pub(crate) struct Ahead<'o> {
    pub(crate) helpers: &'o dyn Helpers,
    /// If the search is a piece itself: its ticket.
    pub(crate) own: Option<Ticket>,
    /// The piece, until it begins.
    pub(crate) piece: Option<Piece>,
    pub(crate) pace: Pace,
    /// Transitions until the threads are asked.
    left: u64,
    /// Transitions between two such questions.
    pause: u64,
}

/// When pieces are given away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Transitions before the first piece.
    pub(crate) first: u64,
    /// Transitions that make a piece worth while.
    pub(crate) grain: u64,
}

/// The threads are asked again after a grain divided by this, at most after one multiplied by it.
const PAUSE: u64 = 64;

impl<'o> Ahead<'o> {
    /// For a search that may use these threads.
    pub(crate) fn new(helpers: &'o dyn Helpers, pace: Pace) -> Self {
        let pause = (pace.grain / PAUSE).max(1);
        Ahead { helpers, own: None, piece: None, pace, left: pace.first, pause }
    }

    /// For the search of this piece.
    pub(crate) fn of(self, ticket: Ticket, piece: Piece) -> Self {
        Ahead { own: Some(ticket), piece: Some(piece), left: self.pause, ..self }
    }

    /// Is a piece wanted? Asked once after each step.
    #[inline]
    pub(crate) fn is_asked(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = self.pause;
        self.helpers.are_idle()
    }

    /// Notes that a piece took so many transitions. After small ones the threads are asked less
    /// often.
    pub(crate) fn learn(&mut self, transitions: u64) {
        if transitions < self.pace.grain {
            self.wait_longer();
        } else {
            self.pause = (self.pace.grain / PAUSE).max(1);
        }
    }

    fn wait_longer(&mut self) {
        self.pause = (2 * self.pause).min(PAUSE * self.pace.grain);
    }

    /// Offers a piece to the threads that asked for one. Without a piece, they are asked again
    /// after twice the time.
    pub(crate) fn offer(&mut self, piece: Option<Piece>) -> Option<Ticket> {
        if piece.is_none() {
            self.wait_longer();
        }
        self.left = self.pause;
        piece.map(|piece| self.helpers.offer(self.own, piece))
    }
}
