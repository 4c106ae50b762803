//! How a process is brought to a history: by a live one that is on the way there, or a new one.

use std::sync::atomic::Ordering;

use super::live::Live;
use super::runner::Pulse;
use super::tree::NodeId;
use super::{History, Past, Reply, Runner, Told};

impl<R: Runner> History<R> {
    /// A process that has this history and then got the outcome `last`; its questions since it was
    /// taken or started; and the histories that belong to these, except the last one.
    pub(super) fn run(
        &self,
        live: &mut Live<R::Live>,
        node: NodeId,
        last: &Told,
    ) -> (R::Live, Vec<Reply<R::Start>>, Vec<NodeId>) {
        let near = self.nearest(live, node);
        match near {
            Some((near, process)) if near == node => {
                let (process, replies) = self.deliver(live, process, std::slice::from_ref(last));
                (process, replies, Vec::new())
            }
            Some((near, process)) => {
                let path = self.path(Some(near), node);
                let (process, replies) =
                    self.deliver(live, process, &self.observations_on(&path, last));
                (process, replies, path)
            }
            None => self.retrace(live, node, last),
        }
    }

    /// Does the same by a new process. Returns only the questions that are new or differ, and the
    /// histories of those that differ.
    fn retrace(
        &self,
        live: &mut Live<R::Live>,
        node: NodeId,
        last: &Told,
    ) -> (R::Live, Vec<Reply<R::Start>>, Vec<NodeId>) {
        live.make_room(1);
        let start = self.tree().start(node).clone();
        let (past, mut replies) = (|| self.past(live, node, last), Vec::new());
        let Some((mut process, past)) = self.runner().retrace(&start, past, &mut replies) else {
            return self.run_anew(live, node, last);
        };
        self.count_run(past.done() + past.left().len());
        if past.left().is_empty() {
            return (process, replies, Vec::new());
        }
        self.deliver_each(live, &mut process, past.left(), &mut replies);
        let path = self.path(None, node).split_off(past.done());
        (process, replies, path)
    }

    /// What brings a new process to this history and then to the outcome `last`.
    fn past(&self, live: &Live<R::Live>, node: NodeId, last: &Told) -> Past {
        let tree = self.tree();
        let histories = || std::iter::successors(Some(node), |&node| tree.parent(node));
        let told = std::iter::once(last).chain(histories().map(|node| tree.told(node)));
        let stamp = |node| tree.reply(node).expect("a history that was visited").stamp;
        Past::of(histories().map(stamp).zip(told.cloned()), live.turns.clone())
    }

    /// Does the same by a new process.
    pub(super) fn run_anew(
        &self,
        live: &mut Live<R::Live>,
        node: NodeId,
        last: &Told,
    ) -> (R::Live, Vec<Reply<R::Start>>, Vec<NodeId>) {
        live.make_room(1);
        let path = self.path(None, node);
        let told = self.observations_on(&path[1..], last);
        let start = self.tree().start(node).clone();
        let (process, replies) = self.start(live, &start, &told);
        (process, replies, path)
    }

    pub(super) fn start(
        &self,
        live: &Live<R::Live>,
        start: &R::Start,
        told: &[Told],
    ) -> (R::Live, Vec<Reply<R::Start>>) {
        self.count_run(told.len());
        self.run_through(live, start, told)
    }

    /// Counts that a process was started and given this number of outcomes.
    fn count_run(&self, told: usize) {
        self.shared.starts.fetch_add(1, Ordering::Relaxed);
        self.shared.told.fetch_add(told as u64, Ordering::Relaxed);
    }

    /// Starts a process and delivers all these outcomes.
    pub(super) fn run_through(
        &self,
        live: &Live<R::Live>,
        start: &R::Start,
        told: &[Told],
    ) -> (R::Live, Vec<Reply<R::Start>>) {
        let mut replies = Vec::with_capacity(told.len() + 1);
        let at_once = if self.shared.patience.is_some() { &[] } else { told };
        let mut process = self.runner().start(start, at_once, &mut replies);
        self.deliver_each(live, &mut process, &told[at_once.len()..], &mut replies);
        (process, replies)
    }

    fn deliver(
        &self,
        live: &Live<R::Live>,
        mut process: R::Live,
        told: &[Told],
    ) -> (R::Live, Vec<Reply<R::Start>>) {
        self.shared.told.fetch_add(told.len() as u64, Ordering::Relaxed);
        let mut replies = Vec::with_capacity(told.len());
        match self.shared.patience {
            Some(_) => self.deliver_each(live, &mut process, told, &mut replies),
            None => self.runner().tell(&mut process, told, &mut replies),
        }
        (process, replies)
    }

    /// Delivers one outcome after another, each with its own time limit.
    pub(super) fn deliver_each(
        &self,
        live: &Live<R::Live>,
        process: &mut R::Live,
        told: &[Told],
        replies: &mut Vec<Reply<R::Start>>,
    ) {
        for one in told {
            let before = replies.len();
            live.turns.go_on();
            self.runner().tell(process, std::slice::from_ref(one), replies);
            if replies.len() == before {
                return;
            }
        }
    }

    /// The live process with the longest prefix of this history, which may be all of it; and that
    /// prefix. If other outcomes may be delivered there, a copy of the process is kept, if it can
    /// be copied.
    fn nearest(&self, live: &mut Live<R::Live>, node: NodeId) -> Option<(NodeId, R::Live)> {
        let tree = self.tree();
        let mut histories = std::iter::successors(Some(node), |&node| tree.parent(node));
        let near = histories.find(|&node| live.has(tree.birth(node)))?;
        let birth = tree.birth(near);
        let varies = near != node || tree.varies(near);
        drop(tree);
        let mut process = live.take(birth)?;
        // Makes room for the process and its copy.
        if varies
            && live.make_room(2)
            && let Some(copy) = self.runner().fork(&mut process)
        {
            live.keep(birth, copy);
        }
        Some((near, process))
    }

    /// The histories from `from`, exclusive, to `node`, inclusive. Without `from`, all prefixes of
    /// `node`.
    pub(super) fn path(&self, from: Option<NodeId>, node: NodeId) -> Vec<NodeId> {
        let tree = self.tree();
        let histories = std::iter::successors(Some(node), |&node| tree.parent(node));
        let mut path: Vec<_> = histories.take_while(|&node| Some(node) != from).collect();
        path.reverse();
        path
    }

    /// The last outcome of each of these histories, and then `last`.
    fn observations_on(&self, path: &[NodeId], last: &Told) -> Vec<Told> {
        let tree = self.tree();
        path.iter().map(|&node| tree.told(node)).chain([last]).cloned().collect()
    }
}
