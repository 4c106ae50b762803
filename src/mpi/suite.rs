//! Suites of small programs in C, Fortran and Python, with known or claimed mistakes: how their
//! files say that, and how good an answer is.
//!
//! Each suite has a layout of its own, which is recognised file by file:
//!
//! | layout | suite | recognised by |
//! |---|---|---|
//! | headers | MPI Bugs Initiative, MPI-BugBench | `BEGIN_MBI_TESTS`, `BEGIN_MBB_TESTS` in the text |
//! | names | RMARaceBench | names that end in `-yes.c` and `-no.c` |
//! | folders | MPI-CorrBench | a folder `correct` beside the program, or above it |
//! | lists | the tests of MPICH | files called `testlist` |
//! | scripts | the tests and examples of mpi4py | an import of mpi4py or `unittest` in the text |
//!
//! The lists only say how programs are run, and scripts not even that. These programs are meant to
//! be correct, but some try what happens in wrong ones: so no result is expected of them, except of
//! those in the folder `errors` of the lists.

mod disputes;
mod headers;
mod lists;
mod names;
mod scripts;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

pub(crate) use disputes::Dispute;
pub(crate) use lists::{CONFIGURED, configured};
pub(crate) use scripts::{RUNNER, is_of_tests};

use super::compiler::{Language, is_of_fortran};
use super::verify::{Answer, Doubt};
use crate::explore::StopReason;
use crate::model::Buffering;

/// A way to run a program of a suite, and the expected result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    /// The number of ranks.
    pub(crate) ranks: u32,
    /// How standard sends are buffered, if the suite says so.
    pub(crate) buffering: Option<Buffering>,
    /// The arguments of the program.
    pub(crate) arguments: Vec<OsString>,
    /// The verdict of the suite.
    pub(crate) expected: Expected,
    /// The places of the mistake, as files with lines; empty if they are not given.
    pub(crate) places: BTreeSet<String>,
}

/// The verdict of a suite about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The program is correct.
    Right,
    /// There is a mistake, which may have a name.
    Wrong(Option<String>),
    /// The suite does not say.
    Open,
}

/// A program of a suite. All paths are relative to the folder of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) name: PathBuf,
    /// Its source files, in C or Fortran; for Python, the script.
    pub(crate) sources: Vec<PathBuf>,
    /// The definitions for compiling it, as options.
    pub(crate) options: Vec<String>,
    /// How it is run.
    pub(crate) tests: Vec<Test>,
}

impl Program {
    /// A program that consists of one file.
    fn of(source: &Path, tests: Vec<Test>) -> Program {
        let (name, sources) = (source.into(), vec![source.into()]);
        Program { name, sources, options: Vec::new(), tests }
    }

    /// The language of its main program.
    pub(crate) fn language(&self) -> Language {
        match self.sources.iter().any(|source| is_in_fortran(source)) {
            true => Language::Fortran,
            false => Language::C,
        }
    }

    /// The script, if it is one in Python.
    pub(crate) fn script(&self) -> Option<&Path> {
        self.sources.first().map(PathBuf::as_path).filter(|source| is_in_python(source))
    }

    /// The group that it belongs to: its folder, or else the beginning of its name.
    pub(crate) fn category(&self) -> String {
        let folder = self.name.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            return folder.to_string_lossy().into_owned();
        }
        let name = self.name.file_stem().unwrap_or_default().to_string_lossy();
        name.split('_').next().unwrap_or_default().to_owned()
    }
}

fn ending(file: &Path) -> &str {
    file.extension().and_then(OsStr::to_str).unwrap_or_default()
}

/// Whether a file is in Fortran.
fn is_in_fortran(file: &Path) -> bool {
    is_of_fortran(ending(file))
}

/// Whether a file is in Python.
fn is_in_python(file: &Path) -> bool {
    ending(file) == "py"
}

