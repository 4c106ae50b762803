//! UDPOR: each Mazurkiewicz class once, along the configurations of the unfolding.
//!
//! Pham, Jéron, Quinson (FORTE 2019), algorithm 1, after Rodríguez, Sousa, Sharma, Kroening
//! (CONCUR 2015); k-partial alternatives after Nguyen et al. (CAV 2018).
//!
//! ```text
//! Explore(C, D, A):
//!   U := U ∪ ex(C)
//!   if en(C) ⊆ D return
//!   choose e from A ∩ en(C), or from en(C) ∖ D if A = ∅
//!   Explore(C ∪ {e}, D, A ∖ {e})
//!   if there is J ∈ Alt(C, D ∪ {e}):  Explore(C, D ∪ {e}, J ∖ C)
//!   U := U ∩ Q(C, D)
//! ```
//!
//! The second call is a tail call on the same C, so it is a loop here, and the recursion is as deep
//! as the configuration is large. ex(C) grows as events are pushed, so it is never computed anew.
//! Departures: alternatives are asked for only to D ∩ en(C), because all else of D is in conflict
//! with C; and the last line is done only now and then, when U has doubled ([`crate::unfolding`],
//! `forget`).
//!
//! Sound and complete for finite unfoldings: every maximal configuration is visited, and no two
//! complete visits are of the same one. With full alternatives an exploration is never blocked,
//! which is asserted.
//!
//! **Up to a depth.** Let P be the set of all events up to some height. P is closed under causes,
//! so it is an event structure. It is finite, even if the program runs for ever. Its maximal
//! configurations are the classes up to that depth. The search is a search of P, if ex(C) and en(C)
//! are those of P: an event that is too high is in neither of them, and en(C) contains no event in
//! conflict with C.
//!
//! Claim: let M be a maximal configuration of P with C ⊆ M and M ∩ (D ∪ {e}) = ∅. Then J = U ∩ M is
//! an alternative. Proof:
//! - J is a configuration, because U is closed under causes.
//! - Suppose that some event of D ∪ {e} is in conflict with no event of J. Let d be the first of
//!   these that was chosen. Then some maximal configuration M' contains J and d.
//! - The events of D that were chosen before d are in conflict with J, so M' contains none of them.
//!   So M' was visited after d was chosen.
//! - M ⊆ M' is false, since both are maximal and d ∉ M. Let f be a lowest event of M ∖ M'. All
//!   causes of f are in M', so f ∈ ex(M'). M' was visited, so f ∈ U. But then f ∈ U ∩ M = J ⊆ M', a
//!   contradiction.
//!
//! A full alternative J is in conflict with all of D. When J has become part of C, no event of D is
//! enabled. So a search with full alternatives is never blocked.
//!
//! **In a branch** of a search ([`crate::explore::tree`]) the prefix is a C from which nothing is
//! taken back. The events that others explore are *barred*: like those that are too high, they are
//! in neither ex(C) nor en(C), and in no alternative. So the branch is searched like a whole,
//! smaller event structure, with a D of its own. If only barred events are enabled, it is blocked.
//!
//! All this holds for any choice from en(C) ∖ D. The choice determines the number of events built,
//! and the amount of work. By default the least contended event comes first; an [`Order`] replaces
//! that.

use super::k::K;
use crate::alternatives::{Alternatives, KPartial, full};
use crate::explore::budget::Budget;
use crate::explore::configurations::intruder;
use crate::explore::configurations::maximal;
use crate::explore::configurations::notes::Notes;
use crate::explore::configurations::proof::prove_extended;
use crate::explore::configurations::queue::Queue;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits};
use crate::explore::observer::Observer;
use crate::explore::order::Order;
use crate::explore::parallel::start::Start;
use crate::explore::result::{Outcome, StopReason};
use crate::explore::settings::options::{Options, Takes};
use crate::explore::tree::Branch;
use crate::model::{Action, System};
use crate::trace::LeftOut;
use crate::unfolding::{Configuration, EventId, Unfolding};

/// Visits every class once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Udpor {
    /// How many of the disabled events its alternatives are in conflict with.
    pub k: K,
    /// The order in which enabled events are tried; without one, the least contended go first.
    pub order: Option<Order>,
}

