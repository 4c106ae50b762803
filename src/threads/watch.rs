//! Threads that make no further operation.
//!
//! As with [processes](crate::systems::history::patience), a search runs in a thread of the
//! operating system that is abandoned if a thread of the program computes for too long. From then
//! on that one fails in this history.
//!
//! The same is done with code that cannot go on: destructors that are called in a panic, or because
//! an execution is given up, get no outcomes and cannot leave their stack. If they ask for more and
//! more, they wait for something that will not happen. In a panic that is a failure. At the end of
//! an execution it means nothing: then stacks are forgotten from now on instead of unwound.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::ask::Running;
use super::system::{Shared, Threads};
use crate::model::{Failure, FailureKind};
use crate::program::panics;
use crate::systems::history::patience::{Turns, Watchable, Watched, hang};
use crate::systems::history::tree::NodeId;
use crate::systems::history::{Asked, Reply};

/// The most that a destructor asks for in vain.
const MOST_IN_VAIN: u32 = 100_000;

/// What a thread of the operating system does.
#[derive(Clone)]
pub(crate) enum Doing {
    /// A thread of the program runs, in this history.
    Runs(NodeId),
    /// One cannot go on in this history.
    Fails(NodeId, Failure),
    /// The stacks of an execution are unwound.
    Unwinds,
}

thread_local! {
    /// The record of this thread, with the number of the program.
    static TURNS: RefCell<Option<(u64, Arc<Turns<Doing>>)>> = const { RefCell::new(None) };
}

impl Shared {
    /// The record of this thread, if it is watched.
    pub(super) fn turns(&self) -> Option<Arc<Turns<Doing>>> {
        self.is_watched.load(Ordering::Relaxed).then(|| {
            TURNS.with_borrow_mut(|turns| match turns {
                Some((number, turns)) if *number == self.number => turns.clone(),
                _ => turns.insert((self.number, self.watched.join())).1.clone(),
            })
        })
    }

    /// Has a thread hung in this history?
    pub(super) fn has_hung(&self, node: NodeId) -> bool {
        self.has_hung.load(Ordering::Relaxed) && self.hung().contains(&node)
    }
}

impl Running {
    /// Does this under the eyes of the watchdog.
    pub(super) fn watched<T>(&self, doing: Doing, run: impl FnOnce() -> T) -> T {
        let Some(turns) = &self.turns else { return run() };
        let before = turns.turn_to_next(doing);
        let result = run();
        turns.turn_back(before);
        result
    }

    /// The thread that runs goes on with this history.
    pub(super) fn goes_on_with(&self, node: NodeId) {
        if let Some(turns) = &self.turns {
            turns.turn_to_next(Doing::Runs(node));
        }
    }

    /// A destructor asks for something that is not done.
    pub(super) fn asks_in_vain(&self) {
        let asked = self.in_vain.get() + 1;
        self.in_vain.set(asked);
        if asked > MOST_IN_VAIN {
            self.in_vain.set(0);
            self.cannot_go_on("waits for what others do");
        }
    }

    /// A destructor cannot go on that does this in a panic, or at the end of an execution. Returns
    /// if the thread is not watched.
    pub(super) fn cannot_go_on(&self, what: &str) {
        if self.turns.is_none() {
            return;
        }
        if self.is_ending.get() {
            self.shared.watched.give_up(Doing::Unwinds);
        }
        let message =
            format!("a destructor that is called in a panic {what}: that is not supported");
        let failure = Failure { kind: FailureKind::Error, message, site: panics::place() };
        self.shared.watched.give_up(Doing::Fails(self.node.get(), failure))
    }
}

impl Watchable for Threads {
    type Delivery = Doing;

    fn share(&self) -> Threads {
        Threads { shared: self.shared.clone() }
    }

    fn watched(&self) -> &Watched<Doing> {
        &self.shared.watched
    }

    fn searches_again(&self) -> bool {
        false
    }

    fn note_hang(&self, doing: Doing, patience: Duration) {
        let shared = &self.shared;
        let (node, failure) = match doing {
            Doing::Unwinds => return shared.forgets.store(true, Ordering::Relaxed),
            Doing::Fails(node, failure) => (node, failure),
            Doing::Runs(node) => {
                let tree = shared.tree();
                let asked = tree.parent(node).and_then(|parent| tree.reply(parent));
                let site = match asked {
                    Some(reply) => reply.site.as_deref().cloned(),
                    None => tree.start(node).place.map(panics::site),
                };
                (node, hang(site.as_ref(), "thread", patience))
            }
        };
        shared.hung().insert(node);
        shared.has_hung.store(true, Ordering::Relaxed);
        if shared.tree().reply(node).is_some() {
            shared.broken().insert(node, failure);
            shared.is_told.store(true, Ordering::Relaxed);
        } else {
            let site = failure.site.clone().map(Arc::new);
            shared.tree_mut().begin(node, Reply::new(Asked::Failed(failure), site));
        }
    }
}
