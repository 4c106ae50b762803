//! A program as a [`System`] without the language front end: it is made by the library's builder.

use mazurka::model::{
    Completion, Delivery, Describe, Envelope, Finale, Foresight, Next, Objects, Response, System,
    Values,
};
use mazurka::systems::{
    self as steps, Builder, Child, Communication, Expression, Step, Template, Variables,
};

use super::{Body, Condition, Program, Sent, Statement, Variable};

/// A program and the system that it is.
#[derive(Clone)]
pub struct Script {
    /// Its syntax tree.
    pub program: Program,
    system: steps::Script,
}

/// The names that the builder has returned.
struct Names {
    builder: Builder,
    mailboxes: Vec<steps::Mailbox>,
    mutexes: Vec<steps::Mutex>,
    rwlocks: Vec<steps::RwLock>,
    condvars: Vec<steps::Condvar>,
    semaphores: Vec<steps::Semaphore>,
    barriers: Vec<steps::Barrier>,
    latches: Vec<steps::Latch>,
    cells: Vec<steps::Cell>,
    collectives: Vec<steps::Collective>,
    variables: Vec<steps::Variable>,
    comms: Vec<Communication>,
    children: Vec<Child>,
    templates: Vec<Template>,
}

impl Script {
    /// The system of `program`.
    pub fn new(program: Program) -> Script {
        let mut builder = Builder::new();
        program.polls.into_iter().for_each(|polls| builder.max_polls(polls));
        let count = |count: usize| 0..count;
        let mut names = Names {
            mailboxes: count(program.mailboxes)
                .map(|n| match program.deliveries.get(n) {
                    Some(Delivery::P2p) => builder.p2p_mailbox(format!("m{n}")),
                    Some(Delivery::Bag) => builder.bag_mailbox(format!("m{n}")),
                    _ => builder.mailbox(format!("m{n}")),
                })
                .collect(),
            mutexes: count(program.mutexes).map(|n| builder.mutex(format!("l{n}"))).collect(),
            rwlocks: count(program.rwlocks).map(|n| builder.rwlock(format!("r{n}"))).collect(),
            condvars: count(program.condvars).map(|n| builder.condvar(format!("w{n}"))).collect(),
            semaphores: numbered(&program.semaphores, |n, units| {
                builder.semaphore(format!("s{n}"), units)
            }),
            barriers: numbered(&program.barriers, |n, size| builder.barrier(format!("a{n}"), size)),
            latches: numbered(&program.latches, |n, counts| builder.latch(format!("z{n}"), counts)),
            cells: numbered(&program.cells, |n, content| builder.cell(format!("x{n}"), content)),
            collectives: numbered(&program.collectives, |n, ranks| {
                builder.collective(format!("c{n}"), ranks)
            }),
            variables: Vec::new(),
            comms: Vec::new(),
            children: Vec::new(),
            templates: Vec::new(),
            builder,
        };
        let bodies = program.templates.iter().enumerate();
        names.templates = bodies
            .map(|(n, body)| {
                let steps = names.steps(body);
                match program.spawns_daemons {
                    true => names.builder.daemon_template(format!("T{n}"), steps),
                    false => names.builder.template(format!("T{n}"), steps),
                }
            })
            .collect();
        for (n, body) in program.processes.iter().enumerate() {
            let steps = names.steps(body);
            match program.daemons.contains(&n) {
                true => names.builder.daemon(format!("P{n}"), steps),
                false => names.builder.process(format!("P{n}"), steps),
            }
        }
        if let Some((cell, expected)) = program.finally {
            let watched = names.cells[cell];
            let what = format!("x{cell} is not {expected}");
            names.builder.finally(what, move |content| content(watched) == expected);
        }
        Script { system: names.builder.build(), program }
    }
}

fn numbered<T: Copy, N>(starts: &[T], mut declare: impl FnMut(usize, T) -> N) -> Vec<N> {
    starts.iter().enumerate().map(|(n, &start)| declare(n, start)).collect()
}

/// The element at `index`; missing elements up to it are made.
fn nth<T: Copy>(list: &mut Vec<T>, index: usize, mut make: impl FnMut(usize) -> T) -> T {
    while list.len() <= index {
        list.push(make(list.len()));
    }
    list[index]
}

