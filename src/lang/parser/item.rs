//! Declarations at the top level.

use super::Parser;
use super::statement::missing;
use crate::lang::ast::{Block, Expr, Item, Name, Objects, Param, ProcessKind, TypeExpr, TypeKind};
use crate::lang::diagnostic::{Diagnostic, nearest};
use crate::lang::objects::{self, Form, Number, ObjectKind};
use crate::lang::slips;
use crate::lang::token::Token;
use crate::model::Delivery;

/// What a function looks like.
const FUNCTION: &str = "fn f(x: int) -> int { x }";
/// What a procedure looks like.
const PROCEDURE: &str = "proc p(x: int) -> bool { cas(cell, x, 0) }";

impl Parser<'_> {
    /// Parses one declaration, or several if it declares a list. It always makes progress, even on
    /// nonsense.
    pub(super) fn item(&mut self, items: &mut Vec<Item>) {
        if let Some(kind) = self.kind_here() {
            return match kind {
                ObjectKind::Mailbox => self.mailboxes(items, Delivery::Ordered),
                ObjectKind::Cell => self.shared(items),
                kind => self.declared_list(items, |parser| parser.object(kind)),
            };
        }
        match self.peek() {
            Token::Const => self.constant(items),
            Token::Ident if self.at_demand() => self.demand(items),
            Token::Ident if self.at_fairness() => self.fairness(items),
            Token::Ident if self.peek_second() == Token::Object(ObjectKind::Mailbox) => {
                let delivery = match self.text() {
                    "p2p" => Delivery::P2p,
                    "bag" => Delivery::Bag,
                    _ => return self.refuse_item(),
                };
                self.advance();
                self.mailboxes(items, delivery);
            }
            Token::Ident if self.at_daemon() => self.daemon(items),
            Token::Ident if self.at_network() => self.network(items),
            Token::Ident if self.at_symmetric() => self.symmetric(items),
            Token::Enum => self.enumeration(items),
            Token::Fn => {
                let (name, params, result, body) = self.signature("function", FUNCTION);
                items.push(Item::Function { name, params, result, body });
            }
            Token::Proc => {
                let (name, params, result, body) = self.signature("procedure", PROCEDURE);
                items.push(Item::Procedure { name, params, result, body });
            }
            Token::Process => self.process(items, false),
            Token::Final => {
                self.advance();
                items.push(Item::Final { body: self.block() });
            }
            Token::Invariant => {
                self.advance();
                items.push(Item::Invariant { body: self.block() });
            }
            Token::Actor => self.actor(items),
            Token::Init => {
                self.advance();
                items.push(Item::Init { body: self.block() });
            }
            _ => self.refuse_item(),
        }
    }

    fn refuse_item(&mut self) {
        let span = self.span();
        let word = self.text().to_owned();
        const OTHERS: [&str; 9] =
            ["const", "enum", "fn", "proc", "process", "actor", "init", "final", "invariant"];
        let kinds = ObjectKind::ALL.iter().map(|kind| kind.about()).filter(|kind| !kind.is_soft);
        let hint = nearest(&word, kinds.map(|kind| kind.keyword).chain(OTHERS));
        let message = format!("expected a declaration, found {}", self.peek().describe());
        let slip = super::liveness::slip(&word)
            .or_else(|| slips::declaration(&word))
            .or_else(|| objects::keyword_slip(&word));
        let hint = slip.map(str::to_owned).or(hint).unwrap_or_else(|| {
            "a file declares objects, functions, procedures, processes and actors".to_owned()
        });
        self.report(Diagnostic::error(span, message).hint(hint));
        self.advance();
        while !self.at_item() && self.peek() != Token::End {
            self.advance();
        }
    }

    fn skip_item(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Token::End => return,
                Token::LBrace => depth += 1,
                Token::RBrace => depth = depth.saturating_sub(1),
                _ if depth == 0 && self.at_item() => return,
                _ => {}
            }
            let closed = depth == 0 && matches!(self.peek(), Token::RBrace | Token::Semi);
            self.advance();
            if closed {
                return;
            }
        }
    }

    pub(super) fn end_item(&mut self) {
        if !self.expect_semi(false) {
            if self.at_item() {
                return;
            }
            self.skip_item();
        }
    }

    fn constant(&mut self, items: &mut Vec<Item>) {
        self.advance();
        if self.at_foreign_declaration() {
            let message = "the type of a constant comes after its name, if at all";
            self.report(Diagnostic::error(self.span(), message).hint("such as `const N = 3;`"));
            self.advance();
        }
        let name = self.name("a name for the constant");
        let ty = self.eat(Token::Colon).then(|| self.type_expr());
        self.expect(Token::Eq);
        let value = self.expr();
        items.push(Item::Const { name, ty, value });
        self.end_item();
    }

    /// The kind of objects that is declared here.
    fn kind_here(&self) -> Option<ObjectKind> {
        match self.peek() {
            Token::Object(kind) => Some(kind),
            Token::Ident if self.peek_second() == Token::Ident => objects::declared_by(self.text()),
            _ => None,
        }
    }

    fn declared_list(&mut self, items: &mut Vec<Item>, one: impl Fn(&mut Self) -> Item) {
        self.advance();
        loop {
            let item = one(self);
            items.push(item);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.end_item();
    }

    fn size(&mut self) -> Option<Expr> {
        if self.peek() != Token::LBracket {
            return None;
        }
        let open = self.advance();
        let size = self.expr();
        self.expect_close(Token::RBracket, open);
        Some(size)
    }

    /// The list of mailboxes that begins here, which all deliver like this.
    fn mailboxes(&mut self, items: &mut Vec<Item>, delivery: Delivery) {
        self.declared_list(items, |parser| {
            let name = parser.name("a name for the mailbox");
            let size = parser.size();
            let message = parser.eat(Token::Colon).then(|| parser.type_expr());
            let faults = Box::new(parser.channel_faults());
            Item::Mailbox { name, size, message, delivery, faults }
        });
    }

    /// One object, or an array of them.
    fn object(&mut self, kind: ObjectKind) -> Item {
        let about = kind.about();
        let name = self.name(&format!("a name for the {}", about.short));
        let size = self.size();
        let number = about.number.as_ref().and_then(|number| self.number_of_object(number));
        Item::Objects(Objects { kind, name, size, number })
    }

    fn number_of_object(&mut self, number: &Number) -> Option<Expr> {
        match number.form {
            Form::Equals => {
                self.expect_as_in(Token::Eq, number.example);
                Some(self.expr())
            }
            Form::Parentheses => {
                let open = self.span();
                self.expect_as_in(Token::LParen, number.example);
                let value = self.expr();
                self.expect_close(Token::RParen, open);
                Some(value)
            }
            Form::After(word) => {
                let is_there = self.peek() == Token::Ident && self.text() == word;
                is_there.then(|| {
                    self.advance();
                    self.expr()
                })
            }
        }
    }

    fn shared(&mut self, items: &mut Vec<Item>) {
        self.advance();
        if self.at_foreign_declaration() {
            let message = "the type of a cell comes after its name";
            self.report(
                Diagnostic::error(self.span(), message).hint("such as `shared x: int = 0;`"),
            );
            let start = self.advance();
            let name = self.name("a name for the cell");
            let ty = TypeExpr { kind: TypeKind::Error, span: start };
            let initial = if self.eat(Token::Eq) { self.expr() } else { missing(start) };
            items.push(Item::Shared { name, ty, initial });
            return self.end_item();
        }
        let name = self.name("a name for the cell");
        self.expect_as_in(Token::Colon, "shared x: int = 0;");
        let ty = self.type_expr();
        self.expect_as_in(Token::Eq, "shared x: int = 0;");
        let initial = self.expr();
        items.push(Item::Shared { name, ty, initial });
        self.end_item();
    }

    fn enumeration(&mut self, items: &mut Vec<Item>) {
        self.advance();
        let name = self.name("a name for the enumeration");
        let open = self.span();
        let mut variants = Vec::new();
        if self.expect(Token::LBrace) {
            while self.peek() == Token::Ident {
                variants.push(self.name("a variant"));
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            if !self.expect_close(Token::RBrace, open) {
                self.skip_item();
            }
        }
        items.push(Item::Enum { name, variants });
    }

    /// Parameters between parentheses, as in `example`.
    pub(super) fn params(&mut self, example: &str) -> Vec<Param> {
        let open = self.span();
        let mut params = Vec::new();
        if !self.expect_as_in(Token::LParen, example) {
            return params;
        }
        while !matches!(self.peek(), Token::RParen | Token::End | Token::LBrace) {
            let name = self.name("a parameter");
            self.expect_as_in(Token::Colon, example);
            let ty: TypeExpr = self.type_expr();
            params.push(Param { name, ty });
            if !self.eat(Token::Comma) {
                break;
            }
        }
        if !self.expect_close(Token::RParen, open) {
            while !matches!(self.peek(), Token::LBrace | Token::RParen | Token::End)
                && !self.at_item()
            {
                self.advance();
            }
            self.eat(Token::RParen);
        }
        params
    }

    /// A function or a procedure, as `what` says; `example` shows its form.
    fn signature(
        &mut self,
        what: &str,
        example: &str,
    ) -> (Name, Vec<Param>, Option<TypeExpr>, Block) {
        self.advance();
        let name = self.name(&format!("a name for the {what}"));
        let params = self.params(example);
        if self.peek() == Token::Colon {
            self.expect_as_in(Token::Arrow, example);
        }
        let has_result = matches!(self.peek(), Token::Arrow | Token::Colon);
        let result = has_result.then(|| {
            self.advance();
            self.type_expr()
        });
        (name, params, result, self.block())
    }

    /// `daemon process …`
    fn daemon(&mut self, items: &mut Vec<Item>) {
        self.advance();
        if self.peek() == Token::Actor {
            let message = "an actor is no daemon";
            let hint = "an actor at rest is no deadlock: leave `daemon` out";
            self.report(Diagnostic::error(self.previous_span(), message).hint(hint));
            return self.actor(items);
        }
        self.process(items, true);
    }

    /// `symmetric process …`, `symmetric daemon process …`
    fn symmetric(&mut self, items: &mut Vec<Item>) {
        let word = self.advance();
        let before = items.len();
        match self.at_daemon() {
            true => self.daemon(items),
            false if self.peek() == Token::Process => self.process(items, false),
            false => return self.refuse_item(),
        }
        if let Some(Item::Process { symmetric, .. }) = items.get_mut(before) {
            *symmetric = Some(word);
        }
    }

    fn process(&mut self, items: &mut Vec<Item>, is_daemon: bool) {
        self.advance();
        let name = self.name("a name for the process");
        let kind = self.process_kind("process");
        let crashes = self.crashes();
        let body = self.block();
        let symmetric = None;
        items.push(Item::Process { name, kind, body, is_daemon, crashes, symmetric });
    }

    /// What stands behind the name of a process or an actor, as `word` says.
    pub(super) fn process_kind(&mut self, word: &str) -> ProcessKind {
        match self.peek() {
            Token::LParen => {
                ProcessKind::Template(self.params(&format!("{word} P(x: int) {{ … }}")))
            }
            Token::LBracket => self.family(word),
            _ => ProcessKind::Single,
        }
    }

    fn family(&mut self, word: &str) -> ProcessKind {
        let open = self.advance();
        if self.peek_second() == Token::RBracket {
            let several = if word == "process" { "processes" } else { "actors" };
            let message = format!("a family of {several} names its index");
            let hint = format!("such as `{word} P[i in 0..3]`");
            self.report(Diagnostic::error(self.span(), message).hint(hint));
            let span = self.advance();
            self.eat(Token::RBracket);
            let [lo, hi] = [0; 2].map(|_| Box::new(missing(span)));
            return ProcessKind::Family { index: Name { text: String::new(), span }, lo, hi };
        }
        let index = self.name("a name for the index");
        self.expect(Token::In);
        let lo = Box::new(self.expr());
        self.expect(Token::DotDot);
        let hi = Box::new(self.range_end(&lo, Self::expr));
        self.expect_close(Token::RBracket, open);
        ProcessKind::Family { index, lo, hi }
    }
}