impl Udpor {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        Udpor { k: options.k.unwrap_or_default(), order: options.order }
    }
}

impl Explorer for Udpor {
    fn profile(&self) -> Profile {
        Profile {
            name: "udpor",
            summary: "unfolding-based partial order reduction with k-partial or full alternatives",
            source: "Pham, Jéron, Quinson (FORTE 2019); Nguyen et al. (CAV 2018)",
            guarantee: Guarantee::EveryClassOnce,
            takes: Takes { options: &["k", "order", "seed"], ..Takes::ORDER },
            may_block: self.k != K::Optimal,
            splits: Splits::Roughly,
            ..Profile::default()
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        match self.k {
            K::Partial(k) => search(system, KPartial::new(k), self.order, (), driver),
            K::Optimal => search(system, full(), self.order, (), driver),
        };
    }
}

/// Runs UDPOR on `system` with another procedure to find alternatives.
pub fn udpor_with<S: System, T: Alternatives>(
    system: &S,
    alternatives: T,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut driver = Driver::new(system, budget, observer);
    search(system, alternatives, None, (), &mut driver);
    driver.finish()
}

/// Visits every class once, until the notes are full. Returns the unfolding built, the empty
/// configuration, and the notes.
pub(super) fn unfold<'s, S: System, N: Notes>(
    system: &'s S,
    k: K,
    notes: N,
    driver: &mut Driver<'_>,
) -> (Unfolding<'s, S>, Configuration, N) {
    match k {
        K::Partial(k) => search(system, KPartial::new(k), None, notes, driver),
        K::Optimal => search(system, full(), None, notes, driver),
    }
}

fn search<'s, S: System, T: Alternatives, N: Notes>(
    system: &'s S,
    alternatives: T,
    order: Option<Order>,
    notes: N,
    driver: &mut Driver<'_>,
) -> (Unfolding<'s, S>, Configuration, N) {
    let waits = driver.depth().is_none();
    let (mut unfolding, c) =
        Unfolding::new(system, driver.depth_bound(), waits, driver.signal().clone());
    unfolding.locals.keep_few(driver.budget().keep_locals);
    let branch = driver.branch().clone();
    let mut search = Search {
        unfolding,
        c,
        d: Vec::new(),
        disabled_before: Vec::new(),
        live: Vec::new(),
        guides: Vec::new(),
        j: Vec::new(),
        alternatives,
        queue: order.map(Queue::new),
        enough: driver.budget().keep_events,
        notes,
        left: LeftOut { spinning: waits, max_height: Some(driver.depth_bound()) },
        driver,
        start: Start::at(branch.prefix.len()),
        calls: Vec::new(),
    };
    if branch.is_root() {
        search.driver.started(&mut search.unfolding.locals, search.c.state());
    } else if search.go_to(&branch).is_none() && !search.driver.is_stopped() {
        search.driver.stop(StopReason::Stray);
    }
    search.explore(0, 0);
    search.report();
    search.unfolding.go_on();
    (search.unfolding, search.c, search.notes)
}

struct Search<'s, 'd, 'o, S: System, T, N> {
    unfolding: Unfolding<'s, S>,
    c: Configuration,
    /// D, newest last.
    d: Vec<EventId>,
    /// For each event of C, the size of D when the event was added.
    disabled_before: Vec<usize>,
    /// The sets D ∩ en(C) of the active calls, concatenated, that of the newest call last.
    live: Vec<EventId>,
    /// The sets A of the active calls, concatenated, each with causes first.
    guides: Vec<EventId>,
    j: Vec<EventId>,
    alternatives: T,
    /// Chooses events by an order; `None` to choose the least contended event.
    queue: Option<Queue>,
    /// The size of U at which events are discarded next.
    enough: usize,
    /// The recorder of a [`Recording`](super::recording::Recording), or `()`.
    notes: N,
    /// The actions that are left out of the unfolding.
    left: LeftOut,
    driver: &'d mut Driver<'o>,
    /// The smallest C whose call still looks for alternatives.
    start: Start<'s, S>,
    /// For each active call, the start of its D ∩ en(C) in `live`.
    calls: Vec<usize>,
}

/// If less stack than `RED_ZONE` (in bytes) is left, a segment of `STACK` bytes is added.
const RED_ZONE: usize = 64 << 10;
const STACK: usize = 4 << 20;

