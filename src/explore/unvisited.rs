//! Invariants: in the states that a search visits, and in those that it skips.
//!
//! An explorer that visits classes runs one execution of each class, so it skips states. The value
//! of an invariant depends only on the parts of a state that it reads
//! ([`Invariants`](crate::model::Invariants)): some cells, variables and lengths. Every reachable
//! state is a cut of the class of some execution that ends or is cut by a bound. So for each class
//! visited it is enough to judge those cuts that differ in what the invariant reads ([`Cuts`]). The
//! *relevant* actions of a class are the actions that may change what the invariant reads.
//!
//! - If an invariant reads only one cell, or only one process, then the relevant actions of every
//!   class are totally ordered: two changes of a cell depend on one another, and so do two steps of
//!   a process. Every execution of the class goes through all values that the invariant can have.
//!   The search judges the invariant after each step, and that is enough.
//! - If the relevant actions of one class happen to be totally ordered, the same argument holds for
//!   this class.
//! - Otherwise the cuts are enumerated, up to [`MOST_CUTS`]. If there are more, the search does not
//!   count as complete.
//!
//! The executions of a search begin alike, mostly. An invariant to which only the common beginning
//! is relevant has been judged.
//!
//! What the cuts show follows from the relevant actions of a class: what each of them changes, and
//! which of them happen before it. Many classes have the same ones in the same order. So these are
//! remembered ([`Shown`]), and the cuts are enumerated only once for them.
//! (Not if the invariant reads a length: how much a send changes it may depend on other actions.)
//!
//! The length of a mailbox changes with sends and receives, which are independent. So an invariant
//! that reads a length never falls under the first case.
//!
//! A loop that waits may be given up after a spin iteration ([`crate::trace::spin`]), which changes
//! nothing that outlasts it. The states in the middle of the iteration are cuts of the
//! execution that was given up, and that execution is judged here as well.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::model::{
    Action, CellId, Failure, LocalId, Locals, ProcessId, Schedule, State, StopSignal, System, Value,
};
use crate::property::{
    Changed, Invariants, Properties, Readers, broken_among, broken_invariant, broken_invariants,
    is_seen, tells,
};
use crate::trace::{Cuts, HappensBefore};

/// The most cuts of a class that an invariant is judged in.
const MOST_CUTS: usize = 100_000;

/// The most that is remembered of classes whose cuts have been judged.
const MOST_JUDGED: usize = 1 << 13;

/// The invariants that a search has to judge.
pub(super) struct InvariantCheck {
    /// Must invariants be judged at all?
    pub(crate) are_judged: bool,
    /// Does the search visit every reachable state?
    visits_all: bool,
    /// The invariants that must also be judged in states that the search skips.
    unvisited: Vec<Unvisited>,
    /// The execution whose class was judged last.
    latest: Latest,
    readers: Readers,
    /// Was there a class with more than [`MOST_CUTS`] such states?
    pub(crate) is_open: bool,
}

impl InvariantCheck {
    /// The invariants of `system`, if they are among the properties.
    pub(crate) fn of<S: System>(system: &S, properties: &Properties) -> InvariantCheck {
        let invariants = system.invariants().filter(|_| properties.contain::<Invariants>());
        let unvisited = invariants.map_or(Vec::new(), |invariants| {
            let all = 0..invariants.count();
            all.filter(|&one| !invariants.sees_one_thing(one)).map(Unvisited::new).collect()
        });
        InvariantCheck {
            are_judged: invariants.is_some(),
            visits_all: false,
            unvisited,
            latest: Latest::default(),
            readers: Readers::default(),
            is_open: false,
        }
    }

    /// Notes that the search visits every reachable state.
    pub(crate) fn go_through_all_states(&mut self) {
        self.visits_all = true;
        self.unvisited.clear();
    }

