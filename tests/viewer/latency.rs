//! The size and speed of a page of 2,000 events or of 5,040 classes.

use std::fs;
use std::time::Instant;

use super::browser::Browser;
use super::file;
use crate::cli::{code, run, stderr};

/// The times from a synthetic input to the next frame, in milliseconds, sorted.
fn timed(browser: &mut Browser, inputs: &str) -> Vec<f64> {
    let times = browser.eval(&format!(
        "(async () => {{ \
           const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done))); \
           const times = []; \
           for (const input of ({inputs})) {{ \
             await frame(); \
             const start = performance.now(); \
             input(); \
             document.body.getBoundingClientRect(); \
             await frame(); \
             times.push(performance.now() - start); \
           }} \
           return times; }})()"
    ));
    let mut times: Vec<f64> = times.as_array().unwrap().iter().filter_map(|t| t.as_f64()).collect();
    times.sort_by(f64::total_cmp);
    times
}

fn shown(what: &str, times: &[f64]) {
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{what:<10} {median:5.0} ms, at worst {worst:.0} ms (of {})", times.len());
}

/// A page, opened; prints the time that this took.
fn opened(name: &str, args: &[&str]) -> Browser {
    let path = file(name);
    let start = Instant::now();
    let output = run(&[args, &["-o", path.to_str().unwrap()]].concat());
    let making = start.elapsed();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    println!("{}", args.join(" "));
    println!("size       {:.1} MB", fs::metadata(&path).unwrap().len() as f64 / 1e6);
    println!("making it  {:.2} s", making.as_secs_f64());
    let mut browser = Browser::start("latency");
    let mut loads: Vec<f64> = (0..5)
        .map(|_| {
            browser.open(&path);
            browser.eval("performance.getEntriesByName('ready')[0].startTime").as_f64().unwrap()
        })
        .collect();
    loads.sort_by(f64::total_cmp);
    shown("loading", &loads);
    browser
}

#[test]
#[ignore = "needs a browser"]
fn viewer_latency() {
    let dispatcher = ["draw", "../../../specs/mutex/dispatcher.maz", "-D", "S=5", "-D", "R=4"];
    let mut browser = opened("events.html", &[&dispatcher[..], &["--max-events", "2000"]].concat());
    let click = "Array.from({ length: 40 }, (_, index) => () => { \
        const box = document.querySelector(`[data-event=\"${index * 49 + 20}\"] rect`); \
        for (const kind of ['pointerdown', 'pointerup']) \
          box.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0 })); })";
    let clicks = timed(&mut browser, click);
    shown("click", &clicks);
    let step = "Array.from({ length: 60 }, () => () => \
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true })))";
    let step = step.replace("document.dispatch", "document.body.dispatch");
    shown("step", &timed(&mut browser, &step));
    assert_eq!(browser.complaints, [""; 0]);
    let orders = ["draw", "../../../specs/mailbox/rmq-receiving.maz", "-D", "N=8"];
    let mut browser = opened("classes.html", &orders);
    assert_eq!(browser.text("#classes"), "5,040");
    for (what, number) in [("next class", "wanted + 1"), ("any class", "(wanted + 1931) % 5040")] {
        let times = browser.eval(&format!(
            "(async () => {{ \
               const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done))); \
               const field = document.getElementById('class'); \
               const times = []; \
               for (let turn = 0, wanted = 1; turn < 60; turn++) {{ \
                 wanted = {number} || 1; \
                 await frame(); \
                 const start = performance.now(); \
                 field.value = String(wanted); \
                 field.dispatchEvent(new Event('change')); \
                 while (!document.getElementById('run').innerText || field.value !== wanted.toLocaleString('en-US')) await frame(); \
                 await frame(); \
                 times.push(performance.now() - start); \
               }} \
               return times; }})()"
        ));
        let mut times: Vec<f64> =
            times.as_array().unwrap().iter().filter_map(|time| time.as_f64()).collect();
        times.sort_by(f64::total_cmp);
        shown(what, &times);
    }
    assert_eq!(browser.complaints, [""; 0]);
}
