//! A prefix of the unfolding, for display: all events that UDPOR has built, and the calls in which
//! it built them.
//!
//! The search is an ordinary UDPOR search that discards no events. So ids ascend in the order in
//! which events were built, causes first, and the n events with the smallest ids are a prefix of
//! the unfolding for every n. The search stops at a limit on the number of events, or on the number
//! of maximal configurations, which can be exponential in the number of events.
//!
//! The search reports each step to its `Notes`. They are a type parameter, so a search without
//! notes pays nothing. A `Call` is one Explore(C, D, A) of algorithm 1; the second call with the
//! same C (a loop in our code) counts as a call, too. A call does not store its three sets, because
//! they follow from those of its caller:
//!
//! ```text
//!              (C, D, A)  chooses e
//!             /         \            \  if there is an alternative J
//!  (C ∪ {e}, D, A ∖ {e})    (C, D ∪ {e}, J ∖ C)
//! ```

use super::k::K;
use super::search;
use crate::explore::budget::Budget;
use crate::explore::configurations::backtracking;
pub use crate::explore::configurations::backtracking::Added;
use crate::explore::configurations::notes::Notes;
use crate::explore::driver::Driver;
use crate::explore::observer::Observer;
use crate::explore::order::Order;
use crate::explore::result::Outcome;
use crate::model::{Action, Schedule, StopSignal, System};
use crate::unfolding::{Configuration, EventId, Unfolding};

/// The default limit on the number of maximal configurations visited.
const MAX_CONFIGURATIONS: u64 = 1_000;

/// The part of the unfolding that a search has built, and its calls.
pub struct Recording<'s, S: System> {
    /// U: all events that were built.
    pub(crate) unfolding: Unfolding<'s, S>,
    /// The maximal configurations visited, each in the order of an execution.
    pub(crate) maximal: Vec<Vec<EventId>>,
    /// The calls, in the order in which they were made.
    pub(crate) calls: Vec<Call>,
    /// Did the search stop because it had built more events than its limit?
    pub(crate) is_full: bool,
    /// Did the search stop because it had made as many calls as its limit?
    pub(crate) is_long: bool,
    /// The empty configuration.
    empty: Configuration,
}

impl<S: System> Recording<'_, S> {
    /// The schedule of these events, which must be in the order of an execution.
    pub(crate) fn schedule(&mut self, events: &[EventId]) -> Schedule {
        let Unfolding { structure, locals, .. } = &mut self.unfolding;
        let actions = events.iter().map(|&id| structure.event(id));
        Schedule::of_actions(
            locals,
            actions.map(|event| Action { process: event.process, choice: event.choice }),
        )
    }

    /// The events of an execution, as far as they exist in the unfolding: not beyond a bound on the
    /// depth, and not after a barrier is overcrowded. Events that the search has not built are
    /// added to U.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "pages of an unfolding ask it"))]
    pub(crate) fn events(&mut self, schedule: &Schedule) -> Vec<EventId> {
        for &action in schedule {
            let Some(event) = self.enabled(action) else { break };
            if self.empty.state().is_crowded() {
                break;
            }
            self.unfolding.push(&mut self.empty, event);
        }
        let events = self.empty.events().to_vec();
        for _ in &events {
            self.unfolding.pop(&mut self.empty);
        }
        events
    }

    /// The event of en(C) for the action with this portable name.
    fn enabled(&self, portable: Action) -> Option<EventId> {
        let (c, locals) = (&self.empty, &self.unfolding.locals);
        let Action { process, choice } = c.state().action_named(locals, portable)?;
        let is_meant = |&event: &EventId| self.unfolding.structure.event(event).choice == choice;
        c.enabled_of(process).iter().copied().find(is_meant)
    }
}

/// One Explore(C, D, A).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The index of the calling call, and which of its two calls this is; `None` for the first
    /// call.
    pub(crate) caller: Option<(usize, Side)>,
    /// Its result.
    pub(crate) fate: Fate,
}

/// Which of the two calls of its caller a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// With the event chosen: Explore(C ∪ {e}, D, A ∖ {e}).
    With,
    /// Without it: Explore(C, D ∪ {e}, J ∖ C).
    Without,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It chose an event.
    Chose(EventId, Alternative),
    /// C is maximal.
    Maximal,
    /// It was blocked: en(C) is not empty, and en(C) ⊆ D.
    Blocked(Vec<EventId>),
    /// The depth bound cut it.
    Cut,
    /// It was given up: a process waits in a loop for something that has happened already
    /// ([`crate::trace::spin`]).
    GivenUp,
    /// C was visited before: DPOR explores a configuration once.
    Known,
}

/// The alternative that was found after everything with the event was explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Alternative {
    /// The search stopped before it looked for one.
    Unknown,
    /// There is none.
    Missing,
    /// J ∖ C, causes first.
    Found(Vec<EventId>),
}

/// Notes for a [`Recording`].
struct Record {
    extent: Extent,
    maximal: Vec<Vec<EventId>>,
    calls: Vec<Call>,
    /// The caller of the next call.
    caller: Option<(usize, Side)>,
    /// The calls whose first call has not returned yet.
    waiting: Vec<usize>,
    is_full: bool,
    is_long: bool,
}

impl Record {
    fn add(&mut self, fate: Fate) {
        match self.calls.len() < self.extent.calls {
            true => self.calls.push(Call { caller: self.caller, fate }),
            false => self.is_long = true,
        }
    }
}

