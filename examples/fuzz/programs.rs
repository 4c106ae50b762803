//! Random programs, explored by every explorer and by one that knows nothing of them before they
//! run; and random demands, judged by the definition.
//!
//! Each program is made from a seed ([`language`](super::language)) and judged by
//! [`unforeseen`](super::unforeseen). Operations are also compared with what was claimed before
//! them, as in debug builds, and certificates are audited ([`audited`]). Where sends may be buffered
//! or not, standstills are looked for ([`standing`]). Workers, which are processes of this program,
//! take blocks of seeds, so the search goes on after a panic. What goes wrong is made small, line by
//! line, and kept in a folder: the program, and what was wrong with it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueEnum};
use mazurka::explore::EXPLORERS;
use mazurka::lang::{Program, compile};

use super::amount::Amount;
use super::liveness::judged;
use super::liveness::programs::random_program;
use super::standstill::waits::waits;
use super::unforeseen::Judgement;
use super::{Rng, audited, commuting, language, settings, standing};

/// How many seeds a worker takes at once.
const BLOCK: u64 = 200;
/// A search of a small program that takes longer is a finding.
const PATIENCE: Duration = Duration::from_secs(30);
/// In so many states of a program the order of steps is tried.
const MOST_STATES: usize = 500;
/// The most runs that are spent on making one finding small.
const MOST_RUNS: usize = 300;

/// What else this program does
#[derive(Subcommand)]
pub enum Task {
    /// Explore random programs by every explorer, and by one that knows nothing of them before they
    /// run; or judge random demands by the definition
    Programs(Programs),
    Files(super::files::Files),
    /// A block of seeds, in a process of its own
    #[command(hide = true)]
    Worker {
        #[arg(value_enum)]
        family: Family,
        from: u64,
        to: u64,
        most: u64,
    },
    /// One program, in a process of its own
    #[command(hide = true)]
    Judge {
        #[arg(value_enum)]
        family: Family,
        file: PathBuf,
        seed: u64,
        most: u64,
    },
}

/// Which programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Programs of all operations, for all explorers
    Operations,
    /// Programs that demand something of endless executions, for `fair`
    Demands,
    /// Programs whose sends may be buffered or not, some of them with processes that wait in loops
    Standstills,
}

impl Family {
    fn name(self) -> &'static str {
        match self {
            Family::Operations => "operations",
            Family::Demands => "demands",
            Family::Standstills => "standstills",
        }
    }

    /// The program with this seed.
    fn text(self, seed: u64) -> String {
        match self {
            Family::Operations => language::generate(seed),
            Family::Demands => random_program(seed).text,
            Family::Standstills if seed.is_multiple_of(2) => waits(seed),
            Family::Standstills => language::generate(seed),
        }
    }

    /// In how many ways the program with this seed was judged, 0 if it is too large or is none; or
    /// what is wrong.
    fn judge(self, seed: u64, most: u64) -> Result<usize, String> {
        match self {
            Family::Demands => Ok(usize::from(judged::judge(&random_program(seed))?.is_some())),
            _ => self.judge_text(&self.text(seed), seed, most),
        }
    }

    /// The same for a program that is no more than its text. The seed chooses how it is explored.
    fn judge_text(self, text: &str, seed: u64, most: u64) -> Result<usize, String> {
        let Ok(program) = compile("random.maz", text, &[]) else { return Ok(0) };
        match self {
            Family::Standstills => standing::judge(&program, PATIENCE),
            _ => judge(&program, seed, most),
        }
    }
}

#[derive(Args)]
pub struct Programs {
    /// Which programs
    #[arg(long, value_enum, default_value_t = Family::Operations)]
    family: Family,
    #[command(flatten)]
    amount: Amount,
    /// Pass over programs with more executions
    #[arg(long, default_value_t = 500)]
    executions: u64,
}

