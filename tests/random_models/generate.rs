//! From a seed to a program.
//!
//! Programs are composed of *gestures*, small idioms such as "request a mutex, test it, unlock it
//! whatever the result". Random sequences of operations would nearly all block at once. A program
//! has one to three themes, because interactions within one theme are the most interesting.

mod later;

use super::{Body, Comparison, Condition, Program, Rng, Statement, Variable};
use Statement::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Mailbox,
    Mutex,
    Semaphore,
    Barrier,
    Cell,
    Try,
    ReadWrite,
    Condition,
}

const THEMES: &[Theme] = &[
    Theme::Mailbox,
    Theme::Mailbox,
    Theme::Mailbox,
    Theme::Mutex,
    Theme::Mutex,
    Theme::Semaphore,
    Theme::Barrier,
    Theme::Cell,
    Theme::Cell,
];

/// The themes of newer objects, with some of the objects that are used with them.
const LATER_THEMES: &[Theme] = &[
    Theme::Try,
    Theme::Try,
    Theme::Try,
    Theme::ReadWrite,
    Theme::ReadWrite,
    Theme::ReadWrite,
    Theme::Condition,
    Theme::Condition,
    Theme::Condition,
    Theme::Condition,
    Theme::Mutex,
    Theme::Cell,
    Theme::Semaphore,
];

/// The program of `seed`.
pub fn generate(seed: u64) -> Program {
    of_themes(Rng::new(seed), THEMES)
}

/// The program of `seed` in the family of the newer objects.
pub fn generate_later(seed: u64) -> Program {
    let mut program = of_themes(Rng::new(seed ^ 0x5eed_0000), LATER_THEMES);
    let mut rng = Rng::new(seed ^ 0x1a7c_0000);
    if rng.chance(30) {
        add_latch(&mut rng, &mut program);
    }
    program
}

/// Some processes count a latch down or wait for it; sometimes a count is missing, or there is one
/// too many.
fn add_latch(rng: &mut Rng, program: &mut Program) {
    let mut counts = 0;
    for body in &mut program.processes {
        for _ in 0..rng.below(3) {
            counts += 1;
            body.insert(rng.below(body.len() + 1), CountDown(0));
        }
        if rng.chance(50) {
            body.insert(rng.below(body.len() + 1), LatchWait(0));
        }
    }
    program.latches.push(match rng.below(10) {
        0 if counts > 0 => counts - 1,
        1 | 2 => counts + 1,
        _ => counts,
    });
}

fn of_themes(mut rng: Rng, choice: &[Theme]) -> Program {
    let count = *rng.pick(&[2, 2, 2, 3, 3, 3, 3, 4]);
    let mut themes: Vec<Theme> =
        (0..*rng.pick(&[1, 1, 1, 2, 2, 3])).map(|_| *rng.pick(choice)).collect();
    themes.dedup();
    let patterns = rng.chance(50);
    let spawns = rng.chance(30);
    let mut length = match count {
        2 => rng.range(4, 8),
        3 => rng.range(3, 5),
        _ => rng.range(2, 4),
    };
    if themes.contains(&Theme::Barrier) {
        length = 1;
    } else if spawns {
        length = (length - 1).min(4);
    }
    let mut program = Program {
        mailboxes: rng.range(1, 3),
        mutexes: rng.range(1, 3),
        semaphores: vec![rng.below(2) as u32; 1],
        cells: (0..rng.range(1, 3)).map(|_| rng.value()).collect(),
        ..Program::default()
    };
    if themes.contains(&Theme::Try) {
        program.tried = rng.range(1, 3);
        program.mutexes += program.tried;
    }
    if themes.contains(&Theme::ReadWrite) {
        program.rwlocks = rng.range(1, 3);
    }
    if themes.contains(&Theme::Condition) {
        program.condvars = rng.range(1, 3);
    }
    if spawns {
        let mut template = Writer::new(&mut rng, &program, &themes, patterns, 9);
        template.variables = 1;
        let length = template.rng.range(1, 3);
        let body = template.body(length);
        program.templates.push(body);
    }
    for process in 0..count {
        let mut writer = Writer::new(&mut rng, &program, &themes, patterns, process);
        let body = writer.body(length);
        program.processes.push(body);
    }
    if themes.contains(&Theme::Barrier) {
        add_barrier(&mut rng, &mut program);
    }
    if spawns {
        add_spawns(&mut rng, &mut program);
    }
    if themes.contains(&Theme::Cell) && rng.chance(20) {
        program.finally = Some((rng.below(program.cells.len()), rng.value()));
    }
    add_daemons(&mut rng, &mut program);
    program
}

