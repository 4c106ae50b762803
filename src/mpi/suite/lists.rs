//! Programs that are listed in files, each with its number of ranks, as the tests of MPICH are:
//!
//! ```text
//! # name ranks [arg=..] [env=..]
//! scatter 4
//! bcast 4 arg=-counts=10 timeLimit=600
//! ```
//!
//! A program is built from `name.c`, or `name.f` and the like, unless the `Makefile.am` beside the
//! list says otherwise:
//!
//! ```text
//! scatter_large_SOURCES = scatter.c
//! scatter_large_CPPFLAGS = -DLARGE $(AM_CPPFLAGS)
//! ```
//!
//! Nothing else is read from the makefile. Common code is in the folders `util` and `dtpools`;
//! Fortran's is one file for each of the folders `f77`, `f90` and `f08`. A configured suite has
//! three more headers, [`CONFIGURED`], and those that are made from files `.h.in`; otherwise ours
//! are used.
//!
//! The following lines are left out: programs whose files are not there, or are in other languages;
//! lines that differ from another one only in `env`, which is for MPICH; programs that go beyond
//! the standard (`strict=false`); and programs that are known to fail (`xfail`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Expected, Program, Suite, Test, is_in_fortran, is_source};

/// The names of lists, and of the files that say how their programs are built. Only the first one
/// of a folder is read. The second one is meant to be configured, but hardly ever needs it; the
/// last one is the part that is written by hand of a list that a script makes.
const LISTS: [(&str, &str); 3] =
    [("testlist", "Makefile.am"), ("testlist.in", "Makefile.am"), ("testlist.ap", "Makefile.ap")];

/// The folder of programs that are wrong.
const WRONG: &str = "errors";

/// The folders of common code.
const COMMON: [&str; 2] = ["util", "dtpools/src"];

/// The folders of programs in Fortran: each has its interface to MPI, and common code for it.
const INTERFACES: [&str; 3] = ["f77", "f90", "f08"];

/// The variant, for programs without threads, of a file of the common code.
const WITHOUT_THREADS: &str = "util/mtest_single.c";

/// Definitions that hold on every machine of interest.
const MACHINE: &str = "\
#define STDC_HEADERS 1
#define HAVE_STDARG_H 1
#define HAVE_STRING_H 1
#define HAVE_UNISTD_H 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG_INT 1
#define HAVE_MPI_WIN_CREATE 1
#define HAVE_PTHREAD_BARRIER_INIT 1
#define HAVE_ATOMIC 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
#define USE_STRICT_MPI 1
#define F77_NAME_LOWER_USCORE 1
";

/// What configuring puts into a header for Fortran.
const TYPES: [(&str, &str); 2] =
    [("@F77_MPI_ADDRESS@", "integer*8"), ("@F77_MPI_OFFSET@", "integer*8")];

/// Headers of a configured suite, and our replacements: files in a folder where headers are looked
/// up.
pub(crate) const CONFIGURED: [(&str, &str); 3] =
    [("mpitestconf.h", MACHINE), ("mtest_mpix.h", ""), ("../dtpoolsconf.h", MACHINE)];

