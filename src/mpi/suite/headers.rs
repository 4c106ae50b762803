//! Programs whose first lines describe their mistakes, as in the MPI Bugs Initiative and in
//! MPI-BugBench:
//!
//! ```text
//! BEGIN_MBI_TESTS
//!   $ mpirun -np 2 ${EXE} 1
//!   | ERROR: CallMatching
//!   | Collective mismatch. MPI_Bcast at a.c:51 is matched with MPI_Barrier at a.c:55.
//! END_MBI_TESTS
//! ```
//!
//! MPI-BugBench writes `MBB`, and no colon. In Fortran, each line begins with `!`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use super::{Expected, Test, name};
use crate::model::Buffering;

/// The names of suites in headers.
const SUITES: [&str; 2] = ["MBI", "MBB"];

/// The tests that a program describes; `None` if it has no such header.
pub(super) fn tests(file: &Path, text: &str) -> Option<Result<Vec<Test>, String>> {
    SUITES.iter().find_map(|suite| {
        let (_, rest) = text.split_once(&format!("BEGIN_{suite}_TESTS"))?;
        Some(described(&name(file), text, rest, suite))
    })
}

fn described(file: &str, text: &str, rest: &str, suite: &str) -> Result<Vec<Test>, String> {
    let end = format!("END_{suite}_TESTS");
    let (header, program) = rest.split_once(&end).ok_or_else(|| format!("no {end}"))?;
    let above = text[..text.len() - program.len()].lines().count();
    let lines = header.lines().map(|line| line.trim_start_matches([' ', '!']).trim_end());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let mut tests = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let said = |line: &&str| line.strip_prefix('|').map(|said| said.trim().to_owned());
        let verdict =
            lines.get(index + 1).and_then(said).ok_or("a command without what is expected")?;
        let details = lines.get(index + 2).and_then(said).unwrap_or_default();
        let expected = expected(&verdict)?;
        let places = match expected {
            Expected::Wrong(_) => {
                let marked = marked(program, suite).map(|line| format!("{file}:{}", above + line));
                places(file, &details).into_iter().chain(marked).collect()
            }
            Expected::Right | Expected::Open => BTreeSet::new(),
        };
        let (ranks, arguments) = called(command)?;
        let buffering = buffering(command);
        tests.push(Test { ranks, buffering, arguments, expected, places });
    }
    if tests.is_empty() { Err("no tests".into()) } else { Ok(tests) }
}

/// Reads a verdict: `OK`, `ERROR: CallMatching`, `ERROR LocalConcurrency`.
fn expected(verdict: &str) -> Result<Expected, String> {
    match verdict.strip_prefix("ERROR") {
        Some(label) => Ok(Expected::Wrong(Some(label.trim_start_matches(':').trim().to_owned()))),
        None if verdict == "OK" => Ok(Expected::Right),
        None => Err(format!("`{verdict}` is neither OK nor ERROR")),
    }
}

/// The buffering in a command: `$zero_buffer`, `$infty_buffer`.
fn buffering(command: &str) -> Option<Buffering> {
    command.split_whitespace().find_map(|word| match word {
        "$zero_buffer" => Some(Buffering::Zero),
        "$infty_buffer" => Some(Buffering::Infinite),
        _ => None,
    })
}

/// The number of ranks and the arguments in a command: `mpirun -np 2 ${EXE} 1`.
fn called(command: &str) -> Result<(u32, Vec<OsString>), String> {
    let mut words = command.split_whitespace();
    let ranks = words
        .by_ref()
        .skip_while(|&word| word != "-np")
        .nth(1)
        .and_then(|ranks| ranks.parse().ok());
    let ranks = ranks.ok_or_else(|| format!("no number of ranks in `{command}`"))?;
    let arguments =
        words.skip_while(|&word| word != "${EXE}").skip(1).map(OsString::from).collect();
    Ok((ranks, arguments))
}

/// The lines that a comment in the program marks as wrong, counted from the first line of the
/// program.
fn marked(program: &str, suite: &str) -> impl Iterator<Item = usize> {
    let mark = format!("{suite}ERROR");
    let lines = program.lines().enumerate().filter(move |(_, line)| line.contains(&mark));
    lines.map(|(index, _)| index)
}

/// The lines that a text mentions: `a.c:12`, or `line 12`.
fn places(file: &str, text: &str) -> BTreeSet<String> {
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let start = format!("{file}:");
    let named = text.split(&start).skip(1);
    let bare = text.split("line ").skip(1);
    let numbers = named.chain(bare).map(number).filter(|number| !number.is_empty());
    numbers.map(|number| format!("{file}:{number}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUGS: &str = "/*
BEGIN_MBI_TESTS
  $ mpirun -np 2 ${EXE} 1 x
  | ERROR: RootMatching
  | A root. MPI_Bcast at a.c:61 and line 70.
  $ mpirun -np 4 $zero_buffer ${EXE}
  | OK
  | OK
END_MBI_TESTS
*/
int main() {} /* MBIERROR */";

    const BENCH: &str = "BEGIN_MBB_TESTS
  $ mpirun -np 2 ${EXE}
  | ERROR LocalConcurrency
  | LocalConcurrency-mpi_irecv
END_MBB_TESTS
/*MBBERROR_BEGIN*/ buffer[2] = 1; /*MBBERROR_END*/
";

    fn read(text: &str) -> Vec<Test> {
        super::tests(Path::new("P2P/a.c"), text).unwrap().unwrap()
    }

    fn wrong(label: &str) -> Expected {
        Expected::Wrong(Some(label.into()))
    }

    #[test]
    fn a_program_says_what_to_expect() {
        let found = read(BUGS);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].ranks, found[1].ranks), (2, 4));
        assert_eq!(found[0].arguments, ["1", "x"]);
        assert_eq!(found[0].expected, wrong("RootMatching"));
        let places = ["a.c:61", "a.c:70", "a.c:11"].map(String::from);
        assert_eq!(found[0].places, BTreeSet::from(places));
        assert_eq!(found[1].expected, Expected::Right);
        assert_eq!((found[0].buffering, found[1].buffering), (None, Some(Buffering::Zero)));
    }

    #[test]
    fn headers_in_fortran_are_read() {
        let text: String = BUGS.lines().map(|line| format!("!  {line}\n")).collect();
        assert_eq!(read(&text), read(BUGS));
    }

    #[test]
    fn headers_without_a_colon_are_read() {
        let [test] = &read(BENCH)[..] else { panic!("one test") };
        assert_eq!(test.expected, wrong("LocalConcurrency"));
        assert_eq!(test.places, BTreeSet::from(["a.c:6".to_owned()]));
    }

    #[test]
    fn what_is_not_a_header_is_distinguished_from_a_bad_one() {
        assert_eq!(super::tests(Path::new("a.c"), "int main;"), None);
        let bad = BUGS.replace("| OK", "| MAYBE");
        assert!(super::tests(Path::new("a.c"), &bad).unwrap().is_err());
        assert!(super::tests(Path::new("a.c"), "BEGIN_MBI_TESTS").unwrap().is_err());
    }
}
