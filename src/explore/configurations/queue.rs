//! Chooses enabled events by an [`Order`].

use crate::explore::order::{History, Order, Sorter};
use crate::model::{Action, Op, ProcessId, State, System};
use crate::unfolding::{Configuration, EventId, Unfolding};

/// An order of trying, with scratch space for events.
pub struct Queue {
    sorter: Sorter,
    events: Vec<EventId>,
    actions: Vec<Action>,
}

impl Queue {
    /// Chooses by this order.
    pub fn new(order: Order) -> Self {
        Queue { sorter: Sorter::new(order), events: Vec::new(), actions: Vec::new() }
    }

    /// The first of these events of en(C). There is one event for each possible action.
    pub fn first<S: System>(
        &mut self,
        unfolding: &Unfolding<'_, S>,
        c: &Configuration,
        events: impl Iterator<Item = EventId>,
    ) -> Option<EventId> {
        self.events.clear();
        self.events.extend(events);
        self.actions.clear();
        self.actions.extend(self.events.iter().map(|&e| unfolding.action(e)));
        self.sorter.sort(&Reached { unfolding, c }, &mut self.actions);
        let first = *self.actions.first()?;
        self.events.iter().copied().find(|&e| unfolding.action(e) == first)
    }
}

/// C, seen as the execution that led to it.
struct Reached<'r, 's, S: System> {
    unfolding: &'r Unfolding<'s, S>,
    c: &'r Configuration,
}

impl<S: System> History for Reached<'_, '_, S> {
    fn state(&self) -> &State {
        self.c.state()
    }

    fn is_actor(&self, process: ProcessId) -> bool {
        let op = self.unfolding.locals.op(self.c.state().local(process));
        matches!(op, Some(Op::Handle { .. }))
    }

    fn last(&self, process: ProcessId) -> Option<usize> {
        let structure = &self.unfolding.structure;
        self.c.events().iter().rposition(|&e| structure.event(e).process == process)
    }
}
