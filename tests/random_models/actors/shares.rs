//! Tests that enough programs of actors cover what the tests are for.

use std::collections::{BTreeSet, HashMap};

use mazurka::model::{Choice, Handled, Locals, Message, ProcessId, State, Status, Stimulus};

use super::super::shares::check;
use super::{Guards, generate};
use crate::judge::violates_final;
use crate::naive::relation::Footprint;
use crate::naive::{Configuration, Event, Structure};
use crate::random_models::{Erased, Sample};

/// What programs may cover, with the minimum share of programs that must cover it.
const WANTED: &[(&str, f64)] = &[
    ("no guards", 0.20),
    ("monotone guards", 0.20),
    ("fickle guards", 0.20),
    ("several classes", 0.50),
    ("many classes (10 or more)", 0.15),
    ("a deadlock", 0.15),
    ("no violation at all", 0.25),
    ("a refused message", 0.20),
    ("a message refused and taken later", 0.05),
    ("a guard that turns false again", 0.05),
    ("a message refused now that an earlier state would take", 0.05),
    ("two pending messages of equal content", 0.15),
    ("an internal handler", 0.08),
    ("an internal handler that sends", 0.04),
    ("a spawn", 0.15),
    ("several spawned actors", 0.05),
    ("a spawn by a spawned actor", 0.01),
    ("one birth in two states", 0.01),
    ("a spawned actor that takes a message of another than its parent", 0.01),
    ("a message to oneself", 0.05),
    ("three messages of one handler", 0.02),
    ("a violated assertion", 0.05),
    ("an actor that fails at birth", 0.01),
    ("messages left to an actor that has failed", 0.02),
    ("a violated final", 0.01),
];

fn accepts(locals: &Locals<'_, Erased<'static>>, state: &State, message: &Message) -> bool {
    let local = state.local(message.to);
    locals.op(local).is_some()
        && locals.accepts(message.to, local, Stimulus::Message(message.content))
}

/// What this program covers, among [`WANTED`].
fn reached(
    locals: &Locals<'_, Erased<'static>>,
    structure: &Structure,
    sample: &Sample,
) -> Vec<&'static str> {
    let mut reached = BTreeSet::new();
    reached.insert(match generate(sample.seed).guards {
        Guards::Absent => "no guards",
        Guards::Monotone => "monotone guards",
        Guards::Fickle => "fickle guards",
    });
    for event in &structure.events {
        of_event(locals, event, &mut reached);
    }
    for configuration in &structure.configurations {
        of_configuration(locals, structure, configuration, &mut reached);
    }
    of_births(structure, &mut reached);
    let mut clean = true;
    for end in structure.maximal() {
        let violations = of_end(locals, &end.run.state);
        clean &= violations.is_empty();
        reached.extend(violations);
    }
    let classes = structure.maximal().count();
    reached.extend((classes > 1).then_some("several classes"));
    reached.extend((classes >= 10).then_some("many classes (10 or more)"));
    reached.extend(clean.then_some("no violation at all"));
    reached.into_iter().collect()
}

fn of_event(
    locals: &Locals<'_, Erased<'static>>,
    event: &Event,
    reached: &mut BTreeSet<&'static str>,
) {
    let Footprint::Handler { taken, sent: (_, sent), started, .. } = &event.footprint else {
        panic!("{event:?} is of no actor")
    };
    let process = event.action.process;
    if let Handled::Message(message) = event.action.choice.handled() {
        let sender = locals.posting(message).0.map(|(sender, _)| sender);
        let parent = locals.birth(process).map(|birth| birth.parent);
        if sender == Some(process) {
            reached.insert("a message to oneself");
        } else if parent.is_some() && sender.is_some() && parent != sender {
            reached.insert("a spawned actor that takes a message of another than its parent");
        }
    }
    if taken.is_none() {
        reached.insert("an internal handler");
        reached.extend((*sent > 0).then_some("an internal handler that sends"));
    }
    if !started.is_empty() {
        reached.insert("a spawn");
        reached.extend(locals.birth(process).map(|_| "a spawn by a spawned actor"));
    }
    reached.extend((*sent >= 3).then_some("three messages of one handler"));
}

