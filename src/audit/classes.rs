//! The check of a list of classes: each is an execution that ends, and none is missing.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ends::judge_end;
use super::text::kept;
use super::walk::{Event, Key, Positions, Step, Walk};
use super::{Claim, Refused};
use crate::model::{Action, Choice, Effect, Schedule, System, dependent};

/// A list of classes under audit.
pub(super) struct Audit<'a, 's, S: System> {
    classes: &'a [Schedule],
    pub(super) walk: Walk<'s, S>,
    /// The classes that were replayed.
    known: FxHashSet<Key>,
    /// Configurations that are part of a class.
    covered: FxHashSet<Key>,
    /// What a test does if it fails, by the step of its process before it.
    failures: FxHashMap<Event, Option<Effect>>,
    longest: usize,
}

impl<'a, 's, S: System> Audit<'a, 's, S> {
    pub(super) fn new(system: &'s S, classes: &'a [Schedule]) -> Self {
        Audit {
            classes,
            walk: Walk::new(system),
            known: FxHashSet::default(),
            covered: FxHashSet::default(),
            failures: FxHashMap::default(),
            longest: classes.iter().map(|class| class.len()).max().unwrap_or(0),
        }
    }

    /// Replays all classes: each is an execution in normal form to a state in which nothing is
    /// enabled, and larger than the class before it. Returns what is true of them. An invariant
    /// fails in the configurations `broken`.
    pub(super) fn replay(&mut self, allow_pending: bool, broken: &[Key]) -> Result<Claim, Refused> {
        let mut claim = Claim::default();
        let mut previous: &[Action] = &[];
        for (number, class) in self.classes.iter().enumerate() {
            if number > 0 && previous >= class {
                return Err(Refused::new("it is not in order").about(number));
            }
            self.walk.cut(kept(previous, class));
            self.follow(class).map_err(|why| why.about(number))?;
            if !is_normal(&self.walk.steps, class) {
                return Err(Refused::new("it is not in normal form").about(number));
            }
            if !self.known.insert(self.walk.key()) {
                return Err(Refused::new("it is the same as an earlier one").about(number));
            }
            let Walk { locals, state, .. } = &self.walk;
            let end = judge_end(locals, state, allow_pending).map_err(|why| why.about(number))?;
            let events: FxHashSet<Event> = self.walk.steps.iter().map(|step| step.event).collect();
            let is_broken =
                broken.iter().any(|state| state.iter().all(|event| events.contains(event)));
            claim.add(end.is_deadlocked, end.is_deadlocked || end.has_failed || is_broken);
            previous = class;
        }
        self.walk.cut(0);
        match claim.count {
            0 => Err(Refused::new("it has no class, and every program has one")),
            _ => Ok(claim),
        }
    }

    /// Goes on along `class` to its end.
    fn follow(&mut self, class: &Schedule) -> Result<(), Refused> {
        let walk = &mut self.walk;
        let mut enabled = walk.enabled();
        for (index, &action) in class.iter().enumerate().skip(walk.len()) {
            let named = walk.state.action_named(&walk.locals, action);
            let Some(action) = named.filter(|action| enabled.contains(action)) else {
                return Err(Refused::new(format!("its step {} is not possible", index + 1)));
            };
            walk.push_on(action, &mut enabled)?;
        }
        match enabled.is_empty() {
            true => Ok(()),
            false => Err(Refused::new("it does not end: something is still possible")),
        }
    }

    /// Checks that no class is missing.
    pub(super) fn close(&mut self) -> Result<(), Refused> {
        for (number, class) in self.classes.iter().enumerate() {
            self.walk.cut(0);
            self.follow(class).map_err(|why| why.about(number))?;
            self.close_one().map_err(|why| why.about(number))?;
        }
        Ok(())
    }

    /// Takes each event of the class that the walk is at out of it, with what comes after the
    /// event, and lets its process choose otherwise, and others do without the event what they do
    /// directly after it.
    fn close_one(&mut self) -> Result<(), Refused> {
        let class = self.walk.steps.clone();
        for at in (0..class.len()).rev() {
            self.walk.cut(at);
            let Action { process, choice } = class[at].action;
            let may_choose = self.walk.may_choose(process);
            let mut removed = Positions::default();
            removed.insert(at);
            if let Some(failure) = self.failure_instead(&class, at)? {
                self.try_failure(&class, at, &failure, removed.clone())?;
            }
            let is_direct =
                |step: &&Step| step.action.process != process && step.causes.contains(&(at as u32));
            let later: Vec<Action> =
                class[at + 1..].iter().filter(is_direct).map(|step| step.action).collect();
            if later.is_empty() && !may_choose {
                continue;
            }
            self.replay_without(&class, &removed, at..class.len())?;
            for action in self.walk.enabled() {
                let is_other_choice = action.process == process && action.choice != choice;
                if is_other_choice || later.contains(&action) {
                    self.try_action(&class, at, action)?;
                }
            }
        }
        Ok(())
    }

    /// Executes those steps of the class in this range that are neither removed nor after a removed
    /// one. They must be the same events as in the class.
    fn replay_without(
        &mut self,
        class: &[Step],
        removed: &Positions,
        range: std::ops::Range<usize>,
    ) -> Result<(), Refused> {
        for at in range {
            let step = &class[at];
            if removed.has(at) || step.past.meets(removed) {
                continue;
            }
            if !self.is_enabled(step.action) {
                return Err(Refused::new("a step needs one that is independent of it"));
            }
            self.walk.push(step.action)?;
            if self.walk.steps.last().map(|last| last.event) != Some(step.event) {
                return Err(Refused::new("the causes of a step depend on independent steps"));
            }
        }
        Ok(())
    }

