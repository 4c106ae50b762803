//! Text of unknown origin, made safe to print.
//!
//! A spec is often written by somebody else, and so is the name of its file. Printed unchanged, a
//! text with a line break, an escape sequence or a character that changes the direction of writing
//! could imitate a line of the report. So such characters are shown as Rust writes them in a
//! literal: `\n`, `\u{1b}`. What a program shows of itself (the text of a statement, the message of
//! an assertion) is made printable where the program is compiled; the names of files are made
//! printable where they are printed.

use std::borrow::Cow;

/// The text with every character escaped that is invisible, or that changes how others are shown.
///
/// ```
/// # use mazurka::model::printable;
/// assert_eq!(printable("good\r\u{1b}[2Jbad"), r"good\r\u{1b}[2Jbad");
/// assert_eq!(printable("café"), "café");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_deceptive(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Is it a character that is not shown as itself: a control character, a line break, a direction
/// mark, or a character of zero width?
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The text with each deceptive character ([`is_deceptive`]), except tabs and line ends, replaced
/// by a visible one. Its length in bytes stays the same, so positions in a source text stay valid.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| is_deceptive(c) && !matches!(c, '\n' | '\t');
    if !text.chars().any(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut chars = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        shown.push(match c.len_utf8() {
            _ if ends_line || !is_bad(c) => c,
            1 => '?',
            2 => '¿',
            3 => '\u{fffd}',
            _ => '\u{1fbc4}',
        });
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_masked_keeps_its_length() {
        let text = "a\u{1b}b\u{9b}c\u{202e}d\u{e0041}e\tf\r\n";
        let shown = masked(text);
        assert_eq!(shown.len(), text.len());
        assert_eq!(shown, "a?b¿c\u{fffd}d\u{1fbc4}e\tf\r\n");
        assert_eq!(printable(text), r"a\u{1b}b\u{9b}c\u{202e}d\u{e0041}e\tf\r\n");
    }
}
