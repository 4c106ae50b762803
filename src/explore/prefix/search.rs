//! The explorer: builds the prefix, judges its events as they are added, and asks about the rest.

#[cfg(feature = "sat")]
use super::answers::Answers;
use super::kept::Kept;
use super::net::ModelNet;
use super::transitions::Plan;
use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile};
use crate::explore::result::{PrefixFigures, StopReason};
use crate::explore::settings::options::{Options, Takes};
use crate::model::System;
use crate::property::{Property, When};
use crate::unfolding::prefix::{Net, Prefix, PrefixEvent};

/// Builds the complete finite prefix, and asks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinitePrefix {
    /// With more copies of events for sets of reads than this, read arcs are tried, too.
    most_copies: usize,
}

impl Default for FinitePrefix {
    fn default() -> Self {
        FinitePrefix::with_most_copies(64)
    }
}

impl FinitePrefix {
    /// The explorer; it has no options.
    pub fn new(_: &Options) -> Self {
        FinitePrefix::default()
    }

    /// The explorer that tries read arcs, too, when there are more copies of events for sets of
    /// reads than this.
    pub fn with_most_copies(most_copies: usize) -> Self {
        FinitePrefix { most_copies }
    }
}

impl Explorer for FinitePrefix {
    fn profile(&self) -> Profile {
        Profile {
            name: "prefix",
            summary: "the complete finite prefix of the unfolding, and a SAT solver that is asked about it",
            source: "Esparza, Römer, Vogler (FMSD 2002)",
            requires: None,
            guarantee: Guarantee::EveryViolation,
            takes: Takes::NOTHING,
            depth: Depth::Unbounded,
            can_be_saved: true,
            ..Profile::default()
        }
    }

    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        let remembers_all = system.foresight().remembers_all();
        let is_asked = |property: &dyn Property| property.is_about_one_thing() && remembers_all;
        let what = if cfg!(not(feature = "sat")) {
            "needs the feature `sat` of the crate"
        } else if budget.depth.is_some() {
            "takes no depth bound (it needs none: programs with finitely many states end)"
        } else if own_ends(budget).any(|property| !is_asked(property)) {
            "cannot ask properties of users at all ends (`udpor` can)"
        } else {
            return None;
        };
        Some(format!("`prefix` {what}"))
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        if self.refusal(system, driver.budget()).is_some() {
            return driver.stop(StopReason::NoGuarantee);
        }
        driver.leave_out_invariants();
        driver.goes_through_all_states();
        let (mut plan, mut kept) = (Plan::default(), Kept::begun(driver));
        while let Some(before) = kept.take() {
            let mut net = ModelNet::new(system, plan, driver.signal().clone());
            net.kept = before;
            let prefix = self.build(&mut net, driver);
            // An action before a cutoff may be in no end.
            let mut own = own_ends(driver.budget());
            if prefix.cutoffs() > 0 && own.any(|one| one.looks_back(&net.locals.values)) {
                net.is_to_be_whole();
            }
            drop(own);
            if let Some(more) = net.must_start_again() {
                plan = more.clone();
                kept = Some(net.kept);
                continue;
            }
            driver.stats.prefix = Some(PrefixFigures {
                events: prefix.events().filter(|&event| !prefix.is_outside(event)).count() as u64,
                cutoffs: prefix.cutoffs() as u64,
                bytes: prefix.bytes() as u64,
                has_read_arcs: prefix.has_read_arcs(),
                has_shortest_deadlock: false,
            });
            if net.is_refused() {
                driver.stop(StopReason::Growing);
            }
            net.kept.is_built(driver);
            #[cfg(feature = "sat")]
            if !driver.is_stopped() {
                let transitions = driver.stats.transitions;
                driver.stats.sat_calls = Some(Answers::find(&mut net, &prefix, driver));
                driver.stats.transitions = transitions;
            }
            net.kept.end(driver);
            return;
        }
    }
}

/// The properties of users about ends.
fn own_ends(budget: &Budget) -> impl Iterator<Item = &dyn Property> {
    budget.properties.own().filter(|property| property.when() == When::End)
}

