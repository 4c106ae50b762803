//! The key by which violations are distinguished: of those with equal symptoms one is reported.
//!
//! A symptom is a hash of facts that are the same in every search of the system: how a process was
//! created, and its place in the source (or its local state, if it has no place). So the symptoms
//! of several searches can be compared.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use crate::model::{Failure, LocalId, Locals, ProcessId, State, System};
use crate::property::Spin;

/// The key of a violation. Of violations with equal symptoms only one is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Symptom(u64);

/// A place in a program: in its source, or else the hash of a local state.
#[derive(Hash, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    Site(u32, u32),
    Local(u64),
}

fn hash(what: impl Hash) -> u64 {
    // `DefaultHasher::new` always uses the same keys.
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// A name for the process that is the same in all searches.
fn name<S: System>(locals: &Locals<'_, S>, process: ProcessId) -> u64 {
    match locals.birth(process) {
        None => hash(process),
        Some(birth) => hash((name(locals, birth.parent), birth.is_carrier, birth.place)),
    }
}

impl Symptom {
    /// The blocked processes, each with its place in the source (or else its local state). Where a
    /// daemon is in a loop that it goes round for ever makes no difference.
    pub(super) fn of_deadlock<S: System>(
        locals: &Locals<'_, S>,
        state: &State,
        spins: &[Spin],
    ) -> Symptom {
        let waits = |process: &ProcessId| !spins.iter().any(|spin| spin.process == *process);
        let blocked = state.unfinished(locals).filter(waits).map(|process| {
            let local = locals.get(state.local(process));
            let site = locals.system().describe().site(local);
            let local = site.is_none().then(|| hash(local));
            (name(locals, process), hash(&site), local)
        });
        Symptom(hash(("deadlock", blocked.collect::<BTreeSet<_>>())))
    }

    /// The processes that loop for ever or are blocked, each with all its places.
    pub(super) fn of_livelock<S: System>(
        locals: &Locals<'_, S>,
        state: &State,
        spins: &[Spin],
    ) -> Symptom {
        let spot = |&local: &LocalId| {
            let local = locals.get(local);
            match locals.system().describe().site(local) {
                Some(site) => Spot::Site(site.line, site.column),
                None => Spot::Local(hash(local)),
            }
        };
        let stuck = state.unfinished(locals).map(|process| {
            let here = [state.local(process)];
            let spin = spins.iter().find(|spin| spin.process == process);
            let places = spin.map_or(&here[..], |spin| &spin.passes).iter().map(spot);
            (name(locals, process), places.collect::<BTreeSet<_>>())
        });
        Symptom(hash(("livelock", stuck.collect::<BTreeSet<_>>())))
    }

    /// The number of the demand that is violated.
    pub(super) fn of_demand(number: u32) -> Symptom {
        Symptom(hash(("demand", number)))
    }

    /// The process that failed, if one did, and the failure.
    pub(super) fn of_failure<S: System>(
        locals: &Locals<'_, S>,
        process: Option<ProcessId>,
        failure: &Failure,
    ) -> Symptom {
        Symptom(hash(("failure", process.map(|process| name(locals, process)), failure)))
    }
}
