//! Events, configurations, conflict, extensions and alternatives of a small system.

use std::collections::{BTreeMap, HashMap};

use mazurka::model::{
    Action, BarrierId, CellId, Effect, LocalId, Locals, Mailbox, MailboxId, Message, MessageId,
    Mutex, MutexId, Parts, ProcessId, Semaphore, SemaphoreId, Sent, Settlement, State, System,
    ValueId,
};

use super::Set;
use super::relation::{Footprint, dependent, footprint};

/// An event, by its index in [`Structure::events`].
pub type EventId = u32;

/// An action with its history.
#[derive(Clone, Debug)]
pub struct Event {
    /// The action.
    pub action: Action,
    /// Everything before it: [e] without e.
    pub history: Set,
    /// The local state in which its process was.
    pub before: LocalId,
    /// What it touched, in the first execution in which it occurred.
    pub footprint: Footprint,
}

/// What executions with the same events must agree on: everything except the order of independent
/// actions.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    locals: Vec<LocalId>,
    mailboxes: Vec<Mailbox>,
    mutexes: Vec<Mutex>,
    semaphores: Vec<Semaphore>,
    /// For each barrier and round, the set of arrivals, which commute.
    arrivals: Vec<Vec<Vec<ProcessId>>>,
    cells: Vec<Vec<ValueId>>,
    /// Messages between actors by name, with receiver, content, and whether they are pending. Sends
    /// commute.
    messages: BTreeMap<MessageId, (ProcessId, ValueId, bool)>,
    /// Messages at p2p and bag mailboxes by name: mailbox, content, and the receive that got it.
    sent: BTreeMap<MessageId, (MailboxId, ValueId, Option<Received>)>,
    /// The states of the receives there.
    received: BTreeMap<Received, String>,
    /// The canonical state: what the future depends on, for every kind of object.
    portrait: Vec<u32>,
}

/// A receive: its process, and its number among the receives of the process.
type Received = (ProcessId, usize);

/// An execution: the state it leads to, its events in order, and what each touched.
#[derive(Clone, Debug)]
pub struct Run {
    /// The state it leads to.
    pub state: State,
    /// Its events.
    pub order: Vec<EventId>,
    /// What they touched, by the table.
    pub footprints: Vec<(ProcessId, Footprint)>,
    /// What they touched, by the library.
    pub effects: Vec<(ProcessId, Effect)>,
}

/// A configuration with the execution that found it.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Its events.
    pub events: Set,
    /// An execution with these events.
    pub run: Run,
    /// The enabled actions and the events that they are here.
    pub next: Vec<(Action, EventId)>,
    snapshot: Snapshot,
}

/// Why there is no [`Structure`].
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// There are more configurations than the limit.
    TooLarge,
    /// The executions are not those of a prime event structure.
    Broken(String),
}

/// The whole unfolding of a system.
pub struct Structure {
    /// Every event.
    pub events: Vec<Event>,
    /// Every configuration, the empty one first, none before its subsets.
    pub configurations: Vec<Configuration>,
    /// For each event, the events that no execution has together with it.
    pub conflicts: Vec<Set>,
    event_ids: HashMap<(Action, Vec<EventId>), EventId>,
    by_events: HashMap<Vec<EventId>, usize>,
    parts: Parts,
}

fn key(set: &Set) -> Vec<EventId> {
    set.iter().collect()
}

