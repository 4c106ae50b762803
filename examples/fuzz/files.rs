//! Damaged files, read by the commands that read them.
//!
//! The program makes files of each kind, which are right. Each trial damages one of them: as bytes,
//! or as JSON, where the checksum is made right again if there is one. Whatever is in a file, the
//! program must end with an exit code from 0 to 3, within its limits. And a file that was damaged
//! without a right checksum must be refused, or lead to the answer that the right file leads to; a
//! certificate must do so even if it looks right.
//!
//! | kind | made by | read by |
//! |---|---|---|
//! | `branches` | `check --branches` | `check --branch`, `merge`, `resume` |
//! | `results` | `check --branch -o` | `merge`, `resume` |
//! | `checkpoints` | `check --checkpoint` | `resume`, `check --checkpoint` |
//! | `states` | the same, of a search that stores states | the same |
//! | `certificates` | `check --certificate` | `audit` |
//! | `executions` | `check --format json` | `replay` |
//! | `logs` | `study` | `study` |
//! | `debug` | `mpicc` | `mpirun`: lines and names of variables |
//! | `ranks` | `mpirun --checkpoint` | `resume`, `mpirun --checkpoint` |
//! | `wire` | ranks of `liar.c` | `mpirun`: what they write to their sockets beside the library |
//!
//! Findings are kept with the file, and the search goes on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use object::{Object, ObjectSection};
use serde_json::Value;

use super::amount::Amount;
use super::damage::{damaged_bytes, damaged_json};
use super::program;
use super::rng::Rng;
use super::sealed::sealed;
use super::shrink::kind;
use super::trial::processor_time;

const KINDS: [&str; 10] = [
    "branches",
    "results",
    "checkpoints",
    "states",
    "certificates",
    "executions",
    "logs",
    "debug",
    "ranks",
    "wire",
];

/// Specs that are searched in no time, some of them right and some wrong, with an explorer that
/// searches branches.
const SEARCHES: [&[&str]; 8] = [
    &["mutex/philosophers.maz", "-D", "N=3", "--all", "--explorer", "sleep"],
    &["memory/lastzero.maz", "-D", "N=4", "--explorer", "parsimonious"],
    &["liveness/ticket-lock.maz", "-D", "N=2", "--explorer", "fair"],
    &["memory/lastzero.maz", "-D", "N=4", "--explorer", "optimal"],
    &["mutex/philosophers.maz", "-D", "N=3", "--explorer", "udpor"],
    &["memory/lost-update.maz", "--all", "--explorer", "source"],
    &["mailbox/basic-deadlock.maz", "--all", "--explorer", "exhaustive"],
    &["memory/peterson.maz", "--explorer", "dpor"],
];

/// Damaged files, read by the commands that read them
#[derive(Args)]
pub struct Files {
    /// Only files of this kind; may be given several times
    #[arg(long, value_parser = KINDS)]
    kind: Vec<String>,
    #[command(flatten)]
    amount: Amount,
    /// A command that takes more processor time is a finding, and so is one that is not at its end
    /// after ten times as long
    #[arg(long, default_value = "30s", value_parser = humantime::parse_duration)]
    patience: Duration,
    /// Address space of a command, in MiB
    #[arg(long, default_value_t = 8192)]
    memory: u64,
}

/// A right file, and what reads it.
struct Sample {
    /// Which of [`KINDS`].
    of: &'static str,
    /// Where it stands in its folder, which has all that its readers need.
    folder: PathBuf,
    file: &'static str,
    content: Vec<u8>,
    /// The bytes that are damaged.
    part: std::ops::Range<usize>,
    readers: Vec<Reader>,
}

struct Reader {
    args: Vec<String>,
    /// Its exit code with the right file.
    right: i32,
}

/// What a trial knows of a file that it damages.
struct Damaged {
    content: Vec<u8>,
    /// It has to be refused, or to lead to the right answer.
    is_judged: bool,
}

