//! Programs in Python, such as the tests and the examples of mpi4py. Nothing says how they are run,
//! or which files are programs:
//!
//! - A program imports mpi4py, or `unittest` if it is a test: `test_*.py`.
//! - A file that is a part of a package, or that another one in its folder imports or names, is no
//!   program.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Expected, Program, Suite, name};

/// What makes a folder a package.
const PACKAGE: &str = "__init__.py";

/// A script that runs a file of tests, its argument. A test that fails is an exception that nobody
/// catches: the suite may end normally in spite of it.
pub(crate) const RUNNER: &str = "\
import importlib, os, sys, unittest
folder, name = os.path.split(sys.argv.pop())
sys.path[0] = folder
tests = importlib.import_module(os.path.splitext(name)[0])
tests = unittest.defaultTestLoader.loadTestsFromModule(tests)
found = unittest.TextTestRunner(verbosity=0).run(tests)
wrong = [test.id() for test, _ in found.errors + found.failures] + [
    test.id() for test in found.unexpectedSuccesses
]
assert not wrong, 'failed: ' + ' '.join(wrong)
";

/// Whether a script is a file of tests, for [`RUNNER`].
pub(crate) fn is_of_tests(script: &Path, text: &str) -> bool {
    name(script).starts_with("test_") && imports(text, |module| module.ends_with("unittest"))
}

/// Whether a script imports, outside of functions, such a module or something of it.
fn imports(text: &str, is_wanted: impl Fn(&str) -> bool) -> bool {
    let imported = text.lines().filter_map(|line| {
        let modules = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "))?;
        Some(modules.split(" import ").next()?.split(','))
    });
    let words = imported.flatten().filter_map(|module| module.split_whitespace().next());
    words.into_iter().any(is_wanted)
}

impl Suite {
    /// The scripts that may be programs, or name programs as their parts.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &Path> {
        self.ending("py").filter(|file| !self.files.contains(&file.with_file_name(PACKAGE)))
    }

    /// The programs among the [scripts](Suite::scripts), given with their texts.
    pub(crate) fn in_python(&self, texts: &BTreeMap<&Path, String>) -> Vec<Program> {
        let is_program = |script: &Path, text: &str| {
            let is_of_mpi = |module: &str| module.split('.').next() == Some("mpi4py");
            (imports(text, is_of_mpi) || is_of_tests(script, text))
                && !texts.iter().any(|(other, text)| {
                    *other != script && other.parent() == script.parent() && names(text, script)
                })
        };
        let programs = texts.iter().filter(|(script, text)| is_program(script, text));
        programs.map(|(script, _)| Program::of(script, vec![self.test(Expected::Open)])).collect()
    }
}

/// Whether a text imports a script, or contains its name.
fn names(text: &str, script: &Path) -> bool {
    let (stem, name) = (script.file_stem().unwrap_or_default(), name(script));
    let is_whole =
        |at| !text[..at].ends_with(|last: char| last.is_alphanumeric() || "_-".contains(last));
    text.match_indices(&name).any(|(at, _)| is_whole(at)) || imports(text, |module| stem == module)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn scripts_that_use_mpi_are_programs() {
        let texts = [
            ("demo/hello.py", "from mpi4py import MPI\n"),
            ("demo/main.py", "import sys, mpi4py.MPI\nMPI.COMM_SELF.Spawn(['worker.py'])\n"),
            ("demo/worker.py", "from mpi4py import MPI\n"),
            ("demo/er.py", "from mpi4py import MPI\n"),
            ("demo/own.py", "from mpi4py import MPI\n"),
            ("demo/none.py", "import own\n"),
            ("demo/inner.py", "def f():\n    import mpi4py\n"),
            ("src/a.py", "from mpi4py import MPI\n"),
            ("test/test_a.py", "import mpiunittest as unittest\n"),
            ("test/runner.py", "import unittest\n"),
        ];
        let package = PathBuf::from("src/__init__.py");
        let files = texts.iter().map(|(file, _)| PathBuf::from(file)).chain([package]);
        let suite = Suite::new(files).of_ranks(3);
        let all = BTreeMap::from(texts.map(|(file, text)| (Path::new(file), text)));
        let texts: BTreeMap<_, _> =
            suite.scripts().map(|script| (script, all[script].to_owned())).collect();
        assert!(!texts.contains_key(Path::new("src/a.py")));
        let found = suite.in_python(&texts);
        let names: Vec<_> = found.iter().map(|program| program.name.to_str().unwrap()).collect();
        assert_eq!(names, ["demo/er.py", "demo/hello.py", "demo/main.py", "test/test_a.py"]);
        assert_eq!(found[0].script(), Some(Path::new("demo/er.py")));
        assert_eq!((found[0].tests[0].ranks, &found[0].tests[0].expected), (3, &Expected::Open));
    }

    #[test]
    fn tests_are_known_by_name_and_import() {
        let is_of_tests = |name: &str, text| super::is_of_tests(Path::new(name), text);
        assert!(is_of_tests("a/test_b.py", "from unittest import TestCase\n"));
        assert!(!is_of_tests("a/test_b.py", "from mpi4py import MPI\n"));
        assert!(!is_of_tests("a/b.py", "import unittest\n"));
    }
}
