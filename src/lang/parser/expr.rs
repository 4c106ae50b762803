//! Expressions.

use super::statement::missing;
use super::{CALLED, MAX_CHAIN, Parser, Parts};
use crate::lang::ast::{Arg, Arm, BinaryOp, Expr, ExprKind, Name, UnaryOp};
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::token::Token;

/// The binary operator of a token, and its precedence.
fn binary_op(token: Token) -> Option<(BinaryOp, u8)> {
    use BinaryOp::*;
    Some(match token {
        Token::OrOr => (Or, 1),
        Token::AndAnd => (And, 2),
        Token::EqEq => (Eq, 3),
        Token::Ne => (Ne, 3),
        Token::Lt => (Lt, 3),
        Token::Le => (Le, 3),
        Token::Gt => (Gt, 3),
        Token::Ge => (Ge, 3),
        Token::Plus => (Add, 4),
        Token::Minus => (Sub, 4),
        Token::Star => (Mul, 5),
        Token::Slash => (Div, 5),
        Token::Percent => (Rem, 5),
        Token::In => (In, COMPARISON),
        _ => return None,
    })
}

/// The operator that this word is between two operands, and its precedence.
fn word_op(word: &str) -> Option<(BinaryOp, u8)> {
    Some(match word {
        "subset" => (BinaryOp::Subset, COMPARISON),
        "union" => (BinaryOp::Union, 4),
        "minus" => (BinaryOp::Minus, 4),
        "intersect" => (BinaryOp::Intersect, 5),
        _ => return None,
    })
}

/// Can an operand of `not` start with this token? (Not a parenthesis: that is a call of `not`.)
fn starts_value(token: Token) -> bool {
    matches!(token, Token::Ident | Token::True | Token::False | Token::Bang)
}

