//! Random programs of ranks with an inbox each, as in MPI: a p2p or bag mailbox, sometimes an
//! ordered one.
//!
//! A program is printed in the modelling language ([`Program::text`]), and is a system
//! ([`Script`](super::Script)). If MPI can express it ([`completed`]), it is also printed in C
//! ([`c`]).

use mazurka::model::{Call, CollectiveKind, Delivery, Partners};

use super::generate::add_daemons;
use super::{Body, Comparison, Condition, Program, Rng, Sent, Statement, Variable};
use Statement::*;

pub mod c;

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
    let rounds = if rng.chance(30) { rng.range(1, 3) } else { 0 };
    let calls: Vec<_> = (0..rounds).map(|_| (call(&mut rng, ranks), rng.chance(75))).collect();
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
            known: Vec::new(),
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

/// The same program with its collectives on an intercommunicator, if they can be there: data goes
/// from each group to the other, or between the root and the other group.
pub fn between_groups(mut program: Program, seed: u64) -> Option<Program> {
    use CollectiveKind::*;
    let first_group = Rng::new(seed).range(1, program.processes.len()) as u32;
    let mut are_there = !program.collectives.is_empty();
    let are_apart = |one: u32, other: u32| (one < first_group) != (other < first_group);
    with_partners(&mut program, |_, call, giver, taker| {
        are_there &= !matches!(call.kind, Scan | Exscan);
        are_apart(giver, taker)
            && match call.kind {
                Bcast | Scatter => call.root == Some(giver),
                Reduce | Gather => call.root == Some(taker),
                _ => true,
            }
    });
    for (rank, body) in (0..).zip(&mut program.processes) {
        for statement in body {
            let Enter { call, .. } = statement else { continue };
            // A rank knows the root of the other group, and whether it is the root.
            call.root = call.root.filter(|&root| root == rank || are_apart(root, rank));
        }
    }
    are_there.then_some(program)
}

/// The same program with some of its counts 0, if it has collectives: data goes only between some
/// of the ranks, and they may not agree about it.
pub fn with_counts(mut program: Program, seed: u64) -> Option<Program> {
    let is_there = !program.collectives.is_empty();
    let goes = |round, giver: u32, taker: u32| {
        let pair = u64::from(giver) * 8 + u64::from(taker);
        Rng::new(seed ^ (round as u64) << 16 ^ pair << 8).chance(40)
    };
    with_partners(&mut program, |round, _, giver, taker| goes(round, giver, taker));
    let mut rng = Rng::new(seed);
    for statement in program.processes.iter_mut().flatten() {
        let Enter { partners: Some(partners), .. } = statement else { continue };
        if rng.chance(5) {
            partners.from.pop();
        }
    }
    is_there.then_some(program)
}

