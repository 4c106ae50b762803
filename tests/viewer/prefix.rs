//! The page of a finite prefix.

use std::collections::BTreeSet;

use mazurka::explore::{Budget, finite_prefix};
use mazurka::lang::compile;
use mazurka::model::Action;
use mazurka::property::Replay;
use mazurka::report::html;
use mazurka::report::viewer::{Run, Viewer};
use serde_json::Value;

use super::next::{buttons, enabled, listed, numbers};
use super::{Browser, assert_states, data, file, history, marked, rivals};
use crate::cli::{code, json, run_with, stderr};
use crate::draw::subject;
use crate::tidy::specs_without_demands;

/// It goes round and round, and the last step is a cutoff.
const LOOP: &str = "\
    mutex m; shared x: int = 0;\n\
    process P { while true { lock(m); x = 1 - x; unlock(m); } }\n\
    process Q { let seen = x; }\n";

fn drawn(name: &str) -> (std::path::PathBuf, Value) {
    drawn_of(name, LOOP)
}

fn drawn_of(name: &str, text: &str) -> (std::path::PathBuf, Value) {
    let path = file(name);
    let args = ["draw", "-", "--what", "prefix"];
    let output = run_with(&[&args[..], &["-o", path.to_str().unwrap()]].concat(), text);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    (path, json(&run_with(&[&args[..], &["--format", "json"]].concat(), text)))
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

/// The values of the state that is shown; `None` if the page has no state of this configuration.
fn values(browser: &mut Browser) -> Option<Vec<String>> {
    browser.until("document.querySelector('#facts > *') !== null");
    let shown = browser.eval(
        "[...document.querySelectorAll('#facts .fact:not([hidden]) .value')]
            .map((value) => (value.querySelector('ins') ?? value).textContent)",
    );
    let shown = shown.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned());
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    (!browser.text("#facts").starts_with("No execution")).then_some(shown)
}

/// Without mutexes and messages an event is an action, the same after other events: so what the
/// page lists and shows can be compared with the model.
#[test]
#[ignore = "needs a browser"]
fn what_is_chosen_event_by_event_agrees_with_the_model() {
    let mut browser = Browser::start("chosen");
    let (mut known, mut unknown) = (0, 0);
    for spec in ["peterson", "lost-update"] {
        let path = format!("{}/specs/memory/{spec}.maz", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let program = compile("spec.maz", &text, &[]).unwrap();
        let prefix = finite_prefix(&program, 300, Budget::default()).unwrap();
        assert!(prefix.is_whole);
        let action = |event: u64| *prefix.events[event as usize].schedule.last().unwrap();
        browser.open(&drawn_of("chosen.html", &text).0);
        for turn in 0..3 {
            browser.click("[data-run=\"0\"]");
            browser.press("Home");
            let (mut taken, mut lists) = (Vec::new(), Vec::new());
            loop {
                let shown = buttons(&mut browser);
                let actions: Vec<Action> = taken.iter().copied().map(action).collect();
                assert_eq!(listed(&shown), enabled(&program, &actions), "{spec} after {taken:?}");
                assert_eq!(marked(&mut browser, "enabled", "event"), numbers(&shown));
                let reached: BTreeSet<u64> = taken.iter().copied().collect();
                assert_eq!(marked(&mut browser, "reached", "event"), reached);
                match values(&mut browser) {
                    None => unknown += 1,
                    Some(values) => {
                        let mut replay = Replay::new(&program);
                        replay.follow(&actions).unwrap();
                        let facts = replay.facts().into_iter().map(|fact| fact.value);
                        let mut facts: Vec<String> = facts.collect();
                        facts.sort();
                        assert_eq!(values, facts, "{spec} after {taken:?}");
                        known += 1;
                    }
                }
                lists.push(shown.clone());
                // After a cutoff the page has no more events.
                let is_cutoff = |event: u64| prefix.events[event as usize].cutoff_of.is_some();
                let open: Vec<u64> =
                    numbers(&shown).into_iter().filter(|&e| !is_cutoff(e)).collect();
                let Some(&event) = open.get(turn * open.len().saturating_sub(1) / 2) else {
                    break;
                };
                browser.click(&format!("#upcoming [data-next=\"{event}\"]"));
                taken.push(event);
            }
            assert!(taken.len() > 2, "{taken:?}");
            for list in lists.iter().rev().skip(1) {
                browser.press("k");
                assert_eq!(&buttons(&mut browser), list, "{spec}, back from {taken:?}");
            }
        }
    }
    assert!(known > 20 && unknown > 0, "{known} states are known, {unknown} are not");
    assert_eq!(browser.complaints, [""; 0]);
}

/// `e` can happen next after `done`, by definition.
fn is_enabled(model: &Value, done: &BTreeSet<u64>, e: u64) -> bool {
    let own = history(model, e);
    let all: BTreeSet<u64> = done.union(&own).copied().collect();
    let is_free = all.iter().all(|&event| rivals(model, event).is_disjoint(&all));
    is_free && own.difference(done).eq([&e])
}

#[test]
#[ignore = "needs a browser"]
fn one_goes_on_from_a_cutoff() {
    let mut browser = Browser::start("on");
    let (path, model) = drawn("on.html");
    browser.open(&path);
    browser.press("0");
    let events = model["events"].as_array().unwrap();
    let mut ways = 0;
    for cutoff in events.iter().filter(|event| event.get("cutoff_of").is_some()) {
        let id = cutoff["id"].as_u64().unwrap();
        browser.click(&format!("[data-event=\"{id}\"]"));
        let link = |text: &str| {
            format!(
                "[...document.querySelectorAll('#about button, #upcoming button')]
                .find((one) => one.textContent === '{text}').click()"
            )
        };
        browser.eval(&link("its history"));
        let done = marked(&mut browser, "reached", "event");
        assert_eq!(done, history(&model, id));
        let next: BTreeSet<u64> =
            (0..events.len() as u64).filter(|&e| is_enabled(&model, &done, e)).collect();
        assert_eq!(numbers(&buttons(&mut browser)), next);
        browser.press("Home");
        browser.press("End");
        assert_eq!(marked(&mut browser, "reached", "event"), done);
        browser.eval(&link("go on from there"));
        let same = cutoff["cutoff_of"].as_u64();
        let same = same.map_or(BTreeSet::new(), |event| history(&model, event));
        assert_eq!(marked(&mut browser, "reached", "event"), same);
        assert!(!buttons(&mut browser).is_empty());
        // Two histories that are not in conflict make up one configuration.
        for event in 0..events.len() as u64 {
            let before = marked(&mut browser, "reached", "event");
            let both: BTreeSet<u64> = before.union(&history(&model, event)).copied().collect();
            let is_free = both.iter().all(|&one| rivals(&model, one).is_disjoint(&both));
            browser.eval(&format!("document.querySelector('[data-event=\"{event}\"]').focus()"));
            browser.press("Enter");
            let is_offered = browser.text("#about").contains("with the steps so far");
            let is_more = both.len() > before.len() && both.len() > history(&model, event).len();
            assert_eq!(is_offered, is_free && is_more, "{event} after {before:?}");
            if is_offered {
                browser.eval(&link("with the steps so far"));
                assert_eq!(marked(&mut browser, "reached", "event"), both);
                ways += 1;
            }
        }
    }
    assert!(ways > 0);
    browser.press("2");
    assert!(browser.text("#paper").contains("no diagram"));
    for key in ["0", "+", "c", "1"] {
        browser.press(key);
    }
    assert_eq!(browser.complaints, [""; 0]);
}
