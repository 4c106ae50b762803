//! Pictures: golden files, escaping, determinism, and every spec drawn without overlaps.
//!
//! With `MAZURKA_BLESS=1` in the environment the golden files in `tests/golden/draw` are written
//! instead of compared.

mod processes;
mod steps;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use mazurka::explore::{Budget, K, NoObserver, Recording, unfold};
use mazurka::lang::{Program, compile};
use mazurka::model::{Schedule, System};
use mazurka::report::picture::{ControlFlow, Fate, PartialOrder, Picture, SpaceTime};
use mazurka::report::{Subject, dot, json, svg};
use roxmltree::{Document, Node};

use crate::cli::{code, json as parsed, run, run_with, stderr, stdout};
use crate::tidy::{files, some_of};

/// The kinds of pictures.
const PICTURES: [&str; 5] = ["unfolding", "configuration", "space-time", "steps", "processes"];

/// A text with everything that has a meaning in DOT, XML or JSON.
const AWKWARD: &str = "\
    mailbox box;\n\
    process P { local(\"a<b> & 'c' \\\\ é\"); send(box, 1); }\n\
    process Q { recv(box); }\n";

/// The maximum number of events that are drawn for a spec.
const EVENTS: usize = 200;

fn assert_golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/draw").join(name);
    if std::env::var_os("MAZURKA_BLESS").is_some() {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "{name} is\n{expected}\nbut this was drawn:\n{actual}");
}

#[test]
fn pictures_are_as_reviewed() {
    for (name, args) in [
        ("philosophers", &["draw", "philosophers.maz", "-D", "N=2"][..]),
        ("deadlock", &["draw", "philosophers.maz", "--what", "space-time"]),
        ("rendezvous", &["draw", "rendezvous.maz"]),
        ("exchange", &["draw", "rendezvous.maz", "--what", "space-time"]),
        ("flow", &["draw", "philosophers.maz", "--what", "processes"]),
        ("search", &["draw", "philosophers.maz", "-D", "N=2", "--what", "steps", "--k", "1"]),
        ("prefix", &["draw", "flip.maz", "--what", "prefix"]),
        ("class", &["draw", "counter.maz", "--what", "configuration", "--trace", "2"]),
    ] {
        for format in ["dot", "json", "svg"] {
            let output = run(&[args, &["--format", format]].concat());
            assert_eq!(code(&output), 0, "{}", stderr(&output));
            assert_golden(&format!("{name}.{format}"), &stdout(&output));
            assert_eq!(output.stdout, run(&[args, &["--format", format]].concat()).stdout);
        }
    }
}

#[test]
fn the_model_has_the_fields_of_the_contract() {
    let model = parsed(&run(&["draw", "philosophers.maz", "-D", "N=2", "--format", "json"]));
    assert_eq!((&model["what"], &model["constants"]["N"]), (&"unfolding".into(), &2.into()));
    assert_eq!(model["events"].as_array().unwrap().len(), 26);
    let last = &model["events"][25];
    assert_eq!((&last["label"], &last["lane"]), (&"unlock(fork[i])".into(), &0.into()));
    assert_eq!((&last["outcome"], &last["causes"][0]), (&"releases fork[0]".into(), &24.into()));
    assert_eq!(model["configurations"][1]["verdict"], "deadlock");
    assert_eq!(model["complete"], true);
    let class =
        ["draw", "philosophers.maz", "-D", "N=2", "--what", "configuration", "--trace", "2"];
    let class = parsed(&run(&[&class[..], &["--format", "json"]].concat()));
    assert_eq!(class["configurations"][0]["verdict"], "deadlock");
    let chart = ["draw", "philosophers.maz", "--what", "space-time", "--format", "json"];
    let model = parsed(&run(&chart));
    assert_eq!((&model["verdict"], &model["cycle"][2]), (&"deadlock".into(), &2.into()));
    assert_eq!(model["lanes"][0]["end"]["state"], "blocked");
    assert_eq!(model["lanes"][0]["end"]["helpers"][0], 1);
    assert_eq!(model["holds"][0]["mutex"], "fork[0]");
}

