//! MPI programs in Fortran, with all three interfaces: the cases in the heads of the files in
//! `tests/mpi/fortran`, as in those in C.

use std::path::{Path, PathBuf};
use std::process::Command;

use mazurka::mpi::{Answer, Compiler, names_in_fortran};

use super::{UDPOR, answer_with, cache, cases_in, code, compile_source, folder, json, mazurka};
use super::{objection, stderr, stdout};

/// The programs with cases in their heads, in fixed and in free form.
fn programs() -> Vec<PathBuf> {
    let all = std::fs::read_dir("tests/mpi/fortran").unwrap();
    let mut all: Vec<_> = all.map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.is_file());
    all.sort();
    all
}

/// The number of correct and wrong cases, and the differences between results and expectations.
fn offences(path: &Path, option: &str, folder: &Path) -> (usize, usize, Vec<String>) {
    let compiler = Compiler::new("gfortran", cache(), folder.to_owned()).for_fortran();
    let name = path.file_name().unwrap().to_str().unwrap();
    let program = folder.join(name).with_extension("exe");
    let module = ["-J".into(), folder.into()];
    let options = ["-w".into(), option.into()];
    let files = [path.into(), "-o".into(), program.clone().into()];
    let arguments = [&module[..], &options, &files].concat();
    assert!(compiler.run(&arguments).unwrap(), "{name} compiles");
    let text = std::fs::read_to_string(path).unwrap();
    let cases = cases_in(name, &text, "!");
    let wrong = cases.iter().filter(|case| case.slip.is_some()).count();
    let is_there =
        |case: &&super::Case| option == "-O0" || !REMOVED.contains(&(name, &case.number));
    let offences =
        cases.iter().filter(is_there).filter_map(|case| objection(&program, case, UDPOR));
    (cases.len() - wrong, wrong, offences.collect())
}

#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn what_is_wrong_with_a_program_in_fortran_is_found_and_nothing_else() {
    let folder = folder("fortran-cases");
    let (mut right, mut wrong, mut found) = (0, 0, Vec::new());
    for path in programs() {
        let (rights, wrongs, offences) = offences(&path, "-O0", &folder);
        (right, wrong) = (right + rights, wrong + wrongs);
        found.extend(offences);
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(found.is_empty(), "{found:#?}");
    assert!(right >= 35 && wrong >= 35, "{right} right, {wrong} wrong");
}

/// An optimiser may remove an access, the argument that a buffer is, and that a pointer to memory
/// that is freed becomes null.
const REMOVED: [(&str, &str); 4] =
    [("messages.f90", "10"), ("fixed.f", "8"), ("variables.f90", "10"), ("variables.f90", "18")];

#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn what_is_found_in_fortran_does_not_depend_on_the_optimiser() {
    let folder = folder("fortran-optimized");
    let found = ["messages.f90", "typed.f90", "fixed.f", "variables.f90"]
        .map(|name| offences(&Path::new("tests/mpi/fortran").join(name), "-O2", &folder).2);
    std::fs::remove_dir_all(&folder).unwrap();
    let found: Vec<_> = found.into_iter().flatten().collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// A program that takes the address of each procedure is linked, under both names of each.
#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn each_function_has_an_entry() {
    let folder = folder("fortran-entries");
    let names = names_in_fortran();
    assert!(names.len() > 500, "{}", names.len());
    let both = ["MPI", "PMPI"].into_iter();
    let called = both.flat_map(|start| names.iter().map(move |name| format!("{start}_{name}")));
    let called: Vec<String> = called.collect();
    let calls: String = called.iter().map(|name| format!("  external :: {name}\n")).collect();
    let uses: String = called.iter().map(|name| format!("  call keep({name})\n")).collect();
    let text = format!("subroutine all\n{calls}{uses}end\n\nprogram nothing\nend\n");
    let source = folder.join("all.f90");
    std::fs::write(&source, text).unwrap();
    let kept = folder.join("keep.f90");
    std::fs::write(&kept, "subroutine keep(x)\n  external :: x\nend\n").unwrap();
    let program = folder.join("all").display().to_string();
    let files = [source.to_str().unwrap(), kept.to_str().unwrap(), "-o", &program];
    let linked = mazurka(&[&["mpif90"], &files[..]].concat())
        .env("XDG_CACHE_HOME", cache())
        .output()
        .unwrap();
    assert_eq!(code(&linked), 0, "{}", stderr(&linked));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Compiles this text with `mazurka mpif90`.
fn compile_text(text: &str, name: &str, folder: &Path) -> String {
    let source = folder.join(name);
    std::fs::write(&source, text).unwrap();
    compile_source("mpif90", source.to_str().unwrap(), &["-w", "-fcheck=all"], folder)
}

