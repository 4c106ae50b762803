//! The table of the functions of MPI, and what the library and the chapter make of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{cache, compile_source, folder};
use crate::cli::{mazurka, stdout};

/// The names that the library defines.
fn names_of_library() -> Vec<String> {
    let mut show = mazurka(&["mpicc", "-show", "-c", "x.c"]);
    let text = stdout(&show.env("XDG_CACHE_HOME", cache()).output().unwrap());
    let headers = text.split_whitespace().skip_while(|word| *word != "-I").nth(1).unwrap();
    let object = Path::new(headers).join("mazurka.o");
    let names = Command::new("nm").args(["-g", "--defined-only"]).arg(object).output();
    let names = stdout(&names.expect("`nm`, which compilers come with"));
    names.lines().filter_map(|line| line.split_whitespace().last()).map(String::from).collect()
}

/// What the table, the header and the library say of the functions of MPI is the same: the library
/// defines those of the table and no others, and a program can use each that the header declares.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn the_table_the_header_and_the_library_have_the_same_functions() {
    let named = |function: mazurka::mpi::Function| {
        ["MPI_", "PMPI_"].map(|prefix| format!("{prefix}{}", function.name))
    };
    let table: BTreeSet<_> = mazurka::mpi::functions().into_iter().flat_map(named).collect();
    let of_mpi = |name: &String| name.starts_with("MPI_") || name.starts_with("PMPI_");
    let library: BTreeSet<_> = names_of_library().into_iter().filter(of_mpi).collect();
    assert_eq!(library.symmetric_difference(&table).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(table.len() > 1400, "{}", table.len());
    let folder = folder("mpi-table");
    let all: Vec<_> = table.iter().map(|name| format!("  (void *){name},\n")).collect();
    let text = format!(
        "#include <mpi.h>\nvoid *all[] = {{\n{}}};\nint main(void) {{ return !all[0]; }}\n",
        all.concat()
    );
    for (command, name) in [("mpicc", "all.c"), ("mpicxx", "all.cpp")] {
        if command == "mpicc" || cfg!(has_cxx) {
            let source = folder.join(name);
            std::fs::write(&source, &text).unwrap();
            compile_source(command, source.to_str().unwrap(), &["-Wall", "-Werror"], &folder);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The chapter says how many functions there are.
#[test]
fn the_chapter_counts_the_functions() {
    let all = mazurka::mpi::functions();
    let verified = all.iter().filter(|function| !function.is_refused).count();
    let counted = format!("{verified} of {}", all.len());
    for path in ["docs/src/mpi.md", "CHANGELOG.md"] {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&counted), "{path}: {counted}");
    }
}

/// The names of the library, which must not clash with names of programs.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn the_library_defines_no_names_that_a_program_may_want() {
    let own = ["mazurka_", "MPI_", "PMPI_", "__tsan_"];
    // Functions for threads, which replace those of the C library and of OpenMP.
    let families =
        ["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "__cxa_guard_", "GOMP_", "GOACC_", "omp_"];
    // Other functions that replace those of the C library.
    let instead = [
        "time",
        "gettimeofday",
        "clock_gettime",
        "clock",
        "gethostname",
        "sleep",
        "usleep",
        "nanosleep",
        "clock_nanosleep",
        "getrandom",
        "getentropy",
        "timespec_get",
        "_ZNSt13random_device9_M_getvalEv",
        "abort",
        "__assert_fail",
        "__cxa_throw",
        "lseek",
        "lseek64",
        "fstat",
        "fstat64",
        "ftell",
        "ftello",
        "ftello64",
        "call_once",
        "sched_yield",
        "system",
        "popen",
        "srandom",
        "malloc",
        "calloc",
        "realloc",
        "memalign",
        "aligned_alloc",
        "posix_memalign",
        "free",
    ];
    let is_strange = |name: &String| {
        let mut known = own.iter().chain(&families);
        !known.any(|prefix| name.starts_with(prefix)) && !instead.contains(&name.as_str())
    };
    let strange: Vec<_> = names_of_library().into_iter().filter(is_strange).collect();
    assert!(strange.is_empty(), "{strange:?}");
}
