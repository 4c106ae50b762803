//! Standstills: states of a class of executions in which nothing need ever happen again.
//!
//! Some enabled actions are optional ([`State::is_optional`]): a standard send may be buffered, and
//! a rank may leave a collective early, but an implementation of MPI need not do it. A *standstill*
//! is a configuration C in which every enabled action is optional and some process has not ended.
//! Every configuration is part of a maximal one, so it is enough to examine the sub-configurations
//! of each class that a search visits. There are exponentially many of them, but only one has to be
//! judged: the least that can be a standstill.
//!
//! Let M be the events of the class. If a process has an enabled action in C that is not optional,
//! it has one in every larger configuration within M, until the process acts: other processes never
//! disable an action without enabling another one in its place, and matches are permanent. So C is
//! not a standstill, and a standstill in M that contains C also contains the next event of that
//! process in M, and its causes. (That event may be another choice than the enabled one, or have a
//! longer history.) The algorithm starts with the empty configuration, and adds such events until
//! every enabled action is optional. Each standstill in M contains the result; and if all processes
//! have ended in the result, no standstill is larger. It takes O(n p) steps and lookups for n
//! events of p processes, since each event is executed once.
//!
//! **Loops that wait.** A process that has to move may also *spin*: it polls in a loop, and nothing
//! that it polls is there. Then it need not move either. What a poll of messages finds stays there
//! until the process takes it. So a process that finds something in C finds it in every larger
//! configuration, until it acts. But a loop that reads a register (a cell, or a lock that it only
//! tries) may find something, and after a further change nothing again: `x := 0; send; x := 1`
//! beside `while x == 0 {}`, where x is 1 at the start, stands still after `x := 0` if the send is
//! not buffered. So if a process leaves such a loop in C, there are several ways to a larger
//! standstill: it contains the next event of the process, or the next change, by another process,
//! of a register at which the loop has looked. The search follows all of them, but not twice from
//! the same configuration. (What makes an operation of the loop possible need not be considered:
//! if the process spins in a standstill, that with all operations of a round but the last is one,
//! too. It is part of a class, and contains the next event of the process.)
//!
//! Daemons may stand still ([`System::is_daemon`]). If only daemons have not ended in the result, a
//! larger standstill matters only if a process waits there that a daemon has started after the
//! result. So the algorithm runs again for each process that is started later, from the
//! configuration that contains its start: if the process waits in any standstill, it also waits in
//! the least one in which it exists.
//!
//! (`theory.md`, 13, asks the same of a prefix of the unfolding. For programs whose sends are
//! either all buffered or not: S. F. Siegel and G. S. Avrunin, *Modeling wildcard-free MPI programs
//! for verification*, PPoPP 2005; S. Vakkalanka, A. Vo, G. Gopalakrishnan, R. M. Kirby, *Precise
//! dynamic analysis for slack elasticity*, EuroMPI 2010.)

use rustc_hash::FxHashSet;

use super::causal_past::happens_before;
use super::happens_before::HappensBefore;
use crate::model::{Lane, Locals, ProcessId, Schedule, State, System};

/// What a process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It spins, or is blocked, so it need not move.
    Rests,
    /// It does something else, or would be blocked in its loop. No other process changes that by a
    /// change of a register.
    GoesOn,
    /// It leaves its loop, unless another process changes one of these registers.
    Leaves(Vec<Lane>),
}

/// What a process does that has an enabled action which is not optional.
pub(crate) type Turns<'a, 's, S> =
    &'a mut dyn FnMut(&mut Locals<'s, S>, &mut State, ProcessId) -> Turn;

/// Calls `judge` with configurations of the class of `schedule` in which every enabled action is
/// optional, or part of a loop that waits, until it says yes. Returns whether it did. If a process
/// that is not a daemon waits in such a configuration, one does in one of these.
pub(crate) fn standstill<'s, S: System>(
    system: &'s S,
    schedule: &Schedule,
    turns: Turns<'_, 's, S>,
    mut judge: impl FnMut(&mut Locals<'s, S>, &mut State) -> bool,
) -> bool {
    let (mut locals, order) = happens_before(system, schedule);
    let state = State::initial(&mut locals);
    let least = Part { made: Vec::new(), state, is_later: false };
    let mut ways = Ways { schedule, order: &order, seen: FxHashSet::default(), open: vec![least] };
    while let Some(mut part) = ways.open.pop() {
        if !ways.close(&mut part, &mut locals, turns) {
            continue;
        }
        if judge(&mut locals, &mut part.state) {
            return true;
        }
        let do_daemons_wait = part.state.unfinished(&locals).next().is_some()
            && part.state.stuck(&locals).next().is_none();
        if do_daemons_wait && !part.is_later {
            for at in spawns(&mut locals, schedule) {
                ways.add(&part, at as u32, &mut locals, true);
            }
        }
    }
    false
}

