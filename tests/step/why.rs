//! What `why` says in the states of walks at random, beside the definitions: who waits, who holds
//! a lock and since when, and who can end a wait. The last is judged by all that can still happen.

use std::collections::BTreeSet;

use mazurka::lang::Program;
use mazurka::model::{Locals, Op, ProcessId, Schedule, State, Status};
use mazurka::property::{Fact, FactKind, Position, Replay};

use super::{program, schedule, session, specs};
use crate::cli::stdout;

/// The most steps that are taken to see what can still happen.
const MOST_STEPS: usize = 250;

/// What `why` says about a process that waits.
#[derive(Debug, Default)]
struct Entry {
    name: String,
    /// What it waits for, and who could help.
    words: String,
    /// Processes, the locks that they hold, and since which step.
    held: Vec<(String, String, usize)>,
    is_hopeless: bool,
    /// It can move, but only round a loop that waits.
    spins: bool,
}

fn entries(text: &str) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("  ") {
            None => {
                let (name, words) = line.split_once(" waits").unwrap_or_else(|| panic!("{line}"));
                let (_, words) = words.split_once("for ").unwrap();
                all.push(Entry { name: name.into(), words: words.into(), ..Entry::default() });
            }
            Some("No process waits.") => {}
            Some(more) => {
                let entry = all.last_mut().unwrap();
                entry.is_hopeless |= more.starts_with("Nobody can help: ");
                entry.spins |= more.starts_with("It goes round its loop: ");
                entry.words += more;
                if let Some((who, since)) = more.split_once(" since step ") {
                    let (holder, object) = who.split_once(" holds ").unwrap();
                    let since = since.trim_end_matches('.').parse().unwrap();
                    entry.held.push((holder.into(), object.into(), since));
                }
            }
        }
    }
    all
}

fn facts(program: &Program, schedule: &Schedule) -> Vec<Fact> {
    let mut replay = Replay::new(program);
    replay.follow(schedule).unwrap();
    replay.facts()
}

/// Does a process hold a lock in this state? The facts tell its queue, with the holders in front.
fn holds(facts: &[Fact], (holder, object): (&str, &str)) -> bool {
    let name = format!("queue of {object}");
    let queue = facts.iter().find(|fact| fact.kind == FactKind::Mutex && fact.name == name);
    let mut items = queue.unwrap_or_else(|| panic!("no {name}")).value.split(", ");
    let is_rwlock = |item: &str| item.starts_with("reader ") || item.starts_with("writer ");
    let first = items.clone().next().unwrap();
    match is_rwlock(first) {
        true => items.any(|item| item.split_once(' ').unwrap().1 == holder),
        false => first == holder,
    }
}

/// The processes that wait, by name: those of which no action is enabled, nor any of the network
/// for them, and which have not ended; actors only if they have messages.
fn waiting(program: &Program, schedule: &Schedule) -> BTreeSet<String> {
    let mut replay = Replay::new(program);
    replay.follow(schedule).unwrap();
    let (state, locals) = (replay.state(), replay.locals());
    let at = Position::new(locals, state);
    let movers = replay.enabled().into_iter().map(|action| at.name(action.process));
    let movers: BTreeSet<_> = movers.collect();
    let idle =
        replay.facts().into_iter().filter(|f| f.kind == FactKind::Inbox && f.value == "none");
    let idle: BTreeSet<_> = idle.filter_map(|fact| fact.process).collect();
    let waits = |&process: &ProcessId| match at.status(process) {
        Status::At(Op::Handle { .. }) => !idle.contains(&process),
        Status::At(_) => true,
        _ => false,
    };
    let waiting = at.processes().filter(waits).map(|process| at.name(process));
    waiting.filter(|name| !movers.contains(name)).collect()
}

/// What the objects hold.
fn objects(replay: &Replay<'_, Program>) -> Vec<Fact> {
    replay.facts().into_iter().filter(|fact| fact.process.is_none()).collect()
}

/// Can only processes move that wait in loops, and change nothing?
fn only_spins(program: &Program, schedule: &Schedule) -> bool {
    let mut replay = Replay::new(program);
    replay.follow(schedule).unwrap();
    let before = objects(&replay);
    (0..50).all(|round| {
        // A loop of polls ends at their bound.
        let enabled = replay.enabled();
        let Some(&action) = enabled.get(round % enabled.len().max(1)) else { return true };
        replay.step(action).unwrap();
        before == objects(&replay)
    })
}

/// Walks through what can happen until a process can move: the processes that let it move, and
/// whether they exist now.
struct Ahead<'a, 's> {
    locals: Locals<'s, Program>,
    state: State,
    process: ProcessId,
    steps: usize,
    found: &'a mut BTreeSet<(String, bool)>,
    known: BTreeSet<ProcessId>,
}

impl Ahead<'_, '_> {
    fn look(&mut self) {
        let mut enabled = Vec::new();
        self.state.enabled(&self.locals, &mut enabled);
        for action in enabled {
            if self.steps == MOST_STEPS {
                return;
            }
            self.steps += 1;
            let name = Position::new(&self.locals, &self.state).name(action.process);
            self.state.step(&mut self.locals, action);
            match self.state.can_move(&self.locals, self.process) {
                true => _ = self.found.insert((name, self.known.contains(&action.process))),
                false => self.look(),
            }
            self.state.undo(&self.locals);
        }
    }
}

