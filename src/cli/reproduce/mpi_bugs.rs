//! `mazurka reproduce mpi-bugs`: compiles and verifies the programs of a suite with a known layout.

mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::super::files;
use super::super::mpicc::scratch;
use super::super::output::{Output, TableFormat, format};
use super::super::progress;
use super::super::{Exit, Failure, interrupt, memory};
use super::Args;
use crate::explore::{Budget, Setting};
use crate::model::Semantics;
use crate::mpi::suite::{
    CONFIGURED, Dispute, Expected, Mark, Program, RUNNER, Suite, Test, configured, is_of_tests,
};
use crate::mpi::{Answer, Compiler, Language, Launch, Unreceived, verify};
use crate::property::Properties;
use crate::report::table::{Markdown, Plain, csv_lines};
use crate::report::text::shown;

/// The time limit of the search of one program.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The memory that all searches may have together, in bytes.
const MEMORY: u64 = 6_000_000_000;
/// How long a rank may compute without calling MPI.
const STEP: Duration = Duration::from_secs(20);
/// The number of programs that are verified at the same time.
const THREADS: usize = 2;

/// The result of a test.
struct Marked {
    /// The path of the program in the folder of the suite.
    program: PathBuf,
    category: String,
    test: Test,
    /// The answer, or the reason why there is none.
    answer: Result<Answer, String>,
    dispute: Option<&'static Dispute>,
    time: Duration,
}

impl Marked {
    fn mark(&self) -> Mark {
        self.answer.as_ref().map_or(Mark::NotRun, |answer| self.test.mark(answer, self.dispute))
    }

    /// A text about the test for `--list`; `None` if everything is right.
    fn objection(&self) -> Option<String> {
        let fault = match self.mark() {
            Mark::Verified if matches!(self.answer, Ok(Answer::Odd(_))) => "warning",
            Mark::Passed | Mark::Verified => return None,
            Mark::Found { kind: None | Some(true), place: None | Some(true) } => return None,
            Mark::Found { kind: Some(false), .. } => "wrong kind",
            Mark::Found { .. } => "wrong place",
            Mark::Missed => "missed",
            Mark::FalseAlarm => "false alarm",
            Mark::Disputed => "disputed label",
            Mark::Reported => "reported",
            Mark::Refused => "refused",
            Mark::TimedOut => "time-out",
            Mark::Unsure => "no answer",
            Mark::NotRun => "not run",
        };
        let expected = match &self.test.expected {
            Expected::Right => "OK",
            Expected::Wrong(label) => label.as_deref().unwrap_or("a mistake"),
            Expected::Open => "anything",
        };
        let found = match &self.answer {
            Err(why) => why.clone(),
            Ok(Answer::Odd(diagnosis) | Answer::Wrong(diagnosis)) => {
                let places = bracketed(&diagnosis.places);
                format!("{}: {}{places}", diagnosis.slip, diagnosis.message)
            }
            Ok(Answer::Right) => "nothing".into(),
            Ok(Answer::Unsure(doubt)) => format!("no answer: {doubt}"),
        };
        let arguments = self.test.arguments.iter().map(|word| word.to_string_lossy());
        let program: Vec<_> =
            std::iter::once(shown(&self.program).into()).chain(arguments).collect();
        let dispute = self.dispute.map_or(String::new(), |dispute| {
            format!("    the standard: {} (MPI 4.1, {})\n", dispute.reason, dispute.section)
        });
        let places = bracketed(&self.test.places);
        let program = program.join(" ");
        Some(format!(
            "{fault}: {program}\n    expected {expected}{places}\n    found {found}\n{dispute}"
        ))
    }
}

