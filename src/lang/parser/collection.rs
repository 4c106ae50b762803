//! Collections: lists, sets and maps, comprehensions, and quantifiers.
//!
//! A `{` opens a block where a statement may begin, and a set or a map elsewhere. Where that is not
//! what is meant, the tokens inside tell: see [`Parser::opens_collection`].

use super::Parser;
use super::statement::missing;
use crate::lang::ast::{Comprehension, Expr, ExprKind, Generator, Made, Quantifier};
use crate::lang::diagnostic::Span;
use crate::lang::token::Token;

impl Parser<'_> {
    pub(super) fn list(&mut self) -> ExprKind {
        let open = self.advance();
        let mut items = Vec::new();
        while !matches!(self.peek(), Token::RBracket | Token::End) {
            let item = self.expr();
            if items.is_empty() && self.eat(Token::Semi) {
                let count = self.expr();
                self.expect_close(Token::RBracket, open);
                return ExprKind::Repeat(Box::new(item), Box::new(count));
            }
            if items.is_empty() && self.peek() == Token::For {
                let kind = self.comprehension(Made::List(item));
                self.expect_close(Token::RBracket, open);
                return kind;
            }
            items.push(item);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect_close(Token::RBracket, open);
        ExprKind::List(items)
    }

    /// A block, a set or a map.
    pub(super) fn braces(&mut self) -> ExprKind {
        if !self.opens_collection() {
            return ExprKind::Block(self.block());
        }
        let close = self.closes[self.at];
        let open = self.advance();
        self.collections.push(open);
        let kind = self.nested(Self::set_or_map);
        if !self.expect_close(Token::RBrace, open) {
            self.skip_to(close);
        }
        kind
    }

    /// Skips what is wrong up to the bracket with this index, unless statements end before it.
    fn skip_to(&mut self, close: Option<usize>) {
        let Some(close) = close.filter(|&close| close > self.at) else { return };
        let rest = &self.tokens[self.at..close];
        if rest.iter().all(|token| token.0 != Token::Semi) {
            self.at = close;
            self.advance();
        }
    }

    /// The inside of braces.
    fn set_or_map(&mut self) -> ExprKind {
        if self.peek() == Token::RBrace {
            return ExprKind::Set(Vec::new());
        }
        let first = self.expr();
        if self.peek() == Token::Colon { self.map(first) } else { self.set(first) }
    }

    fn set(&mut self, first: Expr) -> ExprKind {
        if self.peek() == Token::For {
            return self.comprehension(Made::Set(first));
        }
        let mut items = vec![first];
        while self.eat(Token::Comma) && self.peek() != Token::RBrace {
            items.push(self.expr());
        }
        ExprKind::Set(items)
    }

    fn map(&mut self, first: Expr) -> ExprKind {
        let first = self.entry(first);
        if self.peek() == Token::For {
            return self.comprehension(Made::Map(first));
        }
        let mut entries = vec![first];
        while self.eat(Token::Comma) && self.peek() != Token::RBrace {
            let key = self.expr();
            entries.push(self.entry(key));
        }
        ExprKind::Map(entries)
    }

    fn entry(&mut self, key: Expr) -> [Expr; 2] {
        self.expect_as_in(Token::Colon, "{1: true, 2: false}");
        let value = self.expr();
        [key, value]
    }

    /// `for x in s for y in t if p`
    fn comprehension(&mut self, makes: Made<Expr>) -> ExprKind {
        let mut generators = Vec::new();
        while self.eat(Token::For) {
            generators.push(self.generator());
        }
        let condition = self.eat(Token::If).then(|| self.expr());
        ExprKind::Collect(Box::new(Comprehension { makes, generators, condition }))
    }

    /// `x in s`
    fn generator(&mut self) -> Generator {
        let pattern = self.pattern();
        let over = match self.expect(Token::In) {
            true => self.expr_or_range(),
            false => missing(self.span()),
        };
        Generator { pattern, over }
    }

    /// The quantifier that starts here. Its word is not reserved: a name is not followed by another
    /// name, and a call not by `in`.
    pub(super) fn quantifier(&self) -> Option<Quantifier> {
        let found = match self.text() {
            "exists" => Quantifier::Exists,
            "forall" => Quantifier::Forall,
            _ => return None,
        };
        let after = match self.peek_second() {
            Token::Ident => self.at + 2,
            Token::LParen => self.closes[self.at + 1]? + 1,
            _ => return None,
        };
        (self.tokens.get(after)?.0 == Token::In).then_some(found)
    }

    /// `exists x in s, y in t: p`
    pub(super) fn quantified(&mut self, quantifier: Quantifier) -> ExprKind {
        self.advance();
        let mut generators = vec![self.generator()];
        while self.eat(Token::Comma) {
            generators.push(self.generator());
        }
        self.expect_as_in(Token::Colon, "exists x in s: x > 1");
        ExprKind::Quantified(quantifier, generators, Box::new(self.expr()))
    }

    /// Does a set or a map start at the current `{`? The first of these that is inside, and not in
    /// inner brackets, tells: a comma, a colon (but that of a quantifier) or a `for` behind
    /// something is of a collection; a `;`, an assignment and a word that only starts statements
    /// are of a block. Where none is inside, it is a block if a statement may begin here.
    pub(super) fn opens_collection(&self) -> bool {
        use Token::*;
        if self.peek() != LBrace {
            return false;
        }
        let Some(close) = self.closes[self.at] else { return false };
        let (mut at, mut quantifiers) = (self.at + 1, 0);
        while at < close {
            match self.tokens[at].0 {
                LBrace | LParen | LBracket => at = self.closes[at].unwrap_or(close),
                Colon if quantifiers > 0 => quantifiers -= 1,
                For if at == self.at + 1 => return false,
                // Perhaps a loop, after a statement that ends with a block.
                For if self.tokens[at - 1].0 == RBrace => {}
                Comma if quantifiers > 0 => {}
                Comma | Colon | For => return true,
                Semi | Eq | PlusEq | MinusEq => return false,
                token if token.starts_statement() => return false,
                Ident if matches!(self.text_at(at), "exists" | "forall") => {
                    quantifiers += u32::from(matches!(self.tokens[at + 1].0, Ident | LParen));
                }
                _ => {}
            }
            at += 1;
        }
        self.block_at != Some(self.at)
    }

    fn text_at(&self, at: usize) -> &str {
        &self.source[self.tokens[at].1.range()]
    }
}

/// For each opening bracket the index of the one that closes it, of whatever kind.
pub(super) fn closes(tokens: &[(Token, Span)]) -> Vec<Option<usize>> {
    let (mut closes, mut open) = (vec![None; tokens.len()], Vec::new());
    for (at, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::LBrace | Token::LParen | Token::LBracket => open.push(at),
            Token::RBrace | Token::RParen | Token::RBracket => {
                if let Some(opening) = open.pop() {
                    closes[opening] = Some(at);
                }
            }
            _ => {}
        }
    }
    closes
}
