//! Random programs as async closures, which interpret them with the operations of
//! `mazurka::program`.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use mazurka::model::Delivery;
use mazurka::program::{
    Barrier, Cell, Child, Closures, Condvar, Guard, Latch, Mailbox, Mutex, Program, ReadGuard,
    Request, RwLock, Semaphore, WriteGuard, choose, spawn, wait_any,
};
use mazurka::systems::history::History;

use crate::random_models::{self as random, Body, Condition, Sent, Statement, Variable};

/// The program, if all its operations exist here.
pub fn program(random: &random::Program) -> Option<History<Closures>> {
    let bodies = || random.processes.iter().chain(&random.templates);
    if random.polls.is_some() || !bodies().all(|body| is_sayable(body, &mut HashMap::new())) {
        return None;
    }
    let mut program = Program::new();
    let count = |count: usize| 0..count;
    let world = World {
        mailboxes: count(random.mailboxes)
            .map(|n| match random.deliveries.get(n) {
                Some(Delivery::P2p) => (program.p2p_mailbox(format!("m{n}")), true),
                Some(Delivery::Bag) => (program.bag_mailbox(format!("m{n}")), true),
                _ => (program.mailbox(format!("m{n}")), false),
            })
            .collect(),
        mutexes: count(random.mutexes)
            .map(|n| match bodies().any(|body| tries(body, n)) {
                true => program.tried_mutex(format!("l{n}"), ()),
                false => program.mutex(format!("l{n}"), ()),
            })
            .collect(),
        rwlocks: count(random.rwlocks).map(|n| program.rwlock(format!("r{n}"), ())).collect(),
        condvars: count(random.condvars).map(|n| program.condvar(format!("w{n}"))).collect(),
        semaphores: named(&random.semaphores, |n, &units| program.semaphore(n, units)),
        barriers: named(&random.barriers, |n, &size| program.barrier(n, size)),
        latches: named(&random.latches, |n, &counts| program.latch(n, counts)),
        cells: named(&random.cells, |n, &content| program.cell(n, content)),
        templates: random.templates.clone(),
    };
    let world = Arc::new(world);
    for (n, body) in random.processes.iter().enumerate() {
        let (world, body) = (world.clone(), body.clone());
        program.process(format!("P{n}"), async move || {
            let mut process = Process { rank: Some(n as i64), ..Process::default() };
            process.run(&world, &body).await;
            process.end();
        });
    }
    if let Some((cell, expected)) = random.finally {
        let watched = world.cells[cell];
        program.finally(move |end| assert!(end.read(watched) == expected));
    }
    Some(program.build())
}

/// The same program with synchronous sends at p2p and bag mailboxes, which complete only when a
/// receive has got them. `mazurka::program` has no others: a process that does not care need not
/// wait.
pub fn synchronous(program: &random::Program) -> random::Program {
    let mut program = program.clone();
    // Here no process is a daemon.
    (program.daemons, program.spawns_daemons) = (Vec::new(), false);
    let deliveries = program.deliveries.clone();
    let is_of_network = |mailbox: usize| {
        deliveries.get(mailbox).is_some_and(|&delivery| delivery != Delivery::Ordered)
    };
    for body in program.processes.iter_mut().chain(&mut program.templates) {
        make_synchronous(body, &is_of_network);
    }
    program
}

/// The communications that are added have numbers from here on.
const ADDED: usize = 1000;

fn make_synchronous(body: &mut Body, is_of_network: &impl Fn(usize) -> bool) {
    use Statement::*;
    let old = std::mem::take(body);
    for mut statement in old {
        match statement {
            Isend { comm, mailbox, value, src, tag } if is_of_network(mailbox) => {
                body.push(Issend { comm, mailbox, value, src, tag });
                continue;
            }
            Send { mailbox, value } if is_of_network(mailbox) => {
                let comm = ADDED + body.len();
                body.push(Issend { comm, mailbox, value: value.into(), src: None, tag: None });
                body.push(Wait { comm, into: None });
                continue;
            }
            If { ref mut then, ref mut otherwise, .. } => {
                make_synchronous(then, is_of_network);
                make_synchronous(otherwise, is_of_network);
            }
            _ => {}
        }
        body.push(statement);
    }
}

fn named<T, N>(starts: &[T], mut declare: impl FnMut(String, &T) -> N) -> Vec<N> {
    starts.iter().enumerate().map(|(n, start)| declare(format!("o{n}"), start)).collect()
}

