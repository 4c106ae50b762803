//! Explains a deadlock: what each blocked process waits for, which processes could end its wait,
//! and which ones wait for one another in a cycle.
//!
//! The wait-for graph has an edge from a blocked process to each process that may end its wait: the
//! owner of the mutex, the process to join, every process that may still post the missing message
//! or arrive at the barrier. What a process may still do is judged by its local state
//! ([`Foresight::reach`](crate::model::Foresight::reach)). That is an over-approximation, so an
//! edge does not prove that help would come. But a missing edge proves that help cannot come.
//! Hence:
//! - a process without edges waits for something that no process can provide any more;
//! - a strongly connected component that no edge leaves (a *knot*) is a set of processes that can
//!   be helped only by one another. It is reported as a cycle. A cycle with an edge that leads out
//!   of it is not reported: a process outside may end the wait.

use std::sync::Arc;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
#[cfg(feature = "json")]
use serde::Serialize;

use super::livelock::Spin;
use super::objects::{wait_of_failed, words};
use super::replay::Replay;
use crate::model::{LocalId, ProcessId, Status, System, Touch};

/// A state in which no process has to move any more, and some process is neither done nor failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Deadlock {
    /// The processes that wait, by number.
    pub(crate) blocked: Vec<Blocked>,
    /// The smallest knot of the wait-for graph. If each of its processes waits for exactly one
    /// other, they are in the order of the cycle.
    pub(crate) cycle: Option<Vec<Link>>,
    /// The blocked processes that repeat a loop for ever. If there are any, this is a livelock.
    pub(crate) spinning: Vec<String>,
    /// The processes that have run their last statement.
    pub(crate) ended: Vec<String>,
    /// The actors that have taken all their messages.
    pub(crate) idle: Vec<String>,
    /// The daemons that wait and cannot help any blocked process.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub(crate) daemons: Vec<String>,
    /// The processes that stopped on a violation.
    pub(crate) failed: Vec<String>,
}

/// A process that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Blocked {
    /// Its name.
    pub(crate) process: String,
    /// The operation at which it waits, as in the source.
    pub(crate) action: String,
    /// What it waits for, in words.
    pub(crate) waits_for: String,
    /// The blocked processes that may end the wait if they can move.
    pub(crate) helpers: Vec<String>,
    /// Why no process can end the wait; `None` if one may.
    pub(crate) hopeless: Option<String>,
    /// The file of the operation, if the program has several.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) file: Option<Arc<str>>,
    /// Line of the operation, from 1.
    pub(crate) line: Option<u32>,
    /// Column of the operation, from 1.
    pub(crate) column: Option<u32>,
}

/// A process in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Link {
    /// The process that waits.
    pub(crate) process: String,
    /// The processes of the cycle that may end its wait.
    pub(crate) needs: Vec<String>,
    /// What it waits for, in words.
    pub(crate) waits_for: String,
}

/// What a process waits for.
pub(super) struct Wait {
    /// What is waited for, in words.
    pub(super) words: String,
    /// The processes that may end the wait.
    pub(super) helpers: Vec<ProcessId>,
    /// Why no process can end it; `None` if one may.
    pub(super) hopeless: Option<String>,
}

impl Wait {
    /// A wait that any of the helpers may end; if there are none, `why` says why not.
    pub(super) fn for_one(
        words: String,
        helpers: Vec<ProcessId>,
        why: impl FnOnce() -> String,
    ) -> Wait {
        let hopeless = helpers.is_empty().then(why);
        Wait { words, helpers, hopeless }
    }

    /// A wait until `missing` processes do what the `verb` says. Only the helpers can do that, and
    /// what they start, unless they are all stuck.
    pub(super) fn for_several(
        words: String,
        (helpers, are_stuck): (Vec<ProcessId>, bool),
        missing: usize,
        verb: &str,
    ) -> Wait {
        if helpers.len() >= missing || !helpers.is_empty() && !are_stuck {
            return Wait { words, helpers, hopeless: None };
        }
        let hopeless = match helpers.len() {
            0 => format!("nobody is left to {verb}"),
            n => format!("{missing} are missing and only {n} could {verb}"),
        };
        Wait { words, helpers: Vec::new(), hopeless: Some(hopeless) }
    }
}

