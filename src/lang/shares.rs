//! Completes the faults of a checked program: the counters of its processes, the shares of budgets
//! that several processes have, and the hidden processes that choose them and cut networks.
//!
//! What is made here is ordinary: variables, cells, a latch, processes. See [`super::faults`] for
//! why budgets are shared out before the program runs.

use super::ast::BinaryOp;
use super::check::{Checked, Cuts, Instantiation, Process};
use super::code::Visible;
use super::diagnostic::{Diagnostic, Findings, Span};
use super::faults::Fault;
use super::hir::{
    Address, Allowance, Body, Channel, Expr, ExprKind, MessageFault, Most, Operation, Pattern,
    Place, VarId, Variable,
};
use super::objects::{cell, latch};
use super::program::MAX_CHOICES;
use super::walk;
use crate::model::{Faults, Incident, Set, Value};

/// The name of the process that shares out budgets.
const SHARER: &str = "faults";

/// A budget that several processes share.
struct Pool {
    span: Span,
    name: String,
    /// For each declaration with a share the variable that gets it.
    members: Vec<(usize, VarId)>,
    /// The possible shares of all instances of the members, in order.
    shares: Vec<Value>,
}

/// Completes the faults of `checked`.
pub(crate) fn complete(checked: &mut Checked, faults: Faults, found: &mut Findings) {
    let channels = checked.channels.clone();
    let mut pools = Vec::new();
    for (number, channel) in channels.iter().enumerate() {
        for kind in [MessageFault::Lost, MessageFault::Doubled] {
            pools.extend(allow(checked, number as u32, channel, kind, found));
        }
    }
    pools.extend(crashes(checked, faults, found));
    refuse_actors(checked, faults, found);
    if found.errors() > 0 {
        return;
    }
    share_out(checked, &pools);
    for cuts in std::mem::take(&mut checked.cuts) {
        let name = format!("the network {}", cuts.name);
        let (vars, statements) = partition(&cuts);
        checked.processes.push(hidden(&name, vars, statements, cuts.span));
    }
}

/// Gives each process that sends at the channel its counter of these faults. Returns the pool, if
/// processes share their number.
fn allow(
    checked: &mut Checked,
    number: u32,
    channel: &Channel,
    kind: MessageFault,
    found: &mut Findings,
) -> Option<Pool> {
    let budget = channel.budget(kind)?;
    let most = budget.most?;
    let senders = senders(checked, number);
    let mut members = Vec::new();
    for process in senders {
        let used = counter(&mut checked.processes[process], channel.span);
        let most = match budget.in_all && most > 0 {
            true => {
                let share = variable(&mut checked.processes[process]);
                members.push((process, share));
                Most::Share(share)
            }
            false => Most::Number(most),
        };
        let allowance = Allowance { channel: number, kind, used, most };
        checked.processes[process].allowances.push(allowance);
    }
    let caps = caps(checked, &members, &vec![most; members.len()], channel.span, found)?;
    let shares = shares(&caps, &[(0..caps.len(), most)], channel.span, found);
    let name = match kind {
        MessageFault::Lost => format!("the messages that {} may lose", channel.name),
        MessageFault::Doubled => format!("the messages that {} may double", channel.name),
    };
    Some(Pool { span: channel.span, name, members, shares })
}

/// The processes that send at this channel.
fn senders(checked: &Checked, number: u32) -> Vec<usize> {
    let sends = |process: &Process| {
        let mut sends = false;
        for body in walk::within(&process.body.block, &checked.procedures) {
            walk::visit(body, &mut |expr| {
                sends |= matches!(expr.kind, ExprKind::Operation(Operation::Unreliable { channel, .. })
                    if channel == number);
            });
        }
        sends
    };
    (0..checked.processes.len()).filter(|&at| sends(&checked.processes[at])).collect()
}

