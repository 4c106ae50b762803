//! Searches that are saved, stopped and resumed: first with the library, on random programs; then
//! the program, which is killed on the way.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mazurka::explore::{
    AnyExplorer, Budget, EveryState, Explorer, Keeper, Kept, Listed, NoObserver, Options, Outcome,
    Part, Saving, Splits, Stateful, StopReason, Verdict, Violation, explore, explore_saved, keep,
};
use mazurka::lang::compile;
use mazurka::model::System;
use serde_json::Value;

use crate::cli::{code, json, mazurka, run, stderr, stdout};
use crate::judge::is_refused;
use crate::random_models::{Rng, Sample, Subject, actors, processes};

/// The explorers whose searches of classes can be saved.
const OF_CLASSES: [&str; 8] =
    ["exhaustive", "sleep", "parsimonious", "udpor", "optimal", "source", "dpor", "transdpor"];

fn named(name: &str) -> AnyExplorer {
    Listed::named(name).expect("an explorer").with(&Options::default())
}

/// The part, written to a file and read again.
fn stored(part: &Part) -> Part {
    let text = serde_json::to_string(part).expect("parts can be written");
    serde_json::from_str(&text).expect("and read")
}

/// Searches by two threads, in small pieces. With `rng` the search is stopped at random, again and
/// again; after that only what was saved is known. Returns the result, and how often it was
/// stopped.
fn kept<S: Subject>(
    sample: &Sample<S>,
    explorer: AnyExplorer,
    budget: &Budget,
    mut rng: Option<&mut Rng>,
) -> (Outcome, u32) {
    let (two, grain) = (NonZeroU32::new(2).unwrap(), NonZeroU64::new(16).unwrap());
    let look = NonZeroU64::new(1 + sample.seed % 20).unwrap();
    let how = Kept { jobs: two, grain, look, steps: 40 };
    let (mut part, mut stops) = (Part::whole(), 0);
    loop {
        let budget = Budget { cancel: Default::default(), ..budget.clone() };
        let mut left = rng.as_mut().map_or(usize::MAX, |rng| rng.below(4));
        let mut saved = stored(&part);
        let mut save = |part: &Part| {
            if left > 0 {
                saved = stored(part);
            }
            left = left.saturating_sub(1);
            // What is done from here on is lost.
            budget.cancel.fetch_or(left == 0, Ordering::Relaxed);
        };
        let saving = Saving { interval: Duration::ZERO, save: &mut save };
        let search = (&sample.script, explorer);
        let outcome = keep(&mut part, search, how, &budget, saving, &mut NoObserver);
        let outcome = outcome.expect("its own branches");
        if !budget.cancel.load(Ordering::Relaxed) {
            assert!(part.left().next().is_none());
            return (outcome, stops);
        }
        (part, stops) = (saved, stops + 1);
        if part.left().next().is_none() {
            return (part.outcome(&budget), stops);
        }
        assert!(stops < 10_000, "it makes no progress");
    }
}

/// The violations without the executions that lead to them.
fn kinds(outcome: &Outcome) -> Vec<String> {
    let kind = |found: &Violation| format!("{:?} {:?}", found.kind, found.failure);
    let mut kinds: Vec<String> = outcome.violations.iter().map(kind).collect();
    kinds.sort();
    kinds
}

