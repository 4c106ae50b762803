//! Does a class of executions pass through a state in which nothing need ever happen again?
//!
//! Some enabled actions are optional ([`State::is_optional`]): a standard send may be buffered, and
//! a rank may leave a collective early, but an implementation of MPI need not do it. A *standstill*
//! is a configuration C in which every enabled action is optional and some process has not ended.
//! Every configuration is part of a maximal one, so it is enough to look at the parts of each class
//! that a search visits. There are exponentially many of those, but only one has to be judged, the
//! least that may be one:
//!
//! Let M be the events of the class. Whoever can do in C something that is not optional can do it
//! in every larger part of M as well, until its process goes on: nothing that others do takes an
//! action away without giving another, and what is matched stays matched. So C is no standstill,
//! and a standstill in M that contains C contains the next event of that process in M, and all
//! before it. (That event may be another choice than the one that is enabled, or one with a longer
//! history.) Begin with the empty configuration, and add what has to be added, until every enabled
//! action is optional. Each standstill in M contains the result; and if all processes have ended
//! there, none is larger. O(n p) steps and lookups for n events of p processes, since each event is
//! executed once.
//!
//! Daemons may stand still ([`System::is_daemon`]). If only they have not ended in the result, a
//! larger standstill matters only if somebody waits there whom a daemon has started after it. So
//! the same is asked again for each process that is started later, from the part that contains its
//! start: if the process waits in any standstill, then also in the least one in which it exists.
//!
//! (`theory.md`, 13, asks the same of a prefix of the unfolding. For programs whose sends are
//! either all buffered or not: S. F. Siegel and G. S. Avrunin, *Modeling wildcard-free MPI programs
//! for verification*, PPoPP 2005; S. Vakkalanka, A. Vo, G. Gopalakrishnan, R. M. Kirby, *Precise
//! dynamic analysis for slack elasticity*, EuroMPI 2010.)

use super::causal_past::happens_before;
use super::happens_before::HappensBefore;
use crate::model::{Locals, ProcessId, Schedule, State, System};

/// The least configuration of the class of `schedule` in which every enabled action is optional; if
/// only daemons wait there, and there is a larger one in which others wait, one of those. `None` if
/// somebody can go on who does not go on in `schedule`, because that was cut.
pub fn standstill<'s, S: System>(
    system: &'s S,
    schedule: &Schedule,
) -> Option<(Locals<'s, S>, State)> {
    let (mut locals, order) = happens_before(system, schedule);
    let state = State::initial(&mut locals);
    let mut least = Part { schedule, order: &order, made: Vec::new(), state };
    least.close(&mut locals)?;
    let do_daemons_wait = least.state.unfinished(&locals).next().is_some()
        && least.state.stuck(&locals).next().is_none();
    let later = if do_daemons_wait { spawns(&mut locals, schedule) } else { Vec::new() };
    for at in later {
        let mut larger = least.clone();
        larger.include(at, &mut locals);
        if larger.close(&mut locals).is_some() && larger.state.stuck(&locals).next().is_some() {
            return Some((locals, larger.state));
        }
    }
    Some((locals, least.state))
}

/// Where the schedule starts processes that are no daemons.
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
    /// How many of its actions each process has made.
    made: Vec<u32>,
    state: State,
}

impl Part<'_> {
    /// Adds what has to be added, until every enabled action is optional; `None` if something is
    /// missing in the schedule.
    fn close<S: System>(&mut self, locals: &mut Locals<'_, S>) -> Option<()> {
        loop {
            let mover = self.state.processes().find(|&p| goes_on(locals, &self.state, p));
            let Some(process) = mover else { return Some(()) };
            let count = self.made.get(process.index()).copied().unwrap_or(0);
            let next = *self.order.of_process(process).get(count as usize)?;
            self.include(next as usize, locals);
        }
    }

    /// Adds the action at this place of the schedule, and all before it.
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

/// Can it do something that is not optional, or does it wait at a poll although its loop would go
/// on: to something else that is there, or beyond the bound on polls?
fn goes_on<S: System>(locals: &mut Locals<'_, S>, state: &State, process: ProcessId) -> bool {
    if state.must_move(locals, process) {
        return true;
    }
    let round = state.round_of_polls(locals, process);
    let polls_on = round.is_some_and(|round| state.polls_on(locals, process, &round));
    polls_on || state.is_cut_at_poll(locals, process)
}