/// For each instance of the members the largest share. `None` if there are no members; reports
/// members that do not exist from the start.
fn caps(
    checked: &Checked,
    members: &[(usize, VarId)],
    most: &[u32],
    span: Span,
    found: &mut Findings,
) -> Option<Vec<u32>> {
    let mut caps = Vec::new();
    for (&(process, _), &most) in members.iter().zip(most) {
        let Process { name, kind, .. } = &checked.processes[process];
        if *kind == Instantiation::Template {
            let message = "only processes that exist from the start share a number of faults";
            let label = format!("`{name}` is spawned");
            found.push(Diagnostic::error(span, message).label(label));
            return None;
        }
        caps.extend((0..kind.instances()).map(|_| most));
    }
    (!caps.is_empty()).then_some(caps)
}

/// The pool of crashes, if processes share their number.
fn crashes(checked: &mut Checked, faults: Faults, found: &mut Findings) -> Option<Pool> {
    let may = |process: &Process| match &process.lives {
        Some(lives) => match lives.most {
            Most::Number(most) => most,
            Most::Share(_) => unreachable!("shares come later"),
        },
        None => 0,
    };
    let crashing: Vec<usize> =
        (0..checked.processes.len()).filter(|&at| may(&checked.processes[at]) > 0).collect();
    let instances = |at: usize| checked.processes[at].kind.instances();
    let crashes = |&at: &usize| u64::from(may(&checked.processes[at])) * u64::from(instances(at));
    let sum: u64 = crashing.iter().map(crashes).sum();
    // Nobody knows how many are spawned.
    let is_spawned = |&at: &usize| checked.processes[at].kind == Instantiation::Template;
    let may_exceed = |bound: u32| u64::from(bound) < sum || crashing.iter().any(is_spawned);
    let bound = faults.max_crashes.filter(|&bound| may_exceed(bound));
    let is_shared = |at: usize| checked.processes[at].lives.as_ref().is_some_and(|one| one.in_all);
    let sharing: Vec<usize> =
        crashing.into_iter().filter(|&at| bound.is_some() || is_shared(at)).collect();
    let first = *sharing.first()?;
    let most: Vec<u32> = sharing.iter().map(|&at| may(&checked.processes[at])).collect();
    // One range of instances for each declaration whose instances share their number.
    let (mut groups, mut from) = (Vec::new(), 0);
    for (&at, &most) in sharing.iter().zip(&most) {
        let to = from + instances(at) as usize;
        if is_shared(at) {
            groups.push((from..to, most));
        }
        from = to;
    }
    groups.extend(bound.map(|bound| (0..from, bound)));
    let span = checked.processes[first].lives.as_ref().expect("it crashes").span;
    let members: Vec<(usize, VarId)> =
        sharing.iter().map(|&at| (at, variable(&mut checked.processes[at]))).collect();
    for &(process, share) in &members {
        let lives = checked.processes[process].lives.as_mut().expect("it crashes");
        lives.most = Most::Share(share);
    }
    let caps = caps(checked, &members, &most, span, found)?;
    let shares = shares(&caps, &groups, span, found);
    Some(Pool { span, name: "the crashes".to_owned(), members, shares })
}

/// Reports actors that crash beside processes, if the number of all crashes is limited: actors have
/// no shares.
fn refuse_actors(checked: &Checked, faults: Faults, found: &mut Findings) {
    let Some(most) = faults.max_crashes.filter(|&most| most > 0 && faults.crash()) else { return };
    let crashes = |process: &&Process| {
        let handlers = process.actor.iter().flat_map(|actor| &actor.handlers);
        handlers.into_iter().any(|handler| matches!(handler.incident, Some(Incident::Crash { .. })))
    };
    let mut processes = checked.processes.iter();
    let crashing = |process: &&Process| {
        process.lives.as_ref().is_some_and(|lives| !matches!(lives.most, Most::Number(0)))
    };
    if let (Some(actor), Some(process)) =
        (processes.clone().find(crashes), processes.find(crashing))
    {
        let (actor, process) = (&actor.name, &process.name);
        let message = format!(
            "--max-crashes {most} is not for actors, such as `{actor}`, and processes, such as \
             `{process}`, together"
        );
        let hint = "limit each of them by the number in its `crashes up to`";
        found.push(Diagnostic::outside(message).hint(hint));
    }
}

