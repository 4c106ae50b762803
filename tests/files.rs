//! What commands read and write: folders with links, names with characters that a shell interprets,
//! results that would overwrite their spec, and a log that several studies write at the same time.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::{code, json, mazurka, run, stderr, stdout};

const SPEC: &str = "mailbox m: int; process P { recv(m); }";

/// An empty folder of this run of the tests.
fn folder(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The program, run in this folder.
fn within(folder: &Path, args: &[&OsStr]) -> std::process::Output {
    mazurka(&[]).args(args).current_dir(folder).output().unwrap()
}

fn words<'w>(words: &[&'w str]) -> Vec<&'w OsStr> {
    words.iter().map(|&word| OsStr::new(word)).collect()
}

#[test]
fn no_result_overwrites_what_is_read() {
    let folder = folder("overwrite");
    let texts = [("a.maz", SPEC), ("b.svg", SPEC), ("study.md", SPEC), ("runs.jsonl", SPEC)];
    for (name, text) in texts {
        fs::write(folder.join(name), text).unwrap();
    }
    let result = within(&folder, &words(&["check", "a.maz", "--format", "json"]));
    fs::write(folder.join("result.json"), &result.stdout).unwrap();
    let spec = ["check", "a.maz"];
    for args in [
        &["check", "a.maz", "-o", "a.maz"][..],
        &["check", "a.maz", "-o", "./a.maz"],
        &["check", "b.svg", "--draw", "b.svg"],
        &["run", "a.maz", "--output", "a.maz"],
        &["replay", "a.maz", "result.json", "-o", "a.maz"],
        &["replay", "a.maz", "result.json", "-o", "result.json"],
        &["draw", "b.svg", "-o", "b.svg"],
        &["client", "a.maz", "-o", "a.maz"],
        &["compare", ".", "-o", "a.maz"],
        &["study", "study.md", "-o", "."],
        &["study", "runs.jsonl", "-o", "."],
    ] {
        let output = within(&folder, &words(args));
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(
            stderr(&output).contains("is not written, as that would overwrite"),
            "{args:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{args:?}");
    }
    for (name, text) in texts {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text, "{name}");
    }
    let output = within(&folder, &words(&[&spec[..], &["-o", "new.json"]].concat()));
    assert_eq!((code(&output), stdout(&output)), (1, String::new()));
    let result: Value =
        serde_json::from_slice(&fs::read(folder.join("new.json")).unwrap()).unwrap();
    assert_eq!(result["verdict"], "deadlock");
}

/// A command that fails does not change the file of its last result.
#[test]
fn a_failure_writes_no_file() {
    let folder = folder("failure");
    fs::write(folder.join("wrong.maz"), "process {").unwrap();
    fs::write(folder.join("result.txt"), "before").unwrap();
    for command in ["check", "run", "compare", "draw", "client"] {
        let args = [command, "wrong.maz", "-o", "result.txt", "--color", "always"];
        assert_eq!(code(&within(&folder, &words(&args))), 2, "{command}");
        assert_eq!(fs::read_to_string(folder.join("result.txt")).unwrap(), "before", "{command}");
    }
}

#[test]
fn the_file_says_which_format() {
    let folder = folder("endings");
    fs::write(folder.join("a.maz"), SPEC).unwrap();
    for (args, begins) in [
        (&["check", "a.maz", "-o", "x.json"][..], "{"),
        (&["check", "a.maz", "-o", "x.txt", "--color", "always"], "Deadlock: "),
        (&["check", "a.maz", "-o", "x.json", "--format", "text"], "Deadlock: "),
        (&["run", "a.maz", "-o", "x.json"], "{"),
        (&["compare", "a.maz", "--explorers", "udpor", "-o", "x.csv"], "spec,constants"),
        (&["compare", "a.maz", "--explorers", "udpor", "-o", "x.md"], "| spec |"),
    ] {
        let output = within(&folder, &words(args));
        assert_eq!(code(&output), 1, "{args:?}: {}", stderr(&output));
        let file = args.iter().skip_while(|arg| **arg != "-o").nth(1).unwrap();
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.starts_with(begins), "{args:?}: {text}");
    }
}

