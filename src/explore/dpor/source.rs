//! Source-DPOR: each Mazurkiewicz class completed once; source sets avoid most blocked
//! explorations.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), algorithm 1.
//!
//! ```text
//! Explore(E, Sleep):
//!   if there is p ∈ enabled(E) ∖ Sleep:
//!     backtrack(E) := {p}
//!     while there is p ∈ backtrack(E) ∖ Sleep:
//!       for each race (i, x) of the new event of E·p:
//!         v := notdep(i, E·p)·x
//!         if I(v) ∩ backtrack(pre(i)) = ∅:  add some q ∈ I(v) to backtrack(pre(i))
//!       Explore(E·p, {q ∈ Sleep : q is independent of p after E})
//!       add p to Sleep
//! ```
//!
//! Complete for finite executions, and with the sleep sets no class is completed twice; but an
//! exploration may be blocked. Up to a depth the executions are those of the events up to that
//! height, as in [`super::optimal`]. At the end of an execution, the races that actions beyond the
//! bound would have had are handled, too. Departures:
//!
//! - The unit of scheduling is the [`Strand`], and the races are those of
//!   [`crate::trace::race`]. All choices of a strand are added together.
//! - An initial of v that sleeps at pre(i) counts as an element of the set, because the executions
//!   that begin with it are explored.
//! - A message that an actor refuses until the end of an execution has no event that could have
//!   races. So its races are handled at the end, even if the exploration is blocked. (After the
//!   sleeping actions the guard might never hold again.) Actions beyond the depth bound are treated
//!   in the same way.

use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits, depth_in_other_order};
use crate::explore::order::Order;
use crate::explore::parallel::ahead::Demand;
use crate::explore::pieces::Sizes;
use crate::explore::settings::options::{Options, Takes};
use crate::explore::walk::{self, Reached, Rule, Walk, WalkOptions};
use crate::model::{Action, Choice, ProcessId, System};
use crate::trace::race::{self, OpenChoices, Race};
use crate::trace::{BacktrackSets, Execution, Strand, Ticket};

/// Completes each class once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The order in which enabled actions are tried.
    pub order: Order,
}

impl Source {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        Source { order: options.order.unwrap_or_default() }
    }
}

impl Explorer for Source {
    fn profile(&self) -> Profile {
        Profile {
            name: "source",
            summary: "dynamic partial order reduction with source sets and sleep sets",
            source: "Abdulla, Aronis, Jonsson, Sagonas (J. ACM 2017), algorithm 1",
            guarantee: Guarantee::EveryClassOnce,
            takes: Takes { always_sleeps: true, ..Takes::PIECES },
            may_block: true,
            splits: Splits::Roughly,
            takes_help: !matches!(self.order, Order::Random(_)),
            ..Profile::default()
        }
    }

    fn refusal<S: System>(&self, _: &S, budget: &Budget) -> Option<String> {
        depth_in_other_order(self.profile().name, self.order, budget)
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        walk::explore(
            system,
            WalkOptions::sleeping(self.order),
            &mut SourceSets::default(),
            driver,
        );
    }
}

/// The rule, with its backtrack sets and races.
#[derive(Default)]
struct SourceSets {
    backtrack: BacktrackSets,
    open: OpenChoices,
    /// The races just found.
    races: Vec<Race>,
    sizes: Sizes,
}

impl<S: System> Rule<S> for SourceSets {
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        if !walk.execution.is_empty() {
            self.open.push(&walk.execution, |_, _| ());
            race::with_earlier(&mut walk.execution, &self.open, &mut self.races);
            self.reverse_races(walk);
        }
        let reached = walk.look();
        self.backtrack.push(walk.candidates());
        self.sizes.arrive(walk.driver.stats.transitions);
        match reached {
            // backtrack(E) := {p} for a p ∈ enabled(E) ∖ Sleep
            Reached::Open if self.backtrack.start() => {}
            Reached::Open => {
                walk.blocked();
                self.end(walk);
            }
            Reached::End | Reached::Cut => self.end(walk),
            Reached::TooLong | Reached::Stop => {}
        }
    }

    /// Some p ∈ backtrack(E) ∖ Sleep: the one that was added first. What begins with a p that was
    /// given away is added from where it was explored.
    #[inline]
    fn next(&mut self, walk: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        loop {
            let p = self.backtrack.take()?;
            match self.backtrack.given() {
                Some(ticket) if self.is_added(walk, ticket) => {
                    if walk.driver.is_stopped() {
                        return None;
                    }
                    walk.put_to_sleep(p);
                }
                _ => return Some(p),
            }
        }
    }

    #[inline]
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        self.backtrack.pop();
        self.sizes.leave(walk.driver.stats.transitions);
        self.open.leave(&walk.execution);
    }

    fn share(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        match walk.driver.has_helpers() {
            true => self.offer(walk),
            false => walk.split(),
        }
    }
}

