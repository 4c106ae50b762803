//! A report as one JSON object.

use serde::Serialize;

use crate::model::is_deceptive;

/// The report as indented JSON, with a line break at the end.
///
/// # Panics
/// Never for the reports of this crate: their keys are strings and their numbers finite.
pub fn render(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report).expect("reports are serialisable") + "\n";
    match text.chars().any(is_hidden) {
        true => escaped(&text),
        false => text,
    }
}

/// Is it a character that JSON allows in a text as it is, but that a terminal may act on?
fn is_hidden(c: char) -> bool {
    c != '\n' && is_deceptive(c)
}

/// The same JSON with such characters as escapes. They stand in texts only, where an escape means
/// the same.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_hidden(c) {
            true => c
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| text += &format!("\\u{unit:04x}")),
            false => text.push(c),
        }
    }
    text
}
