//! Processes that can be neither copied nor undone, as a system: a local state is the *history* of
//! a process, that is, the sequence of its observations.
//!
//! What a process does next depends only on its observations. So a [`Runner`] that can start real
//! processes and deliver outcomes to them suffices for a [`System`]: [`resume`](System::resume)
//! runs that one process, alone, to its next operation. The shared objects belong to the search,
//! which steps and undoes them as for any other system. A process runs once for each distinct
//! history of its own, and not once for each execution: `n` senders run `n` times in all, however
//! many executions there are.
//!
//! Histories are interned in a tree: equal local states are equal histories. If there are many,
//! those that no search needs any more are forgotten; a search that needs one again runs the
//! process again. Two executions lead
//! to the same state only if every process made the same observations in both, and explorers that
//! store states gain nothing: they refuse. But a runner may detect that a process, after some
//! outcomes, is in the state before them ([`Reply::back`]); then it has the history again that it
//! had there. So a loop of unsuccessful polls that changes nothing is recognised as a loop
//! (`trace::spin`). And a process that makes the same round of observations again and again is
//! taken to wait, if the runner says so ([`Runner::waits`]).
//!
//! To deliver a new outcome, a process with exactly that history is needed. If there is a live one,
//! it continues. Otherwise the rest of the history is delivered to the live one with the longest
//! prefix of it, or all of it to a new one. Its questions on the way are compared with those of the
//! first time. If they differ, the process is not deterministic, which is a violation of its own.
//! So is a process that asks nothing any more: see [`Runner::patience`].
//!
//! | item | meaning |
//! |---|---|
//! | [`Runner`] | starts processes, delivers outcomes to them, and returns their questions |
//! | [`Reply`], [`Asked`] | the question of a process, and its place |
//! | [`Function`] | an update of a cell that is known by the history in which it is asked for |
//! | [`Past`] | what brings a new process to a history that is known |
//! | [`Told`], [`Outcomes`] | the outcome of an operation, in terms that all searches share; the possible ones |
//! | [`History`] | the system |
//! | [`Runs`] | the numbers of started processes and of delivered outcomes |

mod again;
mod bringing;
pub(crate) mod difference;
mod function;
mod live;
pub(crate) mod patience;
mod runner;
pub(crate) mod tree;
pub(crate) mod waiting;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

pub use function::Function;
pub use runner::{Asked, Judge, Outcomes, Past, Reply, Runner, Told};

use crate::model::{
    Contents, Describe, Envelope, Failure, Finale, Foresight, Invariants, MailboxId, Next, Objects,
    ProcessId, Remark, Response, Runs, Site, System, Touch, Values,
};
use again::Again;
use live::Live;
use patience::{Delivery, Watched};
use tree::{NodeId, Tree};
use waiting::{Loops, may_wait};

/// The default for the maximum number of live processes of a thread.
const MOST: usize = 256;

/// A history of one process, by its index in the tree of histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(NodeId);

/// The processes of a runner as a [`System`].
pub struct History<R: Runner> {
    most: usize,
    shared: Arc<Shared<R>>,
}

/// The data that all searches of these processes share, including abandoned ones.
struct Shared<R: Runner> {
    runner: R,
    /// Distinguishes the live processes of different systems.
    number: u64,
    tree: RwLock<Tree<R::Start>>,
    starts: AtomicU64,
    told: AtomicU64,
    patience: Option<Duration>,
    watched: Watched<Delivery>,
    again: Again,
    loops: Loops,
}

