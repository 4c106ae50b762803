//! The user's compiler, as `mazurka mpicc` calls it: our headers come first, memory accesses are
//! instrumented, and programs are linked with our library.
//!
//! The instrumentation is that of the thread sanitizer, which every common compiler has: each
//! access calls a function `__tsan_..`, which our library defines (`c/memory.c`). So objects are
//! compiled with `-fsanitize=thread`, but linked without it, to keep out the sanitizer's own
//! library. A command that compiles and links is therefore done in two steps.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::library::Library;

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// C: `mpicc`.
    C,
    /// C++: `mpicxx`.
    Cxx,
    /// Fortran: `mpif90`.
    Fortran,
}

/// A compiler for programs that are to be verified.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The command, possibly with options.
    command: Vec<OsString>,
    /// Whether it compiles Fortran.
    is_for_fortran: bool,
    /// The folder of compiled libraries, which are kept.
    cache: PathBuf,
    /// A folder for objects that are not kept.
    scratch: PathBuf,
}

/// Options for compiling: memory accesses call the library, and calls return to the place of the
/// call (no tail calls). Options of the user come later and override these.
const INSTRUMENTED: [&str; 4] =
    ["-g", "-fsanitize=thread", "-fno-optimize-sibling-calls", "-fno-omit-frame-pointer"];

/// Options for compilers that have them: each variable has a place of its own, and each call in the
/// source is a call in the program. Otherwise a temporary may be placed where an unused variable
/// is, and one call instruction may serve two calls in different blocks.
pub(super) const SEPARATE: [&str; 2] = ["-fstack-reuse=none", "-fno-crossjumping"];

/// Such options for Fortran: a signal that ends a rank is handled by our library; and, as usual for
/// MPI, buffers of different types may be passed to one procedure that has no interface.
pub(super) const FOR_FORTRAN: [&str; 2] = ["-fno-backtrace", "-fallow-argument-mismatch"];

/// Options that change what an `INTEGER` is. Then the arguments of calls are not what MPI expects.
const LARGE_INTEGERS: [&str; 2] = ["-fdefault-integer-8", "-finteger-4-integer-8"];

/// Options whose value is the next word.
const WITH_VALUE: [&str; 34] = [
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-l",
    "-x",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-B",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-imacros",
    "-iprefix",
    "-isysroot",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-framework",
    "-arch",
    "-target",
    "--param",
    "-J",
    "-aux-info",
    "-wrapper",
];

/// The extensions of source files.
const SOURCES: [&str; 11] = ["c", "i", "cc", "cp", "cxx", "cpp", "c++", "CPP", "C", "ii", "cppm"];

/// Those of Fortran, in lower case.
const FORTRAN_SOURCES: [&str; 8] = ["f", "for", "ftn", "fpp", "f90", "f95", "f03", "f08"];

/// Whether a compiler compiles a file with this extension.
fn is_of_source(ending: &str) -> bool {
    SOURCES.contains(&ending) || is_of_fortran(ending)
}

/// Whether a file with this extension is in Fortran.
pub(super) fn is_of_fortran(ending: &str) -> bool {
    FORTRAN_SOURCES.contains(&&*ending.to_lowercase())
}

/// A word of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Source(OsString),
    /// An object, or a library.
    Linked(OsString),
    /// An option, with its value if that is the next word.
    Option(Vec<OsString>),
}

fn words(arguments: &[OsString]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = arguments.iter();
    let mut is_any_source = false;
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        let is_source = || {
            let ending = Path::new(word).extension().and_then(OsStr::to_str);
            is_any_source || ending.is_some_and(is_of_source)
        };
        if WITH_VALUE.contains(&&*text) {
            let value = rest.next().cloned();
            is_any_source = match text == "-x" {
                true => value.as_deref() != Some(OsStr::new("none")),
                false => is_any_source,
            };
            words.push(Word::Option([word.clone()].into_iter().chain(value).collect()));
        } else if text.starts_with('-') && text != "-" || text.starts_with('@') {
            words.push(Word::Option(vec![word.clone()]));
        } else if text == "-" || is_source() {
            words.push(Word::Source(word.clone()));
        } else {
            words.push(Word::Linked(word.clone()));
        }
    }
    words
}

/// The task of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// Nothing is compiled; for example, the compiler prints its version.
    Ask,
    /// No program is linked.
    Compile,
    /// A shared library is linked, or an object from objects. The functions of MPI are linked
    /// later, with the program.
    LinkPart,
    /// A program is linked.
    Link,
}

fn task(words: &[Word]) -> Task {
    let has = |wanted: &[&str]| {
        words.iter().any(|word| match word {
            Word::Option(option) => wanted.iter().any(|wanted| option[0] == *wanted),
            _ => false,
        })
    };
    match words.iter().all(|word| matches!(word, Word::Option(_))) {
        true => Task::Ask,
        false if has(&["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"]) => Task::Compile,
        false if has(&["-shared", "-r", "-dynamiclib"]) => Task::LinkPart,
        false => Task::Link,
    }
}