/// Returns how often the searches were stopped. `are_named`: whether violations have the same names
/// in all searches.
fn check<S: Subject>(sample: &Sample<S>, are_named: bool) -> u32 {
    let (mut rng, mut all_stops) = (Rng::new(sample.seed), 0);
    for explorer in OF_CLASSES.map(named).into_iter().filter(|e| !is_refused(&sample.script, *e)) {
        let what = format!("{explorer:?} on {}", sample.describe());
        for (all, shortest) in [(true, false), (false, false), (true, true)] {
            let budget = Budget { all, shortest, ..Budget::default() };
            let whole = explore(&sample.script, explorer, budget.clone(), &mut NoObserver);
            if whole.stats.transitions > 600 {
                continue;
            }
            let (resumed, stops) = kept(sample, explorer, &budget, Some(&mut rng));
            all_stops += stops;
            let is_exact = explorer.profile().splits == Splits::Exactly;
            let other = if is_exact { whole } else { kept(sample, explorer, &budget, None).0 };
            let ends_early = !all && !other.violations.is_empty();
            assert_eq!(resumed.stopped_by, other.stopped_by, "{what}");
            if explorer.profile().name == "parsimonious" {
                // Where it was split decides which executions come first.
                assert!(ends_early || resumed.stats == other.stats, "{what}");
                assert!(ends_early || kinds(&resumed) == kinds(&other), "{what}");
                assert_eq!(resumed.violations.is_empty(), other.violations.is_empty(), "{what}");
                continue;
            }
            assert_eq!(resumed.stats, other.stats, "{what}");
            assert_eq!(resumed.verdict(), other.verdict(), "{what}");
            assert!(!are_named || resumed.violations == other.violations, "{what}");
            assert!(!are_named || resumed.leaks == other.leaks, "{what}");
        }
    }
    all_stops
}

#[test]
fn a_resumed_search_is_one_that_was_not_stopped() {
    let stops: u32 = processes().iter().step_by(50).map(|sample| check(sample, true)).sum();
    assert!(stops > 50, "{stops}");
}

#[test]
fn so_is_one_of_actors() {
    let stops: u32 = actors().iter().step_by(80).map(|sample| check(sample, false)).sum();
    assert!(stops > 20, "{stops}");
}

/// Wherever `parsimonious` is split, its figures are the same. Not so the execution that it shows: the
/// first one with the violation.
#[test]
fn parsimonious_may_show_another_execution() {
    let text = "shared x: int = 0;
                process P[i in 0..4] { var before = fetch_add(x, 1); assert(i > 0 || before < 3); }";
    let program = compile("program.maz", text, &[]).expect("a program");
    let shown = |name: &str, grain: u64| {
        let grain = NonZeroU64::new(grain).unwrap();
        let how = Kept { grain, look: grain, ..Kept::by(NonZeroU32::MIN) };
        let (mut part, budget) = (Part::whole(), Budget { all: true, ..Budget::default() });
        let saving = Saving { interval: Duration::from_secs(60), save: &mut |_| {} };
        let search = (&program, named(name));
        let outcome = keep(&mut part, search, how, &budget, saving, &mut NoObserver).unwrap();
        assert_eq!((outcome.stats.traces, outcome.stats.violating_traces), (24, 6), "{grain}");
        outcome.violations[0].schedule.to_string()
    };
    let shown = |name| (1..40).map(|grain| shown(name, grain)).collect::<BTreeSet<_>>();
    assert_eq!(shown("sleep").len(), 1);
    assert!(shown("parsimonious").len() > 1);
}

#[test]
#[ignore = "slow"]
fn a_resumed_search_is_one_that_was_not_stopped_at_length() {
    processes().iter().step_by(5).for_each(|sample| _ = check(sample, true));
    actors().iter().step_by(5).for_each(|sample| _ = check(sample, false));
}

/// Saves the state of a search once, in memory, and then ends the search.
#[derive(Default)]
struct InMemory {
    /// The number of times that the search could have been saved before.
    left: usize,
    /// Where it begins, and what was saved.
    from: Vec<u8>,
    saved: Option<Vec<u8>>,
    end: Arc<AtomicBool>,
}

impl Keeper for InMemory {
    fn is_due(&mut self) -> bool {
        self.left = self.left.wrapping_sub(1);
        self.left == usize::MAX
    }

    fn save(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("enough memory");
        self.saved = Some(bytes);
        self.end.store(true, Ordering::Relaxed);
    }

    fn saved(&mut self) -> Option<Box<dyn Read + '_>> {
        (!self.from.is_empty()).then(|| Box::new(&self.from[..]) as Box<dyn Read>)
    }
}

/// A search that is stopped at random, again and again, and how often that was.
fn stopped<S: System>(
    system: &S,
    explorer: EveryState,
    budget: &Budget,
    rng: &mut Rng,
) -> (Outcome, u32) {
    let (mut from, mut stops) = (Vec::new(), 0);
    loop {
        let mut keeper = InMemory { left: rng.below(4), from, ..InMemory::default() };
        let budget = Budget { cancel: keeper.end.clone(), ..budget.clone() };
        let outcome = explore_saved(system, explorer, budget, &mut keeper, &mut NoObserver);
        match keeper.saved {
            None => return (outcome, stops),
            Some(saved) => (from, stops) = (saved, stops + 1),
        }
        assert!(stops < 10_000, "it makes no progress");
    }
}

