//! `mazurka reproduce mpi-bugs`: programs of a suite in the format of the MPI Bugs Initiative, compiled and verified.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::super::files;
use super::super::mpicc::{compiler, scratch};
use super::super::output::{Output, TableFormat, format};
use super::super::progress;
use super::super::{Exit, Failure, interrupt};
use super::Args;
use crate::explore::{Budget, Setting};
use crate::model::{Buffering, Leaving, Semantics};
use crate::mpi::suite::{Mark, Test, category, tests};
use crate::mpi::{Answer, Compiler, Files, Language, Launch, TICK, Unreceived, verify};
use crate::property::Properties;
use crate::report::table::{Markdown, Plain, Table, csv_lines};
use crate::report::text::{duration, shown};

/// How long a search of one program may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a rank may compute without a call of MPI.
const STEP: Duration = Duration::from_secs(5);
/// How many programs are verified at a time.
const THREADS: usize = 2;

/// What came of a test.
struct Marked {
    program: PathBuf,
    test: Test,
    /// The answer, or why there is none.
    answer: Result<Answer, String>,
    time: Duration,
}

impl Marked {
    fn mark(&self) -> Mark {
        self.answer.as_ref().map_or(Mark::Unsure, |answer| self.test.mark(answer))
    }

    /// In a line, unless all of it is right.
    fn objection(&self) -> Option<String> {
        let mark = self.mark();
        let fault = match mark {
            Mark::Passed => return None,
            Mark::Found { kind: true, place: None | Some(true) } => return None,
            Mark::Found { kind: false, .. } => "wrong kind",
            Mark::Found { .. } => "wrong place",
            Mark::Missed => "missed",
            Mark::FalseAlarm => "false alarm",
            Mark::Unsure => "no answer",
        };
        let expected = self.test.label.as_deref().unwrap_or("OK");
        let places: Vec<_> = self.test.places.iter().map(String::as_str).collect();
        let found = match &self.answer {
            Err(why) => why.clone(),
            Ok(Answer::Wrong(diagnosis)) => {
                let places: Vec<_> = diagnosis.places.iter().map(String::as_str).collect();
                format!("{}: {} [{}]", diagnosis.slip, diagnosis.message, places.join(" "))
            }
            Ok(Answer::Right) => "nothing".into(),
            Ok(Answer::Unsure) => "a limit was met".into(),
        };
        let arguments: Vec<_> =
            self.test.arguments.iter().map(|word| word.to_string_lossy()).collect();
        let program = [vec![shown(&self.program).into()], arguments].concat().join(" ");
        Some(format!(
            "{fault}: {program}\n    expected {expected} [{}]\n    found {found}\n",
            places.join(" ")
        ))
    }
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let suite = args
        .suite
        .as_deref()
        .ok_or_else(|| Failure::Usage("mpi-bugs needs --suite FOLDER".into()))?;
    output.direct(args.output.as_deref(), [])?;
    let format = format(args.format, args.output.as_deref(), TableFormat::Text);
    let programs = programs(suite, &args.filter)?;
    let begun = Instant::now();
    let (marked, whole) = all(&programs, output)?;
    let table = table(&marked, begun.elapsed());
    match format {
        TableFormat::Text => output.print(format!("{}\n", Plain(&table, output.room())))?,
        TableFormat::Markdown => output.print(Markdown(&table))?,
        TableFormat::Csv => {
            let lines = std::iter::once(&table.header).chain(&table.rows);
            output.print(csv_lines(lines, false))?;
        }
        TableFormat::Json => return Err(Failure::Usage("mpi-bugs has no JSON: use csv".into())),
    }
    if args.list {
        output.print(marked.iter().filter_map(Marked::objection).collect::<String>())?;
    }
    Ok(match (whole, marked.iter().all(|one| one.mark().is_right())) {
        (false, _) => Exit::Incomplete,
        (true, true) => Exit::Fine,
        (true, false) => Exit::Violation,
    })
}

/// The C programs of a folder whose names contain this.
fn programs(suite: &Path, filter: &str) -> Result<Vec<PathBuf>, Failure> {
    let refused =
        |error| Failure::Usage(format!("cannot read the folder {}: {error}", shown(suite)));
    let entries = std::fs::read_dir(suite).map_err(refused)?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_wanted = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "c") && path.to_string_lossy().contains(filter)
    };
    let mut programs: Vec<_> = paths.filter(is_wanted).collect();
    programs.sort();
    match programs.is_empty() {
        true => Err(Failure::Usage(format!("there are no such C programs in {}", shown(suite)))),
        false => Ok(programs),
    }
}

