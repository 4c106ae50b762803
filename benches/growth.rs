//! Does a transition cost the same in a large program as in a small one? Families that grow by one parameter.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job, Search};
use crate::table::{memory, or_dash, print, ratio, table, time, title};

const ABOUT: &str = "\
UDPOR with full alternatives on families that grow. 'Each' is the time by transition, and 'growth' what it has
become since the line above: 1 would be ideal; as programs grow so do their histories, so a little more is fair.";

struct Family {
    spec: &'static str,
    parameter: &'static str,
    quick: &'static [u32],
    heavy: &'static [u32],
}

const fn family(
    spec: &'static str,
    parameter: &'static str,
    quick: &'static [u32],
    heavy: &'static [u32],
) -> Family {
    Family { spec, parameter, quick, heavy }
}

const FAMILIES: &[Family] = &[
    family("mailbox/rmq-receiving", "N", &[6, 7, 8], &[9]),
    family("mailbox/master-worker", "N", &[5, 6, 7], &[8]),
    family("mutex/mutex", "N", &[5, 6, 7], &[8]),
    family("mutex/philosophers-ordered", "N", &[8, 10, 12], &[14]),
    family("mutex/mpat", "K", &[3, 4, 5], &[6]),
    family("mutex/ssbexp", "K", &[12, 24, 48], &[96]),
    family("mutex/filesystem", "N", &[16, 18, 20], &[22]),
    family("memory/writers", "N", &[5, 6, 7], &[8, 9]),
    family("memory/lastzero", "N", &[8, 10, 12], &[14]),
    family("memory/readers", "N", &[8, 9, 10, 11], &[12, 13]),
];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "Growth", ABOUT);
    let mut table = table([
        "program",
        "traces",
        "transitions",
        "events",
        "time",
        "each",
        "growth",
        "SAT",
        "peak",
    ]);
    for family in FAMILIES {
        let heavy = if bench.full { family.heavy } else { &[] };
        let mut former = None;
        for &size in family.quick.iter().chain(heavy) {
            let job = Job::new(family.spec, &[(family.parameter, size)]).by(Search::Optimal);
            let ours = bench.run(&job);
            let each = ours.per_transition();
            table.add_row([
                job.name(),
                ours.traces(None),
                ours.count(ours.transitions),
                ours.events(),
                ours.time(),
                time(each),
                or_dash(former.replace(each), |former| ratio(each / former)),
                thousands(ours.sat_calls),
                memory(ours.peak),
            ]);
        }
    }
    print(bench, table, 1);
}
