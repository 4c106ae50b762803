//! A program as a [`System`], without the language front end.

use mazurka::model::{
    Access, BarrierId, CellId, Contents, Envelope, Failure, FailureKind, Handle, MailboxId,
    MutexId, Next, Objects, Op, Outcome, ProcessId, Request, SemaphoreId, System, Value, Values,
};

use super::{Body, Condition, Program, Statement, Variable};

/// A program, its bodies flattened to instructions.
#[derive(Clone)]
pub struct Script {
    /// Its syntax tree.
    pub program: Program,
    objects: Objects,
    /// The code of the processes, then of the templates.
    code: Vec<Vec<Instruction>>,
    processes: usize,
    finally: Option<(usize, i64)>,
}

#[derive(Clone, Debug)]
enum Instruction {
    /// Any statement but a branch or an abbreviation.
    Do(Statement),
    /// Goes on at the place given unless the condition holds.
    Unless(Condition, usize),
    Jump(usize),
}

/// A communication as its owner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Comm {
    handle: Handle,
    is_receive: bool,
    /// What it received, once seen complete.
    received: Option<i64>,
    seen_complete: bool,
}

/// A process between two visible operations: always at one, at its end, or failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Local {
    code: usize,
    at: usize,
    variables: Vec<i64>,
    comms: Vec<Option<Comm>>,
    handles: Vec<Option<ProcessId>>,
    requests: Vec<Option<Handle>>,
    acquires: Vec<Option<Handle>>,
    /// Arrivals so far, per barrier.
    arrivals: Vec<u32>,
    failed: Option<Failed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Failed {
    Assertion,
    Misuse(&'static str),
}

/// Element `index`, and room for it.
fn slot<T: Default + Clone>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

impl Local {
    fn get(&self, variable: Variable) -> i64 {
        let (Variable::Int(index) | Variable::Bool(index)) = variable;
        self.variables[index]
    }

    fn set(&mut self, variable: usize, value: i64) {
        *slot(&mut self.variables, variable) = value;
    }

    fn comm(&mut self, comm: usize) -> &mut Comm {
        self.comms[comm].as_mut().expect("a communication that was posted")
    }

    fn request(&self, mutex: usize) -> Option<Handle> {
        self.requests.get(mutex).copied().flatten()
    }

    fn holds(&self, condition: &Condition) -> bool {
        condition.test.holds(self.get(condition.of))
    }
}

impl Script {
    /// The system that `program` is.
    pub fn new(program: Program) -> Script {
        let names =
            |prefix: &str, count: usize| (0..count).map(|n| format!("{prefix}{n}")).collect();
        let sized = |prefix: &str, sizes: &[u32]| {
            sizes.iter().enumerate().map(|(n, &size)| (format!("{prefix}{n}"), size)).collect()
        };
        let cells = program.cells.iter().enumerate();
        let objects = Objects {
            mailboxes: names("m", program.mailboxes),
            mutexes: names("l", program.mutexes),
            semaphores: sized("s", &program.semaphores),
            barriers: sized("a", &program.barriers),
            cells: cells.map(|(x, &content)| (format!("x{x}"), Value::Int(content))).collect(),
        };
        let bodies = program.processes.iter().chain(&program.templates);
        let code = bodies.map(flatten).collect();
        Script {
            objects,
            code,
            processes: program.processes.len(),
            finally: program.finally,
            program,
        }
    }

    fn start(&self, code: usize, argument: Option<i64>) -> Local {
        let variables = argument.into_iter().collect();
        let mut local = Local { code, variables, ..Local::default() };
        self.settle(&mut local);
        local
    }

    /// Runs to the next visible operation.
    fn settle(&self, local: &mut Local) {
        while let Some(instruction) = self.code[local.code].get(local.at) {
            match instruction {
                Instruction::Unless(condition, target) => {
                    local.at = if local.holds(condition) { local.at + 1 } else { *target };
                }
                Instruction::Jump(target) => local.at = *target,
                Instruction::Do(Statement::Assert(condition)) => {
                    if !local.holds(condition) {
                        local.failed = Some(Failed::Assertion);
                        return;
                    }
                    local.at += 1;
                }
                Instruction::Do(Statement::ValueOf { comm, into }) => {
                    let Comm { seen_complete, received, .. } = *local.comm(*comm);
                    if !seen_complete {
                        local.failed = Some(Failed::Misuse("value of an incomplete communication"));
                        return;
                    }
                    local.set(*into, received.expect("a receive"));
                    local.at += 1;
                }
                Instruction::Do(visible) => {
                    local.failed = misuse(local, visible).map(Failed::Misuse);
                    return;
                }
            }
        }
    }

    fn statement(&self, local: &Local) -> Option<&Statement> {
        match self.code[local.code].get(local.at)? {
            Instruction::Do(statement) => Some(statement),
            other => panic!("{other:?} is not visible"),
        }
    }
}

/// What is wrong with this operation here, if anything.
fn misuse(local: &Local, statement: &Statement) -> Option<&'static str> {
    use Statement::*;
    let requested = |mutex: &usize| local.request(*mutex).is_some();
    let (fine, what) = match statement {
        AsyncLock(m) => (!requested(m), "requested twice"),
        Unlock(m) | MutexWait(m) | MutexTest { mutex: m, .. } => (requested(m), "not requested"),
        MutexWaitAny { mutexes, .. } | MutexTestAny { mutexes, .. } => {
            (mutexes.iter().all(requested), "not requested")
        }
        WaitAny { comms, .. } | TestAny { comms, .. } => (!comms.is_empty(), "of nothing"),
        _ => (true, ""),
    };
    (!fine).then_some(what)
}

