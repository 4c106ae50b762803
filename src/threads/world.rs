//! Threads of the program on stacks of their own, and what they have in memory.
//!
//! A world is brought to a history: it runs the threads of its past, each from where it is to where
//! the past has it, and delivers to each the outcomes that its own history has. A thread that reads
//! what another one left runs after that one. If a thread in this world has gone another way, or if
//! something in memory was changed since by a thread that the history does not know, the world is
//! *stale*. Then a new one is brought to the history, which runs its past and nothing else: there
//! nobody can have changed what is read.
//!
//! Threads run until they ask for the next operation. So they run alone, between two operations,
//! and what they do to memory in between belongs to the first of the two.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use generator::{Generator, Gn};
use rustc_hash::FxHashMap;

use super::ask::{Ahead, Body, Clock, Running, Wanted};
use super::system::Shared;
use super::token::{Token, Turned, Word};
use super::unwind::do_deferred;
use super::waiting::is_again;
use super::watch::Doing;
use crate::model::{Failure, Value};
use crate::program::panics;
use crate::systems::history::tree::NodeId;
use crate::systems::history::waiting::Step;
use crate::systems::history::{Asked, Told};

/// A stack on which a thread runs: it takes outcomes, and gives what the thread wants.
type Stack = Generator<'static, Told, Wanted>;

/// The size of a stack, in words: as that of a thread of the standard library, 2 MiB. What is not
/// used of it takes no memory.
const SIZE: usize = 0x4_0000;

/// The most stacks that are kept for later.
const MOST_KEPT: usize = 64;

thread_local! {
    /// What the next stack will run. It may be something that must not be sent to other threads.
    static NEXT: Cell<Option<Body>> = const { Cell::new(None) };
    static IDLE: RefCell<Vec<Stack>> = const { RefCell::new(Vec::new()) };
    /// The world of each program in use. There are few at a time.
    static WORLDS: RefCell<Vec<(u64, World)>> = const { RefCell::new(Vec::new()) };
}

/// The world does not fit the history.
pub(super) struct Stale;

/// The threads of an execution.
pub(super) struct World {
    running: Rc<Running>,
    /// The threads that run, by their empty histories.
    threads: FxHashMap<NodeId, Thread>,
    /// What threads knew of others in their histories.
    clocks: FxHashMap<NodeId, Clock>,
}

struct Thread {
    stack: Option<Stack>,
    at: NodeId,
    /// What it knows of other threads, if accesses to cells are compared.
    clock: Clock,
}

impl World {
    /// A world without threads.
    pub(super) fn new(shared: Arc<Shared>) -> World {
        World {
            running: Rc::new(Running::new(shared)),
            threads: FxHashMap::default(),
            clocks: FxHashMap::default(),
        }
    }

    /// Takes the world of this program, if this thread of the operating system has one.
    pub(super) fn take(number: u64) -> Option<World> {
        let remove = |worlds: &RefCell<Vec<(u64, World)>>| {
            let mut worlds = worlds.borrow_mut();
            let place = worlds.iter().position(|(known, _)| *known == number)?;
            Some(worlds.swap_remove(place).1)
        };
        WORLDS.try_with(remove).ok().flatten()
    }

    /// A world in which the thread with this history is at its question.
    pub(super) fn at(shared: &Arc<Shared>, node: NodeId) -> Option<World> {
        let root = shared.tree().root(node);
        let stands =
            |world: &mut World| world.bring_to(node).is_ok() && world.threads[&root].at == node;
        let taken =
            World::take(shared.number).and_then(|mut world| stands(&mut world).then_some(world));
        taken.or_else(|| {
            let mut world = World::new(shared.clone());
            stands(&mut world).then_some(world)
        })
    }