impl Suite {
    /// The lists of programs, each with the path of its makefile.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (&Path, PathBuf)> {
        let folders: BTreeSet<_> = self.files.iter().filter_map(|file| file.parent()).collect();
        folders.into_iter().filter_map(|folder| {
            LISTS.iter().find_map(|&(list, makefile)| {
                let list = self.files.get(&folder.join(list))?;
                Some((list.as_path(), folder.join(makefile)))
            })
        })
    }

    /// The headers to be configured: paths, and names when they are configured.
    pub(crate) fn templates(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.ending("in").filter_map(|file| {
            let name = Path::new(file.file_stem()?);
            name.extension().is_some_and(|found| found == "h").then_some((file, name))
        })
    }

    /// The files of common code for programs in C.
    pub(crate) fn common(&self) -> impl Iterator<Item = &Path> {
        let is_common = |file: &&Path| {
            let folder = file.parent();
            COMMON.iter().any(|&common| folder == Some(Path::new(common)))
                && *file != Path::new(WITHOUT_THREADS)
        };
        self.ending("c").filter(is_common)
    }

    /// The common code for programs in Fortran in this folder.
    fn common_in_fortran(&self, folder: &Path) -> Option<&Path> {
        let interface = INTERFACES
            .iter()
            .find(|&&interface| folder.components().any(|part| part.as_os_str() == interface))?;
        let name = format!("mtest_{interface}");
        self.sources().find(|file| {
            is_in_fortran(file) && file.file_stem().is_some_and(|stem| stem == name.as_str())
        })
    }

    /// The files of a program in a list, where a makefile does not say them.
    fn usual(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        let sources = self.sources().filter(|file| file.parent() == Some(folder));
        let mut named = sources.filter(|file| file.file_stem().is_some_and(|stem| stem == name));
        named.next().map(Path::to_owned)
    }

    /// The programs of a list, with the makefile beside it.
    pub(crate) fn listed(&self, list: &Path, text: &str, makefile: &str) -> Vec<Program> {
        let folder = list.parent().unwrap_or(Path::new(""));
        let rules = rules(makefile);
        let mut programs: BTreeMap<&str, Program> = BTreeMap::new();
        let is_wrong = folder.starts_with(WRONG);
        for (name, test) in text.lines().filter_map(|line| self.listed_test(line, is_wrong)) {
            let rule = |what: &str| rules.get(format!("{name}_{what}").as_str());
            let mut sources: Vec<_> = match rule("SOURCES") {
                Some(files) => files.iter().map(|file| folder.join(file)).collect(),
                None => self.usual(folder, name).into_iter().collect(),
            };
            sources.retain(|file| is_source(file));
            if sources.is_empty() || !sources.iter().all(|file| self.files.contains(file)) {
                continue;
            }
            if sources.iter().any(|file| is_in_fortran(file)) {
                sources.extend(self.common_in_fortran(folder).map(Path::to_owned));
            }
            let options = rule("CPPFLAGS").into_iter().flatten();
            let options = options.filter(|word| word.starts_with("-D")).map(|&word| word.into());
            let program = programs.entry(name).or_insert_with(|| Program {
                name: folder.join(name),
                sources,
                options: options.collect(),
                tests: Vec::new(),
            });
            if !program.tests.contains(&test) {
                program.tests.push(test);
            }
        }
        programs.into_values().collect()
    }

    /// Reads a line of a list: a program, and how it is run. A condition may precede it:
    /// `@condition@name`. All programs of the list may be wrong.
    fn listed_test<'l>(&self, line: &'l str, is_wrong: bool) -> Option<(&'l str, Test)> {
        let line = line.split('#').next()?;
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let name = name.rsplit_once('@').map_or(name, |(_, name)| name);
        let mut test = self.test(if is_wrong { Expected::Wrong(None) } else { Expected::Open });
        for word in words {
            match word.split_once('=') {
                None => test.ranks = word.parse().ok()?,
                Some(("arg", argument)) => test.arguments.push(argument.into()),
                Some(("xfail", _)) => return None,
                Some(("strict", is)) if is.eq_ignore_ascii_case("false") => return None,
                Some(_) => {}
            }
        }
        Some((name, test))
    }
}

