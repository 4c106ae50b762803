//! Results for servers that build and test software: JUnit XML and SARIF.

use std::fs;
use std::path::Path;

use roxmltree::{Document, Node};
use serde_json::Value;

use crate::cli::{code, json, run, run_with, stderr, stdout};

const PHILOSOPHERS: &str = "../../../specs/mutex/philosophers.maz";
const OK: &str = "../../../specs/language/acquire-release.maz";
/// It has very many executions.
const LARGE: &str =
    "shared x: [int; 12] = 0; process P[i in 0..12] { for n in 1..5 { x[i] = n; } }";
/// It never ends, so a limit stops it.
const ENDLESS: &str = "mailbox m: int; process P { var n = 0; loop { isend(m, n); n += 1; } }";

/// The test cases of a document. Its counts must be right.
fn cases<'d>(document: &'d Document<'d>) -> Vec<Node<'d, 'd>> {
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let all = |node: Node<'d, 'd>, tag: &str| -> Vec<Node<'d, 'd>> {
        node.descendants().filter(|node| node.has_tag_name(tag)).collect()
    };
    for suite in all(root, "testsuite").into_iter().chain([root]) {
        for (count, tag) in [
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ] {
            assert_eq!(suite.attribute(count), Some(&*all(suite, tag).len().to_string()));
        }
    }
    for case in all(root, "testcase") {
        assert!(case.attribute("time").unwrap().parse::<f64>().unwrap() >= 0.0);
        assert!(case.children().filter(Node::is_element).count() <= 1);
    }
    all(root, "testcase")
}

fn child<'d>(case: Node<'d, 'd>) -> Node<'d, 'd> {
    case.children().find(Node::is_element).expect("not a passed test")
}

#[test]
fn junit_has_failures_with_the_report_and_passes_only_what_is_verified() {
    let bad = run(&["check", PHILOSOPHERS, "-D", "N=4", "--format", "junit"]);
    assert_eq!(code(&bad), 1);
    let text = stdout(&bad);
    let document = Document::parse(&text).unwrap();
    let [case] = cases(&document)[..] else { panic!("{text}") };
    assert_eq!(case.attribute("classname"), Some(PHILOSOPHERS));
    assert_eq!(case.attribute("name"), Some("check -D N=4"));
    let failure = child(case);
    assert!(failure.has_tag_name("failure") && failure.attribute("type") == Some("deadlock"));
    let report = failure.text().unwrap();
    assert!(report.contains("Deadlock") && report.contains("mazurka replay"), "{report}");
    assert!(report.lines().count() > 10 && !report.contains('\u{1b}'), "{report}");

    let good = run(&["check", OK, "--format", "junit"]);
    assert_eq!(code(&good), 0);
    let text = stdout(&good);
    let document = Document::parse(&text).unwrap();
    let [case] = cases(&document)[..] else { panic!("{text}") };
    assert!(!case.has_children());
}

#[test]
fn a_stopped_search_is_no_passed_test() {
    for (limit, source) in
        [(["--max-traces", "3"], ""), (["--depth", "5"], ENDLESS), (["--timeout", "0.2"], LARGE)]
    {
        let spec = if source.is_empty() { OK } else { "-" };
        let args = |format| {
            ["check", spec, "--explorer", "exhaustive", limit[0], limit[1], "--format", format]
        };
        let stopped = run_with(&args("junit"), source);
        assert_eq!(code(&stopped), 3, "{}", stderr(&stopped));
        let text = stdout(&stopped);
        let document = Document::parse(&text).unwrap();
        let [case] = cases(&document)[..] else { panic!("{text}") };
        let error = child(case);
        let reason = limit[0].trim_start_matches("--");
        assert!(error.has_tag_name("error") && error.attribute("type") == Some(reason), "{text}");
        assert!(error.attribute("message").unwrap().starts_with("not decided: "), "{text}");

        let log = json(&run_with(&args("sarif"), source));
        let run = &log["runs"][0];
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 1, "{log}");
        assert_eq!(
            (&results[0]["ruleId"], &results[0]["level"]),
            (&"not-decided".into(), &"note".into())
        );
        assert_eq!(results[0]["properties"]["stoppedBy"], reason);
    }
}

#[test]
fn each_choice_of_mpi_is_a_test_case_of_its_own() {
    let spec =
        "p2p mailbox m[2]: int; process P[i in 0..2] { send(m[1 - i], i); let x = recv(m[i]); }";
    let both = run_with(&["check", "-", "--buffering", "both", "--format", "junit"], spec);
    let text = stdout(&both);
    let document = Document::parse(&text).unwrap();
    let found: Vec<_> = cases(&document)
        .iter()
        .map(|case| (case.attribute("name").unwrap(), case.has_children()))
        .collect();
    assert_eq!(
        found,
        [("check --buffering infinite", false), ("check --buffering zero", true)],
        "{text}"
    );
    assert_eq!(code(&both), 1);
}