/// A message that an actor refuses is drawn to where the actor is at the end.
#[test]
fn messages_that_nobody_takes_are_shown() {
    let source = "actor Box { on Put(n: int) when n > 0 { } }\n\
        actor Source { on Go() { send(Box, Put(0)); } }\n\
        init { send(Source, Go()); }\n";
    let draw =
        |format| run_with(&["draw", "-", "--what", "space-time", "--format", format], source);
    let model = parsed(&draw("json"));
    assert_eq!(model["pending"], serde_json::json!([{ "from": 0, "lane": 0 }]));
    assert!(stdout(&draw("svg")).contains("message that is not taken"));
    assert!(stdout(&draw("dot")).contains("e0 -> q0"));
}

#[test]
fn what_is_left_out_is_said() {
    let args = ["draw", "philosophers.maz", "--max-events", "5", "--format"];
    let model = parsed(&run(&[&args[..], &["json"]].concat()));
    assert_eq!(model["events"].as_array().unwrap().len(), 5);
    assert_eq!(model["complete"], false);
    for format in ["svg", "dot"] {
        let text = stdout(&run(&[&args[..], &[format]].concat()));
        assert!(text.contains("more event"), "{text}");
    }
    let tail = ["draw", "philosophers.maz", "--what", "space-time", "--max-events", "4"];
    let model = parsed(&run(&[&tail[..], &["--format", "json"]].concat()));
    assert_eq!(model["steps"].as_array().unwrap().len(), 4);
    assert_eq!(model["left_out"][0], "the first 5 steps (--max-events)");
}

