//! Formats source text: indentation, spaces, and blank lines. What the text says is unchanged.
//!
//! The formatter works on tokens and comments, not on the syntax tree, in the style of gofmt: the
//! author decides where lines end, with these exceptions. A block that has more than one line
//! begins and ends with a line break. `else`, and the `{` of a body, are on the line of what they
//! belong to.
//!
//! | what | how |
//! |---|---|
//! | indentation | 4 spaces for each bracket that is open, but one step for all that were opened in one line |
//! | a statement's further lines | one step more, outside of parentheses |
//! | spaces | as a table of neighbours says, see [`Text::gap`] |
//! | comments | unchanged; those after code keep their distance from it |
//! | blank lines | one at most; none at the beginning and end of a file or of a block |
//!
//! Every result is lexed again. If it had other tokens or comments than the source, that would be a
//! bug here, and the formatter panics instead of changing a program.

mod line;

use super::diagnostic::{Diagnostics, Findings, Span};
use super::lexer::{Lexed, lex};
use super::source::STACK;
use super::token::Token;
use super::{lexer, parser};
use line::Indentation;

/// The text of a spec in its usual form. `name` is the name of the file in messages.
///
/// # Errors
/// If the text is no spec: the mistakes of syntax in it. Other mistakes are no obstacle.
pub fn format(name: &str, source: &str) -> Result<String, Diagnostics> {
    stacker::grow(STACK, || {
        let mut found = Findings::default();
        let lexed = lex(source, &mut found);
        let file = parser::parse(source, &lexed.tokens, &mut found);
        if found.errors() > 0 {
            return Err(Diagnostics::new(name, source, found));
        }
        let formatted = Text::new(source, &lexed, &file.collections).formatted();
        assert_eq!(words(&formatted), words(source), "formatting changes nothing but space");
        Ok(formatted)
    })
}

/// The tokens and comments of a text.
fn words(source: &str) -> Vec<String> {
    let all = lexer::everything(source);
    all.into_iter().map(|(_, span)| bare(&source[span.range()])).collect()
}

/// A word without the spaces at the ends of its lines.
fn bare(word: &str) -> String {
    word.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// What stands between two words that follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Nothing,
    Space,
    /// This many spaces, before a comment.
    Spaces(usize),
    Line,
    BlankLine,
}

impl Gap {
    fn is_line(self) -> bool {
        matches!(self, Gap::Line | Gap::BlankLine)
    }
}

/// A text as a row of tokens and comments.
struct Text<'s> {
    source: &'s str,
    words: Vec<(Token, Span)>,
    /// For each bracket the other one of its pair.
    pairs: Vec<Option<usize>>,
    /// Is it the brace of a set, a map, or their types?
    is_collection: Vec<bool>,
}

impl<'s> Text<'s> {
    fn new(source: &'s str, lexed: &Lexed, collections: &[Span]) -> Self {
        debug_assert!(lexed.tokens.last().is_some_and(|(token, _)| *token == Token::End));
        let words = lexer::everything(source);
        let pairs = pairs(&words);
        let mut is_collection = vec![false; words.len()];
        let mut starts: Vec<u32> = collections.iter().map(|span| span.start).collect();
        starts.sort_unstable();
        for (at, (token, span)) in words.iter().enumerate() {
            if *token == Token::LBrace && starts.binary_search(&span.start).is_ok() {
                is_collection[at] = true;
                is_collection[pairs[at].expect("the file was parsed")] = true;
            }
        }
        Text { source, words, pairs, is_collection }
    }

    fn formatted(&self) -> String {
        let mut text = String::with_capacity(self.source.len());
        let mut indentation = Indentation::default();
        for at in 0..self.words.len() {
            let gap = match at {
                0 => Gap::Line,
                _ => self.gap(at),
            };
            match gap {
                Gap::Nothing => {}
                Gap::Space => text.push(' '),
                Gap::Spaces(count) => text.extend(std::iter::repeat_n(' ', count)),
                Gap::Line | Gap::BlankLine => {
                    if at > 0 {
                        text += if gap == Gap::Line { "\n" } else { "\n\n" };
                    }
                    let steps = indentation.begin_line(self.leading(at), self.continued(at));
                    text.extend(std::iter::repeat_n("    ", steps));
                }
            }
            indentation.pass(self.words[at].0, self.is_body(at));
            text += &bare(self.text(at));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    fn token(&self, at: usize) -> Token {
        self.words[at].0
    }

    fn text(&self, at: usize) -> &'s str {
        &self.source[self.words[at].1.range()]
    }

    /// The text in the source between a word and the one before.
    fn between(&self, at: usize) -> &'s str {
        &self.source[self.words[at - 1].1.end as usize..self.words[at].1.start as usize]
    }

