//! A second run: it detects data shared by processes that belongs to no object of the model.
//!
//! Processes that run in one program may share data unknown to the model, in a `std::sync::Mutex`
//! for example. A process runs once for each history, so such data is the result of the latest
//! runs, and does not belong to one execution. Behaviour that depends on it changes from run to
//! run. So two things are repeated later, when other runs may have changed the data:
//!
//! - Whenever a process ends, one that ended earlier is run again: in turn, the first one of each
//!   start. If it asks something else, the process that has just ended fails, with a message that
//!   names the other one. This is done in debug builds only, since it may double the number of
//!   runs.
//! - Whenever a process is run again, so are the processes that it starts, with what their closures
//!   have captured this time. In all builds this is done once for each start, when the first of its
//!   processes has ended.
//! - The first judgement of a terminal state, and the first one that finds a failure, are repeated;
//!   in debug builds all these processes are run again in between. If the contents are the same but
//!   the judgement is not, the program is wrong.
//!
//! This detects only data that has changed in between. Data that all runs leave unchanged, or that
//! is set once before it is read, is not noticed. The second runs do not change any statistics.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::live::Live;
use super::tree::NodeId;
use super::{Asked, History, Judge, Reply, Runner, difference};
use crate::model::{Contents, Failure, FailureKind};

/// What is run or judged again.
#[derive(Default)]
pub(super) struct Again {
    /// For each start, the first history with which a process ended.
    ends: Mutex<Vec<NodeId>>,
    turn: AtomicUsize,
    /// Whether a judgement was repeated that found nothing; and one that found a failure.
    judged: [AtomicBool; 2],
    /// The failure of a judgement that differed the second time.
    unsteady: OnceLock<Failure>,
}

impl Again {
    /// Records that the first process of its start has ended, with this history.
    pub(super) fn note_end(&self, node: NodeId) {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).push(node);
    }

    fn ends(&self) -> Vec<NodeId> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn next(&self) -> Option<NodeId> {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        ends.get(turn % ends.len().max(1)).copied()
    }
}

impl<R: Runner> History<R> {
    /// Whether processes are run again.
    fn runs_again(&self) -> bool {
        cfg!(debug_assertions) && self.runner().repeats()
    }

    /// Runs a process again that has ended, because one with the history `node` has just ended.
    /// Returns the failure if the questions differ.
    pub(super) fn look_again(
        &self,
        live: &mut Live<R::Live>,
        node: NodeId,
    ) -> Option<Reply<R::Start>> {
        let end = self.runs_again().then(|| self.shared.again.next()).flatten()?;
        let (path, replies) = (self.path(None, end), self.run_again(live, end));
        if let Some(found) = self.start_again(live, &path, &replies) {
            return Some(found);
        }
        let tree = self.tree();
        let start = tree.start(end);
        let who = match start == tree.start(node) {
            true => "the process".into(),
            false => format!("the process {}", self.runner().name(start)),
        };
        let kind = || self.runner().on_difference(start);
        difference::of(&tree, &who, &path, &replies, &kind)
    }

    /// Starts the processes again that a process has started, which was itself run again with these
    /// questions: each as the process has done this time, with what its closure has captured now.
    /// Each runs to where the first such process has ended, or to its first question. Returns the
    /// failure if the questions differ.
    pub(super) fn start_again(
        &self,
        live: &mut Live<R::Live>,
        path: &[NodeId],
        replies: &[Reply<R::Start>],
    ) -> Option<Reply<R::Start>> {
        path.iter().zip(replies).find_map(|(&node, reply)| {
            let Asked::Spawn(start) = &reply.asked else { return None };
            let child = self.tree().known_child(node)?;
            self.tree().reply(child)?;
            let ends = self.shared.again.ends();
            let end = ends.into_iter().find(|&end| self.tree().root(end) == child);
            let end = end.unwrap_or(child);
            let (path, replies) = (self.path(None, end), self.run_as(live, start, end));
            let tree = self.tree();
            let who = format!("the process {}", self.runner().name(start));
            let kind = || self.runner().on_difference(start);
            difference::of(&tree, &who, &path, &replies, &kind)
        })
    }

    /// The questions of a new process in this history and its prefixes.
    fn run_again(&self, live: &mut Live<R::Live>, end: NodeId) -> Vec<Reply<R::Start>> {
        let start = self.tree().start(end).clone();
        self.run_as(live, &start, end)
    }

    /// The questions of a process that is started so in this history and its prefixes.
    fn run_as(
        &self,
        live: &mut Live<R::Live>,
        start: &R::Start,
        end: NodeId,
    ) -> Vec<Reply<R::Start>> {
        live.make_room(1);
        let path = self.path(None, end);
        let tree = self.tree();
        let told: Vec<_> = path[1..].iter().map(|&node| tree.told(node).clone()).collect();
        drop(tree);
        self.begin_turn(live, path[path.len().saturating_sub(2)], told.last());
        let (_, replies) = self.run_through(live, start, &told);
        self.end_turn(live);
        replies
    }

    fn run_all_again(&self) {
        if self.runs_again() {
            let mut live = self.live();
            for end in self.shared.again.ends() {
                self.run_again(&mut live, end);
            }
            live.put_back(self.shared.number);
        }
    }

    /// Judges a terminal state, and repeats one or two of these judgements.
    pub(super) fn judged(&self, judge: &Judge, cells: Contents<'_>) -> Option<Failure> {
        let again = &self.shared.again;
        if let Some(unsteady) = again.unsteady.get() {
            return Some(unsteady.clone());
        }
        let found = judge(cells);
        let is_new = || !again.judged[usize::from(found.is_some())].swap(true, Ordering::Relaxed);
        if !self.runner().repeats() || !is_new() {
            return found;
        }
        self.run_all_again();
        let later = judge(cells);
        if words(&later) == words(&found) {
            return found;
        }
        let message = format!(
            "nondeterminism: for the same contents, the check at the end says \"{}\" the first time, and \
             \"{}\" the second time; does it read data that is not an object of the program?",
            words(&found),
            words(&later)
        );
        let site = found.or(later).and_then(|failure| failure.site);
        let unsteady = Failure { kind: FailureKind::Error, message, site };
        Some(again.unsteady.get_or_init(|| unsteady).clone())
    }
}

fn words(found: &Option<Failure>) -> &str {
    found.as_ref().map_or("nothing is wrong", |failure| &failure.message)
}
