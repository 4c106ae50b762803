//! `.mci` files, read back by a reader of their own: they say what the JSON says, and they are complete prefixes of the
//! nets that they describe.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mazurka::explore::{Budget, finite_prefix};
use mazurka::lang::compile;
use mazurka::report::mci;
use mazurka::report::picture::{CutoffOf, PartialOrder};

use crate::cli::{code, run, stderr};
use crate::draw::subject;
use crate::tidy::specs_without_demands;

/// The contents of a file. All numbers are from 1, as in the file.
#[derive(Debug, PartialEq, Eq)]
struct Unfolding {
    transition_of: Vec<usize>,
    conditions: Vec<Condition>,
    cutoffs: BTreeMap<usize, usize>,
    places: Vec<String>,
    transitions: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Condition {
    place: usize,
    before: usize,
    after: Vec<usize>,
}

/// The rest of a file.
struct Reader<'f>(&'f [u8]);

impl Reader<'_> {
    fn number(&mut self) -> usize {
        let (number, rest) = self.0.split_first_chunk::<4>().expect("four bytes");
        self.0 = rest;
        u32::from_le_bytes(*number) as usize
    }

    /// Numbers up to a zero.
    fn list(&mut self) -> Vec<usize> {
        std::iter::from_fn(|| Some(self.number()).filter(|&number| number != 0)).collect()
    }

    fn name(&mut self) -> String {
        let end = self.0.iter().position(|&byte| byte == 0).expect("a zero byte");
        let name = String::from_utf8(self.0[..end].to_vec()).expect("UTF-8");
        self.0 = &self.0[end + 1..];
        name
    }
}

fn read(file: &[u8]) -> Unfolding {
    let mut from = Reader(file);
    let (conditions, events) = (from.number(), from.number());
    let transition_of = (0..events).map(|_| from.number()).collect();
    let conditions = (0..conditions)
        .map(|_| Condition { place: from.number(), before: from.number(), after: from.list() })
        .collect();
    let mut cutoffs = BTreeMap::new();
    loop {
        match from.number() {
            0 => break,
            cutoff => assert_eq!(cutoffs.insert(cutoff, from.number()), None),
        }
    }
    assert!(from.list().is_empty(), "configurations");
    let (places, transitions, longest) = (from.number(), from.number(), from.number());
    let mut names = |count| -> Vec<String> {
        let names = (0..count).map(|_| from.name()).collect();
        assert_eq!(from.name(), "");
        names
    };
    let (places, transitions) = (names(places), names(transitions));
    assert!(from.0.is_empty(), "{} bytes more", from.0.len());
    let all = places.iter().chain(&transitions);
    assert_eq!(all.clone().map(String::len).max(), Some(longest));
    assert_eq!(all.clone().count(), all.collect::<BTreeSet<_>>().len(), "names occur once");
    Unfolding { transition_of, conditions, cutoffs, places, transitions }
}

type Set = BTreeSet<usize>;

impl Unfolding {
    fn events(&self) -> std::ops::RangeInclusive<usize> {
        1..=self.transition_of.len()
    }

    /// The conditions that an event takes, those that it makes, and those at the start for event 0.
    fn taken(&self, event: usize) -> Set {
        let all = (0..).zip(&self.conditions);
        all.filter(|(_, condition)| condition.after.contains(&event)).map(|(at, _)| at).collect()
    }

    fn made(&self, event: usize) -> Set {
        let all = (0..).zip(&self.conditions);
        all.filter(|(_, condition)| condition.before == event).map(|(at, _)| at).collect()
    }

    /// The past of each event with itself; that of 0 is empty.
    fn pasts(&self) -> Vec<Set> {
        let mut pasts = vec![Set::new()];
        for event in self.events() {
            let before = self.taken(event).into_iter().map(|at| self.conditions[at].before);
            let mut past: Set = before.flat_map(|cause| pasts[cause].clone()).collect();
            assert!(past.iter().all(|&cause| cause < event), "causes come first");
            past.insert(event);
            pasts.push(past);
        }
        pasts
    }

    /// The places of a cut. The net is safe: there are no two conditions of one place.
    fn marking(&self, cut: &Set) -> Set {
        let marking: Set = cut.iter().map(|&at| self.conditions[at].place).collect();
        assert_eq!(marking.len(), cut.len(), "two conditions of a place");
        marking
    }

    /// The cut after these events.
    fn cut(&self, events: &Set) -> Set {
        let made = events.iter().chain([&0]).flat_map(|&event| self.made(event));
        made.filter(|&at| !self.conditions[at].after.iter().any(|e| events.contains(e))).collect()
    }
}

/// What the picture says, and what the file says.
fn says_the_same(file: &Unfolding, order: &PartialOrder) {
    assert_eq!(file.transition_of.len(), order.events.len());
    let pasts = file.pasts();
    for event in &order.events {
        let number = event.id + 1;
        let name = &file.transitions[file.transition_of[event.id] - 1];
        let expected = format!("{}: {}", order.lanes[event.lane], event.label);
        assert!(name.starts_with(&expected), "{name} is not {expected}");
        let of = event.cutoff_of.map(|of| match of {
            CutoffOf::Start => 0,
            CutoffOf::Event(of) => of + 1,
        });
        assert_eq!(file.cutoffs.get(&number).copied(), of);
        let below: Set = pasts[number].iter().copied().filter(|&one| one != number).collect();
        let is_direct =
            |&one: &usize| !below.iter().any(|&other| other != one && pasts[other].contains(&one));
        let direct: Vec<usize> = below.iter().copied().filter(is_direct).map(|e| e - 1).collect();
        assert_eq!(direct, event.causes, "event {number}");
    }
    let clashes: BTreeSet<(usize, usize)> = file
        .conditions
        .iter()
        .flat_map(|Condition { after, .. }| {
            after.iter().flat_map(|&one| after.iter().map(move |&other| (one, other)))
        })
        .filter(|(one, other)| one != other)
        .collect();
    let is_immediate = |&&(one, other): &&(usize, usize)| {
        let pairs = pasts[one].iter().flat_map(|&e| pasts[other].iter().map(move |&f| (e, f)));
        one < other && pairs.filter(|pair| clashes.contains(pair)).count() == 1
    };
    let immediate = clashes.iter().filter(is_immediate);
    let immediate: Vec<(usize, usize)> = immediate.map(|&(e, f)| (e - 1, f - 1)).collect();
    assert_eq!(immediate, order.conflicts);
}

