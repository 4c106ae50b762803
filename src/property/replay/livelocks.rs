//! Does a replay end in a livelock?

use super::Replay;
use crate::model::{StopSignal, System};
use crate::property::livelock::{Motion, Watch};

impl<S: System> Replay<'_, S> {
    /// From now on it gives up looking for livelocks when this is raised.
    pub fn stop_at(&mut self, signal: &StopSignal) {
        self.stop = signal.clone();
    }

    /// Finds out whether all that is possible is to go round loops in vain. Call it only where that matters: it may take
    /// as long as going round the loops.
    pub fn look_for_livelock(&mut self) {
        let mut watch = Watch::new(self.stop.clone());
        if let Motion::Round(spins) = watch.motion(&mut self.locals, &mut self.state) {
            self.spins = spins;
        }
    }

    /// Was such a livelock found?
    pub fn is_livelocked(&self) -> bool {
        !self.spins.is_empty()
    }
}