/// In some programs, some of the processes are daemons.
pub(super) fn add_daemons(rng: &mut Rng, program: &mut Program) {
    if rng.chance(25) {
        program.daemons = (0..program.processes.len()).filter(|_| rng.chance(60)).collect();
        program.spawns_daemons = !program.templates.is_empty() && rng.chance(50);
    }
}

/// Some of the processes meet at a barrier, once or more; sometimes one is missing.
fn add_barrier(rng: &mut Rng, program: &mut Program) {
    let participants = rng.range(2, program.processes.len() + 1);
    let rounds = *rng.pick(&[1, 2, 2, 2, 3]);
    let size = participants as u32 + u32::from(rng.chance(8));
    program.barriers.push(size);
    for body in &mut program.processes[..participants] {
        let rounds = rounds - usize::from(rng.chance(8));
        let mut places: Vec<_> = (0..rounds).map(|_| rng.below(body.len() + 1)).collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        // From the last position on, so that earlier positions stay valid. The wait follows the
        // arrival directly, or after one more statement.
        for place in places {
            let next_is_free =
                !matches!(body.get(place), None | Some(AsyncBarrier(_) | Barrier(_)));
            if next_is_free && rng.chance(40) {
                body.insert(place + 1, BarrierWait(0));
                body.insert(place, AsyncBarrier(0));
            } else {
                body.insert(place, Barrier(0));
            }
        }
    }
}

/// The first process, or the first two, spawn an instance of each template, and sometimes wait for
/// it.
fn add_spawns(rng: &mut Rng, program: &mut Program) {
    let spawners = if program.processes.len() == 2 && rng.chance(30) { 2 } else { 1 };
    for body in &mut program.processes[..spawners] {
        let place = rng.below(body.len().min(2) + 1);
        body.insert(place, Spawn { handle: 0, template: 0, argument: 1 });
        if rng.chance(60) {
            let place = rng.range(place + 1, body.len() + 1);
            body.insert(place, Join { handle: 0 });
        }
    }
}

/// An open communication.
#[derive(Clone, Copy)]
struct Open {
    comm: usize,
    is_receive: bool,
}

/// Writes the body of one process.
struct Writer<'r> {
    rng: &'r mut Rng,
    themes: &'r [Theme],
    mailboxes: usize,
    mutexes: usize,
    tried: usize,
    rwlocks: usize,
    condvars: usize,
    cells: usize,
    patterns: bool,
    /// What its sends say of their source.
    src: i64,
    variables: usize,
    comms: usize,
    open: Vec<Open>,
    /// Waited for already, and sometimes used again.
    kept: Vec<Open>,
}

impl<'r> Writer<'r> {
    fn new(
        rng: &'r mut Rng,
        program: &Program,
        themes: &'r [Theme],
        patterns: bool,
        process: usize,
    ) -> Self {
        Writer {
            rng,
            themes,
            mailboxes: program.mailboxes,
            mutexes: program.mutexes - program.tried,
            tried: program.tried,
            rwlocks: program.rwlocks,
            condvars: program.condvars,
            cells: program.cells.len(),
            patterns,
            src: process as i64,
            variables: 0,
            comms: 0,
            open: Vec::new(),
            kept: Vec::new(),
        }
    }