/// The positions at which the schedule starts processes that are not daemons.
fn spawns<S: System>(locals: &mut Locals<'_, S>, schedule: &Schedule) -> Vec<usize> {
    let mut state = State::initial(locals);
    let mut found = Vec::new();
    for (at, &action) in schedule.iter().enumerate() {
        state.step(locals, action);
        let mut started = state.just_spawned(locals);
        if started.any(|process| !locals.is_daemon(state.local(process))) {
            found.push(at);
        }
    }
    found
}

/// A configuration of a class.
#[derive(Clone)]
struct Part {
    /// The number of actions of each process in the configuration.
    made: Vec<u32>,
    state: State,
    /// Does it contain the start of a process, for which it was made?
    is_later: bool,
}

impl Part {
    /// The number of actions of a process.
    fn made_by(&self, process: ProcessId) -> usize {
        self.made.get(process.index()).map_or(0, |&count| count as usize)
    }

    /// Does it contain the action at this position of the schedule?
    fn contains(&self, order: &HappensBefore, at: u32) -> bool {
        let process = order.process(at as usize);
        order.clock(at as usize)[process.index()] as usize <= self.made_by(process)
    }
}

/// The ways to standstills of the class of a schedule.
struct Ways<'c> {
    schedule: &'c Schedule,
    order: &'c HappensBefore,
    /// The numbers of actions in the configurations from which there are several ways, and in those
    /// at rest.
    seen: FxHashSet<Vec<u32>>,
    open: Vec<Part>,
}

impl Ways<'_> {
    /// Adds the events that every standstill must contain, until nothing need happen; where there
    /// are several ways, all but one become open. Returns false if an event is missing in the
    /// schedule, because the execution was cut, or if the configuration was met before.
    fn close<'s, S: System>(
        &mut self,
        part: &mut Part,
        locals: &mut Locals<'s, S>,
        turns: Turns<'_, 's, S>,
    ) -> bool {
        loop {
            let Some((process, others)) = self.mover(part, locals, turns) else {
                return self.is_new(part);
            };
            if !others.is_empty() && !self.is_new(part) {
                return false;
            }
            for at in others {
                self.add(part, at, locals, part.is_later);
            }
            let Some(&next) = self.order.of_process(process).get(part.made_by(process)) else {
                return false;
            };
            self.include(part, next, locals);
        }
    }

    fn is_new(&mut self, part: &Part) -> bool {
        let end = part.made.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        self.seen.insert(part.made[..end].to_vec())
    }

    /// A process that has to go on, and the events of others of which a standstill contains one if
    /// it does not contain the next event of the process. If possible there are none of them.
    fn mover<'s, S: System>(
        &self,
        part: &mut Part,
        locals: &mut Locals<'s, S>,
        turns: Turns<'_, 's, S>,
    ) -> Option<(ProcessId, Vec<u32>)> {
        let all: Vec<ProcessId> = part.state.processes().collect();
        let mut leaves = None;
        for process in all {
            match turn(locals, &mut part.state, process, turns) {
                Turn::Rests => {}
                Turn::GoesOn => return Some((process, Vec::new())),
                Turn::Leaves(registers) => drop(leaves.get_or_insert((process, registers))),
            }
        }
        let (process, registers) = leaves?;
        // The changes of a register are ordered.
        let next = |&register: &Lane| {
            let mut changes = self.order.changes(register).iter().copied();
            changes.find(|&at| !part.contains(self.order, at))
        };
        let changes = registers.iter().filter_map(next);
        let others = changes.filter(|&at| self.order.process(at as usize) != process);
        Some((process, others.collect()))
    }

    /// Opens this configuration with one more event.
    fn add<S: System>(&mut self, part: &Part, at: u32, locals: &mut Locals<'_, S>, is_later: bool) {
        let mut larger = Part { is_later, ..part.clone() };
        self.include(&mut larger, at, locals);
        self.open.push(larger);
    }

    /// Adds the action at this position of the schedule, and its causes.
    fn include<S: System>(&self, part: &mut Part, at: u32, locals: &mut Locals<'_, S>) {
        let clock = self.order.clock(at as usize);
        let mut missing: Vec<u32> = Vec::new();
        part.made.resize(part.made.len().max(clock.len()), 0);
        for (process, (made, &wanted)) in part.made.iter_mut().zip(clock).enumerate() {
            let actions = self.order.of_process(ProcessId(process as u32));
            missing.extend(&actions[*made as usize..wanted.max(*made) as usize]);
            *made = wanted.max(*made);
        }
        missing.sort_unstable();
        missing.drain(..).for_each(|at| part.state.step(locals, self.schedule[at as usize]));
    }
}

/// What the process does. It also goes on if it waits at a poll although its loop would continue:
/// to another poll that succeeds, or beyond the bound on polls.
fn turn<'s, S: System>(
    locals: &mut Locals<'s, S>,
    state: &mut State,
    process: ProcessId,
    turns: Turns<'_, 's, S>,
) -> Turn {
    if state.must_move(locals, process) {
        return turns(locals, state, process);
    }
    let round = state.round_of_polls(locals, process);
    let polls_on = round.is_some_and(|round| state.polls_on(locals, process, &round));
    match polls_on || state.is_cut_at_poll(locals, process) {
        true => Turn::GoesOn,
        false => Turn::Rests,
    }
}
