//! Livelocks: every process that can move only repeats a loop that waits.
//!
//! A process *spins* in a state if everything that it can do there alone leaves all objects
//! unchanged and leads back to earlier local states: it reads the same values for ever. If every
//! process that can move spins, nothing will ever change. That is a livelock. If all processes that
//! spin are daemons, it is a normal end, like one where daemons are blocked.
//! ([`crate::trace::spin`] says how executions leave out such loops.)
//!
//! Faults do not count: a process that spins unless it crashes spins, since nothing makes it crash.
//! Nor does the bound on polls: a poll may miss any number of times. Once a process has learnt that
//! a communication is complete, no poll misses it, so that step leads to another state.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::{DiGraphMap, NodeTrait};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    Action, Choice, Incident, Lane, LocalId, Locals, Op, Probing, ProcessId, State, StopSignal,
    System,
};
use crate::trace::Turn;

/// A loop with more local states than this is assumed to make progress.
const LONGEST_LOOP: usize = 10_000;

/// A process that spins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spin {
    /// The process.
    pub(crate) process: ProcessId,
    /// The local states through which it passes, beginning with the present one.
    pub(crate) passes: Vec<LocalId>,
    /// Those that it never leaves for good. The others are on its way into a loop.
    pub(crate) lasting: FxHashSet<LocalId>,
}

/// Is each of these processes in a loop that it never leaves in `state`, and not on its way there?
pub(crate) fn is_lasting(state: &State, spins: &[Spin]) -> bool {
    spins.iter().all(|spin| spin.lasting.contains(&state.local(spin.process)))
}

/// What the processes that can move do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Each of them spins. (In a terminal state there are none.)
    Round(Vec<Spin>),
    /// One of them can do something else, or could do so with a higher bound on unsuccessful polls.
    On,
    /// One of them passes through more than `LONGEST_LOOP` local states, or the time is over.
    Unknown,
}

/// Searches for processes that spin.
#[derive(Debug, Default)]
pub struct Watch {
    stop: StopSignal,
    /// Local states from which a process passes through more than [`LONGEST_LOOP`] others.
    restless: FxHashSet<LocalId>,
    /// The registers at which the last loop has looked.
    registers: Vec<Lane>,
    /// Does the process in the last loop come to where it waits until nothing else can happen?
    waits_for_all: bool,
}

impl Watch {
    /// The search ends when `stop` is raised.
    pub(crate) fn new(stop: StopSignal) -> Self {
        Watch { stop, ..Watch::default() }
    }

    /// What the processes that can move do. When this returns, `state` is as before.
    pub fn motion<S: System>(&mut self, locals: &mut Locals<'_, S>, state: &mut State) -> Motion {
        self.motion_of(locals, state, Counted::All)
    }