/// The processes whose steps let this one move, as far as that is seen.
fn helpers(program: &Program, begun: &Schedule, name: &str) -> BTreeSet<(String, bool)> {
    let mut locals = Locals::new(program);
    let state = begun.replay(&mut locals).unwrap();
    let at = Position::new(&locals, &state);
    let process = at.processes().find(|&process| at.name(process) == name).unwrap();
    let known = state.processes().collect();
    let mut found = BTreeSet::new();
    Ahead { locals, state, process, steps: 0, found: &mut found, known }.look();
    found
}

#[derive(Default)]
struct Seen {
    waits: usize,
    held: usize,
    helped: usize,
    hopeless: usize,
}

/// Compares what `why` says after each step of a walk.
fn compare(path: &std::path::Path, seed: &str, seen: &mut Seen) {
    let spec = path.to_str().unwrap();
    let mut commands = vec!["why"];
    commands.extend(["run 1", "why"].repeat(14));
    commands.push("trace");
    let all = session(&[spec, "--seed", seed], &commands);
    let program = program(path);
    let whole = schedule(&all.last().unwrap().text);
    let mut before = None;
    let told = all.iter().filter(|told| told.command == "why");
    for told in told {
        if before.replace(told.position) == Some(told.position) {
            break;
        }
        let begun: Schedule = whole.iter().copied().take(told.position).collect();
        let names = waiting(&program, &begun);
        let (spinning, entries): (Vec<_>, Vec<_>) =
            entries(&told.text).into_iter().partition(|entry| entry.spins);
        assert!(spinning.is_empty() || only_spins(&program, &begun), "{spec} {begun}");
        // Of spawned processes several may have one name.
        if entries.iter().any(|entry| entry.name.contains('#')) {
            continue;
        }
        let told_names: BTreeSet<_> = entries.iter().map(|entry| entry.name.clone()).collect();
        assert_eq!(told_names, names, "{spec} after {begun}: {}", told.text);
        for entry in entries {
            seen.waits += 1;
            for (holder, object, since) in &entry.held {
                let held_after = |steps: usize| {
                    let part = begun.iter().copied().take(steps).collect();
                    holds(&facts(&program, &part), (holder, object))
                };
                let is_held = (*since..=begun.len()).all(held_after) && !held_after(since - 1);
                assert!(is_held, "{spec} after {begun}: {entry:?}");
                seen.held += 1;
            }
            let found = helpers(&program, &begun, &entry.name);
            assert!(!entry.is_hopeless || found.is_empty(), "{spec} {begun}: {entry:?} {found:?}");
            seen.hopeless += usize::from(entry.is_hopeless);
            let is_open = ["until nothing else can move", "a state in which", " processes."];
            if is_open.iter().any(|words| entry.words.contains(words)) {
                continue;
            }
            for (name, is_known) in found {
                let is_named = entry.words.contains(&name) || name == entry.name;
                assert!(is_named || !is_known, "{spec} {begun}: {entry:?}, and {name} helps");
                seen.helped += 1;
            }
        }
    }
}

fn compared(all: bool) -> Seen {
    let mut seen = Seen::default();
    for path in specs(all) {
        compare(&path, "3", &mut seen);
    }
    seen
}

#[test]
fn reasons_hold() {
    let Seen { waits, held, helped, .. } = compared(false);
    let figures = format!("{waits} waits, {held} locks, {helped} helpers");
    assert!(waits > 60 && held > 8 && helped > 50, "{figures}");
}

#[test]
#[ignore = "slow"]
fn reasons_hold_at_length() {
    let Seen { waits, held, helped, hopeless } = compared(true);
    let figures = format!("{waits} waits, {held} locks, {helped} helpers, {hopeless} hopeless");
    assert!(waits > 1000 && held > 300 && helped > 900 && hopeless > 25, "{figures}");
}

const SPAWNS: &str = "
    barrier b(3); semaphore s = 0; mutex m; rwlock l; condvar c;
    process T() { barrier(b); }
    process Arrives { barrier(b); }
    process Spawns { local(\"a\"); spawn T(); spawn T(); acquire(s); }
    process Locks { lock(m); local(\"a\"); unlock(m); acquire(s); }
    process Waits { lock(m); unlock(m); }
    process Reads { read_lock(l); local(\"a\"); }
    process Writes { write_lock(l); unlock(l); }";

/// In these places a wait could be called hopeless too early, or is.
#[test]
fn only_what_nobody_can_end_is_called_hopeless() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("spawns.maz");
    std::fs::write(&spec, SPAWNS).unwrap();
    let mut seen = Seen::default();
    for seed in 0..8 {
        compare(&spec, &seed.to_string(), &mut seen);
    }
    assert!(seen.held > 12 && seen.hopeless > 6, "{} {}", seen.held, seen.hopeless);
    let output =
        super::run_session(&[spec.to_str().unwrap()], &["Arrives", "why Arrives", "why s"]);
    let text = stdout(&output);
    assert!(text.contains("1 of 3 have arrived"), "{text}");
    assert!(!text.contains("are missing and only"), "{text}");
}
