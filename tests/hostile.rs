//! Hostile specs: texts that act on a terminal, or pretend to be lines of a report; and whatever a
//! fuzzer generates.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::cli::{code, json, mazurka, stderr, stdout};
use crate::random_models::asked;

#[path = "../examples/fuzz/corpus.rs"]
mod corpus;
#[path = "../examples/fuzz/mutation.rs"]
mod mutation;
#[path = "../examples/fuzz/options.rs"]
mod options;
#[path = "../examples/fuzz/random.rs"]
mod random;
#[path = "../examples/fuzz/trial.rs"]
mod trial;

use trial::{Patience, Trial};

/// A line break in a text, an escape sequence, its shorter form in C1, and a character that changes
/// the direction of text.
const HOSTILE: &str = "mailbox m: int;\n\
    process P { local(\"\u{1b}[2J\u{9b}31m\u{202e}gnp\"); send(m, 1); }\n\
    process Q { let c = recv(m); /* \u{1b}]0;title\u{7} */ assert(c == 2, \"a\\nVerified: nothing is wrong\u{1b}[1m\u{2028}\"); }\n";

/// A folder of this test, with the spec under a hostile name.
fn folder(name: &str) -> (std::path::PathBuf, &'static str) {
    let folder = env::temp_dir().join(format!("mazurka-hostile-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = "a\u{1b}[31m\u{202e}b\u{9b}.maz";
    fs::write(folder.join(file), HOSTILE).unwrap();
    (folder, file)
}

fn acts(text: &str) -> Option<char> {
    text.chars().find(|&c| c != '\n' && mazurka::model::is_deceptive(c))
}

#[test]
fn texts_of_a_spec_act_on_no_terminal() {
    let (folder, file) = folder("texts");
    let commands: [&[&str]; 12] = [
        &["check", file],
        &["check", file, "--format", "json"],
        &["check", file, "--granularity", "statement", "--all"],
        &["run", file],
        &["run", file, "--format", "json"],
        &["replay", file, "--schedule", "0,0,1,1,0"],
        &["draw", file, "-o", "x.svg", "--what", "space-time"],
        &["draw", file, "-o", "x.dot", "--what", "processes"],
        &["draw", file, "-o", "x.json", "--what", "unfolding"],
        &["draw", file, "-o", "x.svg", "--what", "configuration"],
        &["compare", file, "--explorers", "udpor,stateful", "--format", "markdown"],
        &["compare", file, "--explorers", "udpor", "--format", "csv"],
    ];
    for args in commands {
        let output =
            mazurka(args).args(["--color", "never"]).current_dir(&folder).output().unwrap();
        assert!(code(&output) <= 3);
        for text in [stdout(&output), stderr(&output)] {
            assert_eq!(acts(&text), None, "{args:?}: {text:?}");
            assert!(!text.lines().any(|line| line.starts_with("Verified")), "{args:?}: {text}");
        }
        for picture in ["x.svg", "x.dot", "x.json"] {
            let text = fs::read_to_string(folder.join(picture)).unwrap_or_default();
            assert_eq!(acts(&text), None, "{args:?}: {picture}");
        }
    }
    let wrong =
        mazurka(&["check", file, "-D", "X=\u{1b}[2J"]).current_dir(&folder).output().unwrap();
    assert_eq!((code(&wrong), acts(&stdout(&wrong))), (2, None));
    let missing =
        mazurka(&["check", "no\u{1b}[2J\nVerified"]).current_dir(&folder).output().unwrap();
    assert!(!stderr(&missing).contains("\nVerified"), "{}", stderr(&missing));
    fs::remove_dir_all(folder).unwrap();
}

/// Bad input is answered in JSON, too, with every place.
#[test]
fn bad_input_is_json() {
    let (folder, _) = folder("json");
    fs::write(folder.join("bad.maz"), "process P {\n    let x = 1\n    y = 2;\n}\n").unwrap();
    let run = |args: &[&str]| {
        mazurka(args).args(["--format", "json"]).current_dir(&folder).output().unwrap()
    };
    let spec = run(&["check", "bad.maz"]);
    assert_eq!(code(&spec), 2);
    let told = json(&spec);
    assert_eq!(told["verdict"], "usage-error");
    let first = &told["diagnostics"][0];
    assert_eq!(
        (&first["file"], &first["line"], &first["column"]),
        (&"bad.maz".into(), &2.into(), &14.into())
    );
    assert_eq!(first["message"], "expected `;`, found a name");
    for args in [
        &["check", "nowhere.maz"][..],
        &["check", "bad.maz", "--no-such-option"],
        &["check", "bad.maz", "--timeout", "soon"],
        &["run", "bad.maz"],
        &["replay", "bad.maz", "--schedule", "0"],
        &["compare", "bad.maz"],
        &["check", "bad.maz", "-D", "N=1"],
    ] {
        let output = run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert_eq!(json(&output)["verdict"], "usage-error", "{args:?}");
        assert!(!stderr(&output).is_empty());
    }
    fs::remove_dir_all(folder).unwrap();
}

/// An infinite file is not read for ever.
#[test]
#[cfg(unix)]
fn a_spec_has_an_end() {
    let output = mazurka(&["check", "/dev/zero"]).output().unwrap();
    assert_eq!(code(&output), 2);
    let told = stderr(&output);
    assert_eq!(told.trim_end(), "error: /dev/zero is larger than 64 MiB, the most that is read");
}

/// A few trials of `cargo run --release --features tools --example fuzz`.
#[test]
fn a_few_random_trials() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = corpus::corpus(&root.join("specs"));
    assert!(corpus.len() > 100);
    let folder = env::temp_dir().join(format!("mazurka-trials-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let patience = Patience {
        timeout: std::time::Duration::from_millis(300),
        slack: std::time::Duration::from_secs(10),
        at_most: std::time::Duration::from_secs(100),
    };
    let program = || Command::new(env!("CARGO_BIN_EXE_mazurka"));
    for seed in 0..asked(60) as u64 {
        let trial = Trial::new(seed, &corpus);
        let verdict = trial.judge(&program, &folder, patience);
        assert!(verdict.is_ok(), "seed {seed}: {verdict:?}: {:?}\n{}", trial.args, trial.spec());
    }
    fs::remove_dir_all(folder).unwrap();
}
