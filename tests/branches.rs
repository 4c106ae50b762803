//! A search in parts, which are stored and searched one by one: together they are the search. First
//! with the library, on random programs; then as files, by `check --branches`, `check --branch` and
//! `merge`.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::process::Output;

use mazurka::explore::crew::{Crew, IsAsked, Pace, Report};
use mazurka::explore::{
    AnyExplorer, Budget, Explorer, Guarantee, Listed, NoObserver, Options, Outcome, Part, Splits,
    StopReason, Symptom, crew, explore,
};
use serde_json::Value;

use crate::cli::{code, json, mazurka, run, stderr, stdout};
use crate::judge::is_refused;
use crate::random_models::{Rng, Sample, Subject, actors, processes};

/// The part, written to a file and read again.
fn stored(part: &Part) -> Part {
    let text = serde_json::to_string(part).expect("parts can be written");
    serde_json::from_str(&text).expect("and read")
}

/// Searches the part with interruptions. After each one only the stored data is known.
fn searched<S: Subject>(
    part: Part,
    sample: &Sample<S>,
    explorer: AnyExplorer,
    budget: &Budget,
    rng: &mut Rng,
) -> Part {
    let mut part = stored(&part);
    while part.left().next().is_some() {
        assert_eq!(part.refusal(&sample.script), None);
        let mut left = rng.below(3);
        let mut is_over = || {
            left = left.wrapping_sub(1);
            left == usize::MAX
        };
        let search = (&sample.script, explorer);
        part.go_on(search, budget, &mut is_over, &mut NoObserver).expect("its own branches");
        part = stored(&part);
    }
    part
}

/// Searches in parts: the search is cut, one part is cut again, and they are joined in any order.
fn in_parts<S: Subject>(sample: &Sample<S>, explorer: AnyExplorer, budget: &Budget) -> Part {
    let mut rng = Rng::new(sample.seed);
    let hands = NonZeroU32::new(3).expect("not 0");
    let mut whole = Part::whole();
    let search = (&sample.script, explorer);
    let parts = whole.cut(search, hands, budget, &mut NoObserver).expect("its own branches");
    let parts = parts.expect("no limit");
    let mut results = vec![stored(&whole)];
    for (index, mut part) in parts.into_iter().enumerate() {
        if index == 0 {
            let again = part.cut(search, hands, budget, &mut NoObserver);
            let again = again.expect("its own branches").expect("no limit");
            results.push(stored(&part));
            results
                .extend(again.into_iter().map(|p| searched(p, sample, explorer, budget, &mut rng)));
        } else {
            results.push(searched(part, sample, explorer, budget, &mut rng));
        }
    }
    let mut all = Part::default();
    while !results.is_empty() {
        let result = results.swap_remove(rng.below(results.len()));
        all.join(result).expect("parts of one search");
    }
    assert!(all.has_beginning() && all.missing().is_empty(), "{explorer:?}: {}", sample.describe());
    assert_eq!(all.stray(), None, "{explorer:?}: {}", sample.describe());
    all
}

