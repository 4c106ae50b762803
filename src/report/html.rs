//! The page of `mazurka draw -o x.html`: one file that needs nothing else, neither a network nor a
//! server.
//!
//! The page is `visuals/viewer/viewer.html` with its holes filled: the style and the script beside
//! it, the [`Viewer`] as JSON, and the drawings of its pictures as [`svg`] makes them, each in a
//! template.
//!
//! There may be thousands of executions. Few of them are ever looked at, and they are similar. So
//! they are put on shelves of `SHELF` executions with their drawings. A shelf is one JSON text that
//! is compressed (zlib, in base64); the script opens the shelf of the execution that it is asked
//! for. A shelf contains each line of its drawings once, and a drawing is a list of line numbers.
//!
//! The script finds the parts of a drawing by their names (`data-event`, `data-step`, `data-from`,
//! `data-to`) and only ever toggles classes; it lays nothing out.
//!
//! In JSON every `<` is written as `\u003c`, so nothing in a spec can end the script or open a
//! comment. A hole is filled once: what it is filled with is not looked at again.

use std::collections::BTreeSet;
use std::io::{self, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::picture::Picture;
use super::svg;
use super::viewer::{Run, Viewer};
use crate::explore::Verdict;

/// How many executions are compressed together.
const SHELF: usize = 50;

const PAGE: &str = include_str!("../../visuals/viewer/viewer.html");
const STYLE: &str = include_str!("../../visuals/viewer/viewer.css");
/// Its parts share a scope, and the last one starts it.
const SCRIPT: &str = concat!(
    include_str!("../../visuals/viewer/base.js"),
    include_str!("../../visuals/viewer/executions.js"),
    include_str!("../../visuals/viewer/pictures.js"),
    include_str!("../../visuals/viewer/panels.js"),
    include_str!("../../visuals/viewer/frame.js"),
    include_str!("../../visuals/viewer/viewer.js"),
);

/// The page.
///
/// # Panics
/// Never: see [`json::render`](super::json::render).
pub fn render(viewer: &Viewer) -> String {
    filled(PAGE, |hole| match hole {
        "title" => svg::escaped(&viewer.subject.title()),
        "style" => STYLE.into(),
        "script" => SCRIPT.into(),
        "data" => data(viewer),
        "drawings" => drawings(viewer),
        "executions" => shelves(viewer),
        other => unreachable!("the page has no hole {other}"),
    })
}

/// The template with each `{{hole}}` filled.
fn filled(template: &str, fill: impl Fn(&str) -> String) -> String {
    let mut pieces = template.split("{{");
    let mut page = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (hole, rest) = piece.split_once("}}").expect("a hole is closed");
        page += &fill(hole);
        page += rest;
    }
    page
}

/// What the script reads first: the model, and which executions there are.
#[derive(Serialize)]
struct Data<'v> {
    #[serde(flatten)]
    viewer: &'v Viewer,
    /// The executions that are of no configuration: the first ones.
    others: Vec<Ending<'v>>,
    /// The number of configurations. After those above there is one execution of each.
    classes: usize,
    /// The executions that were asked for, with their names.
    asked: Vec<(usize, &'v str)>,
    /// How many executions are on a shelf.
    shelf: usize,
    /// The places in the sources that some execution passes: files and lines.
    places: BTreeSet<(Option<&'v str>, u32)>,
}

/// How an execution ends.
#[derive(Serialize)]
struct Ending<'v> {
    verdict: Verdict,
    message: Option<&'v str>,
}

fn data(viewer: &Viewer) -> String {
    let others = viewer.runs.iter().filter(|run| run.configuration.is_none());
    let others = others.map(|Run { chart, .. }| Ending {
        verdict: chart.verdict,
        message: chart.message.as_deref(),
    });
    let others: Vec<_> = others.collect();
    let steps = viewer.runs.iter().flat_map(|run| &run.chart.steps);
    json(&Data {
        viewer,
        classes: viewer.runs.len() - others.len(),
        others,
        asked: (0..)
            .zip(&viewer.runs)
            .filter_map(|(at, run)| Some((at, run.name.as_deref()?)))
            .collect(),
        shelf: SHELF,
        places: steps.filter_map(|step| Some((step.file.as_deref(), step.line?))).collect(),
    })
    .replace('<', "\\u003c")
}

fn json(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("pages are serialisable")
}

fn drawings(viewer: &Viewer) -> String {
    let unfolding = Picture::Order(viewer.unfolding.clone());
    let search = Picture::Steps(viewer.search.clone());
    template("unfolding", &unfolding) + &template("search", &search)
}

/// Executions, a shelf of them at a time.
fn shelves(viewer: &Viewer) -> String {
    let shelf = |(number, runs): (usize, &[Run])| {
        let shelf = BASE64_STANDARD.encode(deflated(&json(&Shelf::new(runs))));
        format!("<script type=\"application/zlib\" id=\"shelf-{number}\">{shelf}</script>\n")
    };
    viewer.runs.chunks(SHELF).enumerate().map(shelf).collect()
}

/// Some executions with their drawings.
#[derive(Serialize)]
struct Shelf<'v> {
    runs: &'v [Run],
    /// The lines of all drawings, each once.
    lines: Vec<String>,
    /// By execution, its drawing: the places of its lines.
    drawings: Vec<Vec<usize>>,
}

impl<'v> Shelf<'v> {
    fn new(runs: &'v [Run]) -> Self {
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        let mut lines = Vec::new();
        let mut place = |line: &str| match places.get(line) {
            Some(&place) => place,
            None => {
                places.insert(line.to_owned(), lines.len());
                lines.push(line.to_owned());
                lines.len() - 1
            }
        };
        let drawing = |run: &Run| svg::whole(&Picture::SpaceTime(run.chart.clone()));
        let drawings: Vec<Vec<usize>> =
            runs.iter().map(|run| drawing(run).lines().map(&mut place).collect()).collect();
        Shelf { runs, lines, drawings }
    }
}

fn deflated(text: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written: io::Result<()> = encoder.write_all(text.as_bytes());
    written.and_then(|()| encoder.finish()).expect("memory takes what is written")
}

fn template(name: &str, picture: &Picture) -> String {
    format!("<template id=\"drawing-{name}\">\n{}</template>\n", svg::whole(picture))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_filled_once() {
        let page = filled("<{{a}}|{{b}}>", |hole| format!("{{{{{hole}}}}}"));
        assert_eq!(page, "<{{a}}|{{b}}>");
    }

    #[test]
    fn the_parts_of_the_page_do_not_end_it() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }
}
