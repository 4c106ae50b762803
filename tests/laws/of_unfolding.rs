//! The incremental unfolding, compared with the definitions: ex(C), <, #, #i, and alternatives.

use mazurka::alternatives::{Alternatives, KPartial, Optimal, Varisat};
use mazurka::model::{Action, Birth, Choice, Handled, Locals, Op, ProcessId, StopSignal, System};
use mazurka::unfolding::{Configuration, EventId, Unfolding};

use crate::naive::{Set, Structure};
use crate::random_models::{Rng, Sample, Subject};

/// How many questions for an alternative were asked, and how many had one.
#[derive(Default)]
pub struct Questions {
    asked: u32,
    existing: u32,
}

impl Questions {
    /// Both answers are frequent.
    pub fn assert_enough(&self) {
        let Questions { asked, existing } = *self;
        println!("{asked} questions, {existing} alternatives");
        assert!(
            10 * existing > asked && 10 * (asked - existing) > asked,
            "both answers are frequent"
        );
    }
}

/// All laws of this file, if the program is small enough for them. Is it?
pub fn check<'s, S: Subject>(
    sample: &'s Sample<S>,
    locals: Locals<'s, S>,
    structure: Structure,
    questions: &mut Questions,
) -> bool {
    let Some(mut bench) = Bench::new(sample, locals, structure) else { return false };
    extensions_found_incrementally_are_those_of_the_definition(&mut bench);
    bench.restart();
    causality_and_conflict_are_those_of_the_definition(&mut bench);
    immediate_conflicts_generate_all_conflicts(&bench);
    bench.restart();
    alternatives_exist_iff_they_are_found(bench, questions);
    true
}

/// Programs with more configurations are left to the tests of explorers.
const MAX_CONFIGURATIONS: usize = 1_500;
/// Executions tried for each program.
const WALKS: usize = 8;

/// A sample, its structure by the definitions, and an unfolding under test.
struct Bench<'s, S: System> {
    sample: &'s Sample<S>,
    locals: Locals<'s, S>,
    naive: Structure,
    unfolding: Unfolding<'s, S>,
    c: Configuration,
    /// For each event of the unfolding, the same event of the structure.
    names: Vec<Option<u32>>,
}

/// The id in `to` of a process of `from`: the same child of the same parent.
pub fn rename<S: System>(
    from: &Locals<'_, S>,
    to: &Locals<'_, S>,
    process: ProcessId,
) -> ProcessId {
    match from.birth(process) {
        None => process,
        Some(birth) => {
            let parent = rename(from, to, birth.parent);
            to.known_child(Birth { parent, ..birth }).expect("a process that both have met")
        }
    }
}

/// The choice of an event, in the numbers of other local states.
pub fn choice_in<S: System>(
    unfolding: &Unfolding<'_, S>,
    to: &mut Locals<'_, S>,
    event: EventId,
) -> Choice {
    let choice = unfolding.structure.event(event).choice;
    let from = &unfolding.locals;
    match (unfolding.op(event), choice.handled()) {
        (Op::Handle { .. } | Op::Deliver | Op::Probe { .. }, Handled::Message(message)) => {
            let (sender, place) = from.posting(message);
            let sender = sender.map(|(process, act)| (rename(from, to, process), act));
            Choice::message(to.message(sender, place))
        }
        _ => choice,
    }
}

impl<'s, S: Subject> Bench<'s, S> {
    fn new(sample: &'s Sample<S>, locals: Locals<'s, S>, naive: Structure) -> Option<Self> {
        let (unfolding, c) = Unfolding::new(&sample.script, u32::MAX, true, StopSignal::default());
        let names = Vec::new();
        let small = naive.configurations.len() <= MAX_CONFIGURATIONS;
        small.then_some(Bench { sample, locals, naive, unfolding, c, names })
    }

    /// Starts again with an empty unfolding.
    fn restart(&mut self) {
        (self.unfolding, self.c) =
            Unfolding::new(&self.sample.script, u32::MAX, true, StopSignal::default());
        self.names.clear();
    }

