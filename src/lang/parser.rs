//! Parses tokens to a syntax tree, by recursive descent, with error recovery.
//!
//! After a mistake parsing continues at the next statement or declaration, so one run reports the
//! mistakes of the whole file. Two rules avoid reports of mere consequences: there is at most one
//! report for each token, and later passes report nothing about `Error` nodes. Nesting is bounded
//! ([`MAX_NESTING`], [`MAX_CHAIN`]), so that no input exhausts the stack of this or a later pass.

mod actor;
mod collection;
mod expr;
mod faults;
mod for_loop;
mod item;
mod liveness;
mod range;
mod statement;

use super::ast::{File, Item, Name, TypeExpr, TypeKind};
use super::diagnostic::{Diagnostic, Findings, Span};
use super::token::Token;

/// The deepest nesting of expressions, blocks and types.
const MAX_NESTING: usize = 100;
/// The most operators, indices or fields in a row in one expression.
const MAX_CHAIN: usize = 200;

/// What [`Parser::name`] expects where a call may begin: there `barrier` is a name.
const CALLED: &str = "a name to call";

/// Parses a file. Mistakes are reported to `diagnostics`; the tree then has `Error` nodes.
pub(crate) fn parse(source: &str, tokens: &[(Token, Span)], diagnostics: &mut Findings) -> File {
    let mut parser = Parser {
        source,
        tokens,
        closes: collection::closes(tokens),
        at: 0,
        nesting: 0,
        last_report: None,
        block_at: None,
        collections: Vec::new(),
        diagnostics,
    };
    let mut file = File::default();
    while parser.peek() != Token::End {
        let (start, known) = (parser.span(), file.items.len());
        parser.item(&mut file.items);
        if file.items[known..].iter().any(Item::runs) {
            file.running.push(start.to(parser.previous_span()));
        }
    }
    file.collections = parser.collections;
    file
}

/// The contents of parentheses: `(x)` is `x`; `(x,)`, `()` and `(x, y)` are tuples.
enum Parts<T> {
    One(T),
    Tuple(Vec<T>),
}

