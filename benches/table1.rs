//! Pham, Jéron, Quinson (FORTE 2019), table 1: a prototype of UDPOR and an exhaustive search, as
//! printed there, beside this crate on the same programs.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job, Measured, Search};
use crate::table::{or_dash, print, ratio, table, time, title};

const ABOUT: &str = "\
Programs with asynchronous messages and P processes. 'Paper' is what it printed (Core i7 of 2.6 GHz; TO: more than
30 minutes), 'ours' is measured here. The exhaustive search counts interleavings, UDPOR classes of them; ≠ marks
a count that differs. Events: the size of the unfolding. Ratio: the paper's UDPOR time by ours.";

/// Traces and time.
type Printed = (u64, &'static str);

struct Row {
    spec: &'static str,
    constants: &'static [(&'static str, u32)],
    processes: u32,
    exhaustive: Option<Printed>,
    udpor: Printed,
    /// The number of interleavings, where our search can enumerate them and the prototype could
    /// not.
    only_ours: Option<u64>,
}

const fn row(
    spec: &'static str,
    constants: &'static [(&'static str, u32)],
    processes: u32,
    exhaustive: Option<Printed>,
    udpor: Printed,
) -> Row {
    Row { spec, constants, processes, exhaustive, udpor, only_ours: None }
}

const ROWS: &[Row] = &[
    row("wait-deadlock", &[], 2, Some((2, "<0.01")), (1, "<0.01")),
    row("complex-deadlock", &[], 3, Some((36, "0.03")), (1, "<0.01")),
    row("waitall-deadlock", &[], 3, Some((1458, "1.2")), (1, "<0.01")),
    row("no-error-wait-any_src", &[], 3, Some((21, "0.02")), (1, "0.01")),
    row("any_src-can-deadlock3", &[], 3, Some((999, "0.65")), (2, "0.03")),
    row("dtg", &[], 5, None, (2, "0.07")),
    row("rmq-receiving", &[("N", 4)], 4, Some((20064, "8.15")), (6, "0.2")),
    Row { only_ours: Some(5_045_472), ..row("rmq-receiving", &[("N", 5)], 5, None, (24, "2.52")) },
    row("master-worker", &[("N", 3)], 3, Some((1_356_444, "1038")), (2, "0.2")),
    row("master-worker", &[("N", 4)], 4, None, (6, "2.5")),
];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "FORTE 2019, table 1", ABOUT);
    let mut table = table([
        "program",
        "P",
        "exhaustive:\npaper",
        "\nours",
        "time:\npaper",
        "\nours",
        "UDPOR:\npaper",
        "\nours",
        "\nevents",
        "time:\npaper",
        "\nours",
        "\nratio",
    ]);
    for row in ROWS {
        let job = Job::new(&format!("mailbox/{}", row.spec), row.constants);
        let ours = bench.run(&job.keeping_events());
        let all = exhaustive(bench, row, &job);
        let expected = row.exhaustive.map(|(traces, _)| traces).or(row.only_ours);
        let (traces, seconds) = row.udpor;
        table.add_row([
            row.spec.to_owned(),
            row.processes.to_string(),
            or_dash(row.exhaustive, |(traces, _)| thousands(traces)),
            or_dash(all.as_ref(), |all| all.traces(expected)),
            row.exhaustive.map_or("TO".into(), |(_, seconds)| format!("{seconds} s")),
            or_dash(all.as_ref(), Measured::time),
            thousands(traces),
            ours.traces(Some(traces)),
            ours.events(),
            format!("{seconds} s"),
            time(ours.seconds),
            faster(seconds, ours.seconds),
        ]);
    }
    print(bench, table, 1);
}

/// The exhaustive search, where the paper has figures, or (with `--full`) where only ours succeeds.
fn exhaustive(bench: &Bench, row: &Row, job: &Job) -> Option<Measured> {
    let wanted = row.exhaustive.is_some() || (bench.full && row.only_ours.is_some());
    wanted.then(|| bench.run(&job.by(Search::Exhaustive)))
}

/// The ratio of their time, which may be an upper bound, to ours.
fn faster(theirs: &str, ours: f64) -> String {
    let (bound, seconds) = theirs.strip_prefix('<').map_or(("", theirs), |seconds| ("< ", seconds));
    let seconds: f64 = seconds.parse().expect("a printed time");
    format!("{bound}{}", ratio(seconds / ours))
}
