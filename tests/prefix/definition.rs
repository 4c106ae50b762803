//! The prefix of small random nets against its definition: all configurations, one by one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use mazurka::unfolding::prefix::{Code, Line, Net, Next, Prefix, PrefixEvent, Transition};

use crate::random_models::Rng;

/// An operation of a process on one line or two.
#[derive(Clone, Debug)]
enum Op {
    /// Goes to one of two places, depending on whether all codes are 0.
    Read(Vec<Line>, [Code; 2]),
    /// Sets the codes.
    Write(Vec<Line>, Code, Code),
    /// Waits for a code, and replaces it.
    Wait(Line, Code, Code, Code),
    /// Goes to one of two places.
    Choose([Code; 2]),
}

/// A place to go to, and changed codes.
type Made = (Code, Vec<(Line, Code)>);

/// A net of processes, which come after the objects. Each is at one of its operations, or has ended.
#[derive(Debug)]
struct Toy {
    objects: Line,
    codes: Code,
    processes: Vec<Vec<Op>>,
    transitions: Vec<Transition>,
    first: HashMap<(Line, Code), Next>,
    seen: HashMap<(u32, Code), Next>,
    looks: Vec<Line>,
}

impl Toy {
    fn random(rng: &mut Rng) -> Toy {
        let (objects, codes) = (1 + rng.below(2) as Line, 2);
        let count = 2 + rng.below(2);
        let processes = (0..count).map(|_| {
            let length = 1 + rng.below(3) as Code;
            let to = |rng: &mut Rng, at: Code| match rng.below(5) {
                0 => rng.below(length as usize + 1) as Code,
                _ => at + 1,
            };
            (0..length)
                .map(|at| {
                    let line = rng.below(objects as usize) as Line;
                    let code = rng.below(codes) as Code;
                    let some = |rng: &mut Rng| match rng.below(3) {
                        0 => (0..objects).collect(),
                        _ => vec![line],
                    };
                    match rng.below(6) {
                        0 | 1 => Op::Read(some(rng), [to(rng, at), to(rng, at)]),
                        2 | 3 => Op::Write(some(rng), code, to(rng, at)),
                        4 => Op::Wait(line, code, rng.below(codes) as Code, to(rng, at)),
                        _ => Op::Choose([to(rng, at), to(rng, at)]),
                    }
                })
                .collect()
        });
        Toy::of(objects, codes, processes.collect())
    }

    /// Processes that write and read one after the other.
    fn straight(rng: &mut Rng) -> Toy {
        let objects = 2 + rng.below(2) as Line;
        let processes = (0..2 + rng.below(2)).map(|_| {
            let op = |at: Code| {
                let line = rng.below(objects as usize) as Line;
                let on = if rng.below(5) == 0 { vec![0, 1] } else { vec![line] };
                match rng.below(2) {
                    0 => Op::Read(on, [at + 1; 2]),
                    _ => Op::Write(on, 1, at + 1),
                }
            };
            (0..3).map(op).collect()
        });
        Toy::of(objects, 2, processes.collect())
    }

    fn of(objects: Line, codes: usize, processes: Vec<Vec<Op>>) -> Toy {
        let mut toy = Toy {
            objects,
            codes: codes as Code,
            processes,
            transitions: Vec::new(),
            first: HashMap::new(),
            seen: HashMap::new(),
            looks: Vec::new(),
        };
        toy.compile();
        toy
    }

