//! The simulation of a search by many machines: it costs what the recorded pieces cost, and finds
//! each piece once, whatever fails.

// Tests use the recorded workers only, and not all figures.
#[allow(dead_code)]
#[path = "../examples/many_machines/running.rs"]
mod running;
#[allow(dead_code)]
#[path = "../examples/many_machines/simulation.rs"]
mod simulation;
#[allow(dead_code)]
#[path = "../examples/many_machines/tree.rs"]
mod tree;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use mazurka::explore::{Budget, Listed, NoObserver, Options, explore};
use mazurka::lang;

use running::Recorded;
use simulation::{Figures, Setup, simulate};
use tree::{Costs, Tree};

/// The tree of a small search, with round costs: a transition takes a millisecond.
static TREE: LazyLock<Tree> = LazyLock::new(recorded);

fn recorded() -> Tree {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/memory/lastzero.maz");
    let source = fs::read_to_string(path).expect("a spec");
    let defines = [("N".to_string(), "8".to_string())];
    let program = lang::compile("lastzero.maz", &source, &defines).expect("a program");
    let explorer = Listed::named("parsimonious").expect("it exists").with(&Options::default());
    let budget = Budget { all: true, ..Budget::default() };
    let whole = explore(&program, explorer, budget, &mut NoObserver).stats;
    let mut tree = Tree::record(&program, explorer, 64);
    assert_eq!((tree.transitions(), tree.traces), (whole.transitions, whole.traces));
    assert!(tree.pieces.len() > 100, "{} pieces", tree.pieces.len());
    tree.costs = Costs { transition: 1e-3, begin: 0.0, write: 0.0, read: 0.0 };
    tree
}

fn setup(workers: u32) -> Setup {
    Setup {
        workers,
        cores: 0,
        latency: Duration::from_micros(20),
        poll: Duration::ZERO,
        service: Duration::from_micros(10),
        is_measured: false,
        failures: 0.0,
        seed: 1,
    }
}

fn simulated(tree: &Tree, setup: &Setup) -> Figures {
    simulate(Recorded::new(tree, 1.0), setup)
}

/// All recorded pieces were searched, none of them twice among those that count.
fn assert_all_once(tree: &Tree, found: &Figures) {
    let all = (tree.transitions(), tree.pieces.len() as u64);
    assert_eq!((found.done.transitions, found.done.traces), all);
}

#[test]
fn one_worker_takes_the_sum_of_the_costs() {
    let tree = &*TREE;
    let found = simulated(tree, &setup(1));
    assert_all_once(tree, &found);
    let sum = Duration::from_millis(tree.transitions());
    assert_eq!(found.work, sum);
    let besides = found.time - sum;
    let a_message = Duration::from_micros(100);
    assert!(besides > Duration::ZERO && besides < a_message * found.messages as u32);
}

#[test]
fn many_workers_are_faster_but_not_more_so_than_they_are_many() {
    let tree = TREE.times(40);
    let times = [1, 2, 4, 16].map(|workers| {
        let found = simulated(&tree, &setup(workers));
        assert_all_once(&tree, &found);
        assert!(found.time * workers >= found.work);
        found.time.as_secs_f64()
    });
    assert!(times[0] / times[1] > 1.8 && times[0] / times[2] > 3.0, "{times:?}");
    assert!(times[2] > times[3], "{times:?}");
    // Four workers on two cores are two.
    let shared = simulated(&tree, &Setup { cores: 2, ..setup(4) });
    let ratio = shared.time.as_secs_f64() / times[1];
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

/// A worker that fails is silent. Its piece is searched by another one, and what it gave away
/// before is not searched again.
#[test]
fn each_piece_counts_once_with_failures() {
    let tree = TREE.times(40);
    let whole = simulated(&tree, &setup(8));
    let (mut failed, mut repeated) = (0, Duration::ZERO);
    for seed in 1..=5 {
        // Of eight workers, two or three fail before the end.
        let failures = 3600.0 / whole.time.as_secs_f64() / 3.0;
        let found = simulated(&tree, &Setup { failures, seed, ..setup(8) });
        failed += found.failed;
        if found.failed < 8 {
            assert_all_once(&tree, &found);
            repeated += found.work - whole.work;
        }
    }
    assert!(failed > 5 && repeated > Duration::ZERO, "{failed} failures, {repeated:?} again");
    // If all of them fail, what is done still counts once.
    let none = simulated(&tree, &Setup { failures: 1e6, ..setup(8) });
    assert_eq!(none.failed, 8);
    assert!(none.done.transitions < tree.transitions());
}
