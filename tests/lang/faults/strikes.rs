//! Crashes of actors: each way in which they may happen is one class.

use std::collections::BTreeSet;

use mazurka::explore::{Budget, NoObserver, Udpor, explore};
use mazurka::lang::{self, Choices};
use mazurka::model::Faults;

/// The number of classes of actors of which only the crashes can be observed.
fn classes(text: &str, max_crashes: Option<u32>) -> u64 {
    let faults = Faults { max_crashes, ..Faults::default() };
    let choices = Choices { faults, ..Choices::default() };
    let program = lang::compile_with("crashes.maz", text, &[], choices)
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors.render(false)));
    let budget = Budget { all: true, ..Budget::default() };
    let outcome = explore(&program, Udpor::default(), budget, &mut NoObserver);
    assert!(outcome.is_complete(), "{text}");
    outcome.stats.traces
}

/// The lists of numbers of crashes in which no member has more than its own limit, and these ranges
/// no more than theirs.
fn ways(each: &[u32], ranges: &[(std::ops::Range<usize>, u32)]) -> u64 {
    let mut lists = BTreeSet::from([Vec::new()]);
    for &most in each {
        let longer = |list: Vec<u32>| (0..=most).map(move |n| [list.clone(), vec![n]].concat());
        lists = lists.into_iter().flat_map(longer).collect();
    }
    let fits = |list: &&Vec<u32>| {
        ranges.iter().all(|(range, most)| list[range.clone()].iter().sum::<u32>() <= *most)
    };
    lists.iter().filter(fits).count() as u64
}

#[test]
fn each_way_to_crash_is_one_class() {
    for each in 1..4 {
        for in_all in [false, true] {
            for restarts in [false, true] {
                for bound in [None, Some(1), Some(2), Some(4), Some(9)] {
                    let text = format!(
                        "actor A[i in 4..7] crashes up to {each}{}{} {{ on M() {{}} }}
                        actor B crashes up to 2, restarts {{ on N() {{}} }}",
                        if in_all { " in all" } else { "" },
                        if restarts { ", restarts" } else { "" },
                    );
                    let own = if restarts { each } else { 1 };
                    let mut ranges = Vec::new();
                    ranges.extend(in_all.then_some((0..3, each)));
                    ranges.extend(bound.map(|bound| (0..4, bound)));
                    let expected = ways(&[own, own, own, 2], &ranges);
                    assert_eq!(classes(&text, bound), expected, "{bound:?}: {text}");
                }
            }
        }
    }
}
