//! Compiles a checked program to instructions.
//!
//! Every expression leaves exactly one value on the stack. An expression that never has a value
//! (`break`) is compiled as if it had one: the code after it is unreachable. Operations of the
//! language that stand for several operations of the model (`send`, `lock`, `waitall`, ...) are
//! expanded here.

mod actor;
mod assignment;
mod collection;
mod control;
mod faults;
mod invariant;
mod liveness;
mod operation;
mod order;
mod pattern;
mod points;
mod procedure;

use rustc_hash::FxHashMap;

use super::ast::BinaryOp;
use super::check::Checked;
use super::code::{Code, Instr, Live, ReadSet, Visible};
use super::diagnostic::{Lines, Span};
use super::hir::{Address, Body, Channel, Expr, ExprKind, Place, Procedure, VarId};
use super::walk;
use crate::model::{Objects, Site, Value, printable};
use faults::Risks;

/// The most bytes of a statement that reports show.
const MAX_SHOWN: usize = 400;

/// The text of a statement on one line, without control characters, at most [`MAX_SHOWN`] bytes.
fn excerpt(source: &str) -> String {
    let mut line = String::new();
    for word in source.split_whitespace() {
        if line.len() + word.len() > MAX_SHOWN {
            line.extend((!line.is_empty()).then_some(' '));
            let left = MAX_SHOWN.saturating_sub(line.len());
            line.extend(word.chars().take(left));
            line.push('…');
            break;
        }
        line.extend((!line.is_empty()).then_some(' '));
        line.push_str(word);
    }
    printable(&line).into_owned()
}

/// What counts as an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Operations only. Local computation belongs to the action before it.
    #[default]
    Operation,
    /// Operations, and also each statement of a process that only computes: it is an action that
    /// accesses no object.
    Statement,
}

/// Compiles every body of `program`, whose source text is `source`.
pub fn compile(program: &mut Checked, source: &str, granularity: Granularity) -> Code {
    let objects = std::mem::take(&mut program.objects);
    let compiler = Compiler::new(source, objects);
    let (procedures, channels) = (&program.procedures[..], &program.channels[..]);
    let names_sources = program.names_sources;
    let mut compiler = Compiler { procedures, channels, granularity, names_sources, ..compiler };
    compiler.code.functions = program.functions.iter().map(|body| (0, body.params)).collect();
    for (number, function) in program.functions.iter().enumerate() {
        compiler.code.functions[number].0 = compiler.body(function, BodyKind::Function);
    }
    compiler.routines();
    compiler.families(&program.processes);
    for process in &program.processes {
        let entry = match &process.actor {
            None => compiler.process(process),
            Some(actor) => compiler.actor(&process.body, actor),
        };
        compiler.code.processes.push(entry);
    }
    for body in &program.inits {
        let entry = compiler.body(body, BodyKind::Init);
        compiler.code.inits.push(entry);
    }
    compiler.reads = ReadSet::default();
    for body in &program.finals {
        let entry = compiler.body(body, BodyKind::Final);
        compiler.code.finals.push(entry);
    }
    compiler.code.seen_by_finals = std::mem::take(&mut compiler.reads);
    for body in &program.invariants {
        compiler.invariant(body);
    }
    compiler.liveness(&program.demands);
    compiler.code.liveness.fair = program.fair.clone();
    compiler.finish()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BodyKind {
    #[default]
    Function,
    /// Compiled in place of a call.
    Procedure,
    Process,
    Actor,
    Init,
    Final,
    Invariant,
}

/// Emits code. The builder of systems in Rust uses it, too, without a text.
pub(super) struct Compiler<'a> {
    source: &'a str,
    procedures: &'a [Procedure],
    lines: Lines<'a>,
    granularity: Granularity,
    pub(super) code: Code,
    sites: FxHashMap<Span, u32>,
    constants: FxHashMap<Value, u32>,
    texts: FxHashMap<String, u32>,
    pub(super) frame: StackFrame,
    /// The number of enclosing branches that constant conditions exclude.
    excluded: u32,
    /// What the current invariant names so far.
    reads: ReadSet,
    /// The loop variables whose values are known.
    known: Vec<(VarId, Value)>,
    channels: &'a [Channel],
    /// Does a send name its source?
    names_sources: bool,
    /// What may go wrong in the current process.
    risks: Risks,
    /// Does the order make no difference in the next loop? Set before each loop.
    is_free: bool,
    /// The places in [`Marks`](super::code::Marks) of the free loops around, and whether their
    /// bodies must not fail.
    free_loops: Vec<u32>,
    must_not_fail: bool,
    /// The slots of the variables of free loops over ranges.
    free_slots: Vec<u32>,
}