    fn is_enabled(&self, action: Action) -> bool {
        let Walk { locals, state, .. } = &self.walk;
        let mut is_enabled = false;
        state.choices(locals, action.process, |choice| is_enabled |= choice == action.choice);
        is_enabled
    }

    /// Executes `action`, which the class does not do here, and goes on to an end, which has to be
    /// a class of the list. The walk is the same afterwards.
    fn try_action(&mut self, class: &[Step], at: usize, action: Action) -> Result<(), Refused> {
        let length = self.walk.len();
        self.walk.push(action)?;
        self.compare_causes(class, at)?;
        let key = self.walk.key();
        if !self.covered.contains(&key) {
            self.go_on()?;
            self.covered.insert(key);
        }
        self.walk.cut(length);
        Ok(())
    }

    /// If the process of the last step does the same in the class as its first step that was taken
    /// out: then the last step has no causes that are not causes of that step, too.
    fn compare_causes(&self, class: &[Step], at: usize) -> Result<(), Refused> {
        let step = self.walk.steps.last().expect("the step in question");
        let is_out = |other: usize| other == at || class[other].past.has(at);
        let own = |&other: &usize| class[other].action.process == step.action.process;
        let same = (at..class.len()).find(|other| own(other) && is_out(*other));
        let Some(same) = same.filter(|&same| class[same].action == step.action) else {
            return Ok(());
        };
        let is_shared = |&cause: &u32| {
            let event = self.walk.steps[cause as usize].event;
            class[..same]
                .iter()
                .enumerate()
                .any(|(place, other)| other.event == event && class[same].past.has(place))
        };
        match step.causes.iter().all(is_shared) {
            true => Ok(()),
            false => Err(Refused::new("a step gets causes when one of its causes is taken out")),
        }
    }

    /// Goes on to an end in any way, and looks it up.
    fn go_on(&mut self) -> Result<(), Refused> {
        let mut enabled = self.walk.enabled();
        while let Some(&action) = enabled.first() {
            if self.walk.len() >= self.longest {
                return Err(self.missing("a longer one that begins with"));
            }
            self.walk.push_on(action, &mut enabled)?;
        }
        match self.known.contains(&self.walk.key()) {
            true => Ok(()),
            false => Err(self.missing("that of")),
        }
    }

    fn missing(&self, which: &str) -> Refused {
        let schedule = Schedule::of(&self.walk.state);
        Refused::new(format!("after it another class is missing, {which} {schedule}"))
    }

    /// The effect of the step at this position if it is a test that succeeds and fails instead as
    /// early as it can come; `None` if it is no such test. The walk is at this position.
    fn failure_instead(&mut self, class: &[Step], at: usize) -> Result<Option<Effect>, Refused> {
        let Action { process, choice } = class[at].action;
        let op = self.walk.locals.op(self.walk.state.local(process));
        let may_fail = choice != Choice::NOTHING && op.is_some_and(|op| op.is_test());
        let Some(before) = self.walk.last_of(process, at).filter(|_| may_fail) else {
            return Ok(None);
        };
        if let Some(known) = self.failures.get(&class[before].event) {
            return Ok(known.clone());
        }
        self.walk.cut(0);
        for earlier in 0..=before {
            if earlier == before || class[before].past.has(earlier) {
                self.replay_without(class, &Positions::default(), earlier..earlier + 1)?;
            }
        }
        let mut effect = None;
        let failing = Action { process, choice: Choice::NOTHING };
        if self.is_enabled(failing) {
            self.walk.push(failing)?;
            effect = Some(self.walk.pop().effect);
        }
        self.walk.cut(0);
        self.replay_without(class, &Positions::default(), 0..at)?;
        self.failures.insert(class[before].event, effect.clone());
        Ok(effect)
    }

    /// Takes out the test at this position, and all that completes what it tests, and lets it fail.
    fn try_failure(
        &mut self,
        class: &[Step],
        at: usize,
        failure: &Effect,
        mut removed: Positions,
    ) -> Result<(), Refused> {
        let process = class[at].action.process;
        let before = self.walk.last_of(process, at).expect("a test comes after its request");
        // First what the test needs: a step that completes a request does so only after it.
        let mut is_first = class[before].past.clone();
        is_first.insert(before);
        self.walk.cut(0);
        for position in (0..class.len()).filter(|&position| is_first.has(position)) {
            self.replay_without(class, &removed, position..position + 1)?;
        }
        for position in (0..class.len()).filter(|&position| !is_first.has(position)) {
            let length = self.walk.len();
            self.replay_without(class, &removed, position..position + 1)?;
            let new = self.walk.steps[length..].first();
            if new
                .is_some_and(|new| dependent((new.action.process, &new.effect), (process, failure)))
            {
                self.walk.cut(length);
                removed.insert(position);
            }
        }
        let failing = Action { process, choice: Choice::NOTHING };
        if !self.is_enabled(failing) {
            return Err(Refused::new("a test does not fail without what completes it"));
        }
        self.try_action(class, at, failing)?;
        self.walk.cut(0);
        self.replay_without(class, &Positions::default(), 0..at)
    }
}

/// Is the execution the normal form of its class: does each step belong to the process born first
/// among those whose next event has all its causes?
fn is_normal(steps: &[Step], class: &Schedule) -> bool {
    let is_ready = |step: &Step, at: usize| step.causes.iter().all(|&cause| (cause as usize) < at);
    (0..steps.len()).all(|at| {
        let mut later = at + 1..steps.len();
        !later.any(|later| class[later].process < class[at].process && is_ready(&steps[later], at))
    })
}
