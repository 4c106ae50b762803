//! The gain of each design choice: each is undone in turn, everything else unchanged.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job, Measured, Search};
use crate::table::{memory, memory_ratio, print, rate, ratio, table, time, title};

const ABOUT: &str = "\
UDPOR with full alternatives ('time', 'peak'), and the ratios to it with one choice undone; above 1 the
choice pays.
  keep all     events are never discarded: time and memory
  SAT always   every query for an alternative goes to the solver, not only those that a short search cannot decide
  SAT never    no query goes to the solver: combinations are tried without a limit
  afresh       spikes are computed anew for every query, not from those of the configuration before
'Calls' are queries to the solver, usually and with SAT always.";

const REDUCTION: &str = "\
UDPOR and the exhaustive search on the same programs: the cost of a transition, and of a class.
Ratio: the time of the exhaustive search by UDPOR's.
";

type Subject = (&'static str, &'static [(&'static str, u32)]);

const SUBJECTS: &[Subject] = &[
    ("mailbox/rmq-receiving", &[("N", 8)]),
    ("mailbox/master-worker", &[("N", 7)]),
    ("mutex/dispatcher", &[("S", 5), ("R", 4)]),
    ("mutex/multiprodcon", &[("P", 3), ("W", 5)]),
    ("mutex/poke", &[("N", 9), ("K", 3)]),
    ("mutex/mutex", &[("N", 7)]),
    ("mutex/mpat", &[("K", 5)]),
    ("mutex/ssbexp", &[("K", 12)]),
    ("mutex/philosophers-ordered", &[("N", 12)]),
    ("memory/lastzero", &[("N", 10)]),
    ("memory/readers", &[("N", 10)]),
    ("memory/writers", &[("N", 7)]),
];

const REDUCED: &[Subject] = &[
    ("mailbox/rmq-receiving", &[("N", 4)]),
    ("mailbox/master-worker", &[("N", 3)]),
    ("mutex/mutex", &[("N", 5)]),
    ("mutex/philosophers", &[("N", 3)]),
    ("memory/lastzero", &[("N", 4)]),
    ("memory/writers", &[("N", 7)]),
];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "Design choices", ABOUT);
    choices(bench);
    bench.print(REDUCTION);
    reduction(bench);
}

fn choices(bench: &Bench) {
    let mut table = table([
        "program",
        "time",
        "peak",
        "keep all:\ntime",
        "\nmemory",
        "SAT\nalways",
        "SAT\nnever",
        "afresh",
        "calls",
        "always",
    ]);
    for &(spec, constants) in SUBJECTS {
        let job = Job::new(spec, constants);
        let usual = bench.best(&job);
        let keeps = bench.best(&job.keeping_events());
        // Slow, and so far from 1 that one run is enough.
        let always = bench.run(&job.by(Search::SatAfter(0)));
        let never = bench.best(&job.by(Search::SatNever));
        let afresh = bench.best(&job.by(Search::SpikesAfresh));
        let slower = |other: &Measured| {
            let bound = if other.is_complete { "" } else { "> " };
            format!("{bound}{}", ratio(other.seconds / usual.seconds))
        };
        table.add_row([
            job.name(),
            usual.time(),
            memory(usual.peak),
            slower(&keeps),
            memory_ratio(keeps.peak, usual.peak),
            slower(&always),
            slower(&never),
            slower(&afresh),
            thousands(usual.sat_calls),
            always.count(always.sat_calls),
        ]);
    }
    print(bench, table, 1);
}

fn reduction(bench: &Bench) {
    let mut table = table([
        "program",
        "classes",
        "inter-\nleavings",
        "exhaustive:\ntransitions/s",
        "time by\nclass",
        "UDPOR:\ntransitions/s",
        "time by\nclass",
        "ratio",
    ]);
    for &(spec, constants) in REDUCED {
        let job = Job::new(spec, constants);
        let (udpor, all) = (bench.best(&job), bench.best(&job.by(Search::Exhaustive)));
        table.add_row([
            job.name(),
            thousands(udpor.traces),
            all.count(all.traces),
            rate(all.transitions, all.seconds),
            time(all.seconds / udpor.traces as f64),
            rate(udpor.transitions, udpor.seconds),
            time(udpor.seconds / udpor.traces as f64),
            ratio(all.seconds / udpor.seconds),
        ]);
    }
    print(bench, table, 1);
}
