//! The check of the events of a prefix: it is the complete finite prefix of the unfolding.
//!
//! An event e is its last step with its past, \[e\] without e. Two events depend on each other if
//! one changes a line that the other one looks at ([`super::pieces`]). \[e\] is replayed to see
//! what e looks at, and what it changes. The condition of a line after a configuration is the last
//! event that changed it; 0 is the start.
//!
//! **Closed.** A process at a condition of its line, after an event that is no cutoff, looks at one
//! line after the other. Each condition of that line is tried that can be in one configuration with
//! those chosen before. What the process can do then is an event, whose past is the union of those
//! of the chosen conditions. If it changes what others have read, it may come after any set of
//! these reads, and is another event for each. All these events have to be in the list, and no
//! others.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::Refused;
use super::ends::has_failure;
use super::pieces::{Code, Codes, Known, Line, Made, Part, Pieces};
use super::text::kept;
use crate::model::{Action, Choice, LocalId, Schedule, System};

/// The place of an event in the list, from 1 on; 0 is the start.
pub(super) type Place = u32;

/// Lines, each with the last event that changed it.
type Conditions = SmallVec<[(Line, Place); 4]>;

/// A line that an event looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    pub(super) line: Line,
    /// The last event before it that changed the line.
    pub(super) before: Place,
    pub(super) is_changed: bool,
}

/// An event of the list.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) line: Line,
    /// The code of its own line afterwards.
    pub(super) own: Code,
    pub(super) letter: u32,
    pub(super) level: u32,
    pub(super) touched: SmallVec<[Touched; 4]>,
    actions: SmallVec<[Action; 2]>,
    /// \[e\]
    pub(super) local: Configuration,
    /// The number of the state after \[e\].
    pub(super) state: u32,
    pub(super) is_cutoff: bool,
    is_found: bool,
}

impl Event {
    /// \[e\] without e.
    pub(super) fn past(&self) -> &[Place] {
        &self.local.events[..self.local.events.len() - 1]
    }
}

/// A set of events with all their causes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Configuration {
    /// In ascending order, which is an order in which they can happen.
    pub(super) events: Vec<Place>,
    /// The condition of each line.
    cut: Vec<Place>,
}

impl Configuration {
    pub(super) fn has(&self, event: Place) -> bool {
        event == 0 || self.events.binary_search(&event).is_ok()
    }

    pub(super) fn at(&self, line: Line) -> Place {
        self.cut.get(line as usize).copied().unwrap_or(0)
    }

    fn insert(&mut self, event: Place, touched: &[Touched]) {
        let at = self.events.partition_point(|&one| one < event);
        self.events.insert(at, event);
        for one in touched.iter().filter(|one| one.is_changed) {
            let length = self.cut.len().max(one.line as usize + 1);
            self.cut.resize(length, 0);
            self.cut[one.line as usize] = event;
        }
    }

    /// The union with a configuration that is compatible.
    fn join(&mut self, other: &Configuration) {
        self.events.extend_from_slice(&other.events);
        self.events.sort_unstable();
        self.events.dedup();
        self.cut.resize(self.cut.len().max(other.cut.len()), 0);
        self.cut.iter_mut().zip(&other.cut).for_each(|(one, &other)| *one = other.max(*one));
    }
}

/// What makes a letter: a step and all that it depends on. The effect is given where it is what
/// tells choices apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Letter {
    line: Line,
    part: Part,
    seen: Codes,
    choice: i32,
    effect: Option<(Code, Codes)>,
}

/// A step with what it depends on.
struct Step {
    line: Line,
    part: Part,
    looked: SmallVec<[Line; 4]>,
    made: Made,
}

