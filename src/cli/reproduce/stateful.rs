//! `mazurka reproduce stateful`: many clients explored by the stateful explorers, and the time to
//! the first error by the order of threads.
//!
//! Every search runs in a process of its own. With a folder for the results, each search is logged
//! as soon as it is done, and the same command runs only missing searches the next time.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Args;
use crate::cli::batch::Batch;
use crate::cli::files::{cannot_write, write as write_file};
use crate::cli::log::{self, Key, Log, Run};
use crate::cli::output::{Output, TableFormat};
use crate::cli::study::{command, now};
use crate::cli::{Exit, Failure, machine};
use crate::explore::StopReason;
use crate::report::json;
use crate::study::{Job, Ran};
use crate::workshop::stateful::document::{Document, Object, Text, csv, pictures};
use crate::workshop::stateful::{Experiment, plan};
use crate::workshop::study::Facts;

/// The time limit of a search, without and with `--full`.
const LIMITS: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(600)];

pub(super) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let limit = LIMITS[usize::from(args.full)];
    let (clients, buggy) = (plan::clients(args.full), plan::buggy_clients(args.full));
    let mut experiment = Experiment::new(clients, buggy, limit);
    let mut runner = Runner::new(experiment.size(), args.output.as_deref(), output.is_quiet())?;
    experiment.reductions.run(|job| runner.run(job))?;
    experiment.errors.run(|job| runner.run(job))?;
    let facts = runner.finish();
    let version = env!("CARGO_PKG_VERSION");
    match args.format.unwrap_or(TableFormat::Text) {
        TableFormat::Text => output.print(Text(&experiment, output.room()))?,
        TableFormat::Markdown => output.print(Document(&experiment, None))?,
        TableFormat::Csv => {
            output.print(csv(&[&experiment.reductions, &experiment.errors]))?;
        }
        TableFormat::Json => output.print(json::render(&Object::new(&experiment, version)))?,
    }
    if let Some(folder) = &args.output {
        let files = write(&experiment, &facts, folder)?;
        output.remark(format!("In {}: {}.\n", folder.display(), files.join(", ")));
    }
    Ok(match (experiment.disagreements().is_empty(), experiment.not_run()) {
        (false, _) => Exit::Violation,
        (true, 0) => Exit::Fine,
        (true, _) => Exit::Incomplete,
    })
}

/// Runs searches, or takes them from the log.
struct Runner {
    batch: Batch,
    log: Option<Log>,
    machine: String,
    /// All runs that were used, to report when and where they were measured.
    used: Vec<Run>,
    left: usize,
    done: u32,
    /// The total time of the searches that were run by this process.
    spent: Duration,
}

impl Runner {
    fn new(size: usize, folder: Option<&Path>, quiet: bool) -> Result<Runner, Failure> {
        let log = folder.map(open).transpose()?;
        Ok(Runner {
            batch: Batch::new(size, quiet)?,
            log,
            machine: machine::machine(),
            used: Vec::new(),
            left: size,
            done: 0,
            spent: Duration::ZERO,
        })
    }

    fn run(&mut self, job: &Job) -> Result<Option<Ran>, Failure> {
        let key = Key::new(job, 0);
        let known = self.log.as_ref().and_then(|log| log.find(&key)).cloned();
        let ran = match known {
            Some(run) => {
                self.batch.skip();
                self.used.push(run.clone());
                Some(Ran::Measured(run.measured))
            }
            None => self.search(job, key)?,
        };
        self.left -= 1;
        Ok(ran)
    }

    /// Runs a search and logs it. `None` if it was interrupted: such a run does not count.
    fn search(&mut self, job: &Job, key: Key) -> Result<Option<Ran>, Failure> {
        let each = self.spent.checked_div(self.done).map(|each| each.as_secs_f64());
        self.batch.expect(each.map(|each| each * self.left as f64));
        let start = Instant::now();
        let ran = self.batch.run(job, None);
        self.spent += start.elapsed();
        self.done += 1;
        let Some(Ran::Measured(measured)) = ran else { return Ok(ran) };
        if measured.stopped_by == Some(StopReason::Interrupted) {
            return Ok(None);
        }
        let run = Run { at: now(), machine: self.machine.clone(), measured: measured.clone() };
        self.used.push(run.clone());
        if let Some(log) = &mut self.log {
            log.add(key, run)?;
        }
        Ok(Some(Ran::Measured(measured)))
    }

    fn finish(self) -> Facts {
        self.batch.finish();
        Facts {
            command: command(),
            version: env!("CARGO_PKG_VERSION"),
            date: now(),
            origins: log::origins(self.used.iter()),
        }
    }
}

fn open(folder: &Path) -> Result<Log, Failure> {
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
    let path = folder.join("runs.jsonl");
    Log::open(&path).map_err(|error| cannot_write(&path, error))
}

/// Writes all results to files in the folder, and returns the names of the files.
fn write(experiment: &Experiment, facts: &Facts, folder: &Path) -> Result<Vec<String>, Failure> {
    let mut files = vec![
        ("report.md".to_owned(), Document(experiment, Some(facts)).to_string()),
        ("clients.csv".to_owned(), csv(&[&experiment.reductions])),
        ("errors.csv".to_owned(), csv(&[&experiment.errors])),
    ];
    files.extend(pictures(experiment).into_iter().map(|picture| (picture.file, picture.svg)));
    for (name, text) in &files {
        write_file(&folder.join(name), text)?;
    }
    Ok(files.into_iter().map(|(name, _)| name).collect())
}
