//! The unfolding of a system as a prime event structure, built along the configurations that a
//! search visits.
//!
//! [`Unfolding`] holds U, the events found so far; [`Configuration`] is the current configuration C
//! of a search. [`Unfolding::push`] adds an event of en(C) to C and finds exactly the new
//! extensions: those with this event in their history. [`Unfolding::pop`] removes the last event
//! again. Nothing is copied on the way.
//!
//! | file | idea |
//! |---|---|
//! | `lanes` | processes and chains, whose events are totally ordered along an execution |
//! | `event` | events and their places in the trees |
//! | `structure` | U: the arena of events, hash-consed |
//! | `barred` | events that a branch of a search leaves out |
//! | `cut` | configurations as the last event of each lane; causality |
//! | `direct_causes` | causality without what follows by transitivity |
//! | `conflict` | compatibility, conflict, immediate conflict |
//! | `census` | counting distinct events although some are forgotten |
//! | `clash` | is an event in conflict with C? |
//! | `configuration` | C with its state and its trail |
//! | `extensions` | ex(C), operation by operation, incrementally |
//! | `forget` | U := U ∩ Q(C, D) |

mod barred;
mod census;
mod clash;
mod configuration;
mod conflict;
mod cut;
mod direct_causes;
mod event;
mod event_set;
mod extensions;
mod forget;
mod lanes;
pub mod prefix;
mod skip_tree;
mod stamps;
mod structure;

pub use configuration::Configuration;
pub use event::{Event, EventId, EventKind};
pub use lanes::Lane;
pub use structure::EventStructure;

pub(crate) use direct_causes::direct_causes;
pub(crate) use event_set::EventSet;
pub(crate) use lanes::Lanes;
pub(crate) use stamps::Stamps;

use smallvec::SmallVec;

use extensions::Combined;

use crate::model::{Action, Locals, Op, State, StopSignal, System};

/// U, and the system whose unfolding it is a prefix of.
pub struct Unfolding<'s, S: System> {
    /// The system's local states.
    pub locals: Locals<'s, S>,
    /// The events found so far.
    pub structure: EventStructure,
    /// Events of greater height are not built.
    max_height: u32,
    /// Events that end spin iterations are not built.
    waits: bool,
    /// The last large list of events whose maximal events were asked for, and the answer.
    crowd: (Vec<EventId>, SmallVec<[EventId; 4]>),
    /// What the search for extensions need not look up again.
    combined: Combined,
    /// Number of times that an event was left out because of its height.
    too_high: u64,
}

impl<'s, S: System> Unfolding<'s, S> {
    /// No events yet, and the empty configuration with its extensions. Events higher than
    /// `max_height` will not be built: that prefix of the unfolding is finite even if the system
    /// can run for ever. If `waits`, events that end spin iterations will not be built either: see
    /// `trace::spin`. Once `stop` is raised, extensions, conflicts and answers about them
    /// mean nothing.
    pub fn new(
        system: &'s S,
        max_height: u32,
        waits: bool,
        stop: StopSignal,
    ) -> (Self, Configuration) {
        let mut locals = Locals::new(system);
        let lanes = Lanes::new(locals.objects());
        let configuration = Configuration::new(&lanes, &mut locals);
        let structure = EventStructure::new(lanes, locals.initial().len(), stop);
        let mut unfolding = Unfolding {
            locals,
            structure,
            max_height,
            waits,
            too_high: 0,
            crowd: Default::default(),
            combined: Combined::default(),
        };
        let mut empty = configuration;
        unfolding.extend_empty(&mut empty);
        (unfolding, empty)
    }

    /// The operation of an event.
    pub fn op(&self, event: EventId) -> &Op {
        let before = self.structure.event(event).before;
        self.locals.op(before).expect("an event has an operation")
    }

    /// The action of an event.
    pub fn action(&self, event: EventId) -> Action {
        let event = self.structure.event(event);
        Action { process: event.process, choice: event.choice }
    }

    /// Lets no signal stop it from now on.
    pub(crate) fn go_on(&mut self) {
        self.structure.stop = StopSignal::default();
        self.crowd = Default::default();
    }

    /// For C without enabled events: is there an action whose event is too high? (If not, and the
    /// state is not terminal, all possible actions would end spin iterations: see
    /// `extensions/spin`.)
    pub(crate) fn is_cut_at(&mut self, c: &Configuration) -> bool {
        let before = self.too_high;
        for process in c.state().processes().collect::<Vec<_>>() {
            self.extensions_of(c, process);
        }
        self.too_high > before
    }

    /// Calls `look` with state(C). It may continue from there, but has to undo what it does.
    pub(crate) fn looking_on<T>(
        &mut self,
        c: &mut Configuration,
        look: impl FnOnce(&mut Locals<'s, S>, &mut State) -> T,
    ) -> T {
        let depth = c.state.depth();
        let seen = look(&mut self.locals, &mut c.state);
        debug_assert_eq!(c.state.depth(), depth, "what was done is undone");
        seen
    }
}