impl SourceSets {
    /// Handles the end of E: the races of messages that were refused, and of actions beyond the
    /// bound.
    fn end<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        race::with_pending(&mut walk.execution, &mut self.races);
        race::with_cut(&mut walk.execution, &mut self.races);
        self.reverse_races(walk);
    }

    fn reverse_races<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let start = walk.piece_start();
        while let Some(race) = self.races.pop() {
            match race.first < start {
                true => send(walk, &race),
                false => self.reverse(&walk.execution, &race),
            }
        }
    }

    /// Adds an initial of v to backtrack(pre(i)), unless one is in it.
    fn reverse<S: System>(&mut self, execution: &Execution<'_, S>, race: &Race) {
        let mut added = None;
        if race.is_initial {
            let strand = race.strand();
            if self.backtrack.covers_strand(race.first, strand) {
                return;
            }
            added = Some(strand);
        }
        for position in other_initials(execution, race) {
            if self.backtrack.covers(race.first, execution.action(position)) {
                return;
            }
            added = added.or_else(|| Some(execution.strand_at(position)));
        }
        let strand = added.expect("a sequence has an initial");
        self.backtrack.add(race.first, strand);
    }

    /// Offers a piece to a thread that has no work: an action that is to be explored.
    #[cold]
    fn offer<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let SourceSets { backtrack, sizes, .. } = self;
        let given = walk.offer_piece(sizes, |at| {
            let (place, before, next) = backtrack.first_waiting(at)?;
            Some((vec![(before, next)], (at, place)))
        });
        if let Some(((at, place), ticket)) = given {
            backtrack.give(at, place, ticket);
        }
    }

    /// Adds what a piece of this search has found, which was given away. Returns false if nobody
    /// has explored it.
    #[cold]
    fn is_added<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>, ticket: Ticket) -> bool {
        walk.claim_piece(ticket, |walk, demand| match (demand.at as usize) < walk.piece_start() {
            true => walk.demand(demand.clone()),
            false => self.meet(walk, demand),
        })
    }

    /// Adds an initial of the v that a piece demands, unless one is in the set.
    fn meet<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>, demand: &Demand) {
        let at = demand.at as usize;
        let initials: Vec<_> = walk.execution.looking_back(at, |locals, state| {
            let initial = |one: &[u32]| {
                let name = Action { process: ProcessId(one[0]), choice: Choice(one[1] as i32) };
                let action = state.any_action_named(locals, name);
                let action = action.expect("an initial of this search");
                (action, Strand::of(action, one[2] & HANDLER != 0), one[2] & IS_X != 0)
            };
            demand.events.chunks_exact(3).map(initial).collect()
        });
        let mut added = None;
        let is_covered = initials.into_iter().any(|(action, strand, is_x)| {
            added = added.or(Some(strand));
            match is_x {
                true => self.backtrack.covers_strand(at, strand),
                false => self.backtrack.covers(at, action),
            }
        });
        if !is_covered {
            self.backtrack.add(at, added.expect("a sequence has an initial"));
        }
    }
}

/// What is sent of an initial: it is of an actor, and it is x.
const HANDLER: u32 = 1;
const IS_X: u32 = 2;

/// The positions of the initials of v, except for that of x.
fn other_initials<'e, S: System>(
    execution: &'e Execution<'_, S>,
    race: &'e Race,
) -> impl Iterator<Item = usize> + 'e {
    let conflicting = race.conflicting(execution);
    (race.first + 1..execution.len()).filter(move |&position| {
        let causes = execution.order().direct_predecessors(position);
        let is_first = causes.last().is_none_or(|&last| (last as usize) < race.first);
        is_first && race.keeps(execution, &conflicting, position)
    })
}

/// Sends the initials of v to the search that this is a piece of, unless one of them sleeps.
fn send<S: System>(walk: &mut Walk<'_, '_, '_, S>, race: &Race) {
    let (at, execution) = (race.first, &walk.execution);
    let mut initials = Vec::new();
    if race.is_initial {
        initials.push((race.action, race.strand(), IS_X));
    }
    for position in other_initials(execution, race) {
        initials.push((execution.action(position), execution.strand_at(position), 0));
    }
    let sleeps = |&(action, strand, kind): &(Action, Strand, u32)| {
        walk.sleep.at(at).any(|((asleep, effect), _)| match kind {
            IS_X => Strand::of(*asleep, effect.is_handler()) == strand,
            _ => *asleep == action,
        })
    };
    if initials.iter().any(sleeps) {
        return;
    }
    let mut events = Vec::new();
    walk.execution.looking_back(at, |locals, state| {
        for (action, strand, kind) in initials {
            let name = state.name(locals, action);
            let is_handler = !matches!(strand, Strand::Process(_));
            let flags = kind | if is_handler { HANDLER } else { 0 };
            events.extend([name.process.0, name.choice.0 as u32, flags]);
        }
    });
    walk.demand(Demand { at: at as u32, events: events.into(), names: None });
}
