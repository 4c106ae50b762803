//! Parsimonious optimal DPOR: each Mazurkiewicz class once, with memory only for the current
//! execution and its pending reversals.
//!
//! The aim is that of Abdulla, Atig, Das, Jonsson, Sagonas (CAV 2024): optimal DPOR without wakeup
//! trees, which may become exponentially large. The method is another one, *reverse search* (Avis,
//! Fukuda, Discrete Applied Mathematics 65, 1996): each class but one has a *parent*, and the
//! search goes from a class to its children, the classes whose parent it is. So no class is visited
//! twice, although no visited class is stored: the parent of a class can be computed from the class
//! alone.
//!
//! # Normal forms
//!
//! Actions that are enabled together have an order, by process and by choice ([`Execution::sort`]).
//! The *normal form* of a maximal configuration M is its execution that always takes the first
//! enabled event of M. Enabled events that precede the event taken are not in M; they are *passed
//! over*, and sleep until an event of M is in conflict with them. Since M is maximal, each of them
//! is woken in this way. Hence a maximal execution is a normal form iff nothing sleeps at its end.
//!
//! # The parent
//!
//! Let u be the last event of the normal form of M that wakes an event, and s the event that was
//! passed over first among those that u wakes. Let C be the events before s was passed over, and R
//! the events from there up to u.
//!
//! ```text
//!   M       =  C · R · u · (always the first)
//!              (C·R·s is an execution, too: nothing before u excludes s)
//!   u'      =  the action of u's process after C·R·s instead of u, if it has one
//!   K       =  C ∪ R ∪ {s}, and u' if there is one
//!   parent  =  take at each step the first event that K does not exclude
//! ```
//!
//! The parent's normal form begins with C·s: the events passed over before s are excluded by C·R. M
//! passes over s there. So the parent precedes M in the lexicographic order of normal forms, and
//! the chain of parents ends in the one class without a parent, where no event is ever passed over.
//!
//! # The children
//!
//! Let E be the normal form of a class, s the event of E after C, and u an event in immediate
//! conflict with s whose causes are in E. Such pairs are the races of E. Suppose that u' is an
//! event e of E. Then R must be the events of E between s and e that do not happen after s, because
//! E without s and its successors is still sorted, and e was taken as soon as it was the first. So
//! there is at most one child for each race. It is a child if
//!
//! 1. no other event that happens after s happens before e: else e is not u';
//! 2. K excludes every event that E passes over: then E is the class that K determines. It follows
//!    that e is not before the last event of E that wakes an event (after that event E always takes
//!    the first one, so the events of E outside K do not matter);
//! 3. when C·R is executed with sleep, s is the first sleeping event; and after u, nothing sleeps
//!    any more. It follows that s and u are those of the definition.
//!
//! Condition 3 is checked by executing C·R·u. If it fails, the exploration is abandoned as blocked.
//! In most programs that is rare, because conditions that can be checked in E are checked before.
//! Without u' the race is one of siblings, of an open choice, or one of [`race::with_distant`].
//! R consists of the events of E after s that do not happen after s, up to where u comes first.
//!
//! Distant races are found once for each prefix of E, by the event that completes them; those of
//! actions that wait at the end are found there. In a race of an open choice u is possible from its
//! newest cause on, because only s is in conflict with it. So R is known from the order of E. By
//! condition 2 u does not come before the last event of E that wakes an event, because K has to
//! exclude what that event wakes: most of these races end there.
//!
//! # Pending reversals
//!
//! A reversal may be explored as soon as it is found, or when the search comes back to C, because
//! the order of children does not matter. Waiting is cheaper, but there may be as many pending
//! reversals as classes. So their size is limited ([`Parsimonious::max_pending`]); beyond the limit
//! reversals are explored at once, and then the execution is restored. Pending reversals can be
//! explored by any worker. So the search can be split into pieces that together make exactly the
//! transitions of the whole: a [`Branch`] is C, with s·R·u for each reversal.
//!
//! # No bound on the depth
//!
//! With a bound, u' may be missing because it is beyond the bound. Then several classes, which
//! differ in the readers that come before u, would have the same s, the same u and the same parent,
//! so one race would have several children.

use std::cmp::{Ordering, Reverse};

