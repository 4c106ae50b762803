//! How far the short search for an alternative reaches, and where the SAT solver takes over.
//!
//! `src/alternatives/optimal.rs` says why no search of UDPOR is known to come there. So C and D are made by hand here.

use mazurka::alternatives::{Alternatives, KPartial, Optimal, Varisat};
use mazurka::lang::compile;
use mazurka::model::{ProcessId, StopSignal, System};
use mazurka::unfolding::{Configuration, EventId, Unfolding};

/// The writers and the closer are disabled. A scanner takes the place of every writer, but of the closer only a late one can,
/// and a late one writes a cell that all scanners have read by then.
const SPEC: &str = "
const CELLS = 7;
const SCANNERS = 4;

shared x: [int; CELLS] = 0;
shared closed: bool = false;

process Writer[i in 0..CELLS] { x[i] = 1; }
process Closer { closed = true; }
process Scanner[j in 0..SCANNERS] { for i in 0..CELLS { let seen = x[i]; } }
process Late[j in 0..SCANNERS + 1] { x[0] = 2; let seen = closed; }
";

const CELLS: u32 = 7;
const SCANNERS: u32 = 4;

/// Meets what these processes do if they run one after the other from the start.
fn meet<S: System>(
    unfolding: &mut Unfolding<'_, S>,
    c: &mut Configuration,
    processes: impl Iterator<Item = u32>,
) {
    for process in processes.map(ProcessId) {
        while let Some(&event) = c.enabled_of(process).first() {
            unfolding.push(c, event);
        }
    }
    while !c.events().is_empty() {
        unfolding.pop(c);
    }
}

/// Is there an alternative to these after ∅?
fn finds<S: System>(
    by: &mut impl Alternatives,
    unfolding: &Unfolding<'_, S>,
    c: &Configuration,
    disabled: &[EventId],
) -> bool {
    by.descend(c);
    let found = by.find(&unfolding.structure, c, disabled, &mut Vec::new());
    by.ascend();
    found
}

#[test]
fn the_solver_is_asked_where_a_search_takes_long() {
    let program = compile("scanners.maz", SPEC, &[]).expect("a program");
    let (mut unfolding, mut c) = Unfolding::new(&program, u32::MAX, true, StopSignal::default());
    let (closer, scanners) = (CELLS, CELLS + 1..=CELLS + SCANNERS);
    meet(&mut unfolding, &mut c, scanners.clone());
    for late in (0..=SCANNERS).map(|j| scanners.end() + 1 + j) {
        meet(&mut unfolding, &mut c, [late].into_iter());
    }
    let first = |process| c.enabled_of(ProcessId(process))[0];
    let writers: Vec<EventId> = (0..CELLS).map(first).collect();
    let all: Vec<EventId> = [first(closer)].into_iter().chain(writers.clone()).collect();

    let (mut both, mut search) = (Optimal::<Varisat>::new(), KPartial::full());
    assert!(finds(&mut both, &unfolding, &c, &writers) && both.sat_calls() == 0);
    assert!(both.combs().most_tries < 2 * u64::from(CELLS), "{:?}", both.combs());

    // Each scanner for each cell but the first, and then each late one.
    let scans = |cells| u64::from(SCANNERS).pow(cells);
    let tries = (1..CELLS).map(scans).sum::<u64>() + scans(CELLS - 1) * u64::from(SCANNERS + 1);
    assert!(!finds(&mut search, &unfolding, &c, &all));
    assert_eq!(search.combs().most_tries, tries);
    assert!(!finds(&mut both, &unfolding, &c, &all));
    assert!(both.sat_calls() == 1 && both.combs().most_tries < tries, "{:?}", both.combs());
}
