//! Searches that are saved, stopped and resumed: first with the library, on random programs; then
//! the program, which is killed on the way.

mod prefix;
mod states;

use std::collections::BTreeSet;
use std::fs;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use mazurka::explore::{
    AnyExplorer, Budget, Explorer, Kept, Listed, NoObserver, Options, Outcome, Part, Saving,
    Splits, Violation, explore, keep,
};
use mazurka::lang::compile;
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
        "s-por" | "de-s-por" | "dl-s-por" | "fair" => "N=10",
        "prefix" => "N=13",
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

fn survive(explorers: &[&str], name: &str, times: u32, most: Duration) {
    for explorer in explorers {
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
    let explorers = ["sleep", "parsimonious", "stateful", "fused", "prefix"];
    survive(&explorers, "killed", 3, Duration::from_millis(400));
}

/// The same, 50 times each.
#[test]
#[ignore = "slow"]
fn a_killed_search_is_resumed_at_length() {
    let of_classes = ["sleep", "parsimonious"];
    let others = ["stateful", "fused", "s-por", "de-s-por", "dl-s-por", "fair", "prefix"];
    survive(&[&of_classes[..], &others].concat(), "often", 50, Duration::from_millis(600));
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

/// A search that is saved takes no turns: the explorer is chosen before it begins, and the same
/// command goes on with it.
#[test]
fn without_an_explorer_one_is_chosen() {
    let choices = file("choices").with_extension("maz");
    let program = "shared x: [int; 14] = 0;
        process P[i in 0..14] { x[i] = choose(0..4); if x[i] == 3 { x[i] = 0; } }";
    fs::write(&choices, program).unwrap();
    for (spec, expected) in [
        (text(&choices), "prefix"),
        ("../../../specs/liveness/ticket-lock.maz", "fair"),
        ("ok.maz", "parsimonious"),
    ] {
        let checkpoint = file(&format!("chosen-{expected}"));
        let args = ["check", spec, "--format", "json", "--checkpoint", text(&checkpoint)];
        let first = run(&args);
        assert!(stderr(&first).contains(&format!("by {expected}")), "{}", stderr(&first));
        let again = run(&args);
        assert_eq!(json(&again)["explorer"], expected);
        assert_eq!(json(&again)["resumed_from"], text(&checkpoint));
        assert_eq!(free(&again), free(&first));
    }
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
    let sampled = ["check", "ok.maz", "--explorer", "random", "--checkpoint", "x"];
    refused(&sampled, "cannot be saved: one by `exhaustive`");
    assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli/x").exists());
    // A space more or less changes nothing.
    damage(&checkpoint, |bad, good| {
        let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        parse(bad) == parse(good)
    });
    for explorer in ["stateful", "prefix"] {
        let file = file(&format!("damaged-{explorer}"));
        let args = ["check", "ok.maz", "--explorer", explorer, "--checkpoint", text(&file)];
        assert_eq!(code(&run(&args)), 0);
        refused(&[&args[..], &["--all"]].concat(), "is the checkpoint of another search");
        damage(&file, |bad, good| bad == good);
    }
}
