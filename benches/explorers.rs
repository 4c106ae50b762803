//! The same programs by every explorer: the size of each search, and its speed.
//!
//! The common unit of work is the transition, an executed action. So transitions per second show
//! the cost of an algorithm's bookkeeping, and the number of transitions shows its reduction.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job};
use crate::table::{memory, print, rate, ratio, table, time, title};

const ABOUT: &str = "\
Actors: chameneos(2) and leader(4) of the TransDPOR paper. Message passing: RMQ with blocking sends. Locks:
dispatcher. 'Times udpor' is the time by that of udpor on the same program. A program that an explorer is not made
for is left out, and so is what takes more than 20 seconds (dpor on dispatcher).";

const PROGRAMS: [(&str, &[(&str, u32)]); 4] = [
    ("actor/chameneos", &[("N", 2)]),
    ("actor/leader", &[("N", 4)]),
    ("mailbox/rmq-receiving", &[("N", 8)]),
    ("mutex/dispatcher", &[("S", 5), ("R", 2)]),
];

/// The explorers, as on the command line.
const EXPLORERS: [&str; 10] = [
    "udpor",
    "udpor:k=1",
    "optimal",
    "parsimonious",
    "source",
    "dpor:sleep-sets",
    "dpor",
    "transdpor",
    "transdpor-tool",
    "sleep",
];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "Explorers", ABOUT);
    let mut table = table([
        "program",
        "explorer",
        "traces",
        "blocked",
        "transitions",
        "time",
        "transitions/s",
        "times udpor",
        "peak",
    ]);
    for (spec, constants) in PROGRAMS {
        let job = Job::new(spec, constants);
        let mut name = job.name();
        let mut first = None;
        for explorer in EXPLORERS {
            let job = job.explorer(explorer);
            if job.is_refused() {
                continue;
            }
            let measured = bench.best(&job);
            if !measured.is_complete {
                continue;
            }
            let base = *first.get_or_insert(measured.seconds);
            table.add_row([
                std::mem::take(&mut name),
                explorer.into(),
                thousands(measured.traces),
                thousands(measured.blocked),
                thousands(measured.transitions),
                time(measured.seconds),
                rate(measured.transitions, measured.seconds),
                ratio(measured.seconds / base),
                memory(measured.peak),
            ]);
        }
    }
    print(bench, table, 2);
}
