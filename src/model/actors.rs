//! What a system says about its actors.

use std::fmt::Debug;

use super::{ProcessId, Stimulus, Value, Values};

/// The actors of a system whose processes have local states `L`.
pub trait Actors<L: Debug> {
    /// The messages that are pending at the start, with their receivers, in the order of sending.
    fn initial_messages(&self) -> Vec<(ProcessId, Value)> {
        Vec::new()
    }

    /// May some actor ever refuse a message? If `false`, [`accepts`](Actors::accepts) is not asked
    /// about messages.
    fn has_guards(&self) -> bool {
        false
    }

    /// Does some actor have internal handlers? Actors that are started later count, too.
    fn has_internals(&self) -> bool {
        false
    }

    /// May a handler of some actor ever start another actor?
    fn may_spawn(&self) -> bool {
        false
    }

    /// Does the actor `own` accept this message in this local state, or is this internal handler
    /// enabled?
    fn accepts(&self, local: &L, own: ProcessId, stimulus: Stimulus, values: &Values) -> bool {
        let _ = (local, own, stimulus, values);
        true
    }

    /// Runs a handler of the actor `own` to its end and returns the local state after it. The
    /// caller has checked that the actor accepts the stimulus.
    fn handle(
        &self,
        local: &L,
        own: ProcessId,
        stimulus: Stimulus,
        values: &Values,
        outbox: &mut dyn Outbox<L>,
    ) -> L {
        let _ = (values, outbox);
        unreachable!("{own:?} in {local:?} handles {stimulus:?}, but the system has no actors")
    }
}

/// What a handler may do to other actors.
pub trait Outbox<L> {
    /// Sends a message to an actor.
    fn send(&mut self, to: ProcessId, message: Value);

    /// Starts an actor in this local state and returns its id.
    fn spawn(&mut self, actor: L) -> ProcessId;
}
