//! Loops over ranges and collections.

use super::Parser;
use super::statement::missing;
use crate::lang::ast::{ExprKind, Pattern, PatternKind};
use crate::lang::diagnostic::Diagnostic;
use crate::lang::token::Token;

/// The most tokens that are searched for the first `;` in the head of a loop in the style of C.
const MAX_HEADER: usize = 100;

impl Parser<'_> {
    pub(super) fn for_loop(&mut self) -> ExprKind {
        self.advance();
        if self.peek() == Token::LParen && self.has_semi_inside() {
            return self.foreign_for();
        }
        let open = self.span();
        let in_parentheses = self.peek() == Token::LParen
            && self.peek_second() == Token::Ident
            && self.tokens.get(self.at + 2).is_some_and(|token| token.0 == Token::In);
        if in_parentheses {
            let message = "a loop has no parentheses";
            self.report(Diagnostic::error(open, message).hint("write `for i in lo..hi { … }`"));
            self.advance();
        }
        let pattern = self.pattern();
        if self.peek() == Token::Eq {
            let message = "a loop runs over a range, a list, a set or a map";
            let hint = "write `for i in lo..hi { … }`; the last number is `hi - 1`";
            self.report(Diagnostic::error(self.span(), message).hint(hint));
            while !matches!(self.peek(), Token::LBrace | Token::Semi | Token::RBrace | Token::End) {
                self.advance();
            }
            return ExprKind::For(pattern, Box::new(missing(open)), self.block());
        }
        self.expect(Token::In);
        let over = Box::new(self.expr_or_range());
        if in_parentheses {
            self.eat(Token::RParen);
        }
        ExprKind::For(pattern, over, self.block())
    }

    /// Is there a `;` between the current parenthesis and its closing one, as in C's
    /// `for (i = 0; i < n; i++)`?
    fn has_semi_inside(&self) -> bool {
        let inside = self.tokens[self.at + 1..].iter().map(|token| token.0);
        inside
            .take(MAX_HEADER)
            .take_while(|token| !matches!(token, Token::RParen | Token::LBrace))
            .any(|token| token == Token::Semi)
    }

    /// Reports a loop in the style of C and skips its head. Its variable is declared in the body,
    /// to avoid further reports.
    fn foreign_for(&mut self) -> ExprKind {
        let open = self.advance();
        let mut variable = None;
        while !matches!(self.peek(), Token::RParen | Token::LBrace | Token::End) {
            if self.peek() == Token::Ident && self.peek_second() == Token::Eq && variable.is_none()
            {
                variable = Some(Pattern {
                    kind: PatternKind::Name(self.text().to_owned()),
                    span: self.span(),
                });
            }
            self.advance();
        }
        self.eat(Token::RParen);
        let span = open.to(self.previous_span());
        let message = "a loop counts through a range";
        self.report(
            Diagnostic::error(span, message).hint("write `for i in lo..hi { … }`, or use `while`"),
        );
        let pattern = variable.unwrap_or(Pattern { kind: PatternKind::Error, span });
        ExprKind::For(pattern, Box::new(missing(span)), self.block())
    }
}
