//! One mutant after the other, by the tests that meet it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Args;
use super::copy::{Copy, Listed, Programs};
use super::tests::{Ended, Test, append, lock, run};

/// What became of a mutant.
#[derive(Clone, Copy, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Killed,
    /// Some test takes much longer with it.
    Timeout,
    Survived,
    /// No test meets it.
    Unmet,
}

/// A line of `verdicts.jsonl`.
#[derive(Clone, Serialize, Deserialize)]
struct Trial {
    mutant: u32,
    file: String,
    line: usize,
    what: String,
    verdict: Verdict,
    /// The test that has found it.
    test: Option<String>,
    /// The tests that ran, of those that meet it.
    run: usize,
    of: usize,
    seconds: f64,
}

pub struct Trials<'a> {
    args: &'a Args,
    folder: &'a Path,
    programs: &'a Programs,
    tests: Vec<Test>,
    /// How many mutants each test has found.
    found: Vec<AtomicUsize>,
    done: Mutex<BTreeMap<u32, Trial>>,
    file: Mutex<BufWriter<File>>,
}

impl<'a> Trials<'a> {
    pub fn new(args: &'a Args, folder: &'a Path, copy: &'a Copy, tests: Vec<Test>) -> Self {
        let path = folder.join("verdicts.jsonl");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let done = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let done: BTreeMap<u32, Trial> = done.map(|trial: Trial| (trial.mutant, trial)).collect();
        let finders = |test: &Test| {
            let finds = |trial: &&Trial| trial.test.as_ref() == Some(&test.name);
            AtomicUsize::new(done.values().filter(finds).count())
        };
        let found = tests.iter().map(finders).collect();
        let file = fs::OpenOptions::new().append(true).create(true).open(path).expect("a file");
        let file = Mutex::new(BufWriter::new(file));
        let (programs, done) = (&copy.programs, Mutex::new(done));
        Trials { args, folder, programs, tests, found, done, file }
    }

    /// Tries those that were not tried before. Did any of all survive?
    pub fn run(&self, chosen: &[&Listed]) -> bool {
        let (start, next) = (Instant::now(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..self.args.jobs {
                scope.spawn(|| {
                    while self.args.time.is_none_or(|time| start.elapsed() < time)
                        && let Some(mutant) = chosen.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        if self.is_wanted(mutant) {
                            self.attempt(mutant);
                        }
                    }
                });
            }
        });
        self.sum_up(chosen)
    }

    fn is_wanted(&self, mutant: &Listed) -> bool {
        let done = lock(&self.done);
        done.get(&mutant.number).is_none_or(|trial| {
            self.args.mutant.is_some() || (self.args.again && trial.verdict >= Verdict::Survived)
        })
    }

    fn attempt(&self, mutant: &Listed) {
        let start = Instant::now();
        let meets = |test: &Test| test.met.binary_search(&mutant.number).is_ok();
        let mut tests: Vec<usize> =
            (0..self.tests.len()).filter(|&t| meets(&self.tests[t])).collect();
        // What a test costs, for each mutant that it has found so far.
        let price =
            |&t: &usize| self.tests[t].seconds / (1 + self.found[t].load(Ordering::Relaxed)) as f64;
        tests.sort_by(|a, b| price(a).total_cmp(&price(b)));
        let (mut spent, mut ran) = (Duration::ZERO, 0);
        let mut verdict = if tests.is_empty() { Verdict::Unmet } else { Verdict::Survived };
        let mut by = None;
        for &t in &tests {
            let test = &self.tests[t];
            let usual = Duration::from_secs_f64(test.seconds);
            if spent + usual > self.args.patience {
                continue;
            }
            (spent, ran) = (spent + usual, ran + 1);
            let variable = ("MAZURKA_MUTANT", &*mutant.number.to_string());
            let at_most = 5 * usual + Duration::from_secs(10);
            let (ended, _) = run(self.programs, self.folder, &test.name, variable, at_most);
            if ended != Ended::Passed {
                verdict = if ended == Ended::Late { Verdict::Timeout } else { Verdict::Killed };
                by = Some(test.name.clone());
                self.found[t].fetch_add(1, Ordering::Relaxed);
                break;
            }
        }
        let trial = Trial {
            mutant: mutant.number,
            file: mutant.file.clone(),
            line: mutant.line,
            what: mutant.what.clone(),
            verdict,
            test: by,
            run: ran,
            of: tests.len(),
            seconds: start.elapsed().as_secs_f64(),
        };
        if verdict >= Verdict::Survived {
            println!("{mutant}\n    {verdict:?}: {ran} of {} tests that meet it", tests.len());
        }
        append(&mut lock(&self.file), &trial);
        lock(&self.done).insert(mutant.number, trial);
    }

    /// A line for each folder.
    fn sum_up(&self, chosen: &[&Listed]) -> bool {
        let done = lock(&self.done);
        let mut sums: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
        for trial in chosen.iter().filter_map(|mutant| done.get(&mutant.number)) {
            let parts = trial
                .file
                .match_indices('/')
                .nth(1)
                .map_or(&*trial.file, |(end, _)| &trial.file[..end]);
            sums.entry(parts.trim_end_matches(".rs")).or_default()[trial.verdict as usize] += 1;
        }
        for (folder, [killed, timeout, survived, unmet]) in &sums {
            println!(
                "{folder}: {killed} killed, {timeout} timeouts, {survived} survived, {unmet} unmet"
            );
        }
        sums.values().any(|sums| sums[2] + sums[3] > 0)
    }
}