/// Explains the terminal state at which the replay stands; `None` if it is not a deadlock. A daemon
/// that waits is reported as blocked if it may end the wait of a process that is reported as
/// blocked.
pub fn explain_deadlock<S: System>(replay: &Replay<'_, S>) -> Option<Deadlock> {
    let (state, locals) = (&replay.state, &replay.locals);
    let mut blocked: Vec<_> = state.stuck(locals).collect();
    if blocked.is_empty() || !replay.stands_still() {
        return None;
    }
    let mut waits = Vec::new();
    while let Some(&process) = blocked.get(waits.len()) {
        let wait = replay.wait(process).expect("a blocked process waits");
        let more = wait.helpers.iter().filter(|helper| !blocked.contains(helper));
        blocked.extend(more.copied().collect::<Vec<_>>());
        waits.push((process, wait));
    }
    waits.sort_unstable_by_key(|&(process, _)| process);
    let daemons: Vec<_> = state.unfinished(locals).filter(|p| !blocked.contains(p)).collect();
    let names = |processes: &[ProcessId]| {
        processes.iter().map(|&p| replay.name(p).to_owned()).collect::<Vec<_>>()
    };
    let link = |process: ProcessId| {
        let wait = &waits.iter().find(|(p, _)| *p == process).expect("a blocked process").1;
        Link {
            process: replay.name(process).into(),
            needs: names(&wait.helpers),
            waits_for: wait.words.clone(),
        }
    };
    let cycle = knot(&waits).map(|knot| knot.into_iter().map(link).collect());
    let (failed, ended): (Vec<_>, Vec<_>) = state
        .program_processes()
        .filter(|p| !blocked.contains(p) && !daemons.contains(p))
        .partition(|&p| replay.has_failed(p));
    let (ended, idle): (Vec<_>, Vec<_>) =
        ended.into_iter().partition(|&process| replay.has_ended(process));
    let blocked = waits.iter().map(|(process, wait)| replay.blocked(*process, wait));
    let spinning = replay.spins.iter().map(|spin| spin.process);
    let spinning: Vec<_> = spinning.filter(|&p| !locals.is_daemon(state.local(p))).collect();
    Some(Deadlock {
        spinning: names(&spinning),
        blocked: blocked.collect(),
        cycle,
        ended: names(&ended),
        idle: names(&idle),
        daemons: names(&daemons),
        failed: names(&failed),
    })
}

/// The smallest knot of the wait-for graph that has more than one process. Of equally small ones,
/// the one with the lowest process number.
fn knot(waits: &[(ProcessId, Wait)]) -> Option<Vec<ProcessId>> {
    let mut graph = DiGraphMap::<ProcessId, ()>::new();
    for (process, wait) in waits {
        graph.add_node(*process);
        for &helper in &wait.helpers {
            graph.add_edge(*process, helper, ());
        }
    }
    let mut knots: Vec<_> = tarjan_scc(&graph)
        .into_iter()
        .filter(|set| set.len() > 1)
        .filter(|set| set.iter().all(|&p| graph.neighbors(p).all(|q| set.contains(&q))))
        .collect();
    for knot in &mut knots {
        knot.sort_unstable();
    }
    let knot = knots.into_iter().min_by_key(|knot| (knot.len(), knot[0]))?;
    Some(in_cycle_order(&graph, knot))
}

/// The processes of a knot, in the order of the cycle if they form one simple cycle.
fn in_cycle_order(graph: &DiGraphMap<ProcessId, ()>, knot: Vec<ProcessId>) -> Vec<ProcessId> {
    if knot.iter().any(|&p| graph.neighbors(p).count() != 1) {
        return knot;
    }
    let next = |&p: &ProcessId| graph.neighbors(p).next();
    std::iter::successors(Some(knot[0]), next).take(knot.len()).collect()
}