impl Task {
    pub fn run(self) -> ExitCode {
        match self {
            Task::Programs(programs) => programs.run(),
            Task::Files(files) => files.run(),
            Task::Worker { family, from, to, most } => {
                mazurka::model::audit_everything();
                let mut out = std::io::stdout().lock();
                for seed in from..to {
                    writeln!(out, "begin {seed}").expect(PIPE);
                    match family.judge(seed, most) {
                        Ok(compared) => writeln!(out, "end {compared}").expect(PIPE),
                        Err(how) => writeln!(out, "wrong {how}").expect(PIPE),
                    }
                }
                ExitCode::SUCCESS
            }
            Task::Judge { family, file, seed, most } => {
                mazurka::model::audit_everything();
                let text = fs::read_to_string(file).expect("the program to judge");
                match family.judge_text(&text, seed, most) {
                    Ok(_) => ExitCode::SUCCESS,
                    Err(how) => {
                        eprintln!("{how}");
                        ExitCode::FAILURE
                    }
                }
            }
        }
    }
}

const PIPE: &str = "somebody who reads";

/// How many searches agree with the judge, 0 for a program that is too large or is none; or what is
/// wrong. Each explorer searches it as usual, and once more with options that the seed chooses.
fn judge(program: &Program, seed: u64, most: u64) -> Result<usize, String> {
    commuting::judge(program, MOST_STATES)?;
    let Some(judgement) = Judgement::of(program, most, Some(PATIENCE)) else { return Ok(0) };
    let mut compared = audited::judge(program)?;
    let mut rng = Rng::new(seed);
    for listed in EXPLORERS {
        if let Some(found) = judgement.compare(program, listed) {
            found?;
            compared += 1;
        }
        let (setting, budget) = settings::any(listed, &mut rng);
        if let Some(found) = judgement.compare_with(program, setting, &budget) {
            found.map_err(|how| format!("{how}; with {setting}, {}", settings::kept(&budget)))?;
            compared += 1;
        }
    }
    Ok(compared)
}

/// What was done so far.
#[derive(Default)]
struct Counts {
    next: AtomicU64,
    programs: AtomicU64,
    small: AtomicU64,
    searches: AtomicU64,
    findings: Mutex<Vec<u64>>,
}

impl Programs {
    fn run(self) -> ExitCode {
        let (start, counts) = (Instant::now(), Counts::default());
        thread::scope(|scope| {
            for _ in 0..self.amount.jobs {
                scope.spawn(|| self.work(&counts, start));
            }
        });
        let Counts { programs, small, searches, findings, .. } = counts;
        let findings = findings.into_inner().expect("no worker panics");
        println!(
            "{} programs in {:.1?}: {} small enough, {} searches compared, {} findings",
            programs.into_inner(),
            start.elapsed(),
            small.into_inner(),
            searches.into_inner(),
            findings.len()
        );
        ExitCode::from(u8::from(!findings.is_empty()))
    }

    /// Takes blocks of seeds until there are none, or the time is over.
    fn work(&self, counts: &Counts, start: Instant) {
        while self.amount.time.is_none_or(|time| start.elapsed() < time) {
            let first = counts.next.fetch_add(BLOCK, Ordering::Relaxed);
            let end = (first + BLOCK).min(self.amount.count);
            let mut next = first;
            while next < end {
                next = self.block(next, end, counts);
            }
            if end == self.amount.count || first >= self.amount.count {
                return;
            }
            let done = counts.programs.load(Ordering::Relaxed);
            if done % (BLOCK * 50) < BLOCK {
                println!("{done} programs, {:.0?}", start.elapsed());
            }
        }
    }

