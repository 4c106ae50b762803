//! The instructions of the inner loops, compared with recorded counts.
//!
//! `instructions.csv` has the count of each search. A change that costs more than 5% fails here,
//! and so does a change that saves more than 5%, because later changes could lose the gain
//! unnoticed. If the change is intended, the counts are recorded anew, and show up in its diff:
//!
//! ```console
//! $ .ci/instructions                   # are they as recorded?
//! $ MAZURKA_BLESS=1 .ci/instructions   # writes them anew
//! ```
//!
//! The script uses the profile of tests, without debug assertions, and one codegen unit. With
//! several units, any change may regroup and inline other functions, and move a count by up to 4%
//! without a cause. `cargo bench -- instructions` shows the counts of a release build, which are
//! lower because more is inlined. Another compiler may need new counts. Another machine does not:
//! it changes them by less than 1% ([`crate::callgrind`]).
//!
//! Crates for such benchmarks (gungraun, formerly iai-callgrind) compare with earlier results in
//! `target`, or with upper limits, and need a separately installed runner. Here the counts are
//! committed, with limits on both sides.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mazurka::report::text::thousands;
use serde::{Deserialize, Serialize};

use crate::callgrind::{self, Counted};
use crate::measure::{Bench, Job};
use crate::table::{or_dash, print, ratio, table, title};

const ABOUT: &str = "\
The instructions of small searches, per transition, and as a ratio to the floor: the walk of UDPOR on the bare model.
'Recorded' are the counts in instructions.csv, 'change' is the difference to them.";

/// The tolerated relative difference from the recorded count.
const TOLERANCE: f64 = 0.05;