    /// Tells a thread, which has gone on by the steps of a round before this one, what it observes
    /// in this step. Does it ask for the next one? The world is of no use afterwards.
    pub(super) fn repeats(&mut self, step: &Step) -> bool {
        let root = self.running.shared.tree().root(step.then);
        let Some(mut stack) = self.thread(root).stack.take() else { return false };
        let running = self.running.clone();
        running.enter_history(step.then);
        let pointers = || running.pointers.borrow().get(&step.then).copied();
        let pointers_before = pointers();
        running.thread.set(root);
        let told = step.told.clone();
        let tell = || running.enter(|| panics::while_running(|| stack.send(told)));
        let wanted = running.watched(Doing::Runs(step.then), tell);
        let has_ended = wanted.asked.is_end() && !running.is_stale.get();
        let goes_on = !wanted.asked.is_end() && running.made.get() == 0;
        match has_ended {
            true => put_back(stack),
            false => self.thread(root).stack = Some(stack),
        }
        let tree = running.shared.tree();
        let known = tree.reply(step.then);
        let reply = wanted.reply(String::new(), &running.shared.sites);
        let same_pointers = pointers_before.is_none_or(|before| pointers() == Some(before));
        goes_on && same_pointers && known.is_some_and(|known| is_again(known, &reply))
    }

    /// Does the exchange of a pointer that is asked for in this history expect what was written
    /// there; or what the pointer began with?
    pub(super) fn compares(&self, by: NodeId, writer: Option<NodeId>) -> bool {
        let pointers = self.running.pointers.borrow();
        let own = pointers[&by];
        own.expected == writer.map_or(own.first, |writer| pointers[&writer].new)
    }

    /// Keeps the world for later.
    pub(super) fn keep(self, number: u64) {
        WORLDS.with_borrow_mut(|worlds| worlds.push((number, self)));
    }