/// The events of a list under audit.
pub(super) struct Events<'s, S: System> {
    pub(super) net: Pieces<'s, S>,
    /// By place, without the start.
    pub(super) events: Vec<Event>,
    known: FxHashMap<(u32, Vec<Place>), Place>,
    letters: FxHashMap<Letter, (u32, (Code, Codes))>,
    states: FxHashMap<Vec<Code>, u32>,
    /// What processes can do, by the conditions that they have looked at, their own first.
    found: FxHashMap<(Part, Conditions), Known>,
    /// The events that are no cutoffs and change, or only read, this line at this condition.
    pub(super) changers: FxHashMap<(Line, Place), Vec<Place>>,
    pub(super) readers: FxHashMap<(Line, Place), Vec<Place>>,
    /// The codes of lines at their conditions, and the local states of processes.
    codes: FxHashMap<(Line, Place), Code>,
    pub(super) locals: FxHashMap<(Line, Place), LocalId>,
    /// Those conditions where the process has not ended.
    pub(super) unfinished: FxHashSet<(Line, Place)>,
    pub(super) has_failed: bool,
    /// The events that led to the state of the model, with the number of actions after each.
    path: Vec<(Place, usize)>,
}

impl<'s, S: System> Events<'s, S> {
    /// Replays all events, and says which are cutoffs.
    pub(super) fn read(
        system: &'s S,
        queued: BTreeSet<u32>,
        list: &[Schedule],
    ) -> Result<Self, Refused> {
        let mut events = Events {
            net: Pieces::new(system, queued),
            events: Vec::new(),
            known: FxHashMap::default(),
            letters: FxHashMap::default(),
            states: FxHashMap::default(),
            found: FxHashMap::default(),
            changers: FxHashMap::default(),
            readers: FxHashMap::default(),
            codes: FxHashMap::default(),
            locals: FxHashMap::default(),
            unfinished: FxHashSet::default(),
            has_failed: false,
            path: Vec::new(),
        };
        let start = 0..events.net.codes().len() as Line;
        events.note_state(0, start);
        events.has_failed = has_failure(&events.net.locals, &events.net.state)?;
        let mut previous: &[Action] = &[];
        let mut trail = Vec::new();
        for (at, schedule) in list.iter().enumerate() {
            let kept = kept(previous, schedule);
            trail.retain(|&(_, done)| done <= kept);
            events.replay(schedule, &mut trail).map_err(|why| why.about(at))?;
            previous = schedule;
        }
        events.find_cutoffs()?;
        Ok(events)
    }

    pub(super) fn event(&self, place: Place) -> &Event {
        &self.events[place as usize - 1]
    }

    /// Replays the local configuration of a new event. Its first events are known, each with the
    /// number of actions after it; `trail` has all of them afterwards.
    fn replay(
        &mut self,
        schedule: &Schedule,
        trail: &mut Vec<(Place, usize)>,
    ) -> Result<(), Refused> {
        let (mut here, known) = (Configuration::default(), self.events.len());
        for &(event, _) in &*trail {
            here.insert(event, &self.event(event).touched);
        }
        let mut done = trail.last().map_or(0, |&(_, done)| done);
        while done < schedule.len() {
            self.go_to(&here.events)?;
            let Some(action) = self.net.state.action_named(&self.net.locals, schedule[done]) else {
                return Err(Refused::new(format!("its step {} is not possible", done + 1)));
            };
            let step = self.step(action, &here)?;
            let (letter, touched, past) = self.identify(&step, &here)?;
            let wait = Action { choice: Choice::ONLY, ..schedule[done] };
            if step.made.actions.len() > 1 && schedule.get(done + 1) != Some(&wait) {
                self.go_to(&here.events)?;
                let mutex = self.net.asks(action.process).expect("two actions lock a mutex");
                return Err(self.net.queue(mutex));
            }
            done += step.made.actions.len();
            let place = self.known.get(&(letter, past.events.clone())).copied();
            let place = match (place, done >= schedule.len()) {
                (Some(place), false) => place,
                (None, true) if past == here => self.add(step, letter, touched.clone(), past)?,
                (None, true) => {
                    return Err(Refused::new("it has steps that it does not come after"));
                }
                (None, false) => return Err(Refused::new("one of its causes is not before it")),
                (Some(_), true) => return Err(Refused::new("it is the same as an earlier one")),
            };
            here.insert(place, &touched);
            trail.push((place, done));
        }
        match self.events.len() == known {
            true => Err(Refused::new("it is the same as an earlier one")),
            false => Ok(()),
        }
    }

