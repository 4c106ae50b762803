//! The protocols of `specs/faults` as Stateright models: each has the steps of its module in
//! `tla`, so the states are the same.
//!
//! `cargo run --release -- raft-election CRASHES=1 --symmetry` prints the numbers of distinct
//! states and of generated ones, and the verdict. The script `protocols` runs all.

mod alternating_bit;
#[path = "../../src/at_least_once.rs"]
#[allow(dead_code)]
mod at_least_once;
mod chain_replication;
mod quorum_register;
mod raft_election;
mod three_phase_commit;
mod two_phase_commit;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::process::ExitCode;

use stateright::{Checker, HasDiscoveries, Model};

/// What the command line says about constants: `N=3`, `EARLY=true`.
pub struct Constants(BTreeMap<String, String>);

impl Constants {
    fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> T {
        self.0.get(name).map_or(default, |value| value.parse().ok().expect("a number"))
    }

    fn is(&self, name: &str, default: bool) -> bool {
        self.0.get(name).map_or(default, |value| value == "true")
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(protocol) = words.next() else {
        eprintln!("usage: protocols PROTOCOL [NAME=VALUE ..] [--symmetry]");
        return ExitCode::FAILURE;
    };
    let (options, constants): (Vec<_>, Vec<_>) = words.partition(|word| word == "--symmetry");
    let valued = |word: &String| word.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned()));
    let constants = Constants(constants.iter().filter_map(valued).collect());
    let by_symmetry = !options.is_empty();
    match protocol.as_str() {
        "alternating-bit" => check(alternating_bit::AlternatingBit::new(&constants), None),
        "at-least-once" => {
            let deduplicates = constants.is("DEDUPLICATES", true);
            match constants.number("N", 2) {
                2 => check(at_least_once::AtLeastOnce::<2> { deduplicates }, None),
                4 => check(at_least_once::AtLeastOnce::<4> { deduplicates }, None),
                n => panic!("at-least-once is built for 2 and 4 requests, not for {n}"),
            }
        }
        "chain-replication" => check(chain_replication::ChainReplication::new(&constants), None),
        "quorum-register" => check(
            quorum_register::QuorumRegister::new(&constants),
            by_symmetry.then_some(quorum_register::World::representative),
        ),
        "raft-election" => check(
            raft_election::RaftElection::new(&constants),
            by_symmetry.then_some(raft_election::World::representative),
        ),
        "three-phase-commit" => check(
            three_phase_commit::ThreePhaseCommit::new(&constants),
            by_symmetry.then_some(three_phase_commit::World::representative),
        ),
        "two-phase-commit" => check(
            two_phase_commit::TwoPhaseCommit::new(&constants),
            by_symmetry.then_some(two_phase_commit::World::representative),
        ),
        other => panic!("no protocol {other}"),
    }
    ExitCode::SUCCESS
}

const NO_DEADLOCK: &str = "no deadlock";

/// A state that is the same but for the names of processes.
type Representative<S> = fn(&S) -> S;

/// Goes through the states until something is wrong; depth first, as Stateright uses symmetry only
/// there.
fn check<M>(model: M, representative: Option<Representative<M::State>>)
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq,
{
    let mut search = model.checker().finish_when(HasDiscoveries::AnyFailures);
    if let Some(representative) = representative {
        search = search.symmetry_fn(representative);
    }
    let search = search.spawn_dfs().join();
    let found = search.discoveries();
    let verdict = if found.is_empty() {
        "ok"
    } else if found.keys().all(|property| *property == NO_DEADLOCK) {
        "deadlock"
    } else {
        "assertion"
    };
    println!(
        "{} states, {} generated, {verdict}",
        search.unique_state_count(),
        search.state_count()
    );
}

/// Whether there is a step. Stateright itself does not look for deadlocks.
fn can_move<M: Model>(model: &M, state: &M::State) -> bool {
    let mut steps = Vec::new();
    model.actions(state, &mut steps);
    !steps.is_empty()
}