#[test]
fn a_comparison_has_a_test_case_for_each_row() {
    let args =
        ["compare", OK, PHILOSOPHERS, "--explorers", "udpor,stateful,stateful:hash-compaction"];
    let table = run(&[&args[..], &["--format", "junit"]].concat());
    assert_eq!(code(&table), 1, "{}", stderr(&table));
    let text = stdout(&table);
    let document = Document::parse(&text).unwrap();
    let cases = cases(&document);
    let suites = document.descendants().filter(|node| node.has_tag_name("testsuite")).count();
    assert_eq!((cases.len(), suites), (6, 2), "{text}");
    for case in cases {
        let is_ok = case.attribute("classname") == Some(OK);
        match (is_ok, case.attribute("name").unwrap()) {
            (true, "udpor" | "stateful") => assert!(!case.has_children(), "{text}"),
            // It may miss states, and another explorer has decided.
            (true, _) => assert!(child(case).has_tag_name("skipped"), "{text}"),
            (false, _) => assert_eq!(child(case).attribute("type"), Some("deadlock"), "{text}"),
        }
    }
    // Alone, it has decided nothing.
    let alone =
        run(&["compare", OK, "--explorers", "stateful:hash-compaction", "--format", "junit"]);
    assert_eq!(code(&alone), 3);
    let text = stdout(&alone);
    let document = Document::parse(&text).unwrap();
    assert!(child(self::cases(&document)[0]).has_tag_name("error"), "{text}");
}

#[test]
fn a_comparison_fails_at_every_kind_of_violation() {
    for (spec, constant, kind) in [
        ("memory/livelock.maz", None, "livelock"),
        ("mutex/philosophers.maz", Some("N=2"), "deadlock"),
        ("liveness/peterson.maz", Some("BUG=true"), "liveness"),
    ] {
        let spec = format!("../../../specs/{spec}");
        let mut args = vec!["compare", &spec, "--explorers", "auto", "--format", "junit"];
        args.extend(constant.into_iter().flat_map(|constant| ["-D", constant]));
        let table = run(&args);
        assert_eq!(code(&table), 1, "{spec}: {}", stderr(&table));
        let text = stdout(&table);
        let document = Document::parse(&text).unwrap();
        assert_eq!(child(cases(&document)[0]).attribute("type"), Some(kind), "{text}");
    }
}

/// What the schema of SARIF 2.1.0 demands of the properties that we write.
fn assert_is_sarif(log: &Value) -> &[Value] {
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "mazurka");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<&Value> = rules.iter().map(|rule| &rule["id"]).collect();
    let results = run["results"].as_array().unwrap();
    for result in results {
        assert!(ids.contains(&&result["ruleId"]), "{result}");
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert!(result["locations"].as_array().unwrap().iter().all(is_place), "{result}");
        for flow in result["codeFlows"].as_array().into_iter().flatten() {
            let steps = flow["threadFlows"][0]["locations"].as_array().unwrap();
            assert!(!steps.is_empty() && steps.iter().all(|step| is_place(&step["location"])));
        }
    }
    results
}

fn is_place(location: &Value) -> bool {
    let place = &location["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    let is_uri = uri.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-._~%:".contains(&b));
    let counts = |key: &str| place["region"].get(key).is_none_or(|n| n.as_u64().unwrap() > 0);
    is_uri && counts("startLine") && counts("startColumn")
}

#[test]
fn sarif_has_the_violation_with_its_execution() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-servers.sarif", std::process::id()));
    let written = run(&["check", PHILOSOPHERS, "-o", file.to_str().unwrap()]);
    assert_eq!(code(&written), 1);
    let log: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    fs::remove_file(&file).unwrap();
    let [result] = assert_is_sarif(&log) else { panic!("{log}") };
    assert_eq!((&result["ruleId"], &result["level"]), (&"deadlock".into(), &"error".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], PHILOSOPHERS);
    assert_eq!(place["region"]["startLine"], 23);
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    let other = json(&run(&["check", PHILOSOPHERS, "--format", "json"]));
    let schedule = other["violations"][0]["schedule"].as_array().unwrap();
    assert_eq!(steps.len(), schedule.len());
    for (at, (step, same)) in steps.iter().zip(schedule).enumerate() {
        assert_eq!(step["executionOrder"], at + 1);
        assert_eq!(step["location"]["physicalLocation"]["region"]["startLine"], same["line"]);
        let text = step["location"]["message"]["text"].as_str().unwrap();
        assert!(text.starts_with(same["process"].as_str().unwrap()), "{text}");
    }
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
    let clean = json(&run(&["check", OK, "--format", "sarif"]));
    assert!(assert_is_sarif(&clean).is_empty(), "{clean}");
}

#[test]
fn lints_are_results_and_denied_ones_fail() {
    let spec = "mailbox m: int; process P { isend(m, 1); }";
    let warned = json(&run_with(&["check", "-", "--format", "sarif"], spec));
    let [warning] = assert_is_sarif(&warned) else { panic!("{warned}") };
    assert_eq!(warning["level"], "warning");
    let lint = warning["ruleId"].as_str().unwrap();
    let denied = run_with(&["check", "-", "--deny", lint, "--format", "junit"], spec);
    assert_eq!(code(&denied), 1);
    let text = stdout(&denied);
    let document = Document::parse(&text).unwrap();
    assert_eq!(child(cases(&document)[0]).attribute("type"), Some("denied"), "{text}");
}

#[test]
fn long_executions_are_bounded() {
    let spec = "shared x: int = 0; process P { for i in 0..1200 { x = i; } assert(x < 1199); }";
    let log = json(&run_with(&["check", "-", "--format", "sarif"], spec));
    let [result] = assert_is_sarif(&log) else { panic!("{log}") };
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(steps.len(), 1000);
    assert!(result["message"]["text"].as_str().unwrap().contains("steps are left out"));
    let text = stdout(&run_with(&["check", "-", "--format", "junit"], spec));
    assert!(text.len() < 1 << 17, "{} bytes", text.len());
    let document = Document::parse(&text).unwrap();
    assert!(child(cases(&document)[0]).has_tag_name("failure"));
}