impl Snapshot {
    /// The snapshot of a state. Only snapshots with the same `parts` can be compared.
    pub fn of<S: System>(locals: &mut Locals<'_, S>, parts: &mut Parts, state: &State) -> Snapshot {
        let mut portrait = Vec::new();
        state.portrait(locals, parts, &mut portrait);
        let objects = locals.system().objects();
        let ids = |count: usize| 0..count as u32;
        let arrivals = |barrier: u32| {
            let rounds = state.barrier(BarrierId(barrier)).rounds.iter().cloned();
            let sorted = |mut round: Vec<ProcessId>| {
                round.sort();
                round
            };
            rounds.map(sorted).filter(|round| !round.is_empty()).collect()
        };
        let network = state.network();
        let name = |receive: u32| -> Received {
            let process = network.receives()[receive as usize].process;
            let before = &network.receives()[..receive as usize];
            (process, before.iter().filter(|other| other.process == process).count())
        };
        let sent = |s: &Sent| (s.id, (s.mailbox, s.value, s.receive().map(name)));
        let became = |receive: u32| {
            let one = &network.receives()[receive as usize];
            let outcome = match one.outcome() {
                Settlement::Matched(send) => format!("{:?}", network.sends()[send as usize].id),
                other => format!("{other:?}"),
            };
            let seen = (one.carrier, one.is_seen(), one.cancelled_at().is_some());
            (name(receive), format!("{:?} {outcome} {seen:?}", one.pattern))
        };
        let message = |m: &Message| (m.id, (m.to, m.content, m.is_pending()));
        let mut of_processes: Vec<_> =
            ids(locals.process_count()).map(|p| state.local(ProcessId(p))).collect();
        while of_processes.last() == Some(&LocalId::ABSENT) {
            of_processes.pop();
        }
        Snapshot {
            locals: of_processes,
            mailboxes: ids(objects.mailboxes.len())
                .map(|m| state.mailbox(MailboxId(m)).clone())
                .collect(),
            mutexes: ids(objects.mutexes.len()).map(|m| state.mutex(MutexId(m)).clone()).collect(),
            semaphores: ids(objects.semaphores.len())
                .map(|s| state.semaphore(SemaphoreId(s)).clone())
                .collect(),
            arrivals: ids(objects.barriers.len()).map(arrivals).collect(),
            cells: ids(objects.cells.len()).map(|c| state.versions(CellId(c)).to_vec()).collect(),
            messages: state.inboxes().log().iter().map(message).collect(),
            sent: network.sends().iter().map(sent).collect(),
            received: (0..network.receives().len() as u32).map(became).collect(),
            portrait,
        }
    }
}