/// The body that is being compiled.
#[derive(Default)]
pub(super) struct StackFrame {
    kind: BodyKind,
    /// The number of values on the stack.
    pub(super) depth: u32,
    /// The number of values on the stack that are variables of the outermost block.
    top: u32,
    vars: Vec<(u32, bool)>,
    slots: Vec<u32>,
    /// For each variable in scope the index of its entry in `live`.
    scope: Vec<usize>,
    loops: Vec<OpenLoop>,
    /// For a procedure: the depth at which its values start.
    floor: u32,
    /// For a procedure: the jumps of `return` to its end.
    returns: Vec<usize>,
    pub(super) span: Span,
}

/// An enclosing loop of the code that is being compiled.
struct OpenLoop {
    depth: u32,
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

impl<'a> Compiler<'a> {
    /// A compiler of this text, without procedures.
    pub(super) fn new(source: &'a str, objects: Objects) -> Compiler<'a> {
        Compiler {
            source,
            procedures: &[],
            lines: Lines::new(source),
            granularity: Granularity::default(),
            code: Code { objects, ..Code::default() },
            sites: FxHashMap::default(),
            constants: FxHashMap::default(),
            texts: FxHashMap::default(),
            frame: StackFrame::default(),
            excluded: 0,
            reads: ReadSet::default(),
            known: Vec::new(),
            channels: &[],
            names_sources: false,
            risks: Risks::default(),
            is_free: false,
            free_loops: Vec::new(),
            must_not_fail: false,
            free_slots: Vec::new(),
        }
    }

    /// The code, when all of it is emitted.
    pub(super) fn finish(mut self) -> Code {
        self.code.loops = super::spin::loops(&self.code.instrs);
        self.code.join_points = super::prospect::join_points(&self.code.instrs);
        self.code.dead = super::liveness::dead(&self.code);
        self.code
    }

    /// Starts a body without a text, with this number of parameters on the stack.
    pub(super) fn start_body(&mut self, params: u32) {
        self.frame = StackFrame { depth: params, ..StackFrame::default() };
    }

    /// The next instructions stand for this site.
    pub(super) fn stand_for(&mut self, site: Site) {
        let number = self.code.sites.len();
        self.frame.span = Span::new(number, number);
        self.code.sites.push(site);
        self.code.spans.push(self.frame.span);
        self.sites.insert(self.frame.span, number as u32);
    }

    fn body(&mut self, body: &Body, kind: BodyKind) -> u32 {
        let entry = self.here();
        let ExprKind::Block(_, value) = &body.block.kind else { unreachable!("a body is a block") };
        self.open(body, kind, 0);
        self.close(body, kind, value);
        entry
    }

    /// Compiles the end of a body, with its value.
    fn close(&mut self, body: &Body, kind: BodyKind, value: &Expr) {
        self.expr(value);
        let end = Span { start: body.block.span.end.saturating_sub(1), ..body.block.span };
        self.frame.span = end;
        match kind {
            BodyKind::Function => self.emit(Instr::Return),
            BodyKind::Procedure => unreachable!("a procedure is compiled where it is called"),
            BodyKind::Process
            | BodyKind::Actor
            | BodyKind::Init
            | BodyKind::Final
            | BodyKind::Invariant => {
                self.pop(1);
                self.emit(Instr::End);
            }
        }
        self.leave_scope(0);
    }

    /// Compiles the statements of a body. Its parameters are on the stack from slot `floor` on.
    fn open(&mut self, body: &Body, kind: BodyKind, floor: u32) {
        self.start_frame(body, kind, floor);
        let ExprKind::Block(statements, _) = &body.block.kind else {
            unreachable!("a body is a block")
        };
        self.top_statements(statements);
    }

    /// Starts a frame in which only the parameters are on the stack.
    fn start_frame(&mut self, body: &Body, kind: BodyKind, floor: u32) {
        let depth = floor + body.params;
        self.frame = StackFrame {
            kind,
            floor,
            depth,
            top: depth,
            span: body.block.span,
            ..StackFrame::default()
        };
        for var in &body.vars {
            let name = self.text(&var.name);
            self.frame.vars.push((name, var.top_level));
        }
        self.frame.slots = vec![0; body.vars.len()];
        for param in 0..body.params {
            self.enter(param, floor + param);
        }
    }

    /// Compiles the statements of the outermost block.
    fn top_statements(&mut self, statements: &[Expr]) {
        let mut points = Vec::new();
        for statement in statements {
            points.extend(self.point(statement));
            self.statement(statement);
            if let ExprKind::Let(..) = statement.kind {
                self.frame.top = self.frame.depth;
            }
        }
        self.note_block(points);
    }

    pub(super) fn here(&self) -> u32 {
        self.code.instrs.len() as u32
    }

    pub(super) fn emit(&mut self, instr: Instr) {
        let site = self.site(self.frame.span);
        let (taken, left) = self.code.effect(&instr);
        let rest = self.frame.depth.checked_sub(taken as u32);
        self.frame.depth = rest.expect("an instruction takes off what is there") + left as u32;
        self.mark_sure(&instr);
        self.code.instrs.push(instr);
        self.code.site_of.push(site);
    }

    fn site(&mut self, span: Span) -> u32 {
        if let Some(&site) = self.sites.get(&span) {
            return site;
        }
        let (line, column) = self.lines.position(span.start as usize);
        let text = excerpt(&self.source[span.range()]);
        let site = self.code.sites.len() as u32;
        self.code.sites.push(Site { file: None, line, column, text });
        self.code.spans.push(span);
        self.sites.insert(span, site);
        site
    }

    pub(super) fn text(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.texts.get(text) {
            return id;
        }
        let id = self.code.texts.len() as u32;
        self.code.texts.push(text.to_owned());
        self.texts.insert(text.to_owned(), id);
        id
    }

    pub(super) fn constant(&mut self, value: Value) {
        // Large values are not deduplicated, because hashing them takes long.
        use Value::{List, Map, Message, Set, Tuple};
        if let Tuple(_) | List(_) | Set(_) | Map(_) | Message { .. } = value {
            self.code.constants.push(value);
            return self.emit(Instr::Const(self.code.constants.len() as u32 - 1));
        }
        let constants = &mut self.code.constants;
        let id = *self.constants.entry(value.clone()).or_insert_with(|| {
            constants.push(value);
            constants.len() as u32 - 1
        });
        self.emit(Instr::Const(id));
    }

    pub(super) fn pop(&mut self, count: u32) {
        if count > 0 {
            self.emit(Instr::Pop(count));
        }
    }

    /// Brings a variable into scope, in this slot.
    fn enter(&mut self, var: VarId, slot: u32) {
        let (name, top_level) = self.frame.vars[var as usize];
        self.frame.slots[var as usize] = slot;
        let from = self.here();
        self.frame.scope.push(self.code.live.len());
        self.code.live.push(Live { name, slot, from, to: u32::MAX, top_level });
    }

    /// Ends the scope of all variables except the first `count`.
    fn leave_scope(&mut self, count: usize) {
        let here = self.here();
        for live in self.frame.scope.drain(count..) {
            self.code.live[live].to = here;
        }
    }

    /// Emits a jump whose target is set later.
    pub(super) fn jump(&mut self, instr: fn(u32) -> Instr) -> usize {
        self.emit(instr(u32::MAX));
        self.code.instrs.len() - 1
    }

    /// Sets the target of a jump to the next instruction.
    pub(super) fn aim(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.code.instrs[jump] {
            Instr::Jump(to) | Instr::JumpIfFalse(to) => *to = here,
            other => unreachable!("{other:?} is not a forward jump"),
        }
    }

    /// Compiles a statement, which leaves only its variables on the stack.
    fn statement(&mut self, statement: &Expr) {
        if self.granularity == Granularity::Statement && self.is_local_step(statement) {
            self.frame.span = statement.span;
            self.visible(Visible::Local);
            self.pop(1);
        }
        if let ExprKind::Let(pattern, value) = &statement.kind {
            self.expr(value);
            self.frame.span = statement.span;
            self.bind_top(pattern);
        } else {
            self.expr(statement);
            self.pop(1);
        }
    }

    /// Is it a simple statement of a process or procedure that only computes? A compound statement
    /// is not: each statement in it is a step of its own.
    fn is_local_step(&self, statement: &Expr) -> bool {
        let simple = matches!(
            statement.kind,
            ExprKind::Let(..) | ExprKind::Assign(Place::Local(..), ..) | ExprKind::Assert(..)
        );
        let runs = matches!(self.frame.kind, BodyKind::Process | BodyKind::Procedure);
        runs && simple && !walk::acts(statement)
    }

    fn expr(&mut self, expr: &Expr) {
        let outer = std::mem::replace(&mut self.frame.span, expr.span);
        let before = self.frame.depth;
        self.expr_inside(expr);
        debug_assert_eq!(self.frame.depth, before + 1, "{expr:?}");
        self.frame.span = outer;
    }

    fn expr_inside(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Error => unreachable!("a program with mistakes is not compiled"),
            ExprKind::Let(..) => unreachable!("a declaration is a statement"),
            ExprKind::Const(value) => self.constant(value.clone()),
            ExprKind::Var(var) => self.emit(Instr::Get(self.frame.slots[*var as usize])),
            ExprKind::Unary(op, operand) => {
                self.expr(operand);
                self.emit(Instr::Unary(*op));
            }
            ExprKind::Binary(BinaryOp::And, a, b) => self.short_circuit(a, b, false),
            ExprKind::Binary(BinaryOp::Or, a, b) => self.short_circuit(a, b, true),
            ExprKind::Binary(op, a, b) => self.two(a, b, Instr::Binary(*op)),
            ExprKind::Tuple(parts) => self.several(parts, Instr::Tuple),
            ExprKind::List(items) => self.several(items, Instr::List),
            ExprKind::Repeat(item, count) => {
                self.expr(item);
                self.emit(Instr::Repeat(*count));
            }
            ExprKind::Index(list, index) => self.two(list, index, Instr::Index),
            ExprKind::Field(tuple, at) => {
                self.expr(tuple);
                self.emit(Instr::Field(*at));
            }
            ExprKind::Length(list) => {
                self.expr(list);
                self.emit(Instr::Length);
            }
            ExprKind::Push(list, item) => self.two(list, item, Instr::Push),
            ExprKind::Remove(list, index) => self.two(list, index, Instr::Remove),
            ExprKind::Call(function, args) => {
                self.several_values(args);
                self.emit(Instr::Call(*function));
            }
            ExprKind::Perform(procedure, args) => self.perform(*procedure, args),
            ExprKind::Block(statements, value) => self.block(statements, value),
            ExprKind::Assign(place, op, value) => self.assign(place, *op, value),
            ExprKind::If(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise)
            }
            ExprKind::Match(value, arms) => self.match_expr(value, arms),
            ExprKind::While(condition, body) => self.while_loop(Some(condition), body),
            ExprKind::Loop(body) => self.while_loop(None, body),
            ExprKind::For(generator, body) => self.for_loop(generator, body),
            ExprKind::Within(_) | ExprKind::Collect(_) | ExprKind::Quantified(..) => {
                self.on_collections(&expr.kind);
            }
            ExprKind::Break | ExprKind::Continue => self.leave_loop(&expr.kind),
            ExprKind::Return(value) => self.return_expr(value.as_deref()),
            ExprKind::Assert(condition, message) => {
                self.expr(condition);
                let message = message.as_ref().map(|message| self.text(&printable(message)));
                self.note_assertion(expr.span);
                self.emit(Instr::Assert(message));
                self.constant(Value::Unit);
            }
            ExprKind::Operation(operation) => self.operation(operation),
            ExprKind::Myself
            | ExprKind::Instance(..)
            | ExprKind::Message(..)
            | ExprKind::Send(..)
            | ExprKind::Create(..) => self.of_actors(&expr.kind),
            ExprKind::Object(address) => self.address(address),
            ExprKind::Peek(_) | ExprKind::Pending(_) | ExprKind::ProcessVar { .. } => {
                self.look(&expr.kind);
            }
        }
    }

