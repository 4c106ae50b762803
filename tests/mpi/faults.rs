//! Whatever ranks do, limits are kept and nothing is left behind: no process, no file, no shared
//! memory. If ranks cannot be run, an error says why.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::{compile, folder};
use crate::cli::{code, mazurka, stderr, stdout};

/// The time limit for what takes half a second on an idle machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder for temporary files, one to work in, and a program.
struct Place {
    folder: PathBuf,
    program: String,
}

impl Place {
    fn new(name: &str) -> Place {
        let folder = folder(name);
        fs::create_dir(folder.join("temporary")).unwrap();
        fs::create_dir(folder.join("work")).unwrap();
        let program = compile("faults", &folder);
        Place { folder, program }
    }

    /// Starts a search of a program with this fault.
    fn begin(&self, fault: &str, options: &[&str]) -> Child {
        let arguments = [&["mpirun", "-n", "3"], options, &[&self.program, fault]].concat();
        let mut command = mazurka(&arguments);
        command.env("TMPDIR", self.folder.join("temporary"));
        command.current_dir(self.folder.join("work"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Checks that nothing is left. Its processes may need a moment to end.
    fn check(&self, what: &str) {
        let start = Instant::now();
        while !self.processes().is_empty() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(self.processes(), [] as [u32; 0], "{what}: processes are left");
        let names = |folder: &Path| -> Vec<_> {
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
        };
        for part in ["temporary", "work"] {
            assert!(names(&self.folder.join(part)).is_empty(), "{what}: files are left");
        }
        assert!(!Path::new("/dev/shm/mazurka-fault").exists(), "{what}: shared memory is left");
    }

    /// The processes that run the program.
    fn processes(&self) -> Vec<u32> {
        let all = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap());
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let runs = |number: &u32| {
            let program = fs::read_link(format!("/proc/{number}/exe"));
            program.is_ok_and(|program| program == Path::new(&self.program))
        };
        numbers.filter(runs).collect()
    }

    fn remove(self) {
        fs::remove_dir_all(&self.folder).unwrap();
    }
}

/// Waits for its end, up to the time limit of a test.
fn ended(mut child: Child, what: &str) -> Output {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{what}: it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

const FAULTS: [&str; 13] = [
    "loop", "close", "exec", "stop", "kill", "drip", "ignore", "fork", "print", "leave", "child",
    "write", "memory",
];

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn limits_are_kept_whatever_ranks_do_and_nothing_is_left() {
    let place = Place::new("mpi-faults");
    for fault in FAULTS {
        let ran = ended(place.begin(fault, &["--timeout", "300ms"]), fault);
        assert_eq!(code(&ran), 3, "{fault}: {}{}", stdout(&ran), stderr(&ran));
        place.check(fault);
        let short = ["--step-timeout", "200ms", "--buffering", "infinite"];
        let ran = ended(place.begin(fault, &short), fault);
        let hangs = stdout(&ran).contains("makes no call of MPI for 200ms");
        let is_said = hangs || stdout(&ran).contains("Not decided: ");
        assert!(is_said, "{fault}: {}{}", stdout(&ran), stderr(&ran));
        place.check(fault);
    }
    place.remove();
}

/// A guard and a server for each of three ranks, and the first rank.
const RUNNING: usize = 7;

fn signal(name: &str, to: &Child) {
    let sent = Command::new("kill").args([name, &to.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn signals_end_a_search_whatever_ranks_do_and_nothing_is_left() {
    let place = Place::new("mpi-signals");
    for (signals, exit) in [
        (&["-INT"][..], Some(3)),
        (&["-TERM"], Some(3)),
        (&["-INT", "-INT"], None),
        (&["-KILL"], None),
    ] {
        for fault in ["loop", "ignore", "child", "write"] {
            let what = format!("{fault} and {signals:?}");
            let child = place.begin(fault, &["--step-timeout", "1h"]);
            let start = Instant::now();
            while place.processes().len() < RUNNING && start.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(5));
            }
            signals.iter().for_each(|name| signal(name, &child));
            let ran = ended(child, &what);
            assert!(exit.is_none() || ran.status.code() == exit, "{what}: {}", stderr(&ran));
            place.check(&what);
        }
    }
    place.remove();
}

/// Terminal escapes in the output of ranks are made harmless, and its length is limited.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_ranks_print_is_harmless() {
    let place = Place::new("mpi-printed");
    let ran = ended(place.begin("escape", &["--buffering", "infinite"]), "escape");
    assert_eq!(code(&ran), 1, "{}", stderr(&ran));
    let text = stdout(&ran);
    assert!(text.contains("red \\u{1b}[31m"), "{text}");
    assert!(text.len() < 1 << 18, "{} bytes", text.len());
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
    place.remove();
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_is_no_program_is_refused() {
    let place = Place::new("mpi-programs");
    let at = |name: &str| place.folder.join(name);
    let write = |name: &str, text: &[u8], mode: u32| {
        fs::write(at(name), text).unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut foreign = fs::read(&place.program).unwrap();
    // The machine that an ELF file is for.
    foreign[18] ^= 0xff;
    write("text", b"MAZURKA_SOCKET", 0o755);
    write("quiet", b"#!/bin/sh\nexit 7 # MAZURKA_SOCKET", 0o755);
    write("says", b"#!/bin/sh\nprintf 'it is \\033[31mbroken' >&2; exit 1 # MAZURKA_SOCKET", 0o755);
    write("foreign", &foreign, 0o755);
    write("closed", &fs::read(&place.program).unwrap(), 0o644);
    for (name, why) in [
        ("none", "No such file"),
        ("work", "it is not a program"),
        ("text", "Exec format error"),
        ("foreign", "Exec format error"),
        ("closed", "Permission denied"),
        ("quiet", "exit status: 7"),
        ("says", "it is \\u{1b}[31mbroken"),
    ] {
        let ran = mazurka(&["mpirun"]).arg(at(name)).output().unwrap();
        assert_eq!(code(&ran), 2, "{name}: {}", stdout(&ran));
        assert!(stderr(&ran).contains(why), "{name}: {}", stderr(&ran));
    }
    for count in ["0", "-1", "257", "x"] {
        assert_eq!(code(&mazurka(&["mpirun", "-np", count, "x"]).output().unwrap()), 2);
    }
    place.check("programs");
    place.remove();
}

/// If the system grants too little of something, there is an error, or the search says that it is
/// incomplete. Nothing panics.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn too_little_of_anything_is_said() {
    let place = Place::new("mpi-limits");
    let program = env!("CARGO_BIN_EXE_mazurka");
    let few_processes = "-u 1 2> /dev/null || ulimit -p 1";
    for limit in ["-n 16", "-n 64", "-n 400", few_processes, "-v 100000", "-v 300000"] {
        let line = format!("ulimit {limit}; exec '{program}' mpirun '{}' none", place.program);
        let ran = Command::new("sh").args(["-c", &line]).output().unwrap();
        let said = stderr(&ran);
        assert!(matches!(ran.status.code(), Some(0 | 2 | 3)), "{limit}: {:?} {said}", ran.status);
        assert!(!said.contains("panicked"), "{limit}: {said}");
        assert!(ran.status.code() != Some(2) || said.starts_with("error: "), "{limit}: {said}");
    }
    let mut nowhere = mazurka(&["mpirun", &place.program, "none"]);
    let ran = nowhere.env("TMPDIR", "/nowhere").output().unwrap();
    assert_eq!(code(&ran), 2, "{}", stdout(&ran));
    assert!(stderr(&ran).contains("cannot make a folder"), "{}", stderr(&ran));
    place.check("limits");
    place.remove();
}