/// Whether these operations exist here. `receives` says for each communication so far whether it is
/// a receive.
fn is_sayable(body: &Body, receives: &mut HashMap<usize, bool>) -> bool {
    use Statement::*;
    body.iter().all(|statement| match statement {
        Isend { comm, .. } | Issend { comm, .. } => {
            receives.insert(*comm, false);
            true
        }
        Irecv { comm, .. } => {
            receives.insert(*comm, true);
            true
        }
        // A list has requests of one type.
        WaitAny { comms, .. } => {
            comms.iter().all(|comm| receives.get(comm) == receives.get(&comms[0]))
        }
        If { then, otherwise, .. } => is_sayable(then, receives) && is_sayable(otherwise, receives),
        Probe { .. } | Iprobe { .. } | Mprobe { .. } | Enter { .. } => false,
        TestAny { .. } | AsyncLock(_) | MutexWait(_) | MutexTest { .. } => false,
        MutexWaitAny { .. } | MutexTestAny { .. } | AsyncAcquire(_) | AcquireWait(_) => false,
        AsyncBarrier(_) | BarrierWait(_) | Local => false,
        _ => true,
    })
}

/// Whether it tries this mutex somewhere.
fn tries(body: &Body, tried: usize) -> bool {
    body.iter().any(|statement| match statement {
        Statement::TryLock { mutex, .. } => *mutex == tried,
        Statement::If { then, otherwise, .. } => tries(then, tried) || tries(otherwise, tried),
        _ => false,
    })
}

struct World {
    /// The mailboxes, and whether each is a p2p or bag mailbox.
    mailboxes: Vec<(Mailbox<i64>, bool)>,
    mutexes: Vec<Mutex<()>>,
    rwlocks: Vec<RwLock<()>>,
    condvars: Vec<Condvar>,
    semaphores: Vec<Semaphore>,
    barriers: Vec<Barrier>,
    latches: Vec<Latch>,
    cells: Vec<Cell<i64>>,
    templates: Vec<Body>,
}

impl World {
    fn mailbox(&self, index: usize, src: Option<i64>, tag: Option<i64>) -> Mailbox<i64> {
        let mailbox = self.mailboxes[index].0;
        let mailbox = src.map_or(mailbox, |src| mailbox.from(src));
        tag.map_or(mailbox, |tag| mailbox.tagged(tag))
    }
}

#[derive(Clone, Copy)]
enum Comm {
    Send(Request<()>),
    Receive(Request<i64>),
}

impl Comm {
    async fn wait(self) -> i64 {
        match self {
            Comm::Send(request) => {
                request.wait().await;
                0
            }
            Comm::Receive(request) => request.wait().await,
        }
    }

    async fn test(self) -> Option<i64> {
        match self {
            Comm::Send(request) => request.test().await.map(|()| 0),
            Comm::Receive(request) => request.test().await,
        }
    }
}

#[allow(dead_code)]
enum RwGuard {
    Read(ReadGuard<()>),
    Write(WriteGuard<()>),
}

/// The state of a process.
#[derive(Default)]
struct Process {
    rank: Option<i64>,
    variables: HashMap<usize, i64>,
    comms: HashMap<usize, Comm>,
    values: HashMap<usize, i64>,
    cancelled: Vec<usize>,
    guards: HashMap<usize, Guard<()>>,
    rwguards: HashMap<usize, RwGuard>,
    children: HashMap<usize, Child>,
}

impl Process {
    fn holds(
        &self,
        Condition { of: Variable::Int(index) | Variable::Bool(index), test }: Condition,
    ) -> bool {
        test.holds(self.variables.get(&index).copied().unwrap_or(0))
    }

    fn sent(&self, Sent { more_than, number }: Sent) -> i64 {
        more_than.map_or(0, |index| self.variables[&index]) + number
    }

