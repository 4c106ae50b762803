//! What `depends` says in the states of walks at random, beside the definition: actions that it does
//! not name commute, and of those that it names, the order matters by the relation.

use std::collections::BTreeSet;

use mazurka::lang::Program;
use mazurka::model::{Action, Effect, Locals, Schedule, dependent};
use mazurka::property::{Fact, FactKind, Replay};

use super::{program, schedule, session};
use crate::tidy::{files, some_of};

/// The pairs of numbers in the answer.
fn pairs(text: &str) -> BTreeSet<(usize, usize)> {
    let pair = |line: &str| {
        let (numbers, _) = line.split_once(':')?;
        let (first, second) = numbers.split_once(" and ")?;
        Some((first.trim().parse().ok()?, second.parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// Does the second one of these actions depend on the first one, which comes before it? `None` if it is not
/// possible there.
fn depend(
    so_far: &Schedule,
    program: &mazurka::lang::Program,
    [a, b]: [Action; 2],
) -> Option<bool> {
    let mut locals = Locals::new(program);
    let mut state = so_far.replay(&mut locals).unwrap();
    let mut effect = |action: Action| -> Option<Effect> {
        let mut enabled = Vec::new();
        state.enabled(&locals, &mut enabled);
        enabled.contains(&action).then(|| {
            state.step(&mut locals, action);
            state.effect(&locals)
        })
    };
    let (first, second) = (effect(a).expect("it can happen next"), effect(b)?);
    Some(dependent((a.process, &first), (b.process, &second)))
}

/// Judges the pairs that were named in the state after these steps. Returns how many were named, and
/// how many were not.
fn judge(program: &Program, so_far: &Schedule, pairs: &BTreeSet<(usize, usize)>) -> (usize, usize) {
    let (mut named, mut silent) = (0, 0);
    let mut replay = Replay::new(program);
    replay.follow(so_far).unwrap();
    let enabled = replay.enabled();
    for (i, &a) in enabled.iter().enumerate() {
        for (j, &b) in enabled.iter().enumerate().skip(i + 1) {
            let orders = [[a, b], [b, a]].map(|order| depend(so_far, program, order));
            let what = || format!("after {so_far}: {} and {}", i + 1, j + 1);
            if pairs.contains(&(i + 1, j + 1)) {
                assert_ne!(orders, [Some(false); 2], "{}", what());
                named += 1;
            } else if orders != [None, None] || a.process != b.process {
                assert_eq!(orders, [Some(false); 2], "{}", what());
                let facts = |order: [Action; 2]| {
                    let mut replay = Replay::new(program);
                    replay.follow(so_far).unwrap();
                    replay.follow(&order).unwrap();
                    let fact = |fact: Fact| {
                        use FactKind::{Barrier, Inbox, Mailbox};
                        let is_list = matches!(fact.kind, Mailbox | Inbox | Barrier);
                        let mut signs: Vec<char> = fact.value.chars().collect();
                        // In the order of their arrival: messages that may overtake each other, and
                        // processes at a barrier.
                        signs.sort_by_key(|&sign| if is_list { sign } else { ' ' });
                        (fact.process, fact.name, signs)
                    };
                    replay.facts().into_iter().map(fact).collect::<BTreeSet<_>>()
                };
                assert_eq!(facts([a, b]), facts([b, a]), "{}", what());
                silent += 1;
            }
        }
    }
    (named, silent)
}

#[test]
fn pairs_that_are_not_named_commute() {
    let (mut named, mut silent) = (0, 0);
    for path in some_of(files("specs", "maz"), 8) {
        let spec = path.to_str().unwrap();
        let steps = ["run 2", "depends", "trace", "run 3", "depends", "trace"];
        let commands = [&steps[..], &["run 5", "depends", "trace"]].concat();
        let all = session(&[spec, "--seed", "3"], &commands);
        for (answer, trace) in [(2, 3), (5, 6), (8, 9)] {
            if !all[trace].text.trim_end().ends_with("--schedule") {
                let pairs = pairs(&all[answer].text);
                let found = judge(&program(&path), &schedule(&all[trace].text), &pairs);
                (named, silent) = (named + found.0, silent + found.1);
            }
        }
    }
    assert!(named > 5 && silent > 100, "{named} {silent}");
}

#[test]
fn depends_of_one_action_and_of_none() {
    let commands = ["depends", "depends 1", "d 9", "1", "1", "depends", "d 3"];
    let all = session(&["philosophers.maz", "-D", "N=3"], &commands);
    assert!(all[1].text.contains("No action depends on another"), "{}", all[1].text);
    assert_eq!(all[1].text, all[2].text);
    assert!(all[3].text.contains("there is no action 9"), "{}", all[3].text);
    // Two want the fork between them, the third one another.
    assert_eq!(pairs(&all[6].text), BTreeSet::from([(1, 2)]), "{}", all[6].text);
    assert_eq!(pairs(&all[7].text), BTreeSet::new(), "{}", all[7].text);
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/specs/memory/lost-update.maz");
    let all =
        session(&[spec], &["depends", "1", "depends", "P[1]", "depends P[0]", "1", "depends"]);
    assert_eq!(pairs(&all[1].text), BTreeSet::new(), "two reads: {}", all[1].text);
    for answer in [&all[3].text, &all[5].text] {
        assert_eq!(pairs(answer).len(), 1, "{answer}");
    }
    assert!(all[3].text.contains("1 and 2: P[0] c = c + 1, and P[1] c\n"), "{}", all[3].text);
    assert!(all[7].text.contains("no two actions"), "{}", all[7].text);
}
