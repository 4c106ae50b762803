//! `mazurka reproduce`: each table is as reviewed, except for times.
//!
//! The tables are in `tests/golden/cli/reproduce-*.csv`; with `MAZURKA_BLESS=1` they are written
//! anew.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use mazurka::explore::{Budget, NoObserver, Setting, explore};
use mazurka::study::{Job, Measured, Ran};
use mazurka::workshop::stateful::Experiment;
use mazurka::workshop::stateful::document;
use mazurka::workshop::stateful::plan::{self, Bounded};
use roxmltree::Document;

use crate::cli::{code, json, run, stderr, stdout};

/// The lines without our times.
fn without_times(text: &str) -> String {
    let line = |line: &str| {
        let mut cells: Vec<_> = line.split(',').collect();
        if cells[3].ends_with(" time") {
            cells[5] = "";
        }
        cells.join(",") + "\n"
    };
    text.lines().map(line).collect()
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
    let expected =
        "[possible values: udpor, transdpor, sleep-sets, quasi-optimal, stateful, mpi-bugs]";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}

/// A few small clients, searched in this process.
fn small() -> Experiment {
    let smaller = |client: Bounded| Bounded { calls: 2, keys: 2, ..client };
    let of = |mut clients: Vec<Bounded>, names: &[&str]| {
        clients.retain(|client| client.seed == 0 && names.contains(&client.structure));
        clients.dedup_by_key(|client| client.structure);
        clients.into_iter().map(smaller).collect()
    };
    let right: Vec<_> = of(plan::clients(false), &["coarse-list", "tree-set", "stack"]);
    let wrong: Vec<_> = of(plan::buggy_clients(false), &["coarse-list", "coarse-map"]);
    let mut experiment = Experiment::new(right, wrong[..4].to_vec(), Duration::from_secs(60));
    let mut search = |job: &Job| {
        let program = job.case.compile().unwrap();
        let setting: Setting = job.setting.parse().unwrap();
        let budget = Budget { all: job.all, ..job.limits.budget(|| 0) };
        let outcome = explore(&program, setting, budget, &mut NoObserver);
        Ok::<_, Infallible>(Some(Ran::Measured(Measured::new(&outcome, None))))
    };
    let Ok(()) = experiment.reductions.run(&mut search);
    let Ok(()) = experiment.errors.run(&mut search);
    experiment
}

/// The lines of the searches by the names of their columns, without times.
fn lines(experiment: &Experiment) -> Vec<BTreeMap<String, String>> {
    let text = document::csv(&[&experiment.reductions, &experiment.errors]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut lines: Vec<BTreeMap<String, String>> =
        reader.deserialize().map(Result::unwrap).collect();
    for line in &mut lines {
        line.retain(|name, _| !name.ends_with("_seconds"));
    }
    lines
}

#[test]
fn searches_of_clients_agree_and_cost_the_same_again() {
    let experiment = small();
    assert_eq!(experiment.disagreements(), [""; 0]);
    assert_eq!(experiment.not_run(), 0);
    let lines = lines(&experiment);
    assert_eq!(lines.len(), 3 * 8 + 4 * 18);
    assert_eq!(lines, self::lines(&small()));
    let states = |explorer: &str| -> Vec<u64> {
        let of = lines.iter().filter(|line| line["explorer"] == explorer);
        of.map(|line| line["states"].parse().unwrap()).collect()
    };
    let [full, safe, lazy] = ["stateful", "s-por", "dl-s-por"].map(states);
    let saves = |less: &[u64], more: &[u64]| less.iter().zip(more).all(|(less, more)| less <= more);
    assert!(saves(&safe, &full) && saves(&lazy, &safe), "{full:?} {safe:?} {lazy:?}");
    let verdicts: BTreeSet<_> = lines.iter().map(|line| line["verdict"].as_str()).collect();
    assert_eq!(verdicts, BTreeSet::from(["ok", "assertion"]));
}

#[test]
fn the_experiment_is_reported_in_tables_claims_and_plots() {
    let experiment = small();
    let text = document::Text(&experiment, 1000).to_string();
    for part in ["Quantiles over", "Speed-ups", "by potential", "Time to the first error", "Claims"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("All searches of a client that came to their end agree"), "{text}");
    let document = document::Document(&experiment, None).to_string();
    assert!(document.contains("\n| DL-S-POR | dl-s-por:without=summaries | 3 |"), "{document}");
    let claims = document::claims(&experiment);
    assert!(claims.len() > 10 && claims.iter().all(|claim| claim.holds.is_some()), "{claims:?}");
    let pictures = document::pictures(&experiment);
    assert_eq!(pictures.len(), 9);
    for picture in &pictures {
        let svg = Document::parse(&picture.svg);
        let svg = svg.unwrap_or_else(|why| panic!("{}: {why}", picture.file));
        assert_eq!(svg.root_element().tag_name().name(), "svg");
    }
}

#[test]
fn only_the_experiment_has_a_folder() {
    let file = ["reproduce", "stateful", "--output", "ok.maz"];
    assert!(stderr(&run(&file)).contains("cannot write ok.maz"), "{}", stderr(&run(&file)));
    let help = stdout(&run(&["reproduce", "--help"]));
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("84 clients of seven data structures") && help.contains("report.md"),
        "{help}"
    );
}
