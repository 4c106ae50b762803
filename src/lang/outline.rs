//! The control flow of processes and actors as written in the source ([`crate::model::flow`]).
//!
//! The structure and the text come from the syntax tree, the meaning from the checked program. A
//! step is shared if the checker has found an operation within its span. An `if` or `match` within
//! an expression stays part of its statement. Texts are joined from tokens, so they contain no
//! comments and line breaks.

use rustc_hash::FxHashMap;

use super::ast::{self, Block, Expr, ExprKind, File, Handler, Item, Statement, StatementKind};
use super::check::{Checked, Instantiation};
use super::code::Visible;
use super::diagnostic::{Lines, Span};
use super::hir::{self, Operation, Place};
use super::objects::Takes;
use super::token::Token;
use super::walk::visit;
use crate::model::flow::{Act, Arm, Flow, Step, Turn};
use crate::model::printable;

/// The control flow of all processes, procedures, actors and `init` blocks, in order of
/// declaration.
pub(crate) fn outline(
    file: &File,
    checked: &Checked,
    source: &str,
    tokens: &[(Token, Span)],
) -> Vec<Flow> {
    let lines = Lines::new(source);
    let kinds = checked.processes.iter().map(|known| (known.name.as_str(), known.kind)).collect();
    let mut outliner = Outliner { source, lines, tokens, kinds, acts: acts(checked), next: 0 };
    file.items.iter().filter_map(|item| outliner.item(item)).collect()
}

struct Outliner<'a> {
    source: &'a str,
    lines: Lines<'a>,
    /// All tokens of the file, in order.
    tokens: &'a [(Token, Span)],
    /// How each process and actor comes into being.
    kinds: FxHashMap<&'a str, Instantiation>,
    /// The spans of operations, with their kinds, sorted.
    acts: Vec<(Span, Act)>,
    /// The number of the next step.
    next: usize,
}

