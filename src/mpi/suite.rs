//! Suites of small C programs of which it is known, or said, what is wrong with them: how their
//! files say that, and how good an answer is.
//!
//! Each suite has a layout of its own. It is recognised from the files, one by one:
//!
//! | layout | suite | recognised by |
//! |---|---|---|
//! | headers | MPI Bugs Initiative, MPI-BugBench | `BEGIN_MBI_TESTS`, `BEGIN_MBB_TESTS` in the text |
//! | names | RMARaceBench | names that end in `-yes.c` and `-no.c` |
//! | folders | MPI-CorrBench | a folder `correct` beside the program, or above it |
//! | lists | the tests of MPICH | files called `testlist` |
//!
//! The lists say only how programs are run. All of their programs are meant to be right, but some
//! of them try what happens in those that are not: so nothing is expected of them.

mod disputes;
mod headers;
mod lists;
mod names;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use disputes::Dispute;
pub use lists::{CONFIGURED, MAKEFILE};

use super::verify::{Answer, Doubt};
use crate::explore::StopReason;
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
    /// What the suite says of it.
    pub expected: Expected,
    /// Where a mistake is, as files with lines; empty if that is not said.
    pub places: BTreeSet<String>,
}

/// What a suite says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing is wrong with it.
    Right,
    /// There is a mistake, and perhaps it has a name.
    Wrong(Option<String>),
    /// That is left open.
    Open,
}

/// A program of a suite. All paths are those in the folder of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it is called.
    pub name: PathBuf,
    /// Its sources.
    pub sources: Vec<PathBuf>,
    /// What is defined as it is compiled, as options.
    pub options: Vec<String>,
    /// How it is run.
    pub tests: Vec<Test>,
}

impl Program {
    /// One that is a file, and needs no more than that.
    fn of(source: &Path, tests: Vec<Test>) -> Program {
        let (name, sources) = (source.into(), vec![source.into()]);
        Program { name, sources, options: Vec::new(), tests }
    }

    /// The family that it belongs to: its folder, or else what its name begins with.
    pub fn category(&self) -> String {
        let folder = self.name.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            return folder.to_string_lossy().into_owned();
        }
        let name = self.name.file_stem().unwrap_or_default().to_string_lossy();
        name.split('_').next().unwrap_or_default().to_owned()
    }
}

/// The files of a suite, in order.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    files: BTreeSet<PathBuf>,
}

impl Suite {
    /// A suite with these files, by their paths in its folder.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Suite {
        Suite { files: files.into_iter().collect() }
    }

    fn ending(&self, end: &'static str) -> impl Iterator<Item = &Path> {
        let files = self.files.iter().map(PathBuf::as_path);
        files.filter(move |file| file.extension().is_some_and(|found| found == end))
    }

    /// The C programs, and parts of programs.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        self.ending("c")
    }

    /// The folders with headers: there programs may look for theirs.
    pub fn includes(&self) -> BTreeSet<&Path> {
        self.ending("h").filter_map(Path::parent).collect()
    }

    /// The program in a file with this text; `None` if the suite does not say what is to be
    /// expected of it.
    ///
    /// # Errors
    /// If it says that in another way than its layout has it.
    pub fn program(&self, file: &Path, text: &str) -> Result<Option<Program>, String> {
        if let Some(found) = headers::tests(file, text) {
            return Ok(Some(Program::of(file, found?)));
        }
        if let Some(found) = names::by_ending(file, text) {
            return Ok(Some(Program::of(file, vec![found?])));
        }
        Ok(self.by_folder(file))
    }
}

/// How good an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A mistake was found where there is one.
    Found {
        /// Is the kind that of the label? `None` if the label is no kind.
        kind: Option<bool>,
        /// Was a place named that the suite names? `None` if it names none.
        place: Option<bool>,
    },
    /// There is none, and none was found.
    Passed,
    /// There is one, and none was found.
    Missed,
    /// There is none, and one was found.
    FalseAlarm,
    /// The answer contradicts the label, and so does the standard of MPI.
    Disputed,
    /// None was found, and it is not said whether there is one.
    Verified,
    /// One was found, and it is not said whether there is one.
    Reported,
    /// There is no answer: the program does what cannot be verified.
    Refused,
    /// There is no answer: time was up.
    TimedOut,
    /// There is no answer: another limit was met.
    Unsure,
    /// There is no answer: the program could not be compiled, or not be run.
    NotRun,
}

impl Mark {
    /// Is the answer right?
    pub fn is_right(self) -> bool {
        matches!(self, Mark::Found { .. } | Mark::Passed)
    }

    /// Is the answer wrong?
    pub fn is_wrong(self) -> bool {
        matches!(self, Mark::Missed | Mark::FalseAlarm)
    }

    /// Is there no answer?
    pub fn is_nothing(self) -> bool {
        matches!(self, Mark::Refused | Mark::TimedOut | Mark::Unsure | Mark::NotRun)
    }
}

impl Test {
    /// How good this answer is. What is never freed is found where a mistake is expected, and is no
    /// false alarm elsewhere. Of a label that is disputed, the standard has the last word.
    pub fn mark(&self, answer: &Answer, dispute: Option<&Dispute>) -> Mark {
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

/// Lines of a file, as reports name them.
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
