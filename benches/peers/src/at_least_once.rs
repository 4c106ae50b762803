//! At-least-once delivery as a Stateright model: the steps of `tla/AtLeastOnce.tla`, so the states
//! are the same.

use std::collections::{BTreeSet, VecDeque};

use stateright::{Checker, Model, Property};

/// `N` requests; each is tried at most twice.
#[derive(Clone, Copy)]
pub struct AtLeastOnce<const N: u8> {
    /// Does the server remember what it has executed?
    pub deduplicates: bool,
}

/// How often the client sends a request.
const TRIES: u8 = 2;

/// The network, the client and the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct World {
    requests: VecDeque<u8>,
    replies: VecDeque<u8>,
    lost_requests: u8,
    lost_replies: u8,
    waits: bool,
    request: u8,
    tries: u8,
    executed: u8,
    done: BTreeSet<u8>,
}

/// A step. A message is sent, or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Send { lost: bool },
    Receive,
    Timeout,
    Serve { lost: bool },
}

impl World {
    /// The next request, if this one is done or was tried often enough.
    fn goes(&mut self, is_done: bool) {
        self.waits = false;
        match is_done || self.tries + 1 == TRIES {
            true => (self.request, self.tries) = (self.request + 1, 0),
            false => self.tries += 1,
        }
    }
}

impl<const N: u8> Model for AtLeastOnce<N> {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World::default()]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if !world.waits && world.request < N {
            steps.push(Step::Send { lost: false });
            if world.lost_requests < 1 {
                steps.push(Step::Send { lost: true });
            }
        }
        if world.waits {
            steps.push(Step::Timeout);
            if !world.replies.is_empty() {
                steps.push(Step::Receive);
            }
        }
        if !world.requests.is_empty() {
            steps.push(Step::Serve { lost: false });
            if world.lost_replies < 1 {
                steps.push(Step::Serve { lost: true });
            }
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut world = world.clone();
        match step {
            Step::Send { lost } => {
                world.waits = true;
                match lost {
                    true => world.lost_requests += 1,
                    false => world.requests.push_back(world.request),
                }
            }
            Step::Receive => {
                let reply = world.replies.pop_front()?;
                world.goes(reply == world.request);
            }
            Step::Timeout => world.goes(false),
            Step::Serve { lost } => {
                let request = world.requests.pop_front()?;
                if !self.deduplicates || !world.done.contains(&request) {
                    world.executed += 1;
                    world.done.insert(request);
                }
                match lost {
                    true => world.lost_replies += 1,
                    false => world.replies.push_back(request),
                }
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let once = |_: &Self, world: &World| usize::from(world.executed) <= world.done.len();
        vec![Property::always("each request is executed once", once)]
    }
}

/// The number of states, searched depth first.
pub fn depth_first<const N: u8>() -> u64 {
    let checker = AtLeastOnce::<N> { deduplicates: true }.checker().spawn_dfs().join();
    checker.assert_properties();
    checker.unique_state_count() as u64
}

/// The number of states, searched breadth first.
pub fn breadth_first<const N: u8>() -> u64 {
    let checker = AtLeastOnce::<N> { deduplicates: true }.checker().spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count() as u64
}