    /// The same if nothing happens that need not happen ([`State::is_optional`]).
    pub fn least_motion<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
    ) -> Motion {
        self.motion_of(locals, state, Counted::Duties)
    }

    fn motion_of<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
        counted: Counted,
    ) -> Motion {
        let movers = state.processes().filter(|&process| state.must_move(locals, process));
        let movers: Vec<_> = movers.collect();
        if !movers.iter().all(|&process| may_spin(locals, state.local(process))) {
            return Motion::On;
        }
        let Motion::Round(mut all) = polling(locals, state) else { return Motion::On };
        if state.processes().any(|process| waits_for_all(locals, state.local(process))) {
            return self.circles(locals, state, counted);
        }
        for process in movers {
            match self.circle(locals, state, process, counted) {
                Ok(spin) => all.push(spin),
                Err(_) if self.waits_for_all => return self.circles(locals, state, counted),
                Err(motion) => return motion,
            }
        }
        Motion::Round(all)
    }

    /// What the processes do together, if what one of them can do depends on whether others can
    /// move ([`Probing::WhenStuck`]).
    fn circles<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
        counted: Counted,
    ) -> Motion {
        let start = state.depth();
        let all: Vec<ProcessId> = state.processes().collect();
        let here = |state: &State| -> Vec<LocalId> {
            all.iter().map(|&process| state.local(process)).collect()
        };
        let mut places = vec![here(state)];
        let mut numbers: FxHashMap<Vec<LocalId>, u32> = FxHashMap::default();
        numbers.insert(here(state), 0);
        let mut ways: Vec<(u32, u32)> = Vec::new();
        let mut open = vec![(start, None)];
        let mut moves: FxHashSet<(ProcessId, u32)> = FxHashSet::default();
        let mut motion = None;
        while motion.is_none()
            && let Some((depth, next)) = open.pop()
        {
            while state.depth() > depth {
                state.undo(locals);
            }
            let from = numbers[&here(state)];
            let mut place = from;
            let mut is_new = next.is_none();
            if let Some(action) = next {
                state.step(locals, action);
                let number = places.len() as u32;
                place = *numbers.entry(here(state)).or_insert(number);
                ways.push((from, place));
                is_new = place == number;
                if !is_observation(locals, state) {
                    motion = Some(Motion::On);
                }
            }
            if motion.is_some() || !is_new {
                continue;
            }
            if next.is_some() {
                places.push(here(state));
            }
            if places.len() > LONGEST_LOOP || self.stop.is_raised() {
                motion = Some(Motion::Unknown);
            }
            let (before, here) = (open.len(), state.depth());
            let mut is_cut = false;
            for &process in &all {
                counted.choices(locals, state, process, |choice| {
                    moves.insert((process, place));
                    open.push((here, Some(Action { process, choice })));
                });
                is_cut |= state.is_cut_at_poll(locals, process);
            }
            if open.len() == before || is_cut {
                motion = Some(Motion::On);
            }
        }
        while state.depth() > start {
            state.undo(locals);
        }
        motion.unwrap_or_else(|| {
            let rounds = rounds(&ways);
            let movers: FxHashSet<ProcessId> = moves.iter().map(|&(process, _)| process).collect();
            let goes_round = |&process: &ProcessId| {
                let moves_in = |&place: &u32| moves.contains(&(process, place));
                rounds.iter().all(|round| round.iter().any(moves_in))
            };
            if !movers.iter().all(goes_round) {
                // It moves to its end, or to where it waits for others.
                return Motion::On;
            }
            let stay: Vec<u32> = rounds.into_iter().flatten().collect();
            let spin = |(index, &process): (usize, &ProcessId)| {
                let mut passes: Vec<LocalId> = places.iter().map(|place| place[index]).collect();
                let mut known = FxHashSet::default();
                passes.retain(|&local| known.insert(local));
                let lasting = stay.iter().map(|&number| places[number as usize][index]).collect();
                Spin { process, passes, lasting }
            };
            let all = all.iter().enumerate().filter(|(_, process)| movers.contains(process));
            Motion::Round(all.map(spin).collect())
        })
    }

    /// Is the answer of `ask` yes in `state`, or in a state to which these processes, which spin,
    /// lead from there? `None` if there are more than [`LONGEST_LOOP`] such states. When this
    /// returns, `state` is as before.
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
            let is_too_much = known.len() > LONGEST_LOOP || self.stop.is_raised();
            answer = (!is_too_much).then(|| ask(locals, state));
            for &Spin { process, .. } in spins {
                let here = state.depth();
                Counted::All.within_bound(locals, state, process, |choice| {
                    pending.push((here, Some(Action { process, choice })));
                });
            }
        }
        while state.depth() > start {
            state.undo(locals);
        }
        answer
    }

    /// What the process does, which has to move, if nothing happens that need not happen. `None` if
    /// its loop is too long.
    pub(crate) fn turn<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
        process: ProcessId,
    ) -> Option<Turn> {
        if !may_spin(locals, state.local(process)) {
            return Some(Turn::GoesOn);
        }
        match self.circle(locals, state, process, Counted::Duties) {
            Ok(_) => Some(Turn::Rests),
            Err(Motion::Unknown) => None,
            Err(_) if self.registers.is_empty() => Some(Turn::GoesOn),
            Err(_) => Some(Turn::Leaves(self.registers.clone())),
        }
    }

    /// What the process does, if it spins. Sets `registers`.
    fn circle<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
        process: ProcessId,
        counted: Counted,
    ) -> Result<Spin, Motion> {
        self.registers.clear();
        self.waits_for_all = false;
        let start = state.depth();
        let mut passes = vec![state.local(process)];
        let mut known: FxHashSet<LocalId> = passes.iter().copied().collect();
        let mut ways: Vec<(LocalId, LocalId)> = Vec::new();
        let mut pending: Vec<(usize, Choice)> = Vec::new();
        counted.choices(locals, state, process, |choice| pending.push((start, choice)));
        let mut found = Ok(());
        while found.is_ok()
            && let Some((depth, choice)) = pending.pop()
        {
            while state.depth() > depth {
                state.undo(locals);
            }
            let before = state.local(process);
            let register = locals.op(before).and_then(|op| state.register(op));
            self.registers.extend(register.filter(|register| !self.registers.contains(register)));
            state.step(locals, Action { process, choice });
            let local = state.local(process);
            ways.push((before, local));
            self.waits_for_all = waits_for_all(locals, local);
            if self.waits_for_all || !is_observation(locals, state) {
                found = Err(Motion::On);
            } else if known.insert(local) {
                passes.push(local);
                let (before, here) = (pending.len(), state.depth());
                counted.choices(locals, state, process, |choice| pending.push((here, choice)));
                let beyond = state.beyond_bound(locals, process);
                let is_cut = beyond.is_some_and(|after| {
                    state.is_new_way(process, after) && !known.contains(&after)
                });
                if self.restless.contains(&local)
                    || passes.len() > LONGEST_LOOP
                    || self.stop.is_raised()
                {
                    self.restless.extend(&passes);
                    found = Err(Motion::Unknown);
                } else if pending.len() == before || is_cut || !may_spin(locals, local) {
                    found = Err(Motion::On);
                }
            }
        }
        while state.depth() > start {
            state.undo(locals);
        }
        found.map(|()| Spin {
            process,
            passes,
            lasting: rounds(&ways).into_iter().flatten().collect(),
        })
    }
}

