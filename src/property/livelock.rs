//! Livelocks: every process that can move only goes round a loop that waits.
//!
//! A process *spins* in a state if all that it can do there, alone, leaves every object as it was
//! and leads back to local states that it has been in: it reads the same again and again. If every
//! process that can move at all spins, nothing will ever change. That is a livelock, or an endless
//! program that does nothing more. If all that spin are daemons, it is an end like that of daemons
//! that are blocked. ([`crate::trace::spin`] says how such loops are kept out of executions.)

use rustc_hash::FxHashSet;

use crate::model::{Action, Choice, LocalId, Locals, Op, ProcessId, State, StopSignal, System};

/// A loop with more local states than this is assumed to make progress.
const LONGEST_CIRCLE: usize = 10_000;

/// A process that goes round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spin {
    /// Who.
    pub(crate) process: ProcessId,
    /// The local states that it passes through, from the present one on.
    pub(crate) circle: Vec<LocalId>,
}

/// What the processes that can move are doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Each of them spins. (In a terminal state there are none.)
    Round(Vec<Spin>),
    /// One of them can do something else, or could if it might poll in vain more often.
    On,
    /// One of them passes through more local states than are looked at, or there was no time to
    /// look.
    Unknown,
}

/// Looks for processes that spin.
#[derive(Debug, Default)]
pub struct Watch {
    stop: StopSignal,
    /// Local states from which a process was seen to go on and on.
    restless: FxHashSet<LocalId>,
}

impl Watch {
    /// The search for them ends when this is raised.
    pub(crate) fn new(stop: StopSignal) -> Self {
        Watch { stop, restless: FxHashSet::default() }
    }

    /// What the processes that can move are doing. When this returns, `state` is as before.
    pub fn motion<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &mut State) -> Motion {
        let movers = state.processes().filter(|&process| state.must_move(locals, process));
        let movers: Vec<_> = movers.collect();
        if !movers.iter().all(|&process| may_spin(locals, state.local(process))) {
            return Motion::On;
        }
        let Motion::Round(mut all) = polling(locals, state) else { return Motion::On };
        for process in movers {
            match self.circle(locals, state, process) {
                Ok(circle) => all.push(Spin { process, circle }),
                Err(motion) => return motion,
            }
        }
        Motion::Round(all)
    }

    /// Asks this in `state`, and in all states that these processes, which spin, lead to from
    /// there, until the answer is yes. Is it? `None` if they are too many. When this returns,
    /// `state` is as before.
    pub(crate) fn any_in_round<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
        spins: &[Spin],
        mut ask: impl FnMut(&Locals<'_, S>, &State) -> bool,
    ) -> Option<bool> {
        let start = state.depth();
        let mut known: FxHashSet<Vec<LocalId>> = FxHashSet::default();
        let mut pending: Vec<(usize, Option<Action>)> = vec![(start, None)];
        let mut answer = Some(false);
        while answer == Some(false)
            && let Some((depth, next)) = pending.pop()
        {
            while state.depth() > depth {
                state.undo(locals);
            }
            if let Some(action) = next {
                state.step(locals, action);
            }
            if !known.insert(spins.iter().map(|spin| state.local(spin.process)).collect()) {
                continue;
            }
            let is_too_much = known.len() > LONGEST_CIRCLE || self.stop.is_raised();
            answer = (!is_too_much).then(|| ask(locals, state));
            for &Spin { process, .. } in spins {
                let here = state.depth();
                state.choices(locals, process, |choice| {
                    pending.push((here, Some(Action { process, choice })));
                });
            }
        }
        while state.depth() > start {
            state.undo(locals);
        }
        answer
    }

    /// The local states that the process passes through, alone, if it spins.
    fn circle<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
        process: ProcessId,
    ) -> Result<Vec<LocalId>, Motion> {
        let start = state.depth();
        let mut met = vec![state.local(process)];
        let mut known: FxHashSet<LocalId> = met.iter().copied().collect();
        let mut pending: Vec<(usize, Choice)> = Vec::new();
        state.choices(locals, process, |choice| pending.push((start, choice)));
        let mut found = Ok(());
        while found.is_ok()
            && let Some((depth, choice)) = pending.pop()
        {
            while state.depth() > depth {
                state.undo(locals);
            }
            state.step(locals, Action { process, choice });
            let local = state.local(process);
            if !state.effect(locals).is_observation() {
                found = Err(Motion::On);
            } else if known.insert(local) {
                met.push(local);
                let (before, here) = (pending.len(), state.depth());
                state.choices(locals, process, |choice| pending.push((here, choice)));
                if self.restless.contains(&local)
                    || met.len() > LONGEST_CIRCLE
                    || self.stop.is_raised()
                {
                    self.restless.extend(&met);
                    found = Err(Motion::Unknown);
                } else if pending.len() == before || !may_spin(locals, local) {
                    found = Err(Motion::On);
                }
            }
        }
        while state.depth() > start {
            state.undo(locals);
        }
        found.map(|()| met)
    }
}

/// Is it a livelock that these processes go round for ever? Not if all of them are daemons: those
/// may wait, in a loop or not.
pub(crate) fn is_livelock<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    spins: &[Spin],
) -> bool {
    spins.iter().any(|spin| !locals.is_daemon(state.local(spin.process)))
}

/// What the processes are doing that have polled the network in vain so often that they now wait.
/// If nothing else can move, they poll for ever, or one of them looks next at something that is
/// there, or only the bound on polls keeps one of them from going on.
pub fn polling<S: System>(locals: &mut Locals<'_, S>, state: &State) -> Motion {
    let mut all = Vec::new();
    if !state.has_carriers() {
        return Motion::Round(all);
    }
    for process in state.processes() {
        if state.is_cut_at_poll(locals, process) {
            return Motion::On;
        }
        let Some(round) = state.round_of_polls(locals, process) else { continue };
        if state.polls_on(locals, process, &round) {
            return Motion::On;
        }
        all.push(Spin { process, circle: round.into_vec() });
    }
    Motion::Round(all)
}

/// May a process in this local state go on without changing anything, and come back to it?
pub(crate) fn may_spin<S: System>(locals: &Locals<'_, S>, local: LocalId) -> bool {
    locals.may_return(local) && locals.op(local).is_some_and(Op::may_observe)
}
