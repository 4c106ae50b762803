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
//! A process that has to move may also *spin*: it polls in a loop, and nothing that it polls is
//! there. Then it need not move either. What a poll finds stays there until the process takes it,
//! so a process that finds something in C finds it in every larger configuration, until it acts. (A
//! loop that reads a cell may find something and then nothing again. So standstills in which
//! processes wait for cells may be missed.)
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

use super::causal_past::happens_before;
use super::happens_before::HappensBefore;
use crate::model::{Locals, ProcessId, Schedule, State, System};

/// Does a process that has to move spin? Then it need not.
type Spins<'a, 's, S> = &'a mut dyn FnMut(&mut Locals<'s, S>, &mut State, ProcessId) -> bool;

/// The least configuration of the class of `schedule` in which every enabled action is optional. If
/// only daemons wait there, and other processes wait in a larger such configuration, one of the
/// larger ones. `None` if a process must act that does not act in `schedule`, because the execution
/// was cut.
pub(crate) fn standstill<'s, S: System>(
    system: &'s S,
    schedule: &Schedule,
    spins: Spins<'_, 's, S>,
) -> Option<(Locals<'s, S>, State)> {
    let (mut locals, order) = happens_before(system, schedule);
    let state = State::initial(&mut locals);
    let mut least = Part { schedule, order: &order, made: Vec::new(), state };
    least.close(&mut locals, spins)?;
    let do_daemons_wait = least.state.unfinished(&locals).next().is_some()
        && least.state.stuck(&locals).next().is_none();
    let later = if do_daemons_wait { spawns(&mut locals, schedule) } else { Vec::new() };
    for at in later {
        let mut larger = least.clone();
        larger.include(at, &mut locals);
        if larger.close(&mut locals, spins).is_some()
            && larger.state.stuck(&locals).next().is_some()
        {
            return Some((locals, larger.state));
        }
    }
    Some((locals, least.state))
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

/// A configuration of the class of a schedule.
#[derive(Clone)]
struct Part<'c> {
    schedule: &'c Schedule,
    order: &'c HappensBefore,
    /// The number of actions of each process in the configuration.
    made: Vec<u32>,
    state: State,
}

impl Part<'_> {
    /// Adds the events that every standstill must contain, until every enabled action is optional;
    /// `None` if such an event is missing in the schedule.
    fn close<'s, S: System>(
        &mut self,
        locals: &mut Locals<'s, S>,
        spins: Spins<'_, 's, S>,
    ) -> Option<()> {
        loop {
            let all: Vec<ProcessId> = self.state.processes().collect();
            let mover = all.into_iter().find(|&p| goes_on(locals, &mut self.state, p, spins));
            let Some(process) = mover else { return Some(()) };
            let count = self.made.get(process.index()).copied().unwrap_or(0);
            let next = *self.order.of_process(process).get(count as usize)?;
            self.include(next as usize, locals);
        }
    }

    /// Adds the action at this position of the schedule, and its causes.
    fn include<S: System>(&mut self, at: usize, locals: &mut Locals<'_, S>) {
        let clock = self.order.clock(at);
        let mut missing: Vec<u32> = Vec::new();
        self.made.resize(self.made.len().max(clock.len()), 0);
        for (process, (made, &wanted)) in self.made.iter_mut().zip(clock).enumerate() {
            let actions = self.order.of_process(ProcessId(process as u32));
            missing.extend(&actions[*made as usize..wanted.max(*made) as usize]);
            *made = wanted.max(*made);
        }
        missing.sort_unstable();
        missing.drain(..).for_each(|at| self.state.step(locals, self.schedule[at as usize]));
    }
}

/// Has the process an enabled action that is not optional, and does not spin? Or does it wait at a
/// poll although its loop would continue: to another poll that succeeds, or beyond the bound on
/// polls?
fn goes_on<'s, S: System>(
    locals: &mut Locals<'s, S>,
    state: &mut State,
    process: ProcessId,
    spins: Spins<'_, 's, S>,
) -> bool {
    if state.must_move(locals, process) {
        return !spins(locals, state, process);
    }
    let round = state.round_of_polls(locals, process);
    let polls_on = round.is_some_and(|round| state.polls_on(locals, process, &round));
    polls_on || state.is_cut_at_poll(locals, process)
}