impl<S: System> Replay<'_, S> {
    /// What `process` waits for; `None` if its operation never blocks, or it has ended.
    pub(super) fn wait(&self, process: ProcessId) -> Option<Wait> {
        if let Some(spin) = self.spins.iter().find(|spin| spin.process == process) {
            return Some(self.wait_in_loop(spin));
        }
        match self.pending(process) {
            Some(op) => words(op, |words| words.wait(self, process)),
            None => wait_of_failed(self, process),
        }
    }

    /// A process with this wait, in words.
    pub(super) fn blocked(&self, process: ProcessId, wait: &Wait) -> Blocked {
        let site = self.site_of_wait(process);
        Blocked {
            process: self.name(process).into(),
            action: site.text,
            waits_for: wait.words.clone(),
            helpers: wait.helpers.iter().map(|&helper| self.name(helper).into()).collect(),
            hopeless: wait.hopeless.clone(),
            file: site.file,
            line: (site.line > 0).then_some(site.line),
            column: (site.line > 0).then_some(site.column),
        }
    }

    /// What a process that repeats a loop waits for: anything that would make it leave the loop.
    fn wait_in_loop(&self, spin: &Spin) -> Wait {
        let mut waits: Vec<Wait> = Vec::new();
        for op in spin.passes.iter().filter_map(|&local| self.locals.op(local)) {
            let wait = words(op, |words| words.wait_in_loop(self, spin.process));
            waits.extend(wait.filter(|new| waits.iter().all(|known| known.words != new.words)));
        }
        if waits.is_empty() {
            let hopeless = Some("it repeats its loop for ever".into());
            return Wait { words: "nothing that could happen".into(), helpers: vec![], hopeless };
        }
        any(waits)
    }

    /// The processes other than `process` that have not ended.
    pub(super) fn others(&self, process: ProcessId) -> impl Iterator<Item = ProcessId> {
        self.state.unfinished(&self.locals).filter(move |&p| p != process)
    }

    /// May `process`, or a process that it spawns, still do this?
    pub(super) fn may_still(&self, process: ProcessId, touch: Touch) -> bool {
        match self.reach(process) {
            Some(reach) => reach.contains(self.locals.declared(touch)),
            None => self.may_ever(process, touch),
        }
    }

    pub(super) fn has_ended(&self, process: ProcessId) -> bool {
        self.status(process).is_some_and(Status::has_ended)
    }

    pub(super) fn has_failed(&self, process: ProcessId) -> bool {
        matches!(self.status(process), Some(Status::Failed(_)))
    }

    /// What a process is about to do, if it exists.
    pub(super) fn status(&self, process: ProcessId) -> Option<&Status> {
        match self.state.local(process) {
            LocalId::ABSENT => None,
            local => Some(self.locals.status(local)),
        }
    }
}

/// The wait that ends as soon as one of these waits ends.
pub(super) fn any(mut waits: Vec<Wait>) -> Wait {
    if waits.len() == 1 {
        return waits.pop().expect("one wait");
    }
    if waits.is_empty() {
        let hopeless = Some("there is nothing in the list".into());
        return Wait { words: "one of no operations".into(), helpers: Vec::new(), hopeless };
    }
    let words: Vec<_> = waits.iter().map(|wait| wait.words.as_str()).collect();
    let words = words.join(", or ");
    let hopeless: Option<Vec<_>> = waits.iter().map(|wait| wait.hopeless.clone()).collect();
    let hopeless = hopeless.map(|mut reasons| {
        reasons.dedup();
        reasons.join(", and ")
    });
    let mut helpers: Vec<_> = waits.into_iter().flat_map(|wait| wait.helpers).collect();
    helpers.sort_unstable();
    helpers.dedup();
    Wait { words, helpers, hopeless }
}