use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits};
use crate::explore::settings::options::{Options, Takes};
use crate::explore::tree::Branch;
use crate::explore::walk::{self, Reached, Rule, Walk, WalkOptions};
use crate::model::{Action, Schedule, System};
use crate::trace::initials::{Signature, is_weak_initial, is_weak_initial_in};
use crate::trace::race::{self, OpenChoices, Race};
use crate::trace::{Execution, Mark};

/// The most reversals in one branch that is given away. Each has to be written and read.
const MOST_SHARED: usize = 64;

/// Parsimonious DPOR: visits each class once, with memory for little more than an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsimonious {
    /// The most actions in all pending reversals together. Reversals beyond this limit are explored
    /// at once, at the cost of going back and restoring the execution. With 0 none is kept pending.
    pub max_pending: usize,
}

impl Default for Parsimonious {
    fn default() -> Self {
        Parsimonious { max_pending: 1 << 16 }
    }
}

impl Parsimonious {
    /// The explorer with these options.
    pub fn new(_: &Options) -> Self {
        Parsimonious::default()
    }
}

impl Explorer for Parsimonious {
    fn profile(&self) -> Profile {
        Profile {
            name: "parsimonious",
            summary: "dynamic partial order reduction without stored sets: reverse search over normal forms",
            source: "after Abdulla, Atig, Das, Jonsson, Sagonas (CAV 2024); Avis, Fukuda (1996)",
            guarantee: Guarantee::EveryClassOnce,
            takes: Takes { options: &["jobs"], ..Takes::NOTHING },
            may_block: true,
            depth: Depth::Unbounded,
            splits: Splits::Exactly,
            ..Profile::default()
        }
    }

    /// Below a depth bound, one race may have several children, which differ in the readers that
    /// come before u.
    fn refusal<S: System>(&self, _: &S, budget: &Budget) -> Option<String> {
        budget.depth.map(|_| {
            "`parsimonious` needs whole executions, so it takes no depth bound (`udpor` and `optimal` do)"
                .into()
        })
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let mut rule = Reversals { max_pending: self.max_pending, ..Reversals::default() };
        walk::explore(system, WalkOptions::passing(), &mut rule, driver);
    }
}

/// A reversal to explore in the state after C.
struct Task {
    /// R·u
    path: Vec<Action>,
    /// s
    first: Action,
}

/// The data of one prefix of the execution.
struct Level {
    /// The sleep set there, before any event is passed over.
    inherited: Mark,
    /// The next action of the current execution.
    step: Option<Action>,
    /// The pending reversals, to explore after that.
    tasks: Vec<Task>,
    /// For each call of [`Reversals::visit`] that is active at this level: the number of its
    /// pending reversals when the call began. They are not explored within the call.
    later: Vec<usize>,
    /// The number of distant races of the execution up to here.
    distant: usize,
}

/// The rule, with the current execution and the pending reversals.
#[derive(Default)]
struct Reversals {
    levels: Vec<Level>,
    /// The total number of actions in the paths of all tasks.
    pending_actions: usize,
    /// The limit of `pending_actions`. Reversals beyond it are explored at once.
    max_pending: usize,
    /// The rest of R·u, in reverse order.
    path: Vec<Action>,
    /// s, until u is executed.
    first: Option<Action>,
    /// The position of u in the current execution.
    jump: usize,
    open: OpenChoices,
    /// The distant races of the events of the current execution, by the event that completes them.
    distant: Vec<Race>,
    /// The races of the current execution from u on.
    races: Vec<Race>,
}

impl<S: System> Rule<S> for Reversals {
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let step = self.path.pop();
        self.enter(walk, step, Vec::new());
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
            self.pending_actions -= path.len();
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
        self.distant.truncate(self.levels.last().map_or(0, |level| level.distant));
    }

    fn want(&mut self, walk: &mut Walk<'_, '_, '_, S>, wanted: &[Schedule]) -> Option<()> {
        let read = wanted.iter().map(|wanted| Task::read(walk, wanted));
        let tasks: Vec<Task> = read.collect::<Option<_>>()?;
        self.pending_actions = tasks.iter().map(|task| task.path.len()).sum();
        self.enter(walk, None, tasks);
        Some(())
    }

    /// Gives away the pending reversals nearest to the start of the search.
    fn share(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let level = self.levels.iter().position(|level| !level.tasks.is_empty());
        let Some(length) = level else { return };
        let level = &mut self.levels[length];
        let shared = level.tasks.len().min(MOST_SHARED);
        let tasks: Vec<Task> = level.tasks.drain(..shared).collect();
        level.later.iter_mut().for_each(|later| *later = later.saturating_sub(shared));
        self.pending_actions -= tasks.iter().map(|task| task.path.len()).sum::<usize>();
        let mut prefix = Schedule::of(walk.execution.state());
        prefix.truncate(length);
        let wanted = tasks.iter().map(|task| task.written(walk, length)).collect();
        walk.driver.split_off(Branch { prefix, elsewhere: Vec::new(), wanted });
    }
}