/// Whether an option concerns only linking.
fn is_for_linker(option: &[OsString]) -> bool {
    let name = option[0].to_string_lossy();
    let exact = [
        "-Xlinker",
        "-T",
        "-u",
        "-z",
        "-e",
        "-shared",
        "-r",
        "-rdynamic",
        "-static",
        "-dynamiclib",
    ];
    exact.contains(&&*name) || ["-l", "-L", "-Wl,"].iter().any(|start| name.starts_with(start))
}

fn is_output(option: &[OsString]) -> bool {
    option[0].to_string_lossy().starts_with("-o")
}

/// Whether an option chooses the language. It is used in both steps.
fn is_language(option: &[OsString]) -> bool {
    option[0] == "-x" || option[0].to_string_lossy().starts_with("-x")
}

/// What a build system asks for to call the compiler itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// The name of the compiler.
    Command,
    /// The options for compiling.
    Compile,
    /// The options for linking.
    Link,
    /// The folder of the header.
    HeaderFolder,
    /// The folder of the library.
    LibraryFolder,
    /// The name of the library, as the linker finds it.
    Library,
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    match word.contains([' ', '\t']) {
        true => format!("\"{word}\""),
        false => word.to_owned(),
    }
}

impl Compiler {
    /// The compiler with this command, which may contain options. Compiled libraries are stored in
    /// `cache`; `scratch` is an existing folder for the files of one call.
    pub fn new(command: &str, cache: PathBuf, scratch: PathBuf) -> Compiler {
        let command = command.split_whitespace().map(OsString::from).collect();
        Compiler { command, is_for_fortran: false, cache, scratch }
    }

    /// The same command as a compiler for Fortran.
    pub fn for_fortran(self) -> Compiler {
        Compiler { is_for_fortran: true, ..self }
    }

    pub(super) fn is_for_fortran(&self) -> bool {
        self.is_for_fortran
    }

