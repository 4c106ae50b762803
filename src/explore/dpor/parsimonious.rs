//! Parsimonious optimal DPOR: each Mazurkiewicz class once, and nothing kept but the present
//! execution and the reversals that it still owes.
//!
//! The aim is that of Abdulla, Atig, Das, Jonsson, Sagonas (CAV 2024): optimal DPOR without wakeup
//! trees, which may become exponentially large. The way is another one, *reverse search* (Avis,
//! Fukuda, Discrete Applied Mathematics 65, 1996): each class but one has a *parent*, and the
//! search goes from a class to those whose parent it is. So no class is visited twice, although
//! nothing is remembered: a class shows what its parent is.
//!
//! # Normal forms
//!
//! Actions that are enabled together have an order, by process and by choice ([`Execution::sort`]).
//! The *normal form* of a maximal configuration M is its execution that always takes the first
//! enabled event of M. Enabled events before the one that is taken are not in M; they are *passed
//! over*, and sleep until an event of M excludes them. M is maximal, so that happens to each. Hence
//! an execution to the end is a normal form iff nothing sleeps at its end.
//!
//! # The parent
//!
//! Let u be the last event of the normal form of M that wakes something, and s what was passed over
//! first of all that it wakes. Let C be what came before s was passed over, and R what came between
//! that and u.
//!
//! ```text
//!   M       =  C · R · u · (always the first)       C·R·s is an execution, too: nothing before u excludes s
//!   u'      =  what the process of u does after C·R·s in the place of u, if it can do anything there
//!   K       =  C ∪ R ∪ {s}, and u' if there is one
//!   parent  =  take at each step the first event that K does not exclude
//! ```
//!
//! The parent's normal form begins with C·s: what is passed over before s is excluded by C·R. M
//! passes over s there. So the parent comes before M in the lexicographic order of normal forms,
//! and whoever goes on from parent to parent comes to the one class that has none, where nothing is
//! ever passed over.
//!
//! # The children
//!
//! Let E be the normal form of a class, s an event of it behind C, and u an event in immediate
//! conflict with s, whose causes E has. Such pairs are the races of E. Say that u' is an event e of
//! E. Then R must be what E has between s and e that does not happen after s, because E without s
//! and what follows is still sorted, and e was taken as soon as it was the first. So there is at
//! most one child for each race. It is one if
//!
//! 1. nothing else that happens after s happens before e: else e is not u';
//! 2. K excludes whatever E passes over: then E is what K leads to, and it follows that e is not
//!    before the last event of E that wakes something (from there on E always takes the first, so
//!    nothing that K lacks is missed);
//! 3. when C·R is executed with sleep, s is the first of what sleeps; and when u is executed,
//!    nothing sleeps any more. It follows that s and u are those of the definition.
//!
//! What 3 asks for is seen when C·R·u is executed. If it does not come true, the exploration is
//! given up as blocked. In most programs that is rare, because what can be seen in E is looked at
//! before. Without u' the race is one of [`race::with_distant`] or of siblings, and R is what E has
//! behind s that does not happen after s, up to where u comes first.
//!
//! # What waits
//!
//! A reversal may be made as soon as it is found, or when the search comes back to C, because the
//! order of children does not matter. The second is cheaper, but what waits may be as much as there
//! are classes. So only so many wait ([`Parsimonious::owes`]); others are made at once, and then
//! the execution is restored. Reversals that wait may be made by anybody, anywhere. So the search
//! can be cut into pieces that together do exactly what the whole does: a [`Branch`] is C, and
//! s·R·u for each reversal.
//!
//! # No bound on the depth
//!
//! With a bound there may be no u' because it is too high. Then several classes that differ in
//! which readers come before u would have the same s, the same u and the same parent, and one race
//! would not tell them apart.

use std::cmp::{Ordering, Reverse};

use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits};
use crate::explore::settings::options::{Options, Takes};
use crate::explore::tree::Branch;
use crate::explore::walk::{self, Manner, Reached, Rule, Walk};
use crate::model::{Action, Schedule, System};
use crate::trace::initials::{Signature, is_weak_initial, is_weak_initial_in};
use crate::trace::race::{self, OpenChoices, Race};
use crate::trace::{Execution, Mark};

/// So many reversals are given away together. Each has to be written down, and to be read.
const SHARE: usize = 64;

/// Visits each class once, with memory for little more than an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsimonious {
    /// Reversals that are still to be made wait until the search comes back to where they begin, as
    /// long as they have no more actions than this. With 0 they are made at once, and nothing waits
    /// but what is reversed in the present execution; each time costs a way back and forth.
    pub owes: usize,
}

impl Default for Parsimonious {
    fn default() -> Self {
        Parsimonious { owes: 1 << 16 }
    }
}