/// An outcome with only those figures that do not tell of memory.
fn without_bytes(mut outcome: Outcome) -> Outcome {
    outcome.stats.state_bytes = None;
    outcome
}

fn check_states<S: Subject>(sample: &Sample<S>) -> u32 {
    let (mut rng, mut all_stops) = (Rng::new(sample.seed), 0);
    for (jobs, depth) in [(1, None), (2, None), (2, Some(6))] {
        let explorer = EveryState {
            first: 20,
            jobs: NonZeroU32::new(jobs).unwrap(),
            ..EveryState::of(Stateful::default())
        };
        for (all, shortest) in [(true, false), (false, false), (true, true)] {
            let budget = Budget { all, shortest, depth, ..Budget::default() };
            let whole = explore(&sample.script, explorer, budget.clone(), &mut NoObserver);
            let (resumed, stops) = stopped(&sample.script, explorer, &budget, &mut rng);
            let (whole, resumed) = (without_bytes(whole), without_bytes(resumed));
            let what = format!("{explorer:?} to {depth:?} on {}", sample.describe());
            assert_eq!(resumed.stats, whole.stats, "{what}");
            assert_eq!(resumed.violations, whole.violations, "{what}");
            assert_eq!(resumed.leaks, whole.leaks, "{what}");
            assert_eq!(resumed.stopped_by, whole.stopped_by, "{what}");
            all_stops += stops;
        }
    }
    all_stops
}

#[test]
fn states_are_gone_on_with() {
    let of_processes: u32 = processes().iter().step_by(8).map(check_states).sum();
    let of_actors: u32 = actors().iter().step_by(8).map(check_states).sum();
    assert!(of_processes > 100 && of_actors > 10, "{of_processes} {of_actors}");
}

#[test]
#[ignore = "slow"]
fn states_are_gone_on_with_at_length() {
    processes().iter().for_each(|sample| _ = check_states(sample));
    actors().iter().for_each(|sample| _ = check_states(sample));
}

/// Also if it distinguishes nothing, so that its view of a state has no words.
#[test]
fn invariants_are_judged_after_a_stop() {
    let mut rng = Rng::new(1);
    for (invariant, expected) in
        [("1 < 2", Verdict::Ok), ("x < 4", Verdict::Ok), ("x < 3", Verdict::Assertion)]
    {
        let text = format!(
            "shared x: int = 0; mutex m; process P[i in 0..3] {{ lock(m); x = x + 1; unlock(m); }}
             invariant {{ assert({invariant}); }}"
        );
        let program = compile("program.maz", &text, &[]).expect("a program");
        let explorer = EveryState { first: 4, ..EveryState::of(Stateful::default()) };
        let budget = Budget { all: true, ..Budget::default() };
        let whole = explore(&program, explorer, budget.clone(), &mut NoObserver);
        let (resumed, stops) = stopped(&program, explorer, &budget, &mut rng);
        assert_eq!((whole.verdict(), resumed.verdict()), (expected, expected), "{text}");
        assert_eq!(without_bytes(resumed).stats, without_bytes(whole).stats, "{text}");
        assert!(stops > 0, "{text}");
    }
}