    fn compile(&mut self) {
        for (number, ops) in self.processes.clone().into_iter().enumerate() {
            let line = self.objects + number as Line;
            self.first.insert((line, ops.len() as Code), Next::Transitions(0, 0));
            for (at, op) in ops.into_iter().enumerate() {
                let next = match op {
                    Op::Choose(to) => self.add(line, to.map(|to| (to, Vec::new())).to_vec()),
                    Op::Read(on, to) => self.look(line, &on, &[], &|codes| {
                        let is_set = codes.iter().any(|&code| code != 0);
                        vec![(to[usize::from(is_set)], Vec::new())]
                    }),
                    Op::Write(on, value, to) => self.look(line, &on, &[], &|codes| {
                        let all = on.iter().zip(codes);
                        let changed = all.filter(|&(_, &code)| code != value);
                        vec![(to, changed.map(|(&on, _)| (on, value)).collect())]
                    }),
                    Op::Wait(on, wanted, value, to) => self.look(line, &[on], &[], &|codes| {
                        let change = (codes[0] != value).then_some((on, value));
                        let is_there = codes[0] == wanted;
                        is_there.then(|| (to, change.into_iter().collect())).into_iter().collect()
                    }),
                };
                self.first.insert((line, at as Code), next);
            }
        }
    }

    fn add(&mut self, line: Line, all: Vec<Made>) -> Next {
        let from = self.transitions.len() as u32;
        for (own, changes) in all {
            let changes = changes.into_iter().collect();
            self.transitions.push(Transition { line, own, changes });
        }
        Next::Transitions(from, self.transitions.len() as u32)
    }

    /// A process that has seen these codes looks at the other lines.
    fn look(
        &mut self,
        line: Line,
        on: &[Line],
        seen: &[Code],
        made: &dyn Fn(&[Code]) -> Vec<Made>,
    ) -> Next {
        let Some(&next) = on.get(seen.len()) else { return self.add(line, made(seen)) };
        let look = self.looks.len() as u32;
        self.looks.push(next);
        for code in 0..self.codes {
            let next = self.look(line, on, &[seen, &[code]].concat(), made);
            self.seen.insert((look, code), next);
        }
        Next::Look(look)
    }

    fn lines(&self) -> Line {
        self.objects + self.processes.len() as Line
    }

    /// The transitions that are enabled in a state, each with the lines that it looks at.
    fn enabled(&self, state: &[Code]) -> Vec<(u32, Vec<Line>)> {
        let mut all = Vec::new();
        for line in self.movers() {
            let mut seen = vec![line];
            let mut next = self.first[&(line, state[line as usize])];
            while let Next::Look(look) = next {
                let on = self.looks[look as usize];
                seen.push(on);
                next = self.seen[&(look, state[on as usize])];
            }
            let Next::Transitions(from, to) = next else { unreachable!("no branches") };
            all.extend((from..to).map(|made| (made, seen.clone())));
        }
        all
    }

    fn after(&self, state: &[Code], made: u32) -> Vec<Code> {
        let mut state = state.to_vec();
        let Transition { line, own, changes, .. } = &self.transitions[made as usize];
        state[*line as usize] = *own;
        changes.iter().for_each(|&(line, code)| state[line as usize] = code);
        state
    }

    /// The lines that a transition changes, its own first.
    fn changed(&self, made: u32) -> Vec<Line> {
        let Transition { line, changes, .. } = &self.transitions[made as usize];
        std::iter::once(*line).chain(changes.iter().map(|&(line, _)| line)).collect()
    }
}

impl Net for Toy {
    fn start(&self, _: Line) -> Code {
        0
    }

    fn movers(&self) -> Range<Line> {
        self.objects..self.lines()
    }

    fn is_process(&self, line: Line) -> bool {
        self.movers().contains(&line)
    }

    fn first(&self, line: Line, code: Code) -> Option<Next> {
        self.first.get(&(line, code)).copied()
    }

    fn seen(&self, look: u32, code: Code) -> Option<Next> {
        self.seen.get(&(look, code)).copied()
    }

    fn looks_at(&self, look: u32) -> Line {
        self.looks[look as usize]
    }

    fn part(&self, _: u32) -> Option<Next> {
        None
    }

    fn transition(&self, number: u32) -> &Transition {
        &self.transitions[number as usize]
    }