    /// The same event in the structure by the definitions.
    fn name(&mut self, event: EventId) -> u32 {
        if let Some(&Some(known)) = self.names.get(event.index()) {
            return known;
        }
        let known = self.unfolding.structure.event(event).clone();
        let causes: Vec<u32> = known.causes.iter().map(|&cause| self.name(cause)).collect();
        let histories = causes.iter().map(|&cause| self.naive.local_configuration(cause));
        let history = histories.fold(Set::new(), |all, one| all | one);
        let process = rename(&self.unfolding.locals, &self.locals, known.process);
        let choice = choice_in(&self.unfolding, &mut self.locals, event);
        let action = Action { process, choice };
        let name = self.naive.find(action, &history).unwrap_or_else(|| {
            panic!("{action:?} after {history:?} is no event of {}", self.sample.describe())
        });
        assert_eq!(
            causes.iter().copied().collect::<Set>(),
            self.naive.direct_causes(name),
            "direct causes of {action:?} in {}",
            self.sample.describe()
        );
        if self.names.len() <= event.index() {
            self.names.resize(event.index() + 1, None);
        }
        self.names[event.index()] = Some(name);
        name
    }

    fn set(&mut self, events: impl IntoIterator<Item = EventId>) -> Set {
        events.into_iter().map(|event| self.name(event)).collect()
    }

    /// C.
    fn c(&mut self) -> Set {
        let events = self.c.events().to_vec();
        self.set(events)
    }

    /// U.
    fn u(&mut self) -> Set {
        let events: Vec<_> = self.unfolding.structure.ids().collect();
        let count = events.len();
        let u = self.set(events);
        assert_eq!(u.len(), count as u64, "one event, two ids: {}", self.sample.describe());
        u
    }

    fn enabled(&self) -> Vec<EventId> {
        self.c.enabled().collect()
    }

    /// Checks that en(C) is right, and that ex(C) is a subset of U.
    fn check_extensions(&mut self) {
        let (c, enabled) = (self.c(), self.enabled());
        let context = format!("after {c:?} of {}", self.sample.describe());
        assert_eq!(self.set(enabled), self.naive.en(&c), "en(C) {context}");
        let found: Set = self.u().iter().filter(|&e| self.naive.ex(&c).contains(e)).collect();
        assert_eq!(found, self.naive.ex(&c), "ex(C) {context}");
    }

    fn push(&mut self, event: EventId) {
        self.unfolding.push(&mut self.c, event);
    }

    fn pop(&mut self) {
        self.unfolding.pop(&mut self.c);
    }

    /// Visits every configuration once, by growing and shrinking C; checks en(C) after both.
    fn visit_all(&mut self, visited: &mut std::collections::HashSet<Vec<u32>>) {
        self.check_enabled();
        for event in self.enabled() {
            self.push(event);
            if visited.insert(self.c().iter().collect()) {
                self.visit_all(visited);
            }
            self.pop();
        }
        self.check_enabled();
    }

    fn check_enabled(&mut self) {
        let (c, enabled) = (self.c(), self.enabled());
        let enabled = self.set(enabled);
        assert_eq!(enabled, self.naive.en(&c), "en(C) after {c:?} of {}", self.sample.describe());
    }
}

/// Along one execution, without anything met on other branches: ex(C) is complete.
fn extensions_found_incrementally_are_those_of_the_definition<S: Subject>(
    bench: &mut Bench<'_, S>,
) {
    let mut rng = Rng::new(bench.sample.seed);
    for _ in 0..WALKS {
        bench.restart();
        bench.check_extensions();
        while !bench.enabled().is_empty() {
            let event = *rng.pick(&bench.enabled());
            bench.push(event);
            bench.check_extensions();
        }
    }
}

