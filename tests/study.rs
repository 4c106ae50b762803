//! `mazurka study`, as its users see it: what it prints and writes, and what it does not run twice.

use std::fs;
use std::path::{Path, PathBuf};

use roxmltree::{Document, ParsingOptions};
use serde_json::Value;

use crate::cli::{code, mazurka, run, stderr, stdout};

/// A folder of its own for a study, empty at first.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("study").join(name);
    // It need not be there.
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Studies the philosophers. Their violations do not make the test fail.
fn study(folder: &Path, more: &[&str]) -> String {
    let sweep = ["study", "philosophers.maz", "-D", "N=2..4", "--k", "1..3,optimal"];
    let output = mazurka(&sweep).args(more).arg("--output").arg(folder).output().unwrap();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    stderr(&output) + &stdout(&output)
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
}

/// The names of the files with this ending, sorted.
fn files(folder: &Path, ending: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    names
}

/// The lines of study.csv, by the names of their columns, without time and memory.
fn lines(folder: &Path) -> Vec<Vec<(String, String)>> {
    let text = read(folder, "study.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    let line = |record: csv::StringRecord| {
        let cells = names.iter().zip(&record).map(|(name, cell)| (name.into(), cell.into()));
        cells.filter(|(name, _): &(String, String)| !is_cost(name)).collect()
    };
    reader.records().map(|record| line(record.unwrap())).collect()
}

fn is_cost(name: &str) -> bool {
    ["wall_seconds", "peak_memory_bytes"].contains(&name)
}

fn cell<'l>(line: &'l [(String, String)], name: &str) -> &'l str {
    &line.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("{name}")).1
}

/// Also the second table, of a study that is too wide for a terminal.
#[test]
fn every_table_names_the_k_and_no_constant_is_taken_for_it() {
    let folder = folder("constant");
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/mutex/ssbexp.maz");
    let output = mazurka(&["study", "-D", "K=2..4", "-k", "1,optimal", "-o"])
        .arg(&folder)
        .arg(spec)
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let heads: Vec<_> = text.lines().filter(|line| line.starts_with(" spec ")).collect();
    assert!(heads.len() > 1, "it is too wide: {text}");
    assert!(heads.iter().all(|head| head.split_whitespace().nth(2) == Some("k")), "{text}");
    assert_eq!(text.matches(" udpor      optimal ").count(), 2 * heads.len(), "{text}");
    let (report, _) = text.split_once("\nIn ").expect("the files are named");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(
        files(&folder, ".svg"),
        [
            "ssbexp-by-udpor-time-by-k.svg",
            "ssbexp-by-udpor-traces-and-blocked-by-k.svg",
            "ssbexp-time-over-constant-k.svg"
        ]
    );
}