impl System for Script {
    type Local = Local;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn initial(&self, _: &mut Values) -> Vec<Local> {
        (0..self.processes).map(|process| self.start(process, None)).collect()
    }

    fn next(&self, local: &Local, values: &mut Values) -> Next<Local> {
        use Statement::*;
        if let Some(failed) = local.failed {
            let (kind, message) = match failed {
                Failed::Assertion => (FailureKind::Assertion, "an assertion"),
                Failed::Misuse(what) => (FailureKind::Error, what),
            };
            let site = None;
            return Next::Failed(Failure {
                kind,
                message: format!("{message} at {}", local.at),
                site,
            });
        }
        let Some(statement) = self.statement(local) else { return Next::Done };
        let handles = |comms: &[usize]| {
            comms.iter().map(|&c| local.comms[c].expect("a posted communication").handle).collect()
        };
        let requests = |mutexes: &[usize]| mutexes.iter().map(|&m| request(local, m)).collect();
        let mut int = |n: i64| values.intern(Value::Int(n));
        Next::Op(match statement {
            &Isend { mailbox, value, src, tag, .. } => {
                let envelope = Envelope { src, tag };
                Op::Isend { mailbox: MailboxId(mailbox as u32), envelope, value: int(value) }
            }
            &Irecv { mailbox, src, tag, .. } => {
                Op::Irecv { mailbox: MailboxId(mailbox as u32), pattern: Envelope { src, tag } }
            }
            Wait { comm, .. } => Op::WaitAny(handles(&[*comm])),
            Test { comm, .. } => Op::TestAny(handles(&[*comm])),
            WaitAny { comms, .. } => Op::WaitAny(handles(comms)),
            TestAny { comms, .. } => Op::TestAny(handles(comms)),
            AsyncLock(m) => Op::AsyncLock(MutexId(*m as u32)),
            MutexWait(m) => Op::MutexWaitAny(requests(&[*m])),
            MutexTest { mutex, .. } => Op::MutexTestAny(requests(&[*mutex])),
            MutexWaitAny { mutexes, .. } => Op::MutexWaitAny(requests(mutexes)),
            MutexTestAny { mutexes, .. } => Op::MutexTestAny(requests(mutexes)),
            Unlock(m) => Op::Unlock(request(local, *m)),
            AsyncAcquire(s) => Op::AsyncAcquire(SemaphoreId(*s as u32)),
            AcquireWait(s) => Op::AcquireWait {
                semaphore: SemaphoreId(*s as u32),
                handle: local.acquires[*s].expect("an acquire to wait for"),
            },
            Release(s) => Op::Release(SemaphoreId(*s as u32)),
            AsyncBarrier(b) => Op::Arrive {
                barrier: BarrierId(*b as u32),
                round: local.arrivals.get(*b).copied().unwrap_or(0),
            },
            BarrierWait(b) => {
                Op::BarrierWait { barrier: BarrierId(*b as u32), round: local.arrivals[*b] - 1 }
            }
            &Read { cell, .. } => Op::Access(CellId(cell as u32), Access::Read),
            &Write { cell, value } => Op::Access(CellId(cell as u32), Access::Write(int(value))),
            &Cas { cell, old, new, .. } => {
                let (old, new) = (int(old), int(new));
                Op::Access(CellId(cell as u32), Access::CompareAndSwap { old, new })
            }
            &FetchAdd { cell, addend, .. } => {
                Op::Access(CellId(cell as u32), Access::FetchAdd(addend))
            }
            &Swap { cell, value, .. } => Op::Access(CellId(cell as u32), Access::Swap(int(value))),
            &Choose { lo, hi, .. } => Op::Choose { lo, hi },
            Local => Op::Local,
            &Spawn { template, argument, .. } => {
                return Next::Spawn(self.start(self.processes + template, Some(argument)));
            }
            Join { handle } => Op::Join(local.handles[*handle].expect("a spawned process")),
            other => unreachable!("{other:?} is no visible operation"),
        })
    }

