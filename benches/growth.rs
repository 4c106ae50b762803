//! Does a transition cost the same in a large program as in a small one? Families that grow by one
//! parameter.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job, Measured};
use crate::table::{memory, memory_ratio, or_dash, print, ratio, table, time, title};

const ABOUT: &str = "\
Families that grow: the time per transition of the bare model on the walk of UDPOR ('floor'), of UDPOR with full
alternatives, of optimal DPOR and of its parsimonious form, and their peaks of memory. The last line of a family shows the ratio
of its largest member to its smallest: 1 would be ideal. As programs grow so do their histories, so a
little more is fair.";

/// The explorers compared with UDPOR.
const OTHERS: [&str; 2] = ["optimal", "parsimonious"];

type Constants = &'static [(&'static str, Option<u32>)];

/// A specification and its constants. The constant without a value grows.
struct Family {
    spec: &'static str,
    constants: Constants,
    quick: &'static [u32],
    heavy: &'static [u32],
}

const fn family(
    spec: &'static str,
    constants: Constants,
    quick: &'static [u32],
    heavy: &'static [u32],
) -> Family {
    Family { spec, constants, quick, heavy }
}

const N: Constants = &[("N", None)];
const K: Constants = &[("K", None)];

const FAMILIES: &[Family] = &[
    family("mailbox/rmq-receiving", N, &[6, 7, 8, 9], &[10]),
    family("mailbox/master-worker", N, &[5, 6, 7], &[8]),
    family("memory/lastzero", N, &[8, 10, 12], &[13, 15]),
    family("memory/writers", N, &[5, 6, 7, 8], &[9]),
    family("memory/readers", N, &[8, 9, 10, 11], &[12, 13]),
    family("mutex/mutex", N, &[5, 6, 7], &[8]),
    family("mutex/mpat", K, &[3, 4, 5], &[6]),
    family("mutex/ssbexp", K, &[12, 24, 48], &[96]),
    family("mutex/philosophers", N, &[6, 8, 10, 12], &[14]),
    family("mutex/filesystem", N, &[16, 18, 20], &[22]),
    family("mutex/multiprodcon", &[("P", None), ("W", Some(5))], &[2, 3], &[4]),
    family("mutex/poke", &[("N", Some(9)), ("K", None)], &[1, 2, 3], &[]),
    family("mutex/poke", &[("N", Some(3)), ("K", None)], &[2, 3, 4], &[5]),
    family("mutex/dispatcher", &[("S", Some(5)), ("R", None)], &[2, 3, 4], &[5]),
];

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "Growth", ABOUT);
    let mut table = table([
        "program",
        "traces",
        "transitions",
        "floor",
        "udpor",
        "optimal",
        "parsimonious",
        "udpor's peak",
        "optimal's",
        "parsimonious'",
    ]);
    for family in FAMILIES {
        let heavy = if bench.full { family.heavy } else { &[] };
        let sizes: Vec<_> = family.quick.iter().chain(heavy).collect();
        let members: Vec<_> =
            sizes.into_iter().map(|&size| Member::new(bench, family, size)).collect();
        for member in &members {
            table.add_row(member.line());
        }
        let (least, most) = (&members[0], members.last().expect("a member"));
        table.add_row(most.by(least));
    }
    print(bench, table, 1);
}

/// A member of a family, measured.
struct Member {
    name: String,
    udpor: Measured,
    others: [Measured; 2],
}

impl Member {
    fn new(bench: &Bench, family: &Family, size: u32) -> Member {
        let valued = |&(name, value): &(_, Option<u32>)| (name, value.unwrap_or(size));
        let constants: Vec<_> = family.constants.iter().map(valued).collect();
        let job = Job::new(family.spec, &constants);
        let udpor = bench.run(&job.with_floor());
        let others = OTHERS.map(|explorer| bench.run(&job.explorer(explorer)));
        Member { name: job.name(), udpor, others }
    }

    fn searches(&self) -> impl Iterator<Item = &Measured> {
        [&self.udpor].into_iter().chain(&self.others)
    }

    /// The times per transition: of the floor, then of each complete search.
    fn times(&self) -> impl Iterator<Item = Option<f64>> {
        let floor = self.udpor.floor().map(|(floor, _)| floor);
        let by_transition = |search: &Measured| search.is_complete.then(|| search.per_transition());
        [floor].into_iter().chain(self.searches().map(by_transition))
    }

    fn line(&self) -> Vec<String> {
        let mut cells = vec![
            self.name.clone(),
            self.udpor.traces(None),
            self.udpor.count(self.udpor.transitions),
        ];
        cells.extend(self.times().map(|each| or_dash(each, time)));
        cells.extend(self.searches().map(|search| memory(search.peak)));
        cells
    }

    /// The ratios of a large member to a small one.
    fn by(&self, small: &Member) -> Vec<String> {
        let mut cells = vec![String::from("  ratio"), String::new()];
        let transitions = self.udpor.transitions as f64 / small.udpor.transitions as f64;
        cells.push(thousands(transitions.round() as u64));
        let times = self.times().zip(small.times());
        cells.extend(times.map(|(large, small)| {
            or_dash(large.zip(small), |(large, small)| ratio(large / small))
        }));
        let peaks = self.searches().zip(small.searches());
        cells.extend(peaks.map(|(large, small)| memory_ratio(large.peak, small.peak)));
        cells
    }
}
