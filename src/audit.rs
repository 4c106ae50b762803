//! Certificates: what a search has found, in a form that a small program can check.
//!
//! A search is thousands of lines, and its answer "nothing is wrong" is an answer about executions
//! that nobody has seen. A [`Certificate`] lists the classes that the search has found, the states
//! that it has stored, or the events of the prefix that it has built. [`audit`] checks that these
//! are all, and judges them anew. It imports `model` and nothing else: how a state steps, which two
//! steps depend on each other, and which two states are the same. (For events it also asks a SAT
//! solver.)
//!
//! # What is checked of classes
//!
//! 1. Each class replays on the model, and nothing is enabled at its end. It is in normal form, and
//!    the classes are in order, so no two are the same.
//! 2. Each end is judged: deadlock, failed processes, `final`. If the program has invariants, they
//!    are judged in all states.
//! 3. No class is missing. For each class C and each event c of it, let K be C without c and
//!    without all events after c. What is enabled after K is executed, if it is another choice of
//!    the process of c, or what another process does in C directly after c. Then anything that is
//!    enabled is executed, to an end. That end has to be a class of the list.
//! 4. For each test of C that succeeds: let K be C without the test, without the steps that
//!    complete what it tests, and without all events after these. There the test fails, and an end
//!    after that is a class of the list.
//! 5. The numbers are those of the claim.
//!
//! # Why no class can be missing then
//!
//! Let M be the list, not empty, and F a maximal configuration of the program, perhaps an infinite
//! one, that is not in M. Let f1, f2, .. be the events of F in an order of execution. For C in M
//! let n(C) be the largest n for which f1, .., fn are in C. There is a next event e = fn+1 outside
//! of C: if not, F is part of C, and so F = C, since F is maximal. Take C with the largest n(C),
//! and let P = {f1, .., fn}, which is part of C. The event e is an action `a` of a process p,
//! enabled after P.
//!
//! *Assume first that what one process can do, no step of another one ends.* So `a` is enabled
//! after each part K of C that includes P and no later step of p. Since nothing is enabled after
//! C, the process p has a first step c after P in C, which is not e. Two cases:
//!
//! - **c is another choice than `a`.** Rule 3 removes c. P is part of K, and `a` is enabled there.
//!   So M has a class that includes P and in which p does `a` after P.
//! - **c is `a` with other causes than e.** Let u be the causes of c outside of P. If u were empty,
//!   c would be what `a` is after P, which is e. Let b be an event of u that is before no other
//!   one of u. It is a direct cause of c, and not of p, whose steps before c are in P. Rule 3
//!   removes b. P is part of K, and c is not, so `a` is enabled. So M has a class that includes P,
//!   in which p does `a` after P, with fewer causes outside of P: without b, and with none that c
//!   did not have, which the checker compares.
//!
//! So take, among the C with the largest n(C), one in which p does `a` next, if there is one, and
//! among these one with the fewest causes of that step outside of P. Each case gives a class that
//! has to come before it in this order, or one with a larger n. Both are impossible, so there is
//! no F.
//!
//! *Failed tests* are the exception: a test of several requests fails as long as none of them is
//! complete, so what completes one of them ends what the process could do. Let `a` be a failed
//! test. It depends on no step of another process, so it is the same event wherever it comes. In C
//! the process p goes on, since a test never waits, and not with `a`, since that would be e. So its
//! next step c is a success. Rule 4 removes c, and all steps that complete one of the requests. P
//! has none of these steps: what a step completes follows from the steps before it in the orders of
//! its object, which are among its causes; so it would complete the request in P as well, and `a`
//! would not be enabled. So P is part of K, `a` fails there, and M has a class with a larger n.
//!
//! Only failed tests are exceptions. Choices, matches, handlers, faults, time-outs, and whom a
//! notification wakes are choices of one process: they depend on its own state, and on what has
//! happened, which nothing undoes. The guard of a handler reads the state of its own actor. An
//! attempt to take a lock is enabled in any case, and what it finds follows from its causes. A poll
//! of a network may always find nothing. The checker looks for exceptions: at each step of each
//! execution that it goes through to an end, it refuses if anything else that another process could
//! do is gone, if a failed test depends on a step of another process, and if a process has a choice
//! at an operation that is said to have none.
//!
//! # What is checked of states
//!
//! 1. Each line is a way that can be gone, and no two ways lead to the same state.
//! 2. Each enabled action of each state is executed, and leads to a state of the list. The initial
//!    state is one of them. So, by induction, the list has every state that can be reached.
//! 3. Each state is judged: failed processes and invariants; if nothing is enabled, also deadlock
//!    and `final`.
//! 4. From each state an end can be reached, or a step that changes an object. If not, all
//!    processes that can move only look, for ever: a livelock.
//! 5. The numbers are those of the claim.
//!
//! Two states are the same if their [portraits](crate::model::State::portrait) are equal: then they
//! have the same future. By each further way on which the checker comes to a state it compares what
//! can be done there, the states to which that leads, and the judgement, with what it saw first.
//!
//! # What is checked of the events of a prefix
//!
//! 1. Each line is the local configuration of an event: the event with all its causes, which are
//!    earlier events of the list, and nothing else. Its causes follow from what it looks at.
//! 2. An event is a cutoff if a smaller one of the list, or the start, has the same state. Nothing
//!    in the list comes after a cutoff.
//! 3. No event is missing, and none is too many: whatever a process may look at after events that
//!    are no cutoffs, what it does then is in the list. So, by theorem 4.9 of Esparza, Römer,
//!    Vogler (FMSD 2002), the configurations without cutoffs lead to all states, and whatever is
//!    possible there is an event of the list.
//! 4. A failed process is seen at the event that fails it. A solver is asked for deadlocks, for
//!    ends at which `final` fails, and for states in which an invariant does. What it finds is
//!    carried out and judged on the model; if it says that there is no more, its proof is checked.
//! 5. In each state in which all processes that can move may go round in a circle, one of them can
//!    end, be blocked, make a step that changes an object, or leave its circle for good. Daemons
//!    may go round for ever instead: that is judged as an end.
//! 6. The numbers are those of the claim. Of deadlocks and violations it says only whether there
//!    are any.
//!
//! Here two steps depend on each other if one changes a [piece](crate::model::Piece) of the state
//! that the other one looks at. At each step of an event the audit compares what it changes with
//! what the same step has changed after other events. Mutexes that nobody tries to lock are locked
//! in one step, when they are free (`pieces` says why).
//!
//! # What is trusted
//!
//! The compiler from the program to the model; `step` of the model; and the dependence relation:
//! that two executions with the same events lead to the same state, in which the same is enabled.
//! (Where the checker leaves events out, it compares the events that remain.) For states, instead
//! of the dependence relation: that states with equal portraits have the same future. Portraits
//! leave out what a static analysis says is never read again. In debug builds, and after
//! [`audit_everything`](crate::model::audit_everything), each step is compared with what it says.
//! For events: which pieces an operation looks at ([`State::sees`](crate::model::State::sees)),
//! that equal pieces have the same future, and the checker of proofs that comes with the solver.
//! Not trusted is any search, happens-before order, race, sleep set or unfolding.
//!
//! # What has no certificate
//!
//! Programs in which a search does not run every execution to its end: loops that wait, polls that
//! are cut, a bound on the depth, executions without an end. (Lists of states and events may have
//! loops, but none in which all wait for ever.) Demands on endless executions. Communications that
//! may end early or late. Of events: processes that really run.