impl<R: Runner> History<R> {
    /// The processes of this runner. None of them is started yet.
    pub fn new(runner: R) -> History<R> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let tree = RwLock::new(Tree::new(runner.processes()));
        let (starts, told) = (AtomicU64::new(0), AtomicU64::new(0));
        let (patience, watched, again) = (runner.patience(), Watched::default(), Again::default());
        let loops = Loops::default();
        let shared = Shared { runner, number, tree, starts, told, patience, watched, again, loops };
        let shared = Arc::new(shared);
        History { most: MOST, shared }
    }

    /// Sets the maximum number of live processes for each thread that explores; at least one.
    pub fn max_processes(mut self, most: usize) -> History<R> {
        self.most = most.max(1);
        self
    }

    /// Sets the number of histories that are all kept. If there are more, those go that no search
    /// needs any more.
    pub fn max_histories(self, few: usize) -> History<R> {
        self.tree_mut().keep_few(few);
        self
    }

    /// The runner.
    pub fn runner(&self) -> &R {
        &self.shared.runner
    }

    /// What the process in this state was started from.
    #[cfg(all(unix, feature = "cli"))]
    pub(crate) fn start_of(&self, &Local(node): &Local) -> R::Start {
        self.tree().start(node).clone()
    }

    /// How often processes have been run so far.
    pub fn runs(&self) -> Runs {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let histories = self.tree().added();
        Runs { starts: load(&self.shared.starts), told: load(&self.shared.told), histories }
    }

    /// The same system, for another thread.
    pub(crate) fn share(&self) -> History<R> {
        History { most: self.most, shared: self.shared.clone() }
    }

    /// The live processes of this thread.
    fn live(&self) -> Box<Live<R::Live>> {
        Live::of(self.shared.number, self.most, || self.shared.watched.join())
    }

    // No thread panics while it holds the lock, unless a caller has passed a local state of another
    // system.
    fn tree(&self) -> RwLockReadGuard<'_, Tree<R::Start>> {
        self.shared.tree.read().expect("no thread panics while it holds the tree")
    }

    fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree<R::Start>> {
        self.shared.tree.write().expect("no thread panics while it holds the tree")
    }

    /// Starts the process that begins here, unless its first question is known.
    fn begin(&self, root: NodeId) {
        let start = self.tree().start(root).clone();
        let mut live = self.live();
        live.make_room(1);
        self.begin_turn(&live, root, None);
        let (process, mut replies) = self.start(&live, &start, &[]);
        self.end_turn(&live);
        let reply = replies.pop().expect("a process asks something first");
        let is_end = reply.asked.is_end();
        self.tree_mut().begin(root, reply);
        if !is_end {
            live.keep(self.tree().birth(root), process);
        }
        live.put_back(self.shared.number);
    }

    /// Adds the history that continues `node` with this outcome, by running the process. It is held
    /// for the caller.
    fn grow(&self, node: NodeId, last: Told) -> NodeId {
        let mut live = self.live();
        if let Some(earlier) = self.round_of(&mut live, node, &last) {
            live.put_back(self.shared.number);
            let mut tree = self.tree_mut();
            let child = tree.come_back(node, last, earlier);
            tree.hold(child);
            return child;
        }
        self.begin_turn(&live, node, Some(&last));
        let (process, mut replies, path) = self.run(&mut live, node, &last);
        let found = match path.is_empty() {
            true => None,
            false => self.difference(&self.tree(), node, &path, &replies),
        };
        let reply = found.or_else(|| replies.pop());
        let reply = reply.expect("a process asks something after each outcome");
        let is_end = reply.asked.is_end();
        let process = (!is_end).then_some(process);
        let is_first = is_end && self.runner().repeats() && self.tree_mut().end(node);
        let found = is_first.then(|| self.repeat(&mut live, node, &last, &reply)).flatten();
        self.end_turn(&live);
        let found = found.or_else(|| is_end.then(|| self.look_again(&mut live, node)).flatten());
        let reply = found.unwrap_or(reply);
        let is_new = reply.back == 0;
        let child = match reply.back {
            0 => self.attach(node, last, reply),
            back => self.come_back(node, last, back),
        };
        let tree = self.tree();
        if is_first {
            tree.hold(child);
            self.shared.again.note_end(child);
        }
        // Another thread may have found that the history goes on, where this process has come back.
        let fits = is_new || tree.is_at_or_before(child, node);
        if let Some(process) = process.filter(|_| fits) {
            live.keep(tree.birth(child), process);
        }
        drop(tree);
        live.put_back(self.shared.number);
        child
    }

    /// Records that a process is running from now on, which may hang.
    fn begin_turn(&self, live: &Live<R::Live>, node: NodeId, told: Option<&Told>) {
        if self.shared.patience.is_some() {
            live.turns.begin(Delivery { node, told: told.cloned() });
        }
    }

    fn end_turn(&self, live: &Live<R::Live>) {
        if self.shared.patience.is_some() {
            live.turns.end();
        }
    }

    /// Runs a process again whose last question was `reply`. Returns the failure if it asks
    /// something else.
    fn repeat(
        &self,
        live: &mut Live<R::Live>,
        node: NodeId,
        last: &Told,
        reply: &Reply<R::Start>,
    ) -> Option<Reply<R::Start>> {
        let (_, replies, path) = self.run_anew(live, node, last);
        let found = self.difference(&self.tree(), node, &path, &replies);
        let kind = || self.runner().on_difference(self.tree().start(node));
        found
            .or_else(|| difference::between("the process", reply, replies.last()?, &kind))
            .or_else(|| self.start_again(live, &path, &replies))
    }

    /// After `node` and the outcome `last`, the process is in the state before its last `back`
    /// outcomes. The history that results is held for the caller.
    fn come_back(&self, node: NodeId, last: Told, back: u32) -> NodeId {
        let mut tree = self.tree_mut();
        let earlier =
            (1..back).fold(node, |node, _| tree.parent(node).expect("at least `back` outcomes"));
        let child = tree.come_back(node, last, earlier);
        tree.hold(child);
        child
    }

    /// Adds a history, unless another thread has added it already. It is held for the caller.
    fn attach(&self, node: NodeId, last: Told, reply: Reply<R::Start>) -> NodeId {
        let mut tree = self.tree_mut();
        let child = match tree.child(node, &last) {
            None => tree.grow(node, last, reply),
            Some(known) if tree.is_at_or_before(known, node) => known,
            Some(known) => {
                match self.difference(&tree, known, &[known], std::slice::from_ref(&reply)) {
                    Some(found) => tree.replace(known, found),
                    None => known,
                }
            }
        };
        tree.hold(child);
        child
    }

    /// The failure of a process that asked `again` in these histories, if it has asked something
    /// else before.
    fn difference(
        &self,
        tree: &Tree<R::Start>,
        node: NodeId,
        path: &[NodeId],
        again: &[Reply<R::Start>],
    ) -> Option<Reply<R::Start>> {
        let kind = || self.runner().on_difference(tree.start(node));
        difference::of(tree, "the process", path, again, &kind)
    }
}