impl Task {
    /// The task as a schedule s·R·u in portable names. Both s and R begin in the state after
    /// `length` actions.
    fn written<S: System>(&self, walk: &mut Walk<'_, '_, '_, S>, length: usize) -> Schedule {
        walk.execution.looking_back(length, |locals, state| {
            let op = locals.op(state.local(self.first.process)).expect("s is enabled");
            let first = state.portable(self.first, op.chooses_message());
            self.path.iter().for_each(|&action| state.step(locals, action));
            let path = Schedule::of(state);
            [first].into_iter().chain(path[length..].iter().copied()).collect()
        })
    }

    /// Reads a task, as [`written`](Task::written) writes it, in the state where it begins; `None`
    /// if it is not possible there.
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
    /// Adds the level of the execution, which has one more action, with its distant races.
    fn enter<S: System>(
        &mut self,
        walk: &mut Walk<'_, '_, '_, S>,
        step: Option<Action>,
        tasks: Vec<Task>,
    ) {
        if !walk.execution.is_empty() {
            self.open.push(&walk.execution, |_, _| ());
            race::with_opened(&mut walk.execution, &self.open, &mut self.distant);
            race::with_distant_of_last(&mut walk.execution, &mut self.distant);
        }
        let (inherited, distant) = (walk.sleep.mark(), self.distant.len());
        self.levels.push(Level { inherited, step, tasks, later: Vec::new(), distant });
    }

    /// Puts to sleep the events that this step of R·u passes over. Returns false if condition 3
    /// fails already.
    fn passes<S: System>(&self, walk: &mut Walk<'_, '_, '_, S>, step: Action) -> bool {
        walk.pass_over(step) && (!self.path.is_empty() || walk.sleep.first() == self.first)
    }

