//! What is judged in a search, and when: the built-in properties, and those of users.
//!
//! | property | asked | objects to |
//! |---|---|---|
//! | [`Failures`] | when a process fails | assertions that do not hold, and run-time errors |
//! | [`CrowdedBarriers`] | when a process arrives at a full barrier | more arrivals than participants |
//! | [`Deadlocks`] | at the end of an execution | processes that are neither done nor failed nor daemons |
//! | [`Invariants`] | in every state | what the system's [`Invariants`](crate::model::Invariants) say is wrong |
//! | [`FinalStates`] | at the end of an execution | what the system's [`Finale`](crate::model::Finale) says is wrong |
//! | [`Livelocks`] | where only spin iterations are possible | processes that spin for ever |
//! | [`Demands`] | on loops in the graph of states | fair executions that do not do what the system's [`Liveness`](crate::model::Liveness) demands |
//!
//! By default all of them are judged. Each can be left out, and others can be added:
//!
//! ```
//! use mazurka::explore::EveryState;
//! use mazurka::model::{CellId, Value};
//! use mazurka::property::{Deadlocks, Objection, Position, Property, When};
//! use mazurka::systems::{Builder, lock, write};
//!
//! /// The first cell never holds a 3.
//! #[derive(Debug)]
//! struct NoThree;
//!
//! impl Property for NoThree {
//!     fn when(&self) -> When {
//!         When::State
//!     }
//!
//!     fn objection(&self, at: Position<'_>) -> Option<Objection> {
//!         (at.cell(CellId(0)) == Value::Int(3)).then(|| "there is a 3".into())
//!     }
//! }
//!
//! let mut system = Builder::new();
//! let (mutex, cell) = (system.mutex("m"), system.cell("x", 0));
//! for name in ["P", "Q"] {
//!     system.process(name, [lock(mutex), write(cell, 3), write(cell, 4)]);
//! }
//! let system = system.build();
//! // One of them never gets the mutex. We do not ask about that deadlock.
//! let check = || mazurka::check(&system).explorer(EveryState::default()).without::<Deadlocks>();
//! check().assert_ok();
//! let report = check().property(NoThree).run().to_string();
//! assert!(report.starts_with("Assertion failed: there is a 3."), "{report}");
//! ```

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use super::{Invariants, Position};
use crate::model::{Failure, FailureKind, Locals, ProcessId, State, Status, System, Values};

/// What executions are judged by.
///
/// # Contract
///
/// - [`objection`](Property::objection) is a function: for equal positions it gives the same
///   answer.
/// - It depends only on what [`When`] allows. Of the executions that differ in the order of
///   independent actions, an explorer visits only some, so the answer must not depend on which
///   ones.
/// - It returns [`Objection::Deadlock`] only where some process is neither done nor failed,
///   [`Objection::Livelock`] only when it is asked about a livelock, and [`Objection::Failed`] only
///   about a process that has failed; this is asserted when the objection is recorded or explained.
pub trait Property: Any + Debug + Send + Sync {
    /// When it is asked. The answer never changes.
    fn when(&self) -> When {
        When::End
    }