/// A header, configured.
pub(crate) fn configured(template: &str) -> String {
    TYPES.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// The rules of a makefile, `name = words`. A `\` at the end continues a line.
fn rules(makefile: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut rules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = None;
    for line in makefile.lines() {
        let (begun, rest) = match (name, line.split_once('=')) {
            (None, Some((name, rest))) => (name.trim_end_matches('+').trim(), rest),
            (None, None) => continue,
            (Some(begun), _) => (begun, line),
        };
        let words = rest.trim_end().trim_end_matches('\\');
        rules.entry(begun).or_default().extend(words.split_whitespace());
        name = rest.trim_end().ends_with('\\').then_some(begun);
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# all of them
a 4 arg=-x arg=3 timeLimit=9
a 4 arg=-x arg=3 env=MPIR_CVAR=1
@large@a_large
b 3 # nothing
c 2 strict=FALSE
d 2 xfail=ticket1
e 2
coll
";

    const MAKE: &str = "include $(top_srcdir)/Makefile.mtest
noinst_PROGRAMS = a \\
    a_large
a_large_SOURCES = a.c \\
    more.c more.h
a_large_CPPFLAGS = -DLARGE $(AM_CPPFLAGS)
";

    #[test]
    fn programs_are_named_in_lists() {
        let files = ["a.c", "more.c", "b.c", "c.c", "d.c", "e.cxx", "testlist", "testlist.in"];
        let files = files.map(|name| Path::new("pt2pt").join(name));
        let common = ["util/mtest.c", "util/mtest_single.c", "dtpools/src/dtpools.c"];
        let suite = Suite::new(files.into_iter().chain(common.map(PathBuf::from)));
        let lists: Vec<_> = suite.lists().collect();
        assert_eq!(lists, [(Path::new("pt2pt/testlist"), "pt2pt/Makefile.am".into())]);
        let found = suite.listed(lists[0].0, LIST, MAKE);
        let names: Vec<_> = found.iter().map(|program| program.name.to_str().unwrap()).collect();
        assert_eq!(names, ["pt2pt/a", "pt2pt/a_large", "pt2pt/b"]);
        let [a, large, b] = &found[..] else { unreachable!() };
        assert_eq!((a.tests.len(), a.tests[0].ranks), (1, 4));
        assert_eq!(a.tests[0].arguments, ["-x", "3"]);
        assert_eq!(a.tests[0].expected, Expected::Open);
        assert_eq!(large.sources, ["pt2pt/a.c", "pt2pt/more.c"].map(PathBuf::from));
        assert_eq!((&large.options[..], large.tests[0].ranks), (&["-DLARGE".to_owned()][..], 2));
        assert_eq!((&b.options[..], b.tests[0].ranks), (&[][..], 3));
        assert_eq!(b.category(), "pt2pt");
        let wrong = suite.listed_test("a 2", true).unwrap().1;
        assert_eq!(wrong.expected, Expected::Wrong(None));
        let common: Vec<_> = suite.common().collect();
        assert_eq!(common, ["dtpools/src/dtpools.c", "util/mtest.c"].map(Path::new));
    }

    #[test]
    fn programs_in_fortran_have_common_code_of_their_own() {
        let files =
            ["f77/a.f", "f77/b.f", "f77/b.c", "f77/x.h.in", "f90/a/testlist.ap", "f90/a/c.F90"];
        let common = ["util/mtest.c", "util/mtest_f77.f", "util/mtest_f90.f90"];
        let suite = Suite::new([&files[..], &common].concat().iter().map(PathBuf::from));
        let sources = |list: &str, names: &str, makefile: &str| -> Vec<Vec<PathBuf>> {
            let found = suite.listed(Path::new(list), names, makefile);
            found.into_iter().map(|program| program.sources).collect()
        };
        let made = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let makefile = "m_SOURCES = b.f b.c\nc_SOURCES = b.c\n";
        let found = sources("f77/testlist", "a\nm 3\nc\n", makefile);
        let expected: [&[&str]; 3] = [
            &["f77/a.f", "util/mtest_f77.f"],
            &["f77/b.c"],
            &["f77/b.f", "f77/b.c", "util/mtest_f77.f"],
        ];
        assert_eq!(found, expected.map(made));
        assert_eq!(
            sources("f90/a/testlist.ap", "c\n", ""),
            [made(&["f90/a/c.F90", "util/mtest_f90.f90"])]
        );
        let lists: Vec<_> = suite.lists().collect();
        assert_eq!(lists, [(Path::new("f90/a/testlist.ap"), "f90/a/Makefile.ap".into())]);
        let templates: Vec<_> = suite.templates().collect();
        assert_eq!(templates, [(Path::new("f77/x.h.in"), Path::new("x.h"))]);
        assert_eq!(configured("  @F77_MPI_ADDRESS@ a"), "  integer*8 a");
    }
}