impl Files {
    pub fn run(self) -> ExitCode {
        let start = Instant::now();
        let folder = std::env::temp_dir().join(format!("mazurka-files-{}", std::process::id()));
        let (next, read, accepted) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let found = Mutex::new(BTreeSet::new());
        fs::create_dir_all(&self.amount.keep).expect("a folder for findings");
        thread::scope(|scope| {
            for job in 0..self.amount.jobs {
                let folder = folder.join(job.to_string());
                let (next, read, accepted, found) = (&next, &read, &accepted, &found);
                let this = &self;
                scope.spawn(move || {
                    let samples = this.samples(&folder);
                    assert!(!samples.is_empty(), "no file of that kind can be made here");
                    while this.amount.time.is_none_or(|time| start.elapsed() < time) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= this.amount.count {
                            return;
                        }
                        let seed = this.amount.seed + number;
                        let mut rng = Rng::new(seed);
                        let kinds: BTreeSet<&str> =
                            samples.iter().map(|sample| sample.of).collect();
                        let of = *rng.pick(&kinds.into_iter().collect::<Vec<_>>());
                        let alike: Vec<&Sample> =
                            samples.iter().filter(|sample| sample.of == of).collect();
                        let sample = *rng.pick(&alike);
                        let damaged = sample.damaged(&alike, &mut rng);
                        for reader in &sample.readers {
                            match this.attempt(sample, reader, &damaged, seed) {
                                Ok(code) => {
                                    read.fetch_add(1, Ordering::Relaxed);
                                    accepted.fetch_add(u64::from(code < 2), Ordering::Relaxed);
                                }
                                Err(how) => {
                                    this.keep(sample, reader, &damaged, (seed, &how), found)
                                }
                            }
                        }
                    }
                });
            }
        });
        let _ = fs::remove_dir_all(folder);
        let found = found.into_inner().expect("no trial panics");
        println!(
            "{} files in {:.1?}, read by {} commands, accepted by {}; {} kinds of findings",
            next.into_inner().min(self.amount.count),
            start.elapsed(),
            read.into_inner(),
            accepted.into_inner(),
            found.len()
        );
        ExitCode::from(u8::from(!found.is_empty()))
    }

    /// Reads a damaged file: the exit code, or what is wrong with it.
    fn attempt(
        &self,
        sample: &Sample,
        reader: &Reader,
        damaged: &Damaged,
        seed: u64,
    ) -> Result<i32, String> {
        fs::write(sample.folder.join(sample.file), &damaged.content).expect("a file of a trial");
        let code = self.command(&sample.folder, &reader.args, seed)?;
        let is_right = code >= 2 || code == reader.right;
        match damaged.is_judged && !is_right {
            true => Err(format!("accepted with exit code {code}, but {} is right", reader.right)),
            false => Ok(code),
        }
    }

    /// Runs a command: its exit code, or what is wrong.
    fn command(&self, folder: &Path, args: &[String], seed: u64) -> Result<i32, String> {
        let program = program();
        let limit = format!("ulimit -v {}; exec \"$0\" \"$@\"", self.memory << 10);
        let mut command = Command::new("sh");
        command.args(["-c", &limit]).arg(program.get_program()).args(args);
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("MAZURKA_FUZZ_SEED", seed.to_string()).current_dir(folder);
        let err = folder.join("stderr.txt");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&err).expect("a file of a trial"))
            .spawn()
            .expect("a program to start");
        let start = Instant::now();
        let status = loop {
            match child.try_wait().expect("a child") {
                Some(status) => break status,
                None if is_late(child.id(), start, self.patience) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err("hangs".to_owned());
                }
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let said = String::from_utf8_lossy(&fs::read(err).unwrap_or_default()).into_owned();
        let bad = ["panicked at", "overflowed its stack", "memory allocation of"];
        if let Some(line) = said.lines().find(|line| bad.iter().any(|bad| line.contains(bad))) {
            return Err(format!("panic: {line}"));
        }
        match status.code() {
            Some(code @ 0..=3) => Ok(code),
            Some(code) => Err(format!("exit code {code}: {said}")),
            None => Err(format!("ended by a signal ({status}): {said}")),
        }
    }

    fn keep(
        &self,
        sample: &Sample,
        reader: &Reader,
        damaged: &Damaged,
        (seed, how): (u64, &str),
        found: &Mutex<BTreeSet<String>>,
    ) {
        let of = sample.of;
        if !found.lock().expect("no trial panics").insert(format!("{of} {}", kind(how))) {
            return;
        }
        let path = self.amount.keep.join(format!("{of}-{seed}"));
        fs::write(&path, &damaged.content).expect("a finding");
        println!("seed {seed}, {of}: {how}");
        println!("  mazurka {}", reader.args.join(" "));
        println!("  with {} in the place of {}", path.display(), sample.file);
    }

    /// Right files of all kinds, each in a folder below this one.
    fn samples(&self, folder: &Path) -> Vec<Sample> {
        let mut samples = Vec::new();
        for (number, search) in SEARCHES.iter().enumerate() {
            let folder = folder.join(number.to_string());
            self.samples_of(&folder, search, &mut samples);
        }
        self.samples_in_c(&folder.join("c"), &mut samples);
        samples
    }

    fn is_wanted(&self, of: &str) -> bool {
        self.kind.is_empty() || self.kind.iter().any(|kind| kind == of)
    }

    /// Runs a command that makes files.
    fn make(&self, folder: &Path, args: &str) -> Option<()> {
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        (self.command(folder, &args, 0).ok()? != 2).then_some(())
    }

    fn samples_of(&self, folder: &Path, search: &[&str], samples: &mut Vec<Sample>) {
        let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");
        fs::create_dir_all(folder).expect("a folder for files");
        fs::copy(specs.join(search[0]), folder.join("spec.maz")).expect("a spec");
        // Constants are those of the spec, explorers of the search.
        let at = search.iter().position(|word| *word == "--explorer").expect("an explorer");
        let (constants, explorer) = (search[1..at].join(" "), search[at + 1]);
        let own = format!("spec.maz {constants} --explorer {explorer}");
        let defined = constants.replace("--all", "");
        let mut add = |of, file, made: &[&str], readers: &[&str]| {
            if self.is_wanted(of) && made.iter().all(|args| self.make(folder, args).is_some()) {
                samples.extend(self.sample(of, folder, file, readers));
            }
        };
        let limit = "--timeout 10s";
        let cut = format!("check {own} --branches parts --count 2");
        let branch = "parts/branch-1.json";
        add(
            "branches",
            branch,
            &[&cut],
            &[
                &format!("check --branch {branch} {limit}"),
                "merge parts",
                &format!("resume {branch} {limit}"),
            ],
        );
        let cut = format!("check {own} --branches results --count 2");
        let result = "results/result-1.json";
        let found = format!("check --branch results/branch-1.json -o {result}");
        add(
            "results",
            result,
            &[&cut, &found],
            &["merge results", &format!("resume {result} {limit}")],
        );
        let saved = format!("check {own} --checkpoint saved.json {limit}");
        let resumed = format!("resume saved.json {limit}");
        add("checkpoints", "saved.json", &[&saved], &[&resumed, &saved]);
        for (explorer, file) in [("stateful", "states"), ("fair", "graph")] {
            let search = format!("check spec.maz {constants} --explorer {explorer}");
            let saved = format!("{search} --checkpoint {file} {limit}");
            add("states", file, &[&saved], &[&format!("resume {file} {limit}"), &saved]);
        }
        for (explorer, proof) in [("udpor", "classes"), ("stateful", "all"), ("prefix", "events")] {
            let search = format!("check spec.maz {defined} --explorer {explorer}");
            let made = format!("{search} --certificate {proof}");
            add("certificates", proof, &[&made], &[&format!("audit spec.maz {defined} {proof}")]);
        }
        let result = format!("check {own} --format json -o result.json");
        let replay = format!("replay spec.maz {defined} result.json");
        add("executions", "result.json", &[&result], &[&replay]);
        let study = format!("study spec.maz {defined} --explorers {explorer} -o plain");
        add("logs", "plain/runs.jsonl", &[&study], &[&study]);
    }

    /// The right file, and the exit codes that it leads to; `None` if it is not there.
    fn sample(
        &self,
        of: &'static str,
        folder: &Path,
        file: &'static str,
        readers: &[&str],
    ) -> Option<Sample> {
        let content = fs::read(folder.join(file)).ok()?;
        let mut known = Vec::new();
        for reader in readers {
            let args: Vec<String> = reader.split_whitespace().map(str::to_owned).collect();
            let ended = self.command(folder, &args, 0);
            // What goes on from a file may have written to it.
            fs::write(folder.join(file), &content).expect("a file of a trial");
            let right = ended.unwrap_or_else(|how| panic!("{reader}: {how}"));
            known.push(Reader { args, right });
        }
        let part = 0..content.len();
        Some(Sample { of, folder: folder.to_owned(), file, content, part, readers: known })
    }

    /// Three programs in C, if they can be built here: one has debug information, the search of
    /// one is saved, and one changes what it writes to its socket.
    fn samples_in_c(&self, folder: &Path, samples: &mut Vec<Sample>) {
        fs::create_dir_all(folder).expect("a folder for files");
        for name in ["ring.c", "master-worker.c"] {
            let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mpi").join(name);
            fs::copy(program, folder.join(name)).expect("a program in C");
        }
        fs::write(folder.join("liar.c"), include_str!("liar.c")).expect("a program in C");
        let made = |of: &str, args: &str| self.is_wanted(of) && self.make(folder, args).is_some();
        let reader = "mpirun -n 2 --timeout 10s ./ring";
        if made("debug", "mpicc -g ring.c -o ring")
            && let Some(sample) = self.sample("debug", folder, "ring", &[reader])
        {
            let file = object::File::parse(&*sample.content).expect("an object file");
            let debug = file.sections().filter(|s| s.name().is_ok_and(|n| n.starts_with(".debug")));
            let ranges: Vec<(u64, u64)> =
                debug.filter_map(|section| section.file_range()).collect();
            let start = ranges.iter().map(|range| range.0).min().unwrap_or(0);
            let end = ranges.iter().map(|range| range.0 + range.1).max().unwrap_or(0);
            samples.push(Sample { part: start as usize..end as usize, ..sample });
        }
        let worker = "mpicc master-worker.c -o worker";
        for (file, limit) in [("begun.json", "5ms"), ("whole.json", "10s")] {
            let search = format!("mpirun -n 3 --all --checkpoint {file} --timeout");
            if made("ranks", worker) && made("ranks", &format!("{search} {limit} ./worker")) {
                let readers =
                    [&*format!("resume {file} --timeout 10s"), &format!("{search} 10s ./worker")];
                samples.extend(self.sample("ranks", folder, file, &readers));
            }
        }
        if made("wire", "mpicc -g liar.c -o liar") {
            let reader = "mpirun -n 2 --timeout 2s ./liar";
            samples.extend(self.sample("wire", folder, "liar", &[reader]));
        }
    }
}