    fn resume(&self, local: &Self::Local, outcome: Outcome, values: &Values) -> Self::Local {
        use Statement::*;
        let mut after = local.clone();
        let statement = self.statement(local).expect("a pending operation");
        match (statement, outcome) {
            (Isend { comm, .. } | Irecv { comm, .. }, Outcome::Posted(handle)) => {
                let is_receive = matches!(statement, Irecv { .. });
                *slot(&mut after.comms, *comm) =
                    Some(Comm { handle, is_receive, received: None, seen_complete: false });
            }
            (
                Wait { .. } | Test { .. } | WaitAny { .. } | TestAny { .. },
                Outcome::Completed { index, value },
            ) => {
                let (comm, into, result) = match statement {
                    Wait { comm, into } => (*comm, *into, None),
                    Test { comm, into } => (*comm, Some(*into), Some(1)),
                    WaitAny { comms, into } | TestAny { comms, into } => {
                        (comms[index as usize], Some(*into), Some(i64::from(index)))
                    }
                    _ => unreachable!(),
                };
                let known = after.comm(comm);
                known.seen_complete = true;
                known.received = known.is_receive.then(|| values.get(value).int());
                if let Some(into) = into {
                    let received = known.received;
                    after.set(into, result.or(received).expect("a wait with a result"));
                }
            }
            (Test { into, .. } | MutexTest { into, .. }, Outcome::Incomplete) => {
                after.set(*into, 0)
            }
            (TestAny { into, .. } | MutexTestAny { into, .. }, Outcome::Incomplete) => {
                after.set(*into, -1);
            }
            (AsyncLock(m), Outcome::Posted(handle)) => {
                *slot(&mut after.requests, *m) = Some(handle);
            }
            (MutexTest { into, .. }, Outcome::Completed { .. }) => after.set(*into, 1),
            (
                MutexWaitAny { into, .. } | MutexTestAny { into, .. },
                Outcome::Completed { index, .. },
            ) => after.set(*into, i64::from(index)),
            (Unlock(m), Outcome::Unit) => after.requests[*m] = None,
            (AsyncAcquire(s), Outcome::Posted(handle)) => {
                *slot(&mut after.acquires, *s) = Some(handle);
            }
            (AcquireWait(s), Outcome::Unit) => after.acquires[*s] = None,
            (AsyncBarrier(b), Outcome::Unit) => *slot(&mut after.arrivals, *b) += 1,
            (
                Read { into, .. } | Cas { into, .. } | FetchAdd { into, .. } | Swap { into, .. },
                Outcome::Value(value),
            ) => {
                let value = match values.get(value) {
                    Value::Bool(b) => i64::from(*b),
                    other => other.int(),
                };
                after.set(*into, value);
            }
            (Choose { into, .. }, Outcome::Chosen(value)) => after.set(*into, value),
            (Spawn { handle, .. }, Outcome::Spawned(process)) => {
                *slot(&mut after.handles, *handle) = Some(process);
            }
            (MutexWait(_), Outcome::Completed { .. }) => {}
            (Release(_) | BarrierWait(_) | Write { .. } | Local | Join { .. }, Outcome::Unit) => {}
            (statement, outcome) => panic!("{statement:?} cannot come to {outcome:?}"),
        }
        after.at += 1;
        self.settle(&mut after);
        after
    }

