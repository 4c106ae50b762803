//! Tests that enough programs cover what the tests are for.

use std::collections::BTreeMap;

use mazurka::model::{
    Access, Choice, FailureKind, Locals, MailboxId, MutexId, Op, State, Status, System,
};

use super::{Sample, Subject};
use crate::judge::violates_final;
use crate::naive::Structure;
use crate::naive::relation::Footprint;

/// What programs may cover, with the minimum share of programs that must cover it.
const WANTED: &[(&str, f64)] = &[
    ("a deadlock", 0.25),
    ("several classes", 0.50),
    ("many classes (10 or more)", 0.10),
    ("no violation at all", 0.10),
    ("patterns that matter", 0.04),
    ("a failed test", 0.10),
    ("a passed test", 0.07),
    ("a failed mutex test", 0.03),
    ("a waitany that returns a later element", 0.03),
    ("a waitany with several results in one state", 0.02),
    ("a list that names one thing twice", 0.03),
    ("a list of nothing", 0.003),
    ("a cancelled lock", 0.03),
    ("a failed cas", 0.05),
    ("an acquire that waits for a release", 0.03),
    ("a barrier passed in a second round", 0.02),
    ("a spawn", 0.08),
    ("a join", 0.03),
    ("a daemon that waits", 0.03),
    ("a choose", 0.10),
    ("a violated assertion", 0.08),
    ("a violated final", 0.01),
    ("misuse", 0.01),
];

/// What this program covers, among [`WANTED`].
fn reached<S: System>(locals: &Locals<'_, S>, structure: &Structure) -> Vec<&'static str> {
    let mut reached = Vec::new();
    for event in &structure.events {
        let op = locals.op(event.before).expect("an event has an operation");
        reached.extend(of_event(op, event.action.choice, &event.footprint));
        reached.extend(names_one_thing_twice(op).then_some("a list that names one thing twice"));
    }
    let mut clean = true;
    for end in structure.maximal() {
        let ends = of_end(locals, &end.run.state);
        clean &= !ends.iter().any(|&what| VIOLATIONS.contains(&what));
        reached.extend(ends);
    }
    for configuration in &structure.configurations {
        let any = |&(action, _): &(mazurka::model::Action, u32)| {
            let local = configuration.run.state.local(action.process);
            matches!(locals.op(local), Some(Op::WaitAny(_) | Op::MutexWaitAny(_)))
                .then_some(action.process)
        };
        let mut waiting: Vec<_> = configuration.next.iter().filter_map(any).collect();
        let choices = waiting.len();
        waiting.dedup();
        if waiting.len() < choices {
            reached.push("a waitany with several results in one state");
        }
    }
    let classes = structure.maximal().count();
    reached.extend((classes > 1).then_some("several classes"));
    reached.extend((classes >= 10).then_some("many classes (10 or more)"));
    reached.extend(clean.then_some("no violation at all"));
    reached.sort_unstable();
    reached.dedup();
    reached
}

fn names_one_thing_twice(op: &Op) -> bool {
    fn has_two_alike<T: PartialEq>(list: &[T]) -> bool {
        list.iter().enumerate().any(|(index, item)| list[..index].contains(item))
    }
    match op {
        Op::WaitAny(comms) | Op::TestAny(comms) => has_two_alike(comms),
        Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => has_two_alike(requests),
        _ => false,
    }
}

const VIOLATIONS: &[&str] = &["a deadlock", "a violated assertion", "a violated final", "misuse"];

fn of_event(op: &Op, choice: Choice, footprint: &Footprint) -> Option<&'static str> {
    Some(match (op, footprint) {
        (Op::TestAny(_), Footprint::Incomplete(_)) => "a failed test",
        (Op::TestAny(_), _) => "a passed test",
        (Op::MutexTestAny(_), Footprint::NotOwned(_)) => "a failed mutex test",
        (Op::WaitAny(_) | Op::MutexWaitAny(_), _) if choice.0 > 0 => {
            "a waitany that returns a later element"
        }
        (Op::Access(_, Access::CompareAndSwap { old, new }), Footprint::Read(_)) if old != new => {
            "a failed cas"
        }
        (_, Footprint::Granted { by: Some(_), .. }) => "an acquire that waits for a release",
        (_, Footprint::Pass { round: 1.., .. }) => "a barrier passed in a second round",
        (Op::Spawn(_), _) => "a spawn",
        (Op::Join(_), _) => "a join",
        (Op::Choose { .. }, _) => "a choose",
        _ => return None,
    })
}

