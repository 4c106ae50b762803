//! Where the names of a text are declared, for editors.
//!
//! An editor asks while a text is being written, so it is hardly ever a program. Names are found in
//! the tokens, by the words before them (`process P`, `let x`, `for i`), and by the places where
//! patterns and parameters stand. A name is known within the braces around its declaration: from
//! its declaration on in a body, everywhere at the top level.

use super::diagnostic::Span;
use super::lexer;
use super::token::Token;

/// A declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The name.
    pub name: String,
    /// What it names: `process`, `mailbox`, `var`, ..; `parameter` or `pattern` without a word.
    pub what: String,
    /// Where the name stands.
    pub span: Span,
    /// The text from the word before it to the end of its line, or to a brace.
    pub head: Span,
    /// Is it declared outside of all braces?
    pub is_global: bool,
    /// Where it is known.
    known: Span,
}

/// The names of a text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    declared: Vec<Declared>,
    /// All names that occur.
    used: Vec<Span>,
}

/// What is being read.
struct Reader<'s> {
    source: &'s str,
    words: Vec<(Token, Span)>,
    declared: Vec<Declared>,
    /// The first declaration within each brace that is open.
    open: Vec<usize>,
    /// Names of a head (parameters, an index): they are known in the next braces.
    heads: Vec<usize>,
}

impl Names {
    /// The names of this text, which need not be a program. O(its length).
    pub fn of(source: &str) -> Names {
        let all = lexer::everything(source);
        let is_code = |(token, _): &(Token, Span)| !is_comment(*token);
        let words: Vec<_> = all.into_iter().filter(is_code).collect();
        let names = words.iter().filter(|(token, _)| *token == Token::Ident);
        let used = names.map(|&(_, span)| span).collect();
        let (declared, open, heads) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = Reader { source, words, declared, open, heads };
        reader.read();
        Names { declared: reader.declared, used }
    }

    /// What is declared outside of all braces, in the order of the text.
    pub fn global(&self) -> impl Iterator<Item = &Declared> {
        self.declared.iter().filter(|one| one.is_global)
    }

    /// The name at this byte, or just before it.
    pub fn at(&self, byte: usize) -> Option<Span> {
        let byte = byte as u32;
        self.used.iter().copied().find(|span| span.start <= byte && byte <= span.end)
    }

    /// The declaration of the name at this byte; `None` if there is no name, or it is unknown. The
    /// innermost declaration counts, and of several there the last one before the name.
    pub fn declaration(&self, source: &str, byte: usize) -> Option<&Declared> {
        let span = self.at(byte)?;
        let name = &source[span.range()];
        let is_it = |one: &&Declared| {
            one.name == name && one.known.start <= span.start && span.end <= one.known.end
        };
        let length = |one: &Declared| one.known.end - one.known.start;
        let found = self.declared.iter().filter(is_it);
        found.min_by_key(|one| (one.is_global, length(one), u32::MAX - one.span.start))
    }
}

fn is_comment(token: Token) -> bool {
    matches!(token, Token::LineComment | Token::BlockComment)
}