/// All tests of these programs, in order; and whether nothing was left out.
fn all(programs: &[PathBuf], output: &Output) -> Result<(Vec<Marked>, bool), Failure> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let cancel = interrupt::flag()?;
    let line = progress::line(!output.is_quiet());
    let work = || -> Result<(), Failure> {
        let scratch = scratch()?;
        let compiler = compiler(Language::C, &scratch);
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(program) = programs.get(index) else { return Ok(()) };
            if cancel.load(Ordering::Relaxed) {
                return Ok(());
            }
            line.set_message(format!("{} of {}: {}", index + 1, programs.len(), shown(program)));
            let marked = one(program, &compiler, scratch.path())?;
            done.lock().expect("no thread panics while it has it").insert(index, marked);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    line.finish_and_clear();
    let done = done.into_inner().expect("no thread panics while it has it");
    let whole = done.len() == programs.len();
    Ok((done.into_values().flatten().collect(), whole))
}

/// The tests of one program.
fn one(program: &Path, compiler: &Compiler, scratch: &Path) -> Result<Vec<Marked>, Failure> {
    let text = files::read(program)?;
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let tests =
        tests(&name, &text).map_err(|why| Failure::Usage(format!("{}: {why}", shown(program))))?;
    let made = scratch.join("program");
    let arguments = ["-O0".into(), "-w".into(), program.into(), "-o".into(), made.clone().into()];
    let compiled = compiler.run(&arguments).map_err(Failure::Usage)?;
    let marked = tests.into_iter().map(|test| {
        let begun = Instant::now();
        let answer = match compiled {
            true => answer(&made, &test),
            false => Err("it does not compile".into()),
        };
        Marked { program: program.to_owned(), test, answer, time: begun.elapsed() }
    });
    Ok(marked.collect())
}

fn answer(program: &Path, test: &Test) -> Result<Answer, String> {
    let launch = Launch {
        program: program.to_owned(),
        arguments: test.arguments.clone(),
        size: test.ranks,
        semantics: Semantics::default(),
        step_timeout: STEP,
        tick: TICK,
        files: Files::Own,
        base: PathBuf::new(),
    };
    let bufferings = match test.buffering {
        None => vec![Buffering::Infinite, Buffering::Zero],
        Some(buffering) => vec![buffering],
    };
    let with = |buffering| Semantics {
        buffering,
        leaving: Leaving::Synchronizing,
        ..Semantics::default()
    };
    let variants: Vec<_> = bufferings.into_iter().map(with).collect();
    let properties = Properties::default().with(Unreceived);
    let budget = Budget { timeout: Some(TIMEOUT), properties, ..Budget::default() };
    let setting: Setting = "udpor".parse().expect("an explorer");
    verify(&launch, &variants, setting, &budget)
}

/// What is shown of some tests.
#[derive(Default)]
struct Row {
    tests: usize,
    right: usize,
    found: usize,
    kind: usize,
    placed: usize,
    place: usize,
    missed: usize,
    alarms: usize,
    passed: usize,
    unsure: usize,
    time: Duration,
}

impl Row {
    fn of<'m>(marked: impl Iterator<Item = &'m Marked>) -> Row {
        let mut row = Row::default();
        for one in marked {
            let mark = one.mark();
            row.tests += 1;
            row.time += one.time;
            row.right += usize::from(mark.is_right());
            match mark {
                Mark::Found { kind, place } => {
                    row.found += 1;
                    row.kind += usize::from(kind);
                    row.placed += usize::from(place.is_some());
                    row.place += usize::from(place == Some(true));
                }
                Mark::Passed => row.passed += 1,
                Mark::Missed => row.missed += 1,
                Mark::FalseAlarm => row.alarms += 1,
                Mark::Unsure => row.unsure += 1,
            }
        }
        row
    }

    fn cells(&self, name: &str, time: Duration) -> Vec<String> {
        let wrong = self.tests - self.right;
        let of = |part: usize, whole: usize| format!("{part} of {whole}");
        let mut cells = vec![name.to_owned()];
        cells.extend([self.tests, self.right, wrong].map(|n| n.to_string()));
        cells.extend([of(self.kind, self.found), of(self.place, self.placed)]);
        cells.extend(
            [self.found, self.missed, self.alarms, self.passed, self.unsure].map(|n| n.to_string()),
        );
        cells.push(duration(time.as_secs_f64()));
        cells
    }
}

fn table(marked: &[Marked], time: Duration) -> Table {
    let mut categories: BTreeMap<String, Vec<&Marked>> = BTreeMap::new();
    for one in marked {
        categories.entry(category(&one.program)).or_default().push(one);
    }
    let header = [
        "category",
        "tests",
        "right",
        "wrong",
        "kind right",
        "line right",
        "TP",
        "FN",
        "FP",
        "TN",
        "no answer",
        "time",
    ];
    let mut rows: Vec<_> = categories
        .iter()
        .map(|(name, marked)| {
            let row = Row::of(marked.iter().copied());
            row.cells(name, row.time)
        })
        .collect();
    rows.push(Row::of(marked.iter()).cells("all, in two threads", time));
    let header: Vec<String> = header.map(String::from).into();
    Table { figures: 1..header.len(), header, rows }
}
