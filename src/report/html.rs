//! The page of `mazurka draw -o x.html`: one file that needs nothing else, neither a network nor a server.
//!
//! The page is `visuals/viewer/viewer.html` with its holes filled: the style and the script beside it, the
//! [`Viewer`] as JSON, and the drawings of its pictures as [`svg`] makes them, each in a template.
//! The script finds the parts of a drawing by their names (`data-event`, `data-step`, `data-from`,
//! `data-to`) and only ever toggles classes; it lays nothing out.
//!
//! In JSON every `<` is written as `\u003c`, so nothing in a spec can end the script or open a comment. A hole
//! is filled once: what it is filled with is not looked at again.

use super::picture::Picture;
use super::svg;
use super::viewer::Viewer;

const PAGE: &str = include_str!("../../visuals/viewer/viewer.html");
const STYLE: &str = include_str!("../../visuals/viewer/viewer.css");
/// Its parts share a scope, and the last one starts it.
const SCRIPT: &str = concat!(
    include_str!("../../visuals/viewer/base.js"),
    include_str!("../../visuals/viewer/pictures.js"),
    include_str!("../../visuals/viewer/panels.js"),
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

fn data(viewer: &Viewer) -> String {
    let json = serde_json::to_string(viewer).expect("viewers are serialisable");
    json.replace('<', "\\u003c")
}

fn drawings(viewer: &Viewer) -> String {
    let unfolding = Picture::Order(viewer.unfolding.clone());
    let runs = viewer.runs.iter().map(|run| Picture::SpaceTime(run.chart.clone()));
    let names = (0..).map(|number| format!("space-time-{number}"));
    let search = Picture::Steps(viewer.search.clone());
    let mut text = template("unfolding", &unfolding) + &template("search", &search);
    for (name, picture) in names.zip(runs) {
        text += &template(&name, &picture);
    }
    text
}

fn template(name: &str, picture: &Picture) -> String {
    format!("<template id=\"drawing-{name}\">\n{}</template>\n", svg::render(picture))
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
