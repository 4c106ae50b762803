//! The complete finite prefix: the cost of an event, and how many there are beside the classes and
//! the states of the same program.
//!
//! Classes multiply where choices are independent, states where processes are. Events only add up,
//! but a read may be an event for each set of reads before it. So there are programs for each of
//! the three, and this table has both kinds.

use std::time::Duration;

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job, Measured};
use crate::table::{or_dash, print, ratio, table, time, title};

const ABOUT: &str = "\
The prefix: its events without cutoffs, its cutoffs, time and memory for each of both, and the queries to the SAT solver.
Beside it the classes of the faster one of udpor and optimal, and the states of the faster one of stateful and dl-s-por.
They are stopped after 5 seconds. 'Times prefix' are their times by that of the prefix.";

type Subject = (&'static str, &'static [(&'static str, u32)]);

const QUICK: &[Subject] = &[
    ("mutex/dispatcher", &[("S", 5), ("R", 4)]),
    ("mutex/philosophers-ordered", &[("N", 18)]),
    ("mutex/philosophers-ordered", &[("N", 40)]),
    ("mutex/philosophers", &[("N", 12)]),
    ("mutex/poke", &[("N", 9), ("K", 3)]),
    ("mutex/mpat", &[("K", 5)]),
    ("memory/writers", &[("N", 6)]),
    ("memory/lastzero", &[("N", 8)]),
    ("memory/readers", &[("N", 8)]),
];

const HEAVY: &[Subject] = &[
    ("mutex/dispatcher", &[("S", 5), ("R", 5)]),
    ("mutex/mpat", &[("K", 6)]),
    ("memory/writers", &[("N", 7)]),
    ("memory/lastzero", &[("N", 10)]),
    ("memory/readers", &[("N", 10)]),
];

const OF_CLASSES: [&str; 2] = ["udpor", "optimal"];
const OF_STATES: [&str; 2] = ["stateful", "dl-s-por"];

/// The others are stopped after this time: some of them would not end.
const LIMIT: Duration = Duration::from_secs(5);

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "The prefix", ABOUT);
    let mut table = table([
        "program",
        "events",
        "cutoffs",
        "time",
        "an event",
        "bytes/event",
        "queries",
        "classes",
        "times prefix",
        "states",
        "times prefix",
    ]);
    let heavy = if bench.full { HEAVY } else { &[] };
    for (spec, constants) in QUICK.iter().chain(heavy) {
        let job = Job::new(spec, constants);
        let prefix = bench.best(&job.explorer("prefix"));
        let [classes, states] = [OF_CLASSES, OF_STATES].map(|all| fastest(bench, &job, all));
        let figures = prefix.prefix.unwrap_or_default();
        let all = (figures.events + figures.cutoffs).max(1);
        let times = |other: &Measured| match prefix.is_complete && other.is_complete {
            true => ratio(other.seconds / prefix.seconds),
            false => "-".into(),
        };
        table.add_row([
            job.name(),
            prefix.count(figures.events),
            prefix.count(figures.cutoffs),
            prefix.time(),
            time(prefix.seconds / all as f64),
            thousands(figures.bytes.div_ceil(all)),
            thousands(prefix.sat_calls),
            classes.traces(None),
            times(&classes),
            or_dash(states.states, |count| states.count(count)),
            times(&states),
        ]);
    }
    print(bench, table, 1);
}

/// The figures of the faster one of two explorers; of the first, if neither ends.
fn fastest(bench: &Bench, job: &Job, explorers: [&str; 2]) -> Measured {
    let [one, other] = explorers.map(|explorer| bench.run(&job.explorer(explorer).within(LIMIT)));
    let is_better = match (one.is_complete, other.is_complete) {
        (true, true) => other.seconds < one.seconds,
        (one_ends, other_ends) => other_ends && !one_ends,
    };
    if is_better { other } else { one }
}
