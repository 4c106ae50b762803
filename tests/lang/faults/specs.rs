//! The protocols of `specs/faults` whose numbers of states are too large for every explorer.

use std::path::Path;

use mazurka::explore::{
    Budget, Explorer, FinitePrefix, NoObserver, Outcome, Udpor, Verdict, explore,
};
use mazurka::lang;

fn checked(name: &str, constants: &[(&str, &str)], method: impl Explorer, all: bool) -> Outcome {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/faults").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let set = constants.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let program = lang::compile(name, &text, &set.collect::<Vec<_>>())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    explore(&program, method, Budget { all, ..Budget::default() }, &mut NoObserver)
}

#[test]
fn protocols_are_right_with_crashes() {
    for (name, constants) in [
        ("quorum-register.maz", [("N", "3")].as_slice()),
        ("quorum-register.maz", &[("N", "3"), ("CRASHES", "1")]),
        ("raft-election.maz", &[("CRASHES", "1")]),
        ("raft-log.maz", &[("CRASHES", "1")]),
    ] {
        let outcome = checked(name, constants, FinitePrefix::default(), false);
        assert_eq!(outcome.verdict(), Verdict::Ok, "{name} {constants:?}");
    }
}

#[test]
fn their_mistakes_are_found() {
    for (name, set) in [
        ("quorum-register.maz", [("N", "3"), ("WRITES_BACK", "false")]),
        ("raft-election.maz", [("CRASHES", "1"), ("PERSISTS", "false")]),
    ] {
        let by_prefix = checked(name, &set, FinitePrefix::default(), false);
        let by_classes = checked(name, &set, Udpor::default(), false);
        for outcome in [by_prefix, by_classes] {
            assert_eq!(outcome.verdict(), Verdict::Assertion, "{name}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn their_classes_are_counted_at_length() {
    for (name, constants, classes) in [
        ("quorum-register.maz", [("N", "3")].as_slice(), 864),
        ("quorum-register.maz", &[("N", "3"), ("CRASHES", "1")], 14_496),
        ("raft-election.maz", &[("CRASHES", "1")], 2_402),
        ("raft-log.maz", &[("CRASHES", "1")], 1_219),
    ] {
        let outcome = checked(name, constants, Udpor::default(), true);
        assert_eq!(outcome.verdict(), Verdict::Ok, "{name} {constants:?}");
        assert_eq!(outcome.stats.traces, classes, "{name} {constants:?}");
    }
}