    fn learn(&mut self, line: Line, _: &[u32]) {
        panic!("all is known of {line}");
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

/// A set of events, in an order in which they can happen.
type Configuration = Vec<PrefixEvent>;

/// A prefix, and what the definitions say about it.
struct Judge<'j> {
    toy: &'j Toy,
    prefix: &'j Prefix,
    /// The past of each event, itself not included; and its level.
    pasts: Vec<BTreeSet<PrefixEvent>>,
    levels: Vec<u32>,
    /// The place of each transition in the order of their first events.
    letters: HashMap<u32, u32>,
    /// The lines that each transition looks at.
    seen: HashMap<u32, Vec<Line>>,
}

/// Letters of transitions, such as those of a level.
type Word = Vec<u32>;
/// The size, the letters, and the levels, each with its size.
type Key = (usize, Word, Vec<(usize, Word)>);

/// Nets with more configurations are skipped.
const MOST: usize = 3_000;

impl<'j> Judge<'j> {
    fn new(toy: &'j Toy, prefix: &'j Prefix) -> Self {
        let (mut pasts, mut levels) = (vec![BTreeSet::new()], vec![0]);
        for event in prefix.events() {
            let causes: BTreeSet<PrefixEvent> = prefix.causes(event).filter(|&e| e != 0).collect();
            let mut past = causes.clone();
            causes.iter().for_each(|&cause| past.extend(&pasts[cause as usize]));
            levels.push(1 + causes.iter().map(|&cause| levels[cause as usize]).max().unwrap_or(0));
            pasts.push(past);
        }
        let mut letters = HashMap::new();
        for event in prefix.events() {
            let next = letters.len() as u32;
            letters.entry(prefix.event(event).transition).or_insert(next);
        }
        Judge { toy, prefix, pasts, levels, letters, seen: HashMap::new() }
    }

    fn made(&self, event: PrefixEvent) -> u32 {
        self.prefix.event(event).transition
    }

    fn state(&self, events: impl IntoIterator<Item = PrefixEvent>) -> Vec<Code> {
        let start = vec![0; self.toy.lines() as usize];
        events.into_iter().fold(start, |state, event| self.toy.after(&state, self.made(event)))
    }

    fn local(&self, event: PrefixEvent) -> Vec<Code> {
        let events = self.pasts[event as usize].iter().copied().chain([event]);
        self.state(events.filter(|&event| event != 0))
    }

    /// The events of a configuration that a transition comes after: those that it depends on, and their pasts.
    fn past(&self, c: &[PrefixEvent], made: u32, seen: &[Line]) -> BTreeSet<PrefixEvent> {
        let changed = self.toy.changed(made);
        let meet = |one: &[Line], other: &[Line]| one.iter().any(|line| other.contains(line));
        let mut past = BTreeSet::new();
        for &event in c {
            let before = self.made(event);
            if meet(&self.toy.changed(before), seen) || meet(&self.seen[&before], &changed) {
                past.insert(event);
                past.extend(&self.pasts[event as usize]);
            }
        }
        past
    }

    /// Goes through all configurations without cutoffs. Each transition that is enabled after one must have an event in
    /// the prefix, and there must be no others. Returns the states; `None` if there are too many configurations.
    fn states(&mut self) -> Option<BTreeSet<Vec<Code>>> {
        let mut of: HashMap<(u32, BTreeSet<PrefixEvent>), PrefixEvent> = HashMap::new();
        for event in self.prefix.events() {
            let key = (self.made(event), self.pasts[event as usize].clone());
            assert_eq!(of.insert(key, event), None, "an event is in the prefix twice");
        }
        let (mut states, mut met) = (BTreeSet::new(), BTreeSet::new());
        let mut known: BTreeSet<Configuration> = BTreeSet::from([Vec::new()]);
        let mut open: Vec<Configuration> = vec![Vec::new()];
        while let Some(c) = open.pop() {
            let state = self.state(c.iter().copied());
            for (made, seen) in self.toy.enabled(&state) {
                self.seen.insert(made, seen.clone());
                let past = self.past(&c, made, &seen);
                let event = of.get(&(made, past));
                let &event = event.unwrap_or_else(|| panic!("{made} is missing after {c:?}"));
                met.insert(event);
                if self.prefix.cutoff_of(event).is_none() {
                    let mut more = c.clone();
                    more.push(event);
                    more.sort_unstable();
                    if known.insert(more.clone()) {
                        open.push(more);
                    }
                }
            }
            states.insert(state);
            if known.len() > MOST {
                return None;
            }
        }
        assert_eq!(met.len(), self.prefix.events().len(), "events that are not enabled anywhere");
        Some(states)
    }

