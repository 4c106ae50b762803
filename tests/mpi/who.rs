//! The details in a report: which receive got which message, what was sent, where an exception was
//! thrown.

use crate::cli::{code, mazurka, stdout};

use super::{compile, compile_as, compile_source, folder, marked};

/// The number of the line with this end.
fn line(text: &str, end: &str) -> usize {
    let lines: Vec<usize> =
        (1..).zip(text.lines()).filter(|(_, line)| line.ends_with(end)).map(|(n, _)| n).collect();
    let [line] = lines[..] else { panic!("{end}: {lines:?}") };
    line
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_race_of_messages_names_who_took_which() {
    let folder = folder("mpi-farm");
    let farm = compile("farm", &folder);
    let text = std::fs::read_to_string("tests/mpi/farm.c").unwrap();
    let sent = |rank: u32| line(&text, &format!("// sent by {rank}"));
    for (case, call, taken, pattern) in [
        ("1", "MPI_Recv", line(&text, "// wrong 1"), "any source, any tag"),
        ("2", "MPI_Probe", line(&text, "// wrong 2"), "any source"),
    ] {
        let said = stdout(&mazurka(&["mpirun", "-n", "3", &farm, case]).output().unwrap());
        let (one, two) = (sent(1), sent(2));
        let expected = format!(
            "message race: {call} of rank 0 (farm.c:{taken}, {pattern}) got the message of rank 2 \
             (farm.c:{two}), and in an execution in which nothing is wrong it got the message of \
             rank 1 (farm.c:{one}); it may come to this: assertion: first == 10"
        );
        assert!(said.contains(&expected), "{said}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A report says of messages and of buffering what was seen, and nothing else.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_decides_is_told_if_it_was_seen() {
    let folder = folder("mpi-decides");
    let farm = compile("farm", &folder);
    let text = std::fs::read_to_string("tests/mpi/farm.c").unwrap();
    let (asked, sent) = (line(&text, "// asked once"), line(&text, "// sent to who asks once"));
    let too_soon = format!(
        "message race: MPI_Iprobe of rank 0 (farm.c:{asked}, any source) did not find the message of \
         rank 1 (farm.c:{sent}), and in an execution in which nothing is wrong it did; it may come to \
         this: abort: "
    );
    let sooner = format!(
        "message race: MPI_Iprobe of rank 0 (farm.c:{asked}, any source) got the message of rank 1 \
         (farm.c:{sent}) sooner than in an execution in which nothing is wrong; it may come to this: abort: "
    );
    let right_if_buffered = "Deadlock: buffering hazard: it is right only if ";
    for (args, expected) in [
        (&["5"][..], &*too_soon),
        (&["6"], &sooner),
        // Of the right executions some receive the same messages, others do not.
        (&["4"], "Assertion failed: !flag (rank 0"),
        (&["3"], right_if_buffered),
        // Not all executions with buffered sends were seen.
        (&["--max-traces", "1", "3"], "Deadlock: call order: no call can end: "),
    ] {
        let (case, options) = args.split_last().unwrap();
        let mut command = mazurka(&["mpirun", "-n", "3"]);
        let said = stdout(&command.args(options).args([&*farm, case]).output().unwrap());
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn operations_are_never_cut_and_data_is_shown() {
    let folder = folder("mpi-told");
    let farm = compile("farm", &folder);
    let said = |columns: Option<&str>| {
        let mut command = mazurka(&["mpirun", "-n", "3", &farm, "1"]);
        match columns {
            Some(columns) => command.env("COLUMNS", columns),
            None => command.env_remove("COLUMNS"),
        };
        stdout(&command.output().unwrap())
    };
    // Without a width, each step is one line.
    let whole = said(None);
    let receive = "MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status)";
    for told in [
        receive,
        "sends 4 bytes (10) to MPI_COMM_WORLD[0] with tag 2 from source 1",
        "gets 4 bytes (20) of rank 2",
        "MPI_COMM_WORLD is complete: [8 bytes (0.5), 8 bytes (1.5), 8 bytes (2.5)]",
        "MPI_COMM_WORLD is complete: [8 bytes (\"farm\")]",
    ] {
        assert!(whole.contains(told), "{told}: {whole}");
    }
    // All words of the call are there, in as many lines as they need.
    for columns in ["60", "80", "100"] {
        let narrow = said(Some(columns));
        assert!(!narrow.contains('…'), "{narrow}");
        let words = receive.split_whitespace();
        assert!(words.into_iter().all(|word| narrow.contains(word)), "{narrow}");
        let widest = narrow
            .lines()
            .skip_while(|line| !line.starts_with("       process"))
            .take_while(|line| !line.is_empty())
            .map(|line| line.chars().count())
            .max();
        assert!(widest <= Some(columns.parse().unwrap()), "{widest:?} of {columns}: {narrow}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn an_exception_that_nobody_catches_has_its_line_and_text() {
    let folder = folder("mpi-exceptions");
    let text = std::fs::read_to_string("tests/mpi/exceptions.cpp").unwrap();
    for option in ["-O0", "-O2"] {
        let program = compile_as("mpicxx", "exceptions.cpp", &[option], &folder);
        let said = |case: &str| mazurka(&["mpirun", "-q", &program, case]).output().unwrap();
        assert_eq!(code(&said("0")), 0);
        for (case, what) in [
            ("1", "an exception is not caught: std::runtime_error: rank 1 has no input"),
            ("2", "an exception is not caught: std::out_of_range: vector::_M_range_check"),
            ("3", "an exception is not caught: int"),
            ("4", "an exception is not caught: std::invalid_argument: stoi"),
            ("5", "the program calls abort()"),
        ] {
            let said = stdout(&said(case));
            assert!(said.starts_with(&format!("Error: abort: {what}")), "{said}");
            // The distance of the reported line from an inlined call depends on the compiler.
            let place = &marked("exceptions.cpp", &text, case, "//")[0];
            assert!(option == "-O2" || said.contains(&**place), "{place}: {said}");
            assert!(said.contains("exceptions.cpp:"), "{said}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// 64 ranks that wait for one another in a ring, after a barrier.
const RING: &str = r#"#include <mpi.h>
int main(int argc, char **argv) {
  int rank, size, got;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
"#;

/// Of many ranks, steps that are alike are told once, and ranks that wait alike are one node.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_report_on_many_ranks_is_short_and_their_circle_is_drawn() {
    let folder = folder("mpi-ring");
    let source = folder.join("ring.c");
    std::fs::write(&source, RING).unwrap();
    let program = compile_source("mpicc", source.to_str().unwrap(), &["-w"], &folder);
    let drawn = folder.join("waits.dot");
    let drawn = drawn.to_str().unwrap();
    let run = |ranks: &str| {
        let arguments = ["mpirun", "-n", ranks, "--draw", drawn, &program];
        let said = mazurka(&arguments).env_remove("COLUMNS").output().unwrap();
        assert_eq!(code(&said), 1);
        (stdout(&said), std::fs::read_to_string(drawn).unwrap())
    };
    let (said, graph) = run("64");
    for told in [
        "likewise rank 1 to rank 63; at last: 64 of 64 have entered MPI_COMM_WORLD",
        "likewise rank 1 to rank 63; at last: wants a message at MPI_COMM_WORLD[63] with tag 0 from source 0",
        "ring.c, after 256 steps:",
        "rank 0 -> rank 1 -> rank 2 -> (60 others) -> rank 63 -> rank 0",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert!(said.lines().count() < 40, "{said}");
    for told in [
        "rank 0 to rank 63\\n64 processes that wait alike",
        "w0 -> w0 [label=\"MPI_Recv(&amp;got, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WO…, ring.c:8\", \
         color=\"#D55E00\"",
    ] {
        assert!(graph.contains(told), "{told}: {graph}");
    }

    // Few ranks are told one by one.
    let (said, graph) = run("7");
    assert!(!said.contains("likewise"), "{said}");
    let edges: Vec<&str> = graph.lines().filter(|line| line.contains(" -> ")).collect();
    let is_next = |(rank, edge): (usize, &&str)| {
        edge.trim_start().starts_with(&format!("w{rank} -> w{} [", (rank + 1) % 7))
    };
    assert!(edges.len() == 7 && edges.iter().enumerate().all(is_next), "{graph}");
    assert_eq!(graph.matches("#D55E00").count(), 14, "{graph}");
    std::fs::remove_dir_all(&folder).unwrap();
}
