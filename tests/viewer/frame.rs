//! Where pictures are put, and borders that can be moved.

use serde_json::{Value, json};

use super::browser::Browser;
use super::page;

/// Specs with small and large pictures.
const SPECS: [&str; 5] = [
    "philosophers.maz",
    "../../../specs/nodes/paxos.maz",
    "../../../specs/actor/leader.maz",
    "../../../specs/memory/one-is-not-enough.maz",
    "../../../specs/mailbox/rmq-receiving.maz",
];

/// The picture and its pane on the screen: left, top, right and bottom of each.
fn placed(browser: &mut Browser) -> [[f64; 4]; 2] {
    let edges = browser.eval(
        "['#paper svg', '#stage'].map((part) => { \
           const box = document.querySelector(part).getBoundingClientRect(); \
           return [box.left, box.top, box.right, box.bottom]; })",
    );
    serde_json::from_value(edges).unwrap()
}

fn assert_well_placed(browser: &mut Browser, what: &str) {
    let [picture, pane] = placed(browser);
    for (axis, name) in [(0, "width"), (1, "height")] {
        let (size, room) = (picture[axis + 2] - picture[axis], pane[axis + 2] - pane[axis]);
        if size <= room + 1.0 {
            let (before, after) = (picture[axis] - pane[axis], pane[axis + 2] - picture[axis + 2]);
            assert!((before - after).abs() < 2.0, "{what}: {name}: {before} before, {after} after");
        } else {
            assert!(picture[axis] <= pane[axis] + 31.0, "{what}: {name} begins with a gap");
            assert!(picture[axis + 2] >= pane[axis + 2] - 31.0, "{what}: {name} ends with a gap");
        }
    }
    let first = browser.eval(
        "(() => { const pane = document.getElementById('stage').getBoundingClientRect(); \
           return [...document.querySelectorAll('#paper .box')].filter((node) => { \
             const box = node.getBoundingClientRect(); \
             return box.left >= pane.left && box.right <= pane.right \
               && box.top >= pane.top && box.bottom <= pane.bottom && box.height > 18; }).length; })()",
    );
    assert!(first.as_u64().unwrap() >= 3, "{what}: {first} boxes can be read");
}

#[test]
#[ignore = "needs a browser"]
fn pictures_open_where_something_is() {
    let mut browser = Browser::start("opening");
    for (number, spec) in SPECS.into_iter().enumerate() {
        browser.open(&page(&format!("opening-{number}.html"), &["draw", spec]));
        for tab in ["1", "2", "3"] {
            browser.press(tab);
            assert_well_placed(&mut browser, &format!("{spec}, picture {tab}"));
        }
        browser.resize(1500, 600);
        browser.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))");
        assert_well_placed(&mut browser, &format!("{spec}, after a change of size"));
        browser.resize(1280, 800);
    }
    assert_eq!(browser.complaints, [""; 0]);
}

fn width(browser: &mut Browser, pane: &str) -> f64 {
    browser.eval(&format!("document.getElementById('{pane}').offsetWidth")).as_f64().unwrap()
}

#[test]
#[ignore = "needs a browser"]
fn borders_move_and_stay_where_they_were_put() {
    let mut browser = Browser::start("borders");
    let path = page("borders.html", &["draw", "philosophers.maz"]);
    browser.open(&path);
    let (left, right) = (width(&mut browser, "left"), width(&mut browser, "right"));
    let middle: Value = browser.eval(
        "(() => { const box = document.getElementById('border-right').getBoundingClientRect(); \
           return { x: box.x + box.width / 2, y: box.y + 100 }; })()",
    );
    browser.mouse("mousePressed", &middle);
    let there = json!({ "x": middle["x"].as_f64().unwrap() - 60.0, "y": middle["y"] });
    browser.mouse("mouseMoved", &there);
    browser.mouse("mouseReleased", &there);
    assert_eq!(width(&mut browser, "right"), right + 60.0);
    browser.eval("document.getElementById('border-left').focus()");
    browser.press("ArrowRight");
    assert_eq!(width(&mut browser, "left"), left + 24.0);
    let address = browser.eval("location.hash");
    assert_eq!(address, format!("#right={}&left={}", right + 60.0, left + 24.0));
    browser.call("Page.reload", json!({}));
    browser.until("performance.getEntriesByName('ready').length > 0");
    let found = (width(&mut browser, "left"), width(&mut browser, "right"));
    assert_eq!(found, (left + 24.0, right + 60.0));
    browser.eval("document.getElementById('border-left').focus()");
    browser.press("Enter");
    assert_eq!(width(&mut browser, "left"), left);
    assert_eq!(browser.complaints, [""; 0]);
}

