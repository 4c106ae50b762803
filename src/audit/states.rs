//! The check of a list of states: each can be reached, none is there twice, and no step leads out
//! of the list.

use rustc_hash::FxHashMap;

use super::ends::{End, has_failure, is_broken, judge_end};
use super::text::kept;
use super::walk::has_meaning;
use super::{Claim, Refused};
use crate::model::{Action, Locals, Parts, ProcessId, Schedule, State, System};

/// What is the same in whatever way a state is reached.
#[derive(Clone, PartialEq, Eq)]
struct Sight {
    /// What the processes can do, and the states to which that leads.
    steps: Vec<(ProcessId, u32)>,
    /// May a step from here change an object?
    may_change: bool,
    /// Has a process failed, or does an invariant or a `final` block?
    is_wrong: bool,
    is_deadlocked: bool,
}

/// A list of states under audit.
pub(super) struct States<'a, 's, S: System> {
    list: &'a [Schedule],
    allow_pending: bool,
    locals: Locals<'s, S>,
    state: State,
    parts: Parts,
    /// The states met so far.
    numbers: FxHashMap<Box<[u32]>, u32>,
    /// By number: what there is to see, once it was seen.
    sights: Vec<Option<Sight>>,
    /// By number: the place in the list.
    places: Vec<Option<usize>>,
}

impl<'a, 's, S: System> States<'a, 's, S> {
    pub(super) fn new(system: &'s S, list: &'a [Schedule], allow_pending: bool) -> Self {
        let mut locals = Locals::new(system);
        States {
            list,
            allow_pending,
            state: State::initial(&mut locals),
            locals,
            parts: Parts::default(),
            numbers: FxHashMap::default(),
            sights: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Checks the list. Returns what is true of it.
    pub(super) fn check(mut self) -> Result<Claim, Refused> {
        let mut claim = Claim::default();
        self.number();
        for at in 0..self.list.len() {
            let sight = self.visit(at).map_err(|why| why.about(at))?;
            claim.add(sight.is_deadlocked, sight.is_deadlocked || sight.is_wrong);
        }
        if self.list.is_empty() {
            return Err(Refused::new("it has no state, and every program has one"));
        }
        if self.places[0].is_none() {
            return Err(Refused::new("the initial state is missing"));
        }
        for (at, sight) in self.places.iter().zip(&self.sights) {
            let mut steps = sight.iter().flat_map(|sight| &sight.steps);
            if let Some(at) = *at
                && steps.any(|&(_, next)| self.places[next as usize].is_none())
            {
                return Err(Refused::new("a state that follows is missing").about(at));
            }
        }
        self.find_standstill()?;
        Ok(claim)
    }

    /// Goes to the state at this place of the list, and to those directly after it.
    fn visit(&mut self, at: usize) -> Result<Sight, Refused> {
        let (way, list) = (&self.list[at], self.list);
        let previous: &[Action] = at.checked_sub(1).map_or(&[], |before| &list[before]);
        if at > 0 && previous >= &**way {
            return Err(Refused::new("it is not in order"));
        }
        while self.state.depth() > kept(previous, way) {
            self.state.undo(&self.locals);
        }
        for (index, &action) in way.iter().enumerate().skip(self.state.depth()) {
            let named = self.state.action_named(&self.locals, action);
            let enabled = self.enabled();
            let Some(action) = named.filter(|action| enabled.contains(action)) else {
                return Err(Refused::new(format!("its step {} is not possible", index + 1)));
            };
            self.step(action)?;
        }
        let number = self.number();
        if let Some(earlier) = self.places[number as usize].replace(at) {
            return Err(Refused::new(format!("it is the same as state {}", earlier + 1)));
        }
        for action in self.enabled() {
            self.step(action)?;
            self.look()?;
            self.state.undo(&self.locals);
        }
        self.look()
    }

    /// What there is to see here. It must be what there was to see in whatever other way this state
    /// was reached.
    fn look(&mut self) -> Result<Sight, Refused> {
        let enabled = self.enabled();
        let mut end = End { is_deadlocked: false, has_failed: false };
        match enabled.is_empty() {
            true => end = judge_end(&self.locals, &self.state, self.allow_pending)?,
            false => end.has_failed = has_failure(&self.locals, &self.state)?,
        }
        let invariants = self.locals.system().invariants();
        let is_broken = invariants.is_some_and(|all| is_broken(&self.locals, &self.state, all));
        let (mut steps, mut may_change) = (Vec::new(), false);
        for action in enabled {
            self.step(action)?;
            may_change |= !self.state.effect(&self.locals).is_observation();
            steps.push((action.process, self.number()));
            self.state.undo(&self.locals);
        }
        steps.sort_unstable();
        let End { is_deadlocked, has_failed } = end;
        let sight = Sight { steps, may_change, is_wrong: has_failed || is_broken, is_deadlocked };
        let number = self.number();
        let known = self.sights[number as usize].get_or_insert_with(|| sight.clone());
        match *known == sight {
            true => Ok(sight),
            false => Err(Refused::new("after another way to a state, something else may follow")),
        }
    }

    fn enabled(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.state.enabled(&self.locals, &mut actions);
        actions
    }

    fn step(&mut self, action: Action) -> Result<(), Refused> {
        self.state.step(&mut self.locals, action);
        has_meaning(&mut self.locals, &self.state, action.process)
    }

    /// The number of this state.
    fn number(&mut self) -> u32 {
        let mut portrait = Vec::new();
        self.state.portrait(&mut self.locals, &mut self.parts, &mut portrait);
        let next = self.sights.len() as u32;
        let number = *self.numbers.entry(portrait.into()).or_insert(next);
        if number == next {
            self.sights.push(None);
            self.places.push(None);
        }
        number
    }

    /// Refuses states after which the execution neither ends nor changes any object: a livelock, or
    /// daemons that wait in loops.
    fn find_standstill(&self) -> Result<(), Refused> {
        let seen = "all states are in the list";
        let sights = || self.sights.iter().map(|sight| sight.as_ref().expect(seen)).enumerate();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.sights.len()];
        for (number, sight) in sights() {
            sight.steps.iter().for_each(|&(_, next)| before[next as usize].push(number as u32));
        }
        let goes_on = |sight: &Sight| sight.may_change || sight.steps.is_empty();
        let mut open: Vec<u32> =
            sights().filter(|(_, sight)| goes_on(sight)).map(|(number, _)| number as u32).collect();
        let mut is_fine = vec![false; self.sights.len()];
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut is_fine[number as usize], true) {
                open.append(&mut before[number as usize]);
            }
        }
        match is_fine.iter().position(|is_fine| !is_fine) {
            Some(one) => Err(Refused::new("after it all wait in loops for ever")
                .about(self.places[one].expect(seen))),
            None => Ok(()),
        }
    }
}
