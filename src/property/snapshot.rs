//! A state in words: where each process is, what it waits for, and what every object holds.
//!
//! [`Replay::step_with_changes`] returns what one step changed; a [`Fact`] describes one thing in
//! one state. Both take their words from [`super::objects`], so a queue is written in the same way
//! everywhere.

#[cfg(feature = "json")]
use serde::Serialize;

use super::Replay;
use super::objects::{Named, kind_of_fact, pending_to};
use crate::model::{Failure, Op, ProcessId, Site, Status, System};

/// One thing that is true in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub kind: FactKind,
    /// Its process; `None` for a fact about an object.
    pub process: Option<ProcessId>,
    /// The variable or object; empty if the kind says enough.
    pub name: String,
    /// The value, as the program or its reports write it.
    pub value: String,
}

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "lowercase"))]
pub enum FactKind {
    /// Where a process is.
    Place,
    /// What a process that cannot move waits for.
    Wait,
    /// A variable of a process or actor.
    Variable,
    /// The messages that an actor has not taken.
    Inbox,
    /// The unpaired messages or receives at a mailbox.
    Mailbox,
    /// Owner and queue of a mutex or a reader-writer lock; the processes that wait at a condition
    /// variable.
    Mutex,
    /// The free units of a semaphore, or its queue.
    Semaphore,
    /// The processes that have arrived at a barrier or entered a collective; the missing counts of
    /// a latch.
    Barrier,
    /// The content of a shared cell.
    Cell,
    /// At the end of an execution: the failure of `final`, and the values that it has read.
    Final,
}

impl<S: System> Replay<'_, S> {
    /// All facts of the present state: process by process, then object by object. If very many
    /// objects of a kind are declared, only those that processes have reached.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> =
            self.state.program_processes().flat_map(|process| self.facts_of(process)).collect();
        for object in self.objects() {
            let now = self.now(object).into_iter();
            facts.extend(now.map(|named| about(kind_of_fact(object), None, named)));
        }
        let mut add = |named| facts.push(about(FactKind::Final, None, named));
        if let Some(Failure { message, site, .. }) = self.final_failure() {
            let place = match site {
                Some(site) => at(&site),
                None => "final".into(),
            };
            add((place, message));
            self.seen_at_the_end().into_iter().for_each(add);
        }
        facts
    }

    fn facts_of(&self, process: ProcessId) -> Vec<Fact> {
        let unnamed = |value| (String::new(), value);
        let mut facts = vec![about(FactKind::Place, Some(process), unnamed(self.place(process)))];
        if let Some(wait) = self.wait_now(process) {
            facts.push(about(FactKind::Wait, Some(process), unnamed(wait)));
        }
        if let Some(Op::Handle { .. }) = self.pending(process) {
            let inbox = unnamed(pending_to(self, process));
            facts.push(about(FactKind::Inbox, Some(process), inbox));
        }
        let variables = self.variables(process).into_iter();
        facts.extend(variables.map(|named| about(FactKind::Variable, Some(process), named)));
        facts
    }

    fn place(&self, process: ProcessId) -> String {
        match self.locals.status(self.state.local(process)) {
            Status::Done => "ended".into(),
            Status::Failed(failure) => format!("failed: {}", failure.message),
            Status::At(Op::Handle { .. }) => "at rest".into(),
            Status::At(_) => {
                let site = self.site(process);
                if site.line == 0 { site.text } else { at(&site) }
            }
        }
    }

    /// What a process waits for, if it has an operation that it cannot execute.
    fn wait_now(&self, process: ProcessId) -> Option<String> {
        let can_move = self.state.must_move(&self.locals, process);
        let is_idle = matches!(self.pending(process), Some(Op::Handle { .. }))
            && !self.state.inboxes().has_pending(process);
        if can_move || is_idle {
            return None;
        }
        self.wait(process).map(|wait| wait.words)
    }
}

fn about(kind: FactKind, process: Option<ProcessId>, (name, value): Named) -> Fact {
    Fact { kind, process, name, value }
}

/// A place and its text.
fn at(Site { file, line, text, .. }: &Site) -> String {
    match file {
        Some(file) => format!("{file}:{line}: {text}"),
        None => format!("line {line}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripts::{Script, irecv, isend, lock, wait};
    use super::*;
    use crate::model::{Action, Choice};

    fn facts(replay: &Replay<'_, Script>, kind: FactKind) -> Vec<String> {
        let facts = replay.facts().into_iter().filter(|fact| fact.kind == kind);
        facts.map(|fact| fact.name + ": " + &fact.value).collect()
    }

    fn first(process: u32) -> Action {
        Action { process: ProcessId(process), choice: Choice::ONLY }
    }

    #[test]
    fn a_state_is_described_in_words() {
        let [ask, own] = lock(0, 1);
        let script =
            Script::new(vec![vec![irecv(0, None), wait(0)], vec![isend(0, Some(4)), ask, own]])
                .mailboxes(1)
                .mutexes(1);
        let mut replay = Replay::new(&script);
        replay.step(first(0)).unwrap();
        assert_eq!(
            facts(&replay, FactKind::Mailbox),
            ["messages at m0: none", "receives at m0: P0"]
        );
        assert_eq!(facts(&replay, FactKind::Wait), [": a message at m0"]);
        replay.follow(&[first(1), first(1), first(0)]).unwrap();
        assert_eq!(facts(&replay, FactKind::Wait), [""; 0]);
        assert_eq!(facts(&replay, FactKind::Mutex), ["queue of m0: P1"]);
        assert_eq!(facts(&replay, FactKind::Place), [": ended", ": mutex_wait"]);
    }
}
