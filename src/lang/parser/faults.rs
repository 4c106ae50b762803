//! Parses what may go wrong: `lossy up to 2`, `crashes up to 1, restarts`, `recv(m) timeout { … }`.
//!
//! None of these words is reserved: each is looked for only where nothing else can stand.

use super::Parser;
use crate::lang::ast::{
    ChannelFaults, Crashes, Expr, ExprKind, Firing, Item, Limit, Partitions, StatementKind,
};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::token::Token;

impl Parser<'_> {
    fn stands(&self, word: &str) -> bool {
        self.peek() == Token::Ident && self.text() == word
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.stands(word);
        if found {
            self.advance();
        }
        found
    }

    /// The faults of a mailbox, after its name and type.
    pub(super) fn channel_faults(&mut self) -> ChannelFaults {
        let mut faults = ChannelFaults::default();
        loop {
            // Without a fault before it, a comma begins the next mailbox.
            let is_first = faults.lossy.is_none()
                && faults.duplicating.is_none()
                && faults.partitioned.is_none();
            let word = match self.peek() {
                Token::Comma if !is_first => self.text_of_second(),
                _ => self.text().to_owned(),
            };
            if !matches!(word.as_str(), "lossy" | "duplicating" | "partitioned") {
                return faults;
            }
            self.eat(Token::Comma);
            let span = self.advance();
            let (twice, kind) = match word.as_str() {
                "lossy" => (faults.lossy.replace(self.limit(span)).is_some(), "lossy"),
                "duplicating" => {
                    (faults.duplicating.replace(self.limit(span)).is_some(), "duplicating")
                }
                _ => (faults.partitioned.replace(self.partitions(span)).is_some(), "partitioned"),
            };
            if twice {
                self.report(Diagnostic::error(span, format!("`{kind}` is written twice")));
            }
        }
    }

    fn text_of_second(&self) -> String {
        let second = self.tokens.get(self.at + 1);
        second.map_or(String::new(), |token| self.source[token.1.range()].to_owned())
    }

    /// `up to 2`, if it is there.
    fn up_to(&mut self) -> Option<Expr> {
        if !self.stands("up") {
            return None;
        }
        self.advance();
        if !self.eat_word("to") {
            let expected = self.expected("`to`");
            self.report(expected.hint("such as `up to 2`"));
        }
        Some(self.sum())
    }

    /// `up to 2 in all`, if it is there, after the word at `span`.
    fn limit(&mut self, span: Span) -> Limit {
        let most = self.up_to();
        let mut in_all = false;
        if most.is_some() && self.peek() == Token::In {
            self.advance();
            in_all = self.eat_word("all");
            if !in_all {
                let expected = self.expected("`all`");
                self.report(expected.hint("`up to 2 in all` is for all processes together"));
            }
        }
        Limit { most, in_all, span: span.to(self.previous_span()) }
    }

    fn partitions(&mut self, span: Span) -> Partitions {
        let most = self.up_to();
        let heals = match self.peek() {
            Token::Comma if self.text_of_second() == "heals" => {
                self.advance();
                self.eat_word("heals")
            }
            _ => self.eat_word("heals"),
        };
        Partitions { most, heals, span: span.to(self.previous_span()) }
    }

    /// Does `network lossy …` start here?
    pub(super) fn at_network(&self) -> bool {
        self.stands("network") && matches!(&*self.text_of_second(), "lossy" | "duplicating")
    }

    /// `network lossy, duplicating;`
    pub(super) fn network(&mut self, items: &mut Vec<Item>) {
        let start = self.advance();
        let faults = self.channel_faults();
        let mut limits = faults.lossy.iter().chain(&faults.duplicating);
        if let Some(limit) = limits.find(|limit| limit.most.is_some()) {
            let message = "the network of the actors has no limits";
            let hint = "each message may be lost; mailboxes and processes can have a limit";
            self.report(Diagnostic::error(limit.span, message).hint(hint));
        }
        if let Some(partitions) = &faults.partitioned {
            let message = "the network of the actors cannot be cut";
            self.report(Diagnostic::error(partitions.span, message));
        }
        let [lossy, duplicating] =
            [faults.lossy, faults.duplicating].map(|limit| limit.map(|limit| limit.span));
        items.push(Item::Network { lossy, duplicating, span: start });
        self.end_item();
    }

    /// `crashes up to 1, restarts`, after the head of a process or an actor.
    pub(super) fn crashes(&mut self) -> Option<Crashes> {
        if !self.stands("crashes") {
            return None;
        }
        let span = self.advance();
        let limit = self.limit(span);
        if limit.most.is_none() {
            let message = "a process crashes up to some number of times";
            let hint = "such as `crashes up to 1`: without a bound, executions need not end";
            self.report(Diagnostic::error(span, message).hint(hint));
        }
        self.eat(Token::Comma);
        let restarts = self.eat_word("restarts");
        Some(Crashes { limit, restarts })
    }

    /// Does `durable var` start here?
    pub(super) fn at_durable(&self) -> bool {
        self.stands("durable") && self.peek_second() == Token::Var
    }

    pub(super) fn durable_binding(&mut self) -> StatementKind {
        self.advance();
        match self.binding() {
            StatementKind::Let { mutable, pattern, ty, value, .. } => {
                StatementKind::Let { mutable, durable: true, pattern, ty, value }
            }
            other => other,
        }
    }

    /// Does `timeout { … }` follow the call?
    pub(super) fn at_timeout(&self, call: &Expr) -> bool {
        matches!(call.kind, ExprKind::Call(..))
            && self.stands("timeout")
            && (self.peek_second() == Token::LBrace || self.text_of_second() == "when")
    }

    /// `timeout { … }`, or `timeout when stuck { … }`
    pub(super) fn timeout(&mut self, call: Expr) -> ExprKind {
        self.advance();
        let firing = if self.eat_word("when") {
            if !self.eat_word("stuck") {
                self.report_expected("`stuck`");
            }
            Firing::WhenStuck
        } else {
            Firing::Anytime
        };
        ExprKind::Timeout(Box::new(call), firing, self.block())
    }
}
