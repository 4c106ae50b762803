//! A whole state in words: where each process is, what it waits for, and what every object holds.
//!
//! [`Replay::step_with_changes`] tells what one step changed; a [`Fact`] is the same kind of thing without a
//! step. Both take their words from here, so that a queue reads the same wherever it is shown.

use serde::Serialize;

use super::Replay;
use super::narration::{label, role};
use crate::model::{
    BarrierId, CellId, CollectiveId, CondvarId, Delivery, End, Failure, MailboxId, MutexId, Op,
    ProcessId, RwLockId, SemaphoreId, Site, Status, System, ValueId,
};

/// Something that holds in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The kind of thing that it is about.
    pub kind: FactKind,
    /// The process that it is about, if it is about one.
    pub process: Option<ProcessId>,
    /// The variable or object; empty if the kind says enough.
    pub name: String,
    /// What holds, as the program or its reports write it.
    pub value: String,
}

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// Where a process is.
    Place,
    /// What a process that cannot move waits for.
    Wait,
    /// A variable of a process or actor.
    Variable,
    /// The messages that an actor has not taken.
    Inbox,
    /// The unpaired messages, or receives, at a mailbox.
    Mailbox,
    /// Who owns a mutex or a reader-writer lock, and who queues for it; who waits at a condition variable.
    Mutex,
    /// The units of a semaphore, and who queues for them.
    Semaphore,
    /// Who has arrived at a barrier.
    Barrier,
    /// The content of a shared cell.
    Cell,
    /// At the end of an execution: what `final` objects to, and the values that it has read.
    Final,
}

/// A name and what is there.
pub(super) type Named = (String, String);

impl<S: System> Replay<'_, S> {
    /// Everything that holds in the present state of the replay: process by process, then object by object. If very many
    /// objects of a kind are declared, only those that processes have reached.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> =
            self.state.program_processes().flat_map(|process| self.facts_of(process)).collect();
        let met = self.locals.met();
        let mut add = |kind, named: Named| facts.push(about(kind, None, named));
        for mailbox in met.mailboxes.in_order().into_iter().map(MailboxId) {
            add(FactKind::Mailbox, self.posts_now(mailbox, End::Send));
            add(FactKind::Mailbox, self.posts_now(mailbox, End::Receive));
        }
        for mutex in met.mutexes.in_order().into_iter().map(MutexId) {
            add(FactKind::Mutex, self.queue_now(mutex));
        }
        for lock in met.rwlocks.in_order().into_iter().map(RwLockId) {
            add(FactKind::Mutex, self.holders_now(lock));
        }
        for condvar in met.condvars.in_order().into_iter().map(CondvarId) {
            add(FactKind::Mutex, self.waiting_now(condvar));
        }
        for semaphore in met.semaphores.in_order().into_iter().map(SemaphoreId) {
            add(FactKind::Semaphore, self.units_now(semaphore));
        }
        for barrier in met.barriers.in_order().into_iter().map(BarrierId) {
            let round = self.state.barrier(barrier).rounds.len().saturating_sub(1);
            add(FactKind::Barrier, self.arrivals_now(barrier, round as u32));
        }
        for collective in met.collectives.in_order().into_iter().map(CollectiveId) {
            add(FactKind::Barrier, self.entries_now(collective));
        }
        self.cells().into_iter().for_each(|cell| add(FactKind::Cell, cell));
        if let Some(Failure { message, site, .. }) = self.final_failure() {
            let place = match site {
                Some(site) => at(&site),
                None => "final".into(),
            };
            add(FactKind::Final, (place, message));
            self.seen_at_the_end().into_iter().for_each(|named| add(FactKind::Final, named));
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
            let inbox = unnamed(self.pending_to(process));
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

    /// What a process waits for if it has an operation and cannot carry it out.
    fn wait_now(&self, process: ProcessId) -> Option<String> {
        let can_move = self.state.must_move(&self.locals, process);
        let is_idle = matches!(self.pending(process), Some(Op::Handle { .. }))
            && !self.state.inboxes().has_pending(process);
        if can_move || is_idle {
            return None;
        }
        self.wait(process).map(|wait| wait.words)
    }

    /// The posts at an end of a mailbox that have no partner.
    pub(super) fn posts_now(&self, mailbox: MailboxId, end: End) -> Named {
        let what = match end {
            End::Send => "messages",
            End::Receive => "receives",
        };
        let what = format!("{what} at {}", self.locals.name_of(mailbox));
        if self.state.network().delivery(mailbox) != Delivery::Ordered {
            return (what, listed(self.posts_on_network(mailbox, end), "none"));
        }
        let posts = self.state.mailbox(mailbox).posts(end);
        let pending = posts.iter().filter(|post| post.partner().is_none()).map(|post| {
            let name = self.name(post.process);
            let label = label(post.envelope);
            match end {
                End::Send => format!("{} of {name}{label}", self.message(post.value)),
                End::Receive => format!("{name}{label}"),
            }
        });
        (what, listed(pending.collect(), "none"))
    }

    fn message(&self, value: ValueId) -> String {
        if value == ValueId::UNIT { "one".into() } else { self.value(value) }
    }

    /// The posts at an end of a p2p or bag mailbox that are not matched.
    fn posts_on_network(&self, mailbox: MailboxId, end: End) -> Vec<String> {
        let network = self.state.network();
        let ends = network.ends(mailbox);
        let free = ends.sends.iter().map(|&send| &network.sends()[send as usize]);
        let free = free.filter(|sent| sent.receive().is_none()).map(|sent| {
            let (name, label) = (self.name(sent.process), label(sent.envelope));
            format!("{} of {name}{label}", self.message(sent.value))
        });
        let open = ends.receives.iter().map(|&receive| &network.receives()[receive as usize]);
        let open = open.filter(|receive| receive.is_open());
        let open = open.map(|one| format!("{}{}", self.name(one.process), label(one.pattern)));
        match end {
            End::Send => free.collect(),
            End::Receive => open.collect(),
        }
    }

    /// Who has entered a collective, in its latest round.
    pub(super) fn entries_now(&self, collective: CollectiveId) -> Named {
        let all = self.state.collectives();
        let latest = all.entries().iter().rev().find(|entry| entry.collective == collective);
        let round = latest.map_or(0, |entry| entry.round);
        let entered = all.get(collective).entries(round).map(|entry| {
            let entry = &all.entries()[entry as usize];
            format!("{} with {}", self.name(entry.process), entry.call.kind.name())
        });
        let name = self.locals.name_of(collective);
        (format!("round {} of {name}", round + 1), listed(entered.collect(), "nobody"))
    }

    /// The owner of a mutex, and those that queue for it.
    pub(super) fn queue_now(&self, mutex: MutexId) -> Named {
        let queue = self.state.mutex(mutex).queue().map(|p| self.name(p).to_owned());
        (format!("queue of {}", self.locals.name_of(mutex)), listed(queue.collect(), "free"))
    }

    /// Who holds a reader-writer lock, and who queues for it.
    pub(super) fn holders_now(&self, lock: RwLockId) -> Named {
        let name = self.locals.name_of(lock);
        let lock = self.state.rwlock(lock);
        let queue = lock.queue().map(|request| {
            let does = if lock.is_granted(request) { "" } else { " (waits)" };
            format!("{} {}{does}", role(request.hold), self.name(request.process))
        });
        (format!("queue of {name}"), listed(queue.collect(), "free"))
    }

    /// Who waits at a condition variable.
    pub(super) fn waiting_now(&self, condvar: CondvarId) -> Named {
        let name = self.locals.name_of(condvar);
        let waiting = self.state.condvar(condvar).waiting();
        let names = waiting.map(|one| self.name(one.process).to_owned()).collect();
        (format!("waiting at {name}"), listed(names, "nobody"))
    }

    /// The free units of a semaphore, or who queues for them.
    pub(super) fn units_now(&self, semaphore: SemaphoreId) -> Named {
        let name = self.locals.name_of(semaphore);
        let semaphore = self.state.semaphore(semaphore);
        let units = semaphore.initial as usize + semaphore.releases.len();
        let value = match semaphore.requests.get(units..) {
            Some(waiting) if !waiting.is_empty() => {
                let waiting: Vec<_> = waiting.iter().map(|&p| self.name(p)).collect();
                format!("0 free, queue: {}", waiting.join(", "))
            }
            _ => format!("{} free", units - semaphore.requests.len()),
        };
        (format!("semaphore {name}"), value)
    }

    /// Who has arrived at a barrier in this round.
    pub(super) fn arrivals_now(&self, barrier: BarrierId, round: u32) -> Named {
        let name = self.locals.name_of(barrier);
        let arrived = self.state.barrier(barrier).arrived(round).iter();
        let arrived = arrived.map(|&p| self.name(p).to_owned()).collect();
        (format!("arrived at {name} (round {})", round + 1), listed(arrived, "nobody"))
    }

    /// The content of a shared cell.
    pub(super) fn cell_now(&self, cell: CellId) -> Named {
        (self.locals.name_of(cell), self.value(self.state.content(cell)))
    }

    /// The messages that an actor has not taken.
    pub(super) fn pending_to(&self, actor: ProcessId) -> String {
        let inboxes = self.state.inboxes();
        let content = |at: u32| self.value(inboxes.log()[at as usize].content);
        listed(inboxes.pending(actor).map(content).collect(), "none")
    }
}

