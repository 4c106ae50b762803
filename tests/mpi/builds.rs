//! Build systems: what they ask `mpicc` for is enough to compile and link a program without it, and
//! the names that they look for are there.

use std::path::Path;
use std::process::{Command, Output};

use super::{cache, folder};
use crate::cli::{code, mazurka, stderr, stdout};

fn ask(question: &str) -> String {
    let told = mazurka(&["mpicc", question]).env("XDG_CACHE_HOME", cache()).output().unwrap();
    assert_eq!(code(&told), 0, "{question}: {}", stderr(&told));
    stdout(&told).trim_end().to_owned()
}

/// Calls the compiler itself in this folder.
fn cc(folder: &Path, parts: &[&str]) {
    let words: Vec<_> = parts.iter().flat_map(|part| part.split_whitespace()).collect();
    let called = Command::new("cc").args(&words).current_dir(folder).output().unwrap();
    assert!(called.status.success(), "{words:?}: {}", stderr(&called));
}

fn verified(program: &Path, case: &str) -> Output {
    mazurka(&["mpirun", "-n", "3", program.to_str().unwrap(), case]).output().unwrap()
}

const PART: &str = "\
#include <mpi.h>
int add(int mine) {
  int sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
";

const MAIN: &str = "\
#include <mpi.h>
int add(int mine);
int main(int argc, char **argv) {
  int rank, got;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  if (argv[1][0] == 'w') got = 1; /* still in use */
  MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (add(got) != 3) MPI_Abort(MPI_COMM_WORLD, 1);
  return MPI_Finalize();
}
";

/// The program is linked in one, and with a shared library that has the functions of MPI, too.
/// Accesses to its memory are seen.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_mpicc_answers_is_enough_to_build_a_program_without_it() {
    let folder = folder("mpi-builds");
    std::fs::write(folder.join("part.c"), PART).unwrap();
    std::fs::write(folder.join("main.c"), MAIN).unwrap();
    let (compile, link) = (ask("--showme:compile"), ask("--showme:link"));
    cc(&folder, &[&compile, "-fPIC -c main.c part.c"]);
    cc(&folder, &["-shared part.o -o libpart.so", &link]);
    let path = format!("-Wl,-rpath,{}", folder.display());
    for (name, parts) in [("whole", "main.o part.o"), ("apart", "main.o -L. -lpart")] {
        cc(&folder, &[parts, &path, "-o", name, &link]);
        let right = verified(&folder.join(name), "right");
        assert_eq!(code(&right), 0, "{name}: {}{}", stdout(&right), stderr(&right));
        let wrong = verified(&folder.join(name), "wrong");
        assert_eq!(code(&wrong), 1, "{name}: {}", stdout(&wrong));
        let text = stdout(&wrong);
        assert!(text.contains("local concurrency") && text.contains("main.c:9"), "{text}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Without the option at its end, the library of the sanitizer takes the place of ours.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_program_that_is_linked_with_the_sanitizer_is_refused() {
    let folder = folder("mpi-sanitizer");
    std::fs::write(folder.join("part.c"), PART).unwrap();
    std::fs::write(folder.join("main.c"), MAIN).unwrap();
    let link = ask("--showme:link").replace("-fno-sanitize=thread", "");
    cc(&folder, &[&ask("--showme:compile"), "main.c part.c -o program", &link]);
    let refused = verified(&folder.join("program"), "right");
    assert_eq!(code(&refused), 2, "{}", stdout(&refused));
    assert!(stderr(&refused).contains("with -fno-sanitize=thread"), "{}", stderr(&refused));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Each question has the names that it has for other compilers of MPI.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn questions_have_several_names() {
    let (compile, link) = (ask("--showme:compile"), ask("--showme:link"));
    for (names, answer) in [
        (vec!["-showme:compile"], compile.clone()),
        (vec!["-showme:link"], link.clone()),
        (vec!["-compile-info", "-compile_info", "-show-compile-info"], format!("cc {compile}")),
        (vec!["-link-info", "-link_info", "-show-link-info"], format!("cc {link}")),
        (vec!["-show", "--show", "-showme", "--showme"], format!("cc {compile} {link}")),
        (vec!["-showme:command", "--showme:command"], "cc".into()),
        (vec!["-showme:libs"], "mazurka".into()),
        (vec!["--showme:version"], format!("Mazurka {}", env!("CARGO_PKG_VERSION"))),
    ] {
        for name in names {
            assert_eq!(ask(name), answer, "{name}");
        }
    }
    let (headers, libraries) = (ask("--showme:incdirs"), ask("--showme:libdirs"));
    assert!(Path::new(&headers).join("mpi.h").exists(), "{headers}");
    assert!(Path::new(&libraries).join("libmazurka.a").exists(), "{libraries}");
    // There is no folder in which the library would be found later.
    let mut homeless = mazurka(&["mpicc", "--showme:link"]);
    let homeless = homeless.env_remove("XDG_CACHE_HOME").env_remove("HOME").output().unwrap();
    assert_eq!(code(&homeless), 2, "{}", stdout(&homeless));
    assert!(stderr(&homeless).contains("XDG_CACHE_HOME"), "{}", stderr(&homeless));
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn links_are_made_for_all_commands() {
    let folder = folder("mpi-links");
    let links = folder.join("in/it");
    let make = || mazurka(&["link", links.to_str().unwrap()]).output().unwrap();
    // A link to another build is replaced.
    std::fs::create_dir_all(&links).unwrap();
    std::os::unix::fs::symlink("/old/mazurka", links.join("mpicc")).unwrap();
    for time in ["first", "second"] {
        let made = make();
        assert_eq!(code(&made), 0, "{time}: {}", stderr(&made));
        assert!(stdout(&made).contains("export PATH="), "{}", stdout(&made));
    }
    let run = |name: &str, args: &[&str]| {
        let mut command = Command::new(links.join(name));
        command.args(args).current_dir(&folder).env("XDG_CACHE_HOME", cache()).output().unwrap()
    };
    std::fs::write(folder.join("part.c"), PART).unwrap();
    std::fs::write(folder.join("main.c"), MAIN).unwrap();
    let compiled = run("mpicc", &["main.c", "part.c", "-o", "program"]);
    assert_eq!(code(&compiled), 0, "{}", stderr(&compiled));
    for name in ["mpirun", "mpiexec"] {
        let right = run(name, &["-np", "3", "./program", "right"]);
        assert_eq!(code(&right), 0, "{name}: {}{}", stdout(&right), stderr(&right));
    }
    // Neither a link to something else nor a file is replaced.
    std::fs::remove_file(links.join("mpicc")).unwrap();
    std::os::unix::fs::symlink("/bin/true", links.join("mpicc")).unwrap();
    let refused = make();
    assert_eq!(code(&refused), 2, "{}", stdout(&refused));
    assert_eq!(std::fs::read_link(links.join("mpicc")).unwrap(), Path::new("/bin/true"));
    std::fs::remove_file(links.join("mpicc")).unwrap();
    std::fs::remove_file(links.join("mpirun")).unwrap();
    std::fs::write(links.join("mpirun"), "mine").unwrap();
    let refused = make();
    assert_eq!(code(&refused), 2, "{}", stdout(&refused));
    assert!(stderr(&refused).contains("mpirun: File exists"), "{}", stderr(&refused));
    assert_eq!(std::fs::read_to_string(links.join("mpirun")).unwrap(), "mine");
    std::fs::remove_dir_all(&folder).unwrap();
}
