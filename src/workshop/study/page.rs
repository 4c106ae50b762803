//! A study as one self-contained page of HTML: tables, plots, and the command that repeats it.

use std::fmt::Write;

use super::{Picture, Study};
use crate::report::table::{Html, escaped};

/// The origin of a study.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The command line.
    pub(crate) command: String,
    /// The version of this crate.
    pub(crate) version: &'static str,
    /// When the page was written.
    pub(crate) date: String,
    /// The time and place of each group of measurements, in sentences.
    pub(crate) origins: Vec<String>,
}

const STYLE: &str = "\
body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .2em .7em; text-align: left; border-bottom: 1px solid #ddd; white-space: nowrap; }
th.figure, td.figure { text-align: right; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
pre { background: #f4f4f4; padding: .8em; overflow-x: auto; }
.bad { color: #b00020; font-weight: bold; }
svg { max-width: 100%; height: auto; border: 1px solid #ddd; margin: .6em 0; }";

/// The page as HTML.
pub(crate) fn html(study: &Study, pictures: &[Picture], facts: &Facts) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <title>Mazurka study</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n\
         <h1>Mazurka study</h1>\n"
    );
    let disagreements = study.disagreements();
    paragraphs(&mut page, " class=\"bad\"", &disagreements);
    list(&mut page, "Which k", &study.findings());
    add(&mut page, "<h2>Points</h2>\n<div class=\"wide\">\n");
    add(&mut page, &Html(&study.table()).to_string());
    add(&mut page, "</div>\n");
    paragraphs(&mut page, "", &study.notes());
    add(
        &mut page,
        "<p>Time is the median of the runs of a point, memory the most of any. A comb is a question \
        for an alternative; it has a spike for each disabled event, and a spike has the events that could \
        take its place.</p>\n",
    );
    if !pictures.is_empty() {
        add(&mut page, "<h2>Plots</h2>\n");
    }
    for Picture { svg, title, .. } in pictures {
        let label = format!("<svg role=\"img\" aria-label=\"{}\" ", escaped(title));
        add(&mut page, &svg.replacen("<svg ", &label, 1));
        add(&mut page, "\n");
    }
    add(&mut page, "<h2>To repeat it</h2>\n");
    add(&mut page, &format!("<pre>{}</pre>\n", escaped(&facts.command)));
    let written = format!("Mazurka {}; written {}.", facts.version, facts.date);
    paragraphs(&mut page, "", &[written]);
    list(&mut page, "", &facts.origins);
    add(&mut page, "</body>\n</html>\n");
    page
}

fn add(page: &mut String, text: &str) {
    page.push_str(text);
}

fn paragraphs(page: &mut String, class: &str, texts: &[String]) {
    for text in texts {
        writeln!(page, "<p{class}>{}</p>", escaped(text)).expect("a text can be written");
    }
}

/// A list under a heading, unless it is empty.
fn list(page: &mut String, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    if !heading.is_empty() {
        add(page, &format!("<h2>{heading}</h2>\n"));
    }
    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", escaped(item))).collect();
    add(page, &format!("<ul>\n{items}</ul>\n"));
}