impl FinitePrefix {
    /// Builds the prefix, and judges the events that may fail a process. If there are many copies
    /// of events for sets of reads, the unfolding with read arcs is built beside it, until one of
    /// the two is complete: always the one that has fewer events so far goes on.
    fn build<S: System>(&self, net: &mut ModelNet<'_, S>, driver: &mut Driver<'_>) -> Prefix {
        let mut with_copies = started(net, driver);
        let mut with_arcs = None;
        let (mut may_have_arcs, mut added) = (true, Vec::new());
        while !net.is_stopped() && !driver.is_stopped() {
            if may_have_arcs && with_arcs.is_none() && with_copies.copies() > self.most_copies {
                let mut prefix = Prefix::new(net);
                prefix.with_read_arcs();
                with_arcs = Some(prefix);
            }
            let is_smaller = |arcs: &Prefix| arcs.events().len() < with_copies.events().len();
            let is_turn = with_arcs.as_ref().is_some_and(is_smaller);
            let prefix = if is_turn { with_arcs.as_mut() } else { None };
            let prefix = prefix.unwrap_or(&mut with_copies);
            if !grow(net, prefix, &mut added, driver) {
                return if is_turn { with_arcs.expect("its turn") } else { with_copies };
            }
            if is_turn && added.iter().any(|&event| prefix.returns(event)) {
                (with_arcs, may_have_arcs) = (None, false);
            }
        }
        with_copies
    }
}

/// Builds the prefix until it has as many events as this, and some of the same size. Returns also
/// whether there are no more.
pub(super) fn build_up_to<S: System>(
    net: &mut ModelNet<'_, S>,
    driver: &mut Driver<'_>,
    max_events: usize,
) -> (Prefix, bool) {
    let mut prefix = started(net, driver);
    let (mut added, mut count) = (Vec::new(), 0);
    while !net.is_stopped() && !driver.is_stopped() && count < max_events {
        if !grow(net, &mut prefix, &mut added, driver) {
            return (prefix, true);
        }
        count += added.len();
    }
    (prefix, false)
}

/// The prefix without events.
fn started<S: System>(net: &mut ModelNet<'_, S>, driver: &mut Driver<'_>) -> Prefix {
    driver.started(&mut net.locals, &net.state);
    let mut prefix = Prefix::new(net);
    if net.is_whole() {
        prefix.without_cutoffs();
    }
    prefix
}

/// Adds the events of the next size, which are `added` afterwards, and judges those that may fail
/// a process. Returns whether there were any.
fn grow<S: System>(
    net: &mut ModelNet<'_, S>,
    prefix: &mut Prefix,
    added: &mut Vec<PrefixEvent>,
    driver: &mut Driver<'_>,
) -> bool {
    added.clear();
    let is_more = prefix.grow(net, added, |net, work| {
        driver.worked(work);
        net.kept.pass(true, driver);
        !driver.is_stopped()
    });
    if let Some(&event) = added.first() {
        driver.has_filled(net.in_actions(prefix.event(event).size));
    }
    added.iter().for_each(|&event| judge(net, prefix, event, driver));
    is_more
}

fn judge<S: System>(
    net: &mut ModelNet<'_, S>,
    prefix: &mut Prefix,
    event: PrefixEvent,
    driver: &mut Driver<'_>,
) {
    let transition = prefix.event(event).transition;
    let (is_judged, starts) = (net.step(transition).is_judged, net.step(transition).starts);
    if cfg!(debug_assertions) || is_judged {
        let mut past = Vec::new();
        prefix.collect(&[event], &mut past);
        let path: Vec<u32> = past.iter().map(|&event| prefix.event(event).transition).collect();
        if starts {
            net.check_start(&path);
        }
        if net.is_refused() {
            return;
        }
        net.check(&path, |line| {
            (line < prefix.lines()).then(|| prefix.code(prefix.last(event, line)))
        });
    }
    if prefix.event(event).size > driver.length_bound() {
        driver.stop(StopReason::Endless);
    }
    if !is_judged {
        return driver.moved_on(prefix.event(event).size as usize);
    }
    let action = net.state.schedule().next_back().expect("an action");
    driver.moved(&mut net.locals, &net.state, action);
}
