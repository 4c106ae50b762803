//! Parses demands on endless executions, and which processes, objects and handlers are fair.
//!
//! ```text
//! eventually "all are served" { assert(…); }
//! always eventually[i in 0..N] { assert(…); }
//! whenever[i in 0..N] { assert(…); } leadsto { assert(…); }
//! unfair process P { … }      strong mutex m;      strong actor A { … }      strong on Msg() { … }
//! ```
//!
//! None of these words is a keyword. Where no declaration can start with them, they are ordinary
//! names.

use super::Parser;
use super::statement::missing;
use crate::lang::ast::{Index, Item, Liveness, Name};
use crate::lang::token::Token;
use crate::model::Temporal;

impl Parser<'_> {
    /// Does a demand start here?
    pub(super) fn at_demand(&self) -> bool {
        let ahead = |n: usize| self.tokens.get(self.at + n).map_or(Token::End, |token| token.0);
        let opens = match ahead(1) {
            Token::LBrace | Token::Str => true,
            Token::LBracket => (ahead(2), ahead(3)) == (Token::Ident, Token::In),
            _ => false,
        };
        self.peek() == Token::Ident
            && match self.text() {
                "eventually" | "whenever" => opens,
                "always" => self.second_word() == "eventually",
                _ => false,
            }
    }

    /// The text of the token after the next one.
    fn second_word(&self) -> &str {
        self.tokens.get(self.at + 1).map_or("", |token| &self.source[token.1.range()])
    }

    /// Does a declaration start here that says how fair executions are to what it declares?
    pub(super) fn at_fairness(&self) -> bool {
        let declares = match self.peek_second() {
            Token::Process | Token::Actor | Token::Object(_) => true,
            Token::Ident => matches!(self.second_word(), "daemon" | "p2p" | "bag"),
            _ => false,
        };
        self.peek() == Token::Ident && declares && matches!(self.text(), "unfair" | "strong")
    }

    pub(super) fn demand(&mut self, items: &mut Vec<Item>) {
        let start = self.span();
        let pattern = match self.text() {
            "always" => {
                self.advance();
                Temporal::AlwaysEventually
            }
            "whenever" => Temporal::LeadsTo,
            _ => Temporal::Eventually,
        };
        self.advance();
        let index = (self.peek() == Token::LBracket).then(|| self.index_of_demand());
        let name = (self.peek() == Token::Str).then(|| {
            let text = self.text().trim_matches('"').to_owned();
            self.advance();
            text
        });
        let first = self.block();
        let (trigger, goal) = match pattern {
            Temporal::LeadsTo if self.eat_leads_to() => (Some(first), self.block()),
            Temporal::LeadsTo => return,
            _ => (None, first),
        };
        let span = start.to(self.previous_span());
        items.push(Item::Liveness(Box::new(Liveness {
            pattern,
            index,
            name,
            trigger,
            goal,
            span,
        })));
    }

    fn eat_leads_to(&mut self) -> bool {
        if self.peek() == Token::Ident && self.text() == "leadsto" {
            self.advance();
            return true;
        }
        let hint = "such as `whenever { assert(x == 1); } leadsto { assert(y == 1); }`";
        let expected = self.expected("`leadsto`");
        self.report(expected.hint(hint));
        false
    }

    fn index_of_demand(&mut self) -> Index {
        let open = self.advance();
        let name = self.name("a name for the index");
        self.expect(Token::In);
        let lo = self.expr();
        let hi = match self.expect(Token::DotDot) {
            true => self.range_end(&lo, Self::expr),
            false => missing(open),
        };
        self.expect_close(Token::RBracket, open);
        Index { name, lo, hi }
    }

    /// `unfair process P { … }`, `strong mutex m;`, ..
    pub(super) fn fairness(&mut self, items: &mut Vec<Item>) {
        let is_strong = self.text() == "strong";
        let span = self.advance();
        let before = items.len();
        self.item(items);
        let declared = items[before..].iter().filter_map(Item::declared);
        let names: Vec<Name> = declared.cloned().collect();
        items.push(Item::Fairness { is_strong, names, span });
    }

    /// Eats the word `strong` before a handler.
    pub(super) fn eat_strong(&mut self) -> bool {
        let is_there = self.peek() == Token::Ident
            && self.text() == "strong"
            && matches!(self.second_word(), "on" | "internal");
        if is_there {
            self.advance();
        }
        is_there
    }
}

/// Advice for a word that is known from elsewhere.
pub(super) fn slip(word: &str) -> Option<&'static str> {
    match word {
        "eventually" | "always" | "whenever" | "leadsto" => Some(
            "a demand is written `eventually { assert(…); }`, `always eventually { assert(…); }` or `whenever { \
             assert(…); } leadsto { assert(…); }`",
        ),
        "fair" | "unfair" | "strong" | "weak" => Some(
            "processes are weakly fair; others are declared `unfair process P { … }` or `strong process P { … }`",
        ),
        _ => None,
    }
}