mod classes;
#[cfg(feature = "sat")]
mod cutoffs;
mod ends;
#[cfg(feature = "sat")]
mod events;
#[cfg(feature = "sat")]
mod pieces;
#[cfg(feature = "sat")]
mod rest;
mod states;
mod text;
mod walk;

#[cfg(feature = "sat")]
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use classes::Audit;
#[cfg(feature = "sat")]
use events::Events;
use states::States;

use crate::model::{Schedule, System};

/// The classes, states or events that a search has found, and what it says about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// What program it is about, in one line.
    pub program: String,
    /// What it lists.
    pub items: Items,
    /// What it says.
    pub claim: Claim,
    /// In ascending order: one execution of each class, in normal form; or one way to each state.
    /// Or the local configuration of each event as an execution, causes first.
    ///
    /// The normal form of a class goes on with the process born first of those whose next event has
    /// all its causes.
    pub list: Vec<Schedule>,
}

/// What a certificate lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Items {
    /// All classes.
    #[default]
    Classes,
    /// All states.
    States,
    /// All events of the complete finite prefix of the unfolding.
    Events,
}

impl Items {
    /// One of them.
    pub fn one(self) -> &'static str {
        match self {
            Items::Classes => "class",
            Items::States => "state",
            Items::Events => "event",
        }
    }

    /// Several of them.
    pub fn several(self) -> &'static str {
        match self {
            Items::Classes => "classes",
            Items::States => "states",
            Items::Events => "events",
        }
    }
}