/// ` [a.c:7 a.c:9]`
fn bracketed(places: &BTreeSet<String>) -> String {
    let places: Vec<_> = places.iter().map(String::as_str).collect();
    match places.is_empty() {
        true => String::new(),
        false => format!(" [{}]", places.join(" ")),
    }
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let folder = args
        .suite
        .as_deref()
        .ok_or_else(|| Failure::Usage("mpi-bugs needs --suite FOLDER".into()))?;
    output.direct(args.output.as_deref(), [])?;
    let format = format(args.format, args.output.as_deref(), TableFormat::Text);
    let folder = &tests_in(fs::canonicalize(folder).map_err(cannot_read(folder))?);
    let suite = Suite::new(inside(folder)?).of_ranks(args.ranks.unwrap_or(Suite::RANKS));
    let programs = programs(folder, &suite, &args.filter)?;
    if programs.iter().any(|program| program.script().is_some()) {
        check_python()?;
    }
    let begun = Instant::now();
    let (marked, whole) = all(&Site { folder, suite: &suite }, &programs, output)?;
    let table = table::table(&marked, begun.elapsed());
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
    let is_any = |what: fn(Mark) -> bool| marked.iter().any(|one| what(one.mark()));
    Ok(match whole && !is_any(Mark::is_nothing) {
        _ if is_any(Mark::is_wrong) => Exit::Violation,
        true => Exit::Fine,
        false => Exit::Incomplete,
    })
}

/// The folder of the tests in a checkout of MPICH; any other folder is itself a suite.
fn tests_in(folder: PathBuf) -> PathBuf {
    let tests = folder.join("test/mpi");
    if tests.is_dir() { tests } else { folder }
}

/// The paths of all files in a folder and its subfolders, relative to the folder. Links to folders
/// are not followed.
fn inside(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (mut found, mut pending) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(below) = pending.pop() {
        let path = folder.join(&below);
        for entry in fs::read_dir(&path).map_err(cannot_read(&path))? {
            let entry = entry.map_err(cannot_read(&path))?;
            let name = below.join(entry.file_name());
            match entry.file_type().map_err(cannot_read(&path))?.is_dir() {
                true => pending.push(name),
                false => found.push(name),
            }
        }
    }
    Ok(found)
}

/// The programs of a suite whose names contain `filter`.
fn programs(folder: &Path, suite: &Suite, filter: &str) -> Result<Vec<Program>, Failure> {
    let is_wanted = |name: &Path| name.to_string_lossy().contains(filter);
    let mut programs = Vec::new();
    for (list, makefile) in suite.lists() {
        let text = files::read(&folder.join(list))?;
        let makefile = fs::read_to_string(folder.join(makefile)).unwrap_or_default();
        programs.extend(suite.listed(list, &text, &makefile));
    }
    if programs.is_empty() {
        for source in suite.sources().filter(|source| is_wanted(source)) {
            let text = files::read(&folder.join(source))?;
            let bad = |why| Failure::Usage(format!("{}: {why}", shown(source)));
            programs.extend(suite.program(source, &text).map_err(bad)?);
        }
    }
    if programs.is_empty() {
        let text = |script| Ok((script, files::read(&folder.join(script))?));
        let texts = suite.scripts().map(text).collect::<Result<_, Failure>>()?;
        programs = suite.in_python(&texts);
    }
    programs.retain(|program| is_wanted(&program.name));
    match programs.is_empty() {
        true => Err(Failure::Usage(format!(
            "{} has no such programs in a supported layout: see `mazurka reproduce --help`",
            shown(folder)
        ))),
        false => Ok(programs),
    }
}

/// A suite and its folder.
struct Site<'s> {
    folder: &'s Path,
    suite: &'s Suite,
}

