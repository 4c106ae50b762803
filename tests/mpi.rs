//! MPI programs in C, C++ and Fortran: the mistakes in wrong ones are found, and nothing else.
//!
//! The programs are in `tests/mpi`. Each has several cases, and its head says what is expected of
//! each:
//!
//! ```text
//! // 1, 2: right
//! // 3: root mismatch, 3 ranks
//! // 4: incomplete
//! ```
//!
//! `warning: communicator leak` is not a mistake, but should be mended. A comment `wrong 3` marks
//! the lines of which a report of case 3 must name at least one.

mod atomic;
mod builds;
mod degrees;
mod every;
mod faults;
mod files;
mod foreign;
mod fortran;
mod intervals;
mod outcomes;
mod passing;
mod polls;
mod saved;
mod seen;
mod spawned;
mod steps;
mod suites;
mod table;
mod testall;
mod who;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mazurka::explore::Budget;
use mazurka::model::Semantics;
use mazurka::mpi::{Answer, Compiler, Diagnosis, Launch, Unreceived, verify};
use mazurka::property::Properties;

use crate::cli::{code, json, mazurka, stderr, stdout};
use crate::tidy;

/// What is expected of a case.
struct Case {
    number: String,
    ranks: u32,
    /// The kind of mistake; `None` if the case is correct.
    slip: Option<String>,
    lines: Vec<String>,
}

/// The explorer of most tests.
const UDPOR: &str = "udpor";

/// A folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn cases(name: &str, text: &str) -> Vec<Case> {
    cases_in(name, text, "//")
}

/// The cases in a language whose comments begin with this mark.
fn cases_in(name: &str, text: &str, comment: &str) -> Vec<Case> {
    let heads = text.lines().map_while(|line| line.strip_prefix(comment)?.strip_prefix(' '));
    let told = heads
        .filter_map(|line| line.split_once(": "))
        .filter(|(numbers, _)| numbers.chars().all(|c| c.is_ascii_digit() || ", ".contains(c)));
    let cases = told.flat_map(|(numbers, expected)| {
        let (slip, ranks) = expected.split_once(", ").unwrap_or((expected, "2 ranks"));
        let ranks = ranks.strip_suffix(" ranks").and_then(|n| n.parse().ok()).expect("ranks");
        numbers.split(", ").map(move |number| Case {
            number: number.into(),
            ranks,
            slip: (slip != "right").then(|| slip.into()),
            lines: marked(name, text, number, comment),
        })
    });
    cases.collect()
}

/// The lines that are marked as wrong in a case.
fn marked(name: &str, text: &str, number: &str, comment: &str) -> Vec<String> {
    let start = format!("{comment} wrong ");
    let is_marked = |line: &str| {
        let mark = line.split_once(&start).map(|(_, numbers)| numbers);
        mark.is_some_and(|numbers| numbers.split(", ").any(|marked| marked == number))
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| is_marked(line));
    lines.map(|(line, _)| format!("{name}:{line}")).collect()
}

fn answer_with(program: &Path, case: &Case, variants: &[Semantics], explorer: &str) -> Answer {
    let hangs = case.slip.as_deref() == Some("hang");
    let launch = Launch {
        arguments: vec![case.number.clone().into()],
        step_timeout: Duration::from_secs(if hangs { 1 } else { 3 }),
        ..Launch::new(program, case.ranks)
    };
    let budget = Budget { properties: Properties::default().with(Unreceived), ..Budget::default() };
    verify(&launch, variants, explorer.parse().unwrap(), &budget).unwrap()
}

/// The difference between the result of a case by this explorer and its expectation.
fn objection(program: &Path, case: &Case, explorer: &str) -> Option<String> {
    let found = answer_with(program, case, &[Semantics::ANY], explorer);
    let fits = |diagnosis: &Diagnosis, slip: &str| {
        let is_there = |line| diagnosis.places.contains(line);
        diagnosis.slip.name() == slip && (case.lines.is_empty() || case.lines.iter().any(is_there))
    };
    let is_right = match (&found, &case.slip) {
        (Answer::Right, None) => true,
        (Answer::Unsure(_), Some(slip)) => ["unsupported", "incomplete"].contains(&&**slip),
        (Answer::Wrong(diagnosis), Some(slip)) => fits(diagnosis, slip),
        (Answer::Odd(diagnosis), Some(slip)) => {
            slip.strip_prefix("warning: ").is_some_and(|slip| fits(diagnosis, slip))
        }
        _ => false,
    };
    let Case { number, slip, lines, .. } = case;
    (!is_right).then(|| {
        let program = program.display();
        format!("{program} {number} by {explorer}: {slip:?} at {lines:?}, but {found:?}")
    })
}