/// How a program in Fortran may end, and what is said of it.
#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn ends_of_programs_in_fortran_are_told() {
    let folder = folder("fortran-ends");
    let told = |name: &str, body: &str| {
        let text = format!(
            "program ends\n  use mpi\n  integer :: ierr, i, a(3)\n  character(len=4) :: text\n  \
             call MPI_Init(ierr)\n  i = 4\n  text = 'none'\n  print *, 'begun'\n{body}\n  \
             call MPI_Finalize(ierr)\nend program\n"
        );
        let program = compile_text(&text, &format!("{name}.f90"), &folder);
        let shown = mazurka(&["mpirun", &program]).output().unwrap();
        stdout(&shown)
    };
    for (name, body, expected) in [
        ("stop", "  stop", "missing finalize: the rank ends by STOP without MPI_Finalize"),
        ("error", "  error stop 3", "abort: the rank calls ERROR STOP with code 3"),
        ("text", "  error stop 'no'", "abort: the rank calls ERROR STOP: no"),
        (
            "bounds",
            "  a(i) = 1",
            "crash: Fortran runtime error: Index '4' of dimension 1 of array 'a' above",
        ),
        ("read", "  read (text, *) i", "missing finalize: the rank ends without MPI_Finalize"),
        ("after", "  call MPI_Finalize(ierr)\n  stop 'fine'", "Verified"),
    ] {
        let text = told(name, body);
        assert!(text.contains(expected), "{name}: {text}");
        assert!(text.contains("begun") || name == "after", "{name}: {text}");
        assert!(name == "after" || text.contains(&format!("{name}.f90:9")), "{name}: {text}");
        assert!(name != "read" || text.contains("Fortran runtime error: Bad integer"), "{text}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A report shows the whole statement, and what ranks printed.
#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn a_report_is_in_terms_of_fortran() {
    let folder = folder("fortran-report");
    let program = compile_source("mpif90", "tests/mpi/fortran/messages.f90", &["-w"], &folder);
    let wrong =
        mazurka(&["mpirun", "-n", "2", "--format", "json", &program, "4"]).output().unwrap();
    let report = json(&wrong);
    let waits = &report["violations"][0]["blocked"][0];
    assert_eq!(
        waits["action"],
        "call MPI_Recv(got, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, status, ierr)",
        "{report:#}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The time, random numbers and output are the same in each run, so a rank that uses them is
/// explored.
#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn a_program_in_fortran_does_the_same_in_each_run() {
    let folder = folder("fortran-same");
    let text = "program same
  use mpi_f08
  integer :: now, values(8), got, other
  real :: x(2), seconds
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, other)
  other = 1 - other
  call random_seed()
  call random_number(x)
  call system_clock(now)
  call cpu_time(seconds)
  call date_and_time(values=values)
  call MPI_Irecv(got, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, request)
  call MPI_Send(now + values(8) + nint(1000 * (seconds + x(1))), 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  print *, got, x
  open (unit=10, file='same.' // merge('0', '1', other == 1))
  write (10, *) got
  close (10)
  call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
end program
";
    let program = compile_text(text, "same.f90", &folder);
    let shown = mazurka(&["mpirun", "-n", "2", &program]).output().unwrap();
    assert_eq!(code(&shown), 0, "{}", stdout(&shown));
    assert!(stdout(&shown).contains("Verified"), "{}", stdout(&shown));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The links compile, and what they answer is enough to compile without them.
#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn links_compile_fortran() {
    let folder = folder("fortran-links");
    let links = folder.join("links");
    let made = mazurka(&["link", links.to_str().unwrap()]).output().unwrap();
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mpi/pi.f90");
    let run = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).env("XDG_CACHE_HOME", cache()).current_dir(&folder);
        let done = command.output().unwrap();
        assert_eq!(code(&done), 0, "{}", stderr(&done));
        stdout(&done)
    };
    let verified = |name: &str| {
        let shown = run(&links.join("mpirun"), &["-n", "2", "--show", name]);
        assert!(shown.contains("Verified") && shown.contains("pi is about 3.14159"), "{shown}");
    };
    for name in ["mpif90", "mpif77", "mpifort"] {
        run(&links.join(name), &[source.to_str().unwrap(), "-o", name]);
        verified(&format!("./{name}"));
    }
    let answer = |question: &str| run(&links.join("mpif90"), &[question]).trim_end().to_owned();
    let (compile, link) = (answer("--showme:compile"), answer("--showme:link"));
    let compile = [compile.as_str(), "-c", source.to_str().unwrap(), "-o", "pi.o"].join(" ");
    for words in [compile, format!("pi.o -o plain {link}")] {
        let words: Vec<_> = words.split_whitespace().collect();
        run(Path::new("gfortran"), &words);
    }
    verified("./plain");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Options that make an `INTEGER` larger are refused.
#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn large_integers_are_refused() {
    let source = ["mpif90", "-fdefault-integer-8", "-c", "tests/mpi/fortran/messages.f90"];
    let refused = mazurka(&source).env("XDG_CACHE_HOME", cache()).output().unwrap();
    assert_eq!(code(&refused), 2);
    let why = "-fdefault-integer-8 is not supported: an INTEGER of MPI has 4 bytes";
    assert!(stderr(&refused).contains(why), "{}", stderr(&refused));
}

/// Programs in C, linked with parts in Fortran that call MPI.
#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn c_and_fortran_share_handles() {
    let folder = folder("fortran-both");
    let part = folder.join("part.f90");
    std::fs::write(
        &part,
        "subroutine part(comm, got)
  use mpi
  integer :: comm, got, ierr
  call MPI_Allreduce(1, got, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
end subroutine
",
    )
    .unwrap();
    let main = folder.join("main.c");
    std::fs::write(
        &main,
        "#include <mpi.h>
#include <assert.h>
void part_(MPI_Fint *comm, int *got);
int main(void) {
  MPI_Comm comm;
  int got = 0;
  MPI_Init(0, 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Fint number = MPI_Comm_c2f(comm);
  part_(&number, &got);
  assert(got == 2);
  MPI_Comm_free(&comm);
  return MPI_Finalize();
}
",
    )
    .unwrap();
    let program = folder.join("both").display().to_string();
    let files = [main.to_str().unwrap(), part.to_str().unwrap(), "-o", &program];
    let linked = mazurka(&[&["mpif90"], &files[..]].concat())
        .env("XDG_CACHE_HOME", cache())
        .output()
        .unwrap();
    assert_eq!(code(&linked), 0, "{}", stderr(&linked));
    let case = super::Case { number: String::new(), ranks: 2, slip: None, lines: Vec::new() };
    let found = answer_with(Path::new(&program), &case, &[mazurka::model::Semantics::ANY], UDPOR);
    assert!(matches!(found, Answer::Right), "{found:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}