    fn cut(&mut self, length: usize) {
        self.path.truncate(length);
        self.net.back_to(self.path.last().map_or(0, |&(_, depth)| depth));
    }

    /// Brings the model to the state after a configuration.
    pub(super) fn go_to(&mut self, events: &[Place]) -> Result<(), Refused> {
        let both = self.path.iter().zip(events);
        let common = both.take_while(|((one, _), other)| one == *other).count();
        self.cut(common);
        for &event in &events[common..] {
            self.net.carry_out(&self.events[event as usize - 1].actions)?;
            self.path.push((event, self.net.state.depth()));
        }
        Ok(())
    }

    /// What the process of a line can do, of this part, after it has looked at these lines, whose
    /// conditions are those of the smallest configuration that has them.
    fn go_on(
        &mut self,
        line: Line,
        part: Part,
        looked: &[Line],
        here: &Configuration,
    ) -> Result<Known, Refused> {
        let conditions = looked.iter().map(|&line| (line, here.at(line))).collect();
        if let Some(known) = self.found.get(&(part, conditions)) {
            return Ok(known.clone());
        }
        self.go_to(&here.events)?;
        let known = self.net.go_on(line, part, looked)?;
        let conditions = looked.iter().map(|&line| (line, here.at(line))).collect();
        self.found.insert((part, conditions), known.clone());
        Ok(known)
    }

    /// The step that begins with this action after a configuration, and what it looks at.
    fn step(&mut self, action: Action, here: &Configuration) -> Result<Step, Refused> {
        let line = self.net.line_of(action.process);
        let part = self.net.part_of(action);
        let (mut looked, mut next): (SmallVec<[Line; 4]>, _) = (SmallVec::new(), line);
        let mut seen = Configuration::default();
        let steps = loop {
            looked.push(next);
            if here.at(next) != 0 {
                seen.join(&self.event(here.at(next)).local);
            }
            match self.go_on(line, part, &looked, &seen)? {
                Known::Look(line) => next = line,
                Known::Steps(steps) => break steps,
            }
        };
        let made = match (steps.into_iter().find(|made| made.actions[0] == action), part) {
            (Some(made), _) => made,
            (None, Part::Message(..)) => {
                // It takes another message that is equal.
                self.go_to(&here.events)?;
                self.net.step(line, smallvec![action])?.0
            }
            (None, _) => return Err(Refused::new("a step is none of the unfolding")),
        };
        Ok(Step { line, part, looked, made })
    }

    /// The letter of a step after a configuration, the lines that it touches, and its causes.
    fn identify(
        &mut self,
        step: &Step,
        here: &Configuration,
    ) -> Result<(u32, SmallVec<[Touched; 4]>, Configuration), Refused> {
        let next = self.letters.len() as u32;
        let effect = (step.made.own, step.made.changes.clone());
        let letter = self.letter(step, here);
        let known = self.letters.entry(letter).or_insert((next, effect.clone()));
        if known.1 != effect {
            return Err(Refused::new("a step depends on what it does not look at"));
        }
        let letter = known.0;
        let touched = touched(step, here);
        let mut past = Configuration::default();
        for one in &touched {
            if one.before != 0 {
                past.join(&self.events[one.before as usize - 1].local);
            }
        }
        for one in touched.iter().filter(|one| one.is_changed) {
            for &event in &here.events {
                let other = &self.events[event as usize - 1];
                let reads = |it: &Touched| (it.line, it.before) == (one.line, one.before);
                if other.touched.iter().any(reads) && !past.has(event) {
                    past.join(&other.local);
                }
            }
        }
        Ok((letter, touched, past))
    }