    /// Has a worker go through these seeds up to its end, or to one where it ended. Returns the
    /// seed to go on from.
    fn block(&self, from: u64, to: u64, counts: &Counts) -> u64 {
        let seed = |number: u64| (self.amount.seed + number).to_string();
        let mut worker = this_program()
            .args(["worker", self.family.name(), &seed(from), &seed(to)])
            .arg(self.executions.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a worker");
        let mut at = from;
        let mut is_open = false;
        for line in BufReader::new(worker.stdout.take().expect("it is piped")).lines() {
            let line = line.expect("lines of a worker");
            match line.split_once(' ') {
                Some(("begin", _)) => is_open = true,
                Some(("end", compared)) => {
                    let compared: u64 = compared.parse().expect("a number");
                    counts.searches.fetch_add(compared, Ordering::Relaxed);
                    counts.small.fetch_add(u64::from(compared > 0), Ordering::Relaxed);
                    (is_open, at) = (false, at + 1);
                    counts.programs.fetch_add(1, Ordering::Relaxed);
                }
                found => {
                    (is_open, at) = (false, at + 1);
                    counts.programs.fetch_add(1, Ordering::Relaxed);
                    let how = found.map_or("", |(_, how)| how);
                    self.keep(self.amount.seed + at - 1, how, counts);
                }
            }
        }
        let _ = worker.wait();
        if !is_open && at < to {
            // It was killed between two programs.
            return to;
        }
        if is_open {
            // It ended in the middle of a program.
            counts.programs.fetch_add(1, Ordering::Relaxed);
            self.keep(self.amount.seed + at, "it ended in the middle", counts);
            at += 1;
        }
        at
    }

    /// Makes the program of this seed small, if its text is all that there is to it, and writes it
    /// to the folder.
    fn keep(&self, seed: u64, how: &str, counts: &Counts) {
        fs::create_dir_all(&self.amount.keep).expect("a folder for findings");
        let path = self.amount.keep.join(format!("{seed}.maz"));
        let text = self.family.text(seed);
        let wrong = |text: &str| self.wrong(&path, text, seed);
        let (small, how) = match self.family {
            Family::Operations | Family::Standstills => {
                let how = wrong(&text).unwrap_or_else(|| "it does not happen again".to_owned());
                let small = shrink(&text, &kind(&how), &|text| wrong(text).map(|how| kind(&how)));
                let how = wrong(&small).unwrap_or(how);
                (small, how)
            }
            Family::Demands => (text, how.to_owned()),
        };
        fs::write(&path, format!("// Seed {seed}: {}\n{small}", how.replace('\n', "\n// ")))
            .expect("a finding");
        println!("seed {seed}: {how}\n  kept in {}", path.display());
        counts.findings.lock().expect("no worker panics").push(seed);
    }

    /// What is wrong with this program, if anything.
    fn wrong(&self, path: &Path, text: &str, seed: u64) -> Option<String> {
        fs::write(path, text).expect("a program to judge");
        let mut child = this_program()
            .args(["judge", self.family.name()])
            .arg(path)
            .args([seed, self.executions].map(|number| number.to_string()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process that judges");
        let stderr = child.stderr.take().expect("it is piped");
        let said = thread::spawn(move || {
            let lines = BufReader::new(stderr).lines().map_while(Result::ok);
            lines.collect::<Vec<_>>().join("\n")
        });
        let start = Instant::now();
        let status = loop {
            match child.try_wait().expect("a child") {
                Some(status) => break Some(status),
                None if start.elapsed() > 4 * PATIENCE => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let said = said.join().expect("a reader does not panic");
        match status {
            None => Some("it comes to no end".to_owned()),
            Some(status) => (!status.success()).then_some(said),
        }
    }
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().expect("the path of this program"))
}

/// Two findings are the same if their first line differs in numbers and in what is named only.
fn kind(how: &str) -> String {
    let line = how.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    line.chars().filter(|c| !c.is_ascii_digit()).take(60).collect()
}

/// Leaves out lines, many at a time at first, as long as what is wrong stays the same.
fn shrink(text: &str, wanted: &str, wrong: &dyn Fn(&str) -> Option<String>) -> String {
    let mut best: Vec<&str> = text.lines().collect();
    let mut runs = 0;
    let mut size = best.len().next_power_of_two();
    while size > 0 {
        let mut at = 0;
        while at < best.len() && runs < MOST_RUNS {
            let mut candidate = best.clone();
            candidate.drain(at..(at + size).min(best.len()));
            runs += 1;
            match wrong(&(candidate.join("\n") + "\n")).is_some_and(|found| found == wanted) {
                true => best = candidate,
                false => at += size,
            }
        }
        size /= 2;
    }
    best.join("\n") + "\n"
}
