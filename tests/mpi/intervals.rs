//! The number of classes of executions of programs with windows: accesses that touch different
//! bytes are independent, and others are not.
//!
//! With 3 ranks, operations in any order have 6 = 3! classes, if each overlaps each. If they
//! overlap as neighbours in a chain, 4 orders of the two pairs can be told apart, and if one of
//! them overlaps both others, too.

use std::path::Path;

use mazurka::explore::{Budget, NoObserver, Setting, explore};
use mazurka::model::{Buffering, Semantics};
use mazurka::mpi::{Launch, Ranks};
use mazurka::systems::history::History;

/// Cases of `intervals.c` with 3 ranks, and their classes.
const CLASSES: [(u32, u64); 39] = [
    // Shared locks: puts, and atomic operations on own places and on the same one.
    (1, 1),
    (2, 1),
    (3, 1),
    (4, 6),
    (5, 1),
    (6, 4),
    (7, 1),
    (8, 6),
    (9, 1),
    (10, 6),
    // Several places: a chain, disjoint pairs, many grains, columns, a row across.
    (11, 4),
    (12, 1),
    (13, 6),
    (14, 6),
    (15, 1),
    (16, 4),
    (17, 1),
    (18, 1),
    // Exclusive locks: own places without and with the owner, the same place, only reads.
    (19, 1),
    (20, 4),
    (21, 6),
    (22, 1),
    // With flushes, with shared locks, with stores of the owner, with many grains.
    (23, 6),
    (24, 1),
    (25, 2),
    (26, 6),
    (27, 2),
    (28, 1),
    (29, 2),
    (30, 3),
    // Two halves of one grain are ordered though they are disjoint; two grains are not.
    (41, 2),
    (42, 1),
    (43, 2),
    (45, 6),
    (46, 1),
    (48, 1),
    (51, 12),
    // A lock that is taken early or late.
    (57, 2),
    (58, 3),
];

/// `sleep` looks for no races: it is the judge of the others.
const EXPLORERS: [&str; 6] = ["udpor:k=1", "udpor", "optimal", "source", "parsimonious", "sleep"];

/// The number of classes that an explorer visits.
fn classes(program: &Path, case: u32, ranks: u32, explorer: &str) -> u64 {
    let launch = Launch {
        arguments: vec![case.to_string().into()],
        semantics: Semantics { buffering: Buffering::Infinite, ..Semantics::default() },
        ..Launch::new(program, ranks)
    };
    let system = History::new(Ranks::new(launch).unwrap());
    let setting: Setting = explorer.parse().unwrap();
    let outcome = explore(&system, setting, Budget::default(), &mut NoObserver);
    let violations = &outcome.violations;
    assert!(outcome.is_complete() && violations.is_empty(), "{case} by {explorer}: {violations:?}");
    outcome.stats.traces
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn accesses_to_different_bytes_are_independent() {
    let folder = super::folder("mpi-intervals");
    let made = super::compile("intervals", &folder);
    let program = Path::new(&made);
    for (case, expected) in CLASSES {
        for explorer in EXPLORERS {
            assert_eq!(classes(program, case, 3, explorer), expected, "{case} by {explorer}");
        }
    }
    for (case, expected) in [(3, 1), (4, 24), (15, 1), (19, 1), (20, 8), (21, 24), (22, 1)] {
        assert_eq!(classes(program, case, 4, "udpor"), expected, "{case} with 4 ranks");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What happens in only some of the classes is found by other explorers, too.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn mistakes_in_some_orders_of_accesses_are_found() {
    let folder = super::folder("mpi-intervals-wrong");
    let (right, wrong, found) = super::offences(
        Path::new("tests/mpi/intervals.c"),
        "-O2",
        &folder,
        &[super::UDPOR, "optimal", "source", "sleep"],
    );
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!((right, wrong), (CLASSES.len(), 19));
}