/// The results of all tests of these programs, in order; and whether all programs were run (no
/// interrupt).
fn all(
    site: &Site<'_>,
    programs: &[Program],
    output: &Output,
) -> Result<(Vec<Marked>, bool), Failure> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let cancel = interrupt::flag()?;
    let line = progress::line(!output.is_quiet());
    let work = || -> Result<(), Failure> {
        let scratch = scratch()?;
        let workshop = Workshop::new(site, scratch.path())?;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(program) = programs.get(index) else { return Ok(()) };
            if cancel.load(Ordering::Relaxed) {
                return Ok(());
            }
            let name = shown(&program.name);
            line.set_message(format!("{} of {}: {name}", index + 1, programs.len()));
            let marked = workshop.marked(program)?;
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

/// The interpreter of Python: that of an environment, if one is active.
const PYTHON: &str = "python3";

/// Checks that the programs in Python find mpi4py.
fn check_python() -> Result<(), Failure> {
    let call = Command::new(PYTHON).args(["-c", "import mpi4py"]).output();
    let call = call.map_err(|error| Failure::Usage(format!("cannot run `{PYTHON}`: {error}")))?;
    match call.status.success() {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "`{PYTHON}` cannot import mpi4py: activate an environment that has it, or install it by \
             `MPICC=\"mazurka mpicc\" {PYTHON} -m pip install --no-binary mpi4py mpi4py`"
        ))),
    }
}

/// Compiles and runs programs of a suite, for one thread.
struct Workshop<'s> {
    site: &'s Site<'s>,
    scratch: &'s Path,
    /// Compiler options for all programs.
    options: Vec<OsString>,
    /// A library that all programs in C are linked with, if there is one.
    library: Option<OsString>,
}

