//! What tells violations apart: those with equal symptoms are reported once.

use std::collections::BTreeSet;

use crate::model::{Failure, LocalId, Locals, ProcessId, Site, State, System};
use crate::property::Spin;

/// Lines and columns, and local states without a place in the source.
type Places = (BTreeSet<(u32, u32)>, BTreeSet<LocalId>);

/// Violations with equal symptoms are reported once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Symptom {
    /// The blocked processes, each with its place in the source (or else its local state).
    Deadlock(Vec<(ProcessId, Option<Site>, Option<LocalId>)>),
    /// The processes that go round for ever or are blocked, each with all its places.
    Livelock(Vec<(ProcessId, Places)>),
    /// The process that failed, and the failure.
    Failure(Option<ProcessId>, Failure),
}

impl Symptom {
    pub fn of_deadlock<S: System>(locals: &Locals<'_, S>, state: &State) -> Symptom {
        let blocked = state.unfinished(locals).map(|process| {
            let local = state.local(process);
            match locals.system().describe().site(locals.get(local)) {
                None => (process, None, Some(local)),
                site => (process, site, None),
            }
        });
        Symptom::Deadlock(blocked.collect())
    }

    pub fn of_livelock<S: System>(
        locals: &Locals<'_, S>,
        state: &State,
        spins: &[Spin],
    ) -> Symptom {
        let stuck = state.unfinished(locals).map(|process| {
            let here = [state.local(process)];
            let spin = spins.iter().find(|spin| spin.process == process);
            let (mut places, mut unknown) = (BTreeSet::new(), BTreeSet::new());
            for &local in spin.map_or(&here[..], |spin| &spin.circle) {
                match locals.system().describe().site(locals.get(local)) {
                    Some(site) => drop(places.insert((site.line, site.column))),
                    None => drop(unknown.insert(local)),
                }
            }
            (process, (places, unknown))
        });
        Symptom::Livelock(stuck.collect())
    }
}
