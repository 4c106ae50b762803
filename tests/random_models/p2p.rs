//! Random programs with p2p and bag mailboxes: ranks with an inbox each, as in MPI.

use mazurka::model::{Call, CollectiveKind, Delivery};

use super::generate::add_daemons;
use super::{Body, Comparison, Condition, Program, Rng, Statement, Variable};
use Statement::*;

/// The program of `seed`.
pub fn generate(seed: u64) -> Program {
    let mut rng = Rng::new(seed ^ 0x7032_7000);
    let ranks = *rng.pick(&[2, 2, 2, 3, 3, 3, 4]);
    let length = match ranks {
        2 => rng.range(3, 7),
        3 => rng.range(2, 5),
        _ => rng.range(1, 4),
    };
    let deliveries = (0..ranks).map(|_| match rng.below(10) {
        0..7 => Delivery::P2p,
        7..9 => Delivery::Bag,
        _ => Delivery::Ordered,
    });
    let mut program = Program { deliveries: deliveries.collect(), ..Program::default() };
    program.mailboxes = ranks;
    let rounds = if rng.chance(20) { rng.range(1, 3) } else { 0 };
    let calls: Vec<Call> = (0..rounds).map(|_| call(&mut rng, ranks)).collect();
    let synchronizing = rng.chance(30);
    if rounds > 0 {
        program.collectives.push(ranks as u32);
    }
    if rng.chance(15) {
        program.cells.push(0);
    }
    let polls = rng.chance(50);
    program.polls = rng.chance(40).then(|| *rng.pick(&[0, 1, 3]));
    let leads = rng.below(ranks);
    for rank in 0..ranks {
        let mut writer = Writer {
            rng: &mut rng,
            program: &program,
            rank,
            // Messages of one receiving rank and several senders compete more often than those of
            // ranks that do both.
            receives: if rank == leads { 80 } else { 35 },
            leads,
            polls,
            variables: 0,
            comms: 0,
            open: Vec::new(),
            over: Vec::new(),
        };
        let mut body = writer.body(length - rounds.min(length - 1));
        writer.take_part(&mut body, &calls, synchronizing);
        program.processes.push(body);
    }
    add_daemons(&mut rng, &mut program);
    program
}

/// The call of all ranks in one round.
fn call(rng: &mut Rng, ranks: usize) -> Call {
    use CollectiveKind::*;
    let all = [Barrier, Bcast, Scatter, Gather, Reduce, Allreduce, Scan, Exscan, Alltoall];
    let kind = *rng.pick(&all);
    let root = matches!(kind, Bcast | Scatter | Gather | Reduce).then(|| rng.below(ranks) as u32);
    Call { kind, root, operator: None }
}

/// An open communication.
#[derive(Clone, Copy)]
struct Open {
    comm: usize,
    is_receive: bool,
    /// Whether it is at a p2p or bag mailbox.
    is_of_network: bool,
}

/// Writes the body of one rank.
struct Writer<'r> {
    rng: &'r mut Rng,
    program: &'r Program,
    rank: usize,
    receives: usize,
    leads: usize,
    polls: bool,
    variables: usize,
    comms: usize,
    open: Vec<Open>,
    /// Communications that were waited for.
    over: Vec<usize>,
}

