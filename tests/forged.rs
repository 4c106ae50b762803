//! Forged branches and results: damaged, lost, or of another search. First with the library, on
//! random programs; then as files whose checksum is right.

mod sealed;

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use mazurka::explore::{
    AnyExplorer, Branch, Budget, Disagreement, Done, Explorer, Listed, NoObserver, Options, Part,
    Place, StopReason, Verdict,
};
use mazurka::model::Action;
use serde_json::{Value, json};

use self::sealed::sealed;
use crate::cli::{code, run, stderr};
use crate::judge::{METHODS, is_refused};
use crate::random_models::{Rng, Sample, Subject, actors, processes};

/// Every explorer that searches branches.
fn able() -> Vec<AnyExplorer> {
    METHODS
        .iter()
        .map(|&(_, method, _)| method)
        .filter(|method| method.profile().can_split(None))
        .collect()
}

fn named(name: &str) -> AnyExplorer {
    Listed::named(name).expect("an explorer").with(&Options::default())
}

/// The open work of a search that has been cut for three workers.
fn cut<S: Subject>(
    sample: &Sample<S>,
    explorer: AnyExplorer,
    budget: &Budget,
) -> (Part, Vec<Part>) {
    let mut whole = Part::whole();
    let hands = NonZeroU32::new(3).expect("not 0");
    let parts = whole.cut((&sample.script, explorer), hands, budget, &mut NoObserver);
    (whole, parts.expect("its own branches").expect("no limit"))
}

fn explored<S: Subject>(mut part: Part, sample: &Sample<S>, explorer: AnyExplorer) -> Part {
    let (search, budget) = ((&sample.script, explorer), budget());
    part.go_on(search, &budget, &mut || false, &mut NoObserver).expect("its own branches");
    part
}

fn budget() -> Budget {
    Budget { all: true, ..Budget::default() }
}

/// The actions in another form: one left out, repeated, replaced or moved.
fn damage_actions(actions: &mut Vec<Action>, rng: &mut Rng) {
    let at = rng.below(actions.len() + 1);
    let odd: Action = {
        let text = format!("{}:{}", rng.below(5), rng.range(0, 6) as i64 - 2);
        let branch: Branch = format!("{text}/").parse().expect("a branch");
        branch.prefix[0]
    };
    match rng.below(5) {
        0 if at < actions.len() => drop(actions.remove(at)),
        1 if at < actions.len() => actions.insert(at, actions[at]),
        2 if at < actions.len() => actions[at] = odd,
        3 if at < actions.len() => {
            let other = rng.below(actions.len());
            actions.swap(at, other);
        }
        _ => actions.insert(at, odd),
    }
}

fn damaged(branch: &Branch, rng: &mut Rng) -> Branch {
    let mut branch = branch.clone();
    for _ in 0..rng.range(1, 4) {
        match rng.below(4) {
            0 => {
                let mut actions = branch.prefix.to_vec();
                damage_actions(&mut actions, rng);
                branch.prefix = actions.into();
            }
            1 => damage_actions(&mut branch.elsewhere, rng),
            2 if !branch.wanted.is_empty() => {
                let at = rng.below(branch.wanted.len());
                let mut actions = branch.wanted[at].to_vec();
                damage_actions(&mut actions, rng);
                branch.wanted[at] = actions.into();
            }
            _ => {
                let mut actions = branch.prefix.to_vec();
                damage_actions(&mut actions, rng);
                branch.wanted.push(actions.into());
            }
        }
    }
    branch
}

/// Explores branches that were changed. Such a branch may be refused or explored, but nothing may
/// panic.
fn check_damaged<S: Subject>(sample: &Sample<S>, times: usize) -> (usize, usize) {
    let (mut refused, mut accepted) = (0, 0);
    let mut rng = Rng::new(sample.seed);
    for explorer in able().into_iter().filter(|e| !is_refused(&sample.script, *e)) {
        for depth in
            [None, Some(3)].into_iter().filter(|&depth| explorer.profile().can_split(depth))
        {
            let budget = Budget { depth, ..budget() };
            let (whole, _) = cut(sample, explorer, &Budget { depth: None, ..budget.clone() });
            let branches: Vec<_> =
                whole.open.values().chain(whole.done.values().map(|d| &d.branch)).collect();
            for _ in 0..times {
                let branch = branches[rng.below(branches.len())];
                let branch = damaged(branch, &mut rng);
                let mut part = Part::default();
                part.open.insert("/7".parse().expect("a place"), branch);
                let search = (&sample.script, explorer);
                let is_refused = part.refusal(&sample.script).is_some();
                let went_on = part.go_on(search, &budget, &mut || false, &mut NoObserver);
                assert!(went_on.is_err() || !is_refused, "{explorer:?} on {}", sample.describe());
                match went_on {
                    Ok(()) => accepted += 1,
                    Err(_) => refused += 1,
                }
            }
        }
    }
    (refused, accepted)
}

