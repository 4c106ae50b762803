//! The complete finite prefix as an explorer: verdicts from the unfolding itself, neither class by
//! class nor state by state.
//!
//! ```text
//! build the prefix                  crate::unfolding::prefix, of the system as a net (`net`)
//!   each event that fails a process is judged when it is added: its local configuration is the
//!   counterexample
//! ask for deadlocks, ends, ..       `verdict`, by questions to a SAT solver (`question`)
//! ```
//!
//! McMillan (CAV 1992); Esparza, Römer, Vogler (FMSD 2002). An execution is never enumerated, so
//! neither the number of classes nor that of states matters, only that of events: independent
//! choices add up. A program that runs for ever but has finitely many states has a finite prefix.
//!
//! **What is a step.** Mutexes that are only locked and unlocked are taken in one step (`net`), so
//! the events of the prefix are not those of UDPOR. The dependence relation is that of the parts of
//! a state: two actions are dependent if one changes a part that the other one looks at. So sends
//! and receives at one mailbox are dependent, and so are the arrivals at a barrier. That makes the
//! prefix larger than it could be, and changes no verdict.
//!
//! **What is refused.** Networks (p2p and bag mailboxes, collectives), condition variables and
//! actors: their operations depend on more than one part of a state that has a fixed place. A
//! program that starts processes in a loop. Properties of users about ends or states: they would
//! have to be asked everywhere.
//!
//! **Minimal counterexamples.** Events are added by the size of their local configurations. So no
//! smaller one leads to a failure of that process at that place (but a lock is one step).

mod net;
mod question;
mod verdict;

use net::ModelNet;
use verdict::Verdict;

use super::budget::{Budget, Depth};
use super::driver::Driver;
use super::explorer::{Explorer, Guarantee, Profile};
use super::result::{PrefixFigures, StopReason};
use super::settings::options::{Options, Takes};
use crate::model::{Action, Locals, Op, State, System};
use crate::property::When;
use crate::unfolding::prefix::{Net, Prefix, PrefixEvent};

/// Builds the complete finite prefix, and asks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FinitePrefix;

impl FinitePrefix {
    /// The explorer; it has no options.
    pub fn new(_: &Options) -> Self {
        FinitePrefix
    }
}

impl Explorer for FinitePrefix {
    fn profile(&self) -> Profile {
        Profile {
            name: "prefix",
            summary: "the complete finite prefix of the unfolding, and a SAT solver that is asked about it",
            source: "Esparza, Römer, Vogler (FMSD 2002)",
            requires: Some("no p2p or bag mailboxes, collectives, condition variables or actors"),
            guarantee: Guarantee::EveryViolation,
            takes: Takes::NOTHING,
            depth: Depth::Unbounded,
            ..Profile::default()
        }
    }

    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        let own = |kind| budget.properties.own().any(|property| property.when() == kind);
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        let is_actor = |process| matches!(locals.op(state.local(process)), Some(Op::Handle { .. }));
        let what = if budget.depth.is_some() {
            "takes no depth bound (it needs none: programs with finitely many states end)"
        } else if own(When::End) {
            "cannot ask properties of users at all ends (`udpor` can)"
        } else if !locals.met().condvars.is_empty() {
            "takes no condition variables yet (`udpor` does)"
        } else if state.processes().any(is_actor) {
            "takes no actors yet (`udpor` does)"
        } else if !state.has_scopes(&locals) {
            "takes no p2p or bag mailboxes, no collectives, and no programs that meet their objects on the way \
             (`udpor` does)"
        } else {
            return None;
        };
        Some(format!("`prefix` {what}"))
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        driver.leave_out_invariants();
        driver.goes_through_all_states();
        let mut queued = Default::default();
        loop {
            let mut net = ModelNet::new(system, queued, driver.signal().clone());
            let prefix = build(&mut net, driver);
            if let Some(more) = net.must_start_again() {
                queued = more.clone();
                continue;
            }
            driver.stats.prefix = Some(PrefixFigures {
                events: (prefix.events().len() - prefix.cutoffs()) as u64,
                cutoffs: prefix.cutoffs() as u64,
                bytes: prefix.bytes() as u64,
            });
            if net.is_refused() {
                driver.stop(StopReason::Growing);
            }
            if !driver.is_stopped() {
                let transitions = driver.stats.transitions;
                driver.stats.sat_calls = Some(Verdict::judge(&mut net, &prefix, driver));
                driver.stats.transitions = transitions;
            }
            return;
        }
    }
}

/// Builds the prefix, and judges the events that may fail a process.
fn build<S: System>(net: &mut ModelNet<'_, S>, driver: &mut Driver<'_>) -> Prefix {
    driver.started(&mut net.locals, &net.state);
    let mut prefix = Prefix::new(net);
    let mut added = Vec::new();
    while !net.is_stopped() && !driver.is_stopped() && prefix.grow(net, &mut added) {
        for event in added.drain(..) {
            judge(net, &mut prefix, event, driver);
        }
    }
    prefix
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
        net.check(&path, |line| prefix.code(prefix.last(event, line)));
        if starts {
            net.check_start(&path);
        }
    }
    if !is_judged || net.is_refused() {
        return driver.moved_on(prefix.event(event).size as usize);
    }
    let process = net.process(prefix.event(event).line);
    let choice = *net.step(transition).choices.last().expect("an action");
    driver.moved(&mut net.locals, &net.state, Action { process, choice });
}