impl<'s> Workshop<'s> {
    fn new(site: &'s Site<'s>, scratch: &'s Path) -> Result<Workshop<'s>, Failure> {
        let mut options = vec!["-O0".into(), "-w".into()];
        let includes = site.suite.includes().into_iter().map(|folder| site.folder.join(folder));
        options.extend(includes.map(|folder| include(&folder)));
        fs::write(scratch.join(TESTS), RUNNER).map_err(cannot_make)?;
        let mut workshop = Workshop { site, scratch, options, library: None };
        if site.suite.lists().next().is_some() {
            workshop.equip()?;
        }
        Ok(workshop)
    }

    fn compiler(&self, language: Language) -> Compiler {
        Compiler::of_user(language, self.scratch)
    }

    /// Makes the headers and the library that are common to the programs in lists.
    fn equip(&mut self) -> Result<(), Failure> {
        let headers = self.scratch.join("headers/include");
        fs::create_dir_all(&headers).map_err(cannot_make)?;
        for (name, text) in CONFIGURED {
            fs::write(headers.join(name), text).map_err(cannot_make)?;
        }
        for (template, name) in self.site.suite.templates() {
            let text = configured(&files::read(&self.site.folder.join(template))?);
            fs::write(headers.join(name), text).map_err(cannot_make)?;
        }
        // Programs in two folders use `../../include/mpitestconf.h`.
        let below = self.scratch.join("headers/of/program");
        fs::create_dir_all(&below).map_err(cannot_make)?;
        self.options.extend([include(&headers), include(&below)]);
        let library = self.scratch.join("libcommon.a");
        let compiler = self.compiler(Language::C);
        for (index, source) in self.site.suite.common().enumerate() {
            let object = self.scratch.join(format!("common-{index}.o"));
            let unlinked = ["-c".into(), self.site.folder.join(source).into()];
            let named = ["-o".into(), object.clone().into()];
            let arguments = [&self.options[..], &unlinked, &named].concat();
            if compiler.run(&arguments).map_err(Failure::Usage)? {
                let ar = Command::new("ar").arg("rcs").arg(&library).arg(&object).status();
                ar.map_err(|error| Failure::Usage(format!("cannot run `ar`: {error}")))?;
                self.library = Some(library.clone().into());
            }
        }
        Ok(())
    }

    /// Prepares a program and runs its tests.
    fn marked(&self, program: &Program) -> Result<Vec<Marked>, Failure> {
        let launch = match program.script() {
            Some(script) => Ok(self.interpreted(script)?),
            None => self.compiled(program)?,
        };
        let marked = program.tests.iter().map(|test| {
            let begun = Instant::now();
            Marked {
                program: program.name.clone(),
                category: program.category(),
                dispute: Dispute::of(&self.site.folder.join(&program.name), &test.expected),
                test: test.clone(),
                answer: launch.clone().and_then(|launch| answer(launch, test)),
                time: begun.elapsed(),
            }
        });
        Ok(marked.collect())
    }

    /// How a script is started.
    fn interpreted(&self, script: &Path) -> Result<Launch, Failure> {
        let script = self.site.folder.join(script);
        let runner = is_of_tests(&script, &files::read(&script)?).then(|| self.scratch.join(TESTS));
        let folder = script.parent().unwrap_or(self.site.folder).to_owned();
        let arguments = runner.into_iter().chain([script]).map(OsString::from).collect();
        Ok(Launch { arguments, ..self.launch(Path::new(PYTHON), folder) })
    }

    /// How a program is started, or why it could not be compiled.
    fn compiled(&self, program: &Program) -> Result<Result<Launch, String>, Failure> {
        // It has the name by which it may start itself.
        let folder = self.scratch.join("run");
        fs::create_dir_all(&folder).map_err(cannot_make)?;
        let made = folder.join(program.name.file_stem().unwrap_or_default());
        Ok(self.compile(program, &made)?.map(|()| self.launch(&made, folder)))
    }

    /// A program that is started in this folder.
    fn launch(&self, program: &Path, folder: PathBuf) -> Launch {
        let base = self.site.folder.to_owned();
        Launch { base, folder: Some(folder), ..Launch::new(program, Suite::RANKS) }
    }

    fn compile(&self, program: &Program, made: &Path) -> Result<Result<(), String>, Failure> {
        let language = program.language();
        let sources: Vec<_> =
            program.sources.iter().map(|source| self.site.folder.join(source)).collect();
        let mut arguments = self.options.clone();
        arguments.extend(program.options.iter().map(OsString::from));
        for source in &sources {
            let text = files::read(source)?;
            if ["#pragma omp", "omp.h", "!$omp"].iter().any(|used| text.contains(used)) {
                arguments.push("-fopenmp".into());
            }
        }
        arguments.extend(sources.into_iter().map(OsString::from));
        match language {
            // The folder for modules.
            Language::Fortran => arguments.extend(["-J".into(), self.scratch.into()]),
            _ => arguments.extend(self.library.clone()),
        }
        arguments.extend(["-lm".into(), "-o".into(), made.into()]);
        match self.compiler(language).run(&arguments) {
            Ok(true) => Ok(Ok(())),
            Ok(false) => Ok(Err("it does not compile".into())),
            // A suite may have a few programs in Fortran, and nobody to compile them.
            Err(why) if language == Language::Fortran => Ok(Err(why)),
            Err(why) => Err(Failure::Usage(why)),
        }
    }
}

/// The name of the script that runs a file of tests.
const TESTS: &str = "run_tests.py";

fn include(folder: &Path) -> OsString {
    let mut option = OsString::from("-I");
    option.push(folder);
    option
}

fn cannot_read(folder: &Path) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Usage(format!("cannot read the folder {}: {error}", shown(folder)))
}

fn cannot_make(error: std::io::Error) -> Failure {
    Failure::Usage(format!("cannot write to a temporary folder: {error}"))
}

fn answer(launch: Launch, test: &Test) -> Result<Answer, String> {
    let launch = Launch {
        arguments: [launch.arguments, test.arguments.clone()].concat(),
        size: test.ranks,
        step_timeout: STEP,
        ..launch
    };
    let properties = Properties::default().with(Unreceived);
    let max_memory = Some((MEMORY, memory::in_use as fn() -> u64));
    let budget = Budget { timeout: Some(TIMEOUT), max_memory, properties, ..Budget::default() };
    let setting: Setting = "udpor".parse().expect("an explorer");
    verify(&launch, &variants(test), setting, &budget)
}

/// The choices of MPI semantics with which a test is searched.
fn variants(test: &Test) -> [Semantics; 1] {
    let any = Semantics::ANY;
    [Semantics { buffering: test.buffering.unwrap_or(any.buffering), ..any }]
}