impl Names {
    fn variable(&mut self, index: usize) -> steps::Variable {
        nth(&mut self.variables, index, |n| self.builder.variable(format!("v{n}")))
    }

    fn comm(&mut self, index: usize) -> Communication {
        nth(&mut self.comms, index, |_| self.builder.communication())
    }

    fn comms(&mut self, indices: &[usize]) -> Vec<Communication> {
        indices.iter().map(|&index| self.comm(index)).collect()
    }

    fn child(&mut self, index: usize) -> Child {
        nth(&mut self.children, index, |_| self.builder.child())
    }

    fn mutexes(&self, indices: &[usize]) -> Vec<steps::Mutex> {
        indices.iter().map(|&index| self.mutexes[index]).collect()
    }

    fn sent(&mut self, Sent { more_than, number }: Sent) -> Expression {
        match more_than.map(|index| self.variable(index)) {
            Some(variable) => (move |v: Variables<'_>| v[variable] + number).into(),
            None => number.into(),
        }
    }

    /// Whether this holds for the variables of a process.
    fn holds(
        &mut self,
        Condition { of: Variable::Int(index) | Variable::Bool(index), test }: Condition,
    ) -> impl Fn(Variables<'_>) -> bool + Send + Sync + 'static {
        let variable = self.variable(index);
        move |v| test.holds(v[variable])
    }

    fn steps(&mut self, body: &Body) -> Vec<Step> {
        body.iter().flat_map(|statement| self.step(statement)).collect()
    }

    fn step(&mut self, statement: &Statement) -> Vec<Step> {
        use Statement::*;
        let step = match statement {
            &Isend { comm, mailbox, value, src, tag } => {
                let (comm, mailbox) = (self.comm(comm), self.mailboxes[mailbox]);
                steps::isend_with(comm, mailbox, self.sent(value), Envelope { src, tag })
            }
            &Issend { comm, mailbox, value, src, tag } => {
                let (comm, mailbox) = (self.comm(comm), self.mailboxes[mailbox]);
                steps::issend_with(comm, mailbox, self.sent(value), Envelope { src, tag })
            }
            &Probe { mailbox, src, tag, into } => {
                let mailbox = self.mailboxes[mailbox];
                steps::probe(mailbox, Envelope { src, tag }).into(self.variable(into))
            }
            &Iprobe { mailbox, src, tag, into } => {
                let mailbox = self.mailboxes[mailbox];
                steps::iprobe(mailbox, Envelope { src, tag }).into(self.variable(into))
            }
            &Mprobe { comm, mailbox, src, tag, into } => {
                let (comm, mailbox) = (self.comm(comm), self.mailboxes[mailbox]);
                steps::mprobe(comm, mailbox, Envelope { src, tag }).into(self.variable(into))
            }
            &Enter { comm, collective, call, value, synchronizing, ref partners } => {
                let (comm, collective) = (self.comm(comm), self.collectives[collective]);
                let completion = match synchronizing {
                    true => Completion::Late,
                    false => Completion::Early,
                };
                let partners = partners.clone();
                steps::enter(comm, collective, call, self.sent(value), completion, partners)
            }
            &Cancel { comm, into } => steps::cancel(self.comm(comm)).into(self.variable(into)),
            &Irecv { comm, mailbox, src, tag } => {
                let (comm, mailbox) = (self.comm(comm), self.mailboxes[mailbox]);
                steps::irecv_with(comm, mailbox, Envelope { src, tag })
            }
            &Send { mailbox, value } => steps::send(self.mailboxes[mailbox], value),
            &Recv { mailbox, into } => {
                steps::recv(self.mailboxes[mailbox]).into(self.variable(into))
            }
            &Wait { comm, into: Some(into) } => {
                steps::wait(self.comm(comm)).into(self.variable(into))
            }
            &Wait { comm, into: None } => steps::wait(self.comm(comm)),
            &Test { comm, into } => steps::test(self.comm(comm)).into(self.variable(into)),
            WaitAny { comms, into } => {
                steps::wait_any(&self.comms(comms)).into(self.variable(*into))
            }
            TestAny { comms, into } => {
                steps::test_any(&self.comms(comms)).into(self.variable(*into))
            }
            WaitAll { comms } => return self.comms(comms).into_iter().map(steps::wait).collect(),
            &ValueOf { comm, into } => steps::value_of(self.comm(comm)).into(self.variable(into)),
            &AsyncLock(m) => steps::async_lock(self.mutexes[m]),
            &MutexWait(m) => steps::mutex_wait(self.mutexes[m]),
            &MutexTest { mutex, into } => {
                steps::mutex_test(self.mutexes[mutex]).into(self.variable(into))
            }
            MutexWaitAny { mutexes, into } => {
                steps::mutex_wait_any(&self.mutexes(mutexes)).into(self.variable(*into))
            }
            MutexTestAny { mutexes, into } => {
                steps::mutex_test_any(&self.mutexes(mutexes)).into(self.variable(*into))
            }
            &TryLock { mutex, into } => {
                steps::try_lock(self.mutexes[mutex]).into(self.variable(into))
            }
            &Unlock(m) => steps::unlock(self.mutexes[m]),
            &Lock(m) => steps::lock(self.mutexes[m]),
            &ReadLock(r) => steps::read_lock(self.rwlocks[r]),
            &WriteLock(r) => steps::write_lock(self.rwlocks[r]),
            &RwUnlock(r) => steps::rw_unlock(self.rwlocks[r]),
            &CondWait { condvar, mutex } => {
                steps::cond_wait(self.condvars[condvar], self.mutexes[mutex])
            }
            &NotifyOne(w) => steps::notify_one(self.condvars[w]),
            &NotifyAll(w) => steps::notify_all(self.condvars[w]),
            &AsyncAcquire(s) => steps::async_acquire(self.semaphores[s]),
            &AcquireWait(s) => steps::acquire_wait(self.semaphores[s]),
            &Acquire(s) => steps::acquire(self.semaphores[s]),
            &Release(s) => steps::release(self.semaphores[s]),
            &AsyncBarrier(b) => steps::arrive(self.barriers[b]),
            &BarrierWait(b) => steps::barrier_wait(self.barriers[b]),
            &Barrier(b) => steps::barrier(self.barriers[b]),
            &CountDown(h) => steps::count_down(self.latches[h]),
            &LatchWait(h) => steps::latch_wait(self.latches[h]),
            &Read { cell, into } => steps::read(self.cells[cell]).into(self.variable(into)),
            &Write { cell, value } => steps::write(self.cells[cell], value),
            &Cas { cell, old, new, into } => {
                steps::cas(self.cells[cell], old, new).into(self.variable(into))
            }
            &FetchAdd { cell, addend, into } => {
                steps::fetch_add(self.cells[cell], addend).into(self.variable(into))
            }
            &Swap { cell, value, into } => {
                steps::swap(self.cells[cell], value).into(self.variable(into))
            }
            &Choose { lo, hi, into } => steps::choose(lo..hi).into(self.variable(into)),
            Local => steps::local(),
            &Spawn { handle, template, argument } => {
                steps::spawn(self.child(handle), self.templates[template], argument)
            }
            &Join { handle } => steps::join(self.child(handle)),
            &Assert(condition) => steps::assert_that("of the program", self.holds(condition)),
            If { condition, then, otherwise } => {
                let (then, otherwise) = (self.steps(then), self.steps(otherwise));
                steps::branch(self.holds(*condition), then, otherwise)
            }
        };
        vec![step]
    }
}

impl System for Script {
    type Local = steps::Local;

    fn objects(&self) -> &Objects {
        self.system.objects()
    }

    fn initial(&self, values: &mut Values) -> Vec<Self::Local> {
        self.system.initial(values)
    }

    fn is_daemon(&self, local: &Self::Local) -> bool {
        self.system.is_daemon(local)
    }

    fn next(&self, local: &Self::Local, values: &mut Values) -> Next<Self::Local> {
        self.system.next(local, values)
    }

    fn resume(&self, local: &Self::Local, response: Response, values: &Values) -> Self::Local {
        self.system.resume(local, response, values)
    }

    fn finale(&self) -> Option<&dyn Finale<Self::Local>> {
        self.system.finale()
    }

    fn foresight(&self) -> &dyn Foresight<Self::Local> {
        self.system.foresight()
    }

    fn describe(&self) -> &dyn Describe<Self::Local> {
        self.system.describe()
    }
}