impl Notes for Record {
    fn chose(&mut self, e: EventId) {
        self.add(Fate::Chose(e, Alternative::Unknown));
    }

    fn pushed(&mut self, met: usize) {
        let caller = self.calls.len() - 1;
        self.waiting.push(caller);
        self.caller = Some((caller, Side::With));
        self.is_full |= met > self.extent.events;
    }

    fn known(&mut self) {
        let caller = self.calls.len() - 1;
        self.caller = Some((caller, Side::With));
        self.add(Fate::Known);
        self.caller = Some((caller, Side::Without));
    }

    fn popped(&mut self) {
        let caller = self.waiting.pop().expect("a call that chose an event");
        self.caller = Some((caller, Side::Without));
    }

    fn answered(&mut self, j: Option<&[EventId]>) {
        let Some((asked, _)) = self.caller else { return };
        if let Fate::Chose(_, alternative) = &mut self.calls[asked].fate {
            *alternative = j.map_or(Alternative::Missing, |j| Alternative::Found(j.to_vec()));
        }
    }

    fn maximal(&mut self, c: &[EventId]) {
        self.maximal.push(c.to_vec());
        self.add(Fate::Maximal);
    }

    fn blocked(&mut self, enabled: &[EventId]) {
        self.add(Fate::Blocked(enabled.to_vec()));
    }

    fn cut(&mut self) {
        self.add(Fate::Cut);
    }

    fn given_up(&mut self) {
        self.add(Fate::GivenUp);
    }

    fn are_full(&self) -> bool {
        self.is_full || self.is_long
    }
}

/// A search along configurations whose calls can be recorded.
#[derive(Clone, Copy, Debug)]
pub enum Searched {
    /// UDPOR with this k.
    Udpor(K),
    /// DPOR or TransDPOR over configurations, in this order. D are then the events of backtrack(C)
    /// that are done, and the alternative is the next event of backtrack(C).
    Backtracking(Order, Added),
}

impl From<K> for Searched {
    fn from(k: K) -> Searched {
        Searched::Udpor(k)
    }
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// It stops when it has built more events than this.
    pub events: usize,
    /// It stops when it has made more calls than this.
    pub calls: usize,
}

/// Runs UDPOR until it is complete, has built more than `max_events` events, or `budget` ends it.
pub fn unfold<'s, S: System>(
    system: &'s S,
    max_events: usize,
    budget: Budget,
    observer: &mut dyn Observer,
) -> (Recording<'s, S>, Outcome) {
    let extent = Extent { events: max_events, calls: usize::MAX };
    record(system, K::Optimal, extent, budget, observer)
}

/// Runs this search until it is complete, reaches these limits, or `budget` ends it.
pub fn record<'s, S: System>(
    system: &'s S,
    searched: impl Into<Searched>,
    extent: Extent,
    budget: Budget,
    observer: &mut dyn Observer,
) -> (Recording<'s, S>, Outcome) {
    let max_traces = budget.max_traces.or(Some(MAX_CONFIGURATIONS));
    let budget = Budget { all: true, keep_events: usize::MAX, max_traces, ..budget };
    let mut driver = Driver::new(system, budget, observer);
    let notes = Record {
        extent,
        maximal: Vec::new(),
        calls: Vec::new(),
        caller: None,
        waiting: Vec::new(),
        is_full: false,
        is_long: false,
    };
    // The events are used whatever stops the search.
    let found = StopSignal::disregarded(|| match searched.into() {
        Searched::Udpor(k) => search::unfold(system, k, notes, &mut driver),
        Searched::Backtracking(order, added) => {
            backtracking::explore(system, order, added, notes, &mut driver)
        }
    });
    let (unfolding, empty, Record { maximal, calls, is_full, is_long, .. }) = found;
    (Recording { unfolding, maximal, calls, is_full, is_long, empty }, driver.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::observer::NoObserver;
    use crate::property::scripts::{Script, isend};

    /// Three sends to one mailbox: 3 + 6 + 6 events, six orders.
    #[test]
    fn a_prefix_is_closed_under_causes() {
        let script = Script::new(vec![vec![isend(0, None)]; 3]).mailboxes(1);
        for max_events in [4, 15, 100] {
            let (prefix, _) = unfold(&script, max_events, Budget::default(), &mut NoObserver);
            let structure = &prefix.unfolding.structure;
            assert!(
                structure.ids().all(|id| structure.event(id).causes.iter().all(|&c| c < id)),
                "causes come first"
            );
            assert_eq!(prefix.is_full, max_events < 15);
            if !prefix.is_full {
                assert_eq!((structure.len(), prefix.maximal.len()), (15, 6));
            }
        }
    }

    #[test]
    fn executions_and_configurations_translate() {
        let script = Script::new(vec![vec![isend(0, None); 2]; 3]).mailboxes(1);
        let (mut prefix, _) = unfold(&script, 1_000, Budget::default(), &mut NoObserver);
        let met = prefix.unfolding.structure.len();
        for maximal in prefix.maximal.clone() {
            let schedule = prefix.schedule(&maximal);
            assert_eq!(prefix.events(&schedule), maximal);
        }
        assert_eq!(prefix.unfolding.structure.len(), met, "all of them were built before");
    }
}