/// Growing and shrinking C through all configurations: en(C) is right before and after, and at last U = E,
/// with <, # and #i as defined.
fn causality_and_conflict_are_those_of_the_definition<S: Subject>(bench: &mut Bench<'_, S>) {
    bench.visit_all(&mut std::collections::HashSet::new());
    let u = bench.u();
    assert_eq!(u, bench.naive.all(), "U = E in {}", bench.sample.describe());
    let ids: Vec<_> = bench.unfolding.structure.ids().collect();
    for &e in &ids {
        let rivals: Vec<_> = bench.unfolding.structure.immediate_conflicts(e).collect();
        let count = rivals.len();
        let rivals = bench.set(rivals);
        let x = bench.name(e);
        let expected: Set = u.iter().filter(|&y| bench.naive.immediate_conflict(x, y)).collect();
        assert_eq!(rivals, expected, "#i of event {x} in {}", bench.sample.describe());
        assert_eq!(
            count as u64,
            rivals.len(),
            "#i twice, event {x} in {}",
            bench.sample.describe()
        );
        for &f in &ids {
            let y = bench.name(f);
            let structure = &bench.unfolding.structure;
            let found = (structure.is_before(e, f), structure.in_conflict(e, f));
            let expected = (bench.naive.before(x, y), bench.naive.conflict(x, y));
            assert_eq!(found, expected, "{x} < {y}, {x} # {y} in {}", bench.sample.describe());
        }
    }
}

/// # is what #i and causality generate: the model's promise to every algorithm that knows only #i.
fn immediate_conflicts_generate_all_conflicts<S: Subject>(bench: &Bench<'_, S>) {
    let naive = &bench.naive;
    let all = naive.all();
    let immediate = |e| all.iter().filter(|&f| naive.immediate_conflict(e, f)).collect::<Set>();
    let immediate: Vec<Set> = all.iter().map(immediate).collect();
    let from = |e| all.iter().filter(|&f| e == f || naive.before(e, f)).collect::<Set>();
    let from: Vec<Set> = all.iter().map(from).collect();
    for e in &all {
        let inherited = naive.local_configuration(e);
        let rivals = inherited.iter().flat_map(|x| &immediate[x as usize]);
        let generated = rivals.fold(Set::new(), |all, y| all | &from[y as usize]);
        assert_eq!(generated, naive.conflicts[e as usize], "{}", bench.sample.describe());
    }
}

/// A random search like UDPOR: C and D grow along a path and shrink on the way back, and so does
/// the state of the methods that find alternatives.
struct Path<'s, S: System> {
    bench: Bench<'s, S>,
    /// D, newest last.
    d: Vec<EventId>,
    /// The size of D at each node above.
    marks: Vec<usize>,
    /// Full alternatives.
    full: Vec<(&'static str, Optimal<Varisat>)>,
    /// k-partial ones, by k; the last are full alternatives without a solver.
    partial: Vec<(u32, KPartial)>,
}

impl<'s, S: Subject> Path<'s, S> {
    fn new(bench: Bench<'s, S>) -> Self {
        let full = vec![
            ("SAT", Optimal::with_effort(0)),
            ("comb", Optimal::with_effort(usize::MAX)),
            ("both", Optimal::with_effort(3)),
        ];
        let few = (1..4).map(|k| (k, KPartial::new(k)));
        let partial = few.chain([(u32::MAX, KPartial::full())]).collect();
        Path { bench, d: Vec::new(), marks: Vec::new(), full, partial }
    }

    fn descend(&mut self, event: EventId) {
        self.marks.push(self.d.len());
        self.bench.push(event);
        let c = &self.bench.c;
        self.full.iter_mut().for_each(|(_, method)| method.descend(c));
        self.partial.iter_mut().for_each(|(_, method)| method.descend(c));
    }

    fn ascend(&mut self) {
        self.bench.pop();
        self.d.truncate(self.marks.pop().expect("a node above"));
        self.full.iter_mut().for_each(|(_, method)| method.ascend());
        self.partial.iter_mut().for_each(|(_, method)| method.ascend());
    }

    /// en(C) ∖ D.
    fn open(&self) -> Vec<EventId> {
        self.bench.enabled().into_iter().filter(|e| !self.d.contains(e)).collect()
    }

    /// Adds some events of en(C) to D, preferring events in conflict with others: nothing can
    /// replace the other events. Returns whether any was added.
    fn disable(&mut self, rng: &mut Rng) -> bool {
        let before = self.d.len();
        for _ in 0..*rng.pick(&[1, 2, 3]) {
            let structure = &self.bench.unfolding.structure;
            let has_rivals = |d: &EventId| structure.immediate_conflicts(*d).next().is_some();
            let mut open = self.open();
            if !rng.chance(5) {
                open.retain(has_rivals);
            }
            if !open.is_empty() {
                self.d.push(*rng.pick(&open));
            }
        }
        self.d.len() > before
    }

