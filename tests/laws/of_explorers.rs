//! Every explorer against its guarantee, on random programs; the exhaustive explorer is the judge.

use std::collections::{BTreeSet, HashSet};

use mazurka::explore::{
    AnyExplorer, Budget, End, Exhaustive, Explorer, Guarantee, NoObserver, Observer, Outcome,
    Udpor, Verdict, Violation, ViolationKind, explore,
};
use mazurka::model::Action;
use mazurka::property::Position;

use crate::judge::{
    Counts, LONG, METHODS, Recorder, bound, check_counterexample, has_ended, is_refused,
    is_to_visit_every_class,
};
use crate::random_models::{Sample, Subject};

use super::hold_on_random_programs;

hold_on_random_programs! {
    random_programs_are_explored_as_guaranteed
    the_first_violation_is_one_of_all
    the_same_search_twice_is_the_same_search
    forgotten_events_are_not_counted_twice
}

/// For every other program, UDPOR forgets events whenever it can; the other programs are too small
/// to need it.
fn run<S: Subject>(
    sample: &Sample<S>,
    method: impl Explorer,
    recorder: &mut Recorder<'_, S>,
) -> (Outcome, Counts) {
    let keep_events = if sample.seed.is_multiple_of(2) { 0 } else { usize::MAX };
    let depth = bound(&method, LONG);
    let budget =
        Budget { all: true, keep_events, keep_locals: keep_events, depth, ..Budget::default() };
    let outcome = explore(&sample.script, method, budget, recorder);
    assert!(has_ended(&outcome), "{method:?} on {}", sample.describe());
    let is_guaranteed = method.profile().guarantee > Guarantee::SomeClasses;
    assert_eq!(outcome.is_complete(), is_guaranteed, "{method:?} on {}", sample.describe());
    (outcome, recorder.take())
}

/// The violations, without their number and executions.
fn kinds<S: Subject>(outcome: &Outcome, recorder: &mut Recorder<'_, S>) -> BTreeSet<String> {
    let mut name =
        |v: &Violation| format!("{:?} {:?} {:?}", v.kind, recorder.process_of(v), v.failure);
    outcome.violations.iter().map(&mut name).collect()
}

/// What the exhaustive explorer finds in a program.
struct Verdicts<'s, S: Subject> {
    sample: &'s Sample<S>,
    recorder: Recorder<'s, S>,
    outcome: Outcome,
    classes: Counts,
    kinds: BTreeSet<String>,
}

fn times(classes: &Counts) -> u64 {
    classes.values().map(|class| class.times).sum()
}

impl<'s, S: Subject> Verdicts<'s, S> {
    fn on(sample: &'s Sample<S>) -> Self {
        let mut recorder = Recorder::new(&sample.script);
        let (outcome, classes) = run(sample, Exhaustive, &mut recorder);
        assert_eq!(times(&classes), outcome.stats.traces, "{}", sample.describe());
        assert_eq!(Some(classes.len() as u64), outcome.stats.classes, "{}", sample.describe());
        let kinds = kinds(&outcome, &mut recorder);
        // A failed process does not move any more, so each failure is seen at the end of some
        // trace.
        let reported = outcome.violations.iter();
        let reported: HashSet<_> =
            reported.filter_map(|v| Some((recorder.process_of(v)?, v.failure.clone()?))).collect();
        assert_eq!(&reported, recorder.failures(), "failures in {}", sample.describe());
        Verdicts { sample, recorder, outcome, classes, kinds }
    }

    /// Checks the guarantee of the explorer. Returns its number of blocked explorations.
    fn judge(&mut self, method: impl Explorer, never_blocked: bool) -> u64 {
        let (outcome, found) = run(self.sample, method, &mut self.recorder);
        let context = || format!("{method:?} on {}", self.sample.describe());
        assert_eq!(times(&found), outcome.stats.traces, "{}", context());
        let all = &self.classes;
        let missed = all.keys().filter(|class| !found.contains_key(class)).count();
        assert_eq!(found.len() + missed, all.len(), "classes found by {}", context());
        if method.profile().guarantee >= Guarantee::EveryClassOnce {
            assert!(found.values().all(|class| class.times == 1), "a class twice by {}", context());
        }
        if never_blocked {
            assert_eq!(outcome.stats.blocked, 0, "blocked explorations of {}", context());
        }
        let kinds = kinds(&outcome, &mut self.recorder);
        check_counterexamples(self.sample, method, &outcome);
        let is_to_visit_all = is_to_visit_every_class(method);
        if is_to_visit_all {
            assert_eq!(missed, 0, "classes of {} missed by {}", all.len(), context());
        }
        if is_to_visit_all || method.profile().guarantee > Guarantee::SomeClasses {
            assert_eq!(kinds, self.kinds, "violations found by {}", context());
        }
        outcome.stats.blocked
    }
}