impl Parsimonious {
    /// With these options.
    pub fn new(_: &Options) -> Self {
        Parsimonious::default()
    }
}

impl Explorer for Parsimonious {
    fn profile(&self) -> Profile {
        Profile {
            name: "parsimonious",
            summary: "dynamic partial order reduction that remembers nothing: reverse search over normal forms",
            source: "after Abdulla, Atig, Das, Jonsson, Sagonas (CAV 2024); Avis, Fukuda (1996)",
            guarantee: Guarantee::EveryClassOnce,
            takes: Takes { options: &["jobs"], ..Takes::NOTHING },
            may_block: true,
            depth: Depth::Unbounded,
            splits: Splits::Exactly,
            ..Profile::default()
        }
    }

    /// Below a bound, a class may have several children with one u, that differ in which readers
    /// come before u.
    fn refusal<S: System>(&self, _: &S, budget: &Budget) -> Option<String> {
        budget.depth.map(|_| {
            "`parsimonious` looks at whole executions: it has no bound on their depth (`udpor` and `optimal` have)"
                .into()
        })
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let mut rule = Reversals { most: self.owes, ..Reversals::default() };
        walk::explore(system, Manner::passing(), &mut rule, driver);
    }
}

/// A race to be reversed in the state after C.
struct Task {
    /// R, and u.
    path: Vec<Action>,
    /// s
    first: Action,
}

/// A prefix of the execution.
struct Level {
    /// What sleeps there before anything is passed over.
    inherited: Mark,
    /// How the execution is to go on.
    step: Option<Action>,
    /// What is to be tried when that is done.
    tasks: Vec<Task>,
    /// While some of them are made at once: how many come later. One number for each time that this
    /// was begun, and not ended.
    later: Vec<usize>,
}

/// The rule, with what it remembers.
#[derive(Default)]
struct Reversals {
    levels: Vec<Level>,
    /// How many actions the paths of all tasks have.
    owed: usize,
    /// They are to have no more. What would be more is done at once.
    most: usize,
    /// What is left of R·u, the next action last.
    path: Vec<Action>,
    /// s, until u is executed.
    first: Option<Action>,
    /// The position of u in the present execution.
    jump: usize,
    open: OpenChoices,
    /// The races of the present execution from u on.
    races: Vec<Race>,
}

impl<S: System> Rule<S> for Reversals {
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let inherited = walk.sleep.mark();
        if !walk.execution.is_empty() {
            self.open.push(&walk.execution, |_, _| ());
        }
        let step = self.path.pop();
        self.levels.push(Level { inherited, step, tasks: Vec::new(), later: Vec::new() });
        if step.is_some() || walk.is_on_its_way() {
            return;
        }
        if self.first.take().is_some() {
            if walk.sleep.has_any() {
                return walk.abandoned();
            }
            self.jump = walk.execution.len() - 1;
            self.races.clear();
        }
        if !walk.execution.is_empty() {
            race::with_earlier(&mut walk.execution, &OpenChoices::default(), &mut self.races);
            race::with_siblings(&mut walk.execution, &mut self.races);
        }
        match walk.look() {
            Reached::Open => {
                self.levels.last_mut().expect("that of E").step = walk.enabled.first().copied();
            }
            Reached::End | Reached::Cut => self.end(walk),
            Reached::TooLong | Reached::Stop => {}
        }
    }

    #[inline]
    fn next(&mut self, walk: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        let level = self.levels.last_mut().expect("that of E");
        if let Some(step) = level.step.take() {
            if self.first.is_none() || self.passes(walk, step) {
                return Some(step);
            }
            walk.abandoned();
        }
        loop {
            let level = self.levels.last_mut().expect("that of C");
            if level.later.last().is_some_and(|&later| level.tasks.len() <= later) {
                return None;
            }
            let Task { path, first } = level.tasks.pop()?;
            walk.sleep.back_to(level.inherited);
            self.owed -= path.len();
            (self.first, self.path) = (Some(first), path);
            self.path.reverse();
            let step = self.path.pop().expect("at least u");
            if self.passes(walk, step) {
                return Some(step);
            }
        }
    }

    #[inline]
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        self.levels.pop();
        self.open.leave(&walk.execution);
    }

    fn want(&mut self, walk: &mut Walk<'_, '_, '_, S>, wanted: &[Schedule]) -> Option<()> {
        if !walk.execution.is_empty() {
            self.open.push(&walk.execution, |_, _| ());
        }
        let read = wanted.iter().map(|wanted| Task::read(walk, wanted));
        let tasks: Vec<Task> = read.collect::<Option<_>>()?;
        self.owed = tasks.iter().map(|task| task.path.len()).sum();
        self.levels.push(Level {
            inherited: walk.sleep.mark(),
            step: None,
            tasks,
            later: Vec::new(),
        });
        Some(())
    }

    /// What is owed nearest to the beginning.
    fn share(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let level = self.levels.iter().position(|level| !level.tasks.is_empty());
        let Some(length) = level else { return };
        let level = &mut self.levels[length];
        let shared = level.tasks.len().min(SHARE);
        let tasks: Vec<Task> = level.tasks.drain(..shared).collect();
        level.later.iter_mut().for_each(|later| *later = later.saturating_sub(shared));
        self.owed -= tasks.iter().map(|task| task.path.len()).sum::<usize>();
        let mut prefix = Schedule::of(walk.execution.state());
        prefix.truncate(length);
        let wanted = tasks.iter().map(|task| task.written(walk, length)).collect();
        walk.driver.split_off(Branch { prefix, elsewhere: Vec::new(), wanted });
    }
}