    fn run<'a>(
        &'a mut self,
        world: &'a Arc<World>,
        body: &'a Body,
    ) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
        Box::pin(async move {
            for statement in body {
                self.step(world, statement).await;
            }
        })
    }

    /// A model that ends keeps the locks that it holds.
    fn end(self) {
        std::mem::forget((self.guards, self.rwguards));
    }

    fn comm(&self, comm: usize) -> Comm {
        *self.comms.get(&comm).expect("a communication that was begun")
    }

    /// Records that a communication is complete.
    fn complete(&mut self, comm: usize, value: i64) -> i64 {
        self.values.insert(comm, value);
        value
    }

    async fn wait(&mut self, comm: usize) -> i64 {
        assert!(!self.cancelled.contains(&comm), "it was cancelled");
        let value = self.comm(comm).wait().await;
        self.complete(comm, value)
    }

    async fn step(&mut self, world: &Arc<World>, statement: &Statement) {
        use Statement::*;
        // The value of the statement, and the variable that it goes to.
        let (value, into) = match statement {
            &Isend { comm, mailbox, value, src, tag }
            | &Issend { comm, mailbox, value, src, tag } => {
                let is_of_network = world.mailboxes[mailbox].1;
                let src = src.or(self.rank.filter(|_| is_of_network));
                let request = world.mailbox(mailbox, src, tag).isend(self.sent(value)).await;
                self.comms.insert(comm, Comm::Send(request));
                self.values.remove(&comm);
                return;
            }
            &Irecv { comm, mailbox, src, tag } => {
                let request = world.mailbox(mailbox, src, tag).irecv().await;
                self.comms.insert(comm, Comm::Receive(request));
                self.values.remove(&comm);
                return;
            }
            &Send { mailbox, value } => {
                return world.mailboxes[mailbox].0.send_and_wait(value).await;
            }
            &Recv { mailbox, into } => (world.mailboxes[mailbox].0.recv().await, into),
            &Wait { comm, into } => {
                let value = self.wait(comm).await;
                match into {
                    Some(into) => (value, into),
                    None => return,
                }
            }
            &Test { comm, into } => {
                let found = self.comm(comm).test().await;
                if let Some(value) = found {
                    self.complete(comm, value);
                }
                (i64::from(found.is_some()), into)
            }
            WaitAny { comms, into } => {
                let sends = comms.iter().filter_map(|&comm| match self.comm(comm) {
                    Comm::Send(request) => Some(request),
                    Comm::Receive(_) => None,
                });
                let receives = comms.iter().filter_map(|&comm| match self.comm(comm) {
                    Comm::Receive(request) => Some(request),
                    Comm::Send(_) => None,
                });
                let (sends, receives): (Vec<_>, Vec<_>) = (sends.collect(), receives.collect());
                let (place, value) = match sends.is_empty() {
                    true => wait_any(&receives).await,
                    false => (wait_any(&sends).await.0, 0),
                };
                self.complete(comms[place], value);
                (place as i64, *into)
            }
            WaitAll { comms } => {
                for &comm in comms {
                    self.wait(comm).await;
                }
                return;
            }
            &ValueOf { comm, into } => (self.values[&comm], into),
            &Cancel { comm, into } => {
                let Comm::Receive(request) = self.comm(comm) else { panic!("no receive") };
                let is_cancelled = request.cancel().await;
                if is_cancelled {
                    self.cancelled.push(comm);
                }
                (i64::from(is_cancelled), into)
            }
            &Lock(m) => {
                let guard = world.mutexes[m].lock().await;
                self.guards.insert(m, guard);
                return;
            }
            &TryLock { mutex, into } => {
                let guard = world.mutexes[mutex].try_lock().await;
                let is_locked = guard.is_some();
                self.guards.extend(guard.map(|guard| (mutex, guard)));
                (i64::from(is_locked), into)
            }
            Unlock(m) => return drop(self.guards.remove(m).expect("a mutex that was locked")),
            &ReadLock(r) => {
                let guard = world.rwlocks[r].read().await;
                self.rwguards.insert(r, RwGuard::Read(guard));
                return;
            }
            &WriteLock(r) => {
                let guard = world.rwlocks[r].write().await;
                self.rwguards.insert(r, RwGuard::Write(guard));
                return;
            }
            RwUnlock(r) => return drop(self.rwguards.remove(r).expect("a lock that was locked")),
            &CondWait { condvar, mutex } => {
                let guard = self.guards.remove(&mutex).expect("a mutex that was locked");
                let guard = world.condvars[condvar].wait(guard).await;
                self.guards.insert(mutex, guard);
                return;
            }
            &NotifyOne(w) => return world.condvars[w].notify_one().await,
            &NotifyAll(w) => return world.condvars[w].notify_all().await,
            &Acquire(s) => return world.semaphores[s].acquire().await,
            &Release(s) => return world.semaphores[s].release().await,
            &Barrier(b) => return world.barriers[b].wait().await,
            &CountDown(h) => return world.latches[h].count_down().await,
            &LatchWait(h) => return world.latches[h].wait().await,
            &Read { cell, into } => (world.cells[cell].read().await, into),
            &Write { cell, value } => return world.cells[cell].write(value).await,
            &Cas { cell, old, new, into } => {
                (i64::from(world.cells[cell].compare_and_swap(old, new).await), into)
            }
            &FetchAdd { cell, addend, into } => (world.cells[cell].fetch_add(addend).await, into),
            &Swap { cell, value, into } => (world.cells[cell].swap(value).await, into),
            &Choose { lo, hi, into } => (choose(lo..hi).await, into),
            &Spawn { handle, template, argument } => {
                let world = world.clone();
                let child = spawn(format!("T{template}"), async move || {
                    let variables = HashMap::from([(0, argument)]);
                    let mut process = Process { variables, ..Process::default() };
                    process.run(&world, &world.templates[template]).await;
                    process.end();
                });
                self.children.insert(handle, child.await);
                return;
            }
            &Join { handle } => {
                return self
                    .children
                    .get(&handle)
                    .expect("a process that was spawned")
                    .join()
                    .await;
            }
            &Assert(condition) => return assert!(self.holds(condition), "of the program"),
            If { condition, then, otherwise } => {
                let body = if self.holds(*condition) { then } else { otherwise };
                return self.run(world, body).await;
            }
            other => unreachable!("{other:?} is not sayable"),
        };
        self.variables.insert(into, value);
    }
}