type Program = (&'static str, &'static [(&'static str, u32)]);

const PROGRAMS: [Program; 9] = [
    ("mailbox/rmq-receiving", &[("N", 7)]),
    ("memory/lastzero", &[("N", 7)]),
    ("memory/writers", &[("N", 6)]),
    ("mutex/mutex", &[("N", 5)]),
    ("mutex/mpat", &[("K", 4)]),
    ("mutex/philosophers", &[("N", 7)]),
    ("mutex/multiprodcon", &[("P", 2), ("W", 3)]),
    ("mutex/poke", &[("N", 3), ("K", 3)]),
    ("mutex/dispatcher", &[("S", 3), ("R", 2)]),
];

/// The walk of UDPOR on the bare model.
const FLOOR: &str = "floor";

const SEARCHES: [&str; 5] = [FLOOR, "udpor", "optimal", "parsimonious", "source"];

/// Searches that store states, on programs with few states.
const STORING: [Program; 4] = [
    ("mailbox/rmq-receiving", &[("N", 5)]),
    ("mutex/philosophers", &[("N", 4)]),
    ("mutex/philosophers-eating", &[("N", 4)]),
    ("mutex/dispatcher", &[("S", 2), ("R", 1)]),
];

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Record {
    search: String,
    program: String,
    instructions: u64,
}

/// A search on a program.
struct Subject {
    search: &'static str,
    job: Job,
}

impl Subject {
    fn new(search: &'static str, (spec, constants): Program) -> Subject {
        let job = Job::new(spec, constants);
        let job = if search == FLOOR { job.with_floor() } else { job.explorer(search) };
        Subject { search, job }
    }

    fn key(&self) -> (String, String) {
        (self.search.into(), self.job.name())
    }
}

/// The counts by search and program.
type Recorded = BTreeMap<(String, String), u64>;

/// The section. With `is_gate`, returns whether all counts are as recorded.
pub fn run(bench: &Bench, is_gate: bool) -> bool {
    title(bench, "Instructions", ABOUT);
    if !callgrind::is_installed() {
        bench.print("Not counted: there is no valgrind on this machine.");
        return !is_gate;
    }
    let subjects = subjects();
    let mut counts = count(&subjects);
    if !is_gate {
        show(bench, &subjects, &counts, &Recorded::new());
        return true;
    }
    if std::env::var("MAZURKA_BLESS").is_ok_and(|value| value == "1") {
        write(&subjects, &counts);
    }
    let mut recorded = read();
    recount(&subjects, &mut counts, &recorded);
    let far = show(bench, &subjects, &counts, &recorded);
    recorded.retain(|key, _| subjects.iter().all(|subject| subject.key() != *key));
    let is_good = far == 0 && recorded.is_empty();
    if !is_good {
        bench.print(format!(
            "{far} counts are new, or more than {}% from those recorded (≠), and {} were recorded of searches that are not \
             there any more. If that is right, write them anew: MAZURKA_BLESS=1 .ci/instructions",
            100.0 * TOLERANCE,
            recorded.len(),
        ));
    }
    is_good
}

fn subjects() -> Vec<Subject> {
    let walking = PROGRAMS
        .iter()
        .flat_map(|&program| SEARCHES.into_iter().map(move |search| Subject::new(search, program)));
    walking.chain(STORING.map(|program| Subject::new("stateful", program))).collect()
}

/// Counts on all cores: other processes do not change a count.
fn count(subjects: &[Subject]) -> Vec<Counted> {
    let counts = Mutex::new(vec![None; subjects.len()]);
    let next = AtomicUsize::new(0);
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(subject) = subjects.get(index) else { return };
            let counted = callgrind::count(&subject.job);
            counts.lock().expect("no thread has failed")[index] = Some(counted);
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        (0..cores).for_each(|_| drop(scope.spawn(worker)));
    });
    let counts = counts.into_inner().expect("no thread has failed");
    counts.into_iter().map(|counted| counted.expect("all are counted")).collect()
}

/// Repeats each count that differs from the recorded one, and keeps the smaller count: once in a
/// few hundred runs a count is too large for a reason outside the search.
fn recount(subjects: &[Subject], counts: &mut [Counted], recorded: &Recorded) {
    for (subject, counted) in subjects.iter().zip(counts) {
        let before = recorded.get(&subject.key());
        if before.is_some_and(|&before| is_far(change(counted.instructions, before))) {
            let again = callgrind::count(&subject.job);
            counted.instructions = counted.instructions.min(again.instructions);
        }
    }
}

/// The relative change since the recorded count.
fn change(instructions: u64, recorded: u64) -> f64 {
    instructions as f64 / recorded as f64 - 1.0
}

fn is_far(change: f64) -> bool {
    change.abs() > TOLERANCE
}

/// Prints all counts, and returns the number of those that are not as recorded.
fn show(bench: &Bench, subjects: &[Subject], counts: &[Counted], recorded: &Recorded) -> usize {
    let mut table =
        table(["program", "search", "instructions", "each", "ratio", "recorded", "change"]);
    let (mut far, mut floor) = (0, None);
    for (subject, counted) in subjects.iter().zip(counts) {
        let Counted { transitions, instructions } = *counted;
        let each = instructions as f64 / transitions as f64;
        match subject.search {
            FLOOR => floor = Some(each),
            "stateful" => floor = None,
            _ => {}
        }
        let before = recorded.get(&subject.key()).copied();
        let change = before.map(|before| change(instructions, before));
        let is_far = change.is_none_or(is_far);
        far += usize::from(is_far);
        let mark = if is_far && !recorded.is_empty() { "≠ " } else { "" };
        table.add_row([
            subject.job.name(),
            subject.search.into(),
            thousands(instructions),
            thousands(each.round() as u64),
            or_dash(floor, |floor| ratio(each / floor)),
            or_dash(before, thousands),
            mark.to_owned() + &or_dash(change, |change| format!("{:+.2}%", 100.0 * change)),
        ]);
    }
    print(bench, table, 2);
    far
}

fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "benches", "instructions.csv"].iter().collect()
}

fn read() -> Recorded {
    let mut reader = csv::Reader::from_path(path()).expect("the recorded counts");
    let records = reader.deserialize().map(|record| record.expect("a recorded count"));
    records
        .map(|Record { search, program, instructions }| ((search, program), instructions))
        .collect()
}

fn write(subjects: &[Subject], counts: &[Counted]) {
    let mut writer = csv::Writer::from_path(path()).expect("the recorded counts can be written");
    for (subject, counted) in subjects.iter().zip(counts) {
        let (search, program) = subject.key();
        let record = Record { search, program, instructions: counted.instructions };
        writer.serialize(record).expect("a line of the recorded counts");
    }
    writer.flush().expect("the recorded counts can be written");
}