impl Sample {
    /// The file with some damage, which may be a part of another one of its kind.
    fn damaged(&self, alike: &[&Sample], rng: &mut Rng) -> Damaged {
        let mut content = self.content.clone();
        match self.of {
            // The damage is done by the program.
            "wire" => return Damaged { content, is_judged: false },
            "debug" => {
                // The rest of the program stays as it is, so it does the same.
                let mut part = content[self.part.clone()].to_vec();
                let whole = part.len();
                (0..=rng.below(8)).for_each(|_| damaged_bytes(&mut part, &[], rng));
                part.resize(whole, 0);
                content[self.part.clone()].copy_from_slice(&part);
                return Damaged { content, is_judged: true };
            }
            _ => {}
        }
        let other = &rng.pick(alike).content;
        if rng.chance(60)
            && let Ok(mut json) = serde_json::from_slice::<Value>(&content)
        {
            let other = serde_json::from_slice(other).unwrap_or_default();
            (0..=rng.below(2)).for_each(|_| damaged_json(&mut json, &other, rng));
            return Damaged { content: sealed(json).into_bytes(), is_judged: false };
        }
        (0..=rng.below(3)).for_each(|_| damaged_bytes(&mut content, other, rng));
        if self.of == "states" && rng.chance(60) {
            seal_states(&mut content);
            return Damaged { content, is_judged: false };
        }
        // An execution and a log have no checksum: another one is as good.
        let is_judged = !matches!(self.of, "executions" | "logs");
        // A whole file of another search is right for itself.
        let is_other = alike.iter().any(|sample| sample.content == content);
        Damaged { is_judged: is_judged && !is_other, content }
    }
}

/// On a busy machine a process waits for its turn more than it runs.
fn is_late(id: u32, start: Instant, patience: Duration) -> bool {
    let busy = processor_time(id).unwrap_or_else(|| start.elapsed());
    busy > patience || start.elapsed() > 10 * patience
}

/// The right checksum for a file of states: the last eight bytes are the sum of what is before them.
fn seal_states(content: &mut [u8]) {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(ODD);
        sum ^ sum >> 32
    };
    let Some((bytes, last)) = content.split_last_chunk_mut::<8>() else { return };
    let (words, rest) = bytes.as_chunks::<8>();
    let of_words = words.iter().fold(0, |sum, &word| add(sum, u64::from_le_bytes(word)));
    let of_rest = rest.iter().fold(of_words, |sum, &byte| add(sum, byte.into()));
    *last = add(of_rest, bytes.len() as u64).to_le_bytes();
}
