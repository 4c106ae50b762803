//! Does a class of executions pass through a state in which nothing need ever happen again?
//!
//! Some enabled actions are optional ([`State::is_optional`]): a standard send may be buffered, and a rank may leave a collective early, but an
//! implementation of MPI need not do it. A *standstill* is a configuration C in which every enabled action is optional and some
//! process has not ended. Every configuration is part of a maximal one, so it is enough to look at the parts of each class
//! that a search visits. There are exponentially many of those, but only one has to be judged, the least that may be one:
//!
//! Let M be the events of the class. Whoever can do in C something that is not optional can do it in every larger part of M as well,
//! until its process goes on: nothing that others do takes an action away without giving another, and what is matched stays matched.
//! So C is no standstill, and a standstill in M that contains C contains the next event of that process in M, and all before
//! it. (That event may be another choice than the one that is enabled, or one with a longer history.) Begin with the empty configuration, and add
//! what has to be added, until every enabled action is optional. Each standstill in M contains the result; and if all processes have ended
//! there, none is larger. O(n p) steps and lookups for n events of p processes, since each event is executed once.
//!
//! (`theory.md`, 13, asks the same of a prefix of the unfolding. For programs whose sends are either all buffered or not: S. F. Siegel and
//! G. S. Avrunin, *Modeling wildcard-free MPI programs for verification*, PPoPP 2005; S. Vakkalanka, A. Vo, G. Gopalakrishnan, R. M. Kirby, *Precise dynamic
//! analysis for slack elasticity*, EuroMPI 2010.)

use super::causal_past::happens_before;
use crate::model::{Locals, ProcessId, Schedule, State, System};

/// The least configuration of the class of `schedule` in which every enabled action is optional. `None` if somebody can go on who does not
/// go on in `schedule`, because that was cut.
pub fn standstill<'s, S: System>(
    system: &'s S,
    schedule: &Schedule,
) -> Option<(Locals<'s, S>, State)> {
    let (mut locals, order) = happens_before(system, schedule);
    let mut state = State::initial(&mut locals);
    // How many of its actions each process has made.
    let mut made: Vec<u32> = Vec::new();
    let mut missing: Vec<u32> = Vec::new();
    loop {
        let mover = { state.processes().find(|&process| goes_on(&mut locals, &state, process)) };
        let Some(process) = mover else { return Some((locals, state)) };
        let count = made.get(process.index()).copied().unwrap_or(0);
        let next = *order.of_process(process).get(count as usize)?;
        let clock = order.clock(next as usize);
        made.resize(made.len().max(clock.len()), 0);
        for (process, (made, &wanted)) in made.iter_mut().zip(clock).enumerate() {
            let actions = order.of_process(ProcessId(process as u32));
            missing.extend(&actions[*made as usize..wanted.max(*made) as usize]);
            *made = wanted.max(*made);
        }
        missing.sort_unstable();
        missing.drain(..).for_each(|at| state.step(&mut locals, schedule[at as usize]));
    }
}

/// Can it do something that is not optional, or does it wait at a poll although its loop would go on: to something else that is there, or
/// beyond the bound on polls?
fn goes_on<S: System>(locals: &mut Locals<'_, S>, state: &State, process: ProcessId) -> bool {
    if state.must_move(locals, process) {
        return true;
    }
    let round = state.round_of_polls(locals, process);
    let polls_on = round.is_some_and(|round| state.polls_on(locals, process, &round));
    polls_on || state.is_cut_at_poll(locals, process)
}