impl Reader<'_> {
    fn token(&self, at: usize) -> Option<Token> {
        self.words.get(at).map(|&(token, _)| token)
    }

    fn text(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |&(_, span)| &self.source[span.range()])
    }

    fn read(&mut self) {
        for at in 0..self.words.len() {
            match self.words[at].0 {
                Token::LBrace => {
                    let first = self.heads.first().copied().unwrap_or(self.declared.len());
                    self.heads.clear();
                    self.open.push(first);
                }
                Token::RBrace => self.close(self.words[at].1.end),
                Token::Semi if !self.heads.is_empty() => self.heads.clear(),
                token if declares(token) => self.after_word(at),
                Token::Let | Token::Var | Token::For => self.pattern(at + 1, at),
                Token::FatArrow => self.arm(at),
                Token::Ident if matches!(self.text(at), "exists" | "forall") => {
                    self.pattern(at + 1, at);
                }
                Token::Ident if matches!(self.text(at), "on" | "internal") => self.handler(at),
                _ => {}
            }
        }
        while !self.open.is_empty() {
            self.close(self.source.len() as u32);
        }
    }

    /// The names that were declared within the braces that end here are known up to here.
    fn close(&mut self, end: u32) {
        let Some(first) = self.open.pop() else { return };
        for one in &mut self.declared[first..] {
            one.known.end = one.known.end.min(end);
        }
    }

    fn declare(&mut self, at: usize, what: String, from: usize) {
        let (_, span) = self.words[at];
        let is_global = self.open.is_empty() && !is_local(&what);
        let end = self.source.len() as u32;
        let known = Span { start: if is_global { 0 } else { span.start }, end };
        let name = self.text(at).to_owned();
        let start = self.words[from].1.start;
        let rest = &self.source[start as usize..];
        let length = rest.find(['\n', '{', ';']).unwrap_or(rest.len());
        let head = Span::new(start as usize, start as usize + rest[..length].trim_end().len());
        let head = Span { end: head.end.max(span.end), ..head };
        self.declared.push(Declared { name, what, span, head, is_global, known });
    }

    /// A declaration by a word, with all that follows it: `mailbox a, b[N]`, `fn f(x: int)`.
    fn after_word(&mut self, word: usize) {
        let what = self.text(word).to_owned();
        if self.token(word + 1) != Some(Token::Ident) {
            return;
        }
        self.declare(word + 1, what.clone(), word);
        match self.words[word].0 {
            Token::Object(_) => self.further(word, &what),
            Token::Process | Token::Actor | Token::Fn | Token::Proc => self.parameters(word + 2),
            _ => {}
        }
    }

    /// Further objects of the same declaration, after commas.
    fn further(&mut self, word: usize, what: &str) {
        let mut depth = 0;
        for at in word + 2..self.words.len() {
            match self.words[at].0 {
                Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
                Token::RParen | Token::RBracket | Token::RBrace if depth == 0 => return,
                Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
                Token::Semi => return,
                Token::Comma if depth == 0 && self.names_object(at + 1) => {
                    self.declare(at + 1, what.to_owned(), word);
                }
                _ => {}
            }
        }
    }

    /// Is it the name of an object, and not of one of its faults?
    fn names_object(&self, at: usize) -> bool {
        self.token(at) == Some(Token::Ident)
            && !matches!(self.text(at), "lossy" | "duplicating" | "partitioned" | "heals")
    }

    /// `on M(k: int)`, in an actor.
    fn handler(&mut self, word: usize) {
        let is_handler = self.token(word + 1) == Some(Token::Ident)
            && self.text(word + 1).starts_with(|c: char| c.is_ascii_uppercase());
        if is_handler {
            self.declare(word + 1, "handler".into(), word);
            self.parameters(word + 2);
        }
    }

    /// Parameters `(a: int, b: bool)`, or an index `[i in 0..N]`.
    fn parameters(&mut self, open: usize) {
        let close = match self.token(open) {
            Some(Token::LParen) => Token::RParen,
            Some(Token::LBracket) => Token::RBracket,
            _ => return,
        };
        for at in open + 1..self.words.len() {
            let follows = matches!(self.token(at + 1), Some(Token::Colon | Token::In));
            if self.words[at].0 == close {
                return;
            }
            if self.words[at].0 == Token::Ident && follows {
                self.heads.push(self.declared.len());
                self.declare(at, "parameter".into(), at);
            }
        }
    }

    /// The names of a pattern, up to the `=`, `in` or `:` after it.
    fn pattern(&mut self, start: usize, word: usize) {
        let what = self.text(word).to_owned();
        let is_head = self.words[word].0 == Token::For;
        for at in start..self.words.len() {
            match self.words[at].0 {
                Token::Ident if self.is_variable(at) => {
                    if is_head {
                        self.heads.push(self.declared.len());
                    }
                    self.declare(at, what.clone(), word);
                }
                Token::LParen | Token::RParen | Token::Comma | Token::Ident => {}
                _ => return,
            }
        }
    }

    /// The names of the pattern before `=>`.
    fn arm(&mut self, arrow: usize) {
        let mut start = arrow;
        while start > 0
            && matches!(
                self.words[start - 1].0,
                Token::Ident | Token::LParen | Token::RParen | Token::Comma | Token::PathSep
            )
        {
            start -= 1;
        }
        // A comma may also end the arm before this one.
        if self.token(start) == Some(Token::Comma) {
            start += 1;
        }
        for at in start..arrow {
            if self.words[at].0 == Token::Ident && self.is_variable(at) {
                self.heads.push(self.declared.len());
                self.declare(at, "pattern".into(), at);
            }
        }
    }

    /// Is it a name that a pattern binds? Variants and constants begin with a capital.
    fn is_variable(&self, at: usize) -> bool {
        self.text(at).starts_with(|c: char| c.is_ascii_lowercase())
    }
}

