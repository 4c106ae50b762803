//! Mistakes in a spec as plain data, and how they are shown.
//!
//! Every pass of the front end pushes [`Diagnostic`]s and goes on; nothing in it prints or stops at
//! the first mistake. Rendering is a separate, last step: [`Diagnostics::render`] draws the source
//! with the offending text underlined, in the way that users of rustc know.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::model::{masked, printable};

/// A piece of a source text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From `start` to before `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// As a range of bytes.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Does a diagnostic keep a spec from running?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Yes.
    Error,
    /// No.
    Warning,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a line.
    pub message: String,
    /// Where; `None` if the mistake is not in the file (an override on the command line).
    pub span: Option<Span>,
    /// What to write under the offending text; may be empty.
    pub label: String,
    /// Other places that matter, each with a label.
    pub secondary: Vec<(Span, String)>,
    /// What the author might do about it.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            secondary: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// An error that is not in the file.
    pub fn outside(message: impl Into<String>) -> Self {
        Diagnostic { span: None, ..Diagnostic::error(Span::default(), message) }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// With a text under the offending place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With another place.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push((span, label.into()));
        self
    }

    /// With advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// With advice, if there is any.
    pub fn maybe_hint(self, hint: Option<String>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }
}

/// The most errors, and the most warnings, that are shown for one file. Of further ones only the
/// number is shown.
const MAX_TOLD: usize = 60;

/// What a pass has found so far: the first mistakes in full, of the others only the number. So a
/// file with a million mistakes costs no more than one with sixty.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    muted: bool,
}

impl Findings {
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        let count = match diagnostic.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if !self.muted && *count <= MAX_TOLD {
            self.list.push(diagnostic);
        }
    }

    /// How many errors there are so far.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// How many errors and warnings there are so far.
    pub(super) fn count(&self) -> usize {
        self.errors + self.warnings
    }

    /// Will the text of the next error be dropped? Then it need not be made.
    pub(super) fn is_full(&self) -> bool {
        self.muted || self.errors >= MAX_TOLD
    }

    /// Sets whether what is found from here on is dropped, and the number of errors and warnings;
    /// gives those that were there before.
    pub(super) fn mute(&mut self) -> Muted {
        let before = Muted { errors: self.errors, warnings: self.warnings, muted: self.muted };
        self.muted = true;
        before
    }

    /// Continues as before the call of [`Findings::mute`].
    pub(super) fn unmute(&mut self, before: Muted) {
        Muted { errors: self.errors, warnings: self.warnings, muted: self.muted } = before;
    }
}

/// The state of [`Findings`] from before they were muted.
pub(super) struct Muted {
    errors: usize,
    warnings: usize,
    muted: bool,
}

/// The mistakes of one file, in order of place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    name: Arc<str>,
    source: Arc<str>,
    list: Vec<Diagnostic>,
    /// How many more there are.
    untold: usize,
}

impl fmt::Display for Diagnostics {
    /// As they are shown where there are no colours.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

impl fmt::Display for Diagnostic {
    /// What is wrong, without the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl Diagnostics {
    /// What was found in a file: its errors, or its warnings if there is no error. A misspelt name
    /// is also an unused one, so warnings wait until the errors are gone.
    pub(super) fn new(name: &str, source: &str, found: Findings) -> Self {
        let Findings { mut list, errors, warnings, .. } = found;
        let (severity, all) = match errors {
            0 => (Severity::Warning, warnings),
            errors => (Severity::Error, errors),
        };
        list.retain(|diagnostic| diagnostic.severity == severity);
        let untold = all - list.len();
        for diagnostic in &mut list {
            let others = diagnostic.secondary.iter_mut().map(|(span, _)| span);
            for span in diagnostic.span.iter_mut().chain(others) {
                *span = whole_characters(source, *span);
            }
        }
        list.sort_by_key(|d| (d.span.is_some(), d.span));
        list.dedup();
        Diagnostics { name: Arc::from(name), source: Arc::from(source), list, untold }
    }

    /// The only mistake of a file.
    pub fn of(name: &str, source: &str, mistake: Diagnostic) -> Self {
        let mut found = Findings::default();
        found.push(mistake);
        Diagnostics::new(name, source, found)
    }

    /// The diagnostics as data.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len() + self.untold
    }