/// Searches with three workers that are sometimes lost, and sometimes report late.
fn by_workers<S: Subject>(sample: &Sample<S>, explorer: AnyExplorer, budget: &Budget) -> Part {
    let mut rng = Rng::new(sample.seed);
    let mut crew = Crew::new(Part::whole(), budget);
    let mut under_way: [VecDeque<Report>; 3] = Default::default();
    let pace = Pace::even(NonZeroU64::new(20).expect("not 0"));
    while !crew.is_over() {
        let worker = rng.below(3);
        if rng.chance(3) {
            crew.lose(worker as u32);
            if rng.chance(50) {
                under_way[worker].clear();
            }
        } else if let Some(report) = under_way[worker].pop_front() {
            crew.hear(worker as u32, report);
        } else if let Some(piece) = crew.give(worker as u32) {
            let search = (&sample.script, explorer);
            let mut tell = |report| under_way[worker].push_back(report);
            // Who has the piece next is not asked at the same places.
            let mut is_asked = |_| rng.chance(50);
            let splits = (pace, &mut is_asked as IsAsked<'_>);
            crew::search(search, &piece, splits, budget.clone(), &mut tell);
        }
        if rng.chance(5) {
            crew = Crew::new(stored(&crew.settled()), budget);
            under_way.iter_mut().for_each(VecDeque::clear);
        }
    }
    crew.settled()
}

/// Two explorers that split exactly, and two that find each class once.
fn explorers() -> [AnyExplorer; 4] {
    let named = |name| Listed::named(name).expect("an explorer").with(&Options::default());
    ["exhaustive", "sleep", "udpor", "optimal"].map(named)
}

/// `are_named`: whether violations have the same names in all searches. They have not if local
/// states are all that is known of a program and contain spawned processes.
fn check<S: Subject>(sample: &Sample<S>, are_named: bool) {
    for explorer in explorers().into_iter().filter(|e| !is_refused(&sample.script, *e)) {
        let what = format!("{explorer:?} on {}", sample.describe());
        for (all, shortest) in [(true, false), (false, false), (true, true)] {
            let budget = Budget { all, shortest, ..Budget::default() };
            let whole = explore(&sample.script, explorer, budget.clone(), &mut NoObserver);
            // Thousands of pieces would show no more than some dozens.
            if whole.stats.transitions > 3000 {
                continue;
            }
            let parts = in_parts(sample, explorer, &budget);
            let work = by_workers(sample, explorer, &budget);
            let rng = &mut Rng::new(sample.seed);
            let early = searched(Part::whole(), sample, explorer, &budget, rng);
            for part in [parts, work, early] {
                assert!(part.has_beginning(), "{what}");
                let joined = part.outcome(&budget);
                assert_same(&joined, &whole, explorer, &what);
                // Other explorers find the same in another order, and by other executions.
                assert!(!all || !are_named || symptoms(&joined) == symptoms(&whole), "{what}");
                let is_exact = are_named && explorer.profile().splits == Splits::Exactly;
                assert!(!is_exact || joined.violations == whole.violations, "{what}");
            }
        }
    }
}

/// The violations, in terms that all searches share.
fn symptoms(outcome: &Outcome) -> BTreeSet<Symptom> {
    outcome.violations.iter().map(|violation| violation.symptom).collect()
}

/// Asserts that the result of all parts is the result of one search.
fn assert_same(joined: &Outcome, whole: &Outcome, explorer: AnyExplorer, what: &str) {
    assert_eq!(joined.verdict() as u8 == 0, whole.verdict() as u8 == 0, "{what}");
    let is_once = explorer.profile().guarantee >= Guarantee::EveryClassOnce;
    let is_all = whole.stopped_by != Some(StopReason::Violation);
    assert!(!is_once || !is_all || joined.stats.traces == whole.stats.traces, "{what}");
    if explorer.profile().splits != Splits::Exactly {
        return;
    }
    assert_eq!(joined.violations.first(), whole.violations.first(), "{what}");
    assert_eq!(joined.stopped_by, whole.stopped_by, "{what}");
    assert_eq!(joined.stats, whole.stats, "{what}");
}

#[test]
fn the_parts_are_the_search_of_processes() {
    processes().iter().step_by(6).for_each(|sample| check(sample, true));
}

#[test]
fn the_parts_are_the_search_of_actors() {
    actors().iter().step_by(6).for_each(|sample| check(sample, false));
}

/// An empty folder of this run of the tests.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-branches-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// The branches of a search, in a new folder.
fn cut(name: &str, args: &[&str]) -> PathBuf {
    let folder = folder(name);
    let args = [&["check"], args, &["--branches", text(&folder), "--count", "3"]].concat();
    let output = run(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    folder
}

/// Searches the branches in each file of the folder.
fn search(folder: &Path) {
    for number in 1..=3 {
        let branch = folder.join(format!("branch-{number}.json"));
        if branch.exists() {
            let result = folder.join(format!("result-{number}.json"));
            let output = run(&["check", "--branch", text(&branch), "-o", text(&result)]);
            assert!(code(&output) < 2, "{}", stderr(&output));
        }
    }
}

fn merge(folder: &Path) -> Output {
    run(&["merge", text(folder), "--format", "json"])
}

/// A result without what it cost.
fn free(output: &Output) -> Value {
    let mut result = json(output);
    for cost in ["wall_seconds", "peak_memory_bytes"] {
        result["stats"][cost] = Value::Null;
    }
    result.as_object_mut().expect("a report").remove("merged");
    result
}

#[test]
fn merged_results_are_those_of_one_search() {
    let lastzero = "../../../specs/memory/lastzero.maz";
    for (name, args) in [
        ("first", &["philosophers.maz", "--explorer", "sleep"][..]),
        ("all", &["philosophers.maz", "--explorer", "exhaustive", "--all", "-D", "N=2"]),
        ("shortest", &["philosophers.maz", "--explorer", "sleep", "--shortest"]),
        ("order", &["counter.maz", "--explorer", "sleep", "--order", "lca", "--all"]),
        ("depth", &["endless.maz", "--explorer", "sleep", "--depth", "6"]),
        ("fine", &[lastzero, "--explorer", "sleep", "-D", "N=5"]),
        ("rest", &["client.maz", "--explorer", "sleep"]),
    ] {
        let folder = cut(name, args);
        search(&folder);
        let (merged, whole) =
            (merge(&folder), run(&[&["check"], args, &["--format", "json"]].concat()));
        assert_eq!(code(&merged), code(&whole), "{args:?}: {}", stderr(&merged));
        let files = fs::read_dir(&folder).unwrap().count();
        assert_eq!(json(&merged)["merged"]["files"], files);
        let said = stdout(&run(&["merge", text(&folder)]));
        let hash = &json(&merged)["merged"]["source_hash"];
        assert!(said.contains(hash.as_str().unwrap()) && said.contains("not checked"), "{said}");
        let (mut merged, mut whole) = (free(&merged), free(&whole));
        // The branches may have classes in common.
        for result in [&mut merged, &mut whole] {
            result["stats"]["classes"] = Value::Null;
        }
        assert_eq!(merged, whole, "{args:?}");
    }
}

/// Without an explorer it is `parsimonious`, whose branches repeat nothing, and `udpor` for what
/// that one cannot do.
#[test]
fn the_default_repeats_nothing() {
    let spec = "../../../specs/memory/lastzero.maz";
    let folder = cut("default", &[spec, "-D", "N=6"]);
    search(&folder);
    let merged = merge(&folder);
    let whole =
        run(&["check", spec, "-D", "N=6", "--explorer", "parsimonious", "--format", "json"]);
    assert_eq!(free(&merged), free(&whole));
    for args in [&["--depth", "5"][..], &["--keep-events"], &["-k", "1"]] {
        let folder = cut("default-udpor", &[&[spec], args].concat());
        let task: Value = serde_json::from_slice(&fs::read(folder.join("search.json")).unwrap())
            .expect("a file of branches");
        assert!(task.to_string().contains("\"udpor"), "{args:?}: {task}");
    }
}

#[test]
fn what_is_missing_is_reported() {
    let spec = "../../../specs/memory/lastzero.maz";
    let folder = cut("missing", &[spec, "--explorer", "sleep", "-D", "N=5"]);
    let untouched = merge(&folder);
    assert_eq!(code(&untouched), 3);
    assert_eq!(json(&untouched)["stopped_by"], "missing");
    search(&folder);
    fs::remove_file(folder.join("result-2.json")).unwrap();
    let output = merge(&folder);
    assert_eq!((code(&output), &json(&output)["verdict"]), (3, &"incomplete".into()));
    let told = stderr(&output);
    assert!(told.contains("branch-2.json") && !told.contains("branch-1.json"), "{told}");
    fs::remove_file(folder.join("search.json")).unwrap();
    let output = merge(&folder);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("the beginning of the search is missing"));
}

/// A search that is ended early gives away what is left; that can be searched, or cut into more
/// branches.
#[test]
fn a_branch_can_be_gone_on_with() {
    let spec = "../../../specs/memory/lastzero.maz";
    let args = [spec, "--explorer", "sleep", "-D", "N=6"];
    let folder = cut("again", &args);
    let branch = |number| folder.join(format!("branch-{number}.json"));
    let result = |number| folder.join(format!("result-{number}.json"));
    let early =
        run(&["check", "--branch", text(&branch(1)), "-o", text(&result(1)), "--timeout", "1us"]);
    assert_eq!(code(&early), 3, "{}", stderr(&early));
    assert!(stderr(&early).contains("continue with"), "{}", stderr(&early));
    let late = run(&["check", "--branch", text(&result(1)), "-o", text(&result(4))]);
    assert_eq!(code(&late), 0, "{}", stderr(&late));
    fs::remove_file(branch(1)).unwrap();
    let more = folder.join("more");
    let more = text(&more);
    let output = run(&["check", "--branch", text(&branch(2)), "--branches", more, "--count", "3"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    fs::remove_file(branch(2)).unwrap();
    search(&folder);
    search(Path::new(more));
    let merged = run(&["merge", text(&folder), more, "--format", "json"]);
    let whole = run(&[&["check"], &args[..], &["--format", "json"]].concat());
    assert_eq!(free(&merged), free(&whole));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let args = ["../../../specs/memory/lastzero.maz", "--explorer", "sleep", "-D", "N=5"];
    let (one, other) = (cut("one", &args), cut("other", &[&args[..], &["-D", "N=4"]].concat()));
    let refused = |args: &[&str], why: &str| {
        let output = run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
    };
    refused(&["merge", text(&one), text(&other)], "are not of one search: other constants");
    let branch = one.join("branch-1.json");
    let changed = fs::read_to_string(&branch).unwrap().replace("\"all\": false", "\"all\": true");
    fs::write(one.join("changed.json"), changed).unwrap();
    refused(&["check", "--branch", text(&one.join("changed.json"))], "was changed");
    fs::write(one.join("changed.json"), "{").unwrap();
    refused(&["merge", text(&one)], "this is not a part of a search");
    refused(&["check", "--branch", "philosophers.maz"], "this is not a part of a search");
    refused(&["check", "--branch", text(&branch), "--all"], "cannot be used with");
    refused(&["check", "--branch", text(&branch), "-o", text(&branch)], "would overwrite");
    refused(&["check", "ok.maz", "--branches", text(&one)], "has branches of a search already");
    let stateful = ["check", "ok.maz", "--explorer", "stateful", "--branches", "x"];
    refused(&stateful, "cannot search a single branch");
    refused(&["merge", "."], "no part of a search was found");
    assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli/x").exists());
}

/// A search that is over before it is cut leaves nothing to do.
#[test]
fn nothing_may_be_left_to_do() {
    let folder = folder("none");
    let parts = ["--branches", text(&folder), "--count", "100"];
    let output = run(&[&["check", "ok.maz", "--explorer", "udpor"], &parts[..]].concat());
    assert_eq!(code(&output), 0);
    assert!(stderr(&output).contains("may take much longer than one search"));
    let names = fs::read_dir(&folder).unwrap().count();
    let merged = mazurka(&["merge", text(&folder)]).output().unwrap();
    assert_eq!((code(&merged) == 0, names == 1), (names == 1, code(&merged) == 0));
    assert!(stdout(&merged).len() > 20);
}