/// Whether a file can be a part of a program that is compiled.
fn is_source(file: &Path) -> bool {
    ending(file) == "c" || is_in_fortran(file)
}

/// The files of a suite, sorted.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    files: BTreeSet<PathBuf>,
    /// The number of ranks of a program, where the suite does not say it.
    ranks: u32,
}

impl Suite {
    /// The number of ranks of a program, where nobody says it.
    pub(crate) const RANKS: u32 = 2;

    /// A suite of these files, given by their paths in its folder.
    pub(crate) fn new(files: impl IntoIterator<Item = PathBuf>) -> Suite {
        Suite { files: files.into_iter().collect(), ranks: Suite::RANKS }
    }

    /// The same suite; its programs have so many ranks where it does not say it.
    pub(crate) fn of_ranks(self, ranks: u32) -> Suite {
        Suite { ranks, ..self }
    }

    /// A test without arguments that says no more than what is expected.
    fn test(&self, expected: Expected) -> Test {
        let (buffering, arguments, places) = Default::default();
        Test { ranks: self.ranks, buffering, arguments, expected, places }
    }

    fn ending(&self, end: &'static str) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path).filter(move |file| ending(file) == end)
    }

    /// The files in C and Fortran: programs and parts of programs.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path).filter(|file| is_source(file))
    }

    /// The folders with headers, where programs may look for theirs.
    pub(crate) fn includes(&self) -> BTreeSet<&Path> {
        self.ending("h").filter_map(Path::parent).collect()
    }

    /// The program in a file with this text; `None` if the suite does not say what to expect.
    ///
    /// # Errors
    /// If the file does not have the form that its layout prescribes.
    pub(crate) fn program(&self, file: &Path, text: &str) -> Result<Option<Program>, String> {
        if let Some(found) = headers::tests(file, text) {
            return Ok(Some(Program::of(file, found?)));
        }
        if let Some(found) = names::by_ending(file, text) {
            return Ok(Some(Program::of(file, vec![found?])));
        }
        Ok(self.by_folder(file))
    }
}

/// The mark for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// There is a mistake, and one was found.
    Found {
        /// Whether the kind is the kind of the label. `None` if the label is not a kind.
        kind: Option<bool>,
        /// Whether a place was reported that the suite gives. `None` if it gives none.
        place: Option<bool>,
    },
    /// There is no mistake, and none was found.
    Passed,
    /// There is a mistake, and none was found.
    Missed,
    /// There is no mistake, and one was found.
    FalseAlarm,
    /// The answer contradicts the label, and so does the MPI standard.
    Disputed,
    /// No mistake was found, and the suite does not say whether there is one.
    Verified,
    /// A mistake was found, and the suite does not say whether there is one.
    Reported,
    /// No answer: the program does what cannot be verified.
    Refused,
    /// No answer: the time was over.
    TimedOut,
    /// No answer: another limit was reached.
    Unsure,
    /// No answer: the program could not be compiled or run.
    NotRun,
}

impl Mark {
    /// Whether the answer is right.
    pub(crate) fn is_right(self) -> bool {
        matches!(self, Mark::Found { .. } | Mark::Passed)
    }

    /// Whether the answer is wrong.
    pub(crate) fn is_wrong(self) -> bool {
        matches!(self, Mark::Missed | Mark::FalseAlarm)
    }

    /// Whether there is no answer.
    pub(crate) fn is_nothing(self) -> bool {
        matches!(self, Mark::Refused | Mark::TimedOut | Mark::Unsure | Mark::NotRun)
    }
}