/// Says for each entry between which ranks data goes: `goes` tells it of a round, a call, the rank
/// that gives and the one that gets.
fn with_partners(program: &mut Program, mut goes: impl FnMut(usize, Call, u32, u32) -> bool) {
    let ranks = program.processes.len() as u32;
    for (rank, body) in (0..).zip(&mut program.processes) {
        let entries = body.iter_mut().filter_map(|statement| match statement {
            Enter { call, partners, .. } => Some((*call, partners)),
            _ => None,
        });
        for (round, (call, partners)) in entries.enumerate() {
            let from = (0..ranks).filter(|&other| goes(round, call, other, rank)).collect();
            let to = (0..ranks).filter(|&other| goes(round, call, rank, other)).collect();
            *partners = Some(Partners { from, to });
        }
    }
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
    /// Variables that have a value.
    known: Vec<usize>,
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

    /// Inserts the calls into the body, in their order; sometimes another call, or none. Each says
    /// whether the rank waits at once.
    fn take_part(&mut self, body: &mut Body, calls: &[(Call, bool)], synchronizing: bool) {
        let mut places: Vec<_> = calls.iter().map(|_| self.rng.below(body.len() + 1)).collect();
        places.sort_unstable();
        for (&(call, waits), &place) in calls.iter().zip(&places).rev() {
            let comm = self.comms;
            self.comms += 1;
            let number = 100 + self.rank as i64;
            let mut before = body[..place].iter().filter_map(|statement| match statement {
                Wait { into, .. } => *into,
                _ => None,
            });
            let value = Sent { more_than: before.next_back(), number };
            let other = Call { kind: CollectiveKind::Barrier, root: None, operator: None };
            let call = if self.rng.below(60) == 0 { other } else { call };
            if self.rng.below(25) > 0 {
                if waits {
                    let is_sum = call.kind == CollectiveKind::Allreduce;
                    let into = is_sum.then(|| self.variable());
                    if let Some(into) = into.filter(|_| self.rng.chance(40)) {
                        let sum: i64 = (0..self.program.mailboxes as i64).map(|r| 100 + r).sum();
                        let test = Comparison::Differs(sum + 10 * self.rng.below(3) as i64);
                        let of = Variable::Int(into);
                        body.insert(place, Assert(Condition { of, test }));
                    }
                    body.insert(place, Wait { comm, into });
                }
                let partners = None;
                body.insert(
                    place,
                    Enter { comm, collective: 0, call, value, synchronizing, partners },
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
            let leads = self.rng.chance(70) && self.leads != self.rank;
            let mailbox = if leads { self.leads } else { self.rng.below(ranks) };
            let tag = Some(self.rng.below(2) as i64);
            let number = 10 * self.rank as i64 + self.comms as i64;
            let more_than = self.known.last().copied().filter(|_| self.rng.chance(30));
            let value = Sent { more_than, number };
            let comm = self.comm(false, mailbox);
            let src = Some(self.rank as i64);
            body.push(match self.rng.chance(30) && self.is_of_network(mailbox) {
                true => Issend { comm, mailbox, value, src, tag },
                false => Isend { comm, mailbox, value, src, tag },
            });
            match self.rng.below(10) {
                0..5 => drop(self.open.pop()),
                5 | 6 => self.wait(body, self.open.len() - 1),
                _ => {}
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
        self.known.push(into);
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
                self.known.push(into);
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
            self.known.push(into);
            if self.rng.chance(25) {
                let (rank, nth) = (self.rng.below(3) as i64, self.rng.below(3) as i64);
                self.branch(body, into, &[10 * rank + nth, 10 * rank]);
            } else if self.rng.chance(20) {
                let test = Comparison::Differs(10 * self.rng.below(3) as i64);
                body.push(Assert(Condition { of: Variable::Int(into), test }));
            }
        }
    }

    /// A branch on whether the variable has one of these values, or an assertion that it has not.
    fn branch(&mut self, body: &mut Body, variable: usize, values: &[i64]) {
        let (of, value) = (Variable::Int(variable), *self.rng.pick(values));
        match self.rng.chance(15) {
            true => body.push(Assert(Condition { of, test: Comparison::Differs(value) })),
            false => self.branch_on(body, of, Comparison::Equals(value)),
        }
    }

    /// A branch; what is begun in one arm is not used after it.
    fn branch_on(&mut self, body: &mut Body, of: Variable, test: Comparison) {
        let mut parts = [Body::new(), Body::new()];
        let known = self.known.len();
        let (open, over) = (self.open.clone(), self.over.clone());
        for part in &mut parts {
            if self.rng.chance(60) {
                self.open.clear();
                self.post(part);
                self.known.truncate(known);
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

/// The program with waits for everything that it leaves open, if MPI can express it: in MPI a
/// completed request is gone, so no later any-form or cancel may name it, and all ranks must enter
/// the same collectives before `MPI_Finalize`, by calls of which all block or none.
pub fn completed(mut program: Program) -> Option<Program> {
    program.deliveries = vec![Delivery::P2p; program.mailboxes];
    // No rank is a daemon.
    program.daemons.clear();
    let mut calls = Vec::new();
    for (rank, body) in program.processes.iter_mut().enumerate() {
        complete(body, rank)?;
        calls.push(entered(body));
    }
    let agree = calls.windows(2).all(|two| two[0] == two[1]);
    let leave_alike = calls.concat().windows(2).all(|two| two[0].1 == two[1].1);
    (agree && leave_alike && program.cells.is_empty()).then_some(program)
}

/// Whether ranks leave collectives only when all have entered.
pub fn is_synchronizing(program: &Program) -> bool {
    program.processes.iter().flat_map(entered).any(|(_, synchronizing, _)| synchronizing)
}

/// The calls, whether each leaves when all have entered, and whether it blocks.
fn entered(body: &Body) -> Vec<(Call, bool, bool)> {
    let call = |at: usize| match body[at] {
        Enter { call, synchronizing, .. } => Some((call, synchronizing, is_blocking(&body[at..]))),
        _ => None,
    };
    (0..body.len()).filter_map(call).collect()
}

fn complete(body: &mut Body, rank: usize) -> Option<()> {
    let (mut open, mut asked) = (Vec::new(), Vec::new());
    for statement in body.iter_mut() {
        match statement {
            Isend { comm, .. } | Issend { comm, .. } | Enter { comm, .. } => open.push(*comm),
            Irecv { comm, mailbox, .. } if *mailbox == rank => open.push(*comm),
            Cancel { comm, .. } if asked.contains(comm) => return None,
            Wait { comm, .. } | Cancel { comm, .. } => {
                open.retain(|other| other != comm);
                asked.push(*comm);
            }
            Test { comm, .. } => asked.push(*comm),
            WaitAll { comms } => {
                open.retain(|other| !comms.contains(other));
                asked.extend_from_slice(comms);
            }
            WaitAny { comms, .. } | TestAny { comms, .. } => {
                if comms.is_empty() || comms.iter().any(|comm| asked.contains(comm)) {
                    return None;
                }
                asked.extend_from_slice(comms);
            }
            If { then, otherwise, .. } => {
                complete(then, rank)?;
                complete(otherwise, rank)?;
            }
            Probe { .. } | Iprobe { .. } | Assert(_) => {}
            _ => return None,
        }
    }
    body.extend(open.into_iter().map(|comm| Wait { comm, into: None }));
    Some(())
}

/// The program with a barrier at its end, as `MPI_Finalize` is one.
pub fn finalized(mut program: Program) -> Program {
    if program.collectives.is_empty() {
        program.collectives.push(program.processes.len() as u32);
    }
    for body in &mut program.processes {
        let comm = BARRIER;
        let call = Call { kind: CollectiveKind::Barrier, root: None, operator: None };
        let value = Sent::from(0);
        body.push(Enter { comm, collective: 0, call, value, synchronizing: false, partners: None });
        body.push(Wait { comm, into: None });
    }
    program
}

/// No other communication has this number.
const BARRIER: usize = 100;

/// Does the second of these statements wait for what the first begins, and no other name it? Then
/// the two are printed as one call that blocks.
pub fn is_blocking(statements: &[Statement]) -> bool {
    let [
        Isend { comm, .. } | Issend { comm, .. } | Irecv { comm, .. } | Enter { comm, .. },
        Wait { comm: awaited, .. },
        rest @ ..,
    ] = statements
    else {
        return false;
    };
    comm == awaited && !rest.iter().any(|statement| names(statement, *comm))
}

fn names(statement: &Statement, named: usize) -> bool {
    match statement {
        Wait { comm, .. } | Test { comm, .. } | Cancel { comm, .. } | ValueOf { comm, .. } => {
            *comm == named
        }
        WaitAny { comms, .. } | TestAny { comms, .. } | WaitAll { comms } => comms.contains(&named),
        If { then, otherwise, .. } => then.iter().chain(otherwise).any(|inner| names(inner, named)),
        _ => false,
    }
}