#[test]
fn awkward_text_stays_text() {
    for what in PICTURES {
        let draw = |format| {
            let output = run_with(&["draw", "-", "--what", what, "--format", format], AWKWARD);
            assert_eq!(code(&output), 0, "{}", stderr(&output));
            stdout(&output)
        };
        let label = "local(\"a<b> & 'c' \\\\ é\")";
        let model: serde_json::Value = serde_json::from_str(&draw("json")).unwrap();
        let (list, key) = match what {
            "space-time" => (&model["steps"], "label"),
            "processes" => (&model["processes"][0]["steps"], "text"),
            _ => (&model["events"], "label"),
        };
        let labels: Vec<_> = list.as_array().unwrap().iter().map(|e| &e[key]).collect();
        assert!(labels.contains(&&label.into()), "{labels:?}");
        let drawing = draw("svg");
        let document = Document::parse(&drawing).expect("XML");
        assert!(document.descendants().any(|n| n.text().is_some_and(|t| t.ends_with(label))));
        let graph = draw("dot");
        assert!(graph.contains(r#"local(\"a<b> &amp; 'c' \\\\ é\")"#), "{graph}");
    }
}

#[test]
fn mistakes_are_explained() {
    for (args, fragment) in [
        (&["--trace", "1"][..], "--trace and --schedule are for"),
        (&["--what", "space-time", "--trace", "99"], "there is no trace 99: the search has 7"),
        (&["--what", "configuration", "--schedule", "9"], "there is no process 9"),
        (&["--what", "steps", "--trace", "1"], "--trace and --schedule are for"),
        (&["-k", "1"], "-k is for --what steps"),
        (&["-o", "picture.bmp"], "end the name in .html, .svg, .dot or .json; of a prefix also in"),
        (&["-o", "unfolding.mci"], "add --what prefix"),
        (&["--what", "processes", "--format", "mci"], "add --what prefix"),
        (&["--what", "processes", "-o", "flow.html"], "a page shows executions"),
        (&["--what", "prefix", "--trace", "1", "-o", "p.html"], "--trace and --schedule are for"),
        (&["--what", "prefix", "-k", "1", "-o", "p.html"], "-k is for --what steps"),
        (&["-o", "no/such/folder.svg"], "cannot write"),
    ] {
        let output = run(&[&["draw", "philosophers.maz"], args].concat());
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(fragment), "{}", stderr(&output));
    }
}

#[test]
fn files_are_written_in_the_format_of_their_ending() {
    for (ending, start) in [("svg", "<svg "), ("dot", "digraph"), ("json", "{")] {
        let name = format!("mazurka-draw-{}.{ending}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let output = run(&["draw", "rendezvous.maz", "-o", path.to_str().unwrap()]);
        assert_eq!((code(&output), stdout(&output).as_str()), (0, ""));
        let written = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(written.starts_with(start), "{written}");
    }
}

/// An event is marked as doomed if nothing can avert the deadlock after it.
#[test]
fn events_know_what_they_lead_to() {
    let source = "mutex a; mutex b;\n\
        process P { lock(a); lock(b); unlock(b); unlock(a); }\n\
        process Q { lock(b); lock(a); unlock(a); unlock(b); }\n";
    let program = compile("two.maz", source, &[]).unwrap();
    let order = unfolding(&program, EVENTS);
    let doomed = order.events.iter().filter(|event| event.fate == Fate::Deadlock);
    let doomed: Vec<_> = doomed.map(|event| event.outcome.as_deref().unwrap()).collect();
    assert_eq!(doomed, ["queues for b, held by Q", "queues for a, held by P"]);
    assert!(unfolding(&program, 10).events.iter().all(|event| event.fate == Fate::Open));
}

/// A program without a file.
pub fn subject() -> Subject {
    Subject {
        mazurka: "0",
        spec: "test.maz".into(),
        path: "test.maz".into(),
        constants: Default::default(),
        granularity: None,
        allow_pending: false,
        daemons: Vec::new(),
        unfair: false,
        semantics: None,
        faults: Default::default(),
        command: None,
        source: String::new(),
        defines: Vec::new(),
    }
}

fn prefix(program: &Program, events: usize) -> (Recording<'_, Program>, mazurka::explore::Outcome) {
    let budget = Budget { depth: Some(1_000), max_traces: Some(100), ..Budget::default() };
    unfold(program, events, budget, &mut NoObserver)
}

fn unfolding(program: &Program, events: usize) -> PartialOrder {
    let (mut prefix, outcome) = prefix(program, events);
    PartialOrder::of_unfolding(subject(), program, &mut prefix, &outcome, events)
}

/// The unfolding; the class and chart of a violation (or of the empty execution); a search; and the
/// control flow.
fn pictures(program: &Program) -> Vec<Picture> {
    let (mut prefix, outcome) = prefix(program, EVENTS);
    let violation = outcome.violations.first().map_or(Schedule::default(), |v| v.schedule.clone());
    let class = PartialOrder::of_execution(subject(), program, &violation, EVENTS);
    let chart = SpaceTime::of_execution(subject(), program, &violation, EVENTS);
    let order = PartialOrder::of_unfolding(subject(), program, &mut prefix, &outcome, EVENTS);
    let search = Picture::Steps(steps::tree(program, K::Partial(1), EVENTS, EVENTS / 2));
    let (class, chart) = (Picture::Order(class.unwrap()), Picture::SpaceTime(chart.unwrap()));
    let flow = Picture::Processes(ControlFlow::new(subject(), program.flows()));
    vec![Picture::Order(order), class, chart, search, flow]
}

/// If columns with texts would be too wide, all texts are to the right of all lines.
#[test]
fn many_processes_are_drawn_close_together() {
    let source = "mutex m; shared x: int = 0; process Worker[i in 0..60] { lock(m); x = x + i; unlock(m); }\n\
        process Stuck { lock(m); lock(m); }";
    let args = ["draw", "-", "--what", "space-time", "--format", "svg"];
    let output = run_with(&args, source);
    let drawing = stdout(&output);
    assert_drawing(Path::new("many.maz"), &drawing);
    let document = Document::parse(&drawing).unwrap();
    let wide = number(&document.root_element(), "width");
    assert!(wide <= WIDEST, "{wide} px");
    let steps: Vec<_> =
        document.descendants().filter(|node| node.attribute("class") == Some("step")).collect();
    assert!(steps.len() > 1 && steps.iter().all(|step| number(step, "x") > 1_000.0));
    assert!(drawing.contains("Worker[59]"), "{drawing}");
}

#[test]
fn specs_can_be_drawn() {
    let drawn = drawn(SHARE);
    assert!(drawn > 900 / SHARE, "{drawn} pictures");
}

#[test]
#[ignore = "slow"]
fn every_spec_can_be_drawn_at_length() {
    let drawn = drawn(1);
    assert!(drawn > 900, "{drawn} pictures");
}

/// An ordinary run draws about one of so many specs.
const SHARE: usize = 4;

/// Steps that depend on all others have no place in an unfolding: the command refuses to draw it.
fn has_classes(program: &Program) -> bool {
    !program.objects().may_time_out_when_stuck
}

/// Draws about one of `step` specs, and returns the number of pictures.
fn drawn(step: usize) -> usize {
    let mut drawn = 0;
    for path in some_of(files("specs", "maz"), step) {
        let source = fs::read_to_string(&path).unwrap();
        let program = compile("spec.maz", &source, &[]).unwrap();
        if !has_classes(&program) {
            continue;
        }
        for picture in pictures(&program) {
            assert_is_reduced(&path, &picture);
            let drawing = svg::render(&picture);
            assert_drawing(&path, &drawing);
            assert_narrow(&path, &picture, &drawing);
            if let Picture::Steps(_) | Picture::Processes(_) = picture {
                assert_lines_keep_off(&path, &drawing);
            }
            serde_json::from_str::<serde_json::Value>(&json::render(&picture)).unwrap();
            drawn += 1;
        }
    }
    drawn
}

#[test]
#[ignore = "needs Graphviz"]
fn graphs_are_for_graphviz() {
    graphs_of_specs_are_for_graphviz(SHARE);
}

#[test]
#[ignore = "needs Graphviz"]
fn every_graph_is_one_for_graphviz_at_length() {
    graphs_of_specs_are_for_graphviz(1);
}

fn graphs_of_specs_are_for_graphviz(step: usize) {
    for path in some_of(files("specs", "maz"), step) {
        let source = fs::read_to_string(&path).unwrap();
        let program = compile("spec.maz", &source, &[]).unwrap();
        if !has_classes(&program) {
            continue;
        }
        // All graphs in one call, with a simple layout: errors in a graph are reported whatever the
        // layout is, and the layout of `dot` takes minutes for some of them.
        let graphs: Vec<String> = pictures(&program).iter().map(dot::render).collect();
        let accepted =
            assert_accepted(&path.display().to_string(), &graphs.concat(), &["-Kosage", "-Tcanon"]);
        let begun = accepted.lines().filter(|line| line.starts_with("digraph ")).count();
        assert_eq!(begun, graphs.len(), "{}", path.display());
    }
}

#[test]
#[ignore = "needs Graphviz"]
fn awkward_texts_are_for_graphviz_too() {
    for what in PICTURES {
        let output = run_with(&["draw", "-", "--what", what, "--format", "dot"], AWKWARD);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_accepted(what, &stdout(&output), &["-Tsvg"]);
    }
}

/// Asserts that no cause is a cause of another one, and that causes have smaller numbers.
fn assert_is_reduced(path: &Path, picture: &Picture) {
    let Picture::Order(order) = picture else { return };
    let mut past: Vec<Vec<bool>> = Vec::new();
    for event in &order.events {
        let mut own = vec![false; order.events.len()];
        for &cause in &event.causes {
            assert!(cause < event.id, "{}", path.display());
            (0..own.len()).for_each(|e| own[e] |= past[cause][e]);
        }
        let what = || format!("{}: {event:?}", path.display());
        assert!(event.causes.iter().all(|&cause| !own[cause]), "{}", what());
        event.causes.iter().for_each(|&cause| own[cause] = true);
        past.push(own);
    }
}

/// The maximum width of a picture that can be laid out in bands.
const WIDEST: f64 = 2_800.0;

/// Asserts that the picture is not wide, and that nothing is lost by that: every event and call
/// appears once, and a relation between two of them is a line or, if they are in different bands,
/// is written in the later one.
fn assert_narrow(path: &Path, picture: &Picture, drawing: &str) {
    let document = Document::parse(drawing).unwrap();
    let (name, line, count, pairs) = match picture {
        Picture::Order(order) => {
            let causes = order.events.iter();
            let causes = causes.flat_map(|e| e.causes.iter().map(move |&cause| (cause, e.id)));
            ("data-event", "cause", order.events.len(), causes.collect::<Vec<_>>())
        }
        Picture::Steps(tree) => {
            let calls = tree.nodes.iter().filter_map(|node| Some((node.parent?, node.id)));
            ("data-node", "call", tree.nodes.len(), calls.collect())
        }
        _ => return,
    };
    let wide = number(&document.root_element(), "width");
    assert!(wide <= WIDEST, "{}: {wide} px of {line}s", path.display());
    let met = document.descendants().filter_map(|node| Some((node, node.attribute(name)?)));
    // A chain is in one box, which names all that it stands for.
    let mut boxes: HashMap<usize, Node> = HashMap::new();
    let mut inside = HashSet::new();
    for (node, own) in met {
        let parts = node.attribute("data-parts").unwrap_or(own).split(' ');
        let parts: Vec<usize> = parts.map(|part| part.parse().unwrap()).collect();
        inside.extend(parts.windows(2).map(|pair| (pair[0], pair[1])));
        let known = parts.iter().filter_map(|&part| boxes.insert(part, node)).count();
        assert_eq!((known, own), (0, &*parts[0].to_string()), "{}", path.display());
    }
    assert_eq!(boxes.len(), count, "{}", path.display());
    let lines = document.descendants().filter(|node| node.attribute("class") == Some(line));
    let end = |node: &Node, end: &str| -> usize { node.attribute(end).unwrap().parse().unwrap() };
    let lines: HashSet<_> =
        lines.map(|node| (end(&node, "data-from"), end(&node, "data-to"))).collect();
    for pair in pairs.into_iter().filter(|pair| !lines.contains(pair) && !inside.contains(pair)) {
        let mut texts = boxes[&pair.1].descendants().filter_map(|node| node.text());
        assert!(texts.any(|text| text.contains("after")), "{}: {pair:?}", path.display());
    }
}

fn number(node: &Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn is_box(node: &Node) -> bool {
    matches!(node.attribute("class"), Some("event" | "step" | "node"))
}

/// The left, top, right and bottom of each box.
fn boxes(document: &Document) -> Vec<[f64; 4]> {
    let edges = |node: Node| {
        let (x, y) = (number(&node, "x"), number(&node, "y"));
        [x, y, x + number(&node, "width"), y + number(&node, "height")]
    };
    document.descendants().filter(is_box).map(edges).collect()
}

/// Asserts that no vertical or horizontal line goes through a box.
fn assert_lines_keep_off(path: &Path, drawing: &str) {
    let document = Document::parse(drawing).unwrap();
    let boxes = boxes(&document);
    let paths = document.descendants().filter(|node| node.has_tag_name("path"));
    for line in paths.filter(|node| node.attribute("stroke").is_some()) {
        let numbers = line.attribute("d").unwrap().split(['M', 'L', ' ']).filter(|s| !s.is_empty());
        let numbers: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
        let points: Vec<_> = numbers.chunks(2).map(|xy| (xy[0], xy[1])).collect();
        for pair in points.windows(2) {
            let ((a, b), (c, d)) = (pair[0], pair[1]);
            assert!(a == c || b == d, "{}: {pair:?} is askew", path.display());
            let is_hit = |[left, top, right, bottom]: &&[f64; 4]| {
                let across = a.min(c) < right - 1.0 && left + 1.0 < a.max(c);
                across && b.min(d) < bottom - 1.0 && top + 1.0 < b.max(d)
            };
            let hit = boxes.iter().find(is_hit);
            assert!(hit.is_none(), "{}: {pair:?} goes through {hit:?}", path.display());
        }
    }
}

/// Asserts that the drawing is XML, that everything is inside, that boxes do not overlap, and that
/// their texts are not cut off.
fn assert_drawing(path: &Path, drawing: &str) {
    let what = path.display();
    let document = Document::parse(drawing).unwrap_or_else(|why| panic!("{what}: {why}"));
    let size =
        (number(&document.root_element(), "width"), number(&document.root_element(), "height"));
    let boxes = boxes(&document);
    for (index, a) in boxes.iter().enumerate() {
        assert!(a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= size.0 && a[3] <= size.1, "{what}: {a:?}");
        for b in &boxes[..index] {
            let overlap = a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
            assert!(!overlap, "{what}: {a:?} and {b:?}");
        }
    }
    for node in document.descendants().filter(|node| node.has_tag_name("text")) {
        let text = node.text().unwrap_or("").chars().count() as f64;
        let right = number(&node, "x") + text * number(&node, "font-size") * 0.605;
        assert!(right <= size.0, "{what}: `{}` is cut off", node.text().unwrap_or(""));
        let rect = node.parent().unwrap().children().find(is_box);
        let limit = rect.map_or(size.0, |rect| number(&rect, "x") + number(&rect, "width"));
        assert!(right <= limit, "{what}: `{}` leaves its box", node.text().unwrap_or(""));
    }
}

/// Asserts that Graphviz accepts the graphs, and returns its output.
fn assert_accepted(what: &str, graphs: &str, options: &[&str]) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(graphs.as_bytes()).unwrap();
    let output = Command::new("dot").args(options).arg(file.path()).output();
    let output = output.expect("`dot`: install Graphviz");
    let said = stderr(&output);
    assert!(output.status.success() && said.is_empty(), "{what}: {said}\n{graphs}");
    stdout(&output)
}

/// A straight chain is one box of a picture that would be high: the picture is small, and the data
/// and the page contain all of it.
#[test]
fn straight_chains_of_high_pictures_are_one_box_each() {
    let source = "mailbox m: int; process Writer { for i in 0..120 { local(\"writes\"); } send(m, 1); }\n\
        process Reader { recv(m); for i in 0..60 { local(\"reads\"); } recv(m); }";
    let drawn = |what: &str, format: &str| {
        let args = ["draw", "-", "--what", what, "--format", format];
        stdout(&run_with(&args, source))
    };
    for (what, name, list) in [
        ("unfolding", "data-event", "events"),
        ("configuration", "data-event", "events"),
        ("space-time", "data-step", "steps"),
        ("steps", "data-node", "nodes"),
    ] {
        let svg = drawn(what, "svg");
        let document = Document::parse(&svg).unwrap();
        assert!(number(&document.root_element(), "height") < 1_000.0, "{what}: {svg}");
        let boxes = document.descendants().filter_map(|node| node.attribute(name));
        assert!((2..20).contains(&boxes.count()), "{what}");
        assert!(svg.contains('…') || svg.contains("and so on"), "{what}: {svg}");
        let data: serde_json::Value = serde_json::from_str(&drawn(what, "json")).unwrap();
        assert!(data[list].as_array().unwrap().len() > 180, "{what}: data has them all");
    }
    let page = drawn("unfolding", "html");
    assert!(page.matches("<g data-event=").count() > 180, "{page}");
}

/// A chain ends where something of another process comes in or goes out.
#[test]
fn a_chain_has_nothing_of_others_inside() {
    let source = "mailbox m: int; process Writer { for i in 0..40 { local(\"a\"); local(\"b\"); isend(m, i); } }\n\
        process Reader { for i in 0..40 { recv(m); } }";
    let args = ["draw", "-", "--what", "space-time", "--format"];
    let data = parsed(&run_with(&[&args[..], &["json"]].concat(), source));
    let svg = stdout(&run_with(&[&args[..], &["svg"]].concat(), source));
    let document = Document::parse(&svg).unwrap();
    let chains: Vec<Vec<u64>> = document
        .descendants()
        .filter_map(|node| node.attribute("data-parts"))
        .map(|parts| parts.split(' ').map(|part| part.parse().unwrap()).collect())
        .collect();
    assert!(chains.len() > 10, "{svg}");
    let arrows = data["arrows"].as_array().unwrap();
    for chain in &chains {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let lane = |step: u64| &data["steps"][step as usize]["lane"];
        assert!(chain.iter().all(|&step| lane(step) == lane(first)));
        assert!(chain.iter().copied().eq(first..=last), "in a row: {chain:?}");
        for arrow in arrows {
            let (from, to) = (arrow["from"].as_u64().unwrap(), arrow["to"].as_u64().unwrap());
            assert!(!chain.contains(&from) || from == last, "{chain:?}: {arrow}");
            assert!(!chain.contains(&to) || to == first, "{chain:?}: {arrow}");
        }
    }
}