impl Task {
    /// As a schedule: s, R, u, in portable names. R begins in the state of s, after so many
    /// actions.
    fn written<S: System>(&self, walk: &mut Walk<'_, '_, '_, S>, length: usize) -> Schedule {
        walk.execution.looking_back(length, |locals, state| {
            let op = locals.op(state.local(self.first.process)).expect("s is enabled");
            let first = state.portable(self.first, op.chooses_message());
            self.path.iter().for_each(|&action| state.step(locals, action));
            let path = Schedule::of(state);
            [first].into_iter().chain(path[length..].iter().copied()).collect()
        })
    }

    /// What is [`written`](Task::written), in the state of s; `None` if it is not possible there.
    fn read<S: System>(walk: &mut Walk<'_, '_, '_, S>, written: &Schedule) -> Option<Task> {
        let (&first, path) = written.split_first()?;
        let first = walk.named(first)?;
        let length = walk.execution.len();
        let path: Vec<_> = walk.execution.looking_back(length, |locals, state| {
            let step = |&portable: &Action| {
                let action = state.action_named(locals, portable)?;
                state.step(locals, action);
                Some(action)
            };
            path.iter().map(step).collect::<Option<_>>()
        })?;
        (!path.is_empty()).then_some(Task { path, first })
    }
}

impl Reversals {
    /// Puts to sleep what is passed over by this step of R·u. Can it be taken, as far as is known?
    fn passes<S: System>(&self, walk: &mut Walk<'_, '_, '_, S>, step: Action) -> bool {
        walk.pass_over(step) && (!self.path.is_empty() || walk.sleep.first() == self.first)
    }