    /// What is wrong here; `None` if nothing is.
    fn objection(&self, at: Position<'_>) -> Option<Objection>;

    /// Does each objection to an end depend on one thing only: on an action and its history, on the
    /// final state of one object, or on that of one process? An explorer that does not visit every
    /// end (`prefix`) asks only such properties. It asks them at ends in which each action, and
    /// each final state of an object or process, occurs.
    fn is_about_one_thing(&self) -> bool {
        false
    }

    /// Let `values` be all values that occur in executions. May an objection to an end depend on
    /// the history of an action, and not only on the final state? This is asked only of properties
    /// that are [about one thing](Property::is_about_one_thing).
    fn looks_back(&self, values: &Values) -> bool {
        let _ = values;
        true
    }
}

/// When a property is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum When {
    /// When a process has just failed, or has arrived at a barrier that is full: about that process
    /// ([`Position::process`]).
    Failure,
    /// After every step, about each process that has just reached its local state
    /// ([`Position::process`]); at the beginning about all. The answer may depend on that local
    /// state only.
    ///
    /// Every explorer that visits all classes of executions asks about all of them.
    Step,
    /// In every state, about the whole state. Some states lie only on some orders of independent
    /// actions, so a search is complete only if its explorer
    /// [visits every state](crate::explore::Profile::visits_every_state).
    State,
    /// In every state, as [`State`](When::State). The answer depends only on what the system's
    /// [`Invariants`](crate::model::Invariants) read, so an explorer that visits every class can
    /// judge the states that it does not visit.
    Invariant,
    /// At the end of an execution, in a terminal state. The answer may depend on the whole state
    /// and on the [order](Position::order) of the execution, but on nothing else of the execution.
    /// If several properties object, only the first objection is reported.
    End,
    /// In a state in which only spin iterations are possible ([`Position::spins`]).
    Livelock,
    /// Where executions go round for ever: about what the system's own
    /// [`Liveness`](crate::model::Liveness) demands.
    Loop,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The state is terminal, and some process is neither done nor failed.
    Deadlock,
    /// Only [`Position::spins`] can move, and they spin.
    Livelock,
    /// This process has failed: [`Position::status`] says why.
    Failed(ProcessId),
    /// Something is wrong with the state as a whole.
    Wrong(Failure),
}

impl From<String> for Objection {
    /// A failed assertion, in these words.
    fn from(message: String) -> Self {
        Objection::Wrong(Failure { kind: FailureKind::Assertion, message, site: None })
    }
}

impl From<&str> for Objection {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

/// No process fails.
#[derive(Clone, Copy, Debug)]
pub struct Failures;

impl Property for Failures {
    fn when(&self) -> When {
        When::Failure
    }

    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        let process = at.process()?;
        matches!(at.status(process), Status::Failed(_)).then_some(Objection::Failed(process))
    }
}

/// At no barrier do more processes arrive than take part. If that happens, the search ends, whether
/// or not this is judged, because the model does not define what happens next.
#[derive(Clone, Copy, Debug)]
pub struct CrowdedBarriers;

impl Property for CrowdedBarriers {
    fn when(&self) -> When {
        When::Failure
    }

    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        at.oversubscription().map(Objection::Wrong)
    }
}

/// In a terminal state all processes but daemons are done or have failed, and actors have taken
/// their messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadlocks {
    /// May messages to actors stay pending?
    pub allow_pending: bool,
}

impl Property for Deadlocks {
    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        at.is_deadlocked(self.allow_pending).then_some(Objection::Deadlock)
    }
}

/// At the end of an execution the system's own [`Finale`](crate::model::Finale) holds, if it has
/// one.
#[derive(Clone, Copy, Debug)]
pub struct FinalStates;

impl Property for FinalStates {
    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        at.final_failure().map(Objection::Wrong)
    }
}

/// No state is reached in which processes can only spin.
#[derive(Clone, Copy, Debug)]
pub struct Livelocks;

impl Property for Livelocks {
    fn when(&self) -> When {
        When::Livelock
    }

    fn objection(&self, _: Position<'_>) -> Option<Objection> {
        Some(Objection::Livelock)
    }
}

/// Every fair execution does what the system's own [`Liveness`](crate::model::Liveness) demands, if
/// it has demands.
#[derive(Clone, Copy, Debug)]
pub struct Demands;

impl Property for Demands {
    fn when(&self) -> When {
        When::Loop
    }

    /// A single state never violates a demand: explorers that judge demands look at loops.
    fn objection(&self, _: Position<'_>) -> Option<Objection> {
        None
    }
}

/// The properties of a search, in the order in which they are asked.
#[derive(Clone, Debug)]
pub struct Properties(Vec<Judge>);

