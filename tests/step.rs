//! `mazurka step`: sessions as users type them, beside replays; and what `why` says, beside all
//! that can still happen.

mod depends;
mod why;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use mazurka::lang::{Program, compile};
use mazurka::model::Schedule;
use mazurka::property::{Replay, Standing};

use crate::cli::{code, json, mazurka, run, stderr, stdout};
use crate::tidy::{files, some_of};

/// A command and what it printed.
pub struct Told {
    /// The number of steps before it.
    pub position: usize,
    pub command: String,
    pub text: String,
}

/// Runs a session with these commands.
pub fn run_session(args: &[&str], commands: &[&str]) -> Output {
    let mut command = mazurka(&[&["step"], args].concat());
    let mut child = command.env("COLUMNS", "10000").stdin(Stdio::piped()).spawn().unwrap();
    let input: String = commands.iter().map(|command| format!("{command}\n")).collect();
    // A session that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// What a session prints: first before any command, then for each command.
pub fn told(output: &Output) -> Vec<Told> {
    let start = Told { position: 0, command: String::new(), text: String::new() };
    let mut all = vec![start];
    for line in stdout(output).lines() {
        let prompt = line.split_once("> ").or(line.strip_suffix('>').map(|number| (number, "")));
        match prompt.and_then(|(number, command)| Some((number.parse().ok()?, command))) {
            Some((position, command)) => {
                all.push(Told { position, command: command.into(), text: String::new() });
            }
            None => all.last_mut().unwrap().text += &format!("{line}\n"),
        }
    }
    all
}

pub fn session(args: &[&str], commands: &[&str]) -> Vec<Told> {
    let output = run_session(args, commands);
    let all = told(&output);
    assert_eq!(all.len(), commands.len() + 1, "{args:?}: {}{}", stdout(&output), stderr(&output));
    all
}

/// The schedule that `trace` prints.
pub fn schedule(trace: &str) -> Schedule {
    let (_, schedule) = trace.rsplit_once("--schedule ").unwrap_or_else(|| panic!("{trace}"));
    schedule.trim().trim_matches('\'').parse().unwrap()
}

/// The number of actions in the list that ends a text.
pub fn listed(text: &str) -> usize {
    let Some((_, list)) = text.split_once("Next:") else { return 0 };
    let is_row = |line: &&str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let rows = list.lines().skip(1).take_while(is_row);
    rows.filter(|row| !row.contains(" ahead: Enter ")).count()
}

/// Some specs, or all.
pub fn specs(all: bool) -> Vec<PathBuf> {
    some_of(files("specs", "maz"), if all { 1 } else { 11 }).collect()
}

pub fn program(path: &Path) -> Program {
    compile("spec", &fs::read_to_string(path).unwrap(), &[]).expect("a spec")
}

/// A walk at random, then back and forth: the same state and the same list again; and the trace is
/// an execution that ends in what was told.
fn assert_walk_replays(path: &Path) {
    let spec = path.to_str().unwrap();
    let commands = [
        "run 12", "state", "list", "trace", "back", "why", "forward", "state", "list", "goto 0",
        "goto end", "state", "list",
    ];
    let all = session(&[spec, "--seed", "7"], &commands);
    let text = |index: usize| all[index].text.as_str();
    if all[2].position == 0 {
        assert!(text(1).contains(" any more"), "{spec}: {}", text(1));
        return;
    }
    for (state, list) in [(8, 9), (12, 13)] {
        assert_eq!((text(2), text(3)), (text(state), text(list)), "{spec}");
        assert_eq!(all[2].position, all[state].position, "{spec}");
    }
    assert_eq!((all[5].position, all[10].position), (all[6].position + 1, all[7].position + 1));
    let program = program(path);
    let schedule = schedule(text(4));
    assert_eq!(schedule.len(), all[2].position, "{spec}");
    let mut replay = Replay::new(&program);
    replay.follow(&schedule).unwrap();
    assert_eq!(replay.enabled().len(), listed(text(3)), "{spec}: {}", text(3));
    // What went wrong before the first step is told there.
    let texts = text(0).to_owned() + text(1);
    let says = |words: &[&str]| words.iter().any(|words| texts.contains(words));
    let ended = ["All processes have ended after", "All processes but daemons have ended after"];
    let failed = ["\nAssertion failed", "\nError: "];
    let stuck = ["\nDeadlock: ", "\nLivelock: "];
    let is_told = [says(&ended), says(&stuck), says(&failed)];
    let expected = match replay.standing() {
        Standing::Open => [false, false, false],
        Standing::Ended => [true, false, false],
        Standing::Deadlock(_) => [false, true, false],
        Standing::Failed { .. } => [false, false, true],
    };
    assert_eq!(is_told, expected, "{spec}: {texts}");
}

#[test]
fn walks_go_back_and_replay() {
    specs(false).iter().for_each(|path| assert_walk_replays(path));
}

#[test]
#[ignore = "slow"]
fn walks_go_back_and_replay_at_length() {
    specs(true).iter().for_each(|path| assert_walk_replays(path));
}

/// `replay` of the trace tells the same end.
#[test]
fn a_trace_is_replayed() {
    for (spec, args) in [
        ("philosophers.maz", &["-D", "N=2"][..]),
        ("counter.maz", &[]),
        ("assertion.maz", &[]),
        ("rendezvous.maz", &[]),
    ] {
        let all = session(&[&[spec], args].concat(), &["run", "trace"]);
        let schedule = schedule(&all[2].text).to_string();
        let args = [&["replay", spec, "--schedule", &schedule], args].concat();
        let replayed = stdout(&mazurka(&args).env("COLUMNS", "10000").output().unwrap());
        let (_, end) = all[1].text.split_once("\n\n").unwrap();
        let end = end.split("\nNext:").next().unwrap();
        assert!(replayed.contains(end.trim()), "{spec}: {replayed} without {end}");
    }
}

/// However long it is.
#[test]
fn a_long_trace_is_whole() {
    let all = session(&["endless.maz"], &["run 3000", "trace"]);
    assert_eq!(schedule(&all[2].text).len(), 3000);
}

/// With the same seed, `run` is what `mazurka run` shows.
#[test]
fn the_seed_is_that_of_run() {
    for seed in ["0", "5", "9"] {
        let args = ["counter.maz", "--seed", seed];
        let all = session(&args, &["run", "trace"]);
        let result = json(&run(&[&["run"], &args[..], &["--format", "json"]].concat()));
        assert_eq!(result["replay"], schedule(&all[2].text).to_string());
    }
}

#[test]
fn every_choice_can_be_taken_by_number_and_by_name() {
    let text = "p2p mailbox m; process S[i in 0..2] { isend(m, i); }
        process R { let c = choose(3..5); let a = recv(m); }";
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("choices.maz");
    fs::write(&spec, text).unwrap();
    let spec = spec.to_str().unwrap();
    let all = session(&[spec], &["S[0]", "S[1]", "R", "2", "R", "why R", "2", "state R", "R"]);
    assert_eq!(listed(&all[0].text), 4, "{}", all[0].text);
    assert!(all[3].text.contains("R can do several things: give one of the numbers 1 and 2"));
    assert!(all[4].text.contains("chooses 4"), "{}", all[4].text);
    let why = &all[6].text;
    assert!(why.contains("The network can act for it: 1 and 2."), "{why}");
    assert!(all[7].text.contains("gets 1 of S[1]"), "{}", all[7].text);
    assert!(all[8].text.contains("c = 4"), "{}", all[8].text);
    assert!(all[9].text.contains("All processes have ended after 6 steps"), "{}", all[9].text);
}

/// A jump finds what `check` finds, and the steps to it can be walked.
#[test]
fn a_jump_leads_to_the_violation_of_check() {
    for spec in ["philosophers.maz", "counter.maz", "assertion.maz", "rendezvous.maz", "ok.maz"] {
        let checked = run(&["check", spec, "--format", "json"]);
        let line = stdout(&run(&["check", spec, "-q"]));
        let all = session(&[spec], &["jump", "goto 0", "goto end", "trace"]);
        assert!(all[1].text.contains(&line), "{spec}: {}", all[1].text);
        if code(&checked) == 1 {
            let found = &json(&checked)["violations"][0];
            assert_eq!(found["replay"], schedule(&all[4].text).to_string());
            assert!(all[3].text.contains(&line), "{spec}: {}", all[3].text);
            assert_eq!(all[3].position, 0);
        } else {
            assert_eq!((all[1].text.as_str(), all[2].position), (line.as_str(), 0));
        }
    }
}

/// Does something go wrong in some execution that begins with this one? Follows each one anew.
fn goes_wrong(program: &Program, schedule: &Schedule) -> bool {
    let mut replay = Replay::new(program);
    replay.follow(schedule).unwrap();
    match replay.standing() {
        Standing::Ended => false,
        Standing::Deadlock(_) | Standing::Failed { .. } => true,
        Standing::Open => replay.enabled().into_iter().any(|action| {
            let longer = schedule.iter().copied().chain([action]).collect();
            goes_wrong(program, &longer)
        }),
    }
}

const RACE: &str = "shared x: int = 0; mutex m;
    process P[i in 0..2] { let c = choose(0..2); if c == 1 { lock(m); }
        let a = x; x = a + 1; if c == 1 { unlock(m); } }
    process Q { if x == 1 { assert(x == 1); } }";
const SENDS: &str = "p2p mailbox m; process S[i in 0..2] { isend(m, i); }
    process R { let a = recv(m); let b = if a == 0 { recv(m) } else { recv(m, src: 1) }; }";
const ACTORS: &str = "
    actor A { var n = 0; on Up() { n += 1; } on Last() when n < 2 { assert(n < 1); } }
    actor B { on Go() { send(A, Up()); } }
    init { send(B, Go()); send(A, Up()); send(A, Last()); }";

#[test]
fn a_jump_from_here_decides_what_can_still_go_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let (mut wrong, mut right) = (0, 0);
    for (name, text) in [("race", RACE), ("sends", SENDS), ("actors", ACTORS)] {
        let spec = folder.path().join(name);
        fs::write(&spec, text).unwrap();
        let program = program(&spec);
        for seed in 0..4 {
            for steps in ["1", "2", "3", "5"] {
                let (walk, seed) = (format!("run {steps}"), format!("{seed}"));
                let args = [spec.to_str().unwrap(), "--seed", &seed];
                let all = session(&args, &[&walk, "trace", "jump here", "trace"]);
                let begun = schedule(&all[2].text);
                let mut replay = Replay::new(&program);
                replay.follow(&begun).unwrap();
                let text = &all[3].text;
                if replay.standing() != Standing::Open {
                    assert!(text.contains("ended or gone wrong already"), "{name}: {text}");
                    continue;
                }
                let expected = goes_wrong(&program, &begun);
                assert_eq!(expected, !text.contains("goes wrong.\n"), "{name} {begun}: {text}");
                if expected {
                    let found = schedule(&all[4].text);
                    assert!(found.starts_with(&begun), "{name}: {found} begins with {begun}");
                    let mut replay = Replay::new(&program);
                    replay.follow(&found).unwrap();
                    assert_ne!(replay.standing(), Standing::Open);
                    assert_ne!(replay.standing(), Standing::Ended);
                    wrong += 1;
                } else {
                    right += 1;
                }
            }
        }
    }
    assert!(wrong >= 8 && right >= 8, "{wrong} prefixes go wrong, {right} do not");
}