impl Deadlock {
    /// The deadlock in a sentence without a full stop.
    pub(crate) fn summary(&self) -> String {
        if let Some(cycle) = &self.cycle {
            let names: Vec<_> = cycle.iter().map(|link| link.process.as_str()).collect();
            let who =
                if names.len() > 4 { format!("{} processes", names.len()) } else { list(&names) };
            return format!("{who} wait for one another");
        }
        if let Some(blocked) = self.blocked.iter().find(|blocked| blocked.hopeless.is_some()) {
            let reason = blocked.hopeless.as_deref().unwrap_or_default();
            return format!("{} waits for {}, but {reason}", blocked.process, blocked.waits_for);
        }
        match self.blocked.as_slice() {
            [alone] => format!("{} waits for {}", alone.process, alone.waits_for),
            many => format!("{} processes wait and nothing can move", many.len()),
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => "nobody".into(),
        [one] => (*one).into(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

impl Blocked {
    /// Which processes could help, in words; `None` if `waits_for` already names them.
    pub(crate) fn hope(&self) -> Option<String> {
        let helped = || Some(format!("could come from {}", self.unsaid(" that wait too")?));
        self.hopeless.clone().or_else(helped)
    }

    /// The helpers, in words; `None` if `waits_for` already names them. If there are many, their
    /// number with these words behind it.
    pub(crate) fn unsaid(&self, who: &str) -> Option<String> {
        let said = |name: &String| self.waits_for.contains(name.as_str());
        if self.helpers.iter().all(said) {
            return None;
        }
        let names: Vec<_> = self.helpers.iter().map(String::as_str).collect();
        Some(match names.len() {
            0..=4 => list(&names),
            n => format!("{n} processes{who}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripts::{Script, irecv, isend, lock, wait};
    use super::*;
    use crate::model::{BarrierId, Handle, Op};

    /// Repeats the first enabled action until none is enabled.
    fn always_the_first(script: &Script) -> Deadlock {
        let mut replay = Replay::new(script);
        while let Some(&action) = replay.enabled().first() {
            replay.step(action).unwrap();
        }
        explain_deadlock(&replay).expect("a deadlock")
    }

    fn in_order(script: &Script, order: &[u32]) -> Deadlock {
        let mut replay = Replay::new(script);
        for &process in order {
            let action = replay.enabled().into_iter().find(|a| a.process.0 == process).unwrap();
            replay.step(action).unwrap();
        }
        explain_deadlock(&replay).expect("a deadlock")
    }

    fn names(links: &Option<Vec<Link>>) -> Vec<&str> {
        links.iter().flatten().map(|link| link.process.as_str()).collect()
    }

    #[test]
    fn philosophers_wait_in_a_cycle() {
        let philosopher = |left, right| {
            let [a, b] = lock(left, 0);
            let [c, d] = lock(right, 1);
            vec![a, b, c, d]
        };
        let script =
            Script::new(vec![philosopher(0, 2), philosopher(1, 0), philosopher(2, 1)]).mutexes(3);
        let deadlock = in_order(&script, &[0, 0, 1, 1, 2, 2, 0, 1, 2]);
        assert_eq!(names(&deadlock.cycle), ["P0", "P2", "P1"]);
        assert_eq!(deadlock.blocked[0].waits_for, "mutex m2, held by P2");
        assert_eq!(deadlock.summary(), "P0, P2 and P1 wait for one another");
    }

    #[test]
    fn a_holder_that_ended_is_named() {
        let [a, b] = lock(0, 0);
        let [c, d] = lock(0, 0);
        let script = Script::new(vec![vec![a, b], vec![c, d]]).mutexes(1);
        let deadlock = always_the_first(&script);
        assert_eq!(deadlock.cycle, None);
        assert_eq!(
            deadlock.blocked[0].hopeless.as_deref(),
            Some("P0 has ended without unlocking m0")
        );
    }

    #[test]
    fn a_cycle_that_may_be_helped_from_outside_is_not_reported() {
        // P0 and P1 each wait for a message that the other may send, but so may P2, which waits for
        // a message that nobody sends.
        let receive = |mailbox| vec![irecv(mailbox, None), wait(0)];
        let script = Script::new(vec![receive(0), receive(1), receive(2)])
            .mailboxes(3)
            .senders(vec![vec![1, 2], vec![0], vec![]]);
        let deadlock = always_the_first(&script);
        assert_eq!(deadlock.cycle, None);
        assert_eq!(deadlock.blocked[2].hopeless.as_deref(), Some("no process sends there"));
        assert_eq!(deadlock.blocked[0].hope().unwrap(), "could come from P1 and P2");

        let script = Script::new(vec![receive(0), receive(1), receive(2)])
            .mailboxes(3)
            .senders(vec![vec![1], vec![0], vec![]]);
        assert_eq!(names(&always_the_first(&script).cycle), ["P0", "P1"]);
    }

    #[test]
    fn messages_that_do_not_match_are_counted() {
        let script = Script::new(vec![
            vec![irecv(0, Some(3)), wait(0)],
            vec![isend(0, Some(1)), isend(0, Some(2))],
        ])
        .mailboxes(1)
        .senders(vec![vec![1]]);
        let deadlock = always_the_first(&script);
        assert_eq!(
            deadlock.blocked[0].waits_for,
            "a message at m0 with tag 3 (the 2 messages that are there do not match)"
        );
        assert_eq!(
            deadlock.blocked[0].hopeless.as_deref(),
            Some("every process that sends there has ended")
        );
        assert_eq!(deadlock.ended, ["P1"]);
    }

    #[test]
    fn a_barrier_with_too_few_processes_left_is_hopeless() {
        let barrier = BarrierId(0);
        let script = Script::new(vec![
            vec![Op::Arrive { barrier, round: 0 }, Op::BarrierWait { barrier, round: 0 }],
            vec![Op::Local],
        ])
        .barrier(2);
        let deadlock = always_the_first(&script);
        assert_eq!(deadlock.blocked[0].waits_for, "barrier b0: 1 of 2 have arrived");
        assert!(deadlock.blocked[0].hopeless.is_some());
    }

    #[test]
    fn a_wait_for_any_of_several_messages_names_them_all() {
        let post = Op::WaitAny(Box::new([Handle(0), Handle(1)]));
        let script = Script::new(vec![vec![irecv(0, None), irecv(1, Some(7)), post]]).mailboxes(2);
        let deadlock = always_the_first(&script);
        let words = "a message at m0, or a message at m1 with tag 7";
        assert_eq!(deadlock.blocked[0].waits_for, words);
    }
}