    /// The invariants that fail in `state`. None if invariants are not judged.
    pub(crate) fn broken<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
    ) -> Vec<Broken> {
        if !self.are_judged {
            return Vec::new();
        }
        let broken = match self.visits_all || state.depth() == 0 {
            true => broken_invariants(locals, state),
            // A search of classes has judged the state before the last action.
            false => {
                let changed = Changed::by_last(locals, state);
                broken_among(locals, state, self.readers.of(locals, &changed).into_iter())
            }
        };
        let of = |(invariant, failure)| Broken { invariant, failure, schedule: None };
        broken.into_iter().map(of).collect()
    }

    /// The invariants that fail in skipped states of the class of the execution to `state`.
    pub(crate) fn broken_elsewhere<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
        signal: &StopSignal,
    ) -> Vec<Broken> {
        let mut all = Vec::new();
        self.latest.go_to((locals, state), &mut self.readers, &mut self.unvisited);
        // Of the others the class shows the same as the one before.
        for one in self.unvisited.iter_mut().filter(|one| one.has_changed) {
            one.has_changed = false;
            if !one.may_skip_cuts() {
                continue;
            }
            let shown = one.shown(&self.latest.order);
            if shown.as_ref().is_some_and(|shown| one.judged.contains(shown)) {
                continue;
            }
            let found = judge_class(locals, state, one.invariant, signal);
            self.is_open |= !found.is_complete;
            // Also the next class counts as one with a violation then.
            one.has_changed = !found.broken.is_empty();
            if found.is_complete && found.broken.is_empty() {
                one.hold(shown);
            }
            all.extend(found.broken.into_iter().map(|(failure, schedule)| Broken {
                invariant: one.invariant,
                failure,
                schedule: Some(schedule),
            }));
        }
        all
    }

    /// May an invariant fail in a state that the search skips?
    #[inline]
    pub(crate) fn miss_states(&self) -> bool {
        !self.unvisited.is_empty()
    }

    /// Forgets what is known by local states that may be forgotten now.
    pub(crate) fn forget_locals(&mut self) {
        self.latest = Latest::default();
        for one in &mut self.unvisited {
            *one = Unvisited::new(one.invariant);
        }
    }
}

/// An invariant that is judged in the skipped states of each class.
struct Unvisited {
    invariant: usize,
    /// For each process that it reads, one of the local states that it does not distinguish.
    views: FxHashMap<ProcessId, Vec<LocalId>>,
    /// The view that it has of each local state: an index of `views`.
    known: FxHashMap<(ProcessId, LocalId), usize>,
    /// What classes show in whose cuts it holds.
    judged: FxHashSet<Shown>,
    /// The positions of the relevant actions of the execution at hand, in ascending order, and what
    /// each changes: `None` if that is a length.
    relevant: Vec<(usize, Option<Change>)>,
    /// Has that changed since it was last judged?
    has_changed: bool,
}

/// What a relevant action of a process changes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Change {
    process: ProcessId,
    /// What the invariant sees of the process afterwards.
    view: usize,
    /// What the cells contain afterwards that the invariant reads and that it changes.
    cells: Vec<(CellId, Value)>,
}

/// The relevant actions of a class, process by process: what each changes, and which of them happen
/// before it. Every execution of the class has the same.
type Shown = Vec<(Change, Vec<usize>)>;

/// An execution with its happens-before order. The next execution to be judged begins like it, in
/// most searches, so only the rest is looked at.
#[derive(Default)]
struct Latest {
    actions: Vec<Action>,
    order: HappensBefore,
    /// The invariants to which each action is relevant, as indices of `unvisited`.
    relevant_to: Vec<SmallVec<[usize; 4]>>,
}

impl Latest {
    /// Makes it the execution to `state`, and notes the relevant actions of each invariant.
    fn go_to<S: System>(
        &mut self,
        (locals, state): (&Locals<'_, S>, &State),
        readers: &mut Readers,
        unvisited: &mut [Unvisited],
    ) {
        let is_same =
            |&(at, action): &(usize, &Action)| at < state.depth() && state.action(at) == *action;
        let same = self.actions.iter().enumerate().take_while(is_same).count();
        self.actions.truncate(same);
        for relevant_to in self.relevant_to.drain(same..) {
            self.order.pop();
            for index in relevant_to {
                unvisited[index].relevant.pop();
                unvisited[index].has_changed = true;
            }
        }
        let mut past = state.clone();
        let mut rest = Vec::with_capacity(state.depth() - same);
        while past.depth() > same {
            let action = past.action(past.depth() - 1);
            let changed = Changed::by_last(locals, &past);
            let index = |one| unvisited.binary_search_by_key(&one, |one| one.invariant).ok();
            let seen: SmallVec<[usize; 4]> =
                readers.of(locals, &changed).into_iter().filter_map(index).collect();
            let change = |&index: &usize| unvisited[index].change(locals, &past, &changed);
            let changes: SmallVec<[_; 4]> = seen.iter().map(change).collect();
            rest.push((action, past.effect(locals), seen, changes));
            past.undo(locals);
        }
        for (action, effect, seen, changes) in rest.into_iter().rev() {
            for (&index, change) in seen.iter().zip(changes) {
                unvisited[index].relevant.push((self.actions.len(), change));
                unvisited[index].has_changed = true;
            }
            self.actions.push(action);
            self.order.push(action.process, effect);
            self.relevant_to.push(seen);
        }
    }
}

impl Unvisited {
    fn new(invariant: usize) -> Unvisited {
        Unvisited {
            invariant,
            views: FxHashMap::default(),
            known: FxHashMap::default(),
            judged: FxHashSet::default(),
            relevant: Vec::new(),
            has_changed: false,
        }
    }