impl<R: Runner> Drop for Shared<R> {
    fn drop(&mut self) {
        live::end_all(self.number);
    }
}

impl<R: Runner> System for History<R> {
    type Local = Local;

    fn objects(&self) -> &Objects {
        self.runner().objects()
    }

    fn initial(&self, _: &mut Values) -> Vec<Local> {
        let tree = self.tree();
        let initial = tree.initial().iter().copied();
        initial.inspect(|&root| tree.hold(root)).map(Local).collect()
    }

    fn next(&self, &Local(node): &Local, values: &mut Values) -> Next<Local> {
        let mut tree = self.tree();
        if tree.reply(node).is_none() {
            drop(tree);
            self.begin(node);
            tree = self.tree();
        }
        match &tree.reply(node).expect("it was started").asked {
            Asked::Op { op, values: given } => Next::Op(op.with_values(|place| {
                values.intern(Function::asked_in(tree.birth(node), &given[place.0 as usize]))
            })),
            Asked::Spawn(start) => {
                let start = start.clone();
                drop(tree);
                let mut tree = self.tree_mut();
                let root = tree.spawned(node, &start);
                tree.hold(root);
                Next::Spawn(Local(root))
            }
            Asked::Done => Next::Done,
            Asked::Returned(value) => Next::Returned(values.intern(value.clone())),
            Asked::Failed(failure) => Next::Failed(failure.clone()),
        }
    }

    fn resume(&self, &Local(node): &Local, response: Response, values: &Values) -> Local {
        let told = Told::new(response, values);
        let tree = self.tree();
        let known = tree.child(node, &told).inspect(|&known| tree.hold(known));
        drop(tree);
        Local(known.unwrap_or_else(|| self.grow(node, told)))
    }