    /// Runs what belongs to the past of this history, and all of it.
    pub(super) fn bring_to(&mut self, node: NodeId) -> Result<(), Stale> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.bring(node))
    }

    fn bring(&mut self, node: NodeId) -> Result<(), Stale> {
        let shared = self.running.shared.clone();
        let tree = shared.tree();
        let root = tree.root(node);
        let at = self.threads.get(&root).map(|thread| thread.at);
        if at.is_some_and(|at| tree.is_at_or_before(node, at)) {
            return Ok(());
        }
        // The histories on the way, the next one last.
        let mut way = Vec::new();
        let mut last = node;
        while at != Some(last)
            && let Some(parent) = tree.parent(last)
        {
            let stamp = tree.reply(parent).map_or(0, |asked| asked.stamp);
            way.push(Ahead { node: last, stamp, told: tree.told(last).clone() });
            last = parent;
        }
        let spawner = tree.start(root).spawner;
        drop(tree);
        if at.is_none() {
            if let Some(spawner) = spawner {
                self.bring_to(spawner)?;
            }
            self.start(root, spawner)?;
        }
        while let Some(Ahead { node, told, .. }) = way.pop() {
            self.bring_to_what_was_read(&told)?;
            if shared.mode.tracks {
                self.learn_what_was_read(root, &told);
            }
            let thread = self.threads.get_mut(&root).expect("it was started");
            if thread.at != last {
                return Err(Stale);
            }
            thread.at = node;
            let stack = thread.stack.take().ok_or(Stale)?;
            if !shared.mode.tracks {
                let reads = way.iter().rposition(|next| reads(&next.told));
                self.running.ahead.borrow_mut().extend(way.drain(reads.map_or(0, |at| at + 1)..));
            }
            self.go_on(node, stack, Some(told))?;
            way.append(&mut self.running.astray.borrow_mut());
            if !self.running.ahead.borrow().is_empty() {
                // It has ended before.
                return Err(Stale);
            }
            last = self.thread(root).at;
        }
        Ok(())
    }

    fn bring_to_what_was_read(&mut self, told: &Told) -> Result<(), Stale> {
        let Some(value) = content(told) else { return Ok(()) };
        if let Some(Token(by)) = Token::of(value) {
            return self.bring_to(by);
        }
        if let Some(turned) = Turned::of(value) {
            let after = self.after_turn(turned);
            return self.bring_to(after.ok_or(Stale)?);
        }
        let mut read = Word::of(value);
        while let Some(word) = read {
            self.bring_to(word.by)?;
            let tree = self.running.shared.tree();
            // A writer that has gone on has read what it updated.
            let has_gone_on = self.threads[&tree.root(word.by)].at != word.by;
            read = match has_gone_on {
                true => None,
                false => word.updated.as_ref().and_then(Word::of),
            };
        }
        Ok(())
    }

    /// The history of a thread after the last turn.
    fn after_turn(&self, Turned { by, before, .. }: &Turned) -> Option<NodeId> {
        self.running.shared.tree().child(*by, &Told::Value(before.clone()))
    }

    /// Adds to what a thread knows of others.
    fn learn_what_was_read(&mut self, root: NodeId, told: &Told) {
        let Some(value) = content(told) else { return };
        let mut clock = std::mem::take(&mut self.thread(root).clock);
        if let Some(Token(by)) = Token::of(value) {
            self.add_to(&mut clock, by);
        }
        if let Some(after) = Turned::of(value).and_then(|turned| self.after_turn(turned)) {
            self.add_to(&mut clock, after);
        }
        let mut read = Word::of(value);
        while let Some(word) = read {
            self.add_to(&mut clock, word.by);
            read = word.updated.as_ref().and_then(Word::of);
        }
        self.thread(root).clock = clock;
    }

    /// Adds to a clock what a thread has done up to this history, and what it knew of others.
    fn add_to(&self, clock: &mut Clock, node: NodeId) {
        let own = (self.running.shared.tree().root(node), node);
        let known = self.clocks.get(&node).into_iter().flatten().map(|(&of, &node)| (of, node));
        for (thread, node) in known.chain([own]) {
            let last = clock.entry(thread).or_insert(node);
            *last = node.max(*last);
        }
    }

    fn thread(&mut self, root: NodeId) -> &mut Thread {
        self.threads.get_mut(&root).expect("a thread that runs")
    }

    /// What is wrong with how a complete execution has used memory: accesses that race, or memory
    /// that is never freed.
    pub(super) fn misuse(&self) -> Option<Failure> {
        self.running.race.borrow().clone().or_else(|| self.running.leak())
    }

    /// Starts the thread with this empty history.
    fn start(&mut self, root: NodeId, spawner: Option<NodeId>) -> Result<(), Stale> {
        let body = match spawner {
            Some(spawner) => {
                let body = self.running.bodies.borrow_mut().remove(&spawner);
                body.ok_or(Stale)?
            }
            None => {
                let main = self.running.shared.main.clone();
                Box::new(move || main())
            }
        };
        NEXT.set(Some(body));
        let stack = match IDLE.with_borrow_mut(Vec::pop) {
            Some(mut stack) => {
                stack.init_code(begin);
                stack
            }
            None => Gn::new_opt(SIZE, begin),
        };
        let mut clock = Clock::default();
        if let Some(spawner) = spawner.filter(|_| self.running.shared.mode.tracks) {
            self.add_to(&mut clock, spawner);
        }
        self.threads.insert(root, Thread { stack: None, at: root, clock });
        self.go_on(root, stack, None)
    }

    /// Runs the thread with this history to its next question, and tells the program what that is.
    fn go_on(&mut self, node: NodeId, mut stack: Stack, told: Option<Told>) -> Result<(), Stale> {
        let root = self.running.shared.tree().root(node);
        if self.running.shared.has_hung(node) {
            self.thread(root).stack = Some(stack);
            return Err(Stale);
        }
        if self.running.shared.mode.tracks {
            let clock = self.thread(root).clock.clone();
            self.running.clock.replace(clock.clone());
            self.clocks.insert(node, clock);
        }
        let running = &self.running;
        running.enter_history(node);
        running.thread.set(root);
        running.shared.has_run(told.is_none());
        let go_on = || match told {
            None => stack.resume().expect("a thread that begins asks for something or ends"),
            Some(told) => stack.send(told),
        };
        let enter = || running.enter(|| panics::while_running(go_on));
        let wanted = running.watched(Doing::Runs(node), enter);
        if running.is_stale.get() {
            running.ahead.borrow_mut().clear();
            self.thread(root).stack = Some(stack);
            return Err(Stale);
        }
        let has_ended = wanted.asked.is_end();
        running.keep_spawned(&wanted);
        let printed = std::mem::take(&mut *running.printed.borrow_mut());
        let node = running.node.get();
        let answered = running.shared.answer(node, wanted, printed);
        let thread = self.threads.get_mut(&root).expect("a thread that runs");
        thread.at = node;
        match has_ended {
            true => put_back(stack),
            false => thread.stack = Some(stack),
        }
        answered
    }
}