fn about(kind: FactKind, process: Option<ProcessId>, (name, value): Named) -> Fact {
    Fact { kind, process, name, value }
}

/// A place and what stands there.
fn at(Site { file, line, text, .. }: &Site) -> String {
    match file {
        Some(file) => format!("{file}:{line}: {text}"),
        None => format!("line {line}: {text}"),
    }
}

fn listed(items: Vec<String>, if_empty: &str) -> String {
    if items.is_empty() { if_empty.into() } else { items.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::super::scripts::{Script, irecv, isend, lock, wait};
    use super::*;
    use crate::model::{Action, Choice};

    fn told(replay: &Replay<'_, Script>, kind: FactKind) -> Vec<String> {
        let facts = replay.facts().into_iter().filter(|fact| fact.kind == kind);
        facts.map(|fact| fact.name + ": " + &fact.value).collect()
    }

    fn first(process: u32) -> Action {
        Action { process: ProcessId(process), choice: Choice::ONLY }
    }

    #[test]
    fn a_state_is_told_in_words() {
        let [ask, own] = lock(0, 1);
        let script =
            Script::new(vec![vec![irecv(0, None), wait(0)], vec![isend(0, Some(4)), ask, own]])
                .mailboxes(1)
                .mutexes(1);
        let mut replay = Replay::new(&script);
        replay.step(first(0)).unwrap();
        assert_eq!(
            told(&replay, FactKind::Mailbox),
            ["messages at m0: none", "receives at m0: P0"]
        );
        assert_eq!(told(&replay, FactKind::Wait), [": a message at m0"]);
        replay.follow(&[first(1), first(1), first(0)]).unwrap();
        assert_eq!(told(&replay, FactKind::Wait), [""; 0]);
        assert_eq!(told(&replay, FactKind::Mutex), ["queue of m0: P1"]);
        assert_eq!(told(&replay, FactKind::Place), [": ended", ": mutex_wait"]);
    }
}