impl Outliner<'_> {
    fn item(&mut self, item: &Item) -> Option<Flow> {
        match item {
            Item::Process { name, body, .. } => {
                let kind = *self.kinds.get(name.text.as_str())?;
                let title = Span { end: body.span.start, ..name.span };
                let steps = self.block(body);
                Some(self.flow("process", title, kind, steps))
            }
            Item::Procedure { name, body, .. } => {
                let title = Span { end: body.span.start, ..name.span };
                let steps = self.block(body);
                Some(self.flow("procedure", title, Instantiation::Template, steps))
            }
            Item::Actor { name, body, .. } => {
                let kind = *self.kinds.get(name.text.as_str())?;
                let title = Span { end: body.header.end, ..name.span };
                let mut steps = self.statements(&body.variables);
                steps.push(self.rest(body.header, &body.handlers));
                Some(self.flow("actor", title, kind, steps))
            }
            Item::Init { body } => {
                let init = Flow {
                    noun: "init",
                    title: "init".into(),
                    instances: Some(1),
                    line: self.line(body.span),
                    steps: self.block(body),
                };
                Some(init)
            }
            _ => None,
        }
    }

    fn flow(&self, noun: &'static str, title: Span, kind: Instantiation, steps: Vec<Step>) -> Flow {
        let instances = (kind != Instantiation::Template).then(|| kind.instances());
        Flow { noun, title: self.text(title), instances, line: self.line(title), steps }
    }

    /// The step of an actor at rest, with an arm for each handler.
    fn rest(&mut self, header: Span, handlers: &[Handler]) -> Step {
        let rest = self.step(Span { end: header.start, ..header }, Turn::Next);
        let arms = handlers.iter().map(|handler| self.handler(handler)).collect();
        Step { line: self.line(header), text: "at rest".into(), turn: Turn::Rest { arms }, ..rest }
    }

    fn handler(&mut self, handler: &Handler) -> Arm {
        let taken = if handler.params.is_some() { Act::Shared } else { Act::Local };
        let head = Step { act: taken, ..self.step(handler.header, Turn::Next) };
        Arm {
            label: String::new(),
            guard: handler.guard.as_ref().map(|guard| self.text(guard.span)),
            steps: std::iter::once(head).chain(self.block(&handler.body)).collect(),
        }
    }

    fn block(&mut self, block: &Block) -> Vec<Step> {
        let mut steps = self.statements(&block.statements);
        steps.extend(block.tail.iter().flat_map(|tail| self.expr(tail, tail.span)));
        steps
    }

    fn statements(&mut self, statements: &[Statement]) -> Vec<Step> {
        statements.iter().flat_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Statement) -> Vec<Step> {
        match &statement.kind {
            StatementKind::Expr(Expr { kind: ExprKind::Timeout(_, _, block), .. })
            | StatementKind::Let {
                value: Expr { kind: ExprKind::Timeout(_, _, block), .. }, ..
            } => {
                vec![self.timed(statement.span, block)]
            }
            StatementKind::Expr(expr) => self.expr(expr, statement.span),
            StatementKind::Let { .. } | StatementKind::Assign { .. } => {
                vec![self.step(statement.span, Turn::Next)]
            }
        }
    }

    /// A statement that receives, or runs into a timeout and executes this block.
    fn timed(&mut self, statement: Span, block: &Block) -> Step {
        let head = Span { end: block.span.start, ..statement };
        let mut step = self.step(head, Turn::Next);
        let arm = |label: &str, steps| Arm { label: label.into(), guard: None, steps };
        let arms = vec![arm("timeout", self.block(block)), arm("else", Vec::new())];
        step.turn = Turn::Branch { arms };
        step
    }

    /// The steps of an expression that is a statement with this span.
    fn expr(&mut self, expr: &Expr, span: Span) -> Vec<Step> {
        let before = |body: Span| Span { end: body.start, ..expr.span };
        let (head, turn) = match &expr.kind {
            ExprKind::Tuple(parts) if parts.is_empty() => return Vec::new(),
            ExprKind::Block(block) => return self.block(block),
            ExprKind::If(_, then, _) => (before(then.span), Turn::Branch { arms: Vec::new() }),
            ExprKind::Match(value, _) => {
                (Span { end: value.span.end, ..expr.span }, Turn::Branch { arms: Vec::new() })
            }
            ExprKind::While(_, body) | ExprKind::For(_, _, body) => {
                (before(body.span), Turn::Loop { endless: false, body: Vec::new() })
            }
            ExprKind::Loop(body) => {
                (before(body.span), Turn::Loop { endless: true, body: Vec::new() })
            }
            ExprKind::Break => (span, Turn::Break),
            ExprKind::Continue => (span, Turn::Continue),
            ExprKind::Return(_) => (span, Turn::Return),
            _ => (span, Turn::Next),
        };
        // The step gets its number before the steps in it.
        let mut step = self.step(head, turn);
        match &mut step.turn {
            Turn::Branch { arms } => *arms = self.arms(&expr.kind),
            Turn::Loop { body, .. } => *body = self.body(&expr.kind),
            _ => {}
        }
        vec![step]
    }

    fn body(&mut self, looping: &ExprKind) -> Vec<Step> {
        match looping {
            ExprKind::While(_, body) | ExprKind::For(_, _, body) | ExprKind::Loop(body) => {
                self.block(body)
            }
            _ => Vec::new(),
        }
    }

    fn arms(&mut self, branching: &ExprKind) -> Vec<Arm> {
        let arm = |label: &str, steps| Arm { label: label.into(), guard: None, steps };
        match branching {
            ExprKind::If(_, then, otherwise) => {
                let then = self.block(then);
                let otherwise = otherwise.as_ref().map(|expr| self.expr(expr, expr.span));
                vec![arm("true", then), arm("else", otherwise.unwrap_or_default())]
            }
            ExprKind::Match(_, arms) => arms.iter().map(|arm| self.arm(arm)).collect(),
            _ => Vec::new(),
        }
    }

    fn arm(&mut self, arm: &ast::Arm) -> Arm {
        Arm {
            label: self.text(arm.pattern.span),
            guard: arm.guard.as_ref().map(|guard| self.text(guard.span)),
            steps: self.expr(&arm.body, arm.body.span),
        }
    }

    fn step(&mut self, span: Span, turn: Turn) -> Step {
        self.next += 1;
        let text = self.text(span);
        let text = text.strip_suffix(';').unwrap_or(&text).to_owned();
        Step { id: self.next - 1, line: self.line(span), text, act: self.act(span), turn }
    }

    fn line(&self, span: Span) -> u32 {
        self.lines.position(span.start as usize).0
    }

    /// The tokens of a part of the source, separated by one space where the source has white space.
    fn text(&self, span: Span) -> String {
        let first = self.tokens.partition_point(|(_, token)| token.start < span.start);
        let inside = self.tokens[first..].iter().map(|(_, token)| *token);
        let (mut text, mut end) = (String::new(), span.start);
        for token in inside.take_while(|token| token.end <= span.end) {
            if token.start > end {
                text.push(' ');
            }
            text.push_str(&self.source[token.range()]);
            end = token.end;
        }
        printable(text.trim()).into_owned()
    }

    fn act(&self, span: Span) -> Act {
        let first = self.acts.partition_point(|(act, _)| act.start < span.start);
        let starting = self.acts[first..].iter().take_while(|(act, _)| act.start < span.end);
        let inside = starting.filter(|(act, _)| act.end <= span.end).map(|&(_, act)| act);
        inside.max().unwrap_or(Act::Local)
    }
}

/// All operations that affect or observe others, with their spans.
fn acts(checked: &Checked) -> Vec<(Span, Act)> {
    let mut found = Vec::new();
    let mut note = |expr: &hir::Expr| {
        if let Some(act) = act(&expr.kind) {
            found.push((expr.span, act));
        }
    };
    for process in &checked.processes {
        visit(&process.body.block, &mut note);
        for handler in process.actor.iter().flat_map(|actor| &actor.handlers) {
            handler.guard.iter().for_each(|guard| visit(guard, &mut note));
            visit(&handler.body, &mut note);
        }
    }
    checked.procedures.iter().for_each(|procedure| visit(&procedure.body.block, &mut note));
    checked.inits.iter().for_each(|init| visit(&init.block, &mut note));
    found.sort_unstable();
    found
}

fn act(kind: &hir::ExprKind) -> Option<Act> {
    use Operation::*;
    match kind {
        hir::ExprKind::Operation(operation) => match operation {
            Received(_) | One { visible: Visible::Local, .. } => None,
            One { visible: Visible::Probe { .. }, .. } => Some(Act::Choice),
            One { visible: Visible::Choose | Visible::ChooseFrom, .. } => Some(Act::Choice),
            One { visible: Visible::WaitAny | Visible::TestAny, .. } => Some(Act::Choice),
            On(word, _) if matches!(word.takes, Takes::Objects) => Some(Act::Choice),
            Cancel(_) | Unreliable { .. } | Timed { .. } => Some(Act::Choice),
            _ => Some(Act::Shared),
        },
        hir::ExprKind::Assign(Place::Cell(_), ..) | hir::ExprKind::Perform(..) => Some(Act::Shared),
        hir::ExprKind::Send(..) | hir::ExprKind::Create(..) => Some(Act::Shared),
        _ => None,
    }
}