    fn two(&mut self, a: &Expr, b: &Expr, instr: Instr) {
        self.expr(a);
        self.expr(b);
        self.emit(instr);
    }

    fn several_values(&mut self, parts: &[Expr]) {
        for part in parts {
            self.expr(part);
        }
    }

    fn several(&mut self, parts: &[Expr], instr: fn(u32) -> Instr) {
        self.several_values(parts);
        self.emit(instr(parts.len() as u32));
    }

    fn short_circuit(&mut self, a: &Expr, b: &Expr, decided_by: bool) {
        self.expr(a);
        if decided_by {
            self.emit(Instr::Unary(super::ast::UnaryOp::Not));
        }
        let decided = self.jump(Instr::JumpIfFalse);
        self.expr(b);
        let end = self.jump(Instr::Jump);
        self.aim(decided);
        self.frame.depth -= 1;
        self.constant(Value::Bool(decided_by));
        self.aim(end);
    }

    /// Compiles an address: it leaves the number of an object on the stack.
    fn address(&mut self, address: &Address) {
        let Some(index) = &address.index else {
            self.constant(Value::Int(i64::from(address.base)));
            return;
        };
        if let ExprKind::Const(Value::Int(n)) = index.kind
            && (0..i64::from(address.count)).contains(&n)
        {
            self.constant(Value::Int(i64::from(address.base) + n));
            return;
        }
        self.expr(index);
        let name = self.text(&address.name);
        self.emit(Instr::Address { base: address.base, count: address.count, name });
    }

    fn block(&mut self, statements: &[Expr], value: &Expr) {
        let (depth, scope) = (self.frame.depth, self.frame.scope.len());
        let mut points = Vec::new();
        for statement in statements {
            points.extend(self.point(statement));
            self.statement(statement);
        }
        points.extend(self.point(value));
        self.note_block(points);
        self.expr(value);
        self.leave_scope(scope);
        self.squash(depth);
    }

    /// Removes everything above `depth` except the topmost value.
    fn squash(&mut self, depth: u32) {
        let drop = self.frame.depth - depth - 1;
        if drop > 0 {
            self.emit(Instr::Squash { keep: 1, drop });
        }
    }

    /// Emits a visible operation whose arguments are on the stack.
    pub(super) fn visible(&mut self, visible: Visible) {
        self.crash_point(visible);
        self.emit(Instr::Visible(visible));
    }
}
