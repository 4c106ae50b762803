//! Splits source text into tokens. Comments are dropped, except the `//@` lines, which state
//! expectations.

use logos::Logos;

use super::diagnostic::{Diagnostic, Findings, Span};
use super::slips;
use super::token::Token;

/// The tokens of a file.
pub(crate) struct Lexed {
    /// Every token except comments. The last one is [`Token::End`].
    pub(crate) tokens: Vec<(Token, Span)>,
    /// The text after each `//@`.
    pub(crate) expectations: Vec<Span>,
}

/// Splits `source` into tokens.
pub(crate) fn lex(source: &str, diagnostics: &mut Findings) -> Lexed {
    let mut lexed = Lexed { tokens: Vec::new(), expectations: Vec::new() };
    // Consecutive unknown characters are reported as one mistake.
    let mut strange: Option<Span> = None;
    for (token, range) in Token::lexer(source).spanned() {
        let span = Span::new(range.start, range.end);
        let text = &source[range];
        match token {
            Ok(Token::LineComment) => {
                if text.starts_with("//@") {
                    lexed.expectations.push(Span { start: span.start + 3, ..span });
                }
            }
            Ok(Token::BlockComment) => {}
            Ok(Token::OpenStr) => {
                let message = "this text has no end";
                diagnostics.push(
                    Diagnostic::error(span, message).hint("close it with `\"` on the same line"),
                );
                lexed.tokens.push((Token::Strange, span));
            }
            Ok(Token::Letter) => {
                report_strange(source, Some(span), diagnostics);
                lexed.tokens.push((Token::Strange, span));
            }
            Ok(Token::Ident) => lexed.tokens.push((Token::of_name(text), span)),
            Ok(token) => lexed.tokens.push((token, span)),
            Err(()) if text.starts_with("/*") => {
                let start = Span { end: span.start + 2, ..span };
                diagnostics.push(Diagnostic::error(start, "this comment has no end"));
                lexed.tokens.push((Token::Strange, span));
            }
            Err(()) => match &mut strange {
                Some(before) if before.end == span.start => before.end = span.end,
                _ => {
                    report_strange(source, strange.replace(span), diagnostics);
                    lexed.tokens.push((Token::Strange, span));
                }
            },
        }
    }
    report_strange(source, strange, diagnostics);
    lexed.tokens.push((Token::End, Span::new(source.len(), source.len())));
    lexed
}

/// Splits `source` into tokens and comments. What is unknown is [`Token::Strange`].
pub(crate) fn everything(source: &str) -> Vec<(Token, Span)> {
    let tokens = Token::lexer(source).spanned().map(|(token, range)| {
        let token = match token {
            Ok(Token::Ident) => Token::of_name(&source[range.clone()]),
            token => token.unwrap_or(Token::Strange),
        };
        (token, Span::new(range.start, range.end))
    });
    tokens.collect()
}

fn report_strange(source: &str, span: Option<Span>, diagnostics: &mut Findings) {
    let Some(span) = span else { return };
    let text = &source[span.range()];
    let message = format!("`{text}` means nothing here");
    let hint = slips::sign(text).map(str::to_owned);
    diagnostics.push(Diagnostic::error(span, message).maybe_hint(hint));
}