/// What a certificate says about a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The number of classes, states or events.
    pub count: u64,
    /// Those that end in a deadlock. For events: 1 if there is one, else 0; so, too, below.
    pub deadlocked: u64,
    /// Those with a violation: a deadlock, a failed process, a `final` block or an invariant that
    /// does not hold.
    pub violating: u64,
}

/// Why a certificate is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    items: Items,
    place: Option<usize>,
    why: String,
    /// A mutex that cannot be locked in one step.
    queued: Option<u32>,
}

impl Refused {
    fn new(why: impl Into<String>) -> Refused {
        Refused { items: Items::Classes, place: None, why: why.into(), queued: None }
    }

    /// About what is at this place of the list.
    fn about(self, place: usize) -> Refused {
        Refused { place: self.place.or(Some(place)), ..self }
    }

    /// About a list of such items.
    fn of(self, items: Items) -> Refused {
        Refused { items, ..self }
    }
}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{} {}: {}", self.items.one(), place + 1, self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for Refused {}

/// Checks that the certificate has all classes, states or events of the system, and that what it
/// says about them is true. `allow_pending`: messages to actors may stay pending at the end.
pub fn audit<S: System>(
    system: &S,
    allow_pending: bool,
    certificate: &Certificate,
) -> Result<(), Refused> {
    let &Certificate { items, claim, ref list, .. } = certificate;
    if let Some(why) = refusal(system, items) {
        return Err(Refused::new(why));
    }
    let compare = |found: Claim| match found == claim {
        true => Ok(()),
        false => {
            let [said, found] = [claim, found].map(|claim| claim.about(items));
            Err(Refused::new(format!("it says {said}, but it has {found}")))
        }
    };
    if items == Items::States {
        return compare(
            States::new(system, list, allow_pending).check().map_err(|why| why.of(items))?,
        );
    }
    if items == Items::Events {
        return compare(of_events(system, allow_pending, list)?);
    }
    let mut audit = Audit::new(system, list);
    let broken = audit.walk.broken()?;
    compare(audit.replay(allow_pending, &broken)?)?;
    audit.close()
}

/// What is true of a list of events.
#[cfg(feature = "sat")]
fn of_events<S: System>(
    system: &S,
    allow_pending: bool,
    list: &[Schedule],
) -> Result<Claim, Refused> {
    let mut queued = BTreeSet::new();
    loop {
        let judge = || {
            let mut events = Events::read(system, queued.clone(), list)?;
            events.close()?;
            events.judge(allow_pending)
        };
        match judge() {
            Err(Refused { queued: Some(mutex), .. }) => queued.insert(mutex),
            Err(why) => return Err(why.of(Items::Events)),
            Ok(ends::End { is_deadlocked, has_failed }) => {
                let (count, deadlocked) = (list.len() as u64, u64::from(is_deadlocked));
                let violating = u64::from(is_deadlocked || has_failed);
                return Ok(Claim { count, deadlocked, violating });
            }
        };
    }
}

#[cfg(not(feature = "sat"))]
fn of_events<S: System>(_: &S, _: bool, _: &[Schedule]) -> Result<Claim, Refused> {
    Err(Refused::new("events are audited with the feature `sat` of the crate"))
}

/// Why this system has no certificate that lists such items, as the end of a sentence; `None` if it
/// may have one.
pub fn refusal<S: System>(system: &S, items: Items) -> Option<&'static str> {
    if system.liveness().is_some() {
        return Some("the program demands something of endless executions");
    }
    if system.objects().may_end_late {
        return Some("communications may end early or late: name one way");
    }
    if items == Items::Events && system.foresight().remembers_all() {
        return Some("processes really run");
    }
    if items != Items::States && system.objects().may_time_out_when_stuck {
        return Some("a timeout waits until nothing else can happen");
    }
    system.may_be_in_vain().then_some("executions may be in vain")
}

impl Claim {
    /// Counts one more.
    pub fn add(&mut self, is_deadlocked: bool, is_violating: bool) {
        self.count += 1;
        self.deadlocked += u64::from(is_deadlocked);
        self.violating += u64::from(is_violating);
    }

    fn about(self, items: Items) -> String {
        let Claim { count, deadlocked, violating } = self;
        format!("{count} {}, {deadlocked} deadlocked, {violating} violating", items.several())
    }
}