/// The places to which these ways lead back from wherever they lead to, those of each circle
/// together. Each has a way on.
fn rounds<N: NodeTrait>(ways: &[(N, N)]) -> Vec<Vec<N>> {
    let graph: DiGraphMap<N, ()> = ways.iter().copied().collect();
    let stay = |all: &Vec<N>| {
        let all: FxHashSet<N> = all.iter().copied().collect();
        all.iter().all(|&one| graph.neighbors(one).all(|next| all.contains(&next)))
    };
    tarjan_scc(&graph).into_iter().filter(stay).collect()
}

/// Has the last action changed nothing, and told its process nothing that it will not forget?
fn is_observation<S: System>(locals: &Locals<'_, S>, state: &State) -> bool {
    let last = state.depth() - 1;
    let Action { process, choice } = state.action(last);
    let op = locals.op(state.before(last)).expect("a process that moved");
    state.effect(locals).is_observation() && !state.tells(process, (op, choice), last)
}

/// Does the process wait in this local state until nothing else can happen?
fn waits_for_all<S: System>(locals: &Locals<'_, S>, local: LocalId) -> bool {
    matches!(locals.op(local), Some(Op::Probe { form: Probing::WhenStuck, .. }))
}

/// The actions that count as moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    All,
    /// Those that are not optional.
    Duties,
}

impl Counted {
    /// Calls `each` with the moves of the process: no faults, and polls without a bound.
    fn choices<S: System>(
        self,
        locals: &mut Locals<'_, S>,
        state: &State,
        process: ProcessId,
        mut each: impl FnMut(Choice),
    ) {
        self.within_bound(locals, state, process, &mut each);
        if state.beyond_bound(locals, process).is_some() {
            each(Choice::NOTHING);
        }
    }

    /// The same, with the bound on polls.
    fn within_bound<S: System>(
        self,
        locals: &Locals<'_, S>,
        state: &State,
        process: ProcessId,
        mut each: impl FnMut(Choice),
    ) {
        let local = state.local(process);
        state.choices(locals, process, |choice| {
            let is_optional =
                || self == Counted::Duties && state.is_optional(locals, Action { process, choice });
            let is_fault = || locals.incident(local, choice).is_some_and(Incident::is_fault);
            if !is_fault() && !is_optional() {
                each(choice);
            }
        });
    }
}

/// Is it a livelock if these processes spin? Not if all of them are daemons, which may wait for
/// ever, in a loop or blocked, nor if a process excuses them.
pub(crate) fn is_livelock<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    spins: &[Spin],
) -> bool {
    let is_excused = state.processes().any(|process| locals.excuses(state.local(process)));
    !is_excused && spins.iter().any(|spin| !locals.is_daemon(state.local(spin.process)))
}

/// The state before the last misses of the processes that spin, if they have missed. From there
/// they come to the points of their loops within the bound on polls. O(n) for n actions.
pub(crate) fn before_misses<S: System>(
    locals: &mut Locals<'_, S>,
    state: &State,
    spins: &[Spin],
) -> Option<State> {
    let all: Vec<Action> = state.schedule().collect();
    let mut is_kept = vec![true; all.len()];
    for spin in spins {
        let own = (0..all.len()).rev().filter(|&at| all[at].process == spin.process);
        own.take_while(|&at| all[at].choice == Choice::NOTHING).for_each(|at| is_kept[at] = false);
    }
    if is_kept.iter().all(|&is_kept| is_kept) {
        return None;
    }
    let mut before = State::initial(locals);
    let kept = all.into_iter().zip(is_kept).filter(|&(_, is_kept)| is_kept);
    kept.for_each(|(action, _)| before.step(locals, action));
    Some(before)
}

/// What the processes do that wait because of the bound on unsuccessful polls
/// ([`max_polls`](crate::model::Semantics::max_polls)). `Motion::On` if one of them would go on:
/// what it polls next in its loop is there, or it would go on in a new way with a higher bound.
/// Otherwise they poll for ever if nothing else can move.
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
        let round = round.into_vec();
        all.push(Spin { process, lasting: round.iter().copied().collect(), passes: round });
    }
    Motion::Round(all)
}

/// May a process in this local state come back to it without changing an object?
pub(crate) fn may_spin<S: System>(locals: &Locals<'_, S>, local: LocalId) -> bool {
    locals.may_return(local) && locals.op(local).is_some_and(Op::may_observe)
}
