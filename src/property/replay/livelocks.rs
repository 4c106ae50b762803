//! Does a replay end in a livelock?

use super::Replay;
use crate::model::{ProcessId, StopSignal, System};
use crate::property::livelock::{Motion, Watch, is_livelock};

impl<S: System> Replay<'_, S> {
    /// From now on it gives up looking for livelocks when this is raised.
    pub(crate) fn stop_at(&mut self, signal: &StopSignal) {
        self.stop = signal.clone();
    }

    /// Finds out whether all that is possible is to go round loops in vain. Call it only where that
    /// matters: it may take as long as going round the loops.
    pub fn look_for_livelock(&mut self) {
        let mut watch = Watch::new(self.stop.clone());
        match watch.motion(&mut self.locals, &mut self.state) {
            Motion::Round(spins) => self.spins = spins,
            _ if self.state.is_standstill(&self.locals) => {
                let polls =
                    |&process: &_| self.state.round_of_polls(&self.locals, process).is_some();
                self.pollers = self.state.processes().filter(polls).collect();
            }
            _ => {}
        }
    }

    /// Those that wait at a poll, but would go on: they look next at something that is there, or
    /// only the bound on polls holds them. If there are any, nothing else is possible.
    pub(crate) fn pollers(&self) -> &[ProcessId] {
        &self.pollers
    }

    /// Is nothing possible, but rounds of loops in vain, and does nobody poll who would go on?
    pub(crate) fn is_at_end(&self) -> bool {
        !self.spins.is_empty() || self.pollers.is_empty() && self.state.is_terminal(&self.locals)
    }

    /// Need nothing happen any more, but rounds of loops in vain, and does nobody poll who would go
    /// on?
    pub(in crate::property) fn stands_still(&self) -> bool {
        let may_end = self.pollers.is_empty() && self.state.is_standstill(&self.locals);
        !self.spins.is_empty() || may_end
    }

    /// The daemons that wait, or go round in vain, where the replay stands at its end.
    pub fn waiting_daemons(&self) -> impl Iterator<Item = ProcessId> {
        let unfinished = self.state.unfinished(&self.locals);
        unfinished.filter(|&process| self.locals.is_daemon(self.state.local(process)))
    }

    /// Was a livelock found?
    pub(crate) fn is_livelocked(&self) -> bool {
        is_livelock(&self.locals, &self.state, &self.spins)
    }
}
