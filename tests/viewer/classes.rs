//! All classes of executions can be stepped through, drawn when they are asked for.

use std::collections::BTreeSet;

use mazurka::lang::compile;
use mazurka::report::html;

use super::browser::Browser;
use super::{history, marked, numbers, page};
use crate::cli::{json, run, stdout};

/// Four clients send to a server: 24 orders.
const ORDERS: [&str; 3] = ["../../../specs/mailbox/rmq-receiving.maz", "-D", "N=5"];

/// At the class with this number.
fn arrived(number: usize) -> String {
    format!("document.getElementById('class').value === '{number}'")
}

/// The texts of a drawing, in order.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or("").to_owned()).collect()
}

#[test]
#[ignore = "needs a browser"]
fn every_class_is_there_with_its_drawing_and_its_events() {
    let mut browser = Browser::start("classes");
    let model = json(&run(&[&["draw"], &ORDERS[..], &["--format", "json"]].concat()));
    let configurations = model["configurations"].as_array().unwrap();
    assert_eq!(configurations.len(), 24);
    browser.open(&page("classes.html", &[&["draw"], &ORDERS[..]].concat()));
    assert_eq!(browser.text("#classes"), "24");
    browser.press("End");
    let mut met = BTreeSet::new();
    for (number, configuration) in (1..).zip(configurations) {
        browser.until(&arrived(number));
        let last = numbers(&configuration["last"]);
        let events: BTreeSet<u64> = last.iter().flat_map(|&event| history(&model, event)).collect();
        // It was at its end, so the next one is at its end, too.
        assert_eq!(marked(&mut browser, "reached", "event"), events);
        assert!(met.insert(events), "a class is met once");
        browser.press("2");
        let number = number.to_string();
        let chart = ["draw", "--what", "space-time", "--trace", &number, "--format", "svg"];
        let shown = browser
            .eval("[...document.querySelectorAll('#paper text')].map((text) => text.textContent)");
        let shown: Vec<_> =
            shown.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        assert_eq!(shown, texts(&stdout(&run(&[&chart[..], &ORDERS].concat()))));
        browser.press("1");
        browser.press("]");
    }
    assert_eq!(browser.eval("document.getElementById('next').disabled"), true);
    browser.press("g");
    browser.write("17");
    browser.press("Enter");
    browser.until(&arrived(17));
    browser.press("[");
    browser.until(&arrived(16));
    assert_eq!(browser.complaints, [""; 0]);
}

/// Classes on shelves that were not opened yet, those that end badly among them.
#[test]
#[ignore = "needs a browser"]
fn those_that_end_badly_can_be_gone_through() {
    let mut browser = Browser::start("badly");
    let source = "mailbox m: int; process P[i in 0..5] { isend(m, i); }\n\
        process Q { var first = recv(m); for i in 1..5 { recv(m); } assert(first != 3); }\n";
    let path = super::file("badly.html");
    let args = ["draw", "-", "-o", path.to_str().unwrap()];
    let output = crate::cli::run_with(&args, source);
    assert_eq!(crate::cli::code(&output), 0);
    browser.open(&path);
    let listed = browser.eval("[...document.getElementById('filter').options].map((o) => o.text)");
    let listed: Vec<_> = listed.as_array().unwrap().iter().map(|o| o.as_str().unwrap()).collect();
    assert_eq!(listed.len(), 4, "{listed:?}");
    assert_eq!(&listed[..2], ["all executions (120)", "those that end badly (24)"]);
    browser.eval(
        "(() => { const filter = document.getElementById('filter'); filter.value = '1'; \
           filter.dispatchEvent(new Event('change')); })()",
    );
    browser.until("document.getElementById('run').innerText.includes('of 24 of this kind')");
    let mut met = BTreeSet::new();
    browser.press("g");
    browser.write("1");
    browser.press("Enter");
    browser.until(&arrived(1));
    for _ in 0..24 {
        if browser.eval("document.getElementById('next').disabled") == true {
            break;
        }
        let before = browser.eval("document.getElementById('class').value");
        browser.press("]");
        browser.until(&format!("document.getElementById('class').value !== {before}"));
        assert_eq!(browser.text("#run .verdict"), "assertion");
        met.insert(browser.eval("document.getElementById('class').value").to_string());
    }
    let is_first_bad = listed.len() - 3;
    assert!(met.len() + is_first_bad >= 24, "{met:?}");
    browser.press("End");
    assert!(browser.text("#ending").contains("(line 2)"), "{}", browser.text("#ending"));
    browser.click("#ending button");
    assert_eq!(browser.text("#lines .here .number"), "2");
    assert_eq!(browser.complaints, [""; 0]);
}

/// Shelves do not grow with what is the same in all classes.
#[test]
fn thousands_of_classes_take_little_room() {
    let source = std::fs::read_to_string("specs/mailbox/rmq-receiving.maz").unwrap();
    let size = |n: &str| {
        let program = compile("rmq.maz", &source, &[("N".into(), n.into())]).unwrap();
        let viewer = super::viewer_of(&program, 100_000);
        (viewer.runs.len(), html::render(&viewer).len())
    };
    let ((few, small), (many, large)) = (size("3"), size("7"));
    assert_eq!((few, many), (2, 720));
    assert!((large - small) / many < 1_500, "{} bytes a class", (large - small) / many);
}