impl Drop for World {
    /// Ends the threads: each unwinds its stack, unless no code can run any more, or the program
    /// must not be unwound.
    ///
    /// The stacks are not cancelled by their crate, which replaces the panic hook for so long: that
    /// of the whole program.
    fn drop(&mut self) {
        if Running::is_over() || self.running.shared.forgets.load(Ordering::Relaxed) {
            self.threads.drain().for_each(|(_, thread)| std::mem::forget(thread.stack));
            let bodies = self.running.bodies.take().into_values();
            bodies.chain(self.running.spawned.take()).for_each(std::mem::forget);
            // Their destructors would run outside of the program.
            std::mem::forget((self.running.locals.take(), self.running.statics.take()));
            return;
        }
        let running = self.running.clone();
        running.is_ending.set(true);
        let mut threads: Vec<(NodeId, Thread)> = self.threads.drain().collect();
        // What is borrowed by threads of a scope is on the stack of the thread that has the scope.
        // And what a destructor wants to lock is best unlocked before.
        threads.sort_unstable_by_key(|&(root, _)| {
            let has_scopes = running.with_scopes.borrow().contains(&root);
            let has_locks = running.locks.borrow().iter().any(|lock| lock.thread == root);
            (has_scopes, !has_locks, Reverse(root))
        });
        let end = || {
            running.drop_bodies();
            for (root, thread) in threads {
                let Some(mut stack) = thread.stack else { continue };
                running.thread.set(root);
                running.enter_history(thread.at);
                let ended = catch_unwind(AssertUnwindSafe(|| stack.send(Told::Unit)));
                if ended.is_ok() {
                    put_back(stack);
                }
            }
            running.drop_bodies();
            running.drop_all_locals();
        };
        let enter = || running.enter(|| panics::while_running(end));
        running.watched(Doing::Unwinds, enter);
    }
}

/// Is this the outcome of an operation that reads what another thread has left?
fn reads(told: &Told) -> bool {
    let Some(value) = content(told) else { return false };
    Token::of(value).is_some() || Word::of(value).is_some() || Turned::of(value).is_some()
}

/// The content that was read, or the message.
fn content(told: &Told) -> Option<&Value> {
    match told {
        Told::Value(value) | Told::Completed { value, .. } => Some(value),
        _ => None,
    }
}

fn put_back(mut stack: Stack) {
    // What remains is the end of the code.
    if !stack.is_done() {
        stack.resume();
    }
    if stack.is_done() {
        let keep = |idle: &RefCell<Vec<Stack>>| {
            let mut idle = idle.borrow_mut();
            if idle.len() < MOST_KEPT {
                idle.push(stack);
            }
        };
        // A thread that is ending keeps nothing.
        let _ = IDLE.try_with(keep);
    }
}

fn begin() -> Wanted {
    run(NEXT.take().expect("what is to run"))
}

/// The code of a thread, with its end. What it returns is in memory.
fn run(body: Body) -> Wanted {
    let result = catch_unwind(AssertUnwindSafe(|| {
        body();
        let running = Running::current();
        running.has_caught_too_much();
        running.drop_locals();
        running.has_caught_too_much();
    }));
    let running = Running::current();
    if running.is_ending.get() {
        // It was unwound because the world ends.
        return Wanted::end(Asked::Done);
    }
    running.has_left_out.set(false);
    if catch_unwind(do_deferred).is_err() {
        return Wanted::end(Asked::Done);
    }
    let asked = match result {
        Ok(()) => Asked::Returned(end(&running)),
        Err(payload) => Asked::Failed(panics::failure(payload)),
    };
    Wanted::end(asked)
}

/// What a join is told: the history at the end.
fn end(running: &Running) -> Value {
    Token(running.node.get()).value()
}