fn of_end<S: System>(locals: &Locals<'_, S>, state: &State) -> Vec<&'static str> {
    let mut reached = Vec::new();
    let objects = locals.system().objects();
    if state.stuck(locals).next().is_some() {
        reached.push("a deadlock");
    } else if violates_final(locals, state) {
        reached.push("a violated final");
    }
    if state.unfinished(locals).any(|process| locals.is_daemon(state.local(process))) {
        reached.push("a daemon that waits");
    }
    for process in state.processes() {
        if let Status::Failed(failure) = locals.status(state.local(process)) {
            let is_of_nothing = failure.message.contains(" one of no ");
            reached.extend(is_of_nothing.then_some("a list of nothing"));
            reached.push(match failure.kind {
                FailureKind::Assertion => "a violated assertion",
                _ => "misuse",
            });
        }
    }
    for mailbox in (0..objects.mailboxes.len() as u32).map(MailboxId) {
        let mailbox = state.mailbox(mailbox);
        let pending = |posts: &[mazurka::model::Post]| posts.iter().any(|p| p.partner().is_none());
        let in_order = |(position, post): (usize, &mazurka::model::Post)| {
            post.partner().is_none_or(|partner| partner as usize == position)
        };
        if !mailbox.sends.iter().enumerate().all(in_order)
            || pending(&mailbox.sends) && pending(&mailbox.receives)
        {
            reached.push("patterns that matter");
        }
    }
    for mutex in (0..objects.mutexes.len() as u32).map(MutexId) {
        let mutex = state.mutex(mutex);
        let ended = |request| mutex.released_at(request).unwrap_or(u32::MAX);
        let cancelled = |request| (0..request).any(|ahead| ended(ahead) > ended(request));
        if (0..mutex.requests().len() as u32).any(cancelled) {
            reached.push("a cancelled lock");
        }
    }
    reached
}

/// Checks that enough of the samples cover what is wanted. `reached` returns what one sample
/// covers, without duplicates.
pub fn check<S: Subject>(
    samples: &[Sample<S>],
    wanted: &[(&str, f64)],
    reached: impl Fn(&Locals<'_, S>, &Structure, &Sample<S>) -> Vec<&'static str>,
) {
    let mut counts: BTreeMap<&str, u32> = wanted.iter().map(|&(what, _)| (what, 0)).collect();
    let (mut events, mut executions, mut classes) = (0, 0, 0);
    for sample in samples {
        let mut locals = Locals::new(&sample.script);
        let structure = Structure::of(&mut locals, super::MAX_CONFIGURATIONS).expect("accepted");
        for what in reached(&locals, &structure, sample) {
            *counts.get_mut(what).unwrap_or_else(|| panic!("{what} is not in the table")) += 1;
        }
        events += structure.events.len();
        executions += structure.executions();
        classes += structure.maximal().count();
    }
    let share = |count: u32| f64::from(count) / samples.len() as f64;
    println!(
        "{} programs, {events} events, {executions} executions, {classes} classes",
        samples.len()
    );
    let mut missed = Vec::new();
    for &(what, least) in wanted {
        let share = share(counts[what]);
        println!("{:5.1}% {what} (at least {:.0}%)", 100.0 * share, 100.0 * least);
        if share < least {
            missed.push(what);
        }
    }
    // Shares of a handful of programs say nothing.
    assert!(missed.is_empty() || samples.len() < 100, "too few programs reach {missed:?}");
}

#[test]
fn the_default_seeds_reach_what_matters() {
    check(super::processes(), WANTED, |locals, structure, _| reached(locals, structure));
}