/// Actors that events in conflict start under one name.
fn of_births(structure: &Structure, reached: &mut BTreeSet<&'static str>) {
    let mut born = HashMap::new();
    for event in structure.all() {
        let Footprint::Handler { started, .. } = &structure.events[event as usize].footprint else {
            continue;
        };
        let after = structure.configuration(&structure.local_configuration(event));
        let state = &after.expect("a local configuration is one").run.state;
        for &child in started {
            if *born.entry(child).or_insert(state.local(child)) != state.local(child) {
                reached.insert("one birth in two states");
            }
        }
    }
}

fn of_configuration(
    locals: &Locals<'_, Erased<'static>>,
    structure: &Structure,
    configuration: &Configuration,
    reached: &mut BTreeSet<&'static str>,
) {
    let state = &configuration.run.state;
    let spawned = state.processes().filter(|&p| locals.birth(p).is_some()).count();
    reached.extend((spawned > 1).then_some("several spawned actors"));
    let pending: Vec<_> = state.inboxes().log().iter().filter(|m| m.is_pending()).collect();
    let mut contents: Vec<_> = pending.iter().map(|m| (m.to, m.content)).collect();
    contents.sort_unstable();
    if contents.windows(2).any(|pair| pair[0] == pair[1]) {
        reached.insert("two pending messages of equal content");
    }
    let can_act = |message: &&&Message| locals.op(state.local(message.to)).is_some();
    for message in pending.iter().filter(can_act) {
        match accepts(locals, state, message) {
            true => of_accepted(locals, structure, configuration, message, reached),
            false => of_refused(structure, configuration, message, reached),
        }
    }
}

fn takes(structure: &Structure, event: u32, message: &Message) -> bool {
    let action = structure.events[event as usize].action;
    (action.process, action.choice) == (message.to, Choice::message(message.id))
}

fn of_refused(
    structure: &Structure,
    configuration: &Configuration,
    message: &Message,
    reached: &mut BTreeSet<&'static str>,
) {
    reached.insert("a refused message");
    let c = &configuration.events;
    if structure.ex(c).iter().any(|event| takes(structure, event, message)) {
        reached.insert("a message refused now that an earlier state would take");
    }
    let later = |event: u32| c.is_subset(&structure.events[event as usize].history);
    if structure.all().iter().any(|event| takes(structure, event, message) && later(event)) {
        reached.insert("a message refused and taken later");
    }
}

fn of_accepted(
    locals: &Locals<'_, Erased<'static>>,
    structure: &Structure,
    configuration: &Configuration,
    message: &Message,
    reached: &mut BTreeSet<&'static str>,
) {
    for &(action, event) in &configuration.next {
        if action.process == message.to && !takes(structure, event, message) {
            let mut longer = configuration.events.clone();
            longer.insert(event);
            let after = structure.configuration(&longer).expect("the next one");
            let state = &after.run.state;
            if locals.op(state.local(message.to)).is_some() && !accepts(locals, state, message) {
                reached.insert("a guard that turns false again");
            }
        }
    }
}

fn of_end(locals: &Locals<'_, Erased<'static>>, state: &State) -> Vec<&'static str> {
    let mut violations = Vec::new();
    if state.unfinished(locals).next().is_some() {
        violations.push("a deadlock");
    } else if violates_final(locals, state) {
        violations.push("a violated final");
    }
    let failed = |&p: &ProcessId| matches!(locals.status(state.local(p)), Status::Failed(_));
    for process in state.processes().filter(failed) {
        violations.push("a violated assertion");
        if state.acted(process) == 0 {
            violations.push("an actor that fails at birth");
        }
        if state.inboxes().has_pending(process) {
            violations.push("messages left to an actor that has failed");
        }
    }
    violations
}

#[test]
fn the_default_seeds_of_actors_reach_what_matters() {
    check(super::super::actors(), WANTED, reached);
}
