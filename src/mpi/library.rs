//! The library that programs are linked with: C text embedded in this crate, compiled once for each
//! compiler.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::compiler::{Compiler, FOR_FORTRAN, SEPARATE};
use super::{fortran, functions};

/// The header for programs.
const HEADER: (&str, &str) = ("mpi.h", include_str!("c/mpi.h"));

/// The headers for the library only.
const OWN_HEADERS: [(&str, &str); 14] = [
    ("rank.h", include_str!("c/rank.h")),
    ("calls.h", include_str!("c/calls.h")),
    ("represent.h", include_str!("c/represent.h")),
    ("collectives.h", include_str!("c/collectives.h")),
    ("dynamic.h", include_str!("c/dynamic.h")),
    ("generalized.h", include_str!("c/generalized.h")),
    ("teams.h", include_str!("c/teams.h")),
    ("turns.h", include_str!("c/turns.h")),
    ("sessions.h", include_str!("c/sessions.h")),
    ("partitioned.h", include_str!("c/partitioned.h")),
    ("p2p.h", include_str!("c/p2p.h")),
    ("twins.h", include_str!("c/twins.h")),
    ("windows.h", include_str!("c/windows.h")),
    ("io.h", include_str!("c/io.h")),
];

/// The source files.
pub(super) const PARTS: [(&str, &str); 61] = [
    ("store.c", include_str!("c/store.c")),
    ("wire.c", include_str!("c/wire.c")),
    ("env.c", include_str!("c/env.c")),
    ("threads.c", include_str!("c/threads.c")),
    ("clocks.c", include_str!("c/clocks.c")),
    ("pthreads.c", include_str!("c/pthreads.c")),
    ("standard.c", include_str!("c/standard.c")),
    ("atomics.c", include_str!("c/atomics.c")),
    ("teams.c", include_str!("c/teams.c")),
    ("tasks.c", include_str!("c/tasks.c")),
    ("openmp.c", include_str!("c/openmp.c")),
    ("exceptions.c", include_str!("c/exceptions.c")),
    ("python.c", include_str!("c/python.c")),
    ("calls.c", include_str!("c/calls.c")),
    ("tree.c", include_str!("c/tree.c")),
    ("files.c", include_str!("c/files.c")),
    ("processes.c", include_str!("c/processes.c")),
    ("server.c", include_str!("c/server.c")),
    ("uses.c", include_str!("c/uses.c")),
    ("handles.c", include_str!("c/handles.c")),
    ("types.c", include_str!("c/types.c")),
    ("summary.c", include_str!("c/summary.c")),
    ("contents.c", include_str!("c/contents.c")),
    ("info.c", include_str!("c/info.c")),
    ("comm.c", include_str!("c/comm.c")),
    ("intercomm.c", include_str!("c/intercomm.c")),
    ("spawn.c", include_str!("c/spawn.c")),
    ("ports.c", include_str!("c/ports.c")),
    ("io.c", include_str!("c/io.c")),
    ("io_access.c", include_str!("c/io_access.c")),
    ("io_atomic.c", include_str!("c/io_atomic.c")),
    ("io_own.c", include_str!("c/io_own.c")),
    ("io_records.c", include_str!("c/io_records.c")),
    ("represent.c", include_str!("c/represent.c")),
    ("cart.c", include_str!("c/cart.c")),
    ("p2p.c", include_str!("c/p2p.c")),
    ("buffers.c", include_str!("c/buffers.c")),
    ("requests.c", include_str!("c/requests.c")),
    ("partitioned.c", include_str!("c/partitioned.c")),
    ("generalized.c", include_str!("c/generalized.c")),
    ("sessions.c", include_str!("c/sessions.c")),
    ("polls.c", include_str!("c/polls.c")),
    ("collectives.c", include_str!("c/collectives.c")),
    ("neighbors.c", include_str!("c/neighbors.c")),
    ("ops.c", include_str!("c/ops.c")),
    ("memory.c", include_str!("c/memory.c")),
    ("variables.c", include_str!("c/variables.c")),
    ("windows.c", include_str!("c/windows.c")),
    ("shared.c", include_str!("c/shared.c")),
    ("active.c", include_str!("c/active.c")),
    ("attributes.c", include_str!("c/attributes.c")),
    ("errors.c", include_str!("c/errors.c")),
    ("numbers.c", include_str!("c/numbers.c")),
    ("tools.c", include_str!("c/tools.c")),
    ("older.c", include_str!("c/older.c")),
    ("epochs.c", include_str!("c/epochs.c")),
    ("onesided.c", include_str!("c/onesided.c")),
    ("changes.c", include_str!("c/changes.c")),
    ("grains.c", include_str!("c/grains.c")),
    ("locks.c", include_str!("c/locks.c")),
    ("conflicts.c", include_str!("c/conflicts.c")),
];