    /// Is it a brace, and not one of a collection?
    fn is_body(&self, at: usize) -> bool {
        matches!(self.token(at), Token::LBrace | Token::RBrace) && !self.is_collection[at]
    }

    /// Does the pair with this brace have more than one line?
    fn is_tall(&self, at: usize) -> bool {
        let Some(other) = self.pairs[at] else { return false };
        let (open, close) = (at.min(other), at.max(other));
        // Comments inside keep the lines; an empty body has none.
        close > open + 1 && (open + 1..=close).any(|at| self.breaks(at))
    }

    /// Is there a line break before this word that stays?
    fn breaks(&self, at: usize) -> bool {
        let is_after_line_comment = self.token(at - 1) == Token::LineComment;
        is_after_line_comment || self.between(at).contains('\n') && !self.joins(at)
    }

    /// Does this word belong on the line of the word before?
    fn joins(&self, at: usize) -> bool {
        let before = self.token(at - 1);
        let opens_body = self.token(at) == Token::LBrace && self.is_body(at);
        let continues_if = self.token(at) == Token::Else && before == Token::RBrace;
        let is_header =
            !self.ends_statement(at - 1) && !is_comment(before) && before != Token::Comma;
        let is_empty = before == Token::LBrace && self.token(at) == Token::RBrace;
        opens_body && is_header || continues_if || is_empty
    }

    fn gap(&self, at: usize) -> Gap {
        let (before, after) = (self.token(at - 1), self.token(at));
        let between = self.between(at);
        let opens = self.is_body(at - 1) && before == Token::LBrace;
        let closes = self.is_body(at) && after == Token::RBrace;
        let is_forced =
            (opens && self.is_tall(at - 1) && !self.is_remark(at)) || (closes && self.is_tall(at));
        if self.breaks(at) || is_forced {
            let is_at_end = opens_bracket(before) || closes_bracket(after);
            return match between.matches('\n').count() > 1 && !is_at_end {
                true => Gap::BlankLine,
                false => Gap::Line,
            };
        }
        if is_comment(after) && !between.is_empty() && between.chars().all(|c| c == ' ') {
            return Gap::Spaces(between.len());
        }
        match self.is_apart(at) {
            true => Gap::Space,
            false => Gap::Nothing,
        }
    }

    /// Is it a comment on the line of the code before it?
    fn is_remark(&self, at: usize) -> bool {
        is_comment(self.token(at)) && !self.between(at).contains('\n')
    }

    /// Is there a space between this word and the one before, in a line?
    fn is_apart(&self, at: usize) -> bool {
        use Token::*;
        let (before, after) = (self.token(at - 1), self.token(at));
        if self.is_body(at - 1) && self.is_body(at) && before == LBrace && after == RBrace {
            return false;
        }
        if is_comment(before) {
            return !matches!(after, Comma | Semi | RParen | RBracket);
        }
        match (before, after) {
            (LParen | LBracket | PathSep | Dot | DotDot, _) => false,
            (_, RParen | RBracket | Comma | Semi | Colon | PathSep | Dot | DotDot) => false,
            (LBrace, _) => self.is_body(at - 1),
            (_, RBrace) => self.is_body(at),
            (Bang, _) => false,
            (Minus, _) => !self.is_sign(at - 1),
            (Ident, LParen | LBracket) if is_operator(self.text(at - 1)) => {
                !self.between(at).is_empty()
            }
            (RBrace, LParen | LBracket) => self.is_body(at - 1),
            (Ident | Object(_) | Int | RParen | RBracket, LParen | LBracket) => false,
            _ => true,
        }
    }

    /// Is it the `-` before a number or an operand, and not the one between two?
    fn is_sign(&self, minus: usize) -> bool {
        use Token::*;
        let before = (0..minus).rev().find(|&at| !is_comment(self.token(at)));
        let is_operand = |at: usize| match self.token(at) {
            Ident => !is_operator(self.text(at)),
            RBrace => !self.is_body(at),
            token => matches!(token, Int | Str | True | False | RParen | RBracket),
        };
        !before.is_some_and(is_operand)
    }

