//! `mazurka reproduce`: each table comes out as reviewed, times aside.
//!
//! The tables are in `tests/golden/cli/reproduce-*.csv`; with `MAZURKA_BLESS=1` they are written anew.

use std::path::Path;

use crate::cli::{code, json, run, stderr, stdout};

/// The lines but for those that are times.
fn without_times(text: &str) -> String {
    let is_time = |line: &&str| line.split(',').nth(3).is_some_and(|f| f.ends_with(" time"));
    text.lines().filter(|line| !is_time(line)).fold(String::new(), |text, line| text + line + "\n")
}

fn assert_reproduced(table: &str) {
    let output = run(&["reproduce", table, "--format", "csv"]);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    let actual = without_times(&stdout(&output));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli");
    let path = folder.join(format!("reproduce-{table}.csv"));
    if std::env::var_os("MAZURKA_BLESS").is_some() {
        std::fs::write(&path, &actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differing =
        actual.lines().zip(expected.lines()).find(|(actual, expected)| actual != expected);
    assert!(actual == expected, "{table}: {differing:?}");
}

#[test]
fn table_1_of_forte_2019() {
    assert_reproduced("udpor");
}

#[test]
fn table_1_of_forte_2012() {
    assert_reproduced("transdpor");
}

#[test]
fn table_2_of_forte_2012() {
    assert_reproduced("sleep-sets");
}

#[test]
fn programs_of_cav_2018() {
    assert_reproduced("quasi-optimal");
}

#[test]
fn a_table_can_be_shown_in_several_ways() {
    let text = stdout(&run(&["reproduce", "sleep-sets"]));
    assert!(text.contains("108 of 126 printed figures come out; 18 differ (≠)"), "{text}");
    assert!(text.contains("≠ 1,412 [b]") && text.contains("\n[b] How the tool"), "{text}");
    let text = stdout(&run(&["reproduce", "sleep-sets", "--format", "markdown"]));
    assert!(text.starts_with("## FORTE 2012, table 2\n"), "{text}");
    assert!(text.contains("\n| program | dpor sleep-sets traces paper | ours |"), "{text}");
    let result = json(&run(&["reproduce", "sleep-sets", "--format", "json"]));
    assert_eq!(result["name"], "sleep-sets");
    let figure = &result["figures"][0];
    assert_eq!((&figure["program"], &figure["printed"]), (&"fib5".into(), &"16".into()));
    assert_eq!((&figure["ours"], &figure["agrees"]), (&"16".into(), &true.into()));
}

#[test]
fn only_known_tables_are_reproduced() {
    let output = run(&["reproduce", "table-7"]);
    assert_eq!(code(&output), 2);
    let expected = "[possible values: udpor, transdpor, sleep-sets, quasi-optimal]";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}