/// A saved violation, of an execution that goes on for ever, can be walked.
#[test]
fn a_lasso_is_walked() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result.json");
    let (spec, result) = ("../../../specs/liveness/dekker.maz", result.to_str().unwrap());
    let checked = run(&["check", spec, "-D", "BUG=true", "-o", result]);
    assert_eq!(code(&checked), 1);
    let all = session(&[spec, result], &["", "", "forward 5", "forward", "trace", "jump"]);
    assert!(all[0].text.contains("8 steps lie ahead: Enter takes number 1"), "{}", all[0].text);
    assert_eq!(all[4].position, 7);
    assert!(!all[3].text.contains("Liveness"), "{}", all[3].text);
    for text in [&all[4].text, &all[6].text] {
        assert!(text.contains("Liveness: "), "{text}");
        assert!(text.contains("Steps 3 to 8 happen again and again."), "{text}");
    }
    let saved = fs::read_to_string(result).unwrap();
    assert!(saved.contains(&format!("\"replay\": \"{}\"", schedule(&all[5].text))));
}

#[test]
fn a_mistake_is_told_and_the_session_goes_on() {
    let commands = [
        "jmp",
        "99",
        "0",
        "back",
        "goto 4",
        "forward",
        "run x",
        "why Nobody",
        "state zzz",
        "P0 1",
        "list now",
    ];
    for mistake in commands {
        let output = run_session(&["rendezvous.maz"], &[mistake, "1", "quit", "2"]);
        let all = told(&output);
        assert_eq!((code(&output), all.len()), (2, 4), "{mistake}: {}", stdout(&output));
        assert_eq!(all[1].text.lines().count(), 1, "{}", all[1].text);
        assert!(all[1].text.starts_with("  "), "{}", all[1].text);
        assert_eq!((all[2].position, all[3].position), (0, 1));
    }
    let fine = run_session(&["rendezvous.maz"], &["# a remark", "1", "b"]);
    assert_eq!((code(&fine), stderr(&fine).as_str()), (0, ""));
}