#[test]
fn damaged_branches_of_processes_are_refused_or_explored() {
    let all = processes();
    let found = all.iter().step_by(24).map(|sample| check_damaged(sample, 4));
    let (refused, accepted) = found.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(refused > 100 && accepted > 20, "{refused} refused, {accepted} explored");
}

#[test]
fn damaged_branches_of_actors_are_refused_or_explored() {
    let all = actors();
    let found = all.iter().step_by(24).map(|sample| check_damaged(sample, 4));
    let (refused, accepted) = found.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(refused > 100 && accepted > 20, "{refused} refused, {accepted} explored");
}

/// A search that was cut: its options, the parts that were dealt, and all their results.
struct Cut {
    sample: &'static Sample,
    explorer: AnyExplorer,
    dealt: Vec<Part>,
    whole: Part,
}

/// A search with pieces that gave away work, and others that were dealt.
fn with_pieces() -> &'static Cut {
    static CUT: LazyLock<Cut> = LazyLock::new(|| {
        let explorer = named("sleep");
        let found = processes().iter().find_map(|sample| {
            let (mut whole, dealt) = cut(sample, explorer, &budget());
            let gives =
                |(place, done): (&Place, &Done)| !place.is_first() && !done.given.is_empty();
            let given = whole.done.iter().filter(|&done| gives(done)).count();
            let open: usize = dealt.iter().map(|part| part.open.len()).sum();
            (given > 2 && open > 2).then(|| {
                for part in &dealt {
                    let part = explored(part.clone(), sample, explorer);
                    whole.join(part).expect("parts of one search");
                }
                Cut { sample, explorer, dealt, whole }
            })
        });
        found.expect("a sample that is cut")
    });
    &CUT
}

/// Whichever result is removed, and whichever donated task is forgotten, the search is incomplete.
#[test]
fn a_lost_piece_is_missed() {
    let whole = &with_pieces().whole;
    assert_eq!(whole.outcome(&budget()).stopped_by, None);
    for place in whole.done.keys() {
        let mut less = whole.clone();
        less.done.remove(place);
        assert_eq!(less.has_beginning(), !place.is_first());
        if place.is_first() {
            continue;
        }
        let outcome = less.outcome(&budget());
        assert_eq!(outcome.stopped_by, Some(StopReason::Missing), "without {place}");
        assert!(!outcome.violations.is_empty() || outcome.verdict() == Verdict::Incomplete);
    }
}

/// A piece that was never given away does not count.
#[test]
fn a_stray_piece_is_seen() {
    let whole = &with_pieces().whole;
    assert_eq!(whole.stray(), None);
    let gave = |(place, done): (&Place, &Done)| place.given(done.given.len() as u32);
    for stray in whole.done.iter().map(gave) {
        let mut more = whole.clone();
        more.done.insert(stray.clone(), whole.done.values().next().expect("one").clone());
        assert_eq!(more.stray(), Some(&stray));
        let mut more = whole.clone();
        more.open.insert(stray.clone(), Branch::default());
        assert_eq!(more.stray(), Some(&stray));
    }
}

/// Results of the same place in two searches, or of a branch that was changed, are not joined.
#[test]
fn results_of_other_branches_are_not_joined() {
    let Cut { sample, explorer, dealt, whole } = with_pieces();
    let mut tried = 0;
    for dealt in dealt {
        for (place, branch) in &dealt.open {
            let mut other = branch.clone();
            other.elsewhere.pop();
            let mut part = Part::default();
            part.open.insert(place.clone(), other);
            let part = explored(part, sample, *explorer);
            for mut known in [dealt.clone(), whole.clone()] {
                assert_eq!(known.join(part.clone()), Err(Disagreement(place.clone())));
            }
            tried += 1;
        }
    }
    assert!(tried > 2, "{tried} branches");
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-forged-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON")
}

/// A search on the command line with results for all of its branches.
fn results(name: &str, args: &[&str]) -> PathBuf {
    let folder = folder(name);
    let args = [&["check"], args, &["--branches", text(&folder), "--count", "2"]].concat();
    let output = run(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for number in 1..=2 {
        let branch = folder.join(format!("branch-{number}.json"));
        let result = folder.join(format!("result-{number}.json"));
        if !branch.exists() {
            continue;
        }
        let args = ["check", "--branch", text(&branch), "-o", text(&result), "--timeout"];
        // One of them has open work.
        let output = run(&[&args[..], &[if number == 2 { "1us" } else { "1h" }]].concat());
        assert!(code(&output) != 2, "{}", stderr(&output));
    }
    folder
}

/// The places in a value that can be changed.
fn spots(value: &Value, path: String, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, field)| {
                let key = key.replace('~', "~0").replace('/', "~1");
                spots(field, format!("{path}/{key}"), into);
            });
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| spots(item, format!("{path}/{at}"), into));
        }
        _ => {}
    }
    into.push(path);
}

