//! How far lines are indented.

use crate::lang::token::Token;

/// A bracket that is open.
struct Open {
    /// The indentation of the line with the closing bracket.
    outside: usize,
    /// Is it the brace of a body? Inside, a line may go on with a statement.
    is_body: bool,
}

/// The indentation while a text is passed word by word.
#[derive(Default)]
pub(super) struct Indentation {
    open: Vec<Open>,
    /// The indentation of the current line.
    line: usize,
    /// The same, without the step for a line that goes on with a statement.
    statement: usize,
    /// Does the current line begin with the word of a statement that has a body?
    begins_block: bool,
    at_start: bool,
}

impl Indentation {
    /// Begins a line with this number of closing brackets, and perhaps something else. If it goes
    /// on with a statement, `continued` is the token before it. Returns the steps of indentation.
    pub(super) fn begin_line(&mut self, closing: usize, continued: Option<Token>) -> usize {
        let closed = self.open.len().checked_sub(closing).and_then(|at| self.open.get(at));
        let inner = self.open.last();
        self.statement = match (closed, inner) {
            (Some(closed), _) => closed.outside,
            (None, Some(inner)) => inner.outside + 1,
            (None, None) => 0,
        };
        let is_further = match inner {
            None => continued.is_some(),
            // Between commas there are arms and variants, not parts of statements.
            Some(inner) => inner.is_body && continued.is_some_and(|token| token != Token::Comma),
        };
        self.line = self.statement + usize::from(closing == 0 && is_further);
        self.at_start = true;
        self.line
    }

    /// Passes a word of the current line.
    pub(super) fn pass(&mut self, token: Token, is_body: bool) {
        use Token::*;
        if self.at_start {
            self.begins_block = matches!(token, If | Match | While | Loop | For | LBrace);
            self.at_start = false;
        }
        match token {
            LParen | LBracket | LBrace => {
                // The condition of a body may have several lines: the body belongs to the first.
                let outside = match is_body && !self.begins_block {
                    true => self.statement,
                    false => self.line,
                };
                self.open.push(Open { outside, is_body });
            }
            RParen | RBracket | RBrace => drop(self.open.pop()),
            _ => {}
        }
    }
}