/// The badges beside a line of the source are beside it, not on it.
#[test]
#[ignore = "needs a browser"]
fn badges_leave_the_code_alone() {
    let mut browser = Browser::start("badges");
    browser.open(&page("badges.html", &["draw", "../../../specs/mutex/dispatcher.maz"]));
    let covered = browser.eval(
        "[...document.querySelectorAll('#lines .line')].filter((line) => { \
           const [, code, there] = line.children; \
           const text = document.createRange(); \
           text.selectNodeContents(code); \
           const right = Math.max(0, ...[...text.getClientRects()].map((box) => box.right)); \
           return there.textContent !== '' && right > there.getBoundingClientRect().left + 0.5; }).length",
    );
    assert_eq!(covered, 0);
    let badges = browser.eval("[...document.querySelectorAll('#lines .there:not(:empty)')].length");
    assert!(badges.as_u64().unwrap() > 0, "somebody is somewhere");
}

/// A process that takes many steps, and one that is stuck behind them.
fn long(name: &str) -> std::path::PathBuf {
    let path = super::file(name);
    let source = "mailbox m: int; process Reader { local(\"begins\"); recv(m); }\n\
        process Writer { for i in 0..60 { local(\"writes\"); } }\n";
    let output = crate::cli::run_with(&["check", "-", "--draw", path.to_str().unwrap()], source);
    assert_eq!(crate::cli::code(&output), 1);
    path
}

/// The names that are shown above the picture, with their left edges.
fn names(browser: &mut Browser) -> Vec<(String, f64)> {
    let names = browser.eval(
        "[...document.querySelectorAll('#names:not([hidden]) span')].map((name) => \
           [name.innerText, name.getBoundingClientRect().left])",
    );
    serde_json::from_value(names).unwrap()
}

#[test]
#[ignore = "needs a browser"]
fn names_of_processes_stay_in_sight() {
    let mut browser = Browser::start("names");
    browser.open(&long("names.html"));
    for picture in ["2", "1"] {
        browser.press(picture);
        // Before the last steps of the reader, which are at the top of the unfolding.
        ["End", "k", "k"].into_iter().for_each(|key| browser.press(key));
        let heads = "[...document.querySelectorAll('#paper g[data-lane]:not([class]) > text')]";
        let tops = format!("{heads}.map((name) => name.getBoundingClientRect().bottom)");
        let top: Vec<f64> = serde_json::from_value(browser.eval(&tops)).unwrap();
        let pane = placed(&mut browser)[1][1];
        assert!(top.iter().all(|&bottom| bottom < pane), "the picture was scrolled: {top:?}");
        let shown = names(&mut browser);
        let lefts =
            format!("{heads}.map((name) => [name.textContent, name.getBoundingClientRect().left])");
        let own: Vec<(String, f64)> = serde_json::from_value(browser.eval(&lefts)).unwrap();
        assert_eq!(shown.len(), 2);
        for ((name, left), (own, there)) in shown.iter().zip(&own) {
            assert_eq!(name, own);
            assert!((left - there).abs() < 2.0, "{name} is above its column: {left}, {there}");
        }
        browser.press("Home");
        browser.press("0");
        assert_eq!(names(&mut browser), [], "the names of the picture are in sight");
    }
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs a browser"]
fn the_map_has_all_of_the_picture_and_a_frame() {
    let mut browser = Browser::start("map");
    browser.open(&long("map.html"));
    let sizes = [(1280, 800), (1000, 500), (1900, 1000)];
    for (width, height) in sizes {
        browser.resize(width, height);
        for key in ["Home", "End"] {
            browser.press(key);
            browser
                .eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))");
            // The colour of the frame is found at all four sides, and the map is within its pane.
            let found = browser.eval(
                "(() => { const map = document.getElementById('map'); \
                   const { width, height } = map; \
                   const { data } = map.getContext('2d').getImageData(0, 0, width, height); \
                   const rows = new Map(), columns = new Map(); \
                   for (let i = 0; i < data.length; i += 4) { \
                     const [red, , blue, opaque] = data.slice(i, i + 4); \
                     if (opaque < 100 || red < 2 * blue) continue; \
                     const [x, y] = [(i / 4) % width, Math.floor(i / 4 / width)]; \
                     rows.set(y, (rows.get(y) ?? 0) + 1); columns.set(x, (columns.get(x) ?? 0) + 1); \
                   } \
                   const [box, pane] = [map, document.getElementById('stage')].map((part) => part.getBoundingClientRect()); \
                   const [across, down] = [Math.max(...columns.keys()) - Math.min(...columns.keys()), \
                     Math.max(...rows.keys()) - Math.min(...rows.keys())]; \
                   return { hidden: map.hidden, \
                     isWithin: box.left >= pane.left && box.top >= pane.top && box.right <= pane.right && box.bottom <= pane.bottom, \
                     horizontal: [...rows.values()].filter((n) => n >= across - 1).length, \
                     vertical: [...columns.values()].filter((n) => n >= down - 1).length, \
                     height }; })()",
            );
            assert_eq!((&found["hidden"], &found["isWithin"]), (&false.into(), &true.into()));
            let sides = |name: &str| found[name].as_u64().unwrap();
            assert!(
                sides("horizontal") >= 2 && sides("vertical") >= 2,
                "{width} x {height}: {found}"
            );
            assert!(sides("height") >= 100, "something can be seen: {found}");
        }
    }
    assert_eq!(browser.complaints, [""; 0]);
}