/// The files that are made from the table of functions.
fn made() -> [(&'static str, String); 2] {
    [("mazurka-functions.h", functions::declarations()), (REFUSED, functions::refusals())]
}
const REFUSED: &str = "refused.c";

/// The files for programs in Fortran, besides those that are made.
const FORTRAN: [(&str, &str); 2] =
    [("fortran.h", include_str!("c/fortran.h")), ("fortran.c", include_str!("c/fortran.c"))];

/// The files for programs in Fortran that are made from the table of functions: the header, the
/// modules, and the entries that they call.
fn made_for_fortran() -> [(&'static str, String); 4] {
    [
        ("mpif.h", fortran::header()),
        ("entries.c", fortran::entries()),
        ("mpi.f90", fortran::module()),
        ("mpi_f08.f90", fortran::module_f08()),
    ]
}

/// The options for compiling modules.
const MODULE_OPTIONS: [&str; 4] =
    ["-O2", "-fPIC", "-fno-omit-frame-pointer", "-ffree-line-length-none"];

/// The source files of functions that have twins with large counts. They are compiled twice.
pub(super) const TWINS: [(&str, &str); 8] = [
    ("messages.c", include_str!("c/messages.c")),
    ("meetings.c", include_str!("c/meetings.c")),
    ("sizes.c", include_str!("c/sizes.c")),
    ("makers.c", include_str!("c/makers.c")),
    ("arrays.c", include_str!("c/arrays.c")),
    ("external.c", include_str!("c/external.c")),
    ("access.c", include_str!("c/access.c")),
    ("io_calls.c", include_str!("c/io_calls.c")),
];

/// The option for the second time.
const LARGE: &str = "-DMAZURKA_LARGE";

/// The options for compiling the library. It contains no accesses of the program, so it is not
/// instrumented. Frames are found by their pointers. There is no debug information, so that no
/// place in it is taken for a place in the program.
const OPTIONS: [&str; 8] = [
    "-x",
    "c",
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-fno-omit-frame-pointer",
    "-fasynchronous-unwind-tables",
    "-fno-common",
];

/// A linker script that puts all variables of the library together, so that they can be
/// distinguished from those of the program (`c/polls.c`).
const SCRIPT: (&str, &str) =
    ("own.ld", "SECTIONS { mazurka_own : { *(.data .data.rel .data.rel.local .bss) } }\n");

/// The name of the library for programs that are compiled for the ABI of MPI 5.0 (20.2).
const SHARED: &str = "libmpi_abi.so.0";

/// The file with the options that the compiler accepts.
const ACCEPTED: &str = "options";

/// The compiled library.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    folder: PathBuf,
}

impl Library {
    /// The library for programs of this compiler, from the cache or newly compiled.
    ///
    /// # Errors
    /// If it cannot be written or compiled.
    pub(crate) fn of(compiler: &Compiler) -> Result<Library, String> {
        let folder = compiler.cache().join(format!("mpi-{:016x}", mark(compiler)?));
        let library = Library { folder };
        if !library.object().exists() {
            let folder = &library.folder;
            library.compile(compiler).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        Ok(library)
    }

    /// The folder of `mpi.h`.
    pub(crate) fn headers(&self) -> &Path {
        &self.folder
    }

    /// The object that programs are linked with.
    pub(crate) fn object(&self) -> PathBuf {
        self.folder.join("mazurka.o")
    }

    /// The library as one that is loaded into programs, with the name that the ABI of MPI 5.0 gives
    /// it.
    pub(crate) fn shared(&self) -> PathBuf {
        self.folder.join(SHARED)
    }

    /// The name after `-l` of the same object in the same folder, for build systems that link
    /// programs themselves: linkers take an object with the name of an archive.
    pub(crate) const NAME: &str = "mazurka";

    /// The options among [`SEPARATE`] and [`FOR_FORTRAN`] that the compiler accepts.
    pub(super) fn options(&self) -> Result<Vec<String>, String> {
        let path = self.folder.join(ACCEPTED);
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()));
        Ok(text?.lines().map(String::from).collect())
    }

    /// Compiles into a temporary folder, which is then renamed: so another process finds all of the
    /// library or nothing.
    fn compile(&self, compiler: &Compiler) -> Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        fs::create_dir_all(compiler.cache()).map_err(text)?;
        let new = tempfile::Builder::new().prefix("new-").tempdir_in(compiler.cache());
        let new = new.map_err(text)?;
        let result = self.compile_into(new.path(), compiler);
        if result.is_ok() && fs::rename(new.path(), &self.folder).is_ok() {
            return Ok(());
        }
        match self.object().exists() {
            // Another process was faster.
            true => Ok(()),
            false => result.and(Err("the folder cannot be made".into())),
        }
    }

    fn compile_into(&self, folder: &Path, compiler: &Compiler) -> Result<(), String> {
        let others = OWN_HEADERS.into_iter().chain(PARTS).chain(TWINS);
        for (name, content) in [HEADER, SCRIPT].into_iter().chain(others) {
            fs::write(folder.join(name), content).map_err(|error| format!("{name}: {error}"))?;
        }
        let for_fortran = compiler.is_for_fortran();
        if for_fortran {
            for (name, content) in FORTRAN {
                fs::write(folder.join(name), content)
                    .map_err(|error| format!("{name}: {error}"))?;
            }
        }
        let made_too = for_fortran.then(made_for_fortran).into_iter().flatten();
        for (name, content) in made().into_iter().chain(made_too) {
            fs::write(folder.join(name), content).map_err(|error| format!("{name}: {error}"))?;
        }
        let mut objects = Vec::new();
        let once = PARTS.into_iter().map(|(name, _)| name).chain([REFUSED]);
        let more = for_fortran.then_some(["fortran.c", "entries.c"]).into_iter().flatten();
        let once = once.chain(TWINS.map(|(name, _)| name)).chain(more).map(|name| (name, None));
        let again = TWINS.into_iter().map(|(name, _)| (name, Some(LARGE)));
        let all: Vec<_> = once.chain(again).collect();
        // As many at a time as there are processors.
        for some in all.chunks(thread::available_parallelism().map_or(1, NonZero::get)) {
            let mut started = Vec::new();
            for &(name, option) in some {
                let object = folder.join(name).with_extension(option.map_or("o", |_| "large.o"));
                let mut call = compiler.call()?;
                call.args(OPTIONS).args(option).arg("-c").arg(folder.join(name));
                started.push((name, compiler.start(call.arg("-o").arg(&object))?));
                objects.push(object);
            }
            for (name, mut child) in started {
                let is_compiled = child.wait().is_ok_and(|status| status.success());
                check(is_compiled, compiler, name)?;
            }
        }
        if for_fortran {
            for name in ["mpi.f90", "mpi_f08.f90"] {
                let object = folder.join(name).with_extension("o");
                let mut call = compiler.call()?;
                call.args(MODULE_OPTIONS).arg("-J").arg(folder).arg("-c").arg(folder.join(name));
                finish(compiler, call.arg("-o").arg(&object), name)?;
                objects.push(object);
            }
        }
        let mut accepted = String::new();
        let language = if for_fortran { "f95" } else { "c" };
        let options = FOR_FORTRAN.into_iter().filter(|_| for_fortran);
        for option in SEPARATE.into_iter().chain(options) {
            let mut call = compiler.call()?;
            call.arg(option)
                .args(["-x", language, "-c", "/dev/null", "-o"])
                .arg(folder.join("nothing.o"));
            if compiler.status(call.stderr(Stdio::null()))? {
                accepted += &format!("{option}\n");
            }
        }
        fs::write(folder.join(ACCEPTED), accepted)
            .map_err(|error| format!("{ACCEPTED}: {error}"))?;
        let mut call = compiler.call()?;
        call.args(["-r", "-nostdlib", "-Xlinker", "-T", "-Xlinker"]).arg(folder.join(SCRIPT.0));
        call.arg("-o").arg(folder.join("mazurka.o")).args(objects);
        finish(compiler, &mut call, "the library")?;
        // Entries for Fortran are no part of the ABI.
        if !for_fortran {
            let mut call = compiler.call()?;
            call.args(["-shared", "-Xlinker", "-soname", "-Xlinker", SHARED]);
            call.arg("-o").arg(folder.join(SHARED)).arg(folder.join("mazurka.o"));
            finish(compiler, &mut call, "the library")?;
        }
        let named = folder.join(format!("lib{}.a", Library::NAME));
        fs::copy(folder.join("mazurka.o"), named).map(|_| ()).map_err(|error| error.to_string())
    }
}

fn finish(compiler: &Compiler, call: &mut Command, what: &str) -> Result<(), String> {
    check(compiler.status(call)?, compiler, what)
}

fn check(is_compiled: bool, compiler: &Compiler, what: &str) -> Result<(), String> {
    match is_compiled {
        true => Ok(()),
        false => Err(format!("`{}` does not compile {what}", compiler.name())),
    }
}

/// A hash that identifies a library: its text, and the compiler with its version.
fn mark(compiler: &Compiler) -> Result<u64, String> {
    let mut call = compiler.call()?;
    let version = call.arg("--version").stdin(Stdio::null()).output();
    let version = version.map_err(|error| format!("cannot run `{}`: {error}", compiler.name()))?;
    let mut hasher = DefaultHasher::new();
    (
        compiler.name(),
        version.stdout,
        HEADER,
        OWN_HEADERS,
        PARTS,
        TWINS,
        made(),
        compiler
            .is_for_fortran()
            .then(|| (FORTRAN, made_for_fortran(), MODULE_OPTIONS, FOR_FORTRAN)),
        OPTIONS,
        SCRIPT,
        SEPARATE,
        (Library::NAME, SHARED),
    )
        .hash(&mut hasher);
    Ok(hasher.finish())
}