/// Does a declaration of one name follow this word?
fn declares(token: Token) -> bool {
    use Token::*;
    matches!(token, Const | Enum | Fn | Proc | Process | Actor | Object(_))
}

/// Is what was declared with this word known only from there on?
fn is_local(what: &str) -> bool {
    ["let", "var", "for", "parameter", "pattern", "exists", "forall"].contains(&what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "const N = 2;
mailbox a: int, b[N]: int;
fn twice(n: int) -> int { 2 * n }
process P[i in 0..N] {
    let n = twice(i);
    for j in 0..n { send(b[j], n); }
    if n > 0 { let n = 7; send(a, n); }
    send(a, n);
}
process Q { let (x, y) = (recv(a), 1); match x { 0 => {} other => { assert(other < y); } } }
";

    /// The line where the name at the nth occurrence of `text` is declared.
    fn line(text: &str, nth: usize) -> Option<usize> {
        let names = Names::of(TEXT);
        let at = TEXT.match_indices(text).nth(nth).expect("it is there").0;
        let found = names.declaration(TEXT, at)?;
        Some(TEXT[..found.span.start as usize].lines().count().max(1))
    }

    #[test]
    fn names_are_found_where_they_are_declared() {
        assert_eq!(line("N]: int", 0), Some(1));
        assert_eq!(line("twice(i)", 0), Some(3));
        assert_eq!(line("n }", 0), Some(3));
        assert_eq!(line("i);", 0), Some(4));
        assert_eq!(line("b[j]", 0), Some(2));
        assert_eq!(line("j], n", 0), Some(6));
        assert_eq!(line("n); }", 0), Some(5), "the loop has no n of its own");
        assert_eq!(line("n); }", 1), Some(7), "the inner n");
        assert_eq!(line("n);\n}", 0), Some(5), "the inner n is over");
        assert_eq!(line("other <", 0), Some(10));
        assert_eq!(line("y);", 0), Some(10));
        assert_eq!(line("send(a", 0), None, "it is built in");
    }

    #[test]
    fn global_names_are_listed_with_what_they_are() {
        let names = Names::of(TEXT);
        let all: Vec<_> = names.global().map(|one| (one.what.as_str(), &*one.name)).collect();
        assert_eq!(
            all,
            [
                ("const", "N"),
                ("mailbox", "a"),
                ("mailbox", "b"),
                ("fn", "twice"),
                ("process", "P"),
                ("process", "Q")
            ]
        );
    }

    #[test]
    fn half_written_texts_have_names() {
        for length in (0..TEXT.len()).filter(|&length| TEXT.is_char_boundary(length)) {
            let names = Names::of(&TEXT[..length]);
            for byte in 0..length {
                let found = names.declaration(&TEXT[..length], byte);
                assert!(found.is_none_or(|one| one.span.end as usize <= length));
            }
        }
    }
}