impl<'s, S: System, T: Alternatives, N: Notes> Search<'s, '_, '_, S, T, N> {
    /// Explore(C, D, A), where A = `guides[a..]`, and `live[outer..]` is the caller's D ∩ en(C).
    fn explore(&mut self, mut a: usize, outer: usize) {
        let (d, guides, live) = (self.d.len(), self.guides.len(), self.live.len());
        self.keep_enabled(outer..live);
        self.alternatives.descend(&self.c);
        self.calls.push(live);
        while let Some(e) = self.choose(a, live) {
            if intruder::is_too_late(&self.unfolding, &self.c, e) {
                intruder::report(&mut self.unfolding, &self.c, e, self.driver);
                break;
            }
            self.push(e);
            stacker::maybe_grow(RED_ZONE, STACK, || self.explore(a + 1, live));
            self.pop();
            if self.is_stopped() || self.c.state().depth() < self.start.length {
                break;
            }
            self.disable(e);
            if !self.find_alternative(live) {
                break;
            }
            a = self.guides.len();
            self.guides.extend_from_slice(&self.j);
        }
        self.calls.pop();
        self.driver.has_left(self.calls.len());
        self.alternatives.ascend();
        if self.unfolding.structure.len() > self.enough && !self.is_stopped() {
            self.forget();
        }
        self.d.truncate(d);
        self.guides.truncate(guides);
        self.live.truncate(live);
    }

    /// C := the prefix of the branch, with the events barred that are explored elsewhere. Ends
    /// early if the search is stopped, because en(C) is incomplete then. `None` if the branch is
    /// not one of this search.
    fn go_to(&mut self, branch: &Branch) -> Option<()> {
        if !branch.wanted.is_empty() {
            return None;
        }
        for &portable in &branch.prefix {
            if self.driver.is_stopped() {
                return Some(());
            }
            let e = self.named(portable)?;
            self.disabled_before.push(0);
            self.unfolding.push(&mut self.c, e);
        }
        for &portable in &branch.elsewhere {
            if self.driver.is_stopped() {
                return Some(());
            }
            let e = self.named(portable)?;
            self.unfolding.bar(&mut self.c, e);
        }
        Some(())
    }

    /// The event of en(C) whose action has this portable name, if there is one.
    fn named(&self, portable: Action) -> Option<EventId> {
        let named = self.c.state().action_named(&self.unfolding.locals, portable)?;
        self.c.enabled().find(|&e| self.unfolding.action(e) == named)
    }

    /// Gives away the open work of the outermost call that has any.
    #[cold]
    fn split(&mut self) {
        let Search { unfolding, c, live, calls, start, driver, .. } = self;
        let elsewhere = |size: usize| {
            let call = calls.len() - (c.state().depth() - size);
            let live = &live[calls[call]..calls.get(call + 1).copied().unwrap_or(live.len())];
            let barred = unfolding.barred_after(&c.events()[..size]);
            let all = barred.chain(live.iter().copied()).chain([c.events()[size]]);
            let portable = |e| {
                let has_message = unfolding.op(e).chooses_message();
                c.state().portable(unfolding.action(e), has_message)
            };
            all.map(portable).collect()
        };
        let system = unfolding.locals.system();
        if let Some(branch) = start.next_branch((system, c.state()), elsewhere) {
            driver.split_off(branch);
        }
    }

    fn is_stopped(&self) -> bool {
        self.driver.is_stopped() || self.notes.are_full()
    }

    /// Computes the new D ∩ en(C) from the caller's: an event of D in conflict with C stays in
    /// conflict with it, so no other event of D can be enabled.
    fn keep_enabled(&mut self, outer: std::ops::Range<usize>) {
        for index in outer {
            let d = self.live[index];
            if self.c.is_enabled(&self.unfolding.structure, d) {
                self.live.push(d);
            }
        }
    }

    /// D := D ∪ {e}
    fn disable(&mut self, e: EventId) {
        self.d.push(e);
        self.live.push(e);
    }

