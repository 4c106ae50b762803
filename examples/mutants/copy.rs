//! The copy of the project with all mutants in it.
//!
//! Some mutants do not compile: a type is not known, or has no other operator. The compiler says
//! where; the mutants in those places are taken out, until it has nothing to say.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustc_hash::FxHasher;
use serde_json::Value;

use super::MUTATED;
use super::operators::{Mutant, mutants, rewritten};

/// What a build and the tests need.
const SOURCES: [&str; 13] = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "CHANGELOG.md",
    "build.rs",
    "src",
    "tests",
    "examples",
    "benches",
    "specs",
    "docs",
    "editors",
    "visuals",
];

/// What the copy knows of mutants: which one is on, and, if it is asked to, which ones are met.
const ASKED: &str = " #[doc(hidden)] pub mod mutants { \
    use std::sync::atomic::{AtomicU32, AtomicU8, Ordering::Relaxed}; use std::sync::Mutex; \
    use std::io::Write; static CHOSEN: AtomicU32 = AtomicU32::new(u32::MAX); \
    static MET: [AtomicU8; 1 << 17] = [const { AtomicU8::new(0) }; 1 << 17]; \
    static FILE: Mutex<Option<std::fs::File>> = Mutex::new(None); \
    #[inline(always)] pub fn on(number: u32) -> bool { let chosen = CHOSEN.load(Relaxed); \
    if chosen >= u32::MAX - 1 { return unusual(number, chosen); } chosen == number } \
    #[cold] #[inline(never)] fn unusual(number: u32, chosen: u32) -> bool { \
    if chosen == u32::MAX { \
    let asked = std::env::var(\"MAZURKA_MUTANT\").map_or(0, |number| number.parse().unwrap()); \
    let asked = match std::env::var_os(\"MAZURKA_MET\") { None => asked, Some(path) => { \
    *FILE.lock().unwrap() = Some(std::fs::OpenOptions::new()\
    .append(true).create(true).open(path).unwrap()); \
    u32::MAX - 1 } }; CHOSEN.store(asked, Relaxed); return on(number); } \
    if MET[number as usize].swap(1, Relaxed) == 0 { let mut file = FILE.lock().unwrap(); \
    file.as_mut().unwrap().write_all(&number.to_ne_bytes()).unwrap(); } false } }";

/// So many bytes after the places of an error, if nothing else is to blame: a way out of a loop
/// stands there.
const NEAR: usize = 400;
/// If there is nothing either, all of the function: to lose some mutants is better than to have
/// none.
const FAR: usize = 2000;

/// A mutant of the copy.
pub struct Listed {
    pub number: u32,
    pub file: String,
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:{} {}", self.number, self.file, self.line, self.what)
    }
}

pub struct Copy {
    pub mutants: Vec<Listed>,
    pub programs: Programs,
}

/// The programs of all tests.
pub struct Programs {
    pub suite: PathBuf,
    pub unit: PathBuf,
    /// The number of random programs that each test tries.
    pub random: u32,
}

struct Source {
    file: String,
    text: String,
    mutants: Vec<Mutant>,
    /// Where each of those that were not taken out stands in the copy.
    places: Vec<(u32, Range<usize>)>,
}

