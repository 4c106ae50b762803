//! The words of the language.

use std::borrow::Cow;

use logos::{Lexer, Logos};

use super::objects::{self, ObjectKind};

/// A kind of token. Its text is found by its span.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0C\u{FEFF}]+")]
#[allow(missing_docs)]
pub(crate) enum Token {
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*", block_comment)]
    BlockComment,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Ident,
    #[regex(r"[0-9][0-9_]*")]
    Int,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Str,
    #[regex(r#""([^"\\\n]|\\[^\n])*"#)]
    OpenStr,
    /// A text in quotes of another kind.
    #[regex(r"'[^'\n]*'")]
    Letter,
    #[token("const")]
    Const,
    /// The keyword of a kind of objects. The lexer makes it of a name.
    Object(ObjectKind),
    #[token("enum")]
    Enum,
    #[token("fn")]
    Fn,
    #[token("proc")]
    Proc,
    #[token("process")]
    Process,
    #[token("final")]
    Final,
    #[token("invariant")]
    Invariant,
    #[token("actor")]
    Actor,
    #[token("init")]
    Init,
    #[token("let")]
    Let,
    #[token("var")]
    Var,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("while")]
    While,
    #[token("loop")]
    Loop,
    #[token("for")]
    For,
    #[token("in")]
    In,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("return")]
    Return,
    #[token("match")]
    Match,
    #[token("spawn")]
    Spawn,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token("::")]
    PathSep,
    #[token(":")]
    Colon,
    #[token("..")]
    DotDot,
    #[token(".")]
    Dot,
    #[token("->")]
    Arrow,
    #[token("=>")]
    FatArrow,
    #[token("==")]
    EqEq,
    #[token("=")]
    Eq,
    #[token("!=")]
    Ne,
    #[token("<=")]
    Le,
    #[token("<")]
    Lt,
    #[token(">=")]
    Ge,
    #[token(">")]
    Gt,
    #[token("+=")]
    PlusEq,
    #[token("-=")]
    MinusEq,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("!")]
    Bang,
    #[token("?")]
    Question,
    /// Characters that mean nothing, reported by the lexer.
    Strange,
    /// The end of the file.
    End,
}

/// Comments nest. False if the file ends inside.
fn block_comment(lexer: &mut Lexer<'_, Token>) -> bool {
    let rest = lexer.remainder().as_bytes();
    let (mut depth, mut at) = (1, 0);
    while at < rest.len() && depth > 0 {
        match &rest[at..rest.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    lexer.bump(at);
    depth == 0
}

impl Token {
    /// What this name is, if it is the keyword of a kind of objects and cannot be used for anything
    /// else.
    pub(crate) fn of_name(text: &str) -> Token {
        match objects::declared_by(text) {
            Some(kind) if !kind.about().is_soft => Token::Object(kind),
            _ => Token::Ident,
        }
    }

    /// Is it a keyword that is also the name of an operation, such as `barrier`?
    pub(crate) fn is_word(self) -> bool {
        match self {
            Token::Object(kind) => objects::words_called(kind.about().keyword).next().is_some(),
            _ => false,
        }
    }

    /// Its name in messages.
    pub(crate) fn describe(self) -> Cow<'static, str> {
        use Token::*;
        let fixed = match self {
            Object(kind) => return format!("`{}`", kind.about().keyword).into(),
            LineComment | BlockComment => "a comment",
            Ident => "a name",
            Int => "a number",
            Str | OpenStr => "a text",
            Const => "`const`",
            Enum => "`enum`",
            Fn => "`fn`",
            Proc => "`proc`",
            Process => "`process`",
            Final => "`final`",
            Invariant => "`invariant`",
            Actor => "`actor`",
            Init => "`init`",
            Let => "`let`",
            Var => "`var`",
            If => "`if`",
            Else => "`else`",
            While => "`while`",
            Loop => "`loop`",
            For => "`for`",
            In => "`in`",
            Break => "`break`",
            Continue => "`continue`",
            Return => "`return`",
            Match => "`match`",
            Spawn => "`spawn`",
            True => "`true`",
            False => "`false`",
            LParen => "`(`",
            RParen => "`)`",
            LBracket => "`[`",
            RBracket => "`]`",
            LBrace => "`{`",
            RBrace => "`}`",
            Comma => "`,`",
            Semi => "`;`",
            PathSep => "`::`",
            Colon => "`:`",
            DotDot => "`..`",
            Dot => "`.`",
            Arrow => "`->`",
            FatArrow => "`=>`",
            EqEq => "`==`",
            Eq => "`=`",
            Ne => "`!=`",
            Le => "`<=`",
            Lt => "`<`",
            Ge => "`>=`",
            Gt => "`>`",
            PlusEq => "`+=`",
            MinusEq => "`-=`",
            Plus => "`+`",
            Minus => "`-`",
            Star => "`*`",
            Slash => "`/`",
            Percent => "`%`",
            AndAnd => "`&&`",
            OrOr => "`||`",
            Bang => "`!`",
            Question => "`?`",
            Letter | Strange => "strange characters",
            End => "the end of the file",
        };
        fixed.into()
    }

    /// Does a declaration at the top level start with it?
    pub(crate) fn starts_item(self) -> bool {
        use Token::*;
        matches!(
            self,
            Const | Object(_) | Enum | Fn | Proc | Process | Final | Invariant | Actor | Init
        )
    }

    /// Can an operand start with it, and nothing else that follows a name?
    pub(crate) fn starts_operand(self) -> bool {
        use Token::*;
        matches!(self, Ident | Int | Str | True | False | LParen | Bang)
    }

    /// Can only a statement start with it?
    pub(crate) fn starts_statement(self) -> bool {
        use Token::*;
        matches!(self, Let | Var | While | Loop | For | Break | Continue | Return)
    }
}
