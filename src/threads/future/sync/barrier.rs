//! A barrier.

use std::fmt;

use super::wakers::{Wakers, wait};
use crate::threads::sync::section::{Named, Section};

/// A barrier: tasks wait there until there are enough of them.
pub struct Barrier {
    wanted: usize,
    section: Section<Round>,
}

/// Those who wait in this round.
#[derive(Default)]
struct Round {
    number: u64,
    come: usize,
    wakers: Wakers,
}

/// Whether a task was the last one to come.
#[derive(Clone, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Was it the last one to come?
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for so many tasks.
    #[track_caller]
    pub fn new(wanted: usize) -> Barrier {
        Barrier { wanted: wanted.max(1), section: Section::new("Barrier", Round::default()) }
    }

    /// Waits until there are enough tasks. A task that gives up is counted all the same.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        let named = Named::here("wait");
        async move {
            let mut own = None;
            let come = |round: &mut Round| match own {
                Some(number) => (round.number != number).then_some(BarrierWaitResult(false)),
                None if round.come + 1 == self.wanted => {
                    (round.number, round.come) = (round.number + 1, 0);
                    round.wakers.wake_all();
                    Some(BarrierWaitResult(true))
                }
                None => {
                    round.come += 1;
                    own = Some(round.number);
                    None
                }
            };
            wait(&self.section, named, |round| &mut round.wakers, come).await
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