/// The precedence of comparisons.
const COMPARISON: u8 = 3;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Expr {
        let expr = self.nested(|parser| parser.binary(0));
        if self.peek() == Token::Question { self.foreign_choice(expr) } else { expr }
    }

    /// Reports and skips C's `c ? a : b`.
    fn foreign_choice(&mut self, condition: Expr) -> Expr {
        let sign = Diagnostic::error(self.span(), "there is no operator `?`");
        self.report(sign.hint("write `if c { a } else { b }`, which has a value"));
        self.advance();
        let mut end = self.expr().span;
        if self.eat(Token::Colon) {
            end = self.expr().span;
        }
        missing(condition.span.to(end))
    }

    /// Parses an expression where an assignment is not possible. A `=` after it is reported: it is
    /// meant as a comparison.
    pub(super) fn compared(&mut self) -> Expr {
        let expr = self.expr();
        if self.peek() != Token::Eq {
            return expr;
        }
        let sign = Diagnostic::error(self.span(), "`=` assigns, which cannot be done here");
        self.report(sign.hint("a comparison is written `==`"));
        self.advance();
        missing(expr.span.to(self.expr().span))
    }

    /// Parses an expression without comparisons and logic at its top.
    pub(super) fn sum(&mut self) -> Expr {
        self.nested(|parser| parser.binary(COMPARISON))
    }

    fn binary(&mut self, above: u8) -> Expr {
        let mut left = self.unary();
        let mut length = 0;
        while let Some((op, strength)) = self.binary_op().filter(|&(_, s)| s > above) {
            length += 1;
            if length > MAX_CHAIN {
                self.give_up("this expression is too long");
                break;
            }
            let negated = self.peek() == Token::Ident && op == BinaryOp::In;
            let sign = if negated { self.advance().to(self.advance()) } else { self.advance() };
            if let Some(twice) = self.doubled_sign(op, sign) {
                left = missing(left.span.to(twice));
                continue;
            }
            self.foreign_sign(op, sign);
            let mut right = self.binary(strength);
            if op == BinaryOp::In && self.eat(Token::DotDot) {
                right = self.range_from(right, |parser| parser.binary(strength));
            }
            if strength == COMPARISON && self.binary_op().is_some_and(|(_, s)| s == COMPARISON) {
                let message = "comparisons cannot be chained";
                let again = Diagnostic::error(self.span(), message);
                self.report(again.also(sign, "after this one").hint("join two of them with `&&`"));
                left = Expr { kind: ExprKind::Error, span: left.span.to(right.span) };
                continue;
            }
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
            if negated {
                left = Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(left)), span };
            }
        }
        left
    }

    /// The operator at the current token. Words of other languages (`and`, `or`, `mod`, `div`) are
    /// reported and treated as operators.
    fn binary_op(&mut self) -> Option<(BinaryOp, u8)> {
        let found = binary_op(self.peek());
        if found.is_some() || self.peek() != Token::Ident {
            return found;
        }
        if self.text() == "not" && self.peek_second() == Token::In {
            return binary_op(Token::In);
        }
        let found = word_op(self.text()).filter(|_| self.continues_with_operand());
        if found.is_some() || !self.ends_operand() {
            return found;
        }
        let (word, meant) = match self.text() {
            "and" => ("and", Token::AndAnd),
            "or" => ("or", Token::OrOr),
            "mod" => ("mod", Token::Percent),
            "div" => ("div", Token::Slash),
            _ => return None,
        };
        let message = format!("there is no operator `{word}`");
        let hint = format!("write {}", meant.describe());
        self.report(Diagnostic::error(self.span(), message).hint(hint));
        binary_op(meant)
    }

    /// Does an operand follow the current word? On a new line the word may also begin a statement,
    /// after a `;` that is missing.
    fn continues_with_operand(&self) -> bool {
        use Token::*;
        match self.peek_second() {
            LParen | LBracket | Minus => !self.at_new_line(),
            Ident | Int | Str | True | False | LBrace | Bang | If | Match => true,
            _ => false,
        }
    }

    /// Is the previous token on the same line, and can it end an operand?
    fn ends_operand(&self) -> bool {
        let before = self.tokens[self.at.saturating_sub(1)].0;
        let ends = matches!(
            before,
            Token::Ident
                | Token::Int
                | Token::True
                | Token::False
                | Token::RParen
                | Token::RBracket
        );
        ends && !self.at_new_line()
    }

    /// Reports an operator of another language whose first sign is `op`, and skips the rest of it.
    fn foreign_sign(&mut self, op: BinaryOp, sign: Span) {
        let touches = sign.end == self.span().start;
        let hint = match (op, self.peek()) {
            (BinaryOp::Lt, Token::Gt) => "unequal is `!=`",
            (BinaryOp::Eq | BinaryOp::Ne, Token::Eq) => "equal is `==`, unequal is `!=`",
            (BinaryOp::Mul, Token::Star) => "there are no powers: multiply",
            (BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem, Token::Eq) => {
                "write it out: `x = x * 2;`"
            }
            (BinaryOp::Lt, Token::Lt) | (BinaryOp::Gt, Token::Gt) => {
                "there are no operations on bits"
            }
            _ => return,
        };
        if touches {
            let span = sign.to(self.span());
            let text = &self.source[span.range()];
            let message = format!("there is no operator `{text}`");
            self.report(Diagnostic::error(span, message).hint(hint));
            self.advance();
        }
    }

    /// Reports C's `x++` and `x--`, and returns the span of the second sign.
    fn doubled_sign(&mut self, op: BinaryOp, sign: Span) -> Option<Span> {
        let same = binary_op(self.peek()).is_some_and(|(again, _)| again == op);
        let ends = matches!(self.peek_second(), Token::Semi | Token::RParen | Token::RBrace);
        if !matches!(op, BinaryOp::Add | BinaryOp::Sub) || !same || !ends {
            return None;
        }
        let sign = sign.to(self.span());
        let text = op.text();
        let message = format!("there is no operator `{text}{text}`");
        self.report(Diagnostic::error(sign, message).hint(format!("write `{text}= 1`")));
        Some(self.advance())
    }

    fn unary(&mut self) -> Expr {
        let start = self.span();
        let op = match self.peek() {
            Token::Minus if self.peek_second() == Token::Int => {
                self.advance();
                let kind = ExprKind::Int(self.integer(true));
                return Expr { kind, span: start.to(self.previous_span()) };
            }
            Token::Minus => UnaryOp::Neg,
            Token::Bang => UnaryOp::Not,
            Token::Plus => return self.foreign_plus(),
            Token::Ident if self.text() == "not" && starts_value(self.peek_second()) => {
                let message = "there is no operator `not`";
                self.report(Diagnostic::error(start, message).hint("logical not is `!`"));
                UnaryOp::Not
            }
            _ => return self.postfix(),
        };
        self.advance();
        let operand = self.nested(Self::unary);
        let span = start.to(operand.span);
        Expr { kind: ExprKind::Unary(op, Box::new(operand)), span }
    }

    /// Reports `+x` and `++x`, and parses them as `x`.
    fn foreign_plus(&mut self) -> Expr {
        let start = self.advance();
        let doubled = self.peek() == Token::Plus;
        let span = if doubled { start.to(self.advance()) } else { start };
        let (message, hint) = match doubled {
            true => ("there is no operator `++`", "write `x += 1;`"),
            false => ("a number has no sign `+`", "leave it out"),
        };
        self.report(Diagnostic::error(span, message).hint(hint));
        self.nested(Self::unary)
    }

    fn postfix(&mut self) -> Expr {
        let start = self.span();
        let mut expr = self.primary();
        let mut length = 0;
        loop {
            let kind = match self.peek() {
                Token::LBracket => {
                    let open = self.advance();
                    let index = self.expr();
                    self.expect_close(Token::RBracket, open);
                    ExprKind::Index(Box::new(expr), Box::new(index))
                }
                Token::Dot => {
                    self.advance();
                    let field = self.field();
                    if self.peek() == Token::LParen && !self.at_new_line() {
                        self.foreign_method(&field);
                        ExprKind::Error
                    } else {
                        ExprKind::Field(Box::new(expr), field)
                    }
                }
                Token::Ident if self.at_timeout(&expr) => self.timeout(expr),
                _ => return expr,
            };
            expr = Expr { span: start.to(self.previous_span()), kind };
            length += 1;
            if length > MAX_CHAIN {
                self.give_up("this expression is too long");
                return expr;
            }
        }
    }

    /// Reports and skips a method call, `m.send(1)`.
    fn foreign_method(&mut self, name: &Name) {
        let message = "there are no methods";
        let hint = format!("write the object as the first argument: `{}(x, …)`", name.text);
        self.report(Diagnostic::error(name.span, message).hint(hint));
        self.args();
    }

    fn field(&mut self) -> Name {
        if self.peek() == Token::Int {
            let text = self.text().to_owned();
            return Name { text, span: self.advance() };
        }
        self.name("a field")
    }

    /// Parses the integer at the current token; negated if `negative`, for an integer after a minus
    /// sign.
    pub(super) fn integer(&mut self, negative: bool) -> i64 {
        let sign = if negative { "-" } else { "" };
        let digits = format!("{sign}{}", self.text().replace('_', ""));
        let value = digits.parse();
        if value.is_err() {
            let message = "this number does not fit into 64 bits";
            self.report(Diagnostic::error(self.span(), message));
        }
        self.advance();
        value.unwrap_or(0)
    }

    /// Parses an integer. Fractions, and numbers with letters, are reported.
    fn number(&mut self) -> ExprKind {
        let start = self.span();
        let value = self.integer(false);
        let touches = self.previous_span().end == self.span().start;
        let (message, rest) = match self.peek() {
            Token::Ident if touches => ("numbers are decimal and have no units", 1),
            Token::Dot if touches && self.peek_second() == Token::Int => {
                ("there are no fractions", 2)
            }
            _ => return ExprKind::Int(value),
        };
        let end = self.tokens[self.at + rest - 1].1;
        self.report(Diagnostic::error(start.to(end), message));
        (0..rest).for_each(|_| {
            self.advance();
        });
        ExprKind::Error
    }

    pub(super) fn primary(&mut self) -> Expr {
        let start = self.span();
        let kind = match self.peek() {
            Token::Int => self.number(),
            Token::True | Token::False => {
                let value = self.peek() == Token::True;
                self.advance();
                ExprKind::Bool(value)
            }
            Token::Str => self.string(),
            Token::Ident => match self.quantifier() {
                Some(quantifier) => self.quantified(quantifier),
                None => self.name_or_call(),
            },
            token if token.is_word() && self.peek_second() == Token::LParen => self.name_or_call(),
            Token::Spawn => {
                self.advance();
                let name = self.name("the name of a template");
                match self.args() {
                    Some(args) => ExprKind::Spawn(name, args),
                    None => ExprKind::Error,
                }
            }
            Token::LParen => self.parenthesised(),
            Token::LBracket => self.list(),
            Token::LBrace => self.braces(),
            Token::If => self.conditional(),
            Token::Match => self.match_expr(),
            Token::While => {
                self.advance();
                let condition = Box::new(self.compared());
                ExprKind::While(condition, self.block())
            }
            Token::Loop => {
                self.advance();
                ExprKind::Loop(self.block())
            }
            Token::For => self.for_loop(),
            Token::Break => {
                self.advance();
                ExprKind::Break
            }
            Token::Continue => {
                self.advance();
                ExprKind::Continue
            }
            Token::Return => {
                self.advance();
                let ends =
                    matches!(self.peek(), Token::Semi | Token::RBrace | Token::Comma | Token::End);
                ExprKind::Return((!ends).then(|| Box::new(self.expr())))
            }
            _ => {
                self.report_expected("an expression");
                return Expr { kind: ExprKind::Error, span: start };
            }
        };
        Expr { kind, span: start.to(self.previous_span()) }
    }

    fn string(&mut self) -> ExprKind {
        let quoted = self.text().to_owned();
        let whole = self.advance();
        let inner = quoted.strip_prefix('"').unwrap_or(&quoted);
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        let mut text = String::new();
        let mut unknown = None;
        let mut chars = inner.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    other => {
                        unknown = unknown.or(Some((at, other)));
                    }
                },
                c => text.push(c),
            }
        }
        if let Some((at, c)) = unknown {
            let c = c.unwrap_or_default();
            let start = whole.start as usize + 1 + at;
            let escape = Span::new(start, start + 1 + c.len_utf8());
            let message = format!("there is no escape `\\{c}`");
            let hint = r#"the escapes are `\n`, `\t`, `\"` and `\\`"#;
            self.report_at(whole, Diagnostic::error(escape, message).hint(hint));
        }
        ExprKind::Text(text)
    }

    fn name_or_call(&mut self) -> ExprKind {
        let name = self.name(CALLED);
        match self.peek() {
            Token::LParen => match self.args() {
                Some(args) => ExprKind::Call(name, args),
                None => ExprKind::Error,
            },
            Token::PathSep => {
                self.advance();
                ExprKind::Variant(name, self.name("a variant"))
            }
            _ => ExprKind::Name(name.text),
        }
    }

    /// Parses the arguments of a call; `None` if they are malformed.
    fn args(&mut self) -> Option<Vec<Arg>> {
        let open = self.span();
        let mut args = Vec::new();
        if !self.expect(Token::LParen) {
            return None;
        }
        while !matches!(self.peek(), Token::RParen | Token::End) {
            let labelled = self.peek() == Token::Ident && self.peek_second() == Token::Colon;
            let label = labelled.then(|| {
                let label = self.name("a label");
                self.advance();
                label
            });
            args.push(Arg { label, value: self.expr_or_range() });
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect_close(Token::RParen, open).then_some(args)
    }

    fn parenthesised(&mut self) -> ExprKind {
        match self.in_parentheses(Self::compared) {
            Parts::One(part) => part.kind,
            Parts::Tuple(parts) => ExprKind::Tuple(parts),
        }
    }

    fn conditional(&mut self) -> ExprKind {
        self.advance();
        let condition = Box::new(self.compared());
        let then = self.block();
        let joined = self.at_foreign_else();
        if !joined && !self.eat(Token::Else) {
            return ExprKind::If(condition, then, None);
        }
        let start = self.span();
        let kind = if joined || self.peek() == Token::If {
            self.nested(Self::conditional)
        } else {
            ExprKind::Block(self.block())
        };
        let otherwise = Expr { kind, span: start.to(self.previous_span()) };
        ExprKind::If(condition, then, Some(Box::new(otherwise)))
    }

    /// Reports `elif` and similar words, which are parsed as `else if`.
    fn at_foreign_else(&mut self) -> bool {
        let found = matches!(self.text(), "elif" | "elsif" | "elseif" | "elif:");
        if found {
            let message = format!("there is no `{}`", self.text());
            self.report(Diagnostic::error(self.span(), message).hint("write `else if`"));
        }
        found
    }

    fn match_expr(&mut self) -> ExprKind {
        self.advance();
        let value = Box::new(self.expr());
        let open = self.span();
        let mut arms = Vec::new();
        if !self.expect(Token::LBrace) {
            return ExprKind::Match(value, arms);
        }
        while !matches!(self.peek(), Token::RBrace | Token::End) && !self.at_item() {
            let before = self.at;
            let pattern = self.pattern();
            let guard = self.eat(Token::If).then(|| self.expr());
            let found = self.expect(Token::FatArrow);
            let body = if found {
                self.arm_body()
            } else {
                Expr { kind: ExprKind::Error, span: self.span() }
            };
            let block_like = body.kind.is_block_like();
            arms.push(Arm { pattern, guard, body });
            if !self.eat(Token::Comma) && !block_like && self.peek() != Token::RBrace {
                self.report_expected("`,`");
                self.skip_arm();
            }
            if self.at == before {
                self.advance();
            }
        }
        self.expect_close(Token::RBrace, open);
        ExprKind::Match(value, arms)
    }

    fn skip_arm(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Token::End => return,
                Token::RBrace if depth == 0 => return,
                Token::Comma if depth == 0 => {
                    self.advance();
                    return;
                }
                Token::LBrace | Token::LParen | Token::LBracket => depth += 1,
                Token::RBrace | Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.advance();
        }
    }
}
