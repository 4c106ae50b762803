//! The overhead of each explorer: its search, compared with the same walk on the bare model.

use std::time::Duration;

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job, Measured};
use crate::table::{or_dash, print, ratio, table, time, title};

const ABOUT: &str = "\
Each search beside its floor: the same actions executed and undone in the same order on the bare model, which computes
the enabled actions of each state. 'Each' is the time by transition, 'ratio' its ratio to the floor: 1 would be an explorer that
costs nothing. A search that takes more than five seconds is left out.";

const SUMMARY: &str = "\
For each explorer, the ratios on all these programs: geometric mean, least and greatest.
";

const LIMIT: Duration = Duration::from_secs(5);

const PROGRAMS: [(&str, &[(&str, u32)]); 9] = [
    ("mailbox/rmq-receiving", &[("N", 8)]),
    ("memory/lastzero", &[("N", 9)]),
    ("memory/writers", &[("N", 7)]),
    ("mutex/mutex", &[("N", 6)]),
    ("mutex/mpat", &[("K", 5)]),
    ("mutex/philosophers", &[("N", 10)]),
    ("mutex/multiprodcon", &[("P", 3), ("W", 5)]),
    ("mutex/poke", &[("N", 3), ("K", 4)]),
    ("mutex/dispatcher", &[("S", 5), ("R", 3)]),
];

const EXPLORERS: [&str; 6] =
    ["udpor", "optimal", "parsimonious", "source", "dpor:sleep-sets", "sleep"];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "The floor", ABOUT);
    let mut table = table([
        "program",
        "explorer",
        "traces",
        "blocked",
        "transitions",
        "each",
        "floor",
        "ratio",
    ]);
    let mut ratios = EXPLORERS.map(|explorer| (explorer, Vec::new()));
    for (spec, constants) in PROGRAMS {
        let job = Job::new(spec, constants).with_floor().within(LIMIT);
        let mut name = job.name();
        for (explorer, ratios) in &mut ratios {
            let measured = bench.run(&job.explorer(explorer));
            let Some((floor, above)) = measured.floor() else { continue };
            ratios.push(above);
            table.add_row([
                std::mem::take(&mut name),
                (*explorer).into(),
                thousands(measured.traces),
                thousands(measured.blocked),
                thousands(measured.transitions),
                time(measured.per_transition()),
                time(floor),
                ratio(above),
            ]);
        }
    }
    print(bench, table, 2);
    bench.print(SUMMARY);
    summary(bench, ratios.map(|(explorer, ratios)| (explorer, ratios)));
}

fn summary(bench: &Bench, ratios: impl IntoIterator<Item = (&'static str, Vec<f64>)>) {
    let mut table = table(["explorer", "programs", "mean", "least", "greatest"]);
    for (explorer, ratios) in ratios {
        let count = ratios.len();
        let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / count as f64).exp();
        let least = ratios.iter().copied().reduce(f64::min);
        let greatest = ratios.iter().copied().reduce(f64::max);
        table.add_row([
            explorer.into(),
            count.to_string(),
            ratio(mean),
            or_dash(least, ratio),
            or_dash(greatest, ratio),
        ]);
    }
    print(bench, table, 1);
}

impl Measured {
    /// The floor's time by transition, and the ratio of the search's time to the floor's; `None` if
    /// no floor was measured.
    pub fn floor(&self) -> Option<(f64, f64)> {
        let floor = self.floor?;
        Some((floor / self.transitions as f64, self.seconds / floor))
    }
}