impl Run {
    /// The empty execution.
    pub fn empty<S: System>(locals: &mut Locals<'_, S>) -> Run {
        Run {
            state: State::initial(locals),
            order: Vec::new(),
            footprints: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// The enabled actions.
    pub fn enabled<S: System>(&self, locals: &Locals<'_, S>) -> Vec<Action> {
        let mut actions = Vec::new();
        self.state.enabled(locals, &mut actions);
        actions
    }

    /// The execution with one more action, whose event has no name yet.
    pub fn step<S: System>(&self, locals: &mut Locals<'_, S>, action: Action) -> Run {
        let mut run = self.clone();
        run.state.step(locals, action);
        let touched = footprint(locals, &self.state, &run.state);
        run.footprints.push((action.process, touched));
        run.effects.push((action.process, run.state.effect(locals)));
        run
    }

    /// What its last action touched.
    pub fn last_footprint(&self) -> (ProcessId, &Footprint) {
        let (process, footprint) = self.footprints.last().expect("an action");
        (*process, footprint)
    }
}

impl Structure {
    /// The unfolding of `system`, if it has at most `limit` configurations.
    pub fn of<S: System>(locals: &mut Locals<'_, S>, limit: usize) -> Result<Structure, Obstacle> {
        let mut structure = Structure {
            events: Vec::new(),
            configurations: Vec::new(),
            conflicts: Vec::new(),
            event_ids: HashMap::new(),
            by_events: HashMap::new(),
            parts: Parts::default(),
        };
        let empty = Run::empty(locals);
        structure.meet(locals, empty)?;
        let mut done = 0;
        while done < structure.configurations.len() {
            if structure.configurations.len() > limit {
                return Err(Obstacle::TooLarge);
            }
            let Configuration { run, next, .. } = structure.configurations[done].clone();
            for (action, event) in next {
                let mut run = run.step(locals, action);
                run.order.push(event);
                structure.meet(locals, run)?;
            }
            done += 1;
        }
        structure.find_conflicts();
        structure.check_that_pairs_say_everything()?;
        Ok(structure)
    }

    /// Records the configuration that `run` leads to, or checks that it agrees with other
    /// executions.
    fn meet<S: System>(&mut self, locals: &mut Locals<'_, S>, run: Run) -> Result<(), Obstacle> {
        let events: Set = run.order.iter().copied().collect();
        let snapshot = Snapshot::of(locals, &mut self.parts, &run.state);
        let next = self.next_events(locals, &run);
        let Some(&known) = self.by_events.get(&key(&events)) else {
            self.by_events.insert(key(&events), self.configurations.len());
            self.configurations.push(Configuration { events, run, next, snapshot });
            return Ok(());
        };
        let known = &self.configurations[known];
        let same = known.snapshot == snapshot && known.next == next;
        same.then_some(()).ok_or_else(|| {
            let ways = [&known.run, &run].map(|run| run.state.schedule().collect::<Vec<_>>());
            let found = [(&known.snapshot, &known.next), (&snapshot, &next)];
            Obstacle::Broken(format!("equivalent executions {ways:#?} differ: {found:#?}"))
        })
    }

    /// The set of enabled actions after `run`, as events.
    fn next_events<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        run: &Run,
    ) -> Vec<(Action, EventId)> {
        let enabled = run.enabled(locals);
        let event = |action| (action, self.event_after(locals, run, action));
        let mut next: Vec<_> = enabled.into_iter().map(event).collect();
        // Actors list their messages in the order of sending.
        next.sort_unstable();
        next
    }

    /// The event of `action` after `run`: its history consists of the events that it depends on,
    /// and their histories.
    fn event_after<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        run: &Run,
        action: Action,
    ) -> EventId {
        let longer = run.step(locals, action);
        let mut history = Set::new();
        for (&event, (process, footprint)) in run.order.iter().zip(&run.footprints) {
            if dependent((*process, footprint), longer.last_footprint()) {
                history.insert(event);
                history |= &self.events[event as usize].history;
            }
        }
        let next = self.events.len() as EventId;
        let id = *self.event_ids.entry((action, key(&history))).or_insert(next);
        if id == next {
            let before = run.state.local(action.process);
            let footprint = longer.last_footprint().1.clone();
            self.events.push(Event { action, history, before, footprint });
        }
        id
    }

    fn find_conflicts(&mut self) {
        let mut together = vec![Set::new(); self.events.len()];
        for configuration in self.configurations.iter().filter(|c| c.next.is_empty()) {
            for event in &configuration.events {
                together[event as usize] |= &configuration.events;
            }
        }
        let all = self.all();
        self.conflicts = together.into_iter().map(|together| &all - together).collect();
    }

    /// Checks that the configurations by definition are the sets of executions: from each
    /// configuration, exactly the next events of its executions have their causes in it and no
    /// conflict with it.
    fn check_that_pairs_say_everything(&self) -> Result<(), Obstacle> {
        for configuration in &self.configurations {
            let found: Set = configuration.next.iter().map(|&(_, event)| event).collect();
            let expected = self.en(&configuration.events);
            if found != expected {
                return Err(Obstacle::Broken(format!(
                    "after {:?}, executions go on with {found:?}, but en(C) is {expected:?}",
                    configuration.run.state.schedule().collect::<Vec<_>>(),
                )));
            }
        }
        Ok(())
    }

    /// E.
    pub fn all(&self) -> Set {
        (0..self.events.len() as EventId).collect()
    }

    /// The configuration with these events, if they are one.
    pub fn configuration(&self, events: &Set) -> Option<&Configuration> {
        self.by_events.get(&key(events)).map(|&index| &self.configurations[index])
    }