/// Changes something, anywhere.
fn damage(file: &mut Value, rng: &mut Rng) {
    let mut all = Vec::new();
    for part in ["task", "part", "part", "part"] {
        spots(&file[part], format!("/{part}"), &mut all);
    }
    let spot = all[rng.below(all.len())].clone();
    let other = file.pointer(&all[rng.below(all.len())]).cloned().expect("a spot");
    let place = rng.below(8);
    let value = file.pointer_mut(&spot).expect("a spot");
    match value {
        Value::Number(_) => {
            let number = rng.below(9) as u64;
            *value =
                rng.pick(&[json!(0), json!(u64::MAX), json!(number), json!(-1), other]).clone();
        }
        Value::Bool(is_so) => *is_so = !*is_so,
        Value::String(text) => damage_text(text, rng),
        Value::Array(items) if !items.is_empty() && place < 6 => {
            let at = rng.below(items.len());
            match place {
                0..3 => drop(items.remove(at)),
                _ => items.push(items[at].clone()),
            }
        }
        Value::Object(fields) if !fields.is_empty() && place < 6 => {
            let keys: Vec<_> = fields.keys().cloned().collect();
            let mut key = rng.pick(&keys).clone();
            let moved = match place {
                0..2 => fields.get(&key).cloned().expect("a field"),
                _ => fields.remove(&key).expect("a field"),
            };
            if place < 5 {
                damage_text(&mut key, rng);
                fields.insert(key, moved);
            }
        }
        value => *value = rng.pick(&[Value::Null, json!(3), json!(""), json!([]), other]).clone(),
    }
}

fn damage_text(text: &mut String, rng: &mut Rng) {
    let mut words: Vec<char> = text.chars().collect();
    let at = rng.below(words.len() + 1);
    let odd = *rng.pick(&['0', '1', '2', '9', ',', '/', ':', 'x', '-', ' ', '\u{1b}', 'ä']);
    match rng.below(3) {
        0 if at < words.len() => drop(words.remove(at)),
        1 if at < words.len() => words[at] = odd,
        _ => words.insert(at, odd),
    }
    *text = words.into_iter().collect();
}