struct Parser<'a> {
    source: &'a str,
    tokens: &'a [(Token, Span)],
    /// For each opening bracket the index of the closing one.
    closes: Vec<Option<usize>>,
    at: usize,
    nesting: usize,
    /// The index of the token that the last report was about.
    last_report: Option<usize>,
    /// The index of a `{` that opens a block unless it must be a set or a map.
    block_at: Option<usize>,
    /// The braces of sets and maps so far.
    collections: Vec<Span>,
    diagnostics: &'a mut Findings,
}

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    fn peek_second(&self) -> Token {
        self.tokens.get(self.at + 1).map_or(Token::End, |token| token.0)
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    /// Does a declaration start here? (`barrier(b)` does not: it is an operation.)
    fn at_item(&self) -> bool {
        let is_call = self.peek().is_word() && self.peek_second() == Token::LParen;
        self.peek().starts_item() && !is_call
            || self.at_daemon()
            || self.at_symmetric()
            || self.at_network()
            || self.at_demand()
            || self.at_fairness()
    }

    /// Does `daemon process` or `daemon actor` start here? `daemon` is not a keyword: elsewhere it
    /// is an ordinary name.
    fn at_daemon(&self) -> bool {
        self.peek() == Token::Ident
            && matches!(self.peek_second(), Token::Process | Token::Actor)
            && self.text() == "daemon"
    }

    /// Does `symmetric process` or `symmetric daemon process` start here? `symmetric` is not a
    /// keyword either.
    fn at_symmetric(&self) -> bool {
        let is_next = |word: &str| {
            let next = self.tokens.get(self.at + 1);
            next.is_some_and(|(_, span)| &self.source[span.range()] == word)
        };
        self.peek() == Token::Ident
            && self.text() == "symmetric"
            && (self.peek_second() == Token::Process || is_next("daemon"))
    }

    fn text(&self) -> &str {
        &self.source[self.span().range()]
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    /// Reports a mistake at the current token, unless one was reported there, or there is an
    /// unknown character next to it, which has its own report.
    fn report(&mut self, diagnostic: Diagnostic) {
        let known = self.last_report == Some(self.at);
        self.last_report = Some(self.at);
        let near = &self.tokens[self.at.saturating_sub(1)..=self.at];
        if !known && near.iter().all(|token| token.0 != Token::Strange) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports a mistake in the token before the current one, whose span is `span`, unless one was
    /// reported there.
    fn report_at(&mut self, span: Span, diagnostic: Diagnostic) {
        let before = self.at.checked_sub(1).filter(|&at| self.tokens[at].1 == span);
        if before.is_some_and(|at| self.last_report != Some(at)) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Is the current token on another line than the one before?
    fn at_new_line(&self) -> bool {
        let between = self.previous_span().end as usize..self.span().start as usize;
        self.source[between].contains('\n')
    }

    fn report_expected(&mut self, what: &str) {
        let diagnostic = self.expected(what);
        self.report(diagnostic);
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.peek().describe());
        Diagnostic::error(self.span(), message).label(format!("expected {what}"))
    }

    fn expect(&mut self, token: Token) -> bool {
        let found = self.eat(token);
        if !found {
            self.report_expected(&token.describe());
        }
        found
    }

    /// Expects a token that is often forgotten; the report shows an example.
    fn expect_as_in(&mut self, token: Token, example: &str) -> bool {
        let found = self.eat(token);
        if !found {
            let diagnostic = self.expected(&token.describe());
            self.report(diagnostic.hint(format!("such as `{example}`")));
        }
        found
    }

    /// Expects a `;`, after a statement or a declaration. A missing one is reported where it should
    /// be, after the previous token.
    fn expect_semi(&mut self, after_statement: bool) -> bool {
        if self.eat(Token::Semi) {
            return true;
        }
        let end = self.previous_span().end as usize;
        let message = format!("expected `;`, found {}", self.peek().describe());
        let diagnostic = Diagnostic::error(Span::new(end, end), message);
        let before = self.tokens[self.at.saturating_sub(1)].0;
        let hint = match (before, self.peek()) {
            _ if self.at_new_line() => None,
            (_, Token::Colon) if self.peek_second() == Token::Eq => Some(
                "there is no `:=`: write `let x = …;`, and `x = …;` for a new value".to_owned(),
            ),
            (Token::Ident, next) if after_statement && next.starts_operand() => {
                let word = &self.source[self.previous_span().range()];
                Some(format!("if this is a call, write `{word}(…)`"))
            }
            _ => None,
        };
        self.report(diagnostic.label("add `;` here").maybe_hint(hint));
        false
    }

    /// Expects a closing bracket. If it is missing, the report shows the opening one, at `open`.
    fn expect_close(&mut self, token: Token, open: Span) -> bool {
        if self.eat(token) {
            return true;
        }
        let message = format!("expected {}, found {}", token.describe(), self.peek().describe());
        let diagnostic = Diagnostic::error(self.span(), message).also(open, "opened here");
        self.report(diagnostic);
        false
    }

    fn name(&mut self, what: &str) -> Name {
        if self.peek() == Token::Ident || (self.peek().is_word() && what == CALLED) {
            let text = self.text().to_owned();
            return Name { text, span: self.advance() };
        }
        let reserved = self.text().starts_with(|c: char| c.is_ascii_alphabetic());
        if reserved {
            let word = self.text().to_owned();
            let message = format!("expected {what}, found the keyword `{word}`");
            self.report(Diagnostic::error(self.span(), message).label("this word is reserved"));
            if !self.at_item() {
                self.advance();
            }
        } else {
            self.report_expected(what);
        }
        Name { text: String::new(), span: self.span() }
    }

    /// Runs `parse` at the next nesting level. Beyond the limit, the rest of the file is skipped.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> T {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            self.give_up("this nests too deeply");
        }
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn give_up(&mut self, message: &str) {
        self.report(Diagnostic::error(self.span(), message).hint("split it into smaller parts"));
        self.at = self.tokens.len() - 1;
        self.last_report = Some(self.at);
    }

    /// Skips to a place where a statement may begin or a block may end.
    fn skip_statement(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Semi if depth == 0 => {
                    self.advance();
                    return;
                }
                Token::RBrace if depth == 0 => return,
                Token::LBrace => depth += 1,
                Token::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        return;
                    }
                }
                token if depth == 0 && (token.starts_statement() || self.at_item()) => return,
                _ => {}
            }
            self.advance();
        }
    }

    fn type_expr(&mut self) -> TypeExpr {
        self.nested(Self::type_expr_inner)
    }

    fn type_expr_inner(&mut self) -> TypeExpr {
        let start = self.span();
        let kind = match self.peek() {
            Token::Ident => {
                let name = self.text().to_owned();
                self.advance();
                TypeKind::Named(name)
            }
            Token::Process => {
                self.advance();
                TypeKind::Process
            }
            Token::Actor => {
                self.advance();
                TypeKind::Actor
            }
            Token::LParen => self.tuple_type(),
            Token::LBracket => self.list_type(),
            Token::LBrace => self.set_type(),
            _ => {
                self.report_expected("a type");
                TypeKind::Error
            }
        };
        TypeExpr { kind, span: start.to(self.previous_span()) }
    }

    fn tuple_type(&mut self) -> TypeKind {
        match self.in_parentheses(Self::type_expr) {
            Parts::One(part) => part.kind,
            Parts::Tuple(parts) => TypeKind::Tuple(parts),
        }
    }

    /// Parses the contents of parentheses: one part, or a tuple.
    fn in_parentheses<T>(&mut self, part: fn(&mut Self) -> T) -> Parts<T> {
        let open = self.advance();
        let mut parts = Vec::new();
        let mut comma = false;
        while !matches!(self.peek(), Token::RParen | Token::End) {
            parts.push(part(self));
            comma = self.eat(Token::Comma);
            if !comma {
                break;
            }
        }
        self.expect_close(Token::RParen, open);
        match parts.pop() {
            Some(one) if parts.is_empty() && !comma => Parts::One(one),
            last => Parts::Tuple(parts.into_iter().chain(last).collect()),
        }
    }

    fn list_type(&mut self) -> TypeKind {
        let open = self.advance();
        let item = Box::new(self.type_expr());
        let kind = if self.eat(Token::Semi) {
            TypeKind::Array(item, Box::new(self.expr()))
        } else {
            TypeKind::List(item)
        };
        self.expect_close(Token::RBracket, open);
        kind
    }

    fn set_type(&mut self) -> TypeKind {
        let open = self.advance();
        self.collections.push(open);
        let item = Box::new(self.type_expr());
        let kind = if self.eat(Token::Colon) {
            TypeKind::Map(item, Box::new(self.type_expr()))
        } else {
            TypeKind::Set(item)
        };
        self.expect_close(Token::RBrace, open);
        kind
    }
}