impl Copy {
    /// Makes it, or takes the one that is there.
    pub fn built(folder: &Path, random: u32) -> Copy {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut sources = Vec::new();
        let mut next = 1;
        for file in MUTATED.iter().flat_map(|&folder| files(root, folder)) {
            let text = fs::read_to_string(root.join(&file)).expect("a file of the project");
            let mutants = mutants(&text, next);
            next += mutants.len() as u32;
            sources.push(Source { file, text, mutants, places: Vec::new() });
        }
        assert!(next < 1 << 17, "the copy has room for so many");
        let mut gone = read_gone(folder, &sources);
        for source in SOURCES {
            copy(&root.join(source), &folder.join(source), &|path| {
                path == root.join("src/lib.rs")
                    || path.extension().is_some_and(|ending| ending == "rs")
                        && MUTATED.iter().any(|mutated| path.starts_with(root.join(mutated)))
            });
        }
        let lib = fs::read_to_string(root.join("src/lib.rs")).expect("a file of the project");
        let lib = format!("#![allow(warnings, clippy::all)] {}{ASKED}\n", lib.trim_end());
        let seen = folder.join("compiles");
        let mut is_new = write(&folder.join("src/lib.rs"), &lib);
        let programs = loop {
            for source in &mut sources {
                is_new |= source.write(folder, &gone);
            }
            // What was not changed was seen to compile.
            let is_seen = !is_new && seen.exists();
            if !is_seen {
                // A run that is ended in the middle leaves it unseen.
                let _ = fs::remove_file(&seen);
            }
            let wrong = if is_seen { BTreeSet::new() } else { unbuildable(folder, &sources) };
            if wrong.is_empty() {
                fs::write(&seen, "").expect("a file of the copy");
                break programs(folder, random);
            }
            println!("{} mutants do not compile", wrong.len());
            gone.extend(wrong);
            let gone: Vec<String> = gone.iter().map(u32::to_string).collect();
            fs::write(folder.join("gone.txt"), gone.join("\n")).expect("a file of the copy");
        };
        let mutants: Vec<Listed> = sources
            .into_iter()
            .flat_map(|Source { file, mutants, .. }| {
                mutants.into_iter().map(move |Mutant { number, line, what, .. }| Listed {
                    number,
                    file: file.clone(),
                    line,
                    what,
                })
            })
            .filter(|mutant| !gone.contains(&mutant.number))
            .collect();
        println!("{} mutants; {} others do not compile", mutants.len(), gone.len());
        Copy { mutants, programs }
    }
}

impl Source {
    /// Writes it to the copy; true if that has changed.
    fn write(&mut self, folder: &Path, gone: &BTreeSet<u32>) -> bool {
        let left: Vec<&Mutant> =
            self.mutants.iter().filter(|mutant| !gone.contains(&mutant.number)).collect();
        let (text, places) = rewritten(&self.text, &left);
        self.places = left.iter().map(|mutant| mutant.number).zip(places).collect();
        write(&folder.join(&self.file), &text)
    }

    /// The mutants with some of their text here.
    fn touching(&self, range: &Range<usize>) -> Vec<u32> {
        let touches = |place: &Range<usize>| place.start < range.end && range.start < place.end;
        self.places.iter().filter(|(_, p)| touches(p)).map(|(number, _)| *number).collect()
    }

    /// The mutant to blame for an error here: the smallest around it, or those in it.
    fn to_blame(&self, error: &Range<usize>) -> Vec<u32> {
        let around = |place: &Range<usize>| place.start <= error.start && error.end <= place.end;
        let inside = |place: &Range<usize>| error.start <= place.start && place.end <= error.end;
        let smallest = self.places.iter().filter(|(_, place)| around(place));
        match smallest.min_by_key(|(_, place)| place.len()) {
            Some((number, _)) => vec![*number],
            None => {
                self.places.iter().filter(|(_, p)| inside(p)).map(|(number, _)| *number).collect()
            }
        }
    }
}

/// Those that were found not to compile before, in these sources.
fn read_gone(folder: &Path, sources: &[Source]) -> BTreeSet<u32> {
    let mut hasher = FxHasher::default();
    sources.iter().for_each(|source| (&source.file, &source.text).hash(&mut hasher));
    let (now, kept) = (hasher.finish().to_string(), folder.join("sources.txt"));
    if fs::read_to_string(&kept).ok().as_ref() != Some(&now) {
        // Numbers mean something else now.
        for old in ["gone.txt", "verdicts.jsonl"] {
            let _ = fs::rename(folder.join(old), folder.join(format!("old-{old}")));
        }
        for entry in fs::read_dir(folder).expect("the folder of the copy").flatten() {
            if entry.file_name().to_string_lossy().starts_with("tests-") {
                let _ = fs::remove_file(entry.path());
            }
        }
        fs::write(kept, now).expect("a file of the copy");
    }
    let text = fs::read_to_string(folder.join("gone.txt")).unwrap_or_default();
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

/// The files of Rust in a folder, from the root, in order.
fn files(root: &Path, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(folder)).expect("a folder of the project") {
        let entry = entry.expect("a file of the project");
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(files(root, &name));
        } else if name.ends_with(".rs") {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// Copies what has changed, so that only that is built again, but what is `left_out`.
fn copy(from: &Path, to: &Path, left_out: &dyn Fn(&Path) -> bool) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder of the copy");
        for entry in fs::read_dir(from).expect("a folder of the project") {
            let entry = entry.expect("a file of the project");
            if entry.file_name() != "target" {
                copy(&entry.path(), &to.join(entry.file_name()), left_out);
            }
        }
    } else if !left_out(from) && fs::read(from).ok() != fs::read(to).ok() {
        fs::copy(from, to).expect("a file of the copy");
    }
}

