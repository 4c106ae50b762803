//! Parses blocks, statements and patterns.

use super::{Parser, Parts};
use crate::lang::ast::{
    BinaryOp, Block, Expr, ExprKind, Pattern, PatternKind, Statement, StatementKind,
};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::slips;
use crate::lang::token::Token;

impl Parser<'_> {
    /// `{ statements value }`
    pub(super) fn block(&mut self) -> Block {
        self.nested(Self::block_inner)
    }

    fn block_inner(&mut self) -> Block {
        let open = self.span();
        let mut block = Block { statements: Vec::new(), tail: None, span: open };
        if !self.opens_block() {
            return block;
        }
        while !matches!(self.peek(), Token::RBrace | Token::End) {
            // `process` and `actor` are types too, but no statement starts with a type.
            if self.at_item() {
                break;
            }
            let before = self.at;
            self.statement(&mut block);
            if self.at == before {
                self.report_expected("a statement");
                self.advance();
                self.skip_statement();
            }
        }
        self.expect_close(Token::RBrace, open);
        block.span = open.to(self.previous_span());
        block
    }

    /// Expects the `{` of a block. Reports and skips what other languages have there.
    fn opens_block(&mut self) -> bool {
        if self.eat(Token::LBrace) {
            return true;
        }
        let expected = self.expected(&Token::LBrace.describe());
        self.report(expected.hint("a block stands between `{` and `}`"));
        let foreign = matches!(self.text(), "then" | "do" | "begin") || self.peek() == Token::Colon;
        if foreign && self.peek_second() == Token::LBrace {
            self.advance();
        }
        foreign && self.eat(Token::LBrace)
    }

    pub(super) fn statement(&mut self, block: &mut Block) {
        if self.eat(Token::Semi) {
            return;
        }
        self.foreign_block();
        let start = self.span();
        let failed_before = self.diagnostics.count();
        self.block_at = Some(self.at);
        let kind = match self.peek() {
            Token::Let | Token::Var => self.binding(),
            Token::Ident if self.at_durable() => self.durable_binding(),
            Token::Ident if self.at_foreign_declaration() => self.foreign_declaration(),
            token if starts_block_like(token) && !self.opens_collection() => {
                let expr = self.primary();
                if self.peek() == Token::RBrace {
                    block.tail = Some(Box::new(expr));
                    return;
                }
                self.eat(Token::Semi);
                block
                    .statements
                    .push(Statement { span: expr.span, kind: StatementKind::Expr(expr) });
                return;
            }
            _ => self.expression_or_assignment(),
        };
        if let (StatementKind::Expr(_), Token::RBrace) = (&kind, self.peek()) {
            let StatementKind::Expr(expr) = kind else { unreachable!("matched above") };
            block.tail = Some(Box::new(expr));
            return;
        }
        let span = start.to(self.previous_span());
        block.statements.push(Statement { kind, span });
        if !self.expect_semi(true) && self.needs_skip(failed_before) {
            self.skip_statement();
        }
    }

    /// Reports a word of another language before a block, and skips the word.
    fn foreign_block(&mut self) {
        if self.peek() != Token::Ident || self.peek_second() != Token::LBrace {
            return;
        }
        if let Some(hint) = slips::block(self.text()) {
            let message = format!("there are no `{}` blocks", self.text());
            self.report(Diagnostic::error(self.span(), message).hint(hint));
            self.advance();
        }
    }

    /// Must the rest of a statement be skipped after a mistake? Not if only a `;` is missing and
    /// the next statement follows on a new line.
    fn needs_skip(&self, failed_before: usize) -> bool {
        let only_semi = self.diagnostics.count() == failed_before + 1;
        let can_start = matches!(self.peek(), Token::Ident) || self.peek().starts_statement();
        !(only_semi && can_start && self.at_new_line())
    }

    pub(super) fn binding(&mut self) -> StatementKind {
        let mutable = self.peek() == Token::Var;
        self.advance();
        let foreign = !mutable && self.text() == "mut" && self.peek_second() == Token::Ident;
        if foreign {
            let message = "`let` binds once";
            self.report(Diagnostic::error(self.span(), message).hint("write `var x = …;`"));
            self.advance();
        }
        let mutable = mutable || foreign;
        let pattern = self.pattern();
        let ty = self.eat(Token::Colon).then(|| self.type_expr());
        let value = if self.eat(Token::Eq) {
            self.expr_or_range()
        } else {
            let span = self.previous_span();
            let message = "a variable needs a first value";
            self.report(Diagnostic::error(span, message).hint("write `= value` after it"));
            missing(span)
        };
        StatementKind::Let { mutable, durable: false, pattern, ty, value }
    }

    /// Does a declaration in the style of C start here, such as `int x = 0;`?
    pub(super) fn at_foreign_declaration(&self) -> bool {
        let types = ["int", "bool", "long", "unsigned", "float", "double", "char", "auto"];
        types.contains(&self.text()) && self.peek_second() == Token::Ident
    }

    /// Reports a declaration in the style of C, and parses it as a `var`, so that its variable is
    /// declared.
    fn foreign_declaration(&mut self) -> StatementKind {
        let ty = self.text().to_owned();
        let message = "a declaration starts with `let` or `var`";
        let start = self.span();
        self.advance();
        let hint = format!("write `var {} = …;`", self.text());
        self.report(Diagnostic::error(start, message).label(format!("not with `{ty}`")).hint(hint));
        let pattern = self.pattern();
        let has_value = self.eat(Token::Eq);
        let value = if has_value { self.expr_or_range() } else { missing(self.previous_span()) };
        StatementKind::Let { mutable: true, durable: false, pattern, ty: None, value }
    }

    fn expression_or_assignment(&mut self) -> StatementKind {
        let place = self.expr();
        let op = match self.peek() {
            Token::Eq => None,
            Token::PlusEq => Some(BinaryOp::Add),
            Token::MinusEq => Some(BinaryOp::Sub),
            _ => return StatementKind::Expr(place),
        };
        self.advance();
        let value = self.expr();
        StatementKind::Assign { place, op, value }
    }

    /// Parses the body of a match arm, which may be an assignment.
    pub(super) fn arm_body(&mut self) -> Expr {
        let start = self.span();
        self.block_at = Some(self.at);
        match self.expression_or_assignment() {
            StatementKind::Expr(expr) => expr,
            kind => {
                let span = start.to(self.previous_span());
                let statements = vec![Statement { kind, span }];
                Expr { kind: ExprKind::Block(Block { statements, tail: None, span }), span }
            }
        }
    }

    pub(super) fn pattern(&mut self) -> Pattern {
        self.nested(Self::pattern_inner)
    }

    fn pattern_inner(&mut self) -> Pattern {
        let start = self.span();
        let kind = match self.peek() {
            Token::Ident => self.name_pattern(),
            Token::True | Token::False => {
                let value = self.peek() == Token::True;
                self.advance();
                PatternKind::Bool(value)
            }
            Token::Int => PatternKind::Int(self.integer(false)),
            Token::Minus if self.peek_second() == Token::Int => {
                self.advance();
                PatternKind::Int(self.integer(true))
            }
            Token::LParen => self.tuple_pattern(),
            _ if self.at_word() => {
                let message = format!("{} is a reserved word", self.peek().describe());
                self.report(Diagnostic::error(self.span(), message).label("choose another name"));
                self.advance();
                PatternKind::Error
            }
            _ => {
                self.report_expected("a name or a pattern");
                PatternKind::Error
            }
        };
        Pattern { kind, span: start.to(self.previous_span()) }
    }

    fn at_word(&self) -> bool {
        self.text().starts_with(|c: char| c.is_ascii_alphabetic())
    }

    fn name_pattern(&mut self) -> PatternKind {
        let name = self.name("a name");
        if self.eat(Token::PathSep) {
            return PatternKind::Variant(name, self.name("a variant"));
        }
        if self.peek() == Token::LParen {
            return match self.in_parentheses(Self::pattern) {
                Parts::One(part) => PatternKind::Message(name, vec![part]),
                Parts::Tuple(parts) => PatternKind::Message(name, parts),
            };
        }
        match name.text.as_str() {
            "_" => PatternKind::Wild,
            _ => PatternKind::Name(name.text),
        }
    }

    fn tuple_pattern(&mut self) -> PatternKind {
        match self.in_parentheses(Self::pattern) {
            Parts::One(part) => part.kind,
            Parts::Tuple(parts) => PatternKind::Tuple(parts),
        }
    }
}

/// The node for a missing expression, which has been reported.
pub(super) fn missing(span: Span) -> Expr {
    Expr { kind: ExprKind::Error, span }
}

fn starts_block_like(token: Token) -> bool {
    use Token::*;
    matches!(token, If | Match | While | Loop | For | LBrace)
}