    /// Are these events a configuration? All causes of each are among them.
    fn is_configuration(&self, events: &BTreeSet<PrefixEvent>) -> bool {
        let events: Vec<PrefixEvent> = events.iter().copied().collect();
        (0..events.len()).all(|at| {
            let made = self.made(events[at]);
            let state = self.state(events[..at].iter().copied());
            let is_enabled = self.toy.enabled(&state).iter().any(|&(enabled, _)| enabled == made);
            let past = self.past(&events[..at], made, &self.seen[&made]);
            is_enabled && past == self.pasts[events[at] as usize]
        })
    }

    /// Immediate conflicts: the histories are one configuration, also with either event, but not with both.
    fn judge_conflicts(&self) -> usize {
        let mut all: BTreeSet<(PrefixEvent, PrefixEvent)> = BTreeSet::new();
        for event in self.prefix.events() {
            let rivals = self.prefix.immediate_conflicts(event).into_iter();
            all.extend(rivals.flat_map(|rival| [(event, rival), (rival, event)]));
        }
        for event in self.prefix.events() {
            let found: BTreeSet<PrefixEvent> =
                all.iter().filter(|pair| pair.0 == event).map(|pair| pair.1).collect();
            let is_rival = |&other: &PrefixEvent| {
                let (one, two) = (&self.pasts[event as usize], &self.pasts[other as usize]);
                let histories: BTreeSet<PrefixEvent> = one.union(two).copied().collect();
                let with = |more: &[PrefixEvent]| {
                    let all = histories.iter().chain(more).copied().collect();
                    self.is_configuration(&all)
                };
                !histories.contains(&event)
                    && !histories.contains(&other)
                    && with(&[event])
                    && with(&[other])
                    && !with(&[event, other])
            };
            let expected = self.prefix.events().filter(|other| *other != event).filter(is_rival);
            assert_eq!(found, expected.collect(), "rivals of {event} in {:?}", self.toy);
        }
        all.len()
    }

    /// The order of local configurations, from its definition.
    fn key(&self, event: PrefixEvent) -> Key {
        let events: Vec<PrefixEvent> =
            self.pasts[event as usize].iter().copied().chain([event]).collect();
        let letter = |event| self.letters[&self.made(event)];
        let mut letters: Word = events.iter().map(|&event| letter(event)).collect();
        letters.sort_unstable();
        let mut levels: BTreeMap<u32, Word> = BTreeMap::new();
        for &event in &events {
            levels.entry(self.levels[event as usize]).or_default().push(letter(event));
        }
        let mut words: Vec<Word> = levels.into_values().collect();
        words.iter_mut().for_each(|word| word.sort_unstable());
        let words = words.into_iter().map(|word| (word.len(), word)).collect();
        (events.len(), letters, words)
    }

