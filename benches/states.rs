//! Searches that store states: the cost of a state in time and memory, and the gain of each
//! reduction.
//!
//! The unit of work is the transition, as elsewhere. The unit of memory is the stored state: its
//! share of the compressed store, and the reduction's data about the transitions after it.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job};
use crate::table::{memory, or_dash, print, rate, ratio, table, time, title};

const ABOUT: &str = "\
'Times stateful' is the ratio to the time of the full graph. 'Bytes/state': the store, and the reduction's data about
later transitions. 'Ends' are the terminal states, and for udpor the classes. Without summaries, later transitions are found by
traversals, as in the paper; the explorer without safe sets is the paper's DL-JPF.";

const PROGRAMS: [(&str, &[(&str, u32)]); 6] = [
    ("structures/lazy-list", &[]),
    ("structures/queue", &[]),
    ("mutex/philosophers", &[("N", 6)]),
    ("mutex/dispatcher", &[("S", 4), ("R", 2)]),
    ("memory/lastzero", &[("N", 9)]),
    ("mailbox/rmq-receiving", &[("N", 7)]),
];

/// Explorers that store states, and for comparison one that does not.
const EXPLORERS: [&str; 10] = [
    "stateful",
    "s-por",
    "de-s-por",
    "dl-s-por",
    "dl-s-por:order=visited",
    "dl-s-por:without=summaries",
    "de-s-por:without=summaries",
    "dl-s-por:without=safe-sets",
    "stateful:hash-compaction",
    "udpor",
];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "States", ABOUT);
    let mut table = table([
        "program",
        "explorer",
        "states",
        "transitions",
        "ends",
        "time",
        "transitions/s",
        "times stateful",
        "bytes/state",
        "peak",
    ]);
    for (spec, constants) in PROGRAMS {
        let job = Job::new(spec, constants);
        let mut name = job.name();
        let mut full = None;
        for explorer in EXPLORERS {
            let measured = bench.best(&job.explorer(explorer));
            if !measured.is_complete {
                continue;
            }
            let base = *full.get_or_insert(measured.seconds);
            let per_state = measured.states.zip(measured.state_bytes);
            table.add_row([
                std::mem::take(&mut name),
                explorer.into(),
                or_dash(measured.states, thousands),
                thousands(measured.transitions),
                thousands(measured.traces),
                time(measured.seconds),
                rate(measured.transitions, measured.seconds),
                ratio(measured.seconds / base),
                or_dash(per_state, |(states, bytes)| thousands(bytes.div_ceil(states))),
                memory(measured.peak),
            ]);
        }
    }
    print(bench, table, 2);
}
