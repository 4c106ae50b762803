//! A suite of small C programs that say in their first lines what is wrong with them, in the format of the MPI Bugs Initiative:
//!
//! ```text
//! BEGIN_MBI_TESTS
//!   $ mpirun -np 2 ${EXE} 1
//!   | ERROR: CallMatching
//!   | Collective mismatch. MPI_Bcast at a.c:51 is matched with MPI_Barrier at a.c:55.
//! END_MBI_TESTS
//! ```

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use super::verify::Answer;
use crate::model::Buffering;

/// A way to run a program of a suite, and what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The number of ranks.
    pub ranks: u32,
    /// How standard sends are to be buffered, if that is said.
    pub buffering: Option<Buffering>,
    /// What the program is called with.
    pub arguments: Vec<OsString>,
    /// The kind of mistake; `None` if there is none.
    pub label: Option<String>,
    /// Where it is, as files with lines; empty if that is not said.
    pub places: BTreeSet<String>,
}

/// The tests that a program describes; `file` is its name.
///
/// # Errors
/// If it describes none, or not in this format.
pub fn tests(file: &str, text: &str) -> Result<Vec<Test>, String> {
    let (_, rest) = text.split_once("BEGIN_MBI_TESTS").ok_or("no BEGIN_MBI_TESTS")?;
    let (header, _) = rest.split_once("END_MBI_TESTS").ok_or("no END_MBI_TESTS")?;
    let lines: Vec<&str> = header.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut tests = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let said = |line: &&str| line.strip_prefix('|').map(|said| said.trim().to_owned());
        let expected =
            lines.get(index + 1).and_then(said).ok_or("a command without what is expected")?;
        let details = lines.get(index + 2).and_then(said).unwrap_or_default();
        let label = match expected.strip_prefix("ERROR:") {
            Some(label) => Some(label.trim().to_owned()),
            None if expected == "OK" => None,
            None => return Err(format!("`{expected}` is neither OK nor ERROR")),
        };
        let places = match label {
            Some(_) => places(file, &details).into_iter().chain(marked(file, text)).collect(),
            None => BTreeSet::new(),
        };
        let (ranks, arguments) = called(command)?;
        let buffering = buffering(command);
        tests.push(Test { ranks, buffering, arguments, label, places });
    }
    if tests.is_empty() { Err("no tests".into()) } else { Ok(tests) }
}

/// `$zero_buffer`, `$infty_buffer`
fn buffering(command: &str) -> Option<Buffering> {
    command.split_whitespace().find_map(|word| match word {
        "$zero_buffer" => Some(Buffering::Zero),
        "$infty_buffer" => Some(Buffering::Infinite),
        _ => None,
    })
}

/// `mpirun -np 2 ${EXE} 1`
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

/// The lines that a comment in the program marks as wrong.
fn marked(file: &str, text: &str) -> Vec<String> {
    let (_, program) = text.split_once("END_MBI_TESTS").unwrap_or_default();
    let before = text.len() - program.len();
    let first = text[..before].lines().count();
    let lines = program.lines().enumerate().filter(|(_, line)| line.contains("MBIERROR"));
    lines.map(|(index, _)| format!("{file}:{}", first + index)).collect()
}

/// The lines that a text speaks of: `a.c:12`, and `line 12`.
fn places(file: &str, text: &str) -> BTreeSet<String> {
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let start = format!("{file}:");
    let named = text.split(&start).skip(1);
    let bare = text.split("line ").skip(1);
    let numbers = named.chain(bare).map(number).filter(|number| !number.is_empty());
    numbers.map(|number| format!("{file}:{number}")).collect()
}

/// How good an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A mistake was found where there is one. Is it the right kind, and a place that was named, if one was?
    Found {
        /// The kind is that of the label.
        kind: bool,
        /// `None` if no place is named.
        place: Option<bool>,
    },
    /// There is none, and none was found.
    Passed,
    /// There is one, and none was found.
    Missed,
    /// There is none, and one was found.
    FalseAlarm,
    /// There was no answer.
    Unsure,
}

impl Mark {
    /// Is the answer right?
    pub fn is_right(self) -> bool {
        matches!(self, Mark::Found { .. } | Mark::Passed)
    }
}

impl Test {
    /// How good this answer is.
    pub fn mark(&self, answer: &Answer) -> Mark {
        match (answer, &self.label) {
            (Answer::Unsure, _) => Mark::Unsure,
            (Answer::Right, None) => Mark::Passed,
            (Answer::Right, Some(_)) => Mark::Missed,
            (Answer::Wrong(_), None) => Mark::FalseAlarm,
            (Answer::Wrong(diagnosis), Some(label)) => {
                let is_named = !self.places.is_empty();
                Mark::Found {
                    kind: diagnosis.slip.is_labelled(label),
                    place: is_named.then(|| !self.places.is_disjoint(&diagnosis.places)),
                }
            }
        }
    }
}

/// The family of a program: what its name begins with.
pub fn category(program: &Path) -> String {
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    name.split('_').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::{Diagnosis, Slip};

    const TEXT: &str = "/*
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

    #[test]
    fn a_program_says_what_to_expect() {
        let found = tests("a.c", TEXT).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].ranks, found[1].ranks), (2, 4));
        assert_eq!(found[0].arguments, ["1", "x"]);
        assert_eq!(found[0].label.as_deref(), Some("RootMatching"));
        assert_eq!(
            found[0].places,
            BTreeSet::from(["a.c:61", "a.c:70", "a.c:11"].map(String::from))
        );
        assert_eq!(found[1].label, None);
        assert_eq!((found[0].buffering, found[1].buffering), (None, Some(Buffering::Zero)));
        assert!(tests("a.c", "int main;").is_err());
    }

    #[test]
    fn answers_are_marked() {
        let found = tests("a.c", TEXT).unwrap();
        let places = BTreeSet::from(["a.c:70".to_owned()]);
        let wrong = |slip| {
            Answer::Wrong(Diagnosis { slip, message: String::new(), places: places.clone() })
        };
        let mark = |test: usize, answer: &Answer| found[test].mark(answer);
        let right = Mark::Found { kind: true, place: Some(true) };
        assert_eq!(mark(0, &wrong(Slip::RootMismatch)), right);
        assert_eq!(
            mark(0, &wrong(Slip::CallOrder)),
            Mark::Found { kind: false, place: Some(true) }
        );
        assert_eq!(mark(1, &wrong(Slip::CallOrder)), Mark::FalseAlarm);
        assert_eq!(mark(0, &Answer::Right), Mark::Missed);
        assert_eq!(mark(1, &Answer::Right), Mark::Passed);
        assert_eq!(mark(1, &Answer::Unsure), Mark::Unsure);
        assert_eq!(category(Path::new("x/CallOrdering_a_b_ok.c")), "CallOrdering");
    }
}
