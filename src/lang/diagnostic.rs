//! Diagnostics: mistakes in a spec as plain data, and their rendering.
//!
//! Every pass of the front end adds [`Diagnostic`]s and continues: no pass prints, and none stops
//! at the first mistake. Rendering is a separate last step: [`Diagnostics::render`] shows the
//! source with the offending text underlined, in the style of rustc.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::model::{masked, printable};

/// A range of bytes of a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of the bytes `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span as a range of bytes.
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

/// One mistake, or something suspicious.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The offending text; `None` if the mistake is not in the file (in an override on the command
    /// line, for example).
    pub span: Option<Span>,
    /// The text shown under the offending text; may be empty.
    pub label: String,
    /// Other relevant places, each with a label.
    pub secondary: Vec<(Span, String)>,
    /// Advice for the author.
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

    /// Sets the text under the offending place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds another relevant place.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push((span, label.into()));
        self
    }

    /// Adds advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds advice, if there is any.
    pub fn maybe_hint(self, hint: Option<String>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }
}

/// The most errors, and the most warnings, that are shown for one file. Further ones are only
/// counted.
const MAX_SHOWN_EACH: usize = 60;

/// The findings so far: the first [`MAX_SHOWN_EACH`] errors and warnings in full, and the number of
/// all. So a file with a million mistakes takes little memory.
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
        if !self.muted && *count <= MAX_SHOWN_EACH {
            self.list.push(diagnostic);
        }
    }

    /// The number of errors so far.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// The number of errors and warnings so far.
    pub(super) fn count(&self) -> usize {
        self.errors + self.warnings
    }

    /// Will the next error be dropped? Then its text need not be made.
    pub(super) fn is_full(&self) -> bool {
        self.muted || self.errors >= MAX_SHOWN_EACH
    }

    /// Drops all findings until [`unmute`](Findings::unmute). Returns the state that `unmute`
    /// restores.
    pub(super) fn mute(&mut self) -> Muted {
        let before = Muted { errors: self.errors, warnings: self.warnings, muted: self.muted };
        self.muted = true;
        before
    }

    /// Restores the state from before the call of [`mute`](Findings::mute).
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

/// The diagnostics of one file, ordered by place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    name: Arc<str>,
    source: Arc<str>,
    list: Vec<Diagnostic>,
    /// The number of further diagnostics, which were only counted.
    omitted: usize,
}

impl fmt::Display for Diagnostics {
    /// Renders the diagnostics without colours.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

impl fmt::Display for Diagnostic {
    /// The message, without the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl Diagnostics {
    /// The errors of a file, or its warnings if there is no error. Warnings beside errors would
    /// often be consequences: a misspelt name also makes a variable unused.
    pub(super) fn new(name: &str, source: &str, found: Findings) -> Self {
        let Findings { mut list, errors, warnings, .. } = found;
        let (severity, all) = match errors {
            0 => (Severity::Warning, warnings),
            errors => (Severity::Error, errors),
        };
        list.retain(|diagnostic| diagnostic.severity == severity);
        let omitted = all - list.len();
        for diagnostic in &mut list {
            let others = diagnostic.secondary.iter_mut().map(|(span, _)| span);
            for span in diagnostic.span.iter_mut().chain(others) {
                *span = whole_characters(source, *span);
            }
        }
        list.sort_by_key(|d| (d.span.is_some(), d.span));
        list.dedup();
        Diagnostics { name: Arc::from(name), source: Arc::from(source), list, omitted }
    }

    /// Diagnostics that consist of one mistake.
    pub fn of(name: &str, source: &str, mistake: Diagnostic) -> Self {
        let mut found = Findings::default();
        found.push(mistake);
        Diagnostics::new(name, source, found)
    }

    /// Adds a diagnostic about the same file.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        let after = |one: &Diagnostic| (one.span.is_some(), one.span);
        let at = self.list.partition_point(|one| after(one) <= after(&diagnostic));
        self.list.insert(at, diagnostic);
    }

    /// The diagnostics, ordered by place.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Are there no diagnostics?
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of diagnostics, including those that were only counted.
    pub fn len(&self) -> usize {
        self.list.len() + self.omitted
    }

    /// The number of diagnostics that were only counted, and are not in
    /// [`iter`](Diagnostics::iter).
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Line and column (in characters) of the start of `span`, both from 1.
    pub fn position(&self, span: Span) -> (u32, u32) {
        Lines::new(&self.source).position(span.start as usize)
    }

    /// The diagnostics as text for people, with excerpts of the source; `color`: with ANSI colours.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut text = String::new();
        for diagnostic in &self.list {
            let excerpt = Excerpt::new(&self.source, diagnostic);
            text.push_str(&renderer.render(&[self.group(diagnostic, &excerpt)]));
            text.push_str("\n\n");
        }
        if self.omitted > 0 {
            text.push_str(&format!("... and {} more like these\n\n", self.omitted));
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

/// The most bytes of a message or label that are shown.
const MAX_SHOWN: usize = 400;

/// A message without control characters, at most [`MAX_SHOWN`] bytes.
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
    /// The byte offset of the text in the source.
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

/// The span, extended to boundaries of characters: a span that was computed from the end of broken
/// text may end within a character.
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

/// An index of a text that converts byte offsets to lines and columns.
pub(super) struct Lines<'s> {
    source: &'s str,
    starts: Vec<usize>,
    /// The number of characters before each block of [`BLOCK`] bytes. So counting a column reads at
    /// most two blocks, even in a long line. A character counts for the block in which it starts.
    characters: Vec<u32>,
}

/// The number of bytes in a block of [`Lines`].
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

    /// The number of characters that start before this byte.
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

/// The number of characters that start in these bytes.
fn count(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000).count() as u32
}

/// The most names that a message lists.
const MAX_LISTED: usize = 10;

/// The names, separated by commas. With more than [`MAX_LISTED`], only the first ones and the
/// number of others.
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

/// For names with more characters than this, no similar name is suggested.
const MAX_SIMILAR: usize = 64;

/// "did you mean `x`?", for the candidate nearest to `name`, if one is near.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    // A name of one character is similar to every other one, and names that are very long are
    // rarely misspelt.
    let length = name.chars().count();
    let limit = match length {
        0 | 1 => return None,
        length if length > MAX_SIMILAR => return None,
        length => length.max(3) / 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name && candidate.len() <= 2 * MAX_SIMILAR)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| format!("did you mean `{candidate}`?"))
}