    fn release(&self, &Local(node): &Local) {
        let is_needed = !self.tree().release(node);
        if !is_needed {
            self.tree_mut().prune(node);
        }
    }

    fn looks_further(&self) -> bool {
        self.gives_up()
    }

    fn noted(&self) -> Option<String> {
        let of_runner = self.runner().noted().unwrap_or_default();
        Some(format!("{}\n{of_runner}", self.shared.loops.noted()))
    }

    fn recall(&self, noted: &str) -> bool {
        noted.split_once('\n').is_some_and(|(loops, of_runner)| {
            self.shared.loops.recall(loops) && self.runner().recall(of_runner)
        })
    }

    fn is_daemon(&self, &Local(node): &Local) -> bool {
        self.runner().is_daemon(self.tree().start(node))
    }

    fn attempt<T: Send + 'static>(&self, work: impl Fn(&Self) -> T + Send + Sync + 'static) -> T {
        match self.shared.patience {
            Some(patience) => patience::attempt(self, patience, work),
            None => work(self),
        }
    }

    fn excuses(&self, local: &Local) -> bool {
        self.is_in_vain(local)
    }

    fn may_be_in_vain(&self) -> bool {
        true
    }

    fn is_in_vain(&self, &Local(node): &Local) -> bool {
        self.tree().reply(node).is_some_and(|reply| reply.in_vain)
    }

    fn finale(&self) -> Option<&dyn Finale<Local>> {
        self.runner().judge().is_some().then_some(self as &dyn Finale<Local>)
    }

    fn invariants(&self) -> Option<&dyn Invariants<Local>> {
        self.runner().invariants()
    }

    fn foresight(&self) -> &dyn Foresight<Local> {
        self
    }

    fn describe(&self) -> &dyn Describe<Local> {
        self
    }
}

impl<R: Runner> Finale<Local> for History<R> {
    fn judge(&self, _: &[Option<&Local>], cells: Contents<'_>, _: &Values) -> Option<Failure> {
        self.judged(self.runner().judge()?, cells)
    }

    fn tells(&self, _: ProcessId, _: &Local, _: &Local) -> bool {
        false
    }
}

impl<R: Runner> Foresight<Local> for History<R> {
    fn may_touch(&self, &Local(node): &Local, touch: Touch) -> bool {
        self.runner().may_touch(self.tree().start(node), touch)
    }

    fn may_send(&self, &Local(node): &Local, mailbox: MailboxId, pattern: Envelope) -> bool {
        self.runner().may_send(self.tree().start(node), mailbox, pattern)
    }

    /// Histories only grow, unless a process reports that it came back to an earlier state, or
    /// waits in a loop.
    fn may_return(&self, &Local(node): &Local) -> bool {
        let (tree, runner) = (self.tree(), self.runner());
        let Some(reply) = tree.reply(node) else { return runner.may_return(None) };
        let Asked::Op { op, .. } = &reply.asked else { return false };
        reply.may_return
            || runner.may_return(Some(op))
            || runner.waits() && may_wait(&tree, node, waiting::is_again)
    }

    fn may_cancel(&self) -> bool {
        self.runner().may_cancel()
    }

    fn remembers_all(&self) -> bool {
        true
    }

    fn holds_values(&self) -> bool {
        false
    }
}

impl<R: Runner> Describe<Local> for History<R> {
    fn process_name(&self, &Local(node): &Local) -> String {
        self.runner().name(self.tree().start(node))
    }

    fn site(&self, &Local(node): &Local) -> Option<Site> {
        self.tree().reply(node)?.site.as_deref().cloned()
    }

    fn assumes(&self) -> Option<String> {
        self.shared.loops.assumption()
    }

    fn runs(&self) -> Option<Runs> {
        Some(self.runs())
    }

    fn printed(&self, &Local(node): &Local) -> Option<String> {
        self.tree().reply(node)?.printed.as_deref().map(String::from)
    }

    fn remarks(&self, &Local(node): &Local) -> Option<Arc<[Remark]>> {
        self.tree().reply(node)?.remarks.clone()
    }
}