/// True if the file has changed.
fn write(path: &Path, text: &str) -> bool {
    let is_new = fs::read_to_string(path).ok().as_deref() != Some(text);
    if is_new {
        fs::write(path, text).expect("a file of the copy");
    }
    is_new
}

/// Cargo in the copy: quick to build, not too slow to run.
fn cargo(folder: &Path, what: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.env("CARGO_INCREMENTAL", if what[0] == "check" { "1" } else { "0" });
    command.args(what).arg("--locked");
    command.arg("--message-format=json").stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// The mutants that the compiler complains of.
fn unbuildable(folder: &Path, sources: &[Source]) -> BTreeSet<u32> {
    let said = cargo(folder, &["check", "--lib"]).output().expect("cargo");
    if said.status.success() {
        return BTreeSet::new();
    }
    let mut wrong = BTreeSet::new();
    let mut unexplained = Vec::new();
    for line in String::from_utf8_lossy(&said.stdout).lines() {
        let message: Value = serde_json::from_str(line).expect("JSON of cargo");
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let spans = message["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let byte = |span: &Value, end: &str| span[end].as_u64().expect("a place") as usize;
        let range = |span: &Value| byte(span, "byte_start")..byte(span, "byte_end");
        let Some(first) = spans.iter().find(|span| span["is_primary"] == true) else { continue };
        let Some(source) = sources.iter().find(|source| first["file_name"] == *source.file) else {
            unexplained.push(message["rendered"].as_str().unwrap_or_default().to_owned());
            continue;
        };
        let here = spans.iter().filter(|span| span["file_name"] == first["file_name"]);
        let to_blame = source.to_blame(&range(first));
        if to_blame.is_empty() {
            // A value is used again because something between the two places no longer happens.
            let start = here.clone().map(|span| range(span).start).min().unwrap_or(0);
            let end = here.map(|span| range(span).end).max().unwrap_or(0);
            let mut between = source.touching(&(start..end));
            if between.is_empty() {
                // Nothing there. Notes name where the value is assigned again.
                let notes = message["children"].as_array().into_iter().flatten();
                let noted = notes.filter_map(|note| note["spans"].as_array()).flatten();
                let noted = noted.filter(|span| span["file_name"] == first["file_name"]);
                between = noted.flat_map(|span| source.to_blame(&range(span))).collect();
                between.extend(source.touching(&(start..end + NEAR)));
            }
            if between.is_empty() {
                between = source.touching(&(start.saturating_sub(FAR)..end + FAR));
            }
            if between.is_empty() {
                unexplained.push(message["rendered"].as_str().unwrap_or_default().to_owned());
            }
            wrong.extend(between);
        }
        wrong.extend(to_blame);
    }
    assert!(!wrong.is_empty(), "the copy does not compile: {}", unexplained.join("\n"));
    wrong
}

/// Builds the tests, and the program that they start.
fn programs(folder: &Path, random: u32) -> Programs {
    let what = ["test", "--lib", "--test", "suite", "--no-run"];
    let said = cargo(folder, &what).output().expect("cargo");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let artifacts: Vec<Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let program = |name: &str| {
        let mut own = artifacts.iter().filter(|artifact| {
            artifact["target"]["name"] == name && artifact["profile"]["test"] == true
        });
        let found = own.find_map(|artifact| artifact["executable"].as_str().map(PathBuf::from));
        found.unwrap_or_else(|| panic!("the tests do not compile: {said}"))
    };
    Programs { suite: program("suite"), unit: program("mazurka"), random }
}
