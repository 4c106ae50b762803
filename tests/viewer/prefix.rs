//! The page of a finite prefix.

use std::collections::BTreeSet;

use mazurka::explore::{Budget, finite_prefix};
use mazurka::lang::compile;
use mazurka::report::html;
use mazurka::report::viewer::{Run, Viewer};

use super::{Browser, assert_states, data, file, history, marked, rivals};
use crate::cli::{code, json, run_with, stderr};
use crate::draw::subject;
use crate::tidy::specs_without_demands;

/// It goes round and round, and the last step is a cutoff.
const LOOP: &str = "\
    mutex m; shared x: int = 0;\n\
    process P { while true { lock(m); x = 1 - x; unlock(m); } }\n\
    process Q { let seen = x; }\n";

fn drawn(name: &str) -> (std::path::PathBuf, serde_json::Value) {
    let path = file(name);
    let args = ["draw", "-", "--what", "prefix"];
    let output = run_with(&[&args[..], &["-o", path.to_str().unwrap()]].concat(), LOOP);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    (path, json(&run_with(&[&args[..], &["--format", "json"]].concat(), LOOP)))
}

#[test]
fn the_page_has_the_prefix_and_its_last_events() {
    let (path, model) = drawn("prefix.html");
    let data = data(&path);
    assert_eq!(data["unfolding"]["what"], "prefix");
    assert_eq!(data["unfolding"]["events"], model["events"]);
    assert!(data["search"].is_null());
    let events = model["events"].as_array().unwrap();
    let causes: Vec<_> =
        events.iter().flat_map(|event| event["causes"].as_array().unwrap()).collect();
    let last: Vec<_> = events.iter().filter(|event| !causes.contains(&&event["id"])).collect();
    let asked = data["asked"].as_array().unwrap();
    assert_eq!(asked.len(), last.len());
    for (run, event) in asked.iter().zip(last) {
        let kind = if event.get("cutoff_of").is_some() { "cutoff" } else { "event" };
        assert_eq!(run[1], format!("To {kind} {}", event["id"]));
    }
}

/// Each step is an event and comes after its causes. The last step of an event has its operation.
fn assert_placed(viewer: &Viewer, run: &Run) -> usize {
    let mut met: BTreeSet<usize> = run.before.iter().copied().collect();
    for (at, step) in run.chart.steps.iter().enumerate() {
        let event = &viewer.unfolding.events[run.events[at].expect("all events are drawn")];
        let is_last = run.events.get(at + 1) != Some(&Some(event.id));
        assert!(!is_last || step.label == event.label, "{step:?} of {event:?}");
        assert!(event.causes.iter().all(|cause| met.contains(cause)));
        met.insert(event.id);
    }
    run.chart.steps.len()
}

#[test]
fn the_pages_of_specs_agree_with_themselves() {
    let (mut placed, mut told) = (0, 0);
    for path in specs_without_demands() {
        let text = std::fs::read_to_string(&path).unwrap();
        let program = compile("spec.maz", &text, &[]).unwrap();
        let Ok(prefix) = finite_prefix(&program, 60, Budget::default()) else { continue };
        let viewer = Viewer::of_prefix(subject(), &program, &prefix, 60).unwrap();
        for run in &viewer.runs {
            placed += assert_placed(&viewer, run);
            told += assert_states(&path, &program, run);
        }
        assert!(html::render(&viewer).ends_with("</html>\n"));
    }
    assert!(placed > 2_000 && told > 2_000, "{placed} steps are events, {told} states");
}

#[test]
#[ignore = "needs a browser"]
fn a_cutoff_names_what_it_leads_back_to() {
    let mut browser = Browser::start("prefix");
    let (path, model) = drawn("prefix-click.html");
    browser.open(&path);
    assert_eq!(browser.text("#tabs [role=tab]"), "Finite prefix");
    assert_eq!(browser.eval("document.querySelectorAll('#tabs [role=tab]').length"), 2);
    browser.press("0");
    let events = model["events"].as_array().unwrap();
    let cutoff =
        events.iter().find(|event| event["cutoff_of"].is_u64() || event["cutoff_of"] == "start");
    let cutoff = cutoff.expect("a cutoff")["id"].as_u64().unwrap();
    browser.click(&format!("[data-event=\"{cutoff}\"]"));
    browser.until(&format!("document.querySelector('[data-event=\"{cutoff}\"].selected')"));
    assert_eq!(marked(&mut browser, "history", "event"), history(&model, cutoff));
    assert_eq!(marked(&mut browser, "rival", "event"), rivals(&model, cutoff));
    let about = browser.text("#about");
    assert!(about.contains("the state is as"), "{about}");
    browser.press("End");
    browser.press("2");
    assert_eq!(browser.text("[role=tab][aria-selected=true]"), "Space-time diagram");
    assert_eq!(browser.complaints, [""; 0]);
}
