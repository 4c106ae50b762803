//! Is the estimated number of classes near the number that there is?

use mazurka::explore::estimate::{Estimate, estimate};
use mazurka::explore::{Budget, NoObserver, StopReason, Udpor, explore};
use mazurka::lang::{Program, compile};

use crate::cli::{code, json, run, run_with, stderr, stdout};
use crate::random_models::processes;

fn spec(name: &str, with: &[(&str, &str)]) -> Program {
    let path = format!("{}/specs/{name}.maz", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a readable spec");
    let with: Vec<_> = with.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect();
    compile(name, &text, &with).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn by_samples(program: &Program, sweeps: u32) -> Estimate {
    estimate(program, &Budget::default(), (sweeps, 1)).expect("an estimate")
}

type Constants = &'static [(&'static str, &'static str)];

/// Specs with constants, and their numbers of classes.
const FAMILIES: [(&str, Constants, f64); 8] = [
    ("mutex/mutex", &[("N", "6")], 720.0),
    ("mailbox/rmq-receiving", &[("N", "6")], 120.0),
    ("mutex/philosophers", &[("N", "8")], 255.0),
    ("mutex/multiprodcon", &[("P", "2"), ("W", "3")], 66.0),
    ("mutex/dispatcher", &[("S", "3"), ("R", "2")], 59.0),
    ("memory/lastzero", &[("N", "7")], 320.0),
    ("memory/writers", &[("N", "6")], 720.0),
    ("mutex/mpat", &[("K", "4")], 384.0),
];

/// A few samples visit less than a tenth of what there is, and come within a factor of two.
#[test]
fn families_are_estimated_within_a_factor_of_two() {
    for (name, with, classes) in FAMILIES {
        let program = spec(name, with);
        let found = by_samples(&program, 6);
        let ratio = found.classes / classes;
        assert!((0.5..2.0).contains(&ratio), "{name}: {found:?}, not {classes}");
    }
}

/// The mean of many samples is near the truth, so the estimate has no bias; and the error that it
/// tells is about the error that it has.
#[test]
fn the_mean_of_many_samples_is_the_truth() {
    for (name, with, classes) in [FAMILIES[2], FAMILIES[4], FAMILIES[5]] {
        let found = by_samples(&spec(name, with), 60);
        let off = (found.classes - classes).abs();
        assert!(off <= 4.0 * found.error.max(1e-9), "{name}: {found:?}, not {classes}");
        assert!(found.error < 0.2 * classes, "{name}: {found:?}");
    }
}

/// Where no two reversals are in one stratum, nothing is left to chance.
#[test]
fn what_is_called_exact_is_exact() {
    let (mut exact, mut estimated) = (0, 0);
    for sample in processes().iter().step_by(9) {
        let system = &sample.script;
        let Ok(found) = estimate(system, &Budget::default(), (40, 2)) else { continue };
        match found.is_exact {
            true => assert_eq!(found.classes, sample.classes as f64, "{}", sample.describe()),
            false => estimated += 1,
        }
        exact += u32::from(found.is_exact);
        let off = (found.classes - sample.classes as f64).abs();
        let tolerated = 5.0 * found.error + 0.1 * sample.classes as f64;
        assert!(off <= tolerated, "{found:?} of {}: {}", sample.classes, sample.describe());
    }
    assert!(exact > 3 && estimated > 3, "{exact} exact, {estimated} estimated");
}

const ENDLESS: &str = "shared x: int = 0; process P { loop { x = x + 1; } }";

#[test]
fn endless_programs_have_no_estimate() {
    let program = compile("endless.maz", ENDLESS, &[]).expect("a program");
    let budget = Budget { endless: Some(300), ..Budget::default() };
    let found = estimate(&program, &budget, (3, 0));
    assert_eq!(found, Err(StopReason::Endless));
}

#[test]
fn the_command_advises() {
    let args = ["estimate", "philosophers.maz", "-D", "N=6", "--time", "600ms"];
    let output = run(&args);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(text.starts_with("philosophers.maz with N=6: "), "{text}");
    assert!(text.contains("with N=5: "), "{text}");
    assert!(text.contains("Something is wrong: `check --explorer "), "{text}");
    let report = json(&run(&[&args[..], &["--format", "json"]].concat()));
    assert_eq!(report["smaller"][0]["constant"], "N");
    let known = report["classes"]["number"].as_u64().expect("a number");
    assert!((30..130).contains(&known), "{known} of 63 classes");
    let endless = run_with(&["estimate", "-", "--time", "300ms"], ENDLESS);
    assert_eq!(code(&endless), 3, "{}", stdout(&endless));
}

/// Explorers of classes agree with what is called exact.
/// All executions of a part may be given up, because others of another part are explored instead.
#[test]
fn a_part_may_have_no_end() {
    let text = "shared x: int = 0;
        process A { while x == 0 { local(\"again\"); } }
        process C { x = 1; let _u = choose(0..2); }";
    let program = compile("part.maz", text, &[]).expect("a program");
    let found = by_samples(&program, 20);
    assert!(found.is_exact && found.classes == 2.0, "{found:?}");
}

#[test]
fn a_single_class_is_exact() {
    let program = spec("mailbox/spmd-barrier", &[]);
    let found = by_samples(&program, 1);
    let counted = explore(&program, Udpor::default(), Budget::default(), &mut NoObserver);
    assert_eq!(found.classes, counted.stats.traces as f64);
}

/// Seven steps by each of N processes, which have nothing to do with one another: 8^N states, more
/// than any machine visits in the time that these tests give.
const INDEPENDENT: &str = "const N = 9; shared a: [int; N] = 0;
    process P[i in 0..N] {
        a[i] = 1; a[i] = 2; a[i] = 3; a[i] = 4; a[i] = 5; a[i] = 6; a[i] = 7;
    }";

#[test]
fn states_are_estimated_by_smaller_constants() {
    let plain = ["check", "-", "--explorer", "stateful", "--without", "symmetry", "--jobs", "1"];
    let args = [&plain[..], &["--timeout", "3500ms", "--progress", "json"]].concat();
    let output = run_with(&args, INDEPENDENT);
    let (text, told) = (stdout(&output), stderr(&output));
    assert_eq!(code(&output), 3, "{text}");
    assert!(text.contains("In all there are about 134,000,000 states (as with N="), "{text}");
    let last = last_progress(&told);
    assert_eq!(last["estimated_states"], 1 << 27, "{last}");
    assert!(last["seconds_left"].as_f64() > Some(0.0), "{last}");
    assert_eq!(last["estimated_classes"], serde_json::Value::Null, "{last}");
}

fn last_progress(told: &str) -> serde_json::Value {
    let last = told.lines().rfind(|line| line.starts_with('{')).expect("progress");
    serde_json::from_str(last).expect("JSON")
}

/// A search that is saved says as much as others: while it runs, after a limit, and when it goes on.
#[test]
fn so_are_searches_that_are_saved() {
    let adders = "shared x: int = 0; process P[i in 0..12] { fetch_add(x, 1); }";
    let of_states = ("stateful:without=symmetry", INDEPENDENT, "states_in_all", "estimated_states");
    let of_classes = ("parsimonious", adders, "estimate", "estimated_classes");
    for ((explorer, text, in_all, meanwhile), timeout, goes_on) in
        [(of_states, "3500ms", true), (of_classes, "8s", false)]
    {
        let file = format!("{}/saved-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
        let _ = std::fs::remove_file(&file);
        let limits = ["--timeout", timeout, "--progress", "json", "--format", "json"];
        let begin = ["check", "-", "--explorer", explorer, "--checkpoint", &file];
        let resume = ["resume", &file];
        for command in [&begin[..], &resume].into_iter().take(1 + usize::from(goes_on)) {
            let output = run_with(&[command, &limits].concat(), text);
            let (result, last) = (json(&output), last_progress(&stderr(&output)));
            let is_told = !result[in_all].is_null() && !last[meanwhile].is_null();
            assert!(is_told, "{command:?}: {result} {last}");
        }
    }
}
