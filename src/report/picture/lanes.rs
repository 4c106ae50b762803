//! The lanes of a picture: a column and a name for each process.

use crate::model::{ProcessId, State};

/// The processes that have a lane, in the order of their numbers.
#[derive(Default)]
pub(crate) struct Lanes {
    processes: Vec<ProcessId>,
    pub(super) names: Vec<String>,
    /// The carriers, each with the process that it works for.
    carriers: Vec<(ProcessId, ProcessId)>,
}

impl Lanes {
    /// A lane for each of these processes. Processes that share a name get numbers.
    pub(crate) fn new(mut named: Vec<(ProcessId, String)>) -> Self {
        named.sort_by_key(|&(process, _)| process);
        let mut lanes = Lanes::default();
        for (process, template) in named {
            let numbered = (2..).map(|number| format!("{template}#{number}"));
            let mut candidates = std::iter::once(template.clone()).chain(numbered);
            let name = candidates.find(|name| !lanes.names.contains(name));
            lanes.names.push(name.expect("one of infinitely many names"));
            lanes.processes.push(process);
        }
        lanes
    }

    /// The lanes of all processes of a state. A carrier of the network is in the lane of the
    /// process that it works for.
    pub(super) fn of_state(state: &State, name: impl Fn(ProcessId) -> String) -> Self {
        let mut lanes = Lanes::new(state.program_processes().map(|p| (p, name(p))).collect());
        let carriers = state.processes().filter(|&process| state.is_carrier(process));
        lanes.carriers = carriers.map(|carrier| (carrier, state.served(carrier))).collect();
        lanes
    }

    /// The lane of a process, which must have one.
    pub(super) fn of(&self, process: ProcessId) -> usize {
        let served = self.carriers.iter().find(|(carrier, _)| *carrier == process);
        let process = served.map_or(process, |&(_, served)| served);
        self.processes.binary_search(&process).expect("a process with a lane")
    }

    /// The name of a process; of one that has no lane, a name by its number.
    pub(crate) fn name(&self, process: ProcessId) -> String {
        match self.processes.binary_search(&process) {
            Ok(lane) => self.names[lane].clone(),
            Err(_) => format!("process {}", process.index()),
        }
    }

    /// The lane with this name, if there is one.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }
}
