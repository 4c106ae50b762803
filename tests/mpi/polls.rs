//! Loops that poll, in programs in C.

use mazurka::explore::StopReason;
use mazurka::model::Semantics;
use mazurka::mpi::{Answer, Doubt};

use super::*;

fn compiled(option: &str, folder: &Path) -> String {
    compile_as("mpicc", "polls.c", &["-Wall", option], folder)
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn loops_that_poll_are_distinguished_in_optimized_code_too() {
    let folder = folder("mpi-polls-optimized");
    let (right, wrong, found) =
        offences(Path::new("tests/mpi/polls.c"), "-O2", &folder, &[super::UDPOR]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((right, wrong, found), (12, 15, Vec::new()));
}

/// This does not depend on instrumentation: states are compared as they are.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn loops_that_poll_are_distinguished_without_instrumentation() {
    let folder = folder("mpi-polls-plain");
    let (_, _, found) =
        offences(Path::new("tests/mpi/polls.c"), "-fno-sanitize=thread", &folder, &[super::UDPOR]);
    std::fs::remove_dir_all(&folder).unwrap();
    // The race of case 25 is not detected.
    assert_eq!(found.len(), 1, "{found:?}");
}

/// A loop that behaves differently after a number of polls is followed to its end, if the bound is
/// high enough.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn with_a_higher_bound_the_loop_is_followed_to_its_end() {
    let folder = folder("mpi-polls-bound");
    for option in ["-O0", "-O2"] {
        let program = compiled(option, &folder);
        let found = |number: u32, max_polls: u8| {
            let (number, lines) = (number.to_string(), Vec::new());
            let case = Case { number, ranks: 2, slip: None, lines };
            let semantics = Semantics { max_polls, ..Semantics::default() };
            answer_with(Path::new(&program), &case, &[semantics], super::UDPOR)
        };
        for number in [1, 16, 17, 18, 19, 20, 21] {
            assert_eq!(
                found(number, 2),
                Answer::Unsure(Doubt::Stopped(StopReason::Polls)),
                "{number} {option}"
            );
            assert_eq!(found(number, 12), Answer::Right, "{number} {option}");
        }
        // It is unknown when these end.
        for number in [14, 15] {
            assert_eq!(
                found(number, 12),
                Answer::Unsure(Doubt::Stopped(StopReason::Polls)),
                "{number} {option}"
            );
        }
        assert_eq!(found(24, 4), Answer::Unsure(Doubt::Stopped(StopReason::Polls)), "{option}");
        let Answer::Wrong(diagnosis) = found(24, 8) else { panic!("five polls are few") };
        assert_eq!(diagnosis.slip.name(), "abort", "{option}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_report_says_which_bound_to_try() {
    let folder = folder("mpi-polls-report");
    let program = compiled("-O1", &folder);
    let mpirun = |args: &[&str]| mazurka(&[&["mpirun"], args].concat()).output().unwrap();

    let cut = mpirun(&["--buffering", "infinite", &program, "1"]);
    assert_eq!(code(&cut), 3, "{}", stdout(&cut));
    let (text, line) = (stdout(&cut), "cut at --polls 2: try --polls 8");
    assert!(text.contains("polls.c:") && text.contains(line), "{text}");
    let report = json(&mpirun(&["--buffering", "infinite", "--format", "json", &program, "1"]));
    assert_eq!(report["stopped_by"], "polls");
    assert_eq!(report["verdict"], "incomplete");
    assert_eq!(report["cut_poll"]["polls"], 2);
    let enough = mpirun(&["--polls", "12", &program, "1"]);
    assert_eq!(code(&enough), 0, "{}", stdout(&enough));

    // A report about a rank that waits for ever names the place of the poll, and the replay shows
    // it again.
    let stuck = mpirun(&["--format", "json", "--buffering", "infinite", &program, "22"]);
    assert_eq!(code(&stuck), 1);
    let violation = &json(&stuck)["violations"][0];
    assert_eq!(violation["kind"], "livelock");
    assert!(violation["message"].as_str().unwrap().contains("MPI_Test (rank 0, polls.c:"));
    assert_eq!(violation["spinning"], serde_json::json!(["rank 0"]));
    let replay = violation["replay"].as_str().unwrap();
    let again = mpirun(&["--schedule", replay, "--buffering", "infinite", &program, "22"]);
    assert_eq!(code(&again), 1, "{}", stderr(&again));
    assert!(stdout(&again).contains("Livelock"), "{}", stdout(&again));
    let result = folder.join("result.json");
    std::fs::write(&result, &stuck.stdout).unwrap();
    let result = result.to_str().unwrap();
    let from_file = mpirun(&["--schedule", result, "--buffering", "infinite", &program, "22"]);
    assert_eq!(stdout(&from_file), stdout(&again));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn loops_of_libraries_are_waits_in_optimized_code_too() {
    let folder = folder("mpi-rounds-optimized");
    let (right, wrong, found) =
        offences(Path::new("tests/mpi/rounds.c"), "-O2", &folder, &[super::UDPOR]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((right, wrong, found), (8, 11, Vec::new()));
}

/// By chance a rank often polls too early, and then waits for something else in its loop that never
/// comes. Such executions are not given up: it polls later.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn executions_by_chance_come_to_their_end() {
    let folder = folder("mpi-rounds-by-chance");
    let program = compile_as("mpicc", "rounds.c", &["-O1"], &folder);
    for explorer in ["random", "pct"] {
        for case in ["1", "4", "12"] {
            let by_chance = ["--explorer", explorer, "--executions", "40", "--format", "json"];
            let arguments = [&["mpirun"], &by_chance[..], &[&program, case]].concat();
            let stats = json(&mazurka(&arguments).output().unwrap())["stats"].clone();
            assert_eq!((stats["traces"].as_u64(), stats["given_up"].as_u64()), (Some(40), Some(0)));
            let all =
                json(&mazurka(&["mpirun", "--format", "json", &program, case]).output().unwrap());
            let classes = stats["classes"].as_u64().unwrap();
            assert!(
                classes > 1 && classes <= all["stats"]["traces"].as_u64().unwrap(),
                "{explorer} {case}"
            );
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What a poll is about to overwrite makes no difference: a loop that tests one request after the
/// other has the same few classes, whatever its variables contain before the first round.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn old_results_of_polls_are_no_state() {
    let folder = folder("mpi-rounds-classes");
    for option in ["-O0", "-O2"] {
        let program = compile_as("mpicc", "rounds.c", &[option], &folder);
        for (case, traces, given_up) in [("10", 2, 0), ("6", 2, 0)] {
            let report =
                json(&mazurka(&["mpirun", "--format", "json", &program, case]).output().unwrap());
            let stats = &report["stats"];
            let found = (stats["traces"].as_u64().unwrap(), stats["given_up"].as_u64().unwrap());
            assert_eq!(found, (traces, given_up), "{case} {option}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
