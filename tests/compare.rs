//! `mazurka compare`, as its users meet it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::{ENDLESS_SEARCH, code, json, mazurka, run, run_with, stderr, stdout};

#[test]
fn every_explorer_gets_a_row_with_its_figures() {
    let output = run(&["compare", "philosophers.maz", "--format", "json"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let result = json(&output);
    let rows = result["rows"].as_array().unwrap();
    let row = |explorer: &str| rows.iter().find(|row| row["explorer"] == explorer).unwrap();
    assert_eq!(row("udpor")["stats"]["traces"], 7);
    assert_eq!(row("exhaustive")["stats"]["classes"], 7);
    assert_eq!(row("exhaustive")["stats"]["events"], Value::Null);
    for row in rows {
        assert_eq!((&row["spec"], &row["constants"]["N"]), (&"philosophers.maz".into(), &3.into()));
        assert_eq!((&row["verdict"], &row["complete"]), (&"deadlock".into(), &true.into()));
        assert!(row["stats"]["peak_memory_bytes"].as_u64().unwrap() > 0);
    }
    assert_eq!(result["disagreements"], Value::Array(vec![]));
}

#[test]
fn explorers_are_chosen_with_options() {
    let list = "udpor:k=1,udpor:order=random+seed=7,exhaustive,udpor:k=1";
    let args = ["compare", "ok.maz", "--explorers", list, "--order", "lca", "--format", "csv"];
    let output = run(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("spec,constants,explorer,traces,"), "{text}");
    let explorers: Vec<_> = lines[1..].iter().map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(explorers, ["udpor:k=1+order=lca", "udpor:order=random+seed=7", "exhaustive"]);
}

/// As `compare` takes them.
#[test]
fn check_takes_options_behind_the_name_of_an_explorer() {
    for (explorer, more, [k, setting]) in [
        ("udpor:k=1", &[][..], ["1", "udpor, k = 1;"]),
        ("udpor:k=2+order=lca", &[], ["2", "udpor, k = 2, order lca;"]),
        ("udpor:order=lca", &["-k", "1"], ["1", "udpor, k = 1, order lca;"]),
    ] {
        let args = [&["check", "philosophers.maz", "--explorer", explorer][..], more].concat();
        let text = stdout(&run(&args));
        assert!(text.contains(setting), "{args:?}: {text}");
        let result = json(&run(&[&args[..], &["--format", "json"]].concat()));
        assert_eq!((&result["explorer"], &result["k"]), (&"udpor".into(), &k.into()));
    }
    for (explorer, more, fragment) in [
        ("udpor:speed=9", &[][..], "`speed=9` is not an option"),
        ("exhaustive:k=1", &[], "`exhaustive` has none"),
        ("udpor:k=1", &["-k", "2"], "--explorer udpor:k=1 gives k already: leave -k out"),
        ("sleep:jobs=2", &["--branches", "never"], "--jobs is for a search"),
    ] {
        let output = run(&[&["check", "ok.maz", "--explorer", explorer][..], more].concat());
        assert_eq!(code(&output), 2, "{explorer}");
        assert!(stderr(&output).contains(fragment), "{explorer}: {}", stderr(&output));
    }
}

/// All explorers are asked for, and those that are for actors only cannot be used.
#[test]
fn remarks_are_not_longer_than_the_table() {
    for (args, left_out) in [
        (&["compare", "philosophers.maz"][..], true),
        (&["compare", "philosophers.maz", "--explorers", "udpor,stateful"], false),
        (&["compare", "philosophers.maz", "--explorers", "exhaustive", "--max-traces", "3"], false),
    ] {
        let text = stdout(&run(args));
        let (table, remarks) = text.split_once("\n\n").expect("a table, and remarks");
        assert!(remarks.lines().count() <= table.lines().count(), "{text}");
        let says_why =
            remarks.contains("Left out") && remarks.contains("--explorers NAME says why");
        assert_eq!(says_why, left_out, "{text}");
    }
    let result = json(&run(&["compare", "philosophers.maz", "--format", "json"]));
    let why = result["left_out"][0]["why"].as_str().unwrap();
    assert!(why.contains("programs of actors"), "{why}");
}

#[test]
fn several_specs_and_folders_make_one_table() {
    let args = ["compare", "philosophers.maz", "ok.maz", "-D", "N=4", "--explorers", "udpor"];
    let text = stdout(&run(&args));
    let lines: Vec<_> = text.lines().collect();
    assert!(lines.contains(&"philosophers.maz N=4") && lines.contains(&"ok.maz"), "{text}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    let options = ["--explorers", "udpor", "--depth", "50", "--format", "json"];
    let output = run(&[&["compare", "."][..], &options].concat());
    assert_eq!(code(&output), 1);
    let result = json(&output);
    let rows = result["rows"].as_array().unwrap();
    let specs: BTreeSet<_> = rows.iter().map(|row| row["spec"].as_str().unwrap()).collect();
    let files = std::fs::read_dir(mazurka(&[]).get_current_dir().unwrap()).unwrap();
    let files = files
        .map(|file| file.unwrap().path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "maz"));
    assert_eq!(specs.len(), files.count());
    assert_eq!(rows.len(), specs.len());
}

#[test]
fn markdown_is_a_table() {
    let args = ["compare", "ok.maz", "--explorers", "udpor", "--format", "markdown"];
    let text = stdout(&run(&args));
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("| spec | explorer | traces |"), "{text}");
    assert!(lines[1].starts_with("| --- | --- | ---: |"), "{text}");
    assert!(lines[2].starts_with("| ok.maz | udpor | 1 | 0 |"), "{text}");
    assert!(lines[2].ends_with("| ok |"), "{text}");
}

#[test]
fn limits_are_limits_of_a_row() {
    let args = ["compare", "-", "--explorers", "exhaustive,udpor", "--max-traces", "10"];
    let output = run_with(&args, ENDLESS_SEARCH);
    assert_eq!(code(&output), 3);
    let text = stdout(&output);
    assert_eq!(text.matches("incomplete:").count(), 2, "{text}");
    assert_eq!(text.matches("max-traces").count(), 2, "{text}");
    assert_eq!(text.matches("≥ 10 ").count(), 2, "{text}");
}

#[test]
fn what_means_nothing_is_refused() {
    let both = ["compare", "ok.maz", "counter.maz", "-D", "M=3"];
    for (args, fragment) in [
        (&["compare"][..], "<SPEC>"),
        (&["compare", "ok.maz", "--explorers", "magic"], "there is no explorer `magic`"),
        (&["compare", "ok.maz", "--explorers", "udpor:speed=9"], "`speed=9` is not an option"),
        (&["compare", "ok.maz", "--explorers", "exhaustive", "-k", "1"], "-k means nothing to any"),
        (&["compare", "ok.maz", "no-such-file.maz"], "cannot read no-such-file.maz"),
        (&both, "none of the specs has a constant `M`"),
        (&["measure"], "internal command of `compare`"),
    ] {
        let output = run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(fragment), "{args:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
    }
}

/// Those that are done are there while the next one is still at it.
#[test]
fn rows_come_as_they_are_done() {
    for format in ["text", "csv", "markdown"] {
        let args = ["compare", "philosophers.maz", "-D", "N=7", "--format", format];
        let search = ["--explorers", "udpor,exhaustive", "--timeout", "60s"];
        let mut child = mazurka(&[&args[..], &search].concat()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("127")));
        assert!(first.is_some(), "{format}");
        assert!(child.try_wait().unwrap().is_none(), "{format}: the second row is not done");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_comparison_with_the_rows_so_far() {
    let explorers = ["--explorers", "udpor,exhaustive,udpor:k=1", "--format", "json"];
    let args = [&["compare", "philosophers.maz", "-D", "N=6"][..], &explorers].concat();
    let child = mazurka(&args).spawn().unwrap();
    // By then the first row is done and the second one, which takes for ever, is not.
    std::thread::sleep(Duration::from_millis(2000));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let result = json(&output);
    let rows = result["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &result["not_run"]), (2, &1.into()));
    assert_eq!(rows[0]["complete"], true);
    assert_eq!(rows[1]["stopped_by"], "interrupted");
    assert!(rows[1]["stats"]["traces"].as_u64().unwrap() > 0);
}

/// A child ends when its output is not read any more.
#[test]
fn a_search_ends_when_its_parent_is_gone() {
    let job = json!({
        "case": {
            "name": "endless", "source": ENDLESS_SEARCH, "defines": [], "by_statement": false,
            "allow_pending": false,
        },
        "setting": "exhaustive",
        "limits": {
            "depth": null, "max_traces": null, "timeout_seconds": null, "max_memory_bytes": null,
        },
        "all": true,
    });
    let mut child = mazurka(&["measure"]).stdin(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{job}").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let output = child.wait_with_output().unwrap();
    let last: Value = serde_json::from_str(stdout(&output).lines().last().unwrap()).unwrap();
    assert_eq!(last["Done"]["stopped_by"], "interrupted");
}