    /// How many there are of which only the number is known.
    pub fn untold(&self) -> usize {
        self.untold
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Line and column (in characters) of the start of `span`, both from 1.
    pub fn position(&self, span: Span) -> (u32, u32) {
        Lines::new(&self.source).position(span.start as usize)
    }

    /// All of them for people, with the source; in colour for a terminal.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut text = String::new();
        for diagnostic in &self.list {
            let excerpt = Excerpt::new(&self.source, diagnostic);
            text.push_str(&renderer.render(&[self.group(diagnostic, &excerpt)]));
            text.push_str("\n\n");
        }
        if self.untold > 0 {
            text.push_str(&format!("... and {} more like these\n\n", self.untold));
        }
        text
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic, excerpt: &'a Excerpt<'a>) -> Group<'a> {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(shown(&diagnostic.message)));
        if let Some(span) = diagnostic.span {
            let label = Some(shown(&diagnostic.label)).filter(|label| !label.is_empty());
            let primary = AnnotationKind::Primary.span(excerpt.within(span)).label(label);
            let others = diagnostic.secondary.iter().map(|(span, label)| {
                AnnotationKind::Context.span(excerpt.within(*span)).label(shown(label))
            });
            let snippet = Snippet::source(&*excerpt.text)
                .line_start(excerpt.line)
                .path(printable(&self.name));
            group = group.element(snippet.annotation(primary).annotations(others));
        }
        group.elements(diagnostic.hints.iter().map(|hint| Level::HELP.message(shown(hint))))
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The most bytes of a message that are shown.
const MAX_SHOWN: usize = 400;

/// A message, fit to print. If it quotes something long, only the beginning.
fn shown(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_SHOWN {
        return printable(text);
    }
    let end = (0..=MAX_SHOWN).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    Cow::Owned(printable(&text[..end]).into_owned() + " …")
}

/// The lines of a source text that a diagnostic is about, from the first to the last.
struct Excerpt<'s> {
    text: Cow<'s, str>,
    /// The number of the first line.
    line: usize,
    /// Where it starts in the source.
    start: usize,
}

impl<'s> Excerpt<'s> {
    fn new(source: &'s str, diagnostic: &Diagnostic) -> Self {
        let others = diagnostic.secondary.iter().map(|&(span, _)| span);
        let all = diagnostic.span.into_iter().chain(others);
        let whole = all.reduce(Span::to).unwrap_or_default().range();
        let start = source[..whole.start].rfind('\n').map_or(0, |end| end + 1);
        let end = source[whole.end..].find('\n').map_or(source.len(), |end| whole.end + end + 1);
        let line = 1 + source[..start].matches('\n').count();
        Excerpt { text: masked(&source[start..end]), line, start }
    }

    fn within(&self, span: Span) -> std::ops::Range<usize> {
        span.start as usize - self.start..span.end as usize - self.start
    }
}

/// The span widened to where characters start: a span computed from the end of a broken piece of
/// text may lie within one.
fn whole_characters(source: &str, span: Span) -> Span {
    let (mut start, mut end) = (span.range().start, span.range().end.min(source.len()));
    while !source.is_char_boundary(start) {
        start -= 1;
    }
    while !source.is_char_boundary(end) {
        end += 1;
    }
    Span::new(start.min(end), end)
}

/// The starts of the lines of a text, and the number of characters before certain bytes.
pub(super) struct Lines<'s> {
    source: &'s str,
    starts: Vec<usize>,
    /// The number of characters before each [`BLOCK`] of bytes. So counting a column reads at most
    /// two blocks, even in a long line. A block may start within a character; the character counts
    /// for the block in which it starts.
    characters: Vec<u32>,
}

const BLOCK: usize = 1024;

impl<'s> Lines<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let behind_breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(behind_breaks).collect();
        let blocks = source.as_bytes().chunks(BLOCK).scan(0, |before, block| {
            let here = *before;
            *before += count(block);
            Some(here)
        });
        Lines { source, starts, characters: blocks.collect() }
    }

    /// How many characters start before this byte.
    fn before(&self, byte: usize) -> u32 {
        let block = byte / BLOCK;
        match self.characters.get(block) {
            Some(before) => before + count(&self.source.as_bytes()[block * BLOCK..byte]),
            // The end of the text is the end of its last block.
            None => self.characters.last().map_or(0, |before| {
                before + count(&self.source.as_bytes()[(block - 1) * BLOCK..byte])
            }),
        }
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(super) fn position(&self, byte: usize) -> (u32, u32) {
        let byte = byte.min(self.source.len());
        let line = self.starts.partition_point(|&start| start <= byte);
        let start = self.starts[line - 1];
        let column = match byte - start < BLOCK {
            true => count(&self.source.as_bytes()[start..byte]),
            false => self.before(byte) - self.before(start),
        };
        (line as u32, column + 1)
    }
}

/// How many characters start in these bytes.
fn count(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000).count() as u32
}

/// The most names that a message lists.
const MAX_LISTED: usize = 10;

/// The names in a row. If there are many, only the first ones.
pub(super) fn listed<T: std::fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let mut names = names.into_iter();
    let mut shown: Vec<String> =
        names.by_ref().take(MAX_LISTED).map(|name| name.to_string()).collect();
    match names.count() {
        0 => {}
        more => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}

/// A name with more letters than this is near to no other name.
const MAX_NEAR: usize = 64;

/// "did you mean `x`?", for the candidate nearest to `name`, if one is near.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    // A name of one letter is near to every other one; of a long one nobody gets a few letters
    // wrong.
    let length = name.chars().count();
    let limit = match length {
        0 | 1 => return None,
        length if length > MAX_NEAR => return None,
        length => length.max(3) / 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name && candidate.len() <= 2 * MAX_NEAR)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| format!("did you mean `{candidate}`?"))
}