/// The state of another search, or a part of a state, is an error and not a panic.
#[test]
fn other_states_are_refused() {
    let explorer = EveryState { first: 20, ..EveryState::of(Stateful::default()) };
    let saved = |sample: &Sample<_>| {
        let mut keeper = InMemory::default();
        let budget = Budget { cancel: keeper.end.clone(), all: true, ..Budget::default() };
        explore_saved(&sample.script, explorer, budget, &mut keeper, &mut NoObserver);
        keeper.saved
    };
    let samples: Vec<_> = processes().iter().step_by(5).take(40).collect();
    let states: Vec<_> = samples.iter().map(|sample| (sample, saved(sample))).collect();
    let mut states = states.into_iter().filter_map(|(sample, saved)| Some((sample, saved?)));
    let (sample, state) = states.next().expect("one that is long enough");
    let begun_from = |from: &[u8]| {
        let mut keeper = InMemory { left: 1000, from: from.to_vec(), ..InMemory::default() };
        let budget = Budget { all: true, ..Budget::default() };
        explore_saved(&sample.script, explorer, budget, &mut keeper, &mut NoObserver).stopped_by
    };
    let mut refused = 0;
    for (_, other) in states {
        refused += u32::from(begun_from(&other) == Some(StopReason::Stray));
    }
    assert!(refused > 3, "{refused}");
    for length in (1..state.len()).step_by(1 + state.len() / 40) {
        assert_eq!(begun_from(&state[..length]), Some(StopReason::Stray), "{length}");
    }
}