    /// Asks all methods for an alternative to D after C. Returns whether there is one by the
    /// definition.
    fn ask_all(&mut self) -> bool {
        let enabled = self.bench.enabled();
        let live: Vec<_> = self.d.iter().copied().filter(|d| enabled.contains(d)).collect();
        let (c, u) = (self.bench.c(), self.bench.u());
        let d = self.bench.set(live.iter().copied());
        let expected = self.bench.naive.alternative(&d, &c, &u).is_some();
        for (name, method) in &mut self.full {
            let found = ask(&mut self.bench, method, &live);
            let program = self.bench.sample.describe();
            let context = format!("{name}: D = {d:?} after {c:?} of {program}");
            assert_eq!(found.is_some(), expected, "{context}");
            if let Some(j) = found {
                assert!(self.bench.naive.is_alternative(&j, &d, &c, &u), "{j:?} by {context}");
            }
        }
        for (k, method) in &mut self.partial {
            check_partial(&mut self.bench, method, *k, &live, expected);
        }
        expected
    }
}

/// SAT, comb and brute force agree on whether there is an alternative, and what they return is one.
fn alternatives_exist_iff_they_are_found<S: Subject>(
    bench: Bench<'_, S>,
    questions: &mut Questions,
) {
    let mut rng = Rng::new(bench.sample.seed);
    let mut path = Path::new(bench);
    for walk in 0..6 * WALKS {
        while !path.marks.is_empty() && rng.chance(85) {
            path.ascend();
        }
        // For the second half U = E: then there is most to choose from, and to get wrong.
        let small = path.bench.naive.configurations.len() < MAX_CONFIGURATIONS / 4;
        if walk == WALKS && small {
            while !path.marks.is_empty() {
                path.ascend();
            }
            path.bench.visit_all(&mut std::collections::HashSet::new());
        }
        loop {
            let open = path.open();
            if open.is_empty() {
                break;
            }
            path.descend(*rng.pick(&open));
            if rng.chance(65) && path.disable(&mut rng) {
                questions.asked += 1;
                questions.existing += u32::from(path.ask_all());
            }
        }
    }
}

/// An alternative J, if one is found; J is listed causes first.
fn ask<S: Subject>(
    bench: &mut Bench<'_, S>,
    method: &mut dyn Alternatives,
    disabled: &[EventId],
) -> Option<Set> {
    let mut j = vec![disabled[0]];
    let found = method.find(&bench.unfolding.structure, &bench.c, disabled, &mut j);
    assert_eq!(found, !j.is_empty(), "J is empty iff there is none");
    let j: Vec<u32> = j.into_iter().map(|event| bench.name(event)).collect();
    let (mut reached, set) = (bench.c(), j.iter().copied().collect::<Set>());
    for &event in &j {
        assert!(
            bench.naive.en(&reached).contains(event),
            "{j:?} is an execution after {reached:?}"
        );
        reached.insert(event);
    }
    found.then_some(set)
}

/// k-partial: J conflicts with at least min(k, |D|) events of D, including the newest one, and
/// contains none of them.
fn check_partial<S: Subject>(
    bench: &mut Bench<'_, S>,
    method: &mut KPartial,
    k: u32,
    disabled: &[EventId],
    full_exists: bool,
) {
    let found = ask(bench, method, disabled);
    let (c, d) = (bench.c(), bench.set(disabled.iter().copied()));
    let context = format!("k = {k}, D = {d:?} after {c:?} of {}", bench.sample.describe());
    assert!(found.is_some() || !full_exists, "{context}");
    if let Some(j) = found {
        let refuted = |d: u32| !bench.naive.conflicts[d as usize].is_disjoint(&j);
        let count = d.iter().filter(|&d| refuted(d)).count();
        assert!(count >= disabled.len().min(k as usize), "{j:?}: {context}");
        let newest = *disabled.last().expect("not empty");
        let newest = bench.name(newest);
        let refuted = !bench.naive.conflicts[newest as usize].is_disjoint(&j);
        assert!(refuted && j.is_disjoint(&d), "{j:?}: {context}");
    }
}
