//! The page of `draw -o x.html` in a browser: it shows what the model contains.
//!
//! The tests that need a browser (`chromium`, `google-chrome` or `$CHROME`) are ignored by default,
//! and run by `cargo test --test suite viewer -- --ignored`. `viewer_latency` mostly measures:
//!
//! ```text
//! cargo test --release --test suite viewer_latency -- --ignored --nocapture
//! ```

mod browser;
mod classes;
mod frame;
mod latency;
mod next;
mod prefix;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mazurka::explore::recording::{Extent, record};
use mazurka::explore::{Budget, K, NoObserver, unfold};
use mazurka::lang::{Program, compile};
use mazurka::model::{Schedule, System};
use mazurka::property::{Fact, Replay};
use mazurka::report::html;
use mazurka::report::picture::SearchTree;
use mazurka::report::viewer::{Asked, Run, Topic, Viewer};
use serde_json::Value;

use crate::cli::{code, json, run, run_with, stderr, stdout};
use crate::draw::subject;
use crate::tidy::{files, some_of};
pub use browser::Browser;

/// A file of this run of the tests.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()))
}

/// The page that these arguments draw.
fn page(name: &str, args: &[&str]) -> PathBuf {
    let path = file(name);
    let output = run(&[args, &["-o", path.to_str().unwrap()]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    path
}

/// What the script of a page reads first.
pub fn data(page: &Path) -> Value {
    let text = fs::read_to_string(page).unwrap();
    let (_, rest) = text.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The numbers of the boxes with this mark.
fn marked(browser: &mut Browser, mark: &str, name: &str) -> BTreeSet<u64> {
    let found = browser.eval(&format!(
        "[...document.querySelectorAll('#paper .{mark}[data-{name}]')].map((box) => Number(box.dataset.{name}))"
    ));
    found.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

fn numbers(list: &Value) -> BTreeSet<u64> {
    list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// `[e]`, by the model.
fn history(model: &Value, event: u64) -> BTreeSet<u64> {
    let mut history = BTreeSet::from([event]);
    let mut pending = vec![event];
    while let Some(event) = pending.pop() {
        for cause in numbers(&model["events"][event as usize]["causes"]) {
            if history.insert(cause) {
                pending.push(cause);
            }
        }
    }
    history
}

/// The events in immediate conflict with `event`.
fn rivals(model: &Value, event: u64) -> BTreeSet<u64> {
    let pairs = model["conflicts"].as_array().unwrap().iter().map(numbers);
    let of_event = pairs.filter(|pair| pair.contains(&event)).flatten();
    of_event.filter(|&other| other != event).collect()
}

/// The configurations of an event, as the page lists them.
fn traces(model: &Value, event: u64) -> String {
    let contain = |one: &&Value| {
        numbers(&one["last"]).into_iter().any(|last| history(model, last).contains(&event))
    };
    let found = model["configurations"].as_array().unwrap().iter().filter(contain);
    found.map(|one| one["number"].to_string()).collect::<Vec<_>>().join(", ")
}

#[test]
#[ignore = "needs a browser"]
fn a_click_lights_up_the_history_and_the_line() {
    let mut browser = Browser::start("click");
    let model = json(&run(&["draw", "philosophers.maz", "--format", "json"]));
    browser.open(&page("click.html", &["draw", "philosophers.maz"]));
    browser.press("0");
    let in_conflict = model["conflicts"][0][1].as_u64().unwrap();
    for event in [5, in_conflict] {
        browser.click(&format!("[data-event=\"{event}\"]"));
        browser.until(&format!("document.querySelector('[data-event=\"{event}\"].selected')"));
        assert_eq!(marked(&mut browser, "history", "event"), history(&model, event));
        assert_eq!(marked(&mut browser, "rival", "event"), rivals(&model, event));
        let told = &model["events"][event as usize];
        assert_eq!(browser.text("#lines .here .number"), told["line"].to_string());
        assert_eq!(browser.text("#about h3"), told["label"].as_str().unwrap());
        assert!(browser.text("#about").contains(told["outcome"].as_str().unwrap()));
        let term =
            "[...document.querySelectorAll('#about dt')].find((dt) => dt.innerText === 'Traces')";
        assert_eq!(browser.eval(&format!("{term}.nextSibling.innerText")), traces(&model, event));
    }
    browser.click("#stage");
    browser.click("#tab-space-time");
    browser.click("[data-step=\"7\"]");
    assert_eq!(browser.text("#about dd"), "8 of 9");
    assert!(marked(&mut browser, "history", "step").contains(&0));
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs a browser"]
fn the_search_tree_is_there_call_by_call() {
    let mut browser = Browser::start("search");
    let args = ["draw", "philosophers.maz", "-D", "N=2", "--what", "steps"];
    let tree = json(&run(&[&args[..], &["--format", "json"]].concat()));
    browser.open(&page("search.html", &args));
    assert_eq!(browser.text("[role=tab][aria-selected=true]"), "Search tree");
    browser.press("0");
    let nodes = tree["nodes"].as_array().unwrap();
    let bad = nodes.iter().find(|node| node["verdict"] == "deadlock").expect("a deadlock");
    let number = bad["id"].as_u64().unwrap();
    browser.click(&format!("[data-node=\"{number}\"]"));
    let parent = |node: &Value| node["parent"].as_u64().map(|parent| &nodes[parent as usize]);
    let path = std::iter::successors(Some(bad), |node| parent(node));
    let path: BTreeSet<u64> = path.map(|node| node["id"].as_u64().unwrap()).collect();
    assert_eq!(marked(&mut browser, "history", "node"), path);
    assert!(browser.text("#about").contains("wait for one another"));
    browser.press("/");
    browser.write("deadlock");
    browser.press("Enter");
    assert_eq!(marked(&mut browser, "selected", "node"), BTreeSet::from([number]));
    browser.press("Escape");
    browser.press("ArrowDown");
    let first = browser.text("#about button");
    browser.click("#about button");
    assert_eq!(browser.text("[role=tab][aria-selected=true]"), "Unfolding");
    assert_eq!(browser.text("#about dd"), first.replace(" of the unfolding", ", at depth 1"));
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs a browser"]
fn the_end_of_a_deadlock_is_explained() {
    let mut browser = Browser::start("end");
    browser.open(&page("end.html", &["draw", "philosophers.maz"]));
    assert!(browser.text("#now").starts_with("step 9 of 9"), "it begins with what is wrong");
    assert!(browser.text("#ending").contains("wait for one another"));
    browser.click("#first");
    assert_eq!(browser.eval("document.getElementById('ending').hidden"), true);
    for step in 1..=9 {
        browser.click("#forth");
        assert_eq!(marked(&mut browser, "reached", "event").len(), step);
    }
    assert!(
        browser.text("#now").starts_with("step 9 of 9: Philosopher[1]: lock(fork[(i + 1) % N])")
    );
    let told = browser.text("#ending");
    assert!(told.contains("deadlock: Philosopher[0], Philosopher[1] and Philosopher[2] wait"));
    assert!(told.contains("Philosopher[0] → Philosopher[1] → Philosopher[2] → Philosopher[0]"));
    let state = browser.text("#facts");
    assert!(state.contains("mutex fork[0], held by Philosopher[0]"), "{state}");
    assert_eq!(browser.text("#facts .changed .value"), "mutex fork[2], held by Philosopher[2]");
    browser.click("#tab-space-time");
    assert_eq!(marked(&mut browser, "current", "step"), BTreeSet::from([8]));
    assert!(browser.eval("document.querySelectorAll('#paper .wait.lit').length") == 3);
    browser.click("#back");
    assert_eq!(marked(&mut browser, "future", "step"), BTreeSet::from([8]));
    assert_eq!(browser.eval("document.querySelectorAll('#paper .wait.lit').length"), 0);
    browser.click("#previous");
    browser.until(
        "document.getElementById('now').innerText.startsWith('before the first of 18 steps')",
    );
    browser.click("#last");
    assert!(browser.text("#ending").contains("nothing is wrong"));
    assert_eq!(browser.complaints, [""; 0]);
    assert!(browser.colours() > 50, "there is something to see");
}

#[test]
#[ignore = "needs a browser"]
fn the_keyboard_is_enough() {
    let mut browser = Browser::start("keyboard");
    browser.open(&page("keyboard.html", &["draw", "philosophers.maz"]));
    let model = json(&run(&["draw", "philosophers.maz", "--format", "json"]));
    let mut tabs = 0;
    while browser.eval("document.activeElement.id") != "stage" {
        browser.press("Tab");
        tabs += 1;
        assert!(tabs < 30, "Tab leads to the picture");
    }
    assert_ne!(browser.eval("getComputedStyle(document.activeElement).outlineStyle"), "none");
    browser.press("ArrowDown");
    browser.press("ArrowDown");
    let focused = browser.eval("Number(document.activeElement.dataset.event)").as_u64().unwrap();
    assert_eq!(marked(&mut browser, "selected", "event"), BTreeSet::from([focused]));
    assert_eq!(marked(&mut browser, "history", "event"), history(&model, focused));
    assert_eq!(browser.text("#lines .here .number"), "6");
    browser.press("End");
    assert!(browser.text("#ending").contains("Each waits for the next"));
    browser.press("k");
    assert!(browser.text("#now").starts_with("step 8 of 9"));
    browser.press("2");
    assert_eq!(marked(&mut browser, "current", "step"), BTreeSet::from([7]));
    browser.press("[");
    assert!(browser.text("#now").starts_with("before the first of 18 steps"));
    browser.press("1");
    browser.press("/");
    browser.write("owns fork[2]");
    let wanted = model["events"].as_array().unwrap().iter();
    let wanted: BTreeSet<u64> = wanted
        .filter(|event| event["outcome"].as_str().is_some_and(|told| told.contains("owns fork[2]")))
        .map(|event| event["id"].as_u64().unwrap())
        .collect();
    assert_eq!(marked(&mut browser, "match", "event"), wanted);
    for number in wanted.iter().take(2) {
        browser.press("Enter");
        assert_eq!(marked(&mut browser, "selected", "event"), BTreeSet::from([*number]));
    }
    assert_eq!(browser.text("#matches"), format!("2 of {}", wanted.len()));
    browser.press("Escape");
    assert_eq!(marked(&mut browser, "match", "event"), BTreeSet::new());
    browser.press("?");
    browser.until("document.getElementById('help').open");
    browser.press("Escape");
    browser.until("!document.getElementById('help').open");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs a browser"]
fn the_picture_moves_and_the_theme_turns() {
    let mut browser = Browser::start("moves");
    browser.open(&page("moves.html", &["draw", "rendezvous.maz"]));
    let transform = "document.getElementById('paper').style.transform";
    let mut seen = vec![browser.eval(transform)];
    for key in ["+", "-", "-"] {
        browser.press(key);
        seen.push(browser.eval(transform));
    }
    let place = serde_json::json!({ "x": 500, "y": 400 });
    let wheel = serde_json::json!({ "type": "mouseWheel", "x": 500, "y": 400, "deltaX": 0, "deltaY": -240 });
    browser.call("Input.dispatchMouseEvent", wheel);
    seen.push(browser.eval(transform));
    browser.mouse("mousePressed", &place);
    browser.mouse("mouseMoved", &serde_json::json!({ "x": 560, "y": 430 }));
    browser.mouse("mouseReleased", &serde_json::json!({ "x": 560, "y": 430 }));
    seen.push(browser.eval(transform));
    browser.press("0");
    seen.push(browser.eval(transform));
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "{seen:?}");
    let paper = "getComputedStyle(document.body).backgroundColor";
    let features = |scheme| serde_json::json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    browser.call("Emulation.setEmulatedMedia", features("light"));
    let light = browser.eval(paper);
    browser.call("Emulation.setEmulatedMedia", features("dark"));
    let dark = browser.eval(paper);
    assert_ne!(light, dark);
    browser.press("t");
    assert_eq!(browser.eval(paper), light);
    browser.click("#theme");
    assert_eq!(browser.eval(paper), dark);
    assert_eq!(browser.complaints, [""; 0]);
}

/// Everything that could end a script, open a comment or count as markup.
const AWKWARD: &str = "\
    // </script><script>document.title = 'taken'</script> <!-- {{data}}\n\
    mailbox box;\n\
    process P { local(\"</script><b>&amp;'\\\\ <!-- é {{style}}\"); send(box, 1); }\n\
    process Q { recv(box); recv(box); }\n";

/// The page of a program with awkward texts.
fn awkward_page(name: &str) -> PathBuf {
    let path = file(name);
    let output = run_with(&["draw", "-", "-o", path.to_str().unwrap()], AWKWARD);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    path
}

#[test]
fn awkward_text_closes_no_script() {
    let text = fs::read_to_string(awkward_page("scripts.html")).unwrap();
    assert_eq!(text.matches("</script>").count(), 3, "data, a shelf of executions, and the script");
    assert!(!text.contains("<!--"));
}

#[test]
#[ignore = "needs a browser"]
fn awkward_text_stays_text() {
    let path = awkward_page("awkward.html");
    let mut browser = Browser::start("awkward");
    browser.open(&path);
    assert_eq!(browser.eval("document.title"), "standard input - Mazurka");
    let source =
        "[...document.querySelectorAll('#lines code')].map((line) => line.textContent).join('\\n')";
    assert_eq!(browser.eval(source), AWKWARD);
    browser.press("/");
    browser.write("</script><b>&amp;'");
    browser.press("Enter");
    assert!(browser.text("#about h3").starts_with("local(\"</script><b>&amp;'"));
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs a browser"]
fn what_is_missing_is_said_in_the_page() {
    let mut browser = Browser::start("missing");
    let few = page("few.html", &["draw", "philosophers.maz", "--max-events", "5"]);
    browser.open(&few);
    assert!(browser.text("#left-out").contains("more events (--max-events)"));
    browser.press("End");
    assert!(browser.text("#now").starts_with("step 5 of 5"), "the last five steps");
    assert!(browser.text("#left-out").contains("the first 4 steps"));
    assert!(browser.text("#ending").contains("wait for one another"));
    browser.open(&page("endless.html", &["draw", "endless.maz", "--max-events", "20"]));
    browser.press("End");
    assert!(browser.text("#ending").contains("Something can still move"));
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn check_draws_what_it_found() {
    let path = file("found.html");
    let name = path.to_str().unwrap();
    let output = run(&["check", "philosophers.maz", "--draw", name]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains(&format!("Drawn: {name}\n")), "{}", stderr(&output));
    assert!(fs::read_to_string(&path).unwrap().contains("[1,\"Violation 1\"]"));
    let chart = file("found.svg");
    run(&["check", "philosophers.maz", "--quiet", "--draw", chart.to_str().unwrap()]);
    let drawn = run(&["draw", "philosophers.maz", "--what", "space-time", "--format", "svg"]);
    assert_eq!(fs::read_to_string(&chart).unwrap(), stdout(&drawn));
    let nothing = file("nothing.html");
    let output = run(&["check", "ok.maz", "--draw", nothing.to_str().unwrap()]);
    assert_eq!(code(&output), 0);
    assert!(stderr(&output).contains("Nothing wrong was found") && !nothing.exists());
    let output = run(&["check", "ok.maz", "--draw", "picture.bmp"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("end the name in .html, .svg"), "{}", stderr(&output));
    let output = run(&["check", "philosophers.maz", "--draw", "prefix.mci"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("end the name in .html, .svg"), "{}", stderr(&output));
}

/// The maximum number of events and steps of a spec that are checked.
const EVENTS: usize = 200;

fn viewer(program: &Program) -> Viewer {
    viewer_of(program, EVENTS)
}

/// A page with this number of visited events.
fn viewer_of(program: &Program, met: usize) -> Viewer {
    let budget = || Budget { depth: Some(1_000), max_traces: Some(1_000), ..Budget::default() };
    let (mut prefix, outcome) = unfold(program, met, budget(), &mut NoObserver);
    let extent = Extent { events: EVENTS, calls: EVENTS };
    let calls = record(program, K::Partial(1), extent, budget(), &mut NoObserver);
    let search =
        SearchTree::of_search(subject(), program, K::Partial(1), calls, &mut prefix, EVENTS);
    let violations = outcome.violations.iter().take(1);
    let asked = violations.map(|v| Asked { name: "First".into(), schedule: v.schedule.clone() });
    let asked = asked.collect();
    Viewer::new(subject(), program, (prefix, outcome), search, asked, EVENTS).expect("executions")
}

#[test]
fn the_model_agrees_with_itself() {
    agrees_with_itself_on_specs(4);
}

#[test]
#[ignore = "slow"]
fn the_model_agrees_with_itself_on_every_spec_at_length() {
    agrees_with_itself_on_specs(1);
}

/// Draws about one of `step` specs.
fn agrees_with_itself_on_specs(step: usize) {
    let (mut placed, mut told) = (0, 0);
    for path in some_of(files("specs", "maz"), step) {
        let program = compile("spec.maz", &fs::read_to_string(&path).unwrap(), &[]).unwrap();
        // It has no unfolding, so `draw` refuses it.
        if program.objects().may_time_out_when_stuck {
            continue;
        }
        let viewer = viewer(&program);
        for run in &viewer.runs {
            placed += assert_placed(&path, &viewer, run);
            told += assert_states(&path, &program, run);
        }
        assert!(html::render(&viewer).ends_with("</html>\n"));
    }
    let least = 2_000 / step;
    assert!(placed > least && told > least, "{placed} steps are events, {told} states");
}

/// Colours that a drawing has in black on white, the page has in light or dark: all except those of
/// mutexes.
#[test]
fn the_colours_of_drawings_are_those_of_the_theme() {
    let style = include_str!("../visuals/viewer/viewer.css");
    let mut met = BTreeSet::new();
    for path in files("tests/golden/draw", "svg") {
        let drawing = fs::read_to_string(&path).unwrap();
        for (attribute, start) in [("fill", "fill=\""), ("stroke", "stroke=\"")] {
            for rest in drawing.split(start).skip(1) {
                met.insert((attribute, rest.split('"').next().unwrap().to_owned()));
            }
        }
    }
    let mutexes = ["#E69F00", "#56B4E9", "#009E73"];
    met.retain(|(_, color)| color != "none" && !mutexes.contains(&color.as_str()));
    assert!(met.len() > 8, "{met:?}");
    for (attribute, color) in met {
        let rule = format!("[{attribute}=\"{color}\"]");
        assert!(style.contains(&rule), "the viewer leaves {rule} as it is");
    }
}

/// The events of an execution are the steps, and causally closed.
fn assert_placed(path: &Path, viewer: &Viewer, run: &Run) -> usize {
    let mut met: BTreeSet<usize> = run.before.iter().copied().collect();
    let mut placed = 0;
    for (step, event) in run.chart.steps.iter().zip(&run.events) {
        let Some(event) = event else { continue };
        let event = &viewer.unfolding.events[*event];
        let names = (&run.chart.lanes[step.lane].name, &viewer.unfolding.lanes[event.lane]);
        assert_eq!(step.label, event.label, "{}: {step:?}", path.display());
        // Spawned processes of one name are numbered as they come, and the network has lanes of its
        // own.
        let family = |name: &str| name.split(['#', '(']).next().unwrap().trim_end().to_owned();
        assert_eq!(family(names.0), family(names.1), "{}", path.display());
        assert!(event.causes.iter().all(|cause| met.contains(cause)), "{}", path.display());
        assert!(met.insert(event.id));
        placed += 1;
    }
    placed
}

/// Applying the differences one after another gives the states of a replay.
fn assert_states(path: &Path, program: &Program, run: &Run) -> usize {
    let actions = run.chart.replay.parse::<Schedule>().unwrap();
    let first = actions.len() - run.chart.steps.len();
    let mut replay = Replay::new(program);
    replay.follow(&actions[..first]).unwrap();
    let mut values = run.start.clone();
    values.resize(run.topics.len(), None);
    for step in 0..=run.changes.len() {
        if step > 0 {
            replay.step(actions[first + step - 1]).unwrap();
            for (topic, value) in &run.changes[step - 1] {
                assert_ne!(&values[*topic], value, "{}: a change that is none", path.display());
                values[*topic] = value.clone();
            }
        }
        let facts = replay.facts();
        assert_eq!(facts.len(), values.iter().flatten().count(), "{}", path.display());
        for (index, fact) in facts.iter().enumerate() {
            // Of several of one name the k-th fact is the k-th topic.
            let same = |other: &&Fact| {
                (other.kind, other.process, &other.name) == (fact.kind, fact.process, &fact.name)
            };
            let nth = facts[..index].iter().filter(same).count();
            let lane = fact.process.map(|process| process.index());
            let topic = Topic { kind: fact.kind, lane, name: fact.name.clone() };
            let mut topics = (0..run.topics.len()).filter(|&at| run.topics[at] == topic);
            let topic = topics.nth(nth).expect("a topic for every fact");
            assert_eq!(values[topic].as_ref(), Some(&fact.value), "{}", path.display());
        }
    }
    run.changes.len()
}