    /// The user's compiler: the one that MAZURKA_CC, MAZURKA_CXX or MAZURKA_FC names, or else the
    /// usual one.
    /// `scratch` is as for [`new`](Compiler::new).
    pub(crate) fn of_user(language: Language, scratch: &Path) -> Compiler {
        let (variable, usual) = match language {
            Language::C => ("MAZURKA_CC", "cc"),
            Language::Cxx => ("MAZURKA_CXX", "c++"),
            Language::Fortran => ("MAZURKA_FC", "gfortran"),
        };
        let named = std::env::var(variable).ok().filter(|name| !name.trim().is_empty());
        let name = named.as_deref().unwrap_or(usual);
        let is_for_fortran = language == Language::Fortran;
        let compiler = Compiler::new(name, cache(scratch), scratch.to_owned());
        Compiler { is_for_fortran, ..compiler }
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    pub(super) fn cache(&self) -> &Path {
        &self.cache
    }

    /// A command that calls it.
    ///
    /// # Errors
    /// If it has no command.
    pub(super) fn call(&self) -> Result<Command, String> {
        let (program, options) = self.command.split_first().ok_or("no compiler is named")?;
        let mut call = Command::new(program);
        call.args(options);
        Ok(call)
    }

    /// Compiles and links, given the arguments of a compiler. Returns whether the compiler
    /// succeeded; if not, it has printed the reason.
    ///
    /// # Errors
    /// If it cannot be called, or fails to compile our library.
    pub fn run(&self, arguments: &[OsString]) -> Result<bool, String> {
        self.steps(arguments)?
            .into_iter()
            .try_fold(true, |is_content, mut step| Ok(is_content && self.status(&mut step)?))
    }

    /// The commands that [`run`](Compiler::run) executes, one in a line. If nothing is compiled,
    /// they are one command with all options.
    ///
    /// # Errors
    /// If our library cannot be compiled.
    pub(crate) fn shown(&self, arguments: &[OsString]) -> Result<String, String> {
        if task(&words(arguments)) == Task::Ask {
            let own = arguments.iter().map(|word| word.to_string_lossy().into_owned());
            let parts = [Query::Command, Query::Compile, Query::Link].map(|part| self.told(part));
            let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
            return Ok(parts.into_iter().chain(own).collect::<Vec<_>>().join(" ") + "\n");
        }
        let shown = |step: &Command| {
            let words = [step.get_program()].into_iter().chain(step.get_args());
            let words: Vec<_> = words.map(|word| quoted(&word.to_string_lossy())).collect();
            words.join(" ") + "\n"
        };
        Ok(self.steps(arguments)?.iter().map(shown).collect())
    }

    /// The answer to a question.
    ///
    /// # Errors
    /// If our library cannot be compiled, or is not kept.
    pub(crate) fn told(&self, query: Query) -> Result<String, String> {
        if query == Query::Command {
            return Ok(self.name());
        }
        if self.cache == self.scratch {
            return Err("no folder is there to keep the library in: set XDG_CACHE_HOME".into());
        }
        let library = Library::of(self)?;
        let folder = library.headers().to_string_lossy().into_owned();
        Ok(match query {
            Query::Command => self.name(),
            Query::Compile => {
                let options = library.options()?;
                let own = INSTRUMENTED.into_iter().chain(options.iter().map(String::as_str));
                let own: Vec<_> = own.collect();
                format!("-I{} {}", quoted(&folder), own.join(" "))
            }
            // Build systems know `-rdynamic` by its name for the linker.
            Query::Link => {
                let library = format!("-L{} -l{}", quoted(&folder), Library::NAME);
                format!("{library} -Wl,--export-dynamic -fno-sanitize=thread")
            }
            Query::HeaderFolder | Query::LibraryFolder => folder,
            Query::Library => Library::NAME.into(),
        })
    }

    pub(super) fn status(&self, call: &mut Command) -> Result<bool, String> {
        let status = self.start(call)?.wait();
        let status = status.map_err(|error| format!("cannot run `{}`: {error}", self.name()));
        Ok(status?.success())
    }

    pub(super) fn start(&self, call: &mut Command) -> Result<Child, String> {
        call.spawn().map_err(|error| format!("cannot run `{}`: {error}", self.name()))
    }

    fn steps(&self, arguments: &[OsString]) -> Result<Vec<Command>, String> {
        let words = words(arguments);
        let task = task(&words);
        if task == Task::Ask {
            let mut call = self.call()?;
            call.args(arguments);
            return Ok(vec![call]);
        }
        let is_large = |word: &&OsString| LARGE_INTEGERS.iter().any(|option| *word == *option);
        if let Some(option) = arguments.iter().find(is_large).filter(|_| self.is_for_fortran) {
            let option = option.to_string_lossy();
            return Err(format!("{option} is not supported: an INTEGER of MPI has 4 bytes"));
        }
        let library = Library::of(self)?;
        if task == Task::Compile {
            let mut call = self.instrumented(&library)?;
            call.args(arguments);
            return Ok(vec![call]);
        }
        let mut steps = Vec::new();
        let mut link = self.call()?;
        let mut objects = 0;
        for word in &words {
            match word {
                Word::Source(source) => {
                    let object = self.scratch.join(format!("{objects}.o"));
                    objects += 1;
                    let mut compile = self.instrumented(&library)?;
                    let options = words.iter().filter_map(|word| match word {
                        Word::Option(option) => Some(option),
                        _ => None,
                    });
                    let options =
                        options.filter(|option| !is_for_linker(option) && !is_output(option));
                    compile.args(options.flatten()).arg("-c").arg(source).arg("-o").arg(&object);
                    steps.push(compile);
                    link.arg(object);
                }
                Word::Linked(object) => {
                    link.arg(object);
                }
                Word::Option(option) if is_language(option) => {}
                Word::Option(option) => {
                    link.args(option);
                }
            }
        }
        link.arg("-fno-sanitize=thread");
        if task == Task::Link {
            // Shared libraries of the program call MPI, too.
            link.arg(library.object()).arg("-rdynamic");
        }
        steps.push(link);
        Ok(steps)
    }

    fn instrumented(&self, library: &Library) -> Result<Command, String> {
        let mut call = self.call()?;
        call.arg("-I").arg(library.headers()).args(INSTRUMENTED).args(library.options()?);
        Ok(call)
    }
}

/// The folder where the compiled library is kept; `scratch` if there is none.
fn cache(scratch: &Path) -> PathBuf {
    let folder = |variable| std::env::var_os(variable).filter(|name| !name.is_empty());
    let cache = folder("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".cache")));
    let cache = cache.map(|cache| cache.join("mazurka"));
    let is_of_use = |folder: &PathBuf| std::fs::create_dir_all(folder).is_ok();
    cache.filter(is_of_use).unwrap_or_else(|| scratch.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task_of(line: &str) -> Task {
        let arguments: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        task(&words(&arguments))
    }

    #[test]
    fn a_command_line_says_whether_a_program_is_linked() {
        for (line, expected) in [
            ("--version", Task::Ask),
            ("-c a.c -o a.o", Task::Compile),
            ("-E a.c", Task::Compile),
            ("a.c -o a", Task::Link),
            ("a.o b.o -o -c", Task::Link),
            ("-shared a.o -o a.so", Task::LinkPart),
            ("-I -c a.c", Task::Link),
        ] {
            assert_eq!(task_of(line), expected, "{line}");
        }
    }

    #[test]
    fn sources_are_distinguished_from_what_is_linked() {
        let arguments =
            ["a.c", "b.o", "-o", "c.c", "-x", "c", "d", "-x", "none", "e.a", "-lm", "f.cpp"];
        let found = words(&arguments.map(OsString::from));
        let sources: Vec<_> = found.iter().filter(|word| matches!(word, Word::Source(_))).collect();
        let source = |name: &str| Word::Source(name.into());
        assert_eq!(sources, [&source("a.c"), &source("d"), &source("f.cpp")]);
        assert!(found.contains(&Word::Linked("b.o".into())));
        assert!(found.contains(&Word::Linked("e.a".into())));
    }
}