/// The command at the end of a report, given to a shell, shows the same execution.
#[cfg(unix)]
#[test]
fn the_replay_command_is_one_for_a_shell() {
    use std::os::unix::ffi::OsStrExt;

    let folder = folder("names");
    for name in [
        &b"-x.maz"[..],
        b"a b'c\".maz",
        b"$(echo no);*.maz",
        b"n\xff.maz",
        b"line\nbreak\\.maz",
        "\u{202e}é.maz".as_bytes(),
    ] {
        let name = OsStr::from_bytes(name);
        fs::write(folder.join(name), SPEC).unwrap();
        let output = within(&folder, &[OsStr::new("check"), OsStr::new("--"), name]);
        assert_eq!(code(&output), 1, "{name:?}: {}", stderr(&output));
        let text = stdout(&output);
        let command = text.lines().last().unwrap().trim();
        let arguments = command.strip_prefix("mazurka ").unwrap();
        let script = format!("\"$0\" {arguments} -q");
        let shell = ["-c", &script, env!("CARGO_BIN_EXE_mazurka")];
        let replayed = Command::new("bash").args(shell).current_dir(&folder).output().unwrap();
        assert_eq!(code(&replayed), 1, "{name:?}: {command}: {}", stderr(&replayed));
        assert_eq!(text.lines().next(), stdout(&replayed).lines().next(), "{name:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_followed_once_or_reported() {
    use std::os::unix::fs::symlink;

    let folder = folder("links");
    fs::create_dir_all(folder.join("specs/sub")).unwrap();
    fs::create_dir_all(folder.join("elsewhere")).unwrap();
    for file in ["specs/a.maz", "specs/sub/b.maz", "elsewhere/c.maz"] {
        fs::write(folder.join(file), "process P { local(\"a\"); }").unwrap();
    }
    for (target, link) in [
        ("nowhere", "specs/broken.maz"),
        ("loop.maz", "specs/loop.maz"),
        ("gone", "specs/sub/gone"),
        ("..", "specs/sub/up"),
        ("../sub", "specs/sub/self"),
        ("../elsewhere", "specs/other"),
        ("sub/b.maz", "specs/linked.maz"),
    ] {
        symlink(target, folder.join(link)).unwrap();
    }
    let args = ["compare", "specs", "--explorers", "udpor", "--format", "json"];
    let output = within(&folder, &words(&args));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let result = json(&output);
    let rows = result["rows"].as_array().unwrap().iter();
    let specs: Vec<_> = rows.map(|row| row["spec"].as_str().unwrap()).collect();
    let expected = ["specs/a.maz", "specs/linked.maz", "specs/other/c.maz", "specs/sub/b.maz"];
    assert_eq!(specs, expected);
    let warnings = stderr(&output);
    assert_eq!(warnings.lines().count(), 3, "{warnings}");
    for link in ["specs/broken.maz", "specs/loop.maz", "specs/sub/gone"] {
        assert!(warnings.contains(&format!("{link} is left out: a broken link to ")), "{warnings}");
    }
    let output = within(&folder, &words(&["check", "specs/broken.maz"]));
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("a link to nowhere"), "{}", stderr(&output));
}

/// Each study keeps all its runs, whatever the others write, and whichever studies were killed
/// before.
#[test]
fn studies_may_share_a_folder() {
    let folder = folder("shared");
    fs::write(folder.join("runs.jsonl"), "{\"half a line").unwrap();
    let study = |constants: &str| {
        let mut command = mazurka(&["study", "philosophers.maz", "--k", "1,2", "-D", constants]);
        command.arg("--repeat").arg("4").arg("-o").arg(&folder).spawn().unwrap()
    };
    let children: Vec<_> = ["N=2", "N=3", "N=2,3", "N=4"].map(study).into_iter().collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 1, "{}", stderr(&output));
    }
    let log = fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    for line in log.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|why| panic!("{why}: {line}"));
    }
    assert!(log.ends_with('\n') && log.lines().count() >= 24, "{log}");
    let output = study("N=2..5").wait_with_output().unwrap();
    assert!(stderr(&output).contains("24 of 24 runs are known"), "{}", stderr(&output));
}