    /// Finds the children of the class of E.
    fn end<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let execution = &mut walk.execution;
        self.races.retain(|race| race.later(execution).is_some() || race.is_sibling(execution));
        race::with_distant(execution, &self.open, &mut self.races);
        let races = std::mem::take(&mut self.races);
        let children = races.iter().filter_map(|race| Some((race.first, self.child(walk, race)?)));
        let mut children: Vec<(usize, Task)> = children.collect();
        let more: usize = children.iter().map(|(_, task)| task.path.len()).sum();
        if self.owed + more <= self.most {
            self.owed += more;
            for (length, task) in children {
                self.levels[length].tasks.push(task);
            }
            return;
        }
        children.sort_by_key(|&(length, _)| Reverse(length));
        for (length, task) in children {
            self.visit(walk, length, task);
        }
    }

    /// Visits a child at once, and all that it leads to, so that nothing is owed for them.
    fn visit<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>, length: usize, task: Task) {
        if walk.driver.is_stopped() {
            return;
        }
        let open = self.open.clone();
        self.open.truncate(length);
        let behind = self.levels.split_off(length + 1);
        self.owed += task.path.len();
        let level = &mut self.levels[length];
        level.later.push(level.tasks.len());
        level.tasks.push(task);
        walk.go_back(length, self);
        self.levels[length].later.pop();
        self.levels.extend(behind);
        self.open = open;
    }

    /// The child for this race; `None` if it is seen here that E is not its parent.
    fn child<S: System>(&self, walk: &mut Walk<'_, '_, '_, S>, race: &Race) -> Option<Task> {
        let execution = &walk.execution;
        let (order, first) = (execution.order(), race.first);
        let is_sibling = race.is_sibling(execution);
        let later = race.later(execution);
        if let Some(later) = later {
            let mut needs = order.direct_predecessors(later).iter().map(|&at| at as usize);
            if needs.any(|at| order.before(first, at)) {
                return None;
            }
        }
        let end = match later {
            _ if is_sibling => first + 1,
            Some(later) => later,
            None => execution.len(),
        };
        let spoilers = race.spoilers(execution);
        let kept = |&at: &usize| race.keeps(execution, &spoilers, at);
        let mut kept: Vec<usize> = (first + 1..end).filter(kept).collect();
        if !is_sibling && later.is_none() && !self.settle(walk, race, &mut kept) {
            return None;
        }
        if !is_sibling && !is_next(&mut walk.execution, race, later, &kept) {
            return None;
        }
        if !self.wakes_all(walk, first, &kept) || !self.excludes_all(walk, first, later, &kept) {
            return None;
        }
        let execution = &walk.execution;
        let before = kept.iter().map(|&at| execution.action(at));
        let path = before.chain([race.action]).collect();
        Some(Task { path, first: execution.action(first) })
    }

    /// Does R wake everything that was passed over before s, as far as is known?
    fn wakes_all<S: System>(
        &self,
        walk: &Walk<'_, '_, '_, S>,
        first: usize,
        kept: &[usize],
    ) -> bool {
        let execution = &walk.execution;
        let order = execution.order();
        let mut sleepers = walk.sleep.at(first);
        !sleepers.any(|((z, effect), _)| {
            let own = Signature::of(z.process, effect);
            let met = kept.iter().filter(|&&at| own.meets(order.signature(at)));
            let events = met.map(|&at| (execution.action(at), order.effect(at)));
            is_weak_initial((*z, effect), events) == Some(true)
        })
    }

    /// Takes off R what comes behind u. Is u possible at all?
    fn settle<S: System>(
        &self,
        walk: &mut Walk<'_, '_, '_, S>,
        race: &Race,
        kept: &mut Vec<usize>,
    ) -> bool {
        let u = race.action;
        let execution = &mut walk.execution;
        let actions: Vec<_> = kept.iter().map(|&at| execution.action(at)).collect();
        let own = actions.iter().rposition(|action| action.process == u.process);
        let possible = own.map_or(0, |own| own + 1);
        let place = execution.looking_back(race.first, |locals, state| {
            actions[..possible].iter().for_each(|&action| state.step(locals, action));
            let mut enabled = Vec::new();
            for place in possible..=actions.len() {
                enabled.clear();
                state.enabled(locals, &mut enabled);
                let next = actions.get(place);
                let precedes = |next: &Action| {
                    locals.compare_processes(u.process, next.process) == Ordering::Less
                };
                if enabled.contains(&u) && next.is_none_or(precedes) {
                    return Some(place);
                }
                next.into_iter().for_each(|&next| state.step(locals, next));
            }
            None
        });
        kept.truncate(place.unwrap_or_default());
        place.is_some()
    }

    /// Is K in conflict with everything that E passes over behind s?
    fn excludes_all<S: System>(
        &self,
        walk: &mut Walk<'_, '_, '_, S>,
        first: usize,
        later: Option<usize>,
        kept: &[usize],
    ) -> bool {
        let rest = |at: usize| {
            let behind = kept.iter().copied().filter(move |&kept| kept > at);
            behind.chain(later.filter(|&later| later > at))
        };
        for at in first + 1..=self.jump {
            if kept.contains(&at) || later == Some(at) {
                continue;
            }
            let woken: Vec<_> = walk.sleep.woken_by(at).cloned().collect();
            for (z, effect) in woken {
                let execution = &mut walk.execution;
                let own = Signature::of(z.process, &effect);
                let met = rest(at).filter(|&at| own.meets(execution.order().signature(at)));
                let events = met.map(|at| (execution.action(at), execution.order().effect(at)));
                let is_free = is_weak_initial((z, &effect), events).unwrap_or_else(|| {
                    let actions: Vec<_> = rest(at).map(|at| execution.action(at)).collect();
                    execution.looking_back(at, |locals, state| {
                        is_weak_initial_in(locals, state, z, actions.into_iter())
                    })
                });
                if is_free {
                    return false;
                }
            }
        }
        true
    }
}

/// Is e, or nothing, what the strand of u does after C·R·s?
fn is_next<S: System>(
    execution: &mut Execution<'_, S>,
    race: &Race,
    later: Option<usize>,
    kept: &[usize],
) -> bool {
    if execution.strand_at(race.first) == race.strand() {
        return true;
    }
    let expected = later.map(|later| execution.action(later));
    if later.is_some() && expected.map(|e| e.choice) == Some(race.action.choice) {
        return true;
    }
    let behind: Vec<Action> =
        (race.first..execution.len()).map(|at| execution.action(at)).collect();
    let r: Vec<Action> = kept.iter().map(|&at| execution.action(at)).collect();
    behind.iter().for_each(|_| drop(execution.pop()));
    r.iter().for_each(|&action| execution.push(action));
    execution.push(behind[0]);
    let mut enabled = Vec::new();
    execution.enabled(&mut enabled);
    let next = enabled.iter().copied().find(|&action| {
        action.process == race.action.process && execution.strand(action) == race.strand()
    });
    for _ in 0..=r.len() {
        execution.pop();
    }
    behind.iter().for_each(|&action| execution.push(action));
    next == expected
}
