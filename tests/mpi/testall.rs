//! Tests of several requests together: what a program can see is what it sees if it tests one after
//! the other.

use std::collections::BTreeSet;
use std::path::Path;

use mazurka::explore::{Budget, NoObserver, Outcome, Setting, StopReason, explore};
use mazurka::model::Semantics;
use mazurka::mpi::{Launch, Ranks};
use mazurka::random::SplitMix64;
use mazurka::systems::history::History;

/// A program: the script of rank 0, and when each other rank sends.
type Scripts = (String, String);

fn explored(program: &str, how: &str, (script, others): &Scripts, max_polls: u8) -> Outcome {
    let launch = Launch {
        arguments: [how, script, others].map(Into::into).into(),
        semantics: Semantics { max_polls, ..Semantics::default() },
        ..Launch::new(Path::new(program), others.len() as u32 + 1)
    };
    let budget = Budget { all: true, ..Budget::default() };
    let setting: Setting = "optimal".parse().unwrap();
    explore(&History::new(Ranks::new(launch).unwrap()), setting, budget, &mut NoObserver)
}

fn outcomes(outcome: &Outcome) -> BTreeSet<String> {
    let failures = outcome.violations.iter().filter_map(|violation| violation.failure.as_ref());
    failures.map(|failure| failure.message.to_string()).collect()
}

/// A test follows another one at most twice without anything between, so the bound on polls cuts
/// nothing.
fn random_scripts(random: &mut SplitMix64) -> Scripts {
    let count = 2 + random.below(2);
    let mut steps: Vec<char> = (1..=count)
        .filter(|_| random.below(2) == 0)
        .map(|rank| (b'0' + rank as u8).into())
        .collect();
    let mut add = |step, random: &mut SplitMix64| steps.insert(random.below(steps.len() + 1), step);
    for _ in 0..1 + random.below(2) {
        add('T', random);
    }
    if random.below(3) == 0 {
        add('i', random);
    }
    if random.below(4) == 0 {
        add('c', random);
    }
    let others = (0..count).map(|_| if random.below(2) == 0 { '!' } else { '?' });
    (steps.into_iter().collect(), others.collect())
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_test_of_all_shows_what_single_tests_show() {
    let count: usize =
        std::env::var("MAZURKA_PROGRAMS").map_or(30, |count| count.parse().expect("a number"));
    let folder = super::folder("mpi-testall");
    let program = super::compile("testall", &folder);
    let mut random = SplitMix64::new(35);
    let (mut several, mut fewer) = (0, 0);
    for number in 0..count {
        let scripts = random_scripts(&mut random);
        let [all, single] = ["a", "o"].map(|how| explored(&program, how, &scripts, 2));
        assert!(all.is_complete() && single.is_complete(), "{number}: {scripts:?}");
        assert_eq!(outcomes(&all), outcomes(&single), "{number}: {scripts:?}");
        several += usize::from(outcomes(&all).len() > 1);
        fewer += usize::from(all.stats.traces < single.stats.traces);
        assert!(all.stats.traces <= single.stats.traces, "{number}: {scripts:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(several > count / 3, "{several} of {count} have several outcomes");
    assert!(fewer > count / 3, "{fewer} of {count} have fewer classes");
}

/// At the bound on polls the first test has to find what is there. Then the rank waits for what it
/// causes only later.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_the_bound_on_polls_cuts_is_said() {
    let folder = super::folder("mpi-testall-bound");
    let program = super::compile("testall", &folder);
    // Rank 2 sends only when it was told so, after so many tests.
    let of = |tests: usize| ("T".repeat(tests) + "2", "!?".to_owned());
    for max_polls in 0..4 {
        for tests in 1..5 {
            let found = explored(&program, "a", &of(tests), max_polls);
            match tests <= usize::from(max_polls) {
                true => assert_eq!(outcomes(&found).len(), 1, "{tests} tests, bound {max_polls}"),
                false => {
                    assert_eq!(found.stopped_by, Some(StopReason::Polls), "{tests} {max_polls}")
                }
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
