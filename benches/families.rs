//! Locks and shared memory: the families of the CAV 2018 artefact and of the suites of source-DPOR
//! and Nidhugg, with k = 1, 2, 3 and with full alternatives.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job, Measured, Search};
use crate::table::{memory, or_dash, print, ratio, table, time, title};

const ABOUT: &str = "\
UDPOR by k. 'Blocked' are blocked explorations, beside those of DPU, quoted (its locks are one action each,
ours two, so these need not agree); 'SAT' is the number of queries to the solver, 'each' the time per
transition. ≠ marks a number of traces that differs from the number of classes, ≤ events of which some may have been
discarded and built again.";

const QUOTED: &str = "\
Full alternatives beside other checkers, quoted: DPU (optimal), GenMC and Nidhugg (optimal), in seconds of a whole
run, the start of the tool included; '*' as published. Ratio: their time by ours.
";

type Constants = &'static [(&'static str, u32)];

/// A program, with its expected and quoted figures.
struct Family {
    spec: &'static str,
    constants: Constants,
    classes: u64,
    heavy: bool,
    /// Quoted times of DPU, GenMC and Nidhugg, in seconds.
    quoted: [&'static str; 3],
    /// DPU's blocked explorations for k = 1, 2, 3.
    blocked: [Option<u64>; 3],
}

const NONE: [&str; 3] = ["", "", ""];

const fn family(
    spec: &'static str,
    constants: Constants,
    classes: u64,
    quoted: [&'static str; 3],
    blocked: [Option<u64>; 3],
) -> Family {
    Family { spec, constants, classes, heavy: false, quoted, blocked }
}

const fn heavy(family: Family) -> Family {
    Family { heavy: true, ..family }
}

const FAMILIES: &[Family] = &[
    family(
        "mutex/dispatcher",
        &[("S", 5), ("R", 2)],
        137,
        ["0.17", "0.09", "0.06"],
        [Some(1_039), Some(43), Some(0)],
    ),
    family(
        "mutex/dispatcher",
        &[("S", 5), ("R", 4)],
        15_282,
        ["13.6", "2.0", "6.3"],
        [None, Some(6_353), Some(213)],
    ),
    heavy(family(
        "mutex/dispatcher",
        &[("S", 5), ("R", 5)],
        151_032,
        ["233*", "30", ""],
        [None, Some(53_658), Some(2_378)],
    )),
    family("mutex/ssbexp", &[("K", 2)], 4, NONE, [None; 3]),
    family("mutex/ssbexp", &[("K", 4)], 8, NONE, [Some(12), Some(0), Some(0)]),
    heavy(family("mutex/ssbexp", &[("K", 6)], 12, NONE, [None; 3])),
    family("mutex/ssbexp", &[("K", 8)], 16, NONE, [Some(360), Some(0), Some(0)]),
    heavy(family("mutex/ssbexp", &[("K", 10)], 20, NONE, [None; 3])),
    family(
        "mutex/ssbexp",
        &[("K", 12)],
        24,
        ["0.16", "0.06", "0.03"],
        [Some(6_108), Some(0), Some(0)],
    ),
    family("mutex/mpat", &[("K", 5)], 3_840, NONE, [None; 3]),
    heavy(family("mutex/mpat", &[("K", 6)], 46_080, ["62.7*", "3.1", ""], [Some(0); 3])),
    family("mutex/poke", &[("N", 3), ("K", 4)], 711, NONE, [None; 3]),
    family(
        "mutex/poke",
        &[("N", 9), ("K", 3)],
        5_332,
        ["4.1", "1.3", "3.3"],
        [None, Some(4_659), Some(15)],
    ),
    family(
        "mutex/multiprodcon",
        &[("P", 3), ("W", 5)],
        2_958,
        ["1.6", "0.33", "1.05"],
        [Some(50_664), Some(2_578), Some(0)],
    ),
    heavy(family(
        "mutex/multiprodcon",
        &[("P", 4), ("W", 5)],
        314_064,
        ["258*", "", ""],
        [None, None, Some(29_597)],
    )),
    family("memory/lastzero", &[("N", 10)], 3_328, ["", "0.20", "0.52"], [None; 3]),
    family("memory/writers", &[("N", 8)], 40_320, ["", "0.36", "3.8"], [None; 3]),
    heavy(family("memory/writers", &[("N", 9)], 362_880, ["", "3.4", ""], [None; 3])),
    family("mutex/mutex", &[("N", 7)], 5_040, ["2.6", "0.25", "0.47"], [Some(0); 3]),
    family("memory/readers", &[("N", 10)], 1_024, NONE, [None; 3]),
];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "Locks and shared memory", ABOUT);
    let mut by_k = table([
        "program",
        "k",
        "traces",
        "blocked",
        "DPU's",
        "transitions",
        "events",
        "SAT",
        "time",
        "each",
        "peak",
    ]);
    let mut beside =
        table(["program", "classes", "ours", "DPU", "ratio", "GenMC", "ratio", "Nidhugg", "ratio"]);
    for family in FAMILIES.iter().filter(|family| bench.full || !family.heavy) {
        let job = Job::new(family.spec, family.constants);
        for k in [1, 2, 3] {
            let blocked = family.blocked[k as usize - 1];
            let ours = bench.run(&job.by(Search::Partial(k)));
            let name = if k == 1 { job.name() } else { String::new() };
            by_k.add_row(line(name, &k.to_string(), family.classes, blocked, &ours));
        }
        let ours = bench.run(&job);
        by_k.add_row(line(String::new(), "optimal", family.classes, None, &ours));
        if family.quoted != NONE {
            beside.add_row(comparison(family, &job, &ours));
        }
    }
    print(bench, by_k, 2);
    bench.print(QUOTED);
    print(bench, beside, 1);
}

fn line(name: String, k: &str, classes: u64, blocked: Option<u64>, ours: &Measured) -> Vec<String> {
    vec![
        name,
        k.to_owned(),
        ours.traces(Some(classes)),
        ours.count(ours.blocked),
        or_dash(blocked, thousands),
        ours.count(ours.transitions),
        ours.events(),
        thousands(ours.sat_calls),
        ours.time(),
        time(ours.per_transition()),
        memory(ours.peak),
    ]
}

fn comparison(family: &Family, job: &Job, ours: &Measured) -> Vec<String> {
    let mut cells = vec![job.name(), thousands(family.classes), ours.time()];
    for quoted in family.quoted {
        let (figure, star) = quoted.strip_suffix('*').map_or((quoted, ""), |figure| (figure, "*"));
        let seconds: Option<f64> = figure.parse().ok();
        cells.push(or_dash(seconds, |_| format!("{figure} s{star}")));
        cells.push(or_dash(seconds.filter(|_| ours.is_complete), |s| ratio(s / ours.seconds)));
    }
    cells
}
