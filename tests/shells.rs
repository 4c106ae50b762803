//! What shells and `man` get of us: completions, as each shell reads them, and manual pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::{code, run, stderr, stdout};

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-shells-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// What a shell prints when it has read our completions and runs this; it must succeed.
fn asked(shell: &str, arguments: &[&str], question: &str) -> String {
    let folder = folder(shell);
    let printed = run(&["completions", shell]);
    assert_eq!(code(&printed), 0, "{}", stderr(&printed));
    fs::write(folder.join("script"), printed.stdout).unwrap();
    fs::write(folder.join("philosophers.maz"), "").unwrap();
    let answer =
        Command::new(shell).args(arguments).arg(question).current_dir(&folder).output().unwrap();
    assert!(answer.status.success(), "{question}: {}", stderr(&answer));
    assert_eq!(stderr(&answer), "", "{question}");
    fs::remove_dir_all(&folder).unwrap();
    stdout(&answer)
}

#[test]
#[cfg_attr(not(has_bash), ignore = "needs Bash")]
fn bash_completes_commands_options_and_explorers() {
    asked("bash", &["--norc", "-c"], "bash -n script");
    for (words, offered) in [
        (&["che"][..], "check"),
        (&["check", "--short"], "--shortest"),
        (&["check", "--explorer", "st"], "stateful"),
        (&["compare", "--explorers", "opt"], "optimal"),
        (&["completions", ""], "bash elvish fish powershell zsh"),
        // Nothing is offered, so that Bash offers files.
        (&["check", ""], ""),
        (&["check", "phi"], ""),
    ] {
        let (last, before) = (words[words.len() - 1], words.iter().rev().nth(1));
        let question = format!(
            "source ./script; COMP_WORDS=(mazurka {}); COMP_CWORD={}; \
             complete -p mazurka | grep -q -e '-o default' || exit 1; \
             _mazurka_words mazurka '{last}' '{}'; echo \"${{COMPREPLY[*]}}\"",
            words.iter().map(|word| format!("'{word}' ")).collect::<String>(),
            words.len(),
            before.unwrap_or(&"mazurka"),
        );
        assert_eq!(asked("bash", &["--norc", "-c"], &question).trim(), offered, "{words:?}");
    }
}

#[test]
#[cfg_attr(not(has_zsh), ignore = "needs zsh")]
fn zsh_reads_the_completions() {
    asked("zsh", &["-f", "-c"], "zsh -n script");
    let defined = "compdef() { echo $@ }; source ./script; whence -w _mazurka";
    assert_eq!(asked("zsh", &["-f", "-c"], defined), "_mazurka mazurka\n_mazurka: function\n");
}

#[test]
#[cfg_attr(not(has_fish), ignore = "needs fish")]
fn fish_completes_commands_options_explorers_and_files() {
    asked("fish", &["--no-config", "-c"], "fish --no-execute script");
    for (line, offered) in [
        ("mazurka che", "check"),
        ("mazurka check --short", "--shortest"),
        ("mazurka check --explorer st", "stateful"),
        ("mazurka check phi", "philosophers.maz"),
    ] {
        let question = format!("source ./script; complete -C '{line}'");
        let answer = asked("fish", &["--no-config", "-c"], &question);
        let words: Vec<&str> = answer.lines().filter_map(|l| l.split('\t').next()).collect();
        assert_eq!(words, [offered], "{line}");
    }
}

#[test]
fn there_are_completions_for_each_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(&run(&["completions", shell]));
        for word in ["mazurka", "check", "mpirun", "explorer", "max-memory"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(code(&run(&["completions", "tcsh"])), 2);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder("man");
    let pages = folder.join("share/man1");
    let written = run(&["man", pages.to_str().unwrap()]);
    assert_eq!(code(&written), 0, "{}", stderr(&written));
    let help = stdout(&run(&["--help"]));
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands: Vec<&str> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    assert_eq!(fs::read_dir(&pages).unwrap().count(), commands.len() + 1, "{}", stdout(&written));
    for command in &commands {
        let page = fs::read_to_string(pages.join(format!("mazurka-{command}.1"))).unwrap();
        let summary = page.split(".SH NAME\n").nth(1).unwrap().lines().next().unwrap();
        assert!(summary.starts_with(&format!("mazurka\\-{command} \\- ")), "{summary}");
        // What begins with a dot is a command of roff.
        let known = [".TH", ".SH", ".SS", ".TP", ".RS", ".RE", ".IP", ".PP", ".nf", ".fi", ".br"];
        for line in page.lines().filter(|line| line.starts_with(['.', '\''])) {
            let name = line.split_whitespace().next().unwrap();
            let is_known = known.contains(&name) || [".ie", ".el"].contains(&name);
            assert!(is_known, "{command}: {line}");
        }
    }
    let check = fs::read_to_string(pages.join("mazurka-check.1")).unwrap();
    assert!(check.contains("\n  mazurka check philosophers.maz \\-D N=5 \\-\\-timeout 30s\n"));
    fs::write(folder.join("file"), "").unwrap();
    assert_eq!(code(&run(&["man", folder.join("file").to_str().unwrap()])), 2);
    fs::remove_dir_all(&folder).unwrap();
}
