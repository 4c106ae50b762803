//! Mistakes in a spec as plain data, and how they are shown.
//!
//! Every pass of the front end pushes [`Diagnostic`]s and goes on; nothing in it prints or stops at the
//! first mistake. Rendering is a separate, last step: [`Diagnostics::render`] draws the source with the
//! offending text underlined, in the way that users of rustc know.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::sync::Arc;

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

/// The mistakes of one file, in order of place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    name: Arc<str>,
    source: Arc<str>,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(super) fn new(name: Arc<str>, source: Arc<str>, mut list: Vec<Diagnostic>) -> Self {
        for diagnostic in &mut list {
            let others = diagnostic.secondary.iter_mut().map(|(span, _)| span);
            for span in diagnostic.span.iter_mut().chain(others) {
                *span = whole_characters(&source, *span);
            }
        }
        list.sort_by_key(|d| (d.span.is_some(), d.span));
        list.dedup();
        Diagnostics { name, source, list }
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
        self.list.len()
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
            text.push_str(&renderer.render(&[self.group(diagnostic)]));
            text.push_str("\n\n");
        }
        text
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic) -> Group<'a> {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()));
        if let Some(span) = diagnostic.span {
            let label = Some(diagnostic.label.as_str()).filter(|label| !label.is_empty());
            let primary = AnnotationKind::Primary.span(span.range()).label(label);
            let others = diagnostic.secondary.iter().map(|(span, label)| {
                AnnotationKind::Context.span(span.range()).label(label.as_str())
            });
            let snippet = Snippet::source(&*self.source).path(&*self.name);
            group = group.element(snippet.annotation(primary).annotations(others));
        }
        group.elements(diagnostic.hints.iter().map(|hint| Level::HELP.message(hint.as_str())))
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The span widened to where characters start: a span computed from the end of a broken piece of text
/// may lie within one.
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

/// Where the lines of a text start.
pub(super) struct Lines<'s> {
    source: &'s str,
    starts: Vec<usize>,
    ascii: bool,
}

impl<'s> Lines<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let behind_breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(behind_breaks).collect();
        Lines { source, starts, ascii: source.is_ascii() }
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(super) fn position(&self, byte: usize) -> (u32, u32) {
        let byte = byte.min(self.source.len());
        let line = self.starts.partition_point(|&start| start <= byte);
        let before = &self.source[self.starts[line - 1]..byte];
        // Counting again and again would not do for a long line of a table that some tool wrote.
        let column = if self.ascii { before.len() } else { before.chars().count() };
        (line as u32, column as u32 + 1)
    }
}

/// "did you mean `x`?", for the candidate nearest to `name`, if one is near.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    // A name of one letter is near to every other one.
    let limit = match name.chars().count() {
        0 | 1 => return None,
        length => length.max(3) / 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| format!("did you mean `{candidate}`?"))
}