    /// Adds an event.
    fn add(
        &mut self,
        step: Step,
        letter: u32,
        touched: SmallVec<[Touched; 4]>,
        past: Configuration,
    ) -> Result<Place, Refused> {
        let place = self.events.len() as Place + 1;
        self.go_to(&past.events)?;
        self.net.carry_out(&step.made.actions)?;
        self.path.push((place, self.net.state.depth()));
        self.has_failed |= has_failure(&self.net.locals, &self.net.state)?;
        self.known.insert((letter, past.events.clone()), place);
        let levels = past.events.iter().map(|&event| self.events[event as usize - 1].level);
        let level = levels.max().unwrap_or(0) + 1;
        let mut local = past;
        local.insert(place, &touched);
        let changed = touched.iter().filter(|one| one.is_changed).map(|one| one.line);
        let changed: SmallVec<[Line; 4]> = changed.collect();
        let state = self.note_state(place, changed);
        self.events.push(Event {
            line: step.line,
            own: step.made.own,
            letter,
            level,
            touched,
            actions: step.made.actions,
            local,
            state,
            is_cutoff: false,
            is_found: false,
        });
        Ok(place)
    }

    /// Numbers the state here, and notes the local states of these lines.
    fn note_state(&mut self, place: Place, lines: impl IntoIterator<Item = Line>) -> u32 {
        let mut codes = self.net.codes();
        for line in lines {
            self.codes.insert((line, place), codes.get(line as usize).copied().unwrap_or(0));
            if let Some(local) = self.net.local(line) {
                self.locals.insert((line, place), local);
                if self.net.is_unfinished(line) {
                    self.unfinished.insert((line, place));
                }
            }
        }
        codes.truncate(codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1));
        let next = self.states.len() as u32;
        *self.states.entry(codes).or_insert(next)
    }

    /// Checks that no event is missing, and that none is too many.
    pub(super) fn close(&mut self) -> Result<(), Refused> {
        let start = self.net.pieces.len() as Line;
        let mut conditions: Vec<(Line, Place)> = Vec::new();
        conditions.extend((0..start).map(|line| (line, 0)));
        for (place, event) in (1..).zip(&self.events) {
            let changed = event.touched.iter().filter(|one| one.is_changed && !event.is_cutoff);
            conditions.extend(changed.map(|one| (one.line, place)));
        }
        for (line, place) in conditions {
            if self.net.moves(line) {
                let here = match place {
                    0 => Configuration::default(),
                    place => self.event(place).local.clone(),
                };
                self.go_to(&here.events)?;
                for part in self.net.parts_of(line) {
                    self.look(line, part, &here, &[line])?;
                }
            }
        }
        match self.events.iter().position(|event| !event.is_found) {
            None => Ok(()),
            Some(at) => Err(Refused::new("it is no event of the unfolding").about(at)),
        }
    }

    /// Goes through all that a process may see that has looked at these lines, whose conditions are
    /// those of a configuration.
    fn look(
        &mut self,
        line: Line,
        part: Part,
        here: &Configuration,
        looked: &[Line],
    ) -> Result<(), Refused> {
        match self.go_on(line, part, looked, here)? {
            Known::Look(next) => {
                let all: Vec<Line> = looked.iter().copied().chain([next]).collect();
                let mut open = vec![here.at(next)];
                while let Some(condition) = open.pop() {
                    // If it cannot be there, none can that comes after it.
                    if let Some(joined) = self.with(here, condition, looked)
                        && joined.at(next) == condition
                    {
                        self.look(line, part, &joined, &all)?;
                        let after = self.changers.get(&(next, condition));
                        open.extend(after.into_iter().flatten());
                    }
                }
                Ok(())
            }
            Known::Steps(steps) => {
                for made in steps {
                    let looked = looked.into();
                    self.expect(&Step { line, part, looked, made }, here)?;
                }
                Ok(())
            }
        }
    }

    /// The smallest configuration that contains this one and an event, if there is one in which the
    /// conditions of these lines are the same.
    fn with(&self, here: &Configuration, event: Place, lines: &[Line]) -> Option<Configuration> {
        if here.has(event) {
            return Some(here.clone());
        }
        let other = &self.event(event).local;
        let stays = |&line: &Line| here.has(other.at(line));
        if !lines.iter().all(stays) || !self.are_compatible(&here.events, &other.events) {
            return None;
        }
        let mut joined = here.clone();
        joined.join(other);
        lines.iter().all(|&line| joined.at(line) == here.at(line)).then_some(joined)
    }

    /// Are two configurations part of one? Then events of only one of them and events of only the
    /// other one are independent.
    fn are_compatible(&self, one: &[Place], other: &[Place]) -> bool {
        let only = |one: &[Place], other: &[Place]| -> Vec<Place> {
            one.iter().filter(|event| other.binary_search(event).is_err()).copied().collect()
        };
        let mut touched: FxHashMap<Line, bool> = FxHashMap::default();
        for event in only(one, other) {
            for it in &self.event(event).touched {
                *touched.entry(it.line).or_default() |= it.is_changed;
            }
        }
        let meets = |it: &Touched| {
            touched.get(&it.line).is_some_and(|&is_changed| is_changed || it.is_changed)
        };
        !only(other, one).iter().any(|&event| self.event(event).touched.iter().any(meets))
    }

    /// Checks that a step after a configuration is in the list, after each set of reads.
    fn expect(&mut self, step: &Step, here: &Configuration) -> Result<(), Refused> {
        let effect = (step.made.own, step.made.changes.clone());
        let Some((letter, known)) = self.letters.get(&self.letter(step, here)) else {
            return Err(self.missing(step, here));
        };
        if *known != effect {
            return Err(Refused::new("a step depends on what it does not look at"));
        }
        let letter = *letter;
        let touched = touched(step, here);
        let changed = touched.iter().filter(|one| one.is_changed);
        let reads = changed.filter_map(|one| self.readers.get(&(one.line, one.before)));
        let reads: Vec<Place> = reads.flatten().copied().collect();
        let lines: SmallVec<[Line; 4]> = touched.iter().map(|one| one.line).collect();
        let mut seen: FxHashSet<Vec<Place>> = FxHashSet::default();
        let mut open = vec![here.clone()];
        while let Some(past) = open.pop() {
            if !seen.insert(past.events.clone()) {
                continue;
            }
            match self.known.get(&(letter, past.events.clone())) {
                Some(&place) => self.events[place as usize - 1].is_found = true,
                None => return Err(self.missing(step, &past)),
            }
            for &read in reads.iter().filter(|&&read| !past.has(read)) {
                open.extend(self.with(&past, read, &lines));
            }
        }
        Ok(())
    }

    /// The letter of a step after a configuration.
    fn letter(&self, step: &Step, here: &Configuration) -> Letter {
        let &Step { line, part, ref looked, ref made } = step;
        let code = |&line: &Line| (line, self.code((line, here.at(line))));
        let mut seen: Codes = looked.iter().map(code).collect();
        seen.sort_unstable();
        let (choice, effect) = match part {
            Part::Whole => (made.actions[0].choice.0, None),
            Part::Reaction(_) => (0, None),
            Part::Message(..) | Part::Nothing(_) => (0, Some((made.own, made.changes.clone()))),
        };
        Letter { line, part, seen, choice, effect }
    }

    fn missing(&mut self, step: &Step, past: &Configuration) -> Refused {
        let made = self.go_to(&past.events).and_then(|()| self.net.carry_out(&step.made.actions));
        let schedule = Schedule::of(&self.net.state);
        self.cut(0);
        match made {
            Ok(()) => Refused::new(format!("an event is missing, the last one of {schedule}")),
            Err(why) => why,
        }
    }

    /// The configuration with these events.
    pub(super) fn configuration(&self, events: &[Place]) -> Configuration {
        let mut all = Configuration::default();
        events.iter().for_each(|&event| all.insert(event, &self.event(event).touched));
        all
    }

    /// The code of a line at a condition.
    pub(super) fn code(&self, condition: (Line, Place)) -> Code {
        self.codes.get(&condition).copied().unwrap_or(0)
    }
}

/// The lines that a step touches after a configuration.
fn touched(step: &Step, here: &Configuration) -> SmallVec<[Touched; 4]> {
    let Step { line, looked, made, .. } = step;
    let is_changed = |at: Line| at == *line || made.changes.iter().any(|&(one, _)| one == at);
    let new = made.changes.iter().map(|&(line, _)| line).filter(|line| !looked.contains(line));
    let lines = looked.iter().copied().chain(new);
    lines
        .map(|line| Touched { line, before: here.at(line), is_changed: is_changed(line) })
        .collect()
}