impl Writer<'_> {
    fn body(&mut self, length: usize) -> Body {
        let mut body = Body::new();
        while actions(&body) < length {
            self.gesture(&mut body);
        }
        if self.rng.chance(50) {
            let rest: Vec<_> = self.open.drain(..).map(|open| open.comm).collect();
            if !rest.is_empty() {
                body.push(WaitAll { comms: rest });
            }
        }
        body
    }

    /// Inserts the calls into the body, in their order; sometimes another call, or none.
    fn take_part(&mut self, body: &mut Body, calls: &[Call], synchronizing: bool) {
        let mut places: Vec<_> = calls.iter().map(|_| self.rng.below(body.len() + 1)).collect();
        places.sort_unstable();
        for (&call, &place) in calls.iter().zip(&places).rev() {
            let comm = self.comms;
            self.comms += 1;
            let value = 100 + self.rank as i64;
            let other = Call { kind: CollectiveKind::Barrier, root: None, operator: None };
            let call = if self.rng.below(60) == 0 { other } else { call };
            if self.rng.below(25) > 0 {
                if self.rng.chance(75) {
                    body.insert(place, Wait { comm, into: None });
                }
                body.insert(
                    place,
                    Enter { comm, collective: 0, call, value: value.into(), synchronizing },
                );
            }
        }
    }

    fn gesture(&mut self, body: &mut Body) {
        match self.rng.below(20) {
            0..12 => self.post(body),
            12 if !self.program.cells.is_empty() => {
                let (value, into) = (self.rng.value(), self.variable());
                body.push(match self.rng.below(2) {
                    0 => Write { cell: 0, value },
                    _ => Read { cell: 0, into },
                });
            }
            13 | 14 if self.is_probed() => self.probe(body),
            15 if self.polls => self.poll_in_a_row(body),
            _ => self.complete(body),
        }
    }

    fn is_of_network(&self, mailbox: usize) -> bool {
        self.program.deliveries[mailbox] != Delivery::Ordered
    }

    fn is_probed(&self) -> bool {
        self.is_of_network(self.rank)
    }

    fn variable(&mut self) -> usize {
        self.variables += 1;
        self.variables - 1
    }

    fn comm(&mut self, is_receive: bool, mailbox: usize) -> usize {
        let comm = self.comms;
        self.comms += 1;
        let is_of_network = self.is_of_network(mailbox);
        self.open.push(Open { comm, is_receive, is_of_network });
        comm
    }

    fn pattern(&mut self) -> (Option<i64>, Option<i64>) {
        let ranks = self.program.deliveries.len();
        let src = self.rng.chance(40).then(|| self.rng.below(ranks) as i64);
        let tag = self.rng.chance(25).then(|| self.rng.below(2) as i64);
        (src, tag)
    }

    fn post(&mut self, body: &mut Body) {
        if self.rng.chance(self.receives) {
            let crowds = self.rng.below(150) == 0;
            let other = (self.rank + 1) % self.program.deliveries.len();
            let mailbox = if crowds { other } else { self.rank };
            let (src, tag) = self.pattern();
            let comm = self.comm(true, mailbox);
            body.push(Irecv { comm, mailbox, src, tag });
            if self.rng.chance(35) {
                self.wait(body, self.open.len() - 1);
            }
        } else {
            let ranks = self.program.deliveries.len();
            let leads = self.rng.chance(60) && self.leads != self.rank;
            let mailbox = if leads { self.leads } else { self.rng.below(ranks) };
            let tag = Some(self.rng.below(2) as i64);
            let value = 10 * self.rank as i64 + self.comms as i64;
            let comm = self.comm(false, mailbox);
            let src = Some(self.rank as i64);
            body.push(match self.rng.chance(30) && self.is_of_network(mailbox) {
                true => Issend { comm, mailbox, value: value.into(), src, tag },
                false => Isend { comm, mailbox, value: value.into(), src, tag },
            });
            if self.rng.chance(50) {
                self.open.pop();
            }
        }
    }

    fn probe(&mut self, body: &mut Body) {
        let (mailbox, (src, tag)) = (self.rank, self.pattern());
        let into = self.variable();
        match self.rng.below(3) {
            0 => body.push(Probe { mailbox, src, tag, into }),
            1 if self.polls => body.push(Iprobe { mailbox, src, tag, into }),
            _ => {
                let comm = self.comm(true, mailbox);
                body.push(Mprobe { comm, mailbox, src, tag, into });
            }
        }
        if self.rng.chance(60) {
            self.branch(body, into, &[-1, 0, 1]);
        }
    }

    /// A few consecutive polls: of one thing or of two, and of what is complete.
    fn poll_in_a_row(&mut self, body: &mut Body) {
        let (mailbox, is_probed) = (self.rank, self.is_probed());
        let open = self.open.last().map(|open| open.comm);
        for _ in 0..self.rng.range(2, 4) {
            let into = self.variable();
            match self.rng.below(5) {
                0 if !self.over.is_empty() => {
                    body.push(Test { comm: *self.rng.pick(&self.over), into });
                }
                0..3 if is_probed => body.push(Iprobe { mailbox, src: None, tag: None, into }),
                _ => body.extend(open.map(|comm| Test { comm, into })),
            }
        }
    }

    fn complete(&mut self, body: &mut Body) {
        if self.open.is_empty() {
            return self.post(body);
        }
        let one = self.rng.below(self.open.len());
        match self.rng.below(10) {
            0..4 => self.wait(body, one),
            4 | 5 if self.polls => {
                let (comm, into) = (self.open[one].comm, self.variable());
                body.push(Test { comm, into });
                if self.rng.chance(60) {
                    self.branch_on(body, Variable::Bool(into), Comparison::Equals(1));
                }
            }
            6 if self.open[one].is_receive && self.open[one].is_of_network => {
                let (comm, into) = (self.open.remove(one).comm, self.variable());
                body.push(Cancel { comm, into });
                self.branch_on(body, Variable::Bool(into), Comparison::Equals(1));
            }
            7 if self.polls => {
                let network = self.open[one].is_of_network;
                let alike = self.open.iter().filter(|open| open.is_of_network == network);
                let comms: Vec<_> = alike.map(|open| open.comm).take(3).collect();
                let into = self.variable();
                body.push(TestAny { comms, into });
                self.branch(body, into, &[-1, 0, 1]);
            }
            _ => {
                let comms: Vec<_> = self.open.iter().map(|open| open.comm).take(3).collect();
                let into = self.variable();
                body.push(WaitAny { comms, into });
                if self.rng.chance(60) {
                    self.branch(body, into, &[0, 1]);
                }
            }
        }
    }

    fn wait(&mut self, body: &mut Body, index: usize) {
        let Open { comm, is_receive, .. } = self.open.remove(index);
        let into = is_receive.then(|| self.variable());
        body.push(Wait { comm, into });
        self.over.push(comm);
        if let Some(into) = into {
            if self.rng.chance(25) {
                let (rank, nth) = (self.rng.below(3) as i64, self.rng.below(3) as i64);
                self.branch(body, into, &[10 * rank + nth, 10 * rank]);
            } else if self.rng.chance(20) {
                let test = Comparison::Differs(10 * self.rng.below(3) as i64);
                body.push(Assert(Condition { of: Variable::Int(into), test }));
            }
        }
    }

    fn branch(&mut self, body: &mut Body, variable: usize, values: &[i64]) {
        let test = Comparison::Equals(*self.rng.pick(values));
        self.branch_on(body, Variable::Int(variable), test);
    }

    /// A branch; what is begun in one arm is not used after it.
    fn branch_on(&mut self, body: &mut Body, of: Variable, test: Comparison) {
        let mut parts = [Body::new(), Body::new()];
        let (open, over) = (self.open.clone(), self.over.clone());
        for part in &mut parts {
            if self.rng.chance(60) {
                self.open.clear();
                self.post(part);
            }
        }
        (self.open, self.over) = (open, over);
        let [then, otherwise] = parts;
        body.push(If { condition: Condition { of, test }, then, otherwise });
    }
}

/// The approximate maximum number of visible actions of a run through `body`.
fn actions(body: &Body) -> usize {
    let of_one = |statement: &Statement| match statement {
        ValueOf { .. } | Assert(_) => 0,
        WaitAll { comms } => comms.len(),
        Cancel { .. } => 2,
        If { then, otherwise, .. } => actions(then).max(actions(otherwise)),
        _ => 1,
    };
    body.iter().map(of_one).sum()
}