    fn judge_final(
        &self,
        _: &[Option<&Self::Local>],
        cells: Contents<'_>,
        _: &Values,
    ) -> Option<Failure> {
        let (cell, expected) = self.finally?;
        let content = cells(CellId(cell as u32)).int();
        let message = format!("final: x{cell} is not {expected}");
        let kind = FailureKind::Assertion;
        (content != expected).then_some(Failure { kind, message, site: None })
    }

    fn has_final(&self) -> bool {
        self.finally.is_some()
    }

    fn process_name(&self, local: &Self::Local) -> String {
        match local.code.checked_sub(self.processes) {
            None => format!("P{}", local.code),
            Some(template) => format!("T{template}"),
        }
    }
}

fn request(local: &Local, mutex: usize) -> Request {
    let handle = local.request(mutex).expect("misuse was found before");
    Request { mutex: MutexId(mutex as u32), handle }
}

/// Spells out abbreviations and branches.
fn flatten(body: &Body) -> Vec<Instruction> {
    let mut code = Vec::new();
    // Communications of `send` and `recv`, which the program does not name.
    let mut unnamed = 1000;
    flatten_into(body, &mut code, &mut unnamed);
    renumber(&mut code);
    code
}

fn flatten_into(body: &Body, code: &mut Vec<Instruction>, unnamed: &mut usize) {
    use Statement::*;
    let (src, tag) = (None, None);
    for statement in body {
        let mut then = |steps: Vec<Statement>| code.extend(steps.into_iter().map(Instruction::Do));
        match statement {
            &Send { mailbox, value } => {
                let comm = *unnamed;
                *unnamed += 1;
                then(vec![Isend { comm, mailbox, value, src, tag }, Wait { comm, into: None }]);
            }
            &Recv { mailbox, into } => {
                let comm = *unnamed;
                *unnamed += 1;
                then(vec![Irecv { comm, mailbox, src, tag }, Wait { comm, into: Some(into) }]);
            }
            WaitAll { comms } => {
                then(comms.iter().map(|&comm| Wait { comm, into: None }).collect());
            }
            &Lock(m) => then(vec![AsyncLock(m), MutexWait(m)]),
            &Acquire(s) => then(vec![AsyncAcquire(s), AcquireWait(s)]),
            &Barrier(b) => then(vec![AsyncBarrier(b), BarrierWait(b)]),
            If { condition, then, otherwise } => {
                let branch = code.len();
                code.push(Instruction::Unless(*condition, 0));
                flatten_into(then, code, unnamed);
                let jump = code.len();
                code.push(Instruction::Jump(0));
                code[branch] = Instruction::Unless(*condition, code.len());
                flatten_into(otherwise, code, unnamed);
                code[jump] = Instruction::Jump(code.len());
            }
            simple => then(vec![simple.clone()]),
        }
    }
}

/// Gives unnamed communications the numbers after the named ones.
fn renumber(code: &mut [Instruction]) {
    let named = code.iter().filter_map(|instruction| match instruction {
        Instruction::Do(Statement::Isend { comm, .. } | Statement::Irecv { comm, .. })
            if *comm < 1000 =>
        {
            Some(*comm + 1)
        }
        _ => None,
    });
    let first = named.max().unwrap_or(0);
    for instruction in code {
        if let Instruction::Do(
            Statement::Isend { comm, .. }
            | Statement::Irecv { comm, .. }
            | Statement::Wait { comm, .. },
        ) = instruction
            && *comm >= 1000
        {
            *comm = *comm - 1000 + first;
        }
    }
}
