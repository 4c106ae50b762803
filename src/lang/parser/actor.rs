//! Parses actors: variables, then handlers.
//!
//! `on`, `internal` and `when` have a meaning only here, so they are not keywords: elsewhere they
//! are ordinary names.

use super::Parser;
use crate::lang::ast::{ActorBody, Block, Expr, Handler, Item};
use crate::lang::diagnostic::{Diagnostic, nearest};
use crate::lang::token::Token;

/// The words that start a member of an actor.
const MEMBERS: [&str; 4] = ["on", "internal", "let", "var"];

impl Parser<'_> {
    pub(super) fn actor(&mut self, items: &mut Vec<Item>) {
        let start = self.advance();
        let name = self.name("a name for the actor");
        let kind = self.process_kind("actor");
        let header = start.to(self.previous_span());
        let crashes = self.crashes();
        let (variables, handlers) = self.members();
        let body = ActorBody { variables: variables.statements, handlers, header, crashes };
        items.push(Item::Actor { name, kind, body });
    }

    fn members(&mut self) -> (Block, Vec<Handler>) {
        let open = self.span();
        let mut variables = Block { statements: Vec::new(), tail: None, span: open };
        let mut handlers = Vec::new();
        if !self.expect(Token::LBrace) {
            return (variables, handlers);
        }
        while !matches!(self.peek(), Token::RBrace | Token::End) && !self.at_item() {
            let before = self.at;
            self.member(&mut variables, &mut handlers);
            if self.at == before {
                self.advance();
            }
        }
        self.expect_close(Token::RBrace, open);
        (variables, handlers)
    }

    fn member(&mut self, variables: &mut Block, handlers: &mut Vec<Handler>) {
        let is_strong = self.eat_strong();
        match (self.peek(), self.text()) {
            (Token::Semi, _) => {
                self.advance();
            }
            (Token::Ident, "on") => handlers.push(self.message_handler(is_strong)),
            (Token::Ident, "internal") => handlers.push(self.internal_handler(is_strong)),
            (token, _)
                if is_binding(token) || self.at_durable() || self.at_foreign_declaration() =>
            {
                if !handlers.is_empty() {
                    let message = "the variables of an actor come before its handlers";
                    self.report(Diagnostic::error(self.span(), message));
                }
                self.statement(variables);
            }
            _ => self.refuse_member(),
        }
    }

    fn refuse_member(&mut self) {
        let near = (self.peek() == Token::Ident).then(|| nearest(self.text(), MEMBERS)).flatten();
        let hint = near.unwrap_or_else(|| {
            "an actor has variables, and handlers: `on Msg(x: int) { … }`, `internal Step { … }`".to_owned()
        });
        let expected = self.expected("a variable or a handler");
        self.report(expected.hint(hint));
        self.advance();
        self.skip_member();
    }

    /// Skips to a place where a variable or a handler may begin, or the body may end.
    fn skip_member(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Token::End => return,
                Token::RBrace if depth == 0 => return,
                Token::LBrace => depth += 1,
                Token::RBrace => depth -= 1,
                Token::Semi if depth == 0 => {
                    self.advance();
                    return;
                }
                _ if depth == 0 && (self.at_member() || self.at_item()) => return,
                _ => {}
            }
            self.advance();
        }
    }

    fn at_member(&self) -> bool {
        let handles = matches!(self.text(), "on" | "internal" | "strong")
            && self.peek_second() == Token::Ident;
        is_binding(self.peek()) || self.at_durable() || handles
    }

    fn message_handler(&mut self, is_strong: bool) -> Handler {
        let start = self.advance();
        let name = self.name("the name of a message");
        let params = self.params(&format!("on {}(x: int) {{ … }}", name.text));
        let header = start.to(self.previous_span());
        let guard = self.guard();
        Handler { name, params: Some(params), guard, body: self.block(), is_strong, header }
    }

    fn internal_handler(&mut self, is_strong: bool) -> Handler {
        let start = self.advance();
        let name = self.name("a name for the handler");
        if self.peek() == Token::LParen {
            let open = self.span();
            if !self.params("internal Step { … }").is_empty() {
                let message = "an internal handler has no parameters";
                let hint = "it is not called: it runs when the actor decides to";
                let span = open.to(self.previous_span());
                self.report(Diagnostic::error(span, message).hint(hint));
            }
        }
        let header = start.to(self.previous_span());
        let guard = self.guard();
        Handler { name, params: None, guard, body: self.block(), is_strong, header }
    }

    /// `when condition`
    fn guard(&mut self) -> Option<Expr> {
        if self.peek() == Token::If {
            let message = "the condition of a handler is written with `when`";
            self.report(
                Diagnostic::error(self.span(), message).hint("write `when` instead of `if`"),
            );
        } else if self.peek() != Token::Ident || self.text() != "when" {
            return None;
        }
        self.advance();
        Some(self.compared())
    }
}

fn is_binding(token: Token) -> bool {
    matches!(token, Token::Let | Token::Var)
}