    fn variable(&mut self) -> usize {
        self.variables += 1;
        self.variables - 1
    }

    /// About `length` visible actions.
    fn body(&mut self, length: usize) -> Body {
        let mut body = Body::new();
        while actions(&body) < length {
            self.gesture(&mut body);
        }
        body
    }

    fn gesture(&mut self, body: &mut Body) {
        if self.rng.chance(6) {
            return self.choice(body);
        }
        if self.rng.chance(4) {
            return body.push(Local);
        }
        match *self.rng.pick(self.themes) {
            Theme::Mailbox => self.mailbox(body),
            Theme::Mutex => self.mutex(body),
            Theme::Try => self.try_lock(body),
            Theme::ReadWrite => self.read_write(body),
            Theme::Condition => self.condition(body),
            Theme::Semaphore => self.semaphore(body),
            Theme::Barrier | Theme::Cell => self.cell(body),
        }
    }

    fn choice(&mut self, body: &mut Body) {
        let into = self.variable();
        body.push(Choose { lo: 0, hi: 2, into });
        let value = self.rng.below(2) as i64;
        let condition = Condition { of: Variable::Int(into), test: Comparison::Equals(value) };
        self.branch(body, condition);
    }

    /// A branch with something small in one arm or both.
    fn branch(&mut self, body: &mut Body, condition: Condition) {
        let then = self.arm();
        let otherwise = if self.rng.chance(30) { self.arm() } else { Body::new() };
        body.push(If { condition, then, otherwise });
    }

    /// One statement that leaves nothing open.
    fn arm(&mut self) -> Body {
        let value = self.rng.value();
        let cell = self.rng.below(self.cells);
        let into = self.variable();
        vec![match self.themes[0] {
            Theme::Mailbox => self.posted_and_forgotten(),
            Theme::Semaphore if self.rng.chance(60) => Release(0),
            _ if self.rng.chance(50) => Write { cell, value },
            _ => FetchAdd { cell, addend: 1, into },
        }]
    }

    fn tag(&mut self) -> Option<i64> {
        (self.patterns && self.rng.chance(60)).then(|| self.rng.below(2) as i64)
    }

    fn isend(&mut self) -> Statement {
        let (comm, mailbox, value) = (self.comms, self.rng.below(self.mailboxes), self.rng.value());
        self.comms += 1;
        let src = (self.patterns && self.rng.chance(50)).then_some(self.src);
        Isend { comm, mailbox, value: value.into(), src, tag: self.tag() }
    }

    fn irecv(&mut self) -> Statement {
        let (comm, mailbox) = (self.comms, self.rng.below(self.mailboxes));
        self.comms += 1;
        let src = (self.patterns && self.rng.chance(25)).then(|| self.rng.below(3) as i64);
        Irecv { comm, mailbox, src, tag: self.tag() }
    }

    fn posted_and_forgotten(&mut self) -> Statement {
        if self.rng.chance(75) { self.isend() } else { self.irecv() }
    }

    fn mailbox(&mut self, body: &mut Body) {
        if self.open.is_empty() || self.rng.chance(40) {
            return self.post(body);
        }
        let is_kept = !self.kept.is_empty() && self.rng.chance(15);
        let one = *self.rng.pick(if is_kept { &self.kept } else { &self.open });
        let several = self.open.len() > 1 || self.rng.chance(30);
        match if several { self.rng.below(14) } else { self.rng.below(7) } {
            0..3 => self.wait(body, one),
            3..7 => self.test(body, one),
            kind => self.any_form(body, kind),
        }
    }

    fn wait(&mut self, body: &mut Body, Open { comm, is_receive }: Open) {
        let into = is_receive.then(|| self.variable());
        body.push(Wait { comm, into });
        self.close(|open| open.comm == comm);
        if let Some(v) = into {
            self.use_value(body, v);
        }
    }