impl Test {
    /// The mark for this answer. An object that is never freed counts as found where a mistake is
    /// expected, and is not a false alarm elsewhere. For a disputed label, the standard decides.
    pub(crate) fn mark(&self, answer: &Answer, dispute: Option<&Dispute>) -> Mark {
        match (answer, &self.expected) {
            (Answer::Unsure(doubt), _) => doubt.into(),
            (Answer::Right | Answer::Odd(_), Expected::Open) => Mark::Verified,
            (Answer::Wrong(_), Expected::Open) => Mark::Reported,
            (_, _) if let Some(dispute) = dispute => dispute.mark(answer),
            (Answer::Right | Answer::Odd(_), Expected::Right) => Mark::Passed,
            (Answer::Right, Expected::Wrong(_)) => Mark::Missed,
            (Answer::Wrong(_), Expected::Right) => Mark::FalseAlarm,
            (Answer::Odd(diagnosis) | Answer::Wrong(diagnosis), Expected::Wrong(label)) => {
                Mark::Found {
                    kind: label.as_ref().map(|label| diagnosis.slip.is_labelled(label)),
                    place: match self.places.is_empty() {
                        true => None,
                        false => Some(!self.places.is_disjoint(&diagnosis.places)),
                    },
                }
            }
        }
    }
}

impl From<&Doubt> for Mark {
    fn from(doubt: &Doubt) -> Mark {
        match doubt {
            Doubt::Unsupported(_) => Mark::Refused,
            Doubt::Stopped(StopReason::Timeout) => Mark::TimedOut,
            Doubt::Stopped(_) => Mark::Unsure,
        }
    }
}

/// Lines of a file, in the form that reports use.
fn places(file: &Path, lines: impl Iterator<Item = usize>) -> BTreeSet<String> {
    let name = name(file);
    lines.map(|line| format!("{name}:{line}")).collect()
}

/// The name of a file, without its folder.
fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::{Diagnosis, Slip};

    fn test(expected: Expected) -> Test {
        let places = BTreeSet::from(["a.c:70".to_owned()]);
        Test { ranks: 2, buffering: None, arguments: Vec::new(), expected, places }
    }

    #[test]
    fn answers_are_marked() {
        let places = BTreeSet::from(["a.c:70".to_owned()]);
        let wrong = |slip| {
            Answer::Wrong(Diagnosis { slip, message: String::new(), places: places.clone() })
        };
        let labelled = test(Expected::Wrong(Some("RootMatching".into())));
        let found = |kind, place| Mark::Found { kind, place };
        let mark = |test: &Test, answer: &Answer| test.mark(answer, None);
        assert_eq!(mark(&labelled, &wrong(Slip::RootMismatch)), found(Some(true), Some(true)));
        assert_eq!(mark(&labelled, &wrong(Slip::CallOrder)), found(Some(false), Some(true)));
        assert_eq!(mark(&labelled, &Answer::Right), Mark::Missed);
        let unplaced = Test { places: BTreeSet::new(), ..test(Expected::Wrong(None)) };
        assert_eq!(mark(&unplaced, &wrong(Slip::CallOrder)), found(None, None));
        let right = test(Expected::Right);
        assert_eq!(mark(&right, &wrong(Slip::CallOrder)), Mark::FalseAlarm);
        assert_eq!(mark(&right, &Answer::Right), Mark::Passed);
        let open = test(Expected::Open);
        assert_eq!(mark(&open, &wrong(Slip::CallOrder)), Mark::Reported);
        assert_eq!(mark(&open, &Answer::Right), Mark::Verified);
    }

    #[test]
    fn no_answer_says_why() {
        let mark = |doubt| test(Expected::Right).mark(&Answer::Unsure(doubt), None);
        assert_eq!(mark(Doubt::Unsupported("threads".into())), Mark::Refused);
        assert_eq!(mark(Doubt::Stopped(StopReason::Timeout)), Mark::TimedOut);
        assert_eq!(mark(Doubt::Stopped(StopReason::Endless)), Mark::Unsure);
    }

    #[test]
    fn programs_belong_to_families() {
        let category = |name: &str| Program::of(Path::new(name), Vec::new()).category();
        assert_eq!(category("CallOrdering_a_b_ok.c"), "CallOrdering");
        assert_eq!(category("conflict/remote/001-put-remote-yes.c"), "conflict/remote");
    }
}