    /// A cutoff has the state of a smaller event; other events have states of their own.
    fn judge_cutoffs(&self) -> usize {
        let mut known: BTreeMap<Vec<Code>, PrefixEvent> = BTreeMap::from([(self.local(0), 0)]);
        for event in self.prefix.events() {
            match self.prefix.cutoff_of(event) {
                Some(0) => assert_eq!(self.local(event), self.local(0)),
                Some(of) => {
                    assert_eq!(self.local(event), self.local(of));
                    assert!(self.key(of) < self.key(event), "{of} and {event}");
                }
                None => assert_eq!(known.insert(self.local(event), event), None, "{event}"),
            }
        }
        self.prefix.events().filter(|&event| self.prefix.cutoff_of(event).is_some()).count()
    }
}

/// The states that can be reached.
fn reachable(toy: &Toy) -> BTreeSet<Vec<Code>> {
    let start = vec![0; toy.lines() as usize];
    let (mut known, mut open) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(state) = open.pop() {
        for (made, _) in toy.enabled(&state) {
            let next = toy.after(&state, made);
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    known
}

#[test]
fn prefixes_of_random_nets_are_those_of_the_definition() {
    let (mut judged, mut with_cutoffs, mut events, mut conflicts) = (0, 0, 0, 0);
    for seed in 0..3_000 {
        let mut toy = Toy::random(&mut Rng::new(seed));
        let mut added = Vec::new();
        let mut prefix = Prefix::new(&mut toy);
        while prefix.grow(&mut toy, &mut added, |_, _| true) {}
        let mut judge = Judge::new(&toy, &prefix);
        let Some(states) = judge.states() else { continue };
        assert_eq!(states, reachable(&toy), "{seed}: {toy:?}");
        judged += 1;
        with_cutoffs += usize::from(judge.judge_cutoffs() > 0);
        events += prefix.events().len();
        if prefix.events().len() <= 12 {
            conflicts += judge.judge_conflicts();
        }
    }
    println!("{judged} nets, {with_cutoffs} with cutoffs, {events} events, {conflicts} conflicts");
    assert!(judged > 2_000 && with_cutoffs > 1_000 && conflicts > 2_000);
}

/// The events with read arcs that were met: each is a transition with its past.
#[derive(Default)]
struct Strict {
    numbers: HashMap<(u32, BTreeSet<usize>), usize>,
    pasts: Vec<BTreeSet<usize>>,
}

impl Strict {
    /// The number of the event with these causes, which made what it looks at.
    fn event(&mut self, made: u32, causes: impl IntoIterator<Item = usize>) -> usize {
        let mut past = BTreeSet::new();
        for cause in causes {
            past.insert(cause);
            past.extend(&self.pasts[cause]);
        }
        let number = *self.numbers.entry((made, past.clone())).or_insert(self.pasts.len());
        if number == self.pasts.len() {
            self.pasts.push(past);
        }
        number
    }
}

/// A state, and for each line the event that has changed it last.
type Marking = (Vec<Code>, Vec<Option<usize>>);

/// The marking after a transition that looks at these lines, and its event.
fn fire(
    (toy, strict): (&Toy, &mut Strict),
    (state, last): &Marking,
    (made, seen): (u32, &[Line]),
) -> (Marking, usize) {
    let event = strict.event(made, seen.iter().filter_map(|&line| last[line as usize]));
    let mut last = last.clone();
    toy.changed(made).into_iter().for_each(|line| last[line as usize] = Some(event));
    ((toy.after(state, made), last), event)
}

/// Notes the sets of events of all executions after `happened`. Returns false if there are too many.
fn all_executions(
    (toy, strict): (&Toy, &mut Strict),
    here: &Marking,
    happened: &BTreeSet<usize>,
    found: &mut BTreeSet<BTreeSet<usize>>,
) -> bool {
    !found.insert(happened.clone())
        || found.len() <= MOST
            && toy.enabled(&here.0).into_iter().all(|(made, seen)| {
                let (there, event) = fire((toy, strict), here, (made, &seen));
                let mut happened = happened.clone();
                happened.insert(event);
                all_executions((toy, strict), &there, &happened, found)
            })
}

/// The sets of events of a prefix that contain the causes of each, can be arranged, and replace each condition once.
/// `names` are the numbers of its events. Each set must be an execution in the order in which it is arranged.
fn arranged(
    (toy, strict): (&Toy, &mut Strict),
    prefix: &Prefix,
    names: &[usize],
    start: &Marking,
    cycles: &mut usize,
) -> BTreeSet<BTreeSet<usize>> {
    let mut found: BTreeSet<Vec<PrefixEvent>> = BTreeSet::from([Vec::new()]);
    let mut open: Vec<Vec<PrefixEvent>> = vec![Vec::new()];
    while let Some(c) = open.pop() {
        for event in prefix.events().filter(|event| !c.contains(event)) {
            let mut more = c.clone();
            more.push(event);
            more.sort_unstable();
            let is_closed = prefix.causes(event).all(|cause| cause == 0 || c.contains(&cause));
            let mut consumed: Vec<_> = more.iter().flat_map(|&one| prefix.consumed(one)).collect();
            consumed.sort_unstable();
            let is_once = consumed.windows(2).all(|two| two[0] != two[1]);
            let Some(order) = (is_closed && is_once).then(|| prefix.arrange(&more)) else {
                continue;
            };
            *cycles += usize::from(order.is_err());
            let Ok(order) = order else { continue };
            let mut here = start.clone();
            for event in order {
                let made = prefix.event(event).transition;
                let enabled = toy.enabled(&here.0);
                let seen = enabled.iter().find(|(enabled, _)| *enabled == made);
                let (_, seen) = seen.unwrap_or_else(|| panic!("{event} of {more:?} in {toy:?}"));
                let (there, name) = fire((toy, strict), &here, (made, seen));
                assert_eq!(name, names[event as usize], "{event} of {more:?} in {toy:?}");
                here = there;
            }
            if found.insert(more.clone()) {
                open.push(more);
            }
        }
    }
    found.into_iter().map(|c| c.into_iter().map(|event| names[event as usize]).collect()).collect()
}

#[test]
fn unfoldings_with_read_arcs_are_those_of_the_definition() {
    let (mut judged, mut fewer, mut cycles, mut whole) = (0, 0, 0, 0);
    for seed in 0..6_000 {
        let mut toy = match seed % 2 {
            0 => Toy::random(&mut Rng::new(seed)),
            _ => Toy::straight(&mut Rng::new(seed)),
        };
        let mut added = Vec::new();
        let mut prefix = Prefix::new(&mut toy);
        prefix.with_read_arcs();
        let mut returns = false;
        while !returns && prefix.grow(&mut toy, &mut added, |_, _| true) {
            returns = added.drain(..).any(|event| prefix.returns(event));
        }
        let start = (vec![0; toy.lines() as usize], vec![None; toy.lines() as usize]);
        let (mut strict, mut expected) = (Strict::default(), BTreeSet::new());
        let happened = BTreeSet::new();
        if returns || !all_executions((&toy, &mut strict), &start, &happened, &mut expected) {
            continue;
        }
        let mut names: Vec<usize> = vec![usize::MAX];
        for event in prefix.events() {
            let causes: Vec<usize> = prefix
                .causes(event)
                .filter(|&cause| cause != 0)
                .map(|cause| names[cause as usize])
                .collect();
            names.push(strict.event(prefix.event(event).transition, causes));
        }
        let events: BTreeSet<usize> = names[1..].iter().copied().collect();
        assert_eq!(events.len(), prefix.events().len(), "{seed}: an event is there twice");
        let all: BTreeSet<usize> = expected.iter().flatten().copied().collect();
        assert_eq!(events, all, "{seed}: {toy:?}");
        judged += 1;
        if prefix.events().len() <= 20 {
            whole += 1;
            let found = arranged((&toy, &mut strict), &prefix, &names, &start, &mut cycles);
            assert_eq!(found, expected, "{seed}: {toy:?}");
        }
        let mut copies = Prefix::new(&mut toy);
        copies.without_cutoffs();
        while copies.grow(&mut toy, &mut added, |_, _| true) {}
        fewer += usize::from(prefix.events().len() < copies.events().len());
    }
    println!("{judged} nets, {whole} whole, {fewer} with fewer events, {cycles} sets with cycles");
    assert!(judged > 1_000 && whole > 500 && fewer > 500 && cycles > 100);
}