/// Nets with more cuts are skipped.
const MOST: usize = 2_000;

/// The file is a complete prefix: a transition of the net is enabled in the marking of a cut if and only if one of its
/// events can come next; and cutoffs lead to where their events lead. Returns the number of markings.
fn is_complete(file: &Unfolding) -> Option<usize> {
    let (pasts, sides) = (file.pasts(), |side: &Set| file.marking(side));
    let taken: Vec<Set> = file.events().map(|event| file.taken(event)).collect();
    let mut transitions: BTreeMap<usize, (Set, Set)> = BTreeMap::new();
    for event in file.events() {
        let arcs = (sides(&taken[event - 1]), sides(&file.made(event)));
        let known = transitions.entry(file.transition_of[event - 1]).or_insert(arcs.clone());
        assert_eq!(*known, arcs, "a transition has the same arcs everywhere");
    }
    for (&cutoff, &of) in &file.cutoffs {
        let after = |event: usize| file.marking(&file.cut(&pasts[event]));
        assert_eq!(after(cutoff), after(of), "cutoff {cutoff} of {of}");
    }
    let start = file.cut(&Set::new());
    let (mut known, mut open) = (BTreeSet::from([start.clone()]), vec![start]);
    let mut markings = BTreeSet::new();
    while let Some(cut) = open.pop() {
        let marking = file.marking(&cut);
        let enabled: Set = transitions
            .iter()
            .filter(|(_, (before, _))| before.is_subset(&marking))
            .map(|(&transition, _)| transition)
            .collect();
        let next: Set = file.events().filter(|&event| taken[event - 1].is_subset(&cut)).collect();
        let found: Vec<usize> = next.iter().map(|&e| file.transition_of[e - 1]).collect();
        assert_eq!(found.len(), next.len());
        assert_eq!(found.into_iter().collect::<Set>(), enabled);
        for event in next.into_iter().filter(|event| !file.cutoffs.contains_key(event)) {
            let rest = cut.difference(&taken[event - 1]).copied();
            let after: Set = rest.chain(file.made(event)).collect();
            if known.insert(after.clone()) {
                open.push(after);
            }
        }
        markings.insert(marking);
        if known.len() > MOST {
            return None;
        }
    }
    // The markings of the net itself, without its unfolding.
    let start = file.marking(&file.cut(&Set::new()));
    let (mut reached, mut open) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(marking) = open.pop() {
        for (before, after) in transitions.values().filter(|(b, _)| b.is_subset(&marking)) {
            let next: Set = marking.difference(before).chain(after).copied().collect();
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    assert_eq!(markings, reached);
    Some(reached.len())
}

#[test]
fn files_are_complete_prefixes_of_specs() {
    let (mut written, mut complete, mut with_reads) = (0, 0, 0);
    for path in specs_without_demands() {
        let text = fs::read_to_string(&path).expect("a readable spec");
        let program = compile("spec.maz", &text, &[]).expect("a valid spec");
        let Ok(prefix) = finite_prefix(&program, 150, Budget::default()) else { continue };
        if !prefix.is_whole {
            continue;
        }
        let file = read(&mci::render(&prefix));
        says_the_same(&file, &PartialOrder::of_prefix(subject(), &prefix));
        written += 1;
        complete += usize::from(is_complete(&file).is_some());
        with_reads += usize::from(file.places.iter().any(|place| place.contains(" for ")));
    }
    println!("{written} files, {complete} complete, {with_reads} with reads");
    assert!(complete > 40 && with_reads > 10, "{written} files, {complete} complete");
}

#[test]
fn a_file_of_the_command_line_is_the_same() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.mci", std::process::id()));
    let name = path.to_str().expect("a name in UTF-8");
    let draw = ["draw", "philosophers.maz", "--what", "prefix"];
    let output = run(&[&draw[..], &["-o", name]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let written = fs::read(&path).expect("a file");
    fs::remove_file(&path).expect("a file");
    let printed = run(&[&draw[..], &["--format", "mci"]].concat());
    assert_eq!(printed.stdout, written);
    let file = read(&written);
    assert!(file.places.contains(&"fork[0]=0".to_string()), "{:?}", file.places);
    assert_eq!(file.transitions[0], "Philosopher[0]: lock(fork[i])");
    let json = crate::cli::json(&run(&[&draw[..], &["--format", "json"]].concat()));
    let events = json["events"].as_array().expect("a list");
    assert_eq!(events.len(), file.transition_of.len());
    let cutoffs = events.iter().filter(|event| event.get("cutoff_of").is_some());
    assert_eq!(cutoffs.count(), file.cutoffs.len());
}

#[test]
fn a_part_of_a_prefix_is_not_written() {
    let draw = ["draw", "philosophers.maz", "--what", "prefix", "--format", "mci"];
    let output = run(&[&draw[..], &["--max-events", "5"]].concat());
    assert_eq!((code(&output), output.stdout.len()), (3, 0));
    assert!(stderr(&output).contains("cannot say that some are missing"), "{}", stderr(&output));
}
