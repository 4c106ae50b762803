//! What users can see of a program: its output, and its source in a page.

use std::path::Path;

use serde_json::Value;

use super::{compile, folder};
use crate::cli::{code, json, mazurka, stderr, stdout};
use crate::viewer::{Browser, data};

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_a_verified_program_prints_is_shown() {
    let folder = folder("mpi-shown");
    let program = compile("seen", &folder);
    let mpirun = |args: &[&str]| {
        let output = mazurka(&[&["mpirun", "-n", "3"], args].concat()).output().unwrap();
        (code(&output), output)
    };
    let (exit, shown) = mpirun(&["--show", &program, "1"]);
    assert_eq!(exit, 0, "{}", stderr(&shown));
    let text = stdout(&shown);
    assert!(text.contains("\nrank 0 has printed:\n  got "), "{text}");
    assert!((0..30).all(|i| text.contains(&format!("\n  line {i}\n"))), "nothing is cut: {text}");
    let plain = stdout(&mpirun(&[&program, "1"]).1);
    assert!(!plain.contains("has printed"), "{plain}");
    let silent = stdout(&mpirun(&["--show", &program, "2"]).1);
    assert!(silent.contains("\nNothing is printed in the first execution.\n"), "{silent}");

    let as_json = json(&mpirun(&["--show", "--format", "json", &program, "1"]).1);
    let told = &as_json["shown"];
    assert_eq!(told["printed"][0]["process"], "rank 0");
    let replay = told["replay"].as_str().unwrap();
    assert!(text.contains(&format!("--schedule {replay} ")), "{text}");
    let (exit, again) = mpirun(&["--schedule", replay, "--format", "json", &program, "1"]);
    assert_eq!(exit, 0, "{}", stderr(&again));
    assert_eq!(json(&again)["printed"], told["printed"], "the execution is that one");

    // A counterexample says itself what is printed in it.
    let (exit, wrong) = mpirun(&["--show", "--format", "json", &program, "3"]);
    assert_eq!((exit, &json(&wrong)["shown"]), (1, &Value::Null));
    let (exit, refused) = mpirun(&["--show", "--schedule", "0", &program, "1"]);
    assert_eq!(exit, 2, "{}", stdout(&refused));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A page of the third case of the program: its name, and the names under which the page has its
/// source and the header.
fn page(folder: &Path) -> (std::path::PathBuf, String, String) {
    let program = compile("seen", folder);
    let page = folder.join("page.html");
    let drawn = ["mpirun", "-n", "3", "--all", "--draw", page.to_str().unwrap(), &program, "3"];
    let output = mazurka(&drawn).output().unwrap();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let found = data(&page)["sources"].as_array().unwrap().clone();
    let named = |end: &str| {
        let files = found.iter().map(|source| source["file"].as_str().unwrap());
        files.into_iter().find(|file| file.ends_with(end)).unwrap().to_owned()
    };
    let (source, header) = (named("seen.c"), named("seen.h"));
    for (name, text) in [("seen.c", &found[0]["text"]), ("seen.h", &found[1]["text"])] {
        assert_eq!(text, &std::fs::read_to_string(format!("tests/mpi/{name}")).unwrap());
    }
    (page, source, header)
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_page_has_the_sources_and_counts_classes() {
    let folder = folder("mpi-page");
    let (page, _, header) = page(&folder);
    let data = data(&page);
    assert_eq!(data["classes"], 2);
    let places = data["places"].as_array().unwrap();
    assert!(places.contains(&serde_json::json!([header, 4])), "{places:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[ignore = "needs a browser"]
fn a_page_of_a_program_begins_at_the_line_that_is_wrong() {
    let folder = folder("mpi-viewer");
    let (page, source, header) = page(&folder);
    let mut browser = Browser::start("mpi");
    browser.open(&page);
    let line = "document.querySelector('#lines .here')";
    assert_eq!(browser.eval(&format!("{line}.querySelector('.number').innerText")), "4");
    let code = browser.text("#lines .here code");
    assert!(code.contains("MPI_Recv(value, 1, MPI_INT, source, 99"), "{code}");
    let is_seen = "(() => { const [part, pane] = ['#lines .here', '#lines'].map((name) => \
        document.querySelector(name).getBoundingClientRect()); \
        return part.height > 10 && part.top >= pane.top && part.bottom <= pane.bottom; })()";
    assert_eq!(browser.eval(is_seen), true);
    let headings =
        browser.eval("[...document.querySelectorAll('#lines h3')].map((h) => h.innerText)");
    assert_eq!(headings, serde_json::json!([source, header]));
    assert!(browser.text("#ending").contains(&format!("({header}:4)")));
    assert!(browser.text("#about dl").contains(&format!("{header}:4")));

    // Classes are counted, and nothing else; the reports of the search are beside them.
    assert_eq!(browser.text("#classes"), "2");
    let listed = browser.eval("document.getElementById('filter').options[0].text");
    assert_eq!(listed, "all executions (2)");
    assert!(browser.text("#runs").contains("Violation 1"));

    // A click on a number finds the steps in that line of that file.
    browser.eval("document.querySelector('#lines .here .number.busy').click()");
    let query = browser.eval("document.getElementById('query').value");
    assert_eq!(query, format!("{header}:4"));
    assert_eq!(browser.text("#matches"), "1 match");
    assert_eq!(browser.complaints, [""; 0]);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// One of two ranks is left over.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn ranks_that_are_alike_are_reported_once() {
    let folder = folder("mpi-alike");
    let program = compile("seen", &folder);
    let args = ["mpirun", "-n", "3", "--buffering", "infinite", "--all", "--format", "json"];
    let found = json(&mazurka(&[&args[..], &[&program, "4"]].concat()).output().unwrap());
    let violations = found["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 2, "{found}");
    let left = |at: usize| {
        let blocked = violations[at]["blocked"].as_array().unwrap();
        let waits = |one: &&Value| one["action"].as_str().unwrap().starts_with("MPI_Recv");
        blocked.iter().find(waits).unwrap()["process"].as_str().unwrap()
    };
    assert_eq!(std::collections::BTreeSet::from([left(0), left(1)]).len(), 2);
    assert_eq!((&violations[0]["like"], &violations[1]["like"]), (&Value::Null, &1.into()));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The boxes of a diagram contain source, tag and counts: the column has room for them.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_diagram_has_sources_tags_and_counts() {
    let folder = folder("mpi-diagram");
    let program = compile("seen", &folder);
    let picture = folder.join("picture.svg");
    let drawn = ["mpirun", "-n", "3", "--draw", picture.to_str().unwrap(), &program, "3"];
    let output = mazurka(&drawn).output().unwrap();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let picture = std::fs::read_to_string(picture).unwrap();
    let document = roxmltree::Document::parse(&picture).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let texts: Vec<&str> = texts.filter_map(|node| node.text()).collect();
    let has = |wanted: &str| texts.iter().any(|text| text.contains(wanted));
    for wanted in [
        "MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, ",
        "MPI_Send(&value, 1, MPI_INT, 0, 7, ",
        "sends 4 bytes (10) to MPI_COMM_WORLD[0] with tag 7 from source 1",
        "wants a message at MPI_COMM_WORLD[0] with tag 99 from source 2",
    ] {
        assert!(has(wanted), "{wanted}: {texts:#?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
