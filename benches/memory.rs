//! Does memory grow with the number of classes? Programs in which each class has local states,
//! values and events of its own, because a process remembers the order of what it received.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job};
use crate::table::{memory, memory_ratio, print, table, title};

const ABOUT: &str = "\
Peaks of memory of searches that stop after so many classes, where every class has local states of its own. The ratio
is that of the longest search to the shortest: 1 would be ideal.";

const EXPLORERS: [&str; 4] = ["udpor", "optimal", "source", "parsimonious"];

type Program = (&'static str, &'static [(&'static str, u32)], &'static str);

/// Each has 11! classes.
const PROGRAMS: [Program; 4] = [
    ("mailbox/rmq-remembering", &[("N", 11)], "received into a number"),
    ("mailbox/rmq-remembering", &[("N", 11), ("LIST", 1)], "received into a list"),
    ("mutex/log", &[("N", 11)], "written to a shared list"),
    ("actor/registry", &[("W", 10)], "taken by an actor"),
];

/// The numbers of classes.
const QUICK: [u64; 2] = [10_000, 100_000];
const HEAVY: [u64; 2] = [1_000_000, 10_000_000];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "Memory", ABOUT);
    let heavy = if bench.full { &HEAVY[..] } else { &[] };
    let numbers: Vec<u64> = QUICK.iter().chain(heavy).copied().collect();
    for (spec, constants, about) in PROGRAMS {
        let mut table = table([]);
        let head = numbers.iter().map(|&classes| thousands(classes));
        table.set_header([about.into()].into_iter().chain(head).chain(["ratio".into()]));
        for explorer in EXPLORERS {
            let job = Job::new(spec, constants).explorer(explorer);
            let peaks = numbers.iter().map(|&classes| bench.run(&job.up_to(classes)).peak);
            let peaks: Vec<_> = peaks.collect();
            let ratio = memory_ratio(peaks[numbers.len() - 1], peaks[0]);
            let cells = peaks.into_iter().map(memory);
            table.add_row([explorer.into()].into_iter().chain(cells).chain([ratio]));
        }
        print(bench, table, 1);
    }
}