/// Damages one file after another, and searches, cuts and merges it. The outcome is an error or a
/// result, but never a panic.
fn check_files(name: &str, args: &[&str], times: usize) -> [usize; 4] {
    let folder = results(name, args);
    let all = ["search", "branch-1", "result-1", "result-2"];
    let exists = |name: &&str| folder.join(format!("{name}.json")).exists();
    let files: Vec<&str> = all.into_iter().filter(exists).collect();
    let mut rng = Rng::new(args.join(" ").bytes().map(u64::from).sum());
    let mut codes = [0; 4];
    for trial in 0..times {
        let path = folder.join(format!("{}.json", files[rng.below(files.len())]));
        let whole = fs::read_to_string(&path).expect("a file");
        let mut file = read(&path);
        (0..rng.range(1, 3)).for_each(|_| damage(&mut file, &mut rng));
        fs::write(&path, sealed(file.clone())).expect("a writable file");
        let more = folder.join(format!("more-{trial}"));
        for args in [
            &["check", "--branch", text(&path), "--timeout", "10s"][..],
            &["check", "--branch", text(&path), "--branches", text(&more), "--count", "2"],
            &["merge", text(&folder)],
        ] {
            let output = run(args);
            let exit = output.status.code();
            let what = format!(
                "{args:?} of {file}: {exit:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(matches!(exit, Some(0..=3)), "{what}");
            codes[exit.expect("an exit") as usize] += 1;
        }
        fs::write(&path, whole).expect("a writable file");
    }
    codes
}

/// The number of times that each file is damaged; `MAZURKA_TRIALS=1000` increases it.
fn trials() -> usize {
    let given = std::env::var("MAZURKA_TRIALS").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(12)
}

const LASTZERO: &str = "../../../specs/memory/lastzero.maz";

#[test]
fn damaged_files_are_refused_or_used() {
    let mut codes = [0; 4];
    for (name, args) in [
        ("sleep", &["philosophers.maz", "--explorer", "sleep", "--all", "-D", "N=3"][..]),
        ("exhaustive", &["philosophers.maz", "--explorer", "exhaustive", "--all", "-D", "N=2"]),
        ("parsimonious", &[LASTZERO, "--explorer", "parsimonious", "-D", "N=5"]),
        ("udpor", &["philosophers.maz", "--explorer", "udpor", "--depth", "5", "-D", "N=4"]),
        ("optimal", &[LASTZERO, "--explorer", "optimal", "-D", "N=5"]),
        ("source", &[LASTZERO, "--explorer", "source", "-D", "N=5"]),
    ] {
        let found = check_files(name, args, trials());
        codes = std::array::from_fn(|code| codes[code] + found[code]);
    }
    assert!(codes[2] > 20 && codes[0] + codes[1] + codes[3] > 20, "exit codes {codes:?}");
}

/// States of which none is at any depth: found by damaged files (seed 1417).
#[test]
fn a_result_with_states_at_no_depth_is_shown() {
    let folder = folder("levels");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("search.json");
    let args = ["check", "ok.maz", "--explorer", "dpor", "--checkpoint", text(&path)];
    assert_eq!(code(&run(&args)), 0);
    let mut file = read(&path);
    let done = file["part"]["done"].as_object_mut().unwrap();
    for done in done.values_mut() {
        done["outcome"]["stats"]["states"] = json!(1);
        done["outcome"]["stats"]["states_by_depth"] = json!([]);
    }
    fs::write(&path, sealed(file)).unwrap();
    let output = run(&["resume", text(&path)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

/// A result with impossible contents is refused although its checksum is right, and the message
/// names the file.
#[test]
fn what_a_file_says_is_replayed() {
    let folder =
        results("replayed", &["philosophers.maz", "--explorer", "sleep", "--all", "-D", "N=3"]);
    let refused = |file: Value, path: &Path, args: &[&str], why: &str| {
        let whole = fs::read_to_string(path).unwrap();
        fs::write(path, sealed(file)).unwrap();
        let output = run(args);
        fs::write(path, whole).unwrap();
        assert_eq!(code(&output), 2, "{why}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{why}: {}", stderr(&output));
        assert!(stderr(&output).contains(text(path)), "{why}: {}", stderr(&output));
    };
    let merge = ["merge", text(&folder)];
    let violation = |file: &mut Value, change: &dyn Fn(&mut Value)| {
        let done = file["part"]["done"].as_object_mut().unwrap();
        done.values_mut().for_each(|done| {
            done["outcome"]["violations"].as_array_mut().unwrap().iter_mut().for_each(change);
        });
    };
    let all = ["search.json", "result-1.json", "result-2.json"].map(|name| folder.join(name));
    let found = all.iter().find(|path| {
        let file = read(path);
        let done = file["part"]["done"].as_object().unwrap().clone();
        done.values()
            .any(|done| done["outcome"]["violations"].as_array().is_some_and(|v| !v.is_empty()))
    });
    let found = found.expect("the philosophers starve");
    for (change, why) in [(json!("0,0,0x900"), "has ended already"), (json!("0"), "nothing wrong")]
    {
        let mut file = read(found);
        violation(&mut file, &|violation| violation["schedule"] = change.clone());
        refused(file, found, &merge, why);
    }
    let mut file = read(found);
    violation(&mut file, &|violation| violation["process"] = json!(77));
    refused(file, found, &merge, "has a violation that the program does not have");
    // What a branch cannot be.
    let branch = folder.join("branch-1.json");
    let change = |text: &str| {
        let mut file = read(&branch);
        let open = file["part"]["open"].as_object_mut().unwrap();
        *open.values_mut().next().unwrap() = json!(text);
        file
    };
    let check = ["check", "--branch", text(&branch)];
    refused(change("9/"), &branch, &check, "9 is not enabled");
    refused(change("/0,0"), &branch, &check, "is left out twice");
    refused(change("/0/1"), &branch, &check, "`sleep` never gives such a branch away");
    let mut file = read(&branch);
    file["task"]["setting"] = json!("stateful");
    refused(file, &branch, &check, "cannot search a single branch");
    // If the part that was dealt to a worker is lost, the beginning does not have it any more,
    // either.
    let merged = |why: &str| {
        let output = run(&["merge", text(&folder), "--format", "json"]);
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        let merged: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(merged["complete"], false);
    };
    fs::remove_file(folder.join("branch-2.json")).unwrap();
    fs::remove_file(&all[2]).unwrap();
    merged("their own files are gone");
    let beginning = fs::read_to_string(&all[0]).unwrap();
    let mut file = read(&all[0]);
    file["part"]["open"].as_object_mut().unwrap().clear();
    fs::write(&all[0], sealed(file)).unwrap();
    merged("that no file has");
    fs::write(&all[0], beginning).unwrap();
    // The file forgets which piece gave a task away.
    let mut file = read(&all[0]);
    let done = file["part"]["done"].as_object_mut().unwrap();
    done.values_mut().for_each(|done| done["given"] = json!([]));
    refused(file, &all[0], &merge, "is not one of this search");
}
