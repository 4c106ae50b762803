//! Does a replay end in a livelock?

use super::Replay;
use crate::model::{ProcessId, System};
use crate::property::livelock::{Motion, Watch, is_livelock};

impl<S: System> Replay<'_, S> {
    /// From now on the search for livelocks is given up when `signal` is raised.
    #[cfg(feature = "cli")]
    pub(crate) fn stop_at(&mut self, signal: &crate::model::StopSignal) {
        self.stop = signal.clone();
    }

    /// Finds out whether only spin iterations are possible. It executes the loops, so call it only
    /// where the answer is needed.
    pub fn look_for_livelock(&mut self) {
        let mut watch = Watch::new(self.stop.clone());
        match watch.least_motion(&mut self.locals, &mut self.state) {
            Motion::Round(spins) => self.spins = spins,
            _ if self.state.is_standstill(&self.locals) => {
                let polls = |&process: &_| self.state.waits_at_bound(&self.locals, process);
                self.pollers = self.state.processes().filter(polls).collect();
            }
            _ => {}
        }
    }

    /// The processes that wait at a poll but would go on: what they poll next in their loop is
    /// there, or only the bound on polls keeps them from going on. Empty if other actions are
    /// possible.
    pub(crate) fn pollers(&self) -> &[ProcessId] {
        &self.pollers
    }

    /// Is the state terminal, or are only spin iterations possible? Not if there are [pollers]
    /// that would go on.
    ///
    /// [pollers]: Replay::pollers
    pub(crate) fn is_at_end(&self) -> bool {
        !self.spins.is_empty() || self.pollers.is_empty() && self.state.is_terminal(&self.locals)
    }

    /// Does no process have to move any more, or are only spin iterations possible? Not if there
    /// are [pollers] that would go on.
    ///
    /// [pollers]: Replay::pollers
    pub(in crate::property) fn stands_still(&self) -> bool {
        let may_end = self.pollers.is_empty() && self.state.is_standstill(&self.locals);
        !self.spins.is_empty() || may_end
    }

    /// At the end of the execution: the daemons that wait or spin.
    pub fn waiting_daemons(&self) -> impl Iterator<Item = ProcessId> {
        let unfinished = self.state.unfinished(&self.locals);
        unfinished.filter(|&process| self.locals.is_daemon(self.state.local(process)))
    }

    /// Was a livelock found?
    pub(crate) fn is_livelocked(&self) -> bool {
        is_livelock(&self.locals, &self.state, &self.spins)
    }
}