    /// The event with this action and history, if there is one.
    pub fn find(&self, action: Action, history: &Set) -> Option<EventId> {
        self.event_ids.get(&(action, key(history))).copied()
    }

    /// The maximal configurations: the Mazurkiewicz classes of the complete executions.
    pub fn maximal(&self) -> impl Iterator<Item = &Configuration> {
        self.configurations.iter().filter(|configuration| configuration.next.is_empty())
    }

    /// The number of complete executions: the paths from the empty configuration to maximal ones.
    pub fn executions(&self) -> u64 {
        let mut ways = vec![0u64; self.configurations.len()];
        ways[0] = 1;
        let mut complete = 0;
        for (index, configuration) in self.configurations.iter().enumerate() {
            for &(_, event) in &configuration.next {
                let mut events = configuration.events.clone();
                events.insert(event);
                ways[self.by_events[&key(&events)]] += ways[index];
            }
            if configuration.next.is_empty() {
                complete += ways[index];
            }
        }
        complete
    }

    /// e < f.
    pub fn before(&self, e: EventId, f: EventId) -> bool {
        self.events[f as usize].history.contains(e)
    }

    /// [e].
    pub fn local_configuration(&self, e: EventId) -> Set {
        let mut events = self.events[e as usize].history.clone();
        events.insert(e);
        events
    }

    /// The immediate predecessors of e.
    pub fn direct_causes(&self, e: EventId) -> Set {
        let history = &self.events[e as usize].history;
        history.iter().filter(|&f| !history.iter().any(|g| self.before(f, g))).collect()
    }

    /// e # f.
    pub fn conflict(&self, e: EventId, f: EventId) -> bool {
        self.conflicts[e as usize].contains(f)
    }

    /// Whether no two of these events are in conflict.
    pub fn is_conflict_free(&self, events: &Set) -> bool {
        events.iter().all(|e| self.conflicts[e as usize].is_disjoint(events))
    }

    /// e #i f: they are in conflict, but neither of them with the history of the other.
    pub fn immediate_conflict(&self, e: EventId, f: EventId) -> bool {
        let without =
            |x: EventId, y: EventId| &self.events[x as usize].history | self.local_configuration(y);
        self.conflict(e, f)
            && self.is_conflict_free(&without(e, f))
            && self.is_conflict_free(&without(f, e))
    }

    /// ex(C) = {e ∉ C : [e] ∖ {e} ⊆ C}.
    pub fn ex(&self, c: &Set) -> Set {
        let extends = |&e: &EventId| !c.contains(e) && self.events[e as usize].history.is_subset(c);
        self.all().iter().filter(extends).collect()
    }

    /// en(C): the extensions in conflict with nothing in C.
    pub fn en(&self, c: &Set) -> Set {
        self.ex(c).iter().filter(|&e| self.conflicts[e as usize].is_disjoint(c)).collect()
    }

    /// Whether J is an alternative to D after C in U: J ⊆ U, J ∩ D = ∅, C ∪ J is a configuration,
    /// and each d ∈ D is in conflict with an event of C ∪ J (FORTE 2019, section 4.1).
    pub fn is_alternative(&self, j: &Set, d: &Set, c: &Set, u: &Set) -> bool {
        let union = c | j;
        let refutes = |d: EventId| !self.conflicts[d as usize].is_disjoint(&union);
        (j - c).is_subset(u)
            && j.is_disjoint(d)
            && self.configuration(&union).is_some()
            && d.iter().all(refutes)
    }

    /// Some alternative to D after C in U, by trying every configuration; `None` if there is none.
    pub fn alternative(&self, d: &Set, c: &Set, u: &Set) -> Option<Set> {
        let larger = self.configurations.iter().filter(|other| c.is_subset(&other.events));
        let mut candidates = larger.map(|other| &other.events - c);
        candidates.find(|j| self.is_alternative(j, d, c, u))
    }
}
