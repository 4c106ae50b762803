//! Programs that are listed in files, each with its number of ranks, as the tests of MPICH are:
//!
//! ```text
//! # name ranks [arg=..] [env=..]
//! scatter 4
//! bcast 4 arg=-counts=10 timeLimit=600
//! ```
//!
//! A program is built from `name.c`, unless the `Makefile.am` beside the list says otherwise:
//!
//! ```text
//! scatter_large_SOURCES = scatter.c
//! scatter_large_CPPFLAGS = -DLARGE $(AM_CPPFLAGS)
//! ```
//!
//! Nothing else is read from the makefile. Common code is in the folders `util` and `dtpools`. A
//! configured suite has three more headers, [`CONFIGURED`]; otherwise ours are used.
//!
//! The following lines are left out: programs in other languages; lines that differ from another
//! one only in `env`, which is for MPICH; programs that go beyond the standard (`strict=false`);
//! and programs that are known to fail (`xfail`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Expected, Program, Suite, Test};

/// The names of lists. The second one is meant to be configured, but hardly ever needs it.
const LISTS: [&str; 2] = ["testlist", "testlist.in"];

/// The file that says how the programs of a folder are built.
pub(crate) const MAKEFILE: &str = "Makefile.am";

/// The number of ranks, if the list does not give it.
const RANKS: u32 = 2;

/// The folders of common code.
const COMMON: [&str; 2] = ["util", "dtpools/src"];

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
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
#define USE_STRICT_MPI 1
";

/// Headers of a configured suite, and our replacements: files in a folder where headers are looked
/// up.
pub(crate) const CONFIGURED: [(&str, &str); 3] =
    [("mpitestconf.h", MACHINE), ("mtest_mpix.h", ""), ("../dtpoolsconf.h", MACHINE)];

impl Suite {
    /// The lists of programs.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &Path> {
        let is_list =
            |file: &&Path| LISTS.iter().any(|&list| file.file_name() == Some(list.as_ref()));
        self.files.iter().map(PathBuf::as_path).filter(is_list)
    }

    /// The files of common code.
    pub(crate) fn common(&self) -> impl Iterator<Item = &Path> {
        let is_common = |file: &&Path| {
            let folder = file.parent();
            COMMON.iter().any(|&common| folder == Some(Path::new(common)))
                && *file != Path::new(WITHOUT_THREADS)
        };
        self.sources().filter(is_common)
    }

    /// The C programs of a list, with the makefile beside it.
    pub(crate) fn listed(&self, list: &Path, text: &str, makefile: &str) -> Vec<Program> {
        let folder = list.parent().unwrap_or(Path::new(""));
        let rules = rules(makefile);
        let mut programs: BTreeMap<&str, Program> = BTreeMap::new();
        for (name, test) in text.lines().filter_map(test) {
            let rule = |what: &str| rules.get(format!("{name}_{what}").as_str());
            let sources =
                rule("SOURCES").map_or_else(|| format!("{name}.c"), |files| files.join(" "));
            let sources = sources.split(' ').filter(|file| file.ends_with(".c"));
            let sources: Vec<_> = sources.map(|file| folder.join(file)).collect();
            if sources.is_empty() || !sources.iter().all(|file| self.files.contains(file)) {
                continue;
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
}

/// Reads a line of a list: a program, and how it is run. A condition may precede it:
/// `@condition@name`.
fn test(line: &str) -> Option<(&str, Test)> {
    let line = line.split('#').next()?;
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let name = name.rsplit_once('@').map_or(name, |(_, name)| name);
    let (mut ranks, mut arguments) = (RANKS, Vec::new());
    for word in words {
        match word.split_once('=') {
            None => ranks = word.parse().ok()?,
            Some(("arg", argument)) => arguments.push(OsString::from(argument)),
            Some(("strict", "false") | ("xfail", _)) => return None,
            Some(_) => {}
        }
    }
    let (buffering, expected, places) = (None, Expected::Open, Default::default());
    Some((name, Test { ranks, buffering, arguments, expected, places }))
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
c 2 strict=false
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
        let files = ["a.c", "more.c", "b.c", "c.c", "d.c", "e.f90", "testlist", "testlist.x"];
        let files = files.map(|name| Path::new("pt2pt").join(name));
        let common = ["util/mtest.c", "util/mtest_single.c", "dtpools/src/dtpools.c"];
        let suite = Suite::new(files.into_iter().chain(common.map(PathBuf::from)));
        let lists: Vec<_> = suite.lists().collect();
        assert_eq!(lists, [Path::new("pt2pt/testlist")]);
        let found = suite.listed(lists[0], LIST, MAKE);
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
        let common: Vec<_> = suite.common().collect();
        assert_eq!(common, ["dtpools/src/dtpools.c", "util/mtest.c"].map(Path::new));
    }
}
