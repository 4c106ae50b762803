//! The details in a report: which receive got which message, what was sent, where an exception was
//! thrown.

use crate::cli::{code, mazurka, stdout};

use super::{compile, compile_as, folder, marked};

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
             (farm.c:{two}), and nothing is wrong if it gets the message of rank 1 (farm.c:{one}); \
             it may come to this: assertion: first == 10"
        );
        assert!(said.contains(&expected), "{said}");
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
            let place = &marked("exceptions.cpp", &text, case)[0];
            assert!(option == "-O2" || said.contains(&**place), "{place}: {said}");
            assert!(said.contains("exceptions.cpp:"), "{said}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