/// A property and its `when`, which is stored because a virtual call at the end of every execution
/// would cost time.
#[derive(Clone, Debug)]
struct Judge {
    when: When,
    property: Arc<dyn Property>,
}

impl Judge {
    fn is<P: Property>(&self) -> bool {
        (self.property.as_ref() as &dyn Any).is::<P>()
    }
}

impl Default for Properties {
    /// The built-in ones.
    fn default() -> Self {
        let none = Properties(Vec::new());
        let on_the_way = none.with(Failures).with(CrowdedBarriers);
        let on_the_way = on_the_way.with(Invariants);
        let at_the_end = on_the_way.with(Deadlocks::default()).with(FinalStates);
        at_the_end.with(Livelocks).with(Demands)
    }
}

impl Properties {
    /// The properties with one more, which is asked last.
    pub fn with(mut self, property: impl Property) -> Self {
        self.0.push(Judge { when: property.when(), property: Arc::new(property) });
        self
    }

    /// The properties without those of this type.
    pub fn without<P: Property>(mut self) -> Self {
        self.0.retain(|judge| !judge.is::<P>());
        self
    }

    /// Sets whether messages to actors may stay pending. If not, pending messages are a deadlock.
    pub fn allow_pending(mut self, allow_pending: bool) -> Self {
        for judge in self.0.iter_mut().filter(|judge| judge.is::<Deadlocks>()) {
            judge.property = Arc::new(Deadlocks { allow_pending });
        }
        self
    }

    /// May messages to actors stay pending? See [`allow_pending`](Properties::allow_pending).
    pub fn allow_pending_messages(&self) -> bool {
        let properties = self.iter().filter_map(|one| (one as &dyn Any).downcast_ref());
        properties.into_iter().any(|&Deadlocks { allow_pending }| allow_pending)
    }

    /// Is a property of this type among them?
    pub fn contain<P: Property>(&self) -> bool {
        self.0.iter().any(Judge::is::<P>)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Property> {
        self.0.iter().map(|judge| judge.property.as_ref())
    }

    /// The properties that are not built in.
    pub fn own(&self) -> impl Iterator<Item = &dyn Property> {
        let is_built_in = |judge: &&Judge| {
            judge.is::<Failures>()
                || judge.is::<CrowdedBarriers>()
                || judge.is::<Invariants>()
                || judge.is::<Deadlocks>()
                || judge.is::<FinalStates>()
                || judge.is::<Livelocks>()
                || judge.is::<Demands>()
        };
        let own = self.0.iter().filter(move |judge| !is_built_in(judge));
        own.map(|judge| judge.property.as_ref())
    }

    /// The objections of the properties that are asked at this time.
    pub fn objections<'a>(
        &'a self,
        when: When,
        at: Position<'a>,
    ) -> impl Iterator<Item = Objection> + 'a {
        let asked = self.0.iter().filter(move |judge| judge.when == when);
        asked.filter_map(move |judge| judge.property.objection(at))
    }

    /// Is any property asked in every state or after every step?
    pub fn are_asked_on_the_way(&self) -> bool {
        self.0.iter().any(|judge| matches!(judge.when, When::Step | When::State))
    }

    /// The objections of the properties that are asked in every state or after every step, in
    /// `state`, which the last action has just led to.
    pub fn objections_on_the_way<S: System>(
        &self,
        locals: &Locals<'_, S>,
        state: &State,
    ) -> Vec<Objection> {
        let at = Position::new(locals, state);
        let new: Vec<_> = match state.schedule().next_back() {
            Some(last) => std::iter::once(last.process).chain(state.just_spawned(locals)).collect(),
            None => state.processes().collect(),
        };
        let about = |process| self.objections(When::Step, at.about(process));
        new.into_iter().flat_map(about).chain(self.objections(When::State, at)).collect()
    }
}