/// The ways to share out: each instance gets at most its cap, the instances of a group together at
/// most its number, and no share could be larger.
fn shares(
    caps: &[u32],
    groups: &[(std::ops::Range<usize>, u32)],
    span: Span,
    found: &mut Findings,
) -> Vec<Value> {
    let has_room = |shares: &[u32], at: usize| {
        shares[at] < caps[at]
            && groups.iter().all(|(range, most)| {
                !range.contains(&at)
                    || shares[range.start..range.end.min(shares.len())].iter().sum::<u32>() < *most
            })
    };
    let (mut whole, mut open) = (Vec::new(), vec![Vec::new()]);
    while let Some(shares) = open.pop() {
        if whole.len() + open.len() > MAX_CHOICES as usize {
            let message = "there are too many ways to share these faults";
            let hint = format!("each is explored, so there are at most {MAX_CHOICES}");
            found.push(Diagnostic::error(span, message).hint(hint));
            return Vec::new();
        }
        if shares.len() == caps.len() {
            if (0..caps.len()).all(|at| !has_room(&shares, at)) {
                whole.push(shares);
            }
            continue;
        }
        let mut longer = shares;
        let place = longer.len();
        longer.push(0);
        loop {
            open.push(longer.clone());
            if !has_room(&longer, place) {
                break;
            }
            longer[place] += 1;
        }
    }
    let value = |shares: Vec<u32>| {
        Value::List(shares.into_iter().map(|share| Value::Int(i64::from(share))).collect())
    };
    whole.into_iter().map(value).collect()
}

/// Makes the process that shares out the pools, and lets the members get their shares first.
fn share_out(checked: &mut Checked, pools: &[Pool]) {
    let Some(first) = pools.first() else { return };
    let ready = checked.objects.latches.len() as u32;
    checked.objects.latches.push("the shares", 1);
    let at = |span| Expr::object(alone("the shares", ready), span);
    let mut statements = Vec::new();
    let mut waiting = vec![false; checked.processes.len()];
    for pool in pools {
        let number = checked.objects.cells.len() as u32;
        // As long as the shares: processes may be symmetric by their places there.
        let instances = pool.members.iter().map(|&(at, _)| checked.processes[at].kind.instances());
        let none = (0..instances.sum()).map(|_| Value::Int(0));
        checked.objects.cells.push(&pool.name, Value::List(none.collect()));
        let cell = || alone(&pool.name, number);
        // In no order, for the same reason.
        let chosen = choose(Value::Set(pool.shares.iter().cloned().collect()), pool.span);
        let assign = ExprKind::Assign(Place::Cell(cell()), None, Box::new(chosen));
        statements.push(Expr { kind: assign, span: pool.span });
        let mut offset = 0;
        for &(process, share) in &pool.members {
            let read =
                Operation::one(Visible::Act(&cell::READ, 0), [Expr::object(cell(), pool.span)]);
            let read = Expr { kind: ExprKind::Operation(read), span: pool.span };
            let kind = checked.processes[process].kind;
            let own = ExprKind::Index(Box::new(read), Box::new(place(kind, offset, pool.span)));
            offset += i64::from(kind.instances());
            let own = Expr { kind: own, span: pool.span };
            let declared = declare(share, own, pool.span);
            checked.processes[process].prepend([declared]);
            waiting[process] = true;
        }
    }
    for (process, _) in waiting.into_iter().enumerate().filter(|(_, waits)| *waits) {
        let wait = Operation::one(Visible::Act(&latch::WAIT, 1), [at(first.span)]);
        let wait = Expr { kind: ExprKind::Operation(wait), span: first.span };
        checked.processes[process].prepend([wait]);
    }
    let done = Operation::one(Visible::Act(&latch::COUNT_DOWN, 1), [at(first.span)]);
    statements.push(Expr { kind: ExprKind::Operation(done), span: first.span });
    checked.processes.push(hidden(SHARER, Vec::new(), statements, first.span));
}

