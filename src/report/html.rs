//! The page of `mazurka draw -o x.html`: one self-contained file that needs neither a network nor a
//! server.
//!
//! The page is `visuals/viewer/viewer.html` with its placeholders filled: the style and the script
//! beside it, the [`Viewer`] as JSON, and the drawings of its pictures by [`svg`], each in a
//! template element.
//!
//! There may be thousands of executions, most of which are never looked at, and they resemble one
//! another. So they are stored, with their drawings, on shelves of `SHELF` executions. A shelf is
//! one compressed JSON text (zlib, in base64), which the script opens when an execution of this
//! shelf is selected. A shelf contains each line of its drawings once, and a drawing is a list of
//! line numbers.
//!
//! The script finds the parts of a drawing by their attributes (`data-event`, `data-step`,
//! `data-from`, `data-to`) and only toggles classes; it computes no layout.
//!
//! In JSON every `<` is written as `\u003c`, so text of a program can neither end the script
//! element nor open a comment. Placeholders in what a placeholder was filled with are not filled.

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
/// The script. Its files share one scope, and the last one starts it.
const SCRIPT: &str = concat!(
    include_str!("../../visuals/viewer/base.js"),
    include_str!("../../visuals/viewer/executions.js"),
    include_str!("../../visuals/viewer/pictures.js"),
    include_str!("../../visuals/viewer/panels.js"),
    include_str!("../../visuals/viewer/next.js"),
    include_str!("../../visuals/viewer/chosen.js"),
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

/// The template with each `{{placeholder}}` filled.
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

/// What the script reads first: the model, and a list of the executions.
#[derive(Serialize)]
struct Data<'v> {
    #[serde(flatten)]
    viewer: &'v Viewer,
    /// The executions that belong to no configuration; they come first.
    others: Vec<Ending<'v>>,
    /// The number of configurations. After `others` there is one execution of each.
    classes: usize,
    /// The executions that were asked for, with their names.
    asked: Vec<(usize, &'v str)>,
    /// How many executions are on a shelf.
    shelf: usize,
    /// The files and lines that some execution passes.
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
    let search = viewer.search.clone().map(Picture::Steps);
    let search = search.map(|search| template("search", &search));
    template("unfolding", &unfolding) + &search.unwrap_or_default()
}

/// The executions, shelf by shelf.
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
    /// The lines of all drawings, without duplicates.
    lines: Vec<String>,
    /// For each execution: its drawing, as indices into `lines`.
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