    /// What it sees of what the last action of `state` has changed; `None` if that is a length.
    fn change<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
        changed: &Changed,
    ) -> Option<Change> {
        if changed.is_length_seen_by(locals, self.invariant) {
            return None;
        }
        let process = state.action(state.depth() - 1).process;
        let content = |cell| (cell, state.content_of_declared(locals, cell));
        let cells = changed.cells_seen_by(locals, self.invariant).map(content).collect();
        Some(Change { process, view: self.view(locals, process, state.local(process)), cells })
    }

    /// What it sees of this local state of a process.
    fn view<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        local: LocalId,
    ) -> usize {
        let invariant = self.invariant;
        *self.known.entry((process, local)).or_insert_with(|| {
            let views = self.views.entry(process).or_default();
            let same = |&view: &LocalId| !tells(locals, invariant, process, [view, local]);
            views.iter().position(same).unwrap_or_else(|| {
                views.push(local);
                views.len() - 1
            })
        })
    }

    /// May there be cuts that no execution of the class at hand goes through? Not if one process
    /// makes all relevant actions.
    fn may_skip_cuts(&self) -> bool {
        self.relevant.windows(2).any(|pair| match [&pair[0].1, &pair[1].1] {
            [Some(one), Some(other)] => one.process != other.process,
            _ => true,
        })
    }

    /// Notes that it holds in the cuts of classes that show this.
    fn hold(&mut self, shown: Option<Shown>) {
        if self.judged.len() >= MOST_JUDGED {
            self.judged.clear();
        }
        self.judged.extend(shown);
    }

    /// What the class at hand shows; `None` if that does not tell what the invariant sees.
    fn shown(&self, order: &HappensBefore) -> Option<Shown> {
        let changes =
            self.relevant.iter().map(|(position, change)| Some((*position, change.as_ref()?)));
        let mut changes: Vec<_> = changes.collect::<Option<_>>()?;
        changes.sort_by_key(|&(position, change)| (change.process, position));
        let shown = |&(position, change): &(usize, &Change)| {
            let is_before = |&index: &usize| {
                let earlier = changes[index].0;
                earlier < position && order.before(earlier, position)
            };
            (change.clone(), (0..changes.len()).filter(is_before).collect())
        };
        Some(changes.iter().map(shown).collect())
    }
}

/// An invariant that fails.
pub(super) struct Broken {
    invariant: usize,
    /// How it fails.
    pub(crate) failure: Failure,
    /// An execution to the state where it fails; `None` if that is the current state.
    schedule: Option<Schedule>,
}

impl Broken {
    /// The shortest known execution to the state where it fails. `state` is the state in which the
    /// search found the failure.
    pub(crate) fn way<S: System>(self, locals: &Locals<'_, S>, state: &State) -> Schedule {
        self.schedule.unwrap_or_else(|| cuts(locals, state, self.invariant).smallest())
    }
}

/// The failures in the states of a class.
struct Found {
    /// Each failure, with the shortest execution to it among those judged.
    broken: Vec<(Failure, Schedule)>,
    /// Were all states judged?
    is_complete: bool,
}

/// The failures of this invariant in the states of the class of the execution to `state`. There are
/// none to look for if this execution itself goes through every value that the invariant can have
/// in the class.
fn judge_class<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    invariant: usize,
    signal: &StopSignal,
) -> Found {
    let mut found = Found { broken: Vec::new(), is_complete: true };
    let mut cuts = cuts(locals, state, invariant);
    if cuts.are_in_one_order() {
        return found;
    }
    found.is_complete = cuts.each(MOST_CUTS, |locals, state| {
        if let Some(failure) = broken_invariant(locals, state, invariant) {
            note(&mut found.broken, failure, state);
        }
        !signal.is_raised()
    });
    found
}

/// Keeps the shortest execution to each failure.
fn note(broken: &mut Vec<(Failure, Schedule)>, failure: Failure, state: &State) {
    match broken.iter_mut().find(|(known, _)| *known == failure) {
        Some((_, shortest)) if shortest.len() <= state.depth() => {}
        Some((_, shortest)) => *shortest = Schedule::of(state),
        None => broken.push((failure, Schedule::of(state))),
    }
}

fn cuts<'s, S: System>(locals: &Locals<'s, S>, state: &State, invariant: usize) -> Cuts<'s, S> {
    let is_relevant = |locals: &Locals<'s, S>, state: &State| is_seen(locals, state, invariant);
    Cuts::new(locals.system(), Schedule::of(state), is_relevant)
}
