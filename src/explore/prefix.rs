//! A piece of the unfolding to look at: what UDPOR met, all of it kept, with where it came to an end.
//!
//! The search is UDPOR's own ([`super::udpor`]). It forgets nothing here, so ids ascend in the order in which
//! events were met, causes first: any first part of them is a prefix of the unfolding. It stops when it has
//! met as many events as are wanted, or as many maximal configurations: their number can be exponential in
//! that of the events.

use super::{Budget, Driver, K, Observer, Outcome, udpor};
use crate::model::{Action, Choice, Handled, Op, State, System};
use crate::unfolding::{Configuration, EventId, Unfolding};

/// So many maximal configurations are visited at most, unless the budget says less.
const MAX_CONFIGURATIONS: u64 = 1_000;

/// What a search met.
pub struct Prefix<'s, S: System> {
    /// U, as far as it was built.
    pub unfolding: Unfolding<'s, S>,
    /// The maximal configurations visited, each in the order of an execution.
    pub maximal: Vec<Vec<EventId>>,
    /// It stopped because there were events enough.
    pub is_full: bool,
    /// ∅, where the search began and ended.
    empty: Configuration,
}

impl<S: System> Prefix<'_, S> {
    /// An execution of these events, which are in the order of one, for a replay elsewhere.
    pub fn schedule(&mut self, events: &[EventId]) -> Vec<Action> {
        let mut state = State::initial(&mut self.unfolding.locals);
        for &id in events {
            let event = self.unfolding.structure.event(id);
            let action = Action { process: event.process, choice: event.choice };
            state.step(&mut self.unfolding.locals, action);
        }
        state.portable_schedule()
    }

    /// The other way round: the events of an execution, as far as the unfolding reaches: there is a bound to
    /// the height of events, and none after a barrier is crowded. Those that the search did not meet join U.
    pub fn events(&mut self, schedule: &[Action]) -> Vec<EventId> {
        for &action in schedule {
            let Some(event) = self.enabled(action) else { break };
            if self.empty.state().oversubscribed().is_some() {
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

    /// The event of en(C) that is this action of a replay.
    fn enabled(&self, Action { process, choice }: Action) -> Option<EventId> {
        let (c, locals) = (&self.empty, &self.unfolding.locals);
        let ids = c.state().portable_ids();
        let process = c.state().processes().find(|own| ids[own.index()] == process)?;
        let choice = match (locals.op(c.state().local(process))?, choice.handled()) {
            (Op::Handle { .. }, Handled::Message(position)) => {
                Choice::message(c.state().inboxes().log().get(position.index())?.id)
            }
            _ => choice,
        };
        let is_meant = |&event: &EventId| self.unfolding.structure.event(event).choice == choice;
        c.enabled_of(process).iter().copied().find(is_meant)
    }
}

/// What a search notes for a [`Prefix`].
pub(super) struct Notes {
    pub(super) maximal: Vec<Vec<EventId>>,
    pub(super) max_events: usize,
    pub(super) is_full: bool,
}

/// Runs UDPOR until it is complete, has met more than `max_events` events, or `budget` ends it.
pub fn unfold<'s, S: System>(
    system: &'s S,
    max_events: usize,
    budget: Budget,
    observer: &mut dyn Observer,
) -> (Prefix<'s, S>, Outcome) {
    let max_traces = budget.max_traces.map_or(MAX_CONFIGURATIONS, |n| n.min(MAX_CONFIGURATIONS));
    let budget =
        Budget { all: true, keep_events: usize::MAX, max_traces: Some(max_traces), ..budget };
    let mut driver = Driver::new(budget, observer);
    let notes = Notes { maximal: Vec::new(), max_events, is_full: false };
    let (unfolding, empty, notes) = udpor::unfold(system, K::Optimal, notes, &mut driver);
    let prefix = Prefix { unfolding, maximal: notes.maximal, is_full: notes.is_full, empty };
    (prefix, driver.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::NoObserver;
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
        assert_eq!(prefix.unfolding.structure.len(), met, "all of them were met before");
    }
}