    fn test(&mut self, body: &mut Body, Open { comm, is_receive }: Open) {
        let into = self.variable();
        body.push(Test { comm, into });
        let condition = Condition { of: Variable::Bool(into), test: Comparison::Equals(1) };
        if is_receive && self.rng.chance(30) {
            let mut then = Body::new();
            for _ in 0..*self.rng.pick(&[1, 1, 1, 2]) {
                let v = self.variable();
                let assertion = self.assertion(v);
                then.extend([ValueOf { comm, into: v }, assertion]);
            }
            body.push(If { condition, then, otherwise: Body::new() });
        } else if self.rng.chance(60) {
            self.branch(body, condition);
        }
    }

    fn any_form(&mut self, body: &mut Body, kind: usize) {
        let comms = self.list();
        let into = self.variable();
        let gone = comms.clone();
        match kind {
            7..11 => body.push(WaitAny { comms, into }),
            11 | 12 => body.push(TestAny { comms, into }),
            _ => body.push(WaitAll { comms }),
        }
        if kind < 13 && self.rng.chance(50) {
            let test = Comparison::Equals(i64::from(!self.rng.chance(50)));
            self.branch(body, Condition { of: Variable::Int(into), test });
        }
        if !matches!(kind, 11 | 12) {
            // What was not returned by a waitany stays unwaited for: fine.
            self.close(|open| gone.contains(&open.comm));
        }
    }

    /// The list of an any-form: up to three open communications; sometimes with a duplicate, or one
    /// that was waited for before; or empty.
    fn list(&mut self) -> Vec<usize> {
        let mut comms: Vec<_> = self.open.iter().map(|open| open.comm).collect();
        comms.truncate(3);
        if comms.len() < 2 || self.rng.chance(20) {
            let known = if self.rng.chance(70) { &self.open } else { &self.kept };
            if !known.is_empty() {
                let again = self.rng.pick(known).comm;
                comms.insert(self.rng.below(comms.len() + 1), again);
            }
        }
        if self.rng.chance(7) { Vec::new() } else { comms }
    }

    /// Removes communications that are waited for; some of them are used again.
    fn close(&mut self, is_closed: impl Fn(&Open) -> bool) {
        let kept = self.open.iter().copied().filter(|open| is_closed(open));
        self.kept.extend(kept);
        self.open.retain(|open| !is_closed(open));
    }

    fn post(&mut self, body: &mut Body) {
        let mailbox = self.rng.below(self.mailboxes);
        match self.rng.below(10) {
            0 => body.push(Send { mailbox, value: self.rng.value() }),
            1..3 => {
                let into = self.variable();
                body.push(Recv { mailbox, into });
                self.use_value(body, into);
            }
            kind => {
                let is_receive = kind < 6;
                self.open.push(Open { comm: self.comms, is_receive });
                let post = if is_receive { self.irecv() } else { self.isend() };
                body.push(post);
            }
        }
    }

    /// Sometimes looks at an integer just obtained.
    fn use_value(&mut self, body: &mut Body, variable: usize) {
        match self.rng.below(10) {
            0..3 => {
                let test = Comparison::Equals(self.rng.value());
                self.branch(body, Condition { of: Variable::Int(variable), test });
            }
            3 => body.push(self.assertion(variable)),
            _ => {}
        }
    }

    fn assertion(&mut self, variable: usize) -> Statement {
        let value = self.rng.value();
        let test = if self.rng.chance(50) {
            Comparison::Equals(value)
        } else {
            Comparison::Differs(value)
        };
        Assert(Condition { of: Variable::Int(variable), test })
    }