    /// Finds the children of the class of E, and explores them or adds them to the pending
    /// reversals.
    fn end<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let execution = &mut walk.execution;
        self.races.retain(|race| race.later(execution).is_some() || race.is_sibling(execution));
        let near = self.races.len();
        race::with_distant(execution, &mut self.races);
        let mut kept = Vec::new();
        let mut child = |race: &Race| Some((race.first, self.child(walk, race, &mut kept)?));
        let mut children: Vec<_> = self.races[..near].iter().filter_map(&mut child).collect();
        let distant = self.races[near..].iter().chain(&self.distant);
        let mut distant: Vec<(usize, Task)> = distant.filter_map(child).collect();
        let key = |(first, task): &(usize, Task)| (*first, task.path.last().copied());
        distant.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.1.path.cmp(&b.1.path)));
        distant.dedup_by(|a, b| (a.0, &a.1.path) == (b.0, &b.1.path));
        children.extend(distant);
        let more: usize = children.iter().map(|(_, task)| task.path.len()).sum();
        if self.pending_actions + more <= self.max_pending {
            self.pending_actions += more;
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

    /// Explores a child and its descendants at once, so that it does not stay pending.
    fn visit<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>, length: usize, task: Task) {
        if walk.driver.is_stopped() {
            return;
        }
        let open = self.open.clone();
        self.open.truncate(length);
        let distant = self.distant.split_off(self.levels[length].distant);
        let behind = self.levels.split_off(length + 1);
        self.pending_actions += task.path.len();
        let level = &mut self.levels[length];
        level.later.push(level.tasks.len());
        level.tasks.push(task);
        walk.go_back(length, self);
        self.levels[length].later.pop();
        self.levels.extend(behind);
        self.distant.extend(distant);
        self.open = open;
    }

    /// The child for this race; `None` if E turns out not to be its parent. `kept` is scratch
    /// space.
    fn child<S: System>(
        &self,
        walk: &mut Walk<'_, '_, '_, S>,
        race: &Race,
        kept: &mut Vec<usize>,
    ) -> Option<Task> {
        let execution = &walk.execution;
        let (order, first) = (execution.order(), race.first);
        let is_sibling = race.is_sibling(execution);
        if !is_sibling && execution.strand_at(first) == race.strand() {
            return self.child_of_choice(walk, race, kept);
        }
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
        let conflicting = race.conflicting(execution);
        kept.clear();
        kept.extend((first + 1..end).filter(|&at| race.keeps(execution, &conflicting, at)));
        // What fails with these events also fails with those of them that come before u.
        if !self.is_child(walk, first, later, kept) {
            return None;
        }
        let all = kept.len();
        if !is_sibling && later.is_none() && !self.settle(walk, race, kept)
            || kept.len() < all && !self.is_child(walk, first, later, kept)
            || !is_sibling && !is_next(&mut walk.execution, race, later, kept)
        {
            return None;
        }
        Some(task(&walk.execution, race, kept))
    }

    /// For this race of an open choice: does u not come before the last event of E that wakes an
    /// event, or s after that?
    fn is_late<S: System>(&self, execution: &Execution<'_, S>, race: &Race) -> bool {
        self.jump <= race.first || end_of_r(execution, race, self.jump + 1) > self.jump
    }

    /// The child for this race of an open choice; `None` if E turns out not to be its parent.
    /// `kept` is scratch space.
    fn child_of_choice<S: System>(
        &self,
        walk: &mut Walk<'_, '_, '_, S>,
        race: &Race,
        kept: &mut Vec<usize>,
    ) -> Option<Task> {
        let execution = &walk.execution;
        if !self.is_late(execution, race) {
            return None;
        }
        let is_kept = |&at: &usize| !execution.order().before(race.first, at);
        let end = end_of_r(execution, race, execution.len());
        kept.clear();
        kept.extend((race.first + 1..end).filter(is_kept));
        debug_assert!({
            let all = race.first + 1..execution.len();
            let mut settled: Vec<usize> = all.filter(is_kept).collect();
            self.settle(walk, race, &mut settled) && settled == *kept
        });
        let is_child = self.is_child(walk, race.first, None, kept);
        is_child.then(|| task(&walk.execution, race, kept))
    }

    /// Do the conditions 2 and 3 hold, as far as can be seen in E?
    fn is_child<S: System>(
        &self,
        walk: &mut Walk<'_, '_, '_, S>,
        first: usize,
        later: Option<usize>,
        kept: &[usize],
    ) -> bool {
        self.wakes_all(walk, first, kept) && self.excludes_all(walk, first, later, kept)
    }

    /// Does R wake every event that was passed over before s, as far as can be seen in E?
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

    /// Removes from R the events that come after u. Returns whether u is possible.
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

    /// Is K in conflict with every event that E passes over after s?
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
            if walk.sleep.woken_by(at).next().is_none()
                || kept.binary_search(&at).is_ok()
                || later == Some(at)
            {
                continue;
            }
            let Walk { sleep, execution, .. } = &mut *walk;
            for &(z, ref effect) in sleep.woken_by(at) {
                let own = Signature::of(z.process, effect);
                let met = rest(at).filter(|&at| own.meets(execution.order().signature(at)));
                let events = met.map(|at| (execution.action(at), execution.order().effect(at)));
                let is_free = is_weak_initial((z, effect), events).unwrap_or_else(|| {
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

/// The reversal of this race, with R.
fn task<S: System>(execution: &Execution<'_, S>, race: &Race, kept: &[usize]) -> Task {
    let before = kept.iter().map(|&at| execution.action(at));
    let path = before.chain([race.action]).collect();
    Task { path, first: execution.action(race.first) }
}

/// The position where R ends because u comes first, for the race of an open choice; at most `len`.
fn end_of_r<S: System>(execution: &Execution<'_, S>, race: &Race, len: usize) -> usize {
    let order = execution.order();
    let newest = order.last_needed(&race.effect.needs).expect("what made u possible");
    let comes_first = |&at: &usize| {
        let (u, next) = (race.action.process, order.process(at));
        !order.before(race.first, at)
            && execution.locals.compare_processes(u, next) == Ordering::Less
    };
    (newest + 1..len).find(comes_first).unwrap_or(len)
}

/// Is e the next action of the strand of u after C·R·s (or has it none, if there is no e)?
fn is_next<S: System>(
    execution: &mut Execution<'_, S>,
    race: &Race,
    later: Option<usize>,
    kept: &[usize],
) -> bool {
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