/// The differences between the results of the cases of a program, compiled with this option, by
/// these explorers, and their expectations; and the numbers of correct and wrong cases.
fn offences(
    path: &Path,
    option: &str,
    folder: &Path,
    explorers: &[&str],
) -> (usize, usize, Vec<String>) {
    let compiler = Compiler::new("cc", cache(), folder.to_owned());
    let name = path.file_name().unwrap().to_str().unwrap();
    let program = folder.join(name).with_extension("exe");
    let text = std::fs::read_to_string(path).unwrap();
    let openmp = text.contains("<omp.h>").then_some("-fopenmp");
    let options = ["-Wall", "-pthread", option].into_iter().chain(openmp).map(OsString::from);
    let files = [path.into(), "-o".into(), program.clone().into()];
    let arguments: Vec<OsString> = options.chain(files).collect();
    assert!(compiler.run(&arguments).unwrap(), "{name} compiles");
    let cases = cases(name, &text);
    let wrong = cases.iter().filter(|case| case.slip.is_some()).count();
    let offences = cases.iter().flat_map(|case| {
        explorers.iter().filter_map(|explorer| objection(&program, case, explorer))
    });
    (cases.len() - wrong, wrong, offences.collect())
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_is_wrong_with_a_program_is_found_and_nothing_else() {
    let folder = folder("mpi-cases");
    let (mut right, mut wrong, mut found) = (0, 0, Vec::new());
    for path in tidy::files("tests/mpi", "c") {
        let (rights, wrongs, offences) = offences(&path, "-O0", &folder, &[UDPOR, "prefix"]);
        (right, wrong) = (right + rights, wrong + wrongs);
        found.extend(offences);
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(found.is_empty(), "{found:#?}");
    assert!(right >= 30 && wrong >= 60, "{right} right, {wrong} wrong");
}

/// The memory that a call reads or writes is compared with pending operations, and a null pointer
/// is an invalid argument: tested for each pointer parameter of all functions.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn no_function_forgets_a_pointer() {
    let folder = folder("mpi-every");
    let (text, calls) = every::program();
    assert!(calls.len() > 500, "{}", calls.len());
    let source = folder.join("every.c");
    std::fs::write(&source, text).unwrap();
    let program = compile_source("mpicc", source.to_str().unwrap(), &["-w"], &folder);
    let program = Path::new(&program);
    let found = |number: usize| {
        let case = Case { number: number.to_string(), ranks: 1, slip: None, lines: Vec::new() };
        match answer_with(program, &case, &[Semantics::default()], UDPOR) {
            Answer::Wrong(diagnosis) => diagnosis.slip.name(),
            _ => "",
        }
    };
    let objection = |(index, call): (usize, &every::Call)| {
        let used = if call.is_used { found(2 * index) } else { "local concurrency" };
        let null = found(2 * index + 1);
        let is_noticed = used == "local concurrency";
        let is_refused = null.starts_with("invalid") != call.is_optional && null != "crash";
        let every::Call { function, parameter, .. } = call;
        (!is_noticed || !is_refused).then(|| format!("{function}, {parameter}: {used}, {null}"))
    };
    let all: Vec<_> = calls.iter().enumerate().collect();
    let found: Vec<String> = std::thread::scope(|scope| {
        let parts = all.chunks(all.len().div_ceil(4));
        let work = |part: &[(usize, &every::Call)]| -> Vec<String> {
            part.iter().copied().filter_map(objection).collect()
        };
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(found.is_empty(), "{found:#?}");
}

/// An optimiser moves variables, lets them share memory, and keeps pointers in registers.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_is_found_does_not_depend_on_the_optimiser() {
    let folder = folder("mpi-optimized");
    let names = [
        "replace",
        "variables",
        "pending",
        "ready",
        "overlaps",
        "attributes",
        "errors",
        "legal",
        "places",
        "buffering",
    ];
    let found = names.map(|name| {
        let path = format!("tests/mpi/{name}.c");
        ["-O1", "-O2", "-O3"].map(|option| offences(Path::new(&path), option, &folder, &[UDPOR]).2)
    });
    std::fs::remove_dir_all(&folder).unwrap();
    let found: Vec<_> = found.into_iter().flatten().flatten().collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Compiles a program of `tests/mpi` with `mazurka mpicc`.
fn compile(name: &str, folder: &Path) -> String {
    compile_at(&format!("tests/mpi/{name}.c"), folder)
}

fn compile_at(path: &str, folder: &Path) -> String {
    compile_source("mpicc", path, &["-pthread"], folder)
}

/// Compiles a program of `tests/mpi` with this command of `mazurka` and these options.
fn compile_as(command: &str, name: &str, options: &[&str], folder: &Path) -> String {
    compile_source(command, &format!("tests/mpi/{name}"), options, folder)
}

/// The folder in which the library is compiled once for all tests.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

fn compile_source(command: &str, path: &str, options: &[&str], folder: &Path) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let program = folder.join(source.file_stem().unwrap()).display().to_string();
    let files = [source.to_str().unwrap(), "-o", &program];
    let arguments = [&[command], options, &files].concat();
    let compiled = mazurka(&arguments).env("XDG_CACHE_HOME", cache()).output().unwrap();
    assert_eq!(code(&compiled), 0, "{}", stderr(&compiled));
    program
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn exit_codes_and_reports_are_those_of_check() {
    let folder = folder("mpi-reports");
    let races = compile("races", &folder);
    let mpirun = |args: &[&str]| mazurka(args).output().unwrap();

    let right = mpirun(&["mpirun", "-n", "3", &races, "1"]);
    assert_eq!(code(&right), 0, "{}", stdout(&right));
    let text = stdout(&right);
    assert!(text.contains("each standard send buffered or not; each rank leaving"), "{text}");
    let both = ["mpirun", "-n", "3", "--buffering", "both", "--collectives", "early", &races, "1"];
    let text = stdout(&mpirun(&both));
    assert!(text.contains("With buffering infinite, collectives early:\nVerified"), "{text}");
    assert!(text.contains("With buffering zero, collectives early:\nVerified"), "{text}");
    // Two senders run once each, whatever the receiver does; the receiver has two executions.
    let narrow = ["mpirun", "-n", "3", "--buffering", "infinite", "--format", "json", &races, "1"];
    let counted = json(&mpirun(&narrow));
    assert_eq!(counted["stats"]["traces"], 2);
    assert_eq!(counted["ranks"], serde_json::Value::Null, "constants are apart");
    assert_eq!(counted["constants"]["ranks"], 3);

    let wrong = mpirun(&["mpirun", "-np", "3", "--format", "json", &races, "4"]);
    assert_eq!(code(&wrong), 1);
    let violation = &json(&wrong)["violations"][0];
    assert_eq!(violation["slip"], "message race");
    assert!(violation["message"].as_str().unwrap().contains("got < sum"), "{violation}");
    let replay = violation["replay"].as_str().unwrap();
    let again = mpirun(&["mpirun", "-n", "3", "--schedule", replay, &races, "4"]);
    assert_eq!(code(&again), 1, "{}", stderr(&again));
    assert!(
        stdout(&again).contains("Assertion failed: assertion: got < sum"),
        "{}",
        stdout(&again)
    );

    // An end has no line.
    let lifetime = compile("lifetime", &folder);
    let ended = stdout(&mpirun(&["mpirun", "-q", &lifetime, "5"]));
    assert!(ended.contains("the rank ends without MPI_Finalize (rank 0)."), "{ended}");

    let cut =
        mpirun(&["mpirun", "-n", "3", "--max-traces", "1", "--buffering", "infinite", &races, "1"]);
    assert_eq!(code(&cut), 3, "{}", stdout(&cut));
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    for (args, why) in [
        (vec!["mpirun", "no-such-program"], "no-such-program: No such file"),
        (vec!["mpirun", text], "was not made by `mazurka mpicc`"),
        (vec!["mpirun", "--explorer", "stateful", &races, "1"], "stateful"),
    ] {
        let refused = mpirun(&args);
        assert_eq!(code(&refused), 2, "{args:?}: {}", stdout(&refused));
        assert!(stderr(&refused).contains(why), "{args:?}: {}", stderr(&refused));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Executions by chance: the classes of a right program, the mistake of a wrong one, and no proof.
/// Case 2 of `buffering` is right only if sends are buffered. A sample cannot tell, so it is no hazard there.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn executions_of_ranks_are_chosen_by_chance() {
    let folder = folder("mpi-chance");
    let (races, buffering) = (compile("races", &folder), compile("buffering", &folder));
    for explorer in ["random", "pct"] {
        let chance = ["mpirun", "--explorer", explorer, "--executions", "60", "--format", "json"];
        let mpirun = |args: &[&str]| mazurka(&[&chance[..], args].concat()).output().unwrap();
        let right = mpirun(&["-n", "3", "--buffering", "infinite", &races, "1"]);
        assert_eq!(code(&right), 3, "{}", stdout(&right));
        let report = json(&right);
        assert_eq!(
            (&report["stopped_by"], &report["verdict"]),
            (&"sampled".into(), &"incomplete".into())
        );
        assert_eq!(
            (&report["stats"]["traces"], &report["stats"]["classes"]),
            (&60.into(), &2.into())
        );
        let wrong = mpirun(&["-n", "3", &races, "4"]);
        assert_eq!(code(&wrong), 1, "{}", stdout(&wrong));
        assert_eq!(json(&wrong)["violations"][0]["slip"], "message race");
        let stuck = mpirun(&["-n", "2", &buffering, "2"]);
        assert_eq!(json(&stuck)["violations"][0]["slip"], "call order", "{}", stdout(&stuck));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A program that calls no function of MPI is reported, because nothing was verified.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_program_without_calls_is_reported() {
    let folder = folder("mpi-calls");
    let told = |name: &str, text: &str| {
        let source = folder.join(name).with_extension("c");
        std::fs::write(&source, text).unwrap();
        let program = compile_source("mpicc", source.to_str().unwrap(), &[], &folder);
        let shown = mazurka(&["mpirun", &program]).output().unwrap();
        assert_eq!(code(&shown), 0, "{}", stdout(&shown));
        let report = json(&mazurka(&["mpirun", "--format", "json", &program]).output().unwrap());
        let warnings = report["warnings"].as_array().into_iter().flatten();
        let told: Vec<_> = warnings.map(|warning| warning["lint"].clone()).collect();
        (stdout(&shown).contains("no rank calls MPI_Init"), told)
    };
    let without = "#include <mpi.h>\nint main(void) { int flag; return MPI_Initialized(&flag); }\n";
    let with = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n";
    assert_eq!(told("without", without), (true, vec!["calls".into()]));
    assert_eq!(told("with", with), (false, Vec::new()));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The source of a message is the rank of its sender in the communicator. So it is known which
/// ranks could end a wait.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn who_could_end_a_wait_is_known_by_rank() {
    let folder = folder("mpi-helpers");
    let order = compile("order", &folder);
    let stuck = |case: &str, ranks: &str| {
        let mut wrong = mazurka(&["mpirun", "-n", ranks, "--format", "json", &order, case]);
        json(&wrong.output().unwrap())["violations"][0].clone()
    };
    let circle = stuck("6", "3");
    let links = circle["cycle"].as_array().expect("a circle").iter();
    let links = links.map(|link| format!("{} {}", link["process"], link["needs"]));
    let expected =
        ["\"rank 0\" [\"rank 1\"]", "\"rank 1\" [\"rank 2\"]", "\"rank 2\" [\"rank 0\"]"];
    assert_eq!(links.collect::<Vec<_>>(), expected);
    for blocked in &stuck("7", "3")["blocked"].as_array().expect("who waits")[1..] {
        assert_eq!(blocked["helpers"], serde_json::json!(["rank 0"]), "{blocked}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The output of ranks is the output of the execution that is shown. Time, process numbers and
/// random numbers are the same in each execution, and files that one execution writes do not exist
/// in another one.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn executions_know_nothing_of_each_other() {
    let folder = folder("mpi-apart");
    let program = compile("isolation", &folder);
    let shown = mazurka(&["mpirun", "-n", "3", "--all", "--format", "json", &program])
        .current_dir(&folder)
        .output()
        .unwrap();
    let report = json(&shown);
    let violations = report["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 1, "{report}");
    let printed = violations[0]["printed"].as_array().unwrap();
    let texts: Vec<_> = printed.iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["first from 2\nsecond from 1\n"], "{report}");
    assert!(!folder.join("written").exists(), "files are written elsewhere");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What a program writes to the connection of the library is not taken for a message of the
/// library.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_rank_is_done_when_the_library_says_so() {
    let folder = folder("mpi-forged");
    let program = compile("forged", &folder);
    for (case, why) in [("1", "forged"), ("2", "forged"), ("3", "forged"), ("4", ""), ("5", "")] {
        let args = [
            "mpirun",
            "-n",
            "2",
            "--step-timeout",
            "2s",
            "--buffering",
            "infinite",
            "--collectives",
            "early",
        ];
        let output = mazurka(&args).args([&program, case]).output().unwrap();
        assert_eq!(code(&output), 1, "{case}: {}", stderr(&output));
        assert!(stdout(&output).contains(why), "{case}: {}", stdout(&output));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Arguments after the program are its own. It measures half a minute, which takes no time.
#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn programs_in_cxx_have_options_and_clocks() {
    let folder = folder("mpi-cxx");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpi/levels.cpp");
    let program = folder.join("levels").display().to_string();
    let compiled = mazurka(&["mpicxx", "-Wall", source.to_str().unwrap(), "-o", &program])
        .env("XDG_CACHE_HOME", &folder)
        .output()
        .unwrap();
    assert_eq!((code(&compiled), stderr(&compiled)), (0, String::new()));
    let args = ["mpirun", "-n", "3", "--tick", "1s", &program, "-n", "0.5", "--all"];
    let right = mazurka(&args).output().unwrap();
    assert_eq!(code(&right), 0, "{}", stdout(&right));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The number of classes of the programs in `examples/mpi`, and of the runs of a rank for them.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn ranks_run_once_for_each_local_history() {
    let folder = folder("mpi-examples");
    for (name, ranks, traces, starts) in [
        ("ring", "4", 1, 4),
        ("head-to-head", "2", 1, 2),
        ("master-worker", "4", 6, 9),
        ("dtg", "5", 2, 6),
        ("diffusion2d", "4", 1, 4),
    ] {
        let program = compile_at(&format!("examples/mpi/{name}.c"), &folder);
        let args = [
            "mpirun",
            "-n",
            ranks,
            "--all",
            "--buffering",
            "infinite",
            "--format",
            "json",
            &program,
        ];
        let counted = json(&mazurka(&args).output().unwrap());
        assert_eq!(counted["verdict"], "ok", "{name}");
        assert_eq!(counted["stats"]["traces"], traces, "{name}");
        assert_eq!(counted["runs"]["starts"], starts, "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A schedule that is too long for a command is read from the result.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_long_execution_is_replayed_from_its_result() {
    const SOURCE: &str = "#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 300; i++) {
    if (rank == i % 2) MPI_Ssend(NULL, 0, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    else MPI_Recv(NULL, 0, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  abort();
}
";
    let folder = folder("mpi-long");
    let source = folder.join("long.c");
    std::fs::write(&source, SOURCE).unwrap();
    let program = compile_source("mpicc", source.to_str().unwrap(), &["-g"], &folder);
    let search = |more: &[&str]| {
        let args = [&["mpirun", "-n", "2", "--explorer", "optimal"], more, &[&program]].concat();
        mazurka(&args).current_dir(&folder).output().unwrap()
    };
    let text = stdout(&search(&[]));
    let command = text.lines().find(|line| line.contains("--schedule")).unwrap();
    assert!(command.contains("--schedule RESULT.json") && command.len() < 200, "{command}");
    std::fs::write(folder.join("result.json"), search(&["--format", "json"]).stdout).unwrap();
    let replay = ["--buffering", "any", "--collectives", "any", "--schedule", "result.json"];
    let args = [&["mpirun", "-n", "2"], &replay[..], &[&program]].concat();
    let shown = mazurka(&args).current_dir(&folder).output().unwrap();
    let text = stdout(&shown);
    assert!(code(&shown) == 1 && text.contains("abort: the program calls abort()"), "{text}");
    assert!(text.lines().count() > 900, "{text}");
    std::fs::remove_dir_all(&folder).unwrap();
}