/// The place of an instance among the shares, where those of its declaration begin at `offset`.
fn place(kind: Instantiation, offset: i64, span: Span) -> Expr {
    let kind = match kind {
        Instantiation::Family { lo, .. } if lo == offset => ExprKind::Var(0),
        Instantiation::Family { lo, .. } => ExprKind::Binary(
            BinaryOp::Add,
            Box::new(Expr { kind: ExprKind::Var(0), span }),
            Box::new(Expr { kind: ExprKind::Const(Value::Int(offset - lo)), span }),
        ),
        _ => ExprKind::Const(Value::Int(offset)),
    };
    Expr { kind, span }
}

/// What cuts a network: each time it chooses the nodes that are cut off, or none and does nothing.
fn partition(cuts: &Cuts) -> (Vec<Variable>, Vec<Expr>) {
    let span = cuts.span;
    let expr = |kind| Expr { kind, span };
    let set = |nodes: u32| {
        let members = (0..cuts.nodes).filter(|node| nodes >> node & 1 == 1);
        Value::Set(members.map(|node| Value::Int(i64::from(node))).collect::<Set>())
    };
    // A cut and its complement are the same, so the last node is never cut off.
    let choices: Vec<Value> = (0..1 << (cuts.nodes - 1)).map(set).collect();
    let whole = || Box::new(expr(ExprKind::Const(set(0))));
    let assign = |value| {
        let cell = Place::Cell(alone("the cut", cuts.cell));
        expr(ExprKind::Assign(cell, None, value))
    };
    let (mut vars, mut statements) = (Vec::new(), Vec::new());
    for var in 0..cuts.most {
        vars.push(Variable { name: format!("cut {}", var + 1), top_level: false });
        let ways = choices.len() as u32;
        let number = Operation::one(Visible::Fault(Fault::Cut { ways }), []);
        let number = expr(ExprKind::Operation(number));
        let all = expr(ExprKind::Const(Value::List(choices.iter().cloned().collect())));
        let cut = expr(ExprKind::Index(Box::new(all), Box::new(number)));
        statements.push(declare(var, cut, span));
        let chosen = || Box::new(expr(ExprKind::Var(var)));
        let is_cut = expr(ExprKind::Binary(BinaryOp::Ne, chosen(), whole()));
        let mut then = vec![assign(chosen())];
        then.extend(cuts.heals.then(|| assign(whole())));
        let unit = || Box::new(expr(ExprKind::Const(Value::Unit)));
        let then = expr(ExprKind::Block(then, unit()));
        statements.push(expr(ExprKind::If(Box::new(is_cut), Box::new(then), unit())));
    }
    (vars, statements)
}

/// A process that the program does not declare.
fn hidden(name: &str, vars: Vec<Variable>, statements: Vec<Expr>, span: Span) -> Process {
    let unit = Box::new(Expr { kind: ExprKind::Const(Value::Unit), span });
    let block = Expr { kind: ExprKind::Block(statements, unit), span };
    Process {
        name: name.to_owned(),
        kind: Instantiation::Single,
        body: Body { vars, params: 0, block },
        actor: None,
        lives: None,
        allowances: Vec::new(),
        kept: 0,
    }
}

/// A choice of one of these values.
fn choose(values: Value, span: Span) -> Expr {
    let values = Expr { kind: ExprKind::Const(values), span };
    let choose = Operation::one(Visible::ChooseFrom, [values]);
    Expr { kind: ExprKind::Operation(choose), span }
}

fn alone(name: &str, number: u32) -> Address {
    Address { name: name.to_owned(), base: number, count: 1, index: None, number: 1 }
}

fn declare(var: VarId, value: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Let(Pattern::Bind(var), Box::new(value)), span }
}

/// A new variable of a process, which is not declared yet.
fn variable(process: &mut Process) -> VarId {
    let var = process.body.vars.len() as VarId;
    // No name that a program can write.
    process.body.vars.push(Variable { name: format!("({var})"), top_level: true });
    var
}

/// A new variable of a process, which is 0 at first.
fn counter(process: &mut Process, span: Span) -> VarId {
    let var = variable(process);
    let zero = Expr { kind: ExprKind::Const(Value::Int(0)), span };
    process.prepend([declare(var, zero, span)]);
    var
}