#[test]
fn what_is_not_a_spec_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [binary, rust] = ["ring", "lib.rs"].map(|name| folder.path().join(name));
    fs::write(&binary, b"\x7fELF\x02\x01").unwrap();
    fs::write(&rust, "fn main() {}").unwrap();
    let [binary, rust] = [&binary, &rust].map(|path| path.to_str().unwrap());
    let bad = "philosophers.maz";
    for (args, says) in [
        (&[binary][..], "mazurka mpirun"),
        (&[rust], "a test of their own"),
        (&["-"], "the spec must be a file"),
        (&["no-such.maz"], "cannot read no-such.maz"),
        (&[bad, "--schedule", "9"], "step 1 of the schedule: there is no process 9"),
        (&[bad, "--schedule", "0,x"], "item 2 of the schedule"),
        (&[bad, "--schedule", "0/1"], "the loop of the schedule shows nothing"),
        (&[bad, "--explorer", "magic"], "magic"),
        (&[bad, "-D", "M=1"], "no constant"),
    ] {
        let output = run_session(args, &["1"]);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
    }
}

/// What was done between two prompts is printed at once, and Ctrl-C at a prompt is the end.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_search_or_the_session() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Command;
    use std::thread::sleep;
    use std::time::Duration;

    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("large.maz");
    fs::write(&spec, crate::cli::ENDLESS_SEARCH).unwrap();
    let args = ["step", spec.to_str().unwrap(), "--explorer", "exhaustive"];
    let mut child = mazurka(&args).stdin(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let interrupt = || {
        sleep(Duration::from_millis(300));
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.unwrap().success());
    };
    let mut until = |words: &str| {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the session ended before {words}");
        }
    };
    input.write_all(b"jump\n").unwrap();
    until("0> jump");
    interrupt();
    until("Incomplete: nothing wrong was found");
    input.write_all(b"1\n").unwrap();
    until("0> 1");
    interrupt();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