/// A comparison does not wait for ever for a column of rows, and the table says so.
#[test]
fn a_comparison_has_limits() {
    let args = ["compare", "ok.maz", "--explorers", "udpor", "--format", "json"];
    let result = json(&run(&args));
    let limits = &result["limits"];
    assert_eq!((&limits["timeout_seconds"], &limits["depth"]), (&30.0.into(), &Value::Null));
    assert_eq!(limits["max_memory_bytes"], 2_u64 << 30);
    let free = [&args[..], &["--timeout", "none", "--max-memory", "none"]].concat();
    let result = json(&run(&free));
    assert_eq!(result["limits"]["timeout_seconds"], Value::Null);
    assert_eq!(result["limits"]["max_memory_bytes"], Value::Null);
    let text = stdout(&run(&["compare", "ok.maz", "--explorers", "udpor", "--timeout", "9s"]));
    assert!(text.contains("Each row had at most: 9s, 2.0 GiB of memory."), "{text}");
}

/// The result goes to standard output if its file cannot be written, and the file stays as it was.
#[cfg(unix)]
#[test]
fn a_result_that_cannot_be_written_is_printed() {
    let folder = folder("full");
    fs::write(folder.join("a.maz"), SPEC).unwrap();
    fs::write(folder.join("old.json"), "old").unwrap();
    let program = env!("CARGO_BIN_EXE_mazurka");
    for (file, limit) in [("/dev/full", ""), ("old.json", "trap '' XFSZ; ulimit -f 0; ")] {
        for (command, begins) in [
            ("check a.maz --format text", "Deadlock: "),
            ("check a.maz --format json", "{"),
            ("run a.maz --format text", "a.maz"),
            ("compare a.maz --explorers udpor --format csv", "spec,"),
            ("count a.maz --format json", "{"),
        ] {
            let script = format!("{limit}exec \"$0\" {command} -o {file}");
            let shell = ["-c", &script, program];
            let output = Command::new("bash").args(shell).current_dir(&folder).output().unwrap();
            assert_eq!(code(&output), 2, "{script}: {}", stderr(&output));
            assert!(stdout(&output).starts_with(begins), "{script}: {}", stdout(&output));
            let why = format!("cannot write the result: {file}: ");
            assert!(stderr(&output).contains(&why), "{script}: {}", stderr(&output));
        }
    }
    assert_eq!(fs::read_to_string(folder.join("old.json")).unwrap(), "old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no temporary file is left");
}

/// A pipe has a name, but is not a regular file: what is written to it is there for its reader.
#[cfg(unix)]
#[test]
fn results_go_into_pipes_and_descriptors() {
    let folder = folder("pipes");
    fs::write(folder.join("a.maz"), SPEC).unwrap();
    let program = env!("CARGO_BIN_EXE_mazurka");
    for script in [
        "mkfifo p && { cat p > got & } && \"$0\" check a.maz -q -o p; code=$?; wait; exit $code",
        "echo before > got; \"$0\" check a.maz -q -o /dev/stdout >> got",
        "cat a.maz > q & \"$0\" check q -q -o got",
    ] {
        if script.contains("> q") {
            assert!(Command::new("mkfifo").arg(folder.join("q")).status().unwrap().success());
        }
        let shell = ["-c", script, program];
        let output = Command::new("bash").args(shell).current_dir(&folder).output().unwrap();
        assert_eq!(code(&output), 1, "{script}: {}", stderr(&output));
        let got = fs::read_to_string(folder.join("got")).unwrap();
        assert!(got.contains("Deadlock: "), "{script}: {got}");
        assert_eq!(got.starts_with("before"), script.contains("before"), "{script}: {got}");
    }
}