    fn mutex(&mut self, body: &mut Body) {
        let m = self.rng.below(self.mutexes);
        let other = (m + 1) % self.mutexes;
        let into = self.variable();
        match self.rng.below(20) {
            0..5 => {
                body.push(Lock(m));
                self.inside(body);
                if self.rng.chance(10) {
                    body.push(MutexWait(m));
                }
                self.unlock(body, m);
            }
            5..7 if other != m => {
                body.extend([Lock(m), Lock(other)]);
                self.unlock(body, other);
                self.unlock(body, m);
            }
            7..10 => {
                body.push(AsyncLock(m));
                self.inside(body);
                body.push(MutexTest { mutex: m, into });
                let condition = Condition { of: Variable::Bool(into), test: Comparison::Equals(1) };
                self.branch(body, condition);
                self.unlock(body, m);
            }
            10..13 => {
                body.push(AsyncLock(m));
                self.inside(body);
                body.push(Unlock(m));
            }
            13..19 => {
                body.push(AsyncLock(m));
                if other != m {
                    body.push(AsyncLock(other));
                }
                let mutexes = self.requests(m, other);
                let test = Comparison::Equals(*self.rng.pick(&[-1, 0, 1, 1]));
                body.push(if self.rng.chance(65) {
                    MutexWaitAny { mutexes, into }
                } else {
                    MutexTestAny { mutexes, into }
                });
                if self.rng.chance(60) {
                    self.branch(body, Condition { of: Variable::Int(into), test });
                }
                self.unlock(body, m);
                if other != m {
                    self.unlock(body, other);
                }
            }
            19 => body.push(Unlock(m)),
            _ => {
                body.extend([AsyncLock(m), MutexWait(m)]);
                self.unlock(body, m);
            }
        }
    }

    /// The list of an any-form: two mutexes, or one of them twice.
    fn requests(&mut self, m: usize, other: usize) -> Vec<usize> {
        if other != m && self.rng.chance(75) {
            return vec![m, other];
        }
        let mut mutexes = vec![m, other];
        mutexes.insert(self.rng.below(3), *self.rng.pick(&[m, other]));
        if self.rng.chance(50) {
            mutexes.pop();
        }
        mutexes
    }

    /// Perhaps something in a critical section.
    fn inside(&mut self, body: &mut Body) {
        if self.rng.chance(35) {
            self.cell(body);
        }
    }

    /// Almost always.
    fn unlock(&mut self, body: &mut Body, m: usize) {
        if self.rng.chance(92) {
            body.push(Unlock(m));
        }
    }

    fn semaphore(&mut self, body: &mut Body) {
        match self.rng.below(10) {
            0..4 => body.push(Release(0)),
            4..6 => body.extend([Acquire(0), Release(0)]),
            6..8 => body.push(Acquire(0)),
            _ => {
                body.push(AsyncAcquire(0));
                self.cell(body);
                body.push(AcquireWait(0));
            }
        }
    }

    fn cell(&mut self, body: &mut Body) {
        let (cell, value) = (self.rng.below(self.cells), self.rng.value());
        let into = self.variable();
        match self.rng.below(12) {
            0..3 => {
                body.push(Read { cell, into });
                self.use_value(body, into);
            }
            3..6 => body.push(Write { cell, value }),
            6..9 => {
                body.push(Cas { cell, old: value, new: self.rng.value(), into });
                if self.rng.chance(50) {
                    let condition =
                        Condition { of: Variable::Bool(into), test: Comparison::Equals(1) };
                    self.branch(body, condition);
                }
            }
            9 | 10 => {
                let addend = self.rng.below(3) as i64 - 1;
                body.push(FetchAdd { cell, addend, into });
                self.use_value(body, into);
            }
            _ => {
                body.push(Swap { cell, value, into });
                self.use_value(body, into);
            }
        }
    }
}

/// The approximate maximum number of visible actions of a run through `body`.
fn actions(body: &Body) -> usize {
    let of_one = |statement: &Statement| match statement {
        ValueOf { .. } | Assert(_) => 0,
        CondWait { .. } => 5,
        ReadLock(_) | WriteLock(_) | NotifyOne(_) | NotifyAll(_) => 2,
        Send { .. } | Recv { .. } | Lock(_) | Acquire(_) | Barrier(_) => 2,
        WaitAll { comms } => comms.len(),
        If { then, otherwise, .. } => actions(then).max(actions(otherwise)),
        _ => 1,
    };
    body.iter().map(of_one).sum()
}
