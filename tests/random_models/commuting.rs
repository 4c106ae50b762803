//! What is claimed to commute is checked by definition: in both orders, step by step.
//!
//! Two tables say what commutes, and all reductions rest on them. Searches that store states ask
//! which [`Touch`] races with which; all others ask which effects are dependent ([`dependent`]).
//! The judge of the other tests counts classes by the second table, so it cannot find an error in
//! it.
//!
//! Here neither table is trusted. Let t be a step of a process p in a state s, and a the next step,
//! of another process q. If the tables say that a does not disturb t, the two are also carried out
//! in the other order, and the states are compared.
//!
//! - *Touches.* Assume that nothing that q can do after t touches what races with what p watches in
//!   s. Then t does not remove any choice of q. If also this a does not, and is possible in s, then
//!   p has the same choices after it, watches the same, and both orders lead to one state. So by
//!   induction p, however long it waits, is disturbed only by what races with what it watched in s.
//!   A choice that q has only after t was enabled by t, so it is not a race.
//! - *Footprints.* If they are independent, a is possible in s, t is possible after it, and both
//!   orders lead to one state.
//!
//! States are compared by their canonical form, which includes variables that are never read again.
//! Two executions with equal canonical states have the same future, so nothing is lost between
//! them.

// The fuzzer includes this file, too.

use std::collections::HashSet;

use mazurka::model::{Action, Locals, Parts, ProcessId, State, System, Touch, dependent};

/// Visits at most `most` states of a system. Returns the number of pairs of steps that were carried
/// out in both orders; or a pair that is claimed to commute, and does not. Nothing is claimed of
/// processes that wait until nothing else can happen: explorers that rely on it refuse them.
pub fn judge<S: System>(system: &S, most: usize) -> Result<usize, String> {
    if system.objects().may_time_out_when_stuck {
        return Ok(0);
    }
    let mut locals = Locals::new(system);
    locals.keep_dead();
    let state = State::initial(&mut locals);
    let mut judge =
        Judge { locals, state, parts: Parts::default(), met: HashSet::new(), most, pairs: 0 };
    judge.visit()?;
    Ok(judge.pairs)
}

struct Judge<'s, S: System> {
    locals: Locals<'s, S>,
    state: State,
    parts: Parts,
    met: HashSet<Vec<u32>>,
    most: usize,
    pairs: usize,
}

/// The choices of a process in a state, and what it watches there.
#[derive(Debug, PartialEq, Eq)]
struct Stand {
    choices: Vec<Action>,
    watched: HashSet<Touch>,
}

/// A second step, and the state after it.
struct Second {
    action: Action,
    touches: Vec<Touch>,
    /// Whether it races with what the process of the first step watches.
    races: bool,
    is_independent: bool,
    after: Vec<u32>,
}

impl<S: System> Judge<'_, S> {
    /// The present state and those that follow it, as far as they are new.
    fn visit(&mut self) -> Result<(), String> {
        let is_judged = self.met.len() < self.most && !self.state.is_crowded();
        let portrait = self.portrait();
        if !is_judged || !self.met.insert(portrait) {
            return Ok(());
        }
        let processes: Vec<ProcessId> = self.state.processes().collect();
        for p in processes {
            self.compare(p)?;
            for t in self.choices(p) {
                self.step(t);
                self.visit()?;
                self.undo();
            }
        }
        Ok(())
    }

    /// The steps of a process from here, each followed by one of each other process.
    fn compare(&mut self, p: ProcessId) -> Result<(), String> {
        let here = self.stand(p);
        for &t in &here.choices {
            self.step(t);
            let others: Vec<_> = self.state.processes().filter(|&q| q != p).collect();
            self.undo();
            for q in others {
                self.compare_with(t, &here, q)?;
            }
        }
        Ok(())
    }

    fn compare_with(&mut self, t: Action, here: &Stand, q: ProcessId) -> Result<(), String> {
        let possible = self.choices(q);
        let Some(seconds) = self.seconds(t, here, q) else { return Ok(()) };
        let stays = |a: &Action| seconds.iter().any(|second| second.action == *a);
        if !possible.iter().all(stays) && !seconds.iter().any(|second| second.races) {
            let touches: Vec<_> = seconds.iter().map(|second| &second.touches).collect();
            return Err(self.wrong("takes a choice from", t, here, &(q, touches)));
        }
        for second in seconds.iter().filter(|second| second.is_independent || !second.races) {
            let what = (second.action, &second.touches);
            if !possible.contains(&second.action) {
                if second.is_independent {
                    return Err(self.wrong("enables what is independent of it,", t, here, &what));
                }
                continue;
            }
            self.pairs += 1;
            self.step(second.action);
            let there = self.stand(t.process);
            let is_possible = there.choices.contains(&t);
            let reversed = is_possible.then(|| {
                self.step(t);
                let reversed = self.portrait();
                self.undo();
                reversed
            });
            self.undo();
            if reversed.as_ref() != Some(&second.after) {
                return Err(self.wrong("does not commute with", t, here, &what));
            }
            if !second.races && there != *here {
                return Err(self.wrong("is another after", t, here, &(what, there)));
            }
        }
        Ok(())
    }

    /// The enabled actions of `q` after `t`; `None` if they have no meaning.
    fn seconds(&mut self, t: Action, here: &Stand, q: ProcessId) -> Option<Vec<Second>> {
        self.step(t);
        let mut has_meaning = !self.state.is_crowded();
        let first = self.state.effect(&self.locals);
        let mut seconds = Vec::new();
        for action in self.choices(q) {
            self.step(action);
            let mut touches = Vec::new();
            self.state.touches(&self.locals, |touch| touches.push(touch));
            let races =
                here.watched.iter().any(|watch| touches.iter().any(|&touch| watch.races(touch)));
            let effect = self.state.effect(&self.locals);
            let is_independent = !dependent((t.process, &first), (q, &effect));
            let after = self.portrait();
            has_meaning &= !self.state.is_crowded();
            self.undo();
            seconds.push(Second { action, touches, races, is_independent, after });
        }
        self.undo();
        has_meaning.then_some(seconds)
    }

    fn choices(&self, process: ProcessId) -> Vec<Action> {
        let mut choices = Vec::new();
        self.state
            .choices(&self.locals, process, |choice| choices.push(Action { process, choice }));
        choices
    }

    fn stand(&mut self, process: ProcessId) -> Stand {
        let (choices, mut watched) = (self.choices(process), HashSet::new());
        if !choices.is_empty() {
            self.state.watches(&mut self.locals, process, |touch| _ = watched.insert(touch));
        }
        Stand { choices, watched }
    }

    fn portrait(&mut self) -> Vec<u32> {
        let mut portrait = Vec::new();
        self.state.portrait(&mut self.locals, &mut self.parts, &mut portrait);
        portrait
    }

    fn step(&mut self, action: Action) {
        self.state.step(&mut self.locals, action);
    }

    fn undo(&mut self) {
        self.state.undo(&self.locals);
    }

    fn wrong(&self, how: &str, t: Action, here: &Stand, what: &dyn std::fmt::Debug) -> String {
        let op = |process| self.locals.op(self.state.local(process));
        let path: Vec<Action> = self.state.schedule().collect();
        format!(
            "{t:?} {how} {what:?}: {:?} watches {:?}, after {path:?}",
            op(t.process),
            here.watched
        )
    }
}
