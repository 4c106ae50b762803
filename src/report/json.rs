//! A report as one JSON object.

use serde::Serialize;

use crate::model::is_deceptive;

/// The report as indented JSON, with a line break at the end.
///
/// # Panics
/// Never for the reports of this crate: their keys are strings and their numbers are finite.
pub fn render(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report).expect("reports are serialisable") + "\n";
    match text.chars().any(is_hidden) {
        true => escaped(&text),
        false => text,
    }
}

/// Whether JSON allows this character unescaped, but a terminal may act on it.
fn is_hidden(c: char) -> bool {
    c != '\n' && is_deceptive(c)
}

/// The JSON text with these characters escaped. They occur only within strings, so the meaning
/// stays.
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