    /// The number of closing brackets at the beginning of a line.
    fn leading(&self, at: usize) -> usize {
        let is_leading = |&next: &usize| {
            closes_bracket(self.token(next)) && (next == at || !self.gap(next).is_line())
        };
        (at..self.words.len()).take_while(is_leading).count()
    }

    /// The last token before the line that begins here, unless a statement ended there.
    fn continued(&self, at: usize) -> Option<Token> {
        let before = (0..at).rev().find(|&before| !is_comment(self.token(before)))?;
        let token = self.token(before);
        (!self.ends_statement(before) && !opens_bracket(token)).then_some(token)
    }

    /// Can the word after this one begin a statement or a declaration?
    fn ends_statement(&self, at: usize) -> bool {
        self.token(at) == Token::Semi || self.is_body(at)
    }
}

/// The other bracket of each pair.
fn pairs(words: &[(Token, Span)]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; words.len()];
    let mut open = Vec::new();
    for (at, (token, _)) in words.iter().enumerate() {
        if opens_bracket(*token) {
            open.push(at);
        } else if closes_bracket(*token)
            && let Some(other) = open.pop()
        {
            (pairs[at], pairs[other]) = (Some(other), Some(at));
        }
    }
    pairs
}

fn is_comment(token: Token) -> bool {
    matches!(token, Token::LineComment | Token::BlockComment)
}

fn opens_bracket(token: Token) -> bool {
    matches!(token, Token::LBrace | Token::LParen | Token::LBracket)
}

fn closes_bracket(token: Token) -> bool {
    matches!(token, Token::RBrace | Token::RParen | Token::RBracket)
}

/// Names that are operators in some places, where a space follows.
fn is_operator(name: &str) -> bool {
    ["union", "intersect", "minus", "subset", "when", "exists", "forall", "to"].contains(&name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::random::SplitMix64;

    fn formatted(source: &str) -> String {
        format("test.maz", source).unwrap_or_else(|errors| panic!("{errors}\n{source}"))
    }

    /// The syntax tree without the places.
    fn tree(source: &str) -> String {
        let mut found = Findings::default();
        let lexed = lex(source, &mut found);
        let file = parser::parse(source, &lexed.tokens, &mut found);
        assert_eq!(found.errors(), 0, "{source}");
        let text = format!("{:?}", file.items);
        let mut parts = text.split("Span { ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('}').expect("the end of a span").1)
    }

    fn specs() -> Vec<PathBuf> {
        let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("specs")];
        let mut specs = Vec::new();
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    pending.push(entry);
                } else if entry.extension().is_some_and(|ending| ending == "maz") {
                    specs.push(entry);
                }
            }
        }
        specs.sort();
        assert!(specs.len() > 300, "{} specs", specs.len());
        specs
    }

    /// The same words, with other spaces and line breaks between them.
    fn shuffled(source: &str, random: &mut SplitMix64) -> String {
        let mut text = String::new();
        let mut ends_line = false;
        for (token, span) in lexer::everything(source) {
            let gaps = match token {
                // A comment is either after code or on lines of its own.
                _ if ends_line => ["\n", "\n\n\n", "\n  ", "\n\t\n"],
                Token::LineComment => ["\n", "  ", " ", "\n\n    "],
                _ => [" ", "\n", "\r\n\r\n\r\n", "\t "],
            };
            text += random.pick(&gaps);
            text += &source[span.range()];
            ends_line = token == Token::LineComment;
        }
        text
    }

    #[test]
    fn formatting_keeps_the_tree_of_every_spec_and_is_done_once() {
        let mut random = SplitMix64::new(1);
        for path in specs() {
            let source = fs::read_to_string(&path).unwrap();
            let once = formatted(&source);
            assert_eq!(tree(&source), tree(&once), "{}", path.display());
            assert_eq!(formatted(&once), once, "{}", path.display());
            let other = formatted(&shuffled(&source, &mut random));
            assert_eq!(tree(&source), tree(&other), "{}", path.display());
            assert_eq!(formatted(&other), other, "{}", path.display());
        }
    }

    #[test]
    fn the_specs_have_this_form() {
        let specs = specs();
        let is_changed = |path: &&PathBuf| {
            let source = fs::read_to_string(path).unwrap();
            formatted(&source) != source
        };
        let changed: Vec<_> = specs.iter().filter(is_changed).collect();
        assert!(changed.len() * 20 <= specs.len(), "{changed:#?}");
    }
}