fn check_counterexamples<S: Subject>(sample: &Sample<S>, method: impl Explorer, outcome: &Outcome) {
    for violation in &outcome.violations {
        if let Err(how) = check_counterexample(&sample.script, violation) {
            panic!("{how}: {method:?} on {}", sample.describe());
        }
    }
}

pub(super) fn random_programs_are_explored_as_guaranteed<S: Subject>(samples: &[Sample<S>]) {
    let mut blocked = vec![0; METHODS.len()];
    let mut compared = vec![0; METHODS.len()];
    for sample in samples {
        let mut verdicts = Verdicts::on(sample);
        for (index, &(_, method, never_blocked)) in METHODS.iter().enumerate() {
            if !is_refused(&sample.script, method) {
                blocked[index] += verdicts.judge(method, never_blocked);
                compared[index] += 1;
            }
        }
    }
    for (index, (_, method, _)) in METHODS.iter().enumerate() {
        println!("{method:?}: {} programs, {} blocked", compared[index], blocked[index]);
    }
}

/// The judge's own counterexamples, and what stopping at the first violation means.
fn the_first_violation_is_one_of_all<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples {
        let Verdicts { mut recorder, outcome: all, .. } = Verdicts::on(sample);
        check_counterexamples(sample, Exhaustive, &all);
        for method in [AnyExplorer::from(Exhaustive), Udpor::default().into()] {
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
        ViolationKind::Livelock => Verdict::Livelock,
        ViolationKind::Assertion => Verdict::Assertion,
        ViolationKind::Error => Verdict::Error,
        new => panic!("{new:?}: what is its verdict?"),
    }
}

/// Everything that an observer is notified of, in order.
#[derive(Default, PartialEq, Eq)]
struct Diary(Vec<(bool, Vec<Action>)>);

impl Observer for Diary {
    fn trace(&mut self, at: Position<'_>, _: End) {
        self.0.push((true, at.state().schedule().collect()));
    }

    fn blocked(&mut self, at: Position<'_>) {
        self.0.push((false, at.state().schedule().collect()));
    }
}

fn the_same_search_twice_is_the_same_search<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples.iter().step_by(5) {
        for &(_, method, _) in METHODS.iter() {
            if is_refused(&sample.script, method) {
                continue;
            }
            let budget = Budget { all: true, depth: bound(&method, LONG), ..Budget::default() };
            let mut diaries = [Diary::default(), Diary::default()];
            let [first, second] = diaries.each_mut().map(|diary| {
                let system = sample.script.clone();
                explore(&system, method, budget.clone(), diary)
            });
            assert_eq!(first.stats, second.stats, "{method:?} on {}", sample.describe());
            assert_eq!(first.violations, second.violations, "{method:?} on {}", sample.describe());
            assert!(diaries[0] == diaries[1], "{method:?} on {}", sample.describe());
        }
    }
}

/// Every event is in some maximal configuration. So a complete search builds the whole unfolding,
/// even if events are forgotten and built again.
fn forgotten_events_are_not_counted_twice<S: Subject>(samples: &[Sample<S>]) {
    let mut rebuilt = 0;
    for sample in samples {
        let [kept, forgotten] = [usize::MAX, 0].map(|keep_events| {
            let budget =
                Budget { all: true, keep_events, keep_locals: keep_events, ..Budget::default() };
            let method = Udpor::default();
            explore(&sample.script, method, budget, &mut NoObserver).stats
        });
        assert_eq!(kept.events, kept.events_built, "{}", sample.describe());
        assert_eq!(forgotten.events, kept.events, "{}", sample.describe());
        rebuilt += u32::from(forgotten.events_built > forgotten.events);
    }
    // In programs with p2p mailboxes that is rare.
    let is_rare = samples.iter().any(|sample| sample.script.features().network);
    assert!(is_rare || rebuilt > 0, "some event is met again after it was forgotten");
}