/// A file of this run of the tests, which does not exist yet.
fn file(name: &str) -> PathBuf {
    let name = format!("{}-checkpoint-{name}.json", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// A result without what it cost.
fn free(output: &Output) -> Value {
    let mut result = json(output);
    for cost in ["wall_seconds", "peak_memory_bytes", "state_bytes"] {
        result["stats"][cost] = Value::Null;
    }
    result.as_object_mut().expect("a report").remove("resumed_from");
    result
}

/// A search that takes some time, by this explorer.
fn search(explorer: &str) -> Vec<&str> {
    let n = match explorer {
        "parsimonious" => "N=12",
        _ => "N=9",
    };
    let spec = "../../../specs/memory/lastzero.maz";
    vec!["check", spec, "-D", n, "--explorer", explorer, "--format", "json"]
}

/// Starts the search, or resumes it if there is a checkpoint already.
fn start(args: &[&str], checkpoint: &Path) -> Command {
    let (how, at) = (["--checkpoint-interval", "20ms"], text(checkpoint));
    match checkpoint.exists() {
        true => mazurka(&[&["resume", at, "--format", "json"][..], &how].concat()),
        false => mazurka(&[args, &["--checkpoint", at], &how].concat()),
    }
}

/// Kills the search this number of times, each time within `most`, and resumes it. The first
/// checkpoint is written at once.
fn killed(args: &[&str], checkpoint: &Path, times: u32, most: Duration) -> Output {
    let mut rng = Rng::new(u64::from(times));
    for _ in 0..times {
        let mut child = start(args, checkpoint).spawn().unwrap();
        thread::sleep(most * (200 + rng.below(800) as u32) / 1000);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    start(args, checkpoint).output().unwrap()
}

fn survive(name: &str, times: u32, most: Duration) {
    for explorer in ["sleep", "parsimonious", "stateful"] {
        let (args, checkpoint) = (search(explorer), file(&format!("{name}-{explorer}")));
        let whole = run(&args);
        let resumed = killed(&args, &checkpoint, times, most);
        assert_eq!(code(&resumed), 0, "{}", stderr(&resumed));
        assert_eq!(json(&resumed)["resumed_from"], text(&checkpoint));
        assert_eq!(free(&resumed), free(&whole), "{explorer}");
    }
}

#[test]
fn a_killed_search_is_resumed() {
    survive("killed", 3, Duration::from_millis(400));
}

/// The same, 50 times each.
#[test]
#[ignore = "slow"]
fn a_killed_search_is_resumed_at_length() {
    survive("often", 50, Duration::from_millis(600));
}

#[test]
fn limits_and_signals_save_the_search() {
    let (args, checkpoint) = (search("sleep"), file("limits"));
    let at = ["--checkpoint", text(&checkpoint)];
    let early = run(&[&args[..], &at, &["--timeout", "50ms"]].concat());
    assert_eq!((code(&early), &json(&early)["stopped_by"]), (3, &"timeout".into()));
    assert!(stderr(&early).contains("mazurka resume"), "{}", stderr(&early));
    let traces = |output: &Output| json(output)["stats"]["traces"].as_u64().unwrap();
    let child = mazurka(&["resume", text(&checkpoint), "--format", "json"]).spawn().unwrap();
    thread::sleep(Duration::from_millis(300));
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let later = child.wait_with_output().unwrap();
    assert!(traces(&later) > traces(&early), "{}", stderr(&later));
    // The same command goes on from the checkpoint, too.
    let last = run(&[&args[..], &at].concat());
    assert_eq!(json(&last)["resumed_from"], text(&checkpoint));
    assert_eq!(free(&last), free(&run(&args)));
    let said = stdout(&run(&["resume", text(&checkpoint)]));
    assert!(said.contains("resumed from") && said.contains("not checked"), "{said}");
}

/// Branches that were written for other machines are searched, too.
#[test]
fn branches_are_resumed() {
    let folder = file("branches").with_extension("");
    let _ = fs::remove_dir_all(&folder);
    let spec = "../../../specs/memory/lastzero.maz";
    let args = &["check", spec, "-D", "N=5", "--explorer", "sleep"][..];
    let whole = run(&[args, &["--format", "json"]].concat());
    let cut = run(&[args, &["--branches", text(&folder), "--count", "2"]].concat());
    assert_eq!(code(&cut), 0, "{}", stderr(&cut));
    for name in ["branch-1.json", "branch-2.json"] {
        let output = run(&["resume", text(&folder.join(name))]);
        assert_eq!((code(&output), stdout(&output)), (0, String::new()), "{}", stderr(&output));
    }
    let merged = run(&["merge", text(&folder), "--format", "json"]);
    let mut merged = free(&merged);
    merged.as_object_mut().expect("a report").remove("merged");
    assert_eq!(merged, free(&whole));
    // The beginning has all branches open, so it is the whole search.
    let all = run(&["resume", text(&folder.join("search.json")), "--format", "json"]);
    assert_eq!(free(&all), free(&whole));
}

fn refused(args: &[&str], why: &str) {
    let output = run(args);
    let said = stderr(&output);
    assert!(code(&output) == 2 && said.contains(why), "{args:?}: {said}");
}

/// Damages the file in several ways: it is always refused.
fn damage(checkpoint: &Path, is_same: fn(&[u8], &[u8]) -> bool) {
    let good = fs::read(checkpoint).unwrap();
    let mut rng = Rng::new(7);
    for _ in 0..25 {
        let mut bad = good.clone();
        match rng.below(3) {
            0 => bad.truncate(rng.below(good.len())),
            1 => bad[rng.below(good.len())] ^= 1 << rng.below(7),
            _ => drop(bad.drain(rng.below(good.len() / 2)..good.len() / 2)),
        }
        if !is_same(&bad, &good) {
            fs::write(checkpoint, &bad).unwrap();
            refused(&["resume", text(checkpoint)], "");
        }
    }
}

#[test]
fn what_is_damaged_or_of_another_search_is_refused() {
    let (args, checkpoint) = (search("sleep"), file("damaged"));
    let at = ["--checkpoint", text(&checkpoint)];
    let early = run(&[&args[..], &at, &["--timeout", "50ms"]].concat());
    assert_eq!(code(&early), 3, "{}", stderr(&early));
    let other = [&args[..], &at, &["-D", "N=5"]].concat();
    refused(&other, "is the checkpoint of another search (other constants)");
    refused(&["resume", "ok.maz"], "this is not a part of a search");
    refused(&["resume", "missing.json"], "cannot read");
    refused(&["check", "ok.maz", "--checkpoint", "no/such/folder/file"], "cannot write");
    refused(&["check", "ok.maz", "--checkpoint", "x", "--max-traces", "5"], "cannot be used with");
    refused(&["check", "ok.maz", "--checkpoint", "x", "--warn", "unreached"], "unreached");
    let prefix = ["check", "ok.maz", "--explorer", "prefix", "--checkpoint", "x"];
    refused(&prefix, "cannot be saved: one by `exhaustive`");
    assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli/x").exists());
    // A space more or less changes nothing.
    damage(&checkpoint, |bad, good| {
        let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        parse(bad) == parse(good)
    });
    let states = file("damaged-states");
    let args = ["check", "ok.maz", "--explorer", "stateful", "--checkpoint", text(&states)];
    assert_eq!(code(&run(&args)), 0);
    refused(&[&args[..], &["--all"]].concat(), "is the checkpoint of another search");
    damage(&states, |bad, good| bad == good);
}
