//! Every explorer against its guarantee, on random programs; the exhaustive explorer is the judge.

use std::collections::BTreeSet;

use mazurka::explore::{
    Budget, Guarantee, K, Method, NoObserver, Observer, Outcome, Verdict, ViolationKind, explore,
};
use mazurka::model::{Action, State};

use crate::judge::{Counts, METHODS, Recorder, check_counterexample};
use crate::random_models::{Sample, Script, samples};

/// On every other program UDPOR forgets events whenever it can; the others are too small to need it.
fn run(sample: &Sample, method: Method, recorder: &mut Recorder<'_, Script>) -> (Outcome, Counts) {
    let keep_events = if sample.seed.is_multiple_of(2) { 0 } else { usize::MAX };
    let budget = Budget { all: true, keep_events, ..Budget::default() };
    let outcome = explore(&sample.script, method, budget, recorder);
    assert!(outcome.is_complete(), "{method:?} on {}", sample.describe());
    (outcome, recorder.take())
}

/// What was violated, apart from how often and by which execution.
fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    let name =
        |v: &mazurka::explore::Violation| format!("{:?} {:?} {:?}", v.kind, v.process, v.failure);
    outcome.violations.iter().map(name).collect()
}

fn check(sample: &Sample, method: Method, never_blocked: bool) -> u64 {
    if method.refusal(&sample.script, &Budget::default()).is_some() {
        return 0;
    }
    let mut recorder = Recorder::new(&sample.script);
    let (judge, all) = run(sample, Method::Exhaustive, &mut recorder);
    let (outcome, found) = run(sample, method, &mut recorder);
    let context = || format!("{method:?} on {}", sample.describe());

    assert_eq!(
        all.values().map(|class| class.times).sum::<u64>(),
        judge.stats.traces,
        "{}",
        context()
    );
    assert_eq!(Some(all.len() as u64), judge.stats.classes, "{}", context());
    assert_eq!(
        found.values().map(|class| class.times).sum::<u64>(),
        outcome.stats.traces,
        "{}",
        context()
    );
    let missed = all.keys().filter(|class| !found.contains_key(class)).count();
    assert_eq!(missed, 0, "classes of {} missed by {}", all.len(), context());
    assert_eq!(found.len(), all.len(), "classes found by {}", context());
    if method.guarantee() >= Guarantee::EveryClassOnce {
        assert!(found.values().all(|class| class.times == 1), "a class twice by {}", context());
    }
    if never_blocked {
        assert_eq!(outcome.stats.blocked, 0, "blocked explorations of {}", context());
    }
    assert_eq!(kinds(&outcome), kinds(&judge), "violations found by {}", context());
    for violation in &outcome.violations {
        if let Err(how) = check_counterexample(&sample.script, violation) {
            panic!("{how}: {}", context());
        }
    }
    outcome.stats.blocked
}

#[test]
fn random_programs_are_explored_as_guaranteed() {
    let mut blocked = vec![0; METHODS.len()];
    for sample in samples() {
        for (index, &(_, method, never_blocked)) in METHODS.iter().enumerate() {
            blocked[index] += check(sample, method, never_blocked);
        }
    }
    for ((_, method, _), blocked) in METHODS.iter().zip(blocked) {
        println!("{method:?}: {blocked} blocked explorations");
    }
}

/// The judge's own counterexamples, and what stopping at the first violation means.
#[test]
fn the_first_violation_is_one_of_all() {
    for sample in samples() {
        let mut recorder = Recorder::new(&sample.script);
        let (all, _) = run(sample, Method::Exhaustive, &mut recorder);
        for violation in &all.violations {
            if let Err(how) = check_counterexample(&sample.script, violation) {
                panic!("{how}: exhaustive on {}", sample.describe());
            }
        }
        for method in [Method::Exhaustive, Method::Udpor(K::Optimal)] {
            let first = explore(&sample.script, method, Budget::default(), &mut recorder);
            assert_eq!(first.is_complete(), all.violations.is_empty(), "{}", sample.describe());
            assert!(first.violations.len() <= 1, "{}", sample.describe());
            let mut possible: Vec<_> = all.violations.iter().map(|v| verdict(v.kind)).collect();
            possible.extend(all.violations.is_empty().then_some(Verdict::Ok));
            let found = first.verdict();
            assert!(possible.contains(&found), "{found:?} by {method:?} on {}", sample.describe());
        }
    }
}

fn verdict(kind: ViolationKind) -> Verdict {
    match kind {
        ViolationKind::Deadlock => Verdict::Deadlock,
        ViolationKind::Assertion => Verdict::Assertion,
        ViolationKind::Error => Verdict::Error,
    }
}

/// Everything that an observer is told, in order.
#[derive(Default, PartialEq, Eq)]
struct Diary(Vec<(bool, Vec<Action>)>);

impl Observer for Diary {
    fn trace(&mut self, state: &State) {
        self.0.push((true, state.schedule().collect()));
    }

    fn blocked(&mut self, state: &State) {
        self.0.push((false, state.schedule().collect()));
    }
}

#[test]
fn the_same_search_twice_is_the_same_search() {
    for sample in samples().iter().step_by(5) {
        for &(_, method, _) in METHODS {
            if method.refusal(&sample.script, &Budget::default()).is_some() {
                continue;
            }
            let budget = Budget { all: true, ..Budget::default() };
            let mut diaries = [Diary::default(), Diary::default()];
            let [first, second] = diaries.each_mut().map(|diary| {
                let system = Script::new(&sample.program);
                explore(&system, method, budget.clone(), diary)
            });
            assert_eq!(first.stats, second.stats, "{method:?} on {}", sample.describe());
            assert_eq!(first.violations, second.violations, "{method:?} on {}", sample.describe());
            assert!(diaries[0] == diaries[1], "{method:?} on {}", sample.describe());
        }
    }
}

/// Every event is in some maximal configuration, so a complete search builds the whole unfolding, however
/// much of it is forgotten on the way, and built again.
#[test]
fn forgotten_events_are_not_counted_twice() {
    let mut rebuilt = 0;
    for sample in samples() {
        let [kept, forgotten] = [usize::MAX, 0].map(|keep_events| {
            let budget = Budget { all: true, keep_events, ..Budget::default() };
            let method = Method::Udpor(K::Optimal);
            explore(&sample.script, method, budget, &mut NoObserver).stats
        });
        assert_eq!(kept.events, kept.events_built, "{}", sample.describe());
        assert_eq!(forgotten.events, kept.events, "{}", sample.describe());
        rebuilt += u32::from(forgotten.events_built > forgotten.events);
    }
    assert!(rebuilt > 0, "some event is met again after it was forgotten");
}