    /// U := U ∩ Q(C, D)
    fn forget(&mut self) {
        self.unfolding.forget(&self.c, &self.d, &self.guides, &self.disabled_before);
        self.alternatives.forget();
        if self.unfolding.locals.are_many() {
            let Search { unfolding, c, driver, .. } = self;
            unfolding.forget_locals(c, |needed| driver.tell_needed(needed));
        }
        self.enough = self.driver.budget().keep_events.max(2 * self.unfolding.structure.len());
    }

    /// An event of A ∩ en(C), or of en(C) ∖ D if A is empty; `None` if en(C) ⊆ D.
    fn choose(&mut self, a: usize, live: usize) -> Option<EventId> {
        if self.is_stopped() {
            return None;
        }
        if let Some(&e) = self.guides.get(a) {
            debug_assert!(
                self.c.is_enabled(&self.unfolding.structure, e),
                "{e:?} of A is in en(C)"
            );
            self.notes.chose(e);
            return Some(e);
        }
        if cfg!(debug_assertions) {
            prove_extended(&mut self.unfolding, &mut self.c, self.left);
        }
        let disabled = &self.live[live..];
        let best = match &mut self.queue {
            Some(queue) => {
                let candidates = self.c.enabled().filter(|e| !disabled.contains(e));
                queue.first(&self.unfolding, &self.c, candidates)
            }
            None => self.least_contended(disabled),
        };
        match best {
            Some(e) => self.notes.chose(e),
            None => self.leaf(live),
        }
        best
    }

    /// The first of the events of en(C) ∖ D with the fewest conflicts. Events that nothing can be
    /// in conflict with come before all others: then what follows them is explored once, and
    /// not once for each order of the others.
    fn least_contended(&self, disabled: &[EventId]) -> Option<EventId> {
        let mut best = None;
        for of_process in self.c.enabled_by_process() {
            for &e in of_process {
                if disabled.contains(&e) {
                    continue;
                }
                let event = self.unfolding.structure.event(e);
                let key = (event.is_contended(), event.degree());
                // The least key possible. There may be thousands of events, so the search stops
                // here.
                if key == (false, 0) {
                    return Some(e);
                }
                if best.is_none_or(|(least, _)| key < least) {
                    best = Some((key, e));
                }
            }
        }
        best.map(|(_, e)| e)
    }

    fn push(&mut self, e: EventId) {
        self.disabled_before.push(self.d.len());
        self.unfolding.push(&mut self.c, e);
        let action = self.unfolding.action(e);
        self.driver.stats.events_built = Some(self.unfolding.structure.built());
        self.driver.moved(&mut self.unfolding.locals, self.c.state(), action);
        self.notes.pushed(self.unfolding.structure.len());
        if self.driver.is_to_split() {
            self.split();
        }
    }

    fn pop(&mut self) {
        self.unfolding.pop(&mut self.c);
        self.disabled_before.pop();
        self.notes.popped();
    }

    /// en(C) ⊆ D: a complete execution, one that the bound cuts, or a blocked exploration.
    fn leaf(&mut self, live: usize) {
        if self.c.enabled().next().is_some() {
            prove_extended(&mut self.unfolding, &mut self.c, self.left);
            let events = self.c.events();
            assert!(!self.alternatives.are_full(), "full alternatives left {events:?} blocked");
            self.driver.blocked(&self.unfolding.locals, self.c.state());
            self.notes.blocked(&self.live[live..]);
        } else if self.unfolding.barred_after(self.c.events()).next().is_some() {
            self.driver.blocked(&self.unfolding.locals, self.c.state());
            self.notes.blocked(&[]);
        } else {
            maximal::report(&mut self.unfolding, &mut self.c, self.driver, &mut self.notes);
        }
    }

    /// Is there J ∈ Alt(C, D)? Then `j` is J ∖ C.
    fn find_alternative(&mut self, live: usize) -> bool {
        let disabled = &self.live[live..];
        let found =
            self.alternatives.find(&self.unfolding.structure, &self.c, disabled, &mut self.j);
        self.notes.answered(found.then_some(&self.j[..]));
        found
    }

    fn report(&mut self) {
        let structure = &mut self.unfolding.structure;
        self.driver.stats.events_built = Some(structure.built());
        self.driver.stats.events = structure.distinct();
        self.driver.stats.sat_calls = Some(self.alternatives.sat_calls());
        self.driver.stats.combs = Some(self.alternatives.combs());
    }
}
