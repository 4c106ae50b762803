//! What can happen next, as the page lists it, beside the model.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mazurka::lang::{Program, compile};
use mazurka::model::{Action, Schedule};
use mazurka::property::Replay;

use super::browser::Browser;
use super::{marked, page};
use crate::cli::{json, run};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/");

/// Locks, cells, messages, the network of MPI, actors, choices.
const SPECS: [&str; 6] = [
    "specs/mutex/philosophers.maz",
    "specs/memory/lost-update.maz",
    "specs/mailbox/basic-deadlock.maz",
    "specs/mpi/any_src-can-deadlock3.maz",
    "specs/actor/registry.maz",
    "specs/language/isend.maz",
];

/// The enabled actions after these, by the model: process and operation.
pub(super) fn enabled(program: &Program, actions: &[Action]) -> Vec<String> {
    let start = || {
        let mut replay = Replay::new(program);
        replay.follow(actions).unwrap();
        replay
    };
    let told = start().enabled().into_iter().map(|action| {
        let step = serde_json::to_value(start().step(action).unwrap()).unwrap();
        let text = |field: &str| step[field].as_str().unwrap().to_owned();
        format!("{}: {}", text("process"), text("action"))
    });
    let mut all: Vec<_> = told.collect();
    all.sort();
    all
}

/// The buttons: the event of each, and what it says of it.
pub(super) fn buttons(browser: &mut Browser) -> Vec<(u64, String)> {
    let list = browser.eval(
        "[...document.querySelectorAll('#upcoming:not([hidden]) [data-next]')]
            .map((item) => [Number(item.dataset.next), item.textContent])",
    );
    let pairs = list.as_array().unwrap().iter();
    let pairs = pairs.map(|pair| (pair[0].as_u64().unwrap(), pair[1].as_str().unwrap().to_owned()));
    pairs.collect()
}

/// What the buttons say, without the numbers of events.
pub(super) fn listed(buttons: &[(u64, String)]) -> Vec<String> {
    let texts = buttons.iter().map(|(id, text)| {
        let text = text.strip_prefix(&format!("{id} ")).unwrap();
        text.replace(" (network):", ":")
    });
    let mut texts: Vec<_> = texts.collect();
    texts.sort();
    texts
}

pub(super) fn numbers(buttons: &[(u64, String)]) -> BTreeSet<u64> {
    buttons.iter().map(|(id, _)| *id).collect()
}

#[test]
#[ignore = "needs a browser"]
fn what_is_enabled_is_listed() {
    let mut browser = Browser::start("next");
    for (index, spec) in SPECS.iter().enumerate() {
        let path = Path::new(ROOT).join(spec);
        let program = compile("spec", &fs::read_to_string(&path).unwrap(), &[]).unwrap();
        let path = path.to_str().unwrap();
        let walk = json(&run(&["run", path, "--seed", "5", "--format", "json"]));
        let schedule: Schedule = walk["replay"].as_str().unwrap().parse().unwrap();
        let text = schedule.to_string();
        browser.open(&page(
            &format!("next-{index}.html"),
            &["draw", path, "--schedule", &text, "--max-events", "3000"],
        ));
        browser.press("Home");
        for steps in 0..=schedule.len() {
            let shown = buttons(&mut browser);
            let expected = enabled(&program, &schedule[..steps]);
            assert_eq!(listed(&shown), expected, "{spec} after {steps} steps of {text}");
            let unfolding = browser.eval("document.querySelector('#paper [data-event]') !== null");
            if unfolding == true {
                assert_eq!(marked(&mut browser, "enabled", "event"), numbers(&shown));
            }
            browser.press("j");
        }
    }
    assert_eq!(browser.complaints, [""; 0]);
}

/// An event that is taken leads to an execution in which it and all events before have happened.
#[test]
#[ignore = "needs a browser"]
fn what_is_enabled_can_be_taken() {
    let mut browser = Browser::start("taken");
    let spec = "../../../specs/mailbox/rmq-receiving.maz";
    browser.open(&page("taken.html", &["draw", spec, "-D", "N=5"]));
    let mut classes = BTreeSet::new();
    for turn in 0..12 {
        browser.press("Home");
        for depth in 0..6 {
            let before = marked(&mut browser, "reached", "event");
            let shown = buttons(&mut browser);
            if shown.is_empty() {
                break;
            }
            let event = shown[(turn + depth) % shown.len()].0;
            if (turn + depth) % shown.len() == 0 && turn % 2 == 0 {
                browser.press("n");
                browser.press("Enter");
            } else {
                let button = format!("#upcoming [data-next=\"{event}\"]");
                browser.eval(&format!("document.querySelector('{button}').scrollIntoView()"));
                browser.click(&button);
            }
            browser.until(&format!("document.querySelector('[data-event=\"{event}\"].reached')"));
            let after = marked(&mut browser, "reached", "event");
            assert!(after.is_superset(&before) && after.contains(&event), "{before:?} {after:?}");
            assert!(!numbers(&buttons(&mut browser)).contains(&event));
            classes.insert(browser.eval("document.getElementById('class').value").to_string());
        }
    }
    assert!(classes.len() > 5, "{classes:?}");
    assert_eq!(browser.complaints, [""; 0]);
}