#[test]
fn a_study_writes_tables_plots_and_a_page() {
    let folder = folder("files");
    let text = study(&folder, &["--repeat", "2", "--explorers", "udpor,optimal"]);
    assert!(text.contains("philosophers.maz N=3, udpor: k = 1 is optimal"), "{text}");
    let in_one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "3 runs of each k would show which is fastest (--repeat)";
    assert!(in_one_line.contains(expected), "{text}");
    assert!(text.contains("No plot of SAT calls: a short search settled every"), "{text}");
    assert!(text.contains("report.html, study.csv, study.md, study.json; 3 plots."), "{text}");

    let lines = lines(&folder);
    let ks: Vec<_> = lines.iter().map(|line| cell(line, "k")).collect();
    assert_eq!(ks, ["1", "2", "optimal", "", "1", "2", "optimal", ""]);
    assert_eq!(cell(&lines[4], "constants"), "N=3");
    for line in &lines[4..] {
        assert_eq!((cell(line, "traces"), cell(line, "runs")), ("7", "2"));
    }
    assert!(cell(&lines[4], "combs").parse::<u64>().unwrap() > 0);
    assert_eq!(cell(&lines[7], "combs"), "");

    let object: Value = serde_json::from_str(&read(&folder, "study.json")).unwrap();
    let points = object["points"].as_array().unwrap();
    assert_eq!((points.len(), points[0]["run_seconds"].as_array().unwrap().len()), (8, 2));
    assert_eq!((&points[0]["k"], &points[3]["k"]), (&"1".into(), &Value::Null));
    let markdown = read(&folder, "study.md");
    assert!(markdown.starts_with("| spec | explorer | k | traces |"), "{markdown}");

    let plots = files(&folder, ".svg");
    assert_eq!(
        plots,
        [
            "philosophers-by-udpor-time-by-k.svg",
            "philosophers-by-udpor-traces-and-blocked-by-k.svg",
            "philosophers-time-over-n.svg"
        ]
    );
    for plot in &plots {
        let text = read(&folder, plot);
        let svg = Document::parse(&text).unwrap_or_else(|why| panic!("{plot}: {why}"));
        assert!(
            svg.descendants().any(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")))
        );
    }
    let page = read(&folder, "report.html");
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let html = Document::parse_with_options(&page, options).expect("well-formed");
    let count = |tag: &str| html.descendants().filter(|node| node.tag_name().name() == tag).count();
    assert_eq!((count("table"), count("svg"), count("tr")), (1, 3, 9));
    let command = html.descendants().find(|node| node.has_tag_name("pre")).unwrap();
    let command = command.text().unwrap();
    assert!(command.starts_with("mazurka study philosophers.maz -D N=2..4 --k 1..3,optimal"));
    assert!(page.contains("Measured from 20") && page.contains(std::env::consts::ARCH));
}

#[test]
fn only_what_is_missing_is_run() {
    let folder = folder("resume");
    study(&folder, &[]);
    let log = read(&folder, "runs.jsonl");
    assert_eq!(log.lines().count(), 6);
    // Simulates a machine that stopped while it wrote the last line.
    let end = log.trim_end().rfind('\n').unwrap() + 50;
    fs::write(folder.join("runs.jsonl"), &log[..end]).unwrap();
    fs::remove_file(folder.join("study.csv")).unwrap();
    let text = study(&folder, &[]);
    assert!(text.contains("5 of 6 runs are known from before."), "{text}");
    let again = read(&folder, "runs.jsonl");
    let kept: Vec<_> = log.lines().take(5).collect();
    assert_eq!(again.lines().take(5).collect::<Vec<_>>(), kept);
    assert_eq!((again.lines().count(), lines(&folder).len()), (6, 6));

    assert!(study(&folder, &[]).contains("6 of 6 runs are known from before."));
    assert_eq!(read(&folder, "runs.jsonl"), again);
    // Further repetitions are missing, and with other limits everything is.
    assert!(study(&folder, &["--repeat", "2"]).contains("6 of 12 runs"));
    assert!(!study(&folder, &["--timeout", "1h"]).contains("known from before"));
}

#[test]
fn two_studies_differ_in_cost_only() {
    let [one, other] = ["one", "other"].map(folder);
    study(&one, &[]);
    study(&other, &[]);
    assert_eq!(lines(&one), lines(&other));
    let plot = "philosophers-by-udpor-traces-and-blocked-by-k.svg";
    assert_eq!(read(&one, plot), read(&other, plot));
    assert_eq!(files(&one, ""), files(&other, ""));
}

#[test]
fn limits_and_ks_of_the_list_hold() {
    let folder = folder("limits");
    let options = ["--k", "1,2", "--explorers", "udpor,udpor:k=7", "--max-traces", "3"];
    let mut command = mazurka(&["study", "philosophers.maz", "-D", "N=2,5"]);
    let output = command.args(options).arg("--output").arg(&folder).output().unwrap();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let lines = lines(&folder);
    let points: Vec<_> = lines.iter().map(|line| (cell(line, "k"), cell(line, "traces"))).collect();
    assert_eq!(points[3..], [("1", "3"), ("2", "3"), ("7", "3")]);
    assert_eq!(cell(&lines[3], "stopped_by"), "max-traces");
    assert!(stdout(&output).contains("philosophers.maz N=5, udpor: no search was complete."));
    assert!(read(&folder, "philosophers-time-over-n.svg").contains("a limit stopped it"));
}

#[test]
fn what_means_nothing_is_refused() {
    let folder = folder("refused");
    let both = ["study", "ok.maz", "counter.maz", "-D", "M=3"];
    for (args, fragment) in [
        (&["study"][..], "<SPEC>"),
        (&["study", "ok.maz", "--k", "4..2"], "a range leaves out its end"),
        (&["study", "ok.maz", "--k", "0"], "k is a number from 1 on"),
        (&["study", "ok.maz", "-D", "N"], "write NAME=VALUES"),
        (&["study", "philosophers.maz", "-D", "N=1", "-D", "N=2"], "-D sets N twice"),
        (&["study", "ok.maz", "--explorers", "magic"], "there is no explorer `magic`"),
        (&["study", "ok.maz", "--repeat", "0"], "0 is not in 1..=1000"),
        (&both, "none of the specs has a constant `M`"),
    ] {
        let output = mazurka(args).arg("--output").arg(&folder).output().unwrap();
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(fragment), "{args:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
    }
    assert!(!folder.exists());
    let help = stdout(&run(&["study", "--help"]));
    assert!(help.contains("Ranges exclude their end"), "{help}");
}
